//! The random time that a host takes between an acknowledgement and the packets that it releases.
//!
//! A simulator is exact. Behind a full drop-tail queue, an acknowledgement that leaves with a
//! packet's departure brings the next packet just when a place is free, or just before, again and
//! again. Then one connection gets all places and another all losses. Real hosts are not so exact:
//! `docs/design/processing.md`.
//!
//! Source: Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways",
//! Internetworking: Research and Experience 3(3), 1992: a random time at the source, from zero to
//! the bottleneck's time for a packet, ends the effect.

use fairq_sched::random::Random;
use fairq_sched::units::Time;

/// The processing time of a host, which may be zero.
#[derive(Clone, Debug)]
pub struct Processing {
    most: Time,
    random: Random,
}

impl Processing {
    /// A host that takes up to `most`; `key` is derived from the seed.
    #[must_use]
    pub fn new(most: Time, key: u64) -> Self {
        Self { most, random: Random::new(key, "processing") }
    }

    /// Whether processing takes any time.
    #[inline]
    #[must_use]
    pub const fn takes_time(&self) -> bool {
        self.most.0 > 0
    }

    /// The next processing time: from zero to just below `most`. Not to be called if processing
    /// takes no time.
    #[inline]
    pub fn draw(&mut self) -> Time {
        Time(self.random.below(self.most.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_uniform_from_zero_to_the_greatest() {
        let most = Time::from_ms(10);
        let mut host = Processing { most, random: Random::new(7, "processing") };
        assert!(host.takes_time() && !Processing { most: Time::ZERO, ..host.clone() }.takes_time());
        let mut counts = [0; 10];
        for _ in 0..100_000 {
            let time = host.draw();
            assert!(time < most);
            counts[(time.0 * 10 / most.0) as usize] += 1;
        }
        // Standard deviation of a count: about 95.
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
