//! The dispatcher of a server for C. What each function promises is said once, in
//! `include/fairq_dispatcher.h`.

use crate::codes::{
    FAIRQ_COST_UNKNOWN, FAIRQ_ERROR_BROKEN, FAIRQ_ERROR_NULL, FAIRQ_ERROR_TEXT, FAIRQ_ERROR_WEIGHT, FAIRQ_NONE,
    FAIRQ_OK, FAIRQ_REFUSED_CLOSED, FAIRQ_REFUSED_FULL, FAIRQ_REFUSED_TENANT_FULL, FAIRQ_REFUSED_TOO_MANY_TENANTS,
    FAIRQ_REFUSED_TOO_WIDE,
};
use crate::{Breakable, guarded, needed, of_code, text_at, write_text};
use fairq_sched::units::Weight;
use fairq_sched::work::{Ask, Dispatcher, Refusal, Settings, Ticket};
use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// `struct fairq_dispatcher`.
pub struct FairqDispatcher {
    dispatcher: Dispatcher<u64, u64>,
    is_broken: bool,
}

impl Breakable for FairqDispatcher {
    fn is_broken(&mut self) -> &mut bool {
        &mut self.is_broken
    }
}

/// `struct fairq_seats`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqSeats {
    pub seats: u32,
    pub items_max: u32,
    pub items_per_tenant_max: u32,
    pub tenants_max: u32,
    pub guess: u64,
}

/// `struct fairq_ask`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqAsk {
    pub cost: u64,
    pub size: u64,
    pub seats: u32,
}

/// `struct fairq_ticket`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqTicket {
    pub serial: u64,
    pub index: u32,
}

/// `struct fairq_started`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header says what the fields are")]
pub struct FairqStarted {
    pub ticket: FairqTicket,
    pub tenant: u64,
    pub item: u64,
    pub waited: u64,
    pub seats: u32,
}

impl From<Ticket> for FairqTicket {
    fn from(ticket: Ticket) -> Self {
        let (index, serial) = ticket.to_parts();
        Self { serial, index }
    }
}

impl From<FairqTicket> for Ticket {
    fn from(ticket: FairqTicket) -> Self {
        Self::from_parts(ticket.index, ticket.serial)
    }
}

impl FairqSeats {
    /// As the dispatcher wants it: the default where a field is 0.
    fn settings(&self) -> Settings {
        let or = |value: u32, default: u32| if value == 0 { default } else { value };
        let default = Settings::default();
        Settings {
            seats: or(self.seats, default.seats),
            items_max: or(self.items_max, default.items_max),
            items_per_tenant_max: or(self.items_per_tenant_max, default.items_per_tenant_max),
            tenants_max: or(self.tenants_max, default.tenants_max),
            guess: if self.guess == 0 { default.guess } else { self.guess },
            ..default
        }
    }
}

/// Builds a dispatcher.
///
/// # Safety
/// `policy` is NULL or ends with a zero; `seats`, `dispatcher`, and `size` bytes at `message` are
/// NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_new(
    policy: *const c_char,
    seats: *const FairqSeats,
    dispatcher: *mut *mut FairqDispatcher,
    message: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (policy, seats) = unsafe { (text_at(policy), seats.as_ref()) };
    let Some(dispatcher) = NonNull::new(dispatcher) else { return FAIRQ_ERROR_NULL };
    // SAFETY: the caller's promise.
    unsafe { dispatcher.write(std::ptr::null_mut()) };
    let (Some(policy), Some(seats)) = (policy, seats) else { return FAIRQ_ERROR_NULL };
    let built = catch_unwind(|| {
        let text = policy.to_str().map_err(|_| (FAIRQ_ERROR_TEXT, "the text is not UTF-8".to_owned()))?;
        let policy = fairq_text::policy(text).map_err(|message| (FAIRQ_ERROR_TEXT, message))?;
        let dispatcher = Dispatcher::with_policy(seats.settings(), policy);
        Ok(FairqDispatcher { dispatcher, is_broken: false })
    });
    let (code, said) = match built {
        Ok(Ok(built)) => {
            // SAFETY: the caller's promise.
            unsafe { dispatcher.write(Box::into_raw(Box::new(built))) };
            return FAIRQ_OK;
        }
        Ok(Err(refused)) => refused,
        Err(_) => (FAIRQ_ERROR_BROKEN, of_code(FAIRQ_ERROR_BROKEN)),
    };
    // SAFETY: the caller's promise.
    unsafe { write_text(message, size, &said) };
    code
}

/// Frees a dispatcher.
///
/// # Safety
/// `dispatcher` is NULL or was made by [`fairq_dispatcher_new`] and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_free(dispatcher: *mut FairqDispatcher) {
    if !dispatcher.is_null() {
        // SAFETY: it came out of a box in fairq_dispatcher_new, and the caller gives it back.
        let dispatcher = unsafe { Box::from_raw(dispatcher) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(dispatcher)));
    }
}

/// Admits an item.
///
/// # Safety
/// `dispatcher` is NULL or a dispatcher that no other thread uses now; `ask` and `ticket` are NULL
/// or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_push(
    dispatcher: *mut FairqDispatcher,
    now: u64,
    tenant: u64,
    item: u64,
    ask: *const FairqAsk,
    ticket: *mut FairqTicket,
) -> c_int {
    // SAFETY: the caller's promise.
    let (dispatcher, ask) = unsafe { (dispatcher.as_mut(), ask.as_ref()) };
    guarded(dispatcher, |it| {
        it.dispatcher.tell_time(now);
        let told = ask.map(|ask| ask.cost).filter(|cost| *cost != FAIRQ_COST_UNKNOWN);
        let (seats, size) = ask.map_or((1, 0), |ask| (ask.seats, ask.size));
        match it.dispatcher.push_sized(&tenant, Ask { seats, guess: told }, size, item) {
            Ok(admitted) => {
                if let Some(ticket) = NonNull::new(ticket) {
                    // SAFETY: the caller's promise.
                    unsafe { ticket.write(admitted.into()) };
                }
                Ok(FAIRQ_OK)
            }
            Err(refused) => Ok(code(refused.why)),
        }
    })
}

/// The next item that starts.
///
/// # Safety
/// `dispatcher` is NULL or a dispatcher that no other thread uses now; `started` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_start(
    dispatcher: *mut FairqDispatcher,
    now: u64,
    started: *mut FairqStarted,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| {
        let to = needed(started)?;
        it.dispatcher.tell_time(now);
        let Some(started) = it.dispatcher.start() else { return Ok(FAIRQ_NONE) };
        let record = FairqStarted {
            ticket: started.ticket.into(),
            tenant: started.tenant,
            item: started.item,
            waited: started.waited,
            seats: started.seats,
        };
        // SAFETY: the caller's promise.
        unsafe { to.write(record) };
        Ok(FAIRQ_OK)
    })
}

/// A running item has cost so much.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_progress(
    dispatcher: *mut FairqDispatcher,
    ticket: FairqTicket,
    cost: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| Ok(found(it.dispatcher.progress(ticket.into(), cost))))
}

/// A running item is done.
///
/// # Safety
/// `dispatcher` is NULL or a dispatcher that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_complete(
    dispatcher: *mut FairqDispatcher,
    ticket: FairqTicket,
    cost: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| Ok(found(it.dispatcher.complete(ticket.into(), cost))))
}

/// A running item was given up after `cost`.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_cancel(
    dispatcher: *mut FairqDispatcher,
    ticket: FairqTicket,
    cost: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| Ok(found(it.dispatcher.cancel(ticket.into(), cost))))
}

/// A running item is over, and its cost is not known.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_give_up(dispatcher: *mut FairqDispatcher, ticket: FairqTicket) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| Ok(found(it.dispatcher.give_up(ticket.into()))))
}

/// Takes out an item that waits.
///
/// # Safety
/// `dispatcher` is NULL or a dispatcher that no other thread uses now; `item` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_remove(
    dispatcher: *mut FairqDispatcher,
    ticket: FairqTicket,
    item: *mut u64,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| {
        let removed = it.dispatcher.remove(ticket.into());
        if let (Some(item), Some(removed)) = (NonNull::new(item), removed) {
            // SAFETY: the caller's promise.
            unsafe { item.write(removed) };
        }
        Ok(found(removed.is_some()))
    })
}

/// The weight of a tenant.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_set_weight(
    dispatcher: *mut FairqDispatcher,
    tenant: u64,
    thousandths: u32,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| {
        let weight = Weight::from_thousandths(thousandths).ok_or(FAIRQ_ERROR_WEIGHT)?;
        let Ok(()) = it.dispatcher.set_weight(&tenant, weight);
        Ok(FAIRQ_OK)
    })
}

/// The priority of a tenant.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_set_priority(
    dispatcher: *mut FairqDispatcher,
    tenant: u64,
    priority: u32,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| {
        it.dispatcher.set_priority(&tenant, priority);
        Ok(FAIRQ_OK)
    })
}

/// Admits nothing any more.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_close(dispatcher: *mut FairqDispatcher) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| {
        it.dispatcher.close();
        Ok(FAIRQ_OK)
    })
}

/// Takes out all items that wait.
///
/// # Safety
/// `dispatcher` is NULL or a dispatcher that no other thread uses now; `items` is NULL or has room
/// for those that wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_drain(dispatcher: *mut FairqDispatcher, items: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { dispatcher.as_mut() }, |it| {
        let drained = it.dispatcher.drain();
        if let Some(items) = NonNull::new(items) {
            for (at, drained) in drained.iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { items.add(at).write(drained.item) };
            }
        }
        Ok(c_int::try_from(drained.len()).unwrap_or(c_int::MAX))
    })
}

/// Items that wait.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_waiting(dispatcher: *const FairqDispatcher) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { dispatcher.as_ref() }.map_or(0, |it| it.dispatcher.waiting())
}

/// Items that run.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_running(dispatcher: *const FairqDispatcher) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { dispatcher.as_ref() }.map_or(0, |it| it.dispatcher.running())
}

/// Seats that are taken.
///
/// # Safety
/// As for [`fairq_dispatcher_complete`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dispatcher_seats_taken(dispatcher: *const FairqDispatcher) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { dispatcher.as_ref() }.map_or(0, |it| it.dispatcher.seats_taken())
}

const fn found(is_found: bool) -> c_int {
    if is_found { FAIRQ_OK } else { FAIRQ_NONE }
}

const fn code(why: Refusal) -> c_int {
    match why {
        Refusal::TooWide => FAIRQ_REFUSED_TOO_WIDE,
        Refusal::Full => FAIRQ_REFUSED_FULL,
        Refusal::TenantFull => FAIRQ_REFUSED_TENANT_FULL,
        Refusal::TooManyTenants => FAIRQ_REFUSED_TOO_MANY_TENANTS,
        Refusal::Closed => FAIRQ_REFUSED_CLOSED,
    }
}
