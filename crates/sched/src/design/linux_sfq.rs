//! Linux's sfq: flows are hashed into queues that take turns by credit, and the longest queue loses
//! when there is no room.
//!
//! Use when: results must match the kernel's `sfq` packet by packet. For new work use `fq_codel`;
//! for McKenney's scheme, `stochastic_fq`; for start-time fair queueing, `sfq`.
//! Source: Linux 6.1, sch_sfq.c (A. Kuznetsov, E. Dumazet), after McKenney, "Stochastic Fairness
//! Queueing", 1990.
//! Rules: a queue sends while its credit is above 0, and a packet that leaves others behind takes
//! its length from the credit (`sfq_dequeue`); a queue that gets its first packet takes the last
//! turn with a whole quantum (`sfq_enqueue`). A packet that finds `depth` packets in its queue is
//! dropped, or the head in its place with `headdrop`. Above the limit the last packet, or the
//! first, of the longest queue goes; of equally long queues that whose length changed last; if all
//! have one packet, that of the queue whose turn is next (`sfq_drop`). `depth` counts to 127, and
//! no more queues hold packets at a time than the hash has values or packets may wait
//! (`sfq_change`).
//! Departs: no perturbation of the hash, no RED in each queue (`redflowlimit`); a limit may be in
//! bytes, and room is made until it is kept.
//! Chosen: the flow is the classifier's if one is named, else the five-tuple. Without a limit 127
//! packets may wait.
//! Cost: O(1) a packet while the quantum is at least the largest packet, and O(log `flows`) to know
//! the longest queue.
//! Bound: Linux's order and drops to the packet (docs/agreement/linux.md).

use crate::contract::{Classifier, Dequeue, Discipline, End, Handle, Held, Line, Slot};
use crate::hash::{Hash, bucket_of};
use crate::heap::Heap;
use crate::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use crate::part::Part;
use crate::queue::Queue;
use crate::registry::ClassifierSettings;
use crate::ring::Ring;
use crate::store::Store;
use crate::units::{Bytes, Limit, Time};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Queues, their turns and their limits.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// What a queue may send in a turn: a packet of the largest length.
    pub quantum: Bytes,
    /// Packets that may wait in a queue; above 127 as 127.
    pub depth: u32,
    /// Queues that may hold packets at a time.
    pub flows: u32,
    /// How many values the hash of a flow has, a power of two.
    pub divisor: u32,
    /// Whether the first packet of a queue is dropped in place of the last one.
    pub headdrop: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { quantum: Bytes(1514), depth: DEPTH_MAX, flows: 128, divisor: 1024, headdrop: false }
    }
}

/// `SFQ_MAX_DEPTH`: as many may wait in all, if the scenario says nothing.
const DEPTH_MAX: u32 = 127;

impl Part for Settings {
    fn fault(&self, _queue: &Queue) -> Option<String> {
        let fault = |text: &str| Some("linux_sfq: ".to_string() + text);
        match () {
            () if !(1..=1 << 20).contains(&self.quantum.0) => fault("quantum is from 1 B to 1 MiB"),
            () if self.depth == 0 => fault("depth is at least 1 packet"),
            () if !self.divisor.is_power_of_two() || self.divisor > 1 << 16 => {
                fault("divisor is a power of two up to 65536")
            }
            () if self.flows == 0 => fault("flows is at least 1"),
            () => None,
        }
    }

    fn variants() -> Vec<Self> {
        let small = Self { quantum: Bytes(300), depth: 2, flows: 3, divisor: 8, headdrop: false };
        alloc::vec![Self { headdrop: true, ..small.clone() }, small]
    }

    fn own_limit(&self) -> Limit {
        Limit::Packets(u64::from(DEPTH_MAX))
    }

    fn default_classifier(&self) -> Option<ClassifierSettings> {
        super::five_tuple()
    }
}

/// The whole discipline.
struct LinuxSfq {
    settings: Settings,
    classifier: Box<dyn Classifier>,
    hash: Hash,
    store: Store,
    /// The queues that hold packets, in order of their turns.
    turns: Ring,
    active: u32,
    credits: Vec<i64>,
    /// By length and when it changed: the longest first, of equal ones that which changed last.
    lengths: Heap<(Reverse<u32>, Reverse<u64>)>,
    changes: u64,
}

/// Builds it.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    Box::new(LinuxSfq {
        classifier: queue.classifier().boxed(line),
        hash: Hash::new(line.seed),
        store: Store::new(queue.capacity()),
        turns: Ring::new(),
        active: 0,
        credits: alloc::vec![0; settings.divisor as usize],
        lengths: Heap::new(),
        changes: 0,
        settings: bounded(settings, queue.capacity()),
    })
}

/// `settings` within the kernel's bounds, where `limit` may wait in all.
fn bounded(settings: &Settings, limit: Limit) -> Settings {
    let packets = if let Limit::Packets(packets) = limit { packets.try_into().unwrap_or(u32::MAX) } else { u32::MAX };
    Settings {
        depth: settings.depth.min(DEPTH_MAX),
        flows: settings.flows.min(settings.divisor).min(packets),
        ..settings.clone()
    }
}

impl LinuxSfq {
    fn queue_of(&self, header: &Header) -> Slot {
        let hash = self.hash.of_fields(&[self.classifier.key(header, self.hash)]);
        bucket_of(hash, self.settings.divisor.into()) as Slot
    }

    /// The length of `queue` has changed.
    fn changed(&mut self, queue: Slot) {
        self.changes += 1;
        match self.store.queue_packets(queue) {
            0 => {
                self.lengths.remove(queue);
                self.turns.remove(queue);
                self.active -= 1;
            }
            length => self.lengths.push(queue, (Reverse(length), Reverse(self.changes))),
        }
    }

    fn drop(&mut self, queue: Slot, reason: Reason, fates: &mut Fates) {
        let end = if self.settings.headdrop { End::Front } else { End::Tail };
        if let Some(gone) = self.store.pop(queue, end) {
            fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
        }
    }

    fn make_room(&mut self, fates: &mut Fates) {
        while self.store.is_over_limit() {
            let longest = self.lengths.peek().map(|(queue, (Reverse(length), _))| (queue, length));
            let queue = match longest {
                Some((queue, length)) if length > 1 => Some(queue),
                _ => self.turns.front(),
            };
            let Some(queue) = queue else { return };
            self.drop(queue, Reason::LongestQueue, fates);
            self.changed(queue);
        }
    }
}

impl Discipline for LinuxSfq {
    fn enqueue(&mut self, _now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let queue = self.queue_of(header);
        let length = self.store.queue_packets(queue);
        let reason = match () {
            () if self.store.is_too_short_for(packet.length) => Some(Reason::TooLong),
            () if length == 0 && self.active >= self.settings.flows => Some(Reason::OverShare),
            () if length >= self.settings.depth && !self.settings.headdrop => Some(Reason::OverShare),
            () => None,
        };
        if let Some(reason) = reason {
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            return None;
        }
        let takes_place = length >= self.settings.depth;
        let (handle, _) = self.store.push(&packet, 0, queue, queue);
        if takes_place {
            // The length stays as it was.
            self.drop(queue, Reason::OverShare, fates);
        } else {
            if length == 0 {
                self.turns.push_back(queue);
                self.active += 1;
                self.credits[queue as usize] = self.settings.quantum.0 as i64;
            }
            self.changed(queue);
        }
        self.make_room(fates);
        self.store.waiting(handle).is_some().then_some(handle)
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        self.store.end_serving();
        while let Some(queue) = self.turns.front() {
            let credit = &mut self.credits[queue as usize];
            if *credit <= 0 {
                *credit += self.settings.quantum.0 as i64;
                self.turns.rotate();
                continue;
            }
            self.store.serve(queue);
            let Some(packet) = self.store.serving().map(|entry| *entry.packet) else { break };
            if self.store.queue_packets(queue) > 0 {
                *credit -= i64::from(packet.length);
            }
            self.changed(queue);
            return Dequeue::Send(packet);
        }
        Dequeue::Empty
    }

    fn held(&self) -> Held {
        Held { packets: self.store.packets(), bytes: self.store.bytes() }
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<Packet> {
        let gone = self.store.remove(handle)?;
        self.changed(gone.queue);
        Some(gone.packet)
    }

    fn notes_idle(&self) -> bool {
        false
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("backlogged_queues", f64::from(self.active));
    }
}
