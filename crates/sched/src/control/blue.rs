//! BLUE's control law: one probability that rises on loss and falls when the line is idle.
//!
//! Source: Feng, Kandlur, Saha and Shin, "BLUE: A New Class of Active Queue Management Algorithms",
//! 1999 (figure 4). An idle line lowers it when it becomes idle and again for each freeze time that
//! it stays so: a driver that calls more often does not change it.

use crate::units::Time;

/// By how much the probability changes, and how often it may.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// d1, added on loss.
    pub increment: f64,
    /// d2, taken off when the line is idle.
    pub decrement: f64,
    /// The least time between two changes.
    pub freeze: Time,
}

/// The probability.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blue {
    probability: f64,
    changed: Option<Time>,
}

impl Blue {
    /// The probability with which a packet is marked or dropped.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// Something was lost.
    pub fn rise(&mut self, now: Time, steps: &Steps) {
        if self.may_change(now, steps) {
            self.probability = (self.probability + steps.increment).min(1.0);
            self.changed = Some(now);
        }
    }

    /// The line is idle, or nothing waits: one step down.
    pub fn fall(&mut self, now: Time, steps: &Steps) {
        if self.may_change(now, steps) {
            self.probability = (self.probability - steps.decrement).max(0.0);
            self.changed = Some(now);
        }
    }

    /// The line has been idle from `since` to `now`: as many steps down as the freeze time, which
    /// is not zero, allows.
    pub fn idle(&mut self, since: Time, now: Time, steps: &Steps) {
        let first = self.changed.map_or(since, |changed| changed.saturating_add(steps.freeze).max(since));
        if first > now {
            return;
        }
        let more = (now - first).0 / steps.freeze.0.max(1);
        self.probability = (self.probability - (more + 1) as f64 * steps.decrement).max(0.0);
        self.changed = Some(Time(first.0 + more * steps.freeze.0));
    }

    fn may_change(&self, now: Time, steps: &Steps) -> bool {
        self.changed.is_none_or(|changed| now.saturating_sub(changed) >= steps.freeze)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: Steps = Steps { increment: 0.25, decrement: 0.0625, freeze: Time::from_ms(10) };

    #[test]
    fn it_changes_once_in_a_freeze_time_and_stays_within_zero_and_one() {
        let mut blue = Blue::default();
        for ms in 0..30 {
            blue.rise(Time::from_ms(ms), &STEPS);
        }
        assert_eq!(blue.probability(), 0.75);
        blue.fall(Time::from_ms(29), &STEPS);
        assert_eq!(blue.probability(), 0.75, "frozen");
        blue.fall(Time::from_ms(30), &STEPS);
        assert_eq!(blue.probability(), 0.6875);
        (0..9).for_each(|at| blue.rise(Time::from_s(1 + at), &STEPS));
        assert_eq!(blue.probability(), 1.0);
        (0..99).for_each(|at| blue.fall(Time::from_s(20 + at), &STEPS));
        assert_eq!(blue.probability(), 0.0);
    }

    #[test]
    fn an_idle_time_told_in_pieces_counts_the_same() {
        let mut at_once = Blue::default();
        (0..4).for_each(|at| at_once.rise(Time::from_s(at), &STEPS));
        let mut pieces = at_once;
        let since = Time::from_ms(3004);
        at_once.idle(since, Time::from_ms(3057), &STEPS);
        (3004..=3057).for_each(|ms| pieces.idle(since, Time::from_ms(ms), &STEPS));
        // At 3010, 3020, 3030, 3040 and 3050 ms.
        assert_eq!((at_once.probability(), pieces.probability()), (0.6875, 0.6875));
        assert_eq!(at_once.changed, pieces.changed);
    }
}
