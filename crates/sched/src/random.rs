//! Random numbers for disciplines that draw: a sequence that follows from the line's seed and the
//! part's name.
//!
//! Splitmix64 (Steele, Lea, Flood 2014): a counter and a bijection; its period of 2⁶⁴ is longer
//! than any run.

use crate::hash::{Hash, splitmix};

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of the part called `name` behind a line with `seed`; each name has its own.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let hash = Hash::new(seed);
        Self { state: name.bytes().fold(hash.of(&[]), |state, byte| hash.of(&[state, u64::from(byte)])) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let bits = splitmix(self.state);
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits
    }

    /// A whole number below `bound`, which is not 0: the multiply-shift of Lemire 2019 without
    /// rejection, whose bias is below `bound`/2⁶⁴.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_names_give_sequences_of_their_own() {
        let first = |seed, name| Random::new(seed, name).bits();
        assert_eq!(first(1, "red"), first(1, "red"));
        assert_ne!(first(1, "red"), first(2, "red"));
        assert_ne!(first(1, "red"), first(1, "blue"));
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut random = Random::new(3, "test");
        let mut counts = [0; 10];
        let mut sum = 0.0;
        for _ in 0..100_000 {
            counts[random.below(10) as usize] += 1;
            sum += random.unit();
        }
        // 10 000 expected, standard deviation 95; the mean of the others has one of 0.0009.
        assert!(counts.iter().all(|n| (9_600..10_400).contains(n)), "{counts:?}");
        assert!((sum / 100_000.0 - 0.5).abs() < 0.004, "{sum}");
    }
}
