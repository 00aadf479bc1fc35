//! The stage of a transport with rules of its own: its sender and its receiver as the network
//! drives them, by packets, acknowledgements and timers, over the same ideal path.
//!
//! A round lasts as long as a round trip of the empty path, or a second if no packet that is sent
//! in it arrives. A round in which no packet is sent, because the sender waits for a timer, lasts
//! until a round trip after the next packet. The event of a round happens to packets sent in it,
//! whose acknowledgements arrive in the next; losses hit the first of them. Marks are set whether
//! packets accept them or not; a tenth means every tenth packet.

use super::{Event, LENGTH, Path, Round, TIMEOUT};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use fairq_sim::transport::messages::{Acknowledgement, Arrival, Transmission};
use fairq_sim::transport::receiver::Receiver;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::{Connection, Terms};
use fairq_sim::transport::{Ends, Sender};
use std::collections::VecDeque;
use std::sync::Arc;

/// Both ends of a transport, and the packets between them.
pub struct Whole {
    sender: Box<dyn Sender>,
    receiver: Box<dyn Receiver>,
    path: Path,
    now: Time,
    /// When the line has sent all packets that it was given.
    free: Time,
    packets: VecDeque<(Time, Arrival)>,
    answers: VecDeque<(Time, Acknowledgement)>,
    /// The number of packets over which marks were spread.
    passed: u64,
    round: Round,
}

impl Whole {
    /// The stage before the first round.
    #[must_use]
    pub fn new(settings: TransportSettings, path: Path) -> Self {
        let settings = Arc::new(settings);
        let connection = Arc::new(Terms::new(Connection::default(), Arc::clone(&settings)));
        let Ends { sender, receiver } = settings.build(Setup { supply: Supply::empty(), connection, seed: 1 });
        let (packets, answers) = (VecDeque::new(), VecDeque::new());
        let (now, free, round) = (Time::ZERO, Time::ZERO, Round::of(0));
        Self { sender, receiver, path, now, free, packets, answers, passed: 0, round }
    }

    /// Runs another round.
    pub fn round(&mut self, event: Event) -> Round {
        if let Event::Rest(seconds) = event {
            self.give(0);
            self.run_until(self.now.saturating_add(Time::from_s(seconds)));
        }
        let number = self.round.number;
        self.round = Round { event, round_trip: self.path.round_trip, ..Round::of(number) };
        self.give(if let Event::Offers(packets) = event { packets } else { u64::MAX });
        let lasts = if let Event::Timeout { .. } = event { TIMEOUT } else { self.path.round_trip };
        self.run_until(self.now.saturating_add(lasts));
        if self.round.sent == 0 {
            while self.round.sent == 0 && self.step(Time::NEVER) {}
            self.run_until(self.now.saturating_add(lasts));
        }
        let mut inner = Vec::new();
        self.sender.inspect(&mut |name, value| inner.push((name.to_owned(), value)));
        let of = |wanted: &str| inner.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
        let window = of("window_packets").unwrap_or(f64::NAN);
        let bits = f64::from(8 * LENGTH);
        let pace = of("rate_bit_per_s").map(|rate| rate / bits).or(of("gap_s").map(|gap| 1.0 / gap));
        let ended = Round { now: self.now, window, pace, inner, ..self.round.clone() };
        self.round.number += 1;
        ended
    }

    /// The application offers `packets` packets.
    fn give(&mut self, packets: u64) {
        *self.sender.supply() = Supply::Ready { length: LENGTH, left: packets };
        self.send();
    }

    /// Runs all events before `end`.
    fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.now = end;
    }

    /// Runs the next event if it is before `end`. Returns whether it was. Equal times go as in the
    /// network: packets, acknowledgements, timers.
    fn step(&mut self, end: Time) -> bool {
        let packet = self.packets.front().map_or(Time::NEVER, |(time, _)| *time);
        let answer = self.answers.front().map_or(Time::NEVER, |(time, _)| *time);
        let timer = self.sender.deadline().min(self.receiver.deadline()).max(self.now);
        let next = packet.min(answer).min(timer);
        if next >= end {
            return false;
        }
        self.now = next;
        if packet == next {
            if let Some((_, arrival)) = self.packets.pop_front() {
                let (_, answer) = self.receiver.receive(next, &arrival);
                self.answer(answer);
            }
            return true;
        }
        if answer == next {
            if let Some((_, answer)) = self.answers.pop_front() {
                self.sender.acknowledge(next, &answer);
            }
        } else {
            if self.sender.deadline() <= next {
                self.sender.wake(next);
            }
            if self.receiver.deadline() <= next {
                let answer = self.receiver.wake(next);
                self.answer(answer);
            }
        }
        self.send();
        true
    }

    fn answer(&mut self, answer: Option<Acknowledgement>) {
        let back = self.path.round_trip.saturating_sub(self.there());
        self.answers.extend(answer.map(|answer| (self.now.saturating_add(back), answer)));
    }

    /// The one-way delay to the receiver of a packet that does not wait.
    fn there(&self) -> Time {
        Time(self.path.round_trip.0 / 2)
    }

    fn send(&mut self) {
        while let Some(packet) = self.sender.poll(self.now) {
            self.round.sent += 1;
            let is_lost = match self.round.event {
                Event::Loss(packets) => self.round.sent <= packets,
                Event::Timeout { .. } => true,
                _ => false,
            };
            match self.wait() {
                Some(wait) if !is_lost => self.carry(&packet, wait),
                _ => self.round.lost += 1,
            }
        }
    }

    fn carry(&mut self, packet: &Transmission, wait: Time) {
        let is_marked = if let Event::Marks(percent) = self.round.event {
            self.passed += 1;
            self.passed * percent / 100 > (self.passed - 1) * percent / 100
        } else {
            false
        };
        self.round.marked += u64::from(is_marked);
        self.round.round_trip = self.path.round_trip.saturating_add(wait);
        let arrival = Arrival {
            marks: if is_marked { Marks::DEC.with(Marks::CE) } else { Marks::NONE },
            flags: packet.flags,
            round_trip: packet.round_trip,
            ..Arrival::of(packet.sequence, packet.length, self.now)
        };
        let arrives = self.now.saturating_add(wait).saturating_add(self.there());
        self.packets.push_back((arrives, arrival));
    }

    /// How long a packet waits for the line; `None` if there is no room for it.
    fn wait(&mut self) -> Option<Time> {
        let Some(line) = self.path.line else { return Some(Time::ZERO) };
        let each = Time::from_s_f64(1.0 / line.packets_per_s);
        let wait = self.free.saturating_sub(self.now);
        if wait.0.div_ceil(each.0) > line.buffer {
            return None;
        }
        self.free = self.now.saturating_add(wait).saturating_add(each);
        Some(wait)
    }
}
