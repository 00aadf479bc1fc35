//! The least time of a transfer.

use super::LinePlan;
use crate::net::path::Path;
use fairq_sched::units::{Bytes, Rate, Time};
use std::cmp::Reverse;

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
