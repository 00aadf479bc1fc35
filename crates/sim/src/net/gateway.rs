//! What stands before a line of finite rate: the discipline, the device's ring, the transmitter.

use super::by_hand::ByHand;
use super::counts::Carried;
use super::varying::Varying;
use crate::segment::{Arena, Token};
use fairq_sched::change::Unsupported;
use fairq_sched::contract::{Discipline, Handle};
use fairq_sched::packet::{Fate, Fates, Marks, Outcome, Packet, Reason};
use fairq_sched::port::{Port, Sink};
use fairq_sched::service::{Service, Transmitter};
use fairq_sched::units::{Rate, Time};
use fairq_sched::waiting::Decision;

/// What sends the packets of a line.
pub enum LineService {
    /// At one rate.
    Fixed(Transmitter),
    /// At a rate that changes.
    Varying(Box<Varying>),
}

impl Service for LineService {
    #[inline]
    fn begin(&mut self, now: Time) {
        match self {
            Self::Fixed(transmitter) => transmitter.begin(now),
            Self::Varying(varying) => varying.begin(now),
        }
    }

    #[inline]
    fn send(&mut self, bits: u64) -> Time {
        match self {
            Self::Fixed(transmitter) => transmitter.send(bits),
            Self::Varying(varying) => varying.send(bits),
        }
    }

    fn interrupt(&mut self, now: Time, end: Time) -> u32 {
        match self {
            Self::Fixed(transmitter) => transmitter.interrupt(now, end),
            Self::Varying(varying) => varying.interrupt(now, end),
        }
    }

    fn change(&mut self, now: Time, rate: Rate) -> Result<Time, Unsupported> {
        match self {
            Self::Fixed(transmitter) => transmitter.change(now, rate),
            Self::Varying(varying) => varying.change(now, rate),
        }
    }
}

/// What stands before a line of finite rate.
pub struct Gateway {
    /// The discipline, the device's ring and the transmitter. It is not told at once of a packet
    /// that bypasses the discipline (`Line::is_told`), nor of the end of a transmission that is no
    /// event.
    pub port: Port<Box<dyn Discipline>, LineService>,
    /// Computes the ends of transmissions that the port is not asked for. Its rate is nominal if
    /// the line's rate varies.
    pub(super) transmitter: Transmitter,
    /// The bits that were sent of packets whose transmission was interrupted and has not gone on.
    pub interrupted: u64,
    /// The last packet that bypassed the discipline, if the discipline may have to hear of it.
    pub(super) passed: u32,
    /// The component of the discipline's next periodic update, if it has one.
    pub update: Option<u32>,
    /// Whether the device has a ring.
    pub(super) has_ring: bool,
    /// Whether the line may change while it runs, and the rates that it had since.
    pub(super) changes: Option<Box<Rates>>,
}

/// The rates of a line, each with when it began.
type Rates = Vec<(Time, Option<Rate>)>;

impl Gateway {
    /// Before an idle line of `rate`, which is nominal if the line has a `varying` one. The device
    /// takes up to `ring` packets from the `queue` while another is sent.
    pub(super) fn new(rate: Rate, varying: Option<Varying>, queue: Box<dyn Discipline>, ring: u32) -> Self {
        let (traits, transmitter) = (queue.traits(), Transmitter::new(rate));
        let service = match varying {
            None => LineService::Fixed(transmitter.clone()),
            Some(varying) => LineService::Varying(Box::new(varying)),
        };
        let mut port = Port::new(queue, service).taking_ahead(ring);
        if traits.preempts {
            port = port.interrupting();
        }
        if traits.bypass > 0 {
            port = port.bypassed_by_its_driver();
        }
        Self { port, transmitter, interrupted: 0, passed: 0, update: None, has_ring: ring > 0, changes: None }
    }

    /// The same before a line that may change while it runs, if it `changes`.
    pub(super) fn changing(self, changes: bool) -> Self {
        Self { changes: changes.then(Box::default), ..self }
    }

    /// The line's rate, or the nominal one if it varies.
    pub(super) fn rate(&self) -> Rate {
        self.transmitter.rate()
    }

    /// The line has the rate `rate` from `now` on; `None` is a rate of 0.
    pub(super) fn has_rate(&mut self, now: Time, rate: Option<Rate>) {
        let before = self.rate();
        let rates = self.changes.get_or_insert_default();
        if rates.is_empty() {
            rates.push((Time::ZERO, Some(before)));
        }
        rates.push((now, rate));
        if let Some(rate) = rate {
            self.transmitter = Transmitter::new(rate);
        }
    }

    /// Whether the rate is another one than at the start, or was.
    pub(super) fn has_changed_rate(&self) -> bool {
        self.changes.as_ref().is_some_and(|rates| !rates.is_empty())
    }

    /// Whether the line's rate varies.
    pub(super) const fn varies(&self) -> bool {
        matches!(self.port.service(), LineService::Varying(_))
    }

    /// How long it takes to send a packet of `length` bytes.
    #[must_use]
    pub fn time_alone(&self, length: u32) -> Time {
        self.transmitter.time_alone(u64::from(length) * 8)
    }

    /// The least time that a packet of `length` bytes takes to send.
    #[must_use]
    pub fn least_time(&self, length: u32) -> Time {
        match self.port.service() {
            LineService::Fixed(_) => self.time_alone(length),
            LineService::Varying(varying) => varying.least_time(u64::from(length) * 8),
        }
    }

    /// The bits that the line could send between two times.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        match self.port.service() {
            LineService::Fixed(_) => match self.changes.as_deref().map(Vec::as_slice) {
                None | Some([]) => self.rate().bit_per_s() as f64 * (to - from).as_s(),
                Some(rates) => capacity(rates, from, to),
            },
            LineService::Varying(varying) => varying.capacity(from, to),
        }
    }

    /// The packet that the port sends, and its bytes.
    #[inline]
    pub(super) fn serving(&self) -> (Token, u32) {
        self.port.sending().map_or((Token::default(), 0), |(packet, ..)| (Token(packet.token), packet.length))
    }

    /// Packets that wait in the discipline and in the device's ring.
    #[must_use]
    #[inline]
    pub const fn waiting(&self) -> u64 {
        self.port.waiting()
    }

    /// How much of a packet of `length` bytes, whose transmission ends at `end`, has been sent at
    /// `now`.
    #[must_use]
    pub fn part_sent(&self, now: Time, length: u32, end: Time) -> Carried {
        if let Some(rest) = self.port.stalled() {
            return Carried::of_bits(u64::from(length) * 8 - u64::from(rest));
        }
        let left = match self.port.service() {
            LineService::Fixed(_) => u128::from(end.0.saturating_sub(now.0)) * u128::from(self.rate().bit_per_s()),
            LineService::Varying(varying) => varying.open(now),
        };
        Carried::of_bytes(length.into()).without(left)
    }
}

/// The bits that a line with these rates, each since its time, could send between two times.
fn capacity(rates: &[(Time, Option<Rate>)], from: Time, to: Time) -> f64 {
    let ends = rates[1..].iter().map(|(time, _)| *time).chain([Time::NEVER]);
    let of = |((since, rate), end): (&(Time, Option<Rate>), Time)| {
        let seconds = end.min(to).saturating_sub((*since).max(from)).as_s();
        rate.map_or(0.0, |rate| rate.bit_per_s() as f64 * seconds)
    };
    rates.iter().zip(ends).map(of).sum()
}

/// A transmission that begins: its packet, the packet's bytes, and when it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub served: (Token, u32),
    pub end: Time,
}

/// Notes what a port says during one call; the network acts on it after the call.
pub(super) struct Notes<'a> {
    pub arena: &'a mut Arena,
    pub fates: &'a mut Fates,
    /// The ids of packets that went into the ring.
    pub taken: &'a mut Vec<u32>,
    /// The gateway's `interrupted`.
    pub interrupted: &'a mut u64,
    /// What a run that is held keeps.
    pub by_hand: &'a mut ByHand,
    /// One at most: the network calls a port once for each end.
    pub begun: Option<Begun>,
    /// Whether a transmission ended.
    pub ended: bool,
}

impl Sink for Notes<'_> {
    #[inline]
    fn begins(&mut self, packet: &Packet, _: Time, end: Time) {
        debug_assert!(self.begun.is_none(), "one call begins one transmission");
        if packet.unsent_bits > 0 {
            // An interrupted transmission goes on.
            *self.interrupted -= u64::from(packet.length) * 8 - u64::from(packet.unsent_bits);
        }
        self.arena.note(packet);
        self.begun = Some(Begun { served: (Token(packet.token), packet.length), end });
    }

    #[inline]
    fn ended(&mut self, _: &Packet, _: Time) {
        self.ended = true;
    }

    fn joined(&mut self, packet: &Packet, _: Time, handle: Handle) {
        self.by_hand.joined(packet.token as u32, handle);
    }

    fn hears_decisions(&self) -> bool {
        self.by_hand.is_held
    }

    fn decided(&mut self, _: &Packet, _: Time, decision: &Decision) {
        self.by_hand.decision = Some(*decision);
    }

    fn dropped(&mut self, packet: &Packet, _: Time, why: Reason) {
        self.fates.push(Fate { packet: *packet, outcome: Outcome::Dropped(why) });
    }

    fn marked(&mut self, packet: &Packet, _: Time, marks: Marks) {
        self.fates.push(Fate { packet: *packet, outcome: Outcome::Marked(marks) });
    }

    fn interrupted(&mut self, packet: &Packet, _: Time) {
        *self.interrupted += (u64::from(packet.length) * 8).saturating_sub(packet.unsent_bits.into());
    }

    fn taken(&mut self, packet: &Packet, _: Time) {
        self.taken.push(self.arena.note(packet));
    }
}
