//! What tells a packet from all others at both ends of its path: the fields that no honest path
//! changes.
//!
//! Left out are what routers rewrite (type of service, time to live, header checksum, flow label,
//! options of IP), what a host leaves to its network card and a capture of the sender therefore
//! lacks (the transport checksum, RFC 1624 aside), what a router may clamp (the MSS option of TCP,
//! RFC 4459), and the bits that segmentation offload sets anew (flags of TCP). Bytes behind the
//! length that IP tells are padding. The lengths stand apart from the rest, so that a packet is
//! found again that was cut into segments or merged from them.

use super::LinkType;
use super::header::{DCCP, Found, SCTP, TCP, UDP, UDP_LITE, found_in};
use fairq_sched::hash::Hash;
use fairq_sched::packet::{Address, Header};

/// Bytes of an identity that are kept as they are; of what follows there is a hash.
pub const HEAD_MAX: usize = 96;

/// A packet, as one end of its path saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identified {
    /// Addresses, protocol and ports.
    pub header: Header,
    /// The length of the IP packet.
    pub length: u32,
    /// How often it may still be forwarded.
    pub hops: u8,
    /// A hash of the bytes that follow the head.
    pub rest: u64,
    /// Whether the head or what follows it lacks bytes of the packet.
    pub is_cut: bool,
    /// Its place in a datagram, if it is a fragment.
    pub fragment: Option<Fragment>,
}

/// The place of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fragment {
    /// The number that all fragments of the datagram have.
    pub id: u32,
    /// Whether it is the first, which has the ports.
    pub is_first: bool,
}

/// The identity of a captured frame, whose head is appended to `head`; `None` if it is not IP.
pub fn identify(link_type: LinkType, data: &[u8], length: u32, head: &mut Vec<u8>) -> Option<Identified> {
    let Found { header, start, network, .. } = found_in(link_type, data);
    let ip = data.get(start..)?;
    let on_the_wire = (length as usize).saturating_sub(start);
    // A card fills in a length of 0. A greater one than the frame has is damage.
    let whole = network.filter(|told| *told <= on_the_wire).unwrap_or(on_the_wire);
    let ip = &ip[..ip.len().min(whole)];
    let begin = head.len();
    let mut sum = Sum { head, begin, rest: Vec::new() };
    let (hops, fragment, payload, protocol) = match header.source {
        Address::V4(_) => {
            let &[_, _, _, _, id_high, id_low, high, low, hops, protocol, ..] = ip else { return None };
            let place = u16::from_be_bytes([high, low]);
            let offset = place & 0x1fff;
            sum.add(&[4, protocol, id_high, id_low]);
            sum.add(&offset.to_be_bytes());
            sum.add(ip.get(12..20)?);
            let id = u16::from_be_bytes([id_high, id_low]).into();
            let fragment = (place & 0x3fff != 0).then_some(Fragment { id, is_first: offset == 0 });
            let options = usize::from(ip[0] & 0xf) * 4;
            (hops, fragment, ip.get(options.max(20)..).unwrap_or_default(), protocol)
        }
        Address::V6(_) => {
            sum.add(&[6]);
            sum.add(ip.get(8..40)?);
            let (protocol, place, payload) = behind_extensions(ip[6], &ip[40..]);
            sum.add(&[protocol]);
            let fragment = place.map(|[_, _, high, low, id @ ..]| {
                sum.add(&[high, low & 0xf8]);
                sum.add(&id);
                let is_first = u16::from_be_bytes([high, low]) & 0xfff8 == 0;
                Fragment { id: u32::from_be_bytes(id), is_first }
            });
            (ip[7], fragment, payload, protocol)
        }
        _ => return None,
    };
    match protocol {
        _ if fragment.is_some_and(|fragment| !fragment.is_first) => sum.add(payload),
        TCP => sum.tcp(payload),
        UDP | UDP_LITE => sum.without(payload, 4..8),
        DCCP => sum.without(payload, 6..8),
        SCTP => sum.without(payload, 8..12),
        _ => sum.add(payload),
    }
    let rest = sum.hash();
    Some(Identified { header, length: whole as u32, hops, rest, is_cut: ip.len() < whole, fragment })
}

/// The protocol behind the extension headers of IPv6, the fragment header if there is one, and what
/// follows. Other extensions may change on the way.
fn behind_extensions(mut protocol: u8, mut payload: &[u8]) -> (u8, Option<[u8; 8]>, &[u8]) {
    let mut place = None;
    loop {
        let length = match (protocol, payload) {
            (0 | 43 | 60, [_, length, ..]) => (usize::from(*length) + 1) * 8,
            (51, [_, length, ..]) => (usize::from(*length) + 2) * 4,
            (44, [a, b, c, d, e, f, g, h, ..]) if place.is_none() => {
                place = Some([*a, *b, *c, *d, *e, *f, *g, *h]);
                8
            }
            _ => return (protocol, place, payload),
        };
        protocol = payload[0];
        payload = payload.get(length..).unwrap_or_default();
        let is_later = place.is_some_and(|[_, _, high, low, ..]| u16::from_be_bytes([high, low]) & 0xfff8 != 0);
        if is_later {
            return (protocol, place, payload);
        }
    }
}

/// An identity in the making.
struct Sum<'a> {
    head: &'a mut Vec<u8>,
    begin: usize,
    /// What did not fit the head.
    rest: Vec<u8>,
}

impl Sum<'_> {
    fn add(&mut self, bytes: &[u8]) {
        let room = HEAD_MAX - (self.head.len() - self.begin);
        let (kept, beyond) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(kept);
        self.rest.extend_from_slice(beyond);
    }

    /// A payload without the bytes in this range.
    fn without(&mut self, payload: &[u8], range: core::ops::Range<usize>) {
        self.add(&payload[..range.start.min(payload.len())]);
        self.add(payload.get(range.end..).unwrap_or_default());
    }

    /// Ports, numbers, window, urgent pointer, options without the size of a segment, data.
    fn tcp(&mut self, payload: &[u8]) {
        self.add(&payload[..payload.len().min(12)]);
        self.add(payload.get(14..payload.len().min(16)).unwrap_or_default());
        self.add(payload.get(18..payload.len().min(20)).unwrap_or_default());
        let length = payload.get(12).map_or(0, |byte| usize::from(byte >> 4) * 4).clamp(20, payload.len().max(20));
        let mut options = payload.get(20..length).unwrap_or_default();
        while let [kind, rest @ ..] = options {
            let size = match (kind, rest) {
                (0, _) => options.len(),
                (1, _) => 1,
                (_, [size, ..]) if *size >= 2 => usize::from(*size).min(options.len()),
                _ => options.len(),
            };
            if *kind != MSS {
                self.add(&options[..size]);
            }
            options = &options[size..];
        }
        self.add(payload.get(length..).unwrap_or_default());
    }

    fn hash(&self) -> u64 {
        if self.rest.is_empty() {
            return 0;
        }
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        let mut state = self.rest.len() as u64;
        for words in self.rest.chunks(512) {
            let mut block = [0; 65];
            block[0] = state;
            for (place, bytes) in block[1..].iter_mut().zip(words.chunks(8)) {
                *place = word(bytes);
            }
            state = Hash::new(0).of_fields(&block);
        }
        state
    }
}

/// The TCP option that tells the greatest segment.
const MSS: u8 = 2;

#[cfg(test)]
mod tests;
