//! A table of packets: lines of time, flow and bytes.
//!
//! Use when: you have times and sizes of packets from elsewhere. They do not react to the network;
//! for a pcap use `capture`, for traffic that reacts `ftp` or `web`.
//! Source: the file. Commas, semicolons or tabs part its fields. Its first line may be
//! `time,flow,bytes`, in another order, in capitals, or with other columns among them; empty lines
//! and lines that begin with # are left out.
//! Chosen: times are seconds after the flow's start, so that flows that read one file keep their
//! distances if they start together (`start = "0 s"`). Within a flow time does not go back.
//! Cost: O(1) a packet; the file is read whole.
//! Bound: none of its own; what the network does has no effect on it.

use super::registry::Context;
use super::rows::{fields, headed, rows, said_separator};
use super::{Emission, Lengths, Release, Source, Traffic};
use fairq_sched::units::{Bytes, PS_PER_S, Time};

/// The file, and which of its lines.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// The file. A relative path starts at the scenario's folder.
    pub file: String,
    /// Takes the lines of this flow only; by default all lines.
    #[cfg_attr(feature = "schema", serde(default))]
    pub flow: Option<String>,
}

impl Traffic for Settings {
    packets_of_a_file!();

    fn example() -> Self {
        Self { file: "packets.csv".to_string(), flow: Some("a".to_string()) }
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Listed::new(self, context.file.unwrap_or_default(), context.start)?))
    }
}

/// The packets of a table.
pub struct Listed {
    emissions: std::vec::IntoIter<Emission>,
}

impl Listed {
    /// Reads the table; its time zero is `start`.
    ///
    /// # Errors
    /// What is wrong with the file, and in which line.
    pub fn new(settings: &Settings, bytes: &[u8], start: Time) -> Result<Self, String> {
        let file = &settings.file;
        let text = std::str::from_utf8(bytes).map_err(|_| format!("{file} is no text"))?;
        let text = text.trim_start_matches('\u{feff}');
        let columns = Columns::of(text).map_err(|message| format!("{file}, line 1: {message}"))?;
        let mut emissions: Vec<Emission> = Vec::new();
        let mut others: Vec<String> = Vec::new();
        for (number, line) in rows(text).skip(columns.above) {
            let fault = |message: &str| format!("{file}, line {number}: {message}");
            let (time, flow, length) = columns.row(line).map_err(|message| fault(&message))?;
            if settings.flow.as_ref().is_some_and(|wanted| *wanted != flow) {
                if others.len() < FLOWS_NAMED && !others.contains(&flow) {
                    others.push(flow);
                }
                continue;
            }
            let time = start.saturating_add(time);
            if emissions.last().is_some_and(|last| last.time > time) {
                return Err(fault("the time is before that of the flow's packet before"));
            }
            emissions.push(Emission { time, length });
        }
        match &settings.flow {
            Some(flow) if emissions.is_empty() => {
                Err(format!("{file} has no line of the flow {flow}{}", among(&others)))
            }
            None if emissions.is_empty() => {
                Err(format!("{file} has no packet; write lines of time,flow,bytes, like 0.25,a,1000"))
            }
            _ => Ok(Self { emissions: emissions.into_iter() }),
        }
    }
}

/// Where time, flow and bytes stand in a row.
struct Columns {
    separator: char,
    places: [usize; 3],
    /// Fields of a row; with a heading there may be others.
    width: Option<usize>,
    /// Rows above the first packet.
    above: usize,
}

const NAMES: [&str; 3] = ["time", "flow", "bytes"];

impl Columns {
    /// By the heading, if there is one, or else time, flow and bytes.
    fn of(text: &str) -> Result<Self, String> {
        let said = rows(text).next().and_then(|(_, first)| said_separator(first));
        let above = usize::from(said.is_some());
        let first = rows(text).nth(above).map_or("", |(_, first)| first);
        let separator = said.or_else(|| headed(first, names_a_column));
        let parted = |separator: &char| fields(first, *separator).is_ok_and(|fields| fields.len() == NAMES.len());
        let separator = separator.or_else(|| ['\t', ';', ','].into_iter().find(parted)).unwrap_or(',');
        let heading = fields(first, separator).unwrap_or_default();
        if !names_a_column(&heading) {
            return Ok(Self { separator, places: [0, 1, 2], width: Some(NAMES.len()), above });
        }
        let mut places = [0; NAMES.len()];
        for (place, name) in places.iter_mut().zip(NAMES) {
            let at = heading.iter().position(|field| field.eq_ignore_ascii_case(name));
            *place = at.ok_or_else(|| {
                format!("no column {name}; needed are time, flow and bytes, with commas, semicolons or tabs between")
            })?;
        }
        Ok(Self { separator, places, width: None, above: above + 1 })
    }

    /// Time, flow and bytes of a row.
    fn row(&self, line: &str) -> Result<(Time, String, u32), String> {
        let mut fields = fields(line, self.separator)?;
        if self.width.is_some_and(|width| fields.len() != width) || self.places.iter().any(|at| *at >= fields.len()) {
            return Err(format!("write time,flow,bytes, like 0.25,a,1000, not {} fields", fields.len()));
        }
        let [time, flow, length] = self.places.map(|at| std::mem::take(&mut fields[at]));
        // Between semicolons or tabs a comma is the point of a number.
        let length = length.parse().ok().filter(|length| (1..=1 << 20).contains(length));
        let time = self::time(&time.replace(',', "."))?;
        Ok((time, flow, length.ok_or("bytes is a whole number from 1 to 1048576")?))
    }
}

fn names_a_column(fields: &[String]) -> bool {
    fields.iter().any(|field| NAMES.iter().any(|name| field.eq_ignore_ascii_case(name)))
}

/// A time in seconds.
fn time(text: &str) -> Result<Time, String> {
    let seconds = text.trim_start_matches('+');
    // The unit's own parser converts a number to whole picoseconds exactly, or says why it cannot.
    let is_number = seconds.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let read: Option<Time> = if is_number { format!("{seconds} s").parse().ok() } else { None };
    read.ok_or_else(|| {
        if seconds.parse::<f64>().is_ok_and(|seconds| seconds > SECONDS_MAX) {
            return format!(
                "`{text}` is more than 53 days after the flow's start; take the first time from all of them"
            );
        }
        format!("`{text}` is no time in seconds, from 0 on and in whole picoseconds")
    })
}

/// The greatest time, 53 days: beyond it the file probably has times of day, as seconds since 1970.
const SECONDS_MAX: f64 = (u64::MAX / 4) as f64 / PS_PER_S as f64;

/// The most flows that a message names.
const FLOWS_NAMED: usize = 5;

fn among(flows: &[String]) -> String {
    if flows.is_empty() { String::new() } else { format!("; there are {}", flows.join(", ")) }
}

impl Source for Listed {
    fn next(&mut self) -> Option<Emission> {
        self.emissions.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flow: Option<&str>, text: &str) -> Result<Vec<(u64, u32)>, String> {
        let settings = Settings { file: "t.csv".to_string(), flow: flow.map(str::to_string) };
        let listed = Listed::new(&settings, text.as_bytes(), Time(7))?;
        Ok(listed.emissions.map(|emission| (emission.time.0, emission.length)).collect())
    }

    const TABLE: &str = "time,flow,bytes\n# a remark\n0,a,1000\n0.5,\"b\",40\n\n.5 , a, 1\n1e-12,c,1048576\r\n";

    #[test]
    fn a_flow_takes_its_own_lines_and_their_times_exactly() {
        assert_eq!(read(Some("a"), TABLE), Ok(vec![(7, 1000), (500_000_000_007, 1)]));
        assert_eq!(read(Some("b"), TABLE), Ok(vec![(500_000_000_007, 40)]));
        assert_eq!(read(Some("c"), TABLE), Ok(vec![(8, 1 << 20)]));
        assert_eq!(read(None, "0,a,1\n0.1,b,2"), Ok(vec![(7, 1), (100_000_000_007, 2)]));
        for empty in ["", "time,flow,bytes\n", "# none\n\n"] {
            let message = "t.csv has no packet; write lines of time,flow,bytes, like 0.25,a,1000";
            assert_eq!(read(None, empty), Err(message.to_string()));
        }
    }

    #[test]
    fn a_table_of_a_spreadsheet_is_read_as_topologies_are() {
        for text in [
            "Time;Flow;Bytes\n0;a;1000\n0,5;a;40\n",
            "\u{feff}TIME\tFLOW\tBYTES\n0\ta\t1000\n0.5\ta\t40\n",
            "0\ta\t1000\n0.5\ta\t40\n",
            "0;a;1000\n0.5;a;40\n",
            "sep=;\r\nbytes;port;flow;time\r\n1000;80;a;0\r\n40;81;a;0.5\r\n",
        ] {
            assert_eq!(read(Some("a"), text), Ok(vec![(7, 1000), (500_000_000_007, 40)]), "{text}");
        }
        assert_eq!(read(Some("a, \"b\""), "0,\"a, \"\"b\"\"\",9"), Ok(vec![(7, 9)]));
        let said = "t.csv, line 1: no column bytes; needed are time, flow and bytes, with commas, semicolons or tabs \
                    between";
        assert_eq!(read(None, "Time;Flow;Size\n0;a;1\n"), Err(said.to_string()));
    }

    #[test]
    fn a_bad_line_is_named_by_its_number() {
        for (text, message) in [
            ("0,a,1\n1,a", "t.csv, line 2: write time,flow,bytes, like 0.25,a,1000, not 2 fields"),
            ("0,a,1\nx,a,1", "t.csv, line 2: `x` is no time in seconds, from 0 on and in whole picoseconds"),
            ("-1,a,1", "t.csv, line 1: `-1` is no time in seconds, from 0 on and in whole picoseconds"),
            ("1e-13,a,1", "t.csv, line 1: `1e-13` is no time in seconds, from 0 on and in whole picoseconds"),
            (
                "5e6,a,1",
                "t.csv, line 1: `5e6` is more than 53 days after the flow's start; take the first time from all of them",
            ),
            (
                "time,flow,bytes\n1700000000.1,a,1",
                "t.csv, line 2: `1700000000.1` is more than 53 days after the flow's start; take the first time from all of them",
            ),
            (
                "1e99,a,1",
                "t.csv, line 1: `1e99` is more than 53 days after the flow's start; take the first time from all of them",
            ),
            ("NaN,a,1", "t.csv, line 1: `NaN` is no time in seconds, from 0 on and in whole picoseconds"),
            ("1 h,a,1", "t.csv, line 1: `1 h` is no time in seconds, from 0 on and in whole picoseconds"),
            ("0,a,0", "t.csv, line 1: bytes is a whole number from 1 to 1048576"),
            ("\n0,a,2000000", "t.csv, line 2: bytes is a whole number from 1 to 1048576"),
            ("2,a,1\n1,b,1\n1,a,1", "t.csv, line 3: the time is before that of the flow's packet before"),
            ("0,b,1\n0,c,1", "t.csv has no line of the flow a; there are b, c"),
            ("", "t.csv has no line of the flow a"),
        ] {
            assert_eq!(read(Some("a"), text), Err(message.to_string()), "{text}");
        }
        let settings = Settings { file: "t.csv".to_string(), flow: None };
        assert_eq!(Listed::new(&settings, b"\xff\xfe", Time::ZERO).err(), Some("t.csv is no text".to_string()));
    }
}
