//! An audit by the text of a queue: what is audited, and with what seeds.

use fairq_audit::document::Document;
use fairq_audit::subject::{Subject, variants};
use fairq_audit::{QUICK_SEEDS, SEEDS, Stopped};
use fairq_sched::queue::Queue;
use pyo3::PyResult;
use serde_json::Value;

use crate::errors::{FairqError, UsageError};
use crate::own::Own;
use crate::progress::Progress;

/// Audits the queue that `text` says.
pub(crate) fn run(text: &str, options: &Value, own: &Own, told: &mut Progress) -> PyResult<Document> {
    let queue = queue(text, own).map_err(UsageError::new_err)?;
    let others = variants(&queue);
    let others: Vec<&dyn Subject> = others.iter().map(|queue| queue as &dyn Subject).collect();
    if let Some(name) = options["replay"].as_str() {
        return match fairq_audit::replay(&queue, &others, name) {
            Ok((report, journeys)) => Ok(Document::new(text, &queue, &report, &journeys)),
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
    audited
        .map(|report| Document::new(text, &queue, &report, &[]))
        .map_err(|_| FairqError::new_err("the audit was stopped"))
}

/// The queue that `text` says; a buffer policy alone gets the plain scheduler or, if it wants a
/// queue for each flow, `fq`.
fn queue(text: &str, own: &Own) -> Result<Queue, String> {
    let queue = |text: &str| fairq_text::queue_own(text, None, &own.parts.queue);
    queue(text).or_else(|fault| {
        let Ok(table) = fairq_text::queue_table(text) else { return Err(fault) };
        let is_policy = table.contains_key("buffer") && !table.contains_key("scheduler");
        if is_policy { queue(&format!("fq + {text}")).map_err(|_| fault) } else { Err(fault) }
    })
}
