//! Stochastic fairness queueing: flows are hashed into a fixed number of queues, and the queues
//! take turns.
//!
//! Use when: there are more flows than queues and memory must be bounded. Flows that share a queue
//! are served as in FIFO: where each flow can have a queue use `drr`. For the kernel's qdisc use
//! `linux_sfq`.
//! Source: McKenney, "Stochastic Fairness Queueing", INFOCOM 1990. Turns of a quantum of bytes in
//! place of a packet are Linux's (`sch_sfq`).
//! Departs: the number of queues need not be a power of two. The longest queue is found by the
//! buffer policy (longest_queue_drop, the default here), not by lists of queues by length.
//! Chosen: the hash is keyed by the line's seed, and by the number of the period when it is
//! perturbed. A flow of which packets wait keeps its queue over perturbations, so that its order
//! holds; this takes a table of the flows that wait, kept only if the hash is perturbed. Two flows
//! that share a queue and never cease to wait go on sharing it.
//! Cost: O(1) a packet; a hash more if perturbed. While quanta are smaller than packets, as deficit
//! round robin.
//! Bound: over m queues, n flows: a flow shares its queue with probability 1 - (1 - 1/m)^(n-1)
//! (round_schedulers.rs: stochastic_fq_collides_as_often_as_chance_has_it); the order of a flow
//! holds over perturbations (round_schedulers.rs:
//! stochastic_fq_keeps_the_order_of_a_flow_over_perturbations); memory is bounded by the queues and
//! the packets that wait, for any number of flows (round_schedulers.rs:
//! stochastic_fq_keeps_nothing_of_flows_that_left). Queues are as fair among each other as deficit
//! round robin's; flows that share one are as in FIFO.
//! Changes: a rate means nothing to it; weights are refused, for flows share queues.

use crate::change::no_changes;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::deficit::{Accounts, Round};
use crate::facts::Facts;
use crate::hash::{Hash, bucket_of};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::schedule::drr;
use crate::store::Store;
use crate::units::{Bytes, Time};
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashTable;

settings! {
    /// How many queues, how long a turn, and how long a hash lasts.
    pub struct Settings {
        /// The queues that flows are hashed into, from 1 to 1048576.
        // Linux's number of queues.
        pub buckets: u32 = 1024,
        /// What a queue may send in a turn, from 1 B to 1 GiB; without it, a packet (the source).
        pub quantum: Option<Bytes> = None,
        /// How long until flows are hashed anew; without it, never.
        pub perturb: Option<Time> = None,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            // In one bucket all wait in order of arrival.
            tells_flows_apart: self.buckets > 1,
            ..Facts::PLAIN
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=BUCKETS_MAX).contains(&self.buckets) {
            return Some(alloc::format!("stochastic_fq: buckets are from 1 to {BUCKETS_MAX}"));
        }
        if self.perturb == Some(Time::ZERO) {
            return Some(String::from("stochastic_fq: perturb is above 0; leave it out for one hash for ever"));
        }
        self.quantum.and_then(|quantum| drr::quantum_fault("stochastic_fq", quantum))
    }

    fn variants() -> Vec<Self> {
        let often = Some(Time::from_ms(1));
        alloc::vec![
            Self { buckets: 2, quantum: Some(Bytes(100)), perturb: None },
            Self { buckets: 5, quantum: Some(Bytes(1514)), perturb: often },
            Self { buckets: 1, quantum: None, perturb: Some(Time(1)) },
        ]
    }
}

/// A flow of which packets wait.
struct Waiting {
    key: u64,
    bucket: Slot,
    packets: u32,
}

/// Hashed queues that take turns.
pub struct StochasticFq {
    settings: Settings,
    hash: Hash,
    accounts: Accounts,
    round: Round,
    /// The flows that wait, by key, if the hash is perturbed.
    waiting: HashTable<Waiting>,
    /// The key that was last asked for, and its bucket: the packet that arrives is that flow's.
    asked: (u64, Slot),
}

impl StochasticFq {
    /// No bucket holds a packet.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            settings: settings.clone(),
            hash: Hash::new(line.seed),
            accounts: Accounts::new(),
            round: Round::new(),
            waiting: HashTable::new(),
            asked: (0, 0),
        }
    }

    /// Where a flow of which nothing waits goes now.
    fn hashed(&self, now: Time, key: u64) -> Slot {
        let period = self.settings.perturb.map_or(0, |perturb| now.0 / perturb.0.max(1));
        let hash = self.hash.of(&[key, period]);
        bucket_of(hash, self.settings.buckets.into()) as Slot
    }

    /// What a packet costs in a turn, and what a turn gives.
    fn cost(&self, packet: &Packet) -> u64 {
        if self.settings.quantum.is_some() { u64::from(packet.length) } else { 1 }
    }

    /// A packet of the flow of `key` does not wait any more.
    fn forget(&mut self, key: u64) {
        let hash = self.hash;
        let Ok(mut entry) = self.waiting.find_entry(hash.of_fields(&[key]), |flow| flow.key == key) else { return };
        entry.get_mut().packets -= 1;
        if entry.get().packets == 0 {
            entry.remove();
        }
    }
}

/// A tag: the key of the packet's flow above, its cost below.
const fn tag(key: u64, cost: u64) -> Tag {
    (key as u128) << 64 | cost as u128
}

impl Scheduler for StochasticFq {
    // A queue that has sent its last packet leaves the round, and a flow of which nothing waits is
    // hashed anew.
    traits!(bypass = u32::MAX);

    fn bucket(&mut self, now: Time, key: u64, _store: &Store) -> Option<Slot> {
        let waits = if self.settings.perturb.is_some() {
            self.waiting.find(self.hash.of_fields(&[key]), |flow| flow.key == key)
        } else {
            None
        };
        let bucket = waits.map_or_else(|| self.hashed(now, key), |flow| flow.bucket);
        self.asked = (key, bucket);
        Some(bucket)
    }

    fn arrive(&mut self, _now: Time, queue: Slot, _flow: Flow, packet: &Packet) -> Tag {
        self.accounts.set_quantum(queue, self.settings.quantum.map_or(1, |quantum| quantum.0));
        let (key, bucket) = self.asked;
        debug_assert_eq!(bucket, queue, "a packet goes to the bucket that was named last");
        if self.settings.perturb.is_some() {
            let hash = self.hash;
            self.waiting
                .entry(hash.of_fields(&[key]), |flow| flow.key == key, |flow| hash.of_fields(&[flow.key]))
                .or_insert(Waiting { key, bucket, packets: 0 })
                .get_mut()
                .packets += 1;
        }
        tag(key, self.cost(packet))
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.accounts.join(&mut self.round, queue, tag as u64);
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.accounts.next(&mut self.round).map_or(Next::Empty, Next::Queue)
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, tag: Tag, head: Option<Tag>) {
        self.accounts.sent(&mut self.round, queue, head.map(|tag| tag as u64));
        self.forget((tag >> 64) as u64);
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.was_head {
            self.accounts.replaced(&mut self.round, gone.queue, gone.head.map(|tag| tag as u64));
        }
        self.forget((gone.tag >> 64) as u64);
    }

    no_changes!();

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("backlogged_buckets", Unit::None, self.round.queues()));
        visit(Reading::real("remembered_flows", Unit::None, self.waiting.len() as f64));
    }
}

/// Buckets at most.
const BUCKETS_MAX: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Limit, Rate};

    #[test]
    fn a_flow_moves_when_the_hash_is_perturbed_and_nothing_of_it_waits() {
        let line = Line::new(Rate::MAX);
        let settings = Settings { buckets: 1 << 20, quantum: None, perturb: Some(Time::from_s(10)) };
        let mut fq = StochasticFq::new(&settings, &line);
        let store = Store::new(Limit::Unlimited);
        let bucket = |fq: &mut StochasticFq, s| fq.bucket(Time::from_s(s), 77, &store);
        let first = bucket(&mut fq, 0);
        assert_eq!(bucket(&mut fq, 9), first);
        assert_ne!(bucket(&mut fq, 10), first);
        // A packet waits from second 9 on.
        let (packet, slot) = (Packet::new(0, Time::ZERO, 100), first.unwrap_or(0));
        assert_eq!(bucket(&mut fq, 9), first);
        let tag = fq.arrive(Time::from_s(9), slot, Flow::of_slot(slot), &packet);
        fq.backlogged(slot, tag);
        assert_eq!((bucket(&mut fq, 10), bucket(&mut fq, 35)), (first, first));
        assert_eq!(fq.next(Time::from_s(36), &store), Next::Queue(slot));
        fq.sent(Time::from_s(36), slot, &packet, tag, None);
        assert_ne!(bucket(&mut fq, 36), first);
    }
}
