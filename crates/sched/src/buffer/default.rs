//! The buffer policy of a queue that names none: tail drop, or longest-queue drop where flows have
//! queues of their own.

use super::longest_queue_drop::{self, LongestQueueDrop};
use super::tail_drop::{self, TailDrop};
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, HeldPacket, Line, Slot, Verdict, Victim};
use crate::packet::{Packet, Reason};
use crate::reading::no_readings;
use crate::store::Store;
use crate::traits::Traits;
use crate::units::{Limit, Time};

/// One of the two.
pub(crate) struct DefaultBuffer {
    /// Whether it is longest-queue drop: a queue to each flow.
    drops_longest: bool,
    /// Whether longest-queue drop is told which packets join. Without a limit it never drops and
    /// need not be told.
    is_told: bool,
    tail_drop: TailDrop,
    longest_queue_drop: LongestQueueDrop,
}

impl DefaultBuffer {
    /// Tail drop.
    pub(crate) fn tail_drop(settings: &tail_drop::Settings, line: &Line) -> Self {
        let (tail_drop, other) = (TailDrop::new(settings, line), LongestQueueDrop::new(&Default::default(), line));
        Self { drops_longest: false, is_told: false, tail_drop, longest_queue_drop: other }
    }

    /// Longest-queue drop behind `limit`.
    pub(crate) fn longest_queue_drop(settings: &longest_queue_drop::Settings, limit: Limit, line: &Line) -> Self {
        let (other, longest_queue_drop) =
            (TailDrop::new(&Default::default(), line), LongestQueueDrop::new(settings, line));
        Self { drops_longest: true, is_told: limit != Limit::Unlimited, tail_drop: other, longest_queue_drop }
    }
}

impl BufferPolicy for DefaultBuffer {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { hears_joins: self.is_told, bypass: u32::MAX, ..Traits::PLAIN }
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        if self.drops_longest && !self.is_told && matches!(change, Change::Limit(_)) {
            return Err(Unsupported(
                "without a limit it does not note which queue is longest; give it one at the start",
            ));
        }
        self.longest_queue_drop.change(now, change)
    }

    #[inline]
    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        if self.drops_longest {
            self.longest_queue_drop.admit(now, store, queue, flow, packet)
        } else {
            self.tail_drop.admit(now, store, queue, flow, packet)
        }
    }

    #[inline]
    fn joined(&mut self, now: Time, store: &Store, held: HeldPacket<'_>) {
        if self.is_told {
            self.longest_queue_drop.joined(now, store, held);
        }
    }

    #[inline]
    fn victim(&mut self, now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        if self.is_told { self.longest_queue_drop.victim(now, store, arriving) } else { None }
    }

    no_readings!();
}
