//! What each flow got in equal stretches of a run, from the warm-up's beginning on.
//!
//! It is read from the counts that every run keeps, between events, and so costs no event anything.

use crate::columns::COURSE;
use crate::results::table::{Builder, Table};
use fairq_sched::units::{PS_PER_S, Time};
use fairq_sim::plan::Plan;
use fairq_sim::run::{FlowCounts, Simulation};
use std::sync::Arc;

/// Service of a flow so far, or in a stretch.
#[derive(Clone, Copy, Debug, Default)]
struct Got {
    packets: u64,
    bytes: u64,
    unique: u64,
    queueing: u128,
}

impl Got {
    fn of(counts: &FlowCounts) -> Self {
        let FlowCounts { delivered, delivered_bytes, unique, queueing, .. } = counts;
        Self { packets: *delivered, bytes: *delivered_bytes, unique: *unique, queueing: queueing.sum() }
    }

    const fn less(self, other: Self) -> Self {
        Self {
            packets: self.packets - other.packets,
            bytes: self.bytes - other.bytes,
            unique: self.unique - other.unique,
            queueing: self.queueing - other.queueing,
        }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            unique: self.unique + other.unique,
            queueing: self.queueing + other.queueing,
        }
    }
}

/// A flow in the stretch that is running.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    /// Its counts at the beginning of the stretch, or when they were cleared.
    from: Got,
    /// Service in the stretch before the counts were cleared.
    carried: Got,
}

/// The stretches of a run in progress.
pub struct Course {
    names: Vec<Arc<str>>,
    stretches: u64,
    end: Time,
    current: Vec<Current>,
    /// Service of each flow, stretch by stretch.
    done: Vec<Got>,
}

impl Course {
    /// A run of `plan` to `end` in this number of stretches; `None` keeps nothing.
    #[must_use]
    pub fn new(plan: &Plan, stretches: Option<u32>, end: Time) -> Self {
        let flows = if stretches.is_some() { plan.flows.as_slice() } else { &[] };
        Self {
            names: flows.iter().map(|flow| Arc::clone(&flow.name)).collect(),
            stretches: u64::from(stretches.unwrap_or(0)),
            end,
            current: vec![Current::default(); flows.len()],
            done: Vec::new(),
        }
    }

    /// The end of stretch number `stretch`, counted from 1.
    fn end_of(&self, stretch: u64) -> Time {
        let part = u128::from(self.end.0) * u128::from(stretch) / u128::from(self.stretches);
        Time(u64::try_from(part).unwrap_or(u64::MAX))
    }

    /// The number of the stretch that is running, from 1.
    fn running(&self) -> u64 {
        (self.done.len() / self.names.len().max(1)) as u64 + 1
    }

    /// The end of the stretch that is running; `Time::NEVER` after the last.
    #[must_use]
    pub fn next_time(&self) -> Time {
        if self.names.is_empty() || self.running() > self.stretches { Time::NEVER } else { self.end_of(self.running()) }
    }

    /// Ends the stretch if its end has come.
    pub fn note(&mut self, simulation: &Simulation) {
        if simulation.now() != self.next_time() {
            return;
        }
        for (current, counts) in self.current.iter_mut().zip(simulation.flow_counts()) {
            let now = Got::of(counts);
            self.done.push(now.less(current.from).and(current.carried));
            *current = Current { from: now, carried: Got::default() };
        }
    }

    /// To be called before the run's counts are cleared.
    pub fn before_clear(&mut self, simulation: &Simulation) {
        for (current, counts) in self.current.iter_mut().zip(simulation.flow_counts()) {
            let carried = Got::of(counts).less(current.from).and(current.carried);
            *current = Current { from: Got::default(), carried };
        }
    }

    /// All stretches as a table.
    #[must_use]
    pub fn into_table(self) -> Table {
        let flows = self.names.len().max(1);
        let mut table = Builder::new(&COURSE);
        let stretch = |row: usize| (row / flows) as u64 + 1;
        let length = |row: usize| (self.end_of(stretch(row)) - self.end_of(stretch(row) - 1)).as_s();
        table.real("time_s", (0..self.done.len()).map(|row| self.end_of(stretch(row)).as_s()));
        table.text("flow", (0..self.done.len()).map(|row| Arc::clone(&self.names[row % flows])));
        table.whole("packets", self.done.iter().map(|got| got.packets));
        table.real("goodput_bit_per_s", self.done.iter().enumerate().map(|(row, got)| got.goodput() / length(row)));
        table.real("queueing_s_mean", self.done.iter().map(|got| got.queueing_s()));
        table.finish()
    }
}

impl Got {
    /// Bits that arrived for the first time: packets of a flow may differ in length, and what came
    /// again has the mean one.
    fn goodput(self) -> f64 {
        if self.packets == 0 { 0.0 } else { self.bytes as f64 * 8.0 * (self.unique as f64 / self.packets as f64) }
    }

    fn queueing_s(self) -> Option<f64> {
        (self.packets > 0).then(|| self.queueing as f64 / self.packets as f64 / PS_PER_S as f64)
    }
}
