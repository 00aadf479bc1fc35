//! Captures of a few packets, made byte by byte, in every format that is read.

/// The byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    pub(crate) fn u16(self, value: u16) -> [u8; 2] {
        if self == Self::Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(crate) fn u32(self, value: u32) -> [u8; 4] {
        if self == Self::Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(crate) fn u32s(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| self.u32(*value)).collect()
    }
}

/// The header of a pcap file; `magic` tells microseconds or nanoseconds.
pub(crate) fn pcap(order: Order, magic: u32, link_type: u32) -> Vec<u8> {
    let version = [order.u16(2), order.u16(4)].concat();
    [order.u32(magic).to_vec(), version, order.u32s(&[0, 0, 65535, link_type])].concat()
}

/// A record of a pcap file.
pub(crate) fn pcap_record(order: Order, [seconds, fraction]: [u32; 2], original: u32, data: &[u8]) -> Vec<u8> {
    [order.u32s(&[seconds, fraction, data.len() as u32, original]), data.to_vec()].concat()
}

/// A block of a pcapng file.
pub(crate) fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let length = order.u32((body.len() + padding.len() + 12) as u32);
    [&order.u32(kind), &length[..], body, &padding, &length].concat()
}

/// A section header.
pub(crate) fn section(order: Order) -> Vec<u8> {
    let body = [order.u32(0x1a2b_3c4d).to_vec(), order.u16(1).to_vec(), order.u16(0).to_vec(), vec![0xff; 8]];
    block(order, 0x0a0d_0d0a, &body.concat())
}

/// An interface description with options that are given as code and value.
pub(crate) fn interface(order: Order, link_type: u16, snap_length: u32, options: &[(u16, &[u8])]) -> Vec<u8> {
    let mut body = [order.u16(link_type).to_vec(), vec![0, 0], order.u32(snap_length).to_vec()].concat();
    for (code, value) in options {
        body.extend([order.u16(*code), order.u16(value.len() as u16)].concat());
        body.extend_from_slice(value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    block(order, 1, &body)
}

/// An enhanced packet block.
pub(crate) fn enhanced(order: Order, interface: u32, units: u64, original: u32, data: &[u8]) -> Vec<u8> {
    let fixed = order.u32s(&[interface, (units >> 32) as u32, units as u32, data.len() as u32, original]);
    block(order, 6, &[&fixed, data].concat())
}

/// An obsolete packet block.
pub(crate) fn obsolete(order: Order, interface: u16, units: u64, original: u32, data: &[u8]) -> Vec<u8> {
    let numbers = [order.u16(interface), order.u16(0xffff)].concat();
    let fixed = order.u32s(&[(units >> 32) as u32, units as u32, data.len() as u32, original]);
    block(order, 2, &[&numbers, &fixed, data].concat())
}

/// A simple packet block.
pub(crate) fn simple(order: Order, original: u32, data: &[u8]) -> Vec<u8> {
    block(order, 3, &[&order.u32(original), data].concat())
}

/// IPv4 from 10.0.0.1 to 10.0.0.2: a protocol, a place among fragments, what follows.
pub(crate) fn ipv4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len() as u16).to_be_bytes();
    let [high, low] = fragment.to_be_bytes();
    let header = [0x45, 0xb9, length[0], length[1], 0, 7, high, low, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&header[..], payload].concat()
}

/// IPv6 from ::1 to ::2: the next header, what follows.
pub(crate) fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    let mut header = vec![0x6b, 0x90, 0, 0, length[0], length[1], next, 64];
    header.extend([0; 15].into_iter().chain([1]).chain([0; 15]).chain([2]));
    [&header[..], payload].concat()
}

/// The first bytes of a UDP or TCP header from port 1000 to port 53.
pub(crate) const PORTS: [u8; 8] = [0x03, 0xe8, 0, 53, 0, 8, 0, 0];

/// A TCP segment from port 1000 to port 53 that tells its greatest segment and a time.
pub(crate) const TCP: [u8; 36] = [
    0x03, 0xe8, 0, 53, 0, 0, 0, 9, 0, 0, 0, 8, 0x90, 0x12, 1, 0, 0xab, 0xcd, 0, 0, 2, 4, 5, 0xb4, 1, 1, 8, 10, 0, 0, 0,
    5, 0, 0, 0, 6,
];

/// A frame of Ethernet.
pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], &ether_type.to_be_bytes()[..], payload].concat()
}

/// One capture of each kind, for the fuzz test to damage.
#[allow(dead_code, reason = "each test is a program of its own, and not every one needs this")]
pub(crate) fn all() -> Vec<Vec<u8>> {
    use Order::{Big, Little};
    let udp = ethernet(0x0800, &ipv4(17, 0, &PORTS));
    let later = ipv4(17, 100, &[1; 8]);
    let fragment = ipv6(44, &[&[17, 0, 0, 9, 0, 0, 0, 1], &PORTS[..]].concat());
    let tagged = ethernet(0x88a8, &[&[0, 1, 0x81, 0, 0, 2, 0x86, 0xdd], &fragment[..]].concat());
    let options = ipv6(0, &[&[60, 0, 1, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0], &PORTS[..]].concat());
    let cooked = [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], &later[..]].concat();
    let cooked2 = [&[0x86, 0xdd, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0], &options[..]].concat();
    let session = ethernet(0x8864, &[&[0x11, 0, 0, 1, 0, 30, 0, 0x21], &ipv4(17, 0x2000, &PORTS)[..]].concat());
    let labelled = ethernet(0x8847, &[&[0, 1, 0, 64, 0, 2, 1, 64], &ipv6(6, &TCP)[..]].concat());
    let one_pcap = |order, magic, link_type, frames: [&[u8]; 2]| {
        let records = frames.map(|frame| pcap_record(order, [1_500_000_000, 999_999], 1500, frame));
        [pcap(order, magic, link_type), records.concat()].concat()
    };
    let two_sections = |one: Order, other: Order| {
        [
            section(one),
            interface(one, 1, 0, &[(9, &[0x8a]), (14, &[0, 0, 0, 0, 0, 0, 0, 1])]),
            interface(one, 101, 40, &[(9, &[9])]),
            enhanced(one, 0, 1 << 40, 1400, &udp),
            block(one, 5, &[0; 12]),
            enhanced(one, 1, 1 << 50, 28, &options),
            section(other),
            interface(other, 276, 0, &[]),
            obsolete(other, 0, 1_500_000_000_000_000, 68, &cooked2),
            simple(other, 68, &cooked2),
        ]
        .concat()
    };
    vec![
        one_pcap(Little, 0xa1b2_c3d4, 1, [&udp, &tagged]),
        one_pcap(Little, 0xa1b2_c3d4, 1, [&session, &labelled]),
        one_pcap(Big, 0xa1b2_3c4d, 113, [&cooked, &cooked[..20]]),
        one_pcap(Big, 0xa1b2_c3d4, 0, [&[&[2, 0, 0, 0], &later[..]].concat(), &[0, 0, 0, 30]]),
        two_sections(Little, Big),
        two_sections(Big, Little),
    ]
}
