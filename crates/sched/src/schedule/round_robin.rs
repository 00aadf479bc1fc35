//! Nagle's fair queueing: a queue for each flow, the queues take turns, a packet a turn.
//!
//! Use when: all packets have the same length, or you reproduce Nagle's queueing of 1985. It is
//! fair in packets, not in bytes: with different lengths use `drr`.
//! Source: Nagle, "On Packet Switches with Infinite Storage", RFC 970 (1985) and IEEE Trans.
//! Communications 1987.
//!
//! Steps:
//! 1. A packet arrives: it joins the tail of its flow's queue. A flow of which nothing waited takes
//!    the last turn.
//! 2. The line is free: the flow that has the turn sends the head of its queue.
//! 3. If more of the flow waits, it takes the last turn.
//! 4. If that was the flow's last packet, or a drop takes it, the flow leaves the round.
//!
//! Chosen: a flow that becomes backlogged takes the last turn.
//! Cost: O(1) a packet.
//! Bound: packets served of two continuously backlogged flows differ by at most 1; their bytes by
//! up to the ratio of packet lengths (laws.rs: round_robin_serves_packets_evenly).
//! Changes: a rate means nothing to it; weights are refused.

use crate::change::no_changes;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::packet::Packet;
use crate::part::{Part, facts, no_settings};
use crate::promise::{Load, Measure};
use crate::reading::no_readings;
use crate::ring::Ring;
use crate::store::Store;
use crate::units::Time;
use crate::waiting::Decision;

no_settings!("Nothing can be set.");

impl Part for Settings {
    facts!(fits_inner_nodes = true);

    fn promise(&self, measure: Measure, _load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::PacketFairness(..) => Some(1.0),
            _ => None,
        }
    }
}

/// The step of the card that sends.
const CHOOSES: u8 = 2;

/// A packet a turn.
pub struct RoundRobin {
    turns: Ring,
}

impl RoundRobin {
    /// No flow waits.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self { turns: Ring::new() }
    }
}

impl Scheduler for RoundRobin {
    // A flow that sends its last packet leaves the round, without credit.
    traits!(tags = false, bypass = u32::MAX);

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.turns.push_back(queue);
    }

    #[inline]
    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.turns.front().map_or(Next::Empty, Next::Queue)
    }

    #[inline]
    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if head.is_some() {
            self.turns.rotate();
        } else {
            self.turns.remove(queue);
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.head.is_none() {
            self.turns.remove(gone.queue);
        }
    }

    no_changes!();

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        Some(Decision::by("turn", queue).in_step(CHOOSES))
    }

    no_readings!();
}
