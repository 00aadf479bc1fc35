//! The rounds of a tin's bulk flows: a flow whose turn comes sends if it has credit; without credit
//! it gets its quantum and waits for its next turn.
//!
//! A quantum is divided among a host's flows, so that most turns are in vain. Flows stand in runs,
//! in the order of their turns. A run none of whose flows has credit, and all of whose flows have
//! the same quantum, has its turns in one step: what its flows are owed is kept once for all of
//! them. When a run has a flow with credit it is opened: its turns are walked one by one, and the
//! flows join the last run. Credits and order are always those of a walk of all turns.

use crate::contract::Slot;
use crate::ring::Ring;
use alloc::vec::Vec;

/// The most flows of a run: one run is opened for a packet and the others are passed, so that about
/// the square root of the number of flows is best.
const LENGTH: usize = 16;

/// Flows whose turns follow each other.
#[derive(Clone)]
struct Run {
    flows: [Slot; LENGTH],
    /// Those whose turn has not come: `flows[from..to]`.
    from: u8,
    to: u8,
    /// Its turns are walked one by one: it takes no flow and is not passed.
    is_open: bool,
    /// The greatest credit of its flows, without what they are owed.
    greatest: i64,
    /// Credit that each of its flows is still owed for the turns in which the run was passed.
    owed: i64,
    /// The quantum of all of its flows, if it is the same, at this count of changes.
    quantum: Option<i64>,
    known_at: u64,
}

const EMPTY: Run =
    Run { flows: [0; LENGTH], from: 0, to: 0, is_open: false, greatest: i64::MIN, owed: 0, quantum: None, known_at: 0 };

impl Run {
    fn flows(&self) -> &[Slot] {
        &self.flows[self.from.into()..self.to.into()]
    }

    const fn takes_flows(&self) -> bool {
        !self.is_open && self.owed == 0 && (self.to as usize) < LENGTH
    }

    /// The quantum of all of its flows, if it is the same.
    #[inline]
    fn quantum(&mut self, changes: u64, quantum: impl Fn(Slot) -> i64) -> Option<i64> {
        if self.known_at != changes {
            let first = quantum(self.flows[usize::from(self.from)]);
            self.quantum = self.flows().iter().all(|flow| quantum(*flow) == first).then_some(first);
            self.known_at = changes;
        }
        self.quantum
    }

    /// Enters what its flows are owed into their credits.
    fn settle(&mut self, credits: &mut [i64]) {
        for flow in self.flows() {
            credits[*flow as usize] += self.owed;
        }
        self.greatest += self.owed;
        self.owed = 0;
    }
}

/// Bulk flows in the order of their turns.
pub(super) struct Rounds {
    runs: Vec<Run>,
    order: Ring,
    spare: Vec<u32>,
    flows: usize,
    /// How often a quantum may have changed.
    changes: u64,
}

impl Rounds {
    /// Rounds without flows.
    pub(super) const fn new() -> Self {
        Self { runs: Vec::new(), order: Ring::new(), spare: Vec::new(), flows: 0, changes: 1 }
    }

    /// A flow's quantum is no longer the same. Calling it too often only costs time.
    pub(super) const fn quantum_changed(&mut self) {
        self.changes += 1;
    }

    /// `flow`, which has `credit`, takes the last turn.
    pub(super) fn join(&mut self, flow: Slot, credit: i64) {
        self.flows += 1;
        self.push(flow, credit);
    }

    /// The flow that [`Rounds::next`] gave leaves.
    pub(super) fn leave(&mut self) {
        self.flows -= 1;
        self.advance();
    }

    /// The flow whose turn it is and that has credit. A turn in vain gives what `quantum` says.
    pub(super) fn next(&mut self, credits: &mut [i64], quantum: impl Fn(Slot) -> i64) -> Option<Slot> {
        // Turns in vain.
        let mut in_vain = 0;
        loop {
            let front = self.order.front()?;
            let run = &mut self.runs[front as usize];
            if run.is_open {
                let flow = run.flows[usize::from(run.from)];
                let credit = &mut credits[flow as usize];
                if *credit > 0 {
                    return Some(flow);
                }
                *credit += quantum(flow);
                let credit = *credit;
                self.advance();
                self.push(flow, credit);
                in_vain += 1;
                continue;
            }
            if in_vain >= self.flows {
                self.skip_rounds(credits, &quantum);
                in_vain = 0;
                continue;
            }
            in_vain += self.pass_or_open(front, credits, &quantum);
        }
    }

    /// All turns of the run at the front, which has the turn, if all are in vain and give the same;
    /// how many. Otherwise they are to be walked.
    fn pass_or_open(&mut self, front: u32, credits: &mut [i64], quantum: impl Fn(Slot) -> i64) -> usize {
        let run = &mut self.runs[front as usize];
        let is_in_vain = run.greatest + run.owed <= 0;
        if is_in_vain && let Some(quantum) = run.quantum(self.changes, quantum) {
            run.owed += quantum;
            self.order.rotate();
            return run.flows().len();
        }
        run.settle(credits);
        run.is_open = true;
        0
    }

    /// The turn at the front is over.
    fn advance(&mut self) {
        let Some(front) = self.order.front() else { return };
        let run = &mut self.runs[front as usize];
        run.from += 1;
        if run.from == run.to {
            self.order.remove(front);
            self.spare.push(front);
        }
    }

    /// `flow` stands in the last run, or in a new one behind it.
    fn push(&mut self, flow: Slot, credit: i64) {
        let last = self.order.last().filter(|last| self.runs[*last as usize].takes_flows());
        let last = last.unwrap_or_else(|| self.append());
        let run = &mut self.runs[last as usize];
        run.flows[usize::from(run.to)] = flow;
        run.to += 1;
        run.greatest = run.greatest.max(credit);
        run.known_at = 0;
    }

    /// A run without flows at the end.
    fn append(&mut self) -> u32 {
        let run = self.spare.pop().unwrap_or(self.runs.len() as u32);
        if run as usize == self.runs.len() {
            self.runs.push(EMPTY);
        }
        self.runs[run as usize] = EMPTY;
        self.order.push_back(run);
        run
    }

    /// No flow could send in a whole round, and no run is open: all get the quanta of the rounds
    /// until one may, less one.
    #[cold]
    fn skip_rounds(&mut self, credits: &mut [i64], quantum: impl Fn(Slot) -> i64) {
        let turns = |credit: i64, quantum: i64| ((1 - credit).max(0) as u64).div_ceil(quantum as u64) as i64;
        let mut least = i64::MAX;
        let mut next = self.order.front();
        while let Some(at) = next {
            let run = &mut self.runs[at as usize];
            if let Some(quantum) = run.quantum(self.changes, &quantum) {
                least = least.min(turns(run.greatest + run.owed, quantum));
            } else {
                run.settle(credits);
                let each = run.flows().iter().map(|flow| turns(credits[*flow as usize], quantum(*flow)));
                least = each.fold(least, i64::min);
            }
            next = self.order.after(at);
        }
        let mut next = self.order.front().filter(|_| least > 1);
        while let Some(at) = next {
            let run = &mut self.runs[at as usize];
            if let Some(quantum) = run.quantum {
                run.owed += (least - 1) * quantum;
            } else {
                for flow in run.flows() {
                    credits[*flow as usize] += (least - 1) * quantum(*flow);
                }
                run.greatest = run.flows().iter().map(|flow| credits[*flow as usize]).max().unwrap_or(i64::MIN);
            }
            next = self.order.after(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use alloc::collections::VecDeque;
    use alloc::vec;

    const FLOWS: u64 = 100;

    /// The turns one by one, as the kernel walks them.
    fn next_of_walk(order: &mut VecDeque<Slot>, credits: &mut [i64], quanta: &[i64]) -> Option<Slot> {
        loop {
            let flow = *order.front()?;
            if credits[flow as usize] > 0 {
                return Some(flow);
            }
            credits[flow as usize] += quanta[flow as usize];
            order.rotate_left(1);
        }
    }

    /// Flows join, send, leave and have their quanta changed at random, in both ways.
    fn compare(seed: u64, hosts: u64, cost: u64, changes: u64) {
        let mut random = Random::new(seed, "rounds");
        let (mut rounds, mut order) = (Rounds::new(), VecDeque::new());
        let mut credits = vec![0; FLOWS as usize];
        let mut walked = credits.clone();
        let mut quanta: Vec<i64> = (0..FLOWS).map(|flow| 10 + 7 * (flow % hosts) as i64).collect();
        for _ in 0..4000 {
            let flow = random.below(FLOWS) as Slot;
            if random.below(8) == 0 && !order.contains(&flow) {
                let credit = random.below(300) as i64 - 200;
                (credits[flow as usize], walked[flow as usize]) = (credit, credit);
                rounds.join(flow, credit);
                order.push_back(flow);
            }
            if random.below(100) < changes {
                let host = random.below(hosts);
                let quantum = 1 + random.below(90) as i64;
                (0..FLOWS).filter(|flow| flow % hosts == host).for_each(|flow| quanta[flow as usize] = quantum);
                rounds.quantum_changed();
            }
            let expected = next_of_walk(&mut order, &mut walked, &quanta);
            let found = rounds.next(&mut credits, |flow| quanta[flow as usize]);
            assert_eq!(found, expected, "seed {seed}, {hosts} hosts, cost {cost}");
            let Some(flow) = found else { continue };
            assert_eq!(credits[flow as usize], walked[flow as usize]);
            if random.below(40) == 0 {
                rounds.leave();
                order.pop_front();
            } else {
                let spent = 1 + random.below(cost) as i64;
                credits[flow as usize] -= spent;
                walked[flow as usize] -= spent;
            }
        }
    }

    #[test]
    fn credits_and_order_are_those_of_a_walk_of_all_turns() {
        for seed in 0..5 {
            for hosts in [1, 2, 9, FLOWS] {
                // From a turn for each packet to rounds in which none sends.
                for cost in [20, 500, 100_000] {
                    for changes in [0, 3, 50] {
                        compare(seed, hosts, cost, changes);
                    }
                }
            }
        }
    }

    #[test]
    fn turns_of_a_round_in_vain_take_few_steps() {
        let (mut rounds, mut credits) = (Rounds::new(), vec![0; 1024]);
        for flow in 0..1024 {
            rounds.join(flow, 0);
        }
        // Each packet costs as much as a round gives all flows together.
        let asked = core::cell::Cell::new(0);
        let quantum = |_| {
            asked.set(asked.get() + 1);
            1
        };
        for _ in 0..2000 {
            let flow = rounds.next(&mut credits, quantum).expect("flows wait");
            credits[flow as usize] -= 1024;
        }
        asked.set(0);
        for _ in 0..2000 {
            let flow = rounds.next(&mut credits, quantum).expect("flows wait");
            credits[flow as usize] -= 1024;
        }
        assert!(asked.get() < 2000 * 3 * LENGTH, "{} quanta for 2000 packets", asked.get());
    }
}
