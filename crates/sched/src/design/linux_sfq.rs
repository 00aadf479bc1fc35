//! Linux's sfq: flows are hashed into queues that take turns by credit, and the longest queue loses
//! when there is no room.
//!
//! Use when: results must match the kernel's `sfq` packet by packet. For new work use `fq_codel`;
//! for McKenney's scheme, `stochastic_fq`; for start-time fair queueing, `sfq`.
//! Source: Linux 6.1, sch_sfq.c (A. Kuznetsov, E. Dumazet), after McKenney, "Stochastic Fairness
//! Queueing", 1990.
//! Rules: a queue sends while its credit is above 0, and a packet that leaves others behind takes
//! its length from the credit (`sfq_dequeue`); a queue that gets its first packet takes the last
//! turn with a whole quantum (`sfq_enqueue`). A packet that finds `depth` packets in its queue is
//! dropped, or the head in its place with `headdrop`. Above the limit the last packet, or the
//! first, of the longest queue goes; of equally long queues that whose length changed last; if all
//! have one packet, that of the queue whose turn is next (`sfq_drop`). `depth` counts to 127, and
//! no more queues hold packets at a time than the hash has values or packets may wait
//! (`sfq_change`). With `red` each queue has a RED by its bytes, whose average sees what an arrival
//! finds and begins anew with a queue; with `headdrop` a signal goes to the first packet, as a mark
//! if that accepts it, else to the arriving one (`sfq_enqueue`). With `perturb` the hash changes at
//! each period, and what waits is distributed anew; a packet that finds no queue or a full one then
//! is dropped (`sfq_rehash`).
//! Departs: periods of `perturb` begin at time zero, and what a change does is done when the queue
//! is next touched; queues then have their turns in the order in which they had them, where Linux
//! goes by their places in its table; gaps between signals of RED are those of `red`; a limit may
//! be in bytes, and room is made until it is kept.
//! Chosen: the flow is the classifier's if one is named, else the five-tuple. Without a limit 127
//! packets may wait.
//! Cost: O(1) a packet while the quantum is at least the largest packet, and O(log `flows`) to know
//! the longest queue.
//! Bound: Linux's order and drops to the packet (docs/agreement/linux.md).
//! Changes: a new limit counts from the next arrival on; how many queues may hold packets stays as
//! at the start. A rate means nothing to it; weights, pacing and classes are refused.

use crate::change::{Change, Unsupported};
use crate::contract::{Classifier, Dequeue, Discipline, End, Handle, Held, Line, Slot, traits};
use crate::control::red::{Average, Curve, Gaps, Level};
use crate::facts::Facts;
use crate::hash::{Hash, bucket_of};
use crate::heap::Heap;
use crate::packet::{Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::ring::Ring;
use crate::store::Store;
use crate::units::{Bytes, Limit, Time};
use crate::waiting::Waiting;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

settings! {
    /// Queues, their turns and their limits.
    pub struct Settings {
        /// What a queue may send in a turn: a packet of the largest length.
        pub quantum: Bytes = Bytes(1514),
        /// Packets that may wait in a queue; above 127 as 127.
        pub depth: u32 = DEPTH_MAX,
        /// Queues that may hold packets at a time.
        pub flows: u32 = 128,
        /// How many values the hash of a flow has, a power of two.
        pub divisor: u32 = 1024,
        /// Whether the first packet of a queue is dropped in place of the last one.
        pub headdrop: bool = false,
        /// After how long the hash changes; 0 is never.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_never"))]
        #[cfg_attr(feature = "schema", schemars(extend("default" = "0 s")))]
        pub perturb: Time = Time::ZERO,
        /// The RED of each queue.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub red: Option<Red> = None,
    }
}

/// The RED of a queue, by its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Red {
    /// Below this average nothing happens.
    pub min: Bytes,
    /// From this average on all are signals.
    pub max: Bytes,
    /// The probability of a signal when the average comes to `max`, in (0, 1].
    pub probability: f64,
    /// What the queue found by one arrival counts in the average, in (0, 1]; of `tc` a power of
    /// two.
    pub weight: f64,
    /// Whether packets that accept CE are marked in place of being dropped.
    pub ecn: bool,
    /// Whether all are dropped from `max` on; else packets that accept a mark are marked there,
    /// too.
    pub hard_drop: bool,
}

impl Default for Red {
    fn default() -> Self {
        let (min, max) = (Bytes(8000), Bytes(25_000));
        Self { min, max, probability: 0.02, weight: 1.0 / 16.0, ecn: false, hard_drop: false }
    }
}

/// Whether a scenario that is written out leaves the period out.
#[cfg(feature = "schema")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_never(perturb: &Time) -> bool {
    perturb.0 == 0
}

/// `SFQ_MAX_DEPTH`: as many may wait in all, if the scenario says nothing.
const DEPTH_MAX: u32 = 127;

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            classifier: Some(super::FIVE_TUPLE),
            marks_congestion: self.red.is_some_and(|red| red.ecn),
            own_limit: Limit::Packets(u64::from(DEPTH_MAX)),
            ..Facts::PLAIN
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let fault = |text: &str| Some("linux_sfq: ".to_string() + text);
        match () {
            () if !(1..=1 << 20).contains(&self.quantum.0) => fault("quantum is from 1 B to 1 MiB"),
            () if self.depth == 0 => fault("depth is at least 1 packet"),
            () if !self.divisor.is_power_of_two() || self.divisor > 1 << 16 => {
                fault("divisor is a power of two up to 65536")
            }
            () if self.flows == 0 => fault("flows is at least 1"),
            () => self.red.and_then(|red| red.fault()).and_then(fault),
        }
    }

    fn variants() -> Vec<Self> {
        let small = Self { quantum: Bytes(300), depth: 2, flows: 3, divisor: 8, ..Self::default() };
        let red = Red { min: Bytes(100), max: Bytes(1000), probability: 0.5, weight: 0.5, ..Red::default() };
        let mixed = Self { perturb: Time::from_ms(1), ..small.clone() };
        let marks = Self { red: Some(Red { ecn: true, ..red }), headdrop: true, ..Self::default() };
        let drops = Self { red: Some(Red { ecn: true, hard_drop: true, ..red }), ..mixed.clone() };
        alloc::vec![Self { headdrop: true, ..small.clone() }, small, mixed, marks, drops]
    }
}

impl Red {
    fn fault(self) -> Option<&'static str> {
        let is_share = |value: f64| value > 0.0 && value <= 1.0;
        match () {
            () if self.min >= self.max => Some("red: min is less than max"),
            () if !is_share(self.probability) => Some("red: probability is above 0 and at most 1"),
            () if !is_share(self.weight) => Some("red: weight is above 0 and at most 1"),
            () => None,
        }
    }
}

/// The RED of one queue.
#[derive(Clone)]
struct Early {
    average: Average,
    gaps: Gaps,
    /// The first packet is marked when it leaves.
    marks_head: bool,
}

impl Early {
    /// The state of a queue that gets its first packet (`red_set_vars`).
    const fn new(red: Red) -> Self {
        Self { average: Average::new(red.weight), gaps: Gaps::new(false), marks_head: false }
    }

    /// An arrival finds `bytes`. Whether it is a signal, and then whether as a mark for what
    /// accepts one (`red_action`).
    fn judge(&mut self, red: Red, bytes: u64, draw: f64) -> Option<bool> {
        let curve = Curve { min: red.min.0 as f64, max: red.max.0 as f64, probability: red.probability, gentle: false };
        self.average.see(Time::ZERO, bytes as f64, 1.0);
        match curve.level(self.average.value()) {
            Level::Low => self.gaps.reset(),
            Level::Between(pb) => return self.gaps.signals(pb, draw).then_some(red.ecn),
            Level::Gentle(_) | Level::High => {
                self.gaps.reset();
                return Some(red.ecn && !red.hard_drop);
            }
        }
        None
    }
}

/// The whole discipline.
struct LinuxSfq {
    settings: Settings,
    classifier: Box<dyn Classifier>,
    /// The hash that tells flows apart.
    hash: Hash,
    /// By which their keys are distributed over the queues, and since which period.
    perturbed: Hash,
    period: u64,
    random: Random,
    /// By queue, with `red`.
    early: Vec<Early>,
    store: Store,
    /// The queues that hold packets, in order of their turns.
    turns: Ring,
    active: u32,
    credits: Vec<i64>,
    /// By length and when it changed: the longest first, of equal ones that which changed last.
    lengths: Heap<(Reverse<u32>, Reverse<u64>)>,
    changes: u64,
}

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    Box::new(LinuxSfq::new(settings, queue, line))
}

/// `settings` within the kernel's bounds, where `limit` may wait in all.
fn bounded(settings: &Settings, limit: Limit) -> Settings {
    let packets = if let Limit::Packets(packets) = limit { packets.try_into().unwrap_or(u32::MAX) } else { u32::MAX };
    Settings {
        depth: settings.depth.min(DEPTH_MAX),
        flows: settings.flows.min(settings.divisor).min(packets),
        ..settings.clone()
    }
}

impl LinuxSfq {
    fn new(settings: &Settings, queue: &Queue, line: &Line) -> Self {
        Self {
            classifier: queue.classifier().boxed(line),
            hash: Hash::new(line.seed),
            perturbed: Hash::new(line.seed),
            period: 0,
            random: Random::new(line.seed, "linux_sfq"),
            early: settings.red.map_or_else(Vec::new, |red| alloc::vec![Early::new(red); settings.divisor as usize]),
            store: Store::new(queue.capacity()),
            turns: Ring::new(),
            active: 0,
            credits: alloc::vec![0; settings.divisor as usize],
            lengths: Heap::new(),
            changes: 0,
            settings: bounded(settings, queue.capacity()),
        }
    }

    fn queue_of(&self, key: u64) -> Slot {
        bucket_of(self.perturbed.of_fields(&[key]), self.settings.divisor.into()) as Slot
    }

    /// The hash changes if a period has ended (`sfq_perturbation`).
    fn perturb(&mut self, now: Time, fates: &mut Fates) {
        let period = now.0.checked_div(self.settings.perturb.0).unwrap_or(0);
        if period > self.period {
            self.period = period;
            self.perturbed = Hash::new(self.hash.of(&[period]));
            self.rehash(fates);
        }
    }

    /// Distributes what waits anew, queue by queue (`sfq_rehash`).
    fn rehash(&mut self, fates: &mut Fates) {
        let aside = self.settings.divisor;
        while let Some(queue) = self.turns.front() {
            while self.store.rehang(queue, aside).is_some() {}
            self.changed(queue);
        }
        while let Some(key) = self.store.head(aside).map(|(_, key)| key as u64) {
            let queue = self.queue_of(key);
            let length = self.store.queue_packets(queue);
            if length >= self.settings.depth || (length == 0 && self.active >= self.settings.flows) {
                let gone = self.store.pop(aside, End::Front);
                let dropped = Outcome::Dropped(Reason::OverShare);
                fates.extend(gone.map(|gone| Fate { packet: gone.packet, outcome: dropped }));
                continue;
            }
            if length == 0 {
                self.begin(queue);
            }
            if let Some(early) = self.early.get_mut(queue as usize) {
                early.average.see(Time::ZERO, self.store.queue_bytes(queue) as f64, 1.0);
            }
            self.store.rehang(aside, queue);
            self.changed(queue);
        }
    }

    /// A queue gets its first packet.
    fn begin(&mut self, queue: Slot) {
        self.turns.push_back(queue);
        self.active += 1;
        self.credits[queue as usize] = self.settings.quantum.0 as i64;
        if let (Some(red), Some(early)) = (self.settings.red, self.early.get_mut(queue as usize)) {
            *early = Early::new(red);
        }
    }

    /// RED's word on a packet that joins a queue: whether one is dropped for it. A mark is put on
    /// the packet, or with `headdrop` on the first of the queue.
    fn is_dropped_early(&mut self, queue: Slot, packet: &mut Packet) -> bool {
        let bytes = self.store.queue_bytes(queue);
        let Some(red) = self.settings.red.filter(|_| bytes > 0) else { return false };
        let draw = self.random.unit();
        let Some(marks) = self.early[queue as usize].judge(red, bytes, draw) else { return false };
        let accepts = |packet: &Packet| packet.accepts.intersects(Marks::CE);
        let head = self.store.head(queue).map(|(head, _)| *head).filter(accepts);
        if marks && self.settings.headdrop && head.is_some() {
            self.early[queue as usize].marks_head = true;
            return false;
        }
        if marks && accepts(packet) {
            packet.marks = packet.marks.with(Marks::CE);
            return false;
        }
        true
    }

    /// The length of `queue` has changed.
    fn changed(&mut self, queue: Slot) {
        self.changes += 1;
        match self.store.queue_packets(queue) {
            0 => {
                self.lengths.remove(queue);
                self.turns.remove(queue);
                self.active -= 1;
            }
            length => self.lengths.push(queue, (Reverse(length), Reverse(self.changes))),
        }
    }

    fn drop(&mut self, queue: Slot, reason: Reason, fates: &mut Fates) {
        let end = if self.settings.headdrop { End::Front } else { End::Tail };
        if let Some(gone) = self.store.pop(queue, end) {
            self.spare_head(queue, gone.place.was_head);
            fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
        }
    }

    /// The first packet has gone otherwise than by leaving, if so it is said.
    fn spare_head(&mut self, queue: Slot, was_head: bool) {
        if let Some(early) = self.early.get_mut(queue as usize).filter(|_| was_head) {
            early.marks_head = false;
        }
    }

    fn make_room(&mut self, fates: &mut Fates) {
        while self.store.is_over_limit() {
            let longest = self.lengths.peek().map(|(queue, (Reverse(length), _))| (queue, length));
            let queue = match longest {
                Some((queue, length)) if length > 1 => Some(queue),
                _ => self.turns.front(),
            };
            let Some(queue) = queue else { return };
            self.drop(queue, Reason::LongestQueue, fates);
            self.changed(queue);
        }
    }
}

impl Discipline for LinuxSfq {
    traits!();

    fn enqueue(&mut self, now: Time, mut packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.perturb(now, fates);
        let key = self.classifier.key(header, self.hash);
        let queue = self.queue_of(key);
        let length = self.store.queue_packets(queue);
        let (marks, is_too_long) = (packet.marks, self.store.is_too_short_for(packet.length));
        let reason = match () {
            () if is_too_long => Some(Reason::TooLong),
            () if length == 0 && self.active >= self.settings.flows => Some(Reason::OverShare),
            () if self.is_dropped_early(queue, &mut packet) => Some(Reason::Early),
            () if length >= self.settings.depth => Some(Reason::OverShare),
            () => None,
        };
        // With `headdrop` the first packet goes for the arriving one.
        let takes_place = self.settings.headdrop && length > 0 && !is_too_long && reason.is_some();
        if let Some(reason) = reason.filter(|_| !takes_place) {
            // What is dropped comes back as it came: a mark that it was just given goes with it.
            fates.push(Fate { packet: Packet { marks, ..packet }, outcome: Outcome::Dropped(reason) });
            return None;
        }
        let (handle, _) = self.store.push(&packet, key.into(), queue, queue);
        if packet.marks != marks {
            fates.push(Fate { packet, outcome: Outcome::Marked(Marks::CE) });
        }
        if let Some(reason) = reason {
            // The length stays as it was.
            self.drop(queue, reason, fates);
        } else {
            if length == 0 {
                self.begin(queue);
            }
            self.changed(queue);
        }
        self.make_room(fates);
        self.store.waiting(handle).is_some().then_some(handle)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.store.end_serving();
        self.perturb(now, fates);
        while let Some(queue) = self.turns.front() {
            let credit = &mut self.credits[queue as usize];
            if *credit <= 0 {
                *credit += self.settings.quantum.0 as i64;
                self.turns.rotate();
                continue;
            }
            if self.early.get_mut(queue as usize).is_some_and(|early| core::mem::take(&mut early.marks_head)) {
                let head = self.store.mark_head(queue, Marks::CE).copied();
                fates.extend(head.map(|packet| Fate { packet, outcome: Outcome::Marked(Marks::CE) }));
            }
            self.store.serve(queue);
            let Some(packet) = self.store.serving().map(|entry| *entry.packet) else { break };
            if self.store.queue_packets(queue) > 0 {
                *credit -= i64::from(packet.length);
            }
            self.changed(queue);
            return Dequeue::Send(packet);
        }
        Dequeue::Empty
    }

    fn held(&self) -> Held {
        self.store.held()
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.store.change(change)
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<Packet> {
        let gone = self.store.remove(handle)?;
        self.spare_head(gone.queue, gone.place.was_head);
        self.changed(gone.queue);
        Some(gone.packet)
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("backlogged_queues", Unit::None, self.active));
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.store.show(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Address;
    use crate::registry::DesignSettings;
    use crate::units::Rate;

    fn header(flow: u16) -> Header {
        let (source, destination) = (Address::Node(0), Address::Node(1));
        Header { source, destination, protocol: 17, source_port: flow, destination_port: 9, tos: 0 }
    }

    fn built(settings: Settings, limit: u64) -> Box<dyn Discipline> {
        let queue = Queue::of_design(DesignSettings::LinuxSfq(settings), Some(Limit::Packets(limit)));
        assert_eq!(queue.fault(), None);
        queue.build(&Line::new(Rate::MAX))
    }

    /// Offers packets of 1000 B of a flow; the tokens of marked and of dropped ones.
    fn offer(sfq: &mut dyn Discipline, tokens: core::ops::Range<u64>, accepts: Marks) -> (Vec<u64>, Vec<u64>) {
        let mut fates = Fates::new();
        for token in tokens {
            let packet = Packet { accepts, ..Packet::new(token, Time::ZERO, 1000) };
            sfq.enqueue(Time::ZERO, packet, &header(1), &mut fates);
        }
        let (marked, dropped): (Vec<Fate>, Vec<Fate>) =
            fates.into_iter().partition(|fate| matches!(fate.outcome, Outcome::Marked(_)));
        let tokens = |fates: Vec<Fate>| fates.into_iter().map(|fate| fate.packet.token).collect();
        (tokens(marked), tokens(dropped))
    }

    /// An average that is the length that an arrival finds, and all from `max` on are signals.
    fn sharp(ecn: bool, hard_drop: bool) -> Option<Red> {
        Some(Red { min: Bytes(2999), max: Bytes(3000), probability: 1.0, weight: 1.0, ecn, hard_drop })
    }

    #[test]
    fn red_signals_to_the_arriving_packet_or_to_the_first() {
        let all = |settings: Settings| offer(&mut *built(settings, 100), 0..5, Marks::CE);
        // Three packets wait: those that find them are signals.
        let settings = Settings { red: sharp(false, false), ..Settings::default() };
        assert_eq!(all(settings.clone()), (Vec::new(), alloc::vec![3, 4]));
        let marks = Settings { red: sharp(true, false), ..settings.clone() };
        assert_eq!(all(marks.clone()), (alloc::vec![3, 4], Vec::new()));
        // Marks of the first packet, twice and seen when it leaves.
        let mut sfq = built(Settings { headdrop: true, ..marks }, 100);
        assert_eq!(offer(&mut *sfq, 0..5, Marks::CE), (Vec::new(), Vec::new()));
        let mut fates = Fates::new();
        let sent = [0, 1].map(|_| sfq.dequeue(Time::ZERO, &mut fates));
        assert!(matches!(
            sent,
            [Dequeue::Send(Packet { marks: Marks::CE, .. }), Dequeue::Send(Packet { marks: Marks::NONE, .. })]
        ));
        assert_eq!(fates.iter().map(|fate| fate.packet.token).collect::<Vec<_>>(), [0]);
        let hard = Settings { red: sharp(true, true), headdrop: true, ..settings };
        assert_eq!(all(hard), (Vec::new(), alloc::vec![0, 1]));
    }

    #[test]
    fn the_average_begins_anew_with_the_queue() {
        let settings = Settings {
            red: Some(Red { weight: 0.5, ..sharp(false, false).unwrap_or_default() }),
            ..Settings::default()
        };
        let mut sfq = built(settings, 100);
        // 0 is not seen; then 500, 1250, 2125, 3062.
        assert_eq!(offer(&mut *sfq, 0..5, Marks::NONE).1, [4]);
        while sfq.dequeue(Time::ZERO, &mut Fates::new()) != Dequeue::Empty {}
        assert_eq!(offer(&mut *sfq, 0..5, Marks::NONE).1, [4]);
    }

    #[test]
    fn a_perturbation_distributes_what_waits_anew_and_keeps_names_and_the_order_of_flows() {
        let settings = Settings { perturb: Time::from_s(1), divisor: 8, ..Settings::default() };
        let mut sfq = built(settings, 1000);
        let mut fates = Fates::new();
        let mut handles = Vec::new();
        for token in 0..200_u64 {
            let packet = Packet::new(token, Time::ZERO, 1000);
            handles.push(sfq.enqueue(Time::ZERO, packet, &header((token % 20) as u16), &mut fates));
        }
        assert_eq!(fates, []);
        let queues = |sfq: &dyn Discipline| {
            let mut found = 0.0;
            sfq.readings(Time::ZERO, &mut |reading| {
                if reading.name == "backlogged_queues" {
                    found = reading.value.real();
                }
            });
            found
        };
        let before = queues(&*sfq);
        let mut sent = Vec::new();
        for second in 0.. {
            match sfq.dequeue(Time::from_ms(250 * second), &mut fates) {
                Dequeue::Send(packet) => sent.push(packet.token),
                _ => break,
            }
            if second == 5 {
                // After a perturbation a packet goes by the name that it had before.
                let gone = handles[199].and_then(|handle| sfq.remove(Time::from_ms(1250), handle));
                assert_eq!(gone.map(|packet| packet.token), Some(199));
            }
        }
        assert!((4.0..=8.0).contains(&before) && queues(&*sfq) == 0.0);
        assert_eq!((sent.len(), fates.len()), (199, 0));
        for flow in 0..20 {
            let of_flow: Vec<u64> = sent.iter().copied().filter(|token| token % 20 == flow).collect();
            assert!(of_flow.is_sorted(), "flow {flow}: {of_flow:?}");
        }
    }

    #[test]
    fn flows_that_meet_do_not_meet_for_ever() {
        let settings = Settings { perturb: Time::from_s(1), divisor: 1024, ..Settings::default() };
        let queue = Queue::of_design(DesignSettings::LinuxSfq(settings.clone()), None);
        let line = Line::new(Rate::MAX);
        let mut sfq = LinuxSfq::new(&settings, &queue, &line);
        let places = |sfq: &LinuxSfq| [1, 2, 3, 4].map(|key| sfq.queue_of(key));
        let first = places(&sfq);
        sfq.perturb(Time::from_ms(999), &mut Fates::new());
        assert_eq!(places(&sfq), first);
        sfq.perturb(Time::from_s(1), &mut Fates::new());
        assert_ne!(places(&sfq), first);
    }
}
