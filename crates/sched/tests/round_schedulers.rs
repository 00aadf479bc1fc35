//! The schedulers of rounds send what slow and obvious ones send, and do what their cards say.

use crate::rounds::plain::{PlainDrr, PlainQfq, PlainSrr, PlainWrr};
use crate::rounds::{Arena, Oracle, PLAYS, line, play};
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fates, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::schedule::{drr, ets, qfq, qfq_plus, srr, stochastic_fq, wrr};
use fairq_sched::units::{Bytes, Limit, Rate, Time};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::header;
use fairq_testkit::shown::number;

/// Plays all plays with `weights` and `lengths`, the scheduler against its oracle.
fn compare(scheduler: &SchedulerSettings, weights: &[u32], lengths: &[u64], oracle: impl Fn() -> Box<dyn Oracle>) {
    for (at, kind) in PLAYS.into_iter().enumerate() {
        for round in 0..4 {
            let seed = at as u64 * 4 + round;
            let _replay =
                Replay(format!("seed {seed}, {kind:?}, {scheduler:?}, weights {weights:?}, lengths {lengths:?}"));
            let mut arena = Arena::new(scheduler, weights, Some(oracle()));
            play(&mut arena, &mut Draw::new(seed), kind, lengths, 600, round % 2 == 1);
        }
    }
}

const LENGTHS: [&[u64]; 5] = [&[1000], &[40, 576, 1500], &[1, 2, 3], &[1, 64, 1514, 9000], &[512, 1024]];

#[test]
fn drr_is_the_plain_turns() {
    let tables: [&[u32]; 4] = [&[1000; 5], &[1000, 2000, 3500, 10], &[1, 1_000_000_000], &[7]];
    for weights in tables {
        for (quantum, lengths) in [1514, 1, 500, 100_000].into_iter().flat_map(|q| LENGTHS.map(|l| (q, l))) {
            // Turn by turn a byte at a time for ten thousandths of a byte takes for ever.
            if quantum * u64::from(*weights.iter().min().unwrap_or(&0)) >= 500 {
                let scheduler =
                    SchedulerSettings::Drr(drr::Settings { quantum: Bytes(quantum), ..drr::Settings::default() });
                compare(&scheduler, weights, lengths, || Box::new(PlainDrr::new(quantum, weights)));
            }
        }
    }
}

#[test]
fn wrr_is_the_plain_rounds() {
    let tables: [&[u32]; 5] = [&[1000; 4], &[3000, 1000, 2000], &[2500, 400, 1000], &[1, 7, 13], &[1, 50_000, 1000]];
    for (weights, interleaved) in tables.into_iter().flat_map(|weights| [(weights, false), (weights, true)]) {
        let scheduler = SchedulerSettings::Wrr(wrr::Settings { interleaved });
        compare(&scheduler, weights, &[1000], || Box::new(PlainWrr::new(interleaved, weights)));
    }
}

#[test]
fn srr_is_the_written_out_sequence() {
    let tables: [&[u32]; 4] = [&[1000; 4], &[5000, 2000, 2000, 3000, 1000], &[31_000, 1000, 16_000], &[8000]];
    for (weights, lengths) in tables.into_iter().flat_map(|weights| LENGTHS.map(|lengths| (weights, lengths))) {
        for quantum in [1, 1514] {
            let scheduler = SchedulerSettings::Srr(srr::Settings { quantum: Bytes(quantum), steps: 1 });
            compare(&scheduler, weights, lengths, || Box::new(PlainSrr::new(quantum, weights)));
        }
    }
}

#[test]
fn qfq_is_its_definition() {
    let tables: [&[u32]; 8] = [
        &[1000; 6],
        &[500, 500, 500, 500, 500, 500, 500, 500, 1000, 1000, 1000, 1000, 2000, 2000, 4000, 4000, 8000],
        &[1000, 2000, 4000, 8000, 16_000, 500, 250, 32_000, 1000, 500],
        &[1000, 2000, 3000, 500],
        &[1, 1_000_000_000],
        &[1_000_000_000, 1, 1, 1000],
        &[333, 7001, 1000, 64_000, 50, 50],
        &[250],
    ];
    for (weights, lengths) in tables.into_iter().flat_map(|weights| LENGTHS.map(|lengths| (weights, lengths))) {
        // The last of these is shorter than most packets.
        for longest in [1514, 1024, 9000, 1 << 30, 50] {
            let scheduler = SchedulerSettings::Qfq(qfq::Settings { longest: Bytes(longest) });
            compare(&scheduler, weights, lengths, || Box::new(PlainQfq::new(longest, weights)));
        }
    }
}

#[test]
fn qfq_plus_of_single_flows_is_qfq() {
    // Budgets are one longest packet: with packets of that length a service is a packet.
    for weights in [&[1000, 2000, 3000, 500][..], &[1000; 6], &[1, 1_000_000_000]] {
        let longest = Bytes(1514);
        let plus = SchedulerSettings::QfqPlus(qfq_plus::Settings { longest, members: 1 });
        for (at, kind) in PLAYS.into_iter().enumerate() {
            let _replay = Replay(format!("{kind:?}, {weights:?}"));
            let orders = [&plus, &SchedulerSettings::Qfq(qfq::Settings { longest })].map(|scheduler| {
                let mut arena = Arena::new(scheduler, weights, None);
                play(&mut arena, &mut Draw::new(at as u64), kind, &[1514], 800, at % 2 == 1);
                arena.order()
            });
            assert_eq!(orders[0], orders[1]);
        }
    }
}

/// The order of departures when each flow has `packets` packets of `length` from the start.
fn order(scheduler: &SchedulerSettings, weights: &[u32], packets: &[u32], length: u64) -> Vec<usize> {
    let mut arena = Arena::new(scheduler, weights, None);
    for (flow, packets) in packets.iter().enumerate() {
        (0..*packets).for_each(|_| arena.arrive(flow, length));
    }
    while arena.send().is_some() {}
    arena.order()
}

#[test]
fn srr_sends_the_papers_sequence() {
    // Weights 5, 2, 2, 3, 1: f1, f2 f3 f4, f1, f1 f4 f5, f1, f2 f3 f4, f1.
    let scheduler = SchedulerSettings::Srr(srr::Settings { quantum: Bytes(1000), steps: 1 });
    let round = [0, 1, 2, 3, 0, 0, 3, 4, 0, 1, 2, 3, 0];
    let weights = [5000, 2000, 2000, 3000, 1000];
    let order = order(&scheduler, &weights, &[10, 4, 4, 6, 2], 1000);
    assert_eq!(order, [round, round].concat());
}

#[test]
fn wrr_sends_its_rounds_at_once_or_interleaved() {
    let wrr = |interleaved| SchedulerSettings::Wrr(wrr::Settings { interleaved });
    let (weights, packets) = ([3000, 1000, 2000], [6, 2, 4]);
    let (at_once, by_turns) = ([0, 0, 0, 1, 2, 2], [0, 1, 2, 0, 2, 0]);
    assert_eq!(order(&wrr(false), &weights, &packets, 100), [at_once, at_once].concat());
    // The flows that have ended their part first are the first of the next round.
    assert_eq!(order(&wrr(true), &weights, &packets, 100), [by_turns, [1, 2, 0, 2, 0, 0]].concat());
    // Two packets in five rounds for a weight of 0.4: in the third and the fifth.
    assert_eq!(order(&wrr(false), &[1000, 400], &[10, 4], 100), [0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1]);
}

#[test]
fn qfq_serves_a_small_case_as_by_hand() {
    // Weights 2 and 1, packets of 1000: slots are 512 and 1024 wide, V grows by 1000/3. For the
    // first flow S goes up by 500, for the second by 1000. Flow: its group's S and F, V when it is
    // chosen.
    //  0: S 0, F 1024, V 0 (second: F 2048)    0: its S 500 is in the slot of 0, V 333
    //  0: S 512, F 1536, V 667                 1: the first flow's S 1024 is above V 1000; F 2048
    //  0: S 1024, F 2048, V 1333, a tie        1: F 2048, V 1667, the first has 1536 and F 2560
    //  0: F 2560, V 2000 (second: 3072)        0: S 2048, F 3072, V 2333, a tie
    //  1: F 3072, V 2667 (first: 3584)         0: F 3584, V 3000 (second: 4096)
    //  0: S 3072, F 4096, V 3333, a tie        1: F 4096, V 3667 (first: 4608)
    let scheduler = SchedulerSettings::Qfq(qfq::Settings { longest: Bytes(1000) });
    assert_eq!(order(&scheduler, &[2000, 1000], &[8, 4], 1000), [0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1]);
}

/// The flows of a discipline that is offered packets of one length and asked for all of them.
fn drain(discipline: &mut dyn Discipline) -> Vec<u64> {
    let mut next = || match discipline.dequeue(Time::from_s(1000), &mut Fates::new()) {
        Dequeue::Send(packet) => Some(packet.token),
        _ => None,
    };
    core::iter::from_fn(&mut next).collect()
}

fn stochastic(buckets: u32, perturb: Option<Time>) -> Queue {
    let settings = stochastic_fq::Settings { buckets, quantum: None, perturb };
    Queue::new(SchedulerSettings::StochasticFq(settings), Some(Limit::Packets(100_000)))
}

#[test]
fn stochastic_fq_collides_as_often_as_chance_has_it() {
    // A flow shares its bucket if its first packet makes no other bucket wait, when all other flows
    // wait already.
    let (buckets, flows, keyings) = (64, 40, 4000);
    let mut shared = 0u32;
    for seed in 0..keyings {
        let mut line = Line::new(Rate::MAX);
        line.seed = seed;
        let mut discipline = stochastic(buckets, None).build(&line);
        let mut offer = |flow: u32| {
            let packet = Packet::new(flow.into(), Time::ZERO, 100);
            discipline.enqueue(Time::ZERO, packet, &header(flow), &mut Fates::new());
            number(&*discipline, "backlogged_buckets")
        };
        (1..flows).for_each(|flow| {
            offer(flow);
        });
        let before = offer(1);
        shared += u32::from(offer(0) == before);
    }
    let alone: f64 = (1..flows).map(|_| 1.0 - 1.0 / f64::from(buckets)).product();
    let expected = 1.0 - alone;
    let found = f64::from(shared) / keyings as f64;
    // Four standard deviations of a proportion.
    let deviation = (expected * (1.0 - expected) / keyings as f64).sqrt();
    assert!((found - expected).abs() < 4.0 * deviation, "{found}, expected {expected}");
}

#[test]
fn stochastic_fq_keeps_the_order_of_a_flow_over_perturbations() {
    // A hash for each millisecond, and packets that wait for hundreds of them.
    let mut discipline = stochastic(16, Some(Time::from_ms(1))).build(&Line::new(Rate::MAX));
    let (mut draw, mut fates) = (Draw::new(3), Fates::new());
    let (mut flow_of, mut next, mut moved) = (Vec::new(), [0; 30], 0);
    let mut check = |flow_of: &[usize], token: u64| {
        let flow = flow_of[token as usize];
        assert!(token >= next[flow], "packet {token} of flow {flow} leaves after a later one");
        next[flow] = token + 1;
    };
    for step in 0..20_000 {
        let now = Time(step * 100_000_000);
        if draw.below(100) < 53 {
            let flow = draw.below(30) as usize;
            let packet = Packet::new(flow_of.len() as u64, now, 100);
            flow_of.push(flow);
            discipline.enqueue(now, packet, &header(flow as u32), &mut fates);
        } else if let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) {
            check(&flow_of, packet.token);
            moved += 1;
        }
        assert!(number(&*discipline, "remembered_flows") <= 30.0);
    }
    assert!(moved > 5000 && discipline.held().packets > 100);
    drain(&mut *discipline).iter().for_each(|token| check(&flow_of, *token));
    assert_eq!(number(&*discipline, "remembered_flows"), 0.0);
}

#[test]
fn stochastic_fq_keeps_nothing_of_flows_that_left() {
    let mut discipline = stochastic(128, Some(Time::from_ms(10))).build(&Line::new(Rate::MAX));
    let mut fates = Fates::new();
    for flow in 0..1_000_000_u32 {
        let now = Time(u64::from(flow) * 1_000_000);
        discipline.enqueue(now, Packet::new(flow.into(), now, 100), &header(flow), &mut fates);
        if flow >= 10 {
            discipline.dequeue(now, &mut fates);
        }
    }
    assert_eq!(number(&*discipline, "remembered_flows"), 10.0);
    assert_eq!(number(&*discipline, "flows"), 0.0, "no flow has a slot of its own");
}

/// A packet of band `precedence` of the map that names each band by its own number.
fn ets(strict: u32, quanta: &[u64]) -> Box<dyn Discipline> {
    let settings = ets::Settings {
        strict,
        quanta: quanta.iter().map(|quantum| Bytes(*quantum)).collect(),
        map: (0..8).map(|precedence| u16::min(precedence, strict as u16 + quanta.len() as u16 - 1)).collect(),
        ..ets::Settings::default()
    };
    let mut of_class = line(&[]);
    of_class.classes = vec![(header(77), String::from("band1"))];
    Queue::new(SchedulerSettings::Ets(settings), None).build(&of_class)
}

fn offer(discipline: &mut dyn Discipline, token: u64, flow: u32, band: u8, length: u32) {
    let mut packet = Packet::new(token, Time::ZERO, length);
    packet.tos = band << 5;
    discipline.enqueue(Time::ZERO, packet, &header(flow), &mut Fates::new());
}

#[test]
fn ets_bands_share_by_their_quanta() {
    let mut discipline = ets(1, &[3000, 1500]);
    for token in 0..3000u64 {
        let band = 1 + (token % 2) as u8;
        offer(&mut *discipline, token, 1, band, [300, 1500][band as usize - 1]);
    }
    // Band 1 sends ten packets of 300 a turn, band 2 one of 1500.
    let order: Vec<u64> = drain(&mut *discipline).iter().map(|token| 1 + token % 2).collect();
    assert_eq!(order[..22], [[1; 10].as_slice(), &[2], &[1; 10], &[2]].concat());
    // When band 1 is empty the other has all.
    assert_eq!(order[..1650].iter().filter(|band| **band == 1).count(), 1500);
    assert!(order[1650..].iter().all(|band| *band == 2));
}

#[test]
fn ets_strict_bands_starve_the_others() {
    let mut discipline = ets(2, &[1500]);
    (0..100).for_each(|token| offer(&mut *discipline, token, 1, 2, 100));
    for token in 100..1000 {
        offer(&mut *discipline, token, 2, (token % 2) as u8, 100);
        let Dequeue::Send(packet) = discipline.dequeue(Time(token), &mut Fates::new()) else { panic!("packets wait") };
        assert_eq!(packet.token, token, "a strict band that always has a packet is all that is served");
    }
    // Strict bands are strict among each other; a class goes before the precedence.
    offer(&mut *discipline, 1000, 1, 1, 100);
    offer(&mut *discipline, 1001, 1, 0, 100);
    offer(&mut *discipline, 1002, 77, 2, 100);
    assert_eq!(drain(&mut *discipline)[..4], [1001, 1000, 1002, 0]);
}

#[test]
fn ets_reorders_a_flow_over_its_bands() {
    let mut discipline = ets(1, &[1500]);
    offer(&mut *discipline, 0, 5, 1, 100);
    offer(&mut *discipline, 1, 5, 0, 100);
    offer(&mut *discipline, 2, 5, 1, 100);
    assert_eq!(drain(&mut *discipline), [1, 0, 2]);
}
