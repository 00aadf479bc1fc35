//! The fuzz target of topology files: what must hold for any bytes.

use crate::diameter::{diameter, parts};
use crate::format;
use fairq_experiment::topology::file::{Options, usual_delay, usual_rate};
use fairq_experiment::topology::{Edge, Graph};
use fairq_sched::units::Time;
use fairq_sim::net::route::{Ends, Routes};
use std::collections::BTreeSet;

/// Reads `bytes` as a topology called `file` and asserts what must hold for any: no panic; an error
/// of one line that begins with the file's name; and a graph whose names are unique and whose links
/// join two of its nodes.
///
/// # Panics
/// If one of these does not hold, which is a bug.
pub fn fuzz_topology(bytes: &[u8], file: &str) {
    let options = Options { rate: usual_rate(), delay: usual_delay(), is_strict: false };
    let graph = match format::read(bytes, file, &options) {
        Ok((_, graph)) => graph,
        Err(message) => {
            let rest = message.strip_prefix(file).unwrap_or_default();
            assert!(rest.starts_with(':') && rest.len() > 3 && !message.contains(['\n', '\r']), "{message:?}");
            assert!(message.len() < 500, "{message:?}");
            return;
        }
    };
    let names: BTreeSet<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names.len(), graph.nodes.len(), "two nodes have one name");
    let links: BTreeSet<&str> = graph.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(links.len(), graph.links.len(), "two links have one name");
    let within = |end: usize| end < graph.nodes.len();
    assert!(graph.links.iter().all(|link| within(link.from) && within(link.to) && link.from != link.to));
    assert!(graph.links.iter().all(|link| link.delay.0 <= u64::MAX / 4), "a delay beyond what a scenario may say");
    assert!(graph.warnings.iter().chain(&graph.notes).all(|said| !said.contains(['\n', '\r']) && said.len() < 1000));
    assert!(graph.rates_guessed + graph.rates_by_default <= graph.links.len(), "a rate is guessed and missing");
    assert!(graph.rates_guessed == 0 || !graph.notes.is_empty(), "a rate is guessed without a note");
    let strict = format::read(bytes, file, &Options { is_strict: true, ..options });
    assert_eq!(strict.is_ok(), graph.warnings.is_empty(), "strict is an error where there is a warning");
    if graph.nodes.len() < 200 {
        assert!(parts(&graph).len() <= graph.nodes.len());
        let found = diameter(&graph, &mut |part| (0.0..=1.0).contains(&part));
        assert_eq!(found.ok(), Some(by_all_pairs(&graph)), "the diameter");
    }
}

/// The diameter, by a search from every node.
fn by_all_pairs(graph: &Graph) -> Time {
    let ends = |from: usize, to: usize| Ends { from: from as u32, to: to as u32 };
    let both = |link: &Edge| [(ends(link.from, link.to), link.delay.0), (ends(link.to, link.from), link.delay.0)];
    let mut routes = Routes::new(graph.links.iter().flat_map(both).collect(), graph.nodes.len());
    let furthest = |to: u32| routes.costs_to(to).flatten().max().unwrap_or(0);
    Time((0..graph.nodes.len() as u32).map(furthest).max().unwrap_or(0))
}
