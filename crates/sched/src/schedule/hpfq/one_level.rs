//! The scheduler of one level of a tree, and how it is written: as a scheduler's name, or as its
//! table.

use crate::registry::SchedulerSettings;
use alloc::boxed::Box;

/// The scheduler of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct OneLevel(pub Box<SchedulerSettings>);

impl Default for OneLevel {
    fn default() -> Self {
        Self(Box::new(SchedulerSettings::Wf2qPlus(Default::default())))
    }
}

/// A name or a table, as text or as `kind` with settings.
#[cfg(feature = "schema")]
mod schema {
    use super::{OneLevel, SchedulerSettings};
    use crate::class_tree::near_miss;
    use crate::registry::SCHEDULERS;
    use alloc::borrow::Cow;
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::vec::Vec;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::de::{self, value::MapAccessDeserializer};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for OneLevel {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for OneLevel {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct NameOrTable;
            impl<'de> de::Visitor<'de> for NameOrTable {
                type Value = OneLevel;
                fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    f.write_str("a scheduler's name like \"fq\", or its table")
                }
                fn visit_str<E: de::Error>(self, name: &str) -> Result<OneLevel, E> {
                    let known: Vec<&str> = SCHEDULERS.iter().map(|card| card.name).collect();
                    let none = || E::custom(format!("{name} is no scheduler{}", near_miss(name, &known)));
                    SchedulerSettings::by_name(name).map(|found| OneLevel(Box::new(found))).ok_or_else(none)
                }
                fn visit_map<M: de::MapAccess<'de>>(self, map: M) -> Result<OneLevel, M::Error> {
                    SchedulerSettings::deserialize(MapAccessDeserializer::new(map))
                        .map(|found| OneLevel(Box::new(found)))
                }
            }
            deserializer.deserialize_any(NameOrTable)
        }
    }

    impl JsonSchema for OneLevel {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            Cow::Borrowed("OneLevel")
        }
        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let table = generator.subschema_for::<SchedulerSettings>();
            json_schema!({ "anyOf": [{ "type": "string", "description": "a scheduler's name" }, table] })
        }
    }
}
