//! A fault in a scenario: one line with the file, the line, the path and the remedy.

use fairq_text::Fault;
use std::fmt;

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

impl Problem {
    /// The file and the line: `net.toml:3`.
    #[must_use]
    pub fn place(&self) -> String {
        self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file))
    }

    /// The path, and the field that it sets, in one line: a name may contain a line break.
    #[must_use]
    pub fn names(&self) -> [String; 2] {
        let in_line = |name: &str| {
            let letters = name.chars().map(|letter| match letter {
                letter if letter.is_control() => letter.escape_default().to_string(),
                letter => letter.to_string(),
            });
            letters.collect()
        };
        [in_line(&self.fault.path), in_line(&self.fault.field)]
    }

    /// The message in one line, whatever a library's message contains.
    #[must_use]
    pub fn message(&self) -> String {
        self.fault.message.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())?;
        self.names().iter().filter(|name| !name.is_empty()).try_for_each(|name| write!(f, ": {name}"))?;
        write!(f, ": {}", self.message())
    }
}

impl std::error::Error for Problem {}
