//! Incast: all connections send at one instant, and again when the last of them has finished.
//!
//! Use when: many servers answer one client at once, as in storage clusters. For transfers that
//! begin at random times use `flow_arrivals`.
//! Source: Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse in
//! Cluster-based Storage Systems", FAST 2008: a client asks all servers for a block's parts and
//! waits for all of them. The size of a part is from memory and therefore a setting.
//! Chosen: the requests themselves are not sent; a round begins `gap` after the end of the one
//! before.
//! Cost: O(1) a transfer.
//! Bound: never more than `count` transfers in progress; none is refused.

use super::distribution::{Distribution, Sampler};
use super::registry::Entry;
use super::{Transfer, TransferSettings, Transfers};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Time};

/// How much, and how often.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// The distribution of the bytes of each connection in a round, on the line.
    #[cfg_attr(feature = "schema", serde(default = "a_quarter_of_a_mebibyte"))]
    pub size: Distribution<Bytes>,
    /// From the end of a round to the beginning of the next.
    #[cfg_attr(feature = "schema", serde(default))]
    pub gap: Time,
    /// The number of rounds; by default they do not end.
    #[cfg_attr(feature = "schema", serde(default))]
    pub rounds: Option<u64>,
    /// Bytes of a packet of IP; the last packet is the rest; the default depends on the edition.
    #[cfg_attr(feature = "schema", serde(default))]
    pub packet: Option<Bytes>,
}

/// The part of a block at each server.
#[cfg(feature = "schema")]
const fn a_quarter_of_a_mebibyte() -> Distribution<Bytes> {
    Distribution::constant(Bytes(256 * 1024))
}

impl TransferSettings for Settings {
    transfers_in_packets!();

    fn fault(&self) -> Option<&'static str> {
        self.size.fault()
    }

    fn example() -> Self {
        let (size, gap) = (Distribution::exponential(Bytes(30_000)), Time::from_ms(1));
        Self { size, gap, rounds: Some(5), packet: Some(Bytes(1000)) }
    }

    fn transfers(&self, entry: Entry) -> Box<dyn Transfers> {
        Box::new(Incast::new(self, entry.starts.len() as u32, entry.start(), entry.stream))
    }
}

/// Rounds of one transfer for each connection.
pub struct Incast {
    size: Sampler,
    gap: Time,
    /// Rounds that are still to begin.
    rounds: u64,
    copies: u32,
    /// When the next transfer begins.
    next: Time,
    /// In the present round: transfers that began, and transfers in progress.
    begun: u32,
    in_progress: u32,
    stream: Stream,
}

impl Incast {
    /// The first round begins at `start`.
    #[must_use]
    pub fn new(settings: &Settings, copies: u32, start: Time, stream: Stream) -> Self {
        let rounds = settings.rounds.unwrap_or(u64::MAX);
        let next = if rounds == 0 { Time::NEVER } else { start };
        Self {
            size: settings.size.sampler(),
            gap: settings.gap,
            rounds,
            copies,
            next,
            begun: 0,
            in_progress: 0,
            stream,
        }
    }
}

impl Transfers for Incast {
    fn next_time(&self) -> Time {
        self.next
    }

    fn begin(&mut self, _now: Time) -> Option<Transfer> {
        let copy = self.begun;
        self.begun += 1;
        self.in_progress += 1;
        if self.begun == self.copies {
            self.rounds = self.rounds.saturating_sub(1);
            self.next = Time::NEVER;
        }
        Some(Transfer { bytes: self.size.draw_bytes(&mut self.stream), copy: Some(copy), tag: copy })
    }

    fn ended(&mut self, now: Time, _tag: u32) {
        self.in_progress -= 1;
        if self.in_progress == 0 && self.begun == self.copies && self.rounds > 0 {
            self.begun = 0;
            self.next = now.saturating_add(self.gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_waits_for_the_last_of_the_one_before() {
        let size = Distribution::constant(Bytes(7));
        let settings = Settings { size, gap: Time(5), rounds: Some(2), packet: Some(Bytes(1000)) };
        let mut source = Incast::new(&settings, 3, Time(100), Stream::new(1, "test"));
        for round in [100, 205] {
            for copy in 0..3 {
                assert_eq!(source.next_time(), Time(round));
                assert_eq!(source.begin(Time(round)), Some(Transfer { bytes: 7, copy: Some(copy), tag: copy }));
            }
            for (copy, end) in [(2, 150), (0, 160), (1, 200)] {
                assert_eq!(source.next_time(), Time::NEVER);
                source.ended(Time(end), copy);
            }
        }
        assert_eq!(source.next_time(), Time::NEVER, "two rounds were asked for");
    }
}
