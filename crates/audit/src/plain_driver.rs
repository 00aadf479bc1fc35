//! A line of fixed rate in front of any discipline: the loop that every driver runs, as plainly as
//! possible.
//!
//! Arrivals of one instant are all offered before the line asks for a packet, and before a
//! transmission that ends at that instant is over. The end of a transmission is computed from the
//! bits since the line became busy, rounded up to a whole picosecond.

use crate::driver::{Arrival, End, Journey, header};
use fairq_sched::contract::{Dequeue, Discipline};
use fairq_sched::invariant::{Invariant, Tally};
use fairq_sched::packet::{Fates, Marks, Outcome, Packet};
use fairq_sched::units::{PS_PER_S, Rate, Time};

/// The packet that the line is sending.
#[derive(Clone, Copy)]
struct Transmission {
    token: u64,
    bits: u64,
    end: Time,
}

/// The line and what stands before it.
pub struct Driver<D> {
    /// The discipline. After a change made directly to it, call [`Driver::ask_again`].
    pub discipline: D,
    /// Whether the line interrupts a transmission when the discipline says so.
    pub interrupts: bool,
    /// What became of each packet, by its number in order of arrival, which is its token.
    pub journeys: Vec<Journey>,
    /// Packets in the order in which their last bits were sent.
    pub order: Vec<u64>,
    /// The invariants that only a driver can check.
    pub tally: Tally,
    rate: Rate,
    now: Time,
    sending: Option<Transmission>,
    busy_since: Option<Time>,
    /// Bits sent since then by transmissions that are over.
    busy_bits: u64,
    /// When the discipline is to be asked; and whether it promised a packet for then.
    wake: Option<(Time, bool)>,
    fates: Fates,
}

/// The first whole picosecond at which a line of `rate` has sent `bits`.
const fn duration(rate: Rate, bits: u64) -> Time {
    Time((bits as u128 * PS_PER_S as u128).div_ceil(rate.bit_per_s() as u128) as u64)
}

impl<D: Discipline> Driver<D> {
    /// An idle line of `rate` at time zero.
    pub fn new(discipline: D, rate: Rate) -> Self {
        Self {
            discipline,
            interrupts: false,
            journeys: Vec::new(),
            order: Vec::new(),
            tally: Tally::default(),
            rate,
            now: Time::ZERO,
            sending: None,
            busy_since: None,
            busy_bits: 0,
            wake: None,
            fates: Fates::new(),
        }
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
    pub const fn is_sending(&self) -> bool {
        self.sending.is_some()
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
        let handle = self.discipline.enqueue(time, packet, &header(flow), &mut self.fates);
        self.journeys[number as usize].handle = handle;
        self.note_fates();
        if self.interrupts && self.sending.is_some() && self.discipline.preempts() {
            self.interrupt();
        }
        self.ask_again();
    }

    /// Takes packet `number` out, if it waits.
    pub fn remove(&mut self, number: u64) -> bool {
        let Some(handle) = self.journeys[number as usize].handle else { return false };
        let Some(packet) = self.discipline.remove(self.now, handle) else { return false };
        assert_eq!(packet.token, number, "a handle names one packet");
        self.journeys[number as usize].end = End::Removed(self.now);
        self.ask_again();
        true
    }

    /// Call it after a change of the discipline: its last answer may not hold any more.
    pub const fn ask_again(&mut self) {
        if self.sending.is_none() {
            self.wake = Some((self.now, false));
        }
    }

    /// Runs all events before `time`, which becomes the present.
    pub fn advance(&mut self, time: Time) {
        assert!(time >= self.now, "time goes back");
        while let Some(due) = self.due().filter(|due| *due < time) {
            self.step(due);
        }
        self.update_until(time);
        self.now = time;
    }

    /// Runs the periodic updates that are due before `time`, each at its time.
    fn update_until(&mut self, time: Time) {
        while let Some(due) = self.discipline.next_update().filter(|due| *due < time) {
            self.tally.obey(Invariant::AskingAgain, due >= self.now, || {
                format!("an update is due at {due:?}, before {:?}", self.now)
            });
            self.now = due;
            self.discipline.update(due);
            let again = self.discipline.next_update();
            self.tally
                .obey(Invariant::AskingAgain, again != Some(due), || format!("the update at {due:?} is due twice"));
        }
    }

    /// Runs all remaining events; then no packet may be left inside.
    pub fn finish(&mut self) {
        while let Some(due) = self.due() {
            self.step(due);
        }
        let inside = self.journeys.iter().position(|journey| journey.end == End::Inside);
        self.tally.obey(Invariant::Leaving, inside.is_none(), || format!("{inside:?} never leaves"));
    }

    fn due(&self) -> Option<Time> {
        match self.sending {
            Some(transmission) => Some(transmission.end),
            None => self.wake.map(|(time, _)| time),
        }
    }

    /// A transmission ends at `due`, or it is time to ask.
    fn step(&mut self, due: Time) {
        self.update_until(due);
        if let Some(transmission) = self.sending.take() {
            self.busy_bits += transmission.bits;
            self.order.push(transmission.token);
            let journey = &mut self.journeys[transmission.token as usize];
            if let End::Sent { end, .. } = &mut journey.end {
                *end = due;
            }
        }
        let promised = self.wake.take().is_some_and(|(_, promised)| promised);
        if promised && !self.discipline.traits().late_timer && due.0 - 1 > self.now.0 {
            let early = self.discipline.dequeue(Time(due.0 - 1), &mut self.fates);
            self.tally.obey(Invariant::AskingAgain, early == Dequeue::NotBefore(due), || {
                format!("{early:?} a picosecond before {due:?}, the time that was named")
            });
        }
        self.now = due;
        let answer = self.discipline.dequeue(due, &mut self.fates);
        // The packet that the time was named for may be dropped when it comes, and another may have
        // to wait longer.
        let promised = promised && self.fates.is_empty();
        self.note_fates();
        match answer {
            Dequeue::Send(packet) => self.send(&packet),
            Dequeue::NotBefore(time) => {
                self.tally.obey(Invariant::AskingAgain, !promised, || {
                    format!("at {due:?}, the time that was named, nothing leaves before {time:?}")
                });
                self.wake = Some((time, true));
                (self.busy_since, self.busy_bits) = (None, 0);
            }
            Dequeue::Empty => {
                self.tally.obey(Invariant::AskingAgain, !promised, || {
                    format!("at {due:?}, the time that was named, nothing is held")
                });
                (self.busy_since, self.busy_bits) = (None, 0);
            }
        }
    }

    fn send(&mut self, packet: &Packet) {
        let bits = packet.bits_to_send();
        let end = *self.busy_since.get_or_insert(self.now) + duration(self.rate, self.busy_bits + bits);
        self.sending = Some(Transmission { token: packet.token, bits, end });
        let journey = &mut self.journeys[packet.token as usize];
        journey.marks = packet.marks;
        let start = match journey.end {
            End::Sent { start, .. } => start,
            _ => self.now,
        };
        journey.end = End::Sent { start, end: Time::NEVER };
    }

    /// Stops the transmission and puts the packet back, unless its last bit is out.
    fn interrupt(&mut self) {
        let (Some(transmission), Some(busy_since)) = (self.sending, self.busy_since) else { return };
        let sent = self.rate.bits_in(self.now - busy_since) - self.busy_bits;
        let Some(unsent) = transmission.bits.checked_sub(sent).filter(|bits| *bits > 0) else { return };
        self.discipline.put_back(self.now, unsent as u32);
        self.journeys[transmission.token as usize].interruptions += 1;
        self.busy_bits += sent;
        self.sending = None;
    }

    fn note_fates(&mut self) {
        for fate in self.fates.drain(..) {
            let journey = &mut self.journeys[fate.packet.token as usize];
            match fate.outcome {
                Outcome::Dropped(reason) => journey.end = End::Dropped(self.now, reason),
                Outcome::Marked(marks) => journey.marks = journey.marks.with(marks),
            }
        }
    }
}
