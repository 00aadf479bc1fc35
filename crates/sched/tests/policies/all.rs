//! What holds for every policy of the list.

use super::unlimited;
use fairq_sched::work::policies::sfq_d;
use fairq_sched::work::registry::{POLICIES, PolicySettings};
use fairq_sched::work::{Ask, Dispatcher, Refusal, Ticket};
use fairq_testkit::draw::{Draw, Replay};

/// Every policy with its default settings and with those that take another path.
fn all() -> impl Iterator<Item = PolicySettings> {
    POLICIES.iter().flat_map(|card| PolicySettings::variants(card.name))
}

#[test]
fn each_policy_is_found_by_its_names_and_makes_sense() {
    assert!(POLICIES.is_sorted_by_key(|card| card.name));
    for card in POLICIES {
        for name in card.aliases.iter().chain([&card.name]) {
            assert_eq!(PolicySettings::by_name(name).map(|policy| policy.name()), Some(card.name));
        }
        for policy in PolicySettings::variants(card.name) {
            assert_eq!(policy.fault(), None, "{policy:?}");
        }
    }
    assert_eq!(PolicySettings::by_name("lifo"), None);
}

/// Items that run: ticket, seats.
type Running = Vec<(Ticket, u32)>;

/// Random calls to `policy`: after each the seats add up, and none is free for an item whose turn
/// has come.
fn seats_add_up(policy: &PolicySettings, seed: u64) {
    let _replay = Replay(format!("{policy:?}, seed {seed}"));
    let mut draw = Draw::new(seed);
    let mut dispatcher = Dispatcher::with_policy(unlimited(1 + draw.below(6) as u32), policy.build());
    let (seats, widest) = (dispatcher.seats(), if draw.once_in(2) { 1 } else { dispatcher.seats() });
    let (mut waiting, mut running): (Vec<Ticket>, Running) = (Vec::new(), Vec::new());
    for _ in 0..800 {
        let tenant = draw.below(5) as u32 * (1 + draw.below(200) as u32);
        match draw.below(10) {
            0..4 => {
                let guess = draw.pick(&[None, Some(0), Some(3), Some(u64::MAX)]);
                let ask = Ask { seats: 1 + draw.below(widest.into()) as u32, guess };
                waiting.push(dispatcher.push_sized(&tenant, ask, draw.below(9), ask.seats).expect("no limit"));
            }
            4..8 if !running.is_empty() => {
                let (ticket, _) = running.swap_remove(draw.below(running.len() as u64) as usize);
                let cost = draw.pick(&[0, 1, 5, 100, u64::MAX]);
                assert!(if draw.once_in(4) { dispatcher.give_up(ticket) } else { dispatcher.complete(ticket, cost) });
                assert!(!dispatcher.complete(ticket, 1) && !dispatcher.progress(ticket, 1), "it has ended");
            }
            8 if !waiting.is_empty() => {
                let ticket = waiting.swap_remove(draw.below(waiting.len() as u64) as usize);
                assert!(dispatcher.remove(ticket).is_some() && dispatcher.remove(ticket).is_none());
            }
            _ => {
                dispatcher.set_weight(&tenant, draw.pick(&[0.001, 1.0, 7.5])).expect("a weight");
                dispatcher.set_priority(&tenant, draw.below(3) as u32);
            }
        }
        while let Some(started) = dispatcher.start() {
            waiting.retain(|ticket| *ticket != started.ticket);
            running.push((started.ticket, started.seats));
        }
        let taken: u32 = running.iter().map(|(_, seats)| seats).sum();
        assert_eq!(dispatcher.seats_taken(), taken);
        assert!(taken <= seats, "{taken} of {seats} seats");
        assert_eq!((dispatcher.waiting() as usize, dispatcher.running() as usize), (waiting.len(), running.len()));
        // An item that waits finds no seat free, unless one that takes several is before it.
        assert!(waiting.is_empty() || taken == seats || (widest > 1 && !running.is_empty()), "seats are idle");
    }
    assert_eq!(dispatcher.drain().len(), waiting.len());
    for (ticket, _) in running {
        assert!(dispatcher.complete(ticket, 1));
    }
    assert_eq!((dispatcher.waiting(), dispatcher.running(), dispatcher.seats_taken()), (0, 0, 0));
    dispatcher.push(&0, Ask::default(), 1).expect("no limit");
    assert!(dispatcher.start().is_some(), "it goes on");
}

#[test]
fn every_policy_keeps_the_seats_taken_while_items_wait_and_they_add_up() {
    for policy in all() {
        for seed in 0..60 {
            seats_add_up(&policy, seed);
        }
    }
}

#[test]
fn every_policy_starts_the_items_of_a_tenant_in_their_order_but_where_queues_are_shared() {
    for policy in all().filter(|policy| policy.name() != "apf") {
        let mut draw = Draw::new(7);
        let mut dispatcher = Dispatcher::with_policy(unlimited(3), policy.build());
        let mut last = [None; 4];
        for item in 0..3000_u32 {
            let tenant = draw.below(4) as usize;
            let ask = Ask { seats: 1 + draw.below(dispatcher.seats().into()) as u32, guess: Some(draw.below(50)) };
            dispatcher.push(&tenant, ask, item).expect("no limit");
            while let Some(started) = dispatcher.start().filter(|_| item % 3 != 0) {
                assert!(last[started.tenant] < Some(started.item), "{policy:?}");
                last[started.tenant] = Some(started.item);
                dispatcher.complete(started.ticket, draw.below(50));
            }
        }
    }
}

#[test]
fn an_item_wider_than_the_depth_of_the_policy_is_refused_at_the_door() {
    let policy = PolicySettings::SfqD(sfq_d::Settings { depth: Some(2) });
    let mut dispatcher = Dispatcher::with_policy(unlimited(8), policy.build());
    assert_eq!(dispatcher.seats(), 2);
    let refused = dispatcher.push(&0, Ask { seats: 3, guess: None }, ()).map_err(|refused| refused.why);
    assert_eq!(refused, Err(Refusal::TooWide));
}

/// How many of 900 items are of a tenant that always waits, while two that come once wait, too. All
/// items cost the same.
fn starts_beside_newcomers(policy: &PolicySettings) -> u32 {
    let mut dispatcher = Dispatcher::with_policy(unlimited(1), policy.build());
    let (mut next, mut starts) = (1_u32, 0);
    let ask = Ask { guess: Some(10), ..Ask::default() };
    for _ in 0..900 {
        while dispatcher.waiting_of(&0) < 2 {
            dispatcher.push(&0, ask, ()).expect("no limit");
        }
        while dispatcher.waiting() < 4 {
            dispatcher.push(&next, ask, ()).expect("no limit");
            next += 1;
        }
        let started = dispatcher.start().expect("items wait");
        starts += u32::from(started.tenant == 0);
        assert!(dispatcher.complete(started.ticket, 10));
    }
    starts
}

#[test]
fn new_tenants_do_not_pass_one_that_waits_without_end_but_for_vtc() {
    for policy in all() {
        let starts = starts_beside_newcomers(&policy);
        if policy.name() == "vtc" {
            // Its level stands still while new tenants wait at it, as the card says.
            assert!(starts < 10, "{policy:?}: {starts}");
        } else {
            assert!(starts >= 900 / 6, "{policy:?}: {starts}");
        }
    }
}
