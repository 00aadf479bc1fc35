//! A file of a topology, described.

use crate::errors::{TopologyError, UsageError};
use fairq_sched::units::Time;
use fairq_sim::scenario::values::LineRate;
use fairq_sim::topology::file::{usual_delay, usual_rate};
use fairq_sim::topology::format::Options;
use fairq_sim::topology::summary;
use pyo3::prelude::*;
use serde::Deserialize;

/// What the caller says beside the file; what is not said is as in a scenario.
#[derive(Deserialize)]
struct Said {
    strict: bool,
    default_rate: Option<String>,
    default_delay: Option<String>,
}

/// Describes the topology in the file at `path`; `options_json` is `{"strict": bool, "default_rate": text or null,
/// "default_delay": text or null}`.
pub(crate) fn describe(path: &str, options_json: &str) -> PyResult<String> {
    let said: Said = serde_json::from_str(options_json).map_err(|error| UsageError::new_err(error.to_string()))?;
    let usage = |name: &str, error: &dyn std::fmt::Display| UsageError::new_err(format!("{name}: {error}"));
    let rate = match said.default_rate.as_deref() {
        None => usual_rate(),
        Some(text) => {
            LineRate(Some(text.parse().map_err(|error| usage("default_rate", &error as &dyn std::fmt::Display))?))
        }
    };
    let delay: Time = match said.default_delay.as_deref() {
        None => usual_delay(),
        Some(text) => text.parse().map_err(|error| usage("default_delay", &error as &dyn std::fmt::Display))?,
    };
    let bytes = std::fs::read(path).map_err(|error| {
        TopologyError::new_err(format!("{path}: cannot be read: {error}; give the path of a topology's file"))
    })?;
    let options = Options { rate, delay, is_strict: said.strict };
    summary::describe(&bytes, path, &options).map(|document| document.to_string()).map_err(TopologyError::new_err)
}
