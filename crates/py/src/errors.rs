//! The one place where an error of the core becomes an exception of Python: with its place, path
//! and text as fields, and the number of the system's error.

use fairq_experiment::scenario::problem::Problem;
use pyo3::PyErr;
use std::io;

/// The classes of `fairq.core.errors`.
mod classes {
    pyo3::import_exception!(fairq.core.errors, FairqError);
    pyo3::import_exception!(fairq.core.errors, UsageError);
    pyo3::import_exception!(fairq.core.errors, ScenarioError);
    pyo3::import_exception!(fairq.core.errors, CaptureError);
    pyo3::import_exception!(fairq.core.errors, TopologyError);
    pyo3::import_exception!(fairq.core.errors, OutputError);
    pyo3::import_exception!(fairq.core.errors, PartError);
}

pub(crate) use classes::{CaptureError, FairqError, OutputError, PartError, ScenarioError, TopologyError, UsageError};

/// The exception for a fault in a scenario.
#[allow(clippy::needless_pass_by_value, reason = "as map_err gives it")]
pub(crate) fn scenario(problem: Problem) -> PyErr {
    ScenarioError::new_err(fields(&problem))
}

/// The exception for a fault in a change that an option or an argument makes to a scenario.
#[allow(clippy::needless_pass_by_value, reason = "as map_err gives it")]
pub(crate) fn usage(problem: Problem) -> PyErr {
    UsageError::new_err(fields(&problem))
}

/// The arguments of such an exception: text, place, path and field.
fn fields(problem: &Problem) -> (String, String, String, String) {
    let [path, field] = problem.names();
    (problem.message(), problem.place(), path, field)
}

/// The exception for a file that cannot be written.
pub(crate) fn output(text: String, errno: Option<i32>) -> PyErr {
    OutputError::new_err((text, "", "", "", errno))
}

/// What the system says, without the number that says nothing to a reader.
pub(crate) fn reason(cause: &io::Error) -> String {
    let said = cause.to_string();
    let Some(number) = cause.raw_os_error() else { return said };
    said.strip_suffix(&format!(" (os error {number})")).unwrap_or(&said).to_owned()
}
