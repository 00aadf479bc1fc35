//! Self-clocked fair queueing: the virtual time is the finish tag of the packet in service.
//!
//! Use when: fairness by weight at O(log N) is enough and no fluid should be emulated. Its delay
//! grows with the number of flows; `sfq` delays flows of little weight less, `wf2q_plus` has no
//! such growth.
//! Source: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM
//! 1994; Davin and Heybey, "A Simulation Study of Fair Queueing and Policy Enforcement", CCR 1990.
//! Chosen: equal tags leave in order of arrival, and tags are compared in steps of 1/(16·5⁹) byte;
//! a packet that is dropped costs its flow nothing; when the line is idle V and all F go back to
//! zero (Golestani's rule).
//! Cost: O(log N) a packet, also when flows come and go.
//! Bound: |Wi/wi - Wj/wj| <= Li/wi + Lj/wj between any two departures while both are backlogged, on
//! a line of any rate (tag_bounds.rs: scfq_and_sfq_are_fair_over_every_interval); a packet leaves
//! by its expected arrival + Li/ri + (N-1) Lmax/C (tag_bounds.rs:
//! latency_of_those_without_a_fluid). The delay grows with N even for a flow of little weight.
//!
//! Range: tags are compared up to 2⁶⁴ bytes of weight one (16 days at 100 Gbit/s without an idle
//! moment and a weight of 0.001); beyond, heads leave in order of arrival (head_tags.rs).

use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use crate::head_tags::{Head, HeadTags};
use crate::packet::Packet;
use crate::part::Part;
use crate::promise::{Load, Measure};
use crate::round::BYTE;
use crate::store::Store;
use crate::tournament::Tournament;
use crate::units::{Time, Weight};

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
        match measure {
            Measure::RelativeFairness(i, j) => Some(load.a_packet_each(i, j)),
            Measure::Latency { flow, .. } if !load.has_losses => {
                // Li/ri + (N-1) Lmax/C
                Some(load.longest_of(flow) / load.share(flow) + (load.flows() - 1.0) * load.longest())
            }
            _ => None,
        }
    }

    fn fits_inner_nodes(&self) -> bool {
        true
    }
}

/// Finish tags and a clock that is one of them.
pub struct Scfq {
    tags: HeadTags,
    /// V: F of the packet in service.
    virtual_time: u128,
    /// Backlogged queues by F of their head.
    heads: Tournament,
}

impl Scfq {
    /// A scheduler to which no packet has come.
    #[must_use]
    pub fn new(_: &Settings, _: &Line) -> Self {
        Self { tags: HeadTags::new(), virtual_time: 0, heads: Tournament::new() }
    }

    #[inline(always)]
    fn place(&mut self, queue: Slot, head: Option<Head>) {
        self.heads.set(queue, head.map(|head| head.by_finish()));
    }
}

impl Scheduler for Scfq {
    #[inline]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        self.weight_changed(now, queue, flow.weight);
        self.tags.arrive(packet)
    }

    #[inline(always)]
    fn follow(&mut self, _now: Time, _queue: Slot, _flow: Flow, packet: &Packet) -> Option<Tag> {
        Some(self.tags.arrive(packet))
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        // F = max(F', V) + L/w
        let head = self.tags.enter(queue, tag, self.virtual_time);
        self.place(queue, Some(head));
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
        self.tags.fetch(queue);
    }

    #[inline(always)]
    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        self.virtual_time = self.tags.head(queue).finish;
        let head = self.tags.sent(queue, head);
        self.place(queue, head);
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.was_head {
            let head = self.tags.replaced(gone.queue, gone.head);
            self.place(gone.queue, head);
        }
    }

    fn idle(&mut self, _now: Time) {
        self.virtual_time = 0;
        self.tags.reset();
    }

    fn notes_idle(&self) -> bool {
        true
    }

    // V and all F are zero then: it does not matter which flow came last.
    fn forgets_when_idle(&self) -> bool {
        true
    }

    fn recalls_passed(&self) -> bool {
        true
    }

    fn is_clear(&mut self, _now: Time, queue: Slot) -> bool {
        self.tags.last(queue) <= self.virtual_time
    }

    #[inline]
    fn weight_changed(&mut self, _now: Time, queue: Slot, weight: Weight) {
        if let Some(head) = self.tags.set_weight(queue, weight) {
            self.place(queue, Some(head));
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("virtual_time_bytes", self.virtual_time as f64 / BYTE as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Limit, Rate};

    #[test]
    fn the_clock_is_the_finish_tag_of_the_packet_in_service() {
        let mut scfq = Scfq::new(&Settings::default(), &Line::new(Rate::MAX));
        let (now, store) = (Time::ZERO, Store::new(Limit::Unlimited));
        let packet = |length| Packet::new(0, now, length);
        // Flow 0: 10 bytes, F = 10, in service: V = 10. Flow 1 comes with 4: F = 14. Flow 0 again
        // with 3: F = 13.
        let a = scfq.arrive(now, 0, Flow::of_slot(0), &packet(10));
        scfq.backlogged(0, a);
        scfq.sent(now, 0, &packet(10), a, None);
        for (queue, length) in [(1, 4), (0, 3)] {
            let tag = scfq.arrive(now, queue, Flow::of_slot(queue), &packet(length));
            scfq.backlogged(queue, tag);
        }
        assert_eq!(scfq.next(now, &store), Next::Queue(0));
        scfq.sent(now, 0, &packet(3), 0, None);
        assert_eq!(scfq.virtual_time, 13 * BYTE);
        scfq.sent(now, 1, &packet(4), 0, None);
        assert_eq!((scfq.virtual_time, scfq.tags.last(0)), (14 * BYTE, 13 * BYTE));
        scfq.idle(now);
        assert_eq!((scfq.virtual_time, scfq.tags.last(0)), (0, 0));
    }
}
