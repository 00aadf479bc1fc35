//! The lines on the path of each flow, for data and for acknowledgements, as input to theory about
//! paths.

use crate::experiment::Experiment;
use fairq_sim::plan::{LinePlan, Plan};
use serde_json::{Map, Value, json};

/// A row of the table.
type Row = Map<String, Value>;

/// One row for each flow at each point: the links of its data and of its acknowledgements in order,
/// each with its direction; whether every link of its data promises it the delay of
/// packet-by-packet generalised processor sharing; whether the formulas for TCP's rate describe its
/// transport. Lines of a flow's own host are no links and are left out.
#[must_use]
pub fn routes(experiment: &Experiment) -> Vec<Row> {
    let mut rows = Vec::new();
    for (point, plan) in experiment.plans() {
        let promises = |line: &LinePlan| line.is_access || line.queue.promises_delay_of_pgps() && !line.interrupts();
        let promises: Vec<bool> = plan.lines.iter().map(promises).collect();
        for flow in &plan.flows {
            let mut row: Row = point.labels.iter().cloned().collect();
            row.insert("flow".into(), (*flow.name).into());
            row.insert("data".into(), links(plan, flow.path.forward()));
            row.insert("answers".into(), links(plan, flow.path.backward()));
            let has_delay_of_pgps = flow.path.forward().iter().all(|line| promises[*line as usize]);
            row.insert("has_delay_of_pgps".into(), has_delay_of_pgps.into());
            row.insert("keeps_to_tcp_formulas".into(), flow.entry.transport.keeps_to_tcp_formulas().into());
            rows.push(row);
        }
    }
    rows
}

fn links(plan: &Plan, path: &[u32]) -> Value {
    let lines = path.iter().map(|line| &plan.lines[*line as usize]).filter(|line| !line.is_access);
    lines.map(|line| json!([&*line.name, line.direction()])).collect()
}
