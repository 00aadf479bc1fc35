//! The greatest or the least of the samples of a sliding window, with the memory of three samples.
//!
//! Source: Kathleen Nichols' windowed filter, as BBR uses it: the best sample, the best after it,
//! the best after that. A sample that leaves the window gives way to the next; a quarter and a half
//! of the window without a better one renew the second and the third, so that they do not age with
//! the first. The result is exact while samples get better and may forget a sample that was never
//! among the three.

/// The sample that counts as best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    Greatest,
    Least,
}

/// A sample and its time, in the unit of the window: rounds or picoseconds.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: u64,
    value: f64,
}

/// The best three samples, in order of arrival.
#[derive(Clone, Debug)]
pub struct Windowed {
    sense: Sense,
    best: [Sample; 3],
}

impl Windowed {
    /// The greatest; 0 before the first sample.
    #[must_use]
    pub const fn greatest() -> Self {
        Self { sense: Sense::Greatest, best: [Sample { at: 0, value: 0.0 }; 3] }
    }

    /// The least; infinity before the first sample.
    #[must_use]
    pub const fn least() -> Self {
        Self { sense: Sense::Least, best: [Sample { at: 0, value: f64::INFINITY }; 3] }
    }

    /// The best of the window that ended with the last sample.
    #[must_use]
    pub const fn value(&self) -> f64 {
        self.best[0].value
    }

    /// Takes a sample at `at`, which never decreases. Returns the best of the samples that are no
    /// older than `window`.
    pub fn update(&mut self, window: u64, at: u64, value: f64) -> f64 {
        let sample = Sample { at, value };
        if self.is_as_good(value, self.best[0].value) || at - self.best[2].at > window {
            self.best = [sample; 3];
            return value;
        }
        if self.is_as_good(value, self.best[1].value) {
            self.best = [self.best[0], sample, sample];
        } else if self.is_as_good(value, self.best[2].value) {
            self.best[2] = sample;
        }
        self.age(window, sample);
        self.value()
    }

    /// Drops samples that left the window, and renews those that are to follow.
    fn age(&mut self, window: u64, sample: Sample) {
        let [first, second, third] = self.best;
        let age = sample.at - first.at;
        if age > window {
            self.best = [second, third, sample];
            if sample.at - second.at > window {
                self.best = [third, sample, sample];
            }
        } else if second.at == first.at && age > window / 4 {
            self.best = [first, sample, sample];
        } else if third.at == second.at && age > window / 2 {
            self.best = [first, second, sample];
        }
    }

    fn is_as_good(&self, value: f64, than: f64) -> bool {
        match self.sense {
            Sense::Greatest => value >= than,
            Sense::Least => value <= than,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::random::Random;

    /// The slow way: all samples of the window.
    fn exact(samples: &[(u64, f64)], window: u64) -> f64 {
        let now = samples.last().expect("a sample").0;
        samples.iter().filter(|s| now - s.0 <= window).fold(0.0, |best, s| s.1.max(best))
    }

    #[test]
    fn a_step_up_is_seen_at_once_and_a_step_down_when_the_window_has_passed() {
        let mut filter = Windowed::greatest();
        for round in 0..30 {
            assert_eq!(filter.update(10, round, 100.0), 100.0);
        }
        assert_eq!(filter.update(10, 30, 200.0), 200.0);
        for round in 31..=40 {
            assert_eq!(filter.update(10, round, 50.0), 200.0);
        }
        assert_eq!(filter.update(10, 41, 50.0), 50.0);
    }

    #[test]
    fn it_never_answers_more_than_the_exact_maximum_nor_less_than_the_newest_sample() {
        let mut random = Random::new(7, "windowed");
        let mut filter = Windowed::greatest();
        let mut samples = Vec::new();
        let mut exactly = 0;
        for at in 0..10_000 {
            let value = random.unit();
            samples.push((at, value));
            let (got, best) = (filter.update(20, at, value), exact(&samples, 20));
            assert!(value <= got && got <= best, "{at}: {value} {got} {best}");
            exactly += u32::from(got == best);
        }
        assert!(exactly > 7_000, "{exactly} of 10000");
    }

    #[test]
    fn the_least_is_the_greatest_turned_over() {
        let mut random = Random::new(8, "windowed");
        let (mut least, mut greatest) = (Windowed::least(), Windowed::greatest());
        for at in 0..1_000 {
            let value = random.unit();
            assert_eq!(least.update(50, at, -value), -greatest.update(50, at, value));
        }
    }
}
