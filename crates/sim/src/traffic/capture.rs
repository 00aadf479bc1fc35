//! A recorded capture: every packet at its recorded time less that of the first, with its original
//! length.
//!
//! Use when: packets of a pcap should come at their recorded times. They do not react to the
//! network; for a table of times use `csv`, for traffic that reacts `ftp` or `web`.
//! Source: the file.
//! Chosen: a packet never comes before its predecessor; idle gaps above `gap_max` are cut to it.
//! Cost: O(1) a packet.
//! Bound: none of its own; what the network does has no effect on it.

use super::registry::Context;
use super::{Emission, Lengths, Release, Source, Traffic};
use fairq_link::capture::{CaptureError, Clock, Reader};
use fairq_sched::units::{Bytes, Time};

/// The file and its gaps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// The capture, pcap or pcapng. A relative path starts at the scenario's folder.
    pub file: String,
    /// Idle gaps above this are shortened to it.
    #[cfg_attr(feature = "schema", serde(default = "ten_seconds"))]
    pub gap_max: Time,
}

#[cfg(feature = "schema")]
const fn ten_seconds() -> Time {
    Time::from_s(10)
}

impl Traffic for Settings {
    packets_of_a_file!();

    fn example() -> Self {
        Self { file: "packets.pcap".to_string(), gap_max: Time::from_s(1) }
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        let recorded = Recorded::new(self, context.file.unwrap_or_default(), context.start);
        Ok(Box::new(recorded.map_err(|error| error.to_string())?))
    }
}

/// The packets of a capture.
pub struct Recorded {
    emissions: std::vec::IntoIter<Emission>,
}

impl Recorded {
    /// Reads the capture; its first packet is at `start`.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn new(settings: &Settings, bytes: &[u8], start: Time) -> Result<Self, CaptureError> {
        let mut reader = Reader::new(bytes, &settings.file)?;
        let mut clock = Clock::new(settings.gap_max);
        let mut emissions = Vec::new();
        while let Some(record) = reader.next() {
            let record = record?;
            let time = start.saturating_add(clock.arrival(record.stamp));
            emissions.push(Emission { time, length: record.length });
        }
        if let Some(cut) = reader.take_cut() {
            return Err(cut);
        }
        Ok(Self { emissions: emissions.into_iter() })
    }
}

impl Source for Recorded {
    fn next(&mut self) -> Option<Emission> {
        self.emissions.next()
    }
}
