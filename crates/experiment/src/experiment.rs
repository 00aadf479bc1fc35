//! A scenario, all points of its axes, all replications: run on any number of workers, with the same bytes out.

use crate::build;
use crate::columns::{PACKETS, SERIES, STATES};
use crate::results::document::{AtPoint, Outcome};
use crate::results::notes;
use crate::results::packets::{self, Packets};
use crate::results::series::{ROWS_MAX, Samples, Series, Shared as SharedSamples};
use crate::results::table::Table;
use crate::results::{self, Tables};
use crate::scenario::Scenario;
use crate::scenario::axes::Point;
use crate::scenario::problem::Problem;
use crate::scenario::read::Document;
use fairq_sched::units::{PS_PER_S, Time};
use fairq_sim::observe::Observer;
use fairq_sim::partition::Partition;
use fairq_sim::plan::{Files, Plan};
use fairq_sim::run::Simulation;
use fairq_sim::split;
use fairq_text::Fault;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The part of all simulated time that is done.
    pub fraction: f64,
    /// Simulated seconds, over all runs.
    pub simulated_s: f64,
    /// Packets sent on any line.
    pub packet_hops: u64,
}

/// What ended an experiment early.
#[derive(Debug)]
pub enum Stopped {
    /// The scenario is wrong.
    Problem(Problem),
    /// The progress callback asked to stop.
    Interrupted,
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// [`Files`] for several threads.
pub type SharedFiles<'a> = &'a (dyn Fn(&str) -> Result<Vec<u8>, String> + Sync);

/// What an experiment is run with.
pub struct Options<'a> {
    /// Threads: runs at a time, and if there are fewer runs, parts of each.
    pub workers: usize,
    /// Reads a file that a flow names.
    pub files: SharedFiles<'a>,
    /// Told of the progress now and then; answers whether to go on.
    pub progress: &'a mut dyn FnMut(Progress) -> bool,
}

/// A scenario read, checked and ready to run.
pub struct Experiment {
    document: Document,
    scenario: Scenario,
    points: Vec<(Point, Plan)>,
    /// What the latest edition decided, if the scenario names none.
    decided: Vec<String>,
    /// The distance of samples over time, if there are to be any; above zero.
    series: Option<Time>,
    /// The flow of which every packet is told.
    packets_of: Option<String>,
    /// Whether the disciplines' states at the end are told.
    tells_states: bool,
}

impl Experiment {
    /// Reads and checks a scenario that names no topology's file and no delivery trace, as [`Self::read_with`] does.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(text: &str, file: &str, sets: &[(String, String)]) -> Result<Self, Problem> {
        Self::read_with(text, file, sets, &|name| Err(format!("{name}: no file is read here")))
    }

    /// Reads and checks a scenario at all points of its axes. `file` is its name for messages, `sets` are the
    /// `--set path=value` of the command line; `files` gives the bytes of a topology's file or a delivery trace.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read_with(text: &str, file: &str, sets: &[(String, String)], files: Files<'_>) -> Result<Self, Problem> {
        let mut document = Document::parse(text, file)?;
        for (path, value) in sets {
            document.set(path, value)?;
        }
        let (scenario, points) = document.scenario()?;
        let plan = |point: Point| {
            let at = document.at(&point)?;
            let plan = build::plan(&at, files).map_err(|fault| document.problem_at(&point, fault))?;
            Ok((point, plan))
        };
        let points = points.into_iter().map(plan).collect::<Result<Vec<_>, Problem>>()?;
        let decided = document.decided(points.iter().map(|(point, _)| point))?;
        Ok(Self { document, scenario, points, decided, series: None, packets_of: None, tells_states: false })
    }

    /// Has every run sampled at this distance; zero for no samples. They are the rows of `series` in the document.
    ///
    /// # Errors
    /// If that gives more rows than are kept.
    pub fn sample_every(&mut self, interval: Time) -> Result<(), Problem> {
        self.series = (interval > Time::ZERO).then_some(interval);
        let runs = u64::from(self.scenario.measure.replications);
        let of = |plan: &Plan| Series::rows_of(plan, interval).saturating_mul(runs);
        let rows = self.points.iter().map(|(_, plan)| of(plan)).fold(0, u64::saturating_add);
        if interval > Time::ZERO && rows > ROWS_MAX {
            let message = format!("a sample every {interval} gives {rows} rows; at most {ROWS_MAX} are kept");
            return Err(self.document.problem(Fault::new("", message)));
        }
        Ok(())
    }

    /// Has every run tell what each discipline counts and keeps at the end. They are the rows of `states` in the document.
    pub const fn tell_states(&mut self) {
        self.tells_states = true;
    }

    /// Has every run tell of each packet of the flow called `name`, or of the copies of an entry of that name. They are the
    /// rows of `packets` in the document; a packet that is under way at the end is not there.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn tell_packets(&mut self, name: &str) -> Result<(), Problem> {
        if !self.points.iter().any(|(_, plan)| Packets::has(plan, name)) {
            let names: Vec<&str> = self.scenario.flows.iter().map(|flow| flow.name.as_str()).take(8).collect();
            let message = format!("no flow is called {name}; there are {}", names.join(", "));
            return Err(self.document.problem(Fault::new("flows", message)));
        }
        self.packets_of = Some(name.to_owned());
        Ok(())
    }

    /// The scenario as written.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How long the longest of the runs is.
    #[must_use]
    pub fn longest_run(&self) -> Time {
        self.points.iter().map(|(_, plan)| plan.warm_up.saturating_add(plan.duration)).max().unwrap_or_default()
    }

    /// The plan of each point.
    #[must_use]
    pub fn plans(&self) -> &[(Point, Plan)] {
        &self.points
    }

    /// Runs everything and returns the document of [`Self::outcome`] as a tree, which takes more room than a large result.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads, or that the progress was not to go on.
    pub fn run(&self, options: Options<'_>) -> Result<Value, Stopped> {
        self.outcome(options).map(|outcome| outcome.document())
    }

    /// Runs everything: for each point the tables of each seed and their means, and what a machine contributes.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads, or that the progress was not to go on.
    pub fn outcome(&self, options: Options<'_>) -> Result<Outcome, Stopped> {
        let measure = &self.scenario.measure;
        let seeds: Vec<u64> = (0..u64::from(measure.replications)).map(|k| measure.seed.wrapping_add(k)).collect();
        let workers = options.workers.clamp(1, self.points.len() * seeds.len());
        let threads = if cfg!(feature = "threads") { options.workers / workers } else { 1 };
        let splits: Vec<Split> = self.points.iter().map(|(_, plan)| self.split(plan, threads)).collect();
        let regions: Vec<_> = self.points.iter().map(|(_, plan)| self.regions(plan)).collect();
        let job = |plan, split, regions, seed: &u64| Job {
            plan,
            split,
            regions,
            seed: *seed,
            series: self.series,
            packets_of: self.packets_of.as_deref(),
            tells_states: self.tells_states,
        };
        let jobs: Vec<Job<'_>> = self
            .points
            .iter()
            .zip(splits.iter().zip(&regions))
            .flat_map(|((_, plan), (split, regions))| {
                seeds.iter().map(move |seed| job(plan, split.as_ref().ok(), regions.as_ref(), seed))
            })
            .collect();
        let (tables, packet_hops) = run_all(&jobs, workers, options).map_err(|stopped| match stopped {
            Ended::Interrupted => Stopped::Interrupted,
            Ended::Fault(fault) => Stopped::Problem(self.document.problem(fault)),
        })?;
        let mut run_info =
            json!({ "version": env!("CARGO_PKG_VERSION"), "workers": workers, "packet_hops": packet_hops });
        tell_of_parts(&mut run_info, &splits, threads);
        Ok(self.outcome_of(&seeds, tables, run_info))
    }

    /// `plan` in as many parts as there are threads for a run of it, or why it is run whole.
    fn split(&self, plan: &Plan, threads: usize) -> Split {
        if self.is_watched() {
            return Err("whoever watches a run sees all of it");
        }
        Partition::new(plan, threads)
    }

    /// The regions in which a worker runs `plan` or its part of it. An observer sees all events in
    /// their order.
    fn regions(&self, plan: &Plan) -> Option<Partition> {
        if self.is_watched() { None } else { Partition::regions(plan) }
    }

    const fn is_watched(&self) -> bool {
        self.series.is_some() || self.packets_of.is_some() || self.tells_states
    }

    fn outcome_of(&self, seeds: &[u64], tables: Vec<Tables>, run_info: Value) -> Outcome {
        let mut tables = tables.into_iter();
        let at = |(point, _): &(Point, Plan)| {
            AtPoint::new(point.clone(), seeds.to_vec(), tables.by_ref().take(seeds.len()).collect())
        };
        let points: Vec<AtPoint> = self.points.iter().map(at).collect();
        let names_window = |point: &Point, entry| self.document.names_window(point, entry);
        let found = notes::of(&self.scenario, self.points.iter().map(|(_, plan)| plan), &points, &names_window);
        Outcome {
            points,
            notes: notes::of_edition(&self.decided).into_iter().chain(found).collect(),
            scenario: self.scenario.clone(),
            has_series: self.series.is_some(),
            has_packets: self.packets_of.is_some(),
            has_states: self.tells_states,
            run_info: run_info.as_object().cloned().unwrap_or_default(),
        }
    }
}

/// The parts of a run, or why it is run whole.
type Split = Result<Partition, &'static str>;

struct Job<'a> {
    plan: &'a Plan,
    split: Option<&'a Partition>,
    regions: Option<&'a Partition>,
    seed: u64,
    series: Option<Time>,
    packets_of: Option<&'a str>,
    tells_states: bool,
}

enum Ended {
    Interrupted,
    Fault(Fault),
}

/// What the runs have done together so far.
#[derive(Default)]
struct Shared {
    /// Simulated milliseconds: a run of days over thousands of seeds fits.
    simulated_ms: AtomicU64,
    packet_hops: AtomicU64,
    is_stopped: AtomicBool,
}

impl Shared {
    /// Adds to `sum` by how much `now` is more than what was told before.
    fn add(sum: &AtomicU64, told: &AtomicU64, now: u64) {
        sum.fetch_add(now - told.swap(now, Ordering::Relaxed), Ordering::Relaxed);
    }

    fn progress(&self, total_ms: u64) -> Progress {
        let done = self.simulated_ms.load(Ordering::Relaxed);
        Progress {
            fraction: done as f64 / total_ms.max(1) as f64,
            simulated_s: done as f64 / 1000.0,
            packet_hops: self.packet_hops.load(Ordering::Relaxed),
        }
    }
}

impl Job<'_> {
    /// Runs from start to end, telling `shared`, and if it runs whole `after_slice`; nothing if it was stopped.
    fn run(&self, files: SharedFiles<'_>, shared: &Shared, after_slice: impl FnMut()) -> Result<Option<Tables>, Fault> {
        match self.split {
            Some(partition) => self.run_in_parts(partition, files, shared),
            None => self.run_whole(files, shared, after_slice),
        }
    }

    fn simulation(&self, files: Files<'_>) -> Result<Simulation, Fault> {
        Simulation::in_regions(self.plan, self.seed, files, self.regions).map_err(|(flow, message)| {
            Fault::new(format!("flows[{}].traffic", self.plan.flows[flow].entry.number), message)
        })
    }

    /// When counting begins, and when the run ends.
    const fn times(&self) -> [Time; 2] {
        [self.plan.warm_up, self.plan.warm_up.saturating_add(self.plan.duration)]
    }

    fn run_in_parts(
        &self,
        partition: &Partition,
        files: SharedFiles<'_>,
        shared: &Shared,
    ) -> Result<Option<Tables>, Fault> {
        let told: Vec<[AtomicU64; 2]> = (0..partition.parts).map(|_| Default::default()).collect();
        let tell = |part: usize, simulation: &Simulation| {
            let [ms, hops] = &told[part];
            // All parts are about as far as the first.
            if part == 0 {
                Shared::add(&shared.simulated_ms, ms, simulation.now().0 / (PS_PER_S / 1000));
            }
            Shared::add(&shared.packet_hops, hops, simulation.network.packet_hops_known);
            !shared.is_stopped.load(Ordering::Relaxed)
        };
        let build = || self.simulation(files);
        Ok(split::run(partition, &build, self.times(), &tell)?.map(|simulation| self.tables(&simulation, shared)))
    }

    /// Runs in slices, and tells `after_slice` of each.
    fn run_whole(
        &self,
        files: Files<'_>,
        shared: &Shared,
        mut after_slice: impl FnMut(),
    ) -> Result<Option<Tables>, Fault> {
        const SLICES: u64 = 256;
        let plan = self.plan;
        let mut simulation = self.simulation(files)?;
        let samples = SharedSamples::default();
        let journeys = packets::Shared::default();
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        if let Some(interval) = self.series {
            observers.push(Box::new(Series::new(plan, interval, SharedSamples::clone(&samples))));
        }
        if let Some(name) = self.packets_of {
            observers.push(Box::new(Packets::new(plan, name, packets::Shared::clone(&journeys))));
        }
        if !observers.is_empty() {
            simulation.observe(Box::new(observers));
        }
        let [warm_up, end] = self.times();
        let slice = Time((end.0 / SLICES).max(1));
        let told = [AtomicU64::default(), AtomicU64::default()];
        // The end of the last interval of samples.
        let mut sampled = Time::ZERO;
        let mut run_to = |simulation: &mut Simulation, to: Time| {
            let mut goes_on = simulation.now() < to;
            while goes_on {
                let next = self.series.map_or(Time::NEVER, |interval| sampled.saturating_add(interval));
                goes_on = simulation.run_towards(to.min(simulation.now().saturating_add(slice)).min(next), to);
                if simulation.now() == next {
                    sampled = next;
                    if let Ok(mut samples) = samples.lock() {
                        samples.note_senders(simulation);
                    }
                }
                Shared::add(&shared.simulated_ms, &told[0], simulation.now().0 / (PS_PER_S / 1000));
                Shared::add(&shared.packet_hops, &told[1], simulation.network.packet_hops_known);
                after_slice();
                if shared.is_stopped.load(Ordering::Relaxed) {
                    return false;
                }
            }
            true
        };
        if !run_to(&mut simulation, warm_up) {
            return Ok(None);
        }
        simulation.clear_counts();
        if !run_to(&mut simulation, end) {
            return Ok(None);
        }
        if let Some(mut observer) = simulation.network.observer.take() {
            observer.end(end);
        }
        let samples = samples.lock().map(|mut samples| std::mem::take(&mut *samples)).unwrap_or_default();
        let series = if self.series.is_some() { Samples::into_table(samples) } else { Table::empty(&SERIES) };
        let journeys = journeys.lock().map(|mut journeys| std::mem::take(&mut *journeys)).unwrap_or_default();
        let packets = if self.packets_of.is_some() { packets::table(plan, journeys) } else { Table::empty(&PACKETS) };
        simulation.settle();
        let states = if self.tells_states { results::state_table(plan, &simulation) } else { Table::empty(&STATES) };
        Ok(Some(Tables { series, packets, states, ..self.tables(&simulation, shared) }))
    }

    /// The tables of a run that has ended, all of which `shared` was told of.
    fn tables(&self, simulation: &Simulation, shared: &Shared) -> Tables {
        let network = &simulation.network;
        // Those that have not ended were told of too early.
        shared.packet_hops.fetch_sub(network.packet_hops_known - network.packet_hops, Ordering::Relaxed);
        Tables::of(self.plan, simulation)
    }
}

/// How many parts each run has, if there were `threads` for several, and why not more.
fn tell_of_parts(run_info: &mut Value, splits: &[Split], threads: usize) {
    if threads > 1 {
        let parts = splits.iter().map(|split| split.as_ref().map_or(1, |partition| partition.parts));
        run_info["parts"] = parts.max().into();
        if let Some(why) = splits.iter().find_map(|split| split.as_ref().err()) {
            run_info["whole"] = (*why).into();
        }
    }
}

fn total_ms(jobs: &[Job<'_>]) -> u64 {
    jobs.iter().map(|job| job.plan.warm_up.saturating_add(job.plan.duration).0 / (PS_PER_S / 1000)).sum()
}

fn run_all(jobs: &[Job<'_>], workers: usize, options: Options<'_>) -> Result<(Vec<Tables>, u64), Ended> {
    #[cfg(feature = "threads")]
    if workers > 1 || jobs.iter().any(|job| job.split.is_some()) {
        return run_on_threads(jobs, workers, options);
    }
    let _ = workers;
    let shared = Shared::default();
    let total = total_ms(jobs);
    let mut tables = Vec::with_capacity(jobs.len());
    for job in jobs {
        let tell = || {
            if !(options.progress)(shared.progress(total)) {
                shared.is_stopped.store(true, Ordering::Relaxed);
            }
        };
        match job.run(options.files, &shared, tell) {
            Ok(Some(table)) => tables.push(table),
            Ok(None) => return Err(Ended::Interrupted),
            Err(fault) => return Err(Ended::Fault(fault)),
        }
    }
    Ok((tables, shared.packet_hops.into_inner()))
}

/// Workers take the next job each; results go where the job's number says, so that their order tells nothing.
#[cfg(feature = "threads")]
fn run_on_threads(jobs: &[Job<'_>], workers: usize, options: Options<'_>) -> Result<(Vec<Tables>, u64), Ended> {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    let shared = Shared::default();
    let next = AtomicUsize::new(0);
    let total = total_ms(jobs);
    let mut results: Vec<Option<Tables>> = vec![None; jobs.len()];
    let mut fault: Option<(usize, Fault)> = None;
    std::thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..workers {
            let (send, shared, next, files) = (send.clone(), &shared, &next, options.files);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { break };
                    let result = job.run(files, shared, || ());
                    if send.send((number, result)).is_err() || shared.is_stopped.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        drop(send);
        loop {
            match receive.recv_timeout(std::time::Duration::from_millis(100)) {
                Ok((number, Ok(table))) => results[number] = table,
                Ok((number, Err(found))) => {
                    // Of several faults the first job's is told, whichever worker was faster.
                    if fault.as_ref().is_none_or(|(other, _)| number < *other) {
                        fault = Some((number, found));
                    }
                    shared.is_stopped.store(true, Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if !(options.progress)(shared.progress(total)) {
                        shared.is_stopped.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    if let Some((_, fault)) = fault {
        return Err(Ended::Fault(fault));
    }
    let hops = shared.packet_hops.into_inner();
    results.into_iter().collect::<Option<Vec<_>>>().map(|tables| (tables, hops)).ok_or(Ended::Interrupted)
}
