//! The records of the header, and what they are in Rust.

use crate::codes::{
    FAIRQ_ERROR_ADDRESS, FAIRQ_FATE_DROPPED, FAIRQ_FATE_MARKED, FAIRQ_IPV4, FAIRQ_IPV6, FAIRQ_MAC, FAIRQ_NODE,
    FAIRQ_UNIT_BIT_PER_S, FAIRQ_UNIT_BYTES, FAIRQ_UNIT_NONE, FAIRQ_UNIT_PACKETS, FAIRQ_UNIT_SECONDS, FAIRQ_VALUE_COUNT,
    FAIRQ_VALUE_REAL,
};
use fairq_sched::packet::{Address, Fate, Header, Marks, Outcome, Packet};
use fairq_sched::reading::{Reading, Unit, Value};
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

/// `struct fairq_reading`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqReading {
    pub name: [c_char; 32],
    pub subqueue: [c_char; 64],
    pub real: f64,
    pub count: u64,
    pub flow: u32,
    pub has_flow: u8,
    pub unit: u8,
    pub kind: u8,
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
                (found.outcome, found.reason) = (FAIRQ_FATE_DROPPED, chars(reason.name()));
            }
        }
        found
    }
}

impl FairqReading {
    pub(crate) fn of(reading: &Reading<'_>) -> Self {
        let (kind, count) = match reading.value {
            Value::Count(count) => (FAIRQ_VALUE_COUNT, u64::try_from(count).unwrap_or(u64::MAX)),
            Value::Real(_) => (FAIRQ_VALUE_REAL, 0),
        };
        Self {
            name: chars(reading.name),
            subqueue: chars(reading.queue.unwrap_or_default()),
            real: reading.value.real(),
            count,
            flow: reading.flow.unwrap_or_default(),
            has_flow: reading.flow.is_some().into(),
            unit: match reading.unit {
                Unit::None => FAIRQ_UNIT_NONE,
                Unit::Packets => FAIRQ_UNIT_PACKETS,
                Unit::Bytes => FAIRQ_UNIT_BYTES,
                Unit::Seconds => FAIRQ_UNIT_SECONDS,
                Unit::BitPerS => FAIRQ_UNIT_BIT_PER_S,
            },
            kind,
        }
    }
}

/// `text` and zeros, cut between two characters so that the last place keeps its zero.
fn chars<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (place, byte) in chars.iter_mut().zip(cut(text, N - 1).bytes()) {
        *place = byte as c_char;
    }
    chars
}

/// `text` if it has at most `most` bytes, else as many of its characters as fit.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let mut length = text.len().min(most);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    &text[..length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    /// The text up to the zero.
    fn text(chars: &[c_char]) -> String {
        let bytes: Vec<u8> = chars.iter().map(|place| *place as u8).collect();
        CStr::from_bytes_until_nul(&bytes).expect("a zero").to_str().expect("whole characters").to_owned()
    }

    #[test]
    fn a_count_beyond_64_bits_is_the_greatest_and_a_long_name_is_cut() {
        let class = "é".repeat(40);
        let reading = Reading::count("backlog", Unit::Bytes, u128::MAX).of_queue(&class).of_flow(7);
        let found = FairqReading::of(&reading);
        assert_eq!((found.kind, found.count, found.real), (FAIRQ_VALUE_COUNT, u64::MAX, u128::MAX as f64));
        assert_eq!((text(&found.name).as_str(), text(&found.subqueue)), ("backlog", "é".repeat(31)));
        assert_eq!((found.unit, found.has_flow, found.flow), (FAIRQ_UNIT_BYTES, 1, 7));
    }
}
