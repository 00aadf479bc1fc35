//! A buffer policy of two: one that acts early and one for the full buffer.

use super::questions::{Told, ask_policy};
use super::spies::{Notes, SpyPolicy};
use fairq_sched::buffer::with_overflow::WithOverflow;
use fairq_sched::contract::{BufferPolicy, End, Verdict, Victim};
use fairq_sched::packet::Reason;
use fairq_sched::store::Store;
use fairq_sched::units::{Limit, Time};

fn calls(told: &[Told]) -> Vec<&Vec<(&'static str, String)>> {
    told.iter().map(|(.., noted)| noted).collect()
}

#[test]
fn both_are_asked_everything() {
    let [early, full, both] = [(); 3].map(|()| Notes::default());
    let spy = |notes| SpyPolicy { is_clear: true, step: None, ..SpyPolicy::new(notes) };
    let bare = ask_policy(&mut spy(&both), &both);
    // The same questions to the pair twice, to read the notes of one and of the other.
    for read in [&early, &full] {
        let mut pair = WithOverflow { early: spy(&early), full: Some(spy(&full)) };
        assert_eq!(calls(&ask_policy(&mut pair, read)), calls(&bare));
    }
    let mut alone = WithOverflow { early: spy(&both), full: None::<SpyPolicy> };
    assert_eq!(ask_policy(&mut alone, &both), bare);
}

#[test]
fn an_answer_of_either_counts() {
    let notes = Notes::default();
    let plain = SpyPolicy { departs: Verdict::Pass, next_update: None, is_clear: true, ..SpyPolicy::new(&notes) };
    let victim = (Victim::End(3, End::Front), Reason::Early);
    let (late, soon) = (Some(Time::from_ms(9)), Some(Time::from_ms(8)));
    let said = SpyPolicy {
        victims: vec![Some(victim)],
        departs: Verdict::Drop(Reason::Early),
        next_update: soon,
        is_clear: false,
        ..plain.clone()
    };
    let slower = SpyPolicy { next_update: late, ..plain.clone() };
    for [early, full] in [[&plain, &said], [&said, &plain], [&slower, &said], [&said, &slower]] {
        let mut pair = WithOverflow { early: early.clone(), full: Some(full.clone()) };
        let (now, store) = (Time::ZERO, Store::new(Limit::Unlimited));
        assert_eq!(pair.victim(now, &store, 1), Some(victim));
        assert_eq!(pair.depart(now, &store, 1), Verdict::Drop(Reason::Early));
        assert_eq!(pair.next_update(), soon);
        assert!(!pair.is_clear(now, 1));
    }
    let mut pair = WithOverflow { early: plain.clone(), full: Some(plain) };
    assert!(pair.is_clear(Time::ZERO, 1) && pair.next_update().is_none());
}
