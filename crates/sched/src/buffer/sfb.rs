//! Stochastic fair BLUE: a BLUE for each bin of several hash tables; a flow is judged by its best
//! bin.
//!
//! Use when: one FIFO must find floods and hold them, with memory that does not grow with the
//! flows. Where each flow can have a queue use `fq_codel`; to equalise heavy flows use `afd`.
//! Source: Feng, Kandlur, Saha and Shin, "Stochastic Fair Blue: A Queue Management Algorithm for
//! Enforcing Fairness", INFOCOM 2001 (figure 3; moving hashes with double buffering, section III);
//! that at a probability p above a half packets that accept a mark are dropped with 2 (p − 1/2) all
//! the same is Linux 6.1's (`sfb_enqueue`, sch_sfb.c), the defaults are tc's (iproute2 q_sfb.c,
//! which hands its own to the kernel), and with `paper` they are not.
//! Departs: a cap on the packets of a flow whose bins are all as full (`bin_max`), as Linux has; a
//! packet that overflows a bin is not dropped for that alone.
//! Chosen: a flow is hashed by its slot, which the classifier's key has led to, with a key for each
//! level that follows from the line's seed and the number of the table. Each packet remembers the
//! tables that it was counted in. A new table is warmed for `warmup` before it takes over: it
//! counts arrivals, and learns from flows that are found unresponsive. These share one bucket of
//! `penalty_rate` and `penalty_burst` packets; what exceeds it is dropped, marks or not.
//! Cost: O(levels) a packet; two tables of levels · bins bins, 16 bytes for each packet that may
//! wait.
//! Bound: a flow with all its bins at 1 is sent at the penalty rate, a flow with a bin of its own
//! is not touched (active_queues.rs: sfb_lets_an_unresponsive_flow_send_at_the_penalty_rate); a
//! flood is found and held near its share (active_queues.rs:
//! sfb_finds_the_flood_and_spares_the_others); bins count what waits, whatever table is current
//! (active_queues.rs: sfb_takes_packets_out_of_the_bins_they_were_counted_in).
//! Changes: a rate means nothing to it: `penalty_rate` is a setting. Its bins stand.
//! Range: a flood gets what the others leave: its bins come to 1 only while the line is full
//! without it.

use super::blue::steps_fault;
use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, HeldPacket, Line, Slot, Verdict, traits};
use crate::control::blue::{Blue, Steps};
use crate::facts::{Facts, Overflow};
use crate::hash::{Hash, bucket_of, splitmix};
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{PS_PER_S, Time};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// The size of the tables, the steps of the probabilities, and the penalty box.
    pub struct Settings {
        /// Hash tables side by side, 1 to 16.
        pub levels: u32 = 8,
        /// Bins of each, at least 2; levels times bins is at most 1048576.
        pub bins: u32 = 16,
        /// A bin with this many packets raises its probability.
        pub bin_size: u32 = 20,
        /// A flow whose bins all hold this many packets is refused.
        pub bin_max: u32 = 25,
        /// Added to a bin's probability, in (0, 1].
        pub increment: f64 = 33.0 / 65535.0,
        /// Taken off when a packet finds its bin empty, in (0, 1].
        pub decrement: f64 = 3.0 / 65535.0,
        /// The least time between two changes of a bin's probability.
        pub freeze: Time = Time::ZERO,
        /// How long a table is used.
        pub rehash: Time = Time::from_s(600),
        /// How long before that the next one is warmed; less than `rehash`.
        pub warmup: Time = Time::from_s(60),
        /// Packets a second for all unresponsive flows together, at least 1.
        pub penalty_rate: u32 = 10,
        /// How many of their packets may go at once.
        pub penalty_burst: u32 = 20,
        /// Whether packets that accept a mark are marked in place of being dropped.
        pub ecn: bool = true,
        /// Whether they are at any probability below 1; without it, as in Linux, they are dropped
        /// more and more from a half on.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub paper: bool = false,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { marks_congestion: self.ecn, overflow: Overflow::Leaves, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=16).contains(&self.levels) {
            return Some(format!("sfb: levels is {}; it is from 1 to 16", self.levels));
        }
        if self.bins < 2 || u64::from(self.levels) * u64::from(self.bins) > BINS_MAX {
            let (levels, bins) = (self.levels, self.bins);
            return Some(format!("sfb: bins is {bins} on {levels} levels; at least 2, and at most {BINS_MAX} in all"));
        }
        if self.bin_size == 0 || self.bin_size > self.bin_max {
            let (size, max) = (self.bin_size, self.bin_max);
            return Some(format!("sfb: bin_size is {size}, bin_max {max}; 1 <= bin_size <= bin_max"));
        }
        if self.warmup >= self.rehash {
            return Some(format!("sfb: warmup is {}, rehash {}; warmup is less", self.warmup, self.rehash));
        }
        if self.penalty_rate == 0 || self.penalty_burst == 0 {
            return Some("sfb: penalty_rate and penalty_burst are at least 1".to_string());
        }
        steps_fault("sfb", self.increment, self.decrement)
    }

    fn variants() -> Vec<Self> {
        let (rehash, warmup) = (Time(50_000_000), Time(20_000_000));
        let steep = Self { increment: 0.5, decrement: 0.1, bin_size: 2, bin_max: 4, ..Self::default() };
        alloc::vec![Self { levels: 2, bins: 3, rehash, warmup, ecn: false, ..steep }]
    }
}

/// Bins of a table at most: two tables are then some 50 MB.
const BINS_MAX: u64 = 1 << 20;

#[derive(Clone, Default)]
struct Bin {
    packets: u32,
    blue: Blue,
}

/// The bins under one hash.
struct Table {
    /// Which table it is, counted from the start.
    number: u64,
    hash: Hash,
    bins: Vec<Bin>,
}

impl Table {
    fn new(number: u64, seed: u64, bins: usize) -> Self {
        let mut table = Self { number, hash: Hash::new(seed), bins: alloc::vec![Bin::default(); bins] };
        table.clear(number, seed);
        table
    }

    /// Becomes another table, an empty one.
    fn clear(&mut self, number: u64, seed: u64) {
        self.number = number;
        self.hash = Hash::new(seed ^ splitmix(number));
        self.bins.fill(Bin::default());
    }

    /// The places of a flow's bins, one for each level.
    fn places(&self, slot: Slot, levels: u32) -> impl Iterator<Item = usize> + use<> {
        let (hash, width) = (self.hash, self.bins.len() as u64 / u64::from(levels));
        (0..u64::from(levels)).map(move |level| {
            let of = hash.of_fields(&[u64::from(slot), level]);
            (level * width) as usize + bucket_of(of, width) as usize
        })
    }

    /// Moves the probabilities of a flow's bins by what they hold: the least probability and the
    /// least number of packets.
    fn learn(&mut self, now: Time, slot: Slot, settings: &Settings) -> (f64, u32) {
        let Settings { increment, decrement, freeze, .. } = *settings;
        let steps = Steps { increment, decrement, freeze };
        let mut least = (f64::INFINITY, u32::MAX);
        for place in self.places(slot, settings.levels) {
            let bin = &mut self.bins[place];
            if bin.packets == 0 {
                bin.blue.fall(now, &steps);
            } else if bin.packets >= settings.bin_size {
                bin.blue.rise(now, &steps);
            }
            least = (least.0.min(bin.blue.probability()), least.1.min(bin.packets));
        }
        least
    }
}

/// In which tables a packet was counted: two in a row at most.
#[derive(Clone, Copy, Default)]
struct Counted {
    first: u64,
    last: u64,
}

/// Two tables, one in use, and the penalty box.
pub struct Sfb {
    settings: Settings,
    seed: u64,
    current: Table,
    /// The table after the current one.
    next: Table,
    /// What was counted for each packet, by the place where it is held.
    counted: Vec<Counted>,
    /// What the penalty box lets through, in picoseconds of its rate, as of `filled`.
    credit: u64,
    filled: Time,
    random: Random,
}

impl Sfb {
    /// Empty tables and a full bucket.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let bins = settings.levels as usize * settings.bins as usize;
        let mut random = Random::new(line.seed, "sfb");
        let seed = random.bits();
        let (current, next) = (Table::new(0, seed, bins), Table::new(1, seed, bins));
        let mut sfb = Self {
            settings: settings.clone(),
            seed,
            current,
            next,
            counted: Vec::new(),
            credit: 0,
            filled: Time::ZERO,
            random,
        };
        sfb.credit = sfb.credit_max();
        sfb
    }

    /// Makes the table current whose time it is.
    fn turn(&mut self, now: Time) {
        let number = now.0 / self.settings.rehash.0;
        if number == self.current.number {
            return;
        }
        core::mem::swap(&mut self.current, &mut self.next);
        if self.current.number != number {
            self.current.clear(number, self.seed);
        }
        self.next.clear(number + 1, self.seed);
    }

    fn is_warming(&self, now: Time) -> bool {
        now.0 % self.settings.rehash.0 >= self.settings.rehash.0 - self.settings.warmup.0
    }

    /// Whether a packet of an unresponsive flow may go.
    fn has_credit(&mut self, now: Time) -> bool {
        self.credit = self.credit.saturating_add((now - self.filled).0).min(self.credit_max());
        self.filled = now;
        let enough = self.credit >= self.packet_credit();
        self.credit -= if enough { self.packet_credit() } else { 0 };
        enough
    }

    fn packet_credit(&self) -> u64 {
        PS_PER_S / u64::from(self.settings.penalty_rate)
    }

    fn credit_max(&self) -> u64 {
        self.packet_credit().saturating_mul(self.settings.penalty_burst.into())
    }

    fn tables_of(&mut self, counted: Counted) -> impl Iterator<Item = &mut Table> {
        let tables = [&mut self.current, &mut self.next].into_iter();
        tables.filter(move |table| (counted.first..=counted.last).contains(&table.number))
    }
}

impl BufferPolicy for Sfb {
    traits!(hears_joins = true);

    no_changes!();

    fn admit(&mut self, now: Time, _store: &Store, _queue: Slot, flow: Flow, _packet: &mut Packet) -> Verdict {
        self.turn(now);
        let (probability, packets) = self.current.learn(now, flow.slot, &self.settings);
        if packets >= self.settings.bin_max {
            return Verdict::Drop(Reason::OverShare);
        }
        if probability >= 1.0 {
            if self.is_warming(now) {
                self.next.learn(now, flow.slot, &self.settings);
            }
            return if self.has_credit(now) { Verdict::Pass } else { Verdict::Drop(Reason::OverShare) };
        }
        let drawn = self.random.unit();
        if drawn >= probability {
            return Verdict::Pass;
        }
        super::early(self.settings.ecn && (self.settings.paper || drawn >= 2.0 * (probability - 0.5)))
    }

    fn joined(&mut self, now: Time, _store: &Store, held: HeldPacket<'_>) {
        self.turn(now);
        let first = self.current.number;
        let counted = Counted { first, last: first + u64::from(self.is_warming(now)) };
        let place = held.handle.index() as usize;
        if self.counted.len() <= place {
            self.counted.resize(place + 1, Counted::default());
        }
        self.counted[place] = counted;
        let levels = self.settings.levels;
        for table in self.tables_of(counted) {
            for place in table.places(held.flow, levels) {
                table.bins[place].packets += 1;
            }
        }
    }

    fn left(&mut self, _now: Time, _store: &Store, held: HeldPacket<'_>, _is_sent: bool) {
        let (counted, levels) = (self.counted[held.handle.index() as usize], self.settings.levels);
        for table in self.tables_of(counted) {
            for place in table.places(held.flow, levels) {
                table.bins[place].packets -= 1;
            }
        }
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        let bins = || self.current.bins.iter();
        visit(Reading::real("counted_packets", Unit::Packets, bins().map(|bin| f64::from(bin.packets)).sum::<f64>()));
        visit(Reading::real(
            "next_counted_packets",
            Unit::Packets,
            self.next.bins.iter().map(|bin| f64::from(bin.packets)).sum::<f64>(),
        ));
        visit(Reading::real(
            "bins_at_one",
            Unit::None,
            bins().filter(|bin| bin.blue.probability() >= 1.0).count() as f64,
        ));
        visit(Reading::real(
            "probability_max",
            Unit::None,
            bins().map(|bin| bin.blue.probability()).fold(0.0, f64::max),
        ));
    }
}
