//! What goes wrong on the way: packets that are lost, that come late, and that others pass.
//!
//! Each kind of chance has a stream of its own, named by the line, so that a line which also loses keeps its jitter. A
//! jittered packet never passes another: it comes no earlier than the one before it. One that is reordered comes later by
//! a set time, and others may pass it; these few stand in a heap beside the ring of those in order, so that the line keeps
//! one entry in the event set.

use crate::engine::random::Stream;
use fairq_sched::units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How much goes wrong on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// The probability that a packet is lost after its transmission.
    pub loss: f64,
    /// The greatest extra delay of a packet that keeps its place.
    pub jitter: Time,
    /// The probability that a packet loses its place.
    pub reorder: f64,
    /// The extra delay of one that does.
    pub reorder_delay: Time,
}

impl Impairment {
    /// Whether nothing goes wrong.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What becomes of a packet on its way.
pub enum Journey {
    /// It never arrives.
    Lost,
    /// It arrives at this time, behind all that went in order before it.
    InOrder(Time),
    /// It arrives at this time, whatever others do.
    Late(Time),
}

/// The chance of a line, and the packets that others may pass.
pub struct Impaired {
    what: Impairment,
    loss: Stream,
    jitter: Stream,
    reorder: Stream,
    /// The last arrival in order.
    last: Time,
    /// Arrival, number among the late ones, packet.
    late: BinaryHeap<Reverse<(Time, u64, u32)>>,
    number: u64,
}

impl Impaired {
    /// What goes wrong on the line called `name` in a run with `seed`.
    #[must_use]
    pub fn new(what: Impairment, seed: u64, name: &str) -> Self {
        let stream = |of: &str| Stream::new(seed, &format!("{name}/{of}"));
        let (loss, jitter, reorder) = (stream("loss"), stream("jitter"), stream("reorder"));
        Self { what, loss, jitter, reorder, last: Time::ZERO, late: BinaryHeap::new(), number: 0 }
    }

    /// Draws the journey of a packet that would arrive at `arrival` if nothing went wrong.
    pub fn journey(&mut self, arrival: Time) -> Journey {
        if self.what.loss > 0.0 && self.loss.uniform() < self.what.loss {
            return Journey::Lost;
        }
        let mut arrival = arrival;
        if self.what.jitter > Time::ZERO {
            // A product of a uniform number below one: rounded down, it stays below the greatest.
            arrival = arrival.saturating_add(Time((self.what.jitter.0 as f64 * self.jitter.uniform()) as u64));
        }
        if self.what.reorder > 0.0 && self.reorder.uniform() < self.what.reorder {
            return Journey::Late(arrival.saturating_add(self.what.reorder_delay));
        }
        self.last = self.last.max(arrival);
        Journey::InOrder(self.last)
    }

    /// Notes the packet `id`, which arrives at `time`, whatever others do.
    pub fn keep(&mut self, time: Time, id: u32) {
        self.late.push(Reverse((time, self.number, id)));
        self.number += 1;
    }

    /// The first arrival among those that lost their place.
    #[must_use]
    pub fn first(&self) -> Option<Time> {
        self.late.peek().map(|Reverse((time, ..))| *time)
    }

    /// Takes the first of them.
    pub fn take(&mut self) -> Option<(Time, u32)> {
        self.late.pop().map(|Reverse((time, _, id))| (time, id))
    }

    /// The packets among them.
    pub fn packets(&self) -> impl Iterator<Item = u32> {
        self.late.iter().map(|Reverse((.., id))| *id)
    }

    /// How many they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.late.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.late.is_empty()
    }
}
