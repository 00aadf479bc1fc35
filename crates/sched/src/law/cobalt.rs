//! COBALT's control law for one queue: CoDel's schedule, which decays instead of being forgotten, and BLUE's probability
//! for those that do not listen.
//!
//! Source: Hoeiland-Joergensen, Taht and Morton, "Piece of CAKE", LANMAN 2018 (section 3), and the Linux qdisc as
//! remembered.

use super::codel::after;
use crate::units::Time;

/// Times, and BLUE's steps.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// The delay that is acceptable.
    pub target: Time,
    /// How long the delay must have been above it.
    pub interval: Time,
    /// How long the greatest packet takes to be sent: to wait for four of them is acceptable too.
    pub packet_time: Time,
    /// What a full buffer adds to the probability of a drop.
    pub increment: f64,
    /// What an empty queue takes off it.
    pub decrement: f64,
}

/// So many of the greatest packets may always be ahead: on a slow line they alone take longer than the target.
const ALWAYS: u64 = 4;

impl Parameters {
    fn is_late(&self, sojourn: Time) -> bool {
        sojourn > self.target && sojourn > Time(self.packet_time.0.saturating_mul(ALWAYS))
    }
}

/// What becomes of the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is sent.
    Pass,
    /// It is marked if it can be, else dropped.
    Signal,
    /// It is dropped, whatever it accepts.
    Drop,
}

/// What is known of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    is_dropping: bool,
    /// Signals since the schedule began, less those that decayed.
    count: u64,
    drop_next: Time,
    probability: f64,
    /// When the probability changed last.
    changed: Time,
}

impl Control {
    /// Judges a head that has waited for `sojourn`; `draw` is uniform in [0, 1).
    pub fn judge(&mut self, now: Time, sojourn: Time, draw: f64, parameters: &Parameters) -> Judgement {
        let is_due = self.count > 0 && now >= self.drop_next;
        let is_above = parameters.is_late(sojourn);
        if is_above && !self.is_dropping {
            self.drop_next = after(now, parameters.interval, self.count);
            self.count = self.count.max(1);
        }
        self.is_dropping = is_above;
        let mut judgement = Judgement::Pass;
        if is_due && is_above && now >= self.drop_next {
            judgement = Judgement::Signal;
            self.count += 1;
            self.drop_next = after(self.drop_next, parameters.interval, self.count);
        } else if !is_above {
            self.decay(now, parameters);
        }
        // ECN does not help against BLUE: it is for those that do not listen.
        if draw < self.probability {
            judgement = Judgement::Drop;
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add(parameters.interval);
        }
        judgement
    }

    /// A packet of this queue had to go to make room.
    pub fn full(&mut self, now: Time, parameters: &Parameters) {
        if now.saturating_sub(self.changed) > parameters.target {
            self.probability = (self.probability + parameters.increment).min(1.0);
            self.changed = now;
        }
        (self.is_dropping, self.drop_next, self.count) = (true, now, self.count.max(1));
    }

    /// Nothing waits any more.
    pub fn emptied(&mut self, now: Time, parameters: &Parameters) {
        if now.saturating_sub(self.changed) > parameters.target {
            self.probability = (self.probability - parameters.decrement).max(0.0);
            self.changed = now;
        }
        self.is_dropping = false;
    }

    /// A packet comes to the empty queue: the steps down for the time in which it was empty.
    pub fn wakes(&mut self, now: Time, parameters: &Parameters) {
        let periods = now.saturating_sub(self.changed).0 / parameters.target.0.max(1);
        self.probability = (self.probability - periods as f64 * parameters.decrement).max(0.0);
    }

    /// Whether an empty queue would be judged as if nothing was known of it.
    #[must_use]
    pub fn is_clear(&self, now: Time, parameters: &Parameters) -> bool {
        // Signals are at most an interval apart.
        let forgets = Time(parameters.interval.0.saturating_mul(self.count));
        let mut later = *self;
        later.wakes(now, parameters);
        later.probability == 0.0 && (self.count == 0 || now >= self.drop_next.saturating_add(forgets))
    }

    /// BLUE's probability.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// A signal that was due and not needed is taken back.
    fn decay(&mut self, now: Time, parameters: &Parameters) {
        while self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = after(self.drop_next, parameters.interval, self.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// The times, in ms, at which a head is a signal, if one comes each ms up to `end` and has waited for `sojourn` ms.
    fn signals(control: &mut Control, end: u64, sojourn: u64, packet_time: u64) -> alloc::vec::Vec<u64> {
        let parameters = Parameters {
            target: Time(5 * MS),
            interval: Time(100 * MS),
            packet_time: Time(packet_time * MS),
            increment: 0.5,
            decrement: 0.25,
        };
        let judge = |ms: &u64| control.judge(Time(*ms * MS), Time(sojourn * MS), 0.5, &parameters) != Judgement::Pass;
        (0..end).filter(judge).collect()
    }

    #[test]
    fn signals_come_after_an_interval_and_ever_more_often() {
        // 100, then 100/√2 = 70.7, 57.7 and 50 later, each with the first head from then on.
        assert_eq!(signals(&mut Control::default(), 320, 6, 0), [100, 171, 229, 279]);
        assert!(signals(&mut Control::default(), 400, 5, 0).is_empty(), "the target is acceptable");
    }

    #[test]
    fn four_of_the_greatest_packets_may_be_ahead() {
        assert!(signals(&mut Control::default(), 400, 48, 12).is_empty());
        assert_eq!(signals(&mut Control::default(), 150, 49, 12), [100]);
        // On a fast line it is the target that counts.
        assert_eq!(signals(&mut Control::default(), 150, 6, 1), [100]);
    }
}
