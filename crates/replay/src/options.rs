//! A user's options of a replay, as text with units.

use super::{Direction, Filter, LaneSettings, Me, Settings, Under};
use fairq_sched::registry::{CLASSIFIERS, ClassifierSettings};
use fairq_sched::units::{Limit, Rate, Time};
use fairq_text::{Fault, near_miss};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;

/// The options of a replay; those without a default must be given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The rate of the line, which all packets pass; or else `me`, `down` and `up`.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// The addresses at the user's end of the line, with commas between.
    #[serde(default)]
    pub me: Option<String>,
    /// The rate of the line to the user.
    #[serde(default)]
    pub down: Option<Rate>,
    /// The rate of the line from the user.
    #[serde(default)]
    pub up: Option<Rate>,
    /// The filter of the packets; by default all are replayed.
    #[serde(default)]
    pub only: Option<String>,
    /// The buffer of each gateway, unless a discipline's own text names one.
    pub buffer: Room,
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
    /// What dequeues: a line of fixed rate, or an htb class.
    #[serde(default)]
    pub under: Under,
    /// What a class of htb saves of its rate, as a time.
    #[serde(default)]
    pub class_burst: Time,
}

/// A buffer as it was given: a limit, or what the line sends in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Packets, bytes, or no limit.
    Limit(Limit),
    /// The bytes that the line sends in this time, above zero.
    Time(Time),
}

impl Room {
    /// The limit before a line of this rate.
    #[must_use]
    pub fn before(self, rate: Rate) -> Limit {
        match self {
            Self::Limit(limit) => limit,
            Self::Time(time) => Limit::Bytes((rate.bits_in(time) / 8).max(1)),
        }
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Room {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse::<Time>() {
            Ok(Time::ZERO) => {
                Err(D::Error::custom(format!("`{text}`: a buffer has some room; write for example 50ms")))
            }
            Ok(time) => Ok(Self::Time(time)),
            Err(_) => text.parse().map(Self::Limit).map_err(D::Error::custom),
        }
    }
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

    /// The lines: one, or down and up.
    ///
    /// # Errors
    /// The option that is missing, or that does not go with the others.
    fn lines(&self) -> Result<Vec<(Option<Direction>, Rate)>, Fault> {
        let fault = |path, message: &str| Err(Fault::new(path, message));
        match (self.rate, &self.me, self.down, self.up) {
            (Some(rate), None, None, None) => Ok(vec![(None, rate)]),
            (None, Some(_), Some(down), Some(up)) => Ok(vec![(Some(Direction::Down), down), (Some(Direction::Up), up)]),
            (Some(_), ..) => {
                fault("rate", "is of one line for all packets; give rate alone, or me, down and up without it")
            }
            (None, None, None, None) => fault(
                "rate",
                "is missing; give the rate of the line as 300kbit/s, or me, down and up for both directions",
            ),
            (None, None, ..) => {
                fault("me", "is missing: it says which packets go down and which up; give your address, as 192.168.1.7")
            }
            (None, Some(_), None, _) => fault("down", "is missing; me needs the rates of both directions, as 50Mbit/s"),
            (None, Some(_), Some(_), None) => {
                fault("up", "is missing; me needs the rates of both directions, as 10Mbit/s")
            }
        }
    }

    /// The addresses at the user's end, if they are given.
    ///
    /// # Errors
    /// What is no address.
    pub fn me(&self) -> Result<Option<Me>, Fault> {
        self.me.as_deref().map(Me::read).transpose().map_err(|fault| Fault::new("me", fault))
    }

    /// The filter, if one is given.
    ///
    /// # Errors
    /// The place that is broken, or that a direction is asked for and there is none.
    pub fn filter(&self) -> Result<Option<Filter>, Fault> {
        let filter = self.only.as_deref().map(Filter::read).transpose();
        let filter = filter.map_err(|fault| Fault::new("only", fault))?;
        match filter {
            Some(filter) if filter.asks_direction() && self.me.is_none() => Err(Fault::new(
                "only",
                format!("`{filter}` asks for up or down, which follow from me; give me, down and up"),
            )),
            filter => Ok(filter),
        }
    }

    /// The settings for these options: of one gateway, or of that of down and that of up. Lanes are
    /// named as the disciplines were given, and have no sinks.
    ///
    /// # Errors
    /// The option that is missing or of no use, or the unknown discipline or classifier, with the
    /// near miss.
    pub fn settings(&self) -> Result<Vec<Settings>, Fault> {
        self.lines()?.into_iter().map(|(direction, rate)| self.of_line(direction, rate)).collect()
    }

    fn of_line(&self, direction: Option<Direction>, rate: Rate) -> Result<Settings, Fault> {
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
            let queue = fairq_text::queue_within(&name, Some(self.buffer.before(rate))).map_err(fault)?;
            if let Some(other) = lanes.iter().find(|other| other.queue == queue) {
                let same = if other.name == name { name } else { format!("{} and {name}", other.name) };
                return Err(fault(format!("{same}: the same discipline twice; name each once")));
            }
            lanes.push(LaneSettings { name, queue, sink: None });
        }
        let Self { seed, under, class_burst, fluid: with_fluid, .. } = *self;
        Ok(Settings { rate, direction, classifier, seed, with_fluid, under, class_burst, lanes })
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
        let settings = options.settings().unwrap().remove(0);
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
            (r#""buffer": "0 ms""#, "buffer", "a buffer has some room"),
            (r#""disciplines": ["fqq"]"#, "disciplines", "did you mean fq"),
            (r#""disciplines": ["fq", "fq"]"#, "disciplines", "fq: the same discipline twice"),
            (r#""disciplines": ["fifo", "drr", "fcfs"]"#, "disciplines", "fifo and fcfs: the same"),
            (r#""classifier": "pairs""#, "classifier", "did you mean pair"),
            (r#""gap_max": "10""#, "gap_max", "unit"),
            (r#""gapmax": "10 s""#, "gapmax", "gap_max"),
            (r#""under": "clas""#, "under", "class"),
            (r#""up": "1 Mbit/s""#, "rate", "is of one line for all packets; give rate alone"),
            (r#""me": "10.0.0.1""#, "rate", "give rate alone, or me, down and up without it"),
            (r#""only": "prot 53""#, "only", "at letter 1, `prot` is not understood; did you mean port?"),
            (r#""only": "up and tcp""#, "only", "`up and tcp` asks for up or down, which follow from me"),
        ] {
            let given = [r#""rate": "1 Mbit/s""#, r#""buffer": "unlimited""#, r#""disciplines": ["fifo"]"#];
            let key = change.split(':').next().unwrap();
            let kept = given.iter().copied().filter(|field| !field.starts_with(key));
            let json = format!("{{{}}}", kept.chain([change]).collect::<Vec<_>>().join(", "));
            let fault = match Options::read(&json) {
                Ok(options) => options.settings().err().or_else(|| options.filter().err()).expect(&json),
                Err(fault) => fault,
            };
            assert!(fault.path == path && fault.message.contains(said), "{json}: {fault:?}");
        }
    }

    #[test]
    fn both_directions_need_an_address_and_two_rates() {
        let read = |lines: &str| {
            Options::read(&format!(r#"{{{lines} "buffer": "9packets", "disciplines": ["fifo"]}}"#)).unwrap()
        };
        let options = read(r#""me": "10.0.0.1", "down": "50Mbit/s", "up": "10Mbit/s", "#);
        let lines: Vec<_> =
            options.settings().unwrap().iter().map(|line| (line.direction, line.rate.bit_per_s())).collect();
        assert_eq!(lines, [(Some(Direction::Down), 50_000_000), (Some(Direction::Up), 10_000_000)]);
        let rooms = |room: &str| {
            let text =
                r#"{"me": "10.0.0.1", "down": "50Mbit/s", "up": "10Mbit/s", "disciplines": ["fifo"], "buffer": "#;
            let options = Options::read(&format!("{text}\"{room}\"}}")).unwrap();
            options.settings().unwrap().iter().map(|line| line.lanes[0].queue.limit.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(rooms("50ms"), [Limit::Bytes(312_500), Limit::Bytes(62_500)]);
        assert_eq!(rooms("9packets"), [Limit::Packets(9), Limit::Packets(9)]);
        for (lines, path, said) in [
            ("", "rate", "is missing; give the rate of the line as 300kbit/s, or me, down and up"),
            (r#""me": "10.0.0.1", "#, "down", "is missing; me needs the rates of both"),
            (r#""me": "10.0.0.1", "up": "1 Mbit/s", "#, "down", "is missing"),
            (r#""me": "10.0.0.1", "down": "1 Mbit/s", "#, "up", "is missing"),
            (
                r#""down": "2 Mbit/s", "up": "1 Mbit/s", "#,
                "me",
                "is missing: it says which packets go down and which up",
            ),
        ] {
            let fault = read(lines).settings().err().expect(lines);
            assert!(fault.path == path && fault.message.contains(said), "{lines}: {fault:?}");
        }
        let fault = read(r#""me": "my-laptop", "#).me().unwrap_err();
        assert!(fault.path == "me" && fault.message.contains("`my-laptop` is no address"), "{fault:?}");
    }
}
