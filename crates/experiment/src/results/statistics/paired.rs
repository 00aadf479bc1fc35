//! Whether two settings differ, from runs with the same seeds.
//!
//! Source: common random numbers and the paired-t interval (Law and Kelton, "Simulation Modeling
//! and Analysis", 3rd ed., 10.2.1 and 11.2): runs that share a seed share their arrivals, so that
//! the spread of a - b is that of what the settings change.

use super::Scale;
use super::sample::{Moments, Wrong, counted};
use super::student::{NORMAL_975, student_t_975};

/// A difference of two means, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The mean of a - b; `None` if no pair counts.
    pub difference: Option<f64>,
    /// The lower and the upper end of its 95 % interval; `None` of fewer than two pairs.
    pub ends: Option<[f64; 2]>,
    /// Whether 0 is outside of the interval.
    pub decided: bool,
    /// How many more seeds would decide it, if difference and spread stay what they are; 0 if it is
    /// decided, `None` if there is no difference, no interval, or more than 10⁹ would be needed.
    pub more_seeds: Option<u64>,
    /// The pairs that count.
    pub count: usize,
    /// The pairs of which a value is NaN.
    pub left_out: usize,
}

/// The 95 % interval of the mean of a - b, in pairs by position, on the scale of a difference.
///
/// A difference of delays is any number: on the scales plain and log the interval is Student's of
/// the pairs' differences. A difference of ratios lies in (-1, 1): on the scale logit g is the
/// inverse hyperbolic tangent, g' = 1/(1 - d²), which is the logit of (1 + d)/2, halved.
///
/// # Errors
///
/// Lists of different lengths, and values that `interval` refuses.
pub fn paired(a: &[f64], b: &[f64], scale: Scale) -> Result<Paired, Wrong> {
    if a.len() != b.len() {
        return Err(Wrong::NotPairs { lengths: [a.len(), b.len()] });
    }
    let missing_if = |own: f64, other: f64| if other.is_nan() { f64::NAN } else { own };
    let side = |own: &[f64], other: &[f64]| -> Vec<f64> {
        own.iter().zip(other).map(|(own, other)| missing_if(*own, *other)).collect()
    };
    let (first, left_out) = counted("a", &side(a, b), scale)?;
    let (second, _) = counted("b", &side(b, a), scale)?;
    let differences: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a - b).collect();
    let found = Moments::of(&differences);
    let difference = found.map(|moments| moments.mean);
    let count = differences.len();
    let unknown = Paired { difference, ends: None, decided: false, more_seeds: None, count, left_out };
    Ok(match found {
        Some(moments) if count > 1 => {
            let ends = ends(moments, scale);
            let decided = ends[0] > 0.0 || ends[1] < 0.0;
            let more_seeds = if decided { Some(0) } else { more_seeds(moments, scale) };
            Paired { ends: Some(ends), decided, more_seeds, ..unknown }
        }
        _ => unknown,
    })
}

fn ends(Moments { count, mean, deviation }: Moments, scale: Scale) -> [f64; 2] {
    if deviation == 0.0 {
        return [mean, mean];
    }
    let half = student_t_975(count as u32 - 1) * deviation / (count as f64).sqrt();
    if scale != Scale::Logit {
        return [mean - half, mean + half];
    }
    // tanh(atanh(d) ± h), by the addition theorem.
    let step = libm::tanh(half / (1.0 - mean * mean));
    [(mean - step) / (1.0 - mean * step), (mean + step) / (1.0 + mean * step)]
}

/// The pairs beyond those given with which the interval would no longer hold 0.
fn more_seeds(Moments { count, mean, deviation }: Moments, scale: Scale) -> Option<u64> {
    let (distance, spread) = match scale {
        Scale::Logit => (libm::atanh(mean.abs()), deviation / (1.0 - mean * mean)),
        Scale::Plain | Scale::Log => (mean.abs(), deviation),
    };
    Some(needed(spread, distance)?.saturating_sub(count as u64).max(1))
}

/// The least number of values of this spread whose half-width is below `half`; `None` above `MOST`.
pub(super) fn needed(spread: f64, half: f64) -> Option<u64> {
    // Student's quantile is above that of the normal distribution, by which fewer would do.
    let by_normal = NORMAL_975 * spread / half;
    let fewest = by_normal * by_normal;
    if fewest.is_nan() || fewest > MOST {
        return None;
    }
    let mut n = (fewest as u32).max(2);
    while student_t_975(n - 1) * spread / f64::from(n).sqrt() >= half {
        n += 1;
    }
    Some(u64::from(n))
}

/// More values than this are never run.
const MOST: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: [f64; 8] = [3.0, -1.0, 4.0, -1.5, 9.0, -2.6, 5.0, -3.5];

    fn shifted(by: &[f64]) -> Vec<f64> {
        NOISE.iter().zip(by).map(|(noise, by)| 20.0 + noise + by).collect()
    }

    #[test]
    fn pairs_decide_what_two_groups_do_not() {
        let a = shifted(&[1.1, 0.9, 1.0, 1.2, 0.8, 1.0, 1.1, 0.9]);
        let b = shifted(&[0.0; 8]);
        let found = paired(&a, &b, Scale::Log).unwrap();
        assert!(found.decided && found.more_seeds == Some(0), "{found:?}");
        assert!((found.difference.unwrap() - 1.0).abs() < 1e-12);
        // The intervals of the two means, beside each other, are twenty times as wide.
        let width = |values: &[f64]| super::super::interval(values, Scale::Log).unwrap().ends.map(|e| e[1] - e[0]);
        let [low, high] = found.ends.unwrap();
        assert!((high - low) * 20.0 < width(&a).unwrap(), "{found:?} {:?}", width(&a));
    }

    #[test]
    fn the_seeds_that_are_missing_decide_and_one_fewer_do_not() {
        let pair = |n: usize| -> Paired {
            let a: Vec<f64> = (0..n).map(|at| if at % 2 == 0 { 1.3 } else { -0.7 }).collect();
            paired(&a, &vec![0.0; n], Scale::Plain).unwrap()
        };
        let few = pair(10);
        assert!(!few.decided);
        let needed = 10 + few.more_seeds.unwrap() as usize;
        // With the same mean and nearly the same s; an even number keeps the mean.
        assert!((40..60).contains(&needed), "{few:?}");
        assert!(pair(needed.next_multiple_of(2) + 2).decided);
        assert!(!pair(needed / 2 * 2 - 4).decided);
    }

    #[test]
    fn a_difference_of_ratios_stays_within_one() {
        let a = [1.0, 1.0, 0.99, 1.0];
        let b = [0.0, 0.1, 0.0, 0.0];
        let [low, high] = paired(&a, &b, Scale::Logit).unwrap().ends.unwrap();
        assert!(low > 0.6 && high < 1.0, "{low} {high}");
        let [_, plain] = paired(&a, &b, Scale::Plain).unwrap().ends.unwrap();
        assert!(plain > 1.0, "{plain}");
    }

    #[test]
    fn without_difference_or_spread_no_number_of_seeds_is_said() {
        let same = [0.2, 0.3, 0.4];
        let none = paired(&same, &same, Scale::Logit).unwrap();
        assert_eq!((none.ends, none.decided, none.more_seeds), (Some([0.0, 0.0]), false, None));
        let constant = paired(&[2.0; 3], &[1.0; 3], Scale::Log).unwrap();
        assert_eq!((constant.ends, constant.decided, constant.more_seeds), (Some([1.0, 1.0]), true, Some(0)));
        let single = paired(&[2.0, f64::NAN], &[1.0, 1.0], Scale::Plain).unwrap();
        assert_eq!((single.difference, single.ends, single.count, single.left_out), (Some(1.0), None, 1, 1));
        assert_eq!((single.decided, single.more_seeds), (false, None));
        let tiny = paired(&[1.0, -1.0 + 1e-9], &[0.0, 0.0], Scale::Plain).unwrap();
        assert_eq!(tiny.more_seeds, None, "{tiny:?}");
    }

    #[test]
    fn lists_of_different_lengths_and_impossible_values_are_refused() {
        let refused = paired(&[1.0], &[1.0, 2.0], Scale::Plain).unwrap_err().to_string();
        assert_eq!(refused, "a has 1 values and b has 2; pairs go by position, so give as many of each");
        let refused = paired(&[1.0], &[-1.0], Scale::Log).unwrap_err().to_string();
        assert!(refused.starts_with("b[0]: -1 cannot be on the scale log"), "{refused}");
    }
}
