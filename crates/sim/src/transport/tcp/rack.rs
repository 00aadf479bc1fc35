//! RACK-TLP: a packet is lost when one that was sent later has arrived, and a little time has passed; a probe finds losses
//! at the tail.
//!
//! Source: RFC 8985, sections 6 (RACK) and 7 (TLP).
//! Chosen: transmissions are kept in the order of their times, so that the timer is set for the next packet that may be
//! lost; the RFC sets it for the last of them.
//! Cost: O(1) a transmission.

use super::scoreboard::{Delivery, Scoreboard};
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// A transmission: its number, when it was, and of which packet.
#[derive(Clone, Copy, Debug)]
struct Send {
    transmission: u64,
    sent: Time,
    sequence: u64,
}

/// The evidence, and the probe.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// Transmissions in their order; those whose packet was sent again or arrived are out of date.
    sends: VecDeque<Send>,
    /// The number of the transmission sent last of those that arrived, and its round trip.
    latest: Option<u64>,
    round_trip: Time,
    has_reordering: bool,
    /// The reordering window in quarters of the least round trip.
    quarters: u32,
    /// Recoveries until the reordering window falls back to one quarter.
    persists: u32,
    /// When the next packet may be lost.
    timer: Time,
    probe_timer: Time,
    /// One above the highest packet when a probe was sent, and whether that was a retransmission.
    probe: Option<(u64, bool)>,
}

/// Recoveries without a duplicate until the reordering window falls back. RFC 8985, section 6.2, step 4.
const PERSISTS: u32 = 16;

impl Rack {
    /// Nothing was sent.
    #[must_use]
    pub fn new() -> Self {
        Self { quarters: 1, timer: Time::NEVER, probe_timer: Time::NEVER, ..Self::default() }
    }

    /// A copy of packet `sequence` is sent, as this transmission of the connection.
    pub fn sent(&mut self, now: Time, transmission: u64, sequence: u64) {
        self.sends.push_back(Send { transmission, sent: now, sequence });
    }

    /// What arrived. `had_duplicate` says that the receiver got a packet twice: something was sent again in vain.
    pub fn delivered(&mut self, now: Time, delivery: &Delivery, had_duplicate: bool) {
        self.has_reordering |= delivery.is_reordered;
        if let Some(arrived) = delivery.latest
            && self.latest.is_none_or(|latest| latest < arrived.transmission)
        {
            self.latest = Some(arrived.transmission);
            self.round_trip = now - arrived.sent;
        }
        if had_duplicate {
            self.quarters = (self.quarters + 1).min(1000);
            self.persists = PERSISTS;
        }
    }

    /// A recovery ends.
    pub fn recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.quarters = 1;
        }
    }

    /// Loses every packet sent before the latest that arrived, if its time has passed; how many. Sets the timer for the
    /// next. `least` and `smoothed` are round trips.
    pub fn detect(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        duplicates: u32,
        is_recovering: bool,
        least: Time,
        smoothed: Time,
    ) -> u64 {
        self.timer = Time::NEVER;
        let Some(latest) = self.latest else { return 0 };
        // RFC 8985, section 6.2, step 4.
        let window = if !self.has_reordering && (is_recovering || board.arrived() >= u64::from(duplicates)) {
            Time::ZERO
        } else {
            Time(least.0 / 4 * u64::from(self.quarters)).min(smoothed)
        };
        let mut lost = 0;
        while let Some(Send { transmission, sent, sequence }) = self.sends.front().copied() {
            let packet = board.packet(sequence);
            let is_current = packet.is_some_and(|p| p.transmission == transmission && p.is_in_flight());
            if is_current {
                if transmission >= latest {
                    break;
                }
                let due = sent.saturating_add(self.round_trip).saturating_add(window);
                if due > now {
                    self.timer = due;
                    break;
                }
                lost += u64::from(board.lose(sequence));
            }
            self.sends.pop_front();
        }
        lost
    }

    /// When a packet may be lost, or a probe is to be sent.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.timer.min(self.probe_timer)
    }

    /// Whether the time has come at which a packet may be lost.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        self.timer <= now
    }

    /// Whether the time of a probe has come.
    #[must_use]
    pub fn probes(&self, now: Time) -> bool {
        self.probe_timer <= now
    }

    /// Sets the time of the probe, unless one is under way: twice the round trip, longer if the receiver may wait with its
    /// answer to the only packet, and not after the retransmission timer.
    pub fn plan_probe(&mut self, now: Time, smoothed: Time, flight: u64, answer_delay: Time, timer: Time) {
        self.probe_timer = Time::NEVER;
        if self.probe.is_some() || flight == 0 {
            return;
        }
        let wait = match smoothed {
            Time::ZERO => Time::from_s(1),
            _ => Time(smoothed.0.saturating_mul(2)),
        };
        let wait = if flight == 1 { wait.saturating_add(answer_delay) } else { wait };
        self.probe_timer = now.saturating_add(wait).min(timer);
    }

    /// No probe is wanted.
    pub const fn forget_probe(&mut self) {
        self.probe_timer = Time::NEVER;
    }

    /// A probe is sent; `next` is one above the highest packet with it.
    pub const fn probed(&mut self, next: u64, is_retransmission: bool) {
        self.probe_timer = Time::NEVER;
        self.probe = Some((next, is_retransmission));
    }

    /// An acknowledgement came; whether it shows that the probe mended a loss. RFC 8985, section 7.4.
    pub fn ends_probe(&mut self, cumulative: u64, had_duplicate: bool) -> bool {
        let Some((end, is_retransmission)) = self.probe else { return false };
        if cumulative < end && !(is_retransmission && had_duplicate) {
            return false;
        }
        self.probe = None;
        is_retransmission && !had_duplicate
    }

    /// The retransmission timer expired: what was known of the probe is of no use.
    pub fn timed_out(&mut self) {
        (self.probe, self.probe_timer, self.timer) = (None, Time::NEVER, Time::NEVER);
    }
}
