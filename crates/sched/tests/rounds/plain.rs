//! The schedulers of rounds as plainly as can be: every flow is looked at, every turn is taken.

use crate::rounds::Oracle;
use std::collections::VecDeque;

/// The waiting packets of each flow: token and length.
type Queues = Vec<VecDeque<(u64, u64)>>;

/// Takes `token` out; the flow that is empty now, if it is.
fn take_out(queues: &mut Queues, token: u64) -> Option<usize> {
    let flow = queues.iter().position(|queue| queue.iter().any(|(other, _)| *other == token)).expect("it waits");
    queues[flow].retain(|(other, _)| *other != token);
    queues[flow].is_empty().then_some(flow)
}

/// Deficit round robin turn by turn, in thousandths of bytes.
pub(crate) struct PlainDrr {
    quanta: Vec<u64>,
    queues: Queues,
    active: VecDeque<usize>,
    deficits: Vec<u64>,
    in_turn: bool,
}

impl PlainDrr {
    pub(crate) fn new(quantum: u64, weights: &[u32]) -> Self {
        let quanta = weights.iter().map(|weight| u64::from(*weight) * quantum).collect();
        let (queues, deficits) = (vec![VecDeque::new(); weights.len()], vec![0; weights.len()]);
        Self { quanta, queues, active: VecDeque::new(), deficits, in_turn: false }
    }

    fn left(&mut self, flow: usize) {
        self.in_turn &= self.active.front() != Some(&flow);
        self.active.retain(|other| *other != flow);
        self.deficits[flow] = 0;
    }
}

impl Oracle for PlainDrr {
    fn arrive(&mut self, token: u64, flow: usize, length: u64) {
        self.queues[flow].push_back((token, length * 1000));
        if self.queues[flow].len() == 1 {
            self.active.push_back(flow);
        }
    }

    fn send(&mut self) -> Option<u64> {
        loop {
            let flow = *self.active.front()?;
            if !self.in_turn {
                self.deficits[flow] += self.quanta[flow];
                self.in_turn = true;
            }
            let (token, cost) = self.queues[flow][0];
            if cost <= self.deficits[flow] {
                self.deficits[flow] -= cost;
                self.queues[flow].pop_front();
                if self.queues[flow].is_empty() {
                    self.left(flow);
                }
                return Some(token);
            }
            self.active.rotate_left(1);
            self.in_turn = false;
        }
    }

    fn remove(&mut self, token: u64) {
        if let Some(flow) = take_out(&mut self.queues, token) {
            self.left(flow);
        }
    }
}

/// Weighted round robin round by round, credit in thousandths of packets.
pub(crate) struct PlainWrr {
    interleaved: bool,
    weights: Vec<u32>,
    queues: Queues,
    credits: Vec<u32>,
    present: VecDeque<usize>,
    later: VecDeque<usize>,
}

impl PlainWrr {
    pub(crate) fn new(interleaved: bool, weights: &[u32]) -> Self {
        let (weights, flows) = (weights.to_vec(), weights.len());
        let (queues, credits) = (vec![VecDeque::new(); flows], vec![0; flows]);
        Self { interleaved, weights, queues, credits, present: VecDeque::new(), later: VecDeque::new() }
    }
}

impl Oracle for PlainWrr {
    fn arrive(&mut self, token: u64, flow: usize, length: u64) {
        self.queues[flow].push_back((token, length));
        if self.queues[flow].len() == 1 {
            self.credits[flow] = 0;
            self.later.push_back(flow);
        }
    }

    fn send(&mut self) -> Option<u64> {
        loop {
            let Some(flow) = self.present.pop_front() else {
                if self.later.is_empty() {
                    return None;
                }
                std::mem::swap(&mut self.present, &mut self.later);
                self.present.iter().for_each(|flow| self.credits[*flow] += self.weights[*flow]);
                continue;
            };
            if self.credits[flow] < 1000 {
                self.later.push_back(flow);
                continue;
            }
            self.credits[flow] -= 1000;
            let (token, _) = self.queues[flow].pop_front()?;
            if !self.queues[flow].is_empty() {
                match (self.credits[flow] < 1000, self.interleaved) {
                    (true, _) => self.later.push_back(flow),
                    (false, true) => self.present.push_back(flow),
                    (false, false) => self.present.push_front(flow),
                }
            }
            return Some(token);
        }
    }

    fn remove(&mut self, token: u64) {
        if let Some(flow) = take_out(&mut self.queues, token) {
            self.present.retain(|other| *other != flow);
            self.later.retain(|other| *other != flow);
        }
    }
}

/// Smoothed round robin over the written-out sequence of order 5, for weights up to 31.
pub(crate) struct PlainSrr {
    weights: Vec<u32>,
    quantum: u64,
    queues: Queues,
    deficits: Vec<u64>,
    /// The flows of each column, in the order in which they came.
    columns: Vec<Vec<usize>>,
    sequence: Vec<usize>,
    position: usize,
    /// The place in the column that is being served, and whether that visit has begun.
    place: usize,
    has_begun: bool,
}

impl PlainSrr {
    pub(crate) fn new(quantum: u64, weights: &[u32]) -> Self {
        let mut sequence = vec![1];
        for order in 2..=5 {
            sequence = [&sequence[..], &[order], &sequence].concat();
        }
        let weights: Vec<u32> = weights.iter().map(|weight| weight / 1000).collect();
        let (queues, deficits) = (vec![VecDeque::new(); weights.len()], vec![0; weights.len()]);
        // Before the first term: after the last place of the last one.
        let (position, place) = (sequence.len() - 1, usize::MAX);
        let columns = vec![Vec::new(); 5];
        Self { weights, quantum, queues, deficits, columns, sequence, position, place, has_begun: false }
    }

    fn column(&self) -> usize {
        5 - self.sequence[self.position]
    }

    fn left(&mut self, flow: usize) {
        let current = self.column();
        for (column, flows) in self.columns.iter_mut().enumerate() {
            let Some(place) = flows.iter().position(|other| *other == flow) else { continue };
            flows.remove(place);
            if column == current && place < self.place && self.place != usize::MAX {
                self.place -= 1;
            } else if column == current && place == self.place {
                self.has_begun = false;
            }
        }
        self.deficits[flow] = 0;
    }
}

impl Oracle for PlainSrr {
    fn arrive(&mut self, token: u64, flow: usize, length: u64) {
        self.quantum = self.quantum.max(length);
        self.queues[flow].push_back((token, length));
        if self.queues[flow].len() == 1 {
            for column in (0..5).filter(|column| self.weights[flow] >> column & 1 == 1) {
                // A column that was served to its end is not served on.
                if column == self.column() && self.place >= self.columns[column].len() {
                    self.place = usize::MAX;
                }
                self.columns[column].push(flow);
            }
        }
    }

    fn send(&mut self) -> Option<u64> {
        if self.queues.iter().all(VecDeque::is_empty) {
            return None;
        }
        loop {
            let column = self.column();
            let Some(flow) = self.columns[column].get(self.place).copied() else {
                self.position = (self.position + 1) % self.sequence.len();
                (self.place, self.has_begun) = (0, false);
                continue;
            };
            if !self.has_begun {
                self.deficits[flow] += self.quantum;
                self.has_begun = true;
            }
            let (token, length) = self.queues[flow][0];
            if length <= self.deficits[flow] {
                self.deficits[flow] -= length;
                self.queues[flow].pop_front();
                if self.queues[flow].is_empty() {
                    self.left(flow);
                }
                return Some(token);
            }
            (self.place, self.has_begun) = (self.place + 1, false);
        }
    }

    fn remove(&mut self, token: u64) {
        if let Some(flow) = take_out(&mut self.queues, token) {
            self.left(flow);
        }
    }
}

/// What QFQ is of a flow.
#[derive(Clone, Copy)]
struct Stamps {
    start: u128,
    inverse: u64,
    longest: u64,
    /// When it came into its slot.
    came: u64,
}

/// QFQ from its definition: of all groups whose S is not above V, the one of least F; in it, of all
/// flows whose rounded start is its S, the one that has been there longest. Every flow is looked at
/// every time.
pub(crate) struct PlainQfq {
    longest: u64,
    weights: Vec<u32>,
    queues: Queues,
    flows: Vec<Option<Stamps>>,
    now: u128,
    latest: u128,
    clock: u64,
}

/// Bytes of weight one have 50 bits after the point.
fn inverse(thousandths: u64) -> u64 {
    (1000 << 50) / thousandths
}

impl Stamps {
    /// σ: the least power of two, from 2⁻²⁰ bytes on, that is not below L/w.
    fn width(&self) -> u128 {
        (u128::from(self.inverse) * u128::from(self.longest)).next_power_of_two().max(1 << 30)
    }

    fn rounded(&self) -> u128 {
        self.start / self.width() * self.width()
    }
}

impl PlainQfq {
    pub(crate) fn new(longest: u64, weights: &[u32]) -> Self {
        let (queues, flows) = (vec![VecDeque::new(); weights.len()], vec![None; weights.len()]);
        Self { longest, weights: weights.to_vec(), queues, flows, now: 0, latest: 0, clock: 0 }
    }

    /// The flow comes into a slot, not further ahead than the one after V's.
    fn place(&mut self, flow: usize) {
        self.clock += 1;
        let stamps = self.flows[flow].as_mut().expect("it is known");
        let last = self.now / stamps.width() * stamps.width() + stamps.width();
        if stamps.rounded() > last {
            stamps.start = last;
        }
        stamps.came = self.clock;
    }
}

impl Oracle for PlainQfq {
    fn arrive(&mut self, token: u64, flow: usize, length: u64) {
        let inverse = inverse(self.weights[flow].into());
        let stamps = self.flows[flow].get_or_insert(Stamps { start: 0, inverse, longest: self.longest, came: 0 });
        if stamps.longest < length {
            stamps.longest = length;
            if !self.queues[flow].is_empty() {
                self.place(flow);
            }
        }
        self.queues[flow].push_back((token, length));
        if self.queues[flow].len() == 1 {
            let stamps = self.flows[flow].as_mut().expect("it is known");
            stamps.start = stamps.start.max(self.now);
            self.place(flow);
        }
    }

    fn send(&mut self) -> Option<u64> {
        let waiting = || (0..self.queues.len()).filter(|flow| !self.queues[*flow].is_empty());
        let stamps = |flow: usize| self.flows[flow].expect("it is known");
        let group_start = |width| {
            let starts = waiting().map(stamps).filter(|stamps| stamps.width() == width).map(|stamps| stamps.rounded());
            starts.min().expect("the group has a flow")
        };
        let starts: Vec<(usize, u128)> = waiting().map(|flow| (flow, group_start(stamps(flow).width()))).collect();
        let Some(least) = starts.iter().map(|(_, start)| *start).min() else {
            self.now = self.now.max(self.latest);
            return None;
        };
        let now = self.now.max(least);
        let eligible = starts.iter().filter(|(flow, start)| *start <= now && stamps(*flow).rounded() == *start);
        let first = eligible.min_by_key(|(flow, start)| {
            let stamps = stamps(*flow);
            (start + 2 * stamps.width(), stamps.width(), stamps.came)
        });
        let (flow, _) = *first.expect("the least is eligible");
        let (token, length) = self.queues[flow].pop_front()?;
        let sum =
            self.weights.iter().zip(&self.flows).filter(|(_, known)| known.is_some()).map(|(w, _)| u64::from(*w)).sum();
        self.now = now + u128::from(length) * u128::from(inverse(sum));
        let stamps = self.flows[flow].as_mut().expect("it is known");
        stamps.start += u128::from(length) * u128::from(stamps.inverse);
        self.latest = self.latest.max(stamps.start);
        if !self.queues[flow].is_empty() {
            self.place(flow);
        }
        Some(token)
    }

    fn remove(&mut self, token: u64) {
        take_out(&mut self.queues, token);
    }
}
