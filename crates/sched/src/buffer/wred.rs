//! Weighted RED: one average of the queue, and a curve of RED for each drop precedence, by the
//! packet's DSCP.
//!
//! Use when: packets are marked in or out of a profile, as by a policer of assured forwarding, and
//! those out are to be lost first. It shares nothing by flows: for that use `fq_codel` or `drr`.
//! Source: RFC 2597 (drop precedence of assured forwarding: AFx1 is lost least, AFx3 most), and
//! Linux 6.1, sch_gred.c, whose mode with equal priorities this is (`gred_wred_mode`,
//! `gred_enqueue`): the average is that of the whole queue and one for all curves (`wred_set`), the
//! gaps between signals are each curve's own.
//! Rules: those of `red` for each curve.
//! Departs: a packet's curve follows from its DSCP, where Linux takes a number that a classifier
//! writes into the packet (`tc_index`). Curves have no limit of their own: the queue has one. The
//! average and the gaps are those of `red` here.
//! Chosen: the curve that names the packet's DSCP, else the first that names none; a packet for
//! which there is neither is let in, as Linux does without a default. The default curves are those
//! of routers whose WRED goes by DSCP (`random-detect dscp` of Cisco IOS, from memory): from 32, 28
//! and 24 packets for AFx1, AFx2 and AFx3, from 20 for the rest, all up to 40 packets and a
//! probability of 1/10.
//! Cost: O(1) a packet; a power after an idle time.
//! Bound: at one average a packet of higher drop precedence is lost with no less probability if its
//! curve is nowhere below (active_queues.rs: wred_loses_higher_drop_precedences_first); with one
//! curve for all packets it is `red` to the packet (active_queues.rs:
//! wred_with_one_curve_signals_as_often_as_red).
//! Changes: an idle time that a new rate falls into counts in packets of the new rate as a whole;
//! the average, the curves and the gaps to the next signals stand.

use super::red::{self, Judge};
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, traits};
use crate::control::red::Average;
use crate::facts::{Facts, Overflow};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Bytes, Limit, Time};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// The curves and their one average.
    pub struct Settings {
        /// Up to 64 of them; of one that names no `dscp` are all other packets.
        pub curves: Vec<DropCurve> = alloc::vec![
            DropCurve::of_precedence(1, 32),
            DropCurve::of_precedence(2, 28),
            DropCurve::of_precedence(3, 24),
            DropCurve::default(),
        ],
        /// What the queue found by one arrival counts in the average, in (0, 1].
        pub weight: f64 = red::Settings::default().weight,
        /// Whether probabilities go on to 1 at twice `max` in place of a step.
        pub gentle: bool = red::Settings::default().gentle,
        /// Whether packets that accept a mark are marked in place of being dropped.
        pub ecn: bool = red::Settings::default().ecn,
        /// Whether all are dropped from `max` on; else packets that accept a mark are marked there,
        /// too.
        pub hard_drop: bool = red::Settings::default().hard_drop,
        /// The usual length of a packet, for idle times.
        pub mean_packet: Bytes = red::Settings::default().mean_packet,
    }
}

/// RED's thresholds for some code points.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct DropCurve {
    /// The code points of its packets, 0 to 63; none: all that no other curve names.
    pub dscp: Vec<u8>,
    /// Below this average nothing happens. In packets or in bytes, in all curves alike.
    pub min: Limit,
    /// From this average on packets are dropped. In the unit of `min`.
    pub max: Limit,
    /// The probability of a signal when the average comes to `max`, in (0, 1].
    pub probability: f64,
}

impl Default for DropCurve {
    fn default() -> Self {
        Self::from(Vec::new(), 20)
    }
}

impl DropCurve {
    /// The usual curve from `min` packets on.
    const fn from(dscp: Vec<u8>, min: u64) -> Self {
        Self { dscp, min: Limit::Packets(min), max: Limit::Packets(40), probability: 0.1 }
    }

    /// That of a drop precedence of all four classes of assured forwarding.
    fn of_precedence(precedence: u8, min: u64) -> Self {
        // RFC 2597, section 6: the class in three bits, the drop precedence in two, and a zero.
        Self::from((1..=4).map(|class| class << 3 | precedence << 1).collect(), min)
    }
}

const CURVES_MAX: usize = 64;

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { tells_flows_apart: false, marks_congestion: self.ecn, overflow: Overflow::Leaves, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=CURVES_MAX).contains(&self.curves.len()) {
            return Some(format!("wred: curves has {}; write 1 to {CURVES_MAX}", self.curves.len()));
        }
        let mut named = [false; 64];
        let mut first = None;
        for (at, curve) in self.curves.iter().enumerate() {
            let place = format!("wred: curves[{at}]");
            if let Some(fault) = self.red(curve).fault_of(&place) {
                return Some(fault);
            }
            if matches!(first.get_or_insert(curve.min), Limit::Packets(_)) != matches!(curve.min, Limit::Packets(_)) {
                return Some(format!("{place}: all curves are in packets or all in bytes"));
            }
            for point in &curve.dscp {
                match named.get_mut(usize::from(*point)) {
                    None => return Some(format!("{place}: dscp {point}; write 0 to 63")),
                    Some(true) => return Some(format!("{place}: dscp {point} is named twice; leave one out")),
                    Some(is_named) => *is_named = true,
                }
            }
        }
        let rests = self.curves.iter().filter(|curve| curve.dscp.is_empty()).count();
        (rests > 1).then(|| format!("wred: {rests} curves name no dscp; write dscp = [10, 18] in all but one"))
    }

    fn variants() -> Vec<Self> {
        let curve = |dscp: &[u8], min, max| DropCurve {
            dscp: dscp.to_vec(),
            min: Limit::Packets(min),
            max: Limit::Packets(max),
            probability: 0.5,
        };
        let low: Vec<u8> = (0..32).collect();
        let quick = Self { weight: 0.5, curves: [curve(&low, 1, 3), curve(&[], 2, 6)].to_vec(), ..Self::default() };
        // Without a curve for the rest.
        let marks = Self { ecn: true, gentle: true, curves: [curve(&low, 1, 3)].to_vec(), ..quick.clone() };
        alloc::vec![quick, Self { hard_drop: true, ..marks.clone() }, marks]
    }
}

impl Settings {
    fn red(&self, curve: &DropCurve) -> red::Settings {
        let Self { weight, gentle, ecn, hard_drop, mean_packet, .. } = *self;
        let DropCurve { min, max, probability, .. } = *curve;
        red::Settings { min, max, probability, weight, gentle, ecn, hard_drop, mean_packet, ..red::Settings::default() }
    }
}

/// The average, and what becomes of packets by their curve.
pub struct Wred {
    average: Average,
    curves: Vec<Judge>,
    /// By code point: the number of the curve.
    of_point: [Option<u8>; 64],
    /// The unit of thresholds and of the measured queue: packets or bytes.
    unit: Limit,
    mean_packet: Bytes,
    packet_time: f64,
}

impl Wred {
    /// An empty queue and a line that has never sent.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let judge = |(at, curve)| Judge::named(&format!("wred/{at}"), &settings.red(curve), line);
        let place = |of: &dyn Fn(&DropCurve) -> bool| settings.curves.iter().position(of).map(|at| at as u8);
        let rest = place(&|curve| curve.dscp.is_empty());
        Self {
            average: Average::new(settings.weight),
            curves: settings.curves.iter().enumerate().map(judge).collect(),
            of_point: core::array::from_fn(|point| place(&|curve| curve.dscp.contains(&(point as u8))).or(rest)),
            unit: settings.curves.first().map_or(Limit::Unlimited, |curve| curve.min),
            mean_packet: settings.mean_packet,
            packet_time: red::packet_time(settings.mean_packet, line.rate),
        }
    }
}

impl BufferPolicy for Wred {
    traits!(hears_idle = true);

    fn admit(&mut self, now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        // A packet without a curve does not count in the average (`gred_enqueue`).
        let Some(curve) = self.of_point[usize::from(packet.tos >> 2)] else { return Verdict::Pass };
        self.average.see(now, super::measure(store, self.unit), self.packet_time);
        let judge = &mut self.curves[usize::from(curve)];
        judge.verdict(judge.curve.level(self.average.value()), packet)
    }

    fn idle(&mut self, now: Time) {
        self.average.idle(now);
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.packet_time = red::packet_time(self.mean_packet, rate);
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("average_queue", Unit::None, self.average.value()));
    }
}
