//! What serde refuses, told in our words: the whole path, what stands there, what to write instead,
//! the near miss.

use crate::fault::{Fault, Kind, near_miss};
use fairq_sched::own::KIND;
use fairq_sched::registry::{BUFFER_POLICIES, DESIGNS, SCHEDULERS};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads the types from an expanded tree.
///
/// # Errors
/// The fault with its path, and the near miss of a misspelt name.
pub fn typed<T: DeserializeOwned>(tree: &Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = match error.path().to_string() {
            path if path == "." => String::new(),
            path => path,
        };
        explain(tree, path, &error.inner().to_string())
    })
}

/// Turns serde's sentence into ours: the whole path, what stands there, what to write instead, and
/// the near miss.
fn explain(tree: &Value, path: String, message: &str) -> Fault {
    let quoted = message.split('`').skip(1).step_by(2);
    // The table of an own part is written with the part's own name.
    let quoted: Vec<&str> = quoted.enumerate().filter(|(at, word)| *at == 0 || *word != KIND).map(|(_, w)| w).collect();
    if let Some((word, known)) = quoted.split_first() {
        if message.starts_with("unknown field") {
            let path = inside(tree, &path, |key, _| key == *word);
            let table = path.rsplit_once('.').map_or(Some(tree), |(table, _)| at_path(tree, table));
            let kind = table.and_then(|table| table.get("kind")).and_then(Value::as_str);
            let hint =
                kind.and_then(|kind| said_elsewhere(word, kind)).map_or(String::new(), |hint| format!("; {hint}"));
            if let (Some(kind), true) = (kind, known.is_empty()) {
                return Fault::new(path, format!("{kind} has no settings{hint}")).of_kind(Kind::Field);
            }
            let of = kind.map_or(String::new(), |kind| format!(" of {kind}"));
            let near = if hint.is_empty() { near_miss(word, known.iter().copied()) } else { hint };
            // Where several tables have such a field the path ends before it.
            let which = if path.ends_with(*word) { String::new() } else { format!(" `{word}`") };
            return Fault::new(path, format!("no such field{which}{of}{near}")).of_kind(Kind::Field);
        }
        if message.starts_with("unknown variant") {
            let path = inside(tree, &path, |_, value| value.as_str() == Some(word));
            let near = near_miss(word, known.iter().copied());
            return Fault::new(path, format!("`{word}` is not known here{near}")).of_kind(Kind::Word);
        }
        if message.starts_with("missing field") {
            let example = example(word, path.rsplit('.').next().unwrap_or_default());
            return Fault::new(path, format!("{word} is missing; write {example}"));
        }
    }
    let invalid = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = invalid.and_then(|rest| rest.split_once(", expected ")) {
        let path = inside(tree, &path, |_, value| shows(value, found));
        let message = format!("write {}, not {}", wanted(expected, found, &path), shown(found));
        return Fault::new(path, message);
    }
    let path = match quoted.first() {
        Some(word) => inside(tree, &path, |_, value| {
            value.as_str() == Some(word) || value.as_number().is_some_and(|number| number.to_string().as_str() == *word)
        }),
        None => path,
    };
    Fault::new(path, message)
}

/// The path of what serde means: `path` itself, or in a tagged table, where serde's path ends, the
/// field that fits: the only one, or the first of the table's own. The wrong place is worse than
/// the table.
fn inside(tree: &Value, path: &str, fits: impl Fn(&str, &Value) -> bool) -> String {
    fn children<'a>(value: &'a Value, path: &str) -> Vec<(&'a str, &'a Value, String)> {
        let dot = if path.is_empty() { "" } else { "." };
        match value {
            Value::Object(table) => {
                table.iter().map(|(key, v)| (key.as_str(), v, format!("{path}{dot}{key}"))).collect()
            }
            Value::Array(items) => items.iter().enumerate().map(|(at, v)| ("", v, format!("{path}[{at}]"))).collect(),
            _ => Vec::new(),
        }
    }
    fn below(value: &Value, path: &str, fits: &impl Fn(&str, &Value) -> bool, found: &mut Vec<String>) {
        for (key, child, path) in children(value, path) {
            if fits(key, child) {
                found.push(path.clone());
            }
            below(child, &path, fits, found);
        }
    }
    let last = path.rsplit('.').next().unwrap_or(path);
    let Some(value) = at_path(tree, path) else { return path.to_string() };
    if (!path.is_empty() && fits(last, value)) || !value.is_object() {
        return path.to_string();
    }
    let mut found = Vec::new();
    below(value, path, &fits, &mut found);
    // A list, a table or nothing is what serde found in many places.
    let direct = children(value, path).into_iter().find(|(key, child, _)| fits(key, child));
    match (<[String; 1]>::try_from(found), direct) {
        (Ok([only]), _) => only,
        (Err(_), Some((_, child, path))) if !child.is_array() && !child.is_object() && !child.is_null() => path,
        _ => path.to_string(),
    }
}

/// Whether serde means `value` when it speaks of `found`: "integer `3`", "string \"x\"", "map".
fn shows(value: &Value, found: &str) -> bool {
    match value {
        Value::Null => found == "null",
        Value::Bool(_) | Value::Number(_) => found.split('`').nth(1) == Some(&value.to_string()),
        Value::String(_) => found == format!("string {value}"),
        Value::Array(_) => found == "sequence",
        Value::Object(_) => found == "map",
    }
}

/// What serde found, as the user wrote it.
fn shown(found: &str) -> String {
    match found {
        "map" => "a table".to_string(),
        "sequence" => "a list".to_string(),
        "null" => "nothing".to_string(),
        _ => match (found.split('`').nth(1), found.strip_prefix("string ")) {
            (Some(number), _) => format!("`{number}`"),
            (None, Some(text)) => text.to_string(),
            (None, None) => found.to_string(),
        },
    }
}

/// What sets a thing that a discipline has no field for.
fn said_elsewhere(word: &str, kind: &str) -> Option<String> {
    let is_discipline = [SCHEDULERS, DESIGNS, BUFFER_POLICIES].into_iter().flatten().any(|card| card.is_called(kind));
    match word {
        _ if !is_discipline => None,
        "weight" | "weights" => Some("a flow's weight is `weight = 3` in [[flows]]".to_string()),
        "limit" | "buffer" => Some(format!("a limit stands beside it, as in \"{kind} + 40packets\"")),
        _ => None,
    }
}

/// The range of a whole number that is narrower than its type: that of the field's own check.
fn range(path: &str) -> Option<&'static str> {
    match path.rsplit('.').next().unwrap_or_default() {
        "count" if !path.starts_with("flows") => None,
        "count" | "replications" | "initial_window" | "window" | "window_max" => Some("1 to 1000000"),
        "duplicates" | "acknowledge_every" => Some("1 to 1000"),
        "receive_window" => Some("1 to 1000000000"),
        _ => None,
    }
}

/// A quantity like the number that was found in its place.
fn quantity_like(expected: &str, found: &str) -> Option<String> {
    let number = found.split('`').nth(1).filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))?;
    let (what, _) = expected.split_once(" as text with a unit")?;
    let like = match what {
        "a time" => format!("\"{number} s\" or \"{number} ms\""),
        "a size" => format!("\"{number} B\""),
        "a rate" => format!("\"{number} bit/s\" or \"{number} Mbit/s\""),
        "a limit" => format!("\"{number} packets\" or \"{number} B\""),
        _ => return None,
    };
    Some(format!("{what} as text with a unit, like {like}"))
}

/// What serde expected at `path` where it found `found`, as the user would write it.
fn wanted(expected: &str, found: &str, path: &str) -> String {
    let whole = |most: &str| match range(path) {
        Some(range) => format!("a whole number from {range}"),
        None => format!("a whole number from 0 to {most}"),
    };
    if let Some(like) = quantity_like(expected, found) {
        return like;
    }
    match expected {
        "u8" => whole("255"),
        "u16" => whole("65535"),
        "u32" => whole("4294967295"),
        "u64" => whole("18446744073709551615"),
        "f64" => match percent(found) {
            Some(part) if path.ends_with("probability") && !(0.0..=1.0).contains(&part) => {
                "a probability from 0 to 1, as 0.1".to_string()
            }
            Some(part) => format!("a number, {part}"),
            None => "a number, like 1.5".to_string(),
        },
        "a boolean" => "true or false".to_string(),
        "string or map" => "a word in quotes".to_string(),
        "a string" => "text in quotes".to_string(),
        "a sequence" => "a list, like [\"a\", \"b\"] or one [[table]] after another".to_string(),
        "a map" => "a table".to_string(),
        "struct Queue" => "text like \"fq + 15 packets\", or a table with a scheduler".to_string(),
        "struct Reorder" => "a table like { probability = 0.01, delay = \"5 ms\" }".to_string(),
        "struct Access" => "a table like { rate = \"800 kbit/s\", delay = \"1 ms\" }".to_string(),
        _ if expected.starts_with("internally tagged enum") => {
            "a name like \"fq\" or \"ftp\", or a table with its kind".to_string()
        }
        _ if expected.starts_with("struct") => "a table of fields".to_string(),
        _ => expected.to_string(),
    }
}

/// The number that a text of percent, like `string "1 %"`, says.
fn percent(found: &str) -> Option<f64> {
    let text = found.strip_prefix("string \"")?.strip_suffix("%\"")?;
    text.trim().parse::<f64>().ok().map(|percent| percent / 100.0)
}

/// What to write for a field that is missing in `table`.
fn example(field: &str, table: &str) -> String {
    match (field, table) {
        ("flows", _) => "at least one [[flows]] with name, from, to and traffic".to_string(),
        ("values", _) => "values = [ … ]".to_string(),
        ("study", _) => "[study] with scenario = \"net.toml\"".to_string(),
        ("rate", _) => "rate = \"56 kbit/s\"".to_string(),
        ("traffic", _) | ("kind", "traffic") => format!("{field} = \"ftp\""),
        ("scheduler", _) | ("kind", "scheduler") => format!("{field} = \"fq\""),
        ("probability", _) => "probability = 0.01".to_string(),
        ("delay", "reorder") => "delay = \"5 ms\"".to_string(),
        ("kind", "topology") => "kind = \"dumbbell\"".to_string(),
        ("file", "topology") => "file = \"map.gml\"".to_string(),
        ("mean", _) | ("value", _) => format!("{field} = \"10 kB\" or \"1 s\""),
        ("kind", "transport") => "kind = \"generic\"".to_string(),
        ("kind", "buffer") => "kind = \"tail_drop\"".to_string(),
        ("role", _) => "role = \"edge\"".to_string(),
        ("policy", _) | ("kind", "policy") => format!("{field} = \"fuzzball\""),
        ("size", "traffic") => "size = \"10 kB\"".to_string(),
        ("size", _) => "size = \"40 packets\"".to_string(),
        ("at", _) => "at = \"edge\"".to_string(),
        ("count", _) => "count = 5".to_string(),
        ("kind", "source") => "kind = \"pairs\"".to_string(),
        ("kind", "control") => "kind = \"plm\"".to_string(),
        ("kind", "classifier") => "kind = \"pair\"".to_string(),
        ("kind", "policer") => "kind = \"police\"".to_string(),
        ("kind", "marker") => "kind = \"decbit\"".to_string(),
        _ => format!("{field} = \"…\""),
    }
}

fn at_path<'a>(tree: &'a Value, path: &str) -> Option<&'a Value> {
    let normal = path.replace('[', ".").replace(']', "");
    let mut at = tree;
    for step in normal.split('.').filter(|step| !step.is_empty()) {
        at = match at {
            Value::Object(table) => table.get(step)?,
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}
