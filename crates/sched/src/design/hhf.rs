//! Linux's hhf: flows that have sent much in a short time wait apart from all others, which have
//! more of the line.
//!
//! Use when: few long transfers should not delay short ones and no queue for each flow is wanted.
//! Within each of the two queues nothing is shared: for that use `fq_codel`.
//! Source: Linux 6.1, sch_hhf.c (T. Lam, N. Dukkipati), after Estan and Varghese, "New Directions
//! in Traffic Measurement and Accounting", SIGCOMM 2002 (section 3.3: shielding and conservative
//! update).
//! Rules: a flow's bytes are counted in four tables at places that its hash gives, each packet
//! raises only counters below the least of the four and its own length; the counters are cleared
//! `reset_timeout` after they last were. A flow whose four counters would exceed `admit_bytes` is a
//! heavy hitter and is kept in a table until it sent nothing for `evict_timeout`; its bytes do not
//! count then (`hhf_classify`, `seek_list`, `alloc_new_hh`). Heavy hitters share one queue, all
//! other flows the second one. The two take turns as fq_codel's queues do, the first with one
//! quantum and always among the old ones, the second with `non_hh_weight` quanta (`hhf_enqueue`,
//! `hhf_dequeue`). Without room the first packet of the heavy hitters is dropped, or of the others
//! if none of those waits (`hhf_drop`).
//! Departs: ticks begin with the run; a limit may be in bytes, and room is made until it is kept.
//! Chosen: the flow is the classifier's if one is named, else the five-tuple. Without a limit 1000
//! packets may wait (`hhf_init`).
//! Cost: O(1) a packet while a quantum is at least the largest packet, and O(k) where k heavy
//! hitters have the same place in their table.
//! Bound: a flow that sends more than `admit_bytes` between two resets is found, whatever the
//! others do (its own test: a_heavy_hitter_is_found). A flow that becomes one, or ceases to be one,
//! is reordered.
//! Changes: a new limit counts from the next arrival on, which makes room for itself. A rate means
//! nothing to it; weights, pacing and classes are refused.

use crate::change::{Change, Unsupported};
use crate::contract::{Classifier, Dequeue, Discipline, End, Handle, Held, Line, Slot, traits};
use crate::hash::Hash;
use crate::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Bytes, Limit, Time};
use crate::waiting::Waiting;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// When a flow is a heavy hitter, and what the two queues may send.
    pub struct Settings {
        /// What the heavy hitters may send in a turn, together.
        pub quantum: Bytes = Bytes(1514),
        /// How many quanta all other flows may send in theirs.
        pub non_hh_weight: u32 = 2,
        /// How many heavy hitters are kept at most.
        pub hh_limit: u32 = 2 * PLACES as u32,
        /// For how long bytes are counted.
        pub reset_timeout: Time = Time::from_ms(40),
        /// A flow that sends more in this time is a heavy hitter.
        pub admit_bytes: Bytes = Bytes(128 << 10),
        /// How long a heavy hitter is idle until it is none.
        pub evict_timeout: Time = Time::from_s(1),
        /// The kernel's tick, in which times are counted.
        pub tick: Time = Time::from_ms(1),
    }
}

impl Part for Settings {
    facts!(classifier = Some(super::FIVE_TUPLE), own_limit = Limit::Packets(1000));

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let fault = |text: &str| Some("hhf: ".to_string() + text);
        match () {
            () if !(1..=1 << 20).contains(&self.quantum.0) => fault("quantum is from 1 B to 1 MiB"),
            () if !(1..=1 << 10).contains(&self.non_hh_weight) => fault("non_hh_weight is from 1 to 1024"),
            () if self.tick == Time::ZERO => fault("tick is above 0 s; a kernel's is 1 to 10 ms"),
            () if self.hh_limit > 2 * PLACES as u32 => fault("hh_limit is at most 2048"),
            () => None,
        }
    }

    fn variants() -> Vec<Self> {
        let eager = Self { quantum: Bytes(300), admit_bytes: Bytes(2000), ..Self::default() };
        let few = Self { hh_limit: 1, non_hh_weight: 1, evict_timeout: Time::from_ms(2), ..eager.clone() };
        alloc::vec![eager, few]
    }
}

/// `HHF_ARRAYS_LEN` and `HH_FLOWS_CNT`: ten bits of a hash.
const PLACES: usize = 1 << 10;
/// `HHF_ARRAYS_CNT`.
const TABLES: usize = 4;

/// The queue of the heavy hitters, and that of all others.
const HEAVY: Slot = 0;
const OTHERS: Slot = 1;

/// A heavy hitter.
#[derive(Clone, Copy)]
struct Hitter {
    hash: u32,
    /// The next one of the same place, or the next that is free.
    next: Option<u32>,
    /// The tick of its last packet.
    seen: u64,
}

/// Bytes that were counted since the counters were cleared at a tick; since another one, none.
#[derive(Clone, Copy, Default)]
struct Counter {
    since: u64,
    bytes: u64,
}

/// What tells heavy hitters from other flows.
struct Filter {
    admit_bytes: u64,
    reset_ticks: u64,
    evict_ticks: u64,
    limit: u32,
    counters: [Vec<Counter>; TABLES],
    /// The tick at which the counters were cleared.
    cleared: u64,
    hitters: Vec<Hitter>,
    /// By place, the first heavy hitter there.
    first: Vec<Option<u32>>,
    free: Option<u32>,
    known: u32,
}

impl Filter {
    fn new(settings: &Settings) -> Self {
        let ticks = |time: Time| time.0.div_ceil(settings.tick.0);
        Self {
            admit_bytes: settings.admit_bytes.0,
            reset_ticks: ticks(settings.reset_timeout),
            evict_ticks: ticks(settings.evict_timeout),
            limit: settings.hh_limit,
            counters: core::array::from_fn(|_| alloc::vec![Counter::default(); PLACES]),
            cleared: 0,
            hitters: Vec::with_capacity(settings.hh_limit as usize),
            first: alloc::vec![None; PLACES],
            free: None,
            known: 0,
        }
    }

    /// Whether the flow of `hash` is a known heavy hitter, and notes that it was seen
    /// (`seek_list`). Removes expired entries on the way, except the last of the list.
    fn is_known(&mut self, tick: u64, hash: u32) -> bool {
        let place = hash as usize % PLACES;
        let (mut before, mut at) = (None, self.first[place]);
        while let Some(index) = at {
            let hitter = &mut self.hitters[index as usize];
            let next = hitter.next;
            if hitter.seen + self.evict_ticks >= tick {
                if hitter.hash == hash {
                    hitter.seen = tick;
                    return true;
                }
                before = at;
            } else {
                if next.is_none() {
                    return false;
                }
                hitter.next = self.free.replace(index);
                self.known -= 1;
                *self.link(place, before) = next;
            }
            at = next;
        }
        false
    }

    /// What names the heavy hitter behind `before`, or the first of a place.
    fn link(&mut self, place: usize, before: Option<u32>) -> &mut Option<u32> {
        match before {
            Some(before) => &mut self.hitters[before as usize].next,
            None => &mut self.first[place],
        }
    }

    /// Keeps a new heavy hitter if there is room (`alloc_new_hh`): in place of one that has
    /// expired, or at the end.
    fn keep(&mut self, tick: u64, hash: u32) -> bool {
        let place = hash as usize % PLACES;
        let (mut before, mut at) = (None, self.first[place]);
        while let Some(index) = at {
            let hitter = &mut self.hitters[index as usize];
            if hitter.seen + self.evict_ticks < tick {
                (hitter.hash, hitter.seen) = (hash, tick);
                return true;
            }
            (before, at) = (at, hitter.next);
        }
        if self.known >= self.limit {
            return false;
        }
        self.known += 1;
        let new = Hitter { hash, next: None, seen: tick };
        let index = if let Some(free) = self.free {
            self.free = core::mem::replace(&mut self.hitters[free as usize], new).next;
            free
        } else {
            self.hitters.push(new);
            self.hitters.len() as u32 - 1
        };
        *self.link(place, before) = Some(index);
        true
    }

    /// The queue of a packet of `length` of the flow of `hash` (`hhf_classify`).
    fn queue_of(&mut self, tick: u64, hash: u32, length: u32) -> Slot {
        if self.cleared + self.reset_ticks < tick {
            self.cleared = tick;
        }
        if self.is_known(tick, hash) {
            return HEAVY;
        }
        let places = places_of(hash);
        let counted = |table: usize| self.counted(table, places[table]);
        let least = (0..TABLES).map(counted).min().unwrap_or(0) + u64::from(length);
        if least > self.admit_bytes {
            return if self.keep(tick, hash) { HEAVY } else { OTHERS };
        }
        for (table, place) in places.into_iter().enumerate() {
            let bytes = self.counted(table, place).max(least);
            self.counters[table][place] = Counter { since: self.cleared, bytes };
        }
        OTHERS
    }

    fn counted(&self, table: usize, place: usize) -> u64 {
        let Counter { since, bytes } = self.counters[table][place];
        if since == self.cleared { bytes } else { 0 }
    }
}

/// The places of a flow in the tables: three parts of ten bits, and all of the hash folded.
const fn places_of(hash: u32) -> [usize; TABLES] {
    let hash = hash as usize;
    let parts = [hash % PLACES, (hash >> 10) % PLACES, (hash >> 20) % PLACES];
    [parts[0], parts[1], parts[2], parts[0] ^ parts[1] ^ parts[2] ^ hash >> 30]
}

/// The whole discipline.
struct Hhf {
    classifier: Box<dyn Classifier>,
    hash: Hash,
    tick: Time,
    filter: Filter,
    store: Store,
    /// What each queue may send in a turn, and what is left of it.
    quanta: [i64; 2],
    credits: [i64; 2],
    new: VecDeque<Slot>,
    old: VecDeque<Slot>,
}

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    let quantum = settings.quantum.0 as i64;
    Box::new(Hhf {
        classifier: queue.classifier().boxed(line),
        hash: Hash::new(line.seed),
        tick: settings.tick,
        filter: Filter::new(settings),
        store: Store::new(queue.capacity()),
        quanta: [quantum, quantum * i64::from(settings.non_hh_weight)],
        credits: [0, 0],
        new: VecDeque::with_capacity(2),
        old: VecDeque::with_capacity(2),
    })
}

impl Hhf {
    /// The queue whose turn it is and that holds a packet.
    fn next(&mut self) -> Option<Slot> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = list.pop_front()?;
            let credit = &mut self.credits[queue as usize];
            if *credit <= 0 {
                *credit += self.quanta[queue as usize];
                self.old.push_back(queue);
            } else if self.store.queue_packets(queue) > 0 {
                list.push_front(queue);
                return Some(queue);
            } else if is_new && !self.old.is_empty() {
                // Not before the old ones again.
                self.old.push_back(queue);
            }
        }
    }

    fn make_room(&mut self, fates: &mut Fates) {
        while self.store.is_over_limit() {
            let gone = self.store.pop(HEAVY, End::Front).or_else(|| self.store.pop(OTHERS, End::Front));
            let Some(gone) = gone else { return };
            fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(Reason::OverShare) });
        }
    }
}

impl Discipline for Hhf {
    traits!(hears_idle = true);

    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        if self.store.is_too_short_for(packet.length) {
            fates.push(Fate { packet, outcome: Outcome::Dropped(Reason::TooLong) });
            return None;
        }
        let hash = (self.hash.of_fields(&[self.classifier.key(header, self.hash)]) >> 32) as u32;
        let queue = self.filter.queue_of(now.0 / self.tick.0, hash, packet.length);
        let (handle, _) = self.store.push(&packet, 0, queue, queue);
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            let list = if queue == HEAVY { &mut self.old } else { &mut self.new };
            list.push_back(queue);
            self.credits[queue as usize] = self.quanta[queue as usize];
        }
        self.make_room(fates);
        self.store.waiting(handle).is_some().then_some(handle)
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Dequeue {
        self.store.end_serving();
        let Some(queue) = self.next() else { return Dequeue::Empty };
        self.store.serve(queue);
        let Some(packet) = self.store.serving().map(|entry| *entry.packet) else { return Dequeue::Empty };
        self.credits[queue as usize] -= i64::from(packet.length);
        Dequeue::Send(packet)
    }

    fn held(&self) -> Held {
        self.store.held()
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.store.change(change)
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<Packet> {
        self.store.remove(handle).map(|gone| gone.packet)
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("heavy_hitters", Unit::None, self.filter.known));
        for (name, queue) in [("heavy", HEAVY), ("other", OTHERS)] {
            visit(Reading::count("packets", Unit::Packets, self.store.queue_packets(queue)).of_queue(name));
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.store.show(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(settings: Settings) -> Filter {
        Filter::new(&settings)
    }

    #[test]
    fn a_heavy_hitter_is_found() {
        // 87 packets of 1514 B are 131 718 B, the first number above 131 072.
        let mut filter = filter(Settings::default());
        let queues: Vec<Slot> = (0..90).map(|_| filter.queue_of(1, 0x1234_5678, 1514)).collect();
        assert_eq!((queues[..86].iter().max(), queues[86..].iter().max()), (Some(&OTHERS), Some(&HEAVY)));
        assert_eq!(queues[..86].iter().min(), Some(&OTHERS));
        // Its bytes do not count any more, and one that shares three of its places is no hitter.
        let other = 0x1234_5678 ^ 1 << 20;
        assert_eq!(filter.queue_of(1, other, 1514), OTHERS);
        // Seen at tick 1001, it is one for 1000 ticks more, and then counted anew.
        assert_eq!([1001, 2001, 3002].map(|tick| filter.queue_of(tick, 0x1234_5678, 100)), [HEAVY, HEAVY, OTHERS]);
    }

    #[test]
    fn counters_are_cleared_after_their_time_and_raised_to_the_least_of_four() {
        let mut filter = filter(Settings { admit_bytes: Bytes(1000), ..Settings::default() });
        // Cleared at tick 0: those of tick 40 still count, at 41 they are cleared again.
        assert_eq!(filter.queue_of(40, 7, 900), OTHERS);
        assert_eq!(filter.queue_of(41, 7, 900), OTHERS);
        assert_eq!(filter.queue_of(81, 7, 200), HEAVY);
        // A flow that shares one place with another raises it by its own least counter only.
        let mut filter = Filter::new(&Settings::default());
        filter.queue_of(1, 7, 900);
        filter.queue_of(1, 7 | 1 << 10, 100);
        assert_eq!(filter.counted(0, 7), 900);
        assert_eq!(filter.counted(1, 1), 100);
    }

    #[test]
    fn places_are_the_chunks_of_the_hash() {
        let hash = 0b11_0000000111_0000000010_0000000001;
        assert_eq!(places_of(hash), [1, 2, 7, 1 ^ 2 ^ 7 ^ 3]);
    }

    #[test]
    fn only_so_many_are_kept() {
        let mut filter = filter(Settings { admit_bytes: Bytes(0), hh_limit: 2, ..Settings::default() });
        assert_eq!([1, 2, 3, 1].map(|hash| filter.queue_of(1, hash, 100)), [HEAVY, HEAVY, OTHERS, HEAVY]);
        assert_eq!(filter.known, 2);
    }

    #[test]
    fn what_has_expired_makes_room_but_for_the_last_of_its_place() {
        let settings = Settings { admit_bytes: Bytes(0), hh_limit: 3, ..Settings::default() };
        let mut filter = filter(settings);
        // Three flows at one place; two expire, and the third is seen until then.
        let hashes = [5, 5 | 1 << 10, 5 | 2 << 10];
        assert_eq!(hashes.map(|hash| filter.queue_of(1, hash, 100)), [HEAVY; 3]);
        assert_eq!(filter.queue_of(900, hashes[1], 100), HEAVY);
        assert_eq!(filter.queue_of(1500, hashes[1], 100), HEAVY);
        // The first went on the way to the second; the last stays and is used again.
        assert_eq!(filter.known, 2);
        assert_eq!([6, 7].map(|hash| filter.queue_of(1500, hash, 100)), [HEAVY, OTHERS]);
        assert_eq!(filter.queue_of(1500, 5 | 3 << 10, 100), HEAVY);
        assert_eq!((filter.known, filter.hitters.len()), (3, 3));
    }
}
