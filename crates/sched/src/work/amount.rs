//! Settings of policies in their text form: an amount of service, and a part of a whole.

use crate::units::Weight;

/// An amount of service: a number in the unit of costs, or a time where that is the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub u64);

/// A part of a whole, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part(u32);

impl Part {
    /// A part of `thousandths`, from 0 to 1000.
    #[must_use]
    pub const fn from_thousandths(thousandths: u32) -> Option<Self> {
        if thousandths > Weight::ONE.thousandths() { None } else { Some(Self(thousandths)) }
    }

    /// In thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u32 {
        self.0
    }

    /// A part from a number from 0 to 1, if it is a whole number of thousandths.
    #[cfg(feature = "schema")]
    fn from_f64(value: f64) -> Option<Self> {
        let thousandths = libm::round(value * 1000.0);
        let is_whole = libm::fabs(thousandths - value * 1000.0) < 1e-6 && (0.0..=1000.0).contains(&thousandths);
        is_whole.then_some(Self(thousandths as u32))
    }
}

#[cfg(feature = "schema")]
mod text {
    use super::{Amount, Part};
    use crate::units::Time;
    use alloc::borrow::Cow;
    use alloc::format;
    use core::fmt;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    /// Picoseconds in a nanosecond.
    const PS_PER_NS: u64 = 1000;

    impl Serialize for Amount {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_u64(self.0)
        }
    }

    struct AmountText;

    impl de::Visitor<'_> for AmountText {
        type Value = Amount;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an amount of service: a whole number, like 1000, or a time, like \"10 ms\"")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Amount, E> {
            Ok(Amount(number))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
            let time: Time = text.parse().map_err(E::custom)?;
            Ok(Amount(time.0.div_ceil(PS_PER_NS)))
        }
    }

    impl<'de> Deserialize<'de> for Amount {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(AmountText)
        }
    }

    impl JsonSchema for Amount {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            Cow::Borrowed("Amount")
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": ["integer", "string"], "title": "amount of service", "examples": [1000, "10 ms"] })
        }
    }

    impl Serialize for Part {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_f64(f64::from(self.0) / 1000.0)
        }
    }

    struct PartText;

    impl de::Visitor<'_> for PartText {
        type Value = Part;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a part from 0 to 1 in whole thousandths, like 0.1 or 10%")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Part, E> {
            self.visit_f64(number as f64)
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<Part, E> {
            Part::from_f64(number).ok_or_else(|| E::invalid_value(de::Unexpected::Float(number), &self))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Part, E> {
            let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
            let part = percent.and_then(|percent| Part::from_f64(percent / 100.0));
            part.ok_or_else(|| {
                E::custom(format!("`{text}`: write a part from 0 to 1 in whole thousandths, like 0.1 or 10%"))
            })
        }
    }

    impl<'de> Deserialize<'de> for Part {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(PartText)
        }
    }

    impl JsonSchema for Part {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            Cow::Borrowed("Part")
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": ["number", "string"], "title": "part", "minimum": 0, "maximum": 1, "examples": [0.1, "10%"] })
        }
    }
}
