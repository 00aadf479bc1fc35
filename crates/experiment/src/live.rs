//! A run that one holds, in the words of its scenario: links and flows by name, changes as the
//! entries of `[[changes]]`, tables of what there is at the present instant.
//!
//! A change by hand is an entry behind those of the scenario, at the present time, and is checked
//! as such an entry is: the scenario with it is read again, and what it adds to the plan is done.

pub mod curves;
mod events;
mod line_fluid;
pub mod passing;
mod timeline;
mod waiting;

use crate::experiment::Experiment;
use crate::results::Tables;
use crate::results::document::Outcome;
use crate::results::series::Series;
use crate::results::states::States;
use crate::results::table::Table;
use crate::scenario::problem::Problem;
use crate::scenario::read::Document;
pub use events::{Happening, Tape};
use fairq_sched::packet::Marks;
use fairq_sched::units::{Rate, Time};
use fairq_sim::changes::{Intervention, Planned, What};
use fairq_sim::live::{LiveRun, OwnFiles, Scope};
pub use fairq_sim::live::{Progress, Watcher};
use fairq_sim::observe::PacketId;
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;
use fairq_sim::run::changes::Happened;
use fairq_text::{Fault, near_miss};
pub use line_fluid::{Level, Sample};
use passing::Passing;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The fields of a link that change in a run.
const OF_LINK: [&str; 9] = ["rate", "up", "delay", "loss", "jitter", "reorder", "queue", "reverse_queue", "limit"];

/// The scenario before a change by hand, to which the run may be taken back.
struct Before {
    step: u64,
    present: Document,
    experiment: Experiment,
}

/// A run in progress, in the hands of its owner.
pub struct Live {
    run: LiveRun,
    /// The scenario with the changes that were made by hand.
    experiment: Experiment,
    /// The scenario as it is now: its fields have their present values.
    present: Document,
    before: Vec<Before>,
    files: OwnFiles,
    /// The records of lines, by the lines' numbers.
    passing: Vec<(u32, Passing)>,
}

/// What passed a line: its packets, what the fluid had served, and whether there were more packets.
pub struct Timeline {
    /// The table `timeline`.
    pub packets: Table,
    /// The table `fluid`.
    pub fluid: Table,
    /// Whether there are packets that did not fit in.
    pub has_more: bool,
}

impl Live {
    /// The run with `seed` of an experiment of one point, at time zero. The links called `links`
    /// are held, both directions; `None`: all are. `files` gives the bytes of the files that it
    /// names.
    ///
    /// # Errors
    /// An experiment of several points, a link that there is not, what is wrong with a file.
    pub fn new(experiment: Experiment, seed: u64, files: OwnFiles, links: Option<&[String]>) -> Result<Self, Problem> {
        let document = experiment.document();
        let [(_, plan)] = experiment.plans() else {
            let points = experiment.plans().len();
            let message = format!("the scenario has axes with {points} points; choose one by set, and run that");
            return Err(document.problem(Fault::new("axes", message)));
        };
        let lines = |link: &String| lines(plan, link).map_err(|fault| document.problem(fault));
        let links = links.map(|links| links.iter().map(lines).collect::<Result<Vec<_>, _>>()).transpose()?;
        let links = links.map(|lines| lines.concat());
        let run = LiveRun::new(plan, seed, Arc::clone(&files), links.as_deref()).map_err(|fault| {
            document
                .problem(Fault::new(format!("flows[{}].traffic", plan.flows[fault.flow].entry.number), fault.message))
        })?;
        let present = document.clone();
        Ok(Self { run, experiment, present, before: Vec::new(), files, passing: Vec::new() })
    }

    /// The run itself.
    #[must_use]
    pub const fn run(&self) -> &LiveRun {
        &self.run
    }

    /// Runs the next event; what it was of, and the name and direction of the line or the name of
    /// the flow. `None` if there is none before the run ends.
    pub fn step(&mut self) -> Option<(&'static str, Option<String>, Option<&'static str>)> {
        let happened = self.run.step()?;
        let plan = self.run.plan();
        let of_line = |line: u32| {
            let line = &plan.lines[line as usize];
            (Some(line.name.to_string()), Some(line.direction()))
        };
        let of_flow = |flow: u32| (plan.flows.get(flow as usize).map(|flow| flow.name.to_string()), None);
        let (what, (name, direction)) = match happened {
            Happened::Arrival(line) => ("arrival", of_line(line)),
            Happened::Emission(flow) => ("emission", of_flow(flow)),
            Happened::Host(flow) => ("host", of_flow(flow)),
            Happened::End(line) => ("end", of_line(line)),
            Happened::Timer(flow) => ("timer", of_flow(flow)),
            Happened::Update(line) => ("update", of_line(line)),
            Happened::Session(session) => {
                ("session", (plan.sessions.get(session as usize).map(|it| it.name.clone()), None))
            }
            Happened::Change => ("change", (None, None)),
        };
        Some((what, name, direction))
    }

    /// Runs to `time` or for `most` steps.
    pub fn run_some(&mut self, time: Time, most: u64) -> Progress {
        self.run.run_some(time, most)
    }

    /// Runs to the end of step `to`, or takes the run back to it: changes by hand since are undone.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads, if it has changed since.
    pub fn run_steps(&mut self, to: u64) -> Result<(), String> {
        self.run.run_steps(to).map_err(|fault| fault.message)?;
        if let Some(at) = self.before.iter().position(|before| before.step >= to) {
            let Before { present, experiment, .. } = self.before.swap_remove(at);
            self.before.truncate(at);
            (self.present, self.experiment) = (present, experiment);
        }
        Ok(())
    }

    /// Makes the change that an entry of `[[changes]]` without its time says, now.
    ///
    /// # Errors
    /// What is wrong with it, at its field; nothing has changed then.
    pub fn change(&mut self, mut entry: Map<String, Value>) -> Result<(), Fault> {
        let now = self.run.now();
        entry.insert("at".into(), now.to_string().into());
        let mut document = self.experiment.document().clone();
        let path = document.add_change(entry.clone())?;
        let here = |fault: Fault| {
            let inner = fault.path.strip_prefix(path.as_str()).map(|rest| rest.trim_start_matches('.').to_owned());
            Fault { path: inner.unwrap_or(fault.path), ..fault }
        };
        let experiment = Experiment::of(document, &*self.files).map_err(|problem| here(problem.fault))?;
        let planned = |experiment: &Experiment| experiment.plans()[0].1.changes.clone();
        let (old, new) = (planned(&self.experiment), planned(&experiment));
        let end = new.partition_point(|planned| planned.at <= now);
        let added = &new[end - (new.len() - old.len())..end];
        let step = self.run.steps();
        for Planned { change, .. } in added {
            self.make(change.clone())?;
        }
        let experiment = std::mem::replace(&mut self.experiment, experiment);
        self.before.push(Before { step, present: self.present.clone(), experiment });
        self.note(&entry);
        Ok(())
    }

    /// The fields that a change has set have these values now.
    fn note(&mut self, entry: &Map<String, Value>) {
        let (list, name) = match (entry.get("link"), entry.get("flow")) {
            (Some(link), _) => ("links", link.clone()),
            (None, flow) => ("flows", flow.cloned().unwrap_or_default()),
        };
        let place = |at: &usize| self.present.value_at(&format!("{list}[{at}].name")) == Some(&name);
        let count = self.present.value_at(list).and_then(Value::as_array).map_or(0, Vec::len);
        let Some(at) = (0..count).find(place) else { return };
        let is_reverse = entry.get("direction").is_some_and(|direction| direction == "reverse");
        for (field, value) in
            entry.iter().filter(|(field, _)| !["at", "link", "flow", "direction"].contains(&field.as_str()))
        {
            let of_queue = if is_reverse && field == "queue" { "reverse_" } else { "" };
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // It was read with the change.
            let _ = self.present.set_at(&format!("{list}[{at}].{of_queue}{field}"), &value);
        }
    }

    /// Gives the field of a link or a flow at `path` another value now, as `links.uplink.rate`.
    ///
    /// # Errors
    /// What is wrong with it; nothing has changed then.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Fault> {
        let mut present = self.present.clone();
        let set = present.set_at(path, value)?;
        let cannot = |near: String| Fault::new(path, format!("it cannot change in a run{near}"));
        let (holder, field) = set.split_once("].").ok_or_else(|| {
            cannot("; write a field of a link or the weight of a flow, as links.uplink.rate".to_owned())
        })?;
        let field = field.split(['.', '[']).next().unwrap_or_default();
        let name = present.value_at(&format!("{holder}].name")).cloned().unwrap_or_default();
        let new = present.value_at(&format!("{holder}].{field}")).cloned().unwrap_or_default();
        let mut entry = Map::new();
        match (holder.split('[').next(), field) {
            (Some("links"), field) if OF_LINK.contains(&field) => {
                entry.insert("link".into(), name);
                let has_reverse = present.value_at(&format!("{holder}].reverse_queue")).is_some();
                match field {
                    "queue" if has_reverse => entry.insert("direction".into(), "forward".into()),
                    "reverse_queue" => entry.insert("direction".into(), "reverse".into()),
                    _ => None,
                };
                entry.insert(field.trim_start_matches("reverse_").into(), new);
            }
            (Some("flows"), "weight") => {
                entry.insert("flow".into(), name);
                entry.insert("weight".into(), new);
            }
            (Some("links"), field) => return Err(cannot(near_miss(field, OF_LINK))),
            _ => return Err(cannot("; of a flow only its weight does, of a link its rate and more".to_owned())),
        }
        self.change(entry)
    }

    /// `count` packets of `bytes` each come to the queue of a link on the path of `flow`, beside
    /// those that its transport sends.
    ///
    /// # Errors
    /// A link or a flow that there is not, or a link that is not on the flow's path.
    pub fn offer(&mut self, link: &str, reverse: bool, (flow, bytes): (&str, u32), count: u32) -> Result<(), Fault> {
        let (line, flow) = (self.line(link, reverse)?, self.flow(flow)?);
        self.made(line, What::Offer { flow, bytes, count })
    }

    /// A packet that waits is dropped.
    ///
    /// # Errors
    /// If it does not wait.
    pub fn drop_packet(&mut self, packet: PacketId) -> Result<(), Fault> {
        self.made(self.line_of(packet)?, What::Drop(packet))
    }

    /// A packet that waits is marked *congestion experienced* when it is sent.
    ///
    /// # Errors
    /// If it does not wait, or its sender does not use ECN.
    pub fn mark_packet(&mut self, packet: PacketId) -> Result<(), Fault> {
        self.made(self.line_of(packet)?, What::Mark(packet, Marks::CE))
    }

    /// A packet that waits is taken out and comes to the queue again at `until`.
    ///
    /// # Errors
    /// If it does not wait, or the time is past.
    pub fn hold_packet(&mut self, packet: PacketId, until: Time) -> Result<(), Fault> {
        self.made(self.line_of(packet)?, What::Hold(packet, until))
    }

    fn made(&mut self, line: u32, what: What) -> Result<(), Fault> {
        self.make(Intervention { line, what })
    }

    /// Changes the run, and tells the records of the line.
    fn make(&mut self, change: Intervention) -> Result<(), Fault> {
        let Intervention { line, ref what } = change;
        let what = what.clone();
        self.run.change(change).map_err(|why| Fault::new("", why.to_string()))?;
        let now = self.run.now();
        self.passing.iter().filter(|(of, _)| *of == line).for_each(|(_, passing)| passing.changed(now, &what));
        Ok(())
    }

    fn line_of(&self, packet: PacketId) -> Result<u32, Fault> {
        let line = self.run.simulation().network.line_of(packet);
        line.ok_or_else(|| {
            Fault::new("packet", format!("no packet has the number {packet} now; see the table waiting"))
        })
    }

    fn line(&self, link: &str, reverse: bool) -> Result<u32, Fault> {
        lines(self.run.plan(), link).map(|lines| lines[usize::from(reverse)])
    }

    fn flow(&self, name: &str) -> Result<u32, Fault> {
        let flows = &self.run.plan().flows;
        let found = flows.iter().position(|flow| *flow.name == *name);
        found.map(|flow| flow as u32).ok_or_else(|| {
            let near = near_miss(name, flows.iter().map(|flow| &*flow.name));
            Fault::new("flow", format!("no flow is called {name}{near}"))
        })
    }

    /// Records what happens on these links, and to packets of these flows, from now on, as far as
    /// it is one of these events; `None`: all of them.
    ///
    /// # Errors
    /// A link or a flow that there is not.
    pub fn watch(
        &mut self,
        links: Option<&[String]>,
        flows: Option<&[String]>,
        of: Option<&[String]>,
    ) -> Result<(Watcher, Tape), Fault> {
        let found = |links: &[String]| links.iter().map(|link| lines(self.run.plan(), link)).collect();
        let lines = links.map(found).transpose()?.map(|lines: Vec<Vec<u32>>| lines.concat());
        let flows = flows.map(|flows| flows.iter().map(|flow| self.flow(flow)).collect()).transpose()?;
        let tape = Tape::new(self.run.plan(), of);
        let watcher = self.run.watch(Scope { lines, flows }, tape.observer());
        Ok((watcher, tape))
    }

    /// Runs to `time`, for `most` steps, or to the end of the step in which something was recorded.
    pub fn run_until_event(&mut self, tape: &Tape, time: Time, most: u64) -> Progress {
        for _ in 0..most {
            if self.run.run_some(time, 1) == Progress::Reached {
                return Progress::Reached;
            }
            if !tape.is_empty() {
                break;
            }
        }
        Progress::Paused { steps: self.run.steps() }
    }

    /// Records what passes a line of a link, or the [`busiest`] line, from now on; the last `keep`
    /// packets are kept. The run is to stand at its beginning: what is in the queue now has no
    /// record.
    ///
    /// # Errors
    /// A link that there is not, or that is not held.
    pub fn record(&mut self, link: Option<&str>, reverse: bool, keep: usize) -> Result<Passing, Fault> {
        let line = link.map_or_else(|| busiest(self.run.plan()), |link| self.line(link, reverse))?;
        let plan = self.run.plan();
        if !plan.is_held[line as usize] {
            let name = &plan.lines[line as usize].name;
            return Err(Fault::new("link", format!("{name} is not held in this run; name it when the run begins")));
        }
        let passing = Passing::new(self.run.plan(), line, keep);
        self.run.watch(Scope { lines: Some(vec![line]), flows: None }, passing.observer());
        self.passing.push((line, passing.clone()));
        Ok(passing)
    }

    /// What a record has of a stretch of time: at most `most` packets, the first ones.
    #[must_use]
    pub fn timeline(&self, passing: &Passing, between: [Time; 2], most: usize) -> Timeline {
        let (plan, now) = (self.run.plan(), self.run.now());
        let mut record = passing.at(now);
        record.sample(now);
        let (rows, has_more) = timeline::packets(&record, between, most);
        let (packets, fluid) = (timeline::table(plan, &record, &rows), timeline::fluid(plan, &record, between));
        Timeline { packets, fluid, has_more }
    }

    /// Records no more.
    pub fn unwatch(&mut self, watcher: Watcher) {
        drop(self.run.unwatch(watcher));
    }

    /// The simulation, with its counts exact as of now.
    pub fn settled(&mut self) -> &Simulation {
        self.run.look()
    }

    /// The present value of a field, as `links.uplink.rate`; `None` if the scenario does not say
    /// it.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<&Value> {
        self.present.value_at(path)
    }

    /// The table called `name` as it is now: `waiting`, `states`, `series` as one sample, or the
    /// counts of a result since the warm-up, or since the start while that lasts.
    #[must_use]
    pub fn look(&mut self, name: &str) -> Option<Table> {
        let now = self.run.now();
        let since = if self.run.is_warm() { self.run.plan().warm_up } else { Time::ZERO };
        let duration = Time((now - since).0.max(1));
        let plan = Plan { warm_up: since, duration, ..self.run.plan().clone() };
        let simulation = self.run.look();
        Some(match name {
            "waiting" => waiting::table(&plan, simulation),
            "series" => Series::once(&plan, simulation, since),
            "states" => {
                let mut states = States::default();
                states.note(&plan, simulation, now);
                states.into_table(&plan)
            }
            _ => Tables::by_name(name)?(&Tables::of(&plan, simulation)).clone(),
        })
    }

    /// What the run gave, which has come to its end: as of a run of the scenario with the changes
    /// that were made by hand.
    ///
    /// # Errors
    /// If it has not come to its end.
    pub fn outcome(&mut self) -> Result<Outcome, String> {
        let (now, end) = (self.run.now(), self.run.end());
        if now < end {
            return Err(format!("the run is at {now} and ends at {end}; run it to its end first"));
        }
        let plan = self.run.plan().clone();
        let tables = Tables::of(&plan, self.run.look());
        self.experiment.collect([tables])
    }
}

/// The line that is shown unless another is named: of the lines with a rate those that most flows
/// share, of these the slowest, and the first of them.
///
/// # Errors
/// If no line has a rate.
pub fn busiest(plan: &Plan) -> Result<u32, Fault> {
    let mut crossed = vec![0u32; plan.lines.len()];
    plan.flows.iter().flat_map(|flow| flow.path.forward()).for_each(|line| crossed[*line as usize] += 1);
    let with_rate = (0..).zip(&plan.lines).filter_map(|(at, line)| Some((at, line.rate?, line.is_access)));
    let order = |(at, rate, is_access): &(u32, Rate, bool)| {
        (*is_access, u32::MAX - crossed[*at as usize], rate.bit_per_s(), *at)
    };
    let best = with_rate.min_by_key(order);
    best.map(|(at, ..)| at).ok_or_else(|| Fault::new("link", "no link of this scenario has a rate, and so no queue"))
}

/// Both directions of the link called `name`.
///
/// # Errors
/// If there is none.
pub fn lines(plan: &Plan, name: &str) -> Result<Vec<u32>, Fault> {
    let found = (0..).zip(&plan.lines).filter(|(_, line)| *line.name == *name).map(|(at, _)| at).collect::<Vec<u32>>();
    if found.is_empty() {
        let known = plan.lines.iter().filter(|line| !line.is_access && !line.is_reverse).map(|line| &*line.name);
        return Err(Fault::new("link", format!("no link is called {name}{}", near_miss(name, known))));
    }
    Ok(found)
}
