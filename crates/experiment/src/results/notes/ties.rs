//! Ties that decide: equal sources at equal distances, whose packets meet at a full FIFO in one
//! order for ever.

use super::{Finder, Found, bit_rate, number};
use fairq_sched::contract::{self, Discipline as _};
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_sim::traffic::registry::TrafficSettings;

/// By more than this part of the greatest the throughputs of equal sources differ for no other
/// reason than the order of their packets.
const UNEQUAL: f64 = 0.1;

impl Finder<'_> {
    pub(super) fn ties(&self) -> Vec<Found> {
        let flows: Vec<(usize, &FlowPlan)> =
            self.plan.flows.iter().enumerate().filter(|(_, flow)| is_periodic(flow)).collect();
        if flows.len() < 2 {
            return Vec::new();
        }
        let dropped = |row| number(&self.at.mean().queues, "dropped", row) > Some(0.0);
        let lines = self.shown_lines().filter(|(row, _, line)| dropped(*row) && is_plain_fifo(line));
        lines.filter_map(|(_, at, line)| self.tie(&flows, at, line)).collect()
    }

    /// The first two flows over line number `at` that ask for the same and did not get it.
    fn tie(&self, flows: &[(usize, &FlowPlan)], at: u32, line: &LinePlan) -> Option<Found> {
        let here: Vec<&(usize, &FlowPlan)> =
            flows.iter().filter(|(_, flow)| flow.path.forward().contains(&at)).collect();
        let (one, other, [a, b]) = here.iter().enumerate().find_map(|(place, (row, one))| {
            let same = |(_, other): &&&(usize, &FlowPlan)| one.entry.traffic == other.entry.traffic;
            let equal = here[place + 1..].iter().filter(same);
            equal.into_iter().find_map(|(other_row, other)| Some((one, other, self.unequal(*row, *other_row)?)))
        })?;
        let (one, other, a, b) = (&one.name, &other.name, bit_rate(a), bit_rate(b));
        let text = format!(
            "{}, its queue is full, and {one} and {other} send at equal distances, so that a tie or a phase decides for ever \
             whose packets are dropped: {a} and {b} of the same load; write jitter = 1 in their traffic",
            line.direction()
        );
        Some(("tie", format!("links.{}", line.name), text))
    }

    /// The throughputs of two flows in the first run in which they differ.
    fn unequal(&self, one: usize, other: usize) -> Option<[f64; 2]> {
        self.at.runs().iter().find_map(|run| {
            let of = |row| number(&run.flows, "throughput_bit_per_s", row);
            let (a, b) = (of(one)?, of(other)?);
            ((a - b).abs() > UNEQUAL * a.max(b)).then_some([a, b])
        })
    }
}

/// Whether its packets come at equal distances, whatever happens to them.
fn is_periodic(flow: &FlowPlan) -> bool {
    let is_exact = matches!(&flow.entry.traffic, TrafficSettings::ConstantRate(source) if source.jitter == 0.0);
    is_exact && flow.entry.transport.sends_at_once()
}

/// Whether it drops an arriving packet where there is no room, and nothing else.
fn is_plain_fifo(line: &LinePlan) -> bool {
    line.rate.is_some_and(|rate| line.queue.build(&contract::Line::new(rate)).traits().fifo.is_some())
}
