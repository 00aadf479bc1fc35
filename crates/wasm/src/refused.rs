//! Why a request has no answer: one line, and its place.

use fairq_experiment::scenario::problem::Problem;
use fairq_text::Fault;

/// Why there is no answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Refused {
    /// What is shown.
    pub(crate) text: String,
    pub(crate) message: String,
    pub(crate) path: String,
    pub(crate) line: Option<usize>,
    /// Whether a run that begins again may have it.
    pub(crate) restart: bool,
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        let (message, path) = (problem.message(), problem.fault.path.clone());
        Self { text: problem.to_string(), message, path, line: problem.line, restart: false }
    }
}

impl From<Fault> for Refused {
    fn from(Fault { path, message, .. }: Fault) -> Self {
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        Self { text: format!("{place}{message}"), message, path, ..Self::default() }
    }
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Self { text: message.clone(), message, ..Self::default() }
    }
}
