//! TFRC's receiver: one report a round trip, and one at once when the loss event rate rises or when
//! the timer last expired without a report.
//!
//! Source: RFC 5348, sections 6.1, 6.2, 6.3.1.
//! Chosen: a timer that expires without a packet to report is off until the next packet, which is
//! reported at once; restarting the timer in the meantime would change nothing. The receive rate is
//! taken over R_(m-1), the round trip that the timer ran for, and in any case counts the packets
//! not reported yet. So it is never below a packet in a round trip, as section 6.2 remarks.

use super::Settings;
use super::equation;
use super::history::LossHistory;
use crate::transport::messages::{Acknowledgement, Arrival, Feedback};
use crate::transport::receiver::Receiver;
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// Counts arrivals, and reports.
pub struct Reporter {
    settings: Settings,
    history: LossHistory,
    /// The sender's round trip, as it stated last.
    round_trip: Time,
    /// R_(m-1): the round trip for which the timer runs; zero before the first known one.
    period: Time,
    /// Arrival times and bytes of packets, as far back as a report needs.
    arrivals: VecDeque<(Time, u32)>,
    /// The bytes of `arrivals`.
    bytes: u64,
    /// The packets at the end of `arrivals` that no report has counted.
    unreported: usize,
    /// The greatest receive rate so far, in bytes a second.
    greatest: f64,
    /// The report on the last packet; `None` if it was sent.
    pending: Option<Acknowledgement>,
    /// The loss event rate reported last.
    loss: f64,
    /// When the timer expires; [`Time::NEVER`] after it expired without a packet to report.
    deadline: Time,
}

impl Reporter {
    /// No packet arrived yet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            history: LossHistory::new(settings.history_discounting),
            settings: settings.clone(),
            round_trip: Time::ZERO,
            period: Time::ZERO,
            arrivals: VecDeque::new(),
            bytes: 0,
            unreported: 0,
            greatest: 0.0,
            pending: None,
            loss: 0.0,
            deadline: Time::NEVER,
        }
    }

    /// X_recv: bytes a second of the last R_(m-1) seconds; 0 while no round trip is known.
    fn rate(&mut self, now: Time) -> f64 {
        let period = if self.period == Time::ZERO { self.round_trip } else { self.period };
        while self.arrivals.len() > self.unreported
            && let Some((time, length)) = self.arrivals.front().copied()
            && now.saturating_sub(time) >= period
        {
            self.bytes -= u64::from(length);
            self.arrivals.pop_front();
        }
        if period == Time::ZERO { 0.0 } else { self.bytes as f64 / period.as_s() }
    }
}

impl Receiver for Reporter {
    fn receive(&mut self, now: Time, arrival: &Arrival) -> (bool, Option<Acknowledgement>) {
        self.round_trip = arrival.round_trip;
        self.arrivals.push_back((now, arrival.length));
        self.bytes += u64::from(arrival.length);
        self.unreported += 1;
        let answer = Acknowledgement::of(now, arrival);
        self.pending = Some(Acknowledgement { cumulative: arrival.sequence + 1, ..answer });
        let rate = self.rate(now);
        self.greatest = self.greatest.max(rate);
        // The first event is treated as if TCP had lost a packet at the rate that was reached.
        let (target, size, trip) = (self.greatest, f64::from(arrival.length), self.round_trip.as_s());
        let settings = &self.settings;
        let mut first = || match trip > 0.0 {
            true => 1.0 / equation::loss_for(target.max(size / trip), size, trip, settings.timeout_s(trip)),
            false => 1.0,
        };
        let is_marked = arrival.marks.intersects(Marks::CE);
        self.history.came(now, arrival.sequence, is_marked, self.round_trip, &mut first);
        // Section 6.1, steps 2 and 4. A report at once uses the timer too, which is checked after
        // each packet without a report.
        if self.deadline == Time::NEVER || self.history.loss() > self.loss {
            self.deadline = now;
        }
        (true, None)
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn wake(&mut self, now: Time) -> Option<Acknowledgement> {
        self.deadline = Time::NEVER;
        let answer = self.pending.take()?;
        let rate = self.rate(now);
        self.loss = self.history.loss();
        (self.unreported, self.period) = (0, self.round_trip);
        if self.round_trip > Time::ZERO {
            self.deadline = now.saturating_add(self.round_trip);
        }
        let feedback = Feedback { rate, loss: self.loss, delay: now - answer.received };
        Some(Acknowledgement { feedback: Some(feedback), ..answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: Time = Time::from_ms(100);

    /// The receive rates that are reported for packets of 1000 bytes that arrive at `times`, each
    /// with a round trip of 100 ms, and the times of the reports.
    fn reports(times: impl Iterator<Item = Time>) -> Vec<(Time, f64)> {
        let mut receiver = Reporter::new(&Settings::default());
        let mut reports = Vec::new();
        for (sequence, time) in times.enumerate() {
            while receiver.deadline() < time {
                let now = receiver.deadline();
                reports.extend(receiver.wake(now).and_then(|ack| ack.feedback).map(|feedback| (now, feedback.rate)));
            }
            receiver.receive(time, &Arrival { round_trip: TRIP, ..Arrival::of(sequence as u64, 1000, time) });
            if receiver.deadline() == time {
                let answer = receiver.wake(time).and_then(|ack| ack.feedback);
                reports.extend(answer.map(|feedback| (time, feedback.rate)));
            }
        }
        reports
    }

    /// RFC 5348, section 6.2: rule 2 gives a minimum of one packet in a round trip.
    #[test]
    fn a_packet_that_comes_after_a_silent_round_trip_is_answered_at_once_and_counted() {
        for gap_ms in [101, 150, 199, 200, 201, 300, 1000, 64_000] {
            let times: Vec<Time> = (0..20).map(|packet| Time::from_ms(gap_ms * packet)).collect();
            let reports = reports(times.iter().copied());
            assert!(reports.iter().all(|(_, rate)| *rate >= 10_000.0), "{gap_ms} ms: {reports:?}");
            if gap_ms > 200 {
                let answered: Vec<Time> = reports.iter().map(|(time, _)| *time).collect();
                assert_eq!(answered, times, "{gap_ms} ms");
            }
        }
    }

    /// A report counts each packet of the round trip before it, exactly once.
    #[test]
    fn a_steady_stream_is_reported_as_it_is() {
        for (gap_ms, rate) in [(100, 10_000.0), (50, 20_000.0), (25, 40_000.0), (1, 1_000_000.0)] {
            let reports = reports((0..1000).map(|packet| Time::from_ms(gap_ms * packet)));
            assert!(reports.len() > 5);
            assert!(reports[2..].iter().all(|(_, found)| *found == rate), "{gap_ms} ms: {reports:?}");
        }
    }

    /// The timer ran for 100 ms; another round trip stated by a packet matters for the next report
    /// only.
    #[test]
    fn the_rate_is_taken_over_the_time_that_the_timer_ran_for() {
        let mut receiver = Reporter::new(&Settings::default());
        for (ms, trip_ms, deadline) in [(0, 100, Time::ZERO), (1, 100, TRIP), (2, 1, TRIP)] {
            let round_trip = Time::from_ms(trip_ms);
            receiver.receive(Time::from_ms(ms), &Arrival { round_trip, ..Arrival::of(ms, 1000, Time::from_ms(ms)) });
            assert_eq!(receiver.deadline(), deadline);
            if deadline == Time::ZERO {
                receiver.wake(deadline);
            }
        }
        let feedback = receiver.wake(TRIP).and_then(|ack| ack.feedback).expect("two packets came");
        assert_eq!(feedback.rate, 20_000.0);
    }
}
