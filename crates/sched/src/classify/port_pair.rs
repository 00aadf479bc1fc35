//! Allocation per process: addresses, ports and protocol, the five-tuple of today.
//!
//! Use when: connections should share, as in Linux's fair qdiscs. A host with more connections gets
//! more: for equal hosts use `source` or `destination`, or `cake` for hosts and then connections.
//! Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1990
//! (Motivation).
//! Cost: O(1) a packet.
//! Bound: none of its own. A host gets a share for each of its processes.

use crate::contract::{Classifier, Line};
use crate::hash::Hash;
use crate::packet::Header;
use crate::part::{Part, facts, no_settings};

no_settings!("Nothing can be set.");

impl Part for Settings {
    facts!(keeps_conversations_apart = true);
}

/// Keyed by the five-tuple; fragments without ports share the flow of ports 0.
#[derive(Clone, Copy, Debug)]
pub struct PortPair;

impl PortPair {
    /// The classifier; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl Classifier for PortPair {
    fn key(&self, header: &Header, hash: Hash) -> u64 {
        let ([a, b, c], [d, e, f]) = (super::words(&header.source), super::words(&header.destination));
        let ports =
            u64::from(header.protocol) << 32 | u64::from(header.source_port) << 16 | u64::from(header.destination_port);
        hash.of_fields(&[a, b, c, d, e, f, ports])
    }
}
