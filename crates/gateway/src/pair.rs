//! A device without a network namespace: one end of a pair of sockets. A test, a fuzzer or another
//! program is the host at the other end.

use crate::device::{Device, Offload, Written};
use crate::packet::virtio;
use rustix::io::{Errno, IoSlice, IoSliceMut, readv, writev};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// One end of a pair: a message is a packet with the header of [`virtio`] before it.
#[derive(Debug)]
pub struct Pair {
    socket: OwnedFd,
}

impl Pair {
    /// Two ends: packets written to one are read from the other.
    ///
    /// # Errors
    /// If the system gives no sockets.
    pub fn new() -> io::Result<[Self; 2]> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok([one, other].map(|socket| Self { socket }))
    }

    /// The end that `socket` is. It does not block.
    #[must_use]
    pub const fn of(socket: OwnedFd) -> Self {
        Self { socket }
    }
}

impl Device for Pair {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, Offload)>> {
        let mut header = [0; virtio::LENGTH];
        match readv(&self.socket, &mut [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)]) {
            // The other end is closed.
            Ok(0) | Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Ok(length) => {
                let offload = virtio::read(header);
                // A message too short for the header, or with one of a kind that is not known, is
                // no packet.
                let packet = length.checked_sub(virtio::LENGTH).filter(|_| offload.is_some());
                Ok(Some((packet.unwrap_or(0), offload.unwrap_or_default())))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn write(&mut self, packet: &[u8], offload: &Offload) -> io::Result<Written> {
        let header = virtio::written(packet, offload);
        match writev(&self.socket, &[IoSlice::new(&header), IoSlice::new(packet)]) {
            Ok(_) => Ok(Written::Taken),
            Err(Errno::AGAIN | Errno::NOBUFS) => Ok(Written::Full),
            Err(error) => Err(error.into()),
        }
    }

    fn lost(&mut self) -> u64 {
        0
    }
}
