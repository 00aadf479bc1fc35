//! A chain: nodes in a row, each linked to the next.
//!
//! Use when: flows cross several gateways in a row and you place them yourself. For a row with a
//! pair of hosts at every hop use `parking_lot`; for one bottleneck, `dumbbell`.
//! Source: the network of several gateways in the papers of the field, as in Demers, Keshav and
//! Shenker 1990, figure 5.
//! Departs: nothing.
//! Chosen: nodes are `n1`, `n2`, …; links are called by their ends, `n1-n2`.
//! Cost: O(nodes).
//! Bound: nodes − 1 links, and the delay of all of them from end to end
//! (topologies.rs: shapes_have_their_counts).

use super::{Context, Graph, Medium, check_size, rate};
use crate::values::LineRate;
use fairq_sched::units::Time;

shape! {
    /// The row.
    pub struct Settings {
        /// The number of nodes.
        pub nodes: u32 = 4,
        /// The rate of a link.
        pub rate: LineRate = rate(10_000_000),
        /// The delay of a link.
        pub delay: Time = Time::from_ms(10),
    }
}

/// The chain.
///
/// # Errors
/// Settings without sense.
pub fn build(settings: &Settings, _: Context<'_>) -> Result<Graph, String> {
    if settings.nodes < 2 {
        return Err("nodes is at least 2".to_string());
    }
    check_size(u64::from(settings.nodes))?;
    let medium = Medium::new(settings.rate, settings.delay);
    let mut graph = Graph::default();
    for number in 1..=settings.nodes {
        let node = graph.node(format!("n{number}"));
        graph.put(node, f64::from(number), 0.0);
        if node > 0 {
            graph.link(node - 1, node, medium);
        }
    }
    Ok(graph)
}
