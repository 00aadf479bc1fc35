//! The sockets of a relay: where clients come in, and the connections to the target.

use super::stream::{SEGMENT, Stream};
use super::ways::{Arrival, Ways};
use fairq_sched::packet::{Address, Header};
use rustix::event::PollFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;

/// Conversations that are open at once: two descriptors each, of the 1024 that a process usually
/// has. Tests, which hold the other ends too, need fewer.
pub(super) const OPEN_MAX: usize = if cfg!(test) { 32 } else { 256 };
/// Conversations in all, whose counts are kept.
const ALL_MAX: usize = 65_536;
/// What a socket is read at once, so that others have their turn.
const BATCH: usize = 256;
/// Bytes that the kernel may keep of datagrams until they are read.
const RECEIVE_BUFFER: usize = 4 << 20;

/// What a relay carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The bytes of connections.
    Tcp,
    /// Datagrams.
    Udp,
}

impl Protocol {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }

    const fn number(self) -> u16 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }
}

/// Where clients come in.
enum Front {
    Tcp(Arc<TcpListener>),
    /// Each client has a conversation.
    Udp(Arc<UdpSocket>, BTreeMap<SocketAddr, usize>),
}

/// A client and the target.
pub(super) struct Conversation {
    pub(super) protocol: Protocol,
    pub(super) client: SocketAddr,
    pub(super) target: SocketAddr,
    /// Its flows, to the target and back.
    pub(super) flows: [usize; 2],
    ends: Ends,
}

enum Ends {
    /// The relay's socket and the one that the target sees.
    Udp(Arc<UdpSocket>, Arc<UdpSocket>),
    Tcp {
        /// The client's connection and the target's.
        sides: [Arc<TcpStream>; 2],
        /// Whether the target has not accepted yet.
        is_connecting: bool,
        /// Whether each direction has ended at its reader.
        is_shut: [bool; 2],
    },
    Closed,
}

/// What may become ready.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    Front(usize),
    /// A side of a conversation.
    Side(usize, usize),
}

/// What is waited for.
pub(super) struct Interest {
    pub(super) socket: Arc<dyn AsFd + Send + Sync>,
    pub(super) flags: PollFlags,
    pub(super) of: Of,
}

/// All sockets.
#[derive(Default)]
pub(super) struct Sockets {
    fronts: Vec<(Front, SocketAddr)>,
    pub(super) conversations: Vec<Conversation>,
    /// Conversation and way of each flow.
    by_flow: Vec<(usize, usize)>,
    /// The conversations that are not closed.
    open: BTreeSet<usize>,
    /// Connections and clients that were more than a relay takes.
    pub(super) refused: u64,
    /// Connections that the target did not take.
    pub(super) unanswered: u64,
}

impl Sockets {
    /// Opens a way in to `target`; where clients go.
    pub(super) fn open(&mut self, protocol: Protocol, target: SocketAddr) -> io::Result<SocketAddr> {
        let here = nowhere(target);
        let (front, address) = match protocol {
            Protocol::Tcp => {
                let listener = TcpListener::bind(here)?;
                listener.set_nonblocking(true)?;
                let address = listener.local_addr()?;
                (Front::Tcp(Arc::new(listener)), address)
            }
            Protocol::Udp => {
                let socket = datagram_socket(here)?;
                let address = socket.local_addr()?;
                (Front::Udp(Arc::new(socket), BTreeMap::new()), address)
            }
        };
        self.fronts.push((front, target));
        Ok(address)
    }

    /// What may be read or written now.
    pub(super) fn interest(&self, ways: &Ways) -> Vec<Interest> {
        let mut all = Vec::new();
        let mut add = |socket: Arc<dyn AsFd + Send + Sync>, flags: PollFlags, of| {
            if !flags.is_empty() {
                all.push(Interest { socket, flags, of });
            }
        };
        for (at, (front, _)) in self.fronts.iter().enumerate() {
            match front {
                Front::Tcp(listener) => add(listener.clone(), PollFlags::IN, Of::Front(at)),
                Front::Udp(socket, _) => add(socket.clone(), PollFlags::IN, Of::Front(at)),
            }
        }
        for &at in &self.open {
            let conversation = &self.conversations[at];
            match &conversation.ends {
                Ends::Udp(_, upstream) => add(upstream.clone(), PollFlags::IN, Of::Side(at, 1)),
                Ends::Tcp { sides, is_connecting: true, .. } => {
                    add(sides[1].clone(), PollFlags::OUT, Of::Side(at, 1));
                }
                Ends::Tcp { sides, .. } => {
                    let stream = |way: usize| ways.flows[conversation.flows[way]].stream.as_ref();
                    for (side, socket) in sides.iter().enumerate() {
                        let reads = stream(side).is_some_and(Stream::has_room);
                        let writes = stream(1 - side).is_some_and(|stream| !stream.ready().is_empty());
                        let mut flags = PollFlags::empty();
                        flags.set(PollFlags::IN, reads);
                        flags.set(PollFlags::OUT, writes);
                        add(socket.clone(), flags, Of::Side(at, side));
                    }
                }
                Ends::Closed => {}
            }
        }
        all
    }

    /// A socket is ready: what it has is sent on the line, and what it takes is written.
    pub(super) fn ready(&mut self, of: Of, ways: &mut Ways) {
        match of {
            Of::Front(front) => {
                let target = self.fronts[front].1;
                match &self.fronts[front].0 {
                    Front::Tcp(listener) => self.accept(&listener.clone(), target, ways),
                    Front::Udp(socket, _) => self.receive(front, &socket.clone(), target, ways),
                }
            }
            Of::Side(at, side) => match &mut self.conversations[at].ends {
                Ends::Udp(_, upstream) => {
                    let (upstream, flow) = (upstream.clone(), self.conversations[at].flows[1]);
                    read_datagrams(|buffer| upstream.recv(buffer), |bytes| send_datagram(ways, flow, bytes));
                }
                Ends::Tcp { sides, is_connecting, .. } if *is_connecting => {
                    *is_connecting = false;
                    if matches!(sides[1].take_error(), Ok(None)) {
                        // The client may have said all it has.
                        self.write(at, 0, ways);
                    } else {
                        self.unanswered += 1;
                        self.close(at, ways);
                    }
                }
                Ends::Tcp { .. } => {
                    self.write(at, 1 - side, ways);
                    self.read(at, side, ways);
                }
                Ends::Closed => {}
            },
        }
    }

    /// Hands what has arrived to its receiver.
    pub(super) fn hand_over(&mut self, arrival: Arrival, ways: &mut Ways) {
        let (at, way) = self.by_flow[arrival.flow];
        let conversation = &self.conversations[at];
        match (&conversation.ends, arrival.datagram) {
            // What the receiver's socket has no room for is lost there, as at any host.
            (Ends::Udp(_, upstream), Some(bytes)) if way == 0 => drop(upstream.send(&bytes)),
            (Ends::Udp(front, _), Some(bytes)) => drop(front.send_to(&bytes, conversation.client)),
            (Ends::Tcp { .. }, _) => self.write(at, way, ways),
            _ => {}
        }
    }

    fn accept(&mut self, listener: &TcpListener, target: SocketAddr, ways: &mut Ways) {
        for _ in 0..BATCH {
            let Ok((stream, client)) = listener.accept() else { return };
            if !self.has_room() {
                self.refused += 1;
                continue;
            }
            match connect(target).and_then(|upstream| {
                for side in [&stream, &upstream] {
                    side.set_nonblocking(true)?;
                    side.set_nodelay(true)?;
                }
                Ok(upstream)
            }) {
                Ok(upstream) => {
                    let sides = [Arc::new(stream), Arc::new(upstream)];
                    let ends = Ends::Tcp { sides, is_connecting: true, is_shut: [false; 2] };
                    self.begin(Protocol::Tcp, client, target, ends, ways);
                }
                Err(_) => self.unanswered += 1,
            }
        }
    }

    fn receive(&mut self, front: usize, socket: &Arc<UdpSocket>, target: SocketAddr, ways: &mut Ways) {
        let mut buffer = [0; 65_536];
        for _ in 0..BATCH {
            let Ok((length, client)) = socket.recv_from(&mut buffer) else { return };
            let known = match &self.fronts[front].0 {
                Front::Udp(_, clients) => clients.get(&client).copied(),
                Front::Tcp(_) => return,
            };
            let Some(at) = known.or_else(|| self.meet(front, socket, client, target, ways)) else {
                self.refused += 1;
                continue;
            };
            send_datagram(ways, self.conversations[at].flows[0], &buffer[..length]);
        }
    }

    /// A client that is new.
    fn meet(
        &mut self,
        front: usize,
        socket: &Arc<UdpSocket>,
        client: SocketAddr,
        target: SocketAddr,
        ways: &mut Ways,
    ) -> Option<usize> {
        if !self.has_room() && !self.forget_oldest(ways) {
            return None;
        }
        let upstream = datagram_socket(nowhere(target)).ok()?;
        upstream.connect(target).ok()?;
        let ends = Ends::Udp(socket.clone(), Arc::new(upstream));
        let at = self.begin(Protocol::Udp, client, target, ends, ways);
        if let Front::Udp(_, clients) = &mut self.fronts[front].0 {
            clients.insert(client, at);
        }
        Some(at)
    }

    fn has_room(&self) -> bool {
        self.open.len() < OPEN_MAX && self.conversations.len() < ALL_MAX
    }

    /// Closes the first client of datagrams that is open, which has no end of its own. Answers
    /// whether there is room now.
    fn forget_oldest(&mut self, ways: &mut Ways) -> bool {
        let is_udp = |at: &&usize| self.conversations[**at].protocol == Protocol::Udp;
        let Some(at) = self.open.iter().find(is_udp).copied() else { return false };
        for (front, _) in &mut self.fronts {
            if let Front::Udp(_, clients) = front {
                clients.retain(|_, conversation| *conversation != at);
            }
        }
        self.close(at, ways);
        self.has_room()
    }

    fn begin(
        &mut self,
        protocol: Protocol,
        client: SocketAddr,
        target: SocketAddr,
        ends: Ends,
        ways: &mut Ways,
    ) -> usize {
        let at = self.conversations.len();
        let stream = || (protocol == Protocol::Tcp).then(Stream::new);
        let flows = [
            ways.begin(header(protocol, client, target), 0, stream()),
            ways.begin(header(protocol, target, client), 1, stream()),
        ];
        self.by_flow.extend([(at, 0), (at, 1)]);
        self.conversations.push(Conversation { protocol, client, target, flows, ends });
        self.open.insert(at);
        at
    }

    /// Reads what a side has, as far as its stream has room.
    fn read(&mut self, at: usize, side: usize, ways: &mut Ways) {
        let conversation = &self.conversations[at];
        let (Ends::Tcp { sides, .. }, flow) = (&conversation.ends, conversation.flows[side]) else { return };
        let mut buffer = [0; SEGMENT];
        for _ in 0..BATCH {
            if !ways.flows[flow].stream.as_ref().is_some_and(Stream::has_room) {
                return;
            }
            match (&*sides[side]).read(&mut buffer) {
                // No bytes: the side has ended its direction, which a segment without bytes says.
                Ok(length) => ways.send_segment(flow, buffer[..length].to_vec()),
                Err(error) if is_later(&error) => return,
                Err(_) => return self.close(at, ways),
            }
        }
    }

    /// Writes what a direction has for its reader, and ends it there if it has ended.
    fn write(&mut self, at: usize, way: usize, ways: &mut Ways) {
        let conversation = &mut self.conversations[at];
        let flow = conversation.flows[way];
        let Ends::Tcp { sides, is_connecting: false, is_shut } = &mut conversation.ends else { return };
        let Some(stream) = &mut ways.flows[flow].stream else { return };
        while !stream.ready().is_empty() {
            match (&*sides[1 - way]).write(stream.ready()) {
                Ok(0) => return self.close(at, ways),
                Ok(written) => stream.take(written),
                Err(error) if is_later(&error) => return,
                Err(_) => return self.close(at, ways),
            }
        }
        if stream.is_read() && !is_shut[way] {
            is_shut[way] = true;
            // An error says that the other end is gone, and nothing is left to tell it.
            let _ = sides[1 - way].shutdown(Shutdown::Write);
            if is_shut == &[true; 2] {
                self.close(at, ways);
            }
        }
    }

    /// Forgets the sockets of a conversation; its counts stay.
    fn close(&mut self, at: usize, ways: &mut Ways) {
        let conversation = &mut self.conversations[at];
        conversation.ends = Ends::Closed;
        for flow in conversation.flows {
            ways.flows[flow].stream = None;
        }
        self.open.remove(&at);
    }
}

/// Any port of the loopback address of the target's family.
fn nowhere(target: SocketAddr) -> SocketAddr {
    let address = match target.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(address, 0)
}

fn datagram_socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    // The kernel may allow less.
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER);
    Ok(socket)
}

/// Begins a connection; it is ready to write when it stands.
fn connect(target: SocketAddr) -> io::Result<TcpStream> {
    use rustix::net::{AddressFamily, SocketType};
    let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let stream = TcpStream::from(rustix::net::socket(family, SocketType::STREAM, None)?);
    stream.set_nonblocking(true)?;
    match rustix::net::connect(&stream, &target) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(stream),
        Err(error) => Err(error.into()),
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn read_datagrams(mut read: impl FnMut(&mut [u8]) -> io::Result<usize>, mut each: impl FnMut(&[u8])) {
    let mut buffer = [0; 65_536];
    for _ in 0..BATCH {
        match read(&mut buffer) {
            Ok(length) => each(&buffer[..length]),
            // The target has no such port now; it may have one later.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(_) => return,
        }
    }
}

fn send_datagram(ways: &mut Ways, flow: usize, bytes: &[u8]) {
    // The headers of IP and UDP.
    let headers = if matches!(ways.flows[flow].header.source, Address::V4(_)) { 28 } else { 48 };
    ways.send_datagram(flow, bytes.to_vec(), headers);
}

fn header(protocol: Protocol, source: SocketAddr, destination: SocketAddr) -> Header {
    let address = |of: SocketAddr| match of.ip() {
        IpAddr::V4(address) => Address::V4(address.octets()),
        IpAddr::V6(address) => Address::V6(address.octets()),
    };
    Header {
        source: address(source),
        destination: address(destination),
        protocol: protocol.number(),
        source_port: source.port(),
        destination_port: destination.port(),
        tos: 0,
    }
}
