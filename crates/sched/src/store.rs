//! The packets a composed discipline holds: one slab, a doubly linked list per queue, O(1) for
//! everything.
//!
//! Parts read it; only the composition changes it. A packet that is being sent has left its queue
//! and stays in its entry of the slab until the transmission ends, so that it is copied once on its
//! way in and once on its way out.
//!
//! An entry is a cache line: the descriptor and its links. What only some schedulers and policies
//! need (tags, flows apart from queues, the array for random picks) stands in arrays beside it and
//! costs the others nothing. When a head leaves, the next packet is not written to: the `previous`
//! of a head is stale.

use crate::change::{Change, Unsupported};
use crate::contract::{End, Handle, Held, Slot, Tag};
use crate::packet::{Marks, Packet};
use crate::prefetch;
use crate::slots::entry;
use crate::units::Limit;
use crate::waiting::Stamps;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// A view of a held packet, or of the one that is being sent.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Its tag; its length if the scheduler gives none.
    pub tag: Tag,
    /// Its queue.
    pub queue: Slot,
    /// Its flow.
    pub flow: Slot,
}

/// A packet and its place in a queue.
#[repr(align(64))]
struct Node {
    packet: Packet,
    queue: Slot,
    generation: u32,
    /// The packet before it, if it is not the head.
    previous: u32,
    /// The next packet of the queue, or the next free node.
    next: u32,
}

const _: () = assert!(size_of::<Node>() == 64);

impl Node {
    #[inline]
    fn length_as_tag(&self) -> Tag {
        Tag::from(self.packet.length)
    }
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

/// A packet that begins to be sent.
pub(crate) struct Served {
    /// The name it had while it waited.
    pub(crate) handle: Handle,
    pub(crate) tag: Tag,
    pub(crate) flow: Slot,
    /// The tag of the packet behind it in its queue.
    pub(crate) head: Option<Tag>,
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
    /// Whether the packet was the first of its queue.
    pub(crate) was_head: bool,
    /// Whether the packet was the last of its queue.
    pub(crate) was_tail: bool,
}

/// The waiting packets by queue, and what is being sent.
pub struct Store {
    nodes: Vec<Node>,
    free: u32,
    queues: Vec<Queue>,
    packets: Room,
    bytes: Room,
    backlogged: u32,
    /// The node of the packet that is being sent.
    serving: u32,
    limit: Limit,
    /// By node, if tags are stored; if not, a packet's tag is its length.
    tags: Vec<Tag>,
    keeps_tags: bool,
    /// The flow by node; `None` if the flow is the queue.
    flows: Option<Vec<Slot>>,
    /// By flow, if flows do not have queues of their own.
    counts: Option<Vec<FlowCount>>,
    /// The waiting packets in no order, and each one's place there, if packets are picked at
    /// random.
    waiting: Option<Waiting>,
}

/// How much waits and how much may, in packets or in bytes; without a limit in that unit `most` is
/// the greatest number. `most` separates the counts of the two units: adjacent counts would be
/// accessed as one wide word in one place and singly in another, and the wide load would stall
/// (store forwarding).
struct Room {
    held: u64,
    most: u64,
}

/// Which facts the store keeps beside packets.
#[derive(Clone, Copy)]
pub(crate) struct Keeps {
    /// Tags that are not lengths.
    pub(crate) tags: bool,
    /// Flows that are not queues.
    pub(crate) flows: bool,
}

/// All waiting packets side by side.
#[derive(Default)]
struct Waiting {
    nodes: Vec<u32>,
    /// The place of each node in `nodes`.
    places: Vec<u32>,
}

impl Store {
    /// An empty store in which `limit` may wait, for packets with tags and flows that are not
    /// queues.
    #[must_use]
    pub const fn new(limit: Limit) -> Self {
        Self {
            nodes: Vec::new(),
            free: NONE,
            queues: Vec::new(),
            packets: Room { held: 0, most: limit.packets() },
            bytes: Room { held: 0, most: limit.bytes() },
            backlogged: 0,
            serving: NONE,
            limit,
            tags: Vec::new(),
            keeps_tags: true,
            flows: Some(Vec::new()),
            counts: None,
            waiting: None,
        }
    }

    /// Stops storing tags: `tag()` then returns the packet's length.
    pub(crate) fn keep_no_tags(&mut self) {
        self.keeps_tags = false;
    }

    /// Stops storing flows: a packet's queue then has the number of its flow.
    pub(crate) fn keep_no_flows(&mut self) {
        self.flows = None;
    }

    /// Counts the packets of flows apart from those of queues, for several flows share a queue or
    /// one flow has several.
    pub(crate) fn count_flows(&mut self) {
        self.counts = Some(Vec::new());
    }

    /// Keeps the array that random picks need.
    pub(crate) fn prepare_draws(&mut self) {
        self.waiting = Some(Waiting::default());
    }

    /// How much may wait.
    #[must_use]
    #[inline]
    pub const fn limit(&self) -> Limit {
        self.limit
    }

    /// From now on no more than `limit` should wait; nothing is dropped.
    pub const fn set_limit(&mut self, limit: Limit) {
        (self.packets.most, self.bytes.most, self.limit) = (limit.packets(), limit.bytes(), limit);
    }

    /// The answer to `change` of a discipline that keeps nothing of it but the limit, here.
    pub(crate) fn change(&mut self, change: &Change<'_>) -> Result<(), Unsupported> {
        if let Change::Limit(limit) = *change {
            self.set_limit(limit);
        }
        change.not_used()
    }

    /// Whether more waits than the limit allows.
    #[must_use]
    #[inline]
    pub const fn is_over_limit(&self) -> bool {
        self.packets.held > self.packets.most || self.bytes.held > self.bytes.most
    }

    /// Whether a packet of `length` would exceed the limit.
    #[must_use]
    #[inline]
    pub const fn has_no_room_for(&self, length: u32) -> bool {
        self.packets.held >= self.packets.most || self.bytes.held + length as u64 > self.bytes.most
    }

    /// Whether a packet of `length` alone exceeds the limit.
    #[must_use]
    #[inline]
    pub const fn is_too_short_for(&self, length: u32) -> bool {
        length as u64 > self.bytes.most
    }

    /// Whether any number of packets may wait.
    #[must_use]
    #[inline]
    pub const fn is_unlimited(&self) -> bool {
        self.packets.most & self.bytes.most == u64::MAX
    }

    /// What waits in all.
    #[must_use]
    pub const fn held(&self) -> Held {
        Held { packets: self.packets.held, bytes: self.bytes.held }
    }

    /// Waiting packets in all.
    #[must_use]
    #[inline]
    pub const fn packets(&self) -> u64 {
        self.packets.held
    }

    /// Waiting bytes in all.
    #[must_use]
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes.held
    }

    /// Queues with a packet waiting.
    #[must_use]
    pub const fn backlogged_queues(&self) -> u32 {
        self.backlogged
    }

    /// Packets waiting in `queue`.
    #[must_use]
    #[inline]
    pub fn queue_packets(&self, queue: Slot) -> u32 {
        self.queues.get(queue as usize).map_or(0, |q| q.packets)
    }

    /// Bytes waiting in `queue`.
    #[must_use]
    #[inline]
    pub fn queue_bytes(&self, queue: Slot) -> u64 {
        self.queues.get(queue as usize).map_or(0, |q| q.bytes)
    }

    /// Packets waiting of the flow in slot `flow`.
    #[must_use]
    pub fn flow_packets(&self, flow: Slot) -> u32 {
        match &self.counts {
            None => self.queue_packets(flow),
            Some(counts) => counts.get(flow as usize).map_or(0, |f| f.packets),
        }
    }

    /// Bytes waiting of the flow in slot `flow`.
    #[must_use]
    pub fn flow_bytes(&self, flow: Slot) -> u64 {
        match &self.counts {
            None => self.queue_bytes(flow),
            Some(counts) => counts.get(flow as usize).map_or(0, |f| f.bytes),
        }
    }

    /// One of the waiting packets, each with the same chance if `number` is uniform below
    /// [`Store::packets`], for a buffer policy that says that it draws packets. `None` if nothing
    /// waits.
    #[must_use]
    pub fn drawn(&self, number: u64) -> Option<(Handle, Entry<'_>)> {
        let index = *self.waiting.as_ref()?.nodes.get(number as usize)?;
        let generation = self.nodes.get(index as usize)?.generation;
        Some((Handle::new(index, generation), self.entry(index)?))
    }

    /// The packet called `handle`, if it waits.
    #[must_use]
    pub fn waiting(&self, handle: Handle) -> Option<Entry<'_>> {
        if self.holds(handle) { self.entry(handle.index()) } else { None }
    }

    /// The packet that waits at the head of `queue`, and its tag.
    #[must_use]
    #[inline]
    pub fn head(&self, queue: Slot) -> Option<(&Packet, Tag)> {
        let head = self.queues.get(queue as usize)?.head;
        self.nodes.get(head as usize).map(|node| (&node.packet, self.tag(head)))
    }

    /// Visits what waits, each queue from its head on, with whether a packet is the head.
    pub fn visit(&self, visit: &mut dyn FnMut(Entry<'_>, bool)) {
        for queue in &self.queues {
            let mut index = queue.head;
            while let Some(entry) = self.entry(index) {
                visit(entry, index == queue.head);
                index = if index == queue.tail { NONE } else { self.nodes[index as usize].next };
            }
        }
    }

    /// Shows what waits, without virtual times.
    pub(crate) fn show(&self, visit: &mut dyn FnMut(crate::waiting::Waiting<'_>)) {
        let stamps = Stamps::NONE;
        self.visit(&mut |Entry { packet, queue, .. }, _| visit(crate::waiting::Waiting { packet, queue, stamps }));
    }

    /// The packet that is being sent: the last one dequeued, until dequeue is called again.
    #[must_use]
    #[inline]
    pub fn serving(&self) -> Option<Entry<'_>> {
        self.entry(self.serving)
    }

    /// Packets waiting and being sent.
    #[must_use]
    pub const fn packets_with_serving(&self) -> u64 {
        self.packets.held + (self.serving != NONE) as u64
    }

    #[inline]
    fn entry(&self, index: u32) -> Option<Entry<'_>> {
        let node = self.nodes.get(index as usize)?;
        Some(Entry {
            packet: &node.packet,
            tag: self.tag(index),
            queue: node.queue,
            flow: self.flow(index, node.queue),
        })
    }

    #[inline]
    fn tag(&self, index: u32) -> Tag {
        if self.keeps_tags { self.tags[index as usize] } else { self.nodes[index as usize].length_as_tag() }
    }

    /// The flow of a node in `queue`.
    #[inline]
    fn flow(&self, index: u32, queue: Slot) -> Slot {
        self.flows.as_ref().map_or(queue, |flows| flows[index as usize])
    }

    // `push` and `serve` are always inlined: a result returned through memory is written in parts
    // and read as a whole, and that load stalls until the parts have left the store buffer (store
    // forwarding).

    /// Appends to `queue`. Returns the packet's handle, and whether it is the first there.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: &Packet, tag: Tag, queue: Slot, flow: Slot) -> (Handle, bool) {
        if self.queues.len() <= queue as usize {
            self.add_queue(queue);
        }
        if self.free == NONE {
            self.add_node();
        }
        let (index, handle, is_first) = self.append(packet, queue);
        if let Some(place) = self.tags.get_mut(index as usize) {
            *place = tag;
        }
        if self.flows.is_some() {
            self.enter(index, flow, packet.length);
        }
        (handle, is_first)
    }

    /// Puts the packet into a free entry and appends it. Returns the entry, the packet's handle,
    /// and whether it is the first there.
    #[inline(always)]
    fn append(&mut self, packet: &Packet, queue: Slot) -> (u32, Handle, bool) {
        let (index, length) = (self.free, packet.length);
        let (nodes, list) = (&mut self.nodes[..], &mut self.queues[queue as usize]);
        let previous = core::mem::replace(&mut list.tail, index);
        list.packets += 1;
        list.bytes += u64::from(length);
        if let Some(last) = nodes.get_mut(previous as usize) {
            last.next = index;
        } else {
            list.head = index;
            self.backlogged += 1;
        }
        self.packets.held += 1;
        self.bytes.held += u64::from(length);
        let node = &mut nodes[index as usize];
        self.free = node.next;
        (node.packet, node.queue, node.previous, node.next) = (*packet, queue, previous, NONE);
        (index, Handle::new(index, node.generation), previous == NONE)
    }

    #[cold]
    fn add_queue(&mut self, queue: Slot) {
        self.queues.resize(queue as usize + 1, EMPTY);
    }

    /// Makes a free node.
    #[cold]
    fn add_node(&mut self) {
        let index = self.nodes.len() as u32;
        assert!(index < NONE, "more than 2^32 - 1 packets held");
        let packet = Packet::new(0, crate::units::Time::ZERO, 0);
        self.nodes.push(Node { packet, queue: 0, generation: 0, previous: NONE, next: NONE });
        self.free = index;
        if self.keeps_tags {
            self.tags.push(0);
        }
        if let Some(flows) = &mut self.flows {
            flows.push(0);
        }
    }

    /// Begins to send the packet at the head of `queue`, and releases the one that was being sent.
    #[inline(always)]
    pub(crate) fn serve(&mut self, queue: Slot) -> Option<(Served, &Packet)> {
        let keeps = Keeps { tags: self.keeps_tags, flows: self.flows.is_some() };
        self.serve_kept(queue, keeps)
    }

    /// As [`Store::serve`], for a caller that knows at compile time what is kept beside packets.
    #[inline(always)]
    pub(crate) fn serve_kept(&mut self, queue: Slot, keeps: Keeps) -> Option<(Served, &Packet)> {
        let (nodes, list) = (&mut self.nodes[..], self.queues.get_mut(queue as usize)?);
        let index = list.head;
        let node = nodes.get_mut(index as usize)?;
        let generation = node.generation;
        node.generation = generation.wrapping_add(1);
        let (next, length) = (node.next, node.packet.length);
        list.head = next;
        list.packets -= 1;
        list.bytes -= u64::from(length);
        self.packets.held -= 1;
        self.bytes.held -= u64::from(length);
        let sent = core::mem::replace(&mut self.serving, index);
        if let Some(sent_node) = nodes.get_mut(sent as usize) {
            sent_node.next = core::mem::replace(&mut self.free, sent);
        }
        let (tag, head) = if keeps.tags {
            (self.tags.get(index as usize).copied(), self.tags.get(next as usize).copied())
        } else {
            (Some(Tag::from(length)), nodes.get(next as usize).map(Node::length_as_tag))
        };
        if head.is_none() {
            list.tail = NONE;
            self.backlogged -= 1;
        }
        let mut flow = queue;
        if keeps.flows {
            flow = self.flow(index, queue);
            self.leave(index, length);
        }
        let served = Served { handle: Handle::new(index, generation), tag: tag.unwrap_or_default(), flow, head };
        Some((served, &self.nodes[index as usize].packet))
    }

    /// Fetches the state of `queue` into the caches.
    #[inline(always)]
    pub(crate) fn fetch_queue(&self, queue: Slot) {
        prefetch::fetch(&self.queues, queue);
    }

    /// Puts `marks` on the packet at the head of `queue`.
    pub(crate) fn mark_head(&mut self, queue: Slot, marks: Marks) -> Option<&Packet> {
        let head = self.queues.get(queue as usize)?.head;
        let packet = &mut self.nodes.get_mut(head as usize)?.packet;
        packet.marks = packet.marks.with(marks);
        Some(packet)
    }

    /// Releases the packet that was being sent, if there is one.
    #[inline]
    pub(crate) fn end_serving(&mut self) {
        if self.serving != NONE {
            self.release(self.serving);
            self.serving = NONE;
        }
    }

    /// Puts the packet that was being sent back at the head of its queue, with `unsent_bits` left
    /// to send.
    pub(crate) fn put_back(&mut self, unsent_bits: u32) -> Option<(Handle, Entry<'_>)> {
        let index = core::mem::replace(&mut self.serving, NONE);
        let node = self.nodes.get_mut(index as usize)?;
        node.packet.unsent_bits = unsent_bits;
        let (queue, length, generation) = (node.queue, node.packet.length, node.generation);
        let list = &mut self.queues[queue as usize];
        let next = core::mem::replace(&mut list.head, index);
        node.next = next;
        if next == NONE {
            list.tail = index;
            self.backlogged += 1;
        } else {
            self.nodes[next as usize].previous = index;
        }
        list.packets += 1;
        list.bytes += u64::from(length);
        self.packets.held += 1;
        self.bytes.held += u64::from(length);
        if self.flows.is_some() {
            self.enter(index, self.flow(index, queue), length);
        }
        Some((Handle::new(index, generation), self.entry(index)?))
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

    /// Moves the packet at the head of `from` to the end of `to`; it keeps its handle. Returns its
    /// tag.
    pub(crate) fn rehang(&mut self, from: Slot, to: Slot) -> Option<Tag> {
        let index = self.queues.get(from as usize)?.head;
        if index == NONE {
            return None;
        }
        if self.queues.len() <= to as usize {
            self.add_queue(to);
        }
        let Node { packet, generation, .. } = self.nodes[index as usize];
        self.unlink(index);
        self.release(index);
        self.append(&packet, to);
        self.nodes[index as usize].generation = generation;
        if self.flows.is_some() {
            self.enter(index, to, packet.length);
        }
        Some(self.tag(index))
    }

    /// Takes the packet of `handle`, if it is still held.
    pub(crate) fn remove(&mut self, handle: Handle) -> Option<Taken> {
        self.holds(handle).then(|| self.take(handle.index()))
    }

    /// Whether the packet of `handle` waits.
    pub(crate) fn holds(&self, handle: Handle) -> bool {
        self.nodes.get(handle.index() as usize).is_some_and(|node| node.generation == handle.generation())
    }

    fn take(&mut self, index: u32) -> Taken {
        let generation = self.nodes[index as usize].generation;
        let place = self.unlink(index);
        self.release(index);
        let Node { packet, queue, .. } = self.nodes[index as usize];
        let (tag, flow) = (self.tag(index), self.flow(index, queue));
        Taken { handle: Handle::new(index, generation), packet, tag, queue, flow, place }
    }

    /// Takes a node out of its queue; its handle does not name it any more.
    fn unlink(&mut self, index: u32) -> Place {
        let node = &mut self.nodes[index as usize];
        node.generation = node.generation.wrapping_add(1);
        let (queue, length, previous, next) = (node.queue, node.packet.length, node.previous, node.next);
        let list = &mut self.queues[queue as usize];
        let place = Place { was_head: list.head == index, was_tail: next == NONE };
        list.packets -= 1;
        list.bytes -= u64::from(length);
        self.backlogged -= u32::from(list.packets == 0);
        self.packets.held -= 1;
        self.bytes.held -= u64::from(length);
        if place.was_head {
            list.head = next;
        } else {
            self.nodes[previous as usize].next = next;
        }
        if place.was_tail {
            list.tail = if place.was_head { NONE } else { previous };
        } else {
            self.nodes[next as usize].previous = previous;
        }
        if self.flows.is_some() {
            self.leave(index, length);
        }
        place
    }

    /// Frees a node that is in no queue.
    #[inline]
    fn release(&mut self, index: u32) {
        self.nodes[index as usize].next = self.free;
        self.free = index;
    }

    /// Notes a packet that waits now, where its flow is not its queue.
    fn enter(&mut self, index: u32, flow: Slot, length: u32) {
        if let Some(flows) = &mut self.flows {
            flows[index as usize] = flow;
        }
        if let Some(counts) = &mut self.counts {
            let count = entry(counts, flow, FlowCount::default());
            count.packets += 1;
            count.bytes += u64::from(length);
        }
        if let Some(waiting) = &mut self.waiting {
            *entry(&mut waiting.places, index, NONE) = waiting.nodes.len() as u32;
            waiting.nodes.push(index);
        }
    }

    /// Notes a packet that waits no more, where its flow is not its queue.
    fn leave(&mut self, index: u32, length: u32) {
        if let (Some(flows), Some(counts)) = (&self.flows, &mut self.counts) {
            let count = &mut counts[flows[index as usize] as usize];
            count.packets -= 1;
            count.bytes -= u64::from(length);
        }
        if let Some(waiting) = &mut self.waiting {
            let place = waiting.places[index as usize];
            waiting.nodes.swap_remove(place as usize);
            if let Some(moved) = waiting.nodes.get(place as usize) {
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
                        handles.push_back((queue, step, store.push(&packet, 0, queue, queue).0));
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
