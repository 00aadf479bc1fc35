//! Traffic that ends when its flow stops.

use super::{Emission, Source, Transfer, Transfers};
use fairq_sched::units::Time;

/// Traffic that ends at a time.
pub struct Until<T: ?Sized> {
    stop: Time,
    of: Box<T>,
}

impl<T: ?Sized> Until<T> {
    /// The traffic `of` before `stop`.
    #[must_use]
    pub const fn new(of: Box<T>, stop: Time) -> Self {
        Self { stop, of }
    }
}

impl Source for Until<dyn Source> {
    fn next(&mut self) -> Option<Emission> {
        self.of.next().filter(|emission| emission.time < self.stop)
    }
}

impl Transfers for Until<dyn Transfers> {
    fn next_time(&self) -> Time {
        Some(self.of.next_time()).filter(|time| *time < self.stop).unwrap_or(Time::NEVER)
    }

    fn begin(&mut self, now: Time) -> Option<Transfer> {
        self.of.begin(now)
    }

    /// Transfers in progress at the stop still complete.
    fn ended(&mut self, now: Time, tag: u32) {
        self.of.ended(now, tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet, or a transfer, each second.
    struct EachSecond(u64);

    impl Source for EachSecond {
        fn next(&mut self) -> Option<Emission> {
            self.0 += 1;
            Some(Emission { time: Time::from_s(self.0), length: 1 })
        }
    }

    impl Transfers for EachSecond {
        fn next_time(&self) -> Time {
            Time::from_s(self.0 + 1)
        }

        fn begin(&mut self, _now: Time) -> Option<Transfer> {
            self.0 += 1;
            Some(Transfer { bytes: 1, copy: None, tag: 0 })
        }

        fn ended(&mut self, _now: Time, _tag: u32) {}
    }

    #[test]
    fn what_comes_at_the_stop_is_not_given() {
        let mut source = Until::<dyn Source>::new(Box::new(EachSecond(0)), Time::from_s(3));
        let times: Vec<Time> = std::iter::from_fn(|| source.next()).map(|emission| emission.time).collect();
        assert_eq!(times, [Time::from_s(1), Time::from_s(2)]);
        let mut transfers = Until::<dyn Transfers>::new(Box::new(EachSecond(1)), Time::from_s(3));
        assert_eq!(transfers.next_time(), Time::from_s(2));
        assert!(transfers.begin(Time::from_s(2)).is_some());
        assert_eq!(transfers.next_time(), Time::NEVER);
    }
}
