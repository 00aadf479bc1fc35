//! Virtual token counter: the tenant with the least counter of service starts next; a counter grows
//! by what an item brings when it starts and by what it makes when that is known.
//!
//! Use when: requests to a language model, whose prompt is known and whose answer is not; or any
//! items of which a part of the service is known at the door.
//! Source: Sheng, Cao, Li, Zhu, Li, Zhuo, Gonzalez and Stoica, "Fairness in Serving Large Language
//! Models", OSDI 2024, arXiv 2401.00588 (VTC), and its artifact: VTCReqQueue, with a prediction of
//! the length VTCLenPredictReqQueue.
//! Rules: an item starts: the counter of its tenant grows by input_weight · its size. It makes
//! output, which is its cost: the counter grows by output_weight · that, over the tenant's weight.
//! A tenant of which nothing waited is lifted: its counter becomes at least the least counter of
//! those that wait; if none waits, at least that of the tenant that was the last to have something
//! waiting. With a guess of the cost that is charged at the start, and corrected at the end.
//! Departs: output is charged as it is told (`Dispatcher::progress`), at the latest at the end of
//! the item; in the paper with each token. A guess that was too high gives nothing back to a
//! counter that was lifted meanwhile beyond where it was lifted to. An item counts at least one
//! unit, from its start.
//! Chosen: where none waits the lift is that of the paper; its artifact lifts nothing then. Equal
//! counters start in the order of admission. No debt is paid by an idle server, as in
//! the paper; the tenant with the least is forgotten if the table is full. An item for which too
//! few seats are free keeps all others waiting until it fits. A tenant that waits is passed without
//! end while there is always one waiting that came after it and has had nothing yet: counters are
//! lifted to the least one (policies/all.rs:
//! new_tenants_do_not_pass_one_that_waits_without_end_but_for_vtc).
//! Cost: O(log N) for every call, N tenants.
//! Bound: while tenants i and j both have items waiting, their service differs, over weight, by at
//! most D·((cᵢ+eᵢ)/wᵢ + (cⱼ+eⱼ)/wⱼ) + D·E: c the largest service of an item, e the most by which a
//! guess was too high, E the largest e over weight of any tenant; e and E are 0 without guesses
//! (policies/bounds.rs: no_tenant_gains_on_another_beyond_the_bound_of_its_policy). The paper has 2
//! max(input_weight · the longest input, output_weight · M), M tokens in a batch. With D items at a
//! time that is no less while output_weight is at least input_weight, and it does not hold if it is
//! less (policies/vtc.rs: the_bound_of_the_paper_needs_output_to_weigh_no_less_than_input).

use super::first_that_fits;
use crate::contract::Slot;
use crate::heap::Heap;
use crate::part::settings;
use crate::slots::entry;
use crate::units::Weight;
use crate::work::account::{Account, Tag, charge};
use crate::work::policy::{Charge, Facts, Head, Line, Policy};
use crate::work::registry::PolicyPart;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// What a unit of input and of output counts.
    pub struct Settings {
        /// What a unit of the size of an item counts.
        // The prices of the artifact (VTCReqQueue).
        pub input_weight: u32 = 1,
        /// What a unit of its cost counts.
        pub output_weight: u32 = 2,
    }
}

impl PolicyPart for Settings {
    fn fault(&self) -> Option<String> {
        (self.output_weight == 0).then(|| String::from("vtc: output_weight is at least 1"))
    }

    fn variants() -> Vec<Self> {
        vec![Self { input_weight: 3, output_weight: 1 }]
    }
}

/// The tenant that was the last to have something waiting.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// It is known.
    Known(Line),
    /// It was forgotten, with this counter.
    Forgotten(Tag),
}

/// The policy.
#[derive(Clone, Debug)]
pub struct Vtc {
    settings: Settings,
    /// The counters.
    accounts: Vec<Account>,
    /// Lines by their counter, then by the place of their first item in the order of admission.
    heads: Heap<((Tag, u64), u32)>,
    last: Last,
    /// What the guesses of the items that run could give back.
    refundable: Tag,
}

impl Vtc {
    /// The policy of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let (accounts, heads) = (Vec::new(), Heap::new());
        Self { settings: settings.clone(), accounts, heads, last: Last::Forgotten(0), refundable: 0 }
    }

    fn account(&mut self, line: Line) -> &mut Account {
        entry(&mut self.accounts, line, Account::default())
    }

    fn counter(&self, line: Line) -> Tag {
        self.accounts.get(line as usize).map_or(0, Account::finish)
    }

    /// Where the counter of a tenant is lifted to that has something waiting again.
    fn level(&self) -> Tag {
        match (self.heads.peek(), self.last) {
            (Some((_, ((least, _), _))), _) => least,
            (None, Last::Known(line)) => self.counter(line),
            (None, Last::Forgotten(counter)) => counter,
        }
    }

    /// What the counter of the tenant grows by for an item of this size that has cost `cost`.
    fn tag(&self, size: u64, cost: u64, weight: Weight) -> Tag {
        charge(self.service(size, cost), weight)
    }
}

impl Policy for Vtc {
    fn wake(&mut self, line: Line) {
        let level = self.level();
        self.account(line).wake(level);
    }

    fn head(&mut self, line: Line, head: Option<&Head>) {
        let counter = self.counter(line);
        let was_waiting = self.heads.contains(line);
        self.heads.set(line, head.map(|head| ((counter, head.serial), head.seats)));
        if was_waiting && self.heads.is_empty() {
            self.last = Last::Known(line);
        }
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        first_that_fits(&self.heads, free)
    }

    fn started(&mut self, line: Line, head: &Head) -> Charge {
        let mut charged = Charge::new(head, head.told.unwrap_or(0));
        let (input, all) = (self.tag(head.size, 0, head.weight), self.tag(head.size, charged.guess, head.weight));
        self.refundable = self.refundable.saturating_add(all - input);
        charged.mark = self.account(line).add(all);
        charged
    }

    fn recharge(&mut self, line: Line, charged: &mut Charge, cost: u64) {
        let (before, after) =
            (self.tag(charged.size, charged.guess, charged.weight), self.tag(charged.size, cost, charged.weight));
        charged.guess = cost;
        if after >= before {
            self.account(line).add(after - before);
        } else {
            self.account(line).refund(charged.mark, before - after);
        }
        self.refundable = self.refundable.saturating_sub(before).saturating_add(after);
    }

    fn ended(&mut self, _: Line, charged: &Charge, _: Weight) {
        let (input, all) =
            (self.tag(charged.size, 0, charged.weight), self.tag(charged.size, charged.guess, charged.weight));
        self.refundable = self.refundable.saturating_sub(all - input);
    }

    fn debt(&self, tenant: Slot) -> Tag {
        self.counter(tenant)
    }

    /// No tenant will ever be lifted to less.
    fn virtual_time(&self) -> Tag {
        self.level().saturating_sub(self.refundable)
    }

    fn forget(&mut self, tenant: Slot) {
        if matches!(self.last, Last::Known(line) if line == tenant) {
            self.last = Last::Forgotten(self.counter(tenant));
        }
        *self.account(tenant) = Account::default();
    }

    fn reset(&mut self) {
        self.last = Last::Forgotten(0);
    }

    fn service(&self, size: u64, cost: u64) -> u64 {
        let input = size.saturating_mul(self.settings.input_weight.into());
        input.saturating_add(cost.saturating_mul(self.settings.output_weight.into()))
    }

    fn bound(&self, facts: &Facts) -> Option<u128> {
        let refunds = u128::from(facts.over_max) * u128::from(facts.seats);
        // A charge is rounded by 2⁻³² unit.
        Some(facts.of_running() + refunds + 1)
    }
}
