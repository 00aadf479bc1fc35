//! Topologies: the shape of a network, generated or read from a file, before it has queues and
//! flows. The formats of files are crate `fairq-topologies`; here is only the function that reads
//! one.

/// The settings of a generated shape: its own, each with its default, then the queue and the buffer
/// of its links.
macro_rules! shape {
    (
        $(#[$of_all:meta])*
        pub struct Settings {
            $($(#[$of_one:meta])* pub $name:ident: $type:ty = $default:expr,)+
        }
    ) => {
        $(#[$of_all])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $($(#[$of_one])* pub $name: $type,)+
            /// The discipline of its links, both ways; by default that of `defaults`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub queue: Option<$crate::values::TextForm<fairq_sched::queue::Queue>>,
            /// The buffer of a link whose queue names no limit; by default that of `defaults`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub buffer: Option<$crate::values::BufferSize>,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)+ queue: None, buffer: None }
            }
        }
    };
}

pub mod chain;
pub mod dumbbell;
pub mod fat_tree;
pub mod file;
pub mod leaf_spine;
pub mod parking_lot;
pub mod registry;
pub mod star;
pub mod tiers;

use crate::values::LineRate;
use fairq_sched::units::{Rate, Time, Weight};
use fairq_sim::plan::Files;
use file::Options;

/// The most nodes of a topology: a mistyped number is refused before it fills the memory.
pub const NODES_MAX: u64 = 100_000;

/// The inputs of a topology besides its settings.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The seed of random choices, unless the settings name one.
    pub seed: u64,
    /// Gives the bytes of a file by its name.
    pub files: Files<'a>,
    /// Reads a file of a topology.
    pub reader: Option<Reader>,
}

/// Reads the bytes of the file of this name as a topology; the error is one line that names it.
pub type Reader = fn(&[u8], &str, &Options) -> Result<Graph, String>;

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// On the earth, in degrees.
    Globe {
        /// North of the equator.
        latitude: f64,
        /// East of Greenwich.
        longitude: f64,
    },
    /// In a plane of the file's or the shape's own, for drawing only.
    Plane {
        /// To the right.
        x: f64,
        /// Upwards.
        y: f64,
    },
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name in scenarios; it is unique.
    pub name: String,
    /// Its name for people; it need not be unique. Empty if there is none.
    pub label: String,
    /// Where it is, if that is known.
    pub place: Option<Place>,
}

/// A link, both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Its name in scenarios.
    pub name: String,
    /// The number of the node at one end.
    pub from: usize,
    /// The number of the node at the other.
    pub to: usize,
    /// The rate of each direction.
    pub rate: LineRate,
    /// The propagation delay.
    pub delay: Time,
    /// Its weight for routing, if it has one.
    pub weight: Option<Weight>,
}

/// Nodes and links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Links between them.
    pub links: Vec<Edge>,
    /// Warnings to read before the result is trusted, a line each.
    pub warnings: Vec<String>,
    /// Decisions where the file leaves a choice, a line each.
    pub notes: Vec<String>,
    /// The number of links with the default rate because no rate is known.
    pub rates_by_default: usize,
    /// The number of links whose rate is guessed from free text.
    pub rates_guessed: usize,
}

impl Graph {
    /// Adds a node called `name`. Returns its number.
    pub fn node(&mut self, name: impl Into<String>) -> usize {
        self.nodes.push(Node { name: name.into(), label: String::new(), place: None });
        self.nodes.len() - 1
    }

    /// Sets the position of a node on a map, `y` upwards.
    pub fn put(&mut self, node: usize, x: f64, y: f64) {
        self.nodes[node].place = Some(Place::Plane { x, y });
    }

    /// Puts `nodes` in a row at height `y`, evenly between `from` and `to`.
    pub fn put_in_row(&mut self, nodes: &[usize], [from, to]: [f64; 2], y: f64) {
        let step = (to - from) / nodes.len().max(1) as f64;
        for (place, node) in nodes.iter().enumerate() {
            self.put(*node, from + step * (place as f64 + 0.5), y);
        }
    }

    /// Adds a link that is named by its ends.
    pub fn link(&mut self, from: usize, to: usize, medium: Medium) {
        let name = format!("{}-{}", self.nodes[from].name, self.nodes[to].name);
        self.named_link(name, from, to, medium);
    }

    /// Adds a link called `name`.
    pub fn named_link(&mut self, name: String, from: usize, to: usize, medium: Medium) {
        self.links.push(Edge { name, from, to, rate: medium.rate, delay: medium.delay, weight: None });
    }
}

/// Rate and delay of a class of links.
#[derive(Clone, Copy, Debug)]
pub struct Medium {
    /// The rate of each direction.
    pub rate: LineRate,
    /// The propagation delay.
    pub delay: Time,
}

impl Medium {
    /// Links of `rate` and `delay`.
    #[must_use]
    pub const fn new(rate: LineRate, delay: Time) -> Self {
        Self { rate, delay }
    }
}

/// `bit_per_s` bits per second.
const fn rate(bit_per_s: u64) -> LineRate {
    LineRate(Rate::new(bit_per_s))
}

/// Refuses a topology of too many `nodes`.
fn check_size(nodes: u64) -> Result<(), String> {
    if nodes <= NODES_MAX {
        return Ok(());
    }
    Err(format!("that makes more than {NODES_MAX} nodes; write smaller numbers"))
}
