//! The interval of the mean of one long run, whose values depend on each other.
//!
//! Source: batch means (Law and Kelton, "Simulation Modeling and Analysis", 3rd ed., 9.5.3): the
//! means of long stretches are nearly independent where the values are not. Schmeiser, "Batch Size
//! Effects in the Analysis of Simulation Output", Operations Research 30(3), 1982: between 10 and
//! 30 batches; more gain little and are less independent. Whether they are independent is asked of
//! von Neumann's ratio (Fishman, "Grouping Observations in Digital Simulation", Management Science
//! 24(5), 1978).

use super::sample::{Moments, Wrong, counted};
use super::{Estimate, Scale, interval};

/// What batches of one run say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// The mean of the batches with its interval; `count` is the number of batches.
    pub estimate: Estimate,
    /// Values in a batch.
    pub size: usize,
    /// How much neighbouring batches resemble each other, near 0 if they are independent.
    pub correlation: f64,
    /// Whether independent batches would be so correlated in less than one case of twenty: the
    /// interval is then too narrow, and the run too short.
    pub is_correlated: bool,
}

/// The usual number of batches.
pub const BATCHES: usize = 20;

/// The mean of one run and its 95 % interval, from the means of `batches` stretches of equal
/// length.
///
/// NaN is left out before, and counted. What does not fill a batch is left out at the start.
///
/// # Errors
///
/// Fewer than two batches, fewer values than batches, and values that `interval` refuses.
pub fn batch_means(values: &[f64], batches: usize, scale: Scale) -> Result<BatchMeans, Wrong> {
    let (values, left_out) = counted("values", values, scale)?;
    if batches < 2 {
        return Err(Wrong::OneBatch);
    }
    let size = values.len() / batches;
    if size == 0 {
        return Err(Wrong::TooFewForBatches { values: values.len(), batches });
    }
    let whole = &values[values.len() - size * batches..];
    let means: Vec<f64> = whole.chunks(size).filter_map(Moments::of).map(|batch| batch.mean).collect();
    let correlation = correlation(&means);
    let n = batches as f64;
    let is_correlated = correlation > NORMAL_95 * ((n - 2.0) / (n * n - 1.0)).sqrt();
    let estimate = Estimate { left_out, ..interval(&means, scale)? };
    Ok(BatchMeans { estimate, size, correlation, is_correlated })
}

/// 1 - Σ(y_i - y_{i+1})² / (2 Σ(y_i - ȳ)²): 0 on average if the y are independent, with a variance
/// of (n - 2)/(n² - 1).
fn correlation(means: &[f64]) -> f64 {
    let Some(Moments { deviation, count, .. }) = Moments::of(means) else { return 0.0 };
    if deviation == 0.0 {
        return 0.0;
    }
    let steps: f64 = means.windows(2).map(|pair| (pair[0] - pair[1]) * (pair[0] - pair[1])).sum();
    1.0 - steps / (2.0 * deviation * deviation * (count as f64 - 1.0))
}

/// The 95 % quantile of the standard normal distribution.
const NORMAL_95: f64 = 1.644_853_626_951_472_7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fill_a_batch_is_left_out_at_the_start() {
        let found = batch_means(&[99.0, 1.0, 3.0, f64::NAN, 2.0, 6.0], 2, Scale::Plain).unwrap();
        assert_eq!((found.size, found.estimate.mean, found.estimate.count), (2, Some(3.0), 2));
        assert_eq!(found.estimate.left_out, 1);
    }

    #[test]
    fn batches_that_drift_are_correlated() {
        let drift: Vec<f64> = (0..200).map(f64::from).collect();
        assert!(batch_means(&drift, BATCHES, Scale::Plain).unwrap().is_correlated);
        let alternating: Vec<f64> = (0..200).map(|at| f64::from(at / 10 % 2)).collect();
        let found = batch_means(&alternating, BATCHES, Scale::Plain).unwrap();
        assert!(!found.is_correlated && found.correlation < -0.8, "{found:?}");
    }

    #[test]
    fn too_few_values_or_batches_are_refused() {
        let refused = |values: &[f64], batches| batch_means(values, batches, Scale::Plain).unwrap_err().to_string();
        assert_eq!(refused(&[1.0; 12], 20), "12 values cannot make 20 batches; ask for fewer batches or run longer");
        assert_eq!(refused(&[1.0; 12], 1), "one batch has no interval; ask for at least 2 batches, usually 20");
    }
}
