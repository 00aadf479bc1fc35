//! Fast path for the common acknowledgement: in order, nothing missing, no tracker. It does a
//! subset of `acknowledge_any`, and is separate because a simulation spends a tenth of its time
//! here. The test below holds both equal.

use super::{Phase, Tcp};
use crate::transport::congestion::Acked;
use crate::transport::messages::Acknowledgement;
use fairq_sched::fast_path::{FastPath, take};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;

impl Tcp {
    /// Whether the fast path applies. The acknowledgement acknowledges packets in order that
    /// arrived in order, and reports nothing else; the sender has no tracker.
    #[inline]
    pub(super) fn takes_fast_path(&self, ack: &Acknowledgement) -> bool {
        ack.cumulative > self.board.first()
            && self.phase == Phase::Open
            && !self.is_opening
            && self.trackers.are_none()
            && self.undo.is_none()
            && self.board.is_whole()
            && ack.blocks.is_empty()
            && ack.marks == Marks::NONE
            && ack.marked == self.marked
            && self.connection.has_fast_path
    }

    /// Takes an acknowledgement to which the [fast path applies](Self::takes_fast_path), with the
    /// same effect as [`Self::acknowledge_any`].
    #[inline]
    pub(super) fn acknowledge_next(&mut self, now: Time, ack: &Acknowledgement) -> Time {
        take(FastPath::NextAcknowledgement);
        let flight = self.flight();
        let sample = now - ack.sent;
        self.note_sample(now, sample);
        let newly = self.board.advance(ack.cumulative);
        (self.has_timed_out, self.sends_now, self.duplicates) = (false, false, 0);
        if self.board.outstanding() == 0 {
            self.timer = Time::NEVER;
        } else {
            self.start_timer(now);
        }
        let acked = self.acked(now, ack, Some(sample), flight);
        self.control.acknowledged(&Acked { newly, delivered: newly, ..acked });
        sample
    }
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::super::Setup;
    use super::super::settings::{Connection, Recovery, Terms};
    use super::*;
    use crate::transport::Sender;
    use crate::transport::congestion::{Beginning, Congestion};
    use crate::transport::messages::{Arrival, Transmission};
    use crate::transport::receiver::{Receiver, Sink};
    use crate::transport::registry::{TRANSPORTS, TransportSettings};
    use crate::transport::supply::Supply;
    use fairq_sched::hash::splitmix;
    use std::collections::VecDeque;
    use std::sync::Arc;

    /// The visible state of a sender.
    fn shown(tcp: &Tcp) -> (Time, Vec<(String, u64)>) {
        let mut values = Vec::new();
        tcp.inspect(&mut |name, value| values.push((name.to_owned(), value.to_bits())));
        (tcp.deadline(), values)
    }

    fn polled(tcp: &mut Tcp, now: Time) -> Vec<Transmission> {
        std::iter::from_fn(|| tcp.poll(now)).collect()
    }

    /// Sends 3000 packets, of which one of `loses` is lost, one of 64 is marked if marks are
    /// accepted, and some acknowledgements arrive late: once by `acknowledge` and once by
    /// `acknowledge_any`. Returns how many took the fast path.
    fn compare(settings: &TransportSettings, recovery: Recovery, loses: u64, seed: u64) -> usize {
        let connection = Connection { recovery: Some(recovery), receive_window: 200, ..Connection::default() };
        let terms = Arc::new(Terms::new(connection, Arc::new(settings.clone())));
        let sender = || {
            let supply = Supply::Ready { length: 1000, left: 3000 };
            Tcp::new(Setup { supply, connection: Arc::clone(&terms), seed })
        };
        let (mut short, mut long) = (sender(), sender());
        let mut sink = Sink::new(terms.answers(recovery, short.control.ecn()));
        let mut under_way: VecDeque<(Time, Acknowledgement)> = VecDeque::new();
        let (mut now, mut state, mut fast, mut free) = (Time::ZERO, seed, 0, Time::ZERO);
        loop {
            let sent = polled(&mut short, now);
            assert_eq!(sent, polled(&mut long, now));
            for packet in sent {
                state = splitmix(state);
                if state.is_multiple_of(loses) {
                    continue;
                }
                free = free.max(now) + Time(500_000_000);
                let is_marked = state >> 20 & 63 == 0;
                let marks = if is_marked { Marks::CE.within(short.accepts().of(&packet)) } else { Marks::NONE };
                let arrival =
                    Arrival { marks, flags: packet.flags, ..Arrival::of(packet.sequence, packet.length, now) };
                let arrives = free + Time::from_ms(5);
                let late = if state >> 30 & 63 == 0 { Time::from_ms(state >> 40 & 15) } else { Time::ZERO };
                let answer = sink.receive(arrives, &arrival).1;
                under_way.extend(answer.map(|answer| (arrives + Time::from_ms(5) + late, answer)));
            }
            let next =
                under_way.iter().enumerate().min_by_key(|(_, (time, _))| *time).map(|(at, (time, _))| (at, *time));
            let deadline = short.deadline();
            match next {
                Some((at, time)) if time <= deadline => {
                    now = now.max(time);
                    if let Some((_, answer)) = under_way.remove(at) {
                        fast += usize::from(short.takes_fast_path(&answer));
                        assert_eq!(short.acknowledge(now, &answer), long.acknowledge_any(now, &answer));
                    }
                }
                _ if deadline < Time::NEVER => {
                    now = now.max(deadline);
                    short.wake(now);
                    long.wake(now);
                }
                _ => return fast,
            }
            assert_eq!(shown(&short), shown(&long), "at {now}");
        }
    }

    #[test]
    fn a_usual_acknowledgement_does_what_any_does() {
        for card in TRANSPORTS {
            let law = card.name;
            let settings: TransportSettings = serde_json::from_str(&format!(r#"{{"kind": "{law}"}}"#)).unwrap();
            // No acknowledgement is usual to a sender that measures each packet.
            let measures = |law: Box<dyn Congestion>| law.wants_rate() || law.wants_pairs().is_some();
            if settings.law(&Beginning::with_window(1.0)).is_none_or(measures) {
                continue;
            }
            for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Tahoe] {
                let fast: usize = [13, 200].map(|loses| compare(&settings, recovery, loses, loses)).iter().sum();
                assert!(fast > 1000, "{law}: only {fast} took the fast path");
            }
        }
    }
}
