//! Random test networks: whole scenarios from one seed, checked after every event. `FAIRQ_TIMES=50`
//! runs that many times more.

use crate::networks;
use crate::networks::changes::changing_world;
use crate::watch::Watch;
use fairq_experiment::experiment::Experiment;
use fairq_experiment::refused;
use fairq_sched::queue::Queue;
use fairq_sched::registry::DESIGNS;
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::run::Simulation;
use fairq_testkit::skip::iterations;
use serde_json::Value;

/// Test networks in a default run, and the most events of one.
const WORLDS: u64 = 400;
const EVENTS: u64 = 6000;

/// Test networks that change while they run.
const CHANGING: u64 = 150;

/// The most events of a test network for one pair of parts.
const PAIR_EVENTS: u64 = 1000;

/// Runs one test network. Returns the number of events.
fn run(seed: u64) -> u64 {
    run_text(seed, &networks::world(seed), EVENTS)
}

/// Runs the test network in `text`, event by event up to `most`. Returns the number of events.
fn run_text(seed: u64, text: &str, most: u64) -> u64 {
    let experiment = match Experiment::read_with(text, "drawn.json", &[], &networks::file) {
        Ok(experiment) => experiment,
        // The one fault that a random test network may have.
        Err(problem) if problem.fault.message.contains("takes time") => return 0,
        Err(problem) => panic!("{problem}\n{text}"),
    };
    let plan = &experiment.plans()[0].1;
    let mut simulation = Simulation::new(plan, seed, &networks::file).unwrap_or_else(|(_, fault)| panic!("{fault}"));
    let watch = Watch::of(&mut simulation, plan);
    let mut events = 0;
    let mut now = Time::ZERO;
    // Counts are cleared in the middle of the traffic.
    let warm_up = seed % 3 * 500;
    while events < most && simulation.step_or_change(plan.warm_up + plan.duration) {
        assert!(simulation.now() >= now, "time goes back");
        now = simulation.now();
        events += 1;
        watch.check(&simulation);
        if events == warm_up {
            simulation.clear_counts();
            watch.cleared();
            watch.check(&simulation);
        }
    }
    // Periodic updates run without traffic.
    let is_silent = simulation.flow_counts().all(|counts| counts.sent == 0);
    assert!(is_silent || watch.events() > 0, "nothing was watched");
    events
}

/// Prints how to replay a failure.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "test network {}; replay: FAIRQ_SEED={} cargo test -p fairq-experiment --test it random_networks::",
                self.0, self.0
            );
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a failure is replayed by its seed, given from outside")]
fn every_packet_of_every_drawn_world_is_where_it_should_be() {
    if let Ok(seed) = std::env::var("FAIRQ_SEED") {
        let seed = seed.parse().expect("FAIRQ_SEED is a number");
        eprintln!("{}", networks::world(seed));
        run(seed);
        return;
    }
    let (mut events, mut shared, mut lossy, mut traced, mut layered, mut stopped) = (0, 0, 0, 0, 0, 0);
    let worlds = iterations(WORLDS);
    for seed in 0..worlds {
        let _replay = Replay(seed);
        let world = run(seed);
        events += world;
        let has = |what: &str| u64::from(world > 0 && networks::world(seed).contains(what));
        shared += has("\"pools\":[{");
        lossy += has("\"loss\":0.3");
        traced += has("\"trace\":");
        layered += has("\"sessions\":");
        stopped += has("\"stop\":");
    }
    assert!(lossy > worlds / 10 && traced > worlds / 10, "{lossy} test networks lose packets, {traced} follow a trace");
    assert!(layered > worlds / 4, "{layered} test networks have sessions");
    assert!(stopped > worlds / 4, "in {stopped} test networks something stops");
    assert!(shared > worlds / 10, "{shared} test networks have lines that share a buffer");
    assert!(events > 100 * worlds, "the test networks are too quiet: {events} events");
}

#[test]
fn every_packet_of_a_drawn_world_that_changes_is_where_it_should_be() {
    let (mut events, mut changes) = (0, 0);
    for seed in 5000..5000 + iterations(CHANGING) {
        let _replay = Replay(seed);
        let text = changing_world(seed);
        events += run_text(seed, &text, EVENTS);
        changes += text.matches("\"at\":").count();
    }
    assert!(changes > 500 && events > 15_000, "{changes} changes, {events} events");
}

#[test]
fn a_drawn_world_that_changes_counts_the_same_whether_it_is_watched_or_not() {
    let mut counts = 0;
    for seed in 6000..6000 + iterations(CHANGING) {
        let text = changing_world(seed);
        let [watched, unwatched] = [true, false].map(|is_watched| counted(&text, seed, 100, is_watched));
        assert!(watched == unwatched, "test network {seed}:\n{watched:?}\n{unwatched:?}\n{text}");
        counts += usize::from(watched.is_some());
    }
    assert!(counts > 100, "{counts} test networks");
}

/// The test network of `seed` with `queue` on every link, both ways.
fn world_of(seed: u64, queue: &str) -> String {
    let mut world: Value = serde_json::from_str(&networks::world(seed)).expect("a test network is JSON");
    for link in world["links"].as_array_mut().into_iter().flatten() {
        (link["queue"], link["reverse_queue"]) = (queue.into(), queue.into());
    }
    world.to_string()
}

/// Prints the queue of a failing test network.
struct Having<'a>(u64, &'a str);

impl Drop for Having<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("test network {} with {} on every link", self.0, self.1);
        }
    }
}

#[test]
fn every_pair_of_parts_and_every_design_runs_in_a_drawn_world() {
    let name = |queue: &Queue| match queue.limit {
        Some(limit) => format!("{} + {limit}", queue.name()),
        None => queue.name(),
    };
    let pairs = refused::pairs().into_iter().filter(|queue| queue.fault().is_none());
    let queues: Vec<String> =
        pairs.map(|queue| name(&queue)).chain(DESIGNS.iter().map(|d| d.name.to_owned())).collect();
    let mut events = 0;
    for (seed, queue) in (10_000..).zip(&queues) {
        // In some test networks no line takes time; then the next seed is tried.
        let found = (seed..).step_by(queues.len()).take(20).find_map(|seed| {
            let _having = Having(seed, queue);
            Some(run_text(seed, &world_of(seed, queue), PAIR_EVENTS)).filter(|events| *events > 0)
        });
        events += found.unwrap_or_else(|| panic!("no test network for {queue}"));
    }
    assert!(events > 100 * queues.len() as u64, "the test networks are too quiet: {events} events");
}

/// Observes everything and does nothing.
struct IdleObserver;

impl Observer for IdleObserver {
    fn event(&mut self, _now: Time, _event: &Event<'_>) {}
}

/// The counts of a test network after `slices` of 3 ms, cleared in the middle of the traffic.
fn counted(text: &str, seed: u64, slices: u64, is_watched: bool) -> Option<String> {
    let experiment = Experiment::read_with(text, "drawn.json", &[], &networks::file).ok()?;
    let mut simulation = Simulation::new(&experiment.plans()[0].1, seed, &networks::file).ok()?;
    if is_watched {
        simulation.observe(Box::new(IdleObserver));
    }
    let mut held = Vec::new();
    for slice in 1..=slices {
        simulation.run_until(Time(slice * 3_000_000_000 + seed * 7_777));
        held.push(simulation.held());
        if slice == slices / 3 {
            simulation.clear_counts();
        }
        if simulation.network.arena.len() > 2000 {
            break;
        }
    }
    simulation.settle();
    let flows: Vec<_> = simulation.flow_counts().collect();
    let network = &simulation.network;
    let lines: Vec<_> = network.lines.iter().map(|line| line.counts).collect();
    let members = simulation.sessions().flat_map(|session| session.members());
    let members: Vec<_> = members.map(|member| (member.level(), *member.counts())).collect();
    Some(format!("{flows:?} {lines:?} {members:?} {} {held:?}", network.packet_hops))
}

/// Without an observer, a line without waiting packets has no event at the end of a transmission.
#[test]
fn a_drawn_world_counts_the_same_whether_it_is_watched_or_not() {
    let mut counts = 0;
    for seed in 2000..2150 {
        let [watched, unwatched] =
            [true, false].map(|is_watched| counted(&networks::world(seed), seed, 100, is_watched));
        assert!(watched == unwatched, "test network {seed}:\n{watched:?}\n{unwatched:?}");
        counts += usize::from(watched.is_some());
    }
    assert!(counts > 100, "{counts} test networks");
}
