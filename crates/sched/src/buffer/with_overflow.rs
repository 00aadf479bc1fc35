//! A buffer policy that acts before the buffer is full, and one for the full buffer, together.
//!
//! An arriving packet must please both, the early one first. Victims of the early one go first too.

use crate::contract::{BufferPolicy, Flow, Slot, Stay, Verdict, Victim};
use crate::packet::{Packet, Reason};
use crate::store::Store;
use crate::units::{Rate, Time};

/// Both of them; without `full` it is `early` alone.
pub struct WithOverflow<E, F> {
    /// Acts before the buffer is full.
    pub early: E,
    /// Acts when it is.
    pub full: Option<F>,
}

impl<E: BufferPolicy, F: BufferPolicy> BufferPolicy for WithOverflow<E, F> {
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

    fn joined(&mut self, now: Time, store: &Store, stay: Stay<'_>) {
        self.early.joined(now, store, stay);
        if let Some(full) = &mut self.full {
            full.joined(now, store, stay);
        }
    }

    fn victim(&mut self, now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        let early = self.early.victim(now, store, arriving);
        early.or_else(|| self.full.as_mut()?.victim(now, store, arriving))
    }

    fn judges_departures(&self) -> bool {
        self.early.judges_departures()
    }

    fn depart(&mut self, now: Time, store: &Store, queue: Slot) -> Verdict {
        self.early.depart(now, store, queue)
    }

    fn left(&mut self, now: Time, store: &Store, stay: Stay<'_>, is_sent: bool) {
        self.early.left(now, store, stay, is_sent);
        if let Some(full) = &mut self.full {
            full.left(now, store, stay, is_sent);
        }
    }

    fn idle(&mut self, now: Time) {
        self.early.idle(now);
    }

    fn notes_idle(&self) -> bool {
        self.early.notes_idle()
    }

    fn passes_when_empty(&self) -> u32 {
        let full = self.full.as_ref().map_or(u32::MAX, BufferPolicy::passes_when_empty);
        self.early.passes_when_empty().min(full)
    }

    fn draws_packets(&self) -> bool {
        self.early.draws_packets() || self.full.as_ref().is_some_and(BufferPolicy::draws_packets)
    }

    fn next_update(&self) -> Option<Time> {
        self.early.next_update()
    }

    fn update(&mut self, now: Time, store: &Store) {
        self.early.update(now, store);
    }

    fn rate_changed(&mut self, now: Time, rate: Rate) {
        self.early.rate_changed(now, rate);
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.early.is_clear(now, flow)
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.early.inspect(visit);
    }
}
