//! Queues that take turns: a circle of dense slots, linked both ways, O(1) for everything.

use crate::contract::Slot;
use crate::slots::entry;
use alloc::vec::Vec;

/// Marks a slot that is not in the ring; it is also the first of an empty ring.
const OUT: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

/// Slots in order of their turn.
pub struct Ring {
    links: Vec<Link>,
    first: u32,
}

impl Default for Ring {
    fn default() -> Self {
        Self::new()
    }
}

impl Ring {
    /// An empty ring.
    #[must_use]
    pub const fn new() -> Self {
        Self { links: Vec::new(), first: OUT }
    }

    /// The slot that has the turn.
    #[must_use]
    #[inline]
    pub const fn front(&self) -> Option<Slot> {
        if self.first == OUT { None } else { Some(self.first) }
    }

    /// The slot that has the last turn.
    #[must_use]
    #[inline]
    pub fn last(&self) -> Option<Slot> {
        self.links.get(self.first as usize).map(|link| link.previous)
    }

    /// The slot whose turn comes after that of `slot`, which is in the ring; `None` after the last
    /// one.
    #[must_use]
    pub fn after(&self, slot: Slot) -> Option<Slot> {
        let next = self.links[slot as usize].next;
        if next == self.first { None } else { Some(next) }
    }

    /// Whether `slot` is in the ring.
    #[must_use]
    #[inline]
    pub fn contains(&self, slot: Slot) -> bool {
        self.links.get(slot as usize).is_some_and(|link| link.previous != OUT)
    }

    /// `slot`, which is not in the ring, takes the last turn.
    pub fn push_back(&mut self, slot: Slot) {
        debug_assert!(!self.contains(slot));
        entry(&mut self.links, slot, Link { previous: OUT, next: OUT });
        if self.first == OUT {
            self.first = slot;
            self.links[slot as usize] = Link { previous: slot, next: slot };
            return;
        }
        // The last one stands before the first.
        let last = self.links[self.first as usize].previous;
        self.links[slot as usize] = Link { previous: last, next: self.first };
        self.links[last as usize].next = slot;
        self.links[self.first as usize].previous = slot;
    }

    /// The slot that has the turn takes the last turn instead.
    #[inline]
    pub fn rotate(&mut self) {
        if let Some(link) = self.links.get(self.first as usize) {
            self.first = link.next;
        }
    }

    /// `slot` leaves the ring.
    pub fn remove(&mut self, slot: Slot) {
        debug_assert!(self.contains(slot));
        let Link { previous, next } = self.links[slot as usize];
        self.links[previous as usize].next = next;
        self.links[next as usize].previous = previous;
        self.links[slot as usize] = Link { previous: OUT, next: OUT };
        if next == slot {
            self.first = OUT;
        } else if self.first == slot {
            self.first = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_and_anyone_may_leave() {
        let mut ring = Ring::new();
        for slot in [5, 1, 3] {
            ring.push_back(slot);
        }
        assert_eq!((ring.after(5), ring.after(3), ring.last()), (Some(1), None, Some(3)));
        ring.remove(1);
        assert_eq!((ring.front(), ring.after(5)), (Some(5), Some(3)));
        ring.remove(5);
        ring.push_back(5);
        assert_eq!(ring.front(), Some(3));
        ring.remove(3);
        assert_eq!(ring.front(), Some(5));
        ring.push_back(1);
        ring.rotate();
        assert_eq!(ring.front(), Some(1));
        ring.remove(1);
        ring.rotate();
        assert_eq!(ring.front(), Some(5));
        ring.remove(5);
        assert_eq!((ring.front(), ring.last()), (None, None));
        ring.rotate();
        assert_eq!(ring.front(), None);
        assert!(!ring.contains(5) && !ring.contains(99));
    }
}
