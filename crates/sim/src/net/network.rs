//! How packets move: from line to line along their flow's path, through the gateway of each.
//!
//! A line is two components of the event set: the arrival of its first packet in flight, and the end of its
//! transmission, or while it is idle the time before which its discipline sends nothing. A line whose discipline has a
//! periodic law is a third one: the law's next run.

use super::impairment::Journey;
use super::line::{Line, Sending};
use super::path::Path;
use super::pools::Pools;
use super::segment::{Arena, Direction, Segment};
use crate::engine::events::EventSet;
use crate::observe::{Event, Observer};
use fairq_sched::contract::{Dequeue, Discipline, Handle};
use fairq_sched::packet::{Fate, Fates, Outcome, Packet, Reason};
use fairq_sched::pool::Answer;
use fairq_sched::units::Time;
use std::num::NonZeroU32;

/// The first component of each kind that a line has; see `run.rs` for the order of ties.
#[derive(Clone, Copy, Debug)]
pub struct Components {
    /// Arrivals, one for each line.
    pub arrivals: u32,
    /// Ends of transmission and of waiting, one for each line.
    pub ends: u32,
    /// Runs of periodic laws, one for each line whose discipline has such a law.
    pub updates: u32,
}

/// Lines, the packets in them, and the paths of flows.
pub struct Network {
    /// Both directions of a link have numbers next to each other.
    pub lines: Vec<Line>,
    /// The buffers that lines share.
    pub pools: Pools,
    /// By flow.
    pub paths: Vec<Path>,
    /// All packets under way.
    pub arena: Arena,
    /// Data packets dropped, by flow, since the counts were last cleared.
    pub dropped: Vec<u64>,
    /// Data packets lost on the way, by flow, since the counts were last cleared.
    pub lost: Vec<u64>,
    /// Data packets marked, by flow, since the counts were last cleared.
    pub marked: Vec<u64>,
    /// Packets sent on any line since the start.
    pub packet_hops: u64,
    /// Reports of packets that were dropped, for whoever keeps them.
    pub dropped_reports: Vec<u32>,
    /// Who watches, from the start on.
    pub observer: Option<Box<dyn Observer>>,
    components: Components,
    /// The lines with a periodic law, in their order.
    updated: Vec<u32>,
    fates: Fates,
}

impl Network {
    /// A network of idle lines.
    #[must_use]
    pub fn new(mut lines: Vec<Line>, pools: Pools, paths: Vec<Path>, components: Components) -> Self {
        let flows = paths.len();
        let mut updated = Vec::new();
        for (line, at) in lines.iter_mut().enumerate() {
            if let Some(gateway) = at.gateway.as_mut().filter(|gateway| gateway.queue.next_update().is_some()) {
                gateway.update = Some(components.updates + updated.len() as u32);
                updated.push(line as u32);
            }
        }
        Self {
            lines,
            pools,
            paths,
            arena: Arena::default(),
            dropped: vec![0; flows],
            lost: vec![0; flows],
            marked: vec![0; flows],
            packet_hops: 0,
            dropped_reports: Vec::new(),
            observer: None,
            components,
            updated,
            fates: Fates::new(),
        }
    }

    /// How many lines have a periodic law.
    #[must_use]
    pub const fn updates(&self) -> u32 {
        self.updated.len() as u32
    }

    /// Gives every periodic law the time of its first run.
    pub fn begin(&self, events: &mut EventSet) {
        self.updated.iter().for_each(|line| self.plan_update(*line, events));
    }

    /// The periodic law number `number` runs. If its line is idle though packets wait, it may let one go.
    pub fn update(&mut self, now: Time, number: u32, events: &mut EventSet) {
        let line = self.updated[number as usize];
        let at = &mut self.lines[line as usize];
        at.count_waiting(now);
        let Some(gateway) = &mut at.gateway else { unreachable!("a law of an unlimited line") };
        gateway.queue.update(now);
        debug_assert!(gateway.queue.next_update().is_none_or(|next| next > now), "an update is done once");
        if gateway.sending == Sending::Nothing && gateway.queue.waiting() > 0 {
            self.start_next(now, line, false, events);
        } else {
            self.plan_update(line, events);
        }
    }

    /// Notes when the periodic law of `line` runs next, if it has one.
    #[inline]
    fn plan_update(&self, line: u32, events: &mut EventSet) {
        if let Some(gateway) = &self.lines[line as usize].gateway
            && let Some(component) = gateway.update
        {
            let next = gateway.queue.next_update().unwrap_or(Time::NEVER);
            if events.time_of(component) != next {
                events.set(component, next);
            }
        }
    }

    /// A host sends `segment`. If its path has no line it is delivered at once.
    pub fn send(&mut self, now: Time, segment: Segment, events: &mut EventSet) -> Option<Segment> {
        let id = self.arena.keep(segment);
        self.forward(now, id, events)
    }

    /// The first packet in flight on `line` arrives: at the next gateway, or at its host, then it is returned.
    pub fn arrival(&mut self, now: Time, line: u32, events: &mut EventSet) -> Option<Segment> {
        let at = &mut self.lines[line as usize];
        if at.impaired.is_some() {
            return self.late_arrival(now, line, events);
        }
        let Some((time, id)) = at.flights.pop_front() else { unreachable!("an arrival without a flight") };
        debug_assert_eq!(time, now);
        if let Some((next, _)) = at.flights.front() {
            events.set(self.components.arrivals + line, *next);
        }
        self.forward(now, id, events)
    }

    /// The same on a line on which packets may pass each other.
    #[cold]
    fn late_arrival(&mut self, now: Time, line: u32, events: &mut EventSet) -> Option<Segment> {
        let Some(((time, id), next)) = self.lines[line as usize].land() else {
            unreachable!("an arrival without a flight")
        };
        debug_assert_eq!(time, now);
        events.set(self.components.arrivals + line, next.unwrap_or(Time::NEVER));
        self.forward(now, id, events)
    }

    /// The packet `id` flies over `line`, on which things go wrong: it may be lost, or come late.
    #[cold]
    fn fly_impaired(&mut self, now: Time, line: u32, id: u32, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        let Some(impaired) = &mut at.impaired else { unreachable!("nothing goes wrong on this line") };
        match impaired.journey(now.saturating_add(at.delay)) {
            Journey::Lost => {
                at.counts.lost += 1;
                let segment = &self.arena[id];
                self.lost[segment.flow as usize] += u64::from(segment.direction == Direction::Forward);
                if let Some(observer) = &mut self.observer {
                    observer.event(now, &Event::Lost { line, segment });
                }
                self.arena.release(id);
            }
            Journey::InOrder(arrival) => at.flights.push_back((arrival, id)),
            Journey::Late(arrival) => impaired.keep(arrival, id),
        }
        let (component, next) = (self.components.arrivals + line, at.next_arrival().unwrap_or(Time::NEVER));
        if events.time_of(component) != next {
            events.set(component, next);
        }
    }

    /// The transmission on `line` ends, or the time has come before which its discipline sends nothing.
    pub fn end(&mut self, now: Time, line: u32, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        at.count_waiting(now);
        let Some(gateway) = &mut at.gateway else { unreachable!("an end on an unlimited line") };
        let sent = core::mem::replace(&mut gateway.sending, Sending::Nothing);
        let asks = gateway.notes_idle || gateway.queue.waiting() > 0;
        let length = match sent {
            Sending::Nothing => return self.start_next(now, line, false, events),
            Sending::Alone { length, .. } => length,
            Sending::Packet(id) => {
                let segment = &self.arena[id];
                if let Some(observer) = &mut self.observer {
                    observer.event(now, &Event::Sent { line, segment });
                }
                let length = segment.length;
                if at.impaired.is_some() {
                    self.fly_impaired(now, line, id, events);
                } else {
                    at.fly(now, id, self.components.arrivals + line, events);
                }
                length
            }
        };
        self.lines[line as usize].count_sent(length);
        self.packet_hops += 1;
        if asks {
            self.start_next(now, line, true, events);
        }
    }

    /// Counts the transmissions that ended without an event. Whoever reads the counts of lines calls it before.
    pub fn settle(&mut self, events: &EventSet) {
        for line in 0..self.lines.len() as u32 {
            self.settle_line(line, events);
        }
    }

    /// If the transmission on `line` ended without an event, this counts it, and the line is idle.
    #[inline]
    fn settle_line(&mut self, line: u32, events: &EventSet) {
        let at = &mut self.lines[line as usize];
        if let Some(gateway) = &mut at.gateway
            && let Sending::Alone { length, has_event: false } = gateway.sending
            && events.has_passed(self.components.ends + line, gateway.end)
        {
            gateway.sending = Sending::Nothing;
            at.count_sent(length);
            self.packet_hops += 1;
        }
    }

    /// Sends the packet `id` on to its next line, or takes it out of the network at the end of its path.
    fn forward(&mut self, now: Time, id: u32, events: &mut EventSet) -> Option<Segment> {
        loop {
            let segment = &mut self.arena[id];
            let path = &self.paths[segment.flow as usize];
            let Some(line) = path.line(segment.direction, segment.hop) else {
                return Some(self.arena.release(id));
            };
            segment.hop += 1;
            if self.lines[line as usize].gateway.is_some() {
                self.enqueue(now, line, id, events);
                return None;
            }
            let at = &mut self.lines[line as usize];
            at.count_sent(segment.length);
            self.packet_hops += 1;
            if let Some(observer) = &mut self.observer {
                observer.event(now, &Event::Sent { line, segment });
            }
            if at.impaired.is_some() {
                self.fly_impaired(now, line, id, events);
                return None;
            }
            if at.delay > Time::ZERO {
                at.fly(now, id, self.components.arrivals + line, events);
                return None;
            }
        }
    }

    fn enqueue(&mut self, now: Time, line: u32, id: u32, events: &mut EventSet) {
        self.settle_line(line, events);
        if self.pass(now, line, id, events) {
            return;
        }
        if let Some(observer) = &mut self.observer {
            observer.event(now, &Event::Arrived { line, segment: &self.arena[id] });
        }
        let is_shared = self.pools.has(line);
        if is_shared && !self.make_room(now, line, id, events) {
            return;
        }
        let segment = &self.arena[id];
        let header = self.paths[segment.flow as usize].header(segment.direction);
        let mut packet = Packet::new(u64::from(id), now, segment.length);
        packet.marks = segment.marks;
        packet.accepts = segment.accepts;
        if segment.direction == Direction::Backward {
            packet.acknowledges = NonZeroU32::new(segment.cumulative as u32);
        }
        packet.label = segment.label;
        packet.tos = header.tos;
        let at = &mut self.lines[line as usize];
        at.count_waiting(now);
        let Some(gateway) = &mut at.gateway else { unreachable!("a queue before an unlimited line") };
        let handle = gateway.queue.enqueue(now, packet, &header, &mut self.fates);
        if is_shared && let Some(handle) = handle {
            self.pools.joined(id, line, &header, packet.length, handle);
        }
        match &mut gateway.sending {
            Sending::Packet(_) if gateway.can_preempt && gateway.end > now && gateway.queue.preempts() => {
                let bits = gateway.interrupt(now);
                gateway.sending = Sending::Nothing;
                gateway.queue.put_back(now, bits);
            }
            Sending::Alone { has_event, .. } if !*has_event && gateway.queue.waiting() > 0 => {
                *has_event = true;
                events.set(self.components.ends + line, gateway.end);
            }
            _ => {}
        }
        let is_free = gateway.sending == Sending::Nothing;
        if !self.fates.is_empty() {
            self.settle_fates(now, line);
        }
        if is_free {
            self.start_next(now, line, false, events);
        } else {
            self.plan_update(line, events);
        }
        self.lines[line as usize].note_most();
    }

    /// Asks the pool of `line` for a place for the arriving packet `id`, and evicts whoever is to make room; whether there
    /// is one. If not the packet is dropped.
    fn make_room(&mut self, now: Time, line: u32, id: u32, events: &mut EventSet) -> bool {
        loop {
            let segment = &self.arena[id];
            let header = self.paths[segment.flow as usize].header(segment.direction);
            match self.pools.ask(line, &header, segment.length) {
                Answer::Join => return true,
                Answer::Evict { line, handle } => self.evict(now, line, handle, events),
                Answer::Refuse(reason) => {
                    let packet = Packet::new(u64::from(id), now, segment.length);
                    if let Some(gateway) = &mut self.lines[line as usize].gateway {
                        gateway.queue.refuse(&packet);
                    }
                    self.fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
                    self.settle_fates(now, line);
                    return false;
                }
            }
        }
    }

    /// Takes the packet called `handle`, which has left its pool, out of the queue of `line`.
    fn evict(&mut self, now: Time, line: u32, handle: Handle, events: &mut EventSet) {
        self.settle_line(line, events);
        let at = &mut self.lines[line as usize];
        at.count_waiting(now);
        let Some(gateway) = &mut at.gateway else { unreachable!("a queue before an unlimited line") };
        let Some(packet) = gateway.queue.remove(now, handle) else { unreachable!("a pool names packets that wait") };
        let is_free = gateway.sending == Sending::Nothing;
        self.pools.evicted(packet.token as u32);
        self.fates.push(Fate { packet, outcome: Outcome::Dropped(Reason::Preempted) });
        self.settle_fates(now, line);
        // A free line waits for the time that its discipline named, which may have hung on that packet.
        if is_free {
            self.start_next(now, line, false, events);
        }
    }

    /// Sends the packet `id` past the discipline of `line`, if that is idle and its discipline need not see it; whether
    /// it did. A watched line shows the packet to its discipline and has an event at each end, as one without delay has.
    #[inline]
    fn pass(&mut self, now: Time, line: u32, id: u32, events: &mut EventSet) -> bool {
        let at = &mut self.lines[line as usize];
        let Some(gateway) = &mut at.gateway else { return false };
        // A packet needs a place in its pool, even before an idle line.
        let is_plain = gateway.passes_when_idle && !self.pools.has(line);
        let passes = is_plain && !gateway.needs_end && self.observer.is_none();
        if !passes || gateway.sending != Sending::Nothing {
            return false;
        }
        debug_assert_eq!(gateway.queue.waiting(), 0, "packets wait on an idle line");
        let length = self.arena[id].length;
        gateway.transmitter.begin(now);
        let end = gateway.transmitter.send(u64::from(length) * 8);
        // A transmission that takes no time ends in the order of events of this instant.
        if end == now {
            return false;
        }
        gateway.end = end;
        gateway.sending = Sending::Alone { length, has_event: false };
        at.fly(end, id, self.components.arrivals + line, events);
        true
    }

    /// Asks the discipline of an idle line for a packet, after what waited was counted up to now. `continues` says that a
    /// transmission ends just now, so that the next one is counted from where that one began.
    fn start_next(&mut self, now: Time, line: u32, continues: bool, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        let Some(gateway) = &mut at.gateway else { unreachable!("a queue before an unlimited line") };
        match gateway.queue.dequeue(now, &mut self.fates) {
            Dequeue::Send(packet) => {
                let id = packet.token as u32;
                self.arena[id].marks = packet.marks;
                self.arena[id].label = packet.label;
                self.pools.left(id);
                if !continues {
                    gateway.begin(now);
                }
                let end = gateway.send(packet.bits_to_send());
                gateway.end = end;
                let needs_end = gateway.needs_end || gateway.queue.waiting() > 0 || self.observer.is_some();
                if end > now && !needs_end {
                    gateway.sending = Sending::Alone { length: packet.length, has_event: false };
                    at.fly(end, id, self.components.arrivals + line, events);
                } else {
                    gateway.sending = Sending::Packet(id);
                    events.set(self.components.ends + line, end);
                }
            }
            Dequeue::NotBefore(time) => events.set(self.components.ends + line, time),
            Dequeue::Empty => events.set(self.components.ends + line, Time::NEVER),
        }
        self.plan_update(line, events);
        if !self.fates.is_empty() {
            self.settle_fates(now, line);
        }
    }

    /// Counts and lets go of what the discipline of `line` dropped.
    #[cold]
    fn settle_fates(&mut self, now: Time, line: u32) {
        for fate in self.fates.drain(..) {
            let id = fate.packet.token as u32;
            let segment = &self.arena[id];
            let is_data = segment.direction == Direction::Forward;
            let flow = segment.flow as usize;
            let counts = &mut self.lines[line as usize].counts;
            match fate.outcome {
                Outcome::Dropped(reason) => {
                    counts.dropped += 1;
                    self.dropped[flow] += u64::from(is_data);
                    if let Some(observer) = &mut self.observer {
                        observer.event(now, &Event::Dropped { line, segment, reason });
                    }
                    if segment.report != 0 {
                        self.dropped_reports.push(segment.report);
                    }
                    self.pools.left(id);
                    self.arena.release(id);
                }
                Outcome::Marked(marks) => {
                    counts.marked += 1;
                    self.marked[flow] += u64::from(is_data);
                    if let Some(observer) = &mut self.observer {
                        observer.event(now, &Event::Marked { line, segment, marks });
                    }
                }
            }
        }
    }

    /// Begins new counts.
    pub fn clear_counts(&mut self, now: Time, events: &EventSet) {
        self.settle(events);
        for line in &mut self.lines {
            line.clear_counts(now);
        }
        self.dropped.fill(0);
        self.lost.fill(0);
        self.marked.fill(0);
    }

    /// Whether every packet under way is in exactly one line.
    #[must_use]
    pub fn conserves_packets(&self) -> bool {
        self.lines.iter().map(Line::packets).sum::<u64>() == self.arena.len() as u64
    }
}
