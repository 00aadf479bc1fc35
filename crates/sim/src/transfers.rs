//! Transfers over connections: which copy of a flow carries which transfer, and since when.
//!
//! The copies are connections with headers and access lines of their own that last as long as the
//! run. A transfer that begins on one finds it like a new connection (`Sender::begin`); the numbers
//! of its packets continue from those before.

use crate::observe::transfers::TransferCounts;
use crate::plan::TransfersPlan;
use crate::plan::ideal::Ideal;
use crate::traffic::{Transfer, Transfers};
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// A transfer in progress.
#[derive(Clone, Copy, Debug)]
struct Ongoing {
    transfer: Transfer,
    begun: Time,
}

/// The transfers of a flow's copies.
pub struct Group {
    traffic: Box<dyn Transfers>,
    /// The number of the first copy's flow.
    pub first: u32,
    /// Bytes of a packet.
    pub packet: u32,
    ideal: Ideal,
    /// The time within which each transfer is to be completed.
    deadline: Option<Time>,
    /// Copies without a transfer, the one that has been idle longest first.
    idle: VecDeque<u32>,
    /// By copy: its transfer.
    ongoing: Vec<Option<Ongoing>>,
    /// The counts of transfers.
    pub counts: TransferCounts,
}

impl Group {
    /// A group in which all copies of `plan` are idle; a transfer is to be completed within
    /// `deadline`.
    #[must_use]
    pub fn new(traffic: Box<dyn Transfers>, plan: &TransfersPlan, deadline: Option<Time>) -> Self {
        let TransfersPlan { first, count, packet, ref ideal, .. } = *plan;
        let (packet, ideal, ongoing) = (packet.0 as u32, ideal.clone(), vec![None; count as usize]);
        let (idle, counts) = ((0..count).collect(), TransferCounts::default());
        Self { traffic, first, packet, ideal, deadline, idle, ongoing, counts }
    }

    /// When the next transfer begins.
    #[must_use]
    pub fn next_time(&self) -> Time {
        self.traffic.next_time()
    }

    /// The next transfer that is due by now: the number of its flow, and its bytes. Transfers for
    /// which no copy is idle are counted as refused and skipped.
    pub fn begin(&mut self, now: Time) -> Option<(u32, u64)> {
        while self.traffic.next_time() <= now {
            let transfer = self.traffic.begin(now)?;
            let Some(copy) = transfer.copy.or_else(|| self.idle.pop_front()) else {
                self.counts.refused += 1;
                self.traffic.ended(now, transfer.tag);
                continue;
            };
            debug_assert!(self.ongoing[copy as usize].is_none(), "copy {copy} has a transfer already");
            self.ongoing[copy as usize] = Some(Ongoing { transfer, begun: now });
            self.counts.begun(now);
            return Some((self.first + copy, transfer.bytes));
        }
        None
    }

    /// All that `flow` had to send is acknowledged. Returns whether that ends a transfer.
    pub fn complete(&mut self, now: Time, flow: u32) -> bool {
        let copy = flow - self.first;
        let Some(Ongoing { transfer, begun }) = self.ongoing[copy as usize].take() else { return false };
        self.counts.completed(now, transfer.bytes, now - begun, self.ideal.of(transfer.bytes), self.deadline);
        if transfer.copy.is_none() {
            self.idle.push_back(copy);
        }
        self.traffic.ended(now, transfer.tag);
        true
    }
}
