//! What the fields of a node or an edge mean, in the formats that let a file name them: GML, GraphML, CSV.
//!
//! Names are those of the Topology Zoo and of common exporters, in any case. A field that fairq does not know is none of
//! its business; one that it knows and cannot read is a warning.

use super::super::Place;
use super::{FoundEdge, FoundNode, capacity, delay_of, number, rate_said, shown};
use fairq_sched::units::{Rate, Time, Weight};

/// The fields of a node or an edge, as text, in the order of the file.
#[derive(Default)]
pub(super) struct Attributes<'a>(pub(super) Vec<(&'a str, &'a str)>);

impl Attributes<'_> {
    /// The first field of one of these names.
    fn any(&self, names: &[&str]) -> Option<&str> {
        let of =
            |name: &&str| self.0.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim());
        names.iter().find_map(of).filter(|value| !value.is_empty())
    }

    /// Reads what is said of a node.
    pub(super) fn describe_node(&self, node: &mut FoundNode, warnings: &mut Vec<String>) {
        // Some exporters write None where there is none.
        if let Some(label) = self.any(&["label", "name"]).filter(|label| *label != "None") {
            node.label = label.to_string();
        }
        let mut coordinates = |names: [&[&str]; 2]| {
            let [first, second] = names.map(|names| self.any(names));
            let numbers = first.and_then(number).zip(second.and_then(number));
            if numbers.is_none() && (first.is_some() || second.is_some()) {
                let said = first.or(second).unwrap_or_default();
                warnings.push(format!("the coordinates of {} are no two numbers: {}", shown(&node.id), shown(said)));
            }
            numbers
        };
        node.place = coordinates([&["latitude", "lat"], &["longitude", "lon", "lng", "long"]])
            .map(|(latitude, longitude)| Place::Globe { latitude, longitude })
            .or_else(|| coordinates([&["x"], &["y"]]).map(|(x, y)| Place::Plane { x, y }));
    }

    /// Reads what is said of an edge.
    pub(super) fn describe_edge(&self, edge: &mut FoundEdge, warnings: &mut Vec<String>) {
        edge.set_rate(self.rate());
        edge.delay = self.delay(warnings);
        if let Some(said) = self.any(&["weight", "metric", "cost"]) {
            edge.weight = number(said).and_then(|number| Weight::from_f64(number).ok());
            if edge.weight.is_none() {
                warnings.push(format!(
                    "a weight is a number from 0.001 to 1000000 in whole thousandths, not {}",
                    shown(said)
                ));
            }
        }
    }

    /// The first rate that is written; why there is none, if something else is written for it.
    fn rate(&self) -> Result<Option<Rate>, String> {
        let mut fault = None;
        let raw = ["linkspeedraw", "rate_bit_per_s", "bandwidth_bit_per_s", "capacity_bit_per_s"];
        let mbit = ["rate_mbit_per_s", "bandwidth_mbit_per_s", "capacity_mbit_per_s"];
        for (names, size) in [(raw.as_slice(), 1.0), (&mbit, 1e6)] {
            if let Some(said) = self.any(names) {
                let Some(number) = number(said) else {
                    fault = Some(format!("a rate in a field with its unit is a number, unlike {}", shown(said)));
                    continue;
                };
                return rate_said(number * size, said);
            }
        }
        if let Some(said) = self.any(&["linkspeed"]) {
            let unit = self.any(&["linkspeedunits"]).and_then(capacity::unit);
            match number(said).zip(unit) {
                Some((speed, unit)) => return rate_said(speed * unit, said),
                None => fault = Some(format!("a LinkSpeed is a number with LinkSpeedUnits, unlike {}", shown(said))),
            }
        }
        if let Some(said) = self.any(&["rate", "bandwidth", "capacity", "speed"]) {
            let rate = said.parse().ok().or_else(|| capacity::of_field(said));
            let fault = || format!("a rate has a unit, as in \"10 Mbit/s\", unlike {}", shown(said));
            return rate.map(Some).ok_or_else(fault);
        }
        // Labels are free text; one that says no rate is no fault.
        let labels = ["linklabel", "linktype", "label"];
        let rate = labels.iter().find_map(|name| capacity::of_label(self.any(&[name])?));
        if rate.is_none() { fault.map_or(Ok(None), Err) } else { Ok(rate) }
    }

    fn delay(&self, warnings: &mut Vec<String>) -> Option<Time> {
        for (name, seconds) in [("delay_s", 1.0), ("latency_s", 1.0), ("delay_ms", 1e-3), ("latency_ms", 1e-3)] {
            if let Some(said) = self.any(&[name]) {
                let delay = number(said).and_then(|delay| delay_of(delay * seconds));
                if delay.is_none() {
                    warnings.push(format!("a delay is a number that is not below zero, unlike {}", shown(said)));
                }
                return delay;
            }
        }
        let said = self.any(&["delay", "latency"])?;
        let delay: Option<Time> = said.parse().ok();
        if delay.is_none() {
            warnings.push(format!("a delay has a unit, as in \"5 ms\", unlike {}", shown(said)));
        }
        delay
    }
}
