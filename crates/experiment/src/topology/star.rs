//! A star: hosts around a hub.
//!
//! Use when: hosts share one switch: a rack, incast, a home. For two sides of one bottleneck use
//! `dumbbell`; for several switches, `leaf_spine`.
//! Source: the switch with its hosts, common in the literature.
//! Departs: nothing.
//! Chosen: the hub is `hub`, hosts are `h1`, `h2`, …; links lead from the host to the hub,
//! `h1-hub`.
//! Cost: O(hosts).
//! Bound: two links between any two hosts (topologies.rs: shapes_have_their_counts).

use super::{Context, Graph, Medium, rate, too_large};
use crate::values::{BufferSize, LineRate, TextForm};
use fairq_sched::queue::Queue;
use fairq_sched::units::Time;

/// The hub and its hosts.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The number of hosts.
    pub hosts: u32,
    /// The rate of a host's link.
    pub rate: LineRate,
    /// The delay of a host's link.
    pub delay: Time,
    /// The discipline of its links, both ways; by default that of `defaults`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<TextForm<Queue>>,
    /// The buffer of a link whose queue names no limit; by default that of `defaults`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { hosts: 4, rate: rate(100_000_000), delay: Time::from_ms(1), queue: None, buffer: None }
    }
}

/// The star.
///
/// # Errors
/// Settings without sense.
pub fn build(settings: &Settings, _: Context<'_>) -> Result<Graph, String> {
    if settings.hosts == 0 {
        return Err("hosts is at least 1".to_string());
    }
    too_large(u64::from(settings.hosts) + 1).map_or(Ok(()), Err)?;
    let mut graph = Graph::default();
    let hub = graph.node("hub");
    graph.put(hub, 0.0, 0.0);
    for number in 1..=settings.hosts {
        let host = graph.node(format!("h{number}"));
        let angle = core::f64::consts::TAU * f64::from(number - 1) / f64::from(settings.hosts);
        graph.put(host, libm::sin(angle), libm::cos(angle));
        graph.link(host, hub, Medium::new(settings.rate, settings.delay));
    }
    Ok(graph)
}
