//! Files that are derived from the Rust types, and kept in the tree so that a reader and an editor
//! find them.

use std::fs;
use std::path::Path;

use fairq_audit::work::{COUNTED_BY, counted};
use fairq_sched::card::Card;
use fairq_sched::registry::{BUFFER_POLICIES, DESIGNS, MARKERS, POLICERS, SCHEDULERS};
use serde_json::Value;

use crate::{Findings, constants, public};

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
        ("docs/reference/policies.md", page("policies")),
        ("docs/reference/constants.md", constants::page()),
    ];
    let schemas = [
        ("schema/scenario.schema.json", fairq_experiment::scenario::schema()),
        ("schema/study.schema.json", fairq_experiment::study::schema()),
        ("schema/result.schema.json", fairq_experiment::described::schema()),
    ];
    let schemas = schemas.map(|(path, schema)| (path, by_field(&schema, false, "\n") + "\n"));
    let pages = schemas.into_iter().chain(pages).map(|(path, content)| (path.to_owned(), content));
    let items = |name: &str| (format!("crates/{name}/public.txt"), public::public(&root.join("crates").join(name)));
    pages.chain(public::CRATES.map(items)).collect()
}

/// A schema with each field on a line of its own. `is_fields` says that `schema` maps the names of
/// fields to their schemas; `margin` is a line's end and what the next line begins with.
fn by_field(schema: &Value, is_fields: bool, margin: &str) -> String {
    let inner = format!("{margin} ");
    let separator = format!(",{inner}");
    match schema {
        Value::Object(members) if is_fields || has_fields(schema) => {
            let line = |(key, value): (&String, &Value)| {
                format!("\"{key}\": {}", by_field(value, key == "properties", &inner))
            };
            format!("{{{inner}{}{margin}}}", members.iter().map(line).collect::<Vec<_>>().join(&separator))
        }
        Value::Array(items) if has_fields(schema) => {
            let lines: Vec<String> = items.iter().map(|item| by_field(item, false, &inner)).collect();
            format!("[{inner}{}{margin}]", lines.join(&separator))
        }
        _ => schema.to_string(),
    }
}

/// Whether fields of an object are described in a schema.
fn has_fields(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.contains_key("properties") || members.values().any(has_fields),
        Value::Array(items) => items.iter().any(has_fields),
        _ => false,
    }
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
