//! The other way round: a queue as its text form, with the settings that are not their defaults.

use crate::find;
use fairq_sched::own::KIND;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BufferSettings, ClassifierSettings, DesignSettings, MarkerSettings, PolicerSettings, SchedulerSettings,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// The text form of `queue` without its limit: parts and settings that it leaves to their defaults
/// are left out. [`crate::queue`] reads it back into the same queue.
#[must_use]
pub fn written(queue: &Queue) -> String {
    let Value::Object(table) = tree(queue) else { return String::new() };
    parts_written(&table)
}

/// The parts in the table of a queue.
fn parts_written(table: &Map<String, Value>) -> String {
    let places = ["policer", "design", "scheduler", "buffer", "overflow", "marker", "classifier"];
    let parts = places.iter().filter_map(|place| table.get(*place)?.as_object());
    parts.map(part_written).collect::<Vec<_>>().join(" + ")
}

/// The queue in a leaf, with its limit.
fn leaf_written(table: &Map<String, Value>) -> String {
    let limit = table.get("limit").and_then(Value::as_str).map(|limit| format!(" + {limit}"));
    format!("\"{}{}\"", parts_written(table), limit.unwrap_or_default())
}

fn part_written(settings: &Map<String, Value>) -> String {
    let kind = settings.get("kind").and_then(Value::as_str).unwrap_or_default();
    if let (KIND, Some(own)) = (kind, own_of(settings)) {
        return part_written(&own);
    }
    let default = default_of(kind);
    let differs =
        |(name, value): &(&String, &Value)| *name != "kind" && !value.is_null() && default.get(*name) != Some(*value);
    let given: Vec<String> = settings.iter().filter(differs).map(|(name, value)| assignment(name, value)).collect();
    if given.is_empty() { kind.to_owned() } else { format!("{kind}({})", given.join(", ")) }
}

/// The table of an own part as that of one of the registry.
fn own_of(shape: &Map<String, Value>) -> Option<Map<String, Value>> {
    let name = [("kind".to_owned(), shape.get("name")?.clone())];
    Some(name.into_iter().chain(shape.get("settings")?.as_object()?.clone()).collect())
}

pub(crate) fn assignment(name: &str, value: &Value) -> String {
    format!("{name}={}", value_written(value))
}

fn value_written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(value_written).collect::<Vec<_>>().join(", ")),
        Value::Object(part) if part.contains_key("kind") => {
            let written = part_written(part);
            // Without brackets a part would be read as a word.
            if written.ends_with(')') { written } else { format!("{written}()") }
        }
        Value::Object(queue) if queue.contains_key("scheduler") || queue.contains_key("design") => leaf_written(queue),
        Value::Object(table) => {
            let given = table.iter().filter(|(_, value)| !value.is_null() && **value != Value::Array(Vec::new()));
            let given: Vec<String> = given.map(|(name, value)| assignment(name, value)).collect();
            format!("({})", given.join(", "))
        }
        other => other.to_string(),
    }
}

/// The settings of the part called `kind` where none is given.
fn default_of(kind: &str) -> Map<String, Value> {
    let Some(card) = find(kind) else { return Map::new() };
    let tree = match card.part {
        "scheduler" => SchedulerSettings::by_name(kind).map(|part| tree(&part)),
        "buffer" => BufferSettings::by_name(kind).map(|part| tree(&part)),
        "marker" => MarkerSettings::by_name(kind).map(|part| tree(&part)),
        "policer" => PolicerSettings::by_name(kind).map(|part| tree(&part)),
        "classifier" => ClassifierSettings::by_name(kind).map(|part| tree(&part)),
        _ => DesignSettings::by_name(kind).map(|part| tree(&part)),
    };
    tree.and_then(|tree| tree.as_object().cloned()).unwrap_or_default()
}

/// The keys of settings are text: no part of a queue has a form that JSON lacks.
fn tree(settings: &impl Serialize) -> Value {
    serde_json::to_value(settings).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue;

    #[test]
    fn what_is_written_is_read_back() {
        let texts = [
            "fifo",
            "drr(quantum=300 B)",
            "drr(quantum=300 B) + codel(target=7 ms) + longest_queue_drop(from=front) + port_pair",
            "fq(delta=1 kB, preemptive=true) + decbit",
            "police(rate=10 Mbit/s, burst=20 kB) + drr(quantum=300 B)",
            "police + fq_codel(target=3 ms)",
            "cake(rate=5 Mbit/s, tins=best_effort, ack_filter=aggressive)",
            "hpfq(classes=[(name=voice, weight=3.0, dscp=[46]), (name=web, weight=1.0)], default=web)",
            "hpfq(scheduler=sfq(), classes=[(name=voice, weight=1.0)])",
            "htb(classes=[(name=a, rate=5 Mbit/s, queue=\"fq_codel(target=3 ms) + 40 packets\"), (name=b, rate=1 Mbit/s)])",
            "drr(classes=[(name=a, queue=\"sfq + red + port_pair\"), (name=b, quantum=300 B)], default=b)",
            "ets(strict=3, quanta=[], queues=[\"priority(queues=[\"cake\", \"fifo + 7 packets\"])\", \"token_bucket(rate=1 \
             Mbit/s, queue=\"codel\")\"])",
        ];
        for text in texts {
            let read = queue(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
            assert_eq!(queue(&written(&read)), Ok(read), "{text}: {}", queue(text).map(|q| written(&q)).unwrap());
        }
        assert_eq!(written(&queue("drr(quantum=300B) + 40packets").unwrap()), "drr(quantum=300 B)");
        assert_eq!(written(&queue("sfq + tail_drop").unwrap()), "sfq + tail_drop");
    }

    /// Every part of the registry, with its defaults.
    #[test]
    fn every_part_by_itself_is_read_back() {
        for card in crate::lists().into_iter().flatten() {
            let Ok(read) = queue(card.name) else { continue };
            assert_eq!(queue(&written(&read)), Ok(read), "{}", card.name);
        }
    }
}
