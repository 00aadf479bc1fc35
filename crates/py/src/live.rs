//! A run that Python holds. Times come in as text with a unit or as seconds, events leave as
//! tuples.

use crate::arrow::Table;
use crate::errors::{self, UsageError};
use crate::experiments::{Outcome, no_table};
use crate::own::{Own, guarded};
use crate::{read, read_file};
use fairq_experiment::live::passing::Passing;
use fairq_experiment::live::{self, Happening, Progress, Tape, Watcher};
use fairq_sched::units::{PS_PER_S, Time, UnitError};
use fairq_text::Fault;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// Steps between two looks at signals: some milliseconds.
const STEPS: u64 = 20_000;

struct Held {
    run: live::Live,
    /// The record of a line, if there is one.
    passing: Option<Passing>,
    /// What records, by its number.
    tapes: Vec<Option<(Watcher, Tape)>>,
}

/// A run in progress: `name` is the file name of the scenario, for messages and for the files that
/// it names; `links` are held, or all of them.
#[pyclass(frozen)]
pub(crate) struct LiveRun {
    held: Mutex<Held>,
    own: Arc<Own>,
}

/// What a step was of: the kind, the name of the link or flow, and the direction of the link.
type Step = (&'static str, Option<String>, Option<&'static str>);

/// Time, event, link, direction, flow, packet, sequence, bytes, reason, value; then of a decision
/// what decides, its value, the clock, the queue, how many could be chosen, and the step.
type Event = (
    f64,
    &'static str,
    Option<String>,
    Option<&'static str>,
    Option<String>,
    Option<u32>,
    Option<u64>,
    Option<u32>,
    Option<&'static str>,
    Option<f64>,
    Option<(&'static str, Option<f64>, Option<f64>, u32, Option<u32>, Option<u8>)>,
);

fn event(of: &Happening) -> Event {
    let decision = of.decision.map(|it| (it.by, it.value, it.clock, it.queue, it.eligible, it.step));
    (
        of.at.as_s(),
        of.event,
        of.link.as_deref().map(str::to_owned),
        of.direction,
        of.flow.as_deref().map(str::to_owned),
        of.packet,
        of.sequence,
        of.bytes,
        of.reason,
        of.value,
        decision,
    )
}

/// The exception for what cannot be done by hand.
#[allow(clippy::needless_pass_by_value, reason = "as map_err gives it")]
fn refused(fault: Fault) -> PyErr {
    let place = if fault.path.is_empty() { String::new() } else { format!("{}: ", fault.path) };
    UsageError::new_err(format!("{place}{}", fault.message))
}

/// A time as text with a unit, or a number of seconds.
#[derive(FromPyObject)]
enum When {
    Seconds(f64),
    Text(String),
}

impl When {
    fn time(&self) -> PyResult<Time> {
        match self {
            Self::Seconds(seconds) if seconds.is_finite() && *seconds >= 0.0 => {
                Ok(Time((seconds * PS_PER_S as f64).round() as u64))
            }
            Self::Seconds(seconds) => Err(UsageError::new_err(format!("{seconds}: a time is at least 0 s"))),
            Self::Text(text) => text.parse().map_err(|error: UnitError| UsageError::new_err(error.to_string())),
        }
    }
}

impl LiveRun {
    fn held(&self) -> PyResult<MutexGuard<'_, Held>> {
        let message = match self.held.try_lock() {
            Ok(held) => return Ok(held),
            Err(TryLockError::Poisoned(_)) => "an own part has raised in this run; begin another run",
            Err(TryLockError::WouldBlock) => {
                "the run is in the middle of a step; call it from one thread, and not from a part"
            }
        };
        Err(UsageError::new_err(message))
    }

    /// What `work` on the run gives, without the interpreter's lock where no own part needs it.
    fn work<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Held) -> PyResult<T> + Send) -> PyResult<T> {
        let work = || work(&mut *self.held()?);
        if self.own.is_empty() { py.detach(work) } else { guarded(work) }
    }
}

#[pymethods]
impl LiveRun {
    #[new]
    #[pyo3(signature = (text, name, sets, seed, links=None, own=None))]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        sets: Vec<(String, String)>,
        seed: u64,
        links: Option<Vec<String>>,
        own: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let own = Own::of(py, own)?;
        let experiment = read(&text, &name, &sets, &own)?;
        let files = Arc::new(move |file: &str| read_file(&name, file));
        let run = guarded(|| live::Live::new(experiment, seed, files, links.as_deref()).map_err(errors::scenario))?;
        Ok(Self { held: Mutex::new(Held { run, passing: None, tapes: Vec::new() }), own })
    }

    /// The present time in seconds.
    #[getter]
    fn now(&self) -> PyResult<f64> {
        Ok(self.held()?.run.run().now().as_s())
    }

    /// When the run ends, in seconds.
    #[getter]
    fn end(&self) -> PyResult<f64> {
        Ok(self.held()?.run.run().end().as_s())
    }

    /// When the next event is, in seconds.
    #[getter]
    fn next_time(&self) -> PyResult<Option<f64>> {
        Ok(self.held()?.run.run().next_time().map(Time::as_s))
    }

    /// How many events have been.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.held()?.run.run().steps())
    }

    /// The digest of all events and changes so far: 16 hexadecimal digits.
    #[getter]
    fn digest(&self) -> PyResult<String> {
        Ok(format!("{:016x}", self.held()?.run.run().digest().0))
    }

    /// Runs the next event.
    fn step(&self, py: Python<'_>) -> PyResult<Option<Step>> {
        self.work(py, |held| Ok(held.run.step()))
    }

    /// Runs to a time, or a part of the way: whether it is reached.
    fn run_some(&self, py: Python<'_>, until: When) -> PyResult<bool> {
        let until = until.time()?;
        self.work(py, |held| Ok(held.run.run_some(until, STEPS) == Progress::Reached))
    }

    /// Runs on or back to the end of a step.
    fn run_steps(&self, py: Python<'_>, to: u64) -> PyResult<()> {
        self.work(py, |held| held.run.run_steps(to).map_err(UsageError::new_err))
    }

    /// Makes the change that an entry of `[[changes]]` says, JSON text.
    fn change(&self, py: Python<'_>, entry: &str) -> PyResult<()> {
        let entry: Map<String, Value> =
            serde_json::from_str(entry).map_err(|error| UsageError::new_err(error.to_string()))?;
        self.work(py, |held| held.run.change(entry).map_err(refused))
    }

    /// Gives a field of a link or a flow another value.
    fn set(&self, py: Python<'_>, path: &str, value: &str) -> PyResult<()> {
        self.work(py, |held| held.run.set(path, value).map_err(refused))
    }

    /// Packets of a flow come to a link's queue.
    fn offer(&self, py: Python<'_>, link: &str, reverse: bool, flow: &str, bytes: u32, count: u32) -> PyResult<()> {
        self.work(py, |held| held.run.offer(link, reverse, (flow, bytes), count).map_err(refused))
    }

    /// A packet that waits is dropped.
    fn drop_packet(&self, py: Python<'_>, packet: u32) -> PyResult<()> {
        self.work(py, |held| held.run.drop_packet(packet).map_err(refused))
    }

    /// A packet that waits is marked.
    fn mark_packet(&self, py: Python<'_>, packet: u32) -> PyResult<()> {
        self.work(py, |held| held.run.mark_packet(packet).map_err(refused))
    }

    /// A packet that waits comes to the queue again at `until`.
    fn hold_packet(&self, py: Python<'_>, packet: u32, until: When) -> PyResult<()> {
        let until = until.time()?;
        self.work(py, |held| held.run.hold_packet(packet, until).map_err(refused))
    }

    /// Records events from now on; the number of the tape.
    #[pyo3(signature = (links=None, flows=None, of=None))]
    fn watch(
        &self,
        links: Option<Vec<String>>,
        flows: Option<Vec<String>>,
        of: Option<Vec<String>>,
    ) -> PyResult<usize> {
        let mut held = self.held()?;
        let made = held.run.watch(links.as_deref(), flows.as_deref(), of.as_deref()).map_err(refused)?;
        held.tapes.push(Some(made));
        Ok(held.tapes.len() - 1)
    }

    /// Runs to a time, to the step in which a tape records something, or a part of the way: whether
    /// the time is reached.
    fn run_until_event(&self, py: Python<'_>, tape: usize, until: When) -> PyResult<bool> {
        let until = until.time()?;
        self.work(py, |held| {
            let Some(Some((_, tape))) = held.tapes.get(tape).cloned() else { return Ok(true) };
            Ok(held.run.run_until_event(&tape, until, STEPS) == Progress::Reached)
        })
    }

    /// Takes the events of a tape that were recorded since the last call.
    fn take(&self, tape: usize) -> PyResult<Vec<Event>> {
        let held = self.held()?;
        let Some(Some((_, tape))) = held.tapes.get(tape) else { return Ok(Vec::new()) };
        Ok(tape.take().iter().map(event).collect())
    }

    /// Records no more.
    fn unwatch(&self, tape: usize) {
        // After a part has raised there is nothing to record.
        let Ok(mut held) = self.held() else { return };
        if let Some((watcher, _)) = held.tapes.get_mut(tape).and_then(Option::take) {
            held.run.unwatch(watcher);
        }
    }

    /// Records what passes a line from now on; the last `keep` packets are kept.
    fn record(&self, link: Option<&str>, reverse: bool, keep: usize) -> PyResult<()> {
        let mut held = self.held()?;
        held.passing = Some(held.run.record(link, reverse, keep).map_err(refused)?);
        Ok(())
    }

    /// What the record has of a stretch of time: at most `most` packets, what the fluid had served,
    /// and whether there are more packets.
    fn recorded(&self, py: Python<'_>, begin: When, end: When, most: usize) -> PyResult<(Table, Table, bool)> {
        let between = [begin.time()?, end.time()?];
        let timeline = self.work(py, |held| {
            let passing =
                held.passing.as_ref().ok_or_else(|| UsageError::new_err("nothing is recorded in this run"))?;
            Ok(held.run.timeline(passing, between, most))
        })?;
        Ok((Table::new(timeline.packets)?, Table::new(timeline.fluid)?, timeline.has_more))
    }

    /// The table called `name` as it is now.
    fn look(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        self.work(py, |held| held.run.look(name).ok_or_else(|| no_table(name))).and_then(Table::new)
    }

    /// What the run gave, which has come to its end.
    fn outcome(&self, py: Python<'_>) -> PyResult<Outcome> {
        self.work(py, |held| held.run.outcome().map(Outcome::new).map_err(UsageError::new_err))
    }
}
