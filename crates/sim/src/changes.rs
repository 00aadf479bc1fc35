//! What changes in a network while it runs.

use crate::observe::PacketId;
use fairq_link::impairment::Impairment;
use fairq_sched::packet::Marks;
use fairq_sched::queue::Queue;
use fairq_sched::units::{Limit, Rate, Time, Weight};
use std::sync::Arc;

/// A change of one line, or of packets there, from one instant on. It comes before all events of
/// its instant. `Q` is what makes the new discipline, or the discipline itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervention<Q = Arc<Queue>> {
    /// The line's number in the plan.
    pub line: u32,
    /// What changes.
    pub what: What<Q>,
}

/// What changes.
#[derive(Clone, Debug, PartialEq)]
pub enum What<Q = Arc<Queue>> {
    /// The rate; `None` is a rate of 0: the rest of the packet that is being sent follows when
    /// there is a rate again.
    Rate(Option<Rate>),
    /// Whether the line is up. The packet that is being sent when it goes down is lost; packets in
    /// flight arrive, and others wait.
    Up(bool),
    /// The propagation delay of what is sent from now on. No packet overtakes one in flight.
    Delay(Time),
    /// Loss, jitter and reordering of what is sent from now on.
    Impairment(Impairment),
    /// The limit of the queue.
    Limit(Limit),
    /// Another discipline. Packets that wait are offered to it in the order of their arrival.
    Queue(Q),
    /// The weight of the flow of this number.
    Weight(u32, Weight),
    /// Packets come to the line's gateway beside those that their transport sends, which hears
    /// nothing of them.
    Offer {
        /// The number of their flow, on whose path the line is.
        flow: u32,
        /// The bytes of each.
        bytes: u32,
        /// How many.
        count: u32,
    },
    /// A packet that waits is dropped.
    Drop(PacketId),
    /// A packet that waits gets these marks when it is sent, if it accepts them.
    Mark(PacketId, Marks),
    /// A packet that waits is taken out, and comes to the gateway again at this time.
    Hold(PacketId, Time),
    /// A packet that was taken out comes to the gateway again.
    Release(PacketId),
}

impl<Q> What<Q> {
    /// The same, with what `build` makes of a queue.
    pub(crate) fn with<R>(&self, build: impl FnOnce(&Q) -> R) -> What<R> {
        match self {
            Self::Rate(rate) => What::Rate(*rate),
            Self::Up(up) => What::Up(*up),
            Self::Delay(delay) => What::Delay(*delay),
            Self::Impairment(what) => What::Impairment(*what),
            Self::Limit(limit) => What::Limit(*limit),
            Self::Queue(queue) => What::Queue(build(queue)),
            Self::Weight(flow, weight) => What::Weight(*flow, *weight),
            Self::Offer { flow, bytes, count } => What::Offer { flow: *flow, bytes: *bytes, count: *count },
            Self::Drop(id) => What::Drop(*id),
            Self::Mark(id, marks) => What::Mark(*id, *marks),
            Self::Hold(id, until) => What::Hold(*id, *until),
            Self::Release(id) => What::Release(*id),
        }
    }
}

/// A change that is known before the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// When.
    pub at: Time,
    /// What.
    pub change: Intervention,
}
