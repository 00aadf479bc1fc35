//! Greatest-rank drop: when too much waits, the packet that would leave last loses, by the tag its
//! scheduler gave it.
//!
//! Use when: the scheduler ranks packets on arrival (`pifo`, `sp_pifo`, `edf`, `fq`) and the first
//! in that order must survive overload. To drop from the flow with most bytes use
//! `longest_queue_drop`.
//! Source: Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016; pFabric
//! (Alizadeh et al., SIGCOMM 2013, section 4.3: drop the lowest priority).
//! Chosen: of equal tags the last to come loses. A scheduler that does not rank packets on arrival
//! is refused.
//! Cost: O(log n) for n packets held.
//! Bound: the least ranks offered are the ones that are held (ranked.rs:
//! greatest_rank_drop_keeps_the_least_ranks).
//! Changes: a rate means nothing to it; packets beyond a lower limit go at the next arrival, those
//! of the greatest ranks first.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Handle, HeldPacket, Line, Slot, Tag, Verdict, Victim, traits};
use crate::facts::Overflow;
use crate::heap::Heap;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, no_settings};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::slots::entry;
use crate::store::Store;
use crate::units::Time;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

no_settings!("Nothing can be set.");

impl Part for Settings {
    facts!(tells_flows_apart = false, overflow = Overflow::Deals);

    fn fault(&self, queue: &Queue) -> Option<String> {
        let name = queue.scheduler.name();
        (!queue.scheduler.part().facts().ranks_packets).then(|| {
            format!(
                "greatest_rank_drop drops by the rank that a scheduler gives a packet, and {name} gives none; use \
                 longest_queue_drop or tail_drop"
            )
        })
    }
}

/// Waiting packets, the greatest tag first.
pub struct GreatestRankDrop {
    /// By tag and order of arrival, under the index of the handle.
    packets: Heap<Reverse<(Tag, u64)>>,
    /// By index, the handle that has it now.
    handles: Vec<Handle>,
    arrivals: u64,
}

impl GreatestRankDrop {
    /// Nothing waits.
    #[must_use]
    pub fn new(_: &Settings, _: &Line) -> Self {
        Self { packets: Heap::new(), handles: Vec::new(), arrivals: 0 }
    }
}

impl BufferPolicy for GreatestRankDrop {
    traits!(hears_joins = true);

    no_changes!();

    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        super::refuse_too_long(store, packet)
    }

    fn joined(&mut self, _now: Time, store: &Store, held: HeldPacket<'_>) {
        let index = held.handle.index();
        *entry(&mut self.handles, index, held.handle) = held.handle;
        let tag = store.waiting(held.handle).map_or(0, |entry| entry.tag);
        self.arrivals += 1;
        self.packets.push(index, Reverse((tag, self.arrivals)));
    }

    fn victim(&mut self, _now: Time, store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        if !store.is_over_limit() {
            return None;
        }
        let (index, _) = self.packets.peek()?;
        Some((Victim::Packet(self.handles[index as usize]), Reason::Rank))
    }

    fn left(&mut self, _now: Time, _store: &Store, held: HeldPacket<'_>, _is_sent: bool) {
        self.packets.remove(held.handle.index());
    }

    no_readings!();
}
