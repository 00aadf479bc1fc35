//! CoDel's control law for one queue: when has the delay been above target for long enough, and when is the next signal due?
//!
//! Source: Nichols, Jacobson, McGregor and Iyengar, RFC 8289 (2018), section 5 (pseudocode of deque, dodequeue and
//! control_law). It is cut up here into one judgement for each packet that comes to the head, so that a scheduler may
//! turn to another queue between two of them; the drops are the same.

use crate::units::Time;

/// Target, interval and what always may wait.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// The delay that is acceptable.
    pub target: Time,
    /// How long the delay must have been above it.
    pub interval: Time,
    /// A queue that is left with no more bytes than this is never too long.
    pub mtu: u64,
}

/// The head of a queue at the time of its judgement.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// How long it has waited.
    pub sojourn: Time,
    /// The bytes that wait behind it.
    pub behind: u64,
    /// Whether a signal marks it and keeps it; else a signal drops it.
    pub is_marked: bool,
}

/// Intervals within which a queue that became too long again goes on where it left off (RFC 8289, section 5.6).
const MEMORY: u64 = 16;

/// What is known of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// When the delay will have been above target for an interval; none while it is below.
    first_above: Option<Time>,
    is_dropping: bool,
    /// A packet was dropped by the schedule, and the next signal is due if the one behind it was above target too.
    owes_schedule: bool,
    drop_next: Time,
    /// Signals since dropping began, and what that number was then.
    count: u64,
    last_count: u64,
}

impl Control {
    /// Whether the head of the queue is to be a signal: marked if it can be, else dropped.
    pub fn judge(&mut self, now: Time, head: Head, parameters: &Parameters) -> bool {
        let is_above = self.is_above(now, head, parameters);
        if !self.is_dropping {
            if is_above {
                self.begin(now, parameters);
            }
            return is_above;
        }
        let owed = core::mem::take(&mut self.owes_schedule);
        if !is_above {
            self.is_dropping = false;
            return false;
        }
        if owed {
            self.drop_next = after(self.drop_next, parameters.interval, self.count);
        }
        if now < self.drop_next {
            return false;
        }
        self.count += 1;
        if head.is_marked {
            self.drop_next = after(self.drop_next, parameters.interval, self.count);
        } else {
            self.owes_schedule = true;
        }
        true
    }

    /// Nothing waits, other than because the last packet was sent.
    pub fn emptied(&mut self) {
        (self.first_above, self.is_dropping, self.owes_schedule) = (None, false, false);
    }

    /// Whether a queue that is empty would be judged as if nothing was known of it.
    #[must_use]
    pub fn is_clear(&self, now: Time, parameters: &Parameters) -> bool {
        !self.is_dropping && self.first_above.is_none() && !self.resumes(now, parameters)
    }

    fn is_above(&mut self, now: Time, head: Head, parameters: &Parameters) -> bool {
        if head.sojourn < parameters.target || head.behind <= parameters.mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            Some(time) => now >= time,
            None => {
                self.first_above = Some(now.saturating_add(parameters.interval));
                false
            }
        }
    }

    fn begin(&mut self, now: Time, parameters: &Parameters) {
        self.count = if self.resumes(now, parameters) { self.count - self.last_count } else { 1 };
        (self.is_dropping, self.last_count) = (true, self.count);
        self.drop_next = after(now, parameters.interval, self.count);
    }

    /// Whether dropping ended so shortly ago that it would go on with the number of signals it came to.
    fn resumes(&self, now: Time, parameters: &Parameters) -> bool {
        let forgets = Time(parameters.interval.0.saturating_mul(MEMORY));
        self.count - self.last_count > 1 && now < self.drop_next.saturating_add(forgets)
    }
}

/// The time of the signal after the one at `time`, the `count`th: interval/√count later, rounded down to a whole
/// picosecond. Exact: ⌊√⌊x⌋⌋ = ⌊√x⌋ for x = interval²/count.
#[must_use]
pub const fn after(time: Time, interval: Time, count: u64) -> Time {
    let count = if count == 0 { 1 } else { count };
    let interval = interval.0 as u128;
    Time(time.0.saturating_add((interval * interval / count as u128).isqrt() as u64))
}
