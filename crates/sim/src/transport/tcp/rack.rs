//! RACK-TLP: a packet is lost when one that was sent later has arrived and a short time has passed;
//! a probe finds losses at the tail.
//!
//! Source: RFC 8985, sections 6 (RACK) and 7 (TLP).
//! Chosen: transmissions are kept in order of time, so that the timer is set for the next packet
//! that may be lost; the RFC sets it for the last of them. Two cases do not count as a loss that
//! the probe repaired: an acknowledgement of just what was sent before the probe, which the late
//! original may have caused, and one that reports a duplicate (section 7.4.2).
//! Cost: O(1) a transmission.

use super::losses::Found;
use super::scoreboard::{Delivery, Packet, Scoreboard};
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// A transmission: its number, its time, and its packet.
#[derive(Clone, Copy, Debug)]
struct Send {
    transmission: u64,
    sent: Time,
    sequence: u64,
}

/// The inputs of the reordering window.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Packets that arrived out of order and end the wait for more (DupThresh).
    pub duplicates: u32,
    /// The least round trip.
    pub least: Time,
    /// The smoothed round trip.
    pub smoothed: Time,
}

/// RACK's transmissions, and the probe.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// Transmissions in order; those whose packet was sent again or has arrived are stale.
    sends: VecDeque<Send>,
    /// The number of the latest transmission that arrived, and its round trip.
    latest: Option<u64>,
    round_trip: Time,
    has_reordering: bool,
    /// The reordering window in quarters of the least round trip.
    quarters: u32,
    /// Recoveries until the reordering window falls back to one quarter.
    persists: u32,
    /// No duplicate widens the window again until all below this is acknowledged
    /// (`RACK.dsack_round`).
    duplicate_round: Option<u64>,
    /// When the next packet may be lost.
    timer: Time,
    probe_timer: Time,
    /// One above the highest packet when a probe was sent, and whether that was a retransmission.
    probe: Option<(u64, bool)>,
}

/// Recoveries without a duplicate until the reordering window falls back. RFC 8985, section 6.2,
/// step 4.
const PERSISTS: u32 = 16;

impl Rack {
    /// No packet was sent yet.
    #[must_use]
    pub fn new() -> Self {
        Self { quarters: 1, timer: Time::NEVER, probe_timer: Time::NEVER, ..Self::default() }
    }

    /// A copy of packet `sequence` is sent, as transmission number `transmission` of the
    /// connection.
    pub fn sent(&mut self, now: Time, transmission: u64, sequence: u64) {
        self.sends.push_back(Send { transmission, sent: now, sequence });
    }

    /// Notes what arrived. `had_duplicate` says that the receiver got a packet twice: a
    /// retransmission was spurious. All below `first` is acknowledged, and `next` is the next new
    /// packet. The reordering window widens once in a round trip.
    pub fn delivered(&mut self, now: Time, delivery: &Delivery, had_duplicate: bool, first: u64, next: u64) {
        self.has_reordering |= delivery.is_reordered;
        if let Some(arrived) = delivery.latest
            && self.latest.is_none_or(|latest| latest < arrived.transmission)
        {
            self.latest = Some(arrived.transmission);
            self.round_trip = now - arrived.sent;
        }
        self.duplicate_round = self.duplicate_round.filter(|end| first < *end);
        if had_duplicate && self.duplicate_round.is_none() {
            self.duplicate_round = Some(next);
            self.quarters = (self.quarters + 1).min(1000);
            self.persists = PERSISTS;
        }
    }

    /// A recovery ends, after a fast retransmission or a timeout.
    pub fn recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.quarters = 1;
        }
    }

    /// The reordering window (section 6.2, step 4). `is_recovering` says that losses are being
    /// repaired, also those of a timeout.
    fn window(&self, board: &Scoreboard, rules: Rules, is_recovering: bool) -> Time {
        if !self.has_reordering && (is_recovering || board.arrived() >= u64::from(rules.duplicates)) {
            return Time::ZERO;
        }
        Time((rules.least.0 / 4).saturating_mul(u64::from(self.quarters))).min(rules.smoothed)
    }

    /// Marks as lost every packet sent before the latest that arrived, if its time has passed. Sets
    /// the timer for the next.
    pub fn detect(&mut self, now: Time, board: &mut Scoreboard, rules: Rules, is_recovering: bool) -> Found {
        self.timer = Time::NEVER;
        let mut found = Found::default();
        let Some(latest) = self.latest else { return found };
        let window = self.window(board, rules, is_recovering);
        while let Some(send) = self.sends.front().copied() {
            if is_current(&send, board) {
                if send.transmission >= latest {
                    break;
                }
                let due = send.sent.saturating_add(self.round_trip).saturating_add(window);
                if due > now {
                    self.timer = due;
                    break;
                }
                found.has_resent |= board.packet(send.sequence).is_some_and(|packet| packet.is_repeated);
                found.packets += u64::from(board.lose(send.sequence));
                found.newest = send.transmission;
            }
            self.sends.pop_front();
        }
        found
    }

    /// The retransmission timer expired: the oldest packet is lost, and every other one whose time
    /// has passed (section 6.3). Returns their number. A packet sent less than a round trip ago may
    /// still arrive. Before a round trip is known all are lost.
    pub fn time_out(&mut self, now: Time, board: &mut Scoreboard, rules: Rules) -> u64 {
        (self.probe, self.probe_timer, self.timer) = (None, Time::NEVER, Time::NEVER);
        if self.latest.is_none() {
            return board.lose_all();
        }
        board.release_held();
        let window = self.window(board, rules, true);
        let mut lost = u64::from(board.lose(board.first()));
        while let Some(send) = self.sends.front().copied() {
            if is_current(&send, board) {
                if send.sent.saturating_add(self.round_trip).saturating_add(window) > now {
                    break;
                }
                lost += u64::from(board.lose(send.sequence));
            }
            self.sends.pop_front();
        }
        lost
    }

    /// Puts packets that were taken for lost back in flight: they are checked again.
    pub fn find(&mut self, board: &Scoreboard) {
        let all = (board.first()..board.next()).filter_map(|sequence| Some((sequence, board.packet(sequence)?)));
        let send = |(sequence, packet): (u64, &Packet)| Send {
            transmission: packet.transmission,
            sent: packet.sent,
            sequence,
        };
        self.sends = all.filter(|(_, packet)| packet.is_in_flight()).map(send).collect();
        self.sends.make_contiguous().sort_by_key(|send| send.transmission);
    }

    /// When a packet may be lost, or a probe is due.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.timer.min(self.probe_timer)
    }

    /// Whether a packet may be lost by now.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        self.timer <= now
    }

    /// Whether a probe is due.
    #[must_use]
    pub fn probes(&self, now: Time) -> bool {
        self.probe_timer <= now
    }

    /// Sets the time of the probe, unless one is under way: twice the round trip and `delay`, and
    /// not after the retransmission timer.
    pub fn plan_probe(&mut self, now: Time, smoothed: Time, flight: u64, delay: Time, timer: Time) {
        self.probe_timer = Time::NEVER;
        if self.probe.is_some() || flight == 0 {
            return;
        }
        let wait = match smoothed {
            Time::ZERO => Time::from_s(1),
            _ => Time(smoothed.0.saturating_mul(2)),
        };
        self.probe_timer = now.saturating_add(wait).saturating_add(delay).min(timer);
    }

    /// Cancels the planned probe.
    pub const fn forget_probe(&mut self) {
        self.probe_timer = Time::NEVER;
    }

    /// A probe is sent; `next` is one above the highest packet with it.
    pub const fn probed(&mut self, next: u64, is_retransmission: bool) {
        self.probe_timer = Time::NEVER;
        self.probe = Some((next, is_retransmission));
    }

    /// An acknowledgement arrived: of all below `cumulative`, caused by packet `sequence`, which
    /// had arrived before if `had_duplicate`. `is_bare` says that it reports nothing new. Returns
    /// whether it shows that the probe repaired a loss (TLP_process_ack of section 7.4.2).
    pub const fn ends_probe(&mut self, cumulative: u64, sequence: u64, had_duplicate: bool, is_bare: bool) -> bool {
        let Some((end, is_retransmission)) = self.probe else { return false };
        if cumulative < end {
            return false;
        }
        let was_in_vain = had_duplicate && sequence + 1 == end;
        let is_beyond = cumulative > end;
        if !is_retransmission || was_in_vain || is_beyond || is_bare {
            self.probe = None;
        }
        is_retransmission && !was_in_vain && is_beyond
    }

    /// The packet that is sent again as a probe.
    #[must_use]
    pub fn resent_by_probe(&self) -> Option<u64> {
        self.probe.filter(|(_, is_retransmission)| *is_retransmission).map(|(end, _)| end - 1)
    }

    /// A recovery begins: the state of the probe is dropped.
    pub const fn recovers(&mut self) {
        (self.probe, self.probe_timer) = (None, Time::NEVER);
    }
}

/// Whether a transmission is the last of its packet and still in flight.
fn is_current(send: &Send, board: &Scoreboard) -> bool {
    board.packet(send.sequence).is_some_and(|packet| packet.transmission == send.transmission && packet.is_in_flight())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 6.2, step 4: once until all that was sent by then is acknowledged
    /// (`RACK.dsack_round`).
    #[test]
    fn duplicates_widen_the_reordering_window_once_a_round_trip() {
        let mut rack = Rack::new();
        let mut widens = |first: u64, next: u64| {
            rack.delivered(Time::from_ms(first), &Delivery::default(), true, first, next);
            rack.quarters
        };
        assert_eq!([0, 1, 2, 3, 39].map(|first| widens(first, 40 + first)), [2; 5], "five duplicates of one round");
        assert_eq!([40, 41, 79].map(|first| widens(first, 80)), [3; 3], "the next round");
        assert_eq!(widens(80, 120), 4);
    }

    /// The window falls back after sixteen recoveries without a duplicate; another duplicate
    /// restarts the count.
    #[test]
    fn the_reordering_window_falls_back_after_sixteen_recoveries() {
        let mut rack = Rack::new();
        let duplicate = |rack: &mut Rack, first| {
            rack.delivered(Time::ZERO, &Delivery::default(), true, first, first + 10);
        };
        duplicate(&mut rack, 0);
        for _ in 0..15 {
            rack.recovered();
        }
        assert_eq!(rack.quarters, 2);
        duplicate(&mut rack, 10);
        for _ in 0..15 {
            rack.recovered();
        }
        assert_eq!(rack.quarters, 3);
        rack.recovered();
        assert_eq!(rack.quarters, 1);
    }
}
