//! The parts of the result of a replay, in the form of the command line and Python.

use super::direction::Direction;
use fairq_sched::units::{PS_PER_S, Rate, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// The traffic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Traffic {
    /// The file, if the traffic is from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Packets.
    pub packets: u64,
    /// Their bytes on the line.
    pub bytes: u64,
    /// Flows with a row of their own, where all disciplines have the same rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// From the first arrival to the last.
    pub duration_s: f64,
    /// The rate of the line, if there is one only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bit_per_s: Option<u64>,
    /// The buffer of each gateway, as it was given; a discipline's own text may differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// What a flow is, if it is the same in the rows of all disciplines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier: Option<String>,
    /// The part of a capture that was replayed.
    #[serde(flatten)]
    pub selected: Option<Selected>,
    /// Corrections of the stamps of a capture.
    #[serde(flatten)]
    pub stamps: Option<Stamps>,
    /// Notes to read before the rows are trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The part of a capture that was replayed: packets read = packets replayed + filtered + elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Selected {
    /// The addresses at the user's end of the line, if there are two directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub me: Option<String>,
    /// The filter, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Packets in the capture.
    pub packets_read: u64,
    /// Packets that the filter left out.
    pub packets_filtered: u64,
    /// Packets that the filter kept, but that do not go between the user and another address.
    pub packets_elsewhere: u64,
}

/// The traffic of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Way {
    /// The direction.
    pub direction: Direction,
    /// The rate of its line.
    pub rate_bit_per_s: u64,
    /// Packets.
    pub packets: u64,
    /// Their bytes on the line.
    pub bytes: u64,
}

/// The packets of a flow that arrived within a time, under a discipline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bin {
    /// The discipline.
    pub discipline: String,
    /// The direction, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The flow; null for all packets.
    pub flow: Option<String>,
    /// When the bin begins, from the first arrival.
    pub time_s: f64,
    /// How long it is; the same for all bins.
    pub bin_s: f64,
    /// Packets that arrived within it and were sent, whenever that was.
    pub sent: u64,
    /// Packets that arrived within it and were dropped.
    pub dropped: u64,
    /// Mean delay of those that were sent.
    pub delay_s_mean: Option<f64>,
    /// The greatest delay of those that were sent.
    pub delay_s_max: Option<f64>,
}

/// Corrections of the stamps and lengths of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stamps {
    /// The greatest gap.
    pub gap_max_s: f64,
    /// Gaps that were longer, and were shortened to it.
    pub gaps_cut: u64,
    /// The total time that was removed from them.
    pub time_cut_s: f64,
    /// Packets stamped before their predecessor.
    pub backward_steps: u64,
    /// How many of these restarted the time.
    pub restarts: u64,
    /// Packets beyond the greatest time, which arrive at it.
    pub beyond_latest: u64,
    /// Packets with an implausible length on the wire.
    pub mended_lengths: u64,
}

/// The results of a discipline.
///
/// A delay is departure less arrival: waiting and transmission. Percentiles are within 0.1 %, those
/// of a flow within 0.8 % and exact up to 32 packets; means and greatest values are exact.
/// Throughputs are the bits that left, over the time from the first arrival to this discipline's
/// last departure. An undefined value (such as a delay without packets) is null.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DisciplineReport {
    /// Its name.
    pub name: String,
    /// The direction, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Notes to read before its rows are trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The classifier by which it separates flows; null if it has no flows.
    pub classifier: Option<&'static str>,
    /// The classifier of its rows, which are also the flows of its fluid and of its index of
    /// fairness. It is the discipline's own, unless a classifier was given or the discipline has no
    /// flows.
    pub rows_by: &'static str,
    /// A row for each flow, in the order in which they first arrived; a shared row for those beyond
    /// comes last.
    pub flows: Vec<FlowReport>,
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Their bytes.
    pub bytes_dropped: u64,
    /// Packets that were marked; only those whose ECN field allows it can be.
    pub marked: u64,
    /// When the last packet left, from the first arrival.
    pub last_departure_s: f64,
    /// Bits that left, over that time.
    pub throughput_bit_per_s: f64,
    /// The delays of the packets that left.
    #[serde(flatten)]
    pub delay: Delay,
    /// Jain's index of the throughputs x of the n flows with a row of their own: (Σx)² / (n Σx²).
    pub jain_index: Option<f64>,
    /// How often the order of FIFO was changed: packets that left while one that arrived before
    /// them was still held.
    pub overtakes: u64,
    /// Mean lateness: how much later than in the fluid packets left, early ones counted as 0.
    pub late_s_mean: Option<f64>,
    /// 99 % of packets are no later.
    pub late_s_p99: Option<f64>,
    /// The greatest lateness.
    pub late_s_max: Option<f64>,
    /// Lmax/C: the transmission of the longest packet admitted. With FQ without drops no packet is
    /// later.
    pub late_bound_s: Option<f64>,
    /// Packets later than in the fluid by more than Lmax/C, for the longest packet admitted until
    /// then.
    pub later_than_bound: Option<u64>,
    /// Packets that were compared with the fluid.
    pub late_packets: Option<u64>,
    /// Packets that were not compared, because the fluid held too many.
    pub late_not_compared: Option<u64>,
    /// The discipline's counts and state at the end, as `tc -s` shows them; for cake by tin.
    pub states: Vec<Shown>,
}

/// A number from the discipline's state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Shown {
    /// What it is of.
    pub quantity: String,
    /// The queue, class, tin or flow of the discipline; empty if the number is of all of it.
    pub subqueue: String,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
    /// The number.
    pub value: f64,
}

/// The results of a discipline for a flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowReport {
    /// The flow.
    pub flow: String,
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Bits that left, over the whole replay.
    pub throughput_bit_per_s: f64,
    /// The delays of its packets that left.
    #[serde(flatten)]
    pub delay: Delay,
}

/// Delays, from arrival to the end of transmission, of packets that left; `None` if no packet left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Delay {
    /// Mean delay.
    #[serde(rename = "delay_s_mean")]
    pub mean_s: Option<f64>,
    /// Half of the packets have no greater delay.
    #[serde(rename = "delay_s_p50")]
    pub p50_s: Option<f64>,
    /// 95 % have no greater delay.
    #[serde(rename = "delay_s_p95")]
    pub p95_s: Option<f64>,
    /// 99 % have no greater delay.
    #[serde(rename = "delay_s_p99")]
    pub p99_s: Option<f64>,
    /// The greatest delay.
    #[serde(rename = "delay_s_max")]
    pub max_s: Option<f64>,
}

impl Delay {
    /// From picoseconds: the mean, the quantiles 50, 95 and 99 %, and the greatest.
    pub(super) fn of_ps(mean: Option<f64>, quantiles: [Option<u64>; 3], greatest: Option<u64>) -> Self {
        let [p50_s, p95_s, p99_s] = quantiles.map(seconds);
        Self { mean_s: mean.map(|ps| ps / PS_PER_S as f64), p50_s, p95_s, p99_s, max_s: seconds(greatest) }
    }
}

impl Traffic {
    pub(super) const fn new(rate: Rate) -> Self {
        Self {
            file: None,
            packets: 0,
            bytes: 0,
            flows: None,
            duration_s: 0.0,
            rate_bit_per_s: Some(rate.bit_per_s()),
            buffer: None,
            classifier: None,
            selected: None,
            stamps: None,
            note: None,
        }
    }

    pub(super) fn count(&mut self, now: Time, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
        self.duration_s = now.as_s();
    }
}

/// Seconds of picoseconds.
pub(super) fn seconds(ps: Option<u64>) -> Option<f64> {
    ps.map(|ps| ps as f64 / PS_PER_S as f64)
}
