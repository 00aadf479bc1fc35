//! First in, first out: one queue for all, served in order of arrival.
//!
//! Use when: you need the baseline, or one flow has the line to itself. It is not fair: a flow's
//! share follows its arrivals. For equal shares use `drr`, for short queues too `fq_codel`.
//! Source: folklore; the FCFS gateways of Demers, Keshav and Shenker 1990 (Introduction).
//!
//! Steps:
//! 1. A packet arrives: the buffer policy lets it in, drops another one for it, or refuses it.
//! 2. If it is let in, it joins the tail of the one queue, whatever its flow.
//! 3. The line is free: send the head of the queue, the first to arrive of those that wait.
//! 4. Nothing waits when the line is free: the next packet to arrive is sent at once.
//!
//! Cost: O(1) a packet.
//! Bound: no fairness: a flow's share is its share of the arrivals. Delay is the backlog ahead over
//! the rate (laws.rs: fifo_keeps_the_order_of_arrival).
//! Changes: a rate means nothing to it; weights are refused.

use crate::change::no_changes;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::Queues;
use crate::packet::Packet;
use crate::part::{Part, facts, no_settings};
use crate::reading::no_readings;
use crate::store::Store;
use crate::units::Time;
use crate::waiting::{ARRIVAL, Decision};

no_settings!("Nothing can be set.");

impl Part for Settings {
    facts!(tells_flows_apart = false, queues = Queues::Own);
}

/// The step of the card that sends.
pub(crate) const CHOOSES: u8 = 3;

/// One queue for all.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

impl Fifo {
    /// The scheduler; it keeps nothing.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self
    }
}

impl Scheduler for Fifo {
    traits!(queue_per_flow = false, tags = false);

    fn queue_of(&self, _flow: Flow, _packet: &Packet, _store: &Store) -> Slot {
        0
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, _queue: Slot, _tag: Tag) {}

    fn next(&mut self, _now: Time, store: &Store) -> Next {
        if store.packets() > 0 { Next::Queue(0) } else { Next::Empty }
    }

    fn sent(&mut self, _now: Time, _queue: Slot, _packet: &Packet, _tag: Tag, _head: Option<Tag>) {}

    fn removed(&mut self, _now: Time, _gone: Gone<'_>) {}

    no_changes!();

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        Some(Decision::by(ARRIVAL, queue).in_step(CHOOSES))
    }

    no_readings!();
}
