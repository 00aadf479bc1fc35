//! What a relay has counted, as a document. Times are those at which packets left and arrived by
//! the line's clock, not those at which the machine got round to them.

use fairq_link::sketch::Coarse;
use fairq_sched::units::{Rate, Time};
use serde_json::{Value, json};

/// Bytes of the packet whose time on the line lateness is compared with.
const PACKET_BITS: u64 = 1500 * 8;

/// Packets and their bytes, headers included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    packets: u64,
    bytes: u64,
}

impl Counted {
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// One direction of a conversation.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Packets that came to the queue.
    pub(super) arrived: Counted,
    /// Packets that the queue dropped.
    pub(super) dropped: Counted,
    /// Packets that were lost behind the queue.
    pub(super) lost: Counted,
    /// Packets among those that came, that were sent again.
    pub(super) retransmitted: Counted,
    delivered: Counted,
    /// The first that arrived: when, and its bytes.
    first: Option<(Time, u32)>,
    last: Time,
    /// Nanoseconds from the queue to the arrival.
    delays: Coarse,
    delay_min: Option<Time>,
}

impl Tally {
    pub(super) fn delivered(&mut self, sent: Time, at: Time, bytes: u32) {
        self.delivered.add(bytes);
        self.first = self.first.or(Some((at, bytes)));
        self.last = self.last.max(at);
        let delay = at.saturating_sub(sent);
        self.delays.add(delay.0 / 1000);
        self.delay_min = Some(self.delay_min.map_or(delay, |least| least.min(delay)));
    }

    /// Between the first and the last arrival.
    fn throughput(&self) -> Option<f64> {
        let (first, bytes) = self.first?;
        let bits = 8 * (self.delivered.bytes - u64::from(bytes));
        (self.last > first).then(|| bits as f64 / self.last.saturating_sub(first).as_s())
    }

    pub(super) fn document(&self, protocol: &str, direction: &str, ends: [String; 2]) -> Value {
        let [source, destination] = ends;
        json!({
            "protocol": protocol,
            "direction": direction,
            "source": source,
            "destination": destination,
            "arrived_packets": self.arrived.packets,
            "arrived_bytes": self.arrived.bytes,
            "delivered_packets": self.delivered.packets,
            "delivered_bytes": self.delivered.bytes,
            "dropped_packets": self.dropped.packets,
            "lost_packets": self.lost.packets,
            "retransmitted_packets": self.retransmitted.packets,
            "throughput_bit_per_s": self.throughput(),
            "first_s": self.first.map(|(at, _)| at.as_s()),
            "last_s": self.first.map(|_| self.last.as_s()),
            "delay_s_min": self.delay_min.map(Time::as_s),
            "delay_s_mean": self.delays.mean().map(|mean| mean / 1e9),
            "delay_s_max": seconds(self.delays.greatest()),
        })
    }
}

/// How late packets were handed over, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Lateness(Coarse);

impl Lateness {
    pub(super) fn add(&mut self, late: Time) {
        self.0.add(late.0 / 1000);
    }

    pub(super) fn document(&self) -> Value {
        let at = |part| seconds(self.0.quantile(part));
        json!({
            "p50_s": at(0.5),
            "p99_s": at(0.99),
            "p999_s": at(0.999),
            "max_s": seconds(self.0.greatest()),
            "writes": self.0.count(),
        })
    }

    /// In words: whether packets were handed over in time, on a line whose faster direction has
    /// this rate.
    pub(super) fn stamp(&self, rate: Rate, refused: u64) -> String {
        let mut reasons = Vec::new();
        // A line without a rate has no packet time; a millisecond is what a test can tell.
        let packet = if rate == Rate::MAX { Time::from_ms(1) } else { rate.time_of_bits(PACKET_BITS) };
        if let Some(late) = self.0.quantile(0.999).filter(|late| *late > packet.0 / 1000) {
            let [late, packet] = [late / 1000, packet.0 / 1_000_000];
            reasons.push(format!("99.9th percentile of lateness above one packet time ({late} us > {packet} us)"));
        }
        if refused > 0 {
            reasons.push(format!("{refused} connections or clients that the relay could not take"));
        }
        if reasons.is_empty() { "valid".into() } else { format!("doubtful: {}", reasons.join("; ")) }
    }
}

fn seconds(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e9)
}
