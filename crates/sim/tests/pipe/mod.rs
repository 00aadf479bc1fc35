//! A sender and its receiver over a pipe that loses, marks and delays given packets.

#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(unreachable_pub, reason = "a module of test programs")]

use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use fairq_sim::transport::Ends;
use fairq_sim::transport::messages::{Acknowledgement, Arrival, Transmission};
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::Terms;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub const TRIP: Time = Time::from_ms(100);

/// A sender, its receiver, and a pipe with a round trip of 100 ms that carries a packet each
/// `spacing`.
pub struct Pipe {
    pub ends: Ends,
    pub now: Time,
    pub spacing: Time,
    free: Time,
    /// By packet: how many copies of it are lost.
    pub losses: BTreeMap<u64, u32>,
    /// By packet: how long the pipe stalls before it, which delays all packets behind it.
    pub delays: BTreeMap<u64, Time>,
    /// By packet: how much later than others its first copy arrives.
    pub late: BTreeMap<u64, Time>,
    /// Packets that are marked, if they accept it.
    pub marked: BTreeSet<u64>,
    packets: BTreeMap<(Time, u64), Arrival>,
    answers: BTreeMap<(Time, u64), Acknowledgement>,
    /// What the receiver sent, and when.
    pub answered: Vec<(Time, Acknowledgement)>,
    count: u64,
    /// Transmissions: time, packet, whether it is a retransmission.
    pub sent: Vec<(Time, u64, bool)>,
}

impl Pipe {
    pub fn new(transport: serde_json::Value, connection: serde_json::Value) -> Self {
        let settings: Arc<TransportSettings> = Arc::new(serde_json::from_value(transport).expect("a transport"));
        let connection = serde_json::from_value(connection).expect("a connection");
        let connection = Arc::new(Terms::new(connection, Arc::clone(&settings)));
        let supply = Supply::Ready { length: 1000, left: 0 };
        Self {
            ends: settings.build(Setup { supply, connection, seed: 1 }),
            now: Time::ZERO,
            spacing: Time(10_000_000),
            free: Time::ZERO,
            losses: BTreeMap::new(),
            delays: BTreeMap::new(),
            late: BTreeMap::new(),
            marked: BTreeSet::new(),
            packets: BTreeMap::new(),
            answers: BTreeMap::new(),
            answered: Vec::new(),
            count: 0,
            sent: Vec::new(),
        }
    }

    /// The application offers `packets` more packets.
    pub fn give(&mut self, packets: u64) -> &mut Self {
        if let Supply::Ready { left, .. } = self.ends.sender.supply() {
            *left += packets;
        }
        self.send();
        self
    }

    fn send(&mut self) {
        while let Some(packet) = self.ends.sender.poll(self.now) {
            self.sent.push((self.now, packet.sequence, packet.is_retransmission));
            let pause = self.delays.remove(&packet.sequence).unwrap_or(Time::ZERO);
            self.free = self.free.max(self.now) + self.spacing + pause;
            if let Some(copies) = self.losses.get_mut(&packet.sequence).filter(|copies| **copies > 0) {
                *copies -= 1;
                continue;
            }
            let accepts = self.ends.sender.accepts().of(&packet);
            let marks = if self.marked.contains(&packet.sequence) { Marks::CE.within(accepts) } else { Marks::NONE };
            let Transmission { flags, round_trip, .. } = packet;
            let arrival = Arrival { marks, flags, round_trip, ..Arrival::of(packet.sequence, packet.length, self.now) };
            self.count += 1;
            let late = self.late.remove(&packet.sequence).unwrap_or(Time::ZERO);
            self.packets.insert((self.free + Time(TRIP.0 / 2) + late, self.count), arrival);
        }
    }

    /// Continues until `end`.
    pub fn run(&mut self, end: Time) -> &mut Self {
        loop {
            let first = |key: Option<&(Time, u64)>| key.map_or(Time::NEVER, |key| key.0);
            let (packet, answer) = (first(self.packets.keys().next()), first(self.answers.keys().next()));
            let timer = self.ends.sender.deadline().min(self.ends.receiver.deadline());
            let next = packet.min(answer).min(timer);
            if next > end {
                self.now = end;
                return self;
            }
            self.now = self.now.max(next);
            let mut answers = None;
            if packet == next {
                let (_, arrival) = self.packets.pop_first().expect("it is there");
                answers = self.ends.receiver.receive(self.now, &arrival).1;
            } else if answer == next {
                let (_, answer) = self.answers.pop_first().expect("it is there");
                self.ends.sender.acknowledge(self.now, &answer);
            } else if self.ends.receiver.deadline() == next {
                answers = self.ends.receiver.wake(self.now);
            } else {
                self.ends.sender.wake(self.now);
            }
            self.count += 1;
            self.answered.extend(answers.iter().map(|answer| (self.now, *answer)));
            self.answers.extend(answers.map(|answer| ((self.now + Time(TRIP.0 / 2), self.count), answer)));
            self.send();
        }
    }

    pub fn run_ms(&mut self, milliseconds: u64) -> &mut Self {
        self.run(self.now + Time::from_ms(milliseconds))
    }

    pub fn value(&self, wanted: &str) -> f64 {
        let mut value = f64::NAN;
        self.ends.sender.inspect(&mut |name, found| {
            if name == wanted {
                value = found;
            }
        });
        value
    }

    pub fn window(&self) -> f64 {
        self.value("window_packets")
    }

    /// By packet that was sent again: how often.
    pub fn again(&self) -> BTreeMap<u64, u32> {
        let mut again = BTreeMap::new();
        for (_, sequence, _) in self.sent.iter().filter(|(_, _, is_again)| *is_again) {
            *again.entry(*sequence).or_insert(0) += 1;
        }
        again
    }
}

/// Reno with a window of `window` that does not grow in the first round trip, with further settings
/// of the connection.
pub fn reno(window: u64, mut connection: serde_json::Value) -> Pipe {
    connection["initial_window"] = window.into();
    Pipe::new(json!({"kind": "reno", "first_threshold": 1}), connection)
}
