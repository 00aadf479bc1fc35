//! The card of an algorithm: the lines its file opens with, as data.

use alloc::string::String;

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
    /// The text of its file.
    pub source_text: &'static str,
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

    /// The whole card: the comment its file opens with.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in self.source_text.lines().take_while(|line| line.starts_with("//!")) {
            text.push_str(line.trim_start_matches("//!").trim_start_matches(' '));
            text.push('\n');
        }
        text
    }

    /// The paragraph that starts with `label:`, in one line; empty if the card has none.
    #[must_use]
    pub fn field(&self, label: &str) -> String {
        let text = self.text();
        let mut found = String::new();
        let mut inside = false;
        for line in text.lines() {
            // A label is one capitalised word and a colon.
            let head = line.split_once(": ").map(|(head, _)| head).or_else(|| line.strip_suffix(':'));
            let is_label = head.is_some_and(|h| LABELS.contains(&h));
            if is_label {
                inside = head == Some(label);
            } else if line.trim().is_empty() {
                inside = false;
            }
            if inside {
                let part = if is_label { line.split_once(": ").map_or("", |(_, rest)| rest) } else { line };
                if !found.is_empty() {
                    found.push(' ');
                }
                found.push_str(part.trim());
            }
        }
        found
    }

    /// What it is, in a sentence: the card up to its first empty line.
    #[must_use]
    pub fn summary(&self) -> String {
        let text = self.text();
        let lines = text.lines().take_while(|line| !line.trim().is_empty());
        lines.collect::<alloc::vec::Vec<_>>().join(" ")
    }
}

/// What a card's paragraphs may begin with.
pub const LABELS: [&str; 6] = ["Source", "Departs", "Chosen", "Cost", "Bound", "Range"];
