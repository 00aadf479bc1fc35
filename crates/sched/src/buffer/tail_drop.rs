//! Tail drop: a packet that finds the buffer full is refused.
//!
//! Source: folklore; the FCFS gateways of Demers, Keshav and Shenker 1990 (Introduction).
//! Cost: O(1) a packet.
//! Bound: never more than the limit waits (laws.rs: the_limit_is_kept).

use crate::contract::{BufferPolicy, Line, Slot};
use crate::packet::{Packet, Reason};
use crate::store::Store;

/// Nothing can be set; the limit is the queue's.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {}

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
    fn admit(&mut self, store: &Store, _queue: Slot, packet: &Packet) -> Result<(), Reason> {
        super::refuse_too_long(store, packet)?;
        if store.limit().is_exceeded_by(store.packets() + 1, store.bytes() + u64::from(packet.length)) {
            return Err(Reason::BufferFull);
        }
        Ok(())
    }
}
