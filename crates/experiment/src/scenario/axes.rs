//! The parameters to vary: axes of values, each a field or a table of overrides; every combination
//! is a point.

use super::bounds;
use fairq_text::{Fault, near_miss};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Borrow;

/// One parameter to vary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "V: Deserialize<'de>"))]
#[schemars(rename = "Axis")]
pub struct Axis<V = Value> {
    /// Its name, a column of the tables.
    #[schemars(extend("examples" = ["policy"]))]
    pub name: String,
    /// The field of the scenario that takes the values, as a dotted path; without it each value is
    /// a table of overrides.
    #[serde(default)]
    #[schemars(extend("examples" = ["defaults.queue"]))]
    pub path: Option<String>,
    /// The values. With a path, any value the field takes; without,
    /// `{ name = "…", set = { "a.b" = …, … } }`.
    #[schemars(extend("examples" = [["fifo", "fq"]]))]
    pub values: Vec<V>,
    /// Parameters that vary together with this axis, value by value, instead of being crossed with
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [[{ "name": "rtt", "values": ["10 ms", "20 ms"] }]]))]
    pub paired: Vec<Paired<V>>,
    /// Another way to write `paired`: axes with the same group vary together, value by value.
    #[serde(default)]
    #[schemars(extend("examples" = ["a"]))]
    pub group: Option<String>,
}

/// A parameter that varies together with an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Paired")]
pub struct Paired<V = Value> {
    /// Its name, a column of the tables.
    #[schemars(extend("examples" = ["rtt"]))]
    pub name: String,
    /// The field of the scenario that takes the values, as a dotted path.
    #[serde(default)]
    #[schemars(extend("examples" = ["links.bottleneck.delay"]))]
    pub path: Option<String>,
    /// As many values as the axis has.
    #[schemars(extend("examples" = [["10 ms", "20 ms"]]))]
    pub values: Vec<V>,
}

/// A parameter to vary, and where it stands.
#[derive(Clone, Debug)]
pub struct Placed<'a, V> {
    /// Its place: `axes[0]`, `axes[0].paired[1]`.
    pub place: String,
    /// Its name.
    pub name: &'a str,
    /// The field that takes its values.
    pub path: Option<&'a str>,
    /// Its values.
    pub values: &'a [V],
    /// Whether a value may occur with several of another axis.
    may_repeat: bool,
}

/// The axes with those that vary together, in the order of the first of each.
#[must_use]
pub fn together<V>(axes: &[Axis<V>]) -> Vec<Vec<Placed<'_, V>>> {
    let mut all: Vec<(Option<&str>, Vec<Placed<'_, V>>)> = Vec::new();
    for (at, axis) in axes.iter().enumerate() {
        let (place, path) = (format!("axes[{at}]"), axis.path.as_deref());
        let may_repeat = axis.group.is_some() || !axis.paired.is_empty();
        let paired = axis.paired.iter().enumerate().map(|(number, paired)| Placed {
            place: format!("{place}.paired[{number}]"),
            name: &paired.name,
            path: paired.path.as_deref(),
            values: &paired.values,
            may_repeat: true,
        });
        let paired: Vec<Placed<'_, V>> = paired.collect();
        let first = Placed { place, name: &axis.name, path, values: &axis.values, may_repeat };
        let group = axis.group.as_deref();
        let at = all.iter().position(|(known, _)| group.is_some() && *known == group).unwrap_or(all.len());
        if at == all.len() {
            all.push((group, Vec::new()));
        }
        all[at].1.extend(std::iter::once(first).chain(paired));
    }
    all.into_iter().map(|(_, together)| together).collect()
}

/// The axes with those that vary together beside each other, in one group: as a reader of results
/// finds all names in one list.
#[must_use]
pub fn flat(axes: Vec<Axis>) -> Vec<Axis> {
    let beside = |mut axis: Axis| {
        let paired = std::mem::take(&mut axis.paired);
        if !paired.is_empty() && axis.group.is_none() {
            axis.group = Some(format!("with {}", axis.name));
        }
        let group = axis.group.clone();
        let paired = paired.into_iter().map(move |paired| {
            let Paired { name, path, values } = paired;
            Axis { name, path, values, paired: Vec::new(), group: group.clone() }
        });
        std::iter::once(axis).chain(paired)
    };
    axes.into_iter().flat_map(beside).collect()
}

/// Refuses an axis without values, with one twice, and one that has not as many as those that it
/// varies with.
///
/// # Errors
/// The first such axis.
pub fn check_values<V: Borrow<Value>>(groups: &[Vec<Placed<'_, V>>]) -> Result<(), Fault> {
    for group in groups {
        for axis in group {
            let place = format!("{}.values", axis.place);
            if axis.values.is_empty() {
                return Err(Fault::new(place, "the list is empty; write at least one value"));
            }
            let is_again =
                |at: &usize| axis.values[..*at].iter().any(|value| value.borrow() == axis.values[*at].borrow());
            if let Some(at) = (1..axis.values.len()).find(|at| !axis.may_repeat && is_again(at)) {
                return Err(Fault::new(format!("{place}[{at}]"), "this value was given before; leave it out"));
            }
            let (own, of_first) = (axis.values.len(), group[0].values.len());
            if own != of_first {
                let counts = format!("{own} values beside {of_first} of {}", group[0].name);
                return Err(Fault::new(place, format!("{counts}; paired axes have the same number")));
            }
        }
    }
    Ok(())
}

/// A combination of the axes' values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The name of each axis and of its value at this point.
    pub labels: Vec<(String, Value)>,
    /// The fields that this sets, in order.
    pub overrides: Vec<Override>,
}

impl Point {
    /// This point, and what `step` sets.
    fn with(&self, step: &Self) -> Self {
        let labels = self.labels.iter().chain(&step.labels).cloned().collect();
        Self { labels, overrides: self.overrides.iter().chain(&step.overrides).cloned().collect() }
    }
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
/// An axis without values, with one twice, or with the name of another or of a column, axes that
/// vary together and have other numbers of values, too many points.
pub fn points(axes: &[Axis]) -> Result<Vec<Point>, Fault> {
    let groups = together(axes);
    check_names(groups.iter().flatten())?;
    check_values(&groups)?;
    let mut points = vec![Point::default()];
    for group in &groups {
        let count = group[0].values.len();
        if points.len() * count > POINTS {
            let place = format!("{}.values", group[0].place);
            return Err(Fault::new(place, format!("the axes span more than {POINTS} points; take fewer")));
        }
        let steps = (0..count).map(|at| step(group, at)).collect::<Result<Vec<Point>, Fault>>()?;
        let crossed = points.iter().flat_map(|point| steps.iter().map(|step| point.with(step)));
        points = crossed.collect();
    }
    Ok(points)
}

/// Refuses an axis whose name is empty, that of another or that of a column.
fn check_names<'a>(axes: impl Iterator<Item = &'a Placed<'a, Value>>) -> Result<(), Fault> {
    let mut known: Vec<&str> = Vec::new();
    for axis in axes {
        let taken = match axis.name {
            "" => Some("an axis's name is empty".to_string()),
            name if crate::columns::is_column(name) => Some(format!("{name} is a column of the results")),
            name if known.contains(&name) => Some(format!("{name} is another axis")),
            _ => None,
        };
        if let Some(why) = taken {
            return Err(Fault::new(format!("{}.name", axis.place), format!("{why}; choose another name")));
        }
        known.push(axis.name);
    }
    Ok(())
}

/// What value number `at` of axes that vary together sets.
fn step(group: &[Placed<'_, Value>], at: usize) -> Result<Point, Fault> {
    let mut point = Point::default();
    for axis in group {
        let place = format!("{}.values[{at}]", axis.place);
        let given = &axis.values[at];
        let (label, overrides) = match axis.path {
            Some(path) => {
                let path_place = format!("{}.path", axis.place);
                (given.clone(), vec![Override { path: path.into(), value: given.clone(), place, path_place }])
            }
            None => named(given, &place)?,
        };
        point.labels.push((axis.name.to_owned(), label));
        point.overrides.extend(overrides);
    }
    Ok(point)
}

/// The name of a value that is a table of overrides, and these.
///
/// # Errors
/// A value that is none.
pub fn named(given: &Value, place: &str) -> Result<(Value, Vec<Override>), Fault> {
    let wrong =
        || Fault::new(place, "write { name = \"…\", set = { \"defaults.queue\" = \"fq\" } }, or give the axis a path");
    let table = given.as_object().ok_or_else(wrong)?;
    if let Some(key) = table.keys().find(|key| !matches!(key.as_str(), "name" | "set")) {
        return Err(Fault::new(format!("{place}.{key}"), format!("no such field{}", near_miss(key, ["name", "set"]))));
    }
    let name = table.get("name").filter(|name| name.is_string() || name.is_number()).ok_or_else(wrong)?;
    let set = table.get("set").and_then(Value::as_object).ok_or_else(wrong)?;
    let said = |(path, value): (&String, &Value)| Override {
        path: path.clone(),
        value: value.clone(),
        place: place.to_owned(),
        path_place: place.to_owned(),
    };
    Ok((name.clone(), set.iter().map(said).collect()))
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
        let known: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        let message = match (step.parse::<usize>(), items.len()) {
            (Ok(_), 0) => format!("the list has no number {step}: it is empty"),
            (Ok(_), 1) if known.is_empty() => format!("the list has no number {step}; there is only 0"),
            (Ok(_), items) if known.is_empty() => {
                format!("the list has no number {step}; there are 0 to {}", items - 1)
            }
            _ => format!("nothing is called {step}{}", near_miss(step, known.iter().copied())),
        };
        Fault::new(path, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn axis(name: &str, group: Option<&str>, values: &[i32]) -> Axis {
        let values = values.iter().map(|v| json!(v)).collect();
        Axis { name: name.into(), path: Some(name.into()), values, paired: Vec::new(), group: group.map(Into::into) }
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
    fn paired_axes_are_those_of_a_group() {
        let paired = |name: &str, values: &[i32]| {
            let Axis { name, path, values, .. } = axis(name, None, values);
            Paired { name, path, values }
        };
        let nested = [
            Axis { paired: vec![paired("b", &[3, 3]), paired("c", &[5, 6])], ..axis("a", None, &[1, 2]) },
            axis("d", None, &[7, 8]),
        ];
        let flat = flat(nested.to_vec());
        assert_eq!(flat.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        let labels = |axes: &[Axis]| points(axes).unwrap().into_iter().map(|point| point.labels).collect::<Vec<_>>();
        assert_eq!((labels(&nested).len(), labels(&nested)), (4, labels(&flat)));
        let other = [Axis { paired: vec![paired("b", &[3])], ..axis("a", None, &[1, 2]) }];
        let fault = points(&other).unwrap_err();
        let said = "1 values beside 2 of a; paired axes have the same number";
        assert_eq!((fault.path.as_str(), fault.message.as_str()), ("axes[0].paired[0].values", said));
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
