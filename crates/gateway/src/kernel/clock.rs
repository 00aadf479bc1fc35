//! Messages of a kernel to the clock that it shares with others, as in Linux'
//! `include/uapi/linux/um_timetravel.h`.

use super::wire;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The operations.
pub(crate) const ACK: u32 = 0;
pub(crate) const START: u32 = 1;
pub(crate) const REQUEST: u32 = 2;
pub(crate) const WAIT: u32 = 3;
pub(crate) const GET: u32 = 4;
pub(crate) const UPDATE: u32 = 5;
pub(crate) const RUN: u32 = 6;
pub(crate) const FREE_UNTIL: u32 = 7;
pub(crate) const GET_TOD: u32 = 8;
/// A number that a program in the host has written into `/sys/kernel/um-ext-time/bc-message`.
pub(crate) const BROADCAST: u32 = 9;

/// The day on which a kernel's clock is zero, in nanoseconds since 1970: 1 January 1990.
pub(crate) const DATE: u64 = 631_152_000_000_000_000;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) op: u32,
    pub(crate) sequence: u32,
    /// Nanoseconds.
    pub(crate) time: u64,
}

impl Message {
    fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&self.op.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    fn parse(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, time @ ..] = bytes;
        Self {
            op: u32::from_ne_bytes([a, b, c, d]),
            sequence: u32::from_ne_bytes([e, f, g, h]),
            time: u64::from_ne_bytes(time),
        }
    }
}

/// The next message of a kernel; `None` if the kernel has gone.
pub(crate) fn receive(stream: &UnixStream) -> io::Result<Option<Message>> {
    let mut bytes = [0; 16];
    match wire::receive(stream, &mut bytes, &mut Vec::new()) {
        Ok(true) => Ok(Some(Message::parse(bytes))),
        Ok(false) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sends one.
pub(crate) fn send(stream: &UnixStream, message: Message) -> io::Result<()> {
    wire::send(stream, &message.bytes(), &[])
}

/// Answers the first message of a kernel. With the answer go the two descriptors that the kernel
/// takes from it, whether they are there or not: without them, Linux 6.12 closes two descriptors
/// at random. The memory says no version, so the kernel goes on with messages.
pub(crate) fn welcome(stream: &UnixStream, sequence: u32) -> io::Result<()> {
    let memory: OwnedFd = rustix::fs::memfd_create("clock", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::ftruncate(&memory, 8192)?;
    let log = memory.try_clone()?;
    let answer = Message { op: ACK, sequence, time: 0 };
    wire::send(stream, &answer.bytes(), &[memory.as_fd(), log.as_fd()])
}
