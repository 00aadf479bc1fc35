//! Tenants that come once: no tenant is refused while there is room, no tenant that waits is passed
//! without end, and what is kept of those that left is bounded.

use fairq_sched::work::{Ask, Dispatcher, Refusal, Settings, Started, Ticket};
use fairq_testkit::draw::{Draw, Replay};
use std::collections::{BTreeMap, VecDeque};

/// Three times the tenants that may be known by default.
const MANY: u64 = 300_000;
/// Enough to come to a steady state.
const SOME: u64 = 30_000;

fn seats(seats: u32) -> Settings {
    Settings { seats, ..Settings::default() }
}

/// An item of `tenant` is admitted and starts at once.
fn run(dispatcher: &mut Dispatcher<u64, ()>, tenant: u64) -> Ticket {
    if let Err(refused) = dispatcher.push(&tenant, Ask::default(), ()) {
        panic!("tenant {tenant} is refused: {refused}; {dispatcher:?}");
    }
    let started = dispatcher.start().expect("a seat is free and nothing else waits");
    assert_eq!(started.tenant, tenant);
    started.ticket
}

#[test]
fn one_long_item_and_a_new_tenant_at_a_time_are_all_served() {
    let mut dispatcher = Dispatcher::new(seats(4));
    let _stream = run(&mut dispatcher, 0);
    for tenant in 1..=MANY {
        let ticket = run(&mut dispatcher, tenant);
        assert!(dispatcher.complete(ticket, 1));
        assert!(dispatcher.tenants() <= 3, "{dispatcher:?}");
    }
}

#[test]
fn new_tenants_that_overlap_are_all_served() {
    let mut dispatcher = Dispatcher::new(seats(4));
    let mut last = run(&mut dispatcher, 0);
    for tenant in 1..=MANY {
        let next = run(&mut dispatcher, tenant);
        assert!(dispatcher.complete(last, 1));
        last = next;
        assert!(dispatcher.tenants() <= 4, "{dispatcher:?}");
    }
}

#[test]
fn known_and_new_tenants_in_turn_are_all_served() {
    for known in [1, 7, 1000] {
        let mut dispatcher = Dispatcher::new(seats(3));
        let _stream = run(&mut dispatcher, u64::MAX);
        for turn in 0..SOME {
            for tenant in [turn % known, known + turn] {
                let ticket = run(&mut dispatcher, tenant);
                // Items of known tenants cost more.
                assert!(dispatcher.complete(ticket, if tenant < known { 1000 } else { 1 }));
            }
            assert!(dispatcher.tenants() <= 4, "{dispatcher:?}");
        }
    }
}

#[test]
fn new_tenants_beside_many_long_items_are_all_served() {
    const STREAMS: u32 = 20_000;
    let mut dispatcher = Dispatcher::new(seats(STREAMS + 1));
    for stream in 0..u64::from(STREAMS) {
        run(&mut dispatcher, stream);
    }
    for tenant in 0..SOME {
        let ticket = run(&mut dispatcher, u64::from(STREAMS) + tenant);
        assert!(dispatcher.complete(ticket, 1 + tenant % 50));
        assert!(dispatcher.tenants() <= STREAMS as usize + 2, "{dispatcher:?}");
    }
}

/// A server of four seats, of which a long item may hold one; `backlog` tenants that come once wait
/// at all times. Each item costs what `cost` says of its number and is guessed at `guess`; the
/// greatest number of tenants that were known.
fn flood(settings: Settings, backlog: usize, guess: Option<u64>, cost: impl Fn(u64) -> u64) -> usize {
    let mut dispatcher = Dispatcher::new(settings);
    let _stream = run(&mut dispatcher, 0);
    let mut running = VecDeque::new();
    let (mut served, mut known) = (0, 0);
    for tenant in 1..=SOME {
        let ask = Ask { guess, ..Ask::default() };
        dispatcher.push(&tenant, ask, ()).unwrap_or_else(|refused| panic!("{tenant}: {refused}; {dispatcher:?}"));
        known = known.max(dispatcher.tenants());
        if dispatcher.waiting() as usize > backlog {
            if let Some((ticket, cost)) = running.pop_front() {
                assert!(dispatcher.complete(ticket, cost));
            }
            while let Some(started) = dispatcher.start() {
                served += 1;
                running.push_back((started.ticket, cost(started.tenant)));
            }
        }
    }
    assert_eq!(served + u64::from(dispatcher.waiting()), SOME);
    known
}

#[test]
fn a_flood_of_new_tenants_behind_which_there_is_always_one_waiting_leaves_few_behind() {
    let kinds: [fn(u64) -> u64; 3] = [|_| 1, |_| 5000, |tenant| 1 + tenant * tenant % 997];
    for (kind, cost) in kinds.into_iter().enumerate() {
        for backlog in [1, 3, 100] {
            let known = flood(seats(4), backlog, None, cost);
            // Those that wait and run, and those that left within about as long as an item stays.
            assert!(known <= 20 + 8 * backlog, "costs {kind}, {backlog} waiting: {known} known");
        }
    }
}

#[test]
fn guesses_that_are_far_too_low_fill_the_table_and_still_no_tenant_is_refused() {
    let settings = Settings { tenants_max: 500, ..seats(4) };
    assert_eq!(flood(settings, 10, Some(1), |_| 1_000_000), 500);
}

/// What parts of the service tenants of these weights get that always wait, while `others` of
/// weight 1, each of which comes once, wait too.
fn shares_beside_newcomers(weights: &[f64], others: u32, cost: u64) -> Vec<f64> {
    const ITEMS: u32 = 40_000;
    let mut dispatcher = Dispatcher::new(seats(4));
    let known = weights.len() as u64;
    for (tenant, weight) in (0..).zip(weights) {
        dispatcher.set_weight(&tenant, *weight).expect("a weight");
        // Two items, so that one waits while the other starts and is replaced.
        dispatcher.push(&tenant, Ask::default(), ()).expect("room");
        dispatcher.push(&tenant, Ask::default(), ()).expect("room");
    }
    let mut running: VecDeque<Started<u64, ()>> = VecDeque::new();
    let (mut given, mut next) = (vec![0_u32; weights.len()], known);
    for _ in 0..ITEMS {
        loop {
            while dispatcher.waiting() < 2 * known as u32 + others {
                dispatcher.push(&next, Ask::default(), ()).expect("room");
                next += 1;
            }
            let Some(started) = dispatcher.start() else { break };
            if started.tenant < known {
                dispatcher.push(&started.tenant, Ask::default(), ()).expect("room");
            }
            running.push_back(started);
        }
        let ended = running.pop_front().expect("one runs");
        assert!(dispatcher.complete(ended.ticket, cost));
        if let Some(given) = given.get_mut(ended.tenant as usize) {
            *given += 1;
        }
    }
    given.iter().map(|given| f64::from(*given) / f64::from(ITEMS)).collect()
}

#[test]
fn a_tenant_that_waits_keeps_its_share_beside_ever_new_ones() {
    for cost in [1, 70, 1_000_000] {
        for (weights, others) in [(&[1.0][..], 1), (&[1.0], 10), (&[0.5], 4), (&[1.0, 2.0], 6), (&[1.0, 8.0, 3.5], 30)]
        {
            let shares = shares_beside_newcomers(weights, others, cost);
            let known = weights.iter().sum::<f64>();
            let others = f64::from(others);
            for (share, weight) in shares.iter().zip(weights) {
                // The service of those that are known moves V no further than their start tags (the
                // page of `work`).
                let (least, most) = (weight / (2.0 * known + others + 1.0), weight / (known + others));
                assert!(*share >= 0.9 * least, "{weight} of {weights:?} beside {others}: {share}, least {least}");
                assert!(*share <= 1.1 * most, "{weight} of {weights:?} beside {others}: {share}, most {most}");
            }
        }
    }
}

#[test]
fn a_tenant_that_asks_seldom_is_served_next_beside_many_that_flood() {
    const FLOODS: u64 = 50;
    let mut dispatcher = Dispatcher::new(Settings { items_max: u32::MAX, items_per_tenant_max: u32::MAX, ..seats(1) });
    for flood in 0..FLOODS {
        for _ in 0..100 {
            dispatcher.push(&flood, Ask::default(), ()).expect("room");
        }
    }
    // Items of floods cost 9000 and more, no two floods' the same, so that their tags are not
    // equal; those of others 5.
    let mut next = 1000;
    for turn in 0..2000 {
        let running = dispatcher.start().expect("something waits");
        let cost = 9000 + 101 * running.tenant;
        if turn >= FLOODS && turn % 10 == 0 {
            // One that is known, or one that is new; both come seldom.
            let seldom = if turn % 20 == 0 { 999 } else { next };
            next += 1;
            dispatcher.push(&seldom, Ask::default(), ()).expect("room");
            assert!(dispatcher.complete(running.ticket, cost));
            let served = dispatcher.start().expect("something waits");
            assert_eq!(served.tenant, seldom, "turn {turn}");
            assert!(dispatcher.complete(served.ticket, 5));
        } else {
            assert!(dispatcher.complete(running.ticket, cost));
        }
    }
}

#[test]
fn new_tenants_are_served_by_their_weight() {
    // In each turn comes a tenant with ten items, those of odd number with a weight of 4, and ten
    // items are served: how many turns it takes until a tenant is served whole.
    let mut dispatcher = Dispatcher::new(seats(1));
    let mut left = VecDeque::new();
    let (mut stay, mut count) = ([0, 0], [0, 0]);
    for tenant in 0..2000_u64 {
        dispatcher.set_weight(&tenant, if tenant % 2 == 1 { 4.0 } else { 1.0 }).expect("a weight");
        // Six turns of work wait from the beginning, so that tenants compete.
        for _ in 0..if tenant == 0 { 60 } else { 10 } {
            dispatcher.push(&tenant, Ask::default(), ()).expect("room");
            left.push_back(tenant);
        }
        for _ in 0..10 {
            let started = dispatcher.start().expect("something waits");
            assert!(dispatcher.complete(started.ticket, 3));
            let at = left.iter().position(|tenant| *tenant == started.tenant).expect("it waits");
            left.remove(at);
            if !left.contains(&started.tenant) {
                stay[(started.tenant % 2) as usize] += tenant - started.tenant;
                count[(started.tenant % 2) as usize] += 1;
            }
        }
    }
    let [plain, gold] = [0, 1].map(|kind| stay[kind] as f64 / f64::from(count[kind]));
    assert!(gold * 2.0 < plain, "{gold} turns with weight 4, {plain} with weight 1");
}

#[test]
fn a_table_full_of_debtors_forgets_the_least_debt() {
    let mut dispatcher = Dispatcher::new(Settings { tenants_max: 3, ..seats(1) });
    // Tenant 9 waits all the time, so that debts count; 1 and 2 owe 50 and 5.
    dispatcher.push(&1, Ask::default(), ()).expect("room");
    dispatcher.push(&2, Ask::default(), ()).expect("room");
    let first = dispatcher.start().expect("it waits").ticket;
    dispatcher.push(&9, Ask::default(), ()).expect("room");
    dispatcher.complete(first, 50);
    let second = dispatcher.start().expect("it waits");
    assert_eq!(second.tenant, 2);
    dispatcher.complete(second.ticket, 5);
    assert_eq!(dispatcher.tenants(), 3);
    // Tenant 3 finds room, and as 2 comes back it owes nothing: it is served before 1, which came
    // first.
    dispatcher.push(&3, Ask::default(), ()).expect("room is made");
    for tenant in [9, 3] {
        let started = dispatcher.start().expect("it waits");
        assert_eq!(started.tenant, tenant);
        if tenant == 3 {
            dispatcher.push(&1, Ask::default(), ()).expect("it is known");
            dispatcher.push(&2, Ask::default(), ()).expect("room");
        }
        dispatcher.complete(started.ticket, 1);
    }
    let order = std::iter::from_fn(|| {
        let started = dispatcher.start()?;
        dispatcher.complete(started.ticket, 1);
        Some(started.tenant)
    });
    assert_eq!(order.collect::<Vec<_>>(), [2, 1]);
}

/// What is known of a dispatcher from outside: the tenants that have items in it.
#[derive(Default)]
struct Here {
    waiting: BTreeMap<u64, u32>,
    /// Tenants of items that run, and how many each has.
    running: BTreeMap<u64, u32>,
}

impl Here {
    /// Why an item is refused: only for what is here now.
    fn refusal(&self, settings: &Settings, tenant: u64, seats: u32) -> Option<Refusal> {
        let tenants = self.running.keys().filter(|key| !self.waiting.contains_key(key)).count() + self.waiting.len();
        let is_here = self.waiting.contains_key(&tenant) || self.running.contains_key(&tenant);
        if seats > settings.seats {
            Some(Refusal::TooWide)
        } else if self.waiting.get(&tenant).is_some_and(|waiting| *waiting >= settings.items_per_tenant_max) {
            Some(Refusal::TenantFull)
        } else if self.waiting.values().sum::<u32>() >= settings.items_max {
            Some(Refusal::Full)
        } else if !is_here && tenants >= settings.tenants_max as usize {
            Some(Refusal::TooManyTenants)
        } else {
            None
        }
    }
}

fn take(counts: &mut BTreeMap<u64, u32>, tenant: u64) {
    let count = counts.get_mut(&tenant).expect("it is here");
    *count -= 1;
    if *count == 0 {
        counts.remove(&tenant);
    }
}

#[test]
fn an_item_is_refused_for_what_is_here_now_and_for_nothing_else() {
    let mut refused = BTreeMap::new();
    for seed in 0..300 {
        let _replay = Replay(format!("doors {seed}"));
        let mut draw = Draw::new(seed);
        let settings = Settings {
            seats: 1 + draw.below(6) as u32,
            lead: draw.pick(&[0, 5, 100]),
            items_max: 1 + draw.below(12) as u32,
            items_per_tenant_max: 1 + draw.below(4) as u32,
            tenants_max: 1 + draw.below(10) as u32,
            ..Settings::default()
        };
        let mut dispatcher = Dispatcher::new(settings.clone());
        let (mut here, mut waiting, mut running) = (Here::default(), Vec::new(), Vec::new());
        let mut count = 0;
        for _ in 0..1000 {
            match draw.below(8) {
                0..4 => {
                    // Names that come back, and ever new ones.
                    let tenant = if draw.once_in(2) { draw.below(5) } else { 100 + count };
                    count += 1;
                    let seats = if draw.once_in(4) { 1 + draw.below(7) as u32 } else { 1 };
                    let ask = Ask { seats, guess: draw.pick(&[None, Some(1), Some(100)]) };
                    let expected = here.refusal(&settings, tenant, seats);
                    let answer = dispatcher.push(&tenant, ask, tenant);
                    assert_eq!(answer.as_ref().err().map(|refused| refused.why), expected, "{dispatcher:?}");
                    match answer {
                        Ok(ticket) => {
                            waiting.push((ticket, tenant));
                            *here.waiting.entry(tenant).or_default() += 1;
                        }
                        Err(refusal) => *refused.entry(refusal.to_string()).or_insert(0) += 1,
                    }
                }
                4 | 5 => {
                    if let Some(started) = dispatcher.start() {
                        waiting.retain(|(ticket, _)| *ticket != started.ticket);
                        running.push((started.ticket, started.tenant));
                        take(&mut here.waiting, started.tenant);
                        *here.running.entry(started.tenant).or_default() += 1;
                    }
                }
                6 => {
                    if !running.is_empty() {
                        let (ticket, tenant) = running.swap_remove(draw.below(running.len() as u64) as usize);
                        assert!(dispatcher.complete(ticket, draw.pick(&[0, 1, 10, 10_000])));
                        take(&mut here.running, tenant);
                    }
                }
                _ => {
                    if !waiting.is_empty() {
                        let (ticket, tenant) = waiting.swap_remove(draw.below(waiting.len() as u64) as usize);
                        assert_eq!(dispatcher.remove(ticket), Some(tenant));
                        take(&mut here.waiting, tenant);
                    }
                }
            }
            assert!(dispatcher.tenants() <= settings.tenants_max as usize);
        }
    }
    // Every reason came up.
    assert_eq!(refused.len(), 4, "{refused:?}");
}
