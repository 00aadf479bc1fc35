//! Intervals hold the true mean as often as they say, and never the impossible.
//!
//! 2,000 samples of each distribution: the share of intervals that hold the true mean is known to
//! half a percent, so that 92 to 98 % is what 95 % may be of ten skewed values.

use fairq_experiment::results::statistics::{
    BATCHES, LEAST, Scale, batch_means, interval, paired, precision, student_t_975, warm_up,
};
use fairq_sched::random::Random;

const SAMPLES: usize = 2_000;
const IN_A_SAMPLE: usize = 10;

/// A distribution with a known mean.
struct Known {
    name: &'static str,
    scale: Scale,
    mean: f64,
    draw: fn(&mut Random) -> f64,
}

/// The sum of `shape` exponentials of mean 1.
fn gamma(random: &mut Random, shape: u32) -> f64 {
    (0..shape).map(|_| -libm::log(1.0 - random.unit())).sum()
}

fn beta(random: &mut Random, a: u32, b: u32) -> f64 {
    let (a, b) = (gamma(random, a), gamma(random, b));
    a / (a + b)
}

/// Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - random.unit())).sqrt();
    radius * libm::cos(2.0 * std::f64::consts::PI * random.unit())
}

fn known() -> Vec<Known> {
    use Scale::{Log, Logit, Plain};
    vec![
        Known { name: "normal", scale: Plain, mean: 0.0, draw: normal },
        Known { name: "gamma, skew 1", scale: Log, mean: 4.0, draw: |random| gamma(random, 4) },
        Known { name: "gamma, skew 0.5", scale: Log, mean: 16.0, draw: |random| gamma(random, 16) },
        Known {
            name: "lognormal, skew 1.75",
            scale: Log,
            mean: libm::exp(0.125),
            draw: |random| libm::exp(0.5 * normal(random)),
        },
        Known { name: "beta near 0.05", scale: Logit, mean: 0.05, draw: |random| beta(random, 3, 57) },
        Known { name: "beta near 0.5", scale: Logit, mean: 0.5, draw: |random| beta(random, 3, 3) },
        Known { name: "beta near 0.95", scale: Logit, mean: 0.95, draw: |random| beta(random, 57, 3) },
    ]
}

fn samples(of: &Known) -> Vec<Vec<f64>> {
    let mut random = Random::new(1, of.name);
    (0..SAMPLES).map(|_| (0..IN_A_SAMPLE).map(|_| (of.draw)(&mut random)).collect()).collect()
}

fn ends(values: &[f64], scale: Scale) -> [f64; 2] {
    interval(values, scale).unwrap().ends.unwrap()
}

/// The share of intervals that hold the mean.
fn coverage(of: &Known, ends: impl Fn(&[f64]) -> [f64; 2]) -> f64 {
    let held = |values: &Vec<f64>| {
        let [low, high] = ends(values);
        low <= of.mean && of.mean <= high
    };
    samples(of).iter().filter(|values| held(values)).count() as f64 / SAMPLES as f64
}

fn is_possible(scale: Scale, [low, high]: [f64; 2]) -> bool {
    match scale {
        Scale::Plain => low.is_finite() && high.is_finite(),
        Scale::Log => low > 0.0 && high.is_finite(),
        Scale::Logit => low > 0.0 && high < 1.0,
    }
}

#[test]
fn nineteen_of_twenty_intervals_hold_the_mean_and_none_the_impossible() {
    for of in known() {
        let share = coverage(&of, |values| ends(values, of.scale));
        println!("{}: {share}", of.name);
        assert!((0.92..=0.98).contains(&share), "{}: {share}", of.name);
        assert!(samples(&of).iter().all(|values| is_possible(of.scale, ends(values, of.scale))), "{}", of.name);
    }
}

/// What the test above must refuse: two thirds of the width.
#[test]
fn narrower_intervals_would_be_found() {
    for of in known() {
        let narrow = |values: &[f64]| {
            let [low, high] = ends(values, of.scale);
            let (middle, third) = ((low + high) / 2.0, (high - low) / 3.0);
            [middle - third, middle + third]
        };
        let share = coverage(&of, narrow);
        assert!(share < 0.92, "{}: {share}", of.name);
    }
}

/// What the test above must refuse: Student's interval of a small ratio.
#[test]
fn the_plain_interval_of_a_ratio_would_be_found() {
    let rare = Known { name: "rare", scale: Scale::Logit, mean: 0.05, draw: |random| beta(random, 1, 19) };
    let impossible = |scale| samples(&rare).iter().filter(|v| !is_possible(Scale::Logit, ends(v, scale))).count();
    assert_eq!(impossible(Scale::Logit), 0);
    assert!(impossible(Scale::Plain) > 20, "{}", impossible(Scale::Plain));
}

/// The half-width of the difference of two means apart: Welch's, with the most degrees of freedom
/// that it can have.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let half = |values: &[f64]| ends(values, Scale::Plain).map(|end| end / 2.0);
    let ([a_low, a_high], [b_low, b_high]) = (half(a), half(b));
    let own = (a_high - a_low).hypot(b_high - b_low);
    own * student_t_975(2 * IN_A_SAMPLE as u32 - 2) / student_t_975(IN_A_SAMPLE as u32 - 1)
}

#[test]
fn pairs_hold_the_difference_and_are_narrower_than_two_groups() {
    // b is the noise that both share; a is less by some part of it.
    type Noise = fn(&mut Random) -> f64;
    let cases: [(Scale, f64, Noise); 2] =
        [(Scale::Logit, 0.5, |random| beta(random, 3, 3)), (Scale::Log, 16.0, |random| gamma(random, 16))];
    for (scale, mean, noise) in cases {
        let mut random = Random::new(2, "pairs");
        let mut held = 0;
        for _ in 0..SAMPLES {
            let b: Vec<f64> = (0..IN_A_SAMPLE).map(|_| noise(&mut random)).collect();
            let a: Vec<f64> = b.iter().map(|b| b * (1.0 - beta(&mut random, 8, 72))).collect();
            let [low, high] = paired(&a, &b, scale).unwrap().ends.unwrap();
            assert!(scale != Scale::Logit || low > -1.0 && high < 1.0);
            assert!((high - low) / 2.0 < apart(&a, &b), "{scale}: {a:?} {b:?}");
            held += usize::from(low <= -0.1 * mean && -0.1 * mean <= high);
        }
        let share = f64::from(held as u32) / SAMPLES as f64;
        println!("{scale}: {share}");
        assert!((0.92..=0.98).contains(&share), "{scale}: {share}");
    }
}

/// An autoregressive series of mean 0 whose values have variance 1.
fn autoregressive(random: &mut Random, factor: f64, length: usize) -> Vec<f64> {
    let spread = (1.0 - factor * factor).sqrt();
    let mut value = normal(random);
    let step = |_| {
        value = factor * value + spread * normal(random);
        value
    };
    (0..length).map(step).collect()
}

#[test]
fn batch_means_know_the_variance_of_a_correlated_series() {
    const FACTOR: f64 = 0.9;
    const LENGTH: usize = 10_000;
    let mut random = Random::new(3, "batches");
    let (mut held, mut naive, mut correlated, mut widths) = (0, 0, 0, 0.0);
    let runs = 400;
    for _ in 0..runs {
        let series = autoregressive(&mut random, FACTOR, LENGTH);
        let found = batch_means(&series, BATCHES, Scale::Plain).unwrap();
        let [low, high] = found.estimate.ends.unwrap();
        held += usize::from(low <= 0.0 && 0.0 <= high);
        correlated += usize::from(found.is_correlated);
        widths += high - low;
        let [low, high] = ends(&series, Scale::Plain);
        naive += usize::from(low <= 0.0 && 0.0 <= high);
    }
    // The variance of the mean of n values is near (1 + f)/(1 - f)/n.
    let true_width = 2.0 * student_t_975(19) * ((1.0 + FACTOR) / (1.0 - FACTOR) / LENGTH as f64).sqrt();
    let width = widths / runs as f64;
    assert!((0.92 * true_width..1.05 * true_width).contains(&width), "{width}, not {true_width}");
    assert!((368..=392).contains(&held), "{held} of {runs}");
    assert!(correlated < runs / 8, "{correlated} of {runs}");
    // The control: values that are taken for independent.
    assert!(naive < runs / 2, "{naive} of {runs}");
    // Batches that are too short say so.
    let short = autoregressive(&mut random, 0.99, 400);
    assert!(batch_means(&short, BATCHES, Scale::Plain).unwrap().is_correlated);
}

#[test]
fn the_warm_up_of_a_known_transient_is_cut() {
    const DECAY: f64 = 100.0;
    let mut random = Random::new(4, "warm-up");
    let (mut before, mut after) = (0.0, 0.0);
    let runs = 100;
    for run in 0..runs {
        let noise = autoregressive(&mut random, 0.5, 2_000);
        let transient = |at: usize| 5.0 * libm::exp(-(at as f64) / DECAY);
        let series: Vec<f64> = noise.iter().enumerate().map(|(at, noise)| noise + transient(at)).collect();
        let cut = warm_up(&series).unwrap().cut.unwrap_or_else(|| panic!("{run}: no cut"));
        // At 100 the transient is still twice the noise, at 700 it is below a hundredth of it.
        assert!((100..700).contains(&cut), "{run}: {cut}");
        before += series.iter().sum::<f64>() / series.len() as f64;
        after += series[cut..].iter().sum::<f64>() / (series.len() - cut) as f64;
    }
    let runs = f64::from(runs);
    assert!(before / runs > 0.2 && (after / runs).abs() < 0.05, "{} to {}", before / runs, after / runs);
}

#[test]
fn a_series_without_transient_keeps_most_of_it() {
    let mut random = Random::new(5, "warm-up");
    let cuts: Vec<usize> =
        (0..100).map(|_| warm_up(&autoregressive(&mut random, 0.5, 2_000)).unwrap().cut.unwrap_or(1_000)).collect();
    let mean = cuts.iter().sum::<usize>() as f64 / cuts.len() as f64;
    assert!(mean < 200.0, "{mean}");
}

#[test]
fn stopping_when_precise_enough_holds_the_mean() {
    let mut random = Random::new(6, "stopping");
    let (mut held, mut runs) = (0, 0);
    for _ in 0..SAMPLES {
        let mut values = Vec::new();
        let found = loop {
            values.push(gamma(&mut random, 16));
            if values.len() < LEAST {
                continue;
            }
            let found = precision(&values, 0.1, LEAST, Scale::Log).unwrap();
            if found.is_reached {
                break found;
            }
        };
        runs += found.count;
        let [low, high] = ends(&values, Scale::Log);
        held += usize::from(low <= 16.0 && 16.0 <= high);
    }
    let share = held as f64 / SAMPLES as f64;
    // Stopping early where the spread is small by chance costs a little.
    assert!((0.91..=0.98).contains(&share), "{share}");
    // A spread of a quarter of the mean needs some (2 * 0.25 / 0.1)² = 25 values.
    let mean = runs as f64 / SAMPLES as f64;
    assert!((20.0..30.0).contains(&mean), "{mean}");
}
