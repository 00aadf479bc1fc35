//! Means over replications, with their confidence interval and with the prediction interval of one
//! further run.
//!
//! Student's t at 97.5 %: the exact quantile, from the incomplete beta function by its continued
//! fraction (Numerical Recipes 6.4) and bisection; only `+ - * /`, `sqrt` and pinned functions are
//! used, so that the intervals are the same bytes on every machine.

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
    interval(values, |n| 1.0 / n)
}

/// The 95 % prediction interval of one further value.
#[must_use]
pub fn prediction(values: &[f64]) -> Option<Interval> {
    interval(values, |n| 1.0 + 1.0 / n)
}

fn interval(values: &[f64], scale: impl Fn(f64) -> f64) -> Option<Interval> {
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

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom.
#[must_use]
pub fn student_t_975(freedom: u32) -> f64 {
    let freedom = f64::from(freedom);
    // P(|T| > t) = I_{v/(v+t²)}(v/2, 1/2), decreasing in t.
    let tail = |t: f64| incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    let (mut low, mut high) = (1.0, 20.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if tail(middle) > 0.05 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    let front =
        libm::exp(libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x));
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, 1.0 - x) / b
    }
}

/// Lentz's evaluation of the continued fraction of the incomplete beta function.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..500 {
        let m = f64::from(m);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            h *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_has_its_printed_values() {
        for (freedom, printed) in
            [(1, 12.7062), (2, 4.30265), (4, 2.77645), (9, 2.26216), (19, 2.09302), (120, 1.97993)]
        {
            assert!((student_t_975(freedom) - printed).abs() < 1e-4, "{freedom}: {}", student_t_975(freedom));
        }
    }

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
