//! What waits and why a packet was chosen, held against each other: the reason that a discipline
//! gives must follow from what it showed before.

use fairq_sched::buffer::codel;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::fq_codel;
use fairq_sched::packet::{Fates, Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time, Weight};
use fairq_sched::waiting::{Decision, Stamps};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;
use std::collections::{BTreeMap, BTreeSet};

/// A waiting packet as it was shown.
struct Shown {
    token: u64,
    length: u32,
    queue: u32,
    stamps: Stamps,
    is_head: bool,
}

fn shown(discipline: &dyn Discipline) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    discipline.waiting(&mut |waiting| {
        let is_head = all.last().is_none_or(|last| last.queue != waiting.queue);
        let Packet { token, length, .. } = *waiting.packet;
        all.push(Shown { token, length, queue: waiting.queue, stamps: waiting.stamps, is_head });
    });
    all
}

/// Random arrivals for a few flows of several weights on a line of 1 Mbit/s; after each dequeue
/// what waited before, the packet sent, and the reason. Every other packet accepts CE.
fn reasons(queue: &Queue, seed: u64, mut told: impl FnMut(&[Shown], &Packet, Option<Decision>)) {
    reasons_at(queue, seed, |_, before, packet, decision| told(before, packet, decision));
}

/// The same with the time of the dequeue.
fn reasons_at(queue: &Queue, seed: u64, mut told: impl FnMut(Time, &[Shown], &Packet, Option<Decision>)) {
    let weights = (0..4).map(|flow| (header(flow), Weight::from_thousandths(500 + 700 * flow).expect("a weight")));
    let line = Line { explains: true, weights: weights.collect(), ..Line::new(Rate::new(1_000_000).expect("a rate")) };
    let mut discipline = queue.build(&line);
    let (mut draw, mut fates, mut now) = (Draw::new(seed), Fates::new(), Time::ZERO);
    for token in 0..600 {
        now = now + Time(draw.below(9_000_000_000));
        let mut packet = Packet::new(token, now, 100 + draw.below(1400) as u32);
        packet.deadline = now + Time(draw.below(1 << 36));
        packet.remaining = draw.below(100_000) as u32;
        packet.accepts = if token % 2 == 0 { Marks::CE } else { Marks::NONE };
        discipline.enqueue(now, packet, &header(draw.below(4) as u32), &mut fates);
        if draw.below(10) < 9 {
            let before = shown(&*discipline);
            if let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) {
                told(now, &before, &packet, discipline.decision());
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

/// The cards with steps, and for each of its steps that send words that no other step has.
const SENDING: [(&str, &[&str]); 11] = [
    ("codel", &["delay is low", "not been so for an interval", "not due yet", "mark it and send it"]),
    ("drr", &["If D covers the head of its queue, send that"]),
    ("fifo", &["send the head of the queue, the first to arrive"]),
    ("fq", &["send the one with the least bid"]),
    ("fq_codel", &["new list has the turn: send its head", "old list has the turn: send its head"]),
    ("round_robin", &["the flow that has the turn sends"]),
    ("scfq", &["send the one with the least finish tag"]),
    ("sfq", &["send the one with the least start tag"]),
    ("virtual_clock", &["send the one with the least stamp"]),
    ("wf2q_plus", &["send the one with the least finish tag"]),
    ("wfq", &["send the one with the least finish number"]),
];

/// `fifo` with CoDel by the rules of its RFC or of Linux.
fn codel(rfc: bool) -> Queue {
    let settings = codel::Settings { ecn: true, rfc, ..Default::default() };
    Queue { buffer: Some(BufferSettings::Codel(settings)), ..Queue::unlimited_fifo() }
}

fn fq_codel(rfc: bool) -> Queue {
    Queue::of_design(DesignSettings::FqCodel(fq_codel::Settings { rfc, ..Default::default() }), None)
}

/// Queues whose decisions name steps of the card of `name`.
fn queues_of(name: &str) -> Vec<Queue> {
    match name {
        "codel" => [true, false].map(codel).into(),
        "fq_codel" => [true, false].map(fq_codel).into(),
        // By itself a ring of its own, beside other policies a composition.
        "fifo" => vec![
            Queue::unlimited_fifo(),
            Queue { buffer: BufferSettings::by_name("red"), ..Queue::new(plain(name).unwrap().scheduler, None) },
        ],
        _ => vec![
            plain(name).expect("a scheduler"),
            Queue { buffer: BufferSettings::by_name("codel"), ..plain(name).expect("a scheduler") },
        ],
    }
}

/// The words of `decision`'s step.
fn step_of(queue: &Queue, decision: Option<Decision>) -> String {
    let (decision, steps) = (decision.expect("a reason"), queue.card().expect("a card").steps());
    let step = decision.step.unwrap_or_else(|| panic!("{}: {decision:?}", queue.name()));
    let words = steps.get(usize::from(step) - 1).cloned();
    words.unwrap_or_else(|| panic!("{}: step {step} of {}", queue.name(), steps.len()))
}

#[test]
fn the_step_of_a_reason_is_the_one_that_sends() {
    for (name, sending) in SENDING {
        for queue in queues_of(name) {
            let card = queue.card().expect("a card");
            assert_eq!(card.name, name);
            for words in sending {
                let told = card.steps().iter().filter(|step| step.contains(words)).count();
                assert_eq!(told, 1, "{name}: steps with \"{words}\"");
            }
            let mut seen = BTreeSet::new();
            reasons(&queue, 5, |_, _, decision| {
                let step = step_of(&queue, decision);
                let words = sending.iter().find(|words| step.contains(**words));
                seen.insert(*words.unwrap_or_else(|| panic!("{name}: this step does not send: {step}")));
            });
            assert_eq!(seen.len(), sending.len(), "{}: {seen:?}", queue.name());
        }
    }
}

#[test]
fn a_reason_has_a_step_if_the_card_has_steps() {
    let designs = DESIGNS.iter().filter_map(|card| Some(Queue::of_design(DesignSettings::by_name(card.name)?, None)));
    let all: Vec<Queue> = SCHEDULERS.iter().filter_map(|card| plain(card.name)).chain(designs).collect();
    for queue in all.iter().filter(|queue| queue.fault().is_none()) {
        let steps = queue.card().map_or(0, |card| card.steps().len());
        reasons(queue, 3, |_, _, decision| {
            if let Some(decision) = decision {
                assert_eq!(decision.step.is_some(), steps > 0, "{}: {decision:?} of {steps} steps", queue.name());
            } else {
                assert_eq!(steps, 0, "{} gives no reason", queue.name());
            }
        });
    }
}

#[test]
fn codel_says_of_a_head_whether_its_delay_is_low_and_whether_it_marked_it() {
    let (queue, settings) = (codel(true), codel::Settings::default());
    let mut kinds = [0; 2];
    reasons_at(&queue, 9, |now, before, packet, decision| {
        let step = step_of(&queue, decision);
        let place = before.iter().position(|shown| shown.token == packet.token).expect("it waited");
        let behind: u64 = before[place + 1..].iter().map(|shown| u64::from(shown.length)).sum();
        let is_low = now - packet.arrival < settings.target || behind <= settings.mtu.0;
        assert_eq!(step.contains("delay is low"), is_low, "{step}");
        let is_marked = packet.marks.intersects(Marks::CE);
        assert_eq!(step.contains("mark it and send it"), is_marked, "{step}");
        kinds[0] += usize::from(is_low);
        kinds[1] += usize::from(is_marked);
    });
    assert!(kinds[0] > 10 && kinds[1] > 10, "{kinds:?}");
}

#[test]
fn fq_codel_says_which_list_a_queue_was_in_and_its_credit() {
    for queue in [true, false].map(fq_codel) {
        let line = Line { explains: true, ..Line::new(Rate::new(1_000_000).expect("a rate")) };
        let (mut discipline, mut fates) = (queue.build(&line), Fates::new());
        for (token, flow) in [1, 1, 1, 2].into_iter().enumerate() {
            let packet = Packet::new(token as u64, Time::ZERO, 1500);
            discipline.enqueue(Time::ZERO, packet, &header(flow), &mut fates);
        }
        // A quantum is 1514 B. After two packets flow 1 is in debt, joins the old list, and is
        // given another quantum.
        for (token, list, credit) in
            [(0, "new list", 1514.0), (1, "new list", 14.0), (3, "new list", 1514.0), (2, "old list", 28.0)]
        {
            let sent = discipline.dequeue(Time::ZERO, &mut fates);
            assert!(matches!(sent, Dequeue::Send(packet) if packet.token == token), "{sent:?}");
            let decision = discipline.decision();
            assert!(step_of(&queue, decision).contains(list), "{token}: {decision:?}");
            assert_eq!(decision.and_then(|decision| decision.value), Some(credit));
        }
    }
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
