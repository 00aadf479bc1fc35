//! File transfer: always another packet to send, as fast as flow control allows.
//!
//! Source: Demers, Keshav and Shenker 1990 (Simulations).
//! Chosen: a flow that stops gives no more than the transport has taken by then, of a file with an end too.
//! Cost: nothing; the transport asks.
//! Bound: none of its own.

use super::{Emission, Source, packet};
use fairq_sched::units::{Bytes, Time};

/// Packets and how many.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// Bytes of a packet of IP; by the edition, if nothing is said.
    pub packet: Option<Bytes>,
    /// How many packets there are; without it they do not end.
    pub packets: Option<u64>,
}

/// One call at the start, when the transport has all there is.
pub struct Ftp {
    start: Option<Emission>,
}

impl Ftp {
    /// Begins at `start`.
    #[must_use]
    pub const fn new(settings: &Settings, start: Time) -> Self {
        Self { start: Some(Emission { time: start, length: packet(settings.packet).0 as u32 }) }
    }
}

impl Source for Ftp {
    fn next(&mut self) -> Option<Emission> {
        self.start.take()
    }
}
