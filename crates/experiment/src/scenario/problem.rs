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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.fault.path.is_empty() {
            f.write_str(": ")?;
            // The name of a field may contain anything, even a line break.
            for letter in self.fault.path.chars() {
                if letter.is_control() { write!(f, "{}", letter.escape_default())? } else { write!(f, "{letter}")? }
            }
        }
        // The message is one line, whatever a library's message contains.
        write!(f, ": {}", self.fault.message.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl std::error::Error for Problem {}
