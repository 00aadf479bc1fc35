//! TCP Hybla: on a path with a long round trip the window grows as fast in time as Reno's on a path
//! of 25 ms.
//!
//! Use when: a satellite connection should grow as fast as one of 25 ms. Its bursts need pacing or
//! buffers; on shorter paths it is Reno. For long fast paths in general use `cubic`.
//! Source: Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks",
//! International Journal of Satellite Communications and Networking 22(5), 2004; the caps as in
//! Linux (tcp_hybla.c).
//! Departs: the initial window is the connection's, not rho times it: no round trip is known when
//! it begins. With `in_128ths` it is rho once the opening packet is acknowledged, as in Linux.
//! Chosen: rho follows the least round trip, so that a queue does not raise it; in slow start it is
//! at most `ratio_max` and the window at most ssthresh and the receiver's window. Its bursts should
//! be paced. A mark leaves 2 packets at least, as in Linux; RFC 3168, section 6.1.2, goes down to
//! 1, then waits for the timer.
//! Cost: O(1) a packet.
//! Bound: in avoidance the window gains rho² packets a round trip, rho being the round trip over 25
//! ms (hybla.rs: avoidance_gains_16_packets_in_a_round_trip_of_100_ms_and_1_in_25_ms_or_less).
//! Range: windows up to 2⁵³ packets.

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::outside;
use fairq_sched::units::Time;

settings! {
    /// The reference path.
    pub struct Settings {
        /// RTT_0: its round trip.
        pub round_trip: Time = Time::from_ms(25),
        /// The greatest rho that is used as the exponent of 2 in slow start.
        pub ratio_max: f64 = 16.0,
        /// Whether avoidance counts acknowledged packets; Linux counts acknowledgements.
        pub counts_packets: bool = true,
        /// Whether rho is in whole eighths and from the least smoothed round trip, the window grows
        /// by whole 128ths of a packet, and the first window is rho. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub in_128ths: bool = false,
        /// Where the first slow start ends, in packets; by default where a packet is lost.
        pub first_threshold: Option<u32> = None,
        /// Whether packets may be marked instead of dropped (RFC 3168).
        pub ecn: bool = false,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        if self.round_trip == Time::ZERO {
            return Some("round_trip is 0 s; that of the path to imitate is above zero, like \"25 ms\"".to_owned());
        }
        outside(&[("ratio_max", self.ratio_max, 0.0, 64.0)])
    }
}

/// cwnd and ssthresh.
pub struct Hybla {
    settings: Settings,
    window: Window,
    window_max: f64,
    eighths: Eighths,
}

/// Linux's numbers (`struct hybla`): rho_3ls, eighths of rho, of the least smoothed round trip; and
/// snd_cwnd_cents, 128ths of a packet by which the window has still to grow; and snd_cwnd_cnt, the
/// acknowledgements since it grew.
#[derive(Clone, Copy, Debug)]
struct Eighths {
    rho: u64,
    rest: u64,
    acknowledgements: u64,
}

/// 128 times 2 to the power of 0 to 7 eighths (`hybla_fraction`).
const POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

impl Eighths {
    /// `hybla_recalc_param`
    fn measure(&mut self, smoothed: Time, round_trip: Time) {
        if smoothed > Time::ZERO {
            self.rho = self.rho.min((8 * smoothed.0 / round_trip.0).max(8));
        }
    }

    /// By how much a window grows with an acknowledgement (`hybla_cong_avoid`).
    fn grow(&mut self, window: u64, is_starting: bool, ratio_max: u64) -> u64 {
        let increase = match is_starting {
            true => (POWERS[(self.rho % 8) as usize] << (self.rho / 8).min(ratio_max)) - 128,
            false => 2 * self.rho * self.rho / window.max(1),
        };
        self.acknowledgements += 1;
        let grown = self.rest + increase;
        self.rest = grown % 128;
        // A window too large for a 128th grows by one in a round trip.
        let is_due = increase == 0 && self.acknowledgements >= window;
        if grown >= 128 || is_due {
            self.acknowledgements = 0;
        }
        grown / 128 + u64::from(is_due)
    }
}

impl Hybla {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        let window = Window::new(SlowStart::Standard, settings.first_threshold, beginning);
        let eighths = Eighths { rho: u64::MAX, rest: 0, acknowledgements: 0 };
        Self { settings: settings.clone(), window, window_max: beginning.window_max, eighths }
    }

    /// rho = max(RTT / RTT_0, 1)
    fn ratio(&self, least: Time) -> f64 {
        if least == Time::NEVER { 1.0 } else { (least.as_s() / self.settings.round_trip.as_s()).max(1.0) }
    }
}

impl LossBased for Hybla {
    keeps_a_window!(settings.ecn);

    fn open(&mut self, _now: Time, smoothed: Time) {
        if self.settings.in_128ths && smoothed > Time::ZERO {
            self.eighths.measure(smoothed, self.settings.round_trip);
            *self.window.cwnd().window = (self.eighths.rho / 8) as f64;
        }
    }

    fn grow(&mut self, acked: &Acked) {
        self.eighths.measure(acked.smoothed, self.settings.round_trip);
        if !acked.lets_grow() {
            return;
        }
        if self.settings.in_128ths {
            let (window, is_starting) = (self.window.packets(), self.window.is_starting());
            let grown = self.eighths.grow(window as u64, is_starting, self.settings.ratio_max as u64) as f64;
            let limit = if is_starting { self.window.threshold().min(self.window_max) } else { self.window_max };
            return self.window.grow(grown.min(limit.max(window) - window));
        }
        let (ratio, window) = (self.ratio(acked.least), self.window.packets());
        if self.window.is_starting() {
            // 2^rho - 1 an acknowledgement
            let limit = self.window.threshold().min(self.window_max).max(window);
            let grown = window + libm::exp2(ratio.min(self.settings.ratio_max)) - 1.0;
            self.window.grow(grown.min(limit) - window);
        } else {
            // rho² / cwnd a packet
            let counted = if self.settings.counts_packets { acked.newly as f64 } else { 1.0 };
            self.window.grow(counted * ratio * ratio / window);
        }
    }

    fn left(&mut self, _signal: Signal, congested: &Congested) -> f64 {
        congested.flight as f64 / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Congestion;

    fn law(window: f64, first_threshold: Option<u32>) -> Hybla {
        Hybla::new(&Settings { first_threshold, ..Settings::default() }, &Beginning::with_window(window))
    }

    /// The growth in a round trip of avoidance, each packet acknowledged separately.
    fn gained(window: f64, least: Time) -> f64 {
        let mut law = law(window, Some(1));
        for _ in 0..window as u64 {
            law.acknowledged(&Acked { least, ..Acked::of(Time::ZERO, 1) });
        }
        law.window() - window
    }

    #[test]
    fn avoidance_gains_16_packets_in_a_round_trip_of_100_ms_and_1_in_25_ms_or_less() {
        for (trip, gain) in [(100, 16.0), (50, 4.0), (25, 1.0), (10, 1.0)] {
            let found = gained(100_000.0, Time::from_ms(trip));
            assert!((found - gain).abs() < 1e-3 * gain, "{found}, not {gain}");
        }
    }

    #[test]
    fn slow_start_adds_15_an_acknowledgement_at_100_ms_up_to_the_threshold() {
        let mut law = law(10.0, Some(32));
        let acked = Acked { least: Time::from_ms(100), ..Acked::of(Time::ZERO, 1) };
        law.acknowledged(&acked);
        assert_eq!(law.window(), 25.0);
        law.acknowledged(&acked);
        assert_eq!(law.window(), 32.0);
        law.acknowledged(&acked);
        assert_eq!(law.window(), 32.5);
    }

    /// `hybla_init`, `hybla_cong_avoid`: 60.6 ms are 19 eighths of 25 ms; the first window is 2, an
    /// acknowledgement adds 4 * 165 / 128 - 1 packets, and with 50 of them 722 / 50 of 128ths.
    #[test]
    fn linux_counts_in_128ths_and_begins_with_rho() {
        let settings = Settings { in_128ths: true, first_threshold: Some(11), ..Settings::default() };
        let mut law = Hybla::new(&settings, &Beginning::with_window(10.0));
        law.opened(Time::ZERO, None, Time(60_600_000_000), 1000);
        assert_eq!((law.window(), law.eighths.rho), (2.0, 19));
        let mut windows = (0..4).map(|_| {
            law.acknowledged(&Acked { smoothed: Time::from_ms(80), ..Acked::of(Time::ZERO, 2) });
            law.window()
        });
        assert_eq!([(); 4].map(|()| windows.next().unwrap()), [6.0, 10.0, 11.0, 11.0]);
        let mut eighths = Eighths { rho: 19, rest: 0, acknowledgements: 0 };
        assert_eq!((0..10).map(|_| eighths.grow(50, false, 16)).sum::<u64>(), 1, "140 of 128");
        assert_eq!(eighths.rest, 12);
        let mut eighths = Eighths { rho: 8, rest: 0, acknowledgements: 0 };
        assert_eq!((0..300).map(|_| eighths.grow(150, false, 16)).sum::<u64>(), 2, "128 / 150 is none");
    }

    #[test]
    fn a_satellite_does_not_overflow_it() {
        let mut law = law(10.0, None);
        for _ in 0..100 {
            law.acknowledged(&Acked { least: Time::from_s(60), ..Acked::of(Time::ZERO, 1) });
        }
        assert_eq!(law.window(), 10.0 + 100.0 * 65_535.0);
    }
}
