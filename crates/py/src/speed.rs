//! The speed of this machine on the reference workloads. Times are CPU times of the calling thread, from Python's clock.

use fairq_sim::experiment::{Experiment, Options};
use fairq_sim::scenario::text;
use fairq_sim::workload::{Busy, dumbbell};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::FairqError;
use crate::progress::Progress;

/// CPU seconds of this thread.
pub(crate) fn cpu_s() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("thread_time")?.extract())
}

/// CPU seconds of the process, all its threads together.
pub(crate) fn process_cpu_s() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("process_time")?.extract())
}

/// Runs all workloads; `is_quick` shortens them to what is too short to quote.
pub(crate) fn run(is_quick: bool, told: &mut Progress) -> PyResult<Value> {
    // At 10 Mbit/s a simulated second is 7500 packet-hops: 10⁸ of them take more than 5 CPU seconds.
    let simulated_s = if is_quick { 100 } else { 15_000 };
    let exchanges = if is_quick { 100_000 } else { 5_000_000 };
    let mut rows = Vec::new();
    for (part, discipline) in ["fifo", "fq"].into_iter().enumerate() {
        rows.push(run_dumbbell(discipline, simulated_s, part as f64 * 0.4, told)?);
    }
    for discipline in ["fifo", "round_robin", "virtual_clock", "fq"] {
        for flows in [16, 256, 4096] {
            rows.push(run_discipline(discipline, flows, exchanges)?);
        }
    }
    told.tell(1.0, 0.0, 0)?;
    Ok(json!({ "rows": rows, "run_info": { "version": env!("CARGO_PKG_VERSION") } }))
}

fn run_dumbbell(discipline: &str, simulated_s: u64, before: f64, told: &mut Progress) -> PyResult<Value> {
    let experiment = Experiment::read(&dumbbell(discipline, simulated_s), "dumbbell", &[])
        .map_err(|problem| FairqError::new_err(problem.to_string()))?;
    let mut raised = None;
    let start = cpu_s()?;
    let result = experiment.run(Options {
        workers: 1,
        files: &|name| Err(name.to_owned()),
        progress: &mut |p| {
            let answer = told.tell(before + 0.4 * p.fraction, p.simulated_s, p.packet_hops);
            raised = answer.err();
            raised.is_none()
        },
    });
    let seconds = cpu_s()? - start;
    if let Some(error) = raised {
        return Err(error);
    }
    let result = result.map_err(|_| FairqError::new_err("the dumbbell did not run to its end"))?;
    let hops = result["run_info"]["packet_hops"].as_u64().unwrap_or(0);
    let sum =
        |column: &str| result["flows"].as_array().into_iter().flatten().filter_map(|f| f[column].as_u64()).sum::<u64>();
    Ok(json!({
        "workload": "dumbbell, 16 fixed windows",
        "discipline": discipline,
        "flows": 16,
        "packet_hops": hops,
        "data_packets": sum("throughput_packets"),
        "dropped": sum("dropped"),
        "cpu_s": seconds,
        "million_packet_hops_per_cpu_s": hops as f64 / seconds / 1e6,
    }))
}

fn run_discipline(discipline: &str, flows: u32, exchanges: u64) -> PyResult<Value> {
    let queue = text::queue(discipline).map_err(FairqError::new_err)?;
    let mut busy = Busy::new(&queue, flows);
    busy.exchange(exchanges / 10);
    let start = cpu_s()?;
    let bytes = busy.exchange(exchanges);
    let seconds = cpu_s()? - start;
    Ok(json!({
        "workload": "enqueue + dequeue",
        "discipline": discipline,
        "flows": flows,
        "packets": bytes / 1000,
        "cpu_s": seconds,
        "ns_per_packet": seconds * 1e9 / exchanges as f64,
    }))
}
