//! Round robin: tenants with items take turns, and each turn starts one item.
//!
//! Use when: the items of all tenants cost about the same. A tenant whose items cost ten times as
//! much gets ten times the service.
//! Source: Nagle, "On Packet Switches with Infinite Storage", RFC 970, 1985, for items instead of
//! packets.
//! Chosen: a tenant that comes, and one that comes back, takes the last turn; weights are not
//! looked at. An item for which too few seats are free keeps all others waiting until it fits.
//! Cost: O(log N) for every call, N tenants.
//! Bound: while two tenants both have items waiting, the items that they start differ by at most 1
//! (policies/order.rs: round_robin_starts_as_many_items_of_each). In service nothing is bounded.

use super::first_that_fits;
use crate::heap::Heap;
use crate::part::no_settings;
use crate::slots::entry;
use crate::work::policy::{Charge, Head, Line, Policy};
use crate::work::registry::PolicyPart;
use alloc::vec::Vec;

no_settings!("Round robin has no settings.");

impl PolicyPart for Settings {}

/// The policy.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// Lines by their turn.
    heads: Heap<(u64, u32)>,
    /// The turn of each line.
    turns: Vec<u64>,
    /// The turn that was given last.
    last: u64,
}

impl RoundRobin {
    /// The policy of these settings.
    #[must_use]
    pub fn new(_: &Settings) -> Self {
        Self { heads: Heap::new(), turns: Vec::new(), last: 0 }
    }
}

impl Policy for RoundRobin {
    fn wake(&mut self, line: Line) {
        self.last += 1;
        *entry(&mut self.turns, line, 0) = self.last;
    }

    fn head(&mut self, line: Line, head: Option<&Head>) {
        let turn = *entry(&mut self.turns, line, 0);
        self.heads.set(line, head.map(|head| (turn, head.seats)));
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        first_that_fits(&self.heads, free)
    }

    fn started(&mut self, line: Line, head: &Head) -> Charge {
        self.wake(line);
        Charge::new(head, head.guess)
    }
}
