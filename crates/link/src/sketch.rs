//! Percentiles in constant memory: counts in buckets of equal relative width, in whole numbers
//! only.
//!
//! A value's bucket is its highest set bit and the `BITS` bits below it. The answer for a quantile
//! is the middle of its bucket. With 9 bits the relative error is below 2⁻¹⁰ (0.1 %), with 6 below
//! 2⁻⁷ (0.8 %). Buckets are kept from the lowest to the highest power of two that occurs. Sketches
//! of the same width merge by adding.
//!
//! There may be a sketch for each of 100,000 flows, and most of their buckets hold few values. So
//! counts have 16 bits; carries out of 16 bits are kept apart, by bucket.

use std::collections::BTreeMap;

/// Counts of values by relative size. Values that differ in the `BITS` bits below the highest are
/// told apart.
#[derive(Clone, Debug)]
pub struct Sketch<const BITS: u32> {
    /// The first bucket of the lowest power of two that occurs.
    lowest: usize,
    /// The counts of the buckets from `lowest` to the last of the highest power of two that occurs.
    counts: Vec<u16>,
    /// How often the count of a bucket has overflowed its 16 bits.
    carries: BTreeMap<usize, u64>,
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
}

/// A sketch for totals: relative error 0.1 %.
pub type Fine = Sketch<9>;
/// A sketch for each of many flows: relative error 0.8 %.
pub type Coarse = Sketch<6>;

impl<const BITS: u32> Default for Sketch<BITS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BITS: u32> Sketch<BITS> {
    /// A sketch without values.
    #[must_use]
    pub const fn new() -> Self {
        Self { lowest: 0, counts: Vec::new(), carries: BTreeMap::new(), count: 0, sum: 0, least: u64::MAX, greatest: 0 }
    }

    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let bucket = Self::bucket(value);
        let count = match self.counts.get_mut(bucket.wrapping_sub(self.lowest)) {
            Some(count) => count,
            None => self.grow(bucket),
        };
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.carry(bucket, 1);
        }
        self.count += 1;
        self.sum += u128::from(value);
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// Notes that a count has overflowed its 16 bits `times` times.
    #[cold]
    fn carry(&mut self, bucket: usize, times: u64) {
        *self.carries.entry(bucket).or_default() += times;
    }

    /// Grows the range to include `bucket`, and returns its count.
    #[cold]
    fn grow(&mut self, bucket: usize) -> &mut u16 {
        let first = bucket >> BITS << BITS;
        if self.counts.is_empty() {
            self.lowest = first;
        }
        let below = self.lowest.saturating_sub(first);
        self.lowest -= below;
        let length = (self.counts.len() + below).max(first - self.lowest + (1 << BITS));
        self.counts.reserve_exact(length - self.counts.len());
        self.counts.splice(..0, std::iter::repeat_n(0, below));
        self.counts.resize(length, 0);
        &mut self.counts[bucket - self.lowest]
    }

    /// Adds the counts of another sketch.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, theirs) in (other.lowest..).zip(&other.counts).filter(|(_, theirs)| **theirs > 0) {
            let mine = match self.counts.get_mut(bucket.wrapping_sub(self.lowest)) {
                Some(mine) => mine,
                None => self.grow(bucket),
            };
            let (sum, carries) = mine.overflowing_add(*theirs);
            *mine = sum;
            if carries {
                self.carry(bucket, 1);
            }
        }
        for (bucket, times) in &other.carries {
            self.carry(*bucket, *times);
        }
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// The number of values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of the values.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact mean of the values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The greatest value, exactly.
    #[must_use]
    pub fn greatest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.greatest)
    }

    /// The `p`-quantile (`p` from 0 to 1): the least value that at least the part `p` of all values
    /// do not exceed, within the stated error.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = (libm::ceil(p * self.count as f64) as u64).clamp(1, self.count);
        let mut seen = 0;
        for (bucket, count) in (self.lowest..).zip(&self.counts) {
            seen += u64::from(*count);
            if !self.carries.is_empty() {
                seen += self.carries.get(&bucket).unwrap_or(&0) << 16;
            }
            if seen >= rank {
                return Some(Self::middle(bucket).clamp(self.least, self.greatest));
            }
        }
        Some(self.greatest)
    }

    /// The bucket of a value: values below 2^BITS have one each, and each power of two from there
    /// on has 2^BITS.
    #[inline]
    const fn bucket(value: u64) -> usize {
        let shift = (63 - (value | 1).leading_zeros()).saturating_sub(BITS);
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    const fn middle(bucket: usize) -> u64 {
        let shift = (bucket >> BITS).saturating_sub(1);
        let within = (bucket - (shift << BITS)) as u64;
        (within << shift) + ((1u64 << shift) >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_the_stated_error() {
        let mut values: Vec<u64> = (0..20_000u64).map(|i| fairq_sched::hash::splitmix(i) >> (i % 60)).collect();
        let (mut fine, mut coarse) = (Fine::default(), Coarse::default());
        for value in &values {
            fine.add(*value);
            coarse.add(*value);
        }
        values.sort_unstable();
        for p in [0.0, 0.01, 0.25, 0.5, 0.95, 0.99, 1.0] {
            let exact = values[((p * 20_000.0f64).ceil() as usize).clamp(1, 20_000) - 1] as f64;
            let error = |found: Option<u64>| (found.unwrap() as f64 - exact).abs() / exact.max(1.0);
            assert!(error(fine.quantile(p)) <= 1.0 / 1024.0, "{p}");
            assert!(error(coarse.quantile(p)) <= 1.0 / 128.0, "{p}");
        }
        assert_eq!(fine.greatest(), values.last().copied());
    }

    #[test]
    fn merging_is_counting_together() {
        let (mut all, mut even, mut odd) = (Fine::default(), Fine::default(), Fine::default());
        for i in 0..1000u64 {
            all.add(i * i);
            if i % 2 == 0 { even.add(i * i) } else { odd.add(i * i) }
        }
        even.merge(&odd);
        assert_eq!((even.count(), even.mean(), even.quantile(0.5)), (all.count(), all.mean(), all.quantile(0.5)));
        assert_eq!(Fine::default().quantile(0.5), None);
    }

    #[test]
    fn a_bucket_counts_beyond_its_bits() {
        let (mut all, mut half) = (Coarse::default(), Coarse::default());
        for i in 0..200_000u64 {
            // Three of four are 9, the rest 5.
            let value = if i % 4 == 0 { 5 } else { 9 };
            all.add(value);
            if i % 2 == 0 {
                half.add(value);
            }
        }
        assert_eq!([0.25, 0.26].map(|p| all.quantile(p)), [Some(5), Some(9)]);
        // Half of the 100,000 are 5, and a quarter of the 200,000.
        half.merge(&all);
        let (fives, count) = (50_000.0 + 50_000.0, 300_000.0);
        assert_eq!(half.count(), 300_000);
        assert_eq!([fives / count, (fives + 1.0) / count].map(|p| half.quantile(p)), [Some(5), Some(9)]);
    }
}
