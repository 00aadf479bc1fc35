//! Deficit round robin: tenants take turns, each turn may use a quantum of service, and what is not
//! used, or was used too much, carries over.
//!
//! Use when: tenants share a server by weight and the order within a turn does not matter; a larger
//! quantum lets a tenant start several items in its turn.
//! Source: Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM
//! 1995 (section 3); Adiseshu, Parulkar and Varghese, "A Reliable and Scalable Striping Protocol",
//! SIGCOMM 1996 (surplus round robin: the deficit may be overdrawn).
//! Rules: in each round each tenant with items has a turn, in which its deficit grows by weight ·
//! quantum; it starts items while the deficit is above 0, each of which takes its cost off it.
//! Departs: an item need not fit into the deficit, for its cost is not known; it overdraws it. The
//! charge at the start is a guess, which becomes the true cost at the end.
//! Chosen: a tenant that comes has its turn at the end of the current round. One that has nothing
//! waiting loses what is left of its deficit, but not what it has overdrawn: each round pays a
//! quantum of that, whether it has items or not. When nothing waits or runs, all debts are paid.
//! Rounds in which no tenant may start an item are given at once. An item for which too few seats
//! are free keeps all others waiting until it fits.
//! Cost: O(log N) for every call, N tenants, whatever the quantum.
//! Bound: while tenants i and j both have items waiting, what they are given differs, over weight,
//! by at most D·((cᵢ+eᵢ)/wᵢ + (cⱼ+eⱼ)/wⱼ) + 2 quanta: c the largest cost, e the most by which a
//! guess was too high (policies/bounds.rs:
//! no_tenant_gains_on_another_beyond_the_bound_of_its_policy).

use super::first_that_fits;
use crate::contract::Slot;
use crate::heap::Heap;
use crate::part::settings;
use crate::slots::entry;
use crate::units::Weight;
use crate::work::account::Tag;
use crate::work::amount::Amount;
use crate::work::policy::{Charge, Facts, Head, Line, Policy};
use crate::work::registry::PolicyPart;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// How much a turn uses.
    pub struct Settings {
        /// What a tenant of weight one may use in a turn, in the unit of costs, or a time where that
        /// is the nanosecond. With the least, 1, a turn starts one item.
        pub quantum: Amount = Amount(1),
    }
}

impl PolicyPart for Settings {
    fn fault(&self) -> Option<String> {
        (self.quantum.0 == 0).then(|| String::from("drr: quantum is at least 1"))
    }

    fn variants() -> Vec<Self> {
        vec![Self { quantum: Amount(30) }]
    }
}

/// What is known of a line.
#[derive(Clone, Debug, Default)]
struct State {
    /// What it may use, in thousandths of the unit of costs; below 0 what it has overdrawn.
    deficit: i128,
    /// The last round whose quantum it was given.
    given: Tag,
    /// Its place within a round.
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
    /// The place whose turn was last in it: those up to this one have had their turn.
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
        let quantum = settings.quantum.0.max(1);
        let (lines, heads) = (Vec::new(), Heap::new());
        Self { quantum, lines, heads, round: 1, at: 0, places: 0, current: None, horizon: 0 }
    }

    fn line(&mut self, line: Line) -> &mut State {
        entry(&mut self.lines, line, State::default())
    }

    /// The last round in which a line at `place` has had its turn.
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
        let complete = self.round - 1;
        let is_clear = self.debt(line) <= complete;
        self.catch_up(line);
        self.places += 1;
        let place = self.places;
        let state = self.line(line);
        state.place = place;
        state.deficit = if is_clear { 0 } else { state.deficit.min(0) };
        state.given = if is_clear { complete } else { state.given };
    }

    fn head(&mut self, line: Line, head: Option<&Head>) {
        self.catch_up(line);
        let quantum = self.quantum;
        let state = self.line(line);
        state.weight = head.map_or(state.weight, |head| head.weight.thousandths());
        let paid = state.given.saturating_add(state.rounds_until(0, quantum, 0));
        let goes_on = head.is_some() && state.deficit > 0;
        let next = state.given.saturating_add(state.rounds_until(1, quantum, 1));
        let place = state.place;
        self.horizon = self.horizon.max(paid);
        if self.current == Some(line) && !goes_on {
            self.current = None;
        }
        // The turn that goes on is before all others.
        let turn = if self.current == Some(line) { (0, 0) } else { (next, place) };
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
        (self.round, self.at) = (self.round.max(self.horizon).saturating_add(1), 0);
    }

    /// The round that pays it.
    fn debt(&self, tenant: Slot) -> Tag {
        let paid = |state: &State| state.given.saturating_add(state.rounds_until(0, self.quantum, 0));
        self.lines.get(tenant as usize).map_or(0, paid)
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
        Some(facts.of_running() + 2 * u128::from(self.quantum))
    }
}

/// What an item takes off a deficit, in thousandths. Less than one unit counts as one: items
/// without cost would never end a turn.
fn cost_of(cost: u64) -> i128 {
    i128::from(cost.max(1)) * i128::from(Weight::ONE.thousandths())
}
