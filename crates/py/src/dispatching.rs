//! A dispatcher of a server that Python holds.
//!
//! Python may stop between any two of its steps: a signal raises there, and the garbage collector
//! ends generators that hold seats. So each call does a whole step of a request, and what a seat
//! must know for giving itself back is set on it before the call returns. No call runs Python under
//! the lock.

use crate::errors::UsageError;
use fairq_sched::units::Weight;
use fairq_sched::work::amount::Unit;
use fairq_sched::work::{self, Ask, Refusal, Settings, Started, Ticket};
use pyo3::exceptions::{PyLookupError, PyRuntimeError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Admits items of tenants and starts them in the order of a policy. Costs and times are whole
/// steps. An item is what a worker is to do, or the seat of a request that waits for it.
#[pyclass(frozen)]
pub(crate) struct Dispatcher(Mutex<Held>);

struct Held {
    dispatcher: work::Dispatcher<String, Py<PyAny>>,
    /// Whether workers take items, or requests their own seats; settled by the first call.
    has_workers: Option<bool>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    admitted: u64,
    completed: u64,
    failed: u64,
    forsaken: u64,
    refused: BTreeMap<&'static str, u64>,
    /// In steps.
    cost: u128,
}

/// A ticket, as Python holds it.
type Named = (u32, u64);

/// Of a tenant: items that started, how long they waited together, the longest.
type Waits = (String, u64, u128, u64);

/// What an item asks: seats, guess, size.
type Asked = (u32, Option<u64>, u64);

const fn ticket((index, serial): Named) -> Ticket {
    Ticket::from_parts(index, serial)
}

impl Held {
    fn use_it(&mut self, has_workers: bool) -> PyResult<()> {
        if self.has_workers.is_some_and(|has| has != has_workers) {
            let used = if has_workers { "gives seats to those that ask" } else { "gives items to workers" };
            return Err(UsageError::new_err(format!("this dispatcher {used}; make another one for the other use")));
        }
        self.has_workers = Some(has_workers);
        Ok(())
    }

    fn push(&mut self, tenant: &String, now: u64, asked: Asked, item: Py<PyAny>, has_workers: bool) -> PyResult<Named> {
        let before = self.has_workers;
        self.use_it(has_workers)?;
        let (seats, guess, size) = asked;
        self.dispatcher.tell_time(now);
        match self.dispatcher.push_sized(tenant, Ask { seats, guess }, size, item) {
            Ok(ticket) => {
                self.counts.admitted += 1;
                Ok(ticket.to_parts())
            }
            Err(refused) => {
                self.has_workers = before;
                *self.counts.refused.entry(name(refused.why)).or_default() += 1;
                Err(PyLookupError::new_err((name(refused.why), refused.why.to_string())))
            }
        }
    }

    fn start(&mut self, now: u64) -> Option<Started<String, Py<PyAny>>> {
        self.dispatcher.tell_time(now);
        self.dispatcher.start()
    }
}

impl Dispatcher {
    fn held(&self) -> MutexGuard<'_, Held> {
        // No call panics while it holds the lock: keys are text.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request of a seat that has just begun.
    fn tell(seat: &Bound<'_, PyAny>, started: &Started<String, Py<PyAny>>, now: u64) -> PyResult<()> {
        seat.setattr("_began", now)?;
        seat.setattr("_waited", started.waited)?;
        seat.setattr("_ticket", started.ticket.to_parts())?;
        seat.setattr("_runs", true)
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
        steps: u64,
    ) -> PyResult<Self> {
        let (guess, lead, records_max) = (steps, 0, tenants_max);
        let settings = Settings { seats, guess, lead, items_max, items_per_tenant_max, tenants_max, records_max };
        let policy = fairq_text::policy_settings(policy).map_err(UsageError::new_err)?;
        let unit = Unit { number: steps as f64, second: steps as f64 };
        let dispatcher = work::Dispatcher::with_policy(settings, policy.in_steps(unit).build());
        Ok(Self(Mutex::new(Held { dispatcher, has_workers: None, counts: Counts::default() })))
    }

    /// Admits an item for workers. A `LookupError` has the name of why it is refused, and a
    /// sentence.
    fn push(&self, tenant: String, now: u64, asked: Asked, item: Py<PyAny>) -> PyResult<()> {
        self.held().push(&tenant, now, asked, item, true).map(drop)
    }

    /// Admits the request of a seat, as `push`; and then gives the seats that are free. The seat of
    /// a request that begins with this call is not told.
    fn ask(&self, tenant: String, now: u64, asked: Asked, seat: &Bound<'_, PyAny>) -> PyResult<()> {
        let named = self.held().push(&tenant, now, asked, seat.clone().unbind(), false)?;
        seat.setattr("_ticket", named)?;
        self.grant(seat.py(), now, Some(seat))
    }

    /// Gives the seats that are free to the requests that wait, and tells each, but for `asking`.
    #[pyo3(signature = (now, asking=None))]
    fn grant(&self, py: Python<'_>, now: u64, asking: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        loop {
            let Some(started) = self.held().start(now) else { return Ok(()) };
            let seat = started.item.bind(py);
            Self::tell(seat, &started, now)?;
            if asking.is_some_and(|asking| asking.is(seat)) {
                continue;
            }
            match seat.getattr("_tell")?.call0() {
                // Its event loop was closed: no task takes the seat.
                Err(error) if error.is_instance_of::<PyRuntimeError>(py) => {
                    self.forsake(started.ticket.to_parts());
                    seat.setattr("_ticket", py.None())?;
                }
                told => drop(told?),
            }
        }
    }

    /// The next item for a worker goes to `seat`, if one may start.
    fn take(&self, now: u64, seat: &Bound<'_, PyAny>) -> PyResult<bool> {
        let started = {
            let mut held = self.held();
            held.use_it(true)?;
            held.start(now)
        };
        let Some(started) = started else { return Ok(false) };
        seat.setattr("item", started.item.bind(seat.py()))?;
        seat.setattr("tenant", &started.tenant)?;
        Self::tell(seat, &started, now)?;
        Ok(true)
    }

    /// A running item has cost `cost` so far.
    fn progress(&self, named: Named, cost: u64) {
        self.held().dispatcher.progress(ticket(named), cost);
    }

    /// A running item ends, if one has this ticket; its cost says what its tenant's items cost if
    /// it is typical.
    fn end(&self, named: Named, cost: Option<u64>, is_typical: bool) {
        let mut held = self.held();
        let dispatcher = &mut held.dispatcher;
        let did_run = match (cost, is_typical) {
            (Some(cost), true) => dispatcher.complete(ticket(named), cost),
            (Some(cost), false) => dispatcher.cancel(ticket(named), cost),
            (None, _) => dispatcher.give_up(ticket(named)),
        };
        if did_run {
            let counts = &mut held.counts;
            *(if is_typical { &mut counts.completed } else { &mut counts.failed }) += 1;
            counts.cost += u128::from(cost.unwrap_or(0));
        }
    }

    /// A request will not be: it is taken out, or gives its seat back, as if it had cost nothing.
    fn forsake(&self, named: Named) {
        let mut held = self.held();
        let removed = held.dispatcher.remove(ticket(named));
        let was_there = removed.is_some() || held.dispatcher.cancel(ticket(named), 0);
        held.counts.forsaken += u64::from(was_there);
        drop(held);
        // Behind the lock: the item may be the last that holds others' objects.
        drop(removed);
    }

    /// Takes out all items that wait for workers, in the order of admission.
    fn drain(&self) -> PyResult<Vec<Py<PyAny>>> {
        let mut held = self.held();
        let before = held.has_workers;
        held.use_it(true)?;
        held.has_workers = before;
        Ok(held.dispatcher.drain().into_iter().map(|drained| drained.item).collect())
    }

    fn close(&self) {
        self.held().dispatcher.close();
    }

    fn set_weight(&self, tenant: String, weight: f64) -> PyResult<()> {
        let weight = Weight::try_from(weight).map_err(|error| UsageError::new_err(error.to_string()))?;
        let Ok(()) = self.held().dispatcher.set_weight(&tenant, weight);
        Ok(())
    }

    fn set_priority(&self, tenant: String, priority: u32) {
        self.held().dispatcher.set_priority(&tenant, priority);
    }

    /// Items that wait, items that run, seats that are taken, tenants that are known.
    fn state(&self) -> (u32, u32, u32, usize) {
        let dispatcher = &self.held().dispatcher;
        (dispatcher.waiting(), dispatcher.running(), dispatcher.seats_taken(), dispatcher.tenants())
    }

    /// Items admitted, completed, failed, forsaken; those refused by reason; the cost together.
    fn counts(&self) -> ([u64; 4], BTreeMap<&'static str, u64>, u128) {
        let Counts { admitted, completed, failed, forsaken, refused, cost } = &self.held().counts;
        ([*admitted, *completed, *failed, *forsaken], refused.clone(), *cost)
    }

    /// The tenants that are remembered, at most `most`: those of which most items started.
    fn waits(&self, most: usize) -> Vec<Waits> {
        let held = self.held();
        let mut all: Vec<_> = held.dispatcher.waits().collect();
        if all.len() > most {
            all.select_nth_unstable_by_key(most, |(_, waited)| std::cmp::Reverse(waited.started));
            all.truncate(most);
            all.sort_unstable_by_key(|(tenant, _)| *tenant);
        }
        all.into_iter().map(|(tenant, it)| (tenant.clone(), it.started, it.sum, it.max)).collect()
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
