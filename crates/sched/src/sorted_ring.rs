//! Numbered items in the order of their keys, as long as they come in that order: a ring to which
//! items are appended.
//!
//! Chosen: the ring is read in memory order at both ends, so that many items cost no more cache
//! misses than few; of an item itself only its place is written. An item that leaves from the
//! middle leaves a gap, which is closed when it becomes the first or the last. A ring filled by
//! items and gaps doubles, up to the greatest item number; then it refuses items. An item whose
//! place is near an end of the ring is inserted there and a few others move, which is cheaper than
//! any tree while few are held.
//!
//! Cost: O(1) for everything, amortised; no allocation once it has held as many items, and one with
//! so great a number.

use alloc::vec::Vec;

/// What items are ordered by; the least comes first.
pub(crate) type Key = u128;

/// The item of a gap.
const NO_ITEM: u32 = u32::MAX;

/// Most items that an insertion moves.
const NEAR: u32 = 16;

/// Places of a new ring.
const PLACES_MIN: usize = 8;

/// A place of the ring.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: Key,
    item: u32,
}

const GAP: Place = Place { key: 0, item: NO_ITEM };

/// A ring of items, their keys never descending.
#[derive(Clone, Debug)]
pub(crate) struct SortedRing {
    /// Capacity is zero or a power of two; place *n* lives at `n & mask`. Unused places keep stale
    /// items that were rotated away, never removed ones. An empty ring starts with a gap.
    ring: Vec<Place>,
    /// The place of the first item.
    first: u32,
    /// Places in use from `first` on; neither the first nor the last of them is a gap.
    span: u32,
    /// Gaps among them.
    gaps: u32,
    /// Where in the ring an item stands, if it stands there.
    places: Vec<u32>,
}

impl SortedRing {
    /// An empty ring.
    pub(crate) const fn new() -> Self {
        Self { ring: Vec::new(), first: 0, span: 0, gaps: 0, places: Vec::new() }
    }

    /// How many items it holds.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        (self.span - self.gaps) as usize
    }

    /// Whether it holds no item.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.span == 0
    }

    /// The first item and its key.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<(u32, Key)> {
        let place = self.ring.get(self.first as usize)?;
        (place.item != NO_ITEM).then_some((place.item, place.key))
    }

    /// The key of `item`, if it is here.
    #[inline]
    pub(crate) fn key(&self, item: u32) -> Option<Key> {
        let place = self.ring.get(*self.places.get(item as usize)? as usize)?;
        (place.item == item).then_some(place.key)
    }

    /// The item `behind` places after the first, for prefetching. `None` at a gap; any item if the
    /// place is not in use.
    #[inline(always)]
    pub(crate) fn nth(&self, behind: u32) -> Option<u32> {
        let place = self.ring.get(self.place(self.first.wrapping_add(behind)))?;
        (place.item != NO_ITEM).then_some(place.item)
    }

    /// The items in their order.
    pub(crate) fn items(&self) -> impl Iterator<Item = u32> {
        (0..self.span).filter_map(|behind| self.nth(behind))
    }

    /// If `item` is the first and `key` is not below the last key, makes it the last. Returns
    /// whether it did.
    #[inline(always)]
    pub(crate) fn turn(&mut self, item: u32, key: Key) -> bool {
        self.turn_if(item, key, |_| true)
    }

    /// As [`Self::turn`], but only if the present key of `item` satisfies `is_right`.
    #[inline(always)]
    pub(crate) fn turn_if(&mut self, item: u32, key: Key, is_right: impl FnOnce(Key) -> bool) -> bool {
        let ring = &mut self.ring[..];
        let first = self.first as usize;
        if first >= ring.len() {
            return false;
        }
        let mask = ring.len() - 1;
        let end = (first + self.span as usize) & mask;
        if ring[first].item != item || !is_right(ring[first].key) || ring[end.wrapping_sub(1) & mask].key > key {
            return false;
        }
        ring[end] = Place { key, item };
        self.places[item as usize] = end as u32;
        self.first = ((first + 1) & mask) as u32;
        if self.gaps > 0 {
            self.close_first();
        }
        true
    }

    /// Appends `item`, which is not held, if `key` is not below the last key and there is room for
    /// its number. Returns whether it did.
    #[inline(always)]
    pub(crate) fn append(&mut self, item: u32, key: Key) -> bool {
        let (ring, place) = (&mut self.ring[..], self.places.get_mut(item as usize));
        let Some(place) = place.filter(|_| !ring.is_empty()) else { return false };
        let mask = ring.len() - 1;
        if self.span as usize == ring.len() {
            return self.widen() && self.append(item, key);
        }
        let end = self.first.wrapping_add(self.span) as usize & mask;
        if ring[end.wrapping_sub(1) & mask].key > key && self.span > 0 {
            return false;
        }
        ring[end] = Place { key, item };
        *place = end as u32;
        self.span += 1;
        true
    }

    /// Inserts `item`, which is not held, behind all items whose keys are not above `key`, if that
    /// place is near an end of the ring and there is room. Returns how many items it moved, or
    /// `None`.
    pub(crate) fn insert(&mut self, item: u32, key: Key) -> Option<u32> {
        let (first, end) = (self.first, self.first.wrapping_add(self.span));
        if self.places.len() <= item as usize || self.ring.is_empty() {
            return None;
        }
        if self.span as usize == self.ring.len() {
            return if self.widen() { self.insert(item, key) } else { None };
        }
        // The keys of gaps are still in order.
        let near = NEAR.min(self.span);
        if near == 0 || self.at(end.wrapping_sub(near)).key <= key {
            let mut number = end;
            while number != first && self.at(number.wrapping_sub(1)).key > key {
                self.put(number, self.at(number.wrapping_sub(1)));
                number = number.wrapping_sub(1);
            }
            self.put(number, Place { key, item });
            self.span += 1;
            return Some(end.wrapping_sub(number));
        }
        if self.at(first.wrapping_add(near - 1)).key <= key {
            return None;
        }
        let mut number = first.wrapping_sub(1);
        while self.at(number.wrapping_add(1)).key <= key {
            self.put(number, self.at(number.wrapping_add(1)));
            number = number.wrapping_add(1);
        }
        self.put(number, Place { key, item });
        (self.first, self.span) = (self.place(first.wrapping_sub(1)) as u32, self.span + 1);
        Some(number.wrapping_sub(first.wrapping_sub(1)))
    }

    #[inline(always)]
    fn at(&self, number: u32) -> Place {
        self.ring[self.place(number)]
    }

    #[inline(always)]
    fn put(&mut self, number: u32, place: Place) {
        let at = self.place(number);
        self.ring[at] = place;
        if let Some(of_item) = self.places.get_mut(place.item as usize) {
            *of_item = at as u32;
        }
    }

    /// Removes `item` if it is the first, and returns its key.
    #[inline(always)]
    pub(crate) fn remove_first(&mut self, item: u32) -> Option<Key> {
        let first = self.first as usize;
        let place = self.ring.get_mut(first).filter(|place| place.item == item)?;
        place.item = NO_ITEM;
        let key = place.key;
        (self.first, self.span) = (self.place(self.first + 1) as u32, self.span - 1);
        if self.gaps > 0 {
            self.close_first();
        }
        if self.is_empty() {
            // An empty ring starts anew, in the same cache lines.
            (self.first, self.ring[0].item) = (0, NO_ITEM);
        }
        Some(key)
    }

    /// Removes `item` if it is held, and returns its key.
    #[inline]
    pub(crate) fn remove(&mut self, item: u32) -> Option<Key> {
        let key = self.key(item)?;
        if self.remove_first(item).is_none() {
            self.ring[self.places[item as usize] as usize].item = NO_ITEM;
            self.gaps += 1;
            self.close_last();
        }
        Some(key)
    }

    /// Removes all items.
    pub(crate) fn clear(&mut self) {
        self.ring.fill(GAP);
        (self.first, self.span, self.gaps) = (0, 0, 0);
    }

    /// Makes room for `item`, if there is none.
    #[inline(always)]
    pub(crate) fn make_room_for(&mut self, item: u32) {
        if item as usize >= self.places.len() {
            self.grow((item as usize + 1).next_power_of_two());
        }
    }

    /// Makes room for items below `items`, a power of two.
    #[cold]
    pub(crate) fn grow(&mut self, items: usize) {
        self.places.resize(items, 0);
        if self.ring.is_empty() {
            self.ring = alloc::vec![GAP; items.min(PLACES_MIN)];
        }
    }

    /// Doubles a full ring if item numbers allow. Returns whether it did.
    #[cold]
    fn widen(&mut self) -> bool {
        if self.ring.len() >= self.places.len() {
            return false;
        }
        let mut ring = alloc::vec![GAP; 2 * self.ring.len()];
        let mut end = 0;
        for at in 0..self.span {
            let place = self.at(self.first.wrapping_add(at));
            if place.item != NO_ITEM {
                ring[end as usize] = place;
                self.places[place.item as usize] = end;
                end += 1;
            }
        }
        (self.ring, self.first, self.span, self.gaps) = (ring, 0, end, 0);
        true
    }

    #[inline(always)]
    fn place(&self, number: u32) -> usize {
        number as usize & self.ring.len().wrapping_sub(1)
    }

    /// Closes gaps at the front. An item stands behind each, for the last place is no gap.
    #[cold]
    fn close_first(&mut self) {
        while self.at(self.first).item == NO_ITEM {
            (self.first, self.span) = (self.place(self.first + 1) as u32, self.span - 1);
            self.gaps -= 1;
        }
    }

    /// Closes gaps at the end. An item stands before each, for the first place is no gap.
    #[cold]
    fn close_last(&mut self) {
        while self.at(self.first.wrapping_add(self.span - 1)).item == NO_ITEM {
            self.span -= 1;
            self.gaps -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::splitmix;
    use alloc::vec::Vec;

    fn items(run: &SortedRing) -> Vec<u32> {
        let mut run = run.clone();
        core::iter::from_fn(|| run.first().filter(|first| run.remove_first(first.0).is_some()))
            .map(|(item, _)| item)
            .collect()
    }

    #[test]
    fn an_item_that_comes_in_order_is_last_and_one_that_leaves_from_the_middle_is_passed_over() {
        let mut run = SortedRing::new();
        assert!(!run.append(0, 1) && !run.turn(0, 1) && run.first().is_none());
        run.grow(4);
        for (item, key) in [(2, 5), (0, 5), (3, 7), (1, 9)] {
            assert!(run.append(item, key));
        }
        assert!(!run.turn(2, 8), "8 is before the last one's 9");
        assert_eq!((run.remove(0), run.remove(0), run.len()), (Some(5), None, 3));
        assert!(!run.append(0, 10), "its gap is not closed yet");
        assert!(run.turn(2, 11));
        assert_eq!((run.first(), run.len()), (Some((3, 7)), 3));
        assert!(run.append(0, 11));
        assert_eq!(items(&run), [3, 1, 2, 0]);
        assert_eq!((run.remove(2), run.remove(0)), (Some(11), Some(11)));
        assert!(run.append(2, 9), "the last one has 9 again");
        run.grow(8);
        assert_eq!((items(&run), run.key(1)), (alloc::vec![3, 1, 2], Some(9)));
        run.clear();
        assert!(run.is_empty() && run.append(7, 0));
    }

    #[test]
    fn an_item_that_belongs_near_an_end_is_put_behind_its_equals() {
        for seed in 0..20 {
            let (mut state, mut run, mut model) = (seed, SortedRing::new(), Vec::new());
            run.grow(128);
            run.first = 5;
            for _ in 0..2000 {
                state = splitmix(state);
                // Few different keys, so that many are equal, among few or many items.
                let (item, key) = ((state >> 8) as u32 % (20 + 5 * seed as u32), u128::from(state >> 40) % 50);
                if let Some(at) = model.iter().position(|(_, other)| *other == item) {
                    assert_eq!(run.remove(item), Some(model.remove(at).0));
                    continue;
                }
                let at = model.partition_point(|(other, _)| *other <= key);
                let (before, behind) = (at, model.len() - at);
                if let Some(passed) = run.insert(item, key) {
                    // Gaps are passed as others are.
                    assert!((before.min(behind)..=NEAR as usize).contains(&(passed as usize)));
                    model.insert(at, (key, item));
                } else {
                    // Gaps count as others do, and there is a place, for there are fewer items than
                    // places.
                    let gaps = run.gaps as usize;
                    assert!(
                        before.min(behind) + gaps >= NEAR as usize,
                        "{before} before, {behind} behind, {gaps} gaps"
                    );
                }
                let order: Vec<u32> = model.iter().map(|(_, item)| *item).collect();
                assert_eq!((items(&run), run.len()), (order, model.len()));
            }
        }
    }

    #[test]
    fn one_item_turns_in_its_place_wherever_the_numbers_are() {
        let mut run = SortedRing::new();
        run.grow(2);
        run.first = 1;
        assert!(run.append(1, 0));
        for key in 1..6 {
            assert!(run.turn(1, key));
            assert_eq!((run.first(), run.len()), (Some((1, key)), 1));
        }
    }
}
