//! The packets of a lane that are not finished, in order of arrival.
//!
//! One slab. A packet is in it while it waits or is being sent, and until it has also left the
//! fluid, so that the two departures can be compared. Packets that have not left the line are
//! linked in order of arrival: a packet that leaves and is not the first of them overtakes.

use super::CapturedBytes;
use fairq_link::capture::mark_ce;
use fairq_sched::units::Time;
use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// The state of a packet in the fluid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fluid {
    /// The fluid does not hold it: it was not offered, or was withdrawn.
    Outside,
    /// The fluid still holds a part of it.
    Inside,
    /// It left the fluid at this time.
    Left(Time),
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its number in the stream.
    pub(super) packet: u64,
    /// When it arrived.
    pub(super) arrival: Time,
    /// When it left the line; `None` while it waits or is being sent.
    pub(super) departure: Option<Time>,
    /// Its state in the fluid.
    pub(super) fluid: Fluid,
    /// Its flow in the report.
    pub(super) flow: u32,
    /// Its length.
    pub(super) length: u32,
    /// Whether the discipline marked it.
    pub(super) is_marked: bool,
    previous: u32,
    next: u32,
}

impl Entry {
    /// A packet that arrives.
    pub(super) const fn new(packet: u64, arrival: Time, flow: u32, length: u32) -> Self {
        let fluid = Fluid::Outside;
        Self { packet, arrival, departure: None, fluid, flow, length, is_marked: false, previous: NONE, next: NONE }
    }
}

/// The slab.
#[derive(Default)]
pub(super) struct Entries {
    entries: Vec<Entry>,
    /// The captured bytes of each entry if a sink needs them, else empty.
    captured: Vec<Option<Arc<CapturedBytes>>>,
    free: Vec<u32>,
    ends: Option<Ends>,
}

/// The first and the last arrival among the packets on the line's side.
#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

impl Entries {
    /// Inserts the packet that arrived last. Returns its place.
    pub(super) fn insert(&mut self, mut entry: Entry, captured: Option<&Arc<CapturedBytes>>) -> u32 {
        entry.previous = self.ends.map_or(NONE, |ends| ends.last);
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                place
            }
            None => {
                // 2³² waiting packets of 40 bytes would need 200 GB here.
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        if entry.previous != NONE {
            self.entries[entry.previous as usize].next = place;
        }
        self.ends = Some(Ends { first: self.ends.map_or(place, |ends| ends.first), last: place });
        if let Some(captured) = captured {
            if self.captured.len() <= place as usize {
                self.captured.resize(place as usize + 1, None);
            }
            self.captured[place as usize] = Some(Arc::clone(captured));
        }
        place
    }

    pub(super) fn get(&self, place: u32) -> &Entry {
        &self.entries[place as usize]
    }

    pub(super) fn get_mut(&mut self, place: u32) -> &mut Entry {
        &mut self.entries[place as usize]
    }

    /// The packet at `place` leaves with CE; its captured bytes are marked as well. Other lanes
    /// keep theirs unmarked.
    pub(super) fn mark(&mut self, place: u32) {
        if let Some(captured) = self.captured.get_mut(place as usize).and_then(Option::as_mut) {
            let captured = Arc::make_mut(captured);
            mark_ce(captured.link_type, &mut captured.data);
        }
    }

    /// The packet leaves the line's side. Returns whether it was the first there, and its captured
    /// bytes.
    pub(super) fn leave(&mut self, place: u32) -> (bool, Option<Arc<CapturedBytes>>) {
        let Entry { previous, next, .. } = self.entries[place as usize];
        if previous != NONE {
            self.entries[previous as usize].next = next;
        }
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        self.ends = self.ends.and_then(|Ends { first, last }| match (previous, next) {
            (NONE, NONE) => None,
            (NONE, next) => Some(Ends { first: next, last }),
            (previous, NONE) => Some(Ends { first, last: previous }),
            _ => Some(Ends { first, last }),
        });
        (previous == NONE, self.captured.get_mut(place as usize).and_then(Option::take))
    }

    /// The packet is finished; its place is free for another.
    pub(super) fn free(&mut self, place: u32) {
        self.free.push(place);
    }

    /// The most packets that were in the slab at one time.
    pub(super) const fn most(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_first_when_all_that_arrived_before_have_left() {
        let mut entries = Entries::default();
        let place: Vec<u32> = (0..4).map(|n| entries.insert(Entry::new(n, Time(n), 1, 40), None)).collect();
        assert!(!entries.leave(place[1]).0);
        assert!(entries.leave(place[0]).0);
        assert!(!entries.leave(place[3]).0);
        entries.free(place[0]);
        let new = entries.insert(Entry::new(9, Time(9), 1, 40), None);
        assert_eq!((new, entries.get(new).packet, entries.most()), (place[0], 9, 4));
        assert!(entries.leave(place[2]).0 && entries.leave(new).0);
        let alone = entries.insert(Entry::new(10, Time(10), 1, 40), None);
        assert!(entries.leave(alone).0);
    }
}
