//! A fat tree of switches with k ports each: k pods between k²/4 core switches and k³/4 hosts.
//!
//! Use when: you study a data centre of three levels with many equal paths. For two levels or sizes
//! of your own use `leaf_spine`; for one rack, `star`.
//! Source: Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center Network
//! Architecture", SIGCOMM 2008, section 2.2.
//! Departs: paths are chosen by the scenario's `routing` and `multipath`, not by the paper's
//! two-level tables.
//! Chosen: core switches are `c1`, …; in pod p aggregation switches are `a<p>.1`, … and edge
//! switches `e<p>.1`, …; hosts are `h1`, `h2`, … by pod and edge switch. The i-th aggregation
//! switch of each pod leads to the i-th group of k/2 core switches. Links lead upwards: `h1-e1.1`,
//! `e1.1-a1.1`, `a1.1-c1`.
//! Cost: O(k³).
//! Bound: 5k²/4 switches; (k/2)² equally short paths between hosts of different pods
//! (topologies.rs: shapes_have_their_counts, topologies.rs: equal_cost_paths_share_the_flows).

use super::{Context, Graph, Medium, check_size, rate};
use crate::values::LineRate;
use fairq_sched::units::Time;

shape! {
    /// The number of ports, and the links.
    pub struct Settings {
        /// Ports of a switch; even.
        pub k: u32 = 4,
        /// The rate of a link.
        pub rate: LineRate = rate(1_000_000_000),
        /// The delay of a link.
        pub delay: Time = Time(5_000_000),
    }
}

/// The fat tree.
///
/// # Errors
/// Settings without sense.
pub fn build(settings: &Settings, _: Context<'_>) -> Result<Graph, String> {
    let k = u64::from(settings.k);
    if k < 2 || !k.is_multiple_of(2) {
        return Err("k is even and at least 2".to_string());
    }
    if k > 1000 {
        return Err("k is at most 1000".to_string());
    }
    check_size(k * k * k / 4 + 5 * k * k / 4)?;
    let half = k / 2;
    let medium = Medium::new(settings.rate, settings.delay);
    let mut graph = Graph::default();
    let core: Vec<usize> = (1..=half * half).map(|number| graph.node(format!("c{number}"))).collect();
    // Hosts in a row at the bottom, their edge switch above their middle, aggregation and core
    // switches over those.
    let (wide, of_pod) = ((k * half * half) as f64, (half * half) as f64);
    graph.put_in_row(&core, [0.0, wide], wide / 2.0);
    let mut hosts = 0;
    for pod in 1..=k {
        let place = (pod - 1) as f64 * of_pod;
        let above: Vec<usize> = (1..=half).map(|number| graph.node(format!("a{pod}.{number}"))).collect();
        graph.put_in_row(&above, [place, place + of_pod], wide / 3.0);
        for (switch, group) in above.iter().zip(core.chunks(half as usize)) {
            group.iter().for_each(|core| graph.link(*switch, *core, medium));
        }
        for number in 1..=half {
            let edge = graph.node(format!("e{pod}.{number}"));
            above.iter().for_each(|switch| graph.link(edge, *switch, medium));
            graph.put_in_row(&[edge], [hosts as f64, (hosts + half) as f64], wide / 6.0);
            for _ in 0..half {
                hosts += 1;
                let host = graph.node(format!("h{hosts}"));
                graph.put(host, hosts as f64 - 0.5, 0.0);
                graph.link(host, edge, medium);
            }
        }
    }
    Ok(graph)
}
