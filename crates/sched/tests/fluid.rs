//! The round number and the fluid against references that share nothing with them: exact fractions
//! of a fluid without virtual time, and whole-number arithmetic of R.

use fairq_sched::fluid::gps::{Departure, Gps, Offer};
use fairq_sched::round::{BYTE, BYTE_WORK, Round, work};
use fairq_sched::units::{Rate, Time, Weight};
use fairq_testkit::arrivals::{Load, Pattern, SplitMix64, arrivals, weights};
use fairq_testkit::drift::drift;
use fairq_testkit::gps_oracle::{BigRational, serve};

/// The rates of the random cases: one that divides a second, one that does not, one at the end of
/// the range.
const RATES: [u64; 3] = [56_000, 9_999_991, 10_000_000_000_000];

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("within the range")
}

fn fraction(numerator: u128, denominator: u128) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

/// The time of 2^-20 byte in picoseconds.
fn slack(rate: Rate) -> BigRational {
    fraction(8 * 1_000_000_000_000, u128::from(rate.bit_per_s()) << 20)
}

fn cases() -> impl Iterator<Item = (Pattern, Load, u64)> {
    Pattern::ALL.into_iter().flat_map(|pattern| {
        (0..9).map(move |seed| {
            let load = Load { rate: rate(RATES[seed as usize % 3]), flows: 1 + (seed as u32 * 3) % 10, packets: 150 };
            (pattern, load, seed)
        })
    })
}

/// Packets of a byte over a byte a second, (flow, time in s, bytes), and when the fluid has served
/// them.
#[test]
fn the_fluid_finishes_the_worked_examples_on_time() {
    let finishes = |thousandths: [u32; 3], list: &[(u32, u64, u32)]| {
        let mut fluid = Gps::new(rate(8));
        let mut found = vec![Time::NEVER; list.len()];
        let mut departed = |d: Departure| found[d.token as usize] = d.time;
        for (token, (flow, now, length)) in list.iter().copied().enumerate() {
            let weight = Weight::from_thousandths(thousandths[flow as usize]).expect("a weight");
            fluid.offer(Time::from_s(now), Offer { flow, weight, length, token: token as u64 }, &mut departed);
        }
        fluid.finish(&mut departed);
        found.iter().map(|time| time.0 / 1_000_000_000).collect::<Vec<_>>()
    };
    // Three of A at 0, one of B at 1; weights of 1/2 and 1/4; A of three bytes at 0, B at 1, C
    // at 2.
    let (equal, halves) = ([1000; 3], [500, 250, 1000]);
    assert_eq!(finishes(equal, &[(0, 0, 1), (0, 0, 1), (0, 0, 1), (1, 1, 1)]), [1000, 3000, 4000, 3000]);
    assert_eq!(finishes(halves, &[(0, 0, 1), (1, 0, 1), (1, 0, 1)]), [1500, 2000, 3000]);
    assert_eq!(finishes(equal, &[(0, 0, 3), (1, 1, 1), (2, 2, 1)]), [5000, 3500, 4500]);
}

#[test]
fn a_packet_departs_from_the_fluid_within_a_picosecond_after_its_exact_time() {
    for (pattern, load, seed) in cases() {
        let list = arrivals(pattern, load, seed);
        let weights = weights(load.flows, seed);
        let exact = serve(load.rate, &weights, &list, None);
        let mut found: Vec<Option<Departure>> = vec![None; list.len()];
        let mut fluid = Gps::new(load.rate);
        let mut departed = |d: Departure| assert!(found[d.token as usize].replace(d).is_none());
        for (token, (now, flow, length)) in list.iter().copied().enumerate() {
            let offer = Offer { flow, weight: weights[flow as usize], length, token: token as u64 };
            fluid.offer(now, offer, &mut departed);
        }
        fluid.finish(&mut departed);
        for (packet, (found, exact)) in found.iter().zip(&exact.departures).enumerate() {
            let (found, exact) = (found.expect("departed"), exact.as_ref().expect("departed"));
            let name = format!("packet {packet} of {pattern:?}, {load:?}, seed {seed}");
            // Not rounded to picoseconds: the error is that of R alone.
            let inner = fraction(found.work, u128::from(load.rate.bit_per_s()) << 16) - exact;
            assert!(inner <= slack(load.rate) && -inner <= slack(load.rate), "{name}");
            let late = fraction(found.time.0.into(), 1) - exact;
            assert!(late >= -slack(load.rate) && late <= slack(load.rate) + fraction(1, 1), "{name}: {late}");
        }
    }
}

#[test]
fn the_work_done_for_a_flow_is_exact_at_any_time() {
    for (pattern, load, seed) in cases().step_by(2) {
        let list = arrivals(pattern, load, seed);
        let weights = weights(load.flows, seed);
        let last = list.last().map_or(0, |arrival| arrival.0.0) + load.rate.time_of_bits(100_000).0;
        let mut draw = SplitMix64(seed);
        for _ in 0..3 {
            let end = Time(draw.below(last + 1));
            let until: Vec<_> = list.iter().copied().filter(|arrival| arrival.0 <= end).collect();
            let exact = serve(load.rate, &weights, &until, Some(end));
            let mut fluid = Gps::new(load.rate);
            for (now, flow, length) in until.iter().copied() {
                fluid.offer(now, Offer { flow, weight: weights[flow as usize], length, token: 0 }, &mut |_| ());
            }
            fluid.advance(end, &mut |_| ());
            for flow in 0..load.flows {
                let offered: u128 = until.iter().filter(|arrival| arrival.1 == flow).map(|a| u128::from(a.2)).sum();
                let served = fluid.served(flow);
                let error = fraction(served, BYTE_WORK) - &exact.served[flow as usize] / fraction(8, 1);
                let slack = fraction(1, 1 << 20);
                assert!(error <= slack && -error <= slack, "flow {flow} of {pattern:?}, {load:?}, seed {seed}");
                // Served and backlog are the offered work, but for the division of lengths by the
                // weight.
                let sum = served + fluid.backlog(flow);
                let unit = 2 * u128::from(weights[flow as usize].thousandths());
                assert!(sum.abs_diff(offered * BYTE_WORK) <= unit, "flow {flow} of {pattern:?}, {load:?}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_rate_that_changes_within_a_packet_moves_its_departure_and_leaves_its_tags() {
    // 2 B/s. Flow 0 has 8 B, flow 1 has 8 B and 4 B.
    let mut fluid = Gps::new(rate(16));
    let mut gone = Vec::new();
    let mut departed = |d: Departure| gone.push((d.token, d.time));
    for (token, flow, length) in [(0, 0, 8), (1, 1, 8), (2, 1, 4)] {
        fluid.offer(Time::ZERO, Offer { flow, weight: Weight::ONE, length, token }, &mut departed);
    }
    fluid.advance(Time::from_s(2), &mut departed);
    assert_eq!((fluid.round(), fluid.next_departure()), (2 * BYTE, Time::from_s(8)));
    // The half: 6 B are left to each of the heads, at half a byte a second.
    fluid.rate_changed(Time::from_s(2), rate(8));
    assert_eq!((fluid.round(), fluid.next_departure()), (2 * BYTE, Time::from_s(14)));
    fluid.advance(Time::from_s(6), &mut departed);
    assert_eq!((fluid.round(), fluid.served(0)), (4 * BYTE, 4 * BYTE_WORK));
    // Four times as much: 4 B are left to each, at two bytes a second.
    fluid.rate_changed(Time::from_s(6), rate(32));
    assert_eq!(fluid.next_departure(), Time::from_s(8));
    let mut tags = Vec::new();
    fluid.packets(&mut |offer, start, finish| tags.push((offer.token, offer.flow, start / BYTE, finish / BYTE)));
    assert_eq!(tags, [(0, 0, 0, 8), (1, 1, 0, 8), (2, 1, 8, 12)]);
    // Nothing is told of 8 s, at which two depart, before the rate changes once more: their time
    // stays, and the last one has 3 B left at 8 s and 250 ms, at one byte a second.
    fluid.rate_changed(Time::from_ms(8250), rate(8));
    assert_eq!(fluid.next_departure(), Time::from_s(8));
    fluid.finish(&mut departed);
    assert_eq!(gone, [(0, Time::from_s(8)), (1, Time::from_s(8)), (2, Time::from_ms(11_250))]);
}

/// A rate 1/k of another is the other with time stretched by k: work, R, S and F are the same, and
/// departures come at the stretched times.
#[test]
fn a_fluid_whose_rate_changes_is_one_whose_time_is_stretched() {
    /// All stretches divide it.
    const FULL: u64 = 5_040_000;
    for (pattern, load, seed) in cases() {
        let load = Load { rate: rate(FULL), ..load };
        let name = format!("{pattern:?}, {load:?}, seed {seed}");
        let (list, weights) = (arrivals(pattern, load, seed), weights(load.flows, seed));
        let mut draw = SplitMix64(seed);
        let last = list.last().map_or(1, |arrival| arrival.0.0 + 1);
        let mut cuts: Vec<u64> = (0..8).map(|_| draw.below(last + last / 4)).collect();
        cuts.sort_unstable();
        // (since, stretched since, stretch)
        let mut pieces = vec![(0, 0, 1)];
        for cut in cuts {
            let (since, stretched, by) = pieces[pieces.len() - 1];
            pieces.push((cut, stretched + (cut - since) * by, 1 + draw.below(10)));
        }
        let stretch = |time: u64| {
            let piece = pieces.iter().rev().find(|piece| piece.0 <= time).expect("the first begins at zero");
            piece.1 + (time - piece.0) * piece.2
        };
        let (mut plain, mut changing) = (Gps::new(load.rate), Gps::new(load.rate));
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let mut changes = pieces[1..].iter();
        let mut next = changes.next();
        for (token, (now, flow, length)) in list.iter().copied().enumerate() {
            while let Some((since, stretched, by)) = next.filter(|piece| piece.0 <= now.0) {
                // Half of the changes come before the fluid was told of the time.
                if draw.below(2) == 0 {
                    plain.advance(Time(*since), &mut |d| expected.push(d));
                    changing.advance(Time(*stretched), &mut |d| found.push(d));
                }
                changing.rate_changed(Time(*stretched), rate(FULL / by));
                next = changes.next();
            }
            let offer = Offer { flow, weight: weights[flow as usize], length, token: token as u64 };
            plain.offer(now, offer, &mut |d| expected.push(d));
            changing.offer(Time(stretch(now.0)), offer, &mut |d| found.push(d));
            let tags = |fluid: &Gps| {
                let mut tags = Vec::new();
                fluid.packets(&mut |offer, start, finish| tags.push((offer, start, finish)));
                assert_eq!(tags.len(), fluid.held());
                (fluid.round(), tags)
            };
            assert_eq!(tags(&plain), tags(&changing), "{name}, packet {token}");
        }
        for (_, stretched, by) in next.into_iter().chain(changes) {
            changing.rate_changed(Time(*stretched), rate(FULL / by));
        }
        plain.finish(&mut |d| expected.push(d));
        changing.finish(&mut |d| found.push(d));
        assert_eq!((expected.len(), found.len()), (list.len(), list.len()), "{name}");
        for (one, other) in expected.iter().zip(&found) {
            assert_eq!((one.token, one.work), (other.token, other.work), "{name}");
            // The exact time is within the last picosecond before the one given.
            let (early, late) = (stretch(one.time.0.saturating_sub(1)), stretch(one.time.0));
            assert!((early..=late).contains(&other.time.0), "{name}: {other:?} for {one:?}");
        }
    }
}

#[test]
fn the_round_number_of_a_million_packets_does_not_drift_by_2_to_the_minus_20_byte() {
    for seed in 0..3 {
        let found = drift(1_000_000, seed);
        assert!(found.worst < 1.0 / f64::from(1 << 20), "{found:?}");
        // Less than one rounding for each time that a conversation became active.
        assert!(found.worst * BYTE as f64 <= found.activations as f64 + 2.0, "{found:?}");
    }
}

#[test]
fn a_heavy_flow_that_comes_and_goes_a_million_times_does_not_move_a_light_ones_clock() {
    let weight = |thousandths| Weight::from_thousandths(thousandths).expect("a weight");
    let (light, heavy) = (weight(3), weight(999_999_937));
    let (mut round, mut bytes, mut draw) = (Round::new(), 0, SplitMix64(1));
    round.charge(0, light, u32::MAX);
    for _ in 0..1_000_000 {
        let length = 40 + draw.below(1461) as u32;
        round.charge(1, heavy, length);
        bytes += u128::from(length);
        let done = round.work_at(round.last_finish(1)).expect("served");
        round.advance(done);
        assert!(!round.is_active(1));
        // All work but the heavy flow's was the light one's: w·(R − 0).
        let given = done - bytes * BYTE_WORK;
        let error = round.work_since(0, light).abs_diff(given);
        assert!(error <= 2 * u128::from(heavy.thousandths()), "{bytes} {error}");
        round.advance(done + u128::from(draw.below(1000)));
    }
}

#[test]
fn a_refund_gives_the_line_to_the_others_and_stops_at_the_present_round() {
    let mut round = Round::new();
    let weight = Weight::ONE;
    let line = rate(8);
    assert_eq!(round.charge(0, weight, 10).finish, 10 * BYTE);
    let first = round.charge(1, weight, 10);
    let second = round.charge(1, weight, 10);
    assert_eq!(second.start, first.finish);
    round.advance(work(line, Time::from_s(4)));
    assert_eq!(round.now(), 2 * BYTE);
    // One packet back: still active until 10.
    round.refund(1, second.start);
    assert_eq!(round.last_finish(1), 10 * BYTE);
    assert_eq!(round.work_at(10 * BYTE), Some(20 * BYTE_WORK));
    // The other, of which 2 B are done: not below R, and the flow is gone.
    round.refund(1, 0);
    assert_eq!((round.last_finish(1), round.is_active(1), round.active_weight()), (2 * BYTE, false, 1000));
    // Flow 0 has the line: R runs at a byte a second.
    round.advance(work(line, Time::from_s(7)));
    assert_eq!(round.now(), 5 * BYTE);
    // A refund never raises F, and one to an inactive flow changes nothing.
    round.refund(0, 100 * BYTE);
    round.refund(1, 0);
    assert_eq!((round.last_finish(0), round.last_finish(1)), (10 * BYTE, 2 * BYTE));
    round.advance(work(line, Time::from_s(100)));
    // Idle, R stands still.
    assert_eq!((round.now(), round.active_weight()), (10 * BYTE, 0));
}

#[test]
fn a_changed_weight_changes_the_speed_of_the_round_and_leaves_tags_alone() {
    let mut round = Round::new();
    let line = rate(8);
    round.charge(0, Weight::ONE, 10);
    round.charge(1, Weight::ONE, 10);
    round.advance(work(line, Time::from_s(4)));
    round.set_weight(1, Weight::from_thousandths(3000).expect("a weight"));
    assert_eq!((round.now(), round.last_finish(1), round.active_weight()), (2 * BYTE, 10 * BYTE, 4000));
    round.advance(work(line, Time::from_s(8)));
    assert_eq!(round.now(), 3 * BYTE);
    // Three bytes at weight three are one round.
    assert_eq!(round.charge(1, Weight::from_thousandths(3000).expect("a weight"), 3).finish, 11 * BYTE);
}

#[test]
fn charges_far_ahead_of_the_line_overflow_nothing() {
    let least = Weight::from_thousandths(1).expect("the least weight");
    let mut round = Round::new();
    for flow in 0..1 << 12 {
        round.charge(flow, Weight::MAX, u32::MAX);
    }
    for _ in 0..1 << 20 {
        round.charge(1 << 20, least, u32::MAX);
    }
    let far = round.last_finish(1 << 20);
    round.advance(work(Rate::MAX, Time::from_s(1)));
    assert!(round.is_active(1 << 20) && round.now() < far);
    let mut refunded = round.clone();
    refunded.refund(1 << 20, 0);
    assert_eq!(refunded.last_finish(1 << 20), refunded.now());
    // By the end of all times even that is sent, and R stands still at the last F.
    round.advance(work(Rate::MAX, Time::NEVER));
    assert!(!round.is_active(1 << 20));
    assert_eq!(round.now(), far);
    // No line ever brings R there.
    round.charge(1 << 20, Weight::MAX, 1);
    assert_eq!(round.work_at(u128::MAX), None);
}
