//! TFRC: the rate that TCP's throughput equation gives for the loss events that the receiver
//! reports.
//!
//! Use when: a media stream should have TCP's mean share at a smooth rate, without retransmissions.
//! It follows changes slowly; for Reno's swings use `rap`, for data that must arrive `cubic`.
//! Source: RFC 5348 (TCP Friendly Rate Control): section 4 for the sender, 5 for the history of
//! losses, 6 for the receiver, 3.1 for the equation with b = 1 and t_RTO = 4R.
//! Departs: nothing is sent again, as in the source; the size of a packet in the equation is a mean
//! of what was sent (a tenth of each new one). Packets are not sent in advance of their times to
//! make up for a slow clock (section 4.6).
//! Chosen: `history_discounting` (section 5.5, optional) is on and `damps_oscillation` (section
//! 4.5, optional) off. Whether a report covers a time in which data was short is judged by the
//! packets sent at the pace between the two that the reports echo (section 8.2.1). The receiver's
//! timer is off while no packet arrives.
//! Cost: O(1) a packet; a report costs O(8).
//! Bound: with one loss in n packets and a round trip R it settles at the equation's rate for p =
//! 1/n (closed_form_paced.rs: tfrc_settles_at_the_rate_of_the_equation). Before the first loss it
//! doubles every second round trip, where that is constant: a report shows the round trip before
//! the last doubling came through (scenes.rs: tfrc_keeps_to_its_equation).
//! Range: never below a packet in 64 s.

pub mod equation;
pub mod history;
pub mod receiver;

use super::congestion::{AVOIDANCE, SLOW_START};
use super::ecn::{Accepts, CodePoint};
use super::messages::{Acknowledgement, Feedback, Transmission};
use super::supply::Supply;
use super::{Ends, Sender, Transport};
use fairq_sched::units::Time;
use std::collections::VecDeque;

settings! {
    /// The choices that the RFC leaves open.
    pub struct Settings {
        /// Whether old loss intervals count less in a long time without loss (section 5.5).
        pub history_discounting: bool = true,
        /// Whether the rate follows the square root of the last round trip (section 4.5).
        pub damps_oscillation: bool = false,
        /// The least retransmission timeout in the equation; 4 round trips if they are longer.
        pub timeout_floor: Time = Time::ZERO,
        /// Whether packets are ECT(0), so that they may be marked instead of dropped.
        pub ecn: bool = false,
    }
}

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        let receiver = receiver::Reporter::new(self);
        Ends { sender: Box::new(Tfrc::new(self.clone(), supply)), receiver: Box::new(receiver) }
    }

    answers!(self: AtControlledRate, window None, code_point if self.ecn { CodePoint::Ect0 } else { CodePoint::None });

    fn fault(&self) -> Option<String> {
        None
    }
}

impl Settings {
    /// t_RTO of the equation, in seconds.
    fn timeout_s(&self, round_trip: f64) -> f64 {
        (4.0 * round_trip).max(self.timeout_floor.as_s())
    }
}

/// The sending side.
pub struct Tfrc {
    settings: Settings,
    supply: Supply,
    next: u64,
    /// X: the allowed rate in bytes a second, and the rate of the equation.
    rate: f64,
    equation: f64,
    /// Bytes of a packet, on average.
    size: f64,
    /// R, the last sample, and the mean of the square roots of samples, in seconds.
    round_trip: Option<f64>,
    sample: f64,
    root_mean: f64,
    /// p.
    loss: f64,
    /// The receive rates that the receiver reported, with their times, for two round trips;
    /// infinite before the first report.
    received: VecDeque<(Time, f64)>,
    /// When the rate was doubled last.
    doubled: Time,
    /// The scheduled time of the last packet.
    last_sent: Option<Time>,
    /// If no report arrives by then the rate is cut; whether any packet was sent since that time
    /// was set.
    silence_ends: Time,
    was_active: bool,
    /// When packets that had waited for the pace were sent, since the packet that the last report
    /// echoes.
    paced: VecDeque<Time>,
    echoed: Time,
}

impl Tfrc {
    /// A sender that has sent nothing yet.
    #[must_use]
    pub fn new(settings: Settings, supply: Supply) -> Self {
        Self {
            settings,
            supply,
            next: 0,
            rate: 0.0,
            equation: f64::INFINITY,
            size: 0.0,
            round_trip: None,
            sample: 0.0,
            root_mean: 0.0,
            loss: 0.0,
            received: VecDeque::new(),
            doubled: Time::ZERO,
            last_sent: None,
            silence_ends: Time::NEVER,
            was_active: false,
            paced: VecDeque::new(),
            echoed: Time::ZERO,
        }
    }

    /// s/t_mbi: a packet in 64 seconds.
    fn least(&self) -> f64 {
        self.size / INTERVAL_MAX_S
    }

    /// W_init/R: the initial window of TCP (RFC 3390) in a round trip.
    fn initial(&self, round_trip: f64) -> f64 {
        (4.0 * self.size).min((2.0 * self.size).max(4380.0)) / round_trip
    }

    /// The earliest time of the next packet.
    fn not_before(&self) -> Time {
        let Some(last) = self.last_sent else { return Time::ZERO };
        let mut rate = self.rate;
        if self.settings.damps_oscillation && self.round_trip.is_some() {
            rate = (rate * self.root_mean / self.sample.sqrt()).max(self.least());
        }
        last.saturating_add(Time::from_s_f64(self.size / rate).max(Time(1)))
    }

    /// The limit by the receiver's rate, after it reported `rate`. Section 4.3, step 4.
    fn receive_limit(&mut self, now: Time, rate: f64, was_short: bool, loss_rose: bool) -> f64 {
        if !was_short {
            let two_trips = Time::from_s_f64(2.0 * self.round_trip.unwrap_or(0.0));
            self.received.push_back((now, rate));
            self.received.retain(|(time, _)| now.saturating_sub(*time) <= two_trips);
            return 2.0 * self.greatest_received();
        }
        let mut rate = rate;
        if loss_rose {
            self.received.iter_mut().for_each(|(_, received)| *received *= 0.5);
            rate *= 0.85;
        }
        let finite = self.received.iter().map(|(_, received)| *received).filter(|received| received.is_finite());
        let greatest = finite.fold(rate, f64::max);
        self.received.clear();
        self.received.push_back((now, greatest));
        if loss_rose { greatest } else { 2.0 * greatest }
    }

    fn greatest_received(&self) -> f64 {
        self.received.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    /// The allowed rate under `limit`. Section 4.3, step 5.
    fn allow(&mut self, now: Time, limit: f64) {
        let Some(round_trip) = self.round_trip else { return };
        if self.loss > 0.0 {
            let timeout = self.settings.timeout_s(round_trip);
            self.equation = equation::throughput(self.size, round_trip, timeout, self.loss);
            self.rate = self.equation.min(limit).max(self.least());
        } else if now.saturating_sub(self.doubled).as_s() >= round_trip || self.doubled == Time::ZERO {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial(round_trip));
            self.doubled = now;
        }
    }

    fn await_report(&mut self, now: Time) {
        let trips = 4.0 * self.round_trip.unwrap_or(0.0);
        let wait = match self.round_trip {
            Some(_) => trips.max(2.0 * self.size / self.rate),
            None => FIRST_SILENCE_S,
        };
        self.silence_ends = now.saturating_add(Time::from_s_f64(wait));
        self.was_active = false;
    }

    /// No report came for too long. Section 4.4.
    fn cut(&mut self, now: Time) {
        let Some(round_trip) = self.round_trip else {
            if self.was_active {
                self.rate = (self.rate / 2.0).max(self.least());
            }
            return;
        };
        let (received, recover) = (self.greatest_received(), self.initial(round_trip));
        let is_slow = if self.loss > 0.0 { received < recover } else { self.rate < 2.0 * recover };
        if is_slow && !self.was_active {
            // A sender that had nothing to send keeps a rate that it could begin with.
        } else if self.loss == 0.0 {
            self.rate = (self.rate / 2.0).max(self.least());
        } else {
            let limit = if self.equation > 2.0 * received { received } else { self.equation / 2.0 };
            let limit = limit.max(self.least());
            self.received.clear();
            self.received.push_back((now, limit / 2.0));
            self.allow(now, limit);
        }
    }

    /// Whether no packet after `from` and up to `to` waited for the pace: the sender was short of
    /// data.
    fn was_short(&mut self, from: Time, to: Time) -> bool {
        while self.paced.front().is_some_and(|time| *time <= from) {
            self.paced.pop_front();
        }
        self.paced.front().is_none_or(|time| *time > to)
    }

    fn learn(&mut self, sample: f64) {
        self.sample = sample;
        let root = sample.sqrt();
        match self.round_trip {
            None => (self.round_trip, self.root_mean) = (Some(sample), root),
            Some(smoothed) => {
                self.round_trip = Some(0.9 * smoothed + 0.1 * sample);
                self.root_mean = 0.9 * self.root_mean + 0.1 * root;
            }
        }
    }

    fn report(&mut self, now: Time, sent: Time, feedback: &Feedback) {
        let is_first = self.received.iter().all(|(_, rate)| rate.is_infinite());
        let was_short = self.was_short(self.echoed, sent) && !is_first;
        self.echoed = sent;
        let loss_rose = feedback.loss > self.loss;
        self.loss = feedback.loss;
        let limit = self.receive_limit(now, feedback.rate, was_short, loss_rose);
        self.allow(now, limit);
        self.await_report(now);
    }
}

impl Sender for Tfrc {
    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    fn begin(&mut self, _now: Time, bytes: u64, length: u32) {
        let supply = Supply::Transfer { length, left: bytes };
        *self = Self { next: self.next, ..Self::new(self.settings.clone(), supply) };
    }

    fn poll(&mut self, now: Time) -> Option<Transmission> {
        let not_before = self.not_before();
        if now < not_before {
            return None;
        }
        let length = self.supply.take()?;
        let is_first = self.last_sent.is_none();
        self.last_sent = Some(now);
        if is_first {
            self.size = f64::from(length);
            self.rate = self.size;
            self.received.push_back((now, f64::INFINITY));
            self.await_report(now);
        } else {
            self.size += 0.1 * (f64::from(length) - self.size);
            if now == not_before {
                self.paced.push_back(now);
            }
        }
        self.was_active = true;
        let sequence = self.next;
        self.next += 1;
        let round_trip = self.round_trip.map_or(Time::ZERO, Time::from_s_f64);
        Some(Transmission { round_trip, ..Transmission::new(sequence, length) })
    }

    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        let feedback = ack.feedback?;
        let sample = now.saturating_sub(ack.sent).saturating_sub(feedback.delay).max(Time(1));
        self.learn(sample.as_s());
        self.report(now, ack.sent, &feedback);
        Some(sample)
    }

    fn deadline(&self) -> Time {
        let send = if self.supply.is_empty() { Time::NEVER } else { self.not_before() };
        send.min(self.silence_ends)
    }

    fn wake(&mut self, now: Time) -> bool {
        if self.silence_ends <= now {
            self.cut(now);
            self.await_report(now);
        }
        false
    }

    fn accepts(&self) -> Accepts {
        Accepts::all(self.settings.code_point().field().accepts())
    }

    /// Section 4.3, step 5: the rate follows the equation once a loss was reported.
    fn phase(&self) -> Option<&'static str> {
        Some(if self.loss > 0.0 { AVOIDANCE } else { SLOW_START })
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("rate_bit_per_s", self.rate * 8.0);
        visit("loss_event_rate", self.loss);
        visit("rtt_s_smoothed", self.round_trip.unwrap_or(f64::NAN));
    }
}

/// t_mbi: the longest time between packets, in seconds.
const INTERVAL_MAX_S: f64 = 64.0;

/// The longest wait for the first report, in seconds.
const FIRST_SILENCE_S: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::messages::Arrival;

    fn report(sender: &mut Tfrc, now: Time, sent: Time, rate: f64, loss: f64) {
        let arrival = Arrival::of(0, 1000, sent);
        let feedback = Feedback { rate, loss, delay: Time::ZERO };
        sender.acknowledge(now, &Acknowledgement { feedback: Some(feedback), ..Acknowledgement::of(now, &arrival) });
    }

    fn sender() -> Tfrc {
        let mut sender = Tfrc::new(Settings::default(), Supply::Ready { length: 1000, left: u64::MAX });
        assert_eq!(sender.poll(Time::ZERO).map(|t| t.sequence), Some(0));
        sender
    }

    #[test]
    fn it_begins_with_a_packet_a_second_then_a_window_a_round_trip_and_doubles() {
        let mut sender = sender();
        assert_eq!((sender.rate, sender.deadline()), (1000.0, Time::from_s(1)));
        // W_init of packets of 1000 bytes: min(4000, max(2000, 4380)) = 4000 bytes, a round trip of
        // 100 ms.
        report(&mut sender, Time::from_ms(100), Time::ZERO, 0.0, 0.0);
        assert_eq!(sender.rate, 40_000.0);
        sender.paced.push_back(Time::from_ms(125));
        report(&mut sender, Time::from_ms(250), Time::from_ms(150), 40_000.0, 0.0);
        assert_eq!(sender.rate, 80_000.0);
        // Less than a round trip later it is not doubled.
        report(&mut sender, Time::from_ms(300), Time::from_ms(200), 40_000.0, 0.0);
        assert_eq!(sender.rate, 80_000.0);
        // The equation takes over: p = 1 % at 100 ms; the receiver's rate limits it to twice that.
        sender.paced.extend([Time::from_ms(240), Time::from_ms(340)]);
        report(&mut sender, Time::from_ms(350), Time::from_ms(250), 80_000.0, 0.01);
        assert_eq!(sender.rate.round(), 112_332.0);
        report(&mut sender, Time::from_ms(450), Time::from_ms(350), 50_000.0, 0.0001);
        assert_eq!(sender.rate, 160_000.0, "twice the greatest of two round trips");
    }

    #[test]
    fn silence_halves_the_rate() {
        let mut sender = sender();
        report(&mut sender, Time::from_ms(100), Time::ZERO, 0.0, 0.0);
        assert_eq!(sender.silence_ends, Time::from_ms(500), "four round trips");
        assert_eq!(sender.poll(Time::from_ms(125)).map(|t| t.sequence), Some(1));
        sender.wake(Time::from_ms(500));
        assert_eq!(sender.rate, 20_000.0);
        // Nothing was sent since: the rate stays, because it is no more than twice the initial one.
        sender.wake(sender.silence_ends);
        assert_eq!(sender.rate, 20_000.0);
    }

    #[test]
    fn a_sender_without_data_is_not_held_to_what_arrived() {
        let mut sender = sender();
        report(&mut sender, Time::from_ms(100), Time::ZERO, 0.0, 0.0);
        sender.paced.push_back(Time::from_ms(125));
        report(&mut sender, Time::from_ms(250), Time::from_ms(150), 40_000.0, 0.0);
        // No packet waited for the pace since: a small receive rate says nothing.
        report(&mut sender, Time::from_ms(400), Time::from_ms(300), 500.0, 0.0);
        assert_eq!(sender.rate, 80_000.0);
    }
}
