//! The monotonic clock, in nanoseconds.

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

const SECOND: u64 = 1_000_000_000;

/// What it says.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // It is not negative.
    now.tv_sec.unsigned_abs() * SECOND + now.tv_nsec.unsigned_abs()
}

/// Sleeps until it says `when`, or a signal comes.
pub(crate) fn sleep_until(when: u64) {
    let until = Timespec {
        tv_sec: i64::try_from(when / SECOND).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(when % SECOND).unwrap_or(0),
    };
    let _ = clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &until);
}
