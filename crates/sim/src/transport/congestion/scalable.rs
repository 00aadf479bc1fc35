//! Scalable TCP: every packet acknowledged adds a hundredth, a loss takes an eighth; recovery takes
//! the same time at any rate.
//!
//! Use when: you study growth in proportion to the window: recovery takes the same time at any
//! rate. Flows that lose together do not become equal; for new work use `cubic`.
//! Source: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", CCR
//! 33(2), 2003.
//! Chosen: up to the legacy window (16 packets; from memory, a setting) growth and decrease are
//! Reno's; a loss reduces what the connection's `reduces` says. A mark leaves 2 packets at least,
//! as in Linux; RFC 3168, section 6.1.2, goes down to 1, then waits for the timer.
//! Cost: O(1) a packet.
//! Bound: a loss is recovered in ln(1/0.875) / ln(1.01) = 13.4 round trips; a line without buffer
//! is used to 93.6 % (scenes.rs: a_line_without_buffer_is_used_as_published). Flows that lose
//! together do not become equal.
//! Range: windows up to 2⁵³ packets.

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::{no_part, outside};

settings! {
    /// Increase, decrease, the window from which on they apply, and the start.
    pub struct Settings {
        /// What each acknowledged packet adds to the window, in packets. Linux has 0.02, for
        /// delayed acknowledgements.
        pub increase: f64 = 0.01,
        /// The part of the window that a loss takes.
        pub decrease: f64 = 0.125,
        /// Up to this window the congestion control is Reno's, in packets.
        pub legacy_window: f64 = 16.0,
        /// The part that a loss takes up to that window; 0.125 in Linux, whose legacy window is
        /// 100.
        pub legacy_decrease: f64 = 0.5,
        /// How the window grows until a packet is lost.
        pub slow_start: SlowStart = SlowStart::Standard,
        /// Where the first slow start ends, in packets; by default where a packet is lost.
        pub first_threshold: Option<u32> = None,
        /// Whether packets may be marked instead of dropped (RFC 3168).
        pub ecn: bool = false,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        no_part(&[("decrease", self.decrease), ("legacy_decrease", self.legacy_decrease)]).or_else(|| {
            outside(&[("increase", self.increase, 0.0, 1.0), ("legacy_window", self.legacy_window, 0.0, 1e6)])
        })
    }
}

/// cwnd and ssthresh.
pub struct Scalable {
    settings: Settings,
    window: Window,
}

impl Scalable {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        let window = Window::new(settings.slow_start, settings.first_threshold, beginning);
        Self { settings: settings.clone(), window }
    }
}

impl LossBased for Scalable {
    keeps_a_window!(settings.ecn);

    fn grow(&mut self, acked: &Acked) {
        if !self.window.starts(acked) && acked.lets_grow() {
            let window = self.window.packets();
            let gain = if window > self.settings.legacy_window { self.settings.increase } else { 1.0 / window };
            self.window.grow(acked.newly as f64 * gain);
        }
    }

    fn left(&mut self, _signal: Signal, congested: &Congested) -> f64 {
        let (flight, settings) = (congested.flight as f64, &self.settings);
        let is_legacy = flight <= settings.legacy_window;
        flight * (1.0 - if is_legacy { settings.legacy_decrease } else { settings.decrease })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Congestion;
    use fairq_sched::units::Time;

    /// Round trips until the window is as large as before a loss; the last one as a fraction.
    fn rounds_to_recover(window: f64, increase: f64) -> f64 {
        let settings = Settings { increase, first_threshold: Some(1), ..Settings::default() };
        let mut law = Scalable::new(&settings, &Beginning::with_window(window));
        law.lost(&Congested::of(Time::ZERO, window as u64));
        let mut rounds = 0.0;
        loop {
            let before = law.window();
            for _ in 0..before as u64 {
                law.acknowledged(&Acked::of(Time::ZERO, 1));
            }
            if law.window() >= window {
                return rounds + libm::log(window / before) / libm::log(law.window() / before);
            }
            rounds += 1.0;
        }
    }

    /// ln(1/0.875) / ln(1.01); with half of the increase, as where every second packet is
    /// acknowledged, twice that.
    #[test]
    fn a_loss_is_made_good_in_13_42_round_trips_at_any_window() {
        for (window, increase, expected) in [(10_000.0, 0.01, 13.42), (100_000.0, 0.01, 13.42), (10_000.0, 0.005, 26.8)]
        {
            let rounds = rounds_to_recover(window, increase);
            assert!((rounds / expected - 1.0).abs() < 1e-3, "{rounds}");
        }
    }

    #[test]
    fn whole_rounds_gain_one_hundredth() {
        let settings = Settings { first_threshold: Some(1), ..Settings::default() };
        let mut law = Scalable::new(&settings, &Beginning::with_window(1000.0));
        for _ in 0..1000 {
            law.acknowledged(&Acked::of(Time::ZERO, 1));
        }
        assert!((law.window() - 1010.0).abs() < 1e-6);
    }

    #[test]
    fn up_to_the_legacy_window_it_is_reno() {
        let settings = Settings { first_threshold: Some(1), ..Settings::default() };
        let mut law = Scalable::new(&settings, &Beginning::with_window(10.0));
        law.acknowledged(&Acked::of(Time::ZERO, 1));
        assert_eq!(law.window(), 10.1);
        law.lost(&Congested::of(Time::ZERO, 16));
        assert_eq!(law.window(), 8.0);
        law.lost(&Congested::of(Time::ZERO, 24));
        assert_eq!(law.window(), 21.0);
    }
}
