//! What one tenant has been charged, as a finish tag that can be corrected when a true cost is
//! known; what its items cost on average.
//!
//! A tenant's tag is F = max(old, floor) + since: `floor` is the virtual time at which it last
//! began to wait, `since` what was charged from then on, `old` what its tag was before. A
//! correction goes to the part that the charge went to: the refund of an item started before the
//! tenant was without waiting items lowers `old`, and as F is at least the floor it gives no credit
//! for the time in which nothing was asked.

use super::policy::{Charge, Head};
use crate::units::Weight;

/// Virtual time: service of weight one, in steps of 2⁻³² unit. 128 bits last for 2⁸⁶ units at the
/// least weight (with nanoseconds two thousand million years); what costs more than can be told
/// saturates.
pub type Tag = u128;

/// What `cost` is for a tenant of `weight`.
pub(super) fn charge(cost: u64, weight: Weight) -> Tag {
    share(cost, u64::from(weight.thousandths()))
}

/// `cost` per unit of weight among tenants whose weights are `thousandths` together, at least 1.
/// Less than one unit of service counts as one: items without cost would take every seat.
pub(super) fn share(cost: u64, thousandths: u64) -> Tag {
    let scaled = u128::from(cost.max(1)) << 32;
    scaled * u128::from(Weight::ONE.thousandths()) / u128::from(thousandths.max(1))
}

/// What a tenant has been charged.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    old: Tag,
    floor: Tag,
    since: Tag,
    /// How often it began to wait.
    epoch: u64,
}

impl Account {
    /// F: where its next item starts if it waits, and what it owes if it is above the virtual time.
    pub(super) fn finish(&self) -> Tag {
        self.old.max(self.floor).saturating_add(self.since)
    }

    /// It begins to wait at virtual time `now`: S = max(V, F).
    pub(super) fn wake(&mut self, now: Tag) {
        *self = Self { old: self.finish(), floor: now, since: 0, epoch: self.epoch + 1 };
    }

    /// An item starts that is thought to cost its guess: F = S + guess/w.
    pub(super) fn start(&mut self, head: &Head) -> Charge {
        self.since = self.since.saturating_add(charge(head.guess, head.weight));
        Charge { mark: self.epoch, ..Charge::new(head, head.guess) }
    }

    /// What was charged `epoch` times after it began to wait was too much by `amount`: as in
    /// `correct`.
    pub(super) fn refund(&mut self, epoch: u64, amount: Tag) {
        let part = if epoch == self.epoch { &mut self.since } else { &mut self.old };
        *part = part.saturating_sub(amount);
    }

    /// Charges `amount` on top of all that was charged, whenever its item started; how often it
    /// began to wait.
    pub(super) fn add(&mut self, amount: Tag) -> u64 {
        self.since = self.since.saturating_add(amount);
        self.epoch
    }

    /// The item of `provisional` cost `cost` in truth, or so far.
    pub(super) fn correct(&mut self, provisional: &mut Charge, cost: u64) {
        let part = if provisional.mark == self.epoch { &mut self.since } else { &mut self.old };
        let guessed = charge(provisional.guess, provisional.weight);
        *part = part.saturating_sub(guessed).saturating_add(charge(cost, provisional.weight));
        provisional.guess = cost;
    }
}

/// What items cost on average: a mean that goes an eighth of the way to each new cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mean {
    /// Eight times the mean; `None` before the first item ended.
    eighths: Option<u128>,
}

impl Mean {
    pub(super) fn get(self) -> Option<u64> {
        self.eighths.map(|eighths| u64::try_from(eighths / 8).unwrap_or(u64::MAX))
    }

    pub(super) fn note(&mut self, cost: u64) {
        let cost = u128::from(cost);
        self.eighths = Some(self.eighths.map_or(cost * 8, |eighths| eighths - eighths / 8 + cost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Tag = 1 << 32;

    fn head(guess: u64, weight: Weight) -> Head {
        Head { serial: 0, seats: 1, guess, told: None, size: 0, weight, priority: 0, arrival: 0 }
    }

    #[test]
    fn a_correction_leaves_the_tag_that_the_true_cost_would_have_given() {
        let mut account = Account::default();
        account.wake(10 * UNIT);
        let two = Weight::from_thousandths(2000).unwrap();
        let (mut low, mut high) = (account.start(&head(1, two)), account.start(&head(1000, two)));
        account.correct(&mut high, 6);
        account.correct(&mut low, 100);
        assert_eq!(account.finish(), (10 + 53) * UNIT);
    }

    #[test]
    fn a_late_refund_gives_no_credit_for_the_time_before_the_tenant_came_back() {
        let mut account = Account::default();
        let mut early = account.start(&head(12, Weight::ONE));
        account.wake(10 * UNIT);
        assert_eq!(account.finish(), 12 * UNIT);
        account.start(&head(5, Weight::ONE));
        // With a cost of 3 the tag would have been 3 at virtual time 10, and the next item would
        // have started at 10.
        account.correct(&mut early, 3);
        assert_eq!(account.finish(), 15 * UNIT);
    }

    #[test]
    fn a_late_charge_counts_from_where_the_tenant_was() {
        let mut account = Account::default();
        let mut early = account.start(&head(1, Weight::ONE));
        account.wake(10 * UNIT);
        account.correct(&mut early, 14);
        assert_eq!(account.finish(), 14 * UNIT);
    }

    #[test]
    fn the_greatest_costs_saturate() {
        let mut account = Account::default();
        let least = Weight::from_thousandths(1).unwrap();
        for _ in 0..3 {
            let mut charge = account.start(&head(u64::MAX, least));
            account.correct(&mut charge, u64::MAX);
        }
        account.wake(Tag::MAX);
        let mut charge = account.start(&head(u64::MAX, least));
        assert_eq!(account.finish(), Tag::MAX);
        account.correct(&mut charge, 0);
        assert_eq!(account.finish(), Tag::MAX);
    }
}
