//! A job whose hosts are kernels in virtual time. It needs no right and runs no flow.

use super::Made;
use super::job::Job;
use super::process::{self, Ending};
use fairq_gateway::fault::Fault;
use fairq_gateway::kernel::{self, facts, launch::Settings};
use fairq_gateway::network::Network;
use fairq_gateway::record::packet_log::Rows;
use fairq_gateway::sandbox::Sandbox;
use fairq_sched::units::Time;
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::json;
use std::fs::File;

/// Memory of a host, in MiB.
const MEMORY: u32 = 96;

/// Linux' own default.
const CONTROL: &str = "cubic";

/// Runs a job; what it says goes to `report`, a line of JSON each. Returns the exit status of the
/// terminal's command.
///
/// # Errors
/// What is refused, in one line.
pub(super) fn run(job: &Job, report: &mut File) -> Result<i32, Fault> {
    // A kernel whose clock has gone ends by itself.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| Fault::of("the gateway", &error.into()))?;
    let kernel = job.host_kernel.as_deref().unwrap_or("".as_ref());
    let mut plan = Made::of(job).map_err(|problem| Fault::new(problem.to_string()))?.plan;
    if let Some(flow) = plan.flows.first() {
        return Err(Fault::new(format!("--host-kernel: hosts run commands, and not the flow {}", flow.name)));
    }
    process::complete(&mut plan, job, &CONTROL.into())?;
    let in_folder = |argv: &[String]| {
        let words = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", &job.folder].map(str::to_owned);
        words.into_iter().chain(argv.iter().cloned()).collect::<Vec<_>>()
    };
    for command in plan.hosts.iter_mut().flat_map(|host| &mut host.commands) {
        *command = in_folder(command);
    }
    let front = process::front(&plan, job)?.map(|(host, argv)| (host, in_folder(&argv)));
    let facts = facts::facts(&plan, kernel)?;
    let mut network = Network::new(&plan);
    let packets = Rows::default();
    process::observe(&mut network, &plan, job, &packets)?;
    process::say(report, &json!({ "ready": facts }));
    let end = job.duration_s.map_or(Time::NEVER, |seconds| Time((seconds * 1e12) as u64));
    let settings = Settings { kernel, temporary: &job.temporary, memory: MEMORY, front };
    let ran = kernel::emulate(&plan, &settings, &mut network, end)?;
    let status = match ran.status {
        Some(status) => status.into(),
        None if job.duration_s.is_some() && ran.elapsed >= end => 0,
        None => return Err(Fault::new("a host's kernel has ended before its command: it was stopped, or has failed")),
    };
    let given = kernel::report(&mut network, &plan, &ran).map_err(|error| Fault::of("what is recorded", &error))?;
    process::tell(report, given, &packets, &Ending { status, sandbox: Sandbox::default(), faults: Vec::new() })?;
    Ok(status)
}
