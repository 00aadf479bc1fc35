//! A set of places on a circle that finds the next one. It has three levels of words; each bit says
//! whether a word of the level below is not zero.

const BITS: usize = u64::BITS as usize;

/// A set of numbers below its size, at most 64³.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    top: u64,
    middle: Vec<u64>,
    low: Vec<u64>,
}

/// The bits of `word` from number `bit` on.
const fn from(word: u64, bit: usize) -> u64 {
    word & (u64::MAX << bit)
}

/// The bits of `word` behind number `bit`.
const fn behind(word: u64, bit: usize) -> u64 {
    word & (u64::MAX - 1) << bit
}

const fn lowest(word: u64) -> usize {
    word.trailing_zeros() as usize
}

impl Bitmap {
    /// The greatest size.
    pub(super) const SIZE_MAX: usize = BITS * BITS * BITS;

    /// An empty set of numbers below `size`, at most [`Self::SIZE_MAX`].
    #[must_use]
    pub(super) fn new(size: usize) -> Self {
        let low = size.div_ceil(BITS);
        Self { top: 0, middle: vec![0; low.div_ceil(BITS)], low: vec![0; low] }
    }

    /// Adds `place`.
    #[inline]
    pub(super) fn add(&mut self, place: usize) {
        let (low, middle) = (place / BITS, place / BITS / BITS);
        self.low[low] |= 1 << (place % BITS);
        self.middle[middle] |= 1 << (low % BITS);
        self.top |= 1 << middle;
    }

    /// Removes `place`.
    #[inline]
    pub(super) fn remove(&mut self, place: usize) {
        let (low, middle) = (place / BITS, place / BITS / BITS);
        self.low[low] &= !(1 << (place % BITS));
        if self.low[low] == 0 {
            self.middle[middle] &= !(1 << (low % BITS));
            if self.middle[middle] == 0 {
                self.top &= !(1 << middle);
            }
        }
    }

    /// The first place in the set at or after `place`, on the circle.
    #[must_use]
    #[inline(always)]
    pub(super) fn next(&self, place: usize) -> Option<usize> {
        let (low, middle) = (place / BITS, place / BITS / BITS);
        let word = from(self.low[low], place % BITS);
        if word != 0 {
            return Some(low * BITS + lowest(word));
        }
        let word = behind(self.middle[middle], low % BITS);
        if word != 0 {
            return Some(self.first_of(middle * BITS + lowest(word)));
        }
        let word = behind(self.top, middle);
        let word = if word == 0 { self.top } else { word };
        if word == 0 {
            return None;
        }
        let middle = lowest(word);
        Some(self.first_of(middle * BITS + lowest(self.middle[middle])))
    }

    /// The first place of a word that is not zero.
    fn first_of(&self, low: usize) -> usize {
        low * BITS + lowest(self.low[low])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_next_place_is_that_of_a_plain_set() {
        for size in [64, 256, 4096, 16_384, Bitmap::SIZE_MAX] {
            let (mut bitmap, mut model, mut state) = (Bitmap::new(size), BTreeSet::new(), 7u64);
            for _ in 0..3000 {
                state = fairq_sched::hash::splitmix(state);
                let place = state as usize % size;
                if state >> 40 & 3 == 0 {
                    bitmap.add(place);
                    model.insert(place);
                } else if let Some(next) = bitmap.next(place) {
                    bitmap.remove(next);
                    model.remove(&next);
                }
                let place = (state >> 20) as usize % size;
                let next = model.range(place..).chain(model.iter()).next().copied();
                assert_eq!(bitmap.next(place), next, "from {place} of {size}");
            }
        }
    }
}
