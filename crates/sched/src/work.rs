//! Fair shares of a server for tenants whose items have a cost that is known only when they are
//! done.
//!
//! A [`Dispatcher`] admits items, says which one starts next while fewer than D seats are taken,
//! and is told the cost when an item ends. It needs no clock: service is the clock, in whatever
//! unit costs are told (CPU time, bytes, rows). An item that takes k seats is told with the cost of
//! all of them. [`Shared`] is a dispatcher for several threads.
//!
//! Which item starts next is a [`Policy`]: start-time fair queueing with depth
//! ([`sfq_d`]) unless another one of [`policies`] is given. The dispatcher keeps the items, the
//! tenants, the limits and the seats; the policy orders lines of items.
//!
//! Chosen: an item that is not told a guess is thought to cost the tenant's mean, else that of all.
//! Cost: that of the policy, and O(log N) for every call, N tenants; no allocation for a tenant
//! that is known and numbers of items seen before.
//! Memory: at most [`Settings::tenants_max`] tenants and [`Settings::records_max`] records of those
//! that left; at most [`Settings::items_max`] items that wait and one that runs for each seat; the
//! weights and priorities that were told. What was once needed is kept for reuse.
//! Bound: that of the policy ([`Policy::bound`]).
//!
//! What has gone wrong in schedulers of this kind, and what becomes of it here, with the policy
//! that is used unless another one is given:
//!
//! - *Wind-up.* A tenant that always has some work, but less than its share, must not gather
//!   credit. A tenant starts from S = max(V, F) each time an item finds none of its tenant waiting,
//!   running ones or not; while it waits it lags V by at most one guess, the refunds of what runs,
//!   and `lead` (work.rs: a_tenant_with_little_work_gathers_no_credit).
//! - *A stream of new tenants.* Each comes once and starts from S = V. As their service moves V,
//!   those that come later start later: a tenant that waits is not passed without end, but keeps at
//!   least w/(2W+1) of the service beside new ones of weight 1, W being the weight of all that
//!   wait, and none that left is remembered for long (newcomers.rs). Guesses that are too low slow
//!   this down, for V goes no further ahead of an item that waits.
//! - *Max-min.* No tenant's share is a rate set aside: what one tenant does not ask goes to the
//!   others by weight (work.rs: shares_are_max_min_of_what_is_asked).
//! - *Wide items.* Tags do not depend on the seats, so neither wide nor narrow items are put off by
//!   their width; they pay through their cost. Wide items whose turn has come, but for which too
//!   few seats are free, are not passed without end, however many they are. An item passes those
//!   whose turn was before. It starts only if its start tag is less than `lead` above that of the
//!   first of them, and if less than `lead` of service has passed each of them so far, as it was
//!   guessed at the start. Else seats are kept free, for as long as what runs takes to end; with
//!   `lead` zero at once. An item wider than D is refused at the door (work.rs:
//!   no_wide_item_is_passed_by_more_than_the_lead).
//! - *Debts forgotten.* A tenant is forgotten when it has nothing here and owes nothing, F <= V;
//!   that cannot be seen from outside, except that its mean cost goes too if it started none of the
//!   last items ([`Settings::records_max`]). If the table is full, the tenant with nothing here
//!   that owes least is forgotten, and its debt with it: a debt lost is better than a caller
//!   refused.
//! - *Lock-out.* A flood fills its own queue: there is a limit for each tenant besides those for
//!   all items and for tenants. A refusal hands the item back. No item is refused for what others
//!   did before and are done with (newcomers.rs). Tenants are told apart by their key; nothing is
//!   hashed, so none collide.
//! - *A job that ends without a word.* Its seat stays taken until the end is told: `complete`,
//!   `cancel`, or `give_up` if the cost is not known. The [`Seat`] of [`Shared`] is given back when
//!   it is dropped, in a panic too.
//! - *Overflow.* Tags have 128 bits and saturate; when no tenant is left they begin again at zero.
//!
//! What it does not do: a tenant that calls itself by ever new names gets a new tenant's turn for
//! each, as in every fair queueing. Take keys that cost something to get.

mod account;
mod admission;
pub mod amount;
mod items;
pub mod policies;
pub mod policy;
mod records;
pub mod registry;
#[cfg(feature = "std")]
mod shared;
mod tenants;
mod wide;

use crate::contract::Slot;
use crate::heap::Heap;
use crate::slots::entry;
use crate::units::Weight;
use account::Mean;
pub use account::Tag;
pub use admission::{Ask, Refusal, Refused};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
pub use items::Ticket;
use items::{Asked, Items, Running, Waiting};
use policies::sfq_d;
use policy::{Arrival, Head, Line, Policy};
use records::Records;
pub use records::Waited;
#[cfg(feature = "std")]
pub use shared::{Seat, Shared};
use tenants::Tenant;

/// What a dispatcher may hold, and how it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// D: how many seats there are; 0 counts as 1.
    pub seats: u32,
    /// What an item is thought to cost, in the unit of costs, when neither it nor any item before
    /// says.
    pub guess: u64,
    /// How much service others (of weight 1) may be given ahead of an item that waits for seats, in
    /// the unit of costs. Of the policies only `sfq_d` lets others pass.
    pub lead: u64,
    /// Waiting items at most; 0 counts as 1, for an item waits from `push` to `start` even if a
    /// seat is free.
    pub items_max: u32,
    /// Waiting items of a tenant at most, so that one tenant cannot fill the server; 0 counts as 1.
    pub items_per_tenant_max: u32,
    /// Tenants at most that are known at a time, which bounds the memory; 0 counts as 1. A new
    /// tenant is refused only when as many have items here, waiting or running.
    pub tenants_max: u32,
    /// Tenants at most whose waiting times and mean cost are kept after they left; those that
    /// started an item last.
    pub records_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seats: 1,
            guess: 1,
            lead: 0,
            items_max: 10_000,
            items_per_tenant_max: 100,
            tenants_max: 100_000,
            records_max: 10_000,
        }
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
    /// How long it waited, in the unit of [`tell_time`](Dispatcher::tell_time).
    pub waited: u64,
    /// What its policy charges at its start for what it is thought to cost.
    pub charged: u64,
}

/// An item that was taken out before it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drained<T, I> {
    /// Its name, which is of no use any more.
    pub ticket: Ticket,
    /// Whose it was.
    pub tenant: T,
    /// The item, handed back.
    pub item: I,
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
/// // It took more than was given. The next turns are those of the other tenant.
/// dispatcher.complete(first.ticket, 1000);
/// assert_eq!(dispatcher.start().unwrap().item, "small");
/// # Ok::<(), fairq_sched::work::Refused<&str>>(())
/// ```
///
/// Keys are compared with `Ord`, which must not panic: the dispatcher would be left half changed.
pub struct Dispatcher<T, I> {
    settings: Settings,
    /// The weights that are not 1, of tenants known or not.
    weights: BTreeMap<T, Weight>,
    /// The priorities that are not 0.
    priorities: BTreeMap<T, u32>,
    slots: BTreeMap<T, Slot>,
    tenants: Vec<Tenant<T>>,
    free: Vec<Slot>,
    /// How many tenants ever came.
    came: u64,
    items: Items<I>,
    lines: Vec<Waiting>,
    policy: Box<dyn Policy>,
    /// Tenants with no item here, by what they owe.
    idle: Heap<Tag>,
    records: Records<T>,
    /// What an item of a tenant of which nothing is known costs on average.
    mean: Mean,
    waiting: u32,
    running: u32,
    seats_taken: u32,
    /// The caller's time.
    now: u64,
    is_closed: bool,
}

impl<T, I> fmt::Debug for Dispatcher<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Dispatcher");
        shown.field("tenants", &self.slots.len()).field("waiting", &self.waiting).field("running", &self.running);
        shown.field("seats_taken", &self.seats_taken).finish_non_exhaustive()
    }
}

impl<T: Ord + Clone, I> Dispatcher<T, I> {
    /// Nothing waits. Items start in the order of start-time fair queueing with depth
    /// ([`sfq_d`]).
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::with_policy(settings, Box::new(sfq_d::SfqD::new(&sfq_d::Settings::default())))
    }

    /// Nothing waits. Items start in the order of `policy`, which has no item yet.
    ///
    /// ```
    /// use fairq_sched::work::registry::PolicySettings;
    /// use fairq_sched::work::{Ask, Dispatcher, Settings};
    ///
    /// let policy = PolicySettings::by_name("round_robin").unwrap().build();
    /// let mut dispatcher = Dispatcher::with_policy(Settings::default(), policy);
    /// for (tenant, item) in [("heavy", "big 1"), ("heavy", "big 2"), ("light", "small")] {
    ///     dispatcher.push(&tenant, Ask::default(), item).expect("there is room");
    /// }
    /// let mut order = Vec::new();
    /// while let Some(started) = dispatcher.start() {
    ///     order.push(started.item);
    ///     dispatcher.complete(started.ticket, 1);
    /// }
    /// assert_eq!(order, ["big 1", "small", "big 2"]);
    /// ```
    #[must_use]
    pub fn with_policy(settings: Settings, mut policy: Box<dyn Policy>) -> Self {
        let depth = policy.depth().unwrap_or(u32::MAX);
        let seats = settings.seats.min(depth).max(1);
        policy.begin(seats, settings.lead);
        Self {
            weights: BTreeMap::new(),
            priorities: BTreeMap::new(),
            slots: BTreeMap::new(),
            tenants: Vec::new(),
            free: Vec::new(),
            came: 0,
            items: Items::new(),
            lines: Vec::new(),
            policy,
            idle: Heap::new(),
            records: Records::new(settings.records_max),
            mean: Mean::default(),
            waiting: 0,
            running: 0,
            seats_taken: 0,
            now: 0,
            is_closed: false,
            settings: Settings {
                seats,
                items_max: settings.items_max.max(1),
                items_per_tenant_max: settings.items_per_tenant_max.max(1),
                tenants_max: settings.tenants_max.max(1),
                ..settings
            },
        }
    }

    /// It is `now` for what is admitted and started from here on, in any unit, from any beginning;
    /// only the waiting times go by it. A time before one that was told is taken for that one.
    /// Without it all waiting times are 0.
    pub fn tell_time(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// Admits an item of `tenant`; its ticket names it until it is done.
    ///
    /// # Errors
    /// The item and why it is not admitted ([`Refusal`]); nothing has changed then.
    pub fn push(&mut self, tenant: &T, ask: Ask, item: I) -> Result<Ticket, Refused<I>> {
        self.push_sized(tenant, ask, 0, item)
    }

    /// As [`push`](Self::push), for an item of which a part of the service is known at the door and
    /// is no part of its cost: the tokens of a prompt, say. Of the policies only `vtc` counts it.
    ///
    /// # Errors
    /// As `push`.
    pub fn push_sized(&mut self, tenant: &T, ask: Ask, size: u64, item: I) -> Result<Ticket, Refused<I>> {
        self.forget();
        let seats = ask.seats.max(1);
        let slot = match self.admit(tenant, seats) {
            Ok(slot) => slot,
            Err(why) => return Err(Refused { item, why }),
        };
        let line = self.policy.line(&self.arrival(slot, seats));
        let waiting = entry(&mut self.lines, line, Waiting::EMPTY);
        let was_empty = waiting.len() == 0;
        let arrival = self.policy.virtual_time();
        let asked = Asked { tenant: slot, line, seats, guess: ask.guess, size, arrival, since: self.now };
        let ticket = self.items.push(waiting, asked, item);
        self.tenants[slot as usize].waiting += 1;
        self.waiting += 1;
        if was_empty {
            self.policy.wake(line);
            self.settle(line);
        }
        self.idle.remove(slot);
        Ok(ticket)
    }

    /// The next item to start, if one waits that may: call it after each admission and after each
    /// end until it answers `None`.
    pub fn start(&mut self) -> Option<Started<T, I>> {
        self.forget();
        let free = self.settings.seats - self.seats_taken;
        if free == 0 {
            return None;
        }
        let line = self.policy.next(free)?;
        // A policy of another crate may be wrong; the seats are not.
        let head = self.head(line).filter(|head| head.seats <= free)?;
        let (ticket, asked) = self.items.first(self.lines.get(line as usize)?)?;
        let charge = self.policy.started(line, &head);
        self.policy.left(line, &self.arrival(asked.tenant, asked.seats));
        let item = self.items.start(&mut self.lines[line as usize], Running { guess: head.guess, charge })?;
        let tenant = &mut self.tenants[asked.tenant as usize];
        tenant.running += 1;
        tenant.waiting -= 1;
        let key = tenant.key.clone();
        let waited = self.now - asked.since;
        tenant.record = self.records.start(&key, tenant.record, waited);
        self.waiting -= 1;
        self.running += 1;
        self.seats_taken += asked.seats;
        self.settle(line);
        Some(Started { ticket, tenant: key, item, seats: asked.seats, waited, charged: charge.guess })
    }

    /// The running item of `ticket` has cost `cost` up to now: what is above its charge is charged
    /// at once and not only at its end. False, and nothing changes, if no running item has this
    /// ticket.
    pub fn progress(&mut self, ticket: Ticket, cost: u64) -> bool {
        let Some((asked, running)) = self.items.running(ticket) else { return false };
        if cost > running.charge.guess {
            self.policy.recharge(asked.line, &mut running.charge, cost);
            self.settle(asked.line);
        }
        true
    }

    /// The running item of `ticket` is done and cost `cost`. False, and nothing changes, if no
    /// running item has this ticket.
    pub fn complete(&mut self, ticket: Ticket, cost: u64) -> bool {
        self.end(ticket, Some(cost), true)
    }

    /// The running item of `ticket` was given up after `cost`: that is paid, but says nothing of
    /// what items cost. False, and nothing changes, if no running item has this ticket.
    pub fn cancel(&mut self, ticket: Ticket, cost: u64) -> bool {
        self.end(ticket, Some(cost), false)
    }

    /// The running item of `ticket` is over and its cost is not known, after a panic for example:
    /// what was guessed at its start is paid. False, and nothing changes, if no running item has
    /// this ticket.
    pub fn give_up(&mut self, ticket: Ticket) -> bool {
        self.end(ticket, None, false)
    }

    /// Takes out a waiting item and hands it back; `None` if no waiting item has this ticket.
    pub fn remove(&mut self, ticket: Ticket) -> Option<I> {
        self.forget();
        let asked = self.items.waiting(ticket)?;
        let item = self.take_out(ticket, asked);
        self.settle(asked.line);
        self.note_idle(asked.tenant);
        item
    }

    /// Removes all that waits, in the order of admission, so that the callers that wait for it can
    /// be told.
    pub fn drain(&mut self) -> Vec<Drained<T, I>> {
        let mut drained = Vec::new();
        for line in 0..self.lines.len() {
            while let Some((ticket, asked)) = self.items.first(&self.lines[line]) {
                let tenant = self.tenants[asked.tenant as usize].key.clone();
                drained.extend(self.take_out(ticket, asked).map(|item| Drained { ticket, tenant, item }));
                self.settle(asked.line);
                self.note_idle(asked.tenant);
            }
        }
        drained.sort_unstable_by_key(|drained| drained.ticket.serial());
        drained
    }

    /// No item is admitted any more. Those that wait still start, unless [`drain`](Self::drain)
    /// takes them out; those that run end as ever. [`is_finished`](Self::is_finished) says when all
    /// is over. There is no way back.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether it was closed.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether it was closed, and nothing waits or runs.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.is_closed && self.waiting == 0 && self.running == 0
    }

    /// Sets the weight of `tenant` for the items that start from now on: a plain number, `3` or
    /// `0.5`, or a [`Weight`]; 1 if none was ever set. Weights other than 1 are kept until they are
    /// set to 1.
    ///
    /// # Errors
    /// If the number is not a weight: says what is allowed. Nothing has changed then.
    pub fn set_weight<W: TryInto<Weight>>(&mut self, tenant: &T, weight: W) -> Result<(), W::Error> {
        let weight = weight.try_into()?;
        if weight == Weight::ONE {
            self.weights.remove(tenant);
        } else {
            self.weights.insert(tenant.clone(), weight);
        }
        if let Some(&slot) = self.slots.get(tenant) {
            self.tenants[slot as usize].weight = weight;
            // A policy with other lines than those of tenants goes by neither weight nor priority.
            self.settle(slot);
        }
        Ok(())
    }

    /// Sets the priority of `tenant` for the items that start from now on; 0 if none was ever set.
    /// Of the policies only `strict_priority` goes by it: the greatest is first.
    pub fn set_priority(&mut self, tenant: &T, priority: u32) {
        if priority == 0 {
            self.priorities.remove(tenant);
        } else {
            self.priorities.insert(tenant.clone(), priority);
        }
        if let Some(&slot) = self.slots.get(tenant) {
            self.tenants[slot as usize].priority = priority;
            // A policy with other lines than those of tenants goes by neither weight nor priority.
            self.settle(slot);
        }
    }

    /// The policy, for what it says of itself.
    #[must_use]
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    /// How many seats there are: those of the settings, or the policy's depth if that is less.
    #[must_use]
    pub const fn seats(&self) -> u32 {
        self.settings.seats
    }

    /// How long the items of `tenant` waited that have started, as far back as its record is kept;
    /// `None` if it has none.
    #[must_use]
    pub fn waited(&self, tenant: &T) -> Option<Waited> {
        self.records.get(tenant)
    }

    /// How long the items of all tenants waited that have ever started.
    #[must_use]
    pub const fn waited_all(&self) -> Waited {
        self.records.all
    }

    /// The tenants whose records are kept, in order of their keys, and how long their items waited.
    pub fn waits(&self) -> impl Iterator<Item = (&T, Waited)> {
        self.records.iter()
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

    /// Items of `tenant` that wait.
    #[must_use]
    pub fn waiting_of(&self, tenant: &T) -> u32 {
        self.slots.get(tenant).map_or(0, |slot| self.tenants[*slot as usize].waiting)
    }

    /// Items of `tenant` that run.
    #[must_use]
    pub fn running_of(&self, tenant: &T) -> u32 {
        self.slots.get(tenant).map_or(0, |slot| self.tenants[*slot as usize].running)
    }

    /// Tenants that are known: they have an item here, or owe something, or are about to be
    /// forgotten.
    #[must_use]
    pub fn tenants(&self) -> usize {
        self.slots.len()
    }

    /// What an item of `tenant` is thought to cost.
    fn guess(&self, asked: Asked, tenant: &Tenant<T>) -> u64 {
        asked.guess.or(tenant.mean.get()).or(self.mean.get()).unwrap_or(self.settings.guess)
    }

    /// Frees the seats of a running item and corrects its charge, if its cost is known.
    fn end(&mut self, ticket: Ticket, cost: Option<u64>, is_typical: bool) -> bool {
        self.forget();
        let Some((asked, mut running)) = self.items.end(ticket) else { return false };
        let Running { guess, charge } = &mut running;
        let served = cost.unwrap_or(charge.guess.max(*guess));
        self.policy.recharge(asked.line, charge, served);
        let tenant = &mut self.tenants[asked.tenant as usize];
        if is_typical {
            tenant.mean.note(served);
            self.mean.note(served);
        }
        tenant.running -= 1;
        let weight = tenant.weight;
        self.running -= 1;
        self.seats_taken -= asked.seats;
        self.settle(asked.line);
        self.policy.ended(asked.line, charge, weight);
        self.note_idle(asked.tenant);
        true
    }

    /// What a policy is told of an item that comes or leaves.
    fn arrival(&self, tenant: Slot, seats: u32) -> Arrival {
        Arrival { tenant, tenant_number: self.tenants[tenant as usize].number, seats }
    }

    /// The first item of `line`.
    fn head(&self, line: Line) -> Option<Head> {
        let (ticket, asked) = self.items.first(self.lines.get(line as usize)?)?;
        let tenant = &self.tenants[asked.tenant as usize];
        Some(Head {
            serial: ticket.serial(),
            seats: asked.seats,
            guess: self.guess(asked, tenant),
            told: asked.guess,
            size: asked.size,
            weight: tenant.weight,
            priority: tenant.priority,
            arrival: asked.arrival,
        })
    }

    /// Tells the policy of the first item of `line`, after the line or what is charged to it
    /// changed.
    fn settle(&mut self, line: Line) {
        let head = self.head(line);
        self.policy.head(line, head.as_ref());
    }

    /// Takes an item that waits out of its line.
    fn take_out(&mut self, ticket: Ticket, asked: Asked) -> Option<I> {
        let item = self.items.remove(&mut self.lines[asked.line as usize], ticket);
        self.policy.left(asked.line, &self.arrival(asked.tenant, asked.seats));
        self.tenants[asked.tenant as usize].waiting -= 1;
        self.waiting -= 1;
        item
    }
}

#[cfg(test)]
mod tests;
