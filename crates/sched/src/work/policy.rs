//! The order in which the items of a dispatcher start: the contract of a policy.
//!
//! A [`Dispatcher`](super::Dispatcher) keeps the items, the tenants, the limits and the seats. It
//! keeps the items in *lines*, first come, first started. Its policy says which line an item joins,
//! and which line's first item starts next. A policy owns no item and asks no clock.

use super::account::Tag;
use crate::contract::Slot;
use crate::units::Weight;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

/// A dense number of a line of waiting items. Most policies give each tenant a line, which has the
/// number of the tenant.
pub type Line = Slot;

/// An item that joins a line or leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The slot of its tenant: a dense number, which another tenant gets after this one is
    /// forgotten.
    pub tenant: Slot,
    /// The number of its tenant among all that ever came; no two tenants have the same.
    pub tenant_number: u64,
    /// The seats that it takes, at least 1.
    pub seats: u32,
}

/// The first item of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its place in the order of admission, in which no two items are equal.
    pub serial: u64,
    /// The seats that it takes, at least 1.
    pub seats: u32,
    /// What it is thought to cost: what was told, else a mean of costs, else a setting.
    pub guess: u64,
    /// What it costs, as it was told at the door; `None` if it was not.
    pub told: Option<u64>,
    /// The part of its service that is known at the door, beside its cost: the tokens of a prompt.
    pub size: u64,
    /// The weight of its tenant.
    pub weight: Weight,
    /// The priority of its tenant; greater is before.
    pub priority: u32,
    /// The virtual time at its admission.
    pub arrival: Tag,
}

/// What was charged for an item that runs. The dispatcher keeps it until the item ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The cost that is charged so far: a guess, or what it has cost up to now.
    pub guess: u64,
    /// The size of the item.
    pub size: u64,
    /// The weight at its start.
    pub weight: Weight,
    /// A mark that its policy puts on it.
    pub mark: u64,
}

impl Charge {
    /// The charge for `head` at `guess`.
    #[must_use]
    pub const fn new(head: &Head, guess: u64) -> Self {
        Self { guess, size: head.size, weight: head.weight, mark: 0 }
    }
}

/// One of two tenants whose service is compared: what is the largest of it in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its weight.
    pub weight: Weight,
    /// The largest service of an item, as [`Policy::service`] counts it.
    pub service_max: u64,
    /// The largest guess of its items, started or not. One that is not told is a mean of costs, or
    /// [`Settings::guess`](super::Settings::guess).
    pub guess_max: u64,
    /// The most by which what was charged at a start
    /// ([`Started::charged`](super::Started::charged)) was above the cost, counted as the service
    /// is.
    pub over_max: u64,
}

/// What a bound depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// D: how many seats there are.
    pub seats: u32,
    /// [`Settings::lead`](super::Settings::lead).
    pub lead: u64,
    /// The greatest [`Side::guess_max`] over weight of any tenant, rounded up.
    pub turn_max: u64,
    /// The greatest [`Side::over_max`] over weight of any tenant, rounded up.
    pub over_max: u64,
    /// The two tenants.
    pub sides: [Side; 2],
}

impl Facts {
    /// D·((c₀+e₀)/w₀ + (c₁+e₁)/w₁), rounded up: what two tenants differ by for the items that run,
    /// c being the largest cost and e the most by which a guess was above the cost.
    #[must_use]
    pub fn of_running(&self) -> u128 {
        let side = |side: &Side| {
            let most = u128::from(side.service_max.max(1)) + u128::from(side.over_max);
            per_weight(most * u128::from(self.seats), side.weight)
        };
        self.sides.iter().map(side).sum()
    }
}

/// `service` over `weight`, rounded up.
#[must_use]
pub fn per_weight(service: u128, weight: Weight) -> u128 {
    (service * u128::from(Weight::ONE.thousandths())).div_ceil(u128::from(weight.thousandths()))
}

/// Which item starts next.
///
/// The dispatcher calls, in this order: at an admission [`line`](Self::line), then
/// [`wake`](Self::wake) and [`head`](Self::head) if nothing waited in that line; at a start
/// [`next`](Self::next), [`started`](Self::started), [`left`](Self::left), `head`; while an item
/// runs [`recharge`](Self::recharge); at an end `recharge`, `head`, [`ended`](Self::ended); at a
/// removal `left`, `head`; [`idle`](Self::idle) whenever nothing waits or runs.
pub trait Policy: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Told once, before all else: the seats, and the service that may pass an item that waits for
    /// seats. A policy that lets none pass has no use for it.
    fn begin(&mut self, _seats: u32, _lead: u64) {}

    /// How many seats may be taken at most, if that is less than there are.
    fn depth(&self) -> Option<u32> {
        None
    }

    /// The line that an item joins.
    fn line(&mut self, arrival: &Arrival) -> Line {
        arrival.tenant
    }

    /// An item of `line` does not wait any more: it starts or was taken out.
    fn left(&mut self, _line: Line, _arrival: &Arrival) {}

    /// An item joins `line`, in which nothing waited.
    fn wake(&mut self, _line: Line) {}

    /// The first item of `line` is this one, or none. Told again when what is known of it changes.
    fn head(&mut self, line: Line, head: Option<&Head>);

    /// The line whose first item starts now, while `free` seats are free: at least one. The line is
    /// not empty and its first item fits. `None`: none starts, and no state was changed.
    fn next(&mut self, free: u32) -> Option<Line>;

    /// The first item of `line` starts, which `next` has just answered.
    fn started(&mut self, _line: Line, head: &Head) -> Charge {
        Charge::new(head, head.guess)
    }

    /// An item of `line` that runs is known to have cost `cost`, so far or in all; `charge` is
    /// brought up to date.
    fn recharge(&mut self, _line: Line, charge: &mut Charge, cost: u64) {
        charge.guess = cost;
    }

    /// An item of `line` has ended, which is charged already; its tenant has this weight by now.
    fn ended(&mut self, _line: Line, _charge: &Charge, _weight: Weight) {}

    /// Nothing waits or runs: a busy period has ended.
    fn idle(&mut self) {}

    /// The virtual time at which `tenant`, which has no item here, owes no more.
    fn debt(&self, _tenant: Slot) -> Tag {
        0
    }

    /// The virtual time. It never goes back, but for [`reset`](Self::reset).
    fn virtual_time(&self) -> Tag {
        0
    }

    /// `tenant` has no item here and is forgotten, with what it owes.
    fn forget(&mut self, _tenant: Slot) {}

    /// No tenant is known: virtual time may begin again.
    fn reset(&mut self) {}

    /// How the policy counts the service of an item: most count its cost.
    fn service(&self, _size: u64, cost: u64) -> u64 {
        cost
    }

    /// The most by which the service of two tenants, over weight, can differ while items of both
    /// wait: the gain of one on the other from any instant to any later one. The whole service of
    /// an item counts from its start. `None` where nothing is proven.
    fn bound(&self, _facts: &Facts) -> Option<u128> {
        None
    }
}
