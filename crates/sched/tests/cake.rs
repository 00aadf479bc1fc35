//! CAKE: hosts, flows and tins, the shaper, the filter, and what the kernel does with a queue's
//! last packet. And whose packet it is in the designs that isolate flows.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::{cake, fq_codel};
use fairq_sched::packet::{Address, Fates, Header, Marks, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::reading::Value;
use fairq_sched::registry::{ClassifierSettings, DesignSettings};
use fairq_sched::units::{Bytes, PS_PER_S, Rate, Time};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::{Driver, End};
use fairq_testkit::shown::number;
use std::num::NonZeroU32;

const MS: u64 = PS_PER_S / 1000;

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

/// How long flows were of each kind, in nanoseconds.
fn flow_times(discipline: &dyn Discipline, now: Time) -> [u128; 3] {
    let mut times = [0; 3];
    discipline.readings(now, &mut |reading| {
        let kind = cake::FLOW_TIMES.iter().position(|name| *name == reading.name);
        if let (Some(kind), Value::Count(time)) = (kind, reading.value) {
            times[kind] += time;
        }
    });
    times
}

fn cake(settings: cake::Settings) -> Box<dyn Discipline> {
    let queue = Queue::of_design(DesignSettings::Cake(settings), None);
    assert_eq!(queue.fault(), None);
    queue.build(&Line::new(rate(8_000_000)))
}

fn between(source: u32, destination: u32, port: u16, tos: u8) -> Header {
    let (source, destination) = (Address::Node(source), Address::Node(destination));
    Header { source, destination, protocol: 6, source_port: port, destination_port: 80, tos }
}

/// Keeps the queue backlogged for every header, dequeues `packets` packets and returns how many each
/// header sent.
fn shares(discipline: &mut dyn Discipline, headers: &[Header], packets: u64) -> Vec<u64> {
    let (mut fates, mut counts) = (Fates::new(), vec![0; headers.len()]);
    for _ in 0..3 {
        for (token, header) in headers.iter().enumerate() {
            discipline.enqueue(Time(1), Packet::new(token as u64, Time(1), 1000), header, &mut fates);
        }
    }
    for step in 2..packets + 2 {
        let Dequeue::Send(packet) = discipline.dequeue(Time(step), &mut fates) else { panic!("packets wait") };
        counts[packet.token as usize] += 1;
        let (token, header) = (packet.token, &headers[packet.token as usize]);
        discipline.enqueue(Time(step), Packet::new(token, Time(step), 1000), header, &mut fates);
    }
    assert!(fates.is_empty());
    counts
}

#[test]
fn cake_shares_by_host_and_then_by_flow() {
    // A host with one flow and a host with ten, to different destinations.
    let headers: Vec<Header> =
        (0..11).map(|flow| between(u32::from(flow > 0), 100 + u32::from(flow), flow, 0)).collect();
    let share = |isolation, headers: &[Header]| {
        let counts = shares(&mut *cake(cake::Settings { isolation, ..Default::default() }), headers, 11_000);
        (counts[0] as f64 / 11_000.0, counts[1..].iter().max().unwrap() - counts[1..].iter().min().unwrap())
    };
    for isolation in [cake::Isolation::Triple, cake::Isolation::DualSource] {
        let (single, spread) = share(isolation, &headers);
        assert!((single - 0.5).abs() < 0.01 && spread <= 8, "{isolation:?}: {single}, {spread}");
    }
    for isolation in [cake::Isolation::Flows, cake::Isolation::DualDestination] {
        let (single, _) = share(isolation, &headers);
        assert!((single - 1.0 / 11.0).abs() < 0.01, "{isolation:?}: {single}");
    }
    // The other way round it is the destinations that are shared among.
    let back: Vec<Header> = (0..11).map(|flow| between(100 + u32::from(flow), u32::from(flow > 0), flow, 0)).collect();
    for isolation in [cake::Isolation::Triple, cake::Isolation::DualDestination] {
        assert!((share(isolation, &back).0 - 0.5).abs() < 0.01, "{isolation:?}");
    }
}

#[test]
fn cake_shares_the_line_among_tins_by_weight_without_a_shaper() {
    // CS1, best effort, AF41, EF.
    let headers = [8_u8, 0, 34, 46].map(|dscp| between(1, 2, 3, dscp << 2));
    let settings = cake::Settings { tins: cake::Tins::Diffserv4, ..Default::default() };
    let counts = shares(&mut *cake(settings), &headers, 18_560);
    for (count, share) in counts.iter().zip([64, 1024, 512, 256]) {
        assert!(count.abs_diff(share * 10) <= 4, "{counts:?}");
    }
    let settings = cake::Settings { tins: cake::Tins::BestEffort, ..Default::default() };
    let counts = shares(&mut *cake(settings), &headers, 4000);
    assert_eq!(counts, [1000; 4], "one flow, one queue, in order");
}

#[test]
fn cake_shapes_exactly() {
    // 999 983 bit/s, 44 B of overhead, in cells of ATM: 1000 B are 1044, in 22 cells 1166 B.
    let settings = cake::Settings {
        rate: Rate::new(999_983),
        overhead: Some(44),
        framing: Some(cake::Framing::Atm),
        ..Default::default()
    };
    let queue = Queue::of_design(DesignSettings::Cake(settings), None);
    let line = Line::new(rate(1_000_000_000));
    let mut driver = Driver::new(Checked::new(Rules::of(&queue), || queue.build(&line)), line.rate);
    // The driver checks that nothing leaves a picosecond before the time that was named, and
    // something then.
    (0..200).for_each(|token| driver.offer_packet(token as u32 % 3, Packet::new(token, Time(5), 1000)));
    driver.finish();
    let mut starts: Vec<u64> = driver
        .journeys
        .iter()
        .filter_map(|journey| match journey.end {
            End::Sent { start, .. } => Some(start.0),
            _ => None,
        })
        .collect();
    starts.sort_unstable();
    // A byte's time is rounded down: 124 997 B/s, and a packet's to a whole nanosecond.
    let exact = 22 * 53 * 1_000_000_000_u64 / 124_997;
    let gap = starts[1];
    assert!((exact - 1..=exact).contains(&(gap / 1000)), "{gap}, not {exact} ns");
    assert_eq!(starts[0], 5);
    for (number, start) in starts.iter().enumerate().skip(1) {
        assert_eq!(*start, number as u64 * gap);
    }
}

#[test]
fn cake_takes_the_link_layers_header_off_where_an_overhead_is_given() {
    // The bytes that a packet of `length`, of which `link_header` are the link layer's, takes at a
    // shaper of 8 Mbit/s: 1 us each.
    let charged = |settings: &cake::Settings, length: u32, link_header: u8| {
        let mut cake = cake(cake::Settings { rate: Rate::new(8_000_000), ..settings.clone() });
        let mut fates = Fates::new();
        for token in 0..2 {
            let packet = Packet { link_header, ..Packet::new(token, Time(0), length) };
            cake.enqueue(Time(0), packet, &between(1, 2, 3, 0), &mut fates);
        }
        assert!(matches!(cake.dequeue(Time(0), &mut fates), Dequeue::Send(_)));
        let Dequeue::NotBefore(time) = cake.dequeue(Time(0), &mut fates) else { panic!("the second waits") };
        time.0 / 1_000_000
    };
    let framed = |overhead, framing| cake::Settings { overhead, framing: Some(framing), ..Default::default() };
    use cake::Framing;
    // 1484 B of IP and 44 B are 32 cells, whether the length has an Ethernet header, one with a
    // VLAN tag, or none.
    let atm = framed(Some(44), Framing::Atm);
    assert_eq!([(1484, 0), (1498, 14), (1502, 18)].map(|(length, link)| charged(&atm, length, link)), [32 * 53; 3]);
    // An overhead of 0 is given, too: the network layer's bytes alone. Without one the length
    // counts as it is.
    assert_eq!([(1484, 0), (1498, 14)].map(|(l, h)| charged(&framed(Some(0), Framing::None), l, h)), [1484; 2]);
    assert_eq!([(1484, 0), (1498, 14)].map(|(l, h)| charged(&framed(None, Framing::None), l, h)), [1484, 1498]);
    // 64 of 65 bytes are PTM's; a negative overhead, and a packet shorter than what is taken off.
    assert_eq!(charged(&framed(Some(30), Framing::Ptm), 112, 14), 128 + 2);
    assert_eq!(charged(&framed(Some(-14), Framing::None), 114, 14), 86);
    let least = cake::Settings { mpu: Some(84), ..framed(Some(-64), Framing::None) };
    assert_eq!(charged(&least, 60, 14), 84);
}

#[test]
fn cake_lets_four_packets_wait_on_a_slow_line() {
    // 1514 B take 12.112 ms at 1 Mbit/s: four of them 48.4 ms, far above the target of 5 ms.
    let turn = 12_112_000_000;
    let lost = |ahead: u64| {
        let mut cake = cake(cake::Settings { rate: Rate::new(1_000_000), ..Default::default() });
        let mut fates = Fates::new();
        for step in 0..200 {
            let now = Time(step * turn);
            cake.enqueue(now, Packet::new(step, now, 1514), &between(1, 2, 3, 0), &mut fates);
            if step >= ahead {
                assert!(matches!(cake.dequeue(now, &mut fates), Dequeue::Send(_)));
            }
        }
        fates.len()
    };
    assert_eq!([3, 4].map(lost), [0, 0]);
    assert!(lost(5) > 0);
}

#[test]
fn cake_gives_short_turns_on_a_slow_line() {
    // Ten flows always have something; how many of the five packets of an eleventh go before one of
    // theirs?
    let before_others = |settings: cake::Settings| {
        let mut cake = cake(cake::Settings { rtt: cake::Rtt::Of(Time::from_s(1000)), ..settings });
        let mut fates = Fates::new();
        let mut offer = |cake: &mut dyn Discipline, port, packets| {
            for _ in 0..packets {
                let packet = Packet::new(port, Time(1), 300);
                cake.enqueue(Time(1), packet, &between(1, 2, port as u16, 0), &mut fates);
            }
        };
        let mut now = Time(1);
        let mut take = |cake: &mut dyn Discipline| loop {
            match cake.dequeue(now, &mut Fates::new()) {
                Dequeue::Send(packet) => return packet.token,
                Dequeue::NotBefore(time) => now = time,
                Dequeue::Empty => panic!("packets wait"),
            }
        };
        (0..10).for_each(|port| offer(&mut *cake, port, 20));
        (0..100).for_each(|_| _ = take(&mut *cake));
        offer(&mut *cake, 10, 5);
        (0..5).take_while(|_| take(&mut *cake) == 10).count()
    };
    let at = |rate| cake::Settings { rate: Rate::new(rate), isolation: cake::Isolation::Flows, ..Default::default() };
    // 300 B up to 9.8 Mbit/s, 1514 B from 50 Mbit/s on and without a shaper.
    assert_eq!(before_others(at(1_000_000)), 1);
    assert_eq!(before_others(at(50_000_000)), 5);
    assert_eq!(before_others(cake::Settings { rate: None, ..at(1) }), 5);
    assert_eq!(before_others(cake::Settings { quantum: Some(Bytes(1514)), ..at(1_000_000) }), 5);
}

#[test]
fn cake_never_drops_the_last_packet_of_a_queue() {
    // Each half second 600 flows send a packet of 1000 B at once: 9.6 Mbit/s into a shaper of 10,
    // no overload. The last of them waits for 480 ms, and each is the only one of its flow. (Of two
    // packets of a flow Linux drops the first.)
    for accepts in [Marks::NONE, Marks::CE] {
        let mut cake = cake(cake::Settings {
            tins: cake::Tins::BestEffort,
            rate: Rate::new(10_000_000),
            queues: 8192,
            ..Default::default()
        });
        let (mut fates, mut sent, mut token) = (Fates::new(), 0, 0);
        let mut next = Time::ZERO;
        for round in 0..20_u64 {
            for flow in 0..600_u64 {
                let now = Time(round * 500 * MS + flow * 1_000_000);
                let packet = Packet { accepts, ..Packet::new(token, now, 1000) };
                token += 1;
                cake.enqueue(now, packet, &between(1, 2, flow as u16, 0), &mut fates);
            }
            next = next.max(Time(round * 500 * MS + 600_000_000));
            loop {
                match cake.dequeue(next, &mut fates) {
                    Dequeue::Send(_) => sent += 1,
                    Dequeue::NotBefore(time) => next = time,
                    Dequeue::Empty => break,
                }
            }
        }
        let drops = fates.iter().filter(|fate| matches!(fate.outcome, Outcome::Dropped(_))).count();
        assert_eq!((sent, drops), (12_000, 0), "{accepts:?}");
        assert_eq!(fates.is_empty(), accepts == Marks::NONE, "those that accept marks are marked");
    }
}

#[test]
fn cake_at_a_low_rate_has_a_buffer_from_which_blue_learns() {
    // A flood of twice the shaper's rate that does not listen: the longest wait in each second, in
    // ms.
    for (rate, overload) in [(10_000_000, 2), (10_000_000, 4), (5_000_000, 2)] {
        let settings = cake::Settings { rate: Rate::new(rate), tins: cake::Tins::BestEffort, ..Default::default() };
        let mut cake = cake(settings);
        let (mut fates, mut waits, mut next) = (Fates::new(), [0; 40], Time::ZERO);
        let gap = 1500 * 8 * PS_PER_S / (rate * overload);
        for token in 0.. {
            let now = Time(token * gap);
            while next < now {
                match cake.dequeue(next, &mut fates) {
                    Dequeue::Send(packet) => {
                        let second = (next.0 / PS_PER_S) as usize;
                        waits[second] = waits[second].max((next - packet.arrival).0 / MS);
                    }
                    Dequeue::NotBefore(time) => next = time,
                    Dequeue::Empty => next = now,
                }
            }
            if now >= Time::from_s(waits.len() as u64) {
                break;
            }
            cake.enqueue(now, Packet::new(token, now, 1500), &between(1, 2, 3, 0), &mut fates);
            fates.clear();
        }
        println!("{rate} x{overload}: {waits:?}");
        assert!(waits[2] > 400, "{rate}: the buffer fills first, {waits:?}");
        assert!(waits[30..].iter().all(|wait| *wait < 50), "{rate}, {overload} times: {waits:?}");
    }
}

#[test]
fn cake_has_the_memory_of_the_kernel() {
    let room = |rate: Option<u64>, interval: u64| {
        let (rate, interval) = (rate.map(|r| Rate::new(r).expect("a rate")), Some(Time(interval * MS)));
        let design = DesignSettings::Cake(cake::Settings { rate, interval, ..Default::default() });
        design.part().facts().memory.expect("cake says it").0
    };
    // max(rate × interval × 4, 4 MiB), at most 10240 × 1514 B (cake_reconfigure).
    assert_eq!([1, 10, 83].map(|mbit| room(Some(mbit * 1_000_000), 100)), [4 << 20; 3]);
    assert_eq!(room(Some(100_000_000), 100), 5_000_000);
    assert_eq!(room(Some(100_000_000), 300), 15_000_000);
    assert_eq!(room(Some(1_000_000_000), 100), 10_240 * 1514);
    assert_eq!(room(None, 100), 10_240 * 1514);
}

#[test]
fn designs_of_flows_tell_five_tuples_apart() {
    // Three flows between two hosts and one between two others, all backlogged.
    let headers = [between(1, 2, 1, 0), between(1, 2, 2, 0), between(1, 2, 3, 0), between(3, 4, 1, 0)];
    let cake = DesignSettings::Cake(cake::Settings { isolation: cake::Isolation::Flows, ..Default::default() });
    for design in [cake, DesignSettings::FqCodel(Default::default()), DesignSettings::FqPie(Default::default())] {
        let queue = Queue::of_design(design, None);
        let count = |queue: &Queue| shares(&mut *queue.build(&Line::new(rate(8_000_000))), &headers, 4000);
        let each = count(&queue);
        assert!(each.iter().all(|sent| sent.abs_diff(1000) < 10), "{}: {each:?}", queue.name());
        let pairs = count(&Queue { classifier: ClassifierSettings::by_name("pair"), ..queue });
        assert!(pairs[3].abs_diff(2000) < 10, "a classifier that is named counts: {pairs:?}");
    }
}

#[test]
fn cake_keeps_flows_apart() {
    // 200 flows in 1024 queues: by plain hashing 200·(1 - (1 - 1/1024)^199) = 35 of them would
    // share a queue.
    let apart = |ways: u32| -> f64 {
        let settings = cake::Settings { ways, ..Default::default() };
        let mut cake = cake(settings);
        let mut fates = Fates::new();
        for flow in 0..200 {
            let header = between(flow, 1_000_000, 7, 0);
            cake.enqueue(Time(1), Packet::new(flow.into(), Time(1), 1000), &header, &mut fates);
        }
        number(&*cake, "backlogged_queues")
    };
    assert!(apart(1) < 195.0, "{}", apart(1));
    assert_eq!(apart(8), 200.0);
}

#[test]
fn cake_gives_hosts_that_wake_together_a_place_each() {
    // Ten hosts with a flow each: two share a place, and so an equal part, only if their own places
    // are the same. Of 45 pairs of sources and 45 of destinations in 1024 places that is one in
    // 1 - (1 - 1/1024)^90 = 8.4 % of the runs; if the first free place of a set of eight were
    // taken, it would be in 1 - (1 - 1/128)^90 = 51 %.
    let uneven = (0..500_u64).filter(|seed| {
        let queue = Queue::of_design(DesignSettings::Cake(cake::Settings::default()), None);
        let mut cake = queue.build(&Line { seed: *seed, ..Line::new(rate(8_000_000)) });
        let headers: Vec<Header> = (0..10).map(|host| between(host, 100 + host, 7, 0)).collect();
        let counts = shares(&mut *cake, &headers, 400);
        counts.iter().any(|count| *count < 35)
    });
    let uneven = uneven.count();
    assert!((20..=70).contains(&uneven), "{uneven}");
}

#[test]
fn cake_may_reorder_a_flow_whose_set_is_full() {
    // Four flows in a set of two: one that lost its place may come back to the other while a packet
    // of it still waits.
    let reorders = (0..200).any(|seed| {
        let queue =
            Queue::of_design(DesignSettings::Cake(cake::Settings { queues: 2, ways: 2, ..Default::default() }), None);
        let mut cake = queue.build(&Line { seed, ..Line::new(rate(8_000_000)) });
        let (mut fates, mut draw) = (Fates::new(), Draw::new(seed));
        let mut last = [0; 4];
        (1..200_u64).any(|token| {
            let flow = draw.below(4);
            let header = between(flow as u32, 9, 7, 0);
            let packet = Packet { label: flow as u32, ..Packet::new(token, Time(token), 1000) };
            cake.enqueue(Time(token), packet, &header, &mut fates);
            if !draw.once_in(3)
                && let Dequeue::Send(packet) = cake.dequeue(Time(token), &mut fates)
            {
                let before = std::mem::replace(&mut last[packet.label as usize], packet.token);
                return before > packet.token;
            }
            false
        })
    });
    assert!(reorders);
}

/// The tokens that the filter takes out of acknowledgements (token, port, number, marks), and how
/// many packets are left.
fn filtered(ack_filter: cake::AckFilter, offers: &[(u64, u16, u32, Marks)]) -> (Vec<u64>, u64) {
    let mut cake = cake(cake::Settings { ack_filter, ..Default::default() });
    let mut fates = Fates::new();
    for (token, port, number, marks) in offers {
        let mut packet = Packet::new(*token, Time(1), 40);
        (packet.acknowledges, packet.marks) = (NonZeroU32::new(*number), *marks);
        cake.enqueue(Time(1), packet, &between(1, 2, *port, 0), &mut fates);
    }
    assert!(fates.iter().all(|fate| fate.outcome == Outcome::Dropped(Reason::Redundant)));
    (fates.iter().map(|fate| fate.packet.token).collect(), cake.held().packets)
}

#[test]
fn cake_filters_acknowledgements_and_keeps_what_they_say() {
    use cake::AckFilter::{Aggressive, Conservative, None};
    let plain = Marks::NONE;
    // 10, 20 and 30 are made unnecessary one by one; the second 30 only when there are two of them.
    // The mark of 40 is kept.
    let one_flow = [(0, 7, 10, plain), (1, 7, 20, plain), (2, 7, 30, plain), (3, 7, 30, plain), (4, 7, 40, Marks::CE)];
    // Another flow's, a data packet, and a number past the wrap.
    let others = [(5, 8, 5, plain), (6, 8, 0, plain), (7, 9, u32::MAX, plain), (8, 9, 2, plain)];
    let all = [&one_flow[..], &others].concat();
    assert_eq!(filtered(None, &all), (vec![], 9));
    assert_eq!(filtered(Aggressive, &all), (vec![0, 1, 2, 7], 5));
    // The conservative one wants a second that is unnecessary, and takes the one nearest the head.
    assert_eq!(filtered(Conservative, &all), (vec![0, 1], 7));
    let many: Vec<_> = (0..100).map(|token| (token, 7, 10 + token as u32, plain)).collect();
    assert_eq!(filtered(Conservative, &many), ((0..98).collect(), 2));
    assert_eq!(filtered(Aggressive, &many), ((0..99).collect(), 1));
}

#[test]
fn cake_lets_voice_below_its_threshold_go_first() {
    // A flood of best effort at 10 Mbit/s, and voice at 2.4 of the 2.5 Mbit/s of its threshold,
    // each 1000 B.
    let settings = cake::Settings { rate: Rate::new(10_000_000), ..Default::default() };
    let mut cake = cake(settings);
    let (mut fates, mut worst, mut next) = (Fates::new(), Time::ZERO, Time::ZERO);
    let mut offers: Vec<(u64, u8)> = (0..20_000).map(|at| (at * 400_000_000, 0)).collect();
    offers.extend((0..2400).map(|at| (at * 3_333_333_333, 46)));
    offers.sort_unstable();
    for (token, (time, dscp)) in offers.iter().enumerate() {
        while next < Time(*time) {
            match cake.dequeue(next, &mut fates) {
                Dequeue::Send(packet) if packet.tos == 46 << 2 => worst = worst.max(next - packet.arrival),
                Dequeue::Send(_) => {}
                Dequeue::NotBefore(time) => next = time,
                Dequeue::Empty => next = Time(*time),
            }
        }
        next = Time(*time);
        let packet = Packet { tos: dscp << 2, ..Packet::new(token as u64, next, 1000) };
        cake.enqueue(next, packet, &between(1, 2, u16::from(*dscp), dscp << 2), &mut fates);
    }
    assert!(fates.iter().all(|fate| fate.packet.tos == 0), "no packet of voice is lost");
    // No longer than the packet that the shaper lets go, and its own.
    assert!(worst < Time(2 * 800_000_000), "{worst:?}");
    assert!(number(&*cake, "voice/sent_packets") > 2300.0 && number(&*cake, "best_effort/dropped") > 0.0);
}

#[test]
fn cake_knows_the_presets_and_round_trips_of_tc() {
    let settings = |text: &str| fairq_sched::design::cake::Settings {
        preset: Some(match text {
            "docsis" => cake::Preset::Docsis,
            _ => cake::Preset::PppoeLlcsnap,
        }),
        rate: Rate::new(8_000_000),
        ..Default::default()
    };
    // 14 B of Ethernet are taken off: 100 + 18; at least 64; 100 + 40 are three cells.
    for (preset, length, bytes) in [("docsis", 114, 118), ("docsis", 54, 64), ("pppoe", 114, 159)] {
        let mut cake = cake(settings(preset));
        let mut fates = Fates::new();
        for token in 0..2 {
            let packet = Packet { link_header: 14, ..Packet::new(token, Time(0), length) };
            cake.enqueue(Time(0), packet, &between(1, 2, 3, 0), &mut fates);
        }
        assert!(matches!(cake.dequeue(Time(0), &mut fates), Dequeue::Send(_)));
        assert_eq!(cake.dequeue(Time(0), &mut fates), Dequeue::NotBefore(Time(bytes * 1_000_000)), "{preset}");
    }
    // A local network's CoDel: 50 us, and 1 ms.
    let lan = cake(cake::Settings { rtt: cake::Rtt::Lan, ..Default::default() });
    assert_eq!([number(&*lan, "voice/target_s"), number(&*lan, "voice/interval_s")], [50e-6, 1e-3]);
}

#[test]
fn cake_and_fq_codel_count_the_memory_of_the_kernel() {
    // A packet of 60 B takes 768, one of 1514 B 2304 (`truesize`): of 20000 B that is 26 and 8.
    let memory = Bytes(20_000);
    let designs = [
        DesignSettings::Cake(cake::Settings { memory: Some(memory), ..cake::Settings::default() }),
        DesignSettings::FqCodel(fq_codel::Settings { memory, ..fq_codel::Settings::default() }),
    ];
    for design in designs {
        for (length, held) in [(60, 26), (1514, 8)] {
            let queue = Queue::of_design(design.clone(), None);
            let mut discipline = queue.build(&Line::new(rate(1_000_000)));
            let mut fates = Fates::new();
            for token in 0..held + 1 {
                discipline.enqueue(
                    Time::ZERO,
                    Packet::new(token, Time::ZERO, length),
                    &between(1, 2, 3, 0),
                    &mut fates,
                );
                assert_eq!(fates.is_empty(), token < held, "{} {length} {token}", design.name());
            }
        }
    }
}

/// By hand: a flow of two packets of a quantum each is sparse until its second is looked at, and
/// takes turns from then on; that it is empty is found at a look with another packet there.
#[test]
fn cake_counts_how_long_flows_are_sparse_and_bulk() {
    let mut cake = cake(cake::Settings { quantum: Some(Bytes(1000)), ..Default::default() });
    let mut fates = Fates::new();
    let ms = |ms: u64| Time::from_ms(ms);
    for (token, port) in [(0, 1), (1, 1)] {
        cake.enqueue(ms(1), Packet::new(token, ms(1), 1000), &between(1, 2, port, 0), &mut fates);
    }
    cake.dequeue(ms(2), &mut fates);
    cake.dequeue(ms(4), &mut fates);
    assert_eq!(flow_times(&*cake, ms(9)), [3_000_000, 5_000_000, 0]);
    assert_eq!(flow_times(&*cake, ms(10)), [3_000_000, 6_000_000, 0]);
    cake.enqueue(ms(12), Packet::new(2, ms(12), 1000), &between(1, 2, 2, 0), &mut fates);
    cake.dequeue(ms(13), &mut fates);
    assert_eq!(flow_times(&*cake, ms(13)), [4_000_000, 9_000_000, 0]);
}

/// What is counted at once is what a reader of `tc -s` would add up, step by step.
#[test]
fn cake_counts_flows_as_one_who_looks_at_each_step() {
    let settings = cake::Settings { tins: cake::Tins::BestEffort, memory: Some(Bytes(60_000)), ..Default::default() };
    let (mut cake, mut draw, mut fates) = (cake(settings), Draw::new(7), Fates::new());
    let mut sums = [0u128; 3];
    let (mut now, kinds) = (0u64, ["sparse_flows", "bulk_flows", "unresponsive_flows"]);
    for token in 0..40_000u64 {
        let step = 100_000 * (1 + draw.below(20));
        let names = kinds.map(|kind| format!("best_effort/{kind}"));
        for (sum, name) in sums.iter_mut().zip(&names) {
            *sum += number(&*cake, name) as u128 * u128::from(step);
        }
        now += step;
        let (at, port) = (Time(now * 1000), if draw.below(3) > 0 { draw.below(4) } else { draw.below(60) });
        if draw.below(2) == 0 {
            let header = between(1, 2, port as u16, 0);
            cake.enqueue(at, Packet::new(token, at, 200 + draw.below(1300) as u32), &header, &mut fates);
        } else {
            cake.dequeue(at, &mut fates);
        }
        fates.clear();
    }
    assert!(sums.iter().all(|sum| *sum > 0), "{sums:?}");
    assert_eq!(flow_times(&*cake, Time(now * 1000)), sums);
}
