//! Impairments on the way: packets are lost, arrive late, or are reordered. A state machine with
//! random numbers of its own: it is told of each packet when it is sent, and answers when it
//! arrives.
//!
//! Each kind of impairment has a random stream of its own, named by the line, so that a line to
//! which loss is added keeps its jitter. A jittered packet never overtakes another: it arrives no
//! earlier than the one before it. A reordered packet arrives later by a set time, and others may
//! overtake it. The caller keeps the packets in order in a queue of its own; [`Impaired`] keeps the
//! few others in a heap.
//!
//! Source: of losses, see [`Loss`]. Chosen: jitter is uniform, and reordering draws each packet on
//! its own. Probabilities are parts of one, times whole picoseconds. A probability outside its
//! range is no error here: [`Loss::fault`] says what is wrong with losses, and the other settings
//! take any value.
//!
//! ```
//! use fairq_link::impairment::{Impaired, Impairment, Journey, Loss};
//! use fairq_sched::units::Time;
//!
//! let loss = Loss { probability: 0.25, burst: Some(4.0) };
//! assert_eq!(loss.fault(), None);
//! let jitter = Time::from_ms(2);
//! let mut line = Impaired::new(Impairment { loss, jitter, ..Impairment::default() }, 1, "uplink");
//! let arrivals = (0..1000).filter_map(|packet| match line.journey(Time::from_ms(packet)) {
//!     Journey::InOrder(time) => Some(time),
//!     Journey::Lost | Journey::Late(_) => None,
//! });
//! let arrivals: Vec<Time> = arrivals.collect();
//! assert!((600..900).contains(&arrivals.len()) && arrivals.is_sorted());
//! ```

use crate::random::Stream;
use fairq_sched::units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The impairments of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// The packets that are lost after their transmission.
    pub loss: Loss,
    /// The greatest extra delay of a packet that keeps its place; uniform from zero to below it.
    pub jitter: Time,
    /// The probability that a packet loses its place, from 0 to 1.
    pub reorder: f64,
    /// The extra delay of a packet that loses its place.
    pub reorder_delay: Time,
}

/// Which packets are lost.
///
/// Source: Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39 (1960);
/// Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", ibid. 42 (1963).
/// Departs: the bad state loses every packet and the good one none; the chain steps with each
/// packet, not with each bit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// The probability that a packet is lost, from 0 to below 1.
    pub probability: f64,
    /// The mean number of packets lost in a row, at least 1; `None`: each is lost on its own.
    pub burst: Option<f64>,
}

impl Loss {
    /// Why there are no such losses; `None` if there are.
    #[must_use]
    pub fn fault(self) -> Option<String> {
        let Self { probability: part, burst } = self;
        if !(0.0..1.0).contains(&part) {
            return Some(format!("a probability is from 0 to below 1, not {part}"));
        }
        let burst = burst?;
        if !(1.0..=BURST_MAX).contains(&burst) {
            return Some(format!("a mean burst has from 1 to {BURST_MAX} packets, not {burst}"));
        }
        // Between two bursts there is at least one packet that is not lost.
        (part > burst / (1.0 + burst)).then(|| {
            format!(
                "bursts of {burst} lose at most {:.3} of the packets, as one that arrives parts two bursts; write a \
                 longer burst",
                burst / (1.0 + burst)
            )
        })
    }

    /// Whether a packet is lost, given whether the packet before it was.
    fn draw(self, before: Option<bool>, stream: &mut Stream) -> bool {
        let Self { probability: part, burst } = self;
        let chance = match (burst, before) {
            // A burst ends after each of its packets with this probability.
            (Some(burst), Some(true)) => 1.0 - 1.0 / burst,
            // The chain's stationary part of lost packets is then `part`.
            (Some(burst), Some(false)) => part / (burst * (1.0 - part)),
            _ => part,
        };
        stream.uniform() < chance
    }
}

/// The longest mean burst.
const BURST_MAX: f64 = 1e6;

impl Impairment {
    /// Whether there is no impairment.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The fate of a packet on its way.
pub enum Journey {
    /// The packet never arrives.
    Lost,
    /// The packet arrives at this time, behind all packets that kept their place.
    InOrder(Time),
    /// The packet arrives at this time, out of order.
    Late(Time),
}

/// The random streams of a line, and the packets that others may overtake.
pub struct Impaired {
    what: Impairment,
    loss: Stream,
    /// Whether the last packet was lost.
    is_lost: Option<bool>,
    jitter: Stream,
    reorder: Stream,
    /// The last arrival in order.
    last: Time,
    /// Arrival, number among the late packets, packet id.
    late: BinaryHeap<Reverse<(Time, u64, u32)>>,
    number: u64,
}

impl Impaired {
    /// The impairments `what` of the line called `name` in a run with `seed`.
    #[must_use]
    pub fn new(what: Impairment, seed: u64, name: &str) -> Self {
        let stream = |of: &str| Stream::new(seed, &format!("{name}/{of}"));
        let (loss, jitter, reorder) = (stream("loss"), stream("jitter"), stream("reorder"));
        Self { what, loss, is_lost: None, jitter, reorder, last: Time::ZERO, late: BinaryHeap::new(), number: 0 }
    }

    /// Has the impairments `what` from now on. The random streams go on, and the packets keep their
    /// order.
    pub const fn change(&mut self, what: Impairment) {
        self.what = what;
    }

    /// A random journey of a packet that would arrive at `arrival` without impairments.
    #[inline]
    pub fn journey(&mut self, arrival: Time) -> Journey {
        if self.what.loss.probability > 0.0 {
            let is_lost = self.what.loss.draw(self.is_lost, &mut self.loss);
            self.is_lost = Some(is_lost);
            if is_lost {
                return Journey::Lost;
            }
        }
        let mut arrival = arrival;
        if self.what.jitter > Time::ZERO {
            // The product with a uniform number below one, rounded down, stays below the greatest
            // jitter.
            arrival = arrival.saturating_add(Time((self.what.jitter.0 as f64 * self.jitter.uniform()) as u64));
        }
        if self.what.reorder > 0.0 && self.reorder.uniform() < self.what.reorder {
            return Journey::Late(arrival.saturating_add(self.what.reorder_delay));
        }
        self.last = self.last.max(arrival);
        Journey::InOrder(self.last)
    }

    /// Keeps the packet `id` of the caller, which arrives at `time` out of order.
    pub fn keep(&mut self, time: Time, id: u32) {
        self.late.push(Reverse((time, self.number, id)));
        self.number += 1;
    }

    /// The first arrival among the packets that lost their place.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<Time> {
        self.late.peek().map(|Reverse((time, ..))| *time)
    }

    /// Removes the first of these packets.
    #[inline]
    pub fn take(&mut self) -> Option<(Time, u32)> {
        self.late.pop().map(|Reverse((time, _, id))| (time, id))
    }

    /// The packets that lost their place.
    pub fn packets(&self) -> impl Iterator<Item = u32> {
        self.late.iter().map(|Reverse((.., id))| *id)
    }

    /// The number of packets that lost their place.
    #[must_use]
    pub fn len(&self) -> usize {
        self.late.len()
    }

    /// Whether no packet lost its place.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.late.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of a million packets that is lost, and how many are lost in a row in the mean.
    fn drawn(loss: Loss) -> (f64, f64) {
        let mut stream = Stream::new(1, "line/loss");
        let (mut before, mut lost, mut bursts) = (None, 0, 0);
        let packets = 1_000_000;
        for _ in 0..packets {
            let is_lost = loss.draw(before, &mut stream);
            lost += u32::from(is_lost);
            bursts += u32::from(is_lost && before != Some(true));
            before = Some(is_lost);
        }
        (f64::from(lost) / f64::from(packets), f64::from(lost) / f64::from(bursts))
    }

    #[test]
    fn bursts_are_as_long_and_as_rare_as_the_chain_says() {
        for (probability, burst) in [(0.02, 5.0), (0.02, 1.0), (0.3, 50.0), (0.5, 1.0), (0.001, 20.0)] {
            let (part, length) = drawn(Loss { probability, burst: Some(burst) });
            // By hand: the chain alternates between bursts of `burst` and gaps of `burst (1 - p)/p`
            // packets, both geometric. Of n packets there are n p/burst bursts, and the part lost
            // has the relative variance 2 (1 - p)^2 burst/(n p) or less.
            let bursts = 1e6 * probability / burst;
            let error = 4.0 * (2.0 / bursts).sqrt();
            assert!((part / probability - 1.0).abs() < error, "{probability} {burst}: {part}");
            assert!((length / burst - 1.0).abs() < error, "{probability} {burst}: {length}");
        }
    }

    #[test]
    fn single_losses_come_in_runs_by_chance_alone() {
        let (part, length) = drawn(Loss { probability: 0.2, burst: None });
        assert!((part - 0.2).abs() < 0.002 && (length - 1.0 / 0.8).abs() < 0.01, "{part} {length}");
    }

    #[test]
    fn what_no_chain_loses_is_refused() {
        let fault = |probability, burst| Loss { probability, burst }.fault();
        assert_eq!(fault(0.5, Some(1.0)), None);
        assert_eq!(fault(1.0, None).unwrap(), "a probability is from 0 to below 1, not 1");
        assert_eq!(fault(0.1, Some(0.5)).unwrap(), "a mean burst has from 1 to 1000000 packets, not 0.5");
        assert_eq!(
            fault(0.9, Some(2.0)).unwrap(),
            "bursts of 2 lose at most 0.667 of the packets, as one that arrives parts two bursts; write a longer burst"
        );
    }
}
