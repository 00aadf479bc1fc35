//! Units: time, bytes, rate, weight, limits, with their text forms and the only arithmetic that
//! rounds.
//!
//! Every quantity is an integer. A text form is a decimal number and a unit ("56 kbit/s", "1.5 s",
//! "40 B"); it is converted exactly, and a value that the integer cannot hold exactly is refused.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// An instant or a duration: whole picoseconds. `u64` reaches 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

impl Time {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// Whole seconds.
    #[must_use]
    pub const fn from_s(seconds: u64) -> Self {
        Self(seconds * PS_PER_S)
    }

    /// Whole milliseconds.
    #[must_use]
    pub const fn from_ms(milliseconds: u64) -> Self {
        Self(milliseconds * (PS_PER_S / 1000))
    }

    /// Real-valued seconds as whole picoseconds, to the nearest (half up); negative and NaN become
    /// zero, what is too long becomes [`Time::NEVER`]. This is the one rounding of real-valued
    /// times.
    #[must_use]
    pub fn from_s_f64(seconds: f64) -> Self {
        // A float-to-integer cast saturates and takes NaN to zero.
        Self((seconds * PS_PER_S as f64 + 0.5) as u64)
    }

    /// Seconds, for reports and real-valued algorithms.
    #[must_use]
    pub fn as_s(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The sum, or [`Time::NEVER`] when it does not fit.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero when `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl core::ops::Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl core::ops::Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// A length or an amount of data: whole bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A rate: whole bits per second, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// The greatest rate: 10 Tbit/s. It keeps products with [`Time`] within 128 bits.
    pub const MAX: Self = Self(10_000_000_000_000);

    /// A rate of `bits_per_second`, if it is neither zero nor above [`Rate::MAX`].
    #[must_use]
    pub const fn new(bits_per_second: u64) -> Option<Self> {
        if bits_per_second == 0 || bits_per_second > Self::MAX.0 { None } else { Some(Self(bits_per_second)) }
    }

    /// Bits per second.
    #[must_use]
    pub const fn bit_per_s(self) -> u64 {
        self.0
    }

    /// How long `bits` take, rounded to the nearest picosecond (half up).
    #[must_use]
    pub const fn time_of_bits(self, bits: u64) -> Time {
        let dividend = bits as u128 * PS_PER_S as u128 + (self.0 / 2) as u128;
        Time((dividend / self.0 as u128) as u64)
    }

    /// How long `length` takes, rounded up to a whole picosecond.
    #[must_use]
    pub const fn time_of_rounded_up(self, length: Bytes) -> Time {
        let dividend = length.0 as u128 * 8 * PS_PER_S as u128 + (self.0 - 1) as u128;
        Time((dividend / self.0 as u128) as u64)
    }

    /// Whole bits that pass in `time`, rounded down.
    #[must_use]
    pub const fn bits_in(self, time: Time) -> u64 {
        (time.0 as u128 * self.0 as u128 / PS_PER_S as u128) as u64
    }
}

/// A share: whole thousandths, from 0.001 to 1,000,000; 1 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u32);

impl Weight {
    /// The weight of a flow that is given none.
    pub const ONE: Self = Self(1000);
    /// The greatest weight, a million.
    pub const MAX: Self = Self(1_000_000_000);

    /// A weight of `thousandths`, if it is within the range.
    #[must_use]
    pub const fn from_thousandths(thousandths: u32) -> Option<Self> {
        if thousandths == 0 || thousandths > Self::MAX.0 { None } else { Some(Self(thousandths)) }
    }

    /// The weight in thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u32 {
        self.0
    }

    /// A weight from a number, if it is finite, within the range and a whole number of thousandths.
    ///
    /// # Errors
    /// Says what is allowed.
    pub fn from_f64(value: f64) -> Result<Self, UnitError> {
        let bad =
            || UnitError::new(&format!("{value}"), "a weight is a number from 0.001 to 1000000, in whole thousandths");
        if !value.is_finite() || !(0.001..=1_000_000.0).contains(&value) {
            return Err(bad());
        }
        let thousandths = libm::round(value * 1000.0);
        if libm::fabs(thousandths - value * 1000.0) > 1e-6 {
            return Err(bad());
        }
        Self::from_thousandths(thousandths as u32).ok_or_else(bad)
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

/// Weights from plain numbers, so that `3` and `0.5` may stand where a weight is asked. The error
/// says what is allowed.
macro_rules! weight_from {
    ($($number:ty),*) => {
        $(impl TryFrom<$number> for Weight {
            type Error = UnitError;

            fn try_from(value: $number) -> Result<Self, UnitError> {
                // Beyond 2⁵³ the conversion rounds, far above the greatest weight.
                Self::from_f64(value as f64)
            }
        })*
    };
}

weight_from!(i32, u32, i64, u64, usize, f64);

/// How much may wait: packets, bytes, or all there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// At most this many waiting packets.
    Packets(u64),
    /// At most this many waiting bytes.
    Bytes(u64),
    /// No limit.
    #[default]
    Unlimited,
}

impl Limit {
    /// Whether `packets` of together `bytes` are more than may wait.
    #[must_use]
    pub const fn is_exceeded_by(self, packets: u64, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets > limit,
            Self::Bytes(limit) => bytes > limit,
            Self::Unlimited => false,
        }
    }

    /// The limit in packets; the greatest number if it is not in packets.
    pub(crate) const fn packets(self) -> u64 {
        if let Self::Packets(limit) = self { limit } else { u64::MAX }
    }

    /// The limit in bytes; the greatest number if it is not in bytes.
    pub(crate) const fn bytes(self) -> u64 {
        if let Self::Bytes(limit) = self { limit } else { u64::MAX }
    }
}

/// A threshold: packets or bytes that wait, or the time that a packet has waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// This many packets wait.
    Packets(u64),
    /// This many bytes wait.
    Bytes(u64),
    /// A packet has waited this long.
    Time(Time),
}

/// Why a text is not a quantity: the text and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// The text as it was given.
    pub text: String,
    /// What to write instead.
    pub remedy: String,
}

impl UnitError {
    fn new(text: &str, remedy: &str) -> Self {
        Self { text: text.to_string(), remedy: remedy.to_string() }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.text, self.remedy)
    }
}

impl core::error::Error for UnitError {}

/// A decimal number as digits and a power of ten: `1.5` is (15, -1).
fn decimal(text: &str) -> Option<(u128, i32)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok().filter(|e| e.abs() < 100)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut digits: u128 = 0;
    for c in whole.chars().filter(|c| *c != '_').chain(fraction.chars()) {
        digits = digits.checked_mul(10)?.checked_add(u128::from(c.to_digit(10)?))?;
    }
    Some((digits, exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?))
}

/// `text` as a whole number of the smallest unit; `units` gives each unit's name and its size in
/// the smallest.
fn quantity(text: &str, what: &str, units: &[(&str, u128)]) -> Result<u128, UnitError> {
    let trimmed = text.trim();
    let split = trimmed
        .char_indices()
        .find(|(at, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && trimmed[at + 1..].starts_with(|n: char| n.is_ascii_digit() || n == '-' || n == '+');
            !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-') || exponent)
        })
        .map_or(trimmed.len(), |(at, _)| at);
    let (number, unit) = (trimmed[..split].trim(), trimmed[split..].trim());
    let known = || units.iter().map(|(name, _)| *name).collect::<alloc::vec::Vec<_>>().join(", ");
    let bad = || UnitError::new(text, &format!("{what} is a number with one of the units {}", known()));
    if number.strip_prefix('-').and_then(decimal).is_some() {
        return Err(UnitError::new(text, &format!("{what} cannot be negative")));
    }
    if unit.is_empty() && !number.is_empty() {
        let or = if units[0].0 == "s" { format!(" or \"{number} ms\"") } else { String::new() };
        return Err(UnitError::new(text, &format!("{what} needs a unit, as in \"{number} {}\"{or}", units[0].0)));
    }
    let Some((_, size)) = units.iter().find(|(name, _)| *name == unit) else {
        let remedy = spelling::remedy(number, unit, units[0].0);
        return Err(remedy.map_or_else(bad, |remedy| UnitError::new(text, &remedy)));
    };
    let (digits, power) = decimal(number.trim_start_matches('+')).ok_or_else(bad)?;
    let too_large = || UnitError::new(text, &format!("{what} is too large"));
    let scaled = digits.checked_mul(*size).ok_or_else(too_large)?;
    let ten = 10u128.checked_pow(power.unsigned_abs());
    if power >= 0 || scaled == 0 {
        return ten.and_then(|ten| scaled.checked_mul(ten)).or((scaled == 0).then_some(0)).ok_or_else(too_large);
    }
    match ten {
        Some(ten) if scaled % ten == 0 => Ok(scaled / ten),
        _ => Err(UnitError::new(text, &format!("{what} is finer than fairq can hold; give fewer digits"))),
    }
}

/// Other spellings of the units, for messages.
mod spelling;

const TIME_UNITS: &[(&str, u128)] = &[
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ns", 1000),
    ("ps", 1),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];
const BYTE_UNITS: &[(&str, u128)] = &[
    ("B", 1),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1024),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const RATE_UNITS: &[(&str, u128)] =
    &[("bit/s", 1), ("kbit/s", 1000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000), ("Tbit/s", 1_000_000_000_000)];

impl core::str::FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let ps = quantity(text, "a time", TIME_UNITS)?;
        // A quarter of the range leaves room for sums.
        u64::try_from(ps)
            .ok()
            .filter(|ps| *ps <= u64::MAX / 4)
            .map(Self)
            .ok_or_else(|| UnitError::new(text, "a time is at most 53 days"))
    }
}

impl core::str::FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bytes = quantity(text, "a size", BYTE_UNITS)?;
        u64::try_from(bytes)
            .ok()
            .filter(|b| *b <= 1 << 60)
            .map(Self)
            .ok_or_else(|| UnitError::new(text, "a size is at most 2^60 B"))
    }
}

impl core::str::FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let rate = quantity(text, "a rate", RATE_UNITS)?;
        u64::try_from(rate)
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| UnitError::new(text, "a rate is above zero and at most 10 Tbit/s"))
    }
}

impl core::str::FromStr for Limit {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        let remedy = "a limit is \"15 packets\", \"64 kB\" or \"unlimited\"";
        let in_range = |n: u128, unit: &str| match u64::try_from(n) {
            Ok(0) => Err(UnitError::new(text, &format!("a limit is at least 1 {unit}"))),
            Ok(n) if n <= 1 << 40 => Ok(n),
            _ => Err(UnitError::new(text, "a limit is at most 2^40 packets or bytes; \"unlimited\" is none")),
        };
        let named = |e: UnitError| UnitError::new(text, &format!("{remedy}; {}", e.remedy));
        if text.trim_end().ends_with("packets") || text.trim_end().ends_with("packet") {
            let packets = quantity(text, "a limit", &[("packets", 1), ("packet", 1)]).map_err(named)?;
            return in_range(packets, "packet").map(Self::Packets);
        }
        let bytes = quantity(text, "a limit", BYTE_UNITS).map_err(|error| match error.remedy {
            meant if meant.starts_with("write") || meant.ends_with("negative") => UnitError::new(text, &meant),
            _ => UnitError::new(text, remedy),
        })?;
        in_range(bytes, "B").map(Self::Bytes)
    }
}

impl core::str::FromStr for Threshold {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let remedy = "a threshold is \"20 packets\", \"30 kB\" or \"1 ms\"";
        match (text.parse::<Limit>(), text.parse::<Time>()) {
            (Ok(Limit::Packets(packets)), _) => Ok(Self::Packets(packets)),
            (Ok(Limit::Bytes(bytes)), _) => Ok(Self::Bytes(bytes)),
            (_, Ok(time)) if time > Time::ZERO => Ok(Self::Time(time)),
            _ => Err(UnitError::new(text, remedy)),
        }
    }
}

/// `value` in the largest unit that leaves no remainder.
fn largest_unit(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u128)]) -> fmt::Result {
    let value = u128::from(value);
    let (name, size) = units
        .iter()
        .filter(|(name, size)| *name != "µs" && value != 0 && value.is_multiple_of(*size))
        .max_by_key(|(_, size)| *size)
        .unwrap_or(&units[0]);
    write!(f, "{} {name}", value / size)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        largest_unit(f, self.0, &TIME_UNITS[..6])
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        largest_unit(f, self.0, &BYTE_UNITS[..4])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        largest_unit(f, self.0, RATE_UNITS)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1000.0)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n} packets"),
            Self::Bytes(n) => write!(f, "{}", Bytes(*n)),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n} packets"),
            Self::Bytes(n) => write!(f, "{}", Bytes(*n)),
            Self::Time(time) => write!(f, "{time}"),
        }
    }
}

/// Text forms for serde, and what an editor should know of them.
#[cfg(feature = "schema")]
mod schema {
    use super::{BYTE_UNITS, Bytes, Limit, RATE_UNITS, Rate, TIME_UNITS, Threshold, Time, Weight};
    use alloc::borrow::Cow;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    macro_rules! text_form {
        ($type:ty, $name:literal, $title:literal, $example:literal, $units:expr) => {
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(&self.to_string())
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    struct Text;
                    impl de::Visitor<'_> for Text {
                        type Value = $type;
                        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                            write!(f, concat!("a ", $title, " as text with a unit, like \"", $example, "\""))
                        }
                        fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                            text.parse().map_err(E::custom)
                        }
                    }
                    deserializer.deserialize_any(Text)
                }
            }

            impl JsonSchema for $type {
                fn inline_schema() -> bool {
                    true
                }
                fn schema_name() -> Cow<'static, str> {
                    Cow::Borrowed($name)
                }
                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!({ "type": "string", "title": $title, "examples": [$example], "x-unit": names($units) })
                }
            }
        };
    }

    text_form!(Time, "Time", "time", "1.5 s", &[TIME_UNITS]);
    text_form!(Bytes, "Bytes", "size", "1000 B", &[BYTE_UNITS]);
    text_form!(Rate, "Rate", "rate", "56 kbit/s", &[RATE_UNITS]);
    text_form!(Limit, "Limit", "limit", "15 packets", &[PACKETS, BYTE_UNITS]);
    text_form!(Threshold, "Threshold", "threshold", "20 packets", &[PACKETS, BYTE_UNITS, TIME_UNITS]);

    const PACKETS: &[(&str, u128)] = &[("packets", 1)];

    /// The names of units, as the schema has them.
    fn names(units: &[&[(&str, u128)]]) -> String {
        units.iter().flat_map(|units| units.iter()).map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    impl Serialize for Weight {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_f64(f64::from(self.thousandths()) / 1000.0)
        }
    }

    impl<'de> Deserialize<'de> for Weight {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let value = f64::deserialize(deserializer)?;
            Self::from_f64(value).map_err(de::Error::custom)
        }
    }

    impl JsonSchema for Weight {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            Cow::Borrowed("Weight")
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "type": "number", "title": "weight", "minimum": 0.001, "maximum": 1_000_000,
                "examples": [2], "x-unit": "shares"
            })
        }
    }

    // Keeps the import used where the macro's expansion does not need it.
    const _: fn(&str) -> String = str::to_string;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_plain_number_or_what_is_allowed_is_said() {
        let thousandths =
            |weight: Result<Weight, UnitError>| weight.map(Weight::thousandths).map_err(|e| e.to_string());
        assert_eq!([Weight::try_from(3), Weight::try_from(3_u64)].map(thousandths), [Ok(3000), Ok(3000)]);
        assert_eq!([Weight::try_from(0.5), Weight::try_from(1e6)].map(thousandths), [Ok(500), Ok(1_000_000_000)]);
        for (bad, shown) in [
            (Weight::try_from(0), "0"),
            (Weight::try_from(-2), "-2"),
            (Weight::try_from(1_000_001_usize), "1000001"),
            (Weight::try_from(u64::MAX), "18446744073709552000"),
            (Weight::try_from(0.0005), "0.0005"),
            (Weight::try_from(f64::NAN), "NaN"),
            (Weight::try_from(f64::INFINITY), "inf"),
        ] {
            let said = format!("`{shown}`: a weight is a number from 0.001 to 1000000, in whole thousandths");
            assert_eq!(thousandths(bad), Err(said));
        }
    }

    #[test]
    fn a_text_form_is_read_exactly() {
        assert_eq!("56 kbit/s".parse(), Ok(Rate(56_000)));
        assert_eq!("9.6kbit/s".parse(), Ok(Rate(9600)));
        assert_eq!("1.5 s".parse(), Ok(Time(1_500_000_000_000)));
        assert_eq!("0.075 s".parse::<Time>(), Ok(Time::from_ms(75)));
        assert_eq!("1e-3 s".parse::<Time>(), Ok(Time::from_ms(1)));
        assert_eq!("40 B".parse(), Ok(Bytes(40)));
        assert_eq!("40packets".parse(), Ok(Limit::Packets(40)));
        assert_eq!("64 kB".parse(), Ok(Limit::Bytes(64_000)));
        assert_eq!("unlimited".parse(), Ok(Limit::Unlimited));
    }

    #[test]
    fn a_text_that_cannot_be_held_is_refused_with_a_remedy() {
        for (text, remedy) in [
            ("56", "needs a unit"),
            ("0 bit/s", "above zero"),
            ("56 kb", "write \"56 kbit/s\""),
            ("56 furlongs", "units"),
            ("-1 bit/s", "negative"),
            ("0.1 bit/s", "finer"),
            ("", "units"),
            ("99999999999999999999999999999999999999999999 bit/s", "units"),
            ("1e40 bit/s", "too large"),
        ] {
            let error = text.parse::<Rate>().expect_err(text);
            assert!(error.to_string().contains(remedy), "{error}");
        }
        assert_eq!("20packets".parse(), Ok(Threshold::Packets(20)));
        assert_eq!("30 kB".parse(), Ok(Threshold::Bytes(30_000)));
        assert_eq!("1 ms".parse(), Ok(Threshold::Time(Time::from_ms(1))));
        for text in ["unlimited", "0 packets", "0 s", "20", "fast"] {
            assert!(text.parse::<Threshold>().is_err_and(|e| e.remedy.contains("\"30 kB\"")), "{text}");
        }
        for threshold in [Threshold::Packets(20), Threshold::Bytes(1500), Threshold::Time(Time(1_500_000))] {
            assert_eq!(threshold.to_string().parse(), Ok(threshold));
        }
        assert!("0 packets".parse::<Limit>().is_err());
        assert!("1.5 packets".parse::<Limit>().is_err());
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7, 0.0001, 1.000_5] {
            assert!(Weight::from_f64(weight).is_err(), "{weight}");
        }
        assert_eq!(Weight::from_f64(0.333), Ok(Weight(333)));
    }

    /// The text, and what is said to write instead.
    #[test]
    fn a_spelling_of_other_tools_is_refused_with_the_one_that_is_meant() {
        fn remedy<T: core::str::FromStr<Err = UnitError>>(text: &str) -> String {
            text.parse::<T>().err().map_or_else(|| panic!("{text} is read"), |error| error.remedy)
        }
        let as_tc = |unit: &str, bits: &str, bytes: &str| {
            format!("write \"{bits}\", or \"{bytes}\" if {unit} is bytes a second, as for tc")
        };
        assert_eq!(remedy::<Rate>("1 Mbps"), as_tc("Mbps", "1 Mbit/s", "8 Mbit/s"));
        assert_eq!(remedy::<Rate>("1.25mbps"), as_tc("mbps", "1.25 Mbit/s", "10 Mbit/s"));
        assert_eq!(remedy::<Rate>("300kbps"), as_tc("kbps", "300 kbit/s", "2400 kbit/s"));
        assert_eq!(remedy::<Rate>("2 Gbps"), as_tc("Gbps", "2 Gbit/s", "16 Gbit/s"));
        assert_eq!(remedy::<Rate>("9600 bps"), as_tc("bps", "9600 bit/s", "76800 bit/s"));
        for text in ["5mbit", "5 Mbit", "5 Mb/s", "5 Mbits/s", "5 MBIT/S", "5mb", "5M"] {
            assert_eq!(remedy::<Rate>(text), "write \"5 Mbit/s\"", "{text}");
        }
        for text in ["1 MB/s", "1MBps", "1 MB", "1 Mbyte/s"] {
            assert_eq!(remedy::<Rate>(text), "bytes a second are not known here; write \"8 Mbit/s\"", "{text}");
        }
        assert_eq!(remedy::<Rate>("0.3 kB/s"), "bytes a second are not known here; write \"2.4 kbit/s\"");
        assert_eq!(remedy::<Bytes>("60KB"), "write \"60 kB\", or \"60 KiB\" for 1024 bytes each");
        assert_eq!(remedy::<Bytes>("2 mb"), "write \"2 MB\", or \"2 MiB\" for 1048576 bytes each");
        assert_eq!(remedy::<Bytes>("3 kib"), "write \"3 KiB\"");
        assert_eq!(remedy::<Bytes>("1500 bytes"), "write \"1500 B\"");
        assert_eq!(remedy::<Limit>("60KB"), remedy::<Bytes>("60KB"));
        assert_eq!(remedy::<Limit>("-60 kB"), "a limit cannot be negative");
        assert_eq!(
            [remedy::<Limit>("0 packets"), remedy::<Limit>("0 kB")],
            ["a limit is at least 1 packet", "a limit is at least 1 B"]
        );
        for text in ["1e20 packets", "1099511627777 packets", "1e13 B", "1e30 B", "1e40 packets", "2000 GiB"] {
            assert!(remedy::<Limit>(text).contains("at most 2^40") || text == "1e40 packets", "{text}");
            assert!(!remedy::<Limit>(text).contains("at least"), "{text}");
        }
        assert_eq!(remedy::<Limit>("40 pkts"), "write \"40 packets\"");
        for (text, meant) in [("5 sec", "5 s"), ("5 msec", "5 ms"), ("5 minutes", "5 min"), ("5 hours", "5 h")] {
            assert_eq!(remedy::<Time>(text), format!("write \"{meant}\""));
        }
        assert_eq!(remedy::<Time>("5"), "a time needs a unit, as in \"5 s\" or \"5 ms\"");
        for text in ["-5Mbit/s", "-5mbit", "-5"] {
            assert_eq!(remedy::<Rate>(text), "a rate cannot be negative", "{text}");
        }
        assert_eq!(remedy::<Time>("-1s"), "a time cannot be negative");
    }

    /// What a message tells to write is read, and is the quantity.
    #[test]
    fn what_a_remedy_tells_to_write_is_read() {
        for prefix in ["", "k", "M", "G", "T", "m", "g", "K"] {
            for rest in ["bps", "bit", "b/s", "B/s", "bits", "Bps", "bit/s", "b", "B"] {
                for text in [format!("1 {prefix}{rest}"), format!("1 {prefix}{rest}").to_uppercase()] {
                    for error in [text.parse::<Rate>().err(), text.parse::<Bytes>().err()].into_iter().flatten() {
                        for quoted in error.remedy.split('"').skip(1).step_by(2) {
                            let is_read = quoted.parse::<Rate>().is_ok() || quoted.parse::<Bytes>().is_ok();
                            assert!(is_read, "{text}: {quoted}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_printed_quantity_reads_back_the_same() {
        for ps in [0, 1, 1000, 1_500_000_000_000, 60_000_000_000_000, 123_456_789] {
            assert_eq!(Time(ps).to_string().parse(), Ok(Time(ps)));
        }
        for rate in [1, 56_000, 9600, 10_000_000_000] {
            assert_eq!(Rate(rate).to_string().parse(), Ok(Rate(rate)));
        }
        for limit in [Limit::Packets(15), Limit::Bytes(128_000), Limit::Unlimited] {
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
    }

    #[test]
    fn times_of_bits_round_to_the_nearest_picosecond() {
        let rate = Rate::new(3).unwrap();
        assert_eq!(rate.time_of_bits(1), Time(333_333_333_333));
        assert_eq!(rate.time_of_bits(2), Time(666_666_666_667));
        assert_eq!(rate.bits_in(Time(666_666_666_667)), 2);
        assert_eq!(Time::from_s_f64(f64::NAN), Time::ZERO);
        assert_eq!(Time::from_s_f64(-1.0), Time::ZERO);
        assert_eq!(Time::from_s_f64(1e300), Time::NEVER);
    }
}
