//! Layered sources: each layer at its rate, plain, in pairs, or with bursts before synchronisation
//! points.
//!
//! Packet k of a layer goes at a time computed from k, so that rounding does not add up.

use crate::transport::messages::Flags;
use fairq_sched::units::{Bytes, PS_PER_S, Rate, Time};

/// Nothing can be set.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Constant {}

/// Nothing can be set.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Pairs {}

settings! {
    /// Bursts and points, in packets of the lowest layer.
    pub struct Bursts {
        /// For the time of this many packets every layer with a point to come sends at twice its
        /// rate.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "packets")))]
        pub burst: u32 = 2,
        /// The points of the lowest layer are this many packets apart; those of layer i are 2^(i-1)
        /// times as far apart.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "packets")))]
        pub synchronisation: u32 = 8,
    }
}

/// How a layered source sends.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SessionSource"))]
#[cfg_attr(feature = "schema", serde(tag = "kind", rename_all = "snake_case"))]
pub enum Settings {
    /// One packet after the other, at equal distances.
    Constant(Constant),
    /// Two packets back to back, the first of them flagged, at twice the distance.
    Pairs(Pairs),
    /// One packet after the other; before a synchronisation point two at a time, and none for as
    /// long after it. The rates of the layers are r, r, 2r, 4r and so on.
    Bursts(Bursts),
}

impl Default for Settings {
    fn default() -> Self {
        Self::Constant(Constant {})
    }
}

impl Settings {
    /// Why the settings make no sense for layers of these rates; `None` if they do.
    #[must_use]
    pub fn fault(&self, rates: &[Rate]) -> Option<String> {
        let Self::Bursts(bursts) = self else { return None };
        if bursts.burst == 0 || bursts.burst > 1000 || bursts.synchronisation > 1_000_000 {
            return Some("burst is from 1 to 1000 packets, synchronisation at most 1000000".to_string());
        }
        if bursts.synchronisation < 2 * bursts.burst {
            return Some("synchronisation is at least twice burst: a burst is followed by as long a pause".to_string());
        }
        let mut wanted = rates[0].bit_per_s();
        for (at, rate) in rates.iter().enumerate() {
            if rate.bit_per_s() != wanted {
                return Some(format!(
                    "with bursts the rates of the layers are r, r, 2r, 4r and so on; that of layer {} is {rate}, not \
                     {wanted} bit/s",
                    at + 1
                ));
            }
            wanted = wanted.saturating_mul(if at == 0 { 1 } else { 2 });
        }
        None
    }
}

/// The packets of one layer.
#[derive(Clone, Debug)]
pub struct Layer {
    rate: u64,
    /// The time of slot 0.
    start: Time,
    /// Mean bits sent in a slot, and the number of the next slot.
    bits: u64,
    slot: u64,
    sends_pairs: bool,
    /// Slots of a burst, and from one synchronisation point to the next; `None` without bursts.
    bursts: Option<(u64, u64)>,
    sequence: u64,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its number in its layer.
    pub sequence: u64,
    /// Flags of its header.
    pub flags: Flags,
}

impl Layer {
    /// Layer number `layer` of `rates`, in packets of `packet`, from `start` on. `phase` is the
    /// part of a slot by which it begins later; with bursts all layers begin together.
    #[must_use]
    pub fn new(settings: &Settings, rates: &[Rate], layer: usize, packet: Bytes, start: Time, phase: f64) -> Self {
        let rate = rates[layer];
        let (sends_pairs, bursts) = match settings {
            Settings::Constant(_) => (false, None),
            Settings::Pairs(_) => (true, None),
            Settings::Bursts(bursts) => {
                let times = rate.bit_per_s() / rates[0].bit_per_s();
                let between = (u64::from(bursts.synchronisation) * times).saturating_mul(1 << layer.min(40));
                (false, Some((u64::from(bursts.burst) * times, between)))
            }
        };
        let bits = packet.0 * 8 * if sends_pairs { 2 } else { 1 };
        let slot = rate.time_of_bits(bits);
        let late = if bursts.is_some() { Time::ZERO } else { Time((slot.0 as f64 * phase) as u64) };
        let start = start.saturating_add(late);
        Self { rate: rate.bit_per_s(), start, bits, slot: 0, sends_pairs, bursts, sequence: 0 }
    }

    /// The time of the next slot.
    #[must_use]
    pub fn next_time(&self) -> Time {
        let bits = u128::from(self.slot) * u128::from(self.bits);
        let since = (2 * bits * u128::from(PS_PER_S) + u128::from(self.rate)) / (2 * u128::from(self.rate));
        self.start.saturating_add(Time(u64::try_from(since).unwrap_or(u64::MAX)))
    }

    /// The packets of the next slot: none, one, or two.
    pub fn send(&mut self) -> [Option<Sent>; 2] {
        let slot = self.slot;
        self.slot += 1;
        let mut packet = |flags| {
            self.sequence += 1;
            Some(Sent { sequence: self.sequence - 1, flags })
        };
        if self.sends_pairs {
            return [packet(Flags::PAIR), packet(Flags::NONE)];
        }
        let Some((burst, between)) = self.bursts else { return [packet(Flags::NONE), None] };
        let place = slot % between;
        if place + burst >= between {
            let is_last = place + 1 == between;
            let last = if is_last { Flags::BURST.with(Flags::SYNCHRONISES) } else { Flags::BURST };
            return [packet(Flags::BURST), packet(last)];
        }
        // After the point a layer pauses for as long as its burst: those packets were sent in the
        // burst.
        if slot >= between && place < burst { [None, None] } else { [packet(Flags::NONE), None] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(rates: &[u64]) -> Vec<Rate> {
        rates.iter().filter_map(|rate| Rate::new(*rate)).collect()
    }

    /// The packets of a layer in the first `seconds`: time in milliseconds, and flags.
    fn sent(settings: &Settings, rates: &[Rate], layer: usize, seconds: u64) -> Vec<(u64, Flags)> {
        let mut layer = Layer::new(settings, rates, layer, Bytes(1000), Time::ZERO, 0.0);
        let mut all = Vec::new();
        while layer.next_time() < Time::from_s(seconds) {
            let at = (layer.next_time().as_s() * 1000.0).round() as u64;
            all.extend(layer.send().into_iter().flatten().map(|packet| (at, packet.flags)));
        }
        all
    }

    #[test]
    fn pairs_are_two_packets_apart() {
        let rates = rates(&[50_000, 100_000]);
        let all = sent(&Settings::Pairs(Pairs {}), &rates, 1, 1);
        let expected: Vec<_> = (0..7).flat_map(|k| [(160 * k, Flags::PAIR), (160 * k, Flags::NONE)]).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn bursts_double_the_rate_and_leave_the_mean() {
        let rates = rates(&[32_000, 32_000, 64_000]);
        let settings = Settings::Bursts(Bursts { burst: 2, synchronisation: 8 });
        assert_eq!(settings.fault(&rates), None);
        for (layer, between) in [(0, 2), (1, 4), (2, 8)] {
            let all = sent(&settings, &rates, layer, 64);
            // Between two points the mean is exact: here the last point is at the end.
            assert_eq!(all.len() as u64 * 8000, rates[layer].bit_per_s() * 64 + 8000 * (2 << layer.saturating_sub(1)));
            let points: Vec<u64> =
                all.iter().filter(|(_, flags)| flags.has(Flags::SYNCHRONISES)).map(|(at, _)| *at).collect();
            let slot = [250, 250, 125][layer];
            let expected: Vec<u64> = (1..=64 / between).map(|k| k * between * 1000 - slot).collect();
            assert_eq!(points, expected, "layer {layer}");
        }
        let first: Vec<u64> = sent(&settings, &rates, 0, 4).iter().map(|(at, _)| *at).collect();
        assert_eq!(first[..12], [0, 250, 500, 750, 1000, 1250, 1500, 1500, 1750, 1750, 2500, 2750]);
    }

    #[test]
    fn bursts_need_rates_that_double() {
        let settings = Settings::Bursts(Bursts::default());
        let fault = settings.fault(&rates(&[32_000, 32_000, 32_000]));
        assert!(fault.is_some_and(|fault| fault.contains("that of layer 3 is 32 kbit/s, not 64000 bit/s")));
    }
}
