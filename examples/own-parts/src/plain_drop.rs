//! A buffer policy: what finds no room is dropped.

use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{BufferPolicy, Flow, Line, Slot, Verdict};
use fairq_sched::facts::{Facts, Overflow};
use fairq_sched::own::{MakeQueue, OwnPart, Place, Value};
use fairq_sched::packet::{Packet, Reason};
use fairq_sched::reading::Reading;
use fairq_sched::store::Store;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use std::sync::Arc;

/// `plain_drop`: the same as `tail_drop`.
pub struct Part;

impl OwnPart<dyn MakeQueue> for Part {
    fn name(&self) -> &'static str {
        "plain_drop"
    }

    fn place(&self) -> Place {
        Place::Buffer
    }

    fn version(&self) -> String {
        "1".into()
    }

    fn make(&self, _values: &[Value]) -> Result<Arc<dyn MakeQueue>, String> {
        Ok(Arc::new(Self))
    }
}

impl MakeQueue for Part {
    fn facts(&self) -> Facts {
        // It only deals with a full buffer, and may stand beside a policy that acts before.
        Facts { overflow: Overflow::Deals, tells_flows_apart: false, ..Facts::PLAIN }
    }

    fn policy(&self, _line: &Line) -> Option<Box<dyn BufferPolicy>> {
        Some(Box::new(PlainDrop))
    }
}

struct PlainDrop;

impl BufferPolicy for PlainDrop {
    fn traits(&self) -> Traits {
        Traits { bypass: u32::MAX, ..Traits::PLAIN }
    }

    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        if store.is_too_short_for(packet.length) {
            Verdict::Drop(Reason::TooLong)
        } else if store.has_no_room_for(packet.length) {
            Verdict::Drop(Reason::BufferFull)
        } else {
            Verdict::Pass
        }
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}
}
