//! Three levels as in the tiers generator: one wide-area network, metropolitan networks around it,
//! local networks around those.
//!
//! Use when: you need a large random network of three levels, as in Legout and Biersack 2002. For a
//! real map use `file`; for one bottleneck that you control, `dumbbell`.
//! Source: Doar, "A Better Model for Generating Test Networks", Globecom 1996 (the program
//! `tiers`); the sizes, rates and delays are those of Legout and Biersack, "Revisiting the Fair
//! Queuing Paradigm for End-to-End Congestion Control", 2002, section 3.1.
//! Departs: nodes are placed at any point of a square of side 1, not on a grid. A network gets its
//! further links where two of its nodes are nearest and not yet linked, until it has as many as are
//! asked for; tiers adds them node by node until each has a degree. Delays are uniform in a range,
//! as in the paper, not proportional to distance.
//! Chosen: each network is joined by a Euclidean minimum spanning tree. A metropolitan network
//! hangs on a node of the wide-area one, and a local one on a node of its metropolitan one, each at
//! random, uniformly; with `uplinks` above 1 further nodes of a metropolitan network have an
//! uplink, to random nodes in the same way. "2 links" of the paper are then one inside and one
//! uplink. An uplink has the rate and delay of the lower level. Nodes are `wan1`, …, `man1.1`, …
//! (network and node) and `lan1.1`, … (metropolitan network and local network); further hosts of a
//! local network, `lan1.1.2`, …, are linked to that, its hub. Links are called by their ends, the
//! lower level first. Random choices follow from `seed`, or else from `measure.seed`; they are the
//! same in all replications of a run, and an axis over `topology.seed` gives other networks.
//! Cost: O(nodes² of a network).
//! Bound: with the defaults 225 nodes and 226 links
//! (topologies.rs: the_paper_s_tiers_have_225_nodes_and_226_links).

use super::{Context, Graph, Medium, check_size, rate};
use crate::values::LineRate;
use fairq_link::random::Stream;
use fairq_sched::units::Time;

shape! {
    /// Sizes, rates and delays of the three levels.
    pub struct Settings {
        /// Nodes of the wide-area network.
        pub wan_nodes: u32 = 5,
        /// Links between them; at least as many as a tree has.
        pub wan_links: u32 = 6,
        /// The number of metropolitan networks.
        pub mans: u32 = 20,
        /// Nodes of each.
        pub man_nodes: u32 = 2,
        /// Links between the nodes of each; at least as many as a tree has.
        pub man_links: u32 = 1,
        /// Nodes of each metropolitan network that are linked to the wide-area network.
        pub uplinks: u32 = 1,
        /// Local networks at each metropolitan network.
        pub lans: u32 = 9,
        /// Nodes of each, including its hub.
        pub lan_nodes: u32 = 1,
        /// The rate of wide-area links.
        pub wan_rate: LineRate = rate(155_000_000),
        /// The rate of metropolitan links and their uplinks.
        pub man_rate: LineRate = rate(55_000_000),
        /// The rate of local links and their uplinks.
        pub lan_rate: LineRate = rate(10_000_000),
        /// The least delay of wide-area links.
        pub wan_delay_min: Time = Time::from_ms(100),
        /// The greatest delay of wide-area links.
        pub wan_delay_max: Time = Time::from_ms(150),
        /// The least delay of metropolitan links and their uplinks.
        pub man_delay_min: Time = Time::from_ms(20),
        /// The greatest delay of metropolitan links and their uplinks.
        pub man_delay_max: Time = Time::from_ms(40),
        /// The least delay of local links and their uplinks.
        pub lan_delay_min: Time = Time::from_ms(10),
        /// The greatest delay of local links and their uplinks.
        pub lan_delay_max: Time = Time::from_ms(10),
        /// The seed of random choices; by default that of `measure`.
        pub seed: Option<u64> = None,
    }
}

/// The three levels.
///
/// # Errors
/// Settings without sense.
pub fn build(settings: &Settings, context: Context<'_>) -> Result<Graph, String> {
    check(settings)?;
    let seed = settings.seed.unwrap_or(context.seed);
    let stream = |name: &str| Stream::new(seed, &format!("topology/{name}"));
    let mut draw = Draw { places: stream("places"), uplinks: stream("uplinks"), delays: stream("delays") };
    let mut graph = Graph::default();
    let s = settings;
    let wan_class = Class { rate: s.wan_rate, delay: [s.wan_delay_min, s.wan_delay_max] };
    let man_class = Class { rate: s.man_rate, delay: [s.man_delay_min, s.man_delay_max] };
    let lan_class = Class { rate: s.lan_rate, delay: [s.lan_delay_min, s.lan_delay_max] };
    let wan: Vec<usize> = (1..=s.wan_nodes).map(|number| graph.node(format!("wan{number}"))).collect();
    draw.join(&mut graph, &wan, s.wan_links, wan_class);
    for man in 1..=s.mans {
        let own: Vec<usize> = (1..=s.man_nodes).map(|number| graph.node(format!("man{man}.{number}"))).collect();
        draw.join(&mut graph, &own, s.man_links, man_class);
        own.iter().take(s.uplinks as usize).for_each(|node| draw.hang(&mut graph, *node, &wan, man_class));
        for lan in 1..=s.lans {
            let hub = graph.node(format!("lan{man}.{lan}"));
            draw.hang(&mut graph, hub, &own, lan_class);
            for host in 2..=s.lan_nodes {
                let host = graph.node(format!("lan{man}.{lan}.{host}"));
                let medium = draw.medium(lan_class);
                graph.link(host, hub, medium);
            }
        }
    }
    Ok(graph)
}

fn check(s: &Settings) -> Result<(), String> {
    if s.wan_nodes == 0 || s.man_nodes == 0 || s.lan_nodes == 0 {
        return Err("wan_nodes, man_nodes and lan_nodes are at least 1 each".to_string());
    }
    if s.wan_nodes > JOINED_MAX || s.man_nodes > JOINED_MAX {
        return Err(format!("wan_nodes and man_nodes are at most {JOINED_MAX} each"));
    }
    let [wan, mans, man, lans, lan] = [s.wan_nodes, s.mans, s.man_nodes, s.lans, s.lan_nodes].map(u64::from);
    check_size(lans.saturating_mul(lan).saturating_add(man).saturating_mul(mans).saturating_add(wan))?;
    for (name, links, nodes) in [("wan_links", s.wan_links, wan), ("man_links", s.man_links, man)] {
        if !(nodes - 1..=nodes * (nodes - 1) / 2).contains(&u64::from(links)) {
            let (least, most) = (nodes - 1, nodes * (nodes - 1) / 2);
            return Err(format!("{name} is from {least} to {most} for {nodes} nodes"));
        }
    }
    if s.mans > 0 && !(1..=s.man_nodes).contains(&s.uplinks) {
        return Err(format!("uplinks is from 1 to man_nodes, which is {}", s.man_nodes));
    }
    let ranges = [
        ("wan", s.wan_delay_min, s.wan_delay_max),
        ("man", s.man_delay_min, s.man_delay_max),
        ("lan", s.lan_delay_min, s.lan_delay_max),
    ];
    let wrong = ranges.iter().find(|(_, least, most)| least > most);
    wrong.map_or(Ok(()), |(level, ..)| Err(format!("{level}_delay_min is at most {level}_delay_max")))
}

/// The most nodes of a network, because its nodes are compared in pairs.
const JOINED_MAX: u32 = 2000;

/// The rate of a class of links and the range of their delays.
#[derive(Clone, Copy)]
struct Class {
    rate: LineRate,
    delay: [Time; 2],
}

/// Random streams, one for each use.
struct Draw {
    places: Stream,
    uplinks: Stream,
    delays: Stream,
}

impl Draw {
    fn medium(&mut self, class: Class) -> Medium {
        let [least, most] = class.delay;
        // A range has at most 2⁶² picoseconds; the product is rounded down.
        let above = (most - least).0 as f64 * self.delays.uniform();
        Medium::new(class.rate, Time(least.0 + above as u64))
    }

    /// Links `node` to one of `above`.
    fn hang(&mut self, graph: &mut Graph, node: usize, above: &[usize], class: Class) {
        let at = (self.uplinks.uniform() * above.len() as f64) as usize;
        let medium = self.medium(class);
        graph.link(node, above[at], medium);
    }

    /// Places `nodes` and joins them by `links` links: a minimum spanning tree, then the nearest
    /// pairs.
    fn join(&mut self, graph: &mut Graph, nodes: &[usize], links: u32, class: Class) {
        let places: Vec<[f64; 2]> = nodes.iter().map(|_| [self.places.uniform(), self.places.uniform()]).collect();
        let distance = |a: usize, b: usize| {
            let [x, y] = [places[a][0] - places[b][0], places[a][1] - places[b][1]];
            x * x + y * y
        };
        let mut joined = spanning_tree(nodes.len(), distance);
        if joined.len() < links as usize {
            let mut others: Vec<(usize, usize)> = (0..nodes.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
            others.retain(|pair| !joined.contains(pair));
            others.sort_by(|p, q| distance(p.0, p.1).total_cmp(&distance(q.0, q.1)).then(p.cmp(q)));
            let more = links as usize - joined.len();
            joined.extend(others.into_iter().take(more));
        }
        for (a, b) in joined {
            let medium = self.medium(class);
            graph.link(nodes[a], nodes[b], medium);
        }
    }
}

/// Prim's tree over `points` points: pairs, the lower number first.
fn spanning_tree(points: usize, distance: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    // For each point outside the tree, the nearest inside.
    let mut nearest = vec![0; points];
    let mut outside: Vec<usize> = (1..points).collect();
    let mut pairs = Vec::new();
    while !outside.is_empty() {
        let of = |point: usize| distance(point, nearest[point]);
        let Some(at) = (0..outside.len()).min_by(|a, b| of(outside[*a]).total_cmp(&of(outside[*b]))) else { break };
        let new = outside.remove(at);
        pairs.push((new.min(nearest[new]), new.max(nearest[new])));
        for point in &outside {
            if distance(*point, new) < distance(*point, nearest[*point]) {
                nearest[*point] = new;
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tree_is_shorter_than_the_spanning_tree() {
        let mut places = Stream::new(1, "places");
        for _ in 0..50 {
            let points: Vec<[f64; 2]> = (0..5).map(|_| [places.uniform(), places.uniform()]).collect();
            let distance =
                |a: usize, b: usize| (points[a][0] - points[b][0]).abs() + (points[a][1] - points[b][1]).abs();
            let length = |pairs: &[(usize, usize)]| pairs.iter().map(|(a, b)| distance(*a, *b)).sum::<f64>();
            let found = length(&spanning_tree(5, distance));
            // All choices of four of the ten pairs that join the five points.
            let pairs: Vec<(usize, usize)> = (0..5).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
            for choice in (0..1u32 << 10).filter(|choice| choice.count_ones() == 4) {
                let chosen: Vec<_> = (0..10).filter(|at| choice >> at & 1 == 1).map(|at| pairs[at]).collect();
                let mut of: [usize; 5] = std::array::from_fn(|at| at);
                for _ in 0..5 {
                    for (a, b) in &chosen {
                        let least = of[*a].min(of[*b]);
                        (of[*a], of[*b]) = (least, least);
                    }
                }
                assert!(of != [0; 5] || found <= length(&chosen) + 1e-12);
            }
        }
    }
}
