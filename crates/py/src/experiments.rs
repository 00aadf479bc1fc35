//! Experiments, their runs and what they give, as Python holds them.

use crate::arrow::Table;
use crate::errors::{self, FairqError, UsageError};
use crate::own::{Own, guarded};
use crate::progress::{Progress, heard, heard_or};
use crate::{read, read_file, speed};
use fairq_experiment::digest::RESULTS_VERSION;
use fairq_experiment::experiment::{self, Options, Stopped};
use fairq_experiment::results::trace::RECORDS_MAX;
use fairq_experiment::results::{self, document};
use fairq_experiment::run as runs;
use fairq_sched::units::{Time, UnitError};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What an experiment was read from, from which another process reads it again.
#[derive(Clone)]
struct Source {
    text: String,
    name: String,
    sets: Vec<(String, String)>,
    series: Option<String>,
    packets: Option<String>,
    states: bool,
    own: Arc<Own>,
}

/// A scenario read, checked and ready to run: `name` is its file name, for messages and for the
/// files it names. With `series`, a time like "1 s", every run takes samples at that distance;
/// "auto" gives 200. With `packets`, a flow's name, every run keeps each packet of it; with
/// `states` what disciplines show at the end and at the samples. With `trace` the first run of an
/// outcome keeps a trace, and a run that was pickled none.
#[pyclass(frozen)]
pub(crate) struct Experiment {
    experiment: experiment::Experiment,
    source: Arc<Source>,
}

#[pymethods]
impl Experiment {
    #[new]
    #[pyo3(signature = (text, name, sets, series=None, packets=None, states=false, trace=false, own=None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        sets: Vec<(String, String)>,
        series: Option<String>,
        packets: Option<String>,
        states: bool,
        trace: bool,
        own: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let own = Own::of(py, own)?;
        let source = Arc::new(Source { text, name, sets, series, packets, states, own });
        let reading = Arc::clone(&source);
        let mut experiment = heard(py, move || reading.read())??;
        if trace {
            experiment.keep_trace(RECORDS_MAX);
        }
        Ok(Self { experiment, source })
    }

    /// The runs: each point of the axes with each seed.
    fn runs(&self) -> Vec<Run> {
        self.experiment.runs().map(|run| Run { run, source: Arc::clone(&self.source) }).collect()
    }

    /// The run with this seed, any, at the point of this number.
    fn run_at(&self, point: usize, seed: u64) -> PyResult<Run> {
        let run = self.experiment.run_at(point, seed);
        let run = run.ok_or_else(|| UsageError::new_err(format!("the scenario has no point number {point}")))?;
        Ok(Run { run, source: Arc::clone(&self.source) })
    }

    /// The longest round trip of a flow at any point with full buffers of packets of `packet`
    /// bytes, in seconds.
    fn longest_round_trip_s(&self, packet: u64) -> f64 {
        self.experiment.longest_round_trip(packet).as_s()
    }

    /// Runs everything on `workers` threads. With `stretches` each run keeps what every flow got in
    /// this number of equal parts of it, the table `course`.
    #[pyo3(signature = (workers, progress=None, stretches=None))]
    fn outcome(
        &self,
        py: Python<'_>,
        workers: usize,
        progress: Option<Py<PyAny>>,
        stretches: Option<u32>,
    ) -> PyResult<Outcome> {
        let experiment = match stretches {
            Some(stretches) => self.experiment.in_stretches(stretches),
            None => self.experiment.clone(),
        };
        let (source, shown) = (Arc::clone(&self.source), Progress::new(progress));
        // Told when the signal came to the thread that waits.
        let is_left = Arc::new(AtomicBool::new(false));
        let is_left_here = Arc::clone(&is_left);
        let work = move || {
            if source.own.is_empty() {
                run(&experiment, &source, workers, shown, &is_left_here)
            } else {
                // Each call of a part would else wait for the lock.
                Python::attach(|_| run(&experiment, &source, 1, shown, &is_left_here))
            }
        };
        let done = heard_or(py, work, |raised, wait| {
            is_left.store(true, Ordering::Relaxed);
            let so_far = match wait() {
                Some(Ok(whole)) => Some(Box::new(whole)),
                Some(Err((_, so_far))) => so_far,
                None => None,
            };
            with_runs(py, raised, so_far)
        })?;
        done.map_err(|(error, so_far)| with_runs(py, error, so_far))
    }

    /// About how many bytes all networks, `workers` runs at a time and all tables need.
    fn memory_bytes(&self, workers: u64) -> u64 {
        self.experiment.memory_bytes(workers)
    }

    /// What the tables of all runs, in their order, say together.
    fn collect(&self, tables: Vec<PyRef<'_, Tables>>) -> PyResult<Outcome> {
        let tables = tables.iter().map(|tables| tables.tables.clone());
        self.experiment.collect(tables).map(|outcome| Outcome { outcome }).map_err(UsageError::new_err)
    }
}

/// An interrupt, with what the runs that were complete gave as its `so_far`; other errors as they
/// are.
fn with_runs(py: Python<'_>, error: PyErr, so_far: Option<Box<Outcome>>) -> PyErr {
    if let Some(so_far) = so_far
        && error.is_instance_of::<PyKeyboardInterrupt>(py)
    {
        // An exception that takes no attribute goes without.
        let _ = error.value(py).setattr("so_far", *so_far);
    }
    error
}

/// Why runs ended early, and what those gave that were complete.
type Early = (PyErr, Option<Box<Outcome>>);

/// Runs everything, until `is_left` says that there is no use for it. An error comes with what the
/// runs gave that were complete.
fn run(
    experiment: &experiment::Experiment,
    source: &Source,
    workers: usize,
    mut shown: Progress,
    is_left: &AtomicBool,
) -> Result<Outcome, Early> {
    let start = speed::process_cpu_s().map_err(|error| (error, None))?;
    let files = |file: &str| read_file(&source.name, file);
    let mut raised = None;
    let result = experiment.outcome(Options {
        workers,
        files: &files,
        progress: &mut |p| {
            // Threads that end their runs tell how far they are after something was raised, too.
            if is_left.load(Ordering::Relaxed) || raised.is_some() {
                return false;
            }
            raised = shown.tell(p.fraction, p.simulated_s, p.packet_hops).err();
            raised.is_none()
        },
    });
    match result {
        Ok(mut outcome) => {
            // Of the simulation alone, all its workers together.
            if let Ok(end) = speed::process_cpu_s() {
                outcome.run_info.insert("cpu_s".to_owned(), (end - start).into());
            }
            let outcome = Outcome { outcome };
            match raised {
                Some(error) => Err((error, Some(Box::new(outcome)))),
                None => Ok(outcome),
            }
        }
        Err(Stopped::Problem(problem)) => Err((raised.unwrap_or_else(|| errors::scenario(problem)), None)),
        Err(Stopped::Interrupted(so_far)) => {
            let error = raised.unwrap_or_else(|| FairqError::new_err("the run was stopped"));
            Err((error, so_far.map(|outcome| Outcome { outcome: *outcome }).map(Box::new)))
        }
    }
}

impl Source {
    fn read(&self) -> PyResult<experiment::Experiment> {
        let mut experiment = read(&self.text, &self.name, &self.sets, &self.own)?;
        if let Some(interval) = &self.series {
            let interval = match interval.as_str() {
                "auto" => Time((experiment.longest_run().0 / 200).max(1)),
                text => text.parse().map_err(|error: UnitError| UsageError::new_err(format!("series: {error}")))?,
            };
            if interval == Time::ZERO {
                return Err(UsageError::new_err(
                    "series: 0 s is no distance between samples; write a time like 100ms, or auto",
                ));
            }
            experiment.sample_every(interval).map_err(errors::usage)?;
        }
        if let Some(flow) = &self.packets {
            experiment.trace_flow(flow).map_err(errors::usage)?;
        }
        if self.states {
            experiment.keep_states().map_err(errors::usage)?;
        }
        Ok(experiment)
    }
}

/// One point of a scenario's axes and one seed. It can be pickled and run in another process.
#[pyclass(frozen)]
pub(crate) struct Run {
    run: runs::Run,
    source: Arc<Source>,
}

#[pymethods]
impl Run {
    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.run.seed()
    }

    /// The values of the axes at its point, a JSON object.
    #[getter]
    fn axes(&self) -> String {
        let labels: Map<String, Value> = self.run.point().labels.iter().cloned().collect();
        Value::Object(labels).to_string()
    }

    /// The name of what it gives: 32 hexadecimal digits.
    #[getter]
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        let digest = py.detach(|| self.run.digest(&|file| read_file(&self.source.name, file)));
        digest.map(|digest| digest.to_string()).map_err(errors::scenario)
    }

    /// Runs from start to end on one thread.
    fn finish(&self, py: Python<'_>) -> PyResult<Tables> {
        let files = |file: &str| read_file(&self.source.name, file);
        let told = Mutex::new((Progress::new(None), None));
        let run = || {
            let ended = self.run.finish_while(&files, &|| {
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                told.1 = told.0.tell(0.0, 0.0, 0).err();
                told.1.is_none()
            });
            let raised = told.lock().unwrap_or_else(PoisonError::into_inner).1.take();
            let stopped = || raised.unwrap_or_else(|| FairqError::new_err("the run was stopped"));
            ended.map_err(errors::scenario)?.map(|tables| Tables { tables }).ok_or_else(stopped)
        };
        if self.source.own.is_empty() { py.detach(run) } else { guarded(run) }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Remade)> {
        let Source { text, name, sets, series, packets, states, own } = (*self.source).clone();
        let made = py.import("fairq._native")?.getattr("remade_run")?;
        let (point, seed) = (self.run.point_number(), self.run.seed());
        Ok((made, (text, name, sets, series, packets, states, point, seed, own.given(py))))
    }

    fn __repr__(&self) -> String {
        format!("<Run seed {}, axes {}>", self.run.seed(), self.axes())
    }
}

/// What [`remade_run`] takes.
type Remade =
    (String, String, Vec<(String, String)>, Option<String>, Option<String>, bool, usize, u64, Option<Py<PyAny>>);

/// The run with this seed, at the point of this number, of the experiment that is read from these.
#[expect(clippy::too_many_arguments, reason = "what a pickled run is made of")]
#[pyfunction]
#[pyo3(signature = (text, name, sets, series, packets, states, point, seed, own=None))]
pub(crate) fn remade_run(
    py: Python<'_>,
    text: String,
    name: String,
    sets: Vec<(String, String)>,
    series: Option<String>,
    packets: Option<String>,
    states: bool,
    point: usize,
    seed: u64,
    own: Option<Py<PyAny>>,
) -> PyResult<Run> {
    Experiment::new(py, text, name, sets, series, packets, states, false, own)?.run_at(point, seed)
}

/// The version of what runs give; it is part of their digests.
#[pyfunction]
pub(crate) fn results_version() -> u32 {
    RESULTS_VERSION
}

/// The tables of one run.
#[pyclass(frozen)]
pub(crate) struct Tables {
    pub(crate) tables: results::Tables,
}

#[pymethods]
impl Tables {
    /// The table called `name`.
    fn table(&self, name: &str) -> PyResult<Table> {
        let of = results::Tables::by_name(name).ok_or_else(|| no_table(name))?;
        Table::new(of(&self.tables).clone())
    }

    /// The rows of all tables together.
    fn __len__(&self) -> usize {
        self.tables.rows()
    }
}

/// What an experiment gave.
#[pyclass(frozen)]
pub(crate) struct Outcome {
    outcome: document::Outcome,
}

impl Outcome {
    pub(crate) const fn new(outcome: document::Outcome) -> Self {
        Self { outcome }
    }
}

#[pymethods]
impl Outcome {
    /// The table called `name` of all points: means over the seeds, where it is averaged.
    fn table(&self, name: &str) -> PyResult<Table> {
        self.outcome.table(name).ok_or_else(|| no_table(name)).and_then(Table::new)
    }

    /// The table called `name` of all points and seeds.
    fn by_seed(&self, name: &str) -> PyResult<Table> {
        self.outcome.by_seed(name).ok_or_else(|| no_table(name)).and_then(Table::new)
    }

    /// Calls `write` with the pieces of the document as JSON text.
    fn write_json(&self, py: Python<'_>, write: Py<PyAny>) -> PyResult<()> {
        in_pieces(py, &write, |sink| {
            let formatter = serde_json::ser::PrettyFormatter::with_indent(b" ");
            let mut to = serde_json::Serializer::with_formatter(sink, formatter);
            serde::Serialize::serialize(&self.outcome, &mut to).map_err(io::Error::from)
        })
    }

    /// Calls `write` with the pieces of the trace as JSON text.
    fn write_trace(&self, py: Python<'_>, write: Py<PyAny>) -> PyResult<()> {
        let trace = self.outcome.trace().ok_or_else(|| UsageError::new_err("trace: no run kept one"))?;
        in_pieces(py, &write, |sink| trace.write(sink))
    }

    /// Calls `write` with the pieces of the log of a flow's sender, as qlog.
    fn write_qlog(&self, py: Python<'_>, flow: &str, write: Py<PyAny>) -> PyResult<()> {
        let trace = self.outcome.trace().ok_or_else(|| UsageError::new_err("trace: no run kept one"))?;
        if !trace.flows().any(|name| name == flow) {
            let said = fairq_text::near_miss(flow, trace.flows());
            return Err(UsageError::new_err(format!("flow: there is no flow {flow}{said}")));
        }
        in_pieces(py, &write, |sink| trace.write_qlog(flow, sink))
    }
}

/// Calls `write` with the pieces of the text that `fill` writes.
fn in_pieces(
    py: Python<'_>,
    write: &Py<PyAny>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
) -> PyResult<()> {
    let mut raised = None;
    py.detach(|| {
        let mut sink = io::BufWriter::with_capacity(1 << 16, Pieces { write, raised: &mut raised });
        fill(&mut sink).and_then(|()| sink.flush()).map_err(|error| error.to_string())
    })
    .map_err(|message| raised.unwrap_or_else(|| FairqError::new_err(message)))
}

pub(crate) fn no_table(name: &str) -> PyErr {
    UsageError::new_err(format!("{name}: no table of a run is called so"))
}

/// Hands pieces of text to a Python callable, each whole characters.
struct Pieces<'a> {
    write: &'a Py<PyAny>,
    raised: &'a mut Option<PyErr>,
}

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A piece may end within a character: its beginning waits for the next piece.
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        let told = Python::attach(|py| self.write.call1(py, (text,)).map(drop));
        told.map(|()| text.len()).map_err(|error| {
            *self.raised = Some(error);
            io::Error::other("what it is written to raised an exception")
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
