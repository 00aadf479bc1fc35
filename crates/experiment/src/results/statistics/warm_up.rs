//! Where the warm-up of one run ends.
//!
//! Source: MSER-5 (White, Cobb and Spratt, "A Comparison of Five Steady-State Truncation Heuristics
//! for Simulation", WSC 2000; White, Simulation 69(6), 1997): of the means of five values each,
//! leave out the first d for which the squared standard error of what remains is least.
//! Chosen: as in Hoad, Robinson and Davies, "Automating Warm-up Length Estimation", JORS 61(9),
//! 2010, a least value in the second half is no answer, and the last five means are no place to cut
//! at.

use super::Scale;
use super::sample::{Moments, Wrong, counted};

/// The warm-up of a run: the point at which it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// The position of the first value to keep; `None` if the run is too short to say.
    pub cut: Option<usize>,
    /// The values that count.
    pub count: usize,
    /// The values that are NaN.
    pub left_out: usize,
}

/// Where the warm-up of a series ends, by MSER-5. NaN is left out, and positions are those of the
/// series with it.
///
/// `None`: the series is still moving in its second half, or has fewer than fifty values.
///
/// # Errors
///
/// Infinite values.
pub fn warm_up(values: &[f64]) -> Result<WarmUp, Wrong> {
    let (kept, left_out) = counted("values", values, Scale::Plain)?;
    let means: Vec<f64> = kept.chunks_exact(BATCH).filter_map(Moments::of).map(|batch| batch.mean).collect();
    let cut = least_error(&means).map(|batch| batch * BATCH);
    let places = || values.iter().enumerate().filter(|(_, value)| !value.is_nan()).map(|(at, _)| at);
    let cut = cut.map(|cut| if cut == 0 { 0 } else { places().nth(cut).unwrap_or(0) });
    Ok(WarmUp { cut, count: kept.len(), left_out })
}

/// The number of means to leave out at the start.
fn least_error(means: &[f64]) -> Option<usize> {
    if means.len() < FEWEST {
        return None;
    }
    // From the end backwards: the mean and the sum of squares of what remains (Welford 1962).
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut errors = vec![f64::INFINITY; means.len()];
    for (at, &value) in means.iter().enumerate().rev() {
        let count = (means.len() - at) as f64;
        let step = value - mean;
        mean += step / count;
        squares += step * (value - mean);
        errors[at] = squares / (count * count);
    }
    let places = &errors[..means.len() - LAST];
    let least = places.iter().copied().fold(f64::INFINITY, f64::min);
    let cut = places.iter().position(|error| *error == least)?;
    (cut <= means.len() / 2).then_some(cut)
}

/// Values in a mean: the 5 of MSER-5.
const BATCH: usize = 5;
/// The last means, of which so few have a small error by chance.
const LAST: usize = 5;
/// With fewer means, half of them are within the last.
const FEWEST: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(values: &[f64]) -> Option<usize> {
        warm_up(values).unwrap().cut
    }

    #[test]
    fn a_step_is_cut_where_it_ends() {
        let step: Vec<f64> = (0..400).map(|at| f64::from(at % 3) + if at < 60 { 10.0 } else { 0.0 }).collect();
        assert_eq!(cut(&step), Some(60));
        // Positions are those of the series as it was given.
        let with_holes: Vec<f64> = [f64::NAN; 7].into_iter().chain(step).collect();
        assert_eq!(cut(&with_holes), Some(67));
    }

    #[test]
    fn a_constant_series_keeps_all() {
        assert_eq!(cut(&[0.1; 100]), Some(0));
    }

    #[test]
    fn a_series_that_still_moves_or_is_short_has_no_answer() {
        let drift: Vec<f64> = (0..400).map(|at| f64::from(at * at)).collect();
        assert_eq!(cut(&drift), None);
        assert_eq!(cut(&[1.0; 49]), None);
    }
}
