//! Weighted round robin: flows take turns, and in a round each sends as many packets as its weight
//! says.
//!
//! Use when: packets have one length, as ATM cells do, and weights are small. It is fair in
//! packets: with different lengths use `drr`; to spread a flow's turns over the round, `srr`.
//! Source: Katevenis, Sidiropoulos and Courcoubetis, "Weighted Round-Robin Cell Multiplexing in a
//! General-Purpose ATM Switch Chip", IEEE J. Selected Areas in Communications 1991.
//! Departs: weights need not be whole: what a round leaves of a packet carries over to the next
//! while the flow waits, so that a flow of weight 0.4 sends in two rounds of five.
//! Chosen: a flow that becomes backlogged takes part from the next round on; one that empties loses
//! what was left of its round. Rounds in which no flow may send are skipped.
//! Cost: O(1) a packet while weights are at least one; at worst two steps for each backlogged flow,
//! however small the weights.
//! Bound: in each round a flow that waits throughout sends its weight in packets, rounded to one
//! side or the other, and no flow sends more; over any interval in which two flows wait their
//! packets over weights differ by at most 2, and by 1/wi + 1/wj more if weights are not whole
//! (round_bounds.rs: wrr_sends_its_weights_in_packets_a_round). Fair in packets: bytes differ by
//! the ratio of lengths. Rounds are as long as the sum of weights, and so is the wait of a flow
//! that becomes backlogged.
//! Changes: a weight counts from the flow's next round on; what is left to it of the present one
//! stands. A rate means nothing to it.

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::packet::Packet;
use crate::part::{Part, facts};
use crate::promise::{Load, Measure};
use crate::reading::{Reading, Unit};
use crate::ring::Ring;
use crate::slots::entry;
use crate::store::Store;
use crate::units::Time;
use crate::waiting::Decision;
use alloc::vec::Vec;

/// The order of a flow's packets in a round.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// Whether flows send a packet each, round robin, until their parts of the round are used up,
    /// in place of all at once: the same shares in smaller bursts.
    pub interleaved: bool,
}

impl Part for Settings {
    facts!(goes_by_weights = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::PacketsOverWeights(i, j) => {
                // 2, and 1/w for a weight that is not whole.
                let part = |flow| Some(1.0 / load.weight(flow)).filter(|_| load.weight(flow) % 1.0 > 0.0);
                Some(2.0 + part(i).unwrap_or(0.0) + part(j).unwrap_or(0.0))
            }
            _ => None,
        }
    }

    fn variants() -> Vec<Self> {
        alloc::vec![Self { interleaved: true }]
    }
}

/// What a flow may send.
#[derive(Clone, Copy, Default)]
struct Account {
    /// The credit in thousandths of packets.
    credit: u64,
    /// The weight in thousandths.
    weight: u64,
    /// The round until which credit was given.
    round: u64,
}

/// Turns of packets.
pub struct Wrr {
    interleaved: bool,
    accounts: Vec<Account>,
    /// Flows that may still send in this round.
    present: Ring,
    /// Flows that wait for the next round.
    later: Ring,
    round: u64,
    /// Whether a flow could send in this round.
    has_sent: bool,
    /// How many rounds from now the first of those that could not send in this one will.
    first_able: u64,
}

impl Wrr {
    /// No flow waits.
    #[must_use]
    pub const fn new(settings: &Settings, _: &Line) -> Self {
        Self {
            interleaved: settings.interleaved,
            accounts: Vec::new(),
            present: Ring::new(),
            later: Ring::new(),
            round: 0,
            has_sent: true,
            first_able: u64::MAX,
        }
    }

    /// Begins the round in which a flow can send, if any waits. Returns whether it did.
    fn begin_round(&mut self) -> bool {
        if self.later.front().is_none() {
            return false;
        }
        core::mem::swap(&mut self.present, &mut self.later);
        // In the rounds before no flow saves enough for a packet.
        self.round += if self.has_sent { 1 } else { self.first_able };
        (self.has_sent, self.first_able) = (false, u64::MAX);
        true
    }

    /// `queue`, at the front of this round, waits for the next.
    fn postpone(&mut self, queue: Slot) {
        self.present.remove(queue);
        self.later.push_back(queue);
    }

    fn leave(&mut self, queue: Slot) {
        if self.present.contains(queue) {
            self.present.remove(queue);
        } else {
            self.later.remove(queue);
        }
    }
}

impl Scheduler for Wrr {
    traits!(tags = false);

    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, _packet: &Packet) -> Tag {
        entry(&mut self.accounts, queue, Account::default()).weight = u64::from(flow.weight.thousandths());
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        let account = &mut self.accounts[queue as usize];
        (account.credit, account.round) = (0, self.round);
        self.later.push_back(queue);
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        loop {
            let Some(queue) = self.present.front() else {
                if self.begin_round() {
                    continue;
                }
                return Next::Empty;
            };
            let account = &mut self.accounts[queue as usize];
            account.credit += (self.round - account.round) * account.weight;
            account.round = self.round;
            if account.credit >= PACKET {
                self.has_sent = true;
                return Next::Queue(queue);
            }
            self.first_able = self.first_able.min((PACKET - account.credit).div_ceil(account.weight));
            self.postpone(queue);
        }
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if head.is_none() {
            return self.leave(queue);
        }
        let account = &mut self.accounts[queue as usize];
        account.credit -= PACKET;
        if account.credit < PACKET {
            self.postpone(queue);
        } else if self.interleaved {
            self.present.remove(queue);
            self.present.push_back(queue);
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        if gone.head.is_none() {
            self.leave(gone.queue);
        }
    }

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        if let Some(account) = self.accounts.get_mut(queue as usize) {
            account.weight = u64::from(weight.thousandths());
        }
        Ok(())
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        Some(Decision::by("turn", queue))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("round", Unit::None, self.round));
    }
}

/// A packet, in thousandths.
const PACKET: u64 = 1000;
