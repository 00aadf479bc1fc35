//! CAKE's shaper: a virtual clock that never saves up, and the length that a packet has on the line behind.

use crate::packet::Packet;
use crate::units::{PS_PER_S, Rate, Time};

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
    /// What the line behind adds to a packet of the network layer. `None`: what is added to the whole packet is 0.
    pub(super) bytes: Option<i32>,
    pub(super) least: u32,
    pub(super) framing: Framing,
}

impl Overhead {
    /// The bytes that `packet` takes there (`cake_calc_overhead` of Linux). An overhead is in place of the header of the
    /// link layer, which is taken off first.
    pub(super) fn adjusted(self, packet: &Packet) -> u64 {
        let length = i64::from(packet.length);
        let there = self.bytes.map_or(length, |bytes| length - i64::from(packet.link_header) + i64::from(bytes));
        let bytes = there.max(i64::from(self.least)) as u64;
        match self.framing {
            Framing::None => bytes,
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

/// The time from which the next packet may go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    rate: Rate,
    /// Since when packets have followed one another, and the bits of those.
    since: Time,
    bits: u128,
}

impl Shaper {
    pub(super) const fn new(rate: Rate) -> Self {
        Self { rate, since: Time::ZERO, bits: 0 }
    }

    /// When the next packet may go: the first whole picosecond after the packets since `since` at the rate.
    pub(super) fn next(&self) -> Time {
        let wait = (self.bits * u128::from(PS_PER_S)).div_ceil(u128::from(self.rate.bit_per_s()));
        self.since.saturating_add(Time(u64::try_from(wait).unwrap_or(u64::MAX)))
    }

    /// A packet of `bytes` goes at `now`, which is not before its time. Time that passed unused is lost.
    pub(super) fn send(&mut self, now: Time, bytes: u64) {
        if now > self.next() {
            (self.since, self.bits) = (now, 0);
        }
        self.bits += u128::from(bytes) * 8;
    }
}
