//! Start-time fair queueing with depth: the item with the least start tag starts next, and up to D
//! run at a time.
//!
//! Use when: tenants share a server by weight and the cost of an item is not known before its end.
//! Source: Goyal, Vin and Cheng, "Start-time Fair Queueing", SIGCOMM 1996 (tags); Jin, Chase and
//! Kaur, "Interposed Proportional Sharing for a Storage Service Utility", SIGMETRICS 2004 (SFQ(D):
//! D items at a time).
//! Departs: the charge at the start is a guess (the one given, else the tenant's mean cost, else
//! that of all), and becomes the true cost at the end, in the tags of what the tenant has waiting
//! too; items may take several seats.
//! Departs: in SFQ the virtual time V is the greatest start tag of an item that started, and stands
//! still while only new tenants come: the service of a tenant that has no more waiting shows in no
//! start tag. Here its cost c moves V, by c/W, W being its weight and that of all tenants that
//! wait. While items wait, V goes no further than the least S and the largest guess/w among them
//! together: one costly item does not put off those that come after it by more than a turn.
//! Chosen: a tag is kept for each tenant, not for each item; equal tags start in order of
//! admission; V never goes back; when nothing waits or runs, V becomes the greatest finish tag and
//! all debts are paid. Without `depth` D is the number of seats.
//! Cost: O(log N) for every call, N tenants, expected where items take several seats; no allocation
//! for a tenant that is known.
//! Bound: while tenants i and j both have items waiting, what they are given differs, over weight,
//! by at most D·((cᵢ+eᵢ)/wᵢ + (cⱼ+eⱼ)/wⱼ) + g + 2·lead: c the largest cost, e the most by which a
//! guess was too high, g the largest guess over weight of any tenant (work.rs:
//! no_tenant_gains_on_another_beyond_the_bound). The order is that of a slow implementation that
//! forgets nothing (work.rs: the_same_calls_get_the_answers_of_a_slow_dispatcher).

use crate::contract::Slot;
use crate::heap::Heap;
use crate::part::settings;
use crate::slots::entry;
use crate::units::Weight;
use crate::work::account::{Account, Tag, charge, share};
use crate::work::policy::{Charge, Facts, Head, Line, Policy};
use crate::work::registry::PolicyPart;
use crate::work::wide::{Turn, Wide};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

settings! {
    /// How many seats may be taken.
    pub struct Settings {
        /// D: seats that may be taken at most; without it all there are.
        pub depth: Option<u32> = None,
    }
}

impl PolicyPart for Settings {
    fn fault(&self) -> Option<String> {
        (self.depth == Some(0)).then(|| String::from("sfq_d: depth is at least 1"))
    }

    fn variants() -> Vec<Self> {
        vec![Self { depth: Some(2) }]
    }
}

/// What is known of a line.
#[derive(Clone, Debug, Default)]
struct State {
    account: Account,
    /// Its part of the weight that waits, in thousandths: 0 while it has nothing waiting.
    waiting_weight: u32,
}

/// The policy.
#[derive(Clone, Debug)]
pub struct SfqD {
    depth: Option<u32>,
    lead: u64,
    lines: Vec<State>,
    /// Lines whose first item takes one seat, by start tag and then by the first item's place in
    /// the order of admission.
    narrow: Heap<Turn>,
    /// Those whose first item takes several.
    wide: Wide,
    /// Lines with waiting items, by the charge that the first one's guess gives, the largest first.
    turns: Heap<Reverse<Tag>>,
    /// V.
    virtual_time: Tag,
    /// The greatest finish tag.
    horizon: Tag,
    /// The weight of all lines with waiting items, in thousandths.
    waiting_weight: u64,
    /// The turn of the item that starts, if it passes some whose turn was before.
    passes: Option<Turn>,
}

impl SfqD {
    /// The policy of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            depth: settings.depth,
            lead: 0,
            lines: Vec::new(),
            narrow: Heap::new(),
            wide: Wide::new(),
            turns: Heap::new(),
            virtual_time: 0,
            horizon: 0,
            waiting_weight: 0,
            passes: None,
        }
    }

    fn line(&mut self, line: Line) -> &mut State {
        entry(&mut self.lines, line, State::default())
    }
}

impl Policy for SfqD {
    fn begin(&mut self, _seats: u32, lead: u64) {
        self.lead = lead;
    }

    fn depth(&self) -> Option<u32> {
        self.depth
    }

    fn wake(&mut self, line: Line) {
        let now = self.virtual_time;
        self.line(line).account.wake(now);
    }

    fn head(&mut self, line: Line, head: Option<&Head>) {
        let finish = self.line(line).account.finish();
        self.horizon = self.horizon.max(finish);
        let turn = head.map(|head| ((finish, head.serial), head.seats));
        self.narrow.set(line, turn.filter(|(_, seats)| *seats == 1).map(|(turn, _)| turn));
        self.wide.set(line, turn.filter(|(_, seats)| *seats > 1));
        self.turns.set(line, head.map(|head| Reverse(charge(head.guess, head.weight))));
        let waiting_weight = head.map_or(0, |head| head.weight.thousandths());
        let before = core::mem::replace(&mut self.line(line).waiting_weight, waiting_weight);
        self.waiting_weight = self.waiting_weight - u64::from(before) + u64::from(waiting_weight);
    }

    /// The first that fits, if it may pass those before it.
    fn next(&mut self, free: u32) -> Option<Line> {
        let narrow = self.narrow.peek();
        let before = self.wide.before(free, narrow.map(|(_, turn)| turn));
        let (line, turn) = before.fits.or(narrow)?;
        if let Some(passed) = before.passed {
            let (first, _) = self.wide.least()?;
            if passed >= self.lead || turn.0 >= first.saturating_add(charge(self.lead, Weight::ONE)) {
                return None;
            }
        }
        self.passes = before.passed.map(|_| turn);
        Some(line)
    }

    fn started(&mut self, line: Line, head: &Head) -> Charge {
        if let Some(turn) = self.passes.take() {
            self.wide.pass(turn, head.guess.max(1));
        }
        let finish = self.line(line).account.finish();
        self.virtual_time = self.virtual_time.max(finish);
        self.line(line).account.start(head)
    }

    fn recharge(&mut self, line: Line, charge: &mut Charge, cost: u64) {
        self.line(line).account.correct(charge, cost);
    }

    /// V moves by the service of a tenant that has nothing waiting: V + cost/W, while items wait at
    /// most their least S and largest guess/w together. Another tenant's service shows in its start
    /// tag.
    fn ended(&mut self, line: Line, charge: &Charge, weight: Weight) {
        if self.line(line).waiting_weight > 0 {
            return;
        }
        let competing = self.waiting_weight + u64::from(weight.thousandths());
        let mut moved = self.virtual_time.saturating_add(share(charge.guess, competing));
        let heads = [self.narrow.peek().map(|(_, turn)| turn), self.wide.least()];
        if let (Some((least, _)), Some((_, Reverse(turn)))) = (heads.into_iter().flatten().min(), self.turns.peek()) {
            moved = moved.min(least.saturating_add(turn));
        }
        self.virtual_time = self.virtual_time.max(moved);
    }

    fn idle(&mut self) {
        self.virtual_time = self.virtual_time.max(self.horizon);
    }

    fn debt(&self, tenant: Slot) -> Tag {
        self.lines.get(tenant as usize).map_or(0, |line| line.account.finish())
    }

    fn virtual_time(&self) -> Tag {
        self.virtual_time
    }

    fn forget(&mut self, tenant: Slot) {
        *self.line(tenant) = State::default();
    }

    fn reset(&mut self) {
        (self.virtual_time, self.horizon) = (0, 0);
    }

    fn bound(&self, facts: &Facts) -> Option<u128> {
        // A charge is rounded by 2⁻³² unit.
        Some(facts.of_running() + u128::from(facts.turn_max) + 2 * u128::from(facts.lead) + 1)
    }
}
