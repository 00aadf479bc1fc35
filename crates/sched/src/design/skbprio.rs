//! Linux's skbprio: the packet of highest priority leaves first, and without room the last one of
//! the lowest priority goes.
//!
//! Use when: under a flood the packets that matter most must get through. It starves the others and
//! keeps no queue short: to share use `ets` or `fq_codel`; without push-out, `priority`.
//! Source: Linux 6.1, sch_skbprio.c (N. Devarajan, C. Doucette), after Q. Fu's GateKeeper.
//! Rules: there are 64 priorities, the highest leaves first, within one packets leave in order of
//! arrival (`skbprio_dequeue`). A packet that finds no room is dropped unless a packet of lower
//! priority waits; then the last packet of the lowest one is (`skbprio_enqueue`).
//! Departs: a limit may be in bytes, and room is made until it is kept.
//! Chosen: the priority is that which a router gives by the type of service (`ip_forward`:
//! `rt_tos2priority`): 0, 2, 4 or 6; with `by` = `dscp` it is the code point, as where a filter has
//! the action `skbedit inheritdsfield`. Without a limit 64 packets may wait (`skbprio_init`).
//! Cost: O(1) a packet; 64 steps to find a lower priority.
//! Bound: a packet is dropped only for lack of room, and none while one of lower priority waits
//! (its own test: what_waits_are_the_highest_of_all). A higher priority starves the lower ones, and
//! a flow whose packets differ in priority is reordered.
//! Changes: packets beyond a lower limit go at the next arrival, the lowest priority first. A rate
//! means nothing to it; weights, pacing and classes are refused.

use crate::change::no_changes;
use crate::compose::Composition;
use crate::contract::{
    BufferPolicy, Discipline, End, Flow, Gone, Line, Next, Scheduler, Slot, Tag, Verdict, Victim, traits,
};
use crate::facts::Queues;
use crate::mark::none::None as NoMarks;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::store::Store;
use crate::tos;
use crate::units::{Limit, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What gives a packet its priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum By {
    /// The type of service, as a router reads it.
    #[default]
    Tos,
    /// The code point, from 0 to 63.
    Dscp,
}

/// What packets go by.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// What gives a packet its priority.
    pub by: By,
}

/// `SKBPRIO_MAX_PRIORITY`.
const PRIORITIES: Slot = 64;

impl Part for Settings {
    facts!(tells_flows_apart = false, queues = Queues::Own, own_limit = Limit::Packets(64));

    fn variants() -> Vec<Self> {
        alloc::vec![Self { by: By::Dscp }]
    }
}

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    let classifier = queue.classifier().build(line);
    let scheduler = Priorities { by: settings.by, waiting: 0 };
    Box::new(Composition::new(classifier, scheduler, PushOut, NoMarks, queue.capacity(), line))
}

/// A queue for each priority, and a bit for each that holds a packet.
struct Priorities {
    by: By,
    waiting: u64,
}

/// Pushes out what matters least.
struct PushOut;

/// The lowest priority of which a packet waits.
fn lowest(store: &Store) -> Option<Slot> {
    (0..PRIORITIES).find(|priority| store.queue_packets(*priority) > 0)
}

impl BufferPolicy for PushOut {
    traits!();

    no_changes!();

    fn admit(&mut self, _now: Time, store: &Store, queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        if store.is_too_short_for(packet.length) {
            return Verdict::Drop(Reason::TooLong);
        }
        let is_lowest = || lowest(store).is_none_or(|lowest| queue <= lowest);
        if store.has_no_room_for(packet.length) && is_lowest() {
            return Verdict::Drop(Reason::BufferFull);
        }
        Verdict::Pass
    }

    fn victim(&mut self, _now: Time, store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        let queue = lowest(store).filter(|_| store.is_over_limit())?;
        Some((Victim::End(queue, End::Tail), Reason::Rank))
    }

    no_readings!();
}

impl Scheduler for Priorities {
    traits!(queue_per_flow = false, tags = false, bypass = u32::MAX);

    fn queue_of(&self, _flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        match self.by {
            By::Tos => tos::priority(packet.tos).into(),
            By::Dscp => (packet.tos >> 2).into(),
        }
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.waiting |= 1 << queue;
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.waiting.checked_ilog2().map_or(Next::Empty, Next::Queue)
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if head.is_none() {
            self.waiting &= !(1 << queue);
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.head.is_none() {
            self.waiting &= !(1 << gone.queue);
        }
    }

    no_changes!();

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    no_readings!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Dequeue;
    use crate::packet::{Address, Fates, Header};
    use crate::random::Random;
    use crate::registry::DesignSettings;
    use crate::units::Rate;

    /// The kernel's function in a few lines: lists by priority, at most `limit` packets.
    struct Plain {
        waiting: Vec<Vec<u64>>,
        limit: usize,
    }

    impl Plain {
        /// Returns the packet that is dropped.
        fn enqueue(&mut self, priority: usize, token: u64) -> Option<u64> {
            let held: usize = self.waiting.iter().map(Vec::len).sum();
            let lowest = self.waiting.iter().position(|list| !list.is_empty());
            if held >= self.limit && lowest.is_none_or(|lowest| priority <= lowest) {
                return Some(token);
            }
            self.waiting[priority].push(token);
            if held < self.limit { None } else { self.waiting[lowest?].pop() }
        }

        fn dequeue(&mut self) -> Option<u64> {
            let highest = self.waiting.iter_mut().rev().find(|list| !list.is_empty())?;
            Some(highest.remove(0))
        }
    }

    #[test]
    fn what_waits_are_the_highest_of_all() {
        for by in [By::Tos, By::Dscp] {
            let queue = Queue::of_design(DesignSettings::Skbprio(Settings { by }), Some(Limit::Packets(5)));
            let mut discipline = queue.build(&Line::new(Rate::new(1_000_000).expect("a rate")));
            let mut plain = Plain { waiting: alloc::vec![Vec::new(); 64], limit: 5 };
            let (mut random, mut fates) = (Random::new(7, "skbprio"), Fates::new());
            for token in 0..4000 {
                if random.unit() < 0.4 {
                    let sent = match discipline.dequeue(Time::ZERO, &mut fates) {
                        Dequeue::Send(packet) => Some(packet.token),
                        _ => None,
                    };
                    assert_eq!(sent, plain.dequeue());
                    continue;
                }
                let tos = (random.unit() * 256.0) as u8;
                let (source, destination) = (Address::Node(0), Address::Node(1));
                let header = Header { source, destination, protocol: 0, source_port: 0, destination_port: 0, tos };
                let packet = Packet { tos, ..Packet::new(token, Time::ZERO, 100) };
                discipline.enqueue(Time::ZERO, packet, &header, &mut fates);
                let priority = if by == By::Dscp { tos >> 2 } else { [0, 2, 6, 4][usize::from(tos >> 3 & 3)] };
                let dropped = fates.drain(..).next().map(|fate| fate.packet.token);
                assert_eq!(dropped, plain.enqueue(priority.into(), token), "packet {token}");
            }
        }
    }
}
