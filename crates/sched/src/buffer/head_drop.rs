//! Head drop: when the buffer is full, the packet that has waited longest is dropped and the
//! arriving one joins.
//!
//! Use when: TCP should hear of a full buffer sooner, by the loss of the oldest packet. To signal
//! before the buffer is full use `codel`; the plain baseline is `tail_drop`.
//! Source: Lakshman, Neidhardt and Ott, "The Drop from Front Strategy in TCP and in TCP over ATM",
//! INFOCOM 1996.
//! Departs: with several queues it is the oldest packet of all of them (the source has one queue).
//! Chosen: a packet whose transmission was interrupted counts as the oldest.
//! Cost: O(1) a packet, amortised: the list of ages is cleared of packets that have left when they
//! are half of it.
//! Bound: the packets held are always the last that arrived, as many as fit, less those sent
//! (active_queues.rs: head_drop_keeps_the_latest).
//! Changes: a rate means nothing to it; packets beyond a lower limit go at the next arrival, the
//! oldest first.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Handle, HeldPacket, Line, Slot, Verdict, Victim, traits};
use crate::facts::Overflow;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, no_settings};
use crate::reading::no_readings;
use crate::store::Store;
use crate::units::Time;
use alloc::collections::VecDeque;

no_settings!("Nothing can be set; the limit is the queue's.");

impl Part for Settings {
    facts!(tells_flows_apart = false, overflow = Overflow::Deals);
}

/// Names of packets in the order of their arrival, those of some that have left among them.
pub struct HeadDrop {
    ages: VecDeque<Handle>,
}

/// Below this many names nothing is cleared.
const FEW: usize = 64;

impl HeadDrop {
    /// Nothing waits.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self { ages: VecDeque::new() }
    }
}

impl BufferPolicy for HeadDrop {
    traits!(hears_joins = true);

    no_changes!();

    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        super::refuse_too_long(store, packet)
    }

    fn joined(&mut self, _now: Time, store: &Store, held: HeldPacket<'_>) {
        if self.ages.len() >= FEW && self.ages.len() as u64 >= 2 * store.packets() {
            self.ages.retain(|handle| store.waiting(*handle).is_some());
        }
        if held.packet.unsent_bits > 0 {
            self.ages.push_front(held.handle);
        } else {
            self.ages.push_back(held.handle);
        }
    }

    fn victim(&mut self, _now: Time, store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        if !store.is_over_limit() {
            return None;
        }
        loop {
            let oldest = self.ages.pop_front()?;
            if store.waiting(oldest).is_some() {
                return Some((Victim::Packet(oldest), Reason::Oldest));
            }
        }
    }

    no_readings!();
}
