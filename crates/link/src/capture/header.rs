//! The header of a captured frame: whatever of it is there.
//!
//! Written out rather than taken from a parser of packets, for little is wanted and that from packets cut anywhere: four
//! bytes of a transport header are enough to know its ports. All bytes are reached by checked access, so the worst that
//! damage can do is to name another conversation.
//! Chosen: the outermost IP header counts; what is inside tunnels, MPLS and PPPoE is not looked into.

use super::LinkType;
use fairq_sched::packet::{Address, Header};

/// What is said of a frame too short, or of a kind too strange, to tell whose it is: no addresses, and the EtherType
/// that is reserved and never sent (RFC 1701). All such frames of a capture are one conversation.
pub const UNREADABLE: Header = link_header([0; 6], [0; 6], NO_ETHER_TYPE);

const NO_ETHER_TYPE: u16 = 0xffff;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN tags: 802.1Q, 802.1ad, and what was used before 802.1ad.
const VLAN: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// What Linux calls a frame with a length in place of an EtherType (802.2 LLC); no EtherType is below 0x600.
const LLC: u16 = 0x0004;
const ETHER_TYPE_MIN: u16 = 0x0600;

/// IP protocol numbers: extension headers, and protocols with ports.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const TCP: u8 = 6;
const UDP: u8 = 17;
const DCCP: u8 = 33;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

/// The header of a frame, from as many of its bytes as were captured.
///
/// Fragments after the first, and protocols without ports, have ports 0. A frame without IP has the addresses of its
/// link (all zero where the link tells none) and its EtherType, 4 for 802.2 frames. Never fails: what cannot be told is
/// as in [`UNREADABLE`].
#[must_use]
pub fn header_of(link_type: LinkType, data: &[u8]) -> Header {
    match link_type {
        LinkType::ETHERNET => ethernet(data),
        LinkType::LINUX_SLL => cooked(data, CookedLayout { protocol: 14, address: 6, length: 16 }),
        LinkType::LINUX_SLL2 => cooked(data, CookedLayout { protocol: 0, address: 12, length: 20 }),
        LinkType::NULL | LinkType::LOOP => loopback(data),
        // The remaining supported types are IP without a link header, and the first bits tell the version.
        _ => ip(data).unwrap_or(UNREADABLE),
    }
}

const fn link_header(source: [u8; 6], destination: [u8; 6], ether_type: u16) -> Header {
    Header {
        source: Address::Mac(source),
        destination: Address::Mac(destination),
        protocol: ether_type,
        source_port: 0,
        destination_port: 0,
        tos: 0,
    }
}

fn ethernet(data: &[u8]) -> Header {
    let (Some(destination), Some(source)) = (array_at::<6>(data, 0), array_at::<6>(data, 6)) else {
        return UNREADABLE;
    };
    let Some(ether_type) = u16_at(data, 12) else {
        return link_header(source, destination, NO_ETHER_TYPE);
    };
    let ether_type = if ether_type < ETHER_TYPE_MIN { LLC } else { ether_type };
    network(ether_type, &data[14..], source, destination)
}

/// Where the fields of a Linux "cooked" header are.
struct CookedLayout {
    protocol: usize,
    address: usize,
    length: usize,
}

/// Linux tells the sender of a cooked frame, not the receiver.
fn cooked(data: &[u8], layout: CookedLayout) -> Header {
    let (Some(protocol), Some(payload)) = (u16_at(data, layout.protocol), data.get(layout.length..)) else {
        return UNREADABLE;
    };
    network(protocol, payload, array_at(data, layout.address).unwrap_or_default(), [0; 6])
}

/// The address family comes in either byte order; every number that a BSD or Linux gives IPv4 or IPv6 counts.
fn loopback(data: &[u8]) -> Header {
    match data {
        [family, 0, 0, 0, payload @ ..] | [0, 0, 0, family, payload @ ..]
            if matches!(family, 2 | 10 | 24 | 28 | 30) =>
        {
            ip(payload).unwrap_or(UNREADABLE)
        }
        _ => UNREADABLE,
    }
}

/// What follows the link header: tags, then IP or something else.
fn network(mut ether_type: u16, mut payload: &[u8], source: [u8; 6], destination: [u8; 6]) -> Header {
    loop {
        if VLAN.contains(&ether_type) && payload.len() >= 4 {
            ether_type = u16::from_be_bytes([payload[2], payload[3]]);
            ether_type = if ether_type < ETHER_TYPE_MIN { LLC } else { ether_type };
            payload = &payload[4..];
        } else if let (LLC, [0xaa, 0xaa, 3, 0, 0, 0, high, low, rest @ ..]) = (ether_type, payload) {
            // SNAP: an EtherType after all.
            ether_type = u16::from_be_bytes([*high, *low]);
            payload = rest;
        } else {
            break;
        }
    }
    let inner = if matches!(ether_type, IPV4 | IPV6) { ip(payload) } else { None };
    inner.unwrap_or(link_header(source, destination, ether_type))
}

/// The header of an IP packet, whose version its first bits tell; none if not even the addresses are there.
fn ip(data: &[u8]) -> Option<Header> {
    match data.first()? >> 4 {
        4 => ipv4(data),
        6 => ipv6(data),
        _ => None,
    }
}

fn ipv4(data: &[u8]) -> Option<Header> {
    let (source, destination) = (Address::V4(array_at(data, 12)?), Address::V4(array_at(data, 16)?));
    let header_length = usize::from(data[0] & 0xf) * 4;
    let is_later_fragment = u16_at(data, 6)? & 0x1fff != 0;
    let mut inner = Inner { protocol: data[9], payload: &[] };
    if !is_later_fragment && header_length >= 20 {
        inner.payload = payload(data, header_length, u16_at(data, 2)?.into());
        if inner.protocol == AUTHENTICATION {
            inner = inner.behind_extensions();
        }
    }
    Some(inner.header(source, destination, data[1]))
}

fn ipv6(data: &[u8]) -> Option<Header> {
    let (source, destination) = (Address::V6(array_at(data, 8)?), Address::V6(array_at(data, 24)?));
    // A payload of length 0 is a jumbogram, or one whose length the sender's interface was to fill in.
    let length = u16_at(data, 4)?;
    let end = if length == 0 { usize::MAX } else { 40 + usize::from(length) };
    let inner = Inner { protocol: data[6], payload: payload(data, 40, end) }.behind_extensions();
    Some(inner.header(source, destination, data[0] << 4 | data[1] >> 4))
}

/// What lies behind a header of `start` bytes: to the `end` that the header tells (a short frame is padded), or as much
/// as was captured if that is less, or if the header tells nonsense.
fn payload(data: &[u8], start: usize, end: usize) -> &[u8] {
    let end = if end < start { data.len() } else { end.min(data.len()) };
    data.get(start..end).unwrap_or_default()
}

/// What an IP header carries.
#[derive(Clone, Copy)]
struct Inner<'a> {
    protocol: u8,
    /// As much of it as was captured; nothing for a fragment after the first.
    payload: &'a [u8],
}

impl Inner<'_> {
    /// Past the extension headers of IPv6 (RFC 8200 section 4, RFC 4302), as far as they were captured. Each step takes
    /// eight bytes or more, so there is an end.
    fn behind_extensions(mut self) -> Self {
        loop {
            let length = match (self.protocol, self.payload) {
                (HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS, [_, length, ..]) => (usize::from(*length) + 1) * 8,
                (AUTHENTICATION, [_, length, ..]) => (usize::from(*length) + 2) * 4,
                (FRAGMENT, [next, _, high, low, ..]) => {
                    if u16::from_be_bytes([*high, *low]) & 0xfff8 != 0 {
                        // The middle of something.
                        return Self { protocol: *next, payload: &[] };
                    }
                    8
                }
                _ => return self,
            };
            let Some(rest) = self.payload.get(length..) else {
                return Self { payload: &[], ..self };
            };
            self = Self { protocol: self.payload[0], payload: rest };
        }
    }

    fn header(self, source: Address, destination: Address, tos: u8) -> Header {
        let (source_port, destination_port) = self.ports();
        Header { source, destination, protocol: self.protocol.into(), source_port, destination_port, tos }
    }

    /// The ports, for the protocols that have them in their first four bytes.
    fn ports(self) -> (u16, u16) {
        match (self.protocol, u16_at(self.payload, 0), u16_at(self.payload, 2)) {
            (TCP | UDP | DCCP | SCTP | UDP_LITE, Some(source), Some(destination)) => (source, destination),
            _ => (0, 0),
        }
    }
}

fn array_at<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at + N)?.try_into().ok()
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    array_at(data, at).map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests;
