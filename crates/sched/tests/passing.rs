//! A discipline that is not shown the packets that may pass sends the same packets at the same
//! times as one that is shown all, for every discipline of the registry that lets packets pass.

use fairq_sched::buffer::codel;
use fairq_sched::contract::{Dequeue, Discipline, Line, Scheduler};
use fairq_sched::design::fq_codel;
use fairq_sched::ledger::Ledger;
use fairq_sched::packet::{Fates, Marks, Outcome, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;
use std::collections::BTreeSet;

const FLOWS: u32 = 12;
/// Picoseconds that a byte takes on a line of 1 Gbit/s.
const BYTE: u64 = 8000;

/// What happened to a packet, and when.
type Deeds = Vec<(u64, u64, &'static str)>;

/// A line in front of a discipline; it shows it what it must and when it must, or everything at
/// once.
struct Sender {
    queue: Ledger<Box<dyn Discipline>>,
    shows_all: bool,
    /// When the present transmission ends.
    end: Option<Time>,
    passed: Option<(Time, Packet, u32)>,
    up_to: u32,
    passes: usize,
    recalls: usize,
    deeds: Deeds,
}

impl Sender {
    fn begin(&mut self, now: Time, fates: &mut Fates) {
        if let Dequeue::Send(packet) = self.queue.dequeue(now, fates) {
            self.send(now, &packet);
        }
        self.note(now, fates);
    }

    fn send(&mut self, now: Time, packet: &Packet) {
        self.deeds.push((now.0, packet.token, "sent"));
        self.end = Some(now + Time(u64::from(packet.length) * BYTE));
    }

    fn note(&mut self, now: Time, fates: &mut Fates) {
        for fate in fates.drain(..) {
            let deed = if matches!(fate.outcome, Outcome::Dropped(_)) { "dropped" } else { "marked" };
            self.deeds.push((now.0, fate.packet.token, deed));
        }
    }

    /// Transmissions that end before `now`: an arrival at the same instant comes first.
    fn settle(&mut self, now: Time) {
        while let Some(end) = self.end.filter(|end| *end < now) {
            self.end = None;
            if self.shows_all || self.queue.waiting() > 0 {
                self.begin(end, &mut Fates::new());
            }
        }
    }

    fn arrive(&mut self, now: Time, packet: Packet, flow: u32) {
        self.settle(now);
        let mut fates = Fates::new();
        let is_idle = self.end.is_none();
        if is_idle && packet.length <= self.up_to && self.queue.may_pass(now) {
            self.passes += 1;
            self.passed = Some((now, packet, flow)).filter(|_| self.queue.traits().replays);
            return self.send(now, &packet);
        }
        match self.passed.take() {
            Some((time, packet, flow)) if !is_idle => {
                self.recalls += 1;
                self.queue.recall(time, packet, &header(flow), &mut fates);
            }
            _ if is_idle && !self.shows_all => self.queue.tell_idle(now, &mut fates),
            _ => {}
        }
        self.queue.enqueue(now, packet, &header(flow), &mut fates);
        self.note(now, &mut fates);
        if is_idle {
            self.begin(now, &mut fates);
        }
    }
}

fn sender(queue: &Queue, line: &Line, passes: bool) -> Sender {
    let queue = Ledger::new(queue.build(line));
    let up_to = if passes { queue.traits().bypass } else { 0 };
    Sender { queue, shows_all: !passes, end: None, passed: None, up_to, passes: 0, recalls: 0, deeds: Vec::new() }
}

/// Runs the same arrivals past and through `queue`; how many passed, and how many of these were
/// shown after all.
fn compare(queue: &Queue, line: &Line, seed: u64) -> (usize, usize) {
    let (mut with, mut without) = (sender(queue, line, true), sender(queue, line, false));
    let mut draw = Draw::new(seed);
    let mut now = Time(1);
    for token in 0..6000_u64 {
        // At first a packet of each flow at once, and one that bypasses before them: the order in
        // which flows first appear may matter for which packet is dropped.
        let (after, flow) = match token as u32 {
            early @ 0..=FLOWS => (0, early.saturating_sub(1)),
            _ if token % 140 < 80 => (draw.below(1000 * BYTE), draw.below(u64::from(FLOWS)) as u32),
            _ => (draw.below(4000 * BYTE), draw.below(u64::from(FLOWS)) as u32),
        };
        // Some come in the instant in which a transmission ends, some close behind another.
        now = match (without.end, draw.below(8)) {
            (Some(end), 0) if token > u64::from(FLOWS) => end,
            (_, 1) => now + Time(after % (40 * BYTE)),
            _ => now + Time(after),
        };
        let accepts = if draw.below(2) == 0 { Marks::CE } else { Marks::NONE };
        let packet =
            Packet { accepts, tos: draw.below(256) as u8, ..Packet::new(token, now, 40 + draw.below(1460) as u32) };
        with.arrive(now, packet, flow);
        without.arrive(now, packet, flow);
    }
    with.settle(Time(u64::MAX / 2));
    without.settle(Time(u64::MAX / 2));
    assert_eq!(with.queue.waiting(), 0, "{}", queue.name());
    let differs = with.deeds.iter().zip(&without.deeds).find(|(mine, theirs)| mine != theirs);
    assert_eq!((differs, with.deeds.len()), (None, without.deeds.len()), "{} with seed {seed}", queue.name());
    (with.passes, with.recalls)
}

/// Every scheduler with buffer policies that may let packets pass and with room for none, some and
/// all, and every design.
fn queues() -> Vec<(&'static str, Queue)> {
    let limits = [None, Some(Limit::Packets(9)), Some(Limit::Bytes(7000))];
    // The defaults are too patient for so fast a line, and under the variants every packet is a
    // signal.
    let (target, interval, mtu) = (Time(3000 * BYTE), Time(8000 * BYTE), Bytes(0));
    let codel = BufferSettings::Codel(codel::Settings { target, interval, mtu, ecn: true, ..Default::default() });
    let fq_codel = fq_codel::Settings { rfc: true, queues: 5, target, interval, mtu, ..Default::default() };
    let variants = ["codel", "longest_queue_drop", "tail_drop"].into_iter().flat_map(BufferSettings::variants);
    let buffers = variants.chain([codel]).collect::<Vec<_>>();
    let mut queues = Vec::new();
    for card in SCHEDULERS {
        for (settings, limit) in SchedulerSettings::variants(card.name).iter().flat_map(|s| limits.map(|l| (s, l))) {
            let queue =
                |buffer: &BufferSettings| Queue { buffer: Some(buffer.clone()), ..Queue::new(settings.clone(), limit) };
            queues.extend(buffers.iter().map(|buffer| (card.name, queue(buffer))));
        }
    }
    for card in DESIGNS {
        let other = (card.name == "fq_codel").then(|| DesignSettings::FqCodel(fq_codel.clone()));
        for settings in DesignSettings::variants(card.name).into_iter().chain(other) {
            queues.extend(limits.map(|limit| (card.name, Queue::of_design(settings.clone(), limit))));
        }
    }
    queues.retain(|(_, queue)| queue.fault().is_none());
    queues
}

#[test]
fn a_packet_for_which_there_would_be_no_room_is_shown() {
    let line = Line::new(Rate::MAX);
    let fq_codel =
        |memory| DesignSettings::FqCodel(fq_codel::Settings { rfc: true, memory: Bytes(memory), ..Default::default() });
    let longest = |memory, limit| Queue::of_design(fq_codel(memory), limit).build(&line).traits().bypass;
    assert_eq!(longest(1000, None), 1000);
    assert_eq!(longest(1 << 40, None), u32::MAX);
    assert_eq!(longest(1000, Some(Limit::Bytes(700))), 700);
    assert_eq!(longest(1000, Some(Limit::Bytes(1 << 40))), 1000);
    assert_eq!(longest(1000, Some(Limit::Packets(1))), 1000);
    assert_eq!(longest(1000, Some(Limit::Packets(0))), 0);
}

#[test]
fn what_passes_changes_nothing() {
    let rate = Rate::new(1_000_000_000).expect("a rate");
    let weight = |flow: u32| Weight::from_thousandths(500 * (1 + flow % 5)).expect("a weight");
    let line = Line { weights: (0..FLOWS).map(|flow| (header(flow), weight(flow))).collect(), ..Line::new(rate) };
    let (mut passing, mut recalling) = (BTreeSet::new(), BTreeSet::new());
    for (name, queue) in queues() {
        if queue.build(&line).traits().bypass == 0 {
            continue;
        }
        for seed in 1..4 {
            let (passes, recalls) = compare(&queue, &line, seed);
            assert!(passes > 500, "{}: {passes} passed", queue.name());
            passing.insert(name);
            if recalls > 100 {
                recalling.insert(name);
            }
        }
    }
    // A scheduler says by itself whether packets may pass it; its composition with one of the
    // policies must let them.
    let may = |asked: fn(&dyn Scheduler) -> bool| -> BTreeSet<&str> {
        let is_one = |settings: &SchedulerSettings| asked(&*settings.boxed(&line));
        let names = SCHEDULERS.iter().map(|card| card.name);
        names.filter(|name| SchedulerSettings::variants(name).iter().any(is_one)).collect()
    };
    let of_schedulers = |names: BTreeSet<&'static str>| -> BTreeSet<&str> {
        names.into_iter().filter(|name| !DESIGNS.iter().any(|card| card.name == *name)).collect()
    };
    assert!(passing.contains("fq_codel") && recalling.contains("fq_codel"));
    // Alone with a limit `fifo` is built as a plain FIFO, which is no composition.
    let mut may_pass = may(|scheduler| scheduler.traits().bypass > 0);
    may_pass.insert("fifo");
    assert_eq!(of_schedulers(passing), may_pass);
    assert_eq!(of_schedulers(recalling), may(|scheduler| scheduler.traits().bypass > 0 && scheduler.traits().replays));
}
