//! A packet that a host left to be segmented, as the packets that it stands for.
//!
//! Source: what Linux does without such a device (`tcp_gso_segment`, `udp_gso_segment`): numbers of
//! TCP grow by the data before, FIN and PSH are of the last segment, CWR of the first (RFC 3168,
//! section 6.1.2), identifications of IPv4 grow by one. Checksums of transports stay partial: the
//! kernel that takes them adds nothing up that never left the machine.

use super::checksum::{pseudo, write_ipv4};
use super::{CWR, FIN, PSH, Shape, TCP, UDP, put_u16, put_u32, u16_at, u32_at};
use crate::device::{Offload, Segments};

/// Segments of a packet at most: Linux sends none shorter than 48 bytes (`tcp_min_snd_mss`), and
/// 1365 of them fill a packet. A host that asks for more would have the gateway work for it alone.
const SEGMENTS_MAX: usize = 2048;

/// The segments of one packet, one after the other.
#[derive(Clone, Debug)]
pub struct Cut<'a> {
    packet: &'a [u8],
    shape: Shape,
    /// Bytes of data of a segment.
    segment: usize,
    /// Where the data of the next one begin.
    next: usize,
    /// How many were given.
    count: u16,
    /// Where the checksum is to be completed.
    checksum: (u16, u16),
}

impl<'a> Cut<'a> {
    /// Cuts `packet` as `offload` says; `None` if it is not of that kind.
    #[must_use]
    pub fn new(packet: &'a [u8], shape: &Shape, offload: &Offload) -> Option<Self> {
        let (protocol, field) = match offload.segments {
            Segments::One => return None,
            Segments::Tcp => (TCP, 16),
            Segments::Udp => (UDP, 6),
        };
        let segments = (shape.data() as usize).checked_div(offload.segment.into()).unwrap_or(usize::MAX);
        let has_data = shape.payload < shape.end && segments <= SEGMENTS_MAX;
        let checksum = (u16::try_from(shape.transport).ok()?, field);
        let packet = packet.get(..shape.end)?;
        (shape.protocol == protocol && shape.fragment.is_none() && has_data).then(|| Self {
            packet,
            shape: *shape,
            segment: offload.segment.into(),
            next: shape.payload,
            count: 0,
            checksum,
        })
    }

    /// Puts the next segment into `out`, which is emptied before. `None` after the last.
    pub fn next_into(&mut self, out: &mut Vec<u8>) -> Option<Offload> {
        let Shape { is_v6, transport, payload, end, .. } = self.shape;
        if self.next >= end {
            return None;
        }
        let until = (self.next + self.segment).min(end);
        let (is_first, is_last) = (self.next == payload, until == end);
        out.clear();
        out.extend_from_slice(&self.packet[..payload]);
        out.extend_from_slice(&self.packet[self.next..until]);
        let length = out.len();
        if self.shape.protocol == TCP {
            let done = (self.next - payload) as u32;
            let number = u32_at(out, transport + 4)?.wrapping_add(done);
            put_u32(out, transport + 4, number);
            let mut flags = out[transport + 13];
            if !is_last {
                flags &= !(FIN | PSH);
            }
            if !is_first {
                flags &= !CWR;
            }
            out[transport + 13] = flags;
        } else {
            put_u16(out, transport + 4, (length - transport) as u16);
        }
        finish(out, &self.shape, self.checksum);
        if !is_v6 {
            let id = u16_at(out, 4)?.wrapping_add(self.count);
            put_u16(out, 4, id);
            write_ipv4(out);
        }
        (self.next, self.count) = (until, self.count.wrapping_add(1));
        Some(Offload { segments: Segments::One, segment: 0, checksum: Some(self.checksum) })
    }
}

/// Writes the length of IP, and the sum of the pseudo header, of a packet of this shape that `out`
/// is. The header checksum of IPv4 is the caller's.
pub(super) fn finish(out: &mut [u8], shape: &Shape, checksum: (u16, u16)) {
    let length = out.len();
    if shape.is_v6 {
        put_u16(out, 4, (length - 40) as u16);
    } else {
        put_u16(out, 2, length as u16);
    }
    let sum = pseudo(out, shape, length - shape.transport);
    put_u16(out, usize::from(checksum.0) + usize::from(checksum.1), sum);
}
