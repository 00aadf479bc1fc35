//! What became of the packets of a flow.

use super::unique::Unique;
use crate::packet::Segment;
use fairq_link::sketch::Coarse;
use fairq_sched::units::Time;

/// Counts of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) first: Option<Time>,
    pub(crate) last: Time,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    /// Of these, the bytes behind the headers.
    pub(crate) sent_data: u64,
    pub(crate) retransmitted: u64,
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) good: u64,
    pub(crate) good_bytes: u64,
    /// The lengths of the packets of `good`.
    pub(crate) good_length: u64,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) marked: u64,
    pub(crate) delay: Coarse,
    pub(crate) queueing: Coarse,
    pub(crate) tcp: Option<Box<Tcp>>,
    /// Of `delivered_bytes`, those that a sample has told of.
    pub(crate) sampled_bytes: u64,
}

/// What is known of a direction of a TCP connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tcp {
    sent: Unique,
    delivered: Unique,
    /// The number whose acknowledgement ends a measurement, and when that began.
    probe: Option<(u32, Time)>,
    rtt_sum: u64,
    rtt_count: u64,
    /// Smoothed (RFC 6298): in picoseconds.
    pub(crate) rtt: Option<Time>,
}

impl Tcp {
    /// The mean round-trip time.
    pub(crate) fn rtt_mean(&self) -> Option<f64> {
        (self.rtt_count > 0).then(|| self.rtt_sum as f64 / self.rtt_count as f64 * 1e-12)
    }

    /// An acknowledgement of all before `number` reaches the sender.
    pub(crate) fn acknowledged(&mut self, number: u32, now: Time) {
        let Some((awaited, began)) = self.probe else { return };
        if number.wrapping_sub(awaited).cast_signed() < 0 {
            return;
        }
        self.probe = None;
        let sample = now.saturating_sub(began);
        (self.rtt_sum, self.rtt_count) = (self.rtt_sum.saturating_add(sample.0), self.rtt_count + 1);
        self.rtt = Some(self.rtt.map_or(sample, |before| Time(before.0 - before.0 / 8 + sample.0 / 8)));
    }
}

/// What is counted of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Its length.
    pub(crate) bytes: u32,
    /// Its bytes behind the headers.
    pub(crate) data: u32,
    /// Its numbers, if it is of TCP.
    pub(crate) segment: Option<Segment>,
}

impl Counts {
    /// A packet came from the sender.
    pub(crate) fn sent(&mut self, now: Time, packet: &Counted) {
        self.first.get_or_insert(now);
        self.last = self.last.max(now);
        self.sent += 1;
        self.sent_bytes += u64::from(packet.bytes);
        self.sent_data += u64::from(packet.data);
        let Some(segment) = packet.segment else { return };
        let length = segment.takes[0] + packet.data + segment.takes[1];
        if length == 0 {
            return;
        }
        let tcp = self.tcp.get_or_insert_default();
        let is_again = !tcp.sent.is_beyond(segment.sequence);
        if is_again && tcp.sent.add(segment.sequence, length) < length {
            self.retransmitted += 1;
            // What is acknowledged next may be of either transmission (Karn and Partridge 1987).
            tcp.probe = None;
            return;
        }
        if !is_again {
            tcp.sent.add(segment.sequence, length);
        }
        if tcp.probe.is_none() {
            tcp.probe = Some((segment.sequence.wrapping_add(length), now));
        }
    }

    /// A packet is given to the receiver, after `delay` in all and `queueing` in queues.
    pub(crate) fn delivered(&mut self, now: Time, packet: &Counted, delay: Time, queueing: Time) {
        self.last = self.last.max(now);
        self.delivered += 1;
        self.delivered_bytes += u64::from(packet.bytes);
        self.delay.add(delay.0);
        self.queueing.add(queueing.0);
        if packet.data == 0 {
            return;
        }
        let new = match packet.segment {
            Some(segment) => {
                let tcp = self.tcp.get_or_insert_default();
                tcp.delivered.add(segment.sequence.wrapping_add(segment.takes[0]), packet.data)
            }
            None => packet.data,
        };
        self.good_bytes += u64::from(new);
        self.good += u64::from(new > 0);
        self.good_length += if new > 0 { packet.bytes.into() } else { 0 };
    }

    /// Adds the counts of a flow that is told apart no more.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.first = match (self.first, other.first) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.last = self.last.max(other.last);
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.sent_data += other.sent_data;
        self.retransmitted += other.retransmitted;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.good += other.good;
        self.good_bytes += other.good_bytes;
        self.good_length += other.good_length;
        self.dropped += other.dropped;
        self.lost += other.lost;
        self.marked += other.marked;
        self.delay.merge(&other.delay);
        self.queueing.merge(&other.queueing);
    }
}
