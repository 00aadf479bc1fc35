//! Adaptive RED: RED that moves its greatest probability so that the average queue stays between
//! its thresholds.
//!
//! Use when: you want RED's early signals at a load that is not known: the average queue stays in
//! its band. With few flows it swings; to aim at a delay use `codel` or `pie`.
//! Source: Floyd, Gummadi and Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of
//! RED's Active Queue Management", 2001 (figure 3, sections 4.1 and 4.2).
//! Chosen: half a `target_delay` of packets is `min`, at least 5 packets, and `max` is three times
//! that; the weight of one packet is 1 − exp(−1/C) for C packets of `mean_packet` a second. Periods
//! that were missed are all judged by the average at their end. The target runs from 0.4 to 0.6 of
//! the way from min to max.
//! Cost: O(1) a packet; an update every interval.
//! Bound: with 15 and with 30 adaptive flows the mean of the average is in its target band, where
//! RED's moves with the load (active_queues.rs: adaptive_red_holds_the_average_in_its_band). With
//! few flows, whose halving is a great part of the load, it swings and its mean lies outside the
//! band, with five flows below it; with very many it may lie some packets above.
//! Changes: `min`, `max` and the weight of a packet are those of the new rate at once; the average
//! and the probability stand. An idle time that a change falls into counts at the new rate as a
//! whole.
//! Range: `increase` up to 0.1, `decrease` from 0.5 to 0.99: at most a few hundred steps from one
//! end to the other.

use super::red::{self, Red};
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, traits};
use crate::facts::{Facts, Overflow};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::Reading;
use crate::store::Store;
use crate::units::{Bytes, Limit, Rate, Time};
use alloc::format;
use alloc::string::{String, ToString};

settings! {
    /// Thresholds, and how the probability between them moves.
    pub struct Settings {
        /// The average queueing delay to aim at, if `min` is not given.
        pub target_delay: Time = Time::from_ms(5),
        /// RED's `min`; without it half of what `target_delay` holds, at least 5 packets.
        pub min: Option<Limit> = None,
        /// RED's `max`; without it three times `min`.
        pub max: Option<Limit> = None,
        /// RED's weight; without it by the line's rate.
        pub weight: Option<f64> = None,
        /// How often the probability is moved, at least 1 ms.
        pub interval: Time = Time::from_ms(500),
        /// Added to the probability when the average is above its target, though never more than a
        /// quarter of it.
        pub increase: f64 = 0.01,
        /// The probability is multiplied by it when the average is below its target.
        pub decrease: f64 = 0.9,
        /// The least probability.
        pub probability_min: f64 = 0.01,
        /// The greatest.
        pub probability_max: f64 = 0.5,
        /// See `red`.
        pub gentle: bool = true,
        /// See `red`.
        pub ecn: bool = true,
        /// The usual length of a packet.
        pub mean_packet: Bytes = Bytes(1000),
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { tells_flows_apart: false, marks_congestion: self.ecn, overflow: Overflow::Leaves, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if self.max.is_some() && self.min.is_none() {
            return Some("adaptive_red: max goes with min; give both".to_string());
        }
        if self.interval < INTERVAL_MIN {
            return Some(format!("adaptive_red: interval is {}; it is at least {INTERVAL_MIN}", self.interval));
        }
        if !(self.increase > 0.0 && self.increase <= 0.1) {
            return Some(format!("adaptive_red: increase is {}; it is above 0 and at most 0.1", self.increase));
        }
        if !(0.5..=0.99).contains(&self.decrease) {
            return Some(format!("adaptive_red: decrease is {}; it is from 0.5 to 0.99", self.decrease));
        }
        let (least, most) = (self.probability_min, self.probability_max);
        if !(red::is_share(least) && red::is_share(most) && least <= most) {
            return Some(format!(
                "adaptive_red: probability_min is {least}, probability_max {most}; 0 < probability_min <= probability_max <= 1"
            ));
        }
        self.red(Rate::MAX).fault_of("adaptive_red")
    }

    fn variants() -> alloc::vec::Vec<Self> {
        let (min, max) = (Some(Limit::Bytes(500)), Some(Limit::Bytes(2000)));
        alloc::vec![Self { min, max, weight: Some(0.5), interval: Time::from_ms(50), ..Self::default() }]
    }
}

impl Settings {
    /// RED's settings at `rate`.
    fn red(&self, rate: Rate) -> red::Settings {
        let per_second = 1.0 / red::packet_time(Bytes(self.mean_packet.0.max(1)), rate);
        // min_th = max(5, delay·C/2)
        let half = (self.target_delay.as_s() * per_second / 2.0) as u64;
        let min = self.min.unwrap_or(Limit::Packets(half.max(5)));
        let max = self.max.unwrap_or(match min {
            Limit::Packets(min) => Limit::Packets(min.saturating_mul(3)),
            Limit::Bytes(min) => Limit::Bytes(min.saturating_mul(3)),
            Limit::Unlimited => Limit::Unlimited,
        });
        // wq = 1 − exp(−1/C)
        let weight = self.weight.unwrap_or_else(|| -libm::expm1(-1.0 / per_second));
        let Self { gentle, ecn, mean_packet, probability_min: probability, .. } = *self;
        red::Settings { min, max, probability, weight, gentle, ecn, mean_packet, ..red::Settings::default() }
    }
}

/// RED and when it is next adapted.
pub struct AdaptiveRed {
    settings: Settings,
    red: Red,
    due: Time,
}

impl AdaptiveRed {
    /// RED with the least probability.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let red = Red::named("adaptive_red", &settings.red(line.rate), line);
        Self { settings: settings.clone(), red, due: settings.interval }
    }

    /// Moves the probability once; whether it moved.
    fn adapt(&mut self, average: f64) -> bool {
        let Settings { increase, decrease, probability_min, probability_max, .. } = self.settings;
        let curve = &mut self.red.judge.curve;
        let (before, width) = (curve.probability, curve.max - curve.min);
        if average > curve.min + 0.6 * width {
            curve.probability = (before + increase.min(before / 4.0)).min(probability_max);
        } else if average < curve.min + 0.4 * width {
            curve.probability = (before * decrease).max(probability_min);
        }
        curve.probability != before
    }
}

/// Shorter intervals would be most of the work of a run.
const INTERVAL_MIN: Time = Time::from_ms(1);

impl BufferPolicy for AdaptiveRed {
    traits!(hears_idle = true);

    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        self.red.admit(now, store, queue, flow, packet)
    }

    fn idle(&mut self, now: Time) {
        self.red.idle(now);
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.due)
    }

    fn update(&mut self, now: Time, _store: &Store) {
        if now < self.due {
            return;
        }
        let periods = (now - self.due).0 / self.settings.interval.0 + 1;
        self.due = Time(self.due.0 + periods * self.settings.interval.0);
        let average = self.red.average.at(now, self.red.packet_time);
        for _ in 0..periods {
            if !self.adapt(average) {
                break;
            }
        }
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        self.red.change(now, change)?;
        let red::Settings { min, max, weight, .. } = self.settings.red(rate);
        (self.red.judge.curve.min, self.red.judge.curve.max) = (super::number(min), super::number(max));
        self.red.average.reweigh(weight);
        Ok(())
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.red.readings(now, visit);
    }
}
