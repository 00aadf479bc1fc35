//! Generalised processor sharing: every flow with bits is served at once, in proportion to its
//! weight.
//!
//! Source: Demers, Keshav and Shenker 1990, section "Definition" (bit-by-bit round robin); Parekh
//! and Gallager 1993. What it keeps: the packets that the fluid has not finished, each with the
//! round number F at which it leaves.
//! Cost: O(log N) a packet, amortised; memory for the greatest backlog of the fluid and a record
//! for every flow.
//! Bound: a departure is exact within one picosecond, rounded up, and the time of 2^-20 byte
//! (`tests/fluid.rs`).

use crate::heap::Heap;
use crate::round::{Round, Tag, time_of_work, work};
use crate::units::{Rate, Time, Weight};
use alloc::vec::Vec;

/// A packet that has left the fluid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The name that was given with the packet.
    pub token: u64,
    /// Its flow.
    pub flow: u32,
    /// Its length in bytes.
    pub length: u32,
    /// When its last bit was served, rounded up to a whole picosecond: never before the true time.
    /// [`Time::NEVER`] if that is beyond all times.
    pub time: Time,
    /// The same instant, not rounded: work as in [`work`].
    pub work: u128,
}

/// A packet as the fluid is given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its flow, a small number.
    pub flow: u32,
    /// The flow's weight. A weight other than before holds from the next time the fluid has nothing
    /// of the flow.
    pub weight: Weight,
    /// Its length in bytes.
    pub length: u32,
    /// A name by which its departure is known.
    pub token: u64,
}

/// A rate of the line from an instant on.
#[derive(Clone, Copy, Debug)]
struct Pace {
    since: Time,
    /// The work that the line can have done by then.
    work: u128,
    rate: Rate,
}

impl Pace {
    fn work_at(&self, time: Time) -> u128 {
        self.work + work(self.rate, Time(time.0.saturating_sub(self.since.0)))
    }

    /// The first whole picosecond at which the line can have done `done`.
    fn time_of(&self, done: u128) -> Time {
        self.since.saturating_add(time_of_work(self.rate, done.saturating_sub(self.work)))
    }
}

/// The fluid on one line. Packets are offered in the order of time; departures are handed to the
/// caller as they pass.
#[derive(Clone, Debug)]
pub struct Gps {
    pace: Pace,
    /// The paces before it, by which packets depart that the last call has not yet let go.
    past: Vec<Pace>,
    round: Round,
    /// The work of the last call.
    now: u128,
    /// The work at which the next packet departs, if nothing arrives before.
    due: u128,
    /// The flows that have packets, by F of their first.
    heads: Heap<(Tag, u32)>,
    flows: Vec<Queue>,
    /// Packets of all flows; those of a flow are linked, and so are the unused.
    packets: Vec<Held>,
    unused: u32,
    held: usize,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
    weight: Weight,
    /// Work done for packets that have left or were withdrawn.
    served: u128,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    start: Tag,
    finish: Tag,
    token: u64,
    length: u32,
    previous: u32,
    next: u32,
}

/// No packet.
const NONE: u32 = u32::MAX;
/// Later than all work.
const NEVER: u128 = u128::MAX;

impl Gps {
    /// A fluid that has nothing, on a line of `rate`, at time zero.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self {
            pace: Pace { since: Time::ZERO, work: 0, rate },
            past: Vec::new(),
            round: Round::new(),
            now: 0,
            due: NEVER,
            heads: Heap::new(),
            flows: Vec::new(),
            packets: Vec::new(),
            unused: NONE,
            held: 0,
        }
    }

    /// Moves on to `now` and hands over the packets that depart until then, `now` included, in the
    /// order of their departure; equal departures by flow. A time before the last one counts as the
    /// last one.
    #[inline]
    pub fn advance(&mut self, now: Time, departed: &mut impl FnMut(Departure)) {
        // A time before the present pace is rare: a rate was changed ahead of the calls.
        let is_past = now < self.pace.since;
        let past = self.past.iter().rev().filter(|_| is_past).find(|pace| pace.since <= now);
        self.advance_to_work(past.unwrap_or(&self.pace).work_at(now), departed);
    }

    /// The line has `rate` from `now` on. What the fluid holds keeps its S and F, and R goes on
    /// from where it is, at the new rate. A packet that departs before `now` is handed over by the
    /// next call that does so, with its own time. A time before that of the last call counts as
    /// that.
    pub fn rate_changed(&mut self, now: Time, rate: Rate) {
        let since = now.max(self.pace.since).max(self.time_of(self.now));
        let next = Pace { since, work: self.pace.work_at(since), rate };
        self.past.push(core::mem::replace(&mut self.pace, next));
    }

    /// R at the last call, in units of [`BYTE`](crate::round::BYTE) a byte of weight one, rounded
    /// down. A change of rate alone does not move it on.
    #[must_use]
    pub const fn round(&self) -> Tag {
        self.round.seen()
    }

    /// Visits the packets that have not left the fluid at the last call, by flow and in the order
    /// of their arrival, with the weight that the fluid serves them by, S and F.
    pub fn packets(&self, visit: &mut dyn FnMut(Offer, Tag, Tag)) {
        for (flow, queue) in self.flows.iter().enumerate() {
            let mut place = queue.first;
            while place != NONE {
                let Held { start, finish, token, length, next, .. } = self.packets[place as usize];
                visit(Offer { flow: flow as u32, weight: queue.weight, length, token }, start, finish);
                place = next;
            }
        }
    }

    /// S and F of the last packet of `flow` that has not left the fluid.
    #[must_use]
    pub fn last_tags(&self, flow: u32) -> Option<(Tag, Tag)> {
        let last = self.flows.get(flow as usize)?.last;
        self.packets.get(last as usize).map(|held| (held.start, held.finish))
    }

    /// Moves on to `now` and takes in a packet that arrives then. A packet of no bytes departs when
    /// those before it in its flow have.
    pub fn offer(&mut self, now: Time, offer: Offer, departed: &mut impl FnMut(Departure)) {
        self.advance(now, departed);
        let index = offer.flow as usize;
        if index >= self.flows.len() {
            let empty = Queue { first: NONE, last: NONE, weight: Weight::ONE, served: 0 };
            self.flows.resize(index + 1, empty);
        }
        let queue = &mut self.flows[index];
        if queue.first == NONE {
            queue.weight = offer.weight;
        }
        let stamp = self.round.charge(offer.flow, queue.weight, offer.length);
        let Offer { flow, length, token, .. } = offer;
        let previous = queue.last;
        let held = Held { start: stamp.start, finish: stamp.finish, token, length, previous, next: NONE };
        let place = self.store(held);
        self.flows[index].last = place;
        if previous == NONE {
            self.flows[index].first = place;
            self.heads.push(flow, (stamp.finish, flow));
            // A new flow slows the others down.
            self.due = self.next_due();
        } else {
            self.packets[previous as usize].next = place;
        }
    }

    /// Lets everything depart that is held. What would depart after more than 2^128 units of work
    /// stays.
    pub fn finish(&mut self, departed: &mut impl FnMut(Departure)) {
        while self.held > 0 && self.due != NEVER {
            self.advance_to_work(self.due, departed);
        }
    }

    /// Takes the last packet of `flow` out at `now`: what of it has not been served by then is
    /// gone, and the flow's F falls back to the packet's S, though not below R. Gives the packet's
    /// token, if the fluid had one of the flow.
    pub fn withdraw(&mut self, now: Time, flow: u32, departed: &mut impl FnMut(Departure)) -> Option<u64> {
        self.advance(now, departed);
        let queue = *self.flows.get(flow as usize).filter(|queue| queue.last != NONE)?;
        let place = queue.last;
        let held = self.packets[place as usize];
        let served = if place == queue.first { self.round.work_since(held.start, queue.weight) } else { 0 };
        self.round.refund(flow, held.start);
        let queue = &mut self.flows[flow as usize];
        queue.served += served;
        queue.last = held.previous;
        if held.previous == NONE {
            queue.first = NONE;
            self.heads.remove(flow);
        } else {
            self.packets[held.previous as usize].next = NONE;
        }
        self.free(place);
        // The others go on faster.
        self.due = self.next_due();
        Some(held.token)
    }

    /// The work done for `flow` up to the last call, in units of
    /// [`BYTE_WORK`](crate::round::BYTE_WORK) a byte, rounded down to one unit.
    pub fn served(&mut self, flow: u32) -> u128 {
        let Some(&queue) = self.flows.get(flow as usize) else { return 0 };
        if queue.first == NONE {
            return queue.served;
        }
        let start = self.packets[queue.first as usize].start;
        queue.served + self.round.work_since(start, queue.weight)
    }

    /// The work that the fluid has still to do for `flow`, in units of
    /// [`BYTE_WORK`](crate::round::BYTE_WORK) a byte, rounded up to one unit.
    pub fn backlog(&mut self, flow: u32) -> u128 {
        let Some(&queue) = self.flows.get(flow as usize).filter(|queue| queue.first != NONE) else { return 0 };
        let start = self.packets[queue.first as usize].start;
        // w·(F − S) − w·(R − S), the first S being that of the packet in service.
        let all = self.round.last_finish(flow).saturating_sub(start);
        all.saturating_mul(u128::from(queue.weight.thousandths()))
            .saturating_sub(self.round.work_since(start, queue.weight))
    }

    /// How many packets have not left the fluid.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }

    /// When the next packet departs if nothing arrives before; [`Time::NEVER`] if the fluid has
    /// none.
    #[must_use]
    pub fn next_departure(&self) -> Time {
        self.time_of(self.due)
    }

    /// The first whole picosecond at which the line can have done `done`.
    #[inline]
    fn time_of(&self, done: u128) -> Time {
        if done >= self.pace.work {
            return self.pace.time_of(done);
        }
        let past = self.past.iter().rev().find(|pace| pace.work <= done);
        past.unwrap_or(&self.pace).time_of(done)
    }

    #[inline]
    fn advance_to_work(&mut self, now: u128, departed: &mut impl FnMut(Departure)) {
        self.now = self.now.max(now);
        while self.due <= self.now {
            // While `due` is not NEVER there is a head.
            let Some((flow, _)) = self.heads.peek() else { break };
            self.depart(flow, departed);
        }
        self.round.advance(self.now);
        if self.now >= self.pace.work {
            self.past.clear();
        }
    }

    /// Lets the first packet of `flow` go at `due`.
    fn depart(&mut self, flow: u32, departed: &mut impl FnMut(Departure)) {
        // Deletes the flow from the round if this is its last packet: no F of a flow is below that
        // of its first packet, so nothing changes W before `due`.
        self.round.advance(self.due);
        let queue = &mut self.flows[flow as usize];
        let place = queue.first;
        let Held { start, finish, token, length, next, .. } = self.packets[place as usize];
        // w·P, of which every bit is served now.
        queue.served += (finish - start) * u128::from(queue.weight.thousandths());
        queue.first = next;
        if next == NONE {
            queue.last = NONE;
            self.heads.pop();
        } else {
            let head = &mut self.packets[next as usize];
            head.previous = NONE;
            self.heads.update(flow, (head.finish, flow));
        }
        self.free(place);
        departed(Departure { token, flow, length, time: self.time_of(self.due), work: self.due });
        self.due = self.next_due();
    }

    fn next_due(&self) -> u128 {
        self.heads.peek().and_then(|(_, (finish, _))| self.round.work_at(finish)).unwrap_or(NEVER)
    }

    fn store(&mut self, held: Held) -> u32 {
        self.held += 1;
        if self.unused == NONE {
            self.packets.push(held);
            return (self.packets.len() - 1) as u32;
        }
        let place = self.unused;
        self.unused = self.packets[place as usize].next;
        self.packets[place as usize] = held;
        place
    }

    fn free(&mut self, place: u32) {
        self.packets[place as usize].next = self.unused;
        self.unused = place;
        self.held -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// One byte a second.
    const LINE: Option<Rate> = Rate::new(8);

    /// Departures (flow, time in milliseconds) of packets (time in s, flow, weight in thousandths,
    /// bytes).
    fn departures(packets: &[(u64, u32, u32, u32)]) -> Vec<(u32, u64)> {
        let mut fluid = Gps::new(LINE.unwrap());
        let mut gone = Vec::new();
        let mut departed = |d: Departure| gone.push((d.flow, d.time.0.div_ceil(1_000_000_000)));
        for (at, flow, weight, length) in packets.iter().copied() {
            let weight = Weight::from_thousandths(weight).unwrap();
            fluid.offer(Time::from_s(at), Offer { flow, weight, length, token: 0 }, &mut departed);
        }
        fluid.finish(&mut departed);
        assert_eq!(fluid.held(), 0);
        gone
    }

    #[test]
    fn worked_examples_of_the_fluid_come_out_exactly() {
        // A sends three at 0, B one at 1.
        assert_eq!(
            departures(&[(0, 0, 1000, 1), (0, 0, 1000, 1), (0, 0, 1000, 1), (1, 1, 1000, 1)]),
            [(0, 1000), (0, 3000), (1, 3000), (0, 4000)]
        );
        // Weights 1/2 and 1/4.
        assert_eq!(departures(&[(0, 0, 500, 1), (0, 1, 250, 1), (0, 1, 250, 1)]), [(0, 1500), (1, 2000), (1, 3000)]);
        // A of length 3, B at 1, C at 2.
        assert_eq!(departures(&[(0, 0, 1000, 3), (1, 1, 1000, 1), (2, 2, 1000, 1)]), [(1, 3500), (2, 4500), (0, 5000)]);
    }

    #[test]
    fn a_withdrawn_packet_takes_along_only_what_was_not_served() {
        let mut fluid = Gps::new(LINE.unwrap());
        let mut gone = vec![];
        let mut departed = |d: Departure| gone.push((d.token, d.time));
        for (token, flow, length) in [(1, 0, 10), (2, 1, 10), (3, 1, 10)] {
            fluid.offer(Time::ZERO, Offer { flow, weight: Weight::ONE, length, token }, &mut departed);
        }
        // At 4 s each flow has had 2 B. Flow 1 gives up its second packet, which had nothing yet,
        // then its first.
        assert_eq!(fluid.withdraw(Time::from_s(4), 1, &mut departed), Some(3));
        assert_eq!(fluid.backlog(1), 8 * crate::round::BYTE_WORK);
        assert_eq!(fluid.withdraw(Time::from_s(4), 1, &mut departed), Some(2));
        assert_eq!(fluid.withdraw(Time::from_s(4), 1, &mut departed), None);
        assert_eq!(fluid.served(1), 2 * crate::round::BYTE_WORK);
        // Flow 0 has 8 B left and the line for itself.
        fluid.finish(&mut departed);
        assert_eq!(fluid.served(0), 10 * crate::round::BYTE_WORK);
        assert_eq!(gone, [(1, Time::from_s(12))]);
    }

    #[test]
    fn a_packet_of_no_bytes_departs_when_the_one_before_it_has() {
        assert_eq!(departures(&[(1, 0, 1000, 0)]), [(0, 1000)]);
        let late = (9, 0, 1000, 1);
        assert_eq!(
            departures(&[(0, 0, 1000, 2), (1, 0, 1000, 0), (1, 1, 1000, 0), late]),
            [(1, 1000), (0, 2000), (0, 2000), (0, 10_000)]
        );
    }

    #[test]
    fn the_end_of_all_times_is_reached_without_a_panic() {
        let mut fluid = Gps::new(Rate::MAX);
        let least = Weight::from_thousandths(1).unwrap();
        let mut count = 0;
        for at in [0, u64::MAX / 2, u64::MAX] {
            for flow in 0..3 {
                let weight = if flow == 0 { least } else { Weight::MAX };
                let offer = Offer { flow, weight, length: u32::MAX, token: 0 };
                fluid.offer(Time(at), offer, &mut |_| count += 1);
            }
        }
        fluid.withdraw(Time::NEVER, 0, &mut |_| count += 1);
        fluid.finish(&mut |_| count += 1);
        assert_eq!(count, 8);
    }

    #[test]
    fn memory_is_that_of_the_backlog_not_of_the_packets_offered() {
        let mut fluid = Gps::new(LINE.unwrap());
        for at in 0..1000 {
            let offer = Offer { flow: 0, weight: Weight::ONE, length: 2, token: at };
            fluid.offer(Time::from_s(at * 2), offer, &mut |_| ());
        }
        assert_eq!(fluid.packets.len(), 1);
    }
}
