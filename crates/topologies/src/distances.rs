//! The delays of the shortest paths from one node to all others, over and over in one network.
//!
//! Only delays are asked for and no paths, so that a search writes one number for each node. Where
//! all links have the same delay it goes from each layer to the next and needs no heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Further than any node.
const UNREACHED: u64 = u64::MAX;

/// The links of a network, by node, and the distances of the last search.
pub(super) struct Distances {
    /// The neighbours of node `n` are `links[first[n]..first[n + 1]]`.
    first: Vec<u32>,
    links: Vec<(u32, u64)>,
    found: Vec<u64>,
    /// The delay of every link, if it is the same and not zero.
    common: Option<u64>,
}

impl Distances {
    /// A network of `nodes` nodes and of links both ways: their ends and their delay.
    pub(super) fn new(nodes: usize, links: &[(u32, u32, u64)]) -> Self {
        let mut first = vec![0; nodes + 1];
        for (from, to, _) in links {
            first[*from as usize + 1] += 1;
            first[*to as usize + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut at: Vec<u32> = first[..nodes].to_vec();
        let mut both = vec![(0, 0); 2 * links.len()];
        for (from, to, delay) in links {
            for (from, to) in [(*from, *to), (*to, *from)] {
                both[at[from as usize] as usize] = (to, *delay);
                at[from as usize] += 1;
            }
        }
        let delay = links.first().map(|(.., delay)| *delay).filter(|delay| *delay > 0);
        let common = delay.filter(|common| links.iter().all(|(.., delay)| delay == common));
        Self { first, links: both, found: vec![UNREACHED; nodes], common }
    }

    /// How many links `node` has.
    pub(super) fn links(&self, node: usize) -> u32 {
        self.first[node + 1] - self.first[node]
    }

    /// How many nodes and links a search looks at, at least.
    pub(super) const fn steps(&self) -> usize {
        self.found.len() + self.links.len()
    }

    /// The distances of all nodes from `node`, from which each has a path.
    pub(super) fn from(&mut self, node: usize) -> &[u64] {
        self.found.fill(UNREACHED);
        self.found[node] = 0;
        match self.common {
            Some(delay) => self.by_layers(node as u32, delay),
            None => self.by_delay(node as u32),
        }
        &self.found
    }

    /// Breadth first.
    fn by_layers(&mut self, node: u32, delay: u64) {
        let Self { first, links, found, .. } = self;
        let mut waiting = VecDeque::from([node]);
        while let Some(node) = waiting.pop_front() {
            let next = found[node as usize].saturating_add(delay);
            for (to, _) in &links[first[node as usize] as usize..first[node as usize + 1] as usize] {
                if found[*to as usize] == UNREACHED {
                    found[*to as usize] = next;
                    waiting.push_back(*to);
                }
            }
        }
    }

    /// Dijkstra's search.
    fn by_delay(&mut self, node: u32) {
        let Self { first, links, found, .. } = self;
        let mut waiting = BinaryHeap::from([Reverse((0, node))]);
        while let Some(Reverse((distance, node))) = waiting.pop() {
            if distance > found[node as usize] {
                continue;
            }
            for (to, delay) in &links[first[node as usize] as usize..first[node as usize + 1] as usize] {
                let through = distance.saturating_add(*delay);
                if through < found[*to as usize] {
                    found[*to as usize] = through;
                    waiting.push(Reverse((through, *to)));
                }
            }
        }
    }
}
