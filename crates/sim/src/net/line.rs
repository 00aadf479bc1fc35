//! One direction of a link: a queueing discipline, a transmitter, and the packets in flight.

use super::departures::Departures;
use super::ring::Ring;
use super::varying::{Course, Varying};
use crate::segment::Token;
use fairq_link::impairment::{Impaired, Impairment};
use fairq_sched::contract::Discipline;
use fairq_sched::design::cake::FLOW_TIMES;
use fairq_sched::ledger::Ledger;
use fairq_sched::packet::Reason;
use fairq_sched::prefetch;
use fairq_sched::reading::Value;
use fairq_sched::service::{Service, Transmitter};
use fairq_sched::units::{PS_PER_S, Rate, Time};
use std::collections::VecDeque;
use std::ops::{AddAssign, SubAssign};

/// What stands before a line of finite rate: the discipline, the device's ring, the transmitter.
pub struct Gateway {
    /// The packet whose transmission ends with an event, and its bytes.
    pub serving: (Token, u32),
    /// The bits that were sent of packets whose transmission was interrupted and has not gone on.
    pub interrupted: u64,
    /// Whether the discipline may interrupt the transmission of `serving`.
    pub can_preempt: bool,
    /// Whether the discipline must be told that the line has become idle.
    pub notes_idle: bool,
    /// Computes when a transmission ends. It is not told of a packet that bypasses the discipline
    /// until the next `Line::send` that continues (`Line::is_told`).
    transmitter: Transmitter,
    /// The last packet that bypassed a discipline which replays such packets, with the time of its
    /// arrival. It is replayed if another packet arrives while it is sent.
    pub passed: Option<(Time, u32)>,
    /// The component of the discipline's next periodic update, if it has one.
    pub update: Option<u32>,
    /// The transmitter of a line whose rate changes; it replaces `transmitter`.
    varying: Option<Box<Varying>>,
    /// Packets that the device has taken from the discipline and sends next.
    pub ring: Ring,
    /// The discipline, with its counts.
    pub queue: Ledger<Box<dyn Discipline>>,
}

/// How long flows were of each of cake's kinds up to `now`, in nanoseconds of all flows together;
/// `None` of another discipline.
pub fn flow_times(queue: &impl Discipline, now: Time) -> Option<[u128; 3]> {
    let mut times = None;
    queue.readings(now, &mut |reading| {
        let kind = FLOW_TIMES.iter().position(|name| *name == reading.name);
        if let (Some(kind), Value::Count(time)) = (kind, reading.value) {
            times.get_or_insert([0; 3])[kind] += time;
        }
    });
    times
}

/// The present transmission of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// The line is idle.
    Nothing,
    /// The gateway's `serving`; the end of its transmission is an event.
    Packet,
    /// A packet that went into `flights` at once, because no packet waited behind it. The end of
    /// its transmission decides nothing and is no event unless another packet arrives before it. A
    /// function that reads the line's state checks whether that end has passed.
    Alone {
        /// Whether the end is an event, because another packet waits.
        has_event: bool,
    },
}

/// A packet on its way over a line.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// When it arrives.
    pub arrival: Time,
    /// Its id, and where it goes on.
    pub token: Token,
}

const _: () = assert!(size_of::<Flight>() == 16);

/// How it is decided when a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Not at all: the rate is unlimited, so a packet takes no time to send and never waits.
    Open,
    /// By computation: a plain FIFO without further duties. The discipline is shown no packet.
    Computed,
    /// By the discipline, which is asked for packets.
    Asked,
}

/// One direction of a link. It takes nine cache lines: an arriving packet needs the first, a packet
/// that bypasses the discipline also the second.
#[repr(C, align(64))]
pub struct Line {
    /// Packets in flight, in the order they were sent.
    pub flights: VecDeque<Flight>,
    /// The impairments of the line, and the packets that lost their place by them.
    pub impaired: Option<Box<Impaired>>,
    /// The least time between the sending of a packet by its host and its arrival here, if packets
    /// come from several hosts; else [`Time::NEVER`].
    pub merges: Time,
    /// Bytes that the link layer adds to every packet.
    pub header: u32,
    pad: [u32; 1],
    /// How long flows were of each of cake's kinds before the counts were cleared.
    pub flow_times: Option<Box<[u128; 3]>>,
    /// The propagation delay.
    pub delay: Time,
    /// When the present transmission ends.
    pub end: Time,
    /// What was sent since the counts were last cleared, including packets whose transmission ends
    /// later but whose end is known.
    pub sent: Sent,
    /// How long it takes to send the packet that last bypassed the discipline. Kept because most
    /// packets of a line are equally long.
    alone: Time,
    alone_length: u32,
    /// A packet of at most this many bytes that finds the line idle may bypass the discipline; 0:
    /// none may.
    pub passes: u32,
    /// Packets on their way to this line whose fate here was not known when they were sent; it
    /// follows another line.
    pub coming: u32,
    /// The present transmission.
    pub sending: Sending,
    /// How it is decided when a packet leaves.
    pub entry: Entry,
    /// Whether the transmitter knows of the last packet.
    is_told: bool,
    /// Whether the end of every transmission must be an event. One reason is that the discipline
    /// may interrupt it or must be told at once that the line is idle. The other is a delay of
    /// zero: the arrival then belongs to the same instant, but after the end, and not where
    /// arrivals go among equal times.
    pub needs_end: bool,
    /// Whether the fate of a packet here is known before it arrives: all packets come in order from
    /// one other line, or from several hosts at the same distance (`merge`).
    pub follows: bool,
    /// Whether a line after this one may follow it.
    pub leads: bool,
    /// Whether packets on this line leave for another part or region of the network.
    pub leaves: bool,
    /// Whether the discipline decides at each packet if it may bypass. A packet that did is
    /// replayed to the discipline if another arrives while it is sent. The discipline is then also
    /// told that the line was idle.
    pub recalls: bool,
    /// `None` if the rate is unlimited.
    pub gateway: Option<Gateway>,
    /// The packets that wait before a plain FIFO whose departures are computed.
    departures: Option<Departures>,
    /// Counts of the line since they were last cleared.
    pub counts: Counts,
}

// The layout is for processors with 64-bit pointers. With 32-bit pointers a `Line` is smaller; only
// speed depends on its layout.
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

/// The packets in flight that are counted as sent though their transmission has not ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// All of them.
    pub sent: Sent,
    /// The part of them that has been sent.
    pub begun: Carried,
}

/// What a line has carried, in bits times picoseconds per second: a part of a packet is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried(u128);

impl Carried {
    /// Whole packets of this many bytes.
    #[must_use]
    pub fn of_bytes(bytes: u64) -> Self {
        Self(u128::from(bytes) * 8 * u128::from(PS_PER_S))
    }

    /// The bits, with their parts.
    #[must_use]
    pub fn bits(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl AddAssign for Carried {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Carried {
    fn sub_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_sub(other.0);
    }
}

/// Counts of a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets whose transmission ended, as of the last `Network::settle`.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What it carried, as of the last `Network::settle`: as `bytes`, but a packet whose
    /// transmission crosses the beginning or the end of the counted time counts by its part.
    pub carried: Carried,
    /// The parts that had been sent when the counts were cleared.
    pub begun: Carried,
    /// Packets of `packets` that were lost on the way.
    pub lost: u64,
    /// Packets dropped in its gateway.
    pub dropped: u64,
    /// Packets marked in its gateway.
    pub marked: u64,
    /// Packets sent from its gateway after one that arrived there later.
    pub overtaken: u64,
    /// Waiting packets times picoseconds.
    pub area: u128,
    /// The most packets that waited.
    pub waiting_max: u64,
    /// The time up to which `area` is counted.
    pub counted: Time,
}

/// Departures after this time are not computed ahead, so that no sum of times overflows.
const FORESEEN: Time = Time(u64::MAX / 4);

impl Gateway {
    /// How long it takes to send a packet of `length` bytes.
    #[must_use]
    pub fn time_alone(&self, length: u32) -> Time {
        self.transmitter.time_alone(u64::from(length) * 8)
    }

    /// The least time that a packet of `length` bytes takes to send.
    #[must_use]
    pub fn least_time(&self, length: u32) -> Time {
        match &self.varying {
            None => self.time_alone(length),
            Some(varying) => varying.least_time(u64::from(length) * 8),
        }
    }

    /// The bits that the line could send between two times.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        match &self.varying {
            None => self.transmitter.rate().bit_per_s() as f64 * (to - from).as_s(),
            Some(varying) => varying.capacity(from, to),
        }
    }

    /// Starts a busy period of the line, which was idle until `now`.
    #[inline]
    fn begin(&mut self, now: Time) {
        match &mut self.varying {
            None => self.transmitter.begin(now),
            Some(varying) => varying.begin(now),
        }
    }

    /// Sends `bits` right after what was sent before. Returns when that ends.
    #[inline]
    fn send(&mut self, bits: u64) -> Time {
        match &mut self.varying {
            None => self.transmitter.send(bits),
            Some(varying) => varying.send(bits),
        }
    }

    /// Packets that wait in the discipline and in the device's ring.
    #[must_use]
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.queue.waiting() + self.ring.held()
    }

    /// Stops the present transmission, which would have ended at `end`. Returns the bits that are
    /// left to send.
    pub fn interrupt(&mut self, now: Time, end: Time) -> u32 {
        let left = match &mut self.varying {
            None => self.transmitter.interrupt(now, end),
            Some(varying) => varying.interrupt(now),
        };
        self.interrupted += (u64::from(self.serving.1) * 8).saturating_sub(left.into());
        left
    }

    /// How much of a packet of `length` bytes, whose transmission ends at `end`, has been sent at
    /// `now`.
    #[must_use]
    pub fn part_sent(&self, now: Time, length: u32, end: Time) -> Carried {
        let left = match &self.varying {
            None => u128::from(end.0.saturating_sub(now.0)) * u128::from(self.transmitter.rate().bit_per_s()),
            Some(varying) => varying.open(now),
        };
        Carried(Carried::of_bytes(length.into()).0.saturating_sub(left))
    }
}

impl Line {
    /// Prefetches what a packet that bypasses the discipline needs of this line.
    #[inline]
    pub fn fetch(&self) {
        prefetch::fetch_all(self, 2);
    }

    /// Prefetches the first packet in flight and the one behind it. The line itself must be in the
    /// cache.
    #[inline]
    pub fn fetch_flight(&self) {
        if let Some(flight) = self.flights.front() {
            prefetch::fetch_all(flight, 2);
        }
    }

    /// Prefetches the place behind the last packet in flight, where the next packet will stand.
    #[inline]
    pub fn fetch_last(&self) {
        if let Some(flight) = self.flights.back() {
            prefetch::fetch_all(flight, 2);
        }
    }

    /// An idle line.
    #[must_use]
    pub fn new(rate: Option<Rate>, delay: Time, queue: Box<dyn Discipline>) -> Self {
        let traits = queue.traits();
        let passes = traits.bypass;
        // A discipline that allows the bypass is told that the line became idle before it is shown
        // the next packet.
        let is_asked = traits.preempts || (traits.hears_idle && passes == 0);
        let recalls = passes > 0 && (traits.replays || traits.hears_idle);
        let passes = if is_asked || delay == Time::ZERO || rate.is_none() { 0 } else { passes };
        // At 8 Tbit/s a byte takes one picosecond: up to that rate no transmission ends at the
        // instant when it begins.
        let is_timed = |rate: &Rate| rate.bit_per_s() <= 8 * PS_PER_S;
        let limit = traits.fifo.filter(|_| !is_asked && rate.as_ref().is_some_and(is_timed));
        let entry = match (rate, limit) {
            (None, _) => Entry::Open,
            (Some(_), Some(_)) => Entry::Computed,
            (Some(_), None) => Entry::Asked,
        };
        let gateway = rate.map(|rate| Gateway {
            can_preempt: traits.preempts,
            notes_idle: traits.hears_idle,
            update: None,
            passed: None,
            queue: Ledger::new(queue),
            transmitter: Transmitter::new(rate),
            varying: None,
            ring: Ring::default(),
            serving: (Token::default(), 0),
            interrupted: 0,
        });
        Self {
            gateway,
            departures: limit.map(Departures::new),
            entry,
            needs_end: is_asked || (delay == Time::ZERO && entry != Entry::Computed),
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
            pad: [0; 1],
            flow_times: None,
        }
    }

    /// Makes the rate of the line called `name` follow `course`, in a run with `seed`; its rate is
    /// then what its discipline believes. Every end of a transmission is an event then: the
    /// duration of a transmission depends on when it begins.
    pub fn follow(&mut self, course: &Course, seed: u64, name: &str) {
        if let Some(gateway) = &mut self.gateway {
            gateway.varying = Some(Box::new(Varying::new(course, seed, name)));
            self.passes = 0;
            self.end_by_events();
        }
    }

    /// Lets the device take up to `places` packets from the discipline while another packet is
    /// sent.
    pub fn take_ahead(&mut self, places: u32) {
        if let Some(gateway) = self.gateway.as_mut().filter(|_| places > 0) {
            gateway.ring = Ring::new(places);
            self.passes = 0;
            self.end_by_events();
        }
    }

    /// Adds `header` bytes of the link layer to every packet: they are sent, counted and seen by
    /// the discipline.
    pub fn frame(&mut self, header: u8) {
        self.header = header.into();
    }

    /// Makes the line consult its discipline even if it is a plain FIFO.
    pub fn show_all(&mut self) {
        self.stop_computing();
        self.needs_end |= self.delay == Time::ZERO;
    }

    /// Makes every end of a transmission an event.
    pub fn end_by_events(&mut self) {
        self.follows = false;
        self.stop_computing();
        self.needs_end = true;
    }

    fn stop_computing(&mut self) {
        self.departures = None;
        if self.entry == Entry::Computed {
            self.entry = Entry::Asked;
        }
    }

    /// Adds impairments to the line called `name`, in a run with `seed`. The fate of a packet is a
    /// random draw at the end of its transmission, which is therefore an event.
    pub fn impair(&mut self, what: Impairment, seed: u64, name: &str) {
        if what.is_none() {
            return;
        }
        self.impaired = Some(Box::new(Impaired::new(what, seed, name)));
        self.passes = 0;
        self.end_by_events();
    }

    /// Whether a packet arrives at the end of its transmission without an event for that end. The
    /// arrival then takes the place of that end in the order of equal times.
    #[must_use]
    #[inline]
    pub const fn arrives_at_end(&self) -> bool {
        self.delay.0 == 0 && matches!(self.entry, Entry::Computed)
    }

    /// Whether every packet on its way over this line is in `flights`, in the order of arrival.
    #[must_use]
    pub const fn is_orderly(&self) -> bool {
        self.impaired.is_none() && (self.gateway.is_some() || self.delay.0 > 0)
    }

    /// Packets that wait, are being sent, or are in flight.
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

    /// Takes the first packet in flight. Returns its arrival and id, and when the next packet
    /// arrives. At equal times a packet that kept its place goes before one that lost it.
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

    /// Lets the packet `id` of `length` bytes, which arrives at `time`, bypass the discipline.
    /// `time` is not before any earlier arrival. Returns when its transmission ends. `None`: no
    /// state was changed, because the bypass is not allowed or the line may be busy then.
    #[inline(always)]
    pub fn pass_at(&mut self, time: Time, id: u32, length: u32) -> Option<Time> {
        let is_idle = match self.sending {
            Sending::Nothing => true,
            // At the same instant the arrival precedes the end.
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

    /// Whether the discipline allows a bypass at `time`.
    fn may_pass(&self, time: Time) -> bool {
        self.gateway.as_ref().is_some_and(|gateway| gateway.queue.may_pass(time))
    }

    fn note_passed(&mut self, time: Time, id: u32) {
        if let Some(gateway) = &mut self.gateway {
            gateway.passed = Some((time, id));
        }
    }

    /// Computes how long it takes to send `length` bytes. The transmitter forgets the last packet.
    #[inline(never)]
    fn measure(&mut self, length: u32) {
        if let Some(gateway) = &mut self.gateway {
            gateway.transmitter.begin(Time::ZERO);
            (self.alone, self.alone_length) = (gateway.transmitter.send(u64::from(length) * 8), length);
        }
    }

    /// Sends `bits` from `now` on, or right after the last packet if it `continues`. Returns when
    /// the transmission ends.
    #[inline]
    pub fn send(&mut self, now: Time, bits: u64, continues: bool) -> Time {
        let Some(gateway) = &mut self.gateway else { unreachable!("an unlimited line takes no time") };
        if !continues {
            gateway.begin(now);
        } else if !self.is_told {
            // The last packet bypassed the discipline, alone.
            gateway.begin(self.end - self.alone);
            gateway.send(u64::from(self.alone_length) * 8);
        }
        self.is_told = true;
        self.end = gateway.send(bits);
        self.end
    }

    /// The packet `id` of `length` bytes arrives now and joins a plain FIFO whose departures are
    /// computed. Returns when its transmission ends, or why there is no room for it. `has_passed`
    /// says whether the end of a transmission is in the past.
    #[inline]
    pub fn join_fifo(
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

    /// Adds the waiting time up to now to `area`. Must be called before the number of waiting
    /// packets changes; more calls do no harm.
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

    /// Updates the maximum of waiting packets. To be called after the queue has settled.
    #[inline]
    pub fn note_most(&mut self) {
        if let Some(gateway) = &self.gateway {
            self.counts.waiting_max = self.counts.waiting_max.max(gateway.waiting());
        }
    }

    /// What has been sent of packets whose transmission has not ended: of those in flight,
    /// `in_flight`, and of the others.
    #[must_use]
    pub fn begun(&self, now: Time, in_flight: Carried) -> Carried {
        let mut begun = in_flight;
        if let Some(gateway) = &self.gateway {
            begun += Carried(u128::from(gateway.interrupted) * u128::from(PS_PER_S));
            if self.sending == Sending::Packet {
                begun += gateway.part_sent(now, gateway.serving.1, self.end);
            }
        }
        begun
    }

    /// Restarts the counts: with the packets that wait already, and with `ahead`, which was sent
    /// but whose transmission has not ended.
    pub fn clear_counts(&mut self, now: Time, ahead: Ahead, has_passed: impl Fn(Time) -> bool) {
        self.sent = ahead.sent;
        self.counts = Counts { counted: now, begun: self.begun(now, ahead.begun), ..Counts::default() };
        if let Some(gateway) = &mut self.gateway {
            self.flow_times = flow_times(&gateway.queue, now).map(Box::new);
        }
        if let Some(departures) = &mut self.departures {
            departures.pass(has_passed);
            departures.clear(now);
            self.counts.waiting_max = departures.count();
            return;
        }
        self.note_most();
    }
}
