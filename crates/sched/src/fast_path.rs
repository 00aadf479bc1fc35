//! Coverage of fast paths: debug builds count how often each was taken, so that a test can expect
//! that its network takes it. A fast path that no network takes is tested by nothing.
//!
//! In a release build [`take`] compiles to nothing.

use core::sync::atomic::{AtomicU32, Ordering};

/// A shorter way to the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastPath {
    /// A packet on an idle line is sent without being shown to the discipline.
    Bypass,
    /// Another packet comes while a bypassed one is sent: the bypass is replayed to the discipline.
    Replay,
    /// The departure of a packet from a plain FIFO is computed at its arrival.
    ComputedFifo,
    /// The arrival over a line without delay takes the place of the end of the transmission.
    ArrivalAtEnd,
    /// A packet goes on over the next line without an event for its arrival there.
    Shortcut,
    /// The transmission of a packet behind which none waits ends without an event.
    SilentEnd,
    /// A TCP receiver takes the packet that it expects.
    NextPacket,
    /// A TCP sender takes an acknowledgement in order.
    NextAcknowledgement,
    /// The state that an event needs soon is prefetched.
    Prefetch,
    /// A network runs region by region.
    Regions,
}

impl FastPath {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Bypass,
        Self::Replay,
        Self::ComputedFifo,
        Self::ArrivalAtEnd,
        Self::Shortcut,
        Self::SilentEnd,
        Self::NextPacket,
        Self::NextAcknowledgement,
        Self::Prefetch,
        Self::Regions,
    ];

    /// How often it was taken in this process since the last call, modulo 2³²; zero unless debug
    /// assertions are on.
    pub fn taken(self) -> u32 {
        TAKEN[self as usize].swap(0, Ordering::Relaxed)
    }
}

static TAKEN: [AtomicU32; FastPath::ALL.len()] = [const { AtomicU32::new(0) }; FastPath::ALL.len()];

/// Notes that a fast path is taken.
#[inline(always)]
pub fn take(path: FastPath) {
    if cfg!(debug_assertions) {
        TAKEN[path as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_in_the_order_of_their_declaration() {
        for (place, path) in FastPath::ALL.into_iter().enumerate() {
            assert_eq!(path as usize, place, "{path:?}");
        }
    }
}
