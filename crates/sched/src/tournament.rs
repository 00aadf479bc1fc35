//! A priority queue of numbered items whose keys may change: a knock-out tournament between all items.
//!
//! Chosen: a match between two neighbours, its winner kept by number; the keys stand in one array. Where the matches
//! of an item are follows from its number, so that all opponents can be fetched at once; a heap knows the next place
//! to look only after the last comparison. Nothing depends on a guess: who wins is selected, not branched on.
//! Prefer [`Heap`](crate::heap::Heap) where few of many items are held at a time: a change costs a step for each
//! doubling of the greatest number, not of how many are held.
//! Beside the tournament stands a *run* (sorted_ring.rs): items in order of their keys. An item whose place is at an end of the run, or near
//! one, is put there and plays nothing. Tags of flows with like weights and packets mostly come in
//! their order, and then there is no match at all. Where they do not, next to nobody is asked whether it may stand there: to
//! move some others for each costs more than to play, unless they are few and there is room for many.
//! Order: by key alone. Equal keys come in an order that follows from the calls.
//! Cost: O(log of the greatest item) steps for a change, O(1) within the run, two for a look at the least; no
//! allocation once it has held an item with so great a number.
//! Range: a key of 2¹²⁸ - 1 plays as 2¹²⁸ - 2, for among those who play the greatest one means that the item is not held.

use crate::prefetch;
use crate::sorted_ring::SortedRing;
use alloc::vec::Vec;
use core::hint::select_unpredictable;

/// What items are ordered by; the least comes first.
pub type Key = u128;

/// The key of an item that is not held.
const ABSENT: Key = Key::MAX;
/// Items at first.
const ITEMS_MIN: usize = 2;
/// So few items are kept in the run where there is room for more.
const FEW: usize = 16;
/// An item that passes more others than these in the run did not come in order.
const PASSED_MAX: u32 = 2;
/// Then so many are not asked whether they may stand in the run.
const UNASKED: u32 = 255;
/// The last so many of them must have come in order, or as many again are not asked.
const IN_ORDER_MIN: u32 = 16;
/// A guess who wins soon is kept for so many changes, one less.
const GUESSES: usize = 8;
/// How many changes ahead one is made.
const AHEAD: u32 = 6;

/// Items in a tournament; the least key wins.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The key of each item that plays, or [`ABSENT`]. As long as `winners`, a power of two.
    keys: Vec<Key>,
    /// The winner of each match: the final at 1, the matches before that of place p at 2p and 2p + 1. An item plays
    /// its first match at (length + item) / 2.
    winners: Vec<u32>,
    /// How many play.
    playing: usize,
    /// Those who need not play.
    ring: SortedRing,
    /// How many items more are not asked whether they may stand in the run.
    unasked: u32,
    /// The key that was given last when one looked whether they come in order again.
    last: Key,
    /// Who may win soon, by the low bits of the number of the change after which it was guessed.
    guesses: [u32; GUESSES],
    /// Changes so far.
    changes: u32,
}

impl Default for Tournament {
    fn default() -> Self {
        Self::new()
    }
}

impl Tournament {
    /// Nobody plays.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            keys: Vec::new(),
            winners: Vec::new(),
            playing: 0,
            ring: SortedRing::new(),
            unasked: 0,
            last: 0,
            guesses: [0; GUESSES],
            changes: 0,
        }
    }

    /// How many items it holds.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.playing + self.ring.len()
    }

    /// Whether it holds nothing.
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

    /// The same if some play.
    #[inline(always)]
    fn peek_at_both(&self, running: Option<(u32, Key)>) -> Option<(u32, Key)> {
        // Who is not held wins against nobody who is.
        let item = *self.winners.get(1)?;
        let key = *self.keys.get(item as usize)?;
        match running {
            None => Some((item, key)),
            Some(first) => Some(earlier(first, (item, key))),
        }
    }

    /// Who will come so many behind the least item, six at most: a guess, for one who wants to look ahead.
    #[inline(always)]
    pub(crate) fn soon(&self, behind: u32) -> Option<u32> {
        if !self.ring.is_empty() {
            return self.ring.nth(behind);
        }
        // The one that was guessed when it was to come six behind.
        Some(self.guesses[self.changes.wrapping_sub(AHEAD - behind) as usize % GUESSES])
    }

    /// `item` has played: whoever wins its sixteenth of a great tournament now may win it all in some changes.
    #[inline(always)]
    fn guess_next(&mut self, item: u32) {
        let items = self.keys.len();
        if items < prefetch::QUEUES_MIN {
            return;
        }
        let guess = self.winners[(items + item as usize) >> (items.trailing_zeros() - 4)];
        self.changes = self.changes.wrapping_add(1);
        self.guesses[self.changes as usize % GUESSES] = guess;
        // The first of its matches.
        let place = items as u32 + guess;
        prefetch::fetch(&self.keys, guess);
        prefetch::fetch(&self.winners, place / 2);
        prefetch::fetch(&self.winners, place / 4);
    }

    /// Adds `item`; if it is held already, this gives it the new key.
    #[inline(always)]
    pub fn push(&mut self, item: u32, key: Key) {
        if !self.ring.turn(item, key) {
            self.place(item, key);
        }
    }

    /// Gives `item` its place in the run or in the tournament, wherever it was.
    #[inline(never)]
    fn place(&mut self, item: u32, key: Key) {
        if self.unasked > 0 && self.ring.is_empty() && self.playing_key(item).is_some() {
            self.pass_by(key);
            self.play(item, held(key));
            self.guess_next(item);
        } else {
            self.place_anew(item, key);
        }
    }

    /// The same of an item that does not play on.
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

    /// Puts `item`, which is not in the run, there if it is asked and its place is near an end. Whether it did.
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

    /// An item with `key` is not asked whether it may stand in the run.
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

    /// A few in the run, who might stay there for ever and be looked at besides, play from now on.
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
        // While others play an empty run would take anybody.
        if self.playing > 0 || !self.ring.append(item, key) {
            self.enter(item, key);
        }
    }

    /// As [`Tournament::add`], of an item that the run does not take.
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

    /// Takes out `item`, if it is held.
    #[inline(always)]
    pub fn discard(&mut self, item: u32) {
        if self.remove_first(item).is_none() {
            self.remove(item);
        }
    }

    /// Takes out `item`, if it is the first of the run, and gives the key it had.
    #[inline(always)]
    pub fn remove_first(&mut self, item: u32) -> Option<Key> {
        self.ring.remove_first(item)
    }

    /// Takes out the least item.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(u32, Key)> {
        let least = self.peek()?;
        self.discard(least.0);
        Some(least)
    }

    /// Takes out `item`, and gives the key it had, if it is held.
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

    /// Takes out everything and keeps the memory. Costs the greatest item there ever was.
    pub fn clear(&mut self) {
        // Nobody is held, so that it does not matter who won.
        self.keys.fill(ABSENT);
        self.ring.clear();
        self.playing = 0;
    }

    /// `item` plays no more.
    #[inline]
    fn withdraw(&mut self, item: u32) {
        self.playing -= 1;
        if self.playing == 0 {
            // Of those who are not held it does not matter who wins.
            self.keys[item as usize] = ABSENT;
        } else {
            self.play(item, ABSENT);
            self.guess_next(item);
        }
    }

    /// Gives `item` a key and plays all its matches again.
    #[inline(always)]
    fn play(&mut self, item: u32, key: Key) {
        let (keys, winners) = (&mut self.keys[..], &mut self.winners[..]);
        keys[item as usize] = key;
        // The best key so far, in halves that are selected apart: as a whole its selection becomes a branch, which is
        // guessed wrong half the time.
        let (mut winner, mut best_high, mut best_low) = (item, high(key), low(key));
        // The opponent in the first match is the neighbour, in every later one the winner of the match beside.
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
                // What is not a match is an item.
                if before < length { self.winners[before] } else { (before - length) as u32 }
            });
            let is_right = self.keys[right as usize] < self.keys[left as usize];
            self.winners[place] = if is_right { right } else { left };
        }
    }
}

/// Whose key is less, the first if they are equal. Apart, so that who knows that there are not two does not wait for their keys.
#[cold]
#[inline(never)]
const fn earlier(first: (u32, Key), second: (u32, Key)) -> (u32, Key) {
    if first.1 <= second.1 { first } else { second }
}

/// The key as which `key` is held.
const fn held(key: Key) -> Key {
    if is_absent(key) { ABSENT - 1 } else { key }
}

/// By its halves: a comparison of all bits is made in one wide register, which has to wait for a key that was written
/// in halves just before.
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
        // Each in turn is given a key above its own: the same above for all, anything, and the same again.
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
