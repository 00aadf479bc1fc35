//! Type-of-service queueing: classes by the TOS byte, each of which gets what it asks for at the
//! price of something else.
//!
//! Use when: you study RFC 1046 of 1988. It is historic and not fair among users; for new work use
//! `ets` or `priority`, or `cake` for classes with fair flows.
//! Source: Prue and Postel, "A Queuing Algorithm to Provide Type-of-Service for IP Links", RFC 1046
//! (1988).
//! Departs: no source quench. How the line and the buffer are shared among the classes is said by
//! settings in place of the memo's rules and constants, of which only the aims were at hand.
//! Chosen: a packet that asks for several services belongs to the first of low delay, high
//! throughput, high reliability. Every class may send its part of a round, and what it sends beyond
//! is taken from its next; low delay goes first while it keeps to its part, the others take turns.
//! A packet of low delay that could wait longer than `delay_max` (the memo's maximum guaranteed
//! delay) at the class's part of the line is refused, for a sender that asks for promptness prefers
//! a loss; the last part of the buffer, `reserve`, is kept for high reliability, as far as one
//! packet fits beside it. Within a class higher precedence goes first.
//! Cost: O(1) a packet.
//! Bound: no class shuts out another: a backlogged class gets its part of the line but for its part
//! of a round and five packets (shaped.rs: tos_priority_gives_every_class_its_part); low delay
//! overtakes (shaped.rs: tos_priority_lets_low_delay_overtake) and never waits behind more than it
//! may (shaped.rs: tos_priority_keeps_the_limits_of_its_classes); high reliability loses last
//! (shaped.rs: tos_priority_drops_high_reliability_last); without TOS bits it is a FIFO in the open
//! part of the buffer (shaped.rs: tos_priority_is_a_fifo_without_tos_bits). It is not fair among
//! users, and a flow whose packets differ in TOS is reordered (shaped.rs:
//! tos_priority_breaks_the_order_of_a_flow_of_many_services).
//! Changes: how much of low delay may wait follows the new rate from the next arrival on; what
//! waits stays, and so do credits. Weights, pacing and classes are refused.

use crate::change::{Change, Unsupported, no_changes};
use crate::compose::Composition;
use crate::contract::{BufferPolicy, Discipline, Flow, Gone, Line, Next, Scheduler, Slot, Tag, Verdict, traits};
use crate::mark::none::None as NoMarker;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::store::Store;
use crate::units::{Bytes, Limit, Rate, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// The parts of the classes, and their limits.
    pub struct Settings {
        /// The part of the line for low delay, against the parts of the others; each is 1 to 100.
        pub low_delay: u32 = 25,
        /// The part for high throughput.
        pub high_throughput: u32 = 40,
        /// The part for high reliability.
        pub high_reliability: u32 = 20,
        /// The part for packets that ask for nothing.
        pub routine: u32 = 15,
        /// What all classes together send in a round, 1 kB to 16 MiB.
        pub round: Bytes = Bytes(30_000),
        /// How long a low-delay packet may have to wait at its class's part of the line.
        pub delay_max: Time = Time::from_ms(500),
        /// The part of the buffer that only high reliability may use; at least 0 and less than 1.
        pub reserve: f64 = 0.2,
    }
}

impl Settings {
    const fn parts(&self) -> [u32; CLASSES] {
        [self.low_delay, self.high_throughput, self.high_reliability, self.routine]
    }
}

impl Part for Settings {
    facts!(needs_rate = true, tells_flows_apart = false);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let names = ["low_delay", "high_throughput", "high_reliability", "routine"];
        for (name, part) in names.iter().zip(self.parts()) {
            if !(1..=100).contains(&part) {
                return Some(format!("tos_priority: {name} is {part}; write 1 to 100"));
            }
        }
        if !(1000..=16 << 20).contains(&self.round.0) {
            return Some(format!("tos_priority: round is {} B; write 1 kB to 16 MiB", self.round.0));
        }
        if self.delay_max == Time::ZERO {
            return Some("tos_priority: delay_max is more than 0 s".to_string());
        }
        (!(0.0..1.0).contains(&self.reserve))
            .then(|| format!("tos_priority: reserve is {}; write at least 0 and less than 1", self.reserve))
    }

    fn variants() -> Vec<Self> {
        let (round, delay_max) = (Bytes(1000), Time::from_ms(1));
        alloc::vec![Self { low_delay: 1, routine: 100, round, delay_max, reserve: 0.0, ..Self::default() }]
    }
}

/// Builds the discipline.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    let classifier = queue.classifier().build(line);
    let (scheduler, buffer) = (Classes::new(settings), Limits::new(settings, line));
    Box::new(Composition::new(classifier, scheduler, buffer, NoMarker, queue.limit.unwrap_or_default(), line))
}

const CLASSES: usize = 4;
const LOW_DELAY: usize = 0;
const HIGH_THROUGHPUT: usize = 1;
const HIGH_RELIABILITY: usize = 2;
const ROUTINE: usize = 3;

/// The class that a TOS byte asks for (RFC 791: D is 0x10, T 0x08, R 0x04).
const fn class(tos: u8) -> usize {
    match tos & 0x1c {
        0 => ROUTINE,
        bits if bits & 0x10 != 0 => LOW_DELAY,
        bits if bits & 0x08 != 0 => HIGH_THROUGHPUT,
        _ => HIGH_RELIABILITY,
    }
}

/// The scheduler: eight queues to a class, by precedence.
struct Classes {
    /// What each class gets in a round, in bytes.
    quanta: [i64; CLASSES],
    /// The rest of it; negative if more was sent.
    credits: [i64; CLASSES],
    /// Which queues hold packets, a bit each, the highest precedence first.
    backlogged: [u8; CLASSES],
    /// Whose turn it is, low delay aside.
    turn: usize,
}

impl Classes {
    fn new(settings: &Settings) -> Self {
        let sum: u64 = settings.parts().iter().map(|part| u64::from(*part)).sum();
        let quantum = |part: u32| (settings.round.0 * u64::from(part) / sum.max(1)).max(1) as i64;
        let quanta = settings.parts().map(quantum);
        Self { quanta, credits: quanta, backlogged: [0; CLASSES], turn: LOW_DELAY + 1 }
    }

    /// The class's first queue, if something is left of its part of the round.
    fn sendable(&self, class: usize) -> Option<Slot> {
        let bits = self.backlogged[class];
        (bits != 0 && self.credits[class] > 0).then(|| class as Slot * 8 + bits.trailing_zeros())
    }

    /// As many rounds as it takes until a backlogged class may send; none may now.
    fn begin_round(&mut self) {
        let backlogged = (0..CLASSES).filter(|class| self.backlogged[*class] != 0);
        let rounds = backlogged.map(|class| -self.credits[class] / self.quanta[class] + 1).min().unwrap_or(1);
        for (credit, quantum) in self.credits.iter_mut().zip(self.quanta) {
            // What a class has not used is gone.
            *credit = (*credit + rounds * quantum).min(quantum);
        }
    }

    fn emptied(&mut self, queue: Slot, is_empty: bool) {
        if is_empty {
            self.backlogged[queue as usize / 8] &= !(1 << (queue % 8));
        }
    }
}

impl Scheduler for Classes {
    traits!(queue_per_flow = false, hears_idle = true);

    fn queue_of(&self, _flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        class(packet.tos) as Slot * 8 + 7 - Slot::from(packet.tos >> 5)
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.backlogged[queue as usize / 8] |= 1 << (queue % 8);
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        if self.backlogged == [0; CLASSES] {
            return Next::Empty;
        }
        loop {
            if let Some(queue) = self.sendable(LOW_DELAY) {
                return Next::Queue(queue);
            }
            for _ in 1..CLASSES {
                if let Some(queue) = self.sendable(self.turn) {
                    return Next::Queue(queue);
                }
                self.turn = self.turn % (CLASSES - 1) + 1;
            }
            self.begin_round();
        }
    }

    fn sent(&mut self, _now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        self.credits[queue as usize / 8] -= i64::from(packet.length);
        self.emptied(queue, head.is_none());
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        self.emptied(gone.queue, gone.head.is_none());
    }

    fn idle(&mut self, _now: Time) {
        self.credits = self.quanta;
    }

    no_changes!();

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    no_readings!();
}

/// The buffer policy: the limits of low delay and of all but high reliability.
struct Limits {
    delay_max: Time,
    reserve: f64,
    /// Thousandths of the line that are low delay's.
    part: u64,
    /// Bytes of low delay that may wait.
    low_delay_max: u64,
}

impl Limits {
    fn new(settings: &Settings, line: &Line) -> Self {
        let sum: u64 = settings.parts().iter().map(|part| u64::from(*part)).sum();
        let part = u64::from(settings.low_delay) * 1000 / sum.max(1);
        let mut limits = Self { delay_max: settings.delay_max, reserve: settings.reserve, part, low_delay_max: 0 };
        limits.set_rate(line.rate);
        limits
    }

    fn set_rate(&mut self, rate: Rate) {
        let bits = u128::from(rate.bits_in(self.delay_max)) * u128::from(self.part) / 1000;
        self.low_delay_max = u64::try_from(bits / 8).unwrap_or(u64::MAX);
    }
}

impl BufferPolicy for Limits {
    traits!();

    fn admit(&mut self, _now: Time, store: &Store, queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        let length = u64::from(packet.length);
        let class = queue as usize / 8;
        if class == LOW_DELAY {
            let waiting: u64 = (0..8).map(|at| store.queue_bytes(LOW_DELAY as Slot * 8 + at)).sum();
            if waiting > 0 && waiting + length > self.low_delay_max {
                return Verdict::Drop(Reason::Horizon);
            }
        }
        if store.limit().is_exceeded_by(store.packets() + 1, store.bytes() + length) {
            return Verdict::Drop(Reason::BufferFull);
        }
        let open = |limit: u64| limit as f64 * (1.0 - self.reserve);
        let is_reserved = match store.limit() {
            Limit::Unlimited => false,
            Limit::Packets(limit) => store.packets() as f64 + 1.0 > open(limit),
            Limit::Bytes(limit) => (store.bytes() + length) as f64 > open(limit),
        };
        // However small the buffer is, the open part takes a packet.
        if is_reserved && class != HIGH_RELIABILITY && store.packets() > 0 {
            return Verdict::Drop(Reason::OverShare);
        }
        Verdict::Pass
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.set_rate(rate);
        Ok(())
    }

    no_readings!();
}
