//! One direction of a link: a queueing discipline, a transmitter, and the packets in flight.

use super::departures::Departures;
use super::impairment::{Impaired, Impairment};
use super::ring::Ring;
use crate::segment::Token;
use fairq_link::line::Transmitter;
use fairq_link::trace::{DeliveryTrace, Opportunities};
use fairq_sched::contract::Discipline;
use fairq_sched::ledger::Ledger;
use fairq_sched::packet::Reason;
use fairq_sched::prefetch;
use fairq_sched::units::{PS_PER_S, Rate, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// What stands before a line of finite rate.
pub struct Gateway {
    /// The packet whose transmission ends with an event, and its bytes.
    pub serving: (Token, u32),
    /// Whether the discipline may want to interrupt it.
    pub can_preempt: bool,
    /// Whether the discipline must be told that the line has become idle.
    pub notes_idle: bool,
    /// When a transmission ends. It is not told of packets that pass (`Line::tell`).
    transmitter: Transmitter,
    /// The packet that last came past a discipline that wants to know of it, should another come while it is sent; when
    /// it came.
    pub passed: Option<(Time, u32)>,
    /// The component of the next run of the discipline's periodic law, if it has one.
    pub update: Option<u32>,
    /// That of a line which follows a delivery trace; it then stands for `transmitter`.
    opportunities: Option<Box<Opportunities>>,
    /// What its device has taken from the discipline and will send next.
    pub ring: Ring,
    /// The discipline, with its accounts.
    pub queue: Ledger<Box<dyn Discipline>>,
}

/// What a line sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Nothing.
    Nothing,
    /// A packet whose end is an event, its gateway's `serving`.
    Packet,
    /// A packet that went straight to the flights, for nothing waited behind it. Its end has nothing
    /// to decide and is no event, unless another packet comes before it: who looks at the line asks whether it is over.
    Alone {
        /// Whether its end is an event, because another packet waits.
        has_event: bool,
    },
}

/// A packet on its way over a line.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// When it arrives.
    pub arrival: Time,
    /// Which it is, and where it goes on.
    pub token: Token,
}

const _: () = assert!(size_of::<Flight>() == 16);

/// Who says when a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nobody: the rate is unlimited, so that a packet takes no time to send and never waits.
    Open,
    /// A plain FIFO of which nothing else is asked: it is reckoned and shown no packet.
    Reckoned,
    /// A discipline.
    Asked,
}

/// One direction of a link: nine lines of the cache, of which a packet that arrives needs the first, and one that passes the
/// second.
#[repr(C, align(64))]
pub struct Line {
    /// Packets on their way, in the order they were sent.
    pub flights: VecDeque<Flight>,
    /// What goes wrong on the way, and the packets that have lost their place.
    pub impaired: Option<Box<Impaired>>,
    /// How long after it is sent a packet arrives at the soonest, if it comes from several; else [`Time::NEVER`].
    pub merges: Time,
    /// Bytes that the link layer adds to every packet.
    pub header: u32,
    pad: [u32; 3],
    /// How long the last bit travels.
    pub delay: Time,
    /// When the present transmission ends, as told.
    pub end: Time,
    /// What was sent since the counts were last cleared, that included whose end is known and still to come.
    pub sent: Sent,
    /// How long it takes to send the packet that last passed, and its bytes: most of a line are equally long.
    alone: Time,
    alone_length: u32,
    /// A packet of up to so many bytes that finds the line idle is sent as it is: its discipline need not see it.
    pub passes: u32,
    /// Packets on their way to a line that follows of which it was not known what becomes of them there.
    pub coming: u32,
    /// What is being sent.
    pub sending: Sending,
    /// Who says when a packet leaves.
    pub entry: Entry,
    /// Whether the transmitter knows of the last packet.
    is_told: bool,
    /// Whether the end of every transmission must be an event: the discipline may want to interrupt it or must be told
    /// at once that the line has become idle, or there is no delay. Then the arrival belongs to the same instant, but after the
    /// end, and not where arrivals go among equal times.
    pub needs_end: bool,
    /// Whether that is known of a packet before it arrives, for all come from one other line, in their order, or from several that
    /// are equally far (`merge`).
    pub follows: bool,
    /// Whether a line behind it may follow.
    pub leads: bool,
    /// Whether packets on it leave for another part or region of the network.
    pub leaves: bool,
    /// Whether the discipline is asked whether a packet may pass, and shown it if another comes while it is sent; it is told
    /// then, too, that the line was idle.
    pub recalls: bool,
    /// Nothing if the rate is unlimited.
    pub gateway: Option<Gateway>,
    /// Who waits before a plain FIFO that is reckoned.
    departures: Option<Departures>,
    /// What was sent, and how long packets waited, since the counts were last cleared.
    pub counts: Counts,
    /// An odd number of lines of the cache: eight would have the first of all lines share eight of its sets.
    odd: [u64; 1],
}

// The layout is for caches of processors with 64-bit pointers. With 32-bit pointers a line is smaller, and nothing but its
// speed depends on the layout.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Line>() == 576 && core::mem::offset_of!(Line, gateway) == 128);

/// Packets that were sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Sent {
    /// Counts a packet of `length` bytes.
    #[inline]
    pub fn add(&mut self, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
    }
}

/// What a line did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets whose transmission ended, when the counts were last settled.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these, packets that were lost on the way.
    pub lost: u64,
    /// Packets dropped in its gateway.
    pub dropped: u64,
    /// Packets marked in its gateway.
    pub marked: u64,
    /// Waiting packets times picoseconds.
    pub area: u128,
    /// The most packets that waited.
    pub waiting_max: u64,
    /// Up to when the area is counted.
    pub counted: Time,
}

/// What comes later is not looked at before its time, so that no sum of times overflows.
const FORESEEN: Time = Time(u64::MAX / 4);

impl Gateway {
    /// How long it takes to send a packet of `length` bytes.
    #[must_use]
    pub fn time_alone(&self, length: u32) -> Time {
        self.transmitter.time_alone(u64::from(length) * 8)
    }

    /// The line, idle until now, becomes busy.
    #[inline]
    fn begin(&mut self, now: Time) {
        match &mut self.opportunities {
            None => self.transmitter.begin(now),
            Some(opportunities) => opportunities.begin(now),
        }
    }

    /// Sends `bits` right after what was sent before; when that ends.
    #[inline]
    fn send(&mut self, bits: u64) -> Time {
        match &mut self.opportunities {
            None => self.transmitter.send(bits),
            Some(opportunities) => opportunities.send(bits),
        }
    }

    /// Packets that wait, in the discipline and behind it.
    #[must_use]
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.queue.waiting() + self.ring.held()
    }

    /// Stops the present transmission, which would have ended at `end`; the bits that are left to send.
    pub fn interrupt(&mut self, now: Time, end: Time) -> u32 {
        match &mut self.opportunities {
            None => self.transmitter.interrupt(now, end),
            Some(opportunities) => opportunities.interrupt(now),
        }
    }
}

impl Line {
    /// Has what a packet that passes needs fetched into the caches.
    #[inline]
    pub fn fetch(&self) {
        prefetch::fetch_all(self, 2);
    }

    /// The same of the first packet in flight and the one behind it, if the line itself is there.
    #[inline]
    pub fn fetch_flight(&self) {
        if let Some(flight) = self.flights.front() {
            prefetch::fetch_all(flight, 2);
        }
    }

    /// The same of the place where the next packet that takes off will stand, behind the last one.
    #[inline]
    pub fn fetch_last(&self) {
        if let Some(flight) = self.flights.back() {
            prefetch::fetch_all(flight, 2);
        }
    }

    /// An idle line.
    #[must_use]
    pub fn new(rate: Option<Rate>, delay: Time, queue: Box<dyn Discipline>) -> Self {
        let passes = queue.passes_when_idle();
        // Who lets packets pass is told that the line has become idle before it is shown the next one.
        let is_asked = queue.can_preempt() || (queue.notes_idle() && passes == 0);
        let recalls = passes > 0 && (queue.recalls_passed() || queue.notes_idle());
        let passes = if is_asked || delay == Time::ZERO || rate.is_none() { 0 } else { passes };
        // A byte takes a picosecond there, so that no transmission ends when it begins.
        let is_timed = |rate: &Rate| rate.bit_per_s() <= 8 * PS_PER_S;
        let limit = queue.plain_fifo().filter(|_| !is_asked && rate.as_ref().is_some_and(is_timed));
        let entry = match (rate, limit) {
            (None, _) => Entry::Open,
            (Some(_), Some(_)) => Entry::Reckoned,
            (Some(_), None) => Entry::Asked,
        };
        let gateway = rate.map(|rate| Gateway {
            can_preempt: queue.can_preempt(),
            notes_idle: queue.notes_idle(),
            update: None,
            passed: None,
            queue: Ledger::new(queue),
            transmitter: Transmitter::new(rate),
            opportunities: None,
            ring: Ring::default(),
            serving: (Token::default(), 0),
        });
        Self {
            gateway,
            departures: limit.map(Departures::new),
            entry,
            needs_end: is_asked || (delay == Time::ZERO && entry != Entry::Reckoned),
            sending: Sending::Nothing,
            end: Time::NEVER,
            alone: Time::ZERO,
            alone_length: 0,
            is_told: true,
            delay,
            flights: VecDeque::new(),
            passes,
            follows: false,
            merges: Time::NEVER,
            leads: false,
            coming: 0,
            leaves: false,
            recalls,
            impaired: None,
            sent: Sent::default(),
            counts: Counts::default(),
            header: 0,
            pad: [0; 3],
            odd: [0],
        }
    }

    /// Has the line follow `trace`; its rate is then what its discipline believes. Every end of a transmission is an
    /// event then: how long the next one takes hangs on when it begins.
    pub fn follow(&mut self, trace: &Arc<DeliveryTrace>) {
        if let Some(gateway) = &mut self.gateway {
            gateway.opportunities = Some(Box::new(Opportunities::new(Arc::clone(trace))));
            self.passes = 0;
            self.end_by_events();
        }
    }

    /// Has the device take up to `places` packets from the discipline while another is sent.
    pub fn take_ahead(&mut self, places: u32) {
        if let Some(gateway) = self.gateway.as_mut().filter(|_| places > 0) {
            gateway.ring = Ring::new(places);
            self.passes = 0;
            self.end_by_events();
        }
    }

    /// Has the link layer add so many bytes to every packet: they are sent, counted and seen by the discipline.
    pub fn frame(&mut self, header: u8) {
        self.header = header.into();
    }

    /// Has its discipline be asked, though that is a plain FIFO.
    pub fn show_all(&mut self) {
        self.stop_reckoning();
        self.needs_end |= self.delay == Time::ZERO;
    }

    /// Has every end of a transmission be an event.
    pub fn end_by_events(&mut self) {
        self.follows = false;
        self.stop_reckoning();
        self.needs_end = true;
    }

    fn stop_reckoning(&mut self) {
        self.departures = None;
        if self.entry == Entry::Reckoned {
            self.entry = Entry::Asked;
        }
    }

    /// Has things go wrong on the line called `name` in a run with `seed`. What becomes of a packet is drawn when its
    /// transmission ends, which is therefore an event.
    pub fn impair(&mut self, what: Impairment, seed: u64, name: &str) {
        if what.is_none() {
            return;
        }
        self.impaired = Some(Box::new(Impaired::new(what, seed, name)));
        self.passes = 0;
        self.end_by_events();
    }

    /// Whether a packet arrives at the end of its transmission, which is no event of its own: the arrival goes among equal times where
    /// that end would.
    #[must_use]
    #[inline]
    pub const fn arrives_at_end(&self) -> bool {
        self.delay.0 == 0 && matches!(self.entry, Entry::Reckoned)
    }

    /// Whether all its packets are in `flights` on their way, in the order in which they arrive.
    #[must_use]
    pub const fn is_orderly(&self) -> bool {
        self.impaired.is_none() && (self.gateway.is_some() || self.delay.0 > 0)
    }

    /// Packets waiting, being sent and in flight.
    #[must_use]
    pub fn packets(&self) -> u64 {
        let waiting = self.gateway.as_ref().map_or(0, Gateway::waiting);
        waiting + u64::from(self.sending == Sending::Packet) + self.in_flight() as u64
    }

    /// Packets in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len() + self.impaired.as_ref().map_or(0, |impaired| impaired.len())
    }

    /// Takes the first packet in flight, and says when the next one comes. Of equal times those in order go first.
    pub fn land(&mut self) -> Option<((Time, u32), Option<Time>)> {
        let late = self.impaired.as_ref().and_then(|impaired| impaired.first());
        let first = match (self.flights.front(), late) {
            (Some(flight), Some(late)) if late < flight.arrival => self.impaired.as_mut()?.take()?,
            (None, Some(_)) => self.impaired.as_mut()?.take()?,
            _ => self.flights.pop_front().map(|flight| (flight.arrival, flight.token.id()))?,
        };
        Some((first, self.next_arrival()))
    }

    /// When the first packet in flight arrives.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Time> {
        let in_order = self.flights.front().map(|flight| flight.arrival);
        let late = self.impaired.as_ref().and_then(|impaired| impaired.first());
        in_order.into_iter().chain(late).min()
    }

    /// Sends the packet `id` of `length` bytes that arrives at `time`, not before any that came already, past the discipline;
    /// when its transmission ends. Nothing, and nothing done, if that may not be, or the line may be busy then.
    #[inline(always)]
    pub fn pass_at(&mut self, time: Time, id: u32, length: u32) -> Option<Time> {
        let is_idle = match self.sending {
            Sending::Nothing => true,
            // At the same instant the arrival comes first.
            Sending::Alone { has_event } => !has_event && self.end < time,
            Sending::Packet => false,
        };
        if !is_idle || length > self.passes || time > FORESEEN {
            return None;
        }
        if self.recalls && !self.may_pass(time) {
            return None;
        }
        if length != self.alone_length {
            self.measure(length);
        }
        // A transmission that takes no time ends in the order of events of its instant.
        if self.alone == Time::ZERO {
            return None;
        }
        (self.sending, self.is_told) = (Sending::Alone { has_event: false }, false);
        self.end = Time(time.0 + self.alone.0);
        if self.recalls {
            self.note_passed(time, id);
        }
        Some(self.end)
    }

    /// Whether the discipline lets a packet pass at `time`.
    fn may_pass(&self, time: Time) -> bool {
        self.gateway.as_ref().is_some_and(|gateway| gateway.queue.may_pass(time))
    }

    fn note_passed(&mut self, time: Time, id: u32) {
        if let Some(gateway) = &mut self.gateway {
            gateway.passed = Some((time, id));
        }
    }

    /// Finds out how long it takes to send `length` bytes. What the transmitter knows of the last packet is lost.
    #[inline(never)]
    fn measure(&mut self, length: u32) {
        if let Some(gateway) = &mut self.gateway {
            gateway.transmitter.begin(Time::ZERO);
            (self.alone, self.alone_length) = (gateway.transmitter.send(u64::from(length) * 8), length);
        }
    }

    /// Sends `bits` from `now` on, or right after what was sent before if it `continues`; when that ends.
    #[inline]
    pub fn send(&mut self, now: Time, bits: u64, continues: bool) -> Time {
        let Some(gateway) = &mut self.gateway else { unreachable!("an unlimited line takes no time") };
        if !continues {
            gateway.begin(now);
        } else if !self.is_told {
            // The last packet has passed, alone.
            gateway.begin(self.end - self.alone);
            gateway.send(u64::from(self.alone_length) * 8);
        }
        self.is_told = true;
        self.end = gateway.send(bits);
        self.end
    }

    /// The packet `id` of `length` bytes that comes now lines up before a plain FIFO that is reckoned; when its transmission ends, or
    /// why there is no room for it. `has_passed` tells of the end of a transmission whether it lies behind.
    #[inline]
    pub fn line_up(
        &mut self,
        now: Time,
        (id, length): (u32, u32),
        has_passed: impl Fn(Time) -> bool,
    ) -> Result<Time, Reason> {
        let is_idle = self.sending == Sending::Nothing || has_passed(self.end);
        if is_idle {
            self.sending = Sending::Nothing;
            if let Some(end) = self.pass_at(now, id, length) {
                return Ok(end);
            }
        }
        let Some(departures) = &mut self.departures else { unreachable!("another discipline") };
        departures.pass(&has_passed);
        if let Some(reason) = departures.refusal(length) {
            return Err(reason);
        }
        if is_idle {
            self.sending = Sending::Alone { has_event: false };
        } else {
            departures.join(now, self.end, length);
            self.counts.waiting_max = self.counts.waiting_max.max(departures.count());
        }
        Ok(self.send(now, u64::from(length) * 8, !is_idle))
    }

    /// Counts what has waited up to now. Must be called before what waits changes; more often does no harm.
    #[inline]
    pub fn count_waiting(&mut self, now: Time) {
        if let Some(departures) = &self.departures {
            self.counts.area = departures.area(now);
        } else {
            let waiting = self.gateway.as_ref().map_or(0, Gateway::waiting);
            if waiting > 0 {
                self.counts.area += u128::from(waiting) * u128::from((now - self.counts.counted).0);
            }
        }
        self.counts.counted = now;
    }

    /// Notes how many wait now, if that is the most. To be called after what waits has settled.
    #[inline]
    pub fn note_most(&mut self) {
        if let Some(gateway) = &self.gateway {
            self.counts.waiting_max = self.counts.waiting_max.max(gateway.waiting());
        }
    }

    /// Begins a new count: of what waits already, too, and of `ahead`, what was sent and has not ended.
    pub fn clear_counts(&mut self, now: Time, ahead: Sent, has_passed: impl Fn(Time) -> bool) {
        self.sent = ahead;
        self.counts = Counts { counted: now, ..Counts::default() };
        if let Some(departures) = &mut self.departures {
            departures.pass(has_passed);
            departures.clear(now);
            self.counts.waiting_max = departures.count();
            return;
        }
        self.note_most();
    }
}
