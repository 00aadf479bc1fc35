//! Westwood+ in whole packets, bytes a millisecond and milliseconds.
//!
//! Source: Linux 6.1, tcp_westwood.c (`westwood_update_window`, `westwood_filter`,
//! `update_rtt_min`, `tcp_westwood_bw_rttmin`); its names stand in the comments.
//! Chosen: a packet counts where the connection learns of it, where `westwood_acked_count` counts a
//! packet for each duplicate acknowledgement and the others at the next in order.

use crate::transport::congestion::Acked;
use crate::transport::congestion::whole::Increase;
use fairq_sched::units::Time;

/// The state of `struct westwood`, and snd_cwnd_cnt.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) increase: Increase,
    /// bw_ns_est and bw_est, in bytes a millisecond.
    estimates: (u64, u64),
    /// rtt_win_sx
    begun: u64,
    /// bk; `None` before the first acknowledgement, which only begins to count.
    bytes: Option<u64>,
    /// rtt, and rtt_min unless the next acknowledgement sets it anew (reset_rtt_min).
    last: u64,
    least: Option<u64>,
    /// mss_cache
    length: u64,
    /// Whether a reduction is under way, so that its end sets the window (CA_EVENT_COMPLETE_CWR).
    pub(super) is_reducing: bool,
}

const MILLISECOND: u64 = Time::from_ms(1).0;
/// TCP_WESTWOOD_INIT_RTT
const FIRST_ROUND_TRIP_MS: u64 = 20_000;

impl Whole {
    /// Begins to measure at `now`.
    pub(super) fn new(now: Time) -> Self {
        Self {
            increase: Increase::default(),
            estimates: (0, 0),
            begun: now.0 / MILLISECOND,
            bytes: None,
            last: FIRST_ROUND_TRIP_MS,
            least: None,
            length: 1,
            is_reducing: false,
        }
    }

    /// `tcp_westwood_ack`, then `tcp_westwood_pkts_acked`: this acknowledgement's round trip counts
    /// with the next one.
    pub(super) fn measure(&mut self, acked: &Acked, interval_min: Time) {
        let now = acked.now.0 / MILLISECOND;
        let (interval, bytes) = (now.saturating_sub(self.begun), self.bytes.unwrap_or(0));
        if interval > self.last.max(interval_min.0 / MILLISECOND) {
            self.filter(bytes / interval);
            (self.bytes, self.begun) = (Some(0), now);
        }
        self.length = u64::from(acked.length).max(1);
        self.bytes = Some(self.bytes.map_or(0, |bytes| bytes + acked.delivered * self.length));
        self.least = Some(self.least.map_or(self.last, |least| least.min(self.last)));
        if let Some(sample) = acked.round_trip {
            self.last = sample.0.div_ceil(MILLISECOND);
        }
    }

    /// `westwood_filter`: the first sample fills both filters.
    fn filter(&mut self, sample: u64) {
        let smooth = |old: u64, new: u64| (7 * old + new) >> 3;
        self.estimates = match self.estimates {
            (0, 0) => (sample, sample),
            (first, second) => {
                let first = smooth(first, sample);
                (first, smooth(second, first))
            }
        };
    }

    /// `tcp_westwood_bw_rttmin`, before it is made at least 2.
    pub(super) fn left(&self) -> f64 {
        (self.estimates.1 * self.least.unwrap_or(self.last) / self.length) as f64
    }

    /// A loss or a mark.
    pub(super) fn reduce(&mut self) {
        self.increase.reset();
        self.is_reducing = true;
    }

    /// A timeout, which measures the least round trip anew unless it is a second one
    /// (CA_EVENT_LOSS).
    pub(super) fn time_out(&mut self, is_repeated: bool) {
        self.increase.reset();
        self.is_reducing = false;
        if !is_repeated {
            self.least = None;
        }
    }

    /// The estimate, in packets a second.
    pub(super) fn bandwidth(&self) -> f64 {
        self.estimates.1 as f64 * 1000.0 / self.length as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 60 ms after the start 119 packets have arrived, which is 1983 bytes a millisecond, of whole
    /// numbers of which a later sample of 0 leaves 1735, then 1952; the least round trip is the
    /// last one but this.
    #[test]
    fn the_filters_are_rounded_down_and_round_trips_up() {
        let mut whole = Whole::new(Time::ZERO);
        let mut acked = Acked { round_trip: Some(Time(20_100_000_000)), ..Acked::of(Time::from_ms(1), 1) };
        let mut measure = |ms: u64, packets: u64| {
            (acked.now, acked.delivered) = (Time::from_ms(ms), packets);
            whole.measure(&acked, Time::from_ms(50));
            (whole.estimates, whole.least)
        };
        assert_eq!(measure(1, 7), ((0, 0), Some(20_000)), "the first one does not count");
        assert_eq!(measure(2, 119), ((0, 0), Some(21)));
        assert_eq!(measure(60, 0), ((1983, 1983), Some(21)));
        assert_eq!(measure(110, 0), ((1983, 1983), Some(21)), "50 ms are no interval");
        assert_eq!(measure(111, 0), ((1735, 1952), Some(21)));
        assert_eq!(whole.left(), 40.0, "1952 * 21 / 1000 = 40.99");
        whole.time_out(true);
        assert_eq!(whole.least, Some(21));
        whole.time_out(false);
        assert_eq!(whole.least, None);
    }
}
