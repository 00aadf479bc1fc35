//! The bounds that the cards of the round schedulers claim, on random and on adversarial arrivals.

use crate::rounds::{Arena, Event, PLAYS, play};
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::schedule::{drr, qfq, qfq_plus, srr, wrr};
use fairq_sched::units::Bytes;
use fairq_testkit::draw::{Draw, Replay};

/// For each pair of flows, over every interval of departures in which both waited: how far the
/// first got ahead of the second or behind it, as |Wi wj - Wj wi|, at most.
fn relative_unfairness(events: &[Event], weights: &[u64]) -> Vec<((usize, usize), i128)> {
    let mut waiting = vec![0u32; weights.len()];
    let pairs = (0..weights.len()).flat_map(|first| (first + 1..weights.len()).map(move |second| (first, second)));
    // Ahead now, least and most since both wait; and the greatest difference so far.
    let mut found: Vec<_> = pairs.map(|pair| (pair, (0i128, 0i128, 0i128), 0i128)).collect();
    for event in events {
        let of = match event {
            Event::Arrived(flow) => {
                waiting[*flow] += 1;
                continue;
            }
            Event::Idle => continue,
            Event::Sent(flow, _) | Event::Removed(flow) => *flow,
        };
        waiting[of] -= 1;
        let length = if let Event::Sent(_, length) = event { i128::from(*length) } else { 0 };
        for ((first, second), (ahead, least, most), worst) in &mut found {
            if of == *first {
                *ahead += length * i128::from(weights[*second]);
            } else if of == *second {
                *ahead -= length * i128::from(weights[*first]);
            }
            (*least, *most) = ((*least).min(*ahead), (*most).max(*ahead));
            let (first_waits, second_waits) = (waiting[*first] > 0, waiting[*second] > 0);
            *worst = (*worst).max(*most - *least);
            if !first_waits || !second_waits {
                (*ahead, *least, *most) = (0, 0, 0);
            }
        }
    }
    found.into_iter().map(|(pair, _, worst)| (pair, worst)).collect()
}

/// For each flow, over every interval that begins at a departure while it waits and ends with one
/// of its own: by how much what it got stays below its part of what was sent, at most, as wi W - Wi
/// sum(w).
fn worst_case_unfairness(events: &[Event], weights: &[u64]) -> Vec<i128> {
    let sum = i128::from(weights.iter().sum::<u64>());
    let mut waiting = vec![0u32; weights.len()];
    // How far behind now and at least since it waits; and the greatest difference so far.
    let mut found = vec![(0i128, 0i128, 0i128); weights.len()];
    for event in events {
        match event {
            Event::Arrived(flow) => {
                waiting[*flow] += 1;
                if waiting[*flow] == 1 {
                    found[*flow].1 = found[*flow].0;
                }
            }
            Event::Removed(flow) => waiting[*flow] -= 1,
            Event::Idle => {}
            Event::Sent(of, length) => {
                waiting[*of] -= 1;
                for (flow, (behind, least, worst)) in found.iter_mut().enumerate() {
                    *behind += i128::from(weights[flow]) * i128::from(*length);
                    if flow == *of {
                        *behind -= sum * i128::from(*length);
                        *worst = (*worst).max(*behind - *least);
                    }
                    *least = (*least).min(*behind);
                }
            }
        }
    }
    found.into_iter().map(|(_, _, worst)| worst).collect()
}

/// Plays all plays, with removals in one of three rounds, and hands over what happened.
fn plays(scheduler: &SchedulerSettings, weights: &[u32], lengths: &[u64], mut judge: impl FnMut(&[Event])) {
    for (at, kind) in PLAYS.into_iter().enumerate() {
        for round in 0..3 {
            let seed = at as u64 * 3 + round;
            let _replay =
                Replay(format!("seed {seed}, {kind:?}, {scheduler:?}, weights {weights:?}, lengths {lengths:?}"));
            let mut arena = Arena::new(scheduler, weights, None);
            play(&mut arena, &mut Draw::new(seed), kind, lengths, 1000, round % 2 == 1);
            judge(&arena.events);
        }
    }
}

const TABLES: [&[u32]; 6] = [
    &[1000; 6],
    &[1000, 2000, 3500, 500],
    &[1, 1_000_000_000],
    &[1_000_000_000, 1, 1, 1000],
    &[333, 7001, 1000, 64_000, 50, 50],
    &[1000, 1000],
];
const LENGTHS: [&[u64]; 4] = [&[1514], &[40, 576, 1500], &[1, 64, 1514], &[40, 9000]];

/// Every table of weights with every set of lengths.
fn tables() -> impl Iterator<Item = (&'static [u32], &'static [u64])> {
    TABLES.into_iter().flat_map(|weights| LENGTHS.into_iter().map(move |lengths| (weights, lengths)))
}

fn wide(weights: &[u32]) -> Vec<u64> {
    weights.iter().map(|weight| u64::from(*weight)).collect()
}

fn drr(quantum: u64) -> SchedulerSettings {
    SchedulerSettings::Drr(drr::Settings { quantum: Bytes(quantum), ..drr::Settings::default() })
}

#[test]
fn drr_is_fair_over_every_interval() {
    for ((weights, lengths), quantum) in tables().flat_map(|table| [1, 500, 1514, 9000].map(|quantum| (table, quantum)))
    {
        // Qi, in thousandths of a byte.
        let quanta: Vec<u64> = weights.iter().map(|weight| u64::from(*weight) * quantum).collect();
        let longest = i128::from(lengths[lengths.len() - 1]);
        plays(&drr(quantum), weights, lengths, |events| {
            for ((first, second), worst) in relative_unfairness(events, &quanta) {
                // |Wi q/Qi - Wj q/Qj| <= 2 Lmax + q, times Qi Qj / q: the two longest packets count by their own
                // quanta, and the smaller of the two is q.
                let (qi, qj) = (i128::from(quanta[first]), i128::from(quanta[second]));
                let least = qi.min(qj);
                let bound = (2 * longest * 1000 + least) * (qi * qj / least) / 1000;
                assert!(worst <= bound, "flows {first} and {second}: {worst} > {bound}");
            }
        });
    }
}

#[test]
fn drr_serves_its_quanta_turn_by_turn() {
    // While all wait and quanta hold a packet, the packets of a flow that follow each other are a
    // turn.
    for seed in 0..60 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let weights = [1000, 1000, 2500, 1007];
        let mut arena = Arena::new(&drr(1514), &weights, None);
        (0..400).for_each(|_| (0..4).for_each(|flow| arena.arrive(flow, 1 + draw.below(1514))));
        let (mut turns, mut bytes, mut last) = ([0u64; 4], [0u64; 4], None);
        while arena.waiting.iter().all(|waiting| *waiting > 1) {
            let flow = arena.send().expect("all wait");
            if last != Some(flow) {
                if let Some(flow) = last {
                    let flow: usize = flow;
                    // The deficit that its turn left: what m turns gave and it did not send.
                    let given = turns[flow] * u64::from(weights[flow]) * 1514;
                    assert!(given >= bytes[flow] * 1000 && given < (bytes[flow] + 1514) * 1000, "flow {flow}");
                }
                turns[flow] += 1;
                last = Some(flow);
            }
            let Some(Event::Sent(_, length)) = arena.events.last() else { panic!("a packet was sent") };
            bytes[flow] += length;
        }
        assert!(turns.iter().all(|turns| *turns > 50), "{turns:?}");
    }
}

#[test]
fn drr_is_a_latency_rate_server() {
    // Work is time: a byte takes a unit. A packet that comes while another is sent comes when that
    // one has just begun.
    for (weights, lengths) in
        [(TABLES[0], LENGTHS[1]), (TABLES[5], LENGTHS[2]), (&[1000, 2000, 3500, 1000], LENGTHS[1])]
    {
        let quanta: Vec<i128> = weights.iter().map(|weight| i128::from(*weight) * 1514 / 1000).collect();
        let frame = quanta.iter().sum::<i128>();
        plays(&drr(1514), weights, lengths, |events| {
            let (mut begun, mut now) = (0i128, 0i128);
            // Since when each flow waits, and what it was served since.
            let mut since: Vec<Option<(i128, i128)>> = vec![None; weights.len()];
            let mut waiting = vec![0u32; weights.len()];
            for event in events {
                match event {
                    Event::Arrived(flow) => {
                        waiting[*flow] += 1;
                        since[*flow].get_or_insert((begun, 0));
                    }
                    Event::Removed(flow) => {
                        waiting[*flow] -= 1;
                        if waiting[*flow] == 0 {
                            since[*flow] = None;
                        }
                    }
                    Event::Idle => begun = now,
                    Event::Sent(flow, length) => {
                        (begun, now) = (now, now + i128::from(*length));
                        let (start, served) = since[*flow].expect("it waits");
                        // W >= ri (t - s - Theta), Theta = 3 F - 2 Qi, is closest when its packet
                        // begins: from then on it is served faster than at ri.
                        let latency = 3 * frame - 2 * quanta[*flow];
                        assert!(served * frame >= quanta[*flow] * (begun - start - latency), "flow {flow}");
                        waiting[*flow] -= 1;
                        let served = served + i128::from(*length);
                        since[*flow] = (waiting[*flow] > 0).then_some((start, served));
                    }
                }
            }
        });
    }
}

#[test]
fn wrr_sends_its_weights_in_packets_a_round() {
    for interleaved in [false, true] {
        let scheduler = SchedulerSettings::Wrr(wrr::Settings { interleaved });
        // All wait always: round by round.
        let weights = [3000, 1000, 2400, 500];
        let mut arena = Arena::new(&scheduler, &weights, None);
        let packets = [300, 100, 240, 50];
        for (flow, packets) in packets.into_iter().enumerate() {
            (0..packets).for_each(|_| arena.arrive(flow, 100));
        }
        while arena.send().is_some() {}
        let order = arena.order();
        for ten_rounds in order.chunks(69) {
            let count = |flow| ten_rounds.iter().filter(|of| **of == flow).count();
            assert_eq!([count(0), count(1), count(2), count(3)], [30, 10, 24, 5]);
        }
        // As they come and go: two rounds apart at most, and a packet of each for what is not
        // whole.
        for weights in
            [&[1000; 6][..], &[3000, 1000, 7000], &[2500, 400, 1000], &[1000, 1_000_000], &[1, 1_000_000_000]]
        {
            plays(&scheduler, weights, &[1], |events| {
                for ((first, second), worst) in relative_unfairness(events, &wide(weights)) {
                    let (wi, wj) = (i128::from(weights[first]), i128::from(weights[second]));
                    // |ni/wi - nj/wj| <= 2 + 1/wi + 1/wj, the last two if weights are not whole.
                    let part = |w: i128| if w % 1000 == 0 { 0 } else { 1000 };
                    let bound = 2 * wi * wj / 1000 + (part(wi) * wj + part(wj) * wi) / 1000;
                    assert!(worst <= bound, "flows {first} and {second}: {worst} > {bound}");
                }
            });
        }
    }
}

fn srr(quantum: u64, steps: u32) -> SchedulerSettings {
    SchedulerSettings::Srr(srr::Settings { quantum: Bytes(quantum), steps })
}

#[test]
fn srr_gives_each_flow_its_steps_a_round() {
    for (weights, steps) in [(&[5000, 2000, 2000, 3000, 1000][..], 1), (&[1000, 333, 2001], 1000), (&[9000, 500], 2)] {
        let mut arena = Arena::new(&srr(100, steps), weights, None);
        let visits: Vec<usize> = weights.iter().map(|weight| (*weight as usize * steps as usize) / 1000).collect();
        let rounds = 3;
        for (flow, visits) in visits.iter().enumerate() {
            (0..rounds * visits).for_each(|_| arena.arrive(flow, 100));
        }
        while arena.send().is_some() {}
        for round in arena.order().chunks(visits.iter().sum()) {
            let counts = (0..visits.len()).map(|flow| round.iter().filter(|of| **of == flow).count());
            assert!(counts.eq(visits.iter().copied()), "{round:?}");
        }
    }
}

#[test]
fn srr_is_fair_over_every_interval() {
    for ((weights, lengths), steps) in tables().flat_map(|table| [1, 1000].map(|steps| (table, steps))) {
        let of: Vec<u64> = weights.iter().map(|w| ((u64::from(*w) * u64::from(steps) + 500) / 1000).max(1)).collect();
        // k: the bits of the greatest weight.
        let order = i128::from(of.iter().max().map_or(0, |most| most.ilog2() + 1));
        let longest = i128::from(lengths[lengths.len() - 1]);
        // The quantum is the longest packet from the start.
        plays(&srr(longest as u64, steps), weights, lengths, |events| {
            for ((first, second), worst) in relative_unfairness(events, &of) {
                let (wi, wj) = (i128::from(of[first]), i128::from(of[second]));
                // (k + 2) Lmax / (2 min(wi, wj)), times wi wj; and the deficits of both.
                let deficits = if lengths.len() > 1 { longest * (wi + wj) } else { 0 };
                let bound = (order + 2) * longest * wi.max(wj) / 2 + deficits;
                assert!(worst <= bound, "flows {first} and {second}: {worst} > {bound}");
            }
        });
    }
}

/// 3 wi si + 2 wi Lmax and `more` bytes, weights normalised to sum 1, times the sum of weights in
/// thousandths.
fn qfq_bound(weights: &[u32], flow: usize, longest: u64, more: u64) -> f64 {
    let sum: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
    let weight = f64::from(weights[flow]);
    // si: the least power of two that is not below L/w, in bytes of weight one; 1/w is rounded down
    // in code.
    let least = longest as f64 * 1000.0 / weight * (1.0 - 1e-9);
    let mut width = 1.0 / 1_048_576.0;
    while width < least {
        width *= 2.0;
    }
    (3.0 * weight / 1000.0 * width + more as f64) * sum + 2.0 * weight * longest as f64
}

#[test]
fn qfq_keeps_its_worst_case_fair_index() {
    // Declared exactly, and too short: then the longest packet counts.
    for ((weights, lengths), declared) in tables().flat_map(|table| [(table, true), (table, false)]) {
        let longest = lengths[lengths.len() - 1];
        let settings = qfq::Settings { longest: Bytes(if declared { longest } else { 100 }) };
        plays(&SchedulerSettings::Qfq(settings), weights, lengths, |events| {
            for (flow, worst) in worst_case_unfairness(events, &wide(weights)).into_iter().enumerate() {
                let bound = qfq_bound(weights, flow, longest, 0);
                assert!(worst as f64 <= bound, "flow {flow}: {worst} > {bound}");
            }
        });
    }
}

#[test]
fn qfq_plus_keeps_its_worst_case_fair_index() {
    let many = LENGTHS.into_iter().map(|lengths| (&[1000; 24][..], lengths));
    for ((weights, lengths), members) in
        tables().chain(many).flat_map(|table| [1, 3, 8].map(|members| (table, members)))
    {
        let longest = lengths[lengths.len() - 1];
        let settings = qfq_plus::Settings { longest: Bytes(longest), members };
        plays(&SchedulerSettings::QfqPlus(settings), weights, lengths, |events| {
            for (flow, worst) in worst_case_unfairness(events, &wide(weights)).into_iter().enumerate() {
                let bound = qfq_bound(weights, flow, longest, u64::from(members - 1) * longest);
                assert!(worst as f64 <= bound, "flow {flow}: {worst} > {bound}");
            }
        });
    }
}
