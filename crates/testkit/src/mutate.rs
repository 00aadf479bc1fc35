//! A seeded mutator of bytes: damage of the kinds that files suffer and that parsers trip over.
//!
//! The same seed gives the same damage on every machine, so a failure is replayed from its seed.

/// A small generator (splitmix64, Steele, Lea and Flood, OOPSLA 2014) and what it does to bytes.
#[derive(Clone, Debug)]
pub struct Mutator {
    state: u64,
}

/// Values at which lengths and counts go wrong; the narrower widths take their low bytes.
const EXTREMES: [u64; 16] = [
    0,
    1,
    2,
    3,
    4,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x0100_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffc,
    0xffff_ffff,
    u64::MAX,
];

impl Mutator {
    /// A mutator whose damage follows from `seed` alone.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, 0 if `bound` is 0. Slightly uneven, which damage may be.
    pub const fn below(&mut self, bound: usize) -> usize {
        let bits = self.bits();
        if bound == 0 { 0 } else { (bits % bound as u64) as usize }
    }

    /// One of `seeds`, damaged one to four times. `words` are what the format is made of: magic
    /// numbers, keywords, fields; they are put in whole. Both may be empty.
    pub fn mutant(&mut self, seeds: &[Vec<u8>], words: &[&[u8]]) -> Vec<u8> {
        let mut bytes = seeds.get(self.below(seeds.len())).cloned().unwrap_or_default();
        for _ in 0..=self.below(4) {
            self.damage(&mut bytes, seeds, words);
        }
        bytes
    }

    /// Damages `bytes` once.
    pub fn damage(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&[u8]]) {
        let at = self.below(bytes.len() + 1);
        match self.below(10) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = self.bits() as u8;
                }
            }
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..at + self.short_of(bytes.len() - at))),
            5 => {
                // A piece of it once more.
                let piece = bytes[at..at + self.short_of(bytes.len() - at)].to_vec();
                self.insert(bytes, &piece);
            }
            6 => {
                // The head of this and the tail of another.
                if let Some(other) = seeds.get(self.below(seeds.len())) {
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[self.below(other.len() + 1)..]);
                }
            }
            7 if !words.is_empty() => {
                let word = words[self.below(words.len())];
                self.insert(bytes, word);
            }
            _ => self.put_extreme(bytes, at),
        }
    }

    /// Overwrites a field of 1, 2, 4 or 8 bytes, in either byte order, with a value at which things
    /// go wrong. Fields tend to lie at multiples of 4, so half of the time it does too.
    fn put_extreme(&mut self, bytes: &mut [u8], at: usize) {
        let width = 1 << self.below(4);
        let at = if self.below(2) == 0 { at & !3 } else { at };
        let mut value = EXTREMES[self.below(EXTREMES.len())].to_le_bytes();
        if self.below(2) == 0 {
            value[..width].reverse();
        }
        if let Some(field) = bytes.get_mut(at..at + width) {
            field.copy_from_slice(&value[..width]);
        }
    }

    fn insert(&mut self, bytes: &mut Vec<u8>, piece: &[u8]) {
        let at = self.below(bytes.len() + 1);
        bytes.splice(at..at, piece.iter().copied());
    }

    /// A length up to `longest`, mostly short.
    const fn short_of(&mut self, longest: usize) -> usize {
        let bound = if self.below(4) == 0 || longest < 16 { longest } else { 16 };
        self.below(bound + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first values for the seed 1234567, as published with the reference implementation.
        let mut mutator = Mutator::new(1_234_567);
        let values = [mutator.bits(), mutator.bits(), mutator.bits()];
        assert_eq!(values, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn the_same_seed_gives_the_same_damage_and_most_damage_changes_something() {
        let seeds = vec![b"queue = \"drr\"".to_vec(), vec![0; 100]];
        let words: [&[u8]; 2] = [b"quantum", b"\xff\xff"];
        let of = |seed| Mutator::new(seed).mutant(&seeds, &words);
        let changed = (0..1000).filter(|seed| !seeds.contains(&of(*seed))).count();
        assert!(changed > 800, "{changed}");
        assert!((0..1000).all(|seed| of(seed) == of(seed)));
        assert!((0..1000).all(|seed| Mutator::new(seed).mutant(&[vec![]], &[]).is_empty()));
        assert!((0..1000).all(|seed| Mutator::new(seed).mutant(&[], &[]).is_empty()));
    }
}
