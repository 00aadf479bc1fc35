//! Traffic: what is given to a transport to send, and when.

pub mod capture;
pub mod constant_rate;
pub mod csv;
pub mod ftp;
pub mod law;
pub mod on_off;
pub mod poisson;
pub mod registry;
pub mod self_similar;
pub mod telnet;

use fairq_sched::units::{Bytes, Time};

/// A packet that the traffic wants sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When; never before the one before it.
    pub time: Time,
    /// Bytes on the line.
    pub length: u32,
}

/// A source of packets.
pub trait Source: Send {
    /// The next packet; `None` means that the source has finished.
    fn next(&mut self) -> Option<Emission>;
}

/// The packets of file transfers and of sources with a rate, unless a scenario says otherwise: those of the 1990 paper.
const fn usual_packet() -> Bytes {
    Bytes(1000)
}
