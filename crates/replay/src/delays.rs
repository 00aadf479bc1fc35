//! The delays of a flow: exact as long as they are few, then a sketch.
//!
//! Most flows of a long capture are short. Their values are kept exactly, in 8 bytes each; a flow
//! with more values gets a sketch of some kilobytes with 0.8 % error.

use fairq_link::sketch::Coarse;

/// The number of values that are kept exactly.
const FEW: usize = 32;

/// Counted durations in picoseconds.
pub(super) enum Delays {
    /// All values.
    Few(Vec<u64>),
    /// Counts of values by size.
    Many(Box<Coarse>),
}

impl Default for Delays {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Delays {
    /// Counts a value.
    pub(super) fn add(&mut self, value: u64) {
        match self {
            Self::Few(values) if values.len() < FEW => values.push(value),
            Self::Few(values) => {
                let mut sketch = Box::new(Coarse::default());
                values.iter().for_each(|value| sketch.add(*value));
                sketch.add(value);
                *self = Self::Many(sketch);
            }
            Self::Many(sketch) => sketch.add(value),
        }
    }

    /// The exact mean.
    pub(super) fn mean(&self) -> Option<f64> {
        match self {
            Self::Few(values) if values.is_empty() => None,
            Self::Few(values) => {
                let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
                Some(sum as f64 / values.len() as f64)
            }
            Self::Many(sketch) => sketch.mean(),
        }
    }

    /// The quantiles `p`: for each part, the least value that at least this part of all values do
    /// not exceed.
    pub(super) fn quantiles<const N: usize>(&self, p: [f64; N]) -> [Option<u64>; N] {
        match self {
            Self::Few(values) if values.is_empty() => [None; N],
            Self::Few(values) => {
                let mut values = values.clone();
                values.sort_unstable();
                let rank = |p: f64| (libm::ceil(p * values.len() as f64) as usize).clamp(1, values.len());
                p.map(|p| Some(values[rank(p) - 1]))
            }
            Self::Many(sketch) => p.map(|p| sketch.quantile(p)),
        }
    }

    /// The greatest value, exactly.
    pub(super) fn greatest(&self) -> Option<u64> {
        match self {
            Self::Few(values) => values.iter().copied().max(),
            Self::Many(sketch) => sketch.greatest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact_and_many_within_the_sketchs_error() {
        let mut delays = Delays::default();
        assert_eq!((delays.mean(), delays.quantiles([0.5]), delays.greatest()), (None, [None], None));
        for value in (1..=32).rev() {
            delays.add(value * 1001);
        }
        assert_eq!(delays.quantiles([0.0, 0.5, 0.95, 1.0]), [1, 16, 31, 32].map(|n| Some(n * 1001)));
        assert_eq!(delays.mean(), Some(16.5 * 1001.0));
        for value in 33..=1000 {
            delays.add(value * 1001);
        }
        assert!(matches!(delays, Delays::Many(_)));
        assert_eq!((delays.mean(), delays.greatest()), (Some(500.5 * 1001.0), Some(1_001_000)));
        let median = delays.quantiles([0.5])[0].unwrap() as f64;
        assert!((median / 500_500.0 - 1.0).abs() < 0.008, "{median}");
    }
}
