//! The writer: pcapng in nanoseconds, as Wireshark opens it.
//!
//! Source: draft-ietf-opsawg-pcapng, section 4: one section, an interface for each link type that
//! occurs, enhanced packet blocks. All numbers are little-endian.

use super::reader::{Frame, LENGTH_MAX, LinkType};
use std::io::{Error, ErrorKind, Write};

/// Writes frames as pcapng. The sink should be buffered: a frame is a few small writes.
pub struct Writer<W> {
    sink: W,
    /// The link types met so far, in the order of their interfaces.
    interfaces: Vec<LinkType>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture in `sink`.
    ///
    /// # Errors
    /// As the sink.
    pub fn new(mut sink: W) -> std::io::Result<Self> {
        let mut body = Vec::new();
        body.extend(0x1a2b_3c4d_u32.to_le_bytes());
        // Version 1.0.
        body.extend(1_u16.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        // The length of the section is not known yet.
        body.extend((-1_i64).to_le_bytes());
        option(&mut body, 4, b"fairq");
        option(&mut body, 0, b"");
        write_block(&mut sink, 0x0a0d_0d0a, &[&body])?;
        Ok(Self { sink, interfaces: Vec::new() })
    }

    /// Appends a frame. Its stamp is rounded down to a nanosecond.
    ///
    /// # Errors
    /// If the stamp is before 1970 or after 2554, the link type above 65535, or the data longer
    /// than [`LENGTH_MAX`], none of which the format or its readers can hold; else as the sink.
    pub fn write(&mut self, frame: &Frame<'_>) -> std::io::Result<()> {
        let refuse = |what: String| Error::new(ErrorKind::InvalidInput, what);
        let stamp = u64::try_from(frame.stamp.0.div_euclid(1000))
            .map_err(|_| refuse(format!("a stamp of {} ps does not fit pcapng", frame.stamp.0)))?;
        if frame.data.len() > LENGTH_MAX as usize {
            return Err(refuse(format!("a packet of {} bytes is longer than {LENGTH_MAX}", frame.data.len())));
        }
        let interface = self.interface_of(frame.link_type)?;
        let captured = frame.data.len() as u32;
        let fields = [interface, (stamp >> 32) as u32, stamp as u32, captured, frame.length];
        let mut fixed = [0; 20];
        for (bytes, field) in fixed.chunks_exact_mut(4).zip(fields) {
            bytes.copy_from_slice(&field.to_le_bytes());
        }
        write_block(&mut self.sink, 6, &[&fixed, frame.data])
    }

    /// Flushes the sink and gives it back.
    ///
    /// # Errors
    /// As the sink.
    pub fn finish(mut self) -> std::io::Result<W> {
        self.sink.flush()?;
        Ok(self.sink)
    }

    /// The number of the interface for `link_type`, which is described first if it is new.
    fn interface_of(&mut self, link_type: LinkType) -> std::io::Result<u32> {
        if let Some(number) = self.interfaces.iter().position(|known| *known == link_type) {
            return Ok(number as u32);
        }
        let number = u16::try_from(link_type.0)
            .map_err(|_| Error::new(ErrorKind::InvalidInput, format!("link type {} has not 16 bits", link_type.0)))?;
        let mut body = Vec::new();
        body.extend(number.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        // No limit to the captured length.
        body.extend(0_u32.to_le_bytes());
        // if_tsresol: 10^-9 s.
        option(&mut body, 9, &[9]);
        option(&mut body, 0, b"");
        write_block(&mut self.sink, 1, &[&body])?;
        self.interfaces.push(link_type);
        Ok(self.interfaces.len() as u32 - 1)
    }
}

/// An option: code, length, value, padding.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// A block: type, length, parts one after the other, padding, length again.
fn write_block(sink: &mut impl Write, kind: u32, parts: &[&[u8]]) -> std::io::Result<()> {
    let content: usize = parts.iter().map(|part| part.len()).sum();
    let padding = content.next_multiple_of(4) - content;
    // At most LENGTH_MAX and a few dozen, so it fits.
    let length = ((content + padding + 12) as u32).to_le_bytes();
    sink.write_all(&kind.to_le_bytes())?;
    sink.write_all(&length)?;
    for part in parts {
        sink.write_all(part)?;
    }
    sink.write_all(&[0; 3][..padding])?;
    sink.write_all(&length)
}
