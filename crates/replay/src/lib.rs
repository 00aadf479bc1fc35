//! Replay: what would this discipline have done to that traffic?
//!
//! A gateway stands before one line. Every packet of a recorded stream arrives at its recorded time, is held or dropped
//! by the discipline, and leaves when its transmission ends. Each discipline has a gateway of its own, a *lane*; all
//! lanes are fed in one pass, so the stream is read once and memory is that of what waits, not of what was recorded.
//! The traffic does not react: a source that would have slowed down goes on as it did when it was recorded.
//!
//! At one instant packets arrive in their order, each is sent at once if the line is idle, and transmissions end after
//! that. A delay is departure less arrival: waiting and transmission. A packet *overtakes* if a packet that arrived
//! before it is still held when it leaves; of FIFO none does.

mod capture;
mod delays;
mod entries;
mod error;
mod flows;
mod ideal;
mod lane;
mod options;
mod report;

pub use capture::{Progress, replay_capture};
pub use error::ReplayError;
pub use flows::{FLOWS_NAMED_MAX, OTHERS};
pub use ideal::FLUID_PACKETS_MAX;
pub use options::Options;
pub use report::{DisciplineReport, FlowReport, Report, Shown, Stamps, Traffic};

use fairq_link::capture::{LinkType, Stamp};
use fairq_sched::packet::{Header, Reason};
use fairq_sched::part::Need;
use fairq_sched::queue::Queue;
use fairq_sched::registry::ClassifierSettings;
use fairq_sched::units::{Rate, Time};
use flows::Flows;
use lane::{Arriving, Lane};
use serde::Deserialize;
use std::num::NonZeroU32;
use std::sync::Arc;

/// What is replayed through what.
pub struct Settings {
    /// The rate of the line behind each gateway.
    pub rate: Rate,
    /// What a flow of the report is, whatever the disciplines take for one; also the classifier of each queue that names
    /// none. `None` leaves both to the disciplines: each goes by its own, and so do its rows, its fluid and its index of
    /// fairness. A discipline that tells no flows apart (`fifo`) has the rows of the first one that does.
    pub classifier: Option<ClassifierSettings>,
    /// The seed of everything drawn or hashed inside a discipline.
    pub seed: u64,
    /// Whether each lane is compared with the fluid that is offered what the lane admits.
    pub with_fluid: bool,
    /// What asks the disciplines for packets.
    pub under: Under,
    /// What a class saves of its rate: so long before a transmission ends it asks for the next packet.
    pub class_burst: Time,
    /// The disciplines.
    pub lanes: Vec<LaneSettings>,
}

/// What stands above a discipline and asks it for packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Under {
    /// The line: when a transmission ends it asks once more, and a discipline that holds nothing learns that the line is
    /// idle.
    #[default]
    Device,
    /// A class of `htb` that is the line: it asks no discipline that holds nothing (`htb_deactivate` of Linux's
    /// sch_htb.c), which then does not learn it.
    Class,
}

/// A discipline and who is told of its packets.
pub struct LaneSettings {
    /// The name in the report, not given twice.
    pub name: String,
    /// The discipline.
    pub queue: Queue,
    /// Who is told what becomes of each packet.
    pub sink: Option<Box<dyn Sink>>,
}

/// A packet of the stream. Times must not go back.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// When it arrives.
    pub time: Time,
    /// Its length on the line.
    pub length: u32,
    /// Whose it is.
    pub header: Header,
    /// Of its length, the bytes that are not of the network layer.
    pub link_header: u8,
    /// Of an acknowledgement that carries nothing else: the number up to which it acknowledges.
    pub acknowledges: Option<NonZeroU32>,
    /// What was captured of it, for sinks that want it.
    pub frame: Option<(LinkType, &'a [u8])>,
}

impl Arrival<'_> {
    /// A packet of which no more is known than its header.
    #[must_use]
    pub const fn new(time: Time, length: u32, header: Header) -> Self {
        Self { time, length, header, link_header: 0, acknowledges: None, frame: None }
    }
}

/// What was captured of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedBytes {
    /// What the first bytes are.
    pub link_type: LinkType,
    /// The bytes; fewer than the packet's length if the capture kept only its head.
    pub data: Box<[u8]>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its transmission ended at this time.
    Sent(Time),
    /// It was dropped.
    Dropped(Reason),
}

/// A packet whose fate is known.
#[derive(Clone, Copy, Debug)]
pub struct PacketFate<'a> {
    /// Its number in the stream, from 0.
    pub packet: u64,
    /// The number of its flow in the report; 0 is [`OTHERS`].
    pub flow: u32,
    /// The name of that flow.
    pub flow_name: &'a str,
    /// Its length on the line.
    pub length: u32,
    /// When it arrived.
    pub arrival: Time,
    /// What became of it.
    pub outcome: Outcome,
    /// Whether the discipline marked it: it leaves with CE. One that was marked and then dropped counts as marked too.
    pub is_marked: bool,
    /// What was captured of it, if the sink wants that and the stream has it.
    pub captured: Option<&'a CapturedBytes>,
}

/// Who is told what becomes of the packets of a lane, in the order in which it becomes known.
pub trait Sink: Send {
    /// Whether [`PacketFate::captured`] should be kept for this sink. Asked once.
    fn wants_bytes(&self) -> bool {
        false
    }

    /// The stamp that time zero stands for, told before the first packet of a capture.
    fn begin(&mut self, _zero: Stamp) {}

    /// The fate of a packet is known.
    ///
    /// # Errors
    /// If it cannot be written down; the replay ends with that.
    fn fate(&mut self, fate: &PacketFate<'_>) -> std::io::Result<()>;

    /// There are no more packets.
    ///
    /// # Errors
    /// If what was told cannot be written down.
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A replay that is going on.
pub struct Replay {
    lanes: Vec<Lane>,
    /// A table for each classifier that lanes have rows by.
    flows: Vec<Flows>,
    /// The number of the present packet's flow in each.
    numbers: Vec<u32>,
    traffic: Traffic,
    now: Time,
    wants_bytes: bool,
}

impl Replay {
    /// Nothing has arrived.
    ///
    /// # Errors
    /// If there is no discipline, one is named twice, the parts of one do not fit together, or one needs of packets what
    /// no capture tells.
    pub fn new(settings: Settings) -> Result<Self, ReplayError> {
        let Settings { rate, classifier, seed, with_fluid, under, class_burst, lanes } = settings;
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
                // One that would not be reached, as under cake(isolation=source), is left out.
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
        Ok(Self { lanes: built, numbers: vec![0; flows.len()], flows, traffic, now: Time::ZERO, wants_bytes })
    }

    /// Tells the sinks which stamp time zero stands for.
    pub fn begin(&mut self, zero: Stamp) {
        for lane in &mut self.lanes {
            lane.begin(zero);
        }
    }

    /// The next packet arrives. A time before the last one counts as the last one.
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
            // Shared by all lanes.
            Arc::new(CapturedBytes { link_type, data: data.into() })
        });
        let packet = self.traffic.packets;
        self.traffic.count(time, arrival.length);
        for lane in &mut self.lanes {
            let (table, flow) = (&self.flows[lane.table()], self.numbers[lane.table()]);
            lane.advance_before(time, table)?;
            lane.arrive(time, &Arriving { packet, flow, arrival, captured: captured.as_ref() }, table)?;
        }
        Ok(())
    }

    /// No more packets arrive: does the next `steps` things in each lane; whether more may be left to do.
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

    /// No more packets arrive: those that wait leave, and all is reported.
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
        let disciplines = self.lanes.iter().map(|lane| lane.report(&self.flows[lane.table()])).collect();
        self.traffic.note = self.flows.iter().any(Flows::are_all_named_taken).then(|| {
            format!(
                "only the first {FLOWS_NAMED_MAX} flows have rows of their own; the others share the row `{OTHERS}`"
            )
        });
        Ok(Report { capture: self.traffic, disciplines })
    }

    /// The most packets that a lane has kept at one time, waiting in it or in the fluid beside it.
    #[must_use]
    pub fn kept_max(&self) -> usize {
        self.lanes.iter().map(Lane::kept_max).max().unwrap_or(0)
    }
}

/// Whether a replay tells it. A gateway of a replay is edge and core at once, so that labels are its own.
const fn is_captured(need: Need) -> bool {
    matches!(need, Need::Acknowledges | Need::Label)
}
