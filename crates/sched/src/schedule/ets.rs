//! Enhanced transmission selection: some bands are served strictly first, the others share what
//! they leave by weight.
//!
//! Use when: some classes must go strictly first and the others share the rest by weight, as in
//! 802.1Qaz. A strict class can starve the others; to give every class a guaranteed rate use `htb`.
//! Source: IEEE 802.1Qaz-2011 (clause 37, enhanced transmission selection), whose weights are
//! percentages and whose sharing is left open; deficit round robin among the sharing bands is Linux
//! 6.1's (`ets_qdisc_dequeue`, sch_ets.c).
//! Departs: the priority of a packet is the precedence in its type-of-service byte, or its flow
//! names a class; with `priomap` it is that of Linux, which a router gives a packet by its type of
//! service (`ip_forward`: `rt_tos2priority`), and the bands are those of Linux's `prio` and `ets`
//! without filters (`prio_classify`, `ets_classify`).
//! Chosen: band 0 is the first of the strict ones; a sharing band's part is its quantum over the
//! sum of quanta of the bands that wait, and what an idle band leaves goes to the rest, including
//! what strict bands leave; a sharing band's turn that a strict packet interrupts goes on after it.
//! Cost: O(1) a packet and one step for each band.
//! Bound: backlogged sharing bands share like deficit round robin's flows, by quanta
//! (round_schedulers.rs: ets_bands_share_by_their_quanta). A strict band that always waits starves
//! all after it, the sharing ones too (round_schedulers.rs: ets_strict_bands_starve_the_others).
//! Packets of a flow that differ in precedence wait in different bands and overtake each other
//! (round_schedulers.rs: ets_reorders_a_flow_over_its_bands); within a band the order holds.
//! Changes: a flow's new class holds for the packets that arrive from then on; deficits and turns
//! stand. A rate means nothing to it; weights are refused.

use crate::change::no_changes;
use crate::class_tree::Place;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::deficit::{Accounts, Round};
use crate::facts::Queues;
use crate::leaf::LeafQueue;
use crate::packet::Packet;
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::schedule::drr;
use crate::store::Store;
use crate::tos;
use crate::units::{Bytes, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// The bands and the flows that wait in each.
    pub struct Settings {
        /// How many bands are served strictly first, in the order of their numbers.
        // Network control first; then three packets of what asks for more for each of the rest.
        pub strict: u32 = 1,
        /// What each of the bands after them sends in a turn, from 1 B to 1 GiB; with the strict
        /// ones at most 16 bands.
        pub quanta: Vec<Bytes> = alloc::vec![Bytes(3 * 1514), Bytes(1514)],
        /// The band of each precedence from 0 to 7 (the upper three bits of the type-of-service
        /// byte), or of each code point from 0 to 63 (the upper six). A flow of class `band0`,
        /// `band1`, … waits in that band whatever its packets say.
        pub map: Vec<u16> = [2, 2, 1, 1, 1, 1, 0, 0].to_vec(),
        /// In place of `map`: the band of each of Linux's priorities from 0 to 15. A router gives
        /// packets 0, 2, 4 and 6 of them, by the type of service.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Vec::is_empty"))]
        pub priomap: Vec<u16> = Vec::new(),
        /// The discipline in which the packets of each band wait, from band 0 on; a band without one
        /// has `fifo + 1000packets`. Without any all bands are under one limit.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Vec::is_empty"))]
        pub queues: Vec<LeafQueue> = Vec::new(),
    }
}

impl Settings {
    fn bands(&self) -> usize {
        self.quanta.len().saturating_add(self.strict as usize)
    }

    /// The band of each code point.
    fn band_of_points(&self) -> [u16; POINTS] {
        core::array::from_fn(|point| match (self.priomap.is_empty(), self.map.len()) {
            (false, _) => self.priomap[usize::from(tos::priority((point << 2) as u8))],
            (true, POINTS) => self.map[point],
            (true, _) => self.map[point >> 3],
        })
    }
}

impl Part for Settings {
    facts!(tells_flows_apart = false, queues = Queues::Own);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let bands = self.bands();
        if !(1..=BANDS.len()).contains(&bands) {
            return Some(alloc::format!("ets: strict bands and quanta are together from 1 to {} bands", BANDS.len()));
        }
        if self.queues.len() > bands {
            return Some(alloc::format!("ets: {} queues for {bands} bands; write one for each", self.queues.len()));
        }
        if ![8, POINTS].contains(&self.map.len()) {
            return Some("ets: map has the bands of 8 precedences or of 64 code points".to_string());
        }
        if ![0, tos::PRIORITIES].contains(&self.priomap.len()) {
            return Some("ets: priomap has the bands of 16 priorities".to_string());
        }
        for (name, places) in [("map", &self.map), ("priomap", &self.priomap)] {
            if places.iter().any(|band| usize::from(*band) >= bands) && (name != "map" || self.priomap.is_empty()) {
                return Some(alloc::format!("ets: {name} names bands from 0 to {}", bands - 1));
            }
        }
        self.quanta.iter().find_map(|quantum| drr::quantum_fault("ets", *quantum))
    }

    fn variants() -> Vec<Self> {
        let strict = Self { strict: 3, quanta: Vec::new(), ..Self::default() };
        let (quanta, map) = (alloc::vec![Bytes(1), Bytes(10_000)], [0, 1, 0, 1, 0, 1, 0, 1].to_vec());
        let sharing = Self { strict: 0, quanta, map, ..Self::default() };
        let linux = Self { priomap: tos::PRIOMAP.map(u16::from).to_vec(), ..strict.clone() };
        alloc::vec![strict, sharing, linux]
    }

    fn places(&self) -> Vec<Place<'_>> {
        let place = |(at, name)| Place::new(name, None, &[]).with(self.queues.get(at));
        BANDS.into_iter().take(self.bands()).enumerate().map(place).collect()
    }

    fn leaf_queues(&mut self) -> Vec<&mut LeafQueue> {
        self.queues.iter_mut().collect()
    }
}

/// A queue for each band.
pub struct Ets {
    strict: Slot,
    /// The band of each code point.
    map: [u16; POINTS],
    bands: usize,
    /// The accounts of the bands that share.
    accounts: Accounts,
    round: Round,
}

impl Ets {
    /// No band holds a packet.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        let mut accounts = Accounts::new();
        for (slot, quantum) in (settings.strict..).zip(&settings.quanta) {
            accounts.set_quantum(slot, quantum.0.saturating_mul(1000));
        }
        Self {
            strict: settings.strict,
            map: settings.band_of_points(),
            bands: settings.bands(),
            accounts,
            round: Round::new(),
        }
    }
}

impl Scheduler for Ets {
    // A band that has sent its last packet leaves the round, without credit.
    traits!(queue_per_flow = false, bypass = u32::MAX);

    fn classes(&self) -> Vec<&str> {
        BANDS.into_iter().take(self.bands).collect()
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        Slot::from(flow.class().unwrap_or(self.map[usize::from(packet.tos >> 2)]))
    }

    fn asks_empty(&self) -> Slot {
        self.strict
    }

    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, packet: &Packet) -> Tag {
        Tag::from(drr::cost(packet))
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        if queue >= self.strict {
            self.accounts.join(&mut self.round, queue, tag as u64);
        }
    }

    fn next(&mut self, _now: Time, store: &Store) -> Next {
        if let Some(band) = (0..self.strict).find(|band| store.queue_packets(*band) > 0) {
            return Next::Queue(band);
        }
        self.accounts.next(&mut self.round).map_or(Next::Empty, Next::Queue)
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if queue >= self.strict {
            self.accounts.sent(&mut self.round, queue, head.map(|tag| tag as u64));
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.was_head && gone.queue >= self.strict {
            self.accounts.replaced(&mut self.round, gone.queue, gone.head.map(|tag| tag as u64));
        }
    }

    no_changes!();

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    no_readings!();
}

/// How many code points there are.
const POINTS: usize = 64;

/// The names of bands; there are no more.
const BANDS: [&str; 16] = [
    "band0", "band1", "band2", "band3", "band4", "band5", "band6", "band7", "band8", "band9", "band10", "band11",
    "band12", "band13", "band14", "band15",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    #[test]
    fn a_band_goes_by_precedence_by_code_point_or_by_the_priority_of_a_router() {
        let bands = |settings: Settings, tos: [u8; 5]| {
            assert_eq!(settings.fault(&Queue::unlimited_fifo()), None);
            let ets = Ets::new(&settings, &Line::new(Rate::MAX));
            let store = Store::new(crate::units::Limit::Unlimited);
            tos.map(|tos| ets.queue_of(Flow::of_slot(0), &Packet { tos, ..Packet::new(0, Time::ZERO, 100) }, &store))
        };
        let three = Settings { strict: 3, quanta: Vec::new(), ..Settings::default() };
        let tos = [0x00, 0x08, 0x10, 0xb8, 0xe3];
        assert_eq!(bands(three.clone(), tos), [2, 2, 2, 1, 0]);
        let map = (0..64).map(|point| point / 22).collect();
        assert_eq!(bands(Settings { map, ..three.clone() }, tos), [0, 0, 0, 2, 2]);
        // `prio` of Linux without filters: `prio2band`, as tc sends it.
        let priomap = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1].to_vec();
        assert_eq!(bands(Settings { priomap, ..three }, tos), [1, 2, 0, 1, 1]);
    }
}
