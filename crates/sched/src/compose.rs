//! A discipline made of four parts: classifier, scheduler, buffer policy, marker.
//!
//! On arrival, in this order: whose packet is it; is it marked; may it join; its tag; who loses while too much is
//! held. A packet that the buffer policy refuses outright was never tagged; one that it pushes out was.

use crate::contract::{
    BufferPolicy, Classifier, Dequeue, Discipline, Gone, Handle, Held, Line, Marker, Next, Scheduler,
};
use crate::flows::{FLOWS_MAX, Flows, SHARED};
use crate::hash::Hash;
use crate::packet::{Fate, Fates, Header, Outcome, Packet};
use crate::store::{Place, Store, Taken};
use crate::units::{Limit, Rate, Time, Weight};

/// The four parts and what they share.
pub struct Composition<C, S, B, M> {
    classifier: C,
    scheduler: S,
    buffer: B,
    marker: M,
    hash: Hash,
    flows: Flows,
    store: Store,
}

impl<C: Classifier, S: Scheduler, B: BufferPolicy, M: Marker> Composition<C, S, B, M> {
    /// Puts four parts together behind `line`, with at most `limit` waiting.
    pub fn new(classifier: C, scheduler: S, buffer: B, marker: M, limit: Limit, line: &Line) -> Self {
        let hash = Hash::new(line.seed);
        let weights = line.weights.iter().map(|(header, weight)| (classifier.key(header, hash), *weight)).collect();
        let flows = Flows::new(hash, weights, FLOWS_MAX);
        Self { classifier, scheduler, buffer, marker, hash, flows, store: Store::new(limit) }
    }

    fn tell_gone(&mut self, now: Time, gone: &Taken) {
        let weight = self.flows.weight(gone.flow);
        let head = self.store.head(gone.queue).map(|(_, tag)| tag);
        let (packet, tag, Place { was_head, was_tail }) = (&gone.packet, gone.tag, gone.place);
        self.scheduler.removed(now, Gone { queue: gone.queue, weight, packet, tag, head, was_head, was_tail });
    }
}

impl<C: Classifier, S: Scheduler, B: BufferPolicy, M: Marker> Discipline for Composition<C, S, B, M> {
    fn enqueue(&mut self, now: Time, mut packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let (scheduler, marker, store) = (&mut self.scheduler, &mut self.marker, &self.store);
        let is_clear = |slot| {
            let queue = scheduler.queue_of(slot);
            let is_served = store.serving().is_some_and(|s| s.flow == slot);
            // The scheduler is asked last: its yes lets go of what it knew.
            store.queue_packets(queue) == 0 && !is_served && marker.is_clear(slot) && scheduler.is_clear(now, queue)
        };
        let flow = if self.classifier.is_one_flow() {
            SHARED
        } else {
            self.flows.slot(self.classifier.key(header, self.hash), is_clear)
        };
        let queue = self.scheduler.queue_of(flow);
        let weight = self.flows.weight(flow);

        self.marker.before_change(now, &self.store);
        let marks = self.marker.arrive(now, &self.store, flow, &packet).within(packet.accepts);
        if let Err(reason) = self.buffer.admit(&self.store, queue, &packet) {
            self.scheduler.refused(now, queue, weight, &packet);
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            return None;
        }
        if marks.0 != 0 {
            packet.marks = packet.marks.with(marks);
            fates.push(Fate { packet, outcome: Outcome::Marked(marks) });
        }
        let tag = self.scheduler.arrive(now, queue, weight, &packet);
        let was_empty = self.store.queue_packets(queue) == 0;
        let handle = self.store.push(packet, tag, queue, flow);
        if was_empty {
            self.scheduler.backlogged(queue, tag);
        }
        self.buffer.grown(&self.store, queue);

        while let Some((queue, end, reason)) = self.buffer.victim(&self.store, queue) {
            let Some(gone) = self.store.pop(queue, end) else {
                debug_assert!(false, "a buffer policy named an empty queue");
                break;
            };
            fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
            self.tell_gone(now, &gone);
        }
        self.store.holds(handle).then_some(handle)
    }

    fn dequeue(&mut self, now: Time, _fates: &mut Fates) -> Dequeue {
        self.marker.before_change(now, &self.store);
        self.store.end_serving();
        match self.scheduler.next(now, &self.store) {
            Next::Queue(queue) => {
                let Some((taken, head)) = self.store.serve(queue) else {
                    unreachable!("the scheduler named queue {queue}, which is empty")
                };
                self.scheduler.sent(now, queue, &taken.packet, taken.tag, head);
                Dequeue::Send(taken.packet)
            }
            Next::NotBefore(time) => {
                debug_assert!(time > now, "a time that has come is no answer");
                Dequeue::NotBefore(time)
            }
            Next::Empty => {
                self.scheduler.idle(now);
                Dequeue::Empty
            }
        }
    }

    fn held(&self) -> Held {
        Held { packets: self.store.packets(), bytes: self.store.bytes() }
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        self.marker.before_change(now, &self.store);
        let gone = self.store.remove(handle)?;
        self.tell_gone(now, &gone);
        Some(gone.packet)
    }

    fn rate_changed(&mut self, now: Time, rate: Rate) {
        self.scheduler.rate_changed(now, rate);
    }

    fn weight_changed(&mut self, now: Time, header: &Header, weight: Weight) {
        let key = self.classifier.key(header, self.hash);
        if let Some(flow) = self.flows.set_weight(key, weight) {
            self.scheduler.weight_changed(now, self.scheduler.queue_of(flow), weight);
        }
    }

    fn notes_idle(&self) -> bool {
        self.scheduler.notes_idle() || self.marker.notes_idle()
    }

    fn can_preempt(&self) -> bool {
        self.scheduler.can_preempt()
    }

    fn preempts(&self) -> bool {
        self.store.serving().is_some_and(|serving| self.scheduler.preempts(serving.tag))
    }

    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.marker.before_change(now, &self.store);
        let Some((queue, tag)) = self.store.put_back(unsent_bits).map(|entry| (entry.queue, entry.tag)) else {
            unreachable!("put back without a packet being sent")
        };
        self.scheduler.put_back(queue, tag);
        self.buffer.grown(&self.store, queue);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("flows", self.flows.len() as f64);
        visit("backlogged_queues", f64::from(self.store.backlogged_queues()));
        self.scheduler.inspect(visit);
        self.marker.inspect(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::pair::Pair;
    use crate::mark::none::None as NoMarker;
    use crate::packet::Address;
    use crate::schedule::round_robin::RoundRobin;

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
