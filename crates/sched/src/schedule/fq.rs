//! Fair queueing: packets leave in the order in which bit-by-bit round robin would finish them.
//!
//! Use when: you reproduce the 1990 paper: bids, `delta`, preemption, charges for dropped packets.
//! For new work use `wf2q_plus`, which needs no emulated fluid, or `drr` at O(1).
//! Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm",
//! Internetworking: Research and Experience 1990 (Definition; weights: Discussion).
//!
//! Steps:
//! 1. A packet of P bytes of a conversation of weight w arrives: R(t) is brought up to date; it
//!    grows by the bytes that the line could have sent over the sum of the weights of the active
//!    conversations, those with F > R(t).
//! 2. S = MAX(F', R(t)), F = S + P/w; F' is the finish number of the conversation's packet before.
//! 3. Its bid: B = F; if the conversation was not active, B = P/w + MAX(F', R(t) - delta).
//! 4. The packet joins the tail of its conversation's queue. If it is dropped F stands; with
//!    `on_drop = "refund"` F goes back by P/w, not below R(t).
//! 5. If it stands at the head of its queue, `preemptive` is set and its bid is below that of the
//!    packet on the line, it interrupts that one, which goes back to the head of its own queue.
//! 6. The line is free: of the heads of all queues send the one with the least bid B, its finish
//!    number F when delta = 0; of equal ones the one that arrived first.
//!
//! Departs: R(t) stands still while no conversation is active (the paper divides by N_ac = 0
//! there).
//! Chosen: bids are compared in steps of 1/(16·5⁹) byte (2⁻²⁴·⁹), and equal bids leave in order of
//! arrival; a round is a byte of weight one; the line's nominal rate drives R(t); what the buffer
//! refuses is charged like what it drops.
//! Cost: O(log N) a packet, and one step for each conversation that leaves the emulation.
//! Bound: without drops and with delta = 0 no packet leaves later than Lmax/C after the fluid, no
//! conversation is more than Lmax behind its fluid service and none more than (N-1) Lmax ahead
//! (laws.rs: fq_is_never_late). The paper's "within Pmax" in both directions holds while weights
//! are equal, with weights for the late side only. With any delta no packet leaves later than N
//! Lmax/C after the fluid; preemptive and with delta = 0 none later than the fluid. With `on_drop =
//! "charge"` the fluid also serves the packets that were dropped.
//! Changes: bids given stand, and so does what R has grown; from the change on R grows at the new
//! rate or by the new weights. A weight counts for the bids of the packets that arrive from then
//! on.
//!
//! Range: a bid is below 2⁶⁴ bytes of weight one (ten days at 100 Gbit/s with a weight of 0.001 are
//! 2^63.2), that is 2⁸⁹ of its steps of 1/(16·5⁹) byte: it fits the value of a tag. R(t) and F
//! never overflow (round.rs).

use super::least_tag::{LeastTag, Tagging};
use super::wfq;
use crate::contract::{Flow, Gone, Line, Slot, Tag};
use crate::emulation::Emulation;
use crate::facts::Facts;
use crate::packet::Packet;
use crate::part::Part;
use crate::promise::{Load, Measure};
use crate::rank::{self, Ranks};
use crate::reading::{Reading, Unit};
use crate::round;
use crate::traits::Traits;
use crate::units::{Bytes, Rate, Time, Weight};
use crate::waiting::{Stamps, bytes, bytes_on_grid};
use alloc::vec::Vec;

/// What becomes of the charge for a packet that is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum OnDrop {
    /// S and F stay as they are: the conversation pays for what it lost (the paper's rule).
    #[default]
    Charge,
    /// F goes back by the packet, though not below R.
    Refund,
}

/// Bids, charge and preemption.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// How far back (in rounds of a byte) an idle conversation's last finish number still counts:
    /// packets of conversations that use less than their share go earlier by up to this much.
    pub delta: Bytes,
    /// Whether a packet with a smaller bid interrupts the one being sent (the interrupted one is
    /// resumed).
    pub preemptive: bool,
    /// What becomes of the charge for a packet that is dropped.
    pub on_drop: OnDrop,
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            goes_by_weights: true,
            needs_rate: true,
            ranks_packets: true,
            fits_inner_nodes: !self.preemptive,
            ..Facts::PLAIN
        }
    }

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        if load.has_losses {
            return None;
        }
        match measure {
            Measure::Lateness if self.delta.0 == 0 => Some(load.longest()),
            Measure::Lateness => Some(load.flows() * load.longest()),
            Measure::Behind(_) if self.delta.0 == 0 => Some(load.longest()),
            Measure::Ahead(_) if self.delta.0 == 0 => Some((load.flows() - 1.0) * load.longest()),
            _ => None,
        }
    }

    fn variants() -> Vec<Self> {
        let delta = Bytes(1500);
        alloc::vec![
            Self { delta, ..Self::default() },
            Self { delta: Bytes(1 << 40), preemptive: true, ..Self::default() },
            Self { preemptive: true, on_drop: OnDrop::Refund, ..Self::default() },
            Self { delta, on_drop: OnDrop::Refund, ..Self::default() },
        ]
    }
}

/// Bids over an emulated bit-by-bit round robin. If not `BY_PAPER` they are those of `wfq`, without
/// delta, and the least is not shown.
pub struct Bids<const BY_PAPER: bool> {
    settings: Settings,
    delta: round::Tag,
    fluid: Emulation,
    ranks: Ranks,
}

/// The step of the card that sends.
const CHOOSES: u8 = 6;

/// The least bid goes first.
pub type Fq = LeastTag<Bids<true>>;

impl Fq {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self::with_tagging(Bids::new(settings, line))
    }
}

impl<const BY_PAPER: bool> Bids<BY_PAPER> {
    /// Nothing has arrived.
    pub(crate) fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            delta: u128::from(settings.delta.0) * round::BYTE,
            settings: settings.clone(),
            fluid: Emulation::new(line.rate),
            ranks: Ranks::new(),
        }
    }

    /// Charges the packet and returns its bid. A bid without delta is made where packets follow
    /// others, with no call.
    #[inline(always)]
    fn bid(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> u128 {
        if !BY_PAPER || self.delta == 0 {
            // S = MAX(F', R(t)), B = F = S + P
            return self.fluid.join(now, queue, flow.weight, packet.length).finish;
        }
        self.bid_for_promptness(now, queue, flow, packet)
    }

    /// The bid of a packet when delta is not 0.
    #[inline(never)]
    fn bid_for_promptness(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> u128 {
        let was_active = !self.fluid.is_clear(now, queue);
        let previous = self.fluid.last_finish(queue);
        let stamp = self.fluid.join(now, queue, flow.weight, packet.length);
        if was_active {
            return stamp.finish;
        }
        // B = P + MAX(F', R(t) - delta)
        (stamp.finish - stamp.start).saturating_add(previous.max(stamp.start.saturating_sub(self.delta)))
    }
}

impl<const BY_PAPER: bool> Tagging for Bids<BY_PAPER> {
    const BY: &'static str = "finish";
    const CHOOSES: u8 = if BY_PAPER { CHOOSES } else { wfq::CHOOSES };

    /// A conversation that is not active leaves its F only for delta rounds, and what it sent alone
    /// has ended with the line.
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits {
            bypass: if self.delta == 0 { u32::MAX } else { 0 },
            replays: true,
            preempts: self.settings.preemptive,
            ..Traits::PLAIN
        }
    }

    #[inline(always)]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        let bid = self.bid(now, queue, flow, packet);
        self.ranks.tag(rank::on_grid(bid))
    }

    fn refused(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) {
        if self.settings.on_drop == OnDrop::Charge {
            self.bid(now, queue, flow, packet);
        }
    }

    fn dropped(&mut self, now: Time, gone: &Gone<'_>) {
        if self.settings.on_drop == OnDrop::Refund {
            self.fluid.take_back(now, gone.queue, gone.flow.weight, gone.packet.length);
        }
    }

    fn is_settled_at(&self, time: Time) -> bool {
        self.fluid.is_empty_at(time)
    }

    fn is_clear(&mut self, now: Time, queue: Slot) -> bool {
        // A conversation that is not active is remembered for another delta rounds, for its bid.
        let forgets = self.fluid.last_finish(queue).saturating_add(self.delta);
        self.fluid.is_clear(now, queue) && forgets <= self.fluid.round(now)
    }

    fn rate_changed(&mut self, now: Time, rate: Rate) {
        self.fluid.rate_changed(now, rate);
    }

    fn weight_changed(&mut self, now: Time, queue: Slot, weight: Weight) -> Option<Tag> {
        self.fluid.weight_changed(now, queue, weight);
        None
    }

    fn stamps(&self, _queue: Slot, tag: Tag, _is_head: bool) -> Stamps {
        Stamps::finish(bytes_on_grid(tag))
    }

    fn clock(&mut self, now: Time) -> Option<f64> {
        Some(bytes(self.fluid.round(now)))
    }

    fn readings(&self, least: Option<Tag>, visit: &mut dyn FnMut(Reading<'_>)) {
        self.fluid.readings(visit);
        if let Some(least) = least.filter(|_| BY_PAPER) {
            visit(Reading::real("least_bid_bytes", Unit::Bytes, bytes_on_grid(least)));
        }
    }
}
