//! A scheduler of a user's class.

use super::object::{Method, Object, given, raise};
use super::shown::{Flows, NotBefore, Packet};
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Flow, Gone, Next, Scheduler as Scheduling, Slot, Tag};
use fairq_sched::packet::Packet as SchedPacket;
use fairq_sched::reading::Reading;
use fairq_sched::store::Store;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use pyo3::prelude::*;

/// Answers that nothing may leave yet, without a packet that leaves between them: more are no
/// pause, but a part that lets no packet go.
pub(super) const WAITS_MAX: u32 = 100_000;

/// The part, and how much waits in each queue, so that a queue without a packet is told by name.
pub(super) struct Scheduler {
    part: Object,
    arrive: Option<Method>,
    backlogged: Option<Method>,
    next: Method,
    sent: Option<Method>,
    removed: Option<Method>,
    idle: Option<Method>,
    weigh: Option<Method>,
    flows: Flows,
    waiting: Vec<u32>,
    all: u64,
    waits: u32,
    /// What it answered, as long as nothing else is told: it is not asked twice.
    answer: Option<(Time, Next)>,
}

impl Scheduler {
    pub(super) fn new(py: Python<'_>, part: Object) -> Self {
        let [arrive, backlogged, sent, removed, idle, weigh] =
            ["arrive", "backlogged", "sent", "removed", "idle", "weigh"].map(|name| part.own(py, name));
        let (next, flows) = (part.method(py, "next"), Flows::default());
        let (waiting, all, waits, answer) = (Vec::new(), 0, 0, None);
        Self { part, arrive, backlogged, next, sent, removed, idle, weigh, flows, waiting, all, waits, answer }
    }

    fn leaves(&mut self, queue: Slot) {
        self.waiting[queue as usize] -= 1;
        self.all -= 1;
        self.answer = None;
    }

    fn asked(&mut self, now: Time) -> Next {
        Python::attach(|py| {
            let given = self.part.call(py, &self.next, (now.as_s(),), || format!(" at {} s", now.as_s()));
            if given.is_none() {
                if self.all > 0 {
                    self.part.refuse(format_args!(
                        "next gave None at {} s though {}; return the number of a queue that holds one, or \
                         fairq.NotBefore(time)",
                        now.as_s(),
                        what_waits(self.all)
                    ));
                }
                return Next::Empty;
            }
            if let Ok(pause) = given.cast::<NotBefore>() {
                return Next::NotBefore(self.pause(now, pause.get()));
            }
            let queue = given.extract::<u32>().ok().filter(|_| !given.is_instance_of::<pyo3::types::PyBool>());
            let remedy = "the number of a queue, fairq.NotBefore(time) or None";
            let Some(queue) = queue else { self.part.refuse_answer("next", &given, remedy) };
            if self.waiting.get(queue as usize).is_none_or(|packets| *packets == 0) {
                self.part.refuse(format_args!(
                    "next gave queue {queue} at {} s, which is empty; return the number of a queue that holds a packet",
                    now.as_s()
                ));
            }
            self.waits = 0;
            Next::Queue(queue)
        })
    }

    fn pause(&mut self, now: Time, pause: &NotBefore) -> Time {
        paused(&self.part, "next", now, pause, self.all, &mut self.waits)
    }
}

/// "3 packets wait".
pub(super) fn what_waits(packets: u64) -> String {
    if packets == 1 { "a packet waits".to_owned() } else { format!("{packets} packets wait") }
}

/// The time of a pause, if it is one.
pub(super) fn paused(part: &Object, method: &str, now: Time, pause: &NotBefore, waiting: u64, waits: &mut u32) -> Time {
    let at = now.as_s();
    if waiting == 0 {
        part.refuse(format_args!("{method} gave a NotBefore at {at} s though no packet waits; return None"));
    }
    let Some(time) = pause.after(now) else {
        let said = pause.__repr__();
        part.refuse(format_args!("{method} gave {said} at {at} s; return a time that is yet to come"));
    };
    *waits += 1;
    if *waits > WAITS_MAX {
        part.refuse(format_args!(
            "{method} gave NotBefore {WAITS_MAX} times up to {at} s and let no packet go though {}; name the time at \
             which one may leave",
            what_waits(waiting)
        ));
    }
    time
}

impl Scheduling for Scheduler {
    fn traits(&self) -> Traits {
        Traits { hears_idle: self.idle.is_some(), ..Traits::PLAIN }
    }

    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &SchedPacket) -> Tag {
        if self.waiting.len() <= queue as usize {
            self.waiting.resize(queue as usize + 1, 0);
        }
        self.waiting[queue as usize] += 1;
        self.all += 1;
        self.answer = None;
        let Some(arrive) = &self.arrive else { return packet.length.into() };
        Python::attach(|py| {
            let shown = self.flows.of(py, flow).unwrap_or_else(|error| raise(error));
            let arguments = (now.as_s(), queue, shown, Packet::of(packet));
            let tag = self.part.call(py, arrive, arguments, || given(now, packet, flow.slot));
            tag.extract().unwrap_or_else(|_| self.part.refuse_answer("arrive", &tag, "a whole number from 0 up"))
        })
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        if let Some(backlogged) = &self.backlogged {
            Python::attach(|py| {
                drop(self.part.call(py, backlogged, (queue, tag), || format!(", given queue {queue}")))
            });
        }
    }

    fn next(&mut self, now: Time, _store: &Store) -> Next {
        if let Some((_, next)) = self.answer.filter(|(time, _)| *time == now) {
            return next;
        }
        let next = self.asked(now);
        self.answer = Some((now, next));
        next
    }

    fn sent(&mut self, now: Time, queue: Slot, packet: &SchedPacket, tag: Tag, head: Option<Tag>) {
        self.leaves(queue);
        if let Some(sent) = &self.sent {
            let arguments = (now.as_s(), queue, Packet::of(packet), tag, head);
            Python::attach(|py| drop(self.part.call(py, sent, arguments, || given(now, packet, queue))));
        }
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        self.leaves(gone.queue);
        if let Some(removed) = &self.removed {
            let arguments = (now.as_s(), gone.queue, Packet::of(gone.packet), gone.tag, gone.head);
            Python::attach(|py| drop(self.part.call(py, removed, arguments, || given(now, gone.packet, gone.queue))));
        }
    }

    fn idle(&mut self, now: Time) {
        self.answer = None;
        if let Some(idle) = &self.idle {
            Python::attach(|py| drop(self.part.call(py, idle, (now.as_s(),), || "")));
        }
    }

    // What the part keeps of a flow stays under its number.
    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        false
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.answer = None;
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        let weight = f64::from(weight.thousandths()) / 1000.0;
        if let Some(weigh) = &self.weigh {
            Python::attach(|py| drop(self.part.call(py, weigh, (now.as_s(), queue, weight), || "")));
        }
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.part.show_readings(visit);
    }
}
