//! From the text of a scenario to its types, with the line of whatever is wrong.
//!
//! The text (TOML, or JSON from Python) becomes an untyped tree and a list of the lines of its
//! paths. Its text forms are expanded once; an override is set in the expanded tree and its own
//! value expanded there. The types are read last. Reading touches no file.

use super::axes::{self, Override, Point};
use super::bounds;
use super::edition::{Decided, fill_disciplines};
use super::expand::{expand, expand_at};
use super::own::{self, OwnParts};
use super::problem::Problem;
use super::{Scenario, alias, profiles};
use crate::topology;
use fairq_text::{Fault, Kind, Words, scalar, typed};
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A text in TOML or JSON as a tree, and the line on which each path stands.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text as a tree of values.
    pub tree: Value,
    /// The paths of a text in TOML, each with its line; JSON has none.
    pub lines: Vec<(String, usize)>,
}

impl Written {
    /// Reads `text`; `file` is its name for messages.
    ///
    /// # Errors
    /// What is not TOML, or not JSON if it begins with a brace.
    pub fn read(text: &str, file: &str) -> Result<Self, Problem> {
        let mut reader = Reader::new(text);
        let problem = |line, message: String| Problem { file: file.into(), line, fault: Fault::new("", message) };
        let tree = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|e| problem(Some(e.line()), format!("not JSON: {e}")))?
        } else {
            let table = bounds::parse(text).map_err(|broken| {
                let unquoted = broken.line.and_then(|line| text.lines().nth(line - 1)).and_then(unquoted);
                problem(broken.line, unquoted.unwrap_or(broken.fault.message))
            })?;
            let tree = reader.table(table.into_inner(), "");
            if let Some(line) = reader.beyond {
                return Err(problem(Some(line), bounds::said_of_path()));
            }
            tree
        };
        Ok(Self { tree, lines: reader.lines })
    }
}

/// The line of a path, or of the nearest path around it.
pub(crate) fn line_of(lines: &[(String, usize)], mut path: &str) -> Option<usize> {
    loop {
        if let Some((_, line)) = lines.iter().find(|(known, _)| known == path) {
            return Some(*line);
        }
        path = &path[..path.rfind(['.', '['])?];
    }
}

/// What to write in place of a line whose value is text without quotes, as `queue = fq_codel`.
fn unquoted(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let is_text = value.starts_with(is_word) && value.chars().any(char::is_alphabetic) && !value.contains(['"', '\'']);
    (is_text && !key.is_empty()).then(|| format!("{key}: text needs quotes; write {key} = \"{value}\""))
}

/// A scenario as it was written, with the overrides of the command line.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    /// The scenario with its text forms as tables, and with what the command line has set.
    tree: Value,
    /// The scenario as its text has it.
    written: Value,
    /// The paths of the text and the line each stands on.
    lines: Vec<(String, usize)>,
    /// The paths that the command line has set, and its options.
    sets: Vec<(String, String)>,
    /// The bytes that its networks and runs may need, if they are bounded.
    memory: Option<u64>,
    /// Reads the topology files that it names.
    topology_reader: Option<topology::Reader>,
    /// Whether it may be without flows.
    may_lack_flows: bool,
    /// The own parts that it may name.
    own: OwnParts,
    /// What text needs to know of them.
    words: Words,
}

impl Document {
    /// Reads `text`; `file` is its name for messages.
    ///
    /// # Errors
    /// What is not TOML (or JSON, if it begins with a brace), and a text form that cannot be read.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        Self::parse_own(text, file, &OwnParts::default())
    }

    /// As [`Self::parse`], of a scenario that may name `own` parts.
    ///
    /// # Errors
    /// As [`Self::parse`], and an own part with the name of another part.
    pub fn parse_own(text: &str, file: &str, own: &OwnParts) -> Result<Self, Problem> {
        let said = |message| Problem { file: file.into(), line: None, fault: Fault::new("", message) };
        let words = own.words().map_err(said)?;
        let Written { tree: written, lines } = Written::read(text, file)?;
        let mut document = Self {
            file: file.into(),
            tree: written.clone(),
            written,
            lines,
            sets: Vec::new(),
            memory: None,
            topology_reader: None,
            may_lack_flows: false,
            own: own.clone(),
            words,
        };
        expand(&mut document.tree, &document.words).map_err(|fault| document.problem(fault))?;
        Ok(document)
    }

    /// Applies `--set path=value`.
    ///
    /// # Errors
    /// A path that leads nowhere, or a text form that cannot be read.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Problem> {
        let option = format!("--set {path}");
        let set = axes::set(&mut self.tree, path, given(value))
            .map_err(|fault| self.told(None, Fault::new(&option, fault.message)))?;
        self.sets.push((set.clone(), option));
        expand_at(&mut self.tree, &set, &self.words).map_err(|fault| self.problem(fault))
    }

    /// Sets the field at `path`, and returns the path with its numbers.
    ///
    /// # Errors
    /// A path that leads nowhere, or a text form that cannot be read.
    pub fn set_at(&mut self, path: &str, value: &str) -> Result<String, Fault> {
        let set = axes::set(&mut self.tree, path, given(value))?;
        expand_at(&mut self.tree, &set, &self.words)?;
        Ok(set)
    }

    /// What stands at a path whose elements are numbers or names.
    #[must_use]
    pub fn value_at(&self, path: &str) -> Option<&Value> {
        at_path(&self.tree, path)
    }

    /// Adds a change behind those that it has; returns its path.
    ///
    /// # Errors
    /// A text form that cannot be read.
    pub fn add_change(&mut self, change: Map<String, Value>) -> Result<String, Fault> {
        let mut number = 0;
        if let Some(table) = self.tree.as_object_mut() {
            let changes = table.entry("changes").or_insert_with(|| Value::Array(Vec::new()));
            if let Some(changes) = changes.as_array_mut() {
                number = changes.len();
                changes.push(Value::Object(change));
            }
        }
        let path = format!("changes[{number}]");
        expand_at(&mut self.tree, &path, &self.words)?;
        Ok(path)
    }

    /// Has the topology files that it names read by this function.
    pub const fn read_topologies_by(&mut self, reader: topology::Reader) {
        self.topology_reader = Some(reader);
    }

    /// The function that reads topology files, if one was given.
    #[must_use]
    pub const fn topology_reader(&self) -> Option<topology::Reader> {
        self.topology_reader
    }

    /// Allows it to be without flows: packets come from outside. Buffers of bandwidth-delay
    /// products then take the round trip of their link.
    pub const fn allow_no_flows(&mut self) {
        self.may_lack_flows = true;
    }

    /// Whether it may be without flows.
    #[must_use]
    pub const fn may_lack_flows(&self) -> bool {
        self.may_lack_flows
    }

    /// Bounds the bytes that its networks and runs may need.
    pub const fn bound_memory(&mut self, bytes: Option<u64>) {
        self.memory = bytes;
    }

    /// The bytes that its networks and runs may need, if they are bounded.
    #[must_use]
    pub const fn memory_bound(&self) -> Option<u64> {
        self.memory
    }

    /// The scenario as written, and the points of its axes.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn scenario(&self) -> Result<(Scenario, Vec<Point>), Problem> {
        let mut scenario = self.at(&Point::default())?;
        let points = axes::points(&scenario.axes).map_err(|fault| self.problem(fault))?;
        scenario.axes = axes::flat(scenario.axes);
        Ok((scenario, points))
    }

    /// The scenario at a point of its axes.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn at(&self, point: &Point) -> Result<Scenario, Problem> {
        let mut scenario = self.as_written(point, self.tables_at(point)?)?;
        scenario.resolve();
        Ok(scenario)
    }

    /// What the latest edition decides at any of `points`, as a reader is told; nothing if the
    /// scenario names its edition.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn decided<'a>(&self, points: impl Iterator<Item = &'a Point>) -> Result<Vec<String>, Problem> {
        let mut decided = Decided::default();
        if self.tree.get("edition").is_none_or(Value::is_null) {
            for point in points.take(POINTS_TOLD) {
                let tables = self.tables_at(point)?;
                let plain = profiles::plain(&tables.tree);
                decided.add(&self.as_written(point, tables)?, &plain);
            }
        }
        Ok(decided.told())
    }

    /// Whether the transport of the entry of flows with this number is written with its window, at
    /// a point of the axes.
    #[must_use]
    pub fn names_window(&self, point: &Point, entry: usize) -> bool {
        let Ok(tree) = self.tables_at(point).and_then(|tables| self.filled(point, tables.tree)) else { return false };
        let transport = tree.pointer(&format!("/flows/{entry}/transport")).filter(|transport| !transport.is_null());
        let transport = transport.or_else(|| tree.pointer("/defaults/transport"));
        transport.is_some_and(|table| ["window", "window_max"].iter().any(|field| table.get(field).is_some()))
    }

    /// The scenario of `tables`, those of a point of its axes, without what its edition adds.
    fn as_written(&self, point: &Point, tables: Tables) -> Result<Scenario, Problem> {
        let tree = self.filled(point, tables.tree)?;
        let mut scenario: Scenario = typed(&tree).map_err(|fault| self.problem_at(point, fault))?;
        self.own.find(&mut scenario).map_err(|fault| self.problem_at(point, fault))?;
        // All fields that the axes leave were checked with the scenario as written, which is the
        // point without overrides.
        let has_list = |path: &String| at_path(&tree, path).is_some_and(has_list);
        if point.overrides.is_empty() || tables.set.iter().any(has_list) {
            serde_json::to_value(&scenario)
                .map_or(Ok(()), |typed| refuse_lists_for_tables(&tree, &typed, ""))
                .map_err(|fault| self.problem_at(point, fault))?;
        }
        Ok(scenario)
    }

    /// `tree`, that of a point of the axes, with what edition and profiles have.
    fn filled(&self, point: &Point, mut tree: Value) -> Result<Value, Problem> {
        fill_disciplines(&mut tree);
        profiles::fill(&mut tree);
        let checked = refuse_controls(&tree, "").and_then(|()| own::shape(&mut tree, &self.words));
        checked.map_err(|fault| self.problem_at(point, fault))?;
        Ok(tree)
    }

    /// The scenario at a point of the axes, with its text forms as tables.
    fn tables_at(&self, point: &Point) -> Result<Tables, Problem> {
        let mut tree = self.tree.clone();
        let mut varied: Vec<(String, &str)> = Vec::new();
        for set in &point.overrides {
            let path = axes::set(&mut tree, &set.path, set.value.clone())
                .map_err(|fault| self.problem(Fault::new(&set.path_place, fault.message).of_field(&set.path)))?;
            let axis = set.place.rsplit_once(".values").map_or(set.place.as_str(), |(axis, _)| axis);
            if let Some((_, other)) = varied.iter().find(|(known, other)| *known == path && *other != axis) {
                let message = format!("{other} varies this field already; give one axis all the values");
                return Err(self.problem(Fault::new(axis, message).of_field(&set.path)));
            }
            if let Some((_, option)) = self.sets.iter().find(|(known, _)| *known == path) {
                let message = format!("{axis} varies this field; choose by --set '{axis}.values=[…]' instead");
                return Err(self.told(None, Fault::new(option.clone(), message)));
            }
            expand_at(&mut tree, &path, &self.words).map_err(|fault| self.problem_at(point, fault))?;
            varied.push((path, axis));
        }
        alias::resolve(&mut tree).map_err(|fault| self.problem_at(point, fault))?;
        Ok(Tables { tree, set: varied.into_iter().map(|(path, _)| path).collect() })
    }

    /// A fault of this document, with the line of its path or of the nearest path around it; what
    /// the command line has set is named by its option.
    #[must_use]
    pub fn problem(&self, fault: Fault) -> Problem {
        let fault = where_written(&self.tree, fault);
        let set = |(path, option): &(String, String)| Some((within(&fault.path, path)?.to_string(), option.clone()));
        if let Some((rest, option)) = self.sets.iter().rev().find_map(set) {
            return self.told(None, Fault::new(option, fault.message).of_field(rest.trim_start_matches('.')));
        }
        // A table that only the option has made: its path leads nowhere.
        let made = |path: &str| within(path, &fault.path).is_some() && at_path(&self.written, &fault.path).is_none();
        if let Some((_, option)) = self.sets.iter().find(|(path, _)| made(path)) {
            return self.told(None, Fault::new(option, fault.message).of_field(fault.path));
        }
        let line = line_of(&self.lines, &fault.path);
        self.told(line, fault)
    }

    /// A fault at a point of the axes: of the axis, if it lies in what the axis sets.
    #[must_use]
    pub fn problem_at(&self, point: &Point, fault: Fault) -> Problem {
        let mut tree = self.tree.clone();
        let mut sets: Vec<(&Override, String)> = Vec::new();
        for set in &point.overrides {
            sets.extend(axes::set(&mut tree, &set.path, set.value.clone()).ok().map(|path| (set, path)));
        }
        let fault = where_written(&tree, fault);
        let is_known = at_path(&self.tree, &fault.path).is_some();
        for (set, path) in sets.iter().rev() {
            let place = match within(&fault.path, path) {
                Some("") if !is_known && fault.kind == Kind::Field => &set.path_place,
                Some(_) => &set.place,
                // A table that only the axis has made: its path leads nowhere.
                None if !is_known && within(path, &fault.path).is_some() => {
                    return self.problem(Fault::new(&set.path_place, fault.message).of_field(fault.path));
                }
                None => continue,
            };
            let rest = within(&fault.path, path).unwrap_or_default();
            return self.problem(Fault::new(place, fault.message).of_field(format!("{}{rest}", set.path)));
        }
        self.problem(fault)
    }

    fn told(&self, line: Option<usize>, fault: Fault) -> Problem {
        Problem { file: self.file.clone(), line, fault }
    }
}

/// The scenario at a point of its axes, with its text forms as tables.
struct Tables {
    tree: Value,
    /// The paths that the point sets.
    set: Vec<String>,
}

/// The points whose defaults are looked at: the first of a sweep say what all have.
const POINTS_TOLD: usize = 100;
/// What flows and links take from `defaults`.
const DEFAULTS: [(&str, &[&str]); 2] = [
    ("links", &["queue", "buffer"]),
    ("flows", &["transport", "connection", "start", "stop", "access", "sink_access"]),
];

/// A fault where it is written: `links[0].queue` that only the defaults say is theirs.
fn where_written(tree: &Value, fault: Fault) -> Fault {
    let found = || {
        let (list, rest) = fault.path.split_once('[')?;
        let (number, rest) = rest.split_once("].")?;
        let (_, fields) = DEFAULTS.into_iter().find(|(known, _)| *known == list)?;
        let item = tree.get(list)?.get(number.parse::<usize>().ok()?)?;
        let of_defaults = |field: &&str| item.get(field).is_none() && tree["defaults"].get(field).is_some();
        let forward = rest.strip_prefix("reverse_").filter(|_| item.get("reverse_queue").is_none()).unwrap_or(rest);
        let field = fields.iter().copied().filter(of_defaults).find(|field| within(forward, field).is_some())?;
        let name = item.get("name").and_then(Value::as_str).unwrap_or(number);
        let inside = within(forward, field).unwrap_or_default();
        let of = list.trim_end_matches('s');
        let message = format!("{} (for {of} {name})", fault.message);
        Some(Fault::new(format!("defaults.{field}{inside}"), message).of_field(&fault.field))
    };
    found().unwrap_or(fault)
}

/// The value at a path whose elements are numbers: `links[0].rate`.
fn at_path<'a>(tree: &'a Value, path: &str) -> Option<&'a Value> {
    let steps = path.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty());
    steps.into_iter().try_fold(tree, |at, step| match at {
        Value::Array(items) => match step.parse::<usize>() {
            Ok(number) => items.get(number),
            Err(_) => items.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(step)),
        },
        other => other.get(step),
    })
}

/// What is left of `path` behind `outer`, if it is that or something inside it.
fn within<'a>(path: &'a str, outer: &str) -> Option<&'a str> {
    path.strip_prefix(outer).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// What `--set path=value` gives: TOML if it is, a table or list of JSON, which Python writes, else
/// text.
fn given(text: &str) -> Value {
    let line = format!("value = {text}");
    let table = bounds::parse(&line).ok().filter(|table| table.get_ref().len() == 1);
    let value = table.and_then(|table| {
        let mut reader = Reader::new(&line);
        let tree = reader.table(table.into_inner(), "");
        reader.beyond.is_none().then_some(tree)
    });
    let json = || serde_json::from_str(text).ok().filter(|value: &Value| value.is_object() || value.is_array());
    value.and_then(|mut table| table.get_mut("value").map(Value::take)).or_else(json).unwrap_or_else(|| scalar(text))
}

/// Makes a tree of a text in TOML and notes the lines of its paths.
struct Reader {
    /// The ends of all lines but the last.
    ends: Vec<usize>,
    lines: Vec<(String, usize)>,
    /// Depth of nested lists and tables at the place that is read.
    depth: usize,
    /// The line of the first path that is too long or too deep, whose value is left out.
    beyond: Option<usize>,
}

impl Reader {
    fn new(text: &str) -> Self {
        Self { ends: text.match_indices('\n').map(|(at, _)| at).collect(), lines: Vec::new(), depth: 0, beyond: None }
    }

    /// The line of the byte at `offset`.
    fn line_of(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end < offset) + 1
    }

    fn table(&mut self, table: DeTable<'_>, path: &str) -> Value {
        let mut object = Map::new();
        for (key, value) in table {
            let line = self.line_of(key.span().start);
            let name = key.into_inner().into_owned();
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            object.insert(name, self.value_at(value, path, line));
        }
        Value::Object(object)
    }

    /// The value whose path stands on `line`, if it is within the bounds.
    fn value_at(&mut self, value: Spanned<DeValue<'_>>, path: String, line: usize) -> Value {
        if path.len() > bounds::PATH_MAX || self.depth > bounds::DEPTH_MAX {
            self.beyond = self.beyond.or(Some(line));
            return Value::Null;
        }
        self.lines.push((path.clone(), line));
        self.depth += 1;
        let value = self.value(value, &path);
        self.depth -= 1;
        value
    }

    fn value(&mut self, value: Spanned<DeValue<'_>>, path: &str) -> Value {
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
                let item = |(at, item): (usize, Spanned<DeValue<'_>>)| {
                    let line = self.line_of(item.span().start);
                    self.value_at(item, format!("{path}[{at}]"), line)
                };
                Value::Array(items.into_iter().enumerate().map(item).collect())
            }
            DeValue::Table(table) => self.table(table, path),
        }
    }
}

/// Whether a list stands in `value`.
fn has_list(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(table) => table.values().any(has_list),
        _ => false,
    }
}

/// Whether some text in `value` has a control character, which would break a line of a table or steer a terminal.
fn has_controls(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(char::is_control),
        Value::Array(items) => items.iter().any(has_controls),
        Value::Object(table) => table.values().any(has_controls),
        _ => false,
    }
}

/// Refuses such a text at its path. Only the scenario's own description may have lines.
fn refuse_controls(value: &Value, path: &str) -> Result<(), Fault> {
    match value {
        Value::String(text) if path != "about" => {
            let message = format!("\"{}\" holds a control character; write it without", text.escape_debug());
            Err(Fault::new(path, message))
        }
        Value::Array(items) => {
            let mut bad = items.iter().enumerate().filter(|(_, item)| has_controls(item));
            bad.try_for_each(|(at, item)| refuse_controls(item, &format!("{path}[{at}]")))
        }
        Value::Object(table) => {
            let mut bad = table.iter().filter(|(_, value)| has_controls(value));
            let dot = if path.is_empty() { "" } else { "." };
            bad.try_for_each(|(key, value)| refuse_controls(value, &format!("{path}{dot}{key}")))
        }
        _ => Ok(()),
    }
}

/// Refuses a list where a table belongs: serde would take its items for the fields in their order.
pub(crate) fn refuse_lists_for_tables(tree: &Value, typed: &Value, path: &str) -> Result<(), Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_the_line_it_stands_on() {
        let text = "a = 1\r\n\n[[b]]\nc = [\n  2,\n  { d = 3 }]\n[[b]]\nc = []";
        let document = Document::parse(text, "").unwrap();
        let lines: Vec<(&str, usize)> = document.lines.iter().map(|(path, line)| (path.as_str(), *line)).collect();
        let expected = [("a", 1), ("b", 3), ("b[0]", 3), ("b[0].c", 4), ("b[0].c[0]", 5), ("b[0].c[1]", 6)];
        assert_eq!(lines[..6], expected);
        assert_eq!(lines[6..], [("b[0].c[1].d", 6), ("b[1]", 7), ("b[1].c", 8)]);
    }

    #[test]
    fn a_value_is_toml_or_a_table_or_list_of_json_or_text() {
        let measure = serde_json::json!({ "seed": 3, "duration": "1 s" });
        assert_eq!(given("{ seed = 3, duration = \"1 s\" }"), measure);
        assert_eq!(given(&measure.to_string()), measure);
        assert_eq!(given("[{\"seed\": 3, \"duration\": \"1 s\"}]"), serde_json::json!([measure]));
        assert_eq!([given("1 s"), given("null"), given("{x")], ["1 s", "null", "{x"].map(Value::from));
    }

    #[test]
    fn long_and_deep_paths_are_refused_with_their_line() {
        let deep = format!("[{0}]\n{0} = {{ {0} = {{ {0} = 1 }} }}", ["a"; 20].join("."));
        let long = format!("[{}]\nb = 1", "k".repeat(bounds::PATH_MAX));
        for text in [deep, long] {
            let problem = Document::parse(&text, "").unwrap_err();
            assert_eq!((problem.line, problem.fault.message), (Some(2), bounds::said_of_path()));
        }
        assert_eq!(given(&"[".repeat(800)), Value::from("[".repeat(800)));
        let mut document = Document::parse("a = 1", "").unwrap();
        assert!(document.set(&["a"; 20_000].join("."), "1").unwrap_err().fault.message.contains("more than 32 parts"));
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_line() {
        let fault = |text| Document::parse(text, "").unwrap_err().line;
        let said = |text| Document::parse(text, "").unwrap_err().fault.message;
        assert_eq!(said("queue = fq_codel"), "queue: text needs quotes; write queue = \"fq_codel\"");
        assert_eq!(said("a = 1\nrate = 5 Mbit/s # fast"), "rate: text needs quotes; write rate = \"5 Mbit/s\"");
        assert_eq!(said("delay = 10ms"), "delay: text needs quotes; write delay = \"10ms\"");
        assert!(said("a = [1,").starts_with("not TOML: "));
        assert_eq!([fault("= 1"), fault("a = 1\nb ="), fault("a = 1\n\n\nb = [\n")], [Some(1), Some(2), Some(4)]);
    }
}
