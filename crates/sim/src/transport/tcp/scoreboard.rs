//! What was sent and is not yet acknowledged in order: which packets have arrived, which are lost,
//! how many are in flight.
//!
//! Source: RFC 6675, sections 2 to 4 (scoreboard, pipe, IsLost), in packets instead of bytes. Each
//! packet has a number of copies in flight; the pipe is their sum, updated at each change. Every
//! list is walked once over a packet's life, so that a window of any size costs the same for each
//! packet.
//! Cost: O(1) a packet in order; O(log n) among n runs that arrived out of order, or n lost
//! packets.

use crate::transport::ranges::{Ranges, Run};
use fairq_sched::prefetch;
use fairq_sched::units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When it was sent last.
    pub sent: Time,
    /// The number of that transmission among all of the connection.
    pub transmission: u64,
    /// Bytes on the line.
    pub length: u32,
    /// Copies in flight.
    copies: u8,
    /// Whether it arrived out of order.
    is_sacked: bool,
    /// Whether it was found lost.
    fate: Fate,
    /// Whether it was sent more than once.
    pub is_repeated: bool,
}

/// State of a packet that has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It was not found lost.
    Open,
    /// It is lost and has not been sent again since.
    Lost,
    /// It was found lost and sent again.
    SentAgain,
}

impl Packet {
    /// Whether it is lost and has not been sent again since.
    const fn is_lost(&self) -> bool {
        matches!(self.fate, Fate::Lost)
    }

    /// Whether it was found lost, sent again or not.
    const fn was_lost(&self) -> bool {
        !matches!(self.fate, Fate::Open)
    }

    /// Whether a copy of it is in flight, as far as is known.
    #[must_use]
    pub const fn is_in_flight(&self) -> bool {
        self.copies > 0
    }
}

/// What an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Packets acknowledged in order for the first time.
    pub newly: u64,
    /// Packets newly known to have arrived, in order or not.
    pub delivered: u64,
    /// The one of these that was sent last.
    pub latest: Option<Latest>,
    /// Whether a packet that was sent once arrived after one with a higher number.
    pub is_reordered: bool,
    /// The lowest one that was sent once.
    pub lowest_original: Option<u64>,
}

/// A transmission that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Latest {
    /// Its number among all transmissions of the connection.
    pub transmission: u64,
    /// When it was sent.
    pub sent: Time,
    /// The packet's number.
    pub sequence: u64,
    /// Whether the packet was sent more than once.
    pub is_repeated: bool,
}

/// What an acknowledgement has reported so far, and what its report is judged by.
struct Heard {
    now: Time,
    soonest: Time,
    /// One above the highest packet that was known to have arrived before it.
    highest: u64,
    delivery: Delivery,
}

impl Heard {
    /// Notes that `packet`, which was not known to have arrived, did.
    #[inline]
    fn note(&mut self, sequence: u64, packet: &Packet) {
        let delivery = &mut self.delivery;
        delivery.delivered += 1;
        if !packet.is_repeated {
            delivery.is_reordered |= sequence < self.highest;
            delivery.lowest_original = Some(delivery.lowest_original.map_or(sequence, |low| low.min(sequence)));
        }
        let Packet { transmission, sent, is_repeated, .. } = *packet;
        let is_evidence = !is_repeated || self.now - sent >= self.soonest;
        if is_evidence && delivery.latest.is_none_or(|latest| latest.transmission < transmission) {
            delivery.latest = Some(Latest { transmission, sent, sequence, is_repeated });
        }
    }
}

/// Packets from the oldest unacknowledged one on.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    first: u64,
    packets: VecDeque<Packet>,
    transmissions: u64,
    /// Copies in flight.
    pipe: u32,
    /// Packets that are lost and were not sent again since.
    lost: u32,
    /// Packets that were found lost and have not arrived, sent again or not.
    missing: u32,
    /// The highest packet that is known to have arrived, plus one.
    highest_arrived: u64,
    /// `None` until a packet is missing.
    gaps: Option<Box<Gaps>>,
}

/// The state that is kept when packets are missing.
#[derive(Clone, Debug, Default)]
struct Gaps {
    /// Packets that arrived out of order.
    arrived: Ranges,
    arrived_count: u64,
    /// Lost packets that are to be sent again; some may have arrived since.
    lost: BinaryHeap<Reverse<u64>>,
    /// Everything below was checked by `lose_overtaken`.
    looked_at: u64,
    /// Packets found lost since the list was last taken.
    found: Vec<u64>,
}

impl Scoreboard {
    /// The scoreboard of the next connection, which continues the packet numbers. Only the
    /// allocation for packets is kept.
    #[must_use]
    pub fn begin(&mut self) -> Self {
        let first = self.next();
        let mut packets = core::mem::take(&mut self.packets);
        packets.clear();
        Self { first, highest_arrived: first, packets, ..Self::default() }
    }

    /// The oldest packet that is not acknowledged.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// One above the highest packet ever sent.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Packets sent and not acknowledged in order.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.packets.len() as u64
    }

    /// The number of transmissions.
    #[must_use]
    pub const fn transmissions(&self) -> u64 {
        self.transmissions
    }

    /// Packets that arrived out of order.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.gaps.as_ref().map_or(0, |gaps| gaps.arrived_count)
    }

    /// One above the highest packet known to have arrived.
    #[must_use]
    pub const fn highest_arrived(&self) -> u64 {
        self.highest_arrived
    }

    /// Copies of packets in flight, as far as is known.
    #[must_use]
    pub const fn pipe(&self) -> u64 {
        self.pipe as u64
    }

    /// Packet `sequence`, if it is not acknowledged in order.
    #[must_use]
    pub fn packet(&self, sequence: u64) -> Option<&Packet> {
        self.packets.get(sequence.checked_sub(self.first)? as usize)
    }

    /// Prefetches the place behind the last packet, where the next one will stand.
    #[inline]
    pub fn fetch_last(&self) {
        if let Some(last) = self.packets.back() {
            prefetch::fetch_all(last, 2);
        }
    }

    /// Notes that the next packet is sent, for the first time.
    #[inline]
    pub fn send(&mut self, now: Time, length: u32) {
        self.pipe += 1;
        self.transmissions += 1;
        self.packets.push_back(Packet {
            sent: now,
            transmission: self.transmissions,
            length,
            copies: 1,
            is_sacked: false,
            fate: Fate::Open,
            is_repeated: false,
        });
    }

    /// Notes that a copy of packet `sequence` is sent. Returns its length.
    pub fn send_again(&mut self, now: Time, sequence: u64) -> u32 {
        let packet = &mut self.packets[(sequence - self.first) as usize];
        if packet.is_lost() {
            self.lost -= 1;
            packet.fate = Fate::SentAgain;
        }
        packet.is_repeated = true;
        self.transmissions += 1;
        (packet.sent, packet.transmission) = (now, self.transmissions);
        packet.copies = packet.copies.saturating_add(1);
        self.pipe += 1;
        packet.length
    }

    /// Whether no packet is known to have arrived out of order, and each lost one has arrived.
    #[must_use]
    #[inline]
    pub fn is_whole(&self) -> bool {
        let is_whole = self.missing == 0 && self.highest_arrived <= self.first;
        debug_assert!(self.gaps.as_ref().is_none_or(|gaps| is_whole == (gaps.arrived.is_empty() && self.missing == 0)));
        is_whole
    }

    /// All below `cumulative` has arrived. Returns the number of packets newly known to have
    /// arrived. As [`Scoreboard::acknowledge`], for a scoreboard that [is
    /// whole](Scoreboard::is_whole) and a caller that does not need their times.
    #[inline]
    pub fn advance(&mut self, cumulative: u64) -> u64 {
        debug_assert!(self.is_whole(), "packets are missing");
        let newly = cumulative.saturating_sub(self.first).min(self.outstanding());
        // Each packet has one copy at least. If none has more, the packets, which have left the
        // caches, need not be read.
        let are_single = u64::from(self.pipe) == self.outstanding();
        for _ in 0..newly {
            let packet = self.packets.pop_front();
            self.pipe -= if are_single { 1 } else { packet.map_or(0, |packet| u32::from(packet.copies)) };
        }
        self.first += newly;
        self.highest_arrived = self.highest_arrived.max(self.first);
        newly
    }

    /// An acknowledgement: all below `cumulative` has arrived, and so have `runs`. If a packet's
    /// acknowledgement arrives sooner than `soonest` after its retransmission, the original had
    /// arrived; it is no evidence of what was sent when. A packet counts as reordered if one above
    /// it was known to have arrived before this acknowledgement: the order of blocks within one
    /// acknowledgement says nothing (RFC 8985, section 6.2, step 3).
    #[inline]
    pub fn acknowledge(
        &mut self,
        now: Time,
        cumulative: u64,
        runs: impl Iterator<Item = Run>,
        soonest: Time,
        holds_resent: bool,
    ) -> Delivery {
        let mut heard = Heard { now, soonest, highest: self.highest_arrived, delivery: Delivery::default() };
        self.take_in_order(cumulative, &mut heard);
        for run in runs {
            self.take_run(run, holds_resent, &mut heard);
        }
        heard.delivery
    }

    /// All below `cumulative` has arrived.
    #[inline]
    fn take_in_order(&mut self, cumulative: u64, heard: &mut Heard) {
        while self.first < cumulative
            && let Some(packet) = self.packets.pop_front()
        {
            self.pipe -= u32::from(packet.copies);
            self.lost -= u32::from(packet.is_lost());
            self.missing -= u32::from(packet.was_lost());
            if !packet.is_sacked {
                heard.note(self.first, &packet);
            } else if let Some(gaps) = &mut self.gaps {
                gaps.arrived_count -= 1;
            }
            self.first += 1;
            heard.delivery.newly += 1;
        }
        if let Some(gaps) = &mut self.gaps
            && !gaps.arrived.is_empty()
        {
            gaps.arrived.forget_below(self.first);
        }
        self.highest_arrived = self.highest_arrived.max(self.first);
    }

    /// The packets of `run` have arrived, some of them perhaps known to have. With `holds_resent`
    /// one that was sent again stays in flight.
    #[inline]
    fn take_run(&mut self, run: Run, holds_resent: bool, heard: &mut Heard) {
        let (first, next) = (self.first, self.next());
        let run = Run { start: run.start.max(first), end: run.end.min(next) };
        if run.start >= run.end {
            return;
        }
        let gaps = &mut **self.gaps.get_or_insert_default();
        let (packets, pipe, count) = (&mut self.packets, &mut self.pipe, &mut gaps.arrived_count);
        let (lost, missing) = (&mut self.lost, &mut self.missing);
        gaps.arrived.add(run, |part| {
            for sequence in part.start..part.end {
                let packet = &mut packets[(sequence - first) as usize];
                let held = if holds_resent && packet.is_repeated { packet.copies.min(1) } else { 0 };
                *pipe -= u32::from(packet.copies - held);
                *lost -= u32::from(packet.is_lost());
                *missing -= u32::from(packet.was_lost());
                (packet.copies, packet.is_sacked, packet.fate) = (held, true, Fate::Open);
                *count += 1;
                heard.note(sequence, packet);
            }
        });
        self.highest_arrived = self.highest_arrived.max(run.end);
    }

    /// Marks packet `sequence` as lost, with every copy of it, unless it arrived. Returns whether
    /// it had a copy in flight.
    pub fn lose(&mut self, sequence: u64) -> bool {
        let Some(at) = sequence.checked_sub(self.first) else { return false };
        let Some(packet) = self.packets.get_mut(at as usize) else { return false };
        if packet.is_sacked || packet.is_lost() {
            return false;
        }
        self.missing += u32::from(!packet.was_lost());
        packet.fate = Fate::Lost;
        self.pipe -= u32::from(packet.copies);
        packet.copies = 0;
        self.lost += 1;
        let gaps = self.gaps.get_or_insert_default();
        gaps.lost.push(Reverse(sequence));
        gaps.found.push(sequence);
        true
    }

    /// The packets that were found lost since the list was last cleared, in order of discovery.
    pub fn found(&mut self) -> Option<&mut Vec<u64>> {
        self.gaps.as_mut().map(|gaps| &mut gaps.found)
    }

    /// Packets that arrived out of order and are still counted as in flight are no longer counted.
    pub fn release_held(&mut self) {
        for packet in self.packets.iter_mut().filter(|packet| packet.is_sacked) {
            self.pipe -= u32::from(core::mem::take(&mut packet.copies));
        }
    }

    /// Marks everything that did not arrive as lost. Returns how many packets were not known to be.
    /// No packet is in flight then.
    pub fn lose_all(&mut self) -> u64 {
        self.release_held();
        (self.first..self.next()).filter(|sequence| self.lose(*sequence)).count() as u64
    }

    /// Marks as lost each packet that at least `duplicates` packets with higher numbers overtook
    /// (IsLost of RFC 6675); with `spares_resent` not those that were sent again. Returns their
    /// number.
    pub fn lose_overtaken(&mut self, duplicates: u32, spares_resent: bool) -> u64 {
        let Some(gaps) = self.gaps.as_mut().filter(|gaps| gaps.arrived_count >= u64::from(duplicates)) else {
            return 0;
        };
        // The packet above which fewer than `duplicates` arrived; at most that many runs are
        // visited.
        let (mut end, mut left) = (self.highest_arrived, u64::from(duplicates));
        loop {
            let Some(run) = end.checked_sub(1).and_then(|last| gaps.arrived.run_of(last)) else { return 0 };
            if run.end - run.start >= left {
                end = run.end - left;
                break;
            }
            left -= run.end - run.start;
            end = match gaps.arrived.run_before(run.start) {
                Some(before) => before.end,
                None => return 0,
            };
        }
        let begin = gaps.looked_at.max(self.first);
        gaps.looked_at = gaps.looked_at.max(end);
        let mut loses = |sequence| {
            let is_resent = self.packet(sequence).is_some_and(|packet| packet.is_repeated);
            !(spares_resent && is_resent) && self.lose(sequence)
        };
        (begin..end).filter(|sequence| loses(*sequence)).count() as u64
    }

    /// Whether a packet that was found lost has not arrived, sent again or not (Linux's lost_out).
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        self.missing > 0
    }

    /// Packets that were found lost and sent again, and have not arrived (Linux's retrans_out).
    #[must_use]
    pub const fn resent(&self) -> u64 {
        (self.missing - self.lost) as u64
    }

    /// What was found lost and has not arrived is in flight after all, beside a copy that was sent
    /// again.
    pub fn find(&mut self) {
        for packet in self.packets.iter_mut().filter(|packet| packet.was_lost()) {
            (packet.fate, packet.copies) = (Fate::Open, packet.copies + 1);
            self.pipe += 1;
        }
        (self.lost, self.missing) = (0, 0);
    }

    /// Whether a packet is lost and was not sent again.
    #[must_use]
    pub const fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// The lowest packet that is lost and was not sent again.
    pub fn first_lost(&mut self) -> Option<u64> {
        let gaps = self.gaps.as_mut().filter(|_| self.lost > 0)?;
        loop {
            let Reverse(sequence) = *gaps.lost.peek()?;
            let packet = sequence.checked_sub(self.first).and_then(|at| self.packets.get(at as usize));
            if packet.is_some_and(|packet| packet.is_lost()) {
                return Some(sequence);
            }
            gaps.lost.pop();
        }
    }

    /// The lowest packet from `from` on that neither arrived nor is lost, and above which one
    /// arrived.
    #[must_use]
    pub fn first_hole(&self, from: u64) -> Option<u64> {
        let mut at = from.max(self.first);
        while at < self.highest_arrived {
            match self.gaps.as_ref()?.arrived.run_of(at) {
                Some(run) => at = run.end,
                None if self.packet(at).is_some_and(|packet| packet.is_lost()) => at += 1,
                None => return Some(at),
            }
        }
        None
    }
}
