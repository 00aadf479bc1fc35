//! Generic sliding window: a fixed window, a timer for each packet of twice the smoothed round
//! trip.
//!
//! Use when: you reproduce the 1990 paper's source without congestion control. It is historic; for
//! new work use `reno` or `cubic`.
//! Source: Demers, Keshav and Shenker 1990 (Flow control algorithms: XNS SPP, TCP of RFC 793). The
//! sample of a packet that was sent again is measured from its first transmission.
//! Chosen: one timer for each packet, set at each transmission of it, without backoff; on expiry
//! that packet is sent again and nothing else; a sample for every acknowledgement whose own packet
//! was not acknowledged before it.
//! Cost: O(log window) a packet.
//! Bound: throughput is at most window over round trip; no more than the window is ever
//! unacknowledged.

use super::ecn::CodePoint;
use super::estimator::first_fault;
use super::messages::{Acknowledgement, Transmission};
use super::receiver::{Answers, Sink};
use super::supply::Supply;
use super::{Ends, Sender, Transport};
use crate::settings::outside;
use fairq_sched::units::Time;
use std::collections::{BTreeSet, VecDeque};

settings! {
    /// Window and timeout.
    pub struct Settings {
        /// Packets that may be unacknowledged.
        // Window and beta: the paper's. The gain is RFC 793's tradition; the paper gives none.
        pub window: u32 = 5,
        /// The timeout in smoothed round trips (the paper's beta).
        pub beta: f64 = 2.0,
        /// How much of a sample's difference enters the smoothed round trip.
        pub gain: f64 = 0.125,
        /// The timeout before the first sample.
        pub first_timeout: Time = Time::from_s(3),
    }
}

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        let sender = Generic::new(self.clone(), supply);
        Ends { sender: Box::new(sender), receiver: Box::new(Sink::new(Answers::to_each())) }
    }

    answers!(self: Reliable, window Some(self.window), code_point CodePoint::None);

    fn fault(&self) -> Option<String> {
        first_fault("first_timeout", self.first_timeout)
            .or_else(|| outside(&[("beta", self.beta, 0.01, 1e6), ("gain", self.gain, 0.0, 1.0)]))
    }
}

struct Outstanding {
    length: u32,
    first_sent: Time,
    /// When the packet is sent again; [`Time::NEVER`] once it has timed out.
    timer: Time,
}

/// A fixed window with a timer for each packet.
pub struct Generic {
    settings: Settings,
    supply: Supply,
    /// The lowest number that is not acknowledged, and the packets sent from it on.
    unacknowledged: u64,
    outstanding: VecDeque<Outstanding>,
    /// The running timers of packets with their numbers, and the numbers of packets whose timer has
    /// expired.
    timers: BTreeSet<(Time, u64)>,
    expired: BTreeSet<u64>,
    /// Smoothed round trip, in seconds.
    smoothed: Option<f64>,
}

impl Generic {
    /// A sender that has sent nothing yet.
    #[must_use]
    pub const fn new(settings: Settings, supply: Supply) -> Self {
        Self {
            settings,
            supply,
            unacknowledged: 0,
            outstanding: VecDeque::new(),
            timers: BTreeSet::new(),
            expired: BTreeSet::new(),
            smoothed: None,
        }
    }

    fn timeout(&self) -> Time {
        let after = |srtt| Time::from_s_f64(self.settings.beta * srtt).max(Time(1));
        self.smoothed.map_or(self.settings.first_timeout, after)
    }
}

impl Sender for Generic {
    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    fn begin(&mut self, _now: Time, bytes: u64, length: u32) {
        self.supply = Supply::Transfer { length, left: bytes };
        self.smoothed = None;
    }

    fn is_complete(&mut self) -> bool {
        self.outstanding.is_empty() && self.supply.is_empty()
    }

    fn poll(&mut self, now: Time) -> Option<Transmission> {
        let timer = now.saturating_add(self.timeout());
        if let Some(sequence) = self.expired.pop_first() {
            let packet = &mut self.outstanding[(sequence - self.unacknowledged) as usize];
            packet.timer = timer;
            self.timers.insert((timer, sequence));
            let again = Transmission::new(sequence, packet.length);
            return Some(Transmission { is_retransmission: true, ..again });
        }
        if self.outstanding.len() >= self.settings.window as usize {
            return None;
        }
        let length = self.supply.take()?;
        let sequence = self.unacknowledged + self.outstanding.len() as u64;
        self.outstanding.push_back(Outstanding { length, first_sent: now, timer });
        self.timers.insert((timer, sequence));
        Some(Transmission::new(sequence, length))
    }

    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        let own = ack.sequence.checked_sub(self.unacknowledged).and_then(|at| self.outstanding.get(at as usize));
        let sample = own.map(|packet| now - packet.first_sent);
        if let Some(sample) = sample {
            let m = sample.as_s();
            self.smoothed = Some(self.smoothed.map_or(m, |srtt| srtt + self.settings.gain * (m - srtt)));
        }
        while self.unacknowledged < ack.cumulative
            && let Some(packet) = self.outstanding.pop_front()
        {
            if !self.timers.remove(&(packet.timer, self.unacknowledged)) {
                self.expired.remove(&self.unacknowledged);
            }
            self.unacknowledged += 1;
        }
        sample
    }

    fn deadline(&self) -> Time {
        self.timers.first().map_or(Time::NEVER, |(timer, _)| *timer)
    }

    fn wake(&mut self, now: Time) -> bool {
        let before = self.expired.len();
        while let Some((timer, sequence)) = self.timers.first().copied()
            && timer <= now
        {
            self.timers.pop_first();
            self.outstanding[(sequence - self.unacknowledged) as usize].timer = Time::NEVER;
            self.expired.insert(sequence);
        }
        self.expired.len() > before
    }

    fn phase(&self) -> Option<&'static str> {
        None
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", f64::from(self.settings.window));
        visit("rtt_s_smoothed", self.smoothed.unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::messages::Arrival;

    fn ack(sequence: u64, cumulative: u64) -> Acknowledgement {
        let arrival = Arrival::of(sequence, 1000, Time::ZERO);
        Acknowledgement { cumulative, ..Acknowledgement::of(Time::ZERO, &arrival) }
    }

    #[test]
    fn a_lost_packet_is_sent_again_after_twice_the_round_trip_and_alone() {
        let mut source =
            Generic::new(Settings { window: 3, ..Settings::default() }, Supply::Ready { length: 1000, left: u64::MAX });
        let sent: Vec<u64> = std::iter::from_fn(|| source.poll(Time::ZERO)).map(|t| t.sequence).collect();
        assert_eq!(sent, [0, 1, 2]);
        assert_eq!(source.deadline(), Time::from_s(3));
        // Packet 0 is lost; 1 and 2 arrive after a second, out of order: both give a sample.
        let second = Time::from_s(1);
        assert_eq!(source.acknowledge(second, &ack(1, 0)), Some(second));
        assert_eq!(source.acknowledge(second, &ack(2, 0)), Some(second));
        assert_eq!(source.poll(second), None, "the window does not move");
        // All three expire: the source knows the cumulative number only.
        let third = Time::from_s(3);
        source.wake(third);
        let again: Vec<_> =
            std::iter::from_fn(|| source.poll(third)).map(|t| (t.sequence, t.is_retransmission)).collect();
        assert_eq!(again, [(0, true), (1, true), (2, true)]);
        assert_eq!(source.deadline(), Time::from_s(5), "twice the smoothed round trip of a second");
        // The sample of packet 0 counts from its first transmission.
        assert_eq!(source.acknowledge(Time::from_s(4), &ack(0, 3)), Some(Time::from_s(4)));
        assert_eq!(source.poll(Time::from_s(4)).map(|t| t.sequence), Some(3));
        assert_eq!(source.acknowledge(Time::from_s(4), &ack(1, 3)), None, "acknowledged before");
    }
}
