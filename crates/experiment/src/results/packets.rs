//! Packets of chosen flows: when each was sent, and when it reached the end of its path, if it did.
//! That is what the end hosts know of a path.
//!
//! An observer like any other: a run without it pays nothing.

use crate::columns::PACKETS;
use crate::results::table::{Builder, Table};
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::plan::Plan;
use fairq_sim::segment::{Direction, Segment};
use std::sync::{Arc, Mutex};

/// The packets recorded so far, shared with the caller.
pub type Shared = Arc<Mutex<Vec<Journey>>>;

/// A data packet whose journey has ended.
#[derive(Clone, Copy, Debug)]
pub struct Journey {
    flow: u32,
    sent: Time,
    /// `None` if it was dropped or lost.
    received: Option<Time>,
    length: u32,
}

/// Records the packets.
pub struct Packets {
    /// By flow, whether it was chosen.
    is_chosen: Vec<bool>,
    journeys: Shared,
}

impl Packets {
    /// Chooses the flow called `name`, and the copies of an entry of that name.
    #[must_use]
    pub fn new(plan: &Plan, name: &str, journeys: Shared) -> Self {
        Self { is_chosen: chosen(plan, name).collect(), journeys }
    }

    /// Whether `plan` has a flow of that name.
    #[must_use]
    pub fn has(plan: &Plan, name: &str) -> bool {
        chosen(plan, name).any(|is_chosen| is_chosen)
    }

    fn end_of(&mut self, segment: &Segment, received: Option<Time>) {
        let is_chosen = self.is_chosen.get(segment.flow as usize).is_some_and(|is_chosen| *is_chosen);
        if is_chosen
            && segment.direction == Direction::Forward
            && let Ok(mut journeys) = self.journeys.lock()
        {
            journeys.push(Journey { flow: segment.flow, sent: segment.sent, received, length: segment.length });
        }
    }
}

fn chosen(plan: &Plan, name: &str) -> impl Iterator<Item = bool> {
    let is_copy = |rest: &str| rest.strip_prefix('.').is_some_and(|number| number.parse::<u32>().is_ok());
    plan.flows.iter().map(move |flow| flow.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || is_copy(rest)))
}

/// The packets as a table, in the order in which they were sent.
#[must_use]
pub fn table(plan: &Plan, mut journeys: Vec<Journey>) -> Table {
    journeys.sort_by_key(|journey| journey.sent);
    let mut table = Builder::new(&PACKETS);
    table.text("flow", journeys.iter().map(|journey| Arc::clone(&plan.flows[journey.flow as usize].name)));
    table.real("sent_s", journeys.iter().map(|journey| journey.sent.as_s()));
    table.real("received_s", journeys.iter().map(|journey| journey.received.map(Time::as_s)));
    table.whole("bytes", journeys.iter().map(|journey| u64::from(journey.length)));
    table.finish()
}

impl Observer for Packets {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Delivered { segment, .. } => self.end_of(segment, Some(now)),
            Event::Dropped { segment, .. } | Event::Lost { segment, .. } => self.end_of(segment, None),
            _ => {}
        }
    }
}
