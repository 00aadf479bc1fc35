//! First come, first served: items start in the order of their admission, whatever their tenants.
//!
//! Use when: you want the baseline, or all items are of one tenant. One tenant that floods makes
//! all others wait for its items.
//! Source: none; what a single queue does.
//! Chosen: an item for which too few seats are free keeps all others waiting until it fits.
//! Cost: O(log N) for every call, N tenants.
//! Bound: none for tenants. No item starts before one that was admitted earlier
//! (policies/order.rs: fcfs_starts_items_in_the_order_of_admission).

use super::first_that_fits;
use crate::heap::Heap;
use crate::part::no_settings;
use crate::work::policy::{Head, Line, Policy};
use crate::work::registry::PolicyPart;

no_settings!("First come, first served has no settings.");

impl PolicyPart for Settings {}

/// The policy.
#[derive(Clone, Debug)]
pub struct Fcfs {
    /// Lines by the place of their first item in the order of admission.
    heads: Heap<(u64, u32)>,
}

impl Fcfs {
    /// The policy of these settings.
    #[must_use]
    pub fn new(_: &Settings) -> Self {
        Self { heads: Heap::new() }
    }
}

impl Policy for Fcfs {
    fn head(&mut self, line: Line, head: Option<&Head>) {
        self.heads.set(line, head.map(|head| (head.serial, head.seats)));
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        first_that_fits(&self.heads, free)
    }
}
