//! Files of topologies: GML, GraphML, BRITE, the output of tiers and edge lists, and what a
//! topology is like: its counts, its parts, its diameter.
//!
//! A wing: the core knows of it only the function [`read`], which a scenario is given for its
//! `topology = "file(…)"`.

pub mod diameter;
mod distances;
pub mod format;
pub mod fuzz;
pub mod summary;

use fairq_experiment::topology::Graph;
use fairq_experiment::topology::file::Options;

/// The network in `bytes`, the file called `file`: what
/// `fairq_experiment::scenario::read::Document` takes as its reader of topologies.
///
/// # Errors
/// One line that begins with the file's name.
pub fn read(bytes: &[u8], file: &str, options: &Options) -> Result<Graph, String> {
    format::read(bytes, file, options).map(|(_, graph)| graph)
}
