//! Pairs of packets that were sent back to back, found by their acknowledgements.
//!
//! Source: Keshav, "A Control-Theoretic Approach to Flow Control", SIGCOMM 1991 (packet pair).
//! Chosen: two successive acknowledgements of consecutive packets that were sent in the same
//! instant are those of a pair. A loss or a packet in between breaks it, and it gives no estimate;
//! so does a receiver that acknowledges both together.

use super::scoreboard::Scoreboard;
use crate::transport::congestion::{Pair, PairsAt};
use crate::transport::messages::Acknowledgement;
use fairq_sched::units::Time;

/// The packet acknowledged last.
#[derive(Clone, Copy, Debug)]
struct Answered {
    sequence: u64,
    sent: Time,
    came: Time,
}

/// Finds pairs.
#[derive(Clone, Debug)]
pub struct Pairs {
    at: PairsAt,
    last: Option<Answered>,
}

impl Pairs {
    /// No packet was acknowledged yet.
    #[must_use]
    pub const fn new(at: PairsAt) -> Self {
        Self { at, last: None }
    }

    /// `ack` arrives at `now`, before `board` is updated. Returns the pair that it completes.
    pub fn answered(&mut self, now: Time, ack: &Acknowledgement, board: &Scoreboard) -> Option<Pair> {
        let came = match self.at {
            PairsAt::Sender => now,
            PairsAt::Receiver => ack.received,
        };
        let first = self.last.replace(Answered { sequence: ack.sequence, sent: ack.sent, came })?;
        let is_pair = first.sequence + 1 == ack.sequence && first.sent == ack.sent && came > first.came;
        let length = board.packet(ack.sequence)?.length;
        is_pair.then(|| Pair { gap: came - first.came, length })
    }
}
