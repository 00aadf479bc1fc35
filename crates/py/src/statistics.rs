//! Statistics of results: lists in, tuples out; `python/fairq/statistics.py` names their places.

use fairq_experiment::results::statistics::{self, Estimate, Interval, Scale, Wrong};
use pyo3::prelude::*;

use crate::errors::UsageError;

/// Mean, lower end, upper end, values that count, values left out.
type Told = (Option<f64>, Option<f64>, Option<f64>, usize, usize);

fn scale_of(text: &str) -> PyResult<Scale> {
    text.parse().map_err(UsageError::new_err)
}

#[allow(clippy::needless_pass_by_value, reason = "as map_err gives it")]
fn refused(wrong: Wrong) -> PyErr {
    UsageError::new_err(wrong.to_string())
}

fn told(Estimate { mean, ends, count, left_out }: Estimate) -> Told {
    (mean, ends.map(|ends| ends[0]), ends.map(|ends| ends[1]), count, left_out)
}

/// The mean of the values and its 95 % interval on a scale, or on that of a ratio that they are in
/// proportion to.
#[pyfunction]
#[pyo3(signature = (values, scale, ratio = Vec::new()))]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn interval(values: Vec<f64>, scale: &str, ratio: Vec<f64>) -> PyResult<Told> {
    statistics::interval_of_ratio(&values, scale_of(scale)?, &ratio).map(told).map_err(refused)
}

/// The difference of two means in pairs: difference, lower end, upper end, whether it is decided,
/// the seeds that are missing, pairs that count, pairs left out.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
#[allow(clippy::type_complexity, reason = "the tuple is described above")]
pub(crate) fn paired(
    a: Vec<f64>,
    b: Vec<f64>,
    scale: &str,
) -> PyResult<(Option<f64>, Option<f64>, Option<f64>, bool, Option<u64>, usize, usize)> {
    let found = statistics::paired(&a, &b, scale_of(scale)?).map_err(refused)?;
    let [low, high] = [0, 1].map(|end| found.ends.map(|ends| ends[end]));
    Ok((found.difference, low, high, found.decided, found.more_seeds, found.count, found.left_out))
}

/// The mean of one run by the means of its batches, then: values in a batch, the correlation of
/// neighbouring batches, whether it is too high.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn batch_means(values: Vec<f64>, batches: usize, scale: &str) -> PyResult<(Told, usize, f64, bool)> {
    let found = statistics::batch_means(&values, batches, scale_of(scale)?).map_err(refused)?;
    Ok((told(found.estimate), found.size, found.correlation, found.is_correlated))
}

/// The first position after the warm-up, values that count, values left out.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn warm_up(values: Vec<f64>) -> PyResult<(Option<usize>, usize, usize)> {
    let found = statistics::warm_up(&values).map_err(refused)?;
    Ok((found.cut, found.count, found.left_out))
}

/// The half-width over the mean, whether it is at most the target, the values that are missing,
/// values that count, values left out.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
#[allow(clippy::type_complexity, reason = "the tuple is described above")]
pub(crate) fn precision(
    values: Vec<f64>,
    target: f64,
    least: usize,
    scale: &str,
) -> PyResult<(Option<f64>, bool, Option<u64>, usize, usize)> {
    let found = statistics::precision(&values, target, least, scale_of(scale)?).map_err(refused)?;
    Ok((found.relative, found.is_reached, found.more, found.count, found.left_out))
}

fn of_interval(found: Option<Interval>) -> (f64, f64, f64) {
    found.map_or((f64::NAN, f64::NAN, f64::NAN), |i| (i.mean, i.low, i.high))
}

/// The mean of the values and the 95 % interval of one further run: (mean, low, high).
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn prediction_interval(values: Vec<f64>) -> (f64, f64, f64) {
    of_interval(statistics::prediction(&values))
}

/// The mean of the values and its 95 % confidence interval: (mean, low, high).
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn confidence_interval(values: Vec<f64>) -> (f64, f64, f64) {
    of_interval(statistics::confidence(&values))
}
