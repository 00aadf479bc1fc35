//! What the versions of BBR do alike with their model of the path, besides rounds and filters: when
//! the pipe counts as full, what arrives in bunches, and how pace and window follow the model.
//!
//! Source: Linux 6.1, tcp_bbr.c (`bbr_check_full_bw_reached`, `bbr_update_ack_aggregation`,
//! `bbr_set_pacing_rate`, `bbr_set_cwnd`); draft-ietf-ccwg-bbr has the same rules.

use super::Acked;
use fairq_sched::units::Time;

/// Whether the delivery rate still grows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// The rate that the next ones are compared with.
    rate: f64,
    /// Rounds since then.
    rounds: u32,
}

/// The pipe is full when the delivery rate grew by less than a quarter in three rounds.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

impl Growth {
    /// Compares from `rate` on.
    pub(super) const fn from(rate: f64) -> Self {
        Self { rate, rounds: 0 }
    }

    /// Takes the rate of a round. Returns whether the pipe is full.
    pub(super) fn ends_with(&mut self, rate: f64) -> bool {
        if rate >= self.rate * FULL_GROWTH {
            *self = Self::from(rate);
            return false;
        }
        self.rounds += 1;
        self.rounds >= FULL_ROUNDS
    }
}

/// Packets that arrive in bunches: more than the bandwidth explains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bunch {
    /// When it began.
    pub(super) began: Time,
    packets: f64,
}

impl Bunch {
    /// An empty one that begins at `now`.
    pub(super) const fn new(now: Time) -> Self {
        Self { began: now, packets: 0.0 }
    }

    /// Takes an acknowledgement. Returns how many packets more have arrived than `bandwidth`, in
    /// packets a second, explains, and at most `window`.
    pub(super) fn excess(&mut self, acked: &Acked, bandwidth: f64, window: f64) -> f64 {
        let mut expected = bandwidth * acked.now.saturating_sub(self.began).as_s();
        if self.packets <= expected {
            *self = Self::new(acked.now);
            expected = 0.0;
        }
        self.packets += acked.delivered as f64;
        (self.packets - expected).min(window)
    }
}

/// The pace after `present`, both in packets a second, if the model asks for `pace`. Before the
/// pipe is full the pace does not go down.
pub(super) fn next_pace(present: Option<f64>, pace: f64, is_full: bool) -> Option<f64> {
    let follows = pace > 0.0 && (is_full || present.is_none_or(|present| pace > present));
    if follows { Some(pace) } else { present }
}

/// The window after `window`, with `delivered` packets more and up to `target`. Before the pipe is
/// full a window above the target stays; in the first window of data (`is_first`) it grows anyway.
pub(super) fn next_window(window: f64, delivered: f64, target: f64, is_full: bool, is_first: bool) -> f64 {
    match is_full {
        true => (window + delivered).min(target),
        false if window < target || is_first => window + delivered,
        false => window,
    }
}

/// What a congestion control does that paces by a model of the path: it measures the delivery rate,
/// limits sending in a recovery itself, and takes marks for no signal.
macro_rules! paces_by_a_model {
    () => {
        fn window(&self) -> f64 {
            self.window
        }

        fn pace(&self) -> Option<Rate> {
            self.pace.map(|packets_per_s| pace::of(packets_per_s, self.length))
        }

        fn watches_sending(&self) -> bool {
            true
        }

        fn marked(&mut self, _congested: &Congested) {}

        fn has_own_recovery(&self) -> bool {
            true
        }

        fn wants_rate(&self) -> bool {
            true
        }
    };
}
pub(super) use paces_by_a_model;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let mut growth = Growth::default();
        let ends = [100.0, 125.0, 150.0, 156.0, 156.2, 150.0].map(|rate| growth.ends_with(rate));
        assert_eq!(ends, [false, false, false, false, true, true]);
        growth = Growth::from(100.0);
        assert_eq!([110.0, 125.0, 130.0].map(|rate| growth.ends_with(rate)), [false; 3]);
    }

    /// 1000 packets/s: 10 packets arrive at once after 4 ms, and 2 more a millisecond later. What
    /// came before explains nothing of it.
    #[test]
    fn what_the_bandwidth_does_not_explain_is_in_excess() {
        let mut bunch = Bunch::new(Time::ZERO);
        let mut excess = |ms, newly| bunch.excess(&Acked::of(Time::from_ms(ms), newly), 1000.0, 50.0);
        assert_eq!([excess(4, 10), excess(5, 2), excess(20, 1), excess(20, 80)], [10.0, 11.0, 1.0, 50.0]);
    }

    #[test]
    fn before_the_pipe_is_full_neither_pace_nor_window_goes_down() {
        assert_eq!(
            [None, Some(5.0), Some(20.0)].map(|pace| next_pace(pace, 10.0, false)),
            [Some(10.0), Some(10.0), Some(20.0)]
        );
        assert_eq!(next_pace(Some(20.0), 10.0, true), Some(10.0));
        assert_eq!(next_pace(Some(20.0), 0.0, true), Some(20.0));
        let next = |window, is_full, is_first| next_window(window, 4.0, 10.0, is_full, is_first);
        assert_eq!([next(9.0, false, false), next(12.0, false, false), next(12.0, false, true)], [13.0, 12.0, 16.0]);
        assert_eq!([next(9.0, true, false), next(12.0, true, true)], [10.0, 10.0]);
    }
}
