//! Deficit round robin: flows take turns, each turn may send a quantum of bytes, and what is not
//! used carries over.
//!
//! Use when: flows with packets of different lengths need fair or weighted shares of bytes at O(1).
//! Delay grows with the sum of the quanta; for bounds that do not, use `qfq` or `wf2q_plus`.
//! Source: Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM
//! 1995 (section 3) and IEEE/ACM Trans. Networking 1996.
//!
//! Steps:
//! 1. A packet arrives: it joins the tail of its flow's queue. A flow of which nothing waited takes
//!    the last turn, with a deficit D = 0.
//! 2. The line is free: look at the flow that has the turn. If its turn begins, D = D + weight ·
//!    quantum.
//! 3. If D covers the head of its queue, send that: D = D - its length. The turn goes on, with this
//!    step, when the line is free again.
//! 4. If that was the flow's last packet, the flow leaves the round and loses D; the turn passes
//!    on.
//! 5. If D is less than the head, the flow keeps D and the turn passes to the next flow (step 2).
//!
//! Rules: with `classes` those of `tc` take turns, each with a quantum of its own; a packet belongs
//! to the class that its flow names, else to that of its code point, else to the default one; the
//! kernel drops what no filter takes (`drr_enqueue`).
//! Departs: a flow's quantum is its weight times one common quantum, counted in thousandths of
//! bytes, so that no weight is rounded. Turns are those of Linux 6.1, sch_drr.c (`drr_dequeue`),
//! whose classes are what here are flows.
//! Chosen: a flow that a drop emptied leaves the round and loses its deficit like one that sent its
//! last packet; one that empties and refills inside its own turn takes the last turn; a packet at a
//! head that is dropped leaves the deficit as it is. A quantum may be smaller than a packet: when
//! no flow could send in a whole round, the empty rounds that follow are given at once
//! (deficit.rs), which changes no departure.
//! Cost: O(1) a packet while every flow's quantum is at least its largest packet; at worst three
//! steps for each backlogged flow, however small the quanta. A flow's state is 32 bytes.
//! Bound: after each turn 0 <= deficit < Lmax, and m turns of a backlogged flow send between m Q -
//! Lmax and m Q + Lmax bytes (round_bounds.rs: drr_serves_its_quanta_turn_by_turn); over any
//! interval in which two flows wait their bytes over Q/q differ by at most 2 Lmax + q, q the least
//! quantum (round_bounds.rs: drr_is_fair_over_every_interval); a backlogged flow's service is at
//! most (3 F - 2 Q)/C late, F the sum of all quanta, while Q >= Lmax (round_bounds.rs:
//! drr_is_a_latency_rate_server). Bursts and delays grow with F: a weight of a million is a turn of
//! a million quanta.
//! Changes: a weight changes the flow's quantum from its next turn on; its deficit and its place in
//! the round stand. A rate means nothing to it.
//!
//! Range: the quantum is at most 1 GiB, so that weight times quantum is below 2⁶⁰ thousandths of a
//! byte.

use crate::change::{Change, Unsupported};
use crate::class_tree::{self, ClassTree, Place};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use crate::deficit::{Accounts, Round};
use crate::facts::Facts;
use crate::leaf::LeafQueue;
use crate::packet::Packet;
use crate::part::{Part, queues_of_classes, settings};
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::traits::Traits;
use crate::units::{Bytes, Time};
use crate::waiting::Decision;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// How much a turn sends.
    pub struct Settings {
        /// What a flow of weight one may send in a turn, from 1 B to 1 GiB.
        // The largest Ethernet frame without its checksum: each turn sends at least a packet.
        pub quantum: Bytes = Bytes(1514),
        /// The classes of `tc`, up to 16384, which take turns in place of flows.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Vec::is_empty"))]
        pub classes: Vec<Class> = Vec::new(),
        /// The class of packets that belong to no other; without it the first.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub default: Option<String> = None,
    }
}

settings! {
    /// A class.
    pub struct Class {
        /// Its name, by which flows choose it.
        pub name: String = String::new(),
        /// Packets with these code points belong to it if their flow names no class.
        pub dscp: Vec<u8> = Vec::new(),
        /// What it may send in a turn; without one the `quantum` of all.
        pub quantum: Option<Bytes> = None,
        /// The discipline in which its packets wait; without one, where another class names one,
        /// `fifo + 1000packets`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub queue: Option<LeafQueue> = None,
    }
}

impl Part for Settings {
    fn places(&self) -> Vec<Place<'_>> {
        self.classes.iter().map(|class| Place::new(&class.name, None, &class.dscp).with(class.queue.as_ref())).collect()
    }

    fn facts(&self) -> Facts {
        Facts { goes_by_weights: self.classes.is_empty(), ..Facts::of_tree(&self.places()) }
    }

    queues_of_classes!();

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        if !self.classes.is_empty() {
            return None;
        }
        let (quantum, flows) = (self.quantum.0 as f64, load.weights.len() as u32);
        let least = (0..flows).map(|flow| load.weight(flow)).fold(f64::INFINITY, f64::min);
        match measure {
            Measure::FairnessWhileWaiting(i, j) => {
                // 2 Lmax + q over Q/q, q the lesser of the two quanta.
                Some(2.0 * load.longest() / load.weight(i).min(load.weight(j)) + quantum)
            }
            Measure::Latency { flow, length } if least * quantum >= load.longest() && !load.has_losses => {
                // (3 F - 2 Q)/C until it begins, and its own transmission.
                let frame: f64 = (0..flows).map(|flow| load.weight(flow) * quantum).sum();
                Some(3.0 * frame - 2.0 * load.weight(flow) * quantum + f64::from(length))
            }
            _ => None,
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let of_class = |class: &Class| {
            let fault = quantum_fault("drr", class.quantum?)?;
            Some(fault.replacen("drr", &format!("drr: class `{}`", class.name), 1))
        };
        let of_tree = || class_tree::fault_of_list("drr", &self.places(), self.default.as_deref());
        let of_classes = || self.classes.iter().find_map(of_class);
        quantum_fault("drr", self.quantum).or_else(of_tree).or_else(of_classes)
    }

    fn variants() -> Vec<Self> {
        // Smaller than most packets, and larger than any.
        let class = |(name, dscp, quantum): (&str, &[u8], Option<u64>)| Class {
            name: String::from(name),
            dscp: dscp.to_vec(),
            quantum: quantum.map(Bytes),
            queue: None,
        };
        let classes = [("a", &[1, 5][..], Some(1)), ("b", &[2, 6], None), ("c", &[3], Some(9000))].map(class).to_vec();
        let of_quantum = |quantum| Self { quantum: Bytes(quantum), ..Self::default() };
        let default = Some(String::from("b"));
        alloc::vec![of_quantum(1), of_quantum(QUANTUM_MAX), Self { classes, default, ..Self::default() }]
    }
}

/// The step of the card that sends.
const CHOOSES: u8 = 3;

/// Turns of a quantum each.
pub struct Drr {
    tree: Option<ClassTree>,
    quantum: u64,
    accounts: Accounts,
    round: Round,
}

impl Drr {
    /// An empty round.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        let quantum = settings.quantum.0.min(QUANTUM_MAX);
        let mut accounts = Accounts::new();
        for (slot, class) in (0..).zip(&settings.classes) {
            accounts.set_quantum(slot, class.quantum.map_or(quantum, |quantum| quantum.0).saturating_mul(1000));
        }
        let default = settings.default.as_deref();
        let tree = (!settings.classes.is_empty()).then(|| ClassTree::new(&settings.places(), default));
        Self { tree, quantum, accounts, round: Round::new() }
    }
}

impl Scheduler for Drr {
    // A packet's length is all that there is to know of it. A flow that sends its last packet
    // leaves the round, without credit.
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { queue_per_flow: self.tree.is_none(), tags: false, bypass: u32::MAX, ..Traits::PLAIN }
    }

    fn classes(&self) -> Vec<&str> {
        self.tree.as_ref().map_or(Vec::new(), ClassTree::leaf_names)
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        self.tree.as_ref().map_or(flow.slot, |tree| tree.leaf_of(flow, packet))
    }

    #[inline]
    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        if self.tree.is_none() && !self.accounts.waits(queue) {
            self.accounts.set_quantum(queue, self.quantum * u64::from(flow.weight.thousandths()));
        }
        Tag::from(packet.length)
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.accounts.join(&mut self.round, queue, cost_of_length(tag));
    }

    #[inline]
    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.accounts.next(&mut self.round).map_or(Next::Empty, Next::Queue)
    }

    #[inline(always)]
    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        self.accounts.sent(&mut self.round, queue, head.map(cost_of_length));
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.was_head {
            self.accounts.replaced(&mut self.round, gone.queue, gone.head.map(cost_of_length));
        }
    }

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        if self.tree.is_some() {
            return Err(Unsupported("its classes have quanta, not their flows"));
        }
        self.accounts.set_quantum(queue, self.quantum * u64::from(weight.thousandths()));
        Ok(())
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        let deficit = self.accounts.deficit(queue) as f64 / 1000.0;
        Some(Decision::by("turn", queue).with_value(deficit).in_step(CHOOSES))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("backlogged_flows", Unit::None, self.round.queues()));
    }
}

/// What a packet costs, in thousandths of bytes.
pub(crate) fn cost(packet: &Packet) -> u64 {
    u64::from(packet.length) * 1000
}

/// The cost of a packet whose tag is its length.
#[inline]
fn cost_of_length(tag: Tag) -> u64 {
    u64::from(tag as u32) * 1000
}

/// Why `quantum` makes no sense in `scheduler`.
pub(crate) fn quantum_fault(scheduler: &str, quantum: Bytes) -> Option<String> {
    let is_sound = (1..=QUANTUM_MAX).contains(&quantum.0);
    (!is_sound).then(|| alloc::format!("{scheduler}: a quantum is from 1 B to 1 GiB"))
}

/// The greatest quantum: 1 GiB.
pub(crate) const QUANTUM_MAX: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Limit, Rate};

    /// The flows of `arrivals` (flow, length), all there at the start, in order of departure.
    fn order(quantum: u64, arrivals: &[(Slot, u32)]) -> Vec<(Slot, u32)> {
        let line = Line::new(Rate::MAX);
        let mut drr = Drr::new(&Settings { quantum: Bytes(quantum), ..Settings::default() }, &line);
        let mut store = Store::new(Limit::Unlimited);
        for (slot, length) in arrivals {
            let packet = Packet::new(0, Time::ZERO, *length);
            let tag = drr.arrive(Time::ZERO, *slot, Flow::of_slot(*slot), &packet);
            let was_empty = store.queue_packets(*slot) == 0;
            store.push(&packet, tag, *slot, *slot);
            if was_empty {
                drr.backlogged(*slot, tag);
            }
        }
        let mut order = Vec::new();
        while let Next::Queue(slot) = drr.next(Time::ZERO, &store) {
            store.end_serving();
            let Some((served, packet)) = store.serve(slot) else { panic!("it waits") };
            drr.sent(Time::ZERO, slot, packet, 0, served.head);
            order.push((slot, packet.length));
        }
        order
    }

    #[test]
    fn the_example_of_the_paper() {
        // Figures 2 and 3, quantum 500. Flow 1 sends its 200 and keeps 300, for its next packet has
        // 750; in the second round it has 800 and sends both that are left.
        let (first, second) = ([(1, 200), (1, 750), (1, 20)], [(2, 500), (2, 500)]);
        let (third, fourth) = ([(3, 100), (3, 600), (3, 200)], [(4, 180), (4, 700), (4, 50)]);
        let first_round = [(1, 200), (2, 500), (3, 100), (4, 180)];
        let second_round = [(1, 750), (1, 20), (2, 500), (3, 600), (3, 200), (4, 700), (4, 50)];
        let all = [&first[..], &second, &third, &fourth].concat();
        assert_eq!(order(500, &all), [&first_round[..], &second_round].concat());
    }
}
