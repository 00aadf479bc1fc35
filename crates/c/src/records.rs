//! The records of the header, and what they are in Rust.

use crate::codes::{
    FAIRQ_ERROR_ADDRESS, FAIRQ_FATE_DROPPED, FAIRQ_FATE_MARKED, FAIRQ_IPV4, FAIRQ_IPV6, FAIRQ_MAC, FAIRQ_NODE,
};
use fairq_sched::packet::{Address, Fate, Header, Marks, Outcome, Packet};
use fairq_sched::units::Time;
use std::ffi::{c_char, c_int};

/// `struct fairq_address`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqAddress {
    pub kind: u8,
    pub bytes: [u8; 16],
}

/// `struct fairq_header`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqHeader {
    pub source: FairqAddress,
    pub destination: FairqAddress,
    pub protocol: u16,
    pub source_port: u16,
    pub destination_port: u16,
    pub tos: u8,
}

/// `struct fairq_packet`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqPacket {
    pub token: u64,
    pub arrival_ps: u64,
    pub deadline_ps: u64,
    pub length: u32,
    pub remaining: u32,
    pub marks: u8,
    pub accepts: u8,
    pub tos: u8,
}

/// `struct fairq_fate`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqFate {
    pub packet: FairqPacket,
    pub outcome: u8,
    pub marks: u8,
    pub reason: [c_char; 30],
}

/// `struct fairq_weight`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqWeight {
    pub header: FairqHeader,
    pub thousandths: u32,
}

/// `struct fairq_line`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqLine {
    pub bit_per_s: u64,
    pub seed: u64,
    pub weights: *const FairqWeight,
    pub weights_count: usize,
}

impl FairqAddress {
    fn address(&self) -> Result<Address, c_int> {
        let [a, b, c, d, e, f, ..] = self.bytes;
        match self.kind {
            FAIRQ_NODE => Ok(Address::Node(u32::from_be_bytes([a, b, c, d]))),
            FAIRQ_IPV4 => Ok(Address::V4([a, b, c, d])),
            FAIRQ_IPV6 => Ok(Address::V6(self.bytes)),
            FAIRQ_MAC => Ok(Address::Mac([a, b, c, d, e, f])),
            _ => Err(FAIRQ_ERROR_ADDRESS),
        }
    }
}

impl FairqHeader {
    pub(crate) fn header(&self) -> Result<Header, c_int> {
        Ok(Header {
            source: self.source.address()?,
            destination: self.destination.address()?,
            protocol: self.protocol,
            source_port: self.source_port,
            destination_port: self.destination_port,
            tos: self.tos,
        })
    }
}

impl FairqPacket {
    pub(crate) const fn packet(&self, now: Time) -> Packet {
        let mut packet = Packet::new(self.token, now, self.length);
        if self.deadline_ps != 0 {
            packet.deadline = Time(self.deadline_ps);
        }
        packet.remaining = self.remaining;
        packet.marks = Marks(self.marks);
        packet.accepts = Marks(self.accepts);
        packet.tos = self.tos;
        packet
    }

    pub(crate) fn of(packet: &Packet) -> Self {
        Self {
            token: packet.token,
            arrival_ps: packet.arrival.0,
            deadline_ps: if packet.deadline == Time::NEVER { 0 } else { packet.deadline.0 },
            length: packet.length,
            remaining: packet.remaining,
            marks: packet.marks.0,
            accepts: packet.accepts.0,
            tos: packet.tos,
        }
    }
}

impl FairqFate {
    pub(crate) fn of(fate: &Fate) -> Self {
        let mut found = Self { packet: FairqPacket::of(&fate.packet), ..Self::default() };
        match fate.outcome {
            Outcome::Marked(marks) => (found.outcome, found.marks) = (FAIRQ_FATE_MARKED, marks.0),
            Outcome::Dropped(reason) => {
                found.outcome = FAIRQ_FATE_DROPPED;
                // The last place keeps its zero.
                let places = found.reason.len() - 1;
                for (place, byte) in found.reason[..places].iter_mut().zip(reason.name().bytes()) {
                    *place = byte as c_char;
                }
            }
        }
        found
    }
}
