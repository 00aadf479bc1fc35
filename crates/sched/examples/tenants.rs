//! A thread pool that several tenants share fairly, though the cost of an item is not known
//! beforehand.
//!
//! `cargo run -p fairq-sched --example tenants`

use fairq_sched::work::{Ask, Settings, Shared};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

/// Name, weight, how many items it sends at once, the cost of its items in turn.
const TENANTS: [(&str, f64, u32, &[u64]); 3] = [
    ("flood", 1.0, 3000, &[1]),
    ("paying", 2.0, 300, &[3, 40, 11]),
    // It asks for a tenth of what is done in all and gets it, though others came first.
    ("modest", 1.0, 200, &[2]),
];
const THREADS: u32 = 4;
/// The server is closed when this much has been done.
const SERVICE: u64 = 4000;

/// What each tenant was given.
#[derive(Default)]
struct Given {
    items: [u32; TENANTS.len()],
    service: [u64; TENANTS.len()],
}

fn main() {
    print!("{}", table());
}

/// Runs the pool and prints what each tenant was given.
#[expect(clippy::disallowed_methods, reason = "a server has a clock, for the waiting times")]
pub(crate) fn table() -> String {
    let settings = Settings { seats: THREADS, items_per_tenant_max: 3000, ..Settings::default() };
    let begun = Instant::now();
    let server = Shared::new(settings, || begun.elapsed().as_micros() as u64);
    for (tenant, (name, weight, items, costs)) in TENANTS.iter().enumerate() {
        server.with(|dispatcher| dispatcher.set_weight(&tenant, *weight)).expect("a weight");
        for cost in costs.iter().cycle().take(*items as usize) {
            // The dispatcher does not look at the item: its cost is told when it is done.
            if let Err(refused) = server.push(&tenant, Ask::default(), *cost) {
                // The item is handed back; here it is lost.
                eprintln!("{name}: {}", refused.why);
            }
        }
    }
    let given = Mutex::new(Given::default());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| serve(&server, &given));
        }
    });
    let given = given.into_inner().expect("no thread panicked");
    let all: u64 = given.service.iter().sum();
    let mut table = String::from("tenant  weight  items  share of service  mean wait\n");
    for (tenant, (name, weight, ..)) in TENANTS.iter().enumerate() {
        let share = 100.0 * given.service[tenant] as f64 / all as f64;
        let waited = server.with(|dispatcher| dispatcher.waited(&tenant)).unwrap_or_default();
        let wait = waited.sum as f64 / waited.started as f64 / 1000.0;
        table += &format!("{name:<6}  {weight:>6}  {:>5}  {share:>14.0} %  {wait:>6.0} ms\n", given.items[tenant]);
    }
    table
}

/// Takes the next item, does it, tells what it cost; until the server is closed and nothing waits.
fn serve(server: &Shared<usize, u64, impl Fn() -> u64>, given: &Mutex<Given>) {
    while let Some((seat, units)) = server.next() {
        // If this panicked, the seat would be given back all the same.
        let cost = work(units);
        let mut given = given.lock().expect("no thread panicked");
        given.items[*seat.tenant()] += 1;
        given.service[*seat.tenant()] += cost;
        seat.complete(cost);
        if given.service.iter().sum::<u64>() >= SERVICE {
            // What waits is handed back; a server would tell the clients that wait for it.
            let _unserved = server.with(|dispatcher| {
                dispatcher.close();
                dispatcher.drain()
            });
        }
    }
}

/// Does `units` of work and says how many it did.
fn work(units: u64) -> u64 {
    let steps = (0..units * 50_000).fold(0_u64, |sum, step| std::hint::black_box(sum ^ step));
    std::hint::black_box(steps);
    units
}
