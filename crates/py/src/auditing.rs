//! An audit by the text of a queue: what is audited, and the report as JSON.

use fairq_audit::driver::{End, Journey};
use fairq_audit::report::{InvariantRow, MeasureRow, Report};
use fairq_audit::subject::{Cost, Subject, costs, variants};
use fairq_audit::work::COUNTED_BY;
use fairq_audit::{QUICK_SEEDS, SEEDS, Stopped};
use fairq_sched::queue::Queue;
use pyo3::PyResult;
use serde_json::{Value, json};

use crate::errors::{FairqError, UsageError};
use crate::progress::Progress;

/// Audits the queue that `text` says.
pub(crate) fn run(text: &str, options: &Value, told: &mut Progress) -> PyResult<Value> {
    let queue = queue(text).map_err(UsageError::new_err)?;
    let others = variants(&queue);
    let others: Vec<&dyn Subject> = others.iter().map(|queue| queue as &dyn Subject).collect();
    if let Some(name) = options["replay"].as_str() {
        return match fairq_audit::replay(&queue, &others, name) {
            Ok((report, journeys)) => Ok(document(text, &queue, &report, &journeys)),
            Err(Stopped::NoRun(message)) => Err(UsageError::new_err(message)),
            Err(Stopped::Interrupted) => Err(FairqError::new_err("the audit was stopped")),
        };
    }
    let usual = if options["quick"].as_bool() == Some(true) { QUICK_SEEDS } else { SEEDS };
    let seeds = options["seeds"].as_u64().unwrap_or(usual);
    let mut raised = None;
    let audited = fairq_audit::audit(&queue, &others, seeds, &mut |done, all| {
        raised = told.tell(done as f64 / all as f64, 0.0, 0).err();
        raised.is_none()
    });
    raised.map_or(Ok(()), Err)?;
    audited.map(|report| document(text, &queue, &report, &[])).map_err(|_| FairqError::new_err("the audit was stopped"))
}

/// The queue that `text` says; a buffer policy alone gets the plain scheduler or, if it wants a
/// queue for each flow, `fq`.
fn queue(text: &str) -> Result<Queue, String> {
    fairq_text::queue(text).or_else(|fault| {
        let table = fairq_text::queue_table(text)?;
        let is_policy = table.contains_key("buffer") && !table.contains_key("scheduler");
        if is_policy { fairq_text::queue(&format!("fq + {text}")).map_err(|_| fault) } else { Err(fault) }
    })
}

fn document(text: &str, queue: &Queue, report: &Report, journeys: &[Journey]) -> Value {
    let violation = |violation: &fairq_audit::report::Violation| json!({ "of": violation.of, "message": violation.example.message, "run": violation.example.run });
    json!({
        "discipline": text,
        "queue": queue.name(),
        "runs": report.runs,
        "packets": report.packets,
        "laws": report.invariants.iter().map(|row| invariant(row, report)).collect::<Vec<_>>(),
        "bounds": report.measures.iter().map(measure).collect::<Vec<_>>(),
        "costs": costs(queue).iter().map(cost).collect::<Vec<_>>(),
        "costs_counted_by": COUNTED_BY,
        "violations": report.violations.iter().map(violation).collect::<Vec<_>>(),
        "journeys": (0..).zip(journeys).map(journey).collect::<Vec<Value>>(),
    })
}

fn cost(cost: &Cost) -> Value {
    json!({
        "part": cost.part,
        "few": cost.counted.map(|counted| counted.few),
        "many": cost.counted.map(|counted| counted.many),
        "dearest_few": cost.counted.map(|counted| counted.dearest_few),
        "dearest_many": cost.counted.map(|counted| counted.dearest_many),
        "cost": cost.claimed,
    })
}

fn invariant(row: &InvariantRow, report: &Report) -> Value {
    let broken = report.violations.iter().find(|violation| violation.of == row.invariant.name());
    let example = broken.map(|violation| &violation.example).or(row.example.as_ref());
    let verdict = match (broken.is_some(), row.is_exempt, example.is_some()) {
        (true, ..) => "broken",
        (false, true, true) => "broken as the registry says",
        (false, true, false) => "kept, though the registry exempts it",
        _ if row.checks == 0 => "not looked at",
        _ => "kept",
    };
    json!({
        "law": row.invariant.name(),
        "runs": row.runs,
        "checks": row.checks,
        "verdict": verdict,
        "example": example.map(|example| &example.message),
        "run": example.map(|example| &example.run),
    })
}

fn measure(row: &MeasureRow) -> Value {
    json!({
        "measure": row.yardstick.name(),
        "worst": row.value,
        "bound": row.bound,
        "ratio": row.ratio,
        "unit": row.yardstick.unit(),
        "rounding": row.slack,
        "of": row.of,
        "run": row.run,
        "runs": row.runs,
    })
}

fn journey((number, journey): (u64, &Journey)) -> Value {
    let (fate, start, end) = match journey.end {
        End::Inside => ("inside".to_owned(), None, None),
        End::Sent { start, end } => ("sent".to_owned(), Some(start.0), Some(end.0)),
        End::Dropped(time, reason) => (format!("dropped: {}", reason.name()), None, Some(time.0)),
        End::Removed(time) => ("removed".to_owned(), None, Some(time.0)),
    };
    json!({
        "packet": number,
        "flow": journey.arrival.flow,
        "bytes": journey.arrival.length,
        "arrival_ps": journey.arrival.time.0,
        "start_ps": start,
        "end_ps": end,
        "fate": fate,
    })
}
