//! HighSpeed TCP: the larger the window, the more it gains in a round trip and the less it loses on
//! a loss.
//!
//! Use when: you reproduce RFC 3649 or its studies over fair queueing. In a FIFO it takes much more
//! than Reno; for new work on long fast paths use `cubic`.
//! Source: RFC 3649, sections 3 and 5; start-up: RFC 3742.
//! Departs: a(w) and b(w) are computed for every window, not read from the RFC's table, unless
//! `table` says so; b above High_Window stays at High_Decrease, where the formula would fall below
//! zero; the response function goes on.
//! Chosen: a(w) is at least 1 (just above Low_Window the formula gives 0.98); the window before a
//! loss is the packets in flight, as for Reno; below Low_Window it is Reno. With
//! `reduces = "window"` the first loss, one in slow start and a timeout take half, as in ns-2. With
//! `table` it is ns-3's version, in which they take b(w) like all others. A mark leaves 2 packets
//! at least, as in Linux; RFC 3168, section 6.1.2, goes down to 1, then waits for the timer.
//! Cost: O(1) a packet, with two powers.
//! Bound: with one loss in 1/p packets the window is 38 (p / Low_P) to the power of -0.8348; a line
//! without buffer of 625 packets is used to 81.4 %
//! (scenes.rs: a_line_without_buffer_is_used_as_published).
//! Range: windows up to 2⁵³ packets.

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::outside;

settings! {
    /// Two points of the response function, and the start.
    pub struct Settings {
        /// Up to this window the congestion control is Reno's, in packets.
        // Section 5.
        pub low_window: f64 = 38.0,
        /// The share of packets lost at that window. ns-2 has 1.5 / 38² = 0.00103878.
        pub low_p: f64 = 1e-3,
        /// The other point of the response function, in packets.
        pub high_window: f64 = 83_000.0,
        /// The share of packets lost there.
        pub high_p: f64 = 1e-7,
        /// The part of the window that a loss takes at `high_window`.
        pub high_decrease: f64 = 0.1,
        /// How the window grows until a packet is lost.
        // Section 6 recommends it.
        pub slow_start: SlowStart = SlowStart::Limited,
        /// Where the first slow start ends, in packets; by default where a packet is lost.
        pub first_threshold: Option<u32> = None,
        /// Whether packets may be marked instead of dropped (RFC 3168).
        pub ecn: bool = false,
        /// Whether a(w) and b(w) are read from the RFC's table (appendix B), from the first row
        /// that is no smaller than the window. Windows after a loss are then whole packets. As in
        /// ns-3: up to a packet a round trip more. The table's rows fit the defaults of the other
        /// settings.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub table: bool = false,
    }
}

impl Settings {
    /// b(w): the part of the window that a loss takes.
    #[must_use]
    pub fn decrease(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return LOW_DECREASE;
        }
        if let Some((_, row)) = self.row(window) {
            return (self.decrease_by_formula(row) * 100.0).round() / 100.0;
        }
        self.decrease_by_formula(window)
    }

    fn decrease_by_formula(&self, window: f64) -> f64 {
        // b = (High_Decrease - 0.5) (log w - log Low_Window) / (log High_Window - log Low_Window) +
        // 0.5
        let share = libm::log(window / self.low_window) / libm::log(self.high_window / self.low_window);
        LOW_DECREASE + (self.high_decrease - LOW_DECREASE) * share.min(1.0)
    }

    /// a(w): the growth of the window in a round trip, in packets.
    #[must_use]
    pub fn increase(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        if let Some((increase, _)) = self.row(window) {
            return increase;
        }
        // a = w² p(w) 2 b(w) / (2 - b(w))
        let b = self.decrease(window);
        (window * window * self.loss_share(window) * 2.0 * b / (2.0 - b)).max(1.0)
    }

    /// a(w) and the window of the first row of the table that is no smaller than the whole packets
    /// of `window`; `None` if the table is not used or ends before it.
    fn row(&self, window: f64) -> Option<(f64, f64)> {
        let at = ROWS.partition_point(|row| f64::from(*row) < window.floor());
        let row = ROWS.get(at).filter(|_| self.table)?;
        Some((at as f64 + 1.0, f64::from(*row)))
    }

    /// p(w): the share of lost packets at which the mean window is `window`.
    #[must_use]
    pub fn loss_share(&self, window: f64) -> f64 {
        // w(p) = Low_Window (p / Low_P)^S, S = log(High_Window / Low_Window) / log(High_P / Low_P)
        let exponent = libm::log(self.high_window / self.low_window) / libm::log(self.high_p / self.low_p);
        self.low_p * libm::pow(window / self.low_window, 1.0 / exponent)
    }
}

/// RFC 3649, appendix B: the windows of the table's rows. In the first row a(w) is 1, in each other
/// row one more than in the row before; b(w) is that of the formula in hundredths.
const ROWS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036,
    5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10_661, 11_358, 12_082, 12_834, 13_614, 14_424, 15_265,
    16_137, 17_042, 17_981, 18_955, 19_965, 21_013, 22_101, 23_230, 24_402, 25_618, 26_881, 28_193, 29_557, 30_975,
    32_450, 33_986, 35_586, 37_253, 38_992, 40_808, 42_707, 44_694, 46_776, 48_961, 51_258, 53_677, 56_230, 58_932,
    61_799, 64_851, 68_113, 71_617, 75_401, 79_517, 84_035, 89_053,
];

/// b at and below Low_Window.
const LOW_DECREASE: f64 = 0.5;

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        outside(&[
            ("low_window", self.low_window, 0.0, 1e6),
            ("high_window", self.high_window, self.low_window, 1e9),
            ("low_p", self.low_p, 0.0, 1.0),
            ("high_p", self.high_p, 0.0, 0.99 * self.low_p),
            ("high_decrease", self.high_decrease, 0.0, LOW_DECREASE),
        ])
    }
}

/// cwnd and ssthresh.
pub struct Hstcp {
    settings: Settings,
    window: Window,
    /// Whether a packet was lost.
    has_lost: bool,
}

impl Hstcp {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        let window = Window::new(settings.slow_start, settings.first_threshold, beginning);
        Self { settings: settings.clone(), window, has_lost: false }
    }

    /// What a loss leaves of `packets`: (1 - b(w)) w.
    fn left_of(&self, packets: f64) -> f64 {
        let left = packets * (1.0 - self.settings.decrease(packets));
        if self.settings.table { left.floor() } else { left }
    }
}

impl LossBased for Hstcp {
    keeps_a_window!(settings.ecn);

    fn grow(&mut self, acked: &Acked) {
        if !self.window.starts(acked) && acked.lets_grow() {
            // w = w + a(w) / w
            let window = self.window.packets();
            self.window.grow(acked.newly as f64 * self.settings.increase(window) / window);
        }
    }

    fn left(&mut self, _signal: Signal, congested: &Congested) -> f64 {
        self.has_lost = true;
        self.left_of(congested.flight as f64)
    }

    /// ns-2 takes half after a timeout, in slow start and at the first loss; ns-3 never does.
    fn left_in_ns2(&mut self, signal: Signal, window: f64) -> Option<f64> {
        let had_lost = core::mem::replace(&mut self.has_lost, true);
        let halves = signal == Signal::Timeout || !had_lost || self.window.is_starting();
        Some(if halves && !self.settings.table { window * 0.5 } else { self.left_of(window) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Congestion;
    use fairq_sched::units::Time;

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance * expected, "{value}, not {expected}");
    }

    #[test]
    fn the_response_function_goes_through_its_points() {
        let settings = Settings::default();
        for (p, window) in
            [(1e-3, 38.0), (1e-4, 259.8), (1e-5, 1776.0), (1e-6, 12_141.0), (1e-7, 83_000.0), (1e-8, 567_416.0)]
        {
            near(settings.loss_share(window), p, 1e-3);
        }
    }

    /// Windows, b, a with Low_P as in the RFC, and as in ns-2.
    #[test]
    fn increase_and_decrease_are_those_of_the_formulas() {
        let (rfc, ns2) = (Settings::default(), Settings { low_p: 1.5 / (38.0 * 38.0), ..Settings::default() });
        for (window, b, a, a_ns2) in [
            (38.0, 0.5, 1.0, 1.0),
            (118.0, 0.4411, 2.028, 2.094),
            (221.0, 0.4084, 3.042, 3.133),
            (500.0, 0.3659, 5.111, 5.242),
            (625.0, 0.3543, 5.877, 6.021),
            (851.0, 0.3383, 7.117, 7.280),
            (1000.0, 0.3299, 7.860, 8.034),
            (5036.0, 0.2458, 20.391, 20.676),
            (8333.0, 0.2196, 26.884, 27.192),
            (10_000.0, 0.2101, 29.617, 29.928),
            (50_000.0, 0.1264, 61.883, 62.039),
            (83_000.0, 0.1, 72.516, 72.516),
        ] {
            near(rfc.decrease(window), b, 1e-3);
            near(rfc.increase(window), a, 1e-3);
            near(ns2.increase(window), a_ns2, 1e-3);
        }
        assert_eq!(rfc.increase(39.0), 1.0, "at least one packet");
        // If every loss took half, the response function would require 459 packets a round trip.
        near(Settings { high_decrease: 0.5, ..rfc.clone() }.increase(83_000.0), 459.27, 1e-4);
        near(rfc.decrease(1e6), 0.1, 1e-9);
    }

    /// Windows, a, b of some rows of the RFC's table, and one packet above the row before.
    #[test]
    fn the_table_is_that_of_the_rfc() {
        let settings = Settings { table: true, ..Settings::default() };
        for (window, above, a, b) in [
            (118.0, 39.0, 2.0, 0.44),
            (221.0, 119.0, 3.0, 0.41),
            (347.0, 222.0, 4.0, 0.38),
            (495.0, 348.0, 5.0, 0.37),
            (663.0, 496.0, 6.0, 0.35),
            (851.0, 664.0, 7.0, 0.34),
            (1058.0, 852.0, 8.0, 0.33),
            (10_661.0, 9992.0, 30.0, 0.21),
            (84_035.0, 79_518.0, 71.0, 0.10),
        ] {
            for packets in [window, window + 0.9, above] {
                assert_eq!((settings.increase(packets), settings.decrease(packets)), (a, b), "{packets}");
            }
        }
        assert_eq!((settings.increase(38.0), settings.decrease(38.0)), (1.0, 0.5));
        assert_eq!(settings.increase(90_000.0), Settings::default().increase(90_000.0), "beyond its last row");
        let mut law = Hstcp::new(&settings, &Beginning::with_window(100.0));
        law.lost(&Congested::of(Time::ZERO, 501));
        assert_eq!(law.window(), 325.0, "0.65 times 501, in whole packets");
    }

    #[test]
    fn a_round_at_625_gains_a_and_a_loss_takes_b() {
        let settings = Settings { first_threshold: Some(1), ..Settings::default() };
        let mut law = Hstcp::new(&settings, &Beginning::with_window(625.0));
        for _ in 0..625 {
            law.acknowledged(&Acked::of(Time::ZERO, 1));
        }
        // A little less than a(625), because the window grows while each packet adds its part.
        near(law.window() - 625.0, 5.877, 0.01);
        law.lost(&Congested::of(Time::ZERO, 625));
        near(law.window(), 625.0 * (1.0 - 0.3543), 1e-3);
    }

    #[test]
    fn as_in_ns_3_every_loss_takes_b() {
        let settings = Settings { table: true, ..Settings::default() };
        let mut law = Hstcp::new(&settings, &Beginning::with_window(106.0));
        let lose = |law: &Hstcp| Congested { window: Some(law.window()), ..Congested::of(Time::ZERO, 100) };
        law.lost(&lose(&law));
        assert_eq!(law.window(), 59.0, "0.56 times 106, in slow start");
        law.timed_out(&lose(&law));
        assert_eq!((law.window.packets(), law.window.threshold()), (1.0, 33.0));
    }

    #[test]
    fn as_in_ns_2_the_first_loss_and_a_timeout_take_half() {
        let lose = |law: &Hstcp| Congested { window: Some(law.window()), ..Congested::of(Time::ZERO, 500) };
        let mut law = Hstcp::new(&Settings::default(), &Beginning::with_window(625.0));
        law.lost(&lose(&law));
        assert_eq!((law.window.packets(), law.window.threshold()), (312.5, 312.0));
        law.window.set(625.0, 2.0);
        law.lost(&lose(&law));
        near(law.window(), 625.0 * (1.0 - 0.3543), 1e-3);
        law.window.set(625.0, 1000.0);
        law.lost(&lose(&law));
        assert_eq!(law.window(), 312.5, "in slow start");
        law.timed_out(&lose(&law));
        assert_eq!((law.window.packets(), law.window.threshold()), (1.0, 156.0));
    }
}
