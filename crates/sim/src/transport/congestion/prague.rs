//! Prague: DCTCP for the Internet: paced, with a real-valued window, and independent of short round
//! trips.
//!
//! Use when: marks come early, from `dualpi2` or `step`: low delay at full rate. In a queue whose
//! marks stand for losses it takes more than others: use `cubic` or `reno` there.
//! Source: De Schepper, Tilmans, Briscoe and Goel, draft-briscoe-iccrg-prague-congestion-control;
//! the requirements of RFC 9331, section 4; constants as in the L4S team's Linux.
//! Departs: no fallback for queues of classic ECN (off by default there too); no estimate of the
//! feedback's losses.
//! Chosen: acknowledgements without a mark increase the window, also in the round of a decrease; a
//! decrease at most once in the round trip or, where it is longer and applies, the virtual round
//! trip. A loss in that time reduces from the window before the decrease, so that both together
//! take no more than the loss alone. Slow start ends at the first mark.
//! Cost: O(1) a packet.
//! Bound: where each packet is marked with probability p the window is 2 (1 − p)/p
//! (prague.rs: two_marks_a_round_trip_hold_the_window), on average over a long run too
//! (prague.rs: steady_marks_give_the_published_window); DualPI2's queue stays short
//! (congestion_controls.rs: prague_keeps_the_low_latency_queue_short).
//! Range: its packets are ECT(1), all but acknowledgements without data; a queue that treats marks
//! as losses should not hold them.

use super::mark_share::MarkShare;
use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, Congestion, LawSettings, pace};
use crate::settings::{no_part, outside};
use crate::transport::ecn::Ecn;
use fairq_sched::units::{Rate, Time};

settings! {
    /// The average of marks, the virtual round trip, pacing.
    pub struct Settings {
        /// The weight of the newest round in alpha.
        pub gain: f64 = 1.0 / 16.0,
        /// The least window, in packets.
        pub window_min: f64 = 2.0,
        /// A flow with a shorter round trip grows as one with this.
        pub virtual_round_trip: Time = Time::from_ms(25),
        /// Round trips after which the virtual round trip applies.
        pub transition_rounds: u64 = 500,
        /// The duration of a burst at the pace.
        pub burst: Time = Time(Time::from_ms(1).0 / 4),
        /// The factor of the window after a loss.
        pub decrease: f64 = 0.5,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        no_part(&[("decrease", self.decrease)])
            .or_else(|| outside(&[("gain", self.gain, 0.0, 1.0), ("window_min", self.window_min, 0.0, 1e6)]))
    }
}

/// cwnd, ssthresh, alpha, and the count of this round.
pub struct Prague {
    settings: Settings,
    window: Window,
    alpha: f64,
    /// Whether a mark was ever reported; alpha is constant before the first mark.
    has_seen_mark: bool,
    marks: MarkShare,
    rounds: u64,
    round_trip: Time,
    averaged: Time,
    /// When a mark may decrease the window again, and the window before the last decrease.
    quiet_until: Time,
    before: f64,
    length: u32,
}

impl Prague {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: Window::new(SlowStart::Standard, None, beginning),
            alpha: 1.0,
            has_seen_mark: false,
            marks: MarkShare::default(),
            rounds: 0,
            round_trip: Time::ZERO,
            averaged: beginning.now,
            quiet_until: Time::ZERO,
            before: beginning.window,
            length: 0,
        }
    }

    /// The round trip that governs growth and decrease: the virtual one for flows with shorter ones
    /// that are old enough.
    fn governing(&self) -> Time {
        if self.rounds >= self.settings.transition_rounds {
            self.round_trip.max(self.settings.virtual_round_trip)
        } else {
            self.round_trip
        }
    }

    /// The growth of the window in a round trip without marks, in packets: (R/R_virt)².
    fn increase(&self) -> f64 {
        let ratio = self.round_trip.as_s() / self.governing().as_s();
        if ratio > 0.0 { ratio * ratio } else { 1.0 }
    }

    fn grow(&mut self, unmarked: f64) {
        let is_starting = self.window.is_starting();
        self.window.grow(if is_starting { unmarked } else { self.increase() * unmarked / self.window.packets });
    }

    fn end_round(&mut self, now: Time) {
        self.rounds += 1;
        if now.saturating_sub(self.averaged) < self.governing() && self.governing() > self.round_trip {
            return;
        }
        if self.has_seen_mark {
            self.alpha = self.marks.averaged(self.alpha, self.settings.gain);
        }
        (self.marks, self.averaged) = (MarkShare::default(), now);
    }

    fn shrink(&mut self) {
        self.before = self.window.packets;
        // cwnd − cwnd α/2
        self.window.packets = (self.window.packets * (1.0 - self.alpha / 2.0)).max(self.settings.window_min);
        self.window.threshold = self.window.packets;
    }
}

impl Congestion for Prague {
    fn window(&self) -> f64 {
        self.window.packets
    }

    fn pace(&self) -> Option<Rate> {
        if self.round_trip == Time::ZERO {
            return None;
        }
        let gain = if self.window.packets < self.window.threshold / 2.0 { 2.0 } else { 1.0 };
        Some(pace::of(gain * self.window.packets / self.round_trip.as_s(), self.length))
    }

    fn burst(&self) -> u32 {
        let bits = self.pace().map_or(0, |pace| pace.bits_in(self.settings.burst));
        (bits / (8 * u64::from(self.length.max(1)))).clamp(1, 1 << 16) as u32
    }

    fn acknowledged(&mut self, acked: &Acked) {
        (self.round_trip, self.length) = (acked.smoothed, acked.length);
        self.marks.count(acked);
        self.has_seen_mark |= acked.marked > 0;
        if acked.begins_round {
            self.end_round(acked.now);
        }
        if acked.marked > 0 && acked.now >= self.quiet_until && !acked.is_recovering {
            self.shrink();
            self.quiet_until = acked.now.saturating_add(self.governing());
        }
        if acked.lets_grow() {
            self.grow(acked.newly.saturating_sub(acked.marked) as f64);
        }
    }

    fn lost(&mut self, congested: &Congested) {
        let whole = if congested.now < self.quiet_until { self.before } else { self.window.packets };
        self.window.packets = (whole * self.settings.decrease).min(self.window.packets).max(self.settings.window_min);
        self.window.threshold = self.window.packets;
    }

    /// The decrease by marks is done where they are counted.
    fn marked(&mut self, _congested: &Congested) {}

    fn timed_out(&mut self, congested: &Congested) {
        if !congested.is_repeated {
            self.window.threshold = (congested.flight as f64 * self.settings.decrease).max(self.settings.window_min);
        }
        self.window.packets = self.settings.window_min;
    }

    fn rested(&mut self, _now: Time) {
        self.window.rest();
    }

    fn ecn(&self) -> Ecn {
        Ecn::Accurate
    }

    fn phase(&self) -> &'static str {
        self.window.phase()
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.window.inspect(visit);
        visit("alpha", self.alpha);
        visit("increase_packets", self.increase());
    }
}

#[cfg(test)]
mod tests {
    use super::super::bottleneck::Bottleneck;
    use super::*;

    fn law() -> Prague {
        Prague::new(&Settings::default(), &Beginning::with_window(10.0))
    }

    /// Growth and decrease of a round trip are equal at w = 2 (1 − p)/p.
    #[test]
    fn two_marks_a_round_trip_hold_the_window() {
        for (p, w) in [(0.1, 18.0), (0.01, 198.0)] {
            let mut law = law();
            (law.window.packets, law.window.threshold, law.alpha) = (w, w, p);
            law.shrink();
            let fall = w - law.window();
            let before = law.window();
            law.grow((1.0 - p) * before);
            let rise = law.window() - before;
            assert!((fall - rise).abs() < 1e-3, "{p}: {fall} {rise}");
        }
    }

    #[test]
    fn steady_marks_give_the_published_window() {
        for (every, w) in [(10, 18.0), (100, 198.0)] {
            let mut law = law();
            let mut line = Bottleneck::new(1e5, Time::from_ms(50));
            line.mark_every = Some(every);
            let seen = line.run(&mut [&mut law], Time::from_s(20), Time::from_s(60));
            // Marks arrive one at a time: a decrease waits for the first mark after the round trip.
            assert!((seen.window_mean() / w - 1.0).abs() < 0.08, "{every}: {}", seen.window_mean());
        }
    }

    #[test]
    fn a_round_trip_of_5_ms_grows_by_a_twenty_fifth_after_500_rounds() {
        let mut law = law();
        law.round_trip = Time::from_ms(5);
        assert_eq!(law.increase(), 1.0);
        law.rounds = 500;
        assert!((law.increase() - 0.04).abs() < 1e-12, "{}", law.increase());
        law.round_trip = Time::from_ms(40);
        assert_eq!(law.increase(), 1.0);
    }

    #[test]
    fn alpha_stands_still_before_the_first_mark_which_halves() {
        let mut law = law();
        let acked = |now_ms, marked| Acked {
            marked,
            smoothed: Time::from_ms(100),
            begins_round: true,
            ..Acked::of(Time::from_ms(now_ms), 1)
        };
        for round in 1..50 {
            law.acknowledged(&acked(100 * round, 0));
        }
        assert_eq!(law.alpha, 1.0);
        let window = law.window();
        law.acknowledged(&acked(5000, 1));
        assert_eq!(law.window(), window / 2.0);
    }

    #[test]
    fn a_mark_and_a_loss_of_one_round_trip_take_what_the_loss_alone_would() {
        for alpha in [1.0, 0.5, 0.1] {
            let mut law = law();
            (law.window.packets, law.alpha, law.has_seen_mark) = (40.0, alpha, true);
            let round = Time::from_ms(100);
            let marked = Acked { marked: 1, smoothed: round, ..Acked::of(Time::from_s(1), 1) };
            law.acknowledged(&marked);
            assert_eq!(law.window(), 40.0 * (1.0 - alpha / 2.0));
            law.lost(&Congested::of(Time::from_ms(1050), 40));
            assert_eq!((law.window(), law.window.threshold), (20.0, 20.0), "{alpha}");
            // In the next round trip a loss reduces again.
            law.lost(&Congested::of(Time::from_ms(1101), 20));
            assert_eq!(law.window(), 10.0, "{alpha}");
        }
    }

    #[test]
    fn the_pace_is_the_window_in_a_round_trip_and_twice_that_far_below_ssthresh() {
        let mut law = law();
        assert_eq!(law.pace(), None);
        (law.round_trip, law.length) = (Time::from_ms(100), 1000);
        assert_eq!(law.pace(), Some(pace::of(200.0, 1000)));
        law.window.threshold = 15.0;
        assert_eq!(law.pace(), Some(pace::of(100.0, 1000)));
        assert_eq!(law.burst(), 1);
        // 0.25 ms at 80 Mbit/s are 2.5 packets.
        law.window.packets = 1000.0;
        assert_eq!(law.burst(), 2);
    }
}
