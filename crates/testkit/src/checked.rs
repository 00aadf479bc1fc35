//! A wrapper that checks the contract after every call, on a discipline and on a twin of it.
//!
//! The twin is asked the same, though never twice: where the contract says that asking again does no harm, only the
//! one is asked again, and whatever harm it did shows as a difference from then on.

use fairq_sched::card::Law;
use fairq_sched::contract::{Dequeue, Discipline, Handle, Held};
use fairq_sched::packet::{Address, Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DESIGNS, SCHEDULERS};
use fairq_sched::units::{Limit, Rate, Time, Weight};
use std::collections::BTreeMap;

/// What holds for one discipline and not for another.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How much may wait, interrupted packets not counted.
    pub limit: Limit,
    /// The bytes that may wait beside the limit.
    pub memory: Limit,
    /// Whether a packet goes whenever one is held.
    pub is_work_conserving: bool,
    /// Whether packets of a flow leave in the order in which they came.
    pub keeps_flow_order: bool,
}

impl Rules {
    /// The rules for what `queue` says, by its cards.
    #[must_use]
    pub fn of(queue: &Queue) -> Self {
        let name = queue.design.as_ref().map_or_else(|| queue.scheduler.name(), |design| design.name());
        let card = SCHEDULERS.iter().chain(DESIGNS).find(|card| card.name == name);
        let memory = queue.design.as_ref().and_then(|design| design.part().memory());
        let obeys = |law| !card.is_some_and(|card| card.breaks.contains(&law));
        Self {
            limit: queue.capacity(),
            memory: memory.map_or(Limit::Unlimited, |memory| Limit::Bytes(memory.0)),
            is_work_conserving: obeys(Law::WorkConservation),
            keeps_flow_order: obeys(Law::FlowOrder),
        }
    }
}

impl Rules {
    const fn are_exceeded_by(&self, packets: u64, bytes: u64) -> bool {
        self.limit.is_exceeded_by(packets, bytes) || self.memory.is_exceeded_by(packets, bytes)
    }
}

/// Whether a drop for this reason says that there was no room.
const fn wants_room(reason: Reason) -> bool {
    matches!(reason, Reason::BufferFull | Reason::LongestQueue | Reason::TooLong | Reason::Oldest)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Sending,
    /// Sent, dropped or removed: never to be seen again.
    Gone,
}

struct Seen {
    packet: Packet,
    flow: usize,
    state: State,
    handle: Option<Handle>,
    was_interrupted: bool,
}

/// `packet` with what a gateway may change as in `other`.
const fn relabelled(packet: Packet, other: &Packet) -> Packet {
    Packet { label: other.label, remaining: other.remaining, ..packet }
}

type Key = (Address, Address, u16, u16, u16, u8);

/// A discipline under watch. Tokens of packets must be 0, 1, 2 … in order of arrival.
pub struct Checked {
    subject: Box<dyn Discipline>,
    twin: Box<dyn Discipline>,
    rules: Rules,
    now: Time,
    seen: Vec<Seen>,
    flows: BTreeMap<Key, usize>,
    /// For each flow the token after the last one sent.
    next: Vec<u64>,
    sending: Option<u64>,
    waiting: Held,
    /// Of these, packets that were interrupted.
    interrupted: Held,
    twin_fates: Fates,
}

impl Checked {
    /// Watches what `build` builds, twice.
    pub fn new(rules: Rules, build: impl Fn() -> Box<dyn Discipline>) -> Self {
        Self {
            subject: build(),
            twin: build(),
            rules,
            now: Time::ZERO,
            seen: Vec::new(),
            flows: BTreeMap::new(),
            next: Vec::new(),
            sending: None,
            waiting: Held::default(),
            interrupted: Held::default(),
            twin_fates: Fates::new(),
        }
    }

    fn begin(&mut self, now: Time) {
        assert!(now >= self.now, "the driver turned time back");
        self.now = now;
        self.twin_fates.clear();
    }

    /// The packet joins those that wait, or leaves them.
    fn count(&mut self, token: u64, joins: bool) {
        let seen = &self.seen[token as usize];
        let bytes = u64::from(seen.packet.length);
        for (held, counts) in [(&mut self.waiting, true), (&mut self.interrupted, seen.was_interrupted)] {
            if counts && joins {
                (held.packets, held.bytes) = (held.packets + 1, held.bytes + bytes);
            } else if counts {
                (held.packets, held.bytes) = (held.packets - 1, held.bytes - bytes);
            }
        }
    }

    fn note_fates(&mut self, fates: &[Fate], arriving: Option<u64>) {
        assert_eq!(fates, self.twin_fates, "the same calls, other fates");
        for fate in fates {
            let token = fate.packet.token;
            let seen = &mut self.seen[token as usize];
            assert_eq!(seen.state, State::Waiting, "a fate of {token}, which does not wait: {fate:?}");
            match fate.outcome {
                Outcome::Marked(marks) => {
                    let is_at_head = arriving.is_none() && marks == Marks::CE;
                    assert!(Some(token) == arriving || is_at_head, "{fate:?}: neither arriving nor leaving");
                    assert_eq!(marks.within(seen.packet.accepts), marks, "{fate:?}: the packet does not accept it");
                    assert_eq!(fate.packet.marks, seen.packet.marks.with(marks), "{fate:?}");
                    seen.packet.marks = fate.packet.marks;
                }
                Outcome::Dropped(reason) => {
                    assert_eq!(fate.packet, relabelled(seen.packet, &fate.packet), "the packet came back changed");
                    seen.state = State::Gone;
                    self.count(token, false);
                    let dropped = fate.packet.length;
                    let (packets, bytes) = (self.waiting.packets + 1, self.waiting.bytes + u64::from(dropped));
                    let is_over = self.rules.are_exceeded_by(packets, bytes);
                    assert!(is_over || !wants_room(reason), "{fate:?}: there was room for it");
                }
            }
        }
    }

    /// After every call: conservation, limit, sameness.
    fn check(&mut self) {
        // Everything that arrived is sent, gone or waiting: `waiting` is counted from the answers alone.
        assert_eq!(self.subject.held(), self.waiting, "arrived = sent + dropped + held");
        assert_eq!(self.twin.held(), self.waiting, "the same calls, another number held");
        let (packets, bytes) =
            (self.waiting.packets - self.interrupted.packets, self.waiting.bytes - self.interrupted.bytes);
        assert!(!self.rules.are_exceeded_by(packets, bytes), "{packets} packets, {bytes} B: over the limit");
        assert_eq!(self.subject.next_update(), self.subject.next_update());
        self.subject.inspect(&mut |_, _| ());
    }
}

impl Discipline for Checked {
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.begin(now);
        assert_eq!(packet.token, self.seen.len() as u64, "tokens are numbered");
        let Header { source, destination, protocol, source_port, destination_port, tos } = *header;
        let number = self.flows.len();
        let flow =
            *self.flows.entry((source, destination, protocol, source_port, destination_port, tos)).or_insert(number);
        self.next.resize(self.flows.len(), 0);
        self.seen.push(Seen { packet, flow, state: State::Waiting, handle: None, was_interrupted: false });
        self.count(packet.token, true);

        let before = fates.len();
        let handle = self.subject.enqueue(now, packet, header, fates);
        assert_eq!(self.twin.enqueue(now, packet, header, &mut self.twin_fates), handle, "the same calls");
        self.note_fates(&fates[before..], Some(packet.token));
        let seen = &mut self.seen[packet.token as usize];
        assert_eq!(handle.is_some(), seen.state == State::Waiting, "a handle is given if the packet is held");
        seen.handle = handle;
        self.check();
        handle
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.begin(now);
        if let Some(token) = self.sending.take() {
            self.seen[token as usize].state = State::Gone;
        }
        let before = fates.len();
        let answer = self.subject.dequeue(now, fates);
        assert_eq!(self.twin.dequeue(now, &mut self.twin_fates), answer, "the same calls, another answer");
        self.note_fates(&fates[before..], None);
        match answer {
            Dequeue::Send(packet) => {
                let token = packet.token;
                let seen = &mut self.seen[token as usize];
                assert_eq!(seen.state, State::Waiting, "{token} is sent and does not wait");
                assert_eq!(packet, relabelled(seen.packet, &packet), "a packet is sent as it came");
                let is_in_order = token >= self.next[seen.flow];
                assert!(is_in_order || !self.rules.keeps_flow_order, "{token} is sent after a later one of its flow");
                self.next[seen.flow] = token + 1;
                (seen.state, seen.handle) = (State::Sending, None);
                self.count(token, false);
                self.seen[token as usize].was_interrupted = false;
                self.sending = Some(token);
            }
            Dequeue::NotBefore(time) => {
                assert!(!self.rules.is_work_conserving, "nothing before {time:?} though {:?} waits", self.waiting);
                assert!(time > now && self.waiting.packets > 0, "{time:?} with {:?} waiting", self.waiting);
            }
            Dequeue::Empty => assert_eq!(self.waiting, Held::default(), "empty, though packets wait"),
        }
        if !matches!(answer, Dequeue::Send(_)) {
            assert_eq!(self.subject.dequeue(now, fates), answer, "asked again");
        }
        self.check();
        answer
    }

    fn held(&self) -> Held {
        self.subject.held()
    }

    fn next_update(&self) -> Option<Time> {
        self.subject.next_update()
    }

    fn update(&mut self, now: Time) {
        self.begin(now);
        self.subject.update(now);
        self.twin.update(now);
        self.check();
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        self.begin(now);
        let removed = self.subject.remove(now, handle);
        assert_eq!(self.twin.remove(now, handle), removed, "the same calls, another packet");
        let named = self.seen.iter().rposition(|seen| seen.state == State::Waiting && seen.handle == Some(handle));
        assert_eq!(removed.map(|packet| packet.token), named.map(|token| token as u64), "{handle:?}");
        if let Some(token) = named {
            let came = removed.map(|packet| relabelled(self.seen[token].packet, &packet));
            assert_eq!(removed, came, "the packet came back changed");
            self.seen[token].state = State::Gone;
            self.count(token as u64, false);
            assert_eq!(self.subject.remove(now, handle), None, "a packet is removed once");
        }
        self.check();
        removed
    }

    fn rate_changed(&mut self, now: Time, rate: Rate) {
        self.begin(now);
        self.subject.rate_changed(now, rate);
        self.twin.rate_changed(now, rate);
        self.check();
    }

    fn weight_changed(&mut self, now: Time, header: &Header, weight: Weight) {
        self.begin(now);
        self.subject.weight_changed(now, header, weight);
        self.twin.weight_changed(now, header, weight);
        self.check();
    }

    fn preempts(&self) -> bool {
        let preempts = self.subject.preempts();
        assert_eq!(self.subject.preempts(), preempts, "asked again");
        assert_eq!(self.twin.preempts(), preempts, "the same calls, another answer");
        preempts
    }

    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.begin(now);
        let Some(token) = self.sending.take() else { panic!("the driver put back what it was not sending") };
        self.subject.put_back(now, unsent_bits);
        self.twin.put_back(now, unsent_bits);
        let seen = &mut self.seen[token as usize];
        (seen.state, seen.was_interrupted, seen.packet.unsent_bits) = (State::Waiting, true, unsent_bits);
        self.next[seen.flow] = token;
        self.count(token, true);
        self.check();
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.subject.inspect(visit);
    }
}
