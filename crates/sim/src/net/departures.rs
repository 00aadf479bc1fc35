//! When the packets before a plain FIFO are sent: each one right after the one before it, so the
//! time is known at its arrival. No end of a transmission is an event there, and the discipline is
//! shown no packet.

use fairq_sched::packet::Reason;
use fairq_sched::units::{Limit, Time};
use std::collections::VecDeque;

/// The packets that wait before a line, in order, and their waiting time.
#[derive(Clone, Debug)]
pub(super) struct Departures {
    /// By packet: when its transmission begins, and its bytes.
    waiting: VecDeque<(Time, u32)>,
    /// Waiting bytes.
    bytes: u64,
    limit: Limit,
    /// The sum over packets of the picoseconds that each waits before its transmission begins,
    /// including time still to come.
    area: u128,
}

impl Departures {
    /// No waiting packet, and room for `limit`.
    #[must_use]
    pub(super) const fn new(limit: Limit) -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, limit, area: 0 }
    }

    /// Removes the packets whose transmission has begun, before `pending`.
    #[inline]
    pub(super) fn pass(&mut self, pending: Time) {
        while let Some((start, length)) = self.waiting.front()
            && *start < pending
        {
            self.bytes -= u64::from(*length);
            self.waiting.pop_front();
        }
    }

    /// Why a packet of `length` bytes cannot wait here; `None` if it can.
    #[inline]
    pub(super) fn refusal(&self, length: u32) -> Option<Reason> {
        let length = u64::from(length);
        if !self.limit.is_exceeded_by(self.count() + 1, self.bytes + length) {
            return None;
        }
        Some(if self.limit.is_exceeded_by(0, length) { Reason::TooLong } else { Reason::BufferFull })
    }

    /// A packet of `length` bytes that arrives `now` waits until `start`, behind all others.
    #[inline]
    pub(super) fn join(&mut self, now: Time, start: Time, length: u32) {
        self.waiting.push_back((start, length));
        self.bytes += u64::from(length);
        self.area += u128::from((start - now).0);
    }

    /// The number of waiting packets, if those whose transmission has begun were removed (`pass`).
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Waiting packets times picoseconds up to `now`, since this was last cleared.
    pub(super) fn area(&self, now: Time) -> u128 {
        self.area - self.to_come(now)
    }

    /// Forgets the waiting time up to `now`.
    pub(super) fn clear(&mut self, now: Time) {
        self.area = self.to_come(now);
    }

    /// The waiting time still to come after `now`, of the packets that wait.
    fn to_come(&self, now: Time) -> u128 {
        self.waiting.iter().map(|(start, _)| u128::from(start.0.saturating_sub(now.0))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_packet_is_within_the_limit_until_its_transmission_begins() {
        let mut departures = Departures::new(Limit::Bytes(250));
        assert_eq!(departures.refusal(251), Some(Reason::TooLong));
        departures.join(Time(10), Time(30), 100);
        departures.join(Time(20), Time(60), 150);
        assert_eq!((departures.count(), departures.refusal(1)), (2, Some(Reason::BufferFull)));
        departures.pass(Time(30));
        assert_eq!(departures.count(), 2);
        departures.pass(Time(31));
        assert_eq!(
            (departures.count(), departures.refusal(100), departures.refusal(101)),
            (1, None, Some(Reason::BufferFull))
        );
        let none = Departures::new(Limit::Packets(0));
        assert_eq!(none.refusal(1), Some(Reason::BufferFull));
        assert_eq!(Departures::new(Limit::Unlimited).refusal(u32::MAX), None);
    }

    #[test]
    fn what_was_waited_is_counted_up_to_now() {
        let mut departures = Departures::new(Limit::Unlimited);
        departures.join(Time(10), Time(30), 100);
        departures.join(Time(20), Time(60), 100);
        assert_eq!([20, 30, 50, 60, 90].map(|now| departures.area(Time(now))), [10, 30, 50, 60, 60]);
        departures.pass(Time(51));
        assert_eq!(departures.area(Time(50)), 50);
        departures.clear(Time(50));
        assert_eq!([50, 60].map(|now| departures.area(Time(now))), [0, 10]);
    }
}
