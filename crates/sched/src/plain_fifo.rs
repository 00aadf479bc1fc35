//! First in, first out with tail drop and no marks, as a ring of its own.
//!
//! It does what the composition of `fifo` and `tail_drop` does, and is spelt out because most lines of a simulated
//! network are this: no classifier, no tags, no lists. A packet that its owner removes leaves a gap that is passed over;
//! gaps are rare and are kept apart, so that a place is a packet and nothing else.

use crate::contract::{Dequeue, Discipline, Flow, Handle, Held, Offer};
use crate::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use crate::units::{Limit, Time};
use alloc::collections::{BTreeSet, VecDeque};

/// A ring of packets and a limit.
pub struct PlainFifo {
    ring: VecDeque<Packet>,
    /// The number, counted over all packets ever held, of the first place of the ring.
    first: u64,
    /// The numbers of the places whose packets were removed.
    gaps: BTreeSet<u64>,
    /// Waiting bytes.
    bytes: u64,
    limit: Limit,
}

impl PlainFifo {
    /// Nothing waits, and at most `limit` may.
    #[must_use]
    pub const fn new(limit: Limit) -> Self {
        Self { ring: VecDeque::new(), first: 0, gaps: BTreeSet::new(), bytes: 0, limit }
    }

    fn refuses(&self, packet: &Packet) -> Option<Reason> {
        let length = u64::from(packet.length);
        match self.limit {
            Limit::Bytes(limit) if length > limit => Some(Reason::TooLong),
            limit if limit.is_exceeded_by(self.packets() + 1, self.bytes + length) => Some(Reason::BufferFull),
            _ => None,
        }
    }

    #[inline]
    fn accept(&mut self, packet: Packet, fates: &mut Fates) -> Option<Handle> {
        if let Some(reason) = self.refuses(&packet) {
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            return None;
        }
        let number = self.first + self.ring.len() as u64;
        self.bytes += u64::from(packet.length);
        self.ring.push_back(packet);
        Some(Handle { index: number as u32, generation: (number >> 32) as u32 })
    }

    fn packets(&self) -> u64 {
        (self.ring.len() - self.gaps.len()) as u64
    }

    /// Closes the gaps before the first packet that waits.
    #[cold]
    fn pass_gaps(&mut self) {
        while self.gaps.remove(&self.first) {
            self.ring.pop_front();
            self.first += 1;
        }
    }
}

impl Offer for PlainFifo {
    fn offer(&mut self, _now: Time, packet: Packet, _flow: Flow, fates: &mut Fates) -> Option<Handle> {
        self.accept(packet, fates)
    }
}

impl Discipline for PlainFifo {
    fn enqueue(&mut self, _now: Time, packet: Packet, _header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.accept(packet, fates)
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        if !self.gaps.is_empty() {
            self.pass_gaps();
        }
        let Some(packet) = self.ring.pop_front() else { return Dequeue::Empty };
        self.first += 1;
        self.bytes -= u64::from(packet.length);
        Dequeue::Send(packet)
    }

    fn held(&self) -> Held {
        Held { packets: self.packets(), bytes: self.bytes }
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<Packet> {
        let number = u64::from(handle.generation) << 32 | u64::from(handle.index);
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let packet = *self.ring.get(place)?;
        if !self.gaps.insert(number) {
            return None;
        }
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }

    fn notes_idle(&self) -> bool {
        false
    }

    fn passes_when_idle(&self) -> bool {
        match self.limit {
            Limit::Unlimited => true,
            Limit::Packets(packets) => packets > 0,
            // A packet may be longer than the buffer.
            Limit::Bytes(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::tail_drop::TailDrop;
    use crate::classify::pair::Pair;
    use crate::compose::Composition;
    use crate::contract::Line;
    use crate::hash::splitmix;
    use crate::mark::none::None as NoMarker;
    use crate::packet::Address;
    use crate::schedule::fifo::Fifo;
    use crate::units::Rate;
    use alloc::vec::Vec;

    #[test]
    fn it_answers_as_the_composition_of_its_parts() {
        let line = Line::new(Rate::MAX);
        let (source, destination) = (Address::Node(1), Address::Node(2));
        let header = Header { source, destination, protocol: 0, source_port: 0, destination_port: 0, tos: 0 };
        for limit in [Limit::Packets(3), Limit::Bytes(250), Limit::Unlimited] {
            let mut plain = PlainFifo::new(limit);
            let parts = (Pair, Fifo::new(&Default::default(), &line), TailDrop::new(&Default::default(), &line));
            let mut composed = Composition::new(parts.0, parts.1, parts.2, NoMarker, limit, &line);
            let (mut fates, mut others) = (Fates::new(), Fates::new());
            let mut handles = Vec::new();
            let mut state = 1;
            for token in 0..20_000u64 {
                state = splitmix(state);
                let now = Time(token);
                match state % 5 {
                    0 | 1 => {
                        let packet = Packet::new(token, now, 40 + (state >> 8) as u32 % 260);
                        let pair = (
                            plain.enqueue(now, packet, &header, &mut fates),
                            composed.enqueue(now, packet, &header, &mut others),
                        );
                        assert_eq!(pair.0.is_some(), pair.1.is_some());
                        handles.push(pair);
                    }
                    2 | 3 => assert_eq!(plain.dequeue(now, &mut fates), composed.dequeue(now, &mut others)),
                    _ => {
                        // A handle may be long out of date.
                        let old = handles.len().saturating_sub(1 + (state >> 8) as usize % 8);
                        if let Some((Some(mine), Some(theirs))) = handles.get(old) {
                            assert_eq!(plain.remove(now, *mine), composed.remove(now, *theirs));
                        }
                    }
                }
                assert_eq!(plain.held(), composed.held());
                assert_eq!(fates, others);
            }
        }
    }
}
