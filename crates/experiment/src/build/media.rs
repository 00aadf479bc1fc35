//! The capacity and the impairments of a link, as given in a scenario.

use crate::scenario::{Link, Reorder};
use crate::values::{LineRate, LinkRate, LossForm};
use fairq_link::impairment::Impairment;
use fairq_link::trace::{DeliveryTrace, TraceError};
use fairq_sched::units::{Bytes, Rate, Time};
use fairq_sim::net::varying::Course;
use fairq_sim::plan::Files;
use fairq_text::Fault;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The capacity of one direction.
#[derive(Clone, Debug)]
pub(super) struct Capacity {
    /// The rate, or the nominal one if it changes; `None` if unlimited.
    pub(super) rate: Option<Rate>,
    /// What its rate follows, if it changes.
    pub(super) course: Option<Course>,
}

impl Capacity {
    fn following(course: Course) -> Self {
        Self { rate: Some(course.nominal()), course: Some(course) }
    }
}

impl From<LinkRate> for Capacity {
    fn from(rate: LinkRate) -> Self {
        match rate {
            LinkRate::Constant(LineRate(rate)) => Self { rate, course: None },
            LinkRate::Walk(range) => Self::following(Course::Walk(range)),
        }
    }
}

/// Delivery traces by name; each is read once.
pub(super) struct Media<'a> {
    files: Files<'a>,
    traces: BTreeMap<String, Arc<DeliveryTrace>>,
}

impl<'a> Media<'a> {
    pub(super) const fn new(files: Files<'a>) -> Self {
        Self { files, traces: BTreeMap::new() }
    }

    /// The capacities of both directions of `link`, whose place is `path`.
    pub(super) fn capacities(&mut self, link: &Link, path: &str) -> Result<[Capacity; 2], Fault> {
        let fault = |field: &str, message: &str| Err(Fault::new(format!("{path}.{field}"), message));
        let forward = match (link.rate, &link.trace) {
            (Some(_), Some(_)) => return fault("trace", "a link has a rate or a trace; leave one of them out"),
            (Some(rate), None) => rate.into(),
            (None, Some(file)) => self.follow(file, path, "trace")?,
            (None, None) => return Err(Fault::new(path, "rate is missing; write rate = \"56 kbit/s\"")),
        };
        let reverse = match (link.reverse_rate, &link.reverse_trace) {
            (Some(_), Some(_)) => {
                return fault("reverse_trace", "a direction has a rate or a trace; leave one of them out");
            }
            (Some(rate), None) => rate.into(),
            (None, Some(file)) => self.follow(file, path, "reverse_trace")?,
            (None, None) => forward.clone(),
        };
        Ok([forward, reverse])
    }

    fn follow(&mut self, file: &str, path: &str, field: &str) -> Result<Capacity, Fault> {
        let trace = match self.traces.get(file) {
            Some(trace) => Arc::clone(trace),
            None => {
                let fault = |message: String| Fault::new(format!("{path}.{field}"), message);
                let bytes = (self.files)(file).map_err(fault)?;
                // The name and the line, or only the name: `x.down:3: …`.
                let told = |error: TraceError| {
                    let gap = if error.line.is_some() { ":" } else { ": " };
                    fault(format!("{file}{gap}{error}"))
                };
                let trace = Arc::new(DeliveryTrace::parse(&bytes).map_err(told)?);
                self.traces.insert(file.to_string(), Arc::clone(&trace));
                trace
            }
        };
        Ok(Capacity::following(Course::Trace(trace)))
    }
}

/// Bytes that the link layer of `link` adds to a packet.
pub(super) fn link_header(link: &Link, path: &str) -> Result<u8, Fault> {
    let Bytes(header) = link.link_header.unwrap_or_default();
    u8::try_from(header)
        .map_err(|_| Fault::new(format!("{path}.link_header"), "a link layer's header has at most 255 B"))
}

/// The impairments of `link`, whose place is `path`.
pub(super) fn impairment(link: &Link, path: &str) -> Result<Impairment, Fault> {
    changed(Impairment::default(), link.loss, link.jitter, link.reorder.as_ref(), path)
}

/// The impairments `before` with what is given at the place `path`.
pub(super) fn changed(
    before: Impairment,
    loss: Option<LossForm>,
    jitter: Option<Time>,
    reorder: Option<&Reorder>,
    path: &str,
) -> Result<Impairment, Fault> {
    let mut changed = before;
    if let Some(LossForm(loss)) = loss {
        changed.loss = loss;
        if let Some(message) = loss.fault() {
            return Err(Fault::new(format!("{path}.loss"), message));
        }
    }
    changed.jitter = jitter.unwrap_or(changed.jitter);
    if let Some(&Reorder { probability, delay }) = reorder {
        if !(0.0..1.0).contains(&probability) {
            let message = format!("a probability is from 0 to below 1, not {probability}");
            return Err(Fault::new(format!("{path}.reorder.probability"), message));
        }
        (changed.reorder, changed.reorder_delay) = (probability, delay);
    }
    Ok(changed)
}
