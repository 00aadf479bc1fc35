//! A queue as a scenario names it: four parts or a whole design, a limit, and what is built from
//! them.

use crate::buffer::default::DefaultBuffer;
use crate::buffer::with_overflow::WithOverflow;
use crate::card::Card;
use crate::checked::{Checked, Rules};
use crate::class_tree::leaf_names;
use crate::classify::default::DefaultClassifier;
use crate::compose::Composition;
use crate::contract::{Discipline, Line};
use crate::design::FIVE_TUPLE;
use crate::facts::{Need, Overflow, Queues};
use crate::invariant::Watch;
use crate::leaf;
use crate::leaves::Leaves;
use crate::own::{MakeQueue, OwnPart, Place};
use crate::part::Part;
use crate::plain_fifo::PlainFifo;
use crate::policed::Policed;
use crate::promise::is_of_pgps;
use crate::registry::{
    BUFFER_POLICIES, BufferSettings, ClassifierSettings, DESIGNS, DesignSettings, MarkerSettings, PolicerSettings,
    SCHEDULERS, SchedulerSettings,
};
use crate::schedule::fifo::CHOOSES;
use crate::units::{Bytes, Limit, Rate};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A discipline: four parts, or a whole design.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Queue {
    /// Which queue sends next; without it first in, first out.
    #[cfg_attr(feature = "schema", serde(default = "fifo"))]
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "kind": "fq" }])))]
    pub scheduler: SchedulerSettings,
    /// Which packet is dropped when space is short; without it longest-queue drop for schedulers
    /// with a queue for each flow or class, else tail drop.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "kind": "codel", "target": "3 ms" }])))]
    pub buffer: Option<BufferSettings>,
    /// Which packet is dropped when the buffer is full, beside a buffer policy that acts before
    /// (red, codel, …); without it the scheduler's default policy.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "kind": "longest_queue_drop" }])))]
    pub overflow: Option<BufferSettings>,
    /// Which packets are marked to signal congestion; without it none.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "kind": "step", "at": "20 packets" }])))]
    pub marker: Option<MarkerSettings>,
    /// Which flow a packet belongs to; without it source-destination pairs, or what the buffer
    /// policy or the design is made for.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "kind": "pair" }])))]
    pub classifier: Option<ClassifierSettings>,
    /// A whole design in place of scheduler, buffer policy and marker.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "kind": "fq_codel", "target": "3 ms" }])))]
    pub design: Option<DesignSettings>,
    /// Which packets may join the queue at all, beside parts or a whole design; without it all.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "kind": "police", "rate": "10 Mbit/s" }])))]
    pub policer: Option<PolicerSettings>,
    /// How much may wait, the packet being sent not counted; without it no limit, or the design's
    /// own.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub limit: Option<Limit>,
}

/// The parts that are given. Beside a whole design no scheduler is written: it has none, and none
/// may be read there.
#[cfg(feature = "schema")]
impl serde::Serialize for Queue {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let Self { scheduler, buffer, overflow, marker, classifier, design, policer, limit } = self;
        let mut table = to.serialize_map(None)?;
        match design {
            None => table.serialize_entry("scheduler", scheduler)?,
            Some(design) => table.serialize_entry("design", design)?,
        }
        if let Some(buffer) = buffer {
            table.serialize_entry("buffer", buffer)?;
        }
        if let Some(overflow) = overflow {
            table.serialize_entry("overflow", overflow)?;
        }
        if let Some(marker) = marker {
            table.serialize_entry("marker", marker)?;
        }
        if let Some(classifier) = classifier {
            table.serialize_entry("classifier", classifier)?;
        }
        if let Some(policer) = policer {
            table.serialize_entry("policer", policer)?;
        }
        if let Some(limit) = limit {
            table.serialize_entry("limit", limit)?;
        }
        table.end()
    }
}

/// What is said of another part beside the design called `name`.
#[must_use]
pub fn alone(name: &str) -> String {
    format!(
        "{name} is a whole design; it takes a classifier, a policer and a limit, no other part: leave the others out"
    )
}

fn fifo() -> SchedulerSettings {
    SchedulerSettings::Fifo(crate::schedule::fifo::Settings {})
}

impl Queue {
    /// `scheduler` with the default parts and `limit`.
    #[must_use]
    pub const fn new(scheduler: SchedulerSettings, limit: Option<Limit>) -> Self {
        Self {
            scheduler,
            buffer: None,
            overflow: None,
            marker: None,
            classifier: None,
            design: None,
            policer: None,
            limit,
        }
    }

    /// A whole design, with `limit` in place of its own if one is given.
    #[must_use]
    pub fn of_design(design: DesignSettings, limit: Option<Limit>) -> Self {
        Self { design: Some(design), ..Self::new(fifo(), limit) }
    }

    /// First in, first out, without limit.
    #[must_use]
    pub const fn unlimited_fifo() -> Self {
        Self::new(SchedulerSettings::Fifo(crate::schedule::fifo::Settings {}), None)
    }

    /// The buffer policy, given or by default.
    #[must_use]
    pub fn buffer(&self) -> BufferSettings {
        self.buffer.clone().unwrap_or_else(|| self.default_buffer())
    }

    /// The policy for a full buffer beside one that acts before, given or by default.
    #[must_use]
    pub fn overflow(&self) -> Option<BufferSettings> {
        let leaves = self.buffer.as_ref().is_some_and(|buffer| buffer.part().facts().overflow == Overflow::Leaves);
        leaves.then(|| self.overflow.clone().unwrap_or_else(|| self.default_buffer()))
    }

    fn default_buffer(&self) -> BufferSettings {
        let scheduler = self.scheduler.part();
        if scheduler.facts().queues == Queues::PerFlow || !scheduler.places().is_empty() {
            BufferSettings::LongestQueueDrop(Default::default())
        } else {
            BufferSettings::TailDrop(Default::default())
        }
    }

    /// The classifier, given or by default. In the leaves of a tree that names none it is the
    /// tree's.
    #[must_use]
    pub fn classifier(&self) -> ClassifierSettings {
        // Each flow chooses a leaf by itself.
        let of_leaves = || self.has_leaves().then(|| ClassifierSettings::by_name(FIVE_TUPLE)).flatten();
        self.named_classifier().or_else(of_leaves).unwrap_or(ClassifierSettings::Pair(Default::default()))
    }

    /// The classifier that it names, or that one of its parts is made for.
    pub(crate) fn named_classifier(&self) -> Option<ClassifierSettings> {
        let parts = [
            self.design.as_ref().map(DesignSettings::part),
            self.buffer.as_ref().map(BufferSettings::part),
            self.overflow.as_ref().map(BufferSettings::part),
        ];
        let default = || parts.into_iter().flatten().find_map(|part| part.facts().classifier);
        let named = || default().and_then(ClassifierSettings::by_name);
        self.classifier.clone().or_else(named)
    }

    /// Scheduler, buffer policies and marker, as far as they are named.
    fn parts(&self) -> Vec<&dyn Part> {
        let mut parts = alloc::vec![self.scheduler.part()];
        parts.extend(self.buffer.as_ref().map(BufferSettings::part));
        parts.extend(self.overflow.as_ref().map(BufferSettings::part));
        parts.extend(self.marker.as_ref().map(MarkerSettings::part));
        parts
    }

    /// How much may wait, given or by default.
    #[must_use]
    pub fn capacity(&self) -> Limit {
        let Some(design) = self.design.as_ref().map(|design| design.part().facts()) else {
            return self.limit.unwrap_or_default();
        };
        match self.limit.unwrap_or(design.own_limit) {
            Limit::Packets(packets) => Limit::Packets(packets.saturating_mul(design.parts_with_limit)),
            limit => limit,
        }
    }

    /// What may wait at most, given or by default: of a queue without a limit the memory of its
    /// design, if that has one.
    #[must_use]
    pub fn bound(&self) -> Limit {
        let memory = || self.design.as_ref().and_then(|design| design.part().facts().memory);
        match self.capacity() {
            Limit::Unlimited => memory().map_or(Limit::Unlimited, |memory| Limit::Bytes(memory.0)),
            limit => limit,
        }
    }

    /// The classes that flows may name here, if it knows any: leaves, and in a leaf with classes of
    /// its own those as `leaf/class`.
    #[must_use]
    pub fn classes(&self) -> Option<Vec<String>> {
        if self.has_leaves() {
            return Some(leaf::paths(&self.scheduler.part().leaves())).filter(|paths| !paths.is_empty());
        }
        let places = self.design.as_ref().map_or_else(|| self.scheduler.part(), DesignSettings::part).places();
        (!places.is_empty()).then(|| leaf_names(&places).into_iter().map(String::from).collect())
    }

    /// Whether its scheduler's leaves have queues of their own.
    #[must_use]
    pub fn has_leaves(&self) -> bool {
        self.design.is_none() && leaf::have_queues(&self.scheduler.part().leaves())
    }

    /// The queues that its leaves name.
    pub(crate) fn leaf_queues(&self) -> Vec<&Self> {
        if self.design.is_some() {
            return Vec::new();
        }
        self.scheduler.part().leaves().iter().filter_map(|leaf| Some(&*leaf.queue?.0)).collect()
    }

    /// A part of it, by its name, that goes by the rate of the line and is given none.
    #[must_use]
    pub(crate) fn without_rate(&self) -> Option<&'static str> {
        self.parts_by_name(&mut |name, part| (name, part.facts().needs_rate))
            .into_iter()
            .find_map(|(name, needs)| needs.then_some(name))
    }

    /// Where the rates that it guarantees are more together than there is for them on a line of
    /// `line`.
    #[must_use]
    pub fn oversubscribed(&self, line: Rate) -> Option<String> {
        if self.design.is_some() { None } else { self.scheduler.part().oversubscribed(line) }
    }

    /// Whether each conversation has a queue of its own here, and by its scheduler's promise the
    /// delay of packet-by-packet generalised processor sharing, on a line that interrupts nothing.
    #[must_use]
    pub fn promises_delay_of_pgps(&self) -> bool {
        let is_apart = self.classifier().part().facts().keeps_conversations_apart;
        self.design.is_none() && is_apart && is_of_pgps(self.scheduler.part())
    }

    /// Whether it sends packets at the pace of their connection.
    #[must_use]
    pub fn paces(&self) -> bool {
        self.design.as_ref().map_or_else(|| self.scheduler.part(), DesignSettings::part).facts().paces
    }

    /// The longest packet that it ever takes on a line of `line`, if a policer bounds that.
    #[must_use]
    pub fn longest_passed(&self, line: Rate) -> Option<Bytes> {
        match self.policer.as_ref()? {
            PolicerSettings::Police(settings) => Some(settings.longest_passed(line)),
        }
    }

    /// The parts that it is built from, each by its name: the policer, and a whole design, or
    /// scheduler, buffer policies and marker, and those of its leaves.
    fn parts_by_name<T>(&self, of: &mut dyn FnMut(&'static str, &dyn Part) -> T) -> Vec<T> {
        let mut found: Vec<T> = self.policer.iter().map(|policer| of(policer.name(), policer.part())).collect();
        if let Some(design) = &self.design {
            found.push(of(design.name(), design.part()));
            return found;
        }
        found.push(of(self.scheduler.name(), self.scheduler.part()));
        for buffer in core::iter::once(self.buffer()).chain(self.overflow()) {
            found.push(of(buffer.name(), buffer.part()));
        }
        found.extend(self.marker.as_ref().map(|marker| of(marker.name(), marker.part())));
        for queue in self.leaf_queues() {
            found.extend(queue.parts_by_name(of));
        }
        found
    }

    /// Whether a packet's flow, as the classifier tells it, matters to a part of it.
    #[must_use]
    pub fn tells_flows_apart(&self) -> bool {
        self.parts_by_name(&mut |_, part| part.facts().tells_flows_apart).contains(&true)
    }

    /// Whether the weights of flows matter to a part of it.
    #[must_use]
    pub fn goes_by_weights(&self) -> bool {
        self.parts_by_name(&mut |_, part| part.facts().goes_by_weights).contains(&true)
    }

    /// Whether a part of the queue may mark packets CE, if they accept it.
    #[must_use]
    pub fn marks_congestion(&self) -> bool {
        self.parts_by_name(&mut |_, part| part.facts().marks_congestion).contains(&true)
    }

    /// What its parts need of packets that not every driver tells, each with the part's name.
    #[must_use]
    pub fn needs(&self) -> Vec<(&'static str, Need)> {
        let mut of = |name, part: &dyn Part| part.facts().needs.iter().map(|need| (name, *need)).collect::<Vec<_>>();
        self.parts_by_name(&mut of).concat()
    }

    /// The text form, in the order policer, scheduler, buffer policies, marker.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = self.policer.as_ref().map_or_else(String::new, |policer| String::from(policer.name()) + " + ");
        if let Some(design) = &self.design {
            name.push_str(design.name());
            return name;
        }
        name.push_str(self.scheduler.name());
        let parts = [
            self.buffer.as_ref().map(BufferSettings::name),
            self.overflow.as_ref().map(BufferSettings::name),
            self.marker.as_ref().map(MarkerSettings::name),
        ];
        for part in parts.into_iter().flatten() {
            name.push_str(" + ");
            name.push_str(part);
        }
        name
    }

    /// The card that tells how it works, and of which `Decision::step` counts the steps: the
    /// design's; where packets leave in order of arrival that of the first buffer policy that has
    /// steps; else the scheduler's. `None` for a part that is written outside this tree.
    #[must_use]
    pub fn card(&self) -> Option<&'static Card> {
        let of = |cards: &'static [Card], name: &str| cards.iter().find(|card| card.name == name);
        if let Some(design) = &self.design {
            return of(DESIGNS, design.name());
        }
        let is_fifo = matches!(self.scheduler, SchedulerSettings::Fifo(_));
        let policies = [Some(self.buffer()), self.overflow()].into_iter().flatten().filter(|_| is_fifo);
        let judge = policies.filter_map(|policy| of(BUFFER_POLICIES, policy.name())).find(|card| card.has_steps());
        judge.or_else(|| of(SCHEDULERS, self.scheduler.name()))
    }

    /// Why the parts make no sense or do not fit together, if they do not.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if let Some(fault) = self.policer.as_ref().and_then(|policer| policer.part().fault(self)) {
            return Some(fault);
        }
        if let Some(design) = &self.design {
            let others = self.buffer.is_some() || self.overflow.is_some() || self.marker.is_some();
            if others || self.scheduler != fifo() {
                let name = design.name();
                return Some(alone(name));
            }
            return design.part().fault(self).or_else(|| self.fault_of_classifier());
        }
        if self.overflow.is_some() && self.overflow().is_none() {
            let name = self.buffer().name();
            return Some(format!("{name} deals with a full buffer itself; overflow goes with red, codel and the like"));
        }
        if let Some(overflow) = &self.overflow
            && overflow.part().facts().overflow == Overflow::Leaves
        {
            let name = overflow.name();
            return Some(format!("{name} leaves a full buffer to another policy; overflow is one like tail_drop"));
        }
        if let (Some(buffer), Some(overflow)) = (&self.buffer, &self.overflow)
            && overflow.part().facts().overflow != Overflow::Deals
        {
            let (early, name) = (buffer.name(), overflow.name());
            return Some(format!(
                "{name} acts before the buffer is full, as {early} does: write one of them; overflow is one like \
                 longest_queue_drop"
            ));
        }
        let mut policies = self.buffer.iter().chain(&self.overflow);
        if self.scheduler.part().facts().queues == Queues::PerPacket
            && let Some(policy) = policies.find(|policy| policy.part().facts().looks_at_queues)
        {
            let (name, scheduler) = (policy.name(), self.scheduler.name());
            return Some(format!(
                "{name} judges queues by what waits in them, and {scheduler} gives every packet one of its own; use \
                 greatest_rank_drop, tail_drop or red"
            ));
        }
        let of_classifier = || self.classifier.as_ref()?.part().fault(self);
        let of_parts = self.parts().into_iter().find_map(|part| part.fault(self)).or_else(of_classifier);
        of_parts.or_else(|| self.fault_of_classifier()).or_else(|| self.fault_of_leaves())
    }

    /// Of a tree with queues in its leaves: what is wrong with one of those, or what stands beside
    /// the scheduler though the leaves are the place for it.
    fn fault_of_leaves(&self) -> Option<String> {
        let scheduler = self.scheduler.name();
        let early = self.buffer.as_ref().filter(|buffer| buffer.part().facts().overflow != Overflow::Deals);
        let marker = self.marker.as_ref().filter(|marker| !matches!(marker, MarkerSettings::None(_)));
        let beside = early.map(BufferSettings::name).or_else(|| marker.map(MarkerSettings::name));
        if let Some(name) = beside.filter(|_| self.has_leaves()) {
            return Some(format!(
                "{scheduler}: {name} stands in a leaf that has a queue of its own, not beside the tree; write queue = \"fifo + \
                 {name}\" there"
            ));
        }
        leaf::fault(scheduler, self.scheduler.part())
    }

    /// Which leaf may hold more than the limit that is written for all of them together. A limit
    /// from elsewhere, as the buffer of a line, binds leaves that may hold more.
    #[must_use]
    pub fn fault_of_limits(&self) -> Option<String> {
        let is_tree = self.design.is_none();
        let all = self.limit.filter(|_| is_tree)?;
        leaf::above(self.scheduler.name(), self.scheduler.part(), all)
    }

    /// A classifier that no part asks.
    fn fault_of_classifier(&self) -> Option<String> {
        // A flow may name a class, where there are classes.
        let asks = self.tells_flows_apart() || self.classes().is_some();
        let classifier = self.classifier.as_ref().filter(|_| !asks)?;
        let (classifier, name) = (classifier.name(), self.name());
        Some(format!("{classifier} says which flow a packet is of, and {name} does not tell flows apart; leave it out"))
    }

    /// Finds its own parts among `parts`.
    ///
    /// # Errors
    /// As [`Own::find`](crate::own::Own::find), with the field.
    pub fn find_own(&mut self, parts: &[Arc<dyn OwnPart<dyn MakeQueue>>]) -> Result<(), (&'static str, String)> {
        let said = |field| move |message| (field, message);
        if let SchedulerSettings::Own(own) = &mut self.scheduler {
            own.find(Place::Scheduler, parts).map_err(said("scheduler"))?;
        }
        for (field, policy) in [("buffer", &mut self.buffer), ("overflow", &mut self.overflow)] {
            if let Some(BufferSettings::Own(own)) = policy {
                own.find(Place::Buffer, parts).map_err(said(field))?;
            }
        }
        if let Some(DesignSettings::Own(own)) = &mut self.design {
            own.find(Place::Design, parts).map_err(said("design"))?;
        }
        for leaf in self.scheduler.part_mut().leaf_queues() {
            leaf.0.find_own(parts)?;
        }
        Ok(())
    }

    /// Builds the discipline. [`Queue::fault`] must be `None`.
    #[must_use]
    pub fn build(&self, line: &Line) -> Box<dyn Discipline> {
        if let Some(policer) = &self.policer {
            let unpoliced = Self { policer: None, ..self.clone() };
            return Box::new(Policed::new(policer.build(line), unpoliced.build(line)));
        }
        let watch = self.watch();
        let built = match &self.design {
            Some(design) => design.build(self, line),
            None if self.has_leaves() => Box::new(Leaves::new(self, line)),
            None => self.spelt_out(line).unwrap_or_else(|| self.compose(line, watch.clone())),
        };
        match watch {
            Some(watch) => Box::new(Checked::in_run(Rules::of(self), built, watch)),
            None => built,
        }
    }

    /// Its own parts, each with its name.
    pub(crate) fn own_parts(&self) -> Vec<(&'static str, &Arc<dyn MakeQueue>)> {
        let scheduler = if let SchedulerSettings::Own(own) = &self.scheduler { Some(own) } else { None };
        let design = if let Some(DesignSettings::Own(own)) = &self.design { Some(own) } else { None };
        let policies = self.buffer.iter().chain(&self.overflow);
        let policies =
            policies.filter_map(|policy| if let BufferSettings::Own(own) = policy { Some(own) } else { None });
        let all = scheduler.into_iter().chain(policies).chain(design);
        all.filter_map(|own| Some((own.name(), own.make()?))).collect()
    }

    /// The watch of the first own part that wants to be checked.
    fn watch(&self) -> Option<Arc<Watch>> {
        let (name, make) = self.own_parts().into_iter().find(|(_, make)| make.is_checked())?;
        Some(Watch::new(name, Box::new(Arc::clone(make))))
    }

    /// The discipline as a type of its own, if it has the most common parts: pairs or processes as
    /// flows, tail drop or longest-queue drop, no marker, no policer.
    fn spelt_out(&self, line: &Line) -> Option<Box<dyn Discipline>> {
        let is_own = matches!(self.scheduler, SchedulerSettings::Own(_));
        let is_plain = self.design.is_none() && self.policer.is_none() && !is_own;
        if !is_plain || !matches!(self.marker, None | Some(MarkerSettings::None(_))) {
            return None;
        }
        let limit = self.limit.unwrap_or_default();
        let buffer = match self.buffer() {
            // Most lines of a network are this, and flows do not matter to it.
            BufferSettings::TailDrop(settings) if settings != Default::default() => return None,
            BufferSettings::TailDrop(_) if matches!(self.scheduler, SchedulerSettings::Fifo(_)) => {
                return Some(Box::new(PlainFifo::new(limit).in_step(CHOOSES)));
            }
            BufferSettings::TailDrop(settings) => DefaultBuffer::tail_drop(&settings, line),
            BufferSettings::LongestQueueDrop(settings) => DefaultBuffer::longest_queue_drop(&settings, limit, line),
            _ => return None,
        };
        let classifier = DefaultClassifier::new(&self.classifier(), line)?;
        Some(self.scheduler.composed(classifier, buffer, limit, line))
    }

    /// Any combination of parts, each behind an enum.
    fn compose(&self, line: &Line, watch: Option<Arc<Watch>>) -> Box<dyn Discipline> {
        let full = self.overflow().map(|overflow| overflow.build(line));
        let buffer = WithOverflow { early: self.buffer().build(line), full };
        let (classifier, scheduler) = (self.classifier().build(line), self.scheduler.build(line));
        let marker = self.marker.clone().unwrap_or(MarkerSettings::None(Default::default())).build(line);
        let limit = self.limit.unwrap_or_default();
        Box::new(Composition::new(classifier, scheduler, buffer, marker, limit, line).watched_by(watch))
    }
}
