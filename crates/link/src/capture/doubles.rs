//! Packets that a capture holds twice, as one of all interfaces, of a bridge or of a mirror does.
//!
//! Two records are one packet if their identities are the same (`identify`) and the second is
//! stamped within [`APART_MAX`] of the first. A retransmission has another number of its IP packet
//! or comes later, and of packets that are made alike there are more than two.
//!
//! Chosen: among the last [`KEPT`] identities, so that memory is bounded.

use super::Stamp;
use super::identity::Identified;
use fairq_sched::hash::Hash;
use std::collections::{BTreeMap, VecDeque};

/// The most picoseconds between the two records of a packet: a millisecond.
const APART_MAX: i128 = 1_000_000_000;

/// Identities among which the same packet is looked for.
const KEPT: usize = 16_384;

/// Below this part of the packets, in percent, doubles are chance.
const PERCENT_MIN: u64 = 5;

/// Below this number, too.
const DOUBLES_MIN: u64 = 10;

/// The records of one identity.
#[derive(Clone, Copy, Debug)]
struct Seen {
    first: Stamp,
    records: u32,
    is_close: bool,
}

/// Counts the packets that are there twice.
#[derive(Clone, Debug, Default)]
pub struct Doubles {
    seen: BTreeMap<u64, Seen>,
    order: VecDeque<u64>,
    packets: u64,
    doubles: u64,
}

impl Doubles {
    /// Takes the next packet of a capture: what `identify` found and the head that it gave.
    pub fn take(&mut self, stamp: Stamp, found: &Identified, head: &[u8]) {
        self.packets += 1;
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let words = head.chunks(8).map(word).chain([found.rest, found.length.into()]).collect::<Vec<u64>>();
        let key = Hash::new(0).of_fields(&words);
        if let Some(seen) = self.seen.get_mut(&key) {
            seen.records += 1;
            seen.is_close = (stamp.0 - seen.first.0).abs() <= APART_MAX;
            return;
        }
        self.seen.insert(key, Seen { first: stamp, records: 1, is_close: false });
        self.order.push_back(key);
        if self.order.len() > KEPT {
            self.forget();
        }
    }

    /// Counts the oldest identity and forgets it.
    fn forget(&mut self) {
        let seen = self.order.pop_front().and_then(|key| self.seen.remove(&key));
        self.doubles += u64::from(seen.is_some_and(|seen| seen.records == 2 && seen.is_close));
    }

    /// The packets that were there twice; zero where they are so few that it is chance.
    #[must_use]
    pub fn count(mut self) -> u64 {
        while !self.order.is_empty() {
            self.forget();
        }
        let is_chance = self.doubles < DOUBLES_MIN || 100 * self.doubles < PERCENT_MIN * self.packets;
        if is_chance { 0 } else { self.doubles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::packet::{Address, Header};

    /// The doubles of packets, each a stamp in microseconds and its number.
    fn doubles(packets: impl Iterator<Item = (i64, u64)>) -> u64 {
        let mut doubles = Doubles::default();
        for (microseconds, number) in packets {
            let [source, destination] = [1, 2].map(|last| Address::V4([10, 0, 0, last]));
            let header = Header { source, destination, protocol: 17, source_port: 1, destination_port: 2, tos: 0 };
            let found = Identified { header, length: 100, hops: 9, rest: number, is_cut: false, fragment: None };
            doubles.take(Stamp::from_ns(microseconds * 1000), &found, &[4, 17]);
        }
        doubles.count()
    }

    #[test]
    fn a_packet_that_is_there_twice_within_a_millisecond_is_counted() {
        let twice = |apart: i64| (0..1000).flat_map(move |at| [(2000 * at, at as u64), (2000 * at + apart, at as u64)]);
        assert_eq!(doubles(twice(10)), 1000);
        assert_eq!(doubles(twice(1900)), 0);
        assert_eq!(doubles((0..1000).map(|at| (10 * at, at as u64))), 0);
        // Made alike, and a few by chance.
        assert_eq!(doubles((0..1000).map(|at| (10 * at, 7))), 0);
        assert_eq!(doubles((0..1000).map(|at| (10 * at, at.max(9) as u64 / if at < 18 { 2 } else { 1 }))), 0);
    }

    #[test]
    fn memory_is_bounded_and_those_that_are_forgotten_are_counted() {
        let packets = (0..50_000).flat_map(|at| [(20 * at, at as u64), (20 * at + 5, at as u64)]);
        assert_eq!(doubles(packets), 50_000);
    }
}
