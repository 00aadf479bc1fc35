//! File transfer: always another packet to send, as fast as flow control allows.
//!
//! Use when: flows should always have data, to compare shares and congestion controls. For
//! completion times of many transfers use `flow_arrivals` or `request_response`.
//! Source: Demers, Keshav and Shenker 1990 (Simulations).
//! Chosen: a flow that stops gives no more than the transport has taken by then; the same holds for
//! a file with an end.
//! Cost: none; the transport takes packets when it needs them.
//! Bound: none of its own.

use super::registry::Context;
use super::{Emission, Lengths, Release, Source, Traffic, packet};
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

impl Traffic for Settings {
    fn release(&self) -> Release {
        Release::AtStart(self.packets)
    }

    fn lengths(&self) -> Lengths<'_> {
        Lengths::All(packet(self.packet))
    }

    fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        Some(&mut self.packet)
    }

    fn demand(&self) -> Option<f64> {
        None
    }

    fn fault(&self) -> Option<&'static str> {
        None
    }

    fn example() -> Self {
        Self { packet: Some(Bytes(1000)), packets: Some(200) }
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Ftp::new(self, context.start)))
    }
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
