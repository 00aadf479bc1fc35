//! The bit of bit-setting fair queueing: a packet is marked when its flow holds more than a third
//! of its fair share of the buffer.
//!
//! Use when: you reproduce the 1990 paper's bit-setting fair queueing, with the transport `decbit`.
//! For new work use `fq_codel` with `ecn`.
//! Source: Demers, Keshav and Shenker 1990 (Simulations); the third is "completely ad hoc" (the
//! authors).
//! Chosen: a flow holds what waits and what is being sent, without the arriving packet; the fair
//! share is the limit over the flows that hold something, the arriving one counted; in bytes if the
//! limit is in bytes.
//! Cost: O(1) a packet.
//! Bound: none; a flow with nothing in the gateway is never marked.
//! Changes: the fair share is that of the new limit from the next arrival on. A rate means nothing
//! to it.

use crate::change::no_changes;
use crate::contract::{Line, Marker, Slot, traits};
use crate::facts::{Need, Queues};
use crate::packet::{Marks, Packet};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::store::Store;
use crate::units::{Limit, Time};
use alloc::string::{String, ToString};

settings! {
    /// The part of the fair share.
    pub struct Settings {
        /// One over this much of the fair share may be held without a mark.
        pub divisor: u32 = 3,
    }
}

impl Part for Settings {
    facts!(needs = &[Need::AcceptsFq]);

    fn fault(&self, queue: &Queue) -> Option<String> {
        let fault = if queue.scheduler.part().facts().queues != Queues::PerFlow {
            "fq_bit looks at a flow's own queue; use it with a scheduler that has one, like fq"
        } else if self.divisor == 0 {
            "fq_bit: divisor is at least 1"
        } else if queue.limit.unwrap_or_default() == Limit::Unlimited {
            "fq_bit compares with a share of the buffer; give the queue a limit"
        } else {
            return Option::None;
        };
        Some(fault.to_string())
    }
}

/// Marks by the flow's own queue. It needs a scheduler with a queue for each flow.
pub struct FqBit {
    divisor: u64,
}

impl FqBit {
    /// The marker; it keeps nothing.
    #[must_use]
    pub const fn new(settings: &Settings, _: &Line) -> Self {
        Self { divisor: settings.divisor as u64 }
    }
}

impl Marker for FqBit {
    traits!(hears_idle = true, marks = true);

    no_changes!();

    fn arrive(&mut self, _now: Time, store: &Store, flow: Slot, _packet: &Packet) -> Marks {
        let serving = store.serving();
        let is_served = serving.is_some_and(|s| s.flow == flow);
        let waits = store.queue_packets(flow) > 0;
        let other_is_served = serving.is_some_and(|s| s.flow != flow && store.queue_packets(s.flow) == 0);
        let holding = u64::from(store.backlogged_queues()) + u64::from(other_is_served) + u64::from(!waits);
        let (own, limit) = match store.limit() {
            Limit::Packets(limit) => (u64::from(store.queue_packets(flow)) + u64::from(is_served), limit),
            Limit::Bytes(limit) => {
                let served = serving.filter(|_| is_served).map_or(0, |s| u64::from(s.packet.length));
                (store.queue_bytes(flow) + served, limit)
            }
            Limit::Unlimited => return Marks::NONE,
        };
        // own > limit / (3 n)
        if u128::from(own) * u128::from(self.divisor) * u128::from(holding) > limit.into() {
            Marks::FQ
        } else {
            Marks::NONE
        }
    }

    no_readings!();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mark of a packet of flow 1 at a gateway with room for `limit`, where flow 1 + n has
    /// `waiting[n]` packets of 100 bytes waiting and a packet of `served` is being sent.
    fn mark(limit: Limit, waiting: &[u32], served: Option<Slot>) -> Marks {
        let mut store = Store::new(limit);
        let packet = Packet::new(0, Time::ZERO, 100);
        if let Some(flow) = served {
            store.push(&packet, 0, flow, flow);
            store.serve(flow);
        }
        for (flow, packets) in (1..).zip(waiting) {
            for _ in 0..*packets {
                store.push(&packet, 0, flow, flow);
            }
        }
        FqBit::new(&Settings::default(), &Line::new(crate::units::Rate::MAX)).arrive(Time::ZERO, &store, 1, &packet)
    }

    #[test]
    fn a_flow_is_marked_above_a_third_of_its_share_without_the_arriving_packet() {
        // Alone, room for 12: the third is 4.
        assert_eq!(mark(Limit::Packets(12), &[4], None), Marks::NONE);
        assert_eq!(mark(Limit::Packets(12), &[5], None), Marks::FQ);
        // The packet being sent is the flow's own.
        assert_eq!(mark(Limit::Packets(12), &[4], Some(1)), Marks::FQ);
        assert_eq!(mark(Limit::Packets(12), &[3], Some(1)), Marks::NONE);
        // In bytes.
        assert_eq!(mark(Limit::Bytes(1200), &[3], Some(1)), Marks::NONE);
        assert_eq!(mark(Limit::Bytes(1199), &[3], Some(1)), Marks::FQ);
    }

    #[test]
    fn the_share_is_that_of_the_flows_that_hold_something_and_the_arriving_one() {
        // Two flows wait: a third of 6 is 2.
        assert_eq!(mark(Limit::Packets(12), &[2, 1], None), Marks::NONE);
        assert_eq!(mark(Limit::Packets(12), &[3, 1], None), Marks::FQ);
        // A third flow has only the packet being sent: a third of 4 is 4/3.
        assert_eq!(mark(Limit::Packets(12), &[1, 1], Some(3)), Marks::NONE);
        assert_eq!(mark(Limit::Packets(12), &[2, 1], Some(3)), Marks::FQ);
        // The flow being sent waits as well and counts once.
        assert_eq!(mark(Limit::Packets(12), &[2, 1], Some(2)), Marks::NONE);
        // The arriving flow has only the packet being sent: with the other that waits n is 2, a
        // third of 3 is 1, and of 2 it is 2/3.
        assert_eq!(mark(Limit::Packets(6), &[0, 1], Some(1)), Marks::NONE);
        assert_eq!(mark(Limit::Packets(5), &[0, 1], Some(1)), Marks::FQ);
        // A flow with nothing in the gateway is never marked.
        assert_eq!(mark(Limit::Packets(1), &[0, 9, 9], Some(2)), Marks::NONE);
    }
}
