//! The max-min share of each tenant as its requests come and go: what it would get at each instant
//! if the seats were divided by weight among the requests that are there, with no tenant given more
//! seats than its requests take.
//!
//! Tenants rise together, in proportion to their weights, up to a level L; one whose demand n is at
//! most w·L is satisfied. The satisfied take N seats together, the others have the weight W
//! together, and L = (D - N)/W. A change of one demand moves L; tenants cross it in the order of
//! n/w, so that two heaps, one on each side, give those that do. Comparisons are of whole numbers.
//!
//! Cost: O(log n) for a change, and for each tenant that crosses the level.
//! Bound: every share is that of a slow filling at each instant (level.rs:
//! shares_are_those_of_a_slow_filling).

use crate::requests::NS_PER_S;
use fairq_sched::heap::Heap;
use fairq_sched::units::Weight;
use std::cmp::{Ordering, Reverse};

/// n/w, compared exactly.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    demand: u64,
    weight: u64,
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
        cross(self.demand, other.weight).cmp(&cross(other.demand, self.weight))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

#[derive(Clone, Debug)]
struct Share {
    weight: u64,
    demand: u64,
    /// Seat-seconds up to `since`.
    got: f64,
    /// Where the time, or the sum of levels if it is not satisfied, stood when `got` was counted.
    since: f64,
    is_satisfied: bool,
}

/// Max-min shares of the seats of a server.
#[derive(Debug)]
pub struct Level {
    seats: i128,
    shares: Vec<Share>,
    satisfied: Heap<Reverse<Ratio>>,
    others: Heap<Ratio>,
    /// N.
    taken: i128,
    /// W, in thousandths.
    weight: i128,
    now: u64,
    /// The integral of L over time, in seats a thousandth of weight and seconds.
    levels: f64,
}

impl Level {
    /// No tenant has a request.
    #[must_use]
    pub fn new(seats: u32, weights: impl Iterator<Item = Weight>) -> Self {
        let share = |weight: Weight| Share {
            weight: weight.thousandths().into(),
            demand: 0,
            got: 0.0,
            since: 0.0,
            is_satisfied: true,
        };
        Self {
            seats: seats.into(),
            shares: weights.map(share).collect(),
            satisfied: Heap::new(),
            others: Heap::new(),
            taken: 0,
            weight: 0,
            now: 0,
            levels: 0.0,
        }
    }

    /// From `now` on the requests of `tenant` take `demand` seats.
    pub fn set(&mut self, now: u64, tenant: u32, demand: u64) {
        self.pass(now);
        self.take_out(tenant);
        self.shares[tenant as usize].demand = demand;
        if demand > 0 {
            self.put(tenant, true);
            self.balance();
        } else {
            self.shares[tenant as usize].is_satisfied = true;
            self.balance();
        }
    }

    /// The seat-seconds that `tenant` would have had until `now`.
    pub fn got(&mut self, now: u64, tenant: u32) -> f64 {
        self.pass(now);
        self.count(tenant);
        self.shares[tenant as usize].got
    }

    fn pass(&mut self, now: u64) {
        if self.weight > 0 {
            let level = (self.seats - self.taken) as f64 / self.weight as f64;
            self.levels += level * ((now - self.now) as f64 / NS_PER_S as f64);
        }
        self.now = now;
    }

    /// Counts what a tenant got until now.
    fn count(&mut self, tenant: u32) {
        let (now, levels) = (self.now as f64 / NS_PER_S as f64, self.levels);
        let share = &mut self.shares[tenant as usize];
        let (at, rate) = if share.is_satisfied { (now, share.demand) } else { (levels, share.weight) };
        share.got += (at - share.since) * rate as f64;
        share.since = at;
    }

    fn take_out(&mut self, tenant: u32) {
        self.count(tenant);
        let share = &self.shares[tenant as usize];
        if self.satisfied.remove(tenant).is_some() {
            self.taken -= i128::from(share.demand);
        } else if self.others.remove(tenant).is_some() {
            self.weight -= i128::from(share.weight);
        }
    }

    fn put(&mut self, tenant: u32, is_satisfied: bool) {
        let share = &mut self.shares[tenant as usize];
        let ratio = Ratio { demand: share.demand, weight: share.weight };
        if is_satisfied {
            self.taken += i128::from(share.demand);
            self.satisfied.push(tenant, Reverse(ratio));
        } else {
            self.weight += i128::from(share.weight);
            self.others.push(tenant, ratio);
        }
        share.is_satisfied = is_satisfied;
        share.since = if is_satisfied { self.now as f64 / NS_PER_S as f64 } else { self.levels };
    }

    /// Moves tenants over the level until each is on its side. Each move raises the level, so that
    /// those that moved down stay there.
    fn balance(&mut self) {
        while let Some((tenant, Reverse(most))) = self.satisfied.peek() {
            if !self.is_above(most) {
                break;
            }
            self.take_out(tenant);
            self.put(tenant, false);
        }
        while let Some((tenant, least)) = self.others.peek() {
            if self.is_above(least) {
                break;
            }
            self.take_out(tenant);
            self.put(tenant, true);
        }
    }

    /// Whether n/w > L = (D - N)/W; without others only seats that are short are below.
    fn is_above(&self, Ratio { demand, weight }: Ratio) -> bool {
        let left = self.seats - self.taken;
        if self.weight == 0 { left < 0 } else { i128::from(demand) * self.weight > left * i128::from(weight) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_testkit::draw::{Draw, Replay};

    /// Divides the seats by filling: all that are not full rise together.
    fn slow(seats: f64, tenants: &[(f64, f64)]) -> Vec<f64> {
        let mut given = vec![0.0; tenants.len()];
        let mut is_full = vec![false; tenants.len()];
        for _ in tenants {
            let left =
                seats - given.iter().zip(&is_full).map(|(given, full)| if *full { *given } else { 0.0 }).sum::<f64>();
            let rising = || tenants.iter().enumerate().filter(|(at, _)| !is_full[*at]);
            let weight: f64 = rising().map(|(_, (weight, _))| weight).sum();
            let level = rising().map(|(_, (weight, demand))| demand / weight).fold(left / weight, f64::min);
            let full: Vec<usize> =
                rising().filter(|(_, (weight, demand))| demand / weight <= level).map(|(at, _)| at).collect();
            for (at, (weight, demand)) in tenants.iter().enumerate().filter(|(at, _)| !is_full[*at]) {
                given[at] = (weight * level).min(*demand);
            }
            if full.is_empty() {
                return tenants.iter().zip(&given).map(|(_, given)| *given).collect();
            }
            for at in full {
                is_full[at] = true;
            }
        }
        given
    }

    #[test]
    fn shares_are_those_of_a_slow_filling() {
        for seed in 0..300 {
            let _replay = Replay(format!("seed {seed}"));
            let mut draw = Draw::new(seed);
            let seats = 1 + draw.below(9) as u32;
            let weights: Vec<u32> =
                (0..1 + draw.below(7)).map(|_| draw.pick(&[1, 500, 1000, 1000, 3000, 1_000_000])).collect();
            let of = |weight: &u32| Weight::from_thousandths(*weight).expect("a weight");
            let mut level = Level::new(seats, weights.iter().map(of));
            let mut demands = vec![0_u64; weights.len()];
            let (mut now, mut sums) = (0, vec![0.0; weights.len()]);
            for _ in 0..200 {
                let passed = draw.below(3) * 500_000_000;
                let tenants: Vec<_> =
                    weights.iter().zip(&demands).map(|(weight, demand)| (f64::from(*weight), *demand as f64)).collect();
                for (sum, rate) in sums.iter_mut().zip(slow(f64::from(seats), &tenants)) {
                    *sum += rate * passed as f64 / 1e9;
                }
                now += passed;
                let tenant = draw.below(weights.len() as u64) as u32;
                demands[tenant as usize] = draw.below(6);
                level.set(now, tenant, demands[tenant as usize]);
                for (tenant, sum) in sums.iter().enumerate() {
                    let got = level.got(now, tenant as u32);
                    assert!((got - sum).abs() < 1e-6 * (1.0 + sum), "tenant {tenant} at {now}: {got}, slow {sum}");
                }
            }
        }
    }

    #[test]
    fn two_tenants_share_what_a_third_leaves() {
        // Eight seats; one request of the first, ten of each other, the third of twice the weight.
        let weights = [1000, 1000, 2000].map(|weight| Weight::from_thousandths(weight).expect("a weight"));
        let mut level = Level::new(8, weights.into_iter());
        for (tenant, demand) in [(0, 1), (1, 10), (2, 10)] {
            level.set(0, tenant, demand);
        }
        let got = [0, 1, 2].map(|tenant| level.got(3 * NS_PER_S, tenant));
        for (got, right) in got.iter().zip([3.0, 7.0, 14.0]) {
            assert!((got - right).abs() < 1e-9, "{got} {right}");
        }
    }
}
