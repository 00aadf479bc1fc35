use super::*;

fn ask(guess: u64) -> Ask {
    Ask { guess: Some(guess), ..Ask::default() }
}

/// Weights 1 and 2, one seat, guesses of 4 throughout. A's items cost 4, the first of B's costs 16.
///
/// | starts | S | F as guessed | true cost | F |
/// |---|---|---|---|---|
/// | A1 | 0 | 4 | 4 | 4 |
/// | B1 | 0 | 2 | 16 | 8 |
/// | A2 | 4 | 8 | 4 | 8 |
/// | B2 | 8 | 10 | 4 | 10 |
/// | A3 | 8 | 12 | 4 | 12 |
/// | B3 | 10 | 12 | 4 | 12 |
#[test]
fn a_worked_example() {
    let mut dispatcher = Dispatcher::new(Settings::default());
    dispatcher.set_weight(&'B', 2).unwrap();
    for number in 1..=3 {
        for tenant in ['A', 'B'] {
            dispatcher.push(&tenant, ask(4), (tenant, number)).unwrap();
        }
    }
    let mut order = Vec::new();
    while let Some(started) = dispatcher.start() {
        order.push(started.item);
        assert!(dispatcher.complete(started.ticket, if started.item == ('B', 1) { 16 } else { 4 }));
    }
    assert_eq!(order, [('A', 1), ('B', 1), ('A', 2), ('B', 2), ('A', 3), ('B', 3)]);
}

#[test]
fn a_wide_item_is_passed_by_no_more_than_the_lead() {
    for (lead, expected) in [(0, 0), (10, 1), (30, 3)] {
        let mut dispatcher = Dispatcher::new(Settings { seats: 4, lead, ..Settings::default() });
        let running = |dispatcher: &mut Dispatcher<_, _>, tenant| {
            dispatcher.push(&tenant, ask(10), ()).unwrap();
            dispatcher.start().unwrap().ticket
        };
        let blocker = running(&mut dispatcher, 0);
        let wide = dispatcher.push(&1, Ask { seats: 4, guess: Some(10) }, ()).unwrap();
        for tenant in [2, 2, 2, 2, 2, 2, 3, 3, 3, 3] {
            dispatcher.push(&tenant, ask(10), ()).unwrap();
        }
        let mut passed = 0;
        while let Some(started) = dispatcher.start() {
            passed += 1;
            dispatcher.complete(started.ticket, 10);
        }
        assert_eq!(passed, expected, "lead {lead}");
        dispatcher.complete(blocker, 10);
        assert_eq!(dispatcher.start().unwrap().ticket, wide);
        assert_eq!((dispatcher.seats_taken(), dispatcher.start()), (4, None));
    }
}

#[test]
fn a_refusal_hands_the_item_back_and_says_why() {
    let limits = Settings { items_max: 3, items_per_tenant_max: 2, tenants_max: 2, seats: 2, ..Settings::default() };
    let mut dispatcher = Dispatcher::new(limits);
    let mut push = |tenant, seats, item| {
        let refused = dispatcher.push(&tenant, Ask { seats, guess: None }, item).err();
        refused.map(|refused| (refused.item, refused.why))
    };
    assert_eq!(push('a', 3, "wide"), Some(("wide", Refusal::TooWide)));
    assert_eq!((push('a', 1, ""), push('a', 1, "")), (None, None));
    assert_eq!(push('a', 1, "third"), Some(("third", Refusal::TenantFull)));
    assert_eq!(push('b', 1, ""), None);
    assert_eq!(push('b', 1, "fourth"), Some(("fourth", Refusal::Full)));
    dispatcher.start().unwrap();
    let refused = dispatcher.push(&'c', Ask::default(), "other").unwrap_err();
    assert_eq!(refused, Refused { item: "other", why: Refusal::TooManyTenants });
    let error: &dyn core::error::Error = &refused;
    assert_eq!(alloc::string::ToString::to_string(error), "too many tenants have items here");
    let shown = alloc::format!("{dispatcher:?}");
    assert_eq!(shown, "Dispatcher { tenants: 2, waiting: 2, running: 1, seats_taken: 1, .. }");
}

/// One seat, guesses and costs of 1, but 5 for that of tenant d. At its end W is 2, for a waits:
/// V + 5/2 is more than the least S + guess that waits, 1. From then on V is the start tag of a's
/// items, and at 5 tenant d owes nothing.
#[test]
fn a_tenant_is_forgotten_when_it_owes_nothing_and_no_sooner() {
    let mut dispatcher = Dispatcher::new(Settings::default());
    dispatcher.push(&'d', ask(1), ()).unwrap();
    let debt = dispatcher.start().unwrap().ticket;
    for _ in 0..8 {
        dispatcher.push(&'a', ask(1), ()).unwrap();
    }
    dispatcher.complete(debt, 5);
    for (start, time) in [1, 1, 2, 3, 4, 5, 6, 7].into_iter().enumerate() {
        let ticket = dispatcher.start().unwrap().ticket;
        assert_eq!(dispatcher.policy.virtual_time(), time << 32, "S = {start}");
        dispatcher.complete(ticket, 1);
        assert_eq!(dispatcher.tenants(), if time < 5 { 2 } else { 1 }, "S = {start}");
    }
    assert_eq!((dispatcher.waiting(), dispatcher.running(), dispatcher.seats_taken()), (0, 0, 0));
    assert!(dispatcher.start().is_none());
    assert_eq!((dispatcher.tenants(), dispatcher.policy.virtual_time()), (0, 0), "all owe nothing when all are idle");
}

#[test]
fn while_nothing_waits_a_tenant_owes_nothing_when_it_is_done() {
    let mut dispatcher = Dispatcher::new(Settings { seats: 3, ..Settings::default() });
    let mut run = |tenant| {
        dispatcher.push(&tenant, ask(1), ()).unwrap();
        dispatcher.start().unwrap().ticket
    };
    let [_stream, first, second] = ['s', 'a', 'b'].map(&mut run);
    // V is 0, the weight of each that was served 1.
    dispatcher.complete(first, 7);
    assert_eq!(dispatcher.policy.virtual_time(), 7 << 32);
    dispatcher.complete(second, 2);
    assert_eq!(dispatcher.policy.virtual_time(), 9 << 32);
    assert!(dispatcher.start().is_none());
    assert_eq!(dispatcher.tenants(), 1);
}

#[test]
fn an_item_of_an_unknown_tenant_is_thought_to_cost_what_those_of_others_do() {
    let mut dispatcher = Dispatcher::new(Settings { guess: 3, seats: 2, ..Settings::default() });
    let mut run = |tenant, guess, cost| {
        dispatcher.push(&tenant, Ask { guess, ..Ask::default() }, ()).unwrap();
        let started = dispatcher.start().unwrap();
        let slot = dispatcher.slots[&tenant];
        let finish = dispatcher.policy.debt(slot);
        let charged = finish - dispatcher.policy.virtual_time();
        dispatcher.complete(started.ticket, cost);
        charged >> 32
    };
    assert_eq!(run('a', None, 800), 3);
    assert_eq!(run('b', None, 80), 800);
    // An eighth of the way from 800 to 80.
    assert_eq!(run('c', None, 1), 710);
    assert_eq!(run('c', Some(9), 1), 9);
    // Both were forgotten, and what their items cost is remembered.
    assert_eq!((run('a', None, 1), run('b', None, 1)), (800, 80));
}

#[test]
fn a_number_that_is_no_weight_changes_nothing() {
    let mut dispatcher = Dispatcher::<char, ()>::new(Settings::default());
    dispatcher.set_weight(&'a', 2.5).unwrap();
    assert!(dispatcher.set_weight(&'a', 0).is_err() && dispatcher.set_weight(&'b', -1.0).is_err());
    assert_eq!(dispatcher.weights, BTreeMap::from([('a', Weight::from_thousandths(2500).unwrap())]));
    dispatcher.set_weight(&'a', 1).unwrap();
    assert!(dispatcher.weights.is_empty(), "a weight of 1 takes no room");
}

#[test]
fn a_limit_of_zero_is_one() {
    let none = Settings { seats: 0, items_max: 0, items_per_tenant_max: 0, tenants_max: 0, ..Settings::default() };
    let mut dispatcher = Dispatcher::new(none);
    for tenant in 0..5 {
        dispatcher.push(&tenant, Ask::default(), ()).unwrap();
        assert_eq!(dispatcher.push(&tenant, Ask::default(), ()).unwrap_err().why, Refusal::TenantFull);
        let ticket = dispatcher.start().unwrap().ticket;
        assert_eq!(dispatcher.push(&9, Ask::default(), ()).unwrap_err().why, Refusal::TooManyTenants);
        dispatcher.complete(ticket, 1);
    }
}
