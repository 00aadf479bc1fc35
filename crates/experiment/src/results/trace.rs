//! A run as a trace: where each packet waited, when each line was sending and which packet, and the
//! samples over time.
//!
//! An observer like any other: a run without it pays nothing. `json` writes it for viewers.

mod ends;
mod json;
mod qlog;

use self::ends::Sender;
use crate::results::table::Table;
use fairq_sched::packet::Reason;
use fairq_sched::units::{Rate, Time};
use fairq_sim::observe::{Event, Observer};
use fairq_sim::plan::{LinePlan, Plan};
use fairq_sim::segment::{Direction, Segment};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex};

/// The most records of packets that a trace holds: some 120 MB as text, which viewers still open.
pub const RECORDS_MAX: usize = 1_000_000;

/// Times of a trace are whole multiples of 1/64 µs.
const TICKS_PER_MICROSECOND: u64 = 64;

/// A time in those, rounded down.
const fn ticks(time: Time) -> u64 {
    (time.0 as u128 * TICKS_PER_MICROSECOND as u128 / 1_000_000) as u64
}

/// The trace of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The names of the flows, in their order.
    flows: Vec<Arc<str>>,
    /// The names and directions of the lines, in their order.
    lines: Vec<(Arc<str>, &'static str)>,
    records: Records,
    /// The samples: a table of `series`.
    samples: Table,
    /// When the run ended.
    end: Time,
}

impl Trace {
    /// The trace of a run of `plan` that ended at `end`.
    #[must_use]
    pub fn new(plan: &Plan, records: Records, samples: Table, end: Time) -> Self {
        let lines = plan.lines.iter().map(|line| (Arc::clone(&line.name), line.direction()));
        let flows = plan.flows.iter().map(|flow| Arc::clone(&flow.name));
        Self { flows: flows.collect(), lines: lines.collect(), records, samples, end }
    }

    /// When the run ended.
    #[must_use]
    pub const fn end(&self) -> Time {
        self.end
    }

    /// How many records of packets it has.
    #[must_use]
    pub const fn records(&self) -> usize {
        self.records.all.len()
    }

    /// From when on packets have no record, because there would be too many.
    #[must_use]
    pub const fn cut_at(&self) -> Option<Time> {
        self.records.cut_at
    }
}

/// What became of a packet at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// It waited in the queue.
    Waited,
    /// It was sent.
    Sent,
    /// The queue dropped it.
    Dropped(Reason),
    /// The queue marked it.
    Marked,
    /// The line lost it.
    Lost,
}

/// A packet at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    what: What,
    start: Time,
    /// Equal to `start` for an event without duration.
    end: Time,
    line: u32,
    /// Its flow; branches of sessions have the numbers after those of flows.
    flow: u32,
    /// While it waited: the lane of its flow, so that no two packets of a lane wait at a time.
    lane: u32,
    direction: Direction,
    length: u32,
    sequence: u64,
}

/// The records of a run, in the order of their ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    all: Vec<Record>,
    /// The events of each flow's sender.
    senders: Vec<Sender>,
    cut_at: Option<Time>,
}

impl Records {
    /// Notes what the sender of an event's packet did or heard; sessions have none.
    fn see(&mut self, now: Time, event: &Event<'_>) {
        let (Event::Arrived { segment, .. }
        | Event::Sent { segment, .. }
        | Event::Lost { segment, .. }
        | Event::Delivered { segment, .. }) = event
        else {
            return;
        };
        let Some(sender) = self.senders.get_mut(segment.flow as usize) else { return };
        if matches!(event, Event::Delivered { .. }) { sender.hear(now, segment) } else { sender.see(segment) }
    }
}

/// The records so far, shared with the caller.
pub type Shared = Arc<Mutex<Records>>;

/// The packet of a segment at a line, and a number that tells equal ones apart.
type Key = (u32, u32, bool, u64, Time, u32);

/// Records what happens to packets.
pub struct Recorder {
    lines: Vec<Recorded>,
    /// The lanes of each flow, and those of all sessions together.
    lanes: Vec<Lanes>,
    /// The packets at gateways: when each arrived, and its lane.
    present: BTreeMap<Key, (Time, u32)>,
    most: usize,
    records: Shared,
}

/// What is known of a line.
struct Recorded {
    /// `None` if the time of a transmission does not follow from it: unlimited, or a delivery
    /// trace.
    rate: Option<Rate>,
    header: u32,
    /// The end of the last transmission.
    sent: Time,
}

/// The lanes of a flow.
#[derive(Default)]
struct Lanes {
    free: BinaryHeap<Reverse<u32>>,
    count: u32,
}

impl Lanes {
    /// The first lane that is free.
    fn take(&mut self) -> u32 {
        if let Some(Reverse(lane)) = self.free.pop() {
            return lane;
        }
        self.count += 1;
        self.count - 1
    }
}

impl Recorder {
    /// Keeps at most `most` records of a run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan, most: usize, records: Shared) -> Self {
        if let Ok(mut records) = records.lock() {
            records.senders = plan.flows.iter().map(|_| Sender::default()).collect();
        }
        let line = |(at, line): (usize, &LinePlan)| Recorded {
            rate: line.rate.filter(|_| !plan.changes_rate(at)),
            header: u32::from(line.link_header),
            sent: Time::ZERO,
        };
        Self {
            lines: plan.lines.iter().enumerate().map(line).collect(),
            lanes: (0..=plan.flows.len()).map(|_| Lanes::default()).collect(),
            present: BTreeMap::new(),
            most,
            records,
        }
    }

    fn key(line: u32, segment: &Segment, copy: u32) -> Key {
        let is_answer = segment.direction == Direction::Backward;
        (line, segment.flow, is_answer, segment.sequence, segment.sent, copy)
    }

    fn lanes_of(&mut self, flow: u32) -> &mut Lanes {
        let last = self.lanes.len() - 1;
        &mut self.lanes[last.min(flow as usize)]
    }

    fn arrive(&mut self, now: Time, line: u32, segment: &Segment) {
        let lane = self.lanes_of(segment.flow).take();
        let mut copy = 0;
        while self.present.contains_key(&Self::key(line, segment, copy)) {
            copy += 1;
        }
        self.present.insert(Self::key(line, segment, copy), (now, lane));
    }

    /// Takes the packet from the gateway of `line`. When it arrived there, and its lane.
    fn leave(&mut self, line: u32, segment: &Segment) -> Option<(Time, u32)> {
        let first = Self::key(line, segment, 0)..=Self::key(line, segment, u32::MAX);
        let key = *self.present.range(first).next()?.0;
        let (arrived, lane) = self.present.remove(&key)?;
        self.lanes_of(segment.flow).free.push(Reverse(lane));
        Some((arrived, lane))
    }

    /// When the transmission began that ended at `end`: no earlier than the packet `arrived`, and
    /// not before the last one had ended.
    fn began(&mut self, end: Time, arrived: Time, line: u32, length: u32) -> Time {
        let line = &mut self.lines[line as usize];
        let time = line.rate.map_or(Time::ZERO, |rate| rate.time_of_bits(u64::from(length + line.header) * 8));
        let began = end.saturating_sub(time).max(arrived).max(line.sent);
        line.sent = end;
        began
    }
}

impl Observer for Recorder {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let shared = Arc::clone(&self.records);
        let Ok(mut records) = shared.lock() else { return };
        // An event makes two records at most.
        if records.cut_at.is_some() || records.all.len() + 2 > self.most {
            records.cut_at.get_or_insert(now);
            self.present.clear();
            return;
        }
        records.see(now, event);
        let mut add = |what, line: u32, segment: &Segment, lane: u32, start: Time, end: Time| {
            let Segment { flow, direction, length, sequence, .. } = *segment;
            records.all.push(Record { what, start, end, line, flow, lane, direction, length, sequence });
        };
        match *event {
            Event::Arrived { line, segment, .. } => self.arrive(now, line, segment),
            Event::Sent { line, segment, .. } => {
                // An unlimited line has no gateway, and no packet arrives at one.
                let Some((arrived, lane)) = self.leave(line, segment) else { return };
                let began = self.began(now, arrived, line, segment.length);
                if ticks(arrived) < ticks(began) {
                    add(What::Waited, line, segment, lane, arrived, began);
                }
                if ticks(began) < ticks(now) {
                    add(What::Sent, line, segment, lane, began, now);
                }
            }
            Event::Dropped { line, segment, reason, .. } => {
                if let Some((arrived, lane)) =
                    self.leave(line, segment).filter(|(arrived, _)| ticks(*arrived) < ticks(now))
                {
                    add(What::Waited, line, segment, lane, arrived, now);
                }
                add(What::Dropped(reason), line, segment, 0, now, now);
            }
            Event::Marked { line, segment, .. } => add(What::Marked, line, segment, 0, now, now),
            Event::Lost { line, segment, .. } => add(What::Lost, line, segment, 0, now, now),
            _ => {}
        }
    }
}
