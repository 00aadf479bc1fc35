//! A keyed hash of a few words: without the seed, traffic cannot be aimed at a bucket.
//!
//! Multiply and fold (128-bit product, high half xor low half) with keys expanded from the seed by
//! splitmix64. It is fast and well spread; it is not a cryptographic hash.

/// The keys of one discipline's hash.
#[derive(Clone, Copy, Debug)]
pub struct Hash {
    keys: [u64; 2],
}

impl Hash {
    /// The keys that belong to `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        let first = splitmix(seed);
        Self { keys: [first, splitmix(first)] }
    }

    /// The hash of `words`, folded twice a word. The seeds of random streams are such hashes, so
    /// that its values are a part of every result.
    #[must_use]
    pub fn of(self, words: &[u64]) -> u64 {
        let mut state = self.keys[0];
        for word in words {
            state = fold(state ^ word, self.keys[1] | 1);
            state = fold(state ^ self.keys[0], STEP);
        }
        state
    }

    /// The hash of `words` by which packets are told apart: one fold for two words and one at the
    /// end, for every packet waits for it. The folds of the pairs do not wait for each other; each
    /// has keys of its own, so that their order matters. No result depends on its values.
    #[must_use]
    #[inline]
    pub fn of_fields(self, words: &[u64]) -> u64 {
        let (mut keys, mut state) = (self.keys, words.len() as u64);
        for pair in words.chunks(2) {
            state = state.wrapping_add(fold(pair[0] ^ keys[0], pair.get(1).unwrap_or(&0) ^ keys[1]));
            keys = keys.map(|key| key.wrapping_add(STEP));
        }
        fold(state ^ self.keys[0], STEP)
    }

    /// The hash of one word, folded once.
    #[must_use]
    #[inline]
    pub const fn of_word(self, word: u64) -> u64 {
        fold(word ^ self.keys[0], self.keys[1] | 1)
    }
}

/// 2^64 over the golden ratio, odd: the step of splitmix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    (product >> 64) as u64 ^ product as u64
}

/// The one of `buckets` to which a hash belongs.
#[must_use]
#[inline]
pub const fn bucket_of(hash: u64, buckets: u64) -> u64 {
    ((hash as u128 * buckets as u128) >> 64) as u64
}

/// One step of splitmix64 (Steele, Lea, Flood 2014): a bijection that spreads close seeds far
/// apart.
#[must_use]
pub const fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_and_every_word_matter() {
        let (a, b) = (Hash::new(1), Hash::new(2));
        assert_ne!(a.of(&[1, 2]), b.of(&[1, 2]));
        assert_ne!(a.of(&[1, 2]), a.of(&[2, 1]));
        assert_ne!(a.of(&[0]), a.of(&[0, 0]));
        assert_ne!(a.of_fields(&[1, 2]), b.of_fields(&[1, 2]));
        assert_ne!(a.of_fields(&[1, 2]), a.of_fields(&[2, 1]));
        assert_ne!(a.of_fields(&[1, 2, 3, 4]), a.of_fields(&[3, 4, 1, 2]));
        assert_ne!(a.of_fields(&[0]), a.of_fields(&[0, 0]));
    }

    #[test]
    fn close_keys_spread_evenly_over_buckets() {
        let hash = Hash::new(7);
        // The last two differ in one of six words, as the addresses of nodes do.
        let hashes: [fn(Hash, u64) -> u64; 5] = [
            |hash, key| hash.of(&[key]),
            |hash, key| hash.of_word(key),
            |hash, key| hash.of_fields(&[key]),
            |hash, key| hash.of_fields(&[0, key, 0, 0, 9, 0]),
            |hash, key| hash.of_fields(&[0, 9, 0, 0, key, 0]),
        ];
        for of in hashes {
            // The low bits choose a bucket of a table, the high ones the tag that is compared in
            // it.
            for shift in [0, 58] {
                let mut buckets = [0u32; 64];
                for key in 0..64_000u64 {
                    buckets[(of(hash, key) >> shift) as usize % 64] += 1;
                }
                // 1000 expected in each, standard deviation 31.
                assert!(buckets.iter().all(|n| (800..1200).contains(n)), "{buckets:?}");
            }
        }
    }
}
