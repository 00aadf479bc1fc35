//! Files that are derived from the Rust types, and kept in the tree so that a reader and an editor
//! find them.

use std::fs;
use std::path::Path;

use fairq_audit::work::{COUNTED_BY, counted};
use fairq_sched::card::Card;
use fairq_sched::registry::{BUFFER_POLICIES, DESIGNS, MARKERS, POLICERS, SCHEDULERS};
use serde_json::Value;

use crate::{Findings, constants, public};

#[path = "../../py/src/schemas.rs"]
mod schemas;

/// Path and content of every generated file. One line for each; `write` and `check` follow.
fn files(root: &Path) -> Vec<(String, String)> {
    let page = fairq_experiment::reference::page;
    let pages = [
        ("docs/reference/scenario.md", fairq_experiment::scenario::fields::page()),
        ("docs/reference/results.md", fairq_experiment::described::page()),
        ("python/fairq/core/_types.py", fairq_experiment::described::python()),
        ("docs/reference/disciplines.md", page("disciplines")),
        ("docs/reference/refused.md", fairq_experiment::refused::page()),
        ("docs/reference/transports.md", page("transports")),
        ("docs/reference/traffic.md", page("traffic")),
        ("docs/reference/receivers.md", page("receivers")),
        ("docs/reference/topologies.md", page("topologies")),
        ("docs/reference/constants.md", constants::page()),
    ];
    let schema =
        |(name, schema): (&str, fn() -> Value)| (format!("schema/{name}.schema.json"), format!("{:#}\n", schema()));
    let pages = pages.map(|(path, content)| (path.to_owned(), content));
    let items = |name: &str| (format!("crates/{name}/public.txt"), public::public(&root.join("crates").join(name)));
    schemas::SCHEMAS.map(schema).into_iter().chain(pages).chain(public::CRATES.map(items)).collect()
}

/// Writes all generated files.
pub(crate) fn write(root: &Path) -> Findings {
    files(root)
        .into_iter()
        .filter_map(|(path, content)| {
            let target = root.join(&path);
            let folder = target.parent().expect("a generated file lies in a folder");
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&target, content))
                .err()
                .map(|error| format!("{path}: cannot be written: {error}"))
        })
        .collect()
}

/// What is counted, and not generated, and was not yet: a line for each entry of the registry, with
/// the command that counts. It takes minutes and valgrind, so that its absence is no finding.
pub(crate) fn uncounted() -> Vec<String> {
    let cards = [SCHEDULERS, BUFFER_POLICIES, MARKERS, POLICERS, DESIGNS].into_iter().flatten();
    let uncounted = cards.filter(|card| counted(card.name).is_none());
    let told = |card: &Card| format!("{}: the work of a packet is not counted; run: UPDATE=1 {COUNTED_BY}", card.name);
    uncounted.map(told).collect()
}

/// Says which generated files are not what would be written now.
pub(crate) fn check(root: &Path) -> Findings {
    files(root)
        .into_iter()
        .filter(|(path, content)| fs::read_to_string(root.join(path.as_str())).ok().as_ref() != Some(content))
        .map(|(path, _)| format!("{path}: stale; run: cargo xtask generate"))
        .collect()
}
