//! The output of BRITE (Medina, Lakhina, Matta and Byers, "BRITE: Universal Topology Generation
//! from a User's Perspective", 2001): a head, a line for each node, a line for each edge.
//!
//! `Nodes: ( n )`, then id, x, y, indegree, outdegree, AS, type; `Edges: ( m )`, then id, from, to,
//! length, delay, bandwidth, AS from, AS to, type, and in later versions the direction, D or U.
//! Delays are milliseconds. Bandwidths have no unit in the format and are taken for Mbit/s, as its
//! users do.

use super::{Broken, Found, FoundEdge, FoundNode, delay_of, number, rate_said, shown};

pub(super) fn is_it(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| line.starts_with("Topology:"))
}

/// The section of a line.
enum Part {
    Head,
    Nodes,
    Edges,
}

pub(super) fn parse(text: &str) -> Result<Found, Broken> {
    let mut found = Found::default();
    let mut part = Part::Head;
    let mut said = [None, None];
    for (line, text) in text.lines().enumerate().map(|(at, text)| (at + 1, text.trim())) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(rest) = text.strip_prefix("Nodes:") {
            part = Part::Nodes;
            said[0] = how_many(rest);
        } else if let Some(rest) = text.strip_prefix("Edges:") {
            part = Part::Edges;
            said[1] = how_many(rest);
        } else {
            match part {
                Part::Head => {}
                Part::Nodes => found.nodes.push(FoundNode::of_words(line, &words)?),
                Part::Edges => found.edges.push(edge(line, &words)?),
            }
        }
    }
    for (what, said) in ["Nodes", "Edges"].iter().zip(said) {
        if said.is_none() {
            return Err(Broken::whole(format!("not BRITE, or cut off: there is no line {what}: ( n )")));
        }
    }
    for (what, said, there) in [("nodes", said[0], found.nodes.len()), ("edges", said[1], found.edges.len())] {
        if let Some(said) = said.filter(|said| *said != there) {
            return Err(Broken::whole(format!("the file says {said} {what} and has {there}; it is cut off")));
        }
    }
    Ok(found)
}

/// The number in `( 10 )`.
fn how_many(text: &str) -> Option<usize> {
    text.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

fn edge(line: usize, words: &[&str]) -> Result<FoundEdge, Broken> {
    let [_, from, to, _, delay, bandwidth, ..] = words else {
        return Err(Broken::at(line, "an edge has at least id, from, to, length, delay and bandwidth"));
    };
    let read = |word: &str| number(word).ok_or_else(|| Broken::at(line, format!("{} is no number", shown(word))));
    let mut edge = FoundEdge { line, from: (*from).to_string(), to: (*to).to_string(), ..FoundEdge::default() };
    edge.is_directed = words.get(9) == Some(&"D");
    edge.delay = delay_of(read(delay)? / 1000.0);
    // In the manual (tables 1 and 6) bandwidths are random numbers from a least one above zero, and
    // there is no number for a link without one.
    edge.set_rate(rate_said(read(bandwidth)? * 1e6, bandwidth));
    Ok(edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_experiment::topology::Place;
    use fairq_sched::units::Time;

    const TEXT: &str = "Topology: ( 3 Nodes, 2 Edges )\nModel (1 - RTWaxman): 3 1000 100 1 2 0.15 0.2 1 1 10.0 1024.0\n\n\
        Nodes: ( 3 )\n0\t437.00\t652.00\t1\t1\t-1\tRT_NODE\n1 10 20 2 2 -1 RT_NODE\n2 30 40 1 1 -1 RT_NODE\n\n\
        Edges: ( 2 )\n0 0 1 541.1 1.5 10.0 -1 -1 E_RT U\n1\t1\t2\t28.3\t-1.0\t-1.0\t-1\t-1\tE_RT\tU\n";

    #[test]
    fn delays_are_milliseconds_and_bandwidths_megabits() {
        assert!(is_it(TEXT));
        let Ok(found) = parse(TEXT) else { panic!("it is BRITE") };
        assert_eq!((found.nodes.len(), found.edges.len()), (3, 2));
        assert_eq!(found.nodes[0].place, Some(Place::Plane { x: 437.0, y: 652.0 }));
        assert_eq!(found.edges[0].delay, Some(Time(1_500_000_000)));
        assert_eq!(found.edges[0].rate.map(|rate| rate.bit_per_s()), Some(10_000_000));
        assert_eq!((found.edges[1].delay, found.edges[1].rate), (None, None));
        assert!(found.edges[1].rate_fault.as_ref().is_some_and(|fault| fault.contains("unlike `-1.0`")));
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        for (text, said) in [
            (TEXT.replace("2 30 40 1 1 -1 RT_NODE", ""), "says 3 nodes and has 2"),
            (TEXT.split("\nEdges").next().unwrap_or_default().to_string(), "no line Edges"),
            (TEXT.replace("541.1 1.5 10.0 -1 -1 E_RT U", ""), "at least id, from"),
            (TEXT.replace("1.5", "x"), "no number"),
            ("Topology: ( 1 Nodes )".to_string(), "no line Nodes"),
        ] {
            let Err(broken) = parse(&text) else { panic!("{text} is whole") };
            assert!(broken.message.contains(said), "{}", broken.message);
        }
    }
}
