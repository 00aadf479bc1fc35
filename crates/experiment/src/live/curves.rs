//! Throughput, delay and backlog of each flow at one line over time, in bins of equal length over
//! the whole run, and the measures that follow from them.

use super::line_fluid::Level;
use super::passing::Passage;
use fairq_sched::packet::Reason;
use fairq_sched::units::Time;
use std::collections::BTreeMap;

/// How many bins a run has, at most.
const BINS: u64 = 1200;
/// How many cells of all flows there may be.
const CELLS: u64 = 400_000;
/// How many drops and marks are kept with their times.
const TICKS: usize = 100_000;

/// What happened to a flow in a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Bytes whose transmission ended.
    pub bytes: u64,
    /// Packets whose transmission ended.
    pub packets: u64,
    /// The sum of the times from arrival to the end of the transmission, in seconds.
    pub delay_sum_s: f64,
    /// The greatest of them.
    pub delay_max: Time,
    /// The greatest time by which a packet left later than it left the fluid.
    pub late_max: Time,
    /// Packets that were dropped.
    pub drops: u64,
    /// Packets that were marked.
    pub marks: u64,
    /// Bytes at the gateway at the bin's end.
    pub backlog: u64,
    /// Bytes that the fluid had served since the start of the run, at the bin's end.
    pub fluid: f64,
}

impl Cell {
    /// With what comes after it.
    fn add(&mut self, next: &Self) {
        self.bytes += next.bytes;
        self.packets += next.packets;
        self.delay_sum_s += next.delay_sum_s;
        self.delay_max = self.delay_max.max(next.delay_max);
        self.late_max = self.late_max.max(next.late_max);
        self.drops += next.drops;
        self.marks += next.marks;
        (self.backlog, self.fluid) = (next.backlog, next.fluid);
    }
}

/// A drop or a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// When.
    pub at: Time,
    /// The flow's number.
    pub flow: u32,
    /// Why it was dropped; `None` if it was marked.
    pub dropped: Option<Reason>,
}

/// The curves of a line.
#[derive(Clone, Debug)]
pub struct Curves {
    width: Time,
    /// Whole bins, by flow.
    bins: Vec<Box<[Cell]>>,
    /// The bin that has begun.
    open: Box<[Cell]>,
    ticks: Vec<Tick>,
    /// The longest packet that was sent, in bytes.
    longest: u32,
}

impl Curves {
    pub(super) fn new(end: Time, flows: usize) -> Self {
        let bins = BINS.min(CELLS / flows.max(1) as u64).max(1);
        let open = vec![Cell::default(); flows].into();
        Self { width: Time((end.0 / bins).max(1)), bins: Vec::new(), open, ticks: Vec::new(), longest: 0 }
    }

    /// The end of the open bin, if it is before `now`.
    pub(super) fn edge_before(&self, now: Time) -> Option<Time> {
        let edge = Time(self.width.0.saturating_mul(self.bins.len() as u64 + 1));
        (edge < now).then_some(edge)
    }

    /// The fluid is there.
    pub(super) fn note(&mut self, levels: Option<&[Level]>) {
        for (cell, level) in self.open.iter_mut().zip(levels.into_iter().flatten()) {
            cell.fluid = level.served;
        }
    }

    /// The open bin ends.
    pub(super) fn close(&mut self, levels: Option<&[Level]>) {
        self.note(levels);
        self.bins.push(self.open.clone());
        for cell in &mut self.open {
            *cell = Cell { backlog: cell.backlog, fluid: cell.fluid, ..Cell::default() };
        }
    }

    pub(super) fn joined(&mut self, flow: u32, bytes: u32) {
        self.open[flow as usize].backlog += u64::from(bytes);
    }

    pub(super) fn sent(&mut self, now: Time, passage: &Passage) {
        self.longest = self.longest.max(passage.bytes);
        let cell = &mut self.open[passage.flow as usize];
        let delay = now.saturating_sub(passage.arrived);
        cell.bytes += u64::from(passage.bytes);
        cell.packets += 1;
        cell.delay_sum_s += delay.as_s();
        cell.delay_max = cell.delay_max.max(delay);
        if let Some(ideal) = passage.ideal {
            cell.late_max = cell.late_max.max(now.saturating_sub(ideal));
        }
        cell.backlog = cell.backlog.saturating_sub(passage.bytes.into());
    }

    /// `held`: its bytes, if it had been taken in.
    pub(super) fn dropped(&mut self, now: Time, flow: u32, held: Option<u32>, reason: Reason) {
        let cell = &mut self.open[flow as usize];
        cell.drops += 1;
        cell.backlog = cell.backlog.saturating_sub(held.unwrap_or(0).into());
        self.tick(Tick { at: now, flow, dropped: Some(reason) });
    }

    pub(super) fn marked(&mut self, now: Time, flow: u32) {
        self.open[flow as usize].marks += 1;
        self.tick(Tick { at: now, flow, dropped: None });
    }

    fn tick(&mut self, tick: Tick) {
        if self.ticks.len() < TICKS {
            self.ticks.push(tick);
        }
    }

    /// The first 100,000 drops and marks between two times.
    pub fn ticks(&self, from: Time, to: Time) -> impl Iterator<Item = &Tick> {
        let begin = self.ticks.partition_point(|tick| tick.at < from);
        self.ticks[begin..].iter().take_while(move |tick| tick.at <= to)
    }

    /// How often packets were dropped for each reason between two times.
    #[must_use]
    pub fn reasons(&self, from: Time, to: Time) -> BTreeMap<&'static str, u64> {
        let mut reasons = BTreeMap::new();
        for reason in self.ticks(from, to).filter_map(|tick| tick.dropped) {
            *reasons.entry(reason.name()).or_insert(0) += 1;
        }
        reasons
    }

    /// The longest packet that was sent, in bytes.
    #[must_use]
    pub const fn longest(&self) -> u32 {
        self.longest
    }

    /// The bins between two times joined to at most `most`: the end of each and its cells by flow.
    /// Bins are whole; the one that has begun is the last.
    #[must_use]
    pub fn between(&self, from: Time, to: Time, most: usize) -> Vec<(Time, Box<[Cell]>)> {
        let of = |time: Time| (time.0 / self.width.0) as usize;
        let end = to.0.div_ceil(self.width.0) as usize;
        let all: Vec<(usize, &[Cell])> =
            self.bins.iter().chain([&self.open]).map(|bin| &**bin).enumerate().take(end).skip(of(from)).collect();
        let group = all.len().div_ceil(most.max(1)).max(1);
        let join = |bins: &[(usize, &[Cell])]| {
            let mut joined: Box<[Cell]> = bins[0].1.into();
            for (_, bin) in &bins[1..] {
                joined.iter_mut().zip(*bin).for_each(|(cell, next)| cell.add(next));
            }
            let last = bins[bins.len() - 1].0 as u64;
            (Time(self.width.0 * (last + 1)), joined)
        };
        all.chunks(group).map(join).collect()
    }

    /// Bytes that the fluid had served of a flow at the beginning of the bin that holds `from`.
    #[must_use]
    pub fn fluid_before(&self, from: Time, flow: usize) -> f64 {
        let bin = ((from.0 / self.width.0) as usize).min(self.bins.len());
        bin.checked_sub(1).map_or(0.0, |bin| self.bins[bin][flow].fluid)
    }

    /// What all bins between two times have together, by flow.
    #[must_use]
    pub fn sums(&self, from: Time, to: Time) -> Box<[Cell]> {
        self.between(from, to, 1)
            .into_iter()
            .next()
            .map_or_else(|| vec![Cell::default(); self.open.len()].into(), |(_, cells)| cells)
    }

    /// The length of a bin.
    #[must_use]
    pub const fn width(&self) -> Time {
        self.width
    }
}
