//! The bytes of a capture, counted, with errors that know the place.

use super::CaptureError;
use std::io::{BufReader, Read};

/// Bytes asked of the system at once.
const BUFFER: usize = 64 * 1024;

/// A source that counts what was taken from it.
pub(super) struct Source<R> {
    inner: BufReader<R>,
    name: String,
    /// Bytes taken so far.
    pub(super) read: u64,
    /// Packets delivered so far; an error tells them.
    pub(super) packets: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(inner: R, name: &str) -> Self {
        Self { inner: BufReader::with_capacity(BUFFER, inner), name: name.to_owned(), read: 0, packets: 0 }
    }

    /// Appends up to `wanted` bytes; fewer only at the end of the source. The buffer grows with
    /// what is there, not with what is claimed, so a lie about a length costs no memory.
    pub(super) fn append_some(&mut self, wanted: usize, buffer: &mut Vec<u8>) -> Result<usize, CaptureError> {
        let start = buffer.len();
        let outcome = (&mut self.inner).take(wanted as u64).read_to_end(buffer);
        let got = buffer.len() - start;
        self.read += got as u64;
        outcome.map_err(|cause| self.io(cause))
    }

    /// Appends exactly `wanted` bytes.
    pub(super) fn append(&mut self, wanted: usize, buffer: &mut Vec<u8>) -> Result<(), CaptureError> {
        if self.append_some(wanted, buffer)? == wanted { Ok(()) } else { Err(self.cut()) }
    }

    /// Passes over exactly `wanted` bytes without keeping them.
    pub(super) fn skip(&mut self, wanted: u64) -> Result<(), CaptureError> {
        let mut left = (&mut self.inner).take(wanted);
        let outcome = std::io::copy(&mut left, &mut std::io::sink());
        let passed = wanted - left.limit();
        self.read += passed;
        outcome.map_err(|cause| self.io(cause))?;
        if passed == wanted { Ok(()) } else { Err(self.cut()) }
    }

    fn cut(&self) -> CaptureError {
        CaptureError::Cut { name: self.name(), packets: self.packets, byte: self.read }
    }

    fn io(&self, cause: std::io::Error) -> CaptureError {
        CaptureError::Io { name: self.name(), byte: self.read, cause }
    }

    pub(super) fn name(&self) -> String {
        self.name.clone()
    }

    pub(super) fn bad_length(&self, byte: u64, length: u64, problem: &'static str) -> CaptureError {
        CaptureError::Length { name: self.name(), byte, length, problem }
    }

    pub(super) fn bad_block(&self, byte: u64, problem: &'static str) -> CaptureError {
        CaptureError::Block { name: self.name(), byte, problem }
    }

    pub(super) fn bad_link_type(&self, number: u32) -> CaptureError {
        CaptureError::LinkType { name: self.name(), number }
    }
}
