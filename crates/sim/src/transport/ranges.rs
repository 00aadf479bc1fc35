//! Runs of packet numbers: what a receiver holds out of order, or what a sender knows to have
//! arrived.
//!
//! Cost: O(log n) to find a run among n, O(1) to append to the last; a run is visited once, however
//! often it is added.

use std::collections::VecDeque;

/// The packets from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub start: u64,
    /// One above the last.
    pub end: u64,
}

impl Run {
    const fn holds(&self, sequence: u64) -> bool {
        self.start <= sequence && sequence < self.end
    }
}

/// Runs that neither overlap nor touch, in order.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    runs: VecDeque<Run>,
}

impl Ranges {
    /// Adds the packets of `run`, and calls `is_new` with each part of it that was not there.
    pub fn add(&mut self, run: Run, mut is_new: impl FnMut(Run)) {
        let at = self.runs.partition_point(|other| other.end < run.start);
        let Some(first) = self.runs.get(at).filter(|other| other.start <= run.end) else {
            self.runs.insert(at, run);
            return is_new(run);
        };
        if first.start <= run.start && run.end <= first.end {
            return;
        }
        let (start, mut known, mut past) = (first.start.min(run.start), run.start, at);
        while let Some(other) = self.runs.get(past).filter(|other| other.start <= run.end) {
            if known < other.start {
                is_new(Run { start: known, end: other.start });
            }
            known = known.max(other.end);
            past += 1;
        }
        if known < run.end {
            is_new(Run { start: known, end: run.end });
        }
        self.runs[at] = Run { start, end: known.max(run.end) };
        self.runs.drain(at + 1..past);
    }

    /// The run that holds `sequence`.
    #[must_use]
    pub fn run_of(&self, sequence: u64) -> Option<Run> {
        let at = self.runs.partition_point(|run| run.end <= sequence);
        self.runs.get(at).copied().filter(|run| run.holds(sequence))
    }

    /// The last run that ends at or before `sequence`.
    #[must_use]
    pub fn run_before(&self, sequence: u64) -> Option<Run> {
        let at = self.runs.partition_point(|run| run.end <= sequence);
        self.runs.get(at.checked_sub(1)?).copied()
    }

    /// Removes all packets below `sequence`.
    pub fn forget_below(&mut self, sequence: u64) {
        while self.runs.front().is_some_and(|run| run.end <= sequence) {
            self.runs.pop_front();
        }
        if let Some(first) = self.runs.front_mut() {
            first.start = first.start.max(sequence);
        }
    }

    /// The first run.
    #[must_use]
    pub fn first(&self) -> Option<Run> {
        self.runs.front().copied()
    }

    /// Whether there is no run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Compared with a plain set, over random runs.
    #[test]
    fn runs_are_those_of_a_set() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let (mut ranges, mut set, mut floor) = (Ranges::default(), BTreeSet::new(), 0);
            for _ in 0..40 {
                let start = floor + draw(60);
                let run = Run { start, end: start + 1 + draw(9) };
                let mut new = Vec::new();
                ranges.add(run, |part| new.extend(part.start..part.end));
                let expected: Vec<u64> = (run.start..run.end).filter(|n| set.insert(*n)).collect();
                assert_eq!(new, expected);
                if draw(8) == 0 {
                    floor += draw(20);
                    ranges.forget_below(floor);
                    set.retain(|n| *n >= floor);
                }
                for n in floor..floor + 80 {
                    assert_eq!(ranges.run_of(n).is_some(), set.contains(&n), "{n} in {ranges:?}");
                }
                assert!(ranges.runs.iter().zip(ranges.runs.iter().skip(1)).all(|(a, b)| a.end < b.start));
            }
        }
    }
}
