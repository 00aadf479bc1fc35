//! How a sender reacts to marks: which acknowledgements report one, when the window is reduced, and
//! when the receiver is told.
//!
//! Source: RFC 3168, section 6.1.2 (classic ECN); RFC 8257, section 3.3 (DCTCP); RFC 9768, section
//! 3.2 (counts).

use super::{Budget, Phase, Tcp};
use crate::transport::congestion::Congested;
use crate::transport::ecn::Ecn;
use crate::transport::messages::Acknowledgement;
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use std::num::NonZeroU64;

impl Tcp {
    /// Tells the congestion control of a loss, unless a mark of the same window of data already
    /// reduced the window (RFC 3168, section 6.1.2).
    pub(super) fn reduce(&mut self, congested: &Congested) {
        if !self.has_answered_mark() {
            self.control.lost(congested);
            self.note_reduction(false);
        }
    }

    /// Whether a mark reduced the window since the oldest unacknowledged packet was sent. For marks
    /// of classic ECN only: counted marks are up to the congestion control.
    pub(super) fn has_answered_mark(&self) -> bool {
        self.is_reduced_by_mark && self.reduced_before.is_some_and(|next| self.board.first() < next.get())
    }

    /// The window was reduced: marks of packets sent until now reduce nothing more, and the
    /// receiver need not repeat them.
    pub(super) fn note_reduction(&mut self, is_by_mark: bool) {
        self.reduced_at = self.board.transmissions();
        if self.control.ecn() == Ecn::Classic {
            self.reduced_before = NonZeroU64::new(self.board.next());
            (self.is_reduced_by_mark, self.tells_reduction) = (is_by_mark, true);
        } else if self.control.ecn() == Ecn::Dctcp {
            // Linux: `tcp_ecn_queue_cwr`, whatever the congestion control.
            self.tells_reduction = self.connection.spreads_marks;
        }
    }

    /// An acknowledgement reported a mark, with `flight` packets in flight before: a reduction
    /// begins that proportional rate reduction spreads over a round trip (Linux: `tcp_enter_cwr`
    /// and `tcp_init_cwnd_reduction`).
    pub(super) fn spread_reduction(&mut self, now: Time, flight: u64) {
        let may = matches!(self.control.ecn(), Ecn::Classic | Ecn::Dctcp);
        if !may || self.phase != Phase::Open {
            return;
        }
        let before = self.window();
        let congested = self.congested(now, 1, flight);
        self.undo = None;
        self.control.marked(&congested);
        self.note_reduction(true);
        self.phase = Phase::Reducing { until: self.board.next() };
        self.budget = Some(Box::new(Budget::new(self.connection.rate_reduction, before, self.window())));
    }

    /// Evaluates the marks that an acknowledgement reports; returns the number of marked packets.
    ///
    /// `is_old` is an acknowledgement that others overtook. Its echo may be of a mark that was
    /// already handled, and its count is of marks that are known (RFC 9768, section 3.2.2.5).
    pub(super) fn hear_marks(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        delivered: u64,
        flight: u64,
        is_old: bool,
    ) -> u64 {
        // The count wraps; one that lies behind is that of an old acknowledgement.
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
                // The receiver repeats the mark until the packet with CWR arrives, so also in the
                // acknowledgement of the packet before it. Only an acknowledgement of the packet
                // with CWR reports another mark.
                let is_news = self.reduced_before.is_none_or(|next| self.board.first() > next.get());
                if self.connection.spreads_marks {
                    return u64::from(is_marked && !is_old);
                }
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

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::super::Setup;
    use super::super::settings::{Connection, Recovery, Terms};
    use super::*;
    use crate::transport::Sender;
    use crate::transport::messages::{Acknowledgement, Arrival};
    use crate::transport::registry::TransportSettings;
    use crate::transport::supply::Supply;
    use std::sync::Arc;

    fn tcp(settings: &str, connection: Connection) -> Tcp {
        let settings: TransportSettings = serde_json::from_str(settings).unwrap();
        let connection = Connection { recovery: Some(Recovery::Sack), ..connection };
        let connection = Arc::new(Terms::new(connection, Arc::new(settings)));
        Tcp::new(Setup { supply: Supply::Ready { length: 1000, left: 1000 }, connection, seed: 1 })
    }

    /// The acknowledgement of packet `cumulative - 1`, sent at zero, with a count of marked
    /// packets.
    fn ack(now: Time, cumulative: u64, marked: u32, marks: Marks) -> Acknowledgement {
        let arrival = Arrival { marks, ..Arrival::of(cumulative - 1, 1000, Time::ZERO) };
        Acknowledgement { cumulative, marked, ..Acknowledgement::of(now, &arrival) }
    }

    /// RFC 9768: the counter of an acknowledgement that others overtook reports no mark; the next
    /// acknowledgement reports the difference.
    #[test]
    fn the_count_of_an_overtaken_acknowledgement_is_not_a_mark() {
        for start in [0, u32::MAX - 5] {
            let mut tcp = tcp(r#"{"kind": "prague"}"#, Connection::default());
            while tcp.poll(Time::ZERO).is_some() {}
            tcp.marked = start;
            let now = Time::from_ms(100);
            let told = [(5, false), (4, true), (6, false)].map(|(count, is_old)| {
                tcp.hear_marks(now, &ack(now, 1, start.wrapping_add(count), Marks::NONE), 1, 1, is_old)
            });
            assert_eq!(told, [5, 0, 1], "{start}");
        }
    }

    /// Linux's pacing: 2 windows a round trip while cwnd < ssthresh / 2, else 1.2
    /// (tcp_update_pacing_rate()).
    #[test]
    fn the_pace_after_a_mark_and_after_a_timeout_is_as_in_linux() {
        let connection = Connection { pacing: true, initial_window: 40, ..Connection::default() };
        let mut tcp = tcp(r#"{"kind": "newreno", "ecn": true}"#, connection);
        let gain = |tcp: &Tcp| {
            let window_a_round_trip = tcp.control.window() * 8000.0 / 0.1;
            tcp.pace_of(1000).map(|rate| (rate / window_a_round_trip * 1e6).round() / 1e6)
        };
        while tcp.poll(Time::ZERO).is_some() {}
        let round = Time::from_ms(100);
        tcp.acknowledge(round, &ack(round, 1, 0, Marks::NONE));
        assert_eq!(gain(&tcp), Some(2.0), "the first slow start");
        tcp.acknowledge(round, &ack(round, 2, 1, Marks::CE));
        assert_eq!((tcp.control.threshold(), gain(&tcp)), (Some(tcp.control.window()), Some(1.2)), "a mark ends it");
        tcp.time_out(Time::from_s(3));
        assert_eq!(gain(&tcp), Some(2.0), "from 1 up to half of ssthresh");
        let now = Time::from_s(3);
        for cumulative in 3..13 {
            let answer = ack(now, cumulative, 1, Marks::NONE);
            tcp.acknowledge(now, &Acknowledgement { sent: now - round, ..answer });
        }
        assert!(tcp.control.window() >= 10.0, "{}", tcp.control.window());
        assert_eq!(gain(&tcp), Some(1.2));
    }
}
