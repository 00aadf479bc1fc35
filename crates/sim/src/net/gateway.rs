//! What stands before a line of finite rate: the discipline, the device's ring, the transmitter.

use super::counts::Carried;
use super::ring::Ring;
use super::varying::Varying;
use crate::segment::Token;
use fairq_sched::contract::Discipline;
use fairq_sched::ledger::Ledger;
use fairq_sched::service::{Service, Transmitter};
use fairq_sched::units::{Rate, Time};

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

impl Gateway {
    /// Before an idle line of `rate`, which is nominal if the line has a `varying` one.
    pub(super) fn new(rate: Rate, varying: Option<Varying>, queue: Box<dyn Discipline>, ring: Ring) -> Self {
        let traits = queue.traits();
        Self {
            serving: (Token::default(), 0),
            interrupted: 0,
            can_preempt: traits.preempts,
            notes_idle: traits.hears_idle,
            transmitter: Transmitter::new(rate),
            passed: None,
            update: None,
            varying: varying.map(Box::new),
            ring,
            queue: Ledger::new(queue),
        }
    }

    /// The line's rate, or the nominal one if it varies.
    pub(super) fn rate(&self) -> Rate {
        self.transmitter.rate()
    }

    /// Whether the line's rate varies.
    pub(super) const fn varies(&self) -> bool {
        self.varying.is_some()
    }

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
    pub(super) fn begin(&mut self, now: Time) {
        match &mut self.varying {
            None => self.transmitter.begin(now),
            Some(varying) => varying.begin(now),
        }
    }

    /// Sends `bits` right after what was sent before. Returns when that ends.
    #[inline]
    pub(super) fn send(&mut self, bits: u64) -> Time {
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
        Carried::of_bytes(length.into()).without(left)
    }
}
