//! A trace as viewers read it (Perfetto's ui.perfetto.dev, chrome://tracing).
//!
//! Source: "Trace Event Format", Google
//! (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): the JSON object
//! format, with complete events (`X`), counters (`C`), instants (`i`) and metadata (`M`); times
//! in microseconds. That complete events of a thread may nest and not overlap: there, and
//! perfetto.dev/docs/faq.
//! Chosen: a flow and a direction of a link are what the format calls a process. The first thread
//! of a flow has the phases of its congestion control, the others are lanes of packets that wait:
//! the slices of a thread may not overlap, and packets of a flow wait at the same time. The thread
//! of a link has what it sends. A phase lasts from the sample that shows it to the next one. Times
//! are cut to 1/64 µs: such numbers and their sums are exact, so that slices that follow each
//! other touch and do not overlap.

use super::{Record, TICKS_PER_MICROSECOND, Trace, What, ticks};
use crate::results::table::{Cell, Cells};
use fairq_sched::units::Time;
use fairq_sim::segment::Direction;
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The most rows of samples that become counters; of more, every second instant is left, or third,
/// ….
const SAMPLES_MAX: usize = 200_000;

/// The columns of a sample that are counters.
const COUNTERS: [&str; 6] =
    ["throughput_bit_per_s", "window_packets", "flight_packets", "rtt_s", "pacing_bit_per_s", "held_packets"];

/// The thread of the phases, and that of what a link sends.
const FIRST_THREAD: u32 = 0;

impl Trace {
    /// Writes all of it as one JSON object.
    ///
    /// # Errors
    /// What writing to `to` gives.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let about = json!({
            "program": concat!("fairq ", env!("CARGO_PKG_VERSION")),
            "end_s": self.end.as_s(),
            "packets_cut_at_s": self.cut_at().map(Time::as_s),
        });
        write!(to, "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":[")?;
        let mut events = Events { to, is_first: true };
        let sampled = self.sampled();
        self.names(&sampled.iter().flatten().copied().collect(), &mut events)?;
        self.samples(&sampled, &mut events)?;
        for record in &self.records.all {
            self.record(record, &mut events)?;
        }
        events.to.write_all(b"\n]}\n")
    }

    /// The process of a flow; that of all sessions follows those of flows.
    fn flow_process(&self, flow: u32) -> usize {
        1 + self.flows.len().min(flow as usize)
    }

    /// The process of a line.
    fn line_process(&self, line: u32) -> usize {
        2 + self.flows.len() + line as usize
    }

    /// The processes of flows and lines, by a flow's name and "", or a link's name and the
    /// direction.
    fn processes(&self) -> BTreeMap<(&str, &str), usize> {
        let flows = self.flows.iter().zip(1..).map(|(name, process)| ((&**name, ""), process));
        let lines = self.lines.iter().zip(0..);
        flows.chain(lines.map(|((name, direction), line)| ((&**name, *direction), self.line_process(line)))).collect()
    }

    /// The names of the processes and threads that have events, given the processes with samples.
    fn names(&self, sampled: &BTreeSet<usize>, events: &mut Events<'_>) -> io::Result<()> {
        let mut lanes = BTreeSet::new();
        let mut lines: BTreeSet<u32> =
            (0..self.lines.len() as u32).filter(|line| sampled.contains(&self.line_process(*line))).collect();
        for record in &self.records.all {
            match record.what {
                What::Waited => _ = lanes.insert((self.flow_process(record.flow), record.lane)),
                What::Sent => _ = lines.insert(record.line),
                What::Dropped(_) | What::Marked | What::Lost => {}
            }
        }
        for (flow, name) in self.flows.iter().enumerate() {
            events.name(1 + flow, None, &format!("flow {name}"))?;
            events.name(1 + flow, Some(FIRST_THREAD), "phase")?;
        }
        if self.records.all.iter().any(|record| record.flow as usize >= self.flows.len()) {
            events.name(1 + self.flows.len(), None, "sessions")?;
        }
        for (process, lane) in lanes {
            events.name(process, Some(1 + lane), &format!("waiting {}", 1 + lane))?;
        }
        for line in lines {
            let (name, direction) = &self.lines[line as usize];
            events.name(self.line_process(line), None, &format!("link {name} {direction}"))?;
            events.name(self.line_process(line), Some(FIRST_THREAD), "sending")?;
        }
        Ok(())
    }

    /// The process of the flow or line of each sample.
    fn sampled(&self) -> Vec<Option<usize>> {
        let processes = self.processes();
        let text = |name: &str, row: usize| match self.samples.column(name).map(|cells| cells.at(row)) {
            Some(Cell::Text(text)) => Some(text),
            _ => None,
        };
        let process = |row: usize| {
            let name = text("flow", row).map(|flow| (flow, ""));
            processes.get(&name.or_else(|| Some((text("link", row)?, text("direction", row)?)))?).copied()
        };
        (0..self.samples.rows()).map(process).collect()
    }

    /// The counters, and the phases of flows.
    fn samples(&self, sampled: &[Option<usize>], events: &mut Events<'_>) -> io::Result<()> {
        let (Some(times), Some(named)) = (self.samples.column("time_s"), self.samples.column("phase")) else {
            return Ok(());
        };
        let counter = |name: &&'static str| Some((*name, self.samples.column(name)?));
        let counters: Vec<(&str, &Cells)> = COUNTERS.iter().filter_map(counter).collect();
        let nth = self.samples.rows().div_ceil(SAMPLES_MAX).max(1);
        // The sample at which the present phase of each flow began, and the phase.
        let mut phases: Vec<Option<(f64, &str)>> = vec![None; self.flows.len()];
        let (mut instant, mut time) = (0, f64::NAN);
        for (row, process) in sampled.iter().enumerate() {
            let at = times.at(row).number().unwrap_or_default();
            if at != time {
                (instant, time) = (instant + 1, at);
            }
            let Some(process) = *process else { continue };
            if let Some(phase) = phases.get_mut(process - 1) {
                let now = if let Cell::Text(now) = named.at(row) { Some(now) } else { None };
                if phase.map(|(_, phase)| phase) != now {
                    events.phase(process, *phase, at)?;
                    *phase = now.map(|now| (at, now));
                }
            }
            if instant % nth > 0 {
                continue;
            }
            for (name, cells) in &counters {
                if let Some(value) = cells.at(row).number() {
                    events.add(&json!({
                        "ph": "C", "name": name, "pid": process, "tid": FIRST_THREAD, "ts": micros_of_s(at),
                        "args": { "value": value }
                    }))?;
                }
            }
        }
        for (flow, phase) in phases.into_iter().enumerate() {
            events.phase(1 + flow, phase, self.end.as_s())?;
        }
        Ok(())
    }

    fn record(&self, record: &Record, events: &mut Events<'_>) -> io::Result<()> {
        let (link, direction) = &self.lines[record.line as usize];
        let of = if record.direction == Direction::Forward { "data" } else { "acknowledgement" };
        let args = Packet { packet: record.sequence, bytes: record.length, of };
        let pid = self.flow_process(record.flow);
        let (ts, dur) = (micros(record.start), micros(record.end) - micros(record.start));
        let event = match record.what {
            What::Waited => {
                let name = Cow::Owned(format!("wait at {link} {direction}"));
                Event { ph: "X", name, cat: "wait", pid, tid: 1 + record.lane, ts, dur: Some(dur), s: None, args }
            }
            What::Sent => {
                let flow = self.flows.get(record.flow as usize).map_or("session", |name| name);
                let (pid, tid) = (self.line_process(record.line), FIRST_THREAD);
                Event { ph: "X", name: flow.into(), cat: "send", pid, tid, ts, dur: Some(dur), s: None, args }
            }
            What::Dropped(_) | What::Marked | What::Lost => {
                let (cat, name) = match record.what {
                    What::Dropped(reason) => ("drop", format!("dropped at {link} {direction}: {}", reason.name())),
                    What::Marked => ("mark", format!("marked at {link} {direction}")),
                    _ => ("loss", format!("lost on {link} {direction}")),
                };
                Event { ph: "i", name: name.into(), cat, pid, tid: FIRST_THREAD, ts, dur: None, s: Some("t"), args }
            }
        };
        events.add(&event)
    }
}

/// An event of the format, with the names of its fields there.
#[derive(Serialize)]
struct Event<'a, A> {
    /// What kind of event it is.
    ph: &'static str,
    name: Cow<'a, str>,
    /// Its category.
    cat: &'static str,
    pid: usize,
    tid: u32,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// Scope of an instant event; `t` is a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    args: A,
}

/// Facts of a packet in its events.
#[derive(Serialize)]
struct Packet {
    packet: u64,
    bytes: u32,
    of: &'static str,
}

/// Writes events, one a line.
struct Events<'a> {
    to: &'a mut dyn Write,
    is_first: bool,
}

impl Events<'_> {
    fn add(&mut self, event: &impl Serialize) -> io::Result<()> {
        self.to.write_all(if std::mem::take(&mut self.is_first) { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut self.to, event).map_err(io::Error::from)
    }

    /// Names a process, or a thread of it; they are shown in the order of their numbers.
    fn name(&mut self, process: usize, thread: Option<u32>, name: &str) -> io::Result<()> {
        let of = if thread.is_some() { "thread" } else { "process" };
        let (tid, number) = (thread.unwrap_or_default(), thread.map_or(process, |thread| thread as usize));
        self.add(
            &json!({ "ph": "M", "name": format!("{of}_name"), "pid": process, "tid": tid, "args": { "name": name } }),
        )?;
        let args = json!({ "sort_index": number });
        self.add(&json!({ "ph": "M", "name": format!("{of}_sort_index"), "pid": process, "tid": tid, "args": args }))
    }

    /// The phase that began at a sample and ended at `end_s`, if there was one.
    fn phase(&mut self, process: usize, phase: Option<(f64, &str)>, end_s: f64) -> io::Result<()> {
        let Some((start_s, name)) = phase.filter(|(start_s, _)| *start_s < end_s) else { return Ok(()) };
        let start = micros_of_s(start_s);
        self.add(&json!({
            "ph": "X", "name": name, "cat": "phase", "pid": process, "tid": FIRST_THREAD,
            "ts": start, "dur": micros_of_s(end_s) - start, "args": {}
        }))
    }
}

/// The microseconds of the format: [`ticks`].
fn micros(time: Time) -> f64 {
    ticks(time) as f64 / TICKS_PER_MICROSECOND as f64
}

fn micros_of_s(seconds: f64) -> f64 {
    micros(Time::from_s_f64(seconds))
}
