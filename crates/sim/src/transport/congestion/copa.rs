//! Copa: the rate approaches one over delta times the queueing delay, and the window oscillates
//! about it.
//!
//! Use when: senders alone should keep the delay of a FIFO low. Three or more flows take each other
//! for flows that fill the buffer: see `competes`. If you control the queue, `fq_codel` serves any
//! sender.
//! Source: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018, sections 2 to 4.
//! Departs: the authors' code differs from the text in the growth of the velocity and in its
//! reaction to heavy loss; this is the text.
//! Chosen: the velocity goes back to 1 as soon as a step goes against the round's direction, and an
//! acknowledgement moves the window by one packet at most; the least and greatest round trips come
//! from filters with three samples; after a timeout slow start restarts with the least window of
//! two. Whether the queue was nearly empty is judged once a round trip, by the least sample of this
//! one and of the five before it, against a tenth of the swing as it is known then. Round trips are
//! counted in packets, so that an idle time is none.
//! Cost: O(1) a packet.
//! Bound: without the competitive mode N flows hold N/delta packets in the queue, dq = N/(delta C),
//! of which the swing makes 1.25 times as much (copa.rs: the_target_of_two_flows_is_met_at_4_ms,
//! copa.rs: two_flows_keep_a_few_packets_waiting,
//! congestion_controls.rs: copas_without_the_competitive_mode_keep_the_bound). With it, the
//! default, that holds for one flow and two. Three flows and more do not empty the queue every five
//! round trips, as section 2.2 expects of them: they mistake each other for flows that fill the
//! buffer, 1/delta grows, and the queue that this makes never empties again. Five flows over 10
//! Mbit/s, a round trip of 100 ms and a buffer of 250 packets keep some 100 waiting in place of
//! 12.5. `competes = false` has the bound for any number of flows, `empty_rounds = 10` for five
//! (congestion_controls.rs: five_copas_take_each_other_for_flows_that_fill_the_buffer).
//! Range: behind fair queueing a flow empties its own queue, so that the competitive mode is never
//! entered.

use super::windowed::Windowed;
use super::{Acked, Beginning, Congested, Congestion, LawSettings, SLOW_START, pace};
use crate::settings::outside;
use fairq_sched::units::{Rate, Time};
use std::collections::VecDeque;

settings! {
    /// Delta and what it is measured with.
    pub struct Settings {
        /// One over the number of packets of a flow that are to wait.
        pub delta: f64 = 0.5,
        /// How long the least round trip is remembered.
        pub least_window: Time = Time::from_s(10),
        /// Whether delta adapts to flows that fill the buffer.
        pub competes: bool = true,
        /// Round trips without a nearly empty queue after which delta adapts.
        pub empty_rounds: u32 = 5,
        /// The part of the swing of the round trip below which the queue is nearly empty.
        pub empty_share: f64 = 0.1,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        outside(&[
            ("delta", self.delta, 0.0, 1e3),
            ("least_window in seconds", self.least_window.as_s(), 0.0, 1e6),
            ("empty_rounds", f64::from(self.empty_rounds), 0.0, 1e6),
            ("empty_share", self.empty_share, 0.0, 1.0),
        ])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// cwnd, v, and the round trips.
pub struct Copa {
    settings: Settings,
    window: f64,
    is_starting: bool,
    velocity: f64,
    direction: Direction,
    /// Rounds in which the direction did not change.
    steady: u32,
    /// The window when the round began.
    round_window: f64,
    /// RTTmin, RTTstanding, and the greatest of the last four round trips, in seconds.
    least: Windowed,
    standing: Windowed,
    greatest: Windowed,
    /// The least sample of each of the last rounds, the latest last, and of the round in progress.
    lows: VecDeque<f64>,
    low: f64,
    /// 1/delta in competitive mode.
    inverse: f64,
    has_lost: bool,
    length: u32,
}

impl Copa {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: beginning.window,
            is_starting: true,
            velocity: 1.0,
            direction: Direction::Up,
            steady: 0,
            round_window: beginning.window,
            least: Windowed::least(),
            standing: Windowed::least(),
            greatest: Windowed::greatest(),
            lows: VecDeque::new(),
            low: f64::INFINITY,
            inverse: 1.0 / settings.delta,
            has_lost: false,
            length: 0,
        }
    }

    /// Section 2.2, after each round: whether other flows keep the queue from emptying.
    fn is_competing(&mut self) -> bool {
        let rounds = self.settings.empty_rounds as usize;
        self.lows.push_back(core::mem::replace(&mut self.low, f64::INFINITY));
        if self.lows.len() <= rounds {
            return false;
        }
        let (least, low) = (self.least.value(), self.lows.iter().copied().fold(f64::INFINITY, f64::min));
        self.lows.pop_front();
        // Nearly empty: dq < 0.1 (RTTmax − RTTmin)
        let was_empty = low - least <= self.settings.empty_share * (self.greatest.value() - least);
        self.settings.competes && !was_empty
    }

    /// dq = RTTstanding − RTTmin, in seconds.
    fn queueing(&self) -> f64 {
        self.standing.value() - self.least.value()
    }

    fn sample(&mut self, acked: &Acked, round_trip: Time) {
        let (at, seconds) = (acked.now.0, round_trip.as_s());
        self.least.update(self.settings.least_window.0, at, seconds);
        self.standing.update(acked.smoothed.0 / 2, at, seconds);
        self.greatest.update(acked.smoothed.0.saturating_mul(4), at, seconds);
        self.low = self.low.min(seconds);
    }

    /// Ends a round: v doubles once the direction was the same for three.
    fn end_round(&mut self, is_competing: bool) {
        let direction = if self.window >= self.round_window { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.steady += 1;
            if self.steady >= 3 {
                self.velocity *= 2.0;
            }
        } else {
            (self.direction, self.steady, self.velocity) = (direction, 0, 1.0);
        }
        self.round_window = self.window;
        if is_competing && !self.has_lost {
            self.inverse += 1.0;
        } else if !is_competing {
            self.inverse = 1.0 / self.settings.delta;
        }
        self.has_lost = false;
    }

    /// The target rate for the queueing delay, in packets a second: 1/(delta dq).
    fn target(&self) -> f64 {
        let queueing = self.queueing();
        if queueing > 0.0 { self.inverse / queueing } else { f64::INFINITY }
    }

    fn step(&mut self, acked: &Acked) {
        let is_below = self.window / self.standing.value() <= self.target();
        if self.is_starting {
            if is_below {
                self.window += if acked.lets_grow() { acked.newly as f64 } else { 0.0 };
                return;
            }
            self.is_starting = false;
            self.velocity = 1.0;
        }
        let direction = if is_below { Direction::Up } else { Direction::Down };
        if direction != self.direction {
            (self.velocity, self.steady) = (1.0, 0);
        }
        // cwnd ± v/(delta cwnd) for each packet
        let step = (self.velocity * self.inverse / self.window).min(1.0) * acked.newly as f64;
        match direction {
            Direction::Up if acked.is_limited => self.window += step,
            Direction::Up => {}
            Direction::Down => self.window = (self.window - step).max(LEAST_WINDOW),
        }
    }
}

impl Congestion for Copa {
    fn window(&self) -> f64 {
        self.window
    }

    fn pace(&self) -> Option<Rate> {
        let standing = self.standing.value();
        // Section 2: 2 cwnd/RTTstanding.
        standing.is_finite().then(|| pace::of(2.0 * self.window / standing, self.length))
    }

    fn acknowledged(&mut self, acked: &Acked) {
        self.length = acked.length;
        if let Some(round_trip) = acked.round_trip {
            self.sample(acked, round_trip);
        }
        if !self.standing.value().is_finite() {
            return;
        }
        if acked.begins_round {
            let is_competing = self.is_competing();
            self.end_round(is_competing);
        }
        if acked.newly > 0 {
            self.step(acked);
        }
    }

    /// Losses are no signal in the default mode, and halve 1/delta in the competitive one.
    fn lost(&mut self, _congested: &Congested) {
        self.has_lost = true;
        self.inverse = (self.inverse / 2.0).max(1.0 / self.settings.delta);
    }

    fn timed_out(&mut self, _congested: &Congested) {
        self.window = LEAST_WINDOW;
        self.is_starting = true;
        (self.velocity, self.steady) = (1.0, 0);
    }

    /// Section 2.2: the two modes differ in delta.
    fn phase(&self) -> &'static str {
        match (self.is_starting, self.inverse > 1.0 / self.settings.delta) {
            (true, _) => SLOW_START,
            (false, false) => "default mode",
            (false, true) => "competitive mode",
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window);
        visit("velocity", self.velocity);
        visit("delta", 1.0 / self.inverse);
        visit("queueing_s", if self.standing.value().is_finite() { self.queueing() } else { 0.0 });
    }
}

const LEAST_WINDOW: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::super::bottleneck::Bottleneck;
    use super::*;

    fn law() -> Copa {
        Copa::new(&Settings::default(), &Beginning::with_window(10.0))
    }

    /// Two flows on 1000 packets/s: each has 500, and 1/(0.5 · 4 ms) = 500.
    #[test]
    fn the_target_of_two_flows_is_met_at_4_ms() {
        let mut law = law();
        law.least.update(1, 0, 0.100);
        law.standing.update(1, 0, 0.104);
        assert!((law.target() - 500.0).abs() < 1e-3 * 500.0, "{}", law.target());
        assert!((1000.0 * law.queueing() - 2.0 * law.inverse).abs() < 1e-3);
    }

    #[test]
    fn the_velocity_doubles_after_three_rounds_one_way_and_falls_to_one_at_the_turn() {
        let mut law = law();
        let mut velocities = Vec::new();
        for window in [11.0, 12.0, 13.0, 15.0, 19.0, 18.0, 17.0] {
            law.window = window;
            law.end_round(false);
            velocities.push(law.velocity);
        }
        assert_eq!(velocities, [1.0, 1.0, 2.0, 4.0, 8.0, 1.0, 1.0]);
    }

    #[test]
    fn the_pace_is_twice_the_window_in_a_round_trip() {
        let mut law = law();
        assert_eq!(law.pace(), None);
        let smoothed = Time::from_ms(100);
        law.acknowledged(&Acked { round_trip: Some(smoothed), smoothed, ..Acked::of(Time::from_ms(100), 1) });
        assert_eq!(law.window, 11.0);
        assert_eq!(law.pace(), Some(pace::of(220.0, 1000)));
    }

    /// Section 3: the oscillation makes it 1.25 N/delta on average, 5 packets.
    #[test]
    fn two_flows_keep_a_few_packets_waiting() {
        let settings = Settings { competes: false, ..Settings::default() };
        let mut laws = [(); 2].map(|()| Copa::new(&settings, &Beginning::with_window(10.0)));
        let [a, b] = &mut laws;
        let line = Bottleneck::new(1000.0, Time::from_ms(100));
        let seen = line.run(&mut [a, b], Time::from_s(20), Time::from_s(60));
        assert!((4.0..=6.0).contains(&seen.queue_mean()), "{}", seen.queue_mean());
        assert!(seen.delivered.iter().sum::<u64>() >= 39_000, "{:?}", seen.delivered);
    }

    /// A flow empties its queue, then is idle for a second. The first sample after that is above
    /// the least round trip: no sign of other flows.
    #[test]
    fn a_rest_is_no_sign_of_others() {
        let mut law = law();
        let mut after = |ms: u64, round_trip_ms| {
            law.acknowledged(&Acked {
                round_trip: Some(Time::from_ms(round_trip_ms)),
                smoothed: Time::from_ms(100),
                begins_round: true,
                ..Acked::of(Time::from_ms(ms), 1)
            });
            law.inverse
        };
        for (at, round_trip) in [100, 104, 108, 104, 100, 103, 106].into_iter().enumerate() {
            after(100 * (at as u64 + 1), round_trip);
        }
        for (ms, round_trip) in [(1700, 103), (1800, 105), (5000, 104)] {
            assert_eq!(after(ms, round_trip), 2.0, "after {ms} ms");
        }
    }

    /// A queue that never empties causes the competitive mode; 1/delta grows by one a round and a
    /// loss halves it.
    #[test]
    fn a_standing_queue_makes_it_compete() {
        let mut law = law();
        let acked = |ms: u64, round_trip_ms| Acked {
            round_trip: Some(Time::from_ms(round_trip_ms)),
            smoothed: Time::from_ms(100),
            begins_round: true,
            ..Acked::of(Time::from_ms(ms), 1)
        };
        law.acknowledged(&acked(100, 100));
        for round in 2..=16 {
            law.acknowledged(&acked(100 * round, if round % 2 == 0 { 190 } else { 200 }));
        }
        assert_eq!(law.inverse, 12.0);
        law.lost(&Congested::of(Time::from_ms(1600), 20));
        assert_eq!(law.inverse, 6.0);
        for _ in 0..3 {
            law.lost(&Congested::of(Time::from_ms(1600), 20));
        }
        assert_eq!(law.inverse, 2.0, "never below 1/delta of the default mode");
    }
}
