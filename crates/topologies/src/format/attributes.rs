//! The fields of a node or an edge, in the formats that let a file name them: GML, GraphML, CSV.
//!
//! Names are those of the Topology Zoo and of common exporters, in any case. An unknown field is
//! ignored; a known field with an unreadable value is a warning.

use super::{FoundEdge, FoundNode, capacity, delay_of, figures, number, rate_said, shown};
use fairq_experiment::topology::Place;
use fairq_sched::units::{Rate, Time, Weight};
use std::borrow::Cow;

/// Fields and their values.
pub(super) type Fields<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// The fields of a node or an edge, as text.
#[derive(Default)]
pub(super) struct Attributes<'a> {
    /// The fields of the node or edge itself.
    pub(super) own: Fields<'a>,
    /// Defaults of the file for nodes or edges without a field of their own.
    pub(super) defaults: Fields<'a>,
}

impl<'a> Attributes<'a> {
    pub(super) fn own(own: Fields<'a>) -> Self {
        Self { own, defaults: Vec::new() }
    }

    /// The result of `of` on its own fields, or else on these and the defaults together.
    ///
    /// A default may complete a field, like the unit of a number. But a default rate in bit/s does
    /// not replace an own rate in Mbit/s.
    fn first<T>(&self, of: impl Fn(&[&Fields<'a>]) -> Result<Option<T>, String>) -> Result<Option<T>, String> {
        match of(&[&self.own]) {
            Ok(Some(found)) => Ok(Some(found)),
            said if self.defaults.is_empty() => said,
            _ => of(&[&self.own, &self.defaults]),
        }
    }

    /// Reads the fields of a node.
    pub(super) fn describe_node(&self, node: &mut FoundNode, warnings: &mut Vec<String>) {
        let all = [&self.own, &self.defaults];
        // Some exporters write None for a missing value.
        if let Some(label) = any(&all, &["label", "name"]).filter(|label| *label != "None") {
            node.label = label.to_string();
        }
        let mut place = |names: [&[&str]; 2], place: fn(f64, f64) -> Place| {
            let found = self.first(|fields| {
                let [first, second] = names.map(|names| any(fields, names));
                let numbers = first.and_then(number).zip(second.and_then(number));
                let Some(said) = first.or(second).filter(|_| numbers.is_none()) else { return Ok(numbers) };
                Err(format!("the coordinates of {} are no two numbers: {}", shown(&node.id), shown(said)))
            });
            told(found, warnings).map(|(first, second)| place(first, second))
        };
        node.place = place([&["latitude", "lat"], &["longitude", "lon", "lng", "long"]], |latitude, longitude| {
            Place::Globe { latitude, longitude }
        })
        .or_else(|| place([&["x"], &["y"]], |x, y| Place::Plane { x, y }));
    }

    /// Reads the fields of an edge.
    pub(super) fn describe_edge(&self, edge: &mut FoundEdge, warnings: &mut Vec<String>) {
        let rate = self.first(rate);
        // Labels are free text; a label without a rate is no fault.
        let guess = || self.first(|fields| Ok(guess(fields))).ok().flatten();
        match rate {
            Ok(Some(_)) => edge.set_rate(rate),
            _ => match guess() {
                Some((rate, label)) => (edge.rate, edge.guessed_from) = (Some(rate), Some(label)),
                None => edge.set_rate(rate),
            },
        }
        edge.delay = told(self.first(delay), warnings);
        edge.weight = told(self.first(weight), warnings);
    }
}

/// The value; a fault becomes a warning.
fn told<T>(found: Result<Option<T>, String>, warnings: &mut Vec<String>) -> Option<T> {
    found.unwrap_or_else(|fault| {
        warnings.push(fault);
        None
    })
}

/// The first field of one of these names that is not empty.
fn any<'f>(fields: &[&'f Fields<'_>], names: &[&str]) -> Option<&'f str> {
    let of = |name: &&str| {
        let mut named =
            fields.iter().flat_map(|fields| fields.iter()).filter(|(key, _)| key.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    names.iter().find_map(of)
}

/// The first rate that is written; an error if another value is written for it.
fn rate(fields: &[&Fields<'_>]) -> Result<Option<Rate>, String> {
    let mut fault = None;
    let raw = ["linkspeedraw", "rate_bit_per_s", "bandwidth_bit_per_s", "capacity_bit_per_s"];
    let mbit = ["rate_mbit_per_s", "bandwidth_mbit_per_s", "capacity_mbit_per_s"];
    for (names, size) in [(raw.as_slice(), 1.0), (&mbit, 1e6)] {
        if let Some(said) = any(fields, names) {
            let Some(number) = number(said) else {
                fault = Some(format!("a rate in a field with its unit is a number, unlike {}", shown(said)));
                continue;
            };
            return rate_said(number * size, said);
        }
    }
    if let Some(said) = any(fields, &["linkspeed"]) {
        let unit = any(fields, &["linkspeedunits"]).and_then(capacity::unit);
        match number(said).zip(unit) {
            Some((speed, unit)) => return rate_said(speed * unit, said),
            None => fault = Some(format!("a LinkSpeed is a number with LinkSpeedUnits, unlike {}", shown(said))),
        }
    }
    if let Some(said) = any(fields, &["rate", "bandwidth", "capacity", "speed"]) {
        let plain = figures::plain(said).map_err(|either| format!("the rate {either}"))?;
        let rate = plain.parse().ok().or_else(|| capacity::of_field(&plain));
        let fault = || format!("a rate has a unit, as in \"10 Mbit/s\", unlike {}", shown(said));
        return rate.map(Some).ok_or_else(fault);
    }
    fault.map_or(Ok(None), Err)
}

/// The rate in a label, and the label.
fn guess(fields: &[&Fields<'_>]) -> Option<(Rate, String)> {
    let labels: Vec<&str> = ["linklabel", "linktype", "label"].iter().filter_map(|name| any(fields, &[name])).collect();
    capacity::of_labels(&labels).map(|(rate, label)| (rate, label.to_string()))
}

fn delay(fields: &[&Fields<'_>]) -> Result<Option<Time>, String> {
    for (name, seconds) in [("delay_s", 1.0), ("latency_s", 1.0), ("delay_ms", 1e-3), ("latency_ms", 1e-3)] {
        if let Some(said) = any(fields, &[name]) {
            let delay = number(said).and_then(|delay| delay_of(delay * seconds));
            let fault = || format!("a delay is a number that is not below zero, unlike {}", shown(said));
            return delay.map(Some).ok_or_else(fault);
        }
    }
    let Some(said) = any(fields, &["delay", "latency"]) else { return Ok(None) };
    let plain = figures::plain(said).map_err(|either| format!("the delay {either}"))?;
    plain.parse().map(Some).map_err(|_| format!("a delay has a unit, as in \"5 ms\", unlike {}", shown(said)))
}

fn weight(fields: &[&Fields<'_>]) -> Result<Option<Weight>, String> {
    let Some(said) = any(fields, &["weight", "metric", "cost"]) else { return Ok(None) };
    let weight = number(said).and_then(|number| Weight::from_f64(number).ok());
    let fault = || format!("a weight is a number from 0.001 to 1000000 in whole thousandths, not {}", shown(said));
    weight.map(Some).ok_or_else(fault)
}
