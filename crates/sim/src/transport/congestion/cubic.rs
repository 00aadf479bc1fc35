//! CUBIC: the window is a cubic function of the time since the last loss, flat at the window of the
//! last loss.
//!
//! Use when: you want what hosts run today: it is the default of Linux and of greedy traffic here.
//! On short paths it grows as Reno does; for a yardstick with simple theory use `reno`.
//! Source: RFC 9438 (CUBIC for Fast and Long-Distance Networks), section 4; start-up: RFC 9406
//! (HyStart++); RFC 8511 for `mark_decrease`.
//! Chosen: the window never falls with an acknowledgement, where the Reno-friendly estimate is set
//! in its place; the time of an epoch begins with the first acknowledgement after the recovery that
//! lets the window grow. Time in which the window was not the limit does not count (sections 4.2
//! and 5.8): idle times, slower traffic, a receiver that takes no more. A mark leaves 2 packets at
//! least, as in Linux; RFC 3168, section 6.1.2, goes down to 1, then waits for the timer.
//! Cost: O(1) a packet, with a cube root a loss.
//! Bound: with one loss in 1/p packets the mean window is 1.054 (RTT/p)^(3/4), or Reno's where that
//! is more; a line without buffer is used to 92.5 % (scenes.rs: cubic_has_its_mean_window,
//! scenes.rs: a_line_without_buffer_is_used_as_published).
//! Range: windows up to 2⁵³ packets.

mod whole;

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::{no_part, outside};
use fairq_sched::units::Time;
use whole::Whole;

settings! {
    /// The cubic function, the factors after a loss and a mark, and the start.
    pub struct Settings {
        /// C: the steepness of the function, in packets a second cubed.
        // Sections 4.6 and 5.
        pub scale: f64 = 0.4,
        /// The factor that is left after a loss, of the window or as the connection's `reduces`
        /// says.
        pub decrease: f64 = 0.7,
        /// The same after a mark; 0.85 in RFC 8511.
        pub mark_decrease: f64 = 0.7,
        /// Whether a loss below the last one releases more, for flows that start later.
        pub fast_convergence: bool = true,
        /// Whether the window is at least what Reno's would be.
        pub reno_friendly: bool = true,
        /// Whether that estimate grows by a packet a round trip once it has passed the window
        /// before the last loss, as in section 4.3, and not by 0.53 on and on, as in Linux.
        pub friendly_speeds_up: bool = true,
        /// The least relative growth of the window in a round trip until the first loss; 0.05 in
        /// Linux.
        pub first_increase: f64 = 0.0,
        /// Whether the target is the function one least round trip ahead, as in Linux, and not one
        /// smoothed round trip (section 4.2).
        pub ahead_by_least: bool = false,
        /// Whether the window, the function and the estimate are whole numbers of packets, and
        /// times whole milliseconds: the window then follows the function or the estimate within a
        /// round trip, whichever is more. As in Linux, whose `friendly_speeds_up` and
        /// `ahead_by_least` this includes.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub whole_packets: bool = false,
        /// How the window grows until a packet is lost.
        pub slow_start: SlowStart = SlowStart::Hystart,
        /// Where the first slow start ends, in packets; by default where a packet is lost.
        pub first_threshold: Option<u32> = None,
        /// Whether packets may be marked instead of dropped (RFC 3168).
        pub ecn: bool = false,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        let first = self.first_increase;
        no_part(&[("decrease", self.decrease), ("mark_decrease", self.mark_decrease)])
            .or_else(|| outside(&[("scale", self.scale, 0.0, 1e6)]))
            .or_else(|| {
                (!(0.0..=1.0).contains(&first)).then(|| format!("first_increase is {first}; it is from 0 to 1"))
            })
    }
}

/// cwnd, W_max, and the epoch.
pub struct Cubic {
    settings: Settings,
    window: Window,
    /// W_max; `None` after a start without a loss and after a timeout.
    w_max: Option<f64>,
    /// Whether a packet was lost since the start or the last timeout.
    has_lost: bool,
    /// cwnd_prior: the window before the last loss.
    prior: f64,
    epoch: Option<Epoch>,
    /// The kernel's whole numbers, in place of all fields above.
    whole: Option<Box<Whole>>,
    /// Since when the window has not been the limit; `None` if it is the limit.
    paused: Option<Time>,
}

/// An epoch of congestion avoidance.
#[derive(Clone, Copy)]
struct Epoch {
    begun: Time,
    /// Where the function is flat: W_max, and K in seconds.
    w_max: f64,
    k: f64,
    /// W_est: the window of Reno.
    friendly: f64,
}

impl Epoch {
    /// K = cbrt((W_max - cwnd_epoch) / C). Without a W_max above the window the function is flat at
    /// its beginning.
    fn new(begun: Time, w_max: f64, window: f64, scale: f64) -> Self {
        let w_max = w_max.max(window);
        Self { begun, w_max, k: libm::cbrt((w_max - window) / scale), friendly: window }
    }

    /// W_cubic(t) = C (t - K)³ + W_max
    fn at(&self, t: f64, scale: f64) -> f64 {
        let d = t - self.k;
        scale * d * d * d + self.w_max
    }
}

impl Cubic {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        let window = Window::new(settings.slow_start, settings.first_threshold, beginning);
        let whole = settings.whole_packets.then(|| Box::new(Whole::new(settings)));
        let settings = settings.clone();
        Self { settings, window, w_max: None, has_lost: false, prior: 0.0, epoch: None, whole, paused: None }
    }

    /// Growth in congestion avoidance, section 4.2 to 4.5.
    fn avoid(&mut self, acked: &Acked) {
        let (window, settings) = (self.window.packets(), &self.settings);
        if let Some(whole) = &mut self.whole {
            return self.window.grow(whole.grow(acked, window as u64) as f64);
        }
        if self.epoch.is_none() && self.w_max.is_none() {
            // Section 4.10: out of slow start without a loss.
            self.prior = self.prior.max(window);
        }
        let w_max = *self.w_max.get_or_insert(window);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(acked.now, w_max, window, settings.scale));
        let newly = acked.newly as f64;
        // W_est = W_est + alpha segments_acked / cwnd, with alpha = 3 (1 - beta) / (1 + beta), then
        // 1
        let beta = settings.decrease;
        let is_slow = epoch.friendly < self.prior || !settings.friendly_speeds_up;
        let alpha = if is_slow { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        epoch.friendly += alpha * newly / window;
        let t = acked.now.saturating_sub(epoch.begun).as_s();
        let grown = if settings.reno_friendly && epoch.at(t, settings.scale) < epoch.friendly {
            (epoch.friendly - window).max(0.0)
        } else {
            // (target - cwnd) / cwnd a packet, the target a round trip ahead
            let ahead = if settings.ahead_by_least { acked.least } else { acked.smoothed };
            let target = epoch.at(t + ahead.as_s(), settings.scale).clamp(window, 1.5 * window);
            newly * (target - window) / window
        };
        let least = if self.has_lost { 0.0 } else { settings.first_increase };
        self.window.grow(grown.max(newly * least));
    }

    /// What a loss leaves of `flight` packets. Remembers the window.
    fn left_of(&mut self, flight: u64, part: f64) -> f64 {
        if let Some(whole) = &mut self.whole {
            return whole.lost(flight, part) as f64;
        }
        self.remember();
        flight as f64 * part
    }

    /// Remembers the window at a loss as W_max.
    fn remember(&mut self) {
        let window = self.window.packets();
        let gives_way = self.settings.fast_convergence && self.w_max.is_some_and(|w_max| window < w_max);
        self.w_max = Some(if gives_way { window * (1.0 + self.settings.decrease) / 2.0 } else { window });
        (self.prior, self.epoch, self.has_lost) = (window, None, true);
    }
}

impl LossBased for Cubic {
    keeps_a_window!(settings.ecn);

    fn grow(&mut self, acked: &Acked) {
        if !self.window.starts(acked) && acked.lets_grow() {
            self.avoid(acked);
        }
    }

    /// Section 4.6 and 4.7; section 4.8: after the slow start that follows a timeout K is 0 and
    /// W_max is the window.
    fn left(&mut self, signal: Signal, congested: &Congested) -> f64 {
        let part = if signal == Signal::Mark { self.settings.mark_decrease } else { self.settings.decrease };
        if signal != Signal::Timeout {
            return self.left_of(congested.flight, part);
        }
        let left = if congested.is_repeated { 0.0 } else { self.left_of(congested.flight, part) };
        if let Some(whole) = &mut self.whole {
            whole.reset();
        }
        (self.w_max, self.epoch, self.has_lost) = (None, None, false);
        left
    }

    /// Section 4.2: t does not include periods in which the window is not used.
    fn pause(&mut self, now: Time, is_limit: bool) {
        if !is_limit {
            self.paused = Some(now);
        } else if let (Some(paused), Some(whole)) = (self.paused, &mut self.whole) {
            self.paused = None;
            whole.pause(now.saturating_sub(paused));
        } else if let (Some(paused), Some(epoch)) = (self.paused.take(), &mut self.epoch) {
            epoch.begun = epoch.begun.saturating_add(now.saturating_sub(paused.max(epoch.begun)));
        }
    }

    fn readings(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("w_max_packets", self.w_max.unwrap_or(f64::NAN));
        visit("k_s", self.epoch.map_or(f64::NAN, |epoch| epoch.k));
        visit("w_est_packets", self.epoch.map_or(f64::NAN, |epoch| epoch.friendly));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Congestion;

    const TRIP: Time = Time::from_ms(100);

    fn law(window: f64) -> Cubic {
        Cubic::new(&Settings::default(), &Beginning::with_window(window))
    }

    fn acked(now: Time) -> Acked {
        Acked { smoothed: TRIP, least: TRIP, ..Acked::of(now, 1) }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-3 * expected, "{value}, not {expected}");
    }

    #[test]
    fn k_is_the_cube_root_of_what_is_to_be_regained() {
        for (window, k) in [(10.0, 1.957), (100.0, 4.217), (1000.0, 9.086), (10_000.0, 19.574)] {
            let mut law = law(window);
            law.lost(&Congested::of(Time::ZERO, window as u64));
            near(law.window(), 0.7 * window);
            law.acknowledged(&acked(Time::ZERO));
            near(law.epoch.unwrap().k, k);
        }
    }

    #[test]
    fn the_function_is_flat_at_w_max() {
        let epoch = Epoch::new(Time::ZERO, 100.0, 70.0, 0.4);
        for (t, window) in [(0.0, 70.0), (epoch.k / 2.0, 96.25), (epoch.k, 100.0), (2.0 * epoch.k, 130.0)] {
            near(epoch.at(t, 0.4), window);
        }
    }

    #[test]
    fn a_loss_below_the_last_one_lets_go_of_more() {
        let mut law = law(110.0);
        law.lost(&Congested::of(Time::ZERO, 110));
        law.window = Window::new(SlowStart::Standard, Some(1), &Beginning::with_window(100.0));
        law.lost(&Congested::of(Time::ZERO, 100));
        near(law.w_max.unwrap(), 85.0);
        near(law.window(), 70.0);
        law.acknowledged(&acked(Time::ZERO));
        near(law.epoch.unwrap().k, 3.347);
    }

    #[test]
    fn reno_is_met_by_additive_increase_of_0_53_and_then_of_1() {
        let mut law = law(10.0);
        law.lost(&Congested::of(Time::ZERO, 10));
        // At one instant the function does not move but the estimate does.
        law.acknowledged(&acked(Time::ZERO));
        near(law.window(), 7.0 + 0.529_412 / 7.0);
        while law.window() < 10.0 {
            law.acknowledged(&acked(Time::ZERO));
        }
        let window = law.window();
        law.acknowledged(&acked(Time::ZERO));
        near(law.window() - window, 1.0 / window);
    }

    #[test]
    fn time_in_which_the_application_was_the_limit_does_not_count() {
        let windows = [false, true].map(|has_pause| {
            let mut law = law(100.0);
            law.lost(&Congested::of(Time::ZERO, 100));
            law.acknowledged(&acked(Time::from_s(1)));
            let pause = if has_pause { Time::from_s(5) } else { Time::ZERO };
            law.limits(Time::from_s(1), false);
            law.acknowledged(&Acked { is_limited: false, ..acked(Time::from_s(1) + pause) });
            law.limits(Time::from_s(1) + pause, true);
            law.acknowledged(&acked(Time::from_s(3) + pause));
            law.window()
        });
        assert_eq!(windows[0], windows[1]);
    }

    #[test]
    fn after_a_timeout_the_function_begins_flat_where_slow_start_ends() {
        let mut law = law(100.0);
        law.timed_out(&Congested::of(Time::ZERO, 100));
        assert_eq!(law.window(), 1.0);
        for _ in 0..70 {
            law.acknowledged(&acked(Time::from_s(1)));
        }
        let epoch = law.epoch.unwrap();
        assert_eq!((epoch.k, epoch.w_max), (0.0, 70.0));
    }
}
