//! A wrapper that checks the contract after every call, on a discipline and on a twin of it.
//!
//! The twin is asked the same, though never twice: where the contract says that asking again does
//! no harm, only the one is asked again, and whatever harm it did shows as a difference from then
//! on.

use crate::card;
use crate::change::{Change, Unsupported};
use crate::contract::{Dequeue, Discipline, Handle, Held};
use crate::invariant::{Invariant, Tally};
use crate::packet::{Address, Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use crate::queue::Queue;
use crate::reading::Reading;
use crate::registry::{DESIGNS, SCHEDULERS};
use crate::traits::Traits;
use crate::units::{Limit, Time};
use crate::waiting::{Decision, Waiting};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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
        let memory = queue.design.as_ref().and_then(|design| design.part().facts().memory);
        let obeys = |invariant| !card.is_some_and(|card| card.breaks.contains(&invariant));
        Self {
            limit: queue.capacity(),
            memory: memory.map_or(Limit::Unlimited, |memory| Limit::Bytes(memory.0)),
            is_work_conserving: obeys(card::Invariant::WorkConservation),
            keeps_flow_order: obeys(card::Invariant::FlowOrder),
        }
    }
}

impl Rules {
    const fn are_exceeded_by(&self, packets: u64, bytes: u64) -> bool {
        self.limit.is_exceeded_by(packets, bytes) || self.memory.is_exceeded_by(packets, bytes)
    }
}

/// Whether a drop for this reason says that there was no room.
#[must_use]
pub const fn wants_room(reason: Reason) -> bool {
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
    /// The packets of those held that were interrupted.
    interrupted: Held,
    /// What waited when the limit was lowered, and has only become less since.
    excess: Held,
    twin_fates: Fates,
    tally: Tally,
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
            excess: Held::default(),
            twin_fates: Fates::new(),
            tally: Tally::default(),
        }
    }

    /// How often each invariant was checked, and what was found.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.tally
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
        self.tally.obey(Invariant::SameAnswers, *fates == *self.twin_fates, || {
            format!("the same calls, other fates: {fates:?} and {:?}", self.twin_fates)
        });
        for fate in fates {
            let token = fate.packet.token;
            let seen = &mut self.seen[token as usize];
            self.tally.obey(Invariant::Conservation, seen.state == State::Waiting, || {
                format!("a fate of {token}, which does not wait: {fate:?}")
            });
            match fate.outcome {
                Outcome::Marked(marks) => {
                    let is_at_head = arriving.is_none() && marks == Marks::CE;
                    let is_due = Some(token) == arriving || is_at_head;
                    self.tally.obey(Invariant::Packets, is_due, || format!("{fate:?}: neither arriving nor leaving"));
                    let is_accepted = marks.within(seen.packet.accepts) == marks;
                    self.tally
                        .obey(Invariant::Packets, is_accepted, || format!("{fate:?}: the packet does not accept it"));
                    let is_added = fate.packet.marks == seen.packet.marks.with(marks);
                    self.tally.obey(Invariant::Packets, is_added, || format!("{fate:?}: other marks are lost"));
                    seen.packet.marks = fate.packet.marks;
                }
                Outcome::Dropped(reason) => {
                    let is_same = fate.packet == relabelled(seen.packet, &fate.packet);
                    self.tally.obey(Invariant::Packets, is_same, || format!("{fate:?}: the packet came back changed"));
                    seen.state = State::Gone;
                    self.count(token, false);
                    let dropped = fate.packet.length;
                    let (packets, bytes) = (self.waiting.packets + 1, self.waiting.bytes + u64::from(dropped));
                    let is_over = self.rules.are_exceeded_by(packets, bytes);
                    let may_go = is_over || !wants_room(reason);
                    self.tally.obey(Invariant::Limit, may_go, || format!("{fate:?}: there was room for it"));
                }
            }
        }
    }

    /// After every call: conservation, limit, sameness.
    fn check(&mut self) {
        // Everything that arrived is sent, gone or waiting: `waiting` is counted from the answers
        // alone.
        let (held, twin, waiting) = (self.subject.held(), self.twin.held(), self.waiting);
        self.tally.obey(Invariant::Conservation, held == waiting, || {
            format!("{held:?} and not {waiting:?}: arrived = sent + dropped + held")
        });
        self.tally.obey(Invariant::SameAnswers, twin == waiting, || {
            format!("the same calls, another number held: {twin:?} and {waiting:?}")
        });
        let (packets, bytes) = (waiting.packets - self.interrupted.packets, waiting.bytes - self.interrupted.bytes);
        let is_left = packets <= self.excess.packets && bytes <= self.excess.bytes;
        self.excess = if is_left { Held { packets, bytes } } else { Held::default() };
        let is_over = !is_left && self.rules.are_exceeded_by(packets, bytes);
        self.tally.obey(Invariant::Limit, !is_over, || format!("{packets} packets, {bytes} B: over the limit"));
        let updates = [self.subject.next_update(), self.subject.next_update()];
        self.tally.obey(Invariant::AskingAgain, updates[0] == updates[1], || format!("next update: {updates:?}"));
        self.subject.readings(self.now, &mut |_| ());
        let mut shown = Held::default();
        self.subject.waiting(&mut |waiting| {
            shown.packets += 1;
            shown.bytes += u64::from(waiting.packet.length);
        });
        self.tally.obey(Invariant::Conservation, shown == waiting, || format!("{shown:?} is shown, {waiting:?} waits"));
        self.tally.count(Invariant::NoPanic, 1);
    }
}

impl Discipline for Checked {
    // Every packet is shown.
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, bypass: 0, replays: false, fifo: None, ..self.subject.traits() }
    }

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
        let twins = self.twin.enqueue(now, packet, header, &mut self.twin_fates);
        self.tally
            .obey(Invariant::SameAnswers, twins == handle, || format!("the same calls: {handle:?} and {twins:?}"));
        self.note_fates(&fates[before..], Some(packet.token));
        let seen = &mut self.seen[packet.token as usize];
        let is_due = handle.is_some() == (seen.state == State::Waiting);
        self.tally.obey(Invariant::Handles, is_due, || format!("{handle:?}: a handle is given if the packet is held"));
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
        let twins = self.twin.dequeue(now, &mut self.twin_fates);
        self.tally.obey(Invariant::SameAnswers, twins == answer, || {
            format!("the same calls, another answer: {answer:?} and {twins:?}")
        });
        self.note_fates(&fates[before..], None);
        match answer {
            Dequeue::Send(packet) => {
                self.tally.count(Invariant::WorkConservation, 1);
                let token = packet.token;
                let seen = &mut self.seen[token as usize];
                self.tally.obey(Invariant::Conservation, seen.state == State::Waiting, || {
                    format!("{token} is sent and does not wait")
                });
                let is_same = packet == relabelled(seen.packet, &packet);
                self.tally.obey(Invariant::Packets, is_same, || format!("{packet:?} came as {:?}", seen.packet));
                let is_in_order = token >= self.next[seen.flow];
                let says = || format!("{token} is sent after a later one of its flow");
                if self.rules.keeps_flow_order {
                    self.tally.obey(Invariant::FlowOrder, is_in_order, says);
                } else {
                    self.tally.may_obey(Invariant::FlowOrder, is_in_order, says);
                }
                self.next[seen.flow] = token + 1;
                (seen.state, seen.handle) = (State::Sending, None);
                self.count(token, false);
                self.seen[token as usize].was_interrupted = false;
                self.sending = Some(token);
            }
            Dequeue::NotBefore(time) => {
                let says = || {
                    format!("nothing before {} s though {} at {} s", time.as_s(), what_waits(self.waiting), now.as_s())
                };
                if self.rules.is_work_conserving {
                    self.tally.obey(Invariant::WorkConservation, false, says);
                } else {
                    self.tally.may_obey(Invariant::WorkConservation, false, says);
                }
                let is_sound = time > now && self.waiting.packets > 0;
                self.tally.obey(Invariant::AskingAgain, is_sound, || {
                    format!("{} s at {} s: {}", time.as_s(), now.as_s(), what_waits(self.waiting))
                });
            }
            Dequeue::Empty => self.tally.obey(Invariant::WorkConservation, self.waiting == Held::default(), || {
                format!("empty, though {}", what_waits(self.waiting))
            }),
        }
        if !matches!(answer, Dequeue::Send(_)) {
            let again = self.subject.dequeue(now, fates);
            self.tally
                .obey(Invariant::AskingAgain, again == answer, || format!("asked again: {again:?} after {answer:?}"));
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
        let twins = self.twin.remove(now, handle);
        self.tally.obey(Invariant::SameAnswers, twins == removed, || {
            format!("the same calls, another packet: {removed:?} and {twins:?}")
        });
        let named = self.seen.iter().rposition(|seen| seen.state == State::Waiting && seen.handle == Some(handle));
        let is_named = removed.map(|packet| packet.token) == named.map(|token| token as u64);
        self.tally.obey(Invariant::Handles, is_named, || format!("{handle:?} names {named:?} and gave {removed:?}"));
        if let Some(token) = named {
            let came = removed.map(|packet| relabelled(self.seen[token].packet, &packet));
            self.tally
                .obey(Invariant::Packets, removed == came, || format!("{removed:?}: the packet came back changed"));
            self.seen[token].state = State::Gone;
            self.count(token as u64, false);
            let again = self.subject.remove(now, handle);
            self.tally.obey(Invariant::Handles, again.is_none(), || format!("{again:?} is removed twice"));
        }
        self.check();
        removed
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.begin(now);
        let answer = self.subject.change(now, change);
        let twins = self.twin.change(now, change);
        self.tally.obey(Invariant::SameAnswers, twins == answer, || format!("{change:?}: {answer:?} and {twins:?}"));
        if let (Change::Limit(limit), Ok(())) = (change, answer) {
            self.rules.limit = *limit;
            self.excess = self.waiting;
        }
        self.check();
        answer
    }

    fn preempts(&self) -> bool {
        let preempts = self.subject.preempts();
        let again = self.subject.preempts();
        self.tally.obey(Invariant::AskingAgain, again == preempts, || format!("preempts: {again} after {preempts}"));
        let twins = self.twin.preempts();
        self.tally.obey(Invariant::SameAnswers, twins == preempts, || format!("preempts: {preempts} and {twins}"));
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

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.subject.readings(now, visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.subject.waiting(visit);
    }

    fn decision(&self) -> Option<Decision> {
        self.subject.decision()
    }
}
/// "30 packets of 30000 B wait".
fn what_waits(held: Held) -> String {
    match held.packets {
        1 => format!("a packet of {} B waits", held.bytes),
        packets => format!("{packets} packets of {} B wait", held.bytes),
    }
}
