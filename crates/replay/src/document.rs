//! The result of a replay: its parts and the answer.

use super::answer::Answer;
use super::report::{Bin, DisciplineReport, Traffic, Way};
use schemars::JsonSchema;
use serde::Serialize;

/// A whole replay.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The traffic, the same for all disciplines.
    pub capture: Traffic,
    /// The traffic of each direction, down before up; empty if there is one line only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<Way>,
    /// The results of each discipline, in the order given; for each direction if there are two.
    pub disciplines: Vec<DisciplineReport>,
    /// Delay over time under each discipline: of all packets, then of each of the flows with most
    /// packets. Bins without packets are left out.
    pub series: Vec<Bin>,
    /// Under which disciplines flows had the least 99th percentile delay; null if there are no two.
    pub answer: Option<Answer>,
}
