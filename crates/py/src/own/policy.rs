//! A buffer policy of a user's class.

use super::object::{Method, Object, given, raise};
use super::shown::{Flows, Packet, Queue};
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{BufferPolicy, Flow, HeldPacket, Slot, Verdict};
use fairq_sched::packet::{Packet as SchedPacket, Reason};
use fairq_sched::reading::Reading;
use fairq_sched::store::Store;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use pyo3::prelude::*;

/// The part with what it has of its own.
pub(super) struct Policy {
    part: Object,
    admit: Option<Method>,
    depart: Option<Method>,
    left: Option<Method>,
    idle: Option<Method>,
    flows: Flows,
}

impl Policy {
    pub(super) fn new(py: Python<'_>, part: Object) -> Self {
        let [admit, depart, left, idle] = ["admit", "depart", "left", "idle"].map(|name| part.own(py, name));
        Self { part, admit, depart, left, idle, flows: Flows::default() }
    }
}

/// The reasons that a part may give for a drop.
const REASONS: [Reason; 5] = [Reason::Early, Reason::OverShare, Reason::Rank, Reason::Horizon, Reason::Redundant];

/// The reason of this name, if a part may give it.
pub(super) fn reason(name: &str) -> Option<Reason> {
    REASONS.into_iter().find(|reason| reason.name() == name)
}

/// The words for [`REASONS`].
pub(super) fn reasons() -> String {
    REASONS.map(|reason| format!("\"{}\"", reason.name())).join(", ")
}

/// What a text says of a packet.
fn verdict(text: &str) -> Option<Verdict> {
    match text {
        "send" => Some(Verdict::Pass),
        "mark" => Some(Verdict::Notify(Reason::Early)),
        "drop" => Some(Verdict::Drop(Reason::Early)),
        name => reason(name).map(Verdict::Drop),
    }
}

impl BufferPolicy for Policy {
    fn traits(&self) -> Traits {
        Traits { judges_departures: self.depart.is_some(), hears_idle: self.idle.is_some(), ..Traits::PLAIN }
    }

    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut SchedPacket) -> Verdict {
        let Some(admit) = &self.admit else { return Verdict::Pass };
        Python::attach(|py| {
            let shown = self.flows.of(py, flow).unwrap_or_else(|error| raise(error));
            let arguments = (now.as_s(), Queue::of(store, queue), shown, Packet::of(packet));
            let answer = self.part.call(py, admit, arguments, || given(now, packet, flow.slot));
            match answer.extract::<bool>() {
                Ok(true) => Verdict::Pass,
                Ok(false) => Verdict::Drop(Reason::Early),
                Err(_) => answer.extract::<&str>().ok().and_then(verdict).unwrap_or_else(|| {
                    let remedy = format!("True, False, \"mark\" or why it is dropped: {}", reasons());
                    self.part.refuse_answer("admit", &answer, &remedy)
                }),
            }
        })
    }

    fn depart(&mut self, now: Time, store: &Store, queue: Slot) -> Verdict {
        let (Some(depart), Some((packet, _))) = (&self.depart, store.head(queue)) else { return Verdict::Pass };
        Python::attach(|py| {
            let arguments = (now.as_s(), Queue::of(store, queue), Packet::of(packet));
            let answer = self.part.call(py, depart, arguments, || given(now, packet, queue));
            answer
                .extract::<&str>()
                .ok()
                .and_then(verdict)
                .unwrap_or_else(|| self.part.refuse_answer("depart", &answer, "\"send\", \"drop\" or \"mark\""))
        })
    }

    fn left(&mut self, now: Time, store: &Store, held: HeldPacket<'_>, is_sent: bool) {
        let Some(left) = &self.left else { return };
        let arguments = (now.as_s(), Queue::of(store, held.queue), Packet::of(held.packet), is_sent);
        Python::attach(|py| drop(self.part.call(py, left, arguments, || given(now, held.packet, held.flow))));
    }

    fn idle(&mut self, now: Time) {
        if let Some(idle) = &self.idle {
            Python::attach(|py| drop(self.part.call(py, idle, (now.as_s(),), || "")));
        }
    }

    // What the part keeps of a flow stays under its number.
    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        false
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.part.show_readings(visit);
    }
}
