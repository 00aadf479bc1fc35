//! Leap forward virtual clock: Virtual Clock that holds back flows that are far ahead, and whose
//! clock leaps when all are.
//!
//! Use when: you study the 1997 paper, or compare with `virtual_clock` a clock that leaps. No bound
//! on fairness is claimed here; where you need one use `wf2q_plus` or `scfq`.
//! Source: Suri, Varghese and Chandranmenon, "Leap Forward Virtual Clock: A New Fair Queuing Scheme
//! with Guaranteed Delays and Throughput Fairness", INFOCOM 1997 (WUCS-96-10); read in summaries,
//! so the details below are this file's.
//! Departs: tags are not rounded to a small range, so the queues are heaps.
//! Chosen: tags and the server's clock t are in bytes at weight one: t grows with real time by
//! C/Σw, the weights being of all flows seen, and by leaps. The head of a queue has S = max(T', t)
//! when it comes to an empty one, else S = T', and T = S + L/wi. It is held while T > t + (Li +
//! ahead)/wi, Li the flow's longest packet so far; before each choice, if all heads are held, t
//! leaps to where the first is let go. Equal tags leave in order of arrival, compared in steps of
//! 1/(16·5⁹) byte; a packet that is dropped costs its flow nothing. As `ahead` grows it is
//! `virtual_clock`, but for two things: a new flow slows t here, and there stretches later stamps;
//! packets that come while others of their flow wait beyond their stamps are stamped from now there
//! (tag_schedulers.rs: never_leaping_is_virtual_clock).
//! Cost: O(log N) a packet, amortised: a leap lets go of every head that it passes, each once.
//! Bound: a packet leaves by its expected arrival + Li/ri + Lmax/C (tag_bounds.rs:
//! latency_is_a_packet_of_the_flow_and_one_of_the_line). No bound is claimed on relative fairness:
//! the source's constant is not at hand, and one of our own, (ahead + 2 Li)/wi + (ahead + 2
//! Lj)/wj + 2 Lmax/Σw, was broken by half in the audit by tiny packets against large ones.
//! Changes: t stands, grown at the old rate and by the old weights until then. A weight gives the
//! flow's head a new F, and its S stands; a rate changes no tag.
//!
//! Range: tags as those of `scfq` (head_tags.rs); t grows by all work of a line, 2¹²⁴ (round.rs),
//! over the least weight in thousandths, 1, at most, and leaps to a tag at most, so that nothing
//! overflows. There is no reset while the line is idle, so the order is exact for 2⁶⁴ bytes of
//! weight one in the life of the line.

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::head_tags::{Head, HeadTags};
use crate::packet::Packet;
use crate::part::{Part, facts};
use crate::promise::{Load, Measure};
use crate::rank;
use crate::reading::{Reading, Unit};
use crate::round;
use crate::slots::entry;
use crate::store::Store;
use crate::tournament::Tournament;
use crate::units::{Bytes, Rate, Time, Weight};
use crate::waiting::Stamps;
use alloc::vec::Vec;

/// How far ahead a flow may be.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// What a flow may be ahead of the server's clock at its own rate, beside its longest packet.
    /// With very much the clock never leaps.
    pub ahead: Bytes,
}

impl Part for Settings {
    facts!(goes_by_weights = true, needs_rate = true, fits_inner_nodes = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::Latency { flow, .. } if !load.has_losses => Some(load.own_packet_and_longest(flow)),
            _ => None,
        }
    }

    fn variants() -> Vec<Self> {
        alloc::vec![Self { ahead: Bytes(3000) }, Self { ahead: Bytes(1 << 60) }]
    }
}

/// The state of a flow beside its tags; the default once it is forgotten.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Its weight in thousandths as it is counted in the sum.
    weight: u32,
    /// The length of its longest packet.
    longest: u32,
}

/// Tags, and a clock that leaps.
pub struct LeapForwardVirtualClock {
    ahead: Bytes,
    rate: Rate,
    tags: HeadTags,
    seen: Vec<Seen>,
    weights_sum: u64,
    /// t at `updated`.
    clock: u128,
    updated: Time,
    /// Work of the line that is not worth a whole unit of t, since the sum last changed.
    spare: u128,
    /// Queues that may send, by T of their head.
    ready: Tournament,
    /// The others, by the t that lets their head go, on the grid.
    held: Tournament,
}

impl LeapForwardVirtualClock {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            ahead: settings.ahead,
            rate: line.rate,
            tags: HeadTags::new(),
            seen: Vec::new(),
            weights_sum: 0,
            clock: 0,
            updated: Time::ZERO,
            spare: 0,
            ready: Tournament::new(),
            held: Tournament::new(),
        }
    }

    /// dt = C/Σw of real time.
    #[inline]
    fn advance(&mut self, now: Time) {
        if self.weights_sum > 0 {
            let work = round::work(self.rate, now - self.updated) + self.spare;
            self.spare = work % u128::from(self.weights_sum);
            self.clock += work / u128::from(self.weights_sum);
        }
        self.updated = now;
    }

    /// In the sum the flow of `queue` has `weight`, in thousandths; 0 takes it out.
    fn count(&mut self, queue: Slot, weight: u32) {
        let seen = &mut self.seen[queue as usize];
        if seen.weight != weight {
            self.weights_sum = self.weights_sum - u64::from(seen.weight) + u64::from(weight);
            (seen.weight, self.spare) = (weight, 0);
        }
    }

    /// `head` stands at the head of `queue`. All heads are held first; [`Scheduler::next`] lets
    /// them go.
    #[inline]
    fn place(&mut self, queue: Slot, head: Option<Head>) {
        self.ready.remove(queue);
        let lets_go = |head: Head| {
            let Seen { weight, longest } = self.seen[queue as usize];
            // (Li + ahead)/wi; a setting is at most 2^60 bytes, a byte 2^58.9 units.
            let lead = (u128::from(longest) + u128::from(self.ahead.0)) * round::BYTE_WORK / u128::from(weight);
            rank::value(head.by_finish()).saturating_sub(rank::on_grid(lead))
        };
        self.held.set(queue, head.map(lets_go));
    }

    #[inline]
    fn reweigh(&mut self, now: Time, queue: Slot, weight: Weight) {
        self.advance(now);
        entry(&mut self.seen, queue, Seen::default());
        self.count(queue, weight.thousandths());
        if let Some(head) = self.tags.set_weight(queue, weight) {
            self.place(queue, Some(head));
        }
    }
}

impl Scheduler for LeapForwardVirtualClock {
    traits!();

    #[inline]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        self.reweigh(now, queue, flow.weight);
        let seen = &mut self.seen[queue as usize];
        seen.longest = seen.longest.max(packet.length);
        self.tags.arrive(packet)
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        // T = max(T', t) + L/w
        let head = self.tags.enter(queue, tag, self.clock);
        self.place(queue, Some(head));
    }

    fn continued(&mut self, queue: Slot, tag: Tag) {
        // T = T' + L/w, though t may have passed T'
        let head = self.tags.enter(queue, tag, 0);
        self.place(queue, Some(head));
    }

    #[inline]
    fn next(&mut self, now: Time, _store: &Store) -> Next {
        self.advance(now);
        if self.ready.is_empty()
            && let Some((_, from)) = self.held.peek()
            && from > rank::on_grid(self.clock)
        {
            self.clock = rank::off_grid(from);
        }
        let clock = rank::on_grid(self.clock);
        while let Some((queue, _)) = self.held.peek().filter(|(_, from)| *from <= clock) {
            self.held.pop();
            self.ready.push(queue, self.tags.head(queue).by_finish());
        }
        self.ready.peek().map_or(Next::Empty, |(queue, _)| Next::Queue(queue))
    }

    #[inline]
    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        let head = self.tags.sent(queue, head);
        self.place(queue, head);
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.was_head {
            let head = self.tags.replaced(gone.queue, gone.head);
            self.place(gone.queue, head);
        }
    }

    fn is_clear(&mut self, now: Time, queue: Slot) -> bool {
        self.advance(now);
        let is_clear = self.tags.last(queue) <= self.clock;
        if is_clear && self.seen.len() > queue as usize {
            // The slot's next flow brings its own weight.
            self.count(queue, 0);
            self.seen[queue as usize].longest = 0;
        }
        is_clear
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

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("reserved_weight", Unit::None, self.weights_sum as f64 / 1000.0));
        visit(Reading::real("server_clock_bytes", Unit::Bytes, self.clock as f64 / round::BYTE as f64));
        visit(Reading::count("held_queues", Unit::None, self.held.len() as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Limit;

    #[test]
    fn who_is_ahead_is_held_and_the_clock_leaps_when_all_are() {
        // A byte a second, of which two flows have half each: t grows by half a byte a second.
        let mut clock = LeapForwardVirtualClock::new(&Settings::default(), &Line::new(Rate::new(8).unwrap()));
        let (store, packet) = (Store::new(Limit::Unlimited), Packet::new(0, Time::ZERO, 1));
        clock.reweigh(Time::ZERO, 1, Weight::ONE);
        // Flow 0 alone: T = 1, 2, 3, 4. Its second packet is held until t = 1: at 1 s, when t is
        // 1/2, the clock leaps there; at 2 s, when t is 3/2, to 2.
        let tags = [0; 4].map(|_| clock.arrive(Time::ZERO, 0, Flow::of_slot(0), &packet));
        clock.backlogged(0, tags[0]);
        for second in 0..3 {
            assert_eq!(clock.next(Time::from_s(second), &store), Next::Queue(0));
            assert_eq!(clock.clock / round::BYTE, u128::from(second));
            clock.sent(Time::from_s(second), 0, &packet, 0, Some(tags[second as usize + 1]));
        }
        // Flow 1 comes at 2 s, when t = 2: T = 3, and is not held. Virtual Clock would give it two
        // of T = 2 and 3 first.
        let first = clock.arrive(Time::from_s(2), 1, Flow::of_slot(1), &packet);
        clock.backlogged(1, first);
        assert_eq!(clock.next(Time::from_s(3), &store), Next::Queue(1));
        clock.sent(Time::from_s(3), 1, &packet, first, None);
        assert_eq!((clock.next(Time::from_s(3), &store), clock.clock), (Next::Queue(0), 3 * round::BYTE));
    }
}
