//! A run region by region: each goes as far as the others can have no say in, and what it needs stays in the caches meanwhile.
//!
//! In the order of all events of a large network one that follows another has nothing in common with it: other lines, other
//! flows. Between regions lie lines with a delay, and what happens in one is learnt in another no sooner than the least of
//! the delays between them (the lookahead). So a region in its turn runs all that it has up to then, and the next turn has who is least
//! far: of two regions, each goes from one lookahead behind the other to one before it. Why no result hangs on it is
//! said in docs/design/parallel.md: regions are to one worker what parts are to several.

use super::Simulation;
use crate::partition::Partition;
use fairq_sched::units::Time;

/// The regions and how far they are.
pub(super) struct Regions {
    partition: Partition,
    /// By region: what comes before has been run.
    from: Vec<Time>,
}

impl Regions {
    fn new(partition: Partition) -> Self {
        Self { from: vec![Time::ZERO; partition.parts], partition }
    }

    /// The region that is least far, and up to when the others let it go on, but not beyond `end`; nothing if all have come to `end`.
    fn next(&self, end: Time) -> Option<(usize, Time)> {
        let (region, from) = self.from.iter().enumerate().min_by_key(|(_, from)| **from)?;
        let bound = self.partition.bound(region, |other| self.from[other]);
        (*from <= end).then_some((region, Time(bound.0 - 1).min(end)))
    }
}

impl Simulation {
    /// Has it run in the parts of `partition` by turns.
    pub(super) fn divide(&mut self, partition: &Partition) {
        self.events = self.events.divided(partition.parts, |component| self.place_of(component, partition));
        self.network.divide((&partition.tails, &partition.heads), partition.parts);
        self.regions = Some(Regions::new(partition.clone()));
    }

    /// The part in which that happens which has a time before the run begins: traffic and periodic laws.
    pub(super) fn place_of(&self, component: u32, partition: &Partition) -> usize {
        let part = match component.checked_sub(self.components.updates) {
            Some(number) => partition.tails[self.network.updated_line(number) as usize],
            None => partition.sources[(component - self.emissions) as usize],
        };
        part as usize
    }

    /// Has that not happen which `component` stands for; it is one of those which have a time before the run begins.
    pub(super) fn silence(&mut self, component: u32) {
        if let Some(regions) = &self.regions {
            self.events.turn_to(self.place_of(component, &regions.partition));
        }
        self.events.set(component, Time::NEVER);
    }

    /// Has one region run as far as the others let it, but not beyond `end`; whether more is to come. Now is then up to when all
    /// have run.
    pub(super) fn run_turn(&mut self, end: Time) -> bool {
        let Some(regions) = &mut self.regions else { return false };
        let Some((region, until)) = regions.next(end) else { return false };
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

    /// Has all packets be on a line that are on their way between regions.
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

    /// Regions in a row, each so far from the next.
    fn row(delays: &[u64]) -> Regions {
        let delays: Vec<Time> = delays.iter().map(|delay| Time(*delay)).collect();
        Regions::new(Partition::row(&delays))
    }

    #[test]
    fn nobody_goes_beyond_what_another_may_still_send_and_all_come_to_the_end() {
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
