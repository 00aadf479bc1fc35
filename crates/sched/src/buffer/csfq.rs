//! Core-stateless fair queueing: the edge writes each flow's rate into its packets, the core drops
//! by that label alone.
//!
//! Use when: a core should share fairly without state for flows and its edges can label every
//! packet. For layers in place of rates use `rainbow_fq`; on a single gateway `drr` is simpler.
//! Source: Stoica, Shenker and Zhang, "Core-Stateless Fair Queueing", SIGCOMM 1998 (sections 3.1 to
//! 3.4, the pseudo-code of its figure 3).
//! Departs: a dropped packet counts as one of no bytes in the accepted rate F; an F that stood
//! still while all is dropped would drive α to zero. While the line is not congested nothing is
//! dropped for its label: α is then the greatest label of the last window, and a flow that speeds
//! up would be dropped before a line that has room. A full buffer refuses the arriving packet.
//! Chosen: α begins as "all pass" and becomes the greatest label when the line is first congested.
//! The label is the rate over the weight, r/w in bit/s, as the bits of an IEEE single; 0 is no
//! label, and such a packet is never dropped for it. A flow that has been silent for ten windows is
//! new. The windows, and the cuts of α on overflow (1 %, at most 25 % between regular updates), are
//! from memory of the paper and therefore settings.
//! Cost: O(1) a packet. An edge keeps a rate and a time for each flow; a core keeps two rates and
//! α, whatever the flows.
//! Bound: a packet is accepted with probability min(1, α/label) (edge_and_core.rs:
//! csfq_accepts_with_the_probability_of_the_label); flows of constant rates get their weighted
//! max-min shares to within a tenth (edge_and_core.rs:
//! csfq_gives_constant_flows_their_max_min_shares).
//! Changes: α, F and the estimated rates stand; from the change on congestion is judged by the new
//! rate. A weight counts for the labels that an edge gives from then on; those given stand.

use super::rate_estimate::{FlowRates, RateEstimate, window_fault};
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, traits};
use crate::facts::Need;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::Time;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Windows of averaging, and what an overflow does.
    pub struct Settings {
        /// Over how long an edge averages the rate of a flow (K).
        pub flow_window: Time = Time::from_ms(100),
        /// Over how long a line averages what arrives and what it accepts (Kα).
        pub line_window: Time = Time::from_ms(200),
        /// How long a line is congested, or not, before α follows (Kc).
        pub congestion_window: Time = Time::from_ms(200),
        /// The part of α that an overflow takes off.
        pub overflow_cut: f64 = 0.01,
        /// The part of α that overflows may take off between two regular updates.
        pub overflow_cut_max: f64 = 0.25,
    }
}

impl Part for Settings {
    facts!(needs = &[Need::Label], goes_by_weights = true, needs_rate = true);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let windows = [
            ("flow_window", self.flow_window),
            ("line_window", self.line_window),
            ("congestion_window", self.congestion_window),
        ];
        let cuts = [("overflow_cut", self.overflow_cut), ("overflow_cut_max", self.overflow_cut_max)];
        let window = windows.into_iter().find_map(|(name, window)| window_fault(name, window));
        window.or_else(|| {
            let (name, cut) = cuts.into_iter().find(|(_, cut)| !(0.0..1.0).contains(cut))?;
            Some(format!("{name} = {cut}: write a number from 0 to below 1"))
        })
    }

    fn variants() -> Vec<Self> {
        let short = Time::from_ms(1);
        vec![Self {
            flow_window: short,
            line_window: short,
            congestion_window: short,
            overflow_cut: 0.2,
            ..Self::default()
        }]
    }
}

/// Whether more comes than the line can carry.
#[derive(Clone, Copy, Debug)]
enum State {
    Congested { since: Time },
    Uncongested { since: Time, label_max: f64 },
}

/// Drops by labels, and writes them at an edge.
pub struct Csfq {
    settings: Settings,
    rate: f64,
    /// At an edge.
    flows: Option<FlowRates>,
    /// A and F.
    arrived: RateEstimate,
    accepted: RateEstimate,
    state: State,
    /// α in bit/s for weight 1; infinite while nothing is known.
    fair: f64,
    /// α at the last regular update.
    fair_updated: f64,
    random: Random,
}

impl Csfq {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            settings: settings.clone(),
            rate: line.rate.bit_per_s() as f64,
            flows: line.role.labels().then(|| FlowRates::new(settings.flow_window)),
            arrived: RateEstimate::default(),
            accepted: RateEstimate::default(),
            state: State::Uncongested { since: Time::ZERO, label_max: 0.0 },
            fair: f64::INFINITY,
            fair_updated: f64::INFINITY,
            random: Random::new(line.seed, "csfq"),
        }
    }

    /// Follows the aggregate with one more packet (`estimate_alpha` of the source).
    fn follow(&mut self, now: Time, length: u32, label: f64, is_accepted: bool) {
        let window = self.settings.line_window;
        let arrived = self.arrived.note(now, length, window);
        let accepted = self.accepted.note(now, if is_accepted { length } else { 0 }, window);
        let is_due = |since: Time| now > since.saturating_add(self.settings.congestion_window);
        match &mut self.state {
            State::Congested { since } if arrived >= self.rate => {
                if !self.fair.is_finite() && label > 0.0 {
                    self.set_fair(label);
                } else if is_due(*since) {
                    *since = now;
                    // α ← α·C/F
                    self.set_fair(self.fair * self.rate / accepted);
                }
            }
            State::Congested { .. } => self.state = State::Uncongested { since: now, label_max: 0.0 },
            State::Uncongested { label_max, .. } if arrived >= self.rate => {
                let greatest = label_max.max(label);
                self.state = State::Congested { since: now };
                if !self.fair.is_finite() && greatest > 0.0 {
                    self.set_fair(greatest);
                }
            }
            State::Uncongested { since, label_max } if is_due(*since) => {
                let greatest = if *label_max > 0.0 { *label_max } else { f64::INFINITY };
                (*since, *label_max) = (now, 0.0);
                self.set_fair(greatest);
            }
            State::Uncongested { label_max, .. } => *label_max = label_max.max(label),
        }
    }

    fn set_fair(&mut self, fair: f64) {
        // Nothing was accepted for so long that F is no number to divide by: all pass until a label
        // comes.
        self.fair = if fair > 0.0 { fair } else { f64::INFINITY };
        self.fair_updated = self.fair;
    }

    /// α falls a little for a packet that found the buffer full.
    fn overflow(&mut self) {
        let least = self.fair_updated * (1.0 - self.settings.overflow_cut_max);
        self.fair = (self.fair * (1.0 - self.settings.overflow_cut)).max(least);
    }
}

/// The rate that a label stands for.
fn rate_of(label: u32) -> f64 {
    let rate = f64::from(f32::from_bits(label));
    // Whatever another discipline wrote there, it is a rate or none.
    if rate.is_finite() && rate > 0.0 { rate } else { 0.0 }
}

/// The label of a rate.
const fn label_of(rate: f64) -> u32 {
    (rate as f32).to_bits()
}

impl BufferPolicy for Csfq {
    traits!();

    fn admit(&mut self, now: Time, store: &Store, _queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        if let Some(flows) = &mut self.flows {
            let rate = flows.note(now, flow.slot, packet.length);
            packet.label = label_of(rate * 1000.0 / f64::from(flow.weight.thousandths()));
        }
        let label = rate_of(packet.label);
        let is_over = matches!(self.state, State::Congested { .. }) && label > self.fair;
        // Dropped with probability 1 − α/label.
        let is_dropped = is_over && self.random.unit() * label >= self.fair;
        let has_room = !store.limit().is_exceeded_by(store.packets() + 1, store.bytes() + u64::from(packet.length));
        let too_long = super::refuse_too_long(store, packet);
        let is_accepted = !is_dropped && has_room;
        self.follow(now, packet.length, label, is_accepted);
        if is_over {
            packet.label = label_of(label.min(self.fair));
        }
        match too_long {
            Verdict::Pass if is_dropped => Verdict::Drop(Reason::OverShare),
            Verdict::Pass if !has_room => {
                self.overflow();
                Verdict::Drop(Reason::BufferFull)
            }
            verdict => verdict,
        }
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        match *change {
            Change::Rate(rate) => self.rate = rate.bit_per_s() as f64,
            Change::Weight(..) => {}
            _ => return change.not_used(),
        }
        Ok(())
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.flows.as_mut().is_none_or(|flows| flows.is_clear(now, flow))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("fair_rate", Unit::BitPerS, self.fair));
        visit(Reading::real("arrival_rate", Unit::BitPerS, self.arrived.bit_per_s()));
        visit(Reading::real("accepted_rate", Unit::BitPerS, self.accepted.bit_per_s()));
        visit(Reading::count("congested", Unit::None, u8::from(matches!(self.state, State::Congested { .. }))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Role;
    use crate::units::Rate;
    use crate::units::{Limit, Weight};

    fn line(role: Role) -> Line {
        Line { role, ..Line::new(Rate::new(1_000_000).unwrap()) }
    }

    fn admit(csfq: &mut Csfq, store: &Store, ms: u64, flow: Flow, label: u32) -> (Verdict, u32) {
        let mut packet = Packet::new(0, Time::from_ms(ms), 1000);
        packet.label = label;
        (csfq.admit(Time::from_ms(ms), store, 1, flow, &mut packet), packet.label)
    }

    #[test]
    fn an_edge_writes_the_rate_over_the_weight_and_a_core_believes_it() {
        let store = Store::new(Limit::Unlimited);
        let half = Flow::weighted(1, Weight::from_thousandths(500).unwrap());
        let mut edge = Csfq::new(&Settings::default(), &line(Role::Edge));
        // The first packet: L/K = 80 kbit/s, over the weight 160 kbit/s.
        assert_eq!(admit(&mut edge, &store, 0, half, 7), (Verdict::Pass, label_of(160_000.0)));
        let mut core = Csfq::new(&Settings::default(), &line(Role::Core));
        assert_eq!(admit(&mut core, &store, 0, half, label_of(3e6)), (Verdict::Pass, label_of(3e6)));
        assert!(core.flows.is_none());
    }

    #[test]
    fn the_fair_rate_begins_at_the_greatest_label_and_a_drop_relabels_no_packet_below_it() {
        let store = Store::new(Limit::Unlimited);
        let mut core = Csfq::new(&Settings::default(), &line(Role::Core));
        let flow = Flow::of_slot(1);
        // 8 Mbit/s come to a line of 1 Mbit/s: congested within the first window, and a packet
        // without a label passes.
        for ms in 0..200 {
            assert_eq!(admit(&mut core, &store, ms, flow, label_of(8e6)).0, Verdict::Pass, "{ms}");
            assert_eq!(admit(&mut core, &store, ms, flow, 0), (Verdict::Pass, 0), "{ms}");
        }
        assert_eq!(core.fair, 8e6);
        // After a window of congestion α follows: C/F of it.
        for ms in 200..400 {
            admit(&mut core, &store, ms, flow, label_of(8e6));
        }
        assert!(core.fair < 2e6, "{}", core.fair);
        let (_, label) = admit(&mut core, &store, 400, flow, label_of(8e6));
        assert_eq!(label, label_of(core.fair));
        assert_eq!(admit(&mut core, &store, 400, flow, label_of(1000.0)), (Verdict::Pass, label_of(1000.0)));
    }

    #[test]
    fn overflows_cut_the_fair_rate_a_little_and_not_for_ever() {
        let store = Store::new(Limit::Packets(0));
        let mut core = Csfq::new(&Settings::default(), &line(Role::Core));
        core.set_fair(1000.0);
        admit(&mut core, &store, 0, Flow::of_slot(1), 0);
        assert_eq!(core.fair, 990.0);
        for _ in 0..100 {
            admit(&mut core, &store, 0, Flow::of_slot(1), 0);
        }
        assert_eq!(core.fair, 750.0);
    }

    #[test]
    fn a_label_of_another_discipline_is_a_rate_or_none() {
        for label in [u32::MAX, 0x7f80_0000, 0x8000_0000, label_of(-3.0)] {
            assert_eq!(rate_of(label), 0.0);
        }
        assert_eq!(rate_of(label_of(56_000.0)), 56_000.0);
    }
}
