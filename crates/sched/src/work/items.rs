//! The items that wait, in one list for each line, and the charges of those that run; O(1) for
//! everything.

use super::account::Tag;
use super::policy::{Charge, Line};
use alloc::vec::Vec;

/// The name of an item from its admission until it is done. A name that is no longer of use does no
/// harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    index: u32,
    /// The number of the item among all items ever admitted.
    serial: u64,
}

const NONE: u32 = u32::MAX;

/// The waiting items of a line.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    first: u32,
    last: u32,
    len: u32,
}

impl Waiting {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE, len: 0 };

    pub(super) const fn len(&self) -> u32 {
        self.len
    }
}

/// What is asked of an item that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The slot of its tenant.
    pub(super) tenant: u32,
    /// The line that it joined.
    pub(super) line: Line,
    pub(super) seats: u32,
    pub(super) guess: Option<u64>,
    /// The part of its service that is known beside its cost.
    pub(super) size: u64,
    /// The virtual time at its admission.
    pub(super) arrival: Tag,
    /// When it was admitted, by the caller's clock.
    pub(super) since: u64,
}

/// What is kept of an item that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    /// What it was thought to cost when it started.
    pub(super) guess: u64,
    pub(super) charge: Charge,
}

enum State<I> {
    Free,
    Waits(I),
    Runs(Running),
}

struct Entry<I> {
    serial: u64,
    asked: Asked,
    state: State<I>,
    previous: u32,
    next: u32,
}

/// All items.
pub(super) struct Items<I> {
    entries: Vec<Entry<I>>,
    free: Vec<u32>,
    admitted: u64,
}

impl<I> Items<I> {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), admitted: 0 }
    }

    /// `item` waits at the end of `line`.
    pub(super) fn push(&mut self, line: &mut Waiting, asked: Asked, item: I) -> Ticket {
        let serial = self.admitted;
        self.admitted += 1;
        let entry = Entry { serial, asked, state: State::Waits(item), previous: line.last, next: NONE };
        let index = match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = entry;
                index
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        match self.entries.get_mut(line.last as usize) {
            Some(last) => last.next = index,
            None => line.first = index,
        }
        line.last = index;
        line.len += 1;
        Ticket { index, serial }
    }

    /// The first item of `line`: its ticket, whose serial number gives the order of admission, and
    /// what it asks.
    pub(super) fn first(&self, line: &Waiting) -> Option<(Ticket, Asked)> {
        let entry = self.entries.get(line.first as usize)?;
        Some((Ticket { index: line.first, serial: entry.serial }, entry.asked))
    }

    /// The first item of `line` starts.
    pub(super) fn start(&mut self, line: &mut Waiting, running: Running) -> Option<I> {
        let index = line.first;
        self.unlink(line, index);
        match core::mem::replace(&mut self.entries.get_mut(index as usize)?.state, State::Runs(running)) {
            State::Waits(item) => Some(item),
            State::Free | State::Runs(_) => None,
        }
    }

    /// What the item of `ticket` asks, if it waits.
    pub(super) fn waiting(&self, ticket: Ticket) -> Option<Asked> {
        let entry = self.named(ticket)?;
        matches!(entry.state, State::Waits(_)).then_some(entry.asked)
    }

    /// Takes out an item that waits in `line`.
    pub(super) fn remove(&mut self, line: &mut Waiting, ticket: Ticket) -> Option<I> {
        self.waiting(ticket)?;
        self.unlink(line, ticket.index);
        match self.release(ticket.index) {
            State::Waits(item) => Some(item),
            State::Free | State::Runs(_) => None,
        }
    }

    /// What an item that runs asked, and what is kept of it, to be changed.
    pub(super) fn running(&mut self, ticket: Ticket) -> Option<(Asked, &mut Running)> {
        let entry = self.entries.get_mut(ticket.index as usize).filter(|entry| entry.serial == ticket.serial)?;
        match &mut entry.state {
            State::Runs(running) => Some((entry.asked, running)),
            State::Free | State::Waits(_) => None,
        }
    }

    /// Forgets an item that runs; what it asked and what was kept of it.
    pub(super) fn end(&mut self, ticket: Ticket) -> Option<(Asked, Running)> {
        let (asked, running) = self.running(ticket).map(|(asked, running)| (asked, *running))?;
        self.release(ticket.index);
        Some((asked, running))
    }

    fn named(&self, ticket: Ticket) -> Option<&Entry<I>> {
        self.entries.get(ticket.index as usize).filter(|entry| entry.serial == ticket.serial)
    }

    fn release(&mut self, index: u32) -> State<I> {
        self.free.push(index);
        core::mem::replace(&mut self.entries[index as usize].state, State::Free)
    }

    fn unlink(&mut self, line: &mut Waiting, index: u32) {
        let Some(entry) = self.entries.get(index as usize) else { return };
        let (previous, next) = (entry.previous, entry.next);
        match self.entries.get_mut(previous as usize) {
            Some(entry) => entry.next = next,
            None => line.first = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(entry) => entry.previous = previous,
            None => line.last = previous,
        }
        line.len -= 1;
    }
}

impl Ticket {
    /// As two numbers, for other languages, which cannot hold a ticket.
    #[must_use]
    pub const fn to_parts(self) -> (u32, u64) {
        (self.index, self.serial)
    }

    /// From what [`to_parts`](Self::to_parts) gave. Other numbers name nothing, or another item.
    #[must_use]
    pub const fn from_parts(index: u32, serial: u64) -> Self {
        Self { index, serial }
    }

    /// Its place in the order of admission.
    pub(super) const fn serial(self) -> u64 {
        self.serial
    }
}
