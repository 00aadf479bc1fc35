//! The header before a packet that says how it is to be cut: `virtio_net_hdr`, as TUN devices and
//! packet sockets of Linux have it, ten bytes in the machine's order.
//!
//! Source: the virtio specification 1.2, section 5.1.6; `include/uapi/linux/virtio_net.h`.

use crate::device::{Offload, Segments};

/// Bytes of the header.
pub(crate) const LENGTH: usize = 10;

/// The checksum is to be completed.
const NEEDS_CHECKSUM: u8 = 1;
/// Kinds of segments.
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
/// Beside a kind: some segment has CWR; it is the first.
const ECN: u8 = 0x80;

/// What the header says of a packet that has `link` bytes of a link header before it. `None`: its
/// kind of segments is not known.
pub(crate) fn read(header: [u8; LENGTH], link: u16) -> Option<Offload> {
    let [flags, kind, _, _, size_a, size_b, start_a, start_b, offset_a, offset_b] = header;
    let segments = match kind & !ECN {
        0 => Segments::One,
        TCP4 | TCP6 => Segments::Tcp,
        UDP => Segments::Udp,
        _ => return None,
    };
    let start = u16::from_ne_bytes([start_a, start_b]);
    let checksum = if flags & NEEDS_CHECKSUM == 0 {
        None
    } else {
        Some((start.checked_sub(link)?, u16::from_ne_bytes([offset_a, offset_b])))
    };
    Some(Offload { segments, segment: u16::from_ne_bytes([size_a, size_b]), checksum })
}

/// The header of `packet`, before which `link` bytes of a link header go.
pub(crate) fn write(packet: &[u8], offload: &Offload, link: u16) -> [u8; LENGTH] {
    let mut header = [0; LENGTH];
    if let Some((start, offset)) = offload.checksum {
        header[0] = NEEDS_CHECKSUM;
        header[6..8].copy_from_slice(&(start.saturating_add(link)).to_ne_bytes());
        header[8..10].copy_from_slice(&offset.to_ne_bytes());
    }
    if offload.segments == Segments::One {
        return header;
    }
    let is_version_6 = packet.first().is_some_and(|first| first >> 4 == 6);
    header[1] = match offload.segments {
        Segments::Udp => UDP,
        _ if is_version_6 => TCP6,
        _ => TCP4,
    };
    let headers = headers(packet, offload).saturating_add(link);
    header[2..4].copy_from_slice(&headers.to_ne_bytes());
    header[4..6].copy_from_slice(&offload.segment.to_ne_bytes());
    header
}

/// Bytes before the payload; 0, which the kernel takes for unknown, if they cannot be told.
fn headers(packet: &[u8], offload: &Offload) -> u16 {
    let Some((start, _)) = offload.checksum else { return 0 };
    let own = match offload.segments {
        Segments::Tcp => packet.get(usize::from(start) + 12).map_or(0, |word| u16::from(word >> 4) * 4),
        _ => 8,
    };
    let all = start.saturating_add(own);
    if usize::from(all) <= packet.len() { all } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP header over IPv4, with a payload of 3000 bytes.
    fn packet() -> Vec<u8> {
        let mut packet = vec![0; 20 + 32 + 3000];
        packet[0] = 0x45;
        packet[20 + 12] = 8 << 4;
        packet
    }

    #[test]
    fn what_was_written_is_read_with_and_without_a_link_header() {
        let offload = Offload { segments: Segments::Tcp, segment: 1448, checksum: Some((20, 16)) };
        for link in [0, 14] {
            assert_eq!(read(write(&packet(), &offload, link), link), Some(offload));
        }
        assert_eq!(read(write(&packet(), &Offload::default(), 14), 14), Some(Offload::default()));
    }

    #[test]
    fn the_length_of_the_headers_is_that_of_all_of_them() {
        let offload = Offload { segments: Segments::Tcp, segment: 1448, checksum: Some((20, 16)) };
        let header = write(&packet(), &offload, 14);
        assert_eq!(u16::from_ne_bytes([header[2], header[3]]), 14 + 20 + 32);
        let udp = Offload { segments: Segments::Udp, ..offload };
        let header = write(&packet(), &udp, 0);
        assert_eq!(u16::from_ne_bytes([header[2], header[3]]), 20 + 8);
    }

    #[test]
    fn kinds_by_family_and_with_a_reduced_window() {
        let mut packet = packet();
        let offload = Offload { segments: Segments::Tcp, segment: 1428, checksum: Some((40, 16)) };
        assert_eq!(write(&packet, &offload, 0)[1], TCP4);
        packet[0] = 0x60;
        let mut header = write(&packet, &offload, 0);
        assert_eq!(header[1], TCP6);
        header[1] |= ECN;
        assert_eq!(read(header, 0), Some(offload));
    }

    #[test]
    fn an_unknown_kind_or_a_checksum_inside_the_link_header_is_refused() {
        assert_eq!(read([0, 3, 0, 0, 0, 0, 0, 0, 0, 0], 0), None);
        assert_eq!(read([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 14), None);
    }
}
