//! DECbit: every packet is marked while the average queue is one packet or more.
//!
//! Source: Ramakrishnan and Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks with a
//! Connectionless Network Layer", SIGCOMM 1988 (section 4); averaging: Jain and Ramakrishnan 1988.
//! Chosen: the arriving packet is not counted; at the very start the time from 0 is the last cycle.
//! Cost: O(1) a packet.
//! Bound: none; with windows that obey, the queue stays near one packet.

use super::cycle::Cycles;
use crate::contract::{Line, Marker, Slot};
use crate::packet::{Marks, Packet};
use crate::store::Store;
use crate::units::{Time, Weight};

/// The threshold.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The average queue, in packets, from which on packets are marked.
    pub threshold: Weight,
}

impl Default for Settings {
    fn default() -> Self {
        // Section 4: the knee of the power curve.
        Self { threshold: Weight::ONE }
    }
}

/// Marks by the average queue.
pub struct Decbit {
    threshold: Weight,
    cycles: Cycles,
}

impl Decbit {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self { threshold: settings.threshold, cycles: Cycles::default() }
    }
}

impl Marker for Decbit {
    fn arrive(&mut self, now: Time, store: &Store, _flow: Slot, _packet: &Packet) -> Marks {
        self.cycles.arrive(now, store);
        if self.cycles.is_at_least(now, self.threshold.thousandths()) { Marks::DEC } else { Marks::NONE }
    }

    fn before_change(&mut self, now: Time, store: &Store) {
        self.cycles.before_change(now, store);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("average_queue_packets", self.cycles.average());
    }
}
