//! Multicast: layered sources, trees of lines with joins and prunings, and receivers that choose
//! how many layers to take.
//!
//! A session has one source and several receivers. Its layers are cumulative: a receiver that takes
//! n layers takes the lowest n. A node of the tree copies a packet to each line that leads to a
//! receiver which takes its layer. Every copy is a packet of its own, which waits and is dropped
//! separately. Gateways see one header for all layers, so fair queueing treats a session as one
//! flow.
//!
//! Packets are not flooded: a node tells the node above it how many layers it wants, which takes
//! the time of a packet of 40 bytes over each line. These messages are not queued and not lost.

pub mod plan;
pub mod plm;
pub mod registry;
pub mod rlc;
pub mod rlm;
pub mod session;
pub mod source;
pub mod tree;

use crate::transport::messages::Flags;
use fairq_link::random::Stream;
use fairq_sched::units::Time;

/// A packet of a layer that a receiver takes.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The layer, from 0.
    pub layer: usize,
    /// The packet's number in it.
    pub sequence: u64,
    /// Bytes on the line.
    pub length: u32,
    /// Flags of its header.
    pub flags: Flags,
    /// Packets of the layer that are missing just before it.
    pub missing: u64,
}

/// How a receiver chooses its layers. It has joined the lowest one when it is made.
pub trait Control: Send {
    /// The number of layers that it takes.
    fn level(&self) -> usize;

    /// A packet of one of these layers arrives.
    fn receive(&mut self, now: Time, packet: &Received);

    /// When it wants to be woken; [`Time::NEVER`] if never.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The deadline has come.
    fn wake(&mut self, _now: Time) {}

    /// The layer whose joining is to be announced to the other receivers; returned once.
    fn announce(&mut self) -> Option<usize> {
        None
    }

    /// Another receiver announces that it joins `layer`.
    fn heard(&mut self, _now: Time, _layer: usize) {}
}

/// The initial state of a receiver.
pub struct Beginning {
    /// The time at which it begins.
    pub now: Time,
    /// The rates of the lowest layer, of the lowest two, and so on, in bits a second.
    pub cumulative: Vec<u64>,
    /// Its random stream.
    pub stream: Stream,
}

/// Implemented by the settings of every way to choose layers. No method has a default: a forgotten
/// one would be a wrong number in a result, and no message.
pub trait ReceiverSettings {
    /// A receiver that has just joined the lowest layer.
    fn control(&self, beginning: Beginning) -> Box<dyn Control>;

    /// Why the settings make no sense with a source that sends as `source` says, if they do not.
    fn fault(&self, source: &source::Settings) -> Option<String>;
}
