//! The project's own tasks.
//!
//! `cargo xtask generate [--check]` writes what is derived from the Rust types, or says what is
//! stale; `cargo xtask tidy` checks the shape of the tree and the words of comments and pages;
//! `cargo xtask check` is all that must be green besides the tests; `cargo xtask cost [--update]`
//! counts the instructions of a packet-hop and compares them with those of before, and counts those
//! of a packet in windows of 5000 and 50 000; `cargo xtask size [--update]` prints the lines of
//! each room beside its budget; `cargo xtask mutants --one | --all` takes methods out of wrappers
//! and expects that their tests fail.

mod callgrind;
mod cards;
mod check;
mod circles;
mod constants;
mod cost;
mod functions;
mod generate;
mod mutants;
mod public;
mod python_imports;
mod rooms;
mod size;
mod test_files;
mod tidy;
mod tracked;
mod windows;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What went wrong, one line each.
type Findings = Vec<String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let findings = match words.as_slice() {
        ["generate"] => generate::write(&root()),
        ["generate", "--check"] => generate::check(&root()),
        ["tidy"] => tidy::tidy(&root()),
        ["check"] => check::check(&root()),
        ["cost"] => cost::cost(&root(), false),
        ["cost", "--update"] => cost::cost(&root(), true),
        ["mutants", "--one"] => mutants::mutants(&root(), false),
        ["mutants", "--all"] => mutants::mutants(&root(), true),
        ["size"] => size::size(&root(), false),
        ["size", "--update"] => size::size(&root(), true),
        _ => {
            let tasks = "generate [--check] | tidy | check | cost [--update] | size [--update] | mutants --one | --all";
            vec![format!("usage: cargo xtask {tasks}")]
        }
    };
    if words.first() == Some(&"generate") {
        generate::uncounted().iter().for_each(|line| println!("{line}"));
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The root of the checkout that cargo runs us for; a target folder may be shared by several, so it
/// is asked for now.
fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest).ancestors().nth(2).expect("crates/xtask lies two folders deep").to_owned()
}
