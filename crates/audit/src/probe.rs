//! What only the line before a discipline can check: *nothing before t* is exact, and an update is
//! due once, at a time to come.

use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline, Handle, Held};
use fairq_sched::invariant::{Invariant, Tally};
use fairq_sched::packet::{Fates, Header, Packet};
use fairq_sched::reading::Reading;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use fairq_sched::waiting::{Decision, Waiting};

/// A discipline whose named times are checked.
pub(crate) struct Probe<D> {
    pub(crate) discipline: D,
    pub(crate) tally: Tally,
    /// Whether the line interrupts a transmission when the discipline says so.
    pub(crate) interrupts: bool,
    /// The time that the discipline named, as long as it holds.
    promised: Option<Time>,
    /// The time of the last call.
    now: Time,
}

impl<D: Discipline> Probe<D> {
    pub(crate) fn new(discipline: D) -> Self {
        Self { discipline, tally: Tally::default(), interrupts: false, promised: None, now: Time::ZERO }
    }

    /// The discipline has changed: the time that it named need not hold any more.
    pub(crate) const fn forget(&mut self) {
        self.promised = None;
    }

    /// Nothing leaves a picosecond before the time that was named.
    fn ask_early(&mut self, due: Time, fates: &mut Fates) {
        if self.discipline.traits().late_timer || due.0 - 1 <= self.now.0 {
            return;
        }
        let early = self.discipline.dequeue(Time(due.0 - 1), fates);
        self.tally.obey(Invariant::AskingAgain, early == Dequeue::NotBefore(due), || {
            format!("{early:?} a picosecond before {due:?}, the time that was named")
        });
    }
}

impl<D: Discipline> Discipline for Probe<D> {
    fn traits(&self) -> Traits {
        self.discipline.traits()
    }

    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        (self.now, self.promised) = (now, None);
        self.discipline.enqueue(now, packet, header, fates)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        let promised = self.promised.take() == Some(now);
        if promised {
            self.ask_early(now, fates);
        }
        self.now = now;
        let answer = self.discipline.dequeue(now, fates);
        // The packet that the time was named for may be dropped when it comes, and another may have
        // to wait longer.
        if promised && fates.is_empty() && !self.discipline.traits().waits_on {
            self.tally.obey(Invariant::AskingAgain, matches!(answer, Dequeue::Send(_)), || {
                format!("at {now:?}, the time that was named, it answers {answer:?}")
            });
        }
        if let Dequeue::NotBefore(time) = answer {
            self.promised = Some(time);
        }
        answer
    }

    fn held(&self) -> Held {
        self.discipline.held()
    }

    fn next_update(&self) -> Option<Time> {
        self.discipline.next_update()
    }

    fn update(&mut self, due: Time) {
        self.tally.obey(Invariant::AskingAgain, due >= self.now, || {
            format!("an update is due at {due:?}, before {:?}", self.now)
        });
        self.now = due;
        self.discipline.update(due);
        let again = self.discipline.next_update();
        self.tally.obey(Invariant::AskingAgain, again != Some(due), || format!("the update at {due:?} is due twice"));
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        let packet = self.discipline.remove(now, handle);
        if packet.is_some() {
            self.promised = None;
        }
        packet
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.promised = None;
        self.discipline.change(now, change)
    }

    fn may_pass(&self, time: Time) -> bool {
        self.discipline.may_pass(time)
    }

    fn preempts(&self) -> bool {
        self.interrupts && self.discipline.preempts()
    }

    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.discipline.put_back(now, unsent_bits);
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.discipline.readings(now, visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.discipline.waiting(visit);
    }

    fn decision(&self) -> Option<Decision> {
        self.discipline.decision()
    }
}
