//! Functions of more than 70 lines. A new one is refused, and so is one that was moved; those that
//! there were stand in `limits/functions.txt` with their lines, which may only fall.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Findings;

/// The most lines of a function, from its name to its end: a screen.
const LINES_MAX: usize = 70;
const LIST: &str = "crates/xtask/limits/functions.txt";

/// By file and name, the lines of a function.
type Long = BTreeMap<(String, String), usize>;

/// Long functions that are not in the list or longer than in it, and entries that no longer hold.
pub(crate) fn functions(root: &Path, paths: &[String]) -> Findings {
    let text = fs::read_to_string(root.join(LIST)).unwrap_or_default();
    findings(&long(root, paths), &read(&text))
}

/// Writes the list anew; what is new in it is a finding and is not written.
pub(crate) fn update(root: &Path, paths: &[String]) -> Findings {
    let text = fs::read_to_string(root.join(LIST)).unwrap_or_default();
    let (now, known) = (long(root, paths), read(&text));
    let allowed = |(at, lines): (&(String, String), &usize)| {
        let most = if known.is_empty() { Some(lines) } else { known.get(at) };
        most.map(|most| format!("{} {} {}\n", at.0, at.1, (*most).min(*lines)))
    };
    let lines: String = now.iter().filter_map(allowed).collect();
    let written = fs::write(root.join(LIST), &lines).map_err(|error| format!("{LIST}: cannot be written: {error}"));
    written.err().into_iter().chain(findings(&now, &read(&lines))).collect()
}

/// What differs between the long functions and the list.
fn findings(now: &Long, known: &Long) -> Findings {
    let mut findings = Findings::new();
    for (at @ (path, name), lines) in now {
        match known.get(at) {
            None => findings.push(format!("{path}: {name} has {lines} lines, the most are {LINES_MAX}; split it")),
            Some(most) if lines > most => {
                findings.push(format!("{path}: {name} has {lines} lines and had {most}; split it"));
            }
            Some(_) => {}
        }
    }
    let shorter = known.iter().filter(|(at, most)| now.get(at).is_none_or(|lines| lines < most));
    let told = |((path, name), _): (&(String, String), &usize)| {
        format!("{path}: {name} is shorter than {LIST} says; run: cargo xtask size --update")
    };
    findings.extend(shorter.map(told));
    findings
}

/// The entries of the list.
fn read(text: &str) -> Long {
    let entry = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let (path, name, lines) = (words.next()?, words.next()?, words.next()?);
        Some(((path, name), lines.parse().ok()?))
    };
    text.lines().filter_map(entry).collect()
}

/// All functions of the tree that are too long.
fn long(root: &Path, paths: &[String]) -> Long {
    let mut found = Long::new();
    for path in paths.iter().filter(|path| !path.starts_with("python/fairq/_papers")) {
        let is_python = path.ends_with(".py");
        if !is_python && !path.ends_with(".rs") {
            continue;
        }
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        for (name, lines) in lengths(&text, is_python).into_iter().filter(|(_, lines)| *lines > LINES_MAX) {
            let longest = found.entry((path.clone(), name)).or_insert(0);
            *longest = lines.max(*longest);
        }
    }
    found
}

/// The functions of a formatted file with their lines. A function ends at the line of its closing
/// brace, which begins as far to the right as the function does; in Python before the next line
/// that does not begin further to the right.
fn lengths(text: &str, is_python: bool) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let (indent, said) = (line.len() - line.trim_start().len(), line.trim_start());
        let Some(name) = (if is_python { name_of_python(said) } else { name_of_rust(said) }) else { continue };
        let closing = format!("{}}}", " ".repeat(indent));
        let is_end = |line: &&str| {
            let begins = line.len() - line.trim_start().len();
            let is_body = line.trim().is_empty() || begins > indent || line.trim_start().starts_with(')');
            if is_python { !is_body } else { **line == closing || (begins == indent && line.ends_with([';', '}'])) }
        };
        let is_one_line = !is_python && line.ends_with([';', '}']);
        let rest = &lines[at + 1..];
        let after = rest.iter().position(is_end).unwrap_or(rest.len());
        let blank = rest[..after].iter().rev().take_while(|line| line.trim().is_empty()).count();
        let length = match (is_one_line, is_python) {
            (true, _) => 1,
            (false, true) => 1 + after - blank,
            (false, false) => 2 + after,
        };
        found.push((name.to_owned(), length));
    }
    found
}

/// The name of the function that a line of Rust begins.
fn name_of_rust(said: &str) -> Option<&str> {
    let at = if said.starts_with("fn ") { 0 } else { said.find(" fn ")? + 1 };
    let is_before = |word: &str| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "default")
            || word.starts_with(['"', '('])
            || word.starts_with("pub(")
            || word.ends_with(')')
    };
    let name = said[at + 3..].split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (said[..at].split_whitespace().all(is_before) && !name.is_empty()).then_some(name)
}

/// The name of the function that a line of Python begins.
fn name_of_python(said: &str) -> Option<&str> {
    let rest = said.strip_prefix("async ").unwrap_or(said).strip_prefix("def ")?;
    rest.split('(').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, is_python: bool) -> String {
        lengths(text, is_python).iter().map(|(name, lines)| format!("{name} {lines} ")).collect()
    }

    #[test]
    fn functions_are_found_with_their_lines() {
        let rust = "impl A {\n    pub(crate) fn a(\n        x: u8,\n    ) -> u8 {\n        if x {\n        }\n    }\n\n    fn b() {}\n}\n\
                    trait T {\n    fn c(&self);\n}\n// the fn of it\npub const fn d() {\n}\n";
        assert_eq!(told(rust, false), "a 6 b 1 c 1 d 2 ");
        let python = "def a(\n    x,\n):\n    if x:\n        def b():\n            pass\n\n    return 1\n\n\nclass C:\n    async def c(self): ...\n\nX = 1\n";
        assert_eq!(told(python, true), "a 8 b 2 c 1 ");
    }

    #[test]
    fn a_long_function_may_only_get_shorter() {
        let one = |lines| Long::from([(("a.rs".to_owned(), "f".to_owned()), lines)]);
        assert_eq!(findings(&one(80), &one(80)), [""; 0]);
        assert!(findings(&one(81), &one(80))[0].contains("had 80"));
        assert!(findings(&one(79), &one(80))[0].contains("--update"));
        assert!(findings(&Long::new(), &one(80))[0].contains("--update"));
        assert!(findings(&one(80), &Long::new())[0].contains("the most are 70"));
        assert_eq!(read("a.rs f 80\n"), one(80));
    }
}
