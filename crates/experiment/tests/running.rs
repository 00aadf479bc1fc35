//! Scenarios that tests write as text, read and run. A fault in them fails the test.

use fairq_experiment::experiment::{Experiment, Options};
use serde_json::Value;

/// The experiment of a scenario.
pub(crate) fn read(text: &str) -> Experiment {
    Experiment::read(text, "a.toml", &[]).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// There is no file called `name`.
pub(crate) fn no_file(name: &str) -> Result<Vec<u8>, String> {
    Err(format!("{name}: no file is read here"))
}

/// The document of all runs, on one thread and without files.
pub(crate) fn document(experiment: &Experiment) -> Value {
    let result = experiment.run(Options { workers: 1, files: &no_file, progress: &mut |_| true });
    result.unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

/// The document of a scenario.
pub(crate) fn run(text: &str) -> Value {
    document(&read(text))
}
