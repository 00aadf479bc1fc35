//! The summary of a topology: its size, whether it is connected, the distance of its ends.

use crate::diameter::{self, GoOn, Stopped, diameter};
use crate::{format, read};
use fairq_experiment::scenario::read::Document;
use fairq_experiment::topology::file::Options;
use fairq_experiment::topology::registry::TOPOLOGIES;
use fairq_experiment::topology::{Context, Edge, Graph, Node, Place};
use fairq_experiment::values::{LineRate, LinkRate, TextForm};
use fairq_sched::units::{PS_PER_S, Rate};
use fairq_sim::plan::Files;
use fairq_text::Fault;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The size and the shape of a topology: what `fairq topology --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The file, or the shape as it was given.
    pub file: String,
    /// The format of the file, `a scenario` or `a shape`.
    pub format: &'static str,
    /// How many nodes there are.
    pub nodes: usize,
    /// How many links there are.
    pub links: usize,
    /// Whether every node has a path to every other.
    pub connected: bool,
    /// The number of connected parts.
    pub parts: usize,
    /// The greatest delay in seconds of a shortest path between two nodes that have a path.
    pub diameter_s: f64,
    /// Links whose rate is the default.
    pub rates_by_default: usize,
    /// Links whose rate was guessed from their label.
    pub rates_guessed: usize,
    /// What is missing or wrong in the file.
    pub warnings: Vec<String>,
    /// What was guessed.
    pub notes: Vec<String>,
}

/// A topology: its summary, nodes and links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Its size and its shape.
    #[serde(flatten)]
    pub summary: Summary,
    /// A row for each node.
    pub node_table: Vec<NodeRow>,
    /// A row for each link.
    pub link_table: Vec<LinkRow>,
}

/// A node of a topology.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRow {
    /// Its name.
    pub node: String,
    /// Its label in the file; empty if it has none.
    pub label: String,
    /// Its latitude in degrees.
    pub latitude: Option<f64>,
    /// Its longitude in degrees.
    pub longitude: Option<f64>,
    /// Its place in a plane, in the unit of the file.
    pub x: Option<f64>,
    /// Its place in a plane, in the unit of the file.
    pub y: Option<f64>,
}

/// A link of a topology.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// Its name.
    pub link: String,
    /// The node at one end.
    pub from: String,
    /// The node at the other end.
    pub to: String,
    /// Its rate in bit/s; `None` without a limit.
    pub rate_bit_per_s: Option<u64>,
    /// Its delay in seconds.
    pub delay_s: f64,
    /// Its weight for routes.
    pub weight: Option<f64>,
}

/// Reads the topology in `bytes` and describes it: counts, the greatest shortest-path delay between
/// two nodes that have a path (its diameter), warnings, notes, and the tables of nodes and links.
///
/// # Errors
/// See [`Stopped`].
pub fn describe(bytes: &[u8], file: &str, options: &Options, go_on: GoOn<'_>) -> Result<Description, Stopped> {
    let (format, graph) = format::read(bytes, file, options)?;
    described(&graph, file, format, go_on)
}

/// Whether `text` is a shape by name, like `fat_tree`, or looks like one with settings, like
/// `fat_tree(k=4)`.
#[must_use]
pub fn is_shape(text: &str) -> bool {
    text.trim_end().ends_with(')') || TOPOLOGIES.iter().any(|card| card.is_called(text.trim()))
}

/// Describes the shape that `text` names, as in a scenario: `fat_tree(k=4)`.
///
/// # Errors
/// See [`Stopped`].
pub fn describe_shape(text: &str, files: Files<'_>, go_on: GoOn<'_>) -> Result<Description, Stopped> {
    let scenario = json!({ "topology": text }).to_string();
    described(&graph(&scenario, text, files)?, text, "a shape", go_on)
}

/// Describes the network of the scenario in `text`: its topology and its links, before any axis.
///
/// # Errors
/// See [`Stopped`].
pub fn describe_scenario(text: &str, file: &str, files: Files<'_>, go_on: GoOn<'_>) -> Result<Description, Stopped> {
    described(&graph(text, file, files)?, file, "a scenario", go_on)
}

/// The nodes and links of the scenario in `text`.
fn graph(text: &str, file: &str, files: Files<'_>) -> Result<Graph, String> {
    let document = Document::parse(text, file).map_err(|problem| problem.to_string())?;
    let (scenario, _) = document.scenario().map_err(|problem| problem.to_string())?;
    let context = Context { seed: scenario.measure.seed, files, reader: Some(read) };
    let fault = |message: String| document.problem(Fault::new("topology", message)).to_string();
    let mut graph = match &scenario.topology {
        Some(TextForm(settings)) => settings.build(context).map_err(fault)?,
        None => Graph::default(),
    };
    let mut numbers: BTreeMap<String, usize> =
        graph.nodes.iter().enumerate().map(|(number, node)| (node.name.clone(), number)).collect();
    for link in &scenario.links {
        let [from, to] =
            [&link.from, &link.to].map(|name| *numbers.entry(name.clone()).or_insert_with(|| graph.node(name.clone())));
        let (name, rate) = (link.name.clone(), link.rate.map_or(LineRate(None), LinkRate::nominal));
        graph.links.push(Edge { name, from, to, rate, delay: link.delay, weight: link.weight });
    }
    if graph.links.is_empty() {
        return Err(format!("{file}: it has no links, so there is nothing to describe"));
    }
    Ok(graph)
}

fn described(graph: &Graph, file: &str, format: &'static str, go_on: GoOn<'_>) -> Result<Description, Stopped> {
    // Reading takes less than a second; the diameter may take long.
    let diameter = diameter(graph, go_on)?;
    let place = |place: Option<Place>| match place {
        Some(Place::Globe { latitude, longitude }) => [Some(latitude), Some(longitude), None, None],
        Some(Place::Plane { x, y }) => [None, None, Some(x), Some(y)],
        None => [None; 4],
    };
    let node = |node: &Node| {
        let [latitude, longitude, x, y] = place(node.place);
        NodeRow { node: node.name.clone(), label: node.label.clone(), latitude, longitude, x, y }
    };
    let link = |link: &Edge| LinkRow {
        link: link.name.clone(),
        from: graph.nodes[link.from].name.clone(),
        to: graph.nodes[link.to].name.clone(),
        rate_bit_per_s: link.rate.0.map(Rate::bit_per_s),
        delay_s: link.delay.as_s(),
        weight: link.weight.map(|weight| f64::from(weight.thousandths()) / 1000.0),
    };
    let parts = parts(graph);
    let summary = Summary {
        file: file.to_owned(),
        format,
        nodes: graph.nodes.len(),
        links: graph.links.len(),
        connected: parts == 1,
        parts,
        diameter_s: diameter.0 as f64 / PS_PER_S as f64,
        rates_by_default: graph.rates_by_default,
        rates_guessed: graph.rates_guessed,
        warnings: graph.warnings.clone(),
        notes: graph.notes.clone(),
    };
    Ok(Description {
        summary,
        node_table: graph.nodes.iter().map(node).collect(),
        link_table: graph.links.iter().map(link).collect(),
    })
}

/// The number of connected parts.
#[must_use]
pub fn parts(graph: &Graph) -> usize {
    diameter::parts(graph).len()
}
