//! The gateway's process: hosts, commands and work around the loop that moves packets.

use super::Made;
use super::job::Job;
use fairq_gateway::command;
use fairq_gateway::fault::Fault;
use fairq_gateway::plan::Plan;
use fairq_gateway::setup::{self, BackEnd};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Runs a job; what it says goes to `report`, a line of JSON each. Returns the exit status of the
/// terminal's command.
///
/// # Errors
/// What is refused, in one line.
pub(super) fn run(job: &Job, report: &mut File) -> Result<i32, Fault> {
    let prefix = job.prefix.unwrap_or_else(setup::prefix);
    let made =
        Made::of(&Job { prefix: Some(prefix), ..job.clone() }).map_err(|problem| Fault::new(problem.to_string()))?;
    let mut plan = made.plan;
    complete(&mut plan, job)?;
    let front = job.front.as_ref().map(|front| Ok((host(&plan, &front.host)?, front.argv.clone()))).transpose()?;
    let options = setup::Options {
        back_end: back_end(&job.device),
        outer: job.outer.as_ref().map(|name| host(&plan, name)).transpose()?,
    };
    let machine = setup::hosts(&plan, &options)?;
    say(report, &json!({ "ready": machine.facts }));
    let commands = command::start(&machine.hosts, &plan.hosts, front)?;
    let _ = commands;
    Ok(0)
}

/// Gives hosts their commands, and a congestion control to those without one.
fn complete(plan: &mut Plan, job: &Job) -> Result<(), Fault> {
    for back in &job.back {
        let number = host(plan, &back.host)?;
        plan.hosts[number].commands.push(back.argv.clone());
    }
    let usual = setup::default_control();
    for host in plan.hosts.iter_mut().filter(|host| host.control.is_empty()) {
        host.control = Arc::clone(&usual);
    }
    Ok(())
}

/// The number of the host called `name`.
fn host(plan: &Plan, name: &str) -> Result<usize, Fault> {
    let found = plan.hosts.iter().position(|host| &*host.name == name);
    found.ok_or_else(|| Fault::new(format!("no host is called {name}")))
}

fn back_end(name: &str) -> BackEnd {
    match name {
        "tun" => BackEnd::Tun,
        "packet" => BackEnd::Packet,
        _ => BackEnd::Auto,
    }
}

/// Writes a line of the report. The reader may have gone, and then nobody wants it.
pub(crate) fn say(report: &mut File, said: &Value) {
    let _ = writeln!(report, "{said}");
    let _ = report.flush();
}
