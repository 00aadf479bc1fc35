//! A line with its queue as one object: the loop of every driver. The port is told what happens to
//! it and says when it wants to be called again; it reads no clock.
//!
//! At one instant arrivals and changes come first, then the end of a transmission, then a periodic
//! update. A call may be late: a call for `now` first does all that was due before `now`, each
//! thing at its own time, so that the next transmission begins when the last one ended and not when
//! the driver came. Late calls and timely calls give the same packets at the same times.
//!
//! A driver that does nothing else calls [`Port::update`] at [`Port::next_time`]. A driver that has
//! no more arrivals calls [`Port::end`] at [`Port::next_end`] until that is `None`: periodic
//! updates go on for ever.
//!
//! ```
//! use fairq_sched::contract::Line;
//! use fairq_sched::packet::{Address, Header, Packet, Reason};
//! use fairq_sched::port::{Port, Sink};
//! use fairq_sched::queue::Queue;
//! use fairq_sched::registry::SchedulerSettings;
//! use fairq_sched::service::Transmitter;
//! use fairq_sched::units::{Limit, Rate, Time};
//!
//! struct Log(Vec<(u64, Time)>);
//! impl Sink for Log {
//!     fn begins(&mut self, _: &Packet, _: Time, _: Time) {}
//!     fn ended(&mut self, packet: &Packet, at: Time) {
//!         self.0.push((packet.token, at));
//!     }
//!     fn dropped(&mut self, packet: &Packet, at: Time, why: Reason) {
//!         panic!("{why:?}: {packet:?} at {at:?}");
//!     }
//! }
//!
//! let rate = Rate::new(8_000_000).unwrap();
//! let queue = Queue::new(SchedulerSettings::by_name("fq").unwrap(), Some(Limit::Packets(10)));
//! let mut port = Port::new(queue.build(&Line::new(rate)), Transmitter::new(rate));
//! let source = |node| Header {
//!     source: Address::Node(node),
//!     destination: Address::Node(0),
//!     protocol: 0,
//!     source_port: 0,
//!     destination_port: 0,
//!     tos: 0,
//! };
//! let mut log = Log(Vec::new());
//! for token in 0..3 {
//!     port.arrive(Time::ZERO, Packet::new(token, Time::ZERO, 1000), &source(1), &mut log);
//! }
//! port.arrive(Time::ZERO, Packet::new(3, Time::ZERO, 1000), &source(2), &mut log);
//! while let Some(time) = port.next_end() {
//!     port.end(time, &mut log);
//! }
//! // The packet of the second source waits for none but the one that is being sent.
//! let expected = [(0, 1), (3, 2), (1, 3), (2, 4)];
//! assert_eq!(log.0, expected.map(|(token, ms)| (token, Time::from_ms(ms))));
//! assert_eq!(port.counts().sent.packets, 4);
//! ```

use crate::change::{Change, Unsupported};
use crate::contract::{Dequeue, Discipline, Handle, Held};
use crate::count::Count;
use crate::packet::{Fates, Header, Marks, Outcome, Packet, Reason};
use crate::service::Service;
use crate::units::Time;
use crate::waiting::Decision;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::fmt;

/// Is told what becomes of packets, in order of time. Each call has the time at which the event
/// happened, which is before the present one if the port was called late.
pub trait Sink {
    /// The transmission of `packet` begins at `at`; it ends at `end` unless it is interrupted, the
    /// rate changes or the line goes down.
    fn begins(&mut self, packet: &Packet, at: Time, end: Time);

    /// The discipline holds `packet`, which has just arrived, under this name.
    fn joined(&mut self, _packet: &Packet, _at: Time, _handle: Handle) {}

    /// `packet` was dropped.
    fn dropped(&mut self, packet: &Packet, at: Time, why: Reason);

    /// The last bit of `packet` was sent.
    fn ended(&mut self, _packet: &Packet, _at: Time) {}

    /// `packet` was given `marks`.
    fn marked(&mut self, _packet: &Packet, _at: Time, _marks: Marks) {}

    /// The transmission of `packet` was interrupted with [`Packet::unsent_bits`] left. It waits
    /// again.
    fn interrupted(&mut self, _packet: &Packet, _at: Time) {}

    /// Whether it wants to hear why the discipline chose each packet.
    fn hears_decisions(&self) -> bool {
        false
    }

    /// Why the discipline chose `packet`; only if it was built to give reasons
    /// ([`Line::explains`](crate::contract::Line::explains)).
    fn decided(&mut self, _packet: &Packet, _at: Time, _decision: &Decision) {}

    /// The device took `packet` from the discipline into its ring ([`Port::taking_ahead`]).
    fn taken(&mut self, _packet: &Packet, _at: Time) {}
}

/// Hears of nothing.
impl Sink for () {
    fn begins(&mut self, _: &Packet, _: Time, _: Time) {}
    fn dropped(&mut self, _: &Packet, _: Time, _: Reason) {}
}

/// What went through a port: `arrived = sent + dropped + held` at every instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets that were offered.
    pub arrived: Count,
    /// Packets whose transmission has begun, that of the packet being sent included.
    pub sent: Count,
    /// Packets that were dropped, that their owner removed, or that left with a discipline that was
    /// exchanged.
    pub dropped: Count,
    /// Packets that were given a mark.
    pub marked: Count,
    /// Packets that left the discipline after one that arrived later.
    pub overtaken: u64,
}

/// What the line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing; if it is up, no packet waits.
    Idle,
    /// It waits until `due` before it asks the discipline.
    Waiting,
    /// It sends a packet until `due`.
    Sending,
}

/// What sends packets past the discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bypassing {
    Never,
    Port,
    Driver,
}

/// The device's ring: packets that have left the discipline and wait to be sent, in order.
struct Ring {
    packets: VecDeque<Packet>,
    places: usize,
}

/// A line behind a discipline `D`, whose packets `S` sends.
///
/// As built by [`Port::new`] it interrupts no transmission, shows every packet to the discipline,
/// has no ring, and asks an idle line's discipline at each arrival.
pub struct Port<D, S> {
    /// When the line's state changes by itself; [`Time::NEVER`] while it is idle.
    due: Time,
    state: State,
    is_up: bool,
    /// Whether it is stalled, and the bits that are left to send of its packet.
    stalled: Option<u32>,
    bypassing: Bypassing,
    interrupts: bool,
    gathers: bool,
    /// Whether the discipline is told that the line is idle; `None`: if it must know.
    tells_idle: Option<bool>,
    hears_idle: bool,
    replays: bool,
    has_updates: bool,
    /// Whether the packet being sent is the one that the discipline gave last.
    is_last_given: bool,
    /// A packet of at most this many bytes may bypass the discipline; 0: none may.
    bypass: u32,
    /// The packet being sent, and when its transmission began.
    sending: Packet,
    begun: Time,
    service: S,
    discipline: D,
    ring: Option<Box<Ring>>,
    /// The header of the packet being sent, if it bypassed the discipline and is to be replayed
    /// when another arrives.
    passed: Option<Header>,
    /// The latest arrival among the packets that the discipline gave.
    latest: Time,
    counts: PortCounts,
    fates: Fates,
}

impl<D: Discipline, S: Service> Port<D, S> {
    /// An idle line at time zero.
    pub fn new(discipline: D, service: S) -> Self {
        let mut port = Self {
            due: Time::NEVER,
            state: State::Idle,
            is_up: true,
            stalled: None,
            bypassing: Bypassing::Never,
            interrupts: false,
            gathers: false,
            tells_idle: None,
            hears_idle: false,
            replays: false,
            has_updates: false,
            is_last_given: false,
            bypass: 0,
            sending: Packet::new(0, Time::ZERO, 0),
            begun: Time::ZERO,
            service,
            discipline,
            ring: None,
            passed: None,
            latest: Time::ZERO,
            counts: PortCounts::default(),
            fates: Fates::new(),
        };
        port.read_traits();
        port
    }

    /// Interrupts a transmission if the discipline asks for that when a packet arrives. A port with
    /// a ring never does: the discipline does not know which of its packets is being sent.
    #[must_use]
    pub fn interrupting(mut self) -> Self {
        self.interrupts = true;
        self.read_traits();
        self
    }

    /// Sends packets past the discipline where its [traits](crate::traits::Traits::bypass) allow
    /// it: all packets leave at the same times, and most are not shown to it.
    #[must_use]
    pub fn bypassing(mut self) -> Self {
        self.bypassing = Bypassing::Port;
        self.read_traits();
        self
    }

    /// Its driver sends packets past the discipline where its traits allow it, and may tell of them
    /// afterwards: [`Port::bypassed`].
    #[must_use]
    pub const fn bypassed_by_its_driver(mut self) -> Self {
        self.bypassing = Bypassing::Driver;
        self
    }

    /// Gives the device a ring: up to `places` packets leave the discipline while another is sent.
    /// No later packet overtakes them.
    #[must_use]
    pub fn taking_ahead(mut self, places: u32) -> Self {
        self.ring = (places > 0).then(|| Box::new(Ring { packets: VecDeque::new(), places: places as usize }));
        self.read_traits();
        self
    }

    /// Makes an idle line ask the discipline after all arrivals of the instant: at the next call
    /// for a later time, or at [`Port::end`]. No packet bypasses the discipline then.
    #[must_use]
    pub fn gathering(mut self) -> Self {
        self.gathers = true;
        self.read_traits();
        self
    }

    /// Tells the discipline that the line is idle, or does not, whatever its traits say: a device
    /// asks once more when it has sent all, and a class of htb asks only while packets wait.
    #[must_use]
    pub fn telling_idle(mut self, tells: bool) -> Self {
        self.tells_idle = Some(tells);
        self.read_traits();
        self
    }

    fn read_traits(&mut self) {
        let traits = self.discipline.traits();
        self.hears_idle = self.tells_idle.unwrap_or(traits.hears_idle);
        self.replays = traits.replays;
        self.has_updates = self.discipline.next_update().is_some();
        let interrupts = self.interrupts && traits.preempts;
        let is_allowed = self.bypassing == Bypassing::Port && !interrupts && !self.gathers && self.ring.is_none();
        self.bypass = if is_allowed { traits.bypass } else { 0 };
    }

    /// Offers a packet. Returns its name while it is held; `None` if it was dropped or bypassed the
    /// discipline.
    #[inline]
    pub fn arrive(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        out: &mut (impl Sink + ?Sized),
    ) -> Option<Handle> {
        self.run_before(now, out);
        self.counts.arrived.add(&packet);
        if self.bypassing != Bypassing::Never {
            if self.may_bypass(now, &packet) {
                self.passed = Some(*header).filter(|_| self.replays);
                (self.sending, self.is_last_given) = (packet, false);
                self.send(now, false, out);
                return None;
            }
            self.catch_up(now);
        }
        let handle = self.discipline.enqueue(now, packet, header, &mut self.fates);
        self.settle(now, out);
        if let Some(handle) = handle {
            out.joined(&packet, now, handle);
        }
        match self.state {
            State::Sending if self.interrupts && self.wants_interruption(now) => self.interrupt(now, out),
            State::Sending => self.take_ahead(now, out),
            State::Idle | State::Waiting => self.ask_or_gather(now, out),
        }
        self.check();
        handle
    }

    /// Does all that was due before `now`, as any other call for `now` does first.
    #[inline]
    pub fn advance(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        self.run_before(now, out);
    }

    /// Does all that was due before `now`, and what ends at `now`. Harmless if nothing is due.
    #[inline]
    pub fn end(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        self.run(after(now), now, out);
    }

    /// Does all that is due up to and including `now`, a periodic update last. Harmless if nothing
    /// is due.
    #[inline]
    pub fn update(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        self.run(after(now), after(now), out);
    }

    /// Does one thing of those that [`Port::end`] does: what ends first, if it ends by `now`. For a
    /// driver with other events in an instant, which come between two ends of the same line.
    #[inline]
    pub fn step(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        if self.due <= now {
            self.end_at(self.due, out);
            self.check();
        }
    }

    /// As [`Port::step`], for a periodic update: runs the one that is due by `now`, if any.
    pub fn step_update(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        if let Some(update) = self.next_update().filter(|update| *update <= now) {
            self.update_at(update, out);
            self.check();
        }
    }

    /// When [`Port::end`] is due: a transmission ends, or a packet that waits may leave. `None` if
    /// only an arrival can change that. May change with every other call that takes `out`.
    #[must_use]
    #[inline]
    pub fn next_end(&self) -> Option<Time> {
        (self.due != Time::NEVER).then_some(self.due)
    }

    /// When a periodic update of the discipline is due, if it has any. May change with every call
    /// that takes `out`.
    #[must_use]
    #[inline]
    pub fn next_update(&self) -> Option<Time> {
        if self.has_updates { self.discipline.next_update() } else { None }
    }

    /// When [`Port::update`] is due: the earlier of [`Port::next_end`] and [`Port::next_update`].
    #[must_use]
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        self.next_end().into_iter().chain(self.next_update()).min()
    }

    /// Removes the packet called `handle` and hands it back, counted as dropped; the sink is not
    /// told. `None` if it waits no more, or waits in the ring.
    pub fn remove(&mut self, now: Time, handle: Handle, out: &mut (impl Sink + ?Sized)) -> Option<Packet> {
        self.run_before(now, out);
        let packet = self.discipline.remove(now, handle)?;
        self.counts.dropped.add(&packet);
        // The time that the discipline named may have depended on the packet.
        self.ask_again(now, out);
        self.check();
        Some(packet)
    }

    /// The line goes down, or comes up again. A packet that is being sent when it goes down is lost
    /// ([`Reason::Down`]), unless its last bit leaves at this instant. While the line is down
    /// packets wait, in the ring too, and the limit holds; no transmission begins.
    pub fn up(&mut self, now: Time, up: bool, out: &mut (impl Sink + ?Sized)) {
        self.run_before(now, out);
        if up == self.is_up {
            return;
        }
        if up {
            self.is_up = true;
            return self.ask_or_gather(now, out);
        }
        if self.cut(now, out).is_some_and(|rest| rest > 0) {
            self.counts.sent.take_back(&self.sending);
            self.counts.dropped.add(&self.sending);
            out.dropped(&self.sending, now, Reason::Down);
        }
        self.is_up = false;
        if self.stalled.is_some() {
            self.stalled = Some(0);
        }
        self.idle();
        self.check();
    }

    /// The line sends no more until a [change](Port::change) of its rate: its rate is 0. The packet
    /// being sent is not lost; its rest is sent then.
    pub fn stall(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        self.run_before(now, out);
        if self.stalled.is_some() {
            return;
        }
        let rest = self.cut(now, out).unwrap_or(0);
        self.stalled = Some(rest);
        if rest > 0 {
            self.due = Time::NEVER
        } else {
            self.idle()
        }
        self.check();
    }

    /// Stops the transmission, unless its last bit leaves at this instant. The bits that are left
    /// of it, 0 if it has ended; `None` if there was none.
    fn cut(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) -> Option<u32> {
        // The discipline learns of a packet that bypassed it: it believes that this packet is being
        // sent until it is asked again.
        if self.bypassing != Bypassing::Never {
            self.catch_up(now);
        }
        if self.state != State::Sending {
            return None;
        }
        if let Some(rest) = self.stalled {
            return Some(rest);
        }
        if self.due <= now {
            out.ended(&self.sending, now);
            return Some(0);
        }
        Some(self.service.interrupt(now, self.due))
    }

    /// The line has a rate again: the rest of its packet is sent, or the next packet.
    fn resume(&mut self, now: Time, rest: u32, out: &mut (impl Sink + ?Sized)) {
        if self.state == State::Sending {
            self.service.begin(now);
            self.due = self.service.send(rest.into());
        } else {
            self.ask_or_gather(now, out);
        }
    }

    /// Changes the line or its queue from now on. After a change of the rate the rest of the packet
    /// being sent goes at the new rate: [`Port::next_end`] says when that ends. What a discipline
    /// keeps and what it resets is in its doc.
    ///
    /// # Errors
    ///
    /// If it cannot; nothing has changed then.
    pub fn change(
        &mut self,
        now: Time,
        change: &Change<'_>,
        out: &mut (impl Sink + ?Sized),
    ) -> Result<(), Unsupported> {
        self.run_before(now, out);
        if self.bypassing != Bypassing::Never {
            self.catch_up(now);
        }
        let mut rest = None;
        if let Change::Rate(rate) = *change {
            let end = self.service.change(now, rate)?;
            rest = self.stalled.take();
            if self.state == State::Sending && rest.is_none() {
                self.due = end;
            }
        }
        let answer = self.discipline.change(now, change);
        debug_assert!(answer.is_ok() || !matches!(change, Change::Rate(_)), "a rate binds the line whatever its queue");
        self.read_traits();
        match rest {
            Some(rest) => self.resume(now, rest, out),
            None => self.ask_again(now, out),
        }
        answer
    }

    /// Counts a packet that its driver dropped before it came to the discipline, and tells the
    /// sink.
    pub fn refuse(&mut self, now: Time, packet: &Packet, why: Reason, out: &mut (impl Sink + ?Sized)) {
        self.run_before(now, out);
        self.counts.arrived.add(packet);
        self.counts.dropped.add(packet);
        out.dropped(packet, now, why);
    }

    /// Puts `other` in the place of the discipline. Returns the old one with the packets that wait
    /// in it, counted as dropped; their owner decides what becomes of them. The packet being sent
    /// goes on and can no longer be interrupted; the ring keeps its packets. What `other` holds
    /// counts as arrived.
    pub fn exchange(&mut self, now: Time, other: D, out: &mut (impl Sink + ?Sized)) -> D {
        self.run_before(now, out);
        if self.bypassing != Bypassing::Never {
            self.catch_up(now);
        }
        let old = core::mem::replace(&mut self.discipline, other);
        self.counts.dropped.add_held(old.held());
        self.counts.arrived.add_held(self.discipline.held());
        self.is_last_given = false;
        self.read_traits();
        // The updates that it missed are one: the line was not behind it then.
        if self.next_update().is_some_and(|update| update <= now) {
            self.discipline.update(now);
        }
        if self.state != State::Sending {
            self.ask_or_gather(now, out);
        }
        self.check();
        old
    }

    /// Asks the discipline again if the line waits. Needed after a change that was made through
    /// [`Port::discipline_mut`]; harmless otherwise.
    pub fn ask_again(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        if self.state == State::Waiting {
            self.ask_or_gather(now, out);
        }
    }

    /// Its driver sent `packet` past the discipline at `at`, when the line was idle and the
    /// discipline's [traits](crate::traits::Traits::bypass) allowed it. A driver that knows when
    /// the transmission ends need tell only of the last such packet, and only if the port is
    /// called before that end. The sink is not told.
    pub fn bypassed(&mut self, at: Time, packet: Packet, header: &Header) {
        debug_assert!(self.state == State::Idle && self.is_open(), "the line is idle");
        self.counts.arrived.add(&packet);
        self.passed = Some(*header).filter(|_| self.replays);
        (self.sending, self.is_last_given) = (packet, false);
        self.send(at, false, &mut ());
    }

    /// The discipline.
    #[must_use]
    pub const fn discipline(&self) -> &D {
        &self.discipline
    }

    /// The discipline, for what is no part of the contract of a port. No packet may be put in or
    /// taken out.
    #[must_use]
    pub const fn discipline_mut(&mut self) -> &mut D {
        &mut self.discipline
    }

    /// What sends the packets.
    #[must_use]
    pub const fn service(&self) -> &S {
        &self.service
    }

    /// What sends the packets, for what is no part of the contract of a port.
    #[must_use]
    pub const fn service_mut(&mut self) -> &mut S {
        &mut self.service
    }

    /// The packet being sent, when its transmission began and when it ends.
    #[must_use]
    pub fn sending(&self) -> Option<(Packet, Time, Time)> {
        (self.state == State::Sending).then_some((self.sending, self.begun, self.due))
    }

    /// Whether a packet is being sent.
    #[must_use]
    #[inline]
    pub const fn is_sending(&self) -> bool {
        matches!(self.state, State::Sending)
    }

    /// The bits that are left to send of the packet of a line that is [stalled](Port::stall), 0 if
    /// it has none; `None` if it is not.
    #[must_use]
    pub const fn stalled(&self) -> Option<u32> {
        self.stalled
    }

    /// Whether the line may send.
    const fn is_open(&self) -> bool {
        self.is_up && self.stalled.is_none()
    }

    /// Whether the line is up.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.is_up
    }

    /// What waits, in the discipline and in the ring.
    #[must_use]
    pub fn held(&self) -> Held {
        let PortCounts { arrived, sent, dropped, .. } = self.counts;
        Held {
            packets: arrived.packets - sent.packets - dropped.packets,
            bytes: arrived.bytes - sent.bytes - dropped.bytes,
        }
    }

    /// What went through it.
    #[must_use]
    pub const fn counts(&self) -> &PortCounts {
        &self.counts
    }

    /// How many packets wait, in the discipline and in the ring.
    #[must_use]
    #[inline]
    pub const fn waiting(&self) -> u64 {
        self.counts.arrived.packets - self.counts.sent.packets - self.counts.dropped.packets
    }

    /// Does all that was due before `now`.
    #[inline]
    fn run_before(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        if self.due < now || self.has_updates {
            self.run(now, now, out);
        }
        debug_assert!(self.state != State::Sending || self.begun <= now, "time goes back to {now:?}");
    }

    /// Runs what ends before `ends_before` and the updates that are due before `updates_before`,
    /// which is not later; at one instant the end comes first.
    fn run(&mut self, ends_before: Time, updates_before: Time, out: &mut (impl Sink + ?Sized)) {
        loop {
            let update = self.next_update().unwrap_or(Time::NEVER);
            if self.due < ends_before && self.due <= update {
                self.end_at(self.due, out);
            } else if update < updates_before {
                self.update_at(update, out);
            } else {
                break;
            }
        }
        self.check();
    }

    fn update_at(&mut self, at: Time, out: &mut (impl Sink + ?Sized)) {
        self.discipline.update(at);
        debug_assert!(self.next_update().is_none_or(|next| next > at), "an update is done once");
        if self.state == State::Waiting {
            self.ask(at, false, out);
        }
    }

    /// A transmission ends at `at`, or the line has waited until then.
    fn end_at(&mut self, at: Time, out: &mut (impl Sink + ?Sized)) {
        let was_sending = self.state == State::Sending;
        self.idle();
        if was_sending {
            out.ended(&self.sending, at);
            if self.waiting() == 0 && (!self.hears_idle || self.bypassing != Bypassing::Never) {
                return;
            }
        }
        self.ask(at, was_sending, out);
    }

    const fn idle(&mut self) {
        (self.state, self.due, self.passed) = (State::Idle, Time::NEVER, None);
    }

    fn ask_or_gather(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        if self.gathers && self.is_open() {
            (self.state, self.due) = (State::Waiting, now);
        } else {
            self.ask(now, false, out);
        }
    }

    /// Asks what is sent next on a line that is free, if it is up. With `continues` a transmission
    /// has ended at this instant.
    fn ask(&mut self, at: Time, continues: bool, out: &mut (impl Sink + ?Sized)) {
        if !self.is_open() {
            return;
        }
        if let Some(packet) = self.ring.as_mut().and_then(|ring| ring.packets.pop_front()) {
            (self.sending, self.is_last_given) = (packet, false);
            return self.send(at, continues, out);
        }
        match self.dequeue(at, out) {
            Dequeue::Send(packet) => {
                (self.sending, self.is_last_given) = (packet, true);
                self.send(at, continues, out);
            }
            // A time that is not in the future would have the port ask for ever.
            Dequeue::NotBefore(time) => (self.state, self.due) = (State::Waiting, time.max(after(at))),
            Dequeue::Empty => self.idle(),
        }
    }

    #[inline]
    fn dequeue(&mut self, at: Time, out: &mut (impl Sink + ?Sized)) -> Dequeue {
        let answer = self.discipline.dequeue(at, &mut self.fates);
        if let Dequeue::Send(packet) = &answer {
            self.counts.overtaken += u64::from(packet.arrival < self.latest);
            self.latest = self.latest.max(packet.arrival);
        }
        self.settle(at, out);
        if let Dequeue::Send(packet) = &answer
            && out.hears_decisions()
            && let Some(decision) = self.discipline.decision()
        {
            out.decided(packet, at, &decision);
        }
        answer
    }

    /// Begins the transmission of `sending`. Inlined: a call costs a hop 0.7 % of its instructions.
    #[inline(always)]
    fn send(&mut self, at: Time, continues: bool, out: &mut (impl Sink + ?Sized)) {
        if !continues {
            self.service.begin(at);
        }
        let end = self.service.send(self.sending.bits_to_send());
        (self.state, self.begun, self.due) = (State::Sending, at, end);
        self.counts.sent.add(&self.sending);
        out.begins(&self.sending, at, end);
        self.take_ahead(at, out);
    }

    /// While a packet is sent the device fills its ring.
    #[inline]
    fn take_ahead(&mut self, at: Time, out: &mut (impl Sink + ?Sized)) {
        if self.ring.is_some() {
            self.fill_ring(at, out);
        }
    }

    #[cold]
    fn fill_ring(&mut self, at: Time, out: &mut (impl Sink + ?Sized)) {
        // If the discipline releases none now, it is asked again when the transmission ends.
        while let Some(held) = self.ring.as_ref().filter(|ring| ring.packets.len() < ring.places)
            && self.waiting() > held.packets.len() as u64
            && let Dequeue::Send(packet) = self.dequeue(at, out)
            && let Some(ring) = &mut self.ring
        {
            ring.packets.push_back(packet);
            out.taken(&packet, at);
        }
    }

    /// Whether the discipline wants the packet being sent to give way.
    fn wants_interruption(&self, now: Time) -> bool {
        self.due > now
            && self.stalled.is_none()
            && self.is_last_given
            && self.ring.is_none()
            && self.discipline.preempts()
    }

    fn interrupt(&mut self, now: Time, out: &mut (impl Sink + ?Sized)) {
        let bits = self.service.interrupt(now, self.due);
        self.counts.sent.take_back(&self.sending);
        self.sending.unsent_bits = bits;
        self.discipline.put_back(now, bits);
        out.interrupted(&self.sending, now);
        self.idle();
        self.ask_or_gather(now, out);
    }

    fn may_bypass(&self, now: Time, packet: &Packet) -> bool {
        self.state == State::Idle
            && self.is_open()
            && packet.length <= self.bypass
            && (!self.replays || self.discipline.may_pass(now))
    }

    /// Tells the discipline, before its next packet, what it must know of packets that bypassed it:
    /// the one that is being sent, or that the line was idle.
    fn catch_up(&mut self, now: Time) {
        match (self.state, self.passed.take()) {
            (State::Idle, _) if self.is_open() => self.tell_idle(now),
            (State::Sending, Some(header)) => {
                self.tell_idle(self.begun);
                self.discipline.enqueue(self.begun, self.sending, &header, &mut self.fates);
                let sent = self.discipline.dequeue(self.begun, &mut self.fates);
                debug_assert!(matches!(sent, Dequeue::Send(sent) if sent.token == self.sending.token), "it was alone");
                debug_assert!(self.fates.is_empty(), "and was sent as it came");
                self.is_last_given = true;
            }
            _ => {}
        }
    }

    fn tell_idle(&mut self, now: Time) {
        if self.hears_idle {
            let nothing = self.discipline.dequeue(now, &mut self.fates);
            debug_assert_eq!(nothing, Dequeue::Empty, "the line was idle");
        }
    }

    /// Counts the packets that the discipline dropped or marked. Most have no fate.
    #[inline(always)]
    fn settle(&mut self, at: Time, out: &mut (impl Sink + ?Sized)) {
        if !self.fates.is_empty() {
            self.settle_fates(at, out);
        }
    }

    #[cold]
    fn settle_fates(&mut self, at: Time, out: &mut (impl Sink + ?Sized)) {
        for fate in self.fates.drain(..) {
            match fate.outcome {
                Outcome::Dropped(reason) => {
                    self.counts.dropped.add(&fate.packet);
                    out.dropped(&fate.packet, at, reason);
                }
                Outcome::Marked(marks) => {
                    self.counts.marked.add(&fate.packet);
                    out.marked(&fate.packet, at, marks);
                }
            }
        }
    }

    fn check(&self) {
        // The compiler could not leave out the call: it does not know that the call only reads.
        if !cfg!(debug_assertions) {
            return;
        }
        let mut held = self.discipline.held();
        for packet in self.ring.iter().flat_map(|ring| &ring.packets) {
            held.packets += 1;
            held.bytes += u64::from(packet.length);
        }
        assert_eq!(self.held(), held, "arrived = sent + dropped + held");
    }
}

/// The first instant after `now`.
#[inline]
const fn after(now: Time) -> Time {
    Time(now.0.saturating_add(1))
}

impl<D, S> fmt::Debug for Port<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Port");
        shown.field("state", &self.state).field("due", &self.due).field("is_up", &self.is_up);
        shown.field("counts", &self.counts).finish_non_exhaustive()
    }
}
