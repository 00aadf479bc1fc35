//! Buffers that queues, hosts or whole lines share: fuzzball and dynamic thresholds, of one line
//! and of several.
//!
//! [`Gateway`] is the slow and obvious driver: some lines, one pool, and the loop that the pool's
//! page describes. After every step it compares the pool's books with what waits at its lines.

use fairq_sched::contract::{Dequeue, Discipline, Handle, Held, Line};
use fairq_sched::packet::{Fates, Outcome, Packet, Reason};
use fairq_sched::pool::{Answer, Pool, Record, Ticket, precedence};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::header;
use std::collections::BTreeMap;

fn policy(name: &str) -> BufferSettings {
    BufferSettings::by_name(name).expect("a policy of the registry")
}

fn queue(scheduler: &str, limit: Option<Limit>) -> Queue {
    Queue::new(SchedulerSettings::by_name(scheduler).expect("a scheduler of the registry"), limit)
}

fn line(seed: u64) -> Line {
    Line { seed, ..Line::new(Rate::new(1_000_000).expect("a rate of the test")) }
}

fn pool(buffer: &BufferSettings, size: Limit) -> Pool {
    Pool::new(size, buffer.part().sharing().expect("a policy that can be shared"))
}

/// Lines that share a pool. Packets' tokens are their numbers in order of arrival.
struct Gateway {
    lines: Vec<Box<dyn Discipline>>,
    pool: Pool,
    now: Time,
    /// By token: what the pool knows of it.
    records: Vec<Record>,
    /// Of those that wait, in order of arrival.
    waiting: BTreeMap<u64, Ticket>,
    sending: Vec<Option<u64>>,
    lost: Vec<(u64, Reason)>,
    sent: u64,
}

impl Gateway {
    fn new(lines: Vec<Box<dyn Discipline>>, pool: Pool) -> Self {
        let sending = vec![None; lines.len()];
        let now = Time::ZERO;
        Self { lines, pool, now, records: Vec::new(), waiting: BTreeMap::new(), sending, lost: Vec::new(), sent: 0 }
    }

    fn of_fifos(lines: usize, buffer: &BufferSettings, size: Limit) -> Self {
        let fifo = |seed| queue("fifo", None).build(&line(seed as u64));
        Self::new((0..lines).map(fifo).collect(), pool(buffer, size))
    }

    /// A packet of `host` for `line` arrives.
    fn offer(&mut self, line: u32, host: u32, length: u32, tos: u8) {
        self.now = Time(self.now.0 + 1);
        let token = self.records.len() as u64;
        let record = Record { line, host, length, precedence: precedence(tos) };
        self.records.push(record);
        loop {
            match self.pool.ask(&record) {
                Answer::Join => break,
                Answer::Refuse(reason) => {
                    self.lost.push((token, reason));
                    return self.check();
                }
                Answer::Evict { line, handle } => self.evict(line, handle),
            }
        }
        let packet = Packet { tos, ..Packet::new(token, self.now, length) };
        let mut fates = Fates::new();
        let handle = self.lines[line as usize].enqueue(self.now, packet, &header(host), &mut fates);
        if let Some(handle) = handle {
            self.waiting.insert(token, self.pool.joined(record, handle));
        }
        self.note(&fates);
        self.check();
    }

    fn evict(&mut self, line: u32, handle: Handle) {
        let packet = self.lines[line as usize].remove(self.now, handle).expect("the pool names a packet that waits");
        assert!(!self.sending.contains(&Some(packet.token)), "a packet that is being sent was evicted");
        assert!(self.waiting.remove(&packet.token).is_some());
        self.lost.push((packet.token, Reason::Preempted));
    }

    /// The transmission on `line` ends; the next begins.
    fn ask(&mut self, line: usize) {
        self.now = Time(self.now.0 + 1);
        self.sent += u64::from(self.sending[line].take().is_some());
        let mut fates = Fates::new();
        if let Dequeue::Send(packet) = self.lines[line].dequeue(self.now, &mut fates) {
            let ticket = self.waiting.remove(&packet.token).expect("what is sent has waited");
            self.pool.left(ticket);
            self.sending[line] = Some(packet.token);
        }
        self.note(&fates);
        self.check();
    }

    /// A line has dropped something by itself.
    fn note(&mut self, fates: &Fates) {
        for fate in fates {
            if let Outcome::Dropped(reason) = fate.outcome {
                if let Some(ticket) = self.waiting.remove(&fate.packet.token) {
                    self.pool.left(ticket);
                }
                self.lost.push((fate.packet.token, reason));
            }
        }
    }

    fn check(&self) {
        let held = self.lines.iter().map(|line| line.held());
        let all = held.fold(Held::default(), |all, held| Held {
            packets: all.packets + held.packets,
            bytes: all.bytes + held.bytes,
        });
        assert_eq!(self.pool.held(), all, "the pool's books and its lines");
        assert_eq!(all.packets, self.waiting.len() as u64);
        assert!(!self.pool.is_over_limit(), "{all:?} wait");
        let sending = self.sending.iter().flatten().count() as u64;
        let accounted = self.sent + sending + all.packets + self.lost.len() as u64;
        assert_eq!(self.records.len() as u64, accounted, "arrived = sent + dropped + waiting");
    }

    /// The bytes that wait, by host.
    fn bytes_of(&self, host: u32) -> u64 {
        let records = self.waiting.keys().map(|token| &self.records[*token as usize]);
        records.filter(|record| record.host == host).map(|record| u64::from(record.length)).sum()
    }

    fn bytes_on(&self, line: u32) -> u64 {
        let records = self.waiting.keys().map(|token| &self.records[*token as usize]);
        records.filter(|record| record.line == line).map(|record| u64::from(record.length)).sum()
    }
}

/// Random steps of every kind; `after` is called with the losses of each step.
fn drawn(gateway: &mut Gateway, draw: &mut Draw, steps: u64, mut after: impl FnMut(&Gateway, &[(u64, Reason)])) {
    let lines = gateway.lines.len() as u64;
    let busy = draw.pick(&[2, 3, 5]);
    for _ in 0..steps {
        let before = gateway.lost.len();
        if draw.below(busy) > 0 {
            // Some hosts send most, with few of the precedences.
            let most = 1 + draw.below(6);
            let host = draw.below(most) as u32;
            let tos = draw.pick(&[0, 0, 0, 0x20, 0xe0, 0x1f]);
            gateway.offer(draw.below(lines) as u32, host, draw.pick(&[1, 40, 577, 1500, 4001]), tos);
        } else {
            gateway.ask(draw.below(lines) as usize);
        }
        after(gateway, &gateway.lost[before..]);
    }
}

#[test]
fn pools_conserve_packets_whatever_their_lines_are() {
    let schedulers = ["fifo", "fq", "round_robin", "virtual_clock"];
    for seed in 0..200 {
        let mut draw = Draw::new(seed);
        let buffer = policy(draw.pick(&["fuzzball", "dynamic_threshold"]));
        let size = draw.pick(&[Limit::Packets(1), Limit::Packets(12), Limit::Bytes(4000), Limit::Bytes(20_000)]);
        let _replay = Replay(format!("seed {seed}, {buffer:?}, {size}"));
        // Some lines have a limit of their own beside the pool's.
        let lines = (0..1 + draw.below(4)).map(|seed| {
            let limit = draw.pick(&[None, None, Some(Limit::Packets(3)), Some(Limit::Bytes(2000))]);
            queue(draw.pick(&schedulers), limit).build(&line(seed))
        });
        let mut gateway = Gateway::new(lines.collect(), pool(&buffer, size));
        drawn(&mut gateway, &mut draw, 2000, |_, _| ());
        assert!(gateway.sent > 10);
        // In the end everything leaves.
        for line in 0..gateway.lines.len() {
            (0..2000).for_each(|_| gateway.ask(line));
        }
        assert_eq!(gateway.pool.held(), Held::default());
    }
}

#[test]
fn fuzzball_does_what_the_obvious_rule_says() {
    // The rule again, by looking at everything that waits.
    for seed in 0..200 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let size = draw.pick(&[Limit::Packets(5), Limit::Bytes(5000)]);
        let mut gateway = Gateway::of_fifos(3, &policy("fuzzball"), size);
        let mut model: Vec<(u64, Record)> = Vec::new();
        let mut seen = 0;
        drawn(&mut gateway, &mut draw, 1000, |gateway, lost| {
            let mut expected = Vec::new();
            if gateway.records.len() > seen {
                seen += 1;
                let arrived = seen as u64 - 1;
                model.push((arrived, gateway.records[arrived as usize]));
                let bytes = |model: &[(u64, Record)], host| -> u64 {
                    model.iter().filter(|(_, r)| r.host == host).map(|(_, r)| u64::from(r.length)).sum()
                };
                let over = |model: &[(u64, Record)]| {
                    let all = model.iter().map(|(_, r)| u64::from(r.length)).sum();
                    size.is_exceeded_by(model.len() as u64, all)
                };
                while over(&model) && model.iter().any(|(token, _)| *token == arrived) {
                    let (_, arriving) = model[model.len() - 1];
                    let too_long = matches!(size, Limit::Bytes(size) if u64::from(arriving.length) > size);
                    let lowest = model.iter().map(|(_, r)| r.precedence).min().expect("something waits");
                    let hosts = model.iter().filter(|(_, r)| r.precedence == lowest).map(|(_, r)| r.host);
                    // The most bytes; of equals the arriving packet's host, else the lowest number.
                    let rank = |host: &u32| (bytes(&model, *host), *host == arriving.host, u32::MAX - host);
                    let loser = hosts.max_by_key(rank).expect("a host has it");
                    let is_it = |(_, r): &(u64, Record)| r.host == loser && r.precedence == lowest;
                    let at =
                        if too_long { model.len() - 1 } else { model.iter().rposition(is_it).expect("it is held") };
                    let (token, _) = model.remove(at);
                    expected.push((token, if too_long { Reason::TooLong } else { Reason::Preempted }));
                }
            } else {
                model.retain(|(token, _)| gateway.waiting.contains_key(token));
            }
            assert_eq!(lost, expected);
        });
        assert!(gateway.lost.len() > 50);
    }
}

#[test]
fn fuzzball_loses_at_the_host_that_holds_most_over_all_lines() {
    // Host 0 has three packets at each of three lines, host 1 five at one: at no line host 0 has
    // most, in all it has.
    let mut gateway = Gateway::of_fifos(3, &policy("fuzzball"), Limit::Bytes(14_000));
    for line in 0..3 {
        (0..3).for_each(|_| gateway.offer(line, 0, 1000, 0));
    }
    (0..5).for_each(|_| gateway.offer(0, 1, 1000, 0));
    assert!(gateway.lost.is_empty());
    gateway.offer(0, 2, 1000, 0);
    gateway.offer(0, 2, 1000, 0);
    // Its latest two: at the last line, though the space is wanted at the first.
    assert_eq!(gateway.lost, [(8, Reason::Preempted), (7, Reason::Preempted)]);
    assert_eq!([0, 1, 2].map(|host| gateway.bytes_of(host)), [7000, 5000, 2000]);
}

#[test]
fn fuzzball_spares_a_host_within_its_share() {
    // Of six hosts each that holds a sixth, the arriving packet counted, loses nothing; all of one
    // precedence.
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut gateway = Gateway::of_fifos(3, &policy("fuzzball"), Limit::Bytes(30_000));
        for _ in 0..2000 {
            let lost = gateway.lost.len();
            if draw.below(4) == 0 {
                gateway.ask(draw.below(3) as usize);
                continue;
            }
            // Host 5 sends little; the others as it comes.
            let host = draw.pick(&[0, 0, 0, 1, 2, 3, 4, 5]);
            let length = draw.pick(&[40, 577, 1500]);
            let held: Vec<u64> =
                (0..6).map(|h| gateway.bytes_of(h) + if h == host { u64::from(length) } else { 0 }).collect();
            gateway.offer(draw.below(3) as u32, host, length, 0);
            for (token, _) in &gateway.lost[lost..] {
                let host = gateway.records[*token as usize].host;
                assert!(held[host as usize] > 5000, "host {host} loses with {} bytes", held[host as usize]);
            }
        }
        assert!(gateway.lost.len() > 100);
    }
}

#[test]
fn fuzzball_loses_the_lowest_precedence_first() {
    let mut high = 0;
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut gateway = Gateway::of_fifos(2, &policy("fuzzball"), Limit::Packets(20));
        drawn(&mut gateway, &mut draw, 3000, |gateway, lost| {
            for (token, _) in lost {
                let lost = gateway.records[*token as usize].precedence;
                let waiting = gateway.waiting.keys().map(|token| gateway.records[*token as usize].precedence);
                assert!(waiting.min().is_none_or(|least| least >= lost));
            }
        });
        high += gateway.lost.iter().filter(|(token, _)| gateway.records[*token as usize].precedence > 0).count();
    }
    assert!(high > 100, "precedence was of use: {high} lost that had some");
}

#[test]
fn fuzzball_of_one_line_and_a_pool_of_one_line_are_the_same() {
    let mut lost = 0;
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let size = draw.pick(&[Limit::Packets(7), Limit::Bytes(6000)]);
        let mut gateway = Gateway::of_fifos(1, &policy("fuzzball"), size);
        let alone = Queue { buffer: Some(policy("fuzzball")), ..queue("fifo", Some(size)) };
        let mut alone = alone.build(&line(1));
        // Hosts have the same order in both: that of their first packets.
        for host in 0..6 {
            alone.enqueue(Time::ZERO, Packet::new(0, Time::ZERO, 1), &header(host), &mut Fates::new());
            alone.dequeue(Time::ZERO, &mut Fates::new());
        }
        assert_eq!(alone.dequeue(Time::ZERO, &mut Fates::new()), Dequeue::Empty);
        let mut seen = 0;
        drawn(&mut gateway, &mut draw, 1500, |gateway, pooled| {
            let mut fates = Fates::new();
            if gateway.records.len() > seen {
                let Record { host, length, precedence, .. } = gateway.records[seen];
                let packet = Packet { tos: precedence << 5, ..Packet::new(seen as u64, gateway.now, length) };
                alone.enqueue(gateway.now, packet, &header(host), &mut fates);
                seen += 1;
            } else {
                let sends = match alone.dequeue(gateway.now, &mut fates) {
                    Dequeue::Send(packet) => Some(packet.token),
                    _ => None,
                };
                assert_eq!(sends, gateway.sending[0]);
            }
            let now: Vec<_> = fates.iter().map(|fate| (fate.packet.token, fate.outcome)).collect();
            // What is evicted before the arrival and with it is the same set.
            let mut pooled: Vec<_> = pooled.iter().map(|(token, reason)| (*token, Outcome::Dropped(*reason))).collect();
            pooled.sort_by_key(|(token, _)| *token);
            let mut sorted = now.clone();
            sorted.sort_by_key(|(token, _)| *token);
            assert_eq!(sorted, pooled);
            lost += now.len();
            assert_eq!(alone.held(), gateway.lines[0].held());
        });
    }
    assert!(lost > 10_000, "{lost} lost");
}

#[test]
fn dynamic_thresholds_settle_where_the_source_says() {
    // M queues that always have more to take, in turns; the buffer in packets of one byte.
    const SIZE: u64 = 12_000;
    for alpha in [0.25, 0.5, 1.0, 2.0, 8.0] {
        for count in [1u32, 2, 3, 7] {
            let _replay = Replay(format!("alpha {alpha}, {count} queues"));
            let buffer = BufferSettings::DynamicThreshold(fairq_sched::buffer::dynamic_threshold::Settings { alpha });
            let mut gateway = Gateway::of_fifos(count as usize, &buffer, Limit::Bytes(SIZE));
            let mut lost = 0;
            // Until no queue accepts a packet.
            while lost < u64::from(count) {
                lost = 0;
                for line in 0..count {
                    let before = gateway.lost.len();
                    gateway.offer(line, 0, 10, 0);
                    lost += (gateway.lost.len() - before) as u64;
                }
            }
            let expected = alpha * SIZE as f64 / (1.0 + alpha * f64::from(count));
            for line in 0..count {
                // The last packet may pass the threshold by its length, and the others' too.
                let far = (gateway.bytes_on(line) as f64 - expected).abs();
                assert!(far <= 10.0 * (1.0 + alpha), "queue {line}: {} bytes, {expected}", gateway.bytes_on(line));
            }
            let reserve = (SIZE - gateway.pool.held().bytes) as f64;
            let expected = SIZE as f64 / (1.0 + alpha * f64::from(count));
            assert!((reserve - expected).abs() <= 10.0 * f64::from(count) * (1.0 + alpha), "{reserve}, {expected}");
            assert!(gateway.lost.iter().all(|(_, reason)| *reason == Reason::OverShare));
        }
    }
}

#[test]
fn dynamic_thresholds_of_one_line_hold_for_the_queues_of_its_scheduler() {
    // Two flows of a fair queue under a limit of 30 packets: 10 each, and 10 stay free.
    let dynamic = Queue { buffer: Some(policy("dynamic_threshold")), ..queue("fq", Some(Limit::Packets(30))) };
    let mut discipline = dynamic.build(&line(1));
    let mut fates = Fates::new();
    for token in 0..100 {
        discipline.enqueue(Time(token), Packet::new(token, Time(token), 500), &header(token as u32 % 2), &mut fates);
    }
    assert_eq!(discipline.held().packets, 20);
    // A third comes: it may grow up to the level of the others, which are blocked and not cut.
    for token in 100..200 {
        discipline.enqueue(Time(token), Packet::new(token, Time(token), 500), &header(2), &mut fates);
    }
    assert_eq!(discipline.held().packets, 25);
    assert!(fates.iter().all(|fate| fate.outcome == Outcome::Dropped(Reason::OverShare)));
}

#[test]
fn a_packet_that_is_being_sent_is_never_evicted() {
    let mut gateway = Gateway::of_fifos(2, &policy("fuzzball"), Limit::Packets(2));
    gateway.offer(0, 0, 1500, 0);
    gateway.ask(0);
    // Host 0 has the line, and the most bytes; the pool holds other packets, and has no hold on
    // that one.
    (0..3).for_each(|_| gateway.offer(1, 1, 100, 0));
    (0..3).for_each(|_| gateway.offer(0, 2, 100, 0xe0));
    assert_eq!(gateway.sending[0], Some(0));
    gateway.ask(0);
    assert_eq!(gateway.sent, 1);
}

#[test]
fn fuzzball_takes_sources_for_hosts_unless_told_otherwise() {
    let fuzzball = Queue { buffer: Some(policy("fuzzball")), ..queue("fifo", Some(Limit::Packets(4))) };
    assert_eq!(fuzzball.classifier().name(), "source");
    assert_eq!(queue("fifo", None).classifier().name(), "pair");
}

#[test]
fn a_threshold_without_sense_is_refused_with_what_is_allowed() {
    for alpha in [0.0, -1.0, f64::NAN, 1e9] {
        let settings = fairq_sched::buffer::dynamic_threshold::Settings { alpha };
        let buffer = Some(BufferSettings::DynamicThreshold(settings));
        let fault = Queue { buffer, ..queue("fifo", None) }.fault().expect("a fault");
        assert!(fault.contains("from 0.001 to 1000"), "{fault}");
    }
}
