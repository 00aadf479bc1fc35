//! The network without a clock: times by hand, marks, floods, what no host sends.

use super::*;
use crate::made::{hosts, link, mbit, queue, two};
use crate::packet::checksum::{complete, sum};
use crate::packet::made::Made;
use crate::plan::{FlowPlan, Speed, Work};
use crate::record::Event;
use crate::report::Report;
use fairq_link::impairment::Loss;
use fairq_sched::units::Weight;
use fairq_testkit::mutate::Mutator;
use std::sync::Mutex;

const LEFT: &str = "10.77.0.1";
const RIGHT: &str = "10.77.1.1";
const MS: Time = Time::from_ms(1);

/// A UDP packet of `length` bytes from left to right, with its number in its identification.
fn datagram(port: u16, id: u16, length: usize) -> Vec<u8> {
    Made { ports: [port, 9], id, ..Made::udp(LEFT, RIGHT, length - 28) }.bytes(true)
}

fn whole() -> Offload {
    Offload::default()
}

/// All that comes out until `end`: when, for which host, with which identification.
fn drained(network: &mut Network, end: Time) -> Vec<(Time, u32, u16)> {
    network.advance(end);
    let mut all = Vec::new();
    while let Some(delivery) = network.next_delivery() {
        all.push((delivery.at, delivery.host, crate::packet::u16_at(&delivery.bytes, 4).unwrap()));
        network.recycle(delivery.bytes);
    }
    all
}

#[test]
fn packets_come_out_at_the_end_of_their_transmission_and_the_delay() {
    // 12 Mbit/s: 1500 bytes take a millisecond.
    let mut network = Network::new(&two(&mbit(12), Time::from_ms(10), queue("fifo", 2)));
    for id in 0..5 {
        network.arrive(Time::ZERO, 0, &datagram(1, id, 1500), &whole());
    }
    network.advance(Time::ZERO);
    assert_eq!(network.next_time(), Some(MS));
    let ms = |ms| Time::from_ms(ms);
    // One is sent and two wait; there is no room for the others.
    assert_eq!(drained(&mut network, ms(100)), [(ms(11), 1, 0), (ms(12), 1, 1), (ms(13), 1, 2)]);
    let report = network.report(ms(100));
    let flow = &report.flows[0];
    assert_eq!((flow.flow.0.as_ref(), flow.sent, flow.dropped), ("left:1 > right:9 udp", 5, 2));
    assert_eq!((flow.throughput_packets, flow.goodput_bytes, flow.lost), (3, 3 * 1472, None));
    let queue = &report.queues[0];
    assert_eq!((queue.dropped, queue.waiting_packets_max, queue.arrived), (2, 2, 5));
    // Two waited for a millisecond and one for another, of a hundred.
    assert!((queue.waiting_packets_mean - 0.03).abs() < 1e-9, "{}", queue.waiting_packets_mean);
    assert!((report.links[0].utilisation.unwrap() - 0.03).abs() < 1e-9);
    assert_eq!(network.on_the_way(), 0);
}

#[test]
fn late_calls_change_no_time() {
    let plan = two(&mbit(12), Time::from_ms(10), queue("fq", 50));
    let run = |calls: &dyn Fn(&mut Network, Time)| {
        let mut network = Network::new(&plan);
        for step in 0..200u16 {
            let now = Time(u64::from(step) * 700_000_000);
            calls(&mut network, now);
            network.arrive(now, 0, &datagram(step % 3, step, 200 + usize::from(step) * 5), &whole());
        }
        drained(&mut network, Time::from_s(1))
    };
    let timely = run(&|network, now| {
        while let Some(at) = network.next_time().filter(|at| *at <= now) {
            network.advance(at);
        }
    });
    let late = run(&|_, _| {});
    assert!(timely.len() > 100);
    assert_eq!(timely, late);
}

#[test]
fn a_super_packet_is_the_packets_that_it_stands_for() {
    let made = Made { ports: [4000, 5000], ..Made::tcp(LEFT, RIGHT, 4000) };
    let offload = Offload { segments: Segments::Tcp, segment: 1448, checksum: Some((20, 16)) };
    let mut network = Network::new(&two(&mbit(12), Time::ZERO, queue("fifo", 100)));
    network.arrive(Time::ZERO, 0, &made.bytes(false), &offload);
    network.advance(Time::from_s(1));
    let (mut data, mut times) = (Vec::new(), Vec::new());
    while let Some(Delivery { at, mut bytes, offload, .. }) = network.next_delivery() {
        assert_eq!(offload.checksum, Some((20, 16)));
        complete(&mut bytes, (20, 16));
        let shape = Shape::of(&bytes).unwrap();
        let pseudo = crate::packet::checksum::pseudo(&bytes, &shape, bytes.len() - 20);
        assert_eq!(u32::from(sum(&bytes[20..])) + u32::from(pseudo), 0xffff);
        data.extend_from_slice(&bytes[shape.payload..]);
        times.push(at);
    }
    assert_eq!(data, made.data);
    // 1500, 1500 and 1156 bytes at 12 Mbit/s.
    let us = |us: u64| Time(us * 1_000_000);
    assert_eq!(times[..2], [us(1000), us(2000)]);
    assert_eq!(times[2], Time(us(2000).0 + (1156 * 8 * 1_000_000 + 6) / 12));
    let report = network.report(Time::from_s(1));
    let flow = &report.flows[0];
    assert_eq!((flow.sent, flow.goodput_packets, flow.goodput_bytes, flow.retransmitted), (3, 3, 4000, 0));
}

#[test]
fn a_mark_is_written_with_a_right_checksum_and_only_where_it_is_accepted() {
    for (tos, expected) in [(0, 0), (1, 3), (2, 3), (3, 3)] {
        // CoDel marks after an interval of more than its target.
        let mut network = Network::new(&two(&mbit(1), Time::ZERO, queue("fq_codel", 1000)));
        for id in 0..60 {
            let made = Made { tos: 0xb8 | tos, id, ..Made::udp(LEFT, RIGHT, 1472) };
            network.arrive(Time::ZERO, 0, &made.bytes(true), &whole());
        }
        network.advance(Time::from_s(2));
        let mut changed = 0;
        while let Some(Delivery { bytes, .. }) = network.next_delivery() {
            assert_eq!((sum(&bytes[..20]), bytes[1] & !3), (0xffff, 0xb8));
            assert!(bytes[1] & 3 == tos || bytes[1] & 3 == expected);
            changed += u64::from(bytes[1] & 3 != tos);
        }
        let report = network.report(Time::from_s(2));
        assert_eq!(changed > 0, tos == 1 || tos == 2, "{tos}");
        assert!(tos == 3 || report.flows[0].marked == changed && report.queues[0].marked == changed);
        assert_eq!(report.flows[0].dropped > 0, tos == 0);
    }
}

#[test]
fn packets_cross_lines_in_the_order_of_times_and_answers_come_back() {
    // left - router - right, at 12 and 6 Mbit/s.
    let mut plan = two(&mbit(12), MS, queue("fifo", 100));
    plan.lines = [
        link("near", [0, 2], &mbit(12), MS, queue("fifo", 100)),
        link("far", [2, 1], &mbit(6), MS, queue("fifo", 100)),
    ]
    .concat();
    plan.nodes = 3;
    plan.next = vec![vec![None, Some(0)], vec![Some(3), None], vec![Some(1), Some(2)]];
    let mut network = Network::new(&plan);
    for id in 0..3 {
        network.arrive(Time::ZERO, 0, &datagram(1, id, 1500), &whole());
    }
    let ms = |ms| Time::from_ms(ms);
    // One lead of 1 + 1 + 2 + 1 ms, then each takes 2 ms on the slower line.
    assert_eq!(drained(&mut network, ms(50)), [(ms(5), 1, 0), (ms(7), 1, 1), (ms(9), 1, 2)]);
    let answer = Made { ports: [9, 1], id: 7, ..Made::udp(RIGHT, LEFT, 1472) }.bytes(true);
    network.arrive(ms(50), 1, &answer, &whole());
    assert_eq!(drained(&mut network, ms(100)), [(ms(55), 0, 7)]);
    let report = network.report(ms(100));
    let answers: Vec<bool> = report.flows.iter().map(|flow| flow.is_answer).collect();
    assert_eq!(answers, [false, true]);
    // The first did not wait; the others waited for those before them: 0, 2 and 4 ms.
    assert!((report.flows[0].queueing_s_mean.unwrap() - 0.002).abs() < 1e-9);
    assert!((report.flows[0].delay_s_max.unwrap() - 0.009).abs() < 1e-9);
}

#[test]
fn flows_of_the_plan_take_their_own_lines() {
    let mut plan = two(&Speed::Unlimited, Time::ZERO, queue("fifo", 100));
    plan.lines.extend(link("own", [0, 1], &mbit(12), MS, queue("fifo", 100)));
    plan.flows = vec![FlowPlan {
        name: "video".into(),
        ends: [0, 1],
        addresses: [LEFT.parse().unwrap(), RIGHT.parse().unwrap()],
        lines: [vec![2], vec![1]],
        work: Work::Datagrams { packet: 1500, gap: MS },
        during: [Time::ZERO, Time::from_s(1)],
        weight: Weight::from_thousandths(2000).unwrap(),
        tos: 0,
    }];
    let mut network = Network::new(&plan);
    let of_plan = Made { ports: [20_000, 20_000], id: 1, ..Made::udp(LEFT, RIGHT, 1472) };
    network.arrive(Time::ZERO, 0, &of_plan.bytes(true), &whole());
    network.arrive(Time::ZERO, 0, &datagram(20_000, 2, 1500), &whole());
    let answer = Made { source: of_plan.destination, destination: of_plan.source, id: 3, ..of_plan.clone() };
    network.arrive(Time::ZERO, 1, &answer.bytes(true), &whole());
    let ms = Time::from_ms(2);
    assert_eq!(drained(&mut network, ms), [(Time::ZERO, 1, 2), (Time::ZERO, 0, 3), (ms, 1, 1)]);
    let rows: Vec<(String, bool, f64)> =
        network.report(ms).flows.iter().map(|row| (row.flow.0.to_string(), row.plan.is_some(), row.weight)).collect();
    let expected = [("video", true, 2.0), ("left:20000 > right:9 udp", false, 1.0), ("video.answers", true, 1.0)];
    assert_eq!(rows, expected.map(|(name, is_plan, weight)| (name.to_owned(), is_plan, weight)));
}

#[test]
fn what_no_line_takes_is_counted_and_nothing_else() {
    let mut network = Network::new(&two(&mbit(12), MS, queue("fifo", 10)));
    network.arrive(Time::ZERO, 0, &[], &whole());
    network.arrive(Time::ZERO, 0, &[0; 60], &whole());
    network.arrive(Time::ZERO, 0, &Made::udp(LEFT, "224.0.0.251", 40).bytes(true), &whole());
    network.arrive(Time::ZERO, 0, &Made::udp("fe80::1", "ff02::2", 40).bytes(true), &whole());
    // From an address that is not the host's.
    network.arrive(Time::ZERO, 1, &datagram(1, 1, 1000), &whole());
    let contradicts = Offload { segments: Segments::Tcp, segment: 100, checksum: None };
    network.arrive(Time::ZERO, 0, &datagram(1, 1, 1000), &contradicts);
    assert_eq!(network.refused(), Refused { not_ip: 3, no_route: 3, no_room: 0 });
    assert_eq!(drained(&mut network, Time::from_s(1)), []);
}

#[test]
fn later_fragments_are_of_the_flow_of_the_first() {
    let mut network = Network::new(&two(&mbit(12), MS, queue("fifo", 10)));
    for (place, id) in [(0x2000u16, 1), (0x2010, 1), (0x0020, 1), (0x0020, 2)] {
        let mut bytes = datagram(5, id, 200);
        bytes[6..8].copy_from_slice(&place.to_be_bytes());
        crate::packet::checksum::write_ipv4(&mut bytes);
        network.arrive(Time::ZERO, 0, &bytes, &whole());
    }
    let report = network.report(Time::from_s(1));
    let rows: Vec<(&str, u64)> = report.flows.iter().map(|row| (row.flow.0.as_ref(), row.sent)).collect();
    assert_eq!(rows, [("left:5 > right:9 udp", 3), ("left > right udp", 1)]);
}

/// A well-behaved flow of 2 Mbit/s over IPv6 beside `flood`, which is asked for a packet every 100
/// us; the line has 12 Mbit/s and the discipline `name`. How many of 1000 packets of the flow are
/// dropped, the report, and the most bytes on the way.
fn beside(name: &str, flood: &mut dyn FnMut(&mut Network, Time)) -> (u64, Report, usize) {
    let mut network = Network::new(&two(&mbit(12), MS, queue(name, 200)));
    let mut most = 0;
    let good = Made { ports: [7, 7], ..Made::udp("fd77:0::1", "fd77:1::1", 1452) }.bytes(true);
    for step in 0..20_000u64 {
        let now = Time(step * 100_000_000);
        flood(&mut network, now);
        if step % 60 == 30 {
            network.arrive(now, 0, &good, &whole());
        }
        most = most.max(network.on_the_way());
        while let Some(delivery) = network.next_delivery() {
            network.recycle(delivery.bytes);
        }
    }
    let report = network.report(Time::from_s(3));
    let row = report.flows.iter().find(|row| row.source_port == 7).expect("it was seen");
    (row.dropped * 1000 / row.sent, report, most)
}

#[test]
fn a_flood_takes_no_share_of_a_flow_behind_fair_queueing() {
    // Ever other ports: 120 Mbit/s of flows with a packet each.
    let mut count = 0u32;
    let mut distinct = |network: &mut Network, now: Time| {
        count += 1;
        let ports = [(count >> 8) as u16 | 0x4000, count as u16 | 0x8000];
        network.arrive(now, 0, &Made { ports, ..Made::udp(LEFT, RIGHT, 1472) }.bytes(true), &whole());
    };
    // Ever other senders, which left has not.
    let mut others = |network: &mut Network, now: Time| {
        let source = format!("10.99.{}.{}", now.0 / 100_000_000 % 251, now.0 / 100_000_000 % 241);
        network.arrive(now, 0, &Made::udp(&source, RIGHT, 1472).bytes(true), &whole());
    };
    let mut random = Mutator::new(1);
    let seeds = [Made::udp(LEFT, RIGHT, 1472).bytes(true), Made::tcp(LEFT, RIGHT, 1400).bytes(true)];
    let mut malformed = |network: &mut Network, now: Time| {
        network.arrive(now, 0, &random.mutant(&seeds, &[]), &whole());
    };
    let (lost, report, most) = beside("fifo", &mut distinct);
    assert!(lost > 800, "a FIFO shares by what comes: {lost} of 1000 lost");
    assert!(most < 2 << 20 && report.flows.len() > 10_000, "{most} bytes on the way");
    for flood in [&mut distinct as &mut dyn FnMut(&mut Network, Time), &mut others, &mut malformed] {
        let (lost, report, most) = beside("fq", flood);
        assert_eq!(lost, 0, "of 1000 behind fq");
        assert!(most < 2 << 20, "{most} bytes on the way");
        let row = report.flows.iter().find(|row| row.source_port == 7).expect("it was seen");
        // Behind at most one packet of another.
        assert!(row.queueing_s_max.unwrap() < 0.003, "{row:?}");
    }
}

#[test]
fn flows_that_are_told_apart_are_bounded() {
    let mut plan = two(&Speed::Unlimited, Time::ZERO, queue("fifo", 10));
    plan.seed = 3;
    let mut network = Network::new(&plan);
    let all = FLOWS_MAX as u64 + 5000;
    for number in 0..all {
        let ports = [number as u16, (number >> 16) as u16];
        let bytes = Made { ports, ..Made::udp(LEFT, RIGHT, 10) }.bytes(true);
        network.arrive(Time(number * 1_000_000), 0, &bytes, &whole());
        while let Some(delivery) = network.next_delivery() {
            network.recycle(delivery.bytes);
        }
    }
    let report = network.report(Time::from_s(1));
    assert_eq!(report.flows.len(), FLOWS_MAX + 1);
    let others = report.flows.last().unwrap();
    assert_eq!((others.flow.0.as_ref(), others.sent), ("others", 5000));
    assert_eq!(report.flows.iter().map(|row| row.throughput_packets).sum::<u64>(), all);
}

#[test]
fn memory_ends_before_the_machines_does() {
    let plan = two(&mbit(1000), Time::from_s(60), queue("fifo", 100_000));
    let mut network = Network::new(&plan).with_room(1 << 20);
    for id in 0..2000 {
        network.arrive(Time(u64::from(id) * 20_000_000), 0, &datagram(1, id, 1500), &whole());
    }
    assert!(network.on_the_way() <= 1 << 20);
    let most = (1 << 20) / (1500 + OVERHEAD as u64);
    assert_eq!(network.refused().no_room, 2000 - most);
    // What its host has not taken counts too.
    network.advance(Time::from_s(100));
    network.arrive(Time::from_s(100), 0, &datagram(1, 1, 1500), &whole());
    assert_eq!(network.refused().no_room, 2000 - most + 1);
    assert_eq!(drained(&mut network, Time::from_s(100)).len() as u64, most);
    network.arrive(Time::from_s(100), 0, &datagram(1, 1, 1500), &whole());
    assert_eq!(network.refused().no_room, 2000 - most + 1);
}

#[test]
fn losses_are_counted_at_the_line_and_the_flow() {
    let mut plan = two(&mbit(100), MS, queue("fifo", 10_000));
    plan.lines[0].impairment.loss = Loss { probability: 0.1, burst: None };
    let mut network = Network::new(&plan);
    for id in 0..2000 {
        network.arrive(Time(u64::from(id) * 200_000_000), 0, &datagram(1, id, 1500), &whole());
    }
    let arrived = drained(&mut network, Time::from_s(5)).len() as u64;
    let report = network.report(Time::from_s(5));
    let lost = report.flows[0].lost.unwrap();
    // A tenth of 2000 has a standard deviation of 13.4.
    assert!((140..260).contains(&lost), "{lost}");
    assert_eq!((report.links[0].lost, arrived + lost), (Some(lost), 2000));
}

#[test]
fn round_trips_of_tcp_are_measured_and_repeated_data_is_not_counted_twice() {
    let mut network = Network::new(&two(&mbit(12), Time::from_ms(10), queue("fifo", 100)));
    let segment = |sequence, data| Made { sequence, ..Made::tcp(LEFT, RIGHT, data) }.bytes(true);
    for sequence in [1000, 2000, 4000, 3000, 2000] {
        network.arrive(Time::ZERO, 0, &segment(sequence, 1000), &whole());
    }
    drained(&mut network, Time::from_ms(30));
    let answer = Made { ports: [5000, 4000], acknowledges: 5000, ..Made::tcp(RIGHT, LEFT, 0) }.bytes(true);
    network.arrive(Time::from_ms(30), 1, &answer, &whole());
    drained(&mut network, Time::from_ms(100));
    let report = network.report(Time::from_ms(100));
    let flow = &report.flows[0];
    assert_eq!((flow.sent, flow.retransmitted, flow.goodput_bytes, flow.goodput_packets), (5, 1, 4000, 4));
    assert!(flow.rtt_s_mean.is_none(), "what was repeated measures nothing");
    // 1052 bytes of the next one, from 100 ms on; its acknowledgement of 52 bytes leaves at 130 ms.
    network.arrive(Time::from_ms(100), 0, &segment(5000, 1000), &whole());
    let answer = Made { ports: [5000, 4000], acknowledges: 6000, ..Made::tcp(RIGHT, LEFT, 0) }.bytes(true);
    network.arrive(Time::from_ms(130), 1, &answer, &whole());
    drained(&mut network, Time::from_ms(200));
    let rtt = network.report(Time::from_ms(200)).flows[0].rtt_s_mean.unwrap();
    let expected = 0.030 + 0.010 + 52.0 * 8.0 / 12e6;
    assert!((rtt - expected).abs() < 1e-9, "{rtt} {expected}");
}

/// Notes what it is told.
struct Notes(Arc<Mutex<Vec<(Time, u32, What)>>>);

impl Observer for Notes {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        self.0.lock().unwrap().push((now, event.line, event.what));
    }
}

#[test]
fn observers_are_told_at_the_intended_times() {
    let mut network = Network::new(&two(&mbit(12), Time::from_ms(10), queue("fifo", 1)));
    let notes = Arc::default();
    network.observe(Box::new(Notes(Arc::clone(&notes))));
    for id in 0..3 {
        network.arrive(Time::ZERO, 0, &datagram(1, id, 1500), &whole());
    }
    network.advance(Time::from_s(1));
    let ms = |ms| Time::from_ms(ms);
    let expected = [
        (ms(0), What::Arrived),
        (ms(0), What::Arrived),
        (ms(0), What::Arrived),
        (ms(0), What::Dropped(Reason::BufferFull)),
        (ms(1), What::Sent),
        (ms(2), What::Sent),
        (ms(11), What::Delivered),
        (ms(12), What::Delivered),
    ];
    assert_eq!(*notes.lock().unwrap(), expected.map(|(at, what)| (at, 0, what)));
}

#[test]
fn samples_are_of_equal_intervals() {
    let mut network = Network::new(&two(&mbit(12), Time::ZERO, queue("fifo", 100)));
    network.sample(Time::from_ms(10));
    for id in 0..15 {
        network.arrive(Time::ZERO, 0, &datagram(1, id, 1500), &whole());
    }
    let report = network.report(Time::from_ms(31));
    let flow: Vec<(f64, f64)> = report
        .series
        .iter()
        .filter(|row| row.flow.is_some())
        .map(|row| (row.time_s, row.throughput_bit_per_s.unwrap() / 1e6))
        .collect();
    // Ten packets in the first ten milliseconds, five in the next.
    assert_eq!(flow, [(0.01, 12.0), (0.02, 6.0), (0.03, 0.0)]);
    let held: Vec<u64> = report
        .series
        .iter()
        .filter(|row| row.direction == Some("forward"))
        .map(|row| row.held_packets.unwrap())
        .collect();
    assert_eq!(held, [5, 0, 0]);
}

#[test]
fn hosts_of_many_lines_keep_their_times() {
    // 64 hosts around one router; each sends to the next.
    let names: Vec<String> = (0..64).map(|number| format!("host{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut plan = two(&mbit(16), MS, queue("fq", 50));
    plan.hosts = hosts(&names);
    plan.lines =
        (0..64).flat_map(|host| link(&format!("line{host}"), [host, 64], &mbit(16), MS, queue("fq", 50))).collect();
    plan.nodes = 65;
    plan.next = (0..65u32)
        .map(|node| {
            let line = |host: u32| if node == 64 { 2 * host + 1 } else { 2 * node };
            (0..64).map(|host| (host != node).then(|| line(host))).collect()
        })
        .collect();
    let mut network = Network::new(&plan);
    for step in 0..100u64 {
        for host in 0..64u32 {
            let (from, to) = (format!("10.77.{host}.1"), format!("10.77.{}.1", (host + 1) % 64));
            let now = Time(step * 1_000_000_000 + u64::from(host) * 1000);
            network.arrive(now, host, &Made::udp(&from, &to, 972).bytes(true), &whole());
        }
    }
    let out = drained(&mut network, Time::from_s(1));
    assert_eq!(out.len(), 6400);
    assert!(out.is_sorted_by_key(|(at, ..)| *at));
    // Half a millisecond on each of two lines, and their delays: no other is in the way.
    let first = out.iter().find(|(_, host, _)| *host == 1).unwrap().0;
    assert_eq!(first, Time::from_ms(3));
}

#[test]
fn routes_in_a_circle_end() {
    let mut plan = two(&mbit(1000), Time::ZERO, queue("fifo", 100));
    plan.nodes = 4;
    let circle = |from, to| link("circle", [from, to], &mbit(1000), Time::ZERO, queue("fifo", 100));
    plan.lines = [circle(0, 2), circle(2, 3)].concat();
    plan.next = vec![vec![None, Some(0)], vec![None, None], vec![None, Some(2)], vec![None, Some(3)]];
    let mut network = Network::new(&plan);
    network.arrive(Time::ZERO, 0, &datagram(1, 1, 1000), &whole());
    assert_eq!(drained(&mut network, Time::from_s(1)), []);
    assert_eq!((network.refused().no_route, network.on_the_way(), network.next_time()), (1, 0, None));
}

#[test]
fn jains_index_is_over_connections_where_there_are_any() {
    let run = |segments: [u16; 2], datagrams: u16| {
        let mut network = Network::new(&two(&mbit(100), MS, queue("fifo", 1000)));
        for (port, count) in segments.into_iter().enumerate() {
            for number in 0..u32::from(count) {
                let (ports, sequence) = ([port as u16, 9], 1 + number * 1000);
                let packet = Made { ports, sequence, ..Made::tcp(LEFT, RIGHT, 1000) }.bytes(true);
                network.arrive(Time::ZERO, 0, &packet, &whole());
            }
        }
        for id in 0..datagrams {
            network.arrive(Time::ZERO, 0, &datagram(7, id, 1000), &whole());
        }
        network.report(Time::from_s(1)).queues.iter().map(|row| row.jain).collect::<Vec<_>>()
    };
    assert_eq!(run([20, 20], 300), [Some(1.0), None]);
    // (3 + 1)^2 / (2 (9 + 1)).
    assert!((run([30, 10], 0)[0].unwrap() - 0.8).abs() < 1e-12);
    assert_eq!((run([0, 0], 50), run([0, 0], 0)), (vec![Some(1.0), None], vec![None, None]));
}
