//! The way of a flow's packets, and what gateways see of them.

use super::segment::Direction;
use fairq_sched::packet::{Address, Header};
use std::sync::Arc;

/// Where a flow's packets go, and what gateways see of them: 32 bytes, and lines that flows on the same way share.
#[derive(Clone, Debug)]
pub struct Path {
    /// The lines of the data packets, then those of the acknowledgements.
    lines: Arc<[u32]>,
    /// How many are the data packets'.
    forward: u16,
    ends: Ends,
}

/// What the headers of a flow's packets say.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The number of the node that sends data.
    pub from: u32,
    /// That of the node that acknowledges it.
    pub to: u32,
    /// The port of both.
    pub port: u16,
    /// The type-of-service byte.
    pub tos: u8,
}

impl Path {
    /// Over the lines `forward`, at most 65535, and `backward`.
    #[must_use]
    pub fn new(forward: &[u32], backward: &[u32], ends: Ends) -> Self {
        Self { lines: [forward, backward].concat().into(), forward: forward.len() as u16, ends }
    }

    /// The same way, for a flow with other ends.
    #[must_use]
    pub fn between(&self, ends: Ends) -> Self {
        Self { lines: Arc::clone(&self.lines), ends, ..*self }
    }

    /// The lines of the data packets.
    #[must_use]
    #[inline]
    pub fn forward(&self) -> &[u32] {
        &self.lines[..usize::from(self.forward)]
    }

    /// The lines of the acknowledgements.
    #[must_use]
    #[inline]
    pub fn backward(&self) -> &[u32] {
        &self.lines[usize::from(self.forward)..]
    }

    /// The line that packets which go one way take after `hop` others; nothing at the end of the path.
    #[must_use]
    #[inline]
    pub fn line(&self, direction: Direction, hop: u16) -> Option<u32> {
        match direction {
            Direction::Forward if hop >= self.forward => None,
            Direction::Forward => self.lines.get(usize::from(hop)).copied(),
            Direction::Backward => self.lines.get(usize::from(self.forward) + usize::from(hop)).copied(),
        }
    }

    /// The header of packets that go one way.
    #[must_use]
    #[inline]
    pub const fn header(&self, direction: Direction) -> Header {
        let Ends { from, to, port, tos } = self.ends;
        let (source, destination) = match direction {
            Direction::Forward => (from, to),
            Direction::Backward => (to, from),
        };
        Header {
            source: Address::Node(source),
            destination: Address::Node(destination),
            protocol: 0,
            source_port: port,
            destination_port: port,
            tos,
        }
    }
}
