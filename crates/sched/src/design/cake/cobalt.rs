//! COBALT in the arithmetic of Linux 6.1 (sch_cake.c): CoDel's schedule, which decays in place of
//! being forgotten, and BLUE.
//!
//! Times are nanoseconds. 1/√count has 32 binary places; up to 15 it is looked up, above improved
//! by a step of Newton's method (`cobalt_invsqrt`). A queue that never had a signal has 0 there, so
//! that its first signal comes with the first late packet after the one that was found late
//! (`cobalt_vars_init`, `cobalt_should_drop`).

use crate::control::codel::improved_root;

/// Roots that are looked up.
const CACHED: usize = 16;

const ROOTS: [u32; CACHED] = {
    let mut roots = [u32::MAX; CACHED];
    let (mut count, mut root) = (1, u32::MAX);
    while count < CACHED {
        let mut steps = 0;
        while steps < 4 {
            root = improved_root(root, count as u32);
            steps += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

/// A tin's times (`cake_set_rate`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub(super) target: u64,
    pub(super) interval: u64,
    /// How long the greatest packet takes; 0 where the rate is not known.
    pub(super) packet_time: u64,
}

/// What a full buffer adds to BLUE's probability and what an empty queue takes off it, in parts of
/// 2^32.
const INCREMENT: u32 = 1 << 24;
const DECREMENT: u32 = 1 << 20;

/// State of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    is_dropping: bool,
    count: u32,
    root: u32,
    drop_next: u64,
    probability: u32,
    changed: u64,
}

impl Control {
    /// Judges a head that has waited for `sojourn`: whether it is marked, and whether it is
    /// dropped, unless it is the last of its queue. `draw` is asked for a number of 32 bits if BLUE
    /// acts.
    pub(super) fn judge(
        &mut self,
        now: u64,
        sojourn: u64,
        bulk_flows: u64,
        can_mark: bool,
        parameters: &Parameters,
        draw: impl FnOnce() -> u32,
    ) -> (bool, bool) {
        let Parameters { target, interval, packet_time } = *parameters;
        let is_above = sojourn > target
            && sojourn > packet_time.saturating_mul(bulk_flows).saturating_mul(2)
            && sojourn > packet_time.saturating_mul(4);
        let is_due = self.count > 0 && now >= self.drop_next;
        // Whether the schedule is behind after this head.
        let mut is_behind = now > self.drop_next;
        if is_above {
            if !self.is_dropping {
                self.is_dropping = true;
                self.drop_next = self.after(now, interval);
            }
            self.count = self.count.max(1);
        } else {
            self.is_dropping = false;
        }
        let (mut is_marked, mut is_dropped) = (false, false);
        if is_due && self.is_dropping {
            (is_marked, is_dropped) = (can_mark, !can_mark);
            self.count = self.count.saturating_add(1);
            self.renew_root();
            self.drop_next = self.after(self.drop_next, interval);
            is_behind = now > self.drop_next;
        } else if is_due {
            is_behind = self.decay(now, interval);
        }
        if self.probability > 0 {
            is_dropped |= draw() < self.probability;
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add(interval);
        } else if is_behind && !is_dropped {
            self.drop_next = now;
        }
        (is_marked, is_dropped)
    }

    /// A packet of this queue had to go to make room; whether BLUE begins to act.
    pub(super) fn full(&mut self, now: u64, parameters: &Parameters) -> bool {
        let mut begins = false;
        if now.saturating_sub(self.changed) > parameters.target {
            begins = self.probability == 0;
            self.probability = self.probability.saturating_add(INCREMENT);
            self.changed = now;
        }
        (self.is_dropping, self.drop_next, self.count) = (true, now, self.count.max(1));
        begins
    }

    /// It was the queue's turn and it was empty; whether BLUE ceases to act.
    pub(super) fn found_empty(&mut self, now: u64, parameters: &Parameters) -> bool {
        let mut ceases = false;
        if self.probability > 0 && now.saturating_sub(self.changed) > parameters.target {
            self.probability = self.probability.saturating_sub(DECREMENT);
            self.changed = now;
            ceases = self.probability == 0;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.renew_root();
            self.drop_next = self.after(self.drop_next, parameters.interval);
        }
        ceases
    }

    /// Whether an empty queue keeps its place until its state has decayed.
    pub(super) const fn decays(&self, now: u64) -> bool {
        self.probability > 0 || self.count > 0 || now < self.drop_next
    }

    /// Takes signals back that were due and not needed; whether the schedule is behind.
    fn decay(&mut self, now: u64, interval: u64) -> bool {
        while self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.renew_root();
            self.drop_next = self.after(self.drop_next, interval);
        }
        now > self.drop_next
    }

    fn renew_root(&mut self) {
        self.root = ROOTS.get(self.count as usize).copied().unwrap_or_else(|| improved_root(self.root, self.count));
    }

    fn after(&self, time: u64, interval: u64) -> u64 {
        // The kernel hands an interval of 32 bits to `reciprocal_scale`.
        let interval = interval & u64::from(u32::MAX);
        time.saturating_add((interval * u64::from(self.root)) >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const PARAMETERS: Parameters = Parameters { target: 5 * MS, interval: 100 * MS, packet_time: 0 };

    #[test]
    fn the_roots_are_those_of_their_numbers() {
        for (count, root) in ROOTS.iter().enumerate().skip(1) {
            let exact = 4_294_967_296.0 / libm::sqrt(count as f64);
            assert!((f64::from(*root) - exact).abs() < exact * 1e-3, "{count}: {root}, not {exact}");
        }
    }

    #[test]
    fn signals_come_ever_more_often_and_are_taken_back() {
        let mut control = Control::default();
        let mut judge = |ms: u64, sojourn: u64| control.judge(ms * MS, sojourn * MS, 0, false, &PARAMETERS, || 0).1;
        assert!(!judge(0, 1));
        let signals: alloc::vec::Vec<u64> = (1..400).filter(|ms| judge(*ms, 6)).collect();
        // The first with the second late head, then 100/√2 = 70.7, 57.7, 50, 44.7, 40.8 and 37.8
        // later.
        assert_eq!(signals, [2, 72, 130, 180, 225, 265, 303, 339, 372]);
        assert!(!control.decays(u64::MAX) || control.count > 0);
        let mut calm = control;
        calm.judge(10_000 * MS, 0, 0, false, &PARAMETERS, || 0);
        assert_eq!(calm.count, 0);
    }
}
