//! The back end `packet`: a pair of veth devices, one in the host's namespace and one in the
//! gateway's, where a packet socket reads and writes its frames.

use crate::device::{Device, Offload, Written};
use crate::packet::virtio;
use crate::sys;
use crate::tun::refused;
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
                Ok(Some(match virtio::read(header).and_then(without_link) {
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
        let header = with_link(packet, offload);
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

/// What is said of a frame, said of its packet; `None` if it cannot be.
fn without_link(offload: Offload) -> Option<Offload> {
    let Some((start, field)) = offload.checksum else { return Some(offload) };
    Some(Offload { checksum: Some((start.checked_sub(LINK_SHORT)?, field)), ..offload })
}

/// The header before the frame of `packet`.
fn with_link(packet: &[u8], offload: &Offload) -> [u8; virtio::LENGTH] {
    let checksum = offload.checksum.map(|(start, field)| (start.saturating_add(LINK_SHORT), field));
    let mut header = virtio::written(packet, &Offload { checksum, ..*offload });
    // Bytes of the headers, where they are said.
    let headers = u16::from_ne_bytes([header[2], header[3]]);
    if headers > 0 {
        header[2..4].copy_from_slice(&headers.saturating_add(LINK_SHORT).to_ne_bytes());
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Segments;

    #[test]
    fn places_count_from_the_start_of_the_frame() {
        // A TCP header with options over IPv4, with a payload of 3000 bytes.
        let mut packet = vec![0; 20 + 32 + 3000];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&3052_u16.to_be_bytes());
        packet[9] = 6;
        packet[20 + 12] = 8 << 4;
        let offload = Offload { segments: Segments::Tcp, segment: 1448, checksum: Some((20, 16)) };
        let header = with_link(&packet, &offload);
        assert_eq!(u16::from_ne_bytes([header[2], header[3]]), 14 + 20 + 32);
        assert_eq!(u16::from_ne_bytes([header[6], header[7]]), 14 + 20);
        assert_eq!(virtio::read(header).and_then(without_link), Some(offload));
        assert_eq!(with_link(&packet, &Offload::default()), [0; virtio::LENGTH]);
    }

    #[test]
    fn a_checksum_inside_the_link_header_is_refused() {
        let offload = Offload { checksum: Some((13, 0)), ..Offload::default() };
        assert_eq!(without_link(offload), None);
    }
}
