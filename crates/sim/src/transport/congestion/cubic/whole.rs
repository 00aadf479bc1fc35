//! CUBIC in whole packets and milliseconds.
//!
//! Source: Linux 6.1, tcp_cubic.c (`bictcp_update`, `bictcp_recalc_ssthresh`); its names stand in
//! the comments.
//! Chosen: the cube root is exact, where the kernel's is off by up to two in a thousand.

use super::Settings;
use crate::transport::congestion::Acked;
use crate::transport::congestion::whole::Increase;
use fairq_sched::units::Time;

/// The state of `struct bictcp`, and the growth by it.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole {
    /// bic_scale * 10, beta: C and the factor after a loss in 1024ths.
    scale: u64,
    decrease: u64,
    /// The most packets for one more before the first loss.
    first: u64,
    is_friendly: bool,
    converges: bool,
    /// last_max_cwnd; 0 before the first loss and after a timeout.
    w_max: u64,
    epoch: Option<Epoch>,
    /// cnt: packets that are acknowledged for one more.
    packets_for_one: u64,
    increase: Increase,
}

/// An epoch of congestion avoidance; times are in milliseconds.
#[derive(Clone, Debug)]
struct Epoch {
    /// epoch_start
    begun: u64,
    /// bic_K, in 1024ths of a second, and bic_origin_point.
    k: u64,
    origin: u64,
    /// tcp_cwnd and ack_cnt: Reno's window, and the packets acknowledged since it last grew.
    reno: u64,
    acked: u64,
    /// last_cwnd and last_time.
    looked: (u64, u64),
}

const MILLISECOND: u64 = Time::from_ms(1).0;
/// HZ / 32: so long a window that is the same is not looked at again.
const LOOKS_AGAIN_MS: u64 = 31;

impl Whole {
    /// Nothing was lost yet.
    pub(super) fn new(settings: &Settings) -> Self {
        let in_1024ths = |part: f64| libm::round(part * 1024.0) as u64;
        let first = settings.first_increase;
        Self {
            scale: in_1024ths(settings.scale),
            decrease: in_1024ths(settings.decrease),
            first: if first > 0.0 { libm::round(1.0 / first) as u64 } else { u64::MAX },
            is_friendly: settings.reno_friendly,
            converges: settings.fast_convergence,
            ..Self::default()
        }
    }

    /// A loss in a window of `window`: what is left is at most `part` of it.
    pub(super) fn lost(&mut self, window: u64, part: f64) -> u64 {
        let gives_way = self.converges && window < self.w_max;
        self.w_max = if gives_way { window * (1024 + self.decrease) / 2048 } else { window };
        self.epoch = None;
        self.increase.reset();
        window * libm::round(part * 1024.0) as u64 / 1024
    }

    /// A timeout.
    pub(super) fn reset(&mut self) {
        (self.w_max, self.epoch, self.packets_for_one) = (0, None, 0);
        self.increase.reset();
    }

    /// The time of an epoch does not include a rest.
    pub(super) fn pause(&mut self, rest: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.begun += rest.0 / MILLISECOND;
        }
    }

    /// By how much `window` grows with an acknowledgement.
    pub(super) fn grow(&mut self, acked: &Acked, window: u64) -> u64 {
        self.look(acked, window);
        self.increase.add(self.packets_for_one, acked.newly)
    }

    /// `bictcp_update`
    fn look(&mut self, acked: &Acked, window: u64) {
        let now = acked.now.0 / MILLISECOND;
        let begins = self.epoch.is_none();
        let (w_max, scale) = (self.w_max, self.scale);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, w_max, window, scale));
        epoch.acked += acked.newly;
        let (last_window, last) = epoch.looked;
        if !begins && last_window == window && now - last <= LOOKS_AGAIN_MS {
            return;
        }
        if begins || now != last {
            epoch.looked = (window, now);
            let target = epoch.at(now + acked.least.0.div_ceil(MILLISECOND), scale);
            self.packets_for_one = if target > window { window / (target - window) } else { 100 * window };
            if w_max == 0 {
                self.packets_for_one = self.packets_for_one.min(self.first);
            }
        }
        if self.is_friendly {
            let ahead = epoch.advance_reno(window, self.decrease).saturating_sub(window);
            self.packets_for_one = self.packets_for_one.min(window.checked_div(ahead).unwrap_or(u64::MAX));
        }
        self.packets_for_one = self.packets_for_one.max(2);
    }
}

impl Epoch {
    fn new(now: u64, w_max: u64, window: u64, scale: u64) -> Self {
        let missing = w_max.saturating_sub(window);
        // K = cbrt((W_max - cwnd) / C)
        let k = (1024.0 * libm::cbrt(missing as f64 * 1024.0 / scale as f64)) as u64;
        Self { begun: now, k, origin: w_max.max(window), reno: window, acked: 0, looked: (0, 0) }
    }

    /// W_cubic, rounded towards W_max.
    fn at(&self, time: u64, scale: u64) -> u64 {
        let t = (time.saturating_sub(self.begun) << 10) / 1000;
        let off = u128::from(t.abs_diff(self.k));
        let delta = ((u128::from(scale) * off * off * off) >> 40) as u64;
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta }
    }

    /// Reno's window grows by one with (1 + beta) / 3 (1 - beta) windows.
    fn advance_reno(&mut self, window: u64, decrease: u64) -> u64 {
        let one = ((window * (8 * (1024 + decrease) / 3 / (1024 - decrease).max(1))) >> 3).max(1);
        while self.acked > one {
            (self.acked, self.reno) = (self.acked - one, self.reno + 1);
        }
        self.reno
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Whole {
        Whole::new(&Settings { first_increase: 0.05, ..Settings::default() })
    }

    fn acked(ms: u64, newly: u64) -> Acked {
        Acked { least: Time::from_ms(20), ..Acked::of(Time::from_ms(ms), newly) }
    }

    /// 717 of 1024 of 43 are 30.1; 1741 of 2048 of 40 are 34.004.
    #[test]
    fn a_loss_leaves_whole_packets() {
        let mut whole = whole();
        assert_eq!((whole.lost(43, 0.7), whole.w_max), (30, 43));
        assert_eq!((whole.lost(40, 0.7), whole.w_max), (28, 34), "below the last maximum");
    }

    /// K is 4.2157 s; 2 s before it the function is 410 / 1024 * 8 = 3.2 packets below W_max, of
    /// which three count.
    #[test]
    fn the_function_is_rounded_towards_the_maximum() {
        let epoch = Epoch::new(1000, 100, 70, 410);
        assert_eq!((epoch.k, epoch.origin), (4316, 100));
        assert_eq!([3215, 5215, 7215].map(|ms| epoch.at(ms, 410)), [97, 100, 103]);
    }

    /// Before the first loss one packet more for 20. After it, at a short round trip, Reno's window
    /// grows by one with 15 eighths of a window, and the window follows with another.
    #[test]
    fn the_window_follows_the_estimate_within_a_window() {
        let mut whole = whole();
        let grows =
            |whole: &mut Whole, packets: u64, ms: u64| (0..packets).map(|_| whole.grow(&acked(ms, 1), 40)).sum::<u64>();
        assert_eq!(grows(&mut whole, 40, 1), 2);
        whole.lost(40, 0.7);
        assert_eq!(grows(&mut whole, 75, 10), 0);
        assert_eq!(grows(&mut whole, 1, 50), 1, "the 75 that were counted at a hundred windows for one");
        assert_eq!((whole.packets_for_one, grows(&mut whole, 38, 50)), (40, 0));
        assert_eq!(grows(&mut whole, 1, 50), 1);
    }
}
