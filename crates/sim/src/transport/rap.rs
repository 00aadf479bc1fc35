//! RAP: a rate that grows by a packet a round trip each round trip and is halved on a loss.
//!
//! Use when: a stream without retransmissions should share as Reno does, with its halving on a
//! loss. For a smoother rate use `tfrc`; for data that must arrive, `reno` or `cubic`.
//! Source: Rejaie, Handley and Estrin, "RAP: An End-to-end Rate-based Congestion Control Mechanism
//! for Realtime Streams in the Internet", INFOCOM 1999, which was not at hand. From ns-2's code
//! (rap.cc) are: the step of the gap, one reaction to the losses among outstanding packets, the
//! three numbers of an acknowledgement and their meaning, no growth below half use, the fine grain
//! and all constants.
//! Departs: the size of packets is the traffic's; nothing is sent again, as in the source. A late
//! acknowledgement of a packet that was given up still gives a round-trip sample, so that a timeout
//! below the round trip corrects itself.
//! Chosen: the step of a round trip restarts with a loss. A packet is lost if an acknowledgement
//! does not report it and names one three numbers later, or by a timeout, which is checked when a
//! packet is due and costs that packet. The first round-trip sample is also the first gap. An
//! acknowledgement names the packet that caused it and three more: the last that arrived, the last
//! that is missing before it, and the last that arrived before that. A packet below those counts as
//! lost if its own acknowledgements were lost.
//! Cost: O(log n) a packet, n in flight; O(n) a loss.
//! Bound: from 20 ms between packets and a round trip of 100 ms it comes to 10 ms in five round
//! trips (rap.rs: it_adds_a_packet_a_round_trip_each_round_trip). A line without a buffer it uses
//! to three quarters, as Reno (recovery.rs: rap_uses_a_bufferless_line_to_three_quarters).

use super::ecn::CodePoint;
use super::messages::{Acknowledgement, Arrival, Transmission};
use super::ranges::Run;
use super::receiver::Receiver;
use super::supply::Supply;
use super::{Ends, Sender, Transport};
use crate::settings::{no_part, outside};
use fairq_sched::units::Time;
use std::collections::VecDeque;

settings! {
    /// The steps of the rate, and the estimator.
    pub struct Settings {
        /// Packets a round trip that are added in a round trip without loss.
        pub alpha: f64 = 1.0,
        /// The factor of the rate after a loss.
        pub beta: f64 = 0.5,
        /// How much of a sample's difference enters the smoothed round trip and its variation.
        pub gain: f64 = 0.5,
        /// The timeout is this many round trips
        pub timeout_trips: f64 = 1.2,
        /// plus this many variations.
        pub timeout_variations: f64 = 4.0,
        /// The gap between packets, the round trip and the timeout before the first sample.
        pub first: Time = Time::from_s(2),
        /// The part of the packets of a round trip that must have been sent for the rate to grow.
        pub used_share: f64 = 0.5,
        /// Whether the gap follows the round trip between steps, as a quick mean of it over a slow
        /// one.
        pub fine_grain: bool = false,
    }
}

/// With a shorter one, packets would be sent a million times as fast as any line takes them, until
/// the first acknowledgement arrives.
const LEAST_GAP: Time = Time(1_000_000);

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        Ends { sender: Box::new(Rap::new(self.clone(), supply)), receiver: Box::new(Answerer::default()) }
    }

    answers!(self: AtControlledRate, window None, code_point CodePoint::None);

    fn fault(&self) -> Option<String> {
        if self.first < LEAST_GAP {
            return Some(format!("first is {}; the first gap is at least {LEAST_GAP}, like \"2 s\"", self.first));
        }
        no_part(&[("beta", self.beta)]).or_else(|| {
            outside(&[
                ("alpha", self.alpha, 0.0, 1e6),
                ("gain", self.gain, 0.0, 1.0),
                ("timeout_trips", self.timeout_trips, 0.0, 1e6),
                ("timeout_variations", self.timeout_variations, -1e-9, 1e6),
                ("used_share", self.used_share, -1e-9, 1.0),
            ])
        })
    }
}

/// A packet that was sent and is neither acknowledged nor lost.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    sequence: u64,
    sent: Time,
    /// Whether its loss causes a reaction: it was sent after the last reaction to a loss.
    is_active: bool,
}

/// The sending side.
pub struct Rap {
    settings: Settings,
    supply: Supply,
    next: u64,
    outstanding: VecDeque<Outstanding>,
    /// The gap between packets, in seconds.
    gap: f64,
    /// The smoothed round trip and its variation, in seconds; and the fast and the slow mean of
    /// `fine_grain`.
    smoothed: Option<f64>,
    variation: f64,
    quick: f64,
    slow: f64,
    /// When the next packet is due, and when a round trip without loss has passed.
    due: Time,
    step: Time,
    /// Packets sent since the last step.
    sent: u64,
}

impl Rap {
    /// A sender that has sent nothing yet.
    #[must_use]
    pub fn new(settings: Settings, supply: Supply) -> Self {
        Self {
            gap: settings.first.as_s(),
            settings,
            supply,
            next: 0,
            outstanding: VecDeque::new(),
            smoothed: None,
            variation: 0.0,
            quick: 0.0,
            slow: 0.0,
            due: Time::ZERO,
            step: Time::NEVER,
            sent: 0,
        }
    }

    fn round_trip(&self) -> f64 {
        self.smoothed.unwrap_or_else(|| self.settings.first.as_s())
    }

    fn timeout(&self) -> Time {
        let settings = &self.settings;
        let later = |trip| settings.timeout_trips * trip + settings.timeout_variations * self.variation;
        self.smoothed.map_or(settings.first, |trip| Time::from_s_f64(later(trip)))
    }

    /// When the packet after one at `now` is due.
    fn after(&self, now: Time) -> Time {
        let follows = if self.settings.fine_grain && self.slow > 0.0 { self.quick / self.slow } else { 1.0 };
        now.saturating_add(Time::from_s_f64(self.gap * follows).max(Time(1)))
    }

    fn learn(&mut self, sample: f64) {
        let gain = self.settings.gain;
        let Some(smoothed) = self.smoothed else {
            (self.smoothed, self.quick, self.slow, self.gap) = (Some(sample), sample, sample, sample);
            return;
        };
        let error = sample - smoothed;
        self.smoothed = Some(smoothed + gain * error);
        self.variation += gain * (error.abs() - self.variation);
        self.quick += QUICK * (sample - self.quick);
        self.slow += SLOW * (sample - self.slow);
    }

    /// A round trip has passed without loss.
    fn grow(&mut self) {
        let trip = self.round_trip();
        if self.sent as f64 >= self.settings.used_share * trip / self.gap {
            // One more packet (or alpha) in a round trip.
            self.gap = self.gap * trip / (self.settings.alpha * self.gap + trip);
        }
    }

    /// Reacts to the loss of a packet that was sent after the last reaction.
    fn answer_loss(&mut self, now: Time) {
        self.gap /= self.settings.beta;
        self.outstanding.iter_mut().for_each(|packet| packet.is_active = false);
        self.begin_step(now);
    }

    fn begin_step(&mut self, now: Time) {
        self.step = now.saturating_add(Time::from_s_f64(self.round_trip()).max(Time(1)));
        self.sent = 0;
    }

    /// Gives up packets that were sent too long ago. Returns whether this causes a reaction.
    fn give_up(&mut self, now: Time) -> bool {
        let timeout = self.timeout();
        let mut is_news = false;
        while let Some(oldest) = self.outstanding.front()
            && oldest.sent.saturating_add(timeout) <= now
        {
            is_news |= oldest.is_active;
            self.outstanding.pop_front();
        }
        is_news
    }

    /// Removes the packets that arrived and those that are lost by `ack`. Returns whether the loss
    /// causes a reaction.
    fn settle(&mut self, ack: &Acknowledgement) -> bool {
        // The packets after the last missing one; the greatest of them is the last that arrived.
        let run = ack.blocks.iter(ack.cumulative).next();
        let Run { start, end } = run.unwrap_or(Run { start: 0, end: ack.cumulative });
        let before_hole = ack.cumulative.checked_sub(1);
        if let Ok(at) = self.outstanding.binary_search_by_key(&ack.sequence, |packet| packet.sequence) {
            self.outstanding.remove(at);
        }
        let (mut is_news, mut undecided) = (false, 0);
        while let Some(packet) = self.outstanding.get(undecided).copied()
            && packet.sequence < end
        {
            let came = packet.sequence >= start || Some(packet.sequence) == before_hole;
            if !came && packet.sequence + LATER >= end {
                undecided += 1;
                continue;
            }
            is_news |= !came && packet.is_active;
            self.outstanding.remove(undecided);
        }
        is_news
    }
}

impl Sender for Rap {
    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    fn poll(&mut self, now: Time) -> Option<Transmission> {
        // Steps pause while there is nothing to send.
        if self.step == Time::NEVER || self.step < now {
            self.begin_step(now);
        }
        if now < self.due {
            return None;
        }
        let is_lost = self.give_up(now);
        if is_lost {
            self.answer_loss(now);
        }
        // As in ns-2: a loss found by the timer costs the packet that is due.
        let length = if is_lost { None } else { self.supply.take() };
        self.due = self.after(now);
        let length = length?;
        self.sent += 1;
        self.outstanding.push_back(Outstanding { sequence: self.next, sent: now, is_active: true });
        self.next += 1;
        Some(Transmission::new(self.next - 1, length))
    }

    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        let sample = now - ack.sent;
        let is_first = self.smoothed.is_none();
        self.learn(sample.as_s().max(1e-12));
        if is_first {
            self.due = self.due.min(self.after(now));
            self.begin_step(now);
        }
        if self.settle(ack) {
            self.answer_loss(now);
        }
        Some(sample)
    }

    fn deadline(&self) -> Time {
        if self.supply.is_empty() && self.outstanding.is_empty() { Time::NEVER } else { self.due.min(self.step) }
    }

    fn wake(&mut self, now: Time) -> bool {
        if self.step <= now {
            self.grow();
            self.begin_step(now);
        }
        false
    }

    /// Before the first sample of the round trip there is no rate that could grow.
    fn phase(&self) -> Option<&'static str> {
        Some(if self.smoothed.is_some() { "additive increase" } else { "start-up" })
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("gap_s", self.gap);
        visit("rtt_s_smoothed", self.smoothed.unwrap_or(f64::NAN));
        visit("timeout_s", self.timeout().as_s());
    }
}

/// Acknowledges every packet, and names the last hole before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answerer {
    /// One above the highest packet that arrived.
    end: u64,
    /// The packets that are missing below the last run of arrived ones: the first, and one above
    /// the last.
    hole: Option<(u64, u64)>,
}

impl Receiver for Answerer {
    fn receive(&mut self, now: Time, arrival: &Arrival) -> (bool, Option<Acknowledgement>) {
        let sequence = arrival.sequence;
        if sequence >= self.end {
            if sequence > self.end {
                self.hole = Some((self.end, sequence));
            }
            self.end = sequence + 1;
        } else if let Some((from, to)) = self.hole.filter(|(from, to)| *from <= sequence && sequence < *to) {
            let left = if sequence + 1 == to { (from, sequence) } else { (sequence + 1, to) };
            self.hole = Some(left).filter(|(from, to)| from < to);
        }
        let mut answer = Acknowledgement::of(now, arrival);
        answer.cumulative = self.end;
        // A hole too far below to be reported no longer matters.
        if let Some((from, to)) = self.hole
            && answer.blocks.push(from, Run { start: to, end: self.end })
        {
            answer.cumulative = from;
        }
        (true, Some(answer))
    }
}

/// A packet is lost if it did not arrive and one that was sent this many packets later did.
const LATER: u64 = 3;

/// The gains of the two means of `fine_grain`.
const QUICK: f64 = 0.9;
const SLOW: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    fn rap() -> Rap {
        Rap::new(Settings::default(), Supply::Ready { length: 512, left: u64::MAX })
    }

    /// Runs `sender` over a round trip of 100 ms from `from` to `until`; `lost` says which packets
    /// do not arrive. Returns the times at which packets were sent.
    fn play(sender: &mut Rap, from: Time, until: Time, lost: impl Fn(u64) -> bool) -> Vec<Time> {
        watch(sender, from, until, lost, |_, _| ())
    }

    /// As [`play`]; `look` sees the sender after each event.
    fn watch(
        sender: &mut Rap,
        from: Time,
        until: Time,
        lost: impl Fn(u64) -> bool,
        mut look: impl FnMut(Time, &Rap),
    ) -> Vec<Time> {
        let mut receiver = Answerer::default();
        let mut answers: VecDeque<(Time, Acknowledgement)> = VecDeque::new();
        let (mut now, mut times) = (from, Vec::new());
        while now <= until {
            while let Some(packet) = sender.poll(now) {
                times.push(now);
                if !lost(packet.sequence) {
                    let (_, answer) = receiver.receive(now, &Arrival::of(packet.sequence, 512, now));
                    answers.extend(answer.map(|answer| (now + Time::from_ms(100), answer)));
                }
            }
            let next = answers.front().map_or(Time::NEVER, |(time, _)| *time);
            now = next.min(sender.deadline());
            if next == now {
                answers.pop_front().iter().for_each(|(_, answer)| _ = sender.acknowledge(now, answer));
            } else {
                sender.wake(now);
            }
            look(now, sender);
        }
        times
    }

    #[test]
    fn it_adds_a_packet_a_round_trip_each_round_trip() {
        let mut sender = rap();
        (sender.gap, sender.smoothed) = (0.02, Some(0.1));
        // Steps at 100, 200, … ms. After the fifth there are ten packets in a round trip.
        play(&mut sender, Time::ZERO, Time::from_ms(505), |_| false);
        assert!((sender.gap - 0.01).abs() < 1e-15, "{}", sender.gap);
        sender.answer_loss(Time::from_ms(505));
        assert!((sender.gap - 0.02).abs() < 1e-15);
    }

    #[test]
    fn the_losses_of_a_window_are_answered_once() {
        let mut sender = rap();
        (sender.gap, sender.smoothed, sender.variation) = (0.01, Some(0.1), 0.05);
        sender.settings.alpha = 1e-9;
        // Four of the ten packets in flight are lost.
        play(&mut sender, Time::ZERO, Time::from_ms(400), |sequence| [20, 22, 24, 26].contains(&sequence));
        assert!((sender.gap - 0.02).abs() < 1e-9, "{}", sender.gap);
    }

    /// When the gap doubled and to what, in milliseconds, while the packets chosen by `lost` are
    /// lost and the rate does not grow. The round trip is 100 ms and the first gap 1 ms.
    fn halvings(lost: impl Fn(u64) -> bool) -> Vec<(f64, f64)> {
        let mut sender = rap();
        (sender.gap, sender.smoothed, sender.settings.alpha) = (0.001, Some(0.1), 1e-9);
        // Without a timeout, which would find the losses too.
        sender.settings.timeout_trips = 1e6;
        let (mut seen, mut gap) = (Vec::new(), sender.gap);
        watch(&mut sender, Time::ZERO, Time::from_s(2), lost, |now, sender| {
            if sender.gap > 1.5 * gap {
                gap = sender.gap;
                seen.push((1e3 * now.as_s(), 1e3 * gap));
            }
        });
        seen
    }

    /// Whether a packet is lost.
    type Loses = fn(u64) -> bool;

    /// Whatever part is lost and in whatever runs, the rate is halved once in a round trip.
    #[test]
    fn losses_of_any_part_halve_the_rate_once_a_round_trip() {
        let some: [(&str, Loses); 7] = [
            ("every second", |sequence| sequence % 2 == 1),
            ("one of three", |sequence| sequence % 3 == 1),
            ("two of three", |sequence| sequence % 3 != 0),
            ("one of four", |sequence| sequence % 4 == 1),
            ("four of five", |sequence| sequence % 5 != 0),
            ("one of ten", |sequence| sequence % 10 == 1),
            ("ten of twenty together", |sequence| sequence % 20 >= 10),
        ];
        for (name, lost) in some {
            let seen = halvings(lost);
            assert!(seen.len() >= 5, "{name}: {seen:?}");
            assert!(
                seen.iter().zip(1..).all(|((_, gap), n)| (gap - f64::from(1 << n)).abs() < 1e-3),
                "{name}: {seen:?}"
            );
            for pair in seen.windows(2) {
                // The packets sent after the last halving, at most twenty until one is lost, and
                // their round trip.
                let (passed, gap) = (pair[1].0 - pair[0].0, pair[0].1);
                assert!((100.0..=100.0 + 22.0 * gap).contains(&passed), "{name}: {seen:?}");
            }
        }
        assert!(halvings(|_| false).is_empty());
    }

    /// The acknowledgements by `Answerer` of the packets in `came`, in this order; returns what is
    /// left of 0 to 9 at the sender.
    fn left(came: &[u64], heard: impl Fn(usize) -> bool) -> (Vec<u64>, bool) {
        let (mut receiver, mut sender, mut is_news) = (Answerer::default(), rap(), false);
        let outstanding = |sequence| Outstanding { sequence, sent: Time::ZERO, is_active: true };
        sender.outstanding = (0..10).map(outstanding).collect();
        for (at, sequence) in came.iter().enumerate() {
            let (_, answer) = receiver.receive(Time::ZERO, &Arrival::of(*sequence, 512, Time::ZERO));
            if heard(at) {
                is_news |= sender.settle(&answer.expect("each packet is answered"));
            }
        }
        (sender.outstanding.iter().map(|packet| packet.sequence).collect(), is_news)
    }

    #[test]
    fn a_packet_that_comes_less_than_three_numbers_late_is_not_lost() {
        assert_eq!(left(&[0, 1, 3, 4, 2, 5], |_| true), (vec![6, 7, 8, 9], false));
        assert_eq!(left(&[0, 1, 3, 4], |_| true), (vec![2, 5, 6, 7, 8, 9], false));
        assert_eq!(left(&[0, 1, 3, 4, 5], |_| true), (vec![6, 7, 8, 9], true));
        assert_eq!(left(&[0, 2, 1, 4, 3, 6, 5, 8, 7], |_| true), (vec![9], false));
        // Two holes; the older one is three numbers below.
        assert_eq!(left(&[1, 3], |_| true), (vec![2, 4, 5, 6, 7, 8, 9], true));
    }

    #[test]
    fn the_next_answer_says_what_a_lost_one_said_of_the_last_hole() {
        // Of 0 to 5 without 2, the acknowledgements of 1 and 5 arrive.
        assert_eq!(left(&[0, 1, 3, 4, 5], |at| [1, 4].contains(&at)), (vec![6, 7, 8, 9], true));
        // Only the last acknowledgement arrives.
        assert_eq!(left(&[0, 1, 2, 3], |at| at == 3), (vec![4, 5, 6, 7, 8, 9], false));
        assert_eq!(left(&[0, 2, 3], |at| at == 2), (vec![1, 4, 5, 6, 7, 8, 9], false));
        assert_eq!(left(&[0, 2, 3, 4], |at| at == 3), (vec![5, 6, 7, 8, 9], true));
    }

    #[test]
    fn a_timeout_costs_the_packet_that_is_due() {
        let mut sender = rap();
        (sender.gap, sender.smoothed, sender.settings.alpha) = (0.03, Some(0.1), 1e-9);
        // The timeout is 120 ms: packets 0 to 3 go at 0, 30, 60 and 90 ms; at 120 ms the first is
        // given up.
        let times = play(&mut sender, Time::ZERO, Time::from_ms(200), |_| true);
        let times: Vec<u64> = times.iter().map(|time| (time.as_s() * 1000.0).round() as u64).collect();
        assert_eq!(times, [0, 30, 60, 90, 180]);
    }

    #[test]
    fn a_rate_that_is_not_used_does_not_grow() {
        let mut sender = rap();
        (sender.gap, sender.smoothed) = (0.01, Some(0.1));
        for (sent, gap) in [(4, 0.01), (5, 0.1 / 11.0)] {
            sender.sent = sent;
            sender.grow();
            assert!((sender.gap - gap).abs() < 1e-15, "{sent}: {}", sender.gap);
        }
    }
}
