//! The header that stands before a packet on devices with offloads.
//!
//! Source: virtio 1.2, section 5.1.6 (`struct virtio_net_hdr` without the number of buffers), in
//! the byte order of the machine, as Linux' TUN and packet sockets have it.

use crate::device::{Offload, Segments};

/// Its bytes.
pub const LENGTH: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const ONE: u8 = 0;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP_SEGMENTS: u8 = 5;
/// Beside the kind of TCP: its segments carry CWR on the first one only.
const ECN: u8 = 0x80;

/// What `header` says; `None` if it names a kind of segments that was never asked for.
#[must_use]
pub fn read(header: [u8; LENGTH]) -> Option<Offload> {
    let [flags, kind, _, _, rest @ ..] = header;
    let word = |at: usize| u16::from_ne_bytes([rest[at], rest[at + 1]]);
    let segments = match kind & !ECN {
        ONE => Segments::One,
        TCP_V4 | TCP_V6 => Segments::Tcp,
        UDP_SEGMENTS => Segments::Udp,
        _ => return None,
    };
    let checksum = (flags & NEEDS_CHECKSUM != 0).then(|| (word(2), word(4)));
    Some(Offload { segments, segment: word(0), checksum })
}

/// The header before `packet`.
#[must_use]
pub fn written(packet: &[u8], offload: &Offload) -> [u8; LENGTH] {
    let mut header = [0; LENGTH];
    if let Some((start, offset)) = offload.checksum {
        header[0] = NEEDS_CHECKSUM;
        header[6..8].copy_from_slice(&start.to_ne_bytes());
        header[8..10].copy_from_slice(&offset.to_ne_bytes());
    }
    if offload.segments != Segments::One {
        let is_v6 = packet.first().is_some_and(|first| first >> 4 == 6);
        header[1] = match offload.segments {
            Segments::Udp => UDP_SEGMENTS,
            _ if is_v6 => TCP_V6,
            _ => TCP_V4,
        };
        let headers = super::Shape::of(packet).map_or(0, |shape| shape.payload as u16);
        header[2..4].copy_from_slice(&headers.to_ne_bytes());
        header[4..6].copy_from_slice(&offload.segment.to_ne_bytes());
    }
    header
}
