//! A line of the network: its path, and what is counted on it.

use super::Carried;
use crate::flows::Flows;
use crate::plan::{LinePlan, Plan, Speed};
use crate::record::{Event, Observer, What};
use fairq_link::ecn::Field;
use fairq_link::path::{Path, PathSettings, Watch};
use fairq_link::random::key;
use fairq_link::trace::Opportunities;
use fairq_sched::contract::{self, Discipline};
use fairq_sched::packet::{Header, Marks, Packet, Reason};
use fairq_sched::service::{Service, Transmitter};
use fairq_sched::units::{Rate, Time, Weight};

/// The length from which on packets are more likely data.
const SHORT: u32 = 200;

/// A line.
pub(super) struct Line {
    pub(super) path: Path<Box<dyn Discipline>, Carried>,
    pub(super) plan: LinePlan,
    pub(super) link_header: u8,
    pub(super) to: u32,
    /// When it wants to be called; [`Time::NEVER`] if it does not.
    pub(super) next: Time,
    pub(super) tally: Tally,
    /// Of the last short and the last long length, [`Line::own_time`].
    own_times: [(u32, Time); 2],
}

/// The lines of `plan`, idle.
pub(super) fn lines(plan: &Plan) -> Vec<Line> {
    let mut weights: Vec<Vec<(Header, Weight)>> = vec![Vec::new(); plan.lines.len()];
    for (number, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| flow.weight != Weight::ONE) {
        for line in &flow.lines[0] {
            if let Some(weights) = weights.get_mut(*line as usize) {
                weights.push((super::ways::header_of(flow, number), flow.weight));
            }
        }
    }
    plan.lines.iter().zip(weights).map(|(line, weights)| Line::new(line, weights, plan.seed)).collect()
}

impl Line {
    fn new(plan: &LinePlan, weights: Vec<(Header, Weight)>, seed: u64) -> Self {
        let direction = if plan.is_reverse { "reverse" } else { "forward" };
        let name = format!("{}/{direction}", plan.name);
        let service: Box<dyn Service> = match &plan.speed {
            Speed::Unlimited => Box::new(Immediate(Time::ZERO)),
            Speed::Rate(rate) => Box::new(Transmitter::new(*rate)),
            Speed::Trace(trace) => Box::new(Traced(Opportunities::new(trace.clone()))),
        };
        // A line without a rate never queues; any rate will do.
        let rate = plan.speed.rate().unwrap_or(Rate::MAX);
        let told = contract::Line { seed: key(seed, &format!("{name}/queue")), weights, ..contract::Line::new(rate) };
        let settings = PathSettings { service, delay: plan.delay, impairment: plan.impairment };
        Self {
            path: Path::new(settings, plan.queue.build(&told), key(seed, &name)),
            plan: plan.clone(),
            link_header: plan.link_header,
            to: plan.to,
            next: Time::NEVER,
            tally: Tally::default(),
            own_times: [(0, plan.delay); 2],
        }
    }

    /// The time of a packet of `length` bytes that meets no other.
    pub(super) fn own_time(&mut self, length: u32) -> Time {
        // Most packets have one of two lengths: that of data and that of acknowledgements.
        let at = usize::from(length > SHORT);
        if self.own_times[at].0 != length {
            let sending = match self.plan.speed {
                Speed::Rate(rate) => rate.time_of_bits(u64::from(length) * 8),
                Speed::Unlimited | Speed::Trace(_) => Time::ZERO,
            };
            self.own_times[at] = (length, self.plan.delay.saturating_add(sending));
        }
        self.own_times[at].1
    }
}

impl Speed {
    /// The rate: of a trace its mean, of a line without one `None`.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Self::Unlimited => None,
            Self::Rate(rate) => Some(*rate),
            Self::Trace(trace) => Some(trace.mean()),
        }
    }
}

/// Sends in no time.
struct Immediate(Time);

impl Service for Immediate {
    fn begin(&mut self, now: Time) {
        self.0 = now;
    }

    fn send(&mut self, _: u64) -> Time {
        self.0
    }

    fn interrupt(&mut self, _: Time, _: Time) -> u32 {
        1
    }
}

/// Sends at the opportunities of a trace.
struct Traced(Opportunities);

impl Service for Traced {
    fn begin(&mut self, now: Time) {
        self.0.begin(now);
    }

    fn send(&mut self, bits: u64) -> Time {
        self.0.send(bits)
    }

    fn interrupt(&mut self, now: Time, _: Time) -> u32 {
        self.0.interrupt(now)
    }
}

/// What is counted on a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Packets that wait, and since when.
    waiting: u64,
    since: Time,
    /// Packets times picoseconds.
    area: u128,
    is_sending: bool,
    pub(super) waiting_max: u64,
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) lost: u64,
    pub(super) dropped: u64,
    pub(super) marked: u64,
}

impl Tally {
    /// What waits does so until `now`; only what waits for a time counts as the most.
    fn until(&mut self, now: Time) {
        if self.since < now {
            self.waiting_max = self.waiting_max.max(self.waiting);
        }
        self.area += u128::from(self.waiting) * u128::from(now.saturating_sub(self.since).0);
        self.since = self.since.max(now);
    }

    /// A packet comes.
    pub(super) fn joins(&mut self, now: Time) {
        self.until(now);
        self.waiting += 1;
    }

    fn leaves(&mut self, now: Time) {
        self.until(now);
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// Packets in the queue, that in transmission included.
    pub(super) fn held(&self) -> u64 {
        self.waiting + u64::from(self.is_sending)
    }

    /// The mean over time of the packets that waited until `end`.
    pub(super) fn waiting_mean(&self, end: Time) -> f64 {
        let mut last = *self;
        last.until(end);
        if end == Time::ZERO { 0.0 } else { last.area as f64 / end.0 as f64 }
    }
}

/// Hears of the line while it is pushed to or polled.
pub(super) struct Hears<'a> {
    pub(super) line: u32,
    pub(super) tally: &'a mut Tally,
    pub(super) flows: &'a mut Flows,
    pub(super) observers: &'a mut [Box<dyn Observer>],
}

impl Hears<'_> {
    #[inline]
    pub(super) fn tell(&mut self, now: Time, what: What, carried: &Carried, length: u32, is_marked: bool) {
        if !self.observers.is_empty() {
            let packet = carried.seen(self.flows.name(carried.flow), length, is_marked);
            let event = Event { line: self.line, what, packet };
            self.observers.iter_mut().for_each(|observer| observer.event(now, &event));
        }
    }

    pub(super) fn lost(&mut self, now: Time, carried: &Carried, length: u32) {
        self.tally.lost += 1;
        self.flows.counts(carried.flow).lost += 1;
        self.tell(now, What::Lost, carried, length, false);
    }
}

impl Watch<Carried> for Hears<'_> {
    fn begins(&mut self, _: &Packet, _: &Carried, at: Time) {
        self.tally.leaves(at);
        self.tally.is_sending = true;
    }

    fn interrupted(&mut self, _: &Packet, _: &Carried, at: Time) {
        self.tally.is_sending = false;
        self.tally.joins(at);
    }

    fn ended(&mut self, packet: &Packet, carried: &Carried, at: Time) {
        self.tally.is_sending = false;
        self.tally.packets += 1;
        self.tally.bytes += u64::from(packet.length);
        let is_marked = packet.marks.intersects(Marks::CE) && Field::of(carried.header.tos) != Field::Ce;
        self.tell(at, What::Sent, carried, packet.length, is_marked);
    }

    fn dropped(&mut self, packet: &Packet, carried: &Carried, at: Time, why: Reason) {
        self.tally.leaves(at);
        self.tally.dropped += 1;
        self.flows.counts(carried.flow).dropped += 1;
        self.tell(at, What::Dropped(why), carried, packet.length, false);
    }

    fn marked(&mut self, _: &Packet, carried: &Carried, _: Time, marks: Marks) {
        if marks.intersects(Marks::CE) {
            self.tally.marked += 1;
            self.flows.counts(carried.flow).marked += 1;
        }
    }
}
