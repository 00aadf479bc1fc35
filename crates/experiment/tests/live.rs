//! A run that one holds: the same as one that is not held, and the same again when it is taken
//! back.

use crate::networks::changes::changing_world;
use crate::networks::{self, file};
use fairq_experiment::experiment::Experiment;
use fairq_sched::contract::Discipline as _;
use fairq_sched::packet::Marks;
use fairq_sched::units::{Rate, Time};
use fairq_sim::changes::{Intervention, What};
use fairq_sim::live::{LiveRun, Progress, Scope};
use fairq_sim::observe::{Event, Observer};
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;
use fairq_testkit::arrivals::SplitMix64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn plan(text: &str) -> Option<Plan> {
    Some(Experiment::read_with(text, "drawn.json", &[], &file).ok()?.plans()[0].1.clone())
}

fn live(plan: &Plan, seed: u64) -> LiveRun {
    LiveRun::new(plan, seed, Arc::new(file), None).unwrap_or_else(|fault| panic!("{fault:?}"))
}

/// The counts of a run that has been settled.
fn counts(simulation: &Simulation) -> String {
    let flows: Vec<_> = simulation.flow_counts().collect();
    let lines: Vec<_> = simulation.network.lines.iter().map(|line| line.counts).collect();
    format!("{flows:?} {lines:?} {}", simulation.network.packet_hops)
}

#[test]
fn a_run_that_is_held_counts_the_same() {
    let mut runs = 0;
    for seed in 7000..7060 {
        let Some(plan) = plan(&changing_world(seed)) else { continue };
        let (mut run, mut plain) =
            (live(&plan, seed), Simulation::new(&plan, seed, &file).expect("its files are read"));
        for slice in 1..=10 {
            let time = Time(slice * 30_000_000_000);
            while run.run_some(time, 100) != Progress::Reached {}
            plain.run_until(time);
            plain.settle();
            assert_eq!((run.now(), run.look().held()), (time, plain.held()), "test network {seed}");
            assert!(counts(run.look()) == counts(&plain), "test network {seed}, up to {time}");
        }
        runs += 1;
    }
    assert!(runs > 40, "{runs}");
}

/// A change that most lines can take.
fn change(random: &mut SplitMix64, plan: &Plan, run: &LiveRun) -> Intervention {
    let line = random.below(plan.lines.len() as u64) as u32;
    if random.below(2) == 0 {
        return of_packets(random, plan, run);
    }
    let what = match random.below(5) {
        0 => What::Up(random.below(2) == 0),
        1 => What::Rate(Rate::new(1000 << random.below(12))),
        2 => What::Rate(None),
        3 => What::Delay(Time(random.below(1 << 36))),
        _ => What::Queue(Arc::clone(&plan.lines[random.below(plan.lines.len() as u64) as usize].queue)),
    };
    Intervention { line, what }
}

/// What is done to packets; some cannot be had.
fn of_packets(random: &mut SplitMix64, plan: &Plan, run: &LiveRun) -> Intervention {
    let flow = random.below(plan.flows.len() as u64) as u32;
    let path = plan.flows[flow as usize].path.forward();
    let line = path[random.below(path.len() as u64) as usize];
    let mut waiting = Vec::new();
    for (line, at) in (0..).zip(&run.simulation().network.lines) {
        if let Some(gateway) = &at.gateway {
            gateway.port.discipline().waiting(&mut |it| waiting.push((line, it.packet.token as u32)));
        }
    }
    let offer = What::Offer { flow, bytes: 1 + random.below(1500) as u32, count: 1 + random.below(3) as u32 };
    if waiting.is_empty() || random.below(3) == 0 {
        return Intervention { line, what: offer };
    }
    let (line, packet) = waiting[random.below(waiting.len() as u64) as usize];
    let what = match random.below(3) {
        0 => What::Drop(packet),
        1 => What::Mark(packet, Marks::CE),
        _ => What::Hold(packet, run.now().saturating_add(Time(1 + random.below(1 << 35)))),
    };
    Intervention { line, what }
}

#[test]
fn a_step_back_is_the_run_before_it() {
    let (mut worlds, mut made, mut steps) = (0, 0, 0);
    for seed in 8000.. {
        let Some(plan) = plan(&networks::world(seed)) else { continue };
        let (mut run, mut random) = (live(&plan, seed), SplitMix64(seed));
        let mut before = Vec::new();
        while before.len() < 200 {
            before.push((run.digest(), run.now()));
            // A change belongs to the step after it.
            if random.below(8) == 0 && {
                let change = change(&mut random, &plan, &run);
                run.change(change).is_ok()
            } {
                made += 1;
            }
            if run.step().is_none() {
                break;
            }
            assert!(run.simulation().conserves_packets(), "test network {seed}, step {}", run.steps());
        }
        let mut to = run.steps();
        while to > 0 {
            to -= 1 + random.below(to.min(25));
            run.run_steps(to).expect("its files are read");
            assert_eq!((run.steps(), (run.digest(), run.now())), (to, before[to as usize]), "test network {seed}");
        }
        steps += before.len();
        worlds += 1;
        if worlds == 20 {
            break;
        }
    }
    assert!(made > 100 && steps > 1000, "{made} changes, {steps} steps");
}

/// Counts events.
struct Count(Arc<AtomicU64>);

impl Observer for Count {
    fn event(&mut self, _: Time, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn who_watches_changes_nothing_and_hears_of_what_it_asked_for() {
    let plan = (9000..).find_map(|seed| plan(&networks::world(seed)).filter(|plan| plan.flows.len() > 2)).expect("one");
    let (mut run, mut alone) = (live(&plan, 1), live(&plan, 1));
    let counts: [Arc<AtomicU64>; 2] = std::array::from_fn(|_| Arc::default());
    let lines = Arc::new(Mutex::new(Vec::new()));
    struct Lines(Arc<Mutex<Vec<u32>>>);
    impl Observer for Lines {
        fn event(&mut self, _: Time, event: &Event<'_>) {
            self.0.lock().expect("one thread").extend(event.of().0);
        }
    }
    run.run_to(Time::from_s(1));
    let all = run.watch(Scope::default(), Box::new(Count(Arc::clone(&counts[0]))));
    run.watch(Scope { flows: Some(vec![0]), lines: None }, Box::new(Count(Arc::clone(&counts[1]))));
    run.watch(Scope { lines: Some(vec![0]), flows: None }, Box::new(Lines(Arc::clone(&lines))));
    run.run_to(Time::from_s(3));
    let [heard, of_flow] = counts.each_ref().map(|count| count.load(Ordering::Relaxed));
    assert!(heard > of_flow && of_flow > 0, "{heard}, {of_flow}");
    assert!(lines.lock().expect("one thread").iter().all(|line| *line == 0));
    assert!(run.unwatch(all).is_some() && run.unwatch(all).is_none());
    run.run_to(Time::from_s(5));
    assert_eq!(counts[0].load(Ordering::Relaxed), heard);
    alone.run_to(Time::from_s(5));
    assert_eq!((run.digest(), run.steps()), (alone.digest(), alone.steps()));
}
