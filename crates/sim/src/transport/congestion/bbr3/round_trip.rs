//! The least round trip, and the state that holds the window down to measure it again.

use super::{Bbr3, Feedback, State};
use crate::transport::congestion::Acked;
use fairq_sched::units::Time;

impl Bbr3 {
    pub(super) fn update_least(&mut self, acked: &Acked) {
        let now = acked.now;
        self.is_probe_due = now > self.probe_least.1.saturating_add(self.settings.probe_interval);
        if let Some(sample) = acked.round_trip
            && (sample < self.probe_least.0 || self.is_probe_due)
        {
            self.probe_least = (sample, now);
        }
        let is_expired = now > self.least.1.saturating_add(self.settings.least_window);
        if self.probe_least.0 < self.least.0 || is_expired {
            self.least = self.probe_least;
        }
    }

    pub(super) fn check_probe_round_trip(&mut self, acked: &Acked, in_flight: u64) {
        if self.state != State::ProbeRoundTrip && self.is_probe_due && !self.has_restarted {
            self.save_window();
            self.state = State::ProbeRoundTrip;
            self.probe_done_at = None;
            self.cycle.feedback = Feedback::Stopping;
            self.rounds.begin(self.delivered);
        }
        if self.state == State::ProbeRoundTrip {
            self.probe_round_trip(acked.now, in_flight);
        }
        if acked.delivered > 0 {
            self.has_restarted = false;
        }
    }

    fn probe_round_trip(&mut self, now: Time, in_flight: u64) {
        self.quiet.mark(self.delivered, in_flight);
        if self.probe_done_at.is_some() {
            self.probe_has_passed_round |= self.ends_round;
            if self.probe_has_passed_round {
                self.leave_probe(now);
            }
        } else if in_flight as f64 <= self.probe_window() {
            self.probe_done_at = Some(now.saturating_add(self.settings.probe_duration));
            self.probe_has_passed_round = false;
            self.rounds.begin(self.delivered);
        }
    }

    /// Leaves the probe of the round trip if it has lasted long enough.
    pub(super) fn leave_probe(&mut self, now: Time) {
        if self.probe_done_at.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_least.1 = now;
        self.window = self.window.max(self.saved_window);
        self.reset_short_term();
        if self.is_full {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    pub(super) fn probe_window(&self) -> f64 {
        self.product(self.settings.probe_gain).max(self.settings.window_min)
    }
}
