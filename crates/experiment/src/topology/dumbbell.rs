//! A dumbbell: hosts on both sides of one bottleneck.
//!
//! Use when: all flows share one bottleneck: the first choice to compare disciplines and congestion
//! controls. For several bottlenecks in a row use `parking_lot`.
//! Source: the single-bottleneck network of the congestion control literature; Floyd and Kohler,
//! "Internet Research Needs Better Models", 2002, discuss what it leaves out.
//! Departs: nothing.
//! Chosen: the gateways are `left` and `right`, the link between them is `bottleneck`; hosts are
//! `l1`, `l2`, … and `r1`, `r2`, …; their links lead to the right, `l1-left` and `right-r1`.
//! Cost: O(hosts).
//! Bound: three links from any host on the left to any on the right
//! (topologies.rs: shapes_have_their_counts).

use super::{Context, Graph, Medium, check_size, rate};
use crate::values::LineRate;
use fairq_sched::units::Time;

shape! {
    /// Hosts on each side, and the links.
    pub struct Settings {
        /// The number of hosts on each side.
        pub hosts: u32 = 2,
        /// The rate of the bottleneck.
        pub rate: LineRate = rate(10_000_000),
        /// The delay of the bottleneck.
        pub delay: Time = Time::from_ms(10),
        /// The rate of a host's link.
        pub access_rate: LineRate = rate(100_000_000),
        /// The delay of a host's link.
        pub access_delay: Time = Time::from_ms(1),
    }
}

/// The dumbbell.
///
/// # Errors
/// Settings without sense.
pub fn build(settings: &Settings, _: Context<'_>) -> Result<Graph, String> {
    if settings.hosts == 0 {
        return Err("hosts is at least 1".to_string());
    }
    check_size(2 * u64::from(settings.hosts) + 2)?;
    let access = Medium::new(settings.access_rate, settings.access_delay);
    let mut graph = Graph::default();
    let (left, right) = (graph.node("left"), graph.node("right"));
    graph.named_link("bottleneck".to_string(), left, right, Medium::new(settings.rate, settings.delay));
    for number in 1..=settings.hosts {
        let host = graph.node(format!("l{number}"));
        graph.link(host, left, access);
    }
    for number in 1..=settings.hosts {
        let host = graph.node(format!("r{number}"));
        graph.link(right, host, access);
    }
    // Hosts in a column at either side.
    let (hosts, middle) = (settings.hosts as usize, (f64::from(settings.hosts) + 1.0) / 2.0);
    let step = middle.max(1.0);
    graph.put(left, step, -middle);
    graph.put(right, 2.0 * step, -middle);
    for number in 1..=hosts {
        graph.put(right + number, 0.0, -(number as f64));
        graph.put(right + hosts + number, 3.0 * step, -(number as f64));
    }
    Ok(graph)
}
