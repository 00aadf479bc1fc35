//! The machine's clock as the time of a run.

use fairq_link::capture::Stamp;
use fairq_sched::units::{PS_PER_S, Time};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Time since the start of a run: Linux' monotonic clock, which no change of the date moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Nanoseconds of that clock.
    start: u64,
}

const PS_PER_NS: u64 = 1000;
const NS_PER_S: u64 = 1_000_000_000;

impl Clock {
    pub(super) fn start() -> Self {
        Self { start: crate::clock::now() }
    }

    /// Its zero by the clock of the day, which captures have.
    pub(super) fn zero(&self) -> Stamp {
        let past = i128::from(self.now().0);
        let day = clock_gettime(ClockId::Realtime);
        Stamp((i128::from(day.tv_sec) * i128::from(NS_PER_S) + i128::from(day.tv_nsec)) * i128::from(PS_PER_NS) - past)
    }

    pub(super) fn now(&self) -> Time {
        Time(crate::clock::now().saturating_sub(self.start).saturating_mul(PS_PER_NS))
    }
}

/// The processor time of this thread.
pub(super) fn used() -> Time {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Time((used.tv_sec as u64 * NS_PER_S + used.tv_nsec as u64).saturating_mul(PS_PER_NS))
}

/// A duration for the system, to the next nanosecond.
pub(super) const fn timespec(time: Time) -> Timespec {
    let ns = time.0.div_ceil(PS_PER_NS);
    const { assert!(PS_PER_S == PS_PER_NS * NS_PER_S) };
    Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as i64 }
}
