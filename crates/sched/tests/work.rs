//! Fair shares of a server: the bound between any two tenants that wait, max-min, wind-up, the same
//! order as a slow dispatcher's, wide items, and tickets that name nothing.

use fairq_sched::fluid::max_min::{Flow, rates};
use fairq_sched::units::Weight;
use fairq_sched::work::{Ask, Dispatcher, Settings, Ticket};
use fairq_testkit::draw::{Draw, Replay};
use std::collections::BTreeMap;

const WEIGHTS: [u32; 6] = [500, 1000, 1000, 2000, 4000, 8000];

fn unlimited(seats: u32) -> Settings {
    let all = u32::MAX;
    Settings { seats, items_max: all, items_per_tenant_max: all, tenants_max: all, ..Settings::default() }
}

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight")
}

/// How a tenant behaves in a random run.
struct Habit {
    weight: u32,
    cost_max: u64,
    seats_max: u32,
    /// Its item is guessed at cost × multiply / divide; `None` leaves the guess to the dispatcher.
    guess: Option<(u64, u64)>,
    /// Items that it keeps waiting when it floods; an item now and then otherwise.
    floods: bool,
}

/// What is known of a tenant from outside.
#[derive(Clone, Default)]
struct Seen {
    waiting: u32,
    /// True cost of all that was started for it.
    given: u64,
    cost_max: u64,
    /// The most by which a guess was above the cost.
    guess_above: u64,
}

/// A random run, with a watch on every pair of tenants that wait at the same time.
struct Watched {
    dispatcher: Dispatcher<usize, (u64, u64)>,
    habits: Vec<Habit>,
    seen: Vec<Seen>,
    running: Vec<(Ticket, u64)>,
    settings: Settings,
    /// The largest cost of the items of tenants that come once; 0 if none come.
    newcomers: u64,
    /// The key of the next of them.
    next: usize,
    /// For each ordered pair (i, j) the least Wᵢ/wᵢ - Wⱼ/wⱼ since both wait, times both weights in
    /// thousandths.
    least: Vec<Option<i128>>,
    /// The greatest part of the bound that was reached.
    reached: f64,
}

impl Watched {
    fn new(draw: &mut Draw) -> Self {
        let seats = 1 + draw.below(8) as u32;
        let lead = draw.pick(&[0, 0, 50, 1000]);
        let settings = Settings { guess: draw.pick(&[1, 100]), lead, ..unlimited(seats) };
        let is_wide = draw.once_in(2);
        let habits: Vec<_> = (0..2 + draw.below(4))
            .map(|_| Habit {
                weight: draw.pick(&WEIGHTS),
                cost_max: draw.pick(&[1, 10, 100]),
                seats_max: if is_wide { 1 + draw.below(seats.into()) as u32 } else { 1 },
                guess: draw.pick(&[None, Some((1, 1)), Some((100, 1)), Some((1, 100))]),
                floods: !draw.once_in(3),
            })
            .collect();
        let mut dispatcher = Dispatcher::new(settings.clone());
        for (tenant, habit) in habits.iter().enumerate() {
            dispatcher.set_weight(&tenant, weight(habit.weight)).expect("a weight");
        }
        let (seen, least) = (vec![Seen::default(); habits.len()], vec![None; habits.len() * habits.len()]);
        let (newcomers, next) = (draw.pick(&[0, 1, 1000]), habits.len());
        Self { dispatcher, habits, seen, running: Vec::new(), settings, newcomers, next, least, reached: 0.0 }
    }

    fn push(&mut self, draw: &mut Draw, tenant: usize) {
        let habit = &self.habits[tenant];
        let cost = 1 + draw.below(habit.cost_max);
        let guess = habit.guess.map(|(multiply, divide)| cost * multiply / divide);
        let seats = 1 + draw.below(habit.seats_max.into()) as u32;
        // A least charge is 1.
        let guess_max = guess.unwrap_or(self.guess_max()).max(1);
        self.dispatcher.push(&tenant, Ask { seats, guess }, (cost, guess_max)).expect("there is no limit");
        self.seen[tenant].waiting += 1;
    }

    /// The largest guess when neither an item nor its tenant's past says: a mean lies between the
    /// costs that were seen.
    fn guess_max(&self) -> u64 {
        let costs = self.habits.iter().map(|habit| habit.cost_max);
        costs.fold(self.settings.guess.max(self.newcomers), u64::max)
    }

    /// The largest guess over weight of any tenant, times `weights` and rounded up.
    fn turn(&self, weights: i128) -> i128 {
        let turns = self.habits.iter().map(|habit| {
            let guess = habit.guess.map_or(self.guess_max(), |(multiply, divide)| habit.cost_max * multiply / divide);
            i128::from(guess.max(1)) * weights / i128::from(habit.weight) + 1
        });
        let newcomers = if self.newcomers > 0 { i128::from(self.guess_max()) * weights / 1000 } else { 0 };
        turns.fold(newcomers, i128::max)
    }

    fn start(&mut self) -> bool {
        let Some(started) = self.dispatcher.start() else { return false };
        let (cost, guess) = started.item;
        self.running.push((started.ticket, cost));
        let Some(seen) = self.seen.get_mut(started.tenant) else { return true };
        seen.waiting -= 1;
        seen.given += cost;
        seen.cost_max = seen.cost_max.max(cost);
        seen.guess_above = seen.guess_above.max(guess.saturating_sub(cost));
        self.watch(started.tenant);
        true
    }

    /// Checks every pair with `tenant`, which was just given service.
    fn watch(&mut self, tenant: usize) {
        for other in (0..self.habits.len()).filter(|other| *other != tenant) {
            for (i, j) in [(tenant, other), (other, tenant)] {
                let (wi, wj) = (i128::from(self.habits[i].weight), i128::from(self.habits[j].weight));
                let ahead = i128::from(self.seen[i].given) * wj - i128::from(self.seen[j].given) * wi;
                let Some(least) = self.least[i * self.habits.len() + j] else { continue };
                let part = |k: usize| i128::from(self.seen[k].cost_max + self.seen[k].guess_above);
                let items = i128::from(self.settings.seats) * (part(i) * wj + part(j) * wi) + self.turn(wi * wj);
                // The lead counts for weight one; a charge is rounded by 2⁻³² unit, thousands of
                // them by less than 1/1000.
                let bound = items + i128::from(self.settings.lead) * 2 * wi * wj / 1000 + wi * wj / 1_000_000;
                assert!(ahead - least <= bound, "{i} is {ahead} - {least} ahead of {j}, bound {bound}");
                self.reached = self.reached.max((ahead - least) as f64 / bound as f64);
            }
        }
        self.note();
    }

    /// Keeps the least lead of each pair in which both wait, and forgets that of others.
    fn note(&mut self) {
        for i in 0..self.habits.len() {
            for j in (0..self.habits.len()).filter(|j| *j != i) {
                let (wi, wj) = (i128::from(self.habits[i].weight), i128::from(self.habits[j].weight));
                let ahead = i128::from(self.seen[i].given) * wj - i128::from(self.seen[j].given) * wi;
                let both = self.seen[i].waiting > 0 && self.seen[j].waiting > 0;
                let least = &mut self.least[i * self.habits.len() + j];
                *least = both.then(|| least.map_or(ahead, |least| least.min(ahead)));
            }
        }
    }

    fn step(&mut self, draw: &mut Draw) {
        for tenant in 0..self.habits.len() {
            let wanted = if self.habits[tenant].floods { self.seen[tenant].waiting < 3 } else { draw.once_in(6) };
            if wanted && !draw.once_in(50) {
                self.push(draw, tenant);
                self.note();
            }
        }
        if self.newcomers > 0 && draw.once_in(3) {
            let cost = 1 + draw.below(self.newcomers);
            self.dispatcher.push(&self.next, Ask::default(), (cost, 0)).expect("there is no limit");
            self.next += 1;
        }
        while self.start() {}
        // Any of those that run ends first; sometimes several before the next start.
        for _ in 0..1 + draw.below(2) {
            if !self.running.is_empty() {
                let (ticket, cost) = self.running.swap_remove(draw.below(self.running.len() as u64) as usize);
                assert!(self.dispatcher.complete(ticket, cost));
            }
        }
    }
}

#[test]
fn no_tenant_gains_on_another_beyond_the_bound() {
    let mut reached = 0.0_f64;
    for seed in 0..400 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut watched = Watched::new(&mut draw);
        for _ in 0..1500 {
            watched.step(&mut draw);
        }
        reached = reached.max(watched.reached);
    }
    // The bound is not an idle one.
    assert!(reached > 0.5, "{reached}");
}

/// The rules of the dispatcher, said slowly: nothing is forgotten, nothing is sorted ahead, tags
/// are sums over lists.
struct Slow {
    tenants: BTreeMap<u32, SlowTenant>,
    seats: u32,
    lead: u64,
    virtual_time: i128,
    horizon: i128,
    count: u64,
}

#[derive(Default)]
struct SlowTenant {
    weight: u32,
    waiting: Vec<SlowItem>,
    running: Vec<SlowItem>,
    before: i128,
    floor: i128,
    charges: Vec<(u64, i128)>,
    passed: u64,
}

#[derive(Clone)]
struct SlowItem {
    number: u64,
    seats: u32,
    guess: u64,
    weight: u32,
}

/// `cost` over a weight in thousandths, in steps of 2⁻³² as the dispatcher counts.
fn tag(cost: u64, thousandths: u32) -> i128 {
    (i128::from(cost.max(1)) << 32) * 1000 / i128::from(thousandths)
}

impl SlowTenant {
    fn finish(&self) -> i128 {
        self.before.max(self.floor) + self.charges.iter().map(|(_, amount)| amount).sum::<i128>()
    }
}

impl Slow {
    fn tenant(&mut self, tenant: u32) -> &mut SlowTenant {
        self.tenants.entry(tenant).or_insert_with(|| SlowTenant { weight: 1000, ..SlowTenant::default() })
    }

    fn push(&mut self, tenant: u32, seats: u32, guess: u64) {
        let (number, now) = (self.count, self.virtual_time);
        self.count += 1;
        let tenant = self.tenant(tenant);
        if tenant.waiting.is_empty() {
            (tenant.before, tenant.floor) = (tenant.finish(), now);
            tenant.charges.clear();
        }
        tenant.waiting.push(SlowItem { number, seats, guess, weight: 0 });
        self.look();
    }

    /// The number of the item that starts.
    fn start(&mut self) -> Option<u64> {
        let taken: u32 = self.tenants.values().flat_map(|tenant| &tenant.running).map(|item| item.seats).sum();
        let heads = self.tenants.iter().filter(|(_, tenant)| !tenant.waiting.is_empty());
        let mut heads: Vec<_> = heads.map(|(key, t)| (t.finish(), t.waiting[0].number, *key)).collect();
        heads.sort_unstable();
        let at = heads.iter().position(|(_, _, key)| self.tenants[key].waiting[0].seats <= self.seats - taken)?;
        let chosen = heads[at].2;
        if at > 0 && heads[at].0 >= heads[0].0 + tag(self.lead, 1000) {
            return None;
        }
        if heads[..at].iter().any(|(_, _, key)| self.tenants[key].passed >= self.lead) {
            return None;
        }
        let guess = self.tenants[&chosen].waiting[0].guess;
        for (_, _, key) in &heads[..at] {
            self.tenant(*key).passed += guess.max(1);
        }
        let tenant = self.tenants.get_mut(&chosen)?;
        self.virtual_time = self.virtual_time.max(tenant.finish());
        let mut item = tenant.waiting.remove(0);
        item.weight = tenant.weight;
        tenant.passed = 0;
        tenant.charges.push((item.number, tag(item.guess, item.weight)));
        tenant.running.push(item.clone());
        self.look();
        Some(item.number)
    }

    /// The item ends and has cost `cost`; `None` if that is not known.
    fn end(&mut self, number: u64, cost: Option<u64>) {
        let mut moved = 0;
        let weights = |tenants: &BTreeMap<u32, SlowTenant>, but: u32| -> u32 {
            let waiting = tenants.iter().filter(|(key, tenant)| **key != but && !tenant.waiting.is_empty());
            waiting.map(|(_, tenant)| tenant.weight).sum()
        };
        let others: BTreeMap<u32, u32> = self.tenants.keys().map(|key| (*key, weights(&self.tenants, *key))).collect();
        for (key, tenant) in &mut self.tenants {
            let Some(at) = tenant.running.iter().position(|item| item.number == number) else { continue };
            let item = tenant.running.remove(at);
            let cost = cost.unwrap_or(item.guess);
            // The service of others shows in their start tags.
            if tenant.waiting.is_empty() {
                moved = tag(cost, tenant.weight + others[key]);
            }
            let (guessed, cost) = (tag(item.guess, item.weight), tag(cost, item.weight));
            match tenant.charges.iter_mut().find(|(charged, _)| *charged == number) {
                Some((_, amount)) => *amount = cost,
                None => tenant.before += cost - guessed,
            }
        }
        let waiting = self.tenants.values().filter(|tenant| !tenant.waiting.is_empty());
        let least = waiting.clone().map(SlowTenant::finish).min();
        let turn = waiting.map(|tenant| tag(tenant.waiting[0].guess, tenant.weight)).max();
        let end = least.zip(turn).map(|(least, turn)| least + turn);
        if moved > 0 {
            let moved = self.virtual_time + moved;
            self.virtual_time = self.virtual_time.max(end.map_or(moved, |end| moved.min(end)));
        }
        self.look();
    }

    fn remove(&mut self, number: u64) {
        for tenant in self.tenants.values_mut() {
            if tenant.waiting.first().is_some_and(|item| item.number == number) {
                tenant.passed = 0;
            }
            tenant.waiting.retain(|item| item.number != number);
        }
        self.look();
    }

    fn look(&mut self) {
        self.horizon = self.tenants.values().map(SlowTenant::finish).fold(self.horizon, i128::max);
        if self.tenants.values().all(|tenant| tenant.waiting.is_empty() && tenant.running.is_empty()) {
            self.virtual_time = self.virtual_time.max(self.horizon);
        }
    }
}

#[test]
fn the_same_calls_get_the_answers_of_a_slow_dispatcher() {
    for seed in 0..300 {
        let _replay = Replay(format!("calls {seed}"));
        let mut draw = Draw::new(seed);
        let (seats, lead) = (1 + draw.below(6) as u32, draw.pick(&[0, 0, 20, 200]));
        let mut fast = Dispatcher::new(Settings { lead, ..unlimited(seats) });
        let mut slow = Slow { tenants: BTreeMap::new(), seats, lead, virtual_time: 0, horizon: 0, count: 0 };
        let (mut waiting, mut running, mut stale) = (Vec::new(), Vec::new(), Vec::new());
        let mut take = |draw: &mut Draw, from: &mut Vec<(Ticket, u64)>| {
            let taken = (!from.is_empty()).then(|| from.swap_remove(draw.below(from.len() as u64) as usize));
            stale.extend(taken);
            taken
        };
        for _ in 0..600 {
            match draw.below(12) {
                0..5 => {
                    // Many names and few of them at a time, so that tenants come, go and are
                    // forgotten.
                    let tenant = draw.below(4) as u32 + slow.count as u32 / 40;
                    let (seats, guess) = (1 + draw.below(seats.into()) as u32, draw.pick(&[0, 1, 1, 7, 50]));
                    let number = slow.count;
                    slow.push(tenant, seats, guess);
                    let ticket = fast.push(&tenant, Ask { seats, guess: Some(guess) }, number).expect("no limit");
                    waiting.push((ticket, number));
                }
                5..8 => {
                    let started = fast.start();
                    assert_eq!(started.as_ref().map(|started| started.item), slow.start());
                    if let Some(started) = started {
                        waiting.retain(|(ticket, _)| *ticket != started.ticket);
                        running.push((started.ticket, started.item));
                    }
                }
                8..10 => {
                    if let Some((ticket, number)) = take(&mut draw, &mut running) {
                        let cost = draw.pick(&[Some(0), Some(1), Some(3), Some(10), Some(100), None]);
                        assert!(match cost {
                            Some(cost) if draw.once_in(3) => fast.cancel(ticket, cost),
                            Some(cost) => fast.complete(ticket, cost),
                            None => fast.give_up(ticket),
                        });
                        slow.end(number, cost);
                    }
                }
                10 => {
                    if let Some((ticket, number)) = take(&mut draw, &mut waiting) {
                        assert_eq!(fast.remove(ticket), Some(number));
                        slow.remove(number);
                    }
                }
                _ => {
                    let (tenant, thousandths) =
                        (draw.below(4) as u32 + slow.count as u32 / 40, draw.pick(&[500, 1000, 4000]));
                    fast.set_weight(&tenant, weight(thousandths)).expect("a weight");
                    slow.tenant(tenant).weight = thousandths;
                }
            }
            assert_eq!(fast.waiting() as usize, waiting.len());
            assert_eq!(fast.running() as usize, running.len());
        }
        for (ticket, _) in stale {
            assert!(!fast.complete(ticket, 1) && !fast.cancel(ticket, 1) && !fast.give_up(ticket));
            assert!(fast.remove(ticket).is_none());
        }
        for (ticket, _) in running {
            assert_eq!(fast.remove(ticket), None, "it runs");
        }
        for (ticket, number) in waiting {
            assert!(!fast.complete(ticket, 1), "it waits");
            assert_eq!(fast.remove(ticket), Some(number));
        }
    }
}

#[test]
fn no_wide_item_is_passed_by_more_than_the_lead() {
    for (lead, expected) in [(0, 0), (10, 1), (30, 3)] {
        for wide in 1..=9 {
            let mut dispatcher = Dispatcher::new(Settings { lead, ..unlimited(4) });
            let mut push = |tenant: u32, seats| {
                dispatcher.push(&tenant, Ask { seats, guess: Some(10) }, tenant).expect("no limit");
            };
            push(0, 3);
            // Of the last two seats that tenant 1 asks for, one is free; all others want the whole
            // server.
            push(1, 2);
            (2..=wide).for_each(|tenant| push(tenant, 4));
            (100..120).for_each(|tenant| push(tenant, 1));
            let blocker = dispatcher.start().expect("it fits").ticket;
            let mut passed = 0;
            while let Some(started) = dispatcher.start() {
                assert!(started.item >= 100);
                passed += 1;
                assert!(dispatcher.complete(started.ticket, 10));
            }
            assert_eq!(passed, expected, "lead {lead}, {wide} wide");
            // Now tenant 1 starts and leaves two seats; those that were passed as often as it was
            // are not passed again.
            assert!(dispatcher.complete(blocker, 10));
            let mut order = Vec::new();
            let mut running = Vec::new();
            while order.len() < wide as usize {
                while let Some(started) = dispatcher.start() {
                    order.push(started.item);
                    running.push(started.ticket);
                }
                assert!(dispatcher.complete(running.remove(0), 10));
            }
            assert_eq!(order[..wide as usize], (1..=wide).collect::<Vec<_>>(), "lead {lead}, {wide} wide");
        }
    }
}

#[test]
fn a_ticket_of_another_dispatcher_does_no_harm() {
    let mut full = Dispatcher::new(unlimited(4));
    let tickets: Vec<_> = (0..100).map(|item| full.push(&0, Ask::default(), item).expect("no limit")).collect();
    let mut empty = Dispatcher::<u32, u32>::new(unlimited(4));
    for ticket in tickets {
        assert!(!empty.complete(ticket, u64::MAX) && !empty.cancel(ticket, 0) && empty.remove(ticket).is_none());
    }
    assert_eq!(empty.start(), None);
}

#[test]
fn the_greatest_costs_and_guesses_do_no_harm() {
    let least = Weight::from_thousandths(1).expect("a weight");
    let mut dispatcher = Dispatcher::new(Settings { lead: u64::MAX, guess: u64::MAX, ..unlimited(3) });
    dispatcher.set_weight(&0, least).expect("a weight");
    for round in 0..50_u32 {
        for tenant in 0..3 {
            let ask = Ask { seats: 1 + round % 3, guess: if tenant == 1 { None } else { Some(u64::MAX) } };
            dispatcher.push(&tenant, ask, ()).expect("no limit");
        }
        while let Some(started) = dispatcher.start() {
            assert!(dispatcher.complete(started.ticket, u64::MAX));
        }
    }
    assert_eq!((dispatcher.waiting(), dispatcher.running()), (0, 0));
}

/// A server of `seats`, each of which does one unit of work in a tick.
struct Server {
    dispatcher: Dispatcher<usize, u64>,
    /// Ticket, tenant, cost, what is left to do.
    running: Vec<(Ticket, usize, u64, u64)>,
    done: Vec<u64>,
}

impl Server {
    fn new(seats: u32, weights: &[u32]) -> Self {
        let mut dispatcher = Dispatcher::new(unlimited(seats));
        for (tenant, thousandths) in weights.iter().enumerate() {
            dispatcher.set_weight(&tenant, weight(*thousandths)).expect("a weight");
        }
        Self { dispatcher, running: Vec::new(), done: vec![0; weights.len()] }
    }

    fn push(&mut self, tenant: usize, cost: u64) {
        self.dispatcher.push(&tenant, Ask::default(), cost).expect("no limit");
    }

    fn tick(&mut self) {
        while let Some(started) = self.dispatcher.start() {
            self.running.push((started.ticket, started.tenant, started.item, started.item));
        }
        for (ticket, tenant, cost, left) in &mut self.running {
            *left -= 1;
            self.done[*tenant] += 1;
            if *left == 0 {
                assert!(self.dispatcher.complete(*ticket, *cost));
            }
        }
        self.running.retain(|(_, _, _, left)| *left > 0);
    }
}

#[test]
fn shares_are_max_min_of_what_is_asked() {
    const TICKS: u64 = 20_000;
    const COST_MAX: u64 = 20;
    for seed in 0..20 {
        let _replay = Replay(format!("server {seed}"));
        let mut draw = Draw::new(seed);
        let seats = 1 + draw.below(6) as u32;
        let weights: Vec<u32> = (0..2 + draw.below(5)).map(|_| draw.pick(&WEIGHTS)).collect();
        // Hundredths of all there is; what is above 100 asks for more than it can get.
        let demands: Vec<u64> = weights.iter().map(|_| draw.pick(&[2, 5, 10, 30, 150])).collect();
        let flows = weights.iter().zip(&demands).map(|(weight, demand)| Flow {
            weight: f64::from(*weight),
            demand: *demand as f64 / 100.0 * f64::from(seats),
            links: vec![0],
        });
        let shares = rates(&[f64::from(seats)], &flows.collect::<Vec<_>>());

        let mut server = Server::new(seats, &weights);
        let mut asked = vec![0; weights.len()];
        for tick in 0..TICKS {
            for (tenant, demand) in demands.iter().enumerate() {
                while asked[tenant] * 100 <= demand * u64::from(seats) * tick {
                    let cost = 1 + draw.below(COST_MAX);
                    asked[tenant] += cost;
                    server.push(tenant, cost);
                }
            }
            server.tick();
        }
        for (tenant, share) in shares.iter().enumerate() {
            let (done, expected) = (server.done[tenant] as f64, share * TICKS as f64);
            // What the bound allows against each of the others, for costs and for guesses, by its
            // own weight.
            let own = f64::from(weights[tenant]);
            let of = |weight: &u32| 2.0 * COST_MAX as f64 * (1.0 + own / f64::from(*weight));
            let slack = f64::from(seats) * weights.iter().map(of).sum::<f64>();
            assert!((done - expected).abs() <= slack, "tenant {tenant}: {done}, expected {expected} ± {slack}");
        }
    }
}

#[test]
fn a_tenant_with_little_work_gathers_no_credit() {
    // Tenant 0 always has something here, a little less than its share: its next item comes before
    // the last one ends.
    let mut server = Server::new(4, &[1000, 1000]);
    let mut asked = [0, 0];
    for tick in 0..20_000 {
        while asked[0] * 3 < tick * 4 {
            server.push(0, 10);
            asked[0] += 10;
        }
        while asked[1] < server.done[1] + 400 {
            server.push(1, 10);
            asked[1] += 10;
        }
        server.tick();
    }
    let before = server.done.clone();
    assert!(before[1] > before[0] * 19 / 10, "{before:?}");
    // Now it floods. What it did not ask for then is gone.
    for _ in 0..2000 {
        server.push(0, 10);
    }
    for tick in 0..1000 {
        server.push(1, 40);
        server.tick();
        let [mine, others] = [0, 1].map(|tenant| server.done[tenant] - before[tenant]);
        // Four seats, costs of 10 and 40, guesses between them.
        assert!(mine <= others + 4 * (10 + 40 + 30), "tick {tick}: {mine} against {others}");
    }
}

#[test]
fn a_tenant_whose_guesses_were_too_low_pays_when_the_cost_is_known() {
    let mut server = Server::new(1, &[1000, 1000]);
    server.push(0, 5000);
    server.tick();
    for _ in 0..1000 {
        server.push(0, 1);
        server.push(1, 10);
    }
    for _ in 0..9_000 {
        server.tick();
    }
    // After the long one the other has all until it is even.
    assert_eq!(server.done[0], 5000);
}
