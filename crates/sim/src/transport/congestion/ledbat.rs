//! LEDBAT: yields to other flows by adding at most a target of one-way delay to the queue.
//!
//! Use when: a background transfer should give way to others in a FIFO. Behind fair queueing it
//! does not, and a late one takes more; for an equal share use `reno` or `cubic`.
//! Source: Shalunov, Hazel, Iyengar and Kuehlewind, RFC 6817 (2012), section 2.
//! Departs: the congestion timeout is the connection's, with its own first value and doubling.
//! Chosen: no slow start (section 2.2 allows one): the window begins at `window_min`; the filter of
//! the current delay is the least of the last `filter` samples; a loss leaves one half, once for a
//! window of data.
//! Cost: O(1) a packet; ten minima and four samples are kept.
//! Bound: alone, the queue holds the target: 1000 packets/s, 50 ms, 100 ms: a window of 150
//! (ledbat.rs: alone_the_queue_holds_the_target,
//! congestion_controls.rs: ledbat_adds_its_target_of_delay).
//! Range: a flow that starts late takes the queue of the others for part of the path. Behind fair
//! queueing each flow builds a queue of its own target and yields to no other flow. The offset of
//! the two clocks cancels, their drift does not.

use super::{Acked, Beginning, Congested, Congestion, LawSettings};
use crate::settings::{no_part, outside};
use fairq_sched::units::Time;
use std::collections::VecDeque;

settings! {
    /// The target and how fast the window approaches it.
    pub struct Settings {
        /// TARGET: the delay to add; at most 100 ms.
        pub target: Time = Time::from_ms(100),
        /// GAIN: growth of the window in packets a round trip where no packet waits; at most 1.
        pub gain: f64 = 1.0,
        /// ALLOWED_INCREASE: how far the window may be above the packets in flight.
        pub allowed_increase: f64 = 1.0,
        /// BASE_HISTORY: the base is the least delay of this number of minutes.
        pub base_minutes: u32 = 10,
        /// CURRENT_FILTER: the current delay is the least of this number of samples.
        pub filter: u32 = 4,
        /// INIT_CWND and MIN_CWND.
        pub window_min: f64 = 2.0,
        /// The factor of the window after a loss.
        pub decrease: f64 = 0.5,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        no_part(&[("decrease", self.decrease)]).or_else(|| {
            outside(&[
                ("target in seconds", self.target.as_s(), 0.0, 0.1),
                ("gain", self.gain, 0.0, 1.0),
                ("allowed_increase", self.allowed_increase, 0.0, 1e6),
                ("base_minutes", f64::from(self.base_minutes), 0.0, 1e4),
                ("filter", f64::from(self.filter), 0.0, 1e4),
                ("window_min", self.window_min, 0.0, 1e6),
            ])
        })
    }
}

/// cwnd and the delays that it depends on.
pub struct Ledbat {
    settings: Settings,
    window: f64,
    /// By minute, of the last minutes: the least delay.
    base: VecDeque<Time>,
    minute: u64,
    current: VecDeque<Time>,
}

impl Ledbat {
    /// A window of INIT_CWND.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: settings.window_min,
            base: VecDeque::with_capacity(settings.base_minutes as usize + 1),
            minute: minute_of(beginning.now),
            current: VecDeque::with_capacity(settings.filter as usize + 1),
        }
    }

    /// Takes a sample. Returns the delay above the base.
    fn queueing(&mut self, now: Time, delay: Time) -> Time {
        let minute = minute_of(now);
        match self.base.back_mut() {
            Some(least) if minute == self.minute => *least = delay.min(*least),
            _ => push(&mut self.base, delay, self.settings.base_minutes),
        }
        self.minute = minute;
        push(&mut self.current, delay, self.settings.filter);
        least(&self.current).saturating_sub(least(&self.base))
    }
}

fn minute_of(now: Time) -> u64 {
    now.0 / Time::from_s(60).0
}

fn push(delays: &mut VecDeque<Time>, delay: Time, limit: u32) {
    delays.push_back(delay);
    if delays.len() > limit.max(1) as usize {
        delays.pop_front();
    }
}

fn least(delays: &VecDeque<Time>) -> Time {
    delays.iter().copied().min().unwrap_or(Time::ZERO)
}

impl Congestion for Ledbat {
    fn window(&self) -> f64 {
        self.window
    }

    fn acknowledged(&mut self, acked: &Acked) {
        let Some(delay) = acked.one_way else {
            return;
        };
        let queueing = self.queueing(acked.now, delay);
        if acked.newly == 0 || acked.is_recovering {
            return;
        }
        let target = self.settings.target.as_s();
        // off_target = (TARGET − queuing_delay) / TARGET; cwnd += GAIN off_target bytes_newly_acked
        // MSS / cwnd
        let off = (target - queueing.as_s()) / target;
        let window = self.window + self.settings.gain * off * acked.newly as f64 / self.window;
        let allowed = acked.flight as f64 + self.settings.allowed_increase;
        self.window = window.min(allowed).max(self.settings.window_min);
    }

    fn lost(&mut self, _congested: &Congested) {
        self.window = (self.window * self.settings.decrease).max(self.settings.window_min);
    }

    fn timed_out(&mut self, _congested: &Congested) {
        self.window = 1.0;
    }

    /// Section 2.4.2 is the same from the first acknowledgement on: there is no slow start.
    fn phase(&self) -> &'static str {
        "delay-based"
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window);
        visit("base_s", least(&self.base).as_s());
        visit("queueing_s", least(&self.current).saturating_sub(least(&self.base)).as_s());
    }
}

#[cfg(test)]
mod tests {
    use super::super::bottleneck::Bottleneck;
    use super::*;

    fn law() -> Ledbat {
        Ledbat::new(&Settings::default(), &Beginning::with_window(10.0))
    }

    fn after(now: Time, one_way_ms: u64) -> Acked {
        Acked { one_way: Some(Time::from_ms(one_way_ms)), flight: 100, ..Acked::of(now, 1) }
    }

    #[test]
    fn at_ten_packets_and_half_of_the_target_an_acknowledgement_adds_a_twentieth() {
        let mut law = law();
        for delay in [30, 80, 80, 80] {
            law.acknowledged(&after(Time::ZERO, delay));
        }
        law.window = 10.0;
        law.acknowledged(&after(Time::ZERO, 80));
        assert!((law.window - 10.05).abs() < 1e-12, "{}", law.window);
    }

    #[test]
    fn a_window_that_is_not_used_is_at_most_one_above_the_flight() {
        let mut law = law();
        law.window = 50.0;
        law.acknowledged(&Acked { flight: 4, ..after(Time::ZERO, 30) });
        assert_eq!(law.window, 5.0);
    }

    /// A base of 30 ms is forgotten after ten further minutes with samples.
    #[test]
    fn the_base_is_the_least_of_ten_minutes() {
        let mut law = law();
        for minute in 0..=10 {
            law.acknowledged(&after(Time::from_s(60 * minute), if minute == 0 { 30 } else { 70 }));
            let base = if minute < 10 { 30 } else { 70 };
            assert_eq!(least(&law.base), Time::from_ms(base), "minute {minute}");
        }
    }

    #[test]
    fn alone_the_queue_holds_the_target() {
        let mut law = law();
        let line = Bottleneck::new(1000.0, Time::from_ms(50));
        let seen = line.run(&mut [&mut law], Time::from_s(150), Time::from_s(250));
        assert!((seen.window_mean() - 150.0).abs() < 1.5, "{}", seen.window_mean());
        assert!((seen.queue_mean() - 100.0).abs() < 1.5, "{}", seen.queue_mean());
    }
}
