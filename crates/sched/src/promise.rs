//! What a scheduler promises, in numbers: the bounds of its card as values, to measure a run
//! against.
//!
//! Bounds are in bytes, or in bytes that the line sends in a time: times 8/C they are seconds. They
//! are for a line of fixed rate that interrupts nothing, and weights that stay.

use crate::part::Part;
use crate::units::Weight;

/// What can be measured of a run. Flows are numbered as in [`Load`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The greatest |Wi/wi - Wj/wj| in bytes at weight one, over every interval in which both wait.
    RelativeFairness(u32, u32),
    /// Relative fairness over intervals in which a packet of each flow waits, not counting the one
    /// being sent: a flow whose next packet arrives while its last is sent begins anew.
    FairnessWhileWaiting(u32, u32),
    /// Relative fairness in packets, as if all weights were one: |ni - nj|.
    PacketFairness(u32, u32),
    /// Fairness while waiting in packets: |ni/wi - nj/wj|.
    PacketsOverWeights(u32, u32),
    /// The greatest ri/C W - Wi over every interval in which the flow waits, up to a departure of
    /// its own (B-WFI).
    WorstCaseIndex(u32),
    /// How long after its expected arrival a packet of `length` of `flow` departs: Θ C for a
    /// latency-rate server.
    Latency {
        /// Its flow.
        flow: u32,
        /// Its length in bytes.
        length: u32,
    },
    /// How much later than from the fluid a packet departs.
    Lateness,
    /// How far the service of a flow is behind that of the fluid.
    Behind(u32),
    /// How far the service of a flow is ahead of that of the fluid.
    Ahead(u32),
}

/// What a scheduler was given, as far as bounds depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The weight of each flow that may come.
    pub weights: &'a [Weight],
    /// The length of the longest packet of each.
    pub longest: &'a [u32],
    /// Whether packets were dropped or taken out.
    pub has_losses: bool,
    /// Whether every flow was seen, and what came then was sent and is passed, before what counts.
    pub is_settled: bool,
}

impl Load<'_> {
    /// N.
    #[must_use]
    pub const fn flows(&self) -> f64 {
        self.weights.len() as f64
    }

    /// wi.
    #[must_use]
    pub fn weight(&self, flow: u32) -> f64 {
        f64::from(self.weights[flow as usize].thousandths()) / 1000.0
    }

    /// ri/C.
    #[must_use]
    pub fn share(&self, flow: u32) -> f64 {
        let all: u64 = self.weights.iter().map(|weight| u64::from(weight.thousandths())).sum();
        f64::from(self.weights[flow as usize].thousandths()) / all as f64
    }

    /// Li.
    #[must_use]
    pub fn longest_of(&self, flow: u32) -> f64 {
        f64::from(self.longest[flow as usize])
    }

    /// Lmax.
    #[must_use]
    pub fn longest(&self) -> f64 {
        f64::from(self.longest.iter().copied().max().unwrap_or(0))
    }

    /// Li/wi + Lj/wj.
    #[must_use]
    pub fn a_packet_each(&self, i: u32, j: u32) -> f64 {
        self.longest_of(i) / self.weight(i) + self.longest_of(j) / self.weight(j)
    }

    /// Li/ri + Lmax/C, times C.
    #[must_use]
    pub fn own_packet_and_longest(&self, flow: u32) -> f64 {
        self.longest_of(flow) / self.share(flow) + self.longest()
    }

    /// Li + (Lmax - Li) ri/C.
    #[must_use]
    pub fn least_index(&self, flow: u32) -> f64 {
        let own = self.longest_of(flow);
        own + (self.longest() - own) * self.share(flow)
    }
}

/// Whether a scheduler promises each flow the delay of packet-by-packet generalised processor
/// sharing (Parekh and Gallager, 1993): a packet leaves at most Lmax/C later than from the fluid,
/// or at most Li/ri + Lmax/C after its expected arrival. Promises are asked for two loads: a bound
/// that grows with the flows holds for one of them at most.
#[must_use]
pub fn is_of_pgps(scheduler: &dyn Part) -> bool {
    let weights = [1000, 3000, 500, 20_000].map(Weight::from_thousandths).map(Option::unwrap_or_default);
    let longest = [1500, 40, 9000, 1];
    [2, 4].into_iter().all(|flows| {
        let (weights, longest) = (&weights[..flows], &longest[..flows]);
        let load = Load { weights, longest, has_losses: false, is_settled: false };
        let is_within = |measure, bound| scheduler.promise(measure, &load).is_some_and(|promised| promised <= bound);
        (0..).zip(longest).all(|(flow, length)| {
            let latency = Measure::Latency { flow, length: *length };
            is_within(Measure::Lateness, load.longest()) || is_within(latency, load.own_packet_and_longest(flow))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::SchedulerSettings;
    use crate::schedule::fq;
    use crate::units::Bytes;

    #[test]
    fn a_bound_that_grows_with_the_flows_is_not_that_of_pgps() {
        let is_of_pgps = |name| is_of_pgps(SchedulerSettings::by_name(name).expect("a name of the registry").part());
        assert!(["fq", "wfq", "wf2q", "wf2q_plus"].into_iter().all(is_of_pgps));
        assert!(!["fifo", "sfq", "scfq", "drr", "virtual_clock", "priority"].into_iter().any(is_of_pgps));
    }

    #[test]
    fn a_promised_delay_goes_with_the_settings() {
        assert!(!is_of_pgps(&fq::Settings { delta: Bytes(1500), ..Default::default() }));
    }
}
