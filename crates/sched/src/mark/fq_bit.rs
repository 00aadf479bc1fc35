//! The bit of bit-setting fair queueing: a packet is marked when its flow holds more than a third of its fair share of
//! the buffer.
//!
//! Source: Demers, Keshav and Shenker 1990 (Simulations); the third is "completely ad hoc" (the authors).
//! Chosen: a flow holds what waits and what is being sent, without the arriving packet; the fair share is the limit
//! over the flows that hold something, the arriving one counted; in bytes if the limit is in bytes.
//! Cost: O(1) a packet.
//! Bound: none; a flow with nothing in the gateway is never marked.

use crate::contract::{Line, Marker, Slot};
use crate::packet::{Marks, Packet};
use crate::store::Store;
use crate::units::{Limit, Time};

/// The part of the fair share.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// One over this much of the fair share may be held without a mark.
    pub divisor: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { divisor: 3 }
    }
}

/// Marks by the flow's own queue. It needs a scheduler with a queue for each flow.
pub struct FqBit {
    divisor: u64,
}

impl FqBit {
    /// The marker; it keeps nothing.
    #[must_use]
    pub const fn new(settings: &Settings, _: &Line) -> Self {
        Self { divisor: settings.divisor as u64 }
    }
}

impl Marker for FqBit {
    fn arrive(&mut self, _now: Time, store: &Store, flow: Slot, _packet: &Packet) -> Marks {
        let serving = store.serving();
        let is_served = serving.is_some_and(|s| s.flow == flow);
        let waits = store.queue_packets(flow) > 0;
        let other_is_served = serving.is_some_and(|s| s.flow != flow && store.queue_packets(s.flow) == 0);
        let holding = u64::from(store.backlogged_queues()) + u64::from(other_is_served) + u64::from(!waits);
        let (own, limit) = match store.limit() {
            Limit::Packets(limit) => (u64::from(store.queue_packets(flow)) + u64::from(is_served), limit),
            Limit::Bytes(limit) => {
                let served = serving.filter(|_| is_served).map_or(0, |s| u64::from(s.packet.length));
                (store.queue_bytes(flow) + served, limit)
            }
            Limit::Unlimited => return Marks::NONE,
        };
        // own > limit / (3 n)
        if own * self.divisor * holding > limit { Marks::FQ } else { Marks::NONE }
    }
}
