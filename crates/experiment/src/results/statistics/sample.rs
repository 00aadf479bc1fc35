//! The values that a statistic is of: which of them count, and which cannot be.

use std::fmt;

use super::Scale;

/// Why a statistic is refused. Positions count from 0, in the values as they were given.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// A value is infinite, or so large that its square is.
    TooLarge {
        /// The list that it stands in, as a caller names it.
        list: &'static str,
        /// Its position.
        at: usize,
        /// The value.
        value: f64,
    },
    /// A value that the scale has no place for.
    OffScale {
        /// The list that it stands in.
        list: &'static str,
        /// Its position.
        at: usize,
        /// The value.
        value: f64,
        /// The scale.
        scale: Scale,
    },
    /// Pairs go by position, and one of the two lists is longer.
    NotPairs {
        /// The lengths of the two lists.
        lengths: [usize; 2],
    },
    /// Fewer values than batches.
    TooFewForBatches {
        /// The values that count.
        values: usize,
        /// The batches asked for.
        batches: usize,
    },
    /// One batch has no spread.
    OneBatch,
    /// A half-width to reach that is not above 0.
    NoTarget {
        /// The value given.
        target: f64,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { list, at, value } => {
                write!(f, "{list}[{at}]: {value:e} is too large to average; the largest is {LARGEST:e}")
            }
            Self::OffScale { list, at, value, scale } => {
                let range = if *scale == Scale::Logit { "in [0, 1]" } else { "at least 0" };
                write!(f, "{list}[{at}]: {value} cannot be on the scale {scale}, whose values are {range}; ")?;
                write!(f, "use the scale plain")
            }
            Self::NotPairs { lengths: [a, b] } => {
                write!(f, "a has {a} values and b has {b}; pairs go by position, so give as many of each")
            }
            Self::TooFewForBatches { values, batches } => {
                write!(f, "{values} values cannot make {batches} batches; ask for fewer batches or run longer")
            }
            Self::OneBatch => write!(f, "one batch has no interval; ask for at least 2 batches, usually 20"),
            Self::NoTarget { target } => {
                write!(f, "a half-width of {target} of the mean is never reached; write one above 0, as 0.01")
            }
        }
    }
}

impl std::error::Error for Wrong {}

/// Past this a square may be infinite.
const LARGEST: f64 = 1e150;
/// By how much a ratio may leave [0, 1], or a delay be below 0, and be taken for the end: a ratio
/// of two sums is exact to some 10⁻¹⁵.
const ROUNDING: f64 = 1e-12;

/// The values of a list that are numbers, each as the scale has it, and how many were left out.
pub(super) fn counted(list: &'static str, values: &[f64], scale: Scale) -> Result<(Vec<f64>, usize), Wrong> {
    let mut found = Vec::with_capacity(values.len());
    for (at, &value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
        found.push(on_scale(list, at, value, scale)?);
    }
    let left_out = values.len() - found.len();
    Ok((found, left_out))
}

fn on_scale(list: &'static str, at: usize, value: f64, scale: Scale) -> Result<f64, Wrong> {
    if value.abs() > LARGEST {
        return Err(Wrong::TooLarge { list, at, value });
    }
    let ends = match scale {
        Scale::Plain => return Ok(value),
        Scale::Log => [0.0, LARGEST],
        Scale::Logit => [0.0, 1.0],
    };
    if value < ends[0] - ROUNDING || value > ends[1] + ROUNDING {
        return Err(Wrong::OffScale { list, at, value, scale });
    }
    Ok(value.clamp(ends[0], ends[1]))
}

/// Mean and spread of the values that count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) count: usize,
    pub(super) mean: f64,
    /// The standard deviation, with n - 1; 0 of values that are all equal, however they round.
    pub(super) deviation: f64,
}

impl Moments {
    /// `None` without values.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        let n = values.len() as f64;
        if values.iter().all(|value| *value == first) {
            return Some(Self { count: values.len(), mean: first, deviation: 0.0 });
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        Some(Self { count: values.len(), mean, deviation: (squares / (n - 1.0)).sqrt() })
    }
}
