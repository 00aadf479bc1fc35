//! The schedulers that order packets by tags once more, as plainly as possible: a list of packets,
//! every packet tagged when it arrives by the equations of its source, exact fractions, no heap and
//! no care for speed.
//!
//! Tags are in bytes at weight one; they are compared on the grid that rank.rs states, rounded once
//! from the exact value.

use fairq_sched::units::{PS_PER_S, Rate, Time, Weight};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// Which packet is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Least F of the fluid.
    Wfq,
    /// Least F of those that the fluid has begun.
    Wf2q,
    /// Least F; V is the F of the packet in service.
    Scfq,
    /// Least S; V is the S of the packet in service.
    Sfq,
    /// Least F of those with S <= V; V grows with the work and is never behind every head.
    Wf2qPlus,
    /// Least T of those that are not held; V is the server's clock, which follows real time and
    /// leaps.
    LeapForward {
        /// How far a flow may be ahead, in bytes.
        ahead: u64,
    },
}

#[derive(Clone, Debug)]
struct Waiting {
    token: u64,
    flow: usize,
    length: u32,
    start: BigRational,
    /// F, or T.
    finish: BigRational,
    /// Under leaps, the V that lets it go, set when it becomes the head.
    lets_go: Option<BigRational>,
}

/// A queue of unlimited room for a few flows.
#[derive(Clone, Debug)]
pub struct TagOracle {
    algorithm: Algorithm,
    rate: Rate,
    /// The weights in thousandths.
    weights: Vec<u32>,
    now: Time,
    /// V.
    clock: BigRational,
    /// WF2Q+: bytes of the packet in service by which V has not grown.
    unsent: BigRational,
    /// WF2Q+: the flow of the packet in service.
    serving: Option<usize>,
    /// WF2Q: up to where heads have begun, V or further.
    begun_to: BigRational,
    /// F or T of each flow's last packet.
    finish: Vec<BigRational>,
    /// The waiting packets in order of arrival.
    waiting: Vec<Waiting>,
    /// The length of each flow's longest packet; `None` if it never had one.
    longest: Vec<Option<u32>>,
}

/// Places on the grid in a byte.
const GRID: u64 = 31_250_000;

fn whole(number: impl Into<BigInt>) -> BigRational {
    BigRational::from_integer(number.into())
}

/// To the nearest 1/(16·5⁹) byte, half up.
fn on_grid(tag: &BigRational) -> BigInt {
    (tag * whole(GRID) + BigRational::new(BigInt::one(), 2.into())).floor().to_integer()
}

impl TagOracle {
    /// An empty queue for flows 0, 1 … of `weights` on a line of `rate`.
    #[must_use]
    pub fn new(algorithm: Algorithm, rate: Rate, weights: &[Weight]) -> Self {
        Self {
            algorithm,
            rate,
            weights: weights.iter().map(|weight| weight.thousandths()).collect(),
            now: Time::ZERO,
            clock: BigRational::zero(),
            unsent: BigRational::zero(),
            serving: None,
            begun_to: BigRational::zero(),
            finish: vec![BigRational::zero(); weights.len()],
            waiting: Vec::new(),
            longest: vec![None; weights.len()],
        }
    }

    /// A packet joins.
    pub fn arrive(&mut self, now: Time, token: u64, flow: u32, length: u32) {
        self.advance(now);
        let flow = flow as usize;
        self.longest[flow] = self.longest[flow].max(Some(length));
        // S = max(F', V), F = S + L/w; where V may pass the F of a packet that waits, S is F'
        // behind such a packet, and for WF2Q+ behind one in service.
        let waits = self.waiting.iter().any(|packet| packet.flow == flow);
        let follows = (waits && matches!(self.algorithm, Algorithm::Wf2qPlus | Algorithm::LeapForward { .. }))
            || self.is_served(flow);
        let now = if follows { BigRational::zero() } else { self.clock.clone() };
        let start = self.finish[flow].clone().max(now);
        let finish = &start + self.size(flow, length);
        self.finish[flow].clone_from(&finish);
        self.waiting.push(Waiting { token, flow, length, start, finish, lets_go: None });
        self.note_heads();
    }

    /// The next packet of a free line; `None` if the line stays idle.
    pub fn dequeue(&mut self, now: Time) -> Option<u64> {
        if self.algorithm == Algorithm::Wf2qPlus {
            // The packet in service is out, whatever the line's rate.
            self.now = now;
            self.serve(self.unsent.clone());
            self.serving = None;
        }
        self.advance(now);
        let Some(at) = self.next() else {
            self.rest();
            return None;
        };
        let sent = self.waiting.remove(at);
        match self.algorithm {
            Algorithm::Wfq | Algorithm::LeapForward { .. } => {}
            Algorithm::Wf2q => self.head_starts_at(sent.flow, sent.finish),
            Algorithm::Scfq => self.clock = sent.finish,
            Algorithm::Sfq => self.clock = sent.start,
            Algorithm::Wf2qPlus => (self.unsent, self.serving) = (whole(sent.length), Some(sent.flow)),
        }
        self.note_heads();
        Some(sent.token)
    }

    /// A packet that waits is dropped.
    pub fn remove(&mut self, now: Time, token: u64) {
        self.advance(now);
        let Some(at) = self.waiting.iter().position(|packet| packet.token == token) else {
            panic!("{token} does not wait")
        };
        let gone = self.waiting.remove(at);
        let was_head = self.waiting[..at].iter().all(|packet| packet.flow != gone.flow);
        match self.algorithm {
            // It is as if it had not come, but for what the fluid has served.
            Algorithm::Wfq | Algorithm::Wf2q => {
                if self.finish[gone.flow] > self.clock {
                    let back = &self.finish[gone.flow] - self.size(gone.flow, gone.length);
                    self.finish[gone.flow] = back.max(self.clock.clone());
                }
                if was_head {
                    self.head_starts_at(gone.flow, gone.start);
                }
            }
            // It is as if it had not come.
            _ => self.tag_again(gone.flow, at, gone.start),
        }
        self.note_heads();
    }

    /// `flow` has a new weight from now.
    pub fn weight_changed(&mut self, now: Time, flow: u32, weight: Weight) {
        self.advance(now);
        let flow = flow as usize;
        self.weights[flow] = weight.thousandths();
        if !matches!(self.algorithm, Algorithm::Wfq | Algorithm::Wf2q)
            && let Some(at) = self.waiting.iter().position(|packet| packet.flow == flow)
        {
            let start = self.waiting[at].start.clone();
            self.tag_again(flow, at, start);
            self.note_heads();
        }
    }

    /// Whether `flow` has the packet in service, for the algorithms that ask.
    fn is_served(&self, flow: usize) -> bool {
        self.serving == Some(flow)
    }

    const fn leaps(&self) -> bool {
        matches!(self.algorithm, Algorithm::LeapForward { .. })
    }

    /// L/w.
    fn size(&self, flow: usize, length: impl Into<u64>) -> BigRational {
        BigRational::new((u128::from(length.into()) * 1000).into(), self.weights[flow].into())
    }

    /// Tags the packets of `flow` from the place `from` on, the first of which begins at `start`.
    fn tag_again(&mut self, flow: usize, from: usize, mut start: BigRational) {
        for at in from..self.waiting.len() {
            if self.waiting[at].flow == flow {
                let finish = &start + self.size(flow, self.waiting[at].length);
                let packet = &mut self.waiting[at];
                (packet.start, packet.finish, packet.lets_go) = (start, finish.clone(), None);
                start = finish;
            }
        }
        self.finish[flow] = start;
    }

    /// The head of `flow` begins in the fluid at `start`: that is its S, or its S has been passed
    /// already.
    fn head_starts_at(&mut self, flow: usize, start: BigRational) {
        if let Some(head) = self.waiting.iter_mut().find(|packet| packet.flow == flow) {
            head.start = start;
        }
    }

    /// New heads learn which V lets them go: T - (Li + ahead)/wi.
    fn note_heads(&mut self) {
        let Algorithm::LeapForward { ahead } = self.algorithm else { return };
        for flow in 0..self.weights.len() {
            if let Some(at) = self.waiting.iter().position(|packet| packet.flow == flow)
                && self.waiting[at].lets_go.is_none()
            {
                let lead = self.size(flow, u64::from(self.longest[flow].unwrap_or(0)) + ahead);
                let finish = BigRational::new(on_grid(&self.waiting[at].finish), GRID.into());
                let lead = BigRational::new(on_grid(&lead), GRID.into());
                self.waiting[at].lets_go = Some((finish - lead).max(BigRational::zero()));
            }
        }
    }

    /// The place of the packet to send next. Raises V, or leaps, if no packet is eligible.
    fn next(&mut self) -> Option<usize> {
        let heads = (0..self.weights.len()).filter_map(|flow| self.waiting.iter().position(|p| p.flow == flow));
        let begins = |at: usize| self.waiting[at].lets_go.clone().unwrap_or_else(|| self.waiting[at].start.clone());
        let heads: Vec<(usize, BigRational)> = heads.map(|at| (at, begins(at))).collect();
        // Of heads that begin at the same place the one that came first sets V.
        let (_, first) = heads.iter().min_by_key(|(at, start)| (on_grid(start), self.waiting[*at].token))?;
        let begun_to = self.begun_to.clone().max(self.clock.clone());
        let begun_to = if on_grid(first) > on_grid(&begun_to) { first.clone() } else { begun_to };
        match self.algorithm {
            Algorithm::Wf2q => self.begun_to.clone_from(&begun_to),
            Algorithm::Wf2qPlus | Algorithm::LeapForward { .. } => self.clock.clone_from(&begun_to),
            Algorithm::Wfq | Algorithm::Scfq | Algorithm::Sfq => {}
        }
        let may_go = |start: &BigRational| {
            matches!(self.algorithm, Algorithm::Wfq | Algorithm::Scfq | Algorithm::Sfq)
                || on_grid(start) <= on_grid(&begun_to)
        };
        let rank = |at: usize, start: &BigRational| {
            (
                on_grid(if self.algorithm == Algorithm::Sfq { start } else { &self.waiting[at].finish }),
                self.waiting[at].token,
            )
        };
        let next = heads.iter().filter(|(_, start)| may_go(start)).min_by_key(|(at, start)| rank(*at, start));
        next.map(|(at, _)| *at)
    }

    /// WF2Q+: the weights, in thousandths, of the flows that wait, are in service or have F > V.
    fn active(&self) -> u64 {
        let counts = |flow: &usize| {
            self.is_served(*flow)
                || on_grid(&self.finish[*flow]) > on_grid(&self.clock)
                || self.waiting.iter().any(|packet| packet.flow == *flow)
        };
        (0..self.weights.len()).filter(counts).map(|flow| u64::from(self.weights[flow])).sum()
    }

    /// WF2Q+: V + W/Σw for `bytes` of the packet in service.
    fn serve(&mut self, bytes: BigRational) {
        let active = self.active();
        if active > 0 {
            self.clock += &bytes * whole(1000) / whole(active);
        }
        self.unsent -= bytes;
    }

    /// The line is idle.
    fn rest(&mut self) {
        match self.algorithm {
            // "V is set to the maximum of finish tags assigned to any packets that have been
            // serviced."
            Algorithm::Sfq => self.clock = self.finish.iter().max().cloned().unwrap_or_default(),
            Algorithm::Scfq | Algorithm::Wf2qPlus => {
                self.clock = BigRational::zero();
                self.finish.fill(BigRational::zero());
            }
            _ => {}
        }
    }

    /// The server's clock follows the work that the line can have done, dt = dwork/Σw over all
    /// flows seen. Or the fluid serves until `now`: dV = dwork/Σw, the flows with F > V being those
    /// that it has.
    fn advance(&mut self, now: Time) {
        assert!(now >= self.now, "time goes back");
        let mut bytes =
            whole(u128::from(now.0 - self.now.0) * u128::from(self.rate.bit_per_s())) / whole(8 * u128::from(PS_PER_S));
        self.now = now;
        let seen = (0..self.weights.len()).filter(|flow| self.longest[*flow].is_some());
        let seen: u64 = seen.map(|flow| u64::from(self.weights[flow])).sum();
        if self.leaps() && seen > 0 {
            self.clock += &bytes * whole(1000) / whole(seen);
        }
        if self.algorithm == Algorithm::Wf2qPlus {
            self.serve(bytes.clone().min(self.unsent.clone()));
        }
        while matches!(self.algorithm, Algorithm::Wfq | Algorithm::Wf2q) && !bytes.is_zero() {
            let active = || (0..self.weights.len()).filter(|flow| self.finish[*flow] > self.clock);
            let Some(first) = active().map(|flow| &self.finish[flow]).min() else { break };
            let weights =
                BigRational::new(active().map(|flow| u64::from(self.weights[flow])).sum::<u64>().into(), 1000.into());
            let step = ((first - &self.clock) * &weights).min(bytes.clone());
            bytes -= &step;
            self.clock += step / weights;
        }
    }
}
