//! The urgency that a sender writes on its packets for gateways: the rest of the transfer, and the
//! deadline.
//!
//! Source: Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013
//! (section 4: the host sets a packet's priority to the remaining size of its flow when it sends
//! it).
//! Chosen: the rest is the packet itself and all bytes of its transfer that were not sent before,
//! at the time of this transmission. So a retransmission carries the rest of that time. A file
//! without end has the greatest number. Traffic that is given packet by packet has 0, which means
//! unknown. The deadline is a flow's `deadline` after the traffic released the packet's transfer,
//! or the packet itself if it has no transfer. A retransmission has the deadline of the first
//! transmission.

use crate::plan::FlowPlan;
use crate::transport::messages::Transmission;
use crate::transport::supply::Supply;
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// The urgency of a flow's packets, for flows that have one.
#[derive(Debug)]
pub(super) struct Urgency {
    /// Whether packets carry the rest of their transfer.
    tells_remaining: bool,
    /// The time from release to deadline.
    deadline: Option<Time>,
    /// When its file or its present transfer was released.
    released: Time,
    /// If packets are released one by one: the release times of those not sent yet.
    waiting: Option<VecDeque<Time>>,
    /// The deadlines of packets that may be retransmitted, with their numbers, sorted by number.
    sent: Option<VecDeque<(u64, Time)>>,
}

/// What a packet carries: the rest of its transfer in bytes, and its deadline in picoseconds; 0 for
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) remaining: u32,
    pub(super) due: u64,
}

impl Urgency {
    /// The urgency of `flow`, whose traffic begins at `start`: a file is released then, as a whole.
    pub(super) fn of(flow: &FlowPlan, start: Time) -> Self {
        let traffic = &flow.entry.traffic;
        let by_packets = traffic.offers_packets() && traffic.transfer_packet().is_none();
        let new = Self::new(flow.tells_remaining, flow.entry.deadline, by_packets, flow.entry.transport.is_reliable());
        Self { released: start, ..new }
    }

    /// `repeats`: packets may be retransmitted. `by_packets`: packets are released one by one.
    pub(super) fn new(tells_remaining: bool, deadline: Option<Time>, by_packets: bool, repeats: bool) -> Self {
        let waiting = (by_packets && deadline.is_some()).then(VecDeque::new);
        let sent = (waiting.is_some() && repeats).then(VecDeque::new);
        Self { tells_remaining, deadline, released: Time::ZERO, waiting, sent }
    }

    /// The traffic releases a packet now, or the transfer whose packets follow.
    pub(super) fn release(&mut self, now: Time) {
        match &mut self.waiting {
            Some(waiting) => waiting.push_back(now),
            None => self.released = now,
        }
    }

    /// The stamp of `transmission`, which was just taken from `supply`.
    pub(super) fn stamp(&mut self, transmission: &Transmission, is_control: bool, supply: &Supply) -> Stamp {
        let own = if is_control { 0 } else { transmission.length };
        let remaining = if self.tells_remaining { remaining(supply, own) } else { 0 };
        let due = self.deadline.map_or(0, |deadline| self.release_of(transmission.sequence, is_control, deadline).0);
        Stamp { remaining, due }
    }

    /// The deadline of the packet `sequence`.
    fn release_of(&mut self, sequence: u64, is_control: bool, deadline: Time) -> Time {
        let Some(waiting) = &mut self.waiting else { return self.released.saturating_add(deadline) };
        let of = |release: &Time| release.saturating_add(deadline);
        if is_control {
            // A control packet (SYN) has the deadline of the first waiting packet.
            return waiting.front().map_or(Time::NEVER, of);
        }
        let Some(sent) = &mut self.sent else { return waiting.pop_front().as_ref().map_or(Time::NEVER, of) };
        if let Ok(at) = sent.binary_search_by_key(&sequence, |(number, _)| *number) {
            return sent[at].1;
        }
        let due = waiting.pop_front().as_ref().map_or(Time::NEVER, of);
        sent.push_back((sequence, due));
        due
    }

    /// All packets before number `cumulative` have arrived.
    pub(super) fn acknowledged(&mut self, cumulative: u64) {
        if let Some(sent) = &mut self.sent {
            while sent.front().is_some_and(|(number, _)| *number < cumulative) {
                sent.pop_front();
            }
        }
    }
}

/// The rest of the transfer, including a packet of `own` bytes that was just taken from `supply`;
/// capped at the field's maximum.
fn remaining(supply: &Supply, own: u32) -> u32 {
    let left = match supply {
        Supply::Transfer { left, .. } => *left,
        Supply::Ready { length, left } => left.saturating_mul(u64::from(*length)),
        Supply::Waiting(_) => return 0,
    };
    u32::try_from(left.saturating_add(u64::from(own))).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn packet(sequence: u64, length: u32) -> Transmission {
        Transmission::new(sequence, length)
    }

    #[test]
    fn what_remains_is_the_packet_and_what_was_not_sent() {
        let mut urgency = Urgency::new(true, None, false, true);
        let mut supply = Supply::Transfer { length: 1000, left: 2500 };
        let mut told = Vec::new();
        for sequence in 0..3 {
            let length = supply.take().expect("it is not empty");
            told.push(urgency.stamp(&packet(sequence, length), false, &supply));
        }
        assert_eq!(told.iter().map(|stamp| stamp.remaining).collect::<Vec<_>>(), [2500, 1500, 500]);
        // A retransmission carries the rest of the present, not that of the first transmission.
        assert_eq!(urgency.stamp(&packet(0, 1000), false, &supply), Stamp { remaining: 1000, due: 0 });
        let opening = Supply::Transfer { length: 1000, left: 2500 };
        assert_eq!(urgency.stamp(&packet(0, 40), true, &opening).remaining, 2500, "a SYN is no part of it");
        let endless = Supply::Ready { length: 1000, left: u64::MAX };
        assert_eq!(urgency.stamp(&packet(9, 1000), false, &endless).remaining, u32::MAX);
        let file = Supply::Ready { length: 1000, left: 4 };
        assert_eq!(urgency.stamp(&packet(9, 1000), false, &file).remaining, 5000);
        assert_eq!(urgency.stamp(&packet(9, 1000), false, &Supply::empty()).remaining, 0, "it is not known");
    }

    #[test]
    fn packets_are_due_by_their_own_release_or_that_of_their_transfer_and_again_at_the_same_time() {
        let deadline = Some(Time(100));
        let supply = Supply::empty();
        let mut packets = Urgency::new(false, deadline, true, true);
        [10, 20, 30].into_iter().for_each(|at| packets.release(Time(at)));
        let mut due = |sequence, is_control| packets.stamp(&packet(sequence, 1), is_control, &supply).due;
        assert_eq!(
            [due(0, true), due(1, false), due(2, false), due(1, false), due(3, false)],
            [110, 110, 120, 110, 130]
        );
        packets.acknowledged(3);
        assert_eq!(packets.sent.as_ref().map(VecDeque::len), Some(1));

        let mut transfers = Urgency::new(true, deadline, false, true);
        transfers.release(Time(50));
        let mut due = |sequence| transfers.stamp(&packet(sequence, 1), false, &supply).due;
        assert_eq!([due(0), due(1), due(0)], [150; 3]);

        let mut once = Urgency::new(false, deadline, true, false);
        [10, 20].into_iter().for_each(|at| once.release(Time(at)));
        assert_eq!([0, 1].map(|sequence| once.stamp(&packet(sequence, 1), false, &supply).due), [110, 120]);
    }
}
