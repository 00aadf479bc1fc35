//! CPU times, from Python's clocks.

use pyo3::prelude::*;

/// CPU seconds of this thread.
pub(crate) fn cpu_s() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("thread_time")?.extract())
}

/// CPU seconds of the process, all its threads together.
pub(crate) fn process_cpu_s() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("process_time")?.extract())
}
