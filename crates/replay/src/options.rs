//! A user's options of a replay, as text with units.

use super::{LaneSettings, Settings, Under};
use fairq_sched::registry::{CLASSIFIERS, ClassifierSettings};
use fairq_sched::units::{Limit, Rate, Time};
use fairq_text::{Fault, near_miss};
use serde::Deserialize;
use serde_json::Value;

/// The options of a replay; those without a default must be given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The rate of the line.
    pub rate: Rate,
    /// The buffer of each gateway, unless a discipline's own text names one.
    pub buffer: Limit,
    /// The disciplines: names, or text forms like `fq(delta=1000B) + port_pair`.
    pub disciplines: Vec<String>,
    /// What a flow is, in the rows of all disciplines and for those without a classifier; by
    /// default each discipline uses its own, also for its rows.
    #[serde(default)]
    pub classifier: Option<String>,
    /// Idle gaps of the capture above this are shortened to it.
    #[serde(default = "ten_seconds")]
    pub gap_max: Time,
    /// The folder for the outcome of each packet.
    #[serde(default)]
    pub out: Option<String>,
    /// Whether lateness against the fluid is measured.
    #[serde(default = "yes")]
    pub fluid: bool,
    /// The seed of all random numbers and hashes inside a discipline.
    #[serde(default)]
    pub seed: u64,
    /// What asks the disciplines for packets.
    #[serde(default)]
    pub under: Under,
    /// What a class of htb saves of its rate, as a time.
    #[serde(default)]
    pub class_burst: Time,
}

const fn ten_seconds() -> Time {
    Time::from_s(10)
}

const fn yes() -> bool {
    true
}

impl Options {
    /// Reads options from a JSON object.
    ///
    /// # Errors
    /// The field that is missing, unknown or malformed, and what to write instead.
    pub fn read(json: &str) -> Result<Self, Fault> {
        let tree: Value = serde_json::from_str(json).map_err(|error| Fault::new("", error.to_string()))?;
        fairq_text::typed(&tree)
    }

    /// The settings for these options. Lanes are named as the disciplines were given, and have no
    /// sinks.
    ///
    /// # Errors
    /// The unknown discipline or classifier, with the near miss.
    pub fn settings(&self) -> Result<Settings, Fault> {
        let known = |name: &String| {
            ClassifierSettings::by_name(name.trim()).ok_or_else(|| {
                let known = CLASSIFIERS.iter().map(|card| card.name);
                Fault::new("classifier", format!("`{name}` is no classifier{}", near_miss(name, known)))
            })
        };
        let classifier = self.classifier.as_ref().map(known).transpose()?;
        let fault = |message: String| Fault::new("disciplines", message);
        let mut lanes: Vec<LaneSettings> = Vec::new();
        for given in &self.disciplines {
            // The same text form for the same discipline, whatever its spacing.
            let name = fairq_text::outside_brackets(given, '+').collect::<Vec<_>>().join(" + ");
            let queue = fairq_text::queue_within(&name, Some(self.buffer)).map_err(fault)?;
            if let Some(other) = lanes.iter().find(|other| other.queue == queue) {
                let same = if other.name == name { name } else { format!("{} and {name}", other.name) };
                return Err(fault(format!("{same}: the same discipline twice; name each once")));
            }
            lanes.push(LaneSettings { name, queue, sink: None });
        }
        let Self { rate, seed, under, class_burst, fluid: with_fluid, .. } = *self;
        Ok(Settings { rate, classifier, seed, with_fluid, under, class_burst, lanes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_with_their_defaults() {
        let json = r#"{"rate": "300kbit/s", "buffer": "40packets", "disciplines": ["fcfs", " fq+7packets", "blue(increment=1e+0)"]}"#;
        let options = Options::read(json).unwrap();
        assert_eq!((options.gap_max, options.fluid, options.seed), (Time::from_s(10), true, 0));
        let settings = options.settings().unwrap();
        let lanes: Vec<_> = settings.lanes.iter().map(|lane| (lane.name.as_str(), lane.queue.limit)).collect();
        assert_eq!(
            lanes,
            [
                ("fcfs", Some(Limit::Packets(40))),
                ("fq + 7packets", Some(Limit::Packets(7))),
                ("blue(increment=1e+0)", Some(Limit::Packets(40)))
            ]
        );
    }

    #[test]
    fn a_wrong_option_is_said_with_its_name_and_the_remedy() {
        for (change, path, said) in [
            (r#""rate": "300""#, "rate", "unit"),
            (r#""rate": "0 bit/s""#, "rate", "above zero"),
            (r#""buffer": "0packets""#, "buffer", "at least 1 packet"),
            (r#""disciplines": ["fqq"]"#, "disciplines", "did you mean fq"),
            (r#""disciplines": ["fq", "fq"]"#, "disciplines", "fq: the same discipline twice"),
            (r#""disciplines": ["fifo", "drr", "fcfs"]"#, "disciplines", "fifo and fcfs: the same"),
            (r#""classifier": "pairs""#, "classifier", "did you mean pair"),
            (r#""gap_max": "10""#, "gap_max", "unit"),
            (r#""gapmax": "10 s""#, "gapmax", "gap_max"),
            (r#""under": "clas""#, "under", "class"),
        ] {
            let given = [r#""rate": "1 Mbit/s""#, r#""buffer": "unlimited""#, r#""disciplines": ["fifo"]"#];
            let key = change.split(':').next().unwrap();
            let kept = given.iter().copied().filter(|field| !field.starts_with(key));
            let json = format!("{{{}}}", kept.chain([change]).collect::<Vec<_>>().join(", "));
            let fault = match Options::read(&json) {
                Ok(options) => options.settings().err().expect(&json),
                Err(fault) => fault,
            };
            assert!(fault.path == path && fault.message.contains(said), "{json}: {fault:?}");
        }
    }
}
