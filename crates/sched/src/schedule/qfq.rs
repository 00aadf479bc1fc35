//! Quick fair queueing: fair queueing with eligible start times, on time stamps rounded so that a
//! packet costs O(1).
//!
//! Use when: many weighted flows need bounds on unfairness at O(1) a packet. For less work and
//! slightly wider bounds use `qfq_plus`; with few flows `wf2q_plus` has tighter bounds at O(log N).
//! Source: Checconi, Rizzo and Valente, "QFQ: Efficient Packet Scheduling with Tight Guarantees",
//! IEEE/ACM Trans. Networking 2013 (sections III and IV).
//! Departs: V grows by L/W, W the weights of all flows that are known (the authors' code: of the
//! greatest sum allowed); a flow is known until its debt is paid and its slot is taken over. Within
//! a slot flows take turns, a packet each (the authors' code: last in, first out). V jumps to the
//! least start when a packet is asked for and no group is eligible. When the line is idle V passes
//! all finish times.
//! Chosen: packets longer than `longest` move their flow to the group that its longest packet yet
//! asks for, when they arrive; a start that the group's window does not hold, after a weight or a
//! longest packet has changed, is moved into it; a dropped head leaves its start to the next
//! packet.
//! Cost: O(1) a packet, without loops. A packet longer than `longest`, a drop that empties a flow
//! and a change of weight cost a step for each group in use. A flow's state is 64 bytes.
//! Bound: a flow that waits from an instant on gets at least its share wi of the line from then on,
//! less 3 wi si + 2 wi Lmax bytes, where weights are normalised to sum 1 and si is Li/wi rounded up
//! to a slot width, Li at least `longest` (round_bounds.rs: qfq_keeps_its_worst_case_fair_index).
//! It serves what its definition says, which is among the eligible groups the one of least F
//! (round_schedulers.rs: qfq_is_its_definition).
//! Changes: a weight moves the flow to the group that it asks for; its S stands, and V grows by the
//! new sum of weights. A rate means nothing to it.
//!
//! Range: 63 groups of slot widths from 2⁻²⁰ to 2⁴² bytes of weight one hold every weight and every
//! length. Time stamps have 128 bits with 50 after the point: V is below 2¹¹³ after ten days of 100
//! Gbit/s at a weight of 0.001, and never wraps. 1/w is rounded down by at most one part in 2³⁰. In
//! slots of up to 2¹³ bytes of weight one a word holds what a start is beyond that of its slot:
//! less than 2⁶³, and below 2⁶⁴ with a packet added. In wider ones stamps are added.

pub(crate) mod groups;

use self::groups::Groups;
use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::packet::Packet;
use crate::part::{Part, facts, settings};
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::schedule::drr;
use crate::store::Store;
use crate::units::{Bytes, Time, Weight};
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// What packets are expected.
    pub struct Settings {
        /// The longest packet that flows are expected to send, from 1 B to 1 GiB. Longer ones are
        /// served too, at a higher cost.
        // The largest Ethernet frame without its checksum.
        pub longest: Bytes = Bytes(1514),
    }
}

impl Part for Settings {
    facts!(goes_by_weights = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::WorstCaseIndex(flow) => Some(worst_case_index(load, flow, self.longest)),
            _ => None,
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let is_sound = (1..=drr::QUANTUM_MAX).contains(&self.longest.0);
        (!is_sound).then(|| String::from("qfq: longest is from 1 B to 1 GiB"))
    }

    fn variants() -> Vec<Self> {
        alloc::vec![Self { longest: Bytes(1) }, Self { longest: Bytes(9000) }]
    }
}

/// 3 wi si + 2 wi Lmax, weights normalised to sum 1: si is the least slot width, a power of two,
/// that holds Li/wi.
pub(crate) fn worst_case_index(load: &Load<'_>, flow: u32, declared: Bytes) -> f64 {
    let longest = load.longest().max(declared.0 as f64);
    let mut width = 1.0 / 1_048_576.0;
    while width < longest / load.weight(flow) {
        width *= 2.0;
    }
    3.0 * load.weight(flow) * width + 2.0 * load.share(flow) * load.longest()
}

/// Flows in groups.
pub struct Qfq {
    longest: u32,
    groups: Groups,
    /// W, in thousandths.
    weights: u64,
}

impl Qfq {
    /// No flow is known.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        let longest = settings.longest.0.clamp(1, drr::QUANTUM_MAX) as u32;
        Self { longest, groups: Groups::new(), weights: 0 }
    }

    /// V may pass several slots of a group in one step.
    #[cold]
    fn sent_long(&mut self, queue: Slot, length: u32, waits: bool) {
        self.groups.sent(queue, length, waits);
        self.groups.sort_sets();
    }

    /// The flow has a new weight or a packet longer than any before.
    #[cold]
    fn learn(&mut self, queue: Slot, weight: Weight, length: u32) {
        let (before, longest) = self.groups.known(queue);
        self.weights = self.weights - u64::from(before) + u64::from(weight.thousandths());
        self.groups.set_total(self.weights);
        self.groups.resize(queue, weight, longest.max(length).max(self.longest));
    }
}

impl Scheduler for Qfq {
    traits!(tags = false, hears_idle = true);

    #[inline]
    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        let (weight, longest) = self.groups.known(queue);
        if weight != flow.weight.thousandths() || longest < packet.length {
            self.learn(queue, flow.weight, packet.length);
        }
        0
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.groups.activate(queue);
    }

    #[inline]
    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.groups.ready().or_else(|| self.groups.next()).map_or(Next::Empty, Next::Queue)
    }

    #[inline(always)]
    fn sent(&mut self, _now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if packet.length > self.longest {
            self.sent_long(queue, packet.length, head.is_some());
        } else {
            self.groups.sent(queue, packet.length, head.is_some());
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.head.is_none() {
            self.groups.remove(gone.queue);
        }
    }

    fn idle(&mut self, _now: Time) {
        self.groups.idle();
    }

    fn is_clear(&mut self, _now: Time, queue: Slot) -> bool {
        let owes = self.groups.owes(queue);
        if !owes {
            self.weights -= u64::from(self.groups.known(queue).0);
            self.groups.set_total(self.weights);
            self.groups.forget(queue);
        }
        !owes
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        if self.groups.known(queue).0 > 0 {
            self.learn(queue, weight, 0);
        }
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("known_weight", Unit::None, self.weights as f64 / 1000.0));
        visit(Reading::real("virtual_time_bytes", Unit::Bytes, self.groups.now_bytes()));
        visit(Reading::count("backlogged_groups", Unit::None, self.groups.in_use().count_ones()));
    }
}
