//! Why a capture cannot be read (on): one line that names the capture, the place and the cause.

use std::fmt;

/// Why a capture cannot be read, or cannot be read on.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureError {
    /// There is not one byte.
    Empty {
        /// The capture, as its reader was told to call it.
        name: String,
    },
    /// The first bytes are those of neither pcap nor pcapng.
    NotACapture {
        /// The capture, as its reader was told to call it.
        name: String,
        /// The format that the first bytes show, if they do.
        is: Option<&'static str>,
    },
    /// The capture ends in the middle of a record or block.
    Cut {
        /// The capture, as its reader was told to call it.
        name: String,
        /// Whole packets before the cut.
        packets: u64,
        /// Where it ends.
        byte: u64,
    },
    /// Frames of a link type whose headers are not known here.
    LinkType {
        /// The capture, as its reader was told to call it.
        name: String,
        /// The number of the link type (tcpdump.org/linktypes.html).
        number: u32,
    },
    /// A record or block claims a length that it cannot have.
    Length {
        /// The capture, as its reader was told to call it.
        name: String,
        /// Where the record or block begins.
        byte: u64,
        /// The length that it claims.
        length: u64,
        /// What is wrong with the length.
        problem: &'static str,
    },
    /// A block whose content contradicts the format.
    Block {
        /// The capture, as its reader was told to call it.
        name: String,
        /// Where the block begins.
        byte: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The system failed to read.
    Io {
        /// The capture, as its reader was told to call it.
        name: String,
        /// How far it was read.
        byte: u64,
        /// What the system said.
        cause: std::io::Error,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { name } => write!(f, "{name}: the file is empty"),
            Self::NotACapture { name, is: Some(is) } => write!(f, "{name}: not a pcap or pcapng file, but {is}"),
            Self::NotACapture { name, is: None } => write!(f, "{name}: not a pcap or pcapng file"),
            Self::Cut { name, packets, byte } => {
                write!(
                    f,
                    "{name}: cut in the middle of a record after {packets} packets, at byte {byte}; copy it again, or keep \
                     the whole records with editcap"
                )
            }
            Self::LinkType { name, number } => write!(
                f,
                "{name}: link type {number} is not supported; supported are 0, 1, 12, 14, 101, 108, 113, 228, 229, 276"
            ),
            Self::Length { name, byte, length, problem } => {
                write!(f, "{name}: the record at byte {byte} claims a length of {length}, {problem}")
            }
            Self::Block { name, byte, problem } => write!(f, "{name}: in the block at byte {byte}, {problem}"),
            Self::Io { name, byte, cause } => write!(f, "{name}: cannot read on at byte {byte}: {cause}"),
        }
    }
}

impl std::error::Error for CaptureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

/// The format of a file that is no capture, if its first bytes show it.
pub(super) fn known_format(start: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"\x1f\x8b", "gzip; decompress it first"),
        (b"\x28\xb5\x2f\xfd", "zstd; decompress it first"),
        (b"\xfd7zX", "xz; decompress it first"),
        (b"\x04\x22\x4d\x18", "lz4; decompress it first"),
        (b"BZh", "bzip2; decompress it first"),
        (b"PK\x03\x04", "a zip archive; unpack it first"),
        (b"\x34\xcd\xb2\xa1", "the modified pcap of 1999 (Kuznetzov); convert it with editcap"),
        (b"\xa1\xb2\xcd\x34", "the modified pcap of 1999 (Kuznetzov); convert it with editcap"),
        (b"snoo", "snoop; convert it with editcap"),
        (b"GMBU", "Network Monitor; convert it with editcap"),
        (b"RTSS", "Network Monitor; convert it with editcap"),
        (b"PAR1", "Parquet"),
        (b"\x7fELF", "a program"),
        (b"<", "XML or HTML"),
        (b"{", "JSON"),
    ];
    KNOWN.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, what)| *what)
}
