//! The work of flows: real connections and datagrams between hosts.

use crate::clock::{self, now};
use crate::fault::Fault;
use crate::host::Host;
use crate::plan::{FlowPlan, Plan, Work};
use crate::sys;
use fairq_sched::units::Time;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, listen, socket_with, sockopt};
use rustix::thread::set_current_timer_slack;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a thread is deaf to the end of the run.
const DEAF: Duration = Duration::from_millis(50);
/// How often a sender asks its kernel for its round trip time and window.
const SAMPLE: u64 = 10_000_000;
/// Bytes of one call.
const CHUNK: usize = 128 << 10;
/// What datagrams may wait for the receiver in; the kernel may give less.
const BUFFER: usize = 4 << 20;
const PICOSECONDS: u64 = 1000;

/// Flows that run. They end when it is dropped.
#[derive(Debug)]
pub struct Workload {
    flows: Vec<Arc<Flow>>,
}

/// What a flow has done so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Bytes that were given to the kernel for sending: payload.
    pub sent: u64,
    /// Bytes that the receiver's kernel has acknowledged: payload; of datagrams none.
    pub acknowledged: u64,
    /// Bytes that the receiver's program has got: payload.
    pub received: u64,
    /// When the last byte of a flow with an end had come, from the start of the run.
    pub completed: Option<Time>,
    /// The round trip time as the sender's kernel estimates it.
    pub rtt: Option<Time>,
    /// The congestion window, in segments.
    pub window: Option<u32>,
    /// Segments that the sender's kernel has sent again.
    pub retransmitted: u64,
    /// What went wrong, if anything.
    pub fault: Option<String>,
}

/// Makes the sockets of the flows of `plan` in their hosts, and threads that begin to send at
/// the flow's start, counted from now.
///
/// # Errors
/// If a socket is refused.
pub fn start(plan: &Plan, hosts: &[Host]) -> Result<Workload, Fault> {
    let zero = now();
    let mut flows = Vec::new();
    for (number, plan) in plan.flows.iter().enumerate() {
        let flow = Arc::new(Flow::new(plan.clone(), number, zero));
        let host = |end: usize| {
            let host = usize::try_from(plan.ends[end]).ok().and_then(|number| hosts.get(number));
            host.ok_or_else(|| Fault::new(format!("flow {}: there is no host {}", plan.name, plan.ends[end])))
        };
        let (sender, receiver) = (host(0)?, host(1)?);
        // Receivers are there before any sender starts, and a port in use is said at once.
        let failed = |e: io::Error| Fault::of(&format!("flow {}: its receiver at {}", plan.name, flow.to), &e);
        let receiving = Arc::clone(&flow);
        match plan.work {
            Work::Bulk { .. } => {
                let listener = receiver.run(move || receiving.listen())?.map_err(failed)?;
                let receiving = Arc::clone(&flow);
                receiver.spawn(move || receiving.run(|flow| flow.receive(&listener)))?;
            }
            Work::Datagrams { .. } => {
                let socket = receiver.run(move || receiving.take_datagrams())?.map_err(failed)?;
                let receiving = Arc::clone(&flow);
                receiver.spawn(move || receiving.run(|flow| flow.count(&socket)))?;
            }
        }
        let sending = Arc::clone(&flow);
        sender.spawn(move || sending.run(Flow::send))?;
        flows.push(flow);
    }
    Ok(Workload { flows })
}

impl Workload {
    /// By flow of the plan.
    pub fn done(&self) -> Vec<Done> {
        self.flows.iter().map(|flow| flow.done()).collect()
    }

    /// Whether every flow with an end has come to it; false if there is none.
    pub fn is_complete(&self) -> bool {
        let mut with_end = self.flows.iter().filter(|flow| matches!(flow.plan.work, Work::Bulk { bytes: Some(_), .. }));
        let some = with_end.clone().next().is_some();
        some && with_end.all(|flow| flow.completed.load(Ordering::Relaxed) != 0)
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        for flow in &self.flows {
            flow.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// A flow, as its two threads and its reader share it. Numbers are 0 before they are known.
#[derive(Debug)]
struct Flow {
    plan: FlowPlan,
    from: SocketAddr,
    to: SocketAddr,
    zero: u64,
    stop: AtomicBool,
    sent: AtomicU64,
    acknowledged: AtomicU64,
    received: AtomicU64,
    /// Nanoseconds from `zero`.
    completed: AtomicU64,
    /// Microseconds.
    rtt: AtomicU64,
    window: AtomicU64,
    retransmitted: AtomicU64,
    fault: Mutex<Option<String>>,
}

impl Flow {
    fn new(plan: FlowPlan, number: usize, zero: u64) -> Self {
        let end = |end: usize| SocketAddr::new(plan.addresses[end], FlowPlan::port(number));
        Self {
            from: end(0),
            to: end(1),
            plan,
            zero,
            stop: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            received: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            rtt: AtomicU64::new(0),
            window: AtomicU64::new(0),
            retransmitted: AtomicU64::new(0),
            fault: Mutex::new(None),
        }
    }

    fn done(&self) -> Done {
        let known = |number: &AtomicU64| Some(number.load(Ordering::Relaxed)).filter(|number| *number > 0);
        let nanoseconds = |count: u64| Time(count.saturating_mul(PICOSECONDS));
        Done {
            sent: self.sent.load(Ordering::Relaxed),
            acknowledged: self.acknowledged.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            completed: known(&self.completed).map(nanoseconds),
            rtt: known(&self.rtt).map(|microseconds| nanoseconds(microseconds.saturating_mul(1000))),
            window: known(&self.window).and_then(|window| u32::try_from(window).ok()),
            retransmitted: self.retransmitted.load(Ordering::Relaxed),
            fault: self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Does one end's work; keeps what went wrong first, unless the run is over.
    fn run(&self, what: impl FnOnce(&Self) -> io::Result<()>) {
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        if let Err(e) = what(self)
            && !self.is_over()
        {
            let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            fault.get_or_insert(format!("flow {}: {e}", self.plan.name));
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A time of the plan on the clock of the machine.
    fn at(&self, time: Time) -> u64 {
        self.zero.saturating_add(time.0 / PICOSECONDS)
    }

    fn socket(&self, kind: SocketType, address: SocketAddr) -> io::Result<OwnedFd> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        match address.ip() {
            IpAddr::V4(_) => sockopt::set_ip_tos(&socket, self.plan.tos)?,
            IpAddr::V6(_) => sockopt::set_ipv6_tclass(&socket, self.plan.tos.into())?,
        }
        bind(&socket, &address)?;
        Ok(socket)
    }

    fn send(&self) -> io::Result<()> {
        if !self.sleep_until(self.at(self.plan.during[0])) {
            return Ok(());
        }
        match &self.plan.work {
            Work::Bulk { control, bytes } => self.send_bulk(control, *bytes),
            Work::Datagrams { packet, gap } => self.send_datagrams(*packet, *gap),
        }
    }

    fn send_bulk(&self, control: &str, bytes: Option<u64>) -> io::Result<()> {
        let socket = self.socket(SocketType::STREAM, self.from)?;
        sockopt::set_tcp_congestion(&socket, control)
            .map_err(|_| io::Error::other(format!("this kernel has no congestion control `{control}`")))?;
        connect(&socket, &self.to)?;
        let mut connection = TcpStream::from(socket);
        connection.set_write_timeout(Some(DEAF))?;
        let end = self.at(self.plan.during[1]);
        let chunk = vec![0; CHUNK];
        let mut left = bytes.unwrap_or(u64::MAX);
        let mut next_sample = 0;
        while left > 0 && !self.is_over() && now() < end {
            let length = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
            match connection.write(&chunk[..length]) {
                Ok(taken) => {
                    left -= taken as u64;
                    self.sent.fetch_add(taken as u64, Ordering::Relaxed);
                }
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
                Err(e) => return Err(e),
            }
            if now() >= next_sample {
                self.sample(connection.as_fd());
                next_sample = now() + SAMPLE;
            }
        }
        connection.shutdown(Shutdown::Write)?;
        while !self.is_over() {
            self.sample(connection.as_fd());
            std::thread::sleep(DEAF);
        }
        Ok(())
    }

    /// Takes from `TCP_INFO` what is told of a flow; places as in `struct tcp_info` of
    /// `include/uapi/linux/tcp.h`, which only grows at its end.
    fn sample(&self, socket: BorrowedFd<'_>) {
        let mut info = [0; 256];
        let Ok(length) = sys::option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info) else { return };
        let info = &info[..length];
        let word = |at: usize| {
            let four = info.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            u64::from(four.map_or(0, u32::from_ne_bytes))
        };
        self.rtt.store(word(68), Ordering::Relaxed);
        self.window.store(word(80), Ordering::Relaxed);
        self.retransmitted.store(word(100), Ordering::Relaxed);
        let acknowledged = info.get(120..128).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes);
        // The kernel counts the SYN, and at last the FIN.
        let sent = self.sent.load(Ordering::Relaxed);
        self.acknowledged.store(acknowledged.saturating_sub(1).min(sent), Ordering::Relaxed);
    }

    fn send_datagrams(&self, packet: u32, gap: Time) -> io::Result<()> {
        let socket = self.socket(SocketType::DGRAM, self.from)?;
        connect(&socket, &self.to)?;
        let socket = UdpSocket::from(socket);
        let headers = if self.to.is_ipv4() { 28 } else { 48 };
        let payload = vec![0; usize::try_from(packet).unwrap_or(0).saturating_sub(headers)];
        let (start, end) = (self.at(self.plan.during[0]), self.at(self.plan.during[1]));
        for number in 0_u64.. {
            let since_start = u128::from(number) * u128::from(gap.0) / u128::from(PICOSECONDS);
            let when = start.saturating_add(u64::try_from(since_start).unwrap_or(u64::MAX));
            if when >= end || !self.sleep_until(when) {
                break;
            }
            match socket.send(&payload) {
                Ok(sent) => {
                    self.sent.fetch_add(sent as u64, Ordering::Relaxed);
                }
                // The device has no room; or the receiver is gone, as the next may show again.
                Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) || e.kind() == ErrorKind::ConnectionRefused => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn listen(&self) -> io::Result<TcpListener> {
        let socket = self.socket(SocketType::STREAM, self.to)?;
        listen(&socket, 1)?;
        Ok(TcpListener::from(socket))
    }

    fn receive(&self, listener: &TcpListener) -> io::Result<()> {
        let (mut connection, _) = listener.accept()?;
        let wanted = match self.plan.work {
            Work::Bulk { bytes, .. } => bytes,
            Work::Datagrams { .. } => None,
        };
        let mut chunk = vec![0; CHUNK];
        loop {
            let length = connection.read(&mut chunk)?;
            if length == 0 {
                return Ok(());
            }
            let all = self.received.fetch_add(length as u64, Ordering::Relaxed) + length as u64;
            if wanted == Some(all) {
                self.completed.store(now().saturating_sub(self.zero), Ordering::Relaxed);
            }
        }
    }

    fn take_datagrams(&self) -> io::Result<UdpSocket> {
        let socket = self.socket(SocketType::DGRAM, self.to)?;
        sockopt::set_socket_recv_buffer_size(&socket, BUFFER)?;
        let socket = UdpSocket::from(socket);
        socket.set_read_timeout(Some(DEAF))?;
        Ok(socket)
    }

    fn count(&self, socket: &UdpSocket) -> io::Result<()> {
        let mut datagram = vec![0; 1 << 16];
        while !self.is_over() {
            match socket.recv(&mut datagram) {
                Ok(length) => {
                    self.received.fetch_add(length as u64, Ordering::Relaxed);
                }
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Sleeps until a time of the monotonic clock; whether the run goes on.
    fn sleep_until(&self, when: u64) -> bool {
        while !self.is_over() {
            let now = now();
            if now >= when {
                return true;
            }
            let until = when.min(now.saturating_add(u64::try_from(DEAF.as_nanos()).unwrap_or(0)));
            clock::sleep_until(until);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Weight;

    /// Two hosts that are this machine's loopback.
    fn hosts() -> Vec<Host> {
        ["left", "right"].map(|name| Host::new(name.into(), || Ok(())).unwrap().0).into()
    }

    /// Of this process alone: a connection that has ended holds its ports for a minute.
    fn address(last: u8) -> IpAddr {
        let [_, _, high, low] = std::process::id().to_be_bytes();
        IpAddr::from([127, high, low, last])
    }

    fn plan(work: Vec<Work>) -> Plan {
        let flow = |(number, work): (usize, Work)| FlowPlan {
            name: format!("flow{number}").into(),
            ends: [0, 1],
            addresses: [address(1), address(2)],
            lines: [Vec::new(), Vec::new()],
            work,
            during: [Time::from_ms(20), Time::from_s(20)],
            weight: Weight::from_thousandths(1000).unwrap(),
            tos: 0,
        };
        let flows = work.into_iter().enumerate().map(flow).collect();
        Plan { hosts: Vec::new(), lines: Vec::new(), nodes: 0, next: Vec::new(), flows, seed: 0 }
    }

    #[test]
    fn a_transfer_comes_to_its_end_and_datagrams_have_their_length() {
        let bulk = Work::Bulk { control: "reno".into(), bytes: Some(1_000_001) };
        let datagrams = Work::Datagrams { packet: 1000, gap: Time::from_ms(1) };
        let workload = start(&plan(vec![bulk, datagrams]), &hosts()).unwrap();
        for _ in 0..2000 {
            if workload.is_complete() && workload.done()[0].acknowledged > 1_000_000 && workload.done()[1].received > 0
            {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(workload.done().iter().find_map(|flow| flow.fault.clone()), None);
        let [bulk, datagrams] = &workload.done()[..] else { unreachable!("two flows") };
        assert_eq!((bulk.sent, bulk.received, bulk.acknowledged), (1_000_001, 1_000_001, 1_000_001));
        assert!(bulk.completed.unwrap() > Time::from_ms(20));
        assert!(bulk.rtt.is_some() && bulk.window.is_some(), "{bulk:?}");
        assert!(datagrams.received > 0 && datagrams.received % 972 == 0, "{datagrams:?}");
        // The second flow still has its port.
        let bulk = Work::Bulk { control: "reno".into(), bytes: None };
        let again = start(&plan(vec![bulk, Work::Datagrams { packet: 1, gap: Time::from_ms(1) }]), &hosts());
        let message = again.unwrap_err().message;
        let place = format!("flow flow1: its receiver at {}:20001: ", address(2));
        assert!(message.starts_with(&place), "{message}");
    }

    #[test]
    fn ports_follow_the_numbers_of_flows() {
        assert_eq!([FlowPlan::port(0), FlowPlan::port(7), FlowPlan::port(1 << 20)], [20_000, 20_007, u16::MAX]);
    }
}
