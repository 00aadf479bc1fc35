//! Tags by which heads of queues are ordered: a value, and among equal values the order of arrival.
//!
//! A tag is 128 bits: the value in its upper 89, a sequence number in its lower 39. The sequence wraps after 5·10¹¹
//! packets; then two packets with equal values that arrived on both sides of the wrap change places, no more. A value
//! of 2⁸⁹ or more counts as 2⁸⁹ - 1: who has been charged that far ahead comes last, in order of arrival.

use crate::contract::Tag;

/// Bits of the sequence number.
const SEQUENCE_BITS: u32 = 39;
/// The greatest value.
const VALUE_MAX: u128 = u128::MAX >> SEQUENCE_BITS;

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
        let value = value.min(VALUE_MAX);
        self.sequence = (self.sequence + 1) & ((1 << SEQUENCE_BITS) - 1);
        value << SEQUENCE_BITS | u128::from(self.sequence)
    }
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
    fn tags_are_ordered_by_value_then_by_arrival_and_never_wrap() {
        let mut ranks = Ranks::new();
        let tags = [2, 3, 3, VALUE_MAX, VALUE_MAX + 1, u128::MAX].map(|value| ranks.tag(value));
        assert!(tags.is_sorted_by(|a, b| a < b), "{tags:?}");
        assert_eq!(tags.map(value), [2, 3, 3, VALUE_MAX, VALUE_MAX, VALUE_MAX]);
        assert!(ranks.tag(2) > tags[0] && ranks.tag(2) < tags[1]);
    }
}
