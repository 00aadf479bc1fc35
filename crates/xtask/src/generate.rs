//! Files that are derived from the Rust types, and kept in the tree so that a reader and an editor
//! find them.

use std::fs;
use std::path::Path;

use crate::{Findings, constants};

/// Path and content of every generated file. One line for each; `write` and `check` follow.
fn files() -> Vec<(&'static str, String)> {
    let schema = serde_json::to_string_pretty(&fairq_experiment::scenario::schema()).expect("a schema is plain JSON");
    let page = fairq_experiment::reference::page;
    vec![
        ("schema/scenario.schema.json", schema + "\n"),
        ("docs/reference/scenario.md", fairq_experiment::scenario::fields::page()),
        ("docs/reference/disciplines.md", page("disciplines")),
        ("docs/reference/refused.md", fairq_experiment::refused::page()),
        ("docs/reference/transports.md", page("transports")),
        ("docs/reference/traffic.md", page("traffic")),
        ("docs/reference/receivers.md", page("receivers")),
        ("docs/reference/topologies.md", page("topologies")),
        ("docs/reference/constants.md", constants::page()),
    ]
}

/// Writes all generated files.
pub(crate) fn write(root: &Path) -> Findings {
    files()
        .into_iter()
        .filter_map(|(path, content)| {
            let target = root.join(path);
            let folder = target.parent().expect("a generated file lies in a folder");
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&target, content))
                .err()
                .map(|error| format!("{path}: cannot be written: {error}"))
        })
        .collect()
}

/// Says which generated files are not what would be written now.
pub(crate) fn check(root: &Path) -> Findings {
    files()
        .into_iter()
        .filter(|(path, content)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(content))
        .map(|(path, _)| format!("{path}: stale; run: cargo xtask generate"))
        .collect()
}
