//! Token-bucket policer: packets above a rate are dropped before they reach the queue; none waits
//! for tokens.
//!
//! Use when: a provider's policer stands before your line. To hold a rate without loss use
//! `token_bucket`, `htb` or `cake`, which delay.
//! Source: RFC 2697 and RFC 3290 (section 5.1) for the bucket; the arithmetic is that of Linux 6.1,
//! act_police.c (`tcf_police_act`).
//! Rules: tokens are nanoseconds of the rate; a packet conforms if the bucket holds what it takes
//! at the rate (`psched_l2t_ns`), and takes it; a packet that does not conform takes none. The
//! bucket holds what `burst` takes, in ticks of 64 ns (`PSCHED_TICKS2NS`). With `peak_rate` a
//! packet must conform to a second bucket, too, which holds a packet of `mtu`. A packet longer than
//! `mtu` never conforms.
//! Departs: without `mtu` no packet is too long, where Linux has 255 cells of its table of rates
//! (2040 B as `tc` asks for it).
//! Chosen: both buckets are full at the start. Without `rate` half the line's, and a burst of ten
//! packets of 1500 B. A packet that does not conform is dropped: `conform-exceed drop` of `tc`.
//! Cost: O(1) a packet.
//! Bound: in any time t at most burst + rate·t joins, up to the rounding of the multiplier, and no
//! packet waits that would not without it (policed.rs:
//! a_policer_passes_its_burst_and_its_rate_and_delays_no_packet). Its verdicts are those of the
//! kernel's rule (policed.rs: the_verdicts_are_those_of_the_rule_of_the_kernel).

use crate::contract::{Line, Policer};
use crate::facts::Facts;
use crate::link_layer::Link;
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::psched::{NS_PER_S, Ratio, saved};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::units::{Bytes, Rate, Time};
use alloc::format;
use alloc::string::{String, ToString};

settings! {
    /// Rate and burst.
    pub struct Settings {
        /// At which tokens come; without one, half the line's rate.
        pub rate: Option<Rate> = None,
        /// How many tokens the bucket holds; at least the longest packet.
        pub burst: Bytes = BURST,
        /// At which tokens of a second bucket come, which bounds how fast a burst goes; above
        /// `rate`, and with `mtu`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub peak_rate: Option<Rate> = None,
        /// Longer packets are dropped; what the bucket of `peak_rate` holds.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub mtu: Option<Bytes> = None,
    }
}

/// Ten packets of the usual length.
const BURST: Bytes = Bytes(15_000);

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { tells_flows_apart: false, needs_rate: self.rate.is_none(), ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if self.burst.0 == 0 || self.mtu == Some(Bytes(0)) {
            return Some("police: burst and mtu are at least 1 B".to_string());
        }
        let peak = self.peak_rate?;
        if self.mtu.is_none() {
            return Some("police: a peak_rate without mtu; write mtu=1514B beside it".to_string());
        }
        let Some(rate) = self.rate else {
            return Some("police: a peak_rate without a rate; write rate beside it".to_string());
        };
        (peak <= rate).then(|| format!("police: peak_rate is {peak}, not above the rate of {rate}"))
    }

    fn variants() -> alloc::vec::Vec<Self> {
        // Below the slow lines of the tests, and two buckets.
        let slow = Self { rate: Rate::new(20_000), burst: Bytes(4000), ..Self::default() };
        let (peak_rate, mtu) = (Rate::new(40_000), Some(Bytes(1600)));
        alloc::vec![slow.clone(), Self { peak_rate, mtu, ..slow }]
    }
}

/// No tick is longer than this many bytes up to 10 Gbit/s.
const ROUNDED: u64 = 80;

impl Settings {
    /// The longest packet that ever passes it before a line of `line`.
    pub fn longest_passed(&self, line: Rate) -> Bytes {
        let rate = self.rate(line);
        let (ratio, most) = (Ratio::new(rate, Link::default()), saved(self.burst, rate));
        // The tick and the multiplier round: the packet of `burst` bytes may miss by a little.
        let fits = |length: &u64| u32::try_from(*length).is_ok_and(|length| ratio.time_of(length) <= most);
        let by_burst = (self.burst.0.saturating_sub(ROUNDED)..=self.burst.0).rev().find(fits);
        let by_burst = by_burst.unwrap_or(self.burst.0.saturating_sub(ROUNDED));
        Bytes(self.mtu.map_or(by_burst, |mtu| by_burst.min(mtu.0)))
    }

    fn rate(&self, line: Rate) -> u64 {
        self.rate.map_or(line.bit_per_s() / 2, Rate::bit_per_s)
    }
}

/// Tokens in nanoseconds of a rate.
struct Bucket {
    ratio: Ratio,
    tokens: i64,
    most: i64,
}

impl Bucket {
    const fn full(ratio: Ratio, most: i64) -> Self {
        Self { ratio, tokens: most, most }
    }

    /// Tokens left after `passed` nanoseconds and a packet of `length`.
    fn left(&self, passed: i64, length: u32) -> i64 {
        (self.tokens + passed).min(self.most) - self.ratio.time_of(length)
    }
}

/// The buckets and when a packet took of them last.
pub struct Police {
    bucket: Bucket,
    peak: Option<Bucket>,
    longest: u32,
    /// Nanoseconds.
    taken: u64,
}

impl Police {
    /// Full buckets.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let rate = settings.rate(line.rate);
        let longest = settings.mtu.map_or(u32::MAX, |mtu| u32::try_from(mtu.0).unwrap_or(u32::MAX));
        let ratio = |rate| Ratio::new(rate, Link::default());
        let peak = settings.peak_rate.map(|peak| {
            let ratio = ratio(peak.bit_per_s());
            Bucket::full(ratio, ratio.time_of(longest))
        });
        Self { bucket: Bucket::full(ratio(rate), saved(settings.burst, rate)), peak, longest, taken: 0 }
    }
}

impl Policer for Police {
    fn conforms(&mut self, now: Time, packet: &Packet) -> bool {
        if packet.length > self.longest {
            return false;
        }
        let now = now.0 / 1000;
        let passed = i64::try_from(now - self.taken).unwrap_or(i64::MAX).min(self.bucket.most);
        let left = self.bucket.left(passed, packet.length);
        let left_of_peak = self.peak.as_ref().map_or(0, |peak| peak.left(passed, packet.length));
        if left < 0 || left_of_peak < 0 {
            return false;
        }
        self.taken = now;
        self.bucket.tokens = left;
        if let Some(peak) = &mut self.peak {
            peak.tokens = left_of_peak;
        }
        true
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("policer_tokens_s", Unit::Seconds, self.bucket.tokens as f64 / NS_PER_S as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn police(settings: Settings) -> Police {
        Police::new(&settings, &Line::new(Rate::new(100_000_000).expect("a rate")))
    }

    fn conforms(police: &mut Police, us: u64, length: u32) -> bool {
        let now = Time(us * 1_000_000);
        police.conforms(now, &Packet::new(0, now, length))
    }

    #[test]
    fn ten_packets_of_a_burst_go_and_then_one_for_each_time_of_a_packet() {
        // 15 kB at 10 Mbit/s are 12 ms, a packet of 1500 B 1.2 ms of them.
        let mut police = police(Settings { rate: Rate::new(10_000_000), ..Settings::default() });
        let burst = (0..12).map(|_| conforms(&mut police, 0, 1500)).filter(|conforms| *conforms).count();
        assert_eq!(burst, 10);
        assert!(!conforms(&mut police, 1199, 1500));
        assert!(conforms(&mut police, 1200, 1500));
        // What did not conform took no token, and half a packet goes after half the time.
        assert!(!conforms(&mut police, 1799, 750));
        assert!(conforms(&mut police, 1800, 750));
        // The bucket holds no more than its burst.
        let later = (0..12).map(|_| conforms(&mut police, 10_000_000, 1500)).filter(|conforms| *conforms).count();
        assert_eq!(later, 10);
    }

    #[test]
    fn a_second_bucket_spreads_a_burst_and_a_long_packet_never_conforms() {
        let (rate, peak_rate, mtu) = (Rate::new(10_000_000), Rate::new(20_000_000), Some(Bytes(1500)));
        let mut police = police(Settings { rate, peak_rate, mtu, ..Settings::default() });
        assert!(conforms(&mut police, 0, 1500));
        assert!(!conforms(&mut police, 599, 1500));
        assert!(conforms(&mut police, 600, 1500));
        assert!(!conforms(&mut police, 1_000_000, 1501));
    }

    #[test]
    fn the_longest_packet_that_passes_is_the_burst_or_what_the_ticks_leave_of_it() {
        let of = |rate, burst| {
            let settings = Settings { rate: Rate::new(rate), burst: Bytes(burst), ..Settings::default() };
            let longest = settings.longest_passed(Rate::MAX).0;
            let mut police = police(settings);
            assert!(conforms(&mut police, 0, longest as u32));
            assert!(!conforms(&mut police, 1_000_000, longest as u32 + 1));
            longest
        };
        assert_eq!(of(10_000_000, 1500), 1500);
        // 1714285 ns are 26785 ticks and 45 ns more.
        assert_eq!(of(7_000_000, 1500), 1499);
        // 1200 ns are 18 ticks and 48 ns more; 1152.8 ns count as 1152.
        assert_eq!(of(10_000_000_000, 1500), 1441);
    }
}
