//! A split virtqueue (virtio 1.2, section 2.7) in the memory of a kernel that stands still while
//! the queue is looked at. The memory is read and written through its file: a call each, and no
//! pointer into what another process writes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const NEXT: u16 = 1;
const WRITABLE: u16 = 2;
const NO_INTERRUPT: u16 = 1;

/// The kernel's memory.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) file: File,
    /// Address of its first byte.
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    /// Where in the file it begins.
    pub(crate) offset: u64,
}

impl Memory {
    fn place(&self, address: u64, length: usize) -> io::Result<u64> {
        let inside = address
            .checked_sub(self.base)
            .filter(|&inside| inside.checked_add(length as u64).is_some_and(|end| end <= self.bytes));
        match inside {
            Some(inside) => Ok(self.offset + inside),
            None => Err(bad("an address outside the memory that the kernel shares")),
        }
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, self.place(address, bytes.len())?)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.place(address, bytes.len())?)
    }

    fn u16(&self, address: u64) -> io::Result<u16> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the host's kernel gave {what}"))
}

/// A queue's place and what has been taken of it.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    pub(crate) size: u16,
    pub(crate) descriptors: u64,
    pub(crate) used: u64,
    pub(crate) available: u64,
    pub(crate) taken: u16,
    given: u16,
    pub(crate) is_on: bool,
}

/// A buffer of the queue: its number and its pieces.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    head: u16,
    /// Address and length.
    pieces: Vec<(u64, u32)>,
}

impl Ring {
    /// Takes the next buffer; all its pieces must be for writing, or all for reading.
    pub(crate) fn take(&mut self, memory: &Memory, for_writing: bool) -> io::Result<Option<Buffer>> {
        if !self.is_on || self.size == 0 || memory.u16(self.available + 2)? == self.taken {
            return Ok(None);
        }
        let slot = u64::from(self.taken % self.size);
        let head = memory.u16(self.available + 4 + 2 * slot)?;
        self.taken = self.taken.wrapping_add(1);
        let mut buffer = Buffer { head, pieces: Vec::new() };
        let mut at = head;
        loop {
            if at >= self.size || buffer.pieces.len() >= usize::from(self.size) {
                return Err(bad("a chain of buffers without an end"));
            }
            let mut bytes = [0; 16];
            memory.read(self.descriptors + 16 * u64::from(at), &mut bytes)?;
            let [address @ .., l0, l1, l2, l3, f0, f1, n0, n1] = bytes;
            let flags = u16::from_le_bytes([f0, f1]);
            if (flags & WRITABLE != 0) != for_writing || flags & !(NEXT | WRITABLE) != 0 {
                return Err(bad("a buffer of another kind"));
            }
            let length = u32::from_le_bytes([l0, l1, l2, l3]);
            buffer.pieces.push((u64::from_le_bytes(address), length));
            if flags & NEXT == 0 {
                return Ok(Some(buffer));
            }
            at = u16::from_le_bytes([n0, n1]);
        }
    }

    /// Gives a buffer back, of which this number of bytes were written.
    pub(crate) fn give(&mut self, memory: &Memory, buffer: &Buffer, wrote: u32) -> io::Result<()> {
        let slot = u64::from(self.given % self.size);
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&u32::from(buffer.head).to_le_bytes());
        bytes[4..].copy_from_slice(&wrote.to_le_bytes());
        memory.write(self.used + 4 + 8 * slot, &bytes)?;
        self.given = self.given.wrapping_add(1);
        memory.write(self.used + 2, &self.given.to_le_bytes())
    }

    /// Whether the kernel wants to hear that buffers came back.
    pub(crate) fn wants_call(&self, memory: &Memory) -> io::Result<bool> {
        Ok(memory.u16(self.available)? & NO_INTERRUPT == 0)
    }
}

impl Buffer {
    /// Its bytes, at most as many as `into` has room for.
    pub(crate) fn read(&self, memory: &Memory, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        for &(address, length) in &self.pieces {
            let room = into.len() - filled;
            let length = (length as usize).min(room);
            memory.read(address, &mut into[filled..filled + length])?;
            filled += length;
        }
        Ok(filled)
    }

    /// Writes into it what has room.
    pub(crate) fn write(&self, memory: &Memory, mut bytes: &[u8]) -> io::Result<u32> {
        let mut wrote = 0;
        for &(address, length) in &self.pieces {
            let length = (length as usize).min(bytes.len());
            let (now, rest) = bytes.split_at(length);
            memory.write(address, now)?;
            wrote += length as u32;
            bytes = rest;
        }
        Ok(wrote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x1000;
    const SIZE: u16 = 4;

    /// Memory of 4096 bytes, and a ring in it: descriptors at its start, then what is available,
    /// then what was used.
    fn made() -> (Memory, Ring) {
        let file = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, 8192).unwrap();
        let memory = Memory { file: file.into(), base: BASE, bytes: 4096, offset: 4096 };
        let ring = Ring {
            size: SIZE,
            descriptors: BASE,
            available: BASE + 64,
            used: BASE + 128,
            is_on: true,
            ..Ring::default()
        };
        (memory, ring)
    }

    fn describe(memory: &Memory, number: u64, address: u64, length: u32, flags: u16, next: u16) {
        let mut bytes = Vec::from(address.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        memory.write(BASE + 16 * number, &bytes).unwrap();
    }

    fn offer(memory: &Memory, slot: u64, head: u16, count: u16) {
        memory.write(BASE + 68 + 2 * slot, &head.to_le_bytes()).unwrap();
        memory.write(BASE + 66, &count.to_le_bytes()).unwrap();
    }

    #[test]
    fn a_buffer_of_two_pieces_is_read_and_given_back() {
        let (memory, mut ring) = made();
        assert!(ring.take(&memory, false).unwrap().is_none(), "none was offered");
        describe(&memory, 2, BASE + 256, 3, NEXT, 1);
        describe(&memory, 1, BASE + 512, 4, 0, 0);
        memory.write(BASE + 256, b"abc").unwrap();
        memory.write(BASE + 512, b"defg").unwrap();
        offer(&memory, 0, 2, 1);
        let buffer = ring.take(&memory, false).unwrap().unwrap();
        let mut bytes = [0; 16];
        assert_eq!(buffer.read(&memory, &mut bytes).unwrap(), 7);
        assert_eq!(&bytes[..7], b"abcdefg");
        ring.give(&memory, &buffer, 5).unwrap();
        let mut used = [0; 12];
        memory.read(BASE + 128, &mut used).unwrap();
        assert_eq!(used, [0, 0, 1, 0, 2, 0, 0, 0, 5, 0, 0, 0]);
        assert!(ring.take(&memory, false).unwrap().is_none(), "it is taken once");
    }

    #[test]
    fn what_has_no_room_in_a_buffer_is_left_out() {
        let (memory, mut ring) = made();
        describe(&memory, 0, BASE + 256, 4, WRITABLE, 0);
        offer(&memory, 0, 0, 1);
        let buffer = ring.take(&memory, true).unwrap().unwrap();
        assert_eq!(buffer.write(&memory, b"longer").unwrap(), 4);
    }

    #[test]
    fn a_ring_that_makes_no_sense_is_refused() {
        // Outside the memory, longer than it, a circle, a buffer for reading where one for writing
        // is due, no such descriptor.
        let cases: [(u64, u32, u16, u16, u16); 5] = [
            (0, 4, WRITABLE, 0, 0),
            (BASE + 4090, 100, WRITABLE, 0, 0),
            (BASE, 4, WRITABLE | NEXT, 0, 0),
            (BASE, 4, 0, 0, 0),
            (BASE, 4, WRITABLE, 0, SIZE),
        ];
        for (address, length, flags, next, head) in cases {
            let (memory, mut ring) = made();
            describe(&memory, 0, address, length, flags, next);
            offer(&memory, 0, head, 1);
            let wrote = ring.take(&memory, true).and_then(|buffer| buffer.unwrap().write(&memory, &[1; 200]));
            assert_eq!(wrote.unwrap_err().kind(), io::ErrorKind::InvalidData, "{address:#x} {flags}");
        }
    }

    #[test]
    fn the_kernel_says_whether_it_is_to_be_called() {
        let (memory, ring) = made();
        assert!(ring.wants_call(&memory).unwrap());
        memory.write(BASE + 64, &NO_INTERRUPT.to_le_bytes()).unwrap();
        assert!(!ring.wants_call(&memory).unwrap());
    }
}
