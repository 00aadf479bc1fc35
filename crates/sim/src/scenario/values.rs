//! Values that are text in a scenario and something else in the program.

use fairq_sched::units::{Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A table that may also be written as text: `fq(delta=1000B) + longest_queue_drop`. The text is expanded to the table
/// before the types are read (`expand.rs`).
#[derive(Clone, Debug, PartialEq)]
pub struct TextForm<T>(pub T);

impl<T: Serialize> Serialize for TextForm<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TextForm<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for TextForm<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "string", "description": "name(setting=value) + …" }, table] })
    }
}

/// The rate of a line; a line of unlimited rate takes no time and has no queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRate(pub Option<Rate>);

impl Serialize for LineRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(rate) => rate.serialize(serializer),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for LineRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer, "a rate is text with a unit, like \"56 kbit/s\", or \"unlimited\"")?;
        if text.trim() == "unlimited" {
            return Ok(Self(None));
        }
        text.parse().map(|rate| Self(Some(rate))).map_err(D::Error::custom)
    }
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Uniform in the first second, from the flow's own stream.
    #[default]
    Drawn,
    /// At this time.
    At(Time),
}

impl Serialize for Start {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Drawn => serializer.serialize_str("drawn"),
            Self::At(time) => time.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer, "a start is a time with a unit, like \"0 s\", or \"drawn\"")?;
        if text.trim() == "drawn" {
            return Ok(Self::Drawn);
        }
        text.parse().map(Self::At).map_err(D::Error::custom)
    }
}

impl Start {
    /// Why what starts so cannot stop at `stop`, if it cannot.
    #[must_use]
    pub fn fault_of(self, stop: Option<Time>) -> Option<String> {
        let stop = stop?;
        match self {
            Self::At(start) if stop <= start => {
                Some(format!("it is to stop at {stop} and starts at {start}; a stop comes after the start"))
            }
            Self::Drawn if stop < Time::from_s(1) => {
                Some(format!("it is to stop at {stop} and starts at a time drawn in the first second; write a start"))
            }
            _ => None,
        }
    }
}

/// Text, or an error that says what was expected.
fn text<'de, D: Deserializer<'de>>(deserializer: D, expected: &str) -> Result<String, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Ok(text),
        other => Err(D::Error::custom(format!("`{other}`: {expected}"))),
    }
}

macro_rules! text_schema {
    ($type:ty, $name:literal, $($example:literal),+) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "examples": [$($example),+] })
            }
        }
    };
}

text_schema!(LineRate, "LineRate", "56 kbit/s", "unlimited");
text_schema!(Start, "Start", "0 s", "drawn");
