//! Means and their intervals, differences of paired runs, and what one long run says of itself.
//!
//! Everything is a function of the values it is given. Only `+ - * /`, `sqrt` and pinned functions
//! are used, so that the numbers are the same bytes on every machine.

mod batches;
mod paired;
mod precision;
mod proportion;
mod sample;
mod scale;
mod student;
mod warm_up;

pub use batches::{BATCHES, BatchMeans, batch_means};
pub use paired::{Paired, paired};
pub use precision::{LEAST, Precision, precision};
pub use proportion::interval_of_ratio;
pub use sample::Wrong;
pub use scale::{Estimate, Scale, interval};
pub use student::student_t_975;
pub use warm_up::{WarmUp, warm_up};

use serde::Serialize;

/// A mean and an interval around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean of the values.
    pub mean: f64,
    /// The lower end; the mean itself if there is one value.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The 95 % confidence interval of the mean.
#[must_use]
pub fn confidence(values: &[f64]) -> Option<Interval> {
    around_the_mean(values, |n| 1.0 / n)
}

/// The 95 % prediction interval of one further value.
#[must_use]
pub fn prediction(values: &[f64]) -> Option<Interval> {
    around_the_mean(values, |n| 1.0 + 1.0 / n)
}

fn around_the_mean(values: &[f64], scale: impl Fn(f64) -> f64) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() == 1 {
        return Some(Interval { mean, low: mean, high: mean });
    }
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let half = student_t_975(values.len() as u32 - 1) * (variance * scale(n)).sqrt();
    Some(Interval { mean, low: mean - half, high: mean + half })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prediction_interval_is_wider_than_the_confidence_interval() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let (mean, next) = (confidence(&values).unwrap(), prediction(&values).unwrap());
        assert_eq!(mean.mean, 2.5);
        // s = 1.29099, t = 3.18245: half widths 2.0543 and 4.5935.
        assert!((mean.high - 4.5543).abs() < 1e-3 && (next.high - 7.0935).abs() < 1e-3, "{mean:?} {next:?}");
        assert_eq!(prediction(&[7.0]), Some(Interval { mean: 7.0, low: 7.0, high: 7.0 }));
        assert_eq!(prediction(&[]), None);
    }
}
