//! Wrappers of a whole discipline.

use super::questions::{Told, ask_discipline};
use super::spies::{Notes, SpyDiscipline, SpyPolicer};
use fairq_sched::checked::{Checked, Rules};
use fairq_sched::contract::Discipline;
use fairq_sched::policed::Policed;
use fairq_sched::units::Limit;
use std::cell::RefCell;

/// What a spy without a wrapper answers and notes.
fn bare() -> Vec<Told> {
    let mut spy = SpyDiscipline::default();
    let notes = spy.notes.clone();
    ask_discipline(&mut spy, &notes)
}

/// The same without `may_pass`, for a wrapper that never lets a packet bypass its discipline.
fn without_bypass(told: Vec<Told>, wrapper: &dyn Discipline) -> Vec<Told> {
    let traits = wrapper.traits();
    assert!(traits.bypass == 0 && !traits.replays, "{traits:?}: a driver would ask whether a packet may pass");
    told.into_iter().filter(|(question, ..)| *question != "may_pass").collect()
}

#[test]
fn the_spy_notes_every_call() {
    for (question, _, noted) in bare() {
        let expected: &[&str] = if question == "held" { &[] } else { &[question] };
        assert!(noted.iter().map(|(method, _)| method).eq(expected), "{question}: {noted:?}");
    }
}

#[test]
fn a_box_forwards_everything() {
    let notes = Notes::default();
    let mut boxed: Box<dyn Discipline> = Box::new(SpyDiscipline::new(&notes));
    assert_eq!(Discipline::traits(&boxed), SpyDiscipline::default().traits());
    assert_eq!(ask_discipline(&mut boxed, &notes), bare());
}

#[test]
fn a_policed_discipline_is_asked_everything_but_whether_a_packet_may_pass() {
    let [notes, policers] = [(); 2].map(|()| Notes::default());
    let mut policed = Policed::new(SpyPolicer(policers.clone()), Box::new(SpyDiscipline::new(&notes)));
    let told = ask_discipline(&mut policed, &notes);
    assert_eq!(without_bypass(told, &policed), without_bypass(bare(), &policed));
    assert_eq!(policers.methods(), "conforms conforms conforms readings");
}

#[test]
fn a_checked_discipline_and_its_twin_are_asked_everything_but_whether_a_packet_may_pass() {
    let [notes, twins] = [(); 2].map(|()| Notes::default());
    let rules = Rules {
        limit: Limit::Unlimited,
        memory: Limit::Unlimited,
        has_limits_inside: false,
        is_work_conserving: true,
        keeps_flow_order: true,
    };
    let spies = RefCell::new(vec![SpyDiscipline::new(&twins), SpyDiscipline::new(&notes)]);
    let mut checked = Checked::new(rules, || Box::new(spies.borrow_mut().pop().unwrap()));
    let told = without_bypass(ask_discipline(&mut checked, &notes), &checked);
    let twins = twins.take();
    for ((question, answer, noted), (_, expected, calls)) in told.into_iter().zip(without_bypass(bare(), &checked)) {
        assert_eq!(answer, expected, "{question}");
        // Beside calls that only ask: those are checks.
        assert!(calls.iter().all(|call| noted.contains(call)), "{question}: {noted:?}");
        let is_for_both = !matches!(question, "held" | "next_update" | "waiting" | "decision" | "readings");
        assert!(!is_for_both || calls.iter().all(|call| twins.contains(call)), "{question}: {twins:?}");
    }
}
