//! Allocation per source-destination pair, the paper's conversation; the two directions are two
//! flows.
//!
//! Use when: conversations between two hosts should share, as in the 1990 paper. All connections of
//! a pair are one flow: to separate them use `port_pair`; for shares of sending hosts, `source`.
//! Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1990
//! (Motivation).
//! Cost: O(1) a packet.
//! Bound: none of its own. A sender that spreads over many destinations gets a share for each.

use crate::contract::{Classifier, Line};
use crate::hash::Hash;
use crate::packet::Header;
use crate::part::{Part, facts, no_settings};

no_settings!("Nothing can be set.");

impl Part for Settings {
    facts!(keeps_conversations_apart = true);
}

/// Keyed by both addresses, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Pair;

impl Pair {
    /// The classifier; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl Classifier for Pair {
    fn key(&self, header: &Header, hash: Hash) -> u64 {
        let ([a, b, c], [d, e, f]) = (super::words(&header.source), super::words(&header.destination));
        hash.of_fields(&[a, b, c, d, e, f])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Address;

    const fn header(source: u32, destination: u32, port: u16) -> Header {
        Header {
            source: Address::Node(source),
            destination: Address::Node(destination),
            protocol: 6,
            source_port: port,
            destination_port: 80,
            tos: 0,
        }
    }

    #[test]
    fn the_two_directions_are_two_conversations_and_ports_do_not_matter() {
        let hash = Hash::new(3);
        assert_eq!(Pair.key(&header(1, 2, 7), hash), Pair.key(&header(1, 2, 8), hash));
        assert_ne!(Pair.key(&header(1, 2, 7), hash), Pair.key(&header(2, 1, 7), hash));
        assert_ne!(Pair.key(&header(1, 2, 7), hash), Pair.key(&header(1, 3, 7), hash));
    }
}
