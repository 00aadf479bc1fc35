//! On and off: packets at equal intervals for a random time, then silence for a random time, and
//! again.
//!
//! Use when: a source alternates between sending and silence, as a speaker does. Many heavy-tailed
//! ones at once are `self_similar`; without silence use `constant_rate`.
//! Source: the exponential and Pareto on-off sources of ns-2 (`expoo.cc`, `pareto.cc`); defaults
//! are theirs: half a second on and off, packets of 210 B at 64 kbit/s while on.
//! Departs: the first time is sampled as at a random moment of a source that has always been
//! running (`begins = "drawn"`). ns-2 begins with a whole time off (`begins = "off"`), so that all
//! sources that start together are silent together.
//! Chosen: as in ns-2 a time on is a whole number of packets, the nearest, and at least one; the
//! last packet's interval belongs to it. So times on of few packets are longer than in their
//! distribution. Intervals are computed from the number of all packets, so that rounding does not
//! add up.
//! Cost: O(1) a packet.
//! Bound: while on, in any time t at most rate · t and one packet. Mean rate is rate · on / (on +
//! off).

use super::distribution::{Distribution, Sampler};
use super::registry::Context;
use super::{Emission, Lengths, Release, Source, Traffic};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Rate, Time};

/// Packets, and times on and off.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The rate while on.
    pub rate: Rate,
    /// Bytes of a packet.
    pub packet: Bytes,
    /// The distribution of a time on: a time, or `exponential`, `pareto`, `lognormal`, `table`.
    pub on: Distribution<Time>,
    /// The distribution of a time off.
    pub off: Distribution<Time>,
    /// The state at the start.
    pub begins: Begins,
}

/// The state at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Begins {
    /// A random state, with the rest of a time, as if the source had always been running.
    #[default]
    Drawn,
    /// A whole time on.
    On,
    /// A whole time off, as in ns-2.
    Off,
}

impl Default for Settings {
    fn default() -> Self {
        let half = Distribution::exponential(Time::from_ms(500));
        let rate = Rate::new(64_000).unwrap_or(Rate::MAX);
        Self { rate, packet: Bytes(210), on: half.clone(), off: half, begins: Begins::default() }
    }
}

impl Traffic for Settings {
    fn release(&self) -> Release {
        Release::Stream
    }

    fn lengths(&self) -> Lengths<'_> {
        Lengths::All(self.packet)
    }

    fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        None
    }

    fn demand(&self) -> Option<f64> {
        Some(self.rate.bit_per_s() as f64 * self.on.mean() / (self.on.mean() + self.off.mean()))
    }

    fn fault(&self) -> Option<&'static str> {
        self.on.fault().or_else(|| self.off.fault())
    }

    fn example() -> Self {
        let rate = Rate::new(300_000).unwrap_or(Rate::MAX);
        let (on, off) = (Distribution::exponential(Time::from_ms(200)), Distribution::exponential(Time::from_ms(100)));
        Self { rate, packet: Bytes(1000), on, off, begins: Begins::Drawn }
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(OnOff::new(self, context.start, context.stream)))
    }
}

/// Packets while on.
pub struct OnOff {
    packet: u64,
    rate: Rate,
    on: Sampler,
    off: Sampler,
    stream: Stream,
    /// The start plus all times off so far.
    base: Time,
    /// Packets so far; their intervals are added to `base`.
    emitted: u64,
    /// Packets left of the present time on.
    left: u64,
}

impl OnOff {
    /// Begins at `start`, on or off as the settings say.
    #[must_use]
    pub fn new(settings: &Settings, start: Time, mut stream: Stream) -> Self {
        let (on, off) = (settings.on.sampler(), settings.off.sampler());
        let part_on = settings.on.mean() / (settings.on.mean() + settings.off.mean());
        let is_on = match settings.begins {
            Begins::Drawn => stream.uniform() < part_on,
            Begins::On => true,
            Begins::Off => false,
        };
        let first = if is_on { &on } else { &off };
        let first = match settings.begins {
            Begins::Drawn => first.draw_rest(&mut stream),
            Begins::On | Begins::Off => first.draw(&mut stream),
        };
        let mut source =
            Self { packet: settings.packet.0, rate: settings.rate, on, off, stream, base: start, emitted: 0, left: 0 };
        if is_on {
            source.left = source.packets_in(first);
        } else {
            source.base = start.saturating_add(Time::from_s_f64(first));
            source.turn_on();
        }
        source
    }

    fn turn_on(&mut self) {
        let time = self.on.draw(&mut self.stream);
        self.left = self.packets_in(time);
    }

    fn packets_in(&self, seconds: f64) -> u64 {
        let gap = self.packet as f64 * 8.0 / self.rate.bit_per_s() as f64;
        ((seconds / gap + 0.5) as u64).max(1)
    }
}

impl Source for OnOff {
    fn next(&mut self) -> Option<Emission> {
        if self.left == 0 {
            self.base = self.base.saturating_add(self.off.draw_time(&mut self.stream));
            self.turn_on();
        }
        let bits = self.packet.checked_mul(8)?.checked_mul(self.emitted)?;
        let time = self.base.saturating_add(self.rate.time_of_bits(bits));
        self.left -= 1;
        self.emitted += 1;
        (time < Time::NEVER).then_some(Emission { time, length: self.packet as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emissions(settings: &Settings, seed: u64, count: usize) -> Vec<u64> {
        let mut source = OnOff::new(settings, Time::ZERO, Stream::new(seed, "test"));
        (0..count).filter_map(|_| source.next()).map(|emission| emission.time.0).collect()
    }

    /// Bursts, as a number of packets and the silence after each, found from the times only.
    fn bursts(times: &[u64], gap: u64) -> Vec<(u64, u64)> {
        let mut bursts = Vec::new();
        let mut packets = 1;
        for pair in times.windows(2) {
            match pair[1] - pair[0] {
                distance if distance <= gap + 1 => packets += 1,
                distance => {
                    bursts.push((packets, distance - gap));
                    packets = 1;
                }
            }
        }
        bursts
    }

    const GAP: u64 = 26_250_000_000;

    #[test]
    fn constant_times_give_the_pattern_that_they_say() {
        let ms = |n| Distribution::constant(Time::from_ms(n));
        let rate = Rate::new(80_000).unwrap();
        let settings = Settings { rate, packet: Bytes(100), on: ms(30), off: ms(5), begins: Begins::Off };
        let times: Vec<u64> = emissions(&settings, 1, 7).iter().map(|ps| ps / 1_000_000_000).collect();
        assert_eq!(times, [5, 15, 25, 40, 50, 60, 75]);
        let on_first = Settings { begins: Begins::On, ..settings };
        let times: Vec<u64> = emissions(&on_first, 1, 4).iter().map(|ps| ps / 1_000_000_000).collect();
        assert_eq!(times, [0, 10, 20, 35]);
    }

    /// Half a second at 64 kbit/s is 19.05 packets of 210 B; the mean rate is half of 64 kbit/s.
    #[test]
    fn the_exponential_source_of_ns_2_has_its_means() {
        let settings = Settings { begins: Begins::Off, ..Settings::default() };
        assert_eq!(settings.demand(), Some(32_000.0));
        let times = emissions(&settings, 1, 400_000);
        let bursts = bursts(&times, GAP);
        let n = bursts.len() as f64;
        let mean = |of: fn(&(u64, u64)) -> u64| bursts.iter().map(of).sum::<u64>() as f64 / n;
        // An exponential of mean 19.05 that is rounded, and is 1 where it would be 0, has a mean
        // that is greater by P(x < 1/2): 1 - exp(-0.5 / 19.05) = 0.0259. Its standard deviation is
        // its mean.
        assert!((mean(|b| b.0) - 19.05 - 0.026).abs() < 4.0 * 19.05 / n.sqrt(), "{}", mean(|b| b.0));
        assert!((mean(|b| b.1) / 1e12 - 0.5).abs() < 4.0 * 0.5 / n.sqrt(), "{}", mean(|b| b.1));
        let rate = times.len() as f64 * 1680.0 / (*times.last().unwrap() as f64 / 1e12);
        // A cycle's bits over its time: two times of equal mean and deviation.
        assert!((rate - 32_000.0).abs() < 4.0 * 32_000.0 * (0.5 / n).sqrt(), "{rate}");
    }

    #[test]
    fn the_pareto_source_of_ns_2_has_its_least_times() {
        let half = Distribution::pareto(Time::from_ms(500), 1.5);
        let settings = Settings { on: half.clone(), off: half, ..Settings::default() };
        let times = emissions(&settings, 1, 200_000);
        let bursts = bursts(&times, GAP);
        // The first burst may be incomplete. 6.35 packets are rounded to 6.
        let least = |of: fn(&(u64, u64)) -> u64| bursts[1..].iter().map(of).min().unwrap();
        assert_eq!(least(|b| b.0), 6);
        let off = least(|b| b.1) as f64 / 1e12;
        assert!((1.0 / 6.0..0.1675).contains(&off), "{off}");
    }

    /// The share of sources that are on is the same at the start as later.
    #[test]
    fn a_drawn_start_is_the_steady_state() {
        let settings = Settings {
            on: Distribution::pareto(Time::from_ms(500), 1.5),
            off: Distribution::pareto(Time::from_ms(1000), 1.9),
            ..Settings::default()
        };
        let sources = 3000;
        let mut in_window = [0u32; 4];
        for seed in 0..sources {
            for time in emissions(&settings, seed, 100) {
                if let Some(count) = in_window.get_mut((time / 250_000_000_000) as usize) {
                    *count += 1;
                }
            }
        }
        // In each quarter of a second a third of the sources send 9.52 packets.
        let expected = f64::from(sources as u32) / 3.0 * 0.25 * 64_000.0 / 1680.0;
        for count in in_window {
            // A third are on: a deviation of at most 4 · 2/3 / sqrt(1000), and whole packets.
            assert!((f64::from(count) / expected - 1.0).abs() < 0.1, "{in_window:?}, not {expected}");
        }
    }
}
