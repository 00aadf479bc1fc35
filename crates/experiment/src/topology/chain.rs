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

use super::{Context, Graph, Medium, rate, too_large};
use crate::values::{BufferSize, LineRate, TextForm};
use fairq_sched::queue::Queue;
use fairq_sched::units::Time;

/// The row.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The number of nodes.
    pub nodes: u32,
    /// The rate of a link.
    pub rate: LineRate,
    /// The delay of a link.
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
        Self { nodes: 4, rate: rate(10_000_000), delay: Time::from_ms(10), queue: None, buffer: None }
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
    too_large(u64::from(settings.nodes)).map_or(Ok(()), Err)?;
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
