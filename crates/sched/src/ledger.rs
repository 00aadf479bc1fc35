//! The accounting that wraps every discipline: no part counts packets, so none can count them
//! wrong.
//!
//! `arrived = sent + dropped + queued` holds after every call, in packets and in bytes; debug
//! builds assert it.

use crate::change::{Change, Unsupported};
use crate::contract::{Dequeue, Discipline, Handle, Held};
use crate::count::Count;
use crate::packet::{Fate, Fates, Header, Outcome, Packet};
use crate::reading::Reading;
use crate::traits::Traits;
use crate::units::Time;
use crate::waiting::{Decision, Waiting};
use core::fmt;

/// A discipline and what went through it.
pub struct Ledger<D> {
    discipline: D,
    arrived: Count,
    sent: Count,
    dropped: Count,
    marked: u64,
    /// The length of the packet being sent: an interrupted one is not sent yet.
    serving: u32,
    /// Whether the discipline must be told that the line has become idle.
    hears_idle: bool,
    /// Whether the packet sent last was overtaken.
    is_overtaken: bool,
    /// The latest arrival among the packets sent.
    latest: Time,
}

impl<D> fmt::Debug for Ledger<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Ledger");
        shown.field("arrived", &self.arrived).field("sent", &self.sent).field("dropped", &self.dropped);
        shown.field("marked", &self.marked).finish_non_exhaustive()
    }
}

impl<D: Discipline> Ledger<D> {
    /// An empty ledger around `discipline`.
    pub fn new(discipline: D) -> Self {
        const NOTHING: Count = Count { packets: 0, bytes: 0 };
        Self {
            hears_idle: discipline.traits().hears_idle,
            discipline,
            arrived: NOTHING,
            sent: NOTHING,
            dropped: NOTHING,
            marked: 0,
            serving: 0,
            latest: Time::ZERO,
            is_overtaken: false,
        }
    }

    /// A packet came that its driver dropped before the discipline saw it.
    pub fn refuse(&mut self, packet: &Packet) {
        self.arrived.add(packet);
        self.dropped.add(packet);
    }

    /// A packet came and was sent that its driver did not show to the discipline
    /// ([`Traits::bypass`]).
    pub fn pass(&mut self, packet: &Packet) {
        self.arrived.add(packet);
        self.sent.add(packet);
    }

    /// Tells the discipline, before its first packet since, that the line was idle until `now`, if
    /// it must know. Repeated calls are harmless.
    pub fn tell_idle(&mut self, now: Time, fates: &mut Fates) {
        if self.hears_idle {
            let nothing = self.discipline.dequeue(now, fates);
            debug_assert_eq!(nothing, Dequeue::Empty, "the line was idle");
        }
    }

    /// Replays a bypassed packet, because another comes while it is being sent: with its time of
    /// arrival, and not counted again ([`Traits::replays`]).
    pub fn recall(&mut self, time: Time, packet: Packet, header: &Header, fates: &mut Fates) {
        self.tell_idle(time, fates);
        self.discipline.enqueue(time, packet, header, fates);
        let sent = self.discipline.dequeue(time, fates);
        debug_assert!(matches!(sent, Dequeue::Send(sent) if sent.token == packet.token), "it was alone");
        debug_assert!(fates.is_empty(), "and was sent as it came");
    }

    /// What was offered.
    pub const fn arrived(&self) -> Count {
        self.arrived
    }

    /// What was dequeued to be sent.
    pub const fn sent(&self) -> Count {
        self.sent
    }

    /// What was dropped, or removed by its owner.
    pub const fn dropped(&self) -> Count {
        self.dropped
    }

    /// Packets that wait, by the accounts.
    pub const fn waiting(&self) -> u64 {
        self.arrived.packets - self.sent.packets - self.dropped.packets
    }

    /// Packets that were given a mark here.
    pub const fn marked(&self) -> u64 {
        self.marked
    }

    /// Whether the packet sent last was overtaken: a packet that arrived later was sent before it.
    /// Never with FIFO.
    #[inline]
    pub const fn is_overtaken(&self) -> bool {
        self.is_overtaken
    }

    /// Most packets have no fate to note.
    #[inline(always)]
    fn note_fates(&mut self, fates: &Fates, before: usize) {
        if fates.len() > before {
            self.note(&fates[before..]);
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, fates: &[Fate]) {
        for fate in fates {
            match fate.outcome {
                Outcome::Dropped(_) => self.dropped.add(&fate.packet),
                Outcome::Marked(_) => self.marked += 1,
            }
        }
    }

    fn check(&self) {
        // The compiler could not leave out the call: it does not know that the call only reads.
        if !cfg!(debug_assertions) {
            return;
        }
        let held = self.discipline.held();
        assert_eq!(self.arrived.packets, self.sent.packets + self.dropped.packets + held.packets, "packets");
        assert_eq!(self.arrived.bytes, self.sent.bytes + self.dropped.bytes + held.bytes, "bytes");
    }
}

impl<D: Discipline> Discipline for Ledger<D> {
    fn traits(&self) -> Traits {
        self.discipline.traits()
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.arrived.add(&packet);
        let before = fates.len();
        let handle = self.discipline.enqueue(now, packet, header, fates);
        self.note_fates(fates, before);
        self.check();
        handle
    }

    #[inline]
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        let before = fates.len();
        let answer = self.discipline.dequeue(now, fates);
        self.note_fates(fates, before);
        if let Dequeue::Send(packet) = &answer {
            self.sent.add(packet);
            self.serving = packet.length;
            self.is_overtaken = packet.arrival < self.latest;
            self.latest = self.latest.max(packet.arrival);
        }
        self.check();
        answer
    }

    fn held(&self) -> Held {
        self.discipline.held()
    }

    fn next_update(&self) -> Option<Time> {
        self.discipline.next_update()
    }

    fn update(&mut self, now: Time) {
        self.discipline.update(now);
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        let packet = self.discipline.remove(now, handle);
        if let Some(packet) = &packet {
            self.dropped.add(packet);
        }
        self.check();
        packet
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.discipline.change(now, change)
    }

    #[inline]
    fn may_pass(&self, time: Time) -> bool {
        self.discipline.may_pass(time)
    }

    fn preempts(&self) -> bool {
        self.discipline.preempts()
    }

    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.discipline.put_back(now, unsent_bits);
        self.sent.packets -= 1;
        self.sent.bytes -= u64::from(self.serving);
        self.check();
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.discipline.readings(now, visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.discipline.waiting(visit);
    }

    fn decision(&self) -> Option<Decision> {
        self.discipline.decision()
    }
}
