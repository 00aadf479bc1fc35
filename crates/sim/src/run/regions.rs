//! A run region by region. Each region advances as far as no other can affect it, so its state
//! stays in the caches meanwhile.
//!
//! In the order of all events of a large network, consecutive events have nothing in common: other
//! lines, other flows. Between regions lie lines with a delay. An event in one region reaches
//! another no sooner than the least of the delays between them (the lookahead). So a region in its
//! turn runs all its events up to that time. The next turn goes to the region that is furthest
//! behind: of two regions, each goes from one lookahead behind the other to one ahead of it.
//! `docs/design/parallel.md` says why no result depends on it: regions are to one worker what parts
//! are to several.

use super::Simulation;
use crate::partition::Partition;
use fairq_sched::fast_path::{FastPath, take};
use fairq_sched::units::Time;

/// The regions and the progress of each.
pub(super) struct Regions {
    partition: Partition,
    /// By region: all events before this time have been run.
    from: Vec<Time>,
}

impl Regions {
    fn new(partition: Partition) -> Self {
        Self { from: vec![Time::ZERO; partition.parts], partition }
    }

    /// The region furthest behind, and the time it may safely advance to, but not beyond `end`.
    /// `None` if all have reached `end`.
    fn next(&self, end: Time) -> Option<(usize, Time)> {
        let (region, from) = self.from.iter().enumerate().min_by_key(|(_, from)| **from)?;
        let bound = self.partition.bound(region, |other| self.from[other]);
        (*from <= end).then_some((region, Time(bound.0 - 1).min(end)))
    }
}

impl Simulation {
    /// Divides this run into the parts of `partition` as regions, which run in turn.
    pub(super) fn divide(&mut self, partition: &Partition) {
        self.events = self.events.divided(partition.parts, |component| self.place_of(component, partition));
        self.network.divide((&partition.tails, &partition.heads), partition.parts);
        self.regions = Some(Regions::new(partition.clone()));
    }

    /// The part of a component whose first event is set before the run begins: traffic or a
    /// periodic update.
    pub(super) fn place_of(&self, component: u32, partition: &Partition) -> usize {
        let part = match component.checked_sub(self.components.updates) {
            Some(number) => partition.tails[self.network.updated_line(number) as usize],
            None => partition.sources[(component - self.emissions) as usize],
        };
        part as usize
    }

    /// Cancels the initial event of `component`, which is traffic or a periodic update.
    pub(super) fn silence(&mut self, component: u32) {
        if let Some(regions) = &self.regions {
            self.events.turn_to(self.place_of(component, &regions.partition));
        }
        self.events.set(component, Time::NEVER);
    }

    /// Runs one region as far as the others allow, but not beyond `end`. Returns whether more is to
    /// come. `now` is then the time up to which all regions have run.
    pub(super) fn run_turn(&mut self, end: Time) -> bool {
        let Some(regions) = &mut self.regions else { return false };
        let Some((region, until)) = regions.next(end) else { return false };
        take(FastPath::Regions);
        self.now = regions.from[region];
        regions.from[region] = Time(until.0 + 1);
        let least = regions.from.iter().copied().min().unwrap_or(end);
        self.events.turn_to(region);
        self.network.let_in(region, &mut self.events);
        self.run_events(until);
        self.events.pass(until);
        self.now = Time(least.0.saturating_sub(1));
        least <= end
    }

    /// Puts all packets that are between regions on their lines.
    pub(super) fn let_all_in(&mut self) {
        for region in 0..self.regions.as_ref().map_or(0, |regions| regions.partition.parts) {
            self.events.turn_to(region);
            self.network.let_in(region, &mut self.events);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regions in a row, with these delays between neighbours.
    fn row(delays: &[u64]) -> Regions {
        let delays: Vec<Time> = delays.iter().map(|delay| Time(*delay)).collect();
        Regions::new(Partition::row(&delays))
    }

    #[test]
    fn no_region_goes_beyond_what_another_may_still_send_and_all_come_to_the_end() {
        for delays in [&[10][..], &[10, 3], &[1, 1, 1], &[7, 100, 2, 31], &[]] {
            let mut regions = row(delays);
            let end = Time(1000);
            while let Some((region, until)) = regions.next(end) {
                assert!(until >= regions.from[region] && until <= end);
                for (neighbour, delay) in [(region.wrapping_sub(1), region.wrapping_sub(1)), (region + 1, region)] {
                    if let (Some(from), Some(delay)) = (regions.from.get(neighbour), delays.get(delay)) {
                        assert!(until.0 < from.0 + delay, "{delays:?}: {region} to {until}");
                    }
                }
                regions.from[region] = Time(until.0 + 1);
            }
            assert!(regions.from.iter().all(|from| *from == Time(1001)), "{delays:?}");
        }
    }

    #[test]
    fn of_two_regions_each_turn_but_the_first_takes_two_delays() {
        let mut regions = row(&[10]);
        let mut turns = Vec::new();
        while let Some((region, until)) = regions.next(Time(99)) {
            turns.push((region, until.0 + 1 - regions.from[region].0));
            regions.from[region] = Time(until.0 + 1);
        }
        assert_eq!(
            turns,
            [(0, 10), (1, 20), (0, 20), (1, 20), (0, 20), (1, 20), (0, 20), (1, 20), (0, 20), (1, 20), (0, 10)]
        );
    }
}
