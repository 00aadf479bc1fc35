//! Vegas: keeps between alpha and beta packets of its own in queues, measured by the round trip,
//! not by losses.
//!
//! Use when: you study delay as the signal of congestion. In a FIFO it loses to Reno, behind fair
//! queueing it does not; later designs of its kind are `fast` and `copa`.
//! Source: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet",
//! IEEE JSAC 13(8), 1995, section 3; defaults of the source's Vegas-1,3.
//! Departs: a packet is not sent again on a first duplicate acknowledgement by a fine-grained
//! timer; loss recovery is the connection's.
//! Chosen: the round trip of a round is the least sample of it; slow start ends with an eighth
//! less, as in ns-2; after a timeout slow start goes to half of the window (the connection's
//! `reduces`).
//! Cost: O(1) a packet.
//! Bound: a source alone on a line keeps between alpha and beta packets waiting
//! (vegas.rs: alone_it_keeps_a_few_waiting,
//! congestion_controls.rs: vegas_keeps_one_to_three_packets_waiting).
//! Range: the base round trip is the least ever seen: a route that becomes longer looks like a
//! permanent queue.

mod whole;

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::whole::part_of;
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::{no_part, outside};
use fairq_sched::units::Time;
use whole::Whole;

settings! {
    /// How many packets are to wait, and the factor after a loss.
    pub struct Settings {
        /// With fewer packets in queues than this the window grows. 1 in the source, 2 in Linux.
        pub alpha: f64 = 1.0,
        /// With more packets in queues than this the window shrinks. 3 in the source, 4 in Linux.
        pub beta: f64 = 3.0,
        /// With more packets in queues than this slow start ends.
        pub gamma: f64 = 1.0,
        /// The factor of the window after a loss; 0.5 in Linux.
        pub decrease: f64 = 0.75,
        /// Whether slow start grows in every other round trip, as in the source, and ends with an
        /// eighth less. Linux's grows in each round trip and ends with the packets that the path
        /// holds without a queue, plus one.
        pub every_other_round: bool = true,
        /// Whether the window and the packets that wait are whole numbers, rounded down, and round
        /// trips whole microseconds; a round with fewer than three samples and a repair of losses
        /// grow as Reno's; the base is measured anew after a rest. As in Linux, whose
        /// `every_other_round` this includes.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub whole_packets: bool = false,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        let fault = no_part(&[("decrease", self.decrease)]).or_else(|| {
            outside(&[("alpha", self.alpha, 0.0, 1e6), ("beta", self.beta, 0.0, 1e6), ("gamma", self.gamma, 0.0, 1e6)])
        });
        let (alpha, beta) = (self.alpha, self.beta);
        fault.or_else(|| (alpha > beta).then(|| format!("alpha is {alpha} and beta {beta}; alpha is at most beta")))
    }
}

/// cwnd and ssthresh, and the round trips that they depend on.
pub struct Vegas {
    settings: Settings,
    window: Window,
    /// BaseRTT.
    base: Time,
    /// The least sample of this round.
    round_least: Time,
    /// Whether slow start grows in this round; with `every_other_round` it alternates.
    grows: bool,
    /// The kernel's whole numbers, in place of the round trips above.
    whole: Option<Box<Whole>>,
}

impl Vegas {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: Window::new(SlowStart::Standard, None, beginning),
            base: Time::NEVER,
            round_least: Time::NEVER,
            grows: true,
            whole: settings.whole_packets.then(|| Box::new(Whole::new())),
        }
    }

    /// A round has passed.
    fn judge(&mut self, is_limited: bool) {
        if self.round_least == Time::NEVER {
            return;
        }
        // diff = cwnd (1 - BaseRTT / RTT)
        let diff = self.window.packets * (1.0 - self.base.as_s() / self.round_least.as_s());
        self.round_least = Time::NEVER;
        if self.window.is_starting() {
            if diff > self.settings.gamma {
                let (window, is_by_eighths) = (self.window.packets, self.settings.every_other_round);
                let left = if is_by_eighths { window * 7.0 / 8.0 } else { window - diff + 1.0 };
                self.window.reduce(left.min(window));
            }
            self.grows = !self.grows || !self.settings.every_other_round;
        } else if diff > self.settings.beta {
            self.window.packets = (self.window.packets - 1.0).max(2.0);
            // A window below ssthresh would be in slow start.
            self.window.threshold = self.window.threshold.min(self.window.packets);
        } else if diff < self.settings.alpha && is_limited {
            self.window.packets += 1.0;
        }
    }
}

impl LossBased for Vegas {
    keeps_a_window!();

    fn grow(&mut self, acked: &Acked) {
        if let Some(whole) = &mut self.whole {
            return whole.acknowledge(acked, &self.settings, &mut self.window.cwnd());
        }
        if let Some(sample) = acked.round_trip {
            self.base = self.base.min(sample);
            self.round_least = self.round_least.min(sample);
        }
        if acked.is_recovering {
            return;
        }
        if acked.begins_round {
            self.judge(acked.is_limited);
        }
        if self.window.is_starting() && self.grows && acked.lets_grow() {
            // By all acknowledged packets where each round grows.
            self.window.packets += if self.settings.every_other_round { 1.0 } else { acked.newly as f64 };
        }
    }

    fn left(&mut self, signal: Signal, congested: &Congested) -> f64 {
        let is_timeout = signal == Signal::Timeout;
        self.grows |= is_timeout;
        let part = if is_timeout { 0.5 } else { self.settings.decrease };
        match &mut self.whole {
            Some(whole) => {
                whole.stop();
                part_of(congested.flight, part)
            }
            None if is_timeout => congested.flight as f64 * part,
            None => self.window.packets * part,
        }
    }

    fn end_recovery(&mut self) {
        if let Some(whole) = &mut self.whole {
            whole.resume();
        }
    }

    fn readings(&self, visit: &mut dyn FnMut(&str, f64)) {
        let whole = self.whole.as_ref().and_then(|whole| whole.base()).map(|us| us as f64 / 1e6);
        visit("base_s", whole.unwrap_or(self.base.as_s()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::bottleneck::Bottleneck;
    use super::*;
    use crate::transport::congestion::Congestion;

    /// A Vegas past slow start that has measured a base of 100 ms and then a round of 120 ms.
    fn judged(settings: &Settings, window: f64) -> f64 {
        let mut law = Vegas::new(settings, &Beginning::with_window(window));
        law.window.threshold = 2.0;
        let sample =
            |ms, begins_round| Acked { round_trip: Some(Time::from_ms(ms)), begins_round, ..Acked::of(Time::ZERO, 1) };
        law.base = Time::from_ms(100);
        law.acknowledged(&sample(120, false));
        law.acknowledged(&sample(120, true));
        law.window()
    }

    /// diff = 20 (1 - 100/120) = 3.33.
    #[test]
    fn three_and_a_third_waiting_is_too_much_for_one_three_and_right_for_two_four() {
        assert_eq!(judged(&Settings::default(), 20.0), 19.0);
        assert_eq!(judged(&Settings { alpha: 2.0, beta: 4.0, ..Settings::default() }, 20.0), 20.0);
        assert_eq!(judged(&Settings { alpha: 4.0, beta: 6.0, ..Settings::default() }, 20.0), 21.0);
    }

    #[test]
    fn slow_start_doubles_every_other_round() {
        let mut law = Vegas::new(&Settings::default(), &Beginning::with_window(10.0));
        let mut windows = Vec::new();
        for round in 0..6_u64 {
            for packet in 0..law.window() as u64 {
                let round_trip = Some(Time::from_ms(100));
                let begins_round = packet == 0 && round > 0;
                law.acknowledged(&Acked { round_trip, begins_round, ..Acked::of(Time::ZERO, 1) });
            }
            windows.push(law.window());
        }
        assert_eq!(windows, [20.0, 20.0, 40.0, 40.0, 80.0, 80.0]);
    }

    #[test]
    fn a_loss_leaves_three_quarters() {
        let mut law = Vegas::new(&Settings::default(), &Beginning::with_window(40.0));
        law.lost(&Congested::of(Time::ZERO, 40));
        assert_eq!((law.window(), law.window.threshold), (30.0, 30.0));
    }

    #[test]
    fn alone_it_keeps_a_few_waiting() {
        let mut law = Vegas::new(&Settings::default(), &Beginning::with_window(10.0));
        let seen = Bottleneck::new(1000.0, Time::from_ms(100)).run(&mut [&mut law], Time::from_s(30), Time::from_s(60));
        assert!(seen.queue_least >= 0.0 && seen.queue_most <= 3.5, "{} {}", seen.queue_least, seen.queue_most);
        assert!((0.9..=3.0).contains(&seen.queue_mean()), "{}", seen.queue_mean());
        assert!(seen.delivered[0] >= 29_990, "{}", seen.delivered[0]);
    }

    /// N flows keep between N alpha and N beta waiting; a flow that starts later takes the first's
    /// queue for part of the path.
    #[test]
    fn three_keep_between_three_and_nine_waiting() {
        let mut laws = [(); 3].map(|()| Vegas::new(&Settings::default(), &Beginning::with_window(2.0)));
        let mut flows: Vec<&mut dyn Congestion> = laws.iter_mut().map(|law| law as _).collect();
        let seen = Bottleneck::new(1000.0, Time::from_ms(100)).run(&mut flows, Time::from_s(60), Time::from_s(90));
        assert!((2.5..=9.5).contains(&seen.queue_mean()), "{}", seen.queue_mean());
    }
}
