//! Lines whose capacity follows a recorded delivery trace: when their opportunities to deliver
//! come, and what each takes.
//!
//! Source: Netravali and others, "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015
//! (the program `mm-link`): each line of the file is a millisecond at which 1500 bytes may leave;
//! several lines with the same number are several opportunities; after its last number the file
//! begins again, there.
//! Departs: an opportunity is 1500 bytes of what the scenario calls a packet's length; Mahimahi's
//! is 1504, which makes up for the header of its own tunnel device.
//! Chosen: a packet leaves when the opportunity comes that takes its last byte. What is left of an
//! opportunity goes to the packets behind it in the same instant and is else lost, as is an
//! opportunity that finds nothing waiting. A packet that arrives in the instant of an opportunity
//! may use it.
//! Cost: O(1) for an opportunity, O(log lines) after the line was idle.

use fairq_sched::units::{PS_PER_S, Rate, Time};
use std::fmt;
use std::sync::Arc;

/// Bytes of an opportunity.
pub const OPPORTUNITY: u32 = 1500;

const PS_PER_MS: u64 = PS_PER_S / 1000;

/// A recorded trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// Milliseconds, never falling; the last is above zero.
    times: Vec<u64>,
    mean: Rate,
}

/// What is wrong with the text of a trace, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, if one is at fault.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "{line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for TraceError {}

impl DeliveryTrace {
    /// Reads a trace: a whole number of milliseconds in each line.
    ///
    /// # Errors
    /// A trace that is empty, goes backwards, takes no time, or holds something else than numbers.
    pub fn parse(bytes: &[u8]) -> Result<Self, TraceError> {
        // A quarter of the range of times, as for all times of a scenario.
        const LATEST: u64 = u64::MAX / 4 / PS_PER_MS;
        let mut times = Vec::new();
        let mut before = 0;
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let fault = |message: String| Err(TraceError { line: Some(at + 1), message });
            let number = std::str::from_utf8(line).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let Some(time) = number.and_then(|text| text.parse::<u64>().ok()).filter(|time| *time <= LATEST) else {
                let word: String = String::from_utf8_lossy(line).escape_debug().take(40).collect();
                return fault(format!("a line is a whole number of milliseconds, at most 53 days, not `{word}`"));
            };
            if time < before {
                return fault(format!(
                    "the trace goes backwards, from {before} to {time}; if its file is cut, leave this line out"
                ));
            }
            before = time;
            times.push(time);
        }
        let fault = |message: &str| Err(TraceError { line: None, message: message.to_string() });
        let (Some(period), opportunities) = (times.last().copied(), times.len() as u128) else {
            return fault("the trace is empty; a line is a millisecond at which 1500 bytes may leave");
        };
        if period == 0 {
            return fault("the trace takes no time; its last line is above 0");
        }
        let bit_per_s = opportunities * u128::from(OPPORTUNITY) * 8 * 1000 / u128::from(period);
        let Some(mean) = u64::try_from(bit_per_s).ok().and_then(Rate::new) else {
            return fault("the mean rate of the trace is below 1 bit/s or above 10 Tbit/s");
        };
        Ok(Self { times, mean })
    }

    /// Bits per second over the whole trace, rounded down: the line's nominal rate.
    #[must_use]
    pub const fn mean(&self) -> Rate {
        self.mean
    }

    fn period(&self) -> u64 {
        self.times.last().copied().unwrap_or(1)
    }

    /// When opportunity `number` comes, the first being 0; [`Time::NEVER`] if that is beyond all
    /// times.
    #[must_use]
    pub fn time(&self, number: u64) -> Time {
        let many = self.times.len() as u64;
        let ms = (number / many).checked_mul(self.period()).map(|past| past + self.times[(number % many) as usize]);
        Time(ms.and_then(|ms| ms.checked_mul(PS_PER_MS)).unwrap_or(u64::MAX))
    }

    /// The number of the first opportunity that does not come before `now`.
    fn first_from(&self, now: Time) -> u64 {
        let ms = now.0.div_ceil(PS_PER_MS);
        // The round that ends at `ms` or later and has begun before; its last opportunity is not
        // before `ms`.
        let round = ms.div_ceil(self.period()).saturating_sub(1);
        let within = ms - round * self.period();
        round * self.times.len() as u64 + self.times.partition_point(|time| *time < within) as u64
    }

    /// How many opportunities come up to `now`, that instant included.
    #[must_use]
    pub fn up_to(&self, now: Time) -> u64 {
        self.first_from(now.saturating_add(Time(1)))
    }
}

/// The transmitter of a line that follows a trace.
#[derive(Clone, Debug)]
pub struct Opportunities {
    trace: Arc<DeliveryTrace>,
    /// The first opportunity of which nothing was used.
    next: u64,
    /// When the one before it came, and the bytes that are left of it.
    at: Time,
    left: u32,
    /// The time from which on the line is free.
    free: Time,
    /// The present transmission: the next opportunity and what was left of the last when it began,
    /// and its bytes.
    began: (u64, u32, u32),
}

impl Opportunities {
    /// An idle line that follows `trace` from time zero.
    #[must_use]
    pub const fn new(trace: Arc<DeliveryTrace>) -> Self {
        Self { trace, next: 0, at: Time::ZERO, left: 0, free: Time::ZERO, began: (0, 0, 0) }
    }

    /// The trace that it follows.
    #[must_use]
    pub fn trace(&self) -> &DeliveryTrace {
        &self.trace
    }

    /// The line, idle until now, becomes busy.
    pub const fn begin(&mut self, now: Time) {
        self.free = now;
    }

    /// Sends `bits`, to whole bytes, right after what was sent before; when that ends.
    pub fn send(&mut self, bits: u64) -> Time {
        if self.at < self.free {
            self.left = 0;
            if self.trace.time(self.next) < self.free {
                self.next = self.trace.first_from(self.free);
            }
        }
        let mut open = u32::try_from(bits.div_ceil(8)).unwrap_or(u32::MAX);
        self.began = (self.next, self.left, open);
        while open > self.left {
            open -= self.left;
            self.at = self.trace.time(self.next);
            self.next += 1;
            self.left = OPPORTUNITY;
        }
        self.left -= open;
        self.at = self.at.max(self.free);
        self.free = self.at;
        self.at
    }

    /// Stops the present transmission, which would have ended after now; the bits that are left to
    /// send. The line is idle after it.
    pub fn interrupt(&mut self, now: Time) -> u32 {
        let open = self.open_bytes(now);
        self.next = self.began.0.max(self.trace.up_to(now));
        (self.left, self.at, self.free) = (0, now, now);
        open.max(1).saturating_mul(8)
    }

    /// The bytes of the present transmission that are left to send. An opportunity of this instant
    /// has been used by it.
    #[must_use]
    pub fn open_bytes(&self, now: Time) -> u32 {
        let (next, left, bytes) = self.began;
        let used = self.trace.up_to(now).saturating_sub(next).saturating_mul(OPPORTUNITY.into());
        bytes.saturating_sub(left).saturating_sub(u32::try_from(used).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Arc<DeliveryTrace> {
        Arc::new(DeliveryTrace::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn a_line_for_each_millisecond_is_12_megabits_per_second() {
        let text: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
        let trace = trace(&text);
        assert_eq!(trace.mean(), Rate::new(12_000_000).unwrap());
        let mut line = Opportunities::new(trace);
        line.begin(Time::ZERO);
        // Whole packets leave one a millisecond, over the end of the file too.
        for ms in 1..=5000 {
            assert_eq!(line.send(1500 * 8), Time::from_ms(ms));
        }
    }

    #[test]
    fn bytes_are_counted_and_what_is_not_used_is_lost() {
        let mut line = Opportunities::new(trace("2\n2\n5\n9\n"));
        line.begin(Time::ZERO);
        // Three packets of 1000 bytes share the two opportunities of the second millisecond.
        assert_eq!([0; 3].map(|_| line.send(8000)), [Time::from_ms(2); 3]);
        // A longer one takes the next two, and leaves 500 bytes, which are gone later.
        assert_eq!(line.send(2500 * 8), Time::from_ms(9));
        line.begin(Time::from_ms(9));
        assert_eq!(line.send(500 * 8), Time::from_ms(9));
        line.begin(Time::from_ms(10));
        assert_eq!(line.send(8), Time::from_ms(11));
        // What comes in the instant of an opportunity may use it; a picosecond later it is gone.
        line.begin(Time::from_ms(14));
        assert_eq!(line.send(8), Time::from_ms(14));
        line.begin(Time(Time::from_ms(20).0 + 1));
        assert_eq!(line.send(8), Time::from_ms(23));
    }

    #[test]
    fn an_interrupted_packet_keeps_what_is_left_of_it() {
        let mut line = Opportunities::new(trace("1\n2\n3\n"));
        line.begin(Time::ZERO);
        assert_eq!(line.send(4000 * 8), Time::from_ms(3));
        assert_eq!(line.interrupt(Time::from_ms(2)), 1000 * 8);
        line.begin(Time::from_ms(2));
        assert_eq!(line.send(1500 * 8), Time::from_ms(3));
        assert_eq!(line.send(1000 * 8), Time::from_ms(4));
    }

    /// A slow oracle, opportunity by opportunity: each gives its bytes to the packets that have
    /// arrived by then.
    #[test]
    fn drawn_packets_leave_as_they_do_opportunity_by_opportunity() {
        let mut state = 5u64;
        let mut draw = |bound: u64| {
            state = fairq_sched::hash::splitmix(state);
            state % bound
        };
        for _ in 0..300 {
            let mut ms = draw(3);
            let mut text = String::new();
            for _ in 0..1 + draw(6) {
                ms += draw(4);
                text += &format!("{ms}\n");
            }
            let Ok(trace) = DeliveryTrace::parse(text.as_bytes()) else { continue };
            let trace = Arc::new(trace);
            let mut arrivals: Vec<(u64, u32)> =
                (0..20).map(|_| (draw(60) * PS_PER_MS / 2, 1 + draw(4000) as u32)).collect();
            arrivals.sort_unstable();
            // By opportunities.
            let mut expected = Vec::new();
            let (mut number, mut left, mut at) = (0, 0, Time::ZERO);
            for (arrival, bytes) in &arrivals {
                let mut open = *bytes;
                if at < Time(*arrival) {
                    left = 0;
                }
                loop {
                    let used = open.min(left);
                    (open, left) = (open - used, left - used);
                    if open == 0 {
                        break;
                    }
                    at = trace.time(number);
                    number += 1;
                    left = if at < Time(*arrival) { 0 } else { OPPORTUNITY };
                }
                expected.push(at);
            }
            let mut line = Opportunities::new(Arc::clone(&trace));
            let mut end = Time::ZERO;
            for ((arrival, bytes), expected) in arrivals.iter().zip(expected) {
                if end <= Time(*arrival) {
                    line.begin(Time(*arrival));
                }
                end = line.send(u64::from(*bytes) * 8);
                assert_eq!(end, expected, "{text} {arrivals:?}");
            }
        }
    }

    #[test]
    fn opportunities_are_counted_over_many_rounds() {
        let trace = trace("0\n3\n3\n7\n");
        for number in 0..100 {
            let first = (0..).find(|other| trace.time(*other) >= trace.time(number)).unwrap();
            assert_eq!(trace.first_from(trace.time(number)), first);
            assert_eq!(trace.up_to(trace.time(number)), (0..).find(|n| trace.time(*n) > trace.time(number)).unwrap());
        }
        assert_eq!(trace.time(u64::MAX), Time::NEVER);
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        for (text, said) in [
            ("", "the trace is empty; a line is a millisecond at which 1500 bytes may leave"),
            ("\n \n", "the trace is empty; a line is a millisecond at which 1500 bytes may leave"),
            ("0\n0\n", "the trace takes no time; its last line is above 0"),
            ("1\n5\n4\n", "3: the trace goes backwards, from 5 to 4; if its file is cut, leave this line out"),
            ("1\nx\n", "2: a line is a whole number of milliseconds, at most 53 days, not `x`"),
            ("-1\n", "1: a line is a whole number of milliseconds, at most 53 days, not `-1`"),
            ("1.5\n", "1: a line is a whole number of milliseconds, at most 53 days, not `1.5`"),
            ("99999999999\n", "1: a line is a whole number of milliseconds, at most 53 days, not `99999999999`"),
        ] {
            assert_eq!(DeliveryTrace::parse(text.as_bytes()).unwrap_err().to_string(), said);
        }
        assert!(DeliveryTrace::parse(b"\xff\n").is_err());
        assert_eq!(DeliveryTrace::parse(b"5\r\n").unwrap().mean(), Rate::new(2_400_000).unwrap());
    }
}
