//! Virtual weighted fair queueing (V-WFQ): first in, first out, where a flow above its fair rate
//! loses packets on arrival.
//!
//! Use when: you reproduce the NTT paper: one FIFO that shares by weight from measured rates. Rates
//! are a window old and `rate_min` matters; for new work use `afd`.
//! Source: Miyamura, Kurimoto, Dhananjaya, Aoki, Nakagawa and Yamanaka, "Active Queue Control
//! Scheme for Achieving Approximately Fair Bandwidth Allocation" (NTT; sections II.B.1 and II.B.2,
//! figure 3).
//! Departs: nowhere that is known; a rate's window begins at a whole number of windows since the
//! start of the run.
//! Chosen: the scan of figure 3 is damaged. `reading = "text"` is section II.B.2: every interval,
//! if the average queue is at `queue_max` or above, AR is halved; below `queue_min` it grows by a
//! tenth; between them it stays. `reading = "figure"` is what is left of the figure: AR becomes MGR
//! in its first branch (taken as the one at `queue_max` or above), grows by a tenth below
//! `queue_min`, and is halved between them. We read MGR as a minimum guaranteed rate: AR is never
//! below `rate_min`, nor above `rate_max` (AR_max). As in the figure the average is renewed after
//! AR. AR begins at `rate_max`. The source gives no value of its constants but the tenth and the
//! half: they are settings.
//! Cost: O(1) a packet and interval; a rate, a count and a window's number for each flow.
//! Bound: a flow of constant rate R passes with probability min(1, wi·AR/R), so that flows above
//! their shares have equal ones for their weights (edge_and_core.rs:
//! vwfq_gives_flows_above_their_share_the_same_for_their_weight); rates are one window old, and a
//! new flow passes freely for its first (edge_and_core.rs:
//! vwfq_knows_a_flow_only_after_its_first_window).
//! Changes: the intervals that have passed are judged before a new rate counts; then AR moves into
//! its new bounds where they are not set. The flows' measured rates stand; a weight counts from the
//! flow's next packet on.
//! Range: AR swings, for it is halved again until the queue is short. The part of the line that
//! constant flows leave unused, and what flows just at their share lose by it, depend on
//! `rate_min`: write the least share that a flow is to have (edge_and_core.rs:
//! vwfq_fills_more_of_the_line_above_a_guaranteed_rate).

use super::rate_estimate::window_fault;
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, HeldPacket, Line, Slot, Verdict, traits};
use crate::facts::Overflow;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{self, Unit};
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Limit, Rate, Time};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Which reading of the damaged figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Reading {
    /// Halved at `queue_max` and above, held between the thresholds.
    #[default]
    Text,
    /// `rate_min` at `queue_max` and above, halved between the thresholds.
    Figure,
}

settings! {
    /// Windows, thresholds and the range of the fair rate.
    pub struct Settings {
        /// Over how long a flow's rate is counted (Tw).
        pub window: Time = Time::from_ms(100),
        /// How often the fair rate AR is renewed (t_update).
        pub interval: Time = Time::from_ms(20),
        /// How much a new sample of the queue counts in its average (α).
        pub gain: f64 = 1.0,
        /// Below it the line is taken as underused (q_min).
        pub queue_min: Limit = Limit::Bytes(32_000),
        /// From it on the line is taken as congested (q_max).
        pub queue_max: Limit = Limit::Bytes(64_000),
        /// The least fair rate of weight 1 (MGR); a thousandth of the line's rate if nothing is
        /// said.
        pub rate_min: Option<Rate> = None,
        /// The greatest fair rate of weight 1 (AR_max); the line's rate if nothing is said.
        pub rate_max: Option<Rate> = None,
        /// Which reading of the source's figure.
        pub reading: Reading = Reading::Text,
    }
}

impl Part for Settings {
    facts!(goes_by_weights = true, needs_rate = true, overflow = Overflow::Leaves);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let windows = [("window", self.window), ("interval", self.interval)];
        if let Some(fault) = windows.into_iter().find_map(|(name, window)| window_fault(name, window)) {
            return Some(fault);
        }
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            return Some(format!("gain = {}: write a number above 0 and at most 1", self.gain));
        }
        let is_ordered = match (self.queue_min, self.queue_max) {
            (Limit::Packets(least), Limit::Packets(most)) | (Limit::Bytes(least), Limit::Bytes(most)) => least <= most,
            _ => false,
        };
        if !is_ordered {
            let (least, most) = (self.queue_min, self.queue_max);
            return Some(format!(
                "queue_min = \"{least}\", queue_max = \"{most}\": write both in packets or both in bytes, the lesser first"
            ));
        }
        match (self.rate_min, self.rate_max) {
            (Some(least), Some(most)) if least > most => {
                Some(format!("rate_min = \"{least}\" is above rate_max = \"{most}\": write the lesser as rate_min"))
            }
            _ => None,
        }
    }

    fn variants() -> Vec<Self> {
        let (least, most) = (Limit::Bytes(1000), Limit::Bytes(2000));
        let (short, rate) = (Time::from_ms(1), Rate::new(1000));
        vec![Self {
            window: short,
            interval: short,
            queue_min: least,
            queue_max: most,
            rate_min: rate,
            reading: Reading::Figure,
            ..Self::default()
        }]
    }
}

/// Counts of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// The number of the window that is being counted.
    window: u64,
    bits: u64,
    /// The rate in the previous window, in bit/s.
    rate: f64,
}

/// Compares each flow's rate with the fair one.
pub struct Vwfq {
    settings: Settings,
    flows: Vec<Count>,
    /// AR in bit/s, and its range.
    fair: f64,
    fair_min: f64,
    fair_max: f64,
    queue_average: f64,
    /// The queue length since it last changed, in the unit of the thresholds.
    waiting: u64,
    /// When AR is renewed next.
    due: Time,
    random: Random,
}

impl Vwfq {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let mut vwfq = Self {
            settings: settings.clone(),
            flows: Vec::new(),
            fair: f64::INFINITY,
            fair_min: 0.0,
            fair_max: f64::INFINITY,
            queue_average: 0.0,
            waiting: 0,
            due: settings.interval,
            random: Random::new(line.seed, "vwfq"),
        };
        vwfq.set_range(line.rate);
        vwfq.fair = vwfq.fair_max;
        vwfq
    }

    fn set_range(&mut self, rate: Rate) {
        let of = |rate: Rate| rate.bit_per_s() as f64;
        self.fair_max = of(self.settings.rate_max.unwrap_or(rate));
        self.fair_min = self.settings.rate_min.map_or(of(rate) / 1000.0, of).min(self.fair_max);
        self.fair = self.fair.clamp(self.fair_min, self.fair_max);
    }

    /// Renews AR as often as was due, with the queue as it has been since the last change.
    fn catch_up(&mut self, now: Time) {
        let interval = self.settings.interval;
        while self.due <= now {
            let before = (self.fair, self.queue_average);
            self.renew();
            self.due = self.due.saturating_add(interval);
            // Under a queue that stands still both come to rest; the other periods change nothing.
            if (self.fair, self.queue_average) == before && self.due <= now {
                let periods = (now - self.due).0 / interval.0 + 1;
                self.due = self.due.saturating_add(Time(periods * interval.0));
            }
        }
    }

    fn renew(&mut self) {
        let threshold = |limit| match limit {
            Limit::Packets(n) | Limit::Bytes(n) => n as f64,
            Limit::Unlimited => f64::INFINITY,
        };
        let is_congested = self.queue_average >= threshold(self.settings.queue_max);
        let is_underused = self.queue_average < threshold(self.settings.queue_min);
        let fair = match self.settings.reading {
            _ if is_underused => self.fair + 0.1 * self.fair,
            Reading::Text if is_congested => self.fair / 2.0,
            Reading::Text => self.fair,
            Reading::Figure if is_congested => self.fair_min,
            Reading::Figure => self.fair / 2.0,
        };
        self.fair = fair.clamp(self.fair_min, self.fair_max);
        // q_average ← α·q_now + (1 − α)·q_average
        self.queue_average += self.settings.gain * (self.waiting as f64 - self.queue_average);
    }

    /// The rate of the flow in slot `flow` in the last window, in bit/s, after `length` more bytes
    /// of it.
    fn rate(&mut self, now: Time, flow: Slot, length: u32) -> f64 {
        let window = now.0 / self.settings.window.0;
        let count = entry(&mut self.flows, flow, Count::default());
        if count.window < window {
            let is_next = count.window + 1 == window;
            count.rate = if is_next { count.bits as f64 / self.settings.window.as_s() } else { 0.0 };
            (count.window, count.bits) = (window, 0);
        }
        count.bits += u64::from(length) * 8;
        count.rate
    }

    fn measure(&mut self, store: &Store) {
        self.waiting = match self.settings.queue_max {
            Limit::Bytes(_) => store.bytes(),
            Limit::Packets(_) | Limit::Unlimited => store.packets(),
        };
    }
}

impl BufferPolicy for Vwfq {
    traits!(hears_joins = true);

    fn admit(&mut self, now: Time, _store: &Store, _queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        self.catch_up(now);
        let rate = self.rate(now, flow.slot, packet.length);
        // AR_i = w_i·AR; dropped with probability (R_i − AR_i)/R_i.
        let fair = self.fair * f64::from(flow.weight.thousandths()) / 1000.0;
        if rate > fair && self.random.unit() * rate >= fair {
            return Verdict::Drop(Reason::OverShare);
        }
        Verdict::Pass
    }

    fn joined(&mut self, now: Time, store: &Store, _held: HeldPacket<'_>) {
        self.catch_up(now);
        self.measure(store);
    }

    fn left(&mut self, now: Time, store: &Store, _held: HeldPacket<'_>, _is_sent: bool) {
        self.catch_up(now);
        self.measure(store);
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        match *change {
            Change::Rate(rate) => {
                self.catch_up(now);
                self.set_range(rate);
            }
            Change::Weight(..) => {}
            _ => return change.not_used(),
        }
        Ok(())
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        let Some(count) = self.flows.get_mut(flow as usize) else { return true };
        let is_clear = count.window + 1 < now.0 / self.settings.window.0 || count.bits == 0 && count.rate == 0.0;
        if is_clear {
            *count = Count::default();
        }
        is_clear
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(reading::Reading<'_>)) {
        visit(reading::Reading::real("fair_rate", Unit::BitPerS, self.fair));
        visit(reading::Reading::real("queue_average", Unit::None, self.queue_average));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vwfq(settings: &Settings) -> Vwfq {
        Vwfq::new(settings, &Line::new(Rate::new(1_000_000).unwrap()))
    }

    #[test]
    fn a_rate_is_what_came_in_the_last_whole_window() {
        let mut vwfq = vwfq(&Settings::default());
        assert_eq!(vwfq.rate(Time::from_ms(10), 1, 1000), 0.0);
        assert_eq!(vwfq.rate(Time::from_ms(99), 1, 250), 0.0);
        assert_eq!(vwfq.rate(Time::from_ms(100), 1, 500), 100_000.0);
        assert_eq!(vwfq.rate(Time::from_ms(199), 1, 500), 100_000.0);
        assert_eq!(vwfq.rate(Time::from_ms(250), 1, 500), 80_000.0);
        assert_eq!(vwfq.rate(Time::from_ms(450), 1, 500), 0.0, "a window without a packet lies between");
        assert!(!vwfq.is_clear(Time::from_ms(599), 1));
        assert!(vwfq.is_clear(Time::from_ms(600), 1));
    }

    #[test]
    fn the_fair_rate_is_halved_above_held_between_and_grows_below() {
        let (interval, least, most) = (Time::from_ms(10), Limit::Packets(10), Limit::Packets(30));
        let marks = Settings { interval, queue_min: least, queue_max: most, ..Settings::default() };
        let mut vwfq = vwfq(&marks);
        let mut ms = 0;
        let mut after = |vwfq: &mut Vwfq, waiting| {
            // The average is renewed after AR: a queue counts from the next interval on.
            vwfq.queue_average = waiting as f64;
            vwfq.waiting = waiting;
            ms += 10;
            vwfq.catch_up(Time::from_ms(ms));
            vwfq.fair
        };
        assert_eq!(after(&mut vwfq, 30), 500_000.0);
        assert_eq!(after(&mut vwfq, 29), 500_000.0);
        assert_eq!(after(&mut vwfq, 10), 500_000.0);
        assert_eq!(after(&mut vwfq, 9), 550_000.0);
        (0..20).for_each(|_| assert!(after(&mut vwfq, 1_000) > 0.0));
        assert_eq!(vwfq.fair, 1000.0, "not below the least");
        vwfq.settings.reading = Reading::Figure;
        vwfq.fair = 500_000.0;
        assert_eq!(after(&mut vwfq, 29), 250_000.0);
        assert_eq!(after(&mut vwfq, 9), 275_000.0);
        assert_eq!(after(&mut vwfq, 30), 1000.0);
        (0..100).for_each(|_| assert!(after(&mut vwfq, 0) > 0.0));
        assert_eq!(vwfq.fair, 1_000_000.0, "nor above the greatest");
    }

    #[test]
    fn missed_periods_are_those_that_would_have_been_run() {
        for waiting in [0, 30_000, 50_000, 100_000] {
            let slow = Settings { gain: 0.1, ..Settings::default() };
            let (mut once, mut often) = (vwfq(&slow), vwfq(&slow));
            (once.waiting, often.waiting) = (waiting, waiting);
            (once.queue_average, often.queue_average) = (40_000.0, 40_000.0);
            once.catch_up(Time::from_s(1000));
            for ms in 0..=1_000_000 {
                often.catch_up(Time::from_ms(ms));
            }
            assert_eq!((once.fair, once.queue_average, once.due), (often.fair, often.queue_average, often.due));
        }
    }
}
