//! Generalised processor sharing, slowly: the fluid itself in exact fractions, without a virtual
//! time.
//!
//! Every flow that has bits is served at rate·w/W. From one event (an arrival, or the last bit of a
//! packet) to the next nothing changes, so what is left of each head is a fraction that is lowered
//! by a fraction.

use fairq_sched::units::{Rate, Time, Weight};
/// The fractions in which it answers.
pub use num_rational::BigRational;
use num_traits::Zero;
use std::collections::VecDeque;

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// When each packet left the fluid, in picoseconds, in the order of arrival; `None` if it had
    /// not by the end.
    pub departures: Vec<Option<BigRational>>,
    /// Bits that each flow was served by the end.
    pub served: Vec<BigRational>,
}

fn whole(number: u64) -> BigRational {
    BigRational::from_integer(number.into())
}

/// Serves `arrivals` (time, flow, length in bytes; in the order of time) on a line of `rate` until
/// everything has left, or until `end`. Flow f has the f-th of the weights.
///
/// # Panics
/// If a flow has no weight.
#[must_use]
pub fn serve(rate: Rate, weights: &[Weight], arrivals: &[(Time, u32, u32)], end: Option<Time>) -> Outcome {
    // The line in bits per picosecond.
    let line = BigRational::new(rate.bit_per_s().into(), 1_000_000_000_000_u64.into());
    let end = end.map(|end| whole(end.0));
    let mut departures = vec![None; arrivals.len()];
    let mut served = vec![BigRational::zero(); weights.len()];
    // Of each flow the packets it has: (place in the list, bits left).
    let mut queues: Vec<VecDeque<(usize, BigRational)>> = vec![VecDeque::new(); weights.len()];
    let mut now = BigRational::zero();
    let mut next = 0;
    loop {
        let backlogged: Vec<usize> = (0..queues.len()).filter(|flow| !queues[*flow].is_empty()).collect();
        let all: u64 = backlogged.iter().map(|flow| u64::from(weights[*flow].thousandths())).sum();
        // rate·w/W
        let speed = |flow: usize| &line * BigRational::new(weights[flow].thousandths().into(), all.into());
        // The next event: a head's last bit, an arrival, the end.
        let mut event = backlogged.iter().map(|flow| &now + &queues[*flow][0].1 / speed(*flow)).min();
        if let Some((at, _, _)) = arrivals.get(next) {
            let at = whole(at.0);
            event = Some(event.map_or(at.clone(), |event| event.min(at)));
        }
        let mut is_over = event.is_none();
        if let Some(end) = &end
            && event.as_ref().is_none_or(|event| event > end)
        {
            (event, is_over) = (Some(end.clone()), true);
        }
        let Some(event) = event else { break };
        let elapsed = &event - &now;
        for &flow in &backlogged {
            let bits = speed(flow) * &elapsed;
            queues[flow][0].1 -= &bits;
            served[flow] += bits;
        }
        now = event;
        if is_over {
            break;
        }
        for queue in &mut queues {
            if let Some((packet, left)) = queue.front()
                && left.is_zero()
            {
                departures[*packet] = Some(now.clone());
                queue.pop_front();
            }
        }
        while let Some((at, flow, length)) = arrivals.get(next)
            && whole(at.0) == now
        {
            queues[*flow as usize].push_back((next, whole(u64::from(*length) * 8)));
            next += 1;
        }
    }
    Outcome { departures, served }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_examples_come_out() {
        let rate = Rate::new(8).expect("a rate");
        let arrivals = [(Time::ZERO, 0, 3), (Time::from_s(1), 1, 1), (Time::from_s(2), 2, 1)];
        let outcome = serve(rate, &[Weight::ONE; 3], &arrivals, None);
        let expected: Vec<_> = [5000, 3500, 4500].map(|ms| Some(whole(Time::from_ms(ms).0))).to_vec();
        assert_eq!(outcome.departures, expected);
        let half = serve(rate, &[Weight::ONE; 3], &arrivals, Some(Time::from_s(2)));
        assert_eq!(half.served, [whole(12), whole(4), whole(0)]);
        assert_eq!(half.departures, [None, None, None]);
    }
}
