//! Flow arrivals: transfers of random sizes begin at random times, independent of earlier
//! transfers.
//!
//! Use when: you ask for completion times at a load that does not slow down with the line. If users
//! wait for their answers use `request_response`; for pages of objects, `web`.
//! Source: Poisson arrivals of flows with a peak rate, as in Kortebi, Muscariello, Oueslati and
//! Roberts, SIGMETRICS 2005, and in later work on fair queueing and buffers; under a fair line they
//! are a processor-sharing queue.
//! Chosen: a transfer takes the connection (of the entry's `count`) that has been idle longest;
//! with none idle it is refused and counted. The peak rate of each transfer is its connection's
//! access line: `access = { rate = "1 Mbit/s" }`. Arrivals and sizes have separate random streams,
//! so that another distribution of sizes does not change the arrivals.
//! Cost: O(1) a transfer.
//! Bound: none of its own. Under ideal sharing and load ρ the mean number in progress is ρ / (1 −
//! ρ), whatever the distribution of sizes
//! (transfers.rs: a_fair_line_holds_as_many_transfers_as_processor_sharing).

use super::distribution::{Distribution, Sampler};
use super::registry::Entry;
use super::{Transfer, TransferSettings, Transfers};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Rate, Time};

/// How often, and how much.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Settings {
    /// The distribution of a transfer's bytes on the line: a size, or `exponential`, `pareto`,
    /// `lognormal`, `table`.
    pub size: Distribution<Bytes>,
    /// The mean rate of all transfers together; this or `mean_gap`.
    #[cfg_attr(feature = "schema", serde(default))]
    pub rate: Option<Rate>,
    /// The factor of `rate`: if `rate` is that of the line, this is the load.
    #[cfg_attr(feature = "schema", serde(default = "one"))]
    pub load: f64,
    /// Mean time between arrivals, instead of `rate`.
    #[cfg_attr(feature = "schema", serde(default))]
    pub mean_gap: Option<Time>,
    /// Bytes of a packet of IP; the last packet is the rest; the default depends on the edition.
    #[cfg_attr(feature = "schema", serde(default))]
    pub packet: Option<Bytes>,
}

#[cfg(feature = "schema")]
const fn one() -> f64 {
    1.0
}

impl TransferSettings for Settings {
    transfers_in_packets!();

    fn fault(&self) -> Option<&'static str> {
        if self.rate.is_some() == self.mean_gap.is_some() {
            return Some("give either the rate of all transfers together or mean_gap, the mean time between them");
        }
        if !(self.load > 0.0 && self.load <= 1e6) || (self.mean_gap.is_some() && self.load != 1.0) {
            return Some("load goes with rate, and is above 0 and at most 1000000");
        }
        let gap_s = self.size.fault().map_or_else(|| self.mean_gap_s(), |_| 1.0);
        self.size.fault().or_else(|| (gap_s < 1e-9).then_some("transfers come at most once a nanosecond on average"))
    }

    fn example() -> Self {
        let (size, rate) = (Distribution::exponential(Bytes(20_000)), Rate::new(1_000_000));
        Self { size, rate, load: 0.5, mean_gap: None, packet: Some(Bytes(1000)) }
    }

    fn transfers(&self, entry: Entry) -> Box<dyn Transfers> {
        Box::new(FlowArrivals::new(self, entry.start(), entry.stream))
    }
}

impl Settings {
    /// The mean gap in seconds.
    fn mean_gap_s(&self) -> f64 {
        let rate = self.rate.map_or(f64::INFINITY, |rate| rate.bit_per_s() as f64 * self.load);
        self.mean_gap.map_or_else(|| self.size.mean() * 8.0 / rate, Time::as_s)
    }
}

/// Transfers at exponential intervals.
pub struct FlowArrivals {
    mean_gap_s: f64,
    size: Sampler,
    next: Time,
    gaps: Stream,
    sizes: Stream,
}

impl FlowArrivals {
    /// The first transfer begins a random time after `start`.
    #[must_use]
    pub fn new(settings: &Settings, start: Time, mut stream: Stream) -> Self {
        let sizes = Stream::new(stream.bits(), "sizes");
        let (mean_gap_s, size) = (settings.mean_gap_s(), settings.size.sampler());
        let mut this = Self { mean_gap_s, size, next: start, gaps: stream, sizes };
        this.advance();
        this
    }

    fn advance(&mut self) {
        self.next = self.next.saturating_add(Time::from_s_f64(self.gaps.exponential(self.mean_gap_s)));
    }
}

impl Transfers for FlowArrivals {
    fn next_time(&self) -> Time {
        self.next
    }

    fn begin(&mut self, _now: Time) -> Option<Transfer> {
        self.advance();
        Some(Transfer { bytes: self.size.draw_bytes(&mut self.sizes), copy: None, tag: 0 })
    }

    fn ended(&mut self, _now: Time, _tag: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_is_load_times_rate() {
        let size = Distribution::exponential(Bytes(10_000));
        let rate = Rate::new(1_000_000);
        let settings = Settings { size, rate, load: 0.8, mean_gap: None, packet: Some(Bytes(1000)) };
        let mut source = FlowArrivals::new(&settings, Time::from_s(5), Stream::new(1, "test"));
        assert!(source.next_time() > Time::from_s(5));
        let n = 50_000;
        let bytes: u64 = (0..n).map(|_| source.begin(source.next_time()).unwrap().bytes).sum();
        let found = bytes as f64 * 8.0 / (source.next_time() - Time::from_s(5)).as_s();
        // A sum of exponential sizes over one of exponential gaps: relative deviation sqrt(2/n).
        assert!((found / 800_000.0 - 1.0).abs() < 4.0 * (2.0 / f64::from(n)).sqrt(), "{found}");
    }

    #[test]
    fn another_law_of_sizes_leaves_the_arrivals() {
        let times = |size: Distribution<Bytes>| {
            let mean_gap = Some(Time::from_ms(10));
            let settings = Settings { size, rate: None, load: 1.0, mean_gap, packet: Some(Bytes(1000)) };
            let mut source = FlowArrivals::new(&settings, Time::ZERO, Stream::new(1, "test"));
            let times: Vec<Time> =
                (0..100).filter_map(|_| source.begin(Time::ZERO).map(|_| source.next_time())).collect();
            times
        };
        assert_eq!(times(Distribution::constant(Bytes(10))), times(Distribution::pareto(Bytes(10_000), 1.2)));
    }
}
