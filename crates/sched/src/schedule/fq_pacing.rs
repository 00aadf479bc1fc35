//! Fair queueing with pacing, as the Linux fq qdisc: flows take turns by credit, and a flow with a
//! pacing rate is not served before the time that its last packet earned.
//!
//! Use when: flows with a pacing rate share a line with others. For the kernel's own rules (limit
//! for each flow, bands, making up for lateness) use `linux_fq`; without pacing, `drr`.
//! Source: the Linux fq packet scheduler (E. Dumazet, 2013); as described, for no paper defines it.
//! Departs: flows are what the classifier says, not sockets; packets carry no departure times, so
//! that there is no horizon; a limit for each flow is a buffer policy's business. As there, weights
//! are not used. What the line made late is not made up: a flow held to 5 Mbit/s beside 2 Mbit/s of
//! others on a line of 10 has 4.0 Mbit/s; `linux_fq`, which lets up to half of a wait be made up,
//! gives it 4.9.
//! Chosen: every packet is paced by itself, at now + length/rate, so that another rate counts from
//! the next packet sent; a flow with a rate keeps its slot until it takes the wish back; the
//! defaults (quantum of 2 packets, 10 packets at first, 40 ms until a new start) are those of
//! `fq_init`.
//! Cost: O(1) a packet while the quantum is at least the largest packet, else O(N); O(log N) for a
//! flow that is held back.
//! Bound: a paced flow begins packets of at most rate · t + Lmax in any interval of length t
//! (shaped.rs: fq_pacing_keeps_a_flow_to_its_rate); two backlogged flows without a rate differ by
//! at most a quantum and two packets (shaped.rs: fq_pacing_shares_by_credit). A line whose flows
//! are all held back is idle though packets wait (shaped.rs:
//! fq_pacing_waits_until_the_last_packet_has_earned_the_next).
//! Changes: a pacing rate counts from the flow's next packet sent on; the time that its last packet
//! earned stands, also when the wish is taken back. A line's rate means nothing to it; weights are
//! refused.

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::heap::Heap;
use crate::packet::Packet;
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit, show_paces};
use crate::ring::Ring;
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Bytes, Rate, Time};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// Credits and a cap on the rate.
    pub struct Settings {
        /// What a flow may send in a turn, 64 B to 1 MiB.
        pub quantum: Bytes = Bytes(3028),
        /// What a new flow may send in its first turn, 64 B to 1 MiB.
        pub initial_quantum: Bytes = Bytes(15_140),
        /// How long a flow is idle before it counts as rested and has a whole quantum again.
        pub refill_delay: Time = Time::from_ms(40),
        /// A cap on every flow's rate, beside what its transport asks for.
        pub rate_max: Option<Rate> = None,
    }
}

impl Part for Settings {
    facts!(paces = true);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        for (name, Bytes(bytes)) in [("quantum", self.quantum), ("initial_quantum", self.initial_quantum)] {
            if !(64..=1 << 20).contains(&bytes) {
                return Some(format!("fq_pacing: {name} is {bytes} B; write 64 B to 1 MiB"));
            }
        }
        None
    }

    fn variants() -> Vec<Self> {
        let slow = Self { rate_max: Rate::new(100_000), ..Self::default() };
        alloc::vec![slow, Self { quantum: Bytes(64), initial_quantum: Bytes(64), ..Self::default() }]
    }
}

/// Where a flow stands: in no list, among the new or the old ones, or paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Idle,
    New,
    Old,
    HeldBack,
}

#[derive(Clone)]
struct State {
    place: Place,
    credit: i64,
    rate: Option<Rate>,
    /// Nothing leaves before.
    next: Time,
    /// When it last became idle; never if it is new.
    rested: Option<Time>,
}

/// New flows, old flows, and those whose time has not come.
pub struct FqPacing {
    settings: Settings,
    flows: Vec<State>,
    new: Ring,
    old: Ring,
    held_back: Heap<(Time, Slot)>,
}

impl FqPacing {
    /// No flow holds a packet.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        let (new, old, held_back) = (Ring::new(), Ring::new(), Heap::new());
        Self { settings: settings.clone(), flows: Vec::new(), new, old, held_back }
    }

    fn state(&mut self, flow: Slot) -> &mut State {
        let fresh = self.fresh();
        entry(&mut self.flows, flow, fresh)
    }

    /// The state of a new flow.
    const fn fresh(&self) -> State {
        let credit = self.settings.initial_quantum.0 as i64;
        State { place: Place::Idle, credit, rate: None, next: Time::ZERO, rested: None }
    }

    fn place(&mut self, flow: Slot, place: Place) {
        match core::mem::replace(&mut self.flows[flow as usize].place, place) {
            Place::New => self.new.remove(flow),
            Place::Old => self.old.remove(flow),
            Place::HeldBack => {
                self.held_back.remove(flow);
            }
            Place::Idle => {}
        }
        match place {
            Place::New => self.new.push_back(flow),
            Place::Old => self.old.push_back(flow),
            Place::HeldBack => self.held_back.push(flow, (self.flows[flow as usize].next, flow)),
            Place::Idle => {}
        }
    }

    /// The rate of a flow: what its transport asks for, under the cap for all.
    fn rate(&self, flow: Slot) -> Option<Rate> {
        [self.flows[flow as usize].rate, self.settings.rate_max].into_iter().flatten().min_by_key(|r| r.bit_per_s())
    }

    /// It is the turn of a flow that has nothing to send.
    fn emptied(&mut self, now: Time, flow: Slot) {
        // From the new flows it goes once through the old ones, so that it cannot come back as new
        // at once.
        if self.flows[flow as usize].place == Place::New && self.old.front().is_some() {
            self.place(flow, Place::Old);
        } else {
            self.rest(now, flow);
        }
    }

    fn rest(&mut self, now: Time, flow: Slot) {
        self.place(flow, Place::Idle);
        self.flows[flow as usize].rested = Some(now);
    }

    /// Applies at once the rounds in which no flow would get out of debt.
    fn skip_rounds(&mut self) {
        let quantum = self.settings.quantum.0 as i64;
        let is_old = |state: &&mut State| state.place == Place::Old;
        let rounds = self.flows.iter_mut().filter(is_old).map(|state| (-state.credit).max(0) / quantum).min();
        for state in self.flows.iter_mut().filter(is_old) {
            state.credit += rounds.unwrap_or(0) * quantum;
        }
    }
}

impl Scheduler for FqPacing {
    // A flow rests from when it is found to be empty.
    traits!(hears_idle = true);

    fn arrive(&mut self, now: Time, queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        let (quantum, delay) = (self.settings.quantum.0 as i64, self.settings.refill_delay);
        let state = self.state(queue);
        if state.place == Place::Idle && state.rested.is_some_and(|since| now - since > delay) {
            state.credit = state.credit.max(quantum);
        }
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        if self.flows[queue as usize].place == Place::Idle {
            self.place(queue, Place::New);
        }
    }

    fn next(&mut self, now: Time, store: &Store) -> Next {
        while let Some((flow, _)) = self.held_back.peek().filter(|(_, (time, _))| *time <= now) {
            self.place(flow, Place::Old);
        }
        // The flow with which a round began that no flow has left.
        let mut first = None;
        while let Some(flow) = self.new.front().or_else(|| self.old.front()) {
            let State { credit, next, .. } = self.flows[flow as usize];
            if credit <= 0 {
                if first == Some(flow) {
                    self.skip_rounds();
                }
                first = first.or(Some(flow));
                self.flows[flow as usize].credit += self.settings.quantum.0 as i64;
                self.place(flow, Place::Old);
            } else if store.queue_packets(flow) == 0 {
                first = None;
                self.emptied(now, flow);
            } else if next > now {
                first = None;
                self.place(flow, Place::HeldBack);
            } else {
                return Next::Queue(flow);
            }
        }
        self.held_back.peek().map_or(Next::Empty, |(_, (time, _))| Next::NotBefore(time))
    }

    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, _tag: Tag, _head: Option<Tag>) {
        let rate = self.rate(queue);
        let state = &mut self.flows[queue as usize];
        state.credit -= i64::from(packet.length);
        if let Some(rate) = rate {
            state.next = now.saturating_add(rate.time_of_rounded_up(Bytes(u64::from(packet.length))));
        }
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        // An empty flow is removed at its turn; a flow that is held back has no turn.
        if gone.head.is_none() && self.flows[gone.queue as usize].place == Place::HeldBack {
            self.rest(now, gone.queue);
        }
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        let (delay, fresh) = (self.settings.refill_delay, self.fresh());
        let state = self.state(flow);
        let is_rested = state.rested.is_none_or(|since| now - since > delay);
        let is_clear = state.place == Place::Idle && is_rested && state.next <= now && state.rate.is_none();
        if is_clear {
            *state = fresh;
        }
        is_clear
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Pacing(flow, rate) = *change else { return change.not_used() };
        self.state(flow).rate = rate;
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("flows_held_back", Unit::None, self.held_back.len() as u64));
        show_paces(self.flows.iter().map(|state| state.rate), visit);
    }
}
