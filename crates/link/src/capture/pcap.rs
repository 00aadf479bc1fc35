//! The pcap format: a header for the file, then a header of 16 bytes for each record.
//!
//! Source: draft-ietf-opsawg-pcap. The lengths are checked here, before a byte is kept; the fields
//! are read by `pcap-parser`.

use super::CaptureError;
use super::reader::{Found, LENGTH_MAX, LinkType, Stamp};
use super::source::Source;
use pcap_parser::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};
use std::io::Read;

/// Bytes of the file's header.
const FILE_HEADER: usize = 24;
/// Bytes of a record's header.
const RECORD_HEADER: usize = 16;

/// What the header of a pcap file says of its records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pcap {
    big_endian: bool,
    /// Picoseconds in a unit of the fraction of a second: microseconds or nanoseconds.
    fraction_ps: i128,
    link_type: LinkType,
}

impl Pcap {
    /// Whether `start` is the magic number of a pcap file.
    pub(super) fn is_magic(start: [u8; 4]) -> bool {
        matches!(u32::from_be_bytes(start), 0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1)
    }

    /// Reads the rest of the file's header; `buffer` holds the magic number.
    pub(super) fn open<R: Read>(source: &mut Source<R>, buffer: &mut Vec<u8>) -> Result<Self, CaptureError> {
        source.append(FILE_HEADER - buffer.len(), buffer)?;
        let (_, header) =
            parse_pcap_header(buffer).map_err(|_| source.bad_block(0, "the header of the file is damaged"))?;
        // The bits above the link type tell the length of a frame check sequence.
        let link_type = LinkType(header.network.0 as u32 & 0x03ff_ffff);
        if !link_type.is_supported() {
            return Err(source.bad_link_type(link_type.0));
        }
        let fraction_ps = if header.is_nanosecond_precision() { 1_000 } else { 1_000_000 };
        Ok(Self { big_endian: header.is_bigendian(), fraction_ps, link_type })
    }

    /// Reads a record into `buffer`; `None` at the end of the file.
    pub(super) fn next<R: Read>(
        &self,
        source: &mut Source<R>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Found>, CaptureError> {
        let start = source.read;
        buffer.clear();
        match source.append_some(RECORD_HEADER, buffer)? {
            0 => return Ok(None),
            RECORD_HEADER => {}
            got => source.append(RECORD_HEADER - got, buffer)?,
        }
        let captured = [buffer[8], buffer[9], buffer[10], buffer[11]];
        let captured = if self.big_endian { u32::from_be_bytes(captured) } else { u32::from_le_bytes(captured) };
        if captured > LENGTH_MAX {
            return Err(source.bad_length(start, captured.into(), "more than any packet has"));
        }
        source.append(captured as usize, buffer)?;
        let parse = if self.big_endian { parse_pcap_frame_be } else { parse_pcap_frame };
        let (_, record) = parse(buffer).map_err(|_| source.bad_block(start, "the record is damaged"))?;
        Ok(Some(Found {
            stamp: Stamp::from_s_and_ps(record.ts_sec.into(), i128::from(record.ts_usec) * self.fraction_ps),
            original: record.origlen,
            link_type: self.link_type,
            data: RECORD_HEADER..RECORD_HEADER + captured as usize,
        }))
    }
}
