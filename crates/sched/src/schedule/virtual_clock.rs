//! Virtual Clock: each flow has a clock that runs at its reserved rate; packets leave in order of
//! their stamps.
//!
//! Use when: flows reserve rates and keep to them: the delay bound is that of `wfq` without its
//! fluid. A flow that used idle capacity is shut out later: for fairness use `wf2q_plus` or `sfq`.
//! Source: Zhang, "VirtualClock: A New Traffic Control Algorithm for Packet Switching Networks",
//! SIGCOMM 1990.
//!
//! Steps:
//! 1. A packet of L bytes of flow i arrives at time t: its flow's rate is r = C wi/(sum of the
//!    weights of all flows seen).
//! 2. The flow's clock: auxVC = max(t, auxVC) + L/r.
//! 3. The packet's stamp is auxVC, when it would finish on a line of rate r of its own; it joins
//!    the tail of its flow's queue. A packet that is refused moves no clock.
//! 4. The line is free: of the heads of all queues send the one with the least stamp; of equal ones
//!    the one that arrived first.
//!
//! Departs: a flow's rate is its share of the line's nominal rate: its weight over the weights of
//! all flows seen.
//! Chosen: stamps are rounded up to whole picoseconds; equal stamps leave in order of arrival; a
//! packet refused on arrival is not charged, one that is pushed out is.
//! Cost: O(log N) a packet.
//! Bound: when no more than the line is reserved, a packet leaves by its stamp + Lmax/C (laws.rs:
//! virtual_clock_keeps_its_stamps); a flow seen for the first time takes from the others' shares,
//! so this counts for stamps given after the last new flow, once those given before it are passed.
//! It is not fair: a flow that used idle capacity is shut out until its clock is caught up with
//! (laws.rs: virtual_clock_punishes_past_use).
//! Changes: stamps given and clocks stand. A rate, or a weight, which moves the shares of all
//! flows, counts for the stamps of the packets that arrive from then on.
//!
//! Range: a stamp is below 2⁶⁴ ps of real time and grows at a flow's share of its arrivals; 2⁸⁹ ps
//! are 20 million years of arrivals at the line's rate with a weight of one in a million. Further
//! ahead, stamps are equal (rank.rs).

use super::least_tag::{LeastTag, Tagging};
use crate::contract::{Flow, Line, Slot, Tag, traits};
use crate::packet::Packet;
use crate::part::{Part, facts, no_settings};
use crate::promise::{Load, Measure};
use crate::rank;
use crate::rank::Ranks;
use crate::reading::{Reading, Unit};
use crate::slots::entry;
use crate::units::{PS_PER_S, Rate, Time, Weight};
use crate::waiting::Stamps;
use alloc::vec::Vec;

no_settings!("Nothing can be set: the reserved rates follow from the weights.");

impl Part for Settings {
    facts!(goes_by_weights = true, needs_rate = true, ranks_packets = true, fits_inner_nodes = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::Latency { flow, .. } if load.is_settled && !load.has_losses => {
                Some(load.own_packet_and_longest(flow))
            }
            _ => None,
        }
    }
}

/// A flow's clock.
#[derive(Clone, Copy, Default)]
struct Clock {
    /// auxVC, in picoseconds.
    stamp: u128,
    /// Its weight in thousandths; 0 until its first packet.
    weight: u64,
}

/// Stamps of real time.
pub struct Clocks {
    rate: Rate,
    clocks: Vec<Clock>,
    weights_sum: u64,
    ranks: Ranks,
}

/// The least stamp goes first.
pub type VirtualClock = LeastTag<Clocks>;

impl VirtualClock {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(_: &Settings, line: &Line) -> Self {
        Self::with_tagging(Clocks { rate: line.rate, clocks: Vec::new(), weights_sum: 0, ranks: Ranks::new() })
    }
}

impl Clocks {
    #[inline]
    fn clock(&mut self, queue: Slot, weight: Weight) -> &mut Clock {
        let clock = entry(&mut self.clocks, queue, Clock::default());
        let weight = u64::from(weight.thousandths());
        self.weights_sum = self.weights_sum - clock.weight + weight;
        clock.weight = weight;
        clock
    }
}

impl Tagging for Clocks {
    const BY: &'static str = "finish";
    const CHOOSES: u8 = 4;

    traits!();

    #[inline(always)]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        self.clock(queue, flow.weight);
        // L/r_i with r_i = C w_i / (sum of w)
        let bits = u128::from(packet.length) * 8 * u128::from(PS_PER_S) * u128::from(self.weights_sum);
        let vtick = bits.div_ceil(u128::from(self.rate.bit_per_s()) * u128::from(flow.weight.thousandths()));
        let clock = &mut self.clocks[queue as usize];
        // auxVC = max(now, auxVC) + L/r_i
        clock.stamp = clock.stamp.max(u128::from(now.0)).saturating_add(vtick);
        let stamp = clock.stamp;
        self.ranks.tag(stamp)
    }

    fn is_clear(&mut self, now: Time, queue: Slot) -> bool {
        let Some(clock) = self.clocks.get_mut(queue as usize) else { return true };
        if clock.stamp > u128::from(now.0) {
            return false;
        }
        // The slot's next flow brings its own weight.
        self.weights_sum -= clock.weight;
        *clock = Clock::default();
        true
    }

    fn rate_changed(&mut self, _now: Time, rate: Rate) {
        self.rate = rate;
    }

    fn weight_changed(&mut self, _now: Time, queue: Slot, weight: Weight) -> Option<Tag> {
        self.clock(queue, weight);
        None
    }

    // Stamps are times, in seconds.
    fn stamps(&self, _queue: Slot, tag: Tag, _is_head: bool) -> Stamps {
        Stamps::finish(self.shown(tag))
    }

    fn shown(&self, key: Tag) -> f64 {
        rank::value(key) as f64 / PS_PER_S as f64
    }

    fn readings(&self, _least: Option<Tag>, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("reserved_weight", Unit::None, self.weights_sum as f64 / 1000.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::contract::Scheduler;
    use crate::rank;

    #[test]
    fn a_stamp_is_the_clock_or_now_and_the_time_of_the_packet_at_the_reserved_rate() {
        let second = u128::from(PS_PER_S);
        let mut clock = VirtualClock::new(&Settings::default(), &Line::new(Rate::new(8).unwrap()));
        let mut stamp = |now, queue, weight, rate| {
            if let Some(rate) = Rate::new(rate) {
                clock.change(Time::from_s(now), &Change::Rate(rate)).unwrap();
            }
            let weight = Weight::from_thousandths(weight).unwrap();
            let tag = clock.arrive(
                Time::from_s(now),
                queue,
                Flow::weighted(queue, weight),
                &Packet::new(0, Time::from_s(now), 3),
            );
            rank::value(tag)
        };
        // Alone a flow has the line, a byte a second; a flow of weight 3 beside it leaves it a
        // quarter.
        assert_eq!(stamp(0, 1, 1000, 0), 3 * second);
        assert_eq!(stamp(1, 2, 3000, 0), 5 * second);
        assert_eq!(stamp(1, 1, 1000, 0), (3 + 12) * second);
        // A flow that was silent begins from now, and stamps are rounded up to whole picoseconds.
        assert_eq!(stamp(20, 2, 3000, 0), 24 * second);
        assert_eq!(stamp(30, 2, 3000, 16), 32 * second);
        assert_eq!(stamp(30, 1, 1000, 7), 30 * second + (12 * 8 * second).div_ceil(7));
    }
}
