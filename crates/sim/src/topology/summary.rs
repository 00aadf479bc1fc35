//! What there is to say of a topology: how large it is, whether it hangs together, how far its ends lie apart.

use super::format::{self, Options};
use super::{Edge, Graph, Place};
use crate::net::route::{Ends, Routes};
use fairq_sched::units::{PS_PER_S, Rate, Time};
use serde_json::{Value, json};

/// Reads the topology in `bytes` and describes it: counts, the greatest shortest-path delay between two nodes that have a
/// path (its diameter), warnings, and the tables of nodes and links.
///
/// # Errors
/// One line that begins with the file's name: what is wrong, and where.
pub fn describe(bytes: &[u8], file: &str, options: &Options) -> Result<Value, String> {
    let (format, graph) = format::read(bytes, file, options)?;
    let place = |place: Option<Place>| match place {
        Some(Place::Globe { latitude, longitude }) => [Some(latitude), Some(longitude), None, None],
        Some(Place::Plane { x, y }) => [None, None, Some(x), Some(y)],
        None => [None; 4],
    };
    let node = |node: &super::Node| {
        let [latitude, longitude, x, y] = place(node.place);
        json!({ "node": node.name, "label": node.label, "latitude": latitude, "longitude": longitude, "x": x, "y": y })
    };
    let link = |link: &Edge| {
        json!({
            "link": link.name,
            "from": graph.nodes[link.from].name,
            "to": graph.nodes[link.to].name,
            "rate_bit_per_s": link.rate.0.map(Rate::bit_per_s),
            "delay_s": link.delay.as_s(),
            "weight": link.weight.map(|weight| f64::from(weight.thousandths()) / 1000.0),
        })
    };
    let parts = parts(&graph);
    Ok(json!({
        "file": file,
        "format": format,
        "nodes": graph.nodes.len(),
        "links": graph.links.len(),
        "connected": parts == 1,
        "parts": parts,
        "diameter_s": diameter(&graph).0 as f64 / PS_PER_S as f64,
        "rates_by_default": graph.rates_by_default,
        "warnings": graph.warnings,
        "node_table": graph.nodes.iter().map(node).collect::<Vec<_>>(),
        "link_table": graph.links.iter().map(link).collect::<Vec<_>>(),
    }))
}

/// How many parts there are that no path joins.
#[must_use]
pub fn parts(graph: &Graph) -> usize {
    let mut of: Vec<usize> = (0..graph.nodes.len()).collect();
    fn root(of: &mut [usize], mut node: usize) -> usize {
        while of[node] != node {
            of[node] = of[of[node]];
            node = of[node];
        }
        node
    }
    for link in &graph.links {
        let (a, b) = (root(&mut of, link.from), root(&mut of, link.to));
        of[a.max(b)] = a.min(b);
    }
    (0..of.len()).filter(|node| of[*node] == *node).count()
}

/// The greatest delay of a shortest path by delay, over all pairs of nodes that have a path.
#[must_use]
pub fn diameter(graph: &Graph) -> Time {
    let ends = |from: usize, to: usize| Ends { from: from as u32, to: to as u32 };
    let both = |link: &Edge| [(ends(link.from, link.to), link.delay.0), (ends(link.to, link.from), link.delay.0)];
    let mut routes = Routes::new(graph.links.iter().flat_map(both).collect(), graph.nodes.len());
    let furthest = |to: u32| routes.costs_to(to).flatten().max().unwrap_or(0);
    Time((0..graph.nodes.len() as u32).map(furthest).max().unwrap_or(0))
}
