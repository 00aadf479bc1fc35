//! The diameter of a network, by few of the searches that all pairs of nodes would take.
//!
//! Source: Takes and Kosters, "Determining the Diameter of Small World Networks", CIKM 2011, with
//! delays for hops. A search from v finds its eccentricity e(v), the delay to its furthest node.
//! That of any w is then at least max(d(v, w), e(v) - d(v, w)) and at most e(v) + d(v, w), as links
//! take as long there as back. A node whose upper bound is no more than the greatest eccentricity
//! found needs no search. The search alternates between the node of the greatest upper and that of
//! the least lower bound. Crescenzi, Grossi, Habib, Lanzi and Marino, "On Computing the Diameter of
//! Real-World Undirected Graphs", Theoretical Computer Science 514 (2013): pairs with a node that
//! needs no search are settled, so that a bound need only consider the furthest of the open nodes.
//! Here this is done from each of the first nodes of the second kind, the pivots. When searches
//! have taken as long as that does, each open pair is bounded by all pivots together, which settles
//! more.
//! Chosen: of equal upper bounds that of the node furthest from the pivots, as the ends of a
//! longest path are; then the one with the most links, then the first.
//! Cost: O(links · log nodes) for a search, O(links) where all delays are the same. Maps, trees and
//! graphs like that of the Internet take some twenty; random graphs of tens of thousands of nodes
//! and equal delays some hundreds; a ring, where all nodes are alike, takes one for each of them.

use crate::distances::Distances;
use fairq_experiment::topology::Graph;
use fairq_sched::units::Time;
use std::cmp::Reverse;

/// Called with the part that is done, from 0 to 1; returns `false` to stop.
pub type GoOn<'a> = &'a mut dyn FnMut(f64) -> bool;

/// Why there is no description.
#[derive(Debug)]
pub enum Stopped {
    /// One line that begins with the file's name: the fault, and its place.
    Problem(String),
    /// `GoOn` returned `false`.
    Interrupted,
}

impl From<String> for Stopped {
    fn from(problem: String) -> Self {
        Self::Problem(problem)
    }
}

/// The number of central nodes whose distances are kept: eight bytes for each node of the network.
const PIVOTS: usize = 16;

/// How many pairs are bounded in the time of a step of a search, to a node or over a link. Pairs
/// are bounded once the searches since the last time took as long.
const PAIRS_A_STEP: usize = 4;

/// The greatest delay of a shortest path by delay, over all pairs of nodes that have a path.
/// `go_on(progress)` receives the fraction of nodes finished; return `false` to stop.
///
/// # Errors
/// If `go_on` returns `false`.
pub fn diameter(graph: &Graph, go_on: GoOn<'_>) -> Result<Time, Stopped> {
    let mut greatest = 0;
    let mut settled = 0;
    for part in parts(graph) {
        let mut search = Search::new(graph, &part);
        while let Some(node) = search.next() {
            greatest = greatest.max(search.from(node));
            search.close(greatest);
            let done = settled + part.nodes.len() - search.open.len();
            if !go_on(done as f64 / graph.nodes.len() as f64) {
                return Err(Stopped::Interrupted);
            }
        }
        settled += part.nodes.len();
    }
    Ok(Time(greatest))
}

/// Nodes that are connected by paths, and the links between them, by number.
pub(crate) struct Part {
    nodes: Vec<usize>,
    links: Vec<usize>,
}

/// The parts of a network, by their first nodes.
pub(crate) fn parts(graph: &Graph) -> Vec<Part> {
    let mut of: Vec<usize> = (0..graph.nodes.len()).collect();
    fn root(of: &mut [usize], mut node: usize) -> usize {
        while of[node] != node {
            of[node] = of[of[node]];
            node = of[node];
        }
        node
    }
    for link in &graph.links {
        let (a, b) = (root(&mut of, link.from), root(&mut of, link.to));
        of[a.max(b)] = a.min(b);
    }
    let mut parts = Vec::new();
    let mut number = vec![0; of.len()];
    // The root of a part is its first node.
    for node in 0..of.len() {
        let root = root(&mut of, node);
        if root == node {
            number[node] = parts.len();
            parts.push(Part { nodes: Vec::new(), links: Vec::new() });
        }
        parts[number[root]].nodes.push(node);
    }
    for (at, link) in graph.links.iter().enumerate() {
        parts[number[root(&mut of, link.from)]].links.push(at);
    }
    parts
}

/// The search in a part; its nodes are numbered from 0 here.
struct Search {
    distances: Distances,
    /// Bounds by node: no eccentricity is below `lower`; no open node is further away than `upper`.
    lower: Vec<u64>,
    upper: Vec<u64>,
    /// The distances of some central nodes, and their sum by node.
    pivots: Vec<Vec<u64>>,
    remote: Vec<u64>,
    /// Nodes that may be further from another such node than the greatest distance so far.
    open: Vec<usize>,
    is_central: bool,
    /// Steps of searches since pairs were bounded.
    steps: usize,
}

impl Search {
    fn new(graph: &Graph, part: &Part) -> Self {
        let nodes = part.nodes.len();
        // The nodes are sorted in the order of the network.
        let at = |node: usize| part.nodes.binary_search(&node).unwrap_or_default() as u32;
        let links = part.links.iter().map(|link| &graph.links[*link]);
        let links: Vec<_> = links.map(|link| (at(link.from), at(link.to), link.delay.0)).collect();
        Self {
            distances: Distances::new(nodes, &links),
            lower: vec![0; nodes],
            upper: vec![u64::MAX; nodes],
            pivots: Vec::new(),
            remote: vec![0; nodes],
            // A single node is no pair.
            open: if nodes > 1 { (0..nodes).collect() } else { Vec::new() },
            is_central: false,
            steps: 0,
        }
    }

    /// The node to search from, if one is left.
    fn next(&mut self) -> Option<usize> {
        self.is_central = !self.is_central;
        let (first, links) = (|node: usize| Reverse(node), |node: usize| self.distances.links(node));
        let open = self.open.iter().copied();
        if self.is_central {
            open.max_by_key(|node| (Reverse(self.lower[*node]), links(*node), first(*node)))
        } else {
            open.max_by_key(|node| (self.upper[*node], self.remote[*node], links(*node), first(*node)))
        }
    }

    /// Searches from `node` and tightens all bounds. Returns the eccentricity of `node`.
    fn from(&mut self, node: usize) -> u64 {
        self.steps += self.distances.steps();
        let costs = self.distances.from(node);
        let furthest = costs.iter().copied().max().unwrap_or(0);
        for (other, cost) in costs.iter().enumerate() {
            self.lower[other] = self.lower[other].max(*cost).max(furthest - cost);
            self.upper[other] = self.upper[other].min(furthest.saturating_add(*cost));
        }
        self.open.retain(|other| *other != node);
        if self.is_central && self.pivots.len() < PIVOTS {
            self.pivots.push(costs.to_vec());
            for (remote, cost) in self.remote.iter_mut().zip(costs) {
                *remote = remote.saturating_add(*cost);
            }
        }
        furthest
    }

    /// Closes the nodes that are no further than `greatest` from any open node.
    fn close(&mut self, greatest: u64) {
        let mut before = usize::MAX;
        while before != self.open.len() {
            before = self.open.len();
            for pivot in &self.pivots {
                let furthest = self.open.iter().map(|node| pivot[*node]).max().unwrap_or(0);
                for node in &self.open {
                    self.upper[*node] = self.upper[*node].min(furthest.saturating_add(pivot[*node]));
                }
            }
            self.open.retain(|node| self.upper[*node] > greatest);
        }
        if self.open.len().pow(2) <= PAIRS_A_STEP * self.steps {
            self.steps = 0;
            self.close_by_pairs(greatest);
        }
    }

    /// A node stays open if some open node may be further from it than `greatest`, by the path over
    /// any pivot.
    fn close_by_pairs(&mut self, greatest: u64) {
        // The distances of a node from all pivots stand together.
        let by_node: Vec<Vec<u64>> =
            self.open.iter().map(|node| self.pivots.iter().map(|pivot| pivot[*node]).collect()).collect();
        let may_be_far = |one: &[u64], other: &[u64]| {
            one.iter().zip(other).all(|(one, other)| one.saturating_add(*other) > greatest)
        };
        let others = |at: usize| by_node.iter().enumerate().filter(move |(other, _)| *other != at);
        let stays: Vec<bool> =
            (0..by_node.len()).map(|at| others(at).any(|(_, other)| may_be_far(&by_node[at], other))).collect();
        let mut stays = stays.into_iter();
        self.open.retain(|_| stays.next().unwrap_or(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_experiment::topology::Medium;
    use fairq_experiment::values::LineRate;
    use fairq_sched::hash::splitmix;
    use fairq_sched::units::Rate;

    const fn rate(bit_per_s: u64) -> LineRate {
        LineRate(Rate::new(bit_per_s))
    }

    /// The diameter over all pairs, by Floyd and Warshall, beside ours; and the number of searches.
    fn both(nodes: usize, links: &[(usize, usize, u64)]) -> (Time, Time, usize) {
        let mut graph = Graph::default();
        for node in 0..nodes {
            graph.node(node.to_string());
        }
        let mut far = vec![vec![None; nodes]; nodes];
        for (from, to, delay) in links.iter().copied() {
            graph.named_link(graph.links.len().to_string(), from, to, Medium::new(rate(1), Time(delay)));
            for (a, b) in [(from, to), (to, from)] {
                far[a][b] = Some(far[a][b].map_or(delay, |known: u64| known.min(delay)));
            }
        }
        for by in 0..nodes {
            for from in 0..nodes {
                for to in (0..nodes).filter(|to| *to != from) {
                    if let (Some(first), Some(second)) = (far[from][by], far[by][to]) {
                        let through = first + second;
                        far[from][to] = Some(far[from][to].map_or(through, |known| known.min(through)));
                    }
                }
            }
        }
        let mut searches = 0;
        let found = diameter(&graph, &mut |part| {
            searches += 1;
            (0.0..=1.0).contains(&part)
        });
        let Ok(found) = found else { panic!("a part of the nodes is from 0 to 1") };
        (found, Time(far.into_iter().flatten().flatten().max().unwrap_or(0)), searches)
    }

    #[test]
    fn the_diameter_is_that_of_all_pairs() {
        let mut state = 7;
        let mut draw = |bound: u64| {
            state = splitmix(state);
            state % bound
        };
        for world in 0..3000 {
            let nodes = 1 + draw(12) as usize;
            // Few and many different delays, also zero, so that ties are as common as not.
            let most = [1, 2, 4, 1_000_000_000][world % 4];
            let links: Vec<(usize, usize, u64)> = (0..draw(30))
                .map(|_| (draw(nodes as u64) as usize, draw(nodes as u64) as usize, draw(most)))
                .filter(|(from, to, _)| from != to)
                .collect();
            let (found, right, _) = both(nodes, &links);
            assert_eq!(found, right, "{nodes} nodes, {links:?}");
        }
    }

    #[test]
    fn trees_and_grids_take_few_searches() {
        let mut state = 3;
        let mut draw = |bound: u64| {
            state = splitmix(state);
            state % bound
        };
        let tree: Vec<_> = (1..150).map(|node| (draw(node) as usize, node as usize, 1 + draw(9))).collect();
        // Two stars, far apart: no node lies in the middle.
        let stars: Vec<_> = (2..150).map(|node| (node % 2, node, 1)).chain([(0, 1, 1000)]).collect();
        let right = (0..12 * 12).filter(|node| node % 12 != 11).map(|node| (node, node + 1, 1));
        let grid: Vec<_> = right.chain((0..11 * 12).map(|node| (node, node + 12, 1))).collect();
        // Each new node is linked to two that have many links: there are few different distances,
        // and many nodes are nearly the furthest.
        let mut ends = vec![0, 1];
        let mut popular = vec![(0, 1, 1)];
        for node in 2..300 {
            for _ in 0..2 {
                let other = ends[draw(ends.len() as u64) as usize];
                if other != node {
                    popular.push((other, node, 1));
                    ends.extend([other, node]);
                }
            }
        }
        // Each leaf of a ring of stars is as far as any other; the middle of its star settles it.
        let leaves = (20..220).map(|leaf| (leaf % 20, leaf, 1));
        let ring_of_stars: Vec<_> = leaves.chain((0..20).map(|node| (node, (node + 1) % 20, 1))).collect();
        let ring: Vec<_> = (0..40).map(|node| (node, (node + 1) % 40, 1)).collect();
        for (nodes, links, most) in [
            (150, tree, 12),
            (150, stars, 12),
            (144, grid, 12),
            (300, popular, 30),
            (220, ring_of_stars, 60),
            (40, ring, 40),
        ] {
            let (found, right, searches) = both(nodes, &links);
            assert_eq!(found, right);
            assert!(searches <= most, "{searches} searches of {nodes} nodes");
        }
    }

    #[test]
    fn random_networks_of_equal_delays_take_few_searches() {
        // Many pairs are nearly the furthest: without ties by pivots and bounds by pairs it is 628.
        let mut state = 5;
        let mut draw = |bound: usize| {
            state = splitmix(state);
            (state % bound as u64) as usize
        };
        let (nodes, mut graph) = (10_000, Graph::default());
        graph.node("0");
        let medium = || Medium::new(rate(1), Time(7));
        for node in 1..nodes {
            graph.node(node.to_string());
            graph.named_link(node.to_string(), draw(node), node, medium());
        }
        for link in 0..nodes {
            let (from, to) = (draw(nodes), draw(nodes));
            if from != to {
                graph.named_link(format!("more {link}"), from, to, medium());
            }
        }
        let mut searches = 0;
        let found = diameter(&graph, &mut |_| {
            searches += 1;
            true
        });
        assert!(found.is_ok());
        assert!(searches <= 300, "{searches} searches");
    }

    #[test]
    fn a_part_costs_what_it_holds() {
        // A search over all nodes for each of these would take minutes.
        let mut graph = Graph::default();
        for pair in 0..50_000 {
            let (a, b) = (graph.node("a"), graph.node("b"));
            graph.link(a, b, Medium::new(rate(1), Time(pair)));
        }
        assert!(matches!(diameter(&graph, &mut |_| true), Ok(Time(49_999))));
    }

    #[test]
    fn it_stops_when_it_is_told_to() {
        let mut graph = Graph::default();
        let (a, b) = (graph.node("a"), graph.node("b"));
        graph.link(a, b, Medium::new(rate(1), Time(1)));
        assert!(matches!(diameter(&graph, &mut |_| false), Err(Stopped::Interrupted)));
        assert!(matches!(diameter(&Graph::default(), &mut |_| false), Ok(Time::ZERO)));
    }
}
