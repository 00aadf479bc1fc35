//! A line of fixed rate in front of any discipline, and what became of each packet.
//!
//! Arrivals of one instant are all offered before the line asks for a packet, and before a
//! transmission that ends at that instant is over.

use crate::probe::Probe;
use fairq_sched::contract::{Discipline, Handle};
use fairq_sched::invariant::{Invariant, Tally};
use fairq_sched::packet::{Address, Header, Marks, Packet, Reason};
use fairq_sched::port::{Port, Sink};
use fairq_sched::service::Service;
use fairq_sched::units::{Rate, Time};

/// A packet yet to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// Its flow.
    pub flow: u32,
    /// Its length in bytes.
    pub length: u32,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It waits, or is being sent.
    Inside,
    /// Its last bit was sent.
    Sent {
        /// When the first bit was sent.
        start: Time,
        /// When the last bit was sent.
        end: Time,
    },
    /// It was dropped.
    Dropped(Time, Reason),
    /// Its owner took it out.
    Removed(Time),
}

/// A packet and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journey {
    /// The arrival of the packet.
    pub arrival: Arrival,
    /// The end of the packet: sent, dropped or removed.
    pub end: End,
    /// The marks it was given.
    pub marks: Marks,
    /// The handle by which the packet can be taken out.
    pub handle: Option<Handle>,
    /// How often its transmission was interrupted.
    pub interruptions: u32,
}

impl Journey {
    /// When its last bit was sent, if it was.
    #[must_use]
    pub const fn departure(&self) -> Option<Time> {
        match self.end {
            End::Sent { end, .. } => Some(end),
            _ => None,
        }
    }
}

/// A line of a fixed rate: an end is `busy since + bits · 10¹² / rate`, to the nearest
/// picosecond. The bits of an interrupted transmission count whole; the part of a bit that was on
/// the line is sent first by what comes next at once, so that interruptions cost the line no time.
struct Steady {
    rate: Rate,
    busy_since: Time,
    /// Bits sent since then, with those of the present transmission.
    busy_bits: u64,
    /// The bits of the present transmission.
    bits: u64,
    /// When the last transmission was interrupted, if none has begun since.
    interrupted: Option<Time>,
}

impl Service for Steady {
    fn begin(&mut self, now: Time) {
        if self.interrupted.take() != Some(now) {
            (self.busy_since, self.busy_bits) = (now, 0);
        }
    }

    fn send(&mut self, bits: u64) -> Time {
        (self.bits, self.busy_bits) = (bits, self.busy_bits + bits);
        self.busy_since + self.rate.time_of_bits(self.busy_bits)
    }

    fn interrupt(&mut self, now: Time, _end: Time) -> u32 {
        let before = self.busy_bits - self.bits;
        let sent = self.rate.bits_in(now - self.busy_since).saturating_sub(before);
        (self.busy_bits, self.interrupted) = (before + sent, Some(now));
        (self.bits - sent) as u32
    }
}

/// The line and what stands before it.
pub struct Driver<D> {
    /// What became of each packet, by its number in order of arrival, which is its token.
    pub journeys: Vec<Journey>,
    /// Packets in the order in which their last bits were sent.
    pub order: Vec<u64>,
    port: Port<Probe<D>, Steady>,
    now: Time,
}

/// Writes down what the port tells.
pub(crate) struct Noted<'a> {
    pub(crate) journeys: &'a mut [Journey],
    pub(crate) order: &'a mut Vec<u64>,
}

impl Sink for Noted<'_> {
    fn begins(&mut self, packet: &Packet, at: Time, _: Time) {
        let journey = &mut self.journeys[packet.token as usize];
        journey.marks = packet.marks;
        let start = match journey.end {
            End::Sent { start, .. } => start,
            _ => at,
        };
        journey.end = End::Sent { start, end: Time::NEVER };
    }

    fn ended(&mut self, packet: &Packet, at: Time) {
        self.order.push(packet.token);
        if let End::Sent { end, .. } = &mut self.journeys[packet.token as usize].end {
            *end = at;
        }
    }

    fn dropped(&mut self, packet: &Packet, at: Time, why: Reason) {
        self.journeys[packet.token as usize].end = End::Dropped(at, why);
    }

    fn marked(&mut self, packet: &Packet, _: Time, marks: Marks) {
        let journey = &mut self.journeys[packet.token as usize];
        journey.marks = journey.marks.with(marks);
    }

    fn interrupted(&mut self, packet: &Packet, _: Time) {
        self.journeys[packet.token as usize].interruptions += 1;
    }
}

/// The header of packets of `flow`; every classifier tells the first 64 flows apart.
#[must_use]
pub const fn header(flow: u32) -> Header {
    Header {
        source: Address::Node(flow),
        destination: Address::Node(flow + 1_000_000),
        protocol: 17,
        source_port: 7,
        destination_port: 9,
        tos: (flow << 2) as u8,
    }
}

impl<D: Discipline> Driver<D> {
    /// An idle line of `rate` at time zero.
    pub fn new(discipline: D, rate: Rate) -> Self {
        let line = Steady { rate, busy_since: Time::ZERO, busy_bits: 0, bits: 0, interrupted: None };
        let port = Port::new(Probe::new(discipline), line).interrupting().gathering();
        Self { journeys: Vec::new(), order: Vec::new(), port, now: Time::ZERO }
    }

    /// Whether the line interrupts a transmission when the discipline says so.
    pub const fn interrupt(&mut self, interrupts: bool) {
        self.port.discipline_mut().interrupts = interrupts;
    }

    /// The discipline.
    pub const fn discipline(&self) -> &D {
        &self.port.discipline().discipline
    }

    /// The discipline, to be changed; then call [`Driver::ask_again`].
    pub const fn discipline_mut(&mut self) -> &mut D {
        &mut self.port.discipline_mut().discipline
    }

    /// The invariants that only a driver can check.
    pub const fn tally(&self) -> &Tally {
        &self.port.discipline().tally
    }

    /// Offers `arrivals`, which are in order of time, lets everything leave, and gives what became
    /// of each.
    pub fn run(mut self, arrivals: &[Arrival]) -> Vec<Journey> {
        for arrival in arrivals {
            self.offer(*arrival);
        }
        self.finish();
        self.journeys
    }

    /// The time of the last thing that happened.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Whether a packet is on the line.
    pub fn is_sending(&self) -> bool {
        self.port.sending().is_some()
    }

    /// Runs all events before the arrival, then offers it.
    pub fn offer(&mut self, arrival: Arrival) {
        let packet = Packet::new(self.journeys.len() as u64, arrival.time, arrival.length);
        self.offer_packet(arrival.flow, Packet { tos: header(arrival.flow).tos, ..packet });
    }

    /// Runs all events before the packet's arrival, then offers it. Its token is its number.
    pub fn offer_packet(&mut self, flow: u32, packet: Packet) {
        let time = packet.arrival;
        self.advance(time);
        let number = self.journeys.len() as u64;
        assert_eq!(packet.token, number, "a packet's token is its number");
        let arrival = Arrival { time, flow, length: packet.length };
        let (end, marks) = (End::Inside, Marks::NONE);
        self.journeys.push(Journey { arrival, end, marks, handle: None, interruptions: 0 });
        let mut noted = Noted { journeys: &mut self.journeys, order: &mut self.order };
        let handle = self.port.arrive(time, packet, &header(flow), &mut noted);
        self.journeys[number as usize].handle = handle;
    }

    /// Takes packet `number` out, if it waits.
    pub fn remove(&mut self, number: u64) -> bool {
        let Some(handle) = self.journeys[number as usize].handle else { return false };
        let mut noted = Noted { journeys: &mut self.journeys, order: &mut self.order };
        let Some(packet) = self.port.remove(self.now, handle, &mut noted) else { return false };
        assert_eq!(packet.token, number, "a handle names one packet");
        self.journeys[number as usize].end = End::Removed(self.now);
        true
    }

    /// Call it after a change of the discipline: its last answer may not hold any more.
    pub fn ask_again(&mut self) {
        self.port.discipline_mut().forget();
        let mut noted = Noted { journeys: &mut self.journeys, order: &mut self.order };
        self.port.ask_again(self.now, &mut noted);
    }

    /// Runs all events before `time`, which becomes the present.
    pub fn advance(&mut self, time: Time) {
        assert!(time >= self.now, "time goes back");
        let mut noted = Noted { journeys: &mut self.journeys, order: &mut self.order };
        self.port.advance(time, &mut noted);
        self.now = time;
    }

    /// Runs all remaining events; then no packet may be left inside.
    pub fn finish(&mut self) {
        let mut noted = Noted { journeys: &mut self.journeys, order: &mut self.order };
        while let Some(due) = self.port.next_end() {
            self.port.end(due, &mut noted);
            self.now = due;
        }
        let inside = self.journeys.iter().position(|journey| journey.end == End::Inside);
        self.tally().obey(Invariant::Leaving, inside.is_none(), || format!("{inside:?} never leaves"));
    }
}
