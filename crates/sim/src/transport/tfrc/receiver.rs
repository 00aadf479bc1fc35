//! TFRC's receiver: one answer a round trip, and one at once when the rate of loss events rises.
//!
//! Source: RFC 5348, sections 6.1, 6.2, 6.3.1.
//! Chosen: while nothing comes the receiver's timer rests, in place of starting anew without an answer.

use super::Settings;
use super::equation;
use super::history::LossHistory;
use crate::transport::receiver::{Arrival, Receiver};
use crate::transport::{Acknowledgement, Feedback};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// Counts what comes, and reports.
pub struct Reporter {
    settings: Settings,
    history: LossHistory,
    /// The sender's round trip, as it told last.
    round_trip: Time,
    /// When packets came, and their bytes, as far back as a report looks.
    arrivals: VecDeque<(Time, u32)>,
    /// Their bytes.
    bytes: u64,
    /// The greatest receive rate so far, in bytes a second.
    greatest: f64,
    /// The answer to the last packet; nothing if it was sent.
    pending: Option<Acknowledgement>,
    /// What was reported last.
    loss: f64,
    has_reported: bool,
    deadline: Time,
}

impl Reporter {
    /// Nothing came yet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            history: LossHistory::new(settings.history_discounting),
            settings: settings.clone(),
            round_trip: Time::ZERO,
            arrivals: VecDeque::new(),
            bytes: 0,
            greatest: 0.0,
            pending: None,
            loss: 0.0,
            has_reported: false,
            deadline: Time::NEVER,
        }
    }

    /// Bytes a second that came in the last round trip.
    fn rate(&mut self, now: Time) -> f64 {
        while let Some((time, length)) = self.arrivals.front().copied() {
            if now.saturating_sub(time) < self.round_trip {
                break;
            }
            self.bytes -= u64::from(length);
            self.arrivals.pop_front();
        }
        if self.round_trip == Time::ZERO { 0.0 } else { self.bytes as f64 / self.round_trip.as_s() }
    }
}

impl Receiver for Reporter {
    fn receive(&mut self, now: Time, arrival: &Arrival) -> (bool, Option<Acknowledgement>) {
        self.round_trip = arrival.round_trip;
        self.arrivals.push_back((now, arrival.length));
        self.bytes += u64::from(arrival.length);
        let answer = Acknowledgement::of(now, arrival);
        self.pending = Some(Acknowledgement { cumulative: arrival.sequence + 1, ..answer });
        let rate = self.rate(now);
        self.greatest = self.greatest.max(rate);
        // The first event comes as if TCP had lost a packet at the rate that was reached.
        let (target, size, trip) = (self.greatest, f64::from(arrival.length), self.round_trip.as_s());
        let settings = &self.settings;
        let mut first = || match trip > 0.0 {
            true => 1.0 / equation::loss_for(target.max(size / trip), size, trip, settings.timeout_s(trip)),
            false => 1.0,
        };
        let is_marked = arrival.marks.intersects(Marks::CE);
        self.history.came(now, arrival.sequence, is_marked, self.round_trip, &mut first);
        let is_urgent = !self.has_reported || self.history.loss() > self.loss;
        // An answer at once goes by the timer too, which is asked for after each packet without an answer.
        if is_urgent {
            self.deadline = now;
        } else if self.deadline == Time::NEVER {
            self.deadline = now.saturating_add(self.round_trip);
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
        self.has_reported = true;
        if self.round_trip > Time::ZERO {
            self.deadline = now.saturating_add(self.round_trip);
        }
        let feedback = Feedback { rate, loss: self.loss, delay: now - answer.received };
        Some(Acknowledgement { feedback: Some(feedback), ..answer })
    }
}
