//! What the simulators ns-2 and ns-3 do differently from hosts, as one value that is computed once
//! for a connection.
//!
//! Only the slow path reads it: a connection with a quirk never takes the fast path. What a quirk
//! does is said beside the setting that asks for it (`settings`).

use super::settings::{BackoffEnds, Connection, Grows, Recovery, Reduces, Timed};
use super::{Phase, Tcp};
use crate::transport::messages::Acknowledgement;
use fairq_sched::units::Time;

/// A quirk of a simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quirk {
    /// ns-2: duplicates allow a packet after a timeout, too.
    TransmitsAfterTimeout,
    /// ns-2: `reno` reacts to duplicates once for the data that was sent by then.
    AnswersOnce,
    /// ns-2: each signal reduces from the window, also a timeout of the opening packet.
    ReducesWindow,
    /// ns-2: one packet at a time gives a sample of the round trip.
    TimesOne,
    /// Both: an acknowledgement counts as one packet, also the one that ends a recovery.
    CountsAcknowledgements,
    /// ns-3: the acknowledgement that ends a timeout's recovery counts only what was sent after it.
    CountsAfterTimeout,
    /// ns-3: a loss reduces from the packets in flight, even above the window.
    ReducesPipe,
    /// ns-3: the oldest packet gives a sample of the round trip.
    TimesOldest,
    /// ns-3: any acknowledgement of new data ends a backoff of the timeout.
    EndsBackoff,
    /// ns-3: a repeated timeout of a packet reduces again.
    AlwaysReduces,
    /// ns-3: in `sack` only the first partial acknowledgement restarts the timer.
    Impatient,
    /// ns-3: a packet that was sent again is in flight until it is acknowledged in order.
    HoldsResent,
    /// ns-3: a packet that was sent again is not found lost again before a timeout.
    ResendsOnce,
    /// ns-3: a partial acknowledgement allows a packet whatever the window.
    PartialLetsGo,
    /// ns-3: the opening packet gives a sample from its first copy on.
    TimesLostOpening,
    /// ns-3: the window stays as it was if the opening packet is lost.
    ForgivesLostOpening,
}

/// The quirks of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quirks(u16);

impl Quirks {
    /// Those that the settings of `connection` ask for.
    pub(super) fn of(connection: &Connection) -> Self {
        let Connection { reduces, grows, timed, .. } = *connection;
        let asked = [
            (Quirk::TransmitsAfterTimeout, connection.transmits_after_timeout),
            (Quirk::AnswersOnce, connection.answers_once),
            (Quirk::ReducesWindow, reduces == Some(Reduces::Window)),
            (Quirk::TimesOne, timed == Timed::One),
            (Quirk::CountsAcknowledgements, matches!(grows, Grows::Acknowledgements | Grows::ExceptTimeout)),
            (Quirk::CountsAfterTimeout, grows == Grows::ExceptTimeout),
            (Quirk::ReducesPipe, reduces == Some(Reduces::Pipe)),
            (Quirk::TimesOldest, timed == Timed::Oldest),
            (Quirk::EndsBackoff, connection.timeout.backoff_ends == BackoffEnds::Acknowledgement),
            (Quirk::AlwaysReduces, connection.timeout.always_reduces),
            (Quirk::Impatient, connection.impatient),
            (Quirk::HoldsResent, connection.holds_resent),
            (Quirk::ResendsOnce, connection.resends_once),
            (Quirk::PartialLetsGo, connection.partial_lets_go),
            (Quirk::TimesLostOpening, connection.times_lost_opening),
            (Quirk::ForgivesLostOpening, connection.forgives_lost_opening),
        ];
        Self(asked.iter().filter(|(_, is_asked)| *is_asked).fold(0, |all, (quirk, _)| all | 1 << *quirk as u16))
    }

    /// Whether `quirk` is one of them.
    #[inline]
    pub(super) const fn has(self, quirk: Quirk) -> bool {
        self.0 & 1 << quirk as u16 != 0
    }

    /// Whether there are none.
    pub(super) const fn are_none(self) -> bool {
        self.0 == 0
    }

    /// Whether one packet at a time is timed, be it the opening packet only.
    pub(super) const fn time_one(self) -> bool {
        self.has(Quirk::TimesOne) || self.has(Quirk::TimesLostOpening)
    }
}

impl Tcp {
    /// Whether the connection has `quirk`.
    pub(super) fn has_quirk(&self, quirk: Quirk) -> bool {
        self.connection.quirks.has(quirk)
    }

    /// Whether the timed packet is the first copy of the opening packet, lost or not.
    pub(super) fn times_opening(&self) -> bool {
        self.is_opening && self.has_quirk(Quirk::TimesLostOpening)
    }

    /// The round trip of the packet that was timed, if it is acknowledged in order.
    pub(super) fn sample_of_one(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        self.trackers.timed_below(ack.cumulative).map(|sent| now - sent)
    }

    /// The round trip of the oldest packet that is acknowledged in order and was sent after the
    /// last timeout, if it was sent once.
    pub(super) fn sample_of_oldest(&self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        let first = self.board.first();
        let oldest = if let Phase::TimedOut { until } = self.phase { first.max(until) } else { first };
        let packet = self.board.packet(oldest).filter(|packet| ack.cumulative > oldest && !packet.is_repeated)?;
        Some(now - packet.sent)
    }

    /// Whether a recovery by selective acknowledgements restarts the timer as `newreno` does: with
    /// the first partial acknowledgement only.
    pub(super) fn is_impatient_sack(&self) -> bool {
        self.recovery == Recovery::Sack && self.has_quirk(Quirk::Impatient)
    }

    /// Whether a partial acknowledgement, of which the scoreboard knows, allows a packet whatever
    /// the window.
    pub(super) fn partial_lets_go(&self) -> bool {
        self.recovery == Recovery::Sack
            && self.has_quirk(Quirk::PartialLetsGo)
            && self.board.packet(self.board.first()).is_some_and(|oldest| !oldest.is_repeated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rfcs_and_what_linux_asks_for_are_no_quirks() {
        let linux = Connection {
            grows: Grows::All,
            timed: Timed::Latest,
            reduces: Some(Reduces::Cwnd),
            reduces_once: true,
            undoes: true,
            counts_lost_opening: true,
            ..Connection::default()
        };
        for connection in [Connection::default(), linux] {
            assert!(Quirks::of(&connection).are_none(), "{connection:?}");
        }
    }

    #[test]
    fn each_setting_asks_for_its_own_quirk() {
        type Set = fn(&mut Connection);
        let settings: [(Set, Quirk); 15] = [
            (|it| it.transmits_after_timeout = true, Quirk::TransmitsAfterTimeout),
            (|it| it.answers_once = true, Quirk::AnswersOnce),
            (|it| it.reduces = Some(Reduces::Window), Quirk::ReducesWindow),
            (|it| it.timed = Timed::One, Quirk::TimesOne),
            (|it| it.grows = Grows::Acknowledgements, Quirk::CountsAcknowledgements),
            (|it| it.reduces = Some(Reduces::Pipe), Quirk::ReducesPipe),
            (|it| it.timed = Timed::Oldest, Quirk::TimesOldest),
            (|it| it.timeout.backoff_ends = BackoffEnds::Acknowledgement, Quirk::EndsBackoff),
            (|it| it.timeout.always_reduces = true, Quirk::AlwaysReduces),
            (|it| it.impatient = true, Quirk::Impatient),
            (|it| it.holds_resent = true, Quirk::HoldsResent),
            (|it| it.resends_once = true, Quirk::ResendsOnce),
            (|it| it.partial_lets_go = true, Quirk::PartialLetsGo),
            (|it| it.times_lost_opening = true, Quirk::TimesLostOpening),
            (|it| it.forgives_lost_opening = true, Quirk::ForgivesLostOpening),
        ];
        for (set, quirk) in settings {
            let mut connection = Connection::default();
            set(&mut connection);
            let quirks = Quirks::of(&connection);
            assert!(quirks.has(quirk) && quirks.0.count_ones() == 1, "{quirk:?}: {quirks:?}");
        }
        let quirks = Quirks::of(&Connection { grows: Grows::ExceptTimeout, ..Connection::default() });
        assert!(quirks.has(Quirk::CountsAcknowledgements) && quirks.has(Quirk::CountsAfterTimeout));
    }
}
