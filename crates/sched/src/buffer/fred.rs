//! Flow random early drop: RED's drops, but only from flows that hold more than their share, and a
//! cap for each flow.
//!
//! Use when: one FIFO under RED should protect fragile flows by counting the packets that each
//! holds. Without such counts use `choke`; where flows have queues of their own,
//! `longest_queue_drop`.
//! Source: Lin and Morris, "Dynamics of Random Early Detection", SIGCOMM 1997 (the algorithm of
//! section 5 is from memory and agrees with what ports of it say). Its constants are therefore
//! settings.
//! Departs: packets are dropped, never marked, as in the source; thresholds are in packets. A
//! flow's packets are counted wherever they wait, so that it goes with queues of flows too.
//! Chosen: the average is updated by every packet that is accepted and every one that leaves, which
//! makes `weight` count about twice; no flow holds anything: the mean of a flow is 1.
//! Cost: O(1) a packet; four bytes for each flow's slot.
//! Bound: below `max` a flow with fewer than `flow_min` packets loses nothing; no flow holds more
//! than `min` packets (active_queues.rs: fred_spares_small_flows_and_caps_large_ones); a fragile
//! flow gets what it asks for beside a flood (active_queues.rs: fred_protects_a_fragile_flow).
//! Changes: an idle time that a new rate falls into counts in packets of the new rate as a whole;
//! the average and the flows' counts stand.

use super::red;
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, HeldPacket, Line, Slot, Verdict, traits};
use crate::control::red::{Average, Curve, Gaps, Level};
use crate::facts::Overflow;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Bytes, Limit, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// RED's thresholds and those of a flow.
    pub struct Settings {
        /// Below this average no packet is dropped at random; no flow holds more than this. In
        /// packets.
        pub min: Limit = Limit::Packets(5),
        /// From this average on all is dropped. In packets.
        pub max: Limit = Limit::Packets(15),
        /// The packets that a flow may hold before they are dropped at random: 2 for small buffers,
        /// 4 for large ones.
        pub flow_min: u32 = 2,
        /// The probability of a drop when the average comes to `max`, in (0, 1].
        pub probability: f64 = 0.02,
        /// What one length of the queue counts in the average, in (0, 1].
        pub weight: f64 = 0.002,
        /// The usual length of a packet, for idle times.
        pub mean_packet: Bytes = Bytes(1000),
    }
}

impl Part for Settings {
    facts!(overflow = Overflow::Leaves);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !matches!((self.min, self.max), (Limit::Packets(_), Limit::Packets(_))) {
            return Some("fred: min and max are in packets".to_string());
        }
        if self.flow_min == 0 {
            return Some("fred: flow_min is at least 1 packet".to_string());
        }
        let Self { min, max, probability, weight, mean_packet, .. } = *self;
        red::Settings { min, max, probability, weight, mean_packet, ..Default::default() }.fault_of("fred")
    }

    fn variants() -> Vec<Self> {
        let (min, max) = (Limit::Packets(2), Limit::Packets(4));
        alloc::vec![Self { min, max, flow_min: 1, weight: 0.5, probability: 0.5, ..Self::default() }]
    }
}

/// The average, and how often each flow asked for too much.
pub struct Fred {
    settings: Settings,
    curve: Curve,
    average: Average,
    gaps: Gaps,
    random: Random,
    packet_time: f64,
    /// Flows with a packet waiting.
    active: u32,
    /// By slot; 0 for a flow of which nothing waits.
    strikes: Vec<u32>,
}

impl Fred {
    /// Nothing waits.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let Settings { min, max, probability, weight, mean_packet, .. } = *settings;
        Self {
            settings: settings.clone(),
            curve: Curve { min: super::number(min), max: super::number(max), probability, gentle: false },
            average: Average::new(weight),
            gaps: Gaps::default(),
            random: Random::new(line.seed, "fred"),
            packet_time: red::packet_time(mean_packet, line.rate),
            active: 0,
            strikes: Vec::new(),
        }
    }

    /// Whether the flow takes more than it may however low the average is; that is a strike.
    fn is_greedy(&self, held: f64, strikes: u32) -> bool {
        // maxq = min_th, and 2 when avg ≥ max_th
        let is_high = self.average.value() >= self.curve.max;
        let most = if is_high { 2.0 } else { self.curve.min };
        let mean = self.mean();
        held >= most || (is_high && held > 2.0 * mean) || (held >= mean && strikes > 1)
    }

    /// avgcq: the average number of packets of a flow, at least 1.
    fn mean(&self) -> f64 {
        (self.average.value() / f64::from(self.active.max(1))).max(1.0)
    }
}

impl BufferPolicy for Fred {
    traits!(hears_joins = true, hears_idle = true);

    fn admit(&mut self, now: Time, store: &Store, _queue: Slot, flow: Flow, _packet: &mut Packet) -> Verdict {
        let slot = flow.slot as usize;
        if self.strikes.len() <= slot {
            self.strikes.resize(slot + 1, 0);
        }
        if store.packets() == 0 {
            self.average.see(now, 0.0, self.packet_time);
        }
        let held = f64::from(store.flow_packets(flow.slot));
        if self.is_greedy(held, self.strikes[slot]) {
            // A flow that holds nothing is forgotten, its strikes with it.
            self.strikes[slot] = if held > 0.0 { self.strikes[slot].saturating_add(1) } else { 0 };
            return Verdict::Drop(Reason::OverShare);
        }
        match self.curve.level(self.average.value()) {
            Level::Low => self.gaps.reset(),
            Level::Between(pb) if held >= f64::from(self.settings.flow_min).max(self.mean()) => {
                if self.gaps.signals(pb, self.random.unit()) {
                    return Verdict::Drop(Reason::Early);
                }
            }
            Level::Between(_) => self.gaps.pass(),
            Level::Gentle(_) | Level::High => {
                self.gaps.reset();
                return Verdict::Drop(Reason::Early);
            }
        }
        Verdict::Pass
    }

    fn joined(&mut self, now: Time, store: &Store, held: HeldPacket<'_>) {
        self.active += u32::from(store.flow_packets(held.flow) == 1);
        if store.packets() > 1 {
            self.average.see(now, (store.packets() - 1) as f64, self.packet_time);
        }
    }

    fn left(&mut self, now: Time, store: &Store, held: HeldPacket<'_>, _is_sent: bool) {
        self.average.see(now, store.packets() as f64, self.packet_time);
        if store.flow_packets(held.flow) == 0 {
            self.active -= 1;
            if let Some(strikes) = self.strikes.get_mut(held.flow as usize) {
                *strikes = 0;
            }
        }
    }

    fn idle(&mut self, now: Time) {
        self.average.idle(now);
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.packet_time = red::packet_time(self.settings.mean_packet, rate);
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("average_queue", Unit::None, self.average.value()));
        visit(Reading::count("active_flows", Unit::None, self.active));
    }
}
