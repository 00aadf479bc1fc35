//! Tags by which heads of queues are ordered: a value, and among equal values the order of arrival.
//!
//! A tag is 128 bits: the value in its upper 89, a sequence number in its lower 39. The sequence wraps after 5·10¹¹
//! packets; then two packets with equal values that arrived on both sides of the wrap change places, no more.

use crate::contract::Tag;

/// Bits of the sequence number.
const SEQUENCE_BITS: u32 = 39;

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

    /// The next tag, with `value`, which must be below 2⁸⁹.
    pub fn tag(&mut self, value: u128) -> Tag {
        debug_assert!(value >> (128 - SEQUENCE_BITS) == 0, "the value of a tag overflows");
        self.sequence = (self.sequence + 1) & ((1 << SEQUENCE_BITS) - 1);
        value << SEQUENCE_BITS | u128::from(self.sequence)
    }
}

/// The value of a tag.
#[must_use]
pub const fn value(tag: Tag) -> u128 {
    tag >> SEQUENCE_BITS
}
