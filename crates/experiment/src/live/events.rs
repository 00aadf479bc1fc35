//! What happens in a run that is held, recorded for its owner.

use fairq_sched::units::Time;
use fairq_sched::waiting::Decision;
use fairq_sim::observe::{Event, Observer, PacketId};
use fairq_sim::plan::Plan;
use fairq_sim::segment::Segment;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// One event, in names.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// When.
    pub at: Time,
    /// What: `arrived`, `began`, `sent` …
    pub event: &'static str,
    /// The link.
    pub link: Option<Arc<str>>,
    /// Its direction.
    pub direction: Option<&'static str>,
    /// The flow.
    pub flow: Option<Arc<str>>,
    /// The packet's name while it is under way.
    pub packet: Option<PacketId>,
    /// The packet's number in its flow.
    pub sequence: Option<u64>,
    /// The packet's bytes.
    pub bytes: Option<u32>,
    /// Why it was dropped.
    pub reason: Option<&'static str>,
    /// The window in packets, the level of a receiver, or when a transmission ends, in seconds.
    pub value: Option<f64>,
    /// Why a packet was chosen.
    pub decision: Option<Decision>,
}

/// The names of lines and flows.
struct Names {
    lines: Vec<(Arc<str>, &'static str)>,
    flows: Vec<Arc<str>>,
}

/// The events that were recorded and not taken yet.
#[derive(Clone)]
pub struct Tape {
    /// The events to record; `None`: all.
    of: Option<Arc<[String]>>,
    events: Arc<Mutex<VecDeque<Happening>>>,
    names: Arc<Names>,
}

impl Tape {
    pub(super) fn new(plan: &Plan, of: Option<&[String]>) -> Self {
        let lines = plan.lines.iter().map(|line| (Arc::clone(&line.name), line.direction())).collect();
        let flows = plan.flows.iter().map(|flow| Arc::clone(&flow.name)).collect();
        Self { of: of.map(Into::into), events: Arc::default(), names: Arc::new(Names { lines, flows }) }
    }

    /// What writes it.
    pub(super) fn observer(&self) -> Box<dyn Observer> {
        Box::new(self.clone())
    }

    /// Whether nothing was recorded since the last call of [`Tape::take`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes the events that were recorded since the last call.
    #[must_use]
    pub fn take(&self) -> VecDeque<Happening> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn said(&self, at: Time, event: &Event<'_>) -> Happening {
        let (line, flow) = event.of();
        let line = line.map(|line| &self.names.lines[line as usize]);
        let mut this = Happening {
            at,
            event: "",
            link: line.map(|(name, _)| Arc::clone(name)),
            direction: line.map(|(_, direction)| *direction),
            flow: flow.and_then(|flow| self.names.flows.get(flow as usize).cloned()),
            packet: None,
            sequence: None,
            bytes: None,
            reason: None,
            value: None,
            decision: None,
        };
        let mut of_packet = |id: PacketId, segment: &Segment, event| {
            (this.packet, this.sequence, this.bytes) = (Some(id), Some(segment.sequence), Some(segment.length));
            this.event = event;
        };
        match *event {
            Event::Arrived { id, segment, .. } => of_packet(id, segment, "arrived"),
            Event::Began { id, segment, end, decision, .. } => {
                of_packet(id, segment, "began");
                (this.value, this.decision) = (Some(end.as_s()), decision.copied());
            }
            Event::Marked { id, segment, .. } => of_packet(id, segment, "marked"),
            Event::Dropped { id, segment, reason, .. } => {
                of_packet(id, segment, "dropped");
                this.reason = Some(reason.name());
            }
            Event::Sent { id, segment, .. } => of_packet(id, segment, "sent"),
            Event::Lost { id, segment, .. } => of_packet(id, segment, "lost"),
            Event::Delivered { id, segment } => of_packet(id, segment, "delivered"),
            Event::Level { level, .. } => (this.event, this.value) = ("level", Some(level.into())),
            Event::FlowBegan { .. } => this.event = "flow_began",
            Event::FlowEnded { .. } => this.event = "flow_ended",
            Event::Window { packets, .. } => (this.event, this.value) = ("window", Some(packets)),
            Event::Retransmitted { sequence, .. } => (this.event, this.sequence) = ("retransmitted", Some(sequence)),
            Event::TimedOut { .. } => this.event = "timed_out",
        }
        this
    }
}

impl Observer for Tape {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let happening = self.said(now, event);
        if self.of.as_ref().is_some_and(|of| !of.iter().any(|name| name == happening.event)) {
            return;
        }
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push_back(happening);
    }
}
