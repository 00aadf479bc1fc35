//! What a packet weighs on the line behind CAKE, and when the shaper lets the next one go.

use crate::link_layer::in_cells;
use crate::packet::Packet;

/// How the line behind cuts packets up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Framing {
    /// Not at all.
    #[default]
    None,
    /// ATM: cells of 53 bytes that carry 48.
    Atm,
    /// PTM: 65 bytes for each 64.
    Ptm,
}

/// What a packet weighs on the line behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overhead {
    /// What the line behind adds to a packet of the network layer. `None`: what is added to the
    /// whole packet is 0.
    pub(super) bytes: Option<i32>,
    pub(super) mpu: u32,
    pub(super) framing: Framing,
}

impl Overhead {
    /// The bytes that `packet` takes there (`cake_calc_overhead` of Linux). An overhead is in place
    /// of the header of the link layer, which is taken off first.
    pub(super) fn adjusted(self, packet: &Packet) -> u64 {
        let length = i64::from(packet.length);
        let there = self.bytes.map_or(length, |bytes| length - i64::from(packet.link_header) + i64::from(bytes));
        let bytes = there.max(i64::from(self.mpu)) as u64;
        match self.framing {
            Framing::None => bytes,
            Framing::Atm => in_cells(bytes),
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

/// A rate as the time of a byte (`cake_set_rate`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByteTime {
    ns: u64,
    shift: u32,
}

/// The least rate of a tin, in bytes a second.
const RATE_MIN: u64 = 64;

impl ByteTime {
    /// The time of a byte at a rate in bytes a second.
    pub(super) fn new(rate: u64) -> Self {
        let (mut ns, mut shift) = ((1_000_000_000_u64 << 34) / rate.max(RATE_MIN), 34);
        while ns >> 34 > 0 {
            ns >>= 1;
            shift -= 1;
        }
        Self { ns, shift }
    }

    /// Nanoseconds of `bytes`.
    pub(super) fn of(self, bytes: u64) -> u64 {
        ((u128::from(bytes) * u128::from(self.ns)) >> self.shift) as u64
    }
}

/// When the next packet may go (`cake_advance_shaper`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    time: ByteTime,
    next: u64,
    /// The time by packets sent alone, half as long again: charged drops delay the line no longer
    /// than this.
    failsafe: u64,
}

impl Shaper {
    pub(super) const fn new(time: ByteTime) -> Self {
        Self { time, next: 0, failsafe: 0 }
    }

    /// A byte takes `time` from now.
    pub(super) const fn set_time(&mut self, time: ByteTime) {
        self.time = time;
    }

    /// The line was idle until `now`.
    pub(super) fn wake(&mut self, now: u64) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// When a packet may go.
    pub(super) fn next(&self) -> u64 {
        self.next.min(self.failsafe)
    }

    pub(super) fn charge(&mut self, bytes: u64, is_sent: bool) {
        let time = self.time.of(bytes);
        self.next = self.next.saturating_add(time);
        if is_sent {
            self.failsafe = self.failsafe.saturating_add(time + time / 2);
        }
    }
}
