//! The public items of a crate as text, for `crates/<name>/public.txt`: what users of the crate can
//! name.
//!
//! A reader of lines: it takes formatted sources as they stand. An item is listed where it is
//! written, with `pub` before it; also in a module that is not public, if something leaves that by
//! `pub use`. Items that a macro makes are not seen, but for those of `no_settings!`; the registries
//! have pages of their own.

use std::fs;
use std::path::Path;

/// The crates whose public items are committed.
pub(crate) const CRATES: [&str; 3] = ["sched", "link", "sim"];

/// The public items of the crate in `folder`, a line for each, in the order of their modules.
pub(crate) fn public(folder: &Path) -> String {
    let mut files = Vec::new();
    modules(&folder.join("src"), "", &mut files);
    let private: Vec<String> = files.iter().flat_map(|(module, text)| private(module, text)).collect();
    let is_public = |module: &str| !private.iter().any(|private| module.starts_with(private.as_str()));
    let public = files.iter().filter(|(module, _)| is_public(module));
    let mut lines: Vec<String> = public
        .flat_map(|(module, text)| items(text).into_iter().map(move |item| format!("{module}{item}\n")))
        .collect();
    lines.sort();
    lines.dedup();
    lines.concat()
}

/// All files below `folder`, which is the module called so, with the paths of their modules; tests
/// are left out.
fn modules(folder: &Path, name: &str, files: &mut Vec<(String, String)>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_root = matches!(stem, "lib" | "mod");
        let module = if is_root { name.to_owned() } else { format!("{name}{stem}::") };
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            modules(&path, &module, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push((module, fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

/// The modules that a file keeps for itself: of these nothing is public.
fn private(module: &str, text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let leaves =
        |name: &&str| text.contains(&format!("pub use {name}::")) || text.contains(&format!("pub use self::{name}"));
    names.filter(|name| !leaves(name)).map(|name| format!("{module}{name}::")).collect()
}

/// What encloses an item.
struct Block {
    indent: usize,
    name: String,
    /// Its inner items are public without a word: a trait's, an enum's.
    is_open: bool,
}

/// The public items of a file, each with what encloses it.
fn items(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut skipped_to: Option<usize> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (indent, said) = (line.len() - line.trim_start().len(), line.trim());
        if said.is_empty() || said.starts_with("//") {
            continue;
        }
        if let Some(test) = skipped_to {
            let is_end = indent == test && !said.starts_with("#[") && said.ends_with(['}', ';']);
            skipped_to = skipped_to.filter(|_| !is_end);
            continue;
        }
        if matches!(said, "#[cfg(test)]" | "macro_rules! no_settings {") {
            skipped_to = Some(indent);
            continue;
        }
        if said.starts_with("no_settings!(") {
            found.push("struct Settings".to_owned());
            continue;
        }
        blocks.retain(|block| block.indent < indent);
        let is_open = blocks.last().is_some_and(|block| block.is_open && block.indent + 4 == indent);
        let is_item = said.starts_with("pub ") || (is_open && !said.starts_with(['#', '}', ')', ']']));
        if !is_item && !said.starts_with("impl") && !said.starts_with("unsafe impl") {
            continue;
        }
        let whole = whole(said, &mut lines);
        let path: String = blocks.iter().map(|block| format!("{}::", block.name)).collect();
        // what a macro writes is known when it is called
        if is_item && !whole.contains('$') {
            found.push(format!("{path}{}", shown(&whole)));
        }
        if whole.ends_with('{') {
            let inner = is_open && !whole.contains("fn ");
            let opens = |word: &str| is_item && whole.starts_with(&format!("pub {word} "));
            let is_open = inner || opens("trait") || opens("unsafe trait") || opens("enum");
            blocks.push(Block { indent, name: name_of(&whole), is_open });
        }
    }
    found
}

/// An item's line with those that go on with it, up to its body or its end.
fn whole(first: &str, lines: &mut std::str::Lines<'_>) -> String {
    let mut whole = first.to_owned();
    let word = first.trim_start_matches("pub ").split([' ', '<']).next().unwrap_or_default();
    let ends: &[char] = if WORDS.contains(&word) { &['{', '}', ';'] } else { &['{', '}', ';', ','] };
    let count = |text: &str, marks: &[char]| text.matches(marks).count();
    let is_open = |text: &str| count(text, &['(', '[']) > count(text, &[')', ']']);
    while is_open(&whole) || !whole.ends_with(ends) || (word == "use" && !whole.ends_with(';')) {
        let Some(next) = lines.next() else { break };
        let next = next.trim();
        if !next.starts_with("//") {
            whole = format!("{whole} {next}");
        }
    }
    whole
}

/// The words that begin an item which no comma ends, as it ends a field and a variant.
const WORDS: &[&str] = &[
    "async", "const", "enum", "extern", "fn", "impl", "mod", "static", "struct", "trait", "type", "union", "unsafe",
    "use",
];

/// An item without its body, in one line; a field without the default that `settings!` gives it.
fn shown(item: &str) -> String {
    let is_field = item.split(' ').nth(1).is_some_and(|word| word.ends_with(':'));
    let is_value = is_field || item.contains("const ") || item.contains("static ");
    let end = if is_value { item.find(" = ") } else { item.find(" {").filter(|_| !item.starts_with("pub use")) };
    let text = item[..end.unwrap_or(item.len())].trim_end_matches([',', ';', '{', ' ']);
    text.strip_prefix("pub ").unwrap_or(text).replace("( ", "(").replace(", )", ")")
}

/// The name of a block that an item opens: of an `impl` what it is for.
fn name_of(item: &str) -> String {
    let item = item.trim_end_matches(['{', ' ']);
    if let Some(rest) = item.trim_start_matches("unsafe ").strip_prefix("impl") {
        let rest = rest.split(" where ").next().unwrap_or(rest);
        return without_parameters(rest).trim().to_owned();
    }
    let kinds = ["trait ", "enum ", "struct ", "union ", "mod "];
    let after = kinds.iter().filter_map(|kind| item.split_once(kind)).map(|(_, after)| after).next().unwrap_or(item);
    after.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned()
}

/// What stands behind the parameters `<...>` with which a text begins.
fn without_parameters(text: &str) -> &str {
    let mut level = 0;
    for (at, mark) in text.char_indices() {
        match mark {
            '<' => level += 1,
            '>' if !text[..at].ends_with('-') => level -= 1,
            _ => {}
        }
        if level == 0 {
            return if at == 0 { text } else { &text[at + 1..] };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_private_unless_something_leaves_it() {
        let text = "mod a;\nmod b;\npub mod c;\npub use b::B;\n";
        assert_eq!(private("x::", text), ["x::a::"]);
    }

    #[test]
    fn public_items_are_found_with_what_encloses_them() {
        let text = "\
pub use a::{
    B,
    C,
};
pub(crate) fn no() {}
pub const N: u8 = 3;
no_settings!(\"None.\");

/// Text.
pub struct S<T> {
    pub a: Vec<T>,
    b: u8,
}

impl<T> S<T>
where
    T: Copy,
{
    pub fn new(
        a: Vec<T>,
    ) -> Self {
        pub_nothing();
    }
    fn private(&self) {}
}

settings! {
    /// Text.
    pub struct F {
        pub c: Vec<u8> = vec![3],
    }
}

#[derive(Clone)]
pub enum E {
    /// One.
    A,
    B { x: u8 },
    C {
        x: u8,
    },
}

pub trait D: Send {
    fn d(&self) -> u8;
    fn e(&self) {
        let x = 1;
    }
}

#[cfg(test)]
mod tests {
    pub fn no() {}
}
pub fn last() {}
";
        let expected = [
            "use a::{ B, C, }",
            "const N: u8",
            "struct Settings",
            "struct S<T>",
            "S::a: Vec<T>",
            "S<T>::fn new(a: Vec<T>) -> Self",
            "struct F",
            "F::c: Vec<u8>",
            "enum E",
            "E::A",
            "E::B",
            "E::C",
            "E::C::x: u8",
            "trait D: Send",
            "D::fn d(&self) -> u8",
            "D::fn e(&self)",
            "fn last()",
        ];
        assert_eq!(items(text), expected);
    }
}
