//! RED's control law: an average of a queue's length, a probability for each average, and gaps
//! between signals that are spread evenly.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! ToN 1993 (figure 2, section 7); Floyd, "Recommendation on using the gentle_ variant of RED",
//! 2000.
//!
//! The paper gives two distributions of gaps. Its section 7 derives a gap that is uniform on 1, …,
//! 1/pb; its figure 2, read to the letter, resets the count to 0, adds 1 before it is used, and so
//! gives 1, …, 1/pb − 1. Here it is the derived one: the packet after a signal is the first with
//! count 0, whether the average was low before or a signal was given.
//!
//! ns-2 has a third, which it calls wait: no signal for 1/pb packets, then a gap that is uniform up
//! to 2/pb. Where lengths matter it counts bytes since the last signal, with those of the packet in
//! question.

use crate::units::Time;

/// An exponential average of a queue's length that goes down while the line is idle.
#[derive(Clone, Debug)]
pub struct Average {
    weight: f64,
    value: f64,
    idle_since: Option<Time>,
}

impl Average {
    /// Zero, before a line that has never sent. `weight`, in (0, 1], is what one new length counts.
    #[must_use]
    pub const fn new(weight: f64) -> Self {
        Self { weight, value: 0.0, idle_since: None }
    }

    /// The average.
    #[must_use]
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// Sets the weight of a new length from now on.
    pub const fn reweigh(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// The queue is `length` long. If the line was idle until now, the average is instead as if as
    /// many packets of `packet_time` seconds as fit into that time had found the queue empty.
    pub fn see(&mut self, now: Time, length: f64, packet_time: f64) {
        if self.idle_since.is_some() {
            self.value = self.at(now, packet_time);
            self.idle_since = None;
        } else {
            // avg ← (1 − wq)·avg + wq·q
            self.value += self.weight * (length - self.value);
        }
    }

    /// What the average is at `now` if nothing has arrived since.
    #[must_use]
    pub fn at(&self, now: Time, packet_time: f64) -> f64 {
        // avg ← (1 − wq)^m · avg
        self.idle_since.map_or(self.value, |since| {
            self.value * libm::pow(1.0 - self.weight, now.saturating_sub(since).as_s() / packet_time)
        })
    }

    /// The line has become idle. Told again, it counts from the first time.
    pub const fn idle(&mut self, now: Time) {
        if self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
    }
}

/// Which probability belongs to an average.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// Below it there is no signal.
    pub min: f64,
    /// The average from which on packets are dropped; above `min`.
    pub max: f64,
    /// The probability just below `max`.
    pub probability: f64,
    /// Whether the probability goes on from there to 1 at twice `max`, in place of a step to 1.
    pub gentle: bool,
}

/// Where an average stands on the curve, with pb where chance decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// Below min.
    Low,
    /// From `min` to `max`: packets are signalled at random, by this pb.
    Between(f64),
    /// From `max` to twice `max` with the gentle variant: packets are dropped at random, by this pb.
    Gentle(f64),
    /// Above: everything is dropped.
    High,
}

impl Curve {
    /// The level of `average` on the curve.
    #[must_use]
    pub fn level(&self, average: f64) -> Level {
        let Self { min, max, probability, gentle } = *self;
        if average < min {
            Level::Low
        } else if average < max {
            Level::Between(probability * (average - min) / (max - min))
        } else if gentle && average < 2.0 * max {
            Level::Gentle(probability + (1.0 - probability) * (average - max) / max)
        } else {
            Level::High
        }
    }
}

/// Packets since the last signal, or bytes, by which gaps are made even.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gaps {
    count: u64,
    /// Whether 1/pb packets pass before a signal may be given.
    wait: bool,
}

impl Gaps {
    /// No signal yet.
    #[must_use]
    pub const fn new(wait: bool) -> Self {
        Self { count: 0, wait }
    }

    /// Forgets what has passed: the average was low, or a packet was dropped without chance.
    pub const fn reset(&mut self) {
        self.count = 0;
    }

    /// A packet passes that is not asked for.
    pub const fn pass(&mut self) {
        self.count += 1;
    }

    /// Whether a packet is the signal, with `draw` uniform in [0, 1).
    pub fn signals(&mut self, pb: f64, draw: f64) -> bool {
        // pa ← pb / (1 − count·pb), and 1 where that is more or has no meaning; with wait 0 while
        // c·pb < 1, then pb / (2 − c·pb), where c is count with this packet.
        let count = self.count as f64;
        let (may, rest) =
            if self.wait { ((count + 1.0) * pb >= 1.0, 2.0 - (count + 1.0) * pb) } else { (true, 1.0 - count * pb) };
        let signals = may && (rest <= pb || draw * rest < pb);
        self.count = if signals { 0 } else { self.count + 1 };
        signals && pb > 0.0
    }

    /// Whether a packet of `length` bytes is signalled, by a count in bytes. `pb` is the
    /// probability for a packet of the mean length, `mean`.
    pub fn signals_by_bytes(&mut self, pb: f64, length: u32, mean: u64, draw: f64) -> bool {
        self.count += u64::from(length);
        // c ← whole usual packets in the bytes counted; pa ← pb / (1 − c·pb), with wait 0 while
        // c·pb < 1, then pb / (2 − c·pb); pa ← pa · length / mean unless it is 1
        let span = (self.count / mean) as f64 * pb;
        let rest = if self.wait { 2.0 - span } else { 1.0 - span };
        let may = pb > 0.0 && (!self.wait || span >= 1.0);
        let signals = may && (rest <= pb || draw * rest * (mean as f64) < pb * f64::from(length));
        if signals {
            self.count = 0;
        }
        signals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_average_is_the_papers_sum_of_past_lengths() {
        // After L packets that find 1, 2, …, L packets: L + 1 + ((1 − wq)^(L+1) − 1) / wq (section
        // 6.1, equation 2).
        let (weight, count) = (0.002, 1000.0);
        let mut average = Average::new(weight);
        for length in 1..=1000 {
            average.see(Time(length), length as f64, 1.0);
        }
        let expected = count + 1.0 + (libm::pow(1.0 - weight, count + 1.0) - 1.0) / weight;
        assert!((average.value() - expected).abs() < 1e-6, "{} {expected}", average.value());
    }

    #[test]
    fn an_idle_time_counts_as_packets_that_find_an_empty_queue() {
        let (mut idle, mut asked) = (Average::new(0.1), Average::new(0.1));
        for average in [&mut idle, &mut asked] {
            average.see(Time::ZERO, 100.0, 0.01);
        }
        idle.idle(Time::from_s(1));
        idle.idle(Time::from_s(2));
        idle.see(Time::from_s(3), 0.0, 0.01);
        (0..200).for_each(|_| asked.see(Time::from_s(3), 0.0, 0.01));
        assert!((idle.value() / asked.value() - 1.0).abs() < 1e-9, "{} {}", idle.value(), asked.value());
    }

    #[test]
    fn the_curve_goes_through_its_corners() {
        let curve = Curve { min: 5.0, max: 15.0, probability: 0.1, gentle: true };
        assert_eq!(curve.level(4.999), Level::Low);
        assert_eq!(curve.level(5.0), Level::Between(0.0));
        assert_eq!(curve.level(10.0), Level::Between(0.05));
        assert_eq!(curve.level(15.0), Level::Gentle(0.1));
        assert_eq!(curve.level(22.5), Level::Gentle(0.55));
        assert_eq!(curve.level(30.0), Level::High);
        assert_eq!(Curve { gentle: false, ..curve }.level(15.0), Level::High);
    }

    #[test]
    fn gaps_are_uniform() {
        let (mut gaps, mut random) = (Gaps::default(), Random::new(1, "gaps"));
        let (mut counts, mut gap) = ([0u32; 10], 0);
        for _ in 0..550_000 {
            if gaps.signals(0.1, random.unit()) {
                counts[gap] += 1;
                gap = 0;
            } else {
                gap += 1;
            }
        }
        // 1 to 10 packets, 5.5 on average: 10 000 of each, standard deviation 95.
        assert!(counts.iter().all(|n| (9600..10_400).contains(n)), "{counts:?}");
        // A probability that grew meanwhile: certain, and no division by what is below zero.
        let mut gaps = Gaps { count: 50, wait: false };
        assert!(gaps.signals(0.1, 0.999));
        assert!(!gaps.signals(0.0, 0.0));
    }

    #[test]
    fn counted_in_bytes_a_chance_of_one_takes_short_packets_too() {
        // Three usual packets of bytes at pb = 1/4: 1/4 by 1/4, whatever the length; a byte less:
        // half of 1/4 by 1/2.
        let counted = |count| Gaps { count, wait: false };
        assert!(counted(2500).signals_by_bytes(0.25, 500, 1000, 0.999));
        assert!(!counted(2499).signals_by_bytes(0.25, 500, 1000, 0.251));
        assert!(counted(2499).signals_by_bytes(0.25, 500, 1000, 0.249));
        // With wait nothing before 1/pb usual packets, then pb / (2 − c·pb), by the packet's
        // length.
        let waiting = |count| Gaps { count, wait: true };
        assert!(!waiting(8_499).signals_by_bytes(0.1, 1500, 1000, 0.0));
        assert!(waiting(8_500).signals_by_bytes(0.1, 1500, 1000, 0.149));
        assert!(!waiting(8_500).signals_by_bytes(0.1, 1500, 1000, 0.151));
        assert!(waiting(19_500).signals_by_bytes(0.1, 500, 1000, 0.999));
        assert!(!waiting(19_500).signals_by_bytes(0.0, 500, 1000, 0.0));
        let mut gaps = Gaps::new(true);
        assert!((0..19).any(|_| gaps.signals_by_bytes(0.1, 1000, 1000, 0.999)) && gaps.count == 0);
    }

    #[test]
    fn gaps_that_wait_are_uniform_from_one_span_to_two() {
        let (mut gaps, mut random) = (Gaps::new(true), Random::new(1, "gaps"));
        let (mut counts, mut gap) = ([0u32; 21], 1);
        for _ in 0..1_450_000 {
            if gaps.signals(0.1, random.unit()) {
                counts[gap] += 1;
                gap = 1;
            } else {
                gap += 1;
            }
        }
        // 10 to 19 packets, 14.5 on average: 10 000 of each, standard deviation 95.
        assert!(counts[..10].iter().all(|n| *n == 0) && counts[20] == 0, "{counts:?}");
        assert!(counts[10..20].iter().all(|n| (9600..10_400).contains(n)), "{counts:?}");
        assert!(!gaps.signals(0.0, 0.0));
    }
}
