//! A run: one point of a scenario's axes and one seed, by itself.
//!
//! A run can be sent to another thread or made anew on another machine, gives the same tables
//! wherever it is run, and has a name that says what they depend on: its digest.

use crate::columns::{PACKETS, SERIES};
use crate::digest::{Digest, RESULTS_VERSION};
use crate::known::Known;
use crate::results::Tables;
use crate::results::course::Course;
use crate::results::packets::{self, Packets};
use crate::results::series::Series;
use crate::results::states::States;
use crate::results::table::Table;
use crate::results::trace::{self, Recorder, Trace};
use crate::scenario::axes::Point;
use crate::scenario::problem::Problem;
use fairq_sched::units::{PS_PER_S, Time};
use fairq_sim::observe::Observer;
use fairq_sim::partition::Partition;
use fairq_sim::plan::{Files, Plan};
use fairq_sim::run::Simulation;
use fairq_sim::split;
use fairq_text::Fault;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Reads a file that a flow names; for several threads.
pub type SharedFiles<'a> = &'a (dyn Fn(&str) -> Result<Vec<u8>, String> + Sync);

/// What is kept of a run beside its counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The distance of samples over time, above zero: the rows of `series`.
    pub series: Option<Time>,
    /// The flow of which every packet has a row of `packets`, or the entry of its copies.
    pub packets_of: Option<String>,
    /// Whether what disciplines show, at the end and at the samples of `series`, are the rows of
    /// `states`.
    pub states: bool,
    /// Into how many equal stretches a run is divided for the rows of `course`.
    pub stretches: Option<u32>,
    /// The most records of packets in the trace of the first run of all, if it is to have one.
    pub trace: Option<usize>,
}

/// One point of a scenario's axes and one seed.
#[derive(Clone)]
pub struct Run {
    pub(crate) known: Arc<Known>,
    pub(crate) keep: Arc<Keep>,
    /// The number of its point.
    pub(crate) at: usize,
    pub(crate) seed: u64,
}

const _: () = {
    const fn may_be_sent<T: Send + Sync>() {}
    may_be_sent::<Run>();
};

/// What all runs at one point depend on but for their seeds.
#[derive(Clone, Debug)]
pub struct Given(String);

impl Given {
    /// The name of what the run with `seed` gives.
    #[must_use]
    pub fn digest(&self, seed: u64) -> Digest {
        Digest::of(format!("fairq run\nresults {RESULTS_VERSION}\nseed {seed}\n{}", self.0).as_bytes())
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// The simulated time that is done.
    pub now: Time,
    /// Packets sent on any line.
    pub packet_hops: u64,
}

/// Why a run has no tables.
#[derive(Debug)]
pub enum Ended {
    /// Its progress was answered with `false`.
    Stopped,
    /// What is wrong with a file that a flow reads.
    Problem(Problem),
}

impl Run {
    /// The point of the axes.
    #[must_use]
    pub fn point(&self) -> &Point {
        &self.known.points[self.at].0
    }

    /// The network and its traffic.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.known.points[self.at].1
    }

    /// The number of its point among those of the experiment.
    #[must_use]
    pub const fn point_number(&self) -> usize {
        self.at
    }

    /// The seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The name of what it gives. `files` gives the bytes of files that flows read.
    ///
    /// # Errors
    /// If one of these files cannot be read.
    pub fn digest(&self, files: Files<'_>) -> Result<Digest, Problem> {
        self.given(files).map(|given| given.digest(self.seed))
    }

    /// What the digests of all runs at its point are over, but for their seeds. `files` gives the
    /// bytes of files that flows read.
    ///
    /// # Errors
    /// If one of these files cannot be read.
    pub fn given(&self, files: Files<'_>) -> Result<Given, Problem> {
        let mut said = self.known.resolved(self.at)?;
        for digest in &self.known.read[self.at] {
            said.push_str(&format!("\nfile {digest}"));
        }
        for flow in &self.plan().flows {
            if let Some(name) = flow.entry.traffic.file() {
                let place = || format!("flows[{}].traffic", flow.entry.number);
                let bytes = files(name).map_err(|message| self.problem(Fault::new(place(), message)))?;
                said.push_str(&format!("\nfile {}", Digest::of(&bytes)));
            }
        }
        Ok(Given(said))
    }

    /// How much simulated time it takes.
    #[must_use]
    pub fn length(&self) -> Time {
        self.times()[1]
    }

    /// The distance of 200 samples.
    fn sampling(&self) -> Time {
        Time((self.length().0 / 200).max(1))
    }

    /// Runs from start to end and gives the tables.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads.
    pub fn finish(&self, files: SharedFiles<'_>) -> Result<Tables, Problem> {
        let tables = self.finish_while(files, &|| true)?;
        Ok(tables.unwrap_or_else(|| unreachable!("its progress is always answered with true")))
    }

    /// As [`Self::finish`], and `None` as soon as `goes_on`, asked now and again, says no.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads.
    pub fn finish_while(
        &self,
        files: SharedFiles<'_>,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Tables>, Problem> {
        match self.execute(None, self.regions().as_ref(), files, &|_| goes_on()) {
            Ok((tables, _)) => Ok(Some(tables)),
            Err(Ended::Problem(problem)) => Err(problem),
            Err(Ended::Stopped) => Ok(None),
        }
    }

    /// Whether all its events must be seen in their order, so that it cannot be divided.
    fn is_watched(&self) -> bool {
        let keep = &self.keep;
        keep.series.is_some()
            || keep.packets_of.is_some()
            || keep.states
            || keep.stretches.is_some()
            || self.most_traced().is_some()
    }

    /// The most records of packets in its trace, if it has one.
    fn most_traced(&self) -> Option<usize> {
        let is_first = self.at == 0 && self.seed == self.known.scenario.measure.seed;
        self.keep.trace.filter(|_| is_first)
    }

    /// The parts of the network for `threads` threads, or why the run cannot be divided.
    pub(crate) fn split(&self, threads: usize) -> Result<Partition, &'static str> {
        if self.is_watched() {
            return Err("whoever watches a run sees all of it");
        }
        Partition::new(self.plan(), threads)
    }

    /// The regions in which a thread runs its part of the network, if it is divided into some.
    pub(crate) fn regions(&self) -> Option<Partition> {
        if self.is_watched() { None } else { Partition::regions(self.plan()) }
    }

    /// Runs on one thread, or on one for each part of `split`; calls `on_step` between slices of
    /// time, which answers whether to go on. The tables and the packet-hops.
    pub(crate) fn execute(
        &self,
        split: Option<&Partition>,
        regions: Option<&Partition>,
        files: SharedFiles<'_>,
        on_step: &(dyn Fn(Step) -> bool + Sync),
    ) -> Result<(Tables, u64), Ended> {
        match split {
            Some(partition) => self.in_parts(partition, regions, files, on_step),
            None => self.whole(regions, files, on_step),
        }
    }

    fn problem(&self, fault: Fault) -> Problem {
        self.known.document.problem(fault)
    }

    fn simulation(&self, regions: Option<&Partition>, files: Files<'_>) -> Result<Simulation, Fault> {
        Simulation::in_regions(self.plan(), self.seed, files, regions).map_err(|(flow, message)| {
            Fault::new(format!("flows[{}].traffic", self.plan().flows[flow].entry.number), message)
        })
    }

    /// When counting begins, and when the run ends.
    fn times(&self) -> [Time; 2] {
        let plan = self.plan();
        [plan.warm_up, plan.warm_up.saturating_add(plan.duration)]
    }

    fn in_parts(
        &self,
        partition: &Partition,
        regions: Option<&Partition>,
        files: SharedFiles<'_>,
        on_step: &(dyn Fn(Step) -> bool + Sync),
    ) -> Result<(Tables, u64), Ended> {
        let hops: Vec<AtomicU64> = (0..partition.parts).map(|_| AtomicU64::default()).collect();
        // All parts are about as far as the first.
        let now = AtomicU64::default();
        let tell = |part: usize, simulation: &Simulation| {
            hops[part].store(simulation.network.packet_hops_known, Ordering::Relaxed);
            if part == 0 {
                now.store(simulation.now().0, Ordering::Relaxed);
            }
            let packet_hops = hops.iter().map(|hops| hops.load(Ordering::Relaxed)).sum();
            on_step(Step { now: Time(now.load(Ordering::Relaxed)), packet_hops })
        };
        let build = || self.simulation(regions, files);
        match split::run(partition, &build, self.times(), &tell) {
            Ok(Some(simulation)) => Ok((Tables::of(self.plan(), &simulation), simulation.network.packet_hops)),
            Ok(None) => Err(Ended::Stopped),
            Err(fault) => Err(Ended::Problem(self.problem(fault))),
        }
    }

    fn whole(
        &self,
        regions: Option<&Partition>,
        files: Files<'_>,
        on_step: &(dyn Fn(Step) -> bool + Sync),
    ) -> Result<(Tables, u64), Ended> {
        const SLICES: u64 = 256;
        let plan = self.plan();
        let mut simulation = self.simulation(regions, files).map_err(|fault| Ended::Problem(self.problem(fault)))?;
        let kept = Kept::default();
        let interval = self.keep.series.or_else(|| self.most_traced().map(|_| self.sampling()));
        let observers = self.observers(&kept);
        // An unobserved line may tell its discipline late that it is idle: virtual time stands
        // still until the next packet, and a reading would depend on whether samples are taken.
        if !observers.is_empty() || self.keep.states {
            let is_traced = self.most_traced().is_some();
            let is_watched = plan.lines.iter().map(|line| is_traced || self.keep.states && !line.is_access);
            simulation.observe_on(&is_watched.collect::<Vec<_>>(), Box::new(observers));
        }
        let [warm_up, end] = self.times();
        let slice = Time((end.0 / SLICES).max(1));
        let samples_states = self.keep.states && self.keep.series.is_some();
        let mut noted = Noted {
            course: Course::new(plan, self.keep.stretches, end),
            states: States::default(),
            series: interval.map(|interval| Series::new(plan, interval)),
        };
        let run_to = |simulation: &mut Simulation, noted: &mut Noted, to: Time| {
            let mut goes_on = simulation.now() < to;
            while goes_on {
                let next = noted.series.as_ref().map_or(Time::NEVER, Series::next_time);
                let until = to.min(simulation.now().saturating_add(slice)).min(next).min(noted.course.next_time());
                goes_on = simulation.run_towards(until, to);
                noted.course.note(simulation);
                if let Some(series) = noted.series.as_mut().filter(|_| simulation.now() == next) {
                    series.note(simulation);
                    // Those at the end are noted below, whether that is a sample or not.
                    if samples_states && next < end {
                        noted.states.note(plan, simulation, next);
                    }
                }
                let packet_hops = simulation.network.packet_hops_known;
                if !on_step(Step { now: simulation.now(), packet_hops }) {
                    return Err(Ended::Stopped);
                }
            }
            Ok(())
        };
        run_to(&mut simulation, &mut noted, warm_up)?;
        noted.course.before_clear(&simulation);
        if let Some(series) = &mut noted.series {
            series.before_clear(&simulation);
        }
        simulation.clear_counts();
        run_to(&mut simulation, &mut noted, end)?;
        if let Some(mut observer) = simulation.network.observer.take() {
            observer.end(end);
        }
        simulation.settle();
        if self.keep.states {
            noted.states.note(plan, &simulation, end);
        }
        Ok((self.tables(&simulation, &kept, noted), simulation.network.packet_hops))
    }

    /// The observers of the run. They share `kept`.
    fn observers(&self, kept: &Kept) -> Vec<Box<dyn Observer>> {
        let plan = self.plan();
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        if let Some(name) = &self.keep.packets_of {
            observers.push(Box::new(Packets::new(plan, name, Arc::clone(&kept.journeys))));
        }
        if let Some(most) = self.most_traced() {
            observers.push(Box::new(Recorder::new(plan, most, Arc::clone(&kept.records))));
        }
        observers
    }

    /// The tables of a run that has ended.
    fn tables(&self, simulation: &Simulation, kept: &Kept, noted: Noted) -> Tables {
        let (plan, keep) = (self.plan(), &self.keep);
        let sampled = noted.series.map_or_else(|| Table::empty(&SERIES), Series::into_table);
        let end = self.times()[1];
        let trace = self.most_traced().map(|_| Arc::new(Trace::new(plan, taken(&kept.records), sampled.clone(), end)));
        let series = if keep.series.is_some() { sampled } else { Table::empty(&SERIES) };
        let packets = match keep.packets_of {
            Some(_) => packets::table(plan, taken(&kept.journeys)),
            None => Table::empty(&PACKETS),
        };
        let (states, course) = (noted.states.into_table(plan), noted.course.into_table());
        Tables { series, packets, states, course, trace, ..Tables::of(plan, simulation) }
    }
}

/// What is read of a run between its events, for its tables.
struct Noted {
    course: Course,
    states: States,
    /// Its samples, if it takes some.
    series: Option<Series>,
}

/// What observers keep for the tables of a run.
#[derive(Default)]
struct Kept {
    journeys: packets::Shared,
    records: trace::Shared,
}

/// What was kept; none of it if the observer that kept it has panicked.
fn taken<T: Default>(kept: &Mutex<T>) -> T {
    kept.lock().map(|mut kept| std::mem::take(&mut *kept)).unwrap_or_default()
}

/// Simulated milliseconds: a run of days over thousands of seeds fits in a sum.
pub(crate) const fn milliseconds(time: Time) -> u64 {
    time.0 / (PS_PER_S / 1000)
}
