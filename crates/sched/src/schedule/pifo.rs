//! Push-in first-out queue: a packet's rank is fixed on arrival and the packet of least rank leaves
//! first.
//!
//! Use when: you want an order of your own: a rank fixed on arrival (start time, deadline,
//! remaining size, attained service). To model a switch that approximates it use `sp_pifo` or
//! `aifo`.
//! Source: Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016 (section
//! 3: PIFO, STFQ).
//! Departs: the tree of PIFOs is hpfq's; this is one of them.
//! Chosen: ranks that packets do not tell are refused by a run and by a replay; equal ranks leave
//! in order of arrival; a packet that is dropped is charged to no flow (program.rs); attained
//! service is remembered for as long as the flow has a slot.
//! Cost: O(log n) for n packets held: each has a place of its own in the heap.
//! Bound: packets leave in order of (rank, arrival) among those present (ranked.rs:
//! pifo_sends_the_least_rank_present); with start-time ranks it is start-time fair queueing
//! (ranked.rs: pifo_by_start_time_is_start_time_fair_queueing), whichever packets are pushed out
//! (ranked.rs: no_scheduler_of_flows_keeps_the_charge_of_a_packet_that_is_pushed_out). By remaining
//! size or deadline packets of one flow may overtake each other (ranked.rs:
//! pifo_by_remaining_size_breaks_the_order_of_a_flow).
//! Changes: a weight counts for the ranks of the packets that arrive from then on; ranks given
//! stand. A rate means nothing to it.
//!
//! Range: a rank of 2⁸⁹ or more counts as 2⁸⁹ - 1 (rank.rs, program.rs).

use crate::change::no_changes;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::{Facts, Queues};
use crate::heap::Heap;
use crate::packet::Packet;
use crate::part::Part;
use crate::program::{Named, Program, Rank};
use crate::rank::{self, Ranks};
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::Time;
use crate::waiting::{Decision, Stamps};
use alloc::vec::Vec;

/// Which program ranks packets.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The program that gives a packet its rank.
    pub rank: Rank,
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { queues: Queues::PerPacket, ranks_packets: true, ..self.rank.facts() }
    }

    fn variants() -> Vec<Self> {
        [Rank::Deadline, Rank::ShortestRemaining, Rank::LeastAttained].map(|rank| Self { rank }).to_vec()
    }
}

/// A heap of packets by rank.
pub struct PushIn<P> {
    program: P,
    /// Every packet waits in a queue of its own.
    queues: Heap<Tag>,
    /// Queues that hold nothing.
    free: Vec<Slot>,
    /// Queues ever used.
    used: Slot,
    ranks: Ranks,
}

/// Ranked by a program with a name.
pub type Pifo = PushIn<Named>;

impl Pifo {
    /// Nothing waits.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self::with_program(Named::new(settings.rank))
    }
}

impl<P: Program> PushIn<P> {
    /// Any program, or a closure of `(now, flow, packet)`:
    ///
    /// ```
    /// use fairq_sched::contract::{Flow, Scheduler};
    /// use fairq_sched::packet::Packet;
    /// use fairq_sched::schedule::pifo::PushIn;
    /// use fairq_sched::units::Time;
    ///
    /// // Short packets first.
    /// let shortest_first = PushIn::with_program(|_: Time, _: Flow, packet: &Packet| u128::from(packet.length));
    /// assert!(!shortest_first.traits().queue_per_flow);
    /// ```
    #[must_use]
    pub fn with_program(program: P) -> Self {
        Self { program, queues: Heap::new(), free: Vec::new(), used: 0, ranks: Ranks::new() }
    }

    fn leaves(&mut self, queue: Slot) {
        self.queues.remove(queue);
        self.free.push(queue);
    }
}

impl<P: Program> Scheduler for PushIn<P> {
    traits!(queue_per_flow = false, hears_idle = true);

    fn queue_of(&self, _flow: Flow, _packet: &Packet, _store: &Store) -> Slot {
        self.free.last().copied().unwrap_or(self.used)
    }

    fn arrive(&mut self, now: Time, _queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        if self.free.pop().is_none() {
            self.used += 1;
            // There is room for all of them now, so that no packet that leaves has to make some.
            self.free.reserve(self.used as usize);
        }
        let rank = self.program.rank(now, flow, packet);
        self.ranks.tag(rank)
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.queues.push(queue, tag);
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.queues.peek().map_or(Next::Empty, |(queue, _)| Next::Queue(queue))
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, tag: Tag, _head: Option<Tag>) {
        self.leaves(queue);
        self.program.sent(rank::value(tag));
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        self.leaves(gone.queue);
        self.program.removed(gone.flow.slot, rank::value(gone.tag), gone.packet);
    }

    fn idle(&mut self, _now: Time) {
        self.program.idle();
    }

    no_changes!(Weight);

    fn is_clear(&mut self, _now: Time, flow: Slot) -> bool {
        self.program.is_clear(flow)
    }

    fn stamps(&self, _queue: Slot, tag: Tag, _is_head: bool) -> Stamps {
        Stamps::rank(rank::value(tag) as f64)
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        let (_, tag) = self.queues.peek()?;
        Some(Decision::by("rank", queue).with_value(rank::value(tag) as f64))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        if let Some((_, tag)) = self.queues.peek() {
            visit(Reading::real("least_rank", Unit::None, rank::value(tag) as f64));
        }
    }
}
