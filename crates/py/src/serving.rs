//! `fairq serve`: reads the log, runs the policies, and gives the document.

use fairq_experiment::results::statistics::confidence;
use fairq_serve::{Document, Failure, Options, run};
use pyo3::PyResult;

use crate::errors::{FairqError, UsageError, reason};
use crate::progress::Progress;

/// Does what `options`, a JSON object, ask.
pub(crate) fn serve(options: &str, progress: &mut Progress) -> PyResult<Document> {
    let refused = |fault: fairq_text::Fault| match fault.path.as_str() {
        "" => UsageError::new_err(fault.message),
        path => UsageError::new_err(format!("{path}: {}", fault.message)),
    };
    let options = Options::read(options).map_err(refused)?;
    let file = options.file.clone();
    let mut raised = None;
    let found = run(
        &options,
        &|name| read(name, file.as_deref().unwrap_or(name)),
        |values| confidence(values).map(|interval| [interval.low, interval.high]),
        &mut |part| {
            raised = progress.tell(part, 0.0, 0).err();
            raised.is_none()
        },
    );
    raised.map_or(Ok(()), Err)?;
    found.map_err(|failure| match failure {
        Failure::Asked(fault) => refused(fault),
        Failure::Log(message) => UsageError::new_err(message),
        Failure::Stopped => FairqError::new_err("the simulation was stopped"),
    })
}

/// The text of the log called `name` in `file`.
fn read(name: &str, file: &str) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|cause| {
        format!("{name}: cannot be read: {}; give a log of time,tenant,cost as CSV or JSON lines", reason(&cause))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let row =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{name}: row {row}: is no text in UTF-8; give CSV, JSON lines, or Parquet with the ending .parquet")
    })
}
