//! The shape of the tree: which crate may use which, how long a file, a function and a room may be,
//! what a file may not be called.

use std::fs;
use std::path::Path;

use crate::circles::circles;
use crate::python_imports::imports;
use crate::tracked::tracked;
use crate::{Findings, cards, functions, rooms, size, test_files, words};

/// Which crates a crate may use; an arrow never points back. Tests of any crate may use the
/// testkit.
const ARROWS: &[(&str, &[&str])] = &[
    ("fairq-sched", &[]),
    ("fairq-link", &["fairq-sched"]),
    ("fairq-text", &["fairq-sched"]),
    ("fairq-sim", &["fairq-sched", "fairq-link"]),
    ("fairq-experiment", &["fairq-sched", "fairq-link", "fairq-text", "fairq-sim"]),
    ("fairq-topologies", &["fairq-sched", "fairq-text", "fairq-sim", "fairq-experiment"]),
    ("fairq-replay", &["fairq-sched", "fairq-link", "fairq-text"]),
    // Random requests have the distributions of traffic.
    ("fairq-serve", &["fairq-sched", "fairq-link", "fairq-text", "fairq-sim"]),
    // What it measures is below; its programs run scenarios too.
    ("fairq-bench", &["fairq-sched", "fairq-text", "fairq-sim", "fairq-experiment"]),
    ("fairq-gateway", &["fairq-sched", "fairq-link", "fairq-text"]),
    ("fairq-c", &["fairq-sched", "fairq-text"]),
    ("fairq-audit", &["fairq-sched"]),
    (
        "fairq-py",
        &[
            "fairq-sched",
            "fairq-link",
            "fairq-text",
            // Own parts in Python are congestion controls and sources too.
            "fairq-sim",
            "fairq-experiment",
            "fairq-topologies",
            "fairq-replay",
            "fairq-serve",
            "fairq-bench",
            "fairq-audit",
            "fairq-gateway",
        ],
    ),
    // The page shows packets at a gateway, which the simulator has.
    ("fairq-wasm", &["fairq-sched", "fairq-text", "fairq-sim", "fairq-experiment"]),
    ("fairq-testkit", &["fairq-sched", "fairq-audit"]),
    ("xtask", &["fairq-sched", "fairq-sim", "fairq-experiment", "fairq-audit"]),
];
const TESTKIT: &str = "fairq-testkit";

/// Past this a file holds a second idea.
const MAX_LINES: usize = 900;

/// Names that say nothing of what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "helpers", "misc"];

/// First folders of absolute paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["home", "root", "Users", "work"];

/// Everything that is out of shape.
pub(crate) fn tidy(root: &Path) -> Findings {
    let mut findings = arrows(root);
    let python = imports(&root.join("python/fairq"));
    findings.extend(circles(root, &python));
    findings.extend(rooms::rooms(&python.with_types));
    match tracked(root) {
        Ok(paths) => {
            findings.extend(paths.iter().flat_map(|path| file(root, path)));
            findings.extend(words::words(root, &paths));
            findings.extend(cards::cards(root, &paths));
            findings.extend(functions::functions(root, &paths));
            findings.extend(size::check(root, &paths));
            findings.extend(test_files::test_files(root, &paths));
        }
        Err(error) => findings.push(error),
    }
    findings
}

/// Edges of the workspace that ARROWS does not allow.
fn arrows(root: &Path) -> Findings {
    let mut findings = Findings::new();
    let entries = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let mut manifests: Vec<_> = entries.map(|entry| entry.path().join("Cargo.toml")).filter(|p| p.exists()).collect();
    manifests.sort();
    for manifest in manifests {
        let shown = manifest.strip_prefix(root).unwrap_or(&manifest).display().to_string();
        match fs::read_to_string(&manifest).map_err(|e| e.to_string()).and_then(|text| edges(&text)) {
            Ok((name, edges)) => {
                findings
                    .extend(edges.iter().filter_map(|edge| forbidden(&name, edge)).map(|f| format!("{shown}: {f}")));
            }
            Err(error) => findings.push(format!("{shown}: {error}")),
        }
    }
    findings
}

/// A crate that another uses, and whether by its tests only.
struct Edge {
    to: String,
    is_dev: bool,
}

/// The name of a manifest's crate and the crates of this workspace that it uses.
fn edges(text: &str) -> Result<(String, Vec<Edge>), String> {
    let manifest: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let name = name.ok_or("has no package.name")?.to_owned();
    let kinds = [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];
    let edges = kinds.into_iter().flat_map(|(kind, is_dev)| {
        let table = manifest.get(kind).and_then(toml::Value::as_table);
        table.into_iter().flat_map(toml::Table::keys).map(move |to| Edge { to: to.clone(), is_dev })
    });
    Ok((name, edges.filter(|edge| edge.to.starts_with("fairq-")).collect()))
}

/// Why an edge may not be, if so.
fn forbidden(from: &str, edge: &Edge) -> Option<String> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == from) else {
        return Some(format!("{from} is not in the table of arrows (crates/xtask/src/tidy.rs)"));
    };
    let may = allowed.contains(&edge.to.as_str()) || (edge.is_dev && edge.to == TESTKIT);
    (!may).then(|| format!("{from} may not use {}", edge.to))
}

/// What is out of shape in one file.
fn file(root: &Path, path: &str) -> Findings {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let mut findings = Findings::new();
    if EMPTY_NAMES.contains(&stem) {
        findings.push(format!("{path}: name it after what it holds"));
    }
    // data and binary files are not prose
    let Ok(text) = fs::read_to_string(root.join(path)) else { return findings };
    let is_source = [".rs", ".py", ".pyi"].iter().any(|ending| path.ends_with(ending));
    if is_source && text.lines().count() > MAX_LINES {
        findings.push(format!("{path}: more than {MAX_LINES} lines; look for a second idea in it"));
    }
    findings.extend(
        text.lines()
            .enumerate()
            .filter(|(_, line)| has_machine_path(line))
            .map(|(index, _)| format!("{path}:{}: a path of one machine", index + 1)),
    );
    findings
}

/// Whether a line holds an absolute path under one of MACHINE_PATHS.
fn has_machine_path(line: &str) -> bool {
    let starts = |at: usize| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '/' | '_' | '-' | '~' | '}' | ')' | '*'))
    };
    MACHINE_PATHS.iter().any(|folder| line.match_indices(&format!("/{folder}/")).any(|(at, _)| starts(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(to: &str, is_dev: bool) -> Edge {
        Edge { to: to.to_owned(), is_dev }
    }

    #[test]
    fn an_arrow_never_points_back() {
        assert!(forbidden("fairq-sim", &edge("fairq-sched", false)).is_none());
        assert!(forbidden("fairq-sched", &edge("fairq-testkit", true)).is_none());
        assert!(forbidden("fairq-sched", &edge("fairq-testkit", false)).is_some());
        assert!(forbidden("fairq-sched", &edge("fairq-sim", false)).is_some());
        assert!(forbidden("fairq-sim", &edge("fairq-text", false)).is_some());
        assert!(forbidden("fairq-sim", &edge("fairq-experiment", false)).is_some());
        assert!(forbidden("fairq-replay", &edge("fairq-sim", false)).is_some());
        assert!(forbidden("fairq-gateway", &edge("fairq-sim", false)).is_some());
        assert!(forbidden("fairq-new", &edge("fairq-sched", false)).is_some());
    }

    #[test]
    fn edges_are_read_with_their_kind() {
        let (name, edges) =
            edges("[package]\nname = 'a'\n[dependencies]\nfairq-x.workspace = true\nserde = '1'\n").unwrap();
        assert_eq!((name.as_str(), edges.len()), ("a", 1));
        assert!(!edges[0].is_dev);
    }

    #[test]
    fn a_path_of_one_machine_is_seen_and_a_relative_one_is_not() {
        let machine = ["/home", "/someone/x"].concat();
        assert!(has_machine_path(&format!("see {machine}")));
        assert!(!has_machine_path(&format!("https://example.org{machine}")));
        assert!(!has_machine_path(&["docs", "work", "plan.md"].join("/")));
    }
}
