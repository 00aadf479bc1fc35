//! Settings that the profiles of connections, and the queues of their hosts, add to a scenario.

use super::edition::Edition;
use super::profile::complete;
use fairq_sched::queue::Queue;
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::tcp::settings::Profile;
use serde_json::{Map, Value, json};

/// Congestion controls that are named after their loss recovery.
const NAMED_RECOVERY: [&str; 3] = ["tahoe", "reno", "newreno"];

/// Fills in the settings of connections' profiles, in a scenario whose text forms are tables.
/// Greedy traffic without transport and connection is CUBIC between Linux's hosts.
pub(super) fn fill(scenario: &mut Value) {
    let Value::Object(scenario) = scenario else { return };
    let is_first = scenario.get("edition").and_then(Value::as_u64) == Some(Edition::One.number().into());
    let edition = if is_first { Edition::One } else { Edition::LATEST };
    let defaults = scenario.get("defaults").cloned().unwrap_or_default();
    for flow in scenario.get_mut("flows").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(flow) = flow {
            fill_flow(flow, &defaults, edition);
        }
    }
}

/// The numbers of the greedy flows without transport and connection, in a scenario without
/// filled-in profiles.
pub(super) fn plain(scenario: &Value) -> Vec<usize> {
    let defaults = scenario.get("defaults").cloned().unwrap_or_default();
    let flows = scenario.get("flows").and_then(Value::as_array).into_iter().flatten().enumerate();
    flows.filter(|(_, flow)| flow.as_object().is_some_and(|flow| is_plain(flow, &defaults))).map(|(at, _)| at).collect()
}

/// The table `part` of `flow`, or else of `defaults`.
fn said<'a>(flow: &'a Map<String, Value>, defaults: &'a Value, part: &str) -> Option<&'a Value> {
    flow.get(part).or_else(|| defaults.get(part)).filter(|value| !value.is_null())
}

fn is_plain(flow: &Map<String, Value>, defaults: &Value) -> bool {
    let is_greedy =
        flow.get("traffic").is_some_and(|traffic| kind(traffic) == "ftp" && traffic.get("packets").is_none());
    is_greedy && ["transport", "connection"].iter().all(|part| said(flow, defaults, part).is_none())
}

fn fill_flow(flow: &mut Map<String, Value>, defaults: &Value, edition: Edition) {
    let (transport, connection) =
        (said(flow, defaults, "transport").cloned(), said(flow, defaults, "connection").cloned());
    let traffic = flow.get("traffic").cloned().unwrap_or_default();
    let is_plain = edition != Edition::One && is_plain(flow, defaults);
    let profile = match &connection {
        None => is_plain.then_some(Profile::Linux),
        Some(said) => said.get("profile").and_then(Value::as_str).and_then(Profile::by_name),
    };
    let is_paced = has_pacing_host(flow, defaults);
    if profile.is_none() && !is_paced {
        return;
    }
    let usual = || {
        serde_json::from_value::<TrafficSettings>(traffic).ok().map(|t| json!({ "kind": edition.transport(&t).name() }))
    };
    let connection =
        connection.unwrap_or_else(|| profile.map_or_else(|| json!({}), |p| json!({ "profile": p.name() })));
    // Invalid values are left for the types to refuse.
    let (Value::Object(mut connection), Some(Value::Object(mut transport))) = (connection, transport.or_else(usual))
    else {
        return;
    };
    // A transport with rules of its own takes no profile.
    let read = serde_json::from_value::<TransportSettings>(Value::Object(transport.clone()));
    if read.is_ok_and(|transport| !transport.has_connection()) {
        return;
    }
    if let Some(profile) = profile {
        let law = kind_of(&transport).to_owned();
        if profile == Profile::Ns2 && NAMED_RECOVERY.contains(&law.as_str()) {
            // ns-2's agents have these names.
            connection.entry("recovery").or_insert_with(|| law.as_str().into());
        }
        complete(profile, "connection", &mut connection);
        complete(profile, &law, &mut transport);
        flow.insert("transport".into(), transport.into());
    }
    if is_paced {
        connection.entry("pacing").or_insert(true.into());
    }
    flow.insert("connection".into(), connection.into());
}

/// Whether the queue of the flow's host releases packets at their connection's pace.
fn has_pacing_host(flow: &Map<String, Value>, defaults: &Value) -> bool {
    let queue = said(flow, defaults, "access").and_then(|access| access.get("host_queue")).cloned();
    queue.and_then(|queue| serde_json::from_value::<Queue>(queue).ok()).is_some_and(|queue| queue.paces())
}

fn kind(part: &Value) -> &str {
    part.as_object().map_or("", kind_of)
}

fn kind_of(part: &Map<String, Value>) -> &str {
    part.get("kind").and_then(Value::as_str).unwrap_or_default()
}
