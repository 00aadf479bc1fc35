//! Distributions of random quantities: the size of a transfer, a time on or off, a time to think.
//!
//! Source: Pareto by its mean and shape as in ns-2 (least value = mean · (shape − 1) / shape); the
//! table as ns-2's empirical variable.
//! Departs: `mean` stays the mean when `max` cuts the tail: the least value is computed for it.
//! Chosen: every distribution uses one uniform number for a sample (lognormal two), so that all
//! advance a stream alike.

use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Time};

/// The quantity of a distribution: a whole number of units with a text form.
pub trait Quantity: Copy {
    /// The quantity in bytes, or in seconds.
    fn number(self) -> f64;
}

impl Quantity for Bytes {
    fn number(self) -> f64 {
        self.0 as f64
    }
}

impl Quantity for Time {
    fn number(self) -> f64 {
        self.as_s()
    }
}

/// A distribution. A quantity alone, like "10 kB", is that constant.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "DistributionOf{T}", transform = or_text))]
pub enum Distribution<T> {
    /// A constant.
    Constant(Constant<T>),
    /// Exponential.
    Exponential(Exponential<T>),
    /// Pareto: a least value and a tail that falls with the power `shape`.
    Pareto(Pareto<T>),
    /// Lognormal.
    Lognormal(Lognormal<T>),
    /// A distribution function given by its points.
    Table(Table<T>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "ConstantOf{T}"))]
pub struct Constant<T> {
    /// The value.
    pub value: T,
}

/// Exponential.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "ExponentialOf{T}"))]
pub struct Exponential<T> {
    /// The mean.
    pub mean: T,
}

/// Pareto.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields, bound(deserialize = "T: serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", schemars(rename = "ParetoOf{T}"))]
pub struct Pareto<T> {
    /// The mean.
    pub mean: T,
    /// The power of the tail, above 1. Up to 2 the variance is infinite unless `max` is given.
    #[cfg_attr(feature = "schema", serde(default = "usual_shape"))]
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "power")))]
    pub shape: f64,
    /// The greatest value: greater samples are rejected and replaced.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max: Option<T>,
}

/// ns-2's default.
#[cfg(feature = "schema")]
const fn usual_shape() -> f64 {
    1.5
}

/// Lognormal.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "LognormalOf{T}"))]
pub struct Lognormal<T> {
    /// The mean.
    pub mean: T,
    /// The standard deviation of the natural logarithm.
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [1.2], "x-unit" = "of the logarithm")))]
    pub sigma: f64,
}

/// A distribution function given by its points.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "TableOf{T}"))]
pub struct Table<T> {
    /// Values in ascending order, each with the probability that a sample is at most that; the last
    /// probability is 1.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "value and probability, 0 to 1")))]
    pub points: Vec<(T, f64)>,
    /// Whether the function is a straight line from point to point; if not, only the values
    /// themselves occur.
    #[cfg_attr(feature = "schema", serde(default = "yes"))]
    pub interpolated: bool,
}

#[cfg(feature = "schema")]
const fn yes() -> bool {
    true
}

/// The description that the schema gives the text in place of a distribution's table; by it
/// `scenario/expand.rs` of fairq-experiment finds the fields.
pub const TEXT_FORM: &str = "A quantity, or name(setting=value).";

/// A distribution may be written as text.
#[cfg(feature = "schema")]
fn or_text(schema: &mut schemars::Schema) {
    let text = schemars::json_schema!({ "type": "string", "description": TEXT_FORM });
    if let Some(variants) = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut()) {
        variants.push(text.to_value());
    }
}

impl<T: Quantity> Distribution<T> {
    /// The constant `value`.
    #[must_use]
    pub const fn constant(value: T) -> Self {
        Self::Constant(Constant { value })
    }

    /// Exponential with this mean.
    #[must_use]
    pub const fn exponential(mean: T) -> Self {
        Self::Exponential(Exponential { mean })
    }

    /// Pareto with this mean and shape.
    #[must_use]
    pub const fn pareto(mean: T, shape: f64) -> Self {
        Self::Pareto(Pareto { mean, shape, max: None })
    }

    /// The mean, in bytes or seconds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(distribution) => distribution.value.number(),
            Self::Exponential(distribution) => distribution.mean.number(),
            Self::Pareto(distribution) => distribution.mean.number(),
            Self::Lognormal(distribution) => distribution.mean.number(),
            Self::Table(distribution) => pieces(&distribution.points, distribution.interpolated)
                .map(|piece| piece.mass * 0.5 * (piece.low + piece.high))
                .sum(),
        }
    }

    /// Why the distribution makes no sense; `None` if it does.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Pareto(distribution) if !(distribution.shape > 1.0 && distribution.shape <= 1000.0) => {
                Some("the shape of a pareto distribution is above 1 (or its mean would be infinite) and at most 1000")
            }
            Self::Pareto(distribution)
                if distribution.max.is_some_and(|max| max.number() <= distribution.mean.number()) =>
            {
                Some("the max of a pareto distribution is above its mean")
            }
            Self::Lognormal(distribution) if !(distribution.sigma >= 0.0 && distribution.sigma <= 10.0) => {
                Some("the sigma of a lognormal distribution is from 0 to 10")
            }
            Self::Table(distribution) => table_fault(&distribution.points),
            _ if self.mean() <= 0.0 => Some("the mean of a distribution is above zero"),
            _ => None,
        }
    }

    /// The sampler of this distribution.
    #[must_use]
    pub fn sampler(&self) -> Sampler {
        match self {
            Self::Constant(distribution) => Sampler::Constant(distribution.value.number()),
            Self::Exponential(distribution) => Sampler::Exponential(distribution.mean.number()),
            Self::Pareto(distribution) => {
                let max = distribution.max.map_or(f64::INFINITY, Quantity::number);
                Sampler::Pareto {
                    least: least(distribution.mean.number(), distribution.shape, max),
                    shape: distribution.shape,
                    max,
                }
            }
            Self::Lognormal(distribution) => {
                let mu = libm::log(distribution.mean.number()) - 0.5 * distribution.sigma * distribution.sigma;
                Sampler::Lognormal { mu, sigma: distribution.sigma }
            }
            Self::Table(distribution) => {
                Sampler::Table(pieces(&distribution.points, distribution.interpolated).collect())
            }
        }
    }
}

fn table_fault<T: Quantity>(points: &[(T, f64)]) -> Option<&'static str> {
    let rises = |pair: &[(T, f64)]| pair[0].0.number() < pair[1].0.number() && pair[0].1 <= pair[1].1;
    let is_whole = points.first().is_some_and(|(_, p)| *p >= 0.0) && points.last().is_some_and(|(_, p)| *p == 1.0);
    if !is_whole || points.len() > 100_000 || !points.windows(2).all(rises) {
        return Some("the points of a table rise, with probabilities from 0 up to 1 for the last");
    }
    let is_zero = pieces(points, false).all(|piece| piece.mass * piece.high == 0.0);
    is_zero.then_some("the mean of a distribution is above zero")
}

/// A part of a table: a probability `mass`, uniform from `low` to `high`.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    low: f64,
    high: f64,
    mass: f64,
}

/// The first point has all its probability at its own value.
fn pieces<T: Quantity>(points: &[(T, f64)], interpolated: bool) -> impl Iterator<Item = Piece> {
    let before = std::iter::once(None).chain(points.iter().map(Some));
    before.zip(points).map(move |(before, (value, p))| {
        let high = value.number();
        let low = before.filter(|_| interpolated).map_or(high, |(value, _)| value.number());
        Piece { low, high, mass: p - before.map_or(0.0, |(_, p)| *p) }
    })
}

/// The least value of a Pareto distribution with this mean that is cut at `max`.
fn least(mean: f64, shape: f64, max: f64) -> f64 {
    if max == f64::INFINITY {
        return mean * (shape - 1.0) / shape;
    }
    // E = s/(s-1) · m · (1 - (m/M)^(s-1)) / (1 - (m/M)^s) rises with m from 0, and is above m.
    let mean_of = |least: f64| {
        let ratio = least / max;
        shape / (shape - 1.0) * least * (1.0 - libm::pow(ratio, shape - 1.0)) / (1.0 - libm::pow(ratio, shape))
    };
    let (mut low, mut high) = (0.0, mean);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if mean_of(middle) < mean { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// A distribution ready for sampling; numbers in bytes or seconds.
#[derive(Clone, Debug)]
pub enum Sampler {
    /// The value.
    Constant(f64),
    /// The mean.
    Exponential(f64),
    /// A Pareto distribution from `least` to `max`.
    Pareto {
        /// The least value.
        least: f64,
        /// The power of the tail.
        shape: f64,
        /// The greatest value, or infinity.
        max: f64,
    },
    /// Mean and standard deviation of the logarithm.
    Lognormal {
        /// The mean.
        mu: f64,
        /// The standard deviation.
        sigma: f64,
    },
    /// The pieces of a table.
    Table(Vec<Piece>),
}

impl Sampler {
    /// A random value.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Exponential(mean) => stream.exponential(*mean),
            Self::Pareto { least, shape, max } => pareto(*least, *shape, *max, stream.uniform()),
            Self::Lognormal { mu, sigma } => libm::exp(mu + sigma * stream.normal()),
            Self::Table(pieces) => {
                let (piece, within) = pick(pieces, |piece| piece.mass, stream.uniform());
                piece.low + within * (piece.high - piece.low)
            }
        }
    }

    /// The rest of a value after a random point on a line of such values: a point falls into a
    /// value in proportion to its length, and uniformly within it. A source whose first time is
    /// sampled in this way is in its steady state from the start.
    pub fn draw_rest(&self, stream: &mut Stream) -> f64 {
        let length = match self {
            Self::Constant(value) => *value,
            // The exponential distribution has no memory.
            Self::Exponential(mean) => return stream.exponential(*mean),
            // x · x^(-s-1): the same distribution with a power less by one.
            Self::Pareto { least, shape, max } => pareto(*least, shape - 1.0, *max, stream.uniform()),
            Self::Lognormal { mu, sigma } => libm::exp(mu + sigma * sigma + sigma * stream.normal()),
            Self::Table(pieces) => {
                let weight = |piece: &Piece| piece.mass * (piece.low + piece.high);
                let (piece, within) = pick(pieces, weight, stream.uniform());
                let (low, high) = (piece.low * piece.low, piece.high * piece.high);
                (low + within * (high - low)).sqrt()
            }
        };
        length * stream.uniform()
    }

    /// A random number of bytes, at least one.
    pub fn draw_bytes(&self, stream: &mut Stream) -> u64 {
        ((self.draw(stream) + 0.5) as u64).clamp(1, BYTES_MAX)
    }

    /// A random time.
    pub fn draw_time(&self, stream: &mut Stream) -> Time {
        Time::from_s_f64(self.draw(stream))
    }
}

/// The value that a sample exceeds with probability `1 - u`.
fn pareto(least: f64, shape: f64, max: f64, u: f64) -> f64 {
    let tail = libm::pow(least / max, shape);
    (least / libm::pow(1.0 - u * (1.0 - tail), 1.0 / shape)).min(max)
}

/// The piece that contains the quantile `u` by weight, and the position within it.
fn pick(pieces: &[Piece], weight: impl Fn(&Piece) -> f64, u: f64) -> (Piece, f64) {
    let mut left = u * pieces.iter().map(&weight).sum::<f64>();
    for piece in pieces {
        let weight = weight(piece);
        if left < weight {
            return (*piece, left / weight);
        }
        left -= weight;
    }
    // By rounding, the sum of the parts may be less than the whole; a valid table has a piece.
    (pieces.last().copied().unwrap_or(Piece { low: 1.0, high: 1.0, mass: 1.0 }), 1.0)
}

/// The greatest size that the text form of a size allows.
const BYTES_MAX: u64 = 1 << 60;

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    fn table(interpolated: bool) -> Distribution<Bytes> {
        let points = vec![(Bytes(100), 0.25), (Bytes(500), 0.75), (Bytes(2000), 1.0)];
        Distribution::Table(Table { points, interpolated })
    }

    /// Distributions of finite variance, with the variance.
    fn distributions() -> Vec<(Distribution<Bytes>, f64)> {
        let mean = Bytes(1000);
        let lognormal = Lognormal { mean, sigma: 0.5 };
        // Exactly from the pieces: E[x²] of a uniform piece is (a² + ab + b²) / 3.
        let squares = 0.25 * 1e4 + 0.5 * (1e4 + 5e4 + 25e4) / 3.0 + 0.25 * (25e4 + 1e6 + 4e6) / 3.0;
        let even_mean = 25.0 + 150.0 + 0.25 * 1250.0;
        let steps_mean = 25.0 + 250.0 + 500.0;
        vec![
            (Distribution::constant(mean), 0.0),
            (Distribution::exponential(mean), 1e6),
            // (mean/(s-1))² · 1/(s(s-2)) · (s-1)²: m²s/((s-1)²(s-2)) with m = 750, s = 4.
            (Distribution::pareto(mean, 4.0), 750.0 * 750.0 * 4.0 / (9.0 * 2.0)),
            (Distribution::Lognormal(lognormal), 1e6 * (libm::exp(0.25) - 1.0)),
            (table(true), squares - even_mean * even_mean),
            (table(false), 0.25 * 1e4 + 0.5 * 25e4 + 0.25 * 4e6 - steps_mean * steps_mean),
        ]
    }

    /// Mean and variance of many samples.
    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / f64::from(DRAWS);
        (mean, values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(DRAWS - 1))
    }

    #[test]
    fn draws_have_the_mean_and_the_variance_of_their_law() {
        for (at, (distribution, variance)) in distributions().into_iter().enumerate() {
            let mut stream = Stream::new(1, &format!("law {at}"));
            let sampler = distribution.sampler();
            assert_eq!(distribution.fault(), None);
            let (mean, found) = moments(|| sampler.draw(&mut stream));
            let error = (variance / f64::from(DRAWS)).sqrt();
            assert!(
                (mean - distribution.mean()).abs() <= 4.0 * error + 1e-9,
                "{distribution:?}: {mean} ± {error}, not {}",
                distribution.mean()
            );
            // With fourth moments as heavy as Pareto's of shape 4, the sample variance is itself
            // imprecise.
            let within = if matches!(distribution, Distribution::Pareto(_)) { 0.3 } else { 0.03 };
            assert!((found - variance).abs() <= within * variance + 1e-9, "{distribution:?}: {found}, not {variance}");
        }
    }

    /// E[rest] = E[x²] / (2 E[x]), the mean of the inspection paradox.
    #[test]
    fn the_rest_of_a_value_is_that_at_a_random_point() {
        for (at, (distribution, variance)) in distributions().into_iter().enumerate() {
            let mut stream = Stream::new(2, &format!("law {at}"));
            let sampler = distribution.sampler();
            let expected = (variance + distribution.mean() * distribution.mean()) / (2.0 * distribution.mean());
            let (mean, found) = moments(|| sampler.draw_rest(&mut stream));
            let error = (found / f64::from(DRAWS)).sqrt();
            assert!((mean - expected).abs() <= 5.0 * error, "{distribution:?}: {mean} ± {error}, not {expected}");
        }
    }

    #[test]
    fn pareto_has_the_least_value_of_ns_2_and_its_median() {
        let distribution: Distribution<Time> = Distribution::pareto(Time::from_ms(500), 1.5);
        let Sampler::Pareto { least, .. } = distribution.sampler() else { panic!() };
        assert!((least - 1.0 / 6.0).abs() < 1e-12, "{least}");
        // Half of the samples are below m·2^(1/s).
        let median = pareto(least, 1.5, f64::INFINITY, 0.5);
        assert!((median - least * 1.587_401_051_968_199_4).abs() < 1e-12, "{median}");
    }

    #[test]
    fn a_cut_tail_keeps_the_mean_and_the_greatest_value() {
        let cut = Pareto { mean: Bytes(10_000), shape: 1.2, max: Some(Bytes(1_000_000)) };
        let distribution = Distribution::Pareto(cut);
        let sampler = distribution.sampler();
        let mut stream = Stream::new(1, "cut");
        let mut greatest = 0.0f64;
        let (mean, variance) = moments(|| {
            let x = sampler.draw(&mut stream);
            greatest = greatest.max(x);
            x
        });
        let error = (variance / f64::from(DRAWS)).sqrt();
        assert!((mean - 10_000.0).abs() < 4.0 * error, "{mean} ± {error}");
        assert!(greatest > 900_000.0 && greatest <= 1_000_000.0, "{greatest}");
    }

    #[test]
    fn sizes_are_whole_and_at_least_a_byte() {
        let mut stream = Stream::new(1, "small");
        let sampler = Distribution::exponential(Bytes(1)).sampler();
        assert!((0..1000).map(|_| sampler.draw_bytes(&mut stream)).all(|bytes| (1..100).contains(&bytes)));
    }

    #[test]
    fn laws_without_sense_are_refused() {
        let points = |points: &[(u64, f64)]| {
            let points = points.iter().map(|(value, p)| (Bytes(*value), *p)).collect();
            Distribution::Table(Table { points, interpolated: true })
        };
        let mean = Bytes(10);
        for distribution in [
            Distribution::pareto(mean, 1.0),
            Distribution::pareto(mean, f64::NAN),
            Distribution::Pareto(Pareto { mean, shape: 1.5, max: Some(mean) }),
            Distribution::Lognormal(Lognormal { mean, sigma: -1.0 }),
            Distribution::exponential(Bytes(0)),
            points(&[]),
            points(&[(10, 0.5)]),
            points(&[(10, 0.5), (10, 1.0)]),
            points(&[(10, 0.5), (20, 0.4), (30, 1.0)]),
            points(&[(10, f64::NAN), (20, 1.0)]),
            points(&[(0, 1.0)]),
        ] {
            assert!(distribution.fault().is_some(), "{distribution:?}");
        }
    }
}
