//! The reader: records, one at a time, out of pcap or pcapng.

use super::CaptureError;
use super::error::known_format;
use super::header::{Layers, layers_of};
use super::pcap::Pcap;
use super::pcapng::PcapNg;
use super::source::Source;
use core::num::NonZeroU32;
use fairq_sched::packet::Header;
use std::io::Read;
use std::ops::Range;

/// The greatest length of a packet that is believed: 16 MiB, beyond any link's and any offload
/// engine's.
pub const LENGTH_MAX: u32 = 1 << 24;

/// When a packet was captured: picoseconds since 1970, before it if negative.
///
/// Microseconds and nanoseconds are exact, and so is every other unit that is a whole number of
/// picoseconds. A finer or odder unit (2^-20 s) is rounded down from the whole stamp, so rounding
/// does not add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub i128);

impl Stamp {
    /// Whole nanoseconds since 1970.
    #[must_use]
    pub const fn from_ns(nanoseconds: i64) -> Self {
        Self(nanoseconds as i128 * 1000)
    }

    /// Whole seconds since 1970 and picoseconds beyond them.
    #[must_use]
    pub const fn from_s_and_ps(seconds: i64, picoseconds: i128) -> Self {
        Self(seconds as i128 * 1_000_000_000_000 + picoseconds)
    }
}

/// What the first bytes of a frame are, by the numbers of tcpdump.org/linktypes.html.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD loopback: an address family in the byte order of the machine.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// IPv4 or IPv6 without a link header.
    pub const RAW: Self = Self(101);
    /// OpenBSD loopback: an address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux "cooked" frames: what `any` captures.
    pub const LINUX_SLL: Self = Self(113);
    /// IPv4 without a link header.
    pub const IPV4: Self = Self(228);
    /// IPv6 without a link header.
    pub const IPV6: Self = Self(229);
    /// Linux "cooked" frames, version 2.
    pub const LINUX_SLL2: Self = Self(276);

    /// Whether frames of this type can be read. 12 and 14 are the numbers that [`LinkType::RAW`]
    /// has on some systems.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        matches!(self.0, 0 | 1 | 12 | 14 | 101 | 108 | 113 | 228 | 229 | 276)
    }
}

/// A frame as a capture file holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it was captured.
    pub stamp: Stamp,
    /// Its length on the wire, with the link header.
    pub length: u32,
    /// What its first bytes are.
    pub link_type: LinkType,
    /// What was captured of it.
    pub data: &'a [u8],
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// When it was captured, as the file says; it may be before its predecessor or months after. A
    /// packet without a stamp of its own (pcapng's simple packet block) has that of its
    /// predecessor.
    pub stamp: Stamp,
    /// Its length on the wire as the file says, link header included; at least what was captured,
    /// and at least 1. A claim of 0 or above [`LENGTH_MAX`] is not believed: what was captured
    /// counts ([`Reader::mended`]).
    pub length: u32,
    /// The fields by which packets are told apart; [`UNREADABLE`](super::UNREADABLE) if it is too
    /// short to tell.
    pub header: Header,
    /// Of `length`, the bytes that are not of the network layer: the link's header with its tags,
    /// and what pads a short frame.
    pub link_header: u8,
    /// Of a TCP acknowledgement that carries nothing else: the number up to which it acknowledges.
    pub acknowledges: Option<NonZeroU32>,
    /// What encloses further packets that were not looked into, as `GRE`.
    pub tunnel: Option<&'static str>,
    /// What was captured of it; shorter than `length` if the capture kept only the head of each
    /// packet.
    pub data: &'a [u8],
    /// What the first bytes of `data` are.
    pub link_type: LinkType,
}

impl<'a> Record<'a> {
    /// The record without its header, as [`Writer`](super::Writer) takes it.
    #[must_use]
    pub const fn frame(&self) -> Frame<'a> {
        Frame { stamp: self.stamp, length: self.length, link_type: self.link_type, data: self.data }
    }
}

/// A record in the reader's buffer.
pub(super) struct Found {
    pub(super) stamp: Stamp,
    /// The length on the wire that the file claims.
    pub(super) original: u32,
    pub(super) link_type: LinkType,
    /// Where in the buffer the captured bytes are.
    pub(super) data: Range<usize>,
}

enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// Reads a capture, pcap or pcapng, record by record, in memory that does not grow with its length.
///
/// After an error, and after the last record, there is nothing more.
pub struct Reader<R> {
    source: Source<R>,
    format: Format,
    buffer: Vec<u8>,
    mended: u64,
    cut: Option<CaptureError>,
    is_done: bool,
}

impl<R: Read> Reader<R> {
    /// Opens a capture; errors will call it `name`. The source need not be buffered.
    ///
    /// # Errors
    /// If it is empty, no capture, cut within its first header, of a link type that is not
    /// supported, or unreadable.
    pub fn new(source: R, name: &str) -> Result<Self, CaptureError> {
        let mut source = Source::new(source, name);
        let mut buffer = Vec::new();
        source.append_some(4, &mut buffer)?;
        let not_a_capture = |start: &[u8]| CaptureError::NotACapture { name: name.to_owned(), is: known_format(start) };
        let magic = match *buffer {
            [] => return Err(CaptureError::Empty { name: name.to_owned() }),
            [a, b, c, d] => [a, b, c, d],
            _ => return Err(not_a_capture(&buffer)),
        };
        let format = if Pcap::is_magic(magic) {
            Format::Pcap(Pcap::open(&mut source, &mut buffer)?)
        } else if PcapNg::is_magic(magic) {
            Format::PcapNg(PcapNg::open(&mut source, &mut buffer)?.ok_or_else(|| not_a_capture(&magic))?)
        } else {
            return Err(not_a_capture(&magic));
        };
        Ok(Self { source, format, buffer, mended: 0, cut: None, is_done: false })
    }

    /// The next record, which borrows the reader; `None` at the end.
    ///
    /// A capture that is cut behind its first record ends before the record that is not whole, and
    /// [`take_cut`](Self::take_cut) tells it.
    #[expect(clippy::should_implement_trait, reason = "an Iterator cannot lend its own buffer")]
    pub fn next(&mut self) -> Option<Result<Record<'_>, CaptureError>> {
        if self.is_done {
            return None;
        }
        let found = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.source, &mut self.buffer),
            Format::PcapNg(pcapng) => pcapng.next(&mut self.source, &mut self.buffer),
        };
        let Found { stamp, original, link_type, data } = match found {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.is_done = true;
                return None;
            }
            Err(error) => {
                self.is_done = true;
                if matches!(error, CaptureError::Cut { packets: 1.., .. }) {
                    self.cut = Some(error);
                    return None;
                }
                return Some(Err(error));
            }
        };
        self.source.packets += 1;
        let data = &self.buffer[data];
        let length = length_of(original, data.len() as u32);
        self.mended += u64::from(length != original);
        let Layers { header, link_header, acknowledges, tunnel } = layers_of(link_type, data, length);
        Some(Ok(Record { stamp, length, header, link_header, acknowledges, tunnel, data, link_type }))
    }

    /// Bytes of the capture that were read so far, for a report of progress.
    #[must_use]
    pub const fn bytes_read(&self) -> u64 {
        self.source.read
    }

    /// Records delivered so far.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.source.packets
    }

    /// Where the capture is cut, once its end was reached, if it is.
    pub const fn take_cut(&mut self) -> Option<CaptureError> {
        self.cut.take()
    }

    /// Records whose length on the wire could not be believed. If there are any, read the lengths
    /// with care.
    #[must_use]
    pub const fn mended(&self) -> u64 {
        self.mended
    }
}

/// The length on the wire: as claimed, if that is neither nothing, nor absurd, nor less than what
/// was captured.
fn length_of(original: u32, captured: u32) -> u32 {
    let believed = if original > LENGTH_MAX { captured } else { original };
    believed.max(captured).max(1)
}
