//! Self-similar: the sum of many on-off sources with heavy-tailed times, bursty at every scale.
//!
//! Use when: queues should meet bursts at every time scale, as in measured networks. It needs long
//! runs; for one source with silences use `on_off`, for a load with simple theory `poisson`.
//! Source: Willinger, Taqqu, Sherman and Wilson, "Self-Similarity Through High-Variability", 1997:
//! the sum of on-off sources whose times are Pareto with shape α has the Hurst parameter H = (3 −
//! α) / 2.
//! Chosen: all sources are alike, with equal shapes for on and off, and start in their steady
//! state. H is that of the counts over times well above those on and off; below them the intervals
//! of the packets dominate.
//! Cost: O(log sources) a packet.
//! Bound: none of its own; never above sources · the rate of one.

use super::distribution::Distribution;
use super::on_off::{self, OnOff};
use super::registry::Context;
use super::{Emission, Lengths, Release, Source, Traffic, packet};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Rate, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of sources, and their total rate.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// The mean rate of all sources together.
    pub rate: Rate,
    /// Bytes of a packet of IP; the default depends on the edition.
    #[cfg_attr(feature = "schema", serde(default))]
    pub packet: Option<Bytes>,
    /// The number of sources.
    #[cfg_attr(feature = "schema", serde(default = "fifty"))]
    pub sources: u32,
    /// The Pareto shape of times on and off, from 1 to 2: 1.2 gives H = 0.9, 1.5 gives 0.75.
    #[cfg_attr(feature = "schema", serde(default = "usual_shape"))]
    pub shape: f64,
    /// The mean time on.
    #[cfg_attr(feature = "schema", serde(default = "half_a_second"))]
    pub mean_on: Time,
    /// The mean time off.
    #[cfg_attr(feature = "schema", serde(default = "half_a_second"))]
    pub mean_off: Time,
}

#[cfg(feature = "schema")]
const fn fifty() -> u32 {
    50
}

#[cfg(feature = "schema")]
const fn usual_shape() -> f64 {
    1.5
}

#[cfg(feature = "schema")]
const fn half_a_second() -> Time {
    Time::from_ms(500)
}

/// The mean number of packets in a time on, which is a whole number and at least one. With this
/// mean even the least time on of shape 1.2 is more than one packet, and the mean rate is kept.
const PACKETS_ON: f64 = 10.0;

impl Traffic for Settings {
    packets_at_a_rate!();

    fn fault(&self) -> Option<&'static str> {
        if !(1..=100_000).contains(&self.sources) {
            return Some("sources is from 1 to 100000");
        }
        if !(self.shape > 1.0 && self.shape < 2.0) {
            return Some("shape is above 1 and below 2; at 2 and above nothing is self-similar");
        }
        if self.mean_on == Time::ZERO || self.mean_off == Time::ZERO {
            return Some("mean_on and mean_off are above zero");
        }
        let rate = self.rate_of_one();
        if !(1.0..=Rate::MAX.bit_per_s() as f64).contains(&rate) {
            return Some(
                "a source while on has from 1 bit/s to 10 Tbit/s; mean_on, mean_off or sources do not fit the rate",
            );
        }
        let packets_on = rate * self.mean_on.as_s() / (packet(self.packet).0 as f64 * 8.0);
        (packets_on < PACKETS_ON).then_some(
            "a source sends fewer than 10 packets in its mean_on, and shorter times on are lost; write fewer sources, a \
             longer mean_on or a smaller packet",
        )
    }

    fn example() -> Self {
        let (rate, mean) = (Rate::new(300_000).unwrap_or(Rate::MAX), Time::from_ms(500));
        Self { rate, packet: Some(Bytes(40)), sources: 5, shape: 1.5, mean_on: mean, mean_off: mean }
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(SelfSimilar::new(self, context.start, context.stream)))
    }
}

impl Settings {
    /// The rate of one source while it is on, in bit/s.
    fn rate_of_one(&self) -> f64 {
        let (on, off) = (self.mean_on.as_s(), self.mean_off.as_s());
        self.rate.bit_per_s() as f64 * (on + off) / (on * f64::from(self.sources))
    }
}

/// On-off sources merged by time.
pub struct SelfSimilar {
    sources: Vec<OnOff>,
    /// The next packet of each source: its time, and the source.
    next: BinaryHeap<Reverse<(Time, u32)>>,
    length: u32,
}

impl SelfSimilar {
    /// All sources begin at `start`; each has a stream of its own.
    #[must_use]
    pub fn new(settings: &Settings, start: Time, mut stream: Stream) -> Self {
        let of_one = on_off::Settings {
            rate: Rate::new((settings.rate_of_one() + 0.5) as u64).unwrap_or(Rate::MAX),
            packet: packet(settings.packet),
            on: Distribution::pareto(settings.mean_on, settings.shape),
            off: Distribution::pareto(settings.mean_off, settings.shape),
            begins: on_off::Begins::Drawn,
        };
        let seed = stream.bits();
        let source = |k| OnOff::new(&of_one, start, Stream::new(seed, &format!("source {k}")));
        let mut sources: Vec<OnOff> = (0..settings.sources).map(source).collect();
        let next = sources.iter_mut().zip(0..).filter_map(|(source, k)| Some(Reverse((source.next()?.time, k))));
        let next = next.collect();
        Self { sources, next, length: packet(settings.packet).0 as u32 }
    }
}

impl Source for SelfSimilar {
    fn next(&mut self) -> Option<Emission> {
        let mut first = self.next.peek_mut()?;
        let Reverse((time, source)) = *first;
        match self.sources[source as usize].next() {
            Some(emission) => *first = Reverse((emission.time, source)),
            None => drop(std::collections::binary_heap::PeekMut::pop(first)),
        }
        Some(Emission { time, length: self.length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(shape: f64) -> Settings {
        let (rate, ms) = (Rate::new(8_000_000).unwrap(), Time::from_ms);
        Settings { rate, packet: Some(Bytes(1000)), sources: 20, shape, mean_on: ms(100), mean_off: ms(100) }
    }

    /// Packets in each of `bins` bins.
    fn counts(settings: &Settings, seed: u64, bins: usize, bin: Time) -> Vec<f64> {
        let mut source = SelfSimilar::new(settings, Time::ZERO, Stream::new(seed, "test"));
        let mut counts = vec![0.0; bins];
        while let Some(count) = source.next().and_then(|emission| counts.get_mut((emission.time.0 / bin.0) as usize)) {
            *count += 1.0;
        }
        counts
    }

    /// H by the variance of means over blocks: it falls with the block's length m as m^(2H - 2).
    fn hurst(counts: &[f64]) -> f64 {
        let points: Vec<(f64, f64)> = (0..8)
            .map(|k| 1usize << k)
            .map(|m| {
                let means: Vec<f64> =
                    counts.chunks_exact(m).map(|block| block.iter().sum::<f64>() / m as f64).collect();
                let mean = means.iter().sum::<f64>() / means.len() as f64;
                let variance = means.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / means.len() as f64;
                (libm::log(m as f64), libm::log(variance))
            })
            .collect();
        let n = points.len() as f64;
        let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
        let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
            / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
        1.0 + slope / 2.0
    }

    /// The estimator is known to be low by some hundredths for H near 1; a Poisson stream gives
    /// 0.5.
    #[test]
    fn the_hurst_parameter_is_that_of_the_shape() {
        let found = |shape: f64| {
            let of = |seed| hurst(&counts(&settings(shape), seed, 8192, Time::from_ms(200)));
            (1..=2).map(of).sum::<f64>() / 2.0
        };
        for shape in [1.2, 1.5, 1.7] {
            let (expected, found) = ((3.0 - shape) / 2.0, found(shape));
            assert!((found - expected).abs() < 0.08, "shape {shape}: {found}, not {expected}");
        }
        let mut stream = Stream::new(1, "poisson");
        let mut time = 0.0;
        let mut poisson = vec![0.0; 8192];
        while let Some(count) = poisson.get_mut(time as usize) {
            *count += 1.0;
            time += stream.exponential(0.005);
        }
        assert!((hurst(&poisson) - 0.5).abs() < 0.05, "{}", hurst(&poisson));
    }

    #[test]
    fn the_mean_rate_is_that_of_the_settings_and_time_never_goes_back() {
        let mut source = SelfSimilar::new(&settings(1.5), Time::from_s(3), Stream::new(1, "test"));
        let times: Vec<Time> = (0..500_000).filter_map(|_| source.next()).map(|emission| emission.time).collect();
        assert!(times.is_sorted() && times[0] >= Time::from_s(3));
        let rate = 500_000.0 * 8000.0 / (times[499_999] - Time::from_s(3)).as_s();
        // With H = 0.75 the deviation of a mean over 500 s is some percent of that over one second.
        assert!((rate / 8e6 - 1.0).abs() < 0.05, "{rate}");
        assert_eq!(settings(1.5).fault(), None);
        assert!(Settings { sources: 30, ..settings(1.5) }.fault().is_some_and(|fault| fault.contains("fewer sources")));
    }
}
