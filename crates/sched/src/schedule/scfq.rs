//! Self-clocked fair queueing: the virtual time is the finish tag of the packet in service.
//!
//! Use when: fairness by weight at O(log N) is enough and no fluid should be emulated. Its delay
//! grows with the number of flows; `sfq` delays flows of little weight less, `wf2q_plus` has no
//! such growth.
//! Source: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM
//! 1994; Davin and Heybey, "A Simulation Study of Fair Queueing and Policy Enforcement", CCR 1990.
//!
//! Steps:
//! 1. A packet of L bytes of a flow of weight w arrives: it joins the tail of its flow's queue.
//! 2. A packet that becomes the head of a queue in which nothing waited gets S = max(F', V), one
//!    behind a head that was sent S = F'; F' is the finish tag of the flow's packet sent last.
//!    Behind a head that was dropped it takes over that one's S.
//! 3. Its finish tag: F = S + L/w.
//! 4. The line is free: of the heads of all queues send the one with the least finish tag F; of
//!    equal ones the one that arrived first.
//! 5. V = F of the packet that is being sent; the packet behind it becomes the head (step 2).
//! 6. Nothing waits when the line is free: V and all F are 0.
//!
//! Chosen: equal tags leave in order of arrival, and tags are compared in steps of 1/(16·5⁹) byte;
//! a packet that is dropped costs its flow nothing; when the line is idle V and all F go back to
//! zero (Golestani's rule).
//! Cost: O(log N) a packet, also when flows come and go.
//! Bound: |Wi/wi - Wj/wj| <= Li/wi + Lj/wj between any two departures while both are backlogged, on
//! a line of any rate (tag_bounds.rs: scfq_and_sfq_are_fair_over_every_interval); a packet leaves
//! by its expected arrival + Li/ri + (N-1) Lmax/C (tag_bounds.rs:
//! latency_of_those_without_a_fluid). The delay grows with N even for a flow of little weight.
//! Changes: a weight gives the flow's head a new F at once, and its S and V stand. A rate means
//! nothing to it.
//!
//! Range: tags are compared up to 2⁶⁴ bytes of weight one (16 days at 100 Gbit/s without an idle
//! moment and a weight of 0.001); beyond, heads leave in order of arrival (head_tags.rs).

use super::least_tag::LeastTag;
use super::self_clocked::{Counts, SelfClocked};
use crate::contract::Tag;
use crate::head_tags::Head;
use crate::part::{Part, facts, no_settings};
use crate::promise::{Load, Measure};

no_settings!("Nothing can be set: the weights are the line's.");

impl Part for Settings {
    facts!(goes_by_weights = true, fits_inner_nodes = true);

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
}

/// Counts finish tags.
pub struct ByFinish;

impl Counts for ByFinish {
    const NAME: &'static str = "finish";
    const CHOOSES: u8 = 4;

    #[inline(always)]
    fn key_and_clock(head: Head) -> (Tag, u128) {
        (head.by_finish(), head.finish)
    }
}

/// Finish tags and a clock that is one of them.
pub type Scfq = LeastTag<SelfClocked<ByFinish>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Flow, Line, Next, Scheduler};
    use crate::packet::Packet;
    use crate::round::BYTE;
    use crate::store::Store;
    use crate::units::{Limit, Rate, Time};

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
        assert_eq!(scfq.tagging.virtual_time, 13 * BYTE);
        scfq.sent(now, 1, &packet(4), 0, None);
        assert_eq!((scfq.tagging.virtual_time, scfq.tagging.tags.last(0)), (14 * BYTE, 13 * BYTE));
        scfq.idle(now);
        assert_eq!((scfq.tagging.virtual_time, scfq.tagging.tags.last(0)), (0, 0));
    }
}
