//! A study, `study.toml` of `fairq sweep`: said once, as types. The schema and the messages follow
//! from these, the points from its axes.

pub mod arithmetic;
mod combinations;
mod document;

pub use combinations::{Combination, Combinations, RUNS_MAX};
pub use document::Document;

use crate::scenario::axes::Axis;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::marker::PhantomData;

/// A study: a scenario, the parameters that vary, and what is kept of each run. `fairq sweep` runs
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// What is run.
    pub study: Subject,
    /// The parameters to vary; every combination is a point.
    #[serde(default)]
    pub axes: Vec<Axis<AxisValue>>,
    /// Values that follow from the axes: an expression, or a table with one and the field that it
    /// sets.
    #[serde(default)]
    pub derive: Named<Derived>,
    /// What is kept of each run.
    #[serde(default)]
    pub keep: Keep,
    /// The figures of the report; it chooses them by the axes if this is left out.
    #[serde(default)]
    pub draw: Draw,
}

/// What a study runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Subject {
    /// The study's name, which its store keeps; the name of the file without .toml if it is left
    /// out.
    #[schemars(length(min = 1), extend("examples" = ["buffers"]))]
    pub name: Option<String>,
    /// The scenario file; a relative path begins at the study's folder. This or compare.
    #[schemars(extend("examples" = ["dumbbell.toml"]))]
    pub scenario: Option<String>,
    /// A question in place of a scenario: the options of fairq compare by their names, - written as
    /// _. Its lists are axes.
    #[schemars(extend("examples" = [
        { "rate": "50 Mbit/s", "flows": "cubic:2,bbr", "rtt": "40 ms", "queue": ["fifo", "fq_codel"] }
    ]))]
    pub compare: Option<Map<String, Value>>,
    /// Fields of the scenario that have another value at all points, by their paths.
    #[schemars(extend("examples" = [{ "measure.duration": "20 s" }]))]
    pub set: Map<String, Value>,
    /// Seeds of each point; the scenario's own number if it is left out.
    #[schemars(range(min = 1, max = 1_000_000), extend("examples" = [10]))]
    pub replications: Option<u64>,
    /// The first seed; the others are the numbers behind it, the same at all points.
    #[schemars(extend("examples" = [1]))]
    pub seed: Option<u64>,
    /// Comparisons of axes and derived values. A point at which one is false is left out.
    #[schemars(extend("examples" = [["rtt <= 0.1 or queue == 'fifo'"]]))]
    pub conditions: Vec<String>,
}

/// A value that follows from the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Arithmetic of axes and of derived values above it. A quantity counts in seconds, bytes,
    /// bit/s.
    #[schemars(extend("examples" = ["ceil(rate * rtt / 8 / 1500)"]))]
    pub value: String,
    /// The field of the scenario that takes the value; without it the value is only a column.
    #[serde(default)]
    #[schemars(extend("examples" = ["links.bottleneck.buffer"]))]
    pub path: Option<String>,
    /// The unit in which the field takes the value.
    #[serde(default)]
    #[schemars(extend("examples" = ["packets"]))]
    pub unit: Option<String>,
}

/// What is kept of each run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Keep {
    /// The tables; all that have rows if it is left out.
    #[schemars(extend("examples" = [["flows", "queues"]]))]
    pub tables: Option<Vec<KeptTable>>,
    /// The time between two samples of the table series, or auto for 200 samples.
    #[schemars(extend("examples" = ["100 ms"]))]
    pub series: Option<String>,
    /// The flow of which the table packets has each packet.
    #[schemars(extend("examples" = ["file"]))]
    pub packets: Option<String>,
    /// Whether to keep what disciplines show, at the end and at the samples, the table states.
    #[schemars(extend("examples" = [true]))]
    pub states: bool,
}

/// A table that every run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the tables have their descriptions in columns.rs")]
pub enum KeptTable {
    Flows,
    Links,
    Queues,
    Transfers,
    Sessions,
}

impl KeptTable {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Flows, Self::Links, Self::Queues, Self::Transfers, Self::Sessions];

    /// The name of the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Links => "links",
            Self::Queues => "queues",
            Self::Transfers => "transfers",
            Self::Sessions => "sessions",
        }
    }
}

impl Keep {
    /// The tables that are kept, each once.
    #[must_use]
    pub fn tables(&self) -> Vec<KeptTable> {
        let mut tables = Vec::new();
        for table in self.tables.as_deref().unwrap_or(&KeptTable::ALL) {
            if !tables.contains(table) {
                tables.push(*table);
            }
        }
        tables
    }
}

/// The figures of the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Draw {
    /// The columns to show, in their order.
    #[schemars(extend("examples" = [["throughput_bit_per_s", "delay_s_p99"]]))]
    pub columns: Vec<String>,
    /// The axis along the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["rtt"]))]
    pub x: Option<String>,
    /// The axis that has a line or colour for each value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["queue"]))]
    pub by: Option<String>,
    /// The axis that has a figure for each value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["rate"]))]
    pub facet: Option<String>,
}

/// A value of an axis: a scalar, which the field of the axis takes if it has one, or a name and
/// several fields with their values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AxisValue(pub Value);

impl Borrow<Value> for AxisValue {
    fn borrow(&self) -> &Value {
        &self.0
    }
}

impl JsonSchema for AxisValue {
    fn schema_name() -> Cow<'static, str> {
        "AxisValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value; a table { name = …, set = { path = value, … } } sets several fields.",
            "type": ["string", "number", "boolean", "object"],
            "required": ["name", "set"],
            "additionalProperties": false,
            "properties": {
                "name": { "description": "What the tables call the value.", "type": ["string", "number"] },
                "set": { "description": "Fields of the scenario and their values.", "type": "object" },
            },
        })
    }
}

/// Values by name, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Named(entries))
            }
        }

        from.deserialize_map(Entries(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("NamedOf{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// An entry that is text is its table with that as its `value`.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let of = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": { "anyOf": [{ "type": "string" }, of] } })
    }
}

/// What an axis of a study has that one of a scenario has not: values that are columns alone.
const PATH: &str = "The field of the scenario that takes the values, as a dotted path; without it a value is only a \
                    column, or a table of fields.";
const VALUES: &str = "The values. A table { name = …, set = { path = value, … } } sets several fields.";

/// The JSON Schema of studies, for editors.
#[must_use]
pub fn schema() -> Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(Study)).unwrap_or_default();
    for axis in ["Axis", "Paired"] {
        let fields = &mut schema["$defs"][axis]["properties"];
        fields["path"]["description"] = PATH.into();
        fields["values"]["description"] = VALUES.into();
        fields["values"]["minItems"] = 1.into();
    }
    schema
}
