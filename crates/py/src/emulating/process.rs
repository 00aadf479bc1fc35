//! The gateway's process: hosts, commands and work around the loop that moves packets.

use super::Made;
use super::job::Job;
use fairq_gateway::command;
use fairq_gateway::device::Device;
use fairq_gateway::drive::{self, Look};
use fairq_gateway::fault::Fault;
use fairq_gateway::network::Network;
use fairq_gateway::plan::{Plan, Speed};
use fairq_gateway::record::captures::Captures;
use fairq_gateway::record::event_log::EventLog;
use fairq_gateway::record::packet_log::{PacketLog, Rows};
use fairq_gateway::report::Report;
use fairq_gateway::sandbox::{self, Sandbox};
use fairq_gateway::setup::{self, BackEnd};
use fairq_gateway::stamp::Mode;
use fairq_gateway::work;
use fairq_sched::units::Time;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

/// How often it is said what is under way.
const WATCHED_EVERY: Time = Time::from_ms(500);

/// Bytes that Mahimahi counts with each packet: the header of its TUN device.
const MAHIMAHI_EXTRA: u32 = 4;

/// Runs a job; what it says goes to `report`, a line of JSON each. Returns the exit status of the
/// terminal's command.
///
/// # Errors
/// What is refused, in one line.
pub(super) fn run(job: &Job, report: &mut File) -> Result<i32, Fault> {
    let prefix = job.prefix.unwrap_or_else(setup::prefix);
    let job = Job { prefix: Some(prefix), ..job.clone() };
    let made = Made::of(&job).map_err(|problem| Fault::new(problem.to_string()))?;
    let mut plan = made.plan;
    complete(&mut plan, &job, &setup::default_control())?;
    let front = front(&plan, &job)?;
    let outer = job.outer.as_ref().map(|name| host(&plan, name)).transpose()?;
    let mut network = Network::new(&plan);
    let packets = Rows::default();
    observe(&mut network, &plan, &job, &packets)?;
    let machine = setup::hosts(&plan, &setup::Options { back_end: back_end(&job.device), outer })?;
    say(report, &json!({ "ready": machine.facts }));
    let commands = command::start(&machine.hosts, &plan.hosts, front)?;
    let work = work::start(&plan, &machine.hosts)?;
    let driven = drive_sandboxed(network, machine.devices, &plan, &job, commands.descriptor(), report);
    let done = work.done();
    let ended = commands.finish();
    let (given, sandbox) = driven?;
    let faults = done.iter().filter_map(|done| done.fault.clone()).collect();
    tell(report, given, &packets, &Ending { status: ended.status, sandbox, faults })?;
    Ok(ended.status)
}

/// What is told at the end beside the tables.
pub(super) struct Ending {
    pub(super) status: i32,
    pub(super) sandbox: Sandbox,
    pub(super) faults: Vec<String>,
}

/// Says what a run gave.
pub(super) fn tell(report: &mut File, mut given: Report, packets: &Rows, ending: &Ending) -> Result<(), Fault> {
    if let Ok(mut rows) = packets.lock() {
        given.packets = std::mem::take(&mut *rows);
    }
    let mut document = serde_json::to_value(&given).map_err(|error| Fault::new(error.to_string()))?;
    document["status"] = ending.status.into();
    document["sandbox"] = json!(ending.sandbox);
    document["faults"] = json!(ending.faults);
    say(report, &json!({ "report": document }));
    Ok(())
}

/// The number of the host of the terminal's command, and that.
pub(super) fn front(plan: &Plan, job: &Job) -> Result<Option<(usize, Vec<String>)>, Fault> {
    job.front.as_ref().map(|front| Ok((host(plan, &front.host)?, front.argv.clone()))).transpose()
}

/// Gives hosts their commands, and the `usual` congestion control to those without one.
pub(super) fn complete(plan: &mut Plan, job: &Job, usual: &Arc<str>) -> Result<(), Fault> {
    for back in &job.back {
        let number = host(plan, &back.host)?;
        plan.hosts[number].commands.push(back.argv.clone());
    }
    for host in plan.hosts.iter_mut().filter(|host| host.control.is_empty()) {
        host.control = Arc::clone(usual);
    }
    Ok(())
}

/// Sets up what is recorded: files are opened here, before rights are given up.
pub(super) fn observe(network: &mut Network, plan: &Plan, job: &Job, packets: &Rows) -> Result<(), Fault> {
    if let Some(interval) = sampled(job)? {
        network.sample(interval);
    }
    if let Some(flow) = &job.packets {
        network.observe(Box::new(PacketLog::new(flow.clone(), Arc::clone(packets))));
    }
    for (number, line) in (0..).zip(&plan.lines).filter(|(_, line)| !line.is_access) {
        let direction = if line.is_reverse { "reverse" } else { "forward" };
        if let Some(folder) = &job.capture {
            let file = |what: &str| create(&Path::new(folder).join(capture_name(&line.name, direction, what)));
            let captures = Captures::new(number, file("arrivals")?, file("departures")?);
            let captures = captures.map_err(|error| Fault::of(&format!("{folder}: a capture"), &error))?;
            network.observe(Box::new(captures));
        }
        if let Some(path) = job.logs.get(&format!("{}/{direction}", line.name)) {
            let trace = if let Speed::Trace(trace) = &line.speed { Some(Arc::clone(trace)) } else { None };
            let sink = OpenOptions::new().append(true).create(true).open(path);
            let sink = BufWriter::new(sink.map_err(|error| Fault::of(path, &error))?);
            network.observe(Box::new(EventLog::new(number, trace, MAHIMAHI_EXTRA, sink)));
        }
    }
    Ok(())
}

/// The distance of samples: as asked for, else that of what is watched; `None` for none.
fn sampled(job: &Job) -> Result<Option<Time>, Fault> {
    let Some(text) = &job.series else { return Ok(job.watch.then_some(WATCHED_EVERY)) };
    let interval: Time = text.parse().map_err(|error| Fault::new(format!("--series {error}")))?;
    if interval == Time::ZERO {
        return Err(Fault::new("--series 0 s is no distance between samples; write a time like 100ms"));
    }
    Ok(Some(interval))
}

fn create(path: &Path) -> Result<BufWriter<File>, Fault> {
    File::create(path).map(BufWriter::new).map_err(|error| Fault::of(&path.display().to_string(), &error))
}

/// The name of a capture's file; a link's name may have what no file's name has.
fn capture_name(link: &str, direction: &str, what: &str) -> String {
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() || "_-.".contains(letter) { letter } else { '_' };
    format!("{}.{direction}.{what}.pcapng", link.chars().map(allowed).collect::<String>())
}

/// Moves packets on a thread that has given up its rights.
fn drive_sandboxed(
    network: Network,
    mut devices: Vec<Box<dyn Device>>,
    plan: &Plan,
    job: &Job,
    stop: BorrowedFd<'_>,
    report: &mut File,
) -> Result<(Report, Sandbox), Fault> {
    let options = drive::Options {
        mode: if job.mode == "fast" { Mode::Fast } else { Mode::Exact },
        spin: job.spin,
        end: job.duration_s.map(|seconds| Time((seconds * 1e12) as u64)),
        tail: drive::tail(plan),
        packet_time: drive::packet_time(plan),
    };
    let mut look = |now: Time, network: &Network| watched(report, now, network);
    let look = job
        .watch
        .then_some(Look { interval: WATCHED_EVERY, look: &mut look as &mut (dyn FnMut(Time, &Network) + Send) });
    let driven = std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let sandbox = sandbox::enter();
            drive::run(network, &mut devices, &options, stop, look).map(|report| (report, sandbox))
        });
        thread.join()
    });
    match driven {
        Ok(driven) => driven.map_err(|error: io::Error| Fault::of("the gateway", &error)),
        Err(_) => Err(Fault::new("the gateway has failed; report the lines above")),
    }
}

/// Says what the last samples are.
fn watched(report: &mut File, now: Time, network: &Network) {
    let samples = network.sampled();
    let Some(last) = samples.last() else { return };
    let rows = samples.iter().rev().take_while(|row| row.time_s >= last.time_s);
    let mut rows: Vec<_> = rows.collect();
    rows.reverse();
    say(report, &json!({ "watch": { "time_s": now.as_s(), "rows": rows } }));
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

/// Writes a line of the report. Without a reader it is lost, as there is no other place for it.
pub(super) fn say(report: &mut File, said: &Value) {
    let _ = writeln!(report, "{said}");
    let _ = report.flush();
}
