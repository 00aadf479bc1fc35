//! The invariants that every discipline keeps, the count of checks of each, and what is told of a
//! breach.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};

/// What must hold after every call, whatever the discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Arrived = sent + dropped + held, and each packet is sent, dropped or removed once.
    Conservation,
    /// No more packets wait than may, and no packet is dropped for want of room while there is
    /// room.
    Limit,
    /// Packets of a flow leave in the order in which they came.
    FlowOrder,
    /// A packet goes whenever one is held.
    WorkConservation,
    /// A packet comes out as it went in, but for marks that it accepts.
    Packets,
    /// A handle is given for what is held, and names one packet, once.
    Handles,
    /// The same calls have the same answers.
    SameAnswers,
    /// Asking again does no harm, and a time that is named is kept to the picosecond, but for a
    /// timer that may be late.
    AskingAgain,
    /// When nothing more comes, all that is held leaves.
    Leaving,
    /// No call panics.
    NoPanic,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Conservation,
        Self::Limit,
        Self::FlowOrder,
        Self::WorkConservation,
        Self::Packets,
        Self::Handles,
        Self::SameAnswers,
        Self::AskingAgain,
        Self::Leaving,
        Self::NoPanic,
    ];

    /// A few words for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conservation => "conservation",
            Self::Limit => "limit",
            Self::FlowOrder => "order within a flow",
            Self::WorkConservation => "work conservation",
            Self::Packets => "packets unchanged",
            Self::Handles => "handles",
            Self::SameAnswers => "same calls, same answers",
            Self::AskingAgain => "asking again",
            Self::Leaving => "everything leaves",
            Self::NoPanic => "no panic",
        }
    }
}

/// An invariant that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The invariant.
    pub invariant: Invariant,
    /// What happened, in one line.
    pub message: String,
}

/// What is told that it broke an invariant.
pub trait Told: Send + Sync {
    /// `message` says which invariant was broken, at which call, and how. Must not return.
    fn broke(&self, message: &str) -> !;
}

/// The calls on a discipline of which each is checked, and what is told of a breach.
pub struct Watch {
    name: &'static str,
    told: Box<dyn Told>,
    calls: AtomicUsize,
    /// The kind of the last call, as a number of [`CALLS`].
    call: AtomicUsize,
}

/// The calls that change a discipline.
const CALLS: [&str; 6] = ["enqueue", "dequeue", "update", "remove", "change", "put_back"];

impl Watch {
    /// The watch over a discipline of which a part is called `name`; that is `told`.
    #[must_use]
    pub fn new(name: &'static str, told: Box<dyn Told>) -> Arc<Self> {
        Arc::new(Self { name, told, calls: AtomicUsize::new(0), call: AtomicUsize::new(0) })
    }

    /// A call begins.
    pub fn called(&self, call: &str) {
        let kind = CALLS.iter().position(|known| *known == call).unwrap_or_default();
        self.call.store(kind, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// How many calls have begun.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// The call that goes on broke `invariant`: `says` how.
    pub fn broke(&self, invariant: Invariant, says: &str) -> ! {
        let (number, call) = (self.calls(), CALLS[self.call.load(Ordering::Relaxed)]);
        let (name, invariant) = (self.name, invariant.name());
        self.told.broke(&format!("{name} broke an invariant, {invariant}, at call {number}, {call}: {says}"))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("name", &self.name).field("calls", &self.calls).finish_non_exhaustive()
    }
}

/// How often each invariant was checked, and the first fault.
#[derive(Debug, Default)]
pub struct Tally {
    /// What is told of a fault, in place of a panic.
    watch: Option<Arc<Watch>>,
    checks: [Cell<u64>; Invariant::ALL.len()],
    fault: RefCell<Option<Fault>>,
    exempt: RefCell<Vec<Fault>>,
}

impl Tally {
    /// The tally of a discipline under `watch`.
    #[must_use]
    pub fn watched(watch: Arc<Watch>) -> Self {
        Self { watch: Some(watch), ..Self::default() }
    }

    /// Counts a check of `invariant`; `says` describes what happened if `holds` is false.
    ///
    /// # Panics
    /// If the invariant does not hold. The fault stays here for a caller that catches the panic.
    #[track_caller]
    pub fn obey(&self, invariant: Invariant, holds: bool, says: impl FnOnce() -> String) {
        self.count(invariant, 1);
        if !holds {
            let message = says();
            if let Some(watch) = &self.watch {
                watch.broke(invariant, &message);
            }
            self.fault.borrow_mut().get_or_insert(Fault { invariant, message: message.clone() });
            panic!("{}: {message}", invariant.name());
        }
    }

    /// As [`Tally::obey`] for an invariant that the subject may break: the first example is kept.
    pub fn may_obey(&self, invariant: Invariant, holds: bool, says: impl FnOnce() -> String) {
        self.count(invariant, 1);
        let mut exempt = self.exempt.borrow_mut();
        if !holds && exempt.iter().all(|fault| fault.invariant != invariant) {
            exempt.push(Fault { invariant, message: says() });
        }
    }

    /// Counts `times` further checks of `invariant`.
    pub fn count(&self, invariant: Invariant, times: u64) {
        let count = &self.checks[invariant as usize];
        count.set(count.get() + times);
    }

    /// Number of checks of `invariant`.
    #[must_use]
    pub fn checks(&self, invariant: Invariant) -> u64 {
        self.checks[invariant as usize].get()
    }

    /// The first fault.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.fault.borrow().clone()
    }

    /// The first example of each invariant that may be broken and was.
    #[must_use]
    pub fn exempt(&self) -> Vec<Fault> {
        self.exempt.borrow().clone()
    }
}
