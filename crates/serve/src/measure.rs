//! What each tenant waited and got, of requests with their starts and ends.

use crate::gaps::Gaps;
use crate::level::Level;
use crate::requests::{NS_PER_S, Request, Requests, Served};
use std::collections::BTreeMap;

/// What a tenant got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfTenant {
    /// Its requests.
    pub requests: u64,
    /// Seat-seconds that it was given.
    pub service_s: f64,
    /// The largest cost, in seconds of a seat.
    pub cost_s_max: f64,
    /// The waiting times of its requests, in nanoseconds, ascending.
    pub waits: Vec<u64>,
    /// The mean of (waiting + cost)/cost, of the requests that cost something.
    pub slowdown_mean: Option<f64>,
    /// How long it had a request waiting.
    pub waiting_s: f64,
    /// Its part of the seats while it had a request waiting; `None` if it never had.
    pub share: Option<f64>,
    /// The max-min share of that time.
    pub max_min_share: Option<f64>,
    /// How far it fell behind at most while both waited, in seconds over weight, and the tenant.
    pub gap: Option<(f64, u32)>,
    /// Where it fell behind its max-min share most, of all times in which it waited throughout.
    pub worst: Option<Interval>,
}

impl OfTenant {
    /// The mean waiting time in seconds; `None` without requests.
    #[must_use]
    pub fn waiting_s_mean(&self) -> Option<f64> {
        let sum: u128 = self.waits.iter().map(|wait| u128::from(*wait)).sum();
        (!self.waits.is_empty()).then(|| sum as f64 / NS_PER_S as f64 / self.waits.len() as f64)
    }

    /// The least waiting time that a part `p` of the requests did not exceed, in seconds.
    #[must_use]
    pub fn waiting_s_quantile(&self, p: f64) -> Option<f64> {
        let rank = libm::ceil(p * self.waits.len() as f64) as usize;
        self.waits.get(rank.saturating_sub(1)).map(|wait| seconds(*wait))
    }
}

/// A time in which a tenant waited throughout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its beginning, in seconds since the first arrival.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// The seat-seconds that the tenant got less than its max-min share.
    pub missing_s: f64,
}

/// What sums of floating point may leave, in seconds.
const DUST_S: f64 = 1e-9;

/// What all tenants got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Of each tenant, in their order.
    pub tenants: Vec<OfTenant>,
    /// From the first arrival to the last end.
    pub duration_s: f64,
    /// The part of the seats that was taken in that time.
    pub busy: f64,
    /// The fewest seats with which all but a hundredth of the service can be: a log may have
    /// more than are said.
    pub seats_needed: u64,
    /// The tenants between which gaps are taken.
    pub compared: Vec<u32>,
}

/// The part of the service beyond the seats which the rounding of times may account for.
const BEYOND_MAX: f64 = 0.01;

/// What is kept of a tenant while events pass.
#[derive(Clone, Debug, Default)]
struct Account {
    /// Seats of its requests that wait, and of those that run.
    waiting: u64,
    running: u64,
    /// How many requests wait.
    waiting_requests: u64,
    slowdown: f64,
    with_cost: u64,
    /// Seat-seconds until `since`.
    got: f64,
    since: u64,
    /// Since when it waits, and what it had got and would have had then.
    began: (u64, f64, f64),
    /// What it got and would have got while it waited.
    sums: (f64, f64),
    /// The least that was missing since it waits, and when.
    least: (f64, u64),
}

/// Says what each tenant waited and got on `seats` seats; `service` is what a request counts where
/// tenants are compared with each other, in nanoseconds.
#[must_use]
pub fn measure(requests: &Requests, served: &Served, seats: u32, service: &dyn Fn(&Request) -> u64) -> Measured {
    let weights: Vec<_> = requests.tenants.iter().map(|tenant| tenant.weight).collect();
    let mut found = vec![OfTenant::default(); weights.len()];
    for request in &requests.all {
        found[request.tenant as usize].requests += 1;
    }
    let counts: Vec<u64> = found.iter().map(|tenant| tenant.requests).collect();
    for (tenant, count) in found.iter_mut().zip(&counts) {
        tenant.waits.reserve_exact(*count as usize);
    }
    let mut pass = Pass {
        accounts: vec![Account::default(); weights.len()],
        level: Level::new(seats, weights.iter().copied()),
        gaps: Gaps::new(&weights, &counts),
        found,
        taken: Taken::default(),
    };
    pass.run(requests, served, service);
    pass.done(seats, served)
}

struct Pass {
    accounts: Vec<Account>,
    level: Level,
    gaps: Gaps,
    found: Vec<OfTenant>,
    taken: Taken,
}

/// The seats that are taken.
#[derive(Debug, Default)]
struct Taken {
    now: u64,
    /// How long as many seats were taken, in seconds until `since`.
    times: BTreeMap<u64, f64>,
    since: u64,
}

impl Taken {
    fn set(&mut self, time: u64, taken: u64) {
        if time > self.since {
            *self.times.entry(self.now).or_default() += seconds(time - self.since);
        }
        (self.now, self.since) = (taken, time);
    }

    /// The fewest seats beyond which at most `most_s` seat-seconds were taken.
    fn needed(&self, most_s: f64) -> u64 {
        let beyond_s =
            |seats: u64| self.times.range(seats..).map(|(taken, time)| (taken - seats) as f64 * time).sum::<f64>();
        let (mut low, mut high) = (0, self.times.keys().last().copied().unwrap_or(0));
        while low < high {
            let seats = low.midpoint(high);
            if beyond_s(seats) <= most_s { high = seats } else { low = seats + 1 }
        }
        high
    }
}

impl Pass {
    fn run(&mut self, requests: &Requests, served: &Served, service: &dyn Fn(&Request) -> u64) {
        let (all, starts, ends) = (&requests.all, &served.starts, &served.ends);
        let (mut arrival, mut start, mut end) = (0, 0, 0);
        // A request without cost ends in the instant in which it starts, but not before.
        let mut has_started = vec![false; all.len()];
        loop {
            let times = [
                all.get(arrival).map(|request| request.at),
                starts.get(start).map(|(time, _)| *time),
                ends.get(end).map(|(time, _)| *time),
            ];
            let Some(now) = times.into_iter().flatten().min() else { break };
            while let Some((_, place)) =
                ends.get(end).filter(|(time, place)| *time == now && has_started[*place as usize])
            {
                self.end(now, &all[*place as usize]);
                end += 1;
            }
            while let Some(request) = all.get(arrival).filter(|request| request.at == now) {
                self.arrive(now, request);
                arrival += 1;
            }
            // One at a time: a request without cost ends before the next takes its seat.
            if let Some((_, place)) = starts.get(start).filter(|(time, _)| *time == now) {
                has_started[*place as usize] = true;
                let request = &all[*place as usize];
                self.gaps.serve(request.tenant, service(request));
                self.start(now, request);
                start += 1;
            }
        }
    }

    fn arrive(&mut self, now: u64, request: &Request) {
        let tenant = request.tenant as usize;
        let account = &mut self.accounts[tenant];
        account.waiting += u64::from(request.seats);
        account.waiting_requests += 1;
        let demand = account.waiting + account.running;
        self.level.set(now, request.tenant, demand);
        if self.accounts[tenant].waiting_requests == 1 {
            let would = self.level.got(now, request.tenant);
            let account = &mut self.accounts[tenant];
            account.count(now);
            account.began = (now, account.got, would);
            account.least = (would - account.got, now);
            self.gaps.set_waiting(request.tenant, true);
        } else {
            self.look(now, request.tenant);
        }
    }

    fn start(&mut self, now: u64, request: &Request) {
        let tenant = request.tenant as usize;
        let wait = now - request.at;
        self.look(now, request.tenant);
        let (found, account) = (&mut self.found[tenant], &mut self.accounts[tenant]);
        found.waits.push(wait);
        let cost_s = seconds(request.cost) * f64::from(request.seats);
        found.service_s += cost_s;
        found.cost_s_max = found.cost_s_max.max(cost_s);
        if request.cost > 0 {
            account.slowdown += (wait as f64 + request.cost as f64) / request.cost as f64;
            account.with_cost += 1;
        }
        account.waiting -= u64::from(request.seats);
        account.waiting_requests -= 1;
        account.running += u64::from(request.seats);
        self.taken.set(now, self.taken.now + u64::from(request.seats));
        if account.waiting_requests == 0 {
            let would = self.level.got(now, request.tenant);
            let (began, got, had) = account.began;
            found.waiting_s += seconds(now - began);
            account.sums.0 += account.got - got;
            account.sums.1 += would - had;
            self.gaps.set_waiting(request.tenant, false);
        }
    }

    fn end(&mut self, now: u64, request: &Request) {
        let account = &mut self.accounts[request.tenant as usize];
        account.count(now);
        account.running -= u64::from(request.seats);
        self.taken.set(now, self.taken.now - u64::from(request.seats));
        let demand = account.waiting + account.running;
        let is_waiting = account.waiting_requests > 0;
        self.level.set(now, request.tenant, demand);
        if is_waiting {
            self.look(now, request.tenant);
        }
    }

    /// Counts until now a tenant that waits, and keeps where it missed most.
    fn look(&mut self, now: u64, tenant: u32) {
        let would = self.level.got(now, tenant);
        let account = &mut self.accounts[tenant as usize];
        account.count(now);
        let missing = would - account.got;
        let (least, since) = account.least;
        if missing < least {
            account.least = (missing, now);
        } else {
            let worst = &mut self.found[tenant as usize].worst;
            let missing_s = missing - least;
            if missing_s > DUST_S && worst.is_none_or(|worst| missing_s > worst.missing_s) {
                *worst = Some(Interval { from_s: seconds(since), to_s: seconds(now), missing_s });
            }
        }
    }

    fn done(mut self, seats: u32, served: &Served) -> Measured {
        let last = served.ends.last().map_or(0, |(time, _)| *time);
        let duration_s = seconds(last);
        let whole = f64::from(seats);
        for (place, (tenant, account)) in self.found.iter_mut().zip(&self.accounts).enumerate() {
            tenant.waits.sort_unstable();
            tenant.slowdown_mean = (account.with_cost > 0).then(|| account.slowdown / account.with_cost as f64);
            let part = |sum: f64| (tenant.waiting_s > 0.0).then(|| sum / (whole * tenant.waiting_s));
            (tenant.share, tenant.max_min_share) = (part(account.sums.0), part(account.sums.1));
            tenant.gap = self.gaps.worst(place as u32).map(|(gap, other)| (gap / NS_PER_S as f64, other));
        }
        let service: f64 = self.found.iter().map(|tenant| tenant.service_s).sum();
        let busy = if duration_s > 0.0 { service / (whole * duration_s) } else { 0.0 };
        let seats_needed = self.taken.needed(BEYOND_MAX * service);
        let compared = self.gaps.compared().to_vec();
        Measured { tenants: self.found, duration_s, busy, seats_needed, compared }
    }
}

impl Account {
    /// Counts the service until now.
    fn count(&mut self, now: u64) {
        self.got += seconds(now - self.since) * self.running as f64;
        self.since = now;
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S as f64
}
