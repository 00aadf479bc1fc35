//! Weighted max-min fair rates: no flow can have more except by taking from one that has less for
//! its weight.
//!
//! Source: Bertsekas and Gallager, "Data Networks", 2nd edition, section 6.5.2 (progressive
//! filling); the criterion as in Demers, Keshav and Shenker 1990, section "Motivation"; demands and
//! weights as usual since.
//! Chosen: a flow whose demand and whose link stop it at the same level counts as at its demand.
//! Cost: at most flows + links rounds, each linear in the lengths of the routes.
//! Bound: [`unmet`] checks a result by the definition, without the algorithm.

use crate::units::{Rate, Weight};
use alloc::vec;
use alloc::vec::Vec;

/// A flow over several links.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its weight, above zero.
    pub weight: f64,
    /// The most it can use, in the unit of the capacities; infinite for a flow that takes all it
    /// gets.
    pub demand: f64,
    /// The links that it crosses, by their places in the list of capacities.
    pub links: Vec<usize>,
}

/// The max-min fair rates of `flows` over links of `capacities`, in the order of the flows.
///
/// All flows rise together in proportion to their weights; a flow stops at its demand or when a
/// link of its is full. A flow that crosses no link has its demand. Links that are not in the list
/// are taken as unlimited.
#[must_use]
pub fn rates(capacities: &[f64], flows: &[Flow]) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; flows.len()];
    // Every round stops at least one flow.
    for _ in 0..flows.len() {
        // What the stopped flows leave of each link, and the weights of the rising ones, summed in
        // the order of flows.
        let mut left = capacities.to_vec();
        let mut rising = vec![0.0; capacities.len()];
        for (flow, rate) in flows.iter().zip(&rates) {
            for &link in flow.links.iter().filter(|link| **link < capacities.len()) {
                match rate {
                    Some(rate) => left[link] -= rate,
                    None => rising[link] += flow.weight,
                }
            }
        }
        // The level x/w at which each link fills; all rising flows stand at one level.
        let full: Vec<f64> = left.iter().zip(&rising).map(|(left, rising)| left.max(0.0) / rising).collect();
        let stops = |flow: &Flow| {
            let links = flow.links.iter().filter_map(|link| full.get(*link));
            links.fold(flow.demand / flow.weight, |least, level| if *level < least { *level } else { least })
        };
        let rising_flows = || flows.iter().zip(&rates).filter(|(_, rate)| rate.is_none()).map(|(flow, _)| flow);
        let level = rising_flows().map(stops).fold(f64::INFINITY, f64::min);
        let stopped: Vec<bool> = flows.iter().map(|flow| stops(flow) <= level).collect();
        let mut is_done = true;
        for ((flow, rate), stopped) in flows.iter().zip(&mut rates).zip(stopped) {
            if rate.is_none() && stopped {
                *rate = Some(if flow.demand / flow.weight <= level { flow.demand } else { flow.weight * level });
            }
            is_done &= rate.is_some();
        }
        if is_done {
            break;
        }
    }
    // Nothing but a weight or a demand that is no number is left over: such a flow has nothing.
    rates.into_iter().map(|rate| rate.unwrap_or(0.0)).collect()
}

/// Why `rates` are not the max-min fair ones of `flows` over links of `capacities`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unmet {
    /// The flow has less than nothing, or more than its demand.
    Demand {
        /// Its place in the list.
        flow: usize,
    },
    /// The link carries more than its capacity.
    Capacity {
        /// Its place in the list.
        link: usize,
    },
    /// The flow is below its demand, and no full link of its gives it at least as much for its
    /// weight as any other.
    Bottleneck {
        /// Its place in the list.
        flow: usize,
    },
}

/// Checks by the definition that `rates` are max-min fair: every flow is at its demand or has a
/// bottleneck, a full link on which no flow has more for its weight. `tolerance` is relative.
/// `None` if they are.
#[must_use]
pub fn unmet(capacities: &[f64], flows: &[Flow], rates: &[f64], tolerance: f64) -> Option<Unmet> {
    let mut load = vec![0.0; capacities.len()];
    let mut highest = vec![0.0_f64; capacities.len()];
    for (flow, &rate) in flows.iter().zip(rates) {
        for &link in flow.links.iter().filter(|link| **link < capacities.len()) {
            load[link] += rate;
            highest[link] = highest[link].max(rate / flow.weight);
        }
    }
    if let Some(link) = (0..capacities.len()).find(|&link| load[link] > capacities[link] * (1.0 + tolerance)) {
        return Some(Unmet::Capacity { link });
    }
    for (index, flow) in flows.iter().enumerate() {
        let rate = rates.get(index).copied().unwrap_or(f64::NAN);
        if !(0.0..=flow.demand * (1.0 + tolerance)).contains(&rate) {
            return Some(Unmet::Demand { flow: index });
        }
        let is_bottleneck = |link: &usize| {
            *link < capacities.len()
                && load[*link] >= capacities[*link] * (1.0 - tolerance)
                && rate / flow.weight >= highest[*link] * (1.0 - tolerance)
        };
        if rate < flow.demand * (1.0 - tolerance) && !flow.links.iter().any(is_bottleneck) {
            return Some(Unmet::Bottleneck { flow: index });
        }
    }
    None
}

/// The water level of one link, as an exact fraction: a flow of weight w has the lesser of its
/// demand and w·`rest`/`weight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What is left to the flows that get less than their demand, in bit/s.
    pub rest: u64,
    /// The sum of their weights in thousandths; 0 if every flow has its demand.
    pub weight: u64,
}

impl Level {
    /// The level of a link of `capacity` for flows of (weight, demand in bit/s).
    #[must_use]
    pub fn of(capacity: Rate, flows: &[(Weight, u64)]) -> Self {
        let thousandths = |weight: Weight| u128::from(weight.thousandths());
        // In the order of d/w, so that the flows that have their demand come first.
        let mut order: Vec<_> = flows.to_vec();
        order.sort_by(|a, b| (u128::from(a.1) * thousandths(b.0)).cmp(&(u128::from(b.1) * thousandths(a.0))));
        let mut rest = capacity.bit_per_s();
        let mut weight: u64 = flows.iter().map(|(weight, _)| u64::from(weight.thousandths())).sum();
        for (w, demand) in order {
            // d ≤ w·rest/W: the flow has its demand. The product is at most rest·W < 2^44·2^62.
            if u128::from(demand) * u128::from(weight) > thousandths(w) * u128::from(rest) {
                break;
            }
            rest -= demand;
            weight -= u64::from(w.thousandths());
        }
        Self { rest, weight }
    }

    /// The rate of a flow of `weight` and `demand`, in bit/s, as numerator and denominator.
    #[must_use]
    pub fn rate(self, weight: Weight, demand: u64) -> (u128, u64) {
        let share = u128::from(weight.thousandths()) * u128::from(self.rest);
        if self.weight == 0 || u128::from(demand) * u128::from(self.weight) <= share {
            (u128::from(demand), 1)
        } else {
            (share, self.weight)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(weight: f64, demand: f64, links: &[usize]) -> Flow {
        Flow { weight, demand, links: links.to_vec() }
    }

    fn greedy(weight: f64, links: &[usize]) -> Flow {
        flow(weight, f64::INFINITY, links)
    }

    fn agree(capacities: &[f64], flows: &[Flow], expected: &[f64]) {
        let rates = rates(capacities, flows);
        assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{rates:?} {expected:?}");
        assert_eq!(rates.len(), expected.len());
        assert_eq!(unmet(capacities, flows, &rates, 1e-12), None);
    }

    #[test]
    fn worked_examples_of_progressive_filling_come_out() {
        // Legout and Biersack's figure 1, with all sources and without the second.
        agree(
            &[1.0, 1.0],
            &[greedy(1.0, &[0, 1]), greedy(2.0, &[0]), greedy(1.0, &[1])],
            &[1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0],
        );
        agree(&[1.0, 1.0], &[greedy(1.0, &[0, 1]), greedy(1.0, &[1])], &[0.5, 0.5]);
        // One link with demands.
        agree(&[10.0], &[flow(1.0, 1.0, &[0]), flow(1.0, 4.0, &[0]), flow(1.0, 8.0, &[0])], &[1.0, 4.0, 5.0]);
        // A parking lot.
        let lot = [greedy(1.0, &[0, 1, 2]), greedy(1.0, &[0]), greedy(1.0, &[1]), greedy(1.0, &[2])];
        agree(&[1.0, 1.0, 1.0], &lot, &[0.5; 4]);
        // Two links, then a third, narrow one.
        let two = [greedy(1.0, &[0]), greedy(1.0, &[0, 1]), greedy(1.0, &[1])];
        agree(&[10.0, 4.0], &two, &[8.0, 2.0, 2.0]);
        let three = [two.as_slice(), &[greedy(1.0, &[2, 1])]].concat();
        agree(&[10.0, 4.0, 1.0], &three, &[8.5, 1.5, 1.5, 1.0]);
    }

    #[test]
    fn drawn_networks_pass_the_certificate_and_disturbed_rates_do_not() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let capacities: Vec<f64> = (0..1 + draw(6)).map(|_| 1.0 + draw(100) as f64).collect();
            let flows: Vec<Flow> = (0..1 + draw(12))
                .map(|_| {
                    let links: Vec<usize> = (0..capacities.len()).filter(|_| draw(3) == 0).collect();
                    let is_greedy = draw(2) == 0 && !links.is_empty();
                    let demand = if is_greedy { f64::INFINITY } else { draw(50) as f64 };
                    flow((1 + draw(1000)) as f64 / 1000.0, demand, &links)
                })
                .collect();
            let rates = rates(&capacities, &flows);
            assert_eq!(unmet(&capacities, &flows, &rates, 1e-9), None, "{capacities:?} {flows:?} {rates:?}");
            for index in 0..flows.len() {
                for factor in [0.99, 1.01] {
                    let mut disturbed = rates.clone();
                    disturbed[index] *= factor;
                    assert!(rates[index] == 0.0 || unmet(&capacities, &flows, &disturbed, 1e-9).is_some());
                }
            }
        }
    }

    #[test]
    fn the_exact_level_of_one_link_agrees_with_progressive_filling() {
        let weight = |thousandths| Weight::from_thousandths(thousandths).unwrap();
        let level = Level::of(Rate::new(10).unwrap(), &[(Weight::ONE, 1), (Weight::ONE, 4), (Weight::ONE, 8)]);
        assert_eq!(level, Level { rest: 5, weight: 1000 });
        assert_eq!(Level::of(Rate::MAX, &[(Weight::ONE, 1)]).rate(Weight::ONE, 1), (1, 1));
        let given: Vec<(Weight, u64)> =
            (1..50_u32).map(|n| (weight(n * n * 37 % 1000 + 1), u64::from(n * 7919 % 400))).collect();
        let capacity = Rate::new(4000).unwrap();
        let level = Level::of(capacity, &given);
        let flows: Vec<Flow> = given.iter().map(|(w, d)| flow(f64::from(w.thousandths()), *d as f64, &[0])).collect();
        for ((w, d), rate) in given.iter().zip(rates(&[4000.0], &flows)) {
            let (numerator, denominator) = level.rate(*w, *d);
            assert!((rate - numerator as f64 / denominator as f64).abs() < 1e-9);
        }
    }
}
