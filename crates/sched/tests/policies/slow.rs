//! Slow policies, which look through all items at every step, and the same calls for them and for
//! those of the registry.

use super::slow_fair::{SlowApf, SlowDrr, SlowSfq, SlowVtc, SlowWfq};
use super::{unlimited, weight};
use fairq_sched::work::amount::Unit;
use fairq_sched::work::registry::{POLICIES, PolicySettings};
use fairq_sched::work::{Ask, Dispatcher, Ticket};
use fairq_testkit::draw::{Draw, Replay};
use std::collections::BTreeMap;

/// Where an item is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Phase {
    Waits,
    Runs,
    Gone,
}

/// An item; its number is its place in the list.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) tenant: u32,
    pub(super) seats: u32,
    pub(super) guess: Option<u64>,
    pub(super) size: u64,
    pub(super) phase: Phase,
    /// The cost that is charged so far.
    pub(super) charged: u64,
}

/// All items that ever came.
#[derive(Clone)]
pub(super) struct World {
    pub(super) items: Vec<Item>,
    pub(super) weights: BTreeMap<u32, u32>,
    priorities: BTreeMap<u32, u32>,
    seats: u32,
}

impl World {
    pub(super) fn waiting(&self) -> impl Iterator<Item = usize> {
        (0..self.items.len()).filter(|number| self.items[*number].phase == Phase::Waits)
    }

    /// The items of `tenant` that wait.
    pub(super) fn of(&self, tenant: u32) -> impl Iterator<Item = usize> {
        self.waiting().filter(move |number| self.items[*number].tenant == tenant)
    }

    pub(super) fn running(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.phase == Phase::Runs)
    }

    pub(super) fn weight(&self, tenant: u32) -> u32 {
        self.weights.get(&tenant).copied().unwrap_or(1000)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.items.iter().all(|item| item.phase == Phase::Gone)
    }
}

/// A policy that is told of every step after it was made.
pub(super) trait Slow {
    /// The item whose turn it is, if one waits. Changes nothing that matters.
    fn first(&mut self, world: &World) -> Option<usize>;
    /// An item came; it is the last of `world`.
    fn came(&mut self, _world: &World) {}
    fn started(&mut self, _world: &World, _number: usize) {}
    /// Its cost is known to be `cost`, where `before` was charged.
    fn recharged(&mut self, _world: &World, _number: usize, _before: u64, _cost: u64) {}
    fn ended(&mut self, _world: &World, _number: usize) {}
    fn removed(&mut self, _world: &World, _number: usize) {}
    /// What is charged at the start beside the size.
    fn charges(&self, item: &Item) -> u64 {
        item.guess.unwrap_or(0)
    }
}

struct SlowFcfs;

impl Slow for SlowFcfs {
    fn first(&mut self, world: &World) -> Option<usize> {
        world.waiting().next()
    }
}

struct SlowPriority;

impl Slow for SlowPriority {
    fn first(&mut self, world: &World) -> Option<usize> {
        let priority = |number: &usize| world.priorities.get(&world.items[*number].tenant).copied().unwrap_or(0);
        world.waiting().min_by_key(|number| (std::cmp::Reverse(priority(number)), *number))
    }
}

/// The tenants with items, the one whose turn it is in front.
struct SlowRoundRobin(Vec<u32>);

impl Slow for SlowRoundRobin {
    fn first(&mut self, world: &World) -> Option<usize> {
        world.of(*self.0.first()?).next()
    }

    fn came(&mut self, world: &World) {
        let tenant = world.items[world.items.len() - 1].tenant;
        if !self.0.contains(&tenant) {
            self.0.push(tenant);
        }
    }

    fn started(&mut self, world: &World, number: usize) {
        self.0.rotate_left(1);
        self.removed(world, number);
    }

    fn removed(&mut self, world: &World, _: usize) {
        self.0.retain(|tenant| world.of(*tenant).next().is_some());
    }
}

struct SlowMaxInFlight {
    thousandths: usize,
    least: usize,
}

impl Slow for SlowMaxInFlight {
    fn first(&mut self, world: &World) -> Option<usize> {
        let all = world.running().count();
        let own = |number: &usize| world.running().filter(|item| item.tenant == world.items[*number].tenant).count();
        let is_noisy = |number: &usize| own(number) >= self.least && own(number) * 1000 > self.thousandths * all;
        let quiet = world.waiting().find(|number| !is_noisy(number));
        quiet.or_else(|| world.waiting().min_by_key(|number| (own(number), *number)))
    }
}

/// The slow policy for these settings.
fn slow(settings: &PolicySettings) -> Box<dyn Slow> {
    match settings {
        PolicySettings::SfqD(_) => Box::new(SlowSfq::default()),
        PolicySettings::Fcfs(_) => Box::new(SlowFcfs),
        PolicySettings::StrictPriority(_) => Box::new(SlowPriority),
        PolicySettings::RoundRobin(_) => Box::new(SlowRoundRobin(Vec::new())),
        PolicySettings::MaxInFlight(settings) => {
            let (share, least) = (settings.share.thousandths(), settings.least);
            Box::new(SlowMaxInFlight { thousandths: share as usize, least: least as usize })
        }
        PolicySettings::Wfq(_) => Box::new(SlowWfq::default()),
        PolicySettings::Drr(settings) => Box::new(SlowDrr::new(settings.quantum.steps(Unit::default()))),
        PolicySettings::Vtc(settings) => Box::new(SlowVtc::new(settings.input_weight, settings.output_weight)),
        PolicySettings::Apf(settings) => Box::new(SlowApf::new(settings.queues, settings.hand)),
    }
}

/// A dispatcher and a slow policy that get the same calls.
struct Both {
    fast: Dispatcher<u32, usize>,
    slow: Box<dyn Slow>,
    world: World,
    tickets: Vec<Ticket>,
    is_by_rounds: bool,
}

impl Both {
    fn push(&mut self, tenant: u32, ask: Ask, size: u64) {
        let number = self.world.items.len();
        let Ask { seats, guess } = ask;
        self.world.items.push(Item { tenant, seats, guess, size, phase: Phase::Waits, charged: 0 });
        self.slow.came(&self.world);
        self.tickets.push(self.fast.push_sized(&tenant, ask, size, number).expect("no limit"));
    }

    fn start(&mut self) {
        let taken: u32 = self.world.running().map(|item| item.seats).sum();
        let free = self.world.seats - taken;
        let first = self.slow.first(&self.world).filter(|number| self.world.items[*number].seats <= free);
        let first = first.filter(|_| free > 0);
        assert_eq!(self.fast.start().map(|started| started.item), first);
        if let Some(number) = first {
            let charged = self.slow.charges(&self.world.items[number]);
            let item = &mut self.world.items[number];
            (item.phase, item.charged) = (Phase::Runs, charged);
            self.slow.started(&self.world, number);
        }
    }

    fn recharge(&mut self, number: usize, cost: u64) {
        let before = std::mem::replace(&mut self.world.items[number].charged, cost);
        self.slow.recharged(&self.world, number, before, cost);
    }

    fn end(&mut self, draw: &mut Draw, number: usize) {
        let item = &self.world.items[number];
        let cost = draw.pick(&[0, 1, 3, 10, 100]);
        let guess = item.guess.filter(|_| draw.once_in(6));
        let paid = guess.map(|guess| guess.max(item.charged));
        assert!(match (paid, draw.once_in(3)) {
            (Some(_), _) => self.fast.give_up(self.tickets[number]),
            (None, true) => self.fast.cancel(self.tickets[number], cost),
            (None, false) => self.fast.complete(self.tickets[number], cost),
        });
        self.recharge(number, paid.unwrap_or(cost));
        self.world.items[number].phase = Phase::Gone;
        self.slow.ended(&self.world, number);
    }

    fn progress(&mut self, draw: &mut Draw, number: usize) {
        let cost = draw.below(60);
        assert!(self.fast.progress(self.tickets[number], cost));
        if cost > self.world.items[number].charged {
            self.recharge(number, cost);
        }
    }

    fn remove(&mut self, number: usize) {
        assert_eq!(self.fast.remove(self.tickets[number]), Some(number));
        self.world.items[number].phase = Phase::Gone;
        self.slow.removed(&self.world, number);
    }

    /// An item in this phase, if there is one.
    fn pick(&self, draw: &mut Draw, phase: Phase) -> Option<usize> {
        let items = &self.world.items;
        let there: Vec<usize> = (0..items.len()).filter(|number| items[*number].phase == phase).collect();
        (!there.is_empty()).then(|| draw.pick(&there))
    }

    fn step(&mut self, draw: &mut Draw) {
        // Many names and few of them at a time, so that tenants come, go and are forgotten.
        let tenant = draw.below(4) as u32 + self.world.items.len() as u32 / 40;
        match draw.below(13) {
            0..5 => {
                let seats = 1 + draw.below(self.world.seats.into()) as u32;
                let guess = match self.fast.policy().service(1, 0) {
                    0 => Some(draw.pick(&[0, 1, 1, 7, 50])),
                    _ => draw.pick(&[None, None, Some(0), Some(7), Some(50)]),
                };
                let seats = if draw.once_in(2) { 1 } else { seats };
                self.push(tenant, Ask { seats, guess }, draw.below(20));
            }
            5..8 => self.start(),
            8..10 => {
                if let Some(number) = self.pick(draw, Phase::Runs) {
                    self.end(draw, number);
                }
            }
            10 => {
                if let Some(number) = self.pick(draw, Phase::Waits) {
                    self.remove(number);
                }
            }
            11 => {
                if let Some(number) = self.pick(draw, Phase::Runs) {
                    self.progress(draw, number);
                }
            }
            _ => {
                let priority = draw.below(4) as u32;
                self.fast.set_priority(&tenant, priority);
                self.world.priorities.insert(tenant, priority);
                // What an absent tenant has overdrawn is paid by the weight that it had when it was
                // here.
                if !self.is_by_rounds || self.world.items.iter().all(|item| item.tenant != tenant) {
                    let thousandths = draw.pick(&[500, 1000, 4000]);
                    self.fast.set_weight(&tenant, weight(thousandths)).expect("a weight");
                    self.world.weights.insert(tenant, thousandths);
                }
            }
        }
        let count = |phase| self.world.items.iter().filter(|item| item.phase == phase).count();
        assert_eq!(self.fast.waiting() as usize, count(Phase::Waits));
        assert_eq!(self.fast.running() as usize, count(Phase::Runs));
    }
}

#[test]
fn the_same_calls_get_the_answers_of_a_slow_policy() {
    for (card, settings) in
        POLICIES.iter().flat_map(|card| PolicySettings::variants(card.name).into_iter().map(move |s| (card, s)))
    {
        for seed in 0..120 {
            let _replay = Replay(format!("{} {settings:?}, seed {seed}", card.name));
            let mut draw = Draw::new(seed);
            let seats = 1 + draw.below(6) as u32;
            let fast = Dispatcher::with_policy(unlimited(seats), settings.build());
            let (weights, priorities) = (BTreeMap::new(), BTreeMap::new());
            let world = World { items: Vec::new(), weights, priorities, seats: fast.seats() };
            let slow = slow(&settings);
            let is_by_rounds = card.name == "drr";
            let mut both = Both { fast, slow, world, tickets: Vec::new(), is_by_rounds };
            for _ in 0..400 {
                both.step(&mut draw);
            }
        }
    }
}
