//! The timeout of 4.3BSD as the paper's authors used it: smoothed round trip, mean deviation,
//! Karn's backoff.
//!
//! Source: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, appendix A; Karn and
//! Partridge, SIGCOMM 1987.

use crate::settings::outside;
use fairq_sched::units::Time;

/// With a shorter timeout a packet would be sent again many thousand times before its
/// acknowledgement could arrive.
pub const LEAST_TIMEOUT: Time = Time(1_000_000);

/// Why the first timeout, a setting of this name, is too short, if it is.
#[must_use]
pub fn first_fault(name: &str, first: Time) -> Option<String> {
    let message = || format!("{name} is {first}; the first timeout is at least {LEAST_TIMEOUT}, like \"3 s\"");
    (first < LEAST_TIMEOUT).then(message)
}

settings! {
    /// The estimator's constants.
    pub struct Settings {
        /// How much of a sample's difference enters the smoothed round trip.
        // Appendix A: 1/8 and 1/4.
        pub gain: f64 = 0.125,
        /// How much of a sample's deviation enters the mean deviation.
        pub deviation_gain: f64 = 0.25,
        /// How many mean deviations are added to the smoothed round trip.
        // 4 from 4.3BSD-Reno on; 2 in the appendix.
        pub deviations: f64 = 4.0,
        /// The least time that is added for the deviation.
        pub deviation_floor: Time = Time::from_s(1),
        /// The least timeout.
        pub floor: Time = Time::from_s(1),
        /// The timeout before the first sample.
        pub first: Time = Time::from_s(3),
        /// The greatest backoff factor; none if 0.
        // 4.3BSD's table of backoffs ends at 64.
        pub backoff_limit: u32 = 64,
        /// The length of a tick of the host's clock: round trips and timeouts are then whole ticks,
        /// as with the timers of BSD and in ns-2. Zero: times are exact.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_zero"))]
        pub tick: Time = Time::ZERO,
        /// The greatest timeout; `None`: no limit.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub ceiling: Option<Time> = None,
    }
}

impl Settings {
    /// Why the settings of a `timeout` make no sense, if they do not: it may come to be none at
    /// all, and would then expire again and again in one instant.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let is_whole_tick = self.floor >= self.tick || self.deviation_floor >= self.tick;
        let tick = || format!("timeout.tick is {}, above both timeout.floor and timeout.deviation_floor", self.tick);
        let numbers = [
            ("timeout.gain", self.gain, 0.0, 1.0),
            ("timeout.deviation_gain", self.deviation_gain, 0.0, 1.0),
            ("timeout.deviations", self.deviations, 0.0, 1e6),
        ];
        let first = first_fault("timeout.first", self.first).or_else(|| self.ceiling_fault());
        first.or_else(|| (!is_whole_tick).then(tick)).or_else(|| outside(&numbers))
    }

    /// Why the ceiling makes no sense; `None` if it does: it must not be below other timeouts.
    #[must_use]
    pub fn ceiling_fault(&self) -> Option<String> {
        let ceiling = self.ceiling.filter(|ceiling| *ceiling < self.first || *ceiling < self.floor)?;
        Some(format!("timeout.ceiling is {ceiling}, below the floor or the first timeout"))
    }
}

/// Whether `time` is zero; a file then leaves the field out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
#[cfg(feature = "schema")]
pub(crate) fn is_zero(time: &Time) -> bool {
    *time == Time::ZERO
}

/// The settings in the form that an estimator uses: times in seconds, because a timeout is computed
/// with each acknowledgement.
#[derive(Clone, Debug)]
pub struct Rules {
    settings: Settings,
    deviation_floor_s: f64,
    floor_s: f64,
    first_s: f64,
}

impl From<Settings> for Rules {
    fn from(settings: Settings) -> Self {
        let [deviation_floor_s, floor_s, first_s] =
            [settings.deviation_floor, settings.floor, settings.first].map(Time::as_s);
        Self { settings, deviation_floor_s, floor_s, first_s }
    }
}

impl Rules {
    /// The length of a tick of the host's clock; zero if times are exact.
    #[must_use]
    pub const fn tick(&self) -> Time {
        self.settings.tick
    }
}

/// Round trip, deviation, backoff. Many connections share the rules, so each call passes them.
#[derive(Clone, Debug)]
pub struct Estimator {
    estimate: Estimate,
    backoff: f64,
}

/// The estimate of the round trip.
#[derive(Clone, Copy, Debug)]
enum Estimate {
    /// No sample.
    None,
    /// No sample, and the opening packet timed out, so that the first timeout is longer.
    LateOpening,
    /// Smoothed round trip and mean deviation, in seconds.
    Known(f64, f64),
}

/// RFC 6298, rule (5.7).
const AFTER_LATE_OPENING_S: f64 = 3.0;

impl Default for Estimator {
    fn default() -> Self {
        Self::new()
    }
}

impl Estimator {
    /// No sample yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { estimate: Estimate::None, backoff: 1.0 }
    }

    /// Takes a round-trip sample that ends `now`, by the clock of the host, and ends a backoff.
    pub fn sample(&mut self, rules: &Rules, now: Time, sample: Time) {
        let settings = &rules.settings;
        let m = match settings.tick.0 {
            0 => sample.as_s(),
            // The clock is read when the packet leaves and when its acknowledgement arrives.
            tick => settings.tick.as_s() * (now.0 / tick - (now.0 - sample.0) / tick).max(1) as f64,
        };
        self.estimate = match self.estimate {
            Estimate::None | Estimate::LateOpening => Estimate::Known(m, m / 2.0),
            Estimate::Known(srtt, deviation) => {
                let e = m - srtt;
                let deviation = deviation + settings.deviation_gain * (e.abs() - deviation);
                Estimate::Known(srtt + settings.gain * e, deviation)
            }
        };
        self.end_backoff();
    }

    /// Ends the backoff: the next timeout is the plain one.
    pub fn end_backoff(&mut self) {
        self.backoff = 1.0;
    }

    /// The timer has expired: doubles the next timeout.
    pub fn back_off(&mut self, rules: &Rules) {
        self.backoff *= 2.0;
        let limit = rules.settings.backoff_limit;
        if limit > 0 {
            self.backoff = self.backoff.min(f64::from(limit));
        }
    }

    /// The opening packet timed out and has now been acknowledged: the timeout restarts at 3 s or
    /// more, unless the opening gave a sample. RFC 6298, rule (5.7).
    pub fn open_late(&mut self, rules: &Rules) {
        if !matches!(self.estimate, Estimate::Known(..)) && rules.first_s < AFTER_LATE_OPENING_S {
            (self.backoff, self.estimate) = (1.0, Estimate::LateOpening);
        }
    }

    /// The present timeout.
    #[must_use]
    pub fn timeout(&self, rules: &Rules) -> Time {
        let settings = &rules.settings;
        let seconds = match self.estimate {
            Estimate::LateOpening => AFTER_LATE_OPENING_S,
            Estimate::None => rules.first_s,
            Estimate::Known(srtt, deviation) => {
                let exact = srtt + (settings.deviations * deviation).max(rules.deviation_floor_s);
                let whole = match settings.tick {
                    Time::ZERO => exact,
                    // Without this a sum that misses a tick only by rounding would lose it.
                    tick => libm::floor(exact / tick.as_s() + 1e-9) * tick.as_s(),
                };
                whole.max(rules.floor_s)
            }
        };
        Time::from_s_f64(seconds * self.backoff).min(settings.ceiling.unwrap_or(Time::NEVER))
    }

    /// The smoothed round trip, in seconds.
    #[must_use]
    pub fn smoothed(&self) -> Option<f64> {
        if let Estimate::Known(srtt, _) = self.estimate { Some(srtt) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6298's rules without its floor, with the samples and results of the reference sheet for
    /// it.
    #[test]
    fn samples_move_the_estimate_as_published() {
        let rules = Rules::from(Settings { deviation_floor: Time::ZERO, floor: Time::ZERO, ..Settings::default() });
        let mut estimator = Estimator::new();
        for (sample, srtt, timeout) in
            [(100, 0.1, 0.3), (200, 0.1125, 0.3625), (100, 0.110_937_5, 0.310_937_5), (100, 0.109_570_3, 0.270_507_8)]
        {
            estimator.sample(&rules, Time::from_s(1), Time::from_ms(sample));
            assert!((estimator.smoothed().unwrap() - srtt).abs() < 1e-6);
            assert!((estimator.timeout(&rules).as_s() - timeout).abs() < 1e-6);
        }
    }

    /// ns-2's clock: 142.9 ms are 14 or 15 ticks of 10 ms, by their phase; the first timeout is
    /// three times that. Then a sample of 12 ticks: 14 - 2/8 and four times 7 - 5/4 are 36.75
    /// ticks, 15 - 3/8 and four times 7.5 - 4.5/4 are 40.1.
    #[test]
    fn a_coarse_clock_counts_whole_ticks() {
        let tick = Time::from_ms(10);
        let rules =
            Rules::from(Settings { deviation_floor: tick, floor: Time::from_ms(200), tick, ..Settings::default() });
        for (now, timeout, next) in [(865_205, 420, 360), (865_905, 420, 360), (862_805, 450, 400), (869_999, 420, 360)]
        {
            let mut estimator = Estimator::new();
            estimator.sample(&rules, Time(now * 1_000_000), Time(142_946 * 1_000_000));
            assert_eq!(estimator.timeout(&rules), Time::from_ms(timeout), "{now}");
            estimator.sample(&rules, Time::from_s(1), Time::from_ms(120));
            assert_eq!(estimator.timeout(&rules), Time::from_ms(next), "{now}");
        }
    }

    #[test]
    fn the_backoff_doubles_to_its_limit_and_ends_with_a_sample() {
        let (mut estimator, rules) = (Estimator::new(), Rules::from(Settings::default()));
        let mut seen = Vec::new();
        for _ in 0..8 {
            estimator.back_off(&rules);
            seen.push(estimator.timeout(&rules).as_s());
        }
        assert_eq!(seen, [6.0, 12.0, 24.0, 48.0, 96.0, 192.0, 192.0, 192.0]);
        estimator.sample(&rules, Time::from_s(1), Time::from_s(1));
        assert_eq!(estimator.timeout(&rules), Time::from_s(3));
        // RFC 6298: from one second up to a ceiling of 60 s.
        let rules =
            Rules::from(Settings { first: Time::from_s(1), ceiling: Some(Time::from_s(60)), ..Settings::default() });
        let mut estimator = Estimator::new();
        let timeouts = [1, 2, 4, 8, 16, 32, 60, 60].map(|seconds| {
            let found = estimator.timeout(&rules);
            estimator.back_off(&rules);
            (found, Time::from_s(seconds))
        });
        assert!(timeouts.iter().all(|(found, expected)| found == expected), "{timeouts:?}");
    }
}
