//! Tail drop: a packet that finds the buffer full is refused.
//!
//! Use when: you need the baseline, or the buffer is small. TCP keeps a large buffer full: for
//! early signals use `codel` or `pie`; to protect flows from each other, `longest_queue_drop`.
//! Source: folklore; the FCFS gateways of Demers, Keshav and Shenker 1990 (Introduction).
//! `stops_for`: ns-3.37, `NetDeviceQueue::PacketEnqueued`, after drivers of network cards.
//! Cost: O(1) a packet.
//! Bound: never more than the limit waits (laws.rs: the_limit_is_kept).
//! Changes: a new limit counts from the next arrival on, and nothing that waits is dropped for it.
//! A rate means nothing to it.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict};
use crate::facts::Overflow;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::store::Store;
use crate::traits::Traits;
use crate::units::{Bytes, Limit, Time};
use alloc::format;
use alloc::string::String;

/// The limit is the queue's.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// A packet is taken only while one of this length would find room, too, however short it is
    /// itself: a device stops its queue as soon as a packet of its MTU may not fit. 0: only the
    /// packet itself counts.
    pub stops_for: Bytes,
}

impl Part for Settings {
    facts!(tells_flows_apart = false, overflow = Overflow::Deals);

    fn fault(&self, queue: &Queue) -> Option<String> {
        match queue.limit {
            Some(Limit::Bytes(room)) if room < self.stops_for.0 => {
                Some(format!("tail_drop stops for {} bytes, which never fit into {room}", self.stops_for.0))
            }
            _ => None,
        }
    }
}

/// Refuses what does not fit.
#[derive(Clone, Copy, Debug)]
pub struct TailDrop {
    /// As many bytes as any packet are taken for at least.
    stops_for: u32,
}

impl TailDrop {
    /// The policy; it keeps nothing of packets.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self { stops_for: u32::try_from(settings.stops_for.0).unwrap_or(u32::MAX) }
    }
}

impl BufferPolicy for TailDrop {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { bypass: if self.stops_for == 0 { u32::MAX } else { 0 }, ..Traits::PLAIN }
    }

    no_changes!();

    #[inline]
    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        match super::refuse_too_long(store, packet) {
            Verdict::Pass if store.has_no_room_for(packet.length.max(self.stops_for)) => {
                Verdict::Drop(Reason::BufferFull)
            }
            verdict => verdict,
        }
    }

    no_readings!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Discipline;
    use crate::packet::{Address, Fates, Header};
    use crate::registry::{BufferSettings, SchedulerSettings};
    use crate::units::Rate;

    #[test]
    fn a_queue_that_stops_in_time_asks_not_how_long_a_packet_is() {
        let taken = |stops_for: u64| {
            let buffer = BufferSettings::TailDrop(Settings { stops_for: Bytes(stops_for) });
            let scheduler = SchedulerSettings::by_name("fifo").expect("a scheduler");
            let queue = Queue { buffer: Some(buffer), ..Queue::new(scheduler, Some(Limit::Bytes(4000))) };
            let mut queue = queue.build(&Line::new(Rate::MAX));
            let node = Address::Node(1);
            let header =
                Header { source: node, destination: node, protocol: 0, source_port: 0, destination_port: 0, tos: 0 };
            let mut offer = |length| {
                queue.enqueue(Time::ZERO, Packet::new(0, Time::ZERO, length), &header, &mut Fates::new()).is_some()
            };
            [1500, 1000, 500, 500, 400, 100].map(&mut offer)
        };
        assert_eq!(taken(0), [true, true, true, true, true, true]);
        // 2500 bytes wait when there is room for 1500 for the last time, and 3000 when there is
        // not.
        assert_eq!(taken(1500), [true, true, true, false, false, false]);
    }

    #[test]
    fn a_queue_that_is_always_stopped_is_a_fault() {
        let buffer = |stops_for| BufferSettings::TailDrop(Settings { stops_for: Bytes(stops_for) });
        let queue = |stops_for| Queue {
            buffer: Some(buffer(stops_for)),
            ..Queue::new(SchedulerSettings::by_name("fifo").expect("a scheduler"), Some(Limit::Bytes(1000)))
        };
        assert!(queue(1000).fault().is_none());
        assert_eq!(queue(1001).fault().as_deref(), Some("tail_drop stops for 1001 bytes, which never fit into 1000"));
    }
}
