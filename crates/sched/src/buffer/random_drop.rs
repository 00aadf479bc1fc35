//! Random drop: when the buffer is full, a random packet of those that wait and the arriving one is
//! dropped.
//!
//! Use when: you compare with the random drop of 1989. A flood keeps its share, as losses follow
//! the buffer held: for new work use `choke`, or `longest_queue_drop` with a queue for each flow.
//! Source: Hashem, "Analysis of Random Drop for Gateway Congestion Control", MIT/LCS/TR-465, 1989;
//! Mankin and Ramakrishnan, RFC 1254, 1991 (section 3.2).
//! Chosen: all packets have the same chance, whatever their length and queue; with a limit in bytes
//! as many are picked as make room.
//! Cost: O(1) a packet: the waiting packets stand side by side, the last one fills a gap.
//! Bound: a flow's share of the losses is its share of the buffer (active_queues.rs:
//! random_drop_takes_from_flows_what_they_hold); so a flow that does not slow down keeps what it
//! took.
//! Changes: a rate means nothing to it; packets beyond a lower limit go at the next arrival, each
//! with the same chance.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, Victim, traits};
use crate::facts::Overflow;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, no_settings};
use crate::random::Random;
use crate::reading::no_readings;
use crate::store::Store;
use crate::units::Time;

no_settings!("Nothing can be set; the limit is the queue's.");

impl Part for Settings {
    facts!(tells_flows_apart = false, overflow = Overflow::Deals);
}

/// Picks the victim at random.
pub struct RandomDrop {
    random: Random,
}

impl RandomDrop {
    /// The policy with the draws that belong to the line's seed.
    #[must_use]
    pub fn new(_: &Settings, line: &Line) -> Self {
        Self { random: Random::new(line.seed, "random_drop") }
    }
}

impl BufferPolicy for RandomDrop {
    traits!(draws_packets = true);

    no_changes!();

    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        super::refuse_too_long(store, packet)
    }

    fn victim(&mut self, _now: Time, store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        if !store.is_over_limit() {
            return None;
        }
        let (drawn, _) = store.drawn(self.random.below(store.packets()))?;
        Some((Victim::Packet(drawn), Reason::Drawn))
    }

    no_readings!();
}
