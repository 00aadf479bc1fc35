//! FQ-PIE: flows are hashed into queues, which take turns by DRR++ and are each kept short by PIE.
//!
//! Use when: you want fair queues that PIE keeps short by refusing packets on arrival, as this
//! Linux qdisc does. `fq_codel` drops at the head and is the more usual; for a single queue use
//! `pie`.
//! Source: the Linux qdisc `fq_pie` (Tahiliani and others, 2020; sch_fq_pie.c of Linux 6.1), after
//! RFC 8290 (2018) and RFC 8033 (2017): a packet that finds the limit reached is refused
//! (`fq_pie_qdisc_enqueue`), and a new queue that empties goes to the old ones only if there are
//! others (`fq_pie_qdisc_dequeue`).
//! Rules: with `pie=(delay=departure_rate)` each queue's rate is measured for itself, so that a
//! flow is refused nothing before it alone has held 16 KB (26 ms at 5 Mbit/s), nor where its share
//! of the line is below 0.45 Mbit/s, which is no rate in Linux's whole numbers
//! (`pie_process_dequeue`).
//! Departs: a queue's controller makes up its periods when the queue is next touched, so that no
//! timer goes through all queues; a packet that finds `memory` full is refused too, where Linux
//! only counts it.
//! Chosen: `ce_threshold` marks as in `codel` (the qdisc has none). The flow is the classifier's if
//! one is named, else the five-tuple, as Linux tells flows apart. Composed of `drr_plus_plus` and
//! `pie`, whose cards hold for it. Without a limit 10240 packets may wait; the limit on memory
//! counts packet lengths.
//! Cost: O(1) a packet while the quantum is at least the largest packet.
//! Bound: as `drr_plus_plus` and `pie`; each queue has a controller of its own (designs.rs:
//! fq_pie_refuses_only_whom_the_delay_is_due_to).
//! Changes: a new limit counts from the next arrival on, and `memory` stands. A rate means nothing
//! to it; weights, pacing and classes are refused.

use crate::buffer::pie::{self, Pie};
use crate::buffer::refuse_too_long;
use crate::buffer::with_overflow::WithOverflow;
use crate::change::no_changes;
use crate::compose::Composition;
use crate::contract::{BufferPolicy, Discipline, Flow, Line, Slot, Verdict, traits};
use crate::facts::Facts;
use crate::mark::step::{Step, selector_fault};
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::schedule::drr_plus_plus::{self, DrrPlusPlus};
use crate::store::Store;
use crate::turns::Emptied;
use crate::units::{Bytes, Time};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// Queues, their turns, and PIE.
    pub struct Settings {
        /// How many queues flows are hashed into.
        pub queues: u32 = 1024,
        /// What a queue may send in a turn.
        pub quantum: Bytes = Bytes(1514),
        /// How many bytes may wait at most, beside the limit.
        pub memory: Bytes = Bytes(32 << 20),
        /// The controller of each queue: the settings of `pie`.
        pub pie: pie::Settings = pie::Settings::default(),
        /// A packet that accepts CE and has waited longer is marked in any case.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub ce_threshold: Option<Time> = None,
        /// Which bits of the type-of-service byte `ce_threshold` looks at; 0: it counts for all
        /// packets.
        pub ce_threshold_mask: u8 = 0,
        /// What those bits are in the packets that `ce_threshold` counts for: 1 under mask 3 is
        /// ECT(1).
        pub ce_threshold_selector: u8 = 0,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            classifier: Some(super::FIVE_TUPLE),
            marks_congestion: self.pie.ecn || self.ce_threshold.is_some(),
            own_limit: super::OWN_LIMIT,
            memory: Some(self.memory),
            ..Facts::PLAIN
        }
    }

    fn fault(&self, queue: &Queue) -> Option<String> {
        let (mask, selector) = (self.ce_threshold_mask, self.ce_threshold_selector);
        let early = || selector_fault("fq_pie: ce_threshold", mask, selector);
        let pie = || self.pie.fault(queue).or_else(early);
        super::fault_of_queues("fq_pie", self.queues, self.quantum, self.memory).or_else(pie)
    }

    fn variants() -> Vec<Self> {
        let eager = |pie| Self { queues: 3, memory: Bytes(5000), pie, ..Self::default() };
        let early = Self { ce_threshold: Some(Time::from_ms(1)), ..Self::default() };
        pie::Settings::variants().into_iter().map(eager).chain([early]).collect()
    }
}

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    // The limit comes first: PIE does not learn of what it refuses.
    let buffer = WithOverflow { early: Room { memory: settings.memory.0 }, full: Some(Pie::new(&settings.pie, line)) };
    let turns = drr_plus_plus::Settings { quantum: settings.quantum, buckets: Some(settings.queues) };
    let (classifier, scheduler) =
        (queue.classifier().build(line), DrrPlusPlus::new(&turns, line).emptying(Emptied::PassesIfOthers));
    let marker =
        Step::beyond(settings.ce_threshold, settings.ce_threshold_mask, settings.ce_threshold_selector, Time(1));
    Box::new(Composition::new(classifier, scheduler, buffer, marker, queue.capacity(), line))
}

/// Refuses packets that exceed the limit in packets or the limit in bytes.
struct Room {
    memory: u64,
}

impl BufferPolicy for Room {
    traits!();

    no_changes!();

    fn admit(&mut self, _: Time, store: &Store, _: Slot, _: Flow, packet: &mut Packet) -> Verdict {
        let is_beyond_memory = store.bytes() + u64::from(packet.length) > self.memory;
        match refuse_too_long(store, packet) {
            Verdict::Pass if is_beyond_memory || store.has_no_room_for(packet.length) => {
                Verdict::Drop(Reason::BufferFull)
            }
            verdict => verdict,
        }
    }

    no_readings!();
}
