//! What is recorded of a run while it goes on: observers, which are told of every packet and return
//! nothing. Without one nothing is paid.

pub mod captures;
pub mod event_log;
pub mod packet_log;

use crate::report::Name;
use fairq_link::capture::Stamp;
use fairq_sched::packet::Reason;
use fairq_sched::units::Time;
use std::io;

/// A packet that something happens to.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its bytes, from the header of IP on.
    pub bytes: &'a [u8],
    /// Where its checksum is to be completed, if it is not.
    pub checksum: Option<(u16, u16)>,
    /// Whether it was marked with congestion experienced on this line; its bytes do not show that
    /// yet.
    pub is_marked: bool,
    /// Its length on the line.
    pub length: u32,
    /// Its flow.
    pub flow: &'a Name,
    /// When it came from its sender.
    pub entered: Time,
    /// When it came to this line.
    pub arrived: Time,
}

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It came to the queue of a line.
    Arrived,
    /// Its last bit was sent on the line.
    Sent,
    /// The queue of the line dropped it.
    Dropped(Reason),
    /// It was lost behind the line.
    Lost,
    /// It left the last line of its way, for its host.
    Delivered,
}

/// An event on a line.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The line's number in the plan.
    pub line: u32,
    /// What happens.
    pub what: What,
    /// What it happens to.
    pub packet: Seen<'a>,
}

/// An observer of a run. Its times never go back on one line.
pub trait Observer: Send {
    /// The run begins: its time zero, in picoseconds since 1970.
    fn begin(&mut self, _zero: Stamp) {}

    /// Something happens at `now`, which is the intended time and not that of the clock.
    fn event(&mut self, now: Time, event: &Event<'_>);

    /// The run is over at `now`.
    ///
    /// # Errors
    /// If something that was recorded could not be written.
    fn finish(&mut self, _now: Time) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
