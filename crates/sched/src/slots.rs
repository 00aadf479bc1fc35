//! Slots of flows and queues, and lists with an entry for each.

use alloc::vec::Vec;

/// A dense number of a flow or of a queue inside one discipline.
pub type Slot = u32;

/// A scheduler's mark on a packet, kept beside it.
pub type Tag = u128;

/// The entry of `slot`. As far as there are too few, all that are added are `fresh`.
#[inline(always)]
pub(crate) fn entry<T: Clone>(entries: &mut Vec<T>, slot: u32, fresh: T) -> &mut T {
    if entries.len() <= slot as usize {
        entries.resize(slot as usize + 1, fresh);
    }
    &mut entries[slot as usize]
}
