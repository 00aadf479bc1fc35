//! Smoothed round robin: the turns that a flow's weight gives it are spread over the round.
//!
//! Use when: weighted flows need O(1) a packet and their turns spread over the round. Its delay
//! grows with the number of flows, as for `drr`; for a delay that does not grow use `qfq`.
//! Source: Guo, "SRR: An O(1) Time Complexity Packet Scheduler for Flows in Multi-Service Packet
//! Networks", SIGCOMM 2001 and IEEE/ACM Trans. Networking 2004 (weight spread sequence, weight
//! matrix; packets of varying length by deficits).
//! Departs: the sequence is always the one of order 30, of which terms without a flow are stepped
//! over: what is left of it is the sequence of the order that the greatest weight asks for, so that
//! flows may come and go at any place of it. Weights are counted in steps (setting `steps`), 1000
//! to a weight of one, so that all are exact; the paper's integers are `steps = 1`.
//! Chosen: a visit gives a quantum; a longer packet raises the quantum for all from its arrival on,
//! so that every visit sends a packet at least. A flow that becomes backlogged takes the last place
//! in each of its columns, in the one that is being served too; one that empties loses its deficit.
//! Cost: O(1) a packet; a flow that comes or goes is put into a list, or taken out, for each bit of
//! its weight (30 at most).
//! Bound: a flow that waits throughout has exactly its steps in visits a round (round_bounds.rs:
//! srr_gives_each_flow_its_steps_a_round); over any interval in which two flows wait, bytes over
//! weights differ by at most (k + 2) Lmax / (2 min(wi, wj)), w in steps and k their bits, while all
//! packets have the quantum's length (round_bounds.rs: srr_is_fair_over_every_interval), and with
//! packets of any length by a quantum more for each flow for its deficit. No bound on delay holds
//! without the number of flows.
//! Changes: a weight that changes ends the flow's visit and puts it last in the columns of the new
//! one; its deficit stands. A rate means nothing to it.

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::packet::Packet;
use crate::part::{Part, facts, settings};
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::ring::Ring;
use crate::schedule::drr;
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Bytes, Time, Weight};
use crate::waiting::Decision;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// What a visit sends, and how fine weights are.
    pub struct Settings {
        /// What a visit gives, from 1 B to 1 GiB; the longest packet that has come, if that is
        /// more.
        pub quantum: Bytes = Bytes(1514),
        /// How many visits a round a flow of weight one has, from 1 to 1000. Weights are rounded to
        /// whole visits, to one at least.
        pub steps: u32 = 1000,
    }
}

impl Part for Settings {
    facts!(goes_by_weights = true);

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        // Weights in steps, and the bits of the greatest.
        let steps = |weight: &Weight| u64::from(weight.thousandths()) * u64::from(self.steps);
        let is_whole = load.weights.iter().all(|weight| steps(weight).is_multiple_of(1000));
        let bits = load.weights.iter().map(steps).max().map_or(0, |most| (most / 1000).max(1).ilog2() + 1);
        match measure {
            Measure::FairnessWhileWaiting(i, j) if self.quantum.0 as f64 >= load.longest() && is_whole => {
                // (k + 2) Lmax / (2 min(wi, wj)) in steps of weight, and a quantum each for the
                // deficits.
                let quantum = self.quantum.0 as f64;
                let turns = f64::from(bits + 2) / 2.0 / load.weight(i).min(load.weight(j));
                Some(quantum * (turns + 1.0 / load.weight(i) + 1.0 / load.weight(j)))
            }
            _ => None,
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=1000).contains(&self.steps) {
            return Some(String::from("srr: steps are from 1 to 1000"));
        }
        drr::quantum_fault("srr", self.quantum)
    }

    fn variants() -> Vec<Self> {
        alloc::vec![Self { quantum: Bytes(1), steps: 1 }]
    }
}

/// A flow's visits and its deficit.
#[derive(Clone, Copy, Default)]
struct Account {
    /// Its visits in a round: the bits are the columns that it is in.
    steps: u32,
    head: u32,
    /// Below a quantum after its visit.
    deficit: u64,
}

/// Flows in columns by the bits of their weights.
pub struct Srr {
    steps: u32,
    quantum: u32,
    accounts: Vec<Account>,
    /// The flows whose weights have the bit, by bit.
    columns: Vec<Ring>,
    /// The columns with a flow in them.
    occupied: u32,
    /// P: the term of the sequence that is being served, from 1 to 2^ORDER - 1; 0 before the first.
    position: u32,
    /// The flow that is being visited, in the column of that term.
    visited: Option<Slot>,
    /// Whether the visit's quantum was given.
    has_begun: bool,
}

impl Srr {
    /// No flow waits.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self {
            steps: settings.steps,
            quantum: settings.quantum.0.min(drr::QUANTUM_MAX) as u32,
            accounts: Vec::new(),
            columns: (0..ORDER).map(|_| Ring::new()).collect(),
            occupied: 0,
            position: 0,
            visited: None,
            has_begun: false,
        }
    }

    fn steps_of(&self, weight: Weight) -> u32 {
        // At most 10⁹: below 2^ORDER.
        let steps = (u64::from(weight.thousandths()) * u64::from(self.steps) + 500) / 1000;
        (steps as u32).max(1)
    }

    fn join(&mut self, queue: Slot) {
        for column in bits(self.accounts[queue as usize].steps) {
            self.columns[column as usize].push_back(queue);
            self.occupied |= 1 << column;
        }
    }

    fn leave(&mut self, queue: Slot) {
        if self.visited == Some(queue) {
            self.end_visit(queue);
        }
        for column in bits(self.accounts[queue as usize].steps) {
            self.columns[column as usize].remove(queue);
            if self.columns[column as usize].front().is_none() {
                self.occupied &= !(1 << column);
            }
        }
    }

    /// The next flow of the column is visited, if there is one.
    fn end_visit(&mut self, queue: Slot) {
        self.visited = self.columns[column_of(self.position) as usize].after(queue);
        self.has_begun = false;
    }

    /// Goes on to the next term whose column has a flow in it. There is one.
    fn next_term(&mut self) {
        self.position = next_position(self.position, self.occupied);
        self.visited = self.columns[column_of(self.position) as usize].front();
    }

    fn reweigh(&mut self, queue: Slot, weight: Weight) {
        let steps = self.steps_of(weight);
        let Some(account) = self.accounts.get(queue as usize).filter(|account| account.steps > 0) else { return };
        let waits = self.columns[account.steps.ilog2() as usize].contains(queue);
        if waits {
            self.leave(queue);
        }
        self.accounts[queue as usize].steps = steps;
        if waits {
            self.join(queue);
        }
    }
}

/// The bits of a weight.
fn bits(steps: u32) -> impl Iterator<Item = u32> {
    let mut rest = steps;
    core::iter::from_fn(move || {
        let bit = rest.checked_ilog2()?;
        rest &= !(1 << bit);
        Some(bit)
    })
}

/// The column of a term: the p-th term of the sequence is the number v of the first bit set in p,
/// counted from 1, and v stands for column ORDER - v.
const fn column_of(position: u32) -> u32 {
    ORDER - 1 - position.trailing_zeros()
}

/// The next term after `position` whose column is among `occupied`, which is not empty.
const fn next_position(position: u32, occupied: u32) -> u32 {
    // The highest column comes every other time among the terms that are not stepped over: so one
    // of the next two multiples of its term's power of two is it.
    let shift = ORDER - 1 - occupied.ilog2();
    let next = ((position >> shift) + 1) << shift;
    if next < 1 << ORDER && occupied >> column_of(next) & 1 == 1 { next } else { (next + (1 << shift)) % (1 << ORDER) }
}

impl Scheduler for Srr {
    traits!();

    fn arrive(&mut self, _now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        entry(&mut self.accounts, queue, Account::default());
        let account = self.accounts[queue as usize];
        if account.steps == 0 || !self.columns[account.steps.ilog2() as usize].contains(queue) {
            self.accounts[queue as usize].steps = self.steps_of(flow.weight);
        }
        self.quantum = self.quantum.max(packet.length);
        Tag::from(packet.length)
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        let account = &mut self.accounts[queue as usize];
        (account.head, account.deficit) = (tag as u32, 0);
        self.join(queue);
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        if self.occupied == 0 {
            return Next::Empty;
        }
        loop {
            let Some(queue) = self.visited else {
                self.next_term();
                continue;
            };
            let account = &mut self.accounts[queue as usize];
            if !self.has_begun {
                account.deficit += u64::from(self.quantum);
                self.has_begun = true;
            }
            if u64::from(account.head) <= account.deficit {
                return Next::Queue(queue);
            }
            self.end_visit(queue);
        }
    }

    fn sent(&mut self, _now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        let account = &mut self.accounts[queue as usize];
        account.deficit = account.deficit.saturating_sub(u64::from(packet.length));
        match head {
            Some(tag) => account.head = tag as u32,
            None => self.leave(queue),
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        match gone.head {
            Some(tag) => self.accounts[gone.queue as usize].head = tag as u32,
            None => self.leave(gone.queue),
        }
    }

    fn is_clear(&mut self, _now: Time, _queue: Slot) -> bool {
        true
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Weight(queue, weight) = *change else { return change.not_used() };
        self.reweigh(queue, weight);
        Ok(())
    }

    fn decision(&mut self, _now: Time, queue: Slot) -> Option<Decision> {
        Some(Decision::by("turn", queue))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("quantum_bytes", Unit::Bytes, self.quantum));
        visit(Reading::count("order", Unit::None, u32::BITS - self.occupied.leading_zeros()));
    }
}

/// The order of the sequence: the bits of the greatest weight, 10⁹ thousandths.
const ORDER: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_each_order_is_the_papers() {
        // S1 = 1, Sk = S(k-1), k, S(k-1)
        let mut sequence = alloc::vec![1];
        for order in 1..=10 {
            let all = (1 << order) - 1;
            let mut position = 0;
            for round in 0..2 {
                for term in &sequence {
                    position = next_position(position, all);
                    assert_eq!(column_of(position), order - term, "order {order}, round {round}");
                }
            }
            let before = sequence.clone();
            sequence.push(order + 1);
            sequence.extend(before);
        }
    }

    #[test]
    fn terms_without_a_flow_are_stepped_over() {
        for occupied in [0b1u32, 0b1000, 0b1001, 0b10110, (1 << 29) | 1, 1 << 29, 0b11 << 20] {
            let mut position = 0;
            for _ in 0..200 {
                // One after the other, though only those that can matter.
                let (mut next, step) = (position, 1 << (ORDER - 1 - occupied.ilog2()));
                loop {
                    next = (next / step * step + step) % (1 << ORDER);
                    if next != 0 && occupied >> column_of(next) & 1 == 1 {
                        break;
                    }
                }
                assert_eq!(next_position(position, occupied), next, "{occupied:b} after {position}");
                position = next;
            }
        }
    }
}
