//! Deficit round robin: tenants take turns, each turn may use a quantum of service, and what is not
//! used, or was used too much, carries over.
//!
//! Use when: tenants share a server by weight, and a tenant should start several items in a row;
//! the larger the quantum, the more.
//! Source: Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM
//! 1995 (section 3).
//! Rules: in each round each tenant with items has a turn, in which its deficit grows by weight ·
//! quantum; it starts items while the deficit covers what the first of them is thought to cost,
//! which each takes off it.
//! Departs: what an item takes off the deficit is a guess and becomes the true cost at its end, so
//! that a deficit may be below 0.
//! Chosen: within a round tenants have their turns in the order in which their last one ended, or
//! in which they came; a tenant that comes has its first turn in the next round. One that has
//! nothing waiting loses what is left of its deficit, but not what it has overdrawn: each round
//! pays a quantum of that, whether it has items or not. When nothing waits or runs, all debts are
//! paid. Rounds in which no tenant may start an item are given at once. An item for which too few
//! seats are free keeps all others waiting until it fits.
//! Cost: O(log N) for every call, N tenants, whatever the quantum.
//! Bound: while tenants i and j both have items waiting, what they are given differs, over weight,
//! by at most D·((cᵢ+eᵢ)/wᵢ + (cⱼ+eⱼ)/wⱼ) + gᵢ/wᵢ + gⱼ/wⱼ + 2 quanta: c the largest cost, e the
//! most by which a guess was too high, g the largest guess (policies/bounds.rs:
//! no_tenant_gains_on_another_beyond_the_bound_of_its_policy).

use super::first_that_fits;
use crate::contract::Slot;
use crate::heap::Heap;
use crate::part::settings;
use crate::slots::entry;
use crate::units::{Time, Weight};
use crate::work::account::Tag;
use crate::work::amount::{Amount, Unit};
use crate::work::policy::{Charge, Facts, Head, Line, Policy, per_weight};
use crate::work::registry::PolicyPart;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// How much a turn uses.
    pub struct Settings {
        /// What a tenant of weight one may use in a turn, in the unit of costs, or a time. With
        /// less than items cost, a turn starts one at most.
        pub quantum: Amount = Amount::Number(1),
    }
}

impl PolicyPart for Settings {
    fn fault(&self) -> Option<String> {
        let is_none = matches!(self.quantum, Amount::Number(0) | Amount::Time(Time::ZERO));
        is_none.then(|| String::from("drr: quantum is at least 1"))
    }

    fn in_steps(&self, unit: Unit) -> Self {
        Self { quantum: Amount::Number(self.quantum.steps(unit).max(1)) }
    }

    fn variants() -> Vec<Self> {
        vec![Self { quantum: Amount::Number(30) }]
    }
}

/// What is known of a line.
#[derive(Clone, Debug, Default)]
struct State {
    /// What it may use, in thousandths of the unit of costs; below 0 what it has overdrawn.
    deficit: i128,
    /// What its first item is thought to take.
    need: i128,
    /// The last round whose quantum it was given.
    given: Tag,
    /// Its place within a round: the number of the turn that it had last, or of its coming.
    place: u64,
    /// The weight of the tenant, in thousandths; 0 before it has ever waited.
    weight: u32,
}

impl State {
    fn quantum(&self, quantum: u64) -> i128 {
        i128::from(quantum) * i128::from(self.weight)
    }

    /// The quanta of the rounds until `round` are given.
    fn give(&mut self, round: Tag, quantum: u64) {
        if round > self.given {
            let rounds = i128::try_from(round - self.given).unwrap_or(i128::MAX);
            let given = rounds.saturating_mul(self.quantum(quantum));
            self.deficit = self.deficit.saturating_add(given);
            self.given = round;
        }
    }

    /// The rounds until `round` pay what a tenant without items has overdrawn, and no more.
    fn pay(&mut self, round: Tag, quantum: u64) {
        if self.deficit < 0 {
            let paid = self.given.saturating_add(self.rounds_until(0, quantum, 0));
            self.give(round.min(paid), quantum);
            self.deficit = self.deficit.min(0);
        }
    }

    /// The rounds from the last one that it was given until its deficit is at least `least`, at
    /// least `rounds_min`.
    fn rounds_until(&self, least: i128, quantum: u64, rounds_min: Tag) -> Tag {
        let missing = least.saturating_sub(self.deficit).max(0);
        let quantum = self.quantum(quantum).max(1);
        Tag::try_from((missing - 1).div_euclid(quantum) + 1).unwrap_or(0).max(rounds_min)
    }
}

/// The policy.
#[derive(Clone, Debug)]
pub struct Drr {
    quantum: u64,
    lines: Vec<State>,
    /// Lines by the round in which they may start an item and their place in it.
    heads: Heap<((Tag, u64), u32)>,
    /// The current round.
    round: Tag,
    /// The place whose turn was last in it: those up to this one have had theirs.
    at: u64,
    /// The place that was given last.
    places: u64,
    /// The line whose turn goes on.
    current: Option<Line>,
    /// The round after which all debts are paid.
    horizon: Tag,
}

impl Drr {
    /// The policy of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let quantum = settings.quantum.steps(Unit::default()).max(1);
        let (lines, heads) = (Vec::new(), Heap::new());
        Self { quantum, lines, heads, round: 1, at: 0, places: 0, current: None, horizon: 0 }
    }

    fn line(&mut self, line: Line) -> &mut State {
        entry(&mut self.lines, line, State::default())
    }

    /// The last round in which a line at `place` has had its turn. For one that got its place in
    /// the current round it is the round before, though the current quantum was given, too.
    const fn had(&self, place: u64) -> Tag {
        if place <= self.at { self.round } else { self.round - 1 }
    }

    /// Gives `line` the quanta of its turns so far, in which it could start nothing.
    fn catch_up(&mut self, line: Line) {
        let (quantum, place) = (self.quantum, self.line(line).place);
        let (had, is_waiting) = (self.had(place), self.heads.contains(line));
        let state = self.line(line);
        if is_waiting { state.give(had, quantum) } else { state.pay(had, quantum) }
    }
}

impl Policy for Drr {
    fn wake(&mut self, line: Line) {
        let (round, quantum) = (self.round, self.quantum);
        self.places += 1;
        let place = self.places;
        let state = self.line(line);
        state.pay(round, quantum);
        (state.deficit, state.given, state.place) = (state.deficit.min(0), round, place);
    }

    fn head(&mut self, line: Line, head: Option<&Head>) {
        self.catch_up(line);
        let quantum = self.quantum;
        let state = self.line(line);
        state.weight = head.map_or(state.weight, |head| head.weight.thousandths());
        state.need = head.map_or(0, |head| cost_of(head.guess));
        let goes_on = head.is_some() && state.deficit >= state.need;
        if self.current == Some(line) && !goes_on {
            // The turn ends.
            self.current = None;
            self.places += 1;
            self.line(line).place = self.places;
        }
        let (is_current, state) = (self.current == Some(line), self.line(line));
        let next = state.given.saturating_add(state.rounds_until(state.need, quantum, 1));
        // The turn that goes on is before all others.
        let turn = if is_current { (0, 0) } else { (next, state.place) };
        self.horizon = self.horizon.max(self.debt(line));
        self.heads.set(line, head.map(|head| (turn, head.seats)));
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        first_that_fits(&self.heads, free)
    }

    fn started(&mut self, line: Line, head: &Head) -> Charge {
        if let (Some(((round, place), _)), true) = (self.heads.key(line), self.current != Some(line)) {
            let quantum = self.quantum;
            self.line(line).give(round, quantum);
            (self.round, self.at, self.current) = (round, place, Some(line));
        }
        self.line(line).deficit -= cost_of(head.guess);
        Charge::new(head, head.guess)
    }

    fn recharge(&mut self, line: Line, charge: &mut Charge, cost: u64) {
        self.catch_up(line);
        let place = self.line(line).place;
        let had = self.had(place);
        let state = self.line(line);
        state.deficit += cost_of(charge.guess) - cost_of(cost);
        if state.deficit < 0 {
            // Rounds before this one pay nothing of it.
            state.given = state.given.max(had);
        }
        charge.guess = cost;
    }

    fn idle(&mut self) {
        self.round = self.round.max(self.horizon).saturating_add(1);
        self.at = 0;
    }

    /// The round that pays what it has overdrawn.
    fn debt(&self, tenant: Slot) -> Tag {
        let paid = |state: &State| state.given.saturating_add(state.rounds_until(0, self.quantum, 0));
        self.lines.get(tenant as usize).filter(|state| state.deficit < 0).map_or(0, paid)
    }

    /// The last round that is complete.
    fn virtual_time(&self) -> Tag {
        self.round - 1
    }

    fn forget(&mut self, tenant: Slot) {
        *self.line(tenant) = State::default();
    }

    fn reset(&mut self) {
        (self.round, self.at, self.horizon) = (1, 0, 0);
    }

    fn bound(&self, facts: &Facts) -> Option<u128> {
        let guesses = facts.sides.iter().map(|side| per_weight(side.guess_max.max(1).into(), side.weight));
        Some(facts.of_running() + guesses.sum::<u128>() + 2 * u128::from(self.quantum))
    }
}

/// What an item takes off a deficit, in thousandths. Less than one unit counts as one: items
/// without cost would never end a turn.
fn cost_of(cost: u64) -> i128 {
    i128::from(cost.max(1)) * i128::from(Weight::ONE.thousandths())
}
