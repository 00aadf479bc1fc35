//! From the text of a scenario to its types, with the line of whatever is wrong.
//!
//! The text (TOML, or JSON from Python) becomes an untyped tree and a list of the lines of its paths; overrides and
//! text forms are applied to the tree; the types are read from it last. Reading touches no file.

use super::Scenario;
use super::axes::{self, Point};
use super::expand::expand;
use super::problem::{Fault, Problem, near_miss};
use super::text::scalar;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A scenario as it was written, with the overrides of the command line.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    tree: Value,
    /// The paths of the text and the line each stands on.
    lines: Vec<(String, usize)>,
    /// The paths that the command line has set, and its options.
    sets: Vec<(String, String)>,
}

impl Document {
    /// Reads `text`; `file` is its name for messages.
    ///
    /// # Errors
    /// What is not TOML (or JSON, if it begins with a brace).
    pub fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        let mut lines = Vec::new();
        let problem = |line, message: String| Problem { file: file.into(), line, fault: Fault::new("", message) };
        let tree = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|e| problem(Some(e.line()), format!("not JSON: {e}")))?
        } else {
            let table = DeTable::parse(text).map_err(|e| {
                let line = e.span().map(|span| line_of(text, span.start));
                problem(line, format!("not TOML: {}", e.message()))
            })?;
            convert_table(text, table.into_inner(), "", &mut lines)
        };
        Ok(Self { file: file.into(), tree, lines, sets: Vec::new() })
    }

    /// Applies `--set path=value`.
    ///
    /// # Errors
    /// A path that leads nowhere.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Problem> {
        expand(&mut self.tree).map_err(|fault| self.problem(fault))?;
        let option = format!("--set {path}");
        match axes::set(&mut self.tree, path, given(value)) {
            Ok(set) => {
                self.sets.push((set, option));
                Ok(())
            }
            Err(fault) => Err(self.told(None, Fault::new(option, fault.message))),
        }
    }

    /// The scenario as written, and the points of its axes.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn scenario(&self) -> Result<(Scenario, Vec<Point>), Problem> {
        let scenario = self.at(&Point::default())?;
        let points = axes::points(&scenario.axes).map_err(|fault| self.problem(fault))?;
        Ok((scenario, points))
    }

    /// The scenario at a point of its axes.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn at(&self, point: &Point) -> Result<Scenario, Problem> {
        let mut tree = self.tree.clone();
        expand(&mut tree).map_err(|fault| self.problem(fault))?;
        for set in &point.overrides {
            axes::set(&mut tree, &set.path, set.value.clone())
                .map_err(|fault| self.problem(Fault::new(&set.place, format!("{}: {}", set.path, fault.message))))?;
            expand(&mut tree).map_err(|fault| self.problem_at(point, fault))?;
        }
        let as_written = tree.clone();
        let scenario: Scenario = typed(tree).map_err(|fault| self.problem_at(point, fault))?;
        serde_json::to_value(&scenario)
            .map_or(Ok(()), |typed| refuse_lists_for_tables(&as_written, &typed, ""))
            .map_err(|fault| self.problem_at(point, fault))?;
        Ok(scenario)
    }

    /// A fault of this document, with the line of its path or of the nearest path around it; what the command line
    /// has set is named by its option.
    #[must_use]
    pub fn problem(&self, fault: Fault) -> Problem {
        if let Some((_, option)) = self.sets.iter().rev().find(|(path, _)| is_within(&fault.path, path)) {
            return self.told(None, Fault::new(option, fault.message));
        }
        let mut path = fault.path.as_str();
        let line = loop {
            if let Some((_, line)) = self.lines.iter().find(|(known, _)| known == path) {
                break Some(*line);
            }
            match path.rfind(['.', '[']) {
                Some(at) => path = &path[..at],
                None => break None,
            }
        };
        self.told(line, fault)
    }

    /// A fault at a point of the axes: of the axis, if it lies in what the axis sets.
    #[must_use]
    pub fn problem_at(&self, point: &Point, fault: Fault) -> Problem {
        let mut tree = self.tree.clone();
        let set = point.overrides.iter().rev().find(|set| {
            axes::set(&mut tree, &set.path, set.value.clone()).is_ok_and(|path| is_within(&fault.path, &path))
        });
        match set {
            Some(set) => self.problem(Fault::new(&set.place, format!("{}: {}", set.path, fault.message))),
            None => self.problem(fault),
        }
    }

    fn told(&self, line: Option<usize>, fault: Fault) -> Problem {
        Problem { file: self.file.clone(), line, fault }
    }
}

/// Whether `path` is `outer` or something inside it.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// What `--set path=value` gives: TOML if it is, else text.
fn given(text: &str) -> Value {
    let line = format!("value = {text}");
    let table = DeTable::parse(&line).ok().filter(|table| table.get_ref().len() == 1);
    let value = table.map(|table| convert_table(&line, table.into_inner(), "", &mut Vec::new()));
    value.and_then(|mut table| table.get_mut("value").map(Value::take)).unwrap_or_else(|| scalar(text))
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn convert_table(text: &str, table: DeTable<'_>, path: &str, lines: &mut Vec<(String, usize)>) -> Value {
    let mut object = Map::new();
    for (key, value) in table {
        let line = line_of(text, key.span().start);
        let name = key.into_inner().into_owned();
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        lines.push((path.clone(), line));
        object.insert(name, convert(text, value, &path, lines));
    }
    Value::Object(object)
}

fn convert(text: &str, value: Spanned<DeValue<'_>>, path: &str, lines: &mut Vec<(String, usize)>) -> Value {
    match value.into_inner() {
        DeValue::String(s) => Value::String(s.into_owned()),
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix())
            .map(Value::from)
            .or_else(|_| u64::from_str_radix(i.as_str(), i.radix()).map(Value::from))
            .unwrap_or_else(|_| Value::String(i.as_str().to_string())),
        // NaN and infinities have no JSON number; as text they are refused with a message that shows them.
        DeValue::Float(f) => match f.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::from(number),
            _ => Value::String(f.as_str().to_string()),
        },
        DeValue::Boolean(b) => Value::Bool(b),
        DeValue::Datetime(d) => Value::String(d.to_string()),
        DeValue::Array(items) => {
            let convert_item = |(at, item): (usize, Spanned<DeValue<'_>>)| {
                let path = format!("{path}[{at}]");
                lines.push((path.clone(), line_of(text, item.span().start)));
                convert(text, item, &path, lines)
            };
            Value::Array(items.into_iter().enumerate().map(convert_item).collect())
        }
        DeValue::Table(table) => convert_table(text, table, path, lines),
    }
}

/// Reads the types from an expanded tree.
///
/// # Errors
/// The fault with its path, and the near miss of a misspelt name.
pub fn typed<T: DeserializeOwned>(tree: Value) -> Result<T, Fault> {
    let around = tree.clone();
    serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = match error.path().to_string() {
            path if path == "." => String::new(),
            path => path,
        };
        explain(&around, path, &error.inner().to_string())
    })
}

/// Turns serde's sentence into ours: the whole path, what stands there, what to write instead, and the near miss.
fn explain(tree: &Value, path: String, message: &str) -> Fault {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let Some((word, known)) = quoted.split_first() {
        if message.starts_with("unknown field") {
            let path = inside(tree, &path, |key, _| key == *word);
            let table = path.rsplit_once('.').map_or(Some(tree), |(table, _)| at_path(tree, table));
            let kind = table.and_then(|table| table.get("kind")).and_then(Value::as_str);
            let of = kind.map_or(String::new(), |kind| format!(" of {kind}"));
            return Fault::new(path, format!("no such field{of}{}", near_miss(word, known.iter().copied())));
        }
        if message.starts_with("unknown variant") {
            let path = inside(tree, &path, |_, value| value.as_str() == Some(word));
            return Fault::new(path, format!("`{word}` is not known here{}", near_miss(word, known.iter().copied())));
        }
        if message.starts_with("missing field") {
            let example = example(word, path.rsplit('.').next().unwrap_or_default());
            return Fault::new(path, format!("{word} is missing; write {example}"));
        }
    }
    let invalid = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = invalid.and_then(|rest| rest.split_once(", expected ")) {
        let path = inside(tree, &path, |_, value| shows(value, found));
        return Fault::new(path, format!("write {}, not {}", wanted(expected), shown(found)));
    }
    let path = match quoted.first() {
        Some(word) => inside(tree, &path, |_, value| value.as_str() == Some(word)),
        None => path,
    };
    Fault::new(path, message)
}

/// The path of what serde means: `path` itself, or in a tagged table, where serde's path ends, the field that fits.
fn inside(tree: &Value, path: &str, fits: impl Fn(&str, &Value) -> bool) -> String {
    fn search(table: &Map<String, Value>, path: &str, fits: &impl Fn(&str, &Value) -> bool) -> Option<String> {
        let join = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        let here = table.iter().find(|(key, value)| fits(key, value)).map(|(key, _)| join(key));
        here.or_else(|| table.iter().find_map(|(key, value)| search(value.as_object()?, &join(key), fits)))
    }
    let last = path.rsplit('.').next().unwrap_or(path);
    match at_path(tree, path) {
        Some(value) if !path.is_empty() && fits(last, value) => path.to_string(),
        Some(Value::Object(table)) => search(table, path, &fits).unwrap_or_else(|| path.to_string()),
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

/// What serde expected, as the user would write it.
fn wanted(expected: &str) -> String {
    let whole = |most: &str| format!("a whole number from 0 to {most}");
    match expected {
        "u8" => whole("255"),
        "u32" => whole("4294967295"),
        "u64" => whole("18446744073709551615"),
        "f64" => "a number, like 1.5".to_string(),
        "a boolean" => "true or false".to_string(),
        "a string" => "text in quotes".to_string(),
        "a sequence" => "a list, like [\"a\", \"b\"] or one [[table]] after another".to_string(),
        "a map" => "a table".to_string(),
        "struct Queue" => "text like \"fq + 15 packets\", or a table with a scheduler".to_string(),
        "struct Access" => "a table like { rate = \"800 kbit/s\", delay = \"1 ms\" }".to_string(),
        _ if expected.starts_with("internally tagged enum") => {
            "a name like \"fq\" or \"ftp\", or a table with its kind".to_string()
        }
        _ if expected.starts_with("struct") => "a table of fields".to_string(),
        _ => expected.to_string(),
    }
}

/// What to write for a field that is missing in `table`.
fn example(field: &str, table: &str) -> String {
    match (field, table) {
        ("flows", _) => "at least one [[flows]] with name, from, to and traffic".to_string(),
        ("values", _) => "values = [ … ]".to_string(),
        ("rate", _) => "rate = \"56 kbit/s\"".to_string(),
        ("traffic", _) | ("kind", "traffic") => format!("{field} = \"ftp\""),
        ("scheduler", _) | ("kind", "scheduler") => format!("{field} = \"fq\""),
        ("kind", "transport") => "kind = \"generic\"".to_string(),
        ("kind", "buffer") => "kind = \"tail_drop\"".to_string(),
        ("kind", "classifier") => "kind = \"pair\"".to_string(),
        ("kind", "marker") => "kind = \"decbit\"".to_string(),
        _ => format!("{field} = \"…\""),
    }
}

/// Refuses a list where a table belongs: serde would take its items for the fields in their order.
fn refuse_lists_for_tables(tree: &Value, typed: &Value, path: &str) -> Result<(), Fault> {
    match (tree, typed) {
        (Value::Array(_), Value::Object(_)) => Err(Fault::new(path, "write a table of fields, not a list")),
        (Value::Array(items), Value::Array(typed)) => items
            .iter()
            .zip(typed)
            .enumerate()
            .try_for_each(|(at, (item, typed))| refuse_lists_for_tables(item, typed, &format!("{path}[{at}]"))),
        (Value::Object(table), Value::Object(typed)) => table.iter().try_for_each(|(key, value)| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            typed.get(key).map_or(Ok(()), |typed| refuse_lists_for_tables(value, typed, &path))
        }),
        _ => Ok(()),
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
