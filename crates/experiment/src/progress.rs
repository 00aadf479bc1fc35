//! How far an experiment has come, by what its runs cost and not by simulated time: at a hundred
//! times the rate a second costs a hundred times as much.
//!
//! Cost is counted in packet-hops, which need no clock. Of a point whose runs have begun, the cost
//! of the rest follows from what they have cost so far; of the others, from the rates of their
//! lines, scaled by what the points that have begun have cost in relation to theirs.

use crate::run::{Run, Step, milliseconds};
use fairq_sched::units::{Rate, Time};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far an experiment has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The part of all work that is done, by its cost; it never falls.
    pub fraction: f64,
    /// Simulated seconds, over all runs.
    pub simulated_s: f64,
    /// Packets sent on any line.
    pub packet_hops: u64,
}

/// What the runs of an experiment have cost so far.
pub(crate) struct Costs {
    points: Vec<AtPoint>,
    runs: Vec<AtRun>,
    steps: AtomicU64,
    /// The greatest fraction that was told, in millionths.
    told: AtomicU64,
    is_stopped: AtomicBool,
}

/// The runs of a point together.
struct AtPoint {
    /// Their simulated milliseconds in all.
    length_ms: u64,
    /// Expected cost relative to other points: bits that the lines could carry.
    weight: f64,
    noted: Noted,
}

/// A run of a point.
struct AtRun {
    point: usize,
    length_ms: u64,
    noted: Noted,
}

#[derive(Default)]
struct Noted {
    ms: AtomicU64,
    packet_hops: AtomicU64,
}

impl Noted {
    fn ms(&self) -> u64 {
        self.ms.load(Ordering::Relaxed)
    }

    fn packet_hops(&self) -> u64 {
        self.packet_hops.load(Ordering::Relaxed)
    }
}

impl Costs {
    /// Of `runs`, those of a point together, none of which has begun.
    pub(crate) fn new(runs: &[Run]) -> Self {
        let mut points: Vec<AtPoint> = Vec::new();
        for run in runs {
            if points.len() == run.point_number() {
                points.push(AtPoint { length_ms: 0, weight: 0.0, noted: Noted::default() });
            }
            let point = &mut points[run.point_number()];
            point.length_ms += length_ms(run);
            point.weight += weight(run);
        }
        let at_run = |run| AtRun { point: Run::point_number(run), length_ms: length_ms(run), noted: Noted::default() };
        let runs = runs.iter().map(at_run).collect();
        Self {
            points,
            runs,
            steps: AtomicU64::default(),
            told: AtomicU64::default(),
            is_stopped: AtomicBool::default(),
        }
    }

    /// Notes how far run number `run` has come.
    pub(crate) fn note(&self, run: usize, step: Step) {
        self.set(run, milliseconds(step.now), step.packet_hops);
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Run number `run` has come to its end with `packet_hops`: fewer than were noted, for those
    /// that had not ended were noted too early. A short run has noted none.
    pub(crate) fn finish(&self, run: usize, packet_hops: u64) {
        self.set(run, self.runs[run].length_ms, packet_hops);
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    fn set(&self, run: usize, ms: u64, packet_hops: u64) {
        let AtRun { point, noted, .. } = &self.runs[run];
        let all = &self.points[*point].noted;
        // A sum that wraps on the way is right in the end.
        let change = |sum: &AtomicU64, before: &AtomicU64, now: u64| {
            sum.fetch_add(now.wrapping_sub(before.swap(now, Ordering::Relaxed)), Ordering::Relaxed);
        };
        change(&all.ms, &noted.ms, ms);
        change(&all.packet_hops, &noted.packet_hops, packet_hops);
    }

    /// Whether it is time to look at the progress again after `steps`: looking takes a time that
    /// grows with the number of points.
    pub(crate) fn is_due(&self, steps: u64) -> bool {
        steps.is_multiple_of(1 + self.points.len() as u64 / 64)
    }

    /// How often a run has noted how far it is, or has come to its end.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Makes all runs stop.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether runs may go on.
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_stopped.load(Ordering::Relaxed)
    }

    /// The packet-hops of all runs.
    pub(crate) fn packet_hops(&self) -> u64 {
        self.points.iter().map(|point| point.noted.packet_hops()).sum()
    }

    /// How far all runs have come.
    pub(crate) fn progress(&self) -> Progress {
        let begun = |point: &&AtPoint| point.noted.packet_hops() > 0 && point.noted.ms() > 0;
        // The cost of a point that has begun: as much for the rest of its time as for that so far.
        let cost = |point: &AtPoint| {
            point.noted.packet_hops() as f64 * point.length_ms as f64 / point.noted.ms().max(1) as f64
        };
        let known: f64 = self.points.iter().filter(begun).map(cost).sum();
        let weighed: f64 = self.points.iter().filter(begun).map(|point| point.weight).sum();
        let scale = if weighed > 0.0 { known / weighed } else { 1.0 };
        let unknown: f64 = self.points.iter().filter(|point| !begun(point)).map(|point| point.weight * scale).sum();
        let done = self.packet_hops() as f64;
        let now = if known + unknown > 0.0 { (done / (known + unknown)).clamp(0.0, 1.0) } else { 0.0 };
        let now = (now * 1e6) as u64;
        let fraction = self.told.fetch_max(now, Ordering::Relaxed).max(now) as f64 / 1e6;
        let ms: u64 = self.points.iter().map(|point| point.noted.ms()).sum();
        Progress { fraction, simulated_s: ms as f64 / 1000.0, packet_hops: self.packet_hops() }
    }
}

fn length_ms(run: &Run) -> u64 {
    milliseconds(run.length()).max(1)
}

/// The bits that the lines of a run could carry.
fn weight(run: &Run) -> f64 {
    let rates = run.plan().lines.iter().filter_map(|line| line.rate).map(Rate::bit_per_s);
    run.length().max(Time::from_ms(1)).as_s() * rates.map(|rate| rate as f64).sum::<f64>().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const TEXT: &str = "edition = 2\n[measure]\nduration = \"10 s\"\nreplications = 2\n\
        [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
        [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"poisson(rate=0.5Mbit/s)\"\n\
        [[axes]]\nname = \"rate\"\npath = \"links.line.rate\"\nvalues = [\"1 Mbit/s\", \"99 Mbit/s\"]\n";

    #[test]
    fn a_slow_line_is_a_small_part_of_the_work() {
        let runs: Vec<Run> = Experiment::read(TEXT, "a.toml", &[]).unwrap().runs().collect();
        let costs = Costs::new(&runs);
        assert!(costs.progress().fraction.abs() < 1e-9);
        let step = |s, packet_hops| Step { now: Time::from_s(s), packet_hops };
        costs.note(0, step(10, 1000));
        costs.note(1, step(10, 1000));
        // Half of the simulated time, a hundredth of the bits.
        assert!((costs.progress().fraction - 0.01).abs() < 0.001, "{:?}", costs.progress());
        costs.note(2, step(5, 1000));
        // The fast line turns out to cost as much as the slow one.
        let progress = costs.progress();
        assert!((progress.fraction - 3000.0 / 6000.0).abs() < 0.001, "{progress:?}");
        costs.note(2, step(10, 2000));
        costs.note(3, step(10, 90_000));
        costs.finish(3, 80_000);
        assert!((costs.progress().fraction - 1.0).abs() < 1e-6);
        assert_eq!(costs.packet_hops(), 84_000);
        assert!((costs.progress().simulated_s - 40.0).abs() < 1e-9);
    }
}
