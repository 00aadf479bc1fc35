//! The history of losses: which packets were lost, which losses are one event, how many packets lie
//! between events.
//!
//! Source: RFC 5348, sections 5.1 (three later packets indicate a loss), 5.2 (its time is
//! interpolated; losses within a round trip are one event), 5.3, 5.4 (the average of eight
//! intervals), 5.5 (discounting).

use fairq_sched::units::Time;
use std::collections::VecDeque;

/// The weights of the intervals, the latest first.
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// How many closed intervals count.
const INTERVALS: usize = 8;

/// The number of later packets that indicates a loss.
const LATER: usize = 3;

/// The least factor to which old intervals are discounted.
const DISCOUNT_LEAST: f64 = 0.5;

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
struct Packet {
    sequence: u64,
    came: Time,
    is_marked: bool,
}

/// The lost packets and loss events.
#[derive(Clone, Debug)]
pub struct LossHistory {
    discounts: bool,
    /// Up to this packet all losses are known.
    settled: Option<Packet>,
    /// Packets that arrived above it, sorted.
    above: VecDeque<Packet>,
    highest: u64,
    /// The first loss of the last event.
    event: Option<(u64, Time)>,
    /// The closed intervals in packets, the latest first, each with its discount.
    intervals: VecDeque<(f64, f64)>,
}

impl LossHistory {
    /// No packet arrived yet. `discounts` says whether old intervals count less in a time without
    /// loss.
    #[must_use]
    pub fn new(discounts: bool) -> Self {
        let (above, intervals) = (VecDeque::new(), VecDeque::with_capacity(INTERVALS + 1));
        Self { discounts, settled: None, above, highest: 0, event: None, intervals }
    }

    /// Packet `sequence` arrives at `now`. Losses less than `round_trip` after the first of an
    /// event belong to it; `first` gives the length in packets of the interval before the very
    /// first event.
    pub fn came(
        &mut self,
        now: Time,
        sequence: u64,
        is_marked: bool,
        round_trip: Time,
        first: &mut dyn FnMut() -> f64,
    ) {
        let packet = Packet { sequence, came: now, is_marked };
        self.highest = self.highest.max(sequence);
        let Some(settled) = self.settled else {
            self.settled = Some(packet);
            return;
        };
        if sequence <= settled.sequence {
            // The packet was counted as lost, or is a copy.
            return;
        }
        let place = self.above.partition_point(|other| other.sequence < sequence);
        if self.above.get(place).is_some_and(|other| other.sequence == sequence) {
            return;
        }
        self.above.insert(place, packet);
        self.settle(round_trip, first);
    }

    /// Decides which packets were lost, as far as that is known.
    fn settle(&mut self, round_trip: Time, first: &mut dyn FnMut() -> f64) {
        while let (Some(below), Some(next)) = (self.settled, self.above.front().copied()) {
            if next.sequence > below.sequence + 1 {
                if self.above.len() < LATER {
                    return;
                }
                let (span, missing) = (next.came.saturating_sub(below.came), next.sequence - below.sequence);
                for lost in 1..missing {
                    let part = u128::from(span.0) * u128::from(lost) / u128::from(missing);
                    self.lose(below.sequence + lost, below.came + Time(part as u64), round_trip, first);
                }
            }
            if next.is_marked {
                self.lose(next.sequence, next.came, round_trip, first);
            }
            self.settled = Some(next);
            self.above.pop_front();
        }
    }

    /// Packet `sequence` was lost (or marked) at `time`.
    fn lose(&mut self, sequence: u64, time: Time, round_trip: Time, first: &mut dyn FnMut() -> f64) {
        let length = match self.event {
            None => first(),
            Some((_, began)) if time <= began.saturating_add(round_trip) => return,
            Some((began, _)) => (sequence - began) as f64,
        };
        let discount = self.discount(self.open());
        self.intervals.iter_mut().for_each(|(_, factor)| *factor *= discount);
        self.intervals.push_front((length, 1.0));
        self.intervals.truncate(INTERVALS);
        self.event = Some((sequence, time));
    }

    /// Packets since the last event, including its first packet.
    fn open(&self) -> f64 {
        self.event.map_or(0.0, |(sequence, _)| (self.highest + 1).saturating_sub(sequence) as f64)
    }

    /// The discount of the closed intervals, if the open one has `open` packets.
    fn discount(&self, open: f64) -> f64 {
        let (packets, weight) = self.closed();
        let mean = packets / weight;
        if !self.discounts || self.intervals.is_empty() || open <= 2.0 * mean {
            return 1.0;
        }
        (2.0 * mean / open).max(DISCOUNT_LEAST)
    }

    /// The weighted sum of the closed intervals, and of their weights.
    fn closed(&self) -> (f64, f64) {
        let add = |(packets, sum), ((length, factor), weight): (&(f64, f64), f64)| {
            (packets + length * weight * factor, sum + weight * factor)
        };
        self.intervals.iter().zip(WEIGHTS).fold((0.0, 0.0), add)
    }

    /// The average interval in packets; `None` before the first event.
    #[must_use]
    pub fn mean_interval(&self) -> Option<f64> {
        self.event?;
        let open = self.open();
        let discount = self.discount(open);
        // Of k closed intervals I_tot0 takes the latest k − 1 beside the open one, I_tot1 all k.
        let (mut packets, mut weights) = (open * WEIGHTS[0], WEIGHTS[0]);
        let latest = self.intervals.len().saturating_sub(1);
        for ((length, factor), weight) in self.intervals.iter().take(latest).zip(&WEIGHTS[1..]) {
            packets += length * weight * factor * discount;
            weights += weight * factor * discount;
        }
        let (closed, closed_weights) = self.closed();
        Some((packets / weights).max(closed / closed_weights))
    }

    /// The loss event rate: loss events per packet.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.mean_interval().map_or(0.0, |mean| 1.0 / mean.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: Time = Time::from_ms(100);

    /// A history with the given closed intervals, the latest first, and `open` packets since.
    fn with(open: u64, closed: [f64; 8], discounts: bool) -> LossHistory {
        let intervals = closed.iter().map(|length| (*length, 1.0)).collect();
        LossHistory { event: Some((1, Time::ZERO)), highest: open, intervals, ..LossHistory::new(discounts) }
    }

    #[test]
    fn the_average_takes_the_open_interval_only_if_that_makes_it_longer() {
        let closed = [200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0, 900.0];
        let mean = with(100, closed, false).mean_interval().unwrap();
        assert!((mean - 2800.0 / 6.0).abs() < 1e-9, "{mean} is not 466.67");
        let mean = with(5000, [100.0; 8], false).mean_interval().unwrap();
        assert!((mean - 5500.0 / 6.0).abs() < 1e-9, "{mean} is not 916.67");
    }

    #[test]
    fn a_long_time_without_loss_discounts_what_was_before() {
        // Half the weight, not less: (5000 + 100 · 2.5) / (1 + 2.5).
        let mean = with(5000, [100.0; 8], true).mean_interval().unwrap();
        assert!((mean - 5250.0 / 3.5).abs() < 1e-9, "{mean}");
        // 2 · 100 / 250 = 0.8 of the weight: (250 + 400) / (1 + 4).
        let mean = with(250, [100.0; 8], true).mean_interval().unwrap();
        assert!((mean - 650.0 / 5.0).abs() < 1e-9, "{mean}");
    }

    /// Packets a millisecond apart, without those in `lost`; returns the first losses of its
    /// events.
    fn events(packets: u64, lost: &[u64], order: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut history = LossHistory::new(false);
        let mut events = Vec::new();
        for at in 0..packets {
            let sequence = order(at);
            if !lost.contains(&sequence) {
                history.came(Time::from_ms(at), sequence, false, TRIP, &mut || 1000.0);
                let event = history.event.map(|(sequence, _)| sequence);
                events.extend(event.filter(|event| events.last() != Some(event)));
            }
        }
        events
    }

    #[test]
    fn losses_of_one_round_trip_are_one_event() {
        assert_eq!(events(600, &[50, 51, 90, 150, 151, 300], |at| at), [50, 151, 300]);
    }

    #[test]
    fn three_later_packets_tell_of_a_loss_and_two_do_not() {
        assert_eq!(events(54, &[50], |at| at), [50]);
        assert!(events(53, &[50], |at| at).is_empty());
        // Packet 50 arrives two places late: no loss. Three places late: a loss.
        let late = |by: u64| {
            move |at: u64| match at {
                at if at < 50 || at > 50 + by => at,
                at if at == 50 + by => 50,
                at => at + 1,
            }
        };
        assert!(events(100, &[], late(2)).is_empty());
        assert_eq!(events(100, &[], late(3)), [50]);
    }

    #[test]
    fn an_interval_reaches_from_the_first_loss_of_an_event_to_that_of_the_next() {
        let mut history = LossHistory::new(false);
        for sequence in (0..1000).filter(|sequence| sequence % 250 != 249) {
            history.came(Time::from_ms(sequence), sequence, false, TRIP, &mut || 40.0);
        }
        let lengths: Vec<f64> = history.intervals.iter().map(|(length, _)| *length).collect();
        assert_eq!(lengths, [250.0, 250.0, 40.0]);
        assert_eq!(history.open(), 250.0);
        // With the open interval 750 / 3, without it 540 / 3: the sum with the open one does not
        // contain the synthetic interval before the first event.
        assert_eq!(history.loss(), 3.0 / 750.0);
    }

    /// RFC 5348, section 5.4, literally, over intervals I_0 (open) to I_k.
    fn mean_by_the_text(intervals: &[f64]) -> f64 {
        let k = intervals.len() - 1;
        let (mut total_0, mut total_1, mut weights) = (0.0, 0.0, 0.0);
        for i in 0..k {
            total_0 += intervals[i] * WEIGHTS[i];
            weights += WEIGHTS[i];
        }
        for i in 1..=k {
            total_1 += intervals[i] * WEIGHTS[i - 1];
        }
        f64::max(total_0, total_1) / weights
    }

    #[test]
    fn the_average_is_that_of_the_text_for_one_to_eight_closed_intervals() {
        let lengths = [50.0, 250.0, 30.0, 400.0, 7.0, 90.0, 120.0, 60.0];
        for closed in 1..=8 {
            for open in [1_u64, 20, 100, 1000] {
                let intervals = lengths[..closed].iter().map(|length| (*length, 1.0)).collect();
                let event = Some((1, Time::ZERO));
                let history = LossHistory { event, highest: open, intervals, ..LossHistory::new(false) };
                let mut all = vec![open as f64];
                all.extend(&lengths[..closed]);
                let (found, expected) = (history.mean_interval().expect("an event"), mean_by_the_text(&all));
                assert!((found - expected).abs() < 1e-9, "{closed} closed, {open} open: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn a_mark_is_an_event_as_a_loss_is() {
        let mut history = LossHistory::new(false);
        for sequence in 0..10 {
            history.came(Time::from_ms(sequence), sequence, sequence == 5, TRIP, &mut || 7.0);
        }
        assert_eq!(history.event.map(|(sequence, _)| sequence), Some(5));
    }
}
