//! DRR++: deficit round robin in which flows that just became active go first, for one quantum.
//!
//! Use when: sparse flows should overtake bulk flows while shares stay fair in bytes. To keep the
//! queues short as well use `fq_codel`; without preference for new flows, `drr`.
//! Source: MacGregor and Shi, "Deficits for Bursty Latency-critical Flows: DRR++", ICON 2000; in
//! the form of RFC 8290 (2018), sections 4.1 and 4.2, with a list of new and a list of old queues.
//! Departs: latency-critical flows are not declared: a flow is new when it has nothing waiting and
//! is in neither list.
//! Chosen: a weight multiplies the quantum; a quantum is at least 1/1000 B; when a whole round
//! finds no flow that may send, the rounds until one may are given at once, so that a long packet
//! costs no more than three rounds. With `buckets` flows share that number of queues by a keyed
//! hash, all of weight 1.
//! Cost: O(1) a packet, amortised over the places of flows, while the quantum is at least the
//! largest packet; else up to three rounds of the active flows.
//! Bound: over any time in which two flows are backlogged their bytes over weights differ by at
//! most three quanta and, for each, its largest packet over its weight: the numbers of their quanta
//! differ by one, and a credit is between minus a packet and a quantum (designs.rs:
//! drr_plus_plus_is_fair_over_any_time). A flow that has been silent goes before all that are not
//! new (designs.rs: a_sparse_flow_goes_first), and one that empties while new passes once through
//! the old list (designs.rs: a_new_flow_that_empties_passes_once_through_the_old_list).
//! Changes: a weight changes the quantum that the flow is given next; its credit and its place in
//! the lists stand. With `buckets` weights are refused. A rate means nothing to it.

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::Facts;
use crate::hash::{Hash, bucket_of};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::slots::entry;
use crate::store::Store;
use crate::turns::{Emptied, Listed, Sends, Turns, View};
use crate::units::{Bytes, Time, Weight};
use crate::waiting::Decision;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// The quantum, and whether flows share queues.
    pub struct Settings {
        /// What a flow of weight 1 may send in a round.
        pub quantum: Bytes = Bytes(1514),
        /// How many queues flows are hashed into; without it each flow has its own.
        pub buckets: Option<u32> = None,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            // Buckets have no weights.
            goes_by_weights: self.buckets.is_none(),
            ..Facts::PLAIN
        }
    }

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::RelativeFairness(i, j) if self.buckets.is_none() => {
                Some(3.0 * self.quantum.0 as f64 + load.a_packet_each(i, j))
            }
            _ => None,
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        fault_of("drr_plus_plus", self.quantum).or_else(|| {
            let is_sound = self.buckets.is_none_or(|buckets| (1..=BUCKETS_MAX).contains(&buckets));
            (!is_sound).then(|| "drr_plus_plus: buckets is from 1 to 1048576".to_string())
        })
    }

    fn variants() -> Vec<Self> {
        // Few queues, which several flows share; and a quantum far below most packets.
        alloc::vec![Self { buckets: Some(4), ..Self::default() }, Self { quantum: Bytes(1), buckets: None },]
    }
}

/// Queues at most.
pub(crate) const BUCKETS_MAX: u32 = 1 << 20;
/// The largest quantum: above it a turn would be longer than any user waits.
const QUANTUM_MAX: u64 = 1 << 20;

/// What is wrong with the quantum of the discipline called `name`.
pub(crate) fn fault_of(name: &str, quantum: Bytes) -> Option<String> {
    let is_sound = (1..=QUANTUM_MAX).contains(&quantum.0);
    (!is_sound).then(|| name.to_string() + ": quantum is from 1 B to 1 MiB")
}

/// Two lists of queues.
pub struct DrrPlusPlus {
    /// For a weight of 1/1000, in thousandths of a byte.
    quantum: u64,
    buckets: Option<u32>,
    /// Bytes of each packet that do not count.
    uncounted: u32,
    hash: Hash,
    turns: Turns,
    /// The steps of the design's card, if it is part of a design.
    sends: Option<Sends>,
    /// By queue, in thousandths of a byte.
    quanta: Vec<i64>,
}

/// Thousandths in a byte.
const PER_BYTE: i64 = 1000;

impl DrrPlusPlus {
    /// Both lists empty.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            quantum: settings.quantum.0,
            buckets: settings.buckets,
            uncounted: 0,
            hash: Hash::new(line.seed),
            turns: Turns::new(),
            sends: None,
            quanta: Vec::new(),
        }
    }

    /// This scheduler with lengths that leave out `bytes` of each packet.
    #[must_use]
    pub fn without(self, bytes: Bytes) -> Self {
        Self { uncounted: u32::try_from(bytes.0).unwrap_or(u32::MAX), ..self }
    }

    /// This scheduler with `emptied` as the place of a new queue that empties.
    pub(crate) fn emptying(self, emptied: Emptied) -> Self {
        Self { turns: Turns::with(emptied), ..self }
    }

    /// This scheduler in a design whose card has these steps.
    pub(crate) fn in_steps(self, sends: Sends) -> Self {
        Self { sends: Some(sends), ..self }
    }

    fn set_quantum(&mut self, queue: Slot, weight: Weight) {
        // At most 2^20 · 10^9, which is below 2^50.
        *entry(&mut self.quanta, queue, 1) = (self.quantum * u64::from(weight.thousandths())) as i64;
    }
}

/// View of the queues for the lists.
struct Queues<'a> {
    store: &'a Store,
    quanta: &'a [i64],
}

impl View for Queues<'_> {
    fn waits(&self, queue: Slot) -> bool {
        self.store.queue_packets(queue) > 0
    }

    fn quantum(&self, queue: Slot) -> i64 {
        self.quanta[queue as usize]
    }
}

impl Scheduler for DrrPlusPlus {
    // When the line becomes idle the lists are gone through until they are empty. A queue that
    // enters an empty one has a quantum whatever its credit was.
    traits!(bypass = u32::MAX, hears_idle = true, replays = true);

    fn bucket(&mut self, _now: Time, key: u64, _store: &Store) -> Option<Slot> {
        self.buckets.map(|buckets| bucket_of(self.hash.of_fields(&[key]), buckets.into()) as Slot)
    }

    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, _packet: &Packet) -> Tag {
        self.set_quantum(queue, flow.weight);
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.turns.begin(queue, self.quanta[queue as usize]);
    }

    fn next(&mut self, _now: Time, store: &Store) -> Next {
        let mut queues = Queues { store, quanta: &self.quanta };
        if store.packets() == 0 {
            self.turns.clear(&mut queues);
            return Next::Empty;
        }
        self.turns.next(&mut queues).map_or(Next::Empty, Next::Queue)
    }

    fn sent(&mut self, _now: Time, queue: Slot, packet: &Packet, _tag: Tag, _head: Option<Tag>) {
        self.turns.charge(queue, i64::from(packet.length.saturating_sub(self.uncounted)) * PER_BYTE);
    }

    // A queue that a drop empties is passed over when its turn comes.
    fn removed(&mut self, _now: Time, _gone: Gone<'_>) {}

    fn is_clear(&mut self, _now: Time, queue: Slot) -> bool {
        self.turns.listed(queue) == Listed::Out
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        if self.buckets.is_some() {
            return Err(Unsupported("flows that share queues have no weights"));
        }
        self.set_quantum(queue, weight);
        Ok(())
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        Some(self.turns.decision(queue, PER_BYTE, self.sends))
    }

    no_readings!();
}
