//! File transfer: always another packet to send, as fast as flow control allows.
//!
//! Use when: flows should always have data, to compare shares and congestion controls. For
//! completion times of many transfers use `flow_arrivals` or `request_response`.
//! Source: Demers, Keshav and Shenker 1990 (Simulations).
//! Chosen: a flow that stops gives no more than the transport has taken by then; the same holds for
//! a file with an end.
//! Cost: none; the transport takes packets when it needs them.
//! Bound: none of its own.

use super::{Emission, Source, packet};
use fairq_sched::units::{Bytes, Time};

/// Packets and how many.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// Bytes of a packet of IP; the default depends on the edition.
    pub packet: Option<Bytes>,
    /// The number of packets; by default they do not end.
    pub packets: Option<u64>,
}

/// A single emission at the start, after which the transport has all data.
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
