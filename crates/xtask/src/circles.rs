//! Circles among the modules of a crate, and among those of the Python package. Modules that use
//! each other in a ring can only be read, moved and tested together, and the first such ring
//! invites the next.
//!
//! A module is a file or folder directly below `src`. Module a uses module b if a file of a names b
//! by a path that begins with `crate` or leaves a by `super`. Tests are left out. A module of
//! Python is a file, and what it uses is what it imports, also inside a function.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::Findings;
use crate::python_imports::{Imports, Uses};

/// Crates with circles that stay: how many modules are in them, by how many uses, and the reason.
/// Neither number may rise.
const KNOWN_RINGS: &[(&str, Size, &str)] = &[
    (
        "sched",
        Size { modules: 19, uses: 70 },
        "its registry names every part, and parts that hold other parts (hpfq, htb, the designs) name the registry; a \
         queue names own parts and the wrapper that checks them, and both name the queue; settings of schedulers hold \
         the queues in their leaves",
    ),
    (
        "sim",
        Size { modules: 3, uses: 5 },
        "the registries of transports and traffic name own parts, and what builds one names what it builds",
    ),
];

/// The circles of the Python package: of what is loaded, and with what a checker of types reads
/// beside that. No number may rise.
const KNOWN_OF_PYTHON: [Size; 2] = [Size { modules: 4, uses: 4 }, Size { modules: 6, uses: 6 }];

/// Imports of the package's own modules that stand inside functions; they may not rise.
const INSIDE_FUNCTIONS: usize = 75;

/// How large the circles of a crate are, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    modules: usize,
    uses: usize,
}

/// Uses that are left out, each with the reason: the crate, the module that uses, the module that
/// is used.
const KNOWN: &[(&str, &str, &str, &str)] = &[];

/// Circles of all crates, and entries of `KNOWN` that no longer hold.
pub(crate) fn circles(root: &Path, python: &Imports) -> Findings {
    let mut findings = Findings::new();
    let entries = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.join("src").is_dir()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let mut uses = uses(&folder.join("src"));
        for (_, from, to, _) in KNOWN.iter().filter(|known| known.0 == name) {
            if uses.remove(&((*from).to_owned(), (*to).to_owned())).is_none() {
                findings.push(format!("crates/{name}: {from} does not use {to}; take it out of KNOWN (circles.rs)"));
            }
        }
        let rings = rings(&uses);
        match KNOWN_RINGS.iter().find(|(crate_name, ..)| *crate_name == name) {
            Some((_, known, _)) => findings
                .extend(change(size(&rings, &uses), *known, "KNOWN_RINGS").map(|f| format!("crates/{name}: {f}"))),
            None => findings.extend(rings.iter().map(|ring| format!("crates/{name}: {}", told(ring, &uses)))),
        }
    }
    findings.extend(of_python(python));
    findings
}

/// How the circles of the Python package differ from those that are known.
fn of_python(imports: &Imports) -> Findings {
    let sizes = [&imports.loaded, &imports.with_types].map(|uses| size(&rings(uses), uses));
    let kinds = ["imports", "imports and those for types"];
    let changed = sizes.iter().zip(KNOWN_OF_PYTHON).zip(kinds).filter_map(|((now, known), kind)| {
        change(*now, known, "KNOWN_OF_PYTHON").map(|told| format!("python/fairq, by {kind}: {told}"))
    });
    let mut findings: Findings = changed.collect();
    let inside = imports.inside_functions;
    if inside != INSIDE_FUNCTIONS {
        let what = if inside > INSIDE_FUNCTIONS { "import at the top of the file" } else { "write the number" };
        findings.push(format!(
            "python/fairq: {inside} imports of its own modules inside functions, and INSIDE_FUNCTIONS (circles.rs) is \
             {INSIDE_FUNCTIONS}; {what}"
        ));
    }
    findings
}

/// How large `rings` are.
fn size(rings: &[Vec<String>], uses: &Uses) -> Size {
    let within = |ring: &Vec<String>| uses.keys().filter(|(from, to)| ring.contains(from) && ring.contains(to)).count();
    Size { modules: rings.iter().map(Vec::len).sum(), uses: rings.iter().map(within).sum() }
}

/// What to do about circles that are not of the committed size.
fn change(now: Size, known: Size, place: &str) -> Option<String> {
    let Size { modules, uses } = now;
    if now == known {
        None
    } else if modules <= known.modules && uses <= known.uses {
        Some(format!("its circles are smaller; write {modules} modules and {uses} uses into {place} (circles.rs)"))
    } else {
        Some(format!(
            "its circles have {modules} modules by {uses} uses, and had {} by {}; use no module above",
            known.modules, known.uses
        ))
    }
}

/// A ring in one line.
fn told(ring: &[String], uses: &Uses) -> String {
    let within = uses.iter().filter(|((from, to), _)| ring.contains(from) && ring.contains(to));
    let steps: Vec<String> = within.map(|((from, to), file)| format!("{from} uses {to} ({file})")).collect();
    format!("modules in a circle; move what both sides need below them: {}", steps.join(", "))
}

/// Which module of the crate whose sources are in `folder` uses which.
fn uses(folder: &Path) -> Uses {
    let mut files = Vec::new();
    sources(folder, &mut Vec::new(), &mut files);
    let modules: BTreeSet<&String> = files.iter().filter_map(|(module, _)| module.first()).collect();
    let mut uses = Uses::new();
    for (module, text) in &files {
        let Some(own) = module.first() else { continue };
        for named in named(text, module.len()) {
            if modules.contains(&named) && named != *own {
                uses.entry((own.clone(), named)).or_insert_with(|| module.join("/") + ".rs");
            }
        }
    }
    uses
}

/// The files below `folder` with the paths of their modules; the crate's root has the empty path.
fn sources(folder: &Path, above: &mut Vec<String>, files: &mut Vec<(Vec<String>, String)>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            above.push(stem);
            sources(&path, above, files);
            above.pop();
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let is_folder = matches!(&*stem, "mod" | "lib" | "main");
            let module = above.iter().cloned().chain((!is_folder).then_some(stem)).collect();
            files.push((module, fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

/// The first names of the paths in `text` that begin at the root of the crate; the file's module is
/// `depth` below that.
fn named(text: &str, depth: usize) -> Vec<String> {
    let words = without_tests(&words(text));
    let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found == word);
    let mut named = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins = at;
        at += 1;
        if begins > 0 && is(begins - 1, "::") {
            continue;
        }
        let mut steps = 0;
        let mut next = begins;
        while is(next, "super") && is(next + 1, "::") {
            (steps, next) = (steps + 1, next + 2);
        }
        if is(begins, "crate") && is(begins + 1, "::") {
            (steps, next) = (depth, begins + 2);
        }
        if next == begins || steps != depth {
            continue;
        }
        if !is(next, "{") {
            named.extend(words.get(next).cloned());
            continue;
        }
        // Of `{a::{b, c}, d}` these are a and d.
        let (mut level, mut is_first) = (0, true);
        for word in &words[next..] {
            match &**word {
                "{" => level += 1,
                "}" => level -= 1,
                "," if level == 1 => is_first = true,
                word if level == 1 && is_first => {
                    named.push(word.to_owned());
                    is_first = false;
                }
                _ => {}
            }
            if level == 0 {
                break;
            }
        }
    }
    named
}

/// The words of a program, and its marks; `::` is one. Comments and texts are left out.
fn words(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let is = |at: usize, mark: char| characters.get(at) == Some(&mark);
    let mut words = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let from = at;
        at += 1;
        match characters[from] {
            '/' if is(at, '/') => at = after(&characters, at, "\n"),
            '/' if is(at, '*') => at = after(&characters, at, "*/"),
            '"' => at = end_of_text(&characters, at),
            'r' if is(at, '"') || is(at, '#') && (is(at + 1, '#') || is(at + 1, '"')) => {
                let marks = characters[at..].iter().take_while(|mark| **mark == '#').count();
                at = after(&characters, at + marks + 1, &format!("\"{}", "#".repeat(marks)));
            }
            // A character and not a lifetime.
            '\'' if is(at, '\\') => at = after(&characters, at + 2, "'"),
            '\'' if is(at + 1, '\'') => at += 2,
            ':' if is(at, ':') => {
                at += 1;
                words.push("::".to_owned());
            }
            mark if mark.is_alphanumeric() || mark == '_' => {
                let is_of_word = |mark: &&char| mark.is_alphanumeric() || **mark == '_';
                at += characters[at..].iter().take_while(is_of_word).count();
                words.push(characters[from..at].iter().collect());
            }
            mark if mark.is_whitespace() => {}
            mark => words.push(mark.to_string()),
        }
    }
    words
}

/// The place after the next `end`.
fn after(characters: &[char], from: usize, end: &str) -> usize {
    let end: Vec<char> = end.chars().collect();
    let rest = characters.get(from..).unwrap_or_default();
    rest.windows(end.len()).position(|found| found == end).map_or(characters.len(), |found| from + found + end.len())
}

/// The place after a text in quotation marks whose first character is at `from`.
fn end_of_text(characters: &[char], mut from: usize) -> usize {
    while from < characters.len() && characters[from] != '"' {
        from += if characters[from] == '\\' { 2 } else { 1 };
    }
    from + 1
}

/// The words that no `#[cfg(test)]` stands before.
fn without_tests(words: &[String]) -> Vec<String> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !words[at..].iter().map(String::as_str).take(MARK.len()).eq(MARK) {
            kept.push(words[at].clone());
            at += 1;
            continue;
        }
        let mut level = 0;
        for word in &words[at + MARK.len()..] {
            at += 1;
            match &**word {
                "{" => level += 1,
                "}" => level -= 1,
                _ => {}
            }
            if level == 0 && matches!(&**word, "}" | ";") {
                break;
            }
        }
        at += MARK.len();
    }
    kept
}

/// The modules that reach each other, ring by ring.
fn rings(uses: &Uses) -> Vec<Vec<String>> {
    let modules: BTreeSet<&String> = uses.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        modules.iter().map(|from| (*from, reached(from, uses))).collect();
    let mut rings: Vec<Vec<String>> = Vec::new();
    for module in &modules {
        let ring: Vec<String> =
            reached[*module].iter().filter(|other| reached[**other].contains(*module)).map(|m| (*m).clone()).collect();
        if !ring.is_empty() && !rings.contains(&ring) {
            rings.push(ring);
        }
    }
    rings
}

/// All that `from` uses, and what these use.
fn reached<'a>(from: &'a String, uses: &'a Uses) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        let next = uses.keys().filter(|(user, _)| user == module).map(|(_, used)| used);
        open.extend(next.filter(|used| found.insert(*used)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_the_root_are_named_and_tests_texts_and_comments_are_not() {
        let text = r##"
            use crate::{a::{x, y}, b};
            use super::super::c::Z;
            use super::own;
            // use crate::no;
            const TEXT: [&str; 2] = ["use crate::no;", r#"crate::no::"#];
            fn f<'a>(of: &'a crate::d::D) -> char { let _ = '"'; other::crate_::no(of) }
            #[cfg(test)]
            use crate::no;
            #[cfg(test)]
            mod tests { use crate::no; fn f() {} }
            use crate::e;
        "##;
        assert_eq!(named(text, 2), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn a_ring_is_found_and_a_row_is_not() {
        let uses = |pairs: &[(&str, &str)]| -> Uses {
            pairs.iter().map(|(a, b)| (((*a).to_owned(), (*b).to_owned()), String::new())).collect()
        };
        assert!(rings(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
        let ring = rings(&uses(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "a")]));
        assert_eq!(ring, [["a", "b", "c"]]);
        let all = uses(&[("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("c", "d")]);
        let now = size(&rings(&all), &all);
        assert_eq!(now, Size { modules: 3, uses: 4 });
        assert_eq!(change(now, now, "K"), None);
        assert!(
            change(now, Size { uses: 5, ..now }, "K").is_some_and(|told| told.contains("write 3 modules and 4 uses"))
        );
        assert!(change(now, Size { uses: 3, ..now }, "K").is_some_and(|told| told.contains("had 3 by 3")));
    }
}
