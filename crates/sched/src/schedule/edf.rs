//! Earliest deadline first: the packet whose deadline comes first leaves first.
//!
//! Use when: packets have deadlines and the load lets all of them be met. It has no shares: in
//! overload a flow can delay all others. For guaranteed rates use `wf2q_plus`, for guaranteed
//! delays `hfsc`.
//! Source: Liu and Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time
//! Environment", JACM 1973; for packets Ferrari and Verma, "A Scheme for Real-Time Channel
//! Establishment", JSAC 1990.
//! Chosen: a packet that carries no deadline is given one, `bound` over its flow's weight after its
//! arrival; a late packet is sent all the same; equal deadlines leave in order of arrival.
//! Cost: O(log n) for n packets held.
//! Bound: if any order meets all deadlines, no packet is later than its deadline by more than
//! Lmax/C (ranked.rs: edf_is_late_by_a_packet_at_most). Packets of one flow whose deadlines are not
//! in order overtake each other (ranked.rs: edf_breaks_the_order_of_a_flow).
//! Changes: a weight counts for the deadlines of the packets that arrive from then on; those given
//! stand. A rate means nothing to it.

use super::pifo::PushIn;
use crate::contract::{Flow, Line};
use crate::facts::Queues;
use crate::packet::Packet;
use crate::part::{Part, facts, settings};
use crate::program::Program;
use crate::queue::Queue;
use crate::units::Time;
use alloc::string::{String, ToString};

settings! {
    /// The deadline of packets that carry none.
    pub struct Settings {
        /// How long after its arrival a packet of a flow of weight one should have left.
        pub bound: Time = Time::from_ms(100),
    }
}

impl Part for Settings {
    facts!(goes_by_weights = true, queues = Queues::PerPacket, ranks_packets = true);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        (self.bound == Time::ZERO).then(|| "edf: bound is more than 0 s, for example 100 ms".to_string())
    }
}

/// Deadlines as ranks.
#[derive(Clone, Debug)]
pub struct Deadlines {
    bound: Time,
}

impl Program for Deadlines {
    fn rank(&mut self, now: Time, flow: Flow, packet: &Packet) -> u128 {
        if packet.deadline != Time::NEVER {
            return u128::from(packet.deadline.0);
        }
        u128::from(now.0) + u128::from(self.bound.0) * 1000 / u128::from(flow.weight.thousandths())
    }
}

/// A heap of packets by deadline.
pub type Edf = PushIn<Deadlines>;

impl Edf {
    /// Nothing waits.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self::with_program(Deadlines { bound: settings.bound })
    }
}
