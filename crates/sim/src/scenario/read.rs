//! From the text of a scenario to its types, with the line of whatever is wrong.
//!
//! The text (TOML, or JSON from Python) becomes an untyped tree and a list of the lines of its paths; overrides and
//! text forms are applied to the tree; the types are read from it last. Reading touches no file.

use super::Scenario;
use super::axes::{self, Point};
use super::expand::expand;
use super::explain::typed;
use super::problem::{Fault, Problem};
use super::text::scalar;
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
        let set = |(path, option): &(String, String)| Some((within(&fault.path, path)?.to_string(), option.clone()));
        if let Some((rest, option)) = self.sets.iter().rev().find_map(set) {
            let message = match rest.trim_start_matches('.') {
                "" => fault.message,
                field => format!("{field}: {}", fault.message),
            };
            return self.told(None, Fault::new(option, message));
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
        let set = point.overrides.iter().rev().find_map(|set| {
            let path = axes::set(&mut tree, &set.path, set.value.clone()).ok()?;
            Some((set, within(&fault.path, &path)?.to_string()))
        });
        match set {
            Some((set, rest)) => self.problem(Fault::new(&set.place, format!("{}{rest}: {}", set.path, fault.message))),
            None => self.problem(fault),
        }
    }

    fn told(&self, line: Option<usize>, fault: Fault) -> Problem {
        Problem { file: self.file.clone(), line, fault }
    }
}

/// What is left of `path` behind `outer`, if it is that or something inside it.
fn within<'a>(path: &'a str, outer: &str) -> Option<&'a str> {
    path.strip_prefix(outer).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
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
