//! Strict priority: the item whose tenant has the greatest priority starts next; equal priorities
//! start in the order of admission.
//!
//! Use when: some tenants may make others wait without end, as an alarm does a report.
//! Source: none; the rule of a priority queue.
//! Chosen: a priority belongs to a tenant (`Dispatcher::set_priority`) and is 0 without one; an
//! item that runs is not stopped. An item for which too few seats are free keeps all others waiting
//! until it fits.
//! Cost: O(log N) for every call, N tenants.
//! Bound: none for tenants of less priority, which may starve. No item starts while one of a
//! greater priority waits (policies/order.rs:
//! no_item_starts_while_one_of_a_greater_priority_waits).

use super::first_that_fits;
use crate::heap::Heap;
use crate::part::no_settings;
use crate::work::policy::{Head, Line, Policy};
use crate::work::registry::PolicyPart;
use core::cmp::Reverse;

no_settings!("Strict priority has no settings; a tenant has its priority.");

impl PolicyPart for Settings {}

/// The policy.
#[derive(Clone, Debug)]
pub struct StrictPriority {
    /// Lines by the priority of their tenant, then by the place of their first item in the order of
    /// admission.
    heads: Heap<((Reverse<u32>, u64), u32)>,
}

impl StrictPriority {
    /// The policy of these settings.
    #[must_use]
    pub fn new(_: &Settings) -> Self {
        Self { heads: Heap::new() }
    }
}

impl Policy for StrictPriority {
    fn head(&mut self, line: Line, head: Option<&Head>) {
        self.heads.set(line, head.map(|head| ((Reverse(head.priority), head.serial), head.seats)));
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        first_that_fits(&self.heads, free)
    }
}
