//! What passes one line: each packet with its times and its fate, beside the fluid of the same
//! packets, and curves of each flow.

use super::curves::Curves;
use super::line_fluid::{Level, LineFluid, Sample, Service};
use fairq_sched::packet::Reason;
use fairq_sched::units::{Time, Weight};
use fairq_sched::waiting::Decision;
use fairq_sim::changes::What;
use fairq_sim::observe::{Event, Observer, PacketId};
use fairq_sim::plan::{FlowPlan, Plan};
use fairq_sim::segment::Segment;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many events wait to be taken.
const EVENTS: usize = 1000;

/// A packet that came to the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Its number among those that came to the line, from 0: the same in each run of a plan with
    /// one seed.
    pub serial: u64,
    /// Its name while it is under way.
    pub id: PacketId,
    /// The number of its flow among [`Record::flows`].
    pub flow: u32,
    /// Its number in its flow.
    pub sequence: u64,
    /// Its bytes on the line.
    pub bytes: u32,
    /// When it came.
    pub arrived: Time,
    /// When its transmission began.
    pub began: Option<Time>,
    /// When its transmission ended.
    pub sent: Option<Time>,
    /// Its S and F in the fluid, in bytes of a flow of weight 1.
    pub tags: Option<(f64, f64)>,
    /// When it left the fluid.
    pub ideal: Option<Time>,
    /// When and why it was dropped.
    pub dropped: Option<(Time, Reason)>,
    /// Whether it was marked here.
    pub is_marked: bool,
    in_fluid: bool,
}

impl Passage {
    /// What became of it: `sent`, `dropped`, or `waits` still.
    #[must_use]
    pub const fn fate(&self) -> &'static str {
        match (self.sent, self.dropped) {
            (Some(_), _) => "sent",
            (None, Some(_)) => "dropped",
            (None, None) => "waits",
        }
    }
}

/// What happened to a packet at the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// When.
    pub at: Time,
    /// `arrived`, `began`, `sent`, `marked`, `dropped`, `lost`.
    pub event: &'static str,
    /// The packet's serial number.
    pub serial: u64,
}

/// A decision of the line's discipline, about the packet of this serial number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided {
    /// When.
    pub at: Time,
    /// The packet that was chosen.
    pub serial: u64,
    /// Why.
    pub decision: Decision,
}

/// A record of one line: shared between the run, which writes it, and its owner.
#[derive(Clone, Debug)]
pub struct Passing(Arc<Mutex<Record>>);

/// What is recorded.
#[derive(Debug)]
pub struct Record {
    line: u32,
    /// Numbers of the plan's flows whose packets cross the line.
    numbers: Vec<u32>,
    link_header: u32,
    passages: VecDeque<Passage>,
    keep: usize,
    /// How many came.
    count: u64,
    /// The packets at the gateway, by name.
    here: BTreeMap<PacketId, u64>,
    /// The last arrival, if it is not yet known whether it was taken in.
    newest: Option<u64>,
    fluid: Option<LineFluid>,
    curves: Curves,
    events: VecDeque<Passed>,
    /// How many events there were, and those that were not taken in time.
    told: u64,
    missed: u64,
    decided: Option<Decided>,
}

impl Passing {
    /// Of the line of this number, in a run that stands at its beginning. The last `keep` packets
    /// are kept.
    #[must_use]
    pub fn new(plan: &Plan, line: u32, keep: usize) -> Self {
        let of = &plan.lines[line as usize];
        let crosses =
            |flow: &(u32, &FlowPlan)| flow.1.path.forward().iter().chain(flow.1.path.backward()).any(|it| *it == line);
        let flows: Vec<_> = (0..).zip(&plan.flows).filter(crosses).collect();
        let mut weights: Vec<Weight> = flows.iter().map(|(_, flow)| flow.entry.weight).collect();
        let mut numbers: Vec<u32> = flows.iter().map(|(number, _)| *number).collect();
        if !plan.sessions.is_empty() {
            // All sessions together are the last flow.
            numbers.push(u32::MAX);
            weights.push(Weight::ONE);
        }
        let changes = plan.changes.iter().filter(|it| it.change.line == line);
        let changes = changes.filter_map(|it| Some((it.at, service(&numbers, &it.change.what)?))).collect();
        let fluid = of.rate.filter(|_| of.course.is_none()).map(|rate| LineFluid::new(rate, weights, changes));
        let end = plan.warm_up.saturating_add(plan.duration);
        let curves = Curves::new(end, numbers.len());
        Self(Arc::new(Mutex::new(Record {
            line,
            numbers,
            link_header: of.link_header.into(),
            passages: VecDeque::new(),
            keep: keep.max(1),
            count: 0,
            here: BTreeMap::new(),
            newest: None,
            fluid,
            curves,
            events: VecDeque::new(),
            told: 0,
            missed: 0,
            decided: None,
        })))
    }

    /// What writes it in a run.
    #[must_use]
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(self.clone())
    }

    /// The record, as of `now`.
    pub fn at(&self, now: Time) -> MutexGuard<'_, Record> {
        let mut record = self.record();
        record.settle();
        record.advance(now);
        let levels = record.fluid().map(|(_, levels)| levels);
        record.curves.note(levels.as_deref());
        record
    }

    /// The record as of the last event.
    pub fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The line was changed by hand.
    pub(super) fn changed(&self, now: Time, what: &What) {
        let record = &mut *self.at(now);
        if let (Some(service), Some(fluid)) = (service(&record.numbers, what), &mut record.fluid) {
            fluid.change(now, service);
        }
    }
}

/// What a change means to the fluid of these flows, if it does.
fn service(numbers: &[u32], what: &What) -> Option<Service> {
    match what {
        What::Rate(rate) => Some(Service::Rate(*rate)),
        What::Up(up) => Some(Service::Up(*up)),
        What::Weight(flow, weight) => place_of(numbers, *flow).map(|flow| Service::Weight(flow, *weight)),
        _ => None,
    }
}

/// The place of a plan's flow among these; of a session the last, where there are sessions.
fn place_of(numbers: &[u32], flow: u32) -> Option<u32> {
    let at = numbers.binary_search(&flow).ok();
    let sessions = || numbers.last().filter(|last| **last == u32::MAX).map(|_| numbers.len() - 1);
    at.or_else(sessions).map(|at| at as u32)
}

impl Record {
    /// The plan's numbers of the flows whose packets cross the line, in their order; the last is
    /// `u32::MAX` where there are sessions: all of them.
    #[must_use]
    pub fn flows(&self) -> &[u32] {
        &self.numbers
    }

    /// The number of the line.
    #[must_use]
    pub const fn line(&self) -> u32 {
        self.line
    }

    fn local(&self, flow: u32) -> Option<u32> {
        place_of(&self.numbers, flow)
    }

    /// The packet of this serial number, if it is still kept.
    #[must_use]
    pub fn passage(&self, serial: u64) -> Option<&Passage> {
        let first = self.count - self.passages.len() as u64;
        self.passages.get(serial.checked_sub(first)? as usize)
    }

    fn passage_mut(&mut self, serial: u64) -> Option<&mut Passage> {
        let first = self.count - self.passages.len() as u64;
        self.passages.get_mut(serial.checked_sub(first)? as usize)
    }

    /// The packets that are kept, in the order in which they came.
    pub fn passages(&self) -> impl DoubleEndedIterator<Item = &Passage> + ExactSizeIterator {
        self.passages.iter()
    }

    /// Those that were at the line between two times.
    pub fn between(&self, [from, to]: [Time; 2]) -> impl Iterator<Item = &Passage> {
        let left = |it: &Passage| it.sent.or(it.dropped.map(|(at, _)| at)).unwrap_or(Time::NEVER);
        self.passages.iter().filter(move |it| it.arrived <= to && left(it) >= from)
    }

    /// The serial number of the packet at the gateway called `id`.
    #[must_use]
    pub fn serial(&self, id: PacketId) -> Option<u64> {
        self.here.get(&id).copied()
    }

    /// The last decision.
    #[must_use]
    pub const fn decided(&self) -> Option<&Decided> {
        self.decided.as_ref()
    }

    /// How many events there were.
    #[must_use]
    pub const fn told(&self) -> u64 {
        self.told
    }

    /// What happened that was not taken.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Passed> {
        self.events.iter()
    }

    /// What happened since the last call, and how many events before that are lost.
    pub fn take(&mut self) -> (VecDeque<Passed>, u64) {
        (std::mem::take(&mut self.events), std::mem::take(&mut self.missed))
    }

    /// The curves.
    #[must_use]
    pub const fn curves(&self) -> &Curves {
        &self.curves
    }

    /// R of the fluid, and what it has of each flow; `None` if the line's rate has no limit or
    /// follows a trace.
    pub fn fluid(&mut self) -> Option<(f64, Vec<Level>)> {
        let flows = self.numbers.len() as u32;
        let fluid = self.fluid.as_mut()?;
        Some((fluid.round(), (0..flows).map(|flow| fluid.level(flow)).collect()))
    }

    /// Visits the packets that the fluid holds: serial number, S and F.
    pub fn in_fluid(&self, visit: &mut dyn FnMut(u64, f64, f64)) {
        if let Some(fluid) = &self.fluid {
            fluid.packets(visit);
        }
    }

    /// The samples go up to `now`, to which the fluid has come.
    pub(super) fn sample(&mut self, now: Time) {
        if let Some(fluid) = &mut self.fluid {
            fluid.sample(now);
        }
    }

    /// What the fluid had served, at each instant at which its shares changed; none of a line with
    /// more than 32 flows.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.fluid.iter().flat_map(LineFluid::samples)
    }

    /// Does `work` with the fluid, and notes what departs meanwhile.
    fn with_fluid<T>(
        &mut self,
        work: impl FnOnce(&mut LineFluid, &VecDeque<Passage>, u64, &mut Vec<(u64, Time)>) -> T,
    ) -> Option<T> {
        let mut left = Vec::new();
        let first = self.count - self.passages.len() as u64;
        let done = work(self.fluid.as_mut()?, &self.passages, first, &mut left);
        for (serial, at) in left {
            if let Some(passage) = self.passage_mut(serial) {
                (passage.ideal, passage.in_fluid) = (Some(at), false);
            }
        }
        Some(done)
    }

    /// The fluid and the curves come to `now`.
    fn advance(&mut self, now: Time) {
        while let Some(edge) = self.curves.edge_before(now) {
            self.advance_fluid(edge);
            let levels = self.fluid().map(|(_, levels)| levels);
            self.curves.close(levels.as_deref());
        }
        self.advance_fluid(now);
    }

    fn advance_fluid(&mut self, now: Time) {
        self.with_fluid(|fluid, _, _, left| fluid.advance(now, &mut |it| left.push((it.token, it.time))));
    }

    /// The last arrival was taken in.
    fn settle(&mut self) {
        let Some(serial) = self.newest.take() else { return };
        let Some(passage) = self.passage(serial) else { return };
        let (now, of) = (passage.arrived, (passage.flow, passage.bytes));
        self.curves.joined(of.0, of.1);
        let tags =
            self.with_fluid(|fluid, _, _, left| fluid.offer(now, of, serial, &mut |it| left.push((it.token, it.time))));
        if let (Some(tags), Some(passage)) = (tags, self.passage_mut(serial)) {
            (passage.tags, passage.in_fluid) = (tags, true);
        }
    }

    fn tell(&mut self, at: Time, event: &'static str, serial: u64) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
            self.missed += 1;
        }
        self.told += 1;
        self.events.push_back(Passed { at, event, serial });
    }

    fn arrived(&mut self, now: Time, id: PacketId, segment: &Segment) {
        // One that was held by hand comes again.
        let is_same = |it: &Passage| it.sequence == segment.sequence && Some(it.flow) == self.local(segment.flow);
        if self.serial(id).and_then(|serial| self.passage(serial)).is_some_and(is_same) {
            return;
        }
        let Some(flow) = self.local(segment.flow) else { return };
        let (serial, bytes) = (self.count, segment.length + self.link_header);
        if self.passages.len() == self.keep {
            self.passages.pop_front();
        }
        self.count += 1;
        self.passages.push_back(Passage {
            serial,
            id,
            flow,
            sequence: segment.sequence,
            bytes,
            arrived: now,
            began: None,
            sent: None,
            tags: None,
            ideal: None,
            dropped: None,
            is_marked: false,
            in_fluid: false,
        });
        self.here.insert(id, serial);
        self.newest = Some(serial);
        self.tell(now, "arrived", serial);
    }

    fn began(&mut self, now: Time, serial: u64, decision: Option<&Decision>) {
        if let Some(passage) = self.passage_mut(serial) {
            passage.began.get_or_insert(now);
        }
        self.decided = decision.map(|decision| Decided { at: now, serial, decision: *decision }).or(self.decided);
        self.tell(now, "began", serial);
    }

    fn sent(&mut self, now: Time, id: PacketId, serial: u64) {
        self.here.remove(&id);
        if let Some(passage) = self.passage_mut(serial) {
            passage.sent = Some(now);
            let passage = passage.clone();
            self.curves.sent(now, &passage);
        }
        self.tell(now, "sent", serial);
    }

    /// `was_in`: it had been taken in.
    fn dropped(&mut self, now: Time, id: PacketId, serial: u64, (reason, was_in): (Reason, bool)) {
        self.here.remove(&id);
        let Some(passage) = self.passage_mut(serial) else { return };
        passage.dropped = Some((now, reason));
        let (in_fluid, flow, bytes) = (std::mem::take(&mut passage.in_fluid), passage.flow, passage.bytes);
        self.curves.dropped(now, flow, was_in.then_some(bytes), reason);
        if in_fluid {
            self.with_fluid(|fluid, passages, first, left| {
                let again = |serial: u64| passages.get((serial - first) as usize).map_or(0, |it| it.bytes);
                fluid.withdraw(now, (flow, serial), &again, &mut |it| left.push((it.token, it.time)));
            });
        }
        self.tell(now, "dropped", serial);
    }
}

impl Observer for Passing {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let mut record = self.record();
        let of = match event {
            Event::Arrived { id, .. }
            | Event::Began { id, .. }
            | Event::Marked { id, .. }
            | Event::Dropped { id, .. }
            | Event::Sent { id, .. }
            | Event::Lost { id, .. } => *id,
            _ => return,
        };
        let refused =
            matches!(event, Event::Dropped { .. }) && record.newest.is_some() && record.newest == record.serial(of);
        if refused {
            record.newest = None;
        }
        record.settle();
        record.advance(now);
        if let Event::Arrived { id, segment, .. } = event {
            return record.arrived(now, *id, segment);
        }
        let Some(serial) = record.serial(of) else { return };
        match event {
            Event::Began { decision, .. } => record.began(now, serial, *decision),
            Event::Marked { .. } => {
                if let Some(passage) = record.passage_mut(serial) {
                    passage.is_marked = true;
                    let flow = passage.flow;
                    record.curves.marked(now, flow);
                }
                record.tell(now, "marked", serial);
            }
            Event::Dropped { reason, .. } => record.dropped(now, of, serial, (*reason, !refused)),
            Event::Sent { .. } => record.sent(now, of, serial),
            Event::Lost { .. } => record.tell(now, "lost", serial),
            _ => {}
        }
    }
}
