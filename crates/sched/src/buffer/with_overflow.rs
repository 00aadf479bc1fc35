//! A buffer policy that acts before the buffer is full, and one for the full buffer, together.
//!
//! An arriving packet must please both, the early one first. Victims of the early one go first too.

use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, HeldPacket, Slot, Verdict, Victim};
use crate::packet::{Packet, Reason};
use crate::reading::Reading;
use crate::store::Store;
use crate::traits::Traits;
use crate::units::Time;

/// Both of them; without `full` it is `early` alone.
pub struct WithOverflow<E, F> {
    /// Acts before the buffer is full.
    pub early: E,
    /// Acts when it is.
    pub full: Option<F>,
}

impl<E: BufferPolicy, F: BufferPolicy> BufferPolicy for WithOverflow<E, F> {
    #[inline(always)]
    fn traits(&self) -> Traits {
        let early = self.early.traits();
        self.full.as_ref().map_or(early, |full| early.and(full.traits()))
    }

    #[inline]
    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        let early = self.early.admit(now, store, queue, flow, packet);
        let Some(full) = &mut self.full else { return early };
        if let Verdict::Drop(_) = early {
            return early;
        }
        match full.admit(now, store, queue, flow, packet) {
            Verdict::Pass => early,
            refused => refused,
        }
    }

    fn joined(&mut self, now: Time, store: &Store, held: HeldPacket<'_>) {
        self.early.joined(now, store, held);
        if let Some(full) = &mut self.full {
            full.joined(now, store, held);
        }
    }

    fn victim(&mut self, now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        let early = self.early.victim(now, store, arriving);
        early.or_else(|| self.full.as_mut()?.victim(now, store, arriving))
    }

    fn depart(&mut self, now: Time, store: &Store, queue: Slot) -> Verdict {
        let early =
            if self.early.traits().judges_departures { self.early.depart(now, store, queue) } else { Verdict::Pass };
        match &mut self.full {
            Some(full) if full.traits().judges_departures && !matches!(early, Verdict::Drop(_)) => {
                match full.depart(now, store, queue) {
                    Verdict::Pass => early,
                    verdict => verdict,
                }
            }
            _ => early,
        }
    }

    fn step(&self, queue: Slot) -> Option<u8> {
        self.early.step(queue).or_else(|| self.full.as_ref()?.step(queue))
    }

    fn left(&mut self, now: Time, store: &Store, held: HeldPacket<'_>, is_sent: bool) {
        self.early.left(now, store, held, is_sent);
        if let Some(full) = &mut self.full {
            full.left(now, store, held, is_sent);
        }
    }

    fn idle(&mut self, now: Time) {
        self.early.idle(now);
        if let Some(full) = &mut self.full {
            full.idle(now);
        }
    }

    fn next_update(&self) -> Option<Time> {
        let full = self.full.as_ref().and_then(BufferPolicy::next_update);
        [self.early.next_update(), full].into_iter().flatten().min()
    }

    fn update(&mut self, now: Time, store: &Store) {
        self.early.update(now, store);
        if let Some(full) = &mut self.full {
            full.update(now, store);
        }
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let early = self.early.change(now, change);
        match (&mut self.full, change) {
            (Some(full), Change::Rate(_) | Change::Limit(_)) => early.and(full.change(now, change)),
            (Some(full), _) => early.or(full.change(now, change)),
            (None, _) => early,
        }
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.early.is_clear(now, flow) && self.full.as_mut().is_none_or(|full| full.is_clear(now, flow))
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.early.readings(now, visit);
        if let Some(full) = &self.full {
            full.readings(now, visit);
        }
    }
}
