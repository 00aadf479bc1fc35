//! One direction of a link: a queueing discipline, a transmitter, and the packets in flight.

use super::counts::{Ahead, Carried, Counts, Sent, flow_times};
use super::departures::Departures;
use super::gateway::Gateway;
use super::hop::{Ends, Hop, Site};
use super::varying::{Course, Varying};
use crate::segment::Token;
use fairq_link::impairment::{Impaired, Impairment};
use fairq_sched::contract::Discipline;
use fairq_sched::fast_path::{FastPath, take};
use fairq_sched::packet::Reason;
use fairq_sched::prefetch;
use fairq_sched::service::Service;
use fairq_sched::units::{Rate, Time};
use std::collections::VecDeque;

/// The present transmission of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// The line is idle.
    Nothing,
    /// The packet that the port sends; the end of its transmission is an event.
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

/// What a line is built from, beside its discipline.
pub struct Settings<'a> {
    /// Its name, and the run's seed: of the random draws of its impairments and of its rate.
    pub name: &'a str,
    /// See `name`.
    pub seed: u64,
    /// Its rate, or the nominal one if it varies; `None` if unlimited.
    pub rate: Option<Rate>,
    /// What its rate follows, if it varies; its discipline believes in the nominal rate.
    pub course: Option<&'a Course>,
    /// Its propagation delay.
    pub delay: Time,
    /// The number of packets that its device takes from the discipline while another is sent.
    pub ring: u32,
    /// Bytes that the link layer adds to every packet: they are sent, counted and seen by the
    /// discipline.
    pub header: u8,
    /// Its impairments.
    pub impairment: Impairment,
    /// Whether it changes while it runs.
    pub changes: bool,
}

/// What becomes of a packet that arrives at a line.
pub(super) enum Entered {
    /// It is sent until then, and that end is no event.
    Flies(Time),
    /// It bypasses the discipline, and the end of its transmission is an event.
    Passes,
    /// It is dropped.
    Refused(Reason),
    /// It is shown to the discipline.
    Waits,
}

/// The kind of a line's [`Hop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Open,
    Computed,
    Asked,
}

/// One direction of a link. It takes 13 cache lines: an arriving packet needs the first, a packet
/// that bypasses the discipline also the second.
#[repr(C, align(64))]
pub struct Line {
    /// Packets in flight, in the order they were sent.
    pub flights: VecDeque<Flight>,
    /// The impairments of the line, and the packets that lost their place by them.
    pub impaired: Option<Box<Impaired>>,
    /// Bytes that the link layer adds to every packet.
    pub header: u32,
    pad: [u32; 3],
    /// How long flows were of each of cake's kinds before the counts were cleared.
    pub flow_times: Option<Box<[u128; 3]>>,
    /// The propagation delay.
    pub delay: Time,
    /// When the present transmission ends; of an idle line, the time before which its discipline
    /// sends nothing.
    pub(super) end: Time,
    /// What was sent since the counts were last cleared, including packets whose transmission ends
    /// later but whose end is known.
    pub sent: Sent,
    /// How long it takes to send the packet that last bypassed the discipline. Kept because most
    /// packets of a line are equally long.
    alone: Time,
    alone_length: u32,
    /// A packet of at most this many bytes that finds the line idle may bypass the discipline; 0:
    /// none may.
    passes: u32,
    /// Packets on their way to this line whose fate here was not known when they were sent; it
    /// follows another line.
    pub(super) coming: u32,
    /// The present transmission.
    pub sending: Sending,
    /// How it is decided when a packet leaves.
    pub(super) entry: Entry,
    /// Whether the port knows of the last packet or, where departures are computed, the gateway's
    /// own transmitter.
    pub(super) is_told: bool,
    /// Whether the end of every transmission is an event.
    pub(super) needs_end: bool,
    /// Whether the fate of a packet here may be decided before it arrives.
    pub(super) follows: bool,
    /// Whether a line after this one may follow it.
    pub(super) leads: bool,
    /// Whether packets on this line leave for another part or region of the network.
    pub(super) leaves: bool,
    /// Whether the discipline decides at each packet if it may bypass. A packet that did is
    /// replayed to the discipline if another arrives while it is sent. The discipline is then also
    /// told that the line was idle.
    pub(super) recalls: bool,
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
const _: () = assert!(size_of::<Line>() == 832 && core::mem::offset_of!(Line, gateway) == 128);

/// Departures after this time are not computed ahead, so that no sum of times overflows.
const FORESEEN: Time = Time(u64::MAX / 4);

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

    /// An idle line. How packets pass it is decided when its network is known (`set_hop`).
    #[must_use]
    pub fn new(settings: &Settings<'_>, queue: Box<dyn Discipline>) -> Self {
        let Settings { name, seed, rate, delay, ring, impairment, .. } = *settings;
        let varying = settings.course.map(|course| Varying::new(course, seed, name));
        let is_impaired = !impairment.is_none() || settings.changes;
        Self {
            gateway: rate.map(|rate| Gateway::new(rate, varying, queue, ring).changing(settings.changes)),
            departures: None,
            entry: Entry::Open,
            needs_end: false,
            sending: Sending::Nothing,
            end: Time::NEVER,
            alone: Time::ZERO,
            alone_length: 0,
            is_told: true,
            delay,
            flights: VecDeque::new(),
            passes: 0,
            follows: false,
            leads: false,
            coming: 0,
            leaves: false,
            recalls: false,
            impaired: is_impaired.then(|| Box::new(Impaired::new(impairment, seed, name))),
            sent: Sent::default(),
            counts: Counts::default(),
            header: settings.header.into(),
            pad: [0; 3],
            flow_times: None,
        }
    }

    /// What decides its [`Hop`], as far as the line itself knows it.
    pub(super) fn site(&self) -> Site {
        let gateway = self.gateway.as_ref();
        Site {
            rate: gateway.map(Gateway::rate),
            delay: self.delay,
            has_ring: gateway.is_some_and(|gateway| gateway.has_ring),
            varies: gateway.is_some_and(Gateway::varies),
            is_impaired: self.impaired.is_some(),
            changes: gateway.is_some_and(|gateway| gateway.changes.is_some()),
            is_pooled: false,
            leads_out: false,
            is_fed: false,
            is_watched: false,
        }
    }

    /// Makes packets pass as the line's [`Hop`] at `site` says. To be called before the run begins.
    pub(super) fn set_hop(&mut self, site: &Site) {
        let Some(gateway) = &self.gateway else { return };
        let traits = gateway.port.discipline().traits();
        self.recalls = traits.bypass > 0 && (traits.replays || traits.hears_idle);
        let hop = Hop::of(&traits, site);
        (self.entry, self.passes, self.departures) = match hop {
            Hop::Open => (Entry::Open, 0, None),
            Hop::Computed { limit, bypass } => (Entry::Computed, bypass, Some(Departures::new(limit))),
            Hop::Asked { bypass, .. } => (Entry::Asked, bypass, None),
        };
        self.needs_end = matches!(hop, Hop::Asked { ends: Ends::Evented, .. });
        self.follows = matches!(hop, Hop::Asked { ends: Ends::Foreseen, .. });
    }

    /// Whether a packet arrives at the end of its transmission without an event for that end. The
    /// arrival then takes the place of that end in the order of equal times.
    #[must_use]
    #[inline]
    pub(super) const fn arrives_at_end(&self) -> bool {
        self.delay.0 == 0 && matches!(self.entry, Entry::Computed)
    }

    /// Whether every packet on its way over this line is in `flights`, in the order of arrival.
    #[must_use]
    pub(super) const fn is_orderly(&self) -> bool {
        self.impaired.is_none() && (self.gateway.is_some() || self.delay.0 > 0)
    }

    /// The time of the event at which the line sends next; [`Time::NEVER`] if no event is needed.
    #[inline]
    pub(super) fn next_end(&self) -> Time {
        if self.sending == (Sending::Alone { has_event: false }) { Time::NEVER } else { self.end }
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
    pub(super) fn land(&mut self) -> Option<((Time, u32), Option<Time>)> {
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
    pub(super) fn next_arrival(&self) -> Option<Time> {
        let in_order = self.flights.front().map(|flight| flight.arrival);
        let late = self.impaired.as_ref().and_then(|impaired| impaired.first());
        in_order.into_iter().chain(late).min()
    }

    /// The packet `id` of `length` bytes arrives now. Ends of transmission from `pending` on are to
    /// come.
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Time, id: u32, length: u32, pending: Time) -> Entered {
        self.coming -= u32::from(self.follows);
        self.settle(pending);
        if let Some(end) = self.pass_at(now, id, length) {
            if self.entry == Entry::Asked {
                take(FastPath::Bypass);
            }
            return if self.needs_end { Entered::Passes } else { Entered::Flies(end) };
        }
        match self.entry {
            Entry::Computed => self.join_fifo(now, length, pending),
            _ => {
                self.count_waiting(now);
                Entered::Waits
            }
        }
    }

    /// Makes the line idle if its transmission ended without an event before `pending`.
    #[inline(always)]
    fn settle(&mut self, pending: Time) {
        if self.sending == (Sending::Alone { has_event: false }) && self.end < pending {
            (self.sending, self.end) = (Sending::Nothing, Time::NEVER);
        }
    }

    /// A packet of `length` bytes joins a plain FIFO whose departures are computed.
    #[inline]
    fn join_fifo(&mut self, now: Time, length: u32, pending: Time) -> Entered {
        let Some(departures) = &mut self.departures else { unreachable!("another discipline") };
        departures.pass(pending);
        if let Some(reason) = departures.refusal(length) {
            return Entered::Refused(reason);
        }
        take(FastPath::ComputedFifo);
        let is_idle = self.sending == Sending::Nothing;
        if is_idle {
            self.sending = Sending::Alone { has_event: false };
        } else {
            departures.join(now, self.end, length);
            self.counts.waiting_max = self.counts.waiting_max.max(departures.count());
        }
        Entered::Flies(self.send(now, u64::from(length) * 8, !is_idle))
    }

    /// Lets the packet `id` of `length` bytes, which arrives at `time`, bypass the discipline.
    /// `time` is not before any earlier arrival. Returns when its transmission ends. `None`: no
    /// state was changed, because the bypass is not allowed or the line may be busy then.
    #[inline(always)]
    pub(super) fn pass_at(&mut self, time: Time, id: u32, length: u32) -> Option<Time> {
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
        if let Some(gateway) = self.gateway.as_mut().filter(|_| self.recalls) {
            gateway.passed = id;
        }
        Some(self.end)
    }

    /// Whether the discipline allows a bypass at `time`.
    fn may_pass(&self, time: Time) -> bool {
        self.gateway.as_ref().is_some_and(|gateway| gateway.port.discipline().may_pass(time))
    }

    /// Computes how long it takes to send `length` bytes. The transmitter forgets the last packet.
    #[inline(never)]
    fn measure(&mut self, length: u32) {
        if let Some(gateway) = &mut self.gateway {
            gateway.transmitter.begin(Time::ZERO);
            (self.alone, self.alone_length) = (gateway.transmitter.send(u64::from(length) * 8), length);
        }
    }

    /// When the transmission of the packet began that bypasses the discipline, and its bytes.
    pub(super) fn passing(&self) -> (Time, u32) {
        (self.end - self.alone, self.alone_length)
    }

    /// Sends `bits` from `now` on, or right after the last packet if it `continues`. Returns when
    /// the transmission ends. The port is not told.
    #[inline]
    fn send(&mut self, now: Time, bits: u64, continues: bool) -> Time {
        let Some(gateway) = &mut self.gateway else { unreachable!("an unlimited line takes no time") };
        let transmitter = &mut gateway.transmitter;
        if !continues {
            transmitter.begin(now);
        } else if !self.is_told {
            // The last packet bypassed the discipline, alone.
            transmitter.begin(self.end - self.alone);
            transmitter.send(u64::from(self.alone_length) * 8);
        }
        self.is_told = true;
        self.end = transmitter.send(bits);
        self.end
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

    /// Packets sent after one that arrived later, since the start.
    pub(super) fn overtaken(&self) -> u64 {
        self.gateway.as_ref().map_or(0, |gateway| gateway.port.counts().overtaken)
    }

    /// Updates the maximum of waiting packets. To be called after the queue has settled.
    #[inline]
    pub(super) fn note_most(&mut self) {
        if let Some(gateway) = &self.gateway {
            self.counts.waiting_max = self.counts.waiting_max.max(gateway.waiting());
        }
    }

    /// What has been sent of packets whose transmission has not ended: of those in flight,
    /// `in_flight`, and of the others.
    #[must_use]
    pub(super) fn begun(&self, now: Time, in_flight: Carried) -> Carried {
        let mut begun = in_flight;
        if let Some(gateway) = &self.gateway {
            begun += Carried::of_bits(gateway.interrupted);
            if self.sending == Sending::Packet {
                begun += gateway.part_sent(now, gateway.serving().1, self.end);
            }
        }
        begun
    }

    /// Restarts the counts: with the packets that wait already, and with `ahead`, which was sent
    /// but whose transmission has not ended. Ends from `pending` on are to come.
    pub(super) fn clear_counts(&mut self, now: Time, ahead: Ahead, pending: Time) {
        self.sent = ahead.sent;
        let (begun, overtaken_before) = (self.begun(now, ahead.begun), self.overtaken());
        self.counts = Counts { counted: now, begun, overtaken_before, ..Counts::default() };
        if let Some(gateway) = &mut self.gateway {
            self.flow_times = flow_times(gateway.port.discipline(), now).map(Box::new);
        }
        if let Some(departures) = &mut self.departures {
            departures.pass(pending);
            departures.clear(now);
            self.counts.waiting_max = departures.count();
            return;
        }
        self.note_most();
    }
}
