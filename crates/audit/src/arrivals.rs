//! Arrival patterns from a seed: random patterns, and patterns that schedulers are known to get
//! wrong.

use fairq_sched::units::{Rate, Time, Weight};

/// SplitMix64 (Steele, Lea and Flood 2014): a small generator whose stream is fixed by its
/// definition.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `bound` − 1; `bound` is above zero. Its bias, below `bound`/2^64, does
    /// not matter to tests.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

/// What the arrivals look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Any flow, any length, gaps that load the line about fully.
    Random,
    /// Every flow has all its packets at time zero.
    AllAtOnce,
    /// Flow 0 sends now and then, a picosecond after all others have sent.
    SparseJustBehind,
    /// Flow 0 sends the smallest packets, the others the largest.
    TinyAgainstLarge,
    /// Flows send a packet or two, fall idle, and return about when their last bit has left the
    /// fluid.
    IdleAndReturn,
    /// One flow after another sends a burst at one instant, then there is a pause.
    Bursts,
    /// Several packets of different flows at each of few instants, spaced by whole packet times.
    EqualInstants,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Random,
        Self::AllAtOnce,
        Self::SparseJustBehind,
        Self::TinyAgainstLarge,
        Self::IdleAndReturn,
        Self::Bursts,
        Self::EqualInstants,
    ];

    /// The name of a run of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::AllAtOnce => "all_at_once",
            Self::SparseJustBehind => "sparse_just_behind",
            Self::TinyAgainstLarge => "tiny_against_large",
            Self::IdleAndReturn => "idle_and_return",
            Self::Bursts => "bursts",
            Self::EqualInstants => "equal_instants",
        }
    }
}

/// The load that a pattern is made for.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The line, for gaps that about fill it.
    pub rate: Rate,
    /// Number of flows; at least one.
    pub flows: u32,
    /// Number of packets.
    pub packets: usize,
}

const SMALL: u32 = 40;
const LARGE: u32 = 1500;

/// Arrivals (time, flow, length in bytes) in the order of time.
#[must_use]
pub fn arrivals(pattern: Pattern, load: Load, seed: u64) -> Vec<(Time, u32, u32)> {
    let mut draw = SplitMix64(seed);
    let flows = load.flows.max(1);
    let time_of = |bytes: u64| load.rate.time_of_bits(bytes * 8).0;
    let large_time = time_of(u64::from(LARGE));
    let mut list = Vec::with_capacity(load.packets);
    let mut now = 0;
    while list.len() < load.packets {
        let flow = draw.below(u64::from(flows)) as u32;
        let length = SMALL + draw.below(u64::from(LARGE - SMALL + 1)) as u32;
        match pattern {
            Pattern::Random => {
                now += draw.below(large_time + 1);
                list.push((Time(now), flow, length));
            }
            Pattern::AllAtOnce => list.push((Time::ZERO, flow, length)),
            Pattern::SparseJustBehind => {
                for other in 1..flows {
                    list.push((Time(now), other, length));
                }
                list.push((Time(now + 1), 0, SMALL));
                now += 1 + draw.below(large_time * u64::from(flows) + 1);
            }
            Pattern::TinyAgainstLarge => {
                now += draw.below(large_time + 1);
                list.push((Time(now), flow, if flow == 0 { SMALL } else { LARGE }));
            }
            Pattern::IdleAndReturn => {
                for _ in 0..1 + draw.below(2) {
                    list.push((Time(now), flow, length));
                }
                // About the time its bits take if one, or all, share the line.
                let sharers = if draw.below(2) == 0 { 1 } else { u64::from(flows) };
                now += (time_of(u64::from(length) * sharers) + draw.below(3)).saturating_sub(1) / (1 + draw.below(4));
            }
            Pattern::Bursts => {
                for _ in 0..1 + draw.below(20) {
                    list.push((Time(now), flow, length));
                }
                now += draw.below(20 * large_time + 1);
            }
            Pattern::EqualInstants => {
                for other in 0..flows {
                    if draw.below(3) > 0 {
                        list.push((Time(now), other, 500 * (1 + draw.below(3) as u32)));
                    }
                }
                now += time_of(500) * draw.below(3 * u64::from(flows) + 1);
            }
        }
    }
    list.truncate(load.packets);
    // A sparse flow's packet may come just after the next round of the others.
    list.sort_by_key(|arrival| arrival.0);
    list
}

/// Weights for `flows` flows: all one, random, or alternately one and a million, as the seed says.
#[must_use]
pub fn weights(flows: u32, seed: u64) -> Vec<Weight> {
    let mut draw = SplitMix64(seed ^ 0x5eed);
    let kind = draw.below(3);
    let thousandths = |flow: u32, draw: &mut SplitMix64| match kind {
        0 => 1000,
        1 => 1 + draw.below(5000) as u32,
        _ => [1000, 1_000_000_000][flow as usize % 2],
    };
    (0..flows).map(|flow| Weight::from_thousandths(thousandths(flow, &mut draw)).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_in_order_of_time_and_the_same_for_the_same_seed() {
        let load = Load { rate: Rate::new(1_000_000).expect("a rate"), flows: 5, packets: 300 };
        for pattern in Pattern::ALL {
            let list = arrivals(pattern, load, 7);
            assert_eq!(list.len(), 300);
            assert!(list.is_sorted_by_key(|arrival| arrival.0));
            assert!(list.iter().all(|(_, flow, length)| *flow < 5 && (SMALL..=LARGE).contains(length)));
            assert_eq!(list, arrivals(pattern, load, 7));
        }
    }
}
