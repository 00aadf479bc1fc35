//! Whether tests notice a method that a wrapper does not forward: `cargo xtask mutants`.
//!
//! A method of a trait that has a default can be left out of a wrapper, and nothing but a test says
//! so; one without a default is held by the compiler and needs no mutant. Each mutant is the crate
//! `sched` with one such method taken out of one wrapper, or with one call of a part replaced by
//! its default. The tests of wrappers (`crates/sched/tests/wrappers`) must fail with it.
//!
//! Mutants are built in a copy, in `target/mutants`: the checkout is not touched. `--all` builds all;
//! `--one` builds one of each wrapper, chosen by the commit, so that a failure can be repeated.

mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::Findings;
use crate::tracked::tracked;
use source::{Method, calls, impl_methods, trait_methods, with_call_of_default, with_default, without};

const SOURCES: &str = "crates/sched/src";
const CONTRACT: &str = "contract.rs";

/// An implementation of a trait that forwards to another one.
struct Wrapper {
    name: &'static str,
    file: &'static str,
    of: &'static str,
    /// How its type begins in `impl … for …`.
    target: &'static str,
    /// Parts of other kinds, or several, that its file calls: the name and the trait of each.
    parts: &'static [(&'static str, &'static str)],
}

impl Wrapper {
    const fn new(name: &'static str, file: &'static str, of: &'static str, target: &'static str) -> Self {
        Self { name, file, of, target, parts: &[] }
    }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper::new("Box", CONTRACT, "Discipline", "Box<"),
    Wrapper::new("Ledger", "ledger.rs", "Discipline", "Ledger<"),
    Wrapper::new("Policed", "policed.rs", "Discipline", "Policed<"),
    Wrapper::new("Checked", "checked.rs", "Discipline", "Checked "),
    Wrapper {
        parts: &[("scheduler", "Scheduler"), ("buffer", "BufferPolicy"), ("marker", "Marker")],
        ..Wrapper::new("Composition", "compose.rs", "Discipline", "Composition<")
    },
    Wrapper {
        parts: &[("early", "BufferPolicy"), ("full", "BufferPolicy")],
        ..Wrapper::new("WithOverflow", "buffer/with_overflow.rs", "BufferPolicy", "WithOverflow<")
    },
    Wrapper::new("any scheduler", "any.rs", "Scheduler", "$any "),
    Wrapper::new("any buffer policy", "any.rs", "BufferPolicy", "$any "),
    Wrapper::new("any marker", "any.rs", "Marker", "$any "),
];

/// Methods that a wrapper need not forward, or a part of it is not asked, each with the reason.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("Policed", "may_pass", "its traits allow no bypass; the tests of wrappers hold that"),
    ("Checked", "may_pass", "its traits allow no bypass; the tests of wrappers hold that"),
    ("Composition", "scheduler.continued", "only a scheduler that holds schedulers calls it"),
];

/// A change that a test must notice.
struct Mutant {
    wrapper: &'static str,
    says: String,
    /// The files that it changes, with their new text.
    files: Vec<(&'static str, String)>,
    /// Whether a build that fails shows that the change is noticed.
    may_not_build: bool,
}

/// The texts of the sources by their names.
type Sources = BTreeMap<&'static str, String>;

/// Builds the mutants, all or one of each wrapper, and gives those that no test notices.
pub(crate) fn mutants(root: &Path, all: bool) -> Findings {
    let read = |file: &'static str| {
        let path = root.join(SOURCES).join(file);
        fs::read_to_string(path).map(|text| (file, text)).map_err(|error| format!("{file}: cannot be read: {error}"))
    };
    let files = WRAPPERS.iter().map(|wrapper| wrapper.file);
    let found = files.map(read).collect::<Result<Sources, String>>().and_then(|sources| found(&sources));
    let built = found.and_then(|(mut mutants, mut findings)| {
        if !all {
            mutants = one_of_each(mutants, commit(root)?);
        }
        findings.extend(survivors(root, &mutants)?);
        Ok(findings)
    });
    built.unwrap_or_else(|error| vec![format!("mutants: {error}")])
}

/// All mutants, and the methods that wrappers lack.
fn found(sources: &Sources) -> Result<(Vec<Mutant>, Findings), String> {
    let (mut mutants, mut findings) = (Vec::new(), Findings::new());
    for wrapper in WRAPPERS {
        let text = &sources[wrapper.file];
        let own = impl_methods(text, wrapper.of, wrapper.target)
            .ok_or_else(|| format!("{}: no {} for {}", wrapper.file, wrapper.of, wrapper.target))?;
        for default in defaults(sources, wrapper.of)? {
            match own.iter().find(|method| method.name == default.name) {
                Some(method) => mutants.push(Mutant {
                    wrapper: wrapper.name,
                    says: format!("without {}", method.name),
                    files: vec![(wrapper.file, without(text, method))],
                    may_not_build: true,
                }),
                None => findings.extend(left_out(wrapper, &default.name)),
            }
        }
        for (part, of) in wrapper.parts {
            for default in defaults(sources, of)? {
                let sites = calls(text, part, of, &default.name);
                if sites.is_empty() {
                    findings.extend(left_out(wrapper, &format!("{part}.{}", default.name)));
                }
                mutants.extend(sites.iter().map(|call| Mutant {
                    wrapper: wrapper.name,
                    says: format!("with the default of {part}.{} in line {}", default.name, call.line + 1),
                    files: vec![
                        (CONTRACT, with_default(&sources[CONTRACT], &default)),
                        (wrapper.file, with_call_of_default(text, call)),
                    ],
                    may_not_build: false,
                }));
            }
        }
    }
    Ok((mutants, findings))
}

/// The methods of a trait that have a default.
fn defaults(sources: &Sources, of: &str) -> Result<Vec<Method>, String> {
    let methods = trait_methods(&sources[CONTRACT], of).ok_or_else(|| format!("{CONTRACT}: no trait {of}"))?;
    Ok(methods.into_iter().filter(|method| method.has_body).collect())
}

/// What is wrong with a wrapper that does not name `method`.
fn left_out(wrapper: &Wrapper, method: &str) -> Option<String> {
    let is_known = LEFT_OUT.iter().any(|(name, known, _)| *name == wrapper.name && *known == method);
    let told = format!("{SOURCES}/{}: {} does not forward {method}, which has a default", wrapper.file, wrapper.name);
    (!is_known).then_some(told)
}

/// One mutant of each wrapper, by a number that a commit gives: one without a method; and one with
/// the default of a part, where there are such.
fn one_of_each(mutants: Vec<Mutant>, number: usize) -> Vec<Mutant> {
    let mut groups = BTreeMap::<_, Vec<Mutant>>::new();
    for mutant in mutants {
        groups.entry((mutant.wrapper, mutant.may_not_build)).or_default().push(mutant);
    }
    let chosen = groups.into_values().map(|mut group| group.swap_remove(number % group.len()));
    chosen.collect()
}

/// A number of the commit.
fn commit(root: &Path) -> Result<usize, String> {
    let asked = Command::new("git").args(["rev-parse", "--short=7", "HEAD"]).current_dir(root).output();
    let said = asked.map_err(|error| format!("git rev-parse cannot be run: {error}"))?;
    let name = String::from_utf8_lossy(&said.stdout).into_owned();
    usize::from_str_radix(name.trim(), 16).map_err(|error| format!("git rev-parse: {name:?}: {error}"))
}

/// The mutants that no test notices.
fn survivors(root: &Path, mutants: &[Mutant]) -> Result<Findings, String> {
    let copy = root.join("target/mutants");
    write_copy(root, &copy)?;
    let unchanged = test(&copy)?;
    if !unchanged.status.success() {
        return Err(format!("the tests of wrappers do not pass without a change:\n{}", shown(&unchanged)));
    }
    let mut findings = Findings::new();
    for mutant in mutants {
        for (file, text) in &mutant.files {
            write(&copy.join(SOURCES).join(file), text)?;
        }
        let done = test(&copy)?;
        let is_run = String::from_utf8_lossy(&done.stdout).contains("test result: FAILED");
        let verdict = match (done.status.success(), is_run) {
            (true, _) => "SURVIVES",
            (false, true) => "a test fails",
            (false, false) if mutant.may_not_build => "the build fails",
            (false, false) => "CANNOT BE BUILT",
        };
        println!("{} {}: {verdict}", mutant.wrapper, mutant.says);
        match verdict {
            "SURVIVES" => findings.push(format!("{} {}: no test of wrappers fails", mutant.wrapper, mutant.says)),
            "CANNOT BE BUILT" => {
                findings.push(format!("{} {} cannot be built:\n{}", mutant.wrapper, mutant.says, shown(&done)));
            }
            _ => {}
        }
        for (file, _) in &mutant.files {
            let from = root.join(SOURCES).join(file);
            let text = fs::read_to_string(&from).map_err(|error| format!("{file}: cannot be read: {error}"))?;
            write(&copy.join(SOURCES).join(file), &text)?;
        }
    }
    println!("{} mutants, {} not noticed", mutants.len(), findings.len());
    Ok(findings)
}

/// Writes the crate `sched` into a workspace of its own, without the crates that only its other
/// tests need: those would be compiled anew for each mutant.
fn write_copy(root: &Path, copy: &Path) -> Result<(), String> {
    let paths = tracked(root)?;
    let is_copied =
        |path: &&String| path.starts_with("crates/sched/") || *path == "Cargo.lock" || *path == "Cargo.toml";
    // What a change of the checkout took away.
    let _ = fs::remove_dir_all(copy.join("crates"));
    for path in paths.iter().filter(is_copied).filter(|path| root.join(path).exists()) {
        let text = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: cannot be read: {error}"))?;
        let text = match path.as_str() {
            "Cargo.toml" => workspace(&text),
            "crates/sched/Cargo.toml" => without_section(&text, "[dev-dependencies]"),
            _ => text,
        };
        write(&copy.join(path), &text)?;
    }
    Ok(())
}

/// The manifest of a workspace with this crate alone and the usual profiles.
fn workspace(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.starts_with("[profile"));
    let members = |line: &str| match line.split_once(" = ") {
        Some(("members", _)) => "members = [\"crates/sched\"]\n".to_owned(),
        Some(("default-members", _)) => String::new(),
        _ => format!("{line}\n"),
    };
    lines.map(members).collect()
}

/// A manifest without one of its sections.
fn without_section(text: &str, section: &str) -> String {
    let mut is_inside = false;
    let mut keep = |line: &&str| {
        is_inside = if line.starts_with('[') { *line == section } else { is_inside };
        !is_inside
    };
    text.lines().filter(|line| keep(line)).map(|line| format!("{line}\n")).collect()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error| format!("{}: cannot be written: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

/// Runs the tests of wrappers in the copy. What builds soonest: a mutant's tests take no time.
fn test(copy: &Path) -> Result<Output, String> {
    Command::new("cargo")
        .args(["test", "--offline", "-p", "fairq-sched", "--test", "wrappers", "--target-dir", "target"])
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "1")
        .current_dir(copy)
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))
}

/// What a run printed.
fn shown(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{err}{out}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_needs_no_other_crate() {
        let text =
            "[workspace]\nmembers = [\"a\"]\ndefault-members = [\"a\"]\nresolver = \"3\"\n[profile.dev]\nx = 1\n";
        assert_eq!(workspace(text), "[workspace]\nmembers = [\"crates/sched\"]\nresolver = \"3\"\n");
        let text = "[dependencies]\na = 1\n[dev-dependencies]\nb = 1\n# c\n[[test]]\nname = \"b\"\n";
        assert_eq!(without_section(text, "[dev-dependencies]"), "[dependencies]\na = 1\n[[test]]\nname = \"b\"\n");
    }

    #[test]
    fn a_method_that_a_wrapper_lacks_is_a_finding() {
        let wrapper = &WRAPPERS[2];
        assert_eq!(left_out(wrapper, "may_pass"), None);
        assert!(
            left_out(wrapper, "decision").is_some_and(|finding| finding.contains("Policed does not forward decision"))
        );
    }

    #[test]
    fn every_wrapper_has_mutants_in_this_tree() {
        let root = crate::root();
        let sources: Sources = WRAPPERS
            .iter()
            .map(|wrapper| (wrapper.file, fs::read_to_string(root.join(SOURCES).join(wrapper.file)).unwrap()))
            .collect();
        let (mutants, findings) = found(&sources).unwrap();
        assert_eq!(findings, [""; 0]);
        let chosen = one_of_each(mutants, 5);
        for wrapper in WRAPPERS {
            let kinds = chosen.iter().filter(|mutant| mutant.wrapper == wrapper.name).count();
            assert_eq!(kinds, if wrapper.parts.is_empty() { 1 } else { 2 }, "{}", wrapper.name);
        }
    }
}
