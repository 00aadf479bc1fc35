//! The header of a captured frame: whatever of it is there.
//!
//! Link headers and VLAN tags are read here, IP and its extension headers by `etherparse`, ports here again, for four
//! bytes of a transport header that was cut are enough to know them.
//! Chosen: the outermost IP header counts; what is inside tunnels, MPLS and PPPoE is not looked into.

use super::LinkType;
use etherparse::{Ipv6ExtensionSlice, LaxIpSlice, LaxIpv4Slice, LaxIpv6Slice, ip_number};
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

/// The header of a frame, from as many of its bytes as were captured.
///
/// Fragments after the first, and protocols without ports, have ports 0. A frame without IP has the addresses of its
/// link (all zero where the link tells none) and its EtherType, 4 for 802.2 frames. Never fails: what cannot be told is
/// as in [`UNREADABLE`].
#[must_use]
pub fn header_of(link_type: LinkType, data: &[u8]) -> Header {
    match link_type {
        LinkType::ETHERNET => ethernet(data),
        LinkType::LINUX_SLL => cooked(
            data,
            CookedLayout {
                protocol: 14,
                address: 6,
                length: 16,
            },
        ),
        LinkType::LINUX_SLL2 => cooked(
            data,
            CookedLayout {
                protocol: 0,
                address: 12,
                length: 20,
            },
        ),
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
    network(
        protocol,
        payload,
        array_at(data, layout.address).unwrap_or_default(),
        [0; 6],
    )
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
    let inner = if matches!(ether_type, IPV4 | IPV6) {
        ip(payload)
    } else {
        None
    };
    inner.unwrap_or(link_header(source, destination, ether_type))
}

/// The header of an IP packet, whose version its first bits tell; none if not even the addresses are there.
fn ip(data: &[u8]) -> Option<Header> {
    match LaxIpSlice::from_slice(data) {
        Ok((LaxIpSlice::Ipv4(packet), _)) => Some(ipv4(&packet)),
        Ok((LaxIpSlice::Ipv6(packet), _)) => Some(ipv6(&packet)),
        Err(_) => ipv4_without_options(data),
    }
}

fn ipv4(packet: &LaxIpv4Slice<'_>) -> Header {
    let header = packet.header();
    let is_later_fragment = header.fragments_offset().value() > 0;
    // Behind the header of a later fragment there is no extension header, whatever the protocol.
    let protocol = if is_later_fragment {
        header.protocol()
    } else {
        packet.payload_ip_number()
    };
    let transport = if is_later_fragment {
        &[]
    } else {
        packet.payload().payload
    };
    let (source_port, destination_port) = ports(protocol.0, transport);
    Header {
        source: Address::V4(header.source()),
        destination: Address::V4(header.destination()),
        protocol: protocol.0.into(),
        source_port,
        destination_port,
        tos: header.slice()[1],
    }
}

fn ipv6(packet: &LaxIpv6Slice<'_>) -> Header {
    let header = packet.header();
    let mut protocol = packet.payload().ip_number;
    let mut transport = packet.payload().payload;
    for extension in packet.extensions().clone() {
        if let Ipv6ExtensionSlice::Fragment(fragment) = extension
            && fragment.fragment_offset().value() > 0
        {
            // What follows is the middle of something, even where it was taken for a header.
            protocol = fragment.next_header();
            transport = &[];
            break;
        }
    }
    let (source_port, destination_port) = ports(protocol.0, transport);
    Header {
        source: Address::V6(header.source()),
        destination: Address::V6(header.destination()),
        protocol: protocol.0.into(),
        source_port,
        destination_port,
        tos: header.traffic_class(),
    }
}

/// An IPv4 packet that was cut within its options, or claims a header of a length that it cannot have: its addresses
/// are there if 20 bytes are.
fn ipv4_without_options(data: &[u8]) -> Option<Header> {
    if data.len() < 20 || data[0] >> 4 != 4 {
        return None;
    }
    Some(Header {
        source: Address::V4(array_at(data, 12)?),
        destination: Address::V4(array_at(data, 16)?),
        protocol: data[9].into(),
        source_port: 0,
        destination_port: 0,
        tos: data[1],
    })
}

/// The ports, for the protocols that have them in their first four bytes.
fn ports(protocol: u8, transport: &[u8]) -> (u16, u16) {
    const DCCP: u8 = 33;
    const UDP_LITE: u8 = 136;
    let has_ports = matches!(protocol, DCCP | UDP_LITE)
        || [ip_number::TCP, ip_number::UDP, ip_number::SCTP]
            .iter()
            .any(|number| number.0 == protocol);
    match (has_ports, u16_at(transport, 0), u16_at(transport, 2)) {
        (true, Some(source), Some(destination)) => (source, destination),
        _ => (0, 0),
    }
}

fn array_at<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at + N)?.try_into().ok()
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    array_at(data, at).map(u16::from_be_bytes)
}
