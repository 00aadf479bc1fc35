//! When to stop running further seeds.
//!
//! Source: the sequential procedure for a relative error (Law and Kelton, "Simulation Modeling and
//! Analysis", 3rd ed., 9.4.1; Chow and Robbins, Annals of Mathematical Statistics 36(2), 1965): go
//! on until the half-width is below a share of the mean, and not before some runs have shown their
//! spread.
//! Departs: the half-width is compared with the share itself, as it was written. For the true mean
//! to lie within a share γ of the mean found, write γ/(1 + γ).

use super::paired::needed;
use super::sample::{Moments, Wrong, counted};
use super::{Scale, interval};

/// How precise a mean is, and whether that is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half the width of the 95 % interval over the size of the mean; `None` without an interval,
    /// or of a mean of 0 with a spread.
    pub relative: Option<f64>,
    /// Whether it is at most the target, after the least number of values.
    pub is_reached: bool,
    /// How many more values would reach it at this spread; `None` if that cannot be said, or more
    /// than 10⁹.
    pub more: Option<u64>,
    /// The values that count.
    pub count: usize,
    /// The values that are NaN.
    pub left_out: usize,
}

/// The usual least number of values: with fewer, a spread that is small by chance stops too early.
pub const LEAST: usize = 10;

/// Whether the half-width of the interval is at most `target` times the mean, of at least `least`
/// values. NaN is left out and counted.
///
/// # Errors
///
/// A target that is not above 0, and values that `interval` refuses.
pub fn precision(values: &[f64], target: f64, least: usize, scale: Scale) -> Result<Precision, Wrong> {
    if target.is_nan() || target <= 0.0 {
        return Err(Wrong::NoTarget { target });
    }
    let estimate = interval(values, scale)?;
    let (values, left_out) = counted("values", values, scale)?;
    let half = estimate.ends.map(|[low, high]| (high - low) / 2.0);
    let size = estimate.mean.map(f64::abs);
    let relative = match half.zip(size) {
        Some((0.0, _)) => Some(0.0),
        Some((half, size)) if size > 0.0 => Some(half / size),
        _ => None,
    };
    let is_narrow = relative.is_some_and(|relative| relative <= target);
    let count = values.len();
    let too_few = least.saturating_sub(count) as u64;
    let more = if is_narrow {
        Some(too_few)
    } else {
        let spread = Moments::of(&values).map_or(0.0, |moments| moments.deviation);
        let wanted = size.filter(|_| half.is_some()).and_then(|size| needed(spread, target * size));
        wanted.map(|wanted| wanted.saturating_sub(count as u64).max(too_few).max(1))
    };
    Ok(Precision { relative, is_reached: more == Some(0), more, count, left_out })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], target: f64) -> Precision {
        precision(values, target, LEAST, Scale::Plain).unwrap()
    }

    #[test]
    fn a_spread_that_is_small_after_few_values_does_not_stop_yet() {
        let few = of(&[100.0, 100.1, 99.9], 0.01);
        assert!(few.relative.unwrap() < 0.01 && !few.is_reached && few.more == Some(7), "{few:?}");
        assert!(of(&[100.0, 100.1, 99.9, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0], 0.01).is_reached);
    }

    #[test]
    fn the_values_that_are_missing_reach_the_target() {
        let series = |n: usize| -> Vec<f64> { (0..n).map(|at| if at % 2 == 0 { 9.0 } else { 11.0 }).collect() };
        // The spread of the first twenty is 2 % above that of many.
        let first = of(&series(20), 0.02);
        let more = first.more.unwrap() as usize;
        assert!(!first.is_reached && (70..90).contains(&more), "{first:?}");
        assert!(of(&series((20 + more).next_multiple_of(2) + 2), 0.02).is_reached);
        assert!(!of(&series((20 + more) / 2 * 2 - 10), 0.02).is_reached);
    }

    #[test]
    fn a_mean_of_zero_is_reached_without_spread_alone() {
        assert!(of(&[0.0; 10], 0.01).is_reached);
        let around = of(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0], 0.01);
        assert_eq!((around.relative, around.is_reached, around.more), (None, false, None));
        let single = of(&[1.0], 0.01);
        assert_eq!((single.relative, single.is_reached, single.more), (None, false, None));
    }

    #[test]
    fn a_target_of_zero_is_refused() {
        let refused = precision(&[1.0], 0.0, LEAST, Scale::Plain).unwrap_err().to_string();
        assert_eq!(refused, "a half-width of 0 of the mean is never reached; write one above 0, as 0.01");
    }
}
