//! The workloads of the benchmarks: a dumbbell of six lines, and disciplines kept busy. No code
//! here reads a clock.

mod backlog;
mod busy;
mod disciplines;
mod fairness;
mod floors;

pub use backlog::{Backlog, Mix};
pub use busy::Busy;
pub use disciplines::{Bench, Subject, subjects};

use fairq_sched::packet::{Address, Header};
use fairq_sched::units::Rate;

/// The rate of the line behind a busy discipline: 10 Gbit/s.
const RATE: Rate = match Rate::new(10_000_000_000) {
    Some(rate) => rate,
    None => Rate::MAX,
};

/// The header of the packets of `flow`.
const fn header(flow: u32) -> Header {
    Header {
        source: Address::Node(flow),
        destination: Address::Node(u32::MAX),
        protocol: 6,
        source_port: 0,
        destination_port: 0,
        tos: 0,
    }
}

/// A dumbbell: 16 fixed windows, six lines for a packet and its acknowledgement (access,
/// bottleneck, access, and back), access at twice the bottleneck's rate, an acknowledgement for
/// each packet.
#[must_use]
pub fn dumbbell(discipline: &str, simulated_s: u64) -> String {
    format!(
        r#"
title = "dumbbell"
edition = 1
[measure]
duration = "{simulated_s} s"
[defaults]
queue = "{discipline}"
buffer = "128 packets"
access = {{ rate = "20 Mbit/s", delay = "2 ms" }}
sink_access = {{ rate = "20 Mbit/s", delay = "2 ms" }}
transport = "fixed_window(window=8)"
[[links]]
name = "bottleneck"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
[[flows]]
name = "flow"
from = "a"
to = "b"
traffic = "ftp"
count = 16
"#
    )
}
