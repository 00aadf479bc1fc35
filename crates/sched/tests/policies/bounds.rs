//! The bound of each policy that has one, on random runs.

use super::{unlimited, weight};
use fairq_sched::units::Weight;
use fairq_sched::work::policy::{Facts, Side, per_weight};
use fairq_sched::work::registry::{POLICIES, PolicySettings};
use fairq_sched::work::{Ask, Dispatcher, Settings, Ticket};
use fairq_testkit::draw::{Draw, Replay};

const WEIGHTS: [u32; 6] = [500, 1000, 1000, 2000, 4000, 8000];

/// How a tenant behaves in a random run.
struct Habit {
    weight: u32,
    cost_max: u64,
    size_max: u64,
    seats_max: u32,
    /// Its item is guessed at cost × multiply / divide; `None` leaves the guess to the dispatcher.
    guess: Option<(u64, u64)>,
    /// It keeps items waiting; else it has one now and then.
    floods: bool,
}

/// What is known of a tenant from outside.
#[derive(Clone)]
struct Seen {
    waiting: u32,
    /// The service of all that was started for it.
    given: i128,
    side: Side,
}

#[derive(Debug)]
struct Item {
    cost: u64,
    size: u64,
    tenant: usize,
}

/// A random run, with a watch on every pair of tenants that wait at the same time.
struct Watched {
    dispatcher: Dispatcher<usize, Item>,
    habits: Vec<Habit>,
    seen: Vec<Seen>,
    running: Vec<(Ticket, Item)>,
    lead: u64,
    /// The largest cost of the items of tenants that come once; 0 if none come.
    newcomers: u64,
    /// The key of the next of them, and what is known of all of them.
    next: usize,
    others: Side,
    /// For each ordered pair (i, j) the least Wᵢ/wᵢ - Wⱼ/wⱼ since both wait, times both weights in
    /// thousandths.
    least: Vec<Option<i128>>,
    /// The greatest part of the bound that was reached.
    reached: f64,
}

impl Watched {
    fn new(policy: &PolicySettings, draw: &mut Draw) -> Self {
        let seats = 1 + draw.below(8) as u32;
        let lead = if policy.name() == "sfq_d" { draw.pick(&[0, 50]) } else { 0 };
        let settings = Settings { guess: draw.pick(&[1, 100]), lead, ..unlimited(seats) };
        let mut dispatcher = Dispatcher::with_policy(settings, policy.build());
        let (is_wide, seats) = (draw.once_in(2), dispatcher.seats());
        let habits: Vec<_> = (0..2 + draw.below(4))
            .map(|_| Habit {
                weight: draw.pick(&WEIGHTS),
                cost_max: draw.pick(&[1, 10, 100]),
                size_max: draw.pick(&[1, 10, 100]),
                seats_max: if is_wide { 1 + draw.below(seats.into()) as u32 } else { 1 },
                guess: draw.pick(&[None, None, Some((1, 1)), Some((30, 1)), Some((1, 30))]),
                floods: !draw.once_in(3),
            })
            .collect();
        let newcomers = draw.pick(&[0, 1, 1000]);
        // A guess that is not told is a mean of costs, or the setting.
        let guess_max = habits.iter().map(|habit| habit.cost_max).fold(newcomers.max(100), u64::max);
        for (tenant, habit) in habits.iter().enumerate() {
            dispatcher.set_weight(&tenant, weight(habit.weight)).expect("a weight");
        }
        let side = |habit: &Habit| Side {
            weight: weight(habit.weight),
            service_max: 0,
            guess_max: habit.guess.map_or(guess_max, |(multiply, divide)| habit.cost_max * multiply / divide).max(1),
            over_max: 0,
        };
        let seen: Vec<_> = habits.iter().map(|habit| Seen { waiting: 0, given: 0, side: side(habit) }).collect();
        let (least, next) = (vec![None; habits.len() * habits.len()], habits.len());
        let guess_max = if newcomers > 0 { guess_max } else { 0 };
        let others = Side { weight: Weight::ONE, service_max: 0, guess_max, over_max: 0 };
        let (running, reached) = (Vec::new(), 0.0);
        Self { dispatcher, habits, seen, running, lead, newcomers, next, others, least, reached }
    }

    fn push(&mut self, draw: &mut Draw, tenant: usize) {
        let habit = &self.habits[tenant];
        let (cost, size) = (draw.below(habit.cost_max + 1), draw.below(habit.size_max));
        let guess = habit.guess.map(|(multiply, divide)| cost * multiply / divide);
        let seats = 1 + draw.below(habit.seats_max.into()) as u32;
        let item = Item { cost, size, tenant };
        self.dispatcher.push_sized(&tenant, Ask { seats, guess }, size, item).expect("there is no limit");
        self.seen[tenant].waiting += 1;
        self.note();
    }

    fn start(&mut self) -> bool {
        let Some(started) = self.dispatcher.start() else { return false };
        let Item { cost, size, tenant } = started.item;
        let policy = self.dispatcher.policy();
        // An item counts at least 1.
        let service = policy.service(size, cost).max(1);
        let over = policy.service(size, started.charged).saturating_sub(service);
        let Some(seen) = self.seen.get_mut(tenant) else {
            self.others.over_max = self.others.over_max.max(over);
            self.running.push((started.ticket, started.item));
            return true;
        };
        seen.waiting -= 1;
        seen.given += i128::from(service);
        seen.side.service_max = seen.side.service_max.max(service);
        seen.side.over_max = seen.side.over_max.max(over);
        assert!(started.charged <= seen.side.guess_max, "{} charged", started.charged);
        self.running.push((started.ticket, started.item));
        self.watch(tenant);
        true
    }

    fn facts(&self, i: usize, j: usize) -> Facts {
        let most = |value: fn(&Side) -> u64| {
            let of = |side: &Side| per_weight(value(side).into(), side.weight);
            self.seen.iter().map(|seen| &seen.side).chain([&self.others]).map(of).fold(0, u128::max) as u64
        };
        Facts {
            seats: self.dispatcher.seats(),
            lead: self.lead,
            turn_max: most(|side| side.guess_max),
            over_max: most(|side| side.over_max),
            sides: [self.seen[i].side, self.seen[j].side],
        }
    }

    /// Wᵢ/wᵢ - Wⱼ/wⱼ, times both weights in thousandths.
    fn ahead(&self, i: usize, j: usize) -> i128 {
        let weight = |tenant: usize| i128::from(self.habits[tenant].weight);
        self.seen[i].given * weight(j) - self.seen[j].given * weight(i)
    }

    /// Checks every pair with `tenant`, which was just given service.
    fn watch(&mut self, tenant: usize) {
        for other in (0..self.habits.len()).filter(|other| *other != tenant) {
            let Some(least) = self.least[tenant * self.habits.len() + other] else { continue };
            let bound = self.dispatcher.policy().bound(&self.facts(tenant, other)).expect("a bound");
            let (wi, wj) = (i128::from(self.habits[tenant].weight), i128::from(self.habits[other].weight));
            let bound = bound as i128 * wi * wj / i128::from(Weight::ONE.thousandths());
            let gained = self.ahead(tenant, other) - least;
            assert!(gained <= bound, "{tenant} gains {gained} on {other}, bound {bound}");
            self.reached = self.reached.max(gained as f64 / bound as f64);
        }
        self.note();
    }

    /// Keeps the least lead of each pair in which both wait, and forgets that of others.
    fn note(&mut self) {
        for i in 0..self.habits.len() {
            for j in (0..self.habits.len()).filter(|j| *j != i) {
                let ahead = self.ahead(i, j);
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
            }
        }
        if self.newcomers > 0 && draw.once_in(3) {
            let item = Item { cost: 1 + draw.below(self.newcomers), size: draw.below(9), tenant: self.next };
            let ask = Ask { guess: draw.pick(&[None, Some(item.cost)]), ..Ask::default() };
            self.dispatcher.push_sized(&self.next, ask, item.size, item).expect("there is no limit");
            self.next += 1;
        }
        while self.start() {}
        if let (Some((ticket, item)), true) = (self.running.first(), draw.once_in(4)) {
            assert!(self.dispatcher.progress(*ticket, draw.below(item.cost + 1)));
        }
        // Any of those that run ends first; sometimes several before the next start.
        for _ in 0..1 + draw.below(2) {
            if !self.running.is_empty() {
                let (ticket, item) = self.running.swap_remove(draw.below(self.running.len() as u64) as usize);
                assert!(self.dispatcher.complete(ticket, item.cost));
            }
        }
    }
}

/// A bound for two equal tenants, to see which policies have one.
fn has_bound(policy: &PolicySettings) -> bool {
    let side = Side { weight: Weight::ONE, service_max: 1, guess_max: 1, over_max: 0 };
    let facts = Facts { seats: 1, lead: 0, turn_max: 1, over_max: 0, sides: [side; 2] };
    policy.build().bound(&facts).is_some()
}

#[test]
fn no_tenant_gains_on_another_beyond_the_bound_of_its_policy() {
    let mut bounded = Vec::new();
    for card in POLICIES {
        for policy in PolicySettings::variants(card.name).iter().filter(|policy| has_bound(policy)) {
            let mut reached = 0.0_f64;
            for seed in 0..150 {
                let _replay = Replay(format!("{policy:?}, seed {seed}"));
                let mut draw = Draw::new(seed);
                let mut watched = Watched::new(policy, &mut draw);
                for _ in 0..600 {
                    watched.step(&mut draw);
                }
                reached = reached.max(watched.reached);
            }
            // The bound is not an idle one.
            assert!(reached > 0.5, "{policy:?}: {reached}");
            bounded.push(card.name);
        }
    }
    bounded.dedup();
    assert_eq!(bounded, ["drr", "sfq_d", "vtc", "wfq"]);
}
