//! The network card of a kernel: a virtio-net device (virtio 1.2, section 5.1) whose other end, by
//! the vhost-user protocol, is here.

use super::ring::{Memory, Ring};
use super::wire;
use std::io;
use std::os::fd::OwnedFd;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

const REPLY: u32 = 1 | 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

/// Checksums left to us and taken from us, an address of ours, long segments of TCP for us to cut,
/// version 1, and the features below.
const FEATURES: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 11 | 1 << 12 | 1 << 30 | 1 << 32;
/// Answers to all messages; calls to the kernel; a configuration; and notices as messages, so that
/// each has its moment.
const PROTOCOL: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

/// Bytes before each packet: virtio's header and Ethernet's.
pub(crate) const VIRTIO: usize = 12;
pub(crate) const ETHERNET: usize = 14;
/// Longest frame with both headers.
const LONGEST: usize = VIRTIO + ETHERNET + 65_535;

const RECEIVE: usize = 0;
const SEND: usize = 1;

/// What a message of the kernel has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Nothing,
    /// Frames wait in the queue for sending.
    Frames,
    /// The kernel has gone.
    Gone,
}

/// A card.
pub(crate) struct Card {
    listener: UnixListener,
    stream: Option<UnixStream>,
    calls: Option<UnixStream>,
    address: [u8; 6],
    memory: Option<Memory>,
    rings: [Ring; 2],
    /// Frames for which the kernel had no buffer.
    pub(crate) lost: u64,
    buffer: Vec<u8>,
}

fn bad(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the host's kernel {what}"))
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
    field.map(u32::from_ne_bytes).ok_or_else(|| bad("sent a short message".into()))
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    let field = bytes.get(at..at + 8).and_then(|field| field.try_into().ok());
    field.map(u64::from_ne_bytes).ok_or_else(|| bad("sent a short message".into()))
}

/// A message with its payload.
fn message(request: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12 + payload.len());
    for word in [request, flags, payload.len() as u32] {
        bytes.extend(word.to_ne_bytes());
    }
    bytes.extend(payload);
    bytes
}

impl Card {
    pub(crate) fn new(listener: UnixListener, address: [u8; 6]) -> Self {
        Self {
            listener,
            stream: None,
            calls: None,
            address,
            memory: None,
            rings: Default::default(),
            lost: 0,
            buffer: vec![0; LONGEST],
        }
    }

    /// What becomes readable when the kernel says something.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_ref().map_or(self.listener.as_fd(), AsFd::as_fd)
    }

    /// Reads one message of the kernel. The answer is not sent yet: see [`Self::answer`].
    pub(crate) fn read(&mut self) -> io::Result<(Event, Option<Vec<u8>>)> {
        let Some(stream) = &self.stream else {
            self.stream = Some(self.listener.accept()?.0);
            return Ok((Event::Nothing, None));
        };
        let mut header = [0; 12];
        let mut descriptors = Vec::new();
        match wire::receive(stream, &mut header, &mut descriptors) {
            Ok(true) => {}
            Ok(false) => return Ok((Event::Gone, None)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Ok((Event::Gone, None));
            }
            Err(error) => return Err(error),
        }
        let [request, flags, length] = [0, 4, 8].map(|at| u32_at(&header, at));
        let (request, flags, length) = (request?, flags?, length? as usize);
        if length > 4096 {
            return Err(bad(format!("sent a message of {length} bytes to its network card")));
        }
        let mut payload = vec![0; length];
        if length > 0 && !wire::receive(stream, &mut payload, &mut descriptors)? {
            return Ok((Event::Gone, None));
        }
        let (event, answer) = self.obey(request, &payload, descriptors)?;
        let answer = match answer {
            Some(payload) => Some(message(request, REPLY, &payload)),
            None if flags & NEED_REPLY != 0 => Some(message(request, REPLY, &[0; 8])),
            None => None,
        };
        Ok((event, answer))
    }

    /// Sends an answer that [`Self::read`] made.
    pub(crate) fn answer(&self, answer: &[u8]) -> io::Result<()> {
        match &self.stream {
            Some(stream) => wire::send(stream, answer, &[]),
            None => Ok(()),
        }
    }

    fn obey(
        &mut self,
        request: u32,
        payload: &[u8],
        mut descriptors: Vec<OwnedFd>,
    ) -> io::Result<(Event, Option<Vec<u8>>)> {
        let mut answer = None;
        match request {
            1 => answer = Some(FEATURES.to_ne_bytes().to_vec()),
            15 => answer = Some(PROTOCOL.to_ne_bytes().to_vec()),
            // The features that it takes, its ownership, descriptors of notices.
            2 | 3 | 4 | 12 | 13 | 14 | 16 => {}
            5 => self.memory = Some(shared(payload, descriptors)?),
            8 => self.ring(payload)?.size = u32_at(payload, 4)? as u16,
            9 => {
                let (descriptors, used) = (self.place(payload, 8)?, self.place(payload, 16)?);
                let available = self.place(payload, 24)?;
                let ring = self.ring(payload)?;
                (ring.descriptors, ring.used, ring.available) = (descriptors, used, available);
            }
            10 => self.ring(payload)?.taken = u32_at(payload, 4)? as u16,
            11 => {
                let taken = u32::from(self.ring(payload)?.taken);
                let mut state = payload.get(..4).unwrap_or_default().to_vec();
                state.extend(taken.to_ne_bytes());
                answer = Some(state);
            }
            18 => self.ring(payload)?.is_on = u32_at(payload, 4)? != 0,
            21 => self.calls = descriptors.pop().map(UnixStream::from),
            24 => answer = Some(self.configuration(payload)?),
            35 if u32_at(payload, 0)? as usize == SEND => return Ok((Event::Frames, None)),
            35 => {}
            other => return Err(bad(format!("sent request {other} to its network card"))),
        }
        Ok((Event::Nothing, answer))
    }

    fn ring(&mut self, payload: &[u8]) -> io::Result<&mut Ring> {
        let index = u32_at(payload, 0)?;
        let ring = self.rings.get_mut(index as usize);
        ring.ok_or_else(|| bad(format!("set up queue {index} of its network card")))
    }

    fn place(&self, payload: &[u8], at: usize) -> io::Result<u64> {
        u64_at(payload, at)
    }

    fn configuration(&self, payload: &[u8]) -> io::Result<Vec<u8>> {
        let size = u32_at(payload, 4)? as usize;
        let mut answer = payload.get(..12).unwrap_or_default().to_vec();
        let mut fields = self.address.to_vec();
        fields.resize(size.max(6), 0);
        answer.extend(&fields[..size]);
        Ok(answer)
    }

    /// The frames that wait, one after the other, with virtio's header; the kernel has its buffers
    /// back at once.
    pub(crate) fn send(&mut self, mut frame: impl FnMut(&[u8])) -> io::Result<()> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let ring = &mut self.rings[SEND];
        while let Some(buffer) = ring.take(memory, false)? {
            let length = buffer.read(memory, &mut self.buffer)?;
            ring.give(memory, &buffer, 0)?;
            frame(&self.buffer[..length]);
        }
        Ok(())
    }

    /// Gives the kernel a frame with virtio's header; it is lost if there is no buffer.
    pub(crate) fn deliver(&mut self, frame: &[u8]) -> io::Result<()> {
        let Some(memory) = &self.memory else {
            self.lost += 1;
            return Ok(());
        };
        let ring = &mut self.rings[RECEIVE];
        match ring.take(memory, true)? {
            Some(buffer) => {
                let wrote = buffer.write(memory, frame)?;
                ring.give(memory, &buffer, wrote)
            }
            None => {
                self.lost += 1;
                Ok(())
            }
        }
    }

    /// Whether the kernel waits for news of this queue: 0 of frames for it, 1 of frames sent.
    pub(crate) fn wants_call(&self, queue: usize) -> io::Result<bool> {
        match (&self.memory, &self.calls) {
            (Some(memory), Some(_)) if self.rings[queue].is_on => self.rings[queue].wants_call(memory),
            _ => Ok(false),
        }
    }

    /// The socket of calls.
    pub(crate) fn calls(&self) -> Option<&UnixStream> {
        self.calls.as_ref()
    }

    /// Says that there is news of a queue, and wants an answer.
    pub(crate) fn call(&self, queue: usize) -> io::Result<()> {
        let Some(calls) = &self.calls else { return Ok(()) };
        let mut state = [0; 8];
        state[..4].copy_from_slice(&(queue as u32).to_ne_bytes());
        wire::send(calls, &message(4, 1 | NEED_REPLY, &state), &[])
    }

    /// Reads the answer to a call.
    pub(crate) fn called(&self) -> io::Result<bool> {
        let Some(calls) = &self.calls else { return Ok(true) };
        wire::receive(calls, &mut [0; 20], &mut Vec::new())
    }
}

fn shared(payload: &[u8], mut descriptors: Vec<OwnedFd>) -> io::Result<Memory> {
    if u32_at(payload, 0)? != 1 || descriptors.len() != 1 {
        return Err(bad("shares its memory in several pieces: give it less".into()));
    }
    Ok(Memory {
        file: descriptors.remove(0).into(),
        base: u64_at(payload, 8)?,
        bytes: u64_at(payload, 16)?,
        offset: u64_at(payload, 32)?,
    })
}
