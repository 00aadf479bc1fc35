//! The driver on a port and the plain loop before it: the same journeys.

mod plain;

use fairq_audit::draw::{Draw, Replay};
use fairq_audit::driver::{Driver, Journey, header};
use fairq_audit::plain_driver::Driver as Plain;
use fairq_audit::uneven_line;
use fairq_audit::world::{World, arrivals};
use fairq_sched::change::Change;
use fairq_sched::contract::Discipline;
use fairq_sched::packet::Marks;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Weight};

#[test]
fn the_uneven_line_on_a_port_gives_the_journeys_of_its_loop() {
    let limit = Some(Limit::Packets(12));
    let mut compared = 0;
    for settings in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)) {
        let queue = Queue::new(settings, limit);
        for seed in 0..3 {
            let _replay = Replay(format!("seed {seed}, {queue:?}"));
            let mut draw = Draw::new(seed);
            let world = World::new(&mut draw, 200);
            let arrivals = arrivals(&mut draw, &world);
            let usual = world.line.rate.time_of_bits(8000);
            let run = || plain::run(queue.build(&world.line), &arrivals, usual, &mut Draw::new(seed));
            // A shaper holds packets back.
            let Ok(mut theirs) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) else { continue };
            for journey in &mut theirs {
                journey.marks = Marks::NONE;
            }
            let mut mine = uneven_line::run(queue.build(&world.line), &arrivals, usual, &mut Draw::new(seed));
            for journey in &mut mine {
                journey.marks = Marks::NONE;
            }
            assert_eq!(mine, theirs);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn the_driver_on_a_port_gives_the_journeys_of_the_plain_loop() {
    let limit = Some(Limit::Packets(12));
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let mut queues: Vec<Queue> = schedulers.map(|scheduler| Queue::new(scheduler, limit)).collect();
    let fifo = SchedulerSettings::by_name("fifo").unwrap();
    for buffer in BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name)) {
        queues.push(Queue { buffer: Some(buffer), ..Queue::new(fifo.clone(), limit) });
    }
    let designs = DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name));
    queues.extend(designs.map(|design| Queue::of_design(design, limit)));
    queues.retain(|queue| queue.fault().is_none());
    for (at, queue) in queues.iter().enumerate() {
        for round in 0..6 {
            let seed = at as u64 * 6 + round;
            let _replay = Replay(format!("seed {seed}, {queue:?}"));
            let mut draw = Draw::new(seed);
            let mut world = World::new(&mut draw, 200);
            // A bit takes whole picoseconds.
            world.line.rate = Rate::new(draw.pick(&[1_000_000, 10_000_000_000])).unwrap();
            world.choose_classes(&mut draw, queue);
            let mut driver = Driver::new(queue.build(&world.line), world.line.rate);
            let mut plain = Plain::new(queue.build(&world.line), world.line.rate);
            driver.interrupt(world.interrupts);
            plain.interrupts = world.interrupts;
            for (number, arrival) in arrivals(&mut draw, &world).iter().enumerate() {
                driver.offer(*arrival);
                plain.offer(*arrival);
                if world.removals && draw.once_in(8) {
                    let back = draw.below(30).min(number as u64);
                    assert_eq!(driver.remove(number as u64 - back), plain.remove(number as u64 - back));
                }
                if world.weight_changes && draw.once_in(20) {
                    let weight = Weight::from_thousandths(draw.pick(&[1, 500, 1000, 3000])).unwrap();
                    let change = Change::Weight(header(draw.below(world.flows) as u32), weight);
                    let now = driver.now();
                    assert_eq!(driver.discipline_mut().change(now, &change), plain.discipline.change(now, &change));
                    driver.ask_again();
                    plain.ask_again();
                }
            }
            driver.finish();
            plain.finish();
            assert_eq!(driver.order, plain.order);
            // Which handles are used again depends on how often an idle line asked.
            let nameless = |journey: &Journey| Journey { handle: None, ..*journey };
            let [mine, theirs] =
                [&driver.journeys, &plain.journeys].map(|all| all.iter().map(nameless).collect::<Vec<_>>());
            let differs = mine.iter().zip(&theirs).find(|(mine, theirs)| mine != theirs);
            assert_eq!(differs, None);
        }
    }
}
