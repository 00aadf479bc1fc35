//! Selective DECbit: while the average queue is one packet or more, flows that use more than their
//! share are marked.
//!
//! Use when: you reproduce the 1987 gateway, with the transport `decbit`: only flows above their
//! share are marked. For new work use `fq_codel` with `ecn`.
//! Source: Ramakrishnan, Chiu and Jain, DEC-TR-510 (1987); capacity factor 0.9: Demers, Keshav and
//! Shenker 1990 (Simulations).
//! Chosen: the interval is the last whole cycle and the present one (Jain and Ramakrishnan 1988);
//! the arriving packet counts in its flow's demand but not in the average; capacity is the factor
//! times what the line could carry in the interval; the share is the max-min share of it over the
//! demands.
//! Cost: O(1) a packet while the queue is short; O(N log N) with the N flows of the interval while
//! it is not.
//! Bound: none; a flow that demands no more than its max-min share is never marked.
//! Changes: the capacity of the interval is computed at the new rate as a whole, also what has
//! passed of it; demands and the average stand.

use super::cycle::Cycles;
use crate::change::{Change, Unsupported};
use crate::contract::{Line, Marker, Slot, traits};
use crate::facts::Need;
use crate::packet::{Marks, Packet};
use crate::part::{Part, facts};
use crate::reading::{Reading, Unit};
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

impl Part for Settings {
    facts!(needs_rate = true, needs = &[Need::AcceptsDec]);
}

impl Default for Settings {
    fn default() -> Self {
        const { assert!(Weight::from_thousandths(900).is_some()) };
        let capacity_factor = Weight::from_thousandths(900).unwrap_or_default();
        Self { threshold: Weight::ONE, capacity_factor }
    }
}

/// A flow's bytes in the last cycle and in the present one, and the number of the cycle they were
/// last counted in.
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
            // The lists hold each flow once: they are given the room now, for a cycle may last a
            // long time.
            let flows = self.demands.len();
            for list in [&mut self.present, &mut self.last] {
                list.reserve(flows.saturating_sub(list.len()));
            }
            self.sorted.reserve(flows.saturating_sub(self.sorted.len()));
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
    traits!(hears_idle = true, marks = true);

    fn arrive(&mut self, now: Time, store: &Store, flow: Slot, packet: &Packet) -> Marks {
        if self.cycles.arrive(now, store) {
            self.cycle += 1;
            core::mem::swap(&mut self.last, &mut self.present);
            self.present.clear();
        }
        let demand = self.demand(flow);
        let is_first = demand.present == 0 && packet.length > 0;
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

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.rate = rate;
        Ok(())
    }

    fn is_clear(&mut self, flow: Slot) -> bool {
        let demand = self.demand(flow);
        demand.last == 0 && demand.present == 0
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("average_queue_packets", Unit::Packets, self.cycles.average()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte a second, all of which is shared out; `packets` are (time in s, flow, bytes), an
    /// empty gateway meets each packet that begins a cycle.
    fn after(store: &Store, packets: &[(u64, Slot, u32)]) -> SelectiveDecbit {
        let line = Line::new(Rate::new(8).unwrap());
        let settings = Settings { capacity_factor: Weight::ONE, ..Default::default() };
        let mut marker = SelectiveDecbit::new(&settings, &line);
        for (time, flow, length) in packets.iter().copied() {
            marker.before_change(Time::from_s(time), store);
            marker.arrive(Time::from_s(time), store, flow, &Packet::new(0, Time::from_s(time), length));
        }
        marker
    }

    fn above_share(marker: &mut SelectiveDecbit, now: u64, demands: &[u64]) -> Vec<bool> {
        demands.iter().map(|demand| marker.is_above_share(Time::from_s(now), *demand)).collect()
    }

    #[test]
    fn of_demands_10_40_50_100_and_capacity_100_the_share_is_80_thirds() {
        // Nine tenths of the capacity: 90 = 10 + 3 · 80/3.
        let busy = crate::mark::tests::store_with(1);
        let mut marker = after(&busy, &[(0, 1, 10), (0, 2, 40), (0, 3, 50), (0, 4, 100)]);
        marker.settings = Settings::default();
        assert_eq!(above_share(&mut marker, 100, &[10, 26, 27, 40, 50, 100]), [false, false, true, true, true, true]);
        // All of it: 100 = 10 + 3 · 30. With as much capacity as demand no flow is above its share.
        marker.settings.capacity_factor = Weight::ONE;
        assert_eq!(above_share(&mut marker, 100, &[10, 30, 31]), [false, false, true]);
        assert_eq!(above_share(&mut marker, 200, &[10, 40, 50, 100]), [false; 4]);
    }

    #[test]
    fn a_flow_of_both_cycles_counts_once_and_one_of_the_cycle_before_not_at_all() {
        let empty = Store::new(crate::units::Limit::Unlimited);
        // Cycles begin at 0, 10 and 20; flow 1 sent in all, flow 2 in the first, flow 3 in the
        // second.
        let mut marker = after(&empty, &[(0, 1, 5), (10, 1, 30)]);
        assert_eq!((marker.demand(1).last, marker.demand(1).present), (5, 30));
        let mut marker = after(&empty, &[(0, 2, 90), (10, 1, 20), (20, 1, 20)]);
        // The last cycle and the present one, 10 to 50: 40 B of capacity for 40 B of flow 1 alone.
        assert_eq!(above_share(&mut marker, 50, &[40]), [false]);
        assert_eq!(above_share(&mut marker, 49, &[39, 40]), [false, true]);
        assert!(marker.is_clear(2) && !marker.is_clear(1));
    }

    #[test]
    fn a_slot_that_another_flow_may_take_over_has_no_demand() {
        let empty = Store::new(crate::units::Limit::Unlimited);
        let mut marker = after(&empty, &[(0, 1, 10), (1, 2, 10)]);
        assert!(!marker.is_clear(1), "its bytes of the last cycle count still");
        marker.arrive(Time::from_s(2), &empty, 2, &Packet::new(0, Time::from_s(2), 10));
        assert!(marker.is_clear(1));
    }

    #[test]
    fn a_packet_of_no_bytes_demands_nothing() {
        let busy = crate::mark::tests::store_with(1);
        let mut marker = after(&busy, &[(0, 1, 0), (0, 1, 0), (0, 2, 10), (0, 1, 10)]);
        assert_eq!(above_share(&mut marker, 12, &[6, 7]), [false, true], "two flows share 12 B");
    }
}
