//! Lines whose rate changes while they run: by a recorded delivery trace, or by a random walk.

use super::walk::{RateRange, Walk, Walking};
use fairq_link::trace::{DeliveryTrace, OPPORTUNITY, Opportunities};
use fairq_sched::service::Service;
use fairq_sched::units::{PS_PER_S, Rate, Time};
use std::sync::Arc;

/// What the rate of a line follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// A delivery trace.
    Trace(Arc<DeliveryTrace>),
    /// A random walk between two ends.
    Walk(RateRange),
}

impl Course {
    /// The one rate that disciplines and buffers are told: the mean of a trace, the geometric
    /// middle of a walk.
    #[must_use]
    pub fn nominal(&self) -> Rate {
        match self {
            Self::Trace(trace) => trace.mean(),
            Self::Walk(range) => range.middle(),
        }
    }
}

/// The transmitter of such a line.
#[derive(Clone, Debug)]
pub enum Varying {
    /// The rate of a delivery trace.
    Trace(Opportunities),
    /// The rate of a random walk.
    Walk(Walking),
}

impl Varying {
    /// An idle line that follows `course` from time zero; it is called `name`, in a run with
    /// `seed`.
    #[must_use]
    pub fn new(course: &Course, seed: u64, name: &str) -> Self {
        match course {
            Course::Trace(trace) => Self::Trace(Opportunities::new(Arc::clone(trace))),
            Course::Walk(range) => Self::Walk(Walking::new(Walk::new(*range, seed, name))),
        }
    }

    /// What is left to send of the present transmission, in bits times picoseconds per second.
    #[must_use]
    pub fn open(&self, now: Time) -> u128 {
        match self {
            Self::Trace(opportunities) => u128::from(opportunities.open_bytes(now)) * 8 * u128::from(PS_PER_S),
            Self::Walk(walking) => walking.open(now),
        }
    }

    /// The least time that `bits` take to send. With a trace a packet waits for its opportunity,
    /// and its transmission takes no time.
    #[must_use]
    pub fn least_time(&self, bits: u64) -> Time {
        match self {
            Self::Trace(_) => Time::ZERO,
            Self::Walk(walking) => walking.range().most().time_of_bits(bits),
        }
    }

    /// The bits that the line could send between two times.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        match self {
            Self::Trace(opportunities) => {
                let trace = opportunities.trace();
                // An opportunity of an instant is used before counts are cleared at it.
                let before = if from == Time::ZERO { 0 } else { trace.up_to(from) };
                ((trace.up_to(to) - before) * u64::from(OPPORTUNITY) * 8) as f64
            }
            Self::Walk(walking) => walking.capacity(from, to),
        }
    }
}

impl Service for Varying {
    fn begin(&mut self, now: Time) {
        match self {
            Self::Trace(opportunities) => opportunities.begin(now),
            Self::Walk(walking) => walking.begin(now),
        }
    }

    fn send(&mut self, bits: u64) -> Time {
        match self {
            Self::Trace(opportunities) => opportunities.send(bits),
            Self::Walk(walking) => walking.send(bits),
        }
    }

    fn interrupt(&mut self, now: Time, _: Time) -> u32 {
        match self {
            Self::Trace(opportunities) => opportunities.interrupt(now),
            Self::Walk(walking) => walking.interrupt(now),
        }
    }
}
