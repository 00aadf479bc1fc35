//! What a sender does about marks: which acknowledgements tell of one, when the window is reduced, what the receiver hears of it.
//!
//! Source: RFC 3168, section 6.1.2 (classic ECN); RFC 8257, section 3.3 (DCTCP); RFC 9768, section 3.2 (counts).

use super::{Phase, Tcp};
use crate::transport::Acknowledgement;
use crate::transport::congestion::{Congested, Ecn};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;

/// The last reduction of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// The next new packet then.
    pub next: u64,
    /// Whether it answered a mark.
    pub is_by_mark: bool,
}

impl Tcp {
    /// Tells the law of a loss, unless a mark of the same window of data reduced the window (RFC 3168, section 6.1.2).
    pub(super) fn reduce(&mut self, congested: &Congested) {
        if !self.has_answered_mark() {
            self.control.lost(congested);
            self.note_reduction(false);
        }
    }

    /// Whether a mark reduced the window since the oldest packet that is not acknowledged was sent. Marks of classic ECN only:
    /// what others count their law answers itself.
    pub(super) fn has_answered_mark(&self) -> bool {
        self.reduction.is_some_and(|reduction| reduction.is_by_mark && self.board.first() < reduction.next)
    }

    /// The window was reduced: marks of what was sent until now reduce nothing more, and the receiver need not repeat them.
    pub(super) fn note_reduction(&mut self, is_by_mark: bool) {
        self.reduced_at = self.board.transmissions();
        if self.control.ecn() == Ecn::Classic {
            self.reduction = Some(Reduction { next: self.board.next(), is_by_mark });
            self.tells_reduction = true;
        }
    }

    /// What an acknowledgement says of marks; how many packets.
    ///
    /// An acknowledgement that others overtook is `is_old`: its echo may be of a mark that was answered, and its count is of
    /// marks that are known (RFC 9768, section 3.2.2.5).
    pub(super) fn hear_marks(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        delivered: u64,
        flight: u64,
        is_old: bool,
    ) -> u64 {
        // The count wraps; one that is behind is an old one's.
        let told = ack.marked.wrapping_sub(self.marked);
        let told = if told < 1 << 31 { told } else { 0 };
        self.marked = self.marked.wrapping_add(told);
        let is_marked = ack.marks.intersects(Marks::CE);
        match self.control.ecn() {
            Ecn::Not => 0,
            Ecn::Accurate => u64::from(told),
            Ecn::Dctcp => match is_marked {
                true if is_old => delivered,
                true => delivered.max(1),
                false => 0,
            },
            Ecn::Classic => {
                // The mark is repeated until the packet with CWR arrives, also by the acknowledgement of the one before it:
                // only what acknowledges that packet tells of another mark.
                let is_news = self.reduction.is_none_or(|reduction| self.board.first() > reduction.next);
                if is_marked && is_news && !is_old && self.phase == Phase::Open {
                    let congested = self.congested(now, 1, flight);
                    self.control.marked(&congested);
                    self.note_reduction(true);
                }
                u64::from(is_marked)
            }
        }
    }
}
