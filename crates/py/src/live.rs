//! A run that Python holds. Times come in as text with a unit or as seconds, events leave as
//! tuples.

use crate::arrow::Table;
use crate::errors::{self, UsageError};
use crate::experiments::{Outcome, no_table};
use crate::{read, read_file};
use fairq_experiment::live::{self, Happening, Progress, Tape, Watcher};
use fairq_sched::units::{PS_PER_S, Time, UnitError};
use fairq_text::Fault;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Steps between two looks at signals: some milliseconds.
const STEPS: u64 = 20_000;

struct Held {
    run: live::Live,
    /// What records, by its number.
    tapes: Vec<Option<(Watcher, Tape)>>,
}

/// A run in progress: `name` is the file name of the scenario, for messages and for the files that
/// it names; `links` are held, or all of them.
#[pyclass(frozen)]
pub(crate) struct LiveRun(Mutex<Held>);

/// What a step was of: the kind, the name of the link or flow, and the direction of the link.
type Step = (&'static str, Option<String>, Option<&'static str>);

/// Time, event, link, direction, flow, packet, sequence, bytes, reason, value; then of a decision
/// what decides, its value, the clock, the queue and how many could be chosen.
type Event = (
    f64,
    &'static str,
    Option<String>,
    Option<&'static str>,
    Option<String>,
    Option<u32>,
    Option<u64>,
    Option<u32>,
    (Option<&'static str>, Option<f64>),
    Option<(&'static str, Option<f64>, Option<f64>, u32, Option<u32>)>,
);

fn event(of: &Happening) -> Event {
    let decision = of.decision.map(|it| (it.by, it.value, it.clock, it.queue, it.eligible));
    (
        of.at.as_s(),
        of.event,
        of.link.as_deref().map(str::to_owned),
        of.direction,
        of.flow.as_deref().map(str::to_owned),
        of.packet,
        of.sequence,
        of.bytes,
        (of.reason, of.value),
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
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl LiveRun {
    #[new]
    #[pyo3(signature = (text, name, sets, seed, links=None))]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        sets: Vec<(String, String)>,
        seed: u64,
        links: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let experiment = read(&text, &name, &sets)?;
        let files = Arc::new(move |file: &str| read_file(&name, file));
        let run = py.detach(|| live::Live::new(experiment, seed, files, links.as_deref())).map_err(errors::scenario)?;
        Ok(Self(Mutex::new(Held { run, tapes: Vec::new() })))
    }

    /// The present time in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.held().run.run().now().as_s()
    }

    /// When the run ends, in seconds.
    #[getter]
    fn end(&self) -> f64 {
        self.held().run.run().end().as_s()
    }

    /// When the next event is, in seconds.
    #[getter]
    fn next_time(&self) -> Option<f64> {
        self.held().run.run().next_time().map(Time::as_s)
    }

    /// How many events have been.
    #[getter]
    fn steps(&self) -> u64 {
        self.held().run.run().steps()
    }

    /// The digest of all events and changes so far: 16 hexadecimal digits.
    #[getter]
    fn digest(&self) -> String {
        format!("{:016x}", self.held().run.run().digest().0)
    }

    /// Runs the next event.
    fn step(&self) -> Option<Step> {
        self.held().run.step()
    }

    /// Runs to a time, or a part of the way: whether it is reached.
    fn run_some(&self, py: Python<'_>, until: When) -> PyResult<bool> {
        let until = until.time()?;
        Ok(py.detach(|| self.held().run.run_some(until, STEPS)) == Progress::Reached)
    }

    /// Runs on or back to the end of a step.
    fn run_steps(&self, py: Python<'_>, to: u64) -> PyResult<()> {
        py.detach(|| self.held().run.run_steps(to)).map_err(UsageError::new_err)
    }

    /// Makes the change that an entry of `[[changes]]` says, JSON text.
    fn change(&self, entry: &str) -> PyResult<()> {
        let entry: Map<String, Value> =
            serde_json::from_str(entry).map_err(|error| UsageError::new_err(error.to_string()))?;
        self.held().run.change(entry).map_err(refused)
    }

    /// Gives a field of a link or a flow another value.
    fn set(&self, path: &str, value: &str) -> PyResult<()> {
        self.held().run.set(path, value).map_err(refused)
    }

    /// Packets of a flow come to a link's queue.
    fn offer(&self, link: &str, reverse: bool, flow: &str, bytes: u32, count: u32) -> PyResult<()> {
        self.held().run.offer(link, reverse, (flow, bytes), count).map_err(refused)
    }

    /// A packet that waits is dropped.
    fn drop_packet(&self, packet: u32) -> PyResult<()> {
        self.held().run.drop_packet(packet).map_err(refused)
    }

    /// A packet that waits is marked.
    fn mark_packet(&self, packet: u32) -> PyResult<()> {
        self.held().run.mark_packet(packet).map_err(refused)
    }

    /// A packet that waits comes to the queue again at `until`.
    fn hold_packet(&self, packet: u32, until: When) -> PyResult<()> {
        self.held().run.hold_packet(packet, until.time()?).map_err(refused)
    }

    /// Records events from now on; the number of the tape.
    #[pyo3(signature = (links=None, flows=None, of=None))]
    fn watch(
        &self,
        links: Option<Vec<String>>,
        flows: Option<Vec<String>>,
        of: Option<Vec<String>>,
    ) -> PyResult<usize> {
        let mut held = self.held();
        let made = held.run.watch(links.as_deref(), flows.as_deref(), of.as_deref()).map_err(refused)?;
        held.tapes.push(Some(made));
        Ok(held.tapes.len() - 1)
    }

    /// Runs to a time, to the step in which a tape records something, or a part of the way: whether
    /// the time is reached.
    fn run_until_event(&self, py: Python<'_>, tape: usize, until: When) -> PyResult<bool> {
        let until = until.time()?;
        Ok(py.detach(|| {
            let mut held = self.held();
            let Some(Some((_, tape))) = held.tapes.get(tape).cloned() else { return true };
            held.run.run_until_event(&tape, until, STEPS) == Progress::Reached
        }))
    }

    /// Takes the events of a tape that were recorded since the last call.
    fn take(&self, tape: usize) -> Vec<Event> {
        let held = self.held();
        let Some(Some((_, tape))) = held.tapes.get(tape) else { return Vec::new() };
        tape.take().iter().map(event).collect()
    }

    /// Records no more.
    fn unwatch(&self, tape: usize) {
        let mut held = self.held();
        if let Some((watcher, _)) = held.tapes.get_mut(tape).and_then(Option::take) {
            held.run.unwatch(watcher);
        }
    }

    /// The table called `name` as it is now.
    fn look(&self, name: &str) -> PyResult<Table> {
        self.held().run.look(name).ok_or_else(|| no_table(name)).and_then(Table::new)
    }

    /// What the run gave, which has come to its end.
    fn outcome(&self) -> PyResult<Outcome> {
        self.held().run.outcome().map(Outcome::new).map_err(UsageError::new_err)
    }
}
