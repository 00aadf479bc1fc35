//! All lines between the hosts as one object without a clock: packets of hosts go in at a time, and
//! come out for hosts with the times at which they are to be given to them.
//!
//! Time is an argument and never goes back. A call may be late: everything happens at its own time
//! all the same, in the order of times over all lines, and a packet that leaves one line comes to
//! the next at that time. So a gateway that wakes late loses no capacity; it is late with what it
//! gives to the hosts, which is measured (`drive.rs`).
//!
//! Memory is bounded: by the limits of the queues, by [`ROOM`] for all that is on the way, by the
//! number of flows that are told apart.

mod fragments;
mod line;
mod rows;
mod samples;
mod ways;

use crate::device::{Offload, Segments};
use crate::flows::{Counted, FLOWS_MAX, Flow, FlowId, Flows, Way};
use crate::measured::Refused;
use crate::packet::Shape;
use crate::packet::cut::Cut;
use crate::plan::Plan;
use crate::record::{Observer, Seen, What};
use crate::report::Name;
use fairq_link::capture::{LinkType, Stamp, layers_of, mark_ce};
use fairq_link::path::Poll;
use fairq_sched::packet::{Header, Marks, Packet, Reason};
use fairq_sched::units::Time;
use fragments::Fragments;
use line::{Hears, Line};
use samples::Samples;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;
use ways::Ways;

/// Bytes of packets that may be on the way: a second at 4 Gbit/s.
pub const ROOM: usize = 512 << 20;

/// What a packet takes beside its bytes, about.
const OVERHEAD: usize = 512;

/// Lines that a packet may cross: routes that go in a circle end.
const HOPS_MAX: u16 = 256;

/// A packet for a host.
#[derive(Debug)]
pub struct Delivery {
    /// When it is to be given to the host.
    pub at: Time,
    /// The host's number.
    pub host: u32,
    /// The packet.
    pub bytes: Vec<u8>,
    /// Where its checksum is to be completed, if it is not.
    pub offload: Offload,
    /// Its flow.
    pub flow: FlowId,
}

/// What the network keeps of a packet on the way.
pub(crate) struct Carried {
    bytes: Vec<u8>,
    checksum: Option<(u16, u16)>,
    header: Header,
    acknowledges: Option<NonZeroU32>,
    counted: Counted,
    flow: FlowId,
    way: Way,
    /// Lines that it has crossed.
    hops: u16,
    entered: Time,
    /// When it came to its line.
    arrived: Time,
    /// Of the time since, what propagation and its own transmissions took.
    own: Time,
}

/// All lines between the hosts.
pub struct Network {
    lines: Vec<Line>,
    ways: Ways,
    flows: Flows,
    fragments: Fragments,
    /// When lines want to be called; an entry counts while its line names the same time.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    ready: VecDeque<Delivery>,
    /// Buffers that are free.
    pool: Vec<Vec<u8>>,
    on_the_way: usize,
    room: usize,
    refused: Refused,
    observers: Vec<Box<dyn Observer>>,
    samples: Option<Samples>,
}

impl Network {
    /// The idle network of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            lines: line::lines(plan),
            ways: Ways::new(plan),
            flows: Flows::new(plan.seed, FLOWS_MAX),
            fragments: Fragments::default(),
            due: BinaryHeap::new(),
            ready: VecDeque::new(),
            pool: Vec::new(),
            on_the_way: 0,
            room: ROOM,
            refused: Refused::default(),
            observers: Vec::new(),
            samples: None,
        }
    }

    /// Has an observer be told of all packets from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observers.push(observer);
    }

    /// Samples flows and queues at the end of each `interval`.
    pub fn sample(&mut self, interval: Time) {
        self.samples = Some(Samples::new(interval));
    }

    /// The samples so far.
    #[must_use]
    pub fn sampled(&self) -> &[crate::report::SampleRow] {
        self.samples.as_ref().map_or(&[], Samples::rows)
    }

    /// A packet comes from `host` at `now`, or several put together as `offload` says.
    pub fn arrive(&mut self, now: Time, host: u32, bytes: &[u8], offload: &Offload) {
        self.advance(now);
        let Some(shape) = Shape::of(bytes) else {
            self.refused.not_ip += 1;
            return;
        };
        let packet = &bytes[..shape.end];
        let layers = layers_of(LinkType::RAW, packet, shape.end as u32);
        let header = self.fragments.whole(&layers.header, shape.fragment);
        let Some((flow, way)) = self.flow_of(host, &header) else {
            self.refused.no_route += 1;
            return;
        };
        let carried = |bytes: Vec<u8>, checksum| Carried {
            counted: counted(&bytes, &shape),
            bytes,
            checksum,
            header,
            acknowledges: layers.acknowledges,
            flow,
            way,
            hops: 0,
            entered: now,
            arrived: now,
            own: Time::ZERO,
        };
        if offload.segments == Segments::One {
            let mut buffer = self.buffer();
            buffer.extend_from_slice(packet);
            return self.enter(now, host, carried(buffer, offload.checksum));
        }
        let Some(mut cut) = Cut::new(packet, &shape, offload) else {
            self.refused.not_ip += 1;
            return;
        };
        loop {
            let mut buffer = self.buffer();
            let Some(offload) = cut.next_into(&mut buffer) else {
                self.pool.push(buffer);
                return;
            };
            self.enter(now, host, carried(buffer, offload.checksum));
        }
    }

    /// The flow of a packet from `host`; `None` if it goes nowhere.
    fn flow_of(&mut self, host: u32, header: &Header) -> Option<(FlowId, Way)> {
        if let Some(id) = self.flows.find(header) {
            return self.flows.get(id).filter(|flow| flow.from == host).map(|flow| (id, flow.way));
        }
        let (way, to) = self.ways.of(header, host)?;
        let plan = match way {
            Way::Planned(flow, _) => Some(Name(Arc::clone(&self.ways.flow(flow)?.name))),
            Way::Towards(_) => None,
        };
        let name = match (&plan, way) {
            (Some(name), Way::Planned(_, 0)) => name.clone(),
            (Some(name), _) => Name(format!("{}.answers", name.0).into()),
            (None, _) => self.ways.name_of(header, host, to),
        };
        let weight = self.ways.weight(way);
        let (header, from, counts) = (*header, host, Default::default());
        let flow = Flow { header, from, to, way, weight, name, plan, reverse: None, counts, number: 0 };
        Some((self.flows.add(flow), way))
    }

    /// A packet of `host` comes to its first line.
    fn enter(&mut self, now: Time, host: u32, carried: Carried) {
        let counts = self.flows.counts(carried.flow);
        counts.sent(now, &carried.counted);
        let size = carried.bytes.len() + OVERHEAD;
        let Some(line) = self.ways.next(carried.way, 0, host) else {
            self.refused.no_route += 1;
            return self.pool.push(carried.bytes);
        };
        if self.on_the_way + size > self.room {
            self.refused.no_room += 1;
            return self.pool.push(carried.bytes);
        }
        self.on_the_way += size;
        self.push(now, line, carried);
    }

    /// A packet comes to `number`, a line.
    fn push(&mut self, now: Time, number: u32, carried: Carried) {
        let line = &mut self.lines[number as usize];
        let length = carried.bytes.len() as u32 + u32::from(line.link_header);
        let (link_header, acknowledges) = (line.link_header, carried.acknowledges);
        let packet = Packet { link_header, acknowledges, ..Packet::new(0, now, length) };
        let header = carried.header;
        let carried = Carried { arrived: now, ..carried };
        line.tally.joins(now);
        let mut hears =
            Hears { line: number, tally: &mut line.tally, flows: &mut self.flows, observers: &mut self.observers };
        hears.tell(now, What::Arrived, &carried, length, false);
        line.path.push_watched(now, packet, &header, carried, &mut hears);
        let next = line.path.next_time();
        self.schedule(number, next);
    }

    fn schedule(&mut self, number: u32, next: Option<Time>) {
        let (line, next) = (&mut self.lines[number as usize], next.unwrap_or(Time::NEVER));
        if line.next != next {
            line.next = next;
            if next != Time::NEVER {
                self.due.push(Reverse((next, number)));
            }
        }
    }

    /// Does all that happens up to and including `now`. [`Network::next_delivery`] has what came
    /// out.
    pub fn advance(&mut self, now: Time) {
        while let Some(Reverse((at, line))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            if self.lines[line as usize].next == at {
                self.sample_before(at);
                self.poll(line, at);
            }
        }
        self.sample_before(now);
    }

    fn sample_before(&mut self, now: Time) {
        if let Some(samples) = &mut self.samples {
            samples.take_before(now, &mut self.flows, &self.lines);
        }
    }

    /// Takes what has happened on a line by `at`.
    fn poll(&mut self, number: u32, at: Time) {
        loop {
            let line = &mut self.lines[number as usize];
            let mut hears =
                Hears { line: number, tally: &mut line.tally, flows: &mut self.flows, observers: &mut self.observers };
            match line.path.poll_watched(at, &mut hears) {
                Poll::Delivered { at, marks, payload } => self.passed(number, at, marks, payload),
                Poll::Dropped { at, why, payload } => {
                    if why == Reason::Lost {
                        let length = payload.bytes.len() as u32 + u32::from(line.link_header);
                        hears.lost(at, &payload, length);
                    }
                    self.leave(payload);
                }
                Poll::NotBefore(time) => return self.schedule(number, Some(time)),
                Poll::Empty => return self.schedule(number, None),
            }
        }
    }

    /// A packet has come to the end of a line.
    fn passed(&mut self, number: u32, at: Time, marks: Marks, mut carried: Carried) {
        let line = &mut self.lines[number as usize];
        if marks.intersects(Marks::CE) && carried.header.tos & 3 != 3 {
            mark_ce(LinkType::RAW, &mut carried.bytes);
            carried.header.tos |= 3;
        }
        let length = carried.bytes.len() as u32 + u32::from(line.link_header);
        carried.own = carried.own.saturating_add(line.own_time(length));
        carried.hops += 1;
        let (node, host) = (line.to, self.ways.end(carried.way));
        if self.ways.is_there(carried.way, carried.hops, node) {
            let mut hears =
                Hears { line: number, tally: &mut line.tally, flows: &mut self.flows, observers: &mut self.observers };
            hears.tell(at, What::Delivered, &carried, length, false);
            return self.deliver(at, host, carried);
        }
        match self.ways.next(carried.way, carried.hops, node).filter(|_| carried.hops < HOPS_MAX) {
            Some(next) => self.push(at, next, carried),
            None => {
                self.refused.no_route += 1;
                self.leave(carried);
            }
        }
    }

    fn deliver(&mut self, at: Time, host: u32, carried: Carried) {
        let Carried { flow, counted, entered, own, checksum, .. } = carried;
        let delay = at.saturating_sub(entered);
        self.flows.counts(flow).delivered(at, &counted, delay, delay.saturating_sub(own));
        if let Some(number) = counted.segment.and_then(|segment| segment.acknowledges)
            && let Some(tcp) = self.flows.reverse_of(flow).and_then(|id| self.flows.get_mut(id)?.counts.tcp.as_mut())
        {
            tcp.acknowledged(number, at);
        }
        let offload = Offload { checksum, ..Offload::default() };
        self.ready.push_back(Delivery { at, host, bytes: carried.bytes, offload, flow });
    }

    /// A packet is no more.
    fn leave(&mut self, carried: Carried) {
        self.on_the_way -= carried.bytes.len() + OVERHEAD;
        self.pool.push(carried.bytes);
    }

    fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.pool.pop().unwrap_or_else(|| Vec::with_capacity(2048));
        buffer.clear();
        buffer
    }

    /// The next packet for a host, in the order of times.
    pub fn next_delivery(&mut self) -> Option<Delivery> {
        let delivery = self.ready.pop_front()?;
        self.on_the_way -= delivery.bytes.len() + OVERHEAD;
        Some(delivery)
    }

    /// When the next packet that is ready is to be given to its host.
    #[must_use]
    pub fn first_ready(&self) -> Option<Time> {
        self.ready.front().map(|delivery| delivery.at)
    }

    /// Takes a buffer back.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.pool.push(buffer);
    }

    /// When [`Network::advance`] is due. Changes with every other call; an early call is harmless.
    #[must_use]
    pub fn next_time(&mut self) -> Option<Time> {
        while let Some(Reverse((at, line))) = self.due.peek().copied() {
            if self.lines[line as usize].next == at {
                return Some(at);
            }
            self.due.pop();
        }
        None
    }

    /// Tells the observers that the run begins: its time zero, in picoseconds since 1970.
    pub fn begin(&mut self, zero: Stamp) {
        self.observers.iter_mut().for_each(|observer| observer.begin(zero));
    }

    /// Tells the observers that the run is over at `now`; of what comes then they are not told.
    ///
    /// # Errors
    /// If one could not write what it recorded.
    pub fn finish(&mut self, now: Time) -> std::io::Result<()> {
        std::mem::take(&mut self.observers).iter_mut().try_for_each(|observer| observer.finish(now))
    }

    /// Bytes of packets on the way or ready, with what they take beside.
    #[must_use]
    pub const fn on_the_way(&self) -> usize {
        self.on_the_way
    }

    /// Packets of hosts that no line took.
    #[must_use]
    pub const fn refused(&self) -> Refused {
        self.refused
    }

    /// Limits the memory of packets on the way.
    #[must_use]
    pub const fn with_room(mut self, bytes: usize) -> Self {
        self.room = bytes;
        self
    }
}

/// What is counted of a packet, whose headers have the places that `shape` tells.
fn counted(packet: &[u8], shape: &Shape) -> Counted {
    let shape = Shape { end: packet.len(), ..*shape };
    Counted { bytes: packet.len() as u32, data: shape.data(), segment: shape.segment(packet) }
}

impl Carried {
    fn seen<'a>(&'a self, flow: &'a Name, length: u32, is_marked: bool) -> Seen<'a> {
        let Self { bytes, checksum, entered, arrived, .. } = self;
        let (checksum, entered, arrived) = (*checksum, *entered, *arrived);
        Seen { bytes, checksum, is_marked, length, flow, entered, arrived }
    }
}

#[cfg(test)]
mod tests;
