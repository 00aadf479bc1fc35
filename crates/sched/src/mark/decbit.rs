//! DECbit: every packet is marked while the average queue is one packet or more.
//!
//! Use when: you reproduce the gateway of 1988, with the transport `decbit`. It marks all flows
//! alike; `selective_decbit` spares light ones. For new work use `step`, or `codel` with `ecn`.
//! Source: Ramakrishnan and Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer
//! Networks with a Connectionless Network Layer", SIGCOMM 1988 (section 4); averaging: Jain and
//! Ramakrishnan 1988.
//! Chosen: the arriving packet is not counted; at the very start the time from 0 is the last cycle.
//! Cost: O(1) a packet.
//! Bound: none; with windows that obey, the queue stays near one packet.
//! Changes: a rate means nothing to it: it averages the queue. Cycles stand.

use super::cycle::Cycles;
use crate::change::no_changes;
use crate::contract::{Line, Marker, Slot, traits};
use crate::facts::Need;
use crate::packet::{Marks, Packet};
use crate::part::{Part, facts, settings};
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Time, Weight};

settings! {
    /// The threshold.
    pub struct Settings {
        /// The average queue, in packets, from which on packets are marked.
        // Section 4: the knee of the power curve.
        pub threshold: Weight = Weight::ONE,
    }
}

impl Part for Settings {
    facts!(needs = &[Need::AcceptsDec], tells_flows_apart = false);
}

/// Marks by the average queue.
pub struct Decbit {
    threshold: Weight,
    cycles: Cycles,
}

impl Decbit {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self { threshold: settings.threshold, cycles: Cycles::default() }
    }
}

impl Marker for Decbit {
    traits!(hears_idle = true, marks = true);

    no_changes!();

    fn arrive(&mut self, now: Time, store: &Store, _flow: Slot, _packet: &Packet) -> Marks {
        self.cycles.arrive(now, store);
        if self.cycles.is_at_least(now, self.threshold.thousandths()) { Marks::DEC } else { Marks::NONE }
    }

    fn before_change(&mut self, now: Time, store: &Store) {
        self.cycles.before_change(now, store);
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("average_queue_packets", Unit::Packets, self.cycles.average()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::tests::store_with;

    /// Marks of arrivals at a queue whose length is (until that second, packets): the last of them
    /// arrives.
    fn mark_after(history: &[(u64, u32)]) -> Marks {
        let mut decbit = Decbit::new(&Settings::default(), &Line::new(crate::units::Rate::MAX));
        let packet = Packet::new(0, Time::ZERO, 100);
        let mut before = 1;
        let mut marks = Marks::NONE;
        decbit.arrive(Time::ZERO, &store_with(0), 1, &packet);
        for (until, packets) in history.iter().copied() {
            let (now, store) = (Time::from_s(until), store_with(packets));
            // What was until now, then a packet arrives: one that finds nothing begins a cycle.
            decbit.before_change(now, &store);
            let ends_idle = packets == 0 && before > 0;
            if packets == 0 && ends_idle || until == history[history.len() - 1].0 {
                marks = decbit.arrive(now, &store, 1, &packet);
            }
            before = packets;
        }
        marks
    }

    #[test]
    fn the_average_is_over_the_last_cycle_and_the_busy_period_so_far() {
        // Busy from 0 to 4 with an integral of 6, idle to 6, busy since with an integral of 3 at 8:
        // 9/8 = 1.125.
        assert_eq!(mark_after(&[(2, 2), (4, 1), (6, 0), (7, 1), (8, 2)]), Marks::DEC);
        // An integral of 8 in 8 s is one packet: the threshold is reached. 7 is not enough.
        assert_eq!(mark_after(&[(2, 2), (4, 1), (6, 0), (8, 1)]), Marks::DEC);
        assert_eq!(mark_after(&[(1, 2), (4, 1), (6, 0), (8, 1)]), Marks::NONE);
        // The cycle before the last is forgotten: 100 packets for a second, long ago.
        assert_eq!(mark_after(&[(1, 100), (2, 0), (3, 1), (6, 0), (7, 1)]), Marks::NONE);
    }
}
