//! Start-time fair queueing: packets leave in order of their start tags, and the virtual time is
//! the last one of those.
//!
//! Use when: shares must stay fair over any interval on a line whose rate varies. Its delay grows
//! with the number of flows; `wf2q_plus` has no such growth. Linux's qdisc of this name is
//! `linux_sfq`.
//! Source: Goyal, Vin and Cheng, "Start-time Fair Queueing: A Scheduling Algorithm for Integrated
//! Services Packet Switching Networks", SIGCOMM 1996. (Stochastic fairness queueing is another
//! discipline of the same letters.)
//!
//! Steps:
//! 1. A packet of L bytes of a flow of weight w arrives: it joins the tail of its flow's queue.
//! 2. A packet that becomes the head of a queue in which nothing waited gets S = max(F', V), one
//!    behind a head that was sent S = F'; F' is the finish tag of the flow's packet sent last.
//!    Behind a head that was dropped it takes over that one's S.
//! 3. Its finish tag: F = S + L/w.
//! 4. The line is free: of the heads of all queues send the one with the least start tag S; of
//!    equal ones the one that arrived first.
//! 5. V = S of the packet that is being sent; the packet behind it becomes the head (step 2).
//! 6. Nothing waits when the line is free: V and all F are 0.
//!
//! Departs: at the end of a busy period V and all F go to zero, where the source sets V to the
//! greatest F: the same, for no F lies beyond V then.
//! Chosen: equal start tags leave in order of arrival, and tags are compared in steps of 1/(16·5⁹)
//! byte; a packet is charged when it is sent, so that one that is dropped costs its flow nothing.
//! Cost: O(log N) a packet, also when flows come and go.
//! Bound: |Wi/wi - Wj/wj| <= Li/wi + Lj/wj between any two departures while both are backlogged,
//! also on a line whose rate varies in any way (tag_bounds.rs:
//! scfq_and_sfq_are_fair_over_every_interval); a packet leaves by its expected arrival + the sum of
//! the others' Lj/C + its own L/C (tag_bounds.rs: latency_of_those_without_a_fluid).
//! Changes: a weight gives the flow's head a new F at once; its S, by which it leaves, and V stand.
//! A rate means nothing to it.
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
            Measure::Latency { flow, length } if !load.has_losses => {
                // The sum of the others' Lj/C, and its own L/C.
                let others = (0..load.longest.len() as u32).filter(|other| *other != flow);
                Some(others.map(|other| load.longest_of(other)).sum::<f64>() + f64::from(length))
            }
            _ => None,
        }
    }
}

/// Counts start tags.
pub struct ByStart;

impl Counts for ByStart {
    const NAME: &'static str = "start";
    const CHOOSES: u8 = 4;

    #[inline(always)]
    fn key_and_clock(head: Head) -> (Tag, u128) {
        (head.by_start(), head.start)
    }
}

/// Start tags and a clock that is one of them.
pub type Sfq = LeastTag<SelfClocked<ByStart>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Flow, Line, Next, Scheduler};
    use crate::packet::Packet;
    use crate::round::BYTE;
    use crate::store::Store;
    use crate::units::{Limit, Rate, Time};

    #[test]
    fn the_clock_is_the_start_tag_of_the_packet_in_service() {
        let mut sfq = Sfq::new(&Settings::default(), &Line::new(Rate::MAX));
        let (now, store) = (Time::ZERO, Store::new(Limit::Unlimited));
        let packet = |length| Packet::new(0, now, length);
        // Flow 0: two of 10 bytes, S = 0 and 10; while the first is in service flow 1 comes: S = 0,
        // and again at 4.
        let a = sfq.arrive(now, 0, Flow::of_slot(0), &packet(10));
        sfq.backlogged(0, a);
        let b = sfq.arrive(now, 0, Flow::of_slot(0), &packet(10));
        sfq.sent(now, 0, &packet(10), a, Some(b));
        let c = sfq.arrive(now, 1, Flow::of_slot(1), &packet(4));
        sfq.backlogged(1, c);
        let d = sfq.arrive(now, 1, Flow::of_slot(1), &packet(4));
        assert_eq!(sfq.next(now, &store), Next::Queue(1));
        sfq.sent(now, 1, &packet(4), c, Some(d));
        assert_eq!((sfq.tagging.virtual_time, sfq.next(now, &store)), (0, Next::Queue(1)));
        sfq.sent(now, 1, &packet(4), d, None);
        // Flow 1 has F = 8 with V = 4: it may not be forgotten before V = 8.
        assert_eq!((sfq.tagging.virtual_time, sfq.is_clear(now, 1)), (4 * BYTE, false));
        sfq.sent(now, 0, &packet(10), b, None);
        assert_eq!((sfq.tagging.virtual_time, sfq.is_clear(now, 1), sfq.is_clear(now, 0)), (10 * BYTE, true, false));
        sfq.idle(now);
        assert!(sfq.is_clear(now, 0));
    }
}
