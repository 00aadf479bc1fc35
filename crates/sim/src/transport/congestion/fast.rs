//! FAST: each round trip the window moves part of the way to the value at which alpha packets of
//! the flow wait in queues.
//!
//! Use when: you study long fast paths steered by delay, with rates in proportion to `alpha`. A
//! late flow gets more, and behind fair queueing `alpha` changes no rate; the usual choice is
//! `cubic`.
//! Source: Wei, Jin, Low and Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance",
//! IEEE/ACM Transactions on Networking 14(6), 2006, sections IV and V. Its constants are from
//! memory and therefore settings.
//! Departs: alpha is one number, not a table by classes of rate (8, 20, 200 packets at 10, 100,
//! 1000 Mbit/s); the burst that a jump of the window allows is not spread.
//! Chosen: slow start ends when more than alpha packets wait; the window takes effect each round
//! trip, or once a `period` if one is given; a loss leaves one half.
//! Cost: O(1) a packet.
//! Bound: alone, alpha packets wait: C = 1000 packets/s, 100 ms, alpha 50: 150 packets
//! (fast.rs: alone_alpha_packets_wait); rates are as the alphas
//! (fast.rs: rates_are_as_the_alphas, congestion_controls.rs: fast_shares_by_alpha).
//! Range: a flow that starts late takes the queue of the others for part of the path and gets more.
//! Behind fair queueing each flow sees its own queue only, and rates are equal whatever the alphas.

use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, Congestion, LawSettings, SLOW_START};
use crate::settings::{no_part, outside};
use fairq_sched::units::Time;

settings! {
    /// How many packets are to wait, and how fast the window approaches that.
    pub struct Settings {
        /// Packets that are to wait.
        pub alpha: f64 = 20.0,
        /// The part of the difference that a step covers.
        pub gamma: f64 = 0.5,
        /// The time between steps; by default a round trip.
        pub period: Option<Time> = None,
        /// The factor of the window after a loss.
        pub decrease: f64 = 0.5,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        let fault = no_part(&[("decrease", self.decrease)])
            .or_else(|| outside(&[("alpha", self.alpha, 0.0, 1e6), ("gamma", self.gamma, 0.0, 1.0)]));
        fault.or_else(|| {
            (self.period == Some(Time::ZERO)).then(|| "period is 0 s; it is above zero, like \"20 ms\"".to_string())
        })
    }
}

/// cwnd and ssthresh, baseRTT and the average.
pub struct Fast {
    settings: Settings,
    window: Window,
    base: Time,
    /// The average round trip in seconds; 0 before the first sample.
    average_s: f64,
    stepped: Time,
}

impl Fast {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: Window::new(SlowStart::Standard, None, beginning),
            base: Time::NEVER,
            average_s: 0.0,
            stepped: beginning.now,
        }
    }

    fn sample(&mut self, round_trip: Time) {
        self.base = self.base.min(round_trip);
        let sample = round_trip.as_s();
        // Section V: weight min(3/w, 1/4).
        let weight = (3.0 / self.window.packets).min(0.25);
        self.average_s = if self.average_s == 0.0 { sample } else { (1.0 - weight) * self.average_s + weight * sample };
    }

    fn is_due(&self, acked: &Acked) -> bool {
        match self.settings.period {
            None => acked.begins_round,
            Some(period) => acked.now.saturating_sub(self.stepped) >= period,
        }
    }

    fn step(&mut self, acked: &Acked) {
        self.stepped = acked.now;
        if self.average_s == 0.0 {
            return;
        }
        let ratio = self.base.as_s() / self.average_s;
        if self.window.is_starting() {
            if self.window.packets * (1.0 - ratio) > self.settings.alpha {
                self.window.threshold = self.window.packets;
            }
            return;
        }
        let (w, gamma) = (self.window.packets, self.settings.gamma);
        // w ← min(2w, (1 − γ) w + γ (baseRTT/RTT w + α))
        let next = (2.0 * w).min((1.0 - gamma) * w + gamma * (ratio * w + self.settings.alpha));
        if next < w || acked.is_limited {
            self.window.packets = next.max(2.0);
            self.window.threshold = self.window.threshold.min(self.window.packets);
        }
    }
}

impl Congestion for Fast {
    fn window(&self) -> f64 {
        self.window.packets
    }

    fn acknowledged(&mut self, acked: &Acked) {
        if let Some(round_trip) = acked.round_trip {
            self.sample(round_trip);
        }
        if acked.is_recovering {
            return;
        }
        if self.is_due(acked) {
            self.step(acked);
        }
        if self.window.is_starting() && acked.lets_grow() {
            self.window.packets += acked.newly as f64;
        }
    }

    fn lost(&mut self, _congested: &Congested) {
        self.window.reduce(self.window.packets * self.settings.decrease);
    }

    fn timed_out(&mut self, congested: &Congested) {
        if !congested.is_repeated {
            self.window.threshold = (congested.flight as f64 * self.settings.decrease).max(2.0);
        }
        self.window.packets = 1.0;
    }

    fn rested(&mut self, _now: Time) {
        self.window.rest();
    }

    /// Section IV: window control.
    fn phase(&self) -> &'static str {
        if self.window.is_starting() { SLOW_START } else { "window control" }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window.packets);
        visit("base_s", self.base.as_s());
        visit("average_s", self.average_s);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bottleneck::Bottleneck;
    use super::*;

    fn law(alpha: f64) -> Fast {
        Fast::new(&Settings { alpha, ..Settings::default() }, &Beginning::with_window(10.0))
    }

    /// The fluid model: the round trip follows from the window, a real number.
    #[test]
    fn the_fixed_point_is_the_published_one() {
        let mut law = law(50.0);
        (law.window.packets, law.window.threshold) = (30.0, 2.0);
        for step in 0..20_000 {
            let round_trip = Some(Time::from_s_f64((law.window() / 1000.0).max(0.1)));
            law.acknowledged(&Acked { round_trip, begins_round: step % 40 == 39, ..Acked::of(Time::ZERO, 1) });
        }
        assert!((law.window() - 150.0).abs() < 1e-3, "{}", law.window());
    }

    #[test]
    fn a_step_at_most_doubles() {
        let mut law = law(1000.0);
        (law.window.packets, law.window.threshold) = (10.0, 2.0);
        let round_trip = Some(Time::from_ms(100));
        law.acknowledged(&Acked { round_trip, begins_round: true, ..Acked::of(Time::ZERO, 1) });
        assert_eq!(law.window(), 20.0);
    }

    #[test]
    fn alone_alpha_packets_wait() {
        let mut law = law(50.0);
        let line = Bottleneck::new(1000.0, Time::from_ms(100));
        let seen = line.run(&mut [&mut law], Time::from_s(20), Time::from_s(40));
        assert!((seen.queue_mean() - 50.0).abs() < 1.0, "{}", seen.queue_mean());
        assert!((seen.window_mean() - 150.0).abs() < 1.0, "{}", seen.window_mean());
    }

    #[test]
    fn rates_are_as_the_alphas() {
        // With one packet at first both flows find the empty path.
        let [mut small, mut large] = [50.0, 100.0]
            .map(|alpha| Fast::new(&Settings { alpha, ..Settings::default() }, &Beginning::with_window(1.0)));
        let line = Bottleneck::new(1000.0, Time::from_ms(100));
        let seen = line.run(&mut [&mut small, &mut large], Time::from_s(60), Time::from_s(120));
        let rate = seen.delivered[0] as f64 / 60.0;
        assert!((rate - 333.3).abs() < 7.0, "{rate}");
        assert!((seen.queue_mean() - 150.0).abs() < 5.0, "{}", seen.queue_mean());
    }
}
