//! How fair a run was: from what became of each packet, and the weights, the worst value of each
//! published measure.
//!
//! All take the journeys of [`Driver`](crate::driver::Driver) (in order of arrival) and the weight
//! of each flow by its number, and know nothing of the discipline. Values are exact and in bytes:
//! bytes of service, or bytes that the line sends in a time, so that a bound of Lmax/C reads Lmax.
//! A packet that was dropped or removed counts as waiting until then, and never as service.

pub mod fluid_gap;
pub mod latency;
pub mod relative_fairness;
pub mod worst_case_index;

use crate::driver::{End, Journey};
use fairq_sched::units::{Time, Weight};
use num_rational::Ratio;

/// An exact number of bytes.
pub type Exact = Ratio<i128>;

/// What happens to the backlog of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A packet comes.
    Arrives,
    /// A packet goes without service.
    Vanishes,
    /// The last bit of a packet of this many bytes is sent.
    Departs(u32),
}

/// A change and when it happens.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Which flow.
    pub flow: u32,
    /// What.
    pub change: Change,
}

/// What happens, in order of time; at one instant arrivals come before packets that go, as in the
/// driver, so that a flow whose next packet comes when the last one departs stays backlogged.
#[must_use]
pub fn events(journeys: &[Journey]) -> Vec<Event> {
    let mut events = Vec::with_capacity(2 * journeys.len());
    for Journey { arrival, end, .. } in journeys {
        let mut note = |time, change| events.push(Event { time, flow: arrival.flow, change });
        note(arrival.time, Change::Arrives);
        match end {
            End::Sent { end, .. } => note(*end, Change::Departs(arrival.length)),
            End::Dropped(time, _) | End::Removed(time) => note(*time, Change::Vanishes),
            End::Inside => {}
        }
    }
    events.sort_by_key(|event| (event.time, event.change));
    events
}

/// A weight in thousandths.
pub(crate) fn thousandths(weight: Weight) -> i128 {
    weight.thousandths().into()
}

/// The weights of all flows together, in thousandths: ri is C wi over it.
fn sum(weights: &[Weight]) -> i128 {
    weights.iter().copied().map(thousandths).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Arrival;
    use fairq_sched::packet::Marks;

    /// A packet of `flow` that came at `from` and was sent by `to`, in seconds, on a line of a byte
    /// a second.
    pub(super) fn sent(from: u64, flow: u32, length: u32, to: u64) -> Journey {
        let (time, end) = (Time::from_s(from), Time::from_s(to));
        let end = End::Sent { start: Time::from_s(to - u64::from(length)), end };
        let arrival = Arrival { time, flow, length };
        Journey { arrival, end, marks: Marks::NONE, handle: None, interruptions: 0 }
    }

    /// A weight in thousandths.
    pub(super) fn weight(thousandths: u32) -> Weight {
        Weight::from_thousandths(thousandths).expect("a weight of the test")
    }

    #[test]
    fn a_flow_whose_next_packet_comes_when_the_last_departs_does_not_leave() {
        let changes: Vec<_> = events(&[sent(0, 0, 2, 2), sent(2, 0, 1, 3)]).iter().map(|event| event.change).collect();
        assert_eq!(changes, [Change::Arrives, Change::Arrives, Change::Departs(2), Change::Departs(1)]);
    }
}
