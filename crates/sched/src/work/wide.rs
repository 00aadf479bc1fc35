//! Tenants whose first waiting item takes several seats, in the order of their turns: which is the
//! first that fits into the free seats, and how much service has passed each.
//!
//! Source: Seidel and Aragon, "Randomized Search Trees", Algorithmica 1996 (treap), with the least
//! width and the most service passed of every subtree kept at its root.
//! Departs: the priority of a node is a hash of its slot, not a random number: the same calls build
//! the same tree.
//! Cost: O(log n) expected for every call, n tenants with a wide item in front; no allocation for a
//! slot seen before.

use super::account::Tag;
use crate::hash::splitmix;
use crate::slots::entry;
use alloc::vec::Vec;

/// The place in the order of turns: start tag, then order of admission. No two items have the same.
pub(super) type Turn = (Tag, u64);

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node {
    turn: Turn,
    /// Seats of the first item; 0 when the slot is not in the tree.
    width: u32,
    left: u32,
    right: u32,
    /// The least width in this subtree.
    narrowest: u32,
    /// Service that has passed the item.
    passed: u64,
    /// The greatest `passed` in this subtree.
    most_passed: u64,
    /// Service that has passed all below, but is not yet added there.
    pending: u64,
}

const ABSENT: Node =
    Node { turn: (0, 0), width: 0, left: NONE, right: NONE, narrowest: 0, passed: 0, most_passed: 0, pending: 0 };

/// What stands in the order before a place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    /// The first whose item fits.
    pub(super) fits: Option<(u32, Turn)>,
    /// The most service that has passed one of those before it, none of which fits; `None` if there
    /// are none.
    pub(super) passed: Option<u64>,
}

/// The tree; nodes are named by the slots of their tenants.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    nodes: Vec<Node>,
    root: u32,
}

impl Wide {
    pub(super) const fn new() -> Self {
        Self { nodes: Vec::new(), root: NONE }
    }

    /// The first item of tenant `slot` has this turn and takes this many seats, or `None`. The
    /// service that has passed the item is kept while it is the same item.
    pub(super) fn set(&mut self, slot: u32, head: Option<(Turn, u32)>) {
        let old = self.remove(slot);
        let Some((turn, width)) = head else { return };
        let passed = old.filter(|(old, _)| old.1 == turn.1).map_or(0, |(_, passed)| passed);
        *entry(&mut self.nodes, slot, ABSENT) =
            Node { turn, width, narrowest: width, passed, most_passed: passed, ..ABSENT };
        let (before, after) = self.split(self.root, |other| other < turn);
        let before = self.merge(before, slot);
        self.root = self.merge(before, after);
    }

    /// `service` passes all whose turn is before `turn`.
    pub(super) fn pass(&mut self, turn: Turn, service: u64) {
        let (before, after) = self.split(self.root, |other| other < turn);
        self.add(before, service);
        self.root = self.merge(before, after);
    }

    /// The first whose turn it is.
    pub(super) fn least(&self) -> Option<Turn> {
        let mut least = None;
        let mut at = self.root;
        while let Some(node) = self.nodes.get(at as usize) {
            (least, at) = (Some(node.turn), node.left);
        }
        least
    }

    /// The first that takes at most `free` seats and whose turn is before `end`, and what those
    /// before it have let pass.
    pub(super) fn before(&self, free: u32, end: Option<Turn>) -> Before {
        let mut found = Before::default();
        // What all on the way from the root have pending for those below.
        let mut pending = 0_u64;
        let mut at = self.root;
        while let Some(node) = self.nodes.get(at as usize) {
            let left = self.nodes.get(node.left as usize);
            let below = pending.saturating_add(node.pending);
            let is_beyond = end.is_some_and(|end| node.turn >= end);
            if is_beyond || left.is_some_and(|left| left.narrowest <= free) {
                (at, pending) = (node.left, below);
                continue;
            }
            found.passed = found.passed.max(left.map(|left| left.most_passed.saturating_add(below)));
            if node.width <= free {
                found.fits = Some((at, node.turn));
                break;
            }
            found.passed = found.passed.max(Some(node.passed.saturating_add(pending)));
            (at, pending) = (node.right, below);
        }
        found
    }

    /// Takes out `slot`; its turn and what has passed it.
    fn remove(&mut self, slot: u32) -> Option<(Turn, u64)> {
        let turn = self.nodes.get(slot as usize).filter(|node| node.width > 0)?.turn;
        let (before, rest) = self.split(self.root, |other| other < turn);
        let (_, after) = self.split(rest, |other| other <= turn);
        self.root = self.merge(before, after);
        let node = core::mem::replace(&mut self.nodes[slot as usize], ABSENT);
        Some((turn, node.passed))
    }

    /// Parts a tree into those `is_before` holds of and the others; it holds of a first part of the
    /// order.
    fn split(&mut self, at: u32, is_before: impl Fn(Turn) -> bool + Copy) -> (u32, u32) {
        if at == NONE {
            return (NONE, NONE);
        }
        self.hand_down(at);
        let node = &self.nodes[at as usize];
        let (left, right) = (node.left, node.right);
        let parts = if is_before(node.turn) {
            let (before, after) = self.split(right, is_before);
            self.nodes[at as usize].right = before;
            (at, after)
        } else {
            let (before, after) = self.split(left, is_before);
            self.nodes[at as usize].left = after;
            (before, at)
        };
        self.gather(at);
        parts
    }

    /// One tree of two, all of `before` standing before all of `after`.
    fn merge(&mut self, before: u32, after: u32) -> u32 {
        if before == NONE || after == NONE {
            return if before == NONE { after } else { before };
        }
        // A bijection: no two slots have the same priority.
        let root = if splitmix(before.into()) > splitmix(after.into()) { before } else { after };
        self.hand_down(root);
        if root == before {
            self.nodes[root as usize].right = self.merge(self.nodes[root as usize].right, after);
        } else {
            self.nodes[root as usize].left = self.merge(before, self.nodes[root as usize].left);
        }
        self.gather(root);
        root
    }

    /// Adds to what has passed all of a tree.
    fn add(&mut self, at: u32, service: u64) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.passed = node.passed.saturating_add(service);
            node.most_passed = node.most_passed.saturating_add(service);
            node.pending = node.pending.saturating_add(service);
        }
    }

    fn hand_down(&mut self, at: u32) {
        let node = &mut self.nodes[at as usize];
        let (left, right, pending) = (node.left, node.right, core::mem::take(&mut node.pending));
        self.add(left, pending);
        self.add(right, pending);
    }

    /// Brings what is kept of the subtree at `at` up to date with its children.
    fn gather(&mut self, at: u32) {
        let node = &self.nodes[at as usize];
        let (mut narrowest, mut most_passed) = (node.width, node.passed);
        for child in [node.left, node.right] {
            if let Some(child) = self.nodes.get(child as usize) {
                narrowest = narrowest.min(child.narrowest);
                most_passed = most_passed.max(child.most_passed);
            }
        }
        let node = &mut self.nodes[at as usize];
        (node.narrowest, node.most_passed) = (narrowest, most_passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use alloc::collections::BTreeMap;

    /// Slot, width and passed of each turn.
    type List = BTreeMap<Turn, (u32, u32, u64)>;

    fn before(list: &List, free: u32, end: Option<Turn>) -> Before {
        let mut found = Before::default();
        for (turn, (slot, width, passed)) in list {
            if end.is_some_and(|end| *turn >= end) {
                break;
            }
            if *width <= free {
                found.fits = Some((*slot, *turn));
                break;
            }
            found.passed = found.passed.max(Some(*passed));
        }
        found
    }

    #[test]
    fn any_sequence_of_operations_agrees_with_a_list() {
        for seed in 0..60 {
            let mut random = Random::new(seed, "wide");
            let (mut wide, mut list) = (Wide::new(), List::new());
            let slots = 1 + seed * 2;
            let mut serial = 0;
            for _ in 0..1500 {
                let (slot, tag) = (random.below(slots) as u32, Tag::from(random.below(30)));
                let old = list.iter().find(|(_, value)| value.0 == slot).map(|(turn, value)| (*turn, *value));
                match random.below(8) {
                    0..3 => {
                        // Another item, or the same with another tag.
                        let is_same = old.is_some() && random.below(2) == 0;
                        serial += 1;
                        let turn = (tag, if is_same { old.unwrap().0.1 } else { serial });
                        let width = if is_same { old.unwrap().1.1 } else { 2 + random.below(7) as u32 };
                        let passed = if is_same { old.unwrap().1.2 } else { 0 };
                        old.map(|(turn, _)| list.remove(&turn));
                        list.insert(turn, (slot, width, passed));
                        wide.set(slot, Some((turn, width)));
                    }
                    3 => {
                        old.map(|(turn, _)| list.remove(&turn));
                        wide.set(slot, None);
                    }
                    4 | 5 => {
                        let (turn, service) = ((tag, random.below(serial + 1)), random.below(50));
                        list.range_mut(..turn).for_each(|(_, value)| value.2 += service);
                        wide.pass(turn, service);
                    }
                    _ => {
                        let end = (random.below(2) == 0).then_some((tag, 0));
                        let free = random.below(9) as u32;
                        assert_eq!(wide.before(free, end), before(&list, free, end), "seed {seed}");
                    }
                }
                assert_eq!(wide.least(), list.first_key_value().map(|(turn, _)| *turn));
            }
        }
    }

    #[test]
    fn a_long_order_makes_no_deep_tree() {
        const MANY: u32 = 100_000;
        let mut wide = Wide::new();
        for slot in 0..MANY {
            wide.set(slot, Some(((Tag::from(slot), 0), 2)));
        }
        let (mut deepest, mut level) = (0, alloc::vec![wide.root]);
        while !level.is_empty() {
            deepest += 1;
            let children = level.iter().flat_map(|at| [wide.nodes[*at as usize].left, wide.nodes[*at as usize].right]);
            level = children.filter(|at| *at != NONE).collect();
        }
        // 2 ln n levels on average for the deepest path is 4.3 ln n (Devroye 1986).
        assert!(deepest <= 50, "{deepest} levels");
    }
}
