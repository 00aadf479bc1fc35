//! A path for tests of protocols: a line with its queue, the delay behind it, and what goes wrong
//! on the way. Packets are pushed at one end and polled at the other, in simulated time; the bytes
//! are the caller's. Same seed and same calls, same outcome.
//!
//! A path carries one direction. Time is an argument and never goes back over the calls. A call may
//! be late: each packet leaves and arrives at its own time, and [`Poll`] says which that was.
//!
//! ```
//! use fairq_link::path::{Path, PathSettings, Poll};
//! use fairq_sched::contract::Line;
//! use fairq_sched::packet::{Address, Header};
//! use fairq_sched::queue::Queue;
//! use fairq_sched::registry::SchedulerSettings;
//! use fairq_sched::units::{Limit, Rate, Time};
//!
//! let rate = Rate::new(8_000_000).unwrap();
//! let queue = Queue::new(SchedulerSettings::by_name("fq").unwrap(), Some(Limit::Packets(2)));
//! let settings = PathSettings::new(rate, Time::from_ms(10));
//! let mut path = Path::new(settings, queue.build(&Line::new(rate)), 1);
//! let header = Header {
//!     source: Address::Node(0),
//!     destination: Address::Node(1),
//!     protocol: 17,
//!     source_port: 7,
//!     destination_port: 9,
//!     tos: 0,
//! };
//! for payload in ["one", "two", "three", "four"] {
//!     path.push(Time::ZERO, 1000, &header, payload);
//! }
//! let mut log = Vec::new();
//! let mut now = Time::ZERO;
//! loop {
//!     match path.poll(now) {
//!         Poll::Delivered { at, payload, .. } => log.push((payload, at)),
//!         Poll::Dropped { at, payload, why } => log.push((payload, at)),
//!         Poll::NotBefore(time) => now = time,
//!         Poll::Empty => break,
//!     }
//! }
//! let ms = Time::from_ms;
//! // One was being sent and two waited; the queue had no room for the last.
//! assert_eq!(log, [("four", ms(0)), ("one", ms(11)), ("two", ms(12)), ("three", ms(13))]);
//! ```
//!
//! A whole test, of a protocol that sends a packet again until it is acknowledged:
//! `crates/link/tests/stop_and_wait.rs`.

use crate::ecn::Field;
use crate::impairment::{Impaired, Impairment, Journey};
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline, Held};
use fairq_sched::packet::{Fates, Header, Marks, Outcome, Packet, Reason};
use fairq_sched::port::{Port, PortCounts, Sink};
use fairq_sched::service::{Service, Transmitter};
use fairq_sched::units::{Rate, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

/// What a path is made of, but for its queue.
pub struct PathSettings {
    /// What sends the packets.
    pub service: Box<dyn Service>,
    /// The time from the end of a transmission to the arrival.
    pub delay: Time,
    /// What goes wrong on the way.
    pub impairment: Impairment,
}

impl PathSettings {
    /// A path of a fixed rate on which nothing goes wrong.
    #[must_use]
    pub fn new(rate: Rate, delay: Time) -> Self {
        Self { service: Box::new(Transmitter::new(rate)), delay, impairment: Impairment::default() }
    }
}

/// What happened on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll<T> {
    /// A packet has arrived.
    Delivered {
        /// When: not the time of the call, if that is late.
        at: Time,
        /// The marks that it carries: those that its sender set and those that it was given.
        marks: Marks,
        /// What was pushed.
        payload: T,
    },
    /// A packet will not arrive.
    Dropped {
        /// When it was dropped; if it was lost on the way, when its transmission ended.
        at: Time,
        /// Why; [`Reason::Lost`] if it was lost on the way.
        why: Reason,
        /// What was pushed.
        payload: T,
    },
    /// Nothing happens before this time, unless another call changes that.
    NotBefore(Time),
    /// Nothing happens, unless another call changes that.
    Empty,
}

/// What can change on a path.
pub enum PathChange<'a, D> {
    /// The line or its queue ([`Port::change`]).
    Port(Change<'a>),
    /// The line goes down or comes up ([`Port::up`]).
    Up(bool),
    /// Another delay, of packets whose transmission ends from now on. They arrive in order all the
    /// same.
    Delay(Time),
    /// Other impairments, of packets whose transmission ends from now on. The random streams go on.
    Impairment(Impairment),
    /// Another queue. The packets that wait arrive there in the order in which the queue before
    /// would have sent them; that may drop some.
    Queue(D),
}

/// A path from one end to the other. `T` is what its owner has each packet carry.
pub struct Path<D, T> {
    port: Port<D, Box<dyn Service>>,
    road: Road,
    /// By token: the packets on the path.
    carried: Vec<Option<Carried<T>>>,
    /// Tokens that are free.
    free: Vec<u32>,
}

/// What the owner said of a packet.
struct Carried<T> {
    header: Header,
    payload: T,
}

/// What is behind the line.
struct Road {
    delay: Time,
    impaired: Impaired,
    /// What the owner is to hear of, the earliest first.
    due: BinaryHeap<Reverse<Due>>,
    number: u64,
}

/// A packet that arrives with these marks, or why it does not. The order: time; a packet that kept
/// its place before one that lost it; the order in which the outcomes were known.
type Due = (Time, bool, u64, u32, Result<u8, Reason>);

impl Road {
    fn note(&mut self, at: Time, is_late: bool, packet: &Packet, outcome: Result<u8, Reason>) {
        self.due.push(Reverse((at, is_late, self.number, packet.token as u32, outcome)));
        self.number += 1;
    }
}

impl Sink for Road {
    fn begins(&mut self, _: &Packet, _: Time, _: Time) {}

    fn dropped(&mut self, packet: &Packet, at: Time, why: Reason) {
        self.note(at, false, packet, Err(why));
    }

    fn ended(&mut self, packet: &Packet, at: Time) {
        match self.impaired.journey(at.saturating_add(self.delay)) {
            Journey::Lost => self.note(at, false, packet, Err(Reason::Lost)),
            Journey::InOrder(time) => self.note(time, false, packet, Ok(packet.marks.0)),
            Journey::Late(time) => self.note(time, true, packet, Ok(packet.marks.0)),
        }
    }
}

/// Is told what happens on the line of a path, when it happens, with what the packet carries.
/// [`Poll`] tells of arrivals, drops and losses in order of time; this tells of the line.
pub trait Watch<T> {
    /// The transmission of the packet begins at `at`.
    fn begins(&mut self, _packet: &Packet, _payload: &T, _at: Time) {}

    /// The transmission of the packet was interrupted: it waits again.
    fn interrupted(&mut self, _packet: &Packet, _payload: &T, _at: Time) {}

    /// The last bit of the packet was sent.
    fn ended(&mut self, _packet: &Packet, _payload: &T, _at: Time) {}

    /// The queue dropped the packet, or the line went down while it was sent.
    fn dropped(&mut self, _packet: &Packet, _payload: &T, _at: Time, _why: Reason) {}

    /// The packet was given `marks`.
    fn marked(&mut self, _packet: &Packet, _payload: &T, _at: Time, _marks: Marks) {}
}

/// Hears of nothing.
impl<T> Watch<T> for () {}

/// What hears of the port: the road behind it, then the owner's watch.
struct Told<'a, T, W: ?Sized> {
    road: &'a mut Road,
    carried: &'a [Option<Carried<T>>],
    watch: &'a mut W,
}

/// What `packet`, which is on the path, carries.
fn payload_of<'a, T>(carried: &'a [Option<Carried<T>>], packet: &Packet) -> &'a T {
    match &carried[packet.token as usize] {
        Some(carried) => &carried.payload,
        None => unreachable!("a packet that the port holds is on the path"),
    }
}

impl<T, W: Watch<T> + ?Sized> Sink for Told<'_, T, W> {
    fn begins(&mut self, packet: &Packet, at: Time, _: Time) {
        self.watch.begins(packet, payload_of(self.carried, packet), at);
    }

    fn dropped(&mut self, packet: &Packet, at: Time, why: Reason) {
        self.road.dropped(packet, at, why);
        self.watch.dropped(packet, payload_of(self.carried, packet), at, why);
    }

    fn ended(&mut self, packet: &Packet, at: Time) {
        self.road.ended(packet, at);
        self.watch.ended(packet, payload_of(self.carried, packet), at);
    }

    fn marked(&mut self, packet: &Packet, at: Time, marks: Marks) {
        self.watch.marked(packet, payload_of(self.carried, packet), at, marks);
    }

    fn interrupted(&mut self, packet: &Packet, at: Time) {
        self.watch.interrupted(packet, payload_of(self.carried, packet), at);
    }
}

impl<D: Discipline, T> Path<D, T> {
    /// A path on which no packet is. `seed` is that of loss, jitter and reordering.
    #[must_use]
    pub fn new(settings: PathSettings, discipline: D, seed: u64) -> Self {
        let PathSettings { service, delay, impairment } = settings;
        let impaired = Impaired::new(impairment, seed, "path");
        Self {
            port: Port::new(discipline, service).interrupting(),
            road: Road { delay, impaired, due: BinaryHeap::new(), number: 0 },
            carried: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Sends a packet of `bytes` on the line. Its ECN field in `header` says which marks it carries
    /// and accepts.
    pub fn push(&mut self, now: Time, bytes: u32, header: &Header, payload: T) {
        self.push_watched(now, Packet::new(0, now, bytes), header, payload, &mut ());
    }

    /// Sends `packet` on the line, as [`Path::push`], with what a watch hears of the line until
    /// then. Of its fields the caller gives the length, the bytes of the link's header, and what it
    /// acknowledges; the others are set here.
    pub fn push_watched<W: Watch<T> + ?Sized>(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        payload: T,
        watch: &mut W,
    ) {
        let carried = Some(Carried { header: *header, payload });
        let token = self.free.pop().unwrap_or(self.carried.len() as u32);
        match self.carried.get_mut(token as usize) {
            Some(place) => *place = carried,
            None => self.carried.push(carried),
        }
        let field = Field::of(header.tos);
        let (marks, accepts) = (field.marks(), field.accepts());
        let packet = Packet { token: token.into(), arrival: now, tos: header.tos, marks, accepts, ..packet };
        let mut told = Told { road: &mut self.road, carried: &self.carried, watch };
        self.port.arrive(now, packet, header, &mut told);
    }

    /// The next thing that has happened by `now`, in order of time. Call it until it names a time
    /// or is [`Poll::Empty`].
    pub fn poll(&mut self, now: Time) -> Poll<T> {
        self.poll_watched(now, &mut ())
    }

    /// As [`Path::poll`], with what a watch hears of the line until then.
    pub fn poll_watched<W: Watch<T> + ?Sized>(&mut self, now: Time, watch: &mut W) -> Poll<T> {
        self.port.update(now, &mut Told { road: &mut self.road, carried: &self.carried, watch });
        if let Some(Reverse((at, _, _, token, outcome))) = self.road.due.peek().copied().filter(|due| due.0.0 <= now) {
            self.road.due.pop();
            self.free.push(token);
            let Some(Carried { payload, .. }) = self.carried[token as usize].take() else {
                unreachable!("a packet has one outcome")
            };
            return match outcome {
                Ok(marks) => Poll::Delivered { at, marks: Marks(marks), payload },
                Err(why) => Poll::Dropped { at, why, payload },
            };
        }
        self.next_time().map_or(Poll::Empty, Poll::NotBefore)
    }

    /// When the next thing happens, if no other call changes that.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let line = self.port.next_end();
        // An update of a line that waits may release a packet.
        let update = line.filter(|_| self.port.sending().is_none()).and_then(|_| self.port.next_update());
        self.road.due.peek().map(|due| due.0.0).into_iter().chain(line).chain(update).min()
    }

    /// Changes the path from now on.
    ///
    /// # Errors
    ///
    /// If the line or its queue cannot; nothing has changed then.
    pub fn change(&mut self, now: Time, change: PathChange<'_, D>) -> Result<(), Unsupported> {
        // What ended before is on its way already.
        self.port.advance(now, &mut self.road);
        match change {
            PathChange::Port(change) => return self.port.change(now, &change, &mut self.road),
            PathChange::Up(up) => self.port.up(now, up, &mut self.road),
            PathChange::Delay(delay) => self.road.delay = delay,
            PathChange::Impairment(impairment) => self.road.impaired.change(impairment),
            PathChange::Queue(discipline) => {
                let old = self.port.exchange(now, discipline, &mut self.road);
                self.move_from(old, now);
            }
        }
        Ok(())
    }

    /// The packets of the queue before arrive in the present one.
    fn move_from(&mut self, mut old: D, now: Time) {
        let (mut time, mut fates) = (now, Fates::new());
        loop {
            let answer = old.dequeue(time, &mut fates);
            for fate in fates.drain(..) {
                if let Outcome::Dropped(why) = fate.outcome {
                    self.road.dropped(&fate.packet, now, why);
                }
            }
            match answer {
                Dequeue::Send(packet) => {
                    let Some(Carried { header, .. }) = &self.carried[packet.token as usize] else {
                        unreachable!("a packet that waits is on the path")
                    };
                    let packet = Packet { arrival: now, unsent_bits: 0, ..packet };
                    self.port.arrive(now, packet, header, &mut self.road);
                }
                Dequeue::NotBefore(later) => time = later.max(time.saturating_add(Time(1))),
                Dequeue::Empty => return,
            }
        }
    }

    /// The queue.
    #[must_use]
    pub const fn discipline(&self) -> &D {
        self.port.discipline()
    }

    /// What waits in the queue.
    #[must_use]
    pub fn held(&self) -> Held {
        self.port.held()
    }

    /// Packets on the path that [`Path::poll`] has not told of: waiting, being sent, in flight.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.carried.len() - self.free.len()
    }

    /// What went through the queue and the line.
    #[must_use]
    pub const fn counts(&self) -> &PortCounts {
        self.port.counts()
    }
}

impl<D, T> fmt::Debug for Path<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Path").field("port", &self.port).field("delay", &self.road.delay).finish_non_exhaustive()
    }
}
