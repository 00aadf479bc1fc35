//! A priority queue of numbered items whose keys may change: a knock-out tournament between all
//! items.
//!
//! Chosen: each match is between two neighbours and keeps its winner by number; the keys stand in
//! one array. The matches of an item follow from its number, so that all opponents can be fetched
//! at once; a heap knows the next place to read only after the last comparison. The winner is
//! selected without a branch, so that no branch is mispredicted. Prefer [`Heap`](crate::heap::Heap)
//! where few of many items are held at a time: a change costs a step for each doubling of the
//! greatest number, not of the number of held items.
//!
//! Beside the tournament stands a sorted ring (sorted_ring.rs): items in order of their keys. An
//! item whose place is at or near an end of the ring goes there and plays no match. Tags of flows
//! with like weights and packets mostly come in order, and then there is no match at all. Where
//! they do not, most items are not tried on the ring: moving others for each costs more than a
//! match, unless few items are held and there is room for many.
//!
//! Order: by key alone. Equal keys come in an order that follows from the calls.
//!
//! Cost: O(log of the greatest item) steps for a change, O(1) within the ring, two for a look at
//! the least; no allocation once it has held an item with so great a number.
//!
//! Range: a key of 2¹²⁸ - 1 plays as 2¹²⁸ - 2, for in the tournament the greatest key means that
//! the item is not held.

use crate::sorted_ring::{Key, SortedRing};
use alloc::vec::Vec;
use core::hint::select_unpredictable;

/// The key of an item that is not held.
const ABSENT: Key = Key::MAX;
/// Items at first.
const ITEMS_MIN: usize = 2;
/// At most this many items are kept in the ring where there is room for more.
const FEW: usize = 16;
/// An item that passes more than this many others in the ring did not come in order.
const PASSED_MAX: u32 = 2;
/// Number of items after it that are not tried on the ring.
const UNASKED: u32 = 255;
/// Number of the last of them that must come in order; otherwise as many again are not tried.
const IN_ORDER_MIN: u32 = 16;

/// Items in a tournament; the least key wins.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The key of each item that plays, or [`ABSENT`]. As long as `winners`, a power of two.
    keys: Vec<Key>,
    /// The winner of each match: the final at 1, the matches before that of place p at 2p and
    /// 2p + 1. An item plays its first match at (length + item) / 2.
    winners: Vec<u32>,
    /// Number of items in the tournament.
    playing: usize,
    /// Items that need not play.
    ring: SortedRing,
    /// How many further items are not tried on the ring.
    unasked: u32,
    /// The last key seen while checking whether keys come in order again.
    last: Key,
}

impl Default for Tournament {
    fn default() -> Self {
        Self::new()
    }
}

impl Tournament {
    /// An empty tournament.
    #[must_use]
    pub const fn new() -> Self {
        Self { keys: Vec::new(), winners: Vec::new(), playing: 0, ring: SortedRing::new(), unasked: 0, last: 0 }
    }

    /// How many items it holds.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.playing + self.ring.len()
    }

    /// Whether it holds no item.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.playing == 0 && self.ring.is_empty()
    }

    /// Whether it holds `item`.
    #[must_use]
    pub fn contains(&self, item: u32) -> bool {
        self.key(item).is_some()
    }

    /// The key of `item`, if it is held.
    #[must_use]
    #[inline]
    pub fn key(&self, item: u32) -> Option<Key> {
        self.ring.key(item).or_else(|| self.playing_key(item))
    }

    /// The key of `item`, if it plays.
    #[inline]
    fn playing_key(&self, item: u32) -> Option<Key> {
        self.keys.get(item as usize).copied().filter(|key| !is_absent(*key))
    }

    /// The least item and its key.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<(u32, Key)> {
        let running = self.ring.first();
        if self.playing == 0 { running } else { self.peek_at_both(running) }
    }

    /// The least item and its key, of the ring's first and the items of the tournament.
    #[inline(always)]
    fn peek_at_both(&self, running: Option<(u32, Key)>) -> Option<(u32, Key)> {
        // An item that is not held never wins against one that is.
        let item = *self.winners.get(1)?;
        let key = *self.keys.get(item as usize)?;
        match running {
            None => Some((item, key)),
            Some(first) => Some(earlier(first, (item, key))),
        }
    }

    /// Adds `item`; if it is held already, this gives it the new key.
    #[inline(always)]
    pub fn push(&mut self, item: u32, key: Key) {
        if !self.ring.turn(item, key) {
            self.place(item, key);
        }
    }

    /// Gives `item` its place in the ring or in the tournament, wherever it was.
    #[inline(never)]
    fn place(&mut self, item: u32, key: Key) {
        if self.unasked > 0 && self.ring.is_empty() && self.playing_key(item).is_some() {
            self.pass_by(key);
            self.play(item, held(key));
        } else {
            self.place_anew(item, key);
        }
    }

    /// Gives `item` a new key when it does not stay in the tournament.
    #[inline(never)]
    fn place_anew(&mut self, item: u32, key: Key) {
        if item as usize >= self.keys.len() {
            self.grow(item);
        }
        let key = held(key);
        self.ring.remove(item);
        let plays = self.playing_key(item).is_some();
        if self.joins_ring(item, key) {
            if plays {
                self.withdraw(item);
            }
        } else {
            self.playing += usize::from(!plays);
            self.play(item, key);
        }
    }

    /// Inserts `item`, which is not in the ring, there if it is to be tried and its place is near
    /// an end. Returns whether it did.
    #[inline(always)]
    fn joins_ring(&mut self, item: u32, key: Key) -> bool {
        if self.unasked > 0 {
            self.pass_by(key);
            return false;
        }
        let passed = self.ring.insert(item, key);
        let are_few = self.len() <= FEW && self.keys.len() > FEW;
        if !are_few && passed.is_none_or(|passed| passed > PASSED_MAX) {
            self.unasked = UNASKED;
        }
        passed.is_some()
    }

    /// Notes an item with `key` that is not tried on the ring.
    #[inline(always)]
    fn pass_by(&mut self, key: Key) {
        self.unasked -= 1;
        if self.unasked < IN_ORDER_MIN {
            self.look_for_order(key);
        }
    }

    #[cold]
    #[inline(never)]
    fn look_for_order(&mut self, key: Key) {
        if key < self.last {
            self.unasked = UNASKED;
            self.leave_ring();
        }
        self.last = key;
    }

    /// Moves the items of a ring of few into the tournament: they might stay there for ever and
    /// cost a second look at each `peek`.
    fn leave_ring(&mut self) {
        while self.ring.len() <= FEW
            && let Some((item, key)) = self.ring.first()
        {
            self.ring.remove_first(item);
            self.playing += 1;
            self.play(item, key);
        }
    }

    /// Makes `key` the key of `item`, or takes the item out.
    #[inline(always)]
    pub fn set(&mut self, item: u32, key: Option<Key>) {
        match key {
            Some(key) => self.push(item, key),
            None => self.discard(item),
        }
    }

    /// Adds `item`, which is not held.
    #[inline(always)]
    pub fn add(&mut self, item: u32, key: Key) {
        debug_assert!(!self.contains(item));
        // While the tournament has items, an empty ring would accept any item.
        if self.playing > 0 || !self.ring.append(item, key) {
            self.enter(item, key);
        }
    }

    /// As [`Tournament::add`], for an item that the ring does not take.
    #[inline(never)]
    fn enter(&mut self, item: u32, key: Key) {
        if item as usize >= self.keys.len() {
            self.grow(item);
        }
        let key = held(key);
        if !self.joins_ring(item, key) {
            self.playing += 1;
            self.play(item, key);
        }
    }

    /// Removes `item`, if it is held.
    #[inline(always)]
    pub fn discard(&mut self, item: u32) {
        if self.remove_first(item).is_none() {
            self.remove(item);
        }
    }

    /// Removes `item` if it is the first of the ring, and returns its key.
    #[inline(always)]
    pub fn remove_first(&mut self, item: u32) -> Option<Key> {
        self.ring.remove_first(item)
    }

    /// Removes the least item.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(u32, Key)> {
        let least = self.peek()?;
        self.discard(least.0);
        Some(least)
    }

    /// Removes `item` if it is held, and returns its key.
    #[inline(never)]
    pub fn remove(&mut self, item: u32) -> Option<Key> {
        let running = self.ring.remove(item);
        if running.is_some() {
            return running;
        }
        let key = self.playing_key(item)?;
        self.withdraw(item);
        Some(key)
    }

    /// Gives a held `item` another key, lower or higher; an item that is not held stays out.
    pub fn update(&mut self, item: u32, key: Key) {
        if self.contains(item) {
            self.push(item, key);
        }
    }

    /// Removes everything and keeps the memory. The cost grows with the greatest item there ever
    /// was.
    pub fn clear(&mut self) {
        // With no item held, the winners are irrelevant.
        self.keys.fill(ABSENT);
        self.ring.clear();
        self.playing = 0;
    }

    /// Takes `item` out of the tournament.
    #[inline]
    fn withdraw(&mut self, item: u32) {
        self.playing -= 1;
        if self.playing == 0 {
            // Ties between empty leaves are irrelevant.
            self.keys[item as usize] = ABSENT;
        } else {
            self.play(item, ABSENT);
        }
    }

    /// Gives `item` a key and plays all its matches again.
    #[inline(always)]
    fn play(&mut self, item: u32, key: Key) {
        let (keys, winners) = (&mut self.keys[..], &mut self.winners[..]);
        keys[item as usize] = key;
        // The best key so far, in halves that are selected apart: the compiler makes a branch of a
        // selection of the whole, and that is mispredicted half the time.
        let (mut winner, mut best_high, mut best_low) = (item, high(key), low(key));
        // The opponent in the first match is the neighbour, in every later one the winner of the
        // match beside.
        let mut opponent = item ^ 1;
        let mut place = (keys.len() + item as usize) / 2;
        loop {
            let other = keys[opponent as usize];
            let is_less = other < join(best_high, best_low);
            winner = select_unpredictable(is_less, opponent, winner);
            best_high = select_unpredictable(is_less, high(other), best_high);
            best_low = select_unpredictable(is_less, low(other), best_low);
            winners[place] = winner;
            if place <= 1 {
                return;
            }
            opponent = winners[place ^ 1];
            place /= 2;
        }
    }

    /// Makes room for `item`.
    #[cold]
    fn grow(&mut self, item: u32) {
        let length = (item as usize + 1).next_power_of_two().max(ITEMS_MIN);
        self.keys.resize(length, ABSENT);
        self.winners.resize(length, 0);
        self.ring.grow(length);
        for place in (1..length).rev() {
            let [left, right] = [2 * place, 2 * place + 1].map(|before| {
                // A place that is no match is an item.
                if before < length { self.winners[before] } else { (before - length) as u32 }
            });
            let is_right = self.keys[right as usize] < self.keys[left as usize];
            self.winners[place] = if is_right { right } else { left };
        }
    }
}

/// The entry with the lesser key, the first if they are equal. Out of line, so that a caller with
/// one entry alone does not load both keys.
#[cold]
#[inline(never)]
const fn earlier(first: (u32, Key), second: (u32, Key)) -> (u32, Key) {
    if first.1 <= second.1 { first } else { second }
}

/// The stored form of `key`: never the one that means absent.
const fn held(key: Key) -> Key {
    if is_absent(key) { ABSENT - 1 } else { key }
}

/// By its halves: one comparison of all bits uses a wide register, and its load stalls on a key
/// that was just written in halves (store forwarding).
const fn is_absent(key: Key) -> bool {
    high(key) & low(key) == u64::MAX
}

const fn high(key: Key) -> u64 {
    (key >> 64) as u64
}

const fn low(key: Key) -> u64 {
    key as u64
}

const fn join(high: u64, low: u64) -> Key {
    (high as Key) << 64 | low as Key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::splitmix;
    use alloc::collections::BTreeSet;

    fn check(tournament: &Tournament) {
        assert!(tournament.keys.is_empty() || tournament.keys.len().is_power_of_two());
        let running = (0..tournament.keys.len() as u32).filter_map(|item| tournament.ring.key(item));
        let held = tournament.keys.iter().copied().filter(|key| *key != ABSENT).chain(running);
        assert_eq!(held.clone().count(), tournament.len());
        assert_eq!(tournament.peek().map(|(_, key)| key), held.min());
    }

    #[test]
    fn any_sequence_of_operations_agrees_with_an_ordered_set() {
        for seed in 0..40 {
            let (mut state, items) = (seed, 1 + seed * seed % 90);
            let mut next = || {
                state = splitmix(state);
                state >> 33
            };
            let mut tournament = Tournament::new();
            let mut model = BTreeSet::new();
            let mut keys = alloc::vec![None; items as usize];
            for _ in 0..2000 {
                let item = (next() % items) as u32;
                // Few different values, so that the item often decides, in either half of the key.
                let value = u128::from(next() % 40);
                let key =
                    if seed % 2 == 0 { value << 64 | u128::from(item) } else { value << 80 | u128::from(item) << 64 };
                let operation = next() % 8;
                match operation {
                    0..3 => {
                        keys[item as usize].replace(key).map(|old| model.remove(&(old, item)));
                        model.insert((key, item));
                        if tournament.contains(item) { tournament.push(item, key) } else { tournament.add(item, key) }
                    }
                    3 | 4 => {
                        if let Some(old) = keys[item as usize] {
                            model.remove(&(old, item));
                            model.insert((key, item));
                            keys[item as usize] = Some(key);
                        }
                        tournament.update(item, key);
                    }
                    5 => {
                        let old = keys[item as usize].take();
                        if let Some(old) = old {
                            model.remove(&(old, item));
                        }
                        assert_eq!(tournament.remove(item), old);
                    }
                    _ => {
                        let least = model.pop_first().map(|(key, item)| (item, key));
                        if let Some((item, _)) = least {
                            keys[item as usize] = None;
                        }
                        assert_eq!(tournament.pop(), least);
                    }
                }
                check(&tournament);
                assert_eq!(tournament.peek(), model.first().map(|&(key, item)| (item, key)));
                assert_eq!(tournament.key(item), keys[item as usize]);
                assert_eq!(tournament.contains(item), keys[item as usize].is_some());
            }
            tournament.clear();
            check(&tournament);
            assert!(tournament.is_empty());
            tournament.push(0, 7);
            assert_eq!(tournament.peek(), Some((0, 7)));
        }
    }

    #[test]
    fn items_out_of_order_play_until_they_come_in_order_again() {
        let (mut tournament, mut state, mut model) = (Tournament::new(), 1, BTreeSet::new());
        for item in 0..64 {
            tournament.add(item, u128::from(item));
            model.insert((u128::from(item), item));
        }
        // Each in turn is given a key above its own: the same above for all, anything, and the same
        // again.
        for (round, is_mixed) in [(0, false), (1, true), (2, false)] {
            for change in 0..2000 {
                let (item, key) = tournament.pop().unwrap_or_default();
                assert_eq!(model.pop_first(), Some((key, item)), "round {round}, change {change}");
                state = splitmix(state);
                let key = key + if is_mixed { u128::from(state >> 40) } else { 1 << 24 };
                tournament.push(item, key);
                model.insert((key, item));
            }
            if is_mixed {
                assert!(tournament.ring.is_empty() && tournament.playing == 64);
            } else {
                assert_eq!((tournament.ring.len(), tournament.playing), (64, 0));
            }
        }
    }

    #[test]
    fn the_greatest_keys_are_held() {
        let mut tournament = Tournament::new();
        tournament.push(5, Key::MAX);
        tournament.push(2, Key::MAX);
        assert_eq!(tournament.len(), 2);
        assert!(tournament.pop().is_some() && tournament.pop().is_some());
        assert_eq!(tournament.pop(), None);
        assert_eq!(tournament.peek(), None);
    }
}
