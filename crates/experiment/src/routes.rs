//! The lines on the path of each flow, for data and for acknowledgements, as input to theory about
//! paths.

use crate::experiment::Experiment;
use fairq_sim::plan::Plan;
use serde_json::{Map, Value, json};

/// A row of the table.
type Row = Map<String, Value>;

/// One row for each flow at each point: the links of its data and of its acknowledgements in order,
/// each with its direction. Lines of a flow's own host are no links and are left out.
#[must_use]
pub fn routes(experiment: &Experiment) -> Vec<Row> {
    let mut rows = Vec::new();
    for (point, plan) in experiment.plans() {
        for flow in &plan.flows {
            let mut row: Row = point.labels.iter().cloned().collect();
            row.insert("flow".into(), (*flow.name).into());
            row.insert("data".into(), links(plan, flow.path.forward()));
            row.insert("answers".into(), links(plan, flow.path.backward()));
            rows.push(row);
        }
    }
    rows
}

fn links(plan: &Plan, path: &[u32]) -> Value {
    let lines = path.iter().map(|line| &plan.lines[*line as usize]).filter(|line| !line.is_access);
    lines.map(|line| json!([&*line.name, line.direction()])).collect()
}
