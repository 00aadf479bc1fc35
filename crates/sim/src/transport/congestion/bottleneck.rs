//! A bottleneck for the tests of congestion controls: one line of constant rate, one first-come
//! queue, one base round trip.
//!
//! The flows have data without end, so that the window or the pace limits them at all times. No
//! packet is sent again: a lost packet is found by the acknowledgement of a later one, and new data
//! continues. So the model shows a congestion control without a sender's recovery. The same
//! congestion controls over the simulator's sender are tested elsewhere.

use super::{Acked, Congested, Congestion, LostPacket, RateSample};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// The line and its queue.
pub(super) struct Bottleneck {
    /// Packets a second.
    pub(super) rate: f64,
    /// The round trip of a packet that does not wait.
    pub(super) round_trip: Time,
    /// The greatest number of waiting packets.
    pub(super) buffer: u64,
    /// A packet that finds more than this number of packets before it is marked.
    pub(super) mark_above: Option<u64>,
    /// Each packet whose number on the line is divisible by this is marked.
    pub(super) mark_every: Option<u64>,
    /// Each packet whose number on the line is divisible by this is dropped.
    pub(super) drop_every: Option<u64>,
}

/// What was measured from a given time on.
#[derive(Default)]
pub(super) struct Seen {
    /// Packets delivered, by flow.
    pub(super) delivered: Vec<u64>,
    /// Packets dropped.
    pub(super) dropped: u64,
    /// Packets marked.
    pub(super) marked: u64,
    /// The sums over delivered packets: the packets ahead of each at its arrival, and the window at
    /// its acknowledgement.
    queue: f64,
    window: f64,
    /// The least number of packets ahead of one.
    pub(super) queue_least: f64,
    /// The greatest number of packets ahead of one.
    pub(super) queue_most: f64,
}

impl Seen {
    fn all(&self) -> f64 {
        self.delivered.iter().sum::<u64>() as f64
    }

    /// The mean number of packets ahead of a packet.
    pub(super) fn queue_mean(&self) -> f64 {
        self.queue / self.all()
    }

    /// The mean window over acknowledgements.
    pub(super) fn window_mean(&self) -> f64 {
        self.window / self.all()
    }
}

/// A packet on its way, with its sender's notes.
struct Flight {
    back: Time,
    departed: Time,
    flow: usize,
    sequence: u64,
    is_marked: bool,
    sent: Time,
    first_sent: Time,
    delivered: u64,
    delivered_at: Time,
    flight: u64,
    lost: u64,
}

/// A sender: a congestion control and the state for its records.
struct Flow<'a> {
    law: &'a mut dyn Congestion,
    next: u64,
    expected: u64,
    flight: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    round_ends: u64,
    recovered_at: u64,
    is_recovering: bool,
    smoothed: Time,
    least: Time,
    paced_until: Time,
}

const LENGTH: u32 = 1000;

impl Bottleneck {
    /// A line of `rate` packets a second with a queue that never fills.
    pub(super) fn new(rate: f64, round_trip: Time) -> Self {
        Self { rate, round_trip, buffer: u64::MAX, mark_above: None, mark_every: None, drop_every: None }
    }

    /// Runs the congestion controls until `end`; measurement begins at `from`. The flows start one
    /// millisecond apart.
    pub(super) fn run(&self, laws: &mut [&mut dyn Congestion], from: Time, end: Time) -> Seen {
        self.watched(laws, from, end, &mut |_, _| ())
    }

    /// As `run`; `watch` is called after each acknowledgement with the window and the pace.
    pub(super) fn watched(
        &self,
        laws: &mut [&mut dyn Congestion],
        from: Time,
        end: Time,
        watch: &mut dyn FnMut(&Acked, &dyn Congestion),
    ) -> Seen {
        let mut flows: Vec<Flow> = laws.iter_mut().enumerate().map(|(i, law)| Flow::new(*law, i as u64)).collect();
        let mut seen =
            Seen { delivered: vec![0; flows.len()], queue_least: f64::INFINITY, queue_most: 0.0, ..Seen::default() };
        let mut line = Line { model: self, ends: Time::ZERO, offered: 0, flights: VecDeque::new() };
        loop {
            let back = line.flights.front().map_or(Time::NEVER, |f| f.back);
            let wake = flows.iter().map(Flow::wakes).min().expect("a flow");
            let now = back.min(wake);
            assert!(now < Time::NEVER, "a flow stands still: all of its packets were lost");
            if now >= end {
                return seen;
            }
            if back <= wake {
                let flight = line.flights.pop_front().expect("its time is the front's");
                let flow = &mut flows[flight.flow];
                let acked = flow.acknowledge(now, &flight);
                watch(&acked, flow.law);
                if now >= from {
                    let queue = (now - flight.sent).saturating_sub(self.round_trip).as_s() * self.rate;
                    seen.delivered[flight.flow] += 1;
                    seen.marked += u64::from(flight.is_marked);
                    seen.queue += queue;
                    seen.window += flow.law.window();
                    seen.queue_least = seen.queue_least.min(queue);
                    seen.queue_most = seen.queue_most.max(queue);
                }
            }
            for (index, flow) in flows.iter_mut().enumerate() {
                while flow.wakes() <= now {
                    let is_dropped = line.carry(flow.send(now, index), now);
                    seen.dropped += u64::from(is_dropped && now >= from);
                }
            }
        }
    }
}

/// The line and the packets whose acknowledgements have not arrived.
struct Line<'a> {
    model: &'a Bottleneck,
    /// When the line has sent all packets that it was given.
    ends: Time,
    offered: u64,
    flights: VecDeque<Flight>,
}

impl Line<'_> {
    /// Takes a packet. Returns whether it is dropped.
    fn carry(&mut self, mut flight: Flight, now: Time) -> bool {
        let service = Time::from_s_f64(1.0 / self.model.rate);
        let waiting = (self.ends.saturating_sub(now).as_s() * self.model.rate).ceil() as u64;
        self.offered += 1;
        if waiting > self.model.buffer || self.model.drop_every.is_some_and(|n| self.offered.is_multiple_of(n)) {
            return true;
        }
        flight.is_marked = self.model.mark_above.is_some_and(|k| waiting > k)
            || self.model.mark_every.is_some_and(|n| self.offered.is_multiple_of(n));
        self.ends = self.ends.max(now) + service;
        flight.departed = self.ends;
        flight.back = self.ends + self.model.round_trip - service;
        self.flights.push_back(flight);
        false
    }
}

impl<'a> Flow<'a> {
    fn new(law: &'a mut dyn Congestion, index: u64) -> Self {
        Self {
            law,
            next: 0,
            expected: 0,
            flight: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            round_ends: 0,
            recovered_at: 0,
            is_recovering: false,
            smoothed: Time::ZERO,
            least: Time::NEVER,
            paced_until: Time::from_ms(index),
        }
    }

    /// When it may send the next packet, as far as it knows.
    fn wakes(&self) -> Time {
        if self.flight >= (self.law.window() as u64).max(1) {
            return Time::NEVER;
        }
        let ahead = self
            .law
            .pace()
            .map_or(0, |pace| u64::from(self.law.burst().max(1) - 1) * pace.time_of_bits(u64::from(LENGTH) * 8).0);
        self.paced_until.saturating_sub(Time(ahead))
    }

    fn send(&mut self, now: Time, index: usize) -> Flight {
        if self.law.watches_sending() {
            self.law.sent(now, self.flight);
        }
        if self.flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let flight = Flight {
            back: Time::NEVER,
            departed: Time::NEVER,
            flow: index,
            sequence: self.next,
            is_marked: false,
            sent: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            flight: self.flight + 1,
            lost: self.lost,
        };
        self.next += 1;
        self.flight += 1;
        let gap = self.law.pace().map_or(Time::ZERO, |pace| pace.time_of_bits(u64::from(LENGTH) * 8));
        self.paced_until = self.paced_until.max(now) + gap;
        flight
    }

    fn acknowledge(&mut self, now: Time, flight: &Flight) -> Acked {
        let before = self.flight;
        let sample = now - flight.sent;
        self.smoothed = if self.smoothed == Time::ZERO { sample } else { Time((self.smoothed.0 * 7 + sample.0) / 8) };
        self.least = self.least.min(sample);
        let lost = flight.sequence - self.expected;
        self.expected = flight.sequence + 1;
        self.delivered += 1;
        self.delivered_at = now;
        self.first_sent = flight.sent;
        self.lost += lost;
        self.flight -= 1 + lost;
        let begins_round = flight.delivered >= self.round_ends;
        if begins_round {
            self.round_ends = self.delivered;
        }
        if self.is_recovering && flight.sequence >= self.recovered_at {
            self.is_recovering = false;
            self.law.recovered(now);
        }
        let interval = (flight.sent - flight.first_sent).max(now - flight.delivered_at);
        let rate = RateSample {
            packets_per_s: (self.delivered - flight.delivered) as f64 / interval.as_s(),
            delivered_before: flight.delivered,
            delivered: self.delivered,
            interval,
            is_application_limited: false,
            flight_at_send: flight.flight,
            lost: self.lost - flight.lost,
            ahead: None,
        };
        let acked = Acked {
            marked: u64::from(flight.is_marked),
            marks: if flight.is_marked { Marks::CE } else { Marks::NONE },
            length: LENGTH,
            round_trip: Some(sample),
            one_way: Some(flight.departed - flight.sent),
            smoothed: self.smoothed,
            least: self.least,
            flight: before,
            in_flight: self.flight,
            is_recovering: self.is_recovering,
            begins_round,
            rate: Some(rate),
            ..Acked::of(now, 1)
        };
        self.tell_loss(now, lost, before, flight);
        self.law.acknowledged(&acked);
        acked
    }

    /// Tells of `lost` packets, which were sent just before that of `overtaking`.
    fn tell_loss(&mut self, now: Time, lost: u64, flight: u64, overtaking: &Flight) {
        if lost == 0 {
            return;
        }
        let congested = Congested {
            packets: lost,
            in_flight: self.flight,
            delivered: 1,
            smoothed: self.smoothed,
            least: self.least,
            ..Congested::of(now, flight)
        };
        self.law.found_lost(&congested);
        let known = self.lost - lost - overtaking.lost;
        for number in 1..=lost {
            self.law.lost_packet(
                now,
                &LostPacket {
                    delivered_before: overtaking.delivered,
                    flight_at_send: overtaking.flight,
                    lost: known + number,
                    is_application_limited: false,
                },
            );
        }
        if overtaking.sequence >= self.recovered_at {
            self.law.lost(&congested);
            (self.is_recovering, self.recovered_at) = (true, self.next);
        }
    }
}
