//! Packets in the network: plain records in an arena, named by their index in it.

use fairq_sched::packet::{Marks, Packet};
use fairq_sched::prefetch;
use fairq_sched::units::Time;

/// A packet's direction along its flow's path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Data, from the source.
    #[default]
    Forward,
    /// Acknowledgements, back to it.
    Backward,
}

/// The marks that a packet may be given and those that it was given, in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marking(u8);

impl Marking {
    /// The marks `accepts` may be given, `marks` were.
    #[must_use]
    #[inline]
    pub const fn new(accepts: Marks, marks: Marks) -> Self {
        Self(accepts.0 << 4 | marks.0)
    }

    /// The marks that it may be given.
    #[must_use]
    #[inline]
    pub const fn accepts(self) -> Marks {
        Marks(self.0 >> 4)
    }

    /// The marks that it was given; in an acknowledgement, those of the packet that it
    /// acknowledges.
    #[must_use]
    #[inline]
    pub const fn marks(self) -> Marks {
        Marks(self.0 & 15)
    }
}

/// A packet on its way; one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Segment {
    /// Its flow's number.
    pub flow: u32,
    /// Where its path goes on after the line that it is on or waits for (`Paths`).
    pub place: u32,
    /// The number of the line there, or [`HOST`](crate::net::path::HOST) plus the number of its flow.
    pub next: u32,
    /// Its direction.
    pub direction: Direction,
    /// How many connections its flow has had before the one that it belongs to, from 255 on again
    /// from 0.
    pub incarnation: u8,
    /// The marks that it may be given, and those that it was given.
    pub marking: Marking,
    /// The label that gateways write and read; 0 is none.
    pub label: u32,
    /// Bytes on the line.
    pub length: u32,
    /// The data packet's number; in an acknowledgement, the number of the packet that caused it.
    pub sequence: u64,
    /// In an acknowledgement: the number of the packet that is expected next. In a packet of a
    /// layered session: its layer. In a data packet of a flow: its deadline in picoseconds, 0 if it
    /// has none.
    pub cumulative: u64,
    /// When this copy of the data packet was sent; an acknowledgement echoes it.
    pub sent: Time,
    /// In an acknowledgement: when the packet that caused it arrived. In a data packet: the round
    /// trip that the sender reports to the receiver, zero if none.
    pub received: Time,
    /// In an acknowledgement: packets with a CE mark that the receiver has seen. In a data packet:
    /// the bytes that remain of its transfer, where a line on its path uses them.
    pub marked: u32,
    /// The flags of the transport's header.
    pub flags: u8,
    /// The number of a further report of the transport, which the sending side keeps; 0: none.
    pub report: u32,
}

const _: () = assert!(size_of::<Segment>() == 64);

impl Segment {
    /// The number of packets that are offered by hand: their transport hears nothing of them.
    pub const OFFERED: u64 = u64::MAX;

    /// Its type-of-service byte, given that of its flow. Without an ECN field if the packet does
    /// not accept CE; with CE if it was given that (RFC 3168, section 5). An acknowledgement
    /// accepts no mark: CE among its marks is an echo.
    #[must_use]
    #[inline]
    pub const fn tos(&self, of_flow: u8) -> u8 {
        match (self.marking.accepts().intersects(Marks::CE), self.marking.marks().intersects(Marks::CE)) {
            (false, _) => of_flow & !3,
            (true, false) => of_flow,
            (true, true) => of_flow | 3,
        }
    }

    /// The deadline of a data packet of a flow; [`Time::NEVER`] if it has none.
    #[must_use]
    pub const fn due(&self) -> Time {
        if self.cumulative == 0 { Time::NEVER } else { Time(self.cumulative) }
    }
}

/// A packet's id and where it goes on ([`Segment::next`]), in one word. These are needed first of a
/// packet that has waited or flown; the segment itself has left the caches by then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Token(pub u64);

impl Token {
    /// The token of the packet `id`, which goes on to `next`.
    #[must_use]
    #[inline]
    pub const fn new(id: u32, next: u32) -> Self {
        Self(id as u64 | (next as u64) << 32)
    }

    /// The packet's id.
    #[must_use]
    #[inline]
    pub const fn id(self) -> u32 {
        self.0 as u32
    }

    /// Where the packet goes on.
    #[must_use]
    #[inline]
    pub const fn next(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// All packets in the network.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    segments: Vec<Segment>,
    free: Vec<u32>,
}

impl Arena {
    /// Keeps `segment` and returns its id. Inlined where the segment is made, so that its fields
    /// are written in place. A copy, sixteen bytes at a time, would wait for the narrower stores
    /// before it (store forwarding).
    #[inline(always)]
    pub fn keep(&mut self, segment: Segment) -> u32 {
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.grow(),
        };
        self.segments[id as usize] = segment;
        id
    }

    /// Adds a place and returns its id.
    #[cold]
    fn grow(&mut self) -> u32 {
        self.segments.push(Segment::default());
        (self.segments.len() - 1) as u32
    }

    /// Notes the marks and the label that gateways wrote on a packet which leaves a discipline;
    /// returns its id. Gateways never remove what another wrote. So a packet without marks and
    /// label is unchanged and its segment need not be loaded.
    #[inline]
    pub fn note(&mut self, packet: &Packet) -> u32 {
        let id = packet.token as u32;
        if packet.marks != Marks::NONE || packet.label != 0 {
            let segment = &mut self.segments[id as usize];
            segment.marking = Marking::new(segment.marking.accepts(), packet.marks);
            segment.label = packet.label;
        }
        let (marks, label) = (self[id].marking.marks(), self[id].label);
        debug_assert_eq!((marks, label), (packet.marks, packet.label), "something was taken away");
        id
    }

    /// Frees the segment called `id` and returns it.
    #[inline(always)]
    pub fn release(&mut self, id: u32) -> Segment {
        self.free.push(id);
        self.segments[id as usize]
    }

    /// Prefetches the segment called `id`.
    #[inline(always)]
    pub fn fetch(&self, id: u32) {
        prefetch::fetch(&self.segments, id);
    }

    /// The segment called `id`, or the last that had that name.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Segment> {
        self.segments.get(id as usize)
    }

    /// The number of segments that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.len() - self.free.len()
    }

    /// Whether no segment is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl core::ops::Index<u32> for Arena {
    type Output = Segment;
    fn index(&self, id: u32) -> &Segment {
        &self.segments[id as usize]
    }
}

impl core::ops::IndexMut<u32> for Arena {
    fn index_mut(&mut self, id: u32) -> &mut Segment {
        &mut self.segments[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_has_the_ecn_field_of_the_packet_and_the_dscp_of_the_flow() {
        for (of_flow, accepts, marks, seen) in [
            (0xb9, Marks::CE, Marks::NONE, 0xb9),
            (0xb9, Marks::CE, Marks::CE, 0xbb),
            (0xba, Marks::NONE, Marks::NONE, 0xb8),
            // An acknowledgement that echoes a mark was not marked itself.
            (0xba, Marks::NONE, Marks::CE, 0xb8),
            (0xb8, Marks::DEC, Marks::DEC, 0xb8),
        ] {
            let segment = Segment { marking: Marking::new(accepts, marks), ..Segment::default() };
            assert_eq!(segment.tos(of_flow), seen, "{of_flow:x} {accepts:?} {marks:?}");
        }
    }
}
