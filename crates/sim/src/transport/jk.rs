//! Jacobson and Karels' control as the 1990 paper models it: slow start, additive increase, back to
//! one on a loss.
//!
//! Use when: you reproduce the 1990 paper's sources with slow start. For Tahoe by today's rules use
//! `tahoe`; for new work, `reno` or `cubic`.
//! Source: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; Demers, Keshav and Shenker
//! 1990 (Flow control algorithms): "many of the congestion control ideas" of 4.3BSD added to the
//! generic source.
//! Chosen: the window grows once for each acknowledgement of new data, however much it covers; fast
//! retransmit on the third duplicate, not again before what was sent by then is acknowledged;
//! ssthresh is at least 2.
//! Cost: O(1) a packet.
//! Bound: the window is at least 1 and at most its limit; after a loss it is 1 and slow start ends
//! at half.

use super::congestion::{AVOIDANCE, Acked, Congested, Congestion, SLOW_START};
use super::ecn::CodePoint;
use super::supply::Supply;
use super::{Ends, Transport, estimator, go_back_n};

settings! {
    /// Limit of the window, duplicates, timeout.
    pub struct Settings {
        /// The greatest window, in packets.
        // The paper's window; 4.3BSD's three duplicates.
        pub window_max: u32 = 5,
        /// The number of duplicate acknowledgements after which a packet is sent again; never if 0.
        pub duplicates: u32 = 3,
        /// The timeout.
        pub timeout: estimator::Settings = estimator::Settings::default(),
    }
}

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        go_back_n::ends(Jk::new(self), &self.timeout, self.duplicates, supply)
    }

    answers!(self: Reliable, window Some(self.window_max), code_point CodePoint::None);

    fn fault(&self) -> Option<String> {
        self.timeout.fault()
    }
}

/// w and ssthresh.
pub struct Jk {
    limit: f64,
    window: f64,
    threshold: f64,
}

impl Jk {
    /// Slow start from one packet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self { limit: f64::from(settings.window_max), window: 1.0, threshold: f64::INFINITY }
    }
}

impl Congestion for Jk {
    fn window(&self) -> f64 {
        self.window.min(self.limit)
    }

    fn acknowledged(&mut self, acked: &Acked) {
        if acked.newly > 0 {
            // w += 1 below ssthresh, else 1/w
            self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
            self.window = self.window.min(self.limit);
        }
    }

    fn lost(&mut self, _congested: &Congested) {
        // ssthresh = max(2, min(w, limit)/2), w = 1
        self.threshold = (self.window.min(self.limit) / 2.0).max(2.0);
        self.window = 1.0;
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.lost(congested);
    }

    fn phase(&self) -> &'static str {
        if self.window < self.threshold { SLOW_START } else { AVOIDANCE }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window);
        visit("threshold_packets", self.threshold);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;

    #[test]
    fn slow_start_doubles_and_after_a_loss_at_16_resumes_to_8() {
        let (acked, lost) = (Acked::of(Time::ZERO, 1), Congested::of(Time::ZERO, 16));
        let mut law = Jk::new(&Settings { window_max: 1000, ..Settings::default() });
        let round = |law: &mut Jk| {
            for _ in 0..law.window() as u32 {
                law.acknowledged(&acked);
            }
            law.window() as u32
        };
        let windows: Vec<u32> = (0..4).map(|_| round(&mut law)).collect();
        assert_eq!(windows, [2, 4, 8, 16]);
        law.lost(&lost);
        let windows: Vec<u32> = (0..5).map(|_| round(&mut law)).collect();
        // An increase of 1/w a packet gains a little less than one a round.
        assert_eq!(windows, [2, 4, 8, 8, 9]);
        for _ in 0..3 {
            law.timed_out(&lost);
        }
        assert_eq!((law.window(), law.threshold), (1.0, 2.0));
    }
}
