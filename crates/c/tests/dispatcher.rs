//! The dispatcher as C calls it: answers, refusals, and what may be NULL.
#![expect(unsafe_code, reason = "the functions are called as C calls them")]

use fairq::codes::*;
use fairq::dispatcher::*;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};

/// The dispatcher, or why there is none.
fn build(policy: &str, seats: FairqSeats) -> Result<*mut FairqDispatcher, (c_int, String)> {
    let (text, mut server) = (CString::new(policy).expect("no zero inside"), null_mut());
    let mut message: [c_char; 120] = [1; 120];
    // SAFETY: the text ends with a zero, the others are places of ours.
    let code = unsafe { fairq_dispatcher_new(text.as_ptr(), &seats, &mut server, message.as_mut_ptr(), message.len()) };
    if code == FAIRQ_OK {
        return Ok(server);
    }
    assert!(server.is_null());
    // SAFETY: fairq_dispatcher_new wrote a zero.
    Err((code, unsafe { CStr::from_ptr(message.as_ptr()) }.to_str().expect("UTF-8").to_owned()))
}

const ONE: FairqSeats = FairqSeats { seats: 1, items_max: 0, items_per_tenant_max: 0, tenants_max: 0, guess: 0 };

#[test]
fn an_item_starts_ends_and_is_charged() {
    let server = build("sfq_d", ONE).expect("a policy");
    let (mut first, mut second) = (FairqTicket::default(), FairqTicket::default());
    let (mut started, mut item) = (FairqStarted::default(), 0);
    let ask = FairqAsk { cost: 3, size: 0, seats: 0 };
    // SAFETY: the dispatcher is ours until it is freed, and so are all places.
    unsafe {
        assert_eq!(fairq_dispatcher_push(server, 5, 7, 70, null(), &mut first), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_push(server, 6, 7, 71, &ask, &mut second), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_push(server, 6, 8, 80, &ask, null_mut()), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_start(server, 9, &mut started), FAIRQ_OK);
        assert_eq!((started.tenant, started.item, started.waited, started.seats), (7, 70, 4, 1));
        assert_eq!((fairq_dispatcher_waiting(server), fairq_dispatcher_seats_taken(server)), (2, 1));
        assert_eq!(fairq_dispatcher_start(server, 9, &mut started), FAIRQ_NONE);
        assert_eq!(fairq_dispatcher_complete(server, second, 1), FAIRQ_NONE, "it waits");
        assert_eq!(fairq_dispatcher_progress(server, first, 90), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_complete(server, first, 100), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_progress(server, first, 90), FAIRQ_NONE, "it is over");
        assert_eq!(fairq_dispatcher_complete(server, first, 100), FAIRQ_NONE, "it is over");
        assert_eq!(fairq_dispatcher_start(server, 9, &mut started), FAIRQ_OK);
        assert_eq!(started.item, 80, "tenant 7 owes");
        assert_eq!(fairq_dispatcher_cancel(server, started.ticket, 1), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_remove(server, second, &mut item), FAIRQ_OK);
        assert_eq!((item, fairq_dispatcher_waiting(server)), (71, 0));
        assert_eq!(fairq_dispatcher_remove(server, second, &mut item), FAIRQ_NONE);
        fairq_dispatcher_free(server);
    }
}

#[test]
fn what_waits_is_handed_back_at_the_end() {
    let server = build("fcfs", ONE).expect("a policy");
    let mut started = FairqStarted::default();
    let mut items = [0; 2];
    // SAFETY: the dispatcher is ours until it is freed, and there is room for two items.
    unsafe {
        for item in 1..=3 {
            assert_eq!(fairq_dispatcher_push(server, 0, item, 10 * item, null(), null_mut()), FAIRQ_OK);
        }
        assert_eq!(fairq_dispatcher_start(server, 0, &mut started), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_close(server), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_drain(server, items.as_mut_ptr()), 2);
        assert_eq!((items, fairq_dispatcher_waiting(server), fairq_dispatcher_running(server)), ([20, 30], 0, 1));
        assert_eq!(fairq_dispatcher_drain(server, null_mut()), 0);
        fairq_dispatcher_free(server);
    }
}

#[test]
fn what_is_refused_says_why_and_changes_nothing() {
    let limits = FairqSeats { items_max: 3, items_per_tenant_max: 2, tenants_max: 2, ..ONE };
    let server = build("round_robin", limits).expect("a policy");
    let push = |tenant, seats| {
        let ask = FairqAsk { cost: FAIRQ_COST_UNKNOWN, size: 0, seats };
        // SAFETY: the dispatcher is ours until it is freed.
        unsafe { fairq_dispatcher_push(server, 0, tenant, 0, &ask, null_mut()) }
    };
    assert_eq!(push(1, 2), FAIRQ_REFUSED_TOO_WIDE);
    assert_eq!((push(1, 1), push(1, 1), push(1, 1)), (FAIRQ_OK, FAIRQ_OK, FAIRQ_REFUSED_TENANT_FULL));
    assert_eq!((push(2, 1), push(2, 1)), (FAIRQ_OK, FAIRQ_REFUSED_FULL));
    let mut started = FairqStarted::default();
    // SAFETY: as above.
    unsafe {
        assert_eq!(fairq_dispatcher_start(server, 0, &mut started), FAIRQ_OK);
        assert_eq!(push(3, 1), FAIRQ_REFUSED_TOO_MANY_TENANTS);
        assert_eq!(fairq_dispatcher_give_up(server, started.ticket), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_set_weight(server, 1, 0), FAIRQ_ERROR_WEIGHT);
        assert_eq!(fairq_dispatcher_set_weight(server, 1, 2000), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_close(server), FAIRQ_OK);
        assert_eq!(push(1, 1), FAIRQ_REFUSED_CLOSED);
        assert_eq!(fairq_dispatcher_waiting(server), 2);
        fairq_dispatcher_free(server);
    }
}

#[test]
fn a_policy_that_is_none_is_named() {
    let (code, message) = build("sfq_b", ONE).expect_err("it is none");
    assert_eq!(code, FAIRQ_ERROR_TEXT);
    assert!(message.contains("sfq_b") && message.contains("sfq_d"), "{message}");
}

#[test]
fn null_is_refused() {
    let mut server = null_mut();
    let mut started = FairqStarted::default();
    // SAFETY: what is not NULL is ours.
    unsafe {
        assert_eq!(fairq_dispatcher_new(c"fcfs".as_ptr(), null(), &mut server, null_mut(), 0), FAIRQ_ERROR_NULL);
        assert_eq!(fairq_dispatcher_new(null(), &ONE, &mut server, null_mut(), 0), FAIRQ_ERROR_NULL);
        assert_eq!(fairq_dispatcher_new(c"fcfs".as_ptr(), &ONE, null_mut(), null_mut(), 0), FAIRQ_ERROR_NULL);
        assert_eq!(fairq_dispatcher_start(null_mut(), 0, &mut started), FAIRQ_ERROR_NULL);
        assert_eq!(fairq_dispatcher_push(null_mut(), 0, 1, 1, null(), null_mut()), FAIRQ_ERROR_NULL);
        assert_eq!((fairq_dispatcher_waiting(null()), fairq_dispatcher_seats_taken(null())), (0, 0));
        assert_eq!(
            (fairq_dispatcher_running(null()), fairq_dispatcher_drain(null_mut(), null_mut())),
            (0, FAIRQ_ERROR_NULL)
        );
        fairq_dispatcher_free(null_mut());
        assert_eq!(fairq_dispatcher_new(c"fcfs".as_ptr(), &ONE, &mut server, null_mut(), 0), FAIRQ_OK);
        assert_eq!(fairq_dispatcher_start(server, 0, null_mut()), FAIRQ_ERROR_NULL);
        fairq_dispatcher_free(server);
    }
}
