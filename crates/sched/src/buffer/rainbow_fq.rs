//! Rainbow fair queueing: the edge paints packets in the colours of rate layers, the core drops all
//! colours above one.
//!
//! Use when: a core should share fairly without state for flows or arithmetic on rates: edges
//! colour packets by layer. Its shares are as fine as a layer; `csfq` labels the rate itself.
//! Source: Cao, Wang and Zegura, "Rainbow Fair Queueing: Fair Bandwidth Sharing Without Per-Flow
//! State", INFOCOM 2000 (layers and colours at the edge; a threshold of colours in the core).
//! Departs: a full buffer refuses the arriving packet; if it did so since the last look at the
//! threshold, that counts as a queue above the high mark that grows, for a full queue cannot.
//! Chosen: layers grow by a constant factor, so that low rates are told apart finely; each is as
//! wide as the flow's weight makes it. A packet's colour is the layer of a uniform random point
//! below its flow's rate. The label is the colour, from 1; 0 is no label and always passes. The
//! threshold is looked at on arrivals: a layer down at most once an interval, if the queue is above
//! the high mark and has grown since; a layer up for each interval that has passed, if it is not
//! above the low mark. All gateways of an island must have the same layers, growth and `rate_max`.
//! The number of layers, their growth, the marks and the interval are from memory of the paper and
//! therefore settings.
//! Cost: O(1) a packet in a core; O(log layers) and a rate and a time for each flow at an edge.
//! Bound: a flow of constant rate has the sum of its layers up to the threshold accepted
//! (edge_and_core.rs: rainbow_accepts_the_layers_up_to_the_threshold); the threshold settles within
//! a layer of the max-min share (edge_and_core.rs:
//! rainbow_settles_within_a_layer_of_the_fair_share).
//! Changes: a weight counts for the layers of the packets that an edge colours from then on;
//! colours given and the threshold stand. A rate is not followed: without `rate_max` the layers are
//! those of the line's rate at the start.

use super::rate_estimate::{FlowRates, window_fault};
use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, traits};
use crate::facts::{Facts, Need};
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Limit, Rate, Time};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// The layers, and when the threshold moves.
    pub struct Settings {
        /// How many layers.
        pub layers: u32 = 64,
        /// How much wider each layer is than the one below it.
        pub growth: f64 = 1.1,
        /// What all layers of a flow of weight 1 carry together; the rate of the line if nothing is
        /// said, which suits an island whose edges have lines of the same rate. What a flow sends
        /// above it is in the last layer.
        pub rate_max: Option<Rate> = None,
        /// Over how long an edge averages the rate of a flow.
        pub flow_window: Time = Time::from_ms(100),
        /// The threshold rises while no more than this waits.
        pub low: Limit = Limit::Packets(5),
        /// The threshold falls while more than this waits and the queue grows.
        pub high: Limit = Limit::Packets(15),
        /// How long the threshold stays before it moves again.
        pub interval: Time = Time::from_ms(20),
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        let needs_rate = self.rate_max.is_none();
        Facts { needs: &[Need::Label], goes_by_weights: true, needs_rate, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=1024).contains(&self.layers) {
            return Some(format!("layers = {}: write a number from 1 to 1024", self.layers));
        }
        if !(1.0..=2.0).contains(&self.growth) {
            return Some(format!("growth = {}: write a number from 1 (all layers alike) to 2", self.growth));
        }
        if self.low == Limit::Unlimited || self.high == Limit::Unlimited {
            return Some(String::from("low and high are marks of the queue: write for example low = \"5 packets\""));
        }
        let windows = [("flow_window", self.flow_window), ("interval", self.interval)];
        windows.into_iter().find_map(|(name, window)| window_fault(name, window))
    }

    fn variants() -> Vec<Self> {
        let short =
            Self { interval: Time::from_ms(1), low: Limit::Bytes(500), high: Limit::Bytes(1000), ..Self::default() };
        let few = Self { layers: 3, growth: 1.0, ..short };
        vec![Self { rate_max: Some(Rate::MAX), ..few.clone() }, Self { rate_max: Rate::new(2_000_000), ..few }]
    }
}

/// Paints at an edge, and keeps a threshold of colours.
pub struct RainbowFq {
    settings: Settings,
    edge: Option<Edge>,
    /// Colours above it are dropped.
    threshold: u32,
    /// The last time at which it moved or could have moved.
    moved: Time,
    /// What waited then, in packets and bytes.
    waited: (u64, u64),
    /// Whether a packet has found the buffer full since.
    has_overflowed: bool,
}

/// What only an edge has.
struct Edge {
    flows: FlowRates,
    /// The upper end of each layer but the last, in bit/s for weight 1.
    ends: Vec<f64>,
    random: Random,
}

impl RainbowFq {
    /// Nothing has arrived; all colours pass.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let edge = line.role.labels().then(|| Edge {
            flows: FlowRates::new(settings.flow_window),
            ends: ends(settings, settings.rate_max.unwrap_or(line.rate)),
            random: Random::new(line.seed, "rainbow_fq"),
        });
        Self {
            settings: settings.clone(),
            edge,
            threshold: settings.layers,
            moved: Time::ZERO,
            waited: (0, 0),
            has_overflowed: false,
        }
    }

    /// Moves the threshold if it is time.
    fn look(&mut self, now: Time, store: &Store, is_full: bool) {
        self.has_overflowed |= is_full;
        let intervals = (now - self.moved).0 / self.settings.interval.0;
        if intervals == 0 {
            return;
        }
        let waits = (store.packets(), store.bytes());
        let has_grown = match self.settings.high {
            Limit::Bytes(_) => waits.1 > self.waited.1,
            _ => waits.0 > self.waited.0,
        };
        let has_overflowed = core::mem::take(&mut self.has_overflowed);
        if has_overflowed || self.settings.high.is_exceeded_by(waits.0, waits.1) && has_grown {
            self.threshold = self.threshold.saturating_sub(1).max(1);
        } else if !self.settings.low.is_exceeded_by(waits.0, waits.1) {
            let rise = u32::try_from(intervals).unwrap_or(u32::MAX);
            self.threshold = self.threshold.saturating_add(rise).min(self.settings.layers);
        }
        (self.moved, self.waited) = (now, waits);
    }
}

impl Edge {
    /// The colour of a packet.
    fn paint(&mut self, now: Time, flow: Flow, length: u32) -> u32 {
        let rate = self.flows.note(now, flow.slot, length) * 1000.0 / f64::from(flow.weight.thousandths());
        let point = self.random.unit() * rate;
        self.ends.partition_point(|end| *end <= point) as u32 + 1
    }
}

/// Where the layers end that together carry `rate`, the last one left out: it has no end.
fn ends(settings: &Settings, rate: Rate) -> Vec<f64> {
    let widths =
        || (1..=settings.layers).scan(1.0, |width, _| Some(core::mem::replace(width, *width * settings.growth)));
    let all: f64 = widths().sum();
    let up_to = widths().scan(0.0, |sum, width| {
        *sum += width;
        Some(*sum * rate.bit_per_s() as f64 / all)
    });
    up_to.take(settings.layers as usize - 1).collect()
}

impl BufferPolicy for RainbowFq {
    traits!();

    no_changes!(Weight);

    fn admit(&mut self, now: Time, store: &Store, _queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        if let Some(edge) = &mut self.edge {
            packet.label = edge.paint(now, flow, packet.length);
        }
        let is_full = store.limit().is_exceeded_by(store.packets() + 1, store.bytes() + u64::from(packet.length));
        self.look(now, store, is_full);
        match super::refuse_too_long(store, packet) {
            Verdict::Pass if packet.label > self.threshold => Verdict::Drop(Reason::OverShare),
            Verdict::Pass if is_full => Verdict::Drop(Reason::BufferFull),
            verdict => verdict,
        }
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.edge.as_mut().is_none_or(|edge| edge.flows.is_clear(now, flow))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("threshold", Unit::None, self.threshold));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Role;

    #[test]
    fn layers_grow_and_fill_the_rate() {
        let settings = Settings { layers: 3, growth: 2.0, ..Settings::default() };
        assert_eq!(ends(&settings, Rate::new(7000).unwrap()), [1000.0, 3000.0]);
        assert!(ends(&Settings { layers: 1, ..settings }, Rate::MAX).is_empty());
    }

    #[test]
    fn the_threshold_falls_a_layer_an_interval_while_the_queue_grows_and_rises_when_it_is_short() {
        let settings = Settings { low: Limit::Packets(0), high: Limit::Packets(2), ..Settings::default() };
        let line = Line { role: Role::Core, ..Line::new(Rate::new(1_000_000).unwrap()) };
        let mut core = RainbowFq::new(&settings, &line);
        let mut store = Store::new(Limit::Packets(100));
        let at = |core: &mut RainbowFq, store: &Store, ms| {
            let mut packet = Packet::new(0, Time::from_ms(ms), 100);
            packet.label = core.threshold;
            assert_eq!(
                core.admit(packet.arrival, store, 1, Flow::of_slot(1), &mut packet),
                Verdict::Pass,
                "at {ms} ms"
            );
            core.threshold
        };
        let grow = |store: &mut Store, n| {
            (0..n).for_each(|_| {
                store.push(&Packet::new(0, Time::ZERO, 100), 0, 1, 1);
            })
        };
        grow(&mut store, 3);
        assert_eq!(at(&mut core, &store, 19), 64, "not yet");
        let mut packet = Packet::new(0, Time::from_ms(20), 100);
        packet.label = 64;
        // The colour at the threshold is the first to be dropped.
        let verdict = core.admit(packet.arrival, &store, 1, Flow::of_slot(1), &mut packet);
        assert_eq!((verdict, core.threshold), (Verdict::Drop(Reason::OverShare), 63));
        assert_eq!(at(&mut core, &store, 40), 63, "the queue stands still");
        store.pop(1, crate::contract::End::Front);
        assert_eq!(at(&mut core, &store, 60), 63, "between the marks");
        (0..2).for_each(|_| assert!(store.pop(1, crate::contract::End::Front).is_some()));
        assert_eq!(at(&mut core, &store, 85), 64, "the queue is empty");
        let mut unlabelled = Packet::new(0, Time::from_ms(90), 100);
        core.threshold = 1;
        assert_eq!(core.admit(unlabelled.arrival, &store, 1, Flow::of_slot(1), &mut unlabelled), Verdict::Pass);
        assert_eq!(at(&mut core, &store, 85 + 3 * 20), 4, "a layer for each interval");
    }
}
