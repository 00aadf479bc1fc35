//! A scheduler of classes with a discipline in each leaf.
//!
//! The scheduler sees one packet of each leaf that holds any, the head. Which packet that is only
//! the leaf's discipline can say, and asking takes the packet out of it, as `peek` does in Linux
//! (`qdisc_peek_dequeued`). So the head has no length until the scheduler must know it: when it
//! names the leaf, or before ([`Heads`]). It is told the length as if the head had been replaced,
//! and asked again.
//!
//! A leaf whose discipline answers that nothing may leave before a time is out of the scheduler's
//! sight until then: the others go on (`prio_dequeue`, `htb_dequeue_tree`).
//!
//! What waits in all leaves together is in one store, leaf by leaf in the order of arrival: the
//! buffer policy for the whole sees that. A packet's token inside a leaf is its handle there.

use crate::change::{Change, Unsupported};
use crate::checked::Rules;
use crate::class_tree;
use crate::compose::class_named;
use crate::contract::{
    BufferPolicy, Class, Classifier, Dequeue, Discipline, End, Flow, Gone, Handle, Heads, Held, HeldPacket, Line, Next,
    Scheduler, Slot, Tag, Verdict, Victim,
};
use crate::hash::Hash;
use crate::leaf::LeafQueue;
use crate::packet::{Fate, Fates, Header, Outcome, Packet};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::registry::{ClassifierSettings, buffer, classify, schedule};
use crate::store::{Store, Taken};
use crate::traits::Traits;
use crate::units::{Limit, Time};
use crate::waiting::{Decision, Stamps, Waiting};
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How the scheduler sees a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It holds nothing.
    Empty,
    /// It has a head.
    Seen,
    /// What it holds may not leave before this time.
    NotBefore(Time),
}

/// A leaf at work.
struct Place {
    name: String,
    discipline: Box<dyn Discipline>,
    state: State,
    /// The packet that was taken out of the discipline to know it.
    head: Option<Packet>,
    /// Whether the discipline knows that it was asked in vain.
    knows_idle: bool,
    dropped: u64,
}

impl Place {
    /// The leaf of a tree whose flows `classifier` tells apart.
    fn new(leaf: &class_tree::Place<'_>, classifier: &ClassifierSettings, line: &Line) -> Self {
        let usual = LeafQueue::usual();
        let mut queue = (*leaf.queue.unwrap_or(&usual).0).clone();
        // A qdisc of Linux has a limit.
        if queue.limit.is_none() && queue.design.is_none() && !queue.has_leaves() {
            queue.limit = usual.0.limit;
        }
        queue.classifier = queue.named_classifier().or_else(|| Some(classifier.clone()));
        let classes =
            line.classes.iter().filter_map(|(header, path)| Some((*header, below(leaf.name, path)?.to_owned())));
        let line = Line { classes: classes.collect(), ..line.clone() };
        let name = leaf.name.to_owned();
        Self { name, discipline: queue.build(&line), state: State::Empty, head: None, knows_idle: true, dropped: 0 }
    }

    fn holds_any(&self) -> bool {
        self.head.is_some() || self.discipline.held().packets > 0
    }
}

/// What of a class's `path` is below the leaf called `name`; all of it below one without a name.
fn below<'a>(name: &str, path: &'a str) -> Option<&'a str> {
    if name.is_empty() { Some(path) } else { path.strip_prefix(name)?.strip_prefix('/') }
}

/// A scheduler with a discipline in each leaf.
pub(crate) struct Leaves {
    classifier: classify::Any,
    hash: Hash,
    /// The classes of flows that name one.
    classes: BTreeMap<u64, Class>,
    scheduler: schedule::Any,
    buffer: buffer::Any,
    /// All that waits, the leaves its queues.
    all: Store,
    /// The name of each packet in its leaf, by the index of its entry in `all`.
    inside: Vec<Option<Handle>>,
    /// What the scheduler sees.
    heads: Store,
    leaves: Vec<Place>,
    /// Leaves that wait for a time.
    waiting: usize,
    /// Whether a head that must be known has been taken back by its owner.
    is_unknown: bool,
    /// Leaves with periodic updates.
    updated: Vec<usize>,
    /// Whether a leaf may hold packets back.
    holds_back: bool,
    explains: bool,
    decision: Option<Decision>,
}

impl Leaves {
    /// What `queue` says, of which a leaf names a queue.
    pub(crate) fn new(queue: &Queue, line: &Line) -> Self {
        let part = queue.scheduler.part();
        let classifier = queue.classifier();
        let leaves: Vec<Place> = part.leaves().iter().map(|leaf| Place::new(leaf, &classifier, line)).collect();
        let limit = queue.limit.unwrap_or_default();
        let (classifier, buffer) = (classifier.build(line), queue.buffer().build(line));
        let mut all = Store::new(limit);
        if buffer.traits().draws_packets {
            all.prepare_draws();
        }
        let updated = (0..leaves.len()).filter(|leaf| leaves[*leaf].discipline.next_update().is_some()).collect();
        let mut tree = Self {
            classifier,
            hash: Hash::new(line.seed),
            classes: BTreeMap::new(),
            scheduler: queue.scheduler.build(line),
            buffer,
            all,
            inside: Vec::new(),
            heads: Store::new(Limit::Unlimited),
            leaves,
            waiting: 0,
            is_unknown: false,
            updated,
            holds_back: queue.leaf_queues().iter().any(|leaf| !Rules::of(leaf).is_work_conserving),
            explains: line.explains,
            decision: None,
        };
        for (header, path) in &line.classes {
            tree.set_class(header, path);
        }
        tree
    }

    /// The class of `header`'s flow is that of `path` from now on; whether there is one.
    fn set_class(&mut self, header: &Header, path: &str) -> bool {
        let name = path.split_once('/').map_or(path, |(name, _)| name);
        let Some(class) = class_named(&self.scheduler, name) else { return false };
        self.classes.insert(self.classifier.key(header, self.hash), class);
        true
    }

    fn flow_of(&self, header: &Header) -> Flow {
        // Without a class no key is asked for.
        let class = || self.classes.get(&self.classifier.key(header, self.hash)).copied();
        Flow::of_slot(0).in_class(if self.classes.is_empty() { None } else { class() })
    }

    /// The tag of `packet`, which has come into `slot` or become its head.
    fn tag_of(&mut self, now: Time, slot: Slot, packet: &Packet) -> Tag {
        self.scheduler.arrive(now, slot, Flow::of_slot(slot).in_class(Some(slot as Class)), packet)
    }

    /// The leaf's head as the scheduler sees it, and its tag: unknown, a packet without length.
    fn seen(&mut self, now: Time, slot: Slot) -> (Packet, Tag) {
        match self.leaves[slot as usize].head {
            Some(head) => (head, self.tag_of(now, slot, &head)),
            None => (Packet::new(0, now, 0), 0),
        }
    }

    /// The packet as its owner knows it; `None` if it is not held.
    fn outside(&self, packet: &Packet) -> Option<Packet> {
        let token = self.all.waiting(Handle::from_bits(packet.token))?.packet.token;
        Some(Packet { token, ..*packet })
    }

    /// Gives the fates from `first` on, which a leaf reported, their tokens back; what was dropped
    /// is held no more.
    fn settle_fates(&mut self, now: Time, first: usize, fates: &mut Fates) {
        for fate in fates.iter_mut().skip(first) {
            let inside = fate.packet;
            let Some(outside) = self.outside(&inside) else { continue };
            fate.packet = outside;
            if let Outcome::Dropped(_) = fate.outcome
                && let Some(gone) = self.all.remove(Handle::from_bits(inside.token))
            {
                self.leaves[gone.queue as usize].dropped += 1;
                self.tell_buffer(now, &gone, false);
            }
        }
    }

    /// The buffer policy hears of what left.
    fn tell_buffer(&mut self, now: Time, gone: &Taken, is_sent: bool) {
        let Taken { handle, packet, queue, flow, .. } = gone;
        let held = HeldPacket { queue: *queue, flow: *flow, handle: *handle, packet };
        self.buffer.left(now, &self.all, held, is_sent);
    }

    /// The scheduler sees of the leaf what is so, after it took a packet in or lost some.
    fn renew(&mut self, now: Time, slot: Slot, fates: &mut Fates) {
        let leaf = &self.leaves[slot as usize];
        match (leaf.holds_any(), leaf.state) {
            (true, State::Seen) | (false, State::Empty) => {}
            (true, _) => self.show(now, slot, fates),
            (false, _) => self.hide(now, slot, State::Empty),
        }
    }

    /// The leaf, which holds something, has a head from now on.
    fn show(&mut self, now: Time, slot: Slot, fates: &mut Fates) {
        if self.scheduler.heads(slot) == Heads::AtOnce {
            let state = self.take_head(now, slot, fates);
            if state != State::Seen {
                return self.set_state(slot, state);
            }
        }
        self.set_state(slot, State::Seen);
        let (head, tag) = self.seen(now, slot);
        self.heads.push(&head, tag, slot, slot);
        self.scheduler.backlogged(slot, tag);
    }

    /// The leaf has no head from now on.
    fn hide(&mut self, now: Time, slot: Slot, state: State) {
        self.set_state(slot, state);
        if let Some(gone) = self.heads.pop(slot, End::Front) {
            self.tell_scheduler(now, slot, &gone, None);
        }
    }

    fn set_state(&mut self, slot: Slot, state: State) {
        let waits = |state| usize::from(matches!(state, State::NotBefore(_)));
        let leaf = &mut self.leaves[slot as usize];
        self.waiting = self.waiting + waits(state) - waits(leaf.state);
        leaf.state = state;
    }

    /// The head that was `gone` has become the one with the tag `head`, or there is none.
    fn tell_scheduler(&mut self, now: Time, slot: Slot, gone: &Taken, head: Option<Tag>) {
        let (flow, packet, tag) = (Flow::of_slot(slot), &gone.packet, gone.tag);
        self.scheduler.removed(now, Gone { queue: slot, flow, packet, tag, head, was_head: true, was_tail: true });
    }

    /// Takes the head out of the leaf's discipline. Returns how the leaf is then.
    fn take_head(&mut self, now: Time, slot: Slot, fates: &mut Fates) -> State {
        let first = fates.len();
        let leaf = &mut self.leaves[slot as usize];
        let answer = leaf.discipline.dequeue(now, fates);
        leaf.knows_idle = answer == Dequeue::Empty;
        let state = match answer {
            Dequeue::Send(packet) => {
                leaf.head = Some(packet);
                State::Seen
            }
            Dequeue::NotBefore(time) => State::NotBefore(time),
            Dequeue::Empty => State::Empty,
        };
        self.settle_fates(now, first, fates);
        state
    }

    /// The scheduler has named the leaf, and is told what its head is.
    fn look(&mut self, now: Time, slot: Slot, fates: &mut Fates) {
        let state = self.take_head(now, slot, fates);
        self.set_head(now, slot, state);
    }

    /// How the leaf is after its head has gone.
    fn next_head(&mut self, now: Time, slot: Slot, fates: &mut Fates) -> State {
        match self.leaves[slot as usize].discipline.held().packets {
            0 => State::Empty,
            _ if self.scheduler.heads(slot) == Heads::OnTurn => State::Seen,
            _ => self.take_head(now, slot, fates),
        }
    }

    /// The scheduler sees another head in place of the one that it sees, or none.
    fn set_head(&mut self, now: Time, slot: Slot, state: State) {
        if state != State::Seen {
            return self.hide(now, slot, state);
        }
        let Some(gone) = self.heads.pop(slot, End::Front) else { return };
        let (head, tag) = self.seen(now, slot);
        self.heads.push(&head, tag, slot, slot);
        self.tell_scheduler(now, slot, &gone, Some(tag));
    }

    /// Sends `head`, which the leaf had.
    fn send(&mut self, now: Time, slot: Slot, head: Packet, fates: &mut Fates) -> Packet {
        if self.explains {
            self.decision = self.scheduler.decision(now, slot);
        }
        let tag = self.heads.pop(slot, End::Front).map_or(0, |gone| gone.tag);
        self.leaves[slot as usize].head = None;
        let state = self.next_head(now, slot, fates);
        self.set_state(slot, state);
        let next = (state == State::Seen).then(|| {
            let (next, tag) = self.seen(now, slot);
            self.heads.push(&next, tag, slot, slot);
            tag
        });
        self.scheduler.sent(now, slot, &head, tag, next);
        let sent = self.outside(&head).unwrap_or(head);
        if let Some(mut gone) = self.all.remove(Handle::from_bits(head.token)) {
            gone.packet = sent;
            self.tell_buffer(now, &gone, true);
        }
        sent
    }

    /// Leaves that are asked in order, though they hold nothing, hear that.
    fn ask_in_vain(&mut self, now: Time, before: Slot, fates: &mut Fates) {
        let asked = self.scheduler.asks_empty().min(before) as usize;
        for leaf in self.leaves.iter_mut().take(asked) {
            if !leaf.knows_idle && leaf.state == State::Empty {
                leaf.knows_idle = true;
                leaf.discipline.dequeue(now, fates);
            }
        }
    }

    /// When the first of the leaves that wait for a time may send.
    fn earliest(&self) -> Option<Time> {
        let times = self.leaves.iter().filter_map(|leaf| match leaf.state {
            State::NotBefore(time) => Some(time),
            State::Empty | State::Seen => None,
        });
        if self.waiting == 0 { None } else { times.min() }
    }

    /// The leaves whose time has come are seen again, and heads that must be known.
    fn wake(&mut self, now: Time, fates: &mut Fates) {
        if self.waiting == 0 && !self.is_unknown {
            return;
        }
        for slot in 0..self.leaves.len() as Slot {
            let leaf = &self.leaves[slot as usize];
            match leaf.state {
                State::NotBefore(time) if time <= now => self.show(now, slot, fates),
                State::Seen if leaf.head.is_none() && self.scheduler.heads(slot) == Heads::AtOnce => {
                    self.look(now, slot, fates);
                }
                _ => {}
            }
        }
        self.is_unknown = false;
    }

    /// Drops the packets that the buffer policy names after an arrival in `arriving`.
    fn make_room(&mut self, now: Time, arriving: Slot, fates: &mut Fates) {
        while let Some((victim, reason)) = self.buffer.victim(now, &self.all, arriving) {
            let gone = match victim {
                Victim::End(queue, end) => self.all.pop(queue, end),
                Victim::Packet(handle) => self.all.remove(handle),
            };
            let Some(gone) = gone else { break };
            self.leaves[gone.queue as usize].dropped += 1;
            let packet = self.withdraw(now, &gone);
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
        }
    }

    /// Takes out of its leaf what has gone from the store; the packet as it is.
    fn withdraw(&mut self, now: Time, gone: &Taken) -> Packet {
        let (slot, token) = (gone.queue, gone.handle.to_bits());
        let leaf = &mut self.leaves[slot as usize];
        let was_head = leaf.head.is_some_and(|head| head.token == token);
        let inside = if was_head {
            leaf.head.take()
        } else {
            self.inside[gone.handle.index() as usize].and_then(|handle| leaf.discipline.remove(now, handle))
        };
        self.tell_buffer(now, gone, false);
        // Nothing is taken out of a discipline here, which could drop what comes next. Another head
        // is unknown, and has the turn of the one before; a leaf that waits is asked anew.
        match (self.leaves[slot as usize].holds_any(), self.leaves[slot as usize].state) {
            (false, _) => self.hide(now, slot, State::Empty),
            (true, State::NotBefore(_)) => self.set_state(slot, State::NotBefore(now)),
            (true, state) if was_head => {
                self.set_head(now, slot, state);
                self.is_unknown |= self.scheduler.heads(slot) == Heads::AtOnce;
            }
            (true, _) => {}
        }
        inside.map_or(gone.packet, |inside| Packet { token: gone.packet.token, ..inside })
    }

    /// Tells the leaves; granted if one of them grants it.
    fn tell_leaves(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        let answers: Vec<_> = self.leaves.iter_mut().map(|leaf| leaf.discipline.change(now, change)).collect();
        answers.iter().copied().find(Result::is_ok).unwrap_or_else(|| answers.first().copied().unwrap_or(Ok(())))
    }

    /// What the store knows of a leaf.
    fn readings_of(&self, slot: Slot, leaf: &Place) -> [Reading<'static>; 3] {
        [
            Reading::count("packets", Unit::Packets, self.all.queue_packets(slot)),
            Reading::count("bytes", Unit::Bytes, self.all.queue_bytes(slot)),
            Reading::count("dropped", Unit::Packets, leaf.dropped),
        ]
    }
}

impl Discipline for Leaves {
    // No packet goes past the leaves, which see each.
    fn traits(&self) -> Traits {
        let leaves = || self.leaves.iter().map(|leaf| leaf.discipline.traits());
        let of_leaves = self.scheduler.asks_empty() > 0 && leaves().any(|traits| traits.hears_idle);
        let hears_idle = of_leaves || self.scheduler.traits().hears_idle || self.buffer.traits().hears_idle;
        let late_timer = leaves().any(|traits| traits.late_timer);
        Traits { hears_idle, late_timer, waits_on: self.holds_back, ..Traits::PLAIN }
    }

    fn enqueue(&mut self, now: Time, mut packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let flow = self.flow_of(header);
        let slot = self.scheduler.queue_of(flow, &packet, &self.heads);
        let verdict = self.buffer.admit(now, &self.all, slot, Flow::of_slot(slot), &mut packet);
        if let Verdict::Drop(reason) | Verdict::Notify(reason) = verdict {
            self.leaves[slot as usize].dropped += 1;
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            self.make_room(now, slot, fates);
            return None;
        }
        let (handle, _) = self.all.push(&packet, 0, slot, slot);
        self.buffer.joined(now, &self.all, HeldPacket { queue: slot, flow: slot, handle, packet: &packet });
        let first = fates.len();
        let inside = Packet { token: handle.to_bits(), ..packet };
        let index = handle.index() as usize;
        self.inside.resize(self.inside.len().max(index + 1), None);
        self.inside[index] = self.leaves[slot as usize].discipline.enqueue(now, inside, header, fates);
        self.settle_fates(now, first, fates);
        if self.all.waiting(handle).is_some() {
            self.tag_of(now, slot, &packet);
        }
        self.renew(now, slot, fates);
        self.make_room(now, slot, fates);
        self.all.waiting(handle).map(|_| handle)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.wake(now, fates);
        loop {
            match self.scheduler.next(now, &self.heads) {
                Next::Queue(slot) => {
                    self.ask_in_vain(now, slot, fates);
                    match self.leaves[slot as usize].head {
                        Some(head) => return Dequeue::Send(self.send(now, slot, head, fates)),
                        None => self.look(now, slot, fates),
                    }
                }
                Next::NotBefore(time) => {
                    return Dequeue::NotBefore(self.earliest().map_or(time, |earliest| earliest.min(time)));
                }
                Next::Empty => {
                    if let Some(time) = self.earliest() {
                        return Dequeue::NotBefore(time);
                    }
                    self.ask_in_vain(now, Slot::MAX, fates);
                    self.scheduler.idle(now);
                    self.buffer.idle(now);
                    return Dequeue::Empty;
                }
            }
        }
    }

    fn held(&self) -> Held {
        self.all.held()
    }

    fn next_update(&self) -> Option<Time> {
        let of_leaves = self.updated.iter().filter_map(|leaf| self.leaves[*leaf].discipline.next_update());
        of_leaves.chain(self.buffer.next_update()).min()
    }

    fn update(&mut self, now: Time) {
        for at in &self.updated {
            let discipline = &mut self.leaves[*at].discipline;
            if discipline.next_update().is_some_and(|time| time <= now) {
                discipline.update(now);
            }
        }
        self.buffer.update(now, &self.all);
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        let gone = self.all.remove(handle)?;
        Some(self.withdraw(now, &gone))
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        match *change {
            Change::Rate(rate) => {
                self.scheduler.change(now, &Change::Rate(rate))?;
                self.buffer.change(now, &Change::Rate(rate))?;
                self.tell_leaves(now, change)
            }
            Change::Limit(limit) => {
                self.buffer.change(now, &Change::Limit(limit))?;
                self.all.set_limit(limit);
                Ok(())
            }
            Change::Weight(..) | Change::Pacing(..) => self.tell_leaves(now, change),
            Change::Class(header, path) => {
                let is_own = self.set_class(&header, path);
                let inside = self.leaves.iter_mut().filter_map(|leaf| {
                    let rest = below(&leaf.name, path)?;
                    Some(leaf.discipline.change(now, &Change::Class(header, rest)))
                });
                if inside.last().is_some_and(|answer| answer.is_ok()) || is_own { Ok(()) } else { change.not_used() }
            }
        }
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("backlogged_queues", Unit::None, self.all.backlogged_queues()));
        self.scheduler.readings(now, visit);
        self.buffer.readings(now, visit);
        for (slot, leaf) in (0..).zip(&self.leaves) {
            if !leaf.name.is_empty() {
                let of_leaf = |reading: Reading<'_>| visit(reading.of_queue(&leaf.name));
                self.readings_of(slot, leaf).into_iter().for_each(of_leaf);
            }
            leaf.discipline.readings(now, &mut |reading| match reading.queue {
                _ if leaf.name.is_empty() => visit(reading),
                Some(inner) => visit(reading.of_queue(&format!("{}/{inner}", leaf.name))),
                None => visit(reading.of_queue(&leaf.name)),
            });
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        let count = self.leaves.len() as Slot;
        for (at, leaf) in (0..).zip(&self.leaves) {
            let mut show = |packet: &Packet, queue: Slot, stamps: Stamps| {
                let packet = self.outside(packet).map_or(Cow::Borrowed(packet), Cow::Owned);
                visit(Waiting { packet: &packet, queue: queue.wrapping_mul(count).wrapping_add(at), stamps });
            };
            if let Some(head) = &leaf.head {
                show(head, 0, Stamps::NONE);
            }
            leaf.discipline.waiting(&mut |waiting| show(waiting.packet, waiting.queue, waiting.stamps));
        }
    }

    fn decision(&self) -> Option<Decision> {
        self.decision
    }
}
