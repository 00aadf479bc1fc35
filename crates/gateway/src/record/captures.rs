//! Two captures of a line: what came to its queue, and what left it, at the intended times. Packets
//! are as they would be on a wire: whole, with complete checksums and the marks of this line.

use super::{Event, Observer, Seen, What};
use crate::packet::checksum::complete;
use fairq_link::capture::{Frame, LinkType, Stamp, Writer, mark_ce};
use fairq_sched::units::Time;
use std::io::{self, Write};

/// Captures of one line.
pub struct Captures<W> {
    line: u32,
    /// Time zero of the run.
    zero: Stamp,
    arrivals: Option<Writer<W>>,
    departures: Option<Writer<W>>,
    scratch: Vec<u8>,
    fault: Option<io::Error>,
}

impl<W: Write> Captures<W> {
    /// Begins both captures of `line`.
    ///
    /// # Errors
    /// As the sinks.
    pub fn new(line: u32, arrivals: W, departures: W) -> io::Result<Self> {
        let (arrivals, departures) = (Some(Writer::new(arrivals)?), Some(Writer::new(departures)?));
        Ok(Self { line, zero: Stamp(0), arrivals, departures, scratch: Vec::new(), fault: None })
    }
}

impl<W: Write + Send> Observer for Captures<W> {
    fn begin(&mut self, zero: Stamp) {
        self.zero = zero;
    }

    fn event(&mut self, now: Time, event: &Event<'_>) {
        if event.line != self.line || self.fault.is_some() {
            return;
        }
        let sink = match event.what {
            What::Arrived => &mut self.arrivals,
            What::Sent => &mut self.departures,
            What::Dropped(_) | What::Lost | What::Delivered => return,
        };
        let Seen { bytes, checksum, is_marked, .. } = event.packet;
        let data = if checksum.is_none() && !is_marked {
            bytes
        } else {
            self.scratch.clear();
            self.scratch.extend_from_slice(bytes);
            if let Some(place) = checksum {
                complete(&mut self.scratch, place);
            }
            if is_marked {
                mark_ce(LinkType::RAW, &mut self.scratch);
            }
            &self.scratch
        };
        let stamp = Stamp(self.zero.0 + i128::from(now.0));
        let frame = Frame { stamp, length: data.len() as u32, link_type: LinkType::RAW, data };
        if let Some(Err(error)) = sink.as_mut().map(|writer| writer.write(&frame)) {
            self.fault = Some(error);
        }
    }

    fn finish(&mut self, _: Time) -> io::Result<()> {
        if let Some(error) = self.fault.take() {
            return Err(error);
        }
        for writer in [self.arrivals.take(), self.departures.take()].into_iter().flatten() {
            writer.finish()?;
        }
        Ok(())
    }
}
