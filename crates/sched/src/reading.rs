//! What a discipline shows of itself: numbers with their names and units, as `tc -s` does.

use crate::slots::Slot;
use crate::units::Rate;
use alloc::borrow::Cow;
use alloc::format;

/// The unit of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things that its name says, or a ratio.
    None,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Bit/s.
    BitPerS,
}

impl Unit {
    /// The unit as tables write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Packets => "packets",
            Self::Bytes => "bytes",
            Self::Seconds => "s",
            Self::BitPerS => "bit/s",
        }
    }
}

/// The value of a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number, exact.
    Count(u128),
    /// Any other number.
    Real(f64),
}

impl Value {
    /// As a real number.
    #[must_use]
    pub const fn real(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Real(value) => value,
        }
    }
}

/// A number that a discipline shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading<'a> {
    /// What it is of; ends in the unit where other names of the discipline are told apart by it.
    pub name: &'a str,
    /// Its unit.
    pub unit: Unit,
    /// The number: since the start if it is a count.
    pub value: Value,
    /// The queue, class or tin of which it is; `None` if it is of the whole discipline.
    pub queue: Option<&'a str>,
    /// The slot of the flow of which it is, if it is of one.
    pub flow: Option<Slot>,
}

impl<'a> Reading<'a> {
    /// A number of the whole discipline.
    #[must_use]
    pub const fn real(name: &'a str, unit: Unit, value: f64) -> Self {
        Self { name, unit, value: Value::Real(value), queue: None, flow: None }
    }

    /// A whole number of the whole discipline.
    #[must_use]
    pub fn count(name: &'a str, unit: Unit, count: impl Into<u128>) -> Self {
        Self { name, unit, value: Value::Count(count.into()), queue: None, flow: None }
    }

    /// The same of the queue called `queue`.
    #[must_use]
    pub const fn of_queue(self, queue: &'a str) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// Of what it is, in words: the name of the queue, `flow` with the number of its slot; empty if
    /// it is of the whole discipline.
    #[must_use]
    pub fn part(&self) -> Cow<'a, str> {
        match (self.queue, self.flow) {
            (Some(queue), _) => Cow::Borrowed(queue),
            (None, Some(flow)) => Cow::Owned(format!("flow {flow}")),
            (None, None) => Cow::Borrowed(""),
        }
    }

    /// The same of the flow in slot `flow`.
    #[must_use]
    pub const fn of_flow(self, flow: Slot) -> Self {
        Self { flow: Some(flow), ..self }
    }
}

/// Shows at what rates the flows in slots 0, 1 … ask to be paced.
pub(crate) fn show_paces(rates: impl Iterator<Item = Option<Rate>>, visit: &mut dyn FnMut(Reading<'_>)) {
    for (flow, rate) in (0..).zip(rates) {
        if let Some(rate) = rate {
            visit(Reading::count("pace_bit_per_s", Unit::BitPerS, rate.bit_per_s()).of_flow(flow));
        }
    }
}

/// The readings of a part that shows nothing.
macro_rules! no_readings {
    () => {
        fn readings(&self, _now: crate::units::Time, _visit: &mut dyn FnMut(crate::reading::Reading<'_>)) {}
    };
}
pub(crate) use no_readings;
