//! What a discipline must obey, and what each of the four parts of a composed one is asked.
//!
//! A driver (simulator, gateway, page, replay) runs one loop: it offers arrivals with
//! [`Discipline::enqueue`], asks [`Discipline::dequeue`] when the line is free, and waits until the
//! time that `dequeue` or [`Discipline::next_update`] gave. It also calls `dequeue` when a
//! transmission ends and nothing waits: [`Dequeue::Empty`] means that the line is idle from now,
//! and averages and clocks depend on that. The packet that is being sent, the last one dequeued, is
//! not among the waiting ones: limits count without it.
//!
//! Nothing here reads a clock. `now` never decreases over the calls on one discipline. At the root
//! it is real time; inside a hierarchy it is service over rate.

use crate::change::{Change, Unsupported};
use crate::packet::{Fates, Header, Marks, Packet, Reason};
use crate::reading::Reading;
pub use crate::slots::{Slot, Tag};
use crate::store::Store;
use crate::traits::Traits;
use crate::units::{Rate, Time, Weight};
use crate::waiting::{Decision, Stamps, Waiting};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The name of a held packet, by which its owner can have it removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(u64);

impl Handle {
    /// The name of the packet that is held at `index` as number `generation` of those that were
    /// held there.
    #[inline]
    pub(crate) const fn new(index: u32, generation: u32) -> Self {
        Self((generation as u64) << 32 | index as u64)
    }

    /// Where it is held.
    #[inline]
    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }

    /// Which of the packets that were held there it is.
    #[inline]
    pub(crate) const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The handle as a number, for an owner in another language.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The handle of a number that [`Handle::to_bits`] of the same discipline gave. Like any handle
    /// it may be stale.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// What dequeue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeue {
    /// Send this packet now. It is no longer held.
    Send(Packet),
    /// Packets are held but none may leave before this time. Computed anew at each call; an early
    /// call is harmless.
    NotBefore(Time),
    /// Nothing is held; the line is idle from now.
    Empty,
}

/// How much is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Waiting packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What the line tells a discipline when it is built.
#[derive(Clone, Debug)]
pub struct Line {
    /// The nominal rate. A discipline that computes with the rate keeps it until a
    /// [`Change::Rate`].
    pub rate: Rate,
    /// The seed of all random choices and hashes inside.
    pub seed: u64,
    /// The weights that differ from 1, each with a header of its flow.
    pub weights: Vec<(Header, Weight)>,
    /// The classes of flows that name one, each with a header of its flow.
    pub classes: Vec<(Header, String)>,
    /// What the gateway is to the flows that pass it.
    pub role: Role,
    /// Whether [`Discipline::decision`] is to be answered.
    pub explains: bool,
}

impl Line {
    /// A line of `rate` with all weights 1, no classes, at a gateway that is edge and core at once.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        Self { rate, seed: 0, weights: Vec::new(), classes: Vec::new(), role: Role::Both, explains: false }
    }
}

/// Where a gateway stands in an island of gateways that share labels (CSFQ, Rainbow FQ).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Role {
    /// It keeps state for each flow and labels packets, and sends them on by their labels.
    #[default]
    Both,
    /// The same as `both`: packets enter the island here.
    Edge,
    /// It keeps no state for flows and believes the labels.
    Core,
}

impl Role {
    /// Whether it labels packets.
    #[must_use]
    pub const fn labels(self) -> bool {
        !matches!(self, Self::Core)
    }
}

/// A whole queueing discipline.
pub trait Discipline: Send {
    /// What it is. Constant.
    fn traits(&self) -> Traits;

    /// Offers a packet. It is held, or its fate is reported; so is the fate of any other packet
    /// that it pushed out. The handle names the packet while it is held; `None` if the packet was
    /// dropped.
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle>;

    /// Asks for the next packet. A transmission that was going on has ended.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue;

    /// How much waits. Changes with every other call that takes `fates`.
    fn held(&self) -> Held;

    /// When a periodic update must run next, or `None`. The driver then calls
    /// [`Discipline::update`], after all else that happens at that time. A discipline with periodic
    /// updates gives a time from the start. The time may change with every call that is given
    /// `now`.
    fn next_update(&self) -> Option<Time> {
        None
    }

    /// Runs what is due. Missed periods are applied in closed form.
    fn update(&mut self, _now: Time) {}

    /// Removes a held packet and hands it back; its fate is not reported. `None` if it is no longer
    /// held.
    fn remove(&mut self, _now: Time, _handle: Handle) -> Option<Packet> {
        None
    }

    /// The line, its queue or what a flow asks for is different from now. What it keeps and what it
    /// resets is in its module's doc; packets that wait stay, in the order that they have.
    /// [`Discipline::traits`] may be others after a change of the limit.
    ///
    /// # Errors
    ///
    /// If it cannot; then nothing has changed.
    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported>;

    /// Whether a packet that arrives at `time`, with no packet before it, may bypass the
    /// discipline: no flow is owed service any more.
    fn may_pass(&self, _time: Time) -> bool {
        true
    }

    /// Whether the packet being sent should be interrupted for one that has arrived. Asked after an
    /// enqueue while a transmission goes on; may change with each enqueue. A driver that cannot
    /// interrupt never asks.
    fn preempts(&self) -> bool {
        false
    }

    /// The transmission of the last packet dequeued was interrupted with `unsent_bits` (> 0) left
    /// to send. The packet comes back with the rank it had and will be dequeued again with
    /// [`Packet::unsent_bits`] set. Its old handle does not name it. Until the next arrival it may
    /// wait above the limit.
    fn put_back(&mut self, _now: Time, _unsent_bits: u32) {
        unreachable!("only asked of a discipline that preempts")
    }

    /// Shows what it counts and keeps, as it is at `now`: tags, averages, R.
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>));

    /// Shows the packets that wait, each queue's in its order.
    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>));

    /// Why the packet dequeued last was chosen, if the line asked for reasons ([`Line::explains`])
    /// and the scheduler gives them.
    fn decision(&self) -> Option<Decision> {
        None
    }
}

/// Lets structures that hold a discipline derive `Debug`.
impl fmt::Debug for dyn Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discipline").field("held", &self.held()).finish_non_exhaustive()
    }
}

impl<D: Discipline + ?Sized> Discipline for Box<D> {
    fn traits(&self) -> Traits {
        (**self).traits()
    }

    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        (**self).enqueue(now, packet, header, fates)
    }
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        (**self).dequeue(now, fates)
    }
    fn held(&self) -> Held {
        (**self).held()
    }
    fn next_update(&self) -> Option<Time> {
        (**self).next_update()
    }
    fn update(&mut self, now: Time) {
        (**self).update(now);
    }
    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        (**self).remove(now, handle)
    }
    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        (**self).change(now, change)
    }
    fn may_pass(&self, time: Time) -> bool {
        (**self).may_pass(time)
    }
    fn preempts(&self) -> bool {
        (**self).preempts()
    }
    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        (**self).put_back(now, unsent_bits);
    }
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        (**self).readings(now, visit);
    }
    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        (**self).waiting(visit);
    }
    fn decision(&self) -> Option<Decision> {
        (**self).decision()
    }
}

/// Whose packet is this? A pure function of the header.
pub trait Classifier: Send {
    /// A key of 64 bits for the flow of `header`. `hash` is keyed with the line's seed.
    fn key(&self, header: &Header, hash: crate::hash::Hash) -> u64;
}

/// Which packets may join the queue at all? Asked of each packet before any other part; holds none.
pub trait Policer: Send {
    /// Whether `packet`, which arrives, is within what may pass. One that is not is dropped.
    fn conforms(&mut self, now: Time, packet: &Packet) -> bool;

    /// Shows what it counts and keeps, as it is at `now`.
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>));
}

/// Why a scheduler has no queue to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The head of this queue goes next.
    Queue(Slot),
    /// No packet may leave before this time.
    NotBefore(Time),
    /// Nothing waits.
    Empty,
}

/// When a scheduler of classes must know the head of a queue in which another discipline says what
/// that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heads {
    /// When it has named the queue: it has taken the length for 0.
    OnTurn,
    /// When it has sent from the queue; of a queue that was empty, when it has named it.
    OnceSent,
    /// As soon as there is one.
    AtOnce,
}

/// A class of flows in a scheduler that knows classes, by its number there.
pub type Class = u16;

/// What the parts see of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its number; another flow may have it later, when this one has left nothing behind.
    pub slot: Slot,
    /// Its weight.
    pub weight: Weight,
    /// Class + 1, or 0 for none. One word rather than `Option<Class>`: the two-part write of an
    /// `Option` stalls a later one-word read (store forwarding).
    class: u32,
}

impl Flow {
    /// A flow of weight 1 without a class.
    #[must_use]
    pub const fn of_slot(slot: Slot) -> Self {
        Self::weighted(slot, Weight::ONE)
    }

    /// A flow of `weight` without a class.
    #[must_use]
    pub const fn weighted(slot: Slot, weight: Weight) -> Self {
        Self { slot, weight, class: 0 }
    }

    /// The same flow in `class`.
    #[must_use]
    #[inline]
    pub fn in_class(self, class: Option<Class>) -> Self {
        Self { class: class.map_or(0, |class| u32::from(class) + 1), ..self }
    }

    /// Its class, if it names one that the scheduler knows.
    #[must_use]
    #[inline]
    pub fn class(self) -> Option<Class> {
        self.class.checked_sub(1).map(|class| class as Class)
    }
}

/// Which queue sends next? A scheduler sees the queues, owns no packet and counts none.
pub trait Scheduler: Send {
    /// What it is. Constant. Read for each packet: a literal, or fields of `self`, inlined.
    fn traits(&self) -> Traits;

    /// The slot of a flow by its key, from a scheduler that hashes flows into buckets of its own;
    /// all buckets have weight 1. `None`: each flow gets a slot.
    fn bucket(&mut self, _now: Time, _key: u64, _store: &Store) -> Option<Slot> {
        None
    }

    /// The names of its classes in the order of their numbers; none in a scheduler without classes.
    fn classes(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The queue for a packet of `flow`. Called before the packet is accepted: it changes nothing.
    fn queue_of(&self, flow: Flow, _packet: &Packet, _store: &Store) -> Slot {
        flow.slot
    }

    /// When it must know the head of `queue`, if that has a discipline of its own.
    fn heads(&self, _queue: Slot) -> Heads {
        Heads::OnTurn
    }

    /// How many of the first queues it asks one after the other, though they hold nothing, so that
    /// their disciplines hear of it.
    fn asks_empty(&self) -> Slot {
        0
    }

    /// A packet is about to join the end of `queue`; the tag stays beside it.
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag;

    /// `queue`, empty before, has its first packet, with `tag`.
    fn backlogged(&mut self, queue: Slot, tag: Tag);

    /// `queue` never counted as empty, and its head is a packet with `tag` now: inside a hierarchy
    /// the next packet is known only when the one before has been sent, and a packet that was
    /// interrupted comes back before those that wait, with its old tag.
    fn continued(&mut self, queue: Slot, tag: Tag) {
        self.backlogged(queue, tag);
    }

    /// A packet that would have joined `queue` was refused on arrival and never held.
    fn refused(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) {}

    /// The queue that sends next. Repeated calls give the same answer until another method is
    /// called.
    fn next(&mut self, now: Time, store: &Store) -> Next;

    /// The head of `queue` was taken to be sent; `head` is the tag of the next one, if any.
    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, tag: Tag, head: Option<Tag>);

    /// A packet of `queue` was dropped or removed from anywhere in it.
    fn removed(&mut self, now: Time, gone: Gone<'_>);

    /// The line has become idle. Told only if its traits say `hears_idle`.
    fn idle(&mut self, _now: Time) {}

    /// Whether no flow is owed service at `time` if no packet arrives before. Called only if
    /// its traits say `replays`.
    fn is_settled_at(&self, _time: Time) -> bool {
        true
    }

    /// Whether the flow in slot `flow`, which has no packet waiting, owes nothing and is owed
    /// nothing, so that its slot may serve another flow. If it returns `true` the slot is given to
    /// another flow: state of the old flow may be released.
    fn is_clear(&mut self, now: Time, flow: Slot) -> bool;

    /// The line, its queue or what a flow asks for is different from now. Told of no class: the
    /// flow's later packets say theirs.
    ///
    /// # Errors
    ///
    /// If it cannot; then nothing has changed.
    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported>;

    /// Whether the packet being sent, whose tag was `serving`, should give way to one that waits.
    /// [`Scheduler::continued`] follows if it does.
    fn preempts(&self, _serving: Tag) -> bool {
        false
    }

    /// The virtual times of a packet in `queue` with `tag`, which `is_head` or waits behind others.
    fn stamps(&self, _queue: Slot, _tag: Tag, _is_head: bool) -> Stamps {
        Stamps::NONE
    }

    /// Why [`Scheduler::next`] has just named `queue`, if it gives reasons. Called before `sent`.
    fn decision(&mut self, _now: Time, _queue: Slot) -> Option<Decision> {
        None
    }

    /// Shows what it counts and keeps, as it is at `now`.
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>));
}

/// A packet that left its queue without being sent.
#[derive(Clone, Copy, Debug)]
pub struct Gone<'a> {
    /// Its queue.
    pub queue: Slot,
    /// Its flow.
    pub flow: Flow,
    /// The packet.
    pub packet: &'a Packet,
    /// Its tag.
    pub tag: Tag,
    /// The tag of the queue's head now, if any packet is left.
    pub head: Option<Tag>,
    /// Whether the packet was the first of its queue.
    pub was_head: bool,
    /// Whether the packet was the last of its queue.
    pub was_tail: bool,
}

/// Which packet of a queue is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum End {
    /// The one that has waited longest.
    Front,
    /// The one that came last.
    #[default]
    Tail,
}

/// What a buffer policy says of a packet that arrives or is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may go on.
    Pass,
    /// Its sender is to be told: it is marked with [`Marks::CE`] if it accepts that, else dropped
    /// for this reason.
    Notify(Reason),
    /// It is dropped.
    Drop(Reason),
}

/// The held packet to drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// A packet at one end of a queue.
    End(Slot, End),
    /// A certain packet.
    Packet(Handle),
}

/// A held packet as a buffer policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct HeldPacket<'a> {
    /// Its queue.
    pub queue: Slot,
    /// Its flow's slot.
    pub flow: Slot,
    /// Its name while it is held.
    pub handle: Handle,
    /// The packet.
    pub packet: &'a Packet,
}

/// Which packet is dropped when space is short, and before it is?
///
/// On arrival: [`BufferPolicy::admit`], then [`BufferPolicy::joined`] if the packet was accepted,
/// then [`BufferPolicy::victim`] until it returns `None`. At departure: [`BufferPolicy::depart`]
/// for the packet that the scheduler has chosen. In the end [`BufferPolicy::left`], once for every
/// packet that joined.
pub trait BufferPolicy: Send {
    /// What it is. Constant. Read for each packet: a literal, or fields of `self`, inlined.
    fn traits(&self) -> Traits;

    /// Whether the arriving packet may join `queue`; the packets that wait are `store`'s. The label
    /// and the remaining size of the packet may be changed.
    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict;

    /// A packet has joined its queue, or has come back to its head after an interrupted
    /// transmission.
    fn joined(&mut self, _now: Time, _store: &Store, _held: HeldPacket<'_>) {}

    /// The packet to drop after an arrival, whether that joined `arriving` or not. Called until it
    /// returns `None`.
    fn victim(&mut self, _now: Time, _store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        None
    }

    /// The packet at the head of `queue` is about to be sent. If it is dropped, [`Scheduler::next`]
    /// is called again.
    fn depart(&mut self, _now: Time, _store: &Store, _queue: Slot) -> Verdict {
        Verdict::Pass
    }

    /// The step of its card by which [`BufferPolicy::depart`] has just let the head of `queue` go,
    /// if the card has steps.
    fn step(&self, _queue: Slot) -> Option<u8> {
        None
    }

    /// A packet has left its queue: `is_sent`, or dropped, or removed by its owner. `store` is
    /// without it.
    fn left(&mut self, _now: Time, _store: &Store, _held: HeldPacket<'_>, _is_sent: bool) {}

    /// The line has become idle. Told only if its traits say `hears_idle`.
    fn idle(&mut self, _now: Time) {}

    /// When its periodic update must run next, or `None`.
    fn next_update(&self) -> Option<Time> {
        None
    }

    /// Runs what is due. Missed periods are applied in closed form.
    fn update(&mut self, _now: Time, _store: &Store) {}

    /// As [`Scheduler::change`]; a limit is told before the store has it.
    ///
    /// # Errors
    ///
    /// If it cannot; then nothing has changed.
    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported>;

    /// Whether it keeps no state of the flow in slot `flow`, which has no packet waiting, so that
    /// its slot may serve another flow.
    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    /// Shows what it counts and keeps, as it is at `now`.
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>));
}

/// Which packets are marked to signal congestion?
pub trait Marker: Send {
    /// What it is. Constant. Read for each packet: a literal, or fields of `self`, inlined.
    fn traits(&self) -> Traits;

    /// A packet of `flow` arrives; what is held, and what is being sent, is in `store`, without it.
    /// The marks are put on the packet as far as it accepts them.
    fn arrive(&mut self, now: Time, store: &Store, flow: Slot, packet: &Packet) -> Marks;

    /// `packet`, the head of its queue, is about to be sent. The marks are put on it as far as it
    /// accepts them.
    fn depart(&mut self, _now: Time, _packet: &Packet) -> Marks {
        Marks::NONE
    }

    /// Called before the held packets change, or a transmission ends. `store` is still unchanged.
    fn before_change(&mut self, _now: Time, _store: &Store) {}

    /// As [`Scheduler::change`].
    ///
    /// # Errors
    ///
    /// If it cannot; then nothing has changed.
    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported>;

    /// Whether it keeps no state of `flow`, which holds nothing, so that its slot may serve another
    /// flow.
    fn is_clear(&mut self, _flow: Slot) -> bool {
        true
    }

    /// Shows what it counts and keeps, as it is at `now`.
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>));
}

/// The traits of a part that has the same whatever its settings: those that are not plain.
macro_rules! traits {
    ($($trait:ident = $value:expr),* $(,)?) => {
        #[inline(always)]
        fn traits(&self) -> crate::traits::Traits {
            crate::traits::Traits { $($trait: $value,)* ..crate::traits::Traits::PLAIN }
        }
    };
}
pub(crate) use traits;
