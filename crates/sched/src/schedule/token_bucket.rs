//! Token bucket: first in, first out, no faster than a rate, with a burst allowed.
//!
//! Source: Turner, "New Directions in Communications", IEEE Communications Magazine 1986 (the leaky bucket); RFC 2697
//! and RFC 3290 (section 5.1) for the form with tokens.
//! Departs: a packet longer than the bucket goes when the bucket is full and leaves a debt.
//! Chosen: the bucket is full at the start; tokens are counted in picosecond-bits, so that none is lost to rounding.
//! Cost: O(1) a packet.
//! Bound: in any time t at most burst + rate·t leaves, plus a packet if it is longer than the bucket; nothing leaves
//! before the time it names, and at that time something does (laws.rs: token_bucket_keeps_its_rate).

use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use crate::packet::Packet;
use crate::part::Part;
use crate::queue::Queue;
use crate::store::Store;
use crate::units::{Bytes, PS_PER_S, Rate, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Rate and burst.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// At which tokens come; without one, half the line's rate.
    pub rate: Option<Rate>,
    /// How many tokens the bucket holds.
    pub burst: Bytes,
}

impl Part for Settings {
    fn tells_flows_apart(&self) -> bool {
        false
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        (self.burst.0 == 0).then(|| "token_bucket: burst is at least 1 B".to_string())
    }

    fn variants() -> Vec<Self> {
        // Shorter than most packets, and much faster than the line.
        let slow = Self { rate: None, burst: Bytes(100) };
        let fast = Self { rate: Some(Rate::MAX), burst: Bytes(1) };
        alloc::vec![slow, fast]
    }

    fn has_queue_per_flow(&self) -> bool {
        false
    }
}

impl Default for Settings {
    fn default() -> Self {
        // Two packets of the largest Ethernet length: one to send while the next gathers tokens.
        Self { rate: None, burst: Bytes(3028) }
    }
}

/// One queue behind a bucket.
pub struct TokenBucket {
    /// Bits per second.
    rate: i128,
    /// What the bucket holds and may hold, in bits × 10⁻¹²: a rate in bit/s times picoseconds.
    level: i128,
    full: i128,
    updated: Time,
}

/// Level units in a byte.
const PER_BYTE: i128 = 8 * PS_PER_S as i128;

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let rate = settings.rate.map_or((line.rate.bit_per_s() / 2).max(1), Rate::bit_per_s);
        // Bytes are at most 2^60 and a byte is 2^43 units.
        let full = i128::from(settings.burst.0.max(1)) * PER_BYTE;
        Self { rate: i128::from(rate), level: full, full, updated: Time::ZERO }
    }

    fn update(&mut self, now: Time) {
        self.level = self.full.min(self.level + self.rate * i128::from((now - self.updated).0));
        self.updated = now;
    }
}

impl Scheduler for TokenBucket {
    fn tags_packets(&self) -> bool {
        false
    }

    fn has_queue_per_flow(&self) -> bool {
        false
    }

    fn queue_of(&self, _flow: Flow, _packet: &Packet, _store: &Store) -> Slot {
        0
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, _queue: Slot, _tag: Tag) {}

    fn next(&mut self, now: Time, store: &Store) -> Next {
        let Some((packet, _)) = store.head(0) else { return Next::Empty };
        self.update(now);
        let missing = (i128::from(packet.length) * PER_BYTE).min(self.full) - self.level;
        if missing <= 0 {
            return Next::Queue(0);
        }
        let wait = (missing as u128).div_ceil(self.rate as u128);
        Next::NotBefore(now.saturating_add(Time(u64::try_from(wait).unwrap_or(u64::MAX))))
    }

    fn sent(&mut self, now: Time, _queue: Slot, packet: &Packet, _tag: Tag, _head: Option<Tag>) {
        self.update(now);
        self.level -= i128::from(packet.length) * PER_BYTE;
    }

    fn removed(&mut self, _now: Time, _gone: Gone<'_>) {}

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("tokens_bytes", self.level as f64 / PER_BYTE as f64);
    }
}
