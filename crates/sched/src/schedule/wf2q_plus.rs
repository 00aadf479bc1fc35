//! WF2Q+: worst-case fair queueing without a fluid; the virtual time follows the work done and is
//! never behind every head.
//!
//! Use when: each flow needs its weighted share and a delay that does not grow with the number of
//! flows. With many flows `qfq` costs O(1); for a tree of classes use `hpfq`; simpler and coarser
//! is `drr`.
//! Source: Bennett and Zhang, "Hierarchical Packet Fair Queueing Algorithms", SIGCOMM 1996, ToN
//! 1997, section on WF2Q+.
//!
//! Steps:
//! 1. A packet of L bytes of a flow of weight w arrives: it joins the tail of its flow's queue.
//! 2. A packet that becomes the head of a queue gets S = max(F', V) if nothing of its flow waited
//!    or was on the line, else S = F'; F' is the finish tag of the flow's packet sent last. Behind
//!    a head that was dropped it takes over that one's S. F = S + L/w.
//! 3. While the line sends V grows by the bytes sent over the sum of the weights of the flows that
//!    wait, are on the line, or have F > V.
//! 4. The line is free: flows with F <= V that do not wait leave that sum.
//! 5. If no head has S <= V, then V = the least S.
//! 6. Of the eligible heads, those with S <= V, send the one with the least finish tag F; of equal
//!    ones the one that arrived first. The packet behind it becomes the head (step 2).
//! 7. Nothing waits when the line is free: V and all F are 0.
//!
//! Departs: the source's shares are of all flows that may ever come. Here V grows by the bytes sent
//! over the weights of the flows that wait, whose packet is on the line, or that were sent ahead of
//! V (F > V). That is all that its argument needs, and no flow has to be declared.
//! Chosen: V grows while a packet is sent, at the line's nominal rate, and by all of it when that
//! is over: with one step at the start a flow that comes meanwhile would begin too late, with one
//! at the end too early. When the line is free, in this order: flows with F <= V that do not wait
//! leave the sum; V is raised if no head has begun; heads with S <= V may go; the least F goes; the
//! flow's next head is tagged. A flow is backlogged while its packet is on the line, as in the
//! source: a packet that comes meanwhile has S = F, though V may be beyond (tag_bounds.rs:
//! a_flow_of_wf2q_plus_has_a_packet_as_long_as_it_is_on_the_line). Equal F leave in order of
//! arrival; S, F and V are compared in steps of 1/(16·5⁹) byte. A packet that is dropped costs its
//! flow nothing. When the line is idle V and all F go back to zero.
//! Cost: O(log N) a packet, amortised: each head begins once and each flow leaves the sum once.
//! Bound: with ri the share among all flows ever seen, the bit worst-case fair index at departures
//! of the flow's own packets is Li + (Lmax - Li) ri/C (tag_bounds.rs:
//! wf2q_and_wf2q_plus_keep_the_worst_case_index); a packet leaves by its expected arrival + Li/ri +
//! Lmax/C (tag_bounds.rs: latency_is_a_packet_of_the_flow_and_one_of_the_line). It may be later
//! than the fluid by more than Lmax/C (tag_bounds.rs:
//! wf2q_plus_may_be_later_than_the_fluid_by_more_than_a_packet).
//! Changes: V stands, grown at the old rate and by the old weights until then. A weight gives the
//! flow's head a new F at once, and its S stands; a rate changes no tag.
//!
//! Range: tags as those of `scfq` (head_tags.rs); V grows by less than 2⁹¹ a packet and, with the
//! least weight alone, to 2¹²³·² at most. The sum of the weights of 2³² flows is below 2⁶².

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::eligible::Eligible;
use crate::head_tags::HeadTags;
use crate::heap::Heap;
use crate::packet::Packet;
use crate::part::{Part, facts, no_settings};
use crate::promise::{Load, Measure};
use crate::rank;
use crate::reading::{Reading, Unit};
use crate::round;
use crate::store::Store;
use crate::units::{Rate, Time, Weight};
use crate::waiting::{Decision, Stamps, bytes};

no_settings!("Nothing can be set: the weights are the line's.");

impl Part for Settings {
    facts!(goes_by_weights = true, needs_rate = true, fits_inner_nodes = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        if load.has_losses {
            return None;
        }
        match measure {
            Measure::WorstCaseIndex(flow) => Some(load.least_index(flow)),
            Measure::Latency { flow, .. } => Some(load.own_packet_and_longest(flow)),
            _ => None,
        }
    }
}

/// The step of the card that sends.
const CHOOSES: u8 = 6;

/// Start and finish tags, and a clock of the work done.
pub struct Wf2qPlus {
    tags: HeadTags,
    rate: Rate,
    /// V at `updated`.
    virtual_time: u128,
    updated: Time,
    /// The queue whose packet is on the line.
    serving: Option<Slot>,
    /// Work of the packet in service that V has not grown by, unless it is the whole packet.
    unsent: u128,
    /// Work done that is not worth a whole unit of V, since the sum last changed.
    spare: u128,
    /// The weights, in thousandths, of the flows in `heads` and `idle`.
    weights_sum: u64,
    /// What V grows by for a byte, if the sum divides that; 0 if it does not, or if it was not
    /// computed since the sum last changed.
    per_byte: u64,
    is_computed: bool,
    /// What V grows by per byte of the packet in service, if V has not grown by any of it and
    /// nothing else is to be done when it has been sent: its flow waits on, and no flow may leave
    /// the sum, which divides a byte. Else 0.
    per_byte_at_once: u64,
    /// The length of the packet in service, as long as V has not grown by any of it.
    unsent_length: u32,
    /// Backlogged queues, by S and F of the head.
    heads: Eligible,
    /// Flows of which nothing waits and whose F is above V, by F on the grid.
    idle: Heap<u128>,
}

impl Wf2qPlus {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(_: &Settings, line: &Line) -> Self {
        Self {
            tags: HeadTags::new(),
            rate: line.rate,
            virtual_time: 0,
            updated: Time::ZERO,
            serving: None,
            unsent: 0,
            spare: 0,
            weights_sum: 0,
            per_byte: 0,
            is_computed: false,
            per_byte_at_once: 0,
            unsent_length: 0,
            heads: Eligible::new(),
            idle: Heap::new(),
        }
    }

    #[inline]
    fn is_counted(&self, queue: Slot) -> bool {
        self.tags.waits(queue) || self.idle.contains(queue) || self.serving == Some(queue)
    }

    /// `queue`, whose flow is in the sum, has a new head, or none. Without one the flow stays in
    /// the sum while its packet is on the line and while F > V.
    #[inline]
    fn place(&mut self, queue: Slot) {
        self.heads.set(queue, &self.tags, self.virtual_time);
        if self.serving != Some(queue) && !self.tags.waits(queue) {
            self.idle.push(queue, rank::on_grid(self.tags.last(queue)));
        }
    }

    /// The packet on the line has been sent.
    #[inline]
    fn end_serving(&mut self) {
        if let Some(queue) = self.serving.take()
            && !self.is_counted(queue)
        {
            self.place(queue);
            self.raise(self.virtual_time);
        }
    }

    /// V is `virtual_time` or has passed it; idle flows whose F it has reached leave the sum.
    #[inline]
    fn raise(&mut self, virtual_time: u128) {
        self.virtual_time = self.virtual_time.max(virtual_time);
        let now = rank::on_grid(self.virtual_time);
        while let Some((flow, _)) = self.idle.peek().filter(|(_, finish)| *finish <= now) {
            self.idle.pop();
            self.change_sum(self.tags.weight(flow), 0);
        }
    }

    /// `queue` has its first packet, whose S is F' or `earliest`.
    #[inline]
    fn enter(&mut self, queue: Slot, tag: Tag, earliest: u128) {
        if !self.is_counted(queue) {
            self.change_sum(0, self.tags.weight(queue));
        }
        self.idle.remove(queue);
        self.tags.enter(queue, tag, earliest);
        self.place(queue);
    }

    /// In the sum `new` takes the place of `old`.
    fn change_sum(&mut self, old: u32, new: u32) {
        self.weights_sum = self.weights_sum - u64::from(old) + u64::from(new);
        (self.spare, self.is_computed, self.per_byte, self.per_byte_at_once) = (0, false, 0, 0);
    }

    /// Moves on to `now`, with the packet in service still on the line.
    #[inline]
    fn advance(&mut self, now: Time) {
        self.count_unsent();
        let work = round::work(self.rate, now - self.updated).min(self.unsent);
        self.updated = now;
        self.serve(work);
    }

    /// V may grow by a part of the packet in service.
    #[inline]
    fn count_unsent(&mut self) {
        self.per_byte_at_once = 0;
        if self.unsent_length > 0 {
            self.unsent = u128::from(self.unsent_length) * round::BYTE_WORK;
            self.unsent_length = 0;
        }
    }

    /// V + W/Σw for `work` of the packet in service.
    #[inline]
    fn serve(&mut self, work: u128) {
        self.unsent -= work;
        // Flows may have been sent or dropped empty since.
        self.raise(self.virtual_time);
        // What is spare alone is not worth a unit.
        if self.weights_sum > 0 && work > 0 {
            let (work, weights) = (work + self.spare, u128::from(self.weights_sum));
            let units = work / weights;
            self.spare = work - units * weights;
            self.raise(self.virtual_time + units);
        }
    }

    /// V + W/Σw for all that V has not grown by, without a division if that is a whole packet and
    /// Σw divides a byte.
    #[inline]
    fn serve_rest(&mut self) {
        self.raise(self.virtual_time);
        if !self.is_computed {
            self.divide();
        }
        if self.per_byte > 0 && self.unsent_length > 0 {
            // What is spare alone is not worth a unit, and nothing is added to it.
            let units = u128::from(self.unsent_length) * u128::from(self.per_byte);
            (self.unsent_length, self.per_byte_at_once) = (0, 0);
            self.raise(self.virtual_time + units);
        } else {
            self.count_unsent();
            self.serve(self.unsent);
        }
    }

    /// The head with the least F of those that have begun by now.
    #[inline(always)]
    fn first_begun(&mut self) -> Option<Slot> {
        match self.heads.first_at_once(&self.tags, self.virtual_time) {
            Some(queue) => Some(queue),
            None => self.first_of_all(),
        }
    }

    /// The first head to send, wherever the heads are kept, also if none has begun.
    #[inline(never)]
    fn first_of_all(&mut self) -> Option<Slot> {
        loop {
            let first = self.heads.first(&self.tags, self.virtual_time);
            if first.is_some() {
                return first;
            }
            self.begin_first()?;
        }
    }

    /// V = max(V, min S), if there is one.
    #[cold]
    fn begin_first(&mut self) -> Option<()> {
        let queue = self.heads.next_to_begin(&self.tags)?;
        self.raise(self.tags.head(queue).start);
        Some(())
    }

    /// Looks at the sum as it is now.
    fn divide(&mut self) {
        // A byte is below 2⁵⁹ at the least weight.
        let (byte, weights) = (round::BYTE_WORK as u64, self.weights_sum);
        self.per_byte = if byte.checked_rem(weights) == Some(0) { byte / weights } else { 0 };
        self.is_computed = true;
    }

    #[inline]
    fn reweigh(&mut self, now: Time, queue: Slot, weight: Weight) {
        self.advance(now);
        if self.is_counted(queue) {
            self.change_sum(self.tags.weight(queue), weight.thousandths());
        }
        if self.tags.set_weight(queue, weight).is_some() {
            self.place(queue);
        }
    }
}

impl Scheduler for Wf2qPlus {
    // V and all F are zero then: it does not matter which flow came last.
    traits!(bypass = u32::MAX, hears_idle = true, replays = true);

    #[inline]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        // The sum stays as it is, and V is not needed: it can grow later, by exactly as much.
        if !(self.idle.is_empty() && self.tags.waits_with(queue, flow.weight)) {
            self.reweigh(now, queue, flow.weight);
        }
        self.tags.arrive(packet)
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        // S = max(F', V), F = S + L/w; a flow whose packet is on the line never was without.
        let earliest = if self.serving == Some(queue) { 0 } else { self.virtual_time };
        self.enter(queue, tag, earliest);
    }

    fn continued(&mut self, queue: Slot, tag: Tag) {
        self.enter(queue, tag, 0);
    }

    #[inline]
    fn next(&mut self, now: Time, _store: &Store) -> Next {
        if self.per_byte_at_once > 0 {
            // Nothing but V is to be brought up to date: `sent` overwrites the rest.
            self.virtual_time += u128::from(self.unsent_length) * u128::from(self.per_byte_at_once);
            (self.unsent_length, self.per_byte_at_once) = (0, 0);
            if let Some(queue) = self.first_begun() {
                return Next::Queue(queue);
            }
        }
        self.updated = now;
        self.serve_rest();
        self.end_serving();
        self.first_begun().map_or(Next::Empty, Next::Queue)
    }

    #[inline(always)]
    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        debug_assert_eq!(self.unsent, 0, "the packet before has been sent");
        (self.serving, self.unsent_length, self.updated) = (Some(queue), packet.length, now);
        self.per_byte_at_once = if head.is_some() && self.idle.is_empty() { self.per_byte } else { 0 };
        let head = self.tags.sent(queue, head);
        if !head.is_some_and(|head| self.heads.turn(queue, head)) {
            // On the line, so that it stays in the sum.
            self.heads.set(queue, &self.tags, self.virtual_time);
        }
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        self.advance(now);
        if gone.was_head {
            self.tags.replaced(gone.queue, gone.head);
            self.place(gone.queue);
            self.raise(self.virtual_time);
        }
    }

    fn idle(&mut self, _now: Time) {
        (self.virtual_time, self.unsent, self.spare, self.weights_sum) = (0, 0, 0, 0);
        (self.serving, self.unsent_length, self.is_computed) = (None, 0, false);
        (self.per_byte, self.per_byte_at_once) = (0, 0);
        self.idle.clear();
        self.tags.reset();
    }

    fn is_clear(&mut self, now: Time, queue: Slot) -> bool {
        self.advance(now);
        !self.is_counted(queue)
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        match *change {
            Change::Rate(rate) => {
                self.advance(now);
                self.rate = rate;
            }
            Change::Weight(queue, weight) => self.reweigh(now, queue, weight),
            _ => return change.not_used(),
        }
        Ok(())
    }

    fn stamps(&self, queue: Slot, _tag: Tag, is_head: bool) -> Stamps {
        self.tags.stamps(queue, is_head)
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        let finish = self.tags.waiting_head(queue)?.finish;
        let decision = Decision::by("finish", queue).with_value(bytes(finish)).at_clock(bytes(self.virtual_time));
        let eligible = Some(self.heads.count_begun(&self.tags, self.virtual_time) as u32);
        Some(Decision { eligible, ..decision.in_step(CHOOSES) })
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("virtual_time_bytes", Unit::Bytes, self.virtual_time as f64 / round::BYTE as f64));
        visit(Reading::real("active_weight", Unit::None, self.weights_sum as f64 / 1000.0));
        visit(Reading::real("begun_queues", Unit::None, self.heads.count_begun(&self.tags, self.virtual_time) as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::BYTE;
    use crate::units::Limit;

    #[test]
    fn the_clock_grows_with_the_work_and_jumps_when_no_head_has_begun() {
        // A byte a second; packets of six.
        let mut wf2q_plus = Wf2qPlus::new(&Settings::default(), &Line::new(Rate::new(8).unwrap()));
        let (store, packet) = (Store::new(Limit::Unlimited), Packet::new(0, Time::ZERO, 6));
        let heavy = Flow::weighted(0, Weight::from_thousandths(2000).unwrap());
        // Flow 0, of weight 2: S = 0, F = 3, then S = 3. Flow 1: S = 0, F = 6, then S = 6.
        let tags: [[Tag; 2]; 2] = [heavy, Flow::of_slot(1)].map(|flow| {
            let tags = [0; 2].map(|_| wf2q_plus.arrive(Time::ZERO, flow.slot, flow, &packet));
            wf2q_plus.backlogged(flow.slot, tags[0]);
            tags
        });
        // At 6 s V = 6/3: the second of flow 0 has not begun. At 12 s V = 4: it has (F = 6), not
        // that of flow 1 (S = 6). At 18 s V = 6, and flow 0, with F = 6, leaves the sum.
        let turns = [(0, Some(tags[0][1]), 0), (1, Some(tags[1][1]), 2), (0, None, 4), (1, None, 6)];
        for ((queue, next, round), second) in turns.into_iter().zip([0, 6, 12, 18]) {
            let now = Time::from_s(second);
            assert_eq!(wf2q_plus.next(now, &store), Next::Queue(queue));
            assert_eq!(wf2q_plus.virtual_time, round * BYTE);
            wf2q_plus.sent(now, queue, &packet, 0, next);
        }
        assert_eq!(wf2q_plus.weights_sum, 1000);
        assert_eq!(wf2q_plus.next(Time::from_s(24), &store), Next::Empty);
        wf2q_plus.idle(Time::from_s(24));
        // A heavy flow alone has V = 1 at 26 s, where a light one joins with S = 1: V = 1 + 4/3 at
        // 30 s.
        let [first, second] = [0; 2].map(|_| wf2q_plus.arrive(Time::from_s(24), 0, heavy, &packet));
        wf2q_plus.backlogged(0, first);
        wf2q_plus.sent(Time::from_s(24), 0, &packet, 0, Some(second));
        let other = wf2q_plus.arrive(Time::from_s(26), 1, Flow::of_slot(1), &packet);
        assert_eq!(wf2q_plus.virtual_time, BYTE);
        wf2q_plus.backlogged(1, other);
        assert_eq!((wf2q_plus.next(Time::from_s(30), &store), wf2q_plus.weights_sum), (Next::Queue(1), 3000));
        assert_eq!(wf2q_plus.virtual_time, BYTE + 4 * BYTE / 3);
        // It is dropped, its S = 1 is passed, and it leaves the sum. The heavy one's next, S = 3,
        // has not begun: V jumps.
        let (flow, packet) = (Flow::of_slot(1), &packet);
        let gone = Gone { queue: 1, flow, packet, tag: other, head: None, was_head: true, was_tail: true };
        wf2q_plus.removed(Time::from_s(30), gone);
        assert_eq!((wf2q_plus.next(Time::from_s(30), &store), wf2q_plus.weights_sum), (Next::Queue(0), 2000));
        assert_eq!(wf2q_plus.virtual_time, 3 * BYTE);
    }
}
