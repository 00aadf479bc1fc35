//! What an audit found.

use fairq_sched::invariant::Invariant;

/// A measure of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Yardstick {
    /// Golestani's, over every interval in which two flows wait.
    RelativeFairness,
    /// Relative fairness over intervals in which each of the two flows has a packet waiting,
    /// besides the one being sent.
    FairnessWhileWaiting,
    /// Relative fairness in packets, whatever the weights.
    PacketFairness,
    /// Fairness while waiting, in packets over weights.
    PacketsOverWeights,
    /// Bennett and Zhang's, over every interval in which a flow waits.
    WorstCaseIndex,
    /// Lateness against the expected arrival, as for a latency-rate server.
    Latency,
    /// Lateness of packets against the fluid ideal.
    Lateness,
    /// Lag of flows behind the fluid ideal.
    Behind,
    /// Lead of flows ahead of the fluid ideal.
    Ahead,
}

impl Yardstick {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::RelativeFairness,
        Self::FairnessWhileWaiting,
        Self::PacketFairness,
        Self::PacketsOverWeights,
        Self::WorstCaseIndex,
        Self::Latency,
        Self::Lateness,
        Self::Behind,
        Self::Ahead,
    ];

    /// A few words for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RelativeFairness => "relative fairness",
            Self::FairnessWhileWaiting => "fairness while waiting",
            Self::PacketFairness => "packet fairness",
            Self::PacketsOverWeights => "packets over weights",
            Self::WorstCaseIndex => "worst-case index",
            Self::Latency => "latency",
            Self::Lateness => "lateness",
            Self::Behind => "behind the fluid",
            Self::Ahead => "ahead of the fluid",
        }
    }

    /// The unit of its values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::RelativeFairness | Self::FairnessWhileWaiting => "bytes at weight 1",
            Self::PacketFairness => "packets",
            Self::PacketsOverWeights => "packets at weight 1",
            Self::WorstCaseIndex | Self::Behind | Self::Ahead => "bytes",
            Self::Latency | Self::Lateness => "bytes of the line",
        }
    }
}

/// How an invariant fared.
#[derive(Clone, Debug, PartialEq)]
pub struct InvariantRow {
    /// Which.
    pub invariant: Invariant,
    /// Runs in which it was looked at.
    pub runs: u64,
    /// Number of checks in all runs.
    pub checks: u64,
    /// Whether the registry exempts the discipline from the invariant.
    pub is_exempt: bool,
    /// An example of its being broken where it may be.
    pub example: Option<Example>,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// What, in one line.
    pub message: String,
    /// The run, by which it is replayed.
    pub run: String,
}

/// The worst of a measure.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureRow {
    /// Which.
    pub yardstick: Yardstick,
    /// The bound that is claimed; runs for which none is claimed have a row of their own.
    pub bound: Option<f64>,
    /// The worst value: the one nearest to its bound, or the greatest where there is none.
    pub value: f64,
    /// The part of the value that may be rounding.
    pub slack: f64,
    /// Value / bound.
    pub ratio: Option<f64>,
    /// What was measured: the flows, with their weights.
    pub of: String,
    /// The run, by which it is replayed.
    pub run: String,
    /// Runs that were measured.
    pub runs: u64,
}

/// An invariant or a bound that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the invariant or measure.
    pub of: &'static str,
    /// What happened.
    pub example: Example,
}

/// All that an audit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Runs for the invariants and for the bounds.
    pub runs: u64,
    /// Packets that came in them.
    pub packets: u64,
    /// One row per invariant.
    pub invariants: Vec<InvariantRow>,
    /// One for each measure that saw something.
    pub measures: Vec<MeasureRow>,
    /// The first violation of each invariant and each measure.
    pub violations: Vec<Violation>,
}
