//! Random streams, one for each use, named by it: `<flow>/traffic`, `<flow>/start`.
//!
//! A stream is xoshiro256++ (Blackman and Vigna 2019), seeded from the scenario's seed and the
//! name, so that adding a flow changes no other flow's random numbers. A change of the generator or
//! of a name changes results and is noted in the changelog.

use fairq_sched::hash::Hash;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream called `name` of a run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(key(seed, name)))
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Exponential with mean `mean`.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.uniform()) * mean
    }

    /// Normal with mean 0 and variance 1, by Box and Muller's cosine; the sine is not kept.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Any 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// A number that belongs to `name` in a run with `seed`.
#[must_use]
pub fn key(seed: u64, name: &str) -> u64 {
    let words: Vec<u64> = name
        .as_bytes()
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .chain([name.len() as u64])
        .collect();
    Hash::new(seed).of(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_by_name() {
        let first = |seed, name: &str| Stream::new(seed, name).bits();
        assert_eq!(first(1, "a/traffic"), first(1, "a/traffic"));
        assert_ne!(first(1, "a/traffic"), first(2, "a/traffic"));
        assert_ne!(first(1, "a/traffic"), first(1, "b/traffic"));
    }

    #[test]
    fn exponential_draws_have_their_mean_and_variance() {
        let mut stream = Stream::new(1, "test");
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = stream.exponential(5.0);
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        let variance = squares / f64::from(n) - mean * mean;
        // Standard errors: 5/sqrt(n) = 0.011 and about 25*sqrt(8/n) = 0.16.
        assert!((mean - 5.0).abs() < 0.05 && (variance - 25.0).abs() < 0.8, "{mean} {variance}");
    }
}
