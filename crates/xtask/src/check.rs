//! All that must be green besides the tests: format, lints, shape, generated files, documentation,
//! Python's tools, those of the page, a mutant of each wrapper.

use std::path::Path;
use std::process::Command;

use crate::{Findings, generate, mutants, tidy};

/// Runs everything, whatever becomes of the parts before.
pub(crate) fn check(root: &Path) -> Findings {
    let mut findings = Findings::new();
    let mut step = |words: &[&str], flags: &[(&str, &str)]| {
        let line = words.join(" ");
        eprintln!("== {line}");
        let done = Command::new(words[0]).args(&words[1..]).envs(flags.iter().copied()).current_dir(root).status();
        match done {
            Ok(status) if status.success() => {}
            Ok(_) => findings.push(format!("does not pass: {line}")),
            Err(error) => findings.push(format!("cannot be run: {line}: {error}")),
        }
    };
    step(&["cargo", "fmt", "--all", "--check"], &[]);
    step(&["cargo", "fmt", "--manifest-path", "examples/quic/Cargo.toml", "--check"], &[]);
    step(&["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]);
    step(&["cargo", "doc", "--workspace", "--no-deps", "--document-private-items"], &[("RUSTDOCFLAGS", "-D warnings")]);
    if root.join(".venv/bin/ruff").exists() {
        step(&[".venv/bin/ruff", "check"], &[]);
        step(&[".venv/bin/ruff", "format", "--check"], &[]);
        step(&[".venv/bin/mypy"], &[]);
    } else {
        eprintln!("== skipped: ruff and mypy, for there is no .venv; run: make setup");
    }
    if root.join("page/node_modules").exists() {
        step(&["npm", "--prefix", "page", "run", "--silent", "check"], &[]);
    } else {
        eprintln!("== skipped: the checks of page/, for there is no page/node_modules; run: make lab");
    }
    findings.extend(tidy::tidy(root));
    findings.extend(generate::check(root));
    eprintln!("== cargo xtask mutants --one");
    findings.extend(mutants::mutants(root, false));
    findings
}
