//! Constant rate: packets of one length at equal intervals.
//!
//! Use when: you need a steady load, a call without silence or the ill-behaved source of 1990. For
//! random gaps use `poisson`, for silences `on_off`, for bursts at all scales `self_similar`.
//! Source: the ill-behaved source of Demers, Keshav and Shenker 1990 (Simulations, scenario 3).
//! Chosen: emission k is at start + k gaps, rounded to the nearest picosecond, so that rounding
//! does not add up. With `jitter` it is later by a random part of a gap, independent for each k:
//! `jitter = 1` spreads it over a whole gap. The mean rate is kept, because the delays do not add
//! up. With `adds_up` the gaps are random instead, as with ns-2's `random_`: half of the part to
//! either side, each counted from the emission before. The source then drifts from its plan, behind
//! or ahead.
//! Cost: O(1) a packet.
//! Bound: in any time t it emits at most rate · t and one packet; with jitter, and two; none if it
//! adds up.

use super::registry::Context;
use super::{Emission, Lengths, Release, Source, Traffic, packet};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Rate, Time};

/// Packets and rate.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// The rate.
    pub rate: Rate,
    /// Bytes of a packet of IP; the default depends on the edition.
    #[cfg_attr(feature = "schema", serde(default))]
    pub packet: Option<Bytes>,
    /// The greatest random delay of a packet, as a part of a gap from 0 to 1.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "is_zero"))]
    pub jitter: f64,
    /// Whether the random part changes the gaps, half of it to either side, so that deviations add
    /// up.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub adds_up: bool,
}

#[cfg(feature = "schema")]
fn is_zero(jitter: &f64) -> bool {
    *jitter == 0.0
}

impl Traffic for Settings {
    packets_at_a_rate!();

    fn fault(&self) -> Option<&'static str> {
        (!(0.0..=1.0).contains(&self.jitter)).then_some("jitter is from 0 to 1")
    }

    fn example() -> Self {
        let rate = Rate::new(300_000).unwrap_or(Rate::MAX);
        Self { rate, packet: Some(Bytes(1000)), jitter: 0.5, adds_up: true }
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(ConstantRate::new(self, context.start, context.stream)))
    }
}

/// Packets at equal intervals.
pub struct ConstantRate {
    settings: Settings,
    packet: Bytes,
    start: Time,
    emitted: u64,
    /// The time of the emission before, if gaps add up.
    last: Option<Time>,
    stream: Stream,
}

impl ConstantRate {
    /// The first packet is at `start`, with jitter within a gap after it.
    #[must_use]
    pub fn new(settings: &Settings, start: Time, stream: Stream) -> Self {
        Self { settings: settings.clone(), packet: packet(settings.packet), start, emitted: 0, last: None, stream }
    }

    /// A gap without jitter, in seconds.
    fn gap(&self) -> f64 {
        self.packet.0 as f64 * 8.0 / self.settings.rate.bit_per_s() as f64
    }

    /// The random delay of the next packet.
    fn drawn_delay(&mut self) -> Time {
        if self.settings.jitter == 0.0 {
            return Time::ZERO;
        }
        Time::from_s_f64(self.settings.jitter * self.stream.uniform() * self.gap())
    }

    /// The next emission where gaps add up: the first at the start, each other a random gap after
    /// the one before.
    fn after_the_last(&mut self) -> Time {
        let time = match self.last {
            None => self.start,
            Some(last) => {
                let part = self.settings.jitter * (self.stream.uniform() - 0.5);
                last.saturating_add(Time::from_s_f64(self.gap() * (1.0 + part)))
            }
        };
        self.last = Some(time);
        time
    }
}

impl Source for ConstantRate {
    fn next(&mut self) -> Option<Emission> {
        let length = self.packet.0 as u32;
        if self.settings.adds_up {
            return Some(Emission { time: self.after_the_last(), length });
        }
        let bits = self.packet.0.checked_mul(8)?.checked_mul(self.emitted)?;
        self.emitted += 1;
        let on_time = self.start.saturating_add(self.settings.rate.time_of_bits(bits));
        // A random part near a whole gap, with rounding, could move a packet a picosecond past the
        // next one.
        let next_on_time = self.start.saturating_add(self.settings.rate.time_of_bits(bits + self.packet.0 * 8));
        let time = on_time.saturating_add(self.drawn_delay()).min(next_on_time);
        Some(Emission { time, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emission_k_is_computed_from_k() {
        // A byte at 3 bit/s takes 8/3 s.
        let settings = Settings { rate: Rate::new(3).unwrap(), packet: Some(Bytes(1)), jitter: 0.0, adds_up: false };
        let mut source = ConstantRate::new(&settings, Time(5), Stream::new(1, "test"));
        let times: Vec<u64> = (0..4).map(|_| source.next().unwrap().time.0).collect();
        assert_eq!(times, [5, 2_666_666_666_672, 5_333_333_333_338, 8_000_000_000_005]);
    }

    #[test]
    fn gaps_that_add_up_are_drawn_to_either_side() {
        let settings =
            Settings { rate: Rate::new(8_000_000).unwrap(), packet: Some(Bytes(1000)), jitter: 1.0, adds_up: true };
        let mut source = ConstantRate::new(&settings, Time(7), Stream::new(1, "test"));
        let times: Vec<f64> = (0..10_001).map(|_| source.next().unwrap().time.0 as f64 / 1e9).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(times[0] < 1e-6 && gaps.iter().all(|gap| (0.5..1.5).contains(gap)));
        let mean = gaps.iter().sum::<f64>() / 1e4;
        let variance = gaps.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e4;
        assert!((mean - 1.0).abs() < 4.0 * 0.002_9 && (variance - 1.0 / 12.0).abs() < 0.004, "{mean} {variance}");
        // Deviations add up: the emissions are far from their plan, by 29 gaps in the mean of many
        // sources.
        assert!((times[10_000] - 1e4).abs() > 1.0);
    }

    #[test]
    fn jitter_keeps_the_order_and_the_mean_rate() {
        let settings =
            Settings { rate: Rate::new(8_000_000).unwrap(), packet: Some(Bytes(1000)), jitter: 1.0, adds_up: false };
        let mut source = ConstantRate::new(&settings, Time::ZERO, Stream::new(1, "test"));
        let gap = 1_000_000_000;
        let times: Vec<u64> = (0..10_000).map(|_| source.next().unwrap().time.0).collect();
        assert!(times.is_sorted());
        // Packet k is in the k-th gap, and its place in the gap is uniform: mean 1/2, variance
        // 1/12.
        assert!(times.iter().zip(0..).all(|(time, k)| (k * gap..=(k + 1) * gap).contains(time)));
        let places: Vec<f64> = times.iter().map(|time| (time % gap) as f64 / gap as f64).collect();
        let mean = places.iter().sum::<f64>() / 1e4;
        let variance = places.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 4.0 * 0.002_9 && (variance - 1.0 / 12.0).abs() < 0.004, "{mean} {variance}");
    }
}
