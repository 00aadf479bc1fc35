//! The turns of DRR++: a list of new and a list of old queues, each with a credit (RFC 8290,
//! sections 4.1 and 4.2).
//!
//! Credits and quanta are whole numbers of a unit that the user chooses.

use crate::contract::Slot;
use crate::ring::Ring;
use crate::slots::entry;
use crate::waiting::Decision;
use alloc::vec::Vec;

/// The list that a queue is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Listed {
    /// The queue is in neither list.
    #[default]
    Out,
    /// It became active a short while ago.
    New,
    /// It takes turns.
    Old,
}

/// Where a new queue goes that has credit left and nothing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptied {
    /// Into the list of old ones (RFC 8290, section 4.2).
    Passes,
    /// Into that list if there are others, else out (`fq_codel_dequeue` of Linux).
    PassesIfOthers,
}

/// The steps of a card that send from a queue of the new list and from one of the old list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sends {
    pub(crate) new: u8,
    pub(crate) old: u8,
}

/// View of the queues for the turns.
pub(crate) trait View {
    /// Whether a packet waits in `queue`.
    fn waits(&self, queue: Slot) -> bool;
    /// What `queue` may send in a turn; above 0.
    fn quantum(&self, queue: Slot) -> i64;
    /// It was the turn of `queue`, which had credit and nothing to send.
    fn found_empty(&mut self, _queue: Slot) {}
    /// `queue` now stands elsewhere.
    fn moved(&mut self, _queue: Slot, _to: Listed) {}
}

#[derive(Clone, Copy, Default)]
struct Account {
    listed: Listed,
    credit: i64,
}

/// The two lists and the credits.
pub(crate) struct Turns {
    accounts: Vec<Account>,
    new: Ring,
    old: Ring,
    /// Queues in the old list.
    old_count: usize,
    emptied: Emptied,
}

impl Turns {
    /// Both lists empty.
    pub(crate) const fn new() -> Self {
        Self::with(Emptied::Passes)
    }

    /// Both lists empty; a new queue that empties goes where `emptied` says.
    pub(crate) const fn with(emptied: Emptied) -> Self {
        Self { accounts: Vec::new(), new: Ring::new(), old: Ring::new(), old_count: 0, emptied }
    }

    /// The list that `queue` is in.
    pub(crate) fn listed(&self, queue: Slot) -> Listed {
        self.accounts.get(queue as usize).map_or(Listed::Out, |account| account.listed)
    }

    /// `queue` has its first packet; whether it is new now, with `quantum` to send.
    pub(crate) fn begin(&mut self, queue: Slot, quantum: i64) -> bool {
        let account = entry(&mut self.accounts, queue, Account::default());
        if account.listed != Listed::Out {
            return false;
        }
        *account = Account { listed: Listed::New, credit: quantum };
        self.new.push_back(queue);
        true
    }

    /// `queue` has sent `amount`.
    pub(crate) fn charge(&mut self, queue: Slot, amount: i64) {
        self.accounts[queue as usize].credit -= amount;
    }

    /// Why `queue` sends, which [`Turns::next`] has named. `per_byte` of credit are a byte.
    pub(crate) fn decision(&self, queue: Slot, per_byte: i64, sends: Option<Sends>) -> Decision {
        let Account { listed, credit } = self.accounts[queue as usize];
        let step = sends.map(|sends| if listed == Listed::New { sends.new } else { sends.old });
        Decision { step, ..Decision::by("turn", queue).with_value(credit as f64 / per_byte as f64) }
    }

    /// The queue that sends next. Repeated calls give the same answer.
    pub(crate) fn next(&mut self, view: &mut impl View) -> Option<Slot> {
        let mut turns = 0;
        loop {
            if let Some(queue) = self.new.front() {
                if self.turn(queue, view) {
                    return Some(queue);
                }
                continue;
            }
            let queue = self.old.front()?;
            if self.turn(queue, view) {
                return Some(queue);
            }
            turns += 1;
            if turns > self.old_count {
                self.skip_rounds(view);
                turns = 0;
            }
        }
    }

    /// Nothing waits: empties both lists, as some rounds would.
    pub(crate) fn clear(&mut self, view: &mut impl View) {
        for list in [&mut self.new, &mut self.old] {
            while let Some(queue) = list.front() {
                list.remove(queue);
                self.accounts[queue as usize].listed = Listed::Out;
                view.found_empty(queue);
                view.moved(queue, Listed::Out);
            }
        }
        self.old_count = 0;
    }

    /// Deals with the queue that has the turn. Returns whether it may send.
    #[inline]
    fn turn(&mut self, queue: Slot, view: &mut impl View) -> bool {
        let account = &mut self.accounts[queue as usize];
        let has_credit = account.credit > 0;
        if has_credit && view.waits(queue) {
            return true;
        }
        if has_credit {
            view.found_empty(queue);
        }
        let leaves = has_credit && self.emptied == Emptied::PassesIfOthers && self.old_count == 0;
        match account.listed {
            Listed::New if leaves => {
                account.listed = Listed::Out;
                self.new.remove(queue);
                view.moved(queue, Listed::Out);
            }
            Listed::New => {
                account.listed = Listed::Old;
                self.new.remove(queue);
                self.old.push_back(queue);
                self.old_count += 1;
                view.moved(queue, Listed::Old);
            }
            // It is empty and has had its turn.
            _ if has_credit => {
                account.listed = Listed::Out;
                self.old.remove(queue);
                self.old_count -= 1;
                view.moved(queue, Listed::Out);
            }
            // It is the first one: the others move up.
            _ => self.old.rotate(),
        }
        if !has_credit {
            self.accounts[queue as usize].credit += view.quantum(queue);
        }
        false
    }

    /// In a whole round no queue could send: gives all queues the quanta of the rounds until one
    /// may, less one.
    fn skip_rounds(&mut self, view: &impl View) {
        let mut least = i64::MAX;
        self.each_old(|queue, account| {
            if view.waits(queue) {
                let missing = (1 - account.credit).max(0);
                least = least.min((missing as u64).div_ceil(view.quantum(queue) as u64) as i64);
            }
        });
        if (2..i64::MAX).contains(&least) {
            // Only a queue that is empty, and leaves at its turn, gets more than it is in debt.
            self.each_old(|queue, account| {
                let more = (least - 1).saturating_mul(view.quantum(queue));
                account.credit = account.credit.saturating_add(more);
            });
        }
    }

    /// Goes once through the old list.
    fn each_old(&mut self, mut act: impl FnMut(Slot, &mut Account)) {
        for _ in 0..self.old_count {
            let Some(queue) = self.old.front() else { break };
            act(queue, &mut self.accounts[queue as usize]);
            self.old.rotate();
        }
    }
}
