//! Flows that a queue takes for one: by default many tell flows apart by the pair of their ends.

use super::{Finder, Found};
use fairq_sched::packet::Address;
use fairq_sched::queue::Queue;
use fairq_sched::registry::ClassifierSettings;
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_sim::segment::Direction;
use std::collections::BTreeMap;

impl Finder<'_> {
    /// That flows of one pair of ends share a queue that goes by pairs because nothing else is
    /// said.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Found> {
        self.shown_lines().filter(|(.., line)| goes_by_pairs(line)).filter_map(|(_, at, line)| {
            let mut of: BTreeMap<[Address; 2], Vec<&FlowPlan>> = BTreeMap::new();
            for flow in self.plan.flows.iter().filter(|flow| flow.path.forward().contains(&at)) {
                let header = flow.path.header(Direction::Forward);
                of.entry([header.source, header.destination]).or_default().push(flow);
            }
            let shared = of.values().find(|flows| flows.len() > 1)?;
            let [from, to] = &shared[0].entry.nodes;
            let name = line.queue.name();
            let text = format!(
                "{}, {name} goes by pairs of ends, and {} flows go from {from} to {to}, as {} and {}: together they have one \
                 share; write \"{name} + port_pair\" to tell them apart, or \"{name} + pair\" to keep this",
                line.direction(),
                shared.len(),
                shared[0].name,
                shared[1].name
            );
            Some(("pair", format!("links.{}", line.name), text))
        })
    }
}

/// Whether packets wait there, and by the pair of their ends: because no classifier is named.
fn goes_by_pairs(line: &LinePlan) -> bool {
    let queue: &Queue = &line.queue;
    let is_default = queue.classifier.is_none() && matches!(queue.classifier(), ClassifierSettings::Pair(_));
    line.rate.is_some() && is_default && queue.tells_flows_apart()
}
