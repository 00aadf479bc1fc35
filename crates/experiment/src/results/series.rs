//! Time series of each flow's throughput and each gateway's queue, sampled at equal intervals.
//!
//! They are read at the end of each interval; between two of them a run pays nothing.

use crate::columns::SERIES;
use crate::results::table::{Builder, Table};
use fairq_sched::units::Time;
use fairq_sim::multicast::plan::{ReceiverPlan, SessionPlan};
use fairq_sim::plan::{LinePlan, Plan};
use fairq_sim::run::Simulation;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most rows; a short interval over a long run is refused.
pub const ROWS_MAX: u64 = 5_000_000;

/// Samples by columns.
#[derive(Debug, Default)]
struct Samples {
    time: Vec<f64>,
    flow: Vec<Option<Arc<str>>>,
    link: Vec<Option<Arc<str>>>,
    direction: Vec<Option<Arc<str>>>,
    throughput: Vec<f64>,
    held: Vec<Option<u64>>,
    window: Vec<f64>,
    flight: Vec<Option<u64>>,
    rtt: Vec<f64>,
    pacing: Vec<f64>,
    phase: Vec<Option<&'static str>>,
    session: Vec<Option<Arc<str>>>,
    receiver: Vec<Option<Arc<str>>>,
    level: Vec<Option<u64>>,
}

/// What a sender says of itself; NaN is no value.
#[derive(Clone, Copy, Debug)]
struct SenderState {
    window: f64,
    flight: Option<u64>,
    rtt: f64,
    pacing: f64,
    phase: Option<&'static str>,
}

impl SenderState {
    const NONE: Self = Self { window: f64::NAN, flight: None, rtt: f64::NAN, pacing: f64::NAN, phase: None };

    fn of(simulation: &Simulation, flow: usize) -> Self {
        let mut state = Self { phase: simulation.phase(flow), ..Self::NONE };
        simulation.inspect(flow, &mut |name, value| match name {
            "window_packets" => state.window = value,
            "flight_packets" => state.flight = Some(value as u64),
            "rtt_s_smoothed" => state.rtt = value,
            "pacing_bit_per_s" | "rate_bit_per_s" if value.is_finite() => state.pacing = value,
            _ => {}
        });
        state
    }
}

/// A sample of a flow, a line or a receiver.
struct Sample<'a> {
    flow: Option<&'a Arc<str>>,
    line: Option<&'a SampledLine>,
    throughput: f64,
    sender: SenderState,
    held: Option<u64>,
    /// The receiver, and the layers that it takes.
    receiver: Option<(&'a SampledReceiver, u64)>,
}

impl Sample<'_> {
    /// An empty sample.
    const NONE: Self =
        Self { flow: None, line: None, throughput: f64::NAN, sender: SenderState::NONE, held: None, receiver: None };
}

impl Samples {
    fn push(&mut self, time: f64, sample: &Sample<'_>) {
        self.time.push(time);
        self.flow.push(sample.flow.cloned());
        self.link.push(sample.line.map(|line| Arc::clone(&line.name)));
        self.direction.push(sample.line.map(|line| Arc::clone(&line.direction)));
        self.throughput.push(sample.throughput);
        self.held.push(sample.held);
        self.window.push(sample.sender.window);
        self.flight.push(sample.sender.flight);
        self.rtt.push(sample.sender.rtt);
        self.pacing.push(sample.sender.pacing);
        self.phase.push(sample.sender.phase);
        self.session.push(sample.receiver.map(|(receiver, _)| Arc::clone(&receiver.session)));
        self.receiver.push(sample.receiver.map(|(receiver, _)| Arc::clone(&receiver.name)));
        self.level.push(sample.receiver.map(|(_, level)| level));
    }

    fn into_table(self) -> Table {
        let mut table = Builder::new(&SERIES);
        table.real("time_s", self.time.into_iter());
        table.text("flow", self.flow.into_iter());
        table.text("link", self.link.into_iter());
        table.text("direction", self.direction.into_iter());
        table.real("throughput_bit_per_s", self.throughput.into_iter());
        table.real("window_packets", self.window.into_iter());
        table.whole("flight_packets", self.flight.into_iter());
        table.real("rtt_s", self.rtt.into_iter());
        table.real("pacing_bit_per_s", self.pacing.into_iter());
        let mut words: BTreeMap<&str, Arc<str>> = BTreeMap::new();
        let mut shared = |word| Arc::clone(words.entry(word).or_insert_with(|| word.into()));
        table.text("phase", self.phase.into_iter().map(|phase| phase.map(&mut shared)));
        table.whole("held_packets", self.held.into_iter());
        table.text("session", self.session.into_iter());
        table.text("receiver", self.receiver.into_iter());
        table.whole("level", self.level.into_iter());
        table.finish()
    }
}

/// A line that is sampled.
struct SampledLine {
    name: Arc<str>,
    direction: Arc<str>,
    number: u32,
}

/// A receiver of a session.
struct SampledReceiver {
    session: Arc<str>,
    name: Arc<str>,
}

/// Takes the samples of a run.
pub struct Series {
    interval: Time,
    /// The end of the present interval.
    end: Time,
    flows: Vec<Arc<str>>,
    /// The lines that have a gateway and are not access lines.
    lines: Vec<SampledLine>,
    /// By flow, the bytes that were delivered since the counts were cleared, up to the last sample;
    /// below zero if some of the present interval are no longer counted.
    before: Vec<i64>,
    receivers: Vec<SampledReceiver>,
    samples: Samples,
}

impl Series {
    /// Samples every `interval` (above zero) from the start of the run.
    #[must_use]
    pub fn new(plan: &Plan, interval: Time) -> Self {
        let directions = ["forward", "reverse"].map(Arc::<str>::from);
        let lines = plan.lines.iter().zip(0..).filter(|(line, _)| !line.is_access && line.rate.is_some());
        let line = |(line, number): (&LinePlan, u32)| {
            let (name, direction) = (Arc::clone(&line.name), directions[usize::from(line.is_reverse)].clone());
            SampledLine { name, direction, number }
        };
        Self {
            interval,
            end: interval,
            flows: plan.flows.iter().map(|flow| Arc::clone(&flow.name)).collect(),
            lines: lines.map(line).collect(),
            before: vec![0; plan.flows.len()],
            receivers: receivers(plan),
            samples: Samples::default(),
        }
    }

    /// One sample at `now`, whose throughput is that since `since`.
    #[must_use]
    pub fn once(plan: &Plan, simulation: &Simulation, since: Time) -> Table {
        let now = simulation.now();
        let mut this = Self { end: now, ..Self::new(plan, Time((now - since).0.max(1))) };
        this.note(simulation);
        this.into_table()
    }

    /// When the next sample is due.
    #[must_use]
    pub const fn next_time(&self) -> Time {
        self.end
    }

    /// Takes the sample that is due now: to be called when the run has come to that time and not
    /// beyond.
    pub fn note(&mut self, simulation: &Simulation) {
        let (time, seconds, held) = (self.end.as_s(), self.interval.as_s(), simulation.held());
        let flows = self.flows.iter().zip(&mut self.before).zip(simulation.flow_counts());
        for (number, ((flow, before), counts)) in flows.enumerate() {
            let delivered = counts.delivered_bytes as i64;
            let throughput = (delivered - std::mem::replace(before, delivered)) as f64 * 8.0 / seconds;
            let sender = SenderState::of(simulation, number);
            self.samples.push(time, &Sample { flow: Some(flow), throughput, sender, ..Sample::NONE });
        }
        for line in &self.lines {
            let held = Some(held[line.number as usize]);
            self.samples.push(time, &Sample { line: Some(line), held, ..Sample::NONE });
        }
        let levels = simulation.sessions().flat_map(|session| session.members()).map(|member| member.level());
        for (receiver, level) in self.receivers.iter().zip(levels) {
            self.samples.push(time, &Sample { receiver: Some((receiver, level as u64)), ..Sample::NONE });
        }
        self.end = self.end.saturating_add(self.interval);
    }

    /// The counts of flows are about to be cleared.
    pub fn before_clear(&mut self, simulation: &Simulation) {
        for (before, counts) in self.before.iter_mut().zip(simulation.flow_counts()) {
            *before -= counts.delivered_bytes as i64;
        }
    }

    /// The samples as a table.
    #[must_use]
    pub fn into_table(self) -> Table {
        self.samples.into_table()
    }

    /// The number of rows that a run of `plan` gives.
    #[must_use]
    pub fn rows_of(plan: &Plan, interval: Time) -> u64 {
        let samples = plan.warm_up.saturating_add(plan.duration).0 / interval.0.max(1);
        samples.saturating_mul((plan.flows.len() + plan.lines.len() + receivers(plan).len()) as u64)
    }
}

/// The receivers of all sessions.
fn receivers(plan: &Plan) -> Vec<SampledReceiver> {
    let of = |session: &SessionPlan| {
        let name: Arc<str> = (*session.name).into();
        let receiver =
            |receiver: &ReceiverPlan| SampledReceiver { session: Arc::clone(&name), name: (*receiver.name).into() };
        session.receivers.iter().map(receiver).collect::<Vec<_>>()
    };
    plan.sessions.iter().flat_map(of).collect()
}
