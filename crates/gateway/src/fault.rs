//! What a machine refuses, with what can be done about it: one line.

use std::fmt;
use std::io;

/// Why a network of real hosts cannot be made or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was tried, what was refused, and the remedy if there is one.
    pub message: String,
}

impl Fault {
    /// A fault of `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// That `what` was refused for `cause`.
    pub fn of(what: &str, cause: &io::Error) -> Self {
        Self { message: format!("{what}: {cause}") }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
