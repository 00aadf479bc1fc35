//! A composition of four parts: what each is asked when packets come, go and are interrupted.

use super::spies::{BySource, Notes, SpyMarker, SpyPolicy, SpyScheduler, header};
use fairq_sched::change::Change;
use fairq_sched::compose::Composition;
use fairq_sched::contract::{Dequeue, Discipline, End, Handle, Line, Verdict, Victim};
use fairq_sched::packet::{Fate, Fates, Marks, Outcome, Packet, Reason};
use fairq_sched::traits::Traits;
use fairq_sched::units::{Limit, Rate, Time};
use fairq_sched::waiting::{ARRIVAL, Decision, Stamps};

type Spied = Composition<BySource, SpyScheduler, SpyPolicy, SpyMarker>;

const NOW: Time = Time::from_ms(2);

/// A composition of spies that let every packet pass; `set` makes some of them answer otherwise.
fn spied(notes: &Notes, set: impl FnOnce(&mut SpyScheduler, &mut SpyPolicy, &mut SpyMarker)) -> Spied {
    let line = Line { explains: true, classes: vec![(header(1), "gold".to_owned())], ..Line::new(Rate::MAX) };
    let mut policy = SpyPolicy { departs: Verdict::Pass, ..SpyPolicy::new(notes) };
    let (mut scheduler, mut marker) = (SpyScheduler::new(notes), SpyMarker::new(notes));
    set(&mut scheduler, &mut policy, &mut marker);
    Composition::new(BySource, scheduler, policy, marker, Limit::Unlimited, &line)
}

fn offer(queue: &mut Spied, token: u64, flow: u32) -> (Option<Handle>, Vec<Outcome>) {
    let mut fates = Fates::new();
    let packet = Packet { accepts: Marks::DEC, ..Packet::new(token, NOW, 100) };
    let handle = queue.enqueue(NOW, packet, &header(flow), &mut fates);
    (handle, outcomes(&fates))
}

fn outcomes(fates: &[Fate]) -> Vec<Outcome> {
    fates.iter().map(|fate| fate.outcome).collect()
}

fn take(queue: &mut Spied) -> (Option<u64>, Vec<Outcome>) {
    let mut fates = Fates::new();
    let token = match queue.dequeue(NOW, &mut fates) {
        Dequeue::Send(packet) => Some(packet.token),
        Dequeue::Empty => None,
        Dequeue::NotBefore(time) => panic!("{time:?}"),
    };
    (token, outcomes(&fates))
}

/// What `method` was told last.
fn told(notes: &Notes, method: &str) -> String {
    let noted = notes.take();
    noted.into_iter().rev().find(|(noted, _)| *noted == method).unwrap_or_else(|| panic!("{method} is not asked")).1
}

#[test]
fn a_packet_that_comes_and_goes_is_told_to_all_parts() {
    let notes = Notes::default();
    let mut queue = spied(&notes, |_, _, _| ());
    assert_eq!(notes.methods(), "scheduler.classes scheduler.classes");
    assert!(matches!(offer(&mut queue, 0, 1), (Some(_), fates) if fates.is_empty()));
    assert_eq!(
        notes.methods(),
        "scheduler.bucket scheduler.queue_of marker.before_change marker.arrive buffer.admit \
         scheduler.arrive scheduler.backlogged buffer.joined buffer.victim"
    );
    // The queue is the one that the scheduler names, and not the flow's.
    queue.waiting(&mut |waiting| assert_eq!((waiting.queue, waiting.stamps), (5, Stamps::rank(1000.0))));
    assert_eq!(notes.methods(), "scheduler.stamps");
    assert_eq!(take(&mut queue), (Some(0), vec![Outcome::Marked(Marks::DEC)]));
    assert_eq!(
        notes.methods(),
        "marker.before_change scheduler.next buffer.depart marker.depart scheduler.decision \
         scheduler.sent buffer.left"
    );
    assert_eq!(queue.decision(), Some(Decision::by("spy", 5).in_step(3)));
    assert_eq!(take(&mut queue), (None, vec![]));
    assert_eq!(notes.methods(), "marker.before_change scheduler.next scheduler.idle buffer.idle");
}

#[test]
fn in_order_of_arrival_the_step_is_the_buffer_policys_if_it_has_steps() {
    for (policys, step) in [(Some(9), 9), (None, 3)] {
        let notes = Notes::default();
        let mut queue = spied(&notes, |scheduler, policy, _| (scheduler.by, policy.step) = (ARRIVAL, policys));
        offer(&mut queue, 0, 1);
        take(&mut queue);
        assert!(notes.methods().contains("marker.depart scheduler.decision buffer.step scheduler.sent"));
        assert_eq!(queue.decision(), Some(Decision::by(ARRIVAL, 5).in_step(step)));
    }
}

#[test]
fn the_scheduler_names_bucket_and_class() {
    let notes = Notes::default();
    let flow_of = |queue: &mut Spied, flow| {
        offer(queue, 0, flow);
        told(&notes, "scheduler.queue_of")
    };
    let mut queue = spied(&notes, |_, _, _| ());
    let [in_class, in_none] = [1, 2].map(|flow| flow_of(&mut queue, flow));
    assert!(in_class.contains("class: 2") && in_none.contains("class: 0"), "{in_class} {in_none}");
    assert_eq!(queue.change(NOW, &Change::Class(header(2), "gold")), Ok(()));
    assert_eq!(notes.methods(), "scheduler.classes");
    assert!(flow_of(&mut queue, 2).contains("class: 2"));
    let mut queue = spied(&notes, |scheduler, _, _| scheduler.bucket = Some(6));
    assert!(flow_of(&mut queue, 1).contains("slot: 6"));
}

#[test]
fn a_packet_that_is_refused_is_told_to_the_scheduler() {
    let notes = Notes::default();
    let mut queue = spied(&notes, |_, policy, _| policy.admits = Verdict::Drop(Reason::Early));
    notes.take();
    assert_eq!(offer(&mut queue, 0, 1), (None, vec![Outcome::Dropped(Reason::Early)]));
    assert_eq!(
        notes.methods(),
        "scheduler.bucket scheduler.queue_of marker.before_change marker.arrive buffer.admit \
         scheduler.refused buffer.victim"
    );
}

#[test]
fn the_buffer_policy_names_packets_until_it_is_content() {
    let notes = Notes::default();
    let victim = (Victim::End(5, End::Tail), Reason::Early);
    // None at the first arrival, both packets at the second.
    let mut queue = spied(&notes, |_, policy, _| policy.victims = vec![Some(victim), Some(victim), None]);
    assert!(offer(&mut queue, 0, 1).0.is_some());
    notes.take();
    assert_eq!(offer(&mut queue, 1, 1), (None, vec![Outcome::Dropped(Reason::Early); 2]));
    assert_eq!(
        notes.methods(),
        "scheduler.bucket scheduler.queue_of marker.before_change marker.arrive buffer.admit \
         scheduler.arrive buffer.joined buffer.victim scheduler.removed buffer.left buffer.victim \
         scheduler.removed buffer.left buffer.victim"
    );
    assert_eq!(queue.held().packets, 0);
}

#[test]
fn the_buffer_policy_drops_a_head_and_its_owner_removes_a_packet() {
    let notes = Notes::default();
    let mut queue = spied(&notes, |_, policy, _| policy.departs = Verdict::Drop(Reason::Early));
    let handles = [0, 1].map(|token| offer(&mut queue, token, 1).0.expect("it is held"));
    notes.take();
    assert_eq!(queue.remove(NOW, handles[1]).map(|packet| packet.token), Some(1));
    assert_eq!(notes.methods(), "marker.before_change scheduler.removed buffer.left");
    assert_eq!(take(&mut queue), (None, vec![Outcome::Dropped(Reason::Early)]));
    assert_eq!(
        notes.methods(),
        "marker.before_change scheduler.next buffer.depart scheduler.removed buffer.left \
         scheduler.next scheduler.idle buffer.idle"
    );
}

#[test]
fn an_interrupted_packet_is_told_to_all_parts() {
    let notes = Notes::default();
    let mut queue = spied(&notes, |_, _, _| ());
    assert!(!queue.preempts(), "no packet is being sent");
    offer(&mut queue, 0, 1);
    take(&mut queue);
    notes.take();
    assert!(queue.preempts());
    assert_eq!(notes.take(), [("scheduler.preempts", "1000".to_owned())]);
    queue.put_back(NOW, 8);
    assert_eq!(notes.methods(), "marker.before_change scheduler.continued buffer.joined");
    assert_eq!(queue.held().packets, 1);
}

#[test]
fn the_policy_says_when_it_is_updated_and_the_scheduler_when_a_packet_may_pass() {
    let notes = Notes::default();
    let mut queue = spied(&notes, |_, _, _| ());
    notes.take();
    assert_eq!(queue.next_update(), Some(Time::from_ms(70)));
    queue.update(NOW);
    assert!(!queue.may_pass(NOW));
    assert_eq!(notes.methods(), "buffer.next_update buffer.update scheduler.is_settled_at");
    let mut shown = Vec::new();
    queue.readings(NOW, &mut |reading| shown.push(reading.name.to_owned()));
    assert_eq!(shown[shown.len() - 3..], ["scheduler", "buffer", "marker"]);
    assert_eq!(queue.change(NOW, &Change::Rate(Rate::MAX)), Ok(()));
    assert_eq!(
        notes.methods(),
        "scheduler.readings buffer.readings marker.readings buffer.change scheduler.change marker.change"
    );
}

#[test]
fn a_slot_is_taken_over_if_all_parts_say_that_it_is_clear() {
    // Flows are too few before to look for a slot.
    const FLOWS: u32 = 64;
    // What is asked of one slot, by what marker and buffer policy answer.
    let asked = [
        ((false, true), "marker.is_clear"),
        ((true, false), "marker.is_clear buffer.is_clear"),
        ((true, true), "marker.is_clear buffer.is_clear scheduler.is_clear"),
    ];
    for ((is_marker_clear, is_policy_clear), calls) in asked {
        let notes = Notes::default();
        let mut queue = spied(&notes, |_, policy, marker| {
            (marker.is_clear, policy.is_clear) = (is_marker_clear, is_policy_clear);
        });
        for flow in 0..FLOWS {
            offer(&mut queue, 0, flow);
            take(&mut queue);
        }
        take(&mut queue);
        notes.take();
        offer(&mut queue, 0, FLOWS);
        let methods = notes.methods();
        assert!(methods.starts_with(&format!("scheduler.bucket {calls} ")), "{methods}");
        assert_eq!(methods.contains("scheduler.is_clear"), is_marker_clear && is_policy_clear, "{methods}");
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "the classes are the queues")]
fn a_scheduler_of_classes_has_no_queue_per_flow() {
    spied(&Notes::default(), |scheduler, _, _| scheduler.traits = Traits { queue_per_flow: true, ..Traits::PLAIN });
}
