//! Linux's qfq: QFQ+ in the kernel's arithmetic and order.
//!
//! Use when: results must match the kernel's `qfq` packet by packet. To study the published
//! algorithm use `qfq_plus`; without aggregates of flows, `qfq`.
//! Source: Linux 6.1, sch_qfq.c (F. Checconi, P. Valente), after Valente, "Reducing the Execution
//! Time of Fair-Queueing Packet Schedulers", 2014. Beside `qfq_plus`: an aggregate's budget and
//! weight count all its classes, waiting or not (`qfq_update_agg`); virtual time and its inverse
//! weights are whole numbers of 30 binary places, and a slot of a group is served last in, first
//! out (`qfq_slot_insert`); a class whose deficit does not cover its next packet goes to the end of
//! its aggregate at once (`agg_dequeue`); an aggregate whose service ends is chosen anew when the
//! line asks (`qfq_dequeue`), and is charged what it sent (`charge_actual_service`).
//! Departs: without queues of their own classes share one limit; the kernel gives each a `pfifo`.
//! What no class takes goes to the default one; the kernel drops it (`qfq_enqueue`).
//! Chosen: with `classes` a packet belongs to the class that its flow names, else to that of its
//! code point, else to the default one; without them each flow is a class of its weight, rounded to
//! a whole number from 1 to 1024, from its first packet until its aggregate owes nothing.
//! Cost: O(1) a packet.
//! Bound: Linux's order to the packet (docs/agreement/linux.md); a backlogged class gets its share
//! as in `qfq_plus`.
//! Changes: without `classes` a flow whose weight changes goes to another aggregate, whose budget
//! and tags it then shares, and virtual time stands; with them weights are refused, and a flow's
//! new class holds for the packets that arrive from then on. A rate means nothing to it.
//!
//! Range: packets up to 65536 B, weights up to 1024; the sum of weights fits 32 bits.

use crate::change::{Change, Unsupported};
use crate::class_tree::{self, ClassTree, Place};
use crate::contract::{Flow, Gone, Heads, Line, Next, Scheduler, Slot, Tag};
use crate::facts::Facts;
use crate::leaf::LeafQueue;
use crate::packet::Packet;
use crate::part::{Part, queues_of_classes, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::slots::entry;
use crate::store::Store;
use crate::traits::Traits;
use crate::units::{Bytes, Time, Weight};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The classes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// Up to 16384 of them; without any, each flow is a class.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Vec::is_empty"))]
    pub classes: Vec<Class>,
    /// The class of packets that belong to no other; without it the first.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub default: Option<String>,
}

settings! {
    /// A class.
    pub struct Class {
        /// Its name, by which flows choose it.
        pub name: String = String::new(),
        /// Packets with these code points belong to it if their flow names no class.
        pub dscp: Vec<u8> = Vec::new(),
        /// Its share, from 1 to 1024.
        pub weight: u32 = 1,
        /// The longest packet that is expected, from 512 B to 64 KiB; a longer one raises it.
        pub maxpkt: Bytes = MAXPKT,
        /// The discipline in which its packets wait; without one, where another class names one,
        /// `fifo + 1000packets`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub queue: Option<LeafQueue> = None,
    }
}

/// What Linux takes from the device: the MTU and the Ethernet header.
const MAXPKT: Bytes = Bytes(1514);
const WEIGHT_MAX: u32 = 1 << 10;
const LMAX_MAX: u64 = 1 << 16;
const LMAX_MIN: u64 = 512;

impl Part for Settings {
    fn places(&self) -> Vec<Place<'_>> {
        self.classes.iter().map(|class| Place::new(&class.name, None, &class.dscp).with(class.queue.as_ref())).collect()
    }

    queues_of_classes!();

    fn facts(&self) -> Facts {
        Facts { goes_by_weights: self.classes.is_empty(), ..Facts::of_tree(&self.places()) }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let of = |class: &Class| {
            let Class { name, weight, maxpkt, .. } = class;
            match () {
                () if !(1..=WEIGHT_MAX).contains(weight) => {
                    Some(format!("linux_qfq: class `{name}`: weight {weight}; write 1 to 1024"))
                }
                () if !(LMAX_MIN..=LMAX_MAX).contains(&maxpkt.0) => {
                    Some(format!("linux_qfq: class `{name}`: maxpkt is {} B; write 512 to 65536 B", maxpkt.0))
                }
                () => None,
            }
        };
        let tree = class_tree::fault_of_list("linux_qfq", &self.places(), self.default.as_deref());
        tree.or_else(|| self.classes.iter().find_map(of))
    }

    fn variants() -> Vec<Self> {
        let class = |name: &str, dscp: &[u8], weight| Class {
            name: String::from(name),
            dscp: dscp.to_vec(),
            weight,
            ..Class::default()
        };
        let classes = [class("a", &[1, 5], 1), class("b", &[2, 6], 7), class("c", &[3], 7)].to_vec();
        alloc::vec![Self { classes, default: Some(String::from("b")) }]
    }
}

/// Binary places of inverse weights.
const PLACES: u32 = 30;
/// Classes of an aggregate.
const MEMBERS: u32 = 8;
const GROUPS: usize = 25;
const SLOTS: usize = 32;
/// The slot shift of the first group: inverse weights have 30 places, a budget has 16 + 3.
const SHIFT_MIN: u32 = PLACES + 16 + 3 - 24;

/// Where a group stands: eligible or not, ready or blocked; bit 0 says not eligible, bit 1 blocked.
const READY: usize = 0;
const WAITS: usize = 1;
const BLOCKED: usize = 2;
const STATES: usize = 4;

/// A class at work.
#[derive(Clone, Copy, Default)]
struct Member {
    aggregate: Option<u32>,
    deficit: i64,
    is_active: bool,
}

/// Classes of one weight and one longest packet.
struct Aggregate {
    start: u64,
    finish: u64,
    group: Option<usize>,
    weight: u32,
    longest: u32,
    /// 2^30 over the weight of all members.
    inverse: u64,
    budget_max: u32,
    budget_first: u32,
    budget: u32,
    members: u32,
    active: VecDeque<Slot>,
}

#[derive(Clone, Default)]
struct Group {
    start: u64,
    finish: u64,
    front: usize,
    full: u32,
    /// Each last in, first out.
    slots: Vec<Vec<u32>>,
}

/// Aggregates in groups, classes in aggregates.
pub struct LinuxQfq {
    tree: Option<ClassTree>,
    members: Vec<Member>,
    aggregates: Vec<Aggregate>,
    unused: Vec<u32>,
    /// Aggregates with room, that which got room last first.
    with_room: Vec<u32>,
    groups: Vec<Group>,
    states: [u64; STATES],
    now: u64,
    /// Virtual time when groups became eligible last.
    seen: u64,
    weights: u32,
    inverse: u64,
    service: Option<u32>,
}

/// Whether `a` is later, where times wrap.
const fn later(a: u64, b: u64) -> bool {
    (a.wrapping_sub(b) as i64) > 0
}

const fn shift(group: usize) -> u32 {
    SHIFT_MIN + group as u32
}

const fn rounded(time: u64, group: usize) -> u64 {
    time & !((1 << shift(group)) - 1)
}

/// The states from `from` on.
const fn from(states: u64, from: usize) -> u64 {
    states & !((1 << from) - 1)
}

impl LinuxQfq {
    /// All classes are empty.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        let tree =
            (!settings.classes.is_empty()).then(|| ClassTree::new(&settings.places(), settings.default.as_deref()));
        let mut qfq = Self {
            tree,
            members: Vec::new(),
            aggregates: Vec::new(),
            unused: Vec::new(),
            with_room: Vec::new(),
            groups: alloc::vec![Group { slots: alloc::vec![Vec::new(); SLOTS], ..Group::default() }; GROUPS],
            states: [0; STATES],
            now: 0,
            seen: 0,
            weights: 0,
            inverse: 0,
            service: None,
        };
        for (slot, class) in settings.classes.iter().enumerate() {
            qfq.enrol(slot as Slot, class.weight, class.maxpkt.0 as u32);
        }
        qfq
    }

    fn member(&mut self, queue: Slot) -> &mut Member {
        entry(&mut self.members, queue, Member::default())
    }

    /// The class joins an aggregate of its kind, a new one if none has room.
    fn enrol(&mut self, queue: Slot, weight: u32, longest: u32) {
        let fits = |at: &&u32| {
            let Aggregate { weight: own, longest: most, .. } = self.aggregates[**at as usize];
            (own, most) == (weight, longest)
        };
        let with_room = self.with_room.iter().rev().find(fits).copied();
        let aggregate = with_room.unwrap_or_else(|| self.found(weight, longest));
        self.member(queue).aggregate = Some(aggregate);
        self.resize(aggregate, self.aggregates[aggregate as usize].members + 1);
    }

    fn found(&mut self, weight: u32, longest: u32) -> u32 {
        let new = Aggregate {
            start: 0,
            finish: 0,
            group: None,
            weight,
            longest,
            inverse: 0,
            budget_max: 0,
            budget_first: 0,
            budget: 0,
            members: 0,
            active: VecDeque::new(),
        };
        let at = match self.unused.pop() {
            Some(at) => {
                self.aggregates[at as usize] = new;
                at
            }
            None => {
                self.aggregates.push(new);
                self.aggregates.len() as u32 - 1
            }
        };
        self.with_room.push(at);
        at
    }

    /// The aggregate has `members` classes now.
    fn resize(&mut self, at: u32, members: u32) {
        let of = &mut self.aggregates[at as usize];
        if members == MEMBERS {
            self.with_room.retain(|other| *other != at);
        } else if of.members > members && members == MEMBERS - 1 {
            self.with_room.push(at);
        }
        of.budget_max = members * of.longest;
        of.inverse = (1 << PLACES) / u64::from(of.weight * members);
        if of.group.is_none() {
            let size = u64::from(of.budget_max) * of.inverse;
            let slots = size >> SHIFT_MIN;
            let group = if slots == 0 {
                0
            } else {
                let log = slots.ilog2() + 1;
                // Exactly a power of two fits the group below.
                log as usize - usize::from(size == 1 << (log + SHIFT_MIN - 1))
            };
            of.group = Some(group.min(GROUPS - 1));
        }
        self.weights = self.weights + of.weight * members - of.weight * of.members;
        of.members = members;
        self.inverse = (1 << PLACES) / u64::from(self.weights.max(1));
    }

    /// The class leaves its aggregate.
    fn withdraw(&mut self, queue: Slot) {
        let member = self.member(queue);
        let Some(at) = member.aggregate else { return };
        let was_active = core::mem::take(&mut member.is_active);
        if was_active {
            self.deactivate_class(queue, at);
        }
        self.members[queue as usize].aggregate = None;
        let members = self.aggregates[at as usize].members;
        if members > 1 {
            self.resize(at, members - 1);
            return;
        }
        self.with_room.retain(|other| *other != at);
        self.weights -= self.aggregates[at as usize].weight;
        if self.weights > 0 {
            self.inverse = (1 << PLACES) / u64::from(self.weights);
        }
        if self.service == Some(at) {
            self.service = self.choose();
        }
        self.unused.push(at);
    }

    fn deactivate_class(&mut self, queue: Slot, at: u32) {
        let active = &mut self.aggregates[at as usize].active;
        active.retain(|other| *other != queue);
        if active.is_empty() {
            self.deactivate(at);
        }
    }

    /// Puts the group into the state that its times and the ready groups above it say.
    fn settle(&mut self, group: usize) {
        let Group { start, finish, .. } = self.groups[group];
        let mut state = usize::from(later(start, self.now));
        let above = from(self.states[READY], group);
        if above != 0 && later(finish, self.groups[above.trailing_zeros() as usize].finish) {
            state |= BLOCKED;
        }
        self.states[state] |= 1 << group;
    }

    fn clear(&mut self, group: usize, states: &[usize]) {
        for state in states {
            self.states[*state] &= !(1 << group);
        }
    }

    fn move_groups(&mut self, mask: u64, source: usize, target: usize) {
        self.states[target] |= self.states[source] & mask;
        self.states[source] &= !mask;
    }

    /// The group's time is `start` now.
    fn set_start(&mut self, group: usize, start: u64) {
        self.groups[group].start = start;
        self.groups[group].finish = start.wrapping_add(2 << shift(group));
    }

    fn update_eligible(&mut self) {
        let waiting = self.states[WAITS] | self.states[WAITS | BLOCKED];
        if waiting == 0 {
            return;
        }
        if self.states[READY] == 0 {
            let start = self.groups[waiting.trailing_zeros() as usize].start;
            if later(start, self.now) {
                self.now = start;
            }
        }
        let flips = (self.now >> SHIFT_MIN) ^ (self.seen >> SHIFT_MIN);
        if flips != 0 {
            let last = flips.ilog2() + 1;
            let mask = if last > 31 { u64::MAX } else { (1 << last) - 1 };
            self.move_groups(mask, WAITS, READY);
            self.move_groups(mask, WAITS | BLOCKED, BLOCKED);
        }
    }

    /// The aggregate that is served next; it leaves its group.
    fn choose(&mut self) -> Option<u32> {
        self.update_eligible();
        self.seen = self.now;
        if self.states[READY] == 0 {
            return None;
        }
        let at = self.states[READY].trailing_zeros() as usize;
        let old = self.groups[at].finish;
        let group = &mut self.groups[at];
        let chosen = group.slots[group.front].pop()?;
        if group.slots[group.front].is_empty() {
            group.full &= !1;
        }
        match self.scan(at) {
            None => self.clear(at, &[READY]),
            Some(front) => {
                let start = rounded(self.aggregates[front as usize].start, at);
                if self.groups[at].start == start {
                    return Some(chosen);
                }
                self.set_start(at, start);
                self.clear(at, &[READY]);
                self.settle(at);
            }
        }
        // The groups below may have been blocked by this one alone.
        let above = from(self.states[READY], at + 1);
        if above == 0 || later(self.groups[above.trailing_zeros() as usize].finish, old) {
            let mask = (1 << at) - 1;
            self.move_groups(mask, BLOCKED, READY);
            self.move_groups(mask, WAITS | BLOCKED, WAITS);
        }
        Some(chosen)
    }

    /// Makes the first slot that is not empty the front one; its first aggregate.
    fn scan(&mut self, at: usize) -> Option<u32> {
        let group = &mut self.groups[at];
        if group.full == 0 {
            return None;
        }
        let ahead = group.full.trailing_zeros();
        group.front = (group.front + ahead as usize) % SLOTS;
        group.full >>= ahead;
        group.slots[group.front].last().copied()
    }

    /// The start of an aggregate that wakes.
    fn update_start(&mut self, at: u32) {
        let Aggregate { finish, group, .. } = self.aggregates[at as usize];
        let group = group.unwrap_or(0);
        let last = rounded(finish, group);
        let limit = rounded(self.now, group).wrapping_add(1 << shift(group));
        self.aggregates[at as usize].start = if !later(finish, self.now) || later(last, limit) {
            // A stale time.
            let above = from(self.states[READY], group);
            let blocks = (above != 0).then(|| self.groups[above.trailing_zeros() as usize].finish);
            match blocks.filter(|blocks| later(last, *blocks)) {
                Some(blocks) if later(limit, blocks) => blocks,
                Some(_) => limit,
                None => self.now,
            }
        } else {
            finish
        };
    }

    fn set_finish(&mut self, at: u32) {
        let of = &mut self.aggregates[at as usize];
        of.finish = of.start.wrapping_add(u64::from(of.budget_max) * of.inverse);
    }

    /// The aggregate has a class with something to send, and had none.
    fn activate(&mut self, at: u32) {
        let of = &mut self.aggregates[at as usize];
        (of.budget_first, of.budget) = (of.budget_max, of.budget_max);
        self.update_start(at);
        self.set_finish(at);
        if self.service.is_none() {
            self.service = Some(at);
            self.now = self.aggregates[at as usize].start;
            self.seen = self.now;
        } else if self.service != Some(at) {
            self.schedule(at);
        }
    }

    fn schedule(&mut self, at: u32) {
        let Aggregate { start, group, .. } = self.aggregates[at as usize];
        let group = group.unwrap_or(0);
        let slot_start = rounded(start, group);
        let of = &mut self.groups[group];
        if of.full != 0 {
            if !later(of.start, start) {
                self.insert(at, group, slot_start);
                return;
            }
            // Room for an earlier slot.
            let by = of.start.wrapping_sub(slot_start) >> shift(group);
            of.full = of.full.checked_shl(by as u32).unwrap_or(0);
            of.front = of.front.wrapping_sub(by as usize) % SLOTS;
            self.clear(group, &[WAITS, WAITS | BLOCKED]);
        } else if self.states[READY] == 0 && later(slot_start, self.now) && self.service.is_none() {
            self.now = slot_start;
        }
        self.set_start(group, slot_start);
        self.settle(group);
        self.insert(at, group, slot_start);
    }

    fn insert(&mut self, at: u32, group: usize, slot_start: u64) {
        let of = &mut self.groups[group];
        let mut slot = slot_start.wrapping_sub(of.start) >> shift(group);
        let most = SLOTS as u64 - 2;
        if slot > most {
            let by = slot_start.wrapping_sub(of.start).wrapping_sub(most << shift(group));
            let aggregate = &mut self.aggregates[at as usize];
            aggregate.start = aggregate.start.wrapping_sub(by);
            aggregate.finish = aggregate.finish.wrapping_sub(by);
            slot = most;
        }
        of.slots[(of.front + slot as usize) % SLOTS].push(at);
        of.full |= 1 << slot;
    }

    /// Charges the aggregate in service for what it sent.
    fn charge(&mut self, at: u32) {
        let of = &mut self.aggregates[at as usize];
        let sent = of.budget_max.min(of.budget_first.wrapping_sub(of.budget));
        of.finish = of.start.wrapping_add(u64::from(sent) * of.inverse);
    }

    /// No class of the aggregate has anything to send: other than by sending its last packet.
    fn deactivate(&mut self, at: u32) {
        if self.service == Some(at) {
            self.charge(at);
            self.service = self.choose();
            return;
        }
        let of = &mut self.aggregates[at as usize];
        of.finish = of.start;
        let (start, group) = (of.start, of.group.unwrap_or(0));
        let slot = rounded(start, group).wrapping_sub(self.groups[group].start) >> shift(group);
        let of = &mut self.groups[group];
        let place = (of.front + slot as usize) % SLOTS;
        of.slots[place].retain(|other| *other != at);
        if of.slots[place].is_empty() {
            of.full &= !(1_u32.checked_shl(slot as u32).unwrap_or(0));
        }
        if of.full == 0 {
            self.clear(group, &[WAITS, BLOCKED, WAITS | BLOCKED]);
            let ready = self.states[READY];
            if ready & (1 << group) != 0 && from(ready, group) == ready & (1 << group) {
                let below = ready & ((1 << group) - 1);
                let mask = if below == 0 { u64::MAX } else { !((1 << below.ilog2()) - 1) };
                self.move_groups(mask, BLOCKED, READY);
                self.move_groups(mask, WAITS | BLOCKED, WAITS);
            }
            self.clear(group, &[READY]);
        } else if of.slots[of.front].is_empty()
            && let Some(front) = self.scan(group)
        {
            let start = rounded(self.aggregates[front as usize].start, group);
            if self.groups[group].start != start {
                self.clear(group, &[READY, WAITS, BLOCKED, WAITS | BLOCKED]);
                self.set_start(group, start);
                self.settle(group);
            }
        }
    }

    fn reweigh(&mut self, queue: Slot, weight: Weight) {
        let Member { aggregate, is_active, .. } = *self.member(queue);
        let Some(at) = aggregate else { return };
        let longest = self.aggregates[at as usize].longest;
        self.withdraw(queue);
        self.enrol(queue, ((weight.thousandths() + 500) / 1000).clamp(1, WEIGHT_MAX), longest);
        if is_active {
            self.join(queue);
        }
    }
}

impl Scheduler for LinuxQfq {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { queue_per_flow: self.tree.is_none(), tags: false, hears_idle: true, ..Traits::PLAIN }
    }

    fn classes(&self) -> Vec<&str> {
        self.tree.as_ref().map_or(Vec::new(), ClassTree::leaf_names)
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        self.tree.as_ref().map_or(flow.slot, |tree| tree.leaf_of(flow, packet))
    }

    // `agg_dequeue` looks at the next packet of the class.
    fn heads(&self, _queue: Slot) -> Heads {
        Heads::OnceSent
    }

    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        let weight = ((flow.weight.thousandths() + 500) / 1000).clamp(1, WEIGHT_MAX);
        let length = packet.length.min(LMAX_MAX as u32);
        let aggregate = self.member(queue).aggregate;
        match aggregate {
            None => self.enrol(queue, weight, length.max(MAXPKT.0 as u32)),
            Some(at) if self.aggregates[at as usize].longest < length => {
                let own = self.aggregates[at as usize].weight;
                let was_active = self.members[queue as usize].is_active;
                self.withdraw(queue);
                self.enrol(queue, own, length);
                if was_active {
                    self.join(queue);
                }
            }
            Some(_) => {}
        }
        Tag::from(packet.length)
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        let Some(at) = self.members[queue as usize].aggregate else { return };
        self.members[queue as usize].deficit = i64::from(self.aggregates[at as usize].longest);
        self.join(queue);
    }

    fn next(&mut self, _now: Time, store: &Store) -> Next {
        loop {
            let Some(at) = self.service else { return Next::Empty };
            let of = &self.aggregates[at as usize];
            let head = of.active.front().and_then(|queue| store.head(*queue).map(|(head, _)| (*queue, head.length)));
            if let Some((queue, length)) = head
                && of.budget >= length.min(LMAX_MAX as u32)
            {
                return Next::Queue(queue);
            }
            self.charge(at);
            let of = &mut self.aggregates[at as usize];
            (of.budget_first, of.budget) = (of.budget_max, of.budget_max);
            if head.is_some() {
                of.start = of.finish;
                self.set_finish(at);
                self.schedule(at);
            } else if store.packets() == 0 {
                self.service = None;
                return Next::Empty;
            }
            self.service = self.choose();
        }
    }

    fn sent(&mut self, _now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        let Some(at) = self.members[queue as usize].aggregate else { return };
        // A longer packet, which Linux refuses, is served as one of the longest.
        let length = packet.length.min(LMAX_MAX as u32);
        let of = &mut self.aggregates[at as usize];
        let member = &mut self.members[queue as usize];
        member.deficit -= i64::from(length);
        match head {
            None => {
                of.active.pop_front();
                member.is_active = false;
            }
            Some(next) if member.deficit < (next as i64).min(LMAX_MAX as i64) => {
                member.deficit += i64::from(of.longest);
                of.active.rotate_left(1);
            }
            Some(_) => {}
        }
        of.budget = of.budget.saturating_sub(length);
        self.now = self.now.wrapping_add(u64::from(length) * self.inverse);
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        let member = &mut self.members[gone.queue as usize];
        if gone.head.is_none()
            && let Some(at) = member.aggregate
            && core::mem::take(&mut member.is_active)
        {
            self.deactivate_class(gone.queue, at);
        }
    }

    fn is_clear(&mut self, _now: Time, queue: Slot) -> bool {
        if self.tree.is_some() {
            return true;
        }
        let Member { aggregate, is_active, .. } = *self.member(queue);
        let Some(at) = aggregate else { return true };
        let owes = is_active || self.service == Some(at) || later(self.aggregates[at as usize].finish, self.now);
        if !owes {
            self.withdraw(queue);
        }
        !owes
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        if self.tree.is_some() {
            return Err(Unsupported("its classes have weights, not their flows"));
        }
        self.reweigh(queue, weight);
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("known_weight", Unit::None, self.weights));
        visit(Reading::count("aggregates", Unit::None, (self.aggregates.len() - self.unused.len()) as u64));
    }
}

impl LinuxQfq {
    /// The class waits in its aggregate.
    fn join(&mut self, queue: Slot) {
        let member = &mut self.members[queue as usize];
        member.is_active = true;
        let Some(at) = member.aggregate else { return };
        let active = &mut self.aggregates[at as usize].active;
        active.push_back(queue);
        if active.len() == 1 && self.service != Some(at) {
            self.activate(at);
        }
    }
}
