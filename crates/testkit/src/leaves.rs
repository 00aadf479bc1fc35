//! Trees with queues in their leaves, made of the schedulers of the registry that know classes.

use fairq_sched::leaf::LeafQueue;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{SCHEDULERS, SchedulerSettings};

/// The scheduler with what `queue` gives for each of its leaves, by their number; `None` if no queue
/// may stand in a leaf of it.
#[must_use]
pub fn with_leaves(mut scheduler: SchedulerSettings, queue: &dyn Fn(usize) -> Queue) -> Option<SchedulerSettings> {
    let leaf = |at| Some(LeafQueue(Box::new(queue(at))));
    let names: Vec<String> = scheduler.part().leaves().iter().map(|leaf| leaf.name.to_owned()).collect();
    let of_class = |name: &String| names.iter().position(|other| other == name).and_then(leaf);
    match &mut scheduler {
        SchedulerSettings::Cbs(cbs) => {
            cbs.classes.iter_mut().for_each(|class| class.queue = of_class(&class.name));
            cbs.queue = leaf(cbs.classes.len());
        }
        SchedulerSettings::Drr(drr) => drr.classes.iter_mut().for_each(|class| class.queue = of_class(&class.name)),
        SchedulerSettings::Ets(ets) => ets.queues = (0..names.len()).filter_map(leaf).collect(),
        SchedulerSettings::Hfsc(hfsc) => hfsc.classes.iter_mut().for_each(|class| class.queue = of_class(&class.name)),
        SchedulerSettings::Htb(htb) => htb.classes.iter_mut().for_each(|class| class.queue = of_class(&class.name)),
        SchedulerSettings::LinuxQfq(qfq) => {
            qfq.classes.iter_mut().for_each(|class| class.queue = of_class(&class.name))
        }
        SchedulerSettings::Priority(priority) => {
            priority.queues = (0..names.len()).filter_map(leaf).collect();
        }
        SchedulerSettings::TokenBucket(bucket) => bucket.queue = leaf(0),
        _ => return None,
    }
    Queue::new(scheduler.clone(), None).has_leaves().then_some(scheduler)
}

/// Each scheduler of the registry in whose leaves queues may stand, with each of its settings, and
/// what `queue` gives for its leaves.
pub fn trees(queue: &dyn Fn(usize) -> Queue) -> Vec<SchedulerSettings> {
    let all = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    all.filter_map(|scheduler| with_leaves(scheduler, queue)).collect()
}
