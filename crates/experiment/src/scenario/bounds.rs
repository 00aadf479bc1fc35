//! Bounds on a text in TOML, looked at before it is parsed: what it costs to read stays near its
//! length.
//!
//! A dotted key makes a table for each of its parts, and each list or inline table one more level.
//! The
//! path of each is kept with its line, so that a key of 40,000 parts would need gigabytes. No
//! scenario
//! and no study comes near these bounds.

use super::problem::Problem;
use fairq_text::Fault;
use toml::de::DeTable;

/// The most parts of a key, as `a.b.c` has three.
pub(super) const PARTS_MAX: usize = 32;
/// The most levels of lists and tables in a value.
pub(super) const DEPTH_MAX: usize = 64;
/// The longest path of a value in bytes, its keys with their dots and numbers.
pub(super) const PATH_MAX: usize = 1000;

/// A text in TOML, parsed if it keeps the bounds.
///
/// # Errors
/// What is not TOML, or which bound is broken; without the file's name.
pub(super) fn parse(text: &str) -> Result<toml::Spanned<DeTable<'_>>, Problem> {
    let problem = |at: Option<usize>, message: String| Problem {
        file: String::new(),
        line: at.map(|at| text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1),
        fault: Fault::new("", message),
    };
    if let Some((at, message)) = broken(text.as_bytes()) {
        return Err(problem(Some(at), format!("not TOML: {message}")));
    }
    DeTable::parse(text)
        .map_err(|error| problem(error.span().map(|span| span.start), format!("not TOML: {}", error.message())))
}

/// The message for a path that is too long or too deep.
pub(super) fn said_of_path() -> String {
    format!("a path has at most {PATH_MAX} bytes and {DEPTH_MAX} levels; write shorter keys, and fewer in each other")
}

/// The offset of the first byte beyond a bound, and which bound that is.
///
/// Strings and comments are passed over. The dots outside them are those of keys, and one in a
/// number.
fn broken(text: &[u8]) -> Option<(usize, String)> {
    let (mut at, mut depth, mut dots) = (0, 0_usize, 0_usize);
    while at < text.len() {
        match text[at] {
            b'#' => at += text[at..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len() - at),
            b'"' | b'\'' => at = string_end(text, at),
            byte => {
                match byte {
                    b'.' => dots += 1,
                    b'[' | b'{' => (depth, dots) = (depth + 1, 0),
                    b']' | b'}' => (depth, dots) = (depth.saturating_sub(1), 0),
                    b'=' | b',' | b'\n' => dots = 0,
                    _ => {}
                }
                at += 1;
            }
        }
        if dots >= PARTS_MAX {
            return Some((at, format!("a key has more than {PARTS_MAX} parts")));
        }
        if depth > DEPTH_MAX {
            return Some((at, format!("lists and tables stand more than {DEPTH_MAX} deep in each other")));
        }
    }
    None
}

/// Where the string that begins at `start` ends.
fn string_end(text: &[u8], start: usize) -> usize {
    let quote = text[start];
    let is_long = text[start..].starts_with(&[quote; 3]);
    let mut at = start + if is_long { 3 } else { 1 };
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'"' => at += 2,
            b'\n' if !is_long => return at,
            byte if byte == quote && !is_long => return at + 1,
            byte if byte == quote && text[at..].starts_with(&[quote; 3]) => return at + 3,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_the_bounds_is_toml_as_it_was() {
        let nested = format!("a = {}1{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
        let key = vec!["a"; PARTS_MAX].join(".") + " = 1";
        let texts = [nested.as_str(), &key, "a = \"[[[\\\"[[[\" # [[[[", "a = '''\n[['[['''\n", "a = 1.5\nb.c = 2.5"];
        for text in texts {
            assert_eq!(broken(text.as_bytes()), None, "{text}");
        }
        let dots = format!("a = \"{}\" # {}", ".".repeat(100), "[".repeat(100));
        assert!(parse(&dots).is_ok());
    }

    #[test]
    fn a_key_of_many_parts_and_deep_lists_are_refused_before_they_are_parsed() {
        let line = |text: &str| parse(text).map(drop).unwrap_err();
        let parts = line(&format!("x = 1\n{} = 1", vec!["a"; 40_000].join(".")));
        assert_eq!((parts.line, parts.fault.message.as_str()), (Some(2), "not TOML: a key has more than 32 parts"));
        for text in [format!("a = {}", "[".repeat(800)), "a = {b=".to_owned() + &"{b=".repeat(800)] {
            assert!(line(&text).fault.message.contains("more than 64 deep"), "{text}");
        }
        let quoted = vec!["\"a\""; 100].join(" . ");
        assert!(line(&format!("[{quoted}]")).fault.message.contains("more than 32 parts"));
        let unfinished = ["a = \"", "a = '''", "a = \"\\"];
        assert!(unfinished.iter().all(|text| parse(text).is_err()));
    }
}
