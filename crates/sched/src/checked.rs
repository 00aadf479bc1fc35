//! A wrapper that checks the contract after every call, on a discipline and on a twin of it, or in
//! a run on a discipline alone, of which a part is told what it broke.
//!
//! The twin is asked the same, though never twice: where the contract says that asking again does
//! no harm, only the one is asked again, and whatever harm it did shows as a difference from then
//! on.

use crate::card;
use crate::change::{Change, Unsupported};
use crate::contract::{Dequeue, Discipline, Handle, Held};
use crate::invariant::{Invariant, Tally, Watch};
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
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What holds for one discipline and not for another.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How much may wait, interrupted packets not counted.
    pub limit: Limit,
    /// The bytes that may wait beside the limit.
    pub memory: Limit,
    /// Whether parts of it have limits of their own: a packet may be refused though there is room.
    pub has_limits_inside: bool,
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
        let breaks = |invariant| queue.own_parts().iter().any(|(_, make)| make.breaks().contains(&invariant));
        let obeys = |invariant| !card.is_some_and(|card| card.breaks.contains(&invariant)) && !breaks(invariant);
        let leaves = || queue.leaf_queues().into_iter().map(Self::of);
        Self {
            limit: queue.capacity(),
            memory: memory.map_or(Limit::Unlimited, |memory| Limit::Bytes(memory.0)),
            has_limits_inside: queue.has_leaves(),
            is_work_conserving: obeys(card::Invariant::WorkConservation)
                && leaves().all(|leaf| leaf.is_work_conserving),
            // Packets of a flow may be in different classes.
            keeps_flow_order: obeys(card::Invariant::FlowOrder)
                && queue.scheduler.part().places().len() < 2
                && leaves().all(|leaf| leaf.keeps_flow_order),
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
    /// How many packets arrived before it.
    number: u64,
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

/// A discipline under watch. Beside a twin, tokens of packets must be 0, 1, 2 … in order of
/// arrival.
pub struct Checked {
    subject: Box<dyn Discipline>,
    twin: Option<Box<dyn Discipline>>,
    rules: Rules,
    now: Time,
    seen: Vec<Seen>,
    /// Where what was seen of a packet is, by its token, in a run: there tokens are the driver's,
    /// which gives that of a packet that has left to another.
    run: Option<InRun>,
    arrived: u64,
    flows: BTreeMap<Key, usize>,
    /// For each flow the number after that of the last packet sent.
    next: Vec<u64>,
    /// Where the packet that is being sent is.
    sending: Option<usize>,
    waiting: Held,
    /// The packets of those held that were interrupted.
    interrupted: Held,
    /// What waited when the limit was lowered, and has only become less since.
    excess: Held,
    twin_fates: Fates,
    tally: Tally,
}

/// What is kept in a run, where a discipline has no twin.
struct InRun {
    watch: Arc<Watch>,
    places: BTreeMap<u64, usize>,
    free: Vec<usize>,
    /// Calls in a row after which nothing had come, left or ended, and when the first of them was.
    idle: u32,
    since: Time,
}

/// This number of calls in a row without progress, within a second, is a loop without end.
const IDLE_CALLS_MAX: u32 = 1_000_000;

/// In a run, what a discipline shows is compared at each call of which the number is a multiple:
/// that takes as long as packets wait.
const SHOWN_EVERY: usize = 64;

impl Checked {
    /// Watches what `build` builds, twice.
    pub fn new(rules: Rules, build: impl Fn() -> Box<dyn Discipline>) -> Self {
        let subject = build();
        Self { twin: Some(build()), ..Self::alone(rules, subject) }
    }

    /// Watches `subject` in a run: `watch` is told at which call it breaks an invariant.
    #[must_use]
    pub fn in_run(rules: Rules, subject: Box<dyn Discipline>, watch: Arc<Watch>) -> Self {
        let tally = Tally::watched(Arc::clone(&watch));
        let (places, free) = (BTreeMap::new(), Vec::new());
        let run = Some(InRun { watch, places, free, idle: 0, since: Time::ZERO });
        Self { run, tally, ..Self::alone(rules, subject) }
    }

    fn alone(rules: Rules, subject: Box<dyn Discipline>) -> Self {
        Self {
            subject,
            twin: None,
            rules,
            now: Time::ZERO,
            seen: Vec::new(),
            run: None,
            arrived: 0,
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

    /// A call begins.
    fn begin(&mut self, now: Time, call: &str) {
        assert!(now >= self.now, "the driver turned time back");
        self.now = now;
        self.twin_fates.clear();
        if let Some(run) = &mut self.run {
            run.watch.called(call);
        }
    }

    /// Where what was seen of the packet of `token` is, if that has come and not left.
    fn place(&self, token: u64) -> Option<usize> {
        self.run.as_ref().map_or(Some(token as usize), |run| run.places.get(&token).copied())
    }

    /// A packet comes. Returns where what is seen of it is.
    fn enter(&mut self, seen: Seen) -> usize {
        let token = seen.packet.token;
        self.arrived += 1;
        if self.run.is_some() && self.place(token).is_some() {
            // Its driver has sent the packet of this token, though nothing was asked since.
            self.end_sending();
        }
        let Some(run) = &mut self.run else {
            assert_eq!(token, self.seen.len() as u64, "tokens are numbered");
            self.seen.push(seen);
            return self.seen.len() - 1;
        };
        let place = run.free.pop().unwrap_or(self.seen.len());
        run.places.insert(token, place);
        match self.seen.get_mut(place) {
            Some(free) => *free = seen,
            None => self.seen.push(seen),
        }
        place
    }

    /// The packet at `place` will not be seen again.
    fn leave(&mut self, place: usize) {
        let seen = &mut self.seen[place];
        seen.state = State::Gone;
        if let Some(run) = &mut self.run {
            run.places.remove(&seen.packet.token);
            run.free.push(place);
        }
    }

    /// The transmission of the packet that is being sent, if one is, has ended.
    fn end_sending(&mut self) {
        if let Some(place) = self.sending.take() {
            self.leave(place);
        }
    }

    /// A call was answered, and nothing came, left or ended by it, unless it `is_progress`.
    fn note_progress(&mut self, is_progress: bool) {
        let (now, Some(run)) = (self.now, &mut self.run) else { return };
        if is_progress || run.idle == 0 || now.saturating_sub(run.since) > Time::from_s(1) {
            (run.idle, run.since) = (u32::from(!is_progress), now);
            return;
        }
        run.idle += 1;
        let (is_bounded, since) = (run.idle < IDLE_CALLS_MAX, run.since);
        self.tally.obey(Invariant::AskingAgain, is_bounded, || {
            let (since, now) = (since.as_s(), now.as_s());
            format!("{IDLE_CALLS_MAX} calls from {since} s to {now} s, and no packet came or left")
        });
    }

    /// The packet at `place` joins those that wait, or leaves them.
    fn count(&mut self, place: usize, joins: bool) {
        let seen = &self.seen[place];
        let bytes = u64::from(seen.packet.length);
        for (held, counts) in [(&mut self.waiting, true), (&mut self.interrupted, seen.was_interrupted)] {
            if counts && joins {
                (held.packets, held.bytes) = (held.packets + 1, held.bytes + bytes);
            } else if counts {
                (held.packets, held.bytes) = (held.packets - 1, held.bytes - bytes);
            }
        }
    }

    fn note_fates(&mut self, fates: &[Fate], arriving: Option<usize>) {
        let are_same = self.twin.is_none() || *fates == *self.twin_fates;
        self.tally.obey(Invariant::SameAnswers, are_same, || {
            format!("the same calls, other fates: {fates:?} and {:?}", self.twin_fates)
        });
        for fate in fates {
            let place = self.place(fate.packet.token).filter(|place| self.seen[*place].state == State::Waiting);
            self.tally.obey(Invariant::Conservation, place.is_some(), || {
                format!("a fate of {}, which does not wait: {fate:?}", named(&fate.packet))
            });
            let Some(place) = place else { continue };
            let seen = &mut self.seen[place];
            match fate.outcome {
                Outcome::Marked(marks) => {
                    let is_at_head = arriving.is_none() && marks == Marks::CE;
                    let is_due = Some(place) == arriving || is_at_head;
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
                    self.count(place, false);
                    self.leave(place);
                    let dropped = fate.packet.length;
                    let (packets, bytes) = (self.waiting.packets + 1, self.waiting.bytes + u64::from(dropped));
                    let is_over = self.rules.are_exceeded_by(packets, bytes);
                    // In a run the buffer policy may be one that stops before the limit.
                    let may_go = is_over || !wants_room(reason) || self.rules.has_limits_inside || self.run.is_some();
                    self.tally.obey(Invariant::Limit, may_go, || format!("{fate:?}: there was room for it"));
                }
            }
        }
    }

    /// `packet` is sent.
    fn note_sent(&mut self, packet: Packet) {
        self.tally.count(Invariant::WorkConservation, 1);
        let place = self.place(packet.token).filter(|place| self.seen[*place].state == State::Waiting);
        self.tally
            .obey(Invariant::Conservation, place.is_some(), || format!("{} is sent and does not wait", named(&packet)));
        let Some(place) = place else { return };
        let seen = &mut self.seen[place];
        let is_same = packet == relabelled(seen.packet, &packet);
        self.tally.obey(Invariant::Packets, is_same, || format!("{packet:?} came as {:?}", seen.packet));
        let number = seen.number;
        let is_in_order = number >= self.next[seen.flow];
        let says = || format!("packet number {number} is sent after a later one of its flow");
        if self.rules.keeps_flow_order {
            self.tally.obey(Invariant::FlowOrder, is_in_order, says);
        } else {
            self.tally.may_obey(Invariant::FlowOrder, is_in_order, says);
        }
        self.next[seen.flow] = number + 1;
        (seen.state, seen.handle) = (State::Sending, None);
        self.count(place, false);
        self.seen[place].was_interrupted = false;
        self.sending = Some(place);
    }

    /// At `now` nothing is sent before `time`.
    fn note_wait(&self, now: Time, time: Time) {
        let says =
            || format!("nothing before {} s though {} at {} s", time.as_s(), what_waits(self.waiting), now.as_s());
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

    /// After every call: conservation, limit, sameness.
    fn check(&mut self) {
        // Everything that arrived is sent, gone or waiting: `waiting` is counted from the answers
        // alone.
        let (held, waiting) = (self.subject.held(), self.waiting);
        let twin = self.twin.as_ref().map_or(waiting, |twin| twin.held());
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
        self.tally.count(Invariant::NoPanic, 1);
        if self.run.as_ref().is_none_or(|run| run.watch.calls().is_multiple_of(SHOWN_EVERY)) {
            self.check_shown();
        }
    }

    /// What is shown is what waits.
    fn check_shown(&self) {
        let waiting = self.waiting;
        self.subject.readings(self.now, &mut |_| ());
        let mut shown = Held::default();
        self.subject.waiting(&mut |waiting| {
            shown.packets += 1;
            shown.bytes += u64::from(waiting.packet.length);
        });
        self.tally.obey(Invariant::Conservation, shown == waiting, || format!("{shown:?} is shown, {waiting:?} waits"));
    }
}

impl Discipline for Checked {
    // Every packet is shown.
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, bypass: 0, replays: false, fifo: None, ..self.subject.traits() }
    }

    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.begin(now, "enqueue");
        let Header { source, destination, protocol, source_port, destination_port, tos } = *header;
        let number = self.flows.len();
        let flow =
            *self.flows.entry((source, destination, protocol, source_port, destination_port, tos)).or_insert(number);
        self.next.resize(self.flows.len(), 0);
        let (number, state) = (self.arrived, State::Waiting);
        let place = self.enter(Seen { packet, number, flow, state, handle: None, was_interrupted: false });
        self.count(place, true);

        let before = fates.len();
        let handle = self.subject.enqueue(now, packet, header, fates);
        if let Some(twin) = &mut self.twin {
            let twins = twin.enqueue(now, packet, header, &mut self.twin_fates);
            self.tally
                .obey(Invariant::SameAnswers, twins == handle, || format!("the same calls: {handle:?} and {twins:?}"));
        }
        self.note_fates(&fates[before..], Some(place));
        let seen = &mut self.seen[place];
        let is_due = handle.is_some() == (seen.state == State::Waiting);
        self.tally.obey(Invariant::Handles, is_due, || format!("{handle:?}: a handle is given if the packet is held"));
        seen.handle = handle;
        self.note_progress(true);
        self.check();
        handle
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.begin(now, "dequeue");
        self.end_sending();
        let before = fates.len();
        let answer = self.subject.dequeue(now, fates);
        if let Some(twin) = &mut self.twin {
            let twins = twin.dequeue(now, &mut self.twin_fates);
            self.tally.obey(Invariant::SameAnswers, twins == answer, || {
                format!("the same calls, another answer: {answer:?} and {twins:?}")
            });
        }
        self.note_fates(&fates[before..], None);
        match answer {
            Dequeue::Send(packet) => self.note_sent(packet),
            Dequeue::NotBefore(time) => self.note_wait(now, time),
            Dequeue::Empty => self.tally.obey(Invariant::WorkConservation, self.waiting == Held::default(), || {
                format!("empty, though {}", what_waits(self.waiting))
            }),
        }
        if !matches!(answer, Dequeue::Send(_)) {
            let again = self.subject.dequeue(now, fates);
            self.tally
                .obey(Invariant::AskingAgain, again == answer, || format!("asked again: {again:?} after {answer:?}"));
        }
        self.note_progress(!matches!(answer, Dequeue::NotBefore(_)));
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
        self.begin(now, "update");
        self.subject.update(now);
        if let Some(twin) = &mut self.twin {
            twin.update(now);
        }
        if self.run.is_some() {
            let next = self.subject.next_update();
            let is_later = next.is_none_or(|next| next > now);
            self.tally.obey(Invariant::AskingAgain, is_later, || format!("the next update is due again, at {next:?}"));
        }
        self.note_progress(false);
        self.check();
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        self.begin(now, "remove");
        let removed = self.subject.remove(now, handle);
        if let Some(twin) = &mut self.twin {
            let twins = twin.remove(now, handle);
            self.tally.obey(Invariant::SameAnswers, twins == removed, || {
                format!("the same calls, another packet: {removed:?} and {twins:?}")
            });
        }
        let named = self.seen.iter().rposition(|seen| seen.state == State::Waiting && seen.handle == Some(handle));
        let named_token = named.map(|place| self.seen[place].packet.token);
        let is_named = removed.map(|packet| packet.token) == named_token;
        self.tally.obey(Invariant::Handles, is_named, || format!("{handle:?} names {named:?} and gave {removed:?}"));
        if let Some(place) = named {
            let came = removed.map(|packet| relabelled(self.seen[place].packet, &packet));
            self.tally
                .obey(Invariant::Packets, removed == came, || format!("{removed:?}: the packet came back changed"));
            self.count(place, false);
            self.leave(place);
            let again = self.subject.remove(now, handle);
            self.tally.obey(Invariant::Handles, again.is_none(), || format!("{again:?} is removed twice"));
        }
        self.check();
        removed
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.begin(now, "change");
        let answer = self.subject.change(now, change);
        if let Some(twin) = &mut self.twin {
            let twins = twin.change(now, change);
            let says = || format!("{change:?}: {answer:?} and {twins:?}");
            self.tally.obey(Invariant::SameAnswers, twins == answer, says);
        }
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
        let twins = self.twin.as_ref().map_or(preempts, |twin| twin.preempts());
        self.tally.obey(Invariant::SameAnswers, twins == preempts, || format!("preempts: {preempts} and {twins}"));
        preempts
    }

    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.begin(now, "put_back");
        let Some(place) = self.sending.take() else { panic!("the driver put back what it was not sending") };
        self.subject.put_back(now, unsent_bits);
        if let Some(twin) = &mut self.twin {
            twin.put_back(now, unsent_bits);
        }
        let seen = &mut self.seen[place];
        (seen.state, seen.was_interrupted, seen.packet.unsent_bits) = (State::Waiting, true, unsent_bits);
        self.next[seen.flow] = seen.number;
        self.count(place, true);
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

/// A packet by what its driver and its sender know of it.
fn named(packet: &Packet) -> String {
    format!("packet {}, of {} B, which came at {} s,", packet.token, packet.length, packet.arrival.as_s())
}

/// "30 packets of 30000 B wait".
fn what_waits(held: Held) -> String {
    match held.packets {
        1 => format!("a packet of {} B waits", held.bytes),
        packets => format!("{packets} packets of {} B wait", held.bytes),
    }
}
