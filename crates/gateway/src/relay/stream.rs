//! One direction of a relayed TCP connection: bytes are cut into segments, and what arrives is put
//! in order again. No byte is lost: a segment that is dropped is sent again.

use super::window::Window;
use fairq_sched::units::Time;
use std::collections::{BTreeMap, VecDeque};

/// Bytes of a full segment: what an MTU of 1500 bytes leaves beside [`HEADERS`].
pub(super) const SEGMENT: usize = 1448;
/// Bytes of the headers of IPv4 and TCP with its timestamps.
pub(super) const HEADERS: u32 = 52;
/// Bytes that may be on the way or wait for the reader, as a receive buffer bounds them.
const BUFFER: usize = 4 << 20;
/// The least time to the second sending of a segment.
const PATIENCE_MIN: Time = Time::from_ms(1);

/// A segment that is not acknowledged.
#[derive(Debug)]
struct Segment {
    /// Its bytes, until it arrives; none: the end of the stream.
    bytes: Vec<u8>,
    length: usize,
    sent: Time,
    /// How often it was dropped.
    drops: u32,
}

/// A direction of a connection, with both of its ends.
#[derive(Debug)]
pub(super) struct Stream {
    window: Window,
    next: u64,
    flight: BTreeMap<u64, Segment>,
    flight_bytes: usize,
    /// Smoothed; `None` before the first measurement.
    round_trip: Option<Time>,
    /// The segment that the reader needs next.
    expected: u64,
    /// Segments that came before it.
    early: BTreeMap<u64, Vec<u8>>,
    /// Bytes for the reader, in order.
    ready: VecDeque<u8>,
    early_bytes: usize,
    /// The number of the segment that ends the stream, once it is sent.
    end: Option<u64>,
}

impl Stream {
    pub(super) const fn new() -> Self {
        Self {
            window: Window::new(),
            next: 0,
            flight: BTreeMap::new(),
            flight_bytes: 0,
            round_trip: None,
            expected: 0,
            early: BTreeMap::new(),
            ready: VecDeque::new(),
            early_bytes: 0,
            end: None,
        }
    }

    /// Whether another segment may be sent.
    pub(super) fn has_room(&self) -> bool {
        let held = self.flight_bytes + self.early_bytes + self.ready.len();
        self.end.is_none() && held < BUFFER && self.window.has_room(self.flight.len())
    }

    /// A segment is sent, of no bytes if the stream ends with it. Returns its number and its length
    /// on the line.
    pub(super) fn send(&mut self, now: Time, bytes: Vec<u8>) -> (u64, u32) {
        let (number, length) = (self.next, bytes.len());
        self.next += 1;
        self.end = self.end.or((length == 0).then_some(number));
        self.flight.insert(number, Segment { bytes, length, sent: now, drops: 0 });
        self.flight_bytes += length;
        (number, length as u32 + HEADERS)
    }

    /// The length on the line of a segment that is to be sent again.
    pub(super) fn send_again(&self, number: u64) -> Option<u32> {
        self.flight.get(&number).map(|segment| segment.length as u32 + HEADERS)
    }

    /// A segment has arrived at the reader's end.
    pub(super) fn arrived(&mut self, number: u64) {
        let Some(segment) = self.flight.get_mut(&number) else { return };
        self.early_bytes += segment.length;
        self.early.insert(number, std::mem::take(&mut segment.bytes));
        while let Some(bytes) = self.early.remove(&self.expected) {
            self.early_bytes -= bytes.len();
            self.ready.extend(bytes);
            self.expected += 1;
        }
    }

    /// The sender hears that a segment has arrived.
    pub(super) fn acknowledged(&mut self, now: Time, number: u64) {
        let flight = self.flight.len();
        let Some(segment) = self.flight.remove(&number) else { return };
        self.flight_bytes -= segment.length;
        self.window.acknowledged(flight);
        // What was sent twice measures no round trip (Karn's algorithm, RFC 6298, section 3).
        if segment.drops == 0 {
            let sample = now.saturating_sub(segment.sent);
            let smoothed = |old: Time| Time(old.0 / 8 * 7 + sample.0 / 8);
            self.round_trip = Some(self.round_trip.map_or(sample, smoothed));
        }
    }

    /// A segment was dropped; the time after which it is sent again, where `least` is the round
    /// trip of an empty line.
    pub(super) fn dropped(&mut self, number: u64, least: Time) -> Time {
        let flight = self.flight.len();
        let Some(segment) = self.flight.get_mut(&number) else { return PATIENCE_MIN };
        self.window.dropped(number, self.next, flight, segment.drops > 0);
        segment.drops += 1;
        let patience = self.round_trip.unwrap_or(least).max(least).max(PATIENCE_MIN);
        // Twice as long after each further drop (RFC 6298, section 5.5).
        Time(patience.0.saturating_mul(1 << (segment.drops - 1).min(6)))
    }

    /// Bytes that the reader may take now.
    pub(super) fn ready(&self) -> &[u8] {
        self.ready.as_slices().0
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.ready.drain(..bytes);
    }

    /// Whether the sender has ended the stream and the reader has all of it.
    pub(super) fn is_read(&self) -> bool {
        self.ready.is_empty() && self.end.is_some_and(|end| self.expected > end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_once_and_in_order_whatever_is_dropped() {
        let mut stream = Stream::new();
        let numbers: Vec<u64> = (0..3).map(|at| stream.send(Time::ZERO, vec![at; 2]).0).collect();
        assert_eq!(stream.send(Time::ZERO, Vec::new()), (3, HEADERS));
        assert!(!stream.has_room(), "no segment follows the end");
        let wait = stream.dropped(numbers[0], Time::from_ms(4));
        assert_eq!(wait, Time::from_ms(4));
        for number in [2, 1, 3] {
            stream.arrived(number);
            assert!(stream.ready().is_empty(), "the first is missing");
        }
        assert_eq!(stream.dropped(0, Time::from_ms(4)), Time::from_ms(8));
        assert_eq!(stream.send_again(0), Some(2 + HEADERS));
        stream.arrived(0);
        assert_eq!(stream.ready(), [0, 0, 1, 1, 2, 2]);
        assert!(!stream.is_read());
        stream.take(6);
        assert!(stream.is_read());
    }
}
