//! The max-min fair shares of a scenario's flows: the rates that an ideal network of fair gateways
//! would give.
//!
//! A share is the mean over the measured time, as the throughput of a run is. Flows share with
//! those present at the time, from their starts to their stops. A random start counts as a start at
//! time zero. With transfers or sessions there are no shares: their number at a time is not known
//! before a run, and what they take is not left to others.

use crate::experiment::Experiment;
use fairq_sched::fluid::max_min::{Flow, rates};
use fairq_sched::units::Time;
use fairq_sim::plan::{FlowPlan, Plan};
use serde_json::{Map, Value, json};

/// A row of the table.
type Row = Map<String, Value>;

/// One row for each flow at each point: its demand (null if it takes all it gets) and its share, in
/// bit/s. No rows where there are transfers or sessions. Data packets count, acknowledgements do
/// not.
#[must_use]
pub fn max_min(experiment: &Experiment) -> Vec<Row> {
    let mut rows = Vec::new();
    for (point, plan) in experiment.plans() {
        let capacities: Vec<f64> =
            plan.lines.iter().map(|line| line.rate.map_or(f64::INFINITY, |rate| rate.bit_per_s() as f64)).collect();
        let flows: Vec<Flow> = plan
            .flows
            .iter()
            .map(|flow| Flow {
                weight: f64::from(flow.entry.weight.thousandths()) / 1000.0,
                demand: flow.entry.traffic.demand().unwrap_or(f64::INFINITY),
                links: flow.path.forward().iter().map(|line| *line as usize).collect(),
            })
            .collect();
        let is_steady = plan.transfers.is_empty() && plan.sessions.is_empty();
        let shares = if is_steady { mean_rates(plan, &capacities, &flows) } else { vec![f64::NAN; flows.len()] };
        for ((flow, ideal), share) in plan.flows.iter().zip(&flows).zip(shares) {
            let mut row: Row = point.labels.iter().cloned().collect();
            row.insert("flow".into(), (*flow.name).into());
            row.insert("weight".into(), ideal.weight.into());
            // JSON has no infinity: unlimited demand is null.
            row.insert(
                "demand_bit_per_s".into(),
                if ideal.demand.is_finite() { json!(ideal.demand) } else { Value::Null },
            );
            row.insert("share_bit_per_s".into(), if share.is_finite() { json!(share) } else { Value::Null });
            rows.push(row);
        }
    }
    rows
}

/// The mean shares over the measured time, in bit/s.
fn mean_rates(plan: &Plan, capacities: &[f64], flows: &[Flow]) -> Vec<f64> {
    let [from, to] = [plan.warm_up, plan.warm_up.saturating_add(plan.duration)];
    let lives: Vec<[Time; 2]> = plan.flows.iter().map(life).collect();
    let within = |time: &Time| from < *time && *time < to;
    let mut times: Vec<Time> = lives.iter().flatten().copied().filter(within).chain([from, to]).collect();
    times.sort_unstable();
    times.dedup();
    let mut means = vec![0.0; flows.len()];
    for span in times.windows(2) {
        let part = (span[1] - span[0]).as_s() / (to - from).as_s();
        let there: Vec<usize> =
            (0..flows.len()).filter(|flow| lives[*flow][0] <= span[0] && span[1] <= lives[*flow][1]).collect();
        let sharing: Vec<Flow> = there.iter().map(|flow| flows[*flow].clone()).collect();
        for (flow, share) in there.into_iter().zip(rates(capacities, &sharing)) {
            means[flow] += share * part;
        }
    }
    means
}

/// When `flow` starts and stops.
fn life(flow: &FlowPlan) -> [Time; 2] {
    [flow.entry.start.unwrap_or(Time::ZERO), flow.entry.stop.unwrap_or(Time::NEVER)]
}
