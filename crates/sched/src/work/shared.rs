//! A dispatcher for several threads: workers wait for items, and a seat is given back whatever
//! becomes of its item.

use super::policy::Policy;
use super::{Ask, Dispatcher, Refused, Settings, Started, Ticket};
use alloc::boxed::Box;
use core::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A [`Dispatcher`] behind a lock, with the caller's clock for waiting times. The lock is not held
/// while an item runs.
///
/// ```
/// use fairq_sched::work::{Ask, Settings, Shared};
/// use std::time::Instant;
///
/// let begun = Instant::now();
/// let server = Shared::new(Settings { seats: 2, ..Settings::default() }, move || begun.elapsed().as_micros() as u64);
/// server.push(&"shop", Ask::default(), 5)?;
/// server.push(&"analyst", Ask::default(), 9000)?;
/// // No more comes. The workers do what waits and are sent home.
/// server.close();
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             while let Some((seat, item)) = server.next() {
///                 // Here the item is done, which may panic.
///                 let cost = item;
///                 seat.complete(cost);
///             }
///         });
///     }
/// });
/// assert_eq!(server.with(|dispatcher| dispatcher.waited_all().started), 2);
/// # Ok::<(), fairq_sched::work::Refused<u64>>(())
/// ```
pub struct Shared<T, I, C> {
    dispatcher: Mutex<Dispatcher<T, I>>,
    clock: C,
    /// Workers wait here for an item. One that finds an item wakes the next if another may start
    /// too.
    may_start: Condvar,
    /// Here is waited for the end.
    finished: Condvar,
}

impl<T, I, C> fmt::Debug for Shared<T, I, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("dispatcher", &*self.lock()).finish_non_exhaustive()
    }
}

impl<T, I, C> Shared<T, I, C> {
    /// No call panics while it holds the lock, unless the `Ord` or the `Clone` of a key does.
    fn lock(&self) -> MutexGuard<'_, Dispatcher<T, I>> {
        self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Ord + Clone, I, C: Fn() -> u64> Shared<T, I, C> {
    /// An empty dispatcher. `clock` tells the time, in any unit, from any beginning; waiting times
    /// are in its unit. It is called under the lock. If waiting times do not matter, a clock may
    /// always return 0.
    #[must_use]
    pub fn new(settings: Settings, clock: C) -> Self {
        Self::around(Dispatcher::new(settings), clock)
    }

    /// An empty dispatcher in which items start in the order of `policy`.
    #[must_use]
    pub fn with_policy(settings: Settings, policy: Box<dyn Policy>, clock: C) -> Self {
        Self::around(Dispatcher::with_policy(settings, policy), clock)
    }

    fn around(dispatcher: Dispatcher<T, I>, clock: C) -> Self {
        Self { dispatcher: Mutex::new(dispatcher), clock, may_start: Condvar::new(), finished: Condvar::new() }
    }

    /// Admits an item of `tenant` and wakes a worker; see [`Dispatcher::push`].
    ///
    /// # Errors
    /// The item and why it is not admitted.
    pub fn push(&self, tenant: &T, ask: Ask, item: I) -> Result<Ticket, Refused<I>> {
        self.push_sized(tenant, ask, 0, item)
    }

    /// As [`push`](Self::push), with what is known of its service beside its cost; see
    /// [`Dispatcher::push_sized`].
    ///
    /// # Errors
    /// The item and why it is not admitted.
    pub fn push_sized(&self, tenant: &T, ask: Ask, size: u64, item: I) -> Result<Ticket, Refused<I>> {
        let mut dispatcher = self.lock();
        dispatcher.tell_time((self.clock)());
        let ticket = dispatcher.push_sized(tenant, ask, size, item)?;
        drop(dispatcher);
        self.may_start.notify_one();
        Ok(ticket)
    }

    /// The next item and its seat; waits until one may start. `None`: closed, and nothing waits any
    /// more.
    pub fn next(&self) -> Option<(Seat<'_, T, I, C>, I)> {
        let mut dispatcher = self.lock();
        loop {
            if let Some(started) = self.start(&mut dispatcher) {
                return Some(self.seat(started));
            }
            if dispatcher.is_closed() && dispatcher.waiting() == 0 {
                return None;
            }
            dispatcher = self.may_start.wait(dispatcher).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next item and its seat if one may start at once.
    pub fn try_next(&self) -> Option<(Seat<'_, T, I, C>, I)> {
        let started = self.start(&mut self.lock());
        started.map(|started| self.seat(started))
    }

    /// No item is admitted any more; workers do what waits, and [`next`](Self::next) sends them
    /// home when that is done. To turn away what waits, drain it: `with(Dispatcher::drain)` hands
    /// it back, so that its owners can be told.
    pub fn close(&self) {
        self.with(Dispatcher::close);
    }

    /// Waits until it is closed and nothing waits or runs. Do not call it while holding a seat, nor
    /// without workers while items wait: it would wait for ever.
    pub fn wait_until_finished(&self) {
        let mut dispatcher = self.lock();
        while !dispatcher.is_finished() {
            dispatcher = self.finished.wait(dispatcher).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does something with the dispatcher under the lock: weights, counts, waiting times, `remove`,
    /// `drain`. `action` must neither call this `Shared` nor drop one of its seats, which would
    /// wait for the lock for ever. An item that it starts has no [`Seat`].
    pub fn with<R>(&self, action: impl FnOnce(&mut Dispatcher<T, I>) -> R) -> R {
        let mut dispatcher = self.lock();
        dispatcher.tell_time((self.clock)());
        let result = action(&mut dispatcher);
        drop(dispatcher);
        self.may_start.notify_all();
        self.finished.notify_all();
        result
    }

    fn start(&self, dispatcher: &mut Dispatcher<T, I>) -> Option<Started<T, I>> {
        dispatcher.tell_time((self.clock)());
        let started = dispatcher.start()?;
        if dispatcher.waiting() > 0 {
            self.may_start.notify_one();
        } else if dispatcher.is_closed() {
            // It was the last item: wakes the workers that wait for one, so that they return.
            self.may_start.notify_all();
        }
        Some(started)
    }

    fn seat(&self, started: Started<T, I>) -> (Seat<'_, T, I, C>, I) {
        let Started { ticket, tenant, item, seats, waited, .. } = started;
        (Seat { shared: self, ticket, tenant, seats, waited, is_over: false }, item)
    }
}

/// The seat of an item that runs. Tell what the item cost; a seat that is dropped without a word,
/// in a panic for example, is given back at what was guessed at the start.
#[must_use = "a seat that is dropped ends its item"]
pub struct Seat<'a, T: Ord + Clone, I, C: Fn() -> u64> {
    shared: &'a Shared<T, I, C>,
    ticket: Ticket,
    tenant: T,
    seats: u32,
    waited: u64,
    is_over: bool,
}

impl<T: Ord + Clone, I, C: Fn() -> u64> Seat<'_, T, I, C> {
    /// The item is done and cost `cost`; see [`Dispatcher::complete`].
    pub fn complete(mut self, cost: u64) {
        self.end(|dispatcher, ticket| dispatcher.complete(ticket, cost));
    }

    /// The item was given up after `cost`; see [`Dispatcher::cancel`].
    pub fn cancel(mut self, cost: u64) {
        self.end(|dispatcher, ticket| dispatcher.cancel(ticket, cost));
    }

    /// The item has cost `cost` up to now; see [`Dispatcher::progress`].
    pub fn progress(&self, cost: u64) {
        self.shared.lock().progress(self.ticket, cost);
    }

    /// The name of the item.
    #[must_use]
    pub const fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Whose item it is.
    #[must_use]
    pub const fn tenant(&self) -> &T {
        &self.tenant
    }

    /// The seats it takes.
    #[must_use]
    pub const fn seats(&self) -> u32 {
        self.seats
    }

    /// How long the item waited, in the unit of the clock.
    #[must_use]
    pub const fn waited(&self) -> u64 {
        self.waited
    }

    fn end(&mut self, tell: impl FnOnce(&mut Dispatcher<T, I>, Ticket) -> bool) {
        if core::mem::replace(&mut self.is_over, true) {
            return;
        }
        let mut dispatcher = self.shared.lock();
        tell(&mut dispatcher, self.ticket);
        let is_finished = dispatcher.is_finished();
        drop(dispatcher);
        self.shared.may_start.notify_one();
        if is_finished {
            self.shared.finished.notify_all();
        }
    }
}

impl<T: Ord + Clone, I, C: Fn() -> u64> Drop for Seat<'_, T, I, C> {
    fn drop(&mut self) {
        self.end(Dispatcher::give_up);
    }
}

impl<T: Ord + Clone + fmt::Debug, I, C: Fn() -> u64> fmt::Debug for Seat<'_, T, I, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Seat");
        shown.field("ticket", &self.ticket).field("tenant", &self.tenant).field("seats", &self.seats);
        shown.field("waited", &self.waited).finish_non_exhaustive()
    }
}
