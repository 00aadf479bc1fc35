//! Python bindings of fairq: text in, text out. Scenarios come in as TOML, results leave as JSON; the Python package
//! gives them types. No line here knows a discipline by name.

mod errors;
mod interval;
mod progress;

use pyo3::prelude::*;

use errors::{CaptureError, FairqError, ScenarioError, UsageError};
use progress::Progress;

/// The compiled part of fairq.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{
        bench, confidence_interval, explain, listing, max_min, prediction_interval, replay, run, schema, version,
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::errors::register(module)
    }
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// What the registry holds, as a JSON array; `what` is "disciplines", "transports" or "traffic".
#[pyfunction]
fn listing(what: &str) -> PyResult<String> {
    match what {
        "disciplines" | "transports" | "traffic" => Ok("[]".to_owned()),
        other => Err(UsageError::new_err(format!(
            "{other}: nothing of that name to list; write disciplines, transports or traffic"
        ))),
    }
}

/// The card of one entry of the registry, with its settings and their defaults.
#[pyfunction]
fn explain(name: &str) -> PyResult<String> {
    Err(UsageError::new_err(format!("{name}: the registry is not there yet")))
}

/// The JSON Schema of scenarios.
#[pyfunction]
fn schema() -> PyResult<String> {
    Err(FairqError::new_err("the schema is not there yet"))
}

/// Runs the scenario `text` on `workers` threads; `name` is its file name, for messages.
#[pyfunction]
#[pyo3(signature = (text, name, sets, workers, progress=None))]
fn run(
    py: Python<'_>,
    text: &str,
    name: &str,
    sets: Vec<(String, String)>,
    workers: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let told = Progress::new(progress);
    py.detach(move || {
        let _ = (text, sets, workers, told);
        Err(ScenarioError::new_err(format!("{name}: the simulator is not there yet")))
    })
}

/// The max-min shares of a scenario's flows, as JSON.
#[pyfunction]
fn max_min(py: Python<'_>, text: &str, name: &str, sets: Vec<(String, String)>) -> PyResult<String> {
    py.detach(move || {
        let _ = (text, sets);
        Err(ScenarioError::new_err(format!("{name}: the max-min shares are not there yet")))
    })
}

/// Replays the capture at `path` through one gateway for each discipline named in `options_json`.
#[pyfunction]
#[pyo3(signature = (path, options_json, progress=None))]
fn replay(py: Python<'_>, path: &str, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let told = Progress::new(progress);
    py.detach(move || {
        let _ = (options_json, told);
        Err(CaptureError::new_err(format!("{path}: the replay is not there yet")))
    })
}

/// Measures the speed of this machine on the reference workloads.
#[pyfunction]
#[pyo3(signature = (options_json, progress=None))]
fn bench(py: Python<'_>, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let told = Progress::new(progress);
    py.detach(move || {
        let _ = (options_json, told);
        Err(FairqError::new_err("the benchmarks are not there yet"))
    })
}

/// The mean of the values and the 95 % interval of one further run: (mean, low, high).
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
fn prediction_interval(values: Vec<f64>) -> (f64, f64, f64) {
    interval::prediction(&values)
}

/// The mean of the values and its 95 % confidence interval: (mean, low, high).
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
fn confidence_interval(values: Vec<f64>) -> (f64, f64, f64) {
    interval::confidence(&values)
}
