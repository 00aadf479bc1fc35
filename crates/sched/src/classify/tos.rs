//! Allocation per type of service: all packets with one DSCP are one flow.
//!
//! Use when: classes marked by DSCP should share. A sender chooses its own class: where senders
//! cannot be trusted use `source` or `port_pair`.
//! Source: RFC 791 (type of service) and RFC 2474 (the DSCP: its upper six bits).
//! Cost: O(1) a packet.
//! Bound: none of its own. The sender, which sets the field, chooses the class.

use crate::contract::{Classifier, Line};
use crate::hash::Hash;
use crate::packet::Header;
use crate::part::{Part, no_settings};

no_settings!("Nothing can be set.");

impl Part for Settings {}

/// Keyed by the upper six bits of the type-of-service byte.
#[derive(Clone, Copy, Debug)]
pub struct Tos;

impl Tos {
    /// The classifier; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl Classifier for Tos {
    fn key(&self, header: &Header, hash: Hash) -> u64 {
        hash.of_fields(&[u64::from(header.tos >> 2)])
    }
}
