//! H-TCP: the longer ago the last loss, the faster the window grows; the decrease by a loss follows
//! from the round trips.
//!
//! Use when: you study long fast paths where growth follows the time since the last loss. On short
//! paths it is no slower than `reno`; for what hosts run today use `cubic`.
//! Source: Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
//! draft-leith-tcp-htcp-06; details as in Linux (tcp_htcp.c): the filter of the throughput, the
//! outliers of 20 ms, the fading, the least increase.
//! Departs: alpha is computed with every acknowledgement, not each time the window has grown by a
//! packet.
//! Chosen: epochs begin with a loss, a mark or a timeout; before the first, Delta counts from the
//! beginning. Idle time counts as time without a loss, as in Linux: after it the window grows fast.
//! The growth is limited to 512 packets a round trip, which is reached 30 s after a loss: more does
//! not fit into Linux's field, where it wraps to 0. A mark leaves 2 packets at least, as in Linux;
//! RFC 3168, section 6.1.2, goes down to 1, then waits for the timer.
//! Cost: O(1) a packet.
//! Bound: with round trips of 100 to 150 ms two thirds of the window are left, and two seconds
//! after a loss it gains 7.5 packets a round trip; on a short path it never gains less than 2 (1 -
//! beta) packets a round trip, which is Reno's share for its decrease (htcp.rs:
//! two_thirds_are_left_when_round_trips_go_from_100_to_150_ms, htcp.rs:
//! the_increase_is_never_below_that_of_its_decrease, congestion_controls.rs:
//! htcp_is_no_slower_than_reno_on_short_paths).
//! Range: windows up to 2⁵³ packets.

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, LawSettings};
use fairq_sched::units::Time;

settings! {
    /// The inputs of the decrease and the increase.
    pub struct Settings {
        /// Whether the increase is scaled with the least round trip in units of 100 ms, from a
        /// tenth to 2.
        pub rtt_scaling: bool = true,
        /// Whether a loss takes half of the window when the throughput has changed by more than a
        /// fifth since the loss before.
        pub bandwidth_switch: bool = true,
        /// How long after a loss the congestion control is Reno's.
        pub low_speed_period: Time = Time::from_s(1),
        /// How the window grows until a packet is lost.
        pub slow_start: SlowStart = SlowStart::Standard,
        /// Where the first slow start ends, in packets; by default where a packet is lost.
        pub first_threshold: Option<u32> = None,
        /// Whether packets may be marked instead of dropped (RFC 3168).
        pub ecn: bool = false,
    }
}

/// beta without usable round trips, and its limits.
const BETA_MIN: f64 = 0.5;
const BETA_MAX: f64 = 0.8;
/// Up to this least round trip the quotient of round trips is too imprecise.
const SHORT: Time = Time::from_ms(10);
/// A sample that exceeds the greatest round trip by more than this is ignored.
const OUTLIER: Time = Time::from_ms(20);
/// The factor of the difference between greatest and least round trip at each loss.
const FADING: f64 = 0.95;

/// The greatest alpha that Linux's field holds: 16 bits, of which 7 are the fraction.
const ALPHA_MAX: f64 = 65_535.0 / 128.0;

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        None
    }
}

/// cwnd, the epoch since the last loss, and what was measured in it.
pub struct Htcp {
    settings: Settings,
    window: Window,
    epoch: Time,
    beta: f64,
    /// Whether there was a loss since the throughput changed, so that the round trips may be used.
    is_settled: bool,
    greatest: Time,
    throughput: Throughput,
}

impl Htcp {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: Window::new(settings.slow_start, settings.first_threshold, beginning),
            epoch: beginning.now,
            beta: BETA_MIN,
            is_settled: false,
            greatest: Time::ZERO,
            throughput: Throughput { begun: beginning.now, ..Throughput::default() },
        }
    }

    /// alpha: the growth of the window in a round trip, in packets.
    fn alpha(&self, now: Time, least: Time) -> f64 {
        // alpha(Delta) = 1 + 10 (Delta - Delta_L) + ((Delta - Delta_L) / 2)²
        let late = now.saturating_sub(self.epoch).saturating_sub(self.settings.low_speed_period).as_s();
        let mut alpha = 1.0 + 10.0 * late + 0.25 * late * late;
        if self.settings.rtt_scaling && least < Time::NEVER && least > Time::ZERO {
            // As in Linux the factor is at least 1: scaling reduces the growth, but never below
            // Reno's.
            alpha = (alpha / (0.1 / least.as_s()).clamp(0.5, 10.0)).max(1.0);
        }
        (2.0 * (1.0 - self.beta) * alpha).min(ALPHA_MAX)
    }

    /// Updates beta, the factor that is left of the window.
    fn adapt(&mut self, least: Time) {
        let has_changed = self.throughput.has_changed();
        if self.settings.bandwidth_switch && has_changed {
            (self.beta, self.is_settled) = (BETA_MIN, false);
        } else if self.is_settled && least > SHORT && least <= self.greatest {
            // beta = RTT_min / RTT_max
            self.beta = (least.as_s() / self.greatest.as_s()).clamp(BETA_MIN, BETA_MAX);
        } else {
            (self.beta, self.is_settled) = (BETA_MIN, true);
        }
    }

    /// Begins an epoch after a loss, a mark or a timeout. Returns what is left of the flight.
    fn begin_epoch(&mut self, congested: &Congested) -> f64 {
        self.adapt(congested.least);
        if congested.least < self.greatest {
            let difference = (self.greatest - congested.least).as_s();
            self.greatest = congested.least.saturating_add(Time::from_s_f64(FADING * difference));
        }
        self.epoch = congested.now;
        self.throughput.restart(congested.now);
        congested.flight as f64 * self.beta
    }
}

impl LossBased for Htcp {
    keeps_a_window!(settings.ecn);

    fn grow(&mut self, acked: &Acked) {
        if !acked.is_recovering {
            if let Some(sample) = acked.round_trip {
                self.greatest = self.greatest.max(acked.least);
                if sample <= self.greatest.saturating_add(OUTLIER) {
                    self.greatest = self.greatest.max(sample);
                }
            }
            self.throughput.count(acked, self.window.packets(), self.epoch);
        } else {
            self.throughput.restart(acked.now);
        }
        if !self.window.starts(acked) && acked.lets_grow() {
            let alpha = self.alpha(acked.now, acked.least);
            self.window.grow(acked.newly as f64 * alpha / self.window.packets());
        }
    }

    fn left(&mut self, signal: Signal, congested: &Congested) -> f64 {
        if signal == Signal::Timeout && congested.is_repeated {
            // A second timeout of a packet gives no new information about the path.
            self.epoch = congested.now;
            return 0.0;
        }
        self.begin_epoch(congested)
    }

    fn rest(&mut self, now: Time) {
        self.throughput.restart(now);
    }

    fn readings(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("beta", self.beta);
    }
}

/// The throughput that was achieved in an epoch: the greatest of a filtered one.
#[derive(Default)]
struct Throughput {
    begun: Time,
    packets: u64,
    /// The filtered throughput in packets a second.
    filtered: f64,
    greatest: f64,
    /// The greatest of the epoch before.
    before: f64,
}

impl Throughput {
    /// Takes a sample for each window of packets, but at most one in a round trip.
    fn count(&mut self, acked: &Acked, window: f64, epoch: Time) {
        self.packets += acked.newly;
        let interval = acked.now.saturating_sub(self.begun);
        if (self.packets as f64) < window.floor() - 1.0 || interval < acked.least || interval == Time::ZERO {
            return;
        }
        let sample = self.packets as f64 / interval.as_s();
        let rounds = acked.now.saturating_sub(epoch).0 / acked.least.0.max(1);
        if rounds <= 3 {
            // Just after a loss the filter restarts.
            (self.filtered, self.greatest) = (sample, sample);
        } else {
            self.filtered = 0.75 * self.filtered + 0.25 * sample;
            self.greatest = self.greatest.max(self.filtered);
        }
        self.restart(acked.now);
    }

    fn restart(&mut self, now: Time) {
        (self.begun, self.packets) = (now, 0);
    }

    /// At the end of an epoch: whether the greatest differs from that of the epoch before by more
    /// than a fifth.
    fn has_changed(&mut self) -> bool {
        let before = core::mem::replace(&mut self.before, self.greatest);
        (self.greatest - before).abs() > 0.2 * before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Congestion;

    const LEAST: Time = Time::from_ms(100);

    fn law(settings: &Settings) -> Htcp {
        Htcp::new(&Settings { first_threshold: Some(1), ..settings.clone() }, &Beginning::with_window(100.0))
    }

    fn acked(now: Time, trip: Time) -> Acked {
        Acked { round_trip: Some(trip), least: LEAST, smoothed: trip, ..Acked::of(now, 1) }
    }

    fn congested(now: Time) -> Congested {
        Congested { least: LEAST, ..Congested::of(now, 100) }
    }

    #[test]
    fn the_increase_follows_the_time_since_the_last_loss() {
        let law = law(&Settings::default());
        for (seconds, alpha) in [(0, 1.0), (1, 1.0), (2, 11.25), (5, 45.0), (11, 126.0)] {
            // beta is 0.5, which leaves alpha unchanged.
            assert!((law.alpha(Time::from_s(seconds), LEAST) - alpha).abs() < 1e-9);
        }
        // 20 ms: a fifth, as if the round trips were 100 ms; 500 ms: twice, not five times.
        assert!((law.alpha(Time::from_s(2), Time::from_ms(20)) - 11.25 / 5.0).abs() < 1e-9);
        assert!((law.alpha(Time::from_s(2), Time::from_ms(500)) - 22.5).abs() < 1e-9);
    }

    /// Ten minutes at an application's pace, then a file: Linux's field has 16 bits.
    #[test]
    fn the_increase_is_at_most_what_linux_can_hold() {
        let law = law(&Settings::default());
        assert!(law.alpha(Time::from_s(30), LEAST) < ALPHA_MAX, "bound by alpha itself");
        for seconds in [31, 600, 864_000] {
            assert_eq!(law.alpha(Time::from_s(seconds), LEAST), 511.992_187_5);
        }
    }

    /// From 1 ms to a second, soon after a loss and late, with each beta.
    #[test]
    fn the_increase_is_never_below_that_of_its_decrease() {
        let mut law = law(&Settings::default());
        for beta in [BETA_MIN, 0.65, BETA_MAX] {
            law.beta = beta;
            for least_ms in [1, 2, 5, 10, 50, 99, 100, 200, 1000] {
                for ms in [0, 500, 1000, 1100, 2000, 10_000] {
                    let alpha = law.alpha(Time::from_ms(ms), Time::from_ms(least_ms));
                    assert!(alpha >= 2.0 * (1.0 - beta) - 1e-12, "beta {beta}, {least_ms} ms, after {ms} ms: {alpha}");
                }
            }
        }
        // 10 ms, 2 s: 11.25 / 10, above 1. 5 ms is scaled as 10 ms is.
        law.beta = BETA_MIN;
        for least_ms in [5, 10] {
            assert!((law.alpha(Time::from_s(2), Time::from_ms(least_ms)) - 1.125).abs() < 1e-9);
        }
    }

    /// As in Linux: time without data to send counts.
    #[test]
    fn a_rest_counts_as_time_without_a_loss() {
        let mut law = law(&Settings::default());
        law.lost(&congested(Time::ZERO));
        law.rested(Time::from_s(11));
        assert!((law.alpha(Time::from_s(11), LEAST) - 126.0).abs() < 1e-9);
    }

    #[test]
    fn two_thirds_are_left_when_round_trips_go_from_100_to_150_ms() {
        let mut law = law(&Settings { bandwidth_switch: false, ..Settings::default() });
        for trip in [100, 110, 125, 140, 150] {
            law.acknowledged(&acked(Time::from_ms(trip), Time::from_ms(trip)));
        }
        law.lost(&congested(Time::from_ms(200)));
        assert_eq!(law.window(), 50.0, "the first loss");
        // The greatest has faded to 147.5 ms and is seen again.
        law.acknowledged(&acked(Time::from_ms(300), Time::from_ms(150)));
        law.lost(&congested(Time::from_s(1)));
        assert!((law.window() - 100.0 * 2.0 / 3.0).abs() < 1e-9);
        assert!((law.alpha(Time::from_s(3), LEAST) - 7.5).abs() < 1e-9);
    }

    #[test]
    fn a_single_outlier_is_not_the_greatest_round_trip() {
        let mut law = law(&Settings::default());
        law.acknowledged(&acked(Time::from_ms(100), LEAST));
        law.acknowledged(&acked(Time::from_ms(200), Time::from_ms(400)));
        assert_eq!(law.greatest, LEAST);
    }

    /// Epochs of a steady throughput, then one of half of it: half of the window is taken, as on
    /// the first loss.
    #[test]
    fn half_is_taken_when_the_throughput_has_changed() {
        let mut law = law(&Settings::default());
        let mut now = Time::ZERO;
        let mut left = Vec::new();
        for gap_ms in [1, 1, 1, 2] {
            for _ in 0..4000 {
                now = now + Time::from_ms(gap_ms);
                law.acknowledged(&Acked { is_limited: false, ..acked(now, LEAST) });
            }
            law.lost(&congested(now));
            left.push(law.window());
        }
        // Least and greatest are the same: 0.8, once two epochs agree and a loss has occurred
        // since.
        assert_eq!(left, [50.0, 50.0, 80.0, 50.0]);
    }
}
