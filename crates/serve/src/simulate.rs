//! Requests through a dispatcher, whose seats are those of the server.

use crate::requests::{Request, Requests, Served};
use fairq_link::random::Stream;
use fairq_sched::work::policy::{Facts, Policy, Side, per_weight};
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

/// The server and what it knows.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Its seats.
    pub seats: u32,
    /// What it knows of costs.
    pub known: Known,
    /// What a request is thought to cost before any has ended, in nanoseconds.
    pub guess: u64,
    /// The seed of guesses.
    pub seed: u64,
}

impl Server {
    /// The settings of its dispatcher, which refuses no request.
    fn settings(&self) -> Settings {
        let all = u32::MAX;
        let Self { seats, guess, .. } = *self;
        Settings { seats, guess, items_max: all, items_per_tenant_max: all, tenants_max: all, ..Settings::default() }
    }
}

/// What a policy's bound depends on, of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extremes {
    seats: u32,
    sides: Vec<Side>,
}

impl Extremes {
    fn new(seats: u32, requests: &Requests) -> Self {
        let side = |weight| Side { weight, service_max: 0, guess_max: 0, over_max: 0 };
        Self { seats, sides: requests.tenants.iter().map(|tenant| side(tenant.weight)).collect() }
    }

    /// What a request of a tenant may be thought to cost.
    fn guessed(&mut self, tenant: u32, guess: u64) {
        let side = &mut self.sides[tenant as usize];
        side.guess_max = side.guess_max.max(guess);
    }

    /// An item started that is charged `over` more than its service.
    fn started(&mut self, tenant: u32, service: u64, over: u64) {
        let side = &mut self.sides[tenant as usize];
        side.service_max = side.service_max.max(service);
        side.over_max = side.over_max.max(over);
    }

    /// The largest bound of `policy` for a tenant and any of `others`.
    #[must_use]
    pub fn bound_of(&self, policy: &dyn Policy, tenant: u32, others: &[u32]) -> Option<u128> {
        let others = others.iter().filter(|other| **other != tenant);
        others.filter_map(|other| self.bound(policy, [tenant, *other])).max()
    }

    /// The proven bound of `policy` for two tenants, in nanoseconds over weight.
    #[must_use]
    pub fn bound(&self, policy: &dyn Policy, tenants: [u32; 2]) -> Option<u128> {
        let greatest = |of: fn(&Side) -> u64| {
            let each = self.sides.iter().map(|side| per_weight(of(side).into(), side.weight));
            u64::try_from(each.max().unwrap_or(0)).unwrap_or(u64::MAX)
        };
        policy.bound(&Facts {
            seats: self.seats,
            lead: 0,
            turn_max: greatest(|side| side.guess_max.max(1)),
            over_max: greatest(|side| side.over_max),
            sides: tenants.map(|tenant| self.sides[tenant as usize]),
        })
    }
}

/// Serves the requests in the order of `policy`. `told` is given the number of requests that have
/// ended, now and then, and says whether to go on; `None` if it did not.
pub fn simulate(
    requests: &Requests,
    server: &Server,
    policy: Box<dyn Policy>,
    told: &mut dyn FnMut(usize) -> bool,
) -> Option<(Served, Extremes)> {
    let all = &requests.all;
    let mut dispatcher: Dispatcher<u32, u32> = Dispatcher::with_policy(server.settings(), policy);
    for (place, tenant) in requests.tenants.iter().enumerate() {
        let place = place as u32;
        let Ok(()) = dispatcher.set_weight(&place, tenant.weight);
        if tenant.priority != 0 {
            dispatcher.set_priority(&place, tenant.priority);
        }
    }
    let mut guesses = Stream::new(server.seed, "requests/guess");
    let mut extremes = Extremes::new(server.seats, requests);
    if server.known == Known::No {
        // A request without a guess is thought to cost a mean of costs, or what is set.
        let most = all.iter().map(work).fold(server.guess, u64::max);
        (0..).zip(&requests.tenants).for_each(|(tenant, _)| extremes.guessed(tenant, most));
    }
    let mut served = Served { starts: Vec::with_capacity(all.len()), ends: Vec::with_capacity(all.len()) };
    let mut running: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let mut tickets: Vec<Option<Ticket>> = vec![None; all.len()];
    let mut next = 0;
    loop {
        let end = running.peek().map(|Reverse((end, _))| *end);
        let Some(now) = all.get(next).map(|request| request.at).into_iter().chain(end).min() else { break };
        dispatcher.tell_time(now);
        while let Some(Reverse((_, place))) = running.peek().copied().filter(|Reverse((end, _))| *end == now) {
            running.pop();
            let ticket = tickets[place as usize].take();
            let is_running = ticket.is_some_and(|ticket| dispatcher.complete(ticket, work(&all[place as usize])));
            assert!(is_running, "request {place} ends at {now} and does not run");
            served.ends.push((now, place));
            if served.ends.len().is_multiple_of(TOLD_EACH) && !told(served.ends.len()) {
                return None;
            }
        }
        while let Some(request) = all.get(next).filter(|request| request.at == now) {
            let guess = match server.known {
                Known::No => None,
                Known::Yes => Some(work(request)),
                Known::Error(part) => {
                    let factor = 1.0 + part * (2.0 * guesses.uniform() - 1.0);
                    Some((work(request) as f64 * factor + 0.5) as u64)
                }
            };
            if let Some(guess) = guess {
                extremes.guessed(request.tenant, guess);
            }
            let ask = Ask { seats: request.seats, guess };
            let pushed = dispatcher.push_sized(&request.tenant, ask, request.size, next as u32);
            assert!(pushed.is_ok(), "request {next} is refused by a dispatcher without limits: {pushed:?}");
            next += 1;
        }
        while let Some(started) = dispatcher.start() {
            let request = &all[started.item as usize];
            let service = |cost| dispatcher.policy().service(request.size, cost);
            let (guess, cost) = (started.charged, work(request));
            extremes.started(request.tenant, service(cost), service(guess).saturating_sub(service(cost)));
            served.starts.push((now, started.item));
            tickets[started.item as usize] = Some(started.ticket);
            running.push(Reverse((now.saturating_add(request.cost), started.item)));
        }
    }
    assert_eq!(served.ends.len(), all.len(), "every request ends");
    Some((served, extremes))
}

/// What a request costs on all its seats, in nanoseconds.
#[must_use]
pub fn work(request: &Request) -> u64 {
    request.cost.saturating_mul(request.seats.into())
}

/// Requests from one word of progress to the next.
const TOLD_EACH: usize = 1 << 14;
