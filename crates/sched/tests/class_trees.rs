//! What schedulers with a tree of classes promise: HFSC and HTB, measured over random trees and
//! arrivals, and what all trees refuse. H-PFQ is in `hierarchies.rs`.

use crate::trees::{arrivals, driver, hpfq, hpfq_class, line, wf2q_plus};
use fairq_sched::contract::Line;
use fairq_sched::packet::Packet;
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::schedule::hfsc::curve::Curve;
use fairq_sched::schedule::{hfsc, htb};
use fairq_sched::units::{Bytes, PS_PER_S, Rate, Time};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, End, Journey};

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

fn run(scheduler: SchedulerSettings, line: &Line, arrivals: &[Arrival]) -> Vec<Journey> {
    driver(&Queue::new(scheduler, None), line).run(arrivals)
}

/// First bits' times and bits of the packets of `flows`, in order of sending.
fn starts(journeys: &[Journey], flows: &[u32]) -> Vec<(u128, u128)> {
    let of = journeys.iter().filter(|journey| flows.contains(&journey.arrival.flow));
    let sent = of.filter_map(|journey| match journey.end {
        End::Sent { start, .. } => Some((u128::from(start.0), u128::from(journey.arrival.length) * 8)),
        _ => None,
    });
    let mut starts: Vec<_> = sent.collect();
    starts.sort_unstable();
    starts
}

/// Bytes of each flow whose transmission ended by `until`.
fn served(journeys: &[Journey], flows: usize, until: Time) -> Vec<u64> {
    let mut served = vec![0; flows];
    for journey in journeys.iter().filter(|journey| journey.departure().is_some_and(|end| end <= until)) {
        served[journey.arrival.flow as usize] += u64::from(journey.arrival.length);
    }
    served
}

/// `each` packets of `length` of each of `flows` flows, all at once.
fn backlog(flows: u32, each: u32, length: u32) -> Vec<Arrival> {
    (0..each * flows).map(|at| Arrival { time: Time::ZERO, flow: at % flows, length }).collect()
}

// HFSC.

fn curve(m1: u64, ms: u64, m2: u64) -> Curve {
    Curve { m1: Rate::new(m1), d: Time::from_ms(ms), m2: rate(m2) }
}

fn hfsc_class(name: &str, parent: Option<&str>, link_share: Curve) -> hfsc::Class {
    let (name, parent) = (name.to_owned(), parent.map(str::to_owned));
    hfsc::Class { name, parent, link_share: Some(link_share), ..Default::default() }
}

fn hfsc(classes: Vec<hfsc::Class>) -> SchedulerSettings {
    SchedulerSettings::Hfsc(hfsc::Settings { classes, default: None, paper: true })
}

/// Picoseconds that `curve` takes for `bits`.
fn time_on(curve: &Curve, bits: u64) -> u128 {
    let (m1, m2) = (curve.m1.map_or(0, Rate::bit_per_s).into(), u128::from(curve.m2.bit_per_s()));
    let (asked, first) = (u128::from(bits) * u128::from(PS_PER_S), m1 * u128::from(curve.d.0));
    if bits == 0 {
        0
    } else if asked <= first {
        asked.div_ceil(m1)
    } else {
        u128::from(curve.d.0) + (asked - first).div_ceil(m2)
    }
}

#[test]
fn hfsc_meets_deadlines_of_any_curves() {
    const FLOWS: usize = 4;
    let mut nearest = 0;
    for seed in 0..400 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let line = line(1_000_000, &["c0", "c1", "c2", "c3"]);
        // Each slope's sum is at most the line, and all change slope at the same age.
        let ms = draw.pick(&[20, 100, 400]);
        let mut part = |left: &mut u64| {
            let part = draw.pick(&[0, *left / 2, *left * 3 / 4, *left]);
            *left -= part;
            part
        };
        let (mut first, mut second) = (1_000_000, 999_000);
        let curves: Vec<Curve> = (0..FLOWS).map(|_| curve(part(&mut first), ms, part(&mut second) + 250)).collect();
        let class = |(at, curve): (usize, &Curve)| hfsc::Class {
            name: format!("c{at}"),
            real_time: Some(curve.clone()),
            ..Default::default()
        };
        let classes = curves.iter().enumerate().map(class).collect();
        let load = draw.pick(&[600, 1000, 2000]);
        let arrivals = arrivals(&mut draw, &line, FLOWS as u32, &[100, 1000], load, 120);
        let journeys = run(hfsc(classes), &line, &arrivals);
        let longest = u128::from(line.rate.time_of_rounded_up(Bytes(1000)).0);
        for (flow, curve) in curves.iter().enumerate() {
            // Wherever a backlog began, with what had been served by then; a packet's deadline is
            // the latest of them all.
            let own: Vec<&Journey> = journeys.iter().filter(|journey| journey.arrival.flow as usize == flow).collect();
            let (mut served, mut begun, mut last) = (0_u64, Vec::<(Time, u64)>::new(), None);
            for (at, journey) in own.iter().enumerate() {
                // None of its packets waits; one that comes while another goes out is offered
                // before that is over.
                if last.is_none_or(|start| journey.arrival.time > start) {
                    begun.push((journey.arrival.time, served));
                }
                served += u64::from(journey.arrival.length) * 8;
                let End::Sent { start, end: free } = journey.end else { panic!("without a limit all are sent") };
                last = Some(start);
                let deadlines = begun.iter().map(|(time, before)| u128::from(time.0) + time_on(curve, served - before));
                let deadline = deadlines.max().unwrap_or(0) + longest + 2;
                assert!(
                    u128::from(free.0) <= deadline,
                    "packet {at} of flow {flow}: {free:?} after {deadline}; {curves:?}"
                );
                nearest = nearest.max(u128::from(free.0) * 1_000_000 / deadline);
            }
        }
    }
    assert!(nearest > 990_000, "some packet leaves near its deadline: {nearest}");
}

#[test]
fn hfsc_separates_delay_from_rate() {
    // Both have half the line in the long run; the concave curve has its first packets at once.
    let classes = |first: Curve, second: Curve| {
        let class = |name: &str, real_time| hfsc::Class {
            name: name.to_owned(),
            real_time: Some(real_time),
            ..Default::default()
        };
        vec![class("a", first), class("b", second)]
    };
    let arrivals = backlog(2, 100, 1000);
    let (line, soon) = (line(1_000_000, &["a", "b"]), Time::from_ms(80));
    let journeys = run(hfsc(classes(curve(1_000_000, 80, 500_000), curve(0, 80, 500_000))), &line, &arrivals);
    assert_eq!(served(&journeys, 2, soon), [10_000, 0]);
    let later = served(&journeys, 2, Time::from_ms(1200));
    assert!(later[0].abs_diff(later[1]) <= 12_000, "{later:?}");
}

#[test]
fn hfsc_shares_the_rest_by_the_curves() {
    // The line: A (3) and c (1); A: a (1) and b (2). a has a tenth of the line by deadlines
    // besides; it counts for sharing.
    let line = line(1_000_000, &["a", "b", "c"]);
    let mut classes = vec![
        hfsc_class("A", None, Curve::line(rate(300))),
        hfsc_class("c", None, Curve::line(rate(100))),
        hfsc_class("a", Some("A"), Curve::line(rate(100))),
        hfsc_class("b", Some("A"), Curve::line(rate(200))),
    ];
    classes[2].real_time = Some(Curve::line(rate(100_000)));
    let journeys = run(hfsc(classes.clone()), &line, &backlog(3, 200, 500));
    let shares = served(&journeys, 3, Time::from_s(1));
    for (share, expected) in shares.iter().zip([31_250, 62_500, 31_250]) {
        assert!(share.abs_diff(expected) <= 1000, "{shares:?}");
    }
    // With more by deadlines than its share has it that, and the others divide the rest as before.
    classes[2].real_time = Some(Curve::line(rate(600_000)));
    let journeys = run(hfsc(classes), &line, &backlog(3, 200, 500));
    let shares = served(&journeys, 3, Time::from_s(1));
    assert!(shares[0] >= 74_000, "{shares:?}");
}

#[test]
fn hfsc_keeps_upper_limits() {
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let line = line(1_000_000, &["a", "b", "c"]);
        let (of_parent, of_leaf) = (50_000 + draw.below(900_000), 50_000 + draw.below(900_000));
        let mut classes = vec![
            hfsc_class("A", None, Curve::line(rate(300))),
            hfsc_class("c", None, Curve::line(rate(100))),
            hfsc_class("a", Some("A"), Curve::line(rate(100))),
            hfsc_class("b", Some("A"), Curve::line(rate(200))),
        ];
        classes[0].upper_limit = Some(Curve::line(rate(of_parent)));
        classes[2].upper_limit = Some(Curve::line(rate(of_leaf)));
        let arrivals = arrivals(&mut draw, &line, 3, &[40, 577, 1500], 1500, 150);
        let journeys = run(hfsc(classes), &line, &arrivals);
        for (flows, limit) in [(&[0, 1][..], of_parent), (&[0], of_leaf)] {
            assert_within(&starts(&journeys, flows), limit, 1500);
        }
    }
}

/// In any interval at most `at_once` bytes and `bit_per_s` leave.
fn assert_within(starts: &[(u128, u128)], bit_per_s: u64, at_once: u64) {
    for from in 0..starts.len() {
        let mut bits = 0;
        for (start, more) in &starts[from..] {
            bits += more;
            let allowed =
                u128::from(at_once) * 8 * u128::from(PS_PER_S) + u128::from(bit_per_s) * (start - starts[from].0);
            assert!(bits * u128::from(PS_PER_S) <= allowed, "{bits} bits from packet {from} to {start}");
        }
    }
}

#[test]
fn hfsc_waits_at_its_upper_limit() {
    let mut class = hfsc_class("a", None, Curve::line(rate(1000)));
    class.upper_limit = Some(Curve::line(rate(500_000)));
    let line = line(1_000_000, &["a"]);
    let journeys = run(hfsc(vec![class]), &line, &backlog(1, 3, 1000));
    // 8 ms on the line, and 16 ms by the limit, though no other class is active.
    let times: Vec<Option<Time>> = journeys.iter().map(Journey::departure).collect();
    assert_eq!(times, [8, 24, 40].map(|ms| Some(Time::from_ms(ms))));
}

// HTB.

fn htb_class(name: &str, parent: Option<&str>, bit_per_s: u64, ceil: Option<u64>) -> htb::Class {
    htb::Class {
        name: name.to_owned(),
        parent: parent.map(str::to_owned),
        rate: Some(rate(bit_per_s)),
        ceil: ceil.map(rate),
        ..Default::default()
    }
}

fn htb(classes: Vec<htb::Class>) -> SchedulerSettings {
    SchedulerSettings::Htb(htb::Settings { classes, paper: true, ..Default::default() })
}

#[test]
fn htb_keeps_every_ceiling() {
    for seed in 0..150 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let line = line(1_000_000, &["a", "b", "c"]);
        let (above, own) = (200_000 + draw.below(700_000), 100_000 + draw.below(700_000));
        let mut classes = vec![
            htb_class("A", None, 200_000, Some(above)),
            htb_class("a", Some("A"), 100_000, Some(own)),
            htb_class("b", Some("A"), 100_000, None),
            htb_class("c", None, 300_000, Some(300_000)),
        ];
        for class in &mut classes {
            class.cburst = Bytes(draw.pick(&[1, 1000, 1500, 9000]));
            class.burst = Bytes(draw.pick(&[1, 1500, 9000]));
            class.priority = draw.below(3) as u8;
        }
        let bursts = [0, 1, 3].map(|class: usize| classes[class].cburst.0.max(1500));
        let arrivals = arrivals(&mut draw, &line, 3, &[40, 577, 1500], 1500, 150);
        let journeys = run(htb(classes), &line, &arrivals);
        for ((flows, ceil), at_once) in [(&[0, 1][..], above), (&[0], own), (&[2], 300_000)].into_iter().zip(bursts) {
            assert_within(&starts(&journeys, flows), ceil, at_once);
        }
    }
}

#[test]
fn htb_guarantees_rates() {
    for seed in 0..60 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let line = line(1_000_000, &["a", "b", "c"]);
        let rates = [50_000 + draw.below(250_000), 50_000 + draw.below(250_000), 50_000 + draw.below(350_000)];
        let mut classes = vec![
            htb_class("all", None, 1_000_000, None),
            htb_class("A", Some("all"), rates[0] + rates[1], None),
            htb_class("a", Some("A"), rates[0], None),
            htb_class("b", Some("A"), rates[1], None),
            htb_class("c", Some("all"), rates[2], None),
        ];
        for class in &mut classes {
            // Priority is for what is left, not for what is guaranteed.
            class.priority = draw.below(3) as u8;
        }
        let journeys = run(htb(classes), &line, &backlog(3, 400, 500));
        for (at, until) in [1, 2, 3].map(Time::from_s).into_iter().enumerate() {
            let served = served(&journeys, 3, until);
            for (served, rate) in served.iter().zip(rates) {
                let own = rate * (at as u64 + 1) / 8;
                // Each leaf may be a few packets behind for those that others were sent with full
                // buckets.
                assert!(served + 6000 >= own, "{served:?} of {own}");
            }
        }
    }
}

#[test]
fn htb_shares_what_is_left_by_quanta() {
    let line = line(1_000_000, &["a", "b", "c"]);
    let quantum = |class: htb::Class, quantum| htb::Class { quantum: Some(Bytes(quantum)), ..class };
    let mut classes = vec![
        htb_class("all", None, 1_000_000, None),
        quantum(htb_class("a", Some("all"), 100_000, None), 1500),
        quantum(htb_class("b", Some("all"), 100_000, None), 4500),
        quantum(htb_class("c", Some("all"), 200_000, None), 3000),
    ];
    let journeys = run(htb(classes.clone()), &line, &backlog(3, 1000, 500));
    // Of 600 kbit/s that are left a sixth, a half, a third go to a, b, c.
    let shares = served(&journeys, 3, Time::from_s(2));
    for (share, expected) in shares.iter().zip([50_000, 100_000, 100_000]) {
        assert!(share.abs_diff(expected) <= 5000, "{shares:?}");
    }
    // A lower priority number takes all that is left.
    classes[3].priority = 1;
    classes[2].priority = 1;
    let journeys = run(htb(classes), &line, &backlog(3, 1000, 500));
    let shares = served(&journeys, 3, Time::from_s(2));
    for (share, expected) in shares.iter().zip([175_000, 25_000, 50_000]) {
        assert!(share.abs_diff(expected) <= 5000, "{shares:?}");
    }
}

#[test]
fn htb_clamps_a_quantum_that_no_class_names_as_linux_does() {
    // `htb_change_class`: rate / 8 / r2q, from 1000 B to 200 kB, unless the class names one. What
    // is left goes by quanta: by those that are used, not by those of the rates, 1 to 10.
    let run_of = |kbit: [u64; 2], r2q, given: [Option<u64>; 2], length| {
        let bit_per_s = 100_000 * kbit[1];
        let line = line(bit_per_s, &["a", "b"]);
        let child = |(name, at): (&str, usize)| htb::Class {
            quantum: given[at].map(Bytes),
            burst: Bytes(2 * u64::from(length)),
            cburst: Bytes(2 * u64::from(length)),
            ..htb_class(name, Some("all"), 1000 * kbit[at], Some(bit_per_s))
        };
        let classes = [htb_class("all", None, bit_per_s, None), child(("a", 0)), child(("b", 1))].to_vec();
        let settings = SchedulerSettings::Htb(htb::Settings { classes, r2q, ..Default::default() });
        let packets = bit_per_s / 8 * 12 / 100 / u64::from(length);
        let journeys = run(settings, &line, &backlog(2, packets as u32, length));
        let shares = served(&journeys, 2, Time::from_ms(120));
        shares[1] as f64 / shares[0] as f64
    };
    // 200 and 2000 B: the first is small, and has 1000 B; 2 to 1.
    assert!((run_of([16, 160], 10, [None, None], 500) - 2.0).abs() < 0.2);
    // 100 kB and 1 MB: the second is big, and has 200 kB; 2 to 1.
    assert!((run_of([800, 8000], 1, [None, None], 1500) - 2.0).abs() < 0.2);
    // A quantum that is named stays: 200 and 2000 B, 10 to 1.
    assert!((run_of([16, 160], 10, [Some(200), Some(2000)], 200) - 10.0).abs() < 1.0);
}

#[test]
fn htb_waits_at_its_ceiling() {
    let class = htb::Class { cburst: Bytes(1000), ..htb_class("a", None, 500_000, Some(500_000)) };
    let line = line(1_000_000, &["a"]);
    let journeys = run(htb(vec![class]), &line, &backlog(1, 3, 1000));
    let times: Vec<Option<Time>> = journeys.iter().map(Journey::departure).collect();
    assert_eq!(times, [8, 24, 40].map(|ms| Some(Time::from_ms(ms))));
}

#[test]
fn htb_without_quanta_shares_by_r2q_and_forgives_debts_beyond_mbuffer() {
    // b gives a quantum of 5000 B, a's follows from its rate: 400 kbit/s over 8 · 10 are 5000 B,
    // over 8 · 20 they are 2500.
    let of = |r2q: u32| {
        let a = htb_class("a", Some("all"), 400_000, None);
        let b = htb::Class { quantum: Some(Bytes(5000)), ..htb_class("b", Some("all"), 400_000, None) };
        let classes = vec![htb_class("all", None, 2_000_000, None), a, b];
        let settings = SchedulerSettings::Htb(htb::Settings { classes, r2q, paper: true, ..Default::default() });
        let line = line(2_000_000, &["a", "b"]);
        served(&run(settings, &line, &backlog(2, 2000, 500)), 2, Time::from_s(4))
    };
    let [even, half] = [10, 20].map(of);
    assert!(even[0].abs_diff(even[1]) <= 11_000, "{even:?}");
    // Beyond 400 kbit/s each, a third of 1.2 Mbit/s and two.
    assert!(half[1] - half[0] > 150_000, "{half:?}");
    for (fault, settings) in [
        ("htb: r2q is at least 1", htb::Settings { r2q: 0, ..Default::default() }),
        (
            "htb: mbuffer is above 0; write a time like \"60s\"",
            htb::Settings { mbuffer: Time::ZERO, ..Default::default() },
        ),
    ] {
        assert_eq!(Queue::new(SchedulerSettings::Htb(settings), None).fault().as_deref(), Some(fault));
    }
}

// What does not fit.

/// Four packets of one flow in one class, then four of another code point in another: some of those
/// come first.
#[test]
fn a_flow_of_two_code_points_is_reordered() {
    let [mut first, mut second] = ["a", "b"].map(|name| hpfq_class(name, None, 1000));
    (first.dscp, second.dscp) = (vec![1], vec![2]);
    let tree = hpfq(&wf2q_plus(), vec![first, second]);
    let shares = ["a", "b"].map(|name| hfsc_class(name, None, curve(0, 0, 500_000)));
    let [mut first, mut second] = shares;
    (first.dscp, second.dscp) = (vec![1], vec![2]);
    let curves = hfsc(vec![first, second]);
    let [mut first, mut second] = ["a", "b"].map(|name| htb_class(name, None, 500_000, None));
    (first.dscp, second.dscp) = (vec![1], vec![2]);
    let buckets = htb(vec![first, second]);
    for scheduler in [tree, curves, buckets] {
        let _replay = Replay(format!("{scheduler:?}"));
        let mut driver = driver(&Queue::new(scheduler, None), &Line::new(rate(1_000_000)));
        for token in 0..8 {
            let packet = Packet::new(token, Time::ZERO, 1000);
            driver.offer_packet(0, Packet { tos: if token < 4 { 1 << 2 } else { 2 << 2 }, ..packet });
        }
        driver.finish();
        assert!(!driver.order.is_sorted(), "{:?}", driver.order);
    }
}

#[test]
fn settings_without_sense_are_refused_with_the_remedy() {
    let sound = || vec![hpfq_class("a", None, 1000), hpfq_class("b", None, 1000)];
    let (fifo, preemptive) = (
        SchedulerSettings::by_name("fifo"),
        fairq_sched::schedule::fq::Settings { preemptive: true, ..Default::default() },
    );
    let by = |scheduler: Option<SchedulerSettings>| hpfq(&scheduler.expect("a scheduler of the registry"), sound());
    let no_curve = hfsc::Class { name: "a".to_owned(), ..Default::default() };
    let mut inner = vec![hfsc_class("A", None, Curve::line(rate(1))), hfsc_class("a", Some("A"), Curve::line(rate(1)))];
    inner[0].real_time = Some(Curve::line(rate(1)));
    let slow_at_first =
        hfsc::Class { upper_limit: Some(curve(1, 5, 2)), ..hfsc_class("a", None, Curve::line(rate(1))) };
    let no_d = vec![hfsc_class("a", None, Curve { d: Time::ZERO, ..curve(1, 0, 1) })];
    let plain = |change: fn(&mut htb::Class)| {
        let mut class = htb_class("a", None, 1000, None);
        change(&mut class);
        htb(vec![class])
    };
    let much = vec![
        htb_class("A", None, 1000, None),
        htb_class("a", Some("A"), 700, None),
        htb_class("b", Some("A"), 301, None),
    ];
    let cases = [
        (
            by(fifo),
            "hpfq: fifo does not share among classes; write scheduler = \"wf2q_plus\" or the like, without preemption",
        ),
        (
            by(Some(SchedulerSettings::Fq(preemptive))),
            "hpfq: fq does not share among classes; write scheduler = \"wf2q_plus\" or the like, without preemption",
        ),
        (hpfq(&wf2q_plus(), Vec::new()), "hpfq: 0 classes; write 1 to 16384"),
        (
            hpfq(&wf2q_plus(), vec![hpfq_class("a", Some("b"), 1)]),
            "hpfq: class `a`: no class is called b, its parent; there are none",
        ),
        (
            hfsc(vec![no_curve]),
            "hfsc: class `a`: needs a curve; write link_share = { m2 = \"1 Mbit/s\" } or a real_time one",
        ),
        (hfsc(inner), "hfsc: class `A`: real_time is for leaves; give it to one of those below it"),
        (hfsc(no_d), "hfsc: class `a`: link_share has an m1 and no d; write for how long it is the slope"),
        (hfsc(vec![slow_at_first]), "hfsc: class `a`: the m1 of an upper_limit is at least its m2, or there is no d"),
        (hfsc(Vec::new()), "hfsc: 0 classes; write 1 to 16384"),
        (
            plain(|class| class.ceil = Rate::new(999)),
            "htb: class `a`: its ceil of 999 bit/s is below its rate of 1 kbit/s",
        ),
        (plain(|class| class.burst = Bytes(0)), "htb: class `a`: burst is at least 1 B"),
        (plain(|class| class.cburst = Bytes(0)), "htb: class `a`: cburst is at least 1 B"),
        (plain(|class| class.quantum = Some(Bytes(0))), "htb: class `a`: quantum is at least 1 B"),
        (plain(|class| class.priority = 8), "htb: class `a`: priority 8; write 0 to 7"),
        (plain(|class| class.dscp = vec![99]), "htb: class `a`: dscp 99; a code point is 0 to 63"),
        (
            htb(much),
            "htb: class `A`: the classes below it have 1001 bit/s together, it has 1 kbit/s; give it more or them less",
        ),
    ];
    for (scheduler, said) in cases {
        assert_eq!(Queue::new(scheduler, None).fault().as_deref(), Some(said));
    }
}
