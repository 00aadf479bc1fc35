//! Random early detection: packets are marked or dropped with a probability that grows with the
//! average queue.
//!
//! Use when: you compare with classic early detection. Its thresholds do not follow the line's
//! rate: for new work use `adaptive_red`, or `codel` or `pie`, which aim at a delay.
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! ToN 1993 (figure 2); Floyd, "Recommendation on using the gentle_ variant of RED", 2000; RFC
//! 3168, section 7 (ECN).
//! Departs: the average is updated by the queue that an arrival finds, the packet being sent not
//! counted; with queues of flows it is what waits in all of them.
//! Chosen: the gap between two signals is uniform on 1, …, 1/pb as section 7 derives it, not on 1,
//! …, 1/pb − 1 as figure 2 gives it to the letter; the idle time begins when the line, not the
//! queue, becomes empty, and counts in packets of `mean_packet` at the line's rate. As in Linux
//! (`red_enqueue`, sch_red.c) nothing is marked without `ecn`, what accepts a mark is marked from
//! `max` on too unless `hard_drop` is set, as RFC 3168 has it (section 7), and the step at `max` is
//! whole unless `gentle` is. In byte mode pb is multiplied by length over `mean_packet`. Weight
//! 0.002, 5 and 15 packets and the probability 0.1 are the usual ones (the paper has 0.02; Linux
//! has no thresholds of its own). They do not follow the line: ten Reno flows over 60 Mbit/s and 40
//! ms use 61 % of it with them, with `adaptive_red` 97 %. `wait`, `spare_empty`, `counts_bytes` and
//! `overflow_resets` are what ns-2 does; all are off.
//! Cost: O(1) a packet; a power after an idle time.
//! Bound: at a fixed average the share signalled is 2/(1/pb + 1), gaps are uniform
//! (active_queues.rs: red_signals_at_the_rate_of_its_law_with_even_gaps); marks go to packets that
//! accept them, with `hard_drop` drops to all from max on (active_queues.rs:
//! red_marks_what_accepts_marks_and_drops_above_max); an idle line lowers the average
//! (active_queues.rs: red_forgets_while_the_line_is_idle).
//! Changes: an idle time that a new rate falls into counts in packets of the new rate as a whole;
//! the average, the thresholds and the gap to the next signal stand.

use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, traits};
use crate::control::red::{Average, Curve, Gaps, Level};
use crate::facts::{Facts, Overflow};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Bytes, Limit, Rate, Time};
use alloc::format;
use alloc::string::String;

settings! {
    /// Thresholds of the average queue, and what happens between and above them.
    pub struct Settings {
        /// Below this average nothing happens. In packets or in bytes: so is the queue measured.
        pub min: Limit = Limit::Packets(5),
        /// From this average on packets are dropped. In the unit of `min`.
        pub max: Limit = Limit::Packets(15),
        /// The probability of a signal when the average comes to `max`, in (0, 1].
        pub probability: f64 = 0.1,
        /// What the queue found by one arrival counts in the average, in (0, 1].
        pub weight: f64 = 0.002,
        /// Whether the probability goes on to 1 at twice `max` in place of a step.
        pub gentle: bool = false,
        /// Whether packets that accept a mark are marked in place of being dropped.
        pub ecn: bool = false,
        /// Whether all are dropped from `max` on; else packets that accept a mark are marked there,
        /// too.
        pub hard_drop: bool = false,
        /// Whether a packet's chance is in proportion to its length.
        pub byte_mode: bool = false,
        /// The usual length of a packet, for idle times and for byte mode.
        pub mean_packet: Bytes = Bytes(1000),
        /// Whether 1/pb packets pass after a signal before there may be another, so that gaps are
        /// uniform from there to 2/pb.
        pub wait: bool = false,
        /// Whether a packet that finds nothing waiting joins, whatever the average.
        pub spare_empty: bool = false,
        /// In byte mode, whether gaps are counted in bytes, in whole usual packets, and a packet's
        /// length scales its chance at the end, a chance of 1 not: what is certain for a usual
        /// packet is then certain for a short one.
        pub counts_bytes: bool = false,
        /// Whether gaps begin anew with a packet that finds no room, too, so that while the buffer
        /// is full chance drops little.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub overflow_resets: bool = false,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { tells_flows_apart: false, marks_congestion: self.ecn, overflow: Overflow::Leaves, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        self.fault_of("red")
    }

    fn variants() -> alloc::vec::Vec<Self> {
        let quick = Self { weight: 0.5, min: Limit::Packets(1), max: Limit::Packets(3), ..Self::default() };
        let (min, max) = (Limit::Bytes(500), Limit::Bytes(2000));
        alloc::vec![
            quick.clone(),
            Self { gentle: true, ecn: true, hard_drop: true, ..quick.clone() },
            Self { wait: true, spare_empty: true, overflow_resets: true, ecn: true, ..quick.clone() },
            Self { min, max, byte_mode: true, wait: true, counts_bytes: true, ..quick.clone() },
            Self { min, max, byte_mode: true, ..quick },
        ]
    }
}

impl Settings {
    /// Why these settings make no sense for the policy called `name`.
    pub(super) fn fault_of(&self, name: &str) -> Option<String> {
        let reversed = match (self.min, self.max) {
            (Limit::Packets(min), Limit::Packets(max)) | (Limit::Bytes(min), Limit::Bytes(max)) => min >= max,
            _ => return Some(format!("{name}: min and max are both in packets or both in bytes")),
        };
        if reversed {
            return Some(format!("{name}: min is {}, max {}; min is less than max", self.min, self.max));
        }
        if !is_share(self.probability) {
            return Some(format!("{name}: probability is {}; it is above 0 and at most 1", self.probability));
        }
        if !is_share(self.weight) {
            return Some(format!("{name}: weight is {}; it is above 0 and at most 1", self.weight));
        }
        if self.counts_bytes && !self.byte_mode {
            return Some(format!("{name}: counts_bytes is of byte mode; write byte_mode=true"));
        }
        (self.mean_packet.0 == 0).then(|| format!("{name}: mean_packet is at least 1 B"))
    }
}

/// Whether `value` is above 0 and at most 1.
pub(super) fn is_share(value: f64) -> bool {
    value > 0.0 && value <= 1.0
}

/// The average and where it stands.
pub struct Red {
    pub(super) average: Average,
    pub(super) judge: Judge,
    /// How long a packet of `mean_packet` takes, in seconds.
    pub(super) packet_time: f64,
}

impl Red {
    /// An empty queue and a line that has never sent.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self::named("red", settings, line)
    }

    /// An empty queue of the policy `name`, which has random numbers of its own.
    pub(super) fn named(name: &str, settings: &Settings, line: &Line) -> Self {
        Self {
            average: Average::new(settings.weight),
            judge: Judge::named(name, settings, line),
            packet_time: packet_time(settings.mean_packet, line.rate),
        }
    }

    /// An arrival finds what is in `store`: where the average stands now.
    pub(super) fn see(&mut self, now: Time, store: &Store) -> Level {
        let Judge { settings, curve, .. } = &self.judge;
        self.average.see(now, super::measure(store, settings.min), self.packet_time);
        if settings.spare_empty && store.packets() == 0 {
            return Level::Low;
        }
        curve.level(self.average.value())
    }
}

/// The decision for a packet at an average, with the gaps between signals.
pub(super) struct Judge {
    settings: Settings,
    /// The constants of the curve; adaptive RED changes one.
    pub(super) curve: Curve,
    gaps: Gaps,
    random: Random,
}

impl Judge {
    /// Before any signal, with draws under `name`.
    pub(super) fn named(name: &str, settings: &Settings, line: &Line) -> Self {
        let Settings { min, max, probability, gentle, .. } = *settings;
        let curve = Curve { min: super::number(min), max: super::number(max), probability, gentle };
        let (gaps, random) = (Gaps::new(settings.wait), Random::new(line.seed, name));
        Self { settings: settings.clone(), curve, gaps, random }
    }

    /// The decision for `packet` when the average stands at `level`.
    pub(super) fn verdict(&mut self, level: Level, packet: &Packet) -> Verdict {
        match level {
            Level::Low => self.gaps.reset(),
            Level::Between(pb) if self.signals(pb, packet) => return super::early(self.settings.ecn),
            Level::Gentle(pb) if self.signals(pb, packet) => return self.above_max(),
            Level::Between(_) | Level::Gentle(_) => {}
            Level::High => {
                self.gaps.reset();
                return self.above_max();
            }
        }
        Verdict::Pass
    }

    /// A signal to a packet that finds an average of `max` or more.
    const fn above_max(&self) -> Verdict {
        super::early(self.settings.ecn && !self.settings.hard_drop)
    }

    fn signals(&mut self, pb: f64, packet: &Packet) -> bool {
        let Settings { byte_mode, counts_bytes, mean_packet, .. } = self.settings;
        let draw = self.random.unit();
        if byte_mode && counts_bytes {
            return self.gaps.signals_by_bytes(pb, packet.length, mean_packet.0, draw);
        }
        let longer = f64::from(packet.length) / mean_packet.0 as f64;
        self.gaps.signals(if byte_mode { (pb * longer).min(1.0) } else { pb }, draw)
    }
}

/// How many seconds a packet of `length` takes at `rate`.
pub(super) fn packet_time(length: Bytes, rate: Rate) -> f64 {
    length.0 as f64 * 8.0 / rate.bit_per_s() as f64
}

impl BufferPolicy for Red {
    traits!(hears_idle = true);

    fn admit(&mut self, now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        let level = self.see(now, store);
        let verdict = self.judge.verdict(level, packet);
        if self.judge.settings.overflow_resets && store.has_no_room_for(packet.length) {
            self.judge.gaps.reset();
        }
        verdict
    }

    fn idle(&mut self, now: Time) {
        self.average.idle(now);
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.packet_time = packet_time(self.judge.settings.mean_packet, rate);
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("average_queue", Unit::None, self.average.value()));
        visit(Reading::real("max_probability", Unit::None, self.judge.curve.probability));
    }
}
