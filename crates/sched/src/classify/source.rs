//! Allocation per source: all that one host sends is one flow.
//!
//! Use when: sending hosts should share, however many connections each has. A busy server gets no
//! more than a client: for shares of conversations use `pair`, of connections `port_pair`.
//! Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1990
//! (Motivation).
//! Cost: O(1) a packet.
//! Bound: none of its own. Departs from fairness for file servers, which send much with good
//! reason.

use crate::contract::{Classifier, Line};
use crate::hash::Hash;
use crate::packet::Header;
use crate::part::{Part, no_settings};

no_settings!("Nothing can be set.");

impl Part for Settings {}

/// Keyed by the source address.
#[derive(Clone, Copy, Debug)]
pub struct Source;

impl Source {
    /// The classifier; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl Classifier for Source {
    fn key(&self, header: &Header, hash: Hash) -> u64 {
        hash.of_fields(&super::words(&header.source))
    }
}
