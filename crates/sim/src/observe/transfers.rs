//! Counts of transfers: how long they took, by size.

use fairq_link::sketch::Coarse;
use fairq_sched::units::Time;

/// Transfers whose sizes have the same number of decimal digits, or all transfers.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Bytes of the completed transfers.
    pub bytes: u128,
    /// The time of each completed transfer from its beginning to the last acknowledgement, in
    /// picoseconds.
    pub completion: Coarse,
    /// That time divided by the ideal, in millionths.
    pub slowdown: Coarse,
    /// Completed transfers that met their deadline or had none.
    pub in_time: u64,
}

impl Class {
    fn add(&mut self, bytes: u64, completion: Time, slowdown: u64, is_in_time: bool) {
        self.in_time += u64::from(is_in_time);
        self.bytes += u128::from(bytes);
        self.completion.add(completion.0);
        self.slowdown.add(slowdown);
    }
}

/// Counts of the transfers of a flow's copies since they were last cleared.
#[derive(Clone, Debug, Default)]
pub struct TransferCounts {
    /// All completed transfers.
    pub all: Class,
    /// Completed transfers by decades of bytes: class k has sizes from 10^k on. Only classes that
    /// occur are kept.
    pub classes: Vec<Option<Box<Class>>>,
    /// Transfers that found no idle copy.
    pub refused: u64,
    /// Transfers in progress now.
    pub in_progress: u32,
    /// The integral of `in_progress` over time, in picoseconds, up to `counted_to`.
    pub area: u128,
    counted_to: Time,
}

impl TransferCounts {
    /// A transfer begins.
    pub fn begun(&mut self, now: Time) {
        self.count_to(now);
        self.in_progress += 1;
    }

    /// A transfer is complete; its deadline was `deadline` after its beginning.
    pub fn completed(&mut self, now: Time, bytes: u64, completion: Time, ideal: Time, deadline: Option<Time>) {
        self.count_to(now);
        self.in_progress -= 1;
        let millionths = u128::from(completion.0) * MILLION / u128::from(ideal.0.max(1));
        let slowdown = u64::try_from(millionths).unwrap_or(u64::MAX);
        let is_in_time = deadline.is_none_or(|deadline| completion <= deadline);
        self.all.add(bytes, completion, slowdown, is_in_time);
        let class = bytes.max(1).ilog10() as usize;
        if self.classes.len() <= class {
            self.classes.resize(class + 1, None);
        }
        self.classes[class].get_or_insert_default().add(bytes, completion, slowdown, is_in_time);
    }

    /// Brings `area` up to `now`.
    pub fn count_to(&mut self, now: Time) {
        self.area += u128::from(self.in_progress) * u128::from(now.0 - self.counted_to.0);
        self.counted_to = now;
    }

    /// Restarts the counts; transfers in progress stay so.
    pub fn clear(&mut self, now: Time) {
        *self = Self { in_progress: self.in_progress, counted_to: now, ..Self::default() };
    }
}

/// Slowdowns are counted in millionths.
pub const MILLION: u128 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_are_counted_by_decades_and_over_time() {
        let mut counts = TransferCounts::default();
        counts.begun(Time(10));
        counts.begun(Time(20));
        counts.completed(Time(50), 999, Time(40), Time(20), Some(Time(39)));
        counts.completed(Time(60), 1000, Time(40), Time(40), Some(Time(40)));
        counts.count_to(Time(100));
        assert_eq!(counts.area, 40 + 40);
        assert_eq!(counts.classes.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true, true]);
        assert_eq!(counts.classes[2].as_ref().unwrap().slowdown.mean(), Some(2e6));
        assert_eq!((counts.all.bytes, counts.all.slowdown.mean(), counts.all.in_time), (1999, Some(1.5e6), 1));
        counts.begun(Time(100));
        counts.clear(Time(110));
        counts.count_to(Time(120));
        assert_eq!((counts.area, counts.in_progress, counts.all.completion.count()), (10, 1, 0));
    }
}
