//! Linux's pfifo_fast: three bands by type of service, the first one that holds a packet sends.
//!
//! Use when: results must match the queue of a Linux device without `tc`. It keeps no queue short
//! and shares nothing: for that use `fq_codel`; with other bands, `ets` with `priomap`.
//! Source: Linux 6.1, sch_generic.c (`pfifo_fast_enqueue`, `pfifo_fast_dequeue`, `prio2band`).
//! Rules: a router gives a packet a priority by its type of service (`ip_forward`:
//! `rt_tos2priority`); interactive packets (0x10 in the byte) wait in band 0, those that ask for
//! much throughput (0x08 alone) in band 2, all others in band 1. A packet that finds its band full
//! is dropped.
//! Departs: a limit in bytes, which Linux has not, is that of all bands together.
//! Chosen: a limit in packets is a band's: 1000, the usual queue length of a device.
//! Cost: O(1) a packet.
//! Bound: Linux's order and drops to the packet (docs/agreement/linux.md). An earlier band starves
//! the later ones, and a flow whose packets differ in type of service is reordered.
//! Changes: a new limit in packets is, unlike the setting, that of all bands together and divided
//! among them; it counts from the next arrival on. A rate means nothing to it; weights, pacing and
//! classes are refused.

use crate::change::{Change, Unsupported, no_changes, of_each};
use crate::compose::Composition;
use crate::contract::{BufferPolicy, Discipline, Flow, Gone, Line, Next, Scheduler, Slot, Tag, Verdict, traits};
use crate::facts::Queues;
use crate::mark::none::None as NoMarks;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, no_settings};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::store::Store;
use crate::tos::{self, PRIOMAP};
use crate::units::{Limit, Time};
use alloc::boxed::Box;

no_settings!("Nothing can be set.");

/// `PFIFO_FAST_BANDS`.
const BANDS: Slot = 3;

impl Part for Settings {
    facts!(
        tells_flows_apart = false,
        queues = Queues::Own,
        own_limit = Limit::Packets(1000),
        parts_with_limit = BANDS.into()
    );
}

/// Builds the discipline.
#[must_use]
pub fn build(_: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    let of_a_band = match queue.capacity() {
        Limit::Packets(packets) => packets / u64::from(BANDS),
        _ => u64::MAX,
    };
    let classifier = queue.classifier().build(line);
    Box::new(Composition::new(classifier, Bands, Room { of_a_band }, NoMarks, queue.capacity(), line))
}

/// Drops a packet for which its band has no room.
struct Room {
    of_a_band: u64,
}

impl BufferPolicy for Room {
    traits!();

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        if let Change::Limit(limit) = *change {
            self.of_a_band = of_each(limit, BANDS.into())?.packets();
        }
        change.not_used()
    }

    fn admit(&mut self, _now: Time, store: &Store, queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        if store.has_no_room_for(packet.length) {
            return Verdict::Drop(Reason::BufferFull);
        }
        let is_full = u64::from(store.queue_packets(queue)) >= self.of_a_band;
        if is_full { Verdict::Drop(Reason::OverShare) } else { Verdict::Pass }
    }

    no_readings!();
}

/// The bands; what each holds is asked of the store.
struct Bands;

impl Scheduler for Bands {
    traits!(queue_per_flow = false, tags = false, bypass = u32::MAX);

    fn queue_of(&self, _flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        PRIOMAP[usize::from(tos::priority(packet.tos))].into()
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }

    fn backlogged(&mut self, _queue: Slot, _tag: Tag) {}

    fn next(&mut self, _now: Time, store: &Store) -> Next {
        (0..BANDS).find(|band| store.queue_packets(*band) > 0).map_or(Next::Empty, Next::Queue)
    }

    fn sent(&mut self, _now: Time, _queue: Slot, _packet: &Packet, _tag: Tag, _head: Option<Tag>) {}

    fn removed(&mut self, _now: Time, _gone: Gone<'_>) {}

    no_changes!();

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    no_readings!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Dequeue;
    use crate::packet::{Address, Fates, Header};
    use crate::registry::DesignSettings;
    use crate::units::Rate;

    #[test]
    fn bands_go_by_type_of_service_and_each_has_room_of_its_own() {
        let queue = Queue::of_design(DesignSettings::PfifoFast(Settings {}), Some(Limit::Packets(2)));
        let mut discipline = queue.build(&Line::new(Rate::new(1_000_000).expect("a rate")));
        let mut fates = Fates::new();
        // Throughput, nothing asked for, ECN, delay, both; two packets of band 1 find no room.
        for (token, tos) in [0x08, 0x00, 0x02, 0x10, 0xb8, 0x00].into_iter().enumerate() {
            let header = Header {
                source: Address::Node(0),
                destination: Address::Node(1),
                protocol: 0,
                source_port: 0,
                destination_port: 0,
                tos,
            };
            let packet = Packet { tos, ..Packet::new(token as u64, Time::ZERO, 100) };
            discipline.enqueue(Time::ZERO, packet, &header, &mut fates);
        }
        let dropped: alloc::vec::Vec<u64> = fates.drain(..).map(|fate| fate.packet.token).collect();
        let sent = core::iter::from_fn(|| match discipline.dequeue(Time::ZERO, &mut fates) {
            Dequeue::Send(packet) => Some(packet.token),
            _ => None,
        });
        assert_eq!((sent.collect::<alloc::vec::Vec<u64>>(), dropped), ([3, 1, 2, 0].to_vec(), [4, 5].to_vec()));
    }
}
