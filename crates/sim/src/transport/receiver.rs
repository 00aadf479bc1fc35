//! The receiving side: what has arrived, and when it is acknowledged.
//!
//! Source: RFC 5681, section 4.2 (when to acknowledge); RFC 2018 (selective acknowledgements); RFC
//! 2883 (duplicates); RFC 3168, section 6.1.3, RFC 8257, section 3.2, and RFC 9768, section 3.2
//! (the echo of marks).
//! Chosen: a delayed acknowledgement echoes the time of the first packet that it acknowledges (RFC
//! 7323, section 4.3).

use super::ecn::Ecn;
use super::messages::{Acknowledgement, Arrival, Blocks, Flags};
use super::quick::Quick;
use super::ranges::{Ranges, Run};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use std::num::NonZeroU64;

/// The receiving side of a connection.
pub trait Receiver: Send {
    /// A packet arrives at `now`. Returns whether it arrived for the first time, and the
    /// acknowledgement, if one is sent now.
    fn receive(&mut self, now: Time, arrival: &Arrival) -> (bool, Option<Acknowledgement>);

    /// Fast path for the common packet. It applies if packet `sequence` with `marks` and `flags`
    /// arrives for the first time and is acknowledged at once with two numbers only: that of the
    /// packet expected next, and that of marked packets. [`Receiver::receive`] would return the
    /// same. `None`: no state was changed; call [`Receiver::receive`] instead.
    fn receive_next(&mut self, _sequence: u64, _marks: Marks, _flags: Flags) -> (Option<NonZeroU64>, u32) {
        (None, 0)
    }

    /// When the receiver wants to be woken; [`Time::NEVER`] if never. After [`Receiver::receive`]
    /// it may be that very time: a second acknowledgement is due. Calls of
    /// [`Receiver::receive_next`] do not change it.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The deadline has come. Returns the acknowledgement, if one is sent.
    fn wake(&mut self, _now: Time) -> Option<Acknowledgement> {
        None
    }
}

/// Acknowledges every packet, and keeps no order: it would wait forever for packets that are lost
/// for good.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo;

impl Receiver for Echo {
    fn receive(&mut self, now: Time, arrival: &Arrival) -> (bool, Option<Acknowledgement>) {
        (true, Some(Acknowledgement { cumulative: arrival.sequence + 1, ..Acknowledgement::of(now, arrival) }))
    }
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answers {
    /// It acknowledges once for this many packets.
    pub every: u32,
    /// It acknowledges a packet at the latest after this time.
    pub delay: Time,
    /// This many acknowledgements at the beginning are sent at once, each for one packet.
    pub quick: u8,
    /// The greatest window, in packets. Up to it the window follows the packets taken in a round
    /// trip, and acknowledgements are sent at once while it grows; 0: it does not follow.
    pub window_max: u32,
    /// Whether it reports the packets that it holds out of order.
    pub are_selective: bool,
    /// The most runs of these that it reports.
    pub blocks_max: u8,
    /// Whether an acknowledgement is longer when it reports runs.
    pub count_blocks: bool,
    /// Whether acknowledgements of packets beyond a missing one are sent together.
    pub compresses: bool,
    /// How it echoes marks.
    pub ecn: Ecn,
}

impl Answers {
    /// One acknowledgement for each packet, with the packet's marks: the receiver of 1990.
    #[must_use]
    pub const fn to_each() -> Self {
        Self {
            every: 1,
            delay: Time::ZERO,
            quick: 0,
            window_max: 0,
            are_selective: false,
            blocks_max: 4,
            count_blocks: false,
            compresses: false,
            ecn: Ecn::Not,
        }
    }
}

/// A packet whose acknowledgement is delayed.
#[derive(Clone, Copy, Debug)]
struct Pending {
    arrival: Arrival,
    received: Time,
}

impl Pending {
    fn answer(&self) -> Acknowledgement {
        Acknowledgement::of(self.received, &self.arrival)
    }
}

/// The packets that arrived beyond the first missing one.
#[derive(Clone, Debug, Default)]
struct Beyond {
    kept: Ranges,
    /// A packet of each run that was reported last, the latest first.
    told: [u64; 4],
    compressed: Compressed,
}

/// Acknowledgements that are sent together (Linux 6.1: `__tcp_ack_snd_check`).
#[derive(Clone, Copy, Debug, Default)]
struct Compressed {
    /// The missing packet, and the acknowledgements sent at once for packets beyond it.
    missing: u64,
    sent: u8,
    /// Packets that wait for one.
    held: u8,
    /// The least round trip that the sender told of.
    least: Option<Time>,
}

/// TCP_FASTRETRANS_THRESH, tcp_comp_sack_nr and tcp_comp_sack_delay_ns.
const SENT_AT_ONCE: u8 = 3;
const HELD_MAX: u8 = 44;
const HELD_FOR: Time = Time::from_ms(1);

impl Compressed {
    /// Whether the acknowledgement of a packet beyond packet `missing` waits for others, and then
    /// for how long at most.
    fn holds(&mut self, missing: u64) -> Option<Time> {
        if self.missing != missing {
            (self.missing, self.sent) = (missing, 0);
        }
        if self.sent < SENT_AT_ONCE || self.held >= HELD_MAX {
            (self.sent, self.held) = ((self.sent + 1).min(SENT_AT_ONCE), 0);
            return None;
        }
        self.held += 1;
        Some(self.least.map_or(HELD_FOR, |least| HELD_FOR.min(Time(least.0 / 20))))
    }
}

/// Packets in order that are not acknowledged yet.
#[derive(Clone, Debug)]
struct Delayed {
    unanswered: u32,
    /// The last of them, with the time of the first; `None` if all are acknowledged.
    pending: Option<Pending>,
    /// An acknowledgement that follows the one just sent, at once.
    owed: Option<Acknowledgement>,
    /// When they are acknowledged at the latest.
    deadline: Time,
}

impl Delayed {
    /// All packets are acknowledged.
    const fn none() -> Self {
        Self { unanswered: 0, pending: None, owed: None, deadline: Time::NEVER }
    }
}

/// Keeps packets in order.
#[derive(Clone, Debug)]
pub struct Sink {
    answers: Answers,
    /// The rules for acknowledging at once, if any.
    quick: Option<Box<Quick>>,
    /// The first packet that is missing, and the packets beyond it; `None` until a packet is
    /// missing.
    expected: u64,
    /// The first packet of this connection, and whether the connection is every second one between
    /// its ends.
    begun: u64,
    is_odd: bool,
    beyond: Option<Box<Beyond>>,
    /// `None` until an acknowledgement is delayed.
    delayed: Option<Box<Delayed>>,
    /// Whether a mark is echoed; repeated until the sender confirms it (CWR).
    echoes_mark: bool,
    /// Whether the last packet was marked (DCTCP.CE of RFC 8257).
    was_marked: bool,
    /// Marked packets so far.
    marked: u32,
}

impl Sink {
    /// A receiver at which nothing has arrived.
    #[must_use]
    pub fn new(answers: Answers) -> Self {
        Self {
            quick: Quick::new(answers.quick, answers.window_max).map(Box::new),
            answers,
            expected: 0,
            begun: 0,
            is_odd: false,
            beyond: None,
            delayed: None,
            echoes_mark: false,
            was_marked: false,
            marked: 0,
        }
    }

    /// Whether no packet is held beyond a missing one.
    fn is_in_order(&self) -> bool {
        self.beyond.as_ref().is_none_or(|beyond| beyond.kept.is_empty())
    }

    /// A packet with `flags` arrived that was not the expected one. If it is the first of another
    /// connection to arrive, the state of the connection before it is dropped.
    fn begin(&mut self, sequence: u64, flags: Flags) {
        let is_odd = flags.has(Flags::ODD);
        // The connection before is complete: all below `expected` arrived. A late copy of its
        // packets begins no connection.
        if is_odd != self.is_odd && sequence >= self.expected {
            let begun = self.expected;
            *self = Self { expected: begun, begun, is_odd, ..Self::new(self.answers) };
        }
    }

    /// Notes that packet `sequence` arrived. Returns whether it arrived for the first time.
    /// `is_next` says that it is the expected one and nothing is held beyond it.
    fn keep(&mut self, sequence: u64, is_next: bool) -> bool {
        if is_next {
            self.expected += 1;
            return true;
        }
        if sequence < self.expected {
            return false;
        }
        let mut is_new = false;
        let kept = &mut self.beyond.get_or_insert_default().kept;
        kept.add(Run { start: sequence, end: sequence + 1 }, |_| is_new = true);
        if let Some(first) = kept.first().filter(|first| first.start == self.expected) {
            self.expected = first.end;
            kept.forget_below(first.end);
        }
        is_new
    }

    /// The runs held out of order, the run of `sequence` first, then those reported last. RFC 2018,
    /// section 4.
    fn blocks(&mut self, sequence: u64) -> Blocks {
        let mut blocks = Blocks::default();
        let Some(beyond) = self.beyond.as_mut().filter(|beyond| !beyond.kept.is_empty()) else { return blocks };
        if !self.answers.are_selective {
            return blocks;
        }
        let (mut told, before) = ([0; 4], beyond.told);
        for about in core::iter::once(sequence).chain(before) {
            if blocks.len() == usize::from(self.answers.blocks_max) {
                break;
            }
            let Some(run) = beyond.kept.run_of(about) else { continue };
            if blocks.iter(self.expected).all(|known| known != run) && blocks.push(self.expected, run) {
                told[blocks.len() - 1] = about;
            }
        }
        beyond.told = told;
        blocks
    }

    /// Holds the acknowledgement of a packet beyond a missing one back, if it is to be sent with
    /// others. `expected` is the packet that was expected before it arrived.
    fn holds(&mut self, now: Time, arrival: &Arrival, expected: u64) -> bool {
        let is_quick = self.quick.as_ref().is_some_and(|quick| quick.is_due());
        if is_quick || self.expected > expected + 1 {
            return false;
        }
        let missing = self.expected;
        let Some(beyond) = self.beyond.as_mut().filter(|beyond| !beyond.kept.is_empty()) else { return false };
        if arrival.round_trip > Time::ZERO {
            let least = beyond.compressed.least.map_or(arrival.round_trip, |least| least.min(arrival.round_trip));
            beyond.compressed.least = Some(least);
        }
        let Some(time) = beyond.compressed.holds(missing) else { return false };
        self.blocks(arrival.sequence);
        let delayed = &mut **self.delayed.get_or_insert_with(|| Box::new(Delayed::none()));
        delayed.deadline = delayed.deadline.min(now.saturating_add(time));
        delayed.pending = Some(Pending { arrival: *arrival, received: now });
        true
    }

    /// Notes a packet that `is_marked` or not: whether marks are echoed from now on (RFC 3168,
    /// section 6.1.3).
    #[inline]
    fn note_mark(&mut self, arrival: &Arrival, is_marked: bool) {
        self.marked += u32::from(is_marked);
        if self.answers.ecn != Ecn::Classic {
            return;
        }
        let echoed = self.echoes_mark;
        self.echoes_mark = is_marked || echoed && !arrival.flags.has(Flags::HEARD);
        if let Some(quick) = self.quick.as_mut().filter(|_| echoed != self.echoes_mark) {
            quick.heard(self.echoes_mark);
        }
    }

    /// Delays the acknowledgement of a packet in order, unless as many wait as are acknowledged
    /// together: then `answer` is for the first of them, too.
    #[inline]
    fn delays(&mut self, now: Time, arrival: &Arrival, answer: &mut Acknowledgement) -> bool {
        let delayed = &mut **self.delayed.get_or_insert_with(|| Box::new(Delayed::none()));
        delayed.unanswered += 1;
        // Linux's `tcp_ecn_accept_cwr`: the sender's window may be small.
        let is_heard = self.answers.ecn == Ecn::Dctcp && arrival.flags.has(Flags::HEARD);
        let is_quick = is_heard || self.quick.as_ref().is_some_and(|quick| quick.is_due());
        if delayed.unanswered < self.answers.every && !is_quick {
            if delayed.pending.is_none() {
                delayed.deadline = now.saturating_add(self.answers.delay);
            }
            let sent = delayed.pending.map_or(arrival.sent, |pending| pending.arrival.sent);
            delayed.pending = Some(Pending { arrival: Arrival { sent, ..*arrival }, received: now });
            return true;
        }
        if let Some(pending) = delayed.pending {
            answer.sent = pending.arrival.sent;
            answer.marks = answer.marks.with(pending.arrival.marks);
        }
        false
    }

    fn answer(&mut self, mut answer: Acknowledgement) -> Acknowledgement {
        if let Some(beyond) = &mut self.beyond {
            beyond.compressed.held = 0;
        }
        if let Some(delayed) = &mut self.delayed {
            **delayed = Delayed::none();
        }
        answer.cumulative = self.expected;
        answer.marked = self.marked;
        if self.answers.count_blocks && !answer.blocks.is_empty() {
            // RFC 2018, section 3: kind, length, and the two ends of each block; headers end at a
            // multiple of 4 bytes.
            answer.options = (2 + 8 * answer.blocks.len() as u32).next_multiple_of(4);
        }
        if self.answers.ecn == Ecn::Classic && self.echoes_mark {
            answer.marks = answer.marks.with(Marks::CE);
        }
        answer
    }
}

impl Receiver for Sink {
    fn receive_next(&mut self, sequence: u64, marks: Marks, flags: Flags) -> (Option<NonZeroU64>, u32) {
        let is_fast = sequence == self.expected
            && flags.has(Flags::ODD) == self.is_odd
            && self.answers.every == 1
            && self.is_in_order()
            && !self.echoes_mark
            && !marks.intersects(Marks::CE);
        self.expected += u64::from(is_fast);
        (NonZeroU64::new(self.expected).filter(|_| is_fast), self.marked)
    }

    fn receive(&mut self, now: Time, arrival: &Arrival) -> (bool, Option<Acknowledgement>) {
        self.begin(arrival.sequence, arrival.flags);
        if arrival.sequence < self.begun {
            return (false, None);
        }
        let expected = self.expected;
        let was_in_order = self.is_in_order() && arrival.sequence == expected;
        let is_new = self.keep(arrival.sequence, was_in_order);
        let is_marked = arrival.marks.intersects(Marks::CE);
        self.note_mark(arrival, is_marked);
        if was_in_order && let Some(quick) = &mut self.quick {
            quick.takes(now, self.expected, arrival.round_trip);
        }
        let mut this = Acknowledgement::of(now, arrival);
        if !is_new {
            this.flags = this.flags.with(Flags::DUPLICATE);
        }
        // RFC 8257, section 3.2: a change of marks is acknowledged at once. Before that, delayed
        // packets are acknowledged with their own state.
        let changes =
            self.answers.ecn == Ecn::Dctcp && core::mem::replace(&mut self.was_marked, is_marked) != is_marked;
        let may_wait = self.answers.every > 1 && was_in_order && !changes && !arrival.flags.has(Flags::CONTROL);
        if may_wait && self.delays(now, arrival, &mut this) {
            return (is_new, None);
        }
        if self.answers.compresses && is_new && !was_in_order && !changes && self.holds(now, arrival, expected) {
            return (is_new, None);
        }
        this.blocks = self.blocks(arrival.sequence);
        let before = self.delayed.as_mut().and_then(|delayed| delayed.pending.take()).filter(|_| changes);
        if let Some(quick) = self.quick.as_mut().filter(|_| !arrival.flags.has(Flags::CONTROL)) {
            quick.answered();
        }
        let this = self.answer(this);
        let Some(before) = before else { return (is_new, Some(this)) };
        if let Some(delayed) = &mut self.delayed {
            (delayed.owed, delayed.deadline) = (Some(this), now);
        }
        let cumulative = before.arrival.sequence + 1;
        let marked = self.marked - u32::from(is_marked);
        (is_new, Some(Acknowledgement { cumulative, marked, ..before.answer() }))
    }

    fn deadline(&self) -> Time {
        self.delayed.as_ref().map_or(Time::NEVER, |delayed| delayed.deadline)
    }

    fn wake(&mut self, _now: Time) -> Option<Acknowledgement> {
        let delayed = self.delayed.as_mut()?;
        delayed.deadline = Time::NEVER;
        if let Some(owed) = delayed.owed.take() {
            return Some(owed);
        }
        let pending = delayed.pending.take()?;
        let blocks = self.blocks(pending.arrival.sequence);
        Some(self.answer(Acknowledgement { blocks, ..pending.answer() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u64, marks: Marks) -> Arrival {
        Arrival { marks, ..Arrival::of(sequence, 1000, Time(sequence)) }
    }

    fn receive(sink: &mut Sink, sequence: u64) -> (bool, Option<Acknowledgement>) {
        sink.receive(Time::from_s(1), &packet(sequence, Marks::NONE))
    }

    #[test]
    fn a_packet_that_is_expected_is_taken_as_any_is() {
        for ecn in [Ecn::Not, Ecn::Classic] {
            let (mut short, mut long) =
                [(); 2].map(|()| Sink::new(Answers { are_selective: true, ecn, ..Answers::to_each() })).into();
            let mut taken = 0;
            for (at, sequence) in [0, 1, 3, 4, 2, 5, 5, 6, 7, 8, 9, 11, 10, 12, 13].into_iter().enumerate() {
                let arrival = packet(sequence, if at == 8 { Marks::CE } else { Marks::NONE });
                let (is_new, answer) = long.receive(Time::ZERO, &arrival);
                match short.receive_next(sequence, arrival.marks, arrival.flags) {
                    (Some(cumulative), marked) => {
                        let said = Acknowledgement {
                            cumulative: cumulative.get(),
                            marked,
                            ..Acknowledgement::of(Time::ZERO, &arrival)
                        };
                        assert_eq!((is_new, answer), (true, Some(said)));
                        taken += 1;
                    }
                    (None, _) => assert_eq!(short.receive(Time::ZERO, &arrival), (is_new, answer)),
                }
            }
            assert_eq!(taken, if ecn == Ecn::Not { 8 } else { 4 });
        }
    }

    /// Linux's `tcp_ecn_accept_cwr`, with DCTCP too.
    #[test]
    fn a_packet_of_a_sender_that_reduced_is_answered_at_once() {
        let delays = Answers { every: 2, delay: Time::from_ms(40), ecn: Ecn::Dctcp, ..Answers::to_each() };
        for (flags, is_answered) in [(Flags::NONE, false), (Flags::HEARD, true)] {
            let arrival = Arrival { flags, ..packet(0, Marks::NONE) };
            assert_eq!(Sink::new(delays).receive(Time::ZERO, &arrival).1.is_some(), is_answered);
        }
    }

    #[test]
    fn packets_out_of_order_are_kept() {
        let mut sink = Sink::new(Answers::to_each());
        let cumulative = |sink: &mut Sink, sequence| receive(sink, sequence).1.map(|answer| answer.cumulative);
        assert_eq!(cumulative(&mut sink, 0), Some(1));
        assert_eq!(cumulative(&mut sink, 2), Some(1));
        assert!(!receive(&mut sink, 2).0, "it came before");
        assert_eq!(cumulative(&mut sink, 1), Some(3));
        assert!(!receive(&mut sink, 0).0);
    }

    #[test]
    fn blocks_may_make_an_answer_longer() {
        let mut sink = Sink::new(Answers { are_selective: true, count_blocks: true, ..Answers::to_each() });
        // Every other packet is lost; then the first hole is filled, then all others.
        let options = [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9].map(|sequence| {
            let (_, answer) = sink.receive(Time::ZERO, &packet(sequence, Marks::NONE));
            answer.map(|answer| (answer.blocks.len(), answer.options))
        });
        let said = [(0, 0), (1, 12), (2, 20), (3, 28), (4, 36), (4, 36), (4, 36), (3, 28), (2, 20), (1, 12), (0, 0)];
        assert_eq!(options, said.map(Some));
    }

    /// The example of RFC 2018, section 4, case 3, with packets in place of bytes: every other
    /// packet is lost.
    #[test]
    fn the_latest_runs_are_told_of_first() {
        let mut sink = Sink::new(Answers { are_selective: true, ..Answers::to_each() });
        receive(&mut sink, 0);
        let mut said = Vec::new();
        for sequence in [2, 4, 6, 8] {
            let (_, answer) = receive(&mut sink, sequence);
            said = answer
                .map(|answer| answer.blocks.iter(1).map(|run| (run.start, run.end)).collect())
                .unwrap_or_default();
        }
        assert_eq!(said, [(8, 9), (6, 7), (4, 5), (2, 3)]);
        // The hole between 4 and 6 is filled: one run that holds both.
        let (_, answer) = receive(&mut sink, 5);
        let said: Vec<_> = answer.unwrap().blocks.iter(1).map(|run| (run.start, run.end)).collect();
        assert_eq!(said, [(4, 7), (8, 9), (2, 3)]);
    }

    #[test]
    fn every_second_packet_is_answered_and_the_odd_one_after_the_delay() {
        let mut sink = Sink::new(Answers { every: 2, delay: Time::from_ms(100), ..Answers::to_each() });
        assert_eq!(receive(&mut sink, 0).1, None);
        let answer = receive(&mut sink, 1).1.unwrap();
        assert_eq!((answer.cumulative, answer.sent), (2, Time(0)), "the time of the first packet it answers");
        assert_eq!(receive(&mut sink, 2).1, None);
        assert_eq!(sink.deadline(), Time::from_ms(1100));
        assert_eq!(sink.wake(Time::from_ms(1100)).map(|answer| answer.cumulative), Some(3));
        // A packet out of order, and one that fills a gap, is acknowledged at once.
        assert_eq!(receive(&mut sink, 4).1.map(|answer| answer.cumulative), Some(3));
        assert_eq!(receive(&mut sink, 3).1.map(|answer| answer.cumulative), Some(5));
    }

    #[test]
    fn a_change_of_marks_is_told_at_once() {
        let mut sink =
            Sink::new(Answers { every: 2, delay: Time::from_ms(100), ecn: Ecn::Dctcp, ..Answers::to_each() });
        let mut receive = |sequence, marks| {
            let answer = sink.receive(Time::ZERO, &packet(sequence, marks)).1;
            answer.map(|answer| (answer.cumulative, answer.marks))
        };
        assert_eq!(receive(0, Marks::NONE), None);
        assert_eq!(receive(1, Marks::CE), Some((1, Marks::NONE)), "the packet before it, unmarked");
        let owed = sink.wake(Time::ZERO).map(|answer| (answer.cumulative, answer.marks, answer.marked));
        assert_eq!(owed, Some((2, Marks::CE, 1)), "and this one");
        assert_eq!((sink.deadline(), sink.wake(Time::ZERO)), (Time::NEVER, None));
    }

    /// The marks that acknowledgements report, as a sender of RFC 8257, section 3.3, counts them:
    /// all packets that an acknowledgement with ECE covers.
    #[test]
    fn the_answers_of_dctcp_tell_of_each_packet_what_it_was() {
        // By packet, in the order of arrival: its number and whether it is marked.
        let stories: [&[(u64, bool)]; 6] = [
            &[(0, true), (2, false), (1, false), (3, false)],
            &[(0, false), (2, true), (1, false), (3, true)],
            &[(0, true), (1, true), (2, false), (4, true), (3, false), (5, true), (6, true), (7, true)],
            &[(0, false), (1, true), (2, false), (3, true), (4, false)],
            &[(0, true), (0, false), (1, true), (3, false), (3, true), (2, true)],
            &[(1, true), (0, false), (2, false), (3, false), (5, true), (4, true), (6, true)],
        ];
        for every in [2, 3] {
            for story in stories {
                let answers = Answers {
                    every,
                    delay: Time::from_ms(100),
                    ecn: Ecn::Dctcp,
                    are_selective: true,
                    ..Answers::to_each()
                };
                let mut sink = Sink::new(answers);
                let mut told = Vec::new();
                for (sequence, is_marked) in story {
                    let marks = if *is_marked { Marks::CE } else { Marks::NONE };
                    told.extend(sink.receive(Time::ZERO, &packet(*sequence, marks)).1);
                    told.extend((sink.deadline() == Time::ZERO).then(|| sink.wake(Time::ZERO)).flatten());
                }
                told.extend(sink.wake(Time::from_s(1)));
                // By acknowledgement: the packets that it covers for the first time, with its
                // state.
                let mut known = std::collections::BTreeMap::new();
                for answer in &told {
                    let runs = answer.blocks.iter(answer.cumulative).flat_map(|run| run.start..run.end);
                    for sequence in (0..answer.cumulative).chain(runs) {
                        known.entry(sequence).or_insert(answer.marks.intersects(Marks::CE));
                    }
                }
                let mut first = std::collections::BTreeMap::new();
                story.iter().for_each(|(sequence, is_marked)| _ = first.entry(*sequence).or_insert(*is_marked));
                assert_eq!(known, first, "every {every}: {story:?} {told:?}");
            }
        }
    }

    #[test]
    fn a_mark_is_repeated_until_it_was_heard() {
        let mut sink = Sink::new(Answers { ecn: Ecn::Classic, ..Answers::to_each() });
        let mut receive = |sequence, marks, flags| {
            let answer = sink.receive(Time::ZERO, &Arrival { flags, ..packet(sequence, marks) }).1;
            answer.is_some_and(|answer| answer.marks.intersects(Marks::CE))
        };
        assert!(!receive(0, Marks::NONE, Flags::NONE));
        assert!(receive(1, Marks::CE, Flags::NONE));
        assert!(receive(2, Marks::NONE, Flags::NONE));
        assert!(!receive(3, Marks::NONE, Flags::HEARD));
    }
}
