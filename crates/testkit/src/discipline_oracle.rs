//! The disciplines once more, as plainly as possible: one list of packets, exact fractions, no heap
//! and no care for speed.
//!
//! The line sends a byte in a microsecond; times are in microseconds, so that work and time are one
//! number.

use num_rational::Ratio;
use num_traits::Zero;

/// An exact number of bytes, microseconds or rounds.
pub type Exact = Ratio<i64>;

/// Which packet is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// In order of arrival.
    Fifo,
    /// Flows take turns.
    RoundRobin,
    /// Least bid first.
    Fq {
        /// Delta in bytes.
        delta: i64,
        /// Whether a drop takes the charge back.
        refunds: bool,
        /// Whether a smaller bid interrupts.
        preemptive: bool,
    },
    /// Least stamp first.
    VirtualClock,
    /// In order of arrival, at half the line's rate.
    TokenBucket {
        /// The burst in bytes.
        burst: i64,
    },
}

/// Which packet is dropped when more than the limit waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loser {
    /// The arriving packet.
    Arriving,
    /// The first packet of the longest queue.
    LongestFront,
    /// The last packet of the longest queue.
    LongestTail,
}

/// What dequeue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Send this one.
    Send(u64),
    /// Nothing before that time, in microseconds.
    NotBefore(Exact),
    /// Nothing waits.
    Empty,
}

#[derive(Clone, Copy)]
struct Waiting {
    token: u64,
    flow: usize,
    length: i64,
    /// Bid or stamp.
    rank: Exact,
}

/// A queue for a few flows.
pub struct Oracle {
    algorithm: Algorithm,
    loser: Loser,
    limit: usize,
    weights: Vec<i64>,
    now: Exact,
    /// In order of arrival; an interrupted packet comes first.
    waiting: Vec<Waiting>,
    sending: Option<Waiting>,
    /// Flows in order of their first packet: of equal queues the flow that came first loses.
    seen: Vec<usize>,
    /// Round robin: flows in order of their turn.
    turns: Vec<usize>,
    /// R(t).
    round: Exact,
    /// F of each flow's last packet; for Virtual Clock its clock.
    finish: Vec<Exact>,
    tokens: Exact,
}

impl Oracle {
    /// An empty queue for flows 0, 1 … of `weights`, of which `limit` packets may wait.
    #[must_use]
    pub fn new(algorithm: Algorithm, loser: Loser, limit: usize, weights: &[i64]) -> Self {
        let burst = if let Algorithm::TokenBucket { burst } = algorithm { burst } else { 0 };
        Self {
            algorithm,
            loser,
            limit,
            weights: weights.to_vec(),
            now: Exact::zero(),
            waiting: Vec::new(),
            sending: None,
            seen: Vec::new(),
            turns: Vec::new(),
            round: Exact::zero(),
            finish: vec![Exact::zero(); weights.len()],
            tokens: burst.into(),
        }
    }

    /// Packets waiting, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = u64> {
        self.waiting.iter().map(|packet| packet.token)
    }

    /// A packet arrives; gives the packets that are dropped, in their order.
    pub fn enqueue(&mut self, now: Exact, token: u64, flow: usize, length: i64) -> Vec<u64> {
        self.advance(now);
        if !self.seen.contains(&flow) {
            self.seen.push(flow);
        }
        if self.loser == Loser::Arriving && self.waiting.len() + 1 > self.limit {
            if matches!(self.algorithm, Algorithm::Fq { refunds: false, .. }) {
                self.charge(flow, length);
            }
            return vec![token];
        }
        let rank = self.charge(flow, length);
        self.waiting.push(Waiting { token, flow, length, rank });
        self.turn_for(flow);
        let mut dropped = Vec::new();
        while self.waiting.len() > self.limit {
            let at = self.victim(flow);
            dropped.push(self.waiting[at].token);
            self.lose(at);
        }
        dropped
    }

    /// The line asks for a packet.
    pub fn dequeue(&mut self, now: Exact) -> Answer {
        self.advance(now);
        self.sending = None;
        let Some(at) = self.next() else { return Answer::Empty };
        let packet = self.waiting[at];
        if let Algorithm::TokenBucket { burst } = self.algorithm {
            let missing = Exact::from(packet.length.min(burst)) - self.tokens;
            if missing > Exact::zero() {
                return Answer::NotBefore(now + missing * 2);
            }
            self.tokens -= packet.length;
        }
        self.waiting.remove(at);
        self.turns.retain(|flow| *flow != packet.flow);
        if self.waiting.iter().any(|waiting| waiting.flow == packet.flow) {
            self.turns.push(packet.flow);
        }
        self.sending = Some(packet);
        Answer::Send(packet.token)
    }

    /// The owner takes a packet out.
    pub fn remove(&mut self, now: Exact, token: u64) {
        self.advance(now);
        if let Some(at) = self.waiting.iter().position(|packet| packet.token == token) {
            self.lose(at);
        }
    }

    /// Whether the packet being sent should give way.
    #[must_use]
    pub fn preempts(&self) -> bool {
        matches!(self.algorithm, Algorithm::Fq { preemptive: true, .. })
            && self.sending.is_some_and(|sending| self.next().is_some_and(|at| self.waiting[at].rank < sending.rank))
    }

    /// The packet being sent comes back; gives which it is.
    pub fn put_back(&mut self) -> Option<u64> {
        let sending = self.sending.take()?;
        self.waiting.insert(0, sending);
        Some(sending.token)
    }

    /// Where the packet stands that goes next.
    fn next(&self) -> Option<usize> {
        let first_of = |flow| self.waiting.iter().position(|packet| packet.flow == flow);
        match self.algorithm {
            Algorithm::Fifo | Algorithm::TokenBucket { .. } => (!self.waiting.is_empty()).then_some(0),
            Algorithm::RoundRobin => self.turns.first().and_then(|flow| first_of(*flow)),
            Algorithm::Fq { .. } | Algorithm::VirtualClock => (0..self.weights.len())
                .filter_map(first_of)
                .min_by_key(|at| (self.waiting[*at].rank, self.waiting[*at].token)),
        }
    }

    /// Where the packet stands that loses. The schedulers without queues of their own for the flows
    /// have one.
    fn victim(&self, arriving: usize) -> usize {
        let has_one_queue = matches!(self.algorithm, Algorithm::Fifo | Algorithm::TokenBucket { .. });
        let length = |flow| self.waiting.iter().filter(|packet| packet.flow == flow).count();
        let longest = self.seen.iter().map(|flow| length(*flow)).max();
        let flow = if Some(length(arriving)) == longest {
            Some(arriving)
        } else {
            self.seen.iter().copied().find(|flow| Some(length(*flow)) == longest)
        };
        let is_its = |packet: &Waiting| has_one_queue || Some(packet.flow) == flow;
        let at = match self.loser {
            Loser::LongestFront => self.waiting.iter().position(is_its),
            _ => self.waiting.iter().rposition(is_its),
        };
        at.expect("over the limit, so something waits")
    }

    /// The packet at that place is gone without being sent.
    fn lose(&mut self, at: usize) {
        let gone = self.waiting.remove(at);
        if self.waiting.iter().all(|packet| packet.flow != gone.flow) {
            self.turns.retain(|flow| *flow != gone.flow);
        }
        if matches!(self.algorithm, Algorithm::Fq { refunds: true, .. }) && self.finish[gone.flow] > self.round {
            let charge = Exact::new(gone.length, self.weights[gone.flow]);
            self.finish[gone.flow] = (self.finish[gone.flow] - charge).max(self.round);
        }
    }

    fn turn_for(&mut self, flow: usize) {
        if !self.turns.contains(&flow) {
            self.turns.push(flow);
        }
    }

    /// Charges the flow for a packet and gives the packet's rank.
    fn charge(&mut self, flow: usize, length: i64) -> Exact {
        let size = Exact::new(length, self.weights[flow]);
        match self.algorithm {
            Algorithm::Fq { delta, .. } => {
                let bid = size + self.finish[flow].max(self.round - delta);
                self.finish[flow] = size + self.finish[flow].max(self.round);
                bid
            }
            Algorithm::VirtualClock => {
                let reserved: i64 = self.seen.iter().map(|flow| self.weights[*flow]).sum();
                self.finish[flow] = self.finish[flow].max(self.now) + size * reserved;
                self.finish[flow]
            }
            _ => Exact::zero(),
        }
    }

    /// Moves R(t) and the tokens on.
    fn advance(&mut self, now: Exact) {
        if let Algorithm::TokenBucket { burst } = self.algorithm {
            self.tokens = (self.tokens + (now - self.now) / 2).min(burst.into());
        }
        while matches!(self.algorithm, Algorithm::Fq { .. }) && self.now < now {
            let active = || (0..self.weights.len()).filter(|flow| self.finish[*flow] > self.round);
            let Some(next) = active().map(|flow| self.finish[flow]).min() else { break };
            let weight: i64 = active().map(|flow| self.weights[flow]).sum();
            // The time at which R reaches the least last F, or now.
            let step = ((next - self.round) * weight).min(now - self.now);
            self.round += step / weight;
            self.now += step;
        }
        self.now = now;
    }
}
