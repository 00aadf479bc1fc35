//! A discipline kept busy through headers, classification included: two packets for each of its
//! flows.

use super::{RATE, header};
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fates, Header, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::units::Time;

/// A discipline with a steady backlog of two packets for each of its flows.
pub struct Busy {
    queue: Box<dyn Discipline>,
    headers: Vec<Header>,
    fates: Fates,
    now: Time,
    gap: Time,
    token: u64,
    turn: usize,
}

impl Busy {
    /// `queue` behind a line of 10 Gbit/s, with `flows` flows backlogged.
    #[must_use]
    pub fn new(queue: &Queue, flows: u32) -> Self {
        let mut busy = Self {
            queue: queue.build(&Line::new(RATE)),
            headers: (0..flows).map(header).collect(),
            fates: Fates::new(),
            now: Time::ZERO,
            gap: RATE.time_of_bits(8000),
            token: 0,
            turn: 0,
        };
        for _ in 0..2 * flows {
            busy.enqueue();
        }
        busy
    }

    fn enqueue(&mut self) {
        // A stride that is coprime to any power of two mixes the order of the flows.
        self.turn = (self.turn + 40_503) % self.headers.len();
        self.token += 1;
        let packet = Packet::new(self.token, self.now, 1000);
        self.queue.enqueue(self.now, packet, &self.headers[self.turn], &mut self.fates);
    }

    /// Removes a packet and adds one, `packets` times. Returns the bytes that left.
    pub fn exchange(&mut self, packets: u64) -> u64 {
        let mut bytes = 0;
        for _ in 0..packets {
            self.now = self.now + self.gap;
            if let Dequeue::Send(packet) = self.queue.dequeue(self.now, &mut self.fates) {
                bytes += u64::from(packet.length);
            }
            self.enqueue();
            self.fates.clear();
        }
        bytes
    }
}
