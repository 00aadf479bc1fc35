//! A QUIC implementation without I/O over fairq's path, in simulated time: a client uploads through
//! a line of 10 Mbit/s that a flood of UDP packets shares. Seconds of the line take milliseconds,
//! and each run gives the same.

mod peer;

use fairq_link::ecn::Field;
use fairq_link::path::{Path, PathSettings, Poll};
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::packet::{Address, Header, Marks};
use fairq_sched::queue::Queue;
use fairq_sched::units::{Rate, Time};
use peer::{Datagram, Peer};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The rate of the line, each way.
const RATE: u64 = 10_000_000;
/// Its delay, each way.
const DELAY: Time = Time::from_ms(20);
/// Bytes of the headers of IPv4 and UDP.
const HEADERS: u32 = 28;
/// The flood: a packet of 1500 B each millisecond, 12 Mbit/s.
const FLOOD: (u32, Time) = (1500, Time::from_ms(1));

/// What became of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// When the server had all bytes.
    pub finished: Time,
    /// Packets of the connection that were sent to the server.
    pub sent: u64,
    /// Those of them that the queue dropped.
    pub dropped: u64,
}

/// The hosts: the client, the server, and the host that sends the flood.
const CLIENT: u32 = 0;
const SERVER: u32 = 1;
const FLOODER: u32 = 2;

/// What queues see of a packet. Without a classifier of their own they tell pairs of hosts apart.
fn header(source: u32, destination: u32, ecn: Field) -> Header {
    let [source, destination] = [source, destination].map(Address::Node);
    Header { source, destination, protocol: 17, source_port: 443, destination_port: 443, tos: ecn.bits() }
}

/// A path; its packets carry a datagram of the connection, or `None` if they are of the flood.
fn path(queue: &Queue, seed: u64) -> Path<Box<dyn Discipline>, Option<Datagram>> {
    let rate = Rate::new(RATE).expect("it is above 0");
    Path::new(PathSettings::new(rate, DELAY), queue.build(&Line::new(rate)), seed)
}

/// Uploads `bytes` to a server beside the flood, through a line with this queue.
///
/// # Panics
/// If the connection is lost.
#[must_use]
pub fn upload(queue: &Queue, bytes: usize) -> Upload {
    #[allow(clippy::disallowed_methods, reason = "quinn-proto's times begin somewhere; only differences matter")]
    let epoch = Instant::now();
    let instant = |time: Time| epoch + Duration::from_nanos(time.0 / 1000);
    let [client_at, server_at] = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 443)));
    let [mut client, mut server] = Peer::pair(epoch, server_at, bytes);
    let (mut there, mut back) = (path(queue, 1), path(queue, 2));
    let mut upload = Upload { finished: Time::ZERO, sent: 0, dropped: 0 };
    let (mut now, mut flood) = (Time::ZERO, Time::ZERO);
    loop {
        if flood == now {
            there.push(now, FLOOD.0, &header(FLOODER, SERVER, Field::NotEct), None);
            flood = now + FLOOD.1;
        }
        for datagram in client.speak(instant(now)) {
            upload.sent += 1;
            there.push(now, length(&datagram), &header(CLIENT, SERVER, datagram.ecn), Some(datagram));
        }
        for datagram in server.speak(instant(now)) {
            back.push(now, length(&datagram), &header(SERVER, CLIENT, datagram.ecn), Some(datagram));
        }
        if server.is_done() {
            return Upload { finished: now, ..upload };
        }
        let mut next = flood;
        for timer in [client.wakes(), server.wakes()].into_iter().flatten() {
            next = next.min(Time(timer.duration_since(epoch).as_nanos() as u64 * 1000));
        }
        let mut is_heard = false;
        let ways = [(&mut there, &mut server, client_at), (&mut back, &mut client, server_at)];
        for (path, receiver, from) in ways {
            loop {
                match path.poll(now) {
                    Poll::Delivered { marks, payload: Some(datagram), .. } => {
                        receiver.hear(instant(now), from, &marked(datagram, marks));
                        is_heard = true;
                    }
                    Poll::Dropped { payload: Some(_), .. } => upload.dropped += 1,
                    Poll::Delivered { .. } | Poll::Dropped { .. } => {}
                    Poll::NotBefore(time) => break next = next.min(time),
                    Poll::Empty => break,
                }
            }
        }
        // What was heard may be answered at once.
        now = if is_heard { now } else { next.max(now) };
    }
}

fn length(datagram: &Datagram) -> u32 {
    datagram.bytes.len() as u32 + HEADERS
}

/// The datagram with the mark that a queue has given it.
fn marked(datagram: Datagram, marks: Marks) -> Datagram {
    if marks.intersects(Marks::CE) { Datagram { ecn: Field::Ce, ..datagram } } else { datagram }
}
