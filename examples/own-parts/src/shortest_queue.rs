//! A scheduler: the flow with the fewest packets waiting sends next.

use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use fairq_sched::own::{MakeQueue, OwnPart, Place, Setting, Value};
use fairq_sched::packet::Packet;
use fairq_sched::reading::Reading;
use fairq_sched::store::Store;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use std::sync::Arc;

/// `shortest_queue(grain=3)`: lengths count in threes, and among equals the flow wins that has
/// waited longest for its turn.
pub struct Part;

impl OwnPart<dyn MakeQueue> for Part {
    fn name(&self) -> &'static str {
        "shortest_queue"
    }

    fn place(&self) -> Place {
        Place::Scheduler
    }

    fn settings(&self) -> Vec<Setting> {
        let about = "Packets by which queues must differ to count as different.".into();
        vec![Setting { name: "grain".into(), default: Value::Whole(1), about }]
    }

    fn version(&self) -> String {
        "1".into()
    }

    fn make(&self, values: &[Value]) -> Result<Arc<dyn MakeQueue>, String> {
        match values {
            [Value::Whole(grain @ 1..=1000)] => Ok(Arc::new(Make(*grain as u32))),
            _ => Err("grain is from 1 to 1000 packets".into()),
        }
    }
}

struct Make(u32);

impl MakeQueue for Make {
    fn scheduler(&self, _line: &Line) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(ShortestQueue { grain: self.0, waiting: Vec::new() }))
    }

    fn is_checked(&self) -> bool {
        true
    }
}

struct ShortestQueue {
    grain: u32,
    /// The queues with packets, that which has waited longest for its turn first.
    waiting: Vec<Slot>,
}

impl Scheduler for ShortestQueue {
    fn traits(&self) -> Traits {
        Traits { tags: false, bypass: u32::MAX, ..Traits::PLAIN }
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.waiting.push(queue);
    }

    fn next(&mut self, _now: Time, store: &Store) -> Next {
        let length = |queue: &&Slot| store.queue_packets(**queue) / self.grain;
        self.waiting.iter().min_by_key(length).map_or(Next::Empty, |queue| Next::Queue(*queue))
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        self.waiting.retain(|other| *other != queue);
        self.waiting.extend(head.map(|_| queue));
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        self.waiting.retain(|other| *other != gone.queue || gone.head.is_some());
    }

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        let _ = visit;
    }
}
