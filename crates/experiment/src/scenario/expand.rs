//! Text forms in a scenario become the tables they stand for, before the types are read. The schema
//! says which fields have a text form: [`TextForm`](crate::values::TextForm) and
//! [`Distribution`](distribution::Distribution) mark it there.

use crate::values::TEXT_FORM;
use fairq_sched::own::Place;
use fairq_sched::queue::Queue;
use fairq_sim::traffic::distribution;
use fairq_sim::transport::tcp::settings::Connection;
use fairq_text::{Fault, Words, shape_form, shape_part};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// Expands every text form in `scenario`, in which own parts may stand.
///
/// # Errors
/// The first that cannot be read, with its path.
pub fn expand(scenario: &mut Value, own: &Words) -> Result<(), Fault> {
    walk(scenario, &mut |form, value, path| expand_one(form, value, path, own))
}

/// Calls `each` for every value in `scenario` that may have a text form, with that and its path.
///
/// # Errors
/// The first that `each` gives.
pub(super) fn walk(scenario: &mut Value, each: &mut Each<'_>) -> Result<(), Fault> {
    walk_within(scenario, forms(), "", each)
}

/// What is done with a value that may have a text form.
type Each<'a> = dyn FnMut(Form, &mut Value, &str) -> Result<(), Fault> + 'a;

/// Expands the text forms in the entry of `scenario` that holds the field at `path`: `links[0]` for
/// `links[0].queue`.
///
/// # Errors
/// The first that cannot be read, with its path.
pub fn expand_at(scenario: &mut Value, path: &str, own: &Words) -> Result<(), Fault> {
    let mut each = |form, value: &mut Value, path: &str| expand_one(form, value, path, own);
    let entry = path.split('.').next().unwrap_or_default();
    let (field, number) = match entry.split_once('[') {
        Some((list, number)) => (list, number.trim_end_matches(']').parse::<usize>().ok()),
        None => (entry, None),
    };
    let known = forms().fields.iter().find(|(name, _)| name == field);
    let Some(((_, forms), value)) = known.zip(scenario.get_mut(field)) else { return Ok(()) };
    match (value, number) {
        (Value::Array(items), Some(number)) => {
            items.get_mut(number).map_or(Ok(()), |item| walk_within(item, forms, entry, &mut each))
        }
        (value, _) => walk_within(value, forms, field, &mut each),
    }
}

/// The text forms in a scenario, as its schema has them.
fn forms() -> &'static Forms {
    static FORMS: OnceLock<Forms> = OnceLock::new();
    FORMS.get_or_init(|| {
        let schema = super::schema();
        Forms::within(&schema, &schema, &mut Vec::new())
    })
}

/// The kind of value that a text stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A queue: parts and a limit.
    Queue,
    /// A part with its settings; where it may be an own part, the place of it.
    Part(Option<Place>),
    /// A distribution, or a quantity, which is a constant.
    Distribution,
    /// A connection that is a word: its profile.
    Profile,
}

/// The text forms in a value of the schema.
#[derive(Clone, Debug, Default)]
struct Forms {
    /// The text form of the value itself.
    own: Option<Form>,
    /// The text forms of the fields of a table, or of each table of a list.
    fields: Vec<(String, Self)>,
    /// The text forms of the fields that a table has by its `kind`.
    kinds: Vec<(String, Vec<(String, Self)>)>,
}

impl Forms {
    /// The text forms in what `node` of `schema` describes; `above` are the definitions around it.
    fn within<'a>(schema: &'a Value, node: &'a Value, above: &mut Vec<&'a str>) -> Self {
        let mut forms = Self::default();
        if let Some(name) = node["$ref"].as_str().map(|path| path.trim_start_matches("#/$defs/")) {
            if name == Connection::schema_name() {
                forms.own = Some(Form::Profile);
            } else if name != Queue::schema_name() && !above.contains(&name) {
                above.push(name);
                forms = Self::within(schema, &schema["$defs"][name], above);
                above.pop();
            }
            return forms;
        }
        let either = |list: &str| node[list].as_array().map_or(&[][..], Vec::as_slice);
        for other in either("anyOf") {
            forms.join(Self::within(schema, other, above));
        }
        if either("anyOf").iter().any(|other| other["description"] == TEXT_FORM) {
            let is_of = |name: &str| either("anyOf").iter().any(|other| other["$ref"] == format!("#/$defs/{name}"));
            let place = PLACES.iter().find(|(name, _)| is_of(name)).map(|(_, place)| *place);
            forms.own = Some(if is_of(&Queue::schema_name()) { Form::Queue } else { Form::Part(place) });
        }
        for other in either("oneOf") {
            if other["description"] == distribution::TEXT_FORM {
                forms.own = Some(Form::Distribution);
            }
            if let Some(kind) = other["properties"]["kind"]["const"].as_str() {
                let fields = Self::within(schema, other, above).fields;
                forms.kinds.push((kind.to_string(), fields));
            }
        }
        for (name, field) in node["properties"].as_object().into_iter().flatten() {
            let field = Self::within(schema, field, above);
            forms.fields.extend((!field.is_empty()).then(|| (name.clone(), field)));
        }
        if node["items"].is_object() {
            forms.join(Self::within(schema, &node["items"], above));
        }
        forms
    }

    fn is_empty(&self) -> bool {
        self.own.is_none() && self.fields.is_empty() && self.kinds.iter().all(|(_, fields)| fields.is_empty())
    }

    fn join(&mut self, other: Self) {
        self.own = self.own.or(other.own);
        self.fields.extend(other.fields);
        self.kinds.extend(other.kinds);
    }

    /// Those of the fields of `table`; without a kind that is known, those of all kinds.
    fn of<'a>(&'a self, table: &Map<String, Value>) -> Vec<&'a (String, Self)> {
        let kind = table.get("kind").and_then(Value::as_str);
        let own = self.kinds.iter().find(|(known, _)| Some(known.as_str()) == kind);
        let kinds = own.map_or(self.kinds.as_slice(), std::slice::from_ref);
        self.fields.iter().chain(kinds.iter().flat_map(|(_, fields)| fields)).collect()
    }
}

/// The definitions of parts, of which each may be an own one.
const PLACES: [(&str, Place); 3] =
    [("BufferSettings", Place::Buffer), ("TransportSettings", Place::Transport), ("TrafficSettings", Place::Traffic)];

fn walk_within(value: &mut Value, forms: &Forms, path: &str, each: &mut Each<'_>) -> Result<(), Fault> {
    forms.own.map_or(Ok(()), |form| each(form, value, path))?;
    match value {
        Value::Array(items) => {
            let mut items = items.iter_mut().enumerate();
            items.try_for_each(|(at, item)| walk_within(item, forms, &format!("{path}[{at}]"), each))
        }
        Value::Object(table) => forms.of(table).into_iter().try_for_each(|(name, forms)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            table.get_mut(name).map_or(Ok(()), |field| walk_within(field, forms, &path, each))
        }),
        _ => Ok(()),
    }
}

fn expand_one(form: Form, value: &mut Value, path: &str, own: &Words) -> Result<(), Fault> {
    match form {
        Form::Queue => shape_form(value, own, path),
        Form::Part(_) => shape_part(value, path),
        Form::Distribution => expand_distribution(value, path),
        Form::Profile => {
            expand_profile(value);
            Ok(())
        }
    }
}

/// `linux` as the table that has it as its profile.
fn expand_profile(connection: &mut Value) {
    if connection.is_string() {
        *connection = Value::Object([("profile".to_string(), connection.take())].into_iter().collect());
    }
}

/// `pareto(mean=1s)` as its table, and a quantity alone as that constant.
fn expand_distribution(distribution: &mut Value, path: &str) -> Result<(), Fault> {
    match distribution {
        Value::Object(_) => Ok(()),
        Value::String(form) if form.starts_with(|c: char| c.is_ascii_alphabetic()) => shape_part(distribution, path),
        Value::String(form) => {
            let constant = [("kind".to_string(), "constant".into()), ("value".to_string(), form.as_str().into())];
            *distribution = Value::Object(constant.into_iter().collect());
            Ok(())
        }
        other => {
            let message = "write a quantity with a unit, like \"1.5 s\" or \"10 kB\", or a law of it, like \
                           \"exponential(mean=1.5s)\", not";
            Err(Fault::new(path, format!("{message} `{other}`")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_has_the_text_form_that_its_type_has() {
        let mut scenario = json!({
            "defaults": { "queue": "fq", "connection": "linux", "access": { "host_queue": "fq_codel" } },
            "topology": { "kind": "star", "queue": { "scheduler": "drr(quantum=300B)" } },
            "pools": [{ "policy": "fuzzball" }],
            "flows": [{ "traffic": { "kind": "web", "size": "10 kB" }, "transport": "reno" },
                      { "traffic": { "kind": "telnet", "size": "10 kB" } }],
            "sessions": [{ "source": "pairs", "receivers": [{ "control": "plm" }, {}] }],
        });
        expand(&mut scenario, &Words::default()).unwrap();
        let kind = |name: &str| json!({ "kind": name });
        let expected = json!({
            "defaults": { "queue": { "scheduler": kind("fq") }, "connection": { "profile": "linux" },
                          "access": { "host_queue": { "design": kind("fq_codel") } } },
            "topology": { "kind": "star", "queue": { "scheduler": { "kind": "drr", "quantum": "300B" } } },
            "pools": [{ "policy": kind("fuzzball") }],
            "flows": [{ "traffic": { "kind": "web", "size": { "kind": "constant", "value": "10 kB" } },
                        "transport": kind("reno") },
                      { "traffic": { "kind": "telnet", "size": "10 kB" } }],
            "sessions": [{ "source": kind("pairs"), "receivers": [{ "control": kind("plm") }, {}] }],
        });
        assert_eq!(scenario, expected);
    }

    #[test]
    fn what_is_no_text_form_is_refused_with_its_place() {
        let fault = |mut scenario: Value| expand(&mut scenario, &Words::default()).unwrap_err();
        let number = fault(json!({ "flows": [{}, { "traffic": { "kind": "web", "think": 1 } }] }));
        assert_eq!((number.path.as_str(), number.message.contains("not `1`")), ("flows[1].traffic.think", true));
        let list = fault(json!({ "links": [{ "reverse_queue": ["fq"] }] }));
        assert_eq!((list.path.as_str(), list.message.as_str()), ("links[0].reverse_queue", fairq_text::NO_LIST));
    }
}
