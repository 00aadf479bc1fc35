//! Rank programs: a number for each packet by which a priority queue orders them (PIFO, SP-PIFO, AIFO).
//!
//! Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016. A program may keep state; the rank of
//! a packet is fixed when it arrives. In scenarios programs go by name; in Rust any closure is one.
//!
//! Range: start tags and attained service count steps of 1/1024000 byte of weight one; a charge is rounded down to a
//! step. Up to a weight of 1000 that is less than a thousandth of a byte; at the greatest weight, 10⁶, a byte is one step
//! and not 1.024. The value of a tag (rank.rs) has 89 bits: 2⁵⁹ bytes of weight 0.001, more than a year at 100 Gbit/s;
//! what comes later leaves last, in order of arrival.

use crate::contract::{Flow, Slot};
use crate::packet::Packet;
use crate::part::Need;
use crate::units::Time;
use alloc::vec::Vec;

/// What ranks packets; less goes first.
pub trait Program: Send {
    /// The rank of a packet of `flow` that arrives now.
    fn rank(&mut self, now: Time, flow: Flow, packet: &Packet) -> u128;

    /// A packet of this rank is sent.
    fn sent(&mut self, _rank: u128) {}

    /// The line has become idle.
    fn idle(&mut self) {}

    /// Whether nothing is known of the flow in slot `flow`, so that its slot may serve another.
    fn is_clear(&mut self, _flow: Slot) -> bool {
        true
    }
}

impl<F: FnMut(Time, Flow, &Packet) -> u128 + Send> Program for F {
    fn rank(&mut self, now: Time, flow: Flow, packet: &Packet) -> u128 {
        self(now, flow, packet)
    }
}

/// The programs that have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Rank {
    /// The start tag of start-time fair queueing: S = max(V, F), F = S + L/w.
    #[default]
    StartTime,
    /// The packet's deadline; packets without one come last.
    Deadline,
    /// What remains of the packet's transfer, itself included, in bytes; packets that do not say come first.
    ShortestRemaining,
    /// What came of the flow before, in bytes over its weight: what it has sent and what it has waiting.
    LeastAttained,
}

impl Rank {
    /// What it needs of packets.
    pub(crate) const fn needs(self) -> &'static [Need] {
        match self {
            Self::Deadline => &[Need::Deadline],
            Self::ShortestRemaining => &[Need::Remaining],
            Self::StartTime | Self::LeastAttained => &[],
        }
    }

    /// Whether it hangs on a packet's flow.
    pub(crate) const fn tells_flows_apart(self) -> bool {
        matches!(self, Self::StartTime | Self::LeastAttained)
    }
}

/// A program with a name.
#[derive(Clone, Debug)]
pub struct Named {
    rank: Rank,
    /// By flow: the finish tag of the last packet, or the service attained; in steps.
    flows: Vec<u128>,
    /// V: the start tag of the packet being sent.
    virtual_time: u128,
    /// The greatest finish tag given.
    greatest: u128,
}

/// Steps of a start tag in a byte of weight one.
const STEPS: u128 = 1_000 << 10;

impl Named {
    /// Nothing has arrived.
    #[must_use]
    pub const fn new(rank: Rank) -> Self {
        Self { rank, flows: Vec::new(), virtual_time: 0, greatest: 0 }
    }

    fn known(&self, flow: Slot) -> u128 {
        self.flows.get(flow as usize).copied().unwrap_or(0)
    }

    /// The rank that a packet of `flow` would get now; nothing changes.
    #[must_use]
    pub fn peek(&self, flow: Flow, packet: &Packet) -> u128 {
        match self.rank {
            Rank::Deadline => u128::from(packet.deadline.0),
            Rank::ShortestRemaining => u128::from(packet.remaining),
            Rank::LeastAttained => self.known(flow.slot),
            Rank::StartTime => self.virtual_time.max(self.known(flow.slot)),
        }
    }
}

impl Program for Named {
    fn rank(&mut self, _now: Time, flow: Flow, packet: &Packet) -> u128 {
        let rank = self.peek(flow, packet);
        if let Rank::StartTime | Rank::LeastAttained = self.rank {
            let charge = u128::from(packet.length) * STEPS * 1000 / u128::from(flow.weight.thousandths());
            if self.flows.len() <= flow.slot as usize {
                self.flows.resize(flow.slot as usize + 1, 0);
            }
            let after = rank.saturating_add(charge);
            self.flows[flow.slot as usize] = after;
            self.greatest = self.greatest.max(after);
        }
        rank
    }

    fn sent(&mut self, rank: u128) {
        if self.rank == Rank::StartTime {
            // Who does not send in order of rank may send a lesser one later, and a tag has a greatest value: V never goes
            // back.
            self.virtual_time = self.virtual_time.max(rank);
        }
    }

    fn idle(&mut self) {
        self.virtual_time = self.greatest;
    }

    fn is_clear(&mut self, flow: Slot) -> bool {
        let known = self.known(flow);
        match self.rank {
            Rank::StartTime if known > self.virtual_time => return false,
            // Attained service is never paid back, so that only a flow that had none can be forgotten.
            Rank::LeastAttained => return known == 0,
            _ => {}
        }
        if let Some(known) = self.flows.get_mut(flow as usize) {
            *known = 0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Weight;

    #[test]
    fn start_tags_follow_virtual_time_and_weights() {
        let mut program = Named::new(Rank::StartTime);
        let heavy = Flow::weighted(2, Weight::from_thousandths(2000).unwrap());
        let packet = Packet::new(0, Time::ZERO, 10);
        let rank = |program: &mut Named, flow| program.rank(Time::ZERO, flow, &packet) / STEPS;
        let first: Vec<u128> = (0..3).map(|_| rank(&mut program, Flow::of_slot(1))).collect();
        assert_eq!(first, [0, 10, 20]);
        assert_eq!([rank(&mut program, heavy), rank(&mut program, heavy)], [0, 5]);
        program.sent(20 * STEPS);
        // A flow that comes back starts from V, not from where it was.
        assert_eq!(rank(&mut program, heavy), 20);
        program.idle();
        assert_eq!(rank(&mut program, heavy), 30);
        assert!(!program.is_clear(2) && program.is_clear(1));
    }
}
