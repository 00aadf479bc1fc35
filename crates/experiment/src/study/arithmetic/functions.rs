//! The functions of an expression.

use super::{Computed, Value};
use std::cmp::Ordering;

/// The most digits that `round` keeps, or takes away: a number has no more.
const DIGITS_MAX: i64 = 300;

/// A function by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function(&'static str);

/// The names of all.
pub(super) const NAMES: [&str; 10] = ["abs", "ceil", "exp", "floor", "log", "log2", "max", "min", "round", "sqrt"];

impl Function {
    pub(super) fn by_name(name: &str) -> Option<Self> {
        NAMES.into_iter().find(|known| *known == name).map(Self)
    }

    pub(super) fn call(self, given: &[Value]) -> Result<Computed, String> {
        let whole_of = |number: f64| {
            if number.is_finite() {
                Ok(Computed::Whole(number as i128))
            } else {
                Err(format!("{number} is not finite"))
            }
        };
        match (self.0, given) {
            ("max", _) => self.most(given, Ordering::Greater),
            ("min", _) => self.most(given, Ordering::Less),
            ("round", [value]) => match value.whole() {
                Some(number) => Ok(Computed::Whole(number.into())),
                None => whole_of(value.number()?.round_ties_even()),
            },
            ("round", [value, digits]) => rounded(value, digits),
            ("log", [value, base]) => {
                Ok(Computed::Real(positive(value).map(libm::log)? / nonzero(positive(base).map(libm::log)?)?))
            }
            (name, [value]) => {
                let number = value.number()?;
                match (name, value.whole()) {
                    ("abs", Some(number)) => Ok(Computed::Whole(i128::from(number).abs())),
                    ("ceil" | "floor", Some(number)) => Ok(Computed::Whole(number.into())),
                    ("abs", None) => Ok(Computed::Real(number.abs())),
                    ("ceil", None) => whole_of(number.ceil()),
                    ("floor", None) => whole_of(number.floor()),
                    ("exp", _) => match libm::exp(number) {
                        power if power.is_finite() => Ok(Computed::Real(power)),
                        _ => Err(format!("exp of {number} is too great")),
                    },
                    ("log", _) => positive(value).map(libm::log).map(Computed::Real),
                    ("log2", _) => positive(value).map(libm::log2).map(Computed::Real),
                    _ if number < 0.0 => Err("a negative number has no square root".to_owned()),
                    _ => Ok(Computed::Real(number.sqrt())),
                }
            }
            (name, _) => Err(format!("{name} takes one value, not {}", given.len())),
        }
    }

    /// The first of the values that no other stands before.
    fn most(self, given: &[Value], wanted: Ordering) -> Result<Computed, String> {
        let items = match given {
            [Value::List(items)] => items,
            items => items,
        };
        let Some((first, others)) = items.split_first() else {
            return Err(format!("{} needs at least one value", self.0));
        };
        let mut most = first;
        for other in others {
            let order = other.order(most).ok_or_else(|| format!("{} of a text and a number", self.0))?;
            most = if order == wanted { other } else { most };
        }
        Ok(Computed::Value(most.clone()))
    }
}

fn nonzero(number: f64) -> Result<f64, String> {
    if number == 0.0 { Err(super::BY_ZERO.to_owned()) } else { Ok(number) }
}

fn positive(value: &Value) -> Result<f64, String> {
    let number = value.number()?;
    if number > 0.0 { Ok(number) } else { Err(format!("{number} has no logarithm")) }
}

fn rounded(value: &Value, digits: &Value) -> Result<Computed, String> {
    let digits = digits.whole().ok_or("round takes a whole number of digits")?;
    if digits.abs() > DIGITS_MAX {
        return Err(format!("round keeps at most {DIGITS_MAX} digits, not {digits}"));
    }
    match value.whole() {
        Some(number) if digits >= 0 => Ok(Computed::Whole(number.into())),
        Some(number) => Ok(Computed::Whole(whole_rounded(number.into(), false, digits))),
        None => {
            let number = value.number()?;
            let places = usize::try_from(digits);
            Ok(Computed::Real(match places {
                Ok(places) => format!("{number:.places$}").parse().unwrap_or(number),
                Err(_) if number.abs() < 1e30 => {
                    whole_rounded(number.floor() as i128, number.fract() != 0.0, digits) as f64
                }
                Err(_) => number,
            }))
        }
    }
}

/// A whole number without the last digits, half to even; `has_more` says that it has a fraction, and
/// so is beyond the half.
fn whole_rounded(number: i128, has_more: bool, digits: i64) -> i128 {
    let Some(step) = u32::try_from(-digits).ok().and_then(|power| 10_i128.checked_pow(power)) else { return 0 };
    let (whole, left) = (number.div_euclid(step), number.rem_euclid(step));
    let up = match (left * 2).cmp(&step) {
        Ordering::Greater => true,
        Ordering::Equal => has_more || whole % 2 != 0,
        Ordering::Less => false,
    };
    (whole + i128::from(up)) * step
}
