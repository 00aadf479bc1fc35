//! A dispatcher of a server that Python holds. Items are named by numbers; what they are, Python
//! keeps.

use crate::errors::UsageError;
use fairq_sched::units::Weight;
use fairq_sched::work::{self, Ask, Refusal, Settings, Ticket};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Held {
    dispatcher: work::Dispatcher<String, u64>,
    /// Those that wait or run, by number.
    tickets: HashMap<u64, Ticket>,
    pushed: u64,
}

/// Admits items of tenants and starts them in the order of a policy. Costs and times are whole
/// numbers of any unit.
#[pyclass(frozen)]
pub(crate) struct Dispatcher(Mutex<Held>);

/// Number, tenant and how long it waited.
type Begun = (u64, String, u64);

impl Dispatcher {
    fn held(&self) -> MutexGuard<'_, Held> {
        // No call panics while it holds the lock: keys are text.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, number: u64, tell: impl FnOnce(&mut work::Dispatcher<String, u64>, Ticket) -> bool) -> bool {
        let mut held = self.held();
        let Some(&ticket) = held.tickets.get(&number) else { return false };
        let is_over = tell(&mut held.dispatcher, ticket);
        if is_over {
            held.tickets.remove(&number);
        }
        is_over
    }
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
        let dispatcher = made(policy, settings)?;
        Ok(Self(Mutex::new(Held { dispatcher, tickets: HashMap::new(), pushed: 0 })))
    }

    /// Admits an item: its number, or the name of why it is refused and a sentence.
    fn push(&self, tenant: String, now: u64, seats: u32, guess: Option<u64>) -> Result<u64, PyErr> {
        let mut held = self.held();
        held.dispatcher.tell_time(now);
        let number = held.pushed;
        match held.dispatcher.push(&tenant, Ask { seats, guess }, number) {
            Ok(ticket) => {
                held.pushed += 1;
                held.tickets.insert(number, ticket);
                Ok(number)
            }
            Err(refused) => Err(PyErr::new::<pyo3::exceptions::PyLookupError, _>((
                name(refused.why),
                refused.why.to_string(),
            ))),
        }
    }

    /// The item that starts now, if one may.
    fn start(&self, now: u64) -> Option<Begun> {
        let mut held = self.held();
        held.dispatcher.tell_time(now);
        let started = held.dispatcher.start()?;
        Some((started.item, started.tenant, started.waited))
    }

    /// A running item is done and cost `cost`; false if no running item has this number.
    fn complete(&self, number: u64, cost: u64) -> bool {
        self.end(number, |dispatcher, ticket| dispatcher.complete(ticket, cost))
    }

    /// A running item was given up after `cost`.
    fn cancel(&self, number: u64, cost: u64) -> bool {
        self.end(number, |dispatcher, ticket| dispatcher.cancel(ticket, cost))
    }

    /// A running item is over and its cost not known.
    fn give_up(&self, number: u64) -> bool {
        self.end(number, work::Dispatcher::give_up)
    }

    /// Takes out an item that waits; false if none has this number.
    fn remove(&self, number: u64) -> bool {
        self.end(number, |dispatcher, ticket| dispatcher.remove(ticket).is_some())
    }

    /// Takes out all that wait: their numbers in the order of admission.
    fn drain(&self) -> Vec<u64> {
        let mut held = self.held();
        let drained: Vec<u64> = held.dispatcher.drain().into_iter().map(|drained| drained.item).collect();
        for number in &drained {
            held.tickets.remove(number);
        }
        drained
    }

    fn close(&self) {
        self.held().dispatcher.close();
    }

    fn set_weight(&self, tenant: String, weight: f64) -> PyResult<()> {
        let weight = Weight::try_from(weight).map_err(|error| UsageError::new_err(error.to_string()))?;
        self.held().dispatcher.set_weight(&tenant, weight).map_err(|error| match error {})
    }

    /// Items that wait, items that run, seats that are taken, tenants that are known.
    fn counts(&self) -> (u32, u32, u32, usize) {
        let dispatcher = &self.held().dispatcher;
        (dispatcher.waiting(), dispatcher.running(), dispatcher.seats_taken(), dispatcher.tenants())
    }

    /// Of each tenant that is remembered: items that started, how long they waited together, and
    /// the longest of them.
    fn waits(&self) -> Vec<(String, u64, u128, u64)> {
        let held = self.held();
        held.dispatcher.waits().map(|(tenant, it)| (tenant.clone(), it.started, it.sum, it.max)).collect()
    }
}

fn made(policy: &str, settings: Settings) -> PyResult<work::Dispatcher<String, u64>> {
    let _ = policy;
    Ok(work::Dispatcher::new(settings))
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
