//! Whether tests notice a method that a wrapper does not forward: `cargo xtask mutants`.
//!
//! A method of a trait that has a default can be left out of a wrapper, and nothing but a test says
//! so; one without a default is held by the compiler and needs no mutant. Each mutant is the crate
//! `sched` with one such method taken out of one wrapper, or with one call of a part replaced by
//! its default. The tests of wrappers (`crates/sched/tests/wrappers`) must fail with it.
//!
//! Mutants are built in a copy, in `target/mutants`: the checkout is not touched. `--all` builds
//! all; `--one` builds one of each wrapper, chosen by the commit, so that a failure can be
//! repeated. Mutants of different wrappers are built together, for each has tests of its own.

mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::Findings;
use crate::tracked::tracked;
use source::{Method, calls, default_of, impl_methods, trait_methods, with_call_of_default, with_default, without};

const SOURCES: &str = "crates/sched/src";
const CONTRACT: &str = "contract.rs";

/// An implementation of a trait that forwards to another one.
struct Wrapper {
    name: &'static str,
    file: &'static str,
    of: &'static str,
    /// How its type begins in `impl … for …`.
    target: &'static str,
    /// How the names of its tests begin.
    tests: &'static str,
    /// Parts of other kinds, or several, that its file calls: the name and the trait of each.
    parts: &'static [(&'static str, &'static str)],
}

impl Wrapper {
    const fn new(
        [name, file, of, target, tests]: [&'static str; 5],
        parts: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, file, of, target, tests, parts }
    }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper::new(["Box", CONTRACT, "Discipline", "Box<", "disciplines::a_box"], &[]),
    Wrapper::new(["Policed", "policed.rs", "Discipline", "Policed<", "disciplines::a_policed"], &[]),
    Wrapper::new(["Checked", "checked.rs", "Discipline", "Checked ", "disciplines::a_checked"], &[]),
    Wrapper::new(
        ["Composition", "compose.rs", "Discipline", "Composition<", "composition::"],
        &[("scheduler", "Scheduler"), ("buffer", "BufferPolicy"), ("marker", "Marker")],
    ),
    Wrapper::new(
        ["WithOverflow", "buffer/with_overflow.rs", "BufferPolicy", "WithOverflow<", "overflow::"],
        &[("early", "BufferPolicy"), ("full", "BufferPolicy")],
    ),
    Wrapper::new(["any scheduler", "any.rs", "Scheduler", "$any ", "parts::any_scheduler"], &[]),
    Wrapper::new(["any buffer policy", "any.rs", "BufferPolicy", "$any ", "parts::any_buffer_policy"], &[]),
    Wrapper::new(["any marker", "any.rs", "Marker", "$any ", "parts::any_marker"], &[]),
];

/// Methods that a wrapper need not forward, or a part of it is not asked, each with the reason.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("Policed", "may_pass", "its traits allow no bypass; the tests of wrappers hold that"),
    ("Checked", "may_pass", "its traits allow no bypass; the tests of wrappers hold that"),
    ("Composition", "scheduler.continued", "only a scheduler that holds schedulers calls it"),
    ("Composition", "scheduler.heads", "only a scheduler whose leaves have queues of their own is asked"),
    ("Composition", "scheduler.asks_empty", "only a scheduler whose leaves have queues of their own is asked"),
];

/// A change of a wrapper that a test of it must notice.
struct Mutant {
    wrapper: &'static Wrapper,
    change: Change,
}

enum Change {
    /// The method of this name is taken out.
    Without(String),
    /// A call of a part's method, the first or a later one, goes to the default of its trait.
    Default { part: &'static str, of: &'static str, method: String, place: usize },
}

impl Mutant {
    fn says(&self) -> String {
        let name = self.wrapper.name;
        match &self.change {
            Change::Without(method) => format!("{name} without {method}"),
            Change::Default { part, method, place, .. } => {
                format!("{name} with the default in place of call {} of {part}.{method}", place + 1)
            }
        }
    }

    /// Changes the texts; those of other wrappers may be changed already.
    fn apply(&self, sources: &mut Sources) -> Result<(), String> {
        let Wrapper { file, of, target, .. } = *self.wrapper;
        let text = &sources[file];
        let lost = || format!("{}: not found", self.says());
        let changed = match &self.change {
            Change::Without(name) => {
                let methods = impl_methods(text, of, target).ok_or_else(lost)?;
                without(text, methods.iter().find(|method| method.name == *name).ok_or_else(lost)?)
            }
            Change::Default { part, of, method, place } => {
                let calls = calls(text, part, of, method);
                let changed = with_call_of_default(text, calls.get(*place).ok_or_else(lost)?);
                let methods = trait_methods(&sources[CONTRACT], of).ok_or_else(lost)?;
                if !methods.iter().any(|other| other.name == default_of(method)) {
                    let default = methods.iter().find(|default| default.name == *method).ok_or_else(lost)?;
                    sources.insert(CONTRACT, with_default(&sources[CONTRACT], default));
                }
                changed
            }
        };
        sources.insert(file, changed);
        Ok(())
    }
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
    let built = files.map(read).collect::<Result<Sources, String>>().and_then(|sources| {
        let (mutants, mut findings) = found(&sources)?;
        let chosen = if all { None } else { Some(commit(root)?) };
        findings.extend(survivors(root, &sources, &rounds(mutants, chosen))?);
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
                Some(_) => mutants.push(Mutant { wrapper, change: Change::Without(default.name) }),
                None => findings.extend(left_out(wrapper, &default.name)),
            }
        }
        for (part, of) in wrapper.parts {
            for default in defaults(sources, of)? {
                let method = default.name;
                let sites = calls(text, part, of, &method).len();
                if sites == 0 {
                    findings.extend(left_out(wrapper, &format!("{part}.{method}")));
                }
                mutants.extend((0..sites).map(|place| Mutant {
                    wrapper,
                    change: Change::Default { part, of, method: method.clone(), place },
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

/// Mutants that are built together, each noticed by tests of its own: one of each wrapper at most,
/// and the box, in which other wrappers hold disciplines, apart from those. With a number, one
/// mutant of each kind is chosen by it.
fn rounds(mutants: Vec<Mutant>, chosen: Option<usize>) -> Vec<Vec<Mutant>> {
    let mut groups = BTreeMap::<_, Vec<Mutant>>::new();
    for mutant in mutants {
        let is_call = matches!(mutant.change, Change::Default { .. });
        let is_apart = is_call || mutant.wrapper.name == "Box";
        groups.entry((is_apart, mutant.wrapper.name)).or_default().push(mutant);
    }
    let mut rounds = BTreeMap::<_, Vec<Mutant>>::new();
    for ((is_apart, _), mut group) in groups {
        if let Some(number) = chosen {
            group = vec![group.swap_remove(number % group.len())];
        }
        for (place, mutant) in group.into_iter().enumerate() {
            rounds.entry((is_apart, place)).or_default().push(mutant);
        }
    }
    rounds.into_values().collect()
}

/// A number of the commit.
fn commit(root: &Path) -> Result<usize, String> {
    let asked = Command::new("git").args(["rev-parse", "--short=7", "HEAD"]).current_dir(root).output();
    let said = asked.map_err(|error| format!("git rev-parse cannot be run: {error}"))?;
    let name = String::from_utf8_lossy(&said.stdout).into_owned();
    usize::from_str_radix(name.trim(), 16).map_err(|error| format!("git rev-parse: {name:?}: {error}"))
}

/// The mutants that no test of their wrapper notices.
fn survivors(root: &Path, sources: &Sources, rounds: &[Vec<Mutant>]) -> Result<Findings, String> {
    let copy = root.join("target/mutants");
    write_copy(root, &copy)?;
    let unchanged = test(&copy)?;
    if !unchanged.status.success() {
        return Err(format!("the tests of wrappers do not pass without a change:\n{}", shown(&unchanged)));
    }
    let mut findings = Findings::new();
    for round in rounds {
        let all: Vec<&Mutant> = round.iter().collect();
        let done = test_mutants(&copy, sources, &all)?;
        if is_built(&done) {
            findings.extend(round.iter().filter_map(|mutant| survivor(mutant, &done)));
            continue;
        }
        // One of them at least: which, each by itself says.
        for mutant in round {
            let done = test_mutants(&copy, sources, &[mutant])?;
            match mutant.change {
                _ if is_built(&done) => findings.extend(survivor(mutant, &done)),
                Change::Without(_) => println!("{}: the build fails", mutant.says()),
                Change::Default { .. } => {
                    findings.push(format!("{} cannot be built:\n{}", mutant.says(), shown(&done)));
                }
            }
        }
    }
    let mutants: usize = rounds.iter().map(Vec::len).sum();
    println!("{mutants} mutants in {} rounds, {} not noticed", rounds.len(), findings.len());
    Ok(findings)
}

/// Tests the copy with these mutants in it and no others.
fn test_mutants(copy: &Path, sources: &Sources, mutants: &[&Mutant]) -> Result<Output, String> {
    let mut changed = sources.clone();
    mutants.iter().try_for_each(|mutant| mutant.apply(&mut changed))?;
    for (file, text) in &changed {
        let path = copy.join(SOURCES).join(file);
        // What is the same is not compiled anew.
        if fs::read_to_string(&path).is_ok_and(|old| old != *text) {
            write(&path, text)?;
        }
    }
    test(copy)
}

fn is_built(done: &Output) -> bool {
    String::from_utf8_lossy(&done.stdout).contains("test result: ")
}

/// What is to be said of a mutant with which all tests of its wrapper pass.
fn survivor(mutant: &Mutant, done: &Output) -> Option<String> {
    let begins = format!("test {}", mutant.wrapper.tests);
    let printed = String::from_utf8_lossy(&done.stdout);
    let is_noticed = printed.lines().any(|line| line.starts_with(&begins) && line.ends_with("FAILED"));
    println!("{}: {}", mutant.says(), if is_noticed { "a test fails" } else { "SURVIVES" });
    (!is_noticed).then(|| format!("{}: no test of wrappers fails", mutant.says()))
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
        let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == "Policed").expect("a wrapper");
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
        let rounds = rounds(mutants, Some(5));
        assert_eq!(rounds.len(), 2);
        let chosen: Vec<Mutant> = rounds.into_iter().flatten().collect();
        for wrapper in WRAPPERS {
            let kinds = chosen.iter().filter(|mutant| mutant.wrapper.name == wrapper.name).count();
            assert_eq!(kinds, if wrapper.parts.is_empty() { 1 } else { 2 }, "{}", wrapper.name);
        }
    }
}
