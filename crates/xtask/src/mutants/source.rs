//! Traits, their implementations and calls of their methods, found in formatted Rust by the lines.

use std::ops::Range;

/// A method of a trait or of an implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Method {
    pub(crate) name: String,
    /// Its lines, with comments and attributes above it.
    pub(crate) lines: Range<usize>,
    /// The line of its name.
    at: usize,
    /// Whether it has a body: in a trait, whether it has a default.
    pub(crate) has_body: bool,
}

/// A call of a method that has a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) of: String,
    pub(crate) method: String,
    pub(crate) line: usize,
    column: usize,
}

/// The methods of the trait called `name`.
pub(crate) fn trait_methods(text: &str, name: &str) -> Option<Vec<Method>> {
    let begins = [':', ' '].map(|after| format!("pub trait {name}{after}"));
    methods(text, |line| begins.iter().any(|begins| line.starts_with(begins)))
}

/// The methods in the implementation of the trait `of` for a type whose name begins with `target`.
pub(crate) fn impl_methods(text: &str, of: &str, target: &str) -> Option<Vec<Method>> {
    let says = format!(" {of} for {target}");
    methods(text, |line| line.starts_with("impl") && line.contains(&says))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The methods of the block whose first line is one that `begins`.
fn methods(text: &str, begins: impl Fn(&str) -> bool) -> Option<Vec<Method>> {
    let lines: Vec<&str> = text.lines().collect();
    let closes = |from: usize| {
        let closing = format!("{}}}", " ".repeat(indent(lines[from])));
        (from..lines.len()).find(|line| lines[*line] == closing)
    };
    let first = lines.iter().position(|line| begins(line.trim_start()))?;
    let mut found = Vec::new();
    for at in first..closes(first)? {
        let said = lines[at].trim_start();
        let Some(rest) = said.strip_prefix("fn ").filter(|_| indent(lines[at]) == indent(lines[first]) + 4) else {
            continue;
        };
        let signed = (at..lines.len()).find(|line| lines[*line].ends_with(['{', ';', '}']))?;
        let end = if lines[signed].ends_with('{') { closes(at)? } else { signed };
        let is_above = |line: &&&str| ["//", "#["].iter().any(|mark| line.trim_start().starts_with(mark));
        let above = lines[..at].iter().rev().take_while(is_above).count();
        let name = rest.split(['(', '<']).next()?.to_owned();
        found.push(Method { name, lines: at - above..end + 1, at, has_body: !lines[signed].ends_with(';') });
    }
    Some(found)
}

/// `text` without `method`.
pub(crate) fn without(text: &str, method: &Method) -> String {
    let kept = text.lines().enumerate().filter(|(line, _)| !method.lines.contains(line));
    kept.map(|(_, line)| format!("{line}\n")).collect()
}

/// The name of the method that does what the default of `method` does.
pub(crate) fn default_of(method: &str) -> String {
    format!("{method}_by_default")
}

/// The text of a trait with a further method, [`default_of`] `method`, that no part overrides.
pub(crate) fn with_default(text: &str, method: &Method) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let body = lines[method.at..method.lines.end].join("\n");
    let twin = body.replacen(&method.name, &default_of(&method.name), 1);
    let (before, after) = lines.split_at(method.lines.end);
    [before, &[twin.as_str()], after].concat().join("\n") + "\n"
}

/// The calls in `text`, outside its tests, of `method` of the trait `of` on something named `part`.
pub(crate) fn calls(text: &str, part: &str, of: &str, method: &str) -> Vec<Call> {
    let mut found = Vec::new();
    let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
    for (number, line) in code.enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        let mut note = |column| found.push(Call { of: of.to_owned(), method: method.to_owned(), line: number, column });
        for (at, _) in line.match_indices(&format!(".{method}(")) {
            let receiver = line[..at].rsplit([' ', '|']).next().unwrap_or_default();
            if receiver.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == part) {
                note(at + 1);
            }
        }
        for (at, path) in line.match_indices(&format!("{of}::{method})")) {
            let receiver = line[..at].rsplit(' ').next().unwrap_or_default();
            if receiver.split(['.', '(']).any(|word| word == part) {
                note(at + path.len() - 1 - method.len());
            }
        }
    }
    found
}

/// `text` with the default called in place of the part's method.
pub(crate) fn with_call_of_default(text: &str, call: &Call) -> String {
    let change = |(number, line): (usize, &str)| {
        let (before, after) = line.split_at(if number == call.line { call.column } else { 0 });
        let after = if number == call.line {
            after.replacen(&call.method, &default_of(&call.method), 1)
        } else {
            after.to_owned()
        };
        format!("{before}{after}\n")
    };
    text.lines().enumerate().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIT: &str = "\
pub trait Part: Send {
    /// What it is.
    fn traits(&self) -> Traits;

    /// The line has become idle.
    fn idle(&mut self, _now: Time) {}

    fn victim(
        &mut self,
        _now: Time,
    ) -> Option<Victim> {
        self.idle(now);
        None
    }
}
";

    const WRAPPER: &str = "\
impl<P: Part> Part for Wrapper<P> {
    fn traits(&self) -> Traits {
        self.part.traits()
    }

    // Both of them.
    #[inline]
    fn idle(&mut self, now: Time) {
        self.part.idle(now);
        self.clock.idle(now);
    }
    fn victim(&mut self, now: Time) -> Option<Victim> {
        early.or_else(|| self.part.as_mut()?.victim(now)).or(self.part.as_ref().and_then(Part::victim))
    }
}
#[cfg(test)]
    self.part.idle(now);
";

    fn names(methods: &[Method]) -> Vec<(&str, Range<usize>, bool)> {
        methods.iter().map(|method| (method.name.as_str(), method.lines.clone(), method.has_body)).collect()
    }

    #[test]
    fn methods_are_found_with_their_lines() {
        let part = trait_methods(TRAIT, "Part").unwrap();
        assert_eq!(names(&part), [("traits", 1..3, false), ("idle", 4..6, true), ("victim", 7..14, true)]);
        let wrapper = impl_methods(WRAPPER, "Part", "Wrapper<").unwrap();
        assert_eq!(names(&wrapper), [("traits", 1..4, true), ("idle", 5..11, true), ("victim", 11..14, true)]);
        assert_eq!(trait_methods(TRAIT, "Par"), None);
        assert!(impl_methods(WRAPPER, "Part", "Box<").is_none());
    }

    #[test]
    fn a_method_is_taken_out_with_what_is_above_it() {
        let wrapper = impl_methods(WRAPPER, "Part", "Wrapper<").unwrap();
        let left = without(WRAPPER, &wrapper[1]);
        assert!(!left.contains("fn idle") && !left.contains("Both") && !left.contains("inline"), "{left}");
        assert!(left.contains("fn traits") && left.contains("fn victim"), "{left}");
    }

    #[test]
    fn a_call_of_a_part_becomes_one_of_its_default() {
        let part = trait_methods(TRAIT, "Part").unwrap();
        let twice = with_default(TRAIT, &part[2]);
        assert!(twice.contains("fn victim(") && twice.contains("fn victim_by_default(\n"), "{twice}");
        let [idle, victim] = ["idle", "victim"].map(|method| calls(WRAPPER, "part", "Part", method));
        assert_eq!((idle.len(), victim.len()), (1, 2), "not the clock's, and none in a test");
        let changed = with_call_of_default(WRAPPER, &idle[0]);
        assert!(changed.contains("self.part.idle_by_default(now);") && changed.contains("fn idle("), "{changed}");
        let changed = victim.iter().map(|call| with_call_of_default(WRAPPER, call)).collect::<Vec<_>>();
        assert!(changed[0].contains("as_mut()?.victim_by_default(now)") && changed[0].contains("Part::victim)"));
        assert!(changed[1].contains("as_mut()?.victim(now)") && changed[1].contains("Part::victim_by_default)"));
    }
}
