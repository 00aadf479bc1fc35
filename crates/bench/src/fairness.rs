//! The unfairness between flows that are backlogged throughout. Over any two of them and any
//! interval of the run, it is the difference of their service for each unit of weight.

use super::mix::{LENGTH_MAX, Mix, weighted_cost};

/// The most flows that are tracked, in all pairs; the worst of all pairs may be greater.
const WATCHED: u32 = 16;

/// The service of the tracked flows, and the differences of each pair.
pub(super) struct Fairness {
    mix: Mix,
    /// One of this number of flows is tracked.
    distance: u32,
    /// By tracked flow: its service over its weight.
    service: Vec<u64>,
    /// By pair: the least and the greatest difference.
    differences: Vec<(i64, i64)>,
}

impl Fairness {
    pub(super) fn new(flows: u32, mix: Mix) -> Self {
        let watched = flows.min(WATCHED) as usize;
        Self {
            mix,
            distance: flows.div_ceil(WATCHED).max(1),
            service: vec![0; watched],
            differences: vec![(0, 0); watched * watched],
        }
    }

    /// The place of `slot` among the tracked flows. One of each `distance` flows is tracked, each
    /// time the next one within its group, so that all weights occur.
    fn place(&self, slot: u32) -> Option<usize> {
        let place = slot / self.distance;
        (slot % self.distance == place % self.distance).then_some(place as usize)
    }

    pub(super) fn sent(&mut self, slot: u32, length: u32) {
        let Some(mine) = self.place(slot) else { return };
        self.service[mine] += weighted_cost(length, self.mix.weight(slot));
        for other in 0..self.service.len() {
            let difference = self.service[mine] as i64 - self.service[other] as i64;
            // A pair is stored under its lower place; the sign of the difference is reversed if
            // needed.
            let (low, high, difference) =
                if mine < other { (mine, other, difference) } else { (other, mine, -difference) };
            let (least, greatest) = &mut self.differences[low * self.service.len() + high];
            (*least, *greatest) = (difference.min(*least), difference.max(*greatest));
        }
    }

    /// The worst difference, in greatest packets of a flow of weight 1.
    pub(super) fn worst(&self) -> f64 {
        // Within an interval a difference changes at most from its least to its greatest value, in
        // either order.
        let worst = self.differences.iter().map(|(least, greatest)| greatest - least).max().unwrap_or(0);
        worst as f64 / weighted_cost(LENGTH_MAX, 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_interval_is_found_wherever_it_begins() {
        let mut fairness = Fairness::new(4, Mix::Equal);
        // Flow 1 is two packets ahead of flow 0, then four behind: six over the interval between.
        for slot in [1, 1, 0, 0, 0, 0, 0, 0] {
            fairness.sent(slot, LENGTH_MAX);
        }
        assert!((fairness.worst() - 6.0).abs() < 1e-12);
    }

    #[test]
    fn service_counts_over_weight_and_flows_of_every_weight_are_watched() {
        let mut fairness = Fairness::new(4096, Mix::Mixed);
        let watched: Vec<u32> = (0..4096).filter(|slot| fairness.place(*slot).is_some()).collect();
        assert_eq!(watched.len(), 16);
        assert!((1..=4).all(|weight| watched.iter().any(|slot| Mix::Mixed.weight(*slot) == weight)));
        let four = watched.iter().find(|slot| Mix::Mixed.weight(**slot) == 4).copied().unwrap();
        fairness.sent(four, LENGTH_MAX);
        assert!((fairness.worst() - 0.25).abs() < 1e-12);
    }
}
