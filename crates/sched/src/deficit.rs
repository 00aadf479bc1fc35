//! Rounds of credit: queues take turns, each turn gives a quantum, and what a turn leaves carries
//! over while the queue waits. The algorithm of deficit round robin on values it is given, for the
//! schedulers that use it.
//!
//! A cost and a quantum have the same unit, thousandths of bytes or packets. A round is a circle of
//! queues, so that the end of a turn is a step to the next one and moves no queue. Quanta that are
//! smaller than the heads would take many empty rounds: when no queue could send in a whole round,
//! the empty rounds that follow are applied at once, which leaves the same state as if they had
//! passed.

use crate::contract::Slot;
use crate::slots::entry;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// A queue's place in its round and its credit.
#[derive(Clone, Copy)]
struct Account {
    previous: u32,
    /// `NONE` while it is in no round.
    next: u32,
    /// D less the cost of its head, where D is the credit left from its last turn or what is left
    /// of this one. The head may be sent if this is not below zero. When it is sent, D loses its
    /// cost, so that this value loses the cost of the next head. D is below 2⁶³.
    left: i64,
    /// Q: what a turn gives.
    quantum: i64,
    /// Cost of the head packet.
    head: u64,
}

const OUT: Account = Account { previous: NONE, next: NONE, left: 0, quantum: 1, head: 0 };

const _: () = assert!(size_of::<Account>() <= 32);

/// Queues that take turns; one of them has the turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// The queue that has the turn, if any waits.
    turn: u32,
    queues: u32,
    /// Whether the turn has begun: its quantum was given.
    has_begun: bool,
}

impl Round {
    /// A round without queues.
    pub(crate) const fn new() -> Self {
        Self { turn: NONE, queues: 0, has_begun: false }
    }

    /// How many queues wait.
    pub(crate) const fn queues(&self) -> u32 {
        self.queues
    }
}

/// The accounts of all queues, which may take turns in different rounds.
#[derive(Default)]
pub(crate) struct Accounts {
    accounts: Vec<Account>,
}

impl Accounts {
    /// No queue is known.
    pub(crate) const fn new() -> Self {
        Self { accounts: Vec::new() }
    }

    /// Whether `slot` waits in a round.
    pub(crate) fn waits(&self, slot: Slot) -> bool {
        self.accounts.get(slot as usize).is_some_and(|account| account.next != NONE)
    }

    /// A turn gives `slot` this much from now on, at least 1 and at most 2⁶².
    #[inline]
    pub(crate) fn set_quantum(&mut self, slot: Slot, quantum: u64) {
        entry(&mut self.accounts, slot, OUT).quantum = quantum.clamp(1, 1 << 62) as i64;
    }

    /// D of `slot`, before its head is sent.
    pub(crate) fn deficit(&self, slot: Slot) -> u64 {
        self.accounts.get(slot as usize).map_or(0, |account| (account.left + account.head as i64) as u64)
    }

    /// `slot`, whose quantum is known and whose head costs `head`, takes the last turn, without
    /// credit.
    pub(crate) fn join(&mut self, round: &mut Round, slot: Slot, head: u64) {
        debug_assert!(!self.waits(slot));
        let (quantum, left) = (self.accounts[slot as usize].quantum, -(head as i64));
        let account = if round.queues == 0 {
            *round = Round { turn: slot, queues: 0, has_begun: false };
            Account { previous: slot, next: slot, left, quantum, head }
        } else {
            // The last turn is the one before the present one.
            let last = self.accounts[round.turn as usize].previous;
            self.accounts[round.turn as usize].previous = slot;
            self.accounts[last as usize].next = slot;
            Account { previous: last, next: round.turn, left, quantum, head }
        };
        self.accounts[slot as usize] = account;
        round.queues += 1;
    }

    /// `slot` leaves its round and loses its credit.
    #[inline]
    pub(crate) fn leave(&mut self, round: &mut Round, slot: Slot) {
        debug_assert!(self.waits(slot));
        let Account { previous, next, quantum, .. } = self.accounts[slot as usize];
        self.accounts[previous as usize].next = next;
        self.accounts[next as usize].previous = previous;
        self.accounts[slot as usize] = Account { quantum, ..OUT };
        round.queues -= 1;
        if round.turn == slot {
            (round.turn, round.has_begun) = (if next == slot { NONE } else { next }, false);
        }
    }

    /// The queue that has the turn and credit for its head. Repeated calls give the same answer
    /// until another method is called.
    #[inline]
    pub(crate) fn next(&mut self, round: &mut Round) -> Option<Slot> {
        if round.queues == 0 {
            return None;
        }
        let mut in_vain = 0;
        loop {
            let account = &mut self.accounts[round.turn as usize];
            if !round.has_begun {
                account.left += account.quantum;
                round.has_begun = true;
            }
            if account.left >= 0 {
                return Some(round.turn);
            }
            (round.turn, round.has_begun) = (account.next, false);
            in_vain += 1;
            if in_vain == round.queues {
                self.skip_empty_rounds(round.turn);
                in_vain = 0;
            }
        }
    }

    /// Cost of the head packet of `slot`, if one waits.
    pub(crate) fn head(&self, slot: Slot) -> u64 {
        self.accounts[slot as usize].head
    }

    /// `slot` has sent its head; `head` is what the next one costs, if there is one.
    #[inline(always)]
    pub(crate) fn sent(&mut self, round: &mut Round, slot: Slot, head: Option<u64>) {
        let account = &mut self.accounts[slot as usize];
        debug_assert!(account.left >= 0, "it had credit for its head");
        match head {
            Some(head) => (account.left, account.head) = (account.left - head as i64, head),
            None => self.leave(round, slot),
        }
    }

    /// The head of `slot` went without being sent; `head` is what the next one costs, if there is
    /// one.
    #[inline(always)]
    pub(crate) fn replaced(&mut self, round: &mut Round, slot: Slot, head: Option<u64>) {
        match head {
            Some(head) => {
                let account = &mut self.accounts[slot as usize];
                account.left += account.head as i64 - head as i64;
                account.head = head;
            }
            None => self.leave(round, slot),
        }
    }

    /// No queue of the round of `first` has credit for its head: gives all of them the quanta of
    /// the rounds in which that stays so, so that some queue can send in the next one.
    #[cold]
    fn skip_empty_rounds(&mut self, first: Slot) {
        let mut rounds = i64::MAX;
        let mut at = first;
        loop {
            let account = &self.accounts[at as usize];
            let missing = account.left.unsigned_abs();
            rounds = rounds.min(missing.div_ceil(account.quantum.unsigned_abs()) as i64);
            at = account.next;
            if at == first {
                break;
            }
        }
        loop {
            let account = &mut self.accounts[at as usize];
            // It stays below zero: the product is less than what is missing.
            account.left += (rounds - 1) * account.quantum;
            at = account.next;
            if at == first {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_turn_gives_a_quantum_and_what_it_leaves_carries_over() {
        let (mut accounts, mut round) = (Accounts::new(), Round::new());
        accounts.set_quantum(3, 10);
        accounts.set_quantum(8, 4);
        accounts.join(&mut round, 3, 6);
        accounts.join(&mut round, 8, 4);
        assert_eq!((accounts.next(&mut round), accounts.next(&mut round)), (Some(3), Some(3)));
        accounts.sent(&mut round, 3, Some(6));
        assert_eq!(accounts.deficit(3), 4);
        assert_eq!(accounts.next(&mut round), Some(8), "6 is more than the 4 that are left");
        accounts.sent(&mut round, 8, Some(4));
        assert_eq!(accounts.next(&mut round), Some(3));
        accounts.sent(&mut round, 3, Some(6));
        accounts.sent(&mut round, 3, Some(6));
        assert_eq!(accounts.deficit(3), 2, "4 + 10 = 6 + 6 + 2");
        accounts.leave(&mut round, 3);
        assert_eq!((accounts.next(&mut round), accounts.deficit(3)), (Some(8), 0));
        accounts.sent(&mut round, 8, None);
        assert_eq!((accounts.next(&mut round), round.queues()), (None, 0));
    }

    #[test]
    fn empty_rounds_are_skipped_and_leave_what_they_would_have_left() {
        let (heads, quanta) = ([1000, 4_000_000_000, 77], [7, 3_000_000, 5]);
        let (mut accounts, mut round) = (Accounts::new(), Round::new());
        for slot in 0..3 {
            accounts.set_quantum(slot, quanta[slot as usize]);
            accounts.join(&mut round, slot, heads[slot as usize]);
        }
        // Turn by turn, as the source says.
        let (mut plain, mut turn) = ([0; 3], 0);
        let mut expected = vec![];
        while expected.len() < 500 {
            plain[turn] += quanta[turn];
            while plain[turn] >= heads[turn] && expected.len() < 500 {
                plain[turn] -= heads[turn];
                expected.push(turn as Slot);
            }
            turn = (turn + 1) % 3;
        }
        for slot in expected {
            assert_eq!(accounts.next(&mut round), Some(slot));
            accounts.sent(&mut round, slot, Some(heads[slot as usize]));
        }
    }
}
