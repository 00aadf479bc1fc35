//! What waits in a discipline, and why the packet sent last was chosen: for pages that show a queue
//! at work, and for tests.

use crate::packet::Packet;
use crate::rank;
use crate::round::BYTE;
use crate::slots::Slot;

/// The virtual times of a waiting packet, as far as its scheduler has given it any. A start or
/// finish tag counts bytes that a flow of weight 1 was sent, unless the scheduler's doc says
/// otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stamps {
    /// S.
    pub start: Option<f64>,
    /// F.
    pub finish: Option<f64>,
    /// The rank by which packets leave, the least first.
    pub rank: Option<f64>,
}

impl Stamps {
    /// Those of a packet that was given none.
    pub const NONE: Self = Self { start: None, finish: None, rank: None };

    /// A finish tag only.
    #[must_use]
    pub const fn finish(finish: f64) -> Self {
        Self { finish: Some(finish), ..Self::NONE }
    }

    /// A rank only.
    #[must_use]
    pub const fn rank(rank: f64) -> Self {
        Self { rank: Some(rank), ..Self::NONE }
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// The queue in which it waits, by its number in the discipline.
    pub queue: Slot,
    /// Its virtual times.
    pub stamps: Stamps,
}

/// Why a packet was chosen to be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Its queue.
    pub queue: Slot,
    /// What decides: `finish`, `start`, `rank`, `turn`, `class`, [`ARRIVAL`].
    pub by: &'static str,
    /// Its value of that, in the unit of [`Stamps`]; the least went first. Of a turn, the bytes that
    /// the queue may send in it before this packet, where turns are counted in bytes.
    pub value: Option<f64>,
    /// The scheduler's clock, V or R, if it has one.
    pub clock: Option<f64>,
    /// How many queues could be chosen, if not all that wait.
    pub eligible: Option<u32>,
    /// The step that sent it, counted from 1, of the pseudo-code in the card that `Queue::card`
    /// names: that of the design, else of the scheduler. `fifo` has no choice to make: beside a
    /// buffer policy that judges the head and has steps (`codel`) it is that policy's step by which
    /// the head was let go. `None` if the card has no steps.
    pub step: Option<u8>,
}

/// What decides where packets leave in the order in which they came.
pub const ARRIVAL: &str = "arrival";

impl Decision {
    /// That the head of `queue` is the next by `by`.
    #[must_use]
    pub const fn by(by: &'static str, queue: Slot) -> Self {
        Self { queue, by, value: None, clock: None, eligible: None, step: None }
    }

    /// With this value of it.
    #[must_use]
    pub const fn with_value(self, value: f64) -> Self {
        Self { value: Some(value), ..self }
    }

    /// When the clock shows `clock`.
    #[must_use]
    pub const fn at_clock(self, clock: f64) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// In this step of the card.
    #[must_use]
    pub const fn in_step(self, step: u8) -> Self {
        Self { step: Some(step), ..self }
    }
}

/// Bytes of a flow of weight 1 that the round number `number` counts (round.rs).
#[must_use]
pub const fn bytes(number: u128) -> f64 {
    number as f64 / BYTE as f64
}

/// Bytes of the round number on the grid that `tag` holds (rank.rs).
pub(crate) const fn bytes_on_grid(tag: crate::slots::Tag) -> f64 {
    // 1/(16 · 5⁹) byte.
    rank::value(tag) as f64 / (16.0 * 1_953_125.0)
}
