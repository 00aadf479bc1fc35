//! Which module of `python/fairq` uses which: imports at the top of a file, inside functions, and
//! for types alone.
//!
//! An import inside a function hides a circle from Python, and not from a reader.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const PACKAGE: &str = "fairq";

/// By module and module that it uses, a file that says so.
pub(crate) type Uses = BTreeMap<(String, String), String>;

/// Modules by the modules that they use.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// What is loaded, at the top of a file or when a function is called.
    pub(crate) loaded: Uses,
    /// That, and what a checker of types reads.
    pub(crate) with_types: Uses,
    /// How many imports stand inside functions.
    pub(crate) inside_functions: usize,
}

/// The imports of all modules below `folder`, the package.
pub(crate) fn imports(folder: &Path) -> Imports {
    let mut files = Vec::new();
    sources(folder, PACKAGE, &mut files);
    let modules: BTreeSet<String> = files.iter().map(|(module, _)| module.clone()).collect();
    let mut imports = Imports::default();
    for (module, text) in &files {
        for import in read(text) {
            let used = import.names.iter().filter_map(|name| module_of(name, &modules));
            let used: BTreeSet<String> = used.filter(|used| used != module).collect();
            imports.inside_functions += usize::from(import.place == Place::Function && !used.is_empty());
            for used in used {
                let edge = (module.clone(), used);
                let file = module.replace('.', "/") + ".py";
                if import.place != Place::Types {
                    imports.loaded.entry(edge.clone()).or_insert_with(|| file.clone());
                }
                imports.with_types.entry(edge).or_insert(file);
            }
        }
    }
    imports
}

/// The Python files below `folder` with the names of their modules; a stub is that of the compiled
/// part.
fn sources(folder: &Path, name: &str, files: &mut Vec<(String, String)>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if path.is_dir() {
            sources(&path, &format!("{name}.{stem}"), files);
        } else if path.extension().is_some_and(|ending| ending == "py" || ending == "pyi") {
            let module = if stem == "__init__" { name.to_owned() } else { format!("{name}.{stem}") };
            files.push((module, fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

/// The module that a name of an import is or is in; `None` outside the package.
fn module_of(name: &str, modules: &BTreeSet<String>) -> Option<String> {
    let above = name.rsplit_once('.').map(|(above, _)| above);
    [Some(name), above].into_iter().flatten().find(|name| modules.contains(*name)).map(str::to_owned)
}

/// Where an import stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Top,
    Function,
    Types,
}

/// One statement with the full names that it imports.
#[derive(Debug, PartialEq, Eq)]
struct Import {
    place: Place,
    names: Vec<String>,
}

/// The imports of a file. Texts in triple quotes are left out.
fn read(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut types_from: Option<usize> = None;
    let mut in_text: Option<&str> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if is_inside_text(line, &mut in_text) || line.trim().is_empty() {
            continue;
        }
        let (indent, said) = (line.len() - line.trim_start().len(), line.trim());
        types_from = types_from.filter(|from| indent > *from);
        if said.starts_with("if TYPE_CHECKING") {
            types_from = Some(indent);
        }
        if !said.starts_with("from ") && !said.starts_with("import ") {
            continue;
        }
        let mut statement = said.to_owned();
        while statement.contains('(') && !statement.contains(')') {
            let Some(next) = lines.next() else { break };
            statement.push_str(next.split('#').next().unwrap_or_default().trim());
        }
        let place = match (types_from, indent) {
            (Some(_), _) => Place::Types,
            (None, 0) => Place::Top,
            _ => Place::Function,
        };
        found.push(Import { place, names: names(&statement) });
    }
    found
}

/// Whether a line belongs to a text in triple quotes; `open` is the quotes of the one that the line
/// before left open.
fn is_inside_text(line: &str, open: &mut Option<&'static str>) -> bool {
    let was_open = open.is_some();
    let mut rest = line;
    loop {
        let found = match *open {
            Some(quotes) => rest.find(quotes).map(|at| (at, quotes)),
            None => ["\"\"\"", "'''"].into_iter().filter_map(|q| rest.find(q).map(|at| (at, q))).min(),
        };
        let Some((at, quotes)) = found else { return was_open };
        *open = if open.is_some() { None } else { Some(quotes) };
        rest = &rest[at + quotes.len()..];
    }
}

/// The full names that a statement of import names.
fn names(statement: &str) -> Vec<String> {
    let plain = |part: &str| part.split(" as ").next().unwrap_or_default().trim().to_owned();
    let parts = |list: &str| list.split(',').map(plain).filter(|name| !name.is_empty()).collect::<Vec<_>>();
    let statement = statement.split('#').next().unwrap_or_default().replace(['(', ')'], "");
    match statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        Some((module, list)) => parts(list).iter().map(|name| format!("{}.{name}", module.trim())).collect(),
        None => parts(statement.trim_start_matches("import ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_read_with_their_places() {
        let text = r#"
"""Of this module.

from fairq import no
"""
import json, fairq.a as a
from fairq.b import (
    x,  # why
    y as z,
)
if TYPE_CHECKING:
    from fairq.c import T

def f():
    """One line."""
    from fairq import d
"#;
        let told: Vec<_> = read(text).into_iter().map(|import| (import.place, import.names.join(" "))).collect();
        assert_eq!(
            told,
            [
                (Place::Top, "json fairq.a".to_owned()),
                (Place::Top, "fairq.b.x fairq.b.y".to_owned()),
                (Place::Types, "fairq.c.T".to_owned()),
                (Place::Function, "fairq.d".to_owned()),
            ]
        );
    }

    #[test]
    fn a_name_is_of_the_module_that_it_is_in() {
        let modules = ["fairq", "fairq.a", "fairq.a.b"].map(str::to_owned).into();
        assert_eq!(module_of("fairq.a.b", &modules).as_deref(), Some("fairq.a.b"));
        assert_eq!(module_of("fairq.a.x", &modules).as_deref(), Some("fairq.a"));
        assert_eq!(module_of("fairq.x", &modules).as_deref(), Some("fairq"));
        assert_eq!(module_of("os.path", &modules), None);
    }
}
