//! Constant rate: packets of one length at equal distances.
//!
//! Source: the ill-behaved source of Demers, Keshav and Shenker 1990 (Simulations, scenario 3).
//! Chosen: emission k is at start + k gaps, rounded to the nearest picosecond, so that nothing adds up. With `jitter` it
//! is later by a part of a gap, drawn for each k: `jitter = 1` spreads it over a whole gap, as ns-2's `random_` does with
//! half a gap to either side; the mean rate is kept, for the delays do not add up.
//! Cost: O(1) a packet.
//! Bound: in any time t it emits at most rate · t and one packet; with jitter, and two.

use super::{Emission, Source};
use crate::engine::random::Stream;
use fairq_sched::units::{Bytes, Rate, Time};

/// Packets and rate.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The rate.
    pub rate: Rate,
    /// Bytes of a packet.
    #[serde(default = "super::usual_packet")]
    pub packet: Bytes,
    /// The greatest part of a gap, from 0 to 1, by which a packet is late by chance.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter: f64,
}

fn is_zero(jitter: &f64) -> bool {
    *jitter == 0.0
}

/// Packets at equal distances.
pub struct ConstantRate {
    settings: Settings,
    start: Time,
    emitted: u64,
    stream: Stream,
}

impl ConstantRate {
    /// The first packet comes at `start`, with jitter within a gap of it.
    #[must_use]
    pub fn new(settings: &Settings, start: Time, stream: Stream) -> Self {
        Self { settings: settings.clone(), start, emitted: 0, stream }
    }

    /// By how much the next packet is late.
    fn drawn_delay(&mut self) -> Time {
        if self.settings.jitter == 0.0 {
            return Time::ZERO;
        }
        let gap = self.settings.packet.0 as f64 * 8.0 / self.settings.rate.bit_per_s() as f64;
        Time::from_s_f64(self.settings.jitter * self.stream.uniform() * gap)
    }
}

impl Source for ConstantRate {
    fn next(&mut self) -> Option<Emission> {
        let bits = self.settings.packet.0.checked_mul(8)?.checked_mul(self.emitted)?;
        self.emitted += 1;
        let on_time = self.start.saturating_add(self.settings.rate.time_of_bits(bits));
        // A draw near a whole gap and the roundings could take a packet a picosecond past the next.
        let next_on_time =
            self.start.saturating_add(self.settings.rate.time_of_bits(bits + self.settings.packet.0 * 8));
        let time = on_time.saturating_add(self.drawn_delay()).min(next_on_time);
        Some(Emission { time, length: self.settings.packet.0 as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emission_k_is_computed_from_k() {
        // A byte at 3 bit/s takes 8/3 s.
        let settings = Settings { rate: Rate::new(3).unwrap(), packet: Bytes(1), jitter: 0.0 };
        let mut source = ConstantRate::new(&settings, Time(5), Stream::new(1, "test"));
        let times: Vec<u64> = (0..4).map(|_| source.next().unwrap().time.0).collect();
        assert_eq!(times, [5, 2_666_666_666_672, 5_333_333_333_338, 8_000_000_000_005]);
    }

    #[test]
    fn jitter_keeps_the_order_and_the_mean_rate() {
        let settings = Settings { rate: Rate::new(8_000_000).unwrap(), packet: Bytes(1000), jitter: 1.0 };
        let mut source = ConstantRate::new(&settings, Time::ZERO, Stream::new(1, "test"));
        let gap = 1_000_000_000;
        let times: Vec<u64> = (0..10_000).map(|_| source.next().unwrap().time.0).collect();
        assert!(times.is_sorted());
        // Packet k is in the k-th gap, and over the gaps its place is even: mean 1/2, variance 1/12.
        assert!(times.iter().zip(0..).all(|(time, k)| (k * gap..=(k + 1) * gap).contains(time)));
        let places: Vec<f64> = times.iter().map(|time| (time % gap) as f64 / gap as f64).collect();
        let mean = places.iter().sum::<f64>() / 1e4;
        let variance = places.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 4.0 * 0.002_9 && (variance - 1.0 / 12.0).abs() < 0.004, "{mean} {variance}");
    }
}
