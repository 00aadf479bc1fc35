//! Arrivals that bounds are measured under: random ones, and those that schedulers are known to get
//! wrong.

use crate::arrivals::{self, Load as Drawn, Pattern};
use crate::draw::{Draw, Replay};
use crate::driver::{Arrival, Driver, Journey, header};
use crate::measure::Exact;
use crate::uneven_line;
use fairq_sched::checked::{Checked, Rules};
use fairq_sched::contract::Line;
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::units::{Limit, Rate, Time, Weight};

/// Arrivals for a few flows, and what the bounds are made of.
#[derive(Clone, Debug)]
pub struct Case {
    /// The weight of each flow.
    pub weights: Vec<Weight>,
    /// The line, which has these weights.
    pub line: Line,
    /// The arrivals in order of time.
    pub arrivals: Vec<Arrival>,
    /// How much may wait.
    pub limit: Limit,
    /// Number of arrivals at the start that only introduce the flows; the line is idle after them.
    pub prologue: usize,
}

impl Case {
    /// A case without a limit.
    #[must_use]
    pub fn new(rate: Rate, weights: Vec<Weight>, arrivals: Vec<Arrival>) -> Self {
        let list = (0..).zip(&weights).map(|(flow, weight)| (header(flow), *weight)).collect();
        let line = Line { weights: list, ..Line::new(rate) };
        Self { line, weights, arrivals, limit: Limit::Unlimited, prologue: 0 }
    }

    /// What becomes of the packets under `scheduler`, without a limit.
    #[must_use]
    pub fn run(&self, scheduler: &SchedulerSettings) -> Vec<Journey> {
        let queue = Queue::new(scheduler.clone(), None);
        Driver::new(Checked::new(Rules::of(&queue), || queue.build(&self.line)), self.line.rate).run(&self.arrivals)
    }

    /// The journeys of the packets under `scheduler` on a line whose rate varies, without a limit.
    #[must_use]
    pub fn run_unevenly(&self, scheduler: &SchedulerSettings, seed: u64) -> Vec<Journey> {
        let queue = Queue::new(scheduler.clone(), None);
        let discipline = Checked::new(Rules::of(&queue), || queue.build(&self.line));
        uneven_line::run(discipline, &self.arrivals, self.line.rate.time_of_bits(8000), &mut Draw::new(seed))
    }

    /// Li.
    #[must_use]
    pub fn longest_of(&self, flow: u32) -> Exact {
        let of = self.arrivals.iter().filter(|arrival| arrival.flow == flow);
        Exact::from_integer(of.map(|arrival| arrival.length).max().unwrap_or(0).into())
    }

    /// Lmax.
    #[must_use]
    pub fn longest(&self) -> Exact {
        (0..self.weights.len()).map(|flow| self.longest_of(flow as u32)).max().unwrap_or_default()
    }

    /// ri/C, among all flows that may come.
    #[must_use]
    pub fn share(&self, flow: u32) -> Exact {
        let all: i128 = self.weights.iter().map(|weight| i128::from(weight.thousandths())).sum();
        Exact::new(self.weights[flow as usize].thousandths().into(), all)
    }

    /// wi.
    #[must_use]
    pub fn weight(&self, flow: u32) -> Exact {
        Exact::new(self.weights[flow as usize].thousandths().into(), 1000)
    }

    /// What rounding may add to a bound, in bytes of the line: tags are compared in steps of
    /// 2^-24.9 byte at weight one, of which all flows may have one; transmissions end on whole
    /// picoseconds and the choice is made then; the fluid is exact to 2^-20 byte.
    #[must_use]
    pub fn slack(&self) -> Exact {
        let all: i128 = self.weights.iter().map(|weight| i128::from(weight.thousandths())).sum();
        Exact::new(all * 3, 1000 << 24)
            + Exact::new(2 * i128::from(self.line.rate.bit_per_s()), 8_000_000_000_000)
            + Exact::new(1, 1 << 20)
    }

    /// This case with the arrivals of flow 0 split among ten flows.
    #[must_use]
    pub fn split(mut self) -> Self {
        let flows = self.weights.len() as u32;
        for (at, arrival) in self.arrivals.iter_mut().enumerate().filter(|(_, arrival)| arrival.flow == 0) {
            arrival.flow = if at % 10 == 0 { 0 } else { flows - 1 + at as u32 % 10 };
        }
        self.weights.extend([self.weights[0]; 9]);
        Self::new(self.line.rate, self.weights, self.arrivals)
    }

    /// This case after a prologue: each flow sends one byte, and a silence follows in which all
    /// clocks forget it.
    #[must_use]
    pub fn settled(mut self) -> Self {
        let flows = self.weights.len();
        let thousandths = || self.weights.iter().map(|weight| u64::from(weight.thousandths()));
        // A byte at the least share, twice; and what all of them take.
        let bytes = 2 * thousandths().sum::<u64>() / thousandths().min().unwrap_or(1) + 2 * flows as u64;
        let quiet = Time(self.line.rate.time_of_bits(8).0 * bytes);
        let shown = (0..flows as u32).map(|flow| Arrival { time: Time::ZERO, flow, length: 1 });
        let rest = self.arrivals.iter().map(|arrival| Arrival { time: quiet + arrival.time, ..*arrival });
        self.arrivals = shown.chain(rest).collect();
        self.prologue = flows;
        self
    }

    /// This case with a limit of `packets`, under which drops empty flows.
    #[must_use]
    pub const fn limited(mut self, packets: u64) -> Self {
        self.limit = Limit::Packets(packets);
        self
    }
}

/// A flow of great weight sends one packet each time that a round of the others has begun, and all
/// become busy at once now and then.
#[must_use]
pub fn returning(seed: u64) -> Case {
    let mut draw = Draw::new(seed);
    let rate = Rate::new(8_000_000).expect("above 0");
    let others = 1 + draw.below(8) as u32;
    let (mut arrivals, mut now) = (Vec::new(), 0);
    while arrivals.len() < 250 {
        let small = draw.pick(&[1, 40, 1500]);
        for flow in 1..=others {
            (0..1 + draw.below(3)).for_each(|_| arrivals.push(Arrival { time: Time(now), flow, length: small }));
        }
        for _ in 0..1 + draw.below(6) {
            arrivals.push(Arrival { time: Time(now), flow: 0, length: draw.pick(&[40, 1500]) });
            now += draw.pick(&[0, 1, 40_000_000, 1_500_000_000]);
        }
        now += draw.below(2) * draw.below(4_000_000_000);
    }
    let heavy = weight(draw.pick(&[1000, 5000, 1_000_000, 1_000_000_000]));
    let weights = core::iter::once(heavy).chain((0..others).map(|_| weight(draw.pick(&[500, 1000])))).collect();
    Case::new(rate, weights, arrivals)
}

/// `pattern` under `seed`: a few flows, rates from slow to fast, weights as the seed says, one to a
/// million in every fifth.
#[must_use]
pub fn drawn(pattern: Pattern, seed: u64, packets: usize) -> Case {
    let rates = [56_000, 1_000_000, 999_999_937, 10_000_000_000].map(|rate| Rate::new(rate).expect("above 0"));
    let load = Drawn { rate: rates[seed as usize % 4], flows: 2 + seed as u32 % 7, packets };
    let weights = match seed % 5 {
        4 => (0..load.flows).map(|flow| if flow == 1 { Weight::MAX } else { Weight::ONE }).collect(),
        _ => arrivals::weights(load.flows, seed),
    };
    let list = arrivals::arrivals(pattern, load, seed);
    let list = list.into_iter().map(|(time, flow, length)| Arrival { time, flow, length }).collect();
    Case::new(load.rate, weights, list)
}

/// All patterns under `seeds` seeds, and what is made to hurt.
pub fn cases(seeds: u64, packets: usize, mut test: impl FnMut(u64, &Case)) {
    let mut look = |name: &str, seed: u64, case: Case| {
        let _replay = Replay(format!("{name}, seed {seed}"));
        test(seed, &case);
    };
    for seed in 0..seeds {
        for pattern in Pattern::ALL {
            let case = drawn(pattern, seed, packets);
            look(&format!("{pattern:?}, split"), seed, case.clone().split());
            look(&format!("{pattern:?}"), seed, case);
        }
        look("returning", seed, returning(seed));
    }
}

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of this file")
}
