//! A parking lot: a row of bottlenecks, a pair of hosts for all of it and a pair for each of them.
//!
//! Use when: a long flow crosses several bottlenecks that each have a flow of their own: max-min
//! fairness. For one bottleneck use `dumbbell`; to place flows yourself, `chain`.
//! Source: the parking-lot network of the max-min fairness literature, as in Bertsekas and
//! Gallager, "Data Networks", 2nd edition 1992, section 6.5.2.
//! Departs: nothing.
//! Chosen: gateways are `g1`, `g2`, …, the links between them `L1`, `L2`, …; `s0` sends over all of
//! them to `d0`, `s1` over `L1` to `d1`, `s2` over `L2` to `d2`, …; the hosts' links are `s1-g1`
//! and `g2-d1`.
//! Cost: O(hops).
//! Bound: hops + 2 links from `s0` to `d0`, three from any other source to its sink
//! (topologies.rs: shapes_have_their_counts).

use super::{Context, Graph, Medium, check_size, rate};
use crate::values::LineRate;
use fairq_sched::units::Time;

shape! {
    /// The number of bottlenecks, and the links.
    pub struct Settings {
        /// The number of bottlenecks.
        pub hops: u32 = 3,
        /// The rate of a bottleneck.
        pub rate: LineRate = rate(10_000_000),
        /// The delay of a bottleneck.
        pub delay: Time = Time::from_ms(10),
        /// The rate of a host's link.
        pub access_rate: LineRate = rate(100_000_000),
        /// The delay of a host's link.
        pub access_delay: Time = Time::from_ms(1),
    }
}

/// The parking lot.
///
/// # Errors
/// Settings without sense.
pub fn build(settings: &Settings, _: Context<'_>) -> Result<Graph, String> {
    if settings.hops == 0 {
        return Err("hops is at least 1".to_string());
    }
    let hops = u64::from(settings.hops);
    check_size(3 * hops + 3)?;
    let access = Medium::new(settings.access_rate, settings.access_delay);
    let mut graph = Graph::default();
    let gateways: Vec<usize> = (1..=hops + 1).map(|number| graph.node(format!("g{number}"))).collect();
    for (number, ends) in gateways.windows(2).enumerate() {
        let medium = Medium::new(settings.rate, settings.delay);
        graph.named_link(format!("L{}", number + 1), ends[0], ends[1], medium);
    }
    let whole = [gateways[0], gateways[gateways.len() - 1]];
    for (number, ends) in std::iter::once(&whole[..]).chain(gateways.windows(2)).enumerate() {
        let source = graph.node(format!("s{number}"));
        graph.link(source, ends[0], access);
        let sink = graph.node(format!("d{number}"));
        graph.link(ends[1], sink, access);
        // Sources of one hop are above the row of gateways, their sinks below; the hosts of the
        // longest path are at its ends.
        let (from, to) = (ends[0] as f64, ends[1] as f64);
        let places = if number == 0 { [(from - 1.0, 0.0), (to + 1.0, 0.0)] } else { [(from, 0.6), (to, -0.6)] };
        graph.put(source, places[0].0, places[0].1);
        graph.put(sink, places[1].0, places[1].1);
    }
    gateways.iter().for_each(|gateway| graph.put(*gateway, *gateway as f64, 0.0));
    Ok(graph)
}
