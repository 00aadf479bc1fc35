//! The fluid beside a line that is watched: bit-by-bit service of the packets that its gateway
//! took in, at the line's rate, by the weights of their flows.
//!
//! A packet that is refused never comes to the fluid. One that is dropped later is taken out of it
//! at that instant: those behind it of its flow are taken out first and offered again. A line that
//! is down or has no rate serves its fluid at 1 bit/s.

use fairq_sched::fluid::gps::{Departure, Gps, Offer};
use fairq_sched::round::BYTE_WORK;
use fairq_sched::units::{Rate, Time, Weight};
use fairq_sched::waiting::bytes;
use std::collections::VecDeque;

/// The rate of a fluid whose line has none.
const STANDING: Rate = match Rate::new(1) {
    Some(rate) => rate,
    None => unreachable!(),
};
/// How many flows may be followed by samples.
const SAMPLED_FLOWS: usize = 32;
/// How many samples are kept.
const SAMPLES: usize = 40_000;

/// The bytes that the fluid had served of each flow at an instant; it is linear between two.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Bytes of each flow, since the start.
    pub served: Vec<f64>,
}

/// What the fluid has of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// Bytes served since the start.
    pub served: f64,
    /// Bytes that it has still to serve.
    pub backlog: f64,
}

/// What may change of a line's service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Service {
    Rate(Option<Rate>),
    Up(bool),
    /// The weight of the flow of this number.
    Weight(u32, Weight),
}

/// The fluid of one line.
#[derive(Clone, Debug)]
pub(super) struct LineFluid {
    gps: Gps,
    /// The line's rate when it is up, and whether it is.
    rate: Option<Rate>,
    is_up: bool,
    weights: Vec<Weight>,
    /// Changes of the line that are to come.
    changes: VecDeque<(Time, Service)>,
    samples: VecDeque<Sample>,
}

const fn real(work: u128) -> f64 {
    work as f64 / BYTE_WORK as f64
}

impl LineFluid {
    pub(super) fn new(rate: Rate, weights: Vec<Weight>, changes: VecDeque<(Time, Service)>) -> Self {
        Self { gps: Gps::new(rate), rate: Some(rate), is_up: true, weights, changes, samples: VecDeque::new() }
    }

    /// Moves on to `now`; `left` hears what departs until then.
    pub(super) fn advance(&mut self, now: Time, left: &mut impl FnMut(Departure)) {
        while let Some((at, service)) = self.changes.front().copied().filter(|(at, _)| *at <= now) {
            self.serve(at, left);
            self.changes.pop_front();
            self.change(at, service);
        }
        self.serve(now, left);
    }

    /// A departure changes the shares of the flows that stay: a sample at each.
    fn serve(&mut self, now: Time, left: &mut impl FnMut(Departure)) {
        loop {
            let next = self.gps.next_departure();
            if next > now {
                break;
            }
            self.gps.advance(next, left);
            self.sample(next);
        }
        self.gps.advance(now, left);
    }

    /// The line has changed at `at`, to which the fluid has come.
    pub(super) fn change(&mut self, at: Time, service: Service) {
        match service {
            Service::Rate(rate) => self.rate = rate,
            Service::Up(is_up) => self.is_up = is_up,
            Service::Weight(flow, weight) => {
                // It holds from the flow's next packets on: what the fluid has goes on as before.
                self.weights[flow as usize] = weight;
                return;
            }
        }
        let rate = self.rate.filter(|_| self.is_up);
        self.gps.rate_changed(at, rate.unwrap_or(STANDING));
        self.sample(at);
    }

    /// Takes in a packet; its S and F in bytes.
    pub(super) fn offer(
        &mut self,
        now: Time,
        (flow, length): (u32, u32),
        token: u64,
        left: &mut impl FnMut(Departure),
    ) -> Option<(f64, f64)> {
        self.advance(now, left);
        let weight = self.weights[flow as usize];
        self.gps.offer(now, Offer { flow, weight, length, token }, left);
        self.sample(now);
        self.gps.last_tags(flow).map(|(start, finish)| (bytes(start), bytes(finish)))
    }

    /// Takes the packet of `flow` called `token` out, and offers those behind it again: `again`
    /// hears of each its token and gives its length.
    pub(super) fn withdraw(
        &mut self,
        now: Time,
        (flow, token): (u32, u64),
        again: &impl Fn(u64) -> u32,
        left: &mut impl FnMut(Departure),
    ) {
        self.advance(now, left);
        let mut behind = Vec::new();
        while let Some(last) = self.gps.withdraw(now, flow, left).filter(|last| *last != token) {
            behind.push(last);
        }
        for token in behind.into_iter().rev() {
            let offer = Offer { flow, weight: self.weights[flow as usize], length: again(token), token };
            self.gps.offer(now, offer, left);
        }
        self.sample(now);
    }

    /// Notes what it had served at `at`, to which it has come.
    pub(super) fn sample(&mut self, at: Time) {
        let flows = self.weights.len() as u32;
        if flows as usize > SAMPLED_FLOWS {
            return;
        }
        if self.samples.len() == SAMPLES {
            self.samples.pop_front();
        }
        let served = (0..flows).map(|flow| real(self.gps.served(flow))).collect();
        self.samples.push_back(Sample { at, served });
    }

    pub(super) fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter()
    }

    /// What it has of a flow at the last call.
    pub(super) fn level(&mut self, flow: u32) -> Level {
        Level { served: real(self.gps.served(flow)), backlog: real(self.gps.backlog(flow)) }
    }

    /// R at the last call, in bytes of a flow of weight 1.
    pub(super) fn round(&self) -> f64 {
        bytes(self.gps.round())
    }

    /// Visits the packets that it holds: token, S and F.
    pub(super) fn packets(&self, visit: &mut dyn FnMut(u64, f64, f64)) {
        self.gps.packets(&mut |offer, start, finish| visit(offer.token, bytes(start), bytes(finish)));
    }
}
