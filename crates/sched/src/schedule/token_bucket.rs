//! Token bucket: first in, first out, no faster than a rate, with a burst allowed.
//!
//! Use when: one queue must not exceed a rate, such as that of a modem behind it. It is a FIFO
//! within: for several classes use `htb`; to shape and share a home line, `cake`.
//! Source: Turner, "New Directions in Communications", IEEE Communications Magazine 1986 (the leaky
//! bucket); RFC 2697 and RFC 3290 (section 5.1) for the form with tokens. A second bucket for a
//! peak rate, and what the line behind adds, are Linux's (`tbf_dequeue`, sch_tbf.c), and so is what
//! a bucket holds: `burst` with what the line behind adds to it (`tbf_change`: `psched_l2t_ns`).
//! Departs: a packet longer than the bucket goes when the bucket is full and leaves a debt, where
//! Linux drops it (`tbf_enqueue`).
//! Chosen: the bucket is full at the start; tokens are counted in picosecond-bits, so that none is
//! lost to rounding.
//! Cost: O(1) a packet.
//! Bound: in any time t at most burst + rate·t leaves, and mtu + peak_rate·t, each with what the
//! line behind adds, plus a packet if it is longer than the bucket; nothing leaves before the time
//! it names, and at that time something does (laws.rs: token_bucket_keeps_its_rate).
//! Changes: the line's rate is not followed: a bucket without a `rate` keeps the half of what the
//! line had at the start, and its tokens stand. Weights are refused.

use crate::change::no_changes;
use crate::class_tree::Place;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::{Facts, Queues};
use crate::leaf::LeafQueue;
#[cfg(feature = "schema")]
use crate::link_layer;
use crate::link_layer::{Link, LinkLayer};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Bytes, PS_PER_S, Rate, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// Rate and burst.
    pub struct Settings {
        /// At which tokens come; without one, half the line's rate.
        pub rate: Option<Rate> = None,
        /// How many tokens the bucket holds: what a packet of this length takes on the line behind.
        // Two packets of the largest Ethernet length: one to send while the next gathers tokens.
        pub burst: Bytes = Bytes(3028),
        /// At which tokens of a second bucket come, which bounds how fast a burst goes; at least
        /// `rate`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub peak_rate: Option<Rate> = None,
        /// How many tokens the bucket of `peak_rate` holds, likewise: `mtu` of `tc`.
        pub mtu: Bytes = MTU,
        /// Bytes that the line behind adds to each packet.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "link_layer::is_zero"))]
        pub overhead: u32 = 0,
        /// Bytes that a packet takes there at least.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "link_layer::is_zero"))]
        pub mpu: u32 = 0,
        /// How the line behind cuts packets up.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "link_layer::is_plain"))]
        pub linklayer: LinkLayer = LinkLayer::Ethernet,
        /// The discipline in which packets wait; without one a FIFO.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub queue: Option<LeafQueue> = None,
    }
}

/// The largest packet of Ethernet with its header.
const MTU: Bytes = Bytes(1514);

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { tells_flows_apart: false, queues: Queues::Own, needs_rate: self.rate.is_none(), ..Facts::PLAIN }
    }

    fn leaves(&self) -> Vec<Place<'_>> {
        alloc::vec![Place::new("", None, &[]).with(self.queue.as_ref())]
    }

    fn leaf_queues(&mut self) -> Vec<&mut LeafQueue> {
        self.queue.as_mut().into_iter().collect()
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if self.burst.0 == 0 || self.mtu.0 == 0 {
            return Some("token_bucket: burst and mtu are at least 1 B".to_string());
        }
        match (self.rate, self.peak_rate) {
            (None, Some(_)) => Some("token_bucket: a peak_rate without a rate; write rate beside it".to_string()),
            (Some(rate), Some(peak)) if peak < rate => {
                Some(alloc::format!("token_bucket: peak_rate is {peak}, below the rate of {rate}"))
            }
            _ => None,
        }
    }

    fn variants() -> Vec<Self> {
        // Shorter than most packets, and much faster than the line.
        let slow = Self { burst: Bytes(100), ..Self::default() };
        let fast = Self { rate: Some(Rate::MAX), burst: Bytes(1), ..Self::default() };
        let (rate, peak_rate) = (Rate::new(100_000_000_000), Rate::new(200_000_000_000));
        let cells = Self { linklayer: LinkLayer::Atm, overhead: 10, mpu: 64, ..Self::default() };
        alloc::vec![slow, fast, Self { rate, peak_rate, burst: Bytes(20_000), ..cells }]
    }
}

/// One queue behind its buckets.
pub struct TokenBucket {
    bucket: Bucket,
    peak: Option<Bucket>,
    /// The link layer, which decides what a packet counts.
    link: Link,
    updated: Time,
}

/// What a bucket holds and may hold, in bits × 10⁻¹²: a rate in bit/s times picoseconds.
struct Bucket {
    /// Bits per second.
    rate: i128,
    level: i128,
    full: i128,
}

/// Level units in a byte.
const PER_BYTE: i128 = 8 * PS_PER_S as i128;

impl Bucket {
    fn full(rate: u64, size: Bytes) -> Self {
        // Bytes are at most 2^60 and a byte is 2^43 units.
        let full = i128::from(size.0.max(1)) * PER_BYTE;
        Self { rate: i128::from(rate.max(1)), level: full, full }
    }

    /// Until `bytes` may go.
    fn wait(&self, bytes: u64) -> Time {
        let missing = (i128::from(bytes) * PER_BYTE).min(self.full) - self.level;
        let wait = (missing.max(0) as u128).div_ceil(self.rate as u128);
        Time(u64::try_from(wait).unwrap_or(u64::MAX))
    }
}

impl TokenBucket {
    /// A shaper whose buckets are full.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let rate = settings.rate.map_or(line.rate.bit_per_s() / 2, Rate::bit_per_s);
        let link = Link { overhead: settings.overhead, mpu: settings.mpu, layer: settings.linklayer };
        let full = |rate: u64, size: Bytes| Bucket::full(rate, Bytes(link.bytes(size.0)));
        let peak = settings.peak_rate.map(|peak| full(peak.bit_per_s(), settings.mtu));
        Self { bucket: full(rate, settings.burst), peak, link, updated: Time::ZERO }
    }

    fn buckets(&mut self) -> impl Iterator<Item = &mut Bucket> {
        core::iter::once(&mut self.bucket).chain(&mut self.peak)
    }

    fn update(&mut self, now: Time) {
        let passed = i128::from((now - self.updated).0);
        for bucket in self.buckets() {
            bucket.level = bucket.full.min(bucket.level + bucket.rate * passed);
        }
        self.updated = now;
    }
}

impl Scheduler for TokenBucket {
    traits!(queue_per_flow = false, tags = false);

    fn queue_of(&self, _flow: Flow, _packet: &Packet, _store: &Store) -> Slot {
        0
    }

    // `tbf_dequeue` peeks whenever the line asks.
    fn asks_empty(&self) -> Slot {
        1
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, _queue: Slot, _tag: Tag) {}

    fn next(&mut self, now: Time, store: &Store) -> Next {
        let Some((packet, _)) = store.head(0) else { return Next::Empty };
        self.update(now);
        // The head of a queue inside is not known before it is named.
        if packet.length == 0 {
            return Next::Queue(0);
        }
        let bytes = self.link.bytes_of(packet.length);
        match self.buckets().map(|bucket| bucket.wait(bytes)).max() {
            Some(wait) if wait > Time::ZERO => Next::NotBefore(now.saturating_add(wait)),
            _ => Next::Queue(0),
        }
    }

    fn sent(&mut self, now: Time, _queue: Slot, packet: &Packet, _tag: Tag, _head: Option<Tag>) {
        self.update(now);
        let bytes = i128::from(self.link.bytes_of(packet.length));
        for bucket in self.buckets() {
            bucket.level -= bytes * PER_BYTE;
        }
    }

    fn removed(&mut self, _now: Time, _gone: Gone<'_>) {}

    no_changes!();

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("tokens_bytes", Unit::Bytes, self.bucket.level as f64 / PER_BYTE as f64));
        if let Some(peak) = &self.peak {
            visit(Reading::real("peak_tokens_bytes", Unit::Bytes, peak.level as f64 / PER_BYTE as f64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_a_burst_and_what_the_line_behind_adds_to_it() {
        // `tbf_change`: buffer = psched_l2t_ns(&rate, max_size). Of 3028 B in cells with 10 B more:
        // 64 cells of 53 B; two packets of 1514 B take 32 each.
        let (rate, line) = (Rate::new(8000), Line::new(Rate::MAX));
        let settings = Settings { rate, overhead: 10, linklayer: LinkLayer::Atm, ..Settings::default() };
        let mut bucket = TokenBucket::new(&settings, &line);
        let mut store = Store::new(crate::units::Limit::Unlimited);
        for token in 0..3 {
            store.push(&Packet::new(token, Time::ZERO, 1514), 0, 0, 0);
        }
        for next in [Next::Queue(0), Next::Queue(0), Next::NotBefore(Time::from_ms(32 * 53))] {
            assert_eq!(bucket.next(Time::ZERO, &store), next);
            if next == Next::Queue(0) {
                let packet = Packet::new(0, Time::ZERO, 1514);
                store.serve(0);
                bucket.sent(Time::ZERO, 0, &packet, 0, None);
            }
        }
    }
}
