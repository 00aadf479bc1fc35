//! The traits of each part, each design, each composition and each wrapper, beside what the
//! questions say.

use fairq_sched::checked::{Checked, Rules};
use fairq_sched::contract::{BufferPolicy, Discipline, Line, Marker, Scheduler};
use fairq_sched::ledger::Ledger;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, POLICERS, PolicerSettings,
    SCHEDULERS, SchedulerSettings,
};
use fairq_sched::traits::Traits;
use fairq_sched::units::{Limit, Rate};

const fn any_length(allows: bool) -> u32 {
    if allows { u32::MAX } else { 0 }
}

fn of_scheduler(part: &dyn Scheduler) -> Traits {
    Traits {
        queue_per_flow: part.has_queue_per_flow(),
        tags: part.tags_packets(),
        hears_idle: part.notes_idle(),
        bypass: any_length(part.forgets_when_idle()),
        replays: part.recalls_passed(),
        late_timer: part.has_late_timer(),
        preempts: part.can_preempt(),
        ..Traits::PLAIN
    }
}

fn of_policy(part: &dyn BufferPolicy) -> Traits {
    Traits {
        hears_idle: part.notes_idle(),
        bypass: part.passes_when_empty(),
        judges_departures: part.judges_departures(),
        draws_packets: part.draws_packets(),
        // `Any` forwarded no `is_told`.
        hears_joins: part.traits().hears_joins,
        ..Traits::PLAIN
    }
}

fn of_marker(part: &dyn Marker) -> Traits {
    Traits {
        hears_idle: part.notes_idle(),
        bypass: any_length(part.is_silent()),
        judges_departures: part.judges_departures(),
        marks: !part.is_silent(),
        ..Traits::PLAIN
    }
}

/// What a driver asks of a discipline.
fn of_discipline(discipline: &dyn Discipline) -> Traits {
    Traits {
        hears_idle: discipline.notes_idle(),
        bypass: discipline.passes_when_idle(),
        replays: discipline.recalls_passed(),
        fifo: discipline.plain_fifo(),
        late_timer: discipline.has_late_timer(),
        preempts: discipline.can_preempt(),
        ..Traits::PLAIN
    }
}

/// The traits that a driver reads.
fn driven(traits: Traits) -> Traits {
    let Traits { hears_idle, bypass, replays, fifo, late_timer, preempts, .. } = traits;
    Traits { hears_idle, bypass, replays, fifo, late_timer, preempts, ..Traits::PLAIN }
}

#[test]
fn traits_of_parts_are_what_the_questions_say() {
    let line = Line::new(Rate::new(10_000_000).expect("not zero"));
    for settings in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)) {
        let part = settings.boxed(&line);
        assert_eq!(part.traits(), of_scheduler(&*part), "{settings:?}");
    }
    for settings in BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name)) {
        let part = settings.boxed(&line);
        assert_eq!(part.traits(), of_policy(&*part), "{settings:?}");
    }
    for settings in MARKERS.iter().flat_map(|card| MarkerSettings::variants(card.name)) {
        let part = settings.boxed(&line);
        assert_eq!(part.traits(), of_marker(&*part), "{settings:?}");
    }
}

#[test]
fn traits_of_disciplines_and_wrappers_are_what_the_questions_say() {
    let line = Line::new(Rate::new(10_000_000).expect("not zero"));
    let mut queues = Vec::new();
    for limit in [Limit::Packets(0), Limit::Packets(9), Limit::Bytes(4000), Limit::Unlimited] {
        for scheduler in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)) {
            let plain = Queue::new(scheduler, Some(limit));
            for buffer in BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name)) {
                queues.push(Queue { buffer: Some(buffer), ..plain.clone() });
            }
            for marker in MARKERS.iter().flat_map(|card| MarkerSettings::variants(card.name)) {
                queues.push(Queue { marker: Some(marker), ..plain.clone() });
            }
            for policer in POLICERS.iter().flat_map(|card| PolicerSettings::variants(card.name)) {
                queues.push(Queue { policer: Some(policer), ..plain.clone() });
            }
            queues.push(plain);
        }
        for design in DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name)) {
            queues.push(Queue::of_design(design, Some(limit)));
        }
    }
    let mut compared = 0;
    for queue in queues.iter().filter(|queue| queue.fault().is_none()) {
        let build = || queue.build(&line);
        let discipline = build();
        assert_eq!(driven(discipline.traits()), of_discipline(&*discipline), "{queue:?}");
        // The ledger forwarded no `plain_fifo`.
        let (fifo, ledger) = (discipline.plain_fifo(), Ledger::new(build()));
        assert_eq!(driven(ledger.traits()), Traits { fifo, ..of_discipline(&ledger) }, "{queue:?}");
        // The checking wrapper forwarded no `can_preempt`.
        let (preempts, checked) = (discipline.can_preempt(), Checked::new(Rules::of(queue), build));
        assert_eq!(driven(checked.traits()), Traits { preempts, ..of_discipline(&checked) }, "{queue:?}");
        compared += 1;
    }
    assert!(compared > 1000, "{compared} queues");
}
