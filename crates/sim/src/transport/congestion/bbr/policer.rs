//! A policer on the path, found by the losses that it causes.
//!
//! Source: Linux 6.1, `tcp_bbr.c`: `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`.
//! Cost: O(1) an acknowledgement.

use fairq_sched::units::Time;

/// The long-term bandwidth: the mean rate of two intervals that follow each other, each with many
/// losses and both about as fast.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    /// Packets a second of the last interval; zero before the first.
    bandwidth: f64,
    is_used: bool,
    is_sampling: bool,
    /// Round trips of the interval, or since the bandwidth is used.
    rounds: u32,
    /// When the interval began, and what was delivered and lost until then.
    began: Time,
    delivered: u64,
    lost: u64,
}

/// What an acknowledgement says of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// When it arrived.
    pub(super) now: Time,
    /// Packets delivered and found lost so far.
    pub(super) delivered: u64,
    /// See [`Self::delivered`].
    pub(super) lost: u64,
    /// Bytes of a packet.
    pub(super) length: u32,
    /// Whether it found a packet lost.
    pub(super) has_lost: bool,
    /// Whether it ends a round.
    pub(super) ends_round: bool,
    /// Whether the sender had no data at some time.
    pub(super) is_limited: bool,
    /// Whether the sender probes for bandwidth.
    pub(super) is_probing: bool,
}

/// Rounds of an interval at least, and four times that at most.
const ROUNDS_MIN: u32 = 4;
/// Lost packets to delivered ones from which on an interval counts: 50 of 256.
const LOSSES: u64 = 50;
/// Two bandwidths are the same within an eighth or 4 kbit/s.
const RATIO: f64 = 0.125;
const DIFFERENCE_BYTES_PER_S: f64 = 500.0;
/// Rounds for which the bandwidth is used.
const ROUNDS_USED: u32 = 48;

impl Policer {
    /// The bandwidth in packets a second to use in place of the greatest one, if a policer is
    /// known.
    #[must_use]
    pub(super) fn bandwidth(&self) -> Option<f64> {
        self.is_used.then_some(self.bandwidth)
    }

    /// Takes what an acknowledgement says. Returns whether a bandwidth was used for long enough:
    /// probing begins anew.
    pub(super) fn sample(&mut self, seen: &Seen) -> bool {
        if self.is_used {
            self.rounds += u32::from(seen.is_probing && seen.ends_round);
            let is_over = self.rounds >= ROUNDS_USED;
            if is_over {
                *self = Self::default();
            }
            return is_over;
        }
        if !self.is_sampling {
            if !seen.has_lost {
                return false;
            }
            self.begin(seen);
        }
        self.rounds += u32::from(seen.ends_round);
        if seen.is_limited || self.rounds > 4 * ROUNDS_MIN {
            *self = Self::default();
        } else if self.rounds >= ROUNDS_MIN && seen.has_lost {
            self.end(seen);
        }
        false
    }

    fn begin(&mut self, seen: &Seen) {
        let Seen { now, delivered, lost, .. } = *seen;
        *self = Self { bandwidth: self.bandwidth, is_sampling: true, began: now, delivered, lost, ..Self::default() };
    }

    /// Ends the interval, if enough of it was lost.
    fn end(&mut self, seen: &Seen) {
        let (lost, delivered) = (seen.lost - self.lost, seen.delivered - self.delivered);
        let time = seen.now - self.began;
        if delivered == 0 || lost << 8 < LOSSES * delivered || time < Time::from_ms(1) {
            return;
        }
        let bandwidth = delivered as f64 / time.as_s();
        let difference = (bandwidth - self.bandwidth).abs();
        let is_same =
            difference <= RATIO * self.bandwidth || difference * f64::from(seen.length) <= DIFFERENCE_BYTES_PER_S;
        if self.bandwidth > 0.0 && is_same {
            (self.bandwidth, self.is_used, self.rounds) = ((bandwidth + self.bandwidth) / 2.0, true, 0);
            return;
        }
        self.bandwidth = bandwidth;
        self.begin(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 packets a round of 100 ms are delivered and `lost` lost, by acknowledgement that ends
    /// it; returns the rounds after which the bandwidth is used.
    fn rounds_until_used(lost: u64) -> Option<u64> {
        let mut policer = Policer::default();
        (0..40).find(|round| {
            policer.sample(&round_of(*round, lost));
            policer.bandwidth().is_some()
        })
    }

    fn round_of(round: u64, lost: u64) -> Seen {
        Seen {
            now: Time::from_ms(100 * (round + 1)),
            delivered: 10 * (round + 1),
            lost: lost * (round + 1),
            length: 1514,
            has_lost: lost > 0,
            ends_round: true,
            is_limited: false,
            is_probing: true,
        }
    }

    /// The first loss begins an interval in its own round; each takes four rounds, and 50 of 256
    /// must be lost.
    #[test]
    fn two_intervals_with_a_fifth_of_losses_are_a_policer() {
        assert_eq!(rounds_until_used(0), None);
        assert_eq!(rounds_until_used(1), None, "a tenth is lost");
        assert_eq!(rounds_until_used(2), Some(7));
    }

    #[test]
    fn the_bandwidth_is_the_mean_and_serves_for_48_rounds() {
        let mut policer = Policer::default();
        let mut ends = Vec::new();
        for round in 0..60 {
            if policer.sample(&round_of(round, 2)) {
                ends.push(round);
            }
            if round == 7 {
                assert_eq!(policer.bandwidth(), Some(100.0));
            }
        }
        assert_eq!((ends, policer.bandwidth()), (vec![55], None));
    }

    #[test]
    fn a_sender_without_data_is_not_sampled() {
        let mut policer = Policer::default();
        for round in 0..40 {
            policer.sample(&Seen { is_limited: round % 3 == 2, ..round_of(round, 5) });
        }
        assert_eq!(policer.bandwidth(), None);
    }
}
