//! Dynamic thresholds: a queue may grow while it is shorter than α times the space that is left.
//!
//! Use when: several queues or lines share one memory and some of it must stay free for newcomers.
//! To use all of it and drop from the longest queue use `longest_queue_drop`.
//! Source: Choudhury and Hahne, "Dynamic Queue Length Thresholds in a Shared Memory Packet Switch",
//! INFOCOM 1996 and IEEE/ACM Transactions on Networking 1998: T = α·(B − Q).
//! Departs: lengths are in the unit of the limit, bytes or packets, where the source has cells.
//! Chosen: a queue at its threshold is blocked and not cut, as in the source, though the threshold
//! may fall below it later. As the buffer policy of a single line the queues are the scheduler's;
//! as a scenario's pool each line of the node is one.
//! Cost: O(1) a packet.
//! Bound: M queues that always have more to take come to hold α·B/(1 + α·M) each, and B/(1 + α·M)
//! stays free (shared_buffers.rs: dynamic_thresholds_settle_where_the_source_says).
//! Changes: the threshold is that of the new limit at once, and a queue beyond it is blocked, not
//! cut. A rate means nothing to it.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Held, Line, Slot, Verdict, traits};
use crate::facts::Overflow;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts};
use crate::pool::{Decision, Record, Room, Sharing, Ticket};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Limit, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// How much of the free space one queue may have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// α: the greatest length of a queue as a multiple of the space that is left.
    pub alpha: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { alpha: 1.0 }
    }
}

impl Part for Settings {
    facts!(tells_flows_apart = false, overflow = Overflow::Deals, looks_at_queues = true);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let range = 0.001..=1000.0;
        (!range.contains(&self.alpha)).then(|| format!("alpha = {}: write a number from 0.001 to 1000", self.alpha))
    }

    fn variants() -> Vec<Self> {
        vec![Self { alpha: 0.25 }]
    }

    fn sharing(&self) -> Option<Box<dyn Sharing>> {
        Some(Box::new(Lines { alpha: self.alpha, lines: Vec::new() }))
    }
}

/// Whether a queue of which `queue` is held may take a packet of `length` bytes; if not, why.
fn judge(alpha: f64, room: Room, queue: Held, length: u32) -> Option<Reason> {
    if !room.has_space_for(length) {
        return Some(Reason::BufferFull);
    }
    let (size, held, queue) = match room.limit {
        Limit::Packets(size) => (size, room.held.packets, queue.packets),
        Limit::Bytes(size) => (size, room.held.bytes, queue.bytes),
        Limit::Unlimited => return None,
    };
    // q < α·(B − Q)
    (queue as f64 >= alpha * (size - held) as f64).then_some(Reason::OverShare)
}

/// What each of several lines holds.
struct Lines {
    alpha: f64,
    lines: Vec<Held>,
}

impl Sharing for Lines {
    fn decide(&mut self, room: Room, arriving: &Record) -> Decision {
        let line = self.lines.get(arriving.line as usize).copied().unwrap_or_default();
        judge(self.alpha, room, line, arriving.length).map_or(Decision::Join, Decision::Refuse)
    }

    fn joined(&mut self, _ticket: Ticket, record: &Record) {
        let line = entry(&mut self.lines, record.line, Held::default());
        line.packets += 1;
        line.bytes += u64::from(record.length);
    }

    fn left(&mut self, _ticket: Ticket, record: &Record) {
        let line = &mut self.lines[record.line as usize];
        line.packets -= 1;
        line.bytes -= u64::from(record.length);
    }
}

/// The policy of one line.
#[derive(Clone, Copy, Debug)]
pub struct DynamicThreshold {
    alpha: f64,
}

impl DynamicThreshold {
    /// All queues are empty.
    #[must_use]
    pub const fn new(settings: &Settings, _: &Line) -> Self {
        Self { alpha: settings.alpha }
    }
}

impl BufferPolicy for DynamicThreshold {
    traits!();

    no_changes!();

    fn admit(&mut self, _now: Time, store: &Store, queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        let room = Room { limit: store.limit(), held: store.held() };
        let held = Held { packets: u64::from(store.queue_packets(queue)), bytes: store.queue_bytes(queue) };
        match super::refuse_too_long(store, packet) {
            Verdict::Pass => judge(self.alpha, room, held, packet.length).map_or(Verdict::Pass, Verdict::Drop),
            verdict => verdict,
        }
    }

    no_readings!();
}
