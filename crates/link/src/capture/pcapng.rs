//! The pcapng format: blocks in sections; interfaces that each have a link type and a resolution of
//! time.
//!
//! Source: draft-ietf-opsawg-pcapng, sections 3 and 4; the obsolete packet block from its appendix.
//! Lengths are checked here, before a byte is kept, and blocks without packets are passed over
//! without being kept; the fields of sections, interfaces and packets are read by `pcap-parser`.
//! Chosen: the length of a section is ignored, as writers do not keep to it; options other than the
//! resolution and the offset of time are ignored.

use super::CaptureError;
use super::reader::{Found, LENGTH_MAX, LinkType, Stamp};
use super::source::Source;
use pcap_parser::{
    InterfaceDescriptionBlock, OptionCode, parse_enhancedpacketblock_be, parse_enhancedpacketblock_le,
    parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
};
use std::io::Read;

/// The block types that matter here (section 11.1 of the draft).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// The greatest length of a block that is kept: the greatest packet and as much again for its
/// options.
const BLOCK_MAX: u32 = 2 * LENGTH_MAX;
/// The greatest number of interfaces in a section, so that memory stays bounded.
const INTERFACES_MAX: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: LinkType,
    /// The greatest captured length, 0 for none.
    snap_length: u32,
    resolution: Resolution,
    offset_s: i64,
}

/// The unit of an interface's stamps, as `if_tsresol` gives it: 10^-n s, or 2^-n s if the highest
/// bit is set.
#[derive(Clone, Copy, Debug)]
struct Resolution(u8);

/// A section in the middle of being read.
#[derive(Debug)]
pub(super) struct PcapNg {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// The stamp for a packet without one: that of the packet before.
    last: Stamp,
}

impl PcapNg {
    /// Whether `start` is the type of a section header.
    pub(super) fn is_magic(start: [u8; 4]) -> bool {
        u32::from_be_bytes(start) == SECTION_HEADER
    }

    /// Reads the first section header; `buffer` holds its type. `None` if the byte-order magic is
    /// missing.
    pub(super) fn open<R: Read>(source: &mut Source<R>, buffer: &mut Vec<u8>) -> Result<Option<Self>, CaptureError> {
        source.append(8, buffer)?;
        let mut section = Self { big_endian: false, interfaces: Vec::new(), last: Stamp::default() };
        if byte_order(buffer).is_none() {
            return Ok(None);
        }
        section.begin(source, buffer, 0)?;
        Ok(Some(section))
    }

    /// Reads blocks until one holds a packet, which stays in `buffer`; `None` at the end of the
    /// file.
    pub(super) fn next<R: Read>(
        &mut self,
        source: &mut Source<R>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Found>, CaptureError> {
        loop {
            let start = source.read;
            buffer.clear();
            // The shortest block has 12 bytes; in a section header they hold the byte order.
            match source.append_some(12, buffer)? {
                0 => return Ok(None),
                12 => {}
                got => source.append(12 - got, buffer)?,
            }
            let kind = self.u32_at(buffer, 0);
            if kind == SECTION_HEADER {
                self.begin(source, buffer, start)?;
                continue;
            }
            let length = self.u32_at(buffer, 4);
            if length < 12 {
                return Err(source.bad_length(start, length.into(), "less than the shortest block has"));
            }
            if !matches!(kind, INTERFACE_DESCRIPTION | OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
                self.skip(source, buffer, start, length)?;
                continue;
            }
            if length > BLOCK_MAX {
                return Err(source.bad_length(start, length.into(), "more than any packet has"));
            }
            source.append(length as usize - 12, buffer)?;
            self.check_end(source, buffer, start, length)?;
            let found = match kind {
                INTERFACE_DESCRIPTION => {
                    self.interface(source, buffer, start)?;
                    continue;
                }
                OBSOLETE_PACKET => self.obsolete_packet(source, buffer, start)?,
                SIMPLE_PACKET => self.simple_packet(source, buffer, start)?,
                _ => self.enhanced_packet(source, buffer, start)?,
            };
            if !found.link_type.is_supported() {
                return Err(source.bad_link_type(found.link_type.0));
            }
            self.last = found.stamp;
            return Ok(Some(found));
        }
    }

    /// Begins a section, the first 12 bytes of whose header are in `buffer`.
    fn begin<R: Read>(&mut self, source: &mut Source<R>, buffer: &mut Vec<u8>, start: u64) -> Result<(), CaptureError> {
        self.big_endian =
            byte_order(buffer).ok_or_else(|| source.bad_block(start, "the byte order of the section is missing"))?;
        self.interfaces.clear();
        let length = self.u32_at(buffer, 4);
        // Type, length, byte order, version, length of the section, length.
        if length < 28 {
            return Err(source.bad_length(start, length.into(), "less than a section header has"));
        }
        source.append(4, buffer)?;
        let major = if self.big_endian { [buffer[12], buffer[13]] } else { [buffer[13], buffer[12]] };
        if u16::from_be_bytes(major) != 1 {
            return Err(source.bad_block(start, "the section is of a version other than 1"));
        }
        source.skip(u64::from(length) - 20)?;
        buffer.clear();
        source.append(4, buffer)?;
        self.check_end(source, buffer, start, length)
    }

    /// Passes over a block of no interest.
    fn skip<R: Read>(
        &self,
        source: &mut Source<R>,
        buffer: &mut Vec<u8>,
        start: u64,
        length: u32,
    ) -> Result<(), CaptureError> {
        // The shortest block is in the buffer whole, its second length last.
        if length > 12 {
            let rest = u64::from(length) - 12;
            source.skip(rest.saturating_sub(4))?;
            source.append(rest.min(4) as usize, buffer)?;
        }
        self.check_end(source, buffer, start, length)
    }

    /// A block ends with its length once more; if it does not, the next block is not where it
    /// should be.
    fn check_end<R: Read>(
        &self,
        source: &Source<R>,
        buffer: &[u8],
        start: u64,
        length: u32,
    ) -> Result<(), CaptureError> {
        if self.u32_at(buffer, buffer.len() - 4) == length {
            Ok(())
        } else {
            Err(source.bad_length(start, length.into(), "but its end says otherwise"))
        }
    }

    fn interface<R: Read>(&mut self, source: &Source<R>, block: &[u8], start: u64) -> Result<(), CaptureError> {
        let parse =
            if self.big_endian { parse_interfacedescriptionblock_be } else { parse_interfacedescriptionblock_le };
        let (_, description) =
            parse(block).map_err(|_| source.bad_block(start, "the description of an interface is damaged"))?;
        if self.interfaces.len() == INTERFACES_MAX {
            return Err(source.bad_block(start, "there is an interface beyond the 65536th"));
        }
        self.interfaces.push(Interface {
            link_type: LinkType(description.linktype.0 as u32),
            snap_length: description.snaplen,
            resolution: Resolution(description.if_tsresol),
            offset_s: self.time_offset(&description),
        });
        Ok(())
    }

    /// The seconds to be added to an interface's stamps. `pcap-parser` reads them as little-endian
    /// in every section.
    fn time_offset(&self, description: &InterfaceDescriptionBlock<'_>) -> i64 {
        let mut options = description.options.iter();
        let bytes = options.find(|option| option.code == OptionCode::IfTsoffset).and_then(|o| o.as_bytes().ok());
        match bytes.map(<[u8; 8]>::try_from) {
            Some(Ok(bytes)) if self.big_endian => i64::from_be_bytes(bytes),
            Some(Ok(bytes)) => i64::from_le_bytes(bytes),
            _ => 0,
        }
    }

    fn enhanced_packet<R: Read>(&self, source: &Source<R>, block: &[u8], start: u64) -> Result<Found, CaptureError> {
        let parse = if self.big_endian { parse_enhancedpacketblock_be } else { parse_enhancedpacketblock_le };
        let (_, packet) = parse(block).map_err(|_| source.bad_block(start, "the packet does not fit its block"))?;
        let interface = self.interface_of(source, start, packet.if_id)?;
        Ok(Found {
            stamp: interface.stamp(packet.ts_high, packet.ts_low),
            original: packet.origlen,
            link_type: interface.link_type,
            // Type, length, interface, stamp, two lengths: 28 bytes; the parser has checked that
            // the rest is there.
            data: 28..28 + packet.caplen as usize,
        })
    }

    /// The packet block that came before the enhanced one: the number of its interface has 16 bits.
    fn obsolete_packet<R: Read>(&self, source: &Source<R>, block: &[u8], start: u64) -> Result<Found, CaptureError> {
        let does_not_fit = || source.bad_block(start, "the packet does not fit its block");
        if block.len() < 32 {
            return Err(does_not_fit());
        }
        let number = if self.big_endian { [block[8], block[9]] } else { [block[9], block[8]] };
        let interface = self.interface_of(source, start, u16::from_be_bytes(number).into())?;
        let captured = self.u32_at(block, 20) as usize;
        if captured > block.len() - 32 {
            return Err(does_not_fit());
        }
        Ok(Found {
            stamp: interface.stamp(self.u32_at(block, 12), self.u32_at(block, 16)),
            original: self.u32_at(block, 24),
            link_type: interface.link_type,
            data: 28..28 + captured,
        })
    }

    /// A packet of the first interface, without a stamp; how much of it was captured follows from
    /// the other lengths.
    fn simple_packet<R: Read>(&self, source: &Source<R>, block: &[u8], start: u64) -> Result<Found, CaptureError> {
        if block.len() < 16 {
            return Err(source.bad_block(start, "the packet does not fit its block"));
        }
        let interface = self.interface_of(source, start, 0)?;
        let original = self.u32_at(block, 8);
        let snap_length = if interface.snap_length == 0 { u32::MAX } else { interface.snap_length };
        let captured = (block.len() - 16).min(original.min(snap_length) as usize);
        Ok(Found { stamp: self.last, original, link_type: interface.link_type, data: 12..12 + captured })
    }

    fn interface_of<R: Read>(&self, source: &Source<R>, start: u64, number: u32) -> Result<Interface, CaptureError> {
        let problem = "the packet is of an interface that was not described";
        self.interfaces.get(number as usize).copied().ok_or_else(|| source.bad_block(start, problem))
    }

    /// Four bytes in the byte order of the section; the caller knows that they are there.
    fn u32_at(&self, bytes: &[u8], at: usize) -> u32 {
        let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}

/// Whether a section whose header begins with these bytes is big-endian; `None` if the byte-order
/// magic is missing.
fn byte_order(start: &[u8]) -> Option<bool> {
    match start[8..12] {
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(true),
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(false),
        _ => None,
    }
}

impl Interface {
    fn stamp(&self, high: u32, low: u32) -> Stamp {
        let units = u64::from(high) << 32 | u64::from(low);
        Stamp::from_s_and_ps(self.offset_s, self.resolution.picoseconds(units))
    }
}

impl Resolution {
    /// `units` in picoseconds, rounded down. Below 2^104, for a stamp has 64 bits and a second 40.
    fn picoseconds(self, units: u64) -> i128 {
        const PS_PER_S: i128 = 1_000_000_000_000;
        let units = i128::from(units);
        let exponent = u32::from(self.0 & 0x7f);
        if self.0 & 0x80 != 0 {
            // At most 127 places, which an i128 can be shifted by.
            (units * PS_PER_S) >> exponent
        } else if exponent <= 12 {
            units * 10_i128.pow(12 - exponent)
        } else {
            // A divisor that does not fit is greater than any stamp.
            10_i128.checked_pow(exponent - 12).map_or(0, |divisor| units / divisor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_exact_in_every_unit_that_is_whole_picoseconds() {
        assert_eq!(Resolution(6).picoseconds(1), 1_000_000);
        assert_eq!(Resolution(9).picoseconds(u64::MAX), i128::from(u64::MAX) * 1000);
        assert_eq!(Resolution(0).picoseconds(u64::MAX), i128::from(u64::MAX) * 1_000_000_000_000);
        assert_eq!(Resolution(12).picoseconds(7), 7);
        assert_eq!(Resolution(0x80).picoseconds(3), 3_000_000_000_000);
        assert_eq!(Resolution(0x80 | 10).picoseconds(1), 976_562_500);
        assert_eq!(Resolution(0x80 | 12).picoseconds(u64::MAX), i128::from(u64::MAX) * 244_140_625);
    }

    #[test]
    fn a_finer_stamp_is_rounded_down() {
        assert_eq!(Resolution(15).picoseconds(1_999), 1);
        assert_eq!(Resolution(127).picoseconds(u64::MAX), 0);
        // Three turns of 2^-20 s are 2.86 microseconds; a thousand of them do not lose a thousand
        // remainders.
        assert_eq!(Resolution(0x80 | 20).picoseconds(3), 2_861_022);
        assert_eq!(Resolution(0x80 | 20).picoseconds(3_000), 2_861_022_949);
        assert_eq!(Resolution(0xff).picoseconds(u64::MAX), 0);
    }
}
