//! The parameters to vary: axes of values, each a field or a table of overrides; every combination
//! is a point.

use super::bounds;
use fairq_text::{Fault, near_miss};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One parameter to vary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name, a column of the tables.
    #[schemars(extend("examples" = ["policy"]))]
    pub name: String,
    /// The field that takes the values, as a dotted path; without it each value is a table of
    /// overrides.
    #[serde(default)]
    #[schemars(extend("examples" = ["defaults.queue"]))]
    pub path: Option<String>,
    /// The values. With a path, any value the field takes; without,
    /// `{ name = "…", set = { "a.b" = …, … } }`.
    #[schemars(extend("examples" = [["fifo", "fq"]]))]
    pub values: Vec<Value>,
    /// Axes with the same group vary together, value by value, instead of being crossed.
    #[serde(default)]
    #[schemars(extend("examples" = ["a"]))]
    pub group: Option<String>,
}

/// A combination of the axes' values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The name of each axis and of its value at this point.
    pub labels: Vec<(String, Value)>,
    /// The fields that this sets, in order.
    pub overrides: Vec<Override>,
}

/// A field that a point sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// The field's path.
    pub path: String,
    /// The value that it gets.
    pub value: Value,
    /// The place of the value in the scenario.
    pub place: String,
    /// The place of the path in the scenario.
    pub path_place: String,
}

/// The most points of all axes together.
const POINTS: usize = 100_000;

/// All points, the last axis varying fastest; one empty point if there is no axis.
///
/// # Errors
/// An axis without values, with one twice, or with the name of another or of a column, grouped axes
/// of different lengths, too many points.
pub fn points(axes: &[Axis]) -> Result<Vec<Point>, Fault> {
    let mut points = vec![Point::default()];
    let mut done: Vec<&str> = Vec::new();
    for (at, axis) in axes.iter().enumerate() {
        if axis.values.is_empty() {
            return Err(Fault::new(format!("axes[{at}].values"), "an axis needs at least one value"));
        }
        let taken = match &axis.name {
            name if name.is_empty() => Some("an axis's name is empty".to_string()),
            name if crate::columns::is_column(name) => Some(format!("{name} is a column of the results")),
            name if axes[..at].iter().any(|other| other.name == *name) => Some(format!("{name} is another axis")),
            _ => None,
        };
        if let Some(why) = taken {
            return Err(Fault::new(format!("axes[{at}].name"), format!("{why}; choose another name")));
        }
        // In a group a value may occur with several of another axis.
        let is_again = |value: &usize| axis.group.is_none() && axis.values[..*value].contains(&axis.values[*value]);
        if let Some(value) = (1..axis.values.len()).find(is_again) {
            return Err(Fault::new(format!("axes[{at}].values[{value}]"), "this value was given before; leave it out"));
        }
        // Axes of one group are expanded together at the place of the first of them.
        let together: Vec<(usize, &Axis)> = match &axis.group {
            None => vec![(at, axis)],
            Some(group) if done.contains(&group.as_str()) => continue,
            Some(group) => {
                done.push(group);
                axes.iter().enumerate().filter(|(_, other)| other.group.as_ref() == Some(group)).collect()
            }
        };
        if let Some((other, _)) = together.iter().find(|(_, other)| other.values.len() != axis.values.len()) {
            return Err(Fault::new(
                format!("axes[{other}].values"),
                "axes of one group have the same number of values",
            ));
        }
        if points.len() * axis.values.len() > POINTS {
            return Err(Fault::new(format!("axes[{at}].values"), "the axes span more than 100000 points; take fewer"));
        }
        let mut crossed = Vec::new();
        for point in &points {
            for value in 0..axis.values.len() {
                let mut point = point.clone();
                for (at, axis) in &together {
                    add(&mut point, *at, axis, value)?;
                }
                crossed.push(point);
            }
        }
        points = crossed;
    }
    Ok(points)
}

fn add(point: &mut Point, at: usize, axis: &Axis, value: usize) -> Result<(), Fault> {
    let given = &axis.values[value];
    if let Some(path) = &axis.path {
        point.labels.push((axis.name.clone(), given.clone()));
        let (place, path_place) = (format!("axes[{at}].values[{value}]"), format!("axes[{at}].path"));
        point.overrides.push(Override { path: path.clone(), value: given.clone(), place, path_place });
        return Ok(());
    }
    let place = format!("axes[{at}].values[{value}]");
    let wrong =
        || Fault::new(&place, "write { name = \"…\", set = { \"defaults.queue\" = \"fq\" } }, or give the axis a path");
    let table = given.as_object().ok_or_else(wrong)?;
    if let Some(key) = table.keys().find(|key| !matches!(key.as_str(), "name" | "set")) {
        return Err(Fault::new(format!("{place}.{key}"), format!("no such field{}", near_miss(key, ["name", "set"]))));
    }
    let name = table.get("name").and_then(Value::as_str).ok_or_else(wrong)?;
    let set = table.get("set").and_then(Value::as_object).ok_or_else(wrong)?;
    point.labels.push((axis.name.clone(), name.into()));
    let set = set.iter();
    let said = |(path, value): (&String, &Value)| Override {
        path: path.clone(),
        value: value.clone(),
        place: place.clone(),
        path_place: place.clone(),
    };
    point.overrides.extend(set.map(said));
    Ok(())
}

/// Sets the field at a dotted path and returns the path with every element by its number:
/// `links[0].rate`. Elements of a list are found by number (`links.0`, `links[0]`) or by name.
/// Where a name is a number too, as is common for flows, the dot means the name and the bracket the
/// number.
///
/// # Errors
/// A path that does not exist.
pub fn set(scenario: &mut Value, path: &str, value: Value) -> Result<String, Fault> {
    let normal = path.replace('[', ".[").replace(']', "");
    let steps: Vec<&str> = normal.split('.').filter(|step| !step.is_empty() && *step != "[").collect();
    let Some((last, before)) = steps.split_last() else {
        return Err(Fault::new(path, "an empty path; write path=value"));
    };
    if steps.len() > bounds::PARTS_MAX {
        let begin = steps[..3].join(".");
        return Err(Fault::new(format!("{begin}…"), format!("a path has more than {} parts", bounds::PARTS_MAX)));
    }
    let mut at = scenario;
    let mut found = String::new();
    for step in before {
        at = match at {
            Value::Object(table) => {
                let step = step.trim_start_matches('[');
                found.push_str(&format!("{}{step}", if found.is_empty() { "" } else { "." }));
                table.entry(step.to_string()).or_insert_with(|| Value::Object(Map::new()))
            }
            Value::Array(items) => {
                let number = element(items, step, path)?;
                found.push_str(&format!("[{number}]"));
                &mut items[number]
            }
            other => return Err(Fault::new(path, format!("{other} has no field {step}"))),
        };
    }
    match at {
        Value::Object(table) => {
            let last = last.trim_start_matches('[');
            found.push_str(&format!("{}{last}", if found.is_empty() { "" } else { "." }));
            table.insert(last.to_string(), value);
        }
        Value::Array(items) => {
            let number = element(items, last, path)?;
            found.push_str(&format!("[{number}]"));
            items[number] = value;
        }
        other => return Err(Fault::new(path, format!("{other} has no field {last}"))),
    }
    Ok(found)
}

fn element(items: &[Value], step: &str, path: &str) -> Result<usize, Fault> {
    let names: Vec<String> =
        items.iter().map(|item| item.get("name").and_then(Value::as_str).unwrap_or_default().to_string()).collect();
    let (step, is_bracketed) = step.strip_prefix('[').map_or((step, false), |step| (step, true));
    let by_name = || names.iter().position(|name| name == step);
    let by_number = || step.parse().ok().filter(|at| *at < items.len());
    let found = if is_bracketed { by_number().or_else(by_name) } else { by_name().or_else(by_number) };
    found.ok_or_else(|| {
        let known = names.iter().map(String::as_str).filter(|name| !name.is_empty());
        Fault::new(path, format!("nothing is called {step}{}", near_miss(step, known)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn axis(name: &str, group: Option<&str>, values: &[i32]) -> Axis {
        let values = values.iter().map(|v| json!(v)).collect();
        Axis { name: name.into(), path: Some(name.into()), values, group: group.map(Into::into) }
    }

    #[test]
    fn axes_are_crossed_and_groups_go_together() {
        let axes = [axis("a", None, &[1, 2]), axis("b", Some("g"), &[3, 4]), axis("c", Some("g"), &[5, 6])];
        let labels: Vec<Vec<Value>> =
            points(&axes).unwrap().into_iter().map(|p| p.labels.into_iter().map(|(_, v)| v).collect()).collect();
        assert_eq!(json!(labels), json!([[1, 3, 5], [1, 4, 6], [2, 3, 5], [2, 4, 6]]));
        assert_eq!(points(&[]).unwrap().len(), 1);
        assert!(points(&[axis("b", Some("g"), &[3]), axis("c", Some("g"), &[5, 6])]).is_err());
        assert!(points(&[axis("a", None, &[])]).is_err());
        assert!(points(&[axis("a", None, &[1, 2, 1])]).is_err());
    }

    #[test]
    fn a_path_finds_fields_by_number_and_by_name() {
        let mut scenario = json!({"links": [{"name": "a", "rate": 1}, {"name": "b", "rate": 2}]});
        assert_eq!(set(&mut scenario, "links.b.rate", json!(7)).unwrap(), "links[1].rate");
        set(&mut scenario, "links[0].rate", json!(8)).unwrap();
        set(&mut scenario, "defaults.queue", json!("fq")).unwrap();
        set(&mut scenario, "measure.seed", json!(3)).unwrap();
        assert_eq!(
            scenario,
            json!({"links": [{"name": "a", "rate": 8}, {"name": "b", "rate": 7}], "defaults": {"queue": "fq"}, "measure": {"seed": 3}})
        );
        let mut flows = json!({"flows": [{"name": "1"}, {"name": "2"}]});
        assert_eq!(set(&mut flows, "flows.1.start", json!(5)).unwrap(), "flows[0].start");
        assert_eq!(set(&mut flows, "flows[1].start", json!(6)).unwrap(), "flows[1].start");
        assert!(set(&mut scenario, "links.c.rate", json!(1)).unwrap_err().message.contains("there are a, b"));
        assert!(set(&mut scenario, "links.a.rate.x", json!(1)).is_err());
        assert!(set(&mut scenario, "", json!(1)).is_err());
    }
}
