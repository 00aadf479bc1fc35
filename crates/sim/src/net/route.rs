//! Shortest paths: one search for each destination, shared by all flows that go there.
//!
//! A path's length is the sum of its lines' costs. Of equally long paths those of fewer lines win,
//! so that lines of cost zero cause no circle. Of the paths that are left, hop by hop from the
//! start, the line with the lowest number wins. With a key for the flow every node chooses one of
//! these lines by a hash of the key instead (equal-cost multipath). The hash is computed again at
//! each node; otherwise all flows that one node sends left would go left at the next one too.
//! Cost: O(lines · log nodes) for a destination, then O(lines of the nodes on the way) for a path.

use fairq_sched::hash::splitmix;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The two ends of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
    pub to: u32,
}

/// Cost to the destination, and lines to it.
type Distance = (u64, u32);

const UNREACHED: Distance = (u64::MAX, u32::MAX);

/// The greatest number of distances that are kept: 64 MB. Beyond it a destination may have to be
/// searched again.
const DISTANCES_KEPT: usize = 1 << 22;

/// The lines of a network and the distances that were asked for.
#[derive(Clone, Debug)]
pub struct Routes {
    lines: Vec<(Ends, u64)>,
    /// By node: the lines that leave it, in their order, and those that come to it.
    from: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    known: BTreeMap<u32, Vec<Distance>>,
}

impl Routes {
    /// The routes over `lines`, each with its cost, between `nodes` nodes.
    #[must_use]
    pub fn new(lines: Vec<(Ends, u64)>, nodes: usize) -> Self {
        let (mut from, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (number, (ends, _)) in lines.iter().enumerate() {
            from[ends.from as usize].push(number as u32);
            into[ends.to as usize].push(number as u32);
        }
        Self { lines, from, into, known: BTreeMap::new() }
    }

    /// The lines of the shortest path; empty if `from` is `to`, `None` if there is no path. `key`
    /// is that of a flow which may take any of several equally short ones.
    pub fn path(&mut self, from: u32, to: u32, key: Option<u64>) -> Option<Vec<u32>> {
        self.search(to);
        let left = &self.known[&to];
        if left[from as usize] == UNREACHED {
            return None;
        }
        let mut path = Vec::new();
        let mut node = from;
        while node != to {
            let (cost, hops) = left[node as usize];
            let is_short = |line: &&u32| {
                let (ends, own) = &self.lines[**line as usize];
                let (after, lines) = left[ends.to as usize];
                // An unreached node is further than any other.
                lines != u32::MAX && (after.saturating_add(*own), lines + 1) == (cost, hops)
            };
            let mut steps = self.from[node as usize].iter().filter(is_short);
            let step = match key {
                None => *steps.next()?,
                Some(key) => {
                    let steps: Vec<u32> = steps.copied().collect();
                    let hash = u128::from(splitmix(key.wrapping_add(splitmix(u64::from(node)))));
                    *steps.get(((hash * steps.len() as u128) >> 64) as usize)?
                }
            };
            path.push(step);
            node = self.lines[step as usize].0.to;
        }
        Some(path)
    }

    /// The costs of the shortest paths from every node to `to`; `None` for a node without a path.
    pub fn costs_to(&mut self, to: u32) -> impl Iterator<Item = Option<u64>> {
        self.search(to);
        self.known[&to].iter().map(|distance| (*distance != UNREACHED).then_some(distance.0))
    }

    /// Dijkstra's search against the lines, from `to`.
    fn search(&mut self, to: u32) {
        if self.known.contains_key(&to) {
            return;
        }
        if (self.known.len() + 1) * self.from.len() > DISTANCES_KEPT {
            self.known.clear();
        }
        let mut distances = vec![UNREACHED; self.from.len()];
        distances[to as usize] = (0, 0);
        let mut waiting = BinaryHeap::from([Reverse(((0, 0), to))]);
        while let Some(Reverse((distance, node))) = waiting.pop() {
            if distance > distances[node as usize] {
                continue;
            }
            for line in &self.into[node as usize] {
                let (ends, cost) = self.lines[*line as usize];
                let before = &mut distances[ends.from as usize];
                let through = (distance.0.saturating_add(cost), distance.1 + 1);
                if through < *before {
                    *before = through;
                    waiting.push(Reverse((through, ends.from)));
                }
            }
        }
        self.known.insert(to, distances);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(u32, u32, u64)]) -> Vec<(Ends, u64)> {
        of.iter().map(|(from, to, cost)| (Ends { from: *from, to: *to }, *cost)).collect()
    }

    #[test]
    fn the_shortest_path_wins_and_ties_go_to_the_lowest_line() {
        // A square 0-1-3 and 0-2-3, and a detour 0-4-5-3.
        let of = |costs: [u64; 7]| {
            let ends = [(0, 4), (4, 5), (5, 3), (0, 2), (2, 3), (0, 1), (1, 3)];
            let lines: Vec<_> = ends.iter().zip(costs).map(|((from, to), cost)| (*from, *to, cost)).collect();
            Routes::new(self::lines(&lines), 6)
        };
        let mut by_hops = of([1; 7]);
        assert_eq!(by_hops.path(0, 3, None), Some(vec![3, 4]));
        assert_eq!(by_hops.path(3, 0, None), None);
        assert_eq!(by_hops.path(2, 2, None), Some(vec![]));
        // By cost: the detour wins, though it has more lines. At equal cost it loses.
        assert_eq!(of([1, 1, 1, 2, 2, 2, 2]).path(0, 3, None), Some(vec![0, 1, 2]));
        assert_eq!(of([1, 1, 2, 2, 2, 2, 2]).path(0, 3, None), Some(vec![3, 4]));
        assert_eq!(of([1, 1, 2, 2, 3, 2, 2]).path(0, 3, None), Some(vec![5, 6]));
    }

    #[test]
    fn lines_that_cost_nothing_make_no_circle() {
        let mut routes = Routes::new(lines(&[(0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0)]), 3);
        assert_eq!(routes.path(0, 2, None), Some(vec![0, 2]));
        assert_eq!(routes.path(0, 2, Some(7)), Some(vec![0, 2]));
    }

    #[test]
    fn no_path_is_shorter_than_those_found_and_keys_choose_among_all_the_shortest() {
        let mut state = 1u64;
        let mut draw = |bound: u64| {
            state = splitmix(state);
            state % bound
        };
        let mut chosen = 0;
        for _ in 0..200 {
            let nodes = 2 + draw(6);
            let lines: Vec<(u32, u32, u64)> =
                (0..draw(20)).map(|_| (draw(nodes) as u32, draw(nodes) as u32, draw(3))).collect();
            // Bellman and Ford's, over cost and hops.
            let mut least = vec![vec![UNREACHED; nodes as usize]; nodes as usize];
            for (to, least) in least.iter_mut().enumerate() {
                least[to] = (0, 0);
                for _ in 0..nodes {
                    for (from, after, cost) in &lines {
                        let (rest, hops) = least[*after as usize];
                        if hops != u32::MAX {
                            least[*from as usize] = least[*from as usize].min((rest + cost, hops + 1));
                        }
                    }
                }
            }
            let mut routes = Routes::new(self::lines(&lines), nodes as usize);
            for (from, to) in (0..nodes as u32).flat_map(|from| (0..nodes as u32).map(move |to| (from, to))) {
                let least = least[to as usize][from as usize];
                let mut seen = std::collections::BTreeSet::new();
                for key in [None].into_iter().chain((0..30).map(|key| Some(splitmix(key)))) {
                    let path = routes.path(from, to, key);
                    assert_eq!(path.is_some(), least != UNREACHED);
                    let Some(path) = path else { continue };
                    let cost: u64 = path.iter().map(|line| lines[*line as usize].2).sum();
                    assert_eq!((cost, path.len() as u32), least);
                    let ends: Vec<_> = path.iter().map(|line| lines[*line as usize]).collect();
                    assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0));
                    seen.insert(path);
                }
                chosen += usize::from(seen.len() > 1);
            }
        }
        assert!(chosen > 100, "{chosen} pairs had a choice");
    }
}
