//! What is wrong with a scenario: one line with the file, the line, the path and the remedy.

use std::fmt;

/// A fault at a path of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: `links[0].queue.quantum`; empty for the whole.
    pub path: String,
    /// What, and what to write instead.
    pub message: String,
}

impl Fault {
    /// A fault of `message` at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// A fault in a named file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// The line, if it is known.
    pub line: Option<usize>,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.fault.path.is_empty() {
            f.write_str(": ")?;
            // The name of a field may hold anything, a line break too.
            for letter in self.fault.path.chars() {
                if letter.is_control() { write!(f, "{}", letter.escape_default())? } else { write!(f, "{letter}")? }
            }
        }
        // One line, whatever a library's message holds.
        write!(f, ": {}", self.fault.message.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl std::error::Error for Problem {}

/// "; did you mean x?" for the nearest of `known`, upper and lower case alike, or what there is.
#[must_use]
pub fn near_miss<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = word.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let nearest = known.iter().map(|name| (distance(name), *name)).min();
    match nearest {
        Some((distance, name)) if distance <= (word.chars().count() + 1) / 3 => {
            format!("; did you mean {name}?")
        }
        _ if known.is_empty() => "; there are none".to_string(),
        _ if known.len() <= 24 => format!("; there are {}", known.join(", ")),
        _ => format!("; there are {}, …", known[..24].join(", ")),
    }
}
