//! What this machine can, and how to get the rest.

use serde::Serialize;

/// One thing that a run may need.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// Whether it can be had.
    pub is_fine: bool,
    /// What was found.
    pub found: String,
    /// How to get it, where that is known.
    pub remedy: Option<String>,
}

/// Looks at the machine; takes about half a second.
pub fn doctor() -> Vec<Check> {
    Vec::new()
}
