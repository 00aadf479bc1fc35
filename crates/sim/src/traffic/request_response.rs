//! Request and response: each connection thinks, gets a response, and thinks again.
//!
//! Use when: a fixed number of users wait for each answer, so that the load falls when the line
//! slows down. For arrivals that do not wait use `flow_arrivals`.
//! Source: the closed loop of users at terminals (machine repair, or interactive system, of
//! queueing texts).
//! Chosen: the request itself is not sent; the data goes from source to sink as that of every flow.
//! The first response begins at the connection's start, without a time to think before it. Each
//! connection has a stream of its own.
//! Cost: O(log count) a transfer.
//! Bound: never more than `count` transfers in progress; none is refused.

use super::distribution::{Distribution, Sampler};
use super::registry::Entry;
use super::{Transfer, TransferSettings, Transfers};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How much, and how long between.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// The distribution of a response's bytes on the line.
    pub size: Distribution<Bytes>,
    /// The distribution of the time from the end of a response to the beginning of the next.
    #[cfg_attr(feature = "schema", serde(default = "a_second"))]
    pub think: Distribution<Time>,
    /// Bytes of a packet of IP; the last packet is the rest; the default depends on the edition.
    #[cfg_attr(feature = "schema", serde(default))]
    pub packet: Option<Bytes>,
}

#[cfg(feature = "schema")]
const fn a_second() -> Distribution<Time> {
    Distribution::exponential(Time::from_s(1))
}

impl TransferSettings for Settings {
    transfers_in_packets!();

    fn fault(&self) -> Option<&'static str> {
        self.size.fault().or_else(|| self.think.fault())
    }

    fn example() -> Self {
        let (size, think) = (Distribution::constant(Bytes(10_000)), Distribution::exponential(Time::from_ms(300)));
        Self { size, think, packet: Some(Bytes(1000)) }
    }

    fn transfers(&self, entry: Entry) -> Box<dyn Transfers> {
        Box::new(RequestResponse::new(self, &entry.starts, entry.streams))
    }
}

/// Connections that think, by the time at which each finishes thinking.
pub struct RequestResponse {
    size: Sampler,
    think: Sampler,
    thinking: BinaryHeap<Reverse<(Time, u32)>>,
    streams: Vec<Stream>,
}

impl RequestResponse {
    /// One connection for each start and stream.
    #[must_use]
    pub fn new(settings: &Settings, starts: &[Time], streams: Vec<Stream>) -> Self {
        let thinking = starts.iter().zip(0..).map(|(start, copy)| Reverse((*start, copy))).collect();
        Self { size: settings.size.sampler(), think: settings.think.sampler(), thinking, streams }
    }
}

impl Transfers for RequestResponse {
    fn next_time(&self) -> Time {
        self.thinking.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
    }

    fn begin(&mut self, _now: Time) -> Option<Transfer> {
        let Reverse((_, copy)) = self.thinking.pop()?;
        let bytes = self.size.draw_bytes(&mut self.streams[copy as usize]);
        Some(Transfer { bytes, copy: Some(copy), tag: copy })
    }

    fn ended(&mut self, now: Time, tag: u32) {
        let think = self.think.draw_time(&mut self.streams[tag as usize]);
        self.thinking.push(Reverse((now.saturating_add(think), tag)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_response_begins_when_the_time_to_think_is_over() {
        let (size, think) = (Distribution::constant(Bytes(500)), Distribution::constant(Time(30)));
        let settings = Settings { size, think, packet: Some(Bytes(1000)) };
        let streams = (0..2).map(|k| Stream::new(1, &format!("{k}"))).collect();
        let mut source = RequestResponse::new(&settings, &[Time(20), Time(10)], streams);
        assert_eq!(source.next_time(), Time(10));
        assert_eq!(source.begin(Time(10)), Some(Transfer { bytes: 500, copy: Some(1), tag: 1 }));
        source.ended(Time(15), 1);
        assert_eq!(source.next_time(), Time(20));
        assert_eq!(source.begin(Time(20)).map(|transfer| transfer.tag), Some(0));
        assert_eq!(source.next_time(), Time(45));
        assert_eq!(source.begin(Time(45)).map(|transfer| transfer.tag), Some(1));
        assert_eq!((source.next_time(), source.begin(Time(50))), (Time::NEVER, None));
    }
}
