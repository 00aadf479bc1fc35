//! Where packets of a host enter and leave: four calls, behind which a TUN device, a pair of veth
//! devices with a packet socket, or a plain socket stands.

use std::io;
use std::os::fd::BorrowedFd;

/// How segments that were put together are to be cut, as in the virtio specification 1.2, section
/// 5.1.6.1 (`virtio_net_hdr`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segments {
    /// One packet.
    #[default]
    One,
    /// TCP over IPv4, or over IPv6, as the packet says.
    Tcp,
    /// UDP datagrams of one length.
    Udp,
}

/// What a device says of a packet beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// What it was put together from.
    pub segments: Segments,
    /// Bytes of payload of each of them.
    pub segment: u16,
    /// Where the checksum of the transport begins and where in it the field stands, if the field
    /// has the sum of the pseudo header only and the rest is to be added by its receiver.
    pub checksum: Option<(u16, u16)>,
}

/// What became of a packet that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The host has it.
    Taken,
    /// The host had no room; it is lost.
    Full,
}

/// A device of a host, held at its other end. Packets are IP packets without a link header.
pub trait Device: Send {
    /// What becomes readable when packets wait.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// The next packet that waits, with what the device says of it, into `buffer` from its start;
    /// `None` if none waits. A frame that is no IP packet has length 0: it is counted and dropped
    /// by the caller.
    ///
    /// # Errors
    /// If the device is gone.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, Offload)>>;

    /// Gives the host a packet.
    ///
    /// # Errors
    /// If the device is gone.
    fn write(&mut self, packet: &[u8], offload: &Offload) -> io::Result<Written>;

    /// Packets of the host that the kernel has dropped before they could be read, since the start.
    fn lost(&mut self) -> u64;
}
