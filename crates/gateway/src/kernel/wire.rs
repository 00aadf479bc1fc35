//! Bytes and descriptors over a stream socket.

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Fills `bytes`, with the descriptors that came along with them; `false` at the end of the stream.
///
/// # Errors
/// If the stream ends inside, or breaks.
pub(crate) fn receive(stream: &UnixStream, bytes: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<bool> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        let slices = &mut [IoSliceMut::new(bytes)];
        match recvmsg(stream, slices, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?.bytes,
        }
    };
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    if got == 0 {
        return Ok(false);
    }
    let mut rest = stream;
    rest.read_exact(&mut bytes[got..])?;
    Ok(true)
}

/// Sends `bytes` with descriptors.
///
/// # Errors
/// If the stream is broken.
pub(crate) fn send(stream: &UnixStream, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("more descriptors than two"));
    }
    let sent = sendmsg(stream, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    if sent == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}
