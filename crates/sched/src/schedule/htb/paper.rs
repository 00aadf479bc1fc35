//! HTB as its theory has it, in exact tokens.

use super::{Class, Settings};
use crate::change::{Change, Unsupported};
use crate::class_tree::ClassTree;
use crate::contract::{Heads, Line, Next, Slot};
use crate::reading::{Reading, Unit};
use crate::schedule::by_class::Rules;
use crate::store::Store;
use crate::units::{Bytes, PS_PER_S, Rate, Time};
use alloc::vec::Vec;

/// Tokens, in bits × 10⁻¹²: a rate in bit/s times picoseconds.
struct Bucket {
    /// Bits per second.
    rate: i128,
    level: i128,
    full: i128,
}

impl Bucket {
    fn new(rate: Option<Rate>, burst: Bytes) -> Self {
        // Bytes are at most 2^60 and a byte is 2^43 units.
        let full = i128::from(burst.0.max(1)) * PER_BYTE;
        Self { rate: rate.map_or(0, |rate| rate.bit_per_s().into()), level: full, full }
    }

    fn fill(&mut self, time: Time) {
        self.level = self.full.min(self.level + self.rate * i128::from(time.0));
    }

    /// How long until it holds what a packet of `length` needs.
    fn wait(&self, length: u32) -> u64 {
        let missing = (i128::from(length) * PER_BYTE).min(self.full) - self.level;
        let wait = (missing.max(0) as u128).div_ceil(self.rate.max(1) as u128);
        u64::try_from(wait).unwrap_or(u64::MAX)
    }
}

/// Token units in a byte.
const PER_BYTE: i128 = 8 * PS_PER_S as i128;

/// A class at work.
struct State {
    given: Option<Rate>,
    tokens: Bucket,
    ceiling: Option<Bucket>,
    /// How many levels are below it.
    height: usize,
    priority: u8,
    quantum: Option<Bytes>,
    /// What is left of a leaf's turn when it borrows from each height.
    deficits: Vec<i64>,
    /// Bytes of the head packet of a leaf.
    head: Option<u32>,
}

impl State {
    fn quantum(&self, r2q: u32) -> i64 {
        let usual = (self.tokens.rate as u64 / (8 * u64::from(r2q))).clamp(1514, 200_000);
        self.quantum.map_or(usual, |quantum| quantum.0) as i64
    }
}

/// Order of the classes that may send, least first: height of the lender, priority, distance from
/// the class that has the turn.
type Turn = (usize, u8, usize);

/// A tree of token buckets.
pub(super) struct Htb {
    tree: ClassTree,
    states: Vec<State>,
    r2q: u32,
    /// The longest time of its rate that a class owes, in picoseconds.
    debt_max: i128,
    updated: Time,
    /// The leaf whose turn it is, by height of the lender and priority.
    turns: Vec<[usize; PRIORITIES]>,
}

/// Priorities are 0 to 7.
const PRIORITIES: usize = 8;

impl Htb {
    /// All buckets are full.
    #[must_use]
    pub(super) fn new(tree: ClassTree, settings: &Settings, line: &Line) -> Self {
        let mut heights = alloc::vec![0; tree.len()];
        for leaf in tree.leaves() {
            for (height, class) in tree.path(*leaf).enumerate() {
                heights[class] = heights[class].max(height);
            }
        }
        let levels = heights.iter().max().map_or(0, |height| height + 1);
        let state = |(at, class): (usize, &Class)| State {
            given: class.rate,
            tokens: Bucket::new(class.rate, class.burst),
            ceiling: class.ceil.map(|ceil| Bucket::new(Some(ceil), class.cburst)),
            height: heights[at],
            priority: class.priority,
            quantum: class.quantum,
            deficits: alloc::vec![0; levels],
            head: None,
        };
        let states = settings.classes.iter().enumerate().map(state).collect();
        let turns = alloc::vec![[0; PRIORITIES]; levels];
        let debt_max = settings.mbuffer.0.into();
        let mut htb = Self { tree, states, r2q: settings.r2q, debt_max, updated: Time::ZERO, turns };
        htb.divide(line.rate);
        htb
    }

    /// Classes without a rate have an equal part of what the others leave of what is above them.
    fn divide(&mut self, line: Rate) {
        let mut order: Vec<usize> = (0..self.tree.len()).collect();
        order.sort_by_key(|class| self.tree.depth(*class));
        for class in order {
            let parent = self.tree.parent(class);
            let above = parent.map_or(line.bit_per_s().into(), |parent| self.states[parent].tokens.rate);
            let siblings = (0..self.tree.len()).filter(|other| self.tree.parent(*other) == parent);
            let given: Vec<Option<Rate>> = siblings.map(|other| self.states[other].given).collect();
            let rest = above - given.iter().flatten().map(|rate| i128::from(rate.bit_per_s())).sum::<i128>();
            let others = given.iter().filter(|given| given.is_none()).count().max(1) as i128;
            let State { given, tokens, .. } = &mut self.states[class];
            tokens.rate = given.map_or((rest / others).max(1), |rate| rate.bit_per_s().into());
        }
    }

    fn fill(&mut self, now: Time) {
        let passed = now - self.updated;
        self.updated = now;
        for state in &mut self.states {
            state.tokens.fill(passed);
            if let Some(ceiling) = &mut state.ceiling {
                ceiling.fill(passed);
            }
        }
    }

    /// How long until the leaf `class` may send its head of `length`, and the class that lends
    /// then: the first on the way up that has enough.
    fn wait(&self, class: usize, length: u32) -> (u64, usize) {
        let ceilings = self.tree.path(class).filter_map(|class| self.states[class].ceiling.as_ref());
        let below_ceilings = ceilings.map(|bucket| bucket.wait(length)).max().unwrap_or(0);
        let lenders = self.tree.path(class).map(|class| (self.states[class].tokens.wait(length), class));
        // What is there by the time the ceilings allow is as good as what is there now.
        let lenders = lenders.map(|(wait, class)| (wait.max(below_ceilings), class));
        lenders.min_by_key(|(wait, class)| (*wait, self.states[*class].height)).unwrap_or((u64::MAX, class))
    }

    /// Where the leaf in place `slot` stands among those that may send with a lender of its height.
    fn turn(&self, slot: usize, lender: usize) -> Turn {
        let (height, priority) = (self.states[lender].height, self.states[self.tree.leaves()[slot]].priority);
        let leaves = self.tree.leaves().len();
        let current = self.turns[height][usize::from(priority)];
        (height, priority, (slot + leaves - current) % leaves)
    }

    /// The leaf that sends next and its lender, or how long no class may send.
    fn choose(&self) -> Result<(usize, usize), Option<u64>> {
        let (mut best, mut least): (Option<(Turn, usize, usize)>, Option<u64>) = (None, None);
        for (slot, class) in self.tree.leaves().iter().enumerate() {
            let Some(length) = self.states[*class].head else { continue };
            let (wait, lender) = self.wait(*class, length);
            if wait == 0 {
                let turn = self.turn(slot, lender);
                if best.is_none_or(|(other, ..)| turn < other) {
                    best = Some((turn, slot, lender));
                }
            }
            least = Some(least.map_or(wait, |other| other.min(wait)));
        }
        best.map(|(_, slot, lender)| (slot, lender)).ok_or(least)
    }

    /// Takes the tokens of a packet of `length` that `leaf` sends with those of `lender`.
    fn charge(&mut self, leaf: usize, lender: usize, length: u32) {
        let bits = i128::from(length) * PER_BYTE;
        let height = self.states[lender].height;
        let mut class = Some(leaf);
        while let Some(at) = class {
            let state = &mut self.states[at];
            if let Some(ceiling) = &mut state.ceiling {
                ceiling.level -= bits;
            }
            if state.height >= height {
                state.tokens.level = (state.tokens.level - bits).max(state.tokens.rate * -self.debt_max);
            }
            class = self.tree.parent(at);
        }
        let slot = self.tree.slot(leaf).map_or(0, |slot| slot as usize);
        let leaf = &mut self.states[leaf];
        let quantum = leaf.quantum(self.r2q);
        leaf.deficits[height] -= i64::from(length);
        let mut current = slot;
        if leaf.deficits[height] < 0 {
            leaf.deficits[height] = leaf.deficits[height].saturating_add(quantum).max(-quantum);
            current = (slot + 1) % self.tree.leaves().len();
        }
        self.turns[height][usize::from(leaf.priority)] = current;
    }
}

impl Rules for Htb {
    fn tree(&self) -> &ClassTree {
        &self.tree
    }

    fn heads(&self, _leaf: usize) -> Heads {
        Heads::AtOnce
    }

    fn backlogged(&mut self, leaf: usize, head: u32) {
        self.states[leaf].head = Some(head);
    }

    fn next(&mut self, now: Time, _store: &Store) -> Next {
        self.fill(now);
        match self.choose() {
            Ok((slot, _)) => Next::Queue(slot as Slot),
            Err(Some(wait)) => Next::NotBefore(now.saturating_add(Time(wait))),
            Err(None) => Next::Empty,
        }
    }

    fn sent(&mut self, now: Time, leaf: usize, length: u32, head: Option<u32>) {
        self.fill(now);
        let (_, lender) = self.wait(leaf, length);
        self.charge(leaf, lender, length);
        self.states[leaf].head = head;
    }

    fn removed(&mut self, _now: Time, leaf: usize, head: Option<u32>) {
        self.states[leaf].head = head;
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.fill(now);
        self.divide(rate);
        Ok(())
    }

    fn reading(&self, class: usize) -> Reading<'_> {
        Reading::real("tokens_bytes", Unit::Bytes, self.states[class].tokens.level as f64 / PER_BYTE as f64)
    }
}
