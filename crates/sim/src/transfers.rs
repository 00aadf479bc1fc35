//! Transfers over connections: which copy of a flow carries which transfer, since when, and how
//! long it would take alone.
//!
//! The copies are connections with headers and access lines of their own that last as long as the
//! run. A transfer that begins on one finds it like a new connection (`Sender::begin`); the numbers
//! of its packets continue from those before.

use crate::build::{LinePlan, TransfersPlan};
use crate::net::path::Path;
use crate::observe::transfers::TransferCounts;
use crate::traffic::{Transfer, Transfers};
use fairq_sched::units::{Bytes, Rate, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The least time of a transfer, alone on its path and without any limit by its transport. It is
/// the sum of all bytes through the slowest line, the first packet through the lines before that,
/// the last packet through the lines after it, one acknowledgement back, and all delays there and
/// back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ideal {
    packet: u64,
    slowest: Option<Sends>,
    before: Vec<Sends>,
    after: Vec<Sends>,
    /// The part that does not depend on the size.
    fixed: Time,
}

/// The sending speed of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sends {
    rate: Rate,
    /// Bytes that the link layer adds to a packet.
    header: u64,
}

impl Sends {
    fn of(line: &LinePlan) -> Option<Self> {
        Some(Self { rate: line.rate?, header: line.link_header.into() })
    }

    /// The time for `bytes` in `packets`.
    fn time(self, bytes: u64, packets: u64) -> Time {
        let headers = self.header.saturating_mul(packets);
        self.rate.time_of_bits(bytes.saturating_add(headers).saturating_mul(8))
    }
}

impl Ideal {
    /// The ideal over `path`, in packets of `packet`.
    #[must_use]
    pub fn new(lines: &[LinePlan], path: &Path, packet: Bytes, acknowledgement: u32) -> Self {
        let sends: Vec<Sends> = path.forward().iter().filter_map(|line| Sends::of(&lines[*line as usize])).collect();
        // Of equally slow lines the first.
        let slowest = (0..sends.len()).min_by_key(|at| Reverse(sends[*at].time(packet.0, 1)));
        let (before, after) = slowest.map_or((&[][..], &[][..]), |at| (&sends[..at], &sends[at + 1..]));
        let delays = path.forward().iter().chain(path.backward()).map(|line| lines[*line as usize].delay);
        let back = path.backward().iter().filter_map(|line| Sends::of(&lines[*line as usize]));
        let back = back.map(|line| line.time(acknowledgement.into(), 1));
        let fixed = delays.chain(back).fold(Time::ZERO, Time::saturating_add);
        Self {
            packet: packet.0,
            slowest: slowest.map(|at| sends[at]),
            before: before.to_vec(),
            after: after.to_vec(),
            fixed,
        }
    }

    /// The ideal time of a transfer of `bytes`.
    #[must_use]
    pub fn of(&self, bytes: u64) -> Time {
        let first = bytes.min(self.packet);
        let last = match bytes % self.packet {
            0 => first,
            rest => rest,
        };
        let slowest = self.slowest.iter().map(|line| line.time(bytes, bytes.div_ceil(self.packet.max(1))));
        let before = self.before.iter().map(|line| line.time(first, 1));
        let after = self.after.iter().map(|line| line.time(last, 1));
        slowest.chain(before).chain(after).fold(self.fixed, Time::saturating_add)
    }
}

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
