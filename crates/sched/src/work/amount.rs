//! Settings of policies in their text form: an amount of service, and a part of a whole.

use crate::units::{Time, Weight};

/// An amount of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// In the unit of costs.
    Number(u64),
    /// How long a seat takes for it.
    Time(Time),
}

impl Amount {
    /// The amount in whole steps of cost.
    #[must_use]
    pub fn steps(self, unit: Unit) -> u64 {
        match self {
            Self::Number(number) => (number as f64 * unit.number) as u64,
            Self::Time(time) => (time.as_s() * unit.second) as u64,
        }
    }
}

/// What the settings of a policy are counted in. A dispatcher counts costs in whole steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// The steps of a plain number: 1, unless costs are told in fractions of their unit.
    pub number: f64,
    /// The steps of a second.
    pub second: f64,
}

impl Default for Unit {
    /// A step is the unit of costs, and a nanosecond.
    fn default() -> Self {
        Self { number: 1.0, second: 1e9 }
    }
}

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
    use alloc::borrow::Cow;
    use alloc::format;
    use core::fmt;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    impl Serialize for Amount {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::Number(number) => serializer.serialize_u64(*number),
                Self::Time(time) => time.serialize(serializer),
            }
        }
    }

    struct AmountText;

    impl de::Visitor<'_> for AmountText {
        type Value = Amount;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an amount of service: a whole number, like 1000, or a time, like \"10 ms\"")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Amount, E> {
            Ok(Amount::Number(number))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
            text.parse().map(Amount::Time).map_err(E::custom)
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
