//! A priority queue of numbered items whose keys may change: an indexed heap of arity four.
//!
//! Chosen: four children to a node halve the height of a binary heap, and the four stand side by
//! side in memory; keys stand beside their items, so that a comparison follows no index. Items are
//! dense numbers. A key that becomes greater sinks to a leaf first and rises from there: it mostly
//! belongs far down, and no step down has to ask whether it is the last.
//! Order: by key alone, which keeps a comparison of 128 bits at two instructions. Equal keys come
//! in an order that follows from the calls; for another order, make the item a part of the key.
//! Cost: O(log n) comparisons for each change, one for a look at the least; no allocation once it
//! has held as many.

use alloc::vec::Vec;

/// An indexed heap; the least key comes first.
#[derive(Clone, Debug)]
pub struct Heap<K> {
    /// The heap itself: the children of place p are 4p + 1 … 4p + 4.
    entries: Vec<(K, u32)>,
    /// The place of each item in `entries`, or [`ABSENT`].
    places: Vec<u32>,
}

/// The place of an item that the heap does not hold.
const ABSENT: u32 = u32::MAX;
/// Children of a node.
const ARITY: usize = 4;

impl<K> Default for Heap<K> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: Vec::new() }
    }
}

impl<K: Copy + Ord> Heap<K> {
    /// A heap that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many items it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether it holds `item`.
    #[must_use]
    pub fn contains(&self, item: u32) -> bool {
        self.place(item).is_some()
    }

    /// The key of `item`, if it is held.
    #[must_use]
    pub fn key(&self, item: u32) -> Option<K> {
        self.place(item).map(|place| self.entries[place].0)
    }

    /// The least item and its key.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<(u32, K)> {
        self.entries.first().map(|&(key, item)| (item, key))
    }

    /// Adds `item`; if it is held already, this gives it the new key.
    pub fn push(&mut self, item: u32, key: K) {
        let index = item as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, ABSENT);
        }
        if self.places[index] != ABSENT {
            self.update(item, key);
            return;
        }
        let place = self.entries.len();
        self.entries.push((key, item));
        self.sift_up(place, (key, item));
    }

    /// Makes `key` the key of `item`, or takes the item out.
    pub fn set(&mut self, item: u32, key: Option<K>) {
        match key {
            Some(key) => self.push(item, key),
            None => {
                self.remove(item);
            }
        }
    }

    /// Takes out the least item.
    pub fn pop(&mut self) -> Option<(u32, K)> {
        let &(key, item) = self.entries.first()?;
        self.take(0);
        Some((item, key))
    }

    /// Takes out `item`, and gives the key it had, if it is held.
    pub fn remove(&mut self, item: u32) -> Option<K> {
        let place = self.place(item)?;
        let key = self.entries[place].0;
        self.take(place);
        Some(key)
    }

    /// Gives a held `item` another key, lower or higher; an item that is not held stays out.
    pub fn update(&mut self, item: u32, key: K) {
        if let Some(place) = self.place(item) {
            self.settle(place, (key, item));
        }
    }

    /// Takes out everything and keeps the memory. Costs the number of items held.
    pub fn clear(&mut self) {
        for &(_, item) in &self.entries {
            self.places[item as usize] = ABSENT;
        }
        self.entries.clear();
    }

    #[inline]
    fn place(&self, item: u32) -> Option<usize> {
        match self.places.get(item as usize) {
            Some(&place) if place != ABSENT => Some(place as usize),
            _ => None,
        }
    }

    /// Closes the gap at `place` with the last entry.
    fn take(&mut self, place: usize) {
        self.places[self.entries[place].1 as usize] = ABSENT;
        // `place` is that of an entry, so there is a last one; if it is the same, nothing is left
        // to move.
        if let Some(last) = self.entries.pop()
            && place < self.entries.len()
        {
            self.settle(place, last);
        }
    }

    /// Puts `entry` where it belongs, beginning from the hole at `place`.
    #[inline]
    fn settle(&mut self, place: usize, entry: (K, u32)) {
        if place > 0 && entry.0 < self.entries[(place - 1) / ARITY].0 {
            self.sift_up(place, entry);
        } else {
            let leaf = self.sift_down(place);
            self.sift_up(leaf, entry);
        }
    }

    /// Moves the hole at `place` towards the root until `entry` fits into it.
    #[inline]
    fn sift_up(&mut self, mut place: usize, entry: (K, u32)) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.entries[parent];
            if above.0 <= entry.0 {
                break;
            }
            self.write(place, above);
            place = parent;
        }
        self.write(place, entry);
    }

    /// Moves the hole at `place` to a leaf, each time to the least of its children; the leaf.
    #[inline]
    fn sift_down(&mut self, mut place: usize) -> usize {
        loop {
            let first = place * ARITY + 1;
            let (child, least) = if let Some(&[a, b, c, d]) = self.entries.get(first..first + ARITY) {
                // The four of a full node, two and two, so that the comparisons do not wait for
                // each other.
                let (left, low) = if b.0 < a.0 { (1, b) } else { (0, a) };
                let (right, high) = if d.0 < c.0 { (3, d) } else { (2, c) };
                if high.0 < low.0 { (first + right, high) } else { (first + left, low) }
            } else {
                let rest = self.entries.get(first..).unwrap_or(&[]);
                match rest.iter().enumerate().min_by_key(|(_, entry)| entry.0) {
                    Some((offset, &least)) => (first + offset, least),
                    None => return place,
                }
            };
            self.write(place, least);
            place = child;
        }
    }

    #[inline]
    fn write(&mut self, place: usize, entry: (K, u32)) {
        self.entries[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    fn check(heap: &Heap<(u64, u32)>) {
        for (place, entry) in heap.entries.iter().enumerate() {
            assert_eq!(heap.places[entry.1 as usize] as usize, place);
            assert!(place == 0 || heap.entries[(place - 1) / ARITY].0 < entry.0);
        }
        assert_eq!(heap.places.iter().filter(|place| **place != ABSENT).count(), heap.len());
    }

    #[test]
    fn any_sequence_of_operations_agrees_with_an_ordered_set() {
        for seed in 0..40 {
            let (mut state, items) = (seed, 1 + seed * seed % 90);
            let mut heap = Heap::new();
            let mut model = BTreeSet::new();
            let mut keys = alloc::vec![None; items as usize];
            for _ in 0..2000 {
                let item = (next(&mut state) % items) as usize;
                // Few different keys, so that ties are common.
                let key = next(&mut state) % 40;
                match next(&mut state) % 8 {
                    0..3 => {
                        keys[item].replace(key).map(|old| model.remove(&(old, item as u32)));
                        model.insert((key, item as u32));
                        heap.push(item as u32, (key, item as u32));
                    }
                    3 | 4 => {
                        if let Some(old) = keys[item] {
                            model.remove(&(old, item as u32));
                            model.insert((key, item as u32));
                            keys[item] = Some(key);
                        }
                        heap.update(item as u32, (key, item as u32));
                    }
                    5 => {
                        let old = keys[item].take();
                        if let Some(old) = old {
                            model.remove(&(old, item as u32));
                        }
                        assert_eq!(heap.remove(item as u32).map(|(key, _)| key), old);
                    }
                    _ => {
                        let least = model.pop_first().map(|(key, item)| (item, (key, item)));
                        if let Some((item, _)) = least {
                            keys[item as usize] = None;
                        }
                        assert_eq!(heap.pop(), least);
                    }
                }
                check(&heap);
                assert_eq!(heap.peek(), model.first().map(|&(key, item)| (item, (key, item))));
                assert_eq!(heap.len(), model.len());
                assert_eq!(heap.key(item as u32).map(|(key, _)| key), keys[item]);
                assert_eq!(heap.contains(item as u32), keys[item].is_some());
            }
            heap.clear();
            check(&heap);
            assert!(heap.is_empty());
        }
    }

    #[test]
    fn equal_keys_come_out_by_item_when_it_is_a_part_of_the_key() {
        let mut heap = Heap::new();
        for item in [5, 2, 9, 0, 7, 1, 3] {
            heap.push(item, (1_u64, item));
        }
        let order: Vec<u32> = core::iter::from_fn(|| heap.pop()).map(|(item, _)| item).collect();
        assert_eq!(order, [0, 1, 2, 3, 5, 7, 9]);
    }
}
