//! First in, first out with tail drop and no marks, as a ring of its own.
//!
//! It does what the composition of `fifo` and `tail_drop` does, and is spelt out because most lines
//! of a simulated network are this: no classifier, no tags, no lists. A packet that its owner
//! removes leaves a gap that is passed over; gaps are rare and are kept apart, so that a place is a
//! packet and nothing else.

use crate::change::{Change, Unsupported};
use crate::contract::{Dequeue, Discipline, Handle, Held};
use crate::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use crate::reading::no_readings;
use crate::traits::Traits;
use crate::units::{Limit, Time};
use crate::waiting::{ARRIVAL, Decision, Stamps, Waiting};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// A ring of packets and a limit.
pub struct PlainFifo {
    /// The ring: its capacity is zero or a power of two; packet *n* stands at `n & mask`.
    places: Vec<Packet>,
    /// The number, counted over all packets ever held, of the first packet in the ring, and of the
    /// next one to come.
    first: u64,
    next: u64,
    /// The numbers of the places whose packets were removed.
    gaps: BTreeSet<u64>,
    /// Waiting bytes.
    bytes: u64,
    limit: Limit,
    /// The limit in packets and in bytes; in the unit in which it is not there is none.
    packets_max: u64,
    bytes_max: u64,
    /// As long as fewer places are in use there is one more, and the limit lets it be used.
    in_use_max: u64,
    /// The step of the card that sends.
    step: Option<u8>,
}

impl PlainFifo {
    /// Nothing waits, and at most `limit` may.
    #[must_use]
    pub const fn new(limit: Limit) -> Self {
        Self {
            places: Vec::new(),
            first: 0,
            next: 0,
            gaps: BTreeSet::new(),
            bytes: 0,
            limit,
            packets_max: limit.packets(),
            bytes_max: limit.bytes(),
            in_use_max: 0,
            step: None,
        }
    }

    /// This ring for a discipline whose card sends in this step.
    #[must_use]
    pub fn in_step(self, step: u8) -> Self {
        Self { step: Some(step), ..self }
    }

    #[inline]
    fn has_room_for(&self, length: u32) -> bool {
        self.packets() < self.packets_max && self.bytes + u64::from(length) <= self.bytes_max
    }

    #[cold]
    fn refuse(&self, packet: &Packet, fates: &mut Fates) {
        let is_too_long = u64::from(packet.length) > self.bytes_max;
        let reason = if is_too_long { Reason::TooLong } else { Reason::BufferFull };
        fates.push(Fate { packet: *packet, outcome: Outcome::Dropped(reason) });
    }

    #[inline(always)]
    fn accept(&mut self, packet: &Packet, fates: &mut Fates) -> Option<Handle> {
        let is_within = self.bytes + u64::from(packet.length) <= self.bytes_max;
        if self.next - self.first >= self.in_use_max || !is_within {
            return self.accept_if_possible(packet, fates);
        }
        Some(self.append(packet))
    }

    /// Puts the packet into the next place, which there is.
    #[inline(always)]
    fn append(&mut self, packet: &Packet) -> Handle {
        let number = self.next;
        let place = self.place(number);
        self.places[place].copy_by_fields(packet);
        self.next = number + 1;
        self.bytes += u64::from(packet.length);
        Handle::from_bits(number)
    }

    /// Makes a place for the packet if the limit lets it in.
    #[cold]
    #[inline(never)]
    fn accept_if_possible(&mut self, packet: &Packet, fates: &mut Fates) -> Option<Handle> {
        if !self.has_room_for(packet.length) {
            self.refuse(packet, fates);
            return None;
        }
        if self.next - self.first == self.places.len() as u64 {
            self.grow();
        }
        Some(self.append(packet))
    }

    fn packets(&self) -> u64 {
        self.next - self.first - self.gaps.len() as u64
    }

    /// Where the packet of this number stands.
    #[inline]
    fn place(&self, number: u64) -> usize {
        number as usize & (self.places.len().wrapping_sub(1))
    }

    /// Twice as many places.
    #[cold]
    fn grow(&mut self) {
        const PLACES_MIN: usize = 4;
        let length = (2 * self.places.len()).max(PLACES_MIN);
        let mut places = alloc::vec![Packet::new(0, Time::ZERO, 0); length];
        for number in self.first..self.next {
            places[number as usize & (length - 1)] = self.places[self.place(number)];
        }
        self.places = places;
        self.in_use_max = self.packets_max.min(length as u64);
    }

    /// Closes the gaps before the first packet that waits, and sends it.
    #[cold]
    #[inline(never)]
    fn send_past_gaps(&mut self) -> Dequeue {
        while self.gaps.remove(&self.first) {
            self.first += 1;
        }
        self.send()
    }

    #[inline(always)]
    fn send(&mut self) -> Dequeue {
        if self.first == self.next {
            return Dequeue::Empty;
        }
        let packet = &self.places[self.place(self.first)];
        self.first += 1;
        self.bytes -= u64::from(packet.length);
        Dequeue::Send(*packet)
    }
}

impl Discipline for PlainFifo {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits {
            bypass: if self.packets_max > 0 { u32::try_from(self.bytes_max).unwrap_or(u32::MAX) } else { 0 },
            fifo: Some(self.limit),
            ..Traits::PLAIN
        }
    }

    fn enqueue(&mut self, _now: Time, packet: Packet, _header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.accept(&packet, fates)
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        if self.gaps.is_empty() { self.send() } else { self.send_past_gaps() }
    }

    fn held(&self) -> Held {
        Held { packets: self.packets(), bytes: self.bytes }
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        let Change::Limit(limit) = *change else { return change.not_used() };
        (self.limit, self.packets_max, self.bytes_max) = (limit, limit.packets(), limit.bytes());
        self.in_use_max = self.packets_max.min(self.places.len() as u64);
        Ok(())
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<Packet> {
        let number = handle.to_bits();
        if !(self.first..self.next).contains(&number) || !self.gaps.insert(number) {
            return None;
        }
        let packet = self.places[self.place(number)];
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }

    no_readings!();

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        for number in (self.first..self.next).filter(|number| !self.gaps.contains(number)) {
            visit(Waiting { packet: &self.places[self.place(number)], queue: 0, stamps: Stamps::NONE });
        }
    }

    fn decision(&self) -> Option<Decision> {
        Some(Decision { step: self.step, ..Decision::by(ARRIVAL, 0) })
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
