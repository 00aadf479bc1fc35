//! CoDel's control law for one queue: when has the delay been above target for long enough, and
//! when is the next signal due?
//!
//! Source: Nichols, Jacobson, McGregor and Iyengar, RFC 8289 (2018), section 5 (pseudocode of
//! deque, dodequeue and control_law), and Linux 6.1, include/net/codel_impl.h. It is cut up here
//! into one judgement for each packet that comes to the head, so that a scheduler may turn to
//! another queue between two of them; the drops are the same.
//!
//! Where the two differ ([`Rules`]): Linux counts in units of 1024 ns and cuts the rest off
//! (`codel_get_time`); the head is late after the interval, not at its end (`codel_should_drop`);
//! 1/√count is a number of 16 bits that one step of Newton's method improves with each signal
//! (`codel_Newton_step`, `codel_control_law`), so that the second signal of a series comes half an
//! interval after the first, not 1/√2 of one.

use crate::units::Time;

/// Linux's arithmetic or the RFC's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// RFC 8289: the exact square root, in picoseconds.
    Rfc,
    /// The kernel's arithmetic.
    Linux,
}

impl Rules {
    /// The unit of time in the control law.
    pub(crate) const fn unit(self) -> Time {
        match self {
            Self::Rfc => Time(1),
            Self::Linux => Time(1_024_000),
        }
    }

    const fn units(self, time: Time) -> u64 {
        time.0 / self.unit().0
    }
}

/// Target, interval and what always may wait.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Linux's arithmetic or the RFC's.
    pub rules: Rules,
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
    /// When it arrived.
    pub arrival: Time,
    /// The bytes that wait behind it.
    pub behind: u64,
    /// Whether a signal marks it and keeps it; else a signal drops it.
    pub is_marked: bool,
}

/// How a queue stands after a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The delay is below target.
    Low,
    /// It has been above for less than an interval.
    High,
    /// It has been above for an interval: signals come by the schedule.
    Dropping,
}

/// Intervals within which a queue that became too long again goes on where it left off (RFC 8289,
/// section 5.6).
const MEMORY: u64 = 16;

/// The state of a queue. Times are in units of `Rules::unit`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// When the delay will have been above target for an interval; `None` while it is below.
    first_above: Option<u64>,
    is_dropping: bool,
    /// A packet was dropped by the schedule, and the next signal is due if the one behind it was
    /// above target too.
    owes_schedule: bool,
    /// The packet with which dropping began was dropped: the one behind it is sent whatever the
    /// schedule says.
    spares_next: bool,
    drop_next: u64,
    /// Signals since dropping began, and what that number was then.
    count: u64,
    last_count: u64,
    /// Linux's 1/√count, in parts of 2^16.
    root: u16,
}

impl Control {
    /// Whether the head of the queue is to be a signal: marked if it can be, else dropped.
    pub fn judge(&mut self, now: Time, head: Head, parameters: &Parameters) -> bool {
        let now = parameters.rules.units(now);
        let is_above = self.is_above(now, head, parameters);
        if !self.is_dropping {
            if is_above {
                self.begin(now, parameters);
                self.spares_next = !head.is_marked;
            }
            return is_above;
        }
        if core::mem::take(&mut self.spares_next) {
            self.is_dropping = is_above;
            return false;
        }
        let owed = core::mem::take(&mut self.owes_schedule);
        if !is_above {
            self.is_dropping = false;
            return false;
        }
        if owed {
            self.drop_next = self.after(self.drop_next, parameters);
        }
        if now < self.drop_next {
            return false;
        }
        self.count += 1;
        self.step();
        if head.is_marked {
            self.drop_next = self.after(self.drop_next, parameters);
        } else {
            self.owes_schedule = true;
        }
        true
    }

    /// Nothing waits, other than because the last packet was sent.
    pub fn emptied(&mut self) {
        self.first_above = None;
        (self.is_dropping, self.owes_schedule, self.spares_next) = (false, false, false);
    }

    /// The queue was to send and was empty (`codel_dequeue` of Linux without a packet).
    pub fn found_empty(&mut self) {
        self.is_dropping = false;
    }

    /// `packets` were dropped from the queue to make room: each counts as a signal (`fq_codel_drop`
    /// of Linux).
    pub fn overflowed(&mut self, packets: u64) {
        self.count += packets;
    }

    /// Whether a queue that is empty would be judged as if nothing was known of it.
    #[must_use]
    pub fn is_clear(&self, now: Time, parameters: &Parameters) -> bool {
        !self.is_dropping && self.first_above.is_none() && !self.resumes(parameters.rules.units(now), parameters)
    }

    /// How the queue stands since the last judgement.
    pub(crate) const fn stage(&self) -> Stage {
        match self.first_above {
            _ if self.is_dropping => Stage::Dropping,
            Some(_) => Stage::High,
            None => Stage::Low,
        }
    }

    fn is_above(&mut self, now: u64, head: Head, parameters: &Parameters) -> bool {
        let Parameters { rules, target, interval, mtu } = *parameters;
        if now - rules.units(head.arrival) < rules.units(target) || head.behind <= mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            Some(time) if rules == Rules::Linux => now > time,
            Some(time) => now >= time,
            None => {
                self.first_above = Some(now.saturating_add(rules.units(interval)));
                false
            }
        }
    }

    fn begin(&mut self, now: u64, parameters: &Parameters) {
        if self.resumes(now, parameters) {
            self.count -= self.last_count;
            self.step();
        } else {
            (self.count, self.root) = (1, u16::MAX);
        }
        (self.is_dropping, self.last_count) = (true, self.count);
        self.drop_next = self.after(now, parameters);
    }

    /// Whether dropping ended so shortly ago that it would go on with the number of signals it came
    /// to. A queue that never dropped does not: the clock of Linux, from whose zero `drop_next`
    /// would count, began long before (`codel_dequeue`), though overflows have counted as signals.
    fn resumes(&self, now: u64, parameters: &Parameters) -> bool {
        let forgets = parameters.rules.units(parameters.interval).saturating_mul(MEMORY);
        let has_dropped = self.drop_next > 0;
        has_dropped && self.count - self.last_count > 1 && now < self.drop_next.saturating_add(forgets)
    }

    fn step(&mut self) {
        self.root = (improved_root(u32::from(self.root) << 16, self.count as u32) >> 16) as u16;
    }

    /// The time of the signal after the one at `time`.
    fn after(&self, time: u64, parameters: &Parameters) -> u64 {
        match parameters.rules {
            Rules::Rfc => after(Time(time), parameters.interval, self.count).0,
            Rules::Linux => {
                let interval = parameters.rules.units(parameters.interval);
                time.saturating_add(((u128::from(interval) * u128::from(self.root)) >> 16) as u64)
            }
        }
    }
}

/// A step of Newton's method from `root` towards 1/√count, in parts of 2^32:
/// root · (3 − count · root²) / 2 (`codel_Newton_step` and `cobalt_newton_step` of Linux).
pub(crate) const fn improved_root(root: u32, count: u32) -> u32 {
    let root = root as u64;
    let rest = (3_u64 << 32).wrapping_sub((count as u64).wrapping_mul((root * root) >> 32));
    // Two bits go before the product and one after it, so that it fits.
    ((rest >> 2).wrapping_mul(root) >> 31) as u32
}

/// The time of the signal after the one at `time`, the `count`th: interval/√count later, rounded
/// down to a whole picosecond. Exact: ⌊√⌊x⌋⌋ = ⌊√x⌋ for x = interval²/count.
#[must_use]
pub const fn after(time: Time, interval: Time, count: u64) -> Time {
    let count = if count == 0 { 1 } else { count };
    let interval = interval.0 as u128;
    Time(time.0.saturating_add((interval * interval / count as u128).isqrt() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// The times, in ms, at which a head is a signal, of heads that come each ms and have waited
    /// for 20 ms.
    fn signals(rules: Rules, end: u64) -> alloc::vec::Vec<u64> {
        let parameters = Parameters { rules, target: Time(5 * MS), interval: Time(100 * MS), mtu: 1514 };
        let mut control = Control::default();
        let head = |ms: u64| Head { arrival: Time((ms - 20) * MS), behind: 100_000, is_marked: true };
        (20..end).filter(|ms| control.judge(Time(ms * MS), head(*ms), &parameters)).collect()
    }

    #[test]
    fn the_second_signal_of_a_series_is_half_an_interval_after_the_first_in_linux() {
        // 100/√2 = 70.7, 100/√3 = 57.7, 100/√4 = 50.
        assert_eq!(signals(Rules::Rfc, 420), [120, 220, 291, 349, 399]);
        // One step from 1 gives 1/2 for 2, then 0.5625 for 3 and 0.49 for 4; and the head at the
        // end of the interval is not late yet.
        assert_eq!(signals(Rules::Linux, 420), [121, 221, 271, 328, 377]);
    }

    #[test]
    fn overflows_before_the_first_drop_do_not_make_it_one_of_a_series() {
        // A queue lost three packets for room. The kernel's clock is at its uptime, and `drop_next`
        // at 0: the first drop has count 1, and the next signal comes an interval later.
        let parameters = Parameters { rules: Rules::Linux, target: Time(5 * MS), interval: Time(100 * MS), mtu: 1514 };
        let mut control = Control::default();
        control.overflowed(3);
        let head = |ms: u64| Head { arrival: Time((ms - 20) * MS), behind: 100_000, is_marked: true };
        let signals = (20..420).filter(|ms| control.judge(Time(ms * MS), head(*ms), &parameters));
        assert_eq!(signals.collect::<alloc::vec::Vec<u64>>(), [121, 221, 271, 328, 377]);
    }
}
