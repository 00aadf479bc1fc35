//! What held each flow back beside its congestion control and the links. No column: notes say it.

use fairq_sched::units::Time;
use fairq_sim::plan::{FlowPlan, Plan};
use fairq_sim::run::{FlowCounts, Simulation};

/// What held a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    /// The part of the measured time in which its receiver's window did.
    pub by_receiver: f64,
    /// The part in which its host's room for packets that are not acknowledged did.
    pub by_buffer: f64,
    /// The part in which it had no data to send.
    pub by_application: f64,
    /// The mean number of packets that waited before access lines on the way of its data.
    pub at_access: f64,
}

/// What held each flow of a run that has come to its end, and was settled.
pub(super) fn of(plan: &Plan, simulation: &Simulation) -> Vec<Held> {
    let flow = |(flow, counts): (&FlowPlan, &FlowCounts)| {
        let part = |time: Time| time.0 as f64 / plan.duration.0 as f64;
        let access = flow.path.forward().iter().map(|line| *line as usize).filter(|line| plan.lines[*line].is_access);
        let waiting = |line: usize| simulation.network.lines[line].counts.area as f64 / plan.duration.0 as f64;
        Held {
            by_receiver: part(counts.held.receiver),
            by_buffer: part(counts.held.buffer),
            by_application: part(counts.held.application),
            at_access: access.map(waiting).sum(),
        }
    };
    plan.flows.iter().zip(simulation.flow_counts()).map(flow).collect()
}

/// The means over several runs of one plan.
pub(super) fn mean<'a>(runs: impl ExactSizeIterator<Item = &'a [Held]>) -> Vec<Held> {
    let part = 1.0 / runs.len() as f64;
    let mut mean: Vec<Held> = Vec::new();
    for run in runs {
        mean.resize(run.len(), Held::default());
        for (mean, held) in mean.iter_mut().zip(run) {
            mean.by_receiver += held.by_receiver * part;
            mean.by_buffer += held.by_buffer * part;
            mean.by_application += held.by_application * part;
            mean.at_access += held.at_access * part;
        }
    }
    mean
}
