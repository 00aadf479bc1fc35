//! What a replay found, as the command line and Python give it.

use fairq_sched::units::{PS_PER_S, Rate, Time};
use serde::Serialize;

/// A whole replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What arrived, the same for all disciplines.
    pub capture: Traffic,
    /// What each discipline made of it, in the order given.
    pub disciplines: Vec<DisciplineReport>,
}

/// What arrived.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// The file, if the traffic is one's.
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
    /// The rate of the line.
    pub rate_bit_per_s: u64,
    /// What may wait in each gateway, as it was given; a discipline's own text may say otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// What a flow is, where that is the same in the rows of all disciplines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier: Option<String>,
    /// What was done to the stamps of a capture.
    #[serde(flatten)]
    pub stamps: Option<Stamps>,
    /// What to know before the rows are trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What was done to the stamps and lengths of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stamps {
    /// The greatest gap.
    pub gap_max_s: f64,
    /// Gaps that were longer, and were cut to it.
    pub gaps_cut: u64,
    /// What was cut from them altogether.
    pub time_cut_s: f64,
    /// Packets stamped before their predecessor.
    pub backward_steps: u64,
    /// Those of them from which time was counted anew.
    pub restarts: u64,
    /// Packets beyond the greatest time, which arrive at it.
    pub beyond_latest: u64,
    /// Packets whose length on the wire could not be believed.
    pub mended_lengths: u64,
}

/// What a discipline made of it.
///
/// A delay is departure less arrival: waiting and transmission. Percentiles are within 0.1 %, those of a flow within
/// 0.8 % and exact up to 32 packets; means and greatest values are exact. Throughputs are what left, over the time from
/// the first arrival to this discipline's last departure. What is not known (the delay of nothing) is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DisciplineReport {
    /// Its name.
    pub name: String,
    /// What to know before its rows are trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// By what it tells flows apart; null if it tells none apart.
    pub classifier: Option<&'static str>,
    /// By what its rows are told apart, which are also the flows of its fluid and of its index of fairness: as its own
    /// flows are, unless a classifier was given or it tells none apart.
    pub rows_by: &'static str,
    /// A row for each flow, in the order in which they first arrived; a shared row for those beyond comes last.
    pub flows: Vec<FlowReport>,
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Their bytes.
    pub bytes_dropped: u64,
    /// Packets that were given a mark; those whose ECN field says that their sender listens may be.
    pub marked: u64,
    /// When the last packet left, from the first arrival.
    pub last_departure_s: f64,
    /// Bits that left, over that time.
    pub throughput_bit_per_s: f64,
    /// Mean delay.
    pub delay_s_mean: Option<f64>,
    /// Half of all packets have no greater delay.
    pub delay_s_p50: Option<f64>,
    /// 95 % have no greater delay.
    pub delay_s_p95: Option<f64>,
    /// 99 % have no greater delay.
    pub delay_s_p99: Option<f64>,
    /// The greatest delay.
    pub delay_s_max: Option<f64>,
    /// Jain's index of the throughputs x of the n flows with a row of their own: (Σx)² / (n Σx²).
    pub jain_index: Option<f64>,
    /// How often FIFO's order was changed: packets that left while one that arrived before them was still held.
    pub overtakes: u64,
    /// How much later than the fluid packets left, early ones counted as 0; mean.
    pub late_s_mean: Option<f64>,
    /// 99 % are no later.
    pub late_s_p99: Option<f64>,
    /// The latest.
    pub late_s_max: Option<f64>,
    /// Lmax/C: the transmission of the longest packet admitted. Of FQ without drops none is later.
    pub late_bound_s: Option<f64>,
    /// Packets later than the fluid by more than Lmax/C, the longest of those admitted until then.
    pub later_than_bound: Option<u64>,
    /// Packets that were compared with the fluid.
    pub late_packets: Option<u64>,
    /// Packets that were not, because the fluid held too many.
    pub late_not_compared: Option<u64>,
    /// What the discipline counts and keeps at the end, as `tc -s` shows it; of cake by tin.
    pub states: Vec<Shown>,
}

/// A number that a discipline shows of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// What it is, with its unit.
    pub quantity: String,
    /// The number.
    pub value: f64,
}

/// What a discipline made of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Mean delay.
    pub delay_s_mean: Option<f64>,
    /// Half of its packets have no greater delay.
    pub delay_s_p50: Option<f64>,
    /// 95 % have no greater delay.
    pub delay_s_p95: Option<f64>,
    /// 99 % have no greater delay.
    pub delay_s_p99: Option<f64>,
    /// The greatest delay.
    pub delay_s_max: Option<f64>,
}

impl Traffic {
    pub(super) const fn new(rate: Rate) -> Self {
        Self {
            file: None,
            packets: 0,
            bytes: 0,
            flows: None,
            duration_s: 0.0,
            rate_bit_per_s: rate.bit_per_s(),
            buffer: None,
            classifier: None,
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
