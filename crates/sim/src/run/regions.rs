//! A run region by region: each goes as far as the others can have no say in, and what it needs stays in the caches meanwhile.
//!
//! In the order of all events of a large network one that follows another has nothing in common with it: other lines, other
//! flows. Between regions lie lines with a delay, and what happens in one is learnt in another no sooner than the least of
//! these (the lookahead). So each region in its turn runs all that it has within one lookahead. Why no result hangs on it
//! is said in docs/design/parallel.md: regions are to one worker what parts are to several.

use super::Simulation;
use crate::split::partition::Partition;
use fairq_sched::units::Time;

/// The regions and how far they are.
pub(super) struct Regions {
    partition: Partition,
    lookahead: Time,
    /// All have run what comes before.
    from: Time,
}

impl Simulation {
    /// Has it run in the parts of `partition` by turns.
    pub(super) fn divide(&mut self, partition: &Partition) {
        let (parts, lookahead) = (partition.parts, partition.least_lookahead());
        self.events = self.events.divided(parts, |component| self.place_of(component, partition));
        self.network.divide((&partition.tails, &partition.heads), parts);
        self.regions = Some(Regions { partition: partition.clone(), lookahead, from: Time::ZERO });
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

    /// Has each region run up to a lookahead further, but not beyond `end`; whether that is still to come.
    pub(super) fn run_turns(&mut self, end: Time) -> bool {
        let Some(Regions { lookahead, from, ref partition }) = self.regions else { return false };
        if from > end {
            return false;
        }
        let until = Time(from.saturating_add(lookahead).0 - 1).min(end);
        for region in 0..partition.parts {
            self.events.turn_to(region);
            self.now = from;
            self.network.let_in(region, &mut self.events);
            self.run_events(until);
            self.events.pass(until);
        }
        self.now = until;
        if let Some(regions) = &mut self.regions {
            regions.from = Time(until.0 + 1);
        }
        until < end
    }

    /// Has all packets be on a line that are on their way between regions.
    pub(super) fn let_all_in(&mut self) {
        for region in 0..self.regions.as_ref().map_or(0, |regions| regions.partition.parts) {
            self.events.turn_to(region);
            self.network.let_in(region, &mut self.events);
        }
    }
}
