//! CAKE on a device of several queues: a CAKE for each, and one rate that the busy ones share
//! evenly, as Linux 7.0 has it.
//!
//! Use when: you ask what shaping on several cores does to fairness: flows that share a queue share
//! its part of the rate. On one queue use `cake`.
//! Source: Linux 7.0, sch_cake.c (`cake_mq_init`, `cake_dequeue`, `cake_configure_rates`): the
//! patches of Koeppeler and Hoeiland-Joergensen, netdev, January 2026, "Add cake_mq qdisc for using
//! cake on mq devices", version 8 (5/6, "Share config and shaper state"), with the fixes
//! 15c2715a5264 (the rates of all tins follow) and 0b3cd139be56 (nothing is counted without a
//! rate); their talk at Netdev 0x19 has the choice of 200 us.
//! Rules: each queue's CAKE counts, when it is asked for a packet and `sync_time` has passed since
//! it last did, the queues that are active: itself, and each other that holds a packet or has sent
//! one since; it takes the whole rate over that number (`cake_dequeue`). Its tins' thresholds and
//! the quanta of its flows follow the part (`cake_set_rate` with an mtu of 0); targets, intervals
//! and memory stay those of the whole rate. A part that an idle queue leaves is taken within
//! `sync_time`; beside one that wakes, the others keep their larger part until they count anew.
//! Without a rate nothing is counted.
//! Departs: as `cake`. The hash that chooses the queue is not the kernel's, and no map from
//! processors to queues (XPS) is asked. A queue that holds nothing does not count. A limit in
//! bytes, which Linux has not, is that of all queues together.
//! Chosen: a flow goes to a queue by a hash of its key (`skb_tx_hash`). The device takes a packet
//! of each queue that may send in turn. All queues have 10240 packets of room and CAKE's memory
//! each; a packet for which one has no room left is dropped as over its share.
//! Cost: O(`queues`) a packet where others wait for their shapers, and once in a `sync_time` for
//! each queue; else as `cake`, amortised: a new rate divides the quantum anew for each load.
//! Bound: with n queues always busy each sends rate/n, whatever its number of flows (cake_mq.rs:
//! busy_queues_share_the_rate_evenly_whatever_their_flows), all of them together the rate, and one
//! alone has all of it after a `sync_time` (cake_mq.rs: a_queue_alone_has_the_whole_rate); with one
//! queue it is `cake` (cake_mq.rs: one_queue_is_cake_to_the_packet). Beside a queue that
//! wakes all together may send more than the rate, until the next packet after a `sync_time`
//! (cake_mq.rs: the_part_is_counted_anew_when_the_sync_time_has_passed). As with `cake`, nothing
//! leaves before a shaper's time though the line is idle, and a flow that met others in a full set
//! may be reordered.
//! Changes: a new limit is, unlike the setting, that of all queues together; one in packets is
//! divided among them. The line's rate means nothing to it: its shapers have their own. Weights,
//! pacing and classes are refused.

use super::cake::{self, Cake};
use crate::change::{Change, Unsupported, of_each};
use crate::contract::{Classifier, Dequeue, Discipline, Handle, Held, Line, Slot, traits};
use crate::facts::Facts;
use crate::hash::Hash;
use crate::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::units::{Bytes, Limit, Rate, Time};
use crate::waiting::Waiting;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// Queues, their rate together, and what the CAKE of each is.
    pub struct Settings {
        /// The device's queues, 1 to 256.
        pub queues: u32 = 4,
        /// The rate of all queues together; without one packets leave as the line takes them.
        pub rate: Option<Rate> = None,
        /// How long a queue keeps its part before it counts again which are active.
        pub sync_time: Time = SYNC_TIME,
        /// The settings of the CAKE of each queue; its rate is above.
        pub cake: cake::Settings = cake::Settings::default(),
    }
}

/// `sync_time` of Linux (`cake_config_init`).
const SYNC_TIME: Time = Time(200_000_000);

const QUEUES_MAX: u32 = 256;

impl Part for Settings {
    fn facts(&self) -> Facts {
        let of_each = self.of_each().facts();
        Facts {
            tells_flows_apart: self.queues > 1 || of_each.tells_flows_apart,
            parts_with_limit: self.queues.into(),
            memory: of_each.memory.map(|memory| Bytes(memory.0.saturating_mul(self.queues.into()))),
            ..of_each
        }
    }

    fn fault(&self, queue: &Queue) -> Option<String> {
        if !(1..=QUEUES_MAX).contains(&self.queues) {
            return Some(format!("cake_mq: queues is {}; write 1 to {QUEUES_MAX}", self.queues));
        }
        if self.cake.rate.is_some() {
            return Some("cake_mq: the rate is of all queues together; write rate beside queues".to_string());
        }
        self.cake.fault(queue).map(|fault| format!("cake_mq: {fault}"))
    }

    fn variants() -> Vec<Self> {
        let shaped = Self { rate: Rate::new(28_000), queues: 3, ..Self::default() };
        let tins = cake::Tins::BestEffort;
        let eager = cake::Settings { tins, queues: 4, ways: 2, memory: Some(Bytes(5000)), ..Default::default() };
        alloc::vec![Self { sync_time: Time::ZERO, ..shaped.clone() }, shaped, Self { cake: eager, ..Self::default() }]
    }
}

impl Settings {
    /// The CAKE of one queue before it has counted: it has the whole rate.
    fn of_each(&self) -> cake::Settings {
        cake::Settings { rate: self.rate, ..self.cake.clone() }
    }
}

/// A queue of the device.
struct Ring {
    cake: Cake,
    /// When it counted last, and when it sent last; nanoseconds.
    checked: u64,
    sent: u64,
    /// How many queues it counted; 0 before it has.
    active: u32,
}

/// The queues of the device. Times are nanoseconds.
struct CakeMq {
    rings: Vec<Ring>,
    classifier: Box<dyn Classifier>,
    hash: Hash,
    /// Bytes a second.
    rate: Option<u64>,
    sync_time: u64,
    /// The ring that is asked first.
    turn: usize,
    /// The bytes that may wait in all of them.
    together: u64,
}

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    let of_each = settings.of_each();
    let limit = queue.limit.unwrap_or_else(|| settings.facts().own_limit);
    let ring = |at: u32| {
        // Each draws for itself. The first is `cake` with the line's seed.
        let line = Line { seed: line.seed.wrapping_add(u64::from(at) << 32), ..line.clone() };
        Ring { cake: Cake::new(&of_each, queue, limit, &line), checked: 0, sent: 0, active: 0 }
    };
    Box::new(CakeMq {
        rings: (0..settings.queues).map(ring).collect(),
        classifier: queue.classifier().boxed(line),
        hash: Hash::new(line.seed),
        rate: settings.rate.map(|rate| rate.bit_per_s() / 8),
        sync_time: settings.sync_time.0 / 1000,
        turn: 0,
        together: if let Limit::Bytes(bytes) = limit { bytes } else { u64::MAX },
    })
}

/// Tells the hash of a queue from CAKE's own of the same fields.
const OF_QUEUES: u64 = 0x7478_6861_7368;

impl CakeMq {
    /// The queue of a flow, as `reciprocal_scale` spreads a hash.
    fn ring_of(&self, header: &Header) -> usize {
        let key = self.classifier.key(header, self.hash);
        let hash = self.hash.of_fields(&[key, OF_QUEUES]) >> 32;
        ((hash * self.rings.len() as u64) >> 32) as usize
    }

    /// Counts the active queues and gives ring `at` its part, if the time has come.
    fn sync(&mut self, now: u64, at: usize) {
        let Some(rate) = self.rate else { return };
        let checked = self.rings[at].checked;
        if self.rings[at].active > 0 && now - checked < self.sync_time {
            return;
        }
        let is_active =
            |(other, ring): &(usize, &Ring)| *other != at && (ring.cake.held().packets > 0 || ring.sent > checked);
        let active = 1 + self.rings.iter().enumerate().filter(is_active).count() as u32;
        let ring = &mut self.rings[at];
        if core::mem::replace(&mut ring.active, active) != active {
            ring.cake.set_rate(rate / u64::from(active));
        }
        ring.checked = now;
    }

    /// The handle of a packet of ring `at`, which has it as `handle`.
    fn outer(&self, at: usize, handle: Handle) -> Handle {
        let index = u64::from(handle.index()) * self.rings.len() as u64 + at as u64;
        let Ok(index) = u32::try_from(index) else { unreachable!("a ring holds below 16 million packets") };
        Handle::new(index, handle.generation())
    }
}

/// A queue that has no room left says nothing of the room in the others.
const fn of_one_queue(fate: &mut Fate) {
    if let Outcome::Dropped(reason @ (Reason::LongestQueue | Reason::TooLong)) = &mut fate.outcome {
        *reason = Reason::OverShare;
    }
}

impl Discipline for CakeMq {
    traits!();

    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        // Of one queue CAKE makes room.
        if self.rings.len() > 1 && self.held().bytes + u64::from(packet.length) > self.together {
            let is_too_long = u64::from(packet.length) > self.together;
            let reason = if is_too_long { Reason::TooLong } else { Reason::BufferFull };
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            return None;
        }
        let (at, before) = (self.ring_of(header), fates.len());
        let handle = self.rings[at].cake.enqueue(now, packet, header, fates);
        if self.rings.len() > 1 {
            fates[before..].iter_mut().for_each(of_one_queue);
        }
        handle.map(|handle| self.outer(at, handle))
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        let count = self.rings.len();
        let mut soonest: Option<Time> = None;
        for step in 0..count {
            let at = (self.turn + step) % count;
            // An empty one has nothing to count for.
            if self.rings[at].cake.held().packets == 0 {
                continue;
            }
            self.sync(now.0 / 1000, at);
            match self.rings[at].cake.dequeue(now, fates) {
                Dequeue::Send(packet) => {
                    self.rings[at].sent = now.0 / 1000;
                    self.turn = (at + 1) % count;
                    return Dequeue::Send(packet);
                }
                Dequeue::NotBefore(time) => soonest = Some(soonest.map_or(time, |other| other.min(time))),
                Dequeue::Empty => {}
            }
        }
        soonest.map_or(Dequeue::Empty, Dequeue::NotBefore)
    }

    fn held(&self) -> Held {
        self.rings.iter().map(|ring| ring.cake.held()).fold(Held::default(), |sum, held| Held {
            packets: sum.packets + held.packets,
            bytes: sum.bytes + held.bytes,
        })
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        let Change::Limit(limit) = *change else { return change.not_used() };
        // Packets are counted in each ring, bytes in all together.
        let of_each = Change::Limit(of_each(limit, self.rings.len() as u64)?);
        self.together = limit.bytes();
        self.rings.iter_mut().try_for_each(|ring| ring.cake.change(now, &of_each))
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        let count = self.rings.len() as u32;
        let inner = Handle::new(handle.index() / count, handle.generation());
        self.rings[(handle.index() % count) as usize].cake.remove(now, inner)
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        for (at, ring) in self.rings.iter().enumerate() {
            let name = format!("{at}");
            visit(Reading::count("active_queues", Unit::None, ring.active).of_queue(&name));
            visit(Reading::count("packets", Unit::Packets, ring.cake.held().packets).of_queue(&name));
            ring.cake.readings(now, &mut |reading| match reading.queue {
                Some(tin) => visit(reading.of_queue(&format!("{name} {tin}"))),
                None => visit(reading.of_queue(&name)),
            });
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        for (at, ring) in (0..).zip(&self.rings) {
            // Numbers of queues are told apart as handles are.
            let count = self.rings.len() as Slot;
            ring.cake.waiting(&mut |waiting| visit(Waiting { queue: waiting.queue * count + at, ..waiting }));
        }
    }
}
