//! Constant rate: packets of one length at equal distances.
//!
//! Source: the ill-behaved source of Demers, Keshav and Shenker 1990 (Simulations, scenario 3).
//! Chosen: emission k is at start + k gaps, rounded to the nearest picosecond, so that nothing adds up.
//! Cost: O(1) a packet.
//! Bound: in any time t it emits at most rate · t and one packet.

use super::{Emission, Source};
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
}

/// Packets at equal distances.
pub struct ConstantRate {
    settings: Settings,
    start: Time,
    emitted: u64,
}

impl ConstantRate {
    /// The first packet comes at `start`.
    #[must_use]
    pub fn new(settings: &Settings, start: Time) -> Self {
        Self { settings: settings.clone(), start, emitted: 0 }
    }
}

impl Source for ConstantRate {
    fn next(&mut self) -> Option<Emission> {
        let bits = self.settings.packet.0.checked_mul(8)?.checked_mul(self.emitted)?;
        self.emitted += 1;
        let time = self.start.saturating_add(self.settings.rate.time_of_bits(bits));
        Some(Emission { time, length: self.settings.packet.0 as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emission_k_is_computed_from_k() {
        // A byte at 3 bit/s takes 8/3 s.
        let settings = Settings { rate: Rate::new(3).unwrap(), packet: Bytes(1) };
        let mut source = ConstantRate::new(&settings, Time(5));
        let times: Vec<u64> = (0..4).map(|_| source.next().unwrap().time.0).collect();
        assert_eq!(times, [5, 2_666_666_666_672, 5_333_333_333_338, 8_000_000_000_005]);
    }
}
