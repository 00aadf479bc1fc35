//! A scheduler from one function of a packet, its rank: the packet of the least rank leaves first.

use super::object::{Method, Object, given};
use super::shown::{Flows, Packet};
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Flow, Gone, Next, Scheduler, Slot, Tag};
use fairq_sched::packet::Packet as SchedPacket;
use fairq_sched::rank::{Ranks, value};
use fairq_sched::reading::Reading;
use fairq_sched::store::Store;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use fairq_sched::waiting::{Decision, Stamps};
use pyo3::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A queue for each flow, and the heads by their ranks.
pub(super) struct Rank {
    part: Object,
    rank: Method,
    flows: Flows,
    ranks: Ranks,
    queues: Vec<Queue>,
    /// Tags of heads. One that is no longer that of its queue's head is stale.
    heads: BinaryHeap<Reverse<(Tag, Slot)>>,
}

#[derive(Clone, Copy, Default)]
struct Queue {
    waiting: u32,
    /// The value of the tag of the last packet that joined.
    last: u64,
    head: Option<Tag>,
}

impl Rank {
    pub(super) fn new(py: Python<'_>, part: Object) -> Self {
        let rank = part.method(py, "rank");
        let (flows, ranks) = (Flows::default(), Ranks::new());
        Self { part, rank, flows, ranks, queues: Vec::new(), heads: BinaryHeap::new() }
    }

    fn set_head(&mut self, queue: Slot, head: Option<Tag>) {
        self.queues[queue as usize].head = head;
        self.heads.extend(head.map(|tag| Reverse((tag, queue))));
    }

    fn ask(&mut self, now: Time, flow: Flow, packet: &SchedPacket) -> f64 {
        Python::attach(|py| {
            let about = || given(now, packet, flow.slot);
            let shown = self.flows.of(py, flow).unwrap_or_else(|error| super::object::raise(error));
            let rank = self.part.call(py, &self.rank, (now.as_s(), shown, Packet::of(packet)), about);
            match rank.extract::<f64>() {
                Ok(number) if !number.is_nan() => number,
                _ => self.part.refuse_answer("rank", &rank, "a number"),
            }
        })
    }
}

impl Scheduler for Rank {
    fn traits(&self) -> Traits {
        Traits::PLAIN
    }

    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &SchedPacket) -> Tag {
        let ordered = ordered(self.ask(now, flow, packet));
        if self.queues.len() <= queue as usize {
            self.queues.resize(queue as usize + 1, Queue::default());
        }
        let queue = &mut self.queues[queue as usize];
        // Packets of a flow leave in order: none has a lower rank than those before it.
        queue.last = if queue.waiting > 0 { ordered.max(queue.last) } else { ordered };
        queue.waiting += 1;
        self.ranks.tag(queue.last.into())
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.set_head(queue, Some(tag));
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        while let Some(Reverse((tag, queue))) = self.heads.peek() {
            if self.queues[*queue as usize].head == Some(*tag) {
                return Next::Queue(*queue);
            }
            self.heads.pop();
        }
        Next::Empty
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &SchedPacket, _tag: Tag, head: Option<Tag>) {
        self.queues[queue as usize].waiting -= 1;
        self.set_head(queue, head);
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        self.queues[gone.queue as usize].waiting -= 1;
        if gone.was_head {
            self.set_head(gone.queue, gone.head);
        }
    }

    // What the part keeps of a flow stays under its number.
    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        false
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        // A weight comes with the packets that arrive later.
        if let Change::Weight(..) = change { Ok(()) } else { change.not_used() }
    }

    fn stamps(&self, _queue: Slot, tag: Tag, _is_head: bool) -> Stamps {
        Stamps::rank(number(value(tag) as u64))
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        let tag = self.queues[queue as usize].head?;
        Some(Decision::by("rank", queue).with_value(number(value(tag) as u64)))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.part.show_readings(visit);
    }
}

const SIGN: u64 = 1 << 63;

/// A whole number that is in the order of `number`, which is not NaN.
fn ordered(number: f64) -> u64 {
    // Both zeros are one.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The number of which `ordered` is the order.
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_numbers_is_that_of_the_whole_numbers_which_stand_for_them() {
        let numbers = [f64::NEG_INFINITY, -1e300, -2.5, -1.0, -1e-310, 0.0, 1e-310, 1.0, 2.5, 1e300, f64::INFINITY];
        assert!(numbers.map(ordered).is_sorted_by(|a, b| a < b));
        assert_eq!(numbers.map(ordered).map(number), numbers);
        assert_eq!(ordered(-0.0), ordered(0.0));
    }
}
