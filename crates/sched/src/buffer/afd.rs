//! Approximate fair dropping: a flow's share of recent arrivals, seen in a sample of them, decides
//! how much of it is dropped.
//!
//! Use when: one FIFO must give heavy flows equal rates from a sample of the arrivals. Where each
//! flow can have a queue use a fair scheduler with `longest_queue_drop`; with labels from an edge,
//! `csfq`.
//! Source: Pan, Breslau, Prabhakar and Shenker, "Approximate Fairness through Differential
//! Dropping", ACM CCR 2003. The gains of the controller, its period and the size of the sample are
//! from memory and therefore settings.
//! Departs: no flow has more than its slot, so that the count of a flow is looked up by it in place
//! of a hash of it.
//! Chosen: a packet is sampled with a chance in proportion to its length, so that shares are of
//! bytes; it is sampled before it is judged, and takes a random place of the full sample. The queue
//! is measured in packets. The fair count never falls below 1, nor rises above the sample. The
//! gains are for lines that carry about seven packets in an interval: the fair count moves by
//! packets of the queue, whatever the line's rate. `interval` is therefore what seven packets of
//! `mean_packet` take on the line, unless it is given. Missed periods are applied in closed form
//! with the queue as it is.
//! Cost: O(1) a packet; 4 bytes for each place of the sample and for each flow's slot.
//! Bound: heavy flows are accepted at one rate, within about 1/√mi of a flow with mi packets in the
//! sample, and flows below the fair share lose nothing (active_queues.rs:
//! afd_gives_heavy_flows_one_rate_and_spares_light_ones), at any rate of the line
//! (active_queues.rs: afd_holds_the_queue_at_any_rate).
//! Changes: an `interval` that is not set follows the new rate, and the step that is due comes
//! within one; sample and fair count stand.

use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, traits};
use crate::facts::{Facts, Overflow};
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Bytes, Rate, Time};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// The sample and the controller.
    pub struct Settings {
        /// The queue to aim at, in packets; at least 1.
        pub target: u32 = 20,
        /// Packets in the sample (the shadow buffer), 2 to 1048576.
        pub sample: u32 = 500,
        /// One packet is sampled for this many bytes that arrive.
        pub sample_every: Bytes = Bytes(5000),
        /// How often the fair count is moved, at least 1 us; without it once in the time of seven
        /// packets of `mean_packet`.
        pub interval: Option<Time> = None,
        /// The usual length of a packet, by which the interval follows from the line's rate.
        pub mean_packet: Bytes = Bytes(1000),
        /// a1, the gain of the queue one interval ago.
        pub gain_before: f64 = 1.7,
        /// a2, the gain of the queue now; above `gain_before`.
        pub gain_now: f64 = 1.8,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { overflow: Overflow::Leaves, needs_rate: self.interval.is_none(), ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if self.target == 0 {
            return Some("afd: target is at least 1 packet".to_string());
        }
        if !(2..=SAMPLE_MAX).contains(&self.sample) {
            return Some(format!("afd: sample is {}; it is from 2 to {SAMPLE_MAX} packets", self.sample));
        }
        if self.sample_every.0 == 0 {
            return Some("afd: sample_every is at least 1 B".to_string());
        }
        if let Some(interval) = self.interval.filter(|interval| *interval < INTERVAL_MIN) {
            return Some(format!("afd: interval is {interval}; it is at least {INTERVAL_MIN}"));
        }
        if self.mean_packet.0 == 0 {
            return Some("afd: mean_packet is at least 1 B".to_string());
        }
        let (before, now) = (self.gain_before, self.gain_now);
        let is_stable = before > 0.0 && now > before && now.is_finite();
        (!is_stable).then(|| format!("afd: gain_before is {before}, gain_now {now}; 0 < gain_before < gain_now"))
    }

    fn variants() -> Vec<Self> {
        let (target, sample, sample_every) = (2, 10, Bytes(1));
        alloc::vec![Self { target, sample, sample_every, ..Self::default() }]
    }
}

const SAMPLE_MAX: u32 = 1 << 20;
/// Shorter intervals would be most of the work of a run.
const INTERVAL_MIN: Time = Time(1_000_000);
/// Packets of the line in an interval, for which the gains are.
const PACKETS: u64 = 7;
/// The least fair count: a flow seen once in the sample is always let through.
const FAIR_MIN: f64 = 1.0;

/// The sample, by flow too, and the fair count.
pub struct Afd {
    settings: Settings,
    /// Slots of flows; full after a while.
    sample: Vec<Slot>,
    /// mi, by slot.
    counts: Vec<u32>,
    /// mfair.
    fair: f64,
    /// The queue at the last update, in packets.
    before: f64,
    interval: Time,
    due: Time,
    random: Random,
}

impl Settings {
    /// How often the fair count is moved on a line of `rate`.
    fn interval_at(&self, rate: Rate) -> Time {
        let by_rate = || rate.time_of_rounded_up(Bytes(self.mean_packet.0.saturating_mul(PACKETS))).max(INTERVAL_MIN);
        self.interval.unwrap_or_else(by_rate)
    }
}

impl Afd {
    /// An empty sample; every count is fair.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            settings: settings.clone(),
            sample: Vec::with_capacity(settings.sample as usize),
            counts: Vec::new(),
            fair: f64::from(settings.sample),
            before: 0.0,
            interval: settings.interval_at(line.rate),
            due: settings.interval_at(line.rate),
            random: Random::new(line.seed, "afd"),
        }
    }

    fn count(&self, flow: Slot) -> u32 {
        self.counts.get(flow as usize).copied().unwrap_or(0)
    }

    /// Puts the flow of an arriving packet into the sample, in place of another if it is full.
    fn keep(&mut self, flow: Slot) {
        if self.sample.len() < self.settings.sample as usize {
            self.sample.push(flow);
        } else {
            let place = self.random.below(self.settings.sample.into()) as usize;
            let gone = core::mem::replace(&mut self.sample[place], flow);
            self.counts[gone as usize] -= 1;
        }
        *entry(&mut self.counts, flow, 0) += 1;
    }
}

impl BufferPolicy for Afd {
    traits!();

    fn admit(&mut self, _now: Time, _store: &Store, _queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        if self.random.below(self.settings.sample_every.0) < u64::from(packet.length) {
            self.keep(flow.slot);
        }
        // Di = max(0, 1 − mfair/mi)
        let kept = self.fair / f64::from(self.count(flow.slot));
        if self.random.unit() < kept { Verdict::Pass } else { Verdict::Drop(Reason::OverShare) }
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.due)
    }

    fn update(&mut self, now: Time, store: &Store) {
        if now < self.due {
            return;
        }
        let Settings { gain_before, gain_now, target, sample, .. } = self.settings;
        let interval = self.interval;
        let missed = (now - self.due).0 / interval.0;
        self.due = Time(self.due.0 + (missed + 1) * interval.0);
        let (before, queue) = (self.before - f64::from(target), store.packets() as f64 - f64::from(target));
        // mfair ← mfair + a1·(q(t − 1) − qref) − a2·(q(t) − qref), and as often again with the same
        // queue.
        let within = |fair: f64| fair.clamp(FAIR_MIN, f64::from(sample));
        let once = within(self.fair + gain_before * before - gain_now * queue);
        self.fair = within(once - missed as f64 * (gain_now - gain_before) * queue);
        self.before = store.packets() as f64;
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.interval = self.settings.interval_at(rate);
        // What was due at the old rate is run first; from now on intervals are of the new one.
        self.due = self.due.min(now.saturating_add(self.interval));
        Ok(())
    }

    fn is_clear(&mut self, _now: Time, flow: Slot) -> bool {
        self.count(flow) == 0
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("fair_count", Unit::None, self.fair));
        visit(Reading::count("sampled", Unit::None, self.sample.len() as u64));
    }
}
