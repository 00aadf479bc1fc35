//! The bit worst-case fair index: how far a flow that waits falls behind its share of what the line
//! sends.
//!
//! Source: Bennett and Zhang, "Hierarchical Packet Fair Queueing Algorithms", SIGCOMM 1996: alpha
//! such that Wi(t1, t) >= ri/C W(t1, t) - alpha whenever the flow is backlogged throughout.
//! Chosen: t at departures of the flow's own packets, t1 at departures of any.

use super::{Change, Event, Exact, events, sum, thousandths};
use crate::driver::Journey;
use fairq_sched::units::{Time, Weight};

/// The worst interval of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// The flow.
    pub flow: u32,
    /// The departures between which it is: after the first up to and with the second.
    pub interval: (Time, Time),
    /// ri/C W - Wi in it, in bytes.
    pub bytes: Exact,
}

#[derive(Clone, Copy, Default)]
struct Flow {
    inside: u64,
    served: i128,
    /// The least ri/C W - Wi (times Σw) since it became backlogged, and when; `None` before the
    /// first departure.
    least: Option<(i128, Time)>,
    /// The worst so far: the lag (times Σw), from, to.
    worst: Option<(i128, Time, Time)>,
}

/// Of every flow that had a packet sent in an interval in which it was backlogged, the worst index;
/// ri is its weight over all weights given, of the line.
#[must_use]
pub fn worst_case_index(journeys: &[Journey], weights: &[Weight]) -> Vec<Index> {
    let all = sum(weights);
    let mut flows = vec![Flow::default(); weights.len()];
    let mut sent = 0;
    for Event { time, flow, change } in events(journeys) {
        let own = flow as usize;
        match change {
            Change::Arrives => {
                flows[own].inside += 1;
                if flows[own].inside == 1 {
                    flows[own].least = None;
                }
            }
            Change::Vanishes => flows[own].inside -= 1,
            Change::Departs(length) => {
                sent += i128::from(length);
                flows[own].served += i128::from(length);
                for (at, state) in flows.iter_mut().enumerate().filter(|(_, state)| state.inside > 0) {
                    let lag = thousandths(weights[at]) * sent - all * state.served;
                    if let Some((least, from)) = state.least.filter(|_| at == own)
                        && state.worst.is_none_or(|worst| lag - least > worst.0)
                    {
                        state.worst = Some((lag - least, from, time));
                    }
                    if state.least.is_none_or(|(least, _)| lag < least) {
                        state.least = Some((lag, time));
                    }
                }
                flows[own].inside -= 1;
            }
        }
    }
    let index = |(flow, state): (usize, &Flow)| {
        let (lag, from, to) = state.worst?;
        Some(Index { flow: flow as u32, interval: (from, to), bytes: Exact::new(lag, all) })
    };
    flows.iter().enumerate().filter_map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sent, weight};
    use super::*;

    #[test]
    fn the_lag_behind_the_share_is_taken_at_own_departures() {
        // Flow 0 has 3/4. Between its departures at 1 and at 8 the line sends 7, of which 2 are its
        // own: 21/4 - 2.
        let journeys = [sent(0, 0, 1, 1), sent(0, 1, 5, 6), sent(0, 0, 2, 8), sent(0, 1, 1, 9)];
        let found = worst_case_index(&journeys, &[weight(3000), weight(1000)]);
        assert_eq!(found[0].bytes, Exact::new(13, 4));
        assert_eq!(found[0].interval, (Time::from_s(1), Time::from_s(8)));
        // Flow 1 has 1/4: between 6 and 9 it is 3/4 - 1, between 1 and 6 it is 5/4 - 5, between 8
        // and 9 it is 1/4 - 1.
        assert_eq!((found[1].bytes, found[1].interval), (Exact::new(-1, 4), (Time::from_s(6), Time::from_s(9))));
        // Flow 0 comes back at 6: what was before does not count, and there is no departure before
        // that at 8 but that at 6.
        let journeys = [sent(0, 0, 1, 1), sent(0, 1, 5, 6), sent(6, 0, 2, 8), sent(0, 1, 1, 9)];
        let found = worst_case_index(&journeys, &[weight(3000), weight(1000)]);
        assert_eq!(found[0].bytes, Exact::new(3, 2) - Exact::from_integer(2));
    }
}
