//! Values that are text in a scenario and another type in the program.

use fairq_link::impairment::Loss;
use fairq_sched::queue::Queue;
use fairq_sched::registry::BufferSettings;
use fairq_sched::units::{Bytes, Limit, Rate, Time, UnitError};
use fairq_sim::multicast::registry::ControlSettings;
use fairq_sim::multicast::source;
use fairq_sim::net::walk::RateRange;
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::registry::TransportSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The description that the schema gives the text in place of a table; by it `expand.rs` finds the
/// fields.
pub(crate) const TEXT_FORM: &str = "name(setting=value) + …";

/// A table that may also be written as text: `fq(delta=1000B) + longest_queue_drop`. The text is
/// expanded to the table before the types are read (`expand.rs`).
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

/// The base unit of a quantity that is written with another, as the names of columns end in it, and
/// the number in it: "20 ms" is 0.02 s. `None` if the text is no time, rate or size.
#[must_use]
pub fn quantity(text: &str) -> Option<(&'static str, f64)> {
    let time = || text.parse::<Time>().ok().map(|time| ("s", time.as_s()));
    let rate = || text.parse::<Rate>().ok().map(|rate| ("bit_per_s", rate.bit_per_s() as f64));
    let size = || text.parse::<Bytes>().ok().map(|size| ("bytes", size.0 as f64));
    time().or_else(rate).or_else(size)
}

/// A value with a text form.
pub trait Spelled {
    /// Such a text, for the schema and the reference page.
    const EXAMPLE: &str;
}

macro_rules! spelled {
    ($($type:ty = $example:literal),+ $(,)?) => {
        $(impl Spelled for $type {
            const EXAMPLE: &str = $example;
        })+
    };
}

spelled! {
    Queue = "fq_codel(target=3ms) + 1000packets",
    BufferSettings = "dynamic_threshold(alpha=2)",
    TrafficSettings = "poisson(rate=100kbit/s)",
    TransportSettings = "cubic(beta=0.8)",
    source::Settings = "bursts(burst=3)",
    ControlSettings = "plm(check=5s)",
}

impl<T: JsonSchema + Spelled> JsonSchema for TextForm<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<T>();
        json_schema!({
            "anyOf": [{ "type": "string", "description": TEXT_FORM }, table],
            "examples": [T::EXAMPLE]
        })
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

/// The rate that a line gets while a run goes on; `None` is a rate of 0, which sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedRate(pub Option<Rate>);

impl Serialize for ChangedRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(rate) => rate.serialize(serializer),
            None => serializer.serialize_str(NO_RATE),
        }
    }
}

/// How a rate of 0 is written.
const NO_RATE: &str = "0 bit/s";

impl<'de> Deserialize<'de> for ChangedRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer, "a rate is text with a unit, like \"56 kbit/s\" or \"0 bit/s\"")?;
        if text.split_whitespace().collect::<String>() == "0bit/s" {
            return Ok(Self(None));
        }
        text.parse().map(|rate| Self(Some(rate))).map_err(D::Error::custom)
    }
}

/// The rate of a link: one rate, or the ends between which it walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRate {
    /// It does not change.
    Constant(LineRate),
    /// It walks.
    Walk(RateRange),
}

impl LinkRate {
    /// The one rate that stands for it: of a walk the geometric middle.
    #[must_use]
    pub fn nominal(self) -> LineRate {
        match self {
            Self::Constant(rate) => rate,
            Self::Walk(range) => LineRate(Some(range.middle())),
        }
    }

    /// The ends of a walk in `text`, which has `..` at `at`.
    fn walk(text: &str, at: usize) -> Result<Self, String> {
        let end = |of: &str| of.trim().parse::<Rate>().map_err(|error| error.to_string());
        let (least, most) = (end(&text[..at])?, end(&text[at + BETWEEN.len()..])?);
        RateRange::new(least, most).map(Self::Walk).ok_or_else(|| {
            let write = if least == most { least.to_string() } else { format!("{most}{BETWEEN}{least}") };
            format!("`{}`: a walk goes from a lower rate to a higher one; write {write}", text.trim())
        })
    }
}

/// What stands between the ends of a walk.
const BETWEEN: &str = "..";

impl From<LineRate> for LinkRate {
    fn from(rate: LineRate) -> Self {
        Self::Constant(rate)
    }
}

impl Serialize for LinkRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(rate) => rate.serialize(serializer),
            Self::Walk(range) => serializer.collect_str(&format_args!("{}{BETWEEN}{}", range.least(), range.most())),
        }
    }
}

impl<'de> Deserialize<'de> for LinkRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Value::String(text) = &value
            && let Some(at) = text.find(BETWEEN)
        {
            return Self::walk(text, at).map_err(D::Error::custom);
        }
        LineRate::deserialize(value).map(Self::Constant).map_err(D::Error::custom)
    }
}

/// The losses of a link: a number, or text as `2%` and `2%@burst=5`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossForm(pub Loss);

impl LossForm {
    fn read(text: &str) -> Option<Loss> {
        let (part, burst) = match text.split_once('@') {
            None => (text, None),
            Some((part, rest)) => {
                let burst = rest.trim().strip_prefix("burst")?.trim_start().strip_prefix('=')?;
                (part, Some(burst.trim().parse().ok()?))
            }
        };
        let probability = match part.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
            None => part.trim().parse().ok()?,
        };
        Some(Loss { probability, burst })
    }
}

impl Serialize for LossForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Loss { probability, burst: None } => serializer.serialize_f64(probability),
            Loss { probability, burst: Some(burst) } => {
                serializer.collect_str(&format_args!("{probability}@burst={burst}"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for LossForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const FORM: &str = "a loss is a part of the packets, as 0.01, \"1%\" or \"2%@burst=5\"";
        let found = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.as_f64().map(|probability| Loss { probability, burst: None }),
            Value::String(text) => {
                return Self::read(&text).map(Self).ok_or_else(|| D::Error::custom(format!("`{text}`: {FORM}")));
            }
            other => return Err(D::Error::custom(format!("`{other}`: {FORM}"))),
        };
        found.map(Self).ok_or_else(|| D::Error::custom(FORM))
    }
}

/// The size of a line's buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSize {
    /// Packets, bytes, or no limit.
    Limit(Limit),
    /// The bytes that the line sends in this time.
    Time(Time),
    /// The bytes that the line sends in this multiple of the longest base round trip over it.
    Product(f64),
}

/// The unit of bandwidth-delay products.
const PRODUCT: &str = "BDP";

/// The most bandwidth-delay products.
const PRODUCTS_MAX: f64 = 1000.0;

impl BufferSize {
    /// The size in `text`.
    ///
    /// # Errors
    /// What to write instead.
    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let at = text.len().saturating_sub(PRODUCT.len());
        if let (Some(number), Some(unit)) = (text.get(..at), text.get(at..))
            && unit.eq_ignore_ascii_case(PRODUCT)
        {
            let number = number.trim().parse().ok().filter(|number: &f64| *number > 0.0 && *number <= PRODUCTS_MAX);
            return number.map(Self::Product).ok_or_else(|| {
                format!("`{text}`: write how many bandwidth-delay products, above 0 and at most 1000, like \"0.5 BDP\"")
            });
        }
        let fault: UnitError = match text.parse() {
            Ok(limit) => return Ok(Self::Limit(limit)),
            Err(fault) => fault,
        };
        match text.parse::<Time>() {
            Ok(Time::ZERO) => Err(format!("`{text}`: a buffer has some room; write for example \"50 ms\"")),
            Ok(time) => Ok(Self::Time(time)),
            Err(_) if text.contains("packet") || fault.remedy.starts_with("a limit is at least") => {
                Err(fault.to_string())
            }
            // Another tool's spelling of a size or a time, or a negative size.
            Err(_) if fault.remedy.starts_with("write") || text.starts_with('-') => Err(fault.to_string()),
            Err(time) if time.remedy.starts_with("write") => Err(time.to_string()),
            Err(_) => Err(format!(
                "`{text}`: a buffer is \"15 packets\", \"64 kB\", \"50 ms\" of the line, \"1 BDP\" or \"unlimited\""
            )),
        }
    }
}

impl fmt::Display for BufferSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Product(number) => write!(f, "{number} {PRODUCT}"),
        }
    }
}

impl Serialize for BufferSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BufferSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected =
            "write a buffer as text with a unit, like \"15 packets\", \"64 kB\", \"50 ms\" or \"1 BDP\", not";
        match Value::deserialize(deserializer)? {
            Value::String(text) => Self::read(&text).map_err(D::Error::custom),
            other => Err(D::Error::custom(format!("{expected} `{other}`"))),
        }
    }
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A random time from 0 s to this, uniform, from the flow's own stream.
    Drawn(Time),
    /// At this time.
    At(Time),
}

impl Start {
    /// Where nothing else is said, a start is random within this time.
    pub const WITHIN: Time = Time::from_s(1);
}

impl Default for Start {
    fn default() -> Self {
        Self::Drawn(Self::WITHIN)
    }
}

impl Serialize for Start {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Drawn(Self::WITHIN) => serializer.serialize_str("drawn"),
            Self::Drawn(within) => serializer.collect_str(&format_args!("drawn(within={within})")),
            Self::At(time) => time.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer, "a start is a time with a unit, like \"0 s\", or \"drawn\"")?;
        if text.trim().eq_ignore_ascii_case("random") {
            return Err(D::Error::custom(format!("`{text}`: write \"drawn\", or \"drawn(within=50ms)\"")));
        }
        let Some(drawn) = text.trim().strip_prefix("drawn") else {
            return text.parse().map(Self::At).map_err(D::Error::custom);
        };
        if drawn.is_empty() {
            return Ok(Self::default());
        }
        let inside = drawn.trim().strip_prefix('(').and_then(|inside| inside.strip_suffix(')'));
        let within = inside.and_then(|inside| inside.trim().strip_prefix("within")?.trim().strip_prefix('='));
        let within: Time = match within {
            Some(within) => within.trim().parse().map_err(D::Error::custom)?,
            None => return Err(D::Error::custom(format!("`{text}`: write \"drawn\" or \"drawn(within=50ms)\""))),
        };
        if within == Time::ZERO {
            return Err(D::Error::custom(format!("`{text}`: a start is drawn within a time above 0 s")));
        }
        Ok(Self::Drawn(within))
    }
}

impl Start {
    /// The time, if it is one.
    #[must_use]
    pub const fn time(self) -> Option<Time> {
        match self {
            Self::Drawn(_) => None,
            Self::At(time) => Some(time),
        }
    }

    /// Within which time it is random, if it is.
    #[must_use]
    pub const fn within(self) -> Time {
        match self {
            Self::Drawn(within) => within,
            Self::At(_) => Self::WITHIN,
        }
    }

    /// Why a flow that starts at this time cannot stop at `stop`; `None` if it can.
    #[must_use]
    pub fn fault_of(self, stop: Option<Time>) -> Option<String> {
        let stop = stop?;
        match self {
            Self::At(start) if stop <= start => {
                Some(format!("it is to stop at {stop} and starts at {start}; a stop comes after the start"))
            }
            Self::Drawn(within) if stop < within => {
                let when =
                    if within == Self::WITHIN { "in the first second".to_string() } else { format!("within {within}") };
                Some(format!("it is to stop at {stop} and starts at a random time {when}; write a start"))
            }
            _ => None,
        }
    }
}

/// The text, or an error that says what was expected.
fn text<'de, D: Deserializer<'de>>(deserializer: D, expected: &str) -> Result<String, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Ok(text),
        other => Err(D::Error::custom(format!("`{other}`: {expected}"))),
    }
}

macro_rules! text_schema {
    ($type:ty, $name:literal, $title:literal, $also:expr, [$($example:literal),+]) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let also: &[fn(&mut SchemaGenerator) -> Schema] = &$also;
                let units = also.iter().map(|of| {
                    of(generator).get("x-unit").and_then(Value::as_str).unwrap_or_default().to_string()
                });
                json_schema!({ "type": "string", "title": $title, "examples": [$($example),+], "x-unit": units.collect::<Vec<_>>().join(", ") })
            }
        }
    };
}

/// What is measured in bandwidth-delay products.
fn product(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-unit": PRODUCT })
}

text_schema!(
    BufferSize,
    "BufferSize",
    "buffer",
    [Limit::json_schema, Time::json_schema, product],
    ["15 packets", "64 kB", "50 ms", "1 BDP", "unlimited"]
);
text_schema!(LineRate, "LineRate", "line rate", [Rate::json_schema], ["56 kbit/s", "unlimited"]);
text_schema!(ChangedRate, "ChangedRate", "rate", [Rate::json_schema], ["5 Mbit/s", "0 bit/s"]);
text_schema!(
    LinkRate,
    "LinkRate",
    "link rate",
    [Rate::json_schema],
    ["56 kbit/s", "30 Mbit/s..130 Mbit/s", "unlimited"]
);

impl JsonSchema for LossForm {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("LossForm")
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "title": "loss",
            "examples": [0.01, "2%@burst=5"],
            "x-unit": "probability, 0 to 1"
        })
    }
}

text_schema!(Start, "Start", "start", [Time::json_schema], ["0 s", "drawn", "drawn(within=50ms)"]);
