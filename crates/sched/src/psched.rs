//! How the kernel's shapers count: a rate is a multiplier and a shift that turn bytes into
//! nanoseconds, and what may be saved is a time in whole ticks of `tc`.
//!
//! Source: Linux 6.1, sch_generic.c (`psched_ratecfg_precompute`), sch_generic.h
//! (`psched_l2t_ns`), pkt_sched.h (`PSCHED_TICKS2NS`); iproute2, tc_core.c (`tc_calc_xmittime`).

use crate::link_layer::Link;
use crate::units::Bytes;

pub(crate) const NS_PER_S: u64 = 1_000_000_000;
/// `tc` counts what may be saved in ticks of this many nanoseconds.
const TICK: u64 = 64;

/// The transmission time of a packet at a rate, as the kernel computes it
/// (`psched_ratecfg_precompute`, `psched_l2t_ns`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    link: Link,
    multiplier: u64,
    shift: u32,
}

impl Ratio {
    /// The ratio of a rate in bit/s.
    pub(crate) fn new(bit_per_s: u64, link: Link) -> Self {
        let rate = (bit_per_s / 8).max(1);
        let (mut factor, mut multiplier, mut shift) = (NS_PER_S, 0, 0);
        loop {
            let next = factor / rate;
            multiplier = if next == 0 { multiplier } else { next };
            if next >> 31 & 1 == 1 || factor >> 63 == 1 {
                return Self { link, multiplier, shift };
            }
            factor <<= 1;
            shift += 1;
        }
    }

    /// Nanoseconds of a packet of `length`.
    pub(crate) fn time_of(&self, length: u32) -> i64 {
        let bytes = self.link.bytes_of(length);
        ((u128::from(bytes) * u128::from(self.multiplier)) >> self.shift) as i64
    }
}

/// What `bytes` of savings are in nanoseconds of a rate, in whole ticks (`tc_calc_xmittime`).
pub(crate) fn saved(bytes: Bytes, bit_per_s: u64) -> i64 {
    let rate = u128::from((bit_per_s / 8).max(1));
    let ns = u128::from(bytes.0) * u128::from(NS_PER_S) / rate;
    i64::try_from(ns / u128::from(TICK) * u128::from(TICK)).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}
