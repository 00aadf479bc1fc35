//! From the text of a scenario to its types, with the line of whatever is wrong.
//!
//! The text (TOML, or JSON from Python) becomes an untyped tree and a list of the lines of its paths; overrides and
//! text forms are applied to the tree; the types are read from it last. Reading touches no file.

use super::Scenario;
use super::axes::{self, Point};
use super::expand::expand;
use super::problem::{Fault, Problem, near_miss};
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
            serde_json::from_str(text).map_err(|e| problem(Some(e.line()), e.to_string()))?
        } else {
            let table = DeTable::parse(text).map_err(|e| {
                let line = e.span().map(|span| line_of(text, span.start));
                problem(line, format!("not TOML: {}", e.message()))
            })?;
            convert_table(text, table.into_inner(), "", &mut lines)
        };
        Ok(Self { file: file.into(), tree, lines })
    }

    /// Applies `--set path=value`.
    ///
    /// # Errors
    /// A path that leads nowhere.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Problem> {
        expand(&mut self.tree).map_err(|fault| self.problem(fault))?;
        axes::set(&mut self.tree, path, axes::given(value)).map_err(|fault| self.problem(fault))
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
        let read = || {
            expand(&mut tree)?;
            for (path, value) in &point.overrides {
                axes::set(&mut tree, path, value.clone())?;
                expand(&mut tree)?;
            }
            typed(tree)
        };
        let read: Result<Scenario, Fault> = { read }();
        read.map_err(|fault| self.problem(fault))
    }

    /// A fault of this document, with the line of its path or of the nearest path around it.
    #[must_use]
    pub fn problem(&self, fault: Fault) -> Problem {
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
        Problem { file: self.file.clone(), line, fault }
    }
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
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).map_or(Value::Null, Value::from),
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

/// Turns serde's sentence into ours: the whole path, and the near miss.
fn explain(tree: &Value, path: String, message: &str) -> Fault {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((word, known)) = quoted.split_first() else {
        return Fault::new(path, message);
    };
    // A field named inside a tagged table is missing from serde's path.
    let inside = |field: &str| match path.as_str() {
        path if path.rsplit('.').next() == Some(field) => path.to_string(),
        "" => field.to_string(),
        path => format!("{path}.{field}"),
    };
    if message.starts_with("unknown field") {
        let kind = at_path(tree, &path).and_then(|table| table.get("kind")).and_then(Value::as_str);
        let of = kind.map_or(String::new(), |kind| format!(" of {kind}"));
        return Fault::new(inside(word), format!("no such field{of}{}", near_miss(word, known.iter().copied())));
    }
    if message.starts_with("unknown variant") {
        return Fault::new(path, format!("`{word}` is not known here{}", near_miss(word, known.iter().copied())));
    }
    if message.starts_with("missing field") {
        return Fault::new(path, format!("{word} is missing"));
    }
    // A bad value inside a tagged table: its field is the one that holds the quoted text.
    let holder = at_path(tree, &path)
        .and_then(Value::as_object)
        .and_then(|table| table.iter().find(|(_, value)| value.as_str() == Some(word)).map(|(key, _)| key));
    match holder {
        Some(field) => Fault::new(inside(field), message),
        None => Fault::new(path, message),
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
