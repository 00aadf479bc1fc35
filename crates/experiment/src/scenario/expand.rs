//! Text forms in a scenario become the tables they stand for, before the types are read.

use fairq_text::Fault;
use serde_json::{Map, Value};

/// Expands every text form in `scenario`.
///
/// # Errors
/// The first that cannot be read, with its path.
pub fn expand(scenario: &mut Value) -> Result<(), Fault> {
    ["defaults", "topology"].into_iter().chain(LISTS).try_for_each(|field| expand_at(scenario, field))
}

/// Expands the text forms in the entry of `scenario` that holds the field at `path`: `links[0]` for
/// `links[0].queue`.
///
/// # Errors
/// The first that cannot be read, with its path.
pub fn expand_at(scenario: &mut Value, path: &str) -> Result<(), Fault> {
    let Value::Object(scenario) = scenario else { return Ok(()) };
    let entry = path.split('.').next().unwrap_or_default();
    let (field, number) = match entry.split_once('[') {
        Some((list, number)) => (list, number.trim_end_matches(']').parse::<usize>().ok()),
        None => (entry, None),
    };
    match field {
        "defaults" => {
            let Some(Value::Object(defaults)) = scenario.get_mut(field) else { return Ok(()) };
            expand_queue(defaults, "queue", field)?;
            expand_part(defaults, "transport", field)?;
            expand_hosts(defaults, field)?;
            expand_profile(defaults);
        }
        "topology" => {
            expand_part(scenario, field, "")?;
            if let Some(Value::Object(topology)) = scenario.get_mut(field) {
                expand_queue(topology, "queue", field)?;
            }
        }
        _ => {
            let Some(list) = LISTS.into_iter().find(|list| *list == field) else { return Ok(()) };
            let Some(Value::Array(items)) = scenario.get_mut(list) else { return Ok(()) };
            for (at, item) in items.iter_mut().enumerate().filter(|(at, _)| number.is_none_or(|number| number == *at)) {
                if let Value::Object(item) = item {
                    expand_item(item, list, &format!("{list}[{at}]"))?;
                }
            }
        }
    }
    Ok(())
}

/// The lists whose items have text forms.
const LISTS: [&str; 4] = ["links", "pools", "flows", "sessions"];

/// The text forms in `item`, which stands in `list`.
fn expand_item(item: &mut Map<String, Value>, list: &str, path: &str) -> Result<(), Fault> {
    let (queues, parts): (&[&str], &[&str]) = match list {
        "links" => (&["queue", "reverse_queue"], &[]),
        "pools" => (&[], &["policy"]),
        "flows" => (&[], &["traffic", "transport"]),
        _ => (&[], &["source", "control"]),
    };
    for field in queues {
        expand_queue(item, field, path)?;
    }
    for field in parts {
        expand_part(item, field, path)?;
    }
    if list == "flows" {
        expand_hosts(item, path)?;
        expand_profile(item);
    }
    if let Some(Value::Object(traffic)) = item.get_mut("traffic") {
        expand_laws(traffic, &format!("{path}.traffic"))?;
    }
    for (at, receiver) in item.get_mut("receivers").and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
        if let Value::Object(receiver) = receiver {
            expand_part(receiver, "control", &format!("{path}.receivers[{at}]"))?;
        }
    }
    Ok(())
}

/// The queues of the hosts at both ends.
fn expand_hosts(table: &mut Map<String, Value>, path: &str) -> Result<(), Fault> {
    for end in ["access", "sink_access"] {
        if let Some(Value::Object(access)) = table.get_mut(end) {
            expand_queue(access, "host_queue", &format!("{path}.{end}"))?;
        }
    }
    Ok(())
}

/// A connection that is a word: its profile.
fn expand_profile(table: &mut Map<String, Value>) {
    if let Some(connection) = table.get_mut("connection").filter(|connection| connection.is_string()) {
        *connection = Value::Object([("profile".to_string(), connection.take())].into_iter().collect());
    }
}

/// Settings of traffic that are distributions, whatever the kind.
const LAWS: [&str; 5] = ["on", "off", "size", "think", "object_gap"];

/// `pareto(mean=1s)` as its table, and a quantity alone as that constant.
fn expand_laws(traffic: &mut Map<String, Value>, path: &str) -> Result<(), Fault> {
    for field in LAWS {
        let form = match traffic.get(field) {
            None | Some(Value::Object(_)) => continue,
            Some(Value::String(form)) => form,
            Some(other) => {
                let message = "write a quantity with a unit, like \"1.5 s\" or \"10 kB\", or a law of it, like \
                               \"exponential(mean=1.5s)\", not";
                return Err(Fault::new(format!("{path}.{field}"), format!("{message} `{other}`")));
            }
        };
        if form.starts_with(|c: char| c.is_ascii_alphabetic()) {
            expand_part(traffic, field, path)?;
        } else {
            let constant = [("kind".to_string(), "constant".into()), ("value".to_string(), form.as_str().into())];
            traffic.insert(field.into(), Value::Object(constant.into_iter().collect()));
        }
    }
    Ok(())
}

/// What is said of a list where a text form belongs: serde would take its items for fields.
const NO_LIST: &str = "write text like \"fq + pair\" or \"ftp\", or a table, not a list";

fn expand_part(table: &mut Map<String, Value>, field: &str, path: &str) -> Result<(), Fault> {
    let path = if path.is_empty() { field.to_string() } else { format!("{path}.{field}") };
    match table.get(field) {
        Some(Value::String(form)) => {
            let part = fairq_text::part(form).map_err(|message| Fault::new(path, message))?;
            table.insert(field.into(), Value::Object(part));
        }
        Some(Value::Array(_)) => return Err(Fault::new(path, NO_LIST)),
        _ => {}
    }
    Ok(())
}

fn expand_queue(table: &mut Map<String, Value>, field: &str, path: &str) -> Result<(), Fault> {
    let path = format!("{path}.{field}");
    match table.get_mut(field) {
        Some(Value::String(form)) => {
            let queue = fairq_text::queue_table(form).map_err(|message| Fault::new(path, message))?;
            table.insert(field.into(), Value::Object(queue));
        }
        Some(Value::Object(queue)) => {
            for part in ["scheduler", "buffer", "overflow", "marker", "classifier", "design"] {
                expand_part(queue, part, &path)?;
            }
            fairq_text::check_design(queue).map_err(|message| Fault::new(path, message))?;
        }
        Some(Value::Array(_)) => return Err(Fault::new(path, NO_LIST)),
        _ => {}
    }
    Ok(())
}
