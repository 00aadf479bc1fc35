//! The rate of packets by exponential averaging, as CSFQ and Rainbow fair queueing estimate it at
//! the edge.
//!
//! r ← (1 − e^(−T/K))·L/T + e^(−T/K)·r, where T is the time since the last packet and K the window.
//! The limit for T = 0 is r + L/K; the first packet counts so too, for nothing came before it.

use crate::contract::Slot;
use crate::slots::entry;
use crate::units::Time;
use alloc::string::String;
use alloc::vec::Vec;

/// Windows of silence after which a flow is new: e⁻¹⁰ of its old rate is less than a
/// ten-thousandth.
const WINDOWS_OF_SILENCE: u64 = 10;

/// The estimated rate of a sequence of packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateEstimate {
    bit_per_s: f64,
    last: Option<Time>,
}

impl RateEstimate {
    /// A packet of `length` bytes comes; the rate with it, in bit/s.
    pub fn note(&mut self, now: Time, length: u32, window: Time) -> f64 {
        if self.is_over(now, window) {
            *self = Self::default();
        }
        let since = self.last.map_or(Time::ZERO, |last| now - last);
        // x = T/K; (1 − e^(−x))/x is 1 in the limit.
        let x = since.0 as f64 / window.0 as f64;
        let kernel = if since == Time::ZERO { 1.0 } else { -libm::expm1(-x) / x };
        self.bit_per_s = f64::from(length) * 8.0 / window.as_s() * kernel + libm::exp(-x) * self.bit_per_s;
        self.last = Some(now);
        self.bit_per_s
    }

    /// The rate at the last packet, in bit/s.
    #[must_use]
    pub const fn bit_per_s(&self) -> f64 {
        self.bit_per_s
    }

    /// Whether nothing is known any more at `now`.
    #[must_use]
    pub fn is_over(&self, now: Time, window: Time) -> bool {
        let silence = Time(window.0.saturating_mul(WINDOWS_OF_SILENCE));
        self.last.is_none_or(|last| now.saturating_sub(last) > silence)
    }
}

/// The estimated rate of each flow.
#[derive(Clone, Debug)]
pub struct FlowRates {
    window: Time,
    rates: Vec<RateEstimate>,
}

impl FlowRates {
    /// No flow has sent; rates are averaged over `window`.
    #[must_use]
    pub const fn new(window: Time) -> Self {
        Self { window, rates: Vec::new() }
    }

    /// A packet of `length` bytes of the flow in slot `flow` comes; the flow's rate with it, in
    /// bit/s.
    pub fn note(&mut self, now: Time, flow: Slot, length: u32) -> f64 {
        entry(&mut self.rates, flow, RateEstimate::default()).note(now, length, self.window)
    }

    /// Whether nothing is known of the flow in slot `flow`; then it is forgotten.
    pub fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        let Some(rate) = self.rates.get_mut(flow as usize) else { return true };
        let is_clear = rate.is_over(now, self.window);
        if is_clear {
            *rate = RateEstimate::default();
        }
        is_clear
    }
}

/// The fault of the setting `name` if its value is not a valid window.
#[must_use]
pub fn window_fault(name: &str, window: Time) -> Option<String> {
    let range = Time::from_ms(1)..=Time::from_s(3600);
    (!range.contains(&window)).then(|| alloc::format!("{name} = \"{window}\": write a time from \"1 ms\" to \"1 h\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: Time = Time::from_ms(100);

    #[test]
    fn the_estimate_is_the_formula() {
        let mut rate = RateEstimate::default();
        // The first packet: L/K. One in the same instant adds another.
        assert_eq!(rate.note(Time::from_s(5), 1000, K), 80_000.0);
        assert_eq!(rate.note(Time::from_s(5), 500, K), 120_000.0);
        // T = 50 ms: e^(−1/2) = 0.60653.
        let e = libm::exp(-0.5);
        let expected = (1.0 - e) * 12_000.0 / 0.05 + e * 120_000.0;
        let got = rate.note(Time::from_s(5) + Time::from_ms(50), 1500, K);
        assert!(libm::fabs(got - expected) < 1e-6, "{got} {expected}");
        assert_eq!(rate.bit_per_s(), got);
    }

    #[test]
    fn a_steady_rate_is_estimated_exactly_whatever_the_packets() {
        for (length, gap) in [(1000, Time::from_ms(8)), (40, Time(320_000_000)), (9000, Time::from_ms(72))] {
            let mut rate = RateEstimate::default();
            let mut now = Time::ZERO;
            for _ in 0..30_000 {
                rate.note(now, length, K);
                now = now + gap;
            }
            assert!(libm::fabs(rate.bit_per_s() - 1e6) < 1.0, "{length}: {}", rate.bit_per_s());
        }
    }

    #[test]
    fn a_flow_is_forgotten_when_it_has_been_silent_for_long() {
        let mut rates = FlowRates::new(K);
        rates.note(Time::ZERO, 3, 1000);
        rates.note(Time::from_ms(1), 3, 1000);
        assert!(rates.is_clear(Time::ZERO, 2) && rates.is_clear(Time::ZERO, 9));
        assert!(!rates.is_clear(Time::from_s(1), 3));
        assert!(rates.clone().is_clear(Time::from_s(2), 3));
        // Forgotten or not, it begins anew.
        assert_eq!(rates.note(Time::from_s(2), 3, 1000), 80_000.0);
    }
}
