//! Scenarios as the page gives them: read, described, and run whole; cards of their queues.

use crate::refused::Refused;
use crate::request::Given;
use fairq_experiment::experiment::{Experiment, Options, Stopped};
use fairq_experiment::reference;
use fairq_experiment::scenario::axes::Point;
use fairq_experiment::scenario::read::Document;
use fairq_sim::live::OwnFiles;
use fairq_sim::plan::{FlowPlan, LinePlan, Plan};
use fairq_text::Fault;
use serde_json::{Value, json};
use std::sync::Arc;

/// The most memory that a scenario may need here, in bytes.
const MEMORY: u64 = 512_000_000;
/// The most flows that a run may have here.
const FLOWS: usize = 2_000;

/// The files of a scenario, by their names in it.
pub(crate) fn files(given: &Given) -> OwnFiles {
    let files = given.files.clone();
    Arc::new(move |name: &str| {
        let text = files.get(name).map(|text| text.clone().into_bytes());
        text.ok_or_else(|| {
            format!("{name}: the page does not have this file; add it, or run the scenario by fairq run")
        })
    })
}

/// Reads and checks a scenario, if it is small enough.
pub(crate) fn read(given: &Given) -> Result<Experiment, Refused> {
    let mut document = Document::parse(&given.text, &given.name)?;
    document.bound_memory(Some(MEMORY));
    for (path, value) in &given.sets {
        document.set(path, value)?;
    }
    let experiment = Experiment::of(document, &*files(given)).map_err(|problem| {
        let mut refused = Refused::from(problem);
        if refused.message.contains("of memory") {
            refused.text = format!("{}; outside the page: fairq run {}", refused.text, given.name);
        }
        refused
    })?;
    let flows = experiment.plans().iter().map(|(_, plan)| plan.flows.len()).max().unwrap_or(0);
    if flows > FLOWS {
        let message = format!(
            "{flows} flows are too many to be shown, {FLOWS} at most; outside the page: fairq run {}",
            given.name
        );
        return Err(experiment.document().problem(Fault::new("flows", message)).into());
    }
    Ok(experiment)
}

/// The links of a plan, without access links.
pub(crate) fn links(plan: &Plan) -> Vec<Value> {
    let lines = plan.lines.iter().filter(|line| !line.is_access && !line.is_reverse);
    let crossed = |name: &str| {
        let is = |line: &u32| *plan.lines[*line as usize].name == *name;
        plan.flows.iter().filter(|flow| flow.path.forward().iter().any(is)).count()
    };
    let link = |line: &LinePlan| {
        json!({
            "name": &*line.name,
            "rate_bit_per_s": line.rate.map(fairq_sched::units::Rate::bit_per_s),
            "delay_s": line.delay.as_s(),
            "queue": fairq_text::written(&line.queue),
            "flows": crossed(&line.name),
        })
    };
    lines.map(link).collect()
}

/// The fields that a point sets, so that a run of it can begin.
fn sets(point: &Point) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let of_point = point.overrides.iter().map(|set| (set.path.clone(), text(&set.value)));
    of_point.chain([("axes".to_owned(), "[]".to_owned())]).collect()
}

pub(crate) fn described(experiment: &Experiment) -> Value {
    let plan = &experiment.plans()[0].1;
    let scenario = experiment.scenario();
    let axes = scenario.axes.iter().map(|axis| json!({ "name": axis.name, "values": axis.values }));
    let points = experiment.plans().iter().map(|(point, _)| {
        let labels: serde_json::Map<String, Value> = point.labels.iter().cloned().collect();
        json!({ "labels": labels, "sets": sets(point) })
    });
    let flows = plan.flows.iter().map(flow);
    json!({
        "title": scenario.title,
        "end_s": plan.warm_up.saturating_add(plan.duration).as_s(),
        "axes": axes.collect::<Vec<_>>(),
        "points": points.collect::<Vec<_>>(),
        "links": links(plan),
        "flows": flows.collect::<Vec<_>>(),
        "memory_bytes": experiment.memory_bytes(1),
    })
}

pub(crate) fn flow(flow: &FlowPlan) -> Value {
    json!({ "name": &*flow.name, "weight": f64::from(flow.entry.weight.thousandths()) / 1000.0 })
}

/// What `fairq run --json` prints, in one line and without what the machine contributes.
pub(crate) fn whole(given: &Given) -> Result<String, Refused> {
    let files = files(given);
    let options = Options { workers: 1, files: &*files, progress: &mut |_| true };
    let mut outcome = read(given)?.outcome(options).map_err(|stopped| match stopped {
        Stopped::Problem(problem) => Refused::from(problem),
        Stopped::Interrupted(_) => Refused::from("the run was stopped".to_owned()),
    })?;
    outcome.run_info.clear();
    let text = serde_json::to_string(&outcome).map_err(|error| error.to_string())?;
    Ok(format!("{{\"document\":{text}}}"))
}

/// The names of what may stand first in a text form.
pub(crate) fn queues() -> Result<Vec<&'static str>, Refused> {
    let listed = reference::listing("disciplines")?;
    Ok(listed.iter().filter(|entry| ["scheduler", "design"].contains(&entry.part)).map(|entry| entry.name).collect())
}

/// The card that explains the queue of a text form, whose steps its decisions count.
pub(crate) fn card(of: &str) -> Result<Value, Refused> {
    let card = fairq_text::queue(of)?.card().ok_or_else(|| format!("{of}: it has no card"))?;
    let settings = reference::fields_of(card.name)?.into_iter().flat_map(|fields| fields.settings);
    let settings =
        settings.map(|it| json!({ "name": it.name, "type": it.r#type, "default": it.default, "doc": it.doc }));
    Ok(json!({
        "name": card.name,
        "summary": card.summary(),
        "text": card.text(),
        "steps": card.steps(),
        "settings": settings.collect::<Vec<_>>(),
    }))
}
