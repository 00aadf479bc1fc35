//! Weighted fair queueing (PGPS): packets leave in the order in which generalised processor sharing
//! would finish them.
//!
//! Use when: you need the classic PGPS, never later than the fluid by more than a packet. A flow
//! can run many packets ahead of it: `wf2q_plus` prevents that. For the 1990 paper's rules use
//! `fq`.
//! Source: Parekh and Gallager, "A Generalized Processor Sharing Approach to Flow Control in
//! Integrated Services Networks: The Single-Node Case", ToN 1993, section II; Demers, Keshav and
//! Shenker, SIGCOMM 1989.
//!
//! Steps:
//! 1. A packet of L bytes of a flow of weight w arrives and is not refused: R(t) is brought up to
//!    date; it grows by the bytes that the line could have sent over the sum of the weights of the
//!    flows that the fluid still serves, those with F > R(t).
//! 2. S = max(F', R(t)), F = S + L/w; F' is the finish number of the flow's packet before.
//! 3. The packet joins the tail of its flow's queue. If it is pushed out later F goes back by L/w,
//!    not below R(t).
//! 4. The line is free: of the heads of all queues send the one with the least finish number F; of
//!    equal ones the one that arrived first.
//!
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
//! Changes: finish numbers given stand, and so does what R has grown; from the change on R grows at
//! the new rate or by the new weights. A weight counts for the packets that arrive from then on.
//!
//! Range: a finish number is below 2⁶⁴ bytes of weight one, that is 2⁸⁹ of its steps, the value of
//! a tag; beyond, packets leave in order of arrival. R(t) and F never overflow (round.rs).

use super::fq::{self, Bids, OnDrop};
use super::least_tag::LeastTag;
use crate::contract::Line;
use crate::part::{Part, facts, no_settings};
use crate::promise::{Load, Measure};

no_settings!("Nothing can be set: the weights are the line's.");

impl Part for Settings {
    facts!(goes_by_weights = true, needs_rate = true, ranks_packets = true, fits_inner_nodes = true);

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
}

/// The step of the card that sends.
pub(super) const CHOOSES: u8 = 4;

/// Finish numbers of an emulated fluid.
pub type Wfq = LeastTag<Bids<false>>;

impl Wfq {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(_: &Settings, line: &Line) -> Self {
        // S = max(F', V(t)), F = S + L/w: the bids of `fq`, with no charge for what was not sent.
        Self::with_tagging(Bids::new(&fq::Settings { on_drop: OnDrop::Refund, ..Default::default() }, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Flow, Scheduler};
    use crate::packet::Packet;
    use crate::rank;
    use crate::units::{Rate, Time, Weight};

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
