//! How far a run was from the fluid that serves the same packets: lateness of packets, lag and lead
//! of flows.
//!
//! Source: Parekh and Gallager 1993 (lateness and lag); Bennett and Zhang, INFOCOM 1996 (lead).
//! Chosen: the fluid is given the packets that were sent; those that were not are as if they had
//! not come. It is [`Gps`], exact to 2^-20 byte.

use super::Exact;
use crate::driver::{End, Journey};
use fairq_sched::fluid::gps::{Departure, Gps, Offer};
use fairq_sched::round::{BYTE_WORK, work};
use fairq_sched::units::{Rate, Time, Weight};

/// How late a packet was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// Its place among the journeys.
    pub packet: usize,
    /// Departure - departure from the fluid, in bytes of the line: times 8/C it is seconds. Below
    /// zero if it was early.
    pub bytes: Exact,
}

/// Of every packet that was sent how much later than from the fluid it departed, on a line of
/// `rate`.
#[must_use]
pub fn lateness(rate: Rate, journeys: &[Journey], weights: &[Weight]) -> Vec<Lateness> {
    let mut list = Vec::with_capacity(journeys.len());
    each_departure(rate, journeys, weights, |departure| {
        let packet = departure.token as usize;
        let Some(end) = journeys[packet].departure() else { return };
        let late = work(rate, end) as i128 - departure.work as i128;
        list.push(Lateness { packet, bytes: bytes(late) });
    });
    list.sort_by_key(|lateness| lateness.packet);
    list
}

/// When each packet left the fluid, on a line of `rate`; `None` for those that were not sent.
#[must_use]
pub fn fluid_departures(rate: Rate, journeys: &[Journey], weights: &[Weight]) -> Vec<Option<Time>> {
    let mut times = vec![None; journeys.len()];
    each_departure(rate, journeys, weights, |departure| times[departure.token as usize] = Some(departure.time));
    times
}

/// Tells `note` of each packet that leaves the fluid; its token is its place among the journeys.
fn each_departure(rate: Rate, journeys: &[Journey], weights: &[Weight], mut note: impl FnMut(Departure)) {
    let mut fluid = Gps::new(rate);
    for (token, journey) in journeys.iter().enumerate().filter(|(_, journey)| journey.departure().is_some()) {
        fluid.offer(journey.arrival.time, offer(journey, weights, token), &mut note);
    }
    fluid.finish(&mut note);
}

/// How far the service of a flow was from that of the fluid, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FluidGap {
    /// The flow.
    pub flow: u32,
    /// The greatest W_GPS(0, t) - W(0, t) over all t, and when.
    pub behind: (Exact, Time),
    /// The greatest W(0, t) - W_GPS(0, t) over all t, and when.
    pub ahead: (Exact, Time),
}

/// Of every flow that sent something the greatest lag and lead. A flow falls behind while others
/// are sent, so the lag is greatest when a packet of it begins to be sent; it catches up while its
/// own are, so the lead is when one is over.
#[must_use]
pub fn fluid_gaps(rate: Rate, journeys: &[Journey], weights: &[Weight]) -> Vec<FluidGap> {
    // (time, is an end, flow, length), in order of time.
    let mut moments: Vec<(Time, bool, u32, u32)> = Vec::new();
    for Journey { arrival, end, .. } in journeys {
        if let End::Sent { start, end } = end {
            moments.extend([(*start, false, arrival.flow, 0), (*end, true, arrival.flow, arrival.length)]);
        }
    }
    moments.sort_by_key(|(time, is_end, ..)| (*time, !*is_end));
    let mut fluid = Gps::new(rate);
    let mut sent = vec![0_i128; weights.len()];
    let mut gaps: Vec<Option<[(i128, Time); 2]>> = vec![None; weights.len()];
    let mut rest = journeys.iter().filter(|journey| journey.departure().is_some()).peekable();
    for (now, is_end, flow, length) in moments {
        while let Some(journey) = rest.next_if(|journey| journey.arrival.time <= now) {
            fluid.offer(journey.arrival.time, offer(journey, weights, 0), &mut |_| ());
        }
        fluid.advance(now, &mut |_| ());
        sent[flow as usize] += i128::from(length) * BYTE_WORK as i128;
        let lag = fluid.served(flow) as i128 - sent[flow as usize];
        let [behind, ahead] = gaps[flow as usize].get_or_insert([(0, now); 2]);
        if !is_end && lag > behind.0 {
            *behind = (lag, now);
        }
        if is_end && -lag > ahead.0 {
            *ahead = (-lag, now);
        }
    }
    let gap = |(flow, gap): (usize, &Option<[(i128, Time); 2]>)| {
        let [behind, ahead] = (*gap)?.map(|(work, time)| (bytes(work), time));
        Some(FluidGap { flow: flow as u32, behind, ahead })
    };
    gaps.iter().enumerate().filter_map(gap).collect()
}

fn offer(journey: &Journey, weights: &[Weight], token: usize) -> Offer {
    let flow = journey.arrival.flow;
    Offer { flow, weight: weights[flow as usize], length: journey.arrival.length, token: token as u64 }
}

fn bytes(work: i128) -> Exact {
    Exact::new(work, BYTE_WORK as i128)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sent, weight};
    use super::*;

    #[test]
    fn lateness_lag_and_lead_of_a_small_run_come_out() {
        let rate = Rate::new(8).expect("a byte a second");
        // Two flows of equal weight, four bytes each at zero: the fluid finishes both at 8 s.
        let journeys = [sent(0, 0, 4, 4), sent(0, 1, 4, 8)];
        let weights = [weight(1000); 2];
        let late: Vec<_> = lateness(rate, &journeys, &weights).iter().map(|late| late.bytes).collect();
        assert_eq!(late, [-4, 0].map(Exact::from_integer));
        assert_eq!(fluid_departures(rate, &journeys, &weights), [Some(Time::from_s(8)); 2]);
        let gaps = fluid_gaps(rate, &journeys, &weights);
        let exact = Exact::from_integer;
        assert_eq!((gaps[0].behind.0, gaps[0].ahead), (exact(0), (exact(2), Time::from_s(4))));
        assert_eq!((gaps[1].behind, gaps[1].ahead.0), ((exact(2), Time::from_s(4)), exact(0)));
        // A packet that was dropped is not in the fluid.
        let mut journeys = journeys.to_vec();
        let dropped = End::Dropped(Time::ZERO, fairq_sched::packet::Reason::BufferFull);
        journeys.insert(0, Journey { end: dropped, ..journeys[0] });
        assert_eq!(fluid_gaps(rate, &journeys, &weights), gaps);
        assert_eq!(lateness(rate, &journeys, &weights)[1].bytes, exact(0));
        assert_eq!(fluid_departures(rate, &journeys, &weights)[..2], [None, Some(Time::from_s(8))]);
    }
}
