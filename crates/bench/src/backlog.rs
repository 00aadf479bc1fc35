//! A discipline whose flows always have two packets waiting: each packet that leaves is replaced by
//! one of the same flow.

use super::fairness::Fairness;
use super::header;
use super::mix::{LENGTH_MAX, Mix};
use fairq_sched::contract::{Dequeue, Discipline};
use fairq_sched::packet::{Fates, Header, Outcome, Packet};
use fairq_sched::units::Time;

/// A byte at 10 Gbit/s.
const PS_PER_BYTE: u64 = 800;
/// The number of waiting packets of each flow.
const WAITING: u64 = 2;

/// Flows with a steady backlog, whatever the discipline.
pub trait Backlog {
    /// Sends one packet of each flow through, one after another: then every flow is known, and no
    /// packet waits.
    fn touch(&mut self);

    /// Makes two packets of each flow wait.
    fn fill(&mut self);

    /// Removes a packet and adds one of its flow, `packets` times. Returns the number of packets
    /// sent. If a packet is dropped, another is offered, once. If none may leave now, the
    /// discipline is asked again at the time that it named, or is offered a packet of the next
    /// flow.
    fn exchange(&mut self, packets: u64) -> u64;

    /// Packets dropped so far.
    fn dropped(&self) -> u64;

    /// The worst unfairness between flows over the next `packets` packets, in greatest packets;
    /// `None` if a flow was not backlogged throughout.
    fn unfairness(&mut self, packets: u64) -> Option<f64>;
}

/// A packet that left.
#[derive(Clone, Copy)]
struct Sent {
    slot: u32,
    length: u32,
}

/// The loop around a discipline.
pub(super) struct Loop<D> {
    discipline: D,
    headers: Vec<Header>,
    mix: Mix,
    flows: u32,
    fates: Fates,
    now: Time,
    /// Packets offered.
    offered: u64,
    /// The next flow, where none has just left.
    turn: u32,
    dropped: u64,
}

impl<D: Discipline> Loop<D> {
    /// A loop in which no packet waits yet. `flows` is a power of two.
    pub(super) fn new(discipline: D, flows: u32, mix: Mix) -> Self {
        let headers = (0..flows).map(header).collect();
        Self { discipline, headers, mix, flows, fates: Fates::new(), now: Time::ZERO, offered: 0, turn: 0, dropped: 0 }
    }

    #[inline]
    fn offer(&mut self, slot: u32) {
        self.offered += 1;
        let mut packet = Packet::new(u64::from(slot), self.now, self.mix.length(self.offered));
        packet.deadline = self.now + Time(1_000_000_000);
        packet.remaining = packet.length;
        self.discipline.enqueue(self.now, packet, &self.headers[slot as usize], &mut self.fates);
    }

    /// The next flow in an order that does not follow memory.
    fn next_turn(&mut self) -> u32 {
        // The stride is odd, so that it is coprime to any power of two.
        self.turn = (self.turn + 40_503) & (self.flows - 1);
        self.turn
    }

    /// Removes a packet, if one may leave, and adds one.
    #[inline]
    fn step(&mut self) -> Option<Sent> {
        let (slot, sent) = match self.discipline.dequeue(self.now, &mut self.fates) {
            Dequeue::Send(packet) => {
                self.now = self.now + Time(u64::from(packet.length) * PS_PER_BYTE);
                (packet.token as u32, Some(Sent { slot: packet.token as u32, length: packet.length }))
            }
            Dequeue::NotBefore(time) => {
                self.now = time;
                return None;
            }
            Dequeue::Empty => {
                self.now = self.now + Time(u64::from(LENGTH_MAX) * PS_PER_BYTE);
                (self.next_turn(), None)
            }
        };
        self.offer(slot);
        if !self.fates.is_empty() {
            self.replace_dropped();
        }
        sent
    }

    #[cold]
    fn replace_dropped(&mut self) {
        // Replacements that are dropped are not replaced again: a discipline may refuse them for a
        // long time.
        for at in 0..self.fates.len() {
            let fate = self.fates[at];
            if let Outcome::Dropped(_) = fate.outcome {
                self.dropped += 1;
                self.offer(fate.packet.token as u32);
            }
        }
        self.fates.clear();
    }
}

impl<D: Discipline> Backlog for Loop<D> {
    fn touch(&mut self) {
        for slot in 0..self.flows {
            self.offer(slot);
            // The second call tells the discipline that the line is idle.
            for _ in 0..2 {
                self.now = self.now + Time(u64::from(LENGTH_MAX) * PS_PER_BYTE);
                self.discipline.dequeue(self.now, &mut self.fates);
            }
        }
        self.fates.clear();
    }

    fn fill(&mut self) {
        for _ in 0..WAITING * u64::from(self.flows) {
            let slot = self.next_turn();
            self.offer(slot);
        }
        self.fates.clear();
    }

    fn exchange(&mut self, packets: u64) -> u64 {
        (0..packets).filter(|_| self.step().is_some()).count() as u64
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }

    fn unfairness(&mut self, packets: u64) -> Option<f64> {
        let mut fairness = Fairness::new(self.flows, self.mix);
        let dropped = self.dropped;
        for _ in 0..packets {
            if let Some(Sent { slot, length }) = self.step() {
                fairness.sent(slot, length);
            }
        }
        (self.dropped == dropped).then(|| fairness.worst())
    }
}
