//! Vegas in whole packets and microseconds, and Reno's growth while losses are repaired.
//!
//! Source: Linux 6.1, tcp_vegas.c (`tcp_vegas_cong_avoid`, `tcp_vegas_pkts_acked`, `vegas_enable`);
//! its names stand in the comments.

use super::Settings;
use crate::transport::congestion::whole::Increase;
use crate::transport::congestion::{Acked, Cwnd};

/// The state of `struct vegas`, and snd_cwnd_cnt.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    increase: Increase,
    /// doing_vegas_now: no loss is being repaired.
    is_on: bool,
    /// Packets that arrive before a round ends, those that were outstanding when it began: the
    /// distance from the oldest one to beg_snd_nxt.
    outstanding: u64,
    /// Whether a round begins with the next acknowledgement.
    begins: bool,
    /// baseRTT, minRTT and cntRTT.
    base: u64,
    least: u64,
    samples: u32,
}

const MICROSECOND: u64 = 1_000_000;
/// With so few samples of a round trip, all may be delayed.
const SAMPLES_MIN: u32 = 3;

impl Whole {
    /// `tcp_vegas_init`
    pub(super) fn new() -> Self {
        let increase = Increase::default();
        Self { increase, is_on: true, outstanding: 0, begins: false, base: u64::MAX, least: u64::MAX, samples: 0 }
    }

    /// Losses are repaired from now on (`vegas_disable`).
    pub(super) fn stop(&mut self) {
        self.increase.reset();
        self.is_on = false;
    }

    /// They are repaired (`vegas_enable`).
    pub(super) fn resume(&mut self) {
        (self.is_on, self.begins) = (true, true);
        self.forget_round();
    }

    fn forget_round(&mut self) {
        (self.least, self.samples) = (u64::MAX, 0);
    }

    /// baseRTT in microseconds, if it is known.
    pub(super) fn base(&self) -> Option<u64> {
        (self.base < u64::MAX).then_some(self.base)
    }

    /// Takes an acknowledgement (`tcp_vegas_pkts_acked`, then `tcp_vegas_cong_avoid`).
    pub(super) fn acknowledge(&mut self, acked: &Acked, settings: &Settings, cwnd: &mut Cwnd<'_>) {
        if let Some(sample) = acked.round_trip {
            // Never zero.
            let sample = sample.0 / MICROSECOND + 1;
            (self.base, self.least) = (self.base.min(sample), self.least.min(sample));
            self.samples += 1;
        }
        if acked.newly > 0 && !acked.is_recovering {
            self.avoid(acked, settings, cwnd);
        }
        // The next packet has none before it: CA_EVENT_TX_START.
        if acked.in_flight == 0 {
            self.base = u64::MAX;
            self.forget_round();
            self.outstanding = 0;
        }
    }

    fn avoid(&mut self, acked: &Acked, settings: &Settings, cwnd: &mut Cwnd<'_>) {
        if !self.is_on {
            return self.grow_as_reno(acked, cwnd);
        }
        if core::mem::take(&mut self.begins) {
            self.outstanding = acked.in_flight;
        } else if acked.newly > self.outstanding {
            self.outstanding = acked.in_flight;
            match self.samples < SAMPLES_MIN {
                true => self.grow_as_reno(acked, cwnd),
                false => self.judge(acked, settings, cwnd),
            }
            return self.forget_round();
        } else {
            self.outstanding -= acked.newly;
        }
        if cwnd.window < cwnd.threshold {
            slow_start(acked.newly, cwnd);
        }
    }

    fn grow_as_reno(&mut self, acked: &Acked, cwnd: &mut Cwnd<'_>) {
        if acked.is_limited {
            self.increase.reno(cwnd, acked.newly);
        }
    }

    /// A round has passed.
    fn judge(&mut self, acked: &Acked, settings: &Settings, cwnd: &mut Cwnd<'_>) {
        let window = *cwnd.window as u64;
        // diff = cwnd (RTT - BaseRTT) / BaseRTT
        let diff = (window * (self.least - self.base) / self.base) as f64;
        if *cwnd.window < *cwnd.threshold {
            if diff > settings.gamma {
                // The window for the rate at which acknowledgements arrive, and one more for the
                // rounding.
                *cwnd.window = (window * self.base / self.least + 1).min(window) as f64;
                *cwnd.threshold = cwnd.threshold.min(*cwnd.window);
            } else {
                slow_start(acked.newly, cwnd);
            }
        } else if diff > settings.beta {
            *cwnd.window -= 1.0;
            *cwnd.threshold = cwnd.threshold.min(*cwnd.window);
        } else if diff < settings.alpha {
            *cwnd.window += 1.0;
        }
        *cwnd.window = cwnd.window.max(2.0);
        // tcp_current_ssthresh
        *cwnd.threshold = cwnd.before().threshold;
    }
}

/// `tcp_slow_start`
fn slow_start(acked: u64, cwnd: &mut Cwnd<'_>) {
    *cwnd.window = (*cwnd.window + acked as f64).min(*cwnd.threshold);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;

    /// cwnd and ssthresh after a round of `window` packets whose base was 100 ms.
    fn judged(window: f64, threshold: f64, ms: u64) -> (f64, f64) {
        let settings = Settings { alpha: 2.0, beta: 4.0, ..Settings::default() };
        let (mut window, mut threshold) = (window, threshold);
        let mut whole = Whole { base: 100_000, outstanding: 2, ..Whole::new() };
        for _ in 0..3 {
            let acked = Acked { round_trip: Some(Time::from_ms(ms)), in_flight: 20, ..Acked::of(Time::ZERO, 1) };
            let mut cwnd = Cwnd { window: &mut window, threshold: &mut threshold };
            whole.acknowledge(&acked, &settings, &mut cwnd);
        }
        (window, threshold)
    }

    /// 20 packets of 124.999 ms are 4.9998 of which 4 count; at 125 ms they are 5. ssthresh is at
    /// least three quarters of the window.
    #[test]
    fn packets_that_wait_are_rounded_down() {
        assert_eq!([109, 110, 124, 125].map(|ms| judged(20.0, 2.0, ms).0), [21.0, 20.0, 20.0, 19.0]);
        assert_eq!(judged(20.0, 2.0, 125).1, 13.0);
    }

    /// 18 and 2 that the round before adds; 20 * 100.000 / 110.001 = 18.18.
    #[test]
    fn slow_start_ends_with_what_the_path_holds_and_one_more() {
        assert_eq!(judged(18.0, 1000.0, 110), (19.0, 19.0));
        assert_eq!(judged(18.0, 1000.0, 109), (21.0, 1000.0), "one waits");
    }

    /// A round with fewer than three samples, and a recovery: a packet more a window.
    #[test]
    fn it_is_reno_with_few_samples_and_while_losses_are_repaired() {
        let settings = Settings::default();
        let (mut window, mut threshold) = (4.0, 2.0);
        let mut whole = Whole { base: 100_000, ..Whole::new() };
        let acked = Acked { round_trip: Some(Time::from_ms(200)), in_flight: 3, ..Acked::of(Time::ZERO, 4) };
        whole.acknowledge(&acked, &settings, &mut Cwnd { window: &mut window, threshold: &mut threshold });
        assert_eq!(window, 5.0);
        whole.stop();
        let acked = Acked { newly: 5, ..acked };
        whole.acknowledge(&acked, &settings, &mut Cwnd { window: &mut window, threshold: &mut threshold });
        assert_eq!(window, 6.0);
        whole.resume();
        whole.acknowledge(&acked, &settings, &mut Cwnd { window: &mut window, threshold: &mut threshold });
        assert_eq!((window, whole.outstanding), (6.0, 3), "a round begins");
        whole.acknowledge(
            &Acked { in_flight: 0, ..acked },
            &settings,
            &mut Cwnd { window: &mut window, threshold: &mut threshold },
        );
        assert_eq!(whole.base(), None, "the path may be another after a rest");
    }
}
