//! A table of packets: lines of time, flow and bytes.
//!
//! Use when: you have times and sizes of packets from elsewhere. They do not react to the network;
//! for a pcap use `capture`, for traffic that reacts `ftp` or `web`.
//! Source: the file. Its first line may be `time,flow,bytes`; empty lines and lines that begin
//! with # are left out.
//! Chosen: times are seconds after the flow's start, so that flows that read one file keep their
//! distances if they start together (`start = "0 s"`). Within a flow time does not go back.
//! Cost: O(1) a packet; the file is read whole.
//! Bound: none of its own; what the network does has no effect on it.

use super::registry::Context;
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
    fn release(&self) -> Release {
        Release::Stream
    }

    fn lengths(&self) -> Lengths<'_> {
        Lengths::InFile(&self.file)
    }

    fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        None
    }

    fn demand(&self) -> Option<f64> {
        None
    }

    fn fault(&self) -> Option<&'static str> {
        None
    }

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
        let mut emissions: Vec<Emission> = Vec::new();
        let mut others: Vec<&str> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let fault = |message: &str| format!("{file}, line {number}: {message}");
            let Some((time, flow, length)) = row(line, number).map_err(|message| fault(&message))? else { continue };
            if settings.flow.as_ref().is_some_and(|wanted| wanted != flow) {
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

/// Time, flow and bytes of a line; `None` if it holds no packet.
fn row(line: &str, number: usize) -> Result<Option<(Time, &str, u32)>, String> {
    let line = line.trim().trim_start_matches('\u{feff}');
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let fields: Vec<&str> = line.split(',').map(|field| field.trim().trim_matches('"')).collect();
    let [time, flow, length] = fields[..] else {
        return Err(format!("write time,flow,bytes, like 0.25,a,1000, not {} fields", fields.len()));
    };
    if number == 1 && [time, flow, length] == ["time", "flow", "bytes"] {
        return Ok(None);
    }
    let seconds = time.trim_start_matches('+');
    // The unit's own parser converts a number to whole picoseconds exactly, or says why it cannot.
    let is_number = seconds.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let read: Option<Time> = if is_number { format!("{seconds} s").parse().ok() } else { None };
    let time = read.ok_or_else(|| {
        if seconds.parse::<f64>().is_ok_and(|seconds| seconds > SECONDS_MAX) {
            return format!(
                "`{time}` is more than 53 days after the flow's start; take the first time from all of them"
            );
        }
        format!("`{time}` is no time in seconds, from 0 on and in whole picoseconds")
    })?;
    let length = length.parse().ok().filter(|length| (1..=1 << 20).contains(length));
    let length = length.ok_or_else(|| "bytes is a whole number from 1 to 1048576".to_string())?;
    Ok(Some((time, flow, length)))
}

/// The greatest time, 53 days: beyond it the file probably has times of day, as seconds since 1970.
const SECONDS_MAX: f64 = (u64::MAX / 4) as f64 / PS_PER_S as f64;

/// The most flows that a message names.
const FLOWS_NAMED: usize = 5;

fn among(flows: &[&str]) -> String {
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
