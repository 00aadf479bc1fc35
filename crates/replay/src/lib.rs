//! Replay: what would this discipline have done to that traffic?
//!
//! A gateway stands before one line. Every packet of a recorded stream arrives at its recorded
//! time, is held or dropped by the discipline, and leaves when its transmission ends. Each
//! discipline has a gateway of its own, a *lane*. All lanes are fed in one pass: the stream is read
//! once, and memory is proportional to the waiting packets, not to the recorded ones. The traffic
//! does not react: a source that would have slowed down continues as recorded.
//!
//! [`Gateways`] are one replay for all packets of a capture, or one for each direction of a user's
//! line, by the same clock. A [`Filter`] says which packets of a capture there are at all.
//!
//! At one instant packets arrive in order, each is sent at once if the line is idle, and
//! transmissions end after that. A delay is departure less arrival: waiting and transmission. A
//! packet *overtakes* if a packet that arrived before it is still held when it leaves; with FIFO
//! none does.

mod answer;
mod capture;
mod delays;
mod direction;
mod document;
mod entries;
mod error;
mod filter;
mod flows;
mod gateways;
mod ideal;
mod lane;
mod network;
mod options;
mod report;
mod series;
mod strangers;

pub use answer::{Answer, DropRatio, Least, Part};
pub use capture::{Progress, Stream, replay_capture};
pub use direction::{Direction, Me};
pub use document::Report;
pub use error::ReplayError;
pub use filter::Filter;
pub use flows::{FLOWS_NAMED_MAX, OTHERS};
pub use gateways::Gateways;
pub use ideal::FLUID_PACKETS_MAX;
pub use options::Options;
pub use report::{Bin, Delay, DisciplineReport, FlowReport, Selected, Shown, Stamps, Traffic, Way};

use fairq_link::capture::{LinkType, Stamp};
use fairq_sched::facts::Need;
use fairq_sched::packet::{Header, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::ClassifierSettings;
use fairq_sched::units::{Rate, Time};
use flows::Flows;
use lane::{Arriving, Lane};
use serde::Deserialize;
use series::width_until;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The settings of a replay.
pub struct Settings {
    /// The rate of the line behind each gateway.
    pub rate: Rate,
    /// The direction of that line, if there is one for each.
    pub direction: Option<Direction>,
    /// What a flow of the report is, independent of the disciplines; also the classifier of each
    /// queue without its own. `None`: each discipline uses its own classifier, also for its rows,
    /// its fluid and its index of fairness. A discipline without flows (`fifo`) has the rows of the
    /// first one with flows.
    pub classifier: Option<ClassifierSettings>,
    /// The seed of all random numbers and hashes inside a discipline.
    pub seed: u64,
    /// Whether each lane is compared with the fluid, which is offered the packets that the lane
    /// admits.
    pub with_fluid: bool,
    /// What dequeues: a line of fixed rate, or an htb class.
    pub under: Under,
    /// What a class saves of its rate: it asks for the next packet this long before a transmission
    /// ends.
    pub class_burst: Time,
    /// The disciplines.
    pub lanes: Vec<LaneSettings>,
}

/// What is above a discipline and asks it for packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Under {
    /// The line: when a transmission ends it asks once more, so that a discipline which holds no
    /// packet learns that the line is idle.
    #[default]
    Device,
    /// A class of `htb` that is the line: it does not ask a discipline that holds no packet
    /// (`htb_deactivate` of Linux's sch_htb.c), so the discipline does not learn it.
    Class,
}

/// A discipline and the sink of its packets.
pub struct LaneSettings {
    /// Its name in the report, unique.
    pub name: String,
    /// The discipline.
    pub queue: Queue,
    /// The receiver of each packet's outcome.
    pub sink: Option<Box<dyn Sink>>,
}

/// A packet of the stream. Times must not decrease.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its number in the capture, from 0; `None`: that of its predecessor and 1.
    pub number: Option<u64>,
    /// When it arrives.
    pub time: Time,
    /// Its length on the line.
    pub length: u32,
    /// Its header.
    pub header: Header,
    /// Bytes of `length` that do not belong to the network layer.
    pub link_header: u8,
    /// The number up to which it acknowledges, if it is an acknowledgement and nothing else.
    pub acknowledges: Option<NonZeroU32>,
    /// Its captured bytes, for sinks that need them.
    pub frame: Option<(LinkType, &'a [u8])>,
}

impl Arrival<'_> {
    /// A packet of which only the header is known.
    #[must_use]
    pub const fn new(time: Time, length: u32, header: Header) -> Self {
        Self { number: None, time, length, header, link_header: 0, acknowledges: None, frame: None }
    }
}

/// The captured bytes of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedBytes {
    /// The type of the first bytes.
    pub link_type: LinkType,
    /// The bytes; fewer than the packet's length if the capture truncated it.
    pub data: Box<[u8]>,
}

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its transmission ended at this time.
    Sent(Time),
    /// The packet was dropped.
    Dropped(Reason),
}

/// A packet with its outcome.
#[derive(Clone, Copy, Debug)]
pub struct PacketFate<'a> {
    /// Its number in the capture, from 0.
    pub packet: u64,
    /// The number of its flow in the report; 0 is [`OTHERS`].
    pub flow: u32,
    /// The name of that flow.
    pub flow_name: &'a str,
    /// Its length on the line.
    pub length: u32,
    /// When it arrived.
    pub arrival: Time,
    /// Its outcome.
    pub outcome: Outcome,
    /// Whether the discipline marked it: it leaves with CE. A packet that was marked and then
    /// dropped counts as marked too.
    pub is_marked: bool,
    /// Its captured bytes, if the sink needs them and the stream has them.
    pub captured: Option<&'a CapturedBytes>,
}

/// Receives the outcomes of the packets of a lane, in the order in which they become known.
pub trait Sink: Send {
    /// Whether [`PacketFate::captured`] should be kept for this sink. Called once.
    fn wants_bytes(&self) -> bool {
        false
    }

    /// The stamp of time zero, given before the first packet of a capture.
    fn begin(&mut self, _zero: Stamp) {}

    /// The outcome of a packet is known.
    ///
    /// # Errors
    /// If it cannot be written; the replay ends with that error.
    fn fate(&mut self, fate: &PacketFate<'_>) -> std::io::Result<()>;

    /// There are no more packets.
    ///
    /// # Errors
    /// If the outcomes cannot be written.
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A replay in progress.
pub struct Replay {
    lanes: Vec<Lane>,
    /// A table for each classifier that lanes use for their rows.
    flows: Vec<Flows>,
    /// By table: the number of the present packet's flow.
    numbers: Vec<u32>,
    traffic: Traffic,
    rate: Rate,
    direction: Option<Direction>,
    now: Time,
    /// The number of the next packet, unless it has its own.
    next: u64,
    wants_bytes: bool,
}

impl Replay {
    /// A replay at which no packet has arrived.
    ///
    /// # Errors
    /// If there is no discipline, one is named twice, the parts of one do not fit together, or one
    /// needs to know of packets what no capture provides.
    pub fn new(settings: Settings) -> Result<Self, ReplayError> {
        let Settings { rate, direction, classifier, seed, with_fluid, under, class_burst, lanes } = settings;
        if lanes.is_empty() {
            return Err(ReplayError::NoDiscipline);
        }
        let telling = lanes.iter().map(|lane| &lane.queue).find(|queue| queue.tells_flows_apart());
        let others = telling.map_or_else(|| ClassifierSettings::Pair(Default::default()), Queue::classifier);
        let mut built: Vec<Lane> = Vec::new();
        let mut flows: Vec<Flows> = Vec::new();
        for mut lane in lanes {
            if built.iter().any(|other| other.name() == lane.name) {
                return Err(ReplayError::NamedTwice { discipline: lane.name });
            }
            if let Some(fault) = lane.queue.fault() {
                return Err(ReplayError::Fault { discipline: lane.name, fault });
            }
            let needs = lane.queue.needs();
            let unfed = |(_, need): &&(_, Need)| !is_captured(*need) && *need != Need::Class;
            if let Some((part, need)) = needs.iter().find(unfed) {
                return Err(ReplayError::Unfed { discipline: lane.name, part, need: *need });
            }
            if lane.queue.classifier.is_none() && classifier.is_some() {
                // A classifier that would never be used, as under cake(isolation=source), is left
                // out.
                let told = Queue { classifier: classifier.clone(), ..lane.queue.clone() };
                if told.fault().is_none() {
                    lane.queue = told;
                }
            }
            let own = lane.queue.tells_flows_apart().then(|| lane.queue.classifier());
            let rows = classifier.as_ref().or(own.as_ref()).unwrap_or(&others);
            let table = flows.iter().position(|table| table.settings() == rows).unwrap_or_else(|| {
                flows.push(Flows::new(rows.clone(), rate, seed));
                flows.len() - 1
            });
            built.push(Lane::new(lane, table, rate, seed, with_fluid).under(under, class_burst));
        }
        let wants_bytes = built.iter().any(Lane::wants_bytes);
        let traffic = Traffic::new(rate);
        let numbers = vec![0; flows.len()];
        Ok(Self { lanes: built, numbers, flows, traffic, rate, direction, now: Time::ZERO, next: 0, wants_bytes })
    }

    /// Gives the sinks the stamp of time zero.
    pub fn begin(&mut self, zero: Stamp) {
        for lane in &mut self.lanes {
            lane.begin(zero);
        }
    }

    /// The next packet arrives. A time before that of the last packet counts as that time.
    ///
    /// # Errors
    /// If a sink fails, or time goes beyond what it can hold.
    pub fn offer(&mut self, arrival: &Arrival<'_>) -> Result<(), ReplayError> {
        let time = arrival.time.max(self.now);
        self.now = time;
        for (number, table) in self.numbers.iter_mut().zip(&mut self.flows) {
            *number = table.of(&arrival.header);
        }
        let captured = arrival.frame.filter(|_| self.wants_bytes).map(|(link_type, data)| {
            // All lanes share the bytes.
            Arc::new(CapturedBytes { link_type, data: data.into() })
        });
        let packet = arrival.number.unwrap_or(self.next);
        self.next = packet + 1;
        self.traffic.count(time, arrival.length);
        for lane in &mut self.lanes {
            let (table, flow) = (&self.flows[lane.table()], self.numbers[lane.table()]);
            lane.advance_before(time, table)?;
            lane.arrive(time, &Arriving { packet, flow, arrival, captured: captured.as_ref() }, table)?;
        }
        Ok(())
    }

    /// No packet arrives until `time`.
    fn pass(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// No more packets arrive: runs the next `steps` events in each lane. Returns whether more may
    /// be left.
    ///
    /// # Errors
    /// If a sink fails, or time goes beyond what it can hold.
    fn drain(&mut self, steps: u64) -> Result<bool, ReplayError> {
        let mut is_busy = false;
        for lane in &mut self.lanes {
            is_busy |= lane.drain(steps, &self.flows[lane.table()])?;
        }
        Ok(is_busy)
    }

    /// No more packets arrive: waiting packets leave, and the report is made.
    ///
    /// # Errors
    /// If a sink fails, or time goes beyond what it can hold.
    pub fn finish(mut self) -> Result<Report, ReplayError> {
        for lane in &mut self.lanes {
            lane.finish(&self.flows[lane.table()])?;
        }
        if let [only] = &self.flows[..] {
            self.traffic.flows = Some(only.named());
            self.traffic.classifier = Some(only.settings().name().to_owned());
        }
        let (direction, width) = (self.direction, width_until(self.now));
        let each = || self.lanes.iter().map(|lane| (lane, &self.flows[lane.table()]));
        let disciplines: Vec<_> = each().map(|(lane, flows)| lane.report(flows, direction)).collect();
        let answer = Answer::of(&disciplines);
        let series = each().flat_map(|(lane, flows)| lane.series(flows, width, direction)).collect();
        let Traffic { packets, bytes, .. } = self.traffic;
        let way = |direction| Way { direction, rate_bit_per_s: self.rate.bit_per_s(), packets, bytes };
        let directions = direction.map(way).into_iter().collect();
        self.traffic.note = self.flows.iter().any(Flows::are_all_named_taken).then(|| {
            format!(
                "only the first {FLOWS_NAMED_MAX} flows have rows of their own; the others share the row `{OTHERS}`"
            )
        });
        Ok(Report { capture: self.traffic, directions, disciplines, series, answer })
    }

    /// The most packets that a lane has held at one time, in its queue or in its fluid.
    #[must_use]
    pub fn kept_max(&self) -> usize {
        self.lanes.iter().map(Lane::kept_max).max().unwrap_or(0)
    }
}

/// Whether a replay provides it. A gateway of a replay is edge and core at once, so that labels are
/// its own.
const fn is_captured(need: Need) -> bool {
    matches!(need, Need::Acknowledges | Need::Label)
}
