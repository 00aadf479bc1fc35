//! What changes while a run goes on, checked against the lines and their disciplines.

use super::{media, needs, policers, ring_fault};
use crate::scenario::Scenario;
use crate::scenario::changes::{Change, RateAt, Way};
use crate::values::ChangedRate;
use fairq_link::impairment::Impairment;
use fairq_sched::change;
use fairq_sched::contract;
use fairq_sched::packet::Header;
use fairq_sched::queue::Queue;
use fairq_sched::units::{Time, Weight};
use fairq_sim::changes::{Intervention, Planned, What};
use fairq_sim::multicast::plan::SessionPlan;
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_sim::segment::Direction;
use fairq_text::{Fault, near_miss};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The changes of `scenario` in the order of time. `links`: the first line of each link, whose
/// other direction follows it.
pub(super) fn changes(
    scenario: &Scenario,
    links: &BTreeMap<String, u32>,
    lines: &[LinePlan],
    flows: &mut [FlowPlan],
    sessions: &[SessionPlan],
) -> Result<Vec<Planned>, Fault> {
    let impairments = lines.iter().map(|line| line.impairment).collect();
    let end = scenario.measure.warm_up.saturating_add(scenario.measure.duration);
    let mut changes = Changes { links, end, queues: Queues::of(lines), lines, impairments, planned: Vec::new() };
    for (at, link) in scenario.links.iter().enumerate() {
        for (number, RateAt(time, rate)) in link.rates.iter().enumerate() {
            let path = format!("links[{at}].rates[{number}]");
            changes.is_in_time(*time, &path)?;
            for line in changes.lines_of(&link.name, None, &path)? {
                changes.rate(*time, line, *rate, &path)?;
            }
        }
    }
    // Impairments keep what a change does not name: they are taken in the order of time.
    let mut ordered: Vec<(usize, &Change)> = scenario.changes.iter().enumerate().collect();
    ordered.sort_by_key(|(_, change)| change.at);
    for (at, change) in ordered {
        let path = format!("changes[{at}]");
        changes.is_in_time(change.at, &format!("{path}.at"))?;
        match (&change.link, &change.flow) {
            (Some(link), None) => changes.of_link(change, link, &path)?,
            (None, Some(name)) => {
                let Some(entry) = scenario.flows.iter().position(|flow| flow.name == *name) else {
                    let near = near_miss(name, scenario.flows.iter().map(|flow| &*flow.name));
                    return Err(Fault::new(format!("{path}.flow"), format!("no flow is called {name}{near}")));
                };
                changes.of_flow(change, entry, flows, &path)?;
            }
            _ => {
                let message = "write the link that changes, as link = \"bottleneck\", or the flow, and not both";
                return Err(Fault::new(path, message));
            }
        }
    }
    changes.check_queues(flows, sessions)?;
    let mut planned = changes.planned;
    planned.sort_by_key(|planned| planned.at);
    Ok(planned)
}

/// The disciplines of lines, each with the line's number and the place that names it.
struct Queues(Vec<(u32, Arc<Queue>, String)>);

impl Queues {
    fn of(lines: &[LinePlan]) -> Self {
        Self(lines.iter().zip(0..).map(|(line, at)| (at, Arc::clone(&line.queue), String::new())).collect())
    }

    /// The last discipline of `line` so far.
    fn last(&self, line: u32) -> &Arc<Queue> {
        let found = self.0.iter().rev().find(|(of, ..)| *of == line);
        &found.expect("each line has a discipline from the start").1
    }
}

struct Changes<'a> {
    links: &'a BTreeMap<String, u32>,
    lines: &'a [LinePlan],
    end: Time,
    queues: Queues,
    impairments: Vec<Impairment>,
    planned: Vec<Planned>,
}

impl Changes<'_> {
    fn add(&mut self, at: Time, line: u32, what: What) {
        self.planned.push(Planned { at, change: Intervention { line, what } });
    }

    fn is_in_time(&self, at: Time, path: &str) -> Result<(), Fault> {
        if at < self.end {
            return Ok(());
        }
        let message = format!("{at} is not before the end of the run, {}; write an earlier time", self.end);
        Err(Fault::new(path, message))
    }

    /// The lines of the link called `name`: one, if `way` names it, else both.
    fn lines_of(&self, name: &str, way: Option<Way>, path: &str) -> Result<Vec<u32>, Fault> {
        let Some(first) = self.links.get(name) else {
            let near = near_miss(name, self.links.keys().map(|name| &**name));
            return Err(Fault::new(format!("{path}.link"), format!("no link is called {name}{near}")));
        };
        Ok(match way {
            None => vec![*first, first + 1],
            Some(Way::Forward) => vec![*first],
            Some(Way::Reverse) => vec![first + 1],
        })
    }

    fn of_link(&mut self, change: &Change, link: &str, path: &str) -> Result<(), Fault> {
        if change.weight.is_some() {
            let message = "a weight is of a flow; write flow = \"…\" in place of the link";
            return Err(Fault::new(format!("{path}.weight"), message));
        }
        let before = self.planned.len();
        for line in self.lines_of(link, change.direction, path)? {
            self.of_line(change, line, path)?;
        }
        if self.planned.len() == before {
            let message = "nothing changes; write for example rate = \"5 Mbit/s\" or up = false";
            return Err(Fault::new(path, message));
        }
        Ok(())
    }

    fn of_line(&mut self, change: &Change, line: u32, path: &str) -> Result<(), Fault> {
        let at = change.at;
        if let Some(rate) = change.rate {
            self.rate(at, line, rate, &format!("{path}.rate"))?;
        }
        if let Some(up) = change.up {
            self.needs_rate(line, &format!("{path}.up"))?;
            self.add(at, line, What::Up(up));
        }
        if let Some(delay) = change.delay {
            self.add(at, line, What::Delay(delay));
        }
        if change.loss.is_some() || change.jitter.is_some() || change.reorder.is_some() {
            let before = &mut self.impairments[line as usize];
            *before = media::changed(*before, change.loss, change.jitter, change.reorder.as_ref(), path)?;
            let impairment = *before;
            self.add(at, line, What::Impairment(impairment));
        }
        if let Some(queue) = &change.queue {
            self.queue(at, line, &queue.0, &format!("{path}.queue"))?;
        }
        if let Some(limit) = change.limit {
            let path = format!("{path}.limit");
            self.needs_rate(line, &path)?;
            self.try_change(line, &change::Change::Limit(limit), &path)?;
            self.add(at, line, What::Limit(limit));
        }
        Ok(())
    }

    fn rate(&mut self, at: Time, line: u32, ChangedRate(rate): ChangedRate, path: &str) -> Result<(), Fault> {
        self.needs_rate(line, path)?;
        if self.lines[line as usize].course.is_some() {
            let message =
                "the rate of this link follows a course of its own; give it one rate, or leave the change out";
            return Err(Fault::new(path, message));
        }
        self.add(at, line, What::Rate(rate));
        Ok(())
    }

    fn queue(&mut self, at: Time, line: u32, queue: &Queue, path: &str) -> Result<(), Fault> {
        self.needs_rate(line, path)?;
        let plan = &self.lines[line as usize];
        if plan.pool.is_some() {
            return Err(Fault::new(path, "this line shares a buffer, whose packets stay in their queue; leave it out"));
        }
        let mut queue = queue.clone();
        let above = queue.fault_of_limits();
        queue.limit = queue.limit.or(self.queues.last(line).limit);
        if let Some(fault) = queue.fault().or(above) {
            return Err(Fault::new(path, fault));
        }
        let queue = Arc::new(queue);
        self.queues.0.push((line, Arc::clone(&queue), path.to_owned()));
        self.add(at, line, What::Queue(queue));
        Ok(())
    }

    /// The weight of each copy of the flow of the scenario's `entry` changes.
    fn of_flow(&mut self, change: &Change, entry: usize, flows: &[FlowPlan], path: &str) -> Result<(), Fault> {
        let Some(weight) = change.weight else {
            return Err(Fault::new(path, "of a flow only the weight changes; write weight = 2"));
        };
        let mut refused = None;
        let before = self.planned.len();
        for (flow, number) in flows.iter().zip(0..).filter(|(flow, _)| flow.entry.number == entry) {
            for line in flow.path.forward().iter().copied().filter(|line| self.lines[*line as usize].rate.is_some()) {
                match self.tried(line, &change::Change::Weight(flow.path.header(Direction::Forward), weight)) {
                    Ok(()) => self.add(change.at, line, What::Weight(number, weight)),
                    Err(why) => refused = Some((line, why)),
                }
            }
        }
        if self.planned.len() > before {
            return Ok(());
        }
        let why = match refused {
            Some((line, why)) => {
                format!("the queue of link {} does not take it: {why}", self.lines[line as usize].name)
            }
            None => "no line of its path has a rate".to_owned(),
        };
        let message = format!("{why}; use a discipline that goes by weights, as drr or fq");
        Err(Fault::new(format!("{path}.weight"), message))
    }

    /// A line without a rate has nothing that waits.
    fn needs_rate(&self, line: u32, path: &str) -> Result<(), Fault> {
        let line = &self.lines[line as usize];
        if line.rate.is_some() {
            return Ok(());
        }
        let message = format!("link {} has an unlimited rate, so nothing waits there; give it a rate", line.name);
        Err(Fault::new(path, message))
    }

    /// Whether the discipline that `line` has by then takes the change.
    fn tried(&self, line: u32, change: &change::Change<'_>) -> Result<(), change::Unsupported> {
        let rate = self.lines[line as usize].rate.expect("it was checked");
        let mut told = contract::Line::new(rate);
        if let change::Change::Weight(header, _) = change {
            told.weights = vec![(*header, Weight::ONE)];
        }
        self.queues.last(line).build(&told).change(Time::ZERO, change)
    }

    fn try_change(&self, line: u32, change: &change::Change<'_, Header>, path: &str) -> Result<(), Fault> {
        self.tried(line, change).map_err(|why| {
            let name = &self.lines[line as usize].name;
            Fault::new(path, format!("the queue of link {name} does not take it while packets wait: {why}"))
        })
    }

    /// Checks the new disciplines as those from the start are checked.
    fn check_queues(&self, flows: &mut [FlowPlan], sessions: &[SessionPlan]) -> Result<(), Fault> {
        for (line, queue, path) in self.queues.0.iter().filter(|(.., path)| !path.is_empty()) {
            let mut lines = self.lines.to_vec();
            let at = &mut lines[*line as usize];
            (at.queue, at.queue_said) = (Arc::clone(queue), path.as_str().into());
            if let Some(message) = ring_fault(at) {
                return Err(Fault::new(path, message));
            }
            needs::check(&lines, flows, sessions)?;
            policers::check(&lines, flows, sessions)?;
        }
        Ok(())
    }
}
