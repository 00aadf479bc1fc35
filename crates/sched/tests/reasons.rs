//! What waits and why a packet was chosen, held against each other: the reason that a discipline
//! gives must follow from what it showed before.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fates, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{SCHEDULERS, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time, Weight};
use fairq_sched::waiting::{Decision, Stamps};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;
use std::collections::BTreeMap;

/// A waiting packet as it was shown.
struct Shown {
    token: u64,
    queue: u32,
    stamps: Stamps,
    is_head: bool,
}

fn shown(discipline: &dyn Discipline) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    discipline.waiting(&mut |waiting| {
        let is_head = all.last().is_none_or(|last| last.queue != waiting.queue);
        all.push(Shown { token: waiting.packet.token, queue: waiting.queue, stamps: waiting.stamps, is_head });
    });
    all
}

/// Random arrivals for a few flows of several weights on a line of 1 Mbit/s; after each dequeue
/// what waited before, the packet sent, and the reason.
fn reasons(queue: &Queue, seed: u64, mut told: impl FnMut(&[Shown], &Packet, Option<Decision>)) {
    let weights = (0..4).map(|flow| (header(flow), Weight::from_thousandths(500 + 700 * flow).expect("a weight")));
    let line = Line { explains: true, weights: weights.collect(), ..Line::new(Rate::new(1_000_000).expect("a rate")) };
    let mut discipline = queue.build(&line);
    let (mut draw, mut fates, mut now) = (Draw::new(seed), Fates::new(), Time::ZERO);
    for token in 0..600 {
        now = now + Time(draw.below(9_000_000_000));
        let mut packet = Packet::new(token, now, 100 + draw.below(1400) as u32);
        packet.deadline = now + Time(draw.below(1 << 36));
        packet.remaining = draw.below(100_000) as u32;
        discipline.enqueue(now, packet, &header(draw.below(4) as u32), &mut fates);
        if draw.below(10) < 9 {
            let before = shown(&*discipline);
            if let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) {
                told(&before, &packet, discipline.decision());
            }
        }
    }
}

/// The queue of `name` with its default settings.
fn plain(name: &str) -> Option<Queue> {
    let queue = Queue::new(SchedulerSettings::by_name(name)?, Some(Limit::Packets(100)));
    queue.fault().is_none().then_some(queue)
}

#[test]
fn the_packet_that_goes_is_the_least_of_what_was_shown() {
    let mut by_kind: BTreeMap<&str, u32> = BTreeMap::new();
    for queue in SCHEDULERS.iter().filter_map(|card| plain(card.name)) {
        let name = queue.scheduler.name();
        reasons(&queue, 7, |before, packet, decision| {
            let sent = before.iter().find(|shown| shown.token == packet.token).expect("it waited");
            let Some(decision) = decision else { return };
            *by_kind.entry(decision.by).or_default() += 1;
            assert_eq!(decision.queue, sent.queue, "{name}: {decision:?}");
            let key = |stamps: &Stamps| match decision.by {
                "finish" => stamps.finish,
                "start" => stamps.start,
                "rank" => stamps.rank,
                _ => None,
            };
            let Some(value) = key(&sent.stamps) else { return };
            // On the grid on which tags are compared.
            let is_near = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + a.abs());
            assert!(decision.value.is_some_and(|said| is_near(said, value)), "{name}: {decision:?}, {:?}", sent.stamps);
            let could_go = |other: &&Shown| {
                let has_begun = other.stamps.start.zip(decision.clock).is_none_or(|(start, clock)| start <= clock);
                other.is_head && (decision.eligible.is_none() || has_begun)
            };
            let least = before.iter().filter(could_go).filter_map(|other| key(&other.stamps)).fold(f64::MAX, f64::min);
            assert!(value <= least || is_near(value, least) || name == "wf2q", "{name}: {decision:?}, {least}");
        });
    }
    let kinds: Vec<&str> = by_kind.into_keys().collect();
    assert_eq!(kinds, ["arrival", "class", "finish", "rank", "start", "turn"]);
}

#[test]
fn a_clock_never_goes_back_while_the_line_is_busy() {
    for name in ["fq", "wfq", "scfq", "sfq", "wf2q", "wf2q_plus"] {
        let (mut last, mut seen) = (0.0, 0);
        reasons(&plain(name).expect("a scheduler"), 11, |before, _, decision| {
            let clock = decision.and_then(|decision| decision.clock).unwrap_or_else(|| panic!("{name} has a clock"));
            assert!(clock >= last || before.len() == 1, "{name}: {clock} after {last}");
            (last, seen) = (clock, seen + 1);
        });
        assert!(seen > 300, "{name}: {seen} packets");
    }
}

#[test]
fn without_being_asked_for_reasons_none_is_kept() {
    let line = Line::new(Rate::new(1_000_000).expect("a rate"));
    let mut discipline = plain("sfq").expect("a scheduler").build(&line);
    let mut fates = Fates::new();
    discipline.enqueue(Time::ZERO, Packet::new(0, Time::ZERO, 100), &header(0), &mut fates);
    assert!(matches!(discipline.dequeue(Time::ZERO, &mut fates), Dequeue::Send(_)));
    assert_eq!(discipline.decision(), None);
}
