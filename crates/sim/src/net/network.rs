//! How packets move: from line to line along their flow's path, through the gateway of each line.
//! Which way a packet takes through a gateway is decided before the run (`hop.rs`).
//!
//! A line has two components in the event set. One is the arrival of its first packet in flight.
//! The other is the end of its transmission or, on an idle line, the time before which its
//! discipline sends nothing. A line whose discipline has a periodic update has a third component:
//! the next update.

use super::border::Border;
use super::by_hand::ByHand;
use super::gateway::{Begun, LineService, Notes};
use super::line::{Entered, Entry, Flight, Line, Sending};
use super::path::{HOST, Paths};
use super::pools::Pools;
use super::tally::Tally;
use crate::engine::events::EventSet;
use crate::observe::{Event, Observer};
use crate::segment::{Arena, Direction, Segment, Token};
use fairq_link::impairment::Journey;
use fairq_sched::contract::{Discipline, Handle};
use fairq_sched::fast_path::{FastPath, take};
use fairq_sched::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use fairq_sched::pool::Answer;
use fairq_sched::port::Port;
use fairq_sched::units::Time;
use std::num::NonZeroU32;

/// The first component of each kind; see `run.rs` for the order of ties.
#[derive(Clone, Copy, Debug)]
pub struct Components {
    /// Arrivals, one for each line.
    pub arrivals: u32,
    /// Ends of transmission and of waiting, one for each line.
    pub ends: u32,
    /// Periodic updates, one for each line whose discipline has one.
    pub updates: u32,
}

/// The number of lines at the beginning of a path that are prefetched.
const FIRST: u32 = 3;

impl Components {
    /// The component of the next arrival on `line`, whose state is `at`.
    #[inline]
    const fn arrival(&self, line: u32, at: &Line) -> u32 {
        line + if at.arrives_at_end() { self.ends } else { self.arrivals }
    }
}

/// Lines, the packets in them, and the paths of flows.
pub struct Network {
    /// Both directions of a link have numbers next to each other.
    pub lines: Vec<Line>,
    /// The buffers that lines share.
    pub pools: Pools,
    pub(super) paths: Paths,
    /// All packets under way.
    pub arena: Arena,
    /// Data packets dropped, by flow, since the counts were last cleared.
    pub dropped: Tally,
    /// Data packets lost on the way, by flow, since the counts were last cleared.
    pub lost: Tally,
    /// Data packets marked, by flow, since the counts were last cleared.
    pub marked: Tally,
    /// Packets sent on any line since the start, as of the last `settle`.
    pub packet_hops: u64,
    /// `packet_hops` and the packets whose transmission ends later but whose end is known already.
    pub packet_hops_known: u64,
    /// The report numbers of packets that were dropped, for the transport that holds the reports.
    pub dropped_reports: Vec<u32>,
    /// The observer of the whole run, if there is one.
    pub observer: Option<Box<dyn Observer>>,
    /// By line, whether the observer is told of all its events; empty without one.
    pub(super) is_watched: Vec<bool>,
    /// What a run that is held needs of packets.
    pub(super) by_hand: ByHand,
    /// The border to the other parts of the network, if this network is one part of several.
    pub border: Border,
    /// Whether the state of soon-due events is prefetched (`run/prefetch.rs`).
    pub prefetches: bool,
    /// The data packets of flows below this number may carry what remains of their transfer and its
    /// deadline. 0: no flow's packets do.
    pub urgent: u32,
    pub(super) components: Components,
    /// The lines with a periodic update, in the order of their numbers.
    pub(super) updated: Vec<u32>,
    pub(super) fates: Fates,
    /// The ids of packets that a device has just taken into its ring.
    pub(super) taken: Vec<u32>,
}

/// The way of a packet.
impl Network {
    /// A host sends `segment`. If its path has no line, the segment is delivered at once. Returns
    /// the id of a packet that reached its destination. The packet stays in the arena; the caller
    /// releases it. The same holds for the functions below.
    #[inline(always)]
    pub fn send(&mut self, now: Time, mut segment: Segment, events: &mut EventSet) -> Option<u32> {
        segment.place = self.paths.first(segment.flow, segment.direction);
        segment.next = self.paths.next(segment.place, segment.flow);
        let id = self.arena.keep(segment);
        self.forward(now, id, events)
    }

    /// The first packet in flight on `line` arrives at the next gateway or at its host. Returns its
    /// id if it reached its host.
    #[inline]
    pub fn arrival(&mut self, now: Time, line: u32, events: &mut EventSet) -> Option<u32> {
        let at = &mut self.lines[line as usize];
        if at.impaired.is_some() {
            return self.late_arrival(now, line, events);
        }
        let Some(flight) = at.flights.pop_front() else { unreachable!("an arrival without a flight") };
        let id = flight.token.id();
        debug_assert_eq!((flight.arrival, flight.token.next()), (now, self.arena[id].next));
        if let Some(after) = at.flights.front() {
            events.set(self.components.arrival(line, at), after.arrival);
            // Packets on a long line have left the caches: the arena prefetches the one after the
            // next. Not with many busy lines: it would be evicted again before its use.
            if !self.prefetches
                && let Some(later) = at.flights.get(1)
            {
                self.arena.fetch(later.token.id());
            }
        }
        if flight.token.next() >= HOST {
            return Some(id);
        }
        self.forward(now, id, events)
    }

    /// As `arrival`, on a line on which packets may be reordered.
    #[cold]
    fn late_arrival(&mut self, now: Time, line: u32, events: &mut EventSet) -> Option<u32> {
        let Some(((time, id), next)) = self.lines[line as usize].land() else {
            unreachable!("an arrival without a flight")
        };
        debug_assert_eq!(time, now);
        events.set(self.components.arrivals + line, next.unwrap_or(Time::NEVER));
        self.forward(now, id, events)
    }

    /// Sends the packet `id` on to its next line. Returns its id if it has reached the end of its
    /// path.
    pub(super) fn forward(&mut self, now: Time, id: u32, events: &mut EventSet) -> Option<u32> {
        loop {
            let segment = &mut self.arena[id];
            let (line, length) = (segment.next, segment.length);
            if line >= HOST {
                return Some(id);
            }
            self.paths.step(segment);
            let at = &mut self.lines[line as usize];
            let served = (Token::new(id, segment.next), length + at.header);
            if at.entry != Entry::Open {
                self.enter(now, line, served, events);
                return None;
            }
            if let Some(observer) = &mut self.observer {
                observer.event(now, &Event::Sent { line, id, segment });
            }
            if at.is_orderly() {
                self.fly(now, line, served, events);
                return None;
            }
            if at.impaired.is_some() {
                self.fly_impaired(now, line, id, events);
                return None;
            }
            at.sent.add(served.1);
            self.packet_hops_known += 1;
        }
    }

    /// The packet comes to the gateway of `line`: it bypasses the discipline, joins a plain FIFO
    /// whose departures are computed, or is shown to the discipline.
    #[inline]
    fn enter(&mut self, now: Time, line: u32, served: (Token, u32), events: &mut EventSet) {
        let pending = events.pending_from(self.components.ends + line);
        let (id, length) = (served.0.id(), served.1);
        let at = &mut self.lines[line as usize];
        match at.enter(now, id, length, pending) {
            Entered::Flies(end) => return self.fly(end, line, served, events),
            Entered::Refused(reason) => {
                let (packet, _) = self.shown(now, line, id);
                self.fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
                return self.settle_fates(now, line);
            }
            Entered::Passes => self.pass_watched(now, line, served),
            Entered::Waits => self.enqueue(now, line, id, events),
        }
        self.plan(line, events);
    }

    /// The packet of `token` is in flight on `line` from `end` on, when its transmission ends. If
    /// its fate on the next line is known already (`shortcut.rs`), it is in flight on that line at
    /// once, and so on, without an event for each arrival.
    fn fly(&mut self, mut end: Time, mut line: u32, (mut token, mut length): (Token, u32), events: &mut EventSet) {
        loop {
            let at = &mut self.lines[line as usize];
            at.sent.add(length);
            self.packet_hops_known += 1;
            let arrival = end.saturating_add(at.delay);
            let (header, leaves) = (at.header, at.leaves);
            if at.leads
                && let Some(follower) = self.lines.get_mut(token.next() as usize)
                && follower.follows
            {
                let there = length - header + follower.header;
                if let Some(then) = follower.foresee(arrival, token.id(), there) {
                    (end, line, length) = (then, token.next(), there);
                    let segment = &mut self.arena[token.id()];
                    self.paths.step(segment);
                    token = Token::new(token.id(), segment.next);
                    continue;
                }
            }
            let flight = Flight { arrival, token };
            if leaves {
                return self.leave(line, flight);
            }
            return self.take_off(line, flight, events);
        }
    }

    /// Puts the packet of `flight` on `line`, behind the packets in flight there.
    #[inline(always)]
    pub(super) fn take_off(&mut self, line: u32, flight: Flight, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        if at.flights.is_empty() {
            events.set(self.components.arrival(line, at), flight.arrival);
        }
        at.flights.push_back(flight);
    }

    /// Sends the packet `id` over `line`, which has impairments: the packet may be lost or arrive
    /// late.
    #[cold]
    fn fly_impaired(&mut self, now: Time, line: u32, id: u32, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        let segment = &self.arena[id];
        at.sent.add(segment.length + at.header);
        self.packet_hops_known += 1;
        let Some(impaired) = &mut at.impaired else { unreachable!("nothing goes wrong on this line") };
        match impaired.journey(now.saturating_add(at.delay)) {
            Journey::Lost => {
                at.counts.lost += 1;
                if segment.direction == Direction::Forward {
                    self.lost.count(segment.flow);
                }
                if let Some(observer) = &mut self.observer {
                    observer.event(now, &Event::Lost { line, id, segment });
                }
                self.arena.release(id);
            }
            Journey::InOrder(arrival) => at.flights.push_back(Flight { arrival, token: Token::new(id, segment.next) }),
            Journey::Late(arrival) => impaired.keep(arrival, id),
        }
        events.keep(self.components.arrivals + line, at.next_arrival().unwrap_or(Time::NEVER));
    }
}

/// The calls of a gateway's port: packets arrive, transmissions end. What the port notes of a call
/// is acted on after it (`go_on`), and `plan` sets the gateway's next events.
impl Network {
    /// Offers the packet `id` to the port of `line`; waiting packets have been counted up to now.
    /// Not inlined: packets that bypass the discipline then save no registers.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, now: Time, line: u32, id: u32, events: &mut EventSet) {
        if let Some(observer) = &mut self.observer {
            observer.event(now, &Event::Arrived { line, id, segment: &self.arena[id] });
        }
        let is_shared = self.pools.has(line);
        if is_shared && !self.make_room(now, line, id, events) {
            return;
        }
        let (packet, header) = self.shown(now, line, id);
        self.catch_up(now, line, &header);
        let length = packet.length;
        let (handle, begun) = self.call(line, |port, notes| port.arrive(now, packet, &header, notes));
        if is_shared && let Some(handle) = handle {
            self.pools.joined(id, line, &header, length, handle);
        }
        if !self.fates.is_empty() {
            self.settle_fates(now, line);
        }
        self.go_on(now, line, begun, events);
        self.lines[line as usize].note_most();
    }

    /// Calls the port of `line`. What the call returned, and the transmission that it began.
    #[inline(always)]
    pub(super) fn call<R>(
        &mut self,
        line: u32,
        port: impl FnOnce(&mut Port<Box<dyn Discipline>, LineService>, &mut Notes<'_>) -> R,
    ) -> (R, Option<Begun>) {
        let Some(gateway) = &mut self.lines[line as usize].gateway else {
            unreachable!("no queue before an unlimited line")
        };
        let mut notes = Notes {
            arena: &mut self.arena,
            fates: &mut self.fates,
            taken: &mut self.taken,
            interrupted: &mut gateway.interrupted,
            by_hand: &mut self.by_hand,
            begun: None,
            ended: false,
        };
        let answer = port(&mut gateway.port, &mut notes);
        (answer, notes.begun)
    }

    /// Takes over what a call of the port of `line` has changed: `begun` is the transmission that
    /// it began. Inlined: a call costs a hop 1.5 % of its instructions.
    #[inline(always)]
    pub(super) fn go_on(&mut self, now: Time, line: u32, begun: Option<Begun>, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        let Some(gateway) = &mut at.gateway else { unreachable!("no queue before an unlimited line") };
        let has_waiting = gateway.waiting() > 0;
        if let Some(Begun { served, end }) = begun {
            self.pools.left(served.0.id());
            at.end = end;
            if end > now && !at.needs_end && !has_waiting {
                take(FastPath::SilentEnd);
                at.sending = Sending::Alone { has_event: false };
                self.fly(end, line, served, events);
            } else {
                at.sending = Sending::Packet;
                if self.observer.is_some() {
                    self.tell_beginning(now, line, served.0.id(), end);
                }
                // The packet goes on when its transmission ends. It has waited long enough to have
                // left the caches.
                if let Some(follower) = self.lines.get(served.0.next() as usize) {
                    self.arena.fetch(served.0.id());
                    follower.fetch();
                }
            }
        } else if !gateway.port.is_sending() {
            (at.sending, at.end) = (Sending::Nothing, gateway.port.next_end().unwrap_or(Time::NEVER));
        } else if let Sending::Alone { has_event } = &mut at.sending {
            *has_event |= has_waiting;
        }
        if !self.taken.is_empty() {
            self.taken.drain(..).for_each(|id| self.pools.left(id));
        }
        if !self.fates.is_empty() {
            self.settle_fates(now, line);
        }
    }

    /// Asks the pool of `line` for room for the arriving packet `id`, and evicts the packets that
    /// the pool names. Returns whether there is room; if not, the packet is dropped.
    fn make_room(&mut self, now: Time, line: u32, id: u32, events: &mut EventSet) -> bool {
        loop {
            let segment = &self.arena[id];
            let header = self.paths.header(segment);
            let length = segment.length + self.lines[line as usize].header;
            match self.pools.ask(line, &header, length) {
                Answer::Join => return true,
                Answer::Evict { line, handle } => self.evict(now, line, handle, events),
                Answer::Refuse(reason) => {
                    let (packet, _) = self.shown(now, line, id);
                    self.call(line, |port, notes| port.refuse(now, &packet, reason, notes));
                    self.settle_fates(now, line);
                    return false;
                }
            }
        }
    }

    /// Removes the packet called `handle`, which has left its pool, from the queue of `line`.
    fn evict(&mut self, now: Time, line: u32, handle: Handle, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        debug_assert_ne!(at.sending, Sending::Alone { has_event: false }, "a packet waits behind it");
        at.count_waiting(now);
        let (packet, begun) = self.call(line, |port, notes| port.remove(now, handle, notes));
        let Some(packet) = packet else { unreachable!("a pool names packets that wait") };
        self.pools.evicted(packet.token as u32);
        // Before what was dropped when the port then asked for a packet.
        self.fates.insert(0, Fate { packet, outcome: Outcome::Dropped(Reason::Preempted) });
        self.settle_fates(now, line);
        self.go_on(now, line, begun, events);
        self.plan(line, events);
    }

    /// Tells the port of `line`, before a packet comes that has `header`, what it need not hear at
    /// once: that a transmission ended which was no event, and that the packet being sent bypassed
    /// the discipline.
    #[inline]
    fn catch_up(&mut self, now: Time, line: u32, header: &Header) {
        let at = &mut self.lines[line as usize];
        let Some(gateway) = &mut at.gateway else { return };
        let (is_told, is_idle) = (core::mem::replace(&mut at.is_told, true), at.sending == Sending::Nothing);
        if gateway.port.is_sending() && (is_idle || !is_told) {
            gateway.port.step(now, &mut ());
        }
        if !is_told && !is_idle {
            self.tell_of_bypass(line, header);
        }
    }

    /// Tells the port of `line` of the packet that bypasses the discipline. A packet with `header`
    /// comes after it.
    fn tell_of_bypass(&mut self, line: u32, header: &Header) {
        let at = &self.lines[line as usize];
        let Some(gateway) = &at.gateway else { return };
        let (time, length) = at.passing();
        let (packet, header) = if at.recalls {
            take(FastPath::Replay);
            self.shown(time, line, gateway.passed)
        } else {
            // The discipline need not hear of it, and what becomes of it is settled.
            (Packet::new(0, time, length), *header)
        };
        let Some(gateway) = &mut self.lines[line as usize].gateway else { return };
        gateway.port.bypassed(time, packet, &header);
    }

    /// The transmission on `line` ends, or the time has come before which its discipline sends
    /// nothing. Returns the packet's id if its arrival at its host is this event
    /// (`Line::arrives_at_end`).
    pub fn end(&mut self, now: Time, line: u32, events: &mut EventSet) -> Option<u32> {
        if self.lines[line as usize].arrives_at_end() {
            take(FastPath::ArrivalAtEnd);
            return self.arrival(now, line, events);
        }
        self.decide(now, line, events);
        None
    }

    /// As `end`, where the discipline decides what is sent next.
    fn decide(&mut self, now: Time, line: u32, events: &mut EventSet) {
        let at = &mut self.lines[line as usize];
        at.count_waiting(now);
        if at.sending == Sending::Packet {
            let Some(gateway) = &at.gateway else { unreachable!("an end on an unlimited line") };
            let served = gateway.serving();
            self.sent(now, line, served, events);
        }
        let ((), begun) = self.call(line, |port, notes| port.step(now, notes));
        self.go_on(now, line, begun, events);
        self.plan(line, events);
    }

    /// The transmission of a packet on `line` has ended.
    #[inline(always)]
    pub(super) fn sent(&mut self, now: Time, line: u32, served: (Token, u32), events: &mut EventSet) {
        let id = served.0.id();
        if let Some(observer) = &mut self.observer {
            self.by_hand.mark(id, &mut self.arena);
            observer.event(now, &Event::Sent { line, id, segment: &self.arena[id] });
        }
        if self.lines[line as usize].impaired.is_some() {
            self.fly_impaired(now, line, id, events);
        } else {
            self.fly(now, line, served, events);
        }
    }

    /// Runs the periodic update number `number`. If its line is idle though packets wait, the
    /// update may release one.
    pub fn update(&mut self, now: Time, number: u32, events: &mut EventSet) {
        let line = self.updated[number as usize];
        self.lines[line as usize].count_waiting(now);
        let ((), begun) = self.call(line, |port, notes| port.step_update(now, notes));
        // A packet that the port does not know of may be bypassing the discipline.
        if self.lines[line as usize].sending == Sending::Nothing {
            self.go_on(now, line, begun, events);
        }
        self.plan(line, events);
    }

    /// Sets the next events of the gateway of `line`, after its state has changed.
    #[inline(always)]
    pub(super) fn plan(&self, line: u32, events: &mut EventSet) {
        let at = &self.lines[line as usize];
        events.keep(self.components.ends + line, at.next_end());
        if let Some(gateway) = &at.gateway
            && let Some(component) = gateway.update
        {
            events.keep(component, gateway.port.next_update().unwrap_or(Time::NEVER));
        }
    }
}

/// What becomes of a packet at a gateway.
impl Network {
    /// A bypass where the end of the transmission must be an event: the port and the observer are
    /// told of the packet.
    #[cold]
    fn pass_watched(&mut self, now: Time, line: u32, served: (Token, u32)) {
        let id = served.0.id();
        let (packet, header) = self.shown(now, line, id);
        let at = &mut self.lines[line as usize];
        (at.sending, at.is_told) = (Sending::Packet, true);
        if let Some(gateway) = &mut at.gateway {
            gateway.port.bypassed(now, packet, &header);
        }
        if let Some(observer) = &mut self.observer {
            let (segment, end) = (&self.arena[id], at.end);
            observer.event(now, &Event::Arrived { line, id, segment });
            observer.event(now, &Event::Began { line, id, segment, end, decision: None });
        }
    }

    /// The packet `id` and its header as the discipline of `line` sees them; the packet arrives at
    /// `time`.
    #[inline]
    fn shown(&self, time: Time, line: u32, id: u32) -> (Packet, Header) {
        let (segment, framing) = (&self.arena[id], self.lines[line as usize].header);
        let mut header = self.paths.header(segment);
        header.tos = segment.tos(header.tos);
        let mut packet = Packet::new(Token::new(id, segment.next).0, time, segment.length + framing);
        packet.link_header = framing as u8;
        packet.marks = segment.marking.marks();
        packet.accepts = segment.marking.accepts();
        if segment.direction == Direction::Backward {
            packet.acknowledges = NonZeroU32::new(segment.cumulative as u32);
        } else if segment.flow < self.urgent {
            packet.remaining = segment.marked;
            packet.deadline = segment.due();
        }
        packet.label = segment.label;
        packet.tos = header.tos;
        (packet, header)
    }

    /// Counts the packets that the discipline of `line` dropped or marked, and releases the dropped
    /// ones.
    #[cold]
    pub(super) fn settle_fates(&mut self, now: Time, line: u32) {
        for fate in self.fates.drain(..) {
            let id = fate.packet.token as u32;
            let segment = &self.arena[id];
            let is_data = segment.direction == Direction::Forward;
            let flow = segment.flow;
            let counts = &mut self.lines[line as usize].counts;
            match fate.outcome {
                Outcome::Dropped(reason) => {
                    counts.dropped += 1;
                    if is_data {
                        self.dropped.count(flow);
                    }
                    if let Some(observer) = &mut self.observer {
                        self.by_hand.forget(id);
                        observer.event(now, &Event::Dropped { line, id, segment, reason });
                    }
                    if segment.report != 0 {
                        self.dropped_reports.push(segment.report);
                    }
                    self.pools.left(id);
                    self.arena.release(id);
                }
                Outcome::Marked(marks) => {
                    counts.marked += 1;
                    if is_data {
                        self.marked.count(flow);
                    }
                    if let Some(observer) = &mut self.observer {
                        observer.event(now, &Event::Marked { line, id, segment, marks });
                    }
                }
            }
        }
    }
}

impl Network {
    /// How long a data packet of `flow` with `length` bytes takes where it waits for no other:
    /// propagation and its own transmission on each line of its path. On a line whose rate changes
    /// the transmission takes the least time that it could.
    #[must_use]
    pub fn time_alone(&self, flow: u32, length: u32) -> Time {
        let of = |line: &Line| {
            let sending = line.gateway.as_ref().map(|gateway| gateway.least_time(length + line.header));
            line.delay.saturating_add(sending.unwrap_or_default())
        };
        self.paths.data_lines(flow).map(|line| of(&self.lines[line as usize])).fold(Time::ZERO, Time::saturating_add)
    }

    /// Prefetches the path of `flow`.
    #[inline]
    pub fn fetch_way(&self, flow: u32) {
        self.paths.fetch(flow);
    }

    /// The first lines on the path of `flow` in one direction, at most `FIRST`: a packet may be
    /// sent over all of them at once.
    #[inline]
    pub fn first_lines(&self, flow: u32, direction: Direction) -> impl Iterator<Item = &Line> {
        let first = self.paths.first(flow, direction);
        (first..first + FIRST).map_while(|place| self.lines.get(self.paths.line(place) as usize))
    }

    /// Whether every packet in the arena is on exactly one line.
    #[must_use]
    pub fn conserves_packets(&self) -> bool {
        let on_lines = self.lines.iter().map(Line::packets).sum::<u64>();
        on_lines + self.by_hand.withheld == self.arena.len() as u64
    }
}
