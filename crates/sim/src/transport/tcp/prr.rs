//! Proportional rate reduction: how much is sent in recovery, so that the pipe comes down to the
//! threshold within a round trip and neither stalls nor bursts.
//!
//! Source: RFC 9937, section 6; RFC 6937 for the two fixed bounds.
//! Cost: O(1) an acknowledgement.

use super::settings::RateReduction;

/// The budget of a recovery.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    rule: RateReduction,
    /// Packets in flight when it began (RecoverFS), and ssthresh.
    flight: u64,
    threshold: u64,
    /// Packets delivered and sent in this recovery.
    delivered: u64,
    sent: u64,
    /// Packets that may be sent now.
    left: u64,
}

impl Budget {
    /// A recovery begins.
    #[must_use]
    pub fn new(rule: RateReduction, flight: u64, threshold: u64) -> Self {
        Self { rule, flight: flight.max(1), threshold, delivered: 0, sent: 0, left: 0 }
    }

    /// An acknowledgement reported `delivered` packets; `pipe` packets are in flight. `is_safe`
    /// says that it advances the window and reports no further loss.
    pub fn acknowledged(&mut self, delivered: u64, pipe: u64, is_safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let ahead = self.delivered.saturating_sub(self.sent);
        self.left = if pipe > self.threshold {
            // sndcnt = ceil(prr_delivered * ssthresh / RecoverFS) - prr_out
            (self.delivered * self.threshold).div_ceil(self.flight).saturating_sub(self.sent)
        } else {
            let limit = match self.rule {
                RateReduction::Conservative => ahead,
                RateReduction::SlowStart => ahead.max(delivered) + 1,
                RateReduction::Proportional | RateReduction::None => ahead.max(delivered) + u64::from(is_safe),
            };
            limit.min(self.threshold - pipe)
        };
        // The first retransmission is sent in any case.
        if self.sent == 0 {
            self.left = self.left.max(1);
        }
    }

    /// Packets that may be sent now; `None` if only the window decides.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        (self.rule != RateReduction::None).then_some(self.left)
    }

    /// The threshold falls to `threshold`, in the same reduction.
    pub const fn aim(&mut self, threshold: u64) {
        self.threshold = threshold;
    }

    /// A packet is sent.
    pub const fn send(&mut self) {
        self.sent += 1;
        self.left = self.left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flight of 20, a threshold of 10, one loss: of the 19 acknowledgements that follow every
    /// other one allows a packet, ten in all.
    #[test]
    fn half_of_the_flight_is_sent_over_the_whole_round_trip() {
        let mut budget = Budget::new(RateReduction::Proportional, 20, 10);
        let (mut pipe, mut pattern) = (19u64, Vec::new());
        for _ in 0..19 {
            pipe -= 1;
            budget.acknowledged(1, pipe, false);
            let mut sent = 0;
            while budget.left() > Some(0) {
                budget.send();
                sent += 1;
            }
            pipe += sent;
            pattern.push(sent);
        }
        assert_eq!(pattern.iter().sum::<u64>(), 10);
        // At the end the pipe is at the threshold, and the last two wait until it is below.
        assert!(pattern[..16].chunks(2).all(|pair| pair == [1, 0]), "{pattern:?}");
    }

    #[test]
    fn below_the_threshold_the_bounds_differ() {
        // 20 in flight, 14 of them lost at once: 5 are left in the pipe.
        let sends = |rule, is_safe| {
            let mut budget = Budget::new(rule, 20, 10);
            budget.acknowledged(1, 5, is_safe);
            budget.send();
            budget.acknowledged(1, 5, is_safe);
            budget.left().unwrap()
        };
        assert_eq!(sends(RateReduction::Conservative, false), 1);
        assert_eq!(sends(RateReduction::SlowStart, false), 2);
        assert_eq!(sends(RateReduction::Proportional, false), 1);
        assert_eq!(sends(RateReduction::Proportional, true), 2);
    }
}
