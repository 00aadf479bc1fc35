//! A topology from a file: GML, GraphML, BRITE, the output of tiers, or an edge list in CSV.
//!
//! Use when: you have a map or the output of a generator. Rates and delays that it lacks are
//! defaults, and those from labels guesses: read the notes. For a random network use `tiers`.
//! Source: the file. Real maps: Knight and others, "The Internet Topology Zoo", IEEE JSAC
//! 29(9), 2011.
//! Departs: a link always goes both ways; the two edges of a directed pair are one link, and a
//! directed edge without one back is a warning. A file of several graphs is refused.
//! Chosen: a node is called by its id in the file; where a label belongs to one node alone, flows
//! may use that too. Links are called by the ids of their ends, `0-1`, further ones between the
//! same two `0-1.2`, `0-1.3`. A rate comes from the link's own numbers or the defaults that the
//! file gives them (GraphML), else from its label, else it is `default_rate`; a value there that is
//! no rate, like 0 or -1 of a generator, is a warning. In a label a number with a unit comes before
//! the name of a carrier; a rate from a label is a guess, and a note. A delay is the file's own,
//! else that of light in glass (2/3 of its speed in vacuum) along the great circle between the
//! ends, else `default_delay`. A node without coordinates takes the mean of its neighbours', which
//! is a warning.
//! Cost: O(length of the file).
//! Bound: every node and link of the file is in the network
//! (topologies.rs: all_real_maps_load_and_route).

use super::{Context, Graph, rate};
use crate::values::{BufferSize, LineRate, TextForm};
use fairq_sched::queue::Queue;
use fairq_sched::units::Time;

/// The file, and the values that it may leave out.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The file. A relative path starts at the scenario's folder.
    pub file: String,
    /// The rate of a link without one in the file.
    #[serde(default = "usual_rate")]
    pub default_rate: LineRate,
    /// The delay of a link without one in the file, if the place of one of its ends is not known.
    #[serde(default = "usual_delay")]
    pub default_delay: Time,
    /// Whether a warning is an error.
    #[serde(default)]
    pub strict: bool,
    /// The discipline of its links, both ways; by default that of `defaults`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<TextForm<Queue>>,
    /// The buffer of a link whose queue names no limit; by default that of `defaults`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
}

/// Values for what a file leaves out, and whether warnings are errors.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The rate of a link without one in the file.
    pub rate: LineRate,
    /// The delay of a link without one in the file, if the place of one of its ends is not known.
    pub delay: Time,
    /// Whether a warning is an error.
    pub is_strict: bool,
}

/// 1 Gbit/s.
#[must_use]
pub const fn usual_rate() -> LineRate {
    rate(1_000_000_000)
}

/// A millisecond: some 200 km.
#[must_use]
pub const fn usual_delay() -> Time {
    Time::from_ms(1)
}

/// The network of the file.
///
/// # Errors
/// What is wrong with the file.
pub fn build(settings: &Settings, context: Context<'_>) -> Result<Graph, String> {
    let read = context.reader.ok_or_else(|| format!("{}: no reader of topology files is here", settings.file))?;
    let bytes = (context.files)(&settings.file)?;
    let options = Options { rate: settings.default_rate, delay: settings.default_delay, is_strict: settings.strict };
    read(&bytes, &settings.file, &options)
}
