//! Pairs of packets that were sent back to back, found by their answers.
//!
//! Source: Keshav, "A Control-Theoretic Approach to Flow Control", SIGCOMM 1991 (packet pair).
//! Chosen: two answers in a row to consecutive packets that were sent in the same instant are those of a pair. A loss or a
//! packet in between breaks it, and it tells nothing; so does a receiver that answers both together.

use super::scoreboard::Scoreboard;
use crate::transport::Acknowledgement;
use crate::transport::congestion::{Pair, PairsAt};
use fairq_sched::units::Time;

/// The packet answered last.
#[derive(Clone, Copy, Debug)]
struct Answered {
    sequence: u64,
    sent: Time,
    came: Time,
}

/// Looks for pairs.
#[derive(Clone, Debug)]
pub struct Pairs {
    at: PairsAt,
    last: Option<Answered>,
}

impl Pairs {
    /// Nothing was answered.
    #[must_use]
    pub const fn new(at: PairsAt) -> Self {
        Self { at, last: None }
    }

    /// `ack` comes at `now`, before `board` learns of it; the pair that it completes.
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
