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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::traits;
    use crate::units::Limit;
    use crate::units::Rate;
    use alloc::sync::Arc;
    use core::sync::atomic::{AtomicU32, Ordering};

    /// Wants to be asked of everything, and notes what it was asked, a bit for each question.
    struct Spy(Arc<AtomicU32>);

    impl Spy {
        fn note(&self, question: u32) {
            self.0.fetch_or(1 << question, Ordering::Relaxed);
        }
    }

    const QUESTIONS: u32 = 10;

    impl BufferPolicy for Spy {
        traits!(hears_joins = true, hears_idle = true, judges_departures = true, draws_packets = true);
        fn admit(&mut self, _: Time, _: &Store, _: Slot, _: Flow, _: &mut Packet) -> Verdict {
            self.note(0);
            Verdict::Pass
        }
        fn joined(&mut self, _: Time, _: &Store, _: HeldPacket<'_>) {
            self.note(1);
        }
        fn victim(&mut self, _: Time, _: &Store, _: Slot) -> Option<(Victim, Reason)> {
            self.note(2);
            None
        }
        fn depart(&mut self, _: Time, _: &Store, _: Slot) -> Verdict {
            self.note(3);
            Verdict::Pass
        }
        fn left(&mut self, _: Time, _: &Store, _: HeldPacket<'_>, _: bool) {
            self.note(4);
        }
        fn idle(&mut self, _: Time) {
            self.note(5);
        }
        fn next_update(&self) -> Option<Time> {
            Some(Time::from_ms(1))
        }
        fn update(&mut self, _: Time, _: &Store) {
            self.note(6);
        }
        fn change(&mut self, _: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
            self.note(7);
            change.not_used()
        }
        fn is_clear(&mut self, _: Time, _: Slot) -> bool {
            self.note(8);
            true
        }
        fn readings(&self, _: Time, _: &mut dyn FnMut(Reading<'_>)) {
            self.note(9);
        }
    }

    #[test]
    fn both_are_asked_of_everything() {
        let asked = [0, 1].map(|_| Arc::new(AtomicU32::new(0)));
        let [early, full] = asked.clone().map(Spy);
        let mut both = WithOverflow { early, full: Some(full) };
        let (now, mut packet) = (Time::ZERO, Packet::new(0, Time::ZERO, 100));
        let mut store = Store::new(Limit::Unlimited);
        let (handle, _) = store.push(&packet, 0, 1, 1);
        let held = HeldPacket { queue: 1, flow: 1, handle, packet: &packet.clone() };
        assert_eq!(both.admit(now, &store, 1, Flow::of_slot(1), &mut packet), Verdict::Pass);
        both.joined(now, &store, held);
        assert_eq!(both.victim(now, &store, 1), None);
        let traits = both.traits();
        assert!(traits.judges_departures && traits.hears_idle && traits.draws_packets && traits.hears_joins);
        assert_eq!(both.depart(now, &store, 1), Verdict::Pass);
        both.left(now, &store, held, true);
        both.idle(now);
        assert_eq!(both.next_update(), Some(Time::from_ms(1)));
        both.update(now, &store);
        assert_eq!(both.change(now, &Change::Rate(Rate::MAX)), Ok(()));
        assert!(both.is_clear(now, 1));
        both.readings(now, &mut |_| ());
        assert_eq!(asked.map(|asked| asked.load(Ordering::Relaxed)), [(1 << QUESTIONS) - 1; 2]);
    }
}
