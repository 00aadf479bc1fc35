//! Round trips counted in packets, and the packets that a congestion control deliberately sent
//! slowly, as in the BBR family.

use super::RateSample;

/// Rounds: one ends with the acknowledgement of a packet that was sent after it began.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Packets delivered when the round began.
    began: u64,
    /// Rounds so far.
    pub count: u64,
}

impl Rounds {
    /// Whether this sample ends a round; then the next one begins.
    pub fn ends_with(&mut self, sample: &RateSample) -> bool {
        let ends = sample.delivered_before >= self.began;
        if ends {
            self.began = sample.delivered;
            self.count += 1;
        }
        ends
    }

    /// Begins a round now; `delivered` packets have been delivered.
    pub const fn begin(&mut self, delivered: u64) {
        self.began = delivered;
    }
}

/// Packets sent while the window was held down to measure the round trip. Their samples say nothing
/// about the line.
#[derive(Clone, Debug, Default)]
pub struct Quiet {
    from: u64,
    until: Option<u64>,
}

impl Quiet {
    /// Adds the packets sent now, when `delivered` packets were delivered and `in_flight` are in
    /// flight.
    pub fn mark(&mut self, delivered: u64, in_flight: u64) {
        if self.until.is_none_or(|until| until < delivered) {
            self.from = delivered;
        }
        self.until = Some(delivered + in_flight);
    }

    /// Whether the sample is from such a packet.
    #[must_use]
    pub fn covers(&self, sample: &RateSample) -> bool {
        self.covers_packet(sample.delivered_before)
    }

    /// Whether a packet is such a packet, given the number of packets that had been delivered when
    /// it was sent.
    #[must_use]
    pub fn covers_packet(&self, delivered_before: u64) -> bool {
        self.until.is_some_and(|until| (self.from..=until).contains(&delivered_before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;

    fn sample(delivered_before: u64, delivered: u64) -> RateSample {
        RateSample {
            packets_per_s: 1.0,
            delivered_before,
            delivered,
            interval: Time::from_s(1),
            is_application_limited: false,
            flight_at_send: 1,
            lost: 0,
            ahead: None,
        }
    }

    #[test]
    fn a_window_of_four_makes_a_round_of_four() {
        let mut rounds = Rounds::default();
        let ends: Vec<bool> = (1..=12_u64).map(|n| rounds.ends_with(&sample(n.saturating_sub(4), n))).collect();
        let at: Vec<usize> = ends.iter().enumerate().filter(|(_, ends)| **ends).map(|(i, _)| i + 1).collect();
        assert_eq!(at, [1, 5, 9]);
    }

    #[test]
    fn quiet_covers_what_was_sent_from_its_first_mark_to_its_last_flight() {
        let mut quiet = Quiet::default();
        assert!(!quiet.covers(&sample(0, 1)));
        quiet.mark(100, 20);
        quiet.mark(110, 4);
        assert!(!quiet.covers(&sample(99, 104)));
        assert!(quiet.covers(&sample(100, 105)) && quiet.covers(&sample(114, 118)));
        assert!(!quiet.covers(&sample(115, 120)));
        quiet.mark(500, 10);
        assert!(!quiet.covers(&sample(114, 600)));
    }
}
