//! The latency of a latency-rate server: how long after its expected arrival a packet departs.
//!
//! Source: Stiliadis and Varma, "Latency-Rate Servers", ToN 1998; the expected arrival is that of
//! Goyal, Vin and Cheng, SIGCOMM 1996: EATk = max(ak, EATk-1 + Lk-1/ri). In a busy period of flow i
//! (in which it offers at least ri all the time) service is at least ri (t - s - theta) if and only
//! if no packet departs later than EAT + theta. So theta holds the packet's own transmission.

use super::{Exact, sum, thousandths};
use crate::driver::Journey;
use fairq_sched::round::{BYTE_WORK, work};
use fairq_sched::units::{Rate, Weight};

/// How late a packet was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Its place among the journeys.
    pub packet: usize,
    /// Its flow.
    pub flow: u32,
    /// Departure - EAT, in bytes of the line: times 8/C it is seconds.
    pub bytes: Exact,
}

/// Of every packet that was sent how long after its expected arrival it departed; ri is its flow's
/// weight over all weights given, of a line of `rate`. EAT is rounded up by less than 2^-58 byte a
/// packet. Packets that were not sent are as if they had not come.
///
/// # Panics
/// If a packet's length times all weights exceeds 2^78.
#[must_use]
pub fn latencies(rate: Rate, journeys: &[Journey], weights: &[Weight]) -> Vec<Latency> {
    let all = sum(weights) as u128;
    // EAT + L/ri of each flow's last packet, as work.
    let mut next = vec![0_u128; weights.len()];
    let mut latencies = Vec::with_capacity(journeys.len());
    for (packet, journey) in journeys.iter().enumerate() {
        let Some(departure) = journey.departure() else { continue };
        let flow = journey.arrival.flow;
        let expected = next[flow as usize].max(work(rate, journey.arrival.time));
        let share = u128::from(journey.arrival.length)
            .checked_mul(all)
            .and_then(|share| share.checked_mul(BYTE_WORK))
            .map(|share| share.div_ceil(thousandths(weights[flow as usize]) as u128));
        next[flow as usize] = expected + share.expect("a length and weights of a usual size");
        let late = work(rate, departure) as i128 - expected as i128;
        latencies.push(Latency { packet, flow, bytes: Exact::new(late, BYTE_WORK as i128) });
    }
    latencies
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sent, weight};
    use super::*;

    #[test]
    fn a_packet_is_expected_when_the_one_before_it_would_be_done_at_the_flows_rate() {
        let rate = Rate::new(8).expect("a byte a second");
        // Half the line: packets of 2 take 4 s. EAT 0, 4 and, after a pause, 20; then 24 for one
        // that came at 21.
        let journeys = [sent(0, 0, 2, 3), sent(1, 0, 2, 5), sent(2, 1, 1, 6), sent(20, 0, 2, 29), sent(21, 0, 2, 31)];
        let weights = [weight(1000); 2];
        let found: Vec<_> = latencies(rate, &journeys, &weights).iter().map(|latency| latency.bytes).collect();
        assert_eq!(found, [3, 1, 4, 9, 7].map(Exact::from_integer));
    }
}
