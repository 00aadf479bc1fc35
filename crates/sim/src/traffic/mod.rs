//! Traffic: what is given to a transport to send, and when. It is packets, or transfers of so many bytes each.

pub mod capture;
pub mod constant_rate;
pub mod csv;
pub mod flow_arrivals;
pub mod ftp;
pub mod incast;
pub mod law;
pub mod on_off;
pub mod poisson;
pub mod registry;
pub mod request_response;
pub mod self_similar;
pub mod telnet;
pub mod until;
pub mod web;

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

/// A transfer that the traffic wants begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes on the line.
    pub bytes: u64,
    /// Which of the flow's copies carries it; the one that has been idle longest if nothing is said.
    pub copy: Option<u32>,
    /// The number under which the traffic is told of its end.
    pub tag: u32,
}

/// A source of transfers, for all copies of a flow together.
pub trait Transfers: Send {
    /// When the next transfer begins; [`Time::NEVER`] if that waits for another's end, or if the source has finished.
    /// May change with every other call.
    fn next_time(&self) -> Time;

    /// The transfer that begins now. Asked as long as `next_time` is not after `now`.
    fn begin(&mut self, now: Time) -> Option<Transfer>;

    /// A transfer has come to its end, or was refused since no copy was idle.
    fn ended(&mut self, now: Time, tag: u32);
}

/// No packets: what a flow has whose traffic is transfers.
pub struct Nothing;

impl Source for Nothing {
    fn next(&mut self) -> Option<Emission> {
        None
    }
}

/// Bytes of a packet of IP where nothing says another: what an Ethernet frame carries.
pub const PACKET: Bytes = Bytes(1500);

/// Bytes of a packet of which the settings say `given`. A scenario's are filled in by its edition; settings without a
/// scenario have [`PACKET`].
const fn packet(given: Option<Bytes>) -> Bytes {
    match given {
        Some(packet) => packet,
        None => PACKET,
    }
}
