//! Does R(t) drift? Up to 32 equal conversations that never all go idle, against exact whole
//! numbers.
//!
//! Arrivals come at random *round numbers*, whole multiples of u = 1/lcm(1 … 32) byte. With k
//! conversations active, R grows by m·u while the line does k·m·u bytes of work: whole numbers
//! again, so the reference is exact. The tested round is given the work rounded down to its unit,
//! each time from the exact sum, so that rounding does not add up at its input.

use crate::arrivals::SplitMix64;
use fairq_sched::round::{BYTE, BYTE_WORK, Round};
use fairq_sched::units::Weight;

/// lcm(1 … 32).
const UNITS_PER_BYTE: u128 = 144_403_552_893_600;
const CONVERSATIONS: usize = 32;
/// Packets between changes of the load.
const SPELL: u64 = 5000;

/// What was found.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// The greatest |R − exact R| at any arrival, in bytes.
    pub worst: f64,
    /// R − exact R at the last arrival, in bytes.
    pub last: f64,
    /// R at the last arrival, in bytes.
    pub round: f64,
    /// How often a conversation became active.
    pub activations: u64,
}

/// The reference: everything in units of u.
struct Exact {
    /// R.
    round: u128,
    /// Work done.
    work: u128,
    /// F of each conversation; it is active while this is above R.
    finish: [u128; CONVERSATIONS],
}

impl Exact {
    /// Moves on to the round number `to`, through every F on the way.
    fn advance(&mut self, to: u128) {
        while self.round < to {
            let (mut active, mut next) = (0, to);
            for finish in self.finish {
                if finish > self.round {
                    active += 1;
                    next = next.min(finish);
                }
            }
            // work = k·(next − R)
            self.work += active * (next - self.round);
            self.round = next;
        }
    }

    fn last_finish(&self) -> u128 {
        self.finish.iter().copied().max().unwrap_or(0)
    }
}

/// Runs `packets` packets and compares R at every arrival.
#[must_use]
pub fn drift(packets: u64, seed: u64) -> Drift {
    let mut draw = SplitMix64(seed);
    let mut exact = Exact { round: 0, work: 0, finish: [0; CONVERSATIONS] };
    let mut round = Round::new();
    let (mut worst, mut error, mut activations) = (0_i128, 0_i128, 0);
    let mut gap = 1;
    for packet in 0..packets {
        if packet % SPELL == 0 {
            // Each conversation is a queue of its own in the time of R. Loads of 1/8 … 9/8 for the
            // mean length 770 B.
            gap = UNITS_PER_BYTE as u64 / 32 * 8 / (1 + draw.below(9)) * 770 * 2;
        }
        // Before the last conversation goes idle; the first arrives at R = 0.
        let arrival = exact.round + u128::from(draw.below(gap));
        let arrival = arrival.min(exact.last_finish().saturating_sub(1)).max(exact.round);
        exact.advance(arrival);
        // work = floor(exact work), whole bytes apart for the product to fit.
        let (bytes, rest) = (exact.work / UNITS_PER_BYTE, exact.work % UNITS_PER_BYTE);
        round.advance(bytes * BYTE_WORK + rest * BYTE_WORK / UNITS_PER_BYTE);
        // The error in units of u·ε: (R − whole bytes)·lcm − rest.
        let (bytes, rest) = (exact.round / UNITS_PER_BYTE, exact.round % UNITS_PER_BYTE);
        error = (round.now() as i128 - (bytes * BYTE) as i128) * UNITS_PER_BYTE as i128 - (rest * BYTE) as i128;
        worst = worst.max(error.abs());

        let flow = draw.below(CONVERSATIONS as u64) as usize;
        let length = 40 + draw.below(1461) as u32;
        activations += u64::from(!round.is_active(flow as u32));
        round.charge(flow as u32, Weight::ONE, length);
        exact.finish[flow] = exact.finish[flow].max(exact.round) + u128::from(length) * UNITS_PER_BYTE;
    }
    let bytes = |error: i128| error as f64 / UNITS_PER_BYTE as f64 / BYTE as f64;
    let r = exact.round as f64 / UNITS_PER_BYTE as f64;
    Drift { worst: bytes(worst), last: bytes(error), round: r, activations }
}
