//! A link for tests in user space: TCP connections and datagrams on the loopback interface go
//! through a line with a queue, without rights and without namespaces.
//!
//! A client connects to an address of the relay in place of the target's. Its bytes and those of
//! the target go through two [`Path`](fairq_link::path::Path)s, which all clients of all targets
//! share. A datagram is one packet, with the headers of IP and UDP added to its length. The bytes
//! of a connection are cut into segments of 1448 bytes and 52 of headers, at most a window of them
//! on the way, as Reno would; what is dropped is sent again.
//!
//! What it is not: the TCP of the two programs meets the relay, not the line. Their congestion
//! control sees no loss and no mark, acknowledgements take the delay of the way back but none of
//! its capacity, a connection stands at once, and the ECN field is not carried. Real TCP over a
//! line needs the namespaces of the gateway.

mod settings;
mod sockets;
mod stream;
mod tally;
mod ways;
mod window;

pub use settings::{RelaySettings, WayChange, WaySettings};
pub use sockets::Protocol;

use fairq_sched::units::{PS_PER_S, Time};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::{Value, json};
use sockets::{Interest, Of, Sockets};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tally::Lateness;
use ways::{Arrival, DIRECTIONS, Ways};

/// A line on the loopback interface, and the thread that carries its packets.
pub struct Relay {
    state: Arc<Mutex<State>>,
    /// Wakes the thread.
    waker: UnixStream,
    thread: Option<JoinHandle<()>>,
}

struct State {
    clock: Clock,
    ways: Ways,
    sockets: Sockets,
    arrivals: Vec<Arrival>,
    lateness: Lateness,
    is_over: bool,
}

/// Time since the relay began.
#[derive(Clone, Copy)]
struct Clock(Instant);

impl Clock {
    #[allow(clippy::disallowed_methods, reason = "a relay is on the clock of the machine")]
    fn new() -> Self {
        Self(Instant::now())
    }

    fn now(self) -> Time {
        Time(u64::try_from(self.0.elapsed().as_nanos() * 1000).unwrap_or(u64::MAX / 4))
    }
}

impl Relay {
    /// A line on which no packet is.
    ///
    /// # Errors
    /// One line: the setting that is wrong, or what the system refuses.
    pub fn new(settings: &RelaySettings) -> Result<Self, String> {
        let state = State {
            clock: Clock::new(),
            ways: Ways::new(settings)?,
            sockets: Sockets::default(),
            arrivals: Vec::new(),
            lateness: Lateness::default(),
            is_over: false,
        };
        let state = Arc::new(Mutex::new(state));
        let started = UnixStream::pair().and_then(|(waker, woken)| {
            woken.set_nonblocking(true)?;
            waker.set_nonblocking(true)?;
            let shared = state.clone();
            let thread = std::thread::Builder::new().name("fairq-relay".into());
            Ok((waker, thread.spawn(move || serve(&shared, woken))?))
        });
        let (waker, thread) = started.map_err(|error| format!("the relay cannot start: {error}"))?;
        Ok(Self { state, waker, thread: Some(thread) })
    }

    /// Opens a way to `target`: where clients connect, or send datagrams, to reach it through the
    /// line.
    ///
    /// # Errors
    /// One line: an address that is not of this machine alone, or what the system refuses.
    pub fn open(&self, protocol: Protocol, target: SocketAddr) -> Result<SocketAddr, String> {
        if !target.ip().is_loopback() {
            return Err(format!("{target}: a relay stays on this machine; write an address of 127.0.0.0/8 or ::1"));
        }
        let opened = self.state()?.sockets.open(protocol, target);
        self.wake();
        opened.map_err(|error| format!("{target}: the relay cannot open a socket: {error}"))
    }

    /// Changes the direction to the target, or the one back, from now on.
    ///
    /// # Errors
    /// One line: the value that is wrong; nothing has changed then.
    pub fn change(&self, changes: &[Option<WayChange>; 2]) -> Result<(), String> {
        let mut state = self.state()?;
        state.advance();
        let said = || changes.iter().enumerate().filter_map(|(way, change)| Some((way, change.as_ref()?)));
        said().try_for_each(|(way, change)| state.ways.check(way, change))?;
        said().try_for_each(|(way, change)| state.ways.change(way, change))?;
        drop(state);
        self.wake();
        Ok(())
    }

    /// What was counted up to now: flows, queues, lateness and the stamp.
    ///
    /// # Errors
    /// If the relay has failed.
    pub fn stats(&self) -> Result<Value, String> {
        let mut state = self.state()?;
        state.advance();
        Ok(state.document())
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, String> {
        self.state.lock().map_err(|_| "the relay has failed; make another link".into())
    }

    fn wake(&self) {
        // A full buffer wakes as well.
        let _ = (&self.waker).write(&[0]);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        match self.state.lock() {
            Ok(mut state) => state.is_over = true,
            Err(poisoned) => poisoned.into_inner().is_over = true,
        }
        self.wake();
        if let Some(thread) = self.thread.take() {
            // It has failed already if it did.
            let _ = thread.join();
        }
    }
}

impl State {
    /// Runs the line up to now and hands over what has arrived.
    fn advance(&mut self) {
        self.ways.advance(self.clock.now(), &mut self.arrivals);
        for arrival in std::mem::take(&mut self.arrivals) {
            self.lateness.add(self.clock.now().saturating_sub(arrival.at));
            self.sockets.hand_over(arrival, &mut self.ways);
        }
    }

    /// How long there is nothing to do if no socket is ready.
    fn patience(&self) -> Option<Timespec> {
        let wait = self.ways.next_time()?.saturating_sub(self.clock.now());
        Some(Timespec { tv_sec: (wait.0 / PS_PER_S) as i64, tv_nsec: (wait.0 % PS_PER_S / 1000) as _ })
    }

    fn document(&self) -> Value {
        let rows = self.sockets.conversations.iter().flat_map(|conversation| {
            let (client, target) = (conversation.client.to_string(), conversation.target.to_string());
            let ends = [[client.clone(), target.clone()], [target, client]];
            conversation.flows.into_iter().zip(ends).map(|(flow, ends)| {
                let flow = &self.ways.flows[flow];
                flow.tally.document(conversation.protocol.name(), DIRECTIONS[flow.way], ends)
            })
        });
        json!({
            "now_s": self.clock.now().as_s(),
            "flows": rows.collect::<Vec<_>>(),
            "queues": self.ways.queues(),
            "refused": self.sockets.refused,
            "unanswered": self.sockets.unanswered,
            "lateness": self.lateness.document(),
            "stamp": self.lateness.stamp(self.ways.rate(), self.sockets.refused),
        })
    }
}

/// The relay's thread: waits for sockets and for the line, until the relay is over.
fn serve(shared: &Mutex<State>, mut woken: UnixStream) {
    loop {
        let Ok(mut state) = shared.lock() else { return };
        if state.is_over {
            return;
        }
        state.advance();
        let (interest, patience) = (state.sockets.interest(&state.ways), state.patience());
        drop(state);
        let ready = wait(&interest, &woken, patience);
        // Whatever woke it, one read empties what wakes it.
        while matches!(woken.read(&mut [0; 64]), Ok(64)) {}
        let Ok(mut state) = shared.lock() else { return };
        state.advance();
        let State { sockets, ways, .. } = &mut *state;
        for of in ready {
            sockets.ready(of, ways);
        }
    }
}

/// What is ready, after `patience` at the latest.
fn wait(interest: &[Interest], woken: &UnixStream, patience: Option<Timespec>) -> Vec<Of> {
    let mut all = vec![PollFd::new(woken, PollFlags::IN)];
    all.extend(interest.iter().map(|one| PollFd::from_borrowed_fd(one.socket.as_fd(), one.flags)));
    if rustix::event::poll(&mut all, patience.as_ref()).is_err() {
        // A signal, or no memory for the list: what is due is done, and it is asked again.
        std::thread::sleep(Duration::from_micros(100));
        return Vec::new();
    }
    let found = all[1..].iter().zip(interest).filter(|(polled, _)| !polled.revents().is_empty());
    found.map(|(_, one)| one.of).collect()
}

#[cfg(test)]
mod tests;
