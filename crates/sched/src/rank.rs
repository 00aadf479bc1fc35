//! Tags by which heads of queues are ordered: a value, and among equal values the order of arrival.
//!
//! A tag is 128 bits: the value in its upper 89, a sequence number in its lower 39. The sequence
//! wraps after 5·10¹¹ packets; then two packets with equal values that arrived on both sides of the
//! wrap change places, no more. A value of 2⁸⁹ or more counts as 2⁸⁹ - 1: packets of flows that
//! have been charged that far ahead come last, in order of arrival.

use crate::slots::Tag;

/// Bits of the sequence number.
pub(crate) const SEQUENCE_BITS: u32 = 39;
const SEQUENCE: u128 = (1 << SEQUENCE_BITS) - 1;
/// Bits of the value, and the greatest one.
const VALUE_BITS: u32 = u128::BITS - SEQUENCE_BITS;
const VALUE_MAX: u128 = u128::MAX >> SEQUENCE_BITS;
/// Bits of a round number below the grid.
const GRID_BITS: u32 = 24;

/// Numbers tags in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    sequence: u64,
}

impl Ranks {
    /// The first tag is yet to come.
    #[must_use]
    pub const fn new() -> Self {
        Self { sequence: 0 }
    }

    /// The next tag, with `value`, or with 2⁸⁹ - 1 if that is less.
    pub fn tag(&mut self, value: u128) -> Tag {
        self.sequence += 1;
        tag(value, self.sequence)
    }
}

/// The tag of `value`, or of 2⁸⁹ - 1 if that is less, for the packet that came as number
/// `sequence`.
#[must_use]
pub const fn tag(value: u128, sequence: u64) -> Tag {
    let value = if value < VALUE_MAX { value } else { VALUE_MAX };
    value << SEQUENCE_BITS | (sequence as u128 & SEQUENCE)
}

/// The tag with the value of `tag` for the packet that came as number `sequence`.
#[must_use]
#[inline]
pub(crate) const fn renumbered(tag: Tag, sequence: u64) -> Tag {
    tag & !SEQUENCE | (sequence as u128 & SEQUENCE)
}

/// A round number (round.rs) on the grid on which round numbers are compared: 1/(16·5⁹) byte, of
/// which halves to sixteenths of a byte are multiples, so that numbers that are equal in exact
/// arithmetic are equal here though they were rounded on their way.
#[must_use]
pub const fn on_grid(number: u128) -> u128 {
    // Numbers saturate when dropped packets are charged for ever.
    number.saturating_add(1 << (GRID_BITS - 1)) >> GRID_BITS
}

/// The tag of the round number `number`, below 2¹²⁷, on the grid, for the packet that came as
/// number `sequence`.
#[must_use]
#[inline]
pub const fn tag_on_grid(number: u128, sequence: u64) -> Tag {
    let rounded = number + (1 << (GRID_BITS - 1));
    // Above the greatest value: the upper word says so.
    if (rounded >> u64::BITS) as u64 >> (VALUE_BITS + GRID_BITS - u64::BITS) > 0 {
        return beyond(sequence);
    }
    // One shift to and fro.
    (rounded << (SEQUENCE_BITS - GRID_BITS)) & !SEQUENCE | (sequence as u128 & SEQUENCE)
}

/// The tag of a value that is too great. Out of line, or it would be computed for every value and
/// selected.
#[cold]
#[inline(never)]
const fn beyond(sequence: u64) -> Tag {
    tag(VALUE_MAX, sequence)
}

/// The last of the tags on the grid of round numbers up to `number`, which is below 2¹²⁷.
#[must_use]
#[inline]
pub const fn last_on_grid(number: u128) -> Tag {
    tag_on_grid(number, u64::MAX)
}

/// The round number of a place on the grid.
#[must_use]
pub const fn off_grid(place: u128) -> u128 {
    place << GRID_BITS
}

/// The value of a tag.
#[must_use]
pub const fn value(tag: Tag) -> u128 {
    tag >> SEQUENCE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_but_for_rounding_is_equal_on_the_grid() {
        let byte = crate::round::BYTE;
        assert_eq!([byte / 3, byte / 3 + 1, byte / 3 * 3].map(on_grid), [10_416_667, 10_416_667, 31_250_000]);
        assert_eq!(on_grid(byte / 16 - 9) + 1_953_125, on_grid(byte / 8 + 9));
        assert_eq!(on_grid(u128::MAX), u128::MAX >> 24);
    }

    #[test]
    fn a_tag_on_the_grid_is_the_tag_of_the_place_on_the_grid() {
        for bits in 0..127 {
            for number in [1 << bits, (1 << bits) - 1, (1 << bits) + (1 << bits >> 1)] {
                for sequence in [0, 1, 77 << 39 | 5, u64::MAX] {
                    assert_eq!(tag_on_grid(number, sequence), tag(on_grid(number), sequence), "{number} {sequence}");
                }
                assert!(last_on_grid(number) >= tag(on_grid(number), 5));
                assert!(last_on_grid(number) < tag(on_grid(number) + 1, 5) || on_grid(number) >= VALUE_MAX);
            }
        }
    }

    #[test]
    fn tags_are_ordered_by_value_then_by_arrival_and_never_wrap() {
        let mut ranks = Ranks::new();
        let tags = [2, 3, 3, VALUE_MAX, VALUE_MAX + 1, u128::MAX].map(|value| ranks.tag(value));
        assert!(tags.is_sorted_by(|a, b| a < b), "{tags:?}");
        assert_eq!(tags.map(value), [2, 3, 3, VALUE_MAX, VALUE_MAX, VALUE_MAX]);
        assert!(ranks.tag(2) > tags[0] && ranks.tag(2) < tags[1]);
    }
}
