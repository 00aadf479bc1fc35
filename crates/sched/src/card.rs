//! The card of an algorithm: the lines its file opens with, as data.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// What is known of a part without building it.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name in the registry.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// Which kind of part it is.
    pub part: &'static str,
    /// The invariants that it may break, by its nature; the card says how.
    pub breaks: &'static [Invariant],
    /// The comment that its file opens with, as it is written: [`opening`](crate::opening) gives
    /// it.
    pub comment: &'static str,
}

/// How long the comment is that a file opens with, in bytes: its first lines with `//!`.
#[must_use]
pub const fn comment_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 3 <= bytes.len() && bytes[at] == b'/' && bytes[at + 1] == b'/' && bytes[at + 2] == b'!' {
        while at < bytes.len() && bytes[at] != b'\n' {
            at += 1;
        }
        if at < bytes.len() {
            at += 1;
        }
    }
    at
}

/// The first `N` bytes of a text.
#[must_use]
pub const fn first_bytes<const N: usize>(text: &str) -> [u8; N] {
    let mut first = [0; N];
    let mut at = 0;
    while at < N {
        first[at] = text.as_bytes()[at];
        at += 1;
    }
    first
}

/// The comment that a file opens with, of the text of the file: a program has that and not the
/// file's code.
#[macro_export]
macro_rules! opening {
    ($text:expr) => {{
        const TEXT: &str = $text;
        const COMMENT: [u8; $crate::card::comment_length(TEXT)] = $crate::card::first_bytes(TEXT);
        match core::str::from_utf8(&COMMENT) {
            Ok(comment) => comment,
            Err(_) => panic!("a comment ends at the end of a line"),
        }
    }};
}

/// An invariant that most disciplines keep and some are made to break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariant {
    /// A discipline that holds a packet sends one when the line is free.
    WorkConservation,
    /// Packets of one flow leave in the order in which they came.
    FlowOrder,
}

impl Card {
    /// Whether `name` is its name or an alias.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The card as a reader sees it: the comment that its file opens with, without the parentheses
    /// that name code.
    #[must_use]
    pub fn text(&self) -> String {
        without_code(&self.comment())
    }

    /// The card as its file has it. A parenthesis that names a file of code is for the authors of
    /// that code: a test that proves a claim, as `(laws.rs: its_name)`, or a place, as
    /// `(round.rs)`.
    #[must_use]
    pub fn comment(&self) -> String {
        let mut text = String::new();
        for line in self.comment.lines().take_while(|line| line.starts_with("//!")) {
            text.push_str(line.trim_start_matches("//!").trim_start_matches(' '));
            text.push('\n');
        }
        text
    }

    /// What its parentheses name of code, each as it is written: `laws.rs: its_name` or `round.rs`.
    #[must_use]
    pub fn code(&self) -> Vec<String> {
        let comment = self.comment();
        let named = parentheses(&comment).filter(|place| comment[place.clone()].contains(CODE));
        let words = |place: Range<usize>| comment[place].split_whitespace().collect::<Vec<_>>().join(" ");
        named.map(words).flat_map(|text| text.split(", ").map(String::from).collect::<Vec<_>>()).collect()
    }

    /// The paragraph that starts with `label:`, in one line; empty if the card has none.
    #[must_use]
    pub fn field(&self, label: &str) -> String {
        self.lines(label).join(" ")
    }

    /// The algorithm as pseudo-code: the lines of *Steps*, without their numbers; empty if the card
    /// has none. `Decision::step` counts them from 1.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        self.numbered_steps().into_iter().map(|(_, step)| step).collect()
    }

    /// Whether it tells its algorithm in steps.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        !self.numbered_steps().is_empty()
    }

    /// The steps with their numbers as they are written.
    #[must_use]
    pub fn numbered_steps(&self) -> Vec<(u32, String)> {
        let mut steps: Vec<(u32, String)> = Vec::new();
        for line in self.lines(STEPS) {
            match (numbered(&line), steps.last_mut()) {
                (Some((number, step)), _) => steps.push((number, String::from(step))),
                (None, Some((_, step))) => {
                    step.push(' ');
                    step.push_str(&line);
                }
                (None, None) => {}
            }
        }
        steps
    }

    /// The lines of the paragraph that starts with `label:`, without the label.
    fn lines(&self, label: &str) -> Vec<String> {
        let text = self.text();
        let mut found = Vec::new();
        let mut inside = false;
        for line in text.lines() {
            let head = label_of(line);
            if head.is_some() {
                inside = head == Some(label);
            } else if line.trim().is_empty() {
                inside = false;
            }
            let part = if head.is_some() { line.split_once(": ").map_or("", |(_, rest)| rest) } else { line };
            if inside && !part.trim().is_empty() {
                found.push(String::from(part.trim()));
            }
        }
        found
    }

    /// What it is, in a sentence: the card up to its first empty line.
    #[must_use]
    pub fn summary(&self) -> String {
        let text = self.text();
        let lines = text.lines().take_while(|line| !line.trim().is_empty());
        lines.collect::<Vec<_>>().join(" ")
    }
}

/// Labels of a card's paragraphs after the first, in the order in which they are shown.
pub const LABELS: [&str; 10] =
    ["Use when", "Source", STEPS, "Rules", "Departs", "Chosen", "Cost", "Bound", "Changes", "Range"];

/// The label of the numbered pseudo-code, which keeps its lines.
pub const STEPS: &str = "Steps";

/// How the name of a file of code ends.
const CODE: &str = ".rs";

/// The label that a line begins with.
#[must_use]
pub fn label_of(line: &str) -> Option<&'static str> {
    let head = line.split_once(": ").map(|(head, _)| head).or_else(|| line.strip_suffix(':'))?;
    LABELS.into_iter().find(|label| *label == head)
}

/// The number of a line of *Steps*, as `3. Send it.`, and what follows it.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let (number, step) = line.split_once(". ")?;
    let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, step))
}

/// What stands within the innermost parentheses of `text`.
fn parentheses(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices('(').filter_map(|(at, _)| {
        let inside = &text[at + 1..];
        let end = inside.find(['(', ')'])?;
        inside[end..].starts_with(')').then(|| at + 1..at + 1 + end)
    })
}

/// `text` without the parentheses that name code, and the space before each.
fn without_code(text: &str) -> String {
    let mut left = String::new();
    let mut from = 0;
    for place in parentheses(text).filter(|place| text[place.clone()].contains(CODE)) {
        left.push_str(text[from..place.start - 1].trim_end());
        from = place.end + 1;
    }
    left.push_str(&text[from..]);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: Card = Card {
        name: "made_up",
        aliases: &[],
        part: "scheduler",
        breaks: &[],
        comment: "\
//! Made up: serves (and drops)
//! packets.
//!
//! Use when: a test wants a card.
//! Source: none (1990).
//! Bound: never late (laws.rs: a_first,
//! laws.rs:
//! a_second); nor early (round.rs). Of f(x (rank.rs)) nothing
//! (laws.rs: a_third)
//! is known.
//! Steps:
//! 1. A packet comes: it joins
//!    (round.rs) the tail.
//! 12. The line is free: send the
//!     head, or
//!     1.5 of them.
//!
//! Range: all.
struct MadeUp;
",
    };

    #[test]
    fn a_reader_does_not_see_what_names_code() {
        assert_eq!(CARD.summary(), "Made up: serves (and drops) packets.");
        assert_eq!(CARD.field("Use when"), "a test wants a card.");
        assert_eq!(CARD.field("Bound"), "never late; nor early. Of f(x) nothing is known.");
        assert_eq!(CARD.field("Source"), "none (1990).");
        assert_eq!((CARD.field("Range").as_str(), CARD.field("Rules").as_str()), ("all.", ""));
        assert!(!CARD.text().contains(".rs") && !CARD.text().contains("()"));
    }

    #[test]
    fn steps_are_told_without_their_numbers() {
        assert_eq!(
            CARD.steps(),
            ["A packet comes: it joins the tail.", "The line is free: send the head, or 1.5 of them."]
        );
        assert_eq!(CARD.numbered_steps().into_iter().map(|(number, _)| number).collect::<Vec<_>>(), [1, 12]);
        assert!(CARD.has_steps());
    }

    #[test]
    fn what_names_code_is_told_as_it_is_written() {
        let named = ["laws.rs: a_first", "laws.rs: a_second", "round.rs", "rank.rs", "laws.rs: a_third", "round.rs"];
        assert_eq!(CARD.code(), named);
    }
}
