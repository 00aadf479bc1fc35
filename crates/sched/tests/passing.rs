//! A discipline that is not shown the packets that may pass sends the same packets at the same
//! times as one that is shown all, for every discipline of the registry that lets packets pass:
//! whether its port sends them past it, or the port's driver.

use crate::port::{Deed, Deeds};
use fairq_sched::buffer::codel;
use fairq_sched::contract::{Discipline, Line, Scheduler};
use fairq_sched::design::fq_codel;
use fairq_sched::packet::{Marks, Packet};
use fairq_sched::port::{Port, Sink};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::service::Transmitter;
use fairq_sched::traits::Traits;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;
use std::collections::BTreeSet;

const FLOWS: u32 = 12;
/// Picoseconds that a byte takes on a line of 1 Gbit/s.
const BYTE: u64 = 8000;

/// A line of which the port sends packets past the discipline, or its driver does, or none.
type Before = Port<Box<dyn Discipline>, Transmitter>;

/// A driver with a bypass of its own: the port hears of a bypassed packet only if another comes
/// while it is sent.
struct Driver {
    port: Before,
    rate: Rate,
    traits: Traits,
    /// The packet that bypassed the port, its flow and the end of its transmission.
    passed: Option<(Packet, u32, Time)>,
    passes: usize,
    recalls: usize,
}

impl Driver {
    fn arrive(&mut self, now: Time, packet: Packet, flow: u32, deeds: &mut Deeds) {
        self.settle(now, deeds);
        let is_idle = self.passed.is_none() && self.port.next_end().is_none();
        let may_pass = !self.traits.replays || self.port.discipline().may_pass(now);
        if is_idle && packet.length <= self.traits.bypass && may_pass {
            let end = now + self.rate.time_of_bits(u64::from(packet.length) * 8);
            deeds.begins(&packet, now, end);
            (self.passed, self.passes) = (Some((packet, flow, end)), self.passes + 1);
            return;
        }
        if let Some((passed, flow, end)) = self.passed.take() {
            self.recalls += usize::from(self.traits.replays);
            self.port.bypassed(passed.arrival, passed, &header(flow));
            assert_eq!(self.port.next_end(), Some(end));
        }
        self.port.arrive(now, packet, &header(flow), deeds);
    }

    fn settle(&mut self, now: Time, deeds: &mut Deeds) {
        if let Some((packet, _, end)) = self.passed.take_if(|(.., end)| *end < now) {
            deeds.ended(&packet, end);
        }
        self.port.end(Time(now.0 - 1), deeds);
    }
}

/// Runs the same arrivals past and through `queue`. Returns how many passed, and how many of these
/// were shown after all.
fn compare(queue: &Queue, line: &Line, seed: u64) -> (usize, usize) {
    let port = || Port::new(queue.build(line), Transmitter::new(line.rate));
    let (mut with, mut without) = (port().bypassing(), port());
    let traits = with.discipline().traits();
    let driven = port().bypassed_by_its_driver();
    let mut driver = Driver { port: driven, rate: line.rate, traits, passed: None, passes: 0, recalls: 0 };
    let (mut mine, mut theirs, mut drivers) = (Deeds::default(), Deeds::default(), Deeds::default());
    let mut passes = 0;
    let mut draw = Draw::new(seed);
    let mut now = Time(1);
    for token in 0..4000_u64 {
        // At first a packet of each flow at once, and one that bypasses before them: the order in
        // which flows first appear may matter for which packet is dropped.
        let (after, flow) = match token as u32 {
            early @ 0..=FLOWS => (0, early.saturating_sub(1)),
            _ if token % 140 < 80 => (draw.below(1000 * BYTE), draw.below(u64::from(FLOWS)) as u32),
            _ => (draw.below(4000 * BYTE), draw.below(u64::from(FLOWS)) as u32),
        };
        // Some come in the instant in which a transmission ends, some close behind another.
        now = match (without.sending(), draw.below(8)) {
            (Some((.., end)), 0) if token > u64::from(FLOWS) && end >= now => end,
            (_, 1) => now + Time(after % (40 * BYTE)),
            _ => now + Time(after),
        };
        let accepts = if draw.below(2) == 0 { Marks::CE } else { Marks::NONE };
        let packet =
            Packet { accepts, tos: draw.below(256) as u8, ..Packet::new(token, now, 40 + draw.below(1460) as u32) };
        let handle = with.arrive(now, packet, &header(flow), &mut mine);
        let has_passed = handle.is_none() && matches!(mine.0.last(), Some(Deed::Begins(last, ..)) if *last == token);
        passes += usize::from(has_passed);
        without.arrive(now, packet, &header(flow), &mut theirs);
        driver.arrive(now, packet, flow, &mut drivers);
    }
    let late = Time(u64::MAX / 2);
    driver.settle(late, &mut drivers);
    with.end(late, &mut mine);
    without.end(late, &mut theirs);
    for port in [&with, &without, &driver.port] {
        assert_eq!(port.held().packets, 0, "{}", queue.name());
    }
    for others in [&mine, &drivers] {
        let differs = others.0.iter().zip(&theirs.0).find(|(mine, theirs)| mine != theirs);
        assert_eq!((differs, others.0.len()), (None, theirs.0.len()), "{} with seed {seed}", queue.name());
    }
    assert_eq!(passes, driver.passes, "{} with seed {seed}", queue.name());
    assert_eq!(with.counts(), without.counts(), "{} with seed {seed}", queue.name());
    (passes, driver.recalls)
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
            assert!(passes > 300, "{}: {passes} passed", queue.name());
            passing.insert(name);
            if recalls > 60 {
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
