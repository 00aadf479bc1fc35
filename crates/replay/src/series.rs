//! Delay over time, in memory that does not grow with the stream: bins of equal width, whose width
//! doubles when they do not reach the latest arrival.
//!
//! A packet is in the bin of its arrival, so that each bin has the same packets under every
//! discipline: sent and dropped together are those that arrived. Bins without packets are not
//! kept: a flow of few packets has few bins.

use super::report::Delay;
use fairq_sched::units::Time;

/// The most bins of a series.
const BINS_MAX: u64 = 128;

/// The least width of a bin; others are it times a power of two.
const WIDTH_MIN: Time = Time::from_ms(1);

/// The width of the bins that reach from zero to `latest`: at least half of the greatest number of
/// bins are used, unless the width is the least.
pub(super) fn width_until(latest: Time) -> Time {
    let mut width = WIDTH_MIN;
    while latest.0 / width.0 >= BINS_MAX {
        width = Time(width.0 * 2);
    }
    width
}

/// The bins of a flow, or of all.
#[derive(Clone, Debug)]
pub(super) struct Series {
    width: Time,
    /// The bins in order of time.
    bins: Vec<Bin>,
}

/// The packets that arrived in a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    /// Its number, from 0 at time zero.
    number: u64,
    sent: u64,
    dropped: u64,
    delay_sum: u128,
    delay_greatest: u64,
}

/// A bin as it is reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) time: Time,
    pub(super) sent: u64,
    pub(super) dropped: u64,
    pub(super) delay_s_mean: Option<f64>,
    pub(super) delay_s_max: Option<f64>,
}

impl Default for Series {
    fn default() -> Self {
        Self { width: WIDTH_MIN, bins: Vec::new() }
    }
}

impl Series {
    /// A packet that arrived at `arrival` has left with this delay.
    pub(super) fn sent(&mut self, arrival: Time, delay: u64) {
        let bin = self.bin_of(arrival);
        bin.sent += 1;
        bin.delay_sum += u128::from(delay);
        bin.delay_greatest = bin.delay_greatest.max(delay);
    }

    /// A packet that arrived at `arrival` was dropped.
    pub(super) fn dropped(&mut self, arrival: Time) {
        self.bin_of(arrival).dropped += 1;
    }

    /// The bins, of at least `width`.
    pub(super) fn points(&self, width: Time) -> Vec<Point> {
        let mut series = self.clone();
        series.widen_to(width);
        let point = |bin: &Bin| {
            let Bin { number, sent, dropped, delay_sum, delay_greatest } = *bin;
            let any = sent > 0;
            let mean = any.then(|| delay_sum as f64 / sent as f64);
            let Delay { mean_s, max_s, .. } = Delay::of_ps(mean, [None; 3], any.then_some(delay_greatest));
            Point { time: Time(number * series.width.0), sent, dropped, delay_s_mean: mean_s, delay_s_max: max_s }
        };
        series.bins.iter().map(point).collect()
    }

    fn bin_of(&mut self, arrival: Time) -> &mut Bin {
        if arrival.0 / self.width.0 >= BINS_MAX {
            self.widen_to(width_until(arrival));
        }
        let number = arrival.0 / self.width.0;
        // Packets leave about as they arrive, so the bin is the last or close to it.
        let place = self.bins.iter().rposition(|bin| bin.number <= number);
        match place {
            Some(place) if self.bins[place].number == number => &mut self.bins[place],
            _ => {
                let place = place.map_or(0, |place| place + 1);
                self.bins.insert(place, Bin { number, ..Bin::default() });
                &mut self.bins[place]
            }
        }
    }

    /// Merges bins until they have this width, which is theirs times a power of two.
    fn widen_to(&mut self, width: Time) {
        let times = (width.0 / self.width.0).max(1);
        self.width = Time(self.width.0 * times);
        for bin in &mut self.bins {
            bin.number /= times;
        }
        self.bins.dedup_by(|later, bin| {
            let is_same = later.number == bin.number;
            if is_same {
                bin.sent += later.sent;
                bin.dropped += later.dropped;
                bin.delay_sum += later.delay_sum;
                bin.delay_greatest = bin.delay_greatest.max(later.delay_greatest);
            }
            is_same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::seconds;
    use fairq_sched::hash::splitmix;

    /// All bins of the values at once, by definition.
    fn oracle(values: &[(Time, Option<u64>)], width: Time) -> Vec<Point> {
        let last = values.iter().map(|(time, _)| time.0 / width.0).max().unwrap_or(0);
        let bins = (0..=last).map(|number| {
            let inside = || values.iter().filter(move |(time, _)| time.0 / width.0 == number);
            let delays: Vec<u64> = inside().filter_map(|(_, delay)| *delay).collect();
            let sum: u128 = delays.iter().map(|delay| u128::from(*delay)).sum();
            Point {
                time: Time(number * width.0),
                sent: delays.len() as u64,
                dropped: inside().filter(|(_, delay)| delay.is_none()).count() as u64,
                delay_s_mean: (!delays.is_empty()).then(|| sum as f64 / delays.len() as f64 / 1e12),
                delay_s_max: seconds(delays.iter().max().copied()),
            }
        });
        bins.filter(|point| point.sent + point.dropped > 0).collect()
    }

    #[test]
    fn bins_that_were_merged_on_the_way_are_those_of_the_whole_stream() {
        for (seed, step_ms) in [(1, 1), (2, 7), (3, 400), (4, 30_000)] {
            let mut now = Time::ZERO;
            let mut values: Vec<(Time, Option<u64>)> = (0..2000u64)
                .map(|n| {
                    let draw = splitmix(seed << 32 | n);
                    now = now + Time(draw % (2 * Time::from_ms(step_ms).0));
                    (now, (!draw.is_multiple_of(5)).then_some(draw >> 20))
                })
                .collect();
            // Packets do not leave in order of arrival.
            values.chunks_mut(50).for_each(|some| some.reverse());
            let mut series = Series::default();
            for (arrival, delay) in &values {
                match delay {
                    Some(delay) => series.sent(*arrival, *delay),
                    None => series.dropped(*arrival),
                }
                assert!(series.bins.len() <= BINS_MAX as usize);
            }
            let width = width_until(now);
            assert_eq!(series.points(width), oracle(&values, width));
            let points = series.points(Time(width.0 * 4));
            assert_eq!(points, oracle(&values, Time(width.0 * 4)));
            assert!(points.len() <= BINS_MAX as usize / 4 && series.points(width).len() > 60, "{}", points.len());
        }
    }

    #[test]
    fn a_stream_of_any_length_has_a_width() {
        assert_eq!(width_until(Time::ZERO), Time::from_ms(1));
        assert_eq!(width_until(Time(Time::from_ms(128).0 - 1)), Time::from_ms(1));
        assert_eq!(width_until(Time::from_ms(128)), Time::from_ms(2));
        let width = width_until(Time::NEVER);
        assert!((BINS_MAX / 2..BINS_MAX).contains(&(u64::MAX / width.0)), "{width}");
        let mut series = Series::default();
        series.sent(Time::NEVER, u64::MAX);
        assert_eq!(series.points(width).len(), 1);
    }
}
