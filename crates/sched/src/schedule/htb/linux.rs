//! HTB in the arithmetic and order of Linux 6.1 (sch_htb.c).
//!
//! Tokens are nanoseconds of a class's rate and of its ceiling. A class that can send stands in the
//! row of its level and priority, one that may borrow in the feed of the class above it; both are
//! in the order of the list, and a pointer in each says whose turn it is. A leaf is on level 0, a
//! class at the line with others below it on level 7, and so on down.

use super::{Class, Settings};
use crate::class_tree::{ClassTree, LEVELS_MAX};
use crate::contract::{Line, Next};
use crate::psched::{NS_PER_S, Ratio, saved};
use crate::reading::{Reading, Unit};
use crate::schedule::by_class::Rules;
use crate::store::Store;
use crate::units::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;

const LEVELS: usize = 8;
const PRIORITIES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    CannotSend,
    MayBorrow,
    CanSend,
}

/// Classes that take turns, and whose turn it is.
#[derive(Clone, Debug, Default)]
struct Feed {
    /// The classes in the order of their turns.
    classes: Vec<u32>,
    turn: Option<u32>,
    /// Whose turn it was when that class left.
    last: Option<u32>,
}

impl Feed {
    /// The first class from `class` on.
    fn from(&self, class: u32) -> Option<u32> {
        self.classes.get(self.classes.partition_point(|other| *other < class)).copied()
    }

    /// The turn goes on from `class`. `None`: it goes to the beginning, and the turn of the class
    /// above goes on too.
    fn pass(&mut self, class: u32) {
        self.turn = self.from(class + 1);
    }

    fn insert(&mut self, class: u32) {
        if let Err(at) = self.classes.binary_search(&class) {
            self.classes.insert(at, class);
        }
    }

    fn remove(&mut self, class: u32) {
        if let Ok(at) = self.classes.binary_search(&class) {
            self.classes.remove(at);
        }
    }
}

/// A class at work.
struct State {
    parent: Option<u32>,
    level: usize,
    priority: usize,
    mode: Mode,
    rate: Ratio,
    ceiling: Ratio,
    tokens: i64,
    ceiling_tokens: i64,
    most: i64,
    ceiling_most: i64,
    updated: i64,
    quantum: i64,
    deficits: [i64; LEVELS],
    /// By bit, the priorities that have something to send here.
    activity: u8,
    feeds: [Feed; PRIORITIES],
    /// When its mode may change; its place among the events of its level.
    event: Option<(i64, u64)>,
}

/// The classes of a level that can send.
#[derive(Default)]
struct Level {
    rows: [Feed; PRIORITIES],
    mask: u8,
    /// The soonest last.
    events: Vec<(i64, u64, u32)>,
    /// No event is before.
    nearest: i64,
}

/// The tree.
pub(super) struct Htb {
    tree: ClassTree,
    states: Vec<State>,
    levels: Box<[Level; LEVELS]>,
    debt_max: i64,
    now: i64,
    events: u64,
    /// The class that `next` named, with level and priority.
    chosen: Option<(u32, usize, usize)>,
}

impl Htb {
    pub(super) fn new(tree: ClassTree, settings: &Settings, line: &Line) -> Self {
        let debt_max = i64::try_from(settings.mbuffer.0 / 1000).unwrap_or(i64::MAX / 4);
        let rates = settings.rates(line.rate);
        let state = |(at, class): (usize, &Class)| {
            let rate = rates[at];
            // A class of tc has a rate. One that says nothing may have what those above it may.
            let said = tree.path(at).find_map(|class| settings.classes[class].ceil.or(settings.classes[class].rate));
            let ceil = said.map_or(line.rate.bit_per_s(), |ceil| ceil.bit_per_s());
            let is_leaf = tree.slot(at).is_some();
            let usual = (rate / 8 / u64::from(settings.r2q)).clamp(1000, 200_000);
            let (most, ceiling_most) = (saved(class.burst, rate), saved(class.cburst, ceil));
            State {
                parent: tree.parent(at).map(|parent| parent as u32),
                level: if is_leaf { 0 } else { LEVELS - 1 - tree.depth(at).min(LEVELS - 2) },
                priority: usize::from(class.priority),
                mode: Mode::CanSend,
                rate: Ratio::new(rate, class.link()),
                ceiling: Ratio::new(ceil, class.link()),
                tokens: most,
                ceiling_tokens: ceiling_most,
                most,
                ceiling_most,
                updated: 0,
                quantum: class.quantum.map_or(usual, |quantum| quantum.0).min(i32::MAX as u64) as i64,
                deficits: [0; LEVELS],
                activity: 0,
                feeds: Default::default(),
                event: None,
            }
        };
        let states = settings.classes.iter().enumerate().map(state).collect();
        let levels = Default::default();
        Self { tree, states, levels, debt_max, now: 0, events: 0, chosen: None }
    }

    fn feed(&mut self, class: Option<u32>, level: usize, priority: usize) -> &mut Feed {
        match class {
            Some(class) => &mut self.states[class as usize].feeds[priority],
            None => &mut self.levels[level].rows[priority],
        }
    }

    /// Its mode, `passed` after its tokens were counted, and how long until it may change.
    fn mode(&self, class: u32, passed: i64) -> (Mode, i64) {
        let State { tokens, ceiling_tokens, .. } = self.states[class as usize];
        match () {
            () if ceiling_tokens + passed < 0 => (Mode::CannotSend, -(ceiling_tokens + passed)),
            () if tokens + passed >= 0 => (Mode::CanSend, passed),
            () => (Mode::MayBorrow, -(tokens + passed)),
        }
    }

    /// The class has something to send at these priorities: it and those above that may borrow
    /// stand in their feeds (`htb_activate_prios`).
    fn activate(&mut self, class: u32) {
        let (mut class, mut mask) = (class, self.states[class as usize].activity);
        while let (Mode::MayBorrow, Some(parent)) =
            (self.states[class as usize].mode, self.states[class as usize].parent)
            && mask != 0
        {
            for priority in bits(mask) {
                let feed = &mut self.states[parent as usize].feeds[priority];
                if !feed.classes.is_empty() {
                    mask &= !(1 << priority);
                }
                feed.insert(class);
            }
            self.states[parent as usize].activity |= mask;
            class = parent;
        }
        let State { mode, level, .. } = self.states[class as usize];
        if mode == Mode::CanSend {
            self.levels[level].mask |= mask;
            for priority in bits(mask) {
                self.levels[level].rows[priority].insert(class);
            }
        }
    }

    /// Undoes `activate` (`htb_deactivate_prios`).
    fn deactivate(&mut self, class: u32) {
        let (mut class, mut mask) = (class, self.states[class as usize].activity);
        while let (Mode::MayBorrow, Some(parent)) =
            (self.states[class as usize].mode, self.states[class as usize].parent)
            && mask != 0
        {
            let mut emptied = 0;
            for priority in bits(mask) {
                let feed = &mut self.states[parent as usize].feeds[priority];
                if feed.turn == Some(class) {
                    (feed.last, feed.turn) = (Some(class), None);
                }
                feed.remove(class);
                if feed.classes.is_empty() {
                    emptied |= 1 << priority;
                }
            }
            self.states[parent as usize].activity &= !emptied;
            mask = emptied;
            class = parent;
        }
        let State { mode, level, .. } = self.states[class as usize];
        if mode == Mode::CanSend {
            for priority in bits(mask) {
                let row = &mut self.levels[level].rows[priority];
                if row.turn == Some(class) {
                    row.pass(class);
                }
                row.remove(class);
                if row.classes.is_empty() {
                    self.levels[level].mask &= !(1 << priority);
                }
            }
        }
    }

    /// Sets the mode of the class, `passed` after its tokens were counted; how long until it may
    /// change.
    fn change_mode(&mut self, class: u32, passed: i64) -> i64 {
        let (mode, wait) = self.mode(class, passed);
        let State { mode: old, activity, .. } = self.states[class as usize];
        if mode != old {
            if activity != 0 && old != Mode::CannotSend {
                self.deactivate(class);
            }
            self.states[class as usize].mode = mode;
            if activity != 0 && mode != Mode::CannotSend {
                self.activate(class);
            }
        }
        wait
    }

    fn add_event(&mut self, class: u32, wait: i64) {
        let at = self.now + wait.max(1);
        self.events += 1;
        let State { level, event, .. } = &mut self.states[class as usize];
        *event = Some((at, self.events));
        let level = &mut self.levels[*level];
        level.nearest = level.nearest.min(at);
        let place = level.events.partition_point(|event| *event > (at, self.events, class));
        level.events.insert(place, (at, self.events, class));
    }

    fn remove_event(&mut self, class: u32) {
        let State { level, event, .. } = &mut self.states[class as usize];
        if let Some((at, number)) = event.take() {
            self.levels[*level].events.retain(|event| *event != (at, number, class));
        }
    }

    /// Does what is due at `level`; when the next event of it is.
    fn do_events(&mut self, level: usize) -> i64 {
        while let Some((at, _, class)) = self.levels[level].events.last().copied() {
            if at > self.now {
                return at;
            }
            self.remove_event(class);
            let passed = (self.now - self.states[class as usize].updated).min(self.debt_max);
            let wait = self.change_mode(class, passed);
            if self.states[class as usize].mode != Mode::CanSend {
                self.add_event(class, wait);
            }
        }
        self.now + NS_PER_S as i64
    }

    /// The leaf whose turn it is at a level and priority (`htb_lookup_leaf`).
    fn look_up(&mut self, level: usize, priority: usize) -> Option<u32> {
        // The row first, then the inner classes on the way down.
        let mut path = [None; LEVELS_MAX + 1];
        let mut depth = 0;
        // Each class is entered at most twice: its feed begins anew once.
        for _ in 0..4 * self.states.len() + 4 {
            let at = path[depth];
            let feed = self.feed(at, level, priority);
            if feed.turn.is_none()
                && let Some(last) = feed.last
            {
                feed.turn = feed.from(last);
            }
            feed.last = None;
            let Some(class) = feed.turn else {
                feed.turn = feed.classes.first().copied();
                feed.turn?;
                if depth > 0 {
                    depth -= 1;
                    let feed = self.feed(path[depth], level, priority);
                    let class = feed.turn?;
                    feed.pass(class);
                }
                continue;
            };
            if self.states[class as usize].level == 0 {
                return Some(class);
            }
            depth += 1;
            path[depth] = Some(class);
        }
        None
    }

    /// The class was sent from, or lends: `bytes` more of its rate and ceiling are gone.
    fn charge(&mut self, leaf: u32, level: usize, length: u32) {
        let mut class = Some(leaf);
        while let Some(at) = class {
            let (now, debt_max) = (self.now, self.debt_max);
            let state = &mut self.states[at as usize];
            let passed = (now - state.updated).min(debt_max);
            let spend = |tokens: i64, most: i64, cost: i64| {
                let left = (tokens + passed).min(most) - cost;
                if left <= -debt_max { 1 - debt_max } else { left }
            };
            if state.level >= level {
                state.tokens = spend(state.tokens, state.most, state.rate.time_of(length));
            } else {
                state.tokens += passed;
            }
            state.ceiling_tokens = spend(state.ceiling_tokens, state.ceiling_most, state.ceiling.time_of(length));
            state.updated = now;
            let old = state.mode;
            let wait = self.change_mode(at, 0);
            let mode = self.states[at as usize].mode;
            if mode != old {
                if old != Mode::CanSend {
                    self.remove_event(at);
                }
                if mode != Mode::CanSend {
                    self.add_event(at, wait);
                }
            }
            class = self.states[at as usize].parent;
        }
    }

    /// When a leaf that waits may send: it and those above it up to a lender may not be above their
    /// ceilings, and the lender has tokens.
    fn earliest(&self) -> i64 {
        let wait = |tokens: i64, updated: i64| updated + (-tokens).max(0);
        let waiting = self.tree.leaves().iter().filter(|leaf| self.states[**leaf].activity != 0);
        let of_leaf = |leaf: &usize| {
            let (mut below, mut best) = (0, i64::MAX);
            for class in self.tree.path(*leaf) {
                let State { tokens, ceiling_tokens, updated, .. } = self.states[class];
                below = below.max(wait(ceiling_tokens, updated));
                best = best.min(below.max(wait(tokens, updated)));
            }
            best
        };
        waiting.map(of_leaf).min().unwrap_or(i64::MAX)
    }

    fn sleep(&mut self, leaf: u32) {
        if self.states[leaf as usize].activity != 0 {
            self.deactivate(leaf);
            self.states[leaf as usize].activity = 0;
        }
    }
}

/// The numbers of the bits that are set.
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |bit| mask >> bit & 1 == 1)
}

impl Rules for Htb {
    fn tree(&self) -> &ClassTree {
        &self.tree
    }

    fn backlogged(&mut self, leaf: usize, _head: u32) {
        let State { activity, priority, .. } = &mut self.states[leaf];
        if *activity == 0 {
            *activity = 1 << *priority;
            self.activate(leaf as u32);
        }
    }

    fn next(&mut self, now: Time, store: &Store) -> Next {
        if store.packets() == 0 {
            return Next::Empty;
        }
        self.now = (now.0 / 1000) as i64;
        for level in 0..LEVELS {
            if self.now >= self.levels[level].nearest {
                let nearest = self.do_events(level);
                self.levels[level].nearest = nearest;
            }
            for priority in bits(self.levels[level].mask) {
                if let Some(leaf) = self.look_up(level, priority) {
                    self.chosen = Some((leaf, level, priority));
                    return self.tree.slot(leaf as usize).map_or(Next::Empty, Next::Queue);
                }
            }
        }
        // An event of the same nanosecond is due in the next.
        let first = self.earliest().max(self.now + 1);
        Next::NotBefore(Time((first as u64).saturating_mul(1000)))
    }

    fn sent(&mut self, now: Time, leaf: usize, length: u32, head: Option<u32>) {
        self.now = (now.0 / 1000) as i64;
        let leaf = leaf as u32;
        let Some((_, level, priority)) = self.chosen.take().filter(|(chosen, ..)| *chosen == leaf) else { return };
        let State { parent, deficits, quantum, .. } = &mut self.states[leaf as usize];
        let parent = *parent;
        deficits[level] -= i64::from(length);
        if deficits[level] < 0 {
            deficits[level] += *quantum;
            // Of a leaf that borrows the turn in its parent goes on.
            let of = if level == 0 { None } else { parent };
            let feed = self.feed(of, level, priority);
            if let Some(class) = feed.turn {
                feed.pass(class);
            }
        }
        if head.is_none() {
            self.sleep(leaf);
        }
        self.charge(leaf, level, length);
    }

    fn removed(&mut self, _now: Time, leaf: usize, head: Option<u32>) {
        if head.is_none() {
            self.sleep(leaf as u32);
        }
    }

    fn reading(&self, class: usize) -> Reading<'_> {
        Reading::real("tokens_s", Unit::Seconds, self.states[class].tokens as f64 / NS_PER_S as f64)
    }
}
