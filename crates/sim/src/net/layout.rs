//! A network before its run: idle lines, how packets pass each of them, and the periodic updates.

use super::border::Border;
use super::by_hand::ByHand;
use super::gateway::Gateway;
use super::hop::Site;
use super::line::Line;
use super::network::{Components, Network};
use super::path::{Path, Paths};
use super::pools::Pools;
use super::shortcut::fed;
use super::tally::Tally;
use crate::engine::events::EventSet;
use crate::observe::Observer;
use crate::segment::Arena;
use fairq_sched::packet::Fates;

impl Network {
    /// A network of idle lines.
    #[must_use]
    pub fn new(mut lines: Vec<Line>, pools: Pools, paths: &[Path], components: Components) -> Self {
        let flows = paths.len();
        let paths = Paths::new(paths);
        let mut updated = Vec::new();
        for (line, at) in lines.iter_mut().enumerate() {
            // Another discipline may have updates where this one has none.
            let may_update = |gateway: &Gateway| gateway.changes.is_some() || gateway.port.next_update().is_some();
            if let Some(gateway) = at.gateway.as_mut().filter(|gateway| may_update(gateway)) {
                gateway.update = Some(components.updates + updated.len() as u32);
                updated.push(line as u32);
            }
        }
        let mut this = Self {
            lines,
            pools,
            paths,
            arena: Arena::default(),
            dropped: Tally::new(flows),
            lost: Tally::new(flows),
            marked: Tally::new(flows),
            packet_hops: 0,
            packet_hops_known: 0,
            dropped_reports: Vec::new(),
            observer: None,
            is_watched: Vec::new(),
            by_hand: ByHand::default(),
            border: Border::default(),
            prefetches: false,
            urgent: 0,
            components,
            updated,
            fates: Fates::new(),
            taken: Vec::new(),
        };
        this.lay_out();
        this
    }

    /// Tells `observer` of every event of the lines that `is_watched` names. To be called before
    /// the run begins.
    pub fn watch(&mut self, is_watched: &[bool], observer: Box<dyn Observer>) {
        self.observer = Some(observer);
        self.is_watched = is_watched.to_vec();
        self.lay_out();
    }

    /// Decides how packets pass each line, from what is known before the run begins. To be called
    /// again when more is known.
    pub(super) fn lay_out(&mut self) {
        let feeders = self.paths.feeders(self.lines.len());
        let fed = fed(&self.lines, &feeders);
        for (line, is_fed) in fed.into_iter().enumerate() {
            let at = &mut self.lines[line];
            let is_pooled = self.pools.has(line as u32);
            let is_watched = self.is_watched.get(line).is_some_and(|is_watched| *is_watched);
            let leads_out = at.leaves && self.border.leads_out(line as u32);
            at.set_hop(&Site { is_pooled, leads_out, is_fed, is_watched, ..at.site() });
            at.leads = false;
        }
        for (line, feeder) in feeders.into_iter().enumerate() {
            if let Some(feeder) = feeder.filter(|_| self.lines[line].follows) {
                self.lines[feeder as usize].leads = true;
            }
        }
    }

    /// The number of lines with a periodic update.
    #[must_use]
    pub const fn updates(&self) -> u32 {
        self.updated.len() as u32
    }

    /// The line of the periodic update number `number`.
    #[must_use]
    pub fn updated_line(&self, number: u32) -> u32 {
        self.updated[number as usize]
    }

    /// Schedules the first run of every periodic update.
    pub fn begin(&self, events: &mut EventSet) {
        self.updated.iter().for_each(|line| self.plan(*line, events));
    }
}
