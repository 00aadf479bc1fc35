//! No marks: congestion is told by drops and delay alone.
//!
//! Use when: senders hear of congestion by drops and delay alone; it is the default. To mark in
//! place of dropping set `ecn` of `codel`, `pie` or `red`; for marks at a threshold use `step`.
//! Source: the gateways before DECbit.
//! Cost: nothing.
//! Bound: none.
//! Changes: a rate means nothing to it.

use crate::change::no_changes;
use crate::contract::{Line, Marker, Slot, traits};
use crate::packet::{Marks, Packet};
use crate::part::{Part, facts, no_settings};
use crate::reading::no_readings;
use crate::store::Store;
use crate::units::Time;

no_settings!("Nothing can be set.");

impl Part for Settings {
    facts!(tells_flows_apart = false);
}

/// Marks no packet.
#[derive(Clone, Copy, Debug)]
pub struct None;

impl None {
    /// The marker; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl Marker for None {
    traits!(bypass = u32::MAX);

    no_changes!();

    #[inline]
    fn arrive(&mut self, _now: Time, _store: &Store, _flow: Slot, _packet: &Packet) -> Marks {
        Marks::NONE
    }

    no_readings!();
}
