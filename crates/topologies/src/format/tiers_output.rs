//! The output of tiers 1.x (Doar 1996): `# NODES` with id, x, y and level, `# EDGES` with from, to,
//! delay, bandwidth, the levels of both ends and a state.
//!
//! Delays are read as milliseconds and bandwidths as Mbit/s; the format has no units. Edges of
//! every state are links, also redundant ones. The program writes an edge from either end: the
//! second one is a duplicate.

use super::{Broken, Found, FoundEdge, FoundNode, delay_of, number, rate_said, shown};
use std::collections::BTreeSet;

pub(super) fn is_it(text: &str) -> bool {
    let has = |what: &str| text.lines().filter_map(heading).any(|word| word == what);
    has("NODES") && has("EDGES")
}

/// The first word of a comment, in capitals.
fn heading(line: &str) -> Option<String> {
    let comment = line.trim().strip_prefix('#')?;
    let word = comment.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
    Some(word.split(|c: char| !c.is_ascii_alphabetic()).next()?.to_ascii_uppercase())
}

pub(super) fn parse(text: &str) -> Result<Found, Broken> {
    let mut found = Found::default();
    let mut part = None;
    let mut seen = BTreeSet::new();
    for (line, text) in text.lines().enumerate().map(|(at, text)| (at + 1, text.trim())) {
        match heading(text).as_deref() {
            Some("NODES") => part = Some(true),
            Some("EDGES") => part = Some(false),
            Some(_) => {}
            None if text.is_empty() => {}
            None => {
                let words: Vec<&str> = text.split_whitespace().collect();
                match part {
                    Some(true) => found.nodes.push(FoundNode::of_words(line, &words)?),
                    Some(false) => {
                        let edge = edge(line, &words)?;
                        let ends = (edge.from.clone().min(edge.to.clone()), edge.from.clone().max(edge.to.clone()));
                        if seen.insert(ends) {
                            found.edges.push(edge);
                        }
                    }
                    None => return Err(Broken::at(line, "not tiers: a line before # NODES")),
                }
            }
        }
    }
    if part != Some(false) {
        return Err(Broken::whole("there is no # EDGES; the file is cut off"));
    }
    Ok(found)
}

fn edge(line: usize, words: &[&str]) -> Result<FoundEdge, Broken> {
    let [from, to, delay, bandwidth, ..] = words else {
        return Err(Broken::at(line, "an edge has at least from, to, delay and bandwidth"));
    };
    let read = |word: &str| number(word).ok_or_else(|| Broken::at(line, format!("{} is no number", shown(word))));
    let mut edge = FoundEdge { line, from: (*from).to_string(), to: (*to).to_string(), ..FoundEdge::default() };
    edge.delay = delay_of(read(delay)? / 1000.0);
    edge.set_rate(rate_said(read(bandwidth)? * 1e6, bandwidth));
    Ok(edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_experiment::topology::Place;

    const TEXT: &str = "# tiers v1.1\n# NODES ( 3 )\n0 1 2 0\n1 3.5 4 1\n2 5 6 2\n\n# EDGES ( 3 )\n# from to …\n0 1 25 155 0 1 3\n\
                        1 0 25 155 1 0 3\n1 2 1 10 1 2 4\n";

    #[test]
    fn an_edge_from_either_end_is_one_link() {
        assert!(is_it(TEXT));
        let Ok(found) = parse(TEXT) else { panic!("it is tiers") };
        assert_eq!((found.nodes.len(), found.edges.len()), (3, 2));
        assert_eq!(found.nodes[1].place, Some(Place::Plane { x: 3.5, y: 4.0 }));
        assert_eq!(found.edges[0].rate.map(|rate| rate.bit_per_s()), Some(155_000_000));
        assert_eq!(found.edges[1].line, 11);
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        for (text, said) in [
            (TEXT.split("# EDGES").next().unwrap_or_default(), "no # EDGES"),
            ("0 0 0\n# NODES\n# EDGES\n", "before # NODES"),
            ("# NODES\n0 0\n# EDGES\n", "at least id, x"),
            ("# NODES\n0 0 0\n# EDGES\n0 0 1\n", "at least from"),
        ] {
            let Err(broken) = parse(text) else { panic!("{text} is whole") };
            assert!(broken.message.contains(said), "{}", broken.message);
        }
    }
}
