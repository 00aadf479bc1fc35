//! TCP Westwood+: Reno's growth; after a loss the window is the measured bandwidth times the least
//! round trip, which needs no queue.
//!
//! Use when: the buffer is below the bandwidth-delay product and the line should stay busy after a
//! loss. With heavy random loss its estimate stays low: `bbr` ignores losses.
//! Source: Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood", MobiCom 2001; Grieco and
//! Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion
//! control", CCR 34(2), 2004; the filter as in Linux (tcp_westwood.c).
//! Chosen: the window is set at the loss, not at the end of the recovery; before the first estimate
//! a loss takes half, as Reno's; packets that duplicate acknowledgements report are counted once,
//! by the connection. A mark leaves 2 packets at least, as in Linux; RFC 3168, section 6.1.2, goes
//! down to 1, then waits for the timer.
//! Cost: O(1) a packet.
//! Bound: alone on a line the window after a loss is bandwidth times least round trip, for any
//! buffer: the line stays busy (scenes.rs: westwood_leaves_what_the_line_holds). That holds once
//! the filters have settled, some dozen round trips: a loss that ends a first slow start leaves far
//! less.
//! Range: windows up to 2⁵³ packets.

mod whole;

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::whole::part_of;
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::outside;
use fairq_sched::units::Time;
use whole::Whole;

settings! {
    /// The estimate, and the start.
    pub struct Settings {
        /// How much of a sample's difference enters each of the two filters.
        pub gain: f64 = 0.125,
        /// The bandwidth is sampled once a round trip, but not more often than this.
        pub interval_min: Time = Time::from_ms(50),
        /// Whether a loss takes half of the window, and the estimate sets it when the recovery
        /// ends, as in Linux.
        pub set_at_end: bool = false,
        /// Whether the window is a whole number of packets, the estimate one of bytes a
        /// millisecond, and round trips are whole milliseconds, rounded up. The gain is then an
        /// eighth, and the window is set at the end. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub whole_packets: bool = false,
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
        outside(&[("gain", self.gain, 0.0, 1.0)])
    }
}

/// cwnd, and the bandwidth.
pub struct WestwoodPlus {
    settings: Settings,
    window: Window,
    /// The interval that is being measured: its beginning, and the packets that arrived in it.
    begun: Time,
    packets: u64,
    /// The filters' outputs, in packets a second.
    estimate: Option<(f64, f64)>,
    /// The last round trip, and the least since the last timeout.
    last: Option<Time>,
    least: Option<Time>,
    /// The kernel's whole numbers, in place of all fields above.
    whole: Option<Box<Whole>>,
}

impl WestwoodPlus {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: Window::new(settings.slow_start, settings.first_threshold, beginning),
            begun: beginning.now,
            packets: 0,
            estimate: None,
            last: None,
            least: None,
            whole: settings.whole_packets.then(|| Box::new(Whole::new(beginning.now))),
        }
    }

    /// Counts arrived packets; first ends the interval if it is long enough.
    fn measure(&mut self, acked: &Acked) {
        if let Some(sample) = acked.round_trip {
            self.last = Some(sample);
            self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
        }
        let interval = acked.now.saturating_sub(self.begun);
        if self.last.is_some_and(|last| interval > last.max(self.settings.interval_min)) {
            let sample = self.packets as f64 / interval.as_s();
            // ns = (7 ns + b) / 8, est = (7 est + ns) / 8
            self.estimate = Some(self.estimate.map_or((sample, sample), |(first, second)| {
                let first = first + self.settings.gain * (sample - first);
                (first, second + self.settings.gain * (first - second))
            }));
            (self.begun, self.packets) = (acked.now, 0);
        }
        self.packets += acked.delivered;
    }

    /// ssthresh = est RTT_min
    fn left_of(&self, flight: u64) -> f64 {
        match (self.estimate, self.least) {
            (Some((_, bandwidth)), Some(least)) => bandwidth * least.as_s(),
            _ => flight as f64 / 2.0,
        }
    }
}

impl LossBased for WestwoodPlus {
    keeps_a_window!(settings.ecn);

    fn open(&mut self, now: Time, _smoothed: Time) {
        if let Some(whole) = &mut self.whole {
            **whole = Whole::new(now);
        }
    }

    fn grow(&mut self, acked: &Acked) {
        if let Some(whole) = &mut self.whole {
            whole.measure(acked, self.settings.interval_min);
            return whole.increase.reno_of(&mut self.window, acked);
        }
        self.measure(acked);
        if !self.window.starts(acked) && acked.lets_grow() {
            self.window.grow(acked.newly as f64 / self.window.packets());
        }
    }

    fn left(&mut self, signal: Signal, congested: &Congested) -> f64 {
        let flight = congested.flight;
        match (&mut self.whole, signal) {
            (Some(whole), Signal::Timeout) => {
                let left = whole.left();
                whole.time_out(congested.is_repeated);
                left
            }
            (Some(whole), _) => {
                whole.reduce();
                part_of(flight, 0.5)
            }
            (None, Signal::Timeout) => {
                let left = self.left_of(flight);
                self.least = None;
                left
            }
            (None, _) if self.settings.set_at_end => flight as f64 / 2.0,
            (None, _) => self.left_of(flight),
        }
    }

    fn end_recovery(&mut self) {
        if let Some(whole) = &mut self.whole {
            if core::mem::take(&mut whole.is_reducing) {
                self.window.reduce(whole.left());
            }
            return;
        }
        if let (true, Some((_, bandwidth)), Some(least)) = (self.settings.set_at_end, self.estimate, self.least) {
            self.window.reduce(bandwidth * least.as_s());
        }
    }

    fn readings(&self, visit: &mut dyn FnMut(&str, f64)) {
        let estimate = self.whole.as_ref().map(|whole| whole.bandwidth()).or(self.estimate.map(|(_, second)| second));
        visit("bandwidth_packets_per_s", estimate.unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Congestion;

    /// 100 packets arrive in the first 100 ms, then 200 in each.
    #[test]
    fn the_first_sample_fills_both_filters_and_each_later_one_enters_by_an_eighth() {
        let mut law = WestwoodPlus::new(&Settings::default(), &Beginning::with_window(10.0));
        let trip = Some(Time::from_ms(99));
        let mut seen = Vec::new();
        for (interval, packets) in [100, 200, 200].into_iter().enumerate() {
            let now = Time::from_ms(100 * (interval as u64 + 1));
            law.acknowledged(&Acked { round_trip: trip, delivered: 0, ..Acked::of(now, 0) });
            seen.push(law.estimate.map(|(_, second)| second));
            law.acknowledged(&Acked { round_trip: trip, ..Acked::of(now, packets) });
        }
        law.acknowledged(&Acked { round_trip: trip, delivered: 0, ..Acked::of(Time::from_ms(400), 0) });
        seen.push(law.estimate.map(|(_, second)| second));
        // Both are 0 at first: no packet had arrived. 125, 15.625; then 1000 is a sample: 0 + 125,
        // 15.625.
        let first: f64 = 0.0;
        let ns = [first, 0.125 * 1000.0, 0.875 * 125.0 + 0.125 * 2000.0, 0.875 * 359.375 + 0.125 * 2000.0];
        let mut estimate = first;
        for (seen, ns) in seen.into_iter().zip(ns) {
            estimate = 0.875 * estimate + 0.125 * ns;
            assert!((seen.unwrap() - estimate).abs() < 1e-9, "{seen:?} {estimate}");
        }
    }

    #[test]
    fn a_duplicate_counts_once_as_the_connection_says() {
        let mut law = WestwoodPlus::new(&Settings::default(), &Beginning::with_window(10.0));
        // Two duplicates, then an acknowledgement of three in order, of which one is new to the
        // sender.
        for (newly, delivered) in [(0, 1), (0, 1), (3, 1)] {
            law.acknowledged(&Acked { delivered, ..Acked::of(Time::from_ms(1), newly) });
        }
        assert_eq!(law.packets, 3);
    }

    /// Linux's `tcp_westwood_event`: at the end of a reduction the window is what the path holds,
    /// at least 2; a timeout sets ssthresh to it.
    #[test]
    fn in_whole_packets_the_end_of_a_reduction_sets_the_window() {
        let settings = Settings { whole_packets: true, first_threshold: Some(1), ..Settings::default() };
        let mut law = WestwoodPlus::new(&settings, &Beginning::with_window(43.0));
        law.lost(&Congested::of(Time::ZERO, 43));
        assert_eq!(law.window(), 21.0);
        law.recovered(Time::ZERO);
        assert_eq!(law.window(), 2.0, "nothing was measured");
        for ms in 1..62 {
            let now = Time::from_ms(ms);
            law.acknowledged(&Acked { round_trip: Some(Time::from_ms(20)), ..Acked::of(now, 2) });
        }
        law.lost(&Congested::of(Time::ZERO, 10));
        law.recovered(Time::ZERO);
        assert_eq!(law.window(), 38.0, "98 packets in 51 ms, 1921 bytes a millisecond");
        law.timed_out(&Congested::of(Time::ZERO, 38));
        assert_eq!((law.window(), law.window.threshold()), (1.0, 38.0));
        law.recovered(Time::ZERO);
        assert_eq!(law.window(), 1.0, "no reduction ends");
    }

    #[test]
    fn the_least_round_trip_is_measured_anew_after_a_timeout() {
        let mut law = WestwoodPlus::new(&Settings::default(), &Beginning::with_window(10.0));
        law.acknowledged(&Acked { round_trip: Some(Time::from_ms(10)), ..Acked::of(Time::from_ms(10), 1) });
        law.timed_out(&Congested::of(Time::from_ms(20), 10));
        assert_eq!(law.window(), 1.0);
        law.acknowledged(&Acked { round_trip: Some(Time::from_ms(30)), ..Acked::of(Time::from_ms(30), 1) });
        assert_eq!(law.least, Some(Time::from_ms(30)));
    }
}
