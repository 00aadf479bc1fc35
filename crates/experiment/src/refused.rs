//! The schedulers and buffer policies that do not fit together, with the reason: a page generated
//! from [`Queue::fault`].

use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::Limit;
use std::fmt::Write as _;

/// A pair that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The scheduler.
    pub scheduler: &'static str,
    /// The buffer policy.
    pub buffer: &'static str,
    /// The reason.
    pub reason: String,
}

/// Every pair of scheduler and buffer policy with their default settings, and a limit.
#[must_use]
pub fn pairs() -> Vec<Queue> {
    let limit = Some(Limit::Packets(40));
    let schedulers = || SCHEDULERS.iter().filter_map(|card| SchedulerSettings::by_name(card.name));
    let buffers = || BUFFER_POLICIES.iter().map(|card| BufferSettings::by_name(card.name));
    schedulers()
        .flat_map(|scheduler| buffers().map(move |buffer| Queue { buffer, ..Queue::new(scheduler.clone(), limit) }))
        .collect()
}

/// The pairs that are refused.
#[must_use]
pub fn refusals() -> Vec<Refusal> {
    let refusal = |queue: Queue| {
        let reason = queue.fault()?;
        Some(Refusal { scheduler: queue.scheduler.name(), buffer: queue.buffer().name(), reason })
    };
    pairs().into_iter().filter_map(refusal).collect()
}

/// The page of refused pairs, in Markdown.
#[must_use]
pub fn page() -> String {
    let (all, refused) = (pairs().len(), refusals());
    let share = 100.0 * refused.len() as f64 / all as f64;
    let mut page = format!(
        "# Refused pairs\n\nGenerated from what each part says when it is asked. Of {all} pairs of a scheduler and a buffer \
         policy, with their\ndefault settings and a limit, {} are refused: {share:.1} %. All others run.\n",
        refused.len()
    );
    if !refused.is_empty() {
        page.push_str("\n| scheduler | buffer policy | why |\n|---|---|---|\n");
    }
    for Refusal { scheduler, buffer, reason } in refused {
        let _ = writeln!(page, "| `{scheduler}` | `{buffer}` | {} |", reason.replace('|', "\\|"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_are_refused_and_each_says_why() {
        let refused = refusals();
        assert!(refused.len() * 10 < pairs().len(), "{} of {} pairs are refused", refused.len(), pairs().len());
        assert!(refused.iter().all(|refusal| !refusal.reason.is_empty()));
    }
}
