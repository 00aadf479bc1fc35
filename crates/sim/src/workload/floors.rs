//! What a discipline's time is compared with: the least that must be done to serve flows in turn, or in the order of
//! finish numbers. Neither has a limit, counts what it holds, or lets go of a packet before its turn.

use super::backlog::weighted_cost;
use fairq_sched::contract::{Dequeue, Discipline, Flow, Handle, Held, Offer};
use fairq_sched::packet::{Fates, Header, Packet};
use fairq_sched::units::Time;
use std::collections::VecDeque;
use std::hint::select_unpredictable;

/// Nothing: the answer is made from a count, and what is offered goes nowhere. What it costs is the loop around it.
pub(super) struct Nothing {
    flows: u64,
    turn: u64,
    /// For the ledger's check, which only debug builds make.
    held: Held,
}

impl Nothing {
    pub(super) const fn new(flows: u32) -> Self {
        Self { flows: flows as u64, turn: 0, held: Held { packets: 0, bytes: 0 } }
    }
}

impl Offer for Nothing {
    fn offer(&mut self, _now: Time, packet: Packet, _flow: Flow, _fates: &mut Fates) -> Option<Handle> {
        if cfg!(debug_assertions) {
            self.held.packets += 1;
            self.held.bytes += u64::from(packet.length);
        }
        None
    }
}

impl Discipline for Nothing {
    fn enqueue(&mut self, _now: Time, _packet: Packet, _header: &Header, _fates: &mut Fates) -> Option<Handle> {
        unreachable!("a floor is offered slots")
    }

    fn dequeue(&mut self, now: Time, _fates: &mut Fates) -> Dequeue {
        if cfg!(debug_assertions) {
            self.held.packets -= 1;
        }
        self.turn = if self.turn + 1 == self.flows { 0 } else { self.turn + 1 };
        // Of no bytes: whatever lengths were offered, the accounts are right.
        Dequeue::Send(Packet::new(self.turn, now, 0))
    }

    fn held(&self) -> Held {
        self.held
    }
}

/// Floor A: a ring of packets for each flow, the flows served in turn, a packet each.
#[derive(Default)]
pub(super) struct Turns {
    rings: Vec<VecDeque<Packet>>,
    turns: VecDeque<u32>,
}

impl Offer for Turns {
    fn offer(&mut self, _now: Time, packet: Packet, flow: Flow, _fates: &mut Fates) -> Option<Handle> {
        let slot = flow.slot as usize;
        if slot >= self.rings.len() {
            self.rings.resize_with(slot + 1, VecDeque::new);
        }
        let ring = &mut self.rings[slot];
        if ring.is_empty() {
            self.turns.push_back(flow.slot);
        }
        ring.push_back(packet);
        None
    }
}

impl Discipline for Turns {
    fn enqueue(&mut self, _now: Time, _packet: Packet, _header: &Header, _fates: &mut Fates) -> Option<Handle> {
        unreachable!("a floor is offered slots")
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        let Some(slot) = self.turns.pop_front() else { return Dequeue::Empty };
        let ring = &mut self.rings[slot as usize];
        let Some(packet) = ring.pop_front() else { return Dequeue::Empty };
        if !ring.is_empty() {
            self.turns.push_back(slot);
        }
        Dequeue::Send(packet)
    }

    fn held(&self) -> Held {
        held(self.rings.iter())
    }
}

/// Floor B: a ring of packets for each flow, the flow with the least finish number served next, found by a heap of
/// arity four with one entry for each backlogged flow.
#[derive(Default)]
pub(super) struct Finishes {
    flows: Vec<Tagged>,
    /// Finish number of the head and flow; the children of place p are 4p + 1 … 4p + 4.
    heap: Vec<(u64, u32)>,
    /// The finish number of the packet sent last.
    virtual_time: u64,
}

/// A flow and its finish number.
#[derive(Default)]
struct Tagged {
    ring: VecDeque<Packet>,
    /// Of its head, or of the last packet sent.
    finish: u64,
    weight: u32,
}

const ARITY: usize = 4;

impl Finishes {
    /// Puts `entry` at the hole at the top, or below where it belongs.
    fn sift_down(&mut self, entry: (u64, u32)) {
        let heap = &mut self.heap[..];
        let mut hole = 0;
        // The least of four is selected, not branched on: nobody can guess it.
        while let Some(&[a, b, c, d]) = heap[hole * ARITY + 1..].first_chunk() {
            let first = hole * ARITY + 1;
            let (left, at_left) = select_unpredictable(b.0 < a.0, (b, first + 1), (a, first));
            let (right, at_right) = select_unpredictable(d.0 < c.0, (d, first + 3), (c, first + 2));
            let (least, at) = select_unpredictable(right.0 < left.0, (right, at_right), (left, at_left));
            if least.0 >= entry.0 {
                heap[hole] = entry;
                return;
            }
            heap[hole] = least;
            hole = at;
            if hole * ARITY + 1 > heap.len() {
                break;
            }
        }
        // Fewer than four children, at the end of the heap.
        let first = hole * ARITY + 1;
        let rest = heap.get(first..).unwrap_or_default();
        if let Some((at, least)) = rest.iter().enumerate().min_by_key(|(_, child)| child.0)
            && least.0 < entry.0
        {
            let at = first + at;
            heap[hole] = heap[at];
            hole = at;
        }
        heap[hole] = entry;
    }

    fn push(&mut self, entry: (u64, u32)) {
        let mut hole = self.heap.len();
        self.heap.push(entry);
        while hole > 0 && self.heap[(hole - 1) / ARITY].0 > entry.0 {
            self.heap[hole] = self.heap[(hole - 1) / ARITY];
            hole = (hole - 1) / ARITY;
        }
        self.heap[hole] = entry;
    }
}

impl Offer for Finishes {
    fn offer(&mut self, _now: Time, packet: Packet, flow: Flow, _fates: &mut Fates) -> Option<Handle> {
        let slot = flow.slot as usize;
        if slot >= self.flows.len() {
            self.flows.resize_with(slot + 1, Tagged::default);
        }
        let tagged = &mut self.flows[slot];
        tagged.ring.push_back(packet);
        if tagged.ring.len() == 1 {
            tagged.weight = flow.weight.thousandths() / 1000;
            tagged.finish = tagged.finish.max(self.virtual_time) + weighted_cost(packet.length, tagged.weight);
            let entry = (tagged.finish, flow.slot);
            self.push(entry);
        }
        None
    }
}

impl Discipline for Finishes {
    fn enqueue(&mut self, _now: Time, _packet: Packet, _header: &Header, _fates: &mut Fates) -> Option<Handle> {
        unreachable!("a floor is offered slots")
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        let Some(&(finish, slot)) = self.heap.first() else { return Dequeue::Empty };
        self.virtual_time = finish;
        let tagged = &mut self.flows[slot as usize];
        let Some(packet) = tagged.ring.pop_front() else { return Dequeue::Empty };
        if let Some(next) = tagged.ring.front() {
            tagged.finish += weighted_cost(next.length, tagged.weight);
            let entry = (tagged.finish, slot);
            self.sift_down(entry);
        } else if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
        Dequeue::Send(packet)
    }

    fn held(&self) -> Held {
        held(self.flows.iter().map(|tagged| &tagged.ring))
    }
}

/// What waits in `rings`.
fn held<'a>(rings: impl Iterator<Item = &'a VecDeque<Packet>>) -> Held {
    let packets = rings.flatten();
    packets.fold(Held::default(), |held, packet| Held {
        packets: held.packets + 1,
        bytes: held.bytes + u64::from(packet.length),
    })
}
