//! Disciplines in the leaves of a scheduler of classes.

use fairq_sched::contract::{Dequeue, Discipline as _, Line};
use fairq_sched::leaf::LeafQueue;
use fairq_sched::packet::{Fates, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::schedule::{drr, ets, htb, priority, token_bucket};
use fairq_sched::units::{Bytes, Limit, Rate, Time};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{End, header};
use fairq_testkit::leaves::{trees, with_leaves};
use fairq_testkit::world::World;

fn fifo() -> Queue {
    Queue::unlimited_fifo()
}

fn scheduler(name: &str) -> SchedulerSettings {
    SchedulerSettings::by_name(name).expect("a scheduler of the registry")
}

fn leaf(queue: Queue) -> LeafQueue {
    LeafQueue(Box::new(queue))
}

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

/// Every queue of the registry that can stand in a leaf.
fn inner() -> Vec<Queue> {
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let buffers = BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name));
    let designs = DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name));
    let limit = Some(Limit::Packets(20));
    let behind = |buffer: BufferSettings| {
        let queue = |name| Queue { buffer: Some(buffer.clone()), ..Queue::new(scheduler(name), limit) };
        [queue("fifo"), queue("drr")].into_iter().find(|queue| queue.fault().is_none())
    };
    let all = schedulers.map(|scheduler| Queue::new(scheduler, limit)).chain(buffers.filter_map(behind));
    all.chain(designs.map(|design| Queue::of_design(design, limit))).collect()
}

#[test]
fn fifos_in_the_leaves_are_what_classes_have_without() {
    let found = trees(&|_| fifo());
    assert!(found.len() > 15, "{}", found.len());
    for (at, tree) in found.into_iter().enumerate() {
        let mut plain = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
        let plain = plain.find(|plain| with_leaves(plain.clone(), &|_| fifo()).as_ref() == Some(&tree));
        let plain = Queue::new(plain.expect("the tree without queues"), None);
        for round in 0..20 {
            let seed = at as u64 * 20 + round;
            let _replay = Replay(format!("seed {seed}, {plain:?}"));
            let ends = |queue: &Queue| {
                let mut draw = Draw::new(seed);
                let mut world = World::new(&mut draw, 150);
                (world.interrupts, world.limit_changes, world.rate_changes) = (false, false, false);
                world.choose_classes(&mut draw, &plain);
                let journeys = world.run(&mut draw, queue.build(&world.line)).journeys;
                journeys.into_iter().map(|journey| (journey.arrival, journey.end)).collect::<Vec<_>>()
            };
            let (found, wanted) = (ends(&Queue::new(tree.clone(), None)), ends(&plain));
            let differs = found.iter().zip(&wanted).find(|(found, wanted)| found != wanted);
            assert_eq!(differs, None, "{} packets", wanted.len());
            assert_eq!(found.len(), wanted.len());
        }
    }
}

#[test]
fn every_tree_of_two_levels_obeys_the_contract() {
    let inner: Vec<Queue> = inner()
        .into_iter()
        .filter(|queue| {
            let tree = SchedulerSettings::Priority(priority::Settings { queues: vec![leaf(queue.clone())] });
            Queue::new(tree, None).fault().is_none()
        })
        .collect();
    assert!(inner.len() > 100, "{}", inner.len());
    let outer = trees(&|_| fifo()).len();
    for number in 0..outer {
        for (at, queue) in inner.iter().enumerate() {
            // Every leaf has another of them, so that all meet in a few trees.
            let tree = trees(&|leaf| inner[(at + leaf * 7) % inner.len()].clone()).swap_remove(number);
            let limit = [None, Some(Limit::Packets(25)), Some(Limit::Bytes(9000))][at % 3];
            let tree = Queue { limit, ..Queue::new(tree, limit) };
            let seed = (number * inner.len() + at) as u64;
            let _replay = Replay(format!("seed {seed}, {queue:?} in {tree:?}"));
            assert_eq!(tree.fault(), None);
            let mut draw = Draw::new(seed);
            let mut world = World::new(&mut draw, 60);
            world.choose_classes(&mut draw, &tree);
            let driver = world.run(&mut draw, Checked::new(Rules::of(&tree), || tree.build(&world.line)));
            let is_inside = |journey: &&fairq_testkit::driver::Journey| journey.end == End::Inside;
            assert_eq!(driver.journeys.iter().find(is_inside), None, "everything leaves in the end");
        }
    }
}

/// `ets` of strict bands with these queues.
fn bands(queues: Vec<Queue>, limit: Option<Limit>) -> Queue {
    let (strict, map) =
        (queues.len() as u32, (0..8).map(|precedence| precedence % queues.len().max(1) as u16).collect());
    let queues = queues.into_iter().map(leaf).collect();
    Queue::new(
        SchedulerSettings::Ets(ets::Settings { strict, quanta: Vec::new(), map, queues, ..Default::default() }),
        limit,
    )
}

/// A packet of 1000 B whose precedence is its band.
fn packet(token: u64, band: u8) -> Packet {
    Packet { tos: band << 5, ..Packet::new(token, Time::ZERO, 1000) }
}

/// What `queue` drops, with the reasons, when a packet of each of `bands` arrives, and what it then
/// sends.
fn outcome(queue: &Queue, bands: &[u8]) -> (Vec<(u64, Reason)>, Vec<u64>) {
    let mut discipline = queue.build(&Line::new(rate(1_000_000)));
    let (mut fates, mut sent) = (Fates::new(), Vec::new());
    for (token, band) in (0..).zip(bands) {
        discipline.enqueue(Time::ZERO, packet(token, *band), &header(u32::from(*band)), &mut fates);
    }
    while let Dequeue::Send(packet) = discipline.dequeue(Time::ZERO, &mut fates) {
        sent.push(packet.token);
    }
    let drop = |fate: &fairq_sched::packet::Fate| match fate.outcome {
        Outcome::Dropped(reason) => Some((fate.packet.token, reason)),
        Outcome::Marked(_) => None,
    };
    (fates.iter().filter_map(drop).collect(), sent)
}

#[test]
fn each_leaf_has_its_limit_and_a_limit_for_all_takes_from_the_longest() {
    let of = |packets| Queue::new(scheduler("fifo"), Some(Limit::Packets(packets)));
    let arrivals = [0, 1, 1, 1, 1, 0];
    let apart = outcome(&bands(vec![of(1), of(3)], None), &arrivals);
    assert_eq!(apart, (vec![(4, Reason::BufferFull), (5, Reason::BufferFull)], vec![0, 1, 2, 3]));
    // The last arrival finds all places taken, and the longest leaf loses the newest of its
    // packets.
    let together = outcome(&bands(vec![of(3), of(4)], Some(Limit::Packets(4))), &arrivals);
    assert_eq!(together, (vec![(4, Reason::LongestQueue), (3, Reason::LongestQueue)], vec![0, 5, 1, 2]));
    let tail =
        Queue { buffer: BufferSettings::by_name("tail_drop"), ..bands(vec![of(3), of(4)], Some(Limit::Packets(4))) };
    assert_eq!(outcome(&tail, &arrivals), (vec![(4, Reason::BufferFull), (5, Reason::BufferFull)], vec![0, 1, 2, 3]));
}

#[test]
fn a_leaf_without_a_limit_has_that_of_linux() {
    let dropped = |queues| outcome(&bands(queues, None), &[0; 1002]).0.len();
    assert_eq!(dropped(vec![Queue::new(scheduler("drr"), None)]), 2);
    assert_eq!(dropped(vec![Queue::of_design(DesignSettings::by_name("linux_fq").expect("a design"), None)]), 902);
    // The first band names a queue, and the second does not.
    let settings = ets::Settings {
        strict: 2,
        quanta: Vec::new(),
        map: vec![1; 8],
        queues: vec![leaf(fifo())],
        ..Default::default()
    };
    assert_eq!(outcome(&Queue::new(SchedulerSettings::Ets(settings), None), &[0; 1002]).0.len(), 2);
}

#[test]
fn its_owner_takes_a_packet_back_wherever_it_waits() {
    let class =
        |name: &str, dscp| drr::Class { name: name.into(), dscp, quantum: Some(Bytes(600)), queue: Some(leaf(fifo())) };
    let classes = vec![class("a", vec![0]), class("b", vec![8])];
    let queue = Queue::new(SchedulerSettings::Drr(drr::Settings { classes, ..Default::default() }), None);
    let mut discipline = queue.build(&Line::new(rate(1_000_000)));
    let mut fates = Fates::new();
    let mut offer = |token, band| {
        let handle = discipline.enqueue(Time::ZERO, packet(token, band), &header(u32::from(band)), &mut fates);
        handle.expect("there is room")
    };
    let handles = [offer(0, 0), offer(1, 0), offer(2, 0), offer(3, 1), offer(4, 1)];
    let mut next = || match discipline.dequeue(Time::ZERO, &mut Fates::new()) {
        Dequeue::Send(packet) => Some(packet.token),
        _ => None,
    };
    // Two turns of 600 B for a packet: both heads are known when the first leaves.
    assert_eq!(next(), Some(0));
    let mut remove = |at: usize| discipline.remove(Time::ZERO, handles[at]).map(|packet| packet.token);
    assert_eq!([remove(0), remove(3), remove(3), remove(2)], [None, Some(3), None, Some(2)]);
    assert_eq!(discipline.held().packets, 2);
    let mut left = Vec::new();
    while let Dequeue::Send(packet) = discipline.dequeue(Time::ZERO, &mut fates) {
        left.push(packet.token);
    }
    left.sort_unstable();
    assert_eq!(left, [1, 4]);
}

#[test]
fn flows_choose_a_leaf_of_a_tree_in_a_leaf_by_its_path() {
    let class = |name: &str| htb::Class { name: name.into(), rate: Some(rate(500_000)), ..Default::default() };
    let classes = vec![class("web"), class("voice")];
    let inner = Queue::new(SchedulerSettings::Htb(htb::Settings { classes, ..Default::default() }), None);
    let queue = bands(vec![fifo(), inner], None);
    let names = ["band0", "band1", "band1/web", "band1/voice"];
    assert_eq!(queue.classes().as_deref(), Some(&names.map(String::from)[..]));
    let mut line = Line::new(rate(1_000_000));
    line.classes = (0..).zip(names).map(|(flow, name)| (header(flow), name.to_owned())).collect();
    let mut discipline = queue.build(&line);
    for flow in 0..4 {
        discipline.enqueue(Time::ZERO, packet(u64::from(flow), 0), &header(flow), &mut Fates::new());
    }
    let mut places = std::collections::BTreeMap::new();
    discipline.waiting(&mut |waiting| {
        places.insert(waiting.packet.token, waiting.queue);
    });
    // Of `band1` the default is the first of its classes.
    assert_eq!((places.len(), places[&1] == places[&2], places[&2] == places[&3]), (4, true, false));
    let mut shown = Vec::new();
    discipline.readings(Time::ZERO, &mut |reading| {
        if reading.name == "packets" {
            shown.push((reading.queue.unwrap_or_default().to_owned(), reading.value.real()));
        }
    });
    assert_eq!(shown, [("band0".to_owned(), 1.0), ("band1".to_owned(), 3.0)]);
}

#[test]
fn flows_between_the_same_ends_are_told_apart_in_a_leaf_as_in_the_tree() {
    let queue = |classifier| Queue { classifier, ..bands(vec![Queue::new(scheduler("round_robin"), None)], None) };
    let sent = |queue: &Queue| {
        let mut discipline = queue.build(&Line::new(rate(1_000_000)));
        for (token, port) in [(0, 1), (1, 1), (2, 2)] {
            let header = fairq_sched::packet::Header { source_port: port, ..header(7) };
            discipline.enqueue(Time::ZERO, packet(token, 0), &header, &mut Fates::new());
        }
        let mut tokens = Vec::new();
        while let Dequeue::Send(packet) = discipline.dequeue(Time::ZERO, &mut Fates::new()) {
            tokens.push(packet.token);
        }
        tokens
    };
    assert_eq!(sent(&queue(None)), [0, 2, 1], "by five-tuple");
    assert_eq!(sent(&queue(fairq_sched::registry::ClassifierSettings::by_name("pair"))), [0, 1, 2]);
}

#[test]
fn a_leaf_that_holds_its_packets_back_lets_the_others_go() {
    let settings = token_bucket::Settings { rate: Some(rate(8_000)), burst: Bytes(1000), ..Default::default() };
    let shaped = Queue::new(SchedulerSettings::TokenBucket(settings), None);
    let mut discipline = bands(vec![shaped, fifo()], None).build(&Line::new(rate(1_000_000)));
    let mut fates = Fates::new();
    for (token, band) in [(0, 0), (1, 0), (2, 1)] {
        discipline.enqueue(Time::ZERO, packet(token, band), &header(u32::from(band)), &mut fates);
    }
    let mut ask = |now| match discipline.dequeue(now, &mut fates) {
        Dequeue::Send(packet) => Ok(packet.token),
        Dequeue::NotBefore(time) => Err(Some(time)),
        Dequeue::Empty => Err(None),
    };
    // The second has its tokens a second after the first.
    let second = Time::from_s(1);
    assert_eq!([ask(Time::ZERO), ask(Time::ZERO), ask(Time::ZERO)], [Ok(0), Ok(2), Err(Some(second))]);
    assert_eq!([ask(second), ask(second)], [Ok(1), Err(None)]);
}

#[test]
fn a_tree_of_thousands_of_classes_serves_each_of_them() {
    const CLASSES: u32 = 3000;
    let inner = Queue::of_design(DesignSettings::by_name("fq_codel").expect("a design"), None);
    let class = |at| drr::Class { name: format!("c{at}"), queue: Some(leaf(inner.clone())), ..Default::default() };
    let classes = (0..CLASSES).map(class).collect();
    let queue = Queue::new(SchedulerSettings::Drr(drr::Settings { classes, ..Default::default() }), None);
    assert_eq!(queue.fault(), None);
    let mut line = Line::new(rate(1_000_000_000));
    line.classes = (0..CLASSES).map(|at| (header(at), format!("c{at}"))).collect();
    let (mut discipline, mut fates) = (queue.build(&line), Fates::new());
    for round in 0..2 {
        for at in 0..CLASSES {
            discipline.enqueue(Time::ZERO, packet(u64::from(round * CLASSES + at), 0), &header(at), &mut fates);
        }
    }
    let mut sent = Vec::new();
    while let Dequeue::Send(packet) = discipline.dequeue(Time::ZERO, &mut fates) {
        sent.push(packet.token);
    }
    // A turn is a packet: each class has sent its first before any sends its second.
    assert_eq!(sent, (0..2 * u64::from(CLASSES)).collect::<Vec<_>>());
}

#[test]
fn what_cannot_stand_in_a_leaf_is_refused_with_the_class() {
    let class = |queue: Queue| htb::Class {
        name: "a".into(),
        rate: Some(rate(1_000_000)),
        queue: Some(leaf(queue)),
        ..Default::default()
    };
    let tree = |queue| SchedulerSettings::Htb(htb::Settings { classes: vec![class(queue)], ..Default::default() });
    let of = |name: &str| Queue::new(scheduler(name), None);
    let limited = |packets| Queue { limit: Some(Limit::Packets(packets)), ..of("fifo") };
    let early = Queue { buffer: BufferSettings::by_name("codel"), ..Queue::new(tree(fifo()), None) };
    let cases = [
        (
            Queue::new(tree(of("wfq")), None),
            "htb: class `a`: wfq goes by the rate of a line, and a leaf has none; write another queue, or its rate where wfq takes \
             one",
        ),
        (
            Queue::new(tree(of("token_bucket")), None),
            "htb: class `a`: token_bucket goes by the rate of a line, and a leaf has none; write another queue, or its rate where token_bucket takes \
             one",
        ),
        (
            Queue::new(tree(limited(9)), Some(Limit::Packets(8))),
            "htb: class `a`: fifo may hold 9 packets, and all leaves together 8 packets; lower the one or raise the other",
        ),
        (
            Queue::new(tree(Queue { overflow: BufferSettings::by_name("tail_drop"), ..of("fifo") }), None),
            "htb: class `a`: tail_drop deals with a full buffer itself; overflow goes with red, codel and the like",
        ),
        (
            early,
            "htb: codel stands in a leaf that has a queue of its own, not beside the tree; write queue = \"fifo + codel\" there",
        ),
        (bands(vec![], None), "ets: strict bands and quanta are together from 1 to 16 bands"),
    ];
    for (queue, said) in cases {
        assert_eq!(queue.fault().or(queue.fault_of_limits()).as_deref(), Some(said));
    }
    let queues = vec![leaf(fifo()); 9];
    let priority = Queue::new(SchedulerSettings::Priority(priority::Settings { queues }), None);
    assert_eq!(priority.fault().as_deref(), Some("priority: 9 queues for 8 bands; write one for each"));
}
