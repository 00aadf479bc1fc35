//! Reductions that were needless: a timeout or a recovery whose packets were late and not lost
//! gives back what it took, as in Linux.
//!
//! What shows it: the time stamp of a first copy, that came before the first packet was sent again
//! (the Eifel algorithm; Linux: `tcp_packet_delayed`); a report of a duplicate for each packet that
//! was sent again (`tcp_try_undo_dsack`); after a timeout, the arrival of a packet that was not
//! sent again (F-RTO; `tcp_process_loss`).
//!
//! Source: RFC 3522, section 3.2; RFC 3708; RFC 5682, section 3.1.
//! Cost: O(1) an acknowledgement; O(n log n) where losses were none.

use super::scoreboard::Delivery;
use super::{Phase, Tcp};
use crate::transport::congestion::Before;
use crate::transport::messages::{Acknowledgement, Flags, Transmission};
use fairq_sched::units::Time;

/// The last reduction that may prove needless.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    before: Before,
    /// The oldest packet when it began (undo_marker).
    from: u64,
    /// Packets sent again since and not reported as duplicates (undo_retrans); `None` before any.
    resent: Option<u32>,
    /// When the first of them was sent (retrans_stamp).
    first_resent: Option<Time>,
    frto: Frto,
}

/// F-RTO after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frto {
    /// Nothing is learnt from what arrives.
    Off,
    /// Lost packets are sent again.
    On,
    /// The oldest packet was sent again and is acknowledged: what is sent now is new.
    SendsNew,
}

impl Undo {
    fn resends(&mut self, now: Time) {
        self.resent = Some(self.resent.unwrap_or(0) + 1);
        self.first_resent.get_or_insert(now);
    }

    /// The receiver had packet `sequence` already.
    fn duplicate(&mut self, sequence: u64) {
        if sequence >= self.from {
            self.resent = self.resent.map(|resent| resent.saturating_sub(1));
        }
    }

    fn are_all_duplicates(&self) -> bool {
        self.resent == Some(0)
    }

    /// Whether a copy sent at `sent`, which filled a hole, is a first one.
    fn is_late(&self, sent: Time) -> bool {
        self.first_resent.is_some_and(|resent| sent < resent)
    }
}

impl Tcp {
    /// cwnd and ssthresh, before a reduction.
    pub(super) fn before_reduction(&mut self) -> Before {
        self.control.cwnd().map(|cwnd| cwnd.before()).unwrap_or_default()
    }

    /// A reduction begins; cwnd and ssthresh were `before`, and a probe was sent again at `probed`
    /// (Linux: `tcp_init_undo`).
    pub(super) fn may_undo(&mut self, before: Before, probed: Option<Time>) {
        if !self.connection.undoes {
            return;
        }
        let first_resent = self.undo.as_ref().and_then(|undo| undo.first_resent).or(probed);
        let resent = self.board.resent() as u32 + u32::from(probed.is_some());
        let resent = Some(resent).filter(|resent| *resent > 0);
        let undo = Undo { before, from: self.board.first(), resent, first_resent, frto: Frto::Off };
        self.undo = Some(Box::new(undo));
    }

    /// A timeout: new data will show whether it was needless, unless losses were being repaired
    /// (Linux: frto of `tcp_enter_loss`).
    pub(super) fn begin_frto(&mut self, may: bool) {
        if let Some(undo) = &mut self.undo {
            undo.frto = if may { Frto::On } else { Frto::Off };
        }
    }

    /// A packet is sent again.
    pub(super) fn note_resent(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.resends(now);
        }
    }

    /// A lost packet, else a new one; for F-RTO new ones only, if there are any (Linux:
    /// `tcp_xmit_recovery`).
    pub(super) fn next_packet(&mut self, now: Time) -> Option<Transmission> {
        if let (Some(Undo { frto: Frto::SendsNew, .. }), Phase::TimedOut { until }) = (self.undo.as_deref(), self.phase)
        {
            let sent = self.send_new(now);
            if sent.is_some() || self.board.next() > until {
                return sent;
            }
            self.begin_frto(false);
        }
        self.resend_lost(now).or_else(|| self.send_new(now))
    }

    /// Takes an acknowledgement, before it ends a recovery: whether the last reduction was
    /// needless.
    pub(super) fn judge_reduction(&mut self, now: Time, ack: &Acknowledgement, delivery: &Delivery) {
        let Some(undo) = self.undo.as_deref_mut() else { return };
        if ack.flags.has(Flags::DUPLICATE) {
            undo.duplicate(ack.sequence);
        }
        let (first, advances) = (self.board.first(), delivery.newly > 0);
        let (are_duplicates, is_late) =
            (undo.are_all_duplicates(), advances && self.connection.timestamps && undo.is_late(ack.sent));
        match self.phase {
            Phase::Open if are_duplicates => self.give_back(now, false),
            Phase::Open | Phase::Reducing { .. } => undo.first_resent = None,
            // A hole that a late packet filled says nothing of others that were sent again.
            Phase::Recovering { until } if is_late && first < until => {
                if self.board.resent() == 0 {
                    self.give_back(now, true);
                }
            }
            Phase::Recovering { .. } if are_duplicates || is_late => self.give_back(now, false),
            Phase::Recovering { .. } => {}
            Phase::TimedOut { .. } if advances && are_duplicates || is_late => self.give_back(now, true),
            Phase::TimedOut { until } => self.step_frto(now, until, delivery),
        }
    }

    /// RFC 5682, section 3.1, steps 2 and 3, with what Linux asks.
    fn step_frto(&mut self, now: Time, until: u64, delivery: &Delivery) {
        let Some(undo) = self.undo.as_deref_mut().filter(|undo| undo.frto != Frto::Off) else { return };
        let (first, next) = (self.board.first(), self.board.next());
        if delivery.lowest_original.is_some_and(|original| original < until) {
            // Step 3b.
            self.give_back(now, true);
        } else if next > until {
            // Step 3a: what arrived out of order is new.
            undo.frto = if delivery.newly > 0 { Frto::On } else { Frto::Off };
        } else if delivery.newly > 0 && first < until {
            // Step 2b. All new packets are sent now, or none is known to arrive.
            undo.frto = Frto::SendsNew;
            self.phase = Phase::TimedOut { until: next };
        }
    }

    /// Ends the recovery or the repair after a timeout, and gives back what it took (Linux:
    /// `tcp_undo_cwnd_reduction`). With `finds` the packets that were taken for lost are in flight.
    fn give_back(&mut self, now: Time, finds: bool) {
        let Some(undo) = self.undo.take() else { return };
        if finds {
            self.board.find();
            if let Some(rack) = self.trackers.rack() {
                rack.find(&self.board);
            }
        }
        if self.phase != Phase::Open {
            (self.phase, self.budget, self.owes_loss) = (Phase::Open, None, false);
            self.has_timed_out = false;
            if !self.ends_late() {
                self.control.recovered(now);
            }
        }
        self.tells_reduction = false;
        self.control.undo(undo.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tcp_check_dsack`: a duplicate counts if it is of what the reduction was about.
    #[test]
    fn all_that_was_sent_again_is_a_duplicate_when_each_was_reported() {
        let mut undo = Undo { before: Before::default(), from: 10, resent: None, first_resent: None, frto: Frto::Off };
        undo.duplicate(10);
        assert!(!undo.are_all_duplicates(), "nothing was sent again");
        [3, 4].into_iter().for_each(|ms| undo.resends(Time::from_ms(ms)));
        undo.duplicate(9);
        undo.duplicate(10);
        assert_eq!(undo.resent, Some(1));
        undo.duplicate(11);
        assert!(undo.are_all_duplicates());
        assert_eq!([2, 3].map(|ms| undo.is_late(Time::from_ms(ms))), [true, false], "before the first was sent again");
    }
}
