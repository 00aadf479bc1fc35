//! The log of a line in the format of Mahimahi's `mm-link`, whose scripts plot it.
//!
//! Source: Mahimahi, `link_queue.cc`: a line is the time in milliseconds, a sign, and numbers: `+`
//! bytes came, `#` bytes might leave (an opportunity), `-` bytes left after a delay in
//! milliseconds, `d` packets and bytes were dropped. The header lines are the front's.
//! Departs: of a line with a constant rate there are no opportunities in the log.

use super::{Event, Observer, What};
use fairq_link::trace::DeliveryTrace;
use fairq_sched::units::{PS_PER_S, Time};
use std::io::{self, Write};
use std::sync::Arc;

/// Bytes of an opportunity in the log.
const OPPORTUNITY: u32 = 1504;

/// The log of one line.
pub struct EventLog<W> {
    line: u32,
    sink: W,
    trace: Option<Arc<DeliveryTrace>>,
    /// Opportunities that were told of.
    told: u64,
    /// Added to the length of each packet: what Mahimahi's device puts before it.
    extra: u32,
    /// Whether the delay of the line behind the queue is no part of a packet's delay; it never is.
    fault: Option<io::Error>,
}

impl<W: Write> EventLog<W> {
    /// The log of `line`; of one with a delivery trace the opportunities are told too. `extra` is
    /// added to the length of each packet.
    #[must_use]
    pub const fn new(line: u32, trace: Option<Arc<DeliveryTrace>>, extra: u32, sink: W) -> Self {
        Self { line, sink, trace, told: 0, extra, fault: None }
    }

    /// Tells of the opportunities up to `now`.
    fn opportunities(&mut self, now: Time) -> io::Result<()> {
        let Some(trace) = &self.trace else { return Ok(()) };
        let past = trace.up_to(now);
        while self.told < past {
            let at = trace.time(self.told);
            writeln!(self.sink, "{} # {OPPORTUNITY}", in_ms(at))?;
            self.told += 1;
        }
        Ok(())
    }

    fn write(&mut self, now: Time, event: &Event<'_>) -> io::Result<()> {
        let (ms, bytes) = (in_ms(now), event.packet.length + self.extra);
        match event.what {
            What::Arrived => {
                // What comes in the instant of an opportunity may use it.
                self.opportunities(Time(now.0.saturating_sub(1)))?;
                writeln!(self.sink, "{ms} + {bytes}")
            }
            What::Sent => {
                self.opportunities(now)?;
                let delay = ms - in_ms(event.packet.arrived).min(ms);
                writeln!(self.sink, "{ms} - {bytes} {delay}")
            }
            What::Dropped(_) => writeln!(self.sink, "{ms} d 1 {bytes}"),
            What::Lost | What::Delivered => Ok(()),
        }
    }
}

const fn in_ms(time: Time) -> u64 {
    time.0 / (PS_PER_S / 1000)
}

impl<W: Write + Send> Observer for EventLog<W> {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        if event.line == self.line
            && self.fault.is_none()
            && let Err(error) = self.write(now, event)
        {
            self.fault = Some(error);
        }
    }

    fn finish(&mut self, now: Time) -> io::Result<()> {
        if let Some(error) = self.fault.take() {
            return Err(error);
        }
        self.opportunities(now)?;
        self.sink.flush()
    }
}
