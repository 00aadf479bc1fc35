//! The buffer policy of a queue that names none: tail drop, or longest-queue drop where flows have queues of their own.

use super::longest_queue_drop::LongestQueueDrop;
use super::tail_drop::TailDrop;
use crate::contract::{BufferPolicy, Flow, Slot, Stay, Verdict, Victim};
use crate::packet::{Packet, Reason};
use crate::store::Store;
use crate::units::Time;

/// One of the two.
pub(crate) enum Usual {
    /// For one queue.
    TailDrop(TailDrop),
    /// For a queue to each flow.
    LongestQueueDrop(LongestQueueDrop),
}

impl BufferPolicy for Usual {
    #[inline]
    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        match self {
            Self::TailDrop(policy) => policy.admit(now, store, queue, flow, packet),
            Self::LongestQueueDrop(policy) => policy.admit(now, store, queue, flow, packet),
        }
    }

    fn passes_when_empty(&self) -> bool {
        true
    }

    #[inline]
    fn joined(&mut self, now: Time, store: &Store, stay: Stay<'_>) {
        if let Self::LongestQueueDrop(policy) = self {
            policy.joined(now, store, stay);
        }
    }

    #[inline]
    fn victim(&mut self, now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        match self {
            Self::TailDrop(_) => None,
            Self::LongestQueueDrop(policy) => policy.victim(now, store, arriving),
        }
    }
}
