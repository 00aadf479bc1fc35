//! A line whose rate walks between two ends: the logarithm of the rate takes a normal step every
//! 100 ms and is reflected at both ends.
//!
//! Chosen: a step has a standard deviation of a tenth of the logarithm's range, so that the rate
//! forgets where it was in some two seconds. The first rate is uniform on the logarithm's range:
//! the walk keeps that distribution, so that no part of a run is special.
//! Chosen: the walk belongs to the line's name and the run's seed. It goes on while the line is
//! idle, so that no packet changes it.

use fairq_link::random::Stream;
use fairq_sched::units::{PS_PER_S, Rate, Time};
use std::collections::VecDeque;

/// How long the rate stays the same.
pub const STEP: Time = Time::from_ms(100);

/// The standard deviation of a step, in parts of the logarithm's range.
pub const DEVIATION: f64 = 0.1;

/// The ends between which a rate walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRange {
    /// The lower end.
    least: Rate,
    /// The upper end.
    most: Rate,
}

impl RateRange {
    /// The range from `least` to `most`; `None` if `most` is not the greater.
    #[must_use]
    pub fn new(least: Rate, most: Rate) -> Option<Self> {
        (least < most).then_some(Self { least, most })
    }

    /// The lower end.
    #[must_use]
    pub const fn least(self) -> Rate {
        self.least
    }

    /// The upper end.
    #[must_use]
    pub const fn most(self) -> Rate {
        self.most
    }

    /// The geometric middle, to the nearest bit per second: the line's nominal rate.
    #[must_use]
    pub fn middle(self) -> Rate {
        let [least, most] = [self.least, self.most].map(|rate| rate.bit_per_s() as f64);
        self.within((least * most).sqrt())
    }

    /// The nearest whole rate within the ends.
    fn within(self, bit_per_s: f64) -> Rate {
        let whole = (bit_per_s.round() as u64).clamp(self.least.bit_per_s(), self.most.bit_per_s());
        Rate::new(whole).unwrap_or(self.least)
    }
}

/// The rates of a line, step by step from time zero.
#[derive(Clone, Debug)]
pub struct Walk {
    range: RateRange,
    /// Where the logarithm is in its range, 0 to 1.
    place: f64,
    stream: Stream,
}

impl Walk {
    /// The walk in `range` of the line called `name` in a run with `seed`.
    #[must_use]
    pub fn new(range: RateRange, seed: u64, name: &str) -> Self {
        let mut stream = Stream::new(seed, &format!("{name}/rate"));
        Self { range, place: stream.uniform(), stream }
    }
}

impl Iterator for Walk {
    type Item = Rate;

    fn next(&mut self) -> Option<Rate> {
        let [low, high] = [self.range.least, self.range.most].map(|rate| libm::log(rate.bit_per_s() as f64));
        let rate = self.range.within(libm::exp(low + self.place * (high - low)));
        self.place = reflected(self.place + DEVIATION * self.stream.normal());
        Some(rate)
    }
}

/// A place on a line, folded into 0 to 1.
fn reflected(place: f64) -> f64 {
    let folded = place.abs() % 2.0;
    if folded > 1.0 { 2.0 - folded } else { folded }
}

/// The transmitter of a line whose rate walks.
#[derive(Clone, Debug)]
pub struct Walking {
    /// The walk from time zero.
    whole: Walk,
    /// The walk from the step behind `kept` on.
    walk: Walk,
    /// The rates of consecutive steps: those of the present transmission.
    kept: VecDeque<Rate>,
    /// The number of the first of these steps.
    first: u64,
    /// From when on the line is free, and what it could have sent since, in bits times picoseconds:
    /// ends are rounded up, so that rounding does not add up.
    free: Time,
    credit: u128,
    /// The present transmission: when it began, with which credit, and its bits.
    began: (Time, u128, u64),
}

impl Walking {
    /// An idle line that follows `walk` from time zero.
    #[must_use]
    pub fn new(walk: Walk) -> Self {
        let whole = walk.clone();
        Self { whole, walk, kept: VecDeque::new(), first: 0, free: Time::ZERO, credit: 0, began: (Time::ZERO, 0, 0) }
    }

    /// The ends of its rate.
    #[must_use]
    pub const fn range(&self) -> RateRange {
        self.whole.range
    }

    /// The line, idle until now, becomes busy.
    pub const fn begin(&mut self, now: Time) {
        self.free = now;
        self.credit = 0;
    }

    /// Sends `bits` right after what was sent before; when that ends.
    pub fn send(&mut self, bits: u64) -> Time {
        self.forget(self.free.0 / STEP.0);
        self.began = (self.free, self.credit, bits);
        let mut open = u128::from(bits) * u128::from(PS_PER_S);
        if self.credit >= open {
            self.credit -= open;
            return self.free;
        }
        open -= self.credit;
        loop {
            let step = self.free.0 / STEP.0;
            let Some(end) = (step + 1).checked_mul(STEP.0) else { return Time::NEVER };
            let rate = u128::from(self.rate(step).bit_per_s());
            let room = rate * u128::from(end - self.free.0);
            if open <= room {
                let time = open.div_ceil(rate);
                self.credit = time * rate - open;
                // It is within a step.
                self.free = Time(self.free.0 + time as u64);
                return self.free;
            }
            open -= room;
            self.free = Time(end);
        }
    }

    /// Stops the present transmission, which would have ended after `now`. Returns the bits that
    /// are left to send, at least one. The line is idle after it.
    pub fn interrupt(&mut self, now: Time) -> u32 {
        let open = self.open(now);
        (self.free, self.credit) = (now, 0);
        u32::try_from(open.div_ceil(u128::from(PS_PER_S)).max(1)).unwrap_or(u32::MAX)
    }

    /// What is left to send of the present transmission, in bits times picoseconds per second.
    #[must_use]
    pub fn open(&self, now: Time) -> u128 {
        let (since, credit, bits) = self.began;
        let kept = self.kept.iter().copied();
        let sent = credit + room(kept, Time(self.first * STEP.0), since, now);
        (u128::from(bits) * u128::from(PS_PER_S)).saturating_sub(sent)
    }

    /// The bits that the line could send between two times.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        room(self.whole.clone(), Time::ZERO, from, to) as f64 / PS_PER_S as f64
    }

    /// Drops the rates of steps before number `step`.
    fn forget(&mut self, step: u64) {
        while self.first < step {
            if self.kept.pop_front().is_none() {
                self.walk.next();
            }
            self.first += 1;
        }
    }

    /// The rate in step number `step`, which is not forgotten.
    fn rate(&mut self, step: u64) -> Rate {
        let at = (step - self.first) as usize;
        while self.kept.len() <= at {
            self.kept.extend(self.walk.next());
        }
        self.kept[at]
    }
}

/// What can be sent between two times at `rates`, whose first step begins at `first`, in bits times
/// picoseconds.
fn room(rates: impl Iterator<Item = Rate>, first: Time, from: Time, to: Time) -> u128 {
    let begins = (0..).map(|step: u64| first.0 + step * STEP.0);
    rates
        .zip(begins)
        .take_while(|(_, begin)| *begin < to.0)
        .map(|(rate, begin)| {
            let time = to.0.min(begin + STEP.0).saturating_sub(from.0.max(begin));
            u128::from(rate.bit_per_s()) * u128::from(time)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(least: u64, most: u64) -> RateRange {
        RateRange::new(Rate::new(least).unwrap(), Rate::new(most).unwrap()).unwrap()
    }

    fn walk(seed: u64) -> Walk {
        Walk::new(range(30_000_000, 130_000_000), seed, "line/forward")
    }

    #[test]
    fn a_walk_stays_within_its_ends_and_takes_the_steps_that_it_says() {
        let range = range(30_000_000, 130_000_000);
        let rates: Vec<f64> = walk(1).take(200_000).map(|rate| rate.bit_per_s() as f64).collect();
        assert!(rates.iter().all(|rate| (30e6..=130e6).contains(rate)));
        let span = libm::log(130.0 / 30.0);
        let logs: Vec<f64> = rates.iter().map(|rate| libm::log(rate / 30e6) / span).collect();
        // Uniform: mean 1/2 and variance 1/12. It forgets its place in some 20 steps, so that
        // 200000 steps are as good as 5000 independent ones: a standard error of 0.004.
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / logs.len() as f64;
        assert!((mean - 0.5).abs() < 0.016 && (variance - 1.0 / 12.0).abs() < 0.006, "{mean} {variance}");
        // Far from the ends a step is normal with the deviation, and has mean zero.
        let far = logs.windows(2).filter(|pair| (0.45..0.55).contains(&pair[0]));
        let steps: Vec<f64> = far.map(|pair| pair[1] - pair[0]).collect();
        let square = steps.iter().map(|step| step * step).sum::<f64>() / steps.len() as f64;
        assert!((square.sqrt() - DEVIATION).abs() < 0.003, "{} of {}", square.sqrt(), steps.len());
        assert_eq!(range.middle(), Rate::new(62_449_980).unwrap());
    }

    #[test]
    fn a_seed_and_a_name_have_a_walk_of_their_own() {
        let first = |walk: Walk| walk.take(50).collect::<Vec<_>>();
        assert_eq!(first(walk(1)), first(walk(1)));
        assert_ne!(first(walk(1)), first(walk(2)));
        assert_ne!(first(walk(1)), first(Walk::new(range(30_000_000, 130_000_000), 1, "line/reverse")));
    }

    #[test]
    fn places_are_reflected_at_both_ends() {
        for (place, folded) in [(0.3, 0.3), (-0.25, 0.25), (1.25, 0.75), (2.25, 0.25), (-1.25, 0.75), (1.0, 1.0)] {
            assert!((reflected(place) - folded).abs() < 1e-12, "{place}");
        }
    }

    /// A packet ends when the line could have sent it and all packets before it, at the rates of
    /// the whole walk.
    #[test]
    fn packets_end_when_the_rates_have_sent_them() {
        let whole = Walk::new(range(1_000, 50_000), 3, "slow");
        let mut line = Walking::new(whole.clone());
        let mut bits = 0;
        let since = Time::from_ms(1234);
        line.begin(since);
        for number in 0..500_u64 {
            bits += 100 + 37 * (number % 11);
            let end = line.send(100 + 37 * (number % 11));
            let sent = |to: u64| room(whole.clone(), Time::ZERO, since, Time(to));
            let need = u128::from(bits) * u128::from(PS_PER_S);
            assert!(sent(end.0) >= need && sent(end.0 - 1) < need, "packet {number}");
        }
        // After a rest the walk is where it would have been.
        line.begin(Time::from_s(500));
        let end = line.send(10_000);
        let sent = room(whole.clone(), Time::ZERO, Time::from_s(500), end);
        assert!(sent >= 10_000 * u128::from(PS_PER_S));
        let capacity = line.capacity(Time::from_s(500), end);
        assert!((capacity - 10_000.0).abs() < 1e-6 * 10_000.0, "{capacity}");
    }

    #[test]
    fn an_interrupted_packet_keeps_what_is_left_of_it() {
        let whole = Walk::new(range(1_000, 50_000), 3, "slow");
        let mut line = Walking::new(whole.clone());
        line.begin(Time::ZERO);
        line.send(30_000);
        let now = Time::from_ms(777);
        let sent = room(whole, Time::ZERO, Time::ZERO, now) / u128::from(PS_PER_S);
        assert_eq!(u128::from(line.interrupt(now)), 30_000 - sent);
    }

    #[test]
    fn ends_in_the_wrong_order_are_no_range() {
        let rate = |bits| Rate::new(bits).unwrap();
        assert_eq!(RateRange::new(rate(2), rate(1)), None);
        assert_eq!(RateRange::new(rate(2), rate(2)), None);
    }
}
