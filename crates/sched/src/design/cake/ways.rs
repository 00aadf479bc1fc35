//! A set-associative table of hashes: a key has a place of its own in its set, and stands in the
//! next one that is free if another has it (`cake_hash`). So two share a place when the set is
//! full, and two hosts when their own place is the same while neither has a bulk flow.

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

    /// The place of `hash`: its own, or the next one of its set that is free, or its own, shared;
    /// and whether it stood there.
    pub(super) fn place(&mut self, hash: u64, is_free: impl Fn(u32) -> bool) -> (u32, bool) {
        let sets = self.tags.len() as u32 / self.ways;
        let first = (((hash >> 32) * u64::from(sets)) >> 32) as u32 * self.ways;
        let inner = (hash as u32) % self.ways;
        if self.tags[(first + inner) as usize] == hash {
            return (first + inner, true);
        }
        let mut set = (inner..self.ways).chain(0..inner).map(|way| first + way);
        if let Some(known) = set.clone().find(|place| self.tags[*place as usize] == hash) {
            return (known, true);
        }
        let place = set.find(|place| is_free(*place)).unwrap_or(first + inner);
        self.tags[place as usize] = hash;
        (place, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_its_own_place_or_the_next_that_is_free() {
        // All in the first set of two; the own place is the hash modulo 8, as in the kernel.
        let mut ways = Ways::new(16, 8);
        assert_eq!(ways.place(8 + 5, |_| true), (5, false));
        assert_eq!(ways.place(8 + 3, |_| true), (3, false), "it is free, whatever is before it");
        assert_eq!(ways.place(16 + 3, |place| place != 3), (4, false));
        assert_eq!(ways.place(8 + 7, |place| place != 3), (7, false));
        assert_eq!(ways.place(16 + 7, |place| place < 3), (0, false), "after the last comes the first");
        assert_eq!(ways.place(24 + 5, |_| false), (5, false), "in a full set its own is shared");
        assert_eq!(ways.place(16 + 7, |_| false), (0, true), "it is known where it stands");
    }
}
