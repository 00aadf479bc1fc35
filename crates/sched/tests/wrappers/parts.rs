//! The enums of parts that are chosen at run time.

use super::questions::{Told, ask_marker, ask_policy, ask_scheduler};
use super::spies::{Notes, SpyMarker, SpyPolicy, SpyScheduler};

enum AnyScheduler {
    One(SpyScheduler),
    Other(SpyScheduler),
}
crate::any::forward!(Scheduler for AnyScheduler [One Other]);

enum AnyPolicy {
    One(SpyPolicy),
    Other(SpyPolicy),
}
crate::any::forward!(BufferPolicy for AnyPolicy [One Other]);

enum AnyMarker {
    One(SpyMarker),
    Other(SpyMarker),
}
crate::any::forward!(Marker for AnyMarker [One Other]);

/// That every question came to one call, of the method of its name in `part`.
fn is_noted(told: &[Told], part: &str) {
    for (question, _, noted) in told.iter().filter(|(question, ..)| *question != "traits") {
        assert!(
            matches!(&noted[..], [(method, _)] if *method == format!("{part}.{question}")),
            "{question}: {noted:?}"
        );
    }
}

#[test]
fn any_scheduler_is_asked_as_the_one_that_it_is() {
    let notes = Notes::default();
    let spy = || SpyScheduler { bucket: Some(6), ..SpyScheduler::new(&notes) };
    let bare = ask_scheduler(&mut spy(), &notes);
    is_noted(&bare, "scheduler");
    for mut any in [AnyScheduler::One(spy()), AnyScheduler::Other(spy())] {
        assert_eq!(ask_scheduler(&mut any, &notes), bare);
    }
}

#[test]
fn any_buffer_policy_is_asked_as_the_one_that_it_is() {
    let notes = Notes::default();
    let spy = || SpyPolicy::new(&notes);
    let bare = ask_policy(&mut spy(), &notes);
    is_noted(&bare, "buffer");
    for mut any in [AnyPolicy::One(spy()), AnyPolicy::Other(spy())] {
        assert_eq!(ask_policy(&mut any, &notes), bare);
    }
}

#[test]
fn any_marker_is_asked_as_the_one_that_it_is() {
    let notes = Notes::default();
    let spy = || SpyMarker::new(&notes);
    let bare = ask_marker(&mut spy(), &notes);
    is_noted(&bare, "marker");
    for mut any in [AnyMarker::One(spy()), AnyMarker::Other(spy())] {
        assert_eq!(ask_marker(&mut any, &notes), bare);
    }
}
