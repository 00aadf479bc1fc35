//! Traffic: the data that a transport is given to send, and when. It is packets, or transfers of a
//! number of bytes each.

pub mod capture;
pub mod constant_rate;
pub mod csv;
pub mod distribution;
pub mod flow_arrivals;
pub mod ftp;
pub mod incast;
pub mod on_off;
pub mod poisson;
pub mod registry;
pub mod request_response;
pub mod self_similar;
pub mod telnet;
pub mod until;
pub mod web;

use fairq_sched::units::{Bytes, Time};

/// A packet that the traffic offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When it is offered; never before the previous one.
    pub time: Time,
    /// Bytes on the line.
    pub length: u32,
}

/// A source of packets.
pub trait Source: Send {
    /// The next packet; `None` means that the source has finished.
    fn next(&mut self) -> Option<Emission>;
}

/// A transfer that the traffic begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes on the line.
    pub bytes: u64,
    /// The flow's copy that carries it; by default the copy that has been idle longest.
    pub copy: Option<u32>,
    /// A number that is passed back at the end of the transfer.
    pub tag: u32,
}

/// A source of transfers, for all copies of a flow together.
pub trait Transfers: Send {
    /// When the next transfer begins; [`Time::NEVER`] if it waits for the end of another, or if the
    /// source has finished. May change with every other call.
    fn next_time(&self) -> Time;

    /// The transfer that begins now. Called as long as `next_time` is not after `now`.
    fn begin(&mut self, now: Time) -> Option<Transfer>;

    /// A transfer has ended, or was refused because no copy was idle.
    fn ended(&mut self, now: Time, tag: u32);
}

/// The packet source of a flow whose traffic is transfers: no packets.
pub struct Nothing;

impl Source for Nothing {
    fn next(&mut self) -> Option<Emission> {
        None
    }
}

/// The bytes of a packet of IP where neither the settings nor a scenario name them: the payload of an
/// Ethernet frame.
pub const PACKET: Bytes = Bytes(1500);

/// The bytes of a packet, `given` by the settings. The edition of a scenario fills them in; settings
/// without a scenario have [`PACKET`].
const fn packet(given: Option<Bytes>) -> Bytes {
    match given {
        Some(packet) => packet,
        None => PACKET,
    }
}
