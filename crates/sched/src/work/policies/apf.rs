//! Priority and fairness as in the API server of Kubernetes: each tenant has a hand of a few of
//! many queues, its items join the shortest queue of the hand, and queues are served fairly.
//!
//! Use when: there are more tenants than may have a queue each, or you want to see what an API
//! server does. Two tenants may share a queue; a tenant that floods can fill its whole hand.
//! Source: Kubernetes enhancement 1040, "Priority and Fairness for API Server Requests", and
//! k8s.io/apiserver, pkg/util/shufflesharding and pkg/util/flowcontrol/fairqueuing/queueset, as of
//! commit 0039f24d: shuffleShardLocked, findDispatchQueueToBoundLocked, boundNextDispatchLocked.
//! Rules: a hash of the tenant deals it a hand of distinct queues. An item joins the queue of the
//! hand with the least seats waiting; of equal ones the first, from another one of the hand each
//! time. Each queue has a start R; the queue with the least start R + guess of its first item is
//! next; its start R grows by the guess, and is corrected by cost - guess at the end. The start R
//! of a queue with neither items that wait nor items that run is R, and that of any other no less
//! than R was when its first item was admitted.
//! Departs: R advances by the service that is told, over the number of queues that have an item,
//! where Kubernetes has a clock and the seats that are in use: the unit of costs need not be time.
//! A guess takes the place of the one service time that is the estimate for all (`G`). The tenant
//! is hashed by its number among all that came; one that was forgotten comes back with another
//! hand. Equal tags start in the order of admission, not by the next queue in turn. There is no
//! limit for a queue and no time after which an item is turned away; weights and priorities are not
//! looked at.
//! Chosen: as in Kubernetes, an item for which too few seats are free keeps all others waiting
//! until it fits.
//! Cost: O(hand² + log n) for an admission, n queues; O(log n) for every other call.
//! Bound: none for tenants, for those that share a queue are not told apart. The chance that k
//! tenants that flood cover all queues of another one's hand is as published (policies/hands.rs:
//! hands_are_covered_as_often_as_kubernetes_publishes).

use super::first_that_fits;
use crate::hash::Hash;
use crate::heap::Heap;
use crate::part::settings;
use crate::units::Weight;
use crate::work::account::{Tag, charge};
use crate::work::policy::{Arrival, Charge, Head, Line, Policy};
use crate::work::registry::PolicyPart;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// How tenants share queues.
    pub struct Settings {
        /// How many queues there are.
        pub queues: u32 = 64,
        /// How many of them a tenant has.
        pub hand: u32 = 6,
    }
}

/// The bits of a hash that a deal may use, as in Kubernetes (`maxHashBits`).
const BITS_MAX: u32 = 60;

impl PolicyPart for Settings {
    fn fault(&self) -> Option<String> {
        if self.queues == 0 || self.hand == 0 || self.hand > self.queues {
            return Some(String::from("apf: hand is at least 1 and at most queues"));
        }
        let is_dealt = u64::from(self.queues).checked_pow(self.hand).is_some_and(|hands| hands <= 1 << BITS_MAX);
        let (queues, hand) = (self.queues, self.hand);
        (!is_dealt).then(|| format!("apf: {queues} queues to the power of {hand} hands is above 2^60; lower the hand"))
    }

    fn variants() -> Vec<Self> {
        vec![Self { queues: 5, hand: 2 }, Self { queues: 1, hand: 1 }]
    }
}

/// A queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// Its start R.
    start: Tag,
    waiting: u32,
    seats_waiting: u64,
    running: u32,
}

impl Queue {
    fn is_active(&self) -> bool {
        self.running > 0 || self.waiting > 0
    }
}

/// The policy.
#[derive(Clone, Debug)]
pub struct Apf {
    hand: u32,
    queues: Vec<Queue>,
    /// Queues by the finish tag of their first item, then by its place in the order of admission.
    heads: Heap<((Tag, u64), u32)>,
    /// R.
    progress: Tag,
    /// Queues with items.
    active: u32,
    admitted: u64,
    /// The hand that is being dealt: kept for its memory.
    dealt: Vec<Line>,
}

impl Apf {
    /// The policy of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let queues = settings.queues.max(1);
        Self {
            hand: settings.hand.clamp(1, queues),
            queues: vec![Queue::default(); queues as usize],
            heads: Heap::new(),
            progress: 0,
            active: 0,
            admitted: 0,
            dealt: Vec::new(),
        }
    }

    /// The queue of the hand of `tenant` with the least seats waiting; of equal ones the first from
    /// a place that moves on by one with each item.
    fn shortest(&mut self, tenant: u64) -> Line {
        deal(Hash::new(0).of_word(tenant), self.queues.len() as u32, self.hand, &mut self.dealt);
        let from = (self.admitted % self.dealt.len() as u64) as usize;
        let hand = self.dealt[from..].iter().chain(&self.dealt[..from]).copied();
        hand.min_by_key(|queue| self.queues[*queue as usize].seats_waiting).unwrap_or(0)
    }
}

impl Policy for Apf {
    fn line(&mut self, arrival: &Arrival) -> Line {
        let line = self.shortest(arrival.tenant_number);
        self.admitted += 1;
        let (progress, queue) = (self.progress, &mut self.queues[line as usize]);
        if !queue.is_active() {
            queue.start = progress;
            self.active += 1;
        }
        queue.waiting += 1;
        queue.seats_waiting += u64::from(arrival.seats);
        line
    }

    fn left(&mut self, line: Line, arrival: &Arrival) {
        let queue = &mut self.queues[line as usize];
        queue.waiting -= 1;
        queue.seats_waiting -= u64::from(arrival.seats);
        self.active -= u32::from(!queue.is_active());
    }

    fn head(&mut self, line: Line, head: Option<&Head>) {
        // Tenants have slots beyond the queues, of which a change of weight tells.
        let Some(queue) = self.queues.get_mut(line as usize) else { return };
        let key = head.map(|head| {
            queue.start = queue.start.max(head.arrival);
            let finish = queue.start.saturating_add(charge(head.guess, Weight::ONE));
            ((finish, head.serial), head.seats)
        });
        self.heads.set(line, key);
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        first_that_fits(&self.heads, free)
    }

    fn started(&mut self, line: Line, head: &Head) -> Charge {
        let queue = &mut self.queues[line as usize];
        queue.start = queue.start.saturating_add(charge(head.guess, Weight::ONE));
        queue.running += 1;
        Charge::new(head, head.guess)
    }

    fn recharge(&mut self, line: Line, charged: &mut Charge, cost: u64) {
        let (before, after) = (charge(charged.guess, Weight::ONE), charge(cost, Weight::ONE));
        let queue = &mut self.queues[line as usize];
        queue.start = queue.start.saturating_add(after).saturating_sub(before);
        charged.guess = cost;
    }

    fn ended(&mut self, line: Line, charged: &Charge, _: Weight) {
        let moved = charge(charged.guess, Weight::ONE) / Tag::from(self.active.max(1));
        self.progress = self.progress.saturating_add(moved);
        let queue = &mut self.queues[line as usize];
        queue.running -= 1;
        self.active -= u32::from(!queue.is_active());
    }

    fn virtual_time(&self) -> Tag {
        self.progress
    }
}

/// Deals `hand` of `queues` by `hash` into `dealt`: the remainder of the hash by the queues that
/// are left is the rank, among those, of the next one.
pub fn deal(mut hash: u64, queues: u32, hand: u32, dealt: &mut Vec<Line>) {
    dealt.clear();
    for count in 0..hand.min(queues) {
        let left = u64::from(queues - count);
        let rank = (hash % left) as Line;
        hash /= left;
        let mut queue = rank;
        loop {
            // As many as were dealt up to it come on top of its rank.
            let next = rank + dealt.iter().filter(|other| **other <= queue).count() as Line;
            if next == queue {
                break;
            }
            queue = next;
        }
        dealt.push(queue);
    }
}
