//! Time series of each flow's throughput and each gateway's queue, sampled at equal intervals.
//!
//! An observer like any other: a run without it pays nothing.

use crate::results::table::{Cells, Table};
use fairq_sched::units::Time;
use fairq_sim::multicast::plan::{ReceiverPlan, SessionPlan};
use fairq_sim::observe::{Event, Observer};
use fairq_sim::plan::{LinePlan, Plan};
use fairq_sim::segment::Direction;
use std::sync::{Arc, Mutex};

/// The most rows; a short interval over a long run is refused.
pub const ROWS_MAX: u64 = 5_000_000;

/// The samples recorded so far, shared with the caller.
pub type Shared = Arc<Mutex<Samples>>;

/// Samples by columns.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    time: Vec<f64>,
    flow: Vec<Option<Arc<str>>>,
    link: Vec<Option<Arc<str>>>,
    direction: Vec<Option<Arc<str>>>,
    throughput: Vec<f64>,
    held: Vec<Option<u64>>,
    /// Only a scenario that has sessions has columns for them.
    has_sessions: bool,
    session: Vec<Option<Arc<str>>>,
    receiver: Vec<Option<Arc<str>>>,
    level: Vec<Option<u64>>,
}

/// A sample of a flow, a line or a receiver.
struct Sample<'a> {
    flow: Option<&'a Arc<str>>,
    line: Option<&'a SampledLine>,
    throughput: f64,
    held: Option<u64>,
    receiver: Option<&'a SampledReceiver>,
}

impl Sample<'_> {
    /// An empty sample.
    const NONE: Self = Self { flow: None, line: None, throughput: f64::NAN, held: None, receiver: None };
}

impl Samples {
    fn push(&mut self, time: f64, sample: &Sample<'_>) {
        self.time.push(time);
        self.flow.push(sample.flow.cloned());
        self.link.push(sample.line.map(|line| Arc::clone(&line.name)));
        self.direction.push(sample.line.map(|line| Arc::clone(&line.direction)));
        self.throughput.push(sample.throughput);
        self.held.push(sample.held);
        if self.has_sessions {
            self.session.push(sample.receiver.map(|receiver| Arc::clone(&receiver.session)));
            self.receiver.push(sample.receiver.map(|receiver| Arc::clone(&receiver.name)));
            self.level.push(sample.receiver.map(|receiver| u64::from(receiver.level)));
        }
    }

    /// The samples as a table.
    #[must_use]
    pub fn into_table(self) -> Table {
        let mut table = Table::default();
        table.push("time_s", Cells::Real(self.time));
        table.push("flow", Cells::Text(self.flow));
        table.push("link", Cells::Text(self.link));
        table.push("direction", Cells::Text(self.direction));
        table.push("throughput_bit_per_s", Cells::Real(self.throughput));
        table.push("held_packets", Cells::Whole(self.held));
        if self.has_sessions {
            table.push("session", Cells::Text(self.session));
            table.push("receiver", Cells::Text(self.receiver));
            table.push("level", Cells::Whole(self.level));
        }
        table
    }
}

/// A line that is sampled.
struct SampledLine {
    name: Arc<str>,
    direction: Arc<str>,
    number: u32,
}

/// A receiver of a session, with the layers that it takes.
struct SampledReceiver {
    session: Arc<str>,
    name: Arc<str>,
    level: u32,
}

/// Records the samples.
pub struct Series {
    interval: Time,
    /// The end of the present interval.
    end: Time,
    flows: Vec<Arc<str>>,
    /// The lines that have a gateway and are not access lines.
    lines: Vec<SampledLine>,
    /// Bytes delivered in the present interval, by flow.
    delivered: Vec<u64>,
    /// Packets held, waiting or being sent, by line.
    held: Vec<u64>,
    receivers: Vec<SampledReceiver>,
    samples: Shared,
}

impl Series {
    /// Samples every `interval` (above zero) from the start of the run.
    #[must_use]
    pub fn new(plan: &Plan, interval: Time, samples: Shared) -> Self {
        let directions = ["forward", "reverse"].map(Arc::<str>::from);
        let lines = plan.lines.iter().zip(0..).filter(|(line, _)| !line.is_access && line.rate.is_some());
        let line = |(line, number): (&LinePlan, u32)| {
            let (name, direction) = (Arc::clone(&line.name), directions[usize::from(line.is_reverse)].clone());
            SampledLine { name, direction, number }
        };
        let receivers = receivers(plan);
        // The lock is never poisoned by a panic of ours: the samples are plain values.
        if let Ok(mut samples) = samples.lock() {
            samples.has_sessions = !receivers.is_empty();
        }
        Self {
            interval,
            end: interval,
            flows: plan.flows.iter().map(|flow| Arc::clone(&flow.name)).collect(),
            lines: lines.map(line).collect(),
            delivered: vec![0; plan.flows.len()],
            held: vec![0; plan.lines.len()],
            receivers,
            samples,
        }
    }

    /// The number of rows that a run of `plan` gives.
    #[must_use]
    pub fn rows_of(plan: &Plan, interval: Time) -> u64 {
        let samples = plan.warm_up.saturating_add(plan.duration).0 / interval.0.max(1);
        samples.saturating_mul((plan.flows.len() + plan.lines.len() + receivers(plan).len()) as u64)
    }

    /// Closes the intervals that end before `now`.
    fn close(&mut self, now: Time) {
        while self.end < now {
            let time = self.end.as_s();
            let seconds = self.interval.as_s();
            let Ok(mut samples) = self.samples.lock() else { return };
            for (flow, bytes) in self.flows.iter().zip(&mut self.delivered) {
                let throughput = std::mem::take(bytes) as f64 * 8.0 / seconds;
                samples.push(time, &Sample { flow: Some(flow), throughput, ..Sample::NONE });
            }
            for line in &self.lines {
                let held = Some(self.held[line.number as usize]);
                samples.push(time, &Sample { line: Some(line), held, ..Sample::NONE });
            }
            for receiver in &self.receivers {
                samples.push(time, &Sample { receiver: Some(receiver), ..Sample::NONE });
            }
            drop(samples);
            self.end = self.end.saturating_add(self.interval);
        }
    }
}

/// The receivers of all sessions, before any of them has joined.
fn receivers(plan: &Plan) -> Vec<SampledReceiver> {
    let of = |session: &SessionPlan| {
        let name: Arc<str> = (*session.name).into();
        let receiver = |receiver: &ReceiverPlan| SampledReceiver {
            session: Arc::clone(&name),
            name: (*receiver.name).into(),
            level: 0,
        };
        session.receivers.iter().map(receiver).collect::<Vec<_>>()
    };
    plan.sessions.iter().flat_map(of).collect()
}

impl Observer for Series {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        if self.end < now {
            self.close(now);
        }
        match event {
            Event::Arrived { line, .. } => self.held[*line as usize] += 1,
            Event::Dropped { line, .. } => self.held[*line as usize] -= 1,
            // An unlimited line has no gateway, and no packet arrives at one.
            Event::Sent { line, .. } => self.held[*line as usize] = self.held[*line as usize].saturating_sub(1),
            Event::Delivered { segment } if segment.direction == Direction::Forward => {
                // Branches of sessions have the numbers after those of flows.
                if let Some(delivered) = self.delivered.get_mut(segment.flow as usize) {
                    *delivered += u64::from(segment.length);
                }
            }
            Event::Level { receiver, level } => self.receivers[*receiver as usize].level = *level,
            Event::Delivered { .. } | Event::Lost { .. } | Event::Marked { .. } => {}
        }
    }

    fn end(&mut self, now: Time) {
        // An interval that ends at `now` is closed too.
        self.close(now.saturating_add(Time(1)));
    }
}
