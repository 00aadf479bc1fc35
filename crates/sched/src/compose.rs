//! A discipline made of four parts: classifier, scheduler, buffer policy, marker.
//!
//! An arriving packet goes through, in this order: its flow, its marks, admission, its tag, and the
//! choice of packets to drop. A packet that the buffer policy refuses outright was never tagged;
//! one that it pushes out was. At departure the scheduler names a queue, and the buffer policy may
//! still drop or mark its head.

use crate::change::{Change, Unsupported};
use crate::contract::{
    BufferPolicy, Class, Classifier, Dequeue, Discipline, Flow, Gone, Handle, Held, HeldPacket, Line, Marker, Next,
    Scheduler, Slot, Verdict, Victim,
};
use crate::flows::{FLOWS_MAX, Flows};
use crate::hash::Hash;
use crate::invariant::{Invariant, Watch};
use crate::packet::{Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use crate::reading::{Reading, Unit};
use crate::store::{Keeps, Place, Served, Store, Taken};
use crate::traits::Traits;
use crate::units::{Limit, Time};
use crate::waiting::{ARRIVAL, Decision, Waiting};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The four parts and what they share.
pub struct Composition<C, S, B, M> {
    classifier: C,
    scheduler: S,
    buffer: B,
    marker: M,
    hash: Hash,
    flows: Flows,
    store: Store,
    /// Whether the scheduler's reasons are kept.
    explains: bool,
    /// Why the packet sent last was chosen.
    decision: Option<Decision>,
    /// What is told of a part that names what does not wait.
    watch: Option<Arc<Watch>>,
}

impl<C: Classifier, S: Scheduler, B: BufferPolicy, M: Marker> Composition<C, S, B, M> {
    /// Puts four parts together behind `line`, with at most `limit` waiting.
    pub fn new(classifier: C, scheduler: S, buffer: B, marker: M, limit: Limit, line: &Line) -> Self {
        let hash = Hash::new(line.seed);
        let weights = line.weights.iter().map(|(header, weight)| (classifier.key(header, hash), *weight)).collect();
        let classes = line.classes.iter();
        let classes: Vec<(u64, Class)> = classes
            .filter_map(|(header, name)| Some((classifier.key(header, hash), class_named(&scheduler, name)?)))
            .collect();
        let flows = Flows::new(hash, weights, classes, FLOWS_MAX);
        let mut store = Store::new(limit);
        let parts = scheduler.traits().and(buffer.traits());
        debug_assert!(scheduler.classes().is_empty() || !parts.queue_per_flow, "the classes are the queues");
        if !parts.tags {
            store.keep_no_tags();
        }
        if !parts.queue_per_flow {
            store.count_flows();
        } else if !parts.draws_packets {
            store.keep_no_flows();
        }
        if parts.draws_packets {
            store.prepare_draws();
        }
        let explains = line.explains;
        Self { classifier, scheduler, buffer, marker, hash, flows, store, explains, decision: None, watch: None }
    }

    /// The same under `watch`.
    pub(crate) fn watched_by(mut self, watch: Option<Arc<Watch>>) -> Self {
        self.watch = watch;
        self
    }

    /// The flow of `header`; a new one takes a slot.
    #[inline]
    fn flow_of(&mut self, now: Time, header: &Header) -> Flow {
        let key = self.classifier.key(header, self.hash);
        let (scheduler, buffer, marker, store) = (&mut self.scheduler, &mut self.buffer, &mut self.marker, &self.store);
        if let Some(slot) = scheduler.bucket(now, key, store) {
            return Flow::of_slot(slot);
        }
        let is_clear = |slot| {
            let is_served = store.serving().is_some_and(|s| s.flow == slot);
            // The scheduler comes last: if it answers `true` it releases its state of the flow.
            store.flow_packets(slot) == 0
                && !is_served
                && marker.is_clear(slot)
                && buffer.is_clear(now, slot)
                && scheduler.is_clear(now, slot)
        };
        let slot = self.flows.slot(key, is_clear);
        // In a large network it has left the caches.
        self.store.fetch_queue(slot);
        self.flows.flow(slot)
    }

    /// Tells all parts of a change that concerns all.
    fn tell_all(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.buffer.change(now, change)?;
        self.scheduler.change(now, change)?;
        self.marker.change(now, change)
    }

    /// Tells the parts of what a flow wishes, which one of them grants.
    fn tell_either(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let buffer = self.buffer.change(now, change);
        self.scheduler.change(now, change).or(buffer)
    }

    /// Whether a packet's flow is not the queue that it waits in.
    #[inline(always)]
    fn keeps_flows(&self) -> bool {
        !self.scheduler.traits().queue_per_flow || self.buffer.traits().draws_packets
    }

    #[inline]
    fn accept(&mut self, now: Time, packet: &mut Packet, flow: Flow, fates: &mut Fates) -> Option<Handle> {
        let queue = self.scheduler.queue_of(flow, packet, &self.store);
        self.marker.before_change(now, &self.store);
        let mut marks = self.marker.arrive(now, &self.store, flow.slot, packet).within(packet.accepts);
        let verdict = self.buffer.admit(now, &self.store, queue, flow, packet);
        let handle = match settle(verdict, packet) {
            Ok(notice) => {
                marks = marks.with(notice);
                Some(self.join(now, packet, marks, queue, flow, fates))
            }
            Err(reason) => {
                self.scheduler.refused(now, queue, flow, packet);
                fates.push(Fate { packet: *packet, outcome: Outcome::Dropped(reason) });
                None
            }
        };
        match self.buffer.victim(now, &self.store, queue) {
            None => handle,
            Some(victim) => self.make_room(now, queue, victim, handle, fates),
        }
    }

    /// Drops `victim` and all further packets that the buffer policy names. The packet that has
    /// just joined may be among them: returns `handle` only while that is held.
    #[cold]
    fn make_room(
        &mut self,
        now: Time,
        arriving: Slot,
        victim: (Victim, Reason),
        mut handle: Option<Handle>,
        fates: &mut Fates,
    ) -> Option<Handle> {
        let mut next = Some(victim);
        while let Some((victim, reason)) = next {
            let gone = match victim {
                Victim::End(queue, end) => self.store.pop(queue, end),
                Victim::Packet(handle) => self.store.remove(handle),
            };
            let Some(gone) = gone else {
                if let Some(watch) = &self.watch {
                    watch.broke(
                        Invariant::Conservation,
                        &format!("the buffer policy names {victim:?}, which is not held"),
                    );
                }
                debug_assert!(false, "a buffer policy named a packet that does not wait");
                break;
            };
            fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
            self.tell_gone(now, &gone);
            handle = handle.filter(|handle| self.store.holds(*handle));
            next = self.buffer.victim(now, &self.store, arriving);
        }
        handle
    }

    #[inline]
    fn join(
        &mut self,
        now: Time,
        packet: &mut Packet,
        marks: Marks,
        queue: Slot,
        flow: Flow,
        fates: &mut Fates,
    ) -> Handle {
        if marks.0 != 0 {
            packet.marks = packet.marks.with(marks);
            fates.push(Fate { packet: *packet, outcome: Outcome::Marked(marks) });
        }
        let tag = self.scheduler.arrive(now, queue, flow, packet);
        let (handle, is_first) = self.store.push(packet, tag, queue, flow.slot);
        if is_first {
            self.scheduler.backlogged(queue, tag);
        }
        self.buffer.joined(now, &self.store, HeldPacket { queue, flow: flow.slot, handle, packet });
        handle
    }

    fn tell_gone(&mut self, now: Time, gone: &Taken) {
        let flow = self.flows.flow(gone.flow);
        let head = self.store.head(gone.queue).map(|(_, tag)| tag);
        let (packet, tag, Place { was_head, was_tail }) = (&gone.packet, gone.tag, gone.place);
        self.scheduler.removed(now, Gone { queue: gone.queue, flow, packet, tag, head, was_head, was_tail });
        let held = HeldPacket { queue: gone.queue, flow: gone.flow, handle: gone.handle, packet };
        self.buffer.left(now, &self.store, held, false);
    }

    /// Whether a head may be dropped or marked.
    #[inline(always)]
    fn judges_departures(&self) -> bool {
        self.buffer.traits().judges_departures || self.marker.traits().judges_departures
    }

    /// Whether the head of `queue` may be sent; if not it is gone.
    fn may_depart(&mut self, now: Time, queue: Slot, fates: &mut Fates) -> bool {
        let verdict = if self.buffer.traits().judges_departures {
            self.buffer.depart(now, &self.store, queue)
        } else {
            Verdict::Pass
        };
        let Some((head, _)) = self.store.head(queue) else { return true };
        let verdict = settle(verdict, head);
        let marks = verdict.map(|marks| marks.with(self.marker.depart(now, head).within(head.accepts)));
        match marks {
            Ok(Marks::NONE) => true,
            Ok(marks) => {
                let packet = self.store.mark_head(queue, marks).copied();
                fates.extend(packet.map(|packet| Fate { packet, outcome: Outcome::Marked(marks) }));
                true
            }
            Err(reason) => {
                if let Some(gone) = self.store.pop(queue, crate::contract::End::Front) {
                    fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
                    self.tell_gone(now, &gone);
                }
                false
            }
        }
    }

    /// Why the head of `queue` goes. In order of arrival only the buffer policy has a choice.
    fn explained(&mut self, now: Time, queue: Slot) -> Option<Decision> {
        let decision = self.scheduler.decision(now, queue)?;
        let judged = if decision.by == ARRIVAL { self.buffer.step(queue) } else { None };
        Some(Decision { step: judged.or(decision.step), ..decision })
    }

    /// Sends the head of `queue`.
    #[inline(always)]
    fn serve(&mut self, now: Time, queue: Slot) -> Packet {
        if self.explains {
            self.decision = self.explained(now, queue);
        }
        let keeps = Keeps { tags: self.scheduler.traits().tags, flows: self.keeps_flows() };
        let Some((served, packet)) = self.store.serve_kept(queue, keeps) else {
            panic_of_empty(queue, self.watch.as_deref())
        };
        let Served { handle, tag, flow, head } = served;
        // Two calls where the store has just decided it: the scheduler, inlined into either branch,
        // need not test again.
        match head {
            Some(head) => self.scheduler.sent(now, queue, packet, tag, Some(head)),
            None => self.scheduler.sent(now, queue, packet, tag, None),
        }
        let packet = *packet;
        self.buffer.left(now, &self.store, HeldPacket { queue, flow, handle, packet: &packet }, true);
        packet
    }
}

/// The number of the class called `name`.
pub(crate) fn class_named(scheduler: &impl Scheduler, name: &str) -> Option<Class> {
    scheduler.classes().iter().position(|class| *class == name).map(|class| class as Class)
}

/// Out of line, by value: passing a reference would force `queue` to the stack.
#[cold]
fn panic_of_empty(queue: Slot, watch: Option<&Watch>) -> ! {
    if let Some(watch) = watch {
        watch.broke(Invariant::Conservation, &format!("the scheduler names queue {queue}, which is empty"));
    }
    unreachable!("the scheduler named queue {queue}, which is empty")
}

/// The effect of a verdict on `packet`: the marks it is given, or the reason why it is dropped.
#[inline]
fn settle(verdict: Verdict, packet: &Packet) -> Result<Marks, Reason> {
    match verdict {
        Verdict::Pass => Ok(Marks::NONE),
        Verdict::Notify(_) if packet.accepts.intersects(Marks::CE) => Ok(Marks::CE),
        Verdict::Notify(reason) | Verdict::Drop(reason) => Err(reason),
    }
}

impl<C: Classifier, S: Scheduler, B: BufferPolicy, M: Marker> Discipline for Composition<C, S, B, M> {
    fn traits(&self) -> Traits {
        let parts = self.scheduler.traits().and(self.buffer.traits()).and(self.marker.traits());
        let longest = match self.store.limit() {
            Limit::Packets(0) => 0,
            Limit::Bytes(bytes) => u32::try_from(bytes).unwrap_or(u32::MAX),
            Limit::Packets(_) | Limit::Unlimited => u32::MAX,
        };
        Traits { bypass: parts.bypass.min(longest), ..parts }
    }

    fn enqueue(&mut self, now: Time, mut packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let flow = self.flow_of(now, header);
        self.accept(now, &mut packet, flow, fates)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.marker.before_change(now, &self.store);
        self.store.end_serving();
        loop {
            match self.scheduler.next(now, &self.store) {
                Next::Queue(queue) => {
                    if !self.judges_departures() || self.may_depart(now, queue, fates) {
                        return Dequeue::Send(self.serve(now, queue));
                    }
                }
                Next::NotBefore(time) => {
                    debug_assert!(time > now || self.watch.is_some(), "a time that has come is no answer");
                    return Dequeue::NotBefore(time);
                }
                Next::Empty => {
                    self.scheduler.idle(now);
                    self.buffer.idle(now);
                    return Dequeue::Empty;
                }
            }
        }
    }

    fn held(&self) -> Held {
        self.store.held()
    }

    fn next_update(&self) -> Option<Time> {
        self.buffer.next_update()
    }

    fn update(&mut self, now: Time) {
        self.buffer.update(now, &self.store);
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        self.marker.before_change(now, &self.store);
        let gone = self.store.remove(handle)?;
        self.tell_gone(now, &gone);
        Some(gone.packet)
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        match *change {
            Change::Rate(rate) => self.tell_all(now, &Change::Rate(rate)),
            Change::Limit(limit) => {
                self.tell_all(now, &Change::Limit(limit))?;
                self.store.set_limit(limit);
                Ok(())
            }
            Change::Weight(header, weight) => {
                let slot = self.flow_of(now, &header).slot;
                self.tell_either(now, &Change::Weight(slot, weight))?;
                self.flows.set_weight(self.classifier.key(&header, self.hash), weight);
                Ok(())
            }
            Change::Pacing(header, rate) => {
                let slot = self.flow_of(now, &header).slot;
                self.tell_either(now, &Change::Pacing(slot, rate))
            }
            Change::Class(header, name) => {
                let Some(class) = class_named(&self.scheduler, name) else { return change.not_used() };
                self.flows.set_class(self.classifier.key(&header, self.hash), class);
                Ok(())
            }
        }
    }

    fn may_pass(&self, time: Time) -> bool {
        self.scheduler.is_settled_at(time)
    }

    fn preempts(&self) -> bool {
        self.store.serving().is_some_and(|serving| self.scheduler.preempts(serving.tag))
    }

    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.marker.before_change(now, &self.store);
        let Some((handle, entry)) = self.store.put_back(unsent_bits) else {
            unreachable!("put back without a packet being sent")
        };
        let (queue, flow, packet) = (entry.queue, entry.flow, *entry.packet);
        self.scheduler.continued(queue, entry.tag);
        self.buffer.joined(now, &self.store, HeldPacket { queue, flow, handle, packet: &packet });
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("flows", Unit::None, self.flows.len() as u64));
        visit(Reading::count("backlogged_queues", Unit::None, self.store.backlogged_queues()));
        self.scheduler.readings(now, visit);
        self.buffer.readings(now, visit);
        self.marker.readings(now, visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.store.visit(&mut |entry, is_head| {
            let stamps = self.scheduler.stamps(entry.queue, entry.tag, is_head);
            visit(Waiting { packet: entry.packet, queue: entry.queue, stamps });
        });
    }

    fn decision(&self) -> Option<Decision> {
        self.decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::pair::Pair;
    use crate::mark::none::None as NoMarker;
    use crate::packet::Address;
    use crate::schedule::round_robin::RoundRobin;
    use crate::units::Rate;

    #[test]
    fn a_packet_that_is_held_has_a_handle_though_its_owner_gives_all_the_same_token() {
        let line = Line::new(Rate::MAX);
        let (scheduler, buffer) = (
            RoundRobin::new(&Default::default(), &line),
            crate::buffer::longest_queue_drop::LongestQueueDrop::new(&Default::default(), &line),
        );
        let mut queue = Composition::new(Pair, scheduler, buffer, NoMarker, Limit::Packets(2), &line);
        let mut fates = Fates::new();
        let mut offer = |flow| {
            let (source, destination) = (Address::Node(flow), Address::Node(9));
            let header = Header { source, destination, protocol: 0, source_port: 0, destination_port: 0, tos: 0 };
            queue.enqueue(Time::ZERO, Packet::new(0, Time::ZERO, 100), &header, &mut fates)
        };
        assert!(offer(1).is_some() && offer(1).is_some());
        // The longest queue loses one, the arriving packet stays.
        let handle = offer(2);
        assert_eq!(fates.len(), 1);
        let taken = handle.and_then(|handle| queue.remove(Time::ZERO, handle));
        assert_eq!(taken.map(|packet| packet.length), Some(100));
    }
}
