//! A scenario at all points of its axes: the runs that it consists of, and their tables together.
//!
//! An experiment is an iterator of runs ([`Experiment::runs`]) and a collector of their tables
//! ([`Experiment::collect`]). [`Experiment::outcome`] does both on any number of threads, with the
//! same bytes out.

use crate::build;
use crate::digest::Digest;
use crate::known::Known;
use crate::memory::{self, Need, Size};
use crate::progress::{Costs, Progress};
use crate::results::Tables;
use crate::results::document::{AtPoint, Outcome};
use crate::results::notes;
use crate::results::packets::Packets;
use crate::results::series::{ROWS_MAX, Series};
use crate::results::states::States;
pub use crate::run::SharedFiles;
use crate::run::{Ended, Keep, Run};
use crate::scenario::Scenario;
use crate::scenario::axes::Point;
use crate::scenario::own::OwnParts;
use crate::scenario::problem::Problem;
use crate::scenario::read::Document;
use fairq_sched::units::Time;
use fairq_sim::partition::Partition;
use fairq_sim::plan::{Files, FlowPlan, Plan};
use fairq_text::Fault;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::cmp::Ordering;
#[cfg(feature = "threads")]
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};

/// What ended an experiment early.
#[derive(Debug)]
pub enum Stopped {
    /// The scenario is wrong.
    Problem(Problem),
    /// The progress was answered with `false`; what the runs gave that were complete, if one was.
    Interrupted(Option<Box<Outcome>>),
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Options of the runs of an experiment.
pub struct Options<'a> {
    /// Threads: runs at a time, and if there are fewer runs, parts of each.
    pub workers: usize,
    /// Reads a file that a flow names.
    pub files: SharedFiles<'a>,
    /// Called with the progress from time to time; answers whether to go on.
    pub progress: &'a mut (dyn FnMut(Progress) -> bool + Send),
}

/// What samples of disciplines give.
const ROWS_OF_STATES: &str = "rows of states";

/// A scenario read, checked and ready to run. Its copies share what was read.
#[derive(Clone)]
pub struct Experiment {
    known: Arc<Known>,
    keep: Keep,
}

impl Experiment {
    /// Reads and checks a scenario that names no topology's file and no delivery trace, as
    /// [`Self::read_with`] does.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(text: &str, file: &str, sets: &[(String, String)]) -> Result<Self, Problem> {
        Self::read_with(text, file, sets, &|name| Err(format!("{name}: no file is read here")))
    }

    /// Reads and checks a scenario at all points of its axes. `file` is its name for messages,
    /// `sets` are the `--set path=value` of the command line; `files` gives the bytes of a
    /// topology's file or a delivery trace.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read_with(text: &str, file: &str, sets: &[(String, String)], files: Files<'_>) -> Result<Self, Problem> {
        Self::read_own(text, file, sets, files, &OwnParts::default())
    }

    /// As [`Self::read_with`], of a scenario that may name `own` parts.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read_own(
        text: &str,
        file: &str,
        sets: &[(String, String)],
        files: Files<'_>,
        own: &OwnParts,
    ) -> Result<Self, Problem> {
        let mut document = Document::parse_own(text, file, own)?;
        for (path, value) in sets {
            document.set(path, value)?;
        }
        Self::of(document, files)
    }

    /// Checks a scenario that was read at all points of its axes; `files` is as in
    /// [`Self::read_with`].
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn of(document: Document, files: Files<'_>) -> Result<Self, Problem> {
        let (scenario, points) = document.scenario()?;
        let digests = RefCell::new(Vec::new());
        let noted = |name: &str| {
            let bytes = files(name)?;
            digests.borrow_mut().push(Digest::of(&bytes));
            Ok(bytes)
        };
        let mut read = Vec::with_capacity(points.len());
        let mut plans = Vec::with_capacity(points.len());
        let need = need(&document, &points)?;
        let build = if document.may_lack_flows() { build::network } else { build::plan };
        for point in points {
            let at = document.at(&point)?;
            let plan =
                build(&at, &noted, document.topology_reader()).map_err(|fault| document.problem_at(&point, fault))?;
            read.push(digests.take());
            plans.push((point, plan));
        }
        let decided = document.decided(plans.iter().map(|(point, _)| point))?;
        let known = Known { document, scenario, points: plans, read, decided, need };
        Ok(Self { known: Arc::new(known), keep: Keep::default() })
    }

    /// Makes every run take samples at this distance, the rows of `series`; zero for no samples.
    ///
    /// # Errors
    /// If that gives more rows than are kept, or none: the distance is longer than every run.
    pub fn sample_every(&mut self, interval: Time) -> Result<(), Problem> {
        let longest = self.longest_run();
        if interval > longest {
            let message =
                format!("series: {interval} is longer than the run ({longest}); write a shorter time, or auto");
            return Err(self.known.document.problem(Fault::new("", message)));
        }
        self.keep.series = (interval > Time::ZERO).then_some(interval);
        self.few_rows(Series::rows_of, "rows")?;
        if self.keep.states { self.few_rows(States::rows_of, ROWS_OF_STATES) } else { Ok(()) }
    }

    /// Makes every run keep what each discipline counts and has at the end, and at the samples of
    /// [`Self::sample_every`]: the rows of `states`.
    ///
    /// # Errors
    /// If the samples give more rows than are kept.
    pub fn keep_states(&mut self) -> Result<(), Problem> {
        self.keep.states = true;
        self.few_rows(States::rows_of, ROWS_OF_STATES)
    }

    /// A fault if samples give more `rows` than are kept; a run of a plan gives `rows_of` it.
    fn few_rows(&self, rows_of: fn(&Plan, Time) -> u64, rows: &str) -> Result<(), Problem> {
        let Some(interval) = self.keep.series else { return Ok(()) };
        let runs = u64::from(self.known.scenario.measure.replications);
        let of = |plan: &Plan| rows_of(plan, interval).saturating_mul(runs);
        let count = self.plans().iter().map(|(_, plan)| of(plan)).fold(0, u64::saturating_add);
        if count > ROWS_MAX {
            let message = format!(
                "a sample every {interval} gives {count} {rows}, and at most {ROWS_MAX} are kept; write a longer time"
            );
            return Err(self.known.document.problem(Fault::new("", message)));
        }
        Ok(())
    }

    /// The same experiment, each run of which keeps what every flow got in `stretches` equal parts
    /// of it: the rows of `course`.
    #[must_use]
    pub fn in_stretches(&self, stretches: u32) -> Self {
        let keep = Keep { stretches: Some(stretches), ..self.keep.clone() };
        Self { known: Arc::clone(&self.known), keep }
    }

    /// Makes the first run of all keep a trace, with at most `most` records of packets, and with
    /// the samples of [`Self::sample_every`], or else 200 of them.
    pub const fn keep_trace(&mut self, most: usize) {
        self.keep.trace = Some(most);
    }

    /// Makes every run keep each packet of the flow called `name`, or of the copies of an entry of
    /// that name: the rows of `packets`. A packet that is under way at the end has no row.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn trace_flow(&mut self, name: &str) -> Result<(), Problem> {
        if !self.plans().iter().any(|(_, plan)| Packets::has(plan, name)) {
            let names: Vec<&str> = self.scenario().flows.iter().map(|flow| flow.name.as_str()).take(8).collect();
            let message = format!("no flow is called {name}; there are {}", names.join(", "));
            return Err(self.known.document.problem(Fault::new("flows", message)));
        }
        self.keep.packets_of = Some(name.to_owned());
        Ok(())
    }

    /// The scenario as written.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.known.scenario
    }

    /// How long the longest of the runs is.
    #[must_use]
    pub fn longest_run(&self) -> Time {
        self.plans().iter().map(|(_, plan)| plan.warm_up.saturating_add(plan.duration)).max().unwrap_or_default()
    }

    /// The longest round trip of a flow at any point, if all buffers on the way of its data are
    /// full of packets of `packet` bytes.
    #[must_use]
    pub fn longest_round_trip(&self, packet: u64) -> Time {
        let of = |plan: &Plan, flow: &FlowPlan| {
            let line = |line: &u32| &plan.lines[*line as usize];
            let delays = flow.path.forward().iter().chain(flow.path.backward()).map(|number| line(number).delay);
            let waits = flow.path.forward().iter().map(|number| line(number).longest_wait(packet));
            delays.chain(waits).fold(Time::ZERO, Time::saturating_add)
        };
        let of_plan = |plan: &Plan| plan.flows.iter().map(|flow| of(plan, flow)).max();
        self.plans().iter().filter_map(|(_, plan)| of_plan(plan)).max().unwrap_or_default()
    }

    /// About how many bytes all its networks, `workers` runs at a time and all tables need.
    #[must_use]
    pub fn memory_bytes(&self, workers: u64) -> u64 {
        self.known.need.bytes(workers.min(self.plans().len() as u64 * self.seeds().count() as u64))
    }

    /// The plan of each point.
    #[must_use]
    pub fn plans(&self) -> &[(Point, Plan)] {
        &self.known.points
    }

    /// The seed of each replication.
    fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let (seed, replications) = (self.scenario().measure.seed, self.scenario().measure.replications);
        (0..u64::from(replications)).map(move |number| seed.wrapping_add(number))
    }

    /// All runs: each point in its order, with each seed in its order.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let keep = Arc::new(self.keep.clone());
        (0..self.plans().len()).flat_map(move |at| {
            let keep = Arc::clone(&keep);
            let run = move |seed| Run { known: Arc::clone(&self.known), keep: Arc::clone(&keep), at, seed };
            self.seeds().map(run)
        })
    }

    /// The run with this seed at the point of this number, if there is such a point. Any seed will
    /// do, also one of no replication.
    #[must_use]
    pub fn run_at(&self, point: usize, seed: u64) -> Option<Run> {
        let run = || Run { known: Arc::clone(&self.known), keep: Arc::new(self.keep.clone()), at: point, seed };
        (point < self.plans().len()).then(run)
    }

    /// The scenario as it was written.
    pub fn document(&self) -> &Document {
        &self.known.document
    }

    /// What the tables of all runs, in the order of [`Self::runs`], say together.
    ///
    /// # Errors
    /// If there are not as many tables as runs.
    pub fn collect(&self, tables: impl IntoIterator<Item = Tables>) -> Result<Outcome, String> {
        let tables: Vec<Option<Tables>> = tables.into_iter().map(Some).collect();
        match tables.len().cmp(&(self.plans().len() * self.seeds().count())) {
            Ordering::Less => Err("there are fewer tables than runs".to_owned()),
            Ordering::Greater => Err("there are more tables than runs".to_owned()),
            Ordering::Equal => Ok(self.together(tables)),
        }
    }

    /// What the tables of all runs that have some say together; a point without any is left out.
    fn together(&self, tables: Vec<Option<Tables>>) -> Outcome {
        let mut tables = tables.into_iter();
        let mut points = Vec::with_capacity(self.plans().len());
        let mut plans = Vec::with_capacity(self.plans().len());
        for (point, plan) in self.plans() {
            let ended = self.seeds().zip(tables.by_ref()).filter_map(|(seed, tables)| Some((seed, tables?)));
            let (seeds, runs): (Vec<u64>, Vec<Tables>) = ended.unzip();
            if !runs.is_empty() {
                points.push(AtPoint::new(point.clone(), seeds, runs));
                plans.push(plan);
            }
        }
        let document = &self.known.document;
        let names_window = |point: &Point, entry| document.names_window(point, entry);
        let found = notes::of(self.scenario(), plans.into_iter(), &points, &names_window);
        let of_trace = notes::of_trace(&points);
        Outcome {
            notes: notes::of_edition(&self.known.decided).into_iter().chain(found).chain(of_trace).collect(),
            points,
            scenario: self.scenario().clone(),
            run_info: Map::new(),
        }
    }

    /// Runs everything and returns the document of [`Self::outcome`] as a tree, which takes more
    /// room than a large result.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads, or that the progress was not to go on.
    pub fn run(&self, options: Options<'_>) -> Result<Value, Stopped> {
        self.outcome(options).map(|outcome| outcome.document())
    }

    /// Runs everything: for each point the tables of each seed and their means, and what a machine
    /// contributes.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads, or that the progress was not to go on.
    pub fn outcome(&self, options: Options<'_>) -> Result<Outcome, Stopped> {
        let runs: Vec<Run> = self.runs().collect();
        let workers = options.workers.clamp(1, runs.len());
        let threads = if cfg!(feature = "threads") { options.workers / workers } else { 1 };
        let first_of = |at: usize| &runs[at * runs.len() / self.plans().len()];
        let parts: Vec<Parts> = (0..self.plans().len()).map(|at| Parts::of(first_of(at), threads)).collect();
        let (tables, packet_hops) = execute(&runs, &parts, workers, options)?;
        let complete = tables.iter().flatten().count();
        if complete == 0 {
            return Err(Stopped::Interrupted(None));
        }
        let mut outcome = self.together(tables);
        let mut run_info =
            json!({ "version": env!("CARGO_PKG_VERSION"), "workers": workers, "packet_hops": packet_hops });
        Parts::tell(&parts, threads, &mut run_info);
        if complete < runs.len() {
            run_info["runs"] = runs.len().into();
            run_info["runs_complete"] = complete.into();
        }
        outcome.run_info = run_info.as_object().cloned().unwrap_or_default();
        if complete < runs.len() { Err(Stopped::Interrupted(Some(Box::new(outcome)))) } else { Ok(outcome) }
    }
}

/// The memory that all points need; a fault if it is bounded, and they need more.
fn need(document: &Document, points: &[Point]) -> Result<Need, Problem> {
    let mut need = Need::default();
    let Some(first) = points.first() else { return Ok(need) };
    let first = document.at(first)?;
    let (count, replications) = (points.len() as u64, u64::from(first.measure.replications));
    let bound = document.memory_bound().unwrap_or(u64::MAX);
    need.add(Size::of(&first), count, replications);
    // Reading a point takes time: of small ones the first speaks for all.
    let varies = |point: &Point| point.overrides.iter().any(|set| set.path.contains("count"));
    if count > 1 && (need.bytes(1) > bound / 16 || points.iter().any(varies)) {
        need = Need::default();
        for point in points {
            need.add(Size::of(&document.at(point)?), 1, replications);
        }
    }
    if need.bytes(1) > bound {
        let (flows, at) =
            (Size::of(&first).flows, if count > 1 { format!(" at {count} points") } else { String::new() });
        let message = format!(
            "about {flows} flows{at} need about {} of memory, and {} are there; write a smaller count, or fewer points",
            memory::shown(need.bytes(1)),
            memory::shown(bound)
        );
        return Err(document.problem(Fault::new("flows", message)));
    }
    Ok(need)
}

/// The parts into which the runs of a point are divided.
struct Parts {
    /// The parts for several threads, or why a run is not divided among them.
    split: Result<Partition, &'static str>,
    /// The regions in which one thread works.
    regions: Option<Partition>,
}

impl Parts {
    fn of(run: &Run, threads: usize) -> Self {
        Self { split: run.split(threads), regions: run.regions() }
    }

    /// Notes how many parts each run has, if there were `threads` for several, and why not more.
    fn tell(all: &[Self], threads: usize, run_info: &mut Value) {
        if threads > 1 {
            let parts = all.iter().map(|parts| parts.split.as_ref().map_or(1, |partition| partition.parts));
            run_info["parts"] = parts.max().into();
            if let Some(why) = all.iter().find_map(|parts| parts.split.as_ref().err()) {
                run_info["whole"] = (*why).into();
            }
        }
    }
}

/// The tables of all runs, none of those that were stopped, and their packet-hops.
fn execute(runs: &[Run], parts: &[Parts], workers: usize, options: Options<'_>) -> Result<Executed, Problem> {
    #[cfg(feature = "threads")]
    if workers > 1 || parts.iter().any(|parts| parts.split.is_ok()) {
        return execute_on_threads(runs, parts, workers, options);
    }
    let _ = workers;
    let costs = Costs::new(runs);
    let progress = Mutex::new(options.progress);
    let mut all = Vec::with_capacity(runs.len());
    for (number, run) in runs.iter().enumerate() {
        let goes_on = || {
            let is_due = costs.is_due(costs.steps());
            if is_due && progress.lock().is_ok_and(|mut progress| !progress(costs.progress())) {
                costs.stop();
            }
            costs.goes_on()
        };
        let on_step = |step| {
            costs.note(number, step);
            goes_on()
        };
        let parts = &parts[run.point_number()];
        let (tables, packet_hops) = match run.execute(None, parts.regions.as_ref(), options.files, &on_step) {
            Ok(ended) => ended,
            Err(Ended::Stopped) => break,
            Err(Ended::Problem(problem)) => return Err(problem),
        };
        costs.finish(number, packet_hops);
        all.push(Some(tables));
        // A short run takes no step.
        if !goes_on() {
            break;
        }
    }
    all.resize(runs.len(), None);
    Ok((all, costs.packet_hops()))
}

/// The tables of each run, if it has come to its end, and the packet-hops of all.
type Executed = (Vec<Option<Tables>>, u64);

/// Workers take the next run each; tables go where the run's number says, so that their order tells
/// nothing.
#[cfg(feature = "threads")]
fn execute_on_threads(
    runs: &[Run],
    parts: &[Parts],
    workers: usize,
    options: Options<'_>,
) -> Result<Executed, Problem> {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    let costs = Costs::new(runs);
    let next = AtomicUsize::new(0);
    let work = |send: Sender<Worked>| {
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(run) = runs.get(number) else { break };
            let Parts { split, regions } = &parts[run.point_number()];
            let on_step = |step| {
                costs.note(number, step);
                costs.goes_on()
            };
            let ended = run.execute(split.as_ref().ok(), regions.as_ref(), options.files, &on_step);
            if send.send((number, ended)).is_err() || !costs.goes_on() {
                break;
            }
        }
    };
    let all = std::thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        for _ in 0..workers {
            let (send, work) = (send.clone(), &work);
            scope.spawn(move || work(send));
        }
        drop(send);
        gather(&receive, runs.len(), &costs, options.progress)
    })?;
    Ok((all, costs.packet_hops()))
}

/// What a worker sends: a run's number, and its tables and packet-hops.
#[cfg(feature = "threads")]
type Worked = (usize, Result<(Tables, u64), Ended>);

/// Receives the tables of `runs` runs, until all workers have ended. The problem is that of the
/// first run of several with one, whichever worker was faster.
#[cfg(feature = "threads")]
fn gather(
    receive: &Receiver<Worked>,
    runs: usize,
    costs: &Costs,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Option<Tables>>, Problem> {
    let mut all: Vec<Option<Tables>> = vec![None; runs];
    let mut first_problem: Option<(usize, Problem)> = None;
    let mut finished = 0;
    loop {
        // Short runs leave no time between them in which nothing is received.
        let is_due = match receive.recv_timeout(std::time::Duration::from_millis(100)) {
            Ok((number, Ok((tables, packet_hops)))) => {
                costs.finish(number, packet_hops);
                all[number] = Some(tables);
                finished += 1;
                costs.is_due(finished)
            }
            Ok((_, Err(Ended::Stopped))) => false,
            Ok((number, Err(Ended::Problem(problem)))) => {
                if first_problem.as_ref().is_none_or(|(other, _)| number < *other) {
                    first_problem = Some((number, problem));
                }
                costs.stop();
                false
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if is_due && !progress(costs.progress()) {
            costs.stop();
        }
    }
    first_problem.map_or(Ok(all), |(_, problem)| Err(problem))
}
