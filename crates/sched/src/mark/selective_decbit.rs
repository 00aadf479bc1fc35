//! Selective DECbit: while the average queue is one packet or more, those who use more than their share are marked.
//!
//! Source: Ramakrishnan, Chiu and Jain, DEC-TR-510 (1987); capacity factor 0.9: Demers, Keshav and Shenker 1990
//! (Simulations).
//! Chosen: the interval is the last whole cycle and the present one (Jain and Ramakrishnan 1988); the arriving packet
//! counts in its flow's demand but not in the average; capacity is the factor times what the line could carry in the
//! interval; the share is the max-min share of it over the demands.
//! Cost: O(1) a packet while the queue is short; O(N log N) with the N flows of the interval while it is not.
//! Bound: none; a flow that demands no more than its max-min share is never marked.

use super::cycle::Cycles;
use crate::contract::{Line, Marker, Slot};
use crate::packet::{Marks, Packet};
use crate::store::Store;
use crate::units::{PS_PER_S, Rate, Time, Weight};
use alloc::vec::Vec;

/// Threshold and capacity.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The average queue, in packets, from which on packets are marked.
    pub threshold: Weight,
    /// The part of the line that is shared out.
    pub capacity_factor: Weight,
}

impl Default for Settings {
    fn default() -> Self {
        const { assert!(Weight::from_thousandths(900).is_some()) };
        let capacity_factor = Weight::from_thousandths(900).unwrap_or_default();
        Self { threshold: Weight::ONE, capacity_factor }
    }
}

/// A flow's bytes in the last cycle and in the present one, and the number of the cycle they were last counted in.
#[derive(Clone, Copy, Default)]
struct Demand {
    last: u64,
    present: u64,
    cycle: u64,
}

/// Marks those above their share.
pub struct SelectiveDecbit {
    settings: Settings,
    rate: Rate,
    cycles: Cycles,
    cycle: u64,
    demands: Vec<Demand>,
    /// Flows with bytes in the present cycle, and in the last.
    present: Vec<Slot>,
    last: Vec<Slot>,
    /// Kept to save an allocation per packet.
    sorted: Vec<u64>,
}

impl SelectiveDecbit {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            settings: settings.clone(),
            rate: line.rate,
            cycles: Cycles::default(),
            // The time before the first arrival is a cycle, number 0.
            cycle: 0,
            demands: Vec::new(),
            present: Vec::new(),
            last: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// The flow's demand, brought up to the present cycle.
    fn demand(&mut self, flow: Slot) -> &mut Demand {
        if self.demands.len() <= flow as usize {
            self.demands.resize(flow as usize + 1, Demand::default());
        }
        let demand = &mut self.demands[flow as usize];
        let last = match self.cycle - demand.cycle {
            0 => demand.last,
            1 => demand.present,
            _ => 0,
        };
        let present = if demand.cycle == self.cycle { demand.present } else { 0 };
        *demand = Demand { last, present, cycle: self.cycle };
        demand
    }

    /// Whether `demand` exceeds the max-min share of the interval's capacity.
    fn is_above_share(&mut self, now: Time, demand: u64) -> bool {
        let (_, interval) = self.cycles.interval(now);
        self.sorted.clear();
        for at in 0..self.present.len() + self.last.len() {
            let (flow, counted) = match self.present.get(at) {
                Some(flow) => (*flow, true),
                None => (self.last[at - self.present.len()], false),
            };
            let demand = *self.demand(flow);
            // A flow of both cycles stands in both lists.
            if counted || demand.present == 0 {
                self.sorted.push(demand.last + demand.present);
            }
        }
        self.sorted.sort_unstable();
        // The capacity in 10⁻¹⁵ bits, so that all is exact: bit/s × ps × thousandths.
        let factor = u128::from(self.settings.capacity_factor.thousandths());
        let mut capacity = u128::from(self.rate.bit_per_s()) * u128::from(interval.0) * factor;
        const PER_BYTE: u128 = 8 * PS_PER_S as u128 * 1000;
        // Max-min: the small demands are met, the others share what is left evenly.
        for (at, met) in self.sorted.iter().enumerate() {
            let left = (self.sorted.len() - at) as u128;
            let asked = u128::from(*met) * PER_BYTE;
            if asked * left > capacity {
                return u128::from(demand) * PER_BYTE * left > capacity;
            }
            capacity -= asked;
        }
        false
    }
}

impl Marker for SelectiveDecbit {
    fn arrive(&mut self, now: Time, store: &Store, flow: Slot, packet: &Packet) -> Marks {
        if self.cycles.arrive(now, store) {
            self.cycle += 1;
            core::mem::swap(&mut self.last, &mut self.present);
            self.present.clear();
        }
        let demand = self.demand(flow);
        let is_first = demand.present == 0;
        demand.present += u64::from(packet.length);
        let bytes = demand.last + demand.present;
        if is_first {
            self.present.push(flow);
        }
        let is_congested = self.cycles.is_at_least(now, self.settings.threshold.thousandths());
        if is_congested && packet.accepts.intersects(Marks::DEC) && self.is_above_share(now, bytes) {
            Marks::DEC
        } else {
            Marks::NONE
        }
    }

    fn before_change(&mut self, now: Time, store: &Store) {
        self.cycles.before_change(now, store);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("average_queue_packets", self.cycles.average());
    }
}
