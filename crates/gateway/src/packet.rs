//! IP packets as bytes: where their parts are, how a long one is cut and short ones are joined, and
//! their checksums.
//!
//! The packets were written by hosts, so that any byte may be wrong. Every access is checked; a
//! packet that contradicts itself is refused whole.

pub mod checksum;
pub mod cut;
pub mod join;
pub mod virtio;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const IPV4_HEADER_MIN: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP_HEADER_MIN: usize = 20;
const UDP_HEADER: usize = 8;

/// Flags of TCP that are told apart here.
pub(crate) const FIN: u8 = 0x01;
pub(crate) const SYN: u8 = 0x02;
pub(crate) const PSH: u8 = 0x08;
pub(crate) const ACK: u8 = 0x10;
pub(crate) const CWR: u8 = 0x80;

/// Where the parts of an IP packet are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Whether it is IPv6, or else IPv4.
    pub is_v6: bool,
    /// The transport protocol.
    pub protocol: u8,
    /// Where the transport's header begins.
    pub transport: usize,
    /// Where its payload begins; of a fragment and of a protocol that is not known here, where the
    /// transport begins.
    pub payload: usize,
    /// Where the packet ends.
    pub end: usize,
    /// The place in its datagram, if it is a fragment.
    pub fragment: Option<Fragment>,
}

/// A fragment of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// What all fragments of the datagram have.
    pub id: u32,
    /// Whether it is the first, which has the ports.
    pub is_first: bool,
}

impl Shape {
    /// The shape of the packet that `bytes` begin with; `None` if they hold no whole IP packet.
    /// Bytes behind its end are padding.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut shape = match bytes.first()? >> 4 {
            4 => Self::of_v4(bytes)?,
            6 => Self::of_v6(bytes)?,
            _ => return None,
        };
        if shape.fragment.is_none_or(|fragment| fragment.is_first) {
            let transport = bytes.get(shape.transport..shape.end)?;
            let header = match shape.protocol {
                TCP => usize::from(transport.get(12)? >> 4) * 4,
                UDP => UDP_HEADER,
                _ => 0,
            };
            if shape.protocol == TCP && header < TCP_HEADER_MIN || header > transport.len() {
                return None;
            }
            shape.payload += header;
        }
        Some(shape)
    }

    fn of_v4(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..IPV4_HEADER_MIN)?;
        let transport = usize::from(header[0] & 0xf) * 4;
        let end = usize::from(u16_at(header, 2)?);
        if transport < IPV4_HEADER_MIN || end < transport || end > bytes.len() {
            return None;
        }
        let place = u16_at(header, 6)?;
        let id = u16_at(header, 4)?.into();
        // The bit before the offset is set if more fragments follow.
        let fragment = (place & 0x3fff != 0).then_some(Fragment { id, is_first: place & 0x1fff == 0 });
        Some(Self { is_v6: false, protocol: header[9], transport, payload: transport, end, fragment })
    }

    fn of_v6(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..IPV6_HEADER)?;
        let end = IPV6_HEADER + usize::from(u16_at(header, 4)?);
        let whole = bytes.get(..end)?;
        let (mut protocol, mut at, mut fragment) = (header[6], IPV6_HEADER, None);
        // Extension headers (RFC 8200, section 4). Each step takes eight bytes, so that there is an
        // end.
        loop {
            let length = match protocol {
                0 | 43 | 60 => (usize::from(*whole.get(at + 1)?) + 1) * 8,
                51 => (usize::from(*whole.get(at + 1)?) + 2) * 4,
                44 => {
                    let place = u16_at(whole, at + 2)?;
                    let id = u32_at(whole, at + 4)?;
                    fragment = Some(Fragment { id, is_first: place & 0xfff8 == 0 });
                    8
                }
                _ => break,
            };
            protocol = *whole.get(at)?;
            at += length;
            if fragment.is_some_and(|fragment| !fragment.is_first) {
                break;
            }
        }
        (at <= end).then_some(Self { is_v6: true, protocol, transport: at, payload: at, end, fragment })
    }

    /// Bytes behind the headers.
    #[must_use]
    pub const fn data(&self) -> u32 {
        (self.end - self.payload) as u32
    }

    /// The facts of a TCP segment of this shape; `None` if it is none.
    pub(crate) fn segment(&self, bytes: &[u8]) -> Option<Segment> {
        if self.protocol != TCP || self.fragment.is_some() {
            return None;
        }
        let transport = bytes.get(self.transport..self.payload)?;
        let flags = *transport.get(13)?;
        let acknowledges = if flags & ACK == 0 { None } else { u32_at(transport, 8) };
        let takes = [u32::from(flags & SYN != 0), u32::from(flags & FIN != 0)];
        Some(Segment { sequence: u32_at(transport, 4)?, takes, acknowledges })
    }
}

/// The numbers of a TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The number of its first byte, or of its SYN.
    pub(crate) sequence: u32,
    /// Numbers that it takes before its data, for SYN, and behind them, for FIN.
    pub(crate) takes: [u32; 2],
    /// Up to which number it acknowledges.
    pub(crate) acknowledges: Option<u32>,
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Writes `value` at `at`, if that is inside.
pub(crate) fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(field) = bytes.get_mut(at..at + 2) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(field) = bytes.get_mut(at..at + 4) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}

#[cfg(test)]
pub(crate) mod made;
#[cfg(test)]
mod tests;
