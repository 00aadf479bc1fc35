//! A run that one holds: taken event by event, looked at, changed, and taken back.
//!
//! Taking back is running again: from the seed, with the same changes, up to an earlier step.
//! Nothing is stored for it, and nothing can be forgotten. Every line that is held tells of each
//! end of a transmission and may change, so that steps have the same numbers with any observers.
//! Lines that are not held keep their shortcuts: what happens there is told as it suits.

use crate::changes::Intervention;
use crate::observe::{Event, Observer};
use crate::plan::Plan;
use crate::run::Simulation;
pub use crate::run::changes::Happened;
use fairq_sched::change::Unsupported;
use fairq_sched::units::Time;
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes of a file that a flow reads, by its name in the scenario; asked again at each run.
pub type OwnFiles = Arc<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// Why a plan cannot run: what is wrong with a file that the flow of this number reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFault {
    /// The flow's number.
    pub flow: usize,
    /// What is wrong.
    pub message: String,
}

/// A change that was made by hand.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// After how many steps.
    pub step: u64,
    /// When.
    pub at: Time,
    /// What.
    pub change: Intervention,
}

/// What "the same run" means: a number of all events and changes so far, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub u64);

impl Digest {
    const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// With `bytes` behind what it is of. Source: FNV-1a with 64 bits, RFC 9923, section 2.
    fn add(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The name of an observer that watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watcher(u32);

/// Which events an observer is told of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Those of these lines, and of flows as a whole; `None`: of all.
    pub lines: Option<Vec<u32>>,
    /// Those of packets of these flows; `None`: of all.
    pub flows: Option<Vec<u32>>,
}

impl Scope {
    fn has(&self, event: &Event<'_>) -> bool {
        let (line, flow) = event.of();
        let is_among = |of: &Option<Vec<u32>>, number: Option<u32>| match (of, number) {
            (Some(of), Some(number)) => of.contains(&number),
            _ => true,
        };
        is_among(&self.lines, line) && is_among(&self.flows, flow)
    }
}

/// The observers of a run, each with its name and what it is told of.
type Watching = Arc<Mutex<Vec<(Watcher, Scope, Box<dyn Observer>)>>>;

/// Tells the observers.
struct Teller(Watching);

impl Observer for Teller {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        for (_, scope, observer) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if scope.has(event) {
                observer.event(now, event);
            }
        }
    }

    fn end(&mut self, now: Time) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().for_each(|(.., observer)| observer.end(now));
    }
}

/// How far [`LiveRun::run_some`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// To the time that was asked for.
    Reached,
    /// It has run this many steps so far, and there are more.
    Paused {
        /// Of the whole run.
        steps: u64,
    },
}

/// A run in progress, in the hands of its owner.
pub struct LiveRun {
    plan: Plan,
    seed: u64,
    files: OwnFiles,
    simulation: Simulation,
    steps: u64,
    digest: Digest,
    made: Vec<Made>,
    watching: Watching,
    watchers: u32,
    /// Whether counting has begun anew at the end of the warm-up.
    is_warm: bool,
}

impl LiveRun {
    /// A run of `plan` with `seed`, at time zero. `lines` are held; `None`: all are.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads.
    pub fn new(plan: &Plan, seed: u64, files: OwnFiles, lines: Option<&[u32]>) -> Result<Self, PlanFault> {
        let is_held = |line| lines.is_none_or(|lines| lines.contains(&line));
        let is_held = (0..plan.lines.len() as u32).map(is_held).collect();
        let plan = Plan { is_held, ..plan.clone() };
        let simulation = Self::begun(&plan, seed, &files)?;
        let mut this = Self {
            plan,
            seed,
            files,
            simulation,
            steps: 0,
            digest: Digest::EMPTY,
            made: Vec::new(),
            watching: Watching::default(),
            watchers: 0,
            is_warm: false,
        };
        this.begin();
        Ok(this)
    }

    fn begun(plan: &Plan, seed: u64, files: &OwnFiles) -> Result<Simulation, PlanFault> {
        Simulation::new(plan, seed, &**files).map_err(|(flow, message)| PlanFault { flow, message })
    }

    /// Nothing has happened yet.
    fn begin(&mut self) {
        self.simulation.network.hold();
        self.simulation.observe_on(&self.plan.is_held, Box::new(Teller(Arc::clone(&self.watching))));
        // Without a warm-up all counts, from the first event on.
        (self.steps, self.digest, self.is_warm) = (0, Digest::EMPTY, self.plan.warm_up == Time::ZERO);
    }

    /// The plan, as it was before all changes.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// When the run ends.
    #[must_use]
    pub const fn end(&self) -> Time {
        self.plan.warm_up.saturating_add(self.plan.duration)
    }

    /// Whether the counts are those since the end of the warm-up, and no longer since the start.
    #[must_use]
    pub const fn is_warm(&self) -> bool {
        self.is_warm
    }

    /// The time of the last event, or that to which it was run.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.simulation.now()
    }

    /// When the next event is; `None` if there is none before the run ends.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        Some(self.simulation.next_time()).filter(|time| *time <= self.end())
    }

    /// How many events have been.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// The changes that were made by hand, in their order.
    #[must_use]
    pub fn made(&self) -> &[Made] {
        &self.made
    }

    /// The digest of all events and changes by hand so far.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Runs the next event and says of what it was; `None` if there is none before the run ends.
    pub fn step(&mut self) -> Option<Happened> {
        self.step_until(self.end())
    }

    fn step_until(&mut self, end: Time) -> Option<Happened> {
        self.warm_until(end.min(self.simulation.next_time()));
        let happened = self.simulation.step_and_say(end)?;
        self.steps += 1;
        self.digest.add(self.simulation.now().0.to_le_bytes());
        self.digest.add(format!("{happened:?}").into_bytes());
        Some(happened)
    }

    /// Begins to count anew if the warm-up ends before `time`, and all that belongs to it has
    /// happened.
    fn warm_until(&mut self, time: Time) {
        if !self.is_warm && time > self.plan.warm_up {
            self.pass(self.plan.warm_up);
        }
    }

    /// Nothing more happens up to `time`.
    fn pass(&mut self, time: Time) {
        if self.now() < time {
            self.simulation.pass(time);
        }
        if !self.is_warm && time >= self.plan.warm_up {
            self.is_warm = true;
            self.simulation.clear_counts();
        }
    }

    /// Runs all that happens up to `time` or the end of the run, that included. Does nothing if
    /// that is past.
    pub fn run_to(&mut self, time: Time) {
        while self.run_some(time, u64::MAX) != Progress::Reached {}
    }

    /// The same, but no more than `most` steps at a time: for a bar, or a key that stops it.
    pub fn run_some(&mut self, time: Time, most: u64) -> Progress {
        let time = time.min(self.end());
        for _ in 0..most {
            if self.step_until(time).is_none() {
                self.warm_until(time);
                self.pass(time);
                return Progress::Reached;
            }
        }
        Progress::Paused { steps: self.steps }
    }

    /// Runs to the end of step `to`, or takes the run back to it: then the changes that were made
    /// by hand since are undone and forgotten. Observers are told again of what happens again.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads, if it has changed since.
    pub fn run_steps(&mut self, to: u64) -> Result<(), PlanFault> {
        if to < self.steps {
            self.take_back(to)?;
        }
        while self.steps < to && self.step().is_some() {}
        Ok(())
    }

    /// Begins again, with the changes that were made before the end of step `to`.
    fn take_back(&mut self, to: u64) -> Result<(), PlanFault> {
        self.simulation = Self::begun(&self.plan, self.seed, &self.files)?;
        self.begin();
        let made = std::mem::take(&mut self.made);
        for Made { step, at, change } in made.into_iter().filter(|made| made.step < to) {
            while self.steps < step && self.step().is_some() {}
            if self.now() < at {
                self.warm_until(at);
                self.pass(at);
            }
            self.change(change).unwrap_or_else(|fault| unreachable!("it was made before: {fault}"));
        }
        Ok(())
    }

    /// Changes a line or packets there now, after all that has happened.
    ///
    /// # Errors
    /// If the line is not held, or it or its discipline cannot; nothing has changed then.
    pub fn change(&mut self, change: Intervention) -> Result<(), Unsupported> {
        if !self.plan.is_held[change.line as usize] {
            return Err(Unsupported("the line is not held in this run; name it when the run begins"));
        }
        self.simulation.change_now(self.plan.built(&change, self.seed))?;
        self.digest.add(format!("{change:?}").into_bytes());
        self.made.push(Made { step: self.steps, at: self.now(), change });
        Ok(())
    }

    /// Tells `observer` from now on of what `scope` says.
    pub fn watch(&mut self, scope: Scope, observer: Box<dyn Observer>) -> Watcher {
        let watcher = Watcher(self.watchers);
        self.watchers += 1;
        self.watching.lock().unwrap_or_else(PoisonError::into_inner).push((watcher, scope, observer));
        watcher
    }

    /// Tells the observer no more, and gives it back; `None` if it was given back before.
    pub fn unwatch(&mut self, watcher: Watcher) -> Option<Box<dyn Observer>> {
        let mut watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
        let at = watching.iter().position(|(of, ..)| *of == watcher)?;
        Some(watching.remove(at).2)
    }

    /// The run as it is now. Counts are exact as of the last [`LiveRun::look`].
    #[must_use]
    pub const fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The run as it is now, with its counts exact.
    pub fn look(&mut self) -> &Simulation {
        self.simulation.settle();
        &self.simulation
    }
}
