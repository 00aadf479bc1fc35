//! Every entry of the registry passes its audit.

use fairq_audit::report::{Report, Yardstick};
use fairq_audit::subject::{self, Subject};
use fairq_audit::{QUICK_SEEDS, audit};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::Limit;

fn audited(queue: &Queue) -> Report {
    let variants = subject::variants(queue);
    let others: Vec<&dyn Subject> = variants.iter().map(|queue| queue as &dyn Subject).collect();
    audit(queue, &others, QUICK_SEEDS, &mut |_, _| true).expect("it is not stopped")
}

fn passes(queue: &Queue) -> Report {
    let report = audited(queue);
    assert_eq!(report.violations, [], "{queue:?}");
    assert!(report.runs > 100, "{queue:?}: {} runs", report.runs);
    for row in &report.measures {
        assert!(row.bound.is_none_or(|bound| row.value <= bound * (1.0 + 1e-9) + row.slack), "{queue:?}: {row:?}");
    }
    report
}

#[test]
fn every_scheduler_and_its_variants_pass() {
    for settings in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)) {
        passes(&Queue::new(settings, None));
    }
}

#[test]
fn every_design_and_its_variants_pass() {
    for settings in DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name)) {
        passes(&Queue::of_design(settings, None));
    }
}

#[test]
fn every_buffer_policy_passes_under_a_limit() {
    for buffer in BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name)) {
        let queue = |name| {
            let scheduler = SchedulerSettings::by_name(name).expect("a scheduler of the registry");
            Queue { buffer: Some(buffer.clone()), ..Queue::new(scheduler, Some(Limit::Packets(12))) }
        };
        let queue = [queue("fifo"), queue("fq")].into_iter().find(|queue| queue.fault().is_none());
        passes(&queue.expect("it goes with one of the two"));
    }
}

#[test]
fn the_cost_that_is_shown_is_that_of_every_part() {
    let parts = |queue: &Queue| -> Vec<&str> {
        let costs = subject::costs(queue);
        assert!(costs.iter().all(|cost| !cost.claimed.is_empty()), "{}: {costs:?}", queue.name());
        costs.into_iter().map(|cost| cost.part).collect()
    };
    for card in SCHEDULERS {
        let plain = Queue::new(SchedulerSettings::by_name(card.name).expect("a scheduler of the registry"), None);
        for early in BUFFER_POLICIES.iter().filter_map(|card| BufferSettings::by_name(card.name)) {
            let queue = Queue { buffer: Some(early.clone()), ..plain.clone() };
            let overflow = queue.overflow();
            let expected = [Some(card.name), Some(early.name()), overflow.as_ref().map(BufferSettings::name)];
            assert_eq!(parts(&queue), expected.into_iter().flatten().collect::<Vec<_>>());
        }
        assert_eq!(parts(&plain), [card.name, plain.buffer().name()]);
    }
    for design in DESIGNS {
        let settings = DesignSettings::by_name(design.name).expect("a design of the registry");
        assert_eq!(parts(&Queue::of_design(settings, None)), [design.name]);
    }
}

#[test]
fn bounds_are_come_near_to() {
    for (name, yardstick, least) in [
        ("scfq", Yardstick::RelativeFairness, 0.9),
        ("sfq", Yardstick::RelativeFairness, 0.9),
        ("sfq", Yardstick::Latency, 0.9),
        ("wfq", Yardstick::Lateness, 0.9),
        ("wf2q_plus", Yardstick::WorstCaseIndex, 0.7),
        ("fq", Yardstick::Lateness, 0.9),
        ("drr", Yardstick::FairnessWhileWaiting, 0.5),
        ("drr", Yardstick::Latency, 0.3),
        ("wrr", Yardstick::PacketsOverWeights, 0.4),
        ("qfq", Yardstick::WorstCaseIndex, 0.2),
        ("round_robin", Yardstick::PacketFairness, 0.9),
        ("virtual_clock", Yardstick::Latency, 0.7),
    ] {
        let queue = Queue::new(SchedulerSettings::by_name(name).expect("a scheduler of the registry"), None);
        let report = audited(&queue);
        let row = report.measures.iter().find(|row| row.yardstick == yardstick && row.bound.is_some());
        let ratio = row.and_then(|row| row.ratio);
        assert!(ratio.is_some_and(|ratio| ratio > least), "{name}: {row:?}");
    }
}
