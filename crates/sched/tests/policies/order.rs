//! What the cards of policies without a bound on service promise of the order of starts.

use super::unlimited;
use fairq_sched::work::registry::PolicySettings;
use fairq_sched::work::{Ask, Dispatcher, Ticket};
use fairq_testkit::draw::{Draw, Replay};
use std::collections::VecDeque;

/// What is known of a tenant from outside.
#[derive(Clone, Default)]
struct Seen {
    /// The items that wait, by their place in the order of admission.
    waiting: VecDeque<u64>,
    running: usize,
    started: i64,
}

/// Runs `policy` on random items of one seat and cost from 1 to 50; `check` sees each start
/// before it is made: all tenants, and whose it is.
fn run(policy: &PolicySettings, seed: u64, mut check: impl FnMut(&[Seen], usize)) {
    let _replay = Replay(format!("{policy:?}, seed {seed}"));
    let mut draw = Draw::new(seed);
    let mut dispatcher = Dispatcher::with_policy(unlimited(1 + draw.below(9) as u32), policy.build());
    let mut seen = vec![Seen::default(); 2 + draw.below(5) as usize];
    for tenant in 0..seen.len() {
        dispatcher.set_priority(&tenant, tenant as u32 / 2);
    }
    let (mut running, mut admitted): (Vec<(Ticket, usize)>, u64) = (Vec::new(), 0);
    for _ in 0..600 {
        for (tenant, seen) in seen.iter_mut().enumerate() {
            if draw.once_in(2 + tenant as u64) {
                dispatcher.push(&tenant, Ask::default(), admitted).expect("no limit");
                seen.waiting.push_back(admitted);
                admitted += 1;
            }
        }
        while let Some(started) = dispatcher.start() {
            check(&seen, started.tenant);
            let of = &mut seen[started.tenant];
            assert_eq!(of.waiting.pop_front(), Some(started.item), "its first");
            (of.running, of.started) = (of.running + 1, of.started + 1);
            running.push((started.ticket, started.tenant));
        }
        for _ in 0..1 + draw.below(2) {
            if !running.is_empty() {
                let (ticket, tenant) = running.swap_remove(draw.below(running.len() as u64) as usize);
                assert!(dispatcher.complete(ticket, 1 + draw.below(50)));
                seen[tenant].running -= 1;
            }
        }
    }
}

fn policy(name: &str) -> PolicySettings {
    PolicySettings::by_name(name).expect("a policy of the list")
}

#[test]
fn fcfs_starts_items_in_the_order_of_admission() {
    for seed in 0..40 {
        run(&policy("fcfs"), seed, |seen, tenant| {
            let first = seen.iter().filter_map(|seen| seen.waiting.front()).min();
            assert_eq!(seen[tenant].waiting.front(), first);
        });
    }
}

#[test]
fn round_robin_starts_as_many_items_of_each() {
    let mut most = 0;
    for seed in 0..100 {
        // For each ordered pair the least lead since both wait.
        let mut least = vec![None; 64];
        run(&policy("round_robin"), seed, |seen, tenant| {
            for i in 0..seen.len() {
                for j in (0..seen.len()).filter(|j| *j != i) {
                    let both = !seen[i].waiting.is_empty() && !seen[j].waiting.is_empty();
                    let ahead = seen[i].started - seen[j].started;
                    let before = &mut least[i * 8 + j];
                    *before = both.then(|| before.map_or(ahead, |before: i64| before.min(ahead)));
                    if let (Some(before), true) = (*before, tenant == i) {
                        most = most.max(ahead + 1 - before);
                    }
                }
            }
        });
    }
    assert_eq!(most, 1);
}

#[test]
fn no_item_starts_while_one_of_a_greater_priority_waits() {
    for seed in 0..40 {
        run(&policy("strict_priority"), seed, |seen, tenant| {
            // Two tenants of each priority.
            let above = seen.iter().skip((tenant / 2 + 1) * 2);
            assert_eq!(above.filter(|seen| !seen.waiting.is_empty()).count(), 0);
        });
    }
}

#[test]
fn no_noisy_tenant_starts_an_item_while_another_one_waits() {
    let mut noisy_starts = 0;
    for variant in PolicySettings::variants("max_in_flight") {
        let PolicySettings::MaxInFlight(settings) = &variant else { panic!("{variant:?}") };
        let (share, least) = (settings.share.thousandths() as usize, settings.least as usize);
        for seed in 0..40 {
            run(&variant, seed, |seen, tenant| {
                let all: usize = seen.iter().map(|seen| seen.running).sum();
                let is_noisy = |seen: &Seen| seen.running >= least && seen.running * 1000 > share * all;
                if is_noisy(&seen[tenant]) {
                    noisy_starts += 1;
                    assert!(seen.iter().all(|seen| seen.waiting.is_empty() || is_noisy(seen)));
                }
            });
        }
    }
    assert!(noisy_starts > 1000, "{noisy_starts}");
}
