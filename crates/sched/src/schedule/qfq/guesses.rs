//! Guesses which entity sends some packets from now, so that its state is prefetched in time.
//!
//! Entities in a slot send in the order in which they came into it. An entity that comes into a
//! slot is therefore noted at the entity that came some places before it; when that one sends, the
//! later one sends soon. Served entities go to two slots of a group, one behind the other in the
//! circle: these are told apart by the last bit of their places.

use crate::contract::Slot;

/// How many places behind the one that sends the guess stands. A power of two.
const DISTANCE: usize = 8;

/// The last entities that came into a slot, and the guesses for the packets sent last.
pub(crate) struct Guesses {
    came: [[Slot; DISTANCE]; 2],
    next: [usize; 2],
    guesses: [Slot; DISTANCE],
    sent: usize,
    last: Slot,
}

impl Guesses {
    pub(crate) const fn new() -> Self {
        Self { came: [[0; DISTANCE]; 2], next: [0; 2], guesses: [0; DISTANCE], sent: 0, last: 0 }
    }

    /// `entity` sends, and `behind` is its guess. Returns the entity that sent before it.
    #[inline(always)]
    pub(crate) const fn sends(&mut self, entity: Slot, behind: Slot) -> Slot {
        self.sent = (self.sent + 1) % DISTANCE;
        self.guesses[self.sent % DISTANCE] = behind;
        core::mem::replace(&mut self.last, entity)
    }

    /// `entity` has come into the slot at `place`. Returns the entity that came [`DISTANCE`] places
    /// before.
    #[inline(always)]
    pub(crate) fn comes(&mut self, entity: Slot, place: u8) -> Slot {
        let parity = usize::from(place % 2);
        let next = self.next[parity];
        self.next[parity] = (next + 1) % DISTANCE;
        core::mem::replace(&mut self.came[parity][next % DISTANCE], entity)
    }

    /// The guess which entity sends after `packets` more packets, fewer than [`DISTANCE`].
    #[inline(always)]
    pub(crate) const fn soon(&self, packets: u32) -> Slot {
        self.guesses[(self.sent + 1 + packets as usize) % DISTANCE]
    }
}
