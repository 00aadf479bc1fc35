//! A discipline behind a policer: a packet that does not conform is dropped before the discipline
//! sees it, all else is the discipline's.

use crate::change::{Change, Unsupported};
use crate::contract::{Dequeue, Discipline, Handle, Held, Policer};
use crate::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use crate::reading::Reading;
use crate::traits::Traits;
use crate::units::Time;
use crate::waiting::{Decision, Waiting};
use alloc::boxed::Box;

/// The two of them. No packet bypasses the policer, which would leave its tokens.
pub struct Policed<P> {
    policer: P,
    discipline: Box<dyn Discipline>,
}

impl<P: Policer> Policed<P> {
    /// `discipline` behind `policer`.
    #[must_use]
    pub fn new(policer: P, discipline: Box<dyn Discipline>) -> Self {
        Self { policer, discipline }
    }
}

impl<P: Policer> Discipline for Policed<P> {
    // The policer sees every packet.
    fn traits(&self) -> Traits {
        Traits { bypass: 0, replays: false, fifo: None, ..self.discipline.traits() }
    }

    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        if self.policer.conforms(now, &packet) {
            return self.discipline.enqueue(now, packet, header, fates);
        }
        fates.push(Fate { packet, outcome: Outcome::Dropped(Reason::Policed) });
        None
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.discipline.dequeue(now, fates)
    }

    fn held(&self) -> Held {
        self.discipline.held()
    }

    fn next_update(&self) -> Option<Time> {
        self.discipline.next_update()
    }

    fn update(&mut self, now: Time) {
        self.discipline.update(now);
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        self.discipline.remove(now, handle)
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.discipline.change(now, change)
    }

    fn preempts(&self) -> bool {
        self.discipline.preempts()
    }

    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.discipline.put_back(now, unsent_bits);
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.policer.readings(now, visit);
        self.discipline.readings(now, visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.discipline.waiting(visit);
    }

    fn decision(&self) -> Option<Decision> {
        self.discipline.decision()
    }
}
