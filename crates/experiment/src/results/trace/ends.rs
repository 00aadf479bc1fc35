//! What the sender of each flow does and hears: a packet sent, one given up, packets acknowledged.
//!
//! Seen from the packets alone. A copy is sent when it is first seen on its path. One whose number
//! is sent again is given up then, at the latest. An acknowledgement is of the packet that caused
//! it and of all that it covers.

use fairq_sched::units::Time;
use fairq_sim::segment::{Direction, Segment};
use std::collections::BTreeMap;

/// An event at a sender: a transmission or a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It sent the copy of this number, of this number of bytes.
    Sent(u64, u32),
    /// It has given up the copy of this number, and sends its packet again.
    GaveUp(u64),
    /// It heard that these copies have arrived: first and last of each run of numbers.
    Acknowledged(Vec<[u64; 2]>),
}

/// A packet of a flow: the connection it belongs to, and its number there.
type Packet = (u8, u64);

/// The sender of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sender {
    /// The number of the next copy.
    next: u64,
    /// The last copy of each packet that is not acknowledged: when it was sent, and its number.
    open: BTreeMap<Packet, (Time, u64)>,
    /// When the last copy was sent, and the packets of that time.
    last: (Time, Vec<Packet>),
    /// The events of the sender, in order.
    pub(super) ends: Vec<(Time, End)>,
}

impl Sender {
    /// A data packet is on its way.
    pub(super) fn see(&mut self, segment: &Segment) {
        if segment.direction != Direction::Forward {
            return;
        }
        let packet = (segment.incarnation, segment.sequence);
        let (last, seen) = &mut self.last;
        if segment.sent < *last || (segment.sent == *last && seen.contains(&packet)) {
            return;
        }
        if segment.sent > *last {
            (*last, _) = (segment.sent, seen.clear());
        }
        seen.push(packet);
        let number = self.next;
        self.next += 1;
        if let Some((_, before)) = self.open.insert(packet, (segment.sent, number)) {
            self.ends.push((segment.sent, End::GaveUp(before)));
        }
        self.ends.push((segment.sent, End::Sent(number, segment.length)));
    }

    /// A packet has reached the end of its path.
    pub(super) fn hear(&mut self, now: Time, segment: &Segment) {
        if segment.direction != Direction::Backward {
            return;
        }
        let of = segment.incarnation;
        let mut covered: Vec<Packet> =
            self.open.range((of, 0)..(of, segment.cumulative)).map(|(packet, _)| *packet).collect();
        covered.push((of, segment.sequence));
        let mut numbers: Vec<u64> =
            covered.iter().filter_map(|packet| self.open.remove(packet)).map(|(_, number)| number).collect();
        numbers.sort_unstable();
        let mut runs: Vec<[u64; 2]> = Vec::new();
        for number in numbers {
            match runs.last_mut() {
                Some([_, last]) if *last + 1 == number => *last = number,
                _ => runs.push([number, number]),
            }
        }
        if !runs.is_empty() {
            self.ends.push((now, End::Acknowledged(runs)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u64, sent: Time) -> Segment {
        Segment { sequence, sent, length: 1500, ..Segment::default() }
    }

    fn answer(sequence: u64, cumulative: u64) -> Segment {
        Segment { direction: Direction::Backward, sequence, cumulative, ..Segment::default() }
    }

    #[test]
    fn a_copy_is_sent_once_given_up_when_it_is_sent_again_and_acknowledged_by_what_covers_it() {
        let mut sender = Sender::default();
        let [t0, t1, t2] = [0, 10, 20].map(Time::from_ms);
        for segment in [packet(0, t0), packet(1, t0), packet(2, t0)] {
            sender.see(&segment);
            // On the next line of its path.
            sender.see(&segment);
        }
        sender.hear(t1, &answer(0, 1));
        sender.hear(t1, &answer(2, 1));
        sender.see(&packet(1, t1));
        // The first copy is late, and no new one.
        sender.see(&packet(1, t0));
        sender.hear(t2, &answer(1, 3));
        sender.hear(t2, &answer(1, 3));
        let ends = [
            (t0, End::Sent(0, 1500)),
            (t0, End::Sent(1, 1500)),
            (t0, End::Sent(2, 1500)),
            (t1, End::Acknowledged(vec![[0, 0]])),
            (t1, End::Acknowledged(vec![[2, 2]])),
            (t1, End::GaveUp(1)),
            (t1, End::Sent(3, 1500)),
            (t2, End::Acknowledged(vec![[3, 3]])),
        ];
        assert_eq!(sender.ends, ends);
    }

    #[test]
    fn an_acknowledgement_of_many_tells_runs_of_copies() {
        let mut sender = Sender::default();
        for sequence in 0..6 {
            sender.see(&packet(sequence, Time::from_ms(sequence)));
        }
        sender.hear(Time::from_ms(9), &answer(2, 0));
        sender.hear(Time::from_ms(9), &answer(5, 6));
        assert_eq!(sender.ends[7].1, End::Acknowledged(vec![[0, 1], [3, 5]]));
    }
}
