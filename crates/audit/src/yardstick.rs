//! The measures of an audit: what is measured of a run, the bound for it, and what rounding may
//! add.

use crate::case::Case;
use crate::driver::{End, Journey};
use crate::measure::fluid_gap::{fluid_gaps, lateness};
use crate::measure::latency::latencies;
use crate::measure::relative_fairness::relative_fairness;
use crate::measure::worst_case_index::worst_case_index;
use crate::measure::{Exact, thousandths};
use crate::report::Yardstick;
use fairq_sched::promise::Measure;
use fairq_sched::units::Weight;

/// A value that was measured.
pub(crate) struct Reading {
    /// By which measure, of which flows.
    pub(crate) measure: Measure,
    /// The value in the unit of the yardstick.
    pub(crate) value: f64,
    /// The part of the value that may be rounding.
    pub(crate) slack: f64,
}

impl Yardstick {
    /// Everything that it finds in a run.
    pub(crate) fn readings(self, case: &Case, journeys: &[Journey]) -> Vec<Reading> {
        let (rate, weights) = (case.line.rate, case.weights.as_slice());
        let slack = as_f64(case.slack()) + small_weights(weights);
        let reading = |measure, value: Exact, slack| Reading { measure, value: as_f64(value), slack };
        match self {
            Self::RelativeFairness => relative_fairness(journeys, weights)
                .iter()
                .map(|gap| reading(Measure::RelativeFairness(gap.flows.0, gap.flows.1), gap.bytes, slack))
                .collect(),
            Self::FairnessWhileWaiting => relative_fairness(&begun(journeys), weights)
                .iter()
                .map(|gap| reading(Measure::FairnessWhileWaiting(gap.flows.0, gap.flows.1), gap.bytes, slack))
                .collect(),
            Self::PacketFairness => {
                let one = vec![Weight::ONE; weights.len()];
                relative_fairness(&counted(journeys), &one)
                    .iter()
                    .map(|gap| reading(Measure::PacketFairness(gap.flows.0, gap.flows.1), gap.bytes, 0.0))
                    .collect()
            }
            Self::PacketsOverWeights => relative_fairness(&begun(&counted(journeys)), weights)
                .iter()
                .map(|gap| reading(Measure::PacketsOverWeights(gap.flows.0, gap.flows.1), gap.bytes, 0.0))
                .collect(),
            Self::WorstCaseIndex => worst_case_index(journeys, weights)
                .iter()
                .map(|index| reading(Measure::WorstCaseIndex(index.flow), index.bytes, slack))
                .collect(),
            Self::Latency => latencies(rate, journeys, weights)
                .iter()
                .filter(|latency| latency.packet >= case.prologue)
                .map(|latency| {
                    let length = journeys[latency.packet].arrival.length;
                    let measure = Measure::Latency { flow: latency.flow, length };
                    // A step of a tag takes a flow of rate ri as long as C/ri steps of the line; a
                    // clock in picoseconds rounds at each packet.
                    let clock = journeys.len() as f64 * rate.bit_per_s() as f64 / 8e12;
                    reading(measure, latency.bytes, slack / as_f64(case.share(latency.flow)) + clock)
                })
                .collect(),
            Self::Lateness => lateness(rate, journeys, weights)
                .iter()
                .map(|lateness| reading(Measure::Lateness, lateness.bytes, slack))
                .collect(),
            Self::Behind => fluid_gaps(rate, journeys, weights)
                .iter()
                .map(|gap| reading(Measure::Behind(gap.flow), gap.behind.0, slack))
                .collect(),
            Self::Ahead => fluid_gaps(rate, journeys, weights)
                .iter()
                // Each of the others may be a step behind.
                .map(|gap| reading(Measure::Ahead(gap.flow), gap.ahead.0, slack * weights.len() as f64))
                .collect(),
        }
    }
}

/// Slack for weights below one: a step of tags for each flow.
fn small_weights(weights: &[Weight]) -> f64 {
    let least = weights.iter().map(|weight| thousandths(*weight)).min().unwrap_or(1000);
    3.0 * weights.len() as f64 * (1000.0 / least as f64).max(1.0) / f64::from(1 << 24)
}

/// The same journeys of packets of one byte.
fn counted(journeys: &[Journey]) -> Vec<Journey> {
    let mut counted = journeys.to_vec();
    counted.iter_mut().for_each(|journey| journey.arrival.length = 1);
    counted
}

/// The same journeys, each over when its transmission begins.
fn begun(journeys: &[Journey]) -> Vec<Journey> {
    let mut begun = journeys.to_vec();
    for journey in &mut begun {
        if let End::Sent { start, end } = &mut journey.end {
            *end = *start;
        }
    }
    begun
}

fn as_f64(exact: Exact) -> f64 {
    *exact.numer() as f64 / *exact.denom() as f64
}
