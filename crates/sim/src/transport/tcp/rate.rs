//! The delivery rate: how fast packets arrived between the sending of one and its acknowledgement.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation-02, sections 3.2 and 3.3.
//! Cost: O(1) a packet.

use crate::transport::congestion::{LostPacket, RateSample};
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// The state noted when a packet is sent.
#[derive(Clone, Copy, Debug)]
struct Note {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    sent: Time,
    flight: u64,
    lost: u64,
    is_application_limited: bool,
}

/// Delivered packets and when.
#[derive(Clone, Debug)]
pub struct RateMeter {
    /// By packet, from `first` on.
    notes: VecDeque<Note>,
    first: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Until this many packets are delivered, samples are application-limited.
    limited_until: u64,
}

impl RateMeter {
    /// No packet was sent yet; the next one is `first`.
    #[must_use]
    pub const fn new(now: Time, first: u64) -> Self {
        Self {
            notes: VecDeque::new(),
            first,
            delivered: 0,
            delivered_at: now,
            first_sent: now,
            lost: 0,
            limited_until: 0,
        }
    }

    /// Packet `sequence` is sent, with `flight` in flight before it. Its note counts it too
    /// (P.tx_in_flight of draft-ietf-ccwg-bbr "includes data in P").
    pub fn sent(&mut self, now: Time, sequence: u64, flight: u64) {
        if flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let note = Note {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            sent: now,
            flight: flight + 1,
            lost: self.lost,
            is_application_limited: self.limited_until > 0,
        };
        match self.notes.get_mut((sequence - self.first) as usize) {
            Some(known) => *known = note,
            None => self.notes.push_back(note),
        }
    }

    /// The sender has no more data, with `flight` packets in flight.
    pub fn ran_dry(&mut self, flight: u64) {
        self.limited_until = (self.delivered + flight).max(1);
    }

    /// Packet `sequence` was found lost. Returns the state at its sending.
    pub fn lost(&mut self, sequence: u64) -> Option<LostPacket> {
        self.lost += 1;
        let note = self.notes.get(sequence.checked_sub(self.first)? as usize)?;
        Some(LostPacket {
            delivered_before: note.delivered,
            flight_at_send: note.flight,
            lost: self.lost - note.lost,
            is_application_limited: note.is_application_limited,
        })
    }

    /// An acknowledgement reported `delivered` packets, the latest sent of which is `latest`; all
    /// below `first` is acknowledged. `least` is the least round trip.
    pub fn acknowledged(
        &mut self,
        now: Time,
        delivered: u64,
        latest: Option<u64>,
        first: u64,
        least: Time,
    ) -> Option<RateSample> {
        if delivered > 0 {
            self.delivered += delivered;
            self.delivered_at = now;
        }
        let note = latest.and_then(|sequence| self.notes.get(sequence.checked_sub(self.first)? as usize)).copied();
        let gone = (first.saturating_sub(self.first) as usize).min(self.notes.len());
        self.notes.drain(..gone);
        self.first = first;
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let note = note?;
        self.first_sent = note.sent;
        let interval = (note.sent - note.first_sent).max(now - note.delivered_at);
        let packets = self.delivered - note.delivered;
        // An interval shorter than the least round trip is no valid measurement.
        if interval == Time::ZERO || least != Time::NEVER && interval < least {
            return None;
        }
        Some(RateSample {
            packets_per_s: packets as f64 / interval.as_s(),
            delivered_before: note.delivered,
            delivered: self.delivered,
            interval,
            is_application_limited: note.is_application_limited,
            flight_at_send: note.flight,
            lost: self.lost - note.lost,
            ahead: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flight_at_the_sending_of_a_packet_counts_it() {
        let mut meter = RateMeter::new(Time::ZERO, 0);
        for sequence in 0..10 {
            meter.sent(Time::from_ms(sequence), sequence, sequence);
        }
        for sequence in 0..10 {
            let now = Time::from_ms(100 + sequence);
            let sample = meter.acknowledged(now, 1, Some(sequence), sequence + 1, Time::from_ms(1));
            assert_eq!(sample.map(|sample| sample.flight_at_send), Some(sequence + 1));
        }
    }

    /// The draft's P.lost and P.tx_in_flight: each of several packets lost together has the number
    /// of losses up to it.
    #[test]
    fn a_lost_packet_knows_its_flight_and_what_was_lost_up_to_it() {
        let mut meter = RateMeter::new(Time::ZERO, 0);
        for sequence in 0..10 {
            meter.sent(Time::from_ms(sequence), sequence, sequence);
        }
        let lost = [2, 3].map(|sequence| meter.lost(sequence).map(|packet| (packet.flight_at_send, packet.lost)));
        assert_eq!(lost, [Some((3, 1)), Some((4, 2))]);
        // A packet sent after these losses begins its count there.
        meter.sent(Time::from_ms(10), 10, 8);
        assert_eq!(meter.lost(10).map(|packet| (packet.flight_at_send, packet.lost)), Some((9, 1)));
        assert_eq!(meter.lost(99), None, "it was not sent");
    }
}
