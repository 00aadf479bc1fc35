//! Tahoe: slow start, one packet more a round trip, back to one packet on every loss.
//!
//! Use when: you reproduce TCP of 1988, which goes back to one packet on every loss. For the 1990
//! paper's model use `jk`; for new work, `reno` or `cubic`.
//! Source: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; 4.3BSD-Tahoe; ssthresh as in
//! RFC 5681, section 3.1.
//! Chosen: ssthresh is half of the window (the connection's `reduces`) and at least 2; growth as
//! Reno's. Retransmission after a loss belongs to the connection: with Tahoe everything from the
//! loss on is sent again, in slow start.
//! Cost: O(1) a packet.
//! Bound: after a loss slow start from 1 ends at half of what was in flight
//! (scenes.rs: a_law_keeps_what_its_card_says_of_a_loss).

use super::slow_start::{SlowStart, Window};
use super::{Acked, Beginning, Congested, Congestion, LawSettings};
use fairq_sched::units::Time;

/// Its slow start.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// How the window grows until a packet is lost.
    pub slow_start: SlowStart,
    /// Where the first slow start ends, in packets; by default where a packet is lost.
    pub first_threshold: Option<u32>,
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        None
    }
}

/// cwnd and ssthresh.
pub struct Tahoe {
    window: Window,
}

impl Tahoe {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self { window: Window::new(settings.slow_start, settings.first_threshold, beginning) }
    }
}

impl Congestion for Tahoe {
    fn window(&self) -> f64 {
        self.window.packets()
    }

    fn acknowledged(&mut self, acked: &Acked) {
        if !self.window.starts(acked) && acked.lets_grow() {
            self.window.grow(acked.newly as f64 / self.window.packets());
        }
    }

    fn lost(&mut self, congested: &Congested) {
        self.window.restart(congested.flight as f64 / 2.0, congested);
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.lost(congested);
    }

    fn rested(&mut self, _now: Time) {
        self.window.rest();
    }

    fn phase(&self) -> &'static str {
        self.window.phase()
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.window.inspect(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_at_16_is_followed_by_slow_start_from_1_to_8() {
        let mut law = Tahoe::new(&Settings::default(), &Beginning::with_window(16.0));
        law.lost(&Congested::of(Time::ZERO, 16));
        let round = |_| {
            for _ in 0..law.window() as u64 {
                law.acknowledged(&Acked::of(Time::ZERO, 1));
            }
            law.window() as u64
        };
        assert_eq!((0..5).map(round).collect::<Vec<_>>(), [2, 4, 8, 8, 9]);
    }
}
