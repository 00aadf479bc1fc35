//! One run that the page holds: on, to an event, changed by hand, and with the changes of its log
//! when it is taken again.

use crate::refused::Refused;
use crate::request::{Begin, Entry, Hand};
use crate::scenario::{files, flow, links, read};
use fairq_experiment::experiment::Experiment;
use fairq_experiment::live::passing::Passing;
use fairq_experiment::live::{Live, Progress, busiest, lines};
use fairq_experiment::shares;
use fairq_sched::units::{PS_PER_S, Time};
use fairq_text::Fault;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// How many packets of the past are kept.
const KEEP: usize = 20_000;

/// A run, and the line of it that is shown.
pub(crate) struct Run {
    pub(crate) live: Live,
    pub(crate) passing: Passing,
    /// The number of the line.
    pub(crate) line: u32,
    /// The plan's number of each flow that crosses the line.
    pub(crate) flows: Vec<u32>,
    link: String,
    is_reverse: bool,
    title: String,
    given: crate::request::Given,
    /// The max-min share of each flow of the plan, bit/s.
    shares: Vec<Option<f64>>,
    /// Changes that were made and whose step has not come again.
    pending: VecDeque<Entry>,
}

/// Seconds as the page writes them: a whole number of picoseconds.
pub(crate) fn time(seconds: f64) -> Time {
    // A negative number and what is none are zero, what is too large the latest time.
    Time((seconds * PS_PER_S as f64).round() as u64)
}

fn found(experiment: &Experiment, link: Option<&str>, direction: Option<&str>) -> Result<u32, Refused> {
    let plan = &experiment.plans()[0].1;
    let Some(link) = link else {
        return Ok(busiest(plan)?);
    };
    Ok(lines(plan, link)?[usize::from(direction == Some("reverse"))])
}

/// By flow of the plan, its max-min share in bit/s.
fn shares_of(experiment: &Experiment) -> Vec<Option<f64>> {
    shares::max_min(experiment).iter().map(|row| row.get("share_bit_per_s").and_then(Value::as_f64)).collect()
}

impl Run {
    /// Begins a run.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub(crate) fn begin(begin: Begin) -> Result<Self, Refused> {
        let Begin { given, seed, link, direction, log } = begin;
        let experiment = read(&given)?;
        let line = found(&experiment, link.as_deref(), direction.as_deref())?;
        let of = &experiment.plans()[0].1.lines[line as usize];
        let (link, is_reverse) = (of.name.to_string(), of.is_reverse);
        let title = experiment.scenario().title.clone();
        let shares = shares_of(&experiment);
        let mut live = Live::new(experiment, seed, files(&given), Some(std::slice::from_ref(&link)))?;
        let passing = live.record(Some(&link), is_reverse, KEEP)?;
        let flows = passing.at(Time::ZERO).flows().to_vec();
        Ok(Self { live, passing, line, flows, link, is_reverse, title, given, shares, pending: log.into() })
    }

    pub(crate) fn shares(&self) -> &[Option<f64>] {
        &self.shares
    }

    /// What the page is told of a run that has begun.
    pub(crate) fn begun(&self) -> Value {
        let plan = self.live.run().plan();
        let line = &plan.lines[self.line as usize];
        let sessions = json!({ "name": "sessions", "weight": 1.0 });
        let flows = self.flows.iter().map(|at| plan.flows.get(*at as usize).map_or_else(|| sessions.clone(), flow));
        json!({
            "title": self.title,
            "end_s": self.live.run().end().as_s(),
            "warm_up_s": plan.warm_up.as_s(),
            "link": self.link,
            "direction": line.direction(),
            "rate_bit_per_s": line.rate.map(fairq_sched::units::Rate::bit_per_s),
            "links": links(plan),
            "flows": flows.collect::<Vec<_>>(),
            "queue": fairq_text::written(&line.queue),
            "card": line.queue.card().map(|card| card.name),
        })
    }

    /// Where the run is.
    pub(crate) fn here(&self, reached: bool) -> Value {
        let run = self.live.run();
        json!({
            "now_s": run.now().as_s(),
            "steps": run.steps(),
            "digest": format!("{:016x}", run.digest().0),
            "reached": reached,
            "pending": self.pending.len(),
        })
    }

    /// Makes the changes of the log whose step has been, up to `time`.
    fn catch_up(&mut self, until: Time) -> Result<(), Refused> {
        let steps = self.live.run().steps();
        let is_due = |entry: &Entry| entry.step <= steps && entry.at_ps <= until.0;
        while self.pending.front().is_some_and(is_due) {
            let Some(entry) = self.pending.pop_front() else { break };
            if self.live.run().now().0 < entry.at_ps {
                // All events up to then have been: none is taken.
                self.live.run_some(Time(entry.at_ps), u64::MAX);
            }
            self.made(&entry.hand)?;
        }
        Ok(())
    }

    /// Steps that may be taken before the next change of the log.
    fn free_steps(&self) -> u64 {
        let steps = self.live.run().steps();
        self.pending.front().map_or(u64::MAX, |entry| entry.step.saturating_sub(steps).max(1))
    }

    pub(crate) fn advance(&mut self, to: Time, most: u64) -> Result<bool, Refused> {
        let end = self.live.run().steps().saturating_add(most);
        loop {
            self.catch_up(to)?;
            let left = end - self.live.run().steps().min(end);
            if left == 0 {
                return Ok(false);
            }
            if self.live.run_some(to, left.min(self.free_steps())) == Progress::Reached {
                self.catch_up(to)?;
                return Ok(true);
            }
        }
    }

    pub(crate) fn go(&mut self, to: u64, most: u64) -> Result<bool, Refused> {
        let limit = self.live.run().steps().saturating_add(most);
        loop {
            self.catch_up(Time::NEVER)?;
            let steps = self.live.run().steps();
            if steps >= to {
                return Ok(true);
            }
            if steps >= limit {
                return Ok(false);
            }
            let left = (to.min(limit) - steps).min(self.free_steps());
            if self.live.run_some(Time::NEVER, left) == Progress::Reached {
                return Ok(true);
            }
        }
    }

    pub(crate) fn step(&mut self) -> Result<Value, Refused> {
        self.catch_up(self.live.run().next_time().unwrap_or(Time::NEVER))?;
        let stepped = self.live.step();
        let mut here = self.here(stepped.is_none());
        if let Some((what, of, direction)) = stepped {
            (here["what"], here["of"], here["direction"]) = (what.into(), of.into(), direction.into());
        }
        Ok(here)
    }

    pub(crate) fn until(
        &mut self,
        events: &[String],
        flow: Option<u32>,
        to: Time,
        most: u64,
    ) -> Result<Value, Refused> {
        let (mut reached, mut is_found) = (false, false);
        let mut told = self.passing.record().told();
        for _ in 0..most {
            self.catch_up(to)?;
            reached = self.live.run_some(to, 1) == Progress::Reached;
            let record = self.passing.record();
            let is_of = |serial| flow.is_none_or(|flow| record.passage(serial).is_some_and(|it| it.flow == flow));
            let news = record.events().rev().take((record.told() - told) as usize);
            let mut news = news.filter(|it| events.iter().any(|event| *event == it.event) && is_of(it.serial));
            is_found = news.next().is_some();
            told = record.told();
            if reached || is_found {
                break;
            }
        }
        let mut here = self.here(reached);
        here["found"] = is_found.into();
        Ok(here)
    }

    /// Makes a change now, and gives the log's entry of it. What the log had of later is forgotten.
    pub(crate) fn hand(&mut self, hand: Hand) -> Result<Entry, Refused> {
        self.made(&hand)?;
        self.pending.clear();
        let run = self.live.run();
        Ok(Entry { hand, step: run.steps(), at_ps: run.now().0 })
    }

    fn made(&mut self, hand: &Hand) -> Result<(), Refused> {
        let now = self.live.run().now();
        match hand {
            Hand::Set(path, value) => self.live.set(path, value).map_err(|fault| self.at_restart(path, value, fault)),
            Hand::Offer { flow, bytes, count } => {
                let plan = self.live.run().plan();
                let named = self.flows.get(*flow as usize).and_then(|at| plan.flows.get(*at as usize));
                let named = named
                    .map(|flow| flow.name.to_string())
                    .ok_or_else(|| format!("flow: {flow}: there is no such flow"))?;
                if !(1..=1_000_000).contains(bytes) || !(1..=100_000).contains(count) {
                    return Err("offer: a packet has 1 to 1000000 bytes, and a burst 1 to 100000 packets"
                        .to_owned()
                        .into());
                }
                Ok(self.live.offer(&self.link, self.is_reverse, (&named, *bytes), *count)?)
            }
            Hand::Drop(packet) => Ok(self.live.drop_packet(*packet)?),
            Hand::Mark(packet) => Ok(self.live.mark_packet(*packet)?),
            Hand::Hold { packet, for_s } => Ok(self.live.hold_packet(*packet, now.saturating_add(time(*for_s)))?),
        }
    }

    /// The refusal of a change that cannot be made in a run, and whether a run that begins again
    /// may
    /// have it.
    fn at_restart(&self, path: &str, value: &str, fault: Fault) -> Refused {
        let mut given = self.given.clone();
        given.sets.push((path.to_owned(), value.to_owned()));
        Refused { restart: read(&given).is_ok(), ..fault.into() }
    }
}
