//! Terminal session: small packets, a Poisson process.
//!
//! Use when: an interactive session should be measured beside bulk transfers, as in the 1990 paper.
//! For another packet length or rate use `poisson`.
//! Source: Demers, Keshav and Shenker 1990 (Simulations): 40 bytes, 5 seconds apart on average.
//! Cost: O(1) a packet.
//! Bound: none of its own.

use super::registry::Context;
use super::{Emission, Lengths, Release, Source, Traffic};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Time};

settings! {
    /// Packets and their mean interval.
    pub struct Settings {
        /// Bytes of a packet.
        pub packet: Bytes = Bytes(40),
        /// Mean time between packets.
        pub mean_gap: Time = Time::from_s(5),
    }
}

impl Traffic for Settings {
    fn release(&self) -> Release {
        Release::Session
    }

    fn lengths(&self) -> Lengths<'_> {
        Lengths::All(self.packet)
    }

    fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        None
    }

    fn demand(&self) -> Option<f64> {
        Some(self.packet.0 as f64 * 8.0 / self.mean_gap.as_s())
    }

    fn fault(&self) -> Option<&'static str> {
        (self.mean_gap == Time::ZERO).then_some("mean_gap is above zero")
    }

    fn example() -> Self {
        Self { packet: Bytes(40), mean_gap: Time::from_ms(50) }
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Telnet::new(self, context.start, context.stream)))
    }
}

/// Packets at exponential intervals.
pub struct Telnet {
    length: u32,
    mean_gap_s: f64,
    last: Time,
    stream: Stream,
}

impl Telnet {
    /// The first packet is a random time after `start`.
    #[must_use]
    pub fn new(settings: &Settings, start: Time, stream: Stream) -> Self {
        Self { length: settings.packet.0 as u32, mean_gap_s: settings.mean_gap.as_s(), last: start, stream }
    }
}

impl Source for Telnet {
    fn next(&mut self) -> Option<Emission> {
        let gap = Time::from_s_f64(self.stream.exponential(self.mean_gap_s));
        self.last = self.last.saturating_add(gap);
        (self.last < Time::NEVER).then_some(Emission { time: self.last, length: self.length })
    }
}
