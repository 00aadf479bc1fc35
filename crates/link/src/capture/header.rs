//! The header of a captured frame: whatever of it is there.
//!
//! Written out rather than taken from a parser of packets, for little is wanted and that from
//! packets cut anywhere: four bytes of a transport header are enough to know its ports. All bytes
//! are reached by checked access, so the worst that damage can do is to name another conversation.
//! Chosen: the outermost IP header counts, that behind VLAN tags, PPPoE and MPLS labels included.
//! What else encloses packets (GRE, VXLAN, pseudowires) is not looked into; it is named, so that a
//! report can say so.
//!
//! Beside the header two things are told that a discipline may need: how many bytes of the frame
//! belong to the link, and the number of an acknowledgement that carries nothing else. The second
//! follows the filter of Linux' `sch_cake.c` (`cake_tcph_may_drop`): of the flags only ACK is set,
//! no byte of data follows. Departs: an acknowledgement with ECE, CWR, SACK blocks or options that
//! are not known tells no number, since it says more than one; Linux compares what two of them say.

use super::LinkType;
use core::num::NonZeroU32;
use fairq_sched::packet::{Address, Header};

/// What the first bytes of a frame tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The fields by which packets are told apart.
    pub header: Header,
    /// Of the frame's length, the bytes that are not of the network layer: the link's header with
    /// its tags, and what pads a short frame. 0 where the link has none (raw IP).
    pub link_header: u8,
    /// Of a TCP acknowledgement that carries nothing else: the number up to which it acknowledges.
    pub acknowledges: Option<NonZeroU32>,
    /// What encloses further packets that were not looked into, as `GRE`.
    pub tunnel: Option<&'static str>,
}

/// What is said of a frame too short, or of a kind too strange, to tell whose it is: no addresses,
/// and the EtherType that is reserved and never sent (RFC 1701). All such frames of a capture are
/// one conversation.
pub const UNREADABLE: Header = link_header([0; 6], [0; 6], NO_ETHER_TYPE);

const NO_ETHER_TYPE: u16 = 0xffff;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN tags: 802.1Q, 802.1ad, and what was used before 802.1ad.
const VLAN: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// PPPoE, session stage (RFC 2516), and the PPP protocols that it may carry (RFC 1661, 5072, 3032).
const PPPOE_SESSION: u16 = 0x8864;
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;
const PPP_MPLS: [u16; 2] = [0x0281, 0x0283];
/// PPP protocols that carry packets in a form of their own: multilink, compressed, encrypted.
const PPP_OTHERS: [u16; 4] = [0x003d, 0x00fd, 0x00fb, 0x0053];
/// MPLS (RFC 5332: unicast, and what was multicast).
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Provider backbone bridging, and network service headers.
const BACKBONE: u16 = 0x88e7;
const SERVICE: u16 = 0x894f;
/// What Linux calls a frame with a length in place of an EtherType (802.2 LLC); no EtherType is
/// below 0x600.
const LLC: u16 = 0x0004;
const ETHER_TYPE_MIN: u16 = 0x0600;

/// IP protocol numbers: extension headers, and protocols with ports.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const DCCP: u8 = 33;
pub(super) const SCTP: u8 = 132;
pub(super) const UDP_LITE: u8 = 136;
/// IP protocols that carry packets: IPv4 and IPv6 in IP, GRE, MPLS in IP, L2TP.
const IN_IP: [(u8, &str); 5] = [(4, "IP in IP"), (41, "IP in IP"), (47, "GRE"), (137, "MPLS in IP"), (115, "L2TP")];
/// Ports of UDP, as its destination, whose packets carry packets (registered with IANA).
const IN_UDP: [(u16, &str); 5] =
    [(1701, "L2TP"), (2152, "GTP"), (4789, "VXLAN"), (6081, "GENEVE"), (6635, "MPLS in UDP")];

/// The header of a frame, from as many of its bytes as were captured.
///
/// Fragments after the first, and protocols without ports, have ports 0. A frame without IP has the
/// addresses of its link (all zero where the link tells none) and its EtherType, 4 for 802.2
/// frames. Never fails: what cannot be told is as in [`UNREADABLE`].
#[must_use]
pub fn header_of(link_type: LinkType, data: &[u8]) -> Header {
    layers_of(link_type, data, u32::MAX).header
}

/// The header and the other facts of a frame of `length` bytes, of which `data` were captured; as
/// [`header_of`].
#[must_use]
pub fn layers_of(link_type: LinkType, data: &[u8], length: u32) -> Layers {
    let found = found_in(link_type, data);
    let length = length as usize;
    let start = found.start.min(length);
    // Bytes behind the IP packet, if they may be the padding of a short Ethernet frame and its
    // check sequence. More are not believed: the header of the IP packet tells nonsense then, or a
    // network card is to fill in its length.
    let behind = found.network.map_or(0, |network| (length - start).saturating_sub(network));
    let padding = if behind <= PADDING_MAX { behind } else { 0 };
    let link_header = u8::try_from(start + padding).unwrap_or(u8::MAX);
    Layers { header: found.header, link_header, acknowledges: found.acknowledges, tunnel: found.tunnel }
}

pub(super) fn found_in(link_type: LinkType, data: &[u8]) -> Found {
    match link_type {
        LinkType::ETHERNET => ethernet(data),
        LinkType::LINUX_SLL => cooked(data, CookedLayout { protocol: 14, address: 6, length: 16 }),
        LinkType::LINUX_SLL2 => cooked(data, CookedLayout { protocol: 0, address: 12, length: 20 }),
        LinkType::NULL | LinkType::LOOP => loopback(data),
        // The remaining supported types are IP without a link header, and the first bits tell the
        // version.
        _ => Found::over(0, ip(data), UNREADABLE),
    }
}

/// Sets CE in the ECN field of a frame's outermost IP header, and its checksum, as a queue does
/// that marks (RFC 3168, section 5). A frame without IP, or with too little of it to tell the
/// addresses, stays as it is.
///
/// Departs: a router changes the checksum by what it changed (RFC 1624). Here it is computed anew
/// where the whole header was captured, so that it is right also if a network card was to fill it
/// in; that way is left for a header that is cut short.
pub fn mark_ce(link_type: LinkType, data: &mut [u8]) {
    let Found { header, start, .. } = found_in(link_type, data);
    match (header.source, data.get_mut(start..)) {
        (Address::V4(_), Some(packet @ [_, _, _, _, _, _, _, _, _, _, _, _, ..])) if packet[1] & 3 != 3 => {
            let before = [!u16_of(packet, 10), !u16_of(packet, 0)];
            packet[1] |= 3;
            packet[10..12].fill(0);
            let length = usize::from(packet[0] & 0xf) * 4;
            let sum: u32 = match packet.get(..length).filter(|whole| whole.len() >= IPV4_HEADER_MIN) {
                Some(whole) => (0..length).step_by(2).map(|at| u32::from(u16_of(whole, at))).sum(),
                // HC' = ~(~HC + ~m + m') in ones' complement.
                None => before.into_iter().chain([u16_of(packet, 0)]).map(u32::from).sum(),
            };
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        }
        (Address::V6(_), Some([_, class, ..])) => *class |= 0x30,
        _ => {}
    }
}

/// The number of 16 bits at `at`, which is in `data`.
fn u16_of(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([data[at], data[at + 1]])
}

/// Bytes of an IPv4 header without options.
const IPV4_HEADER_MIN: usize = 20;

/// What pads the shortest Ethernet frame, and the frame check sequence.
const PADDING_MAX: usize = 46 + 4;

/// What was found in a frame.
pub(super) struct Found {
    pub(super) header: Header,
    /// Where the network layer's packet begins.
    pub(super) start: usize,
    /// The length of that packet, as its own header tells; `None` if that is no IP, or tells
    /// nothing.
    pub(super) network: Option<usize>,
    acknowledges: Option<NonZeroU32>,
    pub(super) tunnel: Option<&'static str>,
}

impl Found {
    /// `ip` behind `start` bytes of the link's, or `otherwise` if that is none.
    fn over(start: usize, ip: Option<Ip>, otherwise: Header) -> Self {
        match ip {
            Some(Ip { header, length, acknowledges }) => {
                Self { header, start, network: length, acknowledges, tunnel: tunnel_in_ip(&header) }
            }
            None => Self { header: otherwise, start, network: None, acknowledges: None, tunnel: None },
        }
    }
}

/// What the header of an IP packet tells.
struct Ip {
    header: Header,
    /// The length of the packet; `None` where the header has 0 in its place.
    length: Option<usize>,
    acknowledges: Option<NonZeroU32>,
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

fn ethernet(data: &[u8]) -> Found {
    let (Some(destination), Some(source)) = (array_at::<6>(data, 0), array_at::<6>(data, 6)) else {
        return Found::over(ETHERNET_HEADER, None, UNREADABLE);
    };
    let Some(ether_type) = u16_at(data, 12) else {
        return Found::over(ETHERNET_HEADER, None, link_header(source, destination, NO_ETHER_TYPE));
    };
    let ether_type = if ether_type < ETHER_TYPE_MIN { LLC } else { ether_type };
    network(ether_type, data, ETHERNET_HEADER, source, destination)
}

/// Bytes of an Ethernet header without tags.
const ETHERNET_HEADER: usize = 14;

/// Where the fields of a Linux "cooked" header are.
struct CookedLayout {
    protocol: usize,
    address: usize,
    length: usize,
}

/// Linux tells the sender of a cooked frame, not the receiver.
fn cooked(data: &[u8], layout: CookedLayout) -> Found {
    match u16_at(data, layout.protocol).filter(|_| data.len() >= layout.length) {
        Some(protocol) => {
            network(protocol, data, layout.length, array_at(data, layout.address).unwrap_or_default(), [0; 6])
        }
        None => Found::over(layout.length, None, UNREADABLE),
    }
}

/// The address family comes in either byte order; every number that a BSD or Linux gives IPv4 or
/// IPv6 counts.
fn loopback(data: &[u8]) -> Found {
    let inner = match data {
        [family, 0, 0, 0, payload @ ..] | [0, 0, 0, family, payload @ ..]
            if matches!(family, 2 | 10 | 24 | 28 | 30) =>
        {
            ip(payload)
        }
        _ => None,
    };
    Found::over(4, inner, UNREADABLE)
}

/// What follows the link header of `start` bytes: tags, PPPoE, labels, then IP or something else.
fn network(mut ether_type: u16, data: &[u8], mut start: usize, source: [u8; 6], destination: [u8; 6]) -> Found {
    // What encloses the packet at `start`: the link's type of it, its name, and where it begins.
    let mut around: Option<(u16, &'static str, usize)> = None;
    loop {
        let payload = &data[start..];
        if VLAN.contains(&ether_type) && payload.len() >= 4 {
            ether_type = u16::from_be_bytes([payload[2], payload[3]]);
            ether_type = if ether_type < ETHER_TYPE_MIN { LLC } else { ether_type };
            start += 4;
        } else if let (LLC, [0xaa, 0xaa, 3, 0, 0, 0, high, low, ..]) = (ether_type, payload) {
            // SNAP: an EtherType after all.
            ether_type = u16::from_be_bytes([*high, *low]);
            start += 8;
        } else if let (PPPOE_SESSION, Some((protocol, length))) = (ether_type, ppp(payload)) {
            ether_type = match protocol {
                PPP_IPV4 => IPV4,
                PPP_IPV6 => IPV6,
                _ if PPP_MPLS.contains(&protocol) => MPLS[0],
                // What PPP says to itself is no tunnel.
                _ => {
                    if PPP_OTHERS.contains(&protocol) {
                        around = around.or(Some((ether_type, "PPPoE", start)));
                    }
                    break;
                }
            };
            around = around.or(Some((PPPOE_SESSION, "PPPoE", start)));
            start += length;
        } else if MPLS.contains(&ether_type) {
            around = around.or(Some((ether_type, "MPLS", start)));
            let labels = labels_length(payload);
            // The first bits of an IP packet tell its version; a pseudowire has zeros there, or an
            // address.
            match labels.and_then(|length| payload.get(length)).map(|first| (first >> 4, first & 0xf)) {
                Some((4, 5..)) => ether_type = IPV4,
                Some((6, _)) => ether_type = IPV6,
                _ => break,
            }
            start += labels.unwrap_or(0);
        } else {
            break;
        }
    }
    let inner = if matches!(ether_type, IPV4 | IPV6) { ip(&data[start..]) } else { None };
    match (inner, around) {
        (None, Some((outer, name, begin))) => {
            Found { tunnel: Some(name), ..Found::over(begin, None, link_header(source, destination, outer)) }
        }
        (None, None) => {
            let tunnel = match ether_type {
                BACKBONE => Some("backbone bridging"),
                SERVICE => Some("NSH"),
                _ => None,
            };
            Found { tunnel, ..Found::over(start, None, link_header(source, destination, ether_type)) }
        }
        (inner, _) => Found::over(start, inner, UNREADABLE),
    }
}

/// The PPP protocol of a PPPoE session frame, and how long the two headers are. The protocol may
/// have been compressed to a byte, which is odd then (RFC 1661, section 6.5).
fn ppp(payload: &[u8]) -> Option<(u16, usize)> {
    match payload {
        [0x11, 0, _, _, _, _, protocol, ..] if protocol & 1 == 1 => Some((u16::from(*protocol), 7)),
        [0x11, 0, _, _, _, _, high, low, ..] => Some((u16::from_be_bytes([*high, *low]), 8)),
        _ => None,
    }
}

/// Bytes of the labels up to the last, which has a bit that says so (RFC 3032, section 2.1).
fn labels_length(payload: &[u8]) -> Option<usize> {
    payload.chunks_exact(4).position(|label| label[2] & 1 == 1).map(|last| 4 * (last + 1))
}

/// The name of what encloses further packets, if an IP packet with this header does.
fn tunnel_in_ip(header: &Header) -> Option<&'static str> {
    let protocol = u8::try_from(header.protocol).ok()?;
    match protocol {
        UDP => IN_UDP.iter().find(|(port, _)| *port == header.destination_port).map(|(_, name)| *name),
        _ => IN_IP.iter().find(|(number, _)| *number == protocol).map(|(_, name)| *name),
    }
}

/// What the header of an IP packet tells; its first bits give the version. `None` if not even the
/// addresses are there.
fn ip(data: &[u8]) -> Option<Ip> {
    match data.first()? >> 4 {
        4 => ipv4(data),
        6 => ipv6(data),
        _ => None,
    }
}

fn ipv4(data: &[u8]) -> Option<Ip> {
    let (source, destination) = (Address::V4(array_at(data, 12)?), Address::V4(array_at(data, 16)?));
    let header_length = usize::from(data[0] & 0xf) * 4;
    let length = usize::from(u16_at(data, 2)?);
    let fragment = u16_at(data, 6)?;
    let mut inner = Inner { protocol: data[9], payload: &[], length: None };
    if fragment & FRAGMENT_OFFSET == 0 && header_length >= 20 {
        inner.payload = payload(data, header_length, length);
        if fragment & MORE_FRAGMENTS == 0 {
            inner.length = length.checked_sub(header_length);
        }
        if inner.protocol == AUTHENTICATION {
            inner = inner.behind_extensions();
        }
    }
    let header = inner.header(source, destination, data[1]);
    Some(Ip { header, length: (length >= 20).then_some(length), acknowledges: inner.acknowledges() })
}

/// The bits of IPv4 that tell a fragment's place, and that others come after it.
const FRAGMENT_OFFSET: u16 = 0x1fff;
const MORE_FRAGMENTS: u16 = 0x2000;

fn ipv6(data: &[u8]) -> Option<Ip> {
    let (source, destination) = (Address::V6(array_at(data, 8)?), Address::V6(array_at(data, 24)?));
    let length = usize::from(u16_at(data, 4)?);
    // A payload of length 0 is a jumbogram, or one whose length the sender's interface was to fill
    // in.
    let told = (length > 0).then_some(length);
    let end = told.map_or(usize::MAX, |length| 40 + length);
    let inner = Inner { protocol: data[6], payload: payload(data, 40, end), length: told };
    let inner = inner.behind_extensions();
    let header = inner.header(source, destination, data[0] << 4 | data[1] >> 4);
    Some(Ip { header, length: told.map(|length| 40 + length), acknowledges: inner.acknowledges() })
}

/// What lies behind a header of `start` bytes: to the `end` that the header tells (a short frame is
/// padded), or as much as was captured if that is less, or if the header tells nonsense.
fn payload(data: &[u8], start: usize, end: usize) -> &[u8] {
    let end = if end < start { data.len() } else { end.min(data.len()) };
    data.get(start..end).unwrap_or_default()
}

/// The protocol and payload in an IP packet.
#[derive(Clone, Copy)]
struct Inner<'a> {
    protocol: u8,
    /// As much of it as was captured; empty for a fragment after the first.
    payload: &'a [u8],
    /// How long it is by the IP header; `None` for a fragment, and where the header tells nothing.
    length: Option<usize>,
}

impl Inner<'_> {
    /// Past the extension headers of IPv6 (RFC 8200 section 4, RFC 4302), as far as they were
    /// captured. Each step takes eight bytes or more, so there is an end.
    fn behind_extensions(mut self) -> Self {
        loop {
            let length = match (self.protocol, self.payload) {
                (HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS, [_, length, ..]) => (usize::from(*length) + 1) * 8,
                (AUTHENTICATION, [_, length, ..]) => (usize::from(*length) + 2) * 4,
                (FRAGMENT, [next, _, high, low, ..]) => {
                    if u16::from_be_bytes([*high, *low]) & 0xfff8 != 0 {
                        // The middle of something.
                        return Self { protocol: *next, payload: &[], length: None };
                    }
                    self.length = None;
                    8
                }
                _ => return self,
            };
            let Some(rest) = self.payload.get(length..) else {
                return Self { payload: &[], ..self };
            };
            let left = self.length.and_then(|whole| whole.checked_sub(length));
            self = Self { protocol: self.payload[0], payload: rest, length: left };
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

    /// The number up to which a TCP segment acknowledges, if it does that and nothing else.
    fn acknowledges(self) -> Option<NonZeroU32> {
        let (TCP, Some(length)) = (self.protocol, self.length) else { return None };
        let flags = u16_at(self.payload, 12)?;
        let header_length = usize::from(flags >> 12) * 4;
        if flags & FLAGS != ACK || header_length < 20 || header_length != length {
            return None;
        }
        // Options that were not captured might say anything.
        let options = self.payload.get(20..header_length)?;
        is_only_timed(options)
            .then(|| array_at(self.payload, 8).map(u32::from_be_bytes))
            .flatten()
            .and_then(NonZeroU32::new)
    }
}

/// The bits beside a TCP header's length: three that are reserved (one is AE of RFC 9768), CWR,
/// ECE, URG, ACK, PSH, RST, SYN, FIN.
const FLAGS: u16 = 0x0fff;
const ACK: u16 = 0x0010;

/// Whether TCP options are padding and time stamps only (RFC 9293 section 3.2, RFC 7323 section
/// 3.2).
fn is_only_timed(mut options: &[u8]) -> bool {
    loop {
        match options {
            [] | [0, ..] => return true,
            [1, rest @ ..] => options = rest,
            [8, 10, rest @ ..] if rest.len() >= 8 => options = &rest[8..],
            _ => return false,
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
