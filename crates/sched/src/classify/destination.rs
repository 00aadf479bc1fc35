//! Allocation per destination: all that one host is sent is one flow.
//!
//! Use when: receivers should share, as where clients download. A flood at one receiver takes that
//! receiver's share: to keep its senders apart use `pair`, or `port_pair` for connections.
//! Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1990
//! (Motivation).
//! Cost: O(1) a packet.
//! Bound: none of its own. A malicious sender can eat a receiver's share.

use crate::contract::{Classifier, Line};
use crate::hash::Hash;
use crate::packet::Header;
use crate::part::{Part, no_settings};

no_settings!("Nothing can be set.");

impl Part for Settings {}

/// Keyed by the destination address.
#[derive(Clone, Copy, Debug)]
pub struct Destination;

impl Destination {
    /// The classifier; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl Classifier for Destination {
    fn key(&self, header: &Header, hash: Hash) -> u64 {
        hash.of_fields(&super::words(&header.destination))
    }
}
