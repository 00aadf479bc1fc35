//! A set-associative table of hashes: a key may stand in any of the ways of its set, so that two
//! share a place only when the set is full.

use alloc::vec::Vec;

/// By place, the hash that has it.
pub(super) struct Ways {
    tags: Vec<u64>,
    ways: u32,
}

impl Ways {
    /// A table of `places`, a multiple of `ways`.
    pub(super) fn new(places: u32, ways: u32) -> Self {
        Self { tags: alloc::vec![0; places as usize], ways }
    }

    /// The place of `hash`: its own, or one of its set that is free, or one that it shares; and
    /// whether it was its own.
    pub(super) fn place(&mut self, hash: u64, is_free: impl Fn(u32) -> bool) -> (u32, bool) {
        let sets = self.tags.len() as u32 / self.ways;
        let first = (((hash >> 32) * u64::from(sets)) >> 32) as u32 * self.ways;
        let mut set = first..first + self.ways;
        if let Some(own) = set.clone().find(|place| self.tags[*place as usize] == hash) {
            return (own, true);
        }
        let shared = first + (hash as u32) % self.ways;
        let place = set.find(|place| is_free(*place)).unwrap_or(shared);
        self.tags[place as usize] = hash;
        (place, false)
    }
}
