//! A dispatcher of a server that Python holds. Items are numbers; what they stand for, Python
//! keeps.

use crate::errors::UsageError;
use fairq_sched::units::Weight;
use fairq_sched::work::{self, Ask, Refusal, Settings, Ticket};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Admits items of tenants and starts them in the order of a policy. Costs and times are whole
/// numbers of any unit. An item is a number of the caller's.
#[pyclass(frozen)]
pub(crate) struct Dispatcher(Mutex<work::Dispatcher<String, u64>>);

/// A ticket, as Python holds it.
type Named = (u32, u64);

/// Ticket, item, tenant and how long it waited.
type Begun = (Named, u64, String, u64);

impl Dispatcher {
    fn held(&self) -> MutexGuard<'_, work::Dispatcher<String, u64>> {
        // No call panics while it holds the lock: keys are text.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn ticket((index, serial): Named) -> Ticket {
    Ticket::from_parts(index, serial)
}

#[pymethods]
impl Dispatcher {
    #[new]
    fn new(
        policy: &str,
        seats: u32,
        items_max: u32,
        items_per_tenant_max: u32,
        tenants_max: u32,
        guess: u64,
        lead: u64,
    ) -> PyResult<Self> {
        let records_max = tenants_max;
        let settings = Settings { seats, guess, lead, items_max, items_per_tenant_max, tenants_max, records_max };
        let policy = fairq_text::policy(policy).map_err(UsageError::new_err)?;
        Ok(Self(Mutex::new(work::Dispatcher::with_policy(settings, policy))))
    }

    /// Admits an item: its ticket. A `LookupError` has the name of why it is refused, and a
    /// sentence.
    fn push(
        &self,
        tenant: String,
        now: u64,
        seats: u32,
        guess: Option<u64>,
        size: u64,
        item: u64,
    ) -> PyResult<Named> {
        let mut held = self.held();
        held.tell_time(now);
        let admitted = held.push_sized(&tenant, Ask { seats, guess }, size, item);
        admitted.map(Ticket::to_parts).map_err(|refused| {
            let said = (name(refused.why), refused.why.to_string());
            PyErr::new::<pyo3::exceptions::PyLookupError, _>(said)
        })
    }

    /// The item that starts now, if one may.
    fn start(&self, now: u64) -> Option<Begun> {
        let mut held = self.held();
        held.tell_time(now);
        let started = held.start()?;
        Some((started.ticket.to_parts(), started.item, started.tenant, started.waited))
    }

    /// A running item has cost `cost` so far; false if no running item has this ticket.
    fn progress(&self, named: Named, cost: u64) -> bool {
        self.held().progress(ticket(named), cost)
    }

    /// A running item is done and cost `cost`; false if no running item has this ticket.
    fn complete(&self, named: Named, cost: u64) -> bool {
        self.held().complete(ticket(named), cost)
    }

    /// A running item was given up after `cost`.
    fn cancel(&self, named: Named, cost: u64) -> bool {
        self.held().cancel(ticket(named), cost)
    }

    /// Takes out an item that waits; false if none has this ticket.
    fn remove(&self, named: Named) -> bool {
        self.held().remove(ticket(named)).is_some()
    }

    /// Takes out all items that wait, in the order of admission.
    fn drain(&self) -> Vec<u64> {
        self.held().drain().into_iter().map(|drained| drained.item).collect()
    }

    fn close(&self) {
        self.held().close();
    }

    fn set_weight(&self, tenant: String, weight: f64) -> PyResult<()> {
        let weight = Weight::try_from(weight).map_err(|error| UsageError::new_err(error.to_string()))?;
        self.held().set_weight(&tenant, weight).map_err(|error| match error {})
    }

    fn set_priority(&self, tenant: String, priority: u32) {
        self.held().set_priority(&tenant, priority);
    }

    /// Items that wait, items that run, seats that are taken, tenants that are known.
    fn counts(&self) -> (u32, u32, u32, usize) {
        let dispatcher = self.held();
        (dispatcher.waiting(), dispatcher.running(), dispatcher.seats_taken(), dispatcher.tenants())
    }

    /// Of each tenant that is remembered: items that started, how long they waited together, and
    /// the longest of them.
    fn waits(&self) -> Vec<(String, u64, u128, u64)> {
        let held = self.held();
        held.waits().map(|(tenant, it)| (tenant.clone(), it.started, it.sum, it.max)).collect()
    }
}

const fn name(why: Refusal) -> &'static str {
    match why {
        Refusal::TooWide => "too_wide",
        Refusal::Full => "full",
        Refusal::TenantFull => "tenant_full",
        Refusal::TooManyTenants => "too_many_tenants",
        Refusal::Closed => "closed",
    }
}
