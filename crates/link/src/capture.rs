//! Packet captures: read pcap and pcapng, turn their stamps into arrival times, write pcapng.
//!
//! [`Reader`] streams records out of anything that is [`std::io::Read`]; its memory does not grow
//! with the capture. [`pair`] finds the packets of one capture in another. [`Clock`] makes arrival
//! times of stamps that jump or go backwards. [`Writer`] writes what Wireshark opens.
//!
//! ```
//! use fairq_link::capture::{Clock, Frame, LinkType, Reader, Stamp, Writer};
//! use fairq_sched::units::Time;
//!
//! let mut writer = Writer::new(Vec::new())?;
//! for second in 0..3 {
//!     let stamp = Stamp::from_ns(second * 1_000_000_000);
//!     writer.write(&Frame { stamp, length: 1500, link_type: LinkType::ETHERNET, data: &[0; 60] })?;
//! }
//! let file = writer.finish()?;
//!
//! let mut reader = Reader::new(&file[..], "three frames")?;
//! let mut clock = Clock::new(Time::from_s(10));
//! let mut last = Time::ZERO;
//! while let Some(record) = reader.next() {
//!     last = clock.arrival(record?.stamp);
//! }
//! assert_eq!(last, Time::from_s(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod doubles;
mod error;
mod fuzz;
mod header;
mod identity;
mod pairing;
mod pcap;
mod pcapng;
mod reader;
mod source;
mod writer;

pub use clock::{Clock, ClockReport};
pub use doubles::Doubles;
pub use error::CaptureError;
pub use fuzz::{fuzz_capture, fuzz_pairing};
pub use header::{Layers, UNREADABLE, header_of, layers_of, mark_ce};
pub use identity::{Fragment, HEAD_MAX, Identified, identify};
pub use pairing::{Counts, Kind, Pairing, PairingError, Row, pair};
pub use reader::{Frame, LENGTH_MAX, LinkType, Reader, Record, Stamp};
pub use writer::Writer;
