//! The interval of a quantity that is a ratio in another unit: a goodput and the share of the line
//! are one number, and so have one interval.

use super::sample::Wrong;
use super::scale::{Estimate, Scale, interval};

/// As [`interval`]; values in proportion to `ratio`, pair by pair, have the interval of that ratio
/// on its scale, logit, in their own unit. An empty `ratio`, or one that is in no proportion to
/// them, changes nothing.
///
/// # Errors
///
/// As [`interval`].
pub fn interval_of_ratio(values: &[f64], scale: Scale, ratio: &[f64]) -> Result<Estimate, Wrong> {
    let found = interval(values, scale)?;
    if !are_in_proportion(values, ratio) {
        return Ok(found);
    }
    let of = interval(ratio, Scale::Logit)?;
    let Some((mean, part)) = found.mean.zip(of.mean) else { return Ok(found) };
    // The product of a very narrow interval may round past the mean.
    let ends = of.ends.map(|[low, high]| [(low * mean / part).min(mean), (high * mean / part).max(mean)]);
    Ok(Estimate { ends, ..found })
}

/// Whether each value is the same multiple of its ratio, up to rounding. Ratios of 1 are not taken:
/// a part that would be more than the whole is given as 1.
fn are_in_proportion(values: &[f64], ratio: &[f64]) -> bool {
    const ROUNDING: f64 = 1e-12;
    let pairs = || values.iter().zip(ratio).filter(|(value, part)| !value.is_nan() || !part.is_nan());
    let (sum, whole) = pairs().fold((0.0, 0.0), |(sum, whole), (value, part)| (sum + value, whole + part));
    let is_one = |(value, part): (&f64, &f64)| (value * whole - part * sum).abs() <= ROUNDING * sum * whole;
    values.len() == ratio.len() && whole > 0.0 && pairs().all(|pair| *pair.1 < 1.0 && is_one(pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goodput_has_the_relative_interval_of_its_share() {
        let share = [0.52, 0.6, 0.97];
        let goodput = share.map(|part| part * 10e6);
        let [low, high] = interval(&share, Scale::Logit).unwrap().ends.unwrap();
        let found = interval_of_ratio(&goodput, Scale::Log, &share).unwrap();
        let ends = found.ends.unwrap();
        assert!((ends[0] / 10e6 - low).abs() < 1e-12 && (ends[1] / 10e6 - high).abs() < 1e-12, "{found:?}");
        assert!(ends[1] < 10e6);
    }

    #[test]
    fn values_in_no_proportion_keep_their_own_interval() {
        let values = [4.0, 5.0, 7.0];
        let own = interval(&values, Scale::Log).unwrap();
        for ratio in [&[][..], &[0.4, 0.5, 0.71], &[0.4, 0.5], &[0.0; 3], &[0.4, 0.5, f64::NAN], &[1.0; 3]] {
            assert_eq!(interval_of_ratio(&values, Scale::Log, ratio).unwrap(), own, "{ratio:?}");
        }
        let none = [f64::NAN, 4.0, 5.0];
        let found = interval_of_ratio(&none, Scale::Log, &[f64::NAN, 0.4, 0.5]).unwrap();
        assert_ne!(found.ends, interval(&none, Scale::Log).unwrap().ends, "pairs without values are left out");
    }
}
