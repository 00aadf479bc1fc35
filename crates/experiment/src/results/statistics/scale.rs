//! A 95 % interval of a mean on a scale where the impossible cannot occur.
//!
//! Source: the delta method (Casella and Berger, "Statistical Inference", 2nd ed., 5.5.4): for a
//! smooth g, g(x̄) is near normal with standard error |g'(x̄)| s/√n. The interval is g(x̄) ± t s/√n
//! |g'(x̄)|, transformed back; t is Student's with n - 1 degrees of freedom. No end is clamped: a
//! ratio stays in (0, 1) and a delay above 0 because the scale has no other places.

pub use crate::columns::Scale;

use std::fmt;
use std::str::FromStr;

use super::sample::{Moments, Wrong, counted};
use super::student::student_t_975;

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Log => "log",
            Self::Logit => "logit",
        })
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "plain" => Ok(Self::Plain),
            "log" => Ok(Self::Log),
            "logit" => Ok(Self::Logit),
            _ => Err(format!("scale: {text:?} is no scale; write plain, log (delays, rates) or logit (ratios)")),
        }
    }
}

/// A mean with its interval, and of how many values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The arithmetic mean; `None` if no value counts.
    pub mean: Option<f64>,
    /// The lower and the upper end; `None` of fewer than two values.
    pub ends: Option<[f64; 2]>,
    /// The values that count.
    pub count: usize,
    /// The values that are NaN.
    pub left_out: usize,
}

/// The 95 % interval of the arithmetic mean of `values` on a scale. NaN is left out and counted.
///
/// One value has no interval. Values that are all equal, also all 0 and all 1, have an interval of
/// no width: the sample shows no spread. It does not show that there is none: after n runs without
/// an event, a run has one with a probability of up to 3/n (the rule of three). A mean of exactly 0
/// or 1 on its scale occurs in no other way.
///
/// # Errors
///
/// Infinite values, values below 0 on the scales log and logit, above 1 on logit.
pub fn interval(values: &[f64], scale: Scale) -> Result<Estimate, Wrong> {
    let (values, left_out) = counted("values", values, scale)?;
    let found = Moments::of(&values);
    let ends = found.filter(|moments| moments.count > 1).map(|moments| ends(&values, moments, scale));
    Ok(Estimate { mean: found.map(|moments| moments.mean), ends, count: values.len(), left_out })
}

fn ends(values: &[f64], moments: Moments, scale: Scale) -> [f64; 2] {
    let Moments { count, mean, deviation } = moments;
    if deviation == 0.0 {
        return [mean, mean];
    }
    let half = student_t_975(count as u32 - 1) * deviation / (count as f64).sqrt();
    let ends = match scale {
        Scale::Plain => [mean - half, mean + half],
        // g' = 1/x.
        Scale::Log => [-half / mean, half / mean].map(|step| mean * libm::exp(step)),
        // g' = 1/(x (1 - x)). The mean of 1 - x is summed and not subtracted, for means near 1.
        Scale::Logit => {
            let rest = values.iter().map(|value| 1.0 - value).sum::<f64>() / count as f64;
            let step = half / (mean * rest);
            [mean / (mean + rest * libm::exp(step)), mean / (mean + rest * libm::exp(-step))]
        }
    };
    // The ends of a very narrow interval may round past the mean.
    [ends[0].min(mean), ends[1].max(mean)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], scale: Scale) -> Estimate {
        interval(values, scale).unwrap()
    }

    #[test]
    fn the_plain_scale_is_students_interval() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let known = super::super::confidence(&values).unwrap();
        assert_eq!(of(&values, Scale::Plain).ends, Some([known.low, known.high]));
    }

    #[test]
    fn the_ends_are_those_of_the_formula() {
        // Mean 0.2, s = 0.1, t = 4.30265: half = 0.248414, on the log scale 1.242068, on logit
        // 1.552585.
        let values = [0.1, 0.2, 0.3];
        let near = |found: Estimate, low: f64, high: f64| {
            let [a, b] = found.ends.unwrap();
            assert!((a - low).abs() < 1e-5 && (b - high).abs() < 1e-5, "{found:?}, not {low} to {high}");
        };
        near(of(&values, Scale::Log), 0.2 * 0.288_786, 0.2 * 3.462_767);
        near(of(&values, Scale::Logit), 1.0 / (1.0 + 4.0 * 4.723_666), 1.0 / (1.0 + 4.0 / 4.723_666));
    }

    #[test]
    fn values_without_spread_have_an_interval_without_width() {
        for (value, scale) in [(0.0, Scale::Log), (0.0, Scale::Logit), (1.0, Scale::Logit), (0.1, Scale::Plain)] {
            assert_eq!(of(&[value; 10], scale).ends, Some([value, value]), "{value} {scale}");
        }
    }

    #[test]
    fn a_single_value_has_no_interval_and_no_value_no_mean() {
        let one = Estimate { mean: Some(0.3), ends: None, count: 1, left_out: 2 };
        assert_eq!(of(&[f64::NAN, 0.3, f64::NAN], Scale::Logit), one);
        assert_eq!(of(&[f64::NAN], Scale::Log), Estimate { mean: None, ends: None, count: 0, left_out: 1 });
        assert_eq!(of(&[], Scale::Plain), Estimate { mean: None, ends: None, count: 0, left_out: 0 });
    }

    #[test]
    fn a_mean_that_rounds_to_one_has_possible_ends() {
        let just_below = 1.0 - f64::EPSILON / 2.0;
        let [low, high] = of(&[1.0, just_below, 1.0], Scale::Logit).ends.unwrap();
        assert!(low < 1.0 && low > 0.0 && high == 1.0, "{low} {high}");
        let [low, high] = of(&[0.0, 1.0], Scale::Logit).ends.unwrap();
        assert!(0.0 < low && low < 1e-9 && high < 1.0, "{low} {high}");
    }

    #[test]
    fn rounding_is_forgiven_and_the_impossible_is_not() {
        assert_eq!(of(&[1.0 + 4e-16, 1.0], Scale::Logit).ends, Some([1.0, 1.0]));
        let refused = |values: &[f64], scale| interval(values, scale).unwrap_err().to_string();
        assert_eq!(
            refused(&[0.5, 1.01], Scale::Logit),
            "values[1]: 1.01 cannot be on the scale logit, whose values are in [0, 1]; use the scale plain"
        );
        assert_eq!(
            refused(&[f64::NAN, -2.0], Scale::Log),
            "values[1]: -2 cannot be on the scale log, whose values are at least 0; use the scale plain"
        );
        assert!(refused(&[f64::INFINITY], Scale::Plain).starts_with("values[0]: inf is too large"));
    }

    #[test]
    fn the_ends_are_the_same_bytes_on_every_machine() {
        let values = [0.031, 0.044, 0.012, 0.027, 0.051];
        let bits = |scale| of(&values, scale).ends.unwrap().map(f64::to_bits);
        assert_eq!(bits(Scale::Log), [4_581_022_913_327_341_518, 4_588_591_288_329_690_183]);
        assert_eq!(bits(Scale::Logit), [4_580_997_845_462_798_487, 4_588_534_436_541_711_651]);
    }
}
