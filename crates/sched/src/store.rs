//! The packets a composed discipline holds: one slab, a doubly linked list per queue, O(1) for everything.
//!
//! Parts read it; only the composition changes it. A packet that is being sent has left its queue and stays in its
//! entry of the slab until the transmission ends, so that it is copied once on its way in and once on its way out.

use crate::contract::{End, Handle, Held, Slot, Tag};
use crate::packet::{Marks, Packet};
use crate::units::Limit;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// A held packet, or the one that is being sent.
pub struct Entry {
    /// The packet.
    pub packet: Packet,
    /// Its tag.
    pub tag: Tag,
    /// Its queue.
    pub queue: Slot,
    /// Its flow.
    pub flow: Slot,
    generation: u32,
    previous: u32,
    /// The next packet of the queue, or the next free entry.
    next: u32,
}

#[derive(Clone, Copy)]
struct Queue {
    head: u32,
    tail: u32,
    packets: u32,
    bytes: u64,
}

const EMPTY: Queue = Queue { head: NONE, tail: NONE, packets: 0, bytes: 0 };

/// A packet taken out of the store without being sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) handle: Handle,
    pub(crate) packet: Packet,
    pub(crate) tag: Tag,
    pub(crate) queue: Slot,
    pub(crate) flow: Slot,
    pub(crate) place: Place,
}

/// What waits of a flow whose packets do not have a queue of their own.
#[derive(Clone, Copy, Default)]
struct FlowCount {
    packets: u32,
    bytes: u64,
}

/// Where in its queue a packet stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Whether it was the first.
    pub(crate) was_head: bool,
    /// Whether it was the last.
    pub(crate) was_tail: bool,
}

/// The waiting packets by queue, and what is being sent.
pub struct Store {
    entries: Vec<Entry>,
    free: u32,
    queues: Vec<Queue>,
    packets: u64,
    bytes: u64,
    backlogged: u32,
    /// The entry of the packet that is being sent.
    serving: u32,
    limit: Limit,
    /// By flow, if flows do not have queues of their own.
    flows: Option<Vec<FlowCount>>,
    /// The waiting packets in no order, and each one's place there, if packets are drawn at random.
    waiting: Option<Waiting>,
}

/// All waiting packets side by side.
#[derive(Default)]
struct Waiting {
    entries: Vec<u32>,
    /// By entry.
    places: Vec<u32>,
}

impl Handle {
    /// The handle as a number, for an owner in another language.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The handle of a number that [`Handle::to_bits`] of the same discipline gave. Like any handle it may be old.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

impl Store {
    /// An empty store in which `limit` may wait.
    #[must_use]
    pub const fn new(limit: Limit) -> Self {
        Self {
            flows: None,
            waiting: None,
            entries: Vec::new(),
            free: NONE,
            queues: Vec::new(),
            packets: 0,
            bytes: 0,
            backlogged: 0,
            serving: NONE,
            limit,
        }
    }

    /// From now on the packets of flows are counted by themselves, for several flows share a queue or one flow has several.
    pub(crate) fn count_flows(&mut self) {
        self.flows = Some(Vec::new());
    }

    /// From now on waiting packets can be drawn.
    pub(crate) fn prepare_draws(&mut self) {
        self.waiting = Some(Waiting::default());
    }

    /// How much may wait.
    #[must_use]
    pub const fn limit(&self) -> Limit {
        self.limit
    }

    /// Whether more waits than may.
    #[must_use]
    pub const fn is_over_limit(&self) -> bool {
        self.limit.is_exceeded_by(self.packets, self.bytes)
    }

    /// What waits in all.
    #[must_use]
    pub const fn held(&self) -> Held {
        Held { packets: self.packets, bytes: self.bytes }
    }

    /// Waiting packets in all.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Waiting bytes in all.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Queues with a packet waiting.
    #[must_use]
    pub const fn backlogged_queues(&self) -> u32 {
        self.backlogged
    }

    /// Packets waiting in `queue`.
    #[must_use]
    pub fn queue_packets(&self, queue: Slot) -> u32 {
        self.queues.get(queue as usize).map_or(0, |q| q.packets)
    }

    /// Bytes waiting in `queue`.
    #[must_use]
    pub fn queue_bytes(&self, queue: Slot) -> u64 {
        self.queues.get(queue as usize).map_or(0, |q| q.bytes)
    }

    /// Packets waiting of the flow in slot `flow`.
    #[must_use]
    pub fn flow_packets(&self, flow: Slot) -> u32 {
        match &self.flows {
            None => self.queue_packets(flow),
            Some(flows) => flows.get(flow as usize).map_or(0, |f| f.packets),
        }
    }

    /// Bytes waiting of the flow in slot `flow`.
    #[must_use]
    pub fn flow_bytes(&self, flow: Slot) -> u64 {
        match &self.flows {
            None => self.queue_bytes(flow),
            Some(flows) => flows.get(flow as usize).map_or(0, |f| f.bytes),
        }
    }

    /// One of the waiting packets, each with the same chance if `number` is uniform below [`Store::packets`], for a
    /// buffer policy that says that it draws packets. `None` if nothing waits.
    #[must_use]
    pub fn drawn(&self, number: u64) -> Option<(Handle, &Entry)> {
        let index = *self.waiting.as_ref()?.entries.get(number as usize)?;
        let entry = self.entries.get(index as usize)?;
        Some((Handle { index, generation: entry.generation }, entry))
    }

    /// The packet called `handle`, if it waits.
    #[must_use]
    pub fn waiting(&self, handle: Handle) -> Option<&Entry> {
        self.entries.get(handle.index as usize).filter(|entry| entry.generation == handle.generation)
    }

    /// The packet that waits at the head of `queue`, and its tag.
    #[must_use]
    pub fn head(&self, queue: Slot) -> Option<(&Packet, Tag)> {
        let head = self.queues.get(queue as usize)?.head;
        self.entries.get(head as usize).map(|e| (&e.packet, e.tag))
    }

    /// The packet that is being sent: the last one dequeued, until dequeue is called again.
    #[must_use]
    #[inline]
    pub fn serving(&self) -> Option<&Entry> {
        self.entries.get(self.serving as usize)
    }

    /// Packets waiting and being sent.
    #[must_use]
    pub const fn packets_with_serving(&self) -> u64 {
        self.packets + (self.serving != NONE) as u64
    }

    /// Appends to `queue`.
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet, tag: Tag, queue: Slot, flow: Slot) -> Handle {
        if self.queues.len() <= queue as usize {
            self.add_queue(queue);
        }
        let list = &mut self.queues[queue as usize];
        let previous = list.tail;
        let index = if let Some(entry) = self.entries.get_mut(self.free as usize) {
            let index = core::mem::replace(&mut self.free, entry.next);
            let generation = entry.generation;
            *entry = Entry { packet, tag, queue, flow, generation, previous, next: NONE };
            index
        } else {
            let index = self.entries.len() as u32;
            assert!(index < NONE, "more than 2^32 - 1 packets held");
            self.entries.push(Entry { packet, tag, queue, flow, generation: 0, previous, next: NONE });
            index
        };
        list.tail = index;
        list.packets += 1;
        list.bytes += u64::from(packet.length);
        self.packets += 1;
        self.bytes += u64::from(packet.length);
        if previous == NONE {
            list.head = index;
            self.backlogged += 1;
        } else {
            self.entries[previous as usize].next = index;
        }
        self.enter(index, flow, packet.length);
        Handle { index, generation: self.entries[index as usize].generation }
    }

    #[cold]
    fn add_queue(&mut self, queue: Slot) {
        self.queues.resize(queue as usize + 1, EMPTY);
    }

    /// Begins to send the packet at the head of `queue`, after the last one was let go: the name it had while it waited,
    /// and the tag of the next head.
    #[inline]
    pub(crate) fn serve(&mut self, queue: Slot) -> Option<(Handle, Option<Tag>)> {
        let list = self.queues.get_mut(queue as usize)?;
        let index = list.head;
        let entry = self.entries.get_mut(index as usize)?;
        // As `unlink` does it; nothing stands before a head.
        let generation = entry.generation;
        entry.generation = generation.wrapping_add(1);
        let (flow, next, length) = (entry.flow, entry.next, entry.packet.length);
        list.head = next;
        list.packets -= 1;
        list.bytes -= u64::from(length);
        self.packets -= 1;
        self.bytes -= u64::from(length);
        self.serving = index;
        let next = if let Some(next) = self.entries.get_mut(next as usize) {
            next.previous = NONE;
            Some(next.tag)
        } else {
            list.tail = NONE;
            self.backlogged -= 1;
            None
        };
        self.leave(index, flow, length);
        Some((Handle { index, generation }, next))
    }

    /// Puts `marks` on the packet at the head of `queue`.
    pub(crate) fn mark_head(&mut self, queue: Slot, marks: Marks) -> Option<&Packet> {
        let head = self.queues.get(queue as usize)?.head;
        let packet = &mut self.entries.get_mut(head as usize)?.packet;
        packet.marks = packet.marks.with(marks);
        Some(packet)
    }

    /// Lets go of the packet that was being sent, if there is one.
    #[inline]
    pub(crate) fn end_serving(&mut self) {
        if self.serving != NONE {
            self.release(self.serving);
            self.serving = NONE;
        }
    }

    /// Puts the packet that was being sent back at the head of its queue, with `unsent_bits` left to send.
    pub(crate) fn put_back(&mut self, unsent_bits: u32) -> Option<(Handle, &Entry)> {
        let index = core::mem::replace(&mut self.serving, NONE);
        let entry = self.entries.get_mut(index as usize)?;
        entry.packet.unsent_bits = unsent_bits;
        let (queue, flow, length, generation) = (entry.queue, entry.flow, entry.packet.length, entry.generation);
        let list = &mut self.queues[queue as usize];
        (entry.previous, entry.next) = (NONE, list.head);
        list.head = index;
        if entry.next == NONE {
            list.tail = index;
        } else {
            let next = entry.next;
            self.entries[next as usize].previous = index;
        }
        self.backlogged += u32::from(list.packets == 0);
        list.packets += 1;
        list.bytes += u64::from(length);
        self.packets += 1;
        self.bytes += u64::from(length);
        self.enter(index, flow, length);
        self.entries.get(index as usize).map(|entry| (Handle { index, generation }, entry))
    }

    /// Takes the packet at one end of `queue`.
    pub(crate) fn pop(&mut self, queue: Slot, end: End) -> Option<Taken> {
        let list = self.queues.get(queue as usize)?;
        let index = match end {
            End::Front => list.head,
            End::Tail => list.tail,
        };
        (index != NONE).then(|| self.take(index))
    }

    /// Takes the packet of `handle`, if it is still held.
    pub(crate) fn remove(&mut self, handle: Handle) -> Option<Taken> {
        let entry = self.entries.get(handle.index as usize)?;
        (entry.generation == handle.generation).then(|| self.take(handle.index))
    }

    /// Whether the packet of `handle` waits.
    pub(crate) fn holds(&self, handle: Handle) -> bool {
        self.entries.get(handle.index as usize).is_some_and(|entry| entry.generation == handle.generation)
    }

    fn take(&mut self, index: u32) -> Taken {
        let generation = self.entries[index as usize].generation;
        let place = self.unlink(index);
        self.release(index);
        let Entry { packet, tag, queue, flow, .. } = self.entries[index as usize];
        Taken { handle: Handle { index, generation }, packet, tag, queue, flow, place }
    }

    /// Takes an entry out of its queue; its handle does not name it any more.
    #[inline]
    fn unlink(&mut self, index: u32) -> Place {
        let entry = &mut self.entries[index as usize];
        entry.generation = entry.generation.wrapping_add(1);
        let (queue, flow, length) = (entry.queue, entry.flow, entry.packet.length);
        let (previous, next) = (entry.previous, entry.next);
        let list = &mut self.queues[queue as usize];
        list.packets -= 1;
        list.bytes -= u64::from(length);
        self.backlogged -= u32::from(list.packets == 0);
        self.packets -= 1;
        self.bytes -= u64::from(length);
        if previous == NONE {
            list.head = next;
        } else {
            self.entries[previous as usize].next = next;
        }
        if next == NONE {
            list.tail = previous;
        } else {
            self.entries[next as usize].previous = previous;
        }
        self.leave(index, flow, length);
        Place { was_head: previous == NONE, was_tail: next == NONE }
    }

    /// Makes an entry free that is in no queue.
    #[inline]
    fn release(&mut self, index: u32) {
        self.entries[index as usize].next = self.free;
        self.free = index;
    }

    /// Notes a packet that waits now, where flows are counted or packets drawn.
    #[inline]
    fn enter(&mut self, index: u32, flow: Slot, length: u32) {
        if self.flows.is_some() || self.waiting.is_some() {
            self.count_in(index, flow, length);
        }
    }

    fn count_in(&mut self, index: u32, flow: Slot, length: u32) {
        if let Some(flows) = &mut self.flows {
            if flows.len() <= flow as usize {
                flows.resize(flow as usize + 1, FlowCount::default());
            }
            flows[flow as usize].packets += 1;
            flows[flow as usize].bytes += u64::from(length);
        }
        if let Some(waiting) = &mut self.waiting {
            if waiting.places.len() <= index as usize {
                waiting.places.resize(index as usize + 1, NONE);
            }
            waiting.places[index as usize] = waiting.entries.len() as u32;
            waiting.entries.push(index);
        }
    }

    /// Notes a packet that waits no more, where flows are counted or packets drawn.
    #[inline]
    fn leave(&mut self, index: u32, flow: Slot, length: u32) {
        if self.flows.is_some() || self.waiting.is_some() {
            self.count_out(index, flow, length);
        }
    }

    fn count_out(&mut self, index: u32, flow: Slot, length: u32) {
        if let Some(flows) = &mut self.flows {
            let count = &mut flows[flow as usize];
            count.packets -= 1;
            count.bytes -= u64::from(length);
        }
        if let Some(waiting) = &mut self.waiting {
            let place = waiting.places[index as usize];
            waiting.entries.swap_remove(place as usize);
            if let Some(moved) = waiting.entries.get(place as usize) {
                waiting.places[*moved as usize] = place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;
    use alloc::collections::VecDeque;
    use alloc::vec;

    /// Every sequence of 7 operations on 2 queues against plain deques.
    #[test]
    fn the_store_does_what_plain_deques_do() {
        const OPERATIONS: u32 = 7;
        for code in 0..OPERATIONS.pow(7) {
            let mut store = Store::new(Limit::Unlimited);
            let mut model = vec![VecDeque::new(); 2];
            let mut handles = VecDeque::new();
            let mut rest = code;
            for step in 0..7u64 {
                let operation = rest % OPERATIONS;
                rest /= OPERATIONS;
                let queue = operation % 2;
                let plain = &mut model[queue as usize];
                match operation {
                    0 | 1 => {
                        let packet = Packet::new(step, Time::ZERO, 10 + step as u32);
                        handles.push_back((queue, step, store.push(packet, 0, queue, queue)));
                        plain.push_back(step);
                    }
                    2 | 3 => {
                        let taken = store.pop(queue, End::Front).map(|t| t.packet.token);
                        assert_eq!(taken, plain.pop_front());
                    }
                    4 | 5 => {
                        let taken = store.pop(queue, End::Tail).map(|t| t.packet.token);
                        assert_eq!(taken, plain.pop_back());
                    }
                    _ => {
                        if let Some((queue, token, handle)) = handles.pop_front() {
                            let plain = &mut model[queue as usize];
                            let at = plain.iter().position(|t| *t == token);
                            assert_eq!(
                                store.remove(handle).map(|t| t.packet.token),
                                at.and_then(|at| plain.remove(at))
                            );
                        }
                    }
                }
                let held = model.iter().map(VecDeque::len).sum::<usize>() as u64;
                assert_eq!(store.packets(), held);
                assert_eq!(u64::from(store.queue_packets(0)) + u64::from(store.queue_packets(1)), held);
                assert_eq!(store.backlogged_queues(), model.iter().filter(|q| !q.is_empty()).count() as u32);
                for queue in 0..2 {
                    assert_eq!(store.head(queue).map(|(p, _)| p.token), model[queue as usize].front().copied());
                }
            }
        }
    }
}
