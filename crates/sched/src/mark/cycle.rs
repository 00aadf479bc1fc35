//! The average queue over regeneration cycles, as DECbit gateways take it (Jain and Ramakrishnan
//! 1988).
//!
//! A cycle is a busy period and the idle one after it: it begins with the arrival that finds the
//! gateway empty. The average is over the last whole cycle and the present one up to now, the
//! packet being sent counted. It is kept in whole packet-picoseconds, so that an average of exactly
//! one is told from one just below.

use crate::store::Store;
use crate::units::Time;

/// An interval of time and the integral of the queue over it.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    begin: Time,
    /// Packets times picoseconds.
    area: u128,
}

/// The last whole cycle and the present one.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycles {
    last: Span,
    present: Span,
    changed: Time,
}

impl Cycles {
    /// Called before the held packets change.
    pub(super) fn before_change(&mut self, now: Time, store: &Store) {
        self.present.area += u128::from(store.packets_with_serving()) * u128::from((now - self.changed).0);
        self.changed = now;
    }

    /// A packet arrives; whether it begins a new cycle.
    pub(super) fn arrive(&mut self, now: Time, store: &Store) -> bool {
        let begins = store.packets_with_serving() == 0;
        if begins {
            self.last = self.present;
            self.present = Span { begin: now, area: 0 };
        }
        begins
    }

    /// The integral of the queue over the interval and the interval's length.
    pub(super) fn interval(&self, now: Time) -> (u128, Time) {
        (self.last.area + self.present.area, now - self.last.begin)
    }

    /// Whether the average is at least `threshold` thousandths of a packet.
    pub(super) fn is_at_least(&self, now: Time, threshold: u32) -> bool {
        let (area, length) = self.interval(now);
        area * 1000 >= u128::from(length.0) * u128::from(threshold) && length > Time::ZERO
    }

    /// The average queue, in packets.
    pub(super) fn average(&self) -> f64 {
        let (area, length) = self.interval(self.changed);
        if length == Time::ZERO { 0.0 } else { area as f64 / length.0 as f64 }
    }
}
