//! Rank programs: a number for each packet by which a priority queue orders them (PIFO, SP-PIFO,
//! AIFO).
//!
//! Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016. A program may
//! keep state; the rank of a packet is fixed when it arrives. In scenarios programs go by name; in
//! Rust any closure is one.
//!
//! A packet that is dropped is charged to no flow: its charge is given back. A packet's rank is
//! never below that of the flow's last, so that start tags and attained service keep the order of a
//! flow.
//!
//! Range: start tags and attained service count steps of 1/1024000 byte of weight one; a charge is
//! rounded down to a step. Up to a weight of 1000 that is less than a thousandth of a byte; at the
//! greatest weight, 10⁶, a byte is one step and not 1.024. The value of a tag (rank.rs) has 89
//! bits: 2⁵⁹ bytes of weight 0.001, more than a year at 100 Gbit/s; what comes later leaves last,
//! in order of arrival.

use crate::contract::{Flow, Slot};
use crate::facts::{Facts, Need};
use crate::packet::Packet;
use crate::slots::entry;
use crate::units::Time;
use alloc::vec::Vec;

/// What ranks packets; less goes first.
pub trait Program: Send {
    /// The rank of a packet of `flow` that arrives now.
    fn rank(&mut self, now: Time, flow: Flow, packet: &Packet) -> u128;

    /// A packet of this rank is sent.
    fn sent(&mut self, _rank: u128) {}

    /// A packet of the flow in slot `flow` that was given this rank is dropped or removed.
    fn removed(&mut self, _flow: Slot, _rank: u128, _packet: &Packet) {}

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
    /// What remains of the packet's transfer, itself included, in bytes; packets that do not say
    /// come first.
    ShortestRemaining,
    /// What came of the flow before, in bytes over its weight: what it has sent and what it has
    /// waiting.
    LeastAttained,
}

impl Rank {
    /// The facts of a part that goes by it.
    pub(crate) const fn facts(self) -> Facts {
        match self {
            Self::Deadline => Facts { needs: &[Need::Deadline], tells_flows_apart: false, ..Facts::PLAIN },
            Self::ShortestRemaining => Facts { needs: &[Need::Remaining], tells_flows_apart: false, ..Facts::PLAIN },
            Self::StartTime | Self::LeastAttained => Facts { goes_by_weights: true, ..Facts::PLAIN },
        }
    }
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug)]
struct Account {
    /// The finish tag of the last packet, or the service attained; in steps.
    after: u128,
    /// The least rank that keeps the order: that of the last packet, as far as it is known.
    last: u128,
    /// The weight in thousandths.
    weight: u32,
}

impl Account {
    const NEW: Self = Self { after: 0, last: 0, weight: 1000 };

    /// What a packet of `length` is charged.
    fn charge(&self, length: u32) -> u128 {
        u128::from(length) * STEPS * 1000 / u128::from(self.weight)
    }
}

/// A program with a name.
#[derive(Clone, Debug)]
pub struct Named {
    rank: Rank,
    flows: Vec<Account>,
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

    fn account(&self, flow: Slot) -> Account {
        self.flows.get(flow as usize).copied().unwrap_or(Account::NEW)
    }

    /// Where the charge of the next packet begins; V stays 0 where only attained service counts.
    fn start(&self, flow: Slot) -> u128 {
        self.virtual_time.max(self.account(flow).after)
    }

    /// The rank that a packet of `flow` would get now; nothing changes.
    #[must_use]
    pub fn peek(&self, flow: Flow, packet: &Packet) -> u128 {
        match self.rank {
            Rank::Deadline => u128::from(packet.deadline.0),
            Rank::ShortestRemaining => u128::from(packet.remaining),
            Rank::LeastAttained | Rank::StartTime => self.start(flow.slot).max(self.account(flow.slot).last),
        }
    }
}

impl Program for Named {
    fn rank(&mut self, _now: Time, flow: Flow, packet: &Packet) -> u128 {
        let rank = self.peek(flow, packet);
        if let Rank::StartTime | Rank::LeastAttained = self.rank {
            entry(&mut self.flows, flow.slot, Account::NEW);
            let start = self.start(flow.slot);
            let account = &mut self.flows[flow.slot as usize];
            (account.last, account.weight) = (rank, flow.weight.thousandths());
            account.after = start.saturating_add(account.charge(packet.length));
            self.greatest = self.greatest.max(account.after).max(rank);
        }
        rank
    }

    fn sent(&mut self, rank: u128) {
        if self.rank == Rank::StartTime {
            // A scheduler that does not send in order of rank may send a lesser rank later, and a
            // tag has a greatest value: V never goes back.
            self.virtual_time = self.virtual_time.max(rank);
        }
    }

    fn removed(&mut self, flow: Slot, rank: u128, packet: &Packet) {
        if let Rank::StartTime | Rank::LeastAttained = self.rank
            && let Some(account) = self.flows.get_mut(flow as usize)
        {
            let charge = account.charge(packet.length);
            if rank.saturating_add(charge) == account.after {
                // All earlier ones end where this one began, or before.
                account.last = rank;
            }
            account.after = account.after.saturating_sub(charge);
        }
    }

    fn idle(&mut self) {
        if self.rank == Rank::StartTime {
            self.virtual_time = self.greatest;
        }
    }

    fn is_clear(&mut self, flow: Slot) -> bool {
        let Account { after, last, .. } = self.account(flow);
        match self.rank {
            Rank::StartTime if after.max(last) > self.virtual_time => return false,
            // Attained service is never paid back, so that only a flow that had none can be
            // forgotten.
            Rank::LeastAttained => return after.max(last) == 0,
            _ => {}
        }
        if let Some(known) = self.flows.get_mut(flow as usize) {
            *known = Account::NEW;
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

    #[test]
    fn a_packet_that_is_dropped_is_not_charged_and_the_flow_keeps_its_order() {
        for kind in [Rank::StartTime, Rank::LeastAttained] {
            let mut program = Named::new(kind);
            let packet = |length| Packet::new(0, Time::ZERO, length);
            let offer = |program: &mut Named, length| {
                (program.rank(Time::ZERO, Flow::of_slot(3), &packet(length)) / STEPS) as u32
            };
            assert_eq!([10, 40, 20].map(|length| offer(&mut program, length)), [0, 10, 50]);
            // The last two are pushed out, one after the other: the next takes the place of the
            // first of them.
            program.removed(3, 50 * STEPS, &packet(20));
            program.removed(3, 10 * STEPS, &packet(40));
            assert_eq!([40, 20].map(|length| offer(&mut program, length)), [10, 50]);
            // The longer one in the middle goes: what comes next is not before the last, until its
            // charge is used up.
            program.removed(3, 10 * STEPS, &packet(40));
            assert_eq!([15, 15, 15].map(|length| offer(&mut program, length)), [50, 50, 60]);
            assert_eq!(offer(&mut program, 5), 75);
        }
    }
}
