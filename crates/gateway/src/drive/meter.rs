//! What the loop measures of itself.

use super::clock::used;
use crate::device::Device;
use crate::measured::Effort;
use fairq_link::sketch::Fine;
use fairq_sched::units::{PS_PER_S, Time};

/// Measurements of a run.
pub(super) struct Meter {
    packet_time: Time,
    /// Processor time before the run.
    used_before: Time,
    /// Packets that the devices had lost before the run.
    lost_before: u64,
    pub(super) lateness: Fine,
    /// By powers of two of a microsecond.
    powers: [u64; 32],
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) full: u64,
    wakeups: u64,
    late_wakeups: u64,
    /// How long departures were overdue, and until when that was counted.
    behind: Time,
    counted_until: Time,
}

impl Meter {
    pub(super) fn new(packet_time: Time, devices: &mut [Box<dyn Device>]) -> Self {
        Self {
            packet_time,
            used_before: used(),
            lost_before: devices.iter_mut().map(|device| device.lost()).sum(),
            lateness: Fine::default(),
            powers: [0; 32],
            reads: 0,
            writes: 0,
            full: 0,
            wakeups: 0,
            late_wakeups: 0,
            behind: Time::ZERO,
            counted_until: Time::ZERO,
        }
    }

    /// The loop woke at `now`; a departure was due at `due`.
    pub(super) fn woke(&mut self, now: Time, due: Time) {
        self.wakeups += 1;
        if due.saturating_add(self.packet_time) < now {
            self.late_wakeups += 1;
            let since = due.saturating_add(self.packet_time).max(self.counted_until);
            self.behind = self.behind.saturating_add(now.saturating_sub(since));
            self.counted_until = now;
        }
    }

    /// A packet is given to its host at `now`, intended for `at`.
    pub(super) fn leaves(&mut self, now: Time, at: Time) {
        let late = now.saturating_sub(at);
        self.lateness.add(late.0);
        self.powers[power(late)] += 1;
    }

    /// Upper ends and counts, up to the last that is not empty.
    pub(super) fn histogram(&self) -> Vec<(f64, u64)> {
        let last = self.powers.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        self.powers[..last].iter().zip(0..).map(|(count, power)| ((1u64 << power) as f64 * 1e-6, *count)).collect()
    }

    /// What the gateway did and used in a run of `elapsed`.
    pub(super) fn effort(&self, elapsed: Time, devices: &mut [Box<dyn Device>]) -> Effort {
        let seconds = elapsed.as_s().max(1e-12);
        let cpu_s = used().saturating_sub(self.used_before).as_s();
        let packets = self.lateness.count();
        let lost: u64 = devices.iter_mut().map(|device| device.lost()).sum();
        Effort {
            cpu_s,
            cpu_share: cpu_s / seconds,
            cpu_us_per_packet: if packets == 0 { 0.0 } else { cpu_s * 1e6 / packets as f64 },
            reads: self.reads,
            writes: self.writes,
            packets,
            wakeups: self.wakeups,
            late_wakeups: self.late_wakeups,
            lost_before: lost.saturating_sub(self.lost_before),
            lost_behind: self.full,
            behind_share: self.behind.as_s() / seconds,
            packet_time_s: self.packet_time.as_s(),
        }
    }
}

/// The least power of two of a microsecond that is not below `late`.
const fn power(late: Time) -> usize {
    let us = late.0.div_ceil(PS_PER_S / 1_000_000);
    let power = us.next_power_of_two().trailing_zeros() as usize;
    if power < 32 { power } else { 31 }
}
