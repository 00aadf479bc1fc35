//! The back end `packet`: a pair of veth devices, one in the host's namespace and one in the
//! gateway's, where a packet socket reads and writes its frames.

use crate::device::{Device, Offload, Written};
use crate::sys;
use crate::tun::refused;
use crate::virtio;
use rustix::io::{Errno, readv, writev};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Addresses of the link layer: of the host's device, and of the gateway's.
pub(crate) const ADDRESSES: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

/// What a host's device lets it put together.
pub(crate) const OFFLOADS: &[&str] = &["checksum", "tso", "uso"];

/// Bytes of a frame's header of Ethernet.
const LINK: usize = 14;
const LINK_SHORT: u16 = 14;

/// What packets may wait for the gateway in, if it may say so; else it is `net.core.rmem_max`.
const BUFFER: i32 = 32 << 20;

/// Options of packet sockets, as in `include/uapi/linux/if_packet.h`.
const PACKET_STATISTICS: i32 = 6;
const PACKET_VNET_HDR: i32 = 15;
const PACKET_QDISC_BYPASS: i32 = 20;
const PACKET_IGNORE_OUTGOING: i32 = 23;

/// The gateway's end of a pair of veth devices.
pub(crate) struct Veth {
    socket: OwnedFd,
    lost: u64,
}

impl Veth {
    /// Opens the device `index` of the calling thread's namespace.
    pub(crate) fn open(index: u32) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        let set = |name, value| sys::set_option(socket.as_fd(), libc::SOL_PACKET, name, value);
        set(PACKET_VNET_HDR, 1)?;
        set(PACKET_IGNORE_OUTGOING, 1)?;
        set(PACKET_QDISC_BYPASS, 1)?;
        for (forced, asked) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
            if sys::set_option(socket.as_fd(), libc::SOL_SOCKET, forced, BUFFER).is_err() {
                sys::set_option(socket.as_fd(), libc::SOL_SOCKET, asked, BUFFER)?;
            }
        }
        sys::bind_to_device(socket.as_fd(), index)?;
        Ok(Self { socket, lost: 0 })
    }
}

impl Device for Veth {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, Offload)>> {
        let mut header = [0; virtio::LENGTH];
        let mut frame = [0; LINK];
        let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(&mut frame), IoSliceMut::new(buffer)];
        match readv(&self.socket, &mut parts) {
            Ok(length) => {
                let is_ip = matches!(frame[12..], [0x08, 0x00] | [0x86, 0xdd]);
                Ok(Some(match virtio::read(header, LINK_SHORT) {
                    Some(offload) if is_ip => (length.saturating_sub(virtio::LENGTH + LINK), offload),
                    _ => (0, Offload::default()),
                }))
            }
            // The host has set its device down and up; or it sent what no header of ours can say.
            Err(Errno::AGAIN | Errno::INTR | Errno::NETDOWN) => Ok(None),
            Err(Errno::INVAL) => Ok(Some((0, Offload::default()))),
            Err(e) => Err(e.into()),
        }
    }

    fn write(&mut self, packet: &[u8], offload: &Offload) -> io::Result<Written> {
        let header = virtio::write(packet, offload, LINK_SHORT);
        let mut frame = [0; LINK];
        frame[..6].copy_from_slice(&ADDRESSES[0]);
        frame[6..12].copy_from_slice(&ADDRESSES[1]);
        let is_version_6 = packet.first().is_some_and(|first| first >> 4 == 6);
        frame[12..].copy_from_slice(if is_version_6 { &[0x86, 0xdd] } else { &[0x08, 0x00] });
        match writev(&self.socket, &[IoSlice::new(&header), IoSlice::new(&frame), IoSlice::new(packet)]) {
            Ok(_) => Ok(Written::Taken),
            Err(e) => refused(e),
        }
    }

    fn lost(&mut self) -> u64 {
        // Packets and drops, as numbers of 32 bits; the kernel sets both to 0 when they are read.
        let mut counters = [0; 8];
        if matches!(sys::option(self.socket.as_fd(), libc::SOL_PACKET, PACKET_STATISTICS, &mut counters), Ok(8)) {
            let [_, _, _, _, drops @ ..] = counters;
            self.lost += u64::from(u32::from_ne_bytes(drops));
        }
        self.lost
    }
}
