//! Transports: what a source does with what it is given to send, and what the sink answers.
//!
//! A sender is a function of its inputs: it is offered data, told of acknowledgements and of its timer, and asked
//! what to send and when to wake it. Loss recovery (`go_back_n`, `generic`) is apart from congestion control
//! (`congestion`), so that a law is one file.

pub mod congestion;
pub mod estimator;
pub mod generic;
pub mod go_back_n;
pub mod registry;
pub mod sink;
pub mod supply;
pub mod uncontrolled;

use fairq_sched::packet::Marks;
use fairq_sched::units::Time;

/// A data packet to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Its number.
    pub sequence: u64,
    /// Bytes on the line.
    pub length: u32,
    /// Whether the packet was sent before.
    pub is_retransmission: bool,
    /// When it was sent for the first time.
    pub first_sent: Time,
}

/// An acknowledgement, as the source sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The number of the packet that caused it.
    pub sequence: u64,
    /// The number of the packet the sink expects next.
    pub cumulative: u64,
    /// When the packet that caused it was sent for the first time.
    pub first_sent: Time,
    /// When the copy that caused it was sent.
    pub sent: Time,
    /// The marks of the packet that caused it.
    pub marks: Marks,
}

/// The sending side of a connection.
pub trait Sender: Send {
    /// The traffic has another packet of `length` bytes to send.
    fn offer(&mut self, length: u32);

    /// What to send now, if anything. Asked until it answers `None`, after each of the other calls.
    fn poll(&mut self, now: Time) -> Option<Transmission>;

    /// An acknowledgement arrives. The sample of the round trip that the source's estimator takes from it, if it takes
    /// one.
    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time>;

    /// When the source wants to be woken; [`Time::NEVER`] if not at all. May change with every other call.
    fn deadline(&self) -> Time;

    /// The deadline has come.
    fn wake(&mut self, now: Time);

    /// The marks that its packets may be given.
    fn accepts(&self) -> Marks {
        Marks::NONE
    }

    /// Names inner values to one who asks.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
