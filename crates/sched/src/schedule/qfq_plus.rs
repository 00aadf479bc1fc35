//! QFQ+: quick fair queueing over aggregates of flows of equal weight, deficit round robin within
//! an aggregate.
//!
//! Use when: many flows have few distinct weights and the scheduler's own cost counts. `qfq` has
//! tighter bounds; to match the kernel use `linux_qfq`.
//! Source: Valente, "Reducing the Execution Time of Fair-Queueing Packet Schedulers", Computer
//! Communications 2014, and Linux's `sch_qfq`.
//! Departs: an aggregate's budget and weight count its members that wait when its service begins,
//! not all of them, so that the share of an idle member goes to all flows and not to its aggregate.
//! The rest as in `qfq`.
//! Chosen: a flow belongs to an aggregate with room of its weight from its first packet on; an
//! aggregate's longest packet is the longest any of its members has sent; a service is charged for
//! what was sent, not for the budget.
//! Cost: O(1) a packet, and less of it than in QFQ: time stamps change once a service. A flow that
//! is seen first and a weight that changes cost O(log N).
//! Bound: a flow that waits from an instant on gets at least its share wi from then on, less QFQ's
//! 3 wi si + 2 wi Lmax and less (M - 1) Lmax for the other members of its aggregate
//! (round_bounds.rs: qfq_plus_keeps_its_worst_case_fair_index), while no packet is longer than
//! `longest`: `fairq audit` finds twice that where all are and come at once. With aggregates of one
//! flow and packets of one length it is QFQ (round_schedulers.rs: qfq_plus_of_single_flows_is_qfq).
//! Changes: a flow whose weight changes goes to another aggregate and loses its deficit; V stands.
//! A rate means nothing to it.
//!
//! Range: as `qfq`.

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::deficit::{Accounts, Round};
use crate::packet::Packet;
use crate::part::{Part, facts, settings};
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::schedule::drr;
use crate::schedule::qfq::groups::Groups;
use crate::schedule::qfq::worst_case_index;
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Bytes, Time, Weight};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// What packets are expected, and how many flows are scheduled as one.
    pub struct Settings {
        /// The longest packet that flows are expected to send, from 1 B to 1 GiB. Longer ones are
        /// served too, at a higher cost.
        pub longest: Bytes = Bytes(1514),
        /// M: how many flows an aggregate has at most, from 1 to 1024.
        pub members: u32 = 8,
    }
}

impl Part for Settings {
    facts!(goes_by_weights = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::WorstCaseIndex(flow) if self.longest.0 as f64 >= load.longest() => {
                // Less (M - 1) Lmax for the other members of its aggregate.
                let others = f64::from(self.members - 1) * load.longest();
                Some(worst_case_index(load, flow, self.longest) + others)
            }
            _ => None,
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=1024).contains(&self.members) {
            return Some(String::from("qfq_plus: members are from 1 to 1024"));
        }
        let is_sound = (1..=drr::QUANTUM_MAX).contains(&self.longest.0);
        (!is_sound).then(|| String::from("qfq_plus: longest is from 1 B to 1 GiB"))
    }

    fn variants() -> Vec<Self> {
        alloc::vec![Self { longest: Bytes(1), members: 3 }, Self { longest: Bytes(1514), members: 1 }]
    }
}

/// The group and the place of a flow.
#[derive(Clone, Copy)]
struct Member {
    aggregate: u32,
    /// In thousandths; 0 while the flow is not known.
    weight: u32,
}

/// Flows of equal weight.
struct Aggregate {
    /// Those that wait.
    round: Round,
    members: u32,
    weight: Weight,
    longest: u32,
}

/// An aggregate that is being served.
#[derive(Clone, Copy)]
struct Service {
    aggregate: u32,
    /// Number of members that waited when it began.
    members: u32,
    budget: u64,
    sent: u64,
}

/// Aggregates in groups, flows in aggregates.
pub struct QfqPlus {
    longest: u32,
    members_most: u32,
    members: Vec<Member>,
    aggregates: Vec<Aggregate>,
    /// Aggregates with room, by weight in thousandths.
    with_room: BTreeSet<(u32, u32)>,
    /// Aggregates without members.
    unused: Vec<u32>,
    accounts: Accounts,
    groups: Groups,
    weights: u64,
    service: Option<Service>,
}

const UNKNOWN: Member = Member { aggregate: 0, weight: 0 };

impl QfqPlus {
    /// No flow is known.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self {
            longest: settings.longest.0.clamp(1, drr::QUANTUM_MAX) as u32,
            members_most: settings.members.max(1),
            members: Vec::new(),
            aggregates: Vec::new(),
            with_room: BTreeSet::new(),
            unused: Vec::new(),
            accounts: Accounts::new(),
            groups: Groups::new(),
            weights: 0,
            service: None,
        }
    }

    fn member(&self, queue: Slot) -> Member {
        self.members.get(queue as usize).copied().unwrap_or(UNKNOWN)
    }

    /// The flow, of which nothing waits in a round, joins an aggregate of its weight.
    #[cold]
    fn enrol(&mut self, queue: Slot, weight: Weight) {
        let thousandths = weight.thousandths();
        let with_room = self.with_room.range((thousandths, 0)..=(thousandths, u32::MAX)).next().copied();
        let aggregate = with_room.map_or_else(|| self.found(weight), |(_, aggregate)| aggregate);
        let of = &mut self.aggregates[aggregate as usize];
        of.members += 1;
        if of.members == self.members_most {
            self.with_room.remove(&(thousandths, aggregate));
        }
        *entry(&mut self.members, queue, UNKNOWN) = Member { aggregate, weight: thousandths };
        self.weights += u64::from(thousandths);
        self.groups.set_total(self.weights);
    }

    /// A new aggregate with room.
    fn found(&mut self, weight: Weight) -> u32 {
        let aggregate = self.unused.pop().unwrap_or_else(|| {
            self.aggregates.push(Aggregate { round: Round::new(), members: 0, weight, longest: 0 });
            self.aggregates.len() as u32 - 1
        });
        let of = &mut self.aggregates[aggregate as usize];
        (of.weight, of.longest) = (weight, self.longest);
        self.groups.resize(aggregate, weight, self.longest);
        self.with_room.insert((weight.thousandths(), aggregate));
        aggregate
    }

    /// The flow, of which nothing waits in a round, leaves its aggregate.
    #[cold]
    fn withdraw(&mut self, queue: Slot) {
        let Member { aggregate, weight } = core::mem::replace(&mut self.members[queue as usize], UNKNOWN);
        let of = &mut self.aggregates[aggregate as usize];
        of.members -= 1;
        if of.members == 0 {
            self.with_room.remove(&(weight, aggregate));
            self.unused.push(aggregate);
        } else {
            self.with_room.insert((weight, aggregate));
        }
        self.weights -= u64::from(weight);
        self.groups.set_total(self.weights);
    }

    /// `queue`, whose first packet has `head` bytes, waits in its aggregate.
    fn join(&mut self, queue: Slot, head: u64) {
        let aggregate = self.members[queue as usize].aggregate;
        let of = &mut self.aggregates[aggregate as usize];
        self.accounts.set_quantum(queue, of.longest.into());
        self.accounts.join(&mut of.round, queue, head);
        if of.round.queues() == 1 {
            self.groups.activate(aggregate);
        }
    }

    /// A member left the round of `aggregate`, perhaps the last.
    fn note_left(&mut self, aggregate: u32) {
        if self.aggregates[aggregate as usize].round.queues() > 0 {
            return;
        }
        if self.service.is_some_and(|service| service.aggregate == aggregate) {
            self.end_service();
        } else {
            self.groups.remove(aggregate);
        }
    }

    fn end_service(&mut self) {
        let Some(Service { aggregate, members, sent, .. }) = self.service.take() else { return };
        self.groups.advance(sent);
        let cost = self.groups.cost(aggregate, sent, members);
        let of = &self.aggregates[aggregate as usize];
        self.groups.served(aggregate, cost, of.round.queues() > 0);
        if of.longest > self.longest {
            // V may have passed several slots of a group in one step.
            self.groups.sort_sets();
        }
    }

    fn reweigh(&mut self, queue: Slot, weight: Weight) {
        let member = self.member(queue);
        if member.weight == 0 {
            return;
        }
        let head = self.accounts.waits(queue).then(|| self.accounts.head(queue));
        if head.is_some() {
            self.accounts.leave(&mut self.aggregates[member.aggregate as usize].round, queue);
            self.note_left(member.aggregate);
        }
        let longest = self.aggregates[member.aggregate as usize].longest;
        self.withdraw(queue);
        self.enrol(queue, weight);
        let aggregate = self.members[queue as usize].aggregate;
        let of = &mut self.aggregates[aggregate as usize];
        if of.longest < longest {
            of.longest = longest;
            self.groups.resize(aggregate, weight, longest);
        }
        if let Some(head) = head {
            self.join(queue, head);
        }
    }
}

impl Scheduler for QfqPlus {
    traits!(hears_idle = true);

    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        if self.member(queue).weight == 0 {
            self.enrol(queue, flow.weight);
        }
        let aggregate = self.members[queue as usize].aggregate;
        let of = &mut self.aggregates[aggregate as usize];
        if of.longest < packet.length {
            of.longest = packet.length;
            self.groups.resize(aggregate, of.weight, packet.length);
        }
        Tag::from(packet.length)
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.join(queue, tag as u64);
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        loop {
            let Some(service) = self.service else {
                let Some(aggregate) = self.groups.next() else { return Next::Empty };
                let of = &self.aggregates[aggregate as usize];
                let members = of.round.queues();
                let budget = u64::from(members) * u64::from(of.longest);
                self.service = Some(Service { aggregate, members, budget, sent: 0 });
                continue;
            };
            let of = &mut self.aggregates[service.aggregate as usize];
            // The first packet of a service fits: the budget is not below the longest packet.
            if let Some(queue) = self.accounts.next(&mut of.round)
                && (service.sent == 0 || service.sent + self.accounts.head(queue) <= service.budget)
            {
                return Next::Queue(queue);
            }
            self.end_service();
        }
    }

    fn sent(&mut self, _now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        let aggregate = self.members[queue as usize].aggregate;
        let round = &mut self.aggregates[aggregate as usize].round;
        self.accounts.sent(round, queue, head.map(|tag| tag as u64));
        let Some(service) = &mut self.service else { unreachable!("a packet is sent in a service") };
        service.sent += u64::from(packet.length);
        if service.sent >= service.budget {
            self.end_service();
        } else {
            self.note_left(aggregate);
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.was_head {
            let aggregate = self.members[gone.queue as usize].aggregate;
            let round = &mut self.aggregates[aggregate as usize].round;
            self.accounts.replaced(round, gone.queue, gone.head.map(|tag| tag as u64));
            self.note_left(aggregate);
        }
    }

    fn idle(&mut self, _now: Time) {
        self.groups.idle();
    }

    fn is_clear(&mut self, _now: Time, queue: Slot) -> bool {
        let member = self.member(queue);
        if member.weight == 0 {
            return true;
        }
        let owes = self.groups.owes(member.aggregate);
        if !owes {
            self.withdraw(queue);
        }
        !owes
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        self.reweigh(queue, weight);
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("known_weight", Unit::None, self.weights as f64 / 1000.0));
        visit(Reading::real("virtual_time_bytes", Unit::Bytes, self.groups.now_bytes()));
        visit(Reading::count("aggregates", Unit::None, (self.aggregates.len() - self.unused.len()) as u64));
    }
}
