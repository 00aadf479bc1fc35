//! Relative fairness: how far apart the normalised service of two flows gets while both are
//! backlogged.
//!
//! Source: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
//! INFOCOM 1994.
//! Cost: one step for each flow at each departure.

use super::{Change, Event, Exact, events, thousandths};
use crate::driver::Journey;
use fairq_sched::units::{Time, Weight};

/// The worst interval of two flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The two; the first was served more.
    pub flows: (u32, u32),
    /// The departures between which it is: after the first up to and with the second.
    pub interval: (Time, Time),
    /// Wi/wi - Wj/wj in it, in bytes at weight one.
    pub bytes: Exact,
}

/// What is known of two flows, the first having the lower number.
#[derive(Clone, Copy, Default)]
struct Pair {
    /// Departures of the line when both became backlogged.
    since: u64,
    /// The least and the greatest lead of the first since then, and when; `None` before the first
    /// departure.
    extremes: Option<[(i128, Time); 2]>,
    /// The worst so far: the lead, from, to.
    worst: (i128, Time, Time),
}

impl Pair {
    fn look(&mut self, lead: i128, now: Time) {
        let [least, most] = self.extremes.get_or_insert([(lead, now); 2]);
        // The interval ends now and began at the other extreme.
        for from in [*least, *most] {
            if (lead - from.0).abs() > self.worst.0.abs() {
                self.worst = (lead - from.0, from.1, now);
            }
        }
        if lead < least.0 {
            *least = (lead, now);
        }
        if lead > most.0 {
            *most = (lead, now);
        }
    }
}

/// Of every two flows that were backlogged together, the greatest |Wi/wi - Wj/wj| over all
/// intervals between two departures (of any flows) throughout which both were; pairs that were
/// always served evenly are left out.
#[must_use]
pub fn relative_fairness(journeys: &[Journey], weights: &[Weight]) -> Vec<Gap> {
    let count = weights.len();
    let mut pairs = vec![Pair::default(); count * count];
    let mut inside = vec![0_u64; count];
    let mut served = vec![0_i128; count];
    let (mut departures, mut last) = (0, Time::ZERO);
    let pair_of = |a: usize, b: usize| a.min(b) * count + a.max(b);
    for Event { time, flow, change } in events(journeys) {
        let flow = flow as usize;
        let others = || (0..count).filter(move |other| *other != flow);
        // Wi/wi - Wj/wj times both weights.
        let lead = |served: &[i128], other: usize| {
            let (a, b) = (flow.min(other), flow.max(other));
            served[a] * thousandths(weights[b]) - served[b] * thousandths(weights[a])
        };
        match change {
            Change::Arrives => {
                inside[flow] += 1;
                if inside[flow] == 1 {
                    for other in others() {
                        let pair = &mut pairs[pair_of(flow, other)];
                        (pair.since, pair.extremes) = (departures, None);
                    }
                }
            }
            Change::Vanishes => inside[flow] -= 1,
            Change::Departs(length) => {
                let before = served.clone();
                served[flow] += i128::from(length);
                for other in others().filter(|other| inside[*other] > 0) {
                    let pair = &mut pairs[pair_of(flow, other)];
                    // A departure of a third flow is an instant like any other; between those of
                    // the two the lead stays.
                    if pair.extremes.is_none() && departures > pair.since {
                        pair.look(lead(&before, other), last);
                    }
                    pair.look(lead(&served, other), time);
                }
                inside[flow] -= 1;
                departures += 1;
                last = time;
            }
        }
    }
    let gap = |(at, pair): (usize, &Pair)| {
        let (a, b) = (at / count, at % count);
        let (lead, from, to) = pair.worst;
        let flows = if lead > 0 { (a as u32, b as u32) } else { (b as u32, a as u32) };
        let bytes = Exact::new(lead.abs() * 1000, thousandths(weights[a]) * thousandths(weights[b]));
        (lead != 0).then_some(Gap { flows, interval: (from, to), bytes })
    };
    pairs.iter().enumerate().filter_map(gap).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sent, weight};
    use super::*;

    #[test]
    fn the_worst_of_all_intervals_is_found_and_no_other() {
        // Two bytes, then a byte of flow 1 (weight 2), then three of flow 0, in seconds; all have
        // been there from the start, and flow 0 stays until 9. Between 2 and 6 flow 1 had 1/2 and
        // flow 0 three times 1.
        let journeys = [
            sent(0, 0, 2, 2),
            sent(0, 1, 1, 3),
            sent(0, 0, 1, 4),
            sent(0, 0, 1, 5),
            sent(0, 0, 1, 6),
            sent(0, 1, 1, 7),
            sent(0, 0, 2, 9),
        ];
        let weights = [weight(1000), weight(2000)];
        let gaps = relative_fairness(&journeys, &weights);
        assert_eq!(gaps.len(), 1);
        assert_eq!((gaps[0].flows, gaps[0].bytes), ((0, 1), Exact::from_integer(3)));
        assert_eq!(gaps[0].interval, (Time::from_s(3), Time::from_s(6)));
        // The same while flow 1 is away from 3 to 4: nothing is known of that time.
        let mut journeys = journeys;
        journeys[5] = sent(4, 1, 1, 7);
        let gaps = relative_fairness(&journeys, &weights);
        assert_eq!((gaps[0].interval, gaps[0].bytes), ((Time::from_s(4), Time::from_s(6)), Exact::from_integer(2)));
    }

    #[test]
    fn every_interval_agrees_with_counting_each_one() {
        use crate::draw::Draw;
        for seed in 0..200 {
            let mut draw = Draw::new(seed);
            let weights: Vec<Weight> = (0..3).map(|_| weight(draw.pick(&[500, 1000, 3000]))).collect();
            // A line that sends a byte a second, first in, first out.
            let (mut journeys, mut now, mut free) = (Vec::new(), 0, 0);
            for _ in 0..20 {
                now += draw.below(6);
                let length = 1 + draw.below(5);
                free = now.max(free) + length;
                journeys.push(sent(now, draw.below(3) as u32, length as u32, free));
            }
            let mut worst = vec![Exact::from_integer(0); 9];
            let ends: Vec<Time> = journeys.iter().filter_map(Journey::departure).collect();
            let is_backlogged = |flow: usize, from: Time, to: Time| {
                let of = || journeys.iter().filter(|journey| journey.arrival.flow as usize == flow);
                let covers = |at: Time| of().any(|j| j.arrival.time <= at && j.departure() >= Some(at));
                // It may change at these instants, and between them it stays as it is just after.
                let leaves = of().filter_map(Journey::departure).filter(|end| *end >= from && *end < to);
                let after = |at: Time| of().any(|j| j.arrival.time <= at && j.departure() > Some(at));
                covers(from) && covers(to) && leaves.into_iter().all(after)
            };
            for (from, to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (*from, *to))) {
                let service = |flow: usize| {
                    let of = journeys.iter().filter(|journey| journey.arrival.flow as usize == flow);
                    let within = of.filter(|j| j.departure() > Some(from) && j.departure() <= Some(to));
                    let bytes: i128 = within.map(|journey| i128::from(journey.arrival.length)).sum();
                    Exact::new(bytes * 1000, thousandths(weights[flow]))
                };
                for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                    if from < to && is_backlogged(a, from, to) && is_backlogged(b, from, to) {
                        let gap = service(a) - service(b);
                        worst[a * 3 + b] = worst[a * 3 + b].max(if gap < 0.into() { -gap } else { gap });
                    }
                }
            }
            let mut found = vec![Exact::from_integer(0); 9];
            for gap in relative_fairness(&journeys, &weights) {
                found[(gap.flows.0.min(gap.flows.1) * 3 + gap.flows.0.max(gap.flows.1)) as usize] = gap.bytes;
            }
            assert_eq!(found, worst, "seed {seed}");
        }
    }
}
