//! The clock: stamps of a capture to times of arrival.
//!
//! Captures are joined from pieces, with months between them, and clocks are set back while they
//! run. A replay wants times that start at zero and never go back.
//!
//! - The time of a record is its stamp less that of the first record, never before its predecessor.
//! - A gap longer than `gap_max` counts as `gap_max`; what is left out shifts all that follows.
//! - A record up to `gap_max` behind the latest stamp is out of order: it arrives with its
//!   predecessor, and those after it are where they would have been without it. One further behind
//!   begins anew (another capture was joined on, a clock was set back): it arrives with its
//!   predecessor too, and what follows is measured from it. Without this, all records until the old
//!   latest stamp came round again would arrive in one instant.

use super::Stamp;
use fairq_sched::units::{PS_PER_S, Time};
use std::fmt;

/// Turns the stamps of a capture, in its order, into times of arrival that never go back.
#[derive(Clone, Debug)]
pub struct Clock {
    gap_max: Time,
    now: Time,
    /// The latest stamp since the beginning, or since a step back that was too long to be disorder.
    latest: Option<Stamp>,
    /// The stamp before.
    previous: Stamp,
    report: ClockReport,
}

/// Corrections that a [`Clock`] made to the stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReport {
    /// Gaps that were longer than the greatest gap, and were cut to it.
    pub cut_gaps: u64,
    /// What was cut from them altogether, in picoseconds; a [`Time`] could not hold the years
    /// between joined captures.
    pub time_cut_ps: u128,
    /// Records stamped before their predecessor.
    pub backward_steps: u64,
    /// Those of them that were too far back to be disorder, so that time was counted anew from
    /// there.
    pub restarts: u64,
    /// Records that came after [`Clock::LATEST`] and were given that time.
    pub beyond_latest: u64,
}

impl Clock {
    /// The latest time that the clock gives, 53 days: the greatest that a scenario can write, with
    /// room for sums.
    pub const LATEST: Time = Time(u64::MAX / 4);

    /// A clock that cuts gaps to `gap_max`; [`Time::NEVER`] cuts none.
    #[must_use]
    pub const fn new(gap_max: Time) -> Self {
        let report = ClockReport { cut_gaps: 0, time_cut_ps: 0, backward_steps: 0, restarts: 0, beyond_latest: 0 };
        Self { gap_max, now: Time::ZERO, latest: None, previous: Stamp(0), report }
    }

    /// The time of arrival of the next record.
    pub fn arrival(&mut self, stamp: Stamp) -> Time {
        let Some(latest) = self.latest else {
            self.latest = Some(stamp);
            self.previous = stamp;
            return self.now;
        };
        self.report.backward_steps += u64::from(stamp < self.previous);
        self.previous = stamp;
        // Two stamps of a reader are less than 2^105 apart; saturation is for callers with stamps
        // of their own.
        let step = stamp.0.saturating_sub(latest.0);
        if step >= 0 {
            self.latest = Some(stamp);
            self.advance(step.unsigned_abs());
        } else if step.unsigned_abs() > u128::from(self.gap_max.0) {
            self.latest = Some(stamp);
            self.report.restarts += 1;
        }
        self.now
    }

    /// Corrections of the stamps so far.
    #[must_use]
    pub const fn report(&self) -> ClockReport {
        self.report
    }

    fn advance(&mut self, gap_ps: u128) {
        let gap_max = u128::from(self.gap_max.0);
        if gap_ps > gap_max {
            self.report.cut_gaps += 1;
            self.report.time_cut_ps = self.report.time_cut_ps.saturating_add(gap_ps - gap_max);
        }
        // At most gap_max, so it fits.
        let now = self.now.saturating_add(Time(gap_ps.min(gap_max) as u64));
        self.report.beyond_latest += u64::from(now > Self::LATEST);
        self.now = now.min(Self::LATEST);
    }
}

impl fmt::Display for ClockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time_cut_ps as f64 / PS_PER_S as f64;
        write!(f, "{} gaps cut by {seconds:.3} s, {} backward steps", self.cut_gaps, self.backward_steps)?;
        if self.restarts > 0 {
            write!(f, ", {} of them restarts", self.restarts)?;
        }
        if self.beyond_latest > 0 {
            write!(f, ", {} records beyond the greatest time", self.beyond_latest)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrival times, in seconds, of stamps in seconds, with gaps of at most 10 s.
    fn arrivals(stamps: &[i64]) -> (Vec<u64>, ClockReport) {
        let mut clock = Clock::new(Time::from_s(10));
        let times = stamps.iter().map(|s| clock.arrival(Stamp::from_s_and_ps(*s, 0)).0 / PS_PER_S).collect();
        (times, clock.report())
    }

    #[test]
    fn the_first_record_arrives_at_zero_and_the_others_by_their_stamps() {
        let (times, report) = arrivals(&[1_000_000, 1_000_001, 1_000_001, 1_000_011]);
        assert_eq!(times, [0, 1, 1, 11]);
        assert_eq!(report, ClockReport::default());
    }

    #[test]
    fn a_long_gap_is_cut_and_shifts_what_follows() {
        let year = 365 * 86_400;
        let (times, report) = arrivals(&[0, 1, 1 + 6 * year, 3 + 6 * year]);
        assert_eq!(times, [0, 1, 11, 13]);
        let time_cut_ps = u128::from(6 * year as u64 - 10) * u128::from(PS_PER_S);
        assert_eq!(report, ClockReport { cut_gaps: 1, time_cut_ps, ..ClockReport::default() });
    }

    #[test]
    fn disorder_does_not_move_the_records_around_it() {
        let (times, report) = arrivals(&[0, 5, 3, 4, 6]);
        assert_eq!(times, [0, 5, 5, 5, 6]);
        assert_eq!(report, ClockReport { backward_steps: 1, ..ClockReport::default() });
    }

    #[test]
    fn a_long_step_back_begins_anew() {
        let (times, report) = arrivals(&[1000, 1005, 10, 12, 13]);
        assert_eq!(times, [0, 5, 5, 7, 8]);
        assert_eq!(report, ClockReport { backward_steps: 1, restarts: 1, ..ClockReport::default() });
        assert_eq!(report.to_string(), "0 gaps cut by 0.000 s, 1 backward steps, 1 of them restarts");
    }

    #[test]
    fn no_stamp_leads_beyond_the_greatest_time() {
        let mut clock = Clock::new(Time::NEVER);
        let times = [i128::MIN, i128::MAX, 0, i128::MAX].map(|ps| clock.arrival(Stamp(ps)));
        assert!(times.is_sorted() && times[3] == Clock::LATEST, "{times:?}");
        assert!(clock.report().beyond_latest > 0);
    }
}
