//! Weighted fair queueing with the clock of its own items: the item with the least finish tag
//! starts next.
//!
//! Use when: tenants share a server by weight, and guesses of the cost are good: short items go
//! before long ones. Without guesses take `sfq_d`.
//! Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm",
//! SIGCOMM 1989 (finish tags); Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband
//! Applications", INFOCOM 1994 (the clock).
//! Rules: the first item of a tenant that comes has F = max(V, F of its last item) + cost/weight,
//! each further one F = F of the one before + cost/weight. V is the greatest F of an item that
//! started.
//! Departs: V is that of self-clocked fair queueing. That of the fluid needs the rate of the server
//! in the unit of costs, which is not known. The charge at the start is a guess, which becomes the
//! true cost at the end, in the tags of what the tenant has waiting too.
//! Chosen: equal tags start in the order of admission; when nothing waits or runs, V becomes the
//! greatest F and all debts are paid. An item for which too few seats are free keeps all others
//! waiting until it fits.
//! Cost: O(log N) for every call, N tenants.
//! Bound: while tenants i and j both have items waiting, what they are given differs, over weight,
//! by at most D·((cᵢ+eᵢ)/wᵢ + (cⱼ+eⱼ)/wⱼ) + gᵢ/wᵢ + gⱼ/wⱼ: c the largest cost, e the most by which
//! a guess was too high, g the largest guess (policies/bounds.rs:
//! no_tenant_gains_on_another_beyond_the_bound_of_its_policy).

use super::first_that_fits;
use crate::contract::Slot;
use crate::heap::Heap;
use crate::part::no_settings;
use crate::slots::entry;
use crate::work::account::{Account, Tag, charge};
use crate::work::policy::{Charge, Facts, Head, Line, Policy, per_weight};
use crate::work::registry::PolicyPart;
use alloc::vec::Vec;

no_settings!("Weighted fair queueing has no settings; a tenant has its weight.");

impl PolicyPart for Settings {}

/// The policy.
#[derive(Clone, Debug)]
pub struct Wfq {
    accounts: Vec<Account>,
    /// Lines by the finish tag of their first item, then by its place in the order of admission.
    heads: Heap<((Tag, u64), u32)>,
    /// V.
    virtual_time: Tag,
    /// The greatest finish tag.
    horizon: Tag,
}

impl Wfq {
    /// The policy of these settings.
    #[must_use]
    pub fn new(_: &Settings) -> Self {
        Self { accounts: Vec::new(), heads: Heap::new(), virtual_time: 0, horizon: 0 }
    }

    fn account(&mut self, line: Line) -> &mut Account {
        entry(&mut self.accounts, line, Account::default())
    }
}

impl Policy for Wfq {
    fn wake(&mut self, line: Line) {
        let now = self.virtual_time;
        self.account(line).wake(now);
    }

    fn head(&mut self, line: Line, head: Option<&Head>) {
        let start = self.account(line).finish();
        self.horizon = self.horizon.max(start);
        let finish = |head: &Head| start.saturating_add(charge(head.guess, head.weight));
        self.heads.set(line, head.map(|head| ((finish(head), head.serial), head.seats)));
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        first_that_fits(&self.heads, free)
    }

    fn started(&mut self, line: Line, head: &Head) -> Charge {
        // The tag by which it was chosen: its guess may be another by now, if it is a mean.
        if let Some(((finish, _), _)) = self.heads.key(line) {
            self.virtual_time = self.virtual_time.max(finish);
        }
        self.account(line).start(head)
    }

    fn recharge(&mut self, line: Line, charge: &mut Charge, cost: u64) {
        self.account(line).correct(charge, cost);
    }

    fn idle(&mut self) {
        self.virtual_time = self.virtual_time.max(self.horizon);
    }

    fn debt(&self, tenant: Slot) -> Tag {
        self.accounts.get(tenant as usize).map_or(0, Account::finish)
    }

    fn virtual_time(&self) -> Tag {
        self.virtual_time
    }

    fn forget(&mut self, tenant: Slot) {
        *self.account(tenant) = Account::default();
    }

    fn reset(&mut self) {
        (self.virtual_time, self.horizon) = (0, 0);
    }

    fn bound(&self, facts: &Facts) -> Option<u128> {
        let guesses = facts.sides.iter().map(|side| per_weight(side.guess_max.max(1).into(), side.weight));
        // A charge is rounded by 2⁻³² unit.
        Some(facts.of_running() + guesses.sum::<u128>() + 1)
    }
}
