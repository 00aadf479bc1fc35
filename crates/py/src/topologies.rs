//! A topology, described: a file of one, the network of a scenario, or a shape by name.

use crate::errors::{self, FairqError, TopologyError, UsageError};
use crate::json;
use crate::progress::Progress;
use fairq_experiment::topology::file::{Options, usual_delay, usual_rate};
use fairq_experiment::values::LineRate;
use fairq_sched::units::Time;
use fairq_topologies::diameter::{GoOn, Stopped};
use fairq_topologies::summary::{self, Description};
use pyo3::prelude::*;
use serde::Deserialize;

/// Options of the caller; those left out are as in a scenario.
#[derive(Deserialize)]
struct Said {
    strict: bool,
    default_rate: Option<String>,
    default_delay: Option<String>,
}

/// Describes the topology in the file at `path`, the network of the scenario there (`.toml`,
/// `.json`), or the shape that `path` names if there is no such file, like `fat_tree(k=4)`;
/// `options_json` is `{"strict": bool, "default_rate": text or null, "default_delay": text or
/// null}`.
pub(crate) fn describe(path: &str, options_json: &str, told: &mut Progress) -> PyResult<String> {
    let said: Said = serde_json::from_str(options_json).map_err(|error| UsageError::new_err(error.to_string()))?;
    let mut raised = None;
    let mut go_on = |part: f64| {
        raised = told.tell(part, 0.0, 0).err();
        raised.is_none()
    };
    let is_scenario = [".toml", ".json"].iter().any(|ending| path.ends_with(ending));
    let described = if is_scenario || summary::is_shape(path) && !std::path::Path::new(path).exists() {
        describe_network(path, is_scenario, &said, &mut go_on)?
    } else {
        describe_file(path, &said, &mut go_on)?
    };
    raised.map_or(Ok(()), Err)?;
    described.map(|document| json(&document)).map_err(|stopped| match stopped {
        Stopped::Problem(message) => TopologyError::new_err(message),
        Stopped::Interrupted => FairqError::new_err("the description was stopped"),
    })
}

/// What the file at `path` holds.
fn describe_file(path: &str, said: &Said, go_on: GoOn<'_>) -> PyResult<Result<Description, Stopped>> {
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
        let remedy = "give the path of a topology's file, or a shape that fairq list topologies shows";
        TopologyError::new_err(format!("{path}: cannot be read: {}; {remedy}", errors::reason(&error)))
    })?;
    let options = Options { rate, delay, is_strict: said.strict };
    Ok(summary::describe(&bytes, path, &options, go_on))
}

/// The network of a scenario, or a shape. Both say all rates and delays.
fn describe_network(
    path: &str,
    is_scenario: bool,
    said: &Said,
    go_on: GoOn<'_>,
) -> PyResult<Result<Description, Stopped>> {
    let given = [("strict", said.strict), ("default_rate", said.default_rate.is_some())];
    let given = given.into_iter().chain([("default_delay", said.default_delay.is_some())]);
    if let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(UsageError::new_err(format!("{name}: it is for files of topologies, and {path} is none")));
    }
    let folder = if is_scenario { std::path::Path::new(path).parent() } else { None };
    let files = |name: &str| {
        let at = folder.map_or_else(|| name.into(), |folder| folder.join(name));
        std::fs::read(&at).map_err(|error| format!("{}: cannot be read: {}", at.display(), errors::reason(&error)))
    };
    if is_scenario {
        let text = std::fs::read_to_string(path)
            .map_err(|error| TopologyError::new_err(format!("{path}: cannot be read: {}", errors::reason(&error))))?;
        Ok(summary::describe_scenario(&text, path, &files, go_on))
    } else {
        Ok(summary::describe_shape(path, &files, go_on))
    }
}
