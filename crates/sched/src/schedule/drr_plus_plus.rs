//! DRR++: deficit round robin in which flows that just became active go first, for one quantum.
//!
//! Source: MacGregor and Shi, "Deficits for Bursty Latency-critical Flows: DRR++", ICON 2000; in the form of RFC 8290
//! (2018), sections 4.1 and 4.2, with a list of new and a list of old queues.
//! Departs: latency-critical flows are not declared: a flow is new when it has nothing waiting and is in neither list.
//! Chosen: a weight multiplies the quantum; a quantum is at least 1/1000 B; when a whole round finds no flow that may
//! send, the rounds until one may are given at once, so that a long packet costs no more than three rounds.
//! With `buckets` flows share so many queues by a keyed hash, all of weight 1.
//! Cost: O(1) a packet while the quantum is at least the largest packet; else up to three rounds of the active flows.
//! Bound: over any time in which two flows are backlogged their bytes over weights differ by at most three quanta and,
//! for each, its largest packet over its weight: the numbers of their quanta differ by one, and a credit is between
//! minus a packet and a quantum (designs.rs: drr_plus_plus_is_fair_over_any_time). A flow that has been silent goes
//! before all that are not new (designs.rs: a_sparse_flow_goes_first), and one that empties while new passes once through the old list
//! (designs.rs: a_new_flow_that_empties_passes_once_through_the_old_list).

use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use crate::hash::Hash;
use crate::packet::Packet;
use crate::part::Part;
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::ring::Ring;
use crate::store::Store;
use crate::units::{Bytes, Time, Weight};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The quantum, and whether flows share queues.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// What a flow of weight 1 may send in a round.
    pub quantum: Bytes,
    /// How many queues flows are hashed into; without it each flow has its own.
    pub buckets: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { quantum: Bytes(1514), buckets: None }
    }
}

impl Part for Settings {
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
/// The largest quantum: above it a turn would be longer than anybody waits for.
const QUANTUM_MAX: u64 = 1 << 20;

/// What is wrong with the quantum of the discipline called `name`.
pub(crate) fn fault_of(name: &str, quantum: Bytes) -> Option<String> {
    let is_sound = (1..=QUANTUM_MAX).contains(&quantum.0);
    (!is_sound).then(|| name.to_string() + ": quantum is from 1 B to 1 MiB")
}

/// Where a queue stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Listed {
    /// In neither list.
    #[default]
    Out,
    New,
    Old,
}

/// A queue's account, in thousandths of a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    listed: Listed,
    credit: i64,
    quantum: i64,
}

/// Two lists of queues.
pub struct DrrPlusPlus {
    /// For a weight of 1/1000, in thousandths of a byte.
    quantum: u64,
    buckets: Option<u32>,
    hash: Hash,
    accounts: Vec<Account>,
    new: Ring,
    old: Ring,
    /// Queues in the old list.
    old_count: usize,
}

/// Thousandths in a byte.
const PER_BYTE: i64 = 1000;

impl DrrPlusPlus {
    /// Nobody waits.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            quantum: settings.quantum.0,
            buckets: settings.buckets,
            hash: Hash::new(line.seed),
            accounts: Vec::new(),
            new: Ring::new(),
            old: Ring::new(),
            old_count: 0,
        }
    }

    fn account(&mut self, queue: Slot) -> &mut Account {
        if self.accounts.len() <= queue as usize {
            self.accounts.resize(queue as usize + 1, Account::default());
        }
        &mut self.accounts[queue as usize]
    }

    const fn quantum_of(&self, weight: Weight) -> i64 {
        // At most 2^20 · 10^9, which is below 2^50.
        (self.quantum * weight.thousandths() as u64) as i64
    }

    /// Deals with the queue whose turn it is; whether it may send.
    fn turn(&mut self, queue: Slot, store: &Store) -> bool {
        let account = &mut self.accounts[queue as usize];
        let has_credit = account.credit > 0;
        if has_credit && store.queue_packets(queue) > 0 {
            return true;
        }
        if !has_credit {
            account.credit += account.quantum;
        }
        match account.listed {
            Listed::New => {
                self.new.remove(queue);
                self.put_last(queue);
            }
            // It is empty and has had its turn.
            _ if has_credit => {
                account.listed = Listed::Out;
                self.old.remove(queue);
                self.old_count -= 1;
            }
            _ => {
                self.old.remove(queue);
                self.old.push_back(queue);
            }
        }
        false
    }

    /// A queue of the new list goes to the end of the old one.
    fn put_last(&mut self, queue: Slot) {
        self.accounts[queue as usize].listed = Listed::Old;
        self.old.push_back(queue);
        self.old_count += 1;
    }

    /// A whole round let nobody send: all get the quanta of the rounds until somebody may, less one.
    fn skip_rounds(&mut self, store: &Store) {
        let mut least = u64::MAX;
        self.each_old(|queue, account| {
            if store.queue_packets(queue) > 0 {
                let missing = (1 - account.credit).max(0) as u64;
                least = least.min(missing.div_ceil(account.quantum as u64));
            }
        });
        if (2..u64::MAX).contains(&least) {
            let rounds = (least - 1) as i64;
            // Only a queue that is empty, and leaves at its turn, gets more than it is in debt.
            self.each_old(|_, account| {
                account.credit = account.credit.saturating_add(rounds.saturating_mul(account.quantum));
            });
        }
    }

    /// Nothing waits: after some rounds nobody is left in the lists.
    fn clear(&mut self) {
        for list in [&mut self.new, &mut self.old] {
            while let Some(queue) = list.front() {
                list.remove(queue);
                self.accounts[queue as usize].listed = Listed::Out;
            }
        }
        self.old_count = 0;
    }

    /// Goes once through the old list.
    fn each_old(&mut self, mut act: impl FnMut(Slot, &mut Account)) {
        for _ in 0..self.old_count {
            let Some(queue) = self.old.front() else { break };
            act(queue, &mut self.accounts[queue as usize]);
            self.old.remove(queue);
            self.old.push_back(queue);
        }
    }
}

impl Scheduler for DrrPlusPlus {
    fn bucket(&mut self, _now: Time, key: u64, _store: &Store) -> Option<Slot> {
        let hash = u128::from(self.hash.of_fields(&[key]));
        self.buckets.map(|buckets| ((hash * u128::from(buckets)) >> 64) as Slot)
    }

    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, _packet: &Packet) -> Tag {
        let quantum = self.quantum_of(flow.weight);
        self.account(queue).quantum = quantum;
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        let account = self.account(queue);
        if account.listed == Listed::Out {
            (account.listed, account.credit) = (Listed::New, account.quantum);
            self.new.push_back(queue);
        }
    }

    fn next(&mut self, _now: Time, store: &Store) -> Next {
        if store.packets() == 0 {
            self.clear();
            return Next::Empty;
        }
        let mut turns = 0;
        loop {
            if let Some(queue) = self.new.front() {
                if self.turn(queue, store) {
                    return Next::Queue(queue);
                }
                continue;
            }
            let Some(queue) = self.old.front() else { return Next::Empty };
            if self.turn(queue, store) {
                return Next::Queue(queue);
            }
            turns += 1;
            if turns > self.old_count {
                self.skip_rounds(store);
                turns = 0;
            }
        }
    }

    fn sent(&mut self, _now: Time, queue: Slot, packet: &Packet, _tag: Tag, _head: Option<Tag>) {
        self.account(queue).credit -= i64::from(packet.length) * PER_BYTE;
    }

    // A queue that a drop empties is passed over when its turn comes.
    fn removed(&mut self, _now: Time, _gone: Gone<'_>) {}

    // The lists are gone through until nobody is left in them.
    fn notes_idle(&self) -> bool {
        true
    }

    fn is_clear(&mut self, _now: Time, queue: Slot) -> bool {
        self.account(queue).listed == Listed::Out
    }

    fn weight_changed(&mut self, _now: Time, queue: Slot, weight: Weight) {
        let quantum = self.quantum_of(weight);
        self.account(queue).quantum = quantum;
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("old_queues", self.old_count as f64);
    }
}
