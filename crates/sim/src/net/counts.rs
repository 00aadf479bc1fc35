//! What is counted on a line: packets, and the exact part of a packet that crosses the beginning or
//! the end of the counted time.

use fairq_sched::contract::Discipline;
use fairq_sched::design::cake::FLOW_TIMES;
use fairq_sched::reading::Value;
use fairq_sched::units::{PS_PER_S, Time};
use std::ops::{AddAssign, SubAssign};

/// Packets that were sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Sent {
    /// Counts a packet of `length` bytes.
    #[inline]
    pub fn add(&mut self, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
    }
}

/// The packets in flight that are counted as sent though their transmission has not ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// All of them.
    pub sent: Sent,
    /// The part of them that has been sent.
    pub begun: Carried,
}

/// What a line has carried, in bits times picoseconds per second: a part of a packet is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried(u128);

impl Carried {
    /// Whole packets of this many bytes.
    #[must_use]
    pub fn of_bytes(bytes: u64) -> Self {
        Self(u128::from(bytes) * 8 * u128::from(PS_PER_S))
    }

    /// Whole bits.
    pub(super) const fn of_bits(bits: u64) -> Self {
        Self(bits as u128 * PS_PER_S as u128)
    }

    /// The rest when `open` bits times picoseconds per second are taken from it; not below zero.
    pub(super) const fn without(self, open: u128) -> Self {
        Self(self.0.saturating_sub(open))
    }

    /// The bits, with their parts.
    #[must_use]
    pub fn bits(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl AddAssign for Carried {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Carried {
    fn sub_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_sub(other.0);
    }
}

/// Counts of a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets whose transmission ended, as of the last `Network::settle`.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What it carried, as of the last `Network::settle`: as `bytes`, but a packet whose
    /// transmission crosses the beginning or the end of the counted time counts by its part.
    pub carried: Carried,
    /// The parts that had been sent when the counts were cleared.
    pub begun: Carried,
    /// Packets of `packets` that were lost on the way.
    pub lost: u64,
    /// Packets dropped in its gateway.
    pub dropped: u64,
    /// Packets marked in its gateway.
    pub marked: u64,
    /// Packets sent from its gateway after one that arrived there later.
    pub overtaken: u64,
    /// Waiting packets times picoseconds.
    pub area: u128,
    /// The most packets that waited.
    pub waiting_max: u64,
    /// The time up to which `area` is counted.
    pub counted: Time,
}

/// How long flows were of each of cake's kinds up to `now`, in nanoseconds of all flows together;
/// `None` of another discipline.
pub fn flow_times(queue: &impl Discipline, now: Time) -> Option<[u128; 3]> {
    let mut times = None;
    queue.readings(now, &mut |reading| {
        let kind = FLOW_TIMES.iter().position(|name| *name == reading.name);
        if let (Some(kind), Value::Count(time)) = (kind, reading.value) {
            times.get_or_insert([0; 3])[kind] += time;
        }
    });
    times
}
