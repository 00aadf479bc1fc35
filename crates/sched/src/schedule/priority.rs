//! Strict priority: the first band that holds a packet sends one.
//!
//! Use when: one class must never wait for a lower one and its load is bounded elsewhere. A busy
//! first band starves the others: to bound its rate use `cbs`, to share among the others `ets`.
//! Source: folklore; IEEE 802.1Q strict priority transmission selection (8.6.8.1).
//! Chosen: a flow's class, `band_0` … `band_7`, names its band; without one the precedence of the
//! packet's TOS byte does, 7 first. Within a band packets leave in order of arrival.
//! Cost: O(1) a packet.
//! Bound: a packet waits for packets of its own and of earlier bands only, and for one packet in
//! transmission (ranked.rs: priority_makes_nobody_wait_for_a_later_band). No fairness: an earlier
//! band starves the later ones. A flow whose packets differ in precedence is reordered (ranked.rs:
//! priority_breaks_the_order_of_a_flow_of_many_precedences).
//! Changes: a flow's new class holds for the packets that arrive from then on; those that wait stay
//! in their band. A rate means nothing to it; weights are refused.

use crate::change::no_changes;
use crate::class_tree::Place;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::Queues;
use crate::leaf::LeafQueue;
use crate::packet::Packet;
use crate::part::{Part, facts};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::store::Store;
use crate::units::Time;
use crate::waiting::Decision;
use alloc::string::String;
use alloc::vec::Vec;

/// What waits in the bands.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The discipline in which the packets of each band wait, from `band_0` on; a band without one
    /// has `fifo + 1000packets`. Without any all bands are under one limit.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Vec::is_empty"))]
    pub queues: Vec<LeafQueue>,
}

/// The names of the bands, as flows choose them.
const BANDS: [&str; 8] = ["band_0", "band_1", "band_2", "band_3", "band_4", "band_5", "band_6", "band_7"];

impl Part for Settings {
    facts!(tells_flows_apart = false, queues = Queues::Own);

    fn places(&self) -> Vec<Place<'_>> {
        let place = |(at, name)| Place::new(name, None, &[]).with(self.queues.get(at));
        BANDS.into_iter().enumerate().map(place).collect()
    }

    fn leaf_queues(&mut self) -> Vec<&mut LeafQueue> {
        self.queues.iter_mut().collect()
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let (queues, bands) = (self.queues.len(), BANDS.len());
        (queues > bands).then(|| alloc::format!("priority: {queues} queues for {bands} bands; write one for each"))
    }
}

/// Which bands hold packets, a bit each.
pub struct Priority {
    backlogged: u8,
}

impl Priority {
    /// Nothing waits.
    #[must_use]
    pub const fn new(_: &Settings, _: &Line) -> Self {
        Self { backlogged: 0 }
    }
}

impl Scheduler for Priority {
    traits!(queue_per_flow = false, bypass = u32::MAX);

    fn classes(&self) -> Vec<&str> {
        BANDS.to_vec()
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        flow.class().map_or(7 - Slot::from(packet.tos >> 5), Slot::from)
    }

    fn asks_empty(&self) -> Slot {
        BANDS.len() as Slot
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.backlogged |= 1 << queue;
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        if self.backlogged == 0 { Next::Empty } else { Next::Queue(self.backlogged.trailing_zeros()) }
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if head.is_none() {
            self.backlogged &= !(1 << queue);
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.head.is_none() {
            self.backlogged &= !(1 << gone.queue);
        }
    }

    no_changes!();

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        Some(Decision::by("class", queue).with_value(queue.into()))
    }

    no_readings!();
}
