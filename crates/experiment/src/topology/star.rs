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

use super::{Context, Graph, Medium, check_size, rate};
use crate::values::LineRate;
use fairq_sched::units::Time;

shape! {
    /// The hub and its hosts.
    pub struct Settings {
        /// The number of hosts.
        pub hosts: u32 = 4,
        /// The rate of a host's link.
        pub rate: LineRate = rate(100_000_000),
        /// The delay of a host's link.
        pub delay: Time = Time::from_ms(1),
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
    check_size(u64::from(settings.hosts) + 1)?;
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
