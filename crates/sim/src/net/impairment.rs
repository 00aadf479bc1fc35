//! Impairments on the way: packets are lost, arrive late, or are reordered.
//!
//! Each kind of impairment has a random stream of its own, named by the line, so that a line to
//! which loss is added keeps its jitter. A jittered packet never overtakes another: it arrives no
//! earlier than the one before it. A reordered packet arrives later by a set time, and others may
//! overtake it. These few packets are in a heap beside the ring of those in order, so that the line
//! keeps one entry in the event set.

use crate::engine::random::Stream;
use fairq_sched::units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The impairments of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// The probability that a packet is lost after its transmission.
    pub loss: f64,
    /// The greatest extra delay of a packet that keeps its place.
    pub jitter: Time,
    /// The probability that a packet loses its place.
    pub reorder: f64,
    /// The extra delay of a packet that loses its place.
    pub reorder_delay: Time,
}

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
        Self { what, loss, jitter, reorder, last: Time::ZERO, late: BinaryHeap::new(), number: 0 }
    }

    /// A random journey of a packet that would arrive at `arrival` without impairments.
    pub fn journey(&mut self, arrival: Time) -> Journey {
        if self.what.loss > 0.0 && self.loss.uniform() < self.what.loss {
            return Journey::Lost;
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

    /// Keeps the packet `id`, which arrives at `time` out of order.
    pub fn keep(&mut self, time: Time, id: u32) {
        self.late.push(Reverse((time, self.number, id)));
        self.number += 1;
    }

    /// The first arrival among the packets that lost their place.
    #[must_use]
    pub fn first(&self) -> Option<Time> {
        self.late.peek().map(|Reverse((time, ..))| *time)
    }

    /// Removes the first of these packets.
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
