//! Weighted fair queueing (PGPS): packets leave in the order in which generalised processor sharing
//! would finish them.
//!
//! Use when: you need the classic PGPS, never later than the fluid by more than a packet. A flow
//! can run many packets ahead of it: `wf2q_plus` prevents that. For the 1990 paper's rules use
//! `fq`.
//! Source: Parekh and Gallager, "A Generalized Processor Sharing Approach to Flow Control in
//! Integrated Services Networks: The Single-Node Case", ToN 1993, section II; Demers, Keshav and
//! Shenker, SIGCOMM 1989.
//! Chosen: equal finish numbers leave in order of arrival, and they are compared in steps of
//! 1/(16·5⁹) byte; a packet refused on arrival is not charged and one that is pushed out is taken
//! back from the fluid, so that shares are of what was sent. `fq` charges both, for its paper's
//! rule is that the offender pays; it also has delta and preemption. Without drops `fq` with delta
//! = 0 is the same packet by packet (tag_schedulers.rs: wfq_is_fq_without_delta).
//! Cost: O(log N) a packet, amortised; one arrival may have to delete N flows from the fluid.
//! Bound: no packet leaves later than Lmax/C after the fluid, and no flow is more than Lmax behind
//! its fluid service (tag_bounds.rs:
//! wfq_and_wf2q_are_never_later_than_the_fluid_by_more_than_a_packet). A flow may be many packets
//! ahead of it (tag_schedulers.rs: the_case_of_eleven_flows).
//!
//! Range: a finish number is below 2⁶⁴ bytes of weight one, that is 2⁸⁹ of its steps, the value of
//! a tag; beyond, packets leave in order of arrival. R(t) and F never overflow (round.rs).

use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use crate::emulation::Emulation;
use crate::packet::Packet;
use crate::part::Part;
use crate::promise::{Load, Measure};
use crate::rank::{self, Ranks};
use crate::store::Store;
use crate::tournament::Tournament;
use crate::units::{Rate, Time, Weight};

/// Nothing can be set: the weights are the line's.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {}

impl Part for Settings {
    fn goes_by_weights(&self) -> bool {
        true
    }

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        if load.has_losses {
            return None;
        }
        match measure {
            Measure::Lateness | Measure::Behind(_) => Some(load.longest()),
            Measure::Latency { flow, .. } => Some(load.own_packet_and_longest(flow)),
            _ => None,
        }
    }

    fn fits_inner_nodes(&self) -> bool {
        true
    }

    fn ranks_packets(&self) -> bool {
        true
    }
}

/// Finish numbers of an emulated fluid.
pub struct Wfq {
    fluid: Emulation,
    /// Backlogged queues by F of their head.
    heads: Tournament,
    ranks: Ranks,
}

impl Wfq {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(_: &Settings, line: &Line) -> Self {
        Self { fluid: Emulation::new(line.rate), heads: Tournament::new(), ranks: Ranks::new() }
    }

    /// Charges the packet and returns its tag, by F.
    #[inline(always)]
    fn stamp(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        // S = max(F', V(t)), F = S + L/w
        let stamp = self.fluid.join(now, queue, flow.weight, packet.length);
        self.ranks.tag(rank::on_grid(stamp.finish))
    }
}

impl Scheduler for Wfq {
    #[inline(never)]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        self.stamp(now, queue, flow, packet)
    }

    #[inline(always)]
    fn follow(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Option<Tag> {
        Some(self.stamp(now, queue, flow, packet))
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.heads.add(queue, tag);
    }

    #[inline(always)]
    fn next_at_once(&mut self, _now: Time) -> Option<Slot> {
        self.heads.peek().map(|(queue, _)| queue)
    }

    #[inline]
    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.heads.peek().map_or(Next::Empty, |(queue, _)| Next::Queue(queue))
    }

    #[inline(always)]
    fn soon(&self, packets: u32) -> Option<Slot> {
        self.heads.soon(packets)
    }

    #[inline(always)]
    fn fetch(&self, queue: Slot) {
        self.fluid.fetch(queue);
    }

    #[inline(always)]
    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        self.heads.set(queue, head);
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        if gone.was_head {
            self.heads.set(gone.queue, gone.head);
        }
        self.fluid.take_back(now, gone.queue, gone.flow.weight, gone.packet.length);
    }

    fn forgets_when_idle(&self) -> bool {
        true
    }

    fn recalls_passed(&self) -> bool {
        true
    }

    fn is_settled_at(&self, time: Time) -> bool {
        self.fluid.is_empty_at(time)
    }

    fn is_clear(&mut self, now: Time, queue: Slot) -> bool {
        self.fluid.is_clear(now, queue)
    }

    fn rate_changed(&mut self, now: Time, rate: Rate) {
        self.fluid.rate_changed(now, rate);
    }

    #[inline]
    fn weight_changed(&mut self, now: Time, queue: Slot, weight: Weight) {
        self.fluid.weight_changed(now, queue, weight);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.fluid.inspect(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finish_numbers_are_those_of_the_fluid() {
        // A byte a second; F in steps of 1/(16·5⁹) byte.
        let mut wfq = Wfq::new(&Settings::default(), &Line::new(Rate::new(8).unwrap()));
        let mut finish = |second, queue, weight, length| {
            let flow = Flow::weighted(queue, Weight::from_thousandths(weight).unwrap());
            let tag = wfq.arrive(Time::from_s(second), queue, flow, &Packet::new(0, Time::from_s(second), length));
            rank::value(tag) * 2 / 31_250_000
        };
        // Twice F. A of three bytes at 0, B at 1, C at 2, when R is 1.5.
        assert_eq!([finish(0, 0, 1000, 3), finish(1, 1, 1000, 1), finish(2, 2, 1000, 1)], [6, 4, 5]);
        // At 5 s the fluid is empty and R = 3 stands still; at 9 s a flow of weight 1/2 has two
        // bytes.
        assert_eq!(finish(9, 1, 500, 2), 14);
    }
}
