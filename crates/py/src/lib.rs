//! Python bindings of fairq: text in, text out. Scenarios come in as TOML, results leave as JSON;
//! the Python package gives them types. No line here knows a discipline by name.

mod allocator;
mod arrow;
mod auditing;
mod capture_replay;
mod discipline_speed;
mod dispatching;
mod emulating;
mod errors;
mod experiments;
mod live;
mod machine;
mod own;
mod pairing;
mod parquet;
mod progress;
mod relaying;
mod schemas;
mod serving;
mod speed;
mod statistics;
mod studies;
mod topologies;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use fairq_experiment::experiment::Experiment;
use fairq_experiment::results::table::Table;
use fairq_experiment::scenario::read::Document;
use fairq_experiment::{columns as described, reference, routes as paths, shares};
use fairq_sched::units::{Bytes, Rate, Time, UnitError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use capture_replay::Failure;
use errors::{CaptureError, FairqError, UsageError};
use own::{Own, guarded};
use progress::{Progress, heard};

/// The compiled part of fairq.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::{Table, Views};
    #[pymodule_export]
    use super::dispatching::Dispatcher;
    #[pymodule_export]
    use super::emulating::{doctor, emulation, gateway};
    #[pymodule_export]
    use super::experiments::{Experiment, Outcome, Run, Tables, remade_run, results_version};
    #[pymodule_export]
    use super::live::LiveRun;
    #[pymodule_export]
    use super::own::shown::{
        Acked, Beginning, Congested, Flow, Header, Line, NotBefore, Packet, Queue, SourceBeginning,
    };
    #[pymodule_export]
    use super::relaying::Relay;
    #[pymodule_export]
    use super::statistics::{
        batch_means, confidence_interval, interval, paired, precision, prediction_interval, warm_up,
    };
    #[pymodule_export]
    use super::studies::{Study, joined, named_runs, read_parts, toml_tree};
    #[pymodule_export]
    use super::{
        audit, bench_disciplines, by_ports, check_capture, columns, explain, explained, has_unknown_words, lines,
        listing, max_min, named_files, pair_captures, quantity, queue, replay, routes, scenes, schema, schema_names,
        serve, table_of, topology, version,
    };
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The quantity that `text` says: seconds of a "time", bytes of a "size", bits per second of a
/// "rate".
#[pyfunction]
fn quantity(kind: &str, text: &str) -> PyResult<f64> {
    let found = match kind {
        "time" => text.parse::<Time>().map(Time::as_s),
        "size" => text.parse::<Bytes>().map(|size| size.0 as f64),
        "rate" => text.parse::<Rate>().map(|rate| rate.bit_per_s() as f64),
        _ => return Err(UsageError::new_err(format!("{kind}: no kind of quantity; there are time, size, rate"))),
    };
    found.map_err(|error: UnitError| UsageError::new_err(error.to_string()))
}

/// What the registry holds, as a JSON array; `what` is "disciplines", "transports", "traffic",
/// "receivers", "topologies" or "policies".
#[pyfunction]
fn listing(what: &str) -> PyResult<String> {
    reference::listing(what).map(|list| json(&list)).map_err(UsageError::new_err)
}

/// The card of one entry of the registry, with its settings and their defaults, in lines of at most
/// `width` columns.
#[pyfunction]
fn explain(name: &str, width: usize) -> PyResult<String> {
    reference::explain(name, width).map_err(UsageError::new_err)
}

/// The same cards as fields and as text, as a JSON object.
#[pyfunction]
fn explained(name: &str) -> PyResult<String> {
    reference::explained(name).map(|cards| json(&cards)).map_err(UsageError::new_err)
}

/// The scenes of a transport, driven alone, as a JSON array.
#[pyfunction]
fn scenes(name: &str) -> PyResult<String> {
    reference::scenes(name).map(|list| json(&list)).map_err(UsageError::new_err)
}

/// The names of the JSON Schemas of scenarios and of the documents that are made here.
#[pyfunction]
fn schema_names() -> Vec<&'static str> {
    schemas::SCHEMAS.map(|(name, _)| name).to_vec()
}

/// The JSON Schema called `name`, indented.
#[pyfunction]
fn schema(name: &str) -> PyResult<String> {
    let found = schemas::SCHEMAS.iter().find(|(known, _)| *known == name);
    let (_, schema) = found.ok_or_else(|| UsageError::new_err(format!("{name}: there is no such schema")))?;
    Ok(format!("{:#}", schema()))
}

/// A document as JSON. A type of documents has no map with other keys than text, so that it can be
/// written.
fn json(document: &impl serde::Serialize) -> String {
    serde_json::to_string(document).expect("a document has texts for keys")
}

/// The tables of results with their columns, as a JSON array.
#[pyfunction]
fn columns() -> String {
    described::as_json().to_string()
}

/// The queue that a text form says, with what it leaves unsaid, as JSON.
#[pyfunction]
#[pyo3(signature = (text, own=None))]
fn queue(py: Python<'_>, text: &str, own: Option<Py<PyAny>>) -> PyResult<String> {
    let own = Own::of(py, own)?;
    let queue = fairq_text::queue_own(text, None, &own.parts.queue).map_err(UsageError::new_err)?;
    Ok(serde_json::to_value(queue).map_err(unwritten)?.to_string())
}

/// The text form `text` for a line between two hosts: with the classifier `port_pair`, where it
/// would else tell flows apart by their addresses.
#[pyfunction]
fn by_ports(text: &str) -> PyResult<String> {
    let queue = fairq_text::queue(text).map_err(UsageError::new_err)?;
    let apart = fairq_gateway::plan::by_ports(queue.clone());
    Ok(if apart == queue { text.to_owned() } else { fairq_text::written(&apart) })
}

/// Whether a text form of a queue is refused for a form or for words that are not known here.
#[pyfunction]
fn has_unknown_words(text: &str) -> bool {
    fairq_text::has_unknown_words(text)
}

/// The lines of the links of a scenario, at each of its points, as JSON: link, direction, rate in
/// bit/s, the queue with what is left unsaid, its delay in seconds and whether its rate changes.
#[pyfunction]
#[pyo3(signature = (text, name, sets, own=None))]
fn lines(
    py: Python<'_>,
    text: String,
    name: String,
    sets: Vec<(String, String)>,
    own: Option<Py<PyAny>>,
) -> PyResult<String> {
    let experiment = read_heard(py, text, name, sets, own)?;
    let mut lines = Vec::new();
    let plans = experiment.plans().iter().map(|(_, plan)| plan);
    let all = plans.flat_map(|plan| plan.lines.iter().enumerate().map(|(at, line)| (line, plan.changes_rate(at))));
    for (line, changes) in all.filter(|(line, _)| !line.is_access) {
        let queue = serde_json::to_value(&*line.queue).map_err(unwritten)?;
        lines.push(serde_json::json!({
            "link": &*line.name,
            "direction": if line.is_reverse { "reverse" } else { "forward" },
            "rate_bit_per_s": line.rate.map(Rate::bit_per_s),
            "queue": queue,
            "delay_s": line.delay.as_s(),
            "rate_changes": changes,
        }));
    }
    Ok(serde_json::Value::Array(lines).to_string())
}

fn unwritten(error: serde_json::Error) -> PyErr {
    FairqError::new_err(error.to_string())
}

/// Reads a scenario on a thread of its own.
fn read_heard(
    py: Python<'_>,
    text: String,
    name: String,
    sets: Vec<(String, String)>,
    own: Option<Py<PyAny>>,
) -> PyResult<Experiment> {
    let own = Own::of(py, own)?;
    heard(py, move || read(&text, &name, &sets, &own))?
}

fn read(text: &str, name: &str, sets: &[(String, String)], own: &Own) -> PyResult<Experiment> {
    read_by(text, name, sets, own, &|file| read_file(name, file))
}

/// Reads a scenario; `files` gives the bytes of the files that it names.
fn read_by(
    text: &str,
    name: &str,
    sets: &[(String, String)],
    own: &Own,
    files: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> PyResult<Experiment> {
    let read = || {
        let mut document = Document::parse_own(text, name, &own.parts)?;
        document.bound_memory(machine::memory());
        document.read_topologies_by(fairq_topologies::read);
        sets.iter().try_for_each(|(path, value)| document.set(path, value))?;
        Experiment::of(document, files)
    };
    read().map_err(errors::scenario)
}

/// The bytes of a file that the scenario called `name` names; a relative path is one from the
/// scenario's folder.
fn read_file(name: &str, file: &str) -> Result<Vec<u8>, String> {
    let path = Path::new(name).parent().unwrap_or_else(|| Path::new("")).join(file);
    std::fs::read(&path).map_err(|error| format!("{} cannot be read: {}", path.display(), errors::reason(&error)))
}

/// The names of the files that a scenario reads, in order; the scenario is checked.
#[pyfunction]
#[pyo3(signature = (text, name, sets, own=None))]
fn named_files(
    py: Python<'_>,
    text: String,
    name: String,
    sets: Vec<(String, String)>,
    own: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let own = Own::of(py, own)?;
    heard(py, move || {
        let named = RefCell::new(BTreeSet::<String>::new());
        let experiment = read_by(&text, &name, &sets, &own, &|file| {
            named.borrow_mut().insert(file.to_owned());
            read_file(&name, file)
        })?;
        let mut named = named.into_inner();
        let flows = experiment.plans().iter().flat_map(|(_, plan)| &plan.flows);
        named.extend(flows.filter_map(|flow| flow.entry.traffic.file().map(str::to_owned)));
        Ok(named.into_iter().collect())
    })?
}

/// The max-min shares of a scenario's flows, as JSON.
#[pyfunction]
#[pyo3(signature = (text, name, sets, own=None))]
fn max_min(
    py: Python<'_>,
    text: String,
    name: String,
    sets: Vec<(String, String)>,
    own: Option<Py<PyAny>>,
) -> PyResult<String> {
    let experiment = read_heard(py, text, name, sets, own)?;
    Ok(serde_json::Value::from_iter(shares::max_min(&experiment)).to_string())
}

/// The links that each flow's data and answers take at each point of a scenario, as JSON.
#[pyfunction]
#[pyo3(signature = (text, name, sets, own=None))]
fn routes(
    py: Python<'_>,
    text: String,
    name: String,
    sets: Vec<(String, String)>,
    own: Option<Py<PyAny>>,
) -> PyResult<String> {
    let experiment = read_heard(py, text, name, sets, own)?;
    Ok(serde_json::Value::from_iter(paths::routes(&experiment)).to_string())
}

/// Describes the topology in the file at `path`, the network of a scenario, or a shape by name;
/// `options_json` is `{"strict": bool, "default_rate": text or null, "default_delay": text or
/// null}`.
#[pyfunction]
#[pyo3(signature = (path, options_json, progress=None))]
fn topology(py: Python<'_>, path: &str, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let mut told = Progress::new(progress);
    py.detach(move || topologies::describe(path, options_json, &mut told))
}

/// Replays the capture at `path` through one gateway for each discipline named in `options_json`.
#[pyfunction]
#[pyo3(signature = (path, options_json, progress=None))]
fn replay(py: Python<'_>, path: &str, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let mut told = Progress::new(progress);
    py.detach(move || {
        let mut raised = None;
        let outcome = capture_replay::replay(path, options_json, &mut |fraction, sim_seconds, packets| {
            raised = told.tell(fraction, sim_seconds, packets).err();
            raised.is_none()
        });
        raised.map_or(Ok(()), Err)?;
        outcome.map(|report| json(&report)).map_err(failed)
    })
}

/// Serves requests of tenants on a server with seats, once for each policy; `options_json` are the
/// options of `fairq-serve`.
#[pyfunction]
#[pyo3(signature = (options_json, progress=None))]
fn serve(py: Python<'_>, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let mut told = Progress::new(progress);
    py.detach(move || serving::serve(options_json, &mut told).map(|document| json(&document)))
}

fn failed(failure: Failure) -> PyErr {
    match failure {
        Failure::Usage(message) => UsageError::new_err(message),
        Failure::Capture(message) => CaptureError::new_err(message),
        Failure::Output(message, errno) => errors::output(message, errno),
        Failure::Stopped => FairqError::new_err("the reading was stopped"),
    }
}

/// Raises `CaptureError` if the file at `path` does not begin as a capture does.
#[pyfunction]
fn check_capture(path: &str) -> PyResult<()> {
    pairing::check_capture(path).map_err(failed)
}

/// The bytes of a column.
type Column<'py> = Bound<'py, PyBytes>;

/// The packets of two captures of one path: what is said of all as JSON; then, as the little-endian
/// bytes of columns, the flow of each (`u32`), its seconds in the first and in the second capture
/// (`f64`, NaN if it is not there), its length (`u32`), by how much more it may still be forwarded
/// at the first end (`i16`), what became of it (`u8`), and the number of the datagram of which it
/// is a fragment in the first and in the second capture (`u32`, 0 for none).
#[pyfunction]
fn pair_captures<'py>(py: Python<'py>, first: &str, second: &str) -> PyResult<(String, [Column<'py>; 8])> {
    let mut told = Progress::new(None);
    let (about, columns) = py.detach(|| {
        let mut raised = None;
        let outcome = pairing::pair_captures(first, second, &mut || {
            raised = told.tell(0.0, 0.0, 0).err();
            raised.is_none()
        });
        raised.map_or(Ok(()), Err)?;
        outcome.map_err(failed)
    })?;
    let pairing::Columns { flow, first, second, length, hops, kind, datagram_first, datagram_second } = columns;
    let columns = [flow, first, second, length, hops, kind, datagram_first, datagram_second];
    Ok((about, columns.map(|column| PyBytes::new(py, &column))))
}

/// The table of results called `name` with these rows, a JSON array of objects; its columns have
/// the kinds that its description declares.
#[pyfunction]
fn table_of(name: &str, rows_json: &str) -> PyResult<arrow::Table> {
    let of = described::TABLES.into_iter().find(|table| table.name == name);
    let of = of.ok_or_else(|| UsageError::new_err(format!("{name}: no table of results is called so")))?;
    let rows: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(rows_json).map_err(|error| UsageError::new_err(error.to_string()))?;
    arrow::Table::new(Table::of_rows(of, &rows).map_err(UsageError::new_err)?)
}

/// Audits the discipline that `text` says; `options_json` is
/// `{"seeds": n or null, "quick": bool, "replay": run or null}`.
#[pyfunction]
#[pyo3(signature = (text, options_json, progress=None, own=None))]
fn audit(
    py: Python<'_>,
    text: &str,
    options_json: &str,
    progress: Option<Py<PyAny>>,
    own: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options: serde_json::Value =
        serde_json::from_str(options_json).map_err(|error| UsageError::new_err(error.to_string()))?;
    let mut told = Progress::new(progress);
    let own = Own::audited(py, own)?;
    let run = || auditing::run(text, &options, &own, &mut told).map(|report| json(&report));
    if own.is_empty() { py.detach(run) } else { guarded(run) }
}

/// Measures disciplines beside their floors; `options_json` is
/// `{"names": [str], "mixed": bool, "quick": bool}`.
#[pyfunction]
#[pyo3(signature = (options_json, progress=None))]
fn bench_disciplines(py: Python<'_>, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let options: discipline_speed::Options =
        serde_json::from_str(options_json).map_err(|error| UsageError::new_err(error.to_string()))?;
    let mut told = Progress::new(progress);
    py.detach(move || discipline_speed::run(&options, &mut told).map(|found| json(&found)))
}
