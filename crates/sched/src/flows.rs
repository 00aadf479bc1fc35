//! From a flow's 64-bit key to a dense slot; a slot serves another flow only when its debt is paid.
//!
//! When all slots are taken and none that is looked at is clear, new keys share slot 0, which is
//! kept for that. As long as slot 0 is not clear itself all new keys go there: a flow that has
//! packets in it keeps their order.

use crate::contract::{Class, Flow as Seen, Slot};
use crate::hash::Hash;
use crate::units::Weight;
use alloc::vec::Vec;
use hashbrown::HashTable;

/// Slots at most, the shared one included.
pub const FLOWS_MAX: u32 = 1 << 20;

/// The slot that keys without one of their own share.
pub const SHARED: Slot = 0;

/// How many slots are looked at for one that is clear before a new one is made: bounded work per
/// packet.
const LOOKS: u32 = 16;

#[derive(Clone)]
struct Flow {
    key: u64,
    weight: Weight,
    class: Option<Class>,
}

/// Where the flow of a key is found: what most packets look at, and no more.
struct Entry {
    key: u64,
    slot: Slot,
}

/// The table of flows.
pub struct Flows {
    hash: Hash,
    table: HashTable<Entry>,
    flows: Vec<Flow>,
    /// Whether all weights are one and no flow has a class, so that `flows` need not be read.
    is_plain: bool,
    weights: Vec<(u64, Weight)>,
    classes: Vec<(u64, Class)>,
    limit: u32,
    /// The next slot to look at.
    hand: Slot,
}

impl Flows {
    /// A table for at most `limit` slots. `weights` are the keys whose weight is not 1, `classes`
    /// those that have one.
    #[must_use]
    pub fn new(hash: Hash, mut weights: Vec<(u64, Weight)>, mut classes: Vec<(u64, Class)>, limit: u32) -> Self {
        weights.sort_by_key(|(key, _)| *key);
        weights.dedup_by_key(|(key, _)| *key);
        classes.sort_by_key(|(key, _)| *key);
        classes.dedup_by_key(|(key, _)| *key);
        let shared = Flow { key: 0, weight: Weight::ONE, class: None };
        let is_plain = weights.is_empty() && classes.is_empty();
        Self { hash, table: HashTable::new(), flows: alloc::vec![shared], is_plain, weights, classes, limit, hand: 0 }
    }

    /// The slot of `key`, a new one if need be. `is_clear` says whether a slot may be taken over.
    #[inline]
    pub fn slot(&mut self, key: u64, is_clear: impl FnMut(Slot) -> bool) -> Slot {
        let hash = self.hash.of_word(key);
        if let Some(entry) = self.table.find(hash, |entry| entry.key == key) {
            return entry.slot;
        }
        self.admit(key, hash, is_clear)
    }

    #[cold]
    fn admit(&mut self, key: u64, hash: u64, mut is_clear: impl FnMut(Slot) -> bool) -> Slot {
        let count = self.flows.len() as u32;
        let weight =
            self.weights.binary_search_by_key(&key, |(key, _)| *key).map_or(Weight::ONE, |at| self.weights[at].1);
        let class = self.classes.binary_search_by_key(&key, |(key, _)| *key).ok().map(|at| self.classes[at].1);
        if count >= self.limit && !is_clear(SHARED) {
            return SHARED;
        }
        // A young table grows at first; looking for clear slots pays once there are some to find.
        let looks = if count < 64 { 0 } else { LOOKS.min(count - 1) };
        let mut found = None;
        for _ in 0..looks {
            self.hand = if self.hand + 1 >= count { 1 } else { self.hand + 1 };
            if is_clear(self.hand) {
                found = Some(self.hand);
                break;
            }
        }
        let slot = match found {
            Some(slot) => {
                let old = self.flows[slot as usize].key;
                let old_hash = self.hash.of_word(old);
                if let Ok(entry) = self.table.find_entry(old_hash, |entry| entry.slot == slot) {
                    entry.remove();
                }
                self.flows[slot as usize] = Flow { key, weight, class };
                slot
            }
            None if count < self.limit => {
                self.flows.push(Flow { key, weight, class });
                count
            }
            None => return SHARED,
        };
        let keyed = self.hash;
        self.table.insert_unique(hash, Entry { key, slot }, |entry| keyed.of_word(entry.key));
        slot
    }

    /// What is known of the flow in `slot`; of a slot that a scheduler gave itself, nothing.
    #[must_use]
    #[inline]
    pub fn flow(&self, slot: Slot) -> Seen {
        if self.is_plain {
            return Seen::of_slot(slot);
        }
        let known = self.flows.get(slot as usize);
        known.map_or(Seen::of_slot(slot), |flow| Seen::weighted(slot, flow.weight).in_class(flow.class))
    }

    /// Gives `key` another weight.
    pub fn set_weight(&mut self, key: u64, weight: Weight) {
        self.is_plain = false;
        match self.weights.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => self.weights[at].1 = weight,
            Err(at) => self.weights.insert(at, (key, weight)),
        }
        if let Some(entry) = self.table.find(self.hash.of_word(key), |entry| entry.key == key) {
            self.flows[entry.slot as usize].weight = weight;
        }
    }

    /// Puts `key` into `class`.
    pub fn set_class(&mut self, key: u64, class: Class) {
        self.is_plain = false;
        match self.classes.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => self.classes[at].1 = class,
            Err(at) => self.classes.insert(at, (key, class)),
        }
        if let Some(entry) = self.table.find(self.hash.of_word(key), |entry| entry.key == key) {
            self.flows[entry.slot as usize].class = Some(class);
        }
    }

    /// Slots in use, the shared one not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len() - 1
    }

    /// Whether no flow has a slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_taken_over_only_when_it_is_clear() {
        let mut flows = Flows::new(Hash::new(1), Vec::new(), Vec::new(), 1000);
        for key in 0..999 {
            assert_eq!(flows.slot(key, |_| false), key as u32 + 1);
        }
        assert_eq!(flows.slot(5000, |_| false), SHARED);
        // Some looks at a time: the hand comes round to slot 7 in the end, and to no other.
        let is_clear = |slot| slot == 7 || slot == SHARED;
        let taken = (0..1000).map(|key| flows.slot(10_000 + key, is_clear)).find(|slot| *slot != SHARED);
        assert_eq!(taken, Some(7));
        assert_eq!(flows.slot(5, |_| false), 6, "the others keep theirs");
        assert_eq!(flows.slot(6, |_| false), SHARED, "the flow that was there lost it");
    }

    #[test]
    fn new_keys_stay_in_the_shared_slot_until_it_is_clear() {
        let mut flows = Flows::new(Hash::new(1), Vec::new(), Vec::new(), 100);
        for key in 0..99 {
            assert_ne!(flows.slot(key, |_| false), SHARED);
        }
        assert_eq!(flows.slot(1000, |_| false), SHARED);
        // All others are clear by now, but the flow has packets in the shared slot, which must
        // leave first.
        assert_eq!(flows.slot(1000, |slot| slot != SHARED), SHARED);
        assert_ne!(flows.slot(1000, |_| true), SHARED);
    }

    #[test]
    fn a_few_slots_are_looked_at_and_no_more() {
        let mut flows = Flows::new(Hash::new(1), Vec::new(), Vec::new(), 100);
        for key in 0..1000 {
            let mut looks = 0;
            flows.slot(key, |slot| {
                looks += 1;
                slot == SHARED
            });
            assert!(looks <= LOOKS + 1, "{looks}");
        }
    }

    #[test]
    fn weights_belong_to_keys() {
        let two = Weight::from_thousandths(2000).unwrap();
        let mut flows = Flows::new(Hash::new(1), alloc::vec![(9, two)], Vec::new(), 10);
        let (a, b) = (flows.slot(9, |_| false), flows.slot(8, |_| false));
        assert_eq!((flows.flow(a).weight, flows.flow(b).weight), (two, Weight::ONE));
        flows.set_weight(8, two);
        assert_eq!(flows.flow(b).weight, two);
        flows.set_weight(7, two);
        let c = flows.slot(7, |_| false);
        assert_eq!(flows.flow(c).weight, two);
    }
}
