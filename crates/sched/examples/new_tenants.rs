//! What an item costs the dispatcher when every tenant is new, beside the same load of a hundred
//! tenants that are known: time by ratio, and the memory that is held at most.
//!
//! `cargo run --release -p fairq-sched --example new_tenants -- 1000000`

use cap::Cap;
use fairq_sched::work::{Ask, Dispatcher, Settings, Ticket};
use std::alloc::System;
use std::collections::VecDeque;
use std::time::Instant;

#[global_allocator]
static ALLOCATED: Cap<System> = Cap::new(System, usize::MAX);

/// Tenants that come again and again.
pub(crate) const KNOWN: u64 = 100;
const SEATS: u32 = 4;

/// Tenants of a workload, and how many items wait at all times.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) is_new: bool,
    pub(crate) waiting: u32,
}

/// Each beside the one that it is compared with: the last before it whose tenants are known.
pub(crate) const WORKLOADS: [Workload; 6] = [
    Workload { name: "known, none waits", is_new: false, waiting: 0 },
    Workload { name: "new, none waits", is_new: true, waiting: 0 },
    Workload { name: "known, 100 wait", is_new: false, waiting: 100 },
    Workload { name: "new, 100 wait", is_new: true, waiting: 100 },
    Workload { name: "known, 5000 wait", is_new: false, waiting: 5000 },
    Workload { name: "new, 5000 wait", is_new: true, waiting: 5000 },
];

/// What was measured.
pub(crate) struct Measured {
    pub(crate) ns_per_item: f64,
    /// The most bytes that were allocated at a time, as seen every hundredth item.
    pub(crate) bytes: usize,
    /// The most tenants that were known at a time.
    pub(crate) tenants: usize,
}

fn main() {
    let items = std::env::args().nth(1).and_then(|items| items.parse().ok()).unwrap_or(1_000_000);
    println!("{items} items\nworkload             ns an item   ratio      bytes   tenants known");
    let mut base = f64::NAN;
    for workload in &WORKLOADS {
        let measured = measure(workload, items);
        if !workload.is_new {
            base = measured.ns_per_item;
        }
        let (name, ns, ratio) = (workload.name, measured.ns_per_item, measured.ns_per_item / base);
        println!("{name:<19}  {ns:>10.0}  {ratio:>6.2}  {:>9}  {:>14}", measured.bytes, measured.tenants);
    }
}

/// Puts `items` items through a dispatcher, one seat of which a long item holds all the time.
#[expect(clippy::disallowed_methods, reason = "what is measured here is time")]
pub(crate) fn measure(workload: &Workload, items: u64) -> Measured {
    let before = ALLOCATED.allocated();
    let settings = Settings { seats: SEATS, items_per_tenant_max: u32::MAX, ..Settings::default() };
    let mut dispatcher = Dispatcher::<u64, ()>::new(settings);
    dispatcher.push(&u64::MAX, Ask::default(), ()).expect("it is empty");
    dispatcher.start().expect("it is empty");
    let (mut running, mut bytes, mut tenants) = (VecDeque::new(), 0, 0);
    let begun = Instant::now();
    for item in 0..items {
        let tenant = if workload.is_new { KNOWN + item } else { item % KNOWN };
        dispatcher.push(&tenant, Ask::default(), ()).expect("no new tenant is refused for those before it");
        if dispatcher.waiting() > workload.waiting {
            step(&mut dispatcher, &mut running);
        }
        if item % 100 == 0 {
            bytes = bytes.max(ALLOCATED.allocated() - before);
            tenants = tenants.max(dispatcher.tenants());
        }
    }
    Measured { ns_per_item: begun.elapsed().as_nanos() as f64 / items as f64, bytes, tenants }
}

/// The oldest item ends, if all seats but the long one's are taken; the next starts. Costs are from
/// 1 to 50.
fn step(dispatcher: &mut Dispatcher<u64, ()>, running: &mut VecDeque<(Ticket, u64)>) {
    if dispatcher.seats_taken() == SEATS
        && let Some((ticket, cost)) = running.pop_front()
    {
        dispatcher.complete(ticket, cost);
    }
    if let Some(started) = dispatcher.start() {
        running.push_back((started.ticket, 1 + started.tenant * 7 % 50));
    }
}
