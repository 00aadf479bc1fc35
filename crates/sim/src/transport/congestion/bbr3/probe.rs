//! The cycle of probing for bandwidth (Down, Cruise, Refill, Up), and the long-term bound that
//! results from it.

use super::{Bbr3, Feedback, State};
use crate::transport::congestion::{Acked, LostPacket, RateSample};
use fairq_sched::units::Time;

/// The state of the cycle.
pub(super) struct Cycle {
    pub(super) feedback: Feedback,
    /// When Down began, and how long after it the next probe is due.
    pub(super) began: Time,
    pub(super) wait: Time,
    /// Rounds since the last probe.
    pub(super) rounds: u64,
    /// Rounds in Up, packets acknowledged for the next step of the bound, and packets that a step
    /// takes.
    up_rounds: u32,
    up_acked: f64,
    up_acked_per_step: f64,
    /// Whether samples are of packets sent in a probe that no loss has ended yet.
    is_sample: bool,
    /// Whether the last probe ended with too many losses, and whether this one ended early for
    /// that.
    was_too_high: bool,
    was_precautionary: bool,
}

impl Cycle {
    pub(super) fn new(now: Time) -> Self {
        Self {
            feedback: Feedback::Initial,
            began: now,
            wait: Time::ZERO,
            rounds: 0,
            up_rounds: 0,
            up_acked: 0.0,
            up_acked_per_step: f64::INFINITY,
            is_sample: false,
            was_too_high: false,
            was_precautionary: false,
        }
    }
}

impl Bbr3 {
    /// Whether more than the threshold was lost of what was in flight.
    pub(super) fn is_flight_too_high(&self, lost: u64, flight_at_send: u64) -> bool {
        lost as f64 > flight_at_send as f64 * self.settings.loss_threshold
    }

    /// A packet of a probe is lost. Too many losses of what was in flight when it was sent set the
    /// long-term bound, once a probe (the draft's `BBRHandleLostPacket` and
    /// `BBRHandleInflightTooHigh`).
    pub(super) fn judge_loss(&mut self, packet: &LostPacket, now: Time) {
        if !self.cycle.is_sample || !self.is_flight_too_high(packet.lost, packet.flight_at_send) {
            return;
        }
        self.cycle.was_too_high = true;
        self.cycle.is_sample = false;
        if !packet.is_application_limited && !self.quiet.covers_packet(packet.delivered_before) {
            // The flight at which the losses passed the threshold, somewhere within this packet
            // (`BBRInflightAtLoss`).
            let threshold = self.settings.loss_threshold;
            let (before, lost_before) = (packet.flight_at_send as f64 - 1.0, packet.lost as f64 - 1.0);
            let at_loss = before + (threshold * before - lost_before) / (1.0 - threshold);
            let target = self.product(1.0).min(self.window);
            self.long_flight = at_loss.max(target * self.settings.beta);
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }

    pub(super) fn start_down(&mut self, now: Time) {
        (self.has_lost, self.latest_rate, self.latest_delivered) = (false, 0.0, 0.0);
        self.cycle.up_acked_per_step = f64::INFINITY;
        // A random part keeps flows out of step: up to a round less, and two to three seconds.
        self.cycle.rounds = self.random.below(2);
        self.cycle.wait = Time::from_s_f64(2.0 + self.random.unit());
        self.cycle.began = now;
        self.cycle.feedback = Feedback::Stopping;
        self.rounds.begin(self.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        (self.cycle.up_rounds, self.cycle.up_acked) = (0, 0.0);
        self.cycle.was_precautionary = false;
        self.cycle.feedback = Feedback::Refilling;
        self.rounds.begin(self.delivered);
        self.state = State::Refill;
    }

    pub(super) fn start_up(&mut self, rate: &RateSample) {
        self.cycle.is_sample = true;
        self.cycle.feedback = Feedback::Starting;
        self.rounds.begin(self.delivered);
        self.reset_full(rate.packets_per_s);
        self.state = State::Up;
        self.raise_slope();
    }

    pub(super) fn advance_cycle(&mut self, acked: &Acked, rate: &RateSample, in_flight: u64) {
        if !self.is_full || self.adapt_long_term(acked, rate) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(acked.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(in_flight) => self.state = State::Cruise,
            State::Refill if self.ends_round => self.start_up(rate),
            State::Up if self.is_time_to_go_down(acked, rate, in_flight) => {
                self.cycle.was_too_high = false;
                self.start_down(acked.now);
            }
            _ => {}
        }
    }

    /// Whether it is time to probe: after two to three seconds, or as soon as Reno with this window
    /// would have found one packet more.
    fn is_time_to_probe(&self, now: Time) -> bool {
        let rounds = self.product(1.0).min(self.window).min(f64::from(self.settings.probe_rounds));
        now > self.cycle.began.saturating_add(self.cycle.wait) || self.cycle.rounds as f64 >= rounds
    }

    fn is_time_to_cruise(&self, in_flight: u64) -> bool {
        let product = self.with_quanta(self.greatest() * self.least.0.as_s());
        in_flight as f64 <= self.long_flight_with_headroom().min(product)
    }

    fn is_time_to_go_down(&mut self, acked: &Acked, rate: &RateSample, in_flight: u64) -> bool {
        if self.cycle.was_too_high && in_flight as f64 >= self.long_flight {
            // The last probe had losses at this level: it is not held for a whole round before its
            // losses are known.
            self.cycle.was_precautionary = true;
            return true;
        }
        if self.is_bound(acked) {
            self.reset_full(rate.packets_per_s);
            return false;
        }
        self.is_full_now
    }

    /// Whether the long-term bound limits the sender.
    fn is_bound(&self, acked: &Acked) -> bool {
        acked.flight as f64 + 1.0 > self.window && self.window >= self.long_flight
    }

    /// Adapts the long-term bound. Returns whether a state was entered.
    fn adapt_long_term(&mut self, acked: &Acked, rate: &RateSample) -> bool {
        if self.cycle.feedback == Feedback::Starting && self.ends_round {
            self.cycle.feedback = Feedback::Probing;
        }
        if self.cycle.feedback == Feedback::Stopping && self.ends_round {
            self.cycle.is_sample = false;
            self.cycle.feedback = Feedback::Initial;
            if self.state.is_cycle() && !self.is_limited(rate) {
                self.greatest = [0.0, self.greatest[0]];
            }
            if self.state.is_cycle() && self.cycle.was_precautionary && !self.cycle.was_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.is_flight_too_high(rate.lost, rate.flight_at_send) && self.long_flight.is_finite() {
            self.long_flight = self.long_flight.max(rate.flight_at_send as f64);
            if self.state == State::Up && self.is_bound(acked) {
                self.raise_long_term(acked.delivered as f64);
            }
        }
        false
    }

    /// The bound grows by 1, 2, 4 … packets a round.
    pub(super) fn raise_long_term(&mut self, delivered: f64) {
        self.cycle.up_acked += delivered;
        let steps = libm::floor(self.cycle.up_acked / self.cycle.up_acked_per_step);
        if steps >= 1.0 {
            self.cycle.up_acked -= steps * self.cycle.up_acked_per_step;
            self.long_flight += steps;
        }
        if self.ends_round {
            self.raise_slope();
        }
    }

    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.up_acked_per_step = (self.window / growth).max(1.0);
    }
}
