//! Consecutive segments of a TCP connection as one packet that its host cuts no more: the reverse
//! of [`Cut`](super::cut::Cut), and no more than that. What is cut again is the same, byte for
//! byte.
//!
//! Only segments whose checksum is partial are joined. One that has its own was computed by its
//! sender, and the receiver is to see it.

use super::checksum::write_ipv4;
use super::cut::finish;
use super::{ACK, CWR, FIN, PSH, Shape, TCP, u16_at, u32_at};
use crate::device::{Offload, Segments};

/// The greatest length of an IP packet.
const LENGTH_MAX: usize = 65_535;

/// The packet in the making.
#[derive(Debug, Default)]
pub struct Join {
    bytes: Vec<u8>,
    offload: Offload,
    shape: Option<Shape>,
    /// Bytes of data of each segment but the last.
    segment: usize,
    count: u32,
    /// Whether another may follow.
    is_open: bool,
}

impl Join {
    /// Begins with `packet`.
    pub fn begin(&mut self, packet: &[u8], offload: &Offload) {
        self.bytes.clear();
        self.bytes.extend_from_slice(packet);
        self.offload = *offload;
        self.count = 1;
        self.shape = Shape::of(packet).filter(|shape| is_joinable(packet, shape, offload));
        self.segment = self.shape.map_or(0, |shape| shape.data() as usize);
        self.is_open = self.shape.is_some_and(|shape| flags(packet, &shape) & (FIN | PSH) == 0);
    }

    /// Appends `packet` if it is the next segment; whether it was.
    pub fn append(&mut self, packet: &[u8], offload: &Offload) -> bool {
        let (Some(first), true) = (self.shape, self.is_open) else { return false };
        let Some(shape) = Shape::of(packet).filter(|shape| is_joinable(packet, shape, offload)) else { return false };
        let data = shape.data() as usize;
        let fits = data <= self.segment && self.bytes.len() + data <= LENGTH_MAX;
        let is_alike = (shape.transport, shape.payload) == (first.transport, first.payload);
        if !fits || !is_alike || !self.is_next(packet, &first) {
            return false;
        }
        let flags = flags(packet, &shape);
        self.bytes.extend_from_slice(&packet[shape.payload..shape.end]);
        // Those that only the last segment may have.
        self.bytes[first.transport + 13] |= flags & (FIN | PSH);
        self.count += 1;
        self.is_open = data == self.segment && flags & (FIN | PSH) == 0;
        true
    }

    /// Whether the headers of `packet` are those that cutting gives the next segment.
    fn is_next(&self, packet: &[u8], first: &Shape) -> bool {
        let Shape { is_v6, transport: at, payload, .. } = *first;
        let (mine, theirs) = (&self.bytes[..payload], &packet[..payload]);
        // IP but for the length, the identification and the checksum of IPv4.
        let fields: &[(usize, usize)] = if is_v6 { &[(0, 4), (6, at)] } else { &[(0, 2), (6, 10), (12, at)] };
        let has_id = || u16_at(theirs, 4) == u16_at(mine, 4).map(|id| id.wrapping_add(self.count as u16));
        let done = (self.bytes.len() - payload) as u32;
        let has_number = || u32_at(theirs, at + 4) == u32_at(mine, at + 4).map(|number| number.wrapping_add(done));
        // TCP but for the number, the flags of one segment and the checksum.
        let of_one = CWR | FIN | PSH;
        let has_flags = || mine[at + 13] & !of_one == theirs[at + 13] & !of_one && theirs[at + 13] & CWR == 0;
        let rest: [(usize, usize); 4] = [(at, at + 4), (at + 8, at + 13), (at + 14, at + 16), (at + 18, payload)];
        fields.iter().chain(&rest).all(|(from, to)| mine[*from..*to] == theirs[*from..*to])
            && (is_v6 || has_id())
            && has_number()
            && has_flags()
    }

    /// How many segments it has.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The packet.
    pub fn finish(&mut self) -> (&[u8], Offload) {
        if let (Some(shape), Some(checksum), true) = (self.shape, self.offload.checksum, self.count > 1) {
            finish(&mut self.bytes, &shape, checksum);
            if !shape.is_v6 {
                write_ipv4(&mut self.bytes);
            }
            self.offload = Offload { segments: Segments::Tcp, segment: self.segment as u16, checksum: Some(checksum) };
        }
        (&self.bytes, self.offload)
    }
}

fn flags(packet: &[u8], shape: &Shape) -> u8 {
    packet.get(shape.transport + 13).copied().unwrap_or_default()
}

/// Whether it is a segment of data without a flag that means more than data.
fn is_joinable(packet: &[u8], shape: &Shape, offload: &Offload) -> bool {
    // ECE is of a connection's state and the same in all.
    const ECE: u8 = 0x40;
    let plain = flags(packet, shape) & !(FIN | PSH | CWR | ECE) == ACK;
    let place = (shape.transport as u16, 16);
    shape.protocol == TCP
        && shape.fragment.is_none()
        && shape.end == packet.len()
        && shape.data() > 0
        && plain
        && *offload == (Offload { segments: Segments::One, segment: 0, checksum: Some(place) })
}
