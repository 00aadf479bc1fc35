//! The names of all columns of all tables, which an axis must not have: it would hide the column.
//!
//! Each table that a debug build makes is held to this list.

/// The columns of all tables, those of `fairq run --overlay` at the end. Beside a number that several runs give stand the
/// ends of its confidence interval, with these [`ENDS`].
const COLUMNS: [&str; 75] = [
    "at",
    "bytes",
    "completed",
    "completed_bytes",
    "completion_s_mean",
    "completion_s_p50",
    "completion_s_p95",
    "completion_s_p99",
    "control",
    "delay_s",
    "delay_s_max",
    "delay_s_mean",
    "delay_s_p50",
    "delay_s_p95",
    "delay_s_p99",
    "direction",
    "discipline",
    "dropped",
    "flow",
    "from",
    "goodput_bit_per_s",
    "goodput_packets",
    "held_packets",
    "in_progress_mean",
    "in_time",
    "layers",
    "level",
    "level_changes",
    "level_end",
    "level_mean",
    "limit",
    "link",
    "loss",
    "lost",
    "lost_packets",
    "marked",
    "packets",
    "quantity",
    "rate_bit_per_s",
    "received_s",
    "receiver",
    "refused",
    "retransmitted",
    "rtt_s_mean",
    "seed",
    "sent",
    "sent_s",
    "session",
    "size",
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "target_s",
    "throughput_bit_per_s",
    "throughput_packets",
    "time_s",
    "to",
    "traffic",
    "transport",
    "utilisation",
    "value",
    "waiting_packets_max",
    "waiting_packets_mean",
    "weight",
    // What theory says (python/fairq/overlay.py).
    "delay_bound_gap",
    "delay_bound_s",
    "demand_bit_per_s",
    "mathis_bit_per_s",
    "mathis_gap",
    "max_min_bit_per_s",
    "max_min_gap",
    "padhye_bit_per_s",
    "padhye_gap",
    "share_bit_per_s",
];

/// What follows the name of a number for the ends of its confidence interval.
pub const ENDS: [&str; 2] = ["_low", "_high"];

/// Whether `name` is a column of some table, which an axis of that name would hide.
#[must_use]
pub fn is_column(name: &str) -> bool {
    let number = ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    COLUMNS.contains(&name) || COLUMNS.contains(&number)
}
