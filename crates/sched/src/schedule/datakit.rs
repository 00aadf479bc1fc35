//! Datakit: short messages first in a FIFO of their own, everything else a packet a turn.
//!
//! Use when: you study the AT&T trunks that the 1990 paper compares with: short messages first. It
//! is historic; for new work `drr_plus_plus` prefers flows that have just become active, and is
//! fair in bytes.
//! Source: Fraser and Morgan, AT&T Bell Laboratories Technical Journal 1984; Lo, 1987; Morgan,
//! INFOCOM 1989; the comparison in Demers, Keshav and Shenker 1990.
//! Departs: a line sees packets, not messages: a packet counts as a short message if it is not
//! longer than `short` and nothing of its circuit waits.
//! Chosen: `short` is a setting, for the papers' trunks tell messages apart by means that packets
//! do not have; 64 bytes take in a keystroke of the 1990 paper (40 bytes).
//! Cost: O(1) a packet.
//! Bound: a short message waits for the short ones before it and for one packet in transmission
//! (ranked.rs: datakit_makes_a_short_message_wait_for_short_ones_only); two backlogged circuits
//! differ by at most one, in packets, not in bytes (ranked.rs: datakit_serves_circuits_evenly). A
//! circuit that sends short packets slowly keeps its priority for ever.
//! Changes: a rate means nothing to it, for it keeps no time. Weights are refused.

use crate::change::no_changes;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::Queues;
use crate::packet::Packet;
use crate::part::{Part, facts, settings};
use crate::reading::no_readings;
use crate::ring::Ring;
use crate::store::Store;
use crate::units::{Bytes, Time};
use alloc::vec::Vec;

settings! {
    /// What is short.
    pub struct Settings {
        /// The longest packet that can be a message of its own.
        pub short: Bytes = Bytes(64),
    }
}

impl Part for Settings {
    facts!(queues = Queues::Own);

    fn variants() -> Vec<Self> {
        alloc::vec![Self { short: Bytes(0) }, Self { short: Bytes(1000) }]
    }
}

/// The queue of short messages; those of circuits follow.
const MESSAGES: Slot = 0;

/// The FIFO of short messages, and circuits that take turns.
pub struct Datakit {
    short: Bytes,
    has_messages: bool,
    turns: Ring,
}

impl Datakit {
    /// Nothing waits.
    #[must_use]
    pub const fn new(settings: &Settings, _: &Line) -> Self {
        Self { short: settings.short, has_messages: false, turns: Ring::new() }
    }

    fn shrank(&mut self, queue: Slot, is_empty: bool) {
        if queue != MESSAGES {
            self.turns.remove(queue);
            if !is_empty {
                self.turns.push_back(queue);
            }
        } else if is_empty {
            self.has_messages = false;
        }
    }
}

impl Scheduler for Datakit {
    traits!(queue_per_flow = false, bypass = u32::MAX);

    fn queue_of(&self, flow: Flow, packet: &Packet, store: &Store) -> Slot {
        let is_message = u64::from(packet.length) <= self.short.0 && store.flow_packets(flow.slot) == 0;
        if is_message { MESSAGES } else { flow.slot + 1 }
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        if queue == MESSAGES {
            self.has_messages = true;
        } else {
            self.turns.push_back(queue);
        }
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        if self.has_messages {
            return Next::Queue(MESSAGES);
        }
        self.turns.front().map_or(Next::Empty, Next::Queue)
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        self.shrank(queue, head.is_none());
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        // A packet that was not sent does not cost its circuit the turn.
        if gone.head.is_none() {
            self.shrank(gone.queue, true);
        }
    }

    no_changes!();

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    no_readings!();
}
