//! How far a tenant falls behind another, in service over weight, while both wait.
//!
//! Service is counted when it begins, as the bounds of the policies have it. A tenant i falls
//! behind j by the most that Wⱼ/wⱼ - Wᵢ/wᵢ grows within a time in which both wait throughout.

use fairq_sched::units::Weight;

/// Tenants that are compared with each other; of more, those with most requests.
pub const COMPARED_MAX: usize = 32;

/// Service over weight, in steps of 2⁻²⁰ nanosecond.
type Tag = i128;

const SHIFT: u32 = 20;

/// The differences of each pair of tenants.
#[derive(Debug)]
pub(crate) struct Gaps {
    /// The place here of each tenant that is compared.
    places: Vec<Option<usize>>,
    tenants: Vec<u32>,
    weights: Vec<Weight>,
    /// W/w.
    service: Vec<Tag>,
    is_waiting: Vec<bool>,
    /// At i·n + j: the least that j was ahead of i since both wait.
    least: Vec<Tag>,
    /// By tenant: how far it fell behind at most, and behind which.
    worst: Vec<Option<(Tag, usize)>>,
}

impl Gaps {
    /// No tenant has been served; `requests` says how many requests each has.
    pub(crate) fn new(weights: &[Weight], requests: &[u64]) -> Self {
        let mut tenants: Vec<u32> = (0..weights.len() as u32).collect();
        tenants.sort_by_key(|tenant| std::cmp::Reverse(requests[*tenant as usize]));
        tenants.truncate(COMPARED_MAX);
        let mut places = vec![None; weights.len()];
        for (place, tenant) in tenants.iter().enumerate() {
            places[*tenant as usize] = Some(place);
        }
        let n = tenants.len();
        let weights = tenants.iter().map(|tenant| weights[*tenant as usize]).collect();
        let (service, least) = (vec![0; n], vec![0; n * n]);
        Self { places, tenants, weights, service, is_waiting: vec![false; n], least, worst: vec![None; n] }
    }

    /// The tenant has requests that wait from now on, or none.
    pub(crate) fn set_waiting(&mut self, tenant: u32, is_waiting: bool) {
        let Some(i) = self.places[tenant as usize] else { return };
        self.is_waiting[i] = is_waiting;
        if is_waiting {
            for j in (0..self.tenants.len()).filter(|j| *j != i && self.is_waiting[*j]) {
                let ahead = self.service[j] - self.service[i];
                self.least[i * self.tenants.len() + j] = ahead;
                self.least[j * self.tenants.len() + i] = -ahead;
            }
        }
    }

    /// A request of the tenant, which waits, begins and costs `cost`.
    pub(crate) fn serve(&mut self, tenant: u32, cost: u64) {
        let Some(i) = self.places[tenant as usize] else { return };
        self.service[i] += (Tag::from(cost) << SHIFT) * 1000 / Tag::from(self.weights[i].thousandths());
        let n = self.tenants.len();
        for j in (0..n).filter(|j| *j != i && self.is_waiting[*j]) {
            let ahead = self.service[i] - self.service[j];
            let behind = ahead - self.least[j * n + i];
            if self.worst[j].is_none_or(|(worst, _)| behind > worst) {
                self.worst[j] = Some((behind, i));
            }
            let least = &mut self.least[i * n + j];
            *least = (*least).min(-ahead);
        }
    }

    /// The tenants that are compared with each other.
    pub(crate) fn compared(&self) -> &[u32] {
        &self.tenants
    }

    /// How far a tenant fell behind at most, in nanoseconds over weight, and behind which; `None`
    /// if it never waited while another was served that waited too.
    pub(crate) fn worst(&self, tenant: u32) -> Option<(f64, u32)> {
        let (worst, other) = self.worst[self.places[tenant as usize]?]?;
        Some((worst as f64 / f64::from(1 << SHIFT), self.tenants[other]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_testkit::draw::{Draw, Replay};

    #[test]
    fn the_worst_is_that_of_every_interval_looked_at() {
        for seed in 0..200 {
            let _replay = Replay(format!("seed {seed}"));
            let mut draw = Draw::new(seed);
            let n = 2 + draw.below(3) as usize;
            let weights: Vec<Weight> =
                (0..n).map(|_| Weight::from_thousandths(draw.pick(&[500, 1000, 4000])).expect("a weight")).collect();
            let mut gaps = Gaps::new(&weights, &vec![1; n]);
            let mut waits = vec![false; n];
            // What was served, and which waited, at each step.
            let mut steps: Vec<(usize, f64, Vec<bool>)> = Vec::new();
            for _ in 0..40 {
                let tenant = draw.below(n as u64) as usize;
                if waits[tenant] && !draw.once_in(4) {
                    let cost = 1 + draw.below(9);
                    gaps.serve(tenant as u32, cost);
                    steps.push((
                        tenant,
                        cost as f64 * 1000.0 / f64::from(weights[tenant].thousandths()),
                        waits.clone(),
                    ));
                } else {
                    waits[tenant] = !waits[tenant];
                    gaps.set_waiting(tenant as u32, waits[tenant]);
                    steps.push((tenant, 0.0, waits.clone()));
                }
            }
            for i in 0..n {
                let mut worst = 0.0_f64;
                for j in (0..n).filter(|j| *j != i) {
                    for from in 0..steps.len() {
                        let mut ahead = 0.0;
                        for (served, cost, waits) in &steps[from..] {
                            if !(waits[i] && waits[j]) {
                                break;
                            }
                            ahead += if *served == j {
                                *cost
                            } else if *served == i {
                                -cost
                            } else {
                                0.0
                            };
                            worst = worst.max(ahead);
                        }
                    }
                }
                let found = gaps.worst(i as u32).map_or(0.0, |(worst, _)| worst);
                assert!((found - worst).abs() < 1e-3, "tenant {i}: {found}, slow {worst}");
            }
        }
    }
}
