//! What is audited: a queue of the registry, or anything that is built like one.

use crate::checked::Rules;
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::promise::{Load, Measure};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{ClassifierSettings, DesignSettings, SchedulerSettings};
use fairq_sched::units::Limit;

/// A discipline and what is claimed of it.
pub trait Subject {
    /// What holds for it, with so much that may wait; nothing if it cannot have that limit.
    fn rules(&self, limit: Limit) -> Option<Rules>;

    /// Builds it, with so much that may wait.
    fn build(&self, limit: Limit, line: &Line) -> Box<dyn Discipline>;

    /// The bound that it claims.
    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64>;
}

/// `queue`, its limit being `limit` where it says none.
fn limited(queue: &Queue, limit: Limit) -> Queue {
    let limit = queue.limit.or_else(|| (limit != Limit::Unlimited).then_some(limit));
    Queue { limit, ..queue.clone() }
}

impl Subject for Queue {
    fn rules(&self, limit: Limit) -> Option<Rules> {
        let queue = limited(self, limit);
        queue.fault().is_none().then(|| Rules::of(&queue))
    }

    fn build(&self, limit: Limit, line: &Line) -> Box<dyn Discipline> {
        limited(self, limit).build(line)
    }

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        let tells_apart = matches!(self.classifier(), ClassifierSettings::Pair(_) | ClassifierSettings::PortPair(_));
        let part = self.design.as_ref().map_or_else(|| self.scheduler.part(), DesignSettings::part);
        if tells_apart { part.promise(measure, load) } else { None }
    }
}

/// The settings of `queue`'s scheduler or design that take other paths, if its own are the default.
#[must_use]
pub fn variants(queue: &Queue) -> Vec<Queue> {
    let mut others: Vec<Queue> = match &queue.design {
        Some(design) => DesignSettings::variants(design.name())
            .into_iter()
            .map(|design| Queue { design: Some(design), ..queue.clone() })
            .collect(),
        None => SchedulerSettings::variants(queue.scheduler.name())
            .into_iter()
            .map(|scheduler| Queue { scheduler, ..queue.clone() })
            .collect(),
    };
    if others.first() != Some(queue) {
        return Vec::new();
    }
    others.remove(0);
    others.retain(|other| other.fault().is_none());
    others
}
