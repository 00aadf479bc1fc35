//! Poisson packets: packets of one length at a mean rate.
//!
//! Use when: a random load of one packet length should be compared with a formula. Measured traffic
//! is burstier: use `self_similar`. The terminal session of 1990 is `telnet`.
//! Source: the Poisson Telnet of Demers, Keshav and Shenker 1990 (Performance, Figure 1).
//! Cost: O(1) a packet.
//! Bound: none of its own.

use super::registry::Context;
use super::telnet::{self, Telnet};
use super::{Lengths, Release, Source, Traffic, packet};
use fairq_sched::units::{Bytes, Rate};

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

impl Traffic for Settings {
    packets_at_a_rate!();

    fn fault(&self) -> Option<&'static str> {
        None
    }

    fn example() -> Self {
        Self { rate: Rate::new(300_000).unwrap_or(Rate::MAX), packet: Some(Bytes(1000)) }
    }

    /// The same process as a terminal session, said by its rate.
    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        let packet = packet(self.packet);
        let mean_gap = self.rate.time_of_bits(packet.0 * 8);
        Ok(Box::new(Telnet::new(&telnet::Settings { packet, mean_gap }, context.start, context.stream)))
    }
}
