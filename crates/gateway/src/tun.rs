//! The back end `tun`: a TUN device in the host's namespace, whose other end is a descriptor.

use crate::device::{Device, Offload, Written};
use crate::netlink::{Link, Netlink};
use crate::packet::virtio;
use crate::sys;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, readv, writev};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Where TUN devices come from.
pub(crate) const PATH: &str = "/dev/net/tun";

/// Kinds of segments that the reader cuts itself (`TUN_F_…`), the best first: datagrams of UDP are
/// since Linux 6.2.
const OFFLOADS: [(u32, &[&str]); 3] = [
    (0x01 | 0x02 | 0x04 | 0x08 | 0x20 | 0x40, &["checksum", "tso", "uso"]),
    (0x01 | 0x02 | 0x04 | 0x08, &["checksum", "tso"]),
    (0, &[]),
];

/// The gateway's end of a TUN device.
pub(crate) struct Tun {
    file: OwnedFd,
    netlink: Netlink,
    index: u32,
    dropped: u64,
}

/// Whether TUN devices can be had.
pub(crate) fn is_there() -> io::Result<()> {
    open_file().map(drop)
}

fn open_file() -> io::Result<OwnedFd> {
    Ok(open(PATH, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}

impl Tun {
    /// Makes the device `name` in the namespace of the calling thread, and what of packets it lets
    /// the host put together.
    pub(crate) fn make(name: &str) -> io::Result<(Self, &'static [&'static str])> {
        let file = open_file()?;
        sys::set_tun(file.as_fd(), name, libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR)?;
        let mut netlink = Netlink::open()?;
        let Link { index, dropped, .. } = netlink.link(name)?;
        let taken = OFFLOADS.iter().find(|(flags, _)| sys::set_tun_offload(file.as_fd(), *flags).is_ok());
        Ok((Self { file, netlink, index, dropped }, taken.map_or(&[], |(_, names)| names)))
    }
}

impl Device for Tun {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, Offload)>> {
        let mut header = [0; virtio::LENGTH];
        match readv(&self.file, &mut [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)]) {
            Ok(length) => Ok(Some(match virtio::read(header) {
                Some(offload) => (length.saturating_sub(virtio::LENGTH), offload),
                None => (0, Offload::default()),
            })),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    fn write(&mut self, packet: &[u8], offload: &Offload) -> io::Result<Written> {
        let header = virtio::written(packet, offload);
        match writev(&self.file, &[IoSlice::new(&header), IoSlice::new(packet)]) {
            Ok(_) => Ok(Written::Taken),
            Err(e) => refused(e),
        }
    }

    fn lost(&mut self) -> u64 {
        let dropped = self.netlink.link_of(self.index).map_or(self.dropped, |link| link.dropped);
        dropped.saturating_sub(self.dropped)
    }
}

/// What an error of a write says: that the device is gone, or that this packet was not taken (a
/// host may set its device down, or refuse a packet that is malformed).
pub(crate) fn refused(error: Errno) -> io::Result<Written> {
    match error {
        Errno::BADFD | Errno::BADF | Errno::NODEV | Errno::NXIO => Err(error.into()),
        _ => Ok(Written::Full),
    }
}
