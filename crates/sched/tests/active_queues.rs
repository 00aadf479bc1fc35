//! What the buffer policies claim that act on the length of the queue or on the share of flows.
//!
//! Adaptive sources here are rates that grow by a packet in each round trip and are halved in one
//! with a loss or a mark.

use fairq_sched::buffer::{adaptive_red, afd, blue, choke, fred, red, sfb, wred};
use fairq_sched::change::Change;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fate, Fates, Marks, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::units::{Bytes, Limit, PS_PER_S, Rate, Time};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Driver, End, header};
use fairq_testkit::shown::{find, number};
use std::collections::VecDeque;

/// With one queue, and with one for each flow.
const SCHEDULERS: [&str; 2] = ["fifo", "round_robin"];
const LENGTH: u32 = 1000;
/// 1250 packets of 1000 bytes a second.
const RATE: u64 = 10_000_000;

fn queue(scheduler: &str, buffer: BufferSettings, limit: Limit) -> Queue {
    let scheduler = SchedulerSettings::by_name(scheduler).expect("a scheduler of the registry");
    Queue { buffer: Some(buffer), ..Queue::new(scheduler, Some(limit)) }
}

fn line() -> Line {
    Line { seed: 5, ..Line::new(Rate::new(RATE).expect("a rate")) }
}

fn checked(queue: &Queue) -> Checked {
    assert_eq!(queue.fault(), None);
    Checked::new(Rules::of(queue), || queue.build(&line()))
}

/// Offers packets by hand, with numbers for tokens.
struct Hand {
    discipline: Checked,
    fates: Fates,
    token: u64,
    /// When it fills, and offers at a fixed queue.
    now: Time,
}

impl Hand {
    fn new(queue: &Queue) -> Self {
        Self { discipline: checked(queue), fates: Fates::new(), token: 0, now: Time::ZERO }
    }

    /// Offers a packet; what became of packets by it.
    fn offer(&mut self, now: Time, flow: u32, accepts: Marks, length: u32) -> Vec<Fate> {
        let packet = Packet { accepts, ..Packet::new(self.token, now, length) };
        self.token += 1;
        self.discipline.enqueue(now, packet, &header(flow), &mut self.fates);
        self.fates.drain(..).collect()
    }

    /// Offers `count` packets, each to a queue of `held` packets; how many were marked and dropped,
    /// and the gaps between those that were either.
    fn at_fixed_queue(&mut self, held: u64, count: usize, accepts: Marks, length: u32) -> (u32, u32, Vec<u32>) {
        self.of_service(held, count, Packet { accepts, ..Packet::new(0, self.now, length) })
    }

    /// The same with packets like `like`.
    fn of_service(&mut self, held: u64, count: usize, like: Packet) -> (u32, u32, Vec<u32>) {
        let (mut marked, mut dropped, mut gaps, mut gap) = (0, 0, Vec::new(), 0);
        for _ in 0..count {
            assert_eq!(self.discipline.held().packets, held);
            let packet = Packet { token: self.token, ..like };
            self.token += 1;
            let handle = self.discipline.enqueue(self.now, packet, &header(1), &mut self.fates);
            if let Some(handle) = handle {
                self.discipline.remove(self.now, handle);
            }
            gap += 1;
            for fate in self.fates.drain(..) {
                gaps.push(gap);
                gap = 0;
                match fate.outcome {
                    Outcome::Marked(marks) => marked += u32::from(marks == Marks::CE),
                    Outcome::Dropped(reason) => dropped += u32::from(reason == Reason::Early),
                }
            }
        }
        (marked, dropped, gaps)
    }

    /// Fills the queue up to `held` packets.
    fn fill(&mut self, held: u64) {
        while self.discipline.held().packets < held {
            self.offer(self.now, self.token as u32 % 5, Marks::CE, LENGTH);
        }
    }
}

#[test]
fn head_drop_keeps_the_latest() {
    for (seed, scheduler) in (0..40).zip(SCHEDULERS.into_iter().cycle()) {
        let _replay = Replay(format!("seed {seed}, {scheduler}"));
        let mut draw = Draw::new(seed);
        let limit = 1 + draw.below(100);
        let buffer = BufferSettings::by_name("head_drop").expect("head_drop");
        let mut hand = Hand::new(&queue(scheduler, buffer, Limit::Packets(limit)));
        let mut model = VecDeque::new();
        for step in 0..3000 {
            let now = Time(step);
            if draw.once_in(4) {
                if let Dequeue::Send(packet) = hand.discipline.dequeue(now, &mut Fates::new()) {
                    model.retain(|token| *token != packet.token);
                }
                continue;
            }
            model.push_back(hand.token);
            let fates = hand.offer(now, draw.below(5) as u32, Marks::NONE, LENGTH);
            let oldest = if model.len() as u64 > limit { model.pop_front() } else { None };
            assert_eq!(fates.first().map(|fate| fate.packet.token), oldest);
            assert!(fates.len() < 2 && fates.iter().all(|fate| fate.outcome == Outcome::Dropped(Reason::Oldest)));
        }
    }
}

#[test]
fn random_drop_takes_from_flows_what_they_hold() {
    for scheduler in SCHEDULERS {
        let buffer = BufferSettings::by_name("random_drop").expect("random_drop");
        let mut hand = Hand::new(&queue(scheduler, buffer, Limit::Packets(60)));
        let (mut draw, mut flow_of) = (Draw::new(3), Vec::new());
        let (mut held, mut expected, mut lost) = ([0u32; 3], [0.0; 3], [0.0; 3]);
        let (mut arrivals, mut drops): (f64, f64) = (0.0, 0.0);
        for step in 0..60_000 {
            if draw.once_in(4) {
                if let Dequeue::Send(packet) = hand.discipline.dequeue(Time(step), &mut Fates::new()) {
                    held[flow_of[packet.token as usize]] -= 1;
                }
                continue;
            }
            // The first flow sends six times what the last does.
            let flow = draw.pick(&[0, 0, 0, 0, 0, 0, 1, 1, 1, 2]);
            flow_of.push(flow);
            held[flow] += 1;
            for fate in hand.offer(Time(step), flow as u32, Marks::NONE, LENGTH) {
                let victim = flow_of[fate.packet.token as usize];
                (0..3).for_each(|flow| expected[flow] += f64::from(held[flow]) / 61.0);
                lost[victim] += 1.0;
                arrivals += f64::from(u32::from(fate.packet.token + 1 == hand.token));
                drops += 1.0;
                held[victim] -= 1;
                assert_eq!(fate.outcome, Outcome::Dropped(Reason::Drawn));
            }
        }
        // Two degrees of freedom: 13.8 is passed once in a thousand times.
        let deviation = |flow: usize| lost[flow] - expected[flow];
        let chi_square: f64 = (0..3).map(|flow| deviation(flow) * deviation(flow) / expected[flow]).sum();
        assert!(drops > 20_000.0 && chi_square < 13.8, "{scheduler}: {chi_square}, {lost:?}, {expected:?}");
        // The arriving packet is one of 61; four standard deviations.
        let (mean, deviation) = (drops / 61.0, (drops / 61.0).sqrt());
        assert!((arrivals - mean).abs() < 4.0 * deviation, "{arrivals} of {drops}");
    }
}

/// RED that knows nothing but the queue that an arrival finds.
fn instant_red() -> red::Settings {
    red::Settings { weight: 1.0, gentle: true, ecn: true, hard_drop: true, ..red::Settings::default() }
}

/// The share of packets that are signalled at a fixed pb: one over the mean of the gaps.
fn share(pb: f64) -> f64 {
    let (mut mean, mut passed, mut count) = (0.0, 1.0, 0.0);
    while passed > 1e-12 {
        mean += passed;
        let rest: f64 = 1.0 - count * pb;
        passed *= 1.0 - if rest > pb { pb / rest } else { 1.0 };
        count += 1.0;
    }
    1.0 / mean
}

fn assert_near(found: u32, of: usize, share: f64, what: &str) {
    // Gaps are more even than chance: four of its standard deviations are plenty.
    let (mean, deviation) = (share * of as f64, (share * (1.0 - share) * of as f64).sqrt());
    assert!((f64::from(found) - mean).abs() < 4.0 * deviation, "{what}: {found} of {of}, expected {mean}");
}

#[test]
fn red_signals_at_the_rate_of_its_law_with_even_gaps() {
    for scheduler in SCHEDULERS {
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Red(instant_red()), Limit::Packets(100)));
        // Halfway: pb = 0.05, gaps from 1 to 20.
        hand.fill(10);
        let (marked, dropped, gaps) = hand.at_fixed_queue(10, 105_000, Marks::CE, LENGTH);
        assert!((share(0.05) - 2.0 / 21.0).abs() < 1e-9 && dropped == 0);
        assert_near(marked, 105_000, 2.0 / 21.0, "marked");
        let of = |gap| gaps[1..].iter().filter(|other| **other == gap).count();
        assert_eq!((of(0), of(21)), (0, 0));
        // 500 of each expected, standard deviation 22.
        assert!((1..=20).all(|gap| (400..600).contains(&of(gap))), "{:?}", (1..=20).map(of).collect::<Vec<_>>());
        // Below min nothing, in the gentle region drops, above twice max all.
        for (held, pb) in [(18, 0.1 + 0.9 * 3.0 / 15.0), (22, 0.1 + 0.9 * 7.0 / 15.0)] {
            hand.fill(held);
            let (marked, dropped, _) = hand.at_fixed_queue(held, 20_000, Marks::CE, LENGTH);
            assert_eq!(marked, 0);
            assert_near(dropped, 20_000, share(pb), "dropped");
        }
        hand.fill(30);
        assert_eq!(hand.at_fixed_queue(30, 500, Marks::CE, LENGTH).1, 500);
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Red(instant_red()), Limit::Packets(100)));
        hand.fill(4);
        assert_eq!(hand.at_fixed_queue(4, 5000, Marks::CE, LENGTH), (0, 0, vec![]));
    }
}

#[test]
fn red_that_spares_the_empty_queue_drops_the_others_above_twice_max() {
    for spare_empty in [false, true] {
        let settings = red::Settings { weight: 0.001, gentle: true, spare_empty, ..red::Settings::default() };
        let mut hand = Hand::new(&queue("fifo", BufferSettings::Red(settings), Limit::Packets(200)));
        hand.fill(100);
        hand.at_fixed_queue(100, 500, Marks::NONE, LENGTH);
        assert!(number(&hand.discipline, "average_queue") > 35.0);
        let leave =
            |hand: &mut Hand| assert!(matches!(hand.discipline.dequeue(hand.now, &mut Fates::new()), Dequeue::Send(_)));
        (0..99).for_each(|_| leave(&mut hand));
        assert_eq!(hand.offer(hand.now, 1, Marks::NONE, LENGTH).len(), 1);
        leave(&mut hand);
        let lost = hand.offer(hand.now, 1, Marks::NONE, LENGTH).len();
        assert_eq!(lost, usize::from(!spare_empty));
    }
}

#[test]
fn red_drops_nothing_by_chance_while_the_buffer_is_full_if_that_resets_its_gaps() {
    for overflow_resets in [false, true] {
        let settings = red::Settings { wait: true, ecn: false, overflow_resets, ..instant_red() };
        let mut hand = Hand::new(&queue("fifo", BufferSettings::Red(settings), Limit::Packets(10)));
        hand.fill(10);
        let lost: Vec<_> = (0..1000).flat_map(|_| hand.offer(hand.now, 1, Marks::NONE, LENGTH)).collect();
        assert_eq!(lost.len(), 1000);
        let early = lost.iter().filter(|fate| fate.outcome == Outcome::Dropped(Reason::Early)).count();
        // At 10 packets pb is 0.05: a gap is from 20 to 40 packets.
        assert!(if overflow_resets { early == 0 } else { (25..=50).contains(&early) }, "{early}");
    }
}

#[test]
fn red_in_byte_mode_signals_in_proportion_to_length() {
    let (min, max) = (Limit::Bytes(5000), Limit::Bytes(15_000));
    let red = red::Settings { min, max, byte_mode: true, ..instant_red() };
    let mut hand = Hand::new(&queue("fifo", BufferSettings::Red(red), Limit::Packets(100)));
    hand.fill(10);
    for (length, pb) in [(500, 0.025), (1000, 0.05), (2000, 0.1)] {
        let (marked, _, _) = hand.at_fixed_queue(10, 50_000, Marks::CE, length);
        assert_near(marked, 50_000, share(pb), "marked");
    }
}

#[test]
fn red_marks_what_accepts_marks_and_drops_above_max() {
    for (scheduler, gentle) in SCHEDULERS.into_iter().flat_map(|scheduler| [(scheduler, false), (scheduler, true)]) {
        let red = red::Settings { gentle, ..instant_red() };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Red(red.clone()), Limit::Packets(100)));
        hand.fill(14);
        let (marked, dropped, _) = hand.at_fixed_queue(14, 1000, Marks::CE, LENGTH);
        assert!(marked > 50 && dropped == 0, "{marked}, {dropped}");
        let (marked, dropped, _) = hand.at_fixed_queue(14, 1000, Marks::DEC, LENGTH);
        assert!(marked == 0 && dropped > 50, "{marked}, {dropped}");
        hand.fill(15);
        let (marked, dropped, _) = hand.at_fixed_queue(15, 1000, Marks::CE, LENGTH);
        assert!(marked == 0 && (if gentle { dropped > 50 } else { dropped == 1000 }), "{marked}, {dropped}");
        let plain = red::Settings { ecn: false, ..red };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Red(plain), Limit::Packets(100)));
        hand.fill(10);
        assert_eq!(hand.at_fixed_queue(10, 1000, Marks::CE, LENGTH).0, 0);
    }
}

/// A WRED whose average is the queue itself, at 36 packets.
fn wred_at_36(settings: wred::Settings) -> Hand {
    let settings = wred::Settings { weight: 1.0, ..settings };
    let mut hand = Hand::new(&queue("fifo", BufferSettings::Wred(settings), Limit::Packets(60)));
    hand.fill(36);
    hand
}

/// A packet with this code point.
fn of_dscp(dscp: u8) -> Packet {
    Packet { tos: dscp << 2, ..Packet::new(0, Time::ZERO, LENGTH) }
}

#[test]
fn wred_loses_higher_drop_precedences_first() {
    let mut hand = wred_at_36(wred::Settings::default());
    // At 36 of 32, 28, 24 and 20 to 40 packets and 1/10: pb is 4/8, 8/12, 12/16 and 16/20 of it. Of
    // gaps that are uniform up to 1/pb the share is 2/(1/pb + 1). AF2x here, and best effort.
    let mut last = 0.0;
    for (dscp, part) in [(18, 4.0 / 8.0), (20, 8.0 / 12.0), (22, 12.0 / 16.0), (0, 16.0 / 20.0)] {
        let (marked, dropped, _) = hand.of_service(36, 40_000, of_dscp(dscp));
        let (share, expected) = (f64::from(dropped) / 40_000.0, 2.0 / (10.0 / part + 1.0));
        assert!(marked == 0 && (share / expected - 1.0).abs() < 0.04, "dscp {dscp}: {share}, not {expected}");
        assert!(share > last, "dscp {dscp}");
        last = share;
    }
    // All four classes are alike (RFC 2597, section 6).
    for dscp in [10, 18, 26, 34] {
        let share = f64::from(hand.of_service(36, 20_000, of_dscp(dscp)).1) / 20_000.0;
        assert!((share / (2.0 / 21.0) - 1.0).abs() < 0.05, "dscp {dscp}: {share}");
    }
}

#[test]
fn wred_with_one_curve_signals_as_often_as_red() {
    let red::Settings { min, max, probability, .. } = red::Settings::default();
    let (min, max) = (Limit::Packets(2 * packets_of(min)), Limit::Packets(3 * packets_of(max)));
    let curves = vec![wred::DropCurve { dscp: Vec::new(), min, max, probability }];
    let mut weighted = wred_at_36(wred::Settings { curves, ..Default::default() });
    let red = red::Settings { min, max, probability, weight: 1.0, ..Default::default() };
    let mut plain = Hand::new(&queue("fifo", BufferSettings::Red(red), Limit::Packets(60)));
    plain.fill(36);
    let [one, other] =
        [&mut weighted, &mut plain].map(|hand| f64::from(hand.of_service(36, 60_000, of_dscp(46)).1) / 60_000.0);
    assert!((one / other - 1.0).abs() < 0.03, "{one} {other}");
}

/// The number of a limit in packets.
fn packets_of(limit: Limit) -> u64 {
    match limit {
        Limit::Packets(packets) => packets,
        _ => panic!("in packets"),
    }
}

#[test]
fn wred_lets_a_packet_without_a_curve_in_and_marks_by_the_curve_of_others() {
    let curve = wred::DropCurve { dscp: vec![10], ..wred::DropCurve::default() };
    let mut hand = wred_at_36(wred::Settings { curves: vec![curve], ecn: true, ..Default::default() });
    assert_eq!(hand.of_service(36, 5000, of_dscp(0)), (0, 0, Vec::new()));
    let (marked, dropped, _) = hand.of_service(36, 5000, Packet { accepts: Marks::CE, ..of_dscp(10) });
    assert!(dropped == 0 && (600..900).contains(&marked), "{marked}");
}

#[test]
fn red_forgets_while_the_line_is_idle() {
    for scheduler in SCHEDULERS {
        let red = red::Settings { weight: 0.1, probability: 0.001, ..red::Settings::default() };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Red(red), Limit::Packets(100)));
        let mut expected = 0.0;
        for found in 0..14 {
            expected += 0.1 * (f64::from(found) - expected);
            hand.offer(Time::ZERO, found, Marks::CE, LENGTH);
        }
        while hand.discipline.dequeue(Time::from_s(1), &mut Fates::new()) != Dequeue::Empty {}
        assert!((number(&hand.discipline, "average_queue") - expected).abs() < 1e-9);
        // At 10 Mbit/s 10 ms are 12.5 packets; then the rate is halved, and 10 ms are 6.25.
        hand.offer(Time::from_ms(1010), 0, Marks::CE, LENGTH);
        expected *= libm::pow(0.9, 12.5);
        assert!((number(&hand.discipline, "average_queue") - expected).abs() < 1e-9);
        let half = Change::Rate(Rate::new(RATE / 2).expect("a rate"));
        hand.discipline.change(Time::from_ms(1010), &half).expect("it follows the rate");
        while hand.discipline.dequeue(Time::from_ms(1020), &mut Fates::new()) != Dequeue::Empty {}
        hand.offer(Time::from_ms(1030), 0, Marks::CE, LENGTH);
        expected *= libm::pow(0.9, 6.25);
        assert!((number(&hand.discipline, "average_queue") - expected).abs() < 1e-9);
    }
}

/// A flow that sends packets at a rate, and slows down if it is adaptive.
struct Source {
    is_adaptive: bool,
    accepts: Marks,
    /// Packets a second.
    rate: f64,
    next: f64,
    /// Packets whose end is not known, and when that was looked up.
    tokens: Vec<u64>,
    looked: f64,
}

const ROUND_TRIP: f64 = 0.1;

impl Source {
    fn new(is_adaptive: bool, rate: f64) -> Self {
        Self { is_adaptive, accepts: Marks::NONE, rate, next: 0.0, tokens: Vec::new(), looked: 0.0 }
    }

    fn adapt<D: Discipline>(&mut self, driver: &Driver<D>) {
        let journey = |token: &u64| &driver.journeys[*token as usize];
        let is_told = |token: &u64| {
            matches!(journey(token).end, End::Dropped(..))
                || (journey(token).departure().is_some() && journey(token).marks != Marks::NONE)
        };
        let is_slower = self.tokens.iter().any(is_told);
        self.tokens.retain(|token| journey(token).end == End::Inside);
        let grown = if is_slower { self.rate / 2.0 } else { self.rate + 1.0 / ROUND_TRIP };
        self.rate = grown.max(1.0 / ROUND_TRIP);
    }
}

/// Lets sources send for `seconds`; `watch` is shown the line after each arrival.
fn run<D: Discipline>(
    driver: &mut Driver<D>,
    sources: &mut [Source],
    seconds: f64,
    mut watch: impl FnMut(f64, &Driver<D>),
) {
    let mut draw = Draw::new(9);
    loop {
        let first = (0..sources.len()).min_by(|a, b| sources[*a].next.total_cmp(&sources[*b].next));
        let flow = first.expect("there are sources");
        let source = &mut sources[flow];
        let now = source.next;
        if now >= seconds {
            return;
        }
        let token = driver.journeys.len() as u64;
        let packet =
            Packet { accepts: source.accepts, ..Packet::new(token, Time((now * PS_PER_S as f64) as u64), LENGTH) };
        driver.offer_packet(flow as u32, packet);
        if source.is_adaptive {
            source.tokens.push(token);
            if now - source.looked >= ROUND_TRIP {
                source.adapt(driver);
                source.looked = now;
            }
        }
        source.next += (0.5 + draw.below(1 << 20) as f64 / f64::from(1 << 20)) / source.rate;
        watch(now, driver);
    }
}

/// Packets of each flow that arrived between two times, and of those, packets that were not
/// dropped.
fn counts<D>(driver: &Driver<D>, flows: usize, from: u64, to: u64) -> Vec<(f64, f64)> {
    let mut counts = vec![(0.0, 0.0); flows];
    for journey in &driver.journeys {
        let arrival = journey.arrival;
        if (Time::from_s(from)..Time::from_s(to)).contains(&arrival.time) {
            let (offered, kept) = &mut counts[arrival.flow as usize];
            *offered += 1.0;
            *kept += if matches!(journey.end, End::Dropped(..)) { 0.0 } else { 1.0 };
        }
    }
    counts
}

fn driver(queue: &Queue) -> Driver<Checked> {
    Driver::new(checked(queue), line().rate)
}

/// The mean over time of RED's average queue with `flows` adaptive flows.
fn mean_average(scheduler: &str, buffer: BufferSettings, flows: usize) -> f64 {
    let mut driver = driver(&queue(scheduler, buffer, Limit::Packets(400)));
    let mut sources: Vec<Source> = (0..flows).map(|_| Source::new(true, 10.0)).collect();
    let (mut sum, mut before) = (0.0, 40.0);
    run(&mut driver, &mut sources, 100.0, |now, driver| {
        if now > before {
            sum += number(driver.discipline(), "average_queue") * (now - before);
            before = now;
        }
    });
    sum / 60.0
}

#[test]
fn adaptive_red_holds_the_average_in_its_band() {
    // 50 ms at 1250 packets a second: from 31 to 93 packets, the target from 55.8 to 68.2.
    let adaptive = adaptive_red::Settings { target_delay: Time::from_ms(50), ..Default::default() };
    for scheduler in SCHEDULERS {
        for flows in [15, 30] {
            let mean = mean_average(scheduler, BufferSettings::AdaptiveRed(adaptive.clone()), flows);
            assert!((55.8..68.2).contains(&mean), "{scheduler}, {flows} flows: {mean}");
        }
    }
    // Plain RED's average goes with the load, further than the band is wide.
    let (min, max) = (Limit::Packets(31), Limit::Packets(93));
    let plain = red::Settings { min, max, weight: 0.0008, ..Default::default() };
    let [few, many] = [15, 30].map(|flows| mean_average("fifo", BufferSettings::Red(plain.clone()), flows));
    assert!(few < 55.8 && many - few > 68.2 - 55.8, "{few}, {many}");
}

#[test]
fn adaptive_red_catches_up_with_periods_that_were_missed() {
    let quick = adaptive_red::Settings { weight: Some(1.0), ..Default::default() };
    let queue = queue("fifo", BufferSettings::AdaptiveRed(quick), Limit::Packets(100));
    let [mut each, mut once] = [Hand::new(&queue), Hand::new(&queue)];
    for hand in [&mut each, &mut once] {
        hand.fill(14);
    }
    for half in 1..=9 {
        each.discipline.update(Time::from_ms(500 * half));
    }
    once.discipline.update(Time::from_ms(4700));
    let found = number(&each.discipline, "max_probability");
    assert!(found > 0.04 && found == number(&once.discipline, "max_probability"), "{found}");
    assert_eq!(once.discipline.next_update(), Some(Time::from_s(5)));
    assert_eq!(each.discipline.next_update(), Some(Time::from_s(5)));
    // Nothing arrives for a year's worth of periods: the least probability, in bounded time.
    while once.discipline.dequeue(Time::from_s(6), &mut Fates::new()) != Dequeue::Empty {}
    once.discipline.update(Time::from_s(10_000_000));
    assert_eq!(number(&once.discipline, "max_probability"), 0.01);
}

#[test]
fn fred_spares_small_flows_and_caps_large_ones() {
    for (scheduler, flow_min) in SCHEDULERS.into_iter().flat_map(|scheduler| [(scheduler, 2), (scheduler, 4)]) {
        let (min, max) = (Limit::Packets(6), Limit::Packets(18));
        let fred = fred::Settings { min, max, flow_min, probability: 0.5, weight: 0.02, ..Default::default() };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Fred(fred), Limit::Packets(100)));
        let (mut draw, mut flow_of, mut held) = (Draw::new(7), Vec::new(), [0u32; 12]);
        let (mut drawn, mut capped, mut high) = (0, 0, 0);
        for step in 0..60_000 {
            let now = Time(step * 1_000_000);
            if draw.once_in(3) {
                if let Dequeue::Send(packet) = hand.discipline.dequeue(now, &mut Fates::new()) {
                    held[flow_of[packet.token as usize]] -= 1;
                }
                continue;
            }
            // More flows in some periods, so that the average goes above max and below min.
            let flows = if step / 1000 % 3 == 0 { 12 } else { 3 };
            let flow = draw.below(flows).min(draw.below(flows)) as usize;
            flow_of.push(flow);
            let average = number(&hand.discipline, "average_queue");
            match hand.offer(now, flow as u32, Marks::CE, LENGTH).first().map(|fate| fate.outcome) {
                None => held[flow] += 1,
                Some(Outcome::Dropped(Reason::Early)) if average < 18.0 => {
                    assert!(held[flow] >= flow_min && average >= 6.0, "{} held, average {average}", held[flow]);
                    drawn += 1;
                }
                Some(Outcome::Dropped(Reason::Early)) => high += 1,
                Some(Outcome::Dropped(Reason::OverShare)) => capped += 1,
                Some(outcome) => panic!("{outcome:?}"),
            }
            assert!(held.iter().all(|packets| *packets <= 6), "{held:?}");
        }
        assert!(drawn > 100 && capped > 100 && high > 100, "{drawn}, {capped}, {high}");
        let active = held.iter().filter(|packets| **packets > 0).count() as f64;
        assert_eq!(number(&hand.discipline, "active_flows"), active);
    }
}

#[test]
fn fred_protects_a_fragile_flow() {
    let kept = |buffer: BufferSettings| {
        let mut driver = driver(&queue("fifo", buffer, Limit::Packets(40)));
        // Two floods of twice the line each, and a tenth of its share.
        run(&mut driver, &mut [2500.0, 2500.0, 40.0].map(|rate| Source::new(false, rate)), 20.0, |_, _| ());
        let counts = counts(&driver, 3, 0, 20);
        counts[2].1 / counts[2].0
    };
    assert_eq!(kept(BufferSettings::Fred(fred::Settings::default())), 1.0);
    let tail = kept(BufferSettings::by_name("tail_drop").expect("tail_drop"));
    assert!(tail < 0.5, "{tail}");
}

#[test]
fn choke_bounds_the_share_of_a_flood() {
    let flood_share = |buffer: BufferSettings, flood: f64| {
        let mut driver = driver(&queue("fifo", buffer, Limit::Packets(300)));
        let mut sources: Vec<Source> = (0..50).map(|_| Source::new(true, 10.0)).collect();
        sources.push(Source::new(false, flood));
        run(&mut driver, &mut sources, 60.0, |_, _| ());
        let counts = counts(&driver, 51, 20, 60);
        counts[50].1 / counts.iter().map(|(_, kept)| kept).sum::<f64>()
    };
    let (min, max) = (Limit::Packets(50), Limit::Packets(200));
    let choke = || BufferSettings::Choke(choke::Settings { min, max, ..Default::default() });
    let shares = [0.3, 1.0, 3.0].map(|times| flood_share(choke(), times * 1250.0));
    // 1/(e + 1) for ever more adaptive flows.
    assert!(shares.iter().all(|share| *share < 0.269), "{shares:?}");
    assert!(shares[2] < shares[1], "more is less: {shares:?}");
    let red = red::Settings { min, max, gentle: false, ..Default::default() };
    let share = flood_share(BufferSettings::Red(red), 1250.0);
    assert!(share > 0.5, "{share}");
}

#[test]
fn choke_drops_both_packets_of_a_match() {
    for scheduler in SCHEDULERS {
        let (min, max) = (Limit::Packets(3), Limit::Packets(100_000));
        let choke = choke::Settings { min, max, weight: 1.0, probability: 1e-9, ..Default::default() };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Choke(choke), Limit::Packets(10_000)));
        let mut held = Vec::new();
        let mut matched = 0;
        for step in 0..4000u64 {
            let flow = (step % 7) as u32;
            let found = held.iter().filter(|(_, of)| *of == flow).count();
            let token = hand.token;
            let fates = hand.offer(Time(step), flow, Marks::NONE, LENGTH);
            match fates[..] {
                [] => held.push((token, flow)),
                [arrived, drawn] => {
                    assert!(arrived.packet.token == token && held.len() >= 3 && found > 0);
                    let place = held.iter().position(|held| *held == (drawn.packet.token, flow));
                    held.remove(place.expect("the packet that was picked waited and is of the same flow"));
                    matched += 1;
                }
                _ => panic!("{fates:?}"),
            }
        }
        // A match is one of seven; of as many packets again it takes one.
        assert!((450..700).contains(&matched), "{matched}");
    }
}

#[test]
fn blue_rises_on_overflow_once_in_a_freeze_time_and_falls_while_idle() {
    for scheduler in SCHEDULERS {
        let freeze = Time::from_ms(100);
        let blue = blue::Settings { increment: 0.25, decrement: 0.0625, freeze, threshold: None, ecn: true };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Blue(blue), Limit::Packets(5)));
        let mut probabilities = Vec::new();
        for ms in 0..30 {
            hand.offer(Time::from_ms(10 * ms), ms as u32 % 3, Marks::CE, LENGTH);
            probabilities.push(number(&hand.discipline, "probability"));
        }
        // The sixth packet does not fit; then nothing for ten, and again.
        let steps: Vec<f64> = (0..30).map(|at| f64::from((at + 5) / 10) * 0.25).collect();
        assert_eq!(probabilities, steps);
        while hand.discipline.dequeue(Time::from_ms(400), &mut Fates::new()) != Dequeue::Empty {}
        assert_eq!(number(&hand.discipline, "probability"), 0.6875, "the line is idle");
        // Idle at 400 ms; again at 500, 600 and 700.
        hand.offer(Time::from_ms(750), 0, Marks::CE, LENGTH);
        assert_eq!(number(&hand.discipline, "probability"), 0.5);
        // One in two is marked, or dropped if it takes no mark.
        hand.now = Time::from_ms(751);
        hand.fill(2);
        let (marked, dropped, _) = hand.at_fixed_queue(2, 10_000, Marks::CE, LENGTH);
        assert_eq!(dropped, 0);
        assert_near(marked, 10_000, 0.5, "marked");
    }
}

#[test]
fn sfb_lets_an_unresponsive_flow_send_at_the_penalty_rate() {
    for scheduler in SCHEDULERS {
        // A bin that holds two packets is at 1 with the next that comes.
        let (bin_size, bin_max, increment) = (2, 1000, 1.0);
        let sfb = sfb::Settings { bin_size, bin_max, increment, ..Default::default() };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Sfb(sfb), Limit::Packets(1000)));
        let mut kept = |flow, s, count| {
            let is_kept = |_: &u32| {
                let fates = hand.offer(Time::from_s(s), flow, Marks::CE, LENGTH);
                assert!(fates.iter().all(|fate| fate.outcome == Outcome::Dropped(Reason::OverShare)), "{fates:?}");
                fates.is_empty()
            };
            (0..count).filter(is_kept).count()
        };
        // Two, then the burst of twenty, then ten in each second.
        assert_eq!(kept(0, 0, 500), 22);
        assert_eq!(kept(0, 1, 500), 10);
        assert_eq!(kept(0, 4, 500), 20);
        // A flow with a bin of its own on one of eight levels is left alone.
        for flow in 1..6 {
            assert_eq!(kept(flow, 4, 2), 2, "flow {flow}");
        }
    }
}

#[test]
fn sfb_finds_the_flood_and_spares_the_others() {
    // Twenty flows that slow down and a flood of ten times the line; without the flood no flow is
    // found unresponsive.
    let found = |scheduler, buffer: BufferSettings, flood: f64| {
        let mut driver = driver(&queue(scheduler, buffer, Limit::Packets(100)));
        let mut sources: Vec<Source> = (0..20).map(|_| Source::new(true, 30.0)).collect();
        sources.push(Source::new(false, flood));
        let mut found = 0;
        run(&mut driver, &mut sources, 40.0, |_, driver| {
            found += u32::from(find(driver.discipline(), "bins_at_one") >= Some(8.0));
        });
        let counts = counts(&driver, 21, 10, 40);
        (found, counts[20].1 / counts.iter().map(|(_, kept)| kept).sum::<f64>())
    };
    let sfb = || BufferSettings::Sfb(sfb::Settings::default());
    for scheduler in SCHEDULERS {
        assert_eq!(found(scheduler, sfb(), 1.0).0, 0);
        let (found, share) = found(scheduler, sfb(), 12_500.0);
        assert!(found > 1000 && share < 3.0 / 21.0, "{scheduler}: found {found} times, share {share}");
    }
    let (_, share) = found("fifo", BufferSettings::by_name("tail_drop").expect("tail_drop"), 12_500.0);
    assert!(share > 0.9, "{share}");
    // Flows that do not fill the line lose nothing to a flood of twice the line, nor when the table
    // changes at 20 s.
    let (rehash, warmup) = (Time::from_s(20), Time::from_s(5));
    for scheduler in SCHEDULERS {
        let sfb = sfb::Settings { rehash, warmup, ..Default::default() };
        let mut driver = driver(&queue(scheduler, BufferSettings::Sfb(sfb), Limit::Packets(100)));
        let mut sources: Vec<Source> = (0..20).map(|_| Source::new(false, 31.0)).collect();
        sources.push(Source::new(false, 2500.0));
        run(&mut driver, &mut sources, 40.0, |_, _| ());
        let counts = counts(&driver, 21, 2, 40);
        let lost = counts[..20].iter().map(|(offered, kept)| 1.0 - kept / offered).fold(0.0, f64::max);
        assert!(lost < 0.02, "{scheduler}: {lost}");
    }
}

#[test]
fn sfb_takes_packets_out_of_the_bins_they_were_counted_in() {
    for (seed, scheduler) in (0..20).zip(SCHEDULERS.into_iter().cycle()) {
        let _replay = Replay(format!("seed {seed}, {scheduler}"));
        let (rehash, warmup) = (Time(1000), Time(400));
        let sfb = sfb::Settings { levels: 3, bins: 4, bin_size: 60, bin_max: 60, rehash, warmup, ..Default::default() };
        let mut hand = Hand::new(&queue(scheduler, BufferSettings::Sfb(sfb), Limit::Packets(100)));
        let mut draw = Draw::new(seed);
        // The times of arrival of what waits, by token.
        let (mut held, mut now) = (Vec::new(), 0);
        for _ in 0..5000 {
            now += draw.below(20);
            if draw.once_in(500) {
                now += draw.below(5000);
            }
            if draw.below(10) < 5 {
                if let Dequeue::Send(packet) = hand.discipline.dequeue(Time(now), &mut Fates::new()) {
                    held.retain(|(token, _)| *token != packet.token);
                }
                continue;
            }
            let token = hand.token;
            let fates = hand.offer(Time(now), draw.below(30) as u32, Marks::NONE, LENGTH);
            held.push((token, now));
            held.retain(|(token, _)| fates.iter().all(|fate| fate.packet.token != *token));
            // A table counts what came in its time, and what came while it was warmed.
            let counted = |table: u64| {
                let since = (table * 1000).saturating_sub(400);
                3.0 * held.iter().filter(|(_, arrival)| *arrival >= since).count() as f64
            };
            assert_eq!(number(&hand.discipline, "counted_packets"), counted(now / 1000), "at {now}");
            assert_eq!(number(&hand.discipline, "next_counted_packets"), counted(now / 1000 + 1), "at {now}");
        }
    }
}

#[test]
fn afd_gives_heavy_flows_one_rate_and_spares_light_ones() {
    for scheduler in SCHEDULERS {
        let afd = afd::Settings { sample_every: Bytes(2000), ..Default::default() };
        let mut driver = driver(&queue(scheduler, BufferSettings::Afd(afd), Limit::Packets(200)));
        // Five light flows take 100 of 1250 packets a second; four heavy ones may have 287 each.
        let rates = [20.0, 20.0, 20.0, 20.0, 20.0, 350.0, 500.0, 700.0, 1000.0];
        let mut sources = rates.map(|rate| Source::new(false, rate));
        let (mut fair, mut watched) = (0.0, 0.0);
        run(&mut driver, &mut sources, 120.0, |now, driver| {
            if now > 20.0 {
                fair += number(driver.discipline(), "fair_count");
                watched += 1.0;
            }
        });
        let counts = counts(&driver, rates.len(), 20, 120);
        for (offered, kept) in &counts[..5] {
            assert!(kept / offered > 0.999, "{scheduler}: {counts:?}");
        }
        let error = 1.0 / (fair / watched).sqrt();
        for (_, kept) in &counts[5..] {
            assert!((kept / 100.0 / 287.5 - 1.0).abs() < error, "{scheduler}: {counts:?}, error {error}");
        }
    }
}

#[test]
fn afd_holds_the_queue_at_any_rate() {
    // Ten floods of an equal rate, together twice the line, at random times; the target is 20
    // packets.
    for (mbit_per_s, length) in [(1, 1000), (10, 1000), (10, 1500), (30, 1000), (50, 500), (100, 1000), (1000, 1500)] {
        let line = Line { seed: 5, ..Line::new(Rate::new(mbit_per_s * 1_000_000).expect("a rate")) };
        let queue = queue("fifo", BufferSettings::Afd(afd::Settings::default()), Limit::Packets(600));
        let mut driver = Driver::new(Checked::new(Rules::of(&queue), || queue.build(&line)), line.rate);
        let (mut draw, mut now, mut token) = (Draw::new(mbit_per_s), Time::ZERO, 0);
        let packet_time = line.rate.time_of_bits(u64::from(length) * 8);
        let (mut queue, mut looks) = (0.0, 0.0);
        let mut arrivals = [0.0; 10];
        for at in 0..60_000 {
            now = now + Time(draw.below(packet_time.0));
            let flow = draw.below(10) as u32;
            driver.offer_packet(flow, Packet::new(token, now, length));
            token += 1;
            if at > 20_000 {
                arrivals[flow as usize] += 1.0;
                queue += driver.discipline().held().packets as f64;
                looks += 1.0;
            }
        }
        let mean = queue / looks;
        assert!((10.0..40.0).contains(&mean), "{mbit_per_s} Mbit/s, {length} B: {mean} packets wait");
        let late = driver.journeys.iter().skip(20_001);
        let tail = late.clone().filter(|j| matches!(j.end, End::Dropped(_, Reason::BufferFull))).count();
        assert!(tail == 0, "{mbit_per_s} Mbit/s: {tail} find no room");
    }
}

#[test]
fn afd_catches_up_with_periods_that_were_missed() {
    let afd = afd::Settings { interval: Some(Time(6_250_000_000)), ..Default::default() };
    let queue = queue("fifo", BufferSettings::Afd(afd), Limit::Packets(400));
    let [mut each, mut once] = [Hand::new(&queue), Hand::new(&queue)];
    let period = 6_250_000_000;
    for hand in [&mut each, &mut once] {
        // A long queue brings the fair count down to its floor; then all is sent.
        hand.fill(300);
        hand.discipline.update(Time(period));
        while hand.discipline.dequeue(Time(period), &mut Fates::new()) != Dequeue::Empty {}
    }
    for at in 2..30 {
        each.discipline.update(Time(at * period));
    }
    once.discipline.update(Time(29 * period + 1));
    let [each, once] = [each, once].map(|hand| (number(&hand.discipline, "fair_count"), hand.discipline.next_update()));
    assert!(
        (each.0 - once.0).abs() < 1e-9 && each.1 == Some(Time(30 * period)) && each.1 == once.1,
        "{each:?} {once:?}"
    );
}

#[test]
fn settings_without_sense_are_refused_in_one_line() {
    use BufferSettings::{AdaptiveRed, Afd, Blue, Choke, Fred, Red, Sfb, Wred};
    let (red, ared) = (red::Settings::default, adaptive_red::Settings::default);
    let (fred, choke) = (fred::Settings::default, choke::Settings::default);
    let (blue, sfb, afd) = (blue::Settings::default, sfb::Settings::default, afd::Settings::default);
    let (five, bytes) = (Limit::Packets(5), Limit::Bytes(9000));
    let (wred, curve) = (wred::Settings::default, wred::DropCurve::default);
    let of_curve = |curve| Wred(wred::Settings { curves: vec![curve], ..wred() });
    let in_bytes = wred::DropCurve { dscp: vec![1], min: Limit::Bytes(1), max: bytes, ..curve() };
    let mut refused = vec![
        (Red(red::Settings { max: five, ..red() }), "min is less than max"),
        (Red(red::Settings { max: bytes, ..red() }), "both in packets or both in bytes"),
        (Red(red::Settings { min: Limit::Unlimited, max: Limit::Unlimited, ..red() }), "both in packets"),
        (Red(red::Settings { mean_packet: Bytes(0), ..red() }), "mean_packet is at least"),
        (AdaptiveRed(adaptive_red::Settings { max: Some(five), ..ared() }), "give both"),
        (AdaptiveRed(adaptive_red::Settings { min: Some(five), max: Some(five), ..ared() }), "less than max"),
        (AdaptiveRed(adaptive_red::Settings { interval: Time(1), ..ared() }), "at least 1 ms"),
        (AdaptiveRed(adaptive_red::Settings { probability_min: 0.6, ..ared() }), "probability_min <="),
        (AdaptiveRed(adaptive_red::Settings { decrease: 1.0, ..ared() }), "0.5 to 0.99"),
        (AdaptiveRed(adaptive_red::Settings { mean_packet: Bytes(0), ..ared() }), "mean_packet is at least"),
        (Fred(fred::Settings { min: Limit::Packets(15), ..fred() }), "min is less than max"),
        (Fred(fred::Settings { min: Limit::Bytes(1), max: bytes, ..fred() }), "in packets"),
        (Fred(fred::Settings { flow_min: 0, ..fred() }), "flow_min is at least 1"),
        (Choke(choke::Settings { max: five, ..choke() }), "choke: min is 5 packets"),
        (Wred(wred::Settings { curves: Vec::new(), ..wred() }), "wred: curves has 0; write 1 to 64"),
        (of_curve(wred::DropCurve { dscp: vec![64], ..curve() }), "wred: curves[0]: dscp 64; write 0 to 63"),
        (of_curve(wred::DropCurve { dscp: vec![3, 3], ..curve() }), "curves[0]: dscp 3 is named twice; leave one out"),
        (of_curve(wred::DropCurve { max: five, ..curve() }), "wred: curves[0]: min is 20 packets"),
        (Wred(wred::Settings { curves: vec![curve(), curve()], ..wred() }), "wred: 2 curves name no dscp"),
        (Wred(wred::Settings { curves: vec![curve(), in_bytes], ..wred() }), "curves[1]: all curves are in packets or"),
        (Blue(blue::Settings { freeze: Time::ZERO, ..blue() }), "freeze is 0 s"),
        (Blue(blue::Settings { decrement: 0.5, ..blue() }), "much less"),
        (Sfb(sfb::Settings { levels: 0, ..sfb() }), "from 1 to 16"),
        (Sfb(sfb::Settings { bins: 1 << 18, ..sfb() }), "at most 1048576"),
        (Sfb(sfb::Settings { bins: u32::MAX, ..sfb() }), "at most 1048576"),
        (Sfb(sfb::Settings { bin_size: 30, ..sfb() }), "bin_size <= bin_max"),
        (Sfb(sfb::Settings { rehash: Time::ZERO, ..sfb() }), "warmup is less"),
        (Sfb(sfb::Settings { penalty_rate: 0, ..sfb() }), "at least 1"),
        (Afd(afd::Settings { mean_packet: Bytes(0), ..afd() }), "mean_packet is at least"),
        (Afd(afd::Settings { interval: Some(Time(1)), ..afd() }), "at least 1 us"),
        (Afd(afd::Settings { sample: 1 << 21, ..afd() }), "2 to 1048576"),
        (Afd(afd::Settings { gain_now: 1.0, ..afd() }), "gain_before < gain_now"),
        (Afd(afd::Settings { target: 0, ..afd() }), "at least 1 packet"),
    ];
    for share in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        refused.push((Red(red::Settings { probability: share, ..red() }), "probability is"));
        refused.push((Red(red::Settings { weight: share, ..red() }), "weight is"));
        refused.push((AdaptiveRed(adaptive_red::Settings { weight: Some(share), ..ared() }), "weight is"));
        refused.push((AdaptiveRed(adaptive_red::Settings { probability_max: share, ..ared() }), "<= 1"));
        refused.push((Fred(fred::Settings { weight: share, ..fred() }), "weight is"));
        refused.push((Choke(choke::Settings { probability: share, ..choke() }), "probability is"));
        refused.push((Blue(blue::Settings { increment: share, ..blue() }), "at most 1"));
        refused.push((Sfb(sfb::Settings { decrement: share, ..sfb() }), "at most 1"));
    }
    for (buffer, words) in refused {
        let fault = queue("fifo", buffer.clone(), Limit::Packets(50)).fault().unwrap_or_else(|| panic!("{buffer:?}"));
        assert!(fault.contains(words) && !fault.contains('\n'), "{fault}: no {words}");
    }
    let unlimited = queue("fifo", Blue(blue()), Limit::Unlimited).fault();
    assert!(unlimited.is_some_and(|fault| fault.contains("nothing overflows")));
}
