//! Arithmetic and comparisons of axes, in the syntax of Python.
//!
//! A text that is a quantity counts as a number of its base unit: "20 ms" is 0.02, "10 Mbit/s" is
//! 1e7, "64 kB" is 64000; "40 packets" is 40. Any other text can only be compared.

mod functions;
mod parse;
#[cfg(test)]
mod tests;

use crate::values::quantity;
use fairq_text::near_miss;
use functions::Function;
use serde_json::Value as Json;
use std::cmp::Ordering;

/// The greatest whole number: a scenario has none above it.
const WHOLE_MAX: i128 = i64::MAX as i128;
/// The greatest exponent.
const EXPONENT_MAX: f64 = 64.0;
/// The greatest whole number of which a power is exact.
const EXACT_MAX: i64 = 1_000_000;
/// The longest part of an expression that a message shows, in characters.
const SHOWN_MAX: usize = 40;

/// What an expression, an axis or a derived value is at a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Real(f64),
    /// True or false, which count as 1 and 0.
    Truth(bool),
    /// A text that is no quantity.
    Text(String),
    /// A list, for `in` and for functions.
    List(Vec<Self>),
}

impl Value {
    /// The value of an axis: a text that is a quantity is its number.
    #[must_use]
    pub fn of(label: &Json) -> Self {
        match label {
            Json::Bool(truth) => Self::Truth(*truth),
            Json::Number(number) => {
                number.as_i64().map_or_else(|| Self::Real(number.as_f64().unwrap_or(f64::NAN)), Self::Whole)
            }
            Json::String(text) => Self::of_text(text),
            other => Self::Text(other.to_string()),
        }
    }

    fn of_text(text: &str) -> Self {
        let count = || {
            let number = text.strip_suffix('s').unwrap_or(text).strip_suffix("packet")?;
            let number = number.strip_suffix(' ').unwrap_or(number);
            let is_count = number.len() <= 15 && number.bytes().all(|byte| byte.is_ascii_digit());
            is_count.then(|| number.parse().ok()).flatten()
        };
        let number = quantity(text).map(|(_, number)| Self::Real(number));
        number.or_else(|| count().map(Self::Whole)).unwrap_or_else(|| Self::Text(text.to_owned()))
    }

    /// The value as the tables have it: a number with at most twelve digits.
    #[must_use]
    pub fn label(&self) -> Json {
        match self {
            Self::Whole(number) => (*number).into(),
            // A number that was printed is one that can be read.
            Self::Real(number) => format!("{number:.11e}").parse::<f64>().unwrap_or(*number).into(),
            Self::Truth(truth) => (*truth).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(_) => Json::Null,
        }
    }

    fn is_true(&self) -> bool {
        match self {
            Self::Whole(number) => *number != 0,
            Self::Real(number) => *number != 0.0,
            Self::Truth(truth) => *truth,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    const fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            Self::Truth(truth) => Some(*truth as i64),
            _ => None,
        }
    }

    const fn real(&self) -> Option<f64> {
        match self {
            Self::Real(number) => Some(*number),
            other => match other.whole() {
                Some(number) => Some(number as f64),
                None => None,
            },
        }
    }

    /// The number that the value is, or why it is none.
    fn number(&self) -> Result<f64, String> {
        self.real().ok_or_else(|| match self {
            Self::Text(text) => format!("'{text}' is no number; a text can only be compared"),
            _ => "a list is no number; it stands behind in, or in max and min".to_owned(),
        })
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            _ => match (self.whole(), other.whole()) {
                (Some(one), Some(other)) => Some(one.cmp(&other)),
                _ => self.real()?.partial_cmp(&other.real()?),
            },
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(one), Self::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.equals(other))
            }
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }
}

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    root: Part,
}

/// A part of an expression, and where in the text it stands.
#[derive(Clone, Debug)]
struct Part {
    node: Node,
    from: usize,
    to: usize,
}

#[derive(Clone, Debug)]
enum Node {
    Constant(Value),
    Name(String),
    List(Vec<Part>),
    Call(Function, Vec<Part>),
    Negative(Box<Part>),
    Positive(Box<Part>),
    Not(Box<Part>),
    All(Vec<Part>),
    Any(Vec<Part>),
    If { test: Box<Part>, then: Box<Part>, other: Box<Part> },
    Binary(Operator, Box<Part>, Box<Part>),
    Compare(Box<Part>, Vec<(Relation, Part)>),
}

impl Part {
    fn names(&self, name: &str) -> bool {
        let any = |parts: &[Self]| parts.iter().any(|part| part.names(name));
        match &self.node {
            Node::Constant(_) => false,
            Node::Name(known) => known == name,
            Node::List(parts) | Node::Call(_, parts) | Node::All(parts) | Node::Any(parts) => any(parts),
            Node::Negative(of) | Node::Positive(of) | Node::Not(of) => of.names(name),
            Node::If { test, then, other } => [test, then, other].iter().any(|part| part.names(name)),
            Node::Binary(_, one, other) => one.names(name) || other.names(name),
            Node::Compare(first, others) => first.names(name) || others.iter().any(|(_, part)| part.names(name)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideWhole,
    Remainder,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What in it is no arithmetic and no comparison.
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Self { text: text.trim().to_owned(), root: parse::read(text.trim())? })
    }

    /// Whether an axis or derived value of this name occurs in it.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        self.root.names(name)
    }

    /// The value over `names`.
    ///
    /// # Errors
    /// A name that is none of these, and what cannot be computed.
    pub fn evaluate(&self, names: &[(String, Value)]) -> Result<Value, String> {
        match self.value(&self.root, names)? {
            Value::Real(number) if !number.is_finite() => {
                Err(format!("'{}' is {number}, not a finite number", self.text))
            }
            Value::List(_) => Err(format!("'{}' is no number or text", self.text)),
            value => Ok(value),
        }
    }

    /// Whether it is true over `names`.
    ///
    /// # Errors
    /// As `evaluate`.
    pub fn holds(&self, names: &[(String, Value)]) -> Result<bool, String> {
        self.evaluate(names).map(|value| value.is_true())
    }

    fn value(&self, part: &Part, names: &[(String, Value)]) -> Result<Value, String> {
        let value = |part: &Part| self.value(part, names);
        match &part.node {
            Node::Constant(constant) => Ok(constant.clone()),
            Node::Name(name) => match names.iter().find(|(known, _)| known == name) {
                Some((_, value)) => Ok(value.clone()),
                None => {
                    let near = near_miss(name, names.iter().map(|(known, _)| known.as_str()));
                    Err(format!("{name}: no such axis or derived value{near}"))
                }
            },
            Node::List(items) => {
                items.iter().map(|item| Ok(read_again(value(item)?))).collect::<Result<_, _>>().map(Value::List)
            }
            Node::Call(function, given) => {
                let given = given.iter().map(value).collect::<Result<Vec<_>, _>>()?;
                self.bounded(part, self.told(function.call(&given))?)
            }
            Node::Negative(of) => self.negative(part, &value(of)?),
            Node::Positive(of) => value(of).and_then(|value| value.number().map(|_| value)),
            Node::Not(of) => Ok(Value::Truth(!value(of)?.is_true())),
            Node::All(parts) => self.first(parts, names, false),
            Node::Any(parts) => self.first(parts, names, true),
            Node::If { test, then, other } => value(if value(test)?.is_true() { then } else { other }),
            Node::Binary(operator, one, other) => self.binary(part, *operator, &value(one)?, &value(other)?),
            Node::Compare(first, others) => {
                let mut left = read_again(value(first)?);
                let mut holds = true;
                for (relation, right) in others {
                    let right = read_again(value(right)?);
                    holds = holds && self.told(relation.holds(&left, &right))?;
                    left = right;
                }
                Ok(Value::Truth(holds))
            }
        }
    }

    /// Whether one of the parts is as `wanted`: the rest is not looked at.
    fn first(&self, parts: &[Part], names: &[(String, Value)], wanted: bool) -> Result<Value, String> {
        for part in parts {
            if self.value(part, names)?.is_true() == wanted {
                return Ok(Value::Truth(wanted));
            }
        }
        Ok(Value::Truth(!wanted))
    }

    fn negative(&self, part: &Part, value: &Value) -> Result<Value, String> {
        match value.whole() {
            Some(number) => self.bounded(part, Computed::Whole(-i128::from(number))),
            None => value.number().map(|number| Value::Real(-number)),
        }
    }

    fn binary(&self, part: &Part, operator: Operator, one: &Value, other: &Value) -> Result<Value, String> {
        let (real_one, real_other) = (one.number()?, other.number()?);
        let computed = match (one.whole(), other.whole()) {
            (Some(one), Some(other)) => operator.of_whole(one, other),
            _ => operator.of_real(real_one, real_other).map(Computed::Real),
        };
        self.bounded(part, self.told(computed)?)
    }

    /// The value of a part; each whole number on the way has its bound.
    fn bounded(&self, part: &Part, computed: Computed) -> Result<Value, String> {
        match computed {
            Computed::Whole(number) => {
                let within = i64::try_from(number).ok().filter(|number| *number != i64::MIN);
                let shown = || self.text[part.from..part.to].chars().take(SHOWN_MAX).collect::<String>();
                within.map(Value::Whole).ok_or_else(|| {
                    format!("a whole number is at most {WHOLE_MAX}; write {} with a float, as 1e20", shown())
                })
            }
            Computed::Real(number) => Ok(Value::Real(number)),
            Computed::Value(value) => Ok(value),
        }
    }

    /// The value of a step; an error is told after the text of the expression.
    fn told<T>(&self, given: Result<T, String>) -> Result<T, String> {
        given.map_err(|why| format!("'{}': {why}", self.text))
    }
}

/// A text that an expression writes is a quantity as one of an axis is.
fn read_again(value: Value) -> Value {
    match value {
        Value::Text(text) => Value::of_text(&text),
        other => other,
    }
}

/// The value of a step before its bound is checked.
enum Computed {
    Whole(i128),
    Real(f64),
    Value(Value),
}

const BY_ZERO: &str = "division by zero";

impl Operator {
    fn of_whole(self, one: i64, other: i64) -> Result<Computed, String> {
        let (a, b) = (i128::from(one), i128::from(other));
        let divisor = if b == 0 { Err(BY_ZERO.to_owned()) } else { Ok(b) };
        Ok(Computed::Whole(match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            // Towards less, and the sign of what is left is that of the divisor.
            Self::DivideWhole => (a * b.signum()).div_euclid(divisor?.abs()),
            Self::Remainder => a - b * (a * b.signum()).div_euclid(divisor?.abs()),
            Self::Power if other >= 0 && one.abs() <= EXACT_MAX => {
                exponent(other as f64)?;
                u32::try_from(other).ok().and_then(|power| a.checked_pow(power)).unwrap_or(i128::MAX)
            }
            Self::Divide | Self::Power => {
                return self.of_real(one as f64, other as f64).map(Computed::Real);
            }
        }))
    }

    fn of_real(self, one: f64, other: f64) -> Result<f64, String> {
        if other == 0.0 && matches!(self, Self::Divide | Self::DivideWhole | Self::Remainder) {
            return Err(BY_ZERO.to_owned());
        }
        let left = || {
            let left = one % other;
            if left != 0.0 && (left < 0.0) != (other < 0.0) { left + other } else { left }
        };
        Ok(match self {
            Self::Add => one + other,
            Self::Subtract => one - other,
            Self::Multiply => one * other,
            Self::Divide => one / other,
            Self::DivideWhole => ((one - left()) / other).round(),
            Self::Remainder => left(),
            Self::Power => {
                exponent(other)?;
                if one == 0.0 && other < 0.0 {
                    return Err("zero has no negative power".to_owned());
                }
                if one < 0.0 && other.fract() != 0.0 {
                    return Err("a negative number has only whole powers".to_owned());
                }
                let power = libm::pow(one, other);
                if power.is_infinite() {
                    return Err("the power is too great".to_owned());
                }
                power
            }
        })
    }
}

fn exponent(number: f64) -> Result<(), String> {
    if number.abs() > EXPONENT_MAX { Err(format!("an exponent is at most {EXPONENT_MAX}")) } else { Ok(()) }
}

impl Relation {
    fn holds(self, left: &Value, right: &Value) -> Result<bool, String> {
        let ordered = |is: fn(Ordering) -> bool| {
            let order = left.order(right).ok_or_else(|| "a text and a number have no order".to_owned());
            order.map(is)
        };
        match self {
            Self::Equal => Ok(left.equals(right)),
            Self::NotEqual => Ok(!left.equals(right)),
            Self::Less => ordered(Ordering::is_lt),
            Self::LessOrEqual => ordered(Ordering::is_le),
            Self::Greater => ordered(Ordering::is_gt),
            Self::GreaterOrEqual => ordered(Ordering::is_ge),
            Self::In => is_in(left, right),
            Self::NotIn => is_in(left, right).map(|is| !is),
        }
    }
}

fn is_in(item: &Value, of: &Value) -> Result<bool, String> {
    match (item, of) {
        (_, Value::List(items)) => Ok(items.iter().any(|other| other.equals(item))),
        (Value::Text(item), Value::Text(of)) => Ok(of.contains(item.as_str())),
        _ => Err("in needs a list, as: queue in ('fifo', 'fq')".to_owned()),
    }
}
