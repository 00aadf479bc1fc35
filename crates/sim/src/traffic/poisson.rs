//! Poisson packets: packets of one length at a mean rate.
//!
//! Use when: a random load of one packet length should be compared with a formula. Measured traffic
//! is burstier: use `self_similar`. The terminal session of 1990 is `telnet`.
//! Source: the Poisson Telnet of Demers, Keshav and Shenker 1990 (Performance, Figure 1).
//! Cost: O(1) a packet.
//! Bound: none of its own.

use super::packet;
use super::telnet::{self, Telnet};
use crate::engine::random::Stream;
use fairq_sched::units::{Bytes, Rate, Time};

/// Packets and their mean rate.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// Mean rate.
    pub rate: Rate,
    /// Bytes of a packet of IP; the default depends on the edition.
    #[cfg_attr(feature = "schema", serde(default))]
    pub packet: Option<Bytes>,
}

/// The same process as a terminal session, given by its rate.
#[must_use]
pub fn source(settings: &Settings, start: Time, stream: Stream) -> Telnet {
    let packet = packet(settings.packet);
    let mean_gap = settings.rate.time_of_bits(packet.0 * 8);
    Telnet::new(&telnet::Settings { packet, mean_gap }, start, stream)
}
