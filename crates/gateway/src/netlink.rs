//! Links, addresses and routes of a network namespace, asked of the kernel by messages of
//! rtnetlink.
//!
//! Source: rtnetlink(7); numbers and structs from `netlink.h`, `rtnetlink.h`, `if_link.h`,
//! `if_addr.h` and `veth.h` in `include/uapi/linux`.

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Kinds of messages.
const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
/// Flags of messages.
const REQUEST: u16 = 1;
const ACK: u16 = 4;
const EXCLUSIVE: u16 = 0x200;
const CREATE: u16 = 0x400;
/// Attributes of links.
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_QDISC: u16 = 6;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const GENERATE_NONE: u8 = 1;
/// Place of `tx_dropped` among the counters of `rtnl_link_stats64`.
const TX_DROPPED: usize = 7;
/// Attributes of addresses.
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
/// No search for others that have the address, no route made from it.
const ADDRESS_FLAGS: u32 = 0x02 | 0x200;
/// Attributes of routes.
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTAX_CC_ALGO: u16 = 16;
const TABLE_MAIN: u8 = 254;
const PROTOCOL_STATIC: u8 = 4;
const SCOPE_LINK: u8 = 253;
const KIND_UNICAST: u8 = 1;
/// Flags of devices.
const UP: u32 = 1;
const NO_ARP: u32 = 0x80;
const MULTICAST: u32 = 0x1000;

/// A socket to the kernel, of the namespace in which it was made.
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// A device as the kernel has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// Its number in its namespace.
    pub(crate) index: u32,
    /// Its largest packet.
    pub(crate) mtu: u32,
    /// Packets it may hold.
    pub(crate) txqueuelen: u32,
    /// The discipline before it.
    pub(crate) qdisc: String,
    /// Packets it had no room for.
    pub(crate) dropped: u64,
}

/// How a device is set.
pub(crate) struct Settings {
    pub(crate) mtu: u32,
    pub(crate) txqueuelen: u32,
}

impl Netlink {
    /// A socket in the namespace of the calling thread.
    pub(crate) fn open() -> io::Result<Self> {
        // Protocol 0 of this family is rtnetlink.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Two veth devices: `name` here, and `peer` in the namespace `there`; with their addresses.
    pub(crate) fn make_pair(
        &mut self,
        name: &str,
        peer: &str,
        there: BorrowedFd<'_>,
        addresses: [[u8; 6]; 2],
    ) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, CREATE | EXCLUSIVE, &link_header(0, 0, 0));
        message.text(IFLA_IFNAME, name).bytes(IFLA_ADDRESS, &addresses[0]);
        message.nest(IFLA_LINKINFO, |info| {
            info.bytes(IFLA_INFO_KIND, b"veth");
            info.nest(IFLA_INFO_DATA, |data| {
                data.nest(VETH_INFO_PEER, |other| {
                    other.raw(&link_header(0, 0, 0));
                    other.text(IFLA_IFNAME, peer).bytes(IFLA_ADDRESS, &addresses[1]);
                    other.bytes(IFLA_NET_NS_FD, &there.as_raw_fd().to_ne_bytes());
                });
            });
        });
        self.ask(message).map(|_| ())
    }

    /// Sets a device up: no ARP, no multicast, no address of IPv6 that it makes by itself.
    pub(crate) fn set_up(&mut self, index: u32, settings: &Settings) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, 0, &link_header(index, 0, 0));
        message.bytes(IFLA_MTU, &settings.mtu.to_ne_bytes());
        message.bytes(IFLA_TXQLEN, &settings.txqueuelen.to_ne_bytes());
        self.ask(message)?;
        let mut message = Message::new(RTM_NEWLINK, 0, &link_header(index, 0, 0));
        message.nest(IFLA_AF_SPEC, |families| {
            families.nest(u16::from(FAMILY_6), |family| {
                family.bytes(IFLA_INET6_ADDR_GEN_MODE, &[GENERATE_NONE]);
            });
        });
        // A kernel without IPv6 does not know it.
        let _ = self.ask(message);
        let message = Message::new(RTM_NEWLINK, 0, &link_header(index, UP | NO_ARP, UP | NO_ARP | MULTICAST));
        self.ask(message).map(|_| ())
    }

    /// Sets the loopback device up, which is the first of each namespace.
    pub(crate) fn set_loopback_up(&mut self) -> io::Result<()> {
        self.ask(Message::new(RTM_NEWLINK, 0, &link_header(1, UP, UP))).map(|_| ())
    }

    /// Gives a device an address that is its own alone.
    pub(crate) fn add_address(&mut self, index: u32, address: IpAddr) -> io::Result<()> {
        let (family, bits, bytes) = octets(address);
        let mut header = [family, bits, 0, 0, 0, 0, 0, 0];
        header[4..].copy_from_slice(&index.to_ne_bytes());
        let mut message = Message::new(RTM_NEWADDR, CREATE | EXCLUSIVE, &header);
        message.bytes(IFA_LOCAL, &bytes).bytes(IFA_ADDRESS, &bytes);
        message.bytes(IFA_FLAGS, &ADDRESS_FLAGS.to_ne_bytes());
        self.ask(message).map(|_| ())
    }

    /// Routes packets for `to`, or for all of the family of `from` that have no other route,
    /// through a device. Connections on it have the congestion control `control`.
    pub(crate) fn add_route(&mut self, index: u32, to: Option<IpAddr>, from: IpAddr, control: &str) -> io::Result<()> {
        let (family, all, source) = octets(from);
        let bits = if to.is_some() { all } else { 0 };
        let header = [family, bits, 0, 0, TABLE_MAIN, PROTOCOL_STATIC, SCOPE_LINK, KIND_UNICAST, 0, 0, 0, 0];
        let mut message = Message::new(RTM_NEWROUTE, CREATE | EXCLUSIVE, &header);
        if let Some(to) = to {
            message.bytes(RTA_DST, &octets(to).2);
        }
        message.bytes(RTA_OIF, &index.to_ne_bytes()).bytes(RTA_PREFSRC, &source);
        message.nest(RTA_METRICS, |metrics| {
            metrics.text(RTAX_CC_ALGO, control);
        });
        self.ask(message).map(|_| ())
    }

    /// The device of a name.
    pub(crate) fn link(&mut self, name: &str) -> io::Result<Link> {
        let mut message = Message::new(RTM_GETLINK, 0, &link_header(0, 0, 0));
        message.text(IFLA_IFNAME, name);
        self.ask(message).map(|answer| read_link(&answer))
    }

    /// The device of a number.
    pub(crate) fn link_of(&mut self, index: u32) -> io::Result<Link> {
        self.ask(Message::new(RTM_GETLINK, 0, &link_header(index, 0, 0))).map(|answer| read_link(&answer))
    }

    /// Sends a request and gives the body of its answer; empty, if it is only that all went well.
    fn ask(&mut self, mut message: Message) -> io::Result<Vec<u8>> {
        self.sequence += 1;
        let is_question = message.kind() == RTM_GETLINK;
        message.finish(self.sequence, if is_question { REQUEST } else { REQUEST | ACK });
        send(&self.socket, &message.bytes, SendFlags::empty())?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let (length, _) = recv(&self.socket, &mut buffer[..], RecvFlags::empty())?;
            let answer = &buffer[..length];
            if answer.len() < HEADER || word(answer, 8) != self.sequence {
                continue;
            }
            let body = &answer[HEADER..(word(answer, 0) as usize).clamp(HEADER, length)];
            if u16::from_ne_bytes([answer[4], answer[5]]) != NLMSG_ERROR {
                return Ok(body.to_vec());
            }
            return match word(body, 0).cast_signed() {
                0 => Ok(Vec::new()),
                error => Err(io::Error::from_raw_os_error(-error)),
            };
        }
    }
}

const HEADER: usize = 16;
const FAMILY_4: u8 = 2;
const FAMILY_6: u8 = 10;

/// Family, bits and bytes of an address.
fn octets(address: IpAddr) -> (u8, u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (FAMILY_4, 32, address.octets().to_vec()),
        IpAddr::V6(address) => (FAMILY_6, 128, address.octets().to_vec()),
    }
}

/// `struct ifinfomsg`: flags are set to `flags` where `change` has a bit.
fn link_header(index: u32, flags: u32, change: u32) -> [u8; 16] {
    let mut header = [0; 16];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..16].copy_from_slice(&change.to_ne_bytes());
    header
}

/// The number at a place; 0 where the bytes end.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

/// What an answer to a question for a device says.
fn read_link(answer: &[u8]) -> Link {
    let mut link = Link { index: word(answer, 4), ..Link::default() };
    let mut rest = answer.get(16..).unwrap_or_default();
    while rest.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([rest[0], rest[1]]));
        let Some(value) = rest.get(4..length) else { break };
        match u16::from_ne_bytes([rest[2], rest[3]]) {
            IFLA_MTU => link.mtu = word(value, 0),
            IFLA_TXQLEN => link.txqueuelen = word(value, 0),
            IFLA_QDISC => link.qdisc = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
            IFLA_STATS64 => {
                let counter = value.get(TX_DROPPED * 8..TX_DROPPED * 8 + 8);
                link.dropped = counter.and_then(|eight| eight.try_into().ok()).map_or(0, u64::from_ne_bytes);
            }
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    link
}

/// A message that is put together.
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u16, flags: u16, header: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend(header);
        Self { bytes }
    }

    fn kind(&self) -> u16 {
        u16::from_ne_bytes([self.bytes[4], self.bytes[5]])
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn bytes(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        self.nest(kind, |attribute| attribute.bytes.extend(value));
        self
    }

    fn text(&mut self, kind: u16, value: &str) -> &mut Self {
        self.nest(kind, |attribute| {
            attribute.bytes.extend(value.as_bytes());
            attribute.bytes.push(0);
        });
        self
    }

    /// An attribute of what `fill` writes.
    fn nest(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.bytes.extend([0, 0]);
        self.bytes.extend(kind.to_ne_bytes());
        fill(self);
        // Names and addresses are short.
        let length = u16::try_from(self.bytes.len() - start).unwrap_or(u16::MAX);
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn finish(&mut self, sequence: u32, flags: u16) {
        let length = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let flags = flags | u16::from_ne_bytes([self.bytes[6], self.bytes[7]]);
        self.bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_is_the_first_of_a_namespace() {
        let mut netlink = Netlink::open().unwrap();
        let loopback = netlink.link("lo").unwrap();
        assert_eq!(loopback.index, 1);
        assert!(loopback.mtu >= 1500, "{loopback:?}");
        assert_eq!(netlink.link_of(1).unwrap().mtu, loopback.mtu);
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error() {
        let refused = Netlink::open().unwrap().link("fairq-none").unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENODEV));
    }

    #[test]
    fn an_answer_that_ends_early_is_read_as_far_as_it_goes() {
        let mut answer = link_header(7, 0, 0).to_vec();
        answer.extend([8, 0, 4, 0, 0xdc, 5, 0, 0, 200, 0, 13, 0, 1]);
        assert_eq!(read_link(&answer), Link { index: 7, mtu: 1500, ..Link::default() });
    }
}
