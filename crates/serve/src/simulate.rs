//! Requests through a dispatcher, whose seats are those of the server.

use crate::requests::{Requests, Served};
use fairq_link::random::Stream;
use fairq_sched::work::{Ask, Dispatcher, Settings, Ticket};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the dispatcher knows of a cost before the request ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// Nothing: it goes by the costs that it was told at the ends before.
    No,
    /// The cost.
    Yes,
    /// A guess, uniform between the cost less this part of it and the cost and this part.
    Error(f64),
}

/// Settings of a dispatcher that refuses no request.
#[must_use]
pub fn unlimited(seats: u32, guess: u64) -> Settings {
    let all = u32::MAX;
    Settings { seats, guess, items_max: all, items_per_tenant_max: all, tenants_max: all, ..Settings::default() }
}

/// What each cost is thought to be before the request ends.
#[must_use]
pub fn guesses(requests: &Requests, known: Known, seed: u64) -> Vec<Option<u64>> {
    let mut stream = Stream::new(seed, "requests/guess");
    let guess = |cost: u64| match known {
        Known::No => None,
        Known::Yes => Some(cost),
        Known::Error(part) => {
            let factor = 1.0 + part * (2.0 * stream.uniform() - 1.0);
            Some((cost as f64 * factor + 0.5) as u64)
        }
    };
    let cost = |request: &crate::Request| request.cost.saturating_mul(request.seats.into());
    requests.all.iter().map(cost).map(guess).collect()
}

/// Serves the requests in the order of `dispatcher`, at which nothing waits; `guesses` has one for
/// each request. `told` is given the number of requests that have ended, now and then, and says
/// whether to go on; `None` if it did not.
pub fn simulate(
    requests: &Requests,
    mut dispatcher: Dispatcher<u32, u32>,
    guesses: &[Option<u64>],
    told: &mut dyn FnMut(usize) -> bool,
) -> Option<Served> {
    let all = &requests.all;
    let mut served = Served { starts: Vec::with_capacity(all.len()), ends: Vec::with_capacity(all.len()) };
    for (place, tenant) in requests.tenants.iter().enumerate() {
        // A weight is a weight.
        let Ok(()) = dispatcher.set_weight(&(place as u32), tenant.weight);
    }
    let mut running: BinaryHeap<Reverse<(u64, u32, Ticket)>> = BinaryHeap::new();
    let mut next = 0;
    loop {
        let arrival = all.get(next).map(|request| request.at);
        let end = running.peek().map(|Reverse((end, ..))| *end);
        let Some(now) = arrival.into_iter().chain(end).min() else { break };
        dispatcher.tell_time(now);
        while let Some(Reverse((_, place, ticket))) = running.peek().copied().filter(|Reverse((end, ..))| *end == now) {
            running.pop();
            let request = &all[place as usize];
            let is_running = dispatcher.complete(ticket, request.cost.saturating_mul(request.seats.into()));
            assert!(is_running, "request {place} ends at {now} and did not run");
            served.ends.push((now, place));
            if served.ends.len() % 16_384 == 0 && !told(served.ends.len()) {
                return None;
            }
        }
        while let Some(request) = all.get(next).filter(|request| request.at == now) {
            let ask = Ask { seats: request.seats, guess: guesses[next] };
            let pushed = dispatcher.push(&request.tenant, ask, next as u32);
            assert!(pushed.is_ok(), "request {next} is refused by a dispatcher without limits: {pushed:?}");
            next += 1;
        }
        while let Some(started) = dispatcher.start() {
            served.starts.push((now, started.item));
            let end = now.saturating_add(all[started.item as usize].cost);
            running.push(Reverse((end, started.item, started.ticket)));
        }
    }
    assert_eq!(served.ends.len(), all.len(), "every request ends");
    Some(served)
}
