//! Scenarios in text that tests and workloads share.

/// A dumbbell: 16 fixed windows of eight packets over one line of 10 Mbit/s. Six lines carry a
/// packet and its acknowledgement (access, bottleneck, access, and back), access at twice the
/// bottleneck's rate, an acknowledgement for each packet.
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
