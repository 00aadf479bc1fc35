//! A scenario on real hosts: what would be made of it, and the gateway itself.

mod job;
#[cfg(target_os = "linux")]
mod kernels;
mod network;
#[cfg(target_os = "linux")]
mod process;
mod work;

use crate::errors::{self, UsageError};
use crate::own::Own;
use crate::read_file;
use fairq_experiment::experiment::Experiment;
use fairq_experiment::scenario::Routing;
use fairq_experiment::scenario::problem::Problem;
use fairq_experiment::scenario::read::Document;
#[cfg(target_os = "linux")]
use fairq_gateway::fault::Fault;
use fairq_gateway::plan::{Plan, Speed, Work};
use fairq_sim::plan::Plan as Network;
use fairq_text::Fault as Refused;
use job::Job;
use network::{PREFIX, Wanted};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// What a job would make, as JSON: hosts, lines, flows, and the scenario with its defaults.
#[pyfunction]
pub(crate) fn emulation(job_json: &str) -> PyResult<String> {
    let job = read_job(job_json)?;
    let made = Made::of(&job).map_err(errors::scenario)?;
    Ok(made.described().to_string())
}

/// Runs the job that the descriptor `job` holds and reports to the descriptor `report`; the exit
/// status of the terminal's command. The process is given up to it: it must have one thread.
#[cfg(target_os = "linux")]
#[pyfunction]
pub(crate) fn gateway(py: Python<'_>, job: i32, report: i32) -> PyResult<i32> {
    py.detach(|| {
        let mut report = opened(report, std::fs::OpenOptions::new().write(true))?;
        let text = std::io::read_to_string(opened(job, std::fs::OpenOptions::new().read(true))?)?;
        let said = serde_json::from_str::<Job>(&text).map_err(|error| Fault::new(error.to_string()));
        match said
            .and_then(|job| if job.host_kernel.is_some() { kernels::run } else { process::run }(&job, &mut report))
        {
            Ok(status) => Ok(status),
            Err(fault) => {
                process::say(&mut report, &json!({ "error": { "message": fault.to_string() } }));
                Ok(2)
            }
        }
    })
}

/// A descriptor of this process, as a file of its own that no command inherits.
#[cfg(target_os = "linux")]
fn opened(descriptor: i32, how: &std::fs::OpenOptions) -> std::io::Result<std::fs::File> {
    how.open(format!("/proc/self/fd/{descriptor}"))
}

/// What this machine can, as JSON: a row for each thing that was tried.
#[cfg(target_os = "linux")]
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> String {
    json!(py.detach(fairq_gateway::doctor::doctor)).to_string()
}

fn read_job(text: &str) -> PyResult<Job> {
    serde_json::from_str(text).map_err(|error| UsageError::new_err(error.to_string()))
}

/// A job with its network, simulated and real.
struct Made {
    experiment: Experiment,
    plan: Plan,
}

impl Made {
    fn of(job: &Job) -> Result<Self, Problem> {
        let mut document = Document::parse_own(&job.text, &job.name, &Own::default().parts)?;
        document.allow_no_flows();
        document.read_topologies_by(fairq_topologies::read);
        job.sets.iter().try_for_each(|(path, value)| document.set(path, value))?;
        let experiment = Experiment::of(document, &|file| read_file(&job.name, file))?;
        let plan = plan(&experiment, job).map_err(|fault| experiment.document().problem(fault))?;
        Ok(Self { experiment, plan })
    }

    fn network(&self) -> &Network {
        &self.experiment.plans()[0].1
    }

    fn described(&self) -> Value {
        json!({
            "scenario": self.experiment.scenario(),
            "duration_s": self.experiment.longest_run().as_s(),
            "hosts": self.plan.hosts.iter().map(|host| json!({
                "host": &*host.name,
                "addresses": host.addresses,
                "control": (!host.control.is_empty()).then_some(&*host.control),
            })).collect::<Value>(),
            "lines": (0..self.plan.lines.len()).map(|line| self.line(line)).collect::<Value>(),
            "flows": (0..self.plan.flows.len()).map(|flow| self.flow(flow)).collect::<Value>(),
        })
    }

    fn node(&self, number: u32) -> &str {
        let hosts = self.plan.hosts.iter().map(|host| &*host.name);
        let is_host = |name: &str| self.plan.hosts.iter().any(|host| &*host.name == name);
        let others = self.network().nodes.iter().map(|name| &**name).filter(|name| !is_host(name));
        hosts.chain(others).nth(number as usize).unwrap_or_default()
    }

    fn line(&self, number: usize) -> Value {
        let (line, simulated) = (&self.plan.lines[number], &self.network().lines[number]);
        json!({
            "link": &*line.name,
            "direction": simulated.direction(),
            "is_access": line.is_access,
            "from": self.node(line.from),
            "to": self.node(line.to),
            "rate_bit_per_s": simulated.rate.map(fairq_sched::units::Rate::bit_per_s),
            "is_trace": matches!(line.speed, Speed::Trace(_)),
            "delay_s": line.delay.as_s(),
            "loss": line.impairment.loss.probability,
            "jitter_s": line.impairment.jitter.as_s(),
            "reorder": line.impairment.reorder,
            "discipline": line.queue.name(),
            "discipline_settings": fairq_text::written(&line.queue),
            "limit": line.queue.bound().to_string(),
        })
    }

    fn flow(&self, number: usize) -> Value {
        let (flow, simulated) = (&self.plan.flows[number], &self.network().flows[number]);
        let entry = &simulated.entry;
        let (kind, bytes, packet, gap_s, control) = match &flow.work {
            Work::Bulk { control, bytes } => ("tcp", *bytes, None, None, Some(&**control)),
            Work::Datagrams { packet, gap } => ("udp", None, Some(*packet), Some(gap.as_s()), None),
        };
        json!({
            "flow": &*flow.name,
            "from": &*entry.nodes[0],
            "to": &*entry.nodes[1],
            "traffic": entry.traffic.name(),
            "transport": entry.transport.name(),
            "weight": f64::from(flow.weight.thousandths()) / 1000.0,
            "addresses": flow.addresses,
            "lines": flow.lines,
            "start_s": flow.during[0].as_s(),
            "stop_s": flow.during[1].as_s(),
            "protocol": kind,
            "bytes": bytes,
            "packet_bytes": packet,
            "gap_s": gap_s,
            "control": control,
            "is_endless": entry.traffic.is_endless(),
        })
    }
}

/// The plan of real hosts of the only point of `experiment`.
fn plan(experiment: &Experiment, job: &Job) -> Result<Plan, Refused> {
    let scenario = experiment.scenario();
    let [(_, network)] = experiment.plans() else {
        let message = "real hosts run one point; choose one of each axis by --set axes=[] and the field's value";
        return Err(Refused::new("axes", message));
    };
    if scenario.measure.replications > 1 {
        let message = "real hosts run once; leave it out, and run the command again for another run";
        return Err(Refused::new("measure.replications", message));
    }
    let costs = network.lines.iter().map(|line| match scenario.routing {
        Routing::Hops => 1,
        Routing::Delay => line.delay.0,
        Routing::Weight => u64::from(line.weight.thousandths()),
    });
    let prefix = job.prefix.unwrap_or(PREFIX);
    network::plan(&Wanted { network, job, costs: costs.collect(), prefix, seed: scenario.measure.seed })
}
