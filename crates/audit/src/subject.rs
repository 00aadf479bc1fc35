//! What is audited: a queue of the registry, or anything that is built like one.

use crate::work::{Counted, counted};
use fairq_sched::card::Card;
use fairq_sched::checked::Rules;
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::promise::{Load, Measure};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, ClassifierSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, POLICERS,
    PolicerSettings, SCHEDULERS, SchedulerSettings,
};
use fairq_sched::units::Limit;

/// A discipline and what is claimed of it.
pub trait Subject {
    /// The rules that hold for it with `limit`; `None` if it cannot have that limit.
    fn rules(&self, limit: Limit) -> Option<Rules>;

    /// Builds the discipline with `limit`.
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

/// What a part claims of its cost, and what was counted of it: an audit counts nothing,
/// [`crate::work::COUNTED_BY`] does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The name of the part in the registry.
    pub part: &'static str,
    /// The Cost line of its card.
    pub claimed: String,
    /// Instructions, by the table that stands beside the code.
    pub counted: Option<Counted>,
}

/// What the cards claim for the scheduler, the buffer policies and the marker of `queue`, or for
/// its design, and for its policer.
#[must_use]
pub fn costs(queue: &Queue) -> Vec<Cost> {
    let policer = queue.policer.as_ref().map(|policer| (POLICERS, PolicerSettings::name(policer)));
    let parts = match &queue.design {
        Some(design) => vec![(DESIGNS, design.name())],
        None => {
            let (buffer, overflow) = (queue.buffer(), queue.overflow());
            let mut parts = vec![(SCHEDULERS, queue.scheduler.name()), (BUFFER_POLICIES, buffer.name())];
            parts.extend(overflow.as_ref().map(|overflow| (BUFFER_POLICIES, BufferSettings::name(overflow))));
            parts.extend(queue.marker.as_ref().map(|marker| (MARKERS, MarkerSettings::name(marker))));
            parts
        }
    };
    let card = |(cards, name): (&'static [Card], &str)| cards.iter().find(|card| card.name == name);
    let cost = |card: &Card| Cost { part: card.name, claimed: card.field("Cost"), counted: counted(card.name) };
    policer.into_iter().chain(parts).filter_map(card).map(cost).collect()
}

/// Variants of `queue` with settings of its scheduler or design that run other code, if its own are
/// the default.
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
