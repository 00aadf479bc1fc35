//! An audit as one document: what `fairq audit --json` prints.

use crate::driver::{self, End};
use crate::report::{self, InvariantRow, MeasureRow};
use crate::subject::{self, costs};
use crate::work::COUNTED_BY;
use fairq_sched::queue::Queue;
use fairq_sched::units::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// All that an audit found, as the command line and Python show it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// The discipline as it was given.
    pub discipline: String,
    /// The name of the queue that was audited.
    pub queue: String,
    /// Runs for the invariants and for the bounds.
    pub runs: u64,
    /// Packets that came in them.
    pub packets: u64,
    /// A row for each invariant.
    pub laws: Vec<Law>,
    /// The worst of each measure.
    pub bounds: Vec<Bound>,
    /// What the card of each part says of its cost.
    pub costs: Vec<Cost>,
    /// The command that counts the instructions of `costs`.
    pub costs_counted_by: &'static str,
    /// The first violation of each invariant and of each measure.
    pub violations: Vec<Violation>,
    /// The packets of the run that was repeated, if one was.
    pub journeys: Vec<Journey>,
}

/// How an invariant fared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Law {
    /// The name of the invariant.
    pub law: &'static str,
    /// Runs in which it was checked.
    pub runs: u64,
    /// Checks in all of them.
    pub checks: u64,
    /// `kept`, `broken`, `not looked at`, or what became of an exemption.
    pub verdict: &'static str,
    /// An example of its being broken; null if there is none.
    pub example: Option<String>,
    /// The run of the example, by which it is repeated.
    pub run: Option<String>,
}

/// The worst of a measure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bound {
    /// The name of the measure.
    pub measure: &'static str,
    /// The value nearest to its bound, or the greatest without a bound, in `unit`.
    pub worst: f64,
    /// The bound that the card claims, in `unit`; null if it claims none.
    pub bound: Option<f64>,
    /// `worst` over `bound`.
    pub ratio: Option<f64>,
    /// The unit of `worst`, `bound` and `rounding`.
    pub unit: &'static str,
    /// The part of `worst` that may be rounding, in `unit`.
    pub rounding: f64,
    /// The flows that were measured, with their weights.
    pub of: String,
    /// The run, by which it is repeated.
    pub run: String,
    /// Runs that were measured.
    pub runs: u64,
}

/// The cost of a part, as its card claims it and as its instructions were counted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// The part.
    pub part: &'static str,
    /// Instructions per packet with few flows; null if they were not counted.
    pub few: Option<u64>,
    /// Instructions per packet with many flows.
    pub many: Option<u64>,
    /// Instructions of the most expensive packet with few flows.
    pub dearest_few: Option<u64>,
    /// Instructions of the most expensive packet with many flows.
    pub dearest_many: Option<u64>,
    /// The cost that the card claims.
    pub cost: String,
}

/// An invariant or a bound that was not kept.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Violation {
    /// The name of the invariant or measure.
    pub of: &'static str,
    /// What happened, in one line.
    pub message: String,
    /// The run, by which it is repeated.
    pub run: String,
}

/// A packet of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Journey {
    /// Its number in the order of arrivals, from 0.
    pub packet: u64,
    /// Its flow.
    pub flow: u32,
    /// Its length in bytes.
    pub bytes: u32,
    /// When it arrived, in picoseconds.
    pub arrival_ps: u64,
    /// When its transmission began, in picoseconds; null if it was not sent.
    pub start_ps: Option<u64>,
    /// When it was sent, dropped or removed, in picoseconds; null if it is still inside.
    pub end_ps: Option<u64>,
    /// When it left the fluid that serves the packets that were sent, in picoseconds; null if it
    /// was not sent, and in a random test network.
    pub fluid_ps: Option<u64>,
    /// `sent`, `dropped: ` with the reason, `removed` or `inside`.
    pub fate: String,
}

impl Document {
    /// The document of an audit of `queue`, which `text` says. `journeys` are the packets of the
    /// run that was repeated, with the times at which they left the fluid.
    #[must_use]
    pub fn new(
        text: &str,
        queue: &Queue,
        report: &report::Report,
        journeys: &[(driver::Journey, Option<Time>)],
    ) -> Self {
        let violations = report.violations.iter().map(|violation| Violation {
            of: violation.of,
            message: violation.example.message.clone(),
            run: violation.example.run.clone(),
        });
        Self {
            discipline: text.to_owned(),
            queue: queue.name(),
            runs: report.runs,
            packets: report.packets,
            laws: report.invariants.iter().map(|row| law(row, report)).collect(),
            bounds: report.measures.iter().map(bound).collect(),
            costs: costs(queue).into_iter().map(cost).collect(),
            costs_counted_by: COUNTED_BY,
            violations: violations.collect(),
            journeys: (0..).zip(journeys).map(journey).collect(),
        }
    }
}

fn law(row: &InvariantRow, report: &report::Report) -> Law {
    let broken = report.violations.iter().find(|violation| violation.of == row.invariant.name());
    let example = broken.map(|violation| &violation.example).or(row.example.as_ref());
    let verdict = match (broken.is_some(), row.is_exempt, example.is_some()) {
        (true, ..) => "broken",
        (false, true, true) => "broken as the registry says",
        (false, true, false) => "kept, though the registry exempts it",
        _ if row.checks == 0 => "not looked at",
        _ => "kept",
    };
    Law {
        law: row.invariant.name(),
        runs: row.runs,
        checks: row.checks,
        verdict,
        example: example.map(|example| example.message.clone()),
        run: example.map(|example| example.run.clone()),
    }
}

fn bound(row: &MeasureRow) -> Bound {
    Bound {
        measure: row.yardstick.name(),
        worst: row.value,
        bound: row.bound,
        ratio: row.ratio,
        unit: row.yardstick.unit(),
        rounding: row.slack,
        of: row.of.clone(),
        run: row.run.clone(),
        runs: row.runs,
    }
}

fn cost(cost: subject::Cost) -> Cost {
    Cost {
        part: cost.part,
        few: cost.counted.map(|counted| counted.few),
        many: cost.counted.map(|counted| counted.many),
        dearest_few: cost.counted.map(|counted| counted.dearest_few),
        dearest_many: cost.counted.map(|counted| counted.dearest_many),
        cost: cost.claimed,
    }
}

fn journey((packet, (journey, fluid)): (u64, &(driver::Journey, Option<Time>))) -> Journey {
    let (fate, start_ps, end_ps) = match journey.end {
        End::Inside => ("inside".to_owned(), None, None),
        End::Sent { start, end } => ("sent".to_owned(), Some(start.0), Some(end.0)),
        End::Dropped(time, reason) => (format!("dropped: {}", reason.name()), None, Some(time.0)),
        End::Removed(time) => ("removed".to_owned(), None, Some(time.0)),
    };
    let arrival = journey.arrival;
    let (flow, bytes, arrival_ps) = (arrival.flow, arrival.length, arrival.time.0);
    Journey { packet, flow, bytes, arrival_ps, start_ps, end_ps, fluid_ps: fluid.map(|time| time.0), fate }
}
