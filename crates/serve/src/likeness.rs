//! Which policy a log looks like: whether a policy starts requests in the order of the log.
//!
//! At each start of the log, the first waiting request of each other tenant was passed over. The
//! policy agrees with the log on such a pair if it starts the two in the same order. Requests of
//! one tenant start in their order under all policies, so that they tell nothing.

use crate::gaps::COMPARED_MAX;
use crate::requests::{Requests, Served};
use std::collections::VecDeque;

/// The part of the pairs in which `served` has the order of `log`, and how many pairs there are.
#[must_use]
pub fn likeness(requests: &Requests, log: &Served, served: &Served) -> (Option<f64>, u64) {
    let mut place = vec![0_u32; requests.all.len()];
    for (at, (_, request)) in (0..).zip(&served.starts) {
        place[*request as usize] = at;
    }
    let mut waiting: Vec<VecDeque<u32>> = vec![VecDeque::new(); requests.tenants.len()];
    // Tenants with waiting requests, in no order; and where each stands there.
    let mut present: Vec<u32> = Vec::new();
    let mut started = vec![false; requests.all.len()];
    let (mut next, mut pairs, mut agreed) = (0, 0_u64, 0_u64);
    for (time, request) in &log.starts {
        while let Some(arrived) = requests.all.get(next).filter(|arrived| arrived.at <= *time) {
            let line = &mut waiting[arrived.tenant as usize];
            if line.is_empty() {
                present.push(arrived.tenant);
            }
            line.push_back(next as u32);
            next += 1;
        }
        started[*request as usize] = true;
        let own = requests.all[*request as usize].tenant;
        for tenant in present.iter().filter(|tenant| **tenant != own).take(COMPARED_MAX) {
            let Some(first) = waiting[*tenant as usize].front() else { continue };
            pairs += 1;
            agreed += u64::from(place[*request as usize] < place[*first as usize]);
        }
        let line = &mut waiting[own as usize];
        while line.front().is_some_and(|first| started[*first as usize]) {
            line.pop_front();
        }
        if line.is_empty() {
            present.retain(|tenant| *tenant != own);
        }
    }
    ((pairs > 0).then(|| agreed as f64 / pairs as f64), pairs)
}
