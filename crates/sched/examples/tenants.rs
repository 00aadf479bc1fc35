//! A thread pool that several tenants share fairly, though nobody knows beforehand what an item costs.
//!
//! `cargo run -p fairq-sched --example tenants`

use fairq_sched::units::Weight;
use fairq_sched::work::{Ask, Dispatcher, Settings};
use std::sync::{Condvar, Mutex};
use std::thread;

/// Name, weight, how many items it sends at once, the cost of its items in turn.
const TENANTS: [(&str, u32, u32, &[u64]); 3] = [
    ("flood", 1, 3000, &[1]),
    ("paying", 2, 300, &[3, 40, 11]),
    // It asks for a tenth of what is done in all and gets it, though others came first.
    ("modest", 1, 200, &[2]),
];
const THREADS: u32 = 4;
/// The run ends when this much has been started.
const SERVICE: u64 = 4000;

/// What all threads share.
struct Pool {
    dispatcher: Dispatcher<usize, u64>,
    started: u64,
    items: [u32; TENANTS.len()],
    service: [u64; TENANTS.len()],
}

fn main() {
    print!("{}", table());
}

/// Runs the pool and says who was given what.
pub(crate) fn table() -> String {
    let mut dispatcher =
        Dispatcher::new(Settings { seats: THREADS, items_per_tenant_max: 3000, ..Settings::default() });
    for (tenant, (name, weight, items, costs)) in TENANTS.iter().enumerate() {
        dispatcher.set_weight(&tenant, *weight).expect("a weight");
        for cost in costs.iter().cycle().take(*items as usize) {
            // The dispatcher does not look at the item: its cost is told when it is done.
            if let Err(refused) = dispatcher.push(&tenant, Ask::default(), *cost) {
                // The item is handed back; here it is lost.
                eprintln!("{name}: {}", refused.why);
            }
        }
    }
    let pool = Mutex::new(Pool { dispatcher, started: 0, items: [0; TENANTS.len()], service: [0; TENANTS.len()] });
    let ended = Condvar::new();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| serve(&pool, &ended));
        }
    });
    let pool = pool.into_inner().expect("no thread panicked");
    let all: u64 = pool.service.iter().sum();
    let mut table = String::from("tenant  weight  items  share of service\n");
    for (tenant, (name, weight, ..)) in TENANTS.iter().enumerate() {
        let share = 100.0 * pool.service[tenant] as f64 / all as f64;
        table += &format!("{name:<6}  {weight:>6}  {:>5}  {share:>14.0} %\n", pool.items[tenant]);
    }
    table
}

/// Takes the next item, does it without holding the lock, tells what it cost; until the service is used up.
fn serve(pool: &Mutex<Pool>, ended: &Condvar) {
    let mut shared = pool.lock().expect("no thread panicked");
    while shared.started < SERVICE {
        let Some(next) = shared.dispatcher.start() else {
            // Nothing waits and nothing more will come; a server would stay.
            if shared.dispatcher.waiting() == 0 {
                break;
            }
            shared = ended.wait(shared).expect("no thread panicked");
            continue;
        };
        shared.started += next.item;
        drop(shared);
        let cost = work(next.item);
        shared = pool.lock().expect("no thread panicked");
        shared.dispatcher.complete(next.ticket, cost);
        shared.items[next.tenant] += 1;
        shared.service[next.tenant] += cost;
        ended.notify_one();
    }
    // Those that wait for a seat must see that it is over.
    ended.notify_all();
}

/// Does `units` of work and says how many it did.
fn work(units: u64) -> u64 {
    let steps = (0..units * 50_000).fold(0_u64, |sum, step| std::hint::black_box(sum ^ step));
    std::hint::black_box(steps);
    units
}
