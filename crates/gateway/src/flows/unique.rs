//! Which numbers of a stream have been seen: the bytes of a TCP connection that are new.

/// Gaps that are remembered at most. Data that fills an older one counts as repeated.
const GAPS_MAX: usize = 64;

/// Numbers of a stream, counted on from 32 bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unique {
    /// All below was seen, but for the gaps.
    next: Option<u64>,
    /// From and to, in order.
    gaps: Vec<(u64, u64)>,
}

impl Unique {
    /// Sees the numbers from `from`, `length` of them; how many are new.
    pub(crate) fn add(&mut self, from: u32, length: u32) -> u32 {
        let Some(next) = self.next else {
            // A stream begins far from zero, so that what came before its first packet has a place.
            self.next = Some((1 << 32) + u64::from(from) + u64::from(length));
            return length;
        };
        let begin = extended(next, from);
        let end = begin + u64::from(length);
        let mut new = 0;
        if end > next {
            if begin > next {
                if self.gaps.len() == GAPS_MAX {
                    self.gaps.remove(0);
                }
                self.gaps.push((next, begin));
            }
            new += end - next.max(begin);
            self.next = Some(end);
        }
        if begin < next && !self.gaps.is_empty() {
            new += self.fill(begin, end.min(next));
        }
        new as u32
    }

    /// Takes a range out of the gaps; how much of it was one.
    fn fill(&mut self, begin: u64, end: u64) -> u64 {
        let before = std::mem::take(&mut self.gaps);
        let mut filled = 0;
        for (from, to) in before {
            let (low, high) = (begin.clamp(from, to), end.clamp(from, to));
            filled += high - low;
            if from < low.min(to) && low < high {
                self.gaps.push((from, low));
            } else if low >= high {
                self.gaps.push((from, to));
            }
            if low < high && high < to {
                self.gaps.push((high, to));
            }
        }
        self.gaps.truncate(GAPS_MAX);
        filled
    }

    /// Whether numbers below `number` only have been seen.
    pub(crate) fn is_beyond(&self, number: u32) -> bool {
        self.next.is_none_or(|next| extended(next, number) >= next)
    }
}

/// `number` as the nearest to `near` that has its low 32 bits.
const fn extended(near: u64, number: u32) -> u64 {
    near.wrapping_add_signed(number.wrapping_sub(near as u32).cast_signed() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn new_numbers_are_those_of_a_set() {
        let mut random = fairq_testkit::mutate::Mutator::new(5);
        for round in 0..300 {
            // Across the end of 32 bits too.
            let base = if round % 2 == 0 { 1000 } else { u32::MAX - 40 };
            let (mut unique, mut plain) = (Unique::default(), BTreeSet::new());
            for _ in 0..60 {
                let (from, length) = (random.below(80) as u32, 1 + random.below(12) as u32);
                let new = (from..from + length).filter(|number| plain.insert(*number)).count() as u32;
                let first = plain.len() as u32 == new;
                // What lies before the first packet is no gap: the stream began with it.
                if first {
                    plain.extend(0..from);
                }
                assert_eq!(unique.add(base.wrapping_add(from), length), new, "{round}: {from}+{length}");
            }
        }
    }

    #[test]
    fn gaps_are_bounded() {
        let mut unique = Unique::default();
        for at in 0..1000 {
            unique.add(at * 20, 10);
        }
        assert_eq!(unique.gaps.len(), GAPS_MAX);
        // The last gap is known, the first is not.
        assert_eq!((unique.add(999 * 20 - 10, 10), unique.add(10, 10)), (10, 0));
    }
}
