//! What an experiment knows of its scenario, shared by all its runs.

use crate::digest::Digest;
use crate::memory::Need;
use crate::scenario::Scenario;
use crate::scenario::axes::Point;
use crate::scenario::problem::Problem;
use crate::scenario::read::Document;
use fairq_sim::plan::Plan;
use serde_json::Value;

/// What was read of a scenario, for all its runs.
pub(crate) struct Known {
    pub(crate) document: Document,
    pub(crate) scenario: Scenario,
    pub(crate) points: Vec<(Point, Plan)>,
    /// By point, digests of the files that its plan was made of, in the order in which they were
    /// read.
    pub(crate) read: Vec<Vec<Digest>>,
    /// What the latest edition decided, if the scenario names none.
    pub(crate) decided: Vec<String>,
    /// The memory that all of it needs.
    pub(crate) need: Need,
}

impl Known {
    /// The scenario at point number `at` as text that says every field, but for those on which no
    /// value depends.
    pub(crate) fn resolved(&self, at: usize) -> Result<String, Problem> {
        let scenario = self.document.at(&self.points[at].0)?;
        let mut tree = serde_json::to_value(scenario).unwrap_or_default();
        if let Some(tree) = tree.as_object_mut() {
            for field in ["title", "about", "axes"] {
                tree.shift_remove(field);
            }
            if let Some(measure) = tree.get_mut("measure").and_then(Value::as_object_mut) {
                measure.shift_remove("seed");
                measure.shift_remove("replications");
            }
        }
        Ok(tree.to_string())
    }
}
