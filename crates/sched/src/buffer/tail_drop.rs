//! Tail drop: a packet that finds the buffer full is refused.
//!
//! Source: folklore; the FCFS gateways of Demers, Keshav and Shenker 1990 (Introduction).
//! Cost: O(1) a packet.
//! Bound: never more than the limit waits (laws.rs: the_limit_is_kept).

use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict};
use crate::packet::{Packet, Reason};
use crate::part::Part;
use crate::store::Store;
use crate::units::Time;

/// Nothing can be set; the limit is the queue's.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {}

impl Part for Settings {}

/// Refuses what does not fit.
#[derive(Clone, Copy, Debug)]
pub struct TailDrop;

impl TailDrop {
    /// The policy; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl BufferPolicy for TailDrop {
    fn passes_when_empty(&self) -> bool {
        true
    }

    #[inline]
    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        match super::refuse_too_long(store, packet) {
            Verdict::Pass if store.has_no_room_for(packet.length) => Verdict::Drop(Reason::BufferFull),
            verdict => verdict,
        }
    }
}
