//! Leaves and spines: every leaf switch is linked to every spine switch, hosts to their leaf.
//!
//! Use when: you study a data centre of two levels with equal paths. For three levels use
//! `fat_tree`; for one rack, `star`.
//! Source: Clos, "A Study of Non-Blocking Switching Networks", Bell System Technical Journal 1953,
//! folded; as in Alizadeh and others, "CONGA", SIGCOMM 2014, figure 1.
//! Departs: nothing.
//! Chosen: switches are `spine1`, … and `leaf1`, …, hosts `h1`, `h2`, … by leaf. Links lead
//! upwards: `h1-leaf1`, `leaf1-spine1`.
//! Cost: O(leaves · (spines + hosts)).
//! Bound: as many equally short paths between hosts of different leaves as there are spines
//! (topologies.rs: shapes_have_their_counts, topologies.rs: equal_cost_paths_share_the_flows).

use super::{Context, Graph, Medium, check_size, rate};
use crate::values::LineRate;
use fairq_sched::units::Time;

shape! {
    /// The numbers of nodes, and the links.
    pub struct Settings {
        /// The number of leaf switches.
        pub leaves: u32 = 4,
        /// The number of spine switches.
        pub spines: u32 = 2,
        /// The number of hosts at each leaf.
        pub hosts: u32 = 4,
        /// The rate of a host's link.
        pub rate: LineRate = rate(1_000_000_000),
        /// The rate of a link between leaf and spine.
        pub fabric_rate: LineRate = rate(1_000_000_000),
        /// The delay of a link.
        pub delay: Time = Time(5_000_000),
    }
}

/// Leaves and spines.
///
/// # Errors
/// Settings without sense.
pub fn build(settings: &Settings, _: Context<'_>) -> Result<Graph, String> {
    if settings.leaves == 0 || settings.spines == 0 || settings.hosts == 0 {
        return Err("leaves, spines and hosts are at least 1 each".to_string());
    }
    let [leaves, spines, hosts] = [settings.leaves, settings.spines, settings.hosts].map(u64::from);
    let nodes = leaves.saturating_mul(hosts + 1).saturating_add(spines);
    check_size(nodes.max(leaves.saturating_mul(spines) / 10))?;
    let fabric = Medium::new(settings.fabric_rate, settings.delay);
    let mut graph = Graph::default();
    let spines: Vec<usize> = (1..=spines).map(|number| graph.node(format!("spine{number}"))).collect();
    for leaf in 0..leaves {
        let switch = graph.node(format!("leaf{}", leaf + 1));
        spines.iter().for_each(|spine| graph.link(switch, *spine, fabric));
        for host in 1..=hosts {
            let host = graph.node(format!("h{}", leaf * hosts + host));
            graph.link(host, switch, Medium::new(settings.rate, settings.delay));
        }
        // Hosts in a row at the bottom, their leaf above their middle, the spines over all.
        let (from, to) = ((leaf * hosts) as f64, ((leaf + 1) * hosts) as f64);
        let own: Vec<usize> = (switch + 1..graph.nodes.len()).collect();
        graph.put_in_row(&own, [from, to], 0.0);
        graph.put_in_row(&[switch], [from, to], (leaves * hosts) as f64 / 6.0);
    }
    let wide = (leaves * hosts) as f64;
    graph.put_in_row(&spines, [0.0, wide], wide / 3.0);
    Ok(graph)
}
