//! Disciplines in the leaves of a scheduler of classes.

use fairq_sched::contract::{Dequeue, Line};
use fairq_sched::leaf::LeafQueue;
use fairq_sched::packet::{Fates, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::schedule::{drr, ets, htb, priority, token_bucket};
use fairq_sched::units::{Bytes, Limit, Rate, Time};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, Driver, End, header};
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
        let plain = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
        let plain = plain.filter(|plain| with_leaves(plain.clone(), &|_| fifo()).as_ref() == Some(&tree)).next();
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
