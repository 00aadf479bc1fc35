//! Worst-case fair weighted fair queueing: of the packets that the fluid has begun, the one that it
//! finishes first.
//!
//! Use when: you need the packet scheduler nearest to the fluid, as a yardstick. `wf2q_plus` keeps
//! the same worst-case index without emulating the fluid, and is the choice for other work.
//! Source: Bennett and Zhang, "WF2Q: Worst-case Fair Weighted Fair Queueing", INFOCOM 1996.
//! Departs: if nothing that waits has begun in the fluid (drops, a line that is faster than its
//! nominal rate), the fluid counts as having got to where the first of them begins: the line never
//! waits. In the source that cannot happen.
//! Chosen: equal finish numbers leave in order of arrival; S, F and V are compared in steps of
//! 1/(16·5⁹) byte; drops are taken back from the fluid as in `wfq`, and the packet behind a dropped
//! head may go when that might have.
//! Cost: O(log N) a packet, amortised; one arrival may have to delete N flows from the fluid.
//! Bound: no packet leaves later than Lmax/C after the fluid, and no flow is more than Lmax behind
//! its fluid service (tag_bounds.rs:
//! wfq_and_wf2q_are_never_later_than_the_fluid_by_more_than_a_packet) nor more than (1 - ri/C) Li
//! ahead of it (tag_bounds.rs: wf2q_is_ahead_of_the_fluid_by_less_than_a_packet_of_the_flow). Its
//! bit worst-case fair index is Li + (Lmax - Li) ri/C while the fluid has packets of the flow all
//! along (tag_bounds.rs: wf2q_and_wf2q_plus_keep_the_worst_case_index). It can be more for a flow
//! that comes back when its last packet still waits but the fluid is done with it, for the fluid
//! owes nothing for that time: 1.17 times was seen in the audit.
//! Changes: S and F given stand, and so does what V has grown; from the change on V grows at the
//! new rate or by the new weights. A weight counts for the tags of the packets that arrive from
//! then on.
//!
//! Range: as for `wfq`: 2⁶⁴ bytes of weight one for the order of tags (round.rs).

use super::wfq;
use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::emulation::Emulation;
use crate::packet::Packet;
use crate::part::{Part, facts, no_settings};
use crate::promise::{Load, Measure};
use crate::rank::{self, Ranks};
use crate::reading::{Reading, Unit};
use crate::slots::entry;
use crate::store::Store;
use crate::tournament::Tournament;
use crate::units::Time;
use crate::waiting::{Decision, Stamps, bytes_on_grid};
use alloc::vec::Vec;

no_settings!("Nothing can be set: the weights are the line's.");

impl Part for Settings {
    facts!(goes_by_weights = true, needs_rate = true, ranks_packets = true, fits_inner_nodes = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::Ahead(_) if load.has_losses => None,
            Measure::Ahead(flow) => Some((1.0 - load.share(flow)) * load.longest_of(flow)),
            _ => wfq::Settings {}.promise(measure, load),
        }
    }
}

/// Start and finish numbers of an emulated fluid.
pub struct Wf2q {
    fluid: Emulation,
    /// Of each queue: S of the packet that arrived last, on the grid; and the tag of its head while
    /// it is in `ahead`.
    queues: Vec<(u128, Tag)>,
    /// Queues whose head has begun in the fluid, by F of the head.
    begun: Tournament,
    /// The others, by S of the head, on the grid.
    ahead: Tournament,
    /// Up to where, on the grid, heads have begun: V, or further.
    begun_to: u128,
    ranks: Ranks,
}

impl Wf2q {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(_: &Settings, line: &Line) -> Self {
        Self {
            fluid: Emulation::new(line.rate),
            queues: Vec::new(),
            begun: Tournament::new(),
            ahead: Tournament::new(),
            begun_to: 0,
            ranks: Ranks::new(),
        }
    }

    /// `head` stands at the head of `queue`, behind a packet whose F was `start`. If it arrived
    /// when the fluid had no more of its flow, its S is V then, which lies between `start` and V
    /// now: it has begun in either case.
    #[inline]
    fn place(&mut self, queue: Slot, start: u128, head: Option<Tag>) {
        self.begun.remove(queue);
        self.ahead.set(queue, head.map(|_| start));
        if let Some(head) = head {
            self.queues[queue as usize].1 = head;
        }
    }

    /// Moves the queues whose head has begun when V is `round` to `begun`.
    fn begin(&mut self, round: u128) {
        self.begun_to = self.begun_to.max(round);
        while let Some((queue, _)) = self.ahead.peek().filter(|(_, start)| *start <= self.begun_to) {
            self.ahead.pop();
            self.begun.push(queue, self.queues[queue as usize].1);
        }
    }
}

impl Scheduler for Wf2q {
    traits!();

    #[inline]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        let stamp = self.fluid.join(now, queue, flow.weight, packet.length);
        entry(&mut self.queues, queue, (0, 0)).0 = rank::on_grid(stamp.start);
        self.ranks.tag(rank::on_grid(stamp.finish))
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.place(queue, self.queues[queue as usize].0, Some(tag));
    }

    #[inline]
    fn next(&mut self, now: Time, _store: &Store) -> Next {
        // S ≤ V(t)
        let round = self.fluid.round(now);
        self.begin(rank::on_grid(round));
        if self.begun.is_empty()
            && let Some((_, start)) = self.ahead.peek()
        {
            self.begin(start);
        }
        self.begun.peek().map_or(Next::Empty, |(queue, _)| Next::Queue(queue))
    }

    #[inline]
    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, tag: Tag, head: Option<Tag>) {
        self.place(queue, rank::value(tag), head);
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        if gone.was_head {
            // S of the dropped head; it has begun if it is not in `ahead`.
            let start = self.ahead.key(gone.queue).unwrap_or(0);
            self.place(gone.queue, start, gone.head);
        }
        self.fluid.take_back(now, gone.queue, gone.flow.weight, gone.packet.length);
    }

    fn is_clear(&mut self, now: Time, queue: Slot) -> bool {
        self.fluid.is_clear(now, queue)
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        match *change {
            Change::Rate(rate) => self.fluid.rate_changed(now, rate),
            Change::Weight(queue, weight) => self.fluid.weight_changed(now, queue, weight),
            _ => return change.not_used(),
        }
        Ok(())
    }

    fn stamps(&self, _queue: Slot, tag: Tag, _is_head: bool) -> Stamps {
        Stamps::finish(bytes_on_grid(tag))
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        let (_, tag) = self.begun.peek()?;
        let decision = Decision::by("finish", queue).with_value(bytes_on_grid(tag));
        let clock = bytes_on_grid(rank::tag(self.begun_to, 0));
        Some(Decision { eligible: Some(self.begun.len() as u32), ..decision.at_clock(clock) })
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.fluid.readings(visit);
        visit(Reading::count("begun_queues", Unit::None, self.begun.len() as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Limit;
    use crate::units::{Rate, Weight};

    #[test]
    fn a_packet_waits_until_the_fluid_has_begun_it() {
        // A byte a second. Flow 0, of weight 3, has two packets of three bytes: S = 0 and 1. Flow 1
        // has one: S = 0, F = 3.
        let mut wf2q = Wf2q::new(&Settings::default(), &Line::new(Rate::new(8).unwrap()));
        let store = Store::new(Limit::Unlimited);
        let packet = Packet::new(0, Time::ZERO, 3);
        let heavy = Flow::weighted(0, Weight::from_thousandths(3000).unwrap());
        let first = wf2q.arrive(Time::ZERO, 0, heavy, &packet);
        wf2q.backlogged(0, first);
        let second = wf2q.arrive(Time::ZERO, 0, heavy, &packet);
        let other = wf2q.arrive(Time::ZERO, 1, Flow::of_slot(1), &packet);
        wf2q.backlogged(1, other);
        assert_eq!(wf2q.next(Time::ZERO, &store), Next::Queue(0));
        wf2q.sent(Time::ZERO, 0, &packet, first, Some(second));
        // At 3 s V is 3/4; the second packet, with the lesser F = 2, begins at 4 s.
        assert_eq!(wf2q.next(Time::from_s(3), &store), Next::Queue(1));
        assert_eq!(wf2q.next(Time::from_s(4), &store), Next::Queue(0));
        // Alone it goes before the fluid begins it: the line does not wait.
        let mut wf2q = Wf2q::new(&Settings::default(), &Line::new(Rate::new(8).unwrap()));
        let tags = [0; 2].map(|_| wf2q.arrive(Time::ZERO, 0, heavy, &packet));
        wf2q.backlogged(0, tags[0]);
        wf2q.sent(Time::ZERO, 0, &packet, tags[0], Some(tags[1]));
        assert_eq!(wf2q.next(Time::from_s(1), &store), Next::Queue(0));
    }
}
