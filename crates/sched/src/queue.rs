//! A queue as a scenario names it: four parts and a limit, and what is built from them.

use crate::buffer::longest_queue_drop::LongestQueueDrop;
use crate::classify::pair::Pair;
use crate::compose::Composition;
use crate::contract::{Discipline, Line};
use crate::mark::none::None as NoMarker;
use crate::plain_fifo::PlainFifo;
use crate::registry::{BufferSettings, ClassifierSettings, MarkerSettings, SchedulerSettings};
use crate::schedule::fq::Fq;
use crate::units::Limit;
use alloc::boxed::Box;
use alloc::string::String;

/// A composed discipline.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Queue {
    /// Who sends next.
    pub scheduler: SchedulerSettings,
    /// Who loses when space is short; without it tail drop for schedulers with one queue, else longest-queue drop.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub buffer: Option<BufferSettings>,
    /// Who is told of congestion; without it nobody.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub marker: Option<MarkerSettings>,
    /// Whose packet it is; without it source-destination pairs.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub classifier: Option<ClassifierSettings>,
    /// How much may wait, the packet being sent not counted; without it no limit.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub limit: Option<Limit>,
}

impl Queue {
    /// `scheduler` with the default parts and `limit`.
    #[must_use]
    pub const fn new(scheduler: SchedulerSettings, limit: Option<Limit>) -> Self {
        Self { scheduler, buffer: None, marker: None, classifier: None, limit }
    }

    /// First in, first out, without limit.
    #[must_use]
    pub const fn unlimited_fifo() -> Self {
        Self::new(SchedulerSettings::Fifo(crate::schedule::fifo::Settings {}), None)
    }

    /// Whether its scheduler serves all flows from one queue.
    #[must_use]
    pub const fn has_one_queue(&self) -> bool {
        matches!(self.scheduler, SchedulerSettings::Fifo(_) | SchedulerSettings::TokenBucket(_))
    }

    /// The buffer policy, given or by default.
    #[must_use]
    pub fn buffer(&self) -> BufferSettings {
        self.buffer.clone().unwrap_or_else(|| {
            if self.has_one_queue() {
                BufferSettings::TailDrop(Default::default())
            } else {
                BufferSettings::LongestQueueDrop(Default::default())
            }
        })
    }

    /// The text form, in the order scheduler, buffer policy, marker.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = String::from(self.scheduler.name());
        let parts = [self.buffer.as_ref().map(BufferSettings::name), self.marker.as_ref().map(MarkerSettings::name)];
        for part in parts.into_iter().flatten() {
            name.push_str(" + ");
            name.push_str(part);
        }
        name
    }

    /// Why the parts do not fit together, if they do not.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        match &self.marker {
            Some(MarkerSettings::FqBit(_)) if self.has_one_queue() => {
                Some("fq_bit looks at a flow's own queue; use it with a scheduler that has one, like fq")
            }
            Some(MarkerSettings::FqBit(settings)) if settings.divisor == 0 => Some("fq_bit: divisor is at least 1"),
            Some(MarkerSettings::FqBit(_)) if self.limit.unwrap_or_default() == Limit::Unlimited => {
                Some("fq_bit compares with a share of the buffer; give the queue a limit")
            }
            _ => match &self.scheduler {
                SchedulerSettings::TokenBucket(settings) if settings.burst.0 == 0 => {
                    Some("token_bucket: burst is at least 1 B")
                }
                _ => None,
            },
        }
    }

    /// Builds the discipline. [`Queue::fault`] must be `None`.
    #[must_use]
    pub fn build(&self, line: &Line) -> Box<dyn Discipline> {
        let classifier = self.classifier.clone().unwrap_or(ClassifierSettings::Pair(Default::default()));
        let marker = match &self.marker {
            None | Some(MarkerSettings::None(_)) => None,
            Some(marker) => Some(marker),
        };
        let limit = self.limit.unwrap_or_default();
        // The two that benchmarks pay for are spelt out; everything else is the same composition over enums.
        match (&self.scheduler, self.buffer(), &classifier, marker) {
            (SchedulerSettings::Fifo(_), BufferSettings::TailDrop(_), _, None) => Box::new(PlainFifo::new(limit)),
            (
                SchedulerSettings::Fq(settings),
                BufferSettings::LongestQueueDrop(buffer),
                ClassifierSettings::Pair(pair),
                None,
            ) => Box::new(Composition::new(
                Pair::new(pair, line),
                Fq::new(settings, line),
                LongestQueueDrop::new(&buffer, line),
                NoMarker,
                limit,
                line,
            )),
            (scheduler, buffer, classifier, marker) => {
                let marker = marker.cloned().unwrap_or(MarkerSettings::None(Default::default()));
                let (classifier, scheduler) = (classifier.build(line), scheduler.build(line));
                Box::new(Composition::new(classifier, scheduler, buffer.build(line), marker.build(line), limit, line))
            }
        }
    }
}
