//! The fluid that FQ, WFQ and WF2Q emulate: R(t), driven by a line whose rate may change, and the F
//! of every flow.
//!
//! Source: Parekh and Gallager, "A Generalized Processor Sharing Approach to Flow Control", ToN
//! 1993, section II; the deletions in turn, the rounding and its proof are in round.rs.
//! Chosen: the nominal rate drives R(t), and a change of it counts from when it is told; a packet
//! that is dropped after it joined is taken back from the end of its flow, as far as the fluid has
//! not served it.

use crate::contract::Slot;
use crate::reading::{Reading, Unit};
use crate::round::{self, Round, Stamp};
use crate::units::{Rate, Time, Weight};

/// R(t) in real time.
pub struct Emulation {
    rate: Rate,
    /// What the fluid could have done at `changed`, when the rate last changed.
    work: u128,
    changed: Time,
    round: Round,
}

impl Emulation {
    /// A fluid that has nothing, on a line of `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self { rate, work: 0, changed: Time::ZERO, round: Round::new() }
    }

    /// R(`now`).
    #[inline]
    pub fn round(&mut self, now: Time) -> round::Tag {
        self.advance(now);
        self.round.now()
    }

    /// A packet of `length` bytes joins `flow`: its S and F.
    #[inline(always)]
    pub fn join(&mut self, now: Time, flow: Slot, weight: Weight, length: u32) -> Stamp {
        self.advance(now);
        self.round.charge(flow, weight, length)
    }

    /// F of the last packet of `flow`; 0 if it never had one.
    #[inline]
    pub fn last_finish(&self, flow: Slot) -> round::Tag {
        self.round.last_finish(flow)
    }

    /// A packet of `length` bytes that had joined `flow` was dropped: F goes back by it, though not
    /// below R.
    pub fn take_back(&mut self, now: Time, flow: Slot, weight: Weight, length: u32) {
        self.advance(now);
        let size = u128::from(length) * (round::BYTE_WORK / u128::from(weight.thousandths()));
        let back = self.round.last_finish(flow).saturating_sub(size);
        self.round.refund(flow, back);
    }

    /// Whether the fluid has nothing of `flow`, so that F <= R.
    pub fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.advance(now);
        !self.round.is_active(flow)
    }

    /// Whether the fluid has nothing left at `time`, if nothing comes before.
    pub fn is_empty_at(&self, time: Time) -> bool {
        self.round.is_empty_at(self.work_at(time))
    }

    /// The line has a new rate from now.
    pub fn rate_changed(&mut self, now: Time, rate: Rate) {
        self.work += round::work(self.rate, now - self.changed);
        self.changed = now;
        self.rate = rate;
    }

    /// The weight of `flow` has changed; tags already given stand.
    pub fn weight_changed(&mut self, now: Time, flow: Slot, weight: Weight) {
        self.advance(now);
        self.round.set_weight(flow, weight);
    }

    /// Visits the weights of the flows that are in the fluid.
    pub fn readings(&self, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("active_weight", Unit::None, self.round.active_weight() as f64 / 1000.0));
    }

    #[inline(always)]
    fn advance(&mut self, now: Time) {
        self.round.advance(self.work_at(now));
    }

    /// What the fluid can have done by `time`.
    #[inline]
    fn work_at(&self, time: Time) -> u128 {
        self.work + round::work(self.rate, time - self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::BYTE;

    #[test]
    fn r_follows_the_rate_and_what_is_taken_back_is_not_served() {
        // A byte a second; flow 0 has ten bytes, flow 1 twice three.
        let mut fluid = Emulation::new(Rate::new(8).unwrap());
        assert_eq!(fluid.join(Time::ZERO, 0, Weight::ONE, 10).finish, 10 * BYTE);
        assert_eq!(fluid.join(Time::ZERO, 1, Weight::ONE, 3).finish, 3 * BYTE);
        assert_eq!(fluid.join(Time::ZERO, 1, Weight::ONE, 3), Stamp { start: 3 * BYTE, finish: 6 * BYTE });
        assert_eq!(fluid.round(Time::from_s(2)), BYTE);
        // From 2 s two bytes a second: R is 2 at 3 s. One of flow 1's is dropped: it leaves at
        // R = 3, at 4 s.
        fluid.rate_changed(Time::from_s(2), Rate::new(16).unwrap());
        fluid.take_back(Time::from_s(3), 1, Weight::ONE, 3);
        assert!(!fluid.is_clear(Time(3_999_999_999_999), 1) && fluid.is_clear(Time::from_s(4), 1));
        assert_eq!(fluid.round(Time::from_s(5)), 5 * BYTE);
        // A third of the rounds is the third of a byte that a flow of weight 2 beside it leaves
        // over.
        assert_eq!(fluid.join(Time::from_s(5), 1, Weight::from_thousandths(2000).unwrap(), 6).finish, 8 * BYTE);
        assert_eq!(fluid.round(Time::from_s(6)), 5 * BYTE + 2 * BYTE / 3);
    }
}
