//! Every part of a queue that is accepted is reached: what it decides differs from what another
//! part in its place decides.
//!
//! All pairs of kinds of parts are gone through: scheduler, buffer policy, overflow, marker,
//! classifier, design. A pair is either refused or, under one of the loads, each of the two parts
//! has an effect with one of its settings.

use fairq_sched::contract::{Dequeue, Line};
use fairq_sched::packet::{Address, Fates, Header, Marks, Outcome, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, CLASSIFIERS, ClassifierSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings,
    SCHEDULERS, SchedulerSettings,
};
use fairq_sched::schedule::token_bucket;
use fairq_sched::units::{Limit, PS_PER_S, Rate, Time, Weight};
use fairq_testkit::draw::Draw;

/// A packet and its header, in order of arrival.
type Offers = Vec<(Header, Packet)>;

/// Packets of twelve flows into a line of 1 Mbit/s: `overload` times what it carries, with breaks,
/// of all lengths, services, sizes and deadlines. Every other flow accepts marks.
fn load(seed: u64, packets: u64, overload: f64) -> Offers {
    let mut draw = Draw::new(seed);
    let mut now = Time::ZERO;
    let mut offer = |token: u64| {
        // A few flows send most.
        let flow = draw.below(12).min(draw.below(12)) as u32;
        let length = draw.pick(&[40, 300, 1000, 1500]);
        let gap = u64::from(length) * 8 * PS_PER_S / 1_000_000;
        let pause = if token % 400 == 399 { PS_PER_S / 2 } else { 0 };
        now = now + Time((gap as f64 / overload) as u64 / 2 + draw.below((gap as f64 / overload) as u64 + 1) + pause);
        let tos = draw.pick(&[0, 0, 0, 0x10, 0x08, 0x04, 0xb8, 0x28, 0x60, 0xe0]);
        let accepts = if flow.is_multiple_of(2) { Marks::CE.with(Marks::DEC).with(Marks::FQ) } else { Marks::NONE };
        let ecn = if flow.is_multiple_of(4) { 1 } else { 0 };
        let mut packet = Packet { accepts, tos: tos | ecn, ..Packet::new(token, now, length) };
        packet.remaining = draw.below(100_000) as u32;
        let deadline = now + Time(draw.below(PS_PER_S));
        packet.deadline = draw.pick(&[Time::NEVER, deadline]);
        let (source, destination) = (Address::Node(flow % 3), Address::Node(10 + flow / 3 % 2));
        let port = (flow / 6) as u16;
        let header =
            Header { source, destination, protocol: 17, source_port: port, destination_port: 7, tos: packet.tos };
        (header, packet)
    };
    (0..packets).map(&mut offer).collect()
}

/// What the line sends, drops and marks, in this order.
fn outcome(queue: &Queue, offers: &Offers) -> Vec<(u64, u32, u8)> {
    let mut line = Line { seed: 3, ..Line::new(Rate::new(1_000_000).expect("a rate")) };
    line.weights = vec![(offers[0].0, Weight::from_thousandths(3000).expect("a weight"))];
    // Two flows name a class, where there are classes.
    let names = queue.classes().unwrap_or_default();
    let named =
        names.iter().rev().take(1).chain(names.first()).zip(offers).map(|(name, offer)| (offer.0, name.clone()));
    line.classes = named.collect();
    let mut discipline = queue.build(&line);
    let (mut events, mut fates) = (Vec::new(), Fates::new());
    let mut free = Time::ZERO;
    // Up to `until`, and as far as something is to be done.
    let mut run =
        |discipline: &mut dyn fairq_sched::contract::Discipline, until: Time, fates: &mut Fates, free: &mut Time| {
            while *free <= until {
                while let Some(due) = discipline.next_update().filter(|due| *due <= *free) {
                    discipline.update(due);
                }
                match discipline.dequeue(*free, fates) {
                    Dequeue::Send(packet) => {
                        events.push((packet.token, u32::MAX, packet.marks.0));
                        *free = *free + line.rate.time_of_bits(u64::from(packet.length) * 8);
                    }
                    Dequeue::NotBefore(time) if time <= until => *free = time,
                    Dequeue::NotBefore(_) | Dequeue::Empty => *free = until + Time(1),
                }
            }
            for fate in fates.drain(..) {
                let what = match fate.outcome {
                    Outcome::Dropped(reason) => reason as u32,
                    Outcome::Marked(_) => 1000,
                };
                events.push((fate.packet.token, what, fate.packet.marks.0));
            }
        };
    for (header, packet) in offers {
        run(&mut *discipline, Time(packet.arrival.0.saturating_sub(1)), &mut fates, &mut free);
        free = free.max(packet.arrival);
        discipline.enqueue(packet.arrival, *packet, header, &mut fates);
    }
    run(&mut *discipline, Time(free.0 + 10 * PS_PER_S), &mut fates, &mut free);
    events
}

/// Little room, and much; what comes is more than the line carries.
fn loads() -> Vec<(Limit, Offers)> {
    vec![
        (Limit::Packets(12), load(1, 900, 2.0)),
        (Limit::Packets(3), load(4, 900, 4.0)),
        (Limit::Packets(150), load(2, 2500, 2.5)),
        (Limit::Packets(600), load(3, 2500, 1.5)),
    ]
}

/// Whether `queue` does under one of `loads` what none of `others` that are accepted does; `None`
/// if none is accepted.
fn differs(queue: &Queue, others: &[Queue], loads: &[(Limit, Offers)]) -> Option<bool> {
    let within = |queue: &Queue, limit| Queue { limit: Some(limit), ..queue.clone() };
    let accepted: Vec<&Queue> = others
        .iter()
        .filter(|other| *other != queue && within(other, Limit::Packets(12)).fault().is_none())
        .take(3)
        .collect();
    if accepted.is_empty() {
        return None;
    }
    Some(accepted.iter().any(|other| {
        loads
            .iter()
            .any(|(limit, offers)| outcome(&within(queue, *limit), offers) != outcome(&within(other, *limit), offers))
    }))
}

/// The settings of a kind of part, by name.
fn schedulers(name: &str) -> Vec<SchedulerSettings> {
    // Shaping at the line's own rate is a FIFO.
    let slow = token_bucket::Settings { rate: Rate::new(400_000), ..Default::default() };
    let slow = (name == "token_bucket").then_some(SchedulerSettings::TokenBucket(slow));
    slow.into_iter().chain(SchedulerSettings::variants(name)).collect()
}

const LIMIT: Option<Limit> = Some(Limit::Packets(12));

fn plain(scheduler: &SchedulerSettings) -> Queue {
    Queue::new(scheduler.clone(), LIMIT)
}

/// What could stand in the place of the part that is named, with all else the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Scheduler,
    Buffer,
    Overflow,
    Marker,
    Classifier,
}

fn replaced(queue: &Queue, place: Place) -> Vec<Queue> {
    let scheduler = |name: &str| SchedulerSettings::by_name(name).expect("a scheduler of the registry");
    match place {
        Place::Scheduler => ["fifo", "round_robin", "wfq", "pifo"]
            .map(|name| Queue { scheduler: scheduler(name), ..queue.clone() })
            .to_vec(),
        Place::Buffer => ["tail_drop", "head_drop", "longest_queue_drop", "red"]
            .map(|name| Queue { buffer: BufferSettings::by_name(name), ..queue.clone() })
            .to_vec(),
        Place::Overflow => ["tail_drop", "head_drop", "longest_queue_drop"]
            .map(|name| Queue { overflow: BufferSettings::by_name(name), ..queue.clone() })
            .to_vec(),
        Place::Marker => vec![Queue { marker: None, ..queue.clone() }],
        Place::Classifier => CLASSIFIERS
            .iter()
            .map(|card| Queue { classifier: ClassifierSettings::by_name(card.name), ..queue.clone() })
            .collect(),
    }
}

/// Goes through `queues`, all settings of one pair: the parts at `places` have an effect in one of
/// those that are accepted.
fn pair_is_reached(
    name: &str,
    queues: &[Queue],
    places: &[Place],
    loads: &[(Limit, Offers)],
    silent: &mut Vec<String>,
) {
    let accepted: Vec<&Queue> = queues.iter().filter(|queue| queue.fault().is_none()).collect();
    for place in places.iter().filter(|_| !accepted.is_empty()) {
        let mut answers = accepted.iter().map(|queue| differs(queue, &replaced(queue, *place), loads));
        let is_reached = answers.any(|differs| differs != Some(false));
        if !is_reached {
            silent.push(format!("{name}: the {place:?}"));
        }
    }
}

#[test]
fn each_scheduler_and_each_buffer_policy_has_an_effect_beside_each_other() {
    let (loads, mut silent) = (loads(), Vec::new());
    for (scheduler, policy) in SCHEDULERS.iter().flat_map(|s| BUFFER_POLICIES.iter().map(move |b| (s.name, b.name))) {
        let queues: Vec<Queue> = schedulers(scheduler)
            .iter()
            .flat_map(|scheduler| {
                BufferSettings::variants(policy).into_iter().map(|b| Queue { buffer: Some(b), ..plain(scheduler) })
            })
            .collect();
        let name = format!("{scheduler} + {policy}");
        pair_is_reached(&name, &queues, &[Place::Scheduler, Place::Buffer], &loads, &mut silent);
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn each_overflow_has_an_effect_beside_each_buffer_policy_and_each_scheduler() {
    let (loads, mut silent) = (loads(), Vec::new());
    for overflow in BUFFER_POLICIES.iter().map(|card| card.name) {
        let of = |scheduler: &str, policy: &str| -> Vec<Queue> {
            let scheduler = SchedulerSettings::by_name(scheduler).expect("a scheduler of the registry");
            let queue = |buffer| Queue {
                buffer: Some(buffer),
                overflow: BufferSettings::by_name(overflow),
                ..plain(&scheduler)
            };
            BufferSettings::variants(policy).into_iter().map(queue).collect()
        };
        for policy in BUFFER_POLICIES.iter().map(|card| card.name) {
            for scheduler in ["fifo", "drr", "wfq", "pifo"] {
                let queues = of(scheduler, policy);
                let name = format!("{scheduler} + {policy} + {overflow}");
                pair_is_reached(&name, &queues, &[Place::Buffer, Place::Overflow], &loads, &mut silent);
            }
        }
        for scheduler in SCHEDULERS.iter().map(|card| card.name) {
            let queues = of(scheduler, "blue");
            pair_is_reached(
                &format!("{scheduler} + blue + {overflow}"),
                &queues,
                &[Place::Overflow],
                &loads,
                &mut silent,
            );
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn each_marker_and_each_classifier_has_an_effect_wherever_it_is_accepted() {
    let (loads, mut silent) = (loads(), Vec::new());
    let with_marker = |queue: &Queue, marker: &str| -> Vec<Queue> {
        MarkerSettings::variants(marker).into_iter().map(|m| Queue { marker: Some(m), ..queue.clone() }).collect()
    };
    let with_classifier =
        |queue: &Queue, name: &str| Queue { classifier: ClassifierSettings::by_name(name), ..queue.clone() };
    let markers = MARKERS.iter().map(|card| card.name).filter(|name| *name != "none");
    // Beside each scheduler, and beside each buffer policy before a FIFO and before queues of
    // flows.
    let mut bases: Vec<(String, Vec<Queue>)> = SCHEDULERS
        .iter()
        .map(|card| (card.name.to_owned(), schedulers(card.name).iter().map(plain).collect()))
        .collect();
    for policy in BUFFER_POLICIES {
        for name in ["fifo", "drr"] {
            let scheduler = SchedulerSettings::by_name(name).expect("a scheduler of the registry");
            let queue = |b| Queue { buffer: Some(b), ..plain(&scheduler) };
            let queues = BufferSettings::variants(policy.name).into_iter().map(queue).collect();
            bases.push((format!("{name} + {}", policy.name), queues));
        }
    }
    for (base, queues) in &bases {
        for marker in markers.clone() {
            let queues: Vec<Queue> = queues.iter().flat_map(|queue| with_marker(queue, marker)).collect();
            pair_is_reached(&format!("{base} + {marker}"), &queues, &[Place::Marker], &loads, &mut silent);
        }
    }
    for design in DESIGNS {
        let queue = |design| Queue::of_design(design, LIMIT);
        let queues = DesignSettings::variants(design.name).into_iter().map(queue).collect();
        bases.push((design.name.to_owned(), queues));
    }
    for (base, queues) in &bases {
        for classifier in CLASSIFIERS.iter().map(|card| card.name) {
            let queues: Vec<Queue> = queues.iter().map(|queue| with_classifier(queue, classifier)).collect();
            pair_is_reached(&format!("{base} + {classifier}"), &queues, &[Place::Classifier], &loads, &mut silent);
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}
