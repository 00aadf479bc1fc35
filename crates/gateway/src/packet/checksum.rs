//! The Internet checksum.
//!
//! Source: RFC 1071; pseudo headers of RFC 9293, section 3.1 (IPv4) and RFC 8200, section 8.1
//! (IPv6).

use super::{Shape, UDP, put_u16};

/// The sum of `bytes` as numbers of 16 bits, in ones' complement. An odd byte at the end is a high
/// one.
#[must_use]
pub fn sum(bytes: &[u8]) -> u16 {
    // Words of 32 bits are congruent to the sum of their halves modulo 2^16 - 1, and 2^32 of them
    // fit 64 bits.
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    let mut total: u64 = words.map(|word| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    total += u64::from(u32::from_be_bytes(last));
    fold(total)
}

/// The number of 16 bits that `total` is in ones' complement.
const fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// The sum of the pseudo header of a packet of this shape, whose transport has `length` bytes.
/// `bytes` holds the header of IP.
#[must_use]
pub fn pseudo(bytes: &[u8], shape: &Shape, length: usize) -> u16 {
    let addresses = if shape.is_v6 { 8..40 } else { 12..20 };
    let addresses = sum(bytes.get(addresses).unwrap_or_default());
    fold(u64::from(addresses) + u64::from(shape.protocol) + length as u64)
}

/// Writes the checksum of an IPv4 header anew.
pub fn write_ipv4(packet: &mut [u8]) {
    let length = packet.first().map_or(0, |first| usize::from(first & 0xf) * 4);
    put_u16(packet, 10, 0);
    if let Some(header) = packet.get(..length) {
        let sum = !sum(header);
        put_u16(packet, 10, sum);
    }
}

/// Completes a checksum whose field, `offset` behind `start`, has the sum of the pseudo header
/// only. A place outside the packet changes nothing.
pub fn complete(packet: &mut [u8], (start, offset): (u16, u16)) {
    let (start, field) = (usize::from(start), usize::from(start) + usize::from(offset));
    if let Some(covered) = packet.get(start..).filter(|covered| covered.len() >= usize::from(offset) + 2) {
        let mut sum = !sum(covered);
        // In UDP 0 is for none (RFC 768), and the same number in ones' complement is written.
        let is_udp = Shape::of(packet).is_some_and(|shape| shape.protocol == UDP && shape.transport == start);
        if is_udp && sum == 0 {
            sum = 0xffff;
        }
        put_u16(packet, field, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written plainly: pairs of bytes, a carry at a time.
    fn plain(bytes: &[u8]) -> u16 {
        let mut total: u32 = 0;
        for pair in bytes.chunks(2) {
            total += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            if total > 0xffff {
                total -= 0xffff;
            }
        }
        total as u16
    }

    #[test]
    fn the_example_of_rfc_1071() {
        // Section 3: 00 01 f2 03 f4 f5 f6 f7 sums to ddf2.
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    #[test]
    fn sums_are_those_of_a_plain_loop() {
        let mut random = fairq_testkit::mutate::Mutator::new(1);
        for length in 0..3000 {
            let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
            // Both zeros of ones' complement are one number.
            assert_eq!(sum(&bytes) % 0xffff, plain(&bytes) % 0xffff, "{length} bytes");
        }
        assert_eq!(sum(&[0xff; 65_536]), 0xffff);
    }

    #[test]
    fn a_header_of_ipv4_sums_to_all_ones() {
        // By hand: 4500 + 0073 + 4000 + 4011 + c0a8 + 0001 + c0a8 + 00c7 is 2479c, folded 479e.
        let mut header = [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
        write_ipv4(&mut header);
        assert_eq!((header[10], header[11], sum(&header)), (0xb8, 0x61, 0xffff));
    }

    #[test]
    fn places_outside_the_packet_change_nothing() {
        for place in [(0, 40), (40, 0), (19, 0), (u16::MAX, u16::MAX)] {
            let mut packet = [7; 20];
            complete(&mut packet, place);
            assert_eq!(packet, [7; 20], "{place:?}");
        }
    }
}
