//! Slow policies with tags, deficits and counters: nothing is forgotten, nothing is sorted ahead.

use super::slow::{Item, Phase, Slow, World};
use fairq_sched::hash::Hash;
use std::collections::BTreeMap;

/// `cost` over a weight in thousandths, in steps of 2⁻³² as the policies count.
fn tag(cost: u64, thousandths: u32) -> i128 {
    (i128::from(cost.max(1)) << 32) * 1000 / i128::from(thousandths)
}

/// What a tenant was charged: before it last began to wait, from where it began, and since.
#[derive(Clone, Default)]
struct Account {
    before: i128,
    floor: i128,
    charges: BTreeMap<usize, i128>,
    /// Charges on top of all, of whichever items.
    on_top: i128,
}

impl Account {
    fn finish(&self) -> i128 {
        self.before.max(self.floor) + self.charges.values().sum::<i128>() + self.on_top
    }

    fn wake(&mut self, floor: i128) {
        *self = Self { before: self.finish(), floor, charges: BTreeMap::new(), on_top: 0 };
    }

    fn change(&mut self, number: usize, amount: i128) {
        match self.charges.get_mut(&number) {
            Some(charge) => *charge += amount,
            None => self.before += amount,
        }
    }
}

/// Whether the last item that came found none of its tenant waiting.
fn wakes(world: &World) -> bool {
    world.of(world.items[world.items.len() - 1].tenant).count() == 1
}

#[derive(Default)]
pub(super) struct SlowWfq {
    accounts: BTreeMap<u32, Account>,
    /// Weights by which items were charged.
    weights: BTreeMap<usize, u32>,
    virtual_time: i128,
    horizon: i128,
}

impl SlowWfq {
    /// The finish tag of an item that is the first of its tenant.
    fn finish(&self, world: &World, number: usize) -> i128 {
        let item = &world.items[number];
        self.accounts[&item.tenant].finish() + tag(item.guess.unwrap_or(0), world.weight(item.tenant))
    }

    fn look(&mut self, world: &World) {
        self.horizon = self.accounts.values().map(Account::finish).fold(self.horizon, i128::max);
        if world.is_idle() {
            self.virtual_time = self.virtual_time.max(self.horizon);
        }
    }
}

impl Slow for SlowWfq {
    fn first(&mut self, world: &World) -> Option<usize> {
        let firsts = self.accounts.keys().filter_map(|tenant| world.of(*tenant).next());
        firsts.min_by_key(|number| (self.finish(world, *number), *number))
    }

    fn came(&mut self, world: &World) {
        let (tenant, now) = (world.items[world.items.len() - 1].tenant, self.virtual_time);
        let account = self.accounts.entry(tenant).or_default();
        if wakes(world) {
            account.wake(now);
        }
        self.look(world);
    }

    fn started(&mut self, world: &World, number: usize) {
        self.virtual_time = self.virtual_time.max(self.finish(world, number));
        let item = &world.items[number];
        let thousandths = world.weight(item.tenant);
        self.weights.insert(number, thousandths);
        let account = self.accounts.get_mut(&item.tenant).expect("it came");
        account.charges.insert(number, tag(item.charged, thousandths));
        self.look(world);
    }

    fn recharged(&mut self, world: &World, number: usize, before: u64, cost: u64) {
        let (tenant, thousandths) = (world.items[number].tenant, self.weights[&number]);
        let account = self.accounts.get_mut(&tenant).expect("it came");
        account.change(number, tag(cost, thousandths) - tag(before, thousandths));
        self.look(world);
    }

    fn ended(&mut self, world: &World, _: usize) {
        self.look(world);
    }

    fn removed(&mut self, world: &World, _: usize) {
        self.look(world);
    }
}

/// Start-time fair queueing with depth, where no item passes another one.
#[derive(Default)]
pub(super) struct SlowSfq {
    accounts: BTreeMap<u32, Account>,
    /// Weights by which items were charged.
    weights: BTreeMap<usize, u32>,
    virtual_time: i128,
    horizon: i128,
}

impl SlowSfq {
    fn start(&self, world: &World, number: usize) -> i128 {
        self.accounts[&world.items[number].tenant].finish()
    }

    /// The first item of each tenant that has one waiting.
    fn firsts(&self, world: &World) -> Vec<usize> {
        self.accounts.keys().filter_map(|tenant| world.of(*tenant).next()).collect()
    }

    fn look(&mut self, world: &World) {
        self.horizon = self.accounts.values().map(Account::finish).fold(self.horizon, i128::max);
        if world.is_idle() {
            self.virtual_time = self.virtual_time.max(self.horizon);
        }
    }
}

impl Slow for SlowSfq {
    fn first(&mut self, world: &World) -> Option<usize> {
        self.firsts(world).into_iter().min_by_key(|number| (self.start(world, *number), *number))
    }

    fn came(&mut self, world: &World) {
        let (tenant, now) = (world.items[world.items.len() - 1].tenant, self.virtual_time);
        let account = self.accounts.entry(tenant).or_default();
        if wakes(world) {
            account.wake(now);
        }
        self.look(world);
    }

    fn started(&mut self, world: &World, number: usize) {
        self.virtual_time = self.virtual_time.max(self.start(world, number));
        let item = &world.items[number];
        let thousandths = world.weight(item.tenant);
        self.weights.insert(number, thousandths);
        let account = self.accounts.get_mut(&item.tenant).expect("it came");
        account.charges.insert(number, tag(item.charged, thousandths));
        self.look(world);
    }

    fn recharged(&mut self, world: &World, number: usize, before: u64, cost: u64) {
        let (tenant, thousandths) = (world.items[number].tenant, self.weights[&number]);
        let account = self.accounts.get_mut(&tenant).expect("it came");
        account.change(number, tag(cost, thousandths) - tag(before, thousandths));
        self.look(world);
    }

    /// V moves by the service of a tenant that has nothing waiting.
    fn ended(&mut self, world: &World, number: usize) {
        let (item, firsts) = (&world.items[number], self.firsts(world));
        if world.of(item.tenant).next().is_none() {
            let weight = |number: &usize| world.weight(world.items[*number].tenant);
            let waiting: u32 = firsts.iter().map(weight).sum();
            let moved = self.virtual_time + tag(item.charged, world.weight(item.tenant) + waiting);
            let least = firsts.iter().map(|number| self.start(world, *number)).min();
            let turn = firsts.iter().map(|number| tag(world.items[*number].guess.unwrap_or(0), weight(number))).max();
            let end = least.zip(turn).map_or(moved, |(least, turn)| least + turn);
            self.virtual_time = self.virtual_time.max(moved.min(end));
        }
        self.look(world);
    }

    fn removed(&mut self, world: &World, _: usize) {
        self.look(world);
    }
}

/// A tenant in the round.
#[derive(Clone)]
struct Turn {
    tenant: u32,
    /// In thousandths.
    deficit: i128,
    /// The last round in which it has had its turn.
    had: u64,
    /// The last round in which it was given a quantum.
    given: u64,
}

/// The rounds as they are told: each tenant is visited in each round, also one that may start
/// nothing, and one without items that owes something.
#[derive(Clone)]
pub(super) struct SlowDrr {
    quantum: i128,
    turns: Vec<Turn>,
    round: u64,
    current: Option<u32>,
}

impl SlowDrr {
    pub(super) fn new(quantum: u64) -> Self {
        Self { quantum: quantum.into(), turns: Vec::new(), round: 1, current: None }
    }

    fn turn(&mut self, tenant: u32) -> &mut Turn {
        self.turns.iter_mut().find(|turn| turn.tenant == tenant).expect("it came")
    }

    /// Visits tenants until one may start an item.
    fn walk(&mut self, world: &World) -> Option<usize> {
        world.waiting().next()?;
        loop {
            if let Some(tenant) = self.current {
                return world.of(tenant).next();
            }
            let round = self.round;
            let Some(turn) = self.turns.iter_mut().find(|turn| turn.had < round) else {
                self.round += 1;
                continue;
            };
            turn.had = round;
            let quantum = self.quantum * i128::from(world.weight(turn.tenant));
            if let Some(first) = world.of(turn.tenant).next() {
                (turn.deficit, turn.given) = (turn.deficit + quantum, round);
                self.current = (turn.deficit >= need(world, first)).then_some(turn.tenant);
            } else if turn.deficit < 0 {
                (turn.deficit, turn.given) = ((turn.deficit + quantum).min(0), round);
            }
        }
    }

    /// Ends the turn that may not go on.
    fn look(&mut self, world: &World) {
        if let Some(tenant) = self.current {
            let deficit = self.turn(tenant).deficit;
            let goes_on = world.of(tenant).next().is_some_and(|first| deficit >= need(world, first));
            if !goes_on {
                // The turn ends, and the next one is after those of all others.
                self.current = None;
                let turn = self.turn(tenant).clone();
                self.turns.retain(|turn| turn.tenant != tenant);
                self.turns.push(turn);
            }
        }
        if world.is_idle() {
            self.turns.clear();
        }
    }

    fn charge(&mut self, world: &World, number: usize, amount: i128) {
        let turn = self.turn(world.items[number].tenant);
        turn.deficit -= amount * 1000;
        if turn.deficit < 0 {
            // What it owes now no round before has paid.
            turn.given = turn.given.max(turn.had);
        }
        self.look(world);
    }
}

/// What an item is thought to take off a deficit.
fn need(world: &World, number: usize) -> i128 {
    i128::from(world.items[number].guess.unwrap_or(0).max(1)) * 1000
}

impl Slow for SlowDrr {
    fn first(&mut self, world: &World) -> Option<usize> {
        self.clone().walk(world)
    }

    fn came(&mut self, world: &World) {
        let tenant = world.items[world.items.len() - 1].tenant;
        if !wakes(world) {
            return;
        }
        let mut turn = Turn { tenant, deficit: 0, had: self.round, given: self.round };
        if let Some(at) = self.turns.iter().position(|turn| turn.tenant == tenant) {
            let old = self.turns.remove(at);
            // What it owes is paid in this round, too.
            let paid = if old.had < self.round { self.quantum * i128::from(world.weight(tenant)) } else { 0 };
            turn.deficit = if old.deficit < 0 { (old.deficit + paid).min(0) } else { 0 };
        }
        self.turns.push(turn);
    }

    fn started(&mut self, world: &World, number: usize) {
        let mut before = world.clone();
        before.items[number].phase = Phase::Waits;
        assert_eq!(self.walk(&before), Some(number));
        self.charge(world, number, world.items[number].charged.max(1).into());
    }

    fn recharged(&mut self, world: &World, number: usize, before: u64, cost: u64) {
        self.charge(world, number, i128::from(cost.max(1)) - i128::from(before.max(1)));
    }

    fn ended(&mut self, world: &World, _: usize) {
        self.look(world);
    }

    fn removed(&mut self, world: &World, _: usize) {
        self.look(world);
    }
}

pub(super) struct SlowVtc {
    input: u64,
    output: u64,
    accounts: BTreeMap<u32, Account>,
    weights: BTreeMap<usize, u32>,
    /// The tenant that was the last to have something waiting.
    last: Option<u32>,
}

impl SlowVtc {
    pub(super) fn new(input: u32, output: u32) -> Self {
        let (accounts, weights) = (BTreeMap::new(), BTreeMap::new());
        Self { input: input.into(), output: output.into(), accounts, weights, last: None }
    }

    fn counter(&self, tenant: u32) -> i128 {
        self.accounts[&tenant].finish()
    }

    fn tag(&self, item: &Item, cost: u64, thousandths: u32) -> i128 {
        tag(item.size * self.input + cost * self.output, thousandths)
    }

    /// Notes the tenant of an item that waits no more.
    fn left(&mut self, world: &World, number: usize) {
        if world.waiting().next().is_none() {
            self.last = Some(world.items[number].tenant);
        }
    }
}

impl Slow for SlowVtc {
    fn first(&mut self, world: &World) -> Option<usize> {
        let firsts = self.accounts.keys().filter_map(|tenant| world.of(*tenant).next());
        firsts.min_by_key(|number| (self.counter(world.items[*number].tenant), *number))
    }

    fn came(&mut self, world: &World) {
        let new = world.items.len() - 1;
        let tenant = world.items[new].tenant;
        self.accounts.entry(tenant).or_default();
        if wakes(world) {
            let others = world.waiting().filter(|number| *number != new);
            let least = others.map(|number| self.counter(world.items[number].tenant)).min();
            let level = least.or(self.last.map(|last| self.counter(last))).unwrap_or(0);
            self.accounts.get_mut(&tenant).expect("it came").wake(level);
        }
    }

    fn started(&mut self, world: &World, number: usize) {
        let item = &world.items[number];
        let thousandths = world.weight(item.tenant);
        self.weights.insert(number, thousandths);
        let amount = self.tag(item, item.charged, thousandths);
        self.accounts.get_mut(&item.tenant).expect("it came").charges.insert(number, amount);
        self.left(world, number);
    }

    fn recharged(&mut self, world: &World, number: usize, before: u64, cost: u64) {
        let (item, thousandths) = (&world.items[number], self.weights[&number]);
        let more = self.tag(item, cost, thousandths) - self.tag(item, before, thousandths);
        let account = self.accounts.get_mut(&item.tenant).expect("it came");
        if more >= 0 {
            account.on_top += more;
        } else {
            account.change(number, more);
        }
    }

    fn removed(&mut self, world: &World, number: usize) {
        self.left(world, number);
    }
}

#[derive(Clone, Default)]
struct Queue {
    start: i128,
    /// Items that wait, and R when they came.
    waits: Vec<(usize, i128)>,
    running: usize,
}

pub(super) struct SlowApf {
    queues: Vec<Queue>,
    hand: usize,
    progress: i128,
    /// The queue of each item.
    chosen: Vec<usize>,
    /// The numbers of tenants that have an item here.
    numbers: BTreeMap<u32, u64>,
    tenants: u64,
}

impl SlowApf {
    pub(super) fn new(queues: u32, hand: u32) -> Self {
        let queues = vec![Queue::default(); queues as usize];
        let (chosen, numbers) = (Vec::new(), BTreeMap::new());
        Self { queues, hand: hand as usize, progress: 0, chosen, numbers, tenants: 0 }
    }

    /// The hand as one deals cards.
    fn deal(&self, tenant: u64) -> Vec<usize> {
        let mut hash = Hash::new(0).of_word(tenant);
        let mut cards: Vec<usize> = (0..self.queues.len()).collect();
        let deal = |_| {
            let rank = hash % cards.len() as u64;
            hash /= cards.len() as u64;
            cards.remove(rank as usize)
        };
        (0..self.hand).map(deal).collect()
    }

    fn bound(&mut self, queue: usize) {
        let queue = &mut self.queues[queue];
        if let Some((_, arrival)) = queue.waits.first() {
            queue.start = queue.start.max(*arrival);
        }
    }
}

impl Slow for SlowApf {
    fn first(&mut self, world: &World) -> Option<usize> {
        let firsts = self.queues.iter().filter_map(|queue| Some((queue.start, queue.waits.first()?.0)));
        let finish =
            |(start, number): (i128, usize)| (start + tag(world.items[number].guess.unwrap_or(0), 1000), number);
        firsts.map(finish).min().map(|(_, number)| number)
    }

    fn came(&mut self, world: &World) {
        let number = world.items.len() - 1;
        let tenant = world.items[number].tenant;
        let is_new = world.items[..number].iter().all(|item| item.tenant != tenant || item.phase == Phase::Gone);
        if is_new {
            self.numbers.insert(tenant, self.tenants);
            self.tenants += 1;
        }
        let mut hand = self.deal(self.numbers[&tenant]);
        hand.rotate_left(self.chosen.len() % self.hand);
        let seats =
            |queue: usize| self.queues[queue].waits.iter().map(|(item, _)| world.items[*item].seats).sum::<u32>();
        let chosen = hand.into_iter().min_by_key(|queue| seats(*queue)).expect("a hand");
        self.chosen.push(chosen);
        let queue = &mut self.queues[chosen];
        if queue.waits.is_empty() && queue.running == 0 {
            queue.start = self.progress;
        }
        queue.waits.push((number, self.progress));
        self.bound(chosen);
    }

    fn started(&mut self, world: &World, number: usize) {
        let queue = &mut self.queues[self.chosen[number]];
        queue.start += tag(world.items[number].charged, 1000);
        queue.running += 1;
        self.removed(world, number);
    }

    fn recharged(&mut self, _: &World, number: usize, before: u64, cost: u64) {
        self.queues[self.chosen[number]].start += tag(cost, 1000) - tag(before, 1000);
        self.bound(self.chosen[number]);
    }

    fn ended(&mut self, world: &World, number: usize) {
        let active = self.queues.iter().filter(|queue| !queue.waits.is_empty() || queue.running > 0).count();
        self.progress += tag(world.items[number].charged, 1000) / active as i128;
        self.queues[self.chosen[number]].running -= 1;
    }

    fn removed(&mut self, _: &World, number: usize) {
        self.queues[self.chosen[number]].waits.retain(|(item, _)| *item != number);
        self.bound(self.chosen[number]);
    }
}
