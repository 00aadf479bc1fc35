//! Fair shares of a server for tenants whose items have a cost that is known only when they are done.
//!
//! A [`Dispatcher`] admits items, says which one starts next while fewer than D seats are taken, and is told the cost
//! when an item ends. It needs no clock: service is the clock, in whatever unit costs are told (CPU time, bytes, rows).
//! An item that takes k seats is told with the cost of all of them.
//!
//! Source: Goyal, Vin and Cheng, "Start-time Fair Queueing", SIGCOMM 1996 (tags); Jin, Chase and Kaur, "Interposed
//! Proportional Sharing for a Storage Service Utility", SIGMETRICS 2004 (SFQ(D): D items at a time).
//! Departs: the charge at the start is a guess (the one given, else the tenant's mean cost), and becomes the true cost
//! at the end, in the tags of what the tenant has waiting too; items may take several seats.
//! Chosen: a tag is kept for each tenant, not for each item; equal tags start in order of admission; V never goes back;
//! when nothing waits or runs, V becomes the greatest finish tag and all debts are paid.
//! Cost: O(log N) for every call, N tenants; no allocation for a tenant that is known and numbers of items seen before.
//! Bound: while tenants i and j both have items waiting, what they are given differs, over weight, by at most
//! D·((cᵢ+eᵢ)/wᵢ + (cⱼ+eⱼ)/wⱼ) + 2·lead: c the largest cost, e the most by which a guess was too high
//! (work.rs: no_tenant_gains_on_another_beyond_the_bound). Guesses that are too low cost nothing. The order is that of
//! a slow implementation that forgets nothing (work.rs: the_same_calls_get_the_answers_of_a_slow_dispatcher).
//!
//! What has gone wrong in schedulers of this kind, and what becomes of it here:
//!
//! - *Wind-up.* A tenant that always has some work, but less than its share, must not gather credit. A tenant starts
//!   from S = max(V, F) each time an item finds none of its tenant waiting, running ones or not; while it waits it lags
//!   V by at most the refunds of what runs, plus `lead` (work.rs: a_tenant_with_little_work_gathers_no_credit).
//! - *Max-min.* Nobody's share is a rate set aside: what one tenant does not ask goes to the others by weight
//!   (work.rs: shares_are_max_min_of_what_is_asked).
//! - *Wide items.* Tags do not depend on the seats, so neither wide nor narrow items are put off by their width; they
//!   pay through their cost. A wide item whose turn has come, but for which too few seats are free, is not passed
//!   without end: others may pass it while they start less than `lead` ahead of it, and until `lead` of service has
//!   passed it. Then seats are kept free, for as long as what runs takes to end; with `lead` zero at once. An item wider
//!   than D is refused at the door (work.rs: a_wide_item_is_passed_by_no_more_than_the_lead).
//! - *Debts forgotten.* A tenant is forgotten only when it has nothing here and owes nothing, F <= V; forgetting it
//!   cannot be seen from outside, except that its mean cost is forgotten too.
//! - *Lock-out.* A flood fills its own queue: there is a limit for each tenant besides those for all items and for
//!   tenants. A refusal hands the item back. Tenants are told apart by their key; nothing is hashed, so none collide.
//! - *Overflow.* Tags have 128 bits and saturate; when no tenant is left they begin again at zero.
//!
//! What it does not do: a tenant that calls itself by ever new names gets a new tenant's turn for each, as in every fair
//! queueing. Take keys that cost something to get.

mod account;
mod admission;
mod items;

use crate::contract::Slot;
use crate::heap::Heap;
use crate::units::Weight;
use account::{Account, Tag, charge};
pub use admission::{Ask, Refusal, Refused};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
pub use items::Ticket;
use items::{Asked, Items, Line};

/// What a dispatcher may hold, and how it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// D: how many seats there are; at least 1.
    pub seats: u32,
    /// What an item is thought to cost when neither it nor its tenant's past says.
    pub guess: u64,
    /// How much service others (of weight 1) may be given ahead of an item that waits for seats.
    pub lead: u64,
    /// Waiting items at most.
    pub items_max: u32,
    /// Waiting items of a tenant at most.
    pub items_per_tenant_max: u32,
    /// Tenants at most that have items here or owe something.
    pub tenants_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seats: 1, guess: 1, lead: 0, items_max: 10_000, items_per_tenant_max: 100, tenants_max: 100_000 }
    }
}

/// An item that starts now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started<T, I> {
    /// Its name, by which its end is told.
    pub ticket: Ticket,
    /// Whose it is.
    pub tenant: T,
    /// The item.
    pub item: I,
    /// The seats it takes.
    pub seats: u32,
}

struct Tenant<T> {
    key: T,
    weight: Weight,
    account: Account,
    line: Line,
    running: u32,
    /// Eight times the mean cost; `None` before the first item ended.
    mean: Option<u128>,
    /// Service that has passed its first item while seats were lacking.
    passed: u64,
}

/// Admits items of tenants and starts them in fair order.
///
/// ```
/// use fairq_sched::work::{Ask, Dispatcher, Settings};
///
/// let mut dispatcher = Dispatcher::new(Settings::default());
/// for item in ["big 1", "big 2"] {
///     dispatcher.push(&"heavy", Ask::default(), item)?;
/// }
/// dispatcher.push(&"light", Ask::default(), "small")?;
///
/// let first = dispatcher.start().unwrap();
/// assert_eq!(first.item, "big 1");
/// assert!(dispatcher.start().is_none(), "the one seat is taken");
/// // It took much; nobody could know. The next turns are the others'.
/// dispatcher.complete(first.ticket, 1000);
/// assert_eq!(dispatcher.start().unwrap().item, "small");
/// # Ok::<(), fairq_sched::work::Refused<&str>>(())
/// ```
pub struct Dispatcher<T, I> {
    settings: Settings,
    /// The weights that are not 1, of tenants known or not.
    weights: BTreeMap<T, Weight>,
    slots: BTreeMap<T, Slot>,
    tenants: Vec<Tenant<T>>,
    free: Vec<Slot>,
    items: Items<I>,
    /// Tenants with waiting items, by start tag and then by the first item's place in the order of admission.
    heads: Heap<(Tag, u64)>,
    /// Tenants with no item here, by what they owe.
    idle: Heap<Tag>,
    /// V: the greatest start tag of an item that started.
    virtual_time: Tag,
    /// The greatest finish tag.
    horizon: Tag,
    waiting: u32,
    running: u32,
    seats_taken: u32,
}

impl<T, I> fmt::Debug for Dispatcher<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Dispatcher");
        shown.field("tenants", &self.slots.len()).field("waiting", &self.waiting).field("running", &self.running);
        shown.field("seats_taken", &self.seats_taken).finish_non_exhaustive()
    }
}

impl<T: Ord + Clone, I> Dispatcher<T, I> {
    /// Nothing waits.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings: Settings { seats: settings.seats.max(1), ..settings },
            weights: BTreeMap::new(),
            slots: BTreeMap::new(),
            tenants: Vec::new(),
            free: Vec::new(),
            items: Items::new(),
            heads: Heap::new(),
            idle: Heap::new(),
            virtual_time: 0,
            horizon: 0,
            waiting: 0,
            running: 0,
            seats_taken: 0,
        }
    }

    /// Admits an item of `tenant`; its ticket names it until it is done.
    ///
    /// # Errors
    /// The item and why it is not admitted; nothing has changed then.
    pub fn push(&mut self, tenant: &T, ask: Ask, item: I) -> Result<Ticket, Refused<I>> {
        self.forget();
        let seats = ask.seats.max(1);
        let slot = match self.admit(tenant, seats) {
            Ok(slot) => slot,
            Err(why) => return Err(Refused { item, why }),
        };
        let tenant = &mut self.tenants[slot as usize];
        let was_empty = tenant.line.len() == 0;
        let ticket = self.items.push(&mut tenant.line, Asked { tenant: slot, seats, guess: ask.guess }, item);
        self.waiting += 1;
        if was_empty {
            tenant.account.wake(self.virtual_time);
            self.settle(slot);
        }
        Ok(ticket)
    }

    /// The next item to start, if one waits that may: call it after each admission and after each end until it answers
    /// `None`.
    pub fn start(&mut self) -> Option<Started<T, I>> {
        self.forget();
        let slot = self.next()?;
        let tenant = &mut self.tenants[slot as usize];
        let (ticket, asked) = self.items.first(&tenant.line)?;
        let guess = guess(asked.guess, tenant.mean, self.settings.guess);
        self.virtual_time = self.virtual_time.max(tenant.account.finish());
        let charge = tenant.account.start(guess, tenant.weight);
        let item = self.items.start(&mut tenant.line, charge)?;
        tenant.running += 1;
        tenant.passed = 0;
        let key = tenant.key.clone();
        self.waiting -= 1;
        self.running += 1;
        self.seats_taken += asked.seats;
        self.settle(slot);
        Some(Started { ticket, tenant: key, item, seats: asked.seats })
    }

    /// The running item of `ticket` is done and cost `cost`. False, and nothing changes, if no running item has this
    /// ticket.
    pub fn complete(&mut self, ticket: Ticket, cost: u64) -> bool {
        let Some(slot) = self.end(ticket, cost) else { return false };
        let mean = &mut self.tenants[slot as usize].mean;
        *mean = Some(mean.map_or(u128::from(cost) * 8, |mean| mean - mean / 8 + u128::from(cost)));
        true
    }

    /// The running item of `ticket` was given up after `cost`: that is paid, but says nothing of what items cost.
    /// False, and nothing changes, if no running item has this ticket.
    pub fn cancel(&mut self, ticket: Ticket, cost: u64) -> bool {
        self.end(ticket, cost).is_some()
    }

    /// Takes out a waiting item and hands it back; `None` if no waiting item has this ticket.
    pub fn remove(&mut self, ticket: Ticket) -> Option<I> {
        self.forget();
        let slot = self.items.waiting(ticket)?.tenant;
        let tenant = &mut self.tenants[slot as usize];
        if self.items.first(&tenant.line).is_some_and(|(first, _)| first == ticket) {
            tenant.passed = 0;
        }
        let item = self.items.remove(&mut tenant.line, ticket);
        self.waiting -= 1;
        self.settle(slot);
        self.note_idle();
        item
    }

    /// The weight of `tenant` is another for the items that start from now on; 1 if none was ever told. Weights other
    /// than 1 are kept until they are set to 1.
    pub fn set_weight(&mut self, tenant: &T, weight: Weight) {
        if weight == Weight::ONE {
            self.weights.remove(tenant);
        } else {
            self.weights.insert(tenant.clone(), weight);
        }
        if let Some(slot) = self.slots.get(tenant) {
            self.tenants[*slot as usize].weight = weight;
        }
    }

    /// Items that wait.
    #[must_use]
    pub const fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Items that run.
    #[must_use]
    pub const fn running(&self) -> u32 {
        self.running
    }

    /// Seats that are taken.
    #[must_use]
    pub const fn seats_taken(&self) -> u32 {
        self.seats_taken
    }

    /// Tenants that are known: they have an item here, or owe something, or are about to be forgotten.
    #[must_use]
    pub fn tenants(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a tenant that may have one more item waiting.
    fn admit(&mut self, tenant: &T, seats: u32) -> Result<Slot, Refusal> {
        let known = self.slots.get(tenant).copied();
        let line = known.map_or(0, |slot| self.tenants[slot as usize].line.len());
        if seats > self.settings.seats {
            return Err(Refusal::TooWide);
        }
        if line >= self.settings.items_per_tenant_max {
            return Err(Refusal::TenantFull);
        }
        if self.waiting >= self.settings.items_max {
            return Err(Refusal::Full);
        }
        if let Some(slot) = known {
            return Ok(slot);
        }
        if self.slots.len() >= self.settings.tenants_max as usize {
            return Err(Refusal::TooManyTenants);
        }
        let weight = self.weights.get(tenant).copied().unwrap_or_default();
        let (key, account) = (tenant.clone(), Account::default());
        let new = Tenant { key, weight, account, line: Line::EMPTY, running: 0, mean: None, passed: 0 };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.tenants[slot as usize] = new;
                slot
            }
            None => {
                self.tenants.push(new);
                (self.tenants.len() - 1) as Slot
            }
        };
        self.slots.insert(tenant.clone(), slot);
        Ok(slot)
    }

    /// Whose item starts now: the least start tag, or one that may pass it. Looks at a few at most.
    fn next(&mut self) -> Option<Slot> {
        let mut aside = [None; LOOKS];
        let mut found = None;
        // Where those that pass must start before; known once the least does not fit.
        let mut before = None;
        for place in &mut aside {
            let Some((slot, key)) = self.heads.peek() else { break };
            if before.is_some_and(|before| key.0 >= before) {
                break;
            }
            let tenant = &self.tenants[slot as usize];
            let (_, asked) = self.items.first(&tenant.line)?;
            if asked.seats <= self.settings.seats - self.seats_taken {
                found = Some((slot, guess(asked.guess, tenant.mean, self.settings.guess)));
                break;
            }
            let may_be_passed = tenant.passed < self.settings.lead && self.seats_taken < self.settings.seats;
            if before.is_none() && !may_be_passed {
                return None;
            }
            before = before.or(Some(key.0.saturating_add(charge(self.settings.lead, Weight::ONE))));
            self.heads.pop();
            *place = Some((slot, key));
        }
        for (slot, key) in aside.into_iter().flatten() {
            self.heads.push(slot, key);
        }
        if let (Some((slot, _)), Some((_, cost))) = (aside[0], found) {
            let passed = &mut self.tenants[slot as usize].passed;
            *passed = passed.saturating_add(cost.max(1));
        }
        found.map(|(slot, _)| slot)
    }

    /// Frees the seats of a running item and corrects its charge; the slot of its tenant.
    fn end(&mut self, ticket: Ticket, cost: u64) -> Option<Slot> {
        self.forget();
        let (asked, charge) = self.items.end(ticket)?;
        let tenant = &mut self.tenants[asked.tenant as usize];
        tenant.account.correct(charge, cost);
        tenant.running -= 1;
        self.running -= 1;
        self.seats_taken -= asked.seats;
        self.settle(asked.tenant);
        self.note_idle();
        Some(asked.tenant)
    }

    /// Puts a tenant where it belongs after its line or its account changed.
    fn settle(&mut self, slot: Slot) {
        let tenant = &self.tenants[slot as usize];
        let finish = tenant.account.finish();
        self.horizon = self.horizon.max(finish);
        let head = self.items.first(&tenant.line).map(|(ticket, _)| (finish, ticket.serial()));
        let is_idle = head.is_none() && tenant.running == 0;
        self.heads.set(slot, head);
        self.idle.set(slot, is_idle.then_some(finish));
    }

    /// With nothing waiting or running a busy period has ended.
    fn note_idle(&mut self) {
        if self.waiting == 0 && self.running == 0 {
            self.virtual_time = self.horizon;
        }
    }

    /// Forgets a few tenants that have nothing here and owe nothing. A call makes at most one tenant idle, so that two
    /// a call keep up.
    fn forget(&mut self) {
        for _ in 0..2 {
            let Some((slot, finish)) = self.idle.peek() else { break };
            if finish > self.virtual_time {
                break;
            }
            self.idle.pop();
            self.slots.remove(&self.tenants[slot as usize].key);
            self.free.push(slot);
        }
        if self.slots.is_empty() {
            (self.virtual_time, self.horizon) = (0, 0);
        }
    }
}

/// What an item is thought to cost.
fn guess(asked: Option<u64>, mean: Option<u128>, otherwise: u64) -> u64 {
    asked.unwrap_or_else(|| mean.map_or(otherwise, |mean| u64::try_from(mean / 8).unwrap_or(u64::MAX)))
}

/// How many tenants are looked at for one whose first item fits: bounded work for a start.
const LOOKS: usize = 4;

#[cfg(test)]
mod tests {
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
        dispatcher.set_weight(&'B', Weight::from_thousandths(2000).unwrap());
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
        let limits =
            Settings { items_max: 3, items_per_tenant_max: 2, tenants_max: 2, seats: 2, ..Settings::default() };
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
        assert_eq!(alloc::string::ToString::to_string(error), "too many tenants have items here or owe service");
        let shown = alloc::format!("{dispatcher:?}");
        assert_eq!(shown, "Dispatcher { tenants: 2, waiting: 2, running: 1, seats_taken: 1, .. }");
    }

    #[test]
    fn a_tenant_is_forgotten_when_it_owes_nothing_and_no_sooner() {
        let mut dispatcher = Dispatcher::new(Settings { seats: 2, ..Settings::default() });
        let mut run = |tenant| {
            dispatcher.push(&tenant, ask(1), ()).unwrap();
            dispatcher.start().unwrap().ticket
        };
        // One item runs all the time, so that the busy period does not end.
        let (endless, debt) = (run('e'), run('d'));
        dispatcher.complete(debt, 5);
        for turn in 0..10 {
            dispatcher.push(&'a', ask(1), ()).unwrap();
            let ticket = dispatcher.start().unwrap().ticket;
            assert_eq!(dispatcher.virtual_time, turn << 32);
            dispatcher.complete(ticket, 1);
            // The debtor's tag is 5, and V that of the turn.
            assert_eq!(dispatcher.tenants(), if turn < 5 { 3 } else { 2 }, "turn {turn}");
        }
        dispatcher.complete(endless, 1);
        assert_eq!((dispatcher.waiting(), dispatcher.running(), dispatcher.seats_taken()), (0, 0, 0));
        assert!(dispatcher.start().is_none());
        assert_eq!((dispatcher.tenants(), dispatcher.virtual_time), (0, 0), "all owe nothing when all are idle");
    }
}
