//! The floors of a discipline's time: the least work that serves flows in turn, or in the order of
//! finish numbers. Neither floor has a limit, counts what it holds, or releases a packet before its
//! turn.

use super::mix::{Mix, weighted_cost};
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline, Handle, Held};
use fairq_sched::packet::{Address, Fates, Header, Packet};
use fairq_sched::reading::Reading;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use fairq_sched::waiting::Waiting;
use std::collections::VecDeque;
use std::hint::select_unpredictable;

/// No discipline: a packet is made from a count, and offered packets are discarded. Its cost is
/// that of the loop around it.
pub(super) struct Nothing {
    flows: u64,
    turn: u64,
}

impl Nothing {
    pub(super) const fn new(flows: u32) -> Self {
        Self { flows: flows as u64, turn: 0 }
    }
}

// Not inlined. A profile-guided build would inline the one loop without calls, and that loop would
// then be smaller than the others.
impl Discipline for Nothing {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, ..Traits::PLAIN }
    }

    #[inline(never)]
    fn enqueue(&mut self, _now: Time, _packet: Packet, _header: &Header, _fates: &mut Fates) -> Option<Handle> {
        None
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Time, _fates: &mut Fates) -> Dequeue {
        self.turn = if self.turn + 1 == self.flows { 0 } else { self.turn + 1 };
        Dequeue::Send(Packet::new(self.turn, now, 0))
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn held(&self) -> Held {
        Held::default()
    }

    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}

    fn waiting(&self, _visit: &mut dyn FnMut(Waiting<'_>)) {}
}

/// The flow of `header`, which needs no table.
const fn slot_of(header: &Header) -> u32 {
    if let Address::Node(flow) = header.source { flow } else { 0 }
}

/// A ring of packets for each flow, side by side in one block, all with the same number of places.
#[derive(Default)]
struct Rings {
    packets: Vec<Packet>,
    rings: Vec<Ring>,
    /// The base-2 logarithm of the number of places of a ring.
    shift: u32,
}

/// The places of a ring that are in use.
#[derive(Clone, Copy, Default)]
struct Ring {
    first: u32,
    count: u32,
}

const NO_PACKET: Packet = Packet::new(0, Time::ZERO, 0);

impl Rings {
    #[inline]
    fn place(&self, slot: u32, at: u32) -> usize {
        ((slot as usize) << self.shift) + (at & ((1 << self.shift) - 1)) as usize
    }

    /// Puts `packet` last into the ring of `slot`. Returns the number of its packets.
    #[inline]
    fn push(&mut self, slot: u32, packet: &Packet) -> u32 {
        if self.rings.get(slot as usize).is_none_or(|ring| ring.count >> self.shift > 0) {
            self.grow(slot);
        }
        let ring = &mut self.rings[slot as usize];
        let at = ring.first.wrapping_add(ring.count);
        ring.count += 1;
        let count = ring.count;
        let place = self.place(slot, at);
        self.packets[place] = *packet;
        count
    }

    /// Removes the first packet of the ring of `slot`. Returns it, and the length of the one behind
    /// it.
    #[inline]
    fn pop(&mut self, slot: u32) -> (&Packet, Option<u32>) {
        let ring = &mut self.rings[slot as usize];
        let first = ring.first;
        *ring = Ring { first: first.wrapping_add(1), count: ring.count - 1 };
        let waits = ring.count > 0;
        let next = waits.then(|| self.packets[self.place(slot, first.wrapping_add(1))].length);
        (&self.packets[self.place(slot, first)], next)
    }

    /// Makes a ring for `slot`, or longer rings for all.
    #[cold]
    fn grow(&mut self, slot: u32) {
        if slot as usize >= self.rings.len() {
            self.rings.resize(slot as usize + 1, Ring::default());
            self.packets.resize(self.rings.len() << self.shift, NO_PACKET);
            return;
        }
        let old = std::mem::take(self);
        let count = old.rings.len();
        *self = Self {
            packets: vec![NO_PACKET; count << (old.shift + 1)],
            rings: vec![Ring::default(); count],
            shift: old.shift + 1,
        };
        for (slot, ring) in old.rings.iter().enumerate() {
            for at in 0..ring.count {
                let packet = old.packets[old.place(slot as u32, ring.first.wrapping_add(at))];
                self.push(slot as u32, &packet);
            }
        }
    }

    fn held(&self) -> Held {
        let mut held = Held::default();
        for (slot, ring) in self.rings.iter().enumerate() {
            for at in 0..ring.count {
                held.packets += 1;
                held.bytes += u64::from(self.packets[self.place(slot as u32, ring.first.wrapping_add(at))].length);
            }
        }
        held
    }
}

/// Floor A: a ring of packets for each flow; the flows are served in turn, one packet each.
#[derive(Default)]
pub(super) struct Turns {
    rings: Rings,
    turns: VecDeque<u32>,
}

impl Discipline for Turns {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, ..Traits::PLAIN }
    }

    fn enqueue(&mut self, _now: Time, packet: Packet, header: &Header, _fates: &mut Fates) -> Option<Handle> {
        let slot = slot_of(header);
        if self.rings.push(slot, &packet) == 1 {
            self.turns.push_back(slot);
        }
        None
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        let Some(slot) = self.turns.pop_front() else { return Dequeue::Empty };
        let (packet, next) = self.rings.pop(slot);
        if next.is_some() {
            self.turns.push_back(slot);
        }
        Dequeue::Send(*packet)
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn held(&self) -> Held {
        self.rings.held()
    }

    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}

    fn waiting(&self, _visit: &mut dyn FnMut(Waiting<'_>)) {}
}

/// Floor B: a ring of packets for each flow, the flow with the least finish number served next,
/// found by a heap of arity four with one entry for each backlogged flow.
pub(super) struct Finishes {
    mix: Mix,
    rings: Rings,
    flows: Vec<Tagged>,
    /// Finish number of the head and flow; the children of place p are 4p + 1 … 4p + 4.
    heap: Vec<u64>,
    /// The finish number of the packet sent last.
    virtual_time: u64,
}

/// A flow's finish number.
#[derive(Clone, Copy, Default)]
struct Tagged {
    /// The finish number of its head, or of the last packet sent.
    finish: u64,
    weight: u32,
}

impl Tagged {
    /// A head of `length` bytes: returns the entry of the flow in the heap.
    fn finish_head(&mut self, slot: u32, length: u32) -> u64 {
        self.finish += weighted_cost(length, self.weight);
        self.finish << SLOT_BITS | u64::from(slot)
    }
}

const ARITY: usize = 4;
/// The low bits of an entry are the flow. The rest suffices for finish numbers of 10⁹ packets of a
/// flow.
const SLOT_BITS: u32 = 20;

impl Finishes {
    /// Nothing waits; flows have the weights of `mix`.
    pub(super) const fn new(mix: Mix) -> Self {
        let rings = Rings { packets: Vec::new(), rings: Vec::new(), shift: 0 };
        Self { mix, rings, flows: Vec::new(), heap: Vec::new(), virtual_time: 0 }
    }

    /// Puts `entry` into the hole at the top, or below where it belongs.
    #[inline]
    fn sift_down(&mut self, entry: u64) {
        let heap = &mut self.heap[..];
        let mut hole = 0;
        // The least of four is selected without branches, which could not be predicted (branch
        // misprediction).
        while let Some(&[a, b, c, d]) = heap.get(hole * ARITY + 1..).and_then(|rest| rest.first_chunk()) {
            let first = hole * ARITY + 1;
            let (left, at_left) = (a.min(b), first + usize::from(b < a));
            let (right, at_right) = (c.min(d), first + 2 + usize::from(d < c));
            let (least, at) = (left.min(right), select_unpredictable(right < left, at_right, at_left));
            if least >= entry {
                heap[hole] = entry;
                return;
            }
            heap[hole] = least;
            hole = at;
        }
        // Fewer than four children, at the end of the heap.
        let first = hole * ARITY + 1;
        let rest = heap.get(first..).unwrap_or_default();
        if let Some((at, least)) = rest.iter().copied().enumerate().min_by_key(|(_, child)| *child)
            && least < entry
        {
            heap[hole] = least;
            hole = first + at;
        }
        heap[hole] = entry;
    }

    fn push(&mut self, entry: u64) {
        let mut hole = self.heap.len();
        self.heap.push(entry);
        while hole > 0 && self.heap[(hole - 1) / ARITY] > entry {
            self.heap[hole] = self.heap[(hole - 1) / ARITY];
            hole = (hole - 1) / ARITY;
        }
        self.heap[hole] = entry;
    }
}

impl Discipline for Finishes {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, ..Traits::PLAIN }
    }

    fn enqueue(&mut self, _now: Time, packet: Packet, header: &Header, _fates: &mut Fates) -> Option<Handle> {
        let slot = slot_of(header);
        let count = self.rings.push(slot, &packet);
        if count > 1 {
            return None;
        }
        if slot as usize >= self.flows.len() {
            self.flows.resize(slot as usize + 1, Tagged::default());
        }
        let tagged = &mut self.flows[slot as usize];
        tagged.weight = self.mix.weight(slot);
        tagged.finish = tagged.finish.max(self.virtual_time);
        let entry = tagged.finish_head(slot, packet.length);
        self.push(entry);
        None
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        let Some(&least) = self.heap.first() else { return Dequeue::Empty };
        let slot = (least & ((1 << SLOT_BITS) - 1)) as u32;
        self.virtual_time = least >> SLOT_BITS;
        let (packet, next) = self.rings.pop(slot);
        // By value and not by place in the rings: the result is written once.
        let answer = Dequeue::Send(*packet);
        if let Some(length) = next {
            let entry = self.flows[slot as usize].finish_head(slot, length);
            self.sift_down(entry);
        } else if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
        answer
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn held(&self) -> Held {
        self.rings.held()
    }

    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}

    fn waiting(&self, _visit: &mut dyn FnMut(Waiting<'_>)) {}
}
