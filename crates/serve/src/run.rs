//! What was asked, done: each policy on each seed, on several threads, and the rows of the result.

use crate::answer;
use crate::document::{Document, LOG, Likeness, PolicyRow, Question, Row, TenantRow};
use crate::drawn::Drawn;
use crate::likeness::likeness;
use crate::log::{self, Columns};
use crate::measure::{Measured, measure};
use crate::options::{From, Named, Options};
use crate::requests::{NS_PER_S, Request, Requests, Served};
use crate::simulate::{Extremes, Server, simulate, work};
use fairq_text::Fault;
use std::borrow::Cow;
use std::cmp::Ordering as CmpOrdering;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ends of the 95 % interval of a mean.
pub type Ends = fn(&[f64]) -> Option<[f64; 2]>;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An option makes no sense.
    Asked(Fault),
    /// The log cannot be read: one line.
    Log(String),
    /// It was told to stop.
    Stopped,
}

/// The requests of each seed.
enum Source {
    Log(Requests, Option<Served>),
    Drawn(Drawn, Options),
}

impl Source {
    fn of(options: &Options, read: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, Failure> {
        match options.from().map_err(Failure::Asked)? {
            From::Log(name) => {
                let text = read(&name).map_err(Failure::Log)?;
                let columns = Columns { speed: options.speed, seats: options.seats, done: options.done.clone() };
                let (mut requests, served) = log::read(&name, &text, &columns).map_err(Failure::Log)?;
                options.apply(&mut requests).map_err(Failure::Asked)?;
                Ok(Self::Log(requests, served))
            }
            From::Drawn(drawn) => Ok(Self::Drawn(drawn, options.clone())),
        }
    }

    fn requests(&self, seed: u64) -> Result<Cow<'_, Requests>, Fault> {
        match self {
            Self::Log(requests, _) => Ok(Cow::Borrowed(requests)),
            Self::Drawn(drawn, options) => {
                let mut requests = drawn.requests(options.duration, seed);
                options.apply(&mut requests)?;
                Ok(Cow::Owned(requests))
            }
        }
    }

    /// The log with its starts and ends, if it has them.
    const fn served(&self) -> Option<(&Requests, &Served)> {
        match self {
            Self::Log(requests, Some(served)) => Some((requests, served)),
            _ => None,
        }
    }

    const fn seeds(&self) -> u32 {
        match self {
            Self::Log(..) => 1,
            Self::Drawn(_, options) => options.seeds,
        }
    }
}

/// Does what `options` ask. `read` gives the text of the log; `ends` the intervals; `told` is given
/// the part that is done, and says whether to go on.
///
/// # Errors
/// One line.
pub fn run(
    options: &Options,
    read: &dyn Fn(&str) -> Result<String, String>,
    ends: Ends,
    told: &mut (dyn FnMut(f64) -> bool + Send),
) -> Result<Document, Failure> {
    let known = options.known().map_err(Failure::Asked)?;
    let policies = options.named().map_err(Failure::Asked)?;
    let source = Source::of(options, read)?;
    // Before all else, so that a wrong option is told at once.
    let first = source.requests(1).map_err(Failure::Asked)?;
    let names: Vec<String> = first.tenants.iter().map(|tenant| tenant.name.clone()).collect();
    let guess = (NS_PER_S as f64 / options.speed).clamp(1.0, 1e18) as u64;
    let server = Server { seats: options.seats, known, guess, seed: 1 };

    let seats = options.seats;
    let of_log =
        source.served().map(|(requests, served)| Seed::of(measure(requests, served, seats, &work), &|_, _| None));
    let (of_policies, likeness) = each(&source, &policies, server, options.workers, told).ok_or(Failure::Stopped)?;
    let texts = of_log.iter().map(|_| LOG).chain(policies.iter().map(|policy| policy.text.as_str()));
    let tenant = |(at, tenant)| tenant_row(tenant, at, &of_policies[0], &first, seats);
    let tenants: Vec<TenantRow> = first.tenants.iter().enumerate().map(tenant).collect();
    let runs: Vec<&[Seed]> = of_log.as_slice().chunks(1).chain(of_policies.iter().map(Vec::as_slice)).collect();
    let (mut rows, mut policies) = (Vec::new(), Vec::new());
    for (policy, seeds) in texts.zip(runs) {
        policies.push(policy_row(policy, seeds, seats));
        rows.extend(names.iter().enumerate().map(|(at, name)| row(policy, name, at, seeds, &names, ends)));
    }
    let answer = answer::of(&tenants, &policies, &rows, &likeness);
    Ok(Document { question: question(options, &source), tenants, policies, rows, likeness, answer })
}

fn question(options: &Options, source: &Source) -> Question {
    let is_drawn = matches!(source, Source::Drawn(..));
    Question {
        log: options.log.clone(),
        tenants: options.tenants.clone(),
        seats: options.seats,
        speed: options.speed,
        cost_known: options.cost_known.clone(),
        seeds: is_drawn.then_some(options.seeds),
        duration_s: is_drawn.then(|| options.duration.as_s()),
        done: options.done.clone(),
    }
}

/// The seeds of each policy; how like the log each is, the most alike first. `None` if it was told
/// to stop.
fn each(
    source: &Source,
    policies: &[Named],
    server: Server,
    workers: usize,
    told: &mut (dyn FnMut(f64) -> bool + Send),
) -> Option<(Vec<Vec<Seed>>, Vec<Likeness>)> {
    let seeds = source.seeds();
    let tasks: Vec<(usize, u64)> =
        (0..policies.len()).flat_map(|policy| (1..=u64::from(seeds)).map(move |seed| (policy, seed))).collect();
    let done = parallel(&tasks, workers, told, &|&(at, seed), told| {
        let requests = source.requests(seed).ok()?;
        let policy = policies[at].settings.build();
        let (served, extremes) = simulate(&requests, &Server { seed, ..server }, policy, told)?;
        let likeness = source.served().map(|(_, log)| likeness(&requests, log, &served));
        Some((one(&policies[at], &requests, &served, &extremes, server.seats), likeness))
    })?;
    let (mut runs, mut alike) = (vec![Vec::new(); policies.len()], Vec::new());
    for ((at, _), (seed, likeness)) in tasks.into_iter().zip(done) {
        runs[at].push(seed);
        let policy = policies[at].text.clone();
        alike.extend(likeness.map(|(agreement, pairs)| Likeness { policy, agreement, pairs }));
    }
    alike.sort_by(|a, b| b.agreement.partial_cmp(&a.agreement).unwrap_or(CmpOrdering::Equal));
    Some((runs, alike))
}

/// What is kept of a policy on a seed.
#[derive(Clone, Debug)]
struct Seed {
    numbers: Vec<Numbers>,
    busy: f64,
    duration_s: f64,
    seats_needed: u64,
}

/// What is kept of a tenant.
#[derive(Clone, Debug)]
struct Numbers {
    requests: u64,
    service_s: f64,
    waiting: [Option<f64>; 5],
    slowdown: Option<f64>,
    waits: f64,
    share: Option<f64>,
    max_min_share: Option<f64>,
    worst: Option<crate::measure::Interval>,
    gap: Option<(f64, u32)>,
    bound_s: Option<f64>,
    cost_max: f64,
}

impl Seed {
    /// `bound` is that of a tenant and any of those that are named.
    fn of(measured: Measured, bound: &dyn Fn(u32, &[u32]) -> Option<u128>) -> Self {
        let Measured { tenants, busy, duration_s, seats_needed, compared } = measured;
        let numbers = tenants.into_iter().enumerate().map(|(at, tenant)| {
            let quantile = |p| tenant.waiting_s_quantile(p);
            let is_compared = compared.contains(&(at as u32));
            let bound = match tenant.gap {
                Some((_, other)) => bound(at as u32, &[other]),
                None => is_compared.then(|| bound(at as u32, &compared)).flatten(),
            };
            Numbers {
                requests: tenant.requests,
                service_s: tenant.service_s,
                waiting: [tenant.waiting_s_mean(), quantile(0.5), quantile(0.95), quantile(0.99), quantile(1.0)],
                slowdown: tenant.slowdown_mean,
                waits: if duration_s > 0.0 { tenant.waiting_s / duration_s } else { 0.0 },
                share: tenant.share,
                max_min_share: tenant.max_min_share,
                worst: tenant.worst,
                gap: tenant.gap,
                bound_s: bound.map(|ns| ns as f64 / NS_PER_S as f64),
                cost_max: tenant.cost_s_max,
            }
        });
        Self { numbers: numbers.collect(), busy, duration_s, seats_needed }
    }
}

fn one(policy: &Named, requests: &Requests, served: &Served, extremes: &Extremes, seats: u32) -> Seed {
    let policy = policy.settings.build();
    let service = |request: &Request| policy.service(request.size, work(request));
    let measured = measure(requests, served, seats, &service);
    Seed::of(measured, &|tenant, others| extremes.bound_of(&*policy, tenant, others))
}

/// The mean of the seeds that have a value.
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn row(policy: &str, name: &str, at: usize, seeds: &[Seed], names: &[String], ends: Ends) -> Row {
    let each = || seeds.iter().map(|seed| &seed.numbers[at]);
    let values = |of: &dyn Fn(&Numbers) -> Option<f64>| each().filter_map(of).collect::<Vec<f64>>();
    let with_ends = |of: &dyn Fn(&Numbers) -> Option<f64>| {
        let values = values(of);
        let ends = if values.len() > 1 { ends(&values) } else { None };
        [mean(&values), ends.map(|ends| ends[0]), ends.map(|ends| ends[1])]
    };
    let waiting = with_ends(&|n| n.waiting[0]);
    let p99 = with_ends(&|n| n.waiting[3]);
    let slowdown = with_ends(&|n| n.slowdown);
    let share = with_ends(&|n| n.share);
    let worst =
        each().max_by(|a, b| a.gap.map(|gap| gap.0).partial_cmp(&b.gap.map(|gap| gap.0)).unwrap_or(CmpOrdering::Equal));
    let interval = each().filter_map(|n| n.worst).reduce(|a, b| if b.missing_s > a.missing_s { b } else { a });
    let gap = worst.and_then(|n| n.gap);
    Row {
        policy: policy.to_owned(),
        tenant: name.to_owned(),
        requests: each().map(|n| n.requests).sum(),
        service_s: mean(&values(&|n| Some(n.service_s))).unwrap_or(0.0),
        waiting_s_mean: waiting[0],
        waiting_s_mean_low: waiting[1].map(|low| low.max(0.0)),
        waiting_s_mean_high: waiting[2],
        waiting_s_p50: mean(&values(&|n| n.waiting[1])),
        waiting_s_p95: mean(&values(&|n| n.waiting[2])),
        waiting_s_p99: p99[0],
        waiting_s_p99_low: p99[1].map(|low| low.max(0.0)),
        waiting_s_p99_high: p99[2],
        waiting_s_max: values(&|n| n.waiting[4]).into_iter().reduce(f64::max),
        slowdown_mean: slowdown[0],
        slowdown_mean_low: slowdown[1].map(|low| low.max(1.0)),
        slowdown_mean_high: slowdown[2],
        waits: mean(&values(&|n| Some(n.waits))).unwrap_or(0.0),
        share: share[0],
        share_low: share[1].map(|low| low.max(0.0)),
        share_high: share[2].map(|high| high.min(1.0)),
        max_min_share: mean(&values(&|n| n.max_min_share)),
        worst_from_s: interval.map(|worst| worst.from_s),
        worst_to_s: interval.map(|worst| worst.to_s),
        missing_s: interval.map(|worst| worst.missing_s),
        gap_s: gap.map(|(gap, _)| gap),
        gap_to: gap.and_then(|(_, other)| names.get(other as usize)).cloned(),
        bound_s: worst.and_then(|n| n.bound_s),
    }
}

fn policy_row(policy: &str, seeds: &[Seed], seats: u32) -> PolicyRow {
    let all = || seeds.iter().flat_map(|seed| &seed.numbers);
    let reached = all().filter_map(|n| Some(n.gap?.0 / n.bound_s?)).reduce(f64::max);
    let needed = seeds.iter().map(|seed| seed.seats_needed).max().unwrap_or(0);
    let note = (needed > u64::from(seats))
        .then(|| format!("as many as {needed} seats were taken at once; give --seats {needed}"));
    PolicyRow {
        policy: policy.to_owned(),
        busy: mean(&seeds.iter().map(|seed| seed.busy).collect::<Vec<_>>()).unwrap_or(0.0),
        duration_s: mean(&seeds.iter().map(|seed| seed.duration_s).collect::<Vec<_>>()).unwrap_or(0.0),
        gap_s_max: all().filter_map(|n| n.gap.map(|gap| gap.0)).reduce(f64::max),
        bound_reached: reached,
        note,
    }
}

fn tenant_row(tenant: &crate::requests::Tenant, at: usize, seeds: &[Seed], first: &Requests, seats: u32) -> TenantRow {
    let each = || seeds.iter().map(|seed| &seed.numbers[at]);
    let (requests, service): (u64, f64) = (each().map(|n| n.requests).sum(), each().map(|n| n.service_s).sum());
    // Of random requests the time in which they arrive is that of the first seed.
    let arriving = first.all.last().map_or(0.0, |last| last.at as f64 / NS_PER_S as f64);
    let mean_service = service / seeds.len() as f64;
    TenantRow {
        tenant: tenant.name.clone(),
        weight: f64::from(tenant.weight.thousandths()) / 1000.0,
        priority: tenant.priority,
        requests,
        cost_s_mean: if requests > 0 { service / requests as f64 } else { 0.0 },
        cost_s_max: each().map(|n| n.cost_max).fold(0.0, f64::max),
        load: (arriving > 0.0).then(|| mean_service / (arriving * f64::from(seats))),
    }
}

/// What a task tells what is done of it, and which says whether to go on.
type Told<'a> = &'a mut dyn FnMut(usize) -> bool;

/// The results of tasks in their order, done on as many threads; `None` if it was told to stop.
fn parallel<T: Sync, R: Send>(
    tasks: &[T],
    workers: usize,
    told: &mut (dyn FnMut(f64) -> bool + Send),
    task: &(impl Fn(&T, Told<'_>) -> Option<R> + Sync),
) -> Option<Vec<R>> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let told = Mutex::new((told, true));
    let results: Mutex<Vec<Option<R>>> = Mutex::new(tasks.iter().map(|_| None).collect());
    let on = |done: usize| {
        let mut told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        told.1 = told.1 && (told.0)(done as f64 / tasks.len() as f64);
        told.1
    };
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = tasks.get(at) else { return };
            let Some(result) = task(one, &mut |_| on(finished.load(Ordering::Relaxed))) else { return };
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[at] = Some(result);
            if !on(finished.fetch_add(1, Ordering::Relaxed) + 1) {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers.clamp(1, tasks.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_iter().collect()
}
