//! The text form of a queue, by names alone: `fq + longest_queue_drop + pair + 40 packets`.

use fairq_sched::card::Card;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, CLASSIFIERS, ClassifierSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings,
    SCHEDULERS, SchedulerSettings,
};
use fairq_sched::units::Limit;

/// The parts that a text names.
#[derive(Default)]
struct Named {
    scheduler: Option<SchedulerSettings>,
    /// A policy for a full buffer, and one that acts before it is full.
    full: Option<BufferSettings>,
    early: Option<BufferSettings>,
    marker: Option<MarkerSettings>,
    classifier: Option<ClassifierSettings>,
    design: Option<DesignSettings>,
    limit: Option<Limit>,
}

/// The queue that `text` says, its parts with their default settings.
///
/// # Errors
/// One line: what is not known, is there twice or does not fit.
pub(crate) fn queue(text: &str) -> Result<Queue, String> {
    let mut named = Named::default();
    for term in text.split('+').map(str::trim) {
        if !named.take(term)? {
            return Err(format!("`{text}` has two parts of the kind of {term}"));
        }
    }
    let queue =
        named.queue().ok_or_else(|| format!("`{text}` names no scheduler; there are {}", names(&[SCHEDULERS])))?;
    queue.fault().map_or(Ok(queue), Err)
}

impl Named {
    /// Puts the part of `term` in its place; false if there was one.
    fn take(&mut self, term: &str) -> Result<bool, String> {
        if term.contains('(') {
            return Err(format!("`{term}`: settings cannot be given here; write the name alone"));
        }
        if term == "unlimited" || term.starts_with(|c: char| c.is_ascii_digit()) {
            let limit = term.parse().map_err(|error: fairq_sched::units::UnitError| error.to_string())?;
            return Ok(self.limit.replace(limit).is_none());
        }
        Ok(if let Some(found) = SchedulerSettings::by_name(term) {
            self.scheduler.replace(found).is_none()
        } else if let Some(found) = BufferSettings::by_name(term) {
            let place = if found.part().leaves_overflow() { &mut self.early } else { &mut self.full };
            place.replace(found).is_none()
        } else if let Some(found) = MarkerSettings::by_name(term) {
            self.marker.replace(found).is_none()
        } else if let Some(found) = ClassifierSettings::by_name(term) {
            self.classifier.replace(found).is_none()
        } else if let Some(found) = DesignSettings::by_name(term) {
            self.design.replace(found).is_none()
        } else {
            let all = names(&[SCHEDULERS, BUFFER_POLICIES, MARKERS, CLASSIFIERS, DESIGNS]);
            return Err(format!("`{term}` is no part of a queue; there are {all}"));
        })
    }

    /// The queue, if one of its parts decides what it does.
    fn queue(self) -> Option<Queue> {
        let decides = self.scheduler.is_some() || self.full.is_some() || self.early.is_some() || self.marker.is_some();
        if !decides && self.design.is_none() {
            return None;
        }
        let mut queue = Queue { limit: self.limit, ..Queue::unlimited_fifo() };
        queue.scheduler = self.scheduler.unwrap_or(queue.scheduler);
        (queue.buffer, queue.overflow) = if self.early.is_some() { (self.early, self.full) } else { (self.full, None) };
        (queue.marker, queue.classifier, queue.design) = (self.marker, self.classifier, self.design);
        Some(queue)
    }
}

fn names(lists: &[&[Card]]) -> String {
    lists.concat().iter().map(|card| card.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_any_order_and_by_any_of_their_names() {
        let one = queue("fq + longest_queue_drop + pair + 40 packets").unwrap();
        assert_eq!(queue(" 40packets+conversation+lqd + fq").unwrap(), one);
        assert_eq!(one.limit, Some(Limit::Packets(40)));
        assert_eq!(queue("fifo").unwrap().name(), "fifo");
    }

    #[test]
    fn what_is_not_known_is_refused_in_one_line() {
        for (text, said) in [
            ("fifoo", "no part of a queue"),
            ("fq + fifo", "two parts of the kind of fifo"),
            ("fq + 1 packets + unlimited", "two parts"),
            ("pair", "names no scheduler; there are"),
            ("fq(delta=1000B)", "settings cannot be given here"),
            ("fifo + fq_bit + 10packets", "own queue"),
            ("fq + 0packets", "at least 1 packet"),
            ("", "no part of a queue"),
        ] {
            let error = queue(text).expect_err(text);
            assert!(error.contains(said) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
