//! COBALT's control law for one queue: CoDel's schedule, which decays instead of being forgotten,
//! and BLUE's probability for those that do not listen.
//!
//! Source: Hoeiland-Joergensen, Taht and Morton, "Piece of CAKE", LANMAN 2018 (section 3), and the
//! Linux qdisc (`cobalt_should_drop`, `cobalt_queue_full` and `cobalt_queue_empty` of sch_cake.c).

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

/// This many of the largest packets may always be ahead: on a slow line they alone take longer than
/// the target.
const ALWAYS: u64 = 4;

impl Parameters {
    fn is_late(&self, sojourn: Time) -> bool {
        sojourn > self.target && sojourn > Time(self.packet_time.0.saturating_mul(ALWAYS))
    }
}

/// The decision on the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is sent.
    Pass,
    /// It is marked if it can be, else dropped.
    Signal,
    /// It is dropped, whatever it accepts.
    Drop,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    is_dropping: bool,
    /// Signals since the schedule began, less those that decayed.
    count: u64,
    drop_next: Time,
    probability: f64,
    /// When the probability changed last by more than an empty time.
    changed: Time,
}

impl Control {
    /// Judges a head that has waited for `sojourn` and `is_marked` by a signal, not dropped; `draw`
    /// is uniform in [0, 1).
    pub fn judge(
        &mut self,
        now: Time,
        sojourn: Time,
        is_marked: bool,
        draw: f64,
        parameters: &Parameters,
    ) -> Judgement {
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
        let is_dropped = judgement == Judgement::Drop || (judgement == Judgement::Signal && !is_marked);
        if self.count == 0 {
            self.drop_next = now.saturating_add(parameters.interval);
        } else if now > self.drop_next && !is_dropped {
            // The schedule does not run after a head that goes on.
            self.drop_next = now;
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
        // Only a probability that falls has changed: an overflow soon after must count.
        if self.probability > 0.0 && now.saturating_sub(self.changed) > parameters.target {
            self.probability = (self.probability - parameters.decrement).max(0.0);
            self.changed = now;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = after(self.drop_next, parameters.interval, self.count);
        }
    }

    /// A packet comes to the empty queue: the steps down for the time in which it was empty, and
    /// the signals that were due then and not needed.
    pub fn wakes(&mut self, now: Time, parameters: &Parameters) {
        let periods = now.saturating_sub(self.changed).0 / parameters.target.0.max(1);
        self.probability = (self.probability - periods as f64 * parameters.decrement).max(0.0);
        self.decay(now, parameters);
    }

    /// Whether an empty queue would be judged as if nothing was known of it.
    #[must_use]
    pub fn is_clear(&self, now: Time, parameters: &Parameters) -> bool {
        let mut later = *self;
        later.wakes(now, parameters);
        later.probability == 0.0 && later.count == 0
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

    /// The times, in ms, at which a head is a signal, if one comes each ms up to `end` and has
    /// waited for `sojourn` ms.
    fn signals(control: &mut Control, end: u64, sojourn: u64, packet_time: u64) -> alloc::vec::Vec<u64> {
        let parameters = Parameters {
            target: Time(5 * MS),
            interval: Time(100 * MS),
            packet_time: Time(packet_time * MS),
            increment: 0.5,
            decrement: 0.25,
        };
        let judge =
            |ms: &u64| control.judge(Time(*ms * MS), Time(sojourn * MS), false, 0.5, &parameters) != Judgement::Pass;
        (0..end).filter(judge).collect()
    }

    #[test]
    fn signals_come_after_an_interval_and_ever_more_often() {
        // 100, then 100/√2 = 70.7, 57.7 and 50 later, each with the first head from then on.
        assert_eq!(signals(&mut Control::default(), 320, 6, 0), [100, 171, 229, 279]);
        assert!(signals(&mut Control::default(), 400, 5, 0).is_empty(), "the target is acceptable");
    }

    const PARAMETERS: Parameters = Parameters {
        target: Time(5 * MS),
        interval: Time(100 * MS),
        packet_time: Time::ZERO,
        increment: 0.25,
        decrement: 0.0625,
    };

    #[test]
    fn an_overflow_soon_after_an_empty_queue_counts() {
        // The queue has been empty at 100 ms and overflows 1 ms later, at probability 0: nothing
        // had changed.
        let mut control = Control::default();
        control.emptied(Time(100 * MS), &PARAMETERS);
        control.full(Time(101 * MS), &PARAMETERS);
        assert_eq!(control.probability(), 0.25);
        // From then on it changes once in a target time, up or down.
        control.full(Time(104 * MS), &PARAMETERS);
        control.emptied(Time(105 * MS), &PARAMETERS);
        assert_eq!(control.probability(), 0.25);
        control.emptied(Time(107 * MS), &PARAMETERS);
        control.full(Time(108 * MS), &PARAMETERS);
        assert_eq!(control.probability(), 0.1875);
    }

    #[test]
    fn an_empty_queue_takes_a_signal_back() {
        // Three signals: at 100, 171 and 229 ms; the fourth is due at 279.
        let late = |control: &mut Control, ms| control.judge(Time(ms * MS), Time(6 * MS), false, 0.5, &PARAMETERS);
        let mut control = Control::default();
        assert_eq!((0..250).filter(|ms| late(&mut control, *ms) == Judgement::Signal).count(), 3);
        let before = control.count;
        control.emptied(Time(250 * MS), &PARAMETERS);
        assert_eq!(control.count, before, "none is due");
        control.emptied(Time(280 * MS), &PARAMETERS);
        assert_eq!(control.count, before - 1);
        // In a longer empty time all are, and nothing is known of the queue.
        assert!(!control.is_clear(Time(300 * MS), &PARAMETERS) && control.is_clear(Time(900 * MS), &PARAMETERS));
        control.wakes(Time(900 * MS), &PARAMETERS);
        assert_eq!(control.count, 0);
    }

    #[test]
    fn a_schedule_that_was_late_goes_on_from_a_head_that_is_sent() {
        // Signals are due at 100, 171, 229, … ms, but the first head since 50 ms comes at 400 ms.
        // Dropped, all that were due follow at once. Marked it goes on: one is due at 400, and the
        // next an interval/√3 = 57.7 ms later.
        let signals = |is_marked| {
            let mut control = Control::default();
            let mut judge =
                |ms| control.judge(Time(ms * MS), Time(6 * MS), is_marked, 0.5, &PARAMETERS) == Judgement::Signal;
            assert!(!judge(0) && !judge(50));
            [judge(400), judge(401), judge(402), judge(430), judge(458), judge(459)]
        };
        assert_eq!(signals(true), [true, true, false, false, true, false]);
        assert_eq!(signals(false), [true; 6]);
    }

    #[test]
    fn four_of_the_greatest_packets_may_be_ahead() {
        assert!(signals(&mut Control::default(), 400, 48, 12).is_empty());
        assert_eq!(signals(&mut Control::default(), 150, 49, 12), [100]);
        // On a fast line it is the target that counts.
        assert_eq!(signals(&mut Control::default(), 150, 6, 1), [100]);
    }
}
