//! That every card is whole: what it is, when to use it, and that the tests that prove its claims
//! exist.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use fairq_experiment::topology::registry::TOPOLOGIES;
use fairq_sched::card::{Card, STEPS, label_of};
use fairq_sched::registry::{BUFFER_POLICIES, CLASSIFIERS, DESIGNS, MARKERS, POLICERS, SCHEDULERS};
use fairq_sched::work::registry::POLICIES;
use fairq_sim::multicast::registry::RECEIVERS;
use fairq_sim::traffic::registry::TRAFFIC;
use fairq_sim::transport::registry::TRANSPORTS;

use crate::Findings;

/// The cards of all registries, and where the code lies that they may name.
const KINDS: [(&[&str], &[&[Card]]); 2] = [
    (&["crates/sched/"], &[SCHEDULERS, BUFFER_POLICIES, CLASSIFIERS, MARKERS, POLICERS, DESIGNS, POLICIES]),
    (&["crates/sim/", "crates/experiment/", "crates/topologies/"], &[TRANSPORTS, TRAFFIC, RECEIVERS, TOPOLOGIES]),
];

/// What every card has.
const NEEDED: [&str; 4] = ["Use when", "Source", "Cost", "Bound"];

/// The cards whose algorithm is told in numbered steps, so that a page can show which one is at
/// work; there are as many steps as a reader takes in at once.
const STEPPED: [&str; 11] =
    ["codel", "drr", "fifo", "fq", "fq_codel", "round_robin", "scfq", "sfq", "virtual_clock", "wf2q_plus", "wfq"];
const STEPS_COUNT: RangeInclusive<usize> = 4..=10;

/// The parts of a queue that are told of changes: their cards also have *Changes*.
const CHANGED: [&str; 4] = ["scheduler", "buffer", "marker", "design"];

/// Characters of *Use when* at most: one or two sentences.
const USE_MAX: usize = 200;

/// What is wrong with the cards of all registries, given the paths of the checkout's files.
pub(crate) fn cards(root: &Path, paths: &[String]) -> Findings {
    let mut findings = Findings::new();
    for (folders, lists) in KINDS {
        let files: Vec<(&str, String)> = paths
            .iter()
            .filter(|path| folders.iter().any(|folder| path.starts_with(folder)) && path.ends_with(".rs"))
            .filter_map(|path| Some((path.as_str(), fs::read_to_string(root.join(path)).ok()?)))
            .collect();
        findings.extend(lists.iter().copied().flatten().flat_map(|card| faults(card, &files)));
    }
    findings
}

/// What is wrong with one card, given path and text of each file that it may name.
fn faults(card: &Card, files: &[(&str, String)]) -> Findings {
    let mut faults = Findings::new();
    let mut fault = |what: String| faults.push(format!("the card of {} ({}): {what}", card.name, card.part));
    for label in NEEDED.into_iter().chain(CHANGED.contains(&card.part).then_some("Changes")) {
        if card.field(label).is_empty() {
            fault(format!("it has no \"{label}: …\""));
        }
    }
    let length = card.field("Use when").chars().count();
    if length > USE_MAX {
        fault(format!("\"Use when\" has {length} characters, of {USE_MAX} at most"));
    }
    let text = card.text();
    let mut paragraphs = text.split("\n\n").map(|paragraph| paragraph.lines().next().unwrap_or_default());
    if let Some(line) = paragraphs.by_ref().skip(1).find(|line| label_of(line).is_none()) {
        fault(format!("only the first paragraph has no label; this one has none either: {line}"));
    }
    if text.split("\n\n").nth(1).and_then(|second| label_of(second.lines().next()?)) != Some("Use when") {
        fault("\"Use when\" follows what it is".to_owned());
    }
    if let Some(what) = fault_of_steps(card) {
        fault(what);
    }
    if let Some(line) = text.lines().find(|line| line.contains(".rs")) {
        fault(format!("a file of code is named outside parentheses: {line}"));
    }
    for named in card.code() {
        let (file, test) = named.split_once(": ").map_or((named.as_str(), None), |(file, test)| (file, Some(test)));
        let mut found = files.iter().filter(|(path, _)| path.ends_with(&format!("/{file}")));
        let holds = |text: &str, test: &str| {
            let after = text.split(&format!("fn {test}()")).next().filter(|before| before.len() < text.len());
            after.is_some_and(|before| before.trim_end().ends_with("#[test]"))
        };
        match test {
            None if found.next().is_none() => fault(format!("there is no file {file}")),
            Some(test) if !found.any(|(_, text)| holds(text, test)) => fault(format!("there is no test {named}")),
            _ => {}
        }
    }
    faults
}

/// What is wrong with the steps of a card.
fn fault_of_steps(card: &Card) -> Option<String> {
    let (text, steps) = (card.field(STEPS), card.numbered_steps());
    if text.is_empty() {
        // A policy of a dispatcher has no page that shows its steps at work.
        let is_stepped = STEPPED.contains(&card.name) && card.part != "policy";
        return is_stepped.then(|| format!("it has no \"{STEPS}:\" with numbered lines"));
    }
    if !text.starts_with("1. ") {
        return Some(format!("\"{STEPS}\" begins with the line \"1. …\""));
    }
    if let Some((number, (found, _))) = (1..).zip(&steps).find(|(number, (found, _))| number != found) {
        return Some(format!("in \"{STEPS}\" {number} follows {}, not {found}", number - 1));
    }
    let is_count = STEPS_COUNT.contains(&steps.len());
    let (least, most) = (STEPS_COUNT.start(), STEPS_COUNT.end());
    (!is_count).then(|| format!("\"{STEPS}\" has {} lines; it has from {least} to {most}", steps.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card that is whole.
    const WHOLE: &str = "//! Made up: nothing.\n//!\n//! Use when: never (round.rs).\n//! Source: none.\n//! Cost: none.\n\
                         //! Bound: none (laws.rs: it_holds).\n//! Changes: none.\n";

    fn of(text: &'static str) -> Findings {
        let card = Card { name: "made_up", aliases: &[], part: "marker", breaks: &[], comment: text };
        let laws = "#[test]\nfn it_holds() {}\n\nfn it_helps() {}\n".to_owned();
        faults(&card, &[("crates/x/tests/laws.rs", laws), ("crates/x/src/round.rs", String::new())])
    }

    #[test]
    fn a_card_must_say_when_to_use_it_in_few_words_and_first() {
        assert_eq!(of(WHOLE), Findings::new());
        let has = |text: &'static str, what: &str| {
            let found = of(text);
            assert!(found.iter().any(|line| line.contains(what)), "{what}: {found:?}");
        };
        let start = "//! Made up: nothing.\n//!\n";
        let rest = "//! Source: none.\n//! Cost: none.\n//! Bound: none.\n//! Changes: none.\n";
        let leak = |text: String| -> &'static str { text.leak() };
        has(leak(format!("{start}{rest}")), "it has no \"Use when: …\"");
        has(leak(format!("{start}//! Use when:\n{rest}")), "it has no \"Use when: …\"");
        has(leak(WHOLE.replace("Changes: none", "Changes:")), "it has no \"Changes: …\"");
        has(leak(format!("{start}//! Use when: {}\n{rest}", "long ".repeat(50))), "249 characters");
        has(leak(format!("{start}{rest}//! Use when: late.\n")), "follows what it is");
        has(
            leak(format!("{start}//! Use when: a.\n{rest}//!\n//! And more.\n")),
            "this one has none either: And more.",
        );
    }

    #[test]
    fn steps_are_numbered_from_1_without_a_gap() {
        let of_steps = |name, steps: &str| {
            let text = WHOLE.replace("//! Source", &format!("//! Steps:\n{steps}//!\n//! Source")).leak();
            fault_of_steps(&Card { name, aliases: &[], part: "scheduler", breaks: &[], comment: text })
        };
        let (three, rest) = ("//! 1. One,\n//!    and more.\n//! 2. Two.\n//! 3. Three.\n", "//! 4. Four.\n");
        assert_eq!(of_steps("made_up", &format!("{three}{rest}")), None);
        let has = |steps: &str, what: &str| {
            let found = of_steps("made_up", steps).unwrap_or_default();
            assert!(found.contains(what), "{what}: {found}");
        };
        has(three, "has 3 lines; it has from 4 to 10");
        has(&format!("{three}//! 5. Five.\n"), "4 follows 3, not 5");
        has(&format!("{three}{three}{rest}"), "4 follows 3, not 1");
        has(&format!("//! First:\n{three}{rest}"), "begins with the line");
        let bare = Card { name: "drr", aliases: &[], part: "scheduler", breaks: &[], comment: WHOLE };
        assert!(fault_of_steps(&bare).is_some_and(|found| found.contains("it has no \"Steps:\"")));
    }

    #[test]
    fn what_a_card_names_of_code_must_exist_and_stand_in_parentheses() {
        let has = |from: &str, to: &str, what: &str| {
            let found = of(WHOLE.replace(from, to).leak());
            assert!(found.iter().any(|line| line.contains(what)), "{what}: {found:?}");
        };
        has("it_holds", "it_fails", "there is no test laws.rs: it_fails");
        has("it_holds", "it_helps", "there is no test laws.rs: it_helps");
        has("laws.rs", "lows.rs", "there is no test lows.rs: it_holds");
        has("round.rs", "square.rs", "there is no file square.rs");
        has("never (round.rs)", "never, see round.rs", "outside parentheses");
    }
}
